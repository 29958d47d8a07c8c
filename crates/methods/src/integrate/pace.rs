//! Who makes the steps of a run: an integrator by itself, or one whose rates are computed along with those of other runs.
//!
//! A run in company is a future. Wherever it needs rates it hands in its state and is left; whoever drives the runs goes on with others, until there
//! are states enough to be computed side by side. So it is with the gaps and forces of contacts between two steps, and with corrections towards the constraints.
//! Everything else (combining stages, errors, acceptance, the search for events, decisions) each run does for itself, with
//! the same code as alone, so every run keeps its own time, step size and end. What a run gets depends on its own state only: not on who
//! shares the company, nor on the order in which runs are driven.

use super::tableau::Tableau;
use super::{IntegrateError, Integrator, RungeKutta, Step};
use crate::dynamics::{Dynamics, Rates, Shelf};
use crate::events::Sight;
use crate::system::{State, System};
use std::ops::Range;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Stages of a Runge–Kutta step, each from those before it: k_i = f(t + c_i h, y ⊕ h Σ a_ij k_j).
#[derive(Clone, Debug)]
pub struct Stages {
    /// The coefficients.
    pub tableau: &'static Tableau,
    /// Which ones.
    pub range: Range<usize>,
    /// The length of the step in s, and its end.
    pub h: f64,
    /// Where stages with c = 1 are, in s.
    pub end: f64,
}

/// States near a base, each reached by an increment (δ, Δv, Δx, Δz) in its chart.
#[derive(Clone, Debug, Default)]
pub struct Ways {
    /// When they are, in s.
    pub times: Vec<f64>,
    /// The increments, one after the other.
    pub increments: Vec<f64>,
    /// Where they are to be moved to the constraints: the relative tolerance, see [`Dynamics::project_position`], and the sizes of configurations.
    pub project: Option<f64>,
    /// Those sizes.
    pub sizes: Vec<f64>,
}

/// A state as others have found it.
#[derive(Clone, Debug, Default)]
pub struct Glance {
    /// (q, v, x).
    pub state: Vec<f64>,
    /// Its contacts.
    pub sight: Sight,
    /// How many corrections have moved it to the constraints.
    pub corrections: u32,
}

/// Others whose rates are computed at the same time.
pub trait Company<Y: System> {
    /// A run begins, or goes on as another system: from here on its rates are those of `y`. Those at `s`, as the run has computed them itself, are given: (v̇, ẋ, ż).
    fn join(&mut self, y: &Y, s: &State<f64>, rates: &[f64]);
    /// The rates v̇, ẋ, ż at a state. `false`: the run must compute them itself.
    fn rates(&mut self, s: &State<f64>, out: &mut Rates) -> impl Future<Output = bool>;
    /// The rates of stages of a step from a state, in its chart: rows (δ̇, v̇, ẋ, ż) of `slopes`, of which those before the first one asked for are given. `false`: the run must
    /// compute them one by one.
    fn stages(&mut self, _base: &State<f64>, _stages: &Stages, _slopes: &mut [f64]) -> impl Future<Output = bool> {
        async { false }
    }
    /// States near a base, moved to the constraints where that is asked for, and their contacts: the first ones of `out`, as many as there are times. `false`: the run must find them itself.
    fn look(&mut self, _base: &State<f64>, _ways: &Ways, _out: &mut Vec<Glance>) -> impl Future<Output = bool> {
        async { false }
    }
    /// Gaps, rates and forces of contacts at a state. `false`: the run must compute them itself.
    fn sight(&mut self, _s: &State<f64>, _out: &mut Sight) -> impl Future<Output = bool> {
        async { false }
    }
    /// The least changes, in the metric of M, of configuration and velocity that meet all rows to first order: G δ = −g, and G δ = −(G v + g_t), A δ = −(A v + b).
    /// `false`: the run must compute them itself.
    fn correct(&mut self, _s: &State<f64>, _position: &mut [f64], _velocity: &mut [f64]) -> impl Future<Output = bool> {
        async { false }
    }
}

/// Who makes the steps.
pub trait Pace<Y: System> {
    /// The integrator.
    fn integrator(&mut self) -> &mut dyn Integrator<Y>;
    /// Where scratch of the run waits.
    fn shelf(&mut self) -> &mut Shelf<Y>;
    /// Starts it.
    fn start(&mut self, y: &Y, s: &mut State<f64>) -> Result<(), IntegrateError>;
    /// One accepted step, see [`Integrator::step`]. `inside` says whether states inside a step that ends at a given time will be asked for.
    fn step(
        &mut self,
        y: &Y,
        s: &mut State<f64>,
        until: f64,
        inside: impl Fn(f64) -> bool,
    ) -> impl Future<Output = Result<Step, IntegrateError>>;
    /// States inside the last step and their contacts, if others compute them: `tell` is given each of them in turn. With a dynamics and a tolerance they are moved to the constraints, and
    /// the work is counted there. Says whether it was done.
    fn look(
        &mut self,
        _y: &Y,
        _times: &[f64],
        _project: Option<(&mut Dynamics<Y>, f64)>,
        _between: &mut State<f64>,
        _tell: impl FnMut(usize, &State<f64>, &Sight),
    ) -> impl Future<Output = bool> {
        async { false }
    }
    /// The contacts at a state, if others compute them.
    fn sight(&mut self, _s: &State<f64>) -> impl Future<Output = Option<&Sight>> {
        async { None }
    }
    /// Moves a state to the constraints, see [`Dynamics::project_position`], if others compute the corrections; says whether it has.
    fn project(
        &mut self,
        _y: &Y,
        _s: &mut State<f64>,
        _dynamics: &mut Dynamics<Y>,
        _tolerance: f64,
    ) -> impl Future<Output = bool> {
        async { false }
    }
}

