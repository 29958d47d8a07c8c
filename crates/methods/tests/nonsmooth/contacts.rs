//! What tests of contacts have in common: an observer that keeps events and asserts complementarity at every output.
#![allow(clippy::unwrap_used, dead_code)]

use dalembert_methods::integrate::{Settings, Span, create};
use dalembert_methods::nonsmooth::{
    Contacts, Event, Hybrid, Kind, Mode, Observer, Options, Run, contact_forces, simulate,
};
use dalembert_methods::{State, System};

/// Keeps all events and checks every output: no gap below −1e-10, no pulling force, no force outside its cone.
#[derive(Default)]
pub struct Keep {
    pub events: Vec<Event>,
    pub outputs: Vec<(State<f64>, Vec<Mode>)>,
}

impl Keep {
    pub fn kinds(&self) -> Vec<Kind> {
        self.events.iter().map(|event| event.kind).collect()
    }
}

impl<Y: Contacts> Observer<Y> for Keep {
    fn on_output(&mut self, y: &Hybrid<'_, Y>, s: &State<f64>) {
        let count = y.modes().len();
        let (mut gap, mut rate) = (vec![0.0; count], vec![0.0; y.start(count)]);
        let mut work = y.work();
        y.prepare(s, &mut work);
        y.kinematics(s, &mut work, &mut gap, &mut rate);
        assert!(gap.iter().all(|&gap| gap > -1e-10), "{} {gap:?}", s.t);
        let force = contact_forces(y, s).unwrap();
        // Outputs at the instant of an event belong to the modes before it; there, values are zero to its location.
        let near = 1e-9 * (1.0 + force.iter().fold(0.0, |max: f64, f| max.max(f.abs())));
        for i in 0..count {
            let own = &force[y.start(i)..y.start(i + 1)];
            assert!(own[0] >= -near, "{} {i} {own:?}", s.t);
            if y.modes()[i] == Mode::Stick && own.len() > 1 {
                let tangential = [own[1], own.get(2).copied().unwrap_or(0.0)];
                let excess = y.model().excess(i, tangential, own[0]);
                assert!(excess <= near, "{} {i} {own:?} {excess}", s.t);
            }
        }
        if y.modes().iter().all(|mode| !mode.closed()) {
            assert!(force.iter().all(|&f| f == 0.0));
        }
        self.outputs.push((s.clone(), y.modes().to_vec()));
    }
    fn on_event(&mut self, _y: &Hybrid<'_, Y>, event: &Event, _s: &State<f64>) {
        assert!(event.lost >= 0.0);
        self.events.push(event.clone());
    }
}

pub fn follow<Y: Contacts>(model: &Y, q: &[f64], v: &[f64], until: f64, options: &Options) -> (State<f64>, Keep, Run) {
    follow_with(model, q, v, until, options, "dop853", 1e-12)
}

pub fn follow_with<Y: Contacts>(
    model: &Y,
    q: &[f64],
    v: &[f64],
    until: f64,
    options: &Options,
    method: &str,
    tolerance: f64,
) -> (State<f64>, Keep, Run) {
    let mut y = Hybrid::new(model);
    let mut s = y.state(State { q: q.to_vec(), v: v.to_vec(), ..State::default() });
    let mut keep = Keep::default();
    let mut integrator = create(method, &Settings::default().with("tolerance", tolerance)).unwrap();
    let span = Span::new(0.0, until, 0.01 * until);
    let run = simulate(&mut y, &mut s, &mut *integrator, &span, options, &mut (), &mut keep);
    (s, keep, run)
}
