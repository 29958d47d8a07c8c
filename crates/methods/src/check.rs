//! Checks of methods and systems, for our tests and for users' own: they measure, the caller judges.
//!
//! Methods: order of steps and of continuous output, tolerance against error, drift of invariants, return after time
//! reversal, continuation with the same bits, work. Systems: Jacobian, constraint rates, bias and force tangents, each by
//! two routes.

use crate::algebra::Rows;
use crate::integrate::{Counts, IntegrateError, Integrator, Settings, Span, create, resume, simulate};
use crate::integrate::{Flow, Moment, Observer, Progress};
use crate::problems::Problem;
use crate::scalar::{Dual, Scalar};
use crate::system::{State, System};
use std::fmt;

/// Why a check could not measure.
#[derive(Clone, Debug, PartialEq)]
pub enum CheckError {
    /// The method could not be made.
    Method(String),
    /// The run failed.
    Run(IntegrateError),
    /// The problem has no exact solution where it is needed.
    NoSolution {
        /// Time in seconds.
        t: f64,
    },
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Method(reason) => f.write_str(reason),
            Self::Run(error) => error.fmt(f),
            Self::NoSolution { t } => write!(f, "the problem's exact state at t = {t} s is not known"),
        }
    }
}

impl std::error::Error for CheckError {}

/// Errors against step sizes or tolerances, and the exponent between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Convergence {
    /// (step size or tolerance, error).
    pub points: Vec<(f64, f64)>,
    /// The exponent p of error ≈ c·hᵖ by least squares over the points above `floor`.
    pub exponent: f64,
}

impl Convergence {
    /// Fits the exponent; errors below `floor` are rounding and do not count.
    pub fn new(points: Vec<(f64, f64)>, floor: f64) -> Self {
        let logs: Vec<_> = points.iter().filter(|p| p.1 > floor).map(|&(h, e)| (h.ln(), e.ln())).collect();
        let n = logs.len() as f64;
        let mean = |f: fn(&(f64, f64)) -> f64| logs.iter().map(f).sum::<f64>() / n;
        let (x, y) = (mean(|p| p.0), mean(|p| p.1));
        let covariance: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
        let variance: f64 = logs.iter().map(|p| (p.0 - x).powi(2)).sum();
        Self { points, exponent: covariance / variance }
    }
}

/// A method under way and its state.
type Started<'a, P> = (Box<dyn Integrator<P> + 'a>, State<f64>);

/// The method of a name, started at the beginning of a problem.
fn begin<'a, P: Problem + 'a>(problem: &P, method: &str, settings: &Settings) -> Result<Started<'a, P>, CheckError> {
    let mut integrator = create(method, settings).map_err(|error| CheckError::Method(error.to_string()))?;
    let mut state = problem.initial();
    integrator.start(problem, &mut state).map_err(CheckError::Run)?;
    Ok((integrator, state))
}

fn exact<P: Problem>(problem: &P, t: f64) -> Result<State<f64>, CheckError> {
    problem.exact(t).ok_or(CheckError::NoSolution { t })
}

/// The state at the problem's end, its error and the work, with the given settings.
pub fn end_error<P: Problem>(problem: &P, method: &str, settings: &Settings) -> Result<(f64, Counts), CheckError> {
    let (mut integrator, mut s) = begin(problem, method, settings)?;
    while s.t < problem.until() {
        integrator.step(problem, &mut s, problem.until()).map_err(CheckError::Run)?;
    }
    Ok((problem.distance(&s, &exact(problem, s.t)?), integrator.counts()))
}

/// The order of a method: errors at the problem's end for these numbers of equal steps.
pub fn order<P: Problem>(
    problem: &P,
    method: &str,
    settings: &Settings,
    steps: &[u32],
) -> Result<Convergence, CheckError> {
    let measure = |&n: &u32| {
        let h = problem.until() / f64::from(n);
        Ok((h, end_error(problem, method, &settings.clone().with("fixed_step", h))?.0))
    };
    Ok(Convergence::new(steps.iter().map(measure).collect::<Result<_, _>>()?, FLOOR))
}