/// An integrator by itself: nothing is ever waited for.
pub struct Alone<'a, Y: System> {
    integrator: &'a mut (dyn Integrator<Y> + 'a),
    shelf: Shelf<Y>,
}

impl<'a, Y: System> Alone<'a, Y> {
    /// For one run.
    pub fn new(integrator: &'a mut (dyn Integrator<Y> + 'a)) -> Self {
        Self { integrator, shelf: Shelf::default() }
    }
}

impl<Y: System> Pace<Y> for Alone<'_, Y> {
    fn integrator(&mut self) -> &mut dyn Integrator<Y> {
        &mut *self.integrator
    }
    fn shelf(&mut self) -> &mut Shelf<Y> {
        &mut self.shelf
    }
    fn start(&mut self, y: &Y, s: &mut State<f64>) -> Result<(), IntegrateError> {
        self.integrator.start_again(y, s, &mut self.shelf)
    }
    async fn step(
        &mut self,
        y: &Y,
        s: &mut State<f64>,
        until: f64,
        _inside: impl Fn(f64) -> bool,
    ) -> Result<Step, IntegrateError> {
        self.integrator.step(y, s, until)
    }
}

/// An explicit Runge–Kutta method in company.
pub struct Beside<Y: System, C> {
    method: RungeKutta<Y>,
    company: C,
    sight: Sight,
    ways: Ways,
    glances: Vec<Glance>,
    shelf: Shelf<Y>,
}

impl<Y: System, C: Company<Y>> Beside<Y, C> {
    /// The method and its company.
    pub fn new(method: RungeKutta<Y>, company: C) -> Self {
        let (sight, ways, glances) = (Sight::default(), Ways::default(), Vec::new());
        Self { method, company, sight, ways, glances, shelf: Shelf::default() }
    }
}

impl<Y: System, C: Company<Y>> Pace<Y> for Beside<Y, C> {
    fn integrator(&mut self) -> &mut dyn Integrator<Y> {
        &mut self.method
    }
    fn shelf(&mut self) -> &mut Shelf<Y> {
        &mut self.shelf
    }
    fn start(&mut self, y: &Y, s: &mut State<f64>) -> Result<(), IntegrateError> {
        self.method.start_again(y, s, &mut self.shelf)?;
        self.company.join(y, s, self.method.first_rates());
        Ok(())
    }
    async fn step(
        &mut self,
        y: &Y,
        s: &mut State<f64>,
        until: f64,
        inside: impl Fn(f64) -> bool,
    ) -> Result<Step, IntegrateError> {
        self.method.step_beside(y, s, until, &mut self.company, inside).await
    }
    async fn look(
        &mut self,
        y: &Y,
        times: &[f64],
        project: Option<(&mut Dynamics<Y>, f64)>,
        between: &mut State<f64>,
        mut tell: impl FnMut(usize, &State<f64>, &Sight),
    ) -> bool {
        let Some((base, size)) = self.method.ways(y, times, &mut self.ways) else { return false };
        self.ways.project = project.as_ref().map(|(_, tolerance)| *tolerance);
        if !self.company.look(base, &self.ways, &mut self.glances).await {
            return false;
        }
        let glances = &self.glances[..times.len()];
        let found = glances.iter().zip(self.ways.increments.chunks_exact(size));
        for (k, (glance, increment)) in found.enumerate() {
            between.t = times[k];
            let mut rest = &glance.state[..];
            for part in [&mut between.q, &mut between.v, &mut between.x] {
                let (own, more) = rest.split_at(part.len());
                part.copy_from_slice(own);
                rest = more;
            }
            let integrals = &increment[size - base.z.len()..];
            between.z.iter_mut().zip(&base.z).zip(integrals).for_each(|((z, base), more)| *z = base + more);
            between.p.copy_from_slice(&base.p);
            tell(k, between, &glance.sight);
        }
        if let Some((dynamics, _)) = project {
            dynamics.credit_corrections(glances.iter().map(|glance| glance.corrections).sum());
        }
        true
    }
    async fn sight(&mut self, s: &State<f64>) -> Option<&Sight> {
        self.company.sight(s, &mut self.sight).await.then_some(&self.sight)
    }
    async fn project(&mut self, y: &Y, s: &mut State<f64>, dynamics: &mut Dynamics<Y>, tolerance: f64) -> bool {
        dynamics.project_beside(y, s, tolerance, 0.0, &mut self.company).await.is_some()
    }
}

