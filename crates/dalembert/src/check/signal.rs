//! Laws of signals.

use super::random::pack;
use super::{DIFFERENCE, Law, Random, STEP, Violation, agree, no_defect, same_bits};
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
    let (left, mid, right) = (at(t - STEP), at(t), at(t + STEP));
    agree("value", mid.re.re, signal.at(t), 0.0, 4.0 * f64::EPSILON)?;
    agree("first derivative", mid.re.eps[0], (right.re.re - left.re.re) / (2.0 * STEP), 1.0, DIFFERENCE)?;
    agree("second derivative", mid.eps[0].eps[0], (right.re.eps[0] - left.re.eps[0]) / (2.0 * STEP), 1.0, DIFFERENCE)
}

fn lanes(signal: &Signal, random: &mut Random) -> Result<(), Violation> {
    let times: [f64; 4] = std::array::from_fn(|_| 3.0 * random.number());
    let wide = signal.at(pack(|k| times[k]));
    (0..4).try_for_each(|k| same_bits("value", wide, k, signal.at(times[k])))
}
