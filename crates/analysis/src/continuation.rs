//! Curves of solutions over a parameter: fixed points of maps and equilibria of fields, with the points where their kind changes.
//!
//! With u = (z, p) the curve R(u) = 0 is followed by its arc length \[1\]: a step along the tangent, then Newton's method in the plane across
//! it. So folds, where the parameter turns back, are passed like other points. States need not be lists of numbers: what is followed says
//! in which directions a state may change and how it is moved ([`Solutions`]), so that curves run on manifolds of configurations with constraints as well.
//!
//! ```text
//! fold                 the parameter's part of the tangent changes sign (a multiplier 1, or an eigenvalue 0)
//! branch               the determinant of derivative and tangent changes sign: another curve crosses, as at a pitchfork
//! period doubling       Π (μ_i + 1) changes sign
//! Neimark–Sacker        Π_{i<j} (μ_i μ_j − 1) changes sign with a complex pair on the unit circle
//! Hopf                 Π_{i<j} (λ_i + λ_j) changes sign with a pair on the imaginary axis
//! ```
//!
//! Each is then located on the curve by interpolation in its bracket. Where nothing is lost all pairs lie on the circle or the axis; then products tell
//! nothing, and neither Hopf nor Neimark–Sacker points are looked for.
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
/// How far from a place a point is taken if there is none, relative to a step.
const BESIDE: [f64; 3] = [0.0, 1e-10, -1e-10];
/// Factors of products of pairs below this, relative to their terms, are zero but for rounding and the tolerance of motions.
const ROUNDING: f64 = 1e-10;

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
    /// Another curve of solutions crosses: a pitchfork or a transcritical point.
    Branch,
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

/// What is followed, about one of its states.
#[derive(Clone, Debug)]
pub struct Local {
    /// What is zero at a solution.
    pub residual: Vec<f64>,
    /// The directions in which the state may change, as columns: as many as there are residuals.
    pub basis: Matrix,
    /// The derivative of the residual along them.
    pub by_state: Matrix,
    /// The derivative of the residual by the parameter, along [`Local::carried`].
    pub by_parameter: Vec<f64>,
    /// How the state itself changes with the parameter, where it has to: constraints may depend on it.
    pub carried: Vec<f64>,
    /// Multipliers or eigenvalues, by falling modulus.
    pub values: Vec<Complex>,
}

/// A set of solutions that depend on a parameter.
pub trait Solutions {
    /// What they are made of.
    type State: Clone;
    /// Residual and derivatives at a state.
    ///
    /// # Errors
    /// Whatever keeps them from being computed.
    fn local(&self, state: &Self::State, parameter: f64) -> Result<Local, AnalysisError>;
    /// A state moved by a change, to where it may be for a value of the parameter.
    ///
    /// # Errors
    /// Those of the way there.
    fn moved(&self, state: &Self::State, change: &[f64], parameter: f64) -> Result<Self::State, AnalysisError>;
    /// The change that leads from one state to another.
    ///
    /// # Errors
    /// Those of states that are too far apart.
    fn difference(&self, from: &Self::State, to: &Self::State) -> Result<Vec<f64>, AnalysisError>;
}

/// Solutions of a map whose states are lists of numbers.
struct Flat<'a> {
    map: &'a dyn Map,
    kind: Kind,
}

impl Solutions for Flat<'_> {
    type State = Vec<f64>;

    fn local(&self, state: &Vec<f64>, parameter: f64) -> Result<Local, AnalysisError> {
        let image = self.map.image(state, parameter)?;
        let n = state.len();
        let values = eigenvalues(&image.by_state)?;
        let (mut residual, mut by_state) = (image.value, image.by_state);
        if self.kind == Kind::Cycles {
            for i in 0..n {
                residual[i] -= state[i];
                by_state[(i, i)] -= 1.0;
            }
        }
        let (basis, carried) = (Matrix::unit(n), vec![0.0; n]);
        Ok(Local { residual, basis, by_state, by_parameter: image.by_parameter, carried, values })
    }

    fn moved(&self, state: &Vec<f64>, change: &[f64], _parameter: f64) -> Result<Vec<f64>, AnalysisError> {
        Ok(state.iter().zip(change).map(|(s, c)| s + c).collect())
    }

    fn difference(&self, from: &Vec<f64>, to: &Vec<f64>) -> Result<Vec<f64>, AnalysisError> {
        Ok(from.iter().zip(to).map(|(a, b)| b - a).collect())
    }
}

/// A point of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Point<S = Vec<f64>> {
    /// The state.
    pub state: S,
    /// The parameter.
    pub parameter: f64,
    /// Multipliers or eigenvalues, by falling modulus.
    pub values: Vec<Complex>,
    /// Whether it is stable.
    pub stable: bool,
    /// The change along the curve, the parameter last.
    tangent: Vec<f64>,
    /// The determinant of derivative and tangent.
    determinant: f64,
}

