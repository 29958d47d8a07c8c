//! Motions with events: a field for each mode, guards that end it, resets that begin the next one; all with exact derivatives.
//!
//! A guard fires where its function falls through zero, once it has been positive. In jets a state near the event is z at the located
//! time; the event itself is met at σ = −g/ġ later, which carries the derivative of the time of the event:
//!
//! ```text
//! z_e = z + F σ,   z⁺ = R(t + σ, z_e),   z⁺ at the old time = z⁺ − F⁺ σ
//! ```
//!
//! Together this is the saltation matrix \[1\]
//! S = ∂R/∂z + (F⁺ − ∂R/∂z F⁻ − ∂R/∂t) ∂g/∂z / (∂g/∂z F⁻ + ∂g/∂t), without its being written out; [`saltation`] writes it out.
//!
//! References: \[1\] Aizerman, Gantmakher: On the stability of periodic motions, J. Appl. Math. Mech. 22 (1958) 1065–1078; Leine, Nijmeijer:
//! Dynamics and Bifurcations of Non-Smooth Mechanical Systems, Springer 2004, chapter 7.

use crate::dense::Matrix;
use crate::error::AnalysisError;
use crate::field::{Number, Settings, Stepper, seeded};
use dalembert_methods::events::{Crossing, Direction, Hit, Locator, Trigger};
use dalembert_methods::{Jet, Real};

/// Functions of guards up to this are on their surface when a mode begins.
const ARMED: f64 = 1e-10;

/// Fields, guards and resets.
pub trait Hybrid<const N: usize>: Sync {
    /// The rates in a mode.
    fn rate<R: Real>(&self, mode: usize, t: R, z: &[R; N], p: &[R]) -> [R; N];
    /// The number of guards in a mode.
    fn guards(&self, mode: usize) -> usize;
    /// The function of a guard, which fires where it falls through zero.
    fn guard<R: Real>(&self, mode: usize, guard: usize, t: R, z: &[R; N], p: &[R]) -> R;
    /// The state after the event.
    fn reset<R: Real>(&self, mode: usize, guard: usize, t: R, z: &[R; N], p: &[R]) -> [R; N];
    /// The mode after the event.
    fn next(&self, mode: usize, _guard: usize, _z: &[f64; N]) -> usize {
        mode
    }
    /// The name of a guard.
    fn name(&self, mode: usize, guard: usize) -> String {
        format!("guard {guard} of mode {mode}")
    }
}

/// Where a hybrid motion is.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Place<R, const N: usize> {
    /// Time in seconds.
    pub t: R,
    /// Coordinates.
    pub z: [R; N],
    /// The mode.
    pub mode: usize,
}

impl<R: Number, const N: usize> Place<R, N> {
    fn values(&self) -> [f64; N] {
        self.z.map(Number::value)
    }
}

/// Moves to the first event, and through it. Returns the guard, or nothing if `until` comes first; then the place is at that time.
///
/// `on` is a guard on whose surface the motion starts, though a state may lie a little off it: it counts as being on the side to which it
/// moves.
///
/// # Errors
/// [`AnalysisError::Grazing`] for an event without speed, and those of the steps.
pub fn to_event<H: Hybrid<N>, R: Number, const N: usize>(
    system: &H,
    place: &mut Place<R, N>,
    p: &[R],
    on: Option<usize>,
    until: f64,
    settings: Settings,
) -> Result<Option<usize>, AnalysisError> {
    let mode = place.mode;
    let f = |t: R, z: &[R; N]| system.rate(mode, t, z, p);
    let plain: Vec<f64> = p.iter().map(|p| p.value()).collect();
    let plain_f = |t: f64, z: &[f64; N]| system.rate(mode, t, z, &plain);
    let guard = |k: usize, t: f64, z: &[f64; N]| system.guard(mode, k, t, z, &plain);
    let count = system.guards(mode);
    let mut stepper = Stepper::new(settings);
    let mut fine = Stepper::<f64, N>::new(settings);
    let list: Vec<Trigger> = (0..count)
        .map(|k| Trigger { name: system.name(mode, k), direction: Direction::Falling, terminal: true })
        .collect();
    let mut locator = Locator::new(&list);
    let mut values: Vec<f64> = (0..count).map(|k| guard(k, place.t.value(), &place.values())).collect();
    let near = (0..count).filter(|&k| values[k].abs() <= ARMED);
    let surface: Vec<Hit> = near.map(|trigger| Hit { trigger, t: 0.0, crossing: Crossing::Falling }).collect();
    locator.begin(&values, &surface);
    if let Some(k) = on {
        let mut sides = locator.sides().to_vec();
        sides[k] = speed(system, mode, k, place.t.value(), &place.values(), &plain).signum();
        locator.recall(&values, &sides);
    }
    loop {
        let t = place.t.value();
        if t >= until {
            // What is left is the derivative of the time of the last event.
            let (rate, late) = (f(place.t, &place.z), -(place.t - until));
            for i in 0..N {
                place.z[i] += rate[i] * late;
            }
            place.t = R::from(until);
            return Ok(None);
        }
        let (end, h) = stepper.step(&f, place.t, &place.z, until - t)?;
        let start = place.values();
        fine.attempt(&plain_f, t, &start, h);
        fine.complete(&plain_f, t, &start, h);
        let last = end.map(Number::value);
        (0..count).for_each(|k| values[k] = guard(k, t + h, &last));
        let mut sample = |at: f64, _: bool, out: &mut [f64]| {
            let there = fine.between(&start, h, ((at - t) / h).clamp(0.0, 1.0));
            (0..count).for_each(|k| out[k] = guard(k, at, &there));
        };
        let first = locator.search(t, t + h, &values, &mut sample).first().map(|hit| (hit.trigger, hit.t - t));
        let Some((k, s)) = first else {
            place.z = end;
            place.t = place.t + h;
            if h == until - t {
                // The value is exact there; derivatives stay.
                place.t = place.t + (until - place.t.value());
            }
            continue;
        };
        place.z = stepper.attempt(&f, place.t, &place.z, s).0;
        place.t = place.t + s;
        pass(system, place, p, k)?;
        return Ok(Some(k));
    }
}

