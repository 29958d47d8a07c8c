//! Systems that do the same with other numbers, run side by side: four values of a parameter in the lanes of one number.
//!
//! The models of a scene at different values of a parameter have the same equations with other constants. Their rates are recorded as lists of
//! instructions ([`dalembert_graph`]), and lists are compared: where only constants differ, four systems run in lanes, with constants, states and periods of their
//! own and one common sequence of steps, relative to their periods. Jets of lanes carry changes along,
//!
//! ```text
//! M a + [G; A]ᵀ λ = f,   [G; A] a = −bias,      z = (q, v, x),   ż = (v, a, r)
//! ```
//!
//! Constraints are met on the level of accelerations; by how much positions have left them at the end is looked at. Systems that cannot be recorded (branches, friction in
//! constraints, rotations in space), whose constraints are redundant or left, are run one by one by [`Motion`], with the same meaning.

mod exponents;

pub use exponents::exponents_while;

use crate::dense::Matrix;
use crate::error::AnalysisError;
use crate::field::{Number, Settings};
use crate::motion::{Motion, coordinates};
use dalembert_graph::recipe::Recipe;
use dalembert_graph::tape::{Slots, Tape};
use dalembert_methods::integrate::tableau::Tableau;
use dalembert_methods::system::{Shape, State, System};
use dalembert_methods::{Jet, Lanes, Real};

/// Systems side by side.
const LANES: usize = 4;
type Four = Lanes<LANES>;

/// The first step, as a part of the period.
const FIRST: f64 = 0.02;
/// The shortest step, as a part of the period.
const SHORTEST: f64 = 1e-12;
/// Constraints that are off by more than this times the tolerance at the end, relative to one and the size of coordinates, are left.
const LEFT: f64 = 1e3;

/// The rates of a system, if they can be recorded and run here.
pub fn recipe<Y: System>(y: &Y) -> Option<Recipe> {
    let shape = y.shape();
    if shape.q == shape.v && y.loads().is_empty() { Recipe::of(y) } else { None }
}

/// The matrices of one period of many systems, each with its start and period, in a basis of the changes that its constraints allow; the same as
/// [`Motion::monodromy`] gives, within the tolerance.
pub fn monodromies<Y: System>(
    systems: &[(&Y, State<f64>, f64)],
    settings: Settings,
) -> Vec<Result<Matrix, AnalysisError>> {
    let recipes: Vec<Option<Recipe>> = systems.iter().map(|(y, ..)| recipe(*y)).collect();
    let mut out: Vec<Option<Matrix>> = (0..systems.len()).map(|_| None).collect();
    let mut groups: Vec<(&Recipe, Vec<usize>)> = Vec::new();
    for (k, recipe) in recipes.iter().enumerate() {
        let Some(recipe) = recipe else { continue };
        match groups.iter_mut().find(|(known, _)| known.alike(recipe)) {
            Some((_, members)) => members.push(k),
            None => groups.push((recipe, vec![k])),
        }
    }
    for (recipe, members) in &groups {
        let tape = Tape::new(&recipe.program);
        for four in members.chunks(LANES) {
            let own: Vec<&(&Y, State<f64>, f64)> = four.iter().map(|&k| &systems[k]).collect();
            let constants: Vec<&[f64]> =
                four.iter().filter_map(|&k| recipes[k].as_ref()).map(|r| &r.program.constants[..]).collect();
            let found = side_by_side(&tape, recipe.shape, &own, &constants, settings);
            four.iter().zip(found).for_each(|(&k, matrix)| out[k] = matrix);
        }
    }
    systems
        .iter()
        .zip(out)
        .map(|((y, s, period), found)| match found {
            Some(matrix) => Ok(matrix),
            None => Motion::new(*y, settings).monodromy(s, *period).map(|(matrix, _)| matrix),
        })
        .collect()
}

/// The lanes of a number for each of up to four systems; the last one fills the rest.
fn lanes(count: usize, of: impl Fn(usize) -> f64) -> Four {
    Lanes(std::array::from_fn(|lane| of(lane.min(count - 1))))
}

