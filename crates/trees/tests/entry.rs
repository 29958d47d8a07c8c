//! The fast entry points give what the plain algorithms give, whatever the processor.
#![allow(clippy::unwrap_used)]

use dalembert_trees::entry::{Level, four, one};
use dalembert_trees::samples::{Numbers, chain, random, state};
use dalembert_trees::{FastLanes, Tree, Wrench, aba, crba, derivatives, rnea};

/// Fused and plain rounding differ by some ε for each operation along a chain of up to 30 links; solved quantities by the
/// condition of the mass matrix more.
const TOLERANCE: f64 = 1e-12;

#[track_caller]
fn close(a: &[f64], b: &[f64], tolerance: f64) {
    let scale = a.iter().fold(1.0f64, |m, x| m.max(x.abs()));
    for (x, y) in a.iter().zip(b) {
        assert!((x - y).abs() <= tolerance * scale, "{x} against {y}, scale {scale}");
    }
}

fn trees() -> Vec<Tree> {
    let mut trees: Vec<Tree> = (30..40).map(|seed| random(seed, 20)).collect();
    trees.extend([chain(6), chain(20)]);
    trees
}

/// Coordinates, velocities, accelerations and forces.
type Sample = (Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>);

struct Plain {
    tau: Vec<f64>,
    a: Vec<f64>,
    mass: Vec<f64>,
    inverse: derivatives::RneaDerivatives<f64>,
    forward: derivatives::AbaDerivatives<f64>,
}

fn plain(tree: &Tree, q: &[f64], v: &[f64], a: &[f64], tau: &[f64], external: &[Wrench<f64>]) -> Plain {
    let n = tree.velocities();
    let mut out = Plain {
        tau: vec![0.0; n],
        a: vec![0.0; n],
        mass: vec![0.0; n * n],
        inverse: derivatives::RneaDerivatives::new(tree),
        forward: derivatives::AbaDerivatives::new(tree),
    };
    rnea::rnea(tree, q, v, a, external, &mut rnea::Work::new(tree), &mut out.tau);
    aba::aba(tree, q, v, tau, external, &mut aba::Work::new(tree), &mut out.a);
    crba::crba(tree, q, &mut crba::Work::new(tree), &mut out.mass);
    let mut work = derivatives::Work::new(tree);
    derivatives::rnea_derivatives(tree, q, v, a, external, &mut work, &mut out.inverse);
    let mut work = derivatives::ForwardWork::new(tree);
    derivatives::aba_derivatives(tree, q, v, tau, external, &mut work, &mut out.forward);
    out
}

fn wrenches(tree: &Tree) -> Vec<Wrench<f64>> {
    let mut numbers = Numbers::new(77);
    (0..tree.bodies()).map(|_| Wrench { force: numbers.vector(), torque: numbers.vector() }).collect()
}

#[test]
fn one_state_at_a_time() {
    for level in [Level::portable(), Level::best()] {
        for tree in &trees() {
            let n = tree.velocities();
            let (q, v, a, tau) = state(tree, 4);
            for external in [vec![], wrenches(tree)] {
                let expected = plain(tree, &q, &v, &a, &tau, &external);
                let mut out = vec![0.0; n];
                one::Rnea::new(tree, level).compute(tree, &q, &v, &a, &external, &mut out);
                close(&expected.tau, &out, TOLERANCE);
                one::Aba::new(tree, level).compute(tree, &q, &v, &tau, &external, &mut out);
                close(&expected.a, &out, 100.0 * TOLERANCE);
                let mut mass = vec![0.0; n * n];
                one::Crba::new(tree, level).compute(tree, &q, &mut mass);
                close(&expected.mass, &mass, TOLERANCE);
                let mut inverse = one::RneaDerivatives::new(tree, level);
                inverse.compute(tree, &q, &v, &a, &external);
                close(&expected.inverse.by_q, inverse.by_q(), TOLERANCE);
                close(&expected.inverse.by_v, inverse.by_v(), TOLERANCE);
                close(&expected.inverse.mass, inverse.mass(), TOLERANCE);
                close(&expected.inverse.tau, inverse.tau(), TOLERANCE);
                let mut forward = one::AbaDerivatives::new(tree, level);
                forward.compute(tree, &q, &v, &tau, &external);
                close(&expected.forward.acceleration, forward.acceleration(), 100.0 * TOLERANCE);
                close(&expected.forward.by_q, forward.by_q(), 100.0 * TOLERANCE);
                close(&expected.forward.by_v, forward.by_v(), 100.0 * TOLERANCE);
                close(&expected.forward.by_tau, forward.by_tau(), 100.0 * TOLERANCE);
            }
        }
    }
}

#[test]
fn four_states_side_by_side() {
    type Four = FastLanes<4, false>;
    for level in [Level::portable(), Level::best()] {
        for tree in &trees() {
            let n = tree.velocities();
            let states: Vec<_> = (0..4).map(|seed| state(tree, seed)).collect();
            let pack = |pick: fn(&Sample) -> &Vec<f64>| -> Vec<Four> {
                (0..pick(&states[0]).len()).map(|i| FastLanes(std::array::from_fn(|l| pick(&states[l])[i]))).collect()
            };
            let (q, v, a, tau) = (pack(|s| &s.0), pack(|s| &s.1), pack(|s| &s.2), pack(|s| &s.3));
            let lane = |x: &[Four], l: usize| -> Vec<f64> { x.iter().map(|x| x.0[l]).collect() };
            let zero = Four::default();
            let (mut forces, mut accelerations, mut mass) = (vec![zero; n], vec![zero; n], vec![zero; n * n]);
            four::Rnea::new(tree, level).compute(tree, &q, &v, &a, &[], &mut forces);
            four::Aba::new(tree, level).compute(tree, &q, &v, &tau, &[], &mut accelerations);
            four::Crba::new(tree, level).compute(tree, &q, &mut mass);
            let mut inverse = four::RneaDerivatives::new(tree, level);
            inverse.compute(tree, &q, &v, &a, &[]);
            let mut forward = four::AbaDerivatives::new(tree, level);
            forward.compute(tree, &q, &v, &tau, &[]);
            for (l, (q, v, a, tau)) in states.iter().enumerate() {
                let expected = plain(tree, q, v, a, tau, &[]);
                close(&expected.tau, &lane(&forces, l), TOLERANCE);
                close(&expected.a, &lane(&accelerations, l), 100.0 * TOLERANCE);
                close(&expected.mass, &lane(&mass, l), TOLERANCE);
                close(&expected.inverse.by_q, &lane(inverse.by_q(), l), TOLERANCE);
                close(&expected.forward.by_q, &lane(forward.by_q(), l), 100.0 * TOLERANCE);
            }
        }
    }
}
