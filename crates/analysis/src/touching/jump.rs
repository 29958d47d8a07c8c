//! The jump of velocities of an impact, with friction or without, and its derivative.
//!
//! An impact has phases ([`impact_phases`]): one by Newton's law, compression and expansion by Poisson's, pieces between changes of slip by the energetic law. Which contacts
//! take part in each, and how, is known from the impact itself. Then velocities v₁ and multipliers λ at the end of a phase follow from those before it, by as many equations:
//!
//! ```text
//! M (v₁ − v₀) + Gᵀλ = 0
//! G v₁ + E G v₀ = 0           for rows that are held: constraints, normals with restitution E, tangents of contacts that stick
//! λ_t − λ_n φ(u₁) = 0         for tangents of contacts that slide: φ is the friction for unit press against the slip u₁ at the end
//! λ_n − ε λ_n(before) = 0     for normals in expansion by Poisson's law
//! u₁ = 0                      for the press of a piece of an energetic impact that ends with the slip
//! Σ λ_n (γ̇₀ + γ̇₁) = 0         for its last piece, with the factor ε² on the pieces of compression: the work that comes back
//! ```
//!
//! With one tangent φ does not change while the slip keeps its sign; with two it turns with it. The equations are written once, in dual numbers: their derivatives by
//! (v₁, λ) are the matrix of each phase, those by all else its right-hand side.

use super::Piece;
use super::saltation::{beside_hollow, lifted};
use crate::dense::Matrix;
use crate::error::AnalysisError;
use dalembert_methods::algebra::{Mass, Rows};
use dalembert_methods::nonsmooth::{Contacts, Event, Hybrid, Mode, Options, Phase, Stage, impact_phases};
use dalembert_methods::scalar::Dual;
use dalembert_methods::system::{State, System};
use std::ops::Range;

/// Velocities after an impact must be those of the law to this, relative to their size.
const IMPACT: f64 = 1e-6;
/// Rates below this part of all speeds are none, and so are presses that exceed their shares by less than this part.
const STILL: f64 = 1e-9;

/// What decides a multiplier of a phase.
#[derive(Clone, Debug)]
enum Law {
    /// The velocity of the row after the phase is −E times that before.
    Held(f64),
    /// The friction of a contact: which, which of its tangents, and where among the laws its normal and among the rows its first tangent are.
    Slides { contact: usize, tangent: usize, normal: usize, first: usize },
    /// Friction in a direction that is kept: its ratio to the press, and where among the laws that is.
    Drags { ratio: f64, normal: usize },
    /// A share of the multiplier of a law of the phase before.
    Share { part: f64, of: usize },
    /// The phase ends when the rate of this row does.
    Stops { row: usize },
    /// It ends when this part of the work of compression has come back; in which phases of the impact that was done.
    Returns { part: f64, compression: Range<usize>, expansion: Range<usize> },
}

/// A phase: rows with the laws of their multipliers, and the motion at its end.
struct Step {
    laws: Vec<(usize, Law)>,
    v: Vec<f64>,
    multipliers: Vec<f64>,
    /// The derivative of its equations by (v, multipliers).
    matrix: Matrix,
}

/// The jump of velocities of an impact, as a function of the state before it.
pub(super) struct Jump<'m, Y: Contacts> {
    model: &'m Y,
    /// The model with every contact that takes part held.
    held: Hybrid<'m, Y>,
    before: State<f64>,
    steps: Vec<Step>,
}

/// Mass, rows and drives at a configuration: the rates of the rows are G v + drive.
struct Frozen {
    mass: Vec<Dual>,
    rows: Vec<Dual>,
    drive: Vec<Dual>,
}

impl Frozen {
    fn new<Y: System>(y: &Y, state: &State<Dual>, work: &mut Y::Work<Dual>) -> Self {
        let (n, m) = (y.shape().v, y.shape().rows());
        y.prepare(state, work);
        let mut mass = Mass::<Dual>::new(&y.mass_blocks());
        y.mass(state, work, &mut mass);
        let mut entries = vec![Dual::default(); n * n];
        mass.entries(|i, j, value| entries[i * n + j] = value);
        let mut jacobian = Rows::<Dual>::new(m, n, &y.row_blocks());
        y.jacobian(state, work, &mut jacobian);
        let mut rows = vec![Dual::default(); m * n];
        jacobian.to_dense(&mut rows);
        let mut drive = vec![Dual::default(); m];
        y.constraint_rate(state, work, &mut drive);
        for (row, drive) in drive.iter_mut().enumerate() {
            for (j, &v) in state.v.iter().enumerate() {
                *drive -= rows[row * n + j] * v;
            }
        }
        Self { mass: entries, rows, drive }
    }

