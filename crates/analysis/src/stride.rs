//! Strides of a model with contacts: from a state just after an event to the next such state, as a map with exact derivatives.
//!
//! The states just after the event form a *section*: contacts are closed as they are at the reference state, and those that have just been left still
//! have gap zero. Those that were held until then have no speed either. In a chart z of it about the reference state s₀ with a basis B of its
//! tangents,
//!
//! ```text
//! z = B⁺ (s ⊖ s₀),      s = lift(z) on the section with that z
//! ```
//!
//! A stride maps z to the chart of S(end), where the symmetry S gives the legs their places back: it exchanges coordinates and turns some by a
//! given angle. Drift in coordinates on which nothing depends (the way along a slope) is left out. Derivatives go through all events with each neighbour
//! meeting the last event at its own time ([`flow_to`]), so that they lie in the section again.
//!
//! A gait is a fixed point; its multipliers are the eigenvalues of the derivative.

mod search;

pub use search::{ROUGH, STARTS, Search, gaits, search};

use crate::dense::Matrix;
use crate::eigen::symmetric;
use crate::error::AnalysisError;
use crate::field::Settings;
use crate::linearise::null_space;
use crate::map::{Cycle, Image, Map, fixed_point};
use crate::motion::coordinates;
use crate::touching::{Goal, beginning, flow_to, outside_hollow};
use crate::variation::Variation;
use dalembert_methods::algebra::Rows;
use dalembert_methods::dynamics::Dynamics;
use dalembert_methods::nonsmooth::{Contacts, Hybrid, Mode, Options};
use dalembert_methods::system::{Shape, State, System};

/// Gaps and speeds up to this, in m and m/s, are zero at the reference state.
const NEAR: f64 = 1e-6;
/// Projections stop at corrections below this; the square of it is left.
const PROJECTION: f64 = 1e-8;
/// How near disturbed coordinates come to their values, and squares of singular values below this part of the largest are none.
const PLACED: f64 = 1e-10;
const RANK: f64 = 1e-16;
/// Most corrections of a lift, and how much is left of the chart.
const CORRECTIONS: usize = 30;
const LIFTED: f64 = 1e-13;

/// What makes the end of a stride comparable with its start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Symmetry {
    /// Coordinates (and velocities) that change places.
    pub exchange: Vec<[usize; 2]>,
    /// What is added to coordinates.
    pub turn: Vec<(usize, f64)>,
    /// Groups of coordinates that may all shift by the same amount, as nothing depends on it.
    pub drift: Vec<Vec<usize>>,
}

impl Symmetry {
    /// Gives coordinates their places back, and takes the drift against a reference out of a state and its changes.
    fn apply(&self, s: &mut State<f64>, columns: &mut Matrix, reference: &State<f64>) {
        let n = s.v.len();
        for &[a, b] in &self.exchange {
            s.q.swap(a, b);
            s.v.swap(a, b);
            for j in 0..columns.cols() {
                for offset in [0, n] {
                    let (first, second) = (columns[(offset + a, j)], columns[(offset + b, j)]);
                    columns[(offset + a, j)] = second;
                    columns[(offset + b, j)] = first;
                }
            }
        }
        for &(i, amount) in &self.turn {
            s.q[i] += amount;
        }
        self.halt(s, reference);
        for group in &self.drift {
            for j in 0..columns.cols() {
                let mean = group.iter().map(|&i| columns[(i, j)]).sum::<f64>() / group.len() as f64;
                group.iter().for_each(|&i| columns[(i, j)] -= mean);
            }
        }
    }

    /// Takes the drift against a reference out of a state.
    fn halt(&self, s: &mut State<f64>, reference: &State<f64>) {
        for group in &self.drift {
            let mean = group.iter().map(|&i| s.q[i] - reference.q[i]).sum::<f64>() / group.len() as f64;
            group.iter().for_each(|&i| s.q[i] -= mean);
        }
    }
}

/// The states just after an event, in a chart about one of them.
#[derive(Clone, Debug)]
pub struct Section {
    reference: State<f64>,
    /// The modes in which strides begin.
    modes: Vec<Mode>,
    /// Open contacts with gap zero, and those of them without speed.
    left: Vec<usize>,
    still: Vec<usize>,
    symmetry: Symmetry,
    /// B, and B⁺.
    basis: Matrix,
    inverse: Matrix,
}

