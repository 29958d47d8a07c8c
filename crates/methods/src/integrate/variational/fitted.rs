//! Curves between the ends of a step that have a frequency: q = g₁ q_k + g₂ q_{k+1} for each coordinate, u = ωh.
//!
//! Sines are \[1\] eq. 3, g₂ = sin τu/sin u and its mirror image g₁; for comparison the cubic spline with moments q̈ = −ω²q at both ends, g₂ = τ + u²(τ − τ³)/6.
//! All are functions of x = u² alone, which may be negative (hyperbolic sines): with S(τ) = sin(τu)/u and C(τ) = cos τu
//!
//! ```text
//! g₂ = S(τ)/S(1),   g₁ + g₂ = C(τ − ½)/C(½),   dC/dx = −τ S/2,   dS/dx = (τ C − S)/2x
//! ```
//!
//! **Frequencies from the action.** The discrete action of a step depends on x too, and where no frequency is given it is made stationary in it, for
//! each group of coordinates (a body, or one coordinate):
//!
//! ```text
//! ∂L_d/∂x = h Σ b_i [p·∂q̇/∂x + F·∂q/∂x]_i = 0
//! ```
//!
//! Then x is an inner unknown of a Galerkin curve, and the map stays symplectic, symmetric, and keeps angular momentum. As h goes to zero this is
//! ω² = −q̈·q/|q|², which is the factor in q̈ = −(μ/r³) q on any orbit about zero: the curve is right up to the change of r within a step.
//! The second derivative is Σ b |∂q̇/∂x|²_M + O(h²), which serves as Newton's slope. Frequencies stay within |u²| ≤ [`MOST`]: a body that passes within
//! h²q̈ of zero has none.
//!
//! Departure: \[1\] estimates ω from velocities (eqs. 5 to 7); frequencies that follow the motion that way are not part of the action, and the energy drifts.
//! The document's estimate is `estimate = 1`.
//!
//! Reference: \[1\] Kosmas, Leyendecker: On frequency estimations in phase fitted variational integrators, report of the Chair of Applied Dynamics,
//! Erlangen 2013.

use crate::algebra::Mass;
use std::ops::Range;

/// The largest u² that is looked for; sin u vanishes at π².
const MOST: f64 = 4.0;
/// Below these u² so many terms of series are used; what is left out is below 3e-17.
const TERMS: [(f64, usize); 4] = [(1e-5, 3), (1e-3, 4), (1e-2, 5), (0.3, 10)];
/// Changes of u² below this are taken by first derivatives: what is left out is below 1e-18.
const SLIGHT: f64 = 1e-9;

/// 1/(2n)!, 1/(2n + 1)! and (n + 1)/(2n + 3)!.
const COSINE: [f64; 10] = series(0, false);
const SINE: [f64; 10] = series(1, false);
const SLOPE: [f64; 10] = series(3, true);

const fn series(first: u64, weighted: bool) -> [f64; 10] {
    let mut out = [0.0; 10];
    let (mut n, mut factorial) = (0, 1.0);
    let mut k = 2;
    while k <= first {
        factorial *= k as f64;
        k += 1;
    }
    while n < 10 {
        out[n] = if weighted { (n + 1) as f64 } else { 1.0 } / factorial;
        let next = (2 * n as u64 + first) as f64;
        factorial *= (next + 1.0) * (next + 2.0);
        n += 1;
    }
    out
}

/// The curve between the ends of a step that has a frequency.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Curve {
    /// sin cu/sin u.
    Sine,
    /// c + u²(c − c³)/6.
    Spline,
}

/// Factors by points and coordinates: g₂, ġ₂, g₁ + g₂ and ġ₁ + ġ₂; rates are per step.
#[derive(Clone, Debug)]
struct Table([Vec<f64>; 4]);

impl Table {
    fn new(size: usize) -> Self {
        Self(std::array::from_fn(|_| vec![0.0; size]))
    }

    fn at(&self, i: usize, n: usize) -> [&[f64]; 4] {
        self.0.each_ref().map(|all| &all[i * n..(i + 1) * n])
    }

    fn put(&mut self, at: usize, factors: [f64; 4]) {
        self.0.iter_mut().zip(factors).for_each(|(all, factor)| all[at] = factor);
    }

    fn copy(&mut self, from: usize, to: usize) {
        self.0.iter_mut().for_each(|all| all[to] = all[from]);
    }
}