    /// The rate of a row.
    fn rate(&self, row: usize, v: &[Dual]) -> Dual {
        let entries = &self.rows[row * v.len()..(row + 1) * v.len()];
        entries.iter().zip(v).fold(self.drive[row], |sum, (&g, &v)| sum + g * v)
    }
}

/// The rows of the model with all contacts that take part held.
struct Layout {
    /// The row of the normal of each contact, and that of its first tangent.
    normals: Vec<usize>,
    tangents: Vec<usize>,
}

impl Layout {
    fn new<Y: Contacts>(held: &Hybrid<'_, Y>) -> Self {
        let (model, inner) = (held.model(), held.model().shape());
        let (mut normals, mut tangents) = (vec![usize::MAX; model.contacts()], vec![usize::MAX; model.contacts()]);
        let closed = |i: &usize| held.modes()[*i].closed();
        let mut row = inner.g;
        for i in (0..model.contacts()).filter(closed) {
            normals[i] = row;
            row += 1;
        }
        row += inner.a;
        for i in (0..model.contacts()).filter(closed) {
            tangents[i] = row;
            row += model.tangents(i);
        }
        Self { normals, tangents }
    }
}

/// Constants as dual numbers.
fn constant(values: &[f64]) -> Vec<Dual> {
    values.iter().map(|&value| value.into()).collect()
}

impl<'m, Y: Contacts> Jump<'m, Y> {
    pub(super) fn of(
        model: &'m Y,
        piece: &Piece,
        next: &Piece,
        events: &[Event],
        options: &Options,
    ) -> Result<Self, AnalysisError> {
        let (before, after) = (piece.end.clone(), &next.start);
        let refused = |reason: String| {
            let reason = format!("at t = {} s {reason}", piece.end.t);
            AnalysisError::Invalid { reason: reason + &beside_hollow(model, piece, events) }
        };
        let phases = impact_phases(&piece.hybrid(model), &before, options)?;
        let count = model.contacts();
        let part = |i: usize| piece.latched[i] || phases.iter().any(|phase| phase.contacts.contains(&i));
        let modes: Vec<Mode> = (0..count).map(|i| if part(i) { Mode::Stick } else { Mode::Open }).collect();
        let mut held = Hybrid::new(model);
        held.set_modes(&modes);
        let layout = Layout::new(&held);
        let n = before.v.len();
        let (state, mut work) = lifted(&held, &before, &vec![0.0; 2 * n + before.x.len()], 0.0);
        let frozen = Frozen::new(&held, &state, &mut work);
        let mut jump = Self { model, held, before, steps: Vec::new() };
        let size = jump.before.v.iter().chain(&after.v).fold(1e-6f64, |max, v| max.max(v.abs()));
        // Where the course of an energetic impact begins, and its expansion.
        let (mut course, mut middle) = (0, 0);
        for (k, phase) in phases.iter().enumerate() {
            if let Some(laws) = jump.laws(piece, next, phase, (k > 0).then(|| &phases[k - 1]), options, &layout, size) {
                let laws = laws.into_iter().map(|(row, law)| match law {
                    Law::Returns { part, .. } => {
                        let (compression, expansion) = (course..middle, middle..jump.steps.len() + 1);
                        (row, Law::Returns { part, compression, expansion })
                    }
                    law => (row, law),
                });
                let step = jump.step(laws.collect(), phase, &layout, &frozen)?;
                jump.steps.push(step);
            }
            match phase.stage {
                Stage::Compressed => middle = jump.steps.len(),
                Stage::Stopped { .. } => {}
                _ => course = jump.steps.len(),
            }
        }
        let last = jump.steps.last().map_or(&jump.before.v, |step| &step.v);
        let mut off: Vec<f64> = last.iter().zip(&after.v).map(|(a, b)| a - b).collect();
        for k in 0..jump.steps.len() {
            jump.differentiate(k, &frozen);
            let (v, multipliers) = jump.constants(k);
            // By how much velocities miss the laws that were read off.
            let miss: Vec<f64> = jump.residual(k, &frozen, &v, &multipliers).iter().map(|r| r.re).collect();
            let miss = jump.steps[k].matrix.solve_vector(&miss, "the equations of an impact (redundant contacts)");
            let miss = miss.map_err(|error| match beside_hollow(model, piece, events) {
                hint if hint.is_empty() => error,
                _ => refused(error.to_string()),
            })?;
            off.iter_mut().zip(&miss).for_each(|(off, miss)| *off = off.abs().max(miss.abs()));
        }
        if let Some(i) = (0..n).find(|&i| off[i].abs() > IMPACT * size) {
            return Err(refused(format!(
                "an impact is not the one of its law: the rate of `{}` differs by {}; impacts that accumulate have no derivative",
                model.velocity_name(i),
                off[i].abs()
            )));
        }
        Ok(jump)
    }

