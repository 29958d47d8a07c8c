//! No integrator allocates inside a step or for continuous output: counted by the allocator itself.
#![allow(clippy::unwrap_used)]

use crate::counting;
use dalembert_methods::State;
use dalembert_methods::integrate::{Flow, IntegrateError, Settings, Span, create, methods};
use dalembert_methods::nonsmooth::{Contacts, Hybrid, Moment, Observer, Options, simulate};
use dalembert_methods::problems::touching::{Belt, Touching};
use dalembert_methods::problems::{Problem, Visitor, each};

struct NoAllocation;

impl Visitor for NoAllocation {
    fn visit<P: Problem>(&mut self, problem: &P) {
        for about in methods() {
            if problem.stiff() && !about.stiff {
                continue;
            }
            let mut integrator = create(about.name, &Settings::default()).unwrap();
            let mut s = problem.initial();
            match integrator.start(problem, &mut s) {
                Err(IntegrateError::Refused { .. }) => continue,
                started => started.unwrap(),
            }
            let mut between = s.clone();
            let before = counting::allocations();
            for _ in 0..10 {
                if s.t < problem.until() {
                    let step = integrator.step(problem, &mut s, problem.until()).unwrap();
                    between.t = step.t + 0.3 * step.h;
                    integrator.dense(problem, &mut between);
                }
            }
            let allocated = counting::allocations() - before;
            assert_eq!(allocated, 0, "{} on {}", about.name, problem.name());
        }
    }
}

#[test]
fn steps_and_continuous_output_do_not_allocate() {
    each(&mut NoAllocation);
}

/// Watches a run with contacts and counts what is allocated from one step to the next, but not across events.
#[derive(Default)]
struct Quiet {
    last: Option<u64>,
    quiet: u64,
}

impl<Y: Contacts> Observer<Y> for Quiet {
    fn on_step(&mut self, _y: &Hybrid<'_, Y>, _moment: &Moment<'_>) -> Flow {
        let now = counting::allocations();
        if self.last == Some(now) {
            self.quiet += 1;
        }
        self.last = Some(counting::allocations());
        Flow::Continue
    }
}

#[test]
fn steps_between_events_of_contacts_do_not_allocate() {
    let model = Touching(Belt { gravity: 10.0, stiffness: 100.0, speed: 0.5, friction: [0.8, 0.4], fall: 0.2 });
    let mut y = Hybrid::new(&model);
    let mut s = y.state(State { q: vec![0.0; 2], v: vec![0.5, 0.0], ..State::default() });
    let mut quiet = Quiet::default();
    let mut integrator = create("dopri5", &Settings::default()).unwrap();
    let span = Span::new(0.0, 4.0, 0.0);
    let run = simulate(&mut y, &mut s, &mut *integrator, &span, &Options::default(), &mut (), &mut quiet);
    run.ending.unwrap();
    // Seven periods of two events; the steps at and after an event may allocate, no others.
    assert!(run.counts.steps - quiet.quiet <= 2 * 16, "{} {}", run.counts.steps, quiet.quiet);
    assert!(quiet.quiet > 100);
}
