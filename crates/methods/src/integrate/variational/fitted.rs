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
//! **Centres.** As g₁ + g₂ ≠ 1 curves depend on where coordinates are zero. That is the centre of mass for bodies on which no other forces act than those between
//! them ([`super::centre`]); then r = q − c takes the place of q here.
//!
//! Departure: \[1\] fits about the zero of coordinates (`centre = 0`). \[1\] estimates ω from velocities (eqs. 5 to 7); frequencies that follow the motion that way are not part of the action, and the energy drifts.
//! The document's estimate is `estimate = 1`.
//!
//! Reference: \[1\] Kosmas, Leyendecker: On frequency estimations in phase fitted variational integrators, report of the Chair of Applied Dynamics,
//! Erlangen 2013.

use super::bend;
use super::centre::Centres;
use super::waves::{Curve, SIDE, Several, Whole, factors};
use crate::algebra::Mass;
use crate::lanes::Lanes;
use crate::real::Real;
use std::ops::Range;

/// The largest u² that is looked for: a turn in six steps.
const MOST: f64 = 1.0;
/// Changes of u² below this are taken by first derivatives: second ones are below 0.03, so that 2e-18 is left out.
const SLIGHT: f64 = 1e-8;

/// Factors by points and bodies: g₂, ġ₂, g₁ + g₂ and ġ₁ + ġ₂; rates are per step.
#[derive(Clone, Debug)]
struct Table([Vec<f64>; 4]);

impl Table {
    fn new(size: usize) -> Self {
        Self(std::array::from_fn(|_| vec![0.0; size]))
    }

    fn at(&self, i: usize, n: usize) -> [&[f64]; 4] {
        self.0.each_ref().map(|all| &all[i * n..(i + 1) * n])
    }
}

/// Bodies that have one frequency, and its square.
type Own = (Range<usize>, f64);

/// The factors of all bodies for the frequencies at hand.
#[derive(Clone, Debug)]
pub(super) struct Fitted {
    curve: Curve,
    /// Coordinates of a body, in a row: as many as all groups have, or one.
    width: usize,
    factors: Table,
    /// Their derivatives by u², if frequencies come from the action.
    changes: Option<Table>,
    /// −1/Σ w ġ₁ ġ₂, by bodies: the inverse of what multiplies the mass in Newton's matrix.
    lightness: Vec<f64>,
    kinetic: Kinetic,
    /// The squares of the frequencies these are for, by bodies, and the step.
    squares: Vec<f64>,
    h: f64,
    /// Coordinates with one frequency; for each the inverse of the second derivative of the action by u², and how far the curve moves with u² relative to
    /// the sizes of coordinates, as measured in this step.
    groups: Vec<Range<usize>>,
    steps: Vec<[f64; 2]>,
    measured: bool,
    /// The change of u², by bodies.
    shift: Vec<f64>,
    /// The masses of all coordinates, and whether there is nothing else in the mass matrix.
    pub masses: Vec<f64>,
    diagonal: bool,
    /// Whether nothing is asked for rates at points, if masses act by themselves; and whether that is so.
    still: bool,
    bare: bool,
    /// The centres about which curves bend, and the coordinates that bend about zero.
    centres: Centres,
    outside: Vec<usize>,
}

/// What the kinetic energy of a coordinate is made of, by bodies, and its derivatives by u²: with the increment ξ of a step from q, Σ w |hq̇|² = a ξ² + 2 b ξ q + c q².
#[derive(Clone, Debug, Default)]
pub(super) struct Kinetic {
    pub a: Vec<f64>,
    pub b: Vec<f64>,
    pub c: Vec<f64>,
    pub by: [Vec<f64>; 3],
    /// Second derivatives, as far as they do not depend on those of curves.
    twice: [Vec<f64>; 3],
}

/// Whether a point is an end, where curves are whatever their frequency.
fn is_end(point: f64) -> bool {
    point == 0.0 || point == 1.0
}

