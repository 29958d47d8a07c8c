//! The search for gaits without a guess: the evolution strategy from several distant centres, then Newton's method.
//!
//! The first try starts about the reference state. Each further one looks first at places that lie twice as far about it as those of the try before, and starts at the one from which a stride ends
//! nearest to where it began; places without a stride do not count. Where gaits are known the goal is raised (deflation), so that others are found.

use super::{Gait, Stride, gait};
use crate::dense::Matrix;
use crate::error::AnalysisError;
use crate::evolution::{self, Random, minimise_on_all_cores};
use crate::field::Settings;
use crate::sweep::parallel;
use dalembert_methods::nonsmooth::Contacts;

/// Points of a generation of the evolution strategy for each coordinate, and the goal at which it ends.
const POINTS: usize = 6;
const GOAL: f64 = 1e-7;
/// Places at which a further try looks first, for each coordinate.
const SCATTERED: usize = 60;
/// How much further about the reference each try looks.
const FURTHER: f64 = 2.0;
/// The tolerance of motions in a search: Newton's method is to start there.
pub const ROUGH: f64 = 1e-7;
/// Gaits whose coordinates differ by less than this are the same.
const SAME: f64 = 1e-6;

/// How gaits are searched for.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Search {
    /// By what each coordinate of the chart varies in the first try.
    pub spread: f64,
    /// The shortest time of a stride that counts, in seconds.
    pub shortest: f64,
    /// The first seed; each try has the next one.
    pub seed: u64,
    /// Most generations of a try.
    pub generations: usize,
    /// Tries for each gait.
    pub tries: usize,
    /// The tolerance of Newton's method.
    pub near: f64,
}

/// A place in the chart from which Newton's method may start, found without a guess by the evolution strategy: strides that end near their start
/// and take at least a given time in seconds. `spread` is by what each coordinate varies about the reference.
pub fn search<Y: Contacts + Sync>(
    model: &Y,
    stride: &Stride<'_>,
    spread: f64,
    shortest: f64,
    options: &evolution::Options,
) -> evolution::Found {
    let goal = |z: &[f64]| goal(model, stride, spread, shortest, &[], z);
    let d = stride.section.size();
    minimise_on_all_cores(&goal, &vec![0.0; d], &vec![spread; d], options)
}

/// The squared distance of the end of a stride from its start, away from gaits that are known, given by their coordinates in the chart: it is multiplied by 1 + r²/|z − known|² for each
/// of them, with r the spread. It is no longer zero there, and almost the same elsewhere.
fn goal<Y: Contacts>(
    model: &Y,
    stride: &Stride<'_>,
    spread: f64,
    shortest: f64,
    known: &[Vec<f64>],
    z: &[f64],
) -> Option<f64> {
    let apart = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum() };
    let start = stride.section.lift(model, z).ok()?;
    let end = stride.run(model, &start, &mut Matrix::zeros(2 * start.v.len(), 0)).ok()?;
    let far = apart(&stride.section.chart(&end.state), z);
    let deflation: f64 = known.iter().map(|k| 1.0 + spread * spread / apart(z, k)).product();
    (end.time >= shortest).then_some(far * deflation)
}

/// As many different gaits as are wanted, if the search finds them; fewer if all tries for another one fail. `keep_on` is asked before each try, `say` hears how it goes.
///
/// # Errors
/// Why the last try failed, if no gait is found at all; [`AnalysisError::Stopped`] if none was allowed.
pub fn gaits<Y: Contacts + Sync>(
    model: &Y,
    stride: &Stride<'_>,
    search: &Search,
    wanted: usize,
    keep_on: &mut dyn FnMut() -> bool,
    say: &mut dyn FnMut(&str),
) -> Result<Vec<Gait>, AnalysisError> {
    let d = stride.section.size();
    let tolerance = stride.settings.tolerance.relative.max(ROUGH);
    let rough = Stride { settings: Settings::within(tolerance), ..stride.clone() };
    let (mut found, mut last): (Vec<Gait>, AnalysisError) = (Vec::new(), AnalysisError::Stopped);
    let mut seed = search.seed;
    while found.len() < wanted.max(1) {
        let known: Vec<Vec<f64>> = found.iter().map(|gait| gait.cycle.state.clone()).collect();
        let goal = |z: &[f64]| goal(model, &rough, search.spread, search.shortest, &known, z);
        let mut another = None;
        for attempt in 0..search.tries.max(1) {
            if !keep_on() {
                break;
            }
            let population = POINTS * d;
            let choice = evolution::Options { seed, population, generations: search.generations, goal: GOAL };
            let mut centre = vec![0.0; d];
            if attempt > 0 {
                let reach = search.spread * FURTHER.powi(i32::try_from(attempt).unwrap_or(i32::MAX));
                let (places, best) = scatter(&goal, d, reach, seed);
                say(&format!("seed {seed}: {places} of {} places within {reach:.2} have a stride", SCATTERED * d));
                centre = best.unwrap_or(centre);
            }
            let start = minimise_on_all_cores(&goal, &centre, &vec![search.spread; d], &choice);
            say(&format!(
                "evolution strategy, seed {seed}: end and start differ by {:.1e} after {} generations of {population}",
                start.value.sqrt(),
                start.generations
            ));
            seed += 1;
            match gait(model, stride, &start.point, search.near) {
                Ok(gait) if gait.time < search.shortest => {
                    last = AnalysisError::Invalid { reason: format!("the gait found takes {} s only", gait.time) };
                }
                Ok(gait) if known.iter().any(|k| same(k, &gait.cycle.state)) => {
                    last = AnalysisError::Invalid { reason: "only a gait that is known was found again".to_owned() };
                }
                Ok(gait) => {
                    another = Some(gait);
                    break;
                }
                Err(error) => last = error,
            }
        }
        match another {
            Some(gait) => found.push(gait),
            None => break,
        }
    }
    if found.is_empty() {
        return Err(last);
    }
    if found.len() < wanted {
        say(&format!("{} of {wanted} gaits were found; try more seeds or another spread", found.len()));
    }
    Ok(found)
}

/// How many of some places about the reference have a goal, and which is the best.
fn scatter(
    goal: &(dyn Fn(&[f64]) -> Option<f64> + Sync),
    d: usize,
    reach: f64,
    seed: u64,
) -> (usize, Option<Vec<f64>>) {
    let mut random = Random::new(seed);
    let places: Vec<Vec<f64>> = (0..SCATTERED * d).map(|_| (0..d).map(|_| reach * random.normal()).collect()).collect();
    let values = parallel(places.len(), |k| goal(&places[k]).filter(|value| value.is_finite()));
    let some = values.iter().filter(|value| value.is_some()).count();
    let valued = values.into_iter().zip(places).filter_map(|(value, place)| Some((value?, place)));
    (some, valued.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, place)| place))
}

/// Whether two gaits are one.
fn same(one: &[f64], other: &[f64]) -> bool {
    one.iter().zip(other).all(|(a, b)| (a - b).abs() < SAME)
}