impl Section {
    /// The section through a state (made by [`Hybrid::state`]), which is moved to it if it is a little off.
    ///
    /// # Errors
    /// [`AnalysisError::Invalid`] for models with rotations in space as coordinates or with states of forces; those of the beginning of a run.
    pub fn new<Y: Contacts>(
        model: &Y,
        start: &State<f64>,
        symmetry: &Symmetry,
        options: &Options,
    ) -> Result<Self, AnalysisError> {
        let Shape { q, v, x, .. } = model.shape();
        if q != v || x > 0 {
            let reason =
                "strides need coordinates that are angles and lengths (trees of hinges and sliders, particles), and \
                          forces without states of their own"
                    .to_owned();
            return Err(AnalysisError::Invalid { reason });
        }
        let (modes, _) = beginning(model, start, options)?;
        let hybrid = Hybrid::new(model);
        let count = modes.len();
        let (mut gap, mut rate) = (vec![0.0; count], vec![0.0; hybrid.start(count)]);
        let mut work = hybrid.work();
        hybrid.prepare(start, &mut work);
        hybrid.kinematics(start, &mut work, &mut gap, &mut rate);
        let left: Vec<usize> = (0..count).filter(|&i| !modes[i].closed() && gap[i].abs() <= NEAR).collect();
        let still = left.iter().copied().filter(|&i| rate[hybrid.start(i)].abs() <= NEAR).collect();
        let none = Matrix::zeros(0, 0);
        let (reference, symmetry) = (start.clone(), symmetry.clone());
        let mut section = Self { reference, modes, left, still, symmetry, basis: none.clone(), inverse: none };
        let mut at = start.clone();
        section.project(model, &mut at)?;
        section.reference = at;
        section.basis = section.tangents(model, &section.reference)?;
        let d = section.basis.cols();
        section.inverse = coordinates(&section.basis, &Matrix::unit(2 * v))?;
        if d == 0 {
            let reason = "nothing is free at the beginning of a stride".to_owned();
            return Err(AnalysisError::Invalid { reason });
        }
        Ok(section)
    }

    /// The number of coordinates of the chart.
    pub fn size(&self) -> usize {
        self.basis.cols()
    }

