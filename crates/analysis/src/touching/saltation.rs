//! How changes pass an event: the saltation of impacts, lift-off, stops and slips, with latches that hold or are released.

use super::Piece;
use super::jump::Jump;
use crate::dense::Matrix;
use crate::error::AnalysisError;
use crate::variation::Variation;
use dalembert_methods::nonsmooth::{Contacts, Event, Hybrid, Kind, Mode, Options};
use dalembert_methods::scalar::Dual;
use dalembert_methods::system::{State, System};

/// Rates before and after an event that differ by less than this, relative to their size, are continuous.
const CONTINUOUS: f64 = 1e-9;

/// At what time changes are given after an event.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Clock {
    /// At the time of the event of the motion itself: neighbours have met theirs earlier or later.
    Fixed,
    /// Each at its own event.
    Own,
}

/// By how much the speed is exceeded below which a slip that has stopped is read in the direction of its mode.
const LED: f64 = 1e9;
/// The steps in which that direction is searched, and when it is straight.
const TURNS: usize = 40;
const STRAIGHT: f64 = 1e-13;

/// Events whose derivative would be off by more than this part are grazing.
const BLUR: f64 = 0.1;

/// How fast a motion is, and to what it is known.
#[derive(Copy, Clone, Debug)]
pub(super) struct Pace<'a> {
    /// The largest size of each velocity on the way.
    pub fastest: &'a [f64],
    /// The relative tolerance of the motion.
    pub tolerance: f64,
    /// Its events so far.
    pub events: usize,
}

impl Pace<'_> {
    /// The speed of a guard below which its event has no derivative, given its speed at the pace of the motion. Of a motion known to τ an event met at a part r of that pace is
    /// located to τ/r, and there its speed, and with it the derivative, to τ/r².
    fn least(self, pace: f64) -> f64 {
        (self.tolerance.max(f64::EPSILON) / BLUR).sqrt() * pace
    }
}

/// The rates (v, a, ẋ) of a state.
pub(super) fn rates<Y: System>(y: &Y, variation: &mut Variation<Y>, s: &State<f64>) -> Result<Vec<f64>, AnalysisError> {
    variation.motion(y, s)?;
    Ok(s.v.iter().chain(&variation.rates.v).chain(&variation.rates.x).copied().collect())
}

/// Carries changes through the events between two pieces.
pub(super) fn pass<Y: Contacts>(
    model: &Y,
    piece: &Piece,
    next: &Piece,
    events: &[Event],
    columns: &mut Matrix,
    clock: Clock,
    pace: Pace<'_>,
    options: &Options,
) -> Result<(), AnalysisError> {
    let (before, after) = (&piece.end, &next.start);
    let (mut old, new) = (piece.hybrid(model), next.hybrid(model));
    lead(&mut old, before, events)?;
    let (mut old_variation, mut new_variation) = (Variation::new(&old), Variation::new(&new));
    let (minus, plus) = (rates(&old, &mut old_variation, before)?, rates(&new, &mut new_variation, after)?);
    let size = minus.iter().chain(&plus).fold(1e-9f64, |max, x| max.max(x.abs()));
    let jumps = minus.iter().zip(&plus).any(|(a, b)| (a - b).abs() > CONTINUOUS * size);
    if jumps || clock == Clock::Own {
        let guard = Guard::of(model, &old, piece, events, pace.events)?;
        let speed = guard.along(model, &old, &mut old_variation, before, &minus, 1.0)?;
        // Each rate at its largest: velocities along the way, accelerations on both sides.
        let mut typical = guard.along(model, &old, &mut old_variation, before, &vec![0.0; minus.len()], 1.0)?.abs();
        for k in 0..minus.len() {
            let mut unit = vec![0.0; minus.len()];
            unit[k] = 1.0;
            let rate = pace.fastest.get(k).copied().unwrap_or(0.0).max(minus[k].abs()).max(plus[k].abs());
            typical += guard.along(model, &old, &mut old_variation, before, &unit, 0.0)?.abs() * rate;
        }
        if speed.is_nan() || speed.abs() <= pace.least(typical) {
            return Err(AnalysisError::Grazing { t: before.t, guard: model.contact_name(guard.contact), speed });
        }
        let impact = events.iter().any(|e| e.kind == Kind::Impact);
        let jump = impact.then(|| Jump::of(model, piece, next, events, options)).transpose()?;
        for j in 0..columns.cols() {
            let mut c = columns.column(j);
            let late = -guard.along(model, &old, &mut old_variation, before, &c, 0.0)? / speed;
            c.iter_mut().zip(&minus).for_each(|(c, f)| *c += f * late);
            if let Some(jump) = &jump {
                jump.carry(&mut c, late)?;
            }
            if clock == Clock::Fixed {
                c.iter_mut().zip(&plus).for_each(|(c, f)| *c -= f * late);
            }
            columns.set_column(j, &c);
        }
    }
    new_variation.motion(&new, after)?;
    Ok(new_variation.settle(&new, after, columns)?)
}

