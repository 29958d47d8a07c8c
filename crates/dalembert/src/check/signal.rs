//! Laws of signals.

use super::random::pack;
use super::{Law, Random, STEPS, Violation, agree, agree_slope, no_defect, same_bits};
use crate::signals::Signal;
use dalembert_methods::Jet;
use dalembert_methods::scalar::Dual2;

/// The laws every signal keeps.
pub const LAWS: &[Law<Signal>] = &[
    Law { name: "sample", holds: |signal, _| no_defect(signal.defect()) },
    Law { name: "derivative", holds: derivative },
    Law { name: "lanes", holds: lanes },
];

/// First derivatives by jets against differences of values, second against differences of the first.
fn derivative(signal: &Signal, random: &mut Random) -> Result<(), Violation> {
    let t = 2.0 * random.number();
    let at = |t: f64| -> Dual2 { signal.at(Jet::new(Jet::new(t, 1.0), Jet::new(1.0, 0.0))) };
    let (mid, around) = (at(t), STEPS.map(|h| at(t + h)));
    agree("value", mid.re.re, signal.at(t), 0.0, 4.0 * f64::EPSILON)?;
    agree_slope("first derivative", mid.re.eps[0], around.map(|s| s.re.re), 1.0)?;
    agree_slope("second derivative", mid.eps[0].eps[0], around.map(|s| s.re.eps[0]), 1.0)
}

fn lanes(signal: &Signal, random: &mut Random) -> Result<(), Violation> {
    let times: [f64; 4] = std::array::from_fn(|_| 3.0 * random.number());
    let wide = signal.at(pack(|k| times[k]));
    (0..4).try_for_each(|k| same_bits("value", wide, k, signal.at(times[k])))
}