impl Fitted {
    /// For `n` coordinates, those of each of `groups` with a frequency of their own from the action; `still` if nobody asks for rates at points.
    pub fn new(
        curve: Curve,
        points: &[f64],
        n: usize,
        groups: Vec<Range<usize>>,
        still: bool,
        centres: Centres,
    ) -> Self {
        let first = groups.first().map_or(1, Range::len);
        let alike = groups.iter().enumerate().all(|(i, own)| *own == (i * first..(i + 1) * first));
        let width = if alike && groups.len() * first == n { first } else { 1 };
        let bodies = n / width;
        let mut table = Table::new(bodies * points.len());
        for (i, &point) in points.iter().enumerate().filter(|(_, point)| is_end(**point)) {
            table.0[0][i * bodies..(i + 1) * bodies].fill(point);
            table.0[2][i * bodies..(i + 1) * bodies].fill(1.0);
        }
        let members = centres.members(n);
        Self {
            curve,
            width,
            factors: table,
            changes: (!groups.is_empty()).then(|| Table::new(bodies * points.len())),
            lightness: vec![1.0; bodies],
            kinetic: Kinetic {
                a: vec![0.0; bodies],
                b: vec![0.0; bodies],
                c: vec![0.0; bodies],
                by: std::array::from_fn(|_| vec![0.0; bodies]),
                twice: std::array::from_fn(|_| vec![0.0; bodies]),
            },
            squares: vec![f64::NAN; bodies],
            h: 0.0,
            steps: vec![[0.0; 2]; groups.len()],
            groups,
            measured: false,
            shift: vec![0.0; bodies],
            masses: vec![0.0; n],
            diagonal: false,
            still,
            bare: false,
            centres,
            outside: (0..n).filter(|&k| !members[k]).collect(),
        }
    }

    /// Coordinates of a body.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The factors of all bodies at a point.
    pub fn at(&self, i: usize) -> [&[f64]; 4] {
        self.factors.at(i, self.squares.len())
    }

    /// Their derivatives by u², if frequencies come from the action.
    pub fn change(&self, i: usize) -> Option<[&[f64]; 4]> {
        self.changes.as_ref().map(|changes| changes.at(i, self.squares.len()))
    }

    /// Writes the squares of the frequencies of all coordinates.
    pub fn squares(&self, out: &mut [f64]) {
        out.chunks_exact_mut(self.width).zip(&self.squares).for_each(|(out, square)| out.fill(*square));
    }

    /// Whether frequencies come from the action.
    pub fn is_tuned(&self) -> bool {
        self.changes.is_some()
    }

    /// The centres about which curves bend.
    pub fn centres(&self) -> &Centres {
        &self.centres
    }

    /// Whether rates at points are left out.
    pub fn is_bare(&self) -> bool {
        self.bare
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
        self.bare = self.still && self.diagonal;
    }

    /// The kinetic energy in closed form, if masses act by themselves.
    pub fn kinetic(&self) -> Option<&Kinetic> {
        self.diagonal.then_some(&self.kinetic)
    }

    /// Divides by what multiplies the mass in Newton's matrix.
    pub fn unscale(&self, out: &mut [f64]) {
        if self.centres.count() == 0 {
            for (own, lightness) in out.chunks_exact_mut(self.width).zip(&self.lightness) {
                own.iter_mut().for_each(|x| *x *= lightness);
            }
            return;
        }
        self.outside.iter().for_each(|&k| out[k] *= self.lightness[k / self.width]);
        self.centres.unscale(&self.lightness, self.width, out);
    }