/// Nobody: the run computes its rates itself.
impl<Y: System> Company<Y> for () {
    fn join(&mut self, _y: &Y, _s: &State<f64>, _rates: &[f64]) {}
    async fn rates(&mut self, _s: &State<f64>, _out: &mut Rates) -> bool {
        false
    }
}

/// What a future gives that waits for nobody, as that of a run by itself.
///
/// # Panics
/// If it waits.
pub fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("a run by itself waits for nobody"),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::dynamics::Dynamics;
    use crate::events::{Direction, Trigger, Watch};
    use crate::integrate::{Observer, Onward, Run, Settings, Span, proceed};
    use crate::problems::{Pendulum, Problem};
    use std::cell::Cell;
    use std::future::poll_fn;

    /// Lets every evaluation wait for some turns, then makes it; refuses each tenth.
    struct Patient<'a> {
        y: &'a Pendulum,
        dynamics: Dynamics<Pendulum>,
        turns: u32,
        asked: &'a Cell<u32>,
    }

    impl Company<Pendulum> for Patient<'_> {
        fn join(&mut self, y: &Pendulum, s: &State<f64>, rates: &[f64]) {
            let mut own = Rates::zeros(y.shape());
            self.dynamics.evaluate(y, s, &mut own).unwrap();
            assert_eq!(own.v, rates);
        }
        async fn rates(&mut self, s: &State<f64>, out: &mut Rates) -> bool {
            let mut left = self.turns;
            poll_fn(|_| {
                left = left.saturating_sub(1);
                if left > 0 { Poll::Pending } else { Poll::Ready(()) }
            })
            .await;
            self.asked.set(self.asked.get() + 1);
            self.dynamics.evaluate(self.y, s, out).unwrap();
            !self.asked.get().is_multiple_of(10)
        }
    }

    #[derive(Default)]
    struct Outputs(Vec<State<f64>>);

    impl Observer for Outputs {
        fn on_output(&mut self, s: &State<f64>) {
            self.0.push(s.clone());
        }
    }

    /// Runs that wait for each other, each with its own steps, are the runs alone, to the bit, and have the same counts of work.
    #[test]
    fn company_changes_nothing() {
        for name in ["rk4", "dopri5", "dop853"] {
            let settings = Settings::default().with("tolerance", 1e-8);
            let runs: Vec<Pendulum> =
                [0.5, 1.5, 2.5].map(|amplitude| Pendulum { amplitude, ..Pendulum::default() }).to_vec();
            let span = Span::new(0.0, 2.0, 0.05);
            let low = || {
                let list = vec![Trigger { name: "low".into(), direction: Direction::Both, terminal: false }];
                Watch::new(list, |s: &State<f64>, out: &mut [f64]| out[0] = s.q[0])
            };
            let alone: Vec<(Run, State<f64>, Outputs)> = runs
                .iter()
                .map(|y| {
                    let (mut s, mut outputs) = (y.initial(), Outputs::default());
                    let mut method = RungeKutta::named(name, &settings).unwrap().unwrap();
                    let mut pace = Alone::new(&mut method);
                    let (mut low, onward) = (low(), Onward::default());
                    let run = now(proceed(y, &mut s, &mut pace, &span, &mut low, &mut outputs, &onward));
                    (run, s, outputs)
                })
                .collect();
            let asked = Cell::new(0);
            let mut together: Vec<_> = runs
                .iter()
                .zip(1..)
                .map(|(y, turns)| {
                    let (settings, span, asked) = (&settings, &span, &asked);
                    Box::pin(async move {
                        let (mut s, mut outputs) = (y.initial(), Outputs::default());
                        let method = RungeKutta::named(name, settings).unwrap().unwrap();
                        let company = Patient { y, dynamics: Dynamics::new(y), turns, asked };
                        let mut pace = Beside::new(method, company);
                        let (mut low, onward) = (low(), Onward::default());
                        let run = proceed(y, &mut s, &mut pace, span, &mut low, &mut outputs, &onward).await;
                        (run, s, outputs)
                    })
                })
                .collect();
            let mut ended: Vec<Option<(Run, State<f64>, Outputs)>> = runs.iter().map(|_| None).collect();
            while ended.iter().any(Option::is_none) {
                for (run, ended) in together.iter_mut().zip(&mut ended) {
                    if ended.is_none()
                        && let Poll::Ready(done) = run.as_mut().poll(&mut Context::from_waker(Waker::noop()))
                    {
                        *ended = Some(done);
                    }
                }
            }
            assert!(asked.get() > 300, "{name}: {} evaluations in company", asked.get());
            for ((run, s, outputs), beside) in alone.into_iter().zip(ended) {
                let (other, t, others) = beside.unwrap();
                assert_eq!(run.ending, other.ending);
                assert_eq!(run.counts, other.counts, "{name}");
                assert_eq!(s, t, "{name}");
                assert_eq!(outputs.0, others.0, "{name}");
                assert_eq!(run.progress, other.progress);
            }
        }
    }
}
