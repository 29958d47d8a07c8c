//! The motion of any system together with changes of it: flows with sensitivities, periodic motions, exponents.
//!
//! Changes obey the linearised equations ([`crate::variation`]) and are integrated with the motion, in the same steps of an explicit method on
//! the manifold of configurations. Constraints are met by projection after each step; changes are moved back to them at the end.
//!
//! A periodic motion is sought by Newton's method: with a basis B of changes at its start, carried to B₁ by one period, and the
//! difference d of end and start,
//!
//! ```text
//! (B⁺B₁ − 1) w = −B⁺d,     start ← start ⊕ B w
//! ```
//!
//! If nothing drives the system the period is unknown too; the change is then taken across the motion. Multipliers are the
//! eigenvalues of B⁺B₁.

use crate::dense::Matrix;
use crate::eigen::{eigenvalues, symmetric};
use crate::error::AnalysisError;
use crate::field::Settings;
use crate::lyapunov::Spectrum;
use crate::variation::Variation;
use dalembert_methods::algebra::Complex;
use dalembert_methods::integrate::tableau::Tableau;
use dalembert_methods::scalar::Duals;
use dalembert_methods::system::{Shape, State, System};

/// Projections to the constraints stop at corrections below this; the square of it is left.
const PROJECTION: f64 = 1e-8;
/// Times at which a system is asked whether something drives it, in seconds after that of a state: harmonic forces rest at some instants.
const LATER: [f64; 5] = [0.0, 0.0137, 0.173, 1.13, 11.7];
/// Rates a period apart that differ by less than this, relative to one and their size, are the same: periods are given with some digits.
const REPEATED: f64 = 1e-5;
/// A relative singular value below which a cycle is one of a family.
const FAMILY: f64 = 1e-7;
/// Most Newton steps of a search, and most halvings of one.
const ITERATIONS: usize = 40;
const HALVINGS: usize = 10;
/// The longest Newton step compared with velocities and differences at hand.
const LEAP: f64 = 2.0;

/// A motion and the scratch to continue it with changes.
pub struct Motion<'a, Y: System> {
    y: &'a Y,
    settings: Settings,
    shape: Shape,
    variation: Variation<Y>,
    base: State<f64>,
    stage: State<f64>,
    slopes: Vec<Vec<f64>>,
    sum: Vec<f64>,
    error: Vec<f64>,
    sizes: Vec<f64>,
    /// Changes at a stage, and their rates.
    moved: Matrix,
    rates: Matrix,
    proposal: f64,
}

impl<'a, Y: System> Motion<'a, Y> {
    /// Scratch for a system.
    pub fn new(y: &'a Y, settings: Settings) -> Self {
        let shape = y.shape();
        Self {
            y,
            settings,
            shape,
            variation: Variation::new(y),
            base: State::zeros(shape),
            stage: State::zeros(shape),
            slopes: vec![Vec::new(); settings.method.all_stages()],
            sum: Vec::new(),
            error: Vec::new(),
            sizes: vec![0.0; shape.v],
            moved: Matrix::zeros(0, 0),
            rates: Matrix::zeros(0, 0),
            proposal: 0.0,
        }
    }

    /// The linearised equations.
    pub fn variation(&mut self) -> &mut Variation<Y> {
        &mut self.variation
    }

    /// A basis of the changes that constraints allow.
    ///
    /// # Errors
    /// Those of the accelerations.
    pub fn basis(&mut self, s: &State<f64>) -> Result<Matrix, AnalysisError> {
        Ok(self.variation.basis(self.y, s)?)
    }