    /// Takes squares of frequencies for a step h.
    pub fn fit(&mut self, points: &[f64], weights: &[f64], squares: &[f64], h: f64) {
        // Factors that were moved by derivatives are made anew, so that a continued run has the same bits.
        let same = self.h == h && !self.is_tuned();
        self.h = h;
        let (mut start, mut waiting, mut count) = (0, none(), 0);
        let squares = squares.iter().step_by(self.width);
        let mut next = squares.clone().skip(1);
        for (body, &square) in squares.enumerate() {
            // Bodies of one frequency in a row are set together.
            if next.next() == Some(&square) {
                continue;
            }
            let own = start..body + 1;
            start = own.end;
            if !(same && self.squares[own.clone()].iter().all(|known| *known == square)) {
                waiting[count] = (own, square);
                count += 1;
            }
            if count == SIDE {
                self.set(points, weights, &waiting);
                count = 0;
            }
        }
        self.set(points, weights, &waiting[..count]);
    }

    /// The factors of bodies, of up to [`SIDE`] frequencies at once.
    fn set(&mut self, points: &[f64], weights: &[f64], all: &[Own]) {
        let Some(last) = all.last() else { return };
        let n = self.squares.len();
        self.measured = false;
        let square = self.h * self.h;
        let x: Several = Lanes(std::array::from_fn(|i| all.get(i).unwrap_or(last).1 * square));
        let whole = Whole::new(x);
        let mut sums = [Several::zero(); 9];
        for (i, (&point, &weight)) in points.iter().zip(weights).enumerate() {
            let [factor, by] = factors(self.curve, point, x, &whole);
            let ([_, slope, _, turn], [_, slope_by, _, turn_by]) = (factor, by);
            let terms = [
                slope * slope,
                slope * turn,
                turn * turn,
                slope * slope_by * 2.0,
                slope * turn_by + slope_by * turn,
                turn * turn_by * 2.0,
                slope_by * slope_by * 2.0,
                slope_by * turn_by * 2.0,
                turn_by * turn_by * 2.0,
            ];
            sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term * weight);
            for which in (0..4).filter(|which| if which % 2 == 0 { !is_end(point) } else { !self.bare }) {
                for (lane, (own, _)) in all.iter().enumerate() {
                    let at = i * n + own.start..i * n + own.end;
                    self.factors.0[which][at.clone()].fill(factor[which].0[lane]);
                    if let Some(changes) = &mut self.changes {
                        changes.0[which][at].fill(by[which].0[lane]);
                    }
                }
            }
        }
        let lightness = (sums[0] - sums[1]).recip();
        let Kinetic { a, b, c, by: [d, e, f], twice: [g, h, i] } = &mut self.kinetic;
        for (lane, (own, square)) in all.iter().enumerate() {
            self.squares[own.clone()].fill(*square);
            self.lightness[own.clone()].fill(lightness.0[lane]);
            for (all, sum) in [&mut *a, b, c, d, e, f, g, h, i].into_iter().zip(sums) {
                all[own.clone()].fill(sum.0[lane]);
            }
        }
    }

    /// The second derivatives of the action by u², as far as they do not depend on forces.
    fn measure(&mut self, [q, increment]: [&[f64]; 2], sizes: &[f64]) {
        let (half, [a, b, c]) = (0.5 / (self.h * self.h), &self.kinetic.twice);
        for (own, [inverse, reach]) in self.groups.iter().zip(&mut self.steps) {
            let (mut curvature, mut most) = (0.0, 0.0_f64);
            let first = own.start / self.width;
            for k in own.clone() {
                let (q, xi, body) = (q[k], increment[k], if self.width == 1 { k } else { first });
                curvature += half * self.masses[k] * (xi * (a[body] * xi + 2.0 * b[body] * q) + c[body] * q * q);
                most = most.max((q.abs() + xi.abs()) / sizes[k]);
            }
            *inverse = if curvature > 0.0 { 1.0 / curvature } else { 0.0 };
            // A curve bulges by u²/8 of its distance from zero.
            *reach = 0.125 * most;
        }
        self.measured = true;
    }

    /// One step of Newton's method for the frequencies; `slopes` are the derivatives of the action over h by u² for each coordinate of a curve from
    /// `q` by `increment`, both relative to centres where there are some. Returns the largest change of the curve relative to `sizes`.
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
        let inverse = 1.0 / (h * h);
        let (largest, slight) = match self.width {
            2 => self.lean::<2>(slopes),
            3 => self.lean::<3>(slopes),
            _ => self.lean_groups(slopes),
        };
        if !slight {
            let (mut waiting, mut count) = (none(), 0);
            for group in 0..self.groups.len() {
                let own = self.groups[group].start / self.width..self.groups[group].end / self.width;
                let shift = self.shift[own.start];
                if shift.abs() >= SLIGHT || shift.is_nan() {
                    self.shift[own.clone()].fill(0.0);
                    waiting[count] = (own.clone(), self.squares[own.start] + shift * inverse);
                    count += 1;
                }
                if count == SIDE {
                    self.set(points, weights, &waiting);
                    count = 0;
                }
            }
            self.set(points, weights, &waiting[..count]);
        }
        self.nudge(points, n, inverse);
        largest
    }

    /// The changes of u² by Newton's method where each body of W coordinates has a frequency; returns the largest change of a curve, and whether all are slight.
    fn lean<const W: usize>(&mut self, slopes: &[f64]) -> (f64, bool) {
        let (whole, n) = (self.h * self.h, self.squares.len());
        let (slopes, shift, steps) = (&slopes.as_chunks::<W>().0[..n], &mut self.shift[..n], &self.steps[..n]);
        let (mut largest, mut most) = (0.0, 0.0);
        for b in 0..n {
            let ([step, reach], x) = (steps[b], self.squares[b] * whole);
            shift[b] = newton(x, slopes[b].iter().sum(), step) - x;
            let size = shift[b].abs();
            // What is not a number is largest.
            largest = if size * reach <= largest { largest } else { size * reach };
            most = if size <= most { most } else { size };
        }
        (largest, most < SLIGHT)
    }

    /// The same for any groups of coordinates.
    fn lean_groups(&mut self, slopes: &[f64]) -> (f64, bool) {
        let whole = self.h * self.h;
        let (mut largest, mut slight) = (0.0, true);
        for (own, [step, reach]) in self.groups.iter().zip(&self.steps) {
            let x = self.squares[own.start] * whole;
            let shift = newton(x, slopes[own.clone()].iter().sum(), *step) - x;
            self.shift[own.clone()].fill(shift);
            slight &= shift.abs() < SLIGHT;
            let change = shift.abs() * reach;
            largest = if change <= largest { largest } else { change };
        }
        (largest, slight)
    }

    /// Moves all factors by their derivatives.
    fn nudge(&mut self, points: &[f64], n: usize, inverse: f64) {
        let Some(changes) = &self.changes else { return };
        for (which, (all, by)) in self.factors.0.iter_mut().zip(&changes.0).enumerate() {
            if which % 2 == 1 && self.bare {
                continue;
            }
            for (i, (own, by)) in all.chunks_exact_mut(n).zip(by.chunks_exact(n)).enumerate() {
                // Curves pass through both ends whatever their frequency.
                if which % 2 == 1 || !is_end(points[i]) {
                    bend::nudge(by, &self.shift, own);
                }
            }
        }
        let Kinetic { a, b, c, by, twice } = &mut self.kinetic;
        for ((all, by), twice) in [a, b, c].into_iter().zip(by).zip(twice) {
            bend::nudge(by, &self.shift, all);
            bend::nudge(twice, &self.shift, by);
        }
        for (square, shift) in self.squares.iter_mut().zip(&self.shift) {
            *square += shift * inverse;
        }
    }
}

/// x after a step of Newton's method with the inverse of its slope, within what is looked for.
fn newton(x: f64, slope: f64, inverse: f64) -> f64 {
    let next = x - slope * inverse;
    let next = if next > MOST { MOST } else { next };
    let next = if next < -MOST { -MOST } else { next };
    if inverse > 0.0 { next } else { 0.0 }
}

/// Nothing waits.
fn none() -> [Own; SIDE] {
    std::array::from_fn(|_| (0..0, 0.0))
}
