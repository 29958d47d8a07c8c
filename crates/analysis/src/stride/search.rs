//! The search for gaits without a guess: places of low discrepancy, the evolution strategy from the best of them, then Newton's method.
//!
//! The search goes through a box of the section about the reference state, or about the middle of given ranges. Coordinates vary in it by the spread r, velocities by √(a r) with the largest acceleration a
//! at the reference: what a coordinate gains on the way r. In units of the box u, where the end of a stride is P(u), the goal is
//!
//! ```text
//! |P(u) − u|² Π (1 + 1/|u − known|²)          over the gaits that are known (deflation)
//! ```
//!
//! and for places without a stride large and graded: strides that are too short are better than those through other events, these better than none in time, these better than
//! motions that cannot be computed or come to rest. Strides of the search are computed to a rough tolerance and without derivatives.
//!
//! Each try looks at places of Halton's sequence \[1\], each further one in a box twice as large and with points of its own. Where there is a stride it walks on for some strides, and takes the place
//! on the way with the least goal: what a stride forgets is then as it should be, and stable gaits are met at once. This is the goal of the evolution strategy, too. It strategy begins at the best places that are not near to each
//! other, with twice as many points in each further try \[2\]; Newton's method begins where it ends. Gaits come in pairs at folds: beside a known one another is looked for in the direction in which
//! strides differ least from their starts. Nothing depends on the number of threads.
//!
//! References: \[1\] Halton: On the efficiency of certain quasi-random sequences of points in evaluating multi-dimensional integrals, Numer. Math. 2 (1960) 84–90; \[2\] Auger, Hansen: A restart CMA
//! evolution strategy with increasing population size, IEEE CEC 2005, 1769–1776.

use super::{Gait, Stride, disturbed_from, gait};
use crate::dense::Matrix;
use crate::eigen::symmetric;
use crate::error::AnalysisError;
use crate::evolution::{self, Found, minimise_on_all_cores};
use crate::field::Settings;
use crate::sweep::parallel;
use dalembert_methods::dynamics::{Dynamics, Rates};
use dalembert_methods::nonsmooth::Contacts;
use dalembert_methods::system::System;

/// The goal at which the evolution strategy ends: a hundredth of the box is near enough for Newton's method.
const GOAL: f64 = 1e-4;
/// Places at which a try looks first, for each coordinate.
const SCATTERED: usize = 60;
/// From how many of them the evolution strategy starts, how far these are apart, and by what it varies at most and at least, as parts of the box.
pub const STARTS: usize = 4;
const APART: f64 = 0.15;
const STEP: f64 = 0.1;
const LEAST: f64 = 0.01;
/// How much further about the reference each try looks.
const FURTHER: f64 = 2.0;
/// The tolerance of motions in a search: Newton's method is to start there.
pub const ROUGH: f64 = 1e-7;
/// Gaits whose coordinates differ by less than this are the same.
const SAME: f64 = 1e-6;
/// What places without a stride have for a goal.
const BAD: f64 = 1e6;
/// The shortest stride unless given, as a part of the time in which the largest acceleration makes the way of the spread.
const SHORT: f64 = 2.0;
/// Strides that are walked from each place that has one, and how far beside a known gait others are looked for, as parts of the box.
const WALKED: usize = 20;
const BESIDE: [f64; 6] = [0.02, -0.02, 0.05, -0.05, 0.12, -0.12];
/// Parts of tangents that are rounding.
const NONE: f64 = 1e-9;

/// How gaits are searched for.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// By how much coordinates vary, in rad and m.
    pub spread: f64,
    /// Ranges of coordinates, or of velocities, which are numbered after them, instead.
    pub ranges: Vec<(usize, [f64; 2])>,
    /// The shortest time of a stride that counts, in seconds; zero for a part of the time that falls take.
    pub shortest: f64,
    /// The first seed; each try has the next one.
    pub seed: u64,
    /// Most generations of the evolution strategy in a try, shared by its starts.
    pub generations: usize,
    /// Tries for each gait.
    pub tries: usize,
    /// The tolerance of Newton's method.
    pub near: f64,
}

/// A place in the chart from which Newton's method may start, found without a guess by the evolution strategy alone: strides that end near their start
/// and take at least a given time in seconds. `spread` is by what each coordinate varies about the reference.
pub fn search<Y: Contacts + Sync>(
    model: &Y,
    stride: &Stride<'_>,
    spread: f64,
    shortest: f64,
    options: &evolution::Options,
) -> Found {
    let d = stride.section.size();
    let space = Space { centre: vec![0.0; d], widths: vec![spread; d], shortest };
    let goal = |u: &[f64]| Some(space.goal(model, stride, u));
    let mut found = minimise_on_all_cores(&goal, &vec![0.0; d], &vec![1.0; d], options);
    found.point = space.place(&found.point);
    found.value *= spread * spread;
    found
}

