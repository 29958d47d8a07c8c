//! Curves of solutions over a parameter: fixed points of maps and equilibria of fields, with the points where their kind changes.
//!
//! With u = (z, p) the curve R(u) = 0 is followed by its arc length \[1\]: a step along the tangent, then Newton's method in the plane across
//! it. So folds, where the parameter turns back, are passed like other points.
//!
//! ```text
//! fold                 the parameter's part of the tangent changes sign (a multiplier 1, or an eigenvalue 0)
//! period doubling       Π (μ_i + 1) changes sign
//! Neimark–Sacker        Π_{i<j} (μ_i μ_j − 1) changes sign with a complex pair on the unit circle
//! Hopf                 Π_{i<j} (λ_i + λ_j) changes sign with a pair on the imaginary axis
//! ```
//!
//! Each is then located on the curve by interpolation in its bracket.
//!
//! References: \[1\] Keller: Numerical solution of bifurcation and nonlinear eigenvalue problems, in: Applications of Bifurcation Theory, Academic
//! Press 1977, 359–384; Kuznetsov: Elements of Applied Bifurcation Theory, 3rd ed., Springer 2004, chapter 10.

use crate::dense::Matrix;
use crate::eigen::eigenvalues;
use crate::error::AnalysisError;
use crate::map::Map;
use dalembert_methods::algebra::Complex;
use dalembert_methods::events::zero;

/// Most Newton steps of a corrector.
const CORRECTIONS: usize = 12;
/// How closely special points are located, relative to a step.
const LOCATION: f64 = 1e-13;

/// What is followed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Fixed points z = P(z, p): cycles. Eigenvalues are multipliers.
    Cycles,
    /// Zeros 0 = P(z, p): equilibria, P being the field.
    Equilibria,
}

/// What happens at a special point.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Special {
    /// The parameter turns back.
    Fold,
    /// A cycle of twice the period branches off.
    PeriodDoubling,
    /// A torus branches off.
    NeimarkSacker,
    /// A cycle branches off an equilibrium.
    Hopf,
}

/// How a curve is followed.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Options {
    /// The first step of arc length; negative to start towards smaller parameters.
    pub step: f64,
    /// The shortest and the longest step.
    pub steps: [f64; 2],
    /// The curve ends where the parameter leaves this range.
    pub range: [f64; 2],
    /// Most points.
    pub points: usize,
    /// The residual at which a point counts as found.
    pub tolerance: f64,
}

/// A point of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The state.
    pub state: Vec<f64>,
    /// The parameter.
    pub parameter: f64,
    /// Multipliers or eigenvalues, by falling modulus.
    pub values: Vec<Complex>,
    /// Whether it is stable.
    pub stable: bool,
    tangent: Vec<f64>,
}

/// A curve of solutions.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch {
    /// Its points, in order.
    pub points: Vec<Point>,
    /// Special points: what, and where.
    pub special: Vec<(Special, Point)>,
    /// Why it ended.
    pub ending: Ending,
}

/// Why a curve ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ending {
    /// The parameter left its range.
    Range,
    /// There were as many points as asked.
    Points,
    /// No step was short enough; the last failure.
    Lost(AnalysisError),
}

/// Follows a curve from a solution.
///
/// # Errors
/// [`AnalysisError::NotConverged`] if there is no solution near the start, [`AnalysisError::NotIsolated`] if there is a family of them.
pub fn follow(
    map: &dyn Map,
    kind: Kind,
    start: &[f64],
    parameter: f64,
    options: &Options,
) -> Result<Branch, AnalysisError> {
    let n = map.size();
    let walker = Walker { map, kind, options };
    let mut tangent = vec![0.0; n + 1];
    tangent[n] = 1.0;
    let guess: Vec<f64> = start.iter().copied().chain([parameter]).collect();
    // A start without a direction is one of a family, or a place where curves cross.
    let mut here = walker.correct(&guess, &tangent, &tangent).map_err(|error| match error {
        AnalysisError::Singular { .. } => {
            AnalysisError::NotIsolated { what: "the solution at the start of the curve", ratio: f64::EPSILON }
        }
        other => other,
    })?;
    if options.step < 0.0 {
        here.tangent.iter_mut().for_each(|t| *t = -*t);
    }
    let mut branch = Branch { points: vec![here], special: Vec::new(), ending: Ending::Points };
    let mut step = options.step.abs();
    while branch.points.len() < options.points {
        let here = &branch.points[branch.points.len() - 1];
        let there = match walker.step(here, step) {
            // A sharp turn may be a jump to another curve.
            Ok(there) if dot(&there.tangent, &here.tangent) > 0.9 => there,
            other => {
                step *= 0.5;
                if step < options.steps[0] {
                    let turn = AnalysisError::Invalid { reason: "the curve turns too sharply".to_owned() };
                    branch.ending = Ending::Lost(other.err().unwrap_or(turn));
                    return Ok(branch);
                }
                continue;
            }
        };
        for special in [Special::Fold, Special::PeriodDoubling, Special::NeimarkSacker, Special::Hopf] {
            if let Some(point) = walker.locate(special, here, &there, step) {
                branch.special.push((special, point));
            }
        }
        step = (1.3 * step).min(options.steps[1]);
        let outside = !(options.range[0]..=options.range[1]).contains(&there.parameter);
        branch.points.push(there);
        if outside {
            branch.ending = Ending::Range;
            return Ok(branch);
        }
    }
    Ok(branch)
}