/// Lets contacts with two tangents that have just stopped slip in the direction in which they did. There is no slip left to read it from, but as it
/// ends it runs against its own acceleration: the direction e has a(e) ∥ −e. Close to it, and stable, is the one that the mode remembers. Returns the least size of
/// these accelerations in m/s², if there are any.
pub(super) fn lead<Y: Contacts>(
    old: &mut Hybrid<'_, Y>,
    s: &State<f64>,
    events: &[Event],
) -> Result<Option<f64>, AnalysisError> {
    let model = old.model();
    let mut least: Option<f64> = None;
    let stops = events.iter().filter(|e| e.kind == Kind::Stick).flat_map(|e| e.contacts.iter().copied());
    for i in stops.filter(|&i| model.tangents(i) == 2) {
        let Mode::Slide { direction } = old.modes()[i] else { continue };
        let (mut work, mut variation) = (old.work(), Variation::new(old));
        let (row, total) = (old.start(i), old.start(model.contacts()));
        let mut rate = vec![0.0; total];
        old.prepare(s, &mut work);
        old.kinematics(s, &mut work, &mut vec![0.0; model.contacts()], &mut rate);
        // What the law reads below the creep is the direction of the mode alone.
        let mut creep = old.creep().to_vec();
        creep[i] = creep[i].max(LED * rate[row + 1].hypot(rate[row + 2]));
        old.set_creep(&creep);
        let mut across = |angle: f64| -> Result<[f64; 2], AnalysisError> {
            let mut modes = old.modes().to_vec();
            let (sine, cosine) = angle.sin_cos();
            modes[i] = Mode::Slide { direction: [cosine, sine] };
            old.set_modes(&modes);
            variation.motion(old, s)?;
            let (state, mut work) = lifted(old, s, &rates(old, &mut variation, s)?, 1.0);
            old.prepare(&state, &mut work);
            let mut rate = vec![Dual::default(); total];
            old.kinematics(&state, &mut work, &mut vec![Dual::default(); model.contacts()], &mut rate);
            let [first, second] = [rate[row + 1].eps[0], rate[row + 2].eps[0]];
            let size = first.hypot(second).max(f64::MIN_POSITIVE);
            Ok([(second * cosine - first * sine) / size, size])
        };
        // The secant method; where every direction stays as it is there is nothing to find.
        let mut angle = direction[1].atan2(direction[0]);
        let (mut other, mut there) = (angle + 1e-3, across(angle + 1e-3)?[0]);
        for _ in 0..TURNS {
            let here = across(angle)?[0];
            if here.abs() <= STRAIGHT || here == there {
                break;
            }
            let change = -here * (angle - other) / (here - there);
            (other, there) = (angle, here);
            angle += change.clamp(-0.5, 0.5);
        }
        let [_, size] = across(angle)?;
        least = Some(least.map_or(size, |least| least.min(size)));
    }
    Ok(least)
}

/// The function whose zero an event is.
struct Guard {
    contact: usize,
    kind: Kind,
    direction: [f64; 2],
}

impl Guard {
    fn of<Y: Contacts>(
        model: &Y,
        old: &Hybrid<'_, Y>,
        piece: &Piece,
        events: &[Event],
        before: usize,
    ) -> Result<Self, AnalysisError> {
        let t = piece.end.t;
        let several = || {
            let names: Vec<String> = events.iter().flat_map(|e| &e.contacts).map(|&i| model.contact_name(i)).collect();
            let reason =
                format!("at t = {t} s several events happen at once ({}): they have no derivative", names.join(", "));
            AnalysisError::Invalid { reason: reason + &beside_hollow(model, piece, events) }
        };
        if events.iter().any(|e| e.kind == Kind::Rest) {
            return Err(AnalysisError::TooManyEvents { t, events: before });
        }
        let closing = |e: &&Event| matches!(e.kind, Kind::Impact | Kind::Touch);
        let mut closed: Vec<usize> = events
            .iter()
            .filter(closing)
            .flat_map(|e| e.contacts.iter().copied())
            .filter(|&i| piece.modes[i] == Mode::Open)
            .collect();
        closed.sort_unstable();
        closed.dedup();
        match closed.as_slice() {
            [contact] => return Ok(Self { contact: *contact, kind: Kind::Touch, direction: [0.0; 2] }),
            [] => {}
            _ => return Err(several()),
        }
        let [event] = events else { return Err(several()) };
        let [contact] = *event.contacts.as_slice() else { return Err(several()) };
        if model.tangents(contact) > 1 && event.kind == Kind::Reversal {
            let reason = format!(
                "at t = {t} s `{}` stops and slips on in another direction: with two tangents motions beside it turn without a stop, and there is no \
                 derivative; start from another state",
                model.contact_name(contact)
            );
            return Err(AnalysisError::Invalid { reason });
        }
        let direction = match old.modes()[contact] {
            Mode::Slide { direction } => direction,
            _ => [0.0; 2],
        };
        Ok(Self { contact, kind: event.kind, direction })
    }

