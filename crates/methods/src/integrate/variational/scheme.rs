//! Interpolation and quadrature of a step, for the discrete equations ([`super::discrete`]).

use super::centre::{Centres, WIDE};
use super::fitted::Fitted;
use super::nodes::lagrange;
use super::waves::Curve;
use crate::algebra::Lu;
use std::ops::Range;

/// Interpolation and quadrature.
#[derive(Clone, Debug)]
pub(super) struct Scheme {
    /// s.
    pub degree: usize,
    /// The nodes 0 … s on [0, 1], and their weights b̂.
    pub nodes: Vec<f64>,
    pub holds: Vec<f64>,
    /// The points c_i and weights b_i.
    pub points: Vec<f64>,
    pub weights: Vec<f64>,
    /// ℓ_ν(c_i) and ℓ̇_ν(c_i), by points.
    pub value: Vec<f64>,
    pub slope: Vec<f64>,
    /// The inverse of what multiplies the mass in Newton's matrix on flat spaces, by nodes: Σ b ℓ̇_ν ℓ̇_μ, its rows added up for the first equation.
    inertia: Vec<f64>,
    /// Trigonometric interpolation with a frequency for each coordinate, if wanted.
    pub fitted: Option<Fitted>,
}

impl Scheme {
    /// Polynomials through `nodes`, quadrature at `points`.
    pub fn new((nodes, holds): (Vec<f64>, Vec<f64>), (points, weights): (Vec<f64>, Vec<f64>)) -> Self {
        let degree = nodes.len() - 1;
        let table = |which: usize| {
            let row = |&c: &f64| (0..=degree).map(|nu| lagrange(&nodes, nu, c)[which]).collect::<Vec<_>>();
            points.iter().flat_map(row).collect()
        };
        let (value, slope): (Vec<f64>, Vec<f64>) = (table(0), table(1));
        let rates = |nu: usize, mu: usize| -> f64 {
            let row = |i: usize| &slope[i * (degree + 1)..];
            weights.iter().enumerate().map(|(i, weight)| weight * row(i)[nu] * row(i)[mu]).sum()
        };
        let mut matrix = Lu::new(degree);
        for (e, row) in matrix.values_mut().chunks_exact_mut(degree).enumerate() {
            for (mu, out) in row.iter_mut().enumerate() {
                *out = if e == 0 { (1..=degree).map(|nu| rates(nu, mu + 1)).sum() } else { rates(e, mu + 1) };
            }
        }
        // Rates of curves at enough points determine the curve.
        matrix.factor().expect("a quadrature that sees every node");
        let mut inertia = vec![0.0; degree * degree];
        for (e, column) in inertia.chunks_exact_mut(degree).enumerate() {
            column[e] = 1.0;
            matrix.solve(column);
        }
        Self { degree, nodes, holds, points, weights, value, slope, inertia, fitted: None }
    }

    /// Room for own frequencies of `n` coordinates about `centres`, found from the action for each of `groups` if there are some.
    pub fn with_frequencies(
        mut self,
        n: usize,
        curve: Curve,
        groups: Vec<Range<usize>>,
        still: bool,
        centres: Centres,
    ) -> Self {
        self.fitted = Some(Fitted::new(curve, &self.points, n, groups, still, centres));
        self
    }

    /// Takes squares of frequencies, in rad²/s², for a step h.
    pub fn fit(&mut self, squares: &[f64], h: f64) {
        if let Some(f) = &mut self.fitted {
            f.fit(&self.points, &self.weights, squares, h);
        }
    }

    /// The changes of u² that bring frequencies nearer to those that make the action stationary, by bodies; `slopes` are its derivatives by u², by coordinates. Returns the largest change of
    /// the curve relative to sizes.
    pub fn tune(&mut self, curve: [&[f64]; 2], slopes: &[f64], inverse_sizes: &[f64], out: &mut [f64]) -> f64 {
        self.fitted.as_mut().map_or(0.0, |f| f.tune(curve, slopes, inverse_sizes, out))
    }

    /// Changes u² of all bodies.
    pub fn bend(&mut self, shifts: &[f64]) {
        if let Some(f) = &mut self.fitted {
            f.bend(&self.points, &self.weights, shifts);
        }
    }

    /// How many bodies have a frequency from the action.
    pub fn tuned(&self) -> usize {
        self.fitted.as_ref().filter(|f| f.is_tuned()).map_or(0, Fitted::bodies)
    }

    /// How many centres curves bend about.
    pub fn centres(&self) -> usize {
        self.fitted.as_ref().map_or(0, |f| f.centres().count())
    }

    /// How many numbers that takes besides.
    pub fn scratch(&self) -> usize {
        self.degree.max(2 * WIDE * (self.centres() + 1))
    }

    /// Solves with what multiplies the mass in the equations, for each coordinate; `scratch` has [`Scheme::scratch`] numbers, zeros at first.
    pub fn unscale(&self, out: &mut [f64], scratch: &mut [f64]) {
        let s = self.degree;
        if let Some(f) = &self.fitted {
            let (means, offsets) = scratch.split_at_mut(scratch.len() / 2);
            f.unscale(out, means, offsets);
        } else if s > 1 {
            let n = out.len() / s;
            for k in 0..n {
                let scratch = &mut scratch[..s];
                scratch.fill(0.0);
                for (e, column) in self.inertia.chunks_exact(s).enumerate() {
                    let own = out[e * n + k];
                    scratch.iter_mut().zip(column).for_each(|(sum, factor)| *sum += factor * own);
                }
                scratch.iter().enumerate().for_each(|(nu, x)| out[nu * n + k] = *x);
            }
        }
    }
}