/// The matrices of up to four systems that are alike; nothing for those that must be run alone.
fn side_by_side<Y: System>(
    tape: &Tape,
    shape: Shape,
    systems: &[&(&Y, State<f64>, f64)],
    constants: &[&[f64]],
    settings: Settings,
) -> Vec<Option<Matrix>> {
    let none = || systems.iter().map(|_| None).collect();
    let bases: Result<Vec<Matrix>, AnalysisError> =
        systems.iter().map(|(y, s, _)| Motion::new(*y, settings).basis(s)).collect();
    let Some(bases) = bases.ok().filter(|all| all.iter().all(|b| b.cols() == all[0].cols())) else { return none() };
    let count = systems.len();
    let columns: Vec<Four> = (0..constants[0].len()).map(|i| lanes(count, |k| constants[k][i])).collect();
    let run = Run {
        tape,
        shape,
        constants: &columns,
        start: lanes(count, |k| systems[k].1.t),
        period: lanes(count, |k| systems[k].2),
        settings,
    };
    let d = bases[0].cols();
    let state: Vec<Four> = (0..2 * shape.v + shape.x)
        .map(|i| {
            lanes(count, |k| {
                let s = &systems[k].1;
                let n = shape.v;
                if i < n { s.q[i] } else { s.v.get(i - n).copied().unwrap_or_else(|| s.x[i - 2 * n]) }
            })
        })
        .collect();
    let size = state.len();
    let mut ends: Vec<Matrix> = (0..count).map(|_| Matrix::zeros(size, d)).collect();
    let mut last = state.clone();
    let width = if d <= 2 { 2 } else { 4 };
    for first in (0..d).step_by(width) {
        let column = |i: usize, j: usize| lanes(count, |k| if first + j < d { bases[k][(i, first + j)] } else { 0.0 });
        let mut step = FIRST;
        let carried = match width {
            2 => run.carry::<2>(&state, column, &mut step),
            _ => run.carry::<4>(&state, column, &mut step),
        };
        let Some((end, changes)) = carried else { return none() };
        last = end;
        for (j, change) in changes.iter().enumerate().take(d - first) {
            for (k, matrix) in ends.iter_mut().enumerate() {
                (0..size).for_each(|i| matrix[(i, first + j)] = change[i].0[k]);
            }
        }
    }
    (0..count)
        .map(|k| {
            let (y, s, period) = systems[k];
            let mut end = s.clone();
            end.t = s.t + period;
            for i in 0..shape.v {
                end.q[i] = last[i].0[k];
                end.v[i] = last[shape.v + i].0[k];
            }
            let whole = ends[k].values().iter().all(|x| x.is_finite()) && kept(*y, &end, settings);
            coordinates(&bases[k], &ends[k]).ok().filter(|_| whole)
        })
        .collect()
}

/// Whether a state is still on the constraints.
fn kept<Y: System>(y: &Y, s: &State<f64>, settings: Settings) -> bool {
    let mut off = vec![0.0; y.shape().g];
    let mut work = y.work();
    y.prepare(s, &mut work);
    y.constraint(s, &mut work, &mut off);
    let size = s.q.iter().fold(1.0f64, |max, q| max.max(q.abs()));
    off.iter().all(|g| g.abs() <= LEFT * settings.tolerance.absolute * size)
}

/// Four systems that are alike.
struct Run<'a> {
    tape: &'a Tape,
    shape: Shape,
    constants: &'a [Four],
    start: Four,
    period: Four,
    settings: Settings,
}

