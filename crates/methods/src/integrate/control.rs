//! Step-size control and the error norm, shared by all methods with error estimates.
//!
//! The error of a step is the *largest* component of the estimate in units of its weight w = absolute + tolerance·|y|, not a
//! mean: in a mean over many bodies the one that moves fast is drowned by those at rest. A step is accepted where the
//! error is at most 1. Weights are floored at a few units in the last place, so that no step is ever rejected for rounding.
//!
//! The next step follows the PI rule (\[1\] eq. IV.2.43, with the exponents of DOPRI5)
//! h ← h · safety · e^{−(1/k − 0.75 β)} · e_before^{β}, where the estimate behaves like h^k. With β = 0 it is the smaller one of
//! h · safety · e^{−1/k} and what the change of the error since the step before predicts (\[1\] eq. IV.8.20, \[2\]),
//! h · safety · e^{−1/k} · (h / h_before) (e_before / e)^{1/k}: where forces grow steeply, as at contacts, it rejects half as many steps.
//!
//! References: \[1\] Hairer, Wanner: Solving Ordinary Differential Equations II, 2nd ed., Springer 1996, section IV.2;
//! \[2\] Gustafsson: Control theoretic techniques for stepsize selection in explicit Runge–Kutta methods, ACM TOMS 17 (1991).

/// The tolerance of a run.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Tolerance {
    /// Allowed error relative to the size of a component.
    pub relative: f64,
    /// Allowed error of components of size zero, in the component's own SI unit.
    pub absolute: f64,
}

impl Tolerance {
    /// Both tolerances; an absolute one of zero stands for the same number as the relative one.
    pub fn new(relative: f64, absolute: f64) -> Self {
        Self { relative, absolute: if absolute > 0.0 { absolute } else { relative } }
    }

    /// The error allowed in a component of this size, at least eight units in the last place of it.
    #[inline]
    pub fn weight(&self, size: f64) -> f64 {
        (self.absolute + self.relative * size).max(8.0 * f64::EPSILON * size).max(f64::MIN_POSITIVE)
    }
}

/// The largest of many errors, and where it is.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Largest {
    /// The largest magnitude so far.
    pub value: f64,
    /// Its index.
    pub index: usize,
}

impl Largest {
    /// Takes in one more value; one that is not a number counts as infinite.
    #[inline]
    pub fn see(&mut self, index: usize, value: f64) {
        let size = value.abs();
        let size = if size.is_nan() { f64::INFINITY } else { size };
        if size > self.value {
            *self = Self { value: size, index };
        }
    }
}

/// The PI controller of a step size.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Controller {
    power: f64,
    beta: f64,
    safety: f64,
    change: [f64; 2],
    /// Error and length of the step accepted last; no length if there was none.
    before: f64,
    step: f64,
    rejected: bool,
}

impl Controller {
    /// A controller for an estimate that behaves like h^`power`; `change` bounds the factor of one step.
    pub fn new(power: u32, beta: f64, safety: f64, change: [f64; 2]) -> Self {
        Self { power: f64::from(power), beta, safety, change, before: 1e-4, step: 0.0, rejected: false }
    }

    /// Forgets the past, as at the start.
    pub fn reset(&mut self) {
        (self.before, self.step, self.rejected) = (1e-4, 0.0, false);
    }

    /// The factor for the next step after one of this length and error was accepted.
    pub fn accept(&mut self, h: f64, error: f64) -> f64 {
        let exponent = 1.0 / self.power - 0.75 * self.beta;
        let error = error.max(f64::MIN_POSITIVE);
        let mut factor = self.safety * error.powf(-exponent) * self.before.powf(self.beta);
        let last = error.max(1e-4);
        if self.beta == 0.0 && self.step > 0.0 {
            factor *= (h / self.step * (self.before / last).powf(exponent)).min(1.0);
        }
        let most = if self.rejected { 1.0 } else { self.change[1] };
        (self.before, self.step, self.rejected) = (last, h, false);
        factor.clamp(self.change[0], most)
    }

    /// The factor for the next attempt after one of this error was rejected.
    pub fn reject(&mut self, error: f64) -> f64 {
        self.rejected = true;
        if !error.is_finite() {
            return 0.5;
        }
        (self.safety * error.powf(-1.0 / self.power)).clamp(self.change[0], 0.9)
    }