/// The factors of all coordinates for the frequencies at hand.
#[derive(Clone, Debug)]
pub(super) struct Fitted {
    curve: Curve,
    factors: Table,
    /// Their derivatives by u², if frequencies come from the action.
    changes: Option<Table>,
    /// −Σ w ġ₁ ġ₂, by coordinates: what multiplies the mass in Newton's matrix.
    inertia: Vec<f64>,
    kinetic: Kinetic,
    /// The squares of the frequencies these are for, and the step.
    squares: Vec<f64>,
    h: f64,
    /// Coordinates with one frequency, and the second derivative of the action by u² for each, as measured in this step.
    groups: Vec<Range<usize>>,
    curvatures: Vec<f64>,
    measured: bool,
    /// The change of u², by coordinates.
    shift: Vec<f64>,
    /// The masses of all coordinates, and whether there is nothing else in the mass matrix.
    pub masses: Vec<f64>,
    diagonal: bool,
}

/// Σ a_n yⁿ.
fn polynomial(y: f64, coefficients: &[f64]) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, a| sum * y + a)
}

/// S(t), C(t) and their derivatives by x.
fn wave(t: f64, x: f64) -> [f64; 4] {
    if let Some(&(_, terms)) = TERMS.iter().find(|(below, _)| x.abs() < *below) {
        let y = -x * t * t;
        let s = t * polynomial(y, &SINE[..terms]);
        let slope = -t * t * t * polynomial(y, &SLOPE[..terms]);
        return [s, polynomial(y, &COSINE[..terms]), slope, -0.5 * t * s];
    }
    let u = x.abs().sqrt();
    let (s, c) = if x > 0.0 { (t * u).sin_cos() } else { ((t * u).sinh(), (t * u).cosh()) };
    let s = s / u;
    [s, c, (t * c - s) / (2.0 * x), -0.5 * t * s]
}

/// One coordinate at one point, and the derivatives by x = u²; `one` and `half` are the waves at 1 and ½.
fn factors(curve: Curve, c: f64, x: f64, one: [f64; 4], half: [f64; 4]) -> [[f64; 4]; 2] {
    if curve == Curve::Spline {
        let a = x / 6.0;
        let by = [c - c * c * c, 1.0 - 3.0 * c * c, 3.0 * c * (1.0 - c), 3.0 * (1.0 - 2.0 * c)];
        return [[c + a * by[0], 1.0 + a * by[1], 1.0 + a * by[2], a * by[3]], by.map(|b| b / 6.0)];
    }
    let still = [0.0, 1.0, 0.0, 0.0];
    let (own, off) = if c == 0.0 {
        (still, [-half[0], half[1], -half[2], half[3]])
    } else if c == 1.0 {
        (one, half)
    } else if c == 0.5 {
        (half, still)
    } else {
        (wave(c, x), wave(c - 0.5, x))
    };
    let (whole, middle) = (one[0].recip(), half[1].recip());
    // The ends are met exactly.
    let [value, slope] = [if c == 1.0 { 1.0 } else { own[0] * whole }, own[1] * whole];
    let [sum, turn] = [if c == 0.0 || c == 1.0 { 1.0 } else { off[1] * middle }, -x * off[0] * middle];
    [
        [value, slope, sum, turn],
        [
            if c == 1.0 { 0.0 } else { (own[2] - value * one[2]) * whole },
            (own[3] - slope * one[2]) * whole,
            if c == 0.0 || c == 1.0 { 0.0 } else { (off[3] - sum * half[3]) * middle },
            -(off[0] + x * off[2] + turn * half[3]) * middle,
        ],
    ]
}

/// What the kinetic energy of one coordinate is made of, and its derivatives by u²: with the increment ξ of a step from q, Σ w |hq̇|² = a ξ² + 2 b ξ q + c q².
#[derive(Clone, Debug, Default)]
pub(super) struct Kinetic {
    pub a: Vec<f64>,
    pub b: Vec<f64>,
    pub c: Vec<f64>,
    pub by: [Vec<f64>; 3],
}

impl Fitted {
    pub fn new(curve: Curve, points: usize, n: usize, groups: Vec<Range<usize>>) -> Self {
        Self {
            curve,
            factors: Table::new(n * points),
            changes: (!groups.is_empty()).then(|| Table::new(n * points)),
            inertia: vec![0.0; n],
            kinetic: Kinetic {
                a: vec![0.0; n],
                b: vec![0.0; n],
                c: vec![0.0; n],
                by: std::array::from_fn(|_| vec![0.0; n]),
            },
            squares: vec![f64::NAN; n],
            h: 0.0,
            curvatures: vec![0.0; groups.len()],
            groups,
            measured: false,
            shift: vec![0.0; n],
            masses: vec![0.0; n],
            diagonal: false,
        }
    }