    /// The laws of a phase, or nothing if it does nothing.
    fn laws(
        &self,
        piece: &Piece,
        next: &Piece,
        phase: &Phase,
        previous: Option<&Phase>,
        options: &Options,
        layout: &Layout,
        size: f64,
    ) -> Option<Vec<(usize, Law)>> {
        let (model, inner) = (self.model, self.model.shape());
        let free = self.held.shape().g;
        let own = (0..inner.g).chain(free..free + inner.a);
        let mut laws: Vec<(usize, Law)> = own.map(|row| (row, Law::Held(0.0))).collect();
        for i in (0..model.contacts()).filter(|&i| piece.latched[i]) {
            laws.push((layout.normals[i], Law::Held(0.0)));
            laws.extend((0..model.tangents(i)).map(|k| (layout.tangents[i] + k, Law::Held(0.0))));
        }
        let course = matches!(phase.stage, Stage::Stopped { .. } | Stage::Compressed | Stage::Restored);
        let mut pushes = false;
        for (&i, &restitution) in phase.contacts.iter().zip(&phase.restitution) {
            let (row, tangents) = (self.held.start(i), model.tangents(i));
            let press = phase.impulse[row];
            let slip = phase.motion[row + 1..=row + tangents].iter().fold(0.0f64, |max, u| max.max(u.abs()));
            let (still, first) = (slip <= STILL * size, layout.tangents[i]);
            // What rests and neither presses nor parts stays where it is.
            let rests = piece.modes[i].closed() && next.modes[i].closed() && phase.motion[row] <= STILL * size;
            let normal = laws.len();
            pushes |= press > 0.0;
            match phase.stage {
                Stage::Whole if press > 0.0 || rests => laws.push((layout.normals[i], Law::Held(restitution))),
                Stage::Compression if press > 0.0 || rests => laws.push((layout.normals[i], Law::Held(0.0))),
                Stage::Expansion => {
                    let before = previous.map_or(0.0, |phase| phase.impulse[row]);
                    let steps = self.steps.last();
                    let of = steps
                        .and_then(|step| step.laws.iter().position(|&(row, _)| row == layout.normals[i]))
                        .filter(|_| before > 0.0);
                    let beyond = press > restitution * before * (1.0 + STILL) + STILL * before;
                    match of {
                        Some(of) if !beyond => {
                            laws.push((layout.normals[i], Law::Share { part: restitution, of }));
                        }
                        _ if press > 0.0 => laws.push((layout.normals[i], Law::Held(0.0))),
                        _ => continue,
                    }
                }
                Stage::Stopped { .. } if press > 0.0 => laws.push((layout.normals[i], Law::Stops { row: first })),
                Stage::Compressed if press > 0.0 => laws.push((layout.normals[i], Law::Held(0.0))),
                Stage::Restored if press > 0.0 => {
                    let law = Law::Returns { part: restitution * restitution, compression: 0..0, expansion: 0..0 };
                    laws.push((layout.normals[i], law));
                }
                _ => continue,
            }
            let rubs = tangents > 0 && model.sliding(i, [1.0, 0.0], 0.0)[0] != 0.0;
            let each = 0..tangents;
            if !options.impact_friction {
                if piece.modes[i] == Mode::Stick && !course {
                    laws.extend(each.map(|k| (first + k, Law::Held(0.0))));
                }
            } else if course && rubs {
                let start = self.steps.last().map_or(&self.before.v, |step| &step.v);
                let kept =
                    still && !matches!(phase.stage, Stage::Stopped { .. }) && self.slip(first, start) <= STILL * size;
                let ratio = phase.impulse[row + 1] / press;
                laws.push((first, if kept { Law::Held(0.0) } else { Law::Drags { ratio, normal } }));
            } else if press > 0.0 && rubs {
                laws.extend(each.map(|tangent| match still {
                    true => (first + tangent, Law::Held(0.0)),
                    false => (first + tangent, Law::Slides { contact: i, tangent, normal, first }),
                }));
            }
        }
        pushes.then_some(laws)
    }