/// Numbers of steps at which an order shows: from the first one with an error below `from` on, each √2 times more.
///
/// `measure` gives the error for a number of steps; attempts that fail are taken as too coarse.
pub fn ladder(from: f64, mut measure: impl FnMut(u32) -> Result<f64, CheckError>) -> Vec<u32> {
    let mut steps = 4;
    while steps < 1 << 16 && !measure(steps).is_ok_and(|error| error < from) {
        steps *= 2;
    }
    (0..6).map(|k| (f64::from(steps) * 2_f64.powf(0.5 * f64::from(k))).round() as u32).collect()
}

/// The order of the continuous output: the largest *additional* error within steps against their length. The exact
/// solution is taken as the start of every step, so that nothing but one step's output is measured: p + 1 for order p.
pub fn dense_order<P: Problem>(
    problem: &P,
    method: &str,
    settings: &Settings,
    steps: &[u32],
) -> Result<Convergence, CheckError> {
    let measure = |&n: &u32| {
        let h = problem.until() / f64::from(n);
        let mut integrator = create(method, &settings.clone().with("fixed_step", h))
            .map_err(|error| CheckError::Method(error.to_string()))?;
        let mut largest: f64 = 0.0;
        for k in 0..n {
            let mut s = exact(problem, f64::from(k) * h)?;
            integrator.start(problem, &mut s).map_err(CheckError::Run)?;
            let until = s.t + h;
            integrator.step(problem, &mut s, until).map_err(CheckError::Run)?;
            for part in 1..8 {
                s.t = until - h * f64::from(part) / 8.0;
                integrator.dense(problem, &mut s);
                largest = largest.max(problem.distance(&s, &exact(problem, s.t)?));
            }
        }
        Ok((h, largest))
    };
    Ok(Convergence::new(steps.iter().map(measure).collect::<Result<_, _>>()?, FLOOR))
}

/// Errors that may be rounding of a few thousand operations do not count towards an order.
const FLOOR: f64 = 2e-13;

/// Errors at the problem's end against tolerances.
pub fn tolerance_slope<P: Problem>(
    problem: &P,
    method: &str,
    settings: &Settings,
    tolerances: &[f64],
) -> Result<Convergence, CheckError> {
    let measure = |&tolerance: &f64| {
        Ok((tolerance, end_error(problem, method, &settings.clone().with("tolerance", tolerance))?.0))
    };
    Ok(Convergence::new(tolerances.iter().map(measure).collect::<Result<_, _>>()?, FLOOR))
}

/// How far invariants went, and how far they may go.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Drift {
    /// The largest change of any invariant.
    pub largest: f64,
    /// What the accepted errors of all steps add up to: Σ over steps of |∂I/∂y|·(tolerance·(1 + |y|)), to first order.
    pub bound: f64,
    /// The work.
    pub counts: Counts,
}

/// The drift of a problem's invariants over `until` seconds at a tolerance (the same absolute and relative).
pub fn drift<P: Problem>(problem: &P, method: &str, tolerance: f64, until: f64) -> Result<Drift, CheckError> {
    let settings = Settings::default().with("tolerance", tolerance);
    let (mut integrator, mut s) = begin(problem, method, &settings)?;
    let first = problem.invariants(&s);
    let (mut largest, mut bounds) = (0.0_f64, vec![0.0; first.len()]);
    while s.t < until {
        integrator.step(problem, &mut s, until).map_err(CheckError::Run)?;
        for (now, first) in problem.invariants(&s).iter().zip(&first) {
            largest = largest.max((now - first).abs());
        }
        for (bound, sensitivity) in bounds.iter_mut().zip(sensitivities(problem, &s)) {
            *bound += tolerance * sensitivity;
        }
    }
    Ok(Drift { largest, bound: bounds.into_iter().fold(0.0, f64::max), counts: integrator.counts() })
}