    /// The factors of all n coordinates at a point.
    pub fn at(&self, i: usize, n: usize) -> [&[f64]; 4] {
        self.factors.at(i, n)
    }

    /// Their derivatives by u², if frequencies come from the action.
    pub fn change(&self, i: usize, n: usize) -> Option<[&[f64]; 4]> {
        self.changes.as_ref().map(|changes| changes.at(i, n))
    }

    /// The squares of the frequencies.
    pub fn squares(&self) -> &[f64] {
        &self.squares
    }

    /// Whether frequencies come from the action.
    pub fn is_tuned(&self) -> bool {
        self.changes.is_some()
    }

    /// Takes the masses of coordinates.
    pub fn weigh(&mut self, mass: &Mass<f64>) {
        self.diagonal = true;
        mass.entries(|row, col, value| {
            if row == col {
                self.masses[row] = value;
            } else {
                self.diagonal = false;
            }
        });
    }

    /// The kinetic energy in closed form, if masses act by themselves.
    pub fn kinetic(&self) -> Option<&Kinetic> {
        self.diagonal.then_some(&self.kinetic)
    }

    /// Divides by what multiplies the mass in Newton's matrix.
    pub fn unscale(&self, out: &mut [f64]) {
        out.iter_mut().zip(&self.inertia).for_each(|(x, inertia)| *x /= inertia);
    }

    /// Takes squares of frequencies for a step h.
    pub fn fit(&mut self, points: &[f64], weights: &[f64], squares: &[f64], h: f64) {
        // Factors that were moved by derivatives are made anew, so that a continued run has the same bits.
        let same = self.h == h && !self.is_tuned();
        self.h = h;
        for (k, &square) in squares.iter().enumerate() {
            if !(same && self.squares[k] == square) {
                // The coordinates of one body have one frequency.
                let known = k > 0 && squares[k - 1] == square;
                self.set(points, weights, k, square, known);
            }
        }
    }

    /// The factors of one coordinate, which may be those of the one before it.
    fn set(&mut self, points: &[f64], weights: &[f64], k: usize, square: f64, known: bool) {
        let n = self.squares.len();
        self.squares[k] = square;
        self.measured = false;
        let Kinetic { a, b, c, by } = &mut self.kinetic;
        if known {
            self.inertia[k] = self.inertia[k - 1];
            (a[k], b[k], c[k]) = (a[k - 1], b[k - 1], c[k - 1]);
            by.iter_mut().for_each(|by| by[k] = by[k - 1]);
            for at in (0..points.len()).map(|i| i * n + k) {
                self.factors.copy(at - 1, at);
                if let Some(changes) = &mut self.changes {
                    changes.copy(at - 1, at);
                }
            }
            return;
        }
        let x = square * self.h * self.h;
        let (one, half) = (wave(1.0, x), wave(0.5, x));
        (a[k], b[k], c[k]) = (0.0, 0.0, 0.0);
        by.iter_mut().for_each(|by| by[k] = 0.0);
        for (i, (&point, &weight)) in points.iter().zip(weights).enumerate() {
            let [own, changed] = factors(self.curve, point, x, one, half);
            self.factors.put(i * n + k, own);
            if let Some(changes) = &mut self.changes {
                changes.put(i * n + k, changed);
            }
            let ([_, slope, _, turn], [_, slope_by, _, turn_by]) = (own, changed);
            a[k] += weight * slope * slope;
            b[k] += weight * slope * turn;
            c[k] += weight * turn * turn;
            by[0][k] += 2.0 * weight * slope * slope_by;
            by[1][k] += weight * (slope * turn_by + slope_by * turn);
            by[2][k] += 2.0 * weight * turn * turn_by;
        }
        self.inertia[k] = a[k] - b[k];
    }

    /// The second derivatives of the action by u², as far as they do not depend on forces.
    fn measure(&mut self, weights: &[f64], [q, increment]: [&[f64]; 2]) {
        let (n, h) = (self.squares.len(), self.h);
        let Some(changes) = &self.changes else { return };
        for (own, curvature) in self.groups.iter().zip(&mut self.curvatures) {
            *curvature = 0.0;
            for (i, weight) in weights.iter().enumerate() {
                let [_, by_slope, _, by_turn] = changes.at(i, n);
                for k in own.clone() {
                    let rate = (by_slope[k] * increment[k] + by_turn[k] * q[k]) / h;
                    *curvature += weight * self.masses[k] * rate * rate;
                }
            }
        }
        self.measured = true;
    }