/// Passes an event at a place where (to rounding) its guard is zero.
fn pass<H: Hybrid<N>, R: Number, const N: usize>(
    system: &H,
    place: &mut Place<R, N>,
    p: &[R],
    guard: usize,
) -> Result<(), AnalysisError> {
    let mode = place.mode;
    let rate = system.rate(mode, place.t, &place.z, p);
    let (t, values) = (place.t.value(), place.values());
    let plain: Vec<f64> = p.iter().map(|p| p.value()).collect();
    let speed = speed(system, mode, guard, t, &values, &plain);
    let size = rate.iter().fold(1e-3f64, |s, r| s.max(r.value().abs()));
    if speed.is_nan() || speed >= -1e-9 * size {
        return Err(AnalysisError::Grazing { t, guard: system.name(mode, guard), speed });
    }
    let late = -system.guard(mode, guard, place.t, &place.z, p) / speed;
    for i in 0..N {
        place.z[i] += rate[i] * late;
    }
    place.t += late;
    place.z = system.reset(mode, guard, place.t, &place.z, p);
    place.mode = system.next(mode, guard, &values);
    Ok(())
}

/// The rate of a guard along the motion.
fn speed<H: Hybrid<N>, const N: usize>(system: &H, mode: usize, guard: usize, t: f64, z: &[f64; N], p: &[f64]) -> f64 {
    let rate = system.rate(mode, t, z, p);
    let along: [Jet<f64, 1>; N] = std::array::from_fn(|i| Jet::new(z[i], rate[i]));
    let p: Vec<Jet<f64, 1>> = p.iter().map(|&p| p.into()).collect();
    system.guard(mode, guard, Jet::new(t, 1.0), &along, &p).eps[0]
}

/// Moves to a fixed time through all events on the way.
///
/// # Errors
/// [`AnalysisError::TooManyEvents`] where impacts accumulate, and those of [`to_event`].
pub fn flow<H: Hybrid<N>, R: Number, const N: usize>(
    system: &H,
    place: &mut Place<R, N>,
    p: &[R],
    until: f64,
    most_events: usize,
    settings: Settings,
) -> Result<usize, AnalysisError> {
    let mut events = 0;
    while to_event(system, place, p, None, until, settings)?.is_some() {
        events += 1;
        if events > most_events {
            return Err(AnalysisError::TooManyEvents { t: place.t.value(), events });
        }
    }
    Ok(events)
}

/// The saltation matrix of an event at a place on its guard: how a small change of the state at a fixed time passes it.
///
/// # Errors
/// [`AnalysisError::Grazing`] for an event without speed.
pub fn saltation<H: Hybrid<N>, const N: usize>(
    system: &H,
    place: &Place<f64, N>,
    p: &[f64],
    guard: usize,
) -> Result<Matrix, AnalysisError> {
    let lifted: Vec<Jet<f64, N>> = p.iter().map(|&p| p.into()).collect();
    let mut at = Place { t: Jet::from(place.t), z: seeded(&place.z), mode: place.mode };
    pass(system, &mut at, &lifted, guard)?;
    let (rate, late) = (system.rate(at.mode, at.t, &at.z, &lifted), at.t - place.t);
    for i in 0..N {
        at.z[i] -= rate[i] * late;
    }
    Ok(Matrix::from_fn(N, N, |i, j| at.z[i].eps[j]))
}

/// A field as a motion without events but for a section, where nothing changes: returns to it are a Poincaré map.
pub struct Section<F, G> {
    /// The field.
    pub field: F,
    /// The function whose falling zeros are the section.
    pub section: G,
}

/// A scalar function of time and state.
pub trait Function<const N: usize>: Sync {
    /// Its value.
    fn value<R: Real>(&self, t: R, z: &[R; N], p: &[R]) -> R;
}

/// One coordinate minus a constant.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Coordinate {
    /// Which coordinate.
    pub index: usize,
    /// The constant.
    pub level: f64,
    /// 1 for zeros where the coordinate falls, −1 for those where it rises.
    pub sign: f64,
}

impl<const N: usize> Function<N> for Coordinate {
    fn value<R: Real>(&self, _t: R, z: &[R; N], _p: &[R]) -> R {
        (z[self.index] - self.level) * self.sign
    }
}

impl<F: crate::field::Field<N>, G: Function<N>, const N: usize> Hybrid<N> for Section<F, G> {
    fn rate<R: Real>(&self, _mode: usize, t: R, z: &[R; N], p: &[R]) -> [R; N] {
        self.field.rate(t, z, p)
    }
    fn guards(&self, _mode: usize) -> usize {
        1
    }
    fn guard<R: Real>(&self, _mode: usize, _guard: usize, t: R, z: &[R; N], p: &[R]) -> R {
        self.section.value(t, z, p)
    }
    fn reset<R: Real>(&self, _mode: usize, _guard: usize, _t: R, z: &[R; N], _p: &[R]) -> [R; N] {
        *z
    }
}
