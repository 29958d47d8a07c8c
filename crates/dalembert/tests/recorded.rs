//! The fourth reading of whole scenes: recorded as a graph, they give the numbers they give when computed.
#![allow(clippy::unwrap_used)]

use dalembert::methods::algebra::Mass;
use dalembert::methods::nonsmooth::Contacts;
use dalembert::methods::scalar::Dual;
use dalembert::methods::trace::{Trace, record};
use dalembert::methods::{Scalar, Shape, State, System};
use dalembert::model::Model;
use dalembert::scene::{Document, Limits, Overrides, Scene};
use dalembert::scenes;
use dalembert_graph::Function;
use dalembert_graph::derive::jacobian::coloured;

/// A state from time, coordinates, velocities, extra states and parameters in a row.
fn state<S: Scalar>(shape: Shape, x: &[S]) -> State<S> {
    let mut s = State::zeros(shape);
    s.t = x[0];
    let mut rest = &x[1..];
    for part in [&mut s.q, &mut s.v, &mut s.x, &mut s.p] {
        let (own, after) = rest.split_at(part.len());
        part.copy_from_slice(own);
        rest = after;
    }
    s
}

/// Mass matrix, forces, rates, residuals on both levels and gaps, in a row.
fn all<S: Scalar>(model: &Model, x: &[S]) -> Vec<S> {
    let shape = model.shape();
    let s = state(shape, x);
    let mut w = model.work::<S>();
    model.prepare(&s, &mut w);
    let zeros = |n: usize| vec![S::zero(); n];
    let mut mass = Mass::new(&model.mass_blocks());
    model.mass(&s, &mut w, &mut mass);
    let mut out = Vec::new();
    mass.entries(|_, _, value| out.push(value));
    let mut force = zeros(shape.v);
    model.force(&s, &mut w, &mut force);
    let mut rate = zeros(shape.x);
    model.rate(&s, &mut w, &mut rate);
    let mut residual = zeros(shape.g);
    model.constraint(&s, &mut w, &mut residual);
    let mut speed = zeros(shape.rows());
    model.constraint_rate(&s, &mut w, &mut speed);
    let mut gap = zeros(Contacts::contacts(model));
    model.contact_gap(&s, &mut w, &mut gap);
    [out, force, rate, residual, speed, gap].concat()
}

fn inputs(s: &State<f64>) -> Vec<f64> {
    [&[s.t][..], &s.q, &s.v, &s.x, &s.p].concat()
}

fn model(name: &str, settings: &[&str]) -> Model {
    let overrides: Overrides = settings.iter().copied().collect();
    let document = Document::from_text(name, scenes::find(name).unwrap().text, &overrides, &Limits::default());
    document.and_then(Scene::from_document).unwrap_or_else(|e| panic!("{}", e.plain())).model
}

/// Every built-in scene, at its start: recorded it gives what it gives computed.
#[test]
fn scenes_are_recorded() {
    for scene in scenes::ALL {
        let model = model(scene.name, &[]);
        let x = inputs(&model.initial_state());
        let recorded = record(x.len(), |x| all(&model, x)).unwrap_or_else(|e| panic!("{}: {e}", scene.name));
        let f = Function::interpreted(&recorded);
        let (exact, mut found) = (all(&model, &x), vec![0.0; f.outputs()]);
        f.call(&mut f.work(), &x, &mut found);
        assert_eq!(exact.len(), found.len());
        let largest = exact.iter().fold(1.0, |m: f64, y| m.max(y.abs()));
        for (k, (a, b)) in found.iter().zip(&exact).enumerate() {
            // A few hundred roundings in another order, on numbers up to the largest.
            let same = a == b || (a - b).abs() <= 500.0 * f64::EPSILON * largest;
            assert!(same, "{}, number {k}: {a} recorded, {b} computed", scene.name);
        }
    }
}

/// Every built-in scene, away from its start: along a direction the graph has the derivative that duals have.
#[test]
fn derivatives_of_scenes_agree_with_duals() {
    let mut vary = 0;
    for scene in scenes::ALL {
        let model = model(scene.name, &[]);
        let wave = |k: usize, rate: f64| (rate * (k + 1) as f64).sin();
        let start = inputs(&model.initial_state());
        let x: Vec<f64> = start.iter().enumerate().map(|(k, x)| x + 0.01 * (1.0 + x.abs()) * wave(k, 1.7)).collect();
        let along: Vec<f64> = (0..x.len()).map(|k| wave(k, 0.9)).collect();
        let recorded = record(x.len(), |x| all(&model, x)).unwrap_or_else(|e| panic!("{}: {e}", scene.name));
        let f = Function::interpreted(&coloured(&recorded).function);
        let mut found = vec![0.0; f.outputs()];
        f.call(&mut f.work(), &[&x[..], &along].concat(), &mut found);
        let moved: Vec<Dual> = x.iter().zip(&along).map(|(&x, &v)| Dual { re: x, eps: [v] }).collect();
        let exact = all(&model, &moved);
        assert_eq!(exact.len(), found.len());
        let largest = exact.iter().fold(1.0, |m: f64, y| m.max(y.re.abs()).max(y.eps[0].abs()));
        vary += usize::from(exact.iter().any(|y| y.eps[0] != 0.0 && y.eps[0].is_finite()));
        for (k, (a, b)) in found.iter().zip(&exact).enumerate() {
            // Some thousand roundings in another order, on numbers up to the largest. Duals have no number where a side that is not taken has an infinite slope.
            let same = (a - b.eps[0]).abs() <= 5e3 * f64::EPSILON * largest || !b.eps[0].is_finite();
            assert!(same, "{}, number {k}: {a} by the graph, {} by duals", scene.name, b.eps[0]);
        }
    }
    // A ball in free flight has forces and masses that depend on nothing; most scenes are not so.
    assert!(2 * vary > scenes::ALL.len(), "{vary} of {}", scenes::ALL.len());
}

/// The graph of a leech grows in proportion to its segments.
#[test]
fn the_graph_of_a_leech_is_linear() {
    let operations = [50, 100, 200].map(|n: usize| {
        let size = [format!("assembly.leech.segments={n}"), format!("assembly.leech.length={}", 1.8 * n as f64)];
        let model = model("leech-21", &[&size[0], &size[1], "assembly.leech.shape=\"given\""]);
        let x = inputs(&model.initial_state());
        let recorded = record(x.len(), |x: &[Trace]| all(&model, x)).unwrap();
        recorded.graph.operations(&recorded.outputs) as f64
    });
    let growth = (operations[2] - operations[1]) / (operations[1] - operations[0]);
    assert!((growth - 2.0).abs() < 0.02, "{operations:?}");
}
