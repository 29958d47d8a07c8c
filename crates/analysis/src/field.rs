//! Vector fields ż = F(t, z, p) written once for every number, and their flow.
//!
//! A flow computed with jets carries derivatives by initial values and parameters: exactly those of the numerical map with its steps held
//! fixed. Errors of values and of derivatives both count in the control of steps, so that both are as good as the tolerance.
//!
//! Reference: Hairer, Nørsett, Wanner: Solving Ordinary Differential Equations I, 2nd ed., Springer 1993, sections II.4–6.

use crate::error::AnalysisError;
use dalembert_methods::integrate::tableau::{DOP853, MOST_STAGES, Tableau};
use dalembert_methods::{Jet, Lanes, Real};

/// A vector field in `N` coordinates, with parameters.
pub trait Field<const N: usize>: Sync {
    /// The rates of all coordinates.
    fn rate<R: Real>(&self, t: R, z: &[R; N], p: &[R]) -> [R; N];
}

/// A number whose errors can be weighed.
pub trait Number: Real {
    /// The size of an error of `at`, in units of the tolerance.
    fn weigh(error: Self, at: Self, tolerance: Tolerance) -> f64;
    /// The plain value; of several lanes the first.
    fn value(self) -> f64;
}

/// How large errors of a step may be.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Tolerance {
    /// Relative to the size of a coordinate.
    pub relative: f64,
    /// In the unit of a coordinate.
    pub absolute: f64,
}

impl Default for Tolerance {
    fn default() -> Self {
        Self { relative: 1e-12, absolute: 1e-12 }
    }
}

impl Number for f64 {
    #[inline(always)]
    fn weigh(error: Self, at: Self, tolerance: Tolerance) -> f64 {
        error.abs() / (tolerance.absolute + tolerance.relative * at.abs())
    }
    #[inline(always)]
    fn value(self) -> f64 {
        self
    }
}

impl<const L: usize> Number for Lanes<L> {
    fn weigh(error: Self, at: Self, tolerance: Tolerance) -> f64 {
        (0..L).map(|i| f64::weigh(error.0[i], at.0[i], tolerance)).fold(0.0, worse)
    }
    fn value(self) -> f64 {
        self.0[0]
    }
}

impl<R: Number, const M: usize> Number for Jet<R, M> {
    fn weigh(error: Self, at: Self, tolerance: Tolerance) -> f64 {
        // Derivatives are measured against one: initial derivatives are of that size.
        let own = Tolerance { absolute: tolerance.relative, ..tolerance };
        let derivatives = (0..M).map(|i| R::weigh(error.eps[i], at.eps[i], own));
        derivatives.fold(R::weigh(error.re, at.re, tolerance), worse)
    }
    #[inline(always)]
    fn value(self) -> f64 {
        self.re.value()
    }
}

fn worse(a: f64, b: f64) -> f64 {
    if b > a || b.is_nan() { b } else { a }
}

/// How a flow is computed.
#[derive(Copy, Clone, Debug)]
pub struct Settings {
    /// The errors allowed for each step.
    pub tolerance: Tolerance,
    /// The longest step in seconds.
    pub longest: f64,
    /// The method.
    pub method: &'static Tableau,
}

impl Default for Settings {
    fn default() -> Self {
        Self { tolerance: Tolerance::default(), longest: f64::INFINITY, method: &DOP853 }
    }
}

impl Settings {
    /// The usual method with one number for relative and absolute errors.
    pub fn within(tolerance: f64) -> Self {
        Self { tolerance: Tolerance { relative: tolerance, absolute: tolerance }, ..Self::default() }
    }
}

/// The stages of a step and the step size to try next.
#[derive(Clone, Debug)]
pub struct Stepper<R, const N: usize> {
    settings: Settings,
    slopes: [[R; N]; MOST_STAGES],
    /// The step size to try next, in seconds; zero before the first one.
    pub proposal: f64,
}

impl<R: Number, const N: usize> Stepper<R, N> {
    /// A stepper that chooses its first step.
    pub fn new(settings: Settings) -> Self {
        Self { settings, slopes: [[R::zero(); N]; MOST_STAGES], proposal: 0.0 }
    }

    /// One step of given length: the new coordinates and their error in units of the tolerance.
    pub fn attempt(&mut self, f: &impl Fn(R, &[R; N]) -> [R; N], t: R, z: &[R; N], h: f64) -> ([R; N], f64) {
        let method = self.settings.method;
        self.slopes[0] = f(t, z);
        let mut stage = *z;
        for i in 1..=method.stages {
            stage = self.place(z, h, method.rows[i]);
            if i < method.stages || method.error.len() > method.stages {
                self.slopes[i] = f(t + method.nodes[i] * h, &stage);
            }
        }
        let mut size = self.error(&stage, h, method.error);
        if !method.error_low.is_empty() {
            size = Tableau::combine(size, self.error(&stage, h, method.error_low));
        }
        (stage, size)
    }

