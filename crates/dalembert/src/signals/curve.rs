//! Curves through given points: straight lines or cubic splines, with their integral.
//!
//! On [xᵢ, xᵢ₊₁] with h = xᵢ₊₁ − xᵢ, d = (yᵢ₊₁ − yᵢ)/h and second derivatives mᵢ at the knots, a cubic spline is
//! y = yᵢ + (d − h (2mᵢ + mᵢ₊₁)/6) u + mᵢ/2 u² + (mᵢ₊₁ − mᵢ)/(6h) u³, u = x − xᵢ. Continuity of the slope gives
//! hᵢ₋₁ mᵢ₋₁ + 2 (hᵢ₋₁ + hᵢ) mᵢ + hᵢ mᵢ₊₁ = 6 (dᵢ − dᵢ₋₁), closed by a condition at each end (\[1\], ch. IV).
//!
//! A number may stand for several at once, which lie in different intervals, so that an interval cannot be looked up. All are gone
//! through and the right one is selected: the cost is proportional to the number of points.
//!
//! References: \[1\] de Boor: A Practical Guide to Splines, Springer 1978.

use dalembert_methods::Real;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How values between the given points are found.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Interpolation {
    /// A cubic spline whose third derivative is continuous at the second and the last but one point: fourth order
    /// accurate without knowing slopes.
    #[default]
    NotAKnot,
    /// A cubic spline without curvature at its ends.
    Natural,
    /// A cubic spline with given slopes at its ends.
    Clamped,
    /// Straight lines: the slope jumps at every point.
    Linear,
}

/// A piecewise cubic function.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    pieces: Vec<Piece>,
    last: f64,
}

/// y = Σ cₖ (x − start)ᵏ from `start` on; `area` is the integral of the curve from its first point to `start`.
#[derive(Copy, Clone, Debug, PartialEq)]
struct Piece {
    start: f64,
    coefficients: [f64; 4],
    area: f64,
}

impl Curve {
    /// The curve through points with strictly ascending `x`; `slopes` are those at the ends of a clamped spline.
    pub fn new(x: &[f64], y: &[f64], interpolation: Interpolation, slopes: [f64; 2]) -> Result<Self, String> {
        if x.len() != y.len() {
            return Err(format!("a table needs as many values as points, found {} and {}", y.len(), x.len()));
        }
        if x.len() < 2 {
            return Err(format!("a table needs at least two points, found {}", x.len()));
        }
        if let Some(i) = x.iter().chain(y).position(|a| !a.is_finite()) {
            return Err(format!("entry {} of the table is not a finite number", i % x.len()));
        }
        if let Some(i) = (1..x.len()).find(|&i| x[i] <= x[i - 1]) {
            return Err(format!("the points of a table must ascend, but {} follows {}", x[i], x[i - 1]));
        }
        let h: Vec<f64> = x.windows(2).map(|w| w[1] - w[0]).collect();
        let d: Vec<f64> = y.windows(2).zip(&h).map(|(w, h)| (w[1] - w[0]) / h).collect();
        let m = match interpolation {
            Interpolation::Linear => vec![0.0; x.len()],
            Interpolation::Natural => natural(&h, &d),
            Interpolation::NotAKnot => not_a_knot(&h, &d),
            Interpolation::Clamped => clamped(&h, &d, slopes),
        };
        let mut area = 0.0;
        let pieces = (0..h.len())
            .map(|i| {
                let (h, slope) = (h[i], d[i] - h[i] * (2.0 * m[i] + m[i + 1]) / 6.0);
                let coefficients = [y[i], slope, m[i] / 2.0, (m[i + 1] - m[i]) / (6.0 * h)];
                let piece = Piece { start: x[i], coefficients, area };
                area += integral(coefficients, h);
                piece
            })
            .collect();
        Ok(Self { pieces, last: x[x.len() - 1] })
    }

    /// The first and the last point.
    pub fn range(&self) -> (f64, f64) {
        (self.pieces[0].start, self.last)
    }

    /// The value at x; outside the range the first or last piece goes on.
    #[inline]
    pub fn at<R: Real>(&self, x: R) -> R {
        let ([a, b, c, d], u, _) = self.piece(x);
        ((d * u + c) * u + b) * u + a
    }

    /// The slope at x.
    #[inline]
    pub fn slope<R: Real>(&self, x: R) -> R {
        let ([_, b, c, d], u, _) = self.piece(x);
        (d * u * 3.0 + c * 2.0) * u + b
    }

    /// The integral from the first point to x.
    #[inline]
    pub fn integral<R: Real>(&self, x: R) -> R {
        let (coefficients, u, area) = self.piece(x);
        area + integral(coefficients, u)
    }

