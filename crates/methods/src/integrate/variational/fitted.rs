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

use super::bend::by_width;
use super::centre::{Centres, Homes};
use super::waves::{Curve, SIDE, Several, Whole, factors};
use crate::algebra::Mass;
use crate::lanes::Lanes;
use crate::real::Real;
use std::ops::Range;

/// The largest u² that is looked for: a turn in six steps.
const MOST: f64 = 1.0;
/// Changes of u² below this are taken by first derivatives: second ones are below 0.03, so that 2e-18 is left out.
const SLIGHT: f64 = 1e-8;

/// Factors of a body at a point: g₂, ġ₂, g₁ + g₂ and ġ₁ + ġ₂; rates are per step.
pub(super) type Factors = [f64; 4];

/// Bodies that have one frequency, and its square.
type Own = (Range<usize>, f64);

/// The factors of all bodies for the frequencies at hand.
#[derive(Clone, Debug)]
pub(super) struct Fitted {
    curve: Curve,
    /// Coordinates of a body, in a row: as many as all groups have, or one.
    width: usize,
    /// By points and bodies, their derivatives by u², and how far u² of each body is from where these are.
    factors: Vec<Factors>,
    changes: Vec<Factors>,
    shifts: Vec<f64>,
    /// Whether frequencies come from the action.
    tuned: bool,
    /// −1/Σ w ġ₁ ġ₂, by bodies: the inverse of what multiplies the mass in Newton's matrix.
    lightness: Vec<f64>,
    kinetic: Vec<Kinetic>,
    /// The squares of the frequencies these are for, by bodies, and the step.
    squares: Vec<f64>,
    h: f64,
    /// Coordinates with one frequency; for each the inverse of the second derivative of the action by u², and how far the curve moves with u² relative to
    /// the sizes of coordinates, as measured in this step.
    groups: Vec<Range<usize>>,
    steps: Vec<[f64; 2]>,
    /// The group of each body; one that is not there if it has none.
    group_of: Vec<usize>,
    measured: bool,
    /// The masses of all coordinates, and whether there is nothing else in the mass matrix.
    masses: Vec<f64>,
    diagonal: bool,
    /// Whether nothing is asked for rates at points, if masses act by themselves; and whether that is so.
    still: bool,
    bare: bool,
    /// The centres about which curves bend, and which body has which.
    centres: Centres,
    homes: Homes,
}

/// What the kinetic energy of a body's coordinates is made of: with the increment ξ of a step from q, Σ w |hq̇|² = a ξ² + 2 b ξ q + c q². These are a, b and c, their derivatives by u²,
/// and second derivatives as far as they do not depend on those of curves.
pub(super) type Kinetic = [f64; 9];

/// The factors of all bodies at a point, near where they were computed.
#[derive(Copy, Clone)]
pub(super) struct Table<'a> {
    factors: &'a [Factors],
    changes: &'a [Factors],
    shifts: &'a [f64],
}

impl<'a> Table<'a> {
    /// The factors of one body after another, and their derivatives by u².
    #[inline(always)]
    pub fn bodies(self) -> impl Iterator<Item = (Factors, &'a Factors)> {
        let each = self.factors.iter().zip(self.changes).zip(self.shifts);
        each.map(|((own, by), shift)| (std::array::from_fn(|k| own[k] + by[k] * shift), by))
    }
}

/// The masses of all coordinates, and what their kinetic energy is made of.
#[derive(Copy, Clone)]
pub(super) struct Motion<'a> {
    kinetic: &'a [Kinetic],
    shifts: &'a [f64],
    masses: &'a [f64],
}

