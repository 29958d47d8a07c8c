//! Poincaré sections: the states at which a motion passes a surface g(s) = 0 in the rising direction.
//!
//! The sign of g is watched at the ends of intervals; in an interval with a change the crossing is located by Chandrupatla's method, each trial being
//! the motion itself from the beginning of the interval. So points of a section are as good as the motion.
//!
//! Reference: Hénon: On the numerical computation of Poincaré maps, Physica D 5 (1982) 412–414, whose change of variable the bracket replaces.

use crate::dense::Matrix;
use crate::error::AnalysisError;
use crate::field::Settings;
use crate::motion::Motion;
use dalembert_methods::events::zero;
use dalembert_methods::system::{State, System};

/// How closely crossings are located, relative to an interval.
const LOCATION: f64 = 1e-13;

/// Where a section is and how much of it is wanted.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Watch {
    /// The time between two looks at the function in seconds: two crossings within it are missed.
    pub interval: f64,
    /// Crossings that are passed over first.
    pub skipped: usize,
    /// Crossings that are kept.
    pub kept: usize,
    /// The longest time of the motion in seconds.
    pub longest: f64,
}

/// The states of a motion at rising zeros of a function.
///
/// # Errors
/// [`AnalysisError::NoEvent`] if there are not as many crossings as wanted within the longest time, and those of the motion.
pub fn crossings<Y: System>(
    y: &Y,
    start: &State<f64>,
    function: impl Fn(&State<f64>) -> f64,
    watch: &Watch,
    settings: Settings,
) -> Result<Vec<State<f64>>, AnalysisError> {
    crossings_while(y, start, function, watch, settings, &mut || true)
}

/// The same, as long as `keep_on` says so: it is asked after every interval, and the passages until then are kept.
///
/// # Errors
/// As [`crossings`].
pub fn crossings_while<Y: System>(
    y: &Y,
    start: &State<f64>,
    function: impl Fn(&State<f64>) -> f64,
    watch: &Watch,
    settings: Settings,
    keep_on: &mut dyn FnMut() -> bool,
) -> Result<Vec<State<f64>>, AnalysisError> {
    let mut motion = Motion::new(y, settings);
    let mut none = Matrix::zeros(motion.variation().size(), 0);
    let (mut here, mut value) = (start.clone(), function(start));
    let (mut passed, mut out) = (0, Vec::new());
    let mut round = 0.0;
    while out.len() < watch.kept && keep_on() {
        round += 1.0;
        let until = start.t + round * watch.interval;
        if until > start.t + watch.longest {
            return Err(AnalysisError::NoEvent { t: here.t });
        }
        let mut there = here.clone();
        motion.advance(&mut there, &mut none, until)?;
        let next = function(&there);
        if value < 0.0 && next >= 0.0 {
            passed += 1;
            if passed > watch.skipped {
                let mut failure = None;
                let mut at = |part: f64| {
                    let mut s = here.clone();
                    let mut motion = Motion::new(y, settings);
                    let mut none = Matrix::zeros(none.rows(), 0);
                    match motion.advance(&mut s, &mut none, here.t + part) {
                        Ok(()) => Some(s),
                        Err(error) => {
                            failure = Some(error);
                            None
                        }
                    }
                };
                let length = until - here.t;
                let mut sample = |part: f64| match part {
                    0.0 => value,
                    _ => at(part).map_or(f64::NAN, |s| function(&s)),
                };
                let part = zero(&mut sample, [0.0, length], [value, next], LOCATION * length);
                let found = if part > 0.0 { at(part) } else { Some(here.clone()) };
                match (found, failure) {
                    (Some(s), None) => out.push(s),
                    (_, Some(error)) => return Err(error),
                    (None, None) => return Err(AnalysisError::NoEvent { t: here.t }),
                }
            }
        }
        (here, value) = (there, next);
    }
    Ok(out)
}
