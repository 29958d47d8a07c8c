//! Optimal control problems in block-banded form, with exact derivatives: how the cost of a solve grows with the number of nodes.
//!
//! [`CartPole`] is the swing-up of M. Kelly, *An introduction to trajectory optimization*, SIAM Review 59 (2017) 849–904, by trapezoidal
//! collocation: least ∫ u² dt from hanging to upright,
//!
//! ```text
//! s_{k+1} − s_k = h/2 (F(s_k, u_k) + F(s_{k+1}, u_{k+1})),   s = (x, θ, ẋ, θ̇)
//! ```
//!
//! [`Lift`] moves a mass by the implicit midpoint rule, rest to rest against gravity; its least effort is known in closed form:
//!
//! ```text
//! h Σ u² = 12 m² d² / T³ · N² / (N² − 1) + m² g² T
//! ```

use crate::nlp::{Bound, Nlp, Size};
use dalembert_methods::Jet;
use dalembert_methods::real::Real;

const G: f64 = 9.81;

/// Unknowns of a node of the cart-pole: four states and the force.
const NODE: usize = 5;

/// The swing-up of a pole on a cart.
#[derive(Clone, Debug)]
pub struct CartPole {
    /// Intervals.
    pub intervals: usize,
    /// Duration, in seconds.
    pub duration: f64,
    /// Where the cart ends, in metres.
    pub distance: f64,
    /// The greatest force, in newtons.
    pub force: f64,
}

impl CartPole {
    /// Two seconds, one metre, twenty newtons.
    pub fn new(intervals: usize) -> Self {
        Self { intervals, duration: 2.0, distance: 1.0, force: 20.0 }
    }

    fn step(&self) -> f64 {
        self.duration / self.intervals as f64
    }

    /// Rates of cart position, pole angle, and their velocities.
    fn rates<R: Real>(s: &[R; NODE]) -> [R; 4] {
        let (cart, pole, length) = (1.0, 0.3, 0.5);
        let (sine, cosine) = s[1].sin_cos();
        let spin = sine * s[3].square() * (length * pole);
        let free = sine.square() * pole + cart;
        let push = (spin + s[4] + cosine * sine * (pole * G)) / free;
        let turn = -(cosine * spin + s[4] * cosine + sine * ((cart + pole) * G)) / (free * length);
        [s[2], s[3], push, turn]
    }

    fn node(x: &[f64], k: usize) -> [f64; NODE] {
        std::array::from_fn(|i| x[NODE * k + i])
    }
}

impl Nlp for CartPole {
    fn size(&self) -> Size {
        Size { variables: NODE * (self.intervals + 1), constraints: 4 * self.intervals }
    }
    fn bounds(&self, variables: &mut [Bound], constraints: &mut [Bound]) {
        for node in variables.chunks_exact_mut(NODE) {
            node.fill(Bound::FREE);
            node[0] = Bound::between(-2.0, 2.0);
            node[4] = Bound::between(-self.force, self.force);
        }
        let last = NODE * self.intervals;
        for (i, end) in [self.distance, std::f64::consts::PI, 0.0, 0.0].into_iter().enumerate() {
            variables[i] = Bound::equal(0.0);
            variables[last + i] = Bound::equal(end);
        }
        constraints.fill(Bound::equal(0.0));
    }
    fn start(&self, x: &mut [f64]) {
        for (k, node) in x.chunks_exact_mut(NODE).enumerate() {
            let part = k as f64 / self.intervals as f64;
            node.copy_from_slice(&[part * self.distance, part * std::f64::consts::PI, 0.0, 0.0, 0.0]);
        }
    }
    fn variable_name(&self, index: usize) -> String {
        let name = ["position", "angle", "velocity", "angular velocity", "force"][index % NODE];
        format!("{name} at {:.4} s", self.step() * (index / NODE) as f64)
    }
    fn constraint_name(&self, index: usize) -> String {
        let name = ["position", "angle", "velocity", "angular velocity"][index % 4];
        format!("step of {name} from {:.4} s", self.step() * (index / 4) as f64)
    }
    fn jacobian_pattern(&self) -> Vec<(usize, usize)> {
        let entry = |k: usize, side: usize, i: usize, j: usize| (4 * k + i, NODE * (k + side) + j);
        (0..self.intervals)
            .flat_map(|k| {
                (0..2).flat_map(move |side| (0..4).flat_map(move |i| (0..NODE).map(move |j| entry(k, side, i, j))))
            })
            .collect()
    }
    fn hessian_pattern(&self) -> Vec<(usize, usize)> {
        (0..=self.intervals)
            .flat_map(|k| (0..NODE).flat_map(move |i| (0..=i).map(move |j| (NODE * k + i, NODE * k + j))))
            .collect()
    }
    fn objective(&mut self, x: &[f64]) -> f64 {
        let last = self.intervals;
        let weight = |k: usize| if k == 0 || k == last { 0.5 } else { 1.0 };
        (0..=last).map(|k| self.step() * weight(k) * x[NODE * k + 4].powi(2)).sum()
    }
    fn gradient(&mut self, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for k in 0..=self.intervals {
            let weight = if k == 0 || k == self.intervals { 0.5 } else { 1.0 };
            out[NODE * k + 4] = 2.0 * self.step() * weight * x[NODE * k + 4];
        }
    }
    fn constraints(&mut self, x: &[f64], out: &mut [f64]) {
        let h = 0.5 * self.step();
        let mut before = Self::rates(&Self::node(x, 0));
        for k in 0..self.intervals {
            let after = Self::rates(&Self::node(x, k + 1));
            for i in 0..4 {
                out[4 * k + i] = x[NODE * (k + 1) + i] - x[NODE * k + i] - h * (before[i] + after[i]);
            }
            before = after;
        }
    }
    fn jacobian(&mut self, x: &[f64], out: &mut [f64]) {
        let h = 0.5 * self.step();
        let slopes = |k: usize| {
            let s = Self::node(x, k);
            Self::rates::<Jet<f64, NODE>>(&std::array::from_fn(|i| Jet::variable(s[i], i)))
        };
        let mut before = slopes(0);
        for k in 0..self.intervals {
            let after = slopes(k + 1);
            for (side, rates, sign) in [(0, &before, -1.0), (1, &after, 1.0)] {
                for i in 0..4 {
                    for j in 0..NODE {
                        let own = if i == j { sign } else { 0.0 };
                        out[40 * k + 20 * side + NODE * i + j] = own - h * rates[i].eps[j];
                    }
                }
            }
            before = after;
        }
    }
    fn hessian(&mut self, x: &[f64], weight: f64, multipliers: &[f64], out: &mut [f64]) {
        let h = 0.5 * self.step();
        for k in 0..=self.intervals {
            let s = Self::node(x, k);
            let jets: [Jet<Jet<f64, NODE>, NODE>; NODE] = std::array::from_fn(|i| {
                let mut jet = Jet::constant(Jet::variable(s[i], i));
                jet.eps[i] = Jet::constant(1.0);
                jet
            });
            let rates = Self::rates(&jets);
            let mut slot = k * NODE * (NODE + 1) / 2;
            for i in 0..NODE {
                for j in 0..=i {
                    let mut sum = 0.0;
                    for r in 0..4 {
                        let left = if k > 0 { multipliers[4 * (k - 1) + r] } else { 0.0 };
                        let right = if k < self.intervals { multipliers[4 * k + r] } else { 0.0 };
                        sum -= h * (left + right) * rates[r].eps[i].eps[j];
                    }
                    out[slot] = sum;
                    slot += 1;
                }
            }
            let ends = if k == 0 || k == self.intervals { 0.5 } else { 1.0 };
            out[slot - 1] += 2.0 * weight * self.step() * ends;
        }
    }
}