/// Σ |∂I/∂y|·(1 + |y|) of each invariant, by central differences.
fn sensitivities<P: Problem>(problem: &P, s: &State<f64>) -> Vec<f64> {
    let shape = problem.shape();
    let h = 1e-6;
    let mut sizes = vec![0.0; shape.v];
    problem.magnitude(&s.q, &mut sizes);
    sizes.extend(s.v.iter().chain(&s.x).chain(&s.z).map(|y| y.abs()));
    let mut sum = vec![0.0; problem.invariants(s).len()];
    for (i, size) in sizes.iter().enumerate() {
        let [plus, minus] = [h, -h].map(|h| {
            let mut moved = s.clone();
            let n = shape.v;
            if i < n {
                let delta: Vec<_> = (0..n).map(|j| if i == j { h } else { 0.0 }).collect();
                problem.retract(&s.q, &delta, &mut moved.q);
            }
            let rest = moved.v.iter_mut().chain(&mut moved.x).chain(&mut moved.z);
            rest.skip(i.wrapping_sub(n)).take(usize::from(i >= n)).for_each(|y| *y += h);
            problem.invariants(&moved)
        });
        for (sum, (plus, minus)) in sum.iter_mut().zip(plus.iter().zip(&minus)) {
            *sum += ((plus - minus) / (2.0 * h)).abs() * (1.0 + size);
        }
    }
    sum
}

/// The distance from the start after going forward for `until` seconds, turning all velocities round, and going back.
/// For systems that are reversible and do not depend on time.
pub fn reversal<P: Problem>(problem: &P, method: &str, settings: &Settings, until: f64) -> Result<f64, CheckError> {
    let (mut integrator, mut s) = begin(problem, method, settings)?;
    for _ in 0..2 {
        while s.t < until {
            integrator.step(problem, &mut s, until).map_err(CheckError::Run)?;
        }
        s.t = 0.0;
        s.v.iter_mut().for_each(|v| *v = -*v);
        integrator.start(problem, &mut s).map_err(CheckError::Run)?;
    }
    let mut start = problem.initial();
    start.x.clone_from(&s.x);
    start.z.clone_from(&s.z);
    Ok(problem.distance(&s, &start))
}

/// Whether a run cut after `cut` steps and continued by a new integrator gives the same bits as one piece: the end states
/// of both, and all their outputs.
pub fn continuation<P: Problem>(problem: &P, method: &str, settings: &Settings, cut: u64) -> Result<bool, CheckError> {
    struct Keep {
        outputs: Vec<State<f64>>,
        cut: Option<u64>,
        saved: Option<Progress>,
    }
    impl Observer for Keep {
        fn on_output(&mut self, s: &State<f64>) {
            self.outputs.push(s.clone());
        }
        fn on_step(&mut self, moment: &Moment<'_>) -> Flow {
            if Some(moment.counts.steps) != self.cut {
                return Flow::Continue;
            }
            self.saved = Some(moment.progress());
            Flow::Stop
        }
    }
    let span = Span::new(0.0, problem.until(), problem.until() / 17.0);
    let make = || create::<P>(method, settings).map_err(|error| CheckError::Method(error.to_string()));
    let mut whole = Keep { outputs: Vec::new(), cut: None, saved: None };
    let mut end = problem.initial();
    simulate(problem, &mut end, &mut *make()?, &span, &mut (), &mut whole).ending.map_err(CheckError::Run)?;

    let mut pieces = Keep { outputs: Vec::new(), cut: Some(cut), saved: None };
    let mut s = problem.initial();
    simulate(problem, &mut s, &mut *make()?, &span, &mut (), &mut pieces).ending.map_err(CheckError::Run)?;
    if let Some(progress) = pieces.saved.take() {
        pieces.cut = None;
        resume(problem, &mut s, &mut *make()?, &span, &mut (), &mut pieces, &progress)
            .ending
            .map_err(CheckError::Run)?;
    }
    Ok(s == end && pieces.outputs == whole.outputs)
}