    /// Moves a state, and changes of it (columns), to a later time. Integrals stay as they are.
    ///
    /// # Errors
    /// [`AnalysisError::Motion`] from the system, [`AnalysisError::StepTooSmall`] where no step is short enough.
    pub fn advance(&mut self, s: &mut State<f64>, columns: &mut Matrix, until: f64) -> Result<(), AnalysisError> {
        let Shape { v: n, x, .. } = self.shape;
        let own = 2 * n + x;
        self.slopes.iter_mut().for_each(|k| k.resize(own + columns.values().len(), 0.0));
        self.sum.resize(own + columns.values().len(), 0.0);
        self.error.resize(self.sum.len(), 0.0);
        if (self.moved.rows(), self.moved.cols()) != (columns.rows(), columns.cols()) {
            self.moved = columns.clone();
            self.rates = columns.clone();
        }
        if self.proposal == 0.0 {
            self.variation.motion(self.y, s)?;
            let speed = s.v.iter().chain(&self.variation.rates.v).fold(1e-6f64, |max, v| max.max(v.abs()));
            self.proposal = (0.01 / speed).min(until - s.t).max(1e-9);
        }
        while s.t < until {
            let wanted = self.proposal.min(self.settings.longest);
            let h = if s.t + wanted >= until { until - s.t } else { wanted };
            let power = 1.0 / f64::from(self.settings.method.error_power);
            let (error, failure) = match self.attempt(s, columns, h) {
                Ok(error) => (error, None),
                Err(failure) => (f64::NAN, Some(failure)),
            };
            let factor = if error.is_nan() { 0.2 } else { (0.9 * error.max(1e-12).powf(-power)).clamp(0.2, 5.0) };
            self.proposal = if h < wanted && factor >= 1.0 { wanted.max(h * factor) } else { h * factor };
            if error <= 1.0 {
                let end = if h == until - s.t { until } else { s.t + h };
                self.accept(s, columns, end)?;
            } else if self.proposal < 16.0 * f64::EPSILON * s.t.abs().max(1e-3) {
                return Err(failure.map_or(AnalysisError::StepTooSmall { t: s.t, h }, Into::into));
            }
        }
        if self.shape.rows() > 0 && columns.cols() > 0 {
            self.variation.motion(self.y, s)?;
            self.variation.settle(self.y, s, columns)?;
        }
        Ok(())
    }

    /// All stages of a step; `sum` holds the increments at its end. Returns the error in units of the tolerance.
    fn attempt(
        &mut self,
        s: &State<f64>,
        columns: &Matrix,
        h: f64,
    ) -> Result<f64, dalembert_methods::integrate::IntegrateError> {
        let method = self.settings.method;
        self.base.copy_from(s);
        self.stage.copy_from(s);
        self.sum.fill(0.0);
        self.evaluate(columns, 0)?;
        for i in 1..=method.stages {
            combine(&self.slopes, h, method.rows[i], &mut self.sum);
            self.place(s.t + method.nodes[i] * h);
            if i < method.stages || method.error.len() > method.stages {
                self.evaluate(columns, i)?;
            }
        }
        self.y.magnitude(&s.q, &mut self.sizes);
        let Shape { v: n, x, .. } = self.shape;
        let (tolerance, sizes, error) = (self.settings.tolerance, &self.sizes, &mut self.error);
        let mut weigh = |weights: &[f64], sum: &[f64], slopes: &[Vec<f64>]| {
            combine(slopes, h, weights, error);
            (0..error.len()).fold(0.0f64, |max, i| {
                let (size, absolute) = match i {
                    _ if i < n => (sizes[i], tolerance.absolute),
                    _ if i < 2 * n => (s.v[i - n].abs().max((s.v[i - n] + sum[i]).abs()), tolerance.absolute),
                    _ if i < 2 * n + x => (s.x[i - 2 * n].abs(), tolerance.absolute),
                    _ => (columns.values()[i - 2 * n - x] + sum[i], tolerance.relative),
                };
                let ratio = error[i].abs() / (absolute + tolerance.relative * size.abs());
                if ratio > max || ratio.is_nan() { ratio } else { max }
            })
        };
        let mut size = weigh(method.error, &self.sum, &self.slopes);
        if !method.error_low.is_empty() {
            size = Tableau::combine(size, weigh(method.error_low, &self.sum, &self.slopes));
        }
        Ok(size)
    }