    /// The change of the function along a change of the state and of time.
    fn along<'m, Y: Contacts>(
        &self,
        model: &Y,
        old: &Hybrid<'m, Y>,
        variation: &mut Variation<Hybrid<'m, Y>>,
        s: &State<f64>,
        change: &[f64],
        time: f64,
    ) -> Result<f64, AnalysisError> {
        let row = old.start(self.contact);
        if self.kind == Kind::Slip || self.kind == Kind::LiftOff {
            return self.force_along(model, old, variation, s, change, time);
        }
        let (state, mut work) = lifted(old, s, change, time);
        old.prepare(&state, &mut work);
        let count = model.contacts();
        let (mut gap, mut rate) = (vec![Dual::default(); count], vec![Dual::default(); old.start(count)]);
        old.kinematics(&state, &mut work, &mut gap, &mut rate);
        Ok(match self.kind {
            Kind::Touch => gap[self.contact].eps[0],
            _ => (0..model.tangents(self.contact)).map(|k| self.direction[k] * rate[row + 1 + k].eps[0]).sum(),
        })
    }

    /// The same for the press, or the excess of the force over its cone, which change with the multipliers.
    fn force_along<'m, Y: Contacts>(
        &self,
        model: &Y,
        old: &Hybrid<'m, Y>,
        variation: &mut Variation<Hybrid<'m, Y>>,
        s: &State<f64>,
        change: &[f64],
        time: f64,
    ) -> Result<f64, AnalysisError> {
        variation.motion(old, s)?;
        let base = variation.rates.multipliers.clone();
        let slopes = variation.multiplier_change(old, s, change, time)?;
        let mut work = old.work();
        old.prepare(s, &mut work);
        let mut forces = vec![0.0; old.start(model.contacts())];
        let row = old.start(self.contact);
        // Cones are smooth functions of forces that are known with their slopes: a difference of fourth order is exact to some 1e-12.
        let size = slopes.iter().fold(1e-9f64, |max, x| max.max(x.abs()));
        let step = 1e-3 * base.iter().fold(1e-3f64, |max, x| max.max(x.abs())) / size;
        let mut value = |sign: f64| {
            let moved: Vec<f64> = base.iter().zip(&slopes).map(|(b, d)| b + sign * step * d).collect();
            old.forces(&moved, &work, &mut forces);
            match self.kind {
                Kind::Slip => {
                    let second = if model.tangents(self.contact) > 1 { forces[row + 2] } else { 0.0 };
                    model.excess(self.contact, [forces[row + 1], second], forces[row])
                }
                _ => forces[row],
            }
        };
        Ok((8.0 * (value(1.0) - value(-1.0)) - (value(2.0) - value(-2.0))) / (12.0 * step))
    }
}

/// A state in dual numbers along a change, and scratch for it.
pub(super) fn lifted<Y: System>(y: &Y, s: &State<f64>, change: &[f64], time: f64) -> (State<Dual>, Y::Work<Dual>) {
    let n = s.v.len();
    let mut state = State::<Dual>::zeros(y.shape());
    state.lift(s);
    state.t.eps[0] = time;
    let base = state.q.clone();
    let increment: Vec<Dual> = change[..n].iter().map(|&d| Dual::new(0.0, d)).collect();
    y.retract(&base, &increment, &mut state.q);
    for i in 0..n {
        state.v[i].eps[0] = change[n + i];
    }
    for i in 0..s.x.len() {
        state.x[i].eps[0] = change[2 * n + i];
    }
    (state, y.work())
}

/// A sentence on points that came down beside a hollow around those that bear, which is then too narrow if they were meant to pass; empty if there
/// are none.
pub(super) fn beside_hollow<Y: Contacts>(model: &Y, piece: &Piece, events: &[Event]) -> String {
    let (s, mut work) = (&piece.end, model.work());
    let bearing: Vec<bool> = piece.modes.iter().map(|mode| mode.closed()).collect();
    let mut depth = vec![0.0; model.contacts()];
    model.prepare(s, &mut work);
    if !model.contact_hollow(&bearing, s, &mut work, &mut depth) {
        return String::new();
    }
    let impacts = events.iter().filter(|e| matches!(e.kind, Kind::Impact | Kind::Touch));
    let mut points: Vec<usize> = impacts.flat_map(|e| e.contacts.iter().copied()).collect();
    points.retain(|&i| piece.modes[i] == Mode::Open && depth[i].is_finite() && depth[i] <= 0.0);
    let Some(&point) = points.first() else { return String::new() };
    format!(
        "; `{}` came down {:.4} m outside of the hollow around the points that bear: if it was to pass there the hollow is too narrow, so make it \
         wider by more than that",
        model.contact_name(point),
        -depth[point]
    )
}
