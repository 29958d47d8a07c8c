//! No integrator allocates inside a step or for continuous output: counted by the allocator itself.
#![allow(clippy::unwrap_used)]

mod counting;

use dalembert_methods::integrate::{Settings, create, methods};
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
            integrator.start(problem, &mut s).unwrap();
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