impl Run<'_> {
    /// State and changes after one period; nothing if no step is short enough. The first step is a given part of the period, and afterwards the one that would come next.
    fn carry<const K: usize>(
        &self,
        state: &[Four],
        column: impl Fn(usize, usize) -> Four,
        step: &mut f64,
    ) -> Option<(Vec<Four>, Vec<Vec<Four>>)> {
        let size = state.len();
        let constants: Vec<Jet<Four, K>> = self.constants.iter().map(|&c| constant(c)).collect();
        let mut scratch = Scratch {
            slots: self.tape.work_with(&constants),
            input: vec![Jet::zero(); 1 + size],
            output: vec![Jet::zero(); size - self.shape.v],
        };
        let method = self.settings.method;
        let mut z: Vec<Jet<Four, K>> =
            (0..size).map(|i| Jet { re: state[i], eps: std::array::from_fn(|j| column(i, j)) }).collect();
        let mut slopes = vec![vec![Jet::zero(); size]; method.all_stages()];
        let (mut stage, mut error) = (z.clone(), z.clone());
        let longest = self.settings.longest / self.period.0.iter().fold(f64::MIN_POSITIVE, |max, t| max.max(t.abs()));
        let (mut at, mut proposal) = (0.0, *step);
        while at < 1.0 {
            let wanted = f64::min(proposal, longest);
            let h = if at + wanted >= 1.0 { 1.0 - at } else { wanted };
            let seconds = self.period * h;
            self.rate(&mut scratch, at, &z, &mut slopes[0]);
            for i in 1..=method.stages {
                combine(&slopes, method.rows[i], seconds, &mut stage);
                stage.iter_mut().zip(&z).for_each(|(s, &z)| *s += z);
                if i < method.stages || method.error.len() > method.stages {
                    self.rate(&mut scratch, at + method.nodes[i] * h, &stage, &mut slopes[i]);
                }
            }
            let mut weigh = |weights: &[f64]| {
                combine(&slopes, weights, seconds, &mut error);
                error.iter().zip(&stage).fold(0.0, |max: f64, (&e, &s)| {
                    let size = Jet::weigh(e, s, self.settings.tolerance);
                    if size > max || size.is_nan() { size } else { max }
                })
            };
            let mut size = weigh(method.error);
            if !method.error_low.is_empty() {
                size = Tableau::combine(size, weigh(method.error_low));
            }
            let power = 1.0 / f64::from(method.error_power);
            let factor = if size.is_nan() { 0.2 } else { (0.9 * size.max(1e-12).powf(-power)).clamp(0.2, 5.0) };
            proposal = if h < wanted && factor >= 1.0 { wanted.max(h * factor) } else { h * factor };
            if size <= 1.0 {
                at = if h == 1.0 - at { 1.0 } else { at + h };
                std::mem::swap(&mut z, &mut stage);
            } else if proposal < SHORTEST {
                return None;
            }
        }
        *step = proposal;
        let changes = (0..K).map(|j| z.iter().map(|z| z.eps[j]).collect()).collect();
        Some((z.iter().map(|z| z.re).collect(), changes))
    }

    /// (v, a, r) at a part of the period.
    fn rate<const K: usize>(&self, scratch: &mut Scratch<K>, at: f64, z: &[Jet<Four, K>], out: &mut [Jet<Four, K>]) {
        let n = self.shape.v;
        scratch.input[0] = constant(self.start + self.period * at);
        scratch.input[1..].copy_from_slice(z);
        self.tape.run(&mut scratch.slots, &scratch.input, &mut scratch.output);
        out[..n].copy_from_slice(&z[n..2 * n]);
        out[n..].copy_from_slice(&scratch.output);
    }
}

/// What a run writes to.
struct Scratch<const K: usize> {
    slots: Slots<Jet<Four, K>>,
    input: Vec<Jet<Four, K>>,
    output: Vec<Jet<Four, K>>,
}

fn constant<const K: usize>(re: Four) -> Jet<Four, K> {
    Jet { re, eps: [Four::zero(); K] }
}

/// h Σ w k.
fn combine<const K: usize>(slopes: &[Vec<Jet<Four, K>>], weights: &[f64], h: Four, out: &mut [Jet<Four, K>]) {
    out.fill(Jet::zero());
    for (slope, &weight) in slopes.iter().zip(weights).filter(|(_, weight)| **weight != 0.0) {
        let factor = h * weight;
        for (sum, k) in out.iter_mut().zip(slope) {
            sum.re += factor * k.re;
            (0..K).for_each(|j| sum.eps[j] += factor * k.eps[j]);
        }
    }
}
