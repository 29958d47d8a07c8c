//! Large systems by their entries, and systems with further states of forces: closed forms of a long chain and of a Maxwell element.
#![allow(clippy::unwrap_used)]

use dalembert_analysis::covariance::stationary_sparse;
use dalembert_analysis::linear::ComplexModes;
use dalembert_analysis::linearise::{entries, linearise};
use dalembert_methods::algebra::{Block, Complex, Mass, MassBlock, Rows};
use dalembert_methods::scalar::Scalar;
use dalembert_methods::system::{Shape, State, System};
use std::f64::consts::PI;

/// Masses of 1 kg between springs of 1 N/m, held by 0.5 N/m and damped by 1 N s/m each; every mass is two halves that a row ties together.
struct Chain(usize);

const HELD: f64 = 0.5;
const DAMPING: f64 = 1.0;

impl System for Chain {
    type Work<S: Scalar> = ();

    fn shape(&self) -> Shape {
        Shape { q: 2 * self.0, v: 2 * self.0, g: self.0, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(2 * self.0)]
    }
    fn row_blocks(&self) -> Vec<Block> {
        let tied = |i: usize| [i, self.0 + i].map(|col| Block { row: i, rows: 1, col, cols: 1 });
        (0..self.0).flat_map(tied).collect()
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, _w: &mut ()) {}
    fn mass<S: Scalar>(&self, _s: &State<S>, _w: &mut (), out: &mut Mass<S>) {
        out.block_mut(0).fill(S::from(0.5));
    }
    fn force<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
        let n = self.0;
        out.fill(S::zero());
        // Springs and dampers are at the first halves.
        for i in 0..n {
            let before = if i == 0 { S::zero() } else { s.q[i - 1] };
            let after = if i + 1 == n { S::zero() } else { s.q[i + 1] };
            out[i] = before + after - s.q[i] * (2.0 + HELD) - s.v[i] * DAMPING;
        }
    }
    fn constraint<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
        (0..self.0).for_each(|i| out[i] = s.q[self.0 + i] - s.q[i]);
    }
    fn constraint_rate<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
        (0..self.0).for_each(|i| out[i] = s.v[self.0 + i] - s.v[i]);
    }
    fn constraint_bias<S: Scalar>(&self, _s: &State<S>, _w: &mut (), out: &mut [S]) {
        out.fill(S::zero());
    }
    fn jacobian<S: Scalar>(&self, _s: &State<S>, _w: &mut (), out: &mut Rows<S>) {
        for i in 0..self.0 {
            out.block_mut(2 * i)[0] = S::from(-1.0);
            out.block_mut(2 * i + 1)[0] = S::one();
        }
    }
}

/// Noise on the first of 2000 masses. With shapes φ and squares ω² of the undamped chain, modes j and k have the covariance
/// W φ_j φ_k 2d/((ω_j² − ω_k²)² + 2d²(ω_j² + ω_k²)).
#[test]
fn a_chain_of_two_thousand_masses_has_its_covariance() {
    let n = 2000;
    let model = Chain(n);
    let clock = std::time::Instant::now();
    let found = entries(&model, &State::zeros(model.shape()), &[0]).unwrap();
    assert_eq!((found.size, found.independent.len()), (2 * n, n));
    // One entry for each velocity, and five, or four at the ends, for each acceleration less one.
    assert_eq!(found.state.len(), n + 4 * n - 2);
    let assembled = clock.elapsed();
    let low = stationary_sparse(found.size, &found.state, &found.input, 1e-12, 400).unwrap();
    println!(
        "{} states: entries in {assembled:.2?}, covariance of rank {} in {:.2?}",
        found.size,
        low.factor.cols(),
        clock.elapsed() - assembled
    );
    assert!(low.residual <= 1e-12);
    let angle = |j: usize| (j + 1) as f64 * PI / (n + 1) as f64;
    let square: Vec<f64> = (0..n).map(|j| HELD + 2.0 - 2.0 * angle(j).cos()).collect();
    let shape = |i: usize, j: usize| (2.0 / (n + 1) as f64).sqrt() * (angle(j) * (i + 1) as f64).sin();
    for i in [0, 1, 7] {
        let (at, driven): (Vec<f64>, Vec<f64>) = (0..n).map(|j| (shape(i, j), shape(0, j))).unzip();
        let mut expected = 0.0;
        for j in 0..n {
            let row: f64 = (0..n)
                .map(|k| {
                    let apart = square[j] - square[k];
                    let below = apart * apart + 2.0 * DAMPING * DAMPING * (square[j] + square[k]);
                    at[k] * driven[k] / below
                })
                .sum();
            expected += at[j] * driven[j] * row;
        }
        expected *= 2.0 * DAMPING;
        // The error of P is at most the residual over twice the slowest rate, which is some half per second.
        let independent = found.independent.iter().position(|&v| v % n == i).unwrap();
        let variance = low.entry(independent, independent);
        assert!((variance - expected).abs() < 1e-11, "{i}: {variance} {expected}");
    }
}

/// One mass on a spring k beside a spring c and a damper in series, whose force s is a state: ṡ = c v − s/τ.
struct Maxwell;

const MASS: f64 = 2.0;
const SPRING: f64 = 18.0;
const SERIES: f64 = 10.0;
const TAU: f64 = 0.4;

impl System for Maxwell {
    type Work<S: Scalar> = ();

    fn shape(&self) -> Shape {
        Shape { q: 1, v: 1, x: 1, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(1)]
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, _w: &mut ()) {}
    fn mass<S: Scalar>(&self, _s: &State<S>, _w: &mut (), out: &mut Mass<S>) {
        out.block_mut(0).fill(S::from(MASS));
    }
    fn force<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
        out[0] = -(s.q[0] * SPRING) - s.x[0];
    }
    fn rate<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
        out[0] = s.v[0] * SERIES - s.x[0] * (1.0 / TAU);
    }
}

/// λ³ + λ²/τ + λ (k + c)/m + k/(mτ) = 0: three modes of one coordinate, which M, D, G, K, N alone do not have.
#[test]
fn complex_modes_hold_further_states() {
    let found = linearise(&Maxwell, &State::zeros(Maxwell.shape())).unwrap();
    let modes = ComplexModes::of(&found.state_matrix, 1).unwrap();
    assert_eq!(modes.values.len(), 3);
    let c = [SPRING / (MASS * TAU), (SPRING + SERIES) / MASS, 1.0 / TAU, 1.0];
    for (k, &z) in modes.values.iter().enumerate() {
        let value = c.iter().rev().fold(Complex::default(), |sum, &c| sum * z + c.into());
        assert!(value.modulus() < 1e-12 * c[0], "{z:?}");
        // The largest position is 1; its rate is λ, and s = c λ/(λ + 1/τ).
        let expected = z * Complex::from(SERIES) / (z + Complex::from(1.0 / TAU));
        assert!((modes.right[(0, k)] - Complex::from(1.0)).modulus() < 1e-12);
        assert!((modes.right[(1, k)] - z).modulus() < 1e-11);
        assert!((modes.right[(2, k)] - expected).modulus() < 1e-11);
    }
}