/// Disagreements of a system's derivatives at one state, each relative to the size of the quantity (or 1).
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Disagreement {
    /// Jacobian of the holonomic rows against jets of the constraints along each increment.
    pub holonomic: f64,
    /// Jacobian of all rows against jets of the constraint rates along each velocity.
    pub velocity: f64,
    /// Rates of the holonomic rows against the time derivative of the constraints by jets.
    pub rate: f64,
    /// Bias against the time derivative of the constraint rates by jets, at constant velocity.
    pub bias: f64,
    /// `local_rate` against jets of `retract`: the state moved along q ⊕ δ by δ̇ has velocity v.
    pub chart: f64,
    /// Tangent of the forces along increments, velocities and extra states: jets against central differences.
    pub force: f64,
}

impl Disagreement {
    /// The largest of those that should agree to rounding.
    pub fn exact(&self) -> f64 {
        [self.holonomic, self.velocity, self.rate, self.bias, self.chart].into_iter().fold(0.0, f64::max)
    }
}

/// A dual state: moved from `s` along an increment, a velocity change, an extra-state change and time.
fn moving<Y: System>(y: &Y, s: &State<f64>, delta: &[f64], dv: &[f64], dx: &[f64], dt: f64) -> State<Dual> {
    let mut out = State::<Dual>::zeros(y.shape());
    out.lift(s);
    let delta: Vec<_> = delta.iter().map(|&d| Dual::new(0.0, d)).collect();
    let q = out.q.clone();
    y.retract(&q, &delta, &mut out.q);
    out.t = Dual::new(s.t, dt);
    for (value, &d) in out.v.iter_mut().zip(dv).chain(out.x.iter_mut().zip(dx)) {
        value.eps[0] = d;
    }
    out
}

fn evaluate<Y: System, S: Scalar>(
    y: &Y,
    s: &State<S>,
    n: usize,
    f: impl Fn(&State<S>, &mut Y::Work<S>, &mut [S]),
) -> Vec<S> {
    let mut work = y.work::<S>();
    let mut out = vec![S::zero(); n];
    y.prepare(s, &mut work);
    f(s, &mut work, &mut out);
    out
}