    /// What the next factor depends on.
    pub fn memory(&self) -> [f64; 3] {
        [self.before, self.step, f64::from(u8::from(self.rejected))]
    }

    /// Takes over a memory.
    pub fn recall(&mut self, memory: [f64; 3]) {
        (self.before, self.step, self.rejected) = (memory[0], memory[1], memory[2] != 0.0);
    }
}

/// Where a step of length `h` from `t` should end: at `until` if it reaches it (nearly), half-way if what would be left is
/// less than a step, so that no tiny last step results.
pub fn land(t: f64, h: f64, until: f64) -> f64 {
    let left = until - t;
    if left <= 1.01 * h {
        until
    } else if left < 2.0 * h {
        t + 0.5 * left
    } else {
        t + h
    }
}

/// The shortest step that time can resolve at `t`.
pub fn shortest_step(t: f64) -> f64 {
    16.0 * f64::EPSILON * t.abs().max(f64::MIN_POSITIVE / f64::EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a pure model e = (h/h*)^k the controller settles at e = safety^{1/(1/k + 0.25 β)} ≈ safety^k.
    #[test]
    fn the_controller_settles() {
        for (power, beta) in [(5, 0.04), (8, 0.0)] {
            let mut controller = Controller::new(power, beta, 0.9, [0.2, 10.0]);
            let mut h = 1e-3_f64;
            for _ in 0..400 {
                let error = h.powi(power as i32);
                h *= if error <= 1.0 { controller.accept(h, error) } else { controller.reject(error) };
            }
            // Fixed point: 1 = safety · e^{−1/k + 0.75β + β}.
            let exponent = 1.0 / f64::from(power) - 1.75 * beta;
            let settled = 0.9_f64.powf(1.0 / exponent);
            assert!((h.powi(power as i32) / settled - 1.0).abs() < 1e-9, "{}", h.powi(power as i32));
        }
    }

    /// Where e = (h g)^k and g grows by 1.2 from step to step, safety alone would not keep up: 0.9 · 1.2 > 1.
    #[test]
    fn steeper_and_steeper_errors_are_foreseen() {
        let mut controller = Controller::new(8, 0.0, 0.9, [0.2, 10.0]);
        let (mut h, mut steepness, mut rejected) = (0.9_f64, 1.0_f64, 0);
        for _ in 0..30 {
            loop {
                let error = (h * steepness).powi(8);
                if error <= 1.0 {
                    h *= controller.accept(h, error);
                    break;
                }
                rejected += 1;
                h *= controller.reject(error);
            }
            steepness *= 1.2;
        }
        // Only the first step has no step before it.
        assert_eq!(rejected, 1);
    }

    #[test]
    fn no_growth_after_a_rejection() {
        let mut controller = Controller::new(5, 0.04, 0.9, [0.2, 10.0]);
        assert_eq!(controller.reject(f64::NAN), 0.5);
        assert_eq!(controller.accept(1.0, 1e-12), 1.0);
        assert!(controller.accept(1.0, 1e-12) > 1.0);
    }

    #[test]
    fn steps_land_on_the_end_without_a_tiny_last_one() {
        assert_eq!(land(0.0, 1.0, 1.005), 1.005);
        assert_eq!(land(0.0, 1.0, 1.5), 0.75);
        assert_eq!(land(0.0, 1.0, 2.5), 1.0);
        assert_eq!(land(0.0, f64::INFINITY, 2.5), 2.5);
    }

    #[test]
    fn weights_never_fall_below_rounding() {
        let tolerance = Tolerance::new(1e-18, 0.0);
        assert_eq!(tolerance.weight(1.0), 8.0 * f64::EPSILON);
        assert_eq!(tolerance.absolute, 1e-18);
        let mut largest = Largest::default();
        for (i, e) in [0.5, -2.0, 1.0].into_iter().enumerate() {
            largest.see(i, e);
        }
        assert_eq!(largest, Largest { value: 2.0, index: 1 });
        largest.see(7, f64::NAN);
        assert_eq!(largest, Largest { value: f64::INFINITY, index: 7 });
    }
}