    /// The model in the modes of the start, with some further contacts closed.
    fn closed<'m, Y: Contacts>(&self, model: &'m Y, also: &[usize]) -> Hybrid<'m, Y> {
        let mut modes = self.modes.clone();
        for &i in also {
            modes[i] = Mode::Slide { direction: [f64::from(u8::from(model.tangents(i) > 0)), 0.0] };
        }
        let mut hybrid = Hybrid::new(model);
        hybrid.set_modes(&modes);
        hybrid
    }

    /// Moves a state to the section.
    pub(crate) fn project<Y: Contacts>(&self, model: &Y, s: &mut State<f64>) -> Result<(), AnalysisError> {
        let places = self.closed(model, &self.left);
        Dynamics::new(&places).project_position(&places, s, PROJECTION)?;
        self.symmetry.halt(s, &self.reference);
        let speeds = self.closed(model, &self.still);
        Ok(Dynamics::new(&speeds).project_velocity(&speeds, s)?)
    }

    /// A basis of the tangents of the section at one of its states.
    pub(crate) fn tangents<Y: Contacts>(&self, model: &Y, s: &State<f64>) -> Result<Matrix, AnalysisError> {
        let hybrid = self.closed(model, &self.still);
        let all = Variation::new(&hybrid).basis(&hybrid, s)?;
        let n = s.v.len();
        let mut work = hybrid.work();
        hybrid.prepare(s, &mut work);
        let mut jacobian = Rows::new(hybrid.start(self.modes.len()), n, &model.contact_blocks());
        hybrid.contact_rows(s, &mut work, &mut jacobian);
        let mut dense = vec![0.0; hybrid.start(self.modes.len()) * n];
        jacobian.to_dense(&mut dense);
        let gaps = self.left.iter().filter(|i| !self.still.contains(i));
        let gaps = gaps.map(|&i| dense[hybrid.start(i) * n..][..n].to_vec());
        let sum = |group: &Vec<usize>| (0..n).map(|k| f64::from(u8::from(group.contains(&k)))).collect();
        let rows: Vec<Vec<f64>> = gaps.chain(self.symmetry.drift.iter().map(sum)).collect();
        let positions = all.block(0, 0, n, all.cols());
        let held = Matrix::from_fn(rows.len(), n, |i, j| rows[i][j]).mul(&positions);
        Ok(all.mul(&null_space(&held).0))
    }

    /// The chart of a state.
    pub fn chart(&self, s: &State<f64>) -> Vec<f64> {
        let r = &self.reference;
        let q = s.q.iter().zip(&r.q).map(|(a, b)| a - b);
        let v = s.v.iter().zip(&r.v).map(|(a, b)| a - b);
        self.inverse.apply(&q.chain(v).collect::<Vec<f64>>())
    }

    /// The state of the section with given coordinates of the chart.
    ///
    /// # Errors
    /// [`AnalysisError::NotConverged`] too far from the reference.
    pub fn lift<Y: Contacts>(&self, model: &Y, z: &[f64]) -> Result<State<f64>, AnalysisError> {
        let mut w = z.to_vec();
        let mut residual = f64::INFINITY;
        for _ in 0..CORRECTIONS {
            let change = self.basis.apply(&w);
            let mut s = self.reference.clone();
            let n = s.v.len();
            s.q.iter_mut().zip(&change[..n]).for_each(|(q, c)| *q += c);
            s.v.iter_mut().zip(&change[n..]).for_each(|(v, c)| *v += c);
            self.project(model, &mut s)?;
            let there = self.chart(&s);
            let before = residual;
            residual = z.iter().zip(&there).fold(0.0, |max: f64, (z, t)| max.max((z - t).abs()));
            let size = z.iter().fold(1.0f64, |max, z| max.max(z.abs()));
            if residual <= LIFTED * size || (residual < 1e-11 * size && residual >= 0.5 * before) {
                return Ok(s);
            }
            w.iter_mut().zip(z.iter().zip(&there)).for_each(|(w, (z, t))| *w += z - t);
        }
        let advice = "stay nearer to the reference state";
        Err(AnalysisError::NotConverged { what: "the state of a section", iterations: CORRECTIONS, residual, advice })
    }
}

/// How a stride goes.
#[derive(Clone, Debug)]
pub struct Stride<'a> {
    /// Where it begins and ends.
    pub section: &'a Section,
    /// The events through which it goes, in order; the last one ends it. Others may happen between them.
    pub goals: &'a [Goal],
    /// The longest time allowed in seconds.
    pub longest: f64,
    /// How contacts are treated.
    pub options: &'a Options,
    /// How the motion is computed.
    pub settings: Settings,
}

/// The end of a stride.
#[derive(Clone, Debug, PartialEq)]
pub struct End {
    /// The state, after the symmetry.
    pub state: State<f64>,
    /// How long it took, in seconds.
    pub time: f64,
    /// Its events.
    pub events: usize,
}

impl Stride<'_> {
    /// One stride from a state of the section, with changes.
    ///
    /// # Errors
    /// Those of [`flow_to`].
    pub fn run<Y: Contacts>(&self, model: &Y, start: &State<f64>, columns: &mut Matrix) -> Result<End, AnalysisError> {
        let mut s = start.clone();
        let until = s.t + self.longest;
        let events = flow_to(model, &mut s, columns, self.goals, until, self.options, self.settings)?.len();
        self.section.symmetry.apply(&mut s, columns, &self.section.reference);
        let time = s.t - start.t;
        s.t = start.t;
        Ok(End { state: s, time, events })
    }

    /// The failure of a search, with what came down beside a hollow in the stride from where it started.
    fn explained<Y: Contacts>(&self, model: &Y, z: &[f64], error: AnalysisError) -> AnalysisError {
        let Ok(start) = self.section.lift(model, z) else { return error };
        let until = start.t + self.longest;
        match outside_hollow(model, &start, self.goals, until, self.options, self.settings) {
            hint if hint.is_empty() => error,
            hint => AnalysisError::Invalid { reason: format!("{error}{hint}") },
        }
    }

    /// The chart of the end of a stride that begins at given coordinates of the chart.
    ///
    /// # Errors
    /// Those of [`Stride::run`].
    pub fn value<Y: Contacts>(&self, model: &Y, z: &[f64]) -> Result<Vec<f64>, AnalysisError> {
        let start = self.section.lift(model, z)?;
        let end = self.run(model, &start, &mut Matrix::zeros(2 * start.v.len(), 0))?;
        Ok(self.section.chart(&end.state))
    }

    /// The same with its derivative.
    ///
    /// # Errors
    /// Those of [`Stride::run`].
    pub fn image<Y: Contacts>(&self, model: &Y, z: &[f64]) -> Result<(Vec<f64>, Matrix), AnalysisError> {
        let start = self.section.lift(model, z)?;
        let tangents = self.section.tangents(model, &start)?;
        let there = self.section.inverse.mul(&tangents);
        let mut columns = tangents.mul(&there.solve(&Matrix::unit(there.rows()), "the chart of a section")?);
        let end = self.run(model, &start, &mut columns)?;
        Ok((self.section.chart(&end.state), self.section.inverse.mul(&columns)))
    }
}