    /// x moved to the nearest point of the range.
    #[inline]
    pub fn within<R: Real>(&self, x: R) -> R {
        let (first, last) = self.range();
        x.max(R::from(first)).min(R::from(last))
    }

    /// Coefficients, distance from the start and area before the start of the piece that holds x.
    #[inline]
    fn piece<R: Real>(&self, x: R) -> ([R; 4], R, R) {
        let first = &self.pieces[0];
        let mut coefficients = first.coefficients.map(R::from);
        let (mut start, mut area) = (R::from(first.start), R::from(first.area));
        for piece in &self.pieces[1..] {
            let reached = R::from(piece.start).le(x);
            for k in 0..4 {
                coefficients[k] = R::select(reached, R::from(piece.coefficients[k]), coefficients[k]);
            }
            start = R::select(reached, R::from(piece.start), start);
            area = R::select(reached, R::from(piece.area), area);
        }
        (coefficients, x - start, area)
    }
}

fn integral<R: Real>([a, b, c, d]: [R; 4], u: R) -> R {
    (((d * 0.25 * u + c / 3.0) * u + b * 0.5) * u + a) * u
}

fn natural(h: &[f64], d: &[f64]) -> Vec<f64> {
    let n = h.len() + 1;
    let mut system = Tridiagonal::interior(h, d);
    system.row(0, 0.0, 1.0, 0.0, 0.0);
    system.row(n - 1, 0.0, 1.0, 0.0, 0.0);
    system.solve()
}

fn clamped(h: &[f64], d: &[f64], [first, last]: [f64; 2]) -> Vec<f64> {
    let n = h.len() + 1;
    let mut system = Tridiagonal::interior(h, d);
    system.row(0, 0.0, 2.0 * h[0], h[0], 6.0 * (d[0] - first));
    system.row(n - 1, h[n - 2], 2.0 * h[n - 2], 0.0, 6.0 * (last - d[n - 2]));
    system.solve()
}

/// (m₁ − m₀)/h₀ = (m₂ − m₁)/h₁, and alike at the end. The end values are eliminated, so that the system stays tridiagonal.
fn not_a_knot(h: &[f64], d: &[f64]) -> Vec<f64> {
    let n = h.len() + 1;
    if n == 2 {
        return vec![0.0; 2]; // a straight line
    }
    if n == 3 {
        return vec![2.0 * (d[1] - d[0]) / (h[0] + h[1]); 3]; // a parabola
    }
    let mut system = Tridiagonal::interior(h, d);
    let (a, b) = (h[0], h[1]);
    let right = system.right[1];
    system.row(0, 0.0, 1.0, 0.0, 0.0);
    system.row(1, 0.0, a * (1.0 + a / b) + 2.0 * (a + b), b - a * a / b, right);
    let (a, b) = (h[n - 2], h[n - 3]);
    let right = system.right[n - 2];
    system.row(n - 1, 0.0, 1.0, 0.0, 0.0);
    system.row(n - 2, b - a * a / b, a * (1.0 + a / b) + 2.0 * (a + b), 0.0, right);
    let mut m = system.solve();
    m[0] = m[1] + h[0] / h[1] * (m[1] - m[2]);
    m[n - 1] = m[n - 2] + a / b * (m[n - 2] - m[n - 3]);
    m
}

/// A tridiagonal system, solved by elimination without pivoting: the rows of a spline are diagonally dominant.
struct Tridiagonal {
    lower: Vec<f64>,
    diagonal: Vec<f64>,
    upper: Vec<f64>,
    right: Vec<f64>,
}

impl Tridiagonal {
    fn interior(h: &[f64], d: &[f64]) -> Self {
        let n = h.len() + 1;
        let zeros = || vec![0.0; n];
        let mut system = Self { lower: zeros(), diagonal: zeros(), upper: zeros(), right: zeros() };
        for i in 1..n - 1 {
            system.row(i, h[i - 1], 2.0 * (h[i - 1] + h[i]), h[i], 6.0 * (d[i] - d[i - 1]));
        }
        system
    }

    fn row(&mut self, i: usize, lower: f64, diagonal: f64, upper: f64, right: f64) {
        (self.lower[i], self.diagonal[i], self.upper[i], self.right[i]) = (lower, diagonal, upper, right);
    }

    fn solve(mut self) -> Vec<f64> {
        let n = self.right.len();
        for i in 1..n {
            let factor = self.lower[i] / self.diagonal[i - 1];
            self.diagonal[i] -= factor * self.upper[i - 1];
            self.right[i] -= factor * self.right[i - 1];
        }
        for i in (0..n).rev() {
            let above = if i + 1 < n { self.upper[i] * self.right[i + 1] } else { 0.0 };
            self.right[i] = (self.right[i] - above) / self.diagonal[i];
        }
        self.right
    }
}