/// A mass moved up, rest to rest, with least effort.
#[derive(Clone, Debug)]
pub struct Lift {
    /// Intervals.
    pub intervals: usize,
    /// Mass, in kilograms.
    pub mass: f64,
    /// Height, in metres.
    pub distance: f64,
    /// Duration, in seconds.
    pub duration: f64,
}

impl Lift {
    fn step(&self) -> f64 {
        self.duration / self.intervals as f64
    }

    /// The least effort h Σ u², in N² s.
    pub fn exact(&self) -> f64 {
        let (n, m, t) = (self.intervals as f64, self.mass, self.duration);
        12.0 * (m * self.distance).powi(2) / t.powi(3) * n * n / (n * n - 1.0) + (m * G).powi(2) * t
    }
}

impl Nlp for Lift {
    /// Unknowns (q, v, u) of each node; the last u is fixed at zero.
    fn size(&self) -> Size {
        Size { variables: 3 * (self.intervals + 1), constraints: 2 * self.intervals }
    }
    fn bounds(&self, variables: &mut [Bound], constraints: &mut [Bound]) {
        variables.fill(Bound::FREE);
        constraints.fill(Bound::equal(0.0));
        let last = 3 * self.intervals;
        for (index, value) in [(0, 0.0), (1, 0.0), (last, self.distance), (last + 1, 0.0), (last + 2, 0.0)] {
            variables[index] = Bound::equal(value);
        }
    }
    fn start(&self, x: &mut [f64]) {
        x.fill(0.0);
    }
    fn variable_name(&self, index: usize) -> String {
        format!("{} at {:.4} s", ["height", "velocity", "force"][index % 3], self.step() * (index / 3) as f64)
    }
    fn constraint_name(&self, index: usize) -> String {
        format!("step of {} from {:.4} s", ["height", "velocity"][index % 2], self.step() * (index / 2) as f64)
    }
    fn jacobian_pattern(&self) -> Vec<(usize, usize)> {
        let rows = |k: usize| {
            let (row, a) = (2 * k, 3 * k);
            [(row, a), (row, a + 1), (row, a + 3), (row, a + 4), (row + 1, a + 1), (row + 1, a + 2), (row + 1, a + 4)]
        };
        (0..self.intervals).flat_map(rows).collect()
    }
    fn hessian_pattern(&self) -> Vec<(usize, usize)> {
        (0..self.intervals).map(|k| (3 * k + 2, 3 * k + 2)).collect()
    }
    fn objective(&mut self, x: &[f64]) -> f64 {
        (0..self.intervals).map(|k| self.step() * x[3 * k + 2].powi(2)).sum()
    }
    fn gradient(&mut self, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        for k in 0..self.intervals {
            out[3 * k + 2] = 2.0 * self.step() * x[3 * k + 2];
        }
    }
    fn constraints(&mut self, x: &[f64], out: &mut [f64]) {
        let h = self.step();
        for k in 0..self.intervals {
            let (a, b) = (&x[3 * k..3 * k + 3], &x[3 * k + 3..3 * k + 6]);
            out[2 * k] = b[0] - a[0] - 0.5 * h * (a[1] + b[1]);
            out[2 * k + 1] = b[1] - a[1] - h * (a[2] / self.mass - G);
        }
    }
    fn jacobian(&mut self, _: &[f64], out: &mut [f64]) {
        let h = self.step();
        for row in out.chunks_exact_mut(7) {
            row.copy_from_slice(&[-1.0, -0.5 * h, 1.0, -0.5 * h, -1.0, -h / self.mass, 1.0]);
        }
    }
    fn hessian(&mut self, _: &[f64], weight: f64, _: &[f64], out: &mut [f64]) {
        out.fill(2.0 * weight * self.step());
    }
}