/// A place in units of the box, and its goal.
type Judged = (Vec<f64>, f64);

/// The box of the section that is searched.
struct Space {
    /// Its middle in the chart, and half of what it measures.
    centre: Vec<f64>,
    widths: Vec<f64>,
    /// The shortest stride that counts, in seconds.
    shortest: f64,
}

impl Space {
    fn new<Y: Contacts>(model: &Y, stride: &Stride<'_>, search: &Search) -> Result<Self, AnalysisError> {
        let section = stride.section;
        let (reference, n) = (&section.reference, model.shape().v);
        let hybrid = section.closed(model, &[]);
        let mut rates = Rates::zeros(hybrid.shape());
        Dynamics::new(&hybrid).evaluate(&hybrid, reference, &mut rates)?;
        let fastest = rates.v.iter().fold(0.0f64, |max, a| max.max(a.abs()));
        let speed = if fastest > 0.0 { (fastest * search.spread).sqrt() } else { search.spread };
        let mut reach: Vec<f64> = (0..2 * n).map(|i| if i < n { search.spread } else { speed }).collect();
        let at = |i: usize| if i < n { reference.q[i] } else { reference.v[i - n] };
        let mut change = Vec::new();
        for &(i, [from, to]) in &search.ranges {
            reach[i] = 0.5 * (to - from).abs();
            change.push((i, 0.5 * (from + to) - at(i)));
        }
        let centre = disturbed_from(model, section, &vec![0.0; section.size()], reference, &change)?;
        let basis = &section.basis;
        let largest = basis.largest();
        let width = |j: usize| {
            let rows = (0..2 * n).filter(|&i| basis[(i, j)].abs() > NONE * largest);
            rows.map(|i| reach[i] / basis[(i, j)].abs()).fold(f64::INFINITY, f64::min)
        };
        let widths: Vec<f64> = (0..section.size()).map(width).collect();
        if let Some(width) = widths.iter().find(|width| !(width.is_finite() && **width > 0.0)) {
            let reason = format!("a range to search in has a width of {width}; give it two different ends");
            return Err(AnalysisError::Invalid { reason });
        }
        let least = SHORT * search.spread / speed;
        Ok(Self { centre, widths, shortest: if search.shortest > 0.0 { search.shortest } else { least } })
    }

    /// The place in the chart.
    fn place(&self, u: &[f64]) -> Vec<f64> {
        self.centre.iter().zip(&self.widths).zip(u).map(|((c, w), u)| c + w * u).collect()
    }

    /// The place in units of the box.
    fn unplace(&self, z: &[f64]) -> Vec<f64> {
        self.centre.iter().zip(&self.widths).zip(z).map(|((c, w), z)| (z - c) / w).collect()
    }

    /// The squared distance of two places in the chart, in units of the box.
    fn apart(&self, a: &[f64], b: &[f64]) -> f64 {
        a.iter().zip(b).zip(&self.widths).map(|((a, b), w)| ((a - b) / w).powi(2)).sum()
    }

    /// What a goal becomes where gaits are known by their coordinates in the chart.
    fn deflated(&self, goal: f64, known: &[Vec<f64>], u: &[f64]) -> f64 {
        if goal >= BAD {
            return goal;
        }
        let z = self.place(u);
        let deflation: f64 = known.iter().map(|k| 1.0 + 1.0 / self.apart(&z, k)).product();
        (goal * deflation).min(0.5 * BAD)
    }

    /// The goal of a place where no gait is known.
    fn goal<Y: Contacts>(&self, model: &Y, stride: &Stride<'_>, u: &[f64]) -> f64 {
        self.step(model, stride, u).0
    }

    /// The goal, and where a stride ends in units of the box.
    fn step<Y: Contacts>(&self, model: &Y, stride: &Stride<'_>, u: &[f64]) -> (f64, Option<Vec<f64>>) {
        let z = self.place(u);
        let run = stride
            .section
            .lift(model, &z)
            .and_then(|start| stride.run(model, &start, &mut Matrix::zeros(2 * start.v.len(), 0)));
        let value = match &run {
            Ok(end) if end.time < self.shortest => BAD * (2.0 - end.time / self.shortest),
            Ok(end) => self.apart(&stride.section.chart(&end.state), &z).min(0.5 * BAD),
            Err(AnalysisError::Invalid { .. }) => 3.0 * BAD,
            Err(AnalysisError::NoEvent { .. }) => 4.0 * BAD,
            Err(_) => 5.0 * BAD,
        };
        let end = run.ok().map(|end| self.unplace(&stride.section.chart(&end.state)));
        if value.is_nan() { (6.0 * BAD, None) } else { (value, end) }
    }