/// A model whose strides are a map; the parameter is not used.
pub struct Fixed<'a, Y> {
    /// The model.
    pub model: &'a Y,
    /// The stride.
    pub stride: Stride<'a>,
}

impl<Y: Contacts + Sync> Map for Fixed<'_, Y> {
    fn size(&self) -> usize {
        self.stride.section.size()
    }
    fn image(&self, z: &[f64], _parameter: f64) -> Result<Image, AnalysisError> {
        let (value, by_state) = self.stride.image(self.model, z)?;
        let by_parameter = vec![0.0; value.len()];
        Ok(Image { value, by_state, by_parameter })
    }
    fn value(&self, z: &[f64], _parameter: f64) -> Result<Vec<f64>, AnalysisError> {
        self.stride.value(self.model, z)
    }
}

/// A gait.
#[derive(Clone, Debug, PartialEq)]
pub struct Gait {
    /// Its coordinates in the chart, multipliers, residual and Newton steps.
    pub cycle: Cycle,
    /// The state at the beginning of a stride.
    pub state: State<f64>,
    /// The time of a stride in seconds.
    pub time: f64,
    /// The events of a stride.
    pub events: usize,
}

/// A gait near given coordinates of the chart, by Newton's method.
///
/// # Errors
/// Those of [`fixed_point`]; [`AnalysisError::Invalid`] if start and end agree in the chart and not elsewhere, so that the symmetry is not one.
pub fn gait<Y: Contacts + Sync>(
    model: &Y,
    stride: &Stride<'_>,
    guess: &[f64],
    tolerance: f64,
) -> Result<Gait, AnalysisError> {
    let map = Fixed { model, stride: stride.clone() };
    let cycle = fixed_point(&map, guess, 0.0, tolerance).map_err(|error| match error {
        // A foot that was to pass and comes down leads to other strides.
        AnalysisError::NotConverged { .. } => stride.explained(model, guess, error),
        other => other,
    })?;
    let state = stride.section.lift(model, &cycle.state)?;
    let end = stride.run(model, &state, &mut Matrix::zeros(2 * state.v.len(), 0))?;
    let n = state.v.len();
    let apart = |i: usize| match i {
        _ if i < n => (state.q[i] - end.state.q[i]).abs(),
        _ => (state.v[i - n] - end.state.v[i - n]).abs(),
    };
    let worst = (0..2 * n).max_by(|&i, &j| apart(i).total_cmp(&apart(j))).unwrap_or(0);
    if apart(worst) > 1e4 * tolerance {
        let what = if worst < n { "coordinate" } else { "velocity" };
        let reason = format!(
            "the {what} {} differs by {:.3e} after a stride: exchange or turn the right coordinates, or let them drift",
            model.velocity_name(worst % n),
            apart(worst)
        );
        return Err(AnalysisError::Invalid { reason });
    }
    Ok(Gait { cycle, state, time: end.time, events: end.events })
}