    /// Completes the stages of the last attempt, so that [`Stepper::between`] can be asked.
    pub fn complete(&mut self, f: &impl Fn(R, &[R; N]) -> [R; N], t: R, z: &[R; N], h: f64) {
        let method = self.settings.method;
        for i in method.stages..method.all_stages() {
            let stage = self.place(z, h, method.rows[i]);
            self.slopes[i] = f(t + method.nodes[i] * h, &stage);
        }
    }

    /// The coordinates at a part in [0, 1] of the last attempt from `z`, by the continuous output of the method.
    pub fn between(&self, z: &[R; N], h: f64, part: f64) -> [R; N] {
        let mut weights = [0.0; MOST_STAGES];
        self.settings.method.weights(part, &mut weights);
        self.place(z, h, &weights)
    }

    fn place(&self, z: &[R; N], h: f64, weights: &[f64]) -> [R; N] {
        let mut out = *z;
        for (slope, &weight) in self.slopes.iter().zip(weights) {
            if weight != 0.0 {
                for i in 0..N {
                    out[i] = slope[i].scale_plus(weight * h, out[i]);
                }
            }
        }
        out
    }

    fn error(&self, at: &[R; N], h: f64, weights: &[f64]) -> f64 {
        let sum = self.place(&[R::zero(); N], h, weights);
        (0..N).map(|i| R::weigh(sum[i], at[i], self.settings.tolerance)).fold(0.0, worse)
    }

    /// One accepted step, not longer than `most`: the new coordinates and the length.
    ///
    /// # Errors
    /// [`AnalysisError::StepTooSmall`] where no step is short enough, as at a jump of the field.
    pub fn step(
        &mut self,
        f: &impl Fn(R, &[R; N]) -> [R; N],
        t: R,
        z: &[R; N],
        most: f64,
    ) -> Result<([R; N], f64), AnalysisError> {
        let power = 1.0 / f64::from(self.settings.method.error_power);
        if self.proposal == 0.0 {
            // A hundredth of the time in which the coordinates change by their size, or by one.
            let rate = f(t, z);
            let size = |x: &[R; N]| x.iter().fold(0.0, |s, x| worse(s, x.value().abs()));
            self.proposal = 0.01 * (size(z) + 1e-3) / size(&rate).max(1e-3);
        }
        loop {
            let wanted = self.proposal.min(self.settings.longest);
            let h = if wanted >= most { most } else { wanted };
            let (end, error) = self.attempt(f, t, z, h);
            let factor = if error.is_nan() { 0.2 } else { (0.9 * error.max(1e-12).powf(-power)).clamp(0.2, 5.0) };
            if error <= 1.0 {
                self.proposal = if h < wanted { wanted.max(h * factor) } else { h * factor };
                return Ok((end, h));
            }
            self.proposal = h * factor;
            if self.proposal < 4.0 * f64::EPSILON * t.value().abs().max(1e-3) {
                return Err(AnalysisError::StepTooSmall { t: t.value(), h });
            }
        }
    }
}

/// Moves coordinates along the field from a time to another one.
///
/// # Errors
/// [`AnalysisError::StepTooSmall`] as [`Stepper::step`].
pub fn flow<R: Number, const N: usize>(
    field: &impl Field<N>,
    z: &mut [R; N],
    p: &[R],
    from: f64,
    until: f64,
    settings: Settings,
) -> Result<(), AnalysisError> {
    let f = |t: R, z: &[R; N]| field.rate(t, z, p);
    let (mut stepper, mut t) = (Stepper::new(settings), from);
    while t < until {
        let (end, h) = stepper.step(&f, R::from(t), z, until - t)?;
        *z = end;
        t = if h == until - t { until } else { t + h };
    }
    Ok(())
}

/// One step of the classical method of order four, of given length: for long runs and many lanes.
#[inline(always)]
pub fn classical<R: Real, const N: usize>(f: impl Fn(R, &[R; N]) -> [R; N], t: f64, z: &[R; N], h: f64) -> [R; N] {
    let moved = |k: &[R; N], part: f64| {
        let mut out = *z;
        for i in 0..N {
            out[i] = k[i].scale_plus(part, z[i]);
        }
        out
    };
    let (start, middle, end) = (R::from(t), R::from(t + 0.5 * h), R::from(t + h));
    let first = f(start, z);
    let second = f(middle, &moved(&first, 0.5 * h));
    let third = f(middle, &moved(&second, 0.5 * h));
    let fourth = f(end, &moved(&third, h));
    let mut out = *z;
    for i in 0..N {
        out[i] = z[i] + (first[i] + fourth[i] + (second[i] + third[i]) * 2.0) * (h / 6.0);
    }
    out
}

/// Coordinates as jets whose derivatives are the unit vectors.
pub fn seeded<const N: usize>(z: &[f64; N]) -> [Jet<f64, N>; N] {
    std::array::from_fn(|i| Jet::variable(z[i], i))
}