    /// The size of the rate of a row before the impact with other velocities.
    fn slip(&self, row: usize, v: &[f64]) -> f64 {
        let mut state = self.before.clone();
        state.v.copy_from_slice(v);
        let (mut work, mut rate) = (self.held.work(), vec![0.0; self.held.shape().rows()]);
        self.held.prepare(&state, &mut work);
        self.held.constraint_rate(&state, &mut work, &mut rate);
        rate[row].abs()
    }

    /// The velocities and multipliers at the end of a phase whose impulses of contacts are known: those of constraints follow.
    fn step(
        &self,
        laws: Vec<(usize, Law)>,
        phase: &Phase,
        layout: &Layout,
        frozen: &Frozen,
    ) -> Result<Step, AnalysisError> {
        let start = self.steps.last().map_or(&self.before.v, |step| &step.v);
        let n = start.len();
        // Impulses by rows; what has none in the phase belongs to constraints and latches.
        let mut known = vec![None; self.held.shape().rows()];
        for &i in &phase.contacts {
            let row = self.held.start(i);
            known[layout.normals[i]] = Some(phase.impulse[row]);
            (0..self.model.tangents(i)).for_each(|k| known[layout.tangents[i] + k] = Some(phase.impulse[row + 1 + k]));
        }
        let unknown: Vec<usize> = laws.iter().map(|&(row, _)| row).filter(|&row| known[row].is_none()).collect();
        let m = unknown.len();
        let (mut matrix, mut right) = (Matrix::zeros(n + m, n + m), vec![0.0; n + m]);
        for i in 0..n {
            for j in 0..n {
                matrix[(i, j)] = frozen.mass[i * n + j].re;
                right[i] += matrix[(i, j)] * start[j];
            }
            for (row, impulse) in known.iter().enumerate() {
                right[i] += frozen.rows[row * n + i].re * impulse.unwrap_or(0.0);
            }
            for (k, &row) in unknown.iter().enumerate() {
                matrix[(i, n + k)] = frozen.rows[row * n + i].re;
                matrix[(n + k, i)] = frozen.rows[row * n + i].re;
                right[n + k] = -frozen.drive[row].re;
            }
        }
        let solution = matrix.solve_vector(&right, "the equations of an impact (redundant constraints)")?;
        let multiplier = |&(row, _): &(usize, Law)| match known[row] {
            Some(impulse) => -impulse,
            None => unknown.iter().position(|&other| other == row).map_or(0.0, |k| solution[n + k]),
        };
        let multipliers = laws.iter().map(multiplier).collect();
        Ok(Step { laws, v: solution[..n].to_vec(), multipliers, matrix: Matrix::zeros(0, 0) })
    }

