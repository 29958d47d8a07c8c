//! Whole problems of optimal control: lines for `cargo xtask control`. Each problem gives a line `solve NAME N iterations objective …`.
//!
//! The problems are those of `benches/peers/control.py`: the same discretisation, tolerance and start. Times are those of the processor, the best of some solves;
//! `share` is the part of evaluations in one of them. Recording, derivation and compilation are told apart.
#![allow(clippy::unwrap_used, missing_docs)]

use dalembert::model::Model;
use dalembert::scene::{Document, Limits, Overrides, Scene};
use dalembert_control::{Acts, Condition, Control, Method, Options, Phase, Problem, Program, transcribe};
use dalembert_methods::{Real, System};
use dalembert_optimise::{Bound, Control as Go, Nlp, Report, Size, interior};
use std::time::Instant;

const CART_POLE: &str = r#"
[world]
gravity = [0, 0, -9.81]
[body.cart_pole]
kind = "tree"
[[body.cart_pole.links]]
name = "cart"
joint = { kind = "prismatic", axis = [1, 0, 0] }
mass = 1.0
[[body.cart_pole.links]]
name = "pole"
parent = "cart"
joint = { kind = "revolute", axis = [0, -1, 0] }
mass = 0.3
centre = [0, 0, -0.5]
[run]
until = 2
"#;

const CHAIN: &str = r#"
[parameters]
length = 0.25
mass = 0.25
radius = "= length/20"
transverse = "= mass*(3*radius^2 + length^2)/12"
axial = "= mass*radius^2/2"
[world]
gravity = [0, 0, -9.81]
[body.chain]
kind = "tree"
[[body.chain.links]]
name = "link"
repeat = { count = 4, position = [0, 0, "= -length"] }
joint = { kind = "universal", first = [0, 1, 0], second = [1, 0, 0] }
mass = "= mass"
centre = [0, 0, "= -length/2"]
inertia = ["= transverse", "= transverse", "= axial"]
[run]
until = 1
"#;

fn model(text: &str) -> Model {
    let document = Document::from_text("scene.toml", text, &Overrides::none(), &Limits::default());
    document.and_then(Scene::from_document).unwrap_or_else(|e| panic!("{}", e.plain())).model
}

/// Time of this thread on the processor, in s.
fn clock() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let ns = text.split_whitespace().next().and_then(|n| n.parse::<f64>().ok());
    ns.map_or_else(
        || std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64()),
        |ns| ns * 1e-9,
    )
}

/// A program whose evaluations are timed.
struct Timed<'a> {
    inner: &'a mut Program,
    spent: f64,
}

impl Timed<'_> {
    fn timed<T>(&mut self, f: impl FnOnce(&mut Program) -> T) -> T {
        let start = Instant::now();
        let out = f(self.inner);
        self.spent += start.elapsed().as_secs_f64();
        out
    }
}

impl Nlp for Timed<'_> {
    fn size(&self) -> Size {
        self.inner.size()
    }
    fn bounds(&self, variables: &mut [Bound], constraints: &mut [Bound]) {
        self.inner.bounds(variables, constraints);
    }
    fn start(&self, x: &mut [f64]) {
        self.inner.start(x);
    }
    fn jacobian_pattern(&self) -> Vec<(usize, usize)> {
        self.inner.jacobian_pattern()
    }
    fn hessian_pattern(&self) -> Vec<(usize, usize)> {
        self.inner.hessian_pattern()
    }
    fn objective(&mut self, x: &[f64]) -> f64 {
        self.timed(|p| p.objective(x))
    }
    fn gradient(&mut self, x: &[f64], out: &mut [f64]) {
        self.timed(|p| p.gradient(x, out));
    }
    fn constraints(&mut self, x: &[f64], out: &mut [f64]) {
        self.timed(|p| p.constraints(x, out));
    }
    fn jacobian(&mut self, x: &[f64], out: &mut [f64]) {
        self.timed(|p| p.jacobian(x, out));
    }
    fn hessian(&mut self, x: &[f64], weight: f64, multipliers: &[f64], out: &mut [f64]) {
        self.timed(|p| p.hessian(x, weight, multipliers, out));
    }
}

