//! A run with contacts that is interrupted and continued has the same bits.

use super::read;
use dalembert::run::{Watcher, run};
use dalembert::scenes;

/// Stops a run after some steps.
struct Stop(u64);

impl Watcher for Stop {
    fn step(&mut self, _t: f64, steps: u64) -> bool {
        steps < self.0
    }
}

#[test]
fn continued_runs_have_the_same_bits() {
    // Within the flight, among the bounces, while corners slide and stick.
    for (name, integrator, stops) in [
        ("bouncing-ball", "dop853", vec![3, 20, 60]),
        ("leech", "dop853", vec![5, 25, 40]),
        ("block-on-belt", "dop853", vec![10, 50]),
        // Between two rows, at a row, among the bounces.
        ("bouncing-ball", "moreau", vec![7, 50, 481]),
        ("leech-frictionless", "moreau", vec![3, 261]),
    ] {
        let integrator = format!("run.integrator=\"{integrator}\"");
        let scene = read(name, scenes::find(name).unwrap().text, &["output.every=0.05", &integrator]);
        let whole = run(&scene, name, None, &mut ()).unwrap();
        for steps in stops {
            let part = run(&scene, name, None, &mut Stop(steps)).unwrap();
            let checkpoint = part.checkpoint.unwrap_or_else(|| panic!("{name} was interrupted after {steps} steps"));
            let rest = run(&scene, name, Some(&checkpoint), &mut ()).unwrap();
            assert_eq!(rest.events, whole.events, "{name} after {steps}");
            assert_eq!(rest.steps, whole.steps, "{name} after {steps}");
            assert_eq!(rest.trajectory.columns(), whole.trajectory.columns(), "{name} after {steps}");
            assert_eq!(rest.summary.counts, whole.summary.counts, "{name} after {steps}");
        }
    }
}
