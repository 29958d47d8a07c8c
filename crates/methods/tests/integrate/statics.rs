//! Static equilibria of small systems.
#![allow(clippy::unwrap_used)]

use dalembert_methods::algebra::{Mass, MassBlock};
use dalembert_methods::scalar::Scalar;
use dalembert_methods::statics::equilibrium;
use dalembert_methods::system::{Shape, State, System};

/// Two masses on two springs in a row: at rest where both coordinates are zero, or where a load puts them.
struct Row {
    masses: [f64; 2],
    stiffness: [f64; 2],
    load: f64,
}

impl System for Row {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        Shape { q: 2, v: 2, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(2)]
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _: &State<S>, (): &mut ()) {}
    fn mass<S: Scalar>(&self, _: &State<S>, (): &mut (), out: &mut Mass<S>) {
        for (out, &mass) in out.block_mut(0).iter_mut().zip(&self.masses) {
            *out = S::from(mass);
        }
    }
    fn force<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        let inner = (s.q[1] - s.q[0]) * self.stiffness[1];
        out[0] = inner - s.q[0] * self.stiffness[0];
        out[1] = S::from(self.load) - inner;
    }
}

/// A wheel and the body of a car: the search ends at zero, wherever it starts, and what is left of the coordinates is below the
/// tolerance times the largest one met times the ratio of the stiffest to the softest direction.
#[test]
fn a_search_may_end_at_zero() {
    let row = Row { masses: [40.0, 250.0], stiffness: [160e3, 16e3], load: 0.0 };
    // Eigenvalues of [176 −16; −16 16] kN/m: the stiffest is below 192, the softest above 14.
    let condition = 192.0 / 14.0;
    for start in [[0.05, 0.0], [0.0, 0.05], [-0.3, 2.0], [1e-9, 1e-9], [0.0, 0.0]] {
        let mut s = State::zeros(row.shape());
        s.q.copy_from_slice(&start);
        let size = start.iter().fold(0.0f64, |a, b| a.max(b.abs()));
        equilibrium(&row, &mut s, 1e-12).unwrap();
        assert!(s.q.iter().all(|q| q.abs() <= 2.0 * condition * 1e-12 * size), "{start:?}: {:?}", s.q);
    }
}

/// Under a load the springs stretch by load/stiffness each.
#[test]
fn a_search_finds_loaded_springs() {
    let row = Row { masses: [40.0, 250.0], stiffness: [160e3, 16e3], load: -2452.5 };
    let exact = [-2452.5 / 160e3, -2452.5 / 160e3 - 2452.5 / 16e3];
    let mut s = State::zeros(row.shape());
    equilibrium(&row, &mut s, 1e-12).unwrap();
    for (found, exact) in s.q.iter().zip(exact) {
        assert!((found - exact).abs() < 30e-12 * 0.17, "{:?}", s.q);
    }
}