    /// The stage state from the base and the increments at hand.
    fn place(&mut self, t: f64) {
        let Shape { v: n, x, .. } = self.shape;
        self.stage.t = t;
        self.y.retract(&self.base.q, &self.sum[..n], &mut self.stage.q);
        for i in 0..n {
            self.stage.v[i] = self.base.v[i] + self.sum[n + i];
        }
        for i in 0..x {
            self.stage.x[i] = self.base.x[i] + self.sum[2 * n + i];
        }
    }

    /// The slopes of stage `i`.
    fn evaluate(&mut self, columns: &Matrix, i: usize) -> Result<(), dalembert_methods::integrate::IntegrateError> {
        let Shape { v: n, x, .. } = self.shape;
        self.variation.motion(self.y, &self.stage)?;
        let slope = &mut self.slopes[i];
        self.y.local_rate(&self.sum[..n], &self.stage.v, &mut slope[..n]);
        slope[n..2 * n].copy_from_slice(&self.variation.rates.v);
        slope[2 * n..2 * n + x].copy_from_slice(&self.variation.rates.x);
        if columns.cols() > 0 {
            let changes = columns.values().iter().zip(&self.sum[2 * n + x..]);
            self.moved.values_mut().iter_mut().zip(changes).for_each(|(moved, (c, d))| *moved = c + d);
            self.variation.changes(self.y, &self.stage, &self.moved, &mut self.rates)?;
            slope[2 * n + x..].copy_from_slice(self.rates.values());
        }
        Ok(())
    }

    /// Takes over the step just attempted.
    fn accept(&mut self, s: &mut State<f64>, columns: &mut Matrix, t: f64) -> Result<(), AnalysisError> {
        let Shape { v: n, x, .. } = self.shape;
        s.q.copy_from_slice(&self.stage.q);
        s.v.copy_from_slice(&self.stage.v);
        s.x.copy_from_slice(&self.stage.x);
        s.t = t;
        for (c, d) in columns.values_mut().iter_mut().zip(&self.sum[2 * n + x..]) {
            *c += d;
        }
        self.project(s)
    }

    /// Moves a state to the constraints.
    fn project(&mut self, s: &mut State<f64>) -> Result<(), AnalysisError> {
        self.variation.dynamics.project_position(self.y, s, PROJECTION)?;
        Ok(self.variation.dynamics.project_velocity(self.y, s)?)
    }

    /// Moves a state by a change (η, v′, x′), and to the constraints.
    ///
    /// # Errors
    /// Those of the projection.
    pub fn shift(&mut self, s: &mut State<f64>, change: &[f64]) -> Result<(), AnalysisError> {
        let Shape { v: n, x, .. } = self.shape;
        let q = s.q.clone();
        self.y.retract(&q, &change[..n], &mut s.q);
        for i in 0..n {
            s.v[i] += change[n + i];
        }
        for i in 0..x {
            s.x[i] += change[2 * n + i];
        }
        self.project(s)
    }