fn race(name: &str, n: usize, problem: &Problem<'_, Model>, rounds: usize) {
    let start = clock();
    let (mut program, _) = transcribe(problem, &Options { evaluations: 1000, ..Options::default() }).unwrap();
    let build = clock() - start;
    let counts = program.counts();
    // The clock of the processor ticks some hundred times a second: many solves at a time.
    let solver = interior::Options::default();
    let (mut best, mut last) = (f64::INFINITY, None);
    for _ in 0..rounds {
        let (start, mut solves) = (clock(), 0);
        while solves < 3 || clock() - start < 0.3 {
            last = Some(interior::solve(&mut program, &solver, &mut |_| Go::Continue));
            solves += 1;
        }
        best = best.min((clock() - start) / f64::from(solves));
    }
    let mut timed = Timed { inner: &mut program, spent: 0.0 };
    let start = Instant::now();
    interior::solve(&mut timed, &solver, &mut |_| Go::Continue);
    let share = timed.spent / start.elapsed().as_secs_f64();
    let (time, report): (f64, Report) = (best, last.unwrap());
    let Size { variables, constraints } = program.size();
    println!(
        "solve {name} {n} variables {variables} constraints {constraints} iterations {} objective {:.10} seconds {time:.6} share {share:.3} build {build:.3} outcome {:?}",
        report.iterations, report.objective, report.outcome
    );
    for (kernel, count) in counts {
        println!("kernel {name} {n} {kernel}: {count:?}");
    }
}

fn cart_pole(model: &Model, n: usize, method: Method) -> Problem<'_, Model> {
    let end = vec![1.0, std::f64::consts::PI];
    let mut phase = Phase::new("swing", model, &[0.0; 2], method, n, 2.0);
    phase.coordinates = vec![(0, Bound::between(-2.0, 2.0))];
    phase.from(Condition::Configuration(vec![0.0; 2])).from(Condition::Velocity(vec![0.0; 2]));
    phase.to(Condition::Configuration(end)).to(Condition::Velocity(vec![0.0; 2]));
    let mut problem = Problem { phases: vec![phase], ..Problem::default() };
    problem.controls = vec![Control::new("force", Acts::Velocity(0)).between(-20.0, 20.0)];
    problem.integral("effort", 1.0, |m| m.controls()[0].square());
    problem
}

fn chain(model: &Model, n: usize, method: Method) -> Problem<'_, Model> {
    let end = vec![0.8, 0.4, -0.5, 0.3, 0.6, -0.2, 0.3, 0.5];
    let mut phase = Phase::new("reach", model, &[0.0; 8], method, n, 1.0);
    phase.coordinates = (0..8).map(|i| (i, Bound::between(-1.5, 1.5))).collect();
    phase.velocities = (0..8).map(|i| (i, Bound::between(-10.0, 10.0))).collect();
    phase.from(Condition::Configuration(vec![0.0; 8])).from(Condition::Velocity(vec![0.0; 8]));
    phase.to(Condition::Configuration(end)).to(Condition::Velocity(vec![0.0; 8]));
    let mut problem = Problem { phases: vec![phase], ..Problem::default() };
    problem.controls = (0..8).map(|i| Control::new(format!("torque {i}"), Acts::Velocity(i))).collect();
    problem.integral("effort", 1.0, |m| m.controls().iter().fold(0.0.into(), |sum, u| sum + u.square()));
    problem
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    // Run by `cargo test` too: nothing to do then, unless asked for.
    if arguments.iter().any(|a| a == "--test") || !arguments.iter().any(|a| a == "--bench" || a == "--race") {
        return;
    }
    let long = arguments.iter().any(|a| a == "--long");
    let (cart, arm) = (model(CART_POLE), model(CHAIN));
    assert_eq!((cart.shape().v, arm.shape().v), (2, 8));
    race("cart-pole-trapezoidal", 100, &cart_pole(&cart, 100, Method::LobattoExplicit { stages: 2 }), 10);
    race("cart-pole-midpoint", 100, &cart_pole(&cart, 100, Method::Midpoint), 10);
    for n in [15, 30, 60] {
        race("chain-midpoint", n, &chain(&arm, n, Method::Midpoint), 3);
    }
    race("chain-dmocc", 15, &chain(&arm, 15, Method::Dmocc), 3);
    if long {
        for n in [125, 250, 500, 1000] {
            race("cart-pole-midpoint", n, &cart_pole(&cart, n, Method::Midpoint), 3);
        }
    }
}
