//! Solutions at any time: nodes joined by cubic curves in the space of configurations.

use crate::difference::difference;
use crate::problem::Problem;
use crate::refine::controls;
use crate::solution::{Instant, Solution};
use dalembert_methods::System;

/// The motion at a share of interval k of a phase: position and velocity agree with those of both nodes.
fn within<Y: System>(problem: &Problem<'_, Y>, solution: &Solution, phase: usize, k: usize, share: f64) -> Instant {
    let system = problem.phases[phase].system;
    let nodes = solution.phase(phase);
    let (a, b) = (&nodes[k], &nodes[k + 1]);
    let h = b.t - a.t;
    let end = difference(system, &a.q, &b.q);
    let mut arriving = b.v.clone();
    system.local_rate(&end, &b.v, &mut arriving);
    // Hermite's polynomials of the increment from the first node.
    let s = share;
    let (h01, h10, h11) = (s * s * (3.0 - 2.0 * s), s * (1.0 - s).powi(2), s * s * (s - 1.0));
    let (d01, d10, d11) = (6.0 * s * (1.0 - s), (1.0 - s) * (1.0 - 3.0 * s), s * (3.0 * s - 2.0));
    let n = end.len();
    let delta: Vec<f64> = (0..n).map(|i| h01 * end[i] + h * (h10 * a.v[i] + h11 * arriving[i])).collect();
    let rate: Vec<f64> = (0..n).map(|i| d01 * end[i] / h + d10 * a.v[i] + d11 * arriving[i]).collect();
    let (mut q, mut v) = (a.q.clone(), a.v.clone());
    system.retract(&a.q, &delta, &mut q);
    system.local_velocity(&delta, &rate, &mut v);
    let mix = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + s * (b - a)).collect::<Vec<f64>>();
    Instant {
        phase,
        part: a.part + s * (b.part - a.part),
        t: a.t + s * h,
        q,
        v,
        x: mix(&a.x, &b.x),
        u: controls(solution, phase, k, s),
        multipliers: mix(&a.multipliers, &b.multipliers),
    }
}

/// The motion at so many instants in each interval, and at the end.
pub fn sample<Y: System>(problem: &Problem<'_, Y>, solution: &Solution, each: usize) -> Vec<Instant> {
    let mut out = Vec::new();
    for phase in 0..problem.phases.len() {
        let intervals = solution.plans[phase].intervals.len();
        for k in 0..intervals {
            for i in 0..each.max(1) {
                out.push(within(problem, solution, phase, k, i as f64 / each.max(1) as f64));
            }
        }
        if phase + 1 == problem.phases.len() && intervals > 0 {
            out.push(within(problem, solution, phase, intervals - 1, 1.0));
        }
    }
    out
}