    /// The change that leads from one state to another: the inverse of [`Motion::shift`], by Newton's method on `retract`.
    ///
    /// # Errors
    /// [`AnalysisError::NotConverged`] for states too far apart, as rotations by half a turn.
    pub fn difference(&self, from: &State<f64>, to: &State<f64>) -> Result<Vec<f64>, AnalysisError> {
        let Shape { v: n, x, q, .. } = self.shape;
        let mut eta = vec![0.0; n];
        let base: Vec<Duals> = from.q.iter().map(|&q| q.into()).collect();
        let (mut delta, mut out) = (vec![Duals::default(); n], vec![Duals::default(); q]);
        let size = from.q.iter().fold(1.0f64, |max, q| max.max(q.abs()));
        let mut left = f64::INFINITY;
        for _ in 0..ITERATIONS {
            let mut jacobian = Matrix::zeros(q, n);
            let mut residual = vec![0.0; q];
            for first in (0..n.max(1)).step_by(6) {
                for i in 0..n {
                    delta[i] = eta[i].into();
                    if (first..first + 6).contains(&i) {
                        delta[i].eps[i - first] = 1.0;
                    }
                }
                self.y.retract(&base, &delta, &mut out);
                for i in 0..q {
                    residual[i] = to.q[i] - out[i].re;
                    for j in first..n.min(first + 6) {
                        jacobian[(i, j)] = out[i].eps[j - first];
                    }
                }
            }
            let transposed = jacobian.transpose();
            let step =
                transposed.mul(&jacobian).solve_vector(&transposed.apply(&residual), "the chart of configurations")?;
            eta.iter_mut().zip(&step).for_each(|(e, s)| *e += s);
            let before = left;
            left = step.iter().fold(0.0, |max: f64, s| max.max(s.abs()));
            if left <= 4.0 * f64::EPSILON * size || (left < 1e-10 * size && left >= 0.5 * before) {
                let v = from.v.iter().zip(&to.v).map(|(a, b)| b - a);
                let x = from.x.iter().zip(&to.x).map(|(a, b)| b - a).take(x);
                return Ok(eta.into_iter().chain(v).chain(x).collect());
            }
        }
        let advice = "compare states that are nearer to each other";
        Err(AnalysisError::NotConverged {
            what: "the difference of two states",
            iterations: ITERATIONS,
            residual: left,
            advice,
        })
    }