    /// The equations of a phase, given velocities at the beginning and at the end of each phase and the multipliers of each.
    fn residual(&self, k: usize, frozen: &Frozen, v: &[Vec<Dual>], multipliers: &[Vec<Dual>]) -> Vec<Dual> {
        let (step, old, new, own) = (&self.steps[k], &v[k], &v[k + 1], &multipliers[k]);
        let n = old.len();
        let balance = (0..n).map(|i| {
            let gained = (0..n).fold(Dual::default(), |sum, j| sum + frozen.mass[i * n + j] * (new[j] - old[j]));
            let laws = step.laws.iter().zip(own);
            laws.fold(gained, |sum, (&(row, _), &multiplier)| sum + frozen.rows[row * n + i] * multiplier)
        });
        let mut out: Vec<Dual> = balance.collect();
        for ((row, law), &multiplier) in step.laws.iter().zip(own) {
            out.push(match *law {
                Law::Held(restitution) => frozen.rate(*row, new) + frozen.rate(*row, old) * restitution,
                Law::Slides { contact, tangent, normal, first } => {
                    let slip = (0..self.model.tangents(contact)).map(|k| frozen.rate(first + k, new));
                    multiplier - own[normal] * self.friction(contact, &slip.collect::<Vec<_>>())[tangent]
                }
                Law::Drags { ratio, normal } => multiplier - own[normal] * ratio,
                Law::Share { part, of } => multiplier - multipliers[k - 1][of] * part,
                Law::Stops { row } => frozen.rate(row, new),
                Law::Returns { part, ref compression, ref expansion } => {
                    let work = |range: &Range<usize>| {
                        range.clone().fold(Dual::default(), |sum, phase| {
                            let of = self.steps[phase].laws.iter().position(|&(other, _)| other == *row);
                            let press = of.map_or(Dual::default(), |of| multipliers[phase][of]);
                            sum + press * (frozen.rate(*row, &v[phase]) + frozen.rate(*row, &v[phase + 1]))
                        })
                    };
                    work(expansion) + work(compression) * part
                }
            });
        }
        out
    }

    /// The friction for unit press against a slip, as impacts have it.
    fn friction(&self, contact: usize, slip: &[Dual]) -> [Dual; 2] {
        let direction = match *slip {
            [only] => [if only.re < 0.0 { -1.0 } else { 1.0 }.into(), Dual::default()],
            [first, second] => {
                let speed = dalembert_methods::Real::sqrt(first * first + second * second);
                [first / speed, second / speed]
            }
            _ => [Dual::default(); 2],
        };
        self.model.sliding(contact, direction, Dual::default())
    }

    /// All velocities and multipliers up to the end of a phase, without change.
    fn constants(&self, k: usize) -> (Vec<Vec<Dual>>, Vec<Vec<Dual>>) {
        let mut v = vec![constant(&self.before.v)];
        v.extend(self.steps[..=k].iter().map(|step| constant(&step.v)));
        (v, self.steps[..=k].iter().map(|step| constant(&step.multipliers)).collect())
    }

    /// The derivative of the equations of a phase by its own unknowns.
    fn differentiate(&mut self, k: usize, frozen: &Frozen) {
        let (mut v, mut multipliers) = self.constants(k);
        let (n, m) = (self.before.v.len(), multipliers[k].len());
        let mut matrix = Matrix::zeros(n + m, n + m);
        for j in 0..n + m {
            let seed = |v: &mut [Vec<Dual>], multipliers: &mut [Vec<Dual>], value: f64| match j < n {
                true => v[k + 1][j].eps[0] = value,
                false => multipliers[k][j - n].eps[0] = value,
            };
            seed(&mut v, &mut multipliers, 1.0);
            let column: Vec<f64> = self.residual(k, frozen, &v, &multipliers).iter().map(|r| r.eps[0]).collect();
            matrix.set_column(j, &column);
            seed(&mut v, &mut multipliers, 0.0);
        }
        self.steps[k].matrix = matrix;
    }

    /// R′: carries a change, at a time that changes by `late`.
    pub(super) fn carry(&self, c: &mut [f64], late: f64) -> Result<(), AnalysisError> {
        let n = self.before.v.len();
        let (state, mut work) = lifted(&self.held, &self.before, c, late);
        let frozen = Frozen::new(&self.held, &state, &mut work);
        let (mut v, mut multipliers) = (vec![state.v.clone()], Vec::new());
        for (k, step) in self.steps.iter().enumerate() {
            v.push(constant(&step.v));
            multipliers.push(constant(&step.multipliers));
            let right: Vec<f64> = self.residual(k, &frozen, &v, &multipliers).iter().map(|r| -r.eps[0]).collect();
            let solution = step.matrix.solve_vector(&right, "the equations of an impact")?;
            (0..n).for_each(|i| v[k + 1][i].eps[0] = solution[i]);
            multipliers[k].iter_mut().zip(&solution[n..]).for_each(|(multiplier, &change)| multiplier.eps[0] = change);
        }
        let last = v.last().unwrap_or(&state.v);
        c[n..2 * n].iter_mut().zip(last).for_each(|(c, v)| *c = v.eps[0]);
        Ok(())
    }
}
