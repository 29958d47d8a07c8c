//! The motion of any system together with changes of it: flows with sensitivities, periodic motions, exponents.
//!
//! Changes obey the linearised equations ([`crate::variation`]) and are integrated with the motion, in the same steps of an explicit method on
//! the manifold of configurations. Constraints are met by projection after each step; changes are moved back to them at the end.

mod cycle;
mod exponents;

pub use cycle::{Orbit, orbit};
pub(crate) use cycle::{newton, not_repeated};
pub use exponents::{ExponentOptions, exponents, exponents_while};

use crate::dense::Matrix;
use crate::error::AnalysisError;
use crate::field::Settings;
use crate::variation::Variation;
use dalembert_methods::integrate::tableau::Tableau;
use dalembert_methods::scalar::Duals;
use dalembert_methods::system::{Shape, State, System};

/// Projections to the constraints stop at corrections below this; the square of it is left.
const PROJECTION: f64 = 1e-8;
/// Times at which a system is asked whether something drives it, in seconds after that of a state: harmonic forces rest at some instants.
pub(crate) const LATER: [f64; 5] = [0.0, 0.0137, 0.173, 1.13, 11.7];
/// Rates a period apart that differ by less than this, relative to one and their size, are the same: periods are given with some digits.
pub(crate) const REPEATED: f64 = 1e-5;
/// Most Newton steps of a difference.
const ITERATIONS: usize = 40;
/// How near placed coordinates come to their values, relative to one and their size.
const PLACED: f64 = 1e-9;
/// The longest Newton step compared with velocities and differences at hand.
pub(crate) const LEAP: f64 = 2.0;

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

    /// Gives coordinates and velocities of a state some values, and moves it to the constraints. Coordinates are those below the number of
    /// velocities, velocities follow; where coordinates are not angles and lengths only velocities have values.
    ///
    /// # Errors
    /// [`AnalysisError::Invalid`] for a coordinate without a value, and where constraints do not allow the values; those of the projection.
    pub fn set_values(&mut self, s: &mut State<f64>, values: &[(usize, f64)]) -> Result<(), AnalysisError> {
        let Shape { v: n, x, q, .. } = self.shape;
        if q != n && values.iter().any(|&(i, _)| i < n) {
            let reason = "initial values of coordinates need such as are angles and lengths (trees of hinges and sliders, particles); velocities may \
                          have values in all scenes"
                .to_owned();
            return Err(AnalysisError::Invalid { reason });
        }
        let missing = |s: &State<f64>, &(i, value): &(usize, f64)| value - if i < n { s.q[i] } else { s.v[i - n] };
        let near = |(_, value): &(usize, f64)| PLACED * (1.0 + value.abs());
        for _ in 0..ITERATIONS {
            let mut change = vec![0.0; 2 * n + x];
            values.iter().for_each(|wanted| change[wanted.0] = missing(s, wanted));
            self.shift(s, &change)?;
            if values.iter().all(|wanted| missing(s, wanted).abs() <= near(wanted)) {
                return Ok(());
            }
        }
        let off = values.iter().find(|wanted| missing(s, wanted).is_nan() || missing(s, wanted).abs() > near(wanted));
        let (i, value) = *off.unwrap_or(&(0, f64::NAN));
        let what = if i < n { "coordinate" } else { "velocity" };
        let reason = format!("constraints keep the {what} {} from being {value}", self.y.velocity_name(i % n.max(1)));
        Err(AnalysisError::Invalid { reason })
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

/// Coordinates of changes X in a basis B, by least squares: B⁺ X.
///
/// # Errors
/// [`AnalysisError::Singular`] if the columns of the basis depend on each other.
pub fn coordinates(b: &Matrix, x: &Matrix) -> Result<Matrix, AnalysisError> {
    let transposed = b.transpose();
    transposed.mul(b).solve(&transposed.mul(x), "the basis of changes")
}