    /// Whether the equations depend on time explicitly, at the time of a state or at some others.
    ///
    /// # Errors
    /// Those of the accelerations.
    pub fn driven(&mut self, s: &State<f64>) -> Result<bool, AnalysisError> {
        let mut at = s.clone();
        let mut out = vec![0.0; self.variation.size()];
        for later in LATER {
            at.t = s.t + later;
            self.variation.motion(self.y, &at)?;
            self.variation.by_time(self.y, &at, &mut out)?;
            if out.iter().any(|&d| d != 0.0) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether what drives the equations is the same a period later: rates at a state and some times.
    ///
    /// # Errors
    /// Those of the accelerations.
    pub fn repeats(&mut self, s: &State<f64>, period: f64) -> Result<bool, AnalysisError> {
        let mut at = s.clone();
        for later in LATER {
            at.t = s.t + later;
            self.variation.motion(self.y, &at)?;
            let before = [&self.variation.rates.v[..], &self.variation.rates.x].concat();
            at.t += period;
            self.variation.motion(self.y, &at)?;
            let after = self.variation.rates.v.iter().chain(&self.variation.rates.x);
            let size = before.iter().fold(1.0f64, |max, r| max.max(r.abs()));
            if before.iter().zip(after).any(|(a, b)| (a - b).abs() > REPEATED * size) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The matrix of one period in a basis of changes, and where the state is then.
    ///
    /// # Errors
    /// Those of [`Motion::advance`].
    pub fn monodromy(&mut self, s: &State<f64>, period: f64) -> Result<(Matrix, State<f64>), AnalysisError> {
        let basis = self.basis(s)?;
        let (mut end, mut columns) = (s.clone(), basis.clone());
        self.advance(&mut end, &mut columns, s.t + period)?;
        Ok((coordinates(&basis, &columns)?, end))
    }
}

fn combine(slopes: &[Vec<f64>], h: f64, weights: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    for (slope, &weight) in slopes.iter().zip(weights) {
        if weight != 0.0 {
            out.iter_mut().zip(slope).for_each(|(sum, k)| *sum += h * weight * k);
        }
    }
}

/// A periodic motion of a system.
#[derive(Clone, Debug, PartialEq)]
pub struct Orbit {
    /// Its state at the beginning.
    pub state: State<f64>,
    /// Its period in seconds.
    pub period: f64,
    /// The multipliers, by falling modulus. If nothing drives the system one of them is 1.
    pub multipliers: Vec<Complex>,
    /// The largest difference of end and beginning.
    pub residual: f64,
    /// Newton steps.
    pub iterations: usize,
}

/// Coordinates of changes X in a basis B, by least squares: B⁺ X.
///
/// # Errors
/// [`AnalysisError::Singular`] if the columns of the basis depend on each other.
pub fn coordinates(b: &Matrix, x: &Matrix) -> Result<Matrix, AnalysisError> {
    let transposed = b.transpose();
    transposed.mul(b).solve(&transposed.mul(x), "the basis of changes")
}

/// The error of a period that is not one of what drives a system.
pub(crate) fn not_repeated(period: f64) -> AnalysisError {
    let reason =
        format!("what drives the system does not repeat after {period} s: give its period, or a multiple of it");
    AnalysisError::Invalid { reason }
}

/// A periodic motion near a state. The period is given if the system is driven, and a guess if not.
///
/// # Errors
/// [`AnalysisError::Invalid`] if what drives the system has another period, [`AnalysisError::NotIsolated`] where a family of cycles passes,
/// [`AnalysisError::NotConverged`] where Newton's method does not settle.
pub fn orbit<Y: System>(
    y: &Y,
    start: &State<f64>,
    period: f64,
    tolerance: f64,
    settings: Settings,
) -> Result<Orbit, AnalysisError> {
    let mut motion = Motion::new(y, settings);
    let driven = motion.driven(start)?;
    if driven && !motion.repeats(start, period)? {
        return Err(not_repeated(period));
    }
    let (mut s, mut period) = (start.clone(), period);
    let mut residual = f64::INFINITY;
    for iterations in 0..ITERATIONS {
        let basis = motion.basis(&s)?;
        let (mut end, mut columns) = (s.clone(), basis.clone());
        motion.advance(&mut end, &mut columns, s.t + period)?;
        let difference = motion.difference(&s, &end)?;
        residual = difference.iter().fold(0.0, |max: f64, d| max.max(d.abs()));
        let map = coordinates(&basis, &columns)?;
        let d = basis.cols();
        let gap = coordinates(&basis, &Matrix::from_rows(difference.len(), 1, difference))?;
        let size = if driven { d } else { d + 1 };
        let mut matrix = Matrix::zeros(size, size);
        matrix.set_block(0, 0, &map.plus(-1.0, &Matrix::unit(d)));
        let mut right: Vec<f64> = gap.values().iter().map(|g| -g).collect();
        if !driven {
            // The rates at both ends: the last column is the change with the period, the last row asks for no change along the motion.
            let mut along = |at: &State<f64>| -> Result<Vec<f64>, AnalysisError> {
                motion.variation.motion(y, at)?;
                let rates = at.v.iter().chain(&motion.variation.rates.v).chain(&motion.variation.rates.x);
                let rates: Vec<f64> = rates.copied().collect();
                Ok(coordinates(&basis, &Matrix::from_rows(rates.len(), 1, rates))?.values().to_vec())
            };
            let (first, last) = (along(&s)?, along(&end)?);
            for i in 0..d {
                matrix[(i, d)] = last[i];
                matrix[(d, i)] = first[i];
            }
            right.push(0.0);
        }
        if residual <= tolerance {
            let (squares, _) = symmetric(&matrix.transpose().mul(&matrix));
            let ratio = (squares[0].max(0.0) / squares[size - 1]).sqrt();
            if ratio < FAMILY {
                return Err(AnalysisError::NotIsolated { what: "the cycle", ratio });
            }
            let multipliers = eigenvalues(&map)?;
            return Ok(Orbit { state: s, period, multipliers, residual, iterations });
        }
        let step = matrix
            .solve_vector(&right, "the equations of a cycle")
            .map_err(|_| AnalysisError::NotIsolated { what: "the cycle", ratio: f64::EPSILON })?;
        let change = basis.apply(&step[..d]);
        // No leap further than the motion itself goes: far away a motion may take long to compute.
        let longest = change.iter().fold(f64::MIN_POSITIVE, |max, c| max.max(c.abs()));
        let here = s.v.iter().fold(1.0 + residual, |max, v| max.max(v.abs()));
        let mut part = (LEAP * here / longest).min(1.0);
        let mut none = Matrix::zeros(columns.rows(), 0);
        let mut better = None;
        for _ in 0..HALVINGS {
            let (mut trial, scaled) = (s.clone(), change.iter().map(|c| part * c).collect::<Vec<_>>());
            let time = if driven { period } else { period + part * step[d] };
            part *= 0.5;
            if time.is_nan() || time <= 0.0 || motion.shift(&mut trial, &scaled).is_err() {
                continue;
            }
            let mut end = trial.clone();
            let ends = motion.advance(&mut end, &mut none, trial.t + time);
            let left = ends.and_then(|()| motion.difference(&trial, &end));
            let there = left.map_or(f64::INFINITY, |left| left.iter().fold(0.0, |max: f64, d| max.max(d.abs())));
            if there < residual || there <= tolerance {
                better = Some((trial, time));
                break;
            }
        }
        let Some(next) = better else { break };
        (s, period) = next;
    }
    let advice = "start nearer to the cycle, for instance by letting the motion settle first";
    Err(AnalysisError::NotConverged { what: "the search for a cycle", iterations: ITERATIONS, residual, advice })
}

/// How exponents of a system are computed.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct ExponentOptions {
    /// Time between two orthonormalisations, in seconds.
    pub interval: f64,
    /// Time to reach the attractor, in seconds.
    pub transient: f64,
    /// The time of one batch in seconds.
    pub batch: f64,
    /// The number of batches.
    pub batches: usize,
}

impl ExponentOptions {
    /// Whether error bars can be computed.
    ///
    /// # Errors
    /// [`AnalysisError::Invalid`] with fewer than two batches, or without a positive interval.
    pub fn check(&self) -> Result<(), AnalysisError> {
        if self.batches < 2 || self.interval.is_nan() || self.interval <= 0.0 {
            let reason = "exponents need a positive interval and two batches at least, for their error bars".to_owned();
            return Err(AnalysisError::Invalid { reason });
        }
        Ok(())
    }
}

/// The Lyapunov exponents of a motion. For a driven system the phase of what drives it adds an exponent zero.
///
/// # Errors
/// Those of the motion; [`AnalysisError::Invalid`] with fewer than two batches.
pub fn exponents<Y: System>(
    y: &Y,
    start: &State<f64>,
    options: &ExponentOptions,
    settings: Settings,
) -> Result<Spectrum, AnalysisError> {
    options.check()?;
    let mut motion = Motion::new(y, settings);
    let mut s = start.clone();
    let until = s.t + options.transient;
    motion.advance(&mut s, &mut Matrix::zeros(motion.variation.size(), 0), until)?;
    let driven = motion.driven(&s)?;
    let mut columns = motion.basis(&s)?;
    let mut left = vec![0.0; columns.cols()];
    columns.orthonormalise(&mut left);
    let windows = (options.batch / options.interval).ceil().max(1.0) as usize;
    let mut means = Vec::with_capacity(options.batches);
    for _ in 0..options.batches {
        let mut sums = vec![0.0; columns.cols()];
        for _ in 0..windows {
            let until = s.t + options.interval;
            motion.advance(&mut s, &mut columns, until)?;
            columns.orthonormalise(&mut left);
            sums.iter_mut().zip(&left).for_each(|(sum, l)| *sum += l.ln());
        }
        let time = windows as f64 * options.interval;
        let mut mean: Vec<f64> = sums.iter().map(|s| s / time).collect();
        if driven {
            mean.push(0.0);
        }
        means.push(mean);
    }
    Ok(Spectrum::of_batches(&[means]))
}