/// Compares a system's derivatives at a state by two routes. Differences use the step `h` relative to magnitudes.
pub fn derivatives<Y: System>(y: &Y, s: &State<f64>, h: f64) -> Disagreement {
    let shape = y.shape();
    let (n, g, rows) = (shape.v, shape.g, shape.rows());
    let unit = |n: usize, j: usize| (0..n).map(|i| if i == j { 1.0 } else { 0.0 }).collect::<Vec<_>>();
    let (still_v, still_x) = (vec![0.0; n], vec![0.0; shape.x]);
    let mut found = Disagreement::default();
    let differ = |worst: &mut f64, a: f64, b: f64| *worst = worst.max((a - b).abs() / a.abs().max(b.abs()).max(1.0));

    let mut work = y.work::<f64>();
    y.prepare(s, &mut work);
    let mut jacobian = Rows::new(rows, n, &y.row_blocks());
    y.jacobian(s, &mut work, &mut jacobian);
    let mut dense = vec![0.0; rows * n];
    jacobian.to_dense(&mut dense);
    for j in 0..n {
        let along = moving(y, s, &unit(n, j), &still_v, &still_x, 0.0);
        let column = evaluate(y, &along, g, |s, w, out| y.constraint(s, w, out));
        (0..g).for_each(|i| differ(&mut found.holonomic, dense[i * n + j], column[i].eps[0]));
        let along = moving(y, s, &still_v, &unit(n, j), &still_x, 0.0);
        let column = evaluate(y, &along, rows, |s, w, out| y.constraint_rate(s, w, out));
        (0..rows).for_each(|i| differ(&mut found.velocity, dense[i * n + j], column[i].eps[0]));
    }

    let in_time = moving(y, s, &s.v, &still_v, &still_x, 1.0);
    let rate = evaluate(y, s, rows, |s, w, out| y.constraint_rate(s, w, out));
    let by_jets = evaluate(y, &in_time, g, |s, w, out| y.constraint(s, w, out));
    (0..g).for_each(|i| differ(&mut found.rate, rate[i], by_jets[i].eps[0]));
    let bias = evaluate(y, s, rows, |s, w, out| y.constraint_bias(s, w, out));
    let by_jets = evaluate(y, &in_time, rows, |s, w, out| y.constraint_rate(s, w, out));
    (0..rows).for_each(|i| differ(&mut found.bias, bias[i], by_jets[i].eps[0]));

    found.chart = chart(y, s);
    for j in 0..2 * n + shape.x {
        let pick = |from: usize, len: usize| {
            if (from..from + len).contains(&j) { unit(len, j - from) } else { vec![0.0; len] }
        };
        let (delta, dv, dx) = (pick(0, n), pick(n, n), pick(2 * n, shape.x));
        let tangent = evaluate(y, &moving(y, s, &delta, &dv, &dx, 0.0), n, |s, w, out| y.force(s, w, out));
        let force = |h: f64| {
            let mut moved = s.clone();
            let scaled: Vec<_> = delta.iter().map(|d| d * h).collect();
            y.retract(&s.q, &scaled, &mut moved.q);
            moved.v.iter_mut().zip(&dv).for_each(|(v, d)| *v += h * d);
            moved.x.iter_mut().zip(&dx).for_each(|(x, d)| *x += h * d);
            evaluate(y, &moved, n, |s, w, out| y.force(s, w, out))
        };
        let (plus, minus) = (force(h), force(-h));
        (0..n).for_each(|i| differ(&mut found.force, tangent[i].eps[0], (plus[i] - minus[i]) / (2.0 * h)));
    }
    found
}

/// Moves along δ by `local_rate` at some δ ≠ 0, and in the chart at q ⊕ δ by v: both must move the configuration alike. The way back by
/// `local_velocity`, and a moving base against `local_shift`.
fn chart<Y: System>(y: &Y, s: &State<f64>) -> f64 {
    let n = y.shape().v;
    let delta: Vec<f64> = (0..n).map(|i| 0.3 * (1.0 + i as f64).sin()).collect();
    let mut rate = vec![0.0; n];
    y.local_rate(&delta, &s.v, &mut rate);
    let lifted: Vec<_> = s.q.iter().map(|&q| Dual::from(q)).collect();
    let path: Vec<_> = delta.iter().zip(&rate).map(|(&d, &r)| Dual::new(d, r)).collect();
    let (mut far, mut here) = (lifted.clone(), lifted.clone());
    y.retract(&lifted, &path, &mut far);
    let base: Vec<_> = far.iter().map(|q| Dual::from(q.re)).collect();
    let direct: Vec<_> = s.v.iter().map(|&v| Dual::new(0.0, v)).collect();
    y.retract(&base, &direct, &mut here);
    let moved = far.iter().zip(&here).fold(0.0, |worst: f64, (a, b)| worst.max((a.eps[0] - b.eps[0]).abs()));
    let mut back = vec![0.0; n];
    y.local_velocity(&delta, &rate, &mut back);
    let inverse = back.iter().zip(&s.v).fold(moved, |worst, (a, b)| worst.max((a - b).abs()));
    y.local_shift(&delta, &s.v, &mut rate);
    let shifted: Vec<_> = delta.iter().zip(&rate).map(|(&d, &r)| Dual::new(d, r)).collect();
    let still: Vec<_> = delta.iter().map(|&d| Dual::from(d)).collect();
    y.retract(&lifted, &shifted, &mut far);
    let mut begun = lifted.clone();
    y.retract(&lifted, &direct, &mut begun);
    y.retract(&begun, &still, &mut here);
    far.iter().zip(&here).fold(inverse, |worst, (a, b)| worst.max((a.eps[0] - b.eps[0]).abs()))
}
