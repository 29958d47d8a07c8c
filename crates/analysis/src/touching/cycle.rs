//! Periodic motions with contacts: the matrix of a period, by saltation and by differences, and the search for a cycle.
//!
//! The search is that of motions without events ([`crate::motion`]); what carries changes through a period passes events. A cycle that nothing drives has a period
//! of its own, which is one more unknown. A cycle that grazes a contact has no multipliers, and is an error that names it.

use super::graze::nearest_graze;
use super::saltation::lifted;
use super::{flow, opening};
use crate::dense::Matrix;
use crate::error::AnalysisError;
use crate::field::Settings;
use crate::motion::{LATER, Motion, Orbit, REPEATED, coordinates, newton, not_repeated};
use dalembert_methods::nonsmooth::{Contacts, Hybrid, Options};
use dalembert_methods::scalar::Dual;
use dalembert_methods::system::{State, System};

/// A search that ended at a part of the way of the motion above this was not near to a cycle.
const CLOSE: f64 = 1e-2;
/// A cycle whose margin from grazing is below this many times its own tolerance cannot be told from one that grazes.
const BLURRED: f64 = 10.0;

/// The matrix of one period of a motion with contacts, in a basis of changes; and where it is then.
///
/// # Errors
/// Those of [`flow`].
pub fn monodromy<Y: Contacts>(
    model: &Y,
    s: &State<f64>,
    period: f64,
    options: &Options,
    settings: Settings,
) -> Result<(Matrix, State<f64>), AnalysisError> {
    let hybrid = opening(model, s, options)?;
    let basis = Motion::new(&hybrid, settings).basis(s)?;
    let (mut end, mut columns) = (s.clone(), basis.clone());
    flow(model, &mut end, &mut columns, s.t + period, options, settings)?;
    Ok((coordinates(&basis, &columns)?, end))
}

/// The matrix of one period by central differences of fourth order of motions, with a step: an independent check of [`monodromy`].
///
/// # Errors
/// Those of [`flow`].
pub fn differences<Y: Contacts>(
    model: &Y,
    s: &State<f64>,
    period: f64,
    step: f64,
    options: &Options,
    settings: Settings,
) -> Result<Matrix, AnalysisError> {
    let hybrid = opening(model, s, options)?;
    let mut motion = Motion::new(&hybrid, settings);
    let basis = motion.basis(s)?;
    let mut none = Matrix::zeros(basis.rows(), 0);
    let mut reference = s.clone();
    flow(model, &mut reference, &mut none, s.t + period, options, settings)?;
    let mut out = Matrix::zeros(basis.rows(), basis.cols());
    for j in 0..basis.cols() {
        let mut moved = |times: f64| -> Result<Vec<f64>, AnalysisError> {
            let mut at = s.clone();
            let change: Vec<f64> = basis.column(j).iter().map(|c| times * step * c).collect();
            motion.shift(&mut at, &change)?;
            flow(model, &mut at, &mut none, s.t + period, options, settings)?;
            motion.difference(&reference, &at)
        };
        let [a, b, c, e] = [moved(-2.0)?, moved(-1.0)?, moved(1.0)?, moved(2.0)?];
        let column: Vec<f64> = (0..a.len()).map(|i| (a[i] - 8.0 * b[i] + 8.0 * c[i] - e[i]) / (12.0 * step)).collect();
        out.set_column(j, &column);
    }
    coordinates(&basis, &out)
}

/// Whether something drives a model with contacts: its equations, or the places of its contacts, depend on time.
///
/// # Errors
/// Those of the accelerations.
pub fn driven<Y: Contacts>(model: &Y, s: &State<f64>) -> Result<bool, AnalysisError> {
    let hybrid = Hybrid::new(model);
    if Motion::new(&hybrid, Settings::default()).driven(s)? {
        return Ok(true);
    }
    let none = vec![0.0; 2 * s.v.len() + s.x.len()];
    Ok(LATER.iter().any(|later| {
        let mut at = s.clone();
        at.t += later;
        places(&hybrid, &at, &none).iter().any(|place| place.eps[0] != 0.0)
    }))
}

/// Gaps and rates of all contacts, with their derivatives by time.
fn places<Y: Contacts>(hybrid: &Hybrid<'_, Y>, s: &State<f64>, none: &[f64]) -> Vec<Dual> {
    let count = hybrid.modes().len();
    let (state, mut work) = lifted(hybrid, s, none, 1.0);
    hybrid.prepare(&state, &mut work);
    let (mut gap, mut rate) = (vec![Dual::default(); count], vec![Dual::default(); hybrid.start(count)]);
    hybrid.kinematics(&state, &mut work, &mut gap, &mut rate);
    gap.into_iter().chain(rate).collect()
}

/// Whether what drives equations and contacts is the same a period later.
fn repeats<Y: Contacts>(hybrid: &Hybrid<'_, Y>, s: &State<f64>, period: f64) -> Result<bool, AnalysisError> {
    let none = vec![0.0; 2 * s.v.len() + s.x.len()];
    let same = LATER.iter().all(|later| {
        let mut at = s.clone();
        at.t += later;
        let before = places(hybrid, &at, &none);
        at.t += period;
        let after = places(hybrid, &at, &none);
        before.iter().zip(&after).all(|(a, b)| (a.re - b.re).abs() <= REPEATED * (1.0 + a.re.abs()))
    });
    Ok(same && Motion::new(hybrid, Settings::default()).repeats(s, period)?)
}

/// A periodic motion of a model with contacts near a state. Modes at its beginning are those of that state. The period is given if something drives the model, and a
/// guess if not.
///
/// # Errors
/// Those of [`flow`], [`AnalysisError::NotIsolated`], [`AnalysisError::Grazing`] for a cycle that cannot be told from one that grazes, [`AnalysisError::NotConverged`],
/// and [`AnalysisError::NearGrazing`] if the search ended beside one that does.
pub fn orbit<Y: Contacts>(
    model: &Y,
    start: &State<f64>,
    period: f64,
    tolerance: f64,
    options: &Options,
    settings: Settings,
) -> Result<Orbit, AnalysisError> {
    let (hybrid, driven) = (opening(model, start, options)?, driven(model, start)?);
    if driven && !repeats(&hybrid, start, period)? {
        return Err(not_repeated(period));
    }
    // The last start from which changes were carried, and its period.
    let mut last = (start.clone(), period);
    let mut carry = |s: &State<f64>, time: f64, columns: &mut Matrix| {
        if columns.cols() > 0 {
            last = (s.clone(), time);
        }
        let mut end = s.clone();
        flow(model, &mut end, columns, s.t + time, options, settings)?;
        Ok(end)
    };
    let found = newton(&hybrid, &mut carry, start, period, driven, tolerance, settings);
    let graze = |s: &State<f64>, time: f64| nearest_graze(model, s, time, options, settings);
    match found {
        Ok(found) => match graze(&found.state, found.period)? {
            Some(graze) if graze.margin < BLURRED * tolerance * (1.0 + graze.reach) => {
                Err(AnalysisError::Grazing { t: graze.t, guard: graze.contact, speed: graze.speed })
            }
            _ => Ok(found),
        },
        Err(AnalysisError::NotConverged { what, iterations, residual, advice }) => {
            match graze(&last.0, last.1)
                .ok()
                .flatten()
                .filter(|graze| graze.is_near() && residual < CLOSE * graze.reach)
            {
                Some(graze) => Err(AnalysisError::NearGrazing { what, iterations, residual, graze: graze.told() }),
                None => Err(AnalysisError::NotConverged { what, iterations, residual, advice }),
            }
        }
        Err(error) => Err(error),
    }
}
