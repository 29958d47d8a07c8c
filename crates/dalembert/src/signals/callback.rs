//! A signal whose function a program gives; see [`crate::callback`].

use crate::callback::{CallbackError, Function, Held, KIND, NO_FORMULA};
use crate::element::Describe;
use dalembert_methods::Real;
use std::sync::Arc;

/// A function of time from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Callback(pub(crate) Held<dyn Function>);

/// The longest stencil: orders up to six need eleven points at most.
const POINTS: usize = 11;

impl Callback {
    /// A function under the name of its entry.
    pub(crate) fn new(name: &str, function: &Arc<dyn Function>, callbacks: &crate::callback::Callbacks) -> Self {
        let (function, faults) = (Arc::clone(function), Arc::clone(&callbacks.faults));
        Self(Held { name: format!("signal.{name}"), function, faults })
    }

    /// The value at time t, in s.
    pub fn at<R: Real>(&self, t: R) -> R {
        match t.outside(0, &mut |t, out| self.derivatives(t, out)) {
            Some([value, ..]) => value,
            None => {
                let (name, message) = (self.0.name.clone(), NO_FORMULA.to_owned());
                self.0.faults.set(CallbackError { name, time: f64::NAN, message });
                R::from(f64::NAN)
            }
        }
    }

    /// Value and derivatives at one time. Derivatives that are not known are central differences of second order, all from one call: the derivative of
    /// order k with the step h = ε^(1/(k+2)) max(1, |t|), where truncation and rounding are of one size, ε^(2/(k+2)).
    fn derivatives(&self, t: f64, out: &mut [f64]) {
        self.0.ask(t, out, |function, out| {
            let mut order = 1;
            while order < out.len() {
                let Some(known) = function.derivative(order, t) else { break };
                out[order] = known?;
                order += 1;
            }
            let [mut times, mut values] = [[0.0; 1 + 6 * POINTS]; 2];
            times[0] = t;
            let mut count = 1;
            for k in order..out.len() {
                let h = step(k, t);
                for j in 0..=k {
                    times[count] = t + (j as f64 - k as f64 / 2.0) * h;
                    count += 1;
                }
            }
            function.values(&times[..count], &mut values[..count])?;
            out[0] = values[0];
            let mut used = 1;
            for k in order..out.len() {
                // δᵏf = Σ (−1)^(k−j) (k over j) f(t + (j − k/2) h)
                let (mut sum, mut binomial) = (0.0, 1.0);
                for j in 0..=k {
                    let sign = if (k - j).is_multiple_of(2) { 1.0 } else { -1.0 };
                    sum += sign * binomial * values[used + j];
                    binomial *= (k - j) as f64 / (j + 1) as f64;
                }
                out[k] = sum / step(k, t).powi(k as i32);
                used += k + 1;
            }
            Ok(())
        });
    }
}

fn step(order: usize, t: f64) -> f64 {
    f64::EPSILON.powf(1.0 / (order + 2) as f64) * t.abs().max(1.0)
}

impl Describe for Callback {
    fn kind(&self) -> &'static str {
        KIND
    }
    fn parameters(&self) -> serde_json::Map<String, serde_json::Value> {
        serde_json::Map::new()
    }
}