/// A curve of solutions.
#[derive(Clone, Debug, PartialEq)]
pub struct Branch<S = Vec<f64>> {
    /// Its points, in order.
    pub points: Vec<Point<S>>,
    /// Special points: what, and where.
    pub special: Vec<(Special, Point<S>)>,
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
    /// Who watched wanted no more.
    Stopped,
}

/// Follows a curve of a map from a solution.
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
    follow_while(map, kind, start, parameter, options, &mut |_| true)
}

/// The same, as long as `keep_on` says so, which sees each point.
///
/// # Errors
/// As [`follow`].
pub fn follow_while(
    map: &dyn Map,
    kind: Kind,
    start: &[f64],
    parameter: f64,
    options: &Options,
    keep_on: &mut dyn FnMut(&Point) -> bool,
) -> Result<Branch, AnalysisError> {
    follow_on(&Flat { map, kind }, kind, &start.to_vec(), parameter, options, keep_on)
}

/// Follows a curve of solutions of any kind. `keep_on` sees each point and says whether to go on.
///
/// # Errors
/// As [`follow`].
pub fn follow_on<M: Solutions>(
    solutions: &M,
    kind: Kind,
    start: &M::State,
    parameter: f64,
    options: &Options,
    keep_on: &mut dyn FnMut(&Point<M::State>) -> bool,
) -> Result<Branch<M::State>, AnalysisError> {
    let walker = Walker { solutions, kind, options };
    let mut tangent = solutions.difference(start, start)?;
    tangent.fill(0.0);
    tangent.push(1.0);
    // A start without a direction is one of a family, or a place where curves cross.
    let mut here = walker.correct(start, parameter, &tangent).map_err(|error| match error {
        AnalysisError::Singular { .. } => {
            AnalysisError::NotIsolated { what: "the solution at the start of the curve", ratio: f64::EPSILON }
        }
        other => other,
    })?;
    if options.step < 0.0 {
        here.tangent.iter_mut().for_each(|t| *t = -*t);
        here.determinant = -here.determinant;
    }
    let mut more = keep_on(&here);
    let mut branch = Branch { points: vec![here], special: Vec::new(), ending: Ending::Points };
    let mut step = options.step.abs();
    while branch.points.len() < options.points {
        if !more {
            branch.ending = Ending::Stopped;
            return Ok(branch);
        }
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
        for special in [Special::Fold, Special::Branch, Special::PeriodDoubling, Special::NeimarkSacker, Special::Hopf]
        {
            if let Some(point) = walker.locate(special, here, &there, step) {
                branch.special.push((special, point));
            }
        }
        step = (1.3 * step).min(options.steps[1]);
        let outside = !(options.range[0]..=options.range[1]).contains(&there.parameter);
        more = keep_on(&there);
        branch.points.push(there);
        if outside {
            branch.ending = Ending::Range;
            return Ok(branch);
        }
    }
    Ok(branch)
}