    /// The best place on a walk from a place, and its goal, away from gaits that are known.
    fn walk<Y: Contacts>(&self, model: &Y, stride: &Stride<'_>, known: &[Vec<f64>], u: &[f64]) -> Judged {
        let mut best = (u.to_vec(), f64::INFINITY);
        let mut at = u.to_vec();
        for _ in 0..WALKED {
            let (value, end) = self.step(model, stride, &at);
            let value = self.deflated(value, known, &at);
            if value < best.1 {
                best = (at, value);
            }
            match end.filter(|_| value < BAD && best.1 > GOAL) {
                Some(end) => at = end,
                None => break,
            }
        }
        best
    }
}

/// As many different gaits as are wanted, if the search finds them; fewer if all tries for another one fail. `keep_on` is asked before each start, `say` hears how it goes.
///
/// # Errors
/// Why the last try failed, if no gait is found at all; [`AnalysisError::Stopped`] if none was allowed; [`AnalysisError::Invalid`] for ranges that cannot be.
pub fn gaits<Y: Contacts + Sync>(
    model: &Y,
    stride: &Stride<'_>,
    search: &Search,
    wanted: usize,
    keep_on: &mut dyn FnMut() -> bool,
    say: &mut dyn FnMut(&str),
) -> Result<Vec<Gait>, AnalysisError> {
    let d = stride.section.size();
    let space = Space::new(model, stride, search)?;
    let tolerance = stride.settings.tolerance.relative.max(ROUGH);
    let rough = Stride { settings: Settings::within(tolerance), ..stride.clone() };
    let (mut found, mut last): (Vec<Gait>, AnalysisError) = (Vec::new(), AnalysisError::Stopped);
    let (mut seed, generations) = (search.seed, search.generations.div_ceil(STARTS));
    // The places of each try with their goals, which are the same for all gaits.
    let mut looked: Vec<Vec<Judged>> = Vec::new();
    'more: while found.len() < wanted.max(1) {
        let known: Vec<Vec<f64>> = found.iter().map(|gait| gait.cycle.state.clone()).collect();
        let goal = |u: &[f64]| space.walk(model, &rough, &known, u);
        for gait in &found {
            if let Some(other) = beside(model, stride, &space, search.near, gait, &known) {
                say("another gait beside one that is known");
                found.push(other);
                continue 'more;
            }
        }
        for attempt in 0..search.tries.max(1) {
            let power = i32::try_from(attempt).unwrap_or(i32::MAX);
            let reach = if search.ranges.is_empty() { FURTHER.powi(power) } else { 1.0 };
            let population = (4 + (3.0 * (d as f64).ln()) as usize) << attempt.min(4);
            if !keep_on() {
                break 'more;
            }
            if looked.len() == attempt {
                let places = scatter(&|u| space.walk(model, &rough, &[], u), d, reach, search.seed + attempt as u64);
                let some = places.iter().filter(|(_, value)| *value < BAD).count();
                let all = places.len();
                say(&format!("try {}: {some} of {all} places within {reach} times the box have a stride", attempt + 1));
                looked.push(places);
            }
            let starts = starts(&looked[attempt], reach, &|u, value| space.deflated(value, &known, u));
            for (start, value) in starts {
                if !keep_on() {
                    break 'more;
                }
                let choice = evolution::Options { seed, population, generations, goal: GOAL };
                seed += 1;
                let some = |u: &[f64]| Some(goal(u).1);
                let step = (2.0 * value.sqrt()).clamp(LEAST, STEP * reach);
                let mut at = match value <= GOAL {
                    true => Found { point: start.clone(), value, generations: 0 },
                    false => minimise_on_all_cores(&some, &start, &vec![step; d], &choice),
                };
                (at.point, at.value) = if at.value > value { (start, value) } else { goal(&at.point) };
                say(&format!(
                    "evolution strategy, seed {}: end and start differ by {:.1e} of the box after {} generations of {population}",
                    choice.seed,
                    at.value.sqrt(),
                    at.generations
                ));
                if at.value >= BAD {
                    last = AnalysisError::NoEvent { t: stride.section.reference.t + stride.longest };
                    continue;
                }
                match gait(model, stride, &space.place(&at.point), search.near) {
                    Ok(gait) if gait.time < space.shortest => {
                        last = AnalysisError::Invalid { reason: format!("the gait found takes {} s only", gait.time) };
                    }
                    Ok(gait) if known.iter().any(|k| same(k, &gait.cycle.state)) => {
                        last =
                            AnalysisError::Invalid { reason: "only a gait that is known was found again".to_owned() };
                    }
                    Ok(gait) => {
                        found.push(gait);
                        continue 'more;
                    }
                    Err(error) => last = error,
                }
            }
        }
        break;
    }
    if found.is_empty() {
        return Err(last);
    }
    if found.len() < wanted {
        say(&format!("{} of {wanted} gaits were found; try more seeds or another spread", found.len()));
    }
    Ok(found)
}

