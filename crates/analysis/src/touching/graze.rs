//! How near a motion comes to grazing a contact: the least gaps that it passes, and its slowest impacts.
//!
//! A contact is grazed where its gap comes to zero without speed. There the motions beside it differ in their events, and no derivative tells of them all. How far a
//! motion is from that is a length, the margin: of a passage the gap γ at its least, where γ̇ = 0; of an impact the way by which the gap would have gone below
//! zero, γ̇²/(2 γ̈). Disturbances beyond it lead to other events.

use super::integrator;
use super::saltation::{lifted, rates};
use crate::error::AnalysisError;
use crate::field::Settings;
use crate::variation::Variation;
use dalembert_methods::events::{Direction, Hit, Trigger, Triggers};
use dalembert_methods::integrate::{Flow, Integrator, Reaction, Span};
use dalembert_methods::nonsmooth::{Contacts, Event, Hybrid, Kind, Mode, Moment, Observer, Options, simulate};
use dalembert_methods::scalar::Dual;
use dalembert_methods::system::{State, System};

/// Margins below this part of what the gap opens are near to grazing.
const NEAR: f64 = 1e-3;

/// Where a motion is nearest to grazing a contact.
#[derive(Clone, Debug, PartialEq)]
pub struct Graze {
    /// The contact, by name.
    pub contact: String,
    /// When, in seconds.
    pub t: f64,
    /// The gap there in metres.
    pub gap: f64,
    /// The speed with which it closes, in m/s: zero where it passes.
    pub speed: f64,
    /// By how much the contact would have to be moved to be grazed, in metres.
    pub margin: f64,
    /// The widest gap of the motion in metres.
    pub reach: f64,
}

impl Graze {
    /// Whether a thousandth of the way of the motion would make other events of it.
    pub fn is_near(&self) -> bool {
        self.margin < NEAR * self.reach
    }

    /// In words.
    pub fn told(&self) -> String {
        let Self { contact, t, gap, speed, margin, .. } = self;
        format!(
            "`{contact}` is almost grazed at t = {t:.9} s (gap {gap:.1e} m, speed {speed:.1e} m/s): changes of more than {margin:.1e} m there \
             make other events"
        )
    }
}

/// The rates γ̇ of open contacts.
struct Approach {
    list: Vec<Trigger>,
}

impl<'m, Y: Contacts> Triggers<Hybrid<'m, Y>> for Approach {
    fn list(&self) -> &[Trigger] {
        &self.list
    }
    fn values(&mut self, y: &Hybrid<'m, Y>, s: &State<f64>, out: &mut [f64]) {
        let (_, rate) = kinematics(y, s);
        for (i, out) in out.iter_mut().enumerate() {
            *out = if y.modes()[i].closed() { 1.0 } else { rate[y.start(i)] };
        }
    }
}

/// Gaps of contacts and rates of their rows.
fn kinematics<Y: Contacts>(y: &Hybrid<'_, Y>, s: &State<f64>) -> (Vec<f64>, Vec<f64>) {
    let count = y.modes().len();
    let (mut gap, mut rate) = (vec![0.0; count], vec![0.0; y.start(count)]);
    let mut work = y.work();
    y.prepare(s, &mut work);
    y.kinematics(s, &mut work, &mut gap, &mut rate);
    (gap, rate)
}

/// Collects passages and impacts.
struct Watcher {
    widest: Vec<f64>,
    /// The modes and the state before an event.
    before: Option<(Vec<Mode>, State<f64>)>,
    /// Contact, time and gap of passages.
    passed: Vec<(usize, f64, f64)>,
    /// Contacts, and modes and states before impacts of them.
    hits: Vec<(usize, Vec<Mode>, State<f64>)>,
}

impl<Y: Contacts> Observer<Y> for Watcher {
    fn on_step(&mut self, y: &Hybrid<'_, Y>, moment: &Moment<'_>) -> Flow {
        let (gap, _) = kinematics(y, moment.state);
        self.widest.iter_mut().zip(gap).for_each(|(widest, gap)| *widest = widest.max(gap));
        self.before = Some((y.modes().to_vec(), moment.state.clone()));
        Flow::Continue
    }
    fn on_trigger(&mut self, y: &Hybrid<'_, Y>, hits: &[Hit], s: &mut State<f64>) -> Reaction {
        let (gap, _) = kinematics(y, s);
        self.passed.extend(hits.iter().map(|hit| (hit.trigger, s.t, gap[hit.trigger])));
        Reaction::Continue
    }
    fn on_event(&mut self, _y: &Hybrid<'_, Y>, event: &Event, _s: &State<f64>) {
        let (Some((modes, state)), Kind::Impact | Kind::Touch) = (&self.before, event.kind) else { return };
        let closed = event.contacts.iter().filter(|&&i| !modes[i].closed());
        self.hits.extend(closed.map(|&i| (i, modes.clone(), state.clone())));
    }
}

/// Where a motion of some time comes nearest to grazing one of its contacts, compared with how far that contact opens; nothing if it never closes in on one.
///
/// # Errors
/// Those of the run.
pub fn nearest_graze<Y: Contacts>(
    model: &Y,
    start: &State<f64>,
    time: f64,
    options: &Options,
    settings: Settings,
) -> Result<Option<Graze>, AnalysisError> {
    let (mut hybrid, mut s, count) = (Hybrid::new(model), start.clone(), model.contacts());
    let mut integrator = integrator(settings)?;
    let integrator: &mut dyn Integrator<Hybrid<'_, Y>> = &mut integrator;
    let trigger = |i: usize| Trigger { name: model.contact_name(i), direction: Direction::Rising, terminal: false };
    let mut approach = Approach { list: (0..count).map(trigger).collect() };
    let mut watcher = Watcher { widest: vec![0.0; count], before: None, passed: Vec::new(), hits: Vec::new() };
    let span = Span::new(s.t, s.t + time, 0.0);
    simulate(&mut hybrid, &mut s, integrator, &span, options, &mut approach, &mut watcher).ending?;
    let widest = watcher.widest;
    let graze = |contact: usize, t: f64, gap: f64, speed: f64, margin: f64| Graze {
        contact: model.contact_name(contact),
        t,
        gap,
        speed,
        margin,
        reach: widest[contact],
    };
    let mut all: Vec<Graze> = watcher.passed.iter().map(|&(i, t, gap)| graze(i, t, gap, 0.0, gap.abs())).collect();
    for (i, modes, state) in &watcher.hits {
        let mut old = Hybrid::new(model);
        old.set_modes(modes);
        let along = rates(&old, &mut Variation::new(&old), state)?;
        let (moved, mut work) = lifted(&old, state, &along, 1.0);
        old.prepare(&moved, &mut work);
        let (mut gap, mut rate) = (vec![Dual::default(); count], vec![Dual::default(); old.start(count)]);
        old.kinematics(&moved, &mut work, &mut gap, &mut rate);
        let normal = rate[old.start(*i)];
        if normal.eps[0] > 0.0 {
            let margin = normal.re * normal.re / (2.0 * normal.eps[0]);
            all.push(graze(*i, state.t, gap[*i].re, -normal.re, margin));
        }
    }
    let part = |g: &Graze| g.margin / g.reach;
    all.retain(|g| g.reach > 0.0);
    Ok(all.into_iter().min_by(|a, b| part(a).total_cmp(&part(b))))
}
