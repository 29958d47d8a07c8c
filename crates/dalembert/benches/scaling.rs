//! The time of a leech against its length: from 5 to 2000 segments, with a volume for each segment and with one for all, free and
//! on a wall with friction. Prints a table and the exponent of a power law; 1 is linear.
//!
//! `cargo bench -p dalembert --bench scaling` runs it, with `-- --quick` for a few lengths only.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use dalembert::run::run;
use support::{Clock, integrate, leech, power_law, scene, seconds, unknowns};

const SEGMENTS: [usize; 9] = [5, 10, 20, 50, 100, 200, 500, 1000, 2000];
const UNTIL: f64 = 0.25;
const TOLERANCE: f64 = 1e-6;

/// A leech that hits a wall with its front corners; every corner may touch it.
const WALL: &str = r#"
[parameters]
n = 5
[assembly.leech]
kind = "skeleton"
segments = "= n"
length = "= 1.8*n"
half_widths = [0.39, 0.39]
corner_mass = 0.01
compartments = "each"
volume = "= 1.1*n"
shape = "equilibrium"
position = [0.1, 0, 0]
velocity = [-2, 0, -2]
longitudinal = { stiffness = 16, rest_length = 1.7, damping = 0.1, activation = 1 }
circular = { stiffness = 16, rest_length = 0.3, damping = 0.1, activation = 0.75 }
[contact.wall]
kind = "plane"
between = ["ground", "leech_corner*"]
normal = [1, 0, 0]
friction = { sliding = 0.3, along = [0, 0, 1], one_dimensional = true }
[run]
until = 0.25
integrator = "mexx"
tolerance = 1e-6
[output]
every = 0.25
channels = ["energy.total"]
"#;

fn free(lengths: &[usize], compartments: &str, integrator: &str) {
    println!("\n{integrator}, volume: {compartments}; {UNTIL} s at a tolerance of {TOLERANCE:e}");
    println!("segments  unknowns  build+rest s   steps  forces   s per s   µs per segment and force");
    let mut points = Vec::new();
    for &n in lengths {
        let clock = Clock::start();
        let model = leech(n, compartments).model;
        let built = clock.seconds();
        let (_, counts) = integrate(&model, integrator, TOLERANCE, UNTIL);
        let rate = seconds(|| drop(integrate(&model, integrator, TOLERANCE, UNTIL))) / UNTIL;
        let each = rate * UNTIL / counts.forces as f64 / n as f64 * 1e6;
        let (unknowns, steps, forces) = (unknowns(&model), counts.steps, counts.forces);
        println!("{n:8}  {unknowns:8}  {built:12.3}  {steps:6}  {forces:6}  {rate:8.4}   {each:8.3}");
        points.push((n as f64, rate));
    }
    let (slope, off) = power_law(&points);
    println!("time ~ segments^{slope:.3}, all points within a factor of {off:.2}");
}

fn wall(lengths: &[usize]) {
    println!("\nmexx on a wall with friction, a whole run with its ledger; 0.25 s at a tolerance of 1e-6");
    println!("segments   steps  events   s per s   µs per segment and force");
    let mut points = Vec::new();
    for &n in lengths {
        let scene = scene("wall", WALL, &[format!("parameters.n={n}")]);
        let outcome = run(&scene, "scaling", None, &mut ()).unwrap();
        let (counts, events) = (outcome.summary.counts, outcome.events.len());
        let rate = seconds(|| drop(run(&scene, "scaling", None, &mut ()).unwrap())) / 0.25;
        let each = rate * 0.25 / counts["forces"] as f64 / n as f64 * 1e6;
        println!("{n:8}  {:6}  {events:6}  {rate:8.4}   {each:8.3}", counts["steps"]);
        points.push((n as f64, rate));
    }
    let (slope, off) = power_law(&points);
    println!("time ~ segments^{slope:.3}, all points within a factor of {off:.2}");
}

fn main() {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let lengths = if quick { &SEGMENTS[..5] } else { &SEGMENTS[..] };
    for compartments in ["each", "whole"] {
        for integrator in ["mexx", "dop853"] {
            free(lengths, compartments, integrator);
        }
    }
    wall(lengths);
}