/// Another gait near a known one, by Newton's method from places on the line along which strides differ least from their starts.
fn beside<Y: Contacts + Sync>(
    model: &Y,
    stride: &Stride<'_>,
    space: &Space,
    near: f64,
    gait: &Gait,
    known: &[Vec<f64>],
) -> Option<Gait> {
    let z = &gait.cycle.state;
    let (_, map) = stride.image(model, z).ok()?;
    let w = &space.widths;
    let off = Matrix::from_fn(w.len(), w.len(), |i, j| (map[(i, j)] - f64::from(u8::from(i == j))) * w[j] / w[i]);
    let (squares, vectors) = symmetric(&off.transpose().mul(&off));
    let least = (0..squares.len()).min_by(|&i, &j| squares[i].total_cmp(&squares[j]))?;
    let direction = vectors.column(least);
    let tried = parallel(BESIDE.len(), |k| {
        let start: Vec<f64> = (0..w.len()).map(|i| z[i] + BESIDE[k] * w[i] * direction[i]).collect();
        super::gait(model, stride, &start, near).ok()
    });
    let other = |gait: &Gait| gait.time >= space.shortest && !known.iter().any(|k| same(k, &gait.cycle.state));
    tried.into_iter().flatten().find(other)
}

/// Some places, looked at: where each leads, with its goal.
fn scatter(look: &(dyn Fn(&[f64]) -> Judged + Sync), d: usize, reach: f64, seed: u64) -> Vec<Judged> {
    let count = SCATTERED * d;
    // Other seeds go on in the sequence where those before could have ended.
    let first = 1 + seed.wrapping_mul(count as u64) % (1 << 32);
    let places: Vec<Vec<f64>> = (0..count as u64)
        .map(|k| (0..d).map(|j| reach * (2.0 * halton(first + k, PRIMES[j % PRIMES.len()]) - 1.0)).collect())
        .collect();
    parallel(count, |k| look(&places[k]))
}

/// The best of some places that are not near to each other.
fn starts(places: &[Judged], reach: f64, deflated: &dyn Fn(&[f64], f64) -> f64) -> Vec<Judged> {
    let values: Vec<f64> = places.iter().map(|(u, value)| deflated(u, *value)).collect();
    let mut order: Vec<usize> = (0..places.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]).then(a.cmp(&b)));
    let mut starts: Vec<Judged> = Vec::new();
    for (k, (u, _)) in order.iter().map(|&k| (k, &places[k])) {
        let apart = |(start, _): &(Vec<f64>, f64)| start.iter().zip(u).any(|(a, b)| (a - b).abs() > APART * reach);
        if starts.len() < STARTS && starts.iter().all(apart) {
            starts.push((u.clone(), values[k]));
        }
    }
    starts
}

const PRIMES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

/// Member k of the sequence of van der Corput in a base: its digits behind the point, mirrored.
fn halton(mut k: u64, base: u64) -> f64 {
    let (mut value, mut part) = (0.0, 1.0);
    while k > 0 {
        part /= base as f64;
        value += part * (k % base) as f64;
        k /= base;
    }
    value
}

/// Whether two gaits are one.
fn same(one: &[f64], other: &[f64]) -> bool {
    one.iter().zip(other).all(|(a, b)| (a - b).abs() < SAME)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_fill_the_box_and_starts_are_apart() {
        assert_eq!([1, 2, 3, 4].map(|k| halton(k, 2)), [0.5, 0.25, 0.75, 0.125]);
        assert!((halton(5, 3) - (2.0 / 3.0 + 1.0 / 9.0)).abs() < 1e-15);
        // Two wells and no stride for x > 0.9.
        let goal = |u: &[f64]| {
            let well = |x: f64| (u[0] - x).powi(2) + u[1] * u[1];
            if u[0] > 0.9 { 4.0 * BAD } else { well(0.5).min(well(-0.5)) }
        };
        let places = scatter(&|u| (u.to_vec(), goal(u)), 2, 1.0, 1);
        let (some, starts) =
            (places.iter().filter(|(_, value)| *value < BAD).count(), starts(&places, 1.0, &|_, value| value));
        // Two dimensions have 120 places, a twentieth of them without a stride.
        assert!((113..=115).contains(&some), "{some}");
        assert_eq!(starts.len(), STARTS);
        assert!(starts.iter().any(|(u, _)| u[0] > 0.3) && starts.iter().any(|(u, _)| u[0] < -0.3), "{starts:?}");
    }
}