impl<'a> Motion<'a> {
    /// a, b, c and their derivatives by u² of one body after another, and its masses.
    #[inline(always)]
    pub fn bodies<const W: usize>(self) -> impl Iterator<Item = ([f64; 6], &'a [f64; W])> {
        let each = self.kinetic.iter().zip(self.shifts).zip(self.masses.as_chunks::<W>().0);
        each.map(|((own, shift), masses)| (std::array::from_fn(|k| own[k] + own[k + 3] * shift), masses))
    }
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
        Self {
            curve,
            width,
            // Curves pass through both ends whatever their frequency.
            factors: points.iter().flat_map(|&point| vec![[point, 0.0, 1.0, 0.0]; bodies]).collect(),
            changes: vec![[0.0; 4]; bodies * points.len()],
            shifts: vec![0.0; bodies],
            tuned: !groups.is_empty(),
            lightness: vec![1.0; bodies],
            kinetic: vec![[0.0; 9]; bodies],
            squares: vec![f64::NAN; bodies],
            h: 0.0,
            steps: vec![[0.0; 2]; groups.len()],
            group_of: (0..bodies)
                .map(|body| groups.iter().position(|own| own.contains(&(body * width))).unwrap_or(usize::MAX))
                .collect(),
            groups,
            measured: false,
            masses: vec![0.0; n],
            diagonal: false,
            still,
            bare: false,
            homes: centres.homes(n, width),
            centres,
        }
    }

    /// Coordinates of a body.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many bodies there are, or coordinates that stand by themselves.
    pub fn bodies(&self) -> usize {
        self.squares.len()
    }

    /// The factors of all bodies at a point.
    pub fn at(&self, i: usize) -> Table<'_> {
        let own = i * self.bodies()..(i + 1) * self.bodies();
        Table { factors: &self.factors[own.clone()], changes: &self.changes[own], shifts: &self.shifts }
    }

    /// Writes the squares of the frequencies of all coordinates.
    pub fn squares(&self, out: &mut [f64]) {
        let inverse = 1.0 / (self.h * self.h);
        let each = out.chunks_exact_mut(self.width).zip(&self.squares).zip(&self.shifts);
        each.for_each(|((out, square), shift)| out.fill(square + shift * inverse));
    }

    /// Whether frequencies come from the action.
    pub fn is_tuned(&self) -> bool {
        self.tuned
    }

    /// The centres about which curves bend.
    pub fn centres(&self) -> &Centres {
        &self.centres
    }

    /// The centre and the share of each body.
    pub fn homes(&self) -> &Homes {
        &self.homes
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
    pub fn kinetic(&self) -> Option<Motion<'_>> {
        self.diagonal.then_some(Motion { kinetic: &self.kinetic, shifts: &self.shifts, masses: &self.masses })
    }

    /// Divides by what multiplies the mass in Newton's matrix; `means` and `offsets` have room for centres.
    pub fn unscale(&self, out: &mut [f64], means: &mut [f64], offsets: &mut [f64]) {
        self.centres.offsets(&self.lightness, self.width, out, means, offsets);
        by_width!(self.width, unscale(&self.lightness, &self.homes, [means, offsets], out));
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
            if self.bare && is_end(point) {
                continue;
            }
            for (lane, (own, _)) in all.iter().enumerate() {
                let own = i * n + own.start..i * n + own.end;
                self.factors[own.clone()].fill(factor.map(|lanes| lanes.0[lane]));
                self.changes[own].fill(by.map(|lanes| lanes.0[lane]));
            }
        }
        let lightness = (sums[0] - sums[1]).recip();
        for (lane, (own, square)) in all.iter().enumerate() {
            self.squares[own.clone()].fill(*square);
            self.shifts[own.clone()].fill(0.0);
            self.lightness[own.clone()].fill(lightness.0[lane]);
            self.kinetic[own.clone()].fill(sums.map(|sum| sum.0[lane]));
        }
    }

    /// The second derivatives of the action by u², as far as they do not depend on forces.
    fn measure<const W: usize>(&mut self, [q, increment]: [&[f64]; 2], inverse_sizes: &[f64]) {
        let (half, motion) = (0.5 / (self.h * self.h), self.kinetic.iter().zip(self.masses.as_chunks::<W>().0));
        let curve = q.as_chunks::<W>().0.iter().zip(increment.as_chunks::<W>().0);
        let bodies = motion.zip(curve).zip(inverse_sizes.as_chunks::<W>().0);
        let each = bodies.map(|((([.., a, b, c], masses), (q, xi)), inverse)| {
            let (mut curvature, mut most) = (0.0, 0.0);
            for j in 0..W {
                curvature += half * masses[j] * (xi[j] * (a * xi[j] + 2.0 * b * q[j]) + c * q[j] * q[j]);
                let reach = (q[j].abs() + xi[j].abs()) * inverse[j];
                most = if reach > most { reach } else { most };
            }
            [curvature, most]
        });
        self.steps.fill([0.0; 2]);
        for ([curvature, most], &group) in each.zip(&self.group_of) {
            if let Some([own, reach]) = self.steps.get_mut(group) {
                *own += curvature;
                *reach = if most > *reach { most } else { *reach };
            }
        }
        for [inverse, reach] in &mut self.steps {
            *inverse = if *inverse > 0.0 { 1.0 / *inverse } else { 0.0 };
            // A curve bulges by u²/8 of its distance from zero.
            *reach *= 0.125;
        }
        self.measured = true;
    }

    /// The changes of u² by Newton's method, by bodies; `slopes` are the derivatives of the action over h by u² for each coordinate of a curve from
    /// `q` by `increment`, both relative to centres where there are some. Returns the largest change of the curve relative to sizes.
    pub fn tune(&mut self, curve: [&[f64]; 2], slopes: &[f64], inverse_sizes: &[f64], out: &mut [f64]) -> f64 {
        if !self.measured {
            match self.width {
                2 => self.measure::<2>(curve, inverse_sizes),
                3 => self.measure::<3>(curve, inverse_sizes),
                _ => self.measure::<1>(curve, inverse_sizes),
            }
        }
        match self.width {
            2 => self.lean::<2>(slopes, out),
            3 => self.lean::<3>(slopes, out),
            _ => self.lean_groups(slopes, out),
        }
    }

    /// Where each body of W coordinates has a frequency.
    fn lean<const W: usize>(&self, slopes: &[f64], out: &mut [f64]) -> f64 {
        let (whole, mut largest) = (self.h * self.h, 0.0);
        let each = slopes.as_chunks::<W>().0.iter().zip(&self.steps).zip(self.squares.iter().zip(&self.shifts));
        for (out, ((slopes, [step, reach]), (square, shift))) in out.iter_mut().zip(each) {
            let x = square * whole + shift;
            *out = newton(x, slopes.iter().sum(), *step) - x;
            let change = out.abs() * reach;
            // What is not a number is largest.
            largest = if change <= largest { largest } else { change };
        }
        largest
    }

    /// The same for any groups of coordinates.
    fn lean_groups(&self, slopes: &[f64], out: &mut [f64]) -> f64 {
        let (whole, mut largest) = (self.h * self.h, 0.0);
        for (own, [step, reach]) in self.groups.iter().zip(&self.steps) {
            let x = self.squares[own.start] * whole + self.shifts[own.start];
            let shift = newton(x, slopes[own.clone()].iter().sum(), *step) - x;
            out[own.clone()].fill(shift);
            let change = shift.abs() * reach;
            largest = if change <= largest { largest } else { change };
        }
        largest
    }

    /// Changes u² of all bodies.
    pub fn bend(&mut self, points: &[f64], weights: &[f64], shifts: &[f64]) {
        let mut slight = true;
        for (shift, more) in self.shifts.iter_mut().zip(shifts) {
            *shift += more;
            slight &= shift.abs() < SLIGHT;
        }
        if !slight {
            self.renew(points, weights);
        }
    }

    /// Computes factors anew where they are too far from where they were computed.
    fn renew(&mut self, points: &[f64], weights: &[f64]) {
        let (whole, inverse) = (self.h * self.h, 1.0 / (self.h * self.h));
        let (mut waiting, mut count) = (none(), 0);
        for body in 0..self.bodies() {
            let shift = self.shifts[body];
            if shift.abs() < SLIGHT {
                continue;
            }
            waiting[count] = (body..body + 1, (self.squares[body] * whole + shift) * inverse);
            count += 1;
            if count == SIDE {
                self.set(points, weights, &waiting);
                count = 0;
            }
        }
        self.set(points, weights, &waiting[..count]);
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