/// The chart of the state of a section whose given coordinates, or velocities, which are numbered after them, differ from those of a gait by given amounts. Others
/// change as little as the section allows.
///
/// # Errors
/// [`AnalysisError::Invalid`] if the section does not allow it; those of [`Section::lift`].
fn disturbed<Y: Contacts>(
    model: &Y,
    section: &Section,
    gait: &Gait,
    change: &[(usize, f64)],
) -> Result<Vec<f64>, AnalysisError> {
    disturbed_from(model, section, &gait.cycle.state, &gait.state, change)
}

/// The same about any state of the section, given with its chart.
fn disturbed_from<Y: Contacts>(
    model: &Y,
    section: &Section,
    chart: &[f64],
    state: &State<f64>,
    change: &[(usize, f64)],
) -> Result<Vec<f64>, AnalysisError> {
    let n = state.v.len();
    let at = |s: &State<f64>, i: usize| if i < n { s.q[i] } else { s.v[i - n] };
    let mut z = chart.to_vec();
    for _ in 0..CORRECTIONS {
        let s = section.lift(model, &z)?;
        let off: Vec<f64> = change.iter().map(|&(i, amount)| at(state, i) + amount - at(&s, i)).collect();
        if off.iter().all(|off| off.abs() <= PLACED) {
            return Ok(z);
        }
        let tangents = section.tangents(model, &s)?;
        let rows = Matrix::from_fn(change.len(), tangents.cols(), |k, j| tangents[(change[k].0, j)]);
        // The shortest step: rows that the section keeps from changing have no part in it.
        let (squares, vectors) = symmetric(&rows.mul(&rows.transpose()));
        let largest = squares.iter().fold(0.0f64, |max, s| max.max(*s));
        let mut weights = vec![0.0; change.len()];
        for (k, &square) in squares.iter().enumerate().filter(|(_, square)| **square > RANK * largest) {
            let direction = vectors.column(k);
            let part = direction.iter().zip(&off).map(|(d, o)| d * o).sum::<f64>() / square;
            weights.iter_mut().zip(&direction).for_each(|(w, d)| *w += part * d);
        }
        let step = section.inverse.apply(&tangents.apply(&rows.transpose().apply(&weights)));
        z.iter_mut().zip(&step).for_each(|(z, step)| *z += step);
    }
    let names: Vec<String> = change.iter().map(|&(i, _)| model.velocity_name(i % n)).collect();
    let reason = format!("at the beginning of a stride {} cannot have such values together", names.join(" and "));
    Err(AnalysisError::Invalid { reason })
}

/// The strides until a walker that is off a gait is back on it, by less than `near` in all coordinates of the chart: changes of coordinates, or of velocities, which
/// are numbered after them. Nothing if it is not back after the most strides allowed.
///
/// # Errors
/// Those of [`Stride::value`]: it falls; [`AnalysisError::Invalid`] if a stride cannot begin so.
pub fn come_back<Y: Contacts>(
    model: &Y,
    stride: &Stride<'_>,
    gait: &Gait,
    change: &[(usize, f64)],
    near: f64,
    most: usize,
) -> Result<Option<usize>, AnalysisError> {
    let mut z = disturbed(model, stride.section, gait, change)?;
    for round in 0..=most {
        let apart = z.iter().zip(&gait.cycle.state).fold(0.0f64, |max, (a, b)| max.max((a - b).abs()));
        if apart < near {
            return Ok(Some(round));
        }
        if round < most {
            z = stride.value(model, &z)?;
        }
    }
    Ok(None)
}

/// The derivative of a stride in the chart by central differences of fourth order with a step: an independent check.
///
/// # Errors
/// Those of [`Stride::value`].
pub fn differences<Y: Contacts>(model: &Y, stride: &Stride<'_>, z: &[f64], step: f64) -> Result<Matrix, AnalysisError> {
    let d = z.len();
    let mut out = Matrix::zeros(d, d);
    for j in 0..d {
        let moved = |times: f64| {
            let mut z = z.to_vec();
            z[j] += times * step;
            stride.value(model, &z)
        };
        let [a, b, c, e] = [moved(-2.0)?, moved(-1.0)?, moved(1.0)?, moved(2.0)?];
        let column: Vec<f64> = (0..d).map(|i| (a[i] - 8.0 * b[i] + 8.0 * c[i] - e[i]) / (12.0 * step)).collect();
        out.set_column(j, &column);
    }
    Ok(out)
}