struct Walker<'a> {
    map: &'a dyn Map,
    kind: Kind,
    options: &'a Options,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Walker<'_> {
    fn step(&self, here: &Point, step: f64) -> Result<Point, AnalysisError> {
        let mut guess: Vec<f64> = here.state.iter().copied().chain([here.parameter]).collect();
        guess.iter_mut().zip(&here.tangent).for_each(|(u, t)| *u += step * t);
        self.correct(&guess, &here.tangent, &here.tangent)
    }

    /// Newton's method in the plane through the guess across `normal`; the new tangent points along `along`.
    fn correct(&self, guess: &[f64], normal: &[f64], along: &[f64]) -> Result<Point, AnalysisError> {
        let n = self.map.size();
        let mut u = guess.to_vec();
        let mut left = f64::INFINITY;
        for _ in 0..CORRECTIONS {
            let image = self.map.image(&u[..n], u[n])?;
            let mut matrix = Matrix::zeros(n + 1, n + 1);
            matrix.set_block(0, 0, &image.by_state);
            let mut residual = image.value.clone();
            for i in 0..n {
                matrix[(i, n)] = image.by_parameter[i];
                if self.kind == Kind::Cycles {
                    matrix[(i, i)] -= 1.0;
                    residual[i] -= u[i];
                }
            }
            for j in 0..=n {
                matrix[(n, j)] = normal[j];
            }
            residual.push(u.iter().zip(guess).zip(normal).map(|((u, g), t)| (u - g) * t).sum());
            left = residual[..n].iter().fold(0.0f64, |max, r| max.max(r.abs()));
            if left <= self.options.tolerance {
                let mut last = vec![0.0; n + 1];
                last[n] = 1.0;
                let mut tangent = matrix.solve_vector(&last, "the tangent of a curve of solutions")?;
                let scale = dot(&tangent, along).signum() / dot(&tangent, &tangent).sqrt();
                tangent.iter_mut().for_each(|t| *t *= scale);
                let values = eigenvalues(&image.by_state)?;
                let stable = match self.kind {
                    Kind::Cycles => values.iter().all(|z| z.modulus() < 1.0),
                    Kind::Equilibria => values.iter().all(|z| z.re < 0.0),
                };
                return Ok(Point { state: u[..n].to_vec(), parameter: u[n], values, stable, tangent });
            }
            let step = matrix.solve_vector(&residual, "the equations of a curve of solutions")?;
            u.iter_mut().zip(&step).for_each(|(u, s)| *u -= s);
        }
        let advice = "take shorter steps or start nearer to a solution";
        Err(AnalysisError::NotConverged { what: "a point of a curve", iterations: CORRECTIONS, residual: left, advice })
    }

    fn test(&self, special: Special, point: &Point) -> Option<f64> {
        let one = Complex::from(1.0);
        let over = |f: &dyn Fn(Complex) -> Complex| point.values.iter().fold(one, |product, &z| product * f(z)).re;
        let pairs = |f: &dyn Fn(Complex, Complex) -> Complex| {
            let n = point.values.len();
            let all = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
            all.fold(one, |product, (i, j)| product * f(point.values[i], point.values[j])).re
        };
        match (special, self.kind) {
            (Special::Fold, _) => point.tangent.last().copied(),
            (Special::PeriodDoubling, Kind::Cycles) => Some(over(&|z| z + one)),
            (Special::NeimarkSacker, Kind::Cycles) => Some(pairs(&|a, b| a * b - one)),
            (Special::Hopf, Kind::Equilibria) => Some(pairs(&|a, b| a + b)),
            _ => None,
        }
    }

    /// The place between two points where a test changes sign, if it does and means what it should.
    fn locate(&self, special: Special, here: &Point, there: &Point, length: f64) -> Option<Point> {
        let (first, last) = (self.test(special, here)?, self.test(special, there)?);
        if (first < 0.0) == (last < 0.0) {
            return None;
        }
        let side = if first < 0.0 { -1.0 } else { 1.0 };
        let mut sample =
            |s: f64| self.step(here, s).ok().and_then(|p| self.test(special, &p)).map_or(f64::NAN, |f| side * f);
        let at = zero(&mut sample, [0.0, length], [side * first, side * last], LOCATION * length);
        let best = self.step(here, at).ok()?;
        let near = |size: f64| size.abs() < 1e-5;
        let meant = match special {
            Special::Fold => true,
            Special::PeriodDoubling => best.values.iter().any(|z| near(z.im) && near(z.re + 1.0)),
            Special::NeimarkSacker => best.values.iter().any(|z| z.im > 1e-5 && near(z.modulus() - 1.0)),
            Special::Hopf => best.values.iter().any(|z| z.im > 1e-5 && near(z.re)),
        };
        meant.then_some(best)
    }
}