    /// One step of Newton's method for the frequencies; `slopes` are the derivatives of the action over h by u² for each coordinate of a curve from
    /// `q` by `increment`. Returns the largest change of the curve relative to `sizes`.
    pub fn tune(
        &mut self,
        points: &[f64],
        weights: &[f64],
        [q, increment]: [&[f64]; 2],
        slopes: &[f64],
        sizes: &[f64],
    ) -> f64 {
        let (n, h) = (self.squares.len(), self.h);
        if !self.measured {
            self.measure(weights, [q, increment]);
        }
        let (mut largest, mut slight) = (0.0, true);
        for (own, &curvature) in self.groups.iter().zip(&self.curvatures) {
            let slope: f64 = slopes[own.clone()].iter().sum();
            let x = self.squares[own.start] * h * h;
            let next = if curvature > 0.0 { (x - slope / curvature).clamp(-MOST, MOST) } else { 0.0 };
            self.shift[own.clone()].fill(next - x);
            slight &= (next - x).abs() < SLIGHT;
            for k in own.clone() {
                // A curve bulges by u²/8 of its distance from zero.
                let change = 0.125 * (next - x).abs() * (q[k].abs() + increment[k].abs()) / sizes[k];
                if change > largest || change.is_nan() {
                    largest = change;
                }
            }
        }
        if slight {
            self.nudge(n);
            return largest;
        }
        for group in 0..self.groups.len() {
            let own = self.groups[group].clone();
            let square = self.squares[own.start] + self.shift[own.start] / (h * h);
            for k in own.clone() {
                self.set(points, weights, k, square, k > own.start);
            }
        }
        largest
    }

    /// Moves all factors by their derivatives.
    fn nudge(&mut self, n: usize) {
        let Some(changes) = &self.changes else { return };
        for (all, by) in self.factors.0.iter_mut().zip(&changes.0) {
            for (own, by) in all.chunks_exact_mut(n).zip(by.chunks_exact(n)) {
                for (k, value) in own.iter_mut().enumerate() {
                    *value += by[k] * self.shift[k];
                }
            }
        }
        let Kinetic { a, b, c, by } = &mut self.kinetic;
        for (all, by) in [a, b, c].into_iter().zip(by) {
            for (k, value) in all.iter_mut().enumerate() {
                *value += by[k] * self.shift[k];
            }
        }
        let inverse = 1.0 / (self.h * self.h);
        for (square, shift) in self.squares.iter_mut().zip(&self.shift) {
            *square += shift * inverse;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Series, trigonometric and hyperbolic functions meet, derivatives meet differences, and products of sines their closed forms.
    #[test]
    fn waves_are_smooth_in_the_square_of_the_frequency() {
        for x in [-2.0, -0.29, -0.31, -1e-3, 0.0, 9e-3, 0.011, 0.29, 0.31, 3.0] {
            for c in [0.0, 0.2, 0.5, 1.0] {
                let at = |x: f64| factors(Curve::Sine, c, x, wave(1.0, x), wave(0.5, x));
                let [own, by] = at(x);
                // Differences of a central quotient: truncation e²/6 and rounding ε/e of numbers of size one.
                let e = 1e-5;
                let [more, less] = [x + e, x - e].map(|x| at(x)[0]);
                for i in 0..4 {
                    assert!((by[i] - (more[i] - less[i]) / (2.0 * e)).abs() < 1e-9, "{x} {c} {i}");
                }
                if x > 0.0 {
                    let u = x.sqrt();
                    let (first, second) = ((u - c * u).sin() / u.sin(), (c * u).sin() / u.sin());
                    assert!((own[0] - second).abs() < 1e-15 && (own[2] - first - second).abs() < 1e-15, "{x} {c}");
                }
            }
        }
        for x in TERMS.iter().flat_map(|&(x, _)| [x, -x]) {
            let [below, above] = [x * (1.0 - 1e-15), x * (1.0 + 1e-15)].map(|x| wave(0.9, x));
            // The slope of a sine is a difference of numbers of size one over 2x.
            for (k, (a, b)) in below.iter().zip(above).enumerate() {
                let bound = if k == 2 && x.abs() > 0.1 { 4.0 / x.abs() } else { 4.0 };
                assert!((a - b).abs() < bound * f64::EPSILON, "{x} {k}: {a} {b}");
            }
        }
    }
}
