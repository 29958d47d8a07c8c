//! Transcriptions against closed forms, conservation laws and each other.
#![allow(clippy::unwrap_used)]

mod bad;
mod ball;
mod chains;
mod closed_forms;
mod elements;
mod front;
mod given;
mod goals;
mod kernels;
mod models;
mod momenta;
mod phases;
mod repeats;
mod studies;
mod tables;
mod toys;

use dalembert_control::{Acts, Condition, Control, Method, Options, Phase, Problem, Solution, solve};
use dalembert_methods::{Real, System};
use dalembert_optimise::{Control as Go, interior};

/// All methods.
const METHODS: [Method; 8] = [
    Method::Dmocc,
    Method::Midpoint,
    Method::TRAPEZOIDAL,
    Method::HERMITE_SIMPSON,
    Method::Lobatto { stages: 4 },
    Method::LobattoExplicit { stages: 2 },
    Method::LobattoExplicit { stages: 3 },
    Method::Shooting { steps: 2 },
];

/// Interpreted kernels: the problems are small.
fn options() -> Options {
    Options { evaluations: 1, ..Options::default() }
}

fn solved<Y: System>(problem: &Problem<'_, Y>) -> Solution {
    let solution = solve(problem, &options(), &interior::Options::default(), &mut |_| Go::Continue).unwrap();
    assert!(solution.is_success(), "{}", solution.report);
    solution
}

/// Least ∫ Σ u² dt from rest to rest, all velocities driven.
fn rest_to_rest<'a, Y: System>(y: &'a Y, from: &[f64], to: &[f64], method: Method, n: usize, t: f64) -> Problem<'a, Y> {
    let v = y.shape().v;
    let mut phase = Phase::new("move", y, from, method, n, t);
    phase.from(Condition::Configuration(from.to_vec())).from(Condition::Velocity(vec![0.0; v]));
    phase.to(Condition::Configuration(to.to_vec())).to(Condition::Velocity(vec![0.0; v]));
    let mut problem = Problem { phases: vec![phase], ..Problem::default() };
    problem.controls = (0..v).map(|i| Control::new(format!("force {i}"), Acts::Velocity(i))).collect();
    problem.integral("effort", 1.0, |m| m.controls().iter().fold(0.0.into(), |sum, u| sum + u.square()));
    problem
}
