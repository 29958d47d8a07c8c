//! How changes pass an event: the saltation of impacts, lift-off, stops and slips, with latches that hold or are released.

use super::Piece;
use crate::dense::Matrix;
use crate::error::AnalysisError;
use crate::variation::Variation;
use dalembert_methods::algebra::{Mass, Rows};
use dalembert_methods::nonsmooth::{Contacts, Event, Hybrid, Kind, Mode};
use dalembert_methods::scalar::Dual;
use dalembert_methods::system::{State, System};

/// Velocities after an impact must be those of the law of plain restitution to this, relative to their size.
const IMPACT: f64 = 1e-6;
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

/// The rates (v, a, ẋ) of a state.
fn rates<Y: System>(y: &Y, variation: &mut Variation<Y>, s: &State<f64>) -> Result<Vec<f64>, AnalysisError> {
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
) -> Result<(), AnalysisError> {
    let (before, after) = (&piece.end, &next.start);
    let (mut old, mut new) = (Hybrid::new(model), Hybrid::new(model));
    old.set_modes(&piece.modes);
    new.set_modes(&next.modes);
    let (mut old_variation, mut new_variation) = (Variation::new(&old), Variation::new(&new));
    let (minus, plus) = (rates(&old, &mut old_variation, before)?, rates(&new, &mut new_variation, after)?);
    let size = minus.iter().chain(&plus).fold(1e-9f64, |max, x| max.max(x.abs()));
    let jumps = minus.iter().zip(&plus).any(|(a, b)| (a - b).abs() > CONTINUOUS * size);
    if jumps || clock == Clock::Own {
        let guard = Guard::of(model, piece, events)?;
        let speed = guard.along(model, &old, &mut old_variation, before, &minus, 1.0)?;
        if speed.is_nan() || speed.abs() < 1e-9 {
            return Err(AnalysisError::Grazing { t: before.t, guard: model.contact_name(guard.contact), speed });
        }
        let impact = events.iter().any(|e| e.kind == Kind::Impact);
        let jump = impact.then(|| Jump::of(model, piece, next, events)).transpose()?;
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

/// The function whose zero an event is.
struct Guard {
    contact: usize,
    kind: Kind,
    direction: f64,
}

impl Guard {
    fn of<Y: Contacts>(model: &Y, piece: &Piece, events: &[Event]) -> Result<Self, AnalysisError> {
        let t = piece.end.t;
        let several = || {
            let names: Vec<String> = events.iter().flat_map(|e| &e.contacts).map(|&i| model.contact_name(i)).collect();
            let reason =
                format!("at t = {t} s several events happen at once ({}): they have no derivative", names.join(", "));
            AnalysisError::Invalid { reason: reason + &beside_hollow(model, piece, events) }
        };
        if events.iter().any(|e| e.kind == Kind::Rest) {
            return Err(AnalysisError::TooManyEvents { t, events: events.len() });
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
            [contact] => return Ok(Self { contact: *contact, kind: Kind::Touch, direction: 0.0 }),
            [] => {}
            _ => return Err(several()),
        }
        let [event] = events else { return Err(several()) };
        let [contact] = *event.contacts.as_slice() else { return Err(several()) };
        if model.tangents(contact) > 1 {
            let reason = format!(
                "at t = {t} s `{}` changes between stick and slip with two tangents: that has no derivative here",
                model.contact_name(contact)
            );
            return Err(AnalysisError::Invalid { reason });
        }
        let direction = match piece.modes[contact] {
            Mode::Slide { direction } => direction[0],
            _ => 0.0,
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
            _ => self.direction * rate[row + 1].eps[0],
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
        // Cones are linear or quadratic: central differences of them are exact to rounding.
        let size = slopes.iter().fold(1e-9f64, |max, x| max.max(x.abs()));
        let step = 1e-4 * base.iter().fold(1e-3f64, |max, x| max.max(x.abs())) / size;
        let mut value = |sign: f64| {
            let moved: Vec<f64> = base.iter().zip(&slopes).map(|(b, d)| b + sign * step * d).collect();
            old.forces(&moved, &work, &mut forces);
            match self.kind {
                Kind::Slip => model.excess(self.contact, [forces[row + 1], 0.0], forces[row]),
                _ => forces[row],
            }
        };
        Ok((value(1.0) - value(-1.0)) / (2.0 * step))
    }
}

/// A state in dual numbers along a change, and scratch for it.
fn lifted<Y: System>(y: &Y, s: &State<f64>, change: &[f64], time: f64) -> (State<Dual>, Y::Work<Dual>) {
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

/// The jump of velocities of an impact, as a function of the state before it.
struct Jump<'m, Y: Contacts> {
    /// The model with every contact that takes part held.
    held: Hybrid<'m, Y>,
    before: State<f64>,
    after: State<f64>,
    /// The rows that take part, and the restitution of each.
    rows: Vec<(usize, f64)>,
    /// [M Gᵀ; G 0].
    matrix: Matrix,
    impulses: Vec<f64>,
}

impl<'m, Y: Contacts> Jump<'m, Y> {
    fn of(model: &'m Y, piece: &Piece, next: &Piece, events: &[Event]) -> Result<Self, AnalysisError> {
        let (before, after) = (piece.end.clone(), next.start.clone());
        let hit = |i: usize| events.iter().any(|e| e.kind == Kind::Impact && e.contacts.contains(&i));
        let count = model.contacts();
        let part: Vec<bool> = (0..count).map(|i| next.modes[i].closed() || piece.latched[i] || hit(i)).collect();
        let modes: Vec<Mode> = part.iter().map(|&p| if p { Mode::Stick } else { Mode::Open }).collect();
        let mut held = Hybrid::new(model);
        held.set_modes(&modes);
        // Rows of the model, normals of contacts, then tangents of those that stick afterwards.
        let (shape, inner) = (held.shape(), model.shape());
        let mut rows: Vec<(usize, f64)> = (0..inner.g).map(|row| (row, 0.0)).collect();
        let normals: Vec<usize> = (0..count).filter(|&i| part[i] && model.own_press(i).is_none()).collect();
        for (k, &i) in normals.iter().enumerate() {
            let closes = piece.modes[i] == Mode::Open && hit(i);
            rows.push((inner.g + k, if closes { model.restitution(i) } else { 0.0 }));
        }
        rows.extend((shape.g..shape.g + inner.a).map(|row| (row, 0.0)));
        let mut row = shape.g + inner.a;
        for i in (0..count).filter(|&i| part[i]) {
            for _ in 0..model.tangents(i) {
                if next.modes[i] == Mode::Stick {
                    rows.push((row, 0.0));
                }
                row += 1;
            }
        }
        let n = shape.v;
        let mut work = held.work();
        held.prepare(&before, &mut work);
        let mut mass = Mass::new(&held.mass_blocks());
        held.mass(&before, &mut work, &mut mass);
        let mut jacobian = Rows::new(shape.rows(), n, &held.row_blocks());
        held.jacobian(&before, &mut work, &mut jacobian);
        let mut dense = vec![0.0; shape.rows() * n];
        jacobian.to_dense(&mut dense);
        let m = rows.len();
        let mut matrix = Matrix::zeros(n + m, n + m);
        mass.entries(|i, j, value| matrix[(i, j)] = value);
        for (k, &(row, _)) in rows.iter().enumerate() {
            for j in 0..n {
                matrix[(n + k, j)] = dense[row * n + j];
                matrix[(j, n + k)] = dense[row * n + j];
            }
        }
        // The impulses, and whether the law is the one assumed.
        let mut rate = vec![0.0; shape.rows()];
        held.constraint_rate(&before, &mut work, &mut rate);
        let mut right = vec![0.0; n + m];
        for (k, &(row, restitution)) in rows.iter().enumerate() {
            right[n + k] = -(1.0 + restitution) * rate[row];
        }
        let solution =
            matrix.solve_vector(&right, "the equations of an impact (redundant contacts)").map_err(|error| {
                match beside_hollow(model, piece, events) {
                    hint if hint.is_empty() => error,
                    hint => AnalysisError::Invalid { reason: format!("at t = {} s {error}{hint}", before.t) },
                }
            })?;
        let size = before.v.iter().chain(&after.v).fold(1e-6f64, |max, v| max.max(v.abs()));
        let differs = (0..n).any(|i| (before.v[i] + solution[i] - after.v[i]).abs() > IMPACT * size);
        if differs {
            let reason = format!(
                "at t = {} s an impact is not one of plain restitution without sliding friction: it has no derivative here",
                before.t
            );
            return Err(AnalysisError::Invalid { reason: reason + &beside_hollow(model, piece, events) });
        }
        Ok(Self { held, before, after, rows, matrix, impulses: solution[n..].to_vec() })
    }

    /// R′: carries a change, at a time that changes by `late`.
    fn carry(&self, c: &mut [f64], late: f64) -> Result<(), AnalysisError> {
        let n = self.before.v.len();
        let shape = self.held.shape();
        let (mut state, mut work) = lifted(&self.held, &self.before, c, late);
        self.held.prepare(&state, &mut work);
        let mut rate = vec![Dual::default(); shape.rows()];
        self.held.constraint_rate(&state, &mut work, &mut rate);
        let mut mass = Mass::<Dual>::new(&self.held.mass_blocks());
        self.held.mass(&state, &mut work, &mut mass);
        let mut jacobian = Rows::<Dual>::new(shape.rows(), n, &self.held.row_blocks());
        self.held.jacobian(&state, &mut work, &mut jacobian);
        // M (v⁺ − v⁻) + Gᵀλ with v⁺ and λ held.
        let gained: Vec<Dual> = (0..n).map(|i| -(state.v[i] - self.after.v[i])).collect();
        let mut balance = vec![Dual::default(); n];
        mass.apply(&gained, &mut balance);
        let mut multipliers = vec![Dual::default(); shape.rows()];
        for (&(row, _), &impulse) in self.rows.iter().zip(&self.impulses) {
            multipliers[row] = impulse.into();
        }
        jacobian.add_transpose(1.0, &multipliers, &mut balance);
        // G v⁺ with v⁺ held.
        for i in 0..n {
            state.v[i] = self.after.v[i].into();
        }
        self.held.prepare(&state, &mut work);
        let mut parted = vec![Dual::default(); shape.rows()];
        self.held.constraint_rate(&state, &mut work, &mut parted);
        let mut right: Vec<f64> = balance.iter().map(|b| -b.eps[0]).collect();
        right.extend(self.rows.iter().map(|&(row, e)| -(parted[row].eps[0] + e * rate[row].eps[0])));
        let solution = self.matrix.solve_vector(&right, "the equations of an impact")?;
        c[n..2 * n].copy_from_slice(&solution[..n]);
        Ok(())
    }
}