struct Walker<'a, M> {
    solutions: &'a M,
    kind: Kind,
    options: &'a Options,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl<M: Solutions> Walker<'_, M> {
    fn step(&self, here: &Point<M::State>, step: f64) -> Result<Point<M::State>, AnalysisError> {
        let n = here.tangent.len() - 1;
        let change: Vec<f64> = here.tangent[..n].iter().map(|t| step * t).collect();
        let parameter = here.parameter + step * here.tangent[n];
        let guess = self.solutions.moved(&here.state, &change, parameter)?;
        self.correct(&guess, parameter, &here.tangent)
    }

    /// Newton's method in the plane through the guess across `normal`; the new tangent points along it.
    fn correct(&self, guess: &M::State, value: f64, normal: &[f64]) -> Result<Point<M::State>, AnalysisError> {
        let n = normal.len() - 1;
        let (mut state, mut parameter) = (guess.clone(), value);
        let mut left = f64::INFINITY;
        for _ in 0..CORRECTIONS {
            let Local { mut residual, basis, by_state, by_parameter, carried, values } =
                self.solutions.local(&state, parameter)?;
            let d = residual.len();
            left = residual.iter().fold(0.0f64, |max, r| max.max(r.abs()));
            let mut matrix = Matrix::zeros(d + 1, d + 1);
            matrix.set_block(0, 0, &by_state);
            let across = |along: &[f64], (j, part): (usize, f64)| match j {
                _ if j < d => dot(&basis.column(j), &along[..n]),
                _ => dot(&carried, &along[..n]) + part,
            };
            for i in 0..d {
                matrix[(i, d)] = by_parameter[i];
            }
            for j in 0..=d {
                matrix[(d, j)] = across(normal, (j, normal[n]));
            }
            // A step (w, p′) moves the state by B w + carried p′.
            let ambient = |step: &[f64]| -> Vec<f64> {
                basis.apply(&step[..d]).iter().zip(&carried).map(|(b, c)| b + c * step[d]).collect()
            };
            if left <= self.options.tolerance {
                let mut last = vec![0.0; d + 1];
                last[d] = 1.0;
                let step = matrix.solve_vector(&last, "the tangent of a curve of solutions")?;
                let mut tangent = ambient(&step);
                tangent.push(step[d]);
                let scale = dot(&tangent, normal).signum() / dot(&tangent, &tangent).sqrt();
                tangent.iter_mut().for_each(|t| *t *= scale);
                // The sign does not depend on the last row, as long as it points along the curve.
                for j in 0..=d {
                    matrix[(d, j)] = across(&tangent, (j, tangent[n]));
                }
                let determinant = matrix.determinant();
                let stable = match self.kind {
                    Kind::Cycles => values.iter().all(|z| z.modulus() < 1.0),
                    Kind::Equilibria => values.iter().all(|z| z.re < 0.0),
                };
                return Ok(Point { state, parameter, values, stable, tangent, determinant });
            }
            let off = self.solutions.difference(guess, &state)?;
            residual.push(dot(&off, &normal[..n]) + (parameter - value) * normal[n]);
            let step = matrix.solve_vector(&residual, "the equations of a curve of solutions")?;
            let back: Vec<f64> = ambient(&step).iter().map(|c| -c).collect();
            parameter -= step[d];
            state = self.solutions.moved(&state, &back, parameter)?;
        }
        let advice = "take shorter steps or start nearer to a solution";
        Err(AnalysisError::NotConverged { what: "a point of a curve", iterations: CORRECTIONS, residual: left, advice })
    }

    /// The function whose sign changes at a special point, and the smallest of its factors compared with their terms.
    fn test(&self, special: Special, point: &Point<M::State>) -> Option<(f64, f64)> {
        let one = Complex::from(1.0);
        let over = |f: &dyn Fn(Complex) -> Complex| point.values.iter().fold(one, |product, &z| product * f(z)).re;
        // Factors a + b of pairs, each compared with |a| + |b|.
        let pairs = |f: &dyn Fn(Complex, Complex) -> [Complex; 2]| {
            let n = point.values.len();
            let all = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
            let (product, least) = all.fold((one, 1.0f64), |(product, least), (i, j)| {
                let [a, b] = f(point.values[i], point.values[j]);
                let size = (a.modulus() + b.modulus()).max(f64::MIN_POSITIVE);
                (product * (a + b), least.min((a + b).modulus() / size))
            });
            (product.re, least)
        };
        match (special, self.kind) {
            (Special::Fold, _) => point.tangent.last().map(|&t| (t, 1.0)),
            (Special::Branch, _) => Some((point.determinant, 1.0)),
            (Special::PeriodDoubling, Kind::Cycles) => Some((over(&|z| z + one), 1.0)),
            (Special::NeimarkSacker, Kind::Cycles) => Some(pairs(&|a, b| [a * b, Complex::from(-1.0)])),
            (Special::Hopf, Kind::Equilibria) => Some(pairs(&|a, b| [a, b])),
            _ => None,
        }
    }

    /// The place between two points where a test changes sign, if it does and means what it should.
    fn locate(
        &self,
        special: Special,
        here: &Point<M::State>,
        there: &Point<M::State>,
        length: f64,
    ) -> Option<Point<M::State>> {
        let ((first, clear), (last, clear_there)) = (self.test(special, here)?, self.test(special, there)?);
        if (first < 0.0) == (last < 0.0) || clear.max(clear_there) < ROUNDING {
            return None;
        }
        let side = if first < 0.0 { -1.0 } else { 1.0 };
        // At a branch itself the tangent is not defined: a point beside it serves as well.
        let beside = |s: f64| BESIDE.iter().find_map(|part| self.step(here, s + part * length).ok());
        let mut sample = |s: f64| beside(s).and_then(|p| self.test(special, &p)).map_or(f64::NAN, |(f, _)| side * f);
        let at = zero(&mut sample, [0.0, length], [side * first, side * last], LOCATION * length);
        let best = beside(at)?;
        let near = |size: f64| size.abs() < 1e-5;
        // Eigenvalues of a branch are square roots of the distance from it if nothing is lost.
        let gone = |size: f64| size.abs() < 1e-4;
        let meant = match (special, self.kind) {
            (Special::Fold, _) => true,
            (Special::Branch, Kind::Cycles) => best.values.iter().any(|z| gone((*z - Complex::from(1.0)).modulus())),
            (Special::Branch, Kind::Equilibria) => best.values.iter().any(|z| gone(z.modulus())),
            (Special::PeriodDoubling, _) => best.values.iter().any(|z| near(z.im) && near(z.re + 1.0)),
            (Special::NeimarkSacker, _) => best.values.iter().any(|z| z.im > 1e-5 && near(z.modulus() - 1.0)),
            (Special::Hopf, _) => best.values.iter().any(|z| z.im > 1e-5 && near(z.re)),
        };
        meant.then_some(best)
    }
}
