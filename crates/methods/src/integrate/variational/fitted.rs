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
//! The second derivative is Σ b |∂q̇/∂x|²_M + O(h²), which serves as Newton's slope. Frequencies stay within |u²| ≤ x = [`MOST`]: a body that passes within
//! h²q̈/x of zero has none. The action changes there by mh³q̈²/24, what a straight line misses, so that the body is pushed by hq̈ x/24 as it comes and as it goes.
//!
//! Departure: \[1\] estimates ω from velocities (eqs. 5 to 7); frequencies that follow the motion that way are not part of the action, and the energy drifts.
//! The document's estimate is `estimate = 1`.
//!
//! Reference: \[1\] Kosmas, Leyendecker: On frequency estimations in phase fitted variational integrators, report of the Chair of Applied Dynamics,
//! Erlangen 2013.

use crate::algebra::Mass;
use std::ops::Range;

/// The largest u² that is looked for: a turn in six steps.
const MOST: f64 = 1.0;
/// Below these u² so many terms of series are used; what is left out is below 3e-17.
const TERMS: [(f64, usize); 4] = [(1e-5, 3), (1e-3, 4), (1e-2, 5), (0.3, 10)];
/// Changes of u² below this are taken by first derivatives: second ones are below 0.03, so that 2e-18 is left out.
const SLIGHT: f64 = 1e-8;

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

    fn put(&mut self, at: Range<usize>, factors: [f64; 4]) {
        self.0.iter_mut().zip(factors).for_each(|(all, factor)| all[at.clone()].fill(factor));
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
    /// Coordinates with one frequency; for each the inverse of the second derivative of the action by u², and how far the curve moves with u² relative to
    /// the sizes of coordinates, as measured in this step.
    groups: Vec<Range<usize>>,
    steps: Vec<[f64; 2]>,
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
    /// Second derivatives, as far as they do not depend on those of curves.
    twice: [Vec<f64>; 3],
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
                twice: std::array::from_fn(|_| vec![0.0; n]),
            },
            squares: vec![f64::NAN; n],
            h: 0.0,
            steps: vec![[0.0; 2]; groups.len()],
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
        let mut start = 0;
        // The coordinates of one body have one frequency.
        for run in squares.chunk_by(|a, b| a == b) {
            let own = start..start + run.len();
            start = own.end;
            if !(same && self.squares[own.clone()].iter().all(|square| *square == run[0])) {
                self.set(points, weights, own, run[0]);
            }
        }
    }

    /// The factors of coordinates that have one frequency.
    fn set(&mut self, points: &[f64], weights: &[f64], own: Range<usize>, square: f64) {
        let n = self.squares.len();
        self.squares[own.clone()].fill(square);
        self.measured = false;
        let x = square * self.h * self.h;
        let (one, half) = (wave(1.0, x), wave(0.5, x));
        let mut sums = [0.0; 9];
        for (i, (&point, &weight)) in points.iter().zip(weights).enumerate() {
            let [factor, by] = factors(self.curve, point, x, one, half);
            let at = i * n + own.start..i * n + own.end;
            self.factors.put(at.clone(), factor);
            if let Some(changes) = &mut self.changes {
                changes.put(at, by);
            }
            let ([_, slope, _, turn], [_, slope_by, _, turn_by]) = (factor, by);
            let terms = [
                slope * slope,
                slope * turn,
                turn * turn,
                2.0 * slope * slope_by,
                slope * turn_by + slope_by * turn,
                2.0 * turn * turn_by,
                2.0 * slope_by * slope_by,
                2.0 * slope_by * turn_by,
                2.0 * turn_by * turn_by,
            ];
            sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += weight * term);
        }
        let Kinetic { a, b, c, by: [d, e, f], twice: [g, h, i] } = &mut self.kinetic;
        for (all, sum) in [a, b, c, d, e, f, g, h, i].into_iter().zip(sums) {
            all[own.clone()].fill(sum);
        }
        self.inertia[own].fill(sums[0] - sums[1]);
    }

    /// The second derivatives of the action by u², as far as they do not depend on forces.
    fn measure(&mut self, [q, increment]: [&[f64]; 2], sizes: &[f64]) {
        let (half, [a, b, c]) = (0.5 / (self.h * self.h), &self.kinetic.twice);
        for (own, [inverse, reach]) in self.groups.iter().zip(&mut self.steps) {
            let (mut curvature, mut most) = (0.0, 0.0_f64);
            for k in own.clone() {
                let (q, xi) = (q[k], increment[k]);
                curvature += half * self.masses[k] * (xi * (a[k] * xi + 2.0 * b[k] * q) + c[k] * q * q);
                most = most.max((q.abs() + xi.abs()) / sizes[k]);
            }
            *inverse = if curvature > 0.0 { 1.0 / curvature } else { 0.0 };
            // A curve bulges by u²/8 of its distance from zero.
            *reach = 0.125 * most;
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
            self.measure([q, increment], sizes);
        }
        let (mut largest, mut slight) = (0.0, true);
        let inverse = 1.0 / (h * h);
        for (own, [step, reach]) in self.groups.iter().zip(&self.steps) {
            let slope: f64 = slopes[own.clone()].iter().sum();
            let x = self.squares[own.start] * h * h;
            let next = if *step > 0.0 { (x - slope * step).clamp(-MOST, MOST) } else { 0.0 };
            self.shift[own.clone()].fill(next - x);
            slight &= (next - x).abs() < SLIGHT;
            let change = (next - x).abs() * reach;
            if change > largest || change.is_nan() {
                largest = change;
            }
        }
        for group in 0..if slight { 0 } else { self.groups.len() } {
            let own = self.groups[group].clone();
            let shift = self.shift[own.start];
            if shift.abs() >= SLIGHT || shift.is_nan() {
                self.shift[own.clone()].fill(0.0);
                self.set(points, weights, own.clone(), self.squares[own.start] + shift * inverse);
            }
        }
        self.nudge(points, n, inverse);
        largest
    }

    /// Moves all factors by their derivatives.
    fn nudge(&mut self, points: &[f64], n: usize, inverse: f64) {
        let Some(changes) = &self.changes else { return };
        for (which, (all, by)) in self.factors.0.iter_mut().zip(&changes.0).enumerate() {
            for (i, (own, by)) in all.chunks_exact_mut(n).zip(by.chunks_exact(n)).enumerate() {
                // Curves pass through both ends whatever their frequency.
                if which % 2 == 0 && (points[i] == 0.0 || points[i] == 1.0) {
                    continue;
                }
                for (k, value) in own.iter_mut().enumerate() {
                    *value += by[k] * self.shift[k];
                }
            }
        }
        let Kinetic { a, b, c, by, twice } = &mut self.kinetic;
        for ((all, by), twice) in [a, b, c].into_iter().zip(by).zip(twice) {
            for (k, value) in all.iter_mut().enumerate() {
                *value += by[k] * self.shift[k];
                by[k] += twice[k] * self.shift[k];
            }
        }
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
