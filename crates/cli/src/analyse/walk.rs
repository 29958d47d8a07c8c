//! Gaits of scenes: strides from one strike to the next, their fixed points, multipliers, curves over a value, basins.

use super::cycles::STATE_STEP;
use super::page::Page;
use super::{failed, short, velocity};
use crate::args::{ModelOptions, StrideOptions};
use crate::exit::Exit;
use crate::robot;
use dalembert::model::Model;
use dalembert::scene::Scene;
use dalembert_analysis::AnalysisError;
use dalembert_analysis::eigen::eigenvalues;
use dalembert_analysis::evolution;
use dalembert_analysis::field::Settings;
use dalembert_analysis::map::{Image, Map};
use dalembert_analysis::stride::{Gait, Section, Stride, Symmetry, differences, gait, search};
use dalembert_analysis::touching::Goal;
use dalembert_methods::nonsmooth::{Contacts, Hybrid, Kind, Options};
use dalembert_methods::system::System;
use std::path::Path;

/// The step of differences by the value of the scene, relative to one and its size.
const STEP: f64 = 1e-6;
/// Points of a generation of the evolution strategy for each coordinate, and the goal at which it ends.
const POINTS: usize = 6;
const GOAL: f64 = 1e-7;

/// A scene with all that makes its strides.
pub struct Walk {
    pub scene: Scene,
    pub section: Section,
    goals: Vec<Goal>,
    options: Options,
    longest: f64,
    tolerance: f64,
}

/// The contact with a name, or whose name contains it, and what is to happen there.
fn goal(model: &Model, text: &str) -> Result<Goal, Exit> {
    let (name, kind) = text.rsplit_once(':').map_or((text, "impact"), |(name, kind)| (name, kind));
    let kinds = [Kind::Impact, Kind::Touch, Kind::LiftOff, Kind::Stick, Kind::Slip, Kind::Reversal];
    let Some(kind) = kinds.into_iter().find(|k| k.name() == kind) else {
        let known: Vec<&str> = kinds.iter().map(|k| k.name()).collect();
        return Err(Exit::Usage(format!(
            "`{kind}` is nothing that happens to contacts; there are {}",
            known.join(", ")
        )));
    };
    let names: Vec<String> = (0..Contacts::contacts(model)).map(|i| model.contact_name(i)).collect();
    let exact = names.iter().position(|n| n == name || n.strip_prefix("contact.") == Some(name));
    let part: Vec<usize> = (0..names.len()).filter(|&i| names[i].contains(name)).collect();
    match (exact, part.as_slice()) {
        (Some(contact), _) | (None, &[contact]) => Ok(Goal { contact, kind }),
        _ => Err(Exit::Usage(format!("`{name}` names no single contact; there are {}", names.join(", ")))),
    }
}

/// The symmetry that options ask for.
fn symmetry(model: &Model, options: &StrideOptions) -> Result<Symmetry, Exit> {
    let names: Vec<String> = (0..model.shape().v).map(|i| model.velocity_name(i)).collect();
    let mut exchange = Vec::new();
    for text in &options.exchange {
        let pair = text.split_once('=').filter(|(a, b)| !a.is_empty() && !b.is_empty());
        let (one, other) = pair.ok_or_else(|| Exit::Usage(format!("`{text}`: expected ONE=OTHER")))?;
        let own: Vec<usize> = (0..names.len()).filter(|&i| names[i].contains(one)).collect();
        if own.is_empty() {
            return Err(Exit::Usage(format!("`{one}` is in no name of {}", names.join(", "))));
        }
        for i in own {
            let wanted = names[i].replace(one, other);
            let j = names.iter().position(|n| *n == wanted);
            let j = j.ok_or_else(|| Exit::Usage(format!("`{}` has no partner `{wanted}`", names[i])))?;
            exchange.push([i, j]);
        }
    }
    let mut turn = Vec::new();
    for text in &options.turn {
        let pair = text.rsplit_once('=').and_then(|(name, value)| Some((name, value.parse::<f64>().ok()?)));
        let (name, value) = pair.ok_or_else(|| Exit::Usage(format!("`{text}`: expected NAME=VALUE")))?;
        turn.push((velocity(model, name)?, value));
    }
    let drift = options.drift.iter().map(|name| Ok(vec![velocity(model, name)?])).collect::<Result<_, Exit>>()?;
    Ok(Symmetry { exchange, turn, drift })
}

impl Walk {
    /// The strides of a scene from its start.
    pub fn new(model: &ModelOptions, options: &StrideOptions, tolerance: f64) -> Result<Self, Exit> {
        let scene = robot::scene(model)?;
        let goals = options.strike.iter().map(|text| goal(&scene.model, text)).collect::<Result<Vec<_>, _>>()?;
        let symmetry = symmetry(&scene.model, options)?;
        let choice = scene.run.contacts.options(tolerance);
        let start = Hybrid::new(&scene.model).state(scene.model.initial_state());
        let section = Section::new(&scene.model, &start, &symmetry, &choice).map_err(failed)?;
        Ok(Self { scene, section, goals, options: choice, longest: options.longest, tolerance })
    }

    /// How a stride goes.
    pub fn stride(&self) -> Stride<'_> {
        let Self { section, goals, options, longest, tolerance, .. } = self;
        Stride { section, goals, longest: *longest, options, settings: Settings::within(*tolerance) }
    }

    /// A gait: near the start, or wherever the evolution strategy leads.
    pub fn gait(&self, options: &StrideOptions, page: &mut Page) -> Result<Gait, Exit> {
        let (model, stride, d) = (&self.scene.model, self.stride(), self.section.size());
        page.say(&format!("{d} coordinates on the section"));
        let near = (1e3 * self.tolerance).max(1e-11);
        let Some(spread) = options.search else {
            let mut z = vec![0.0; d];
            for _ in 0..options.walk {
                z = stride.value(model, &z).map_err(failed)?;
            }
            return gait(model, &stride, &z, near).map_err(failed);
        };
        let mut last = None;
        for round in 0..options.tries.max(1) {
            let seed = options.seed + round as u64;
            let population = POINTS * d;
            let choice = evolution::Options { seed, population, generations: options.generations, goal: GOAL };
            let found = search(model, &stride, spread, options.shortest, &choice);
            page.say(&format!(
                "evolution strategy, seed {seed}: end and start differ by {:.1e} after {} generations of {population}",
                found.value.sqrt(),
                found.generations
            ));
            match gait(model, &stride, &found.point, near) {
                Ok(gait) if gait.time >= options.shortest => return Ok(gait),
                Ok(gait) => last = Some(failed(format!("the gait found takes {} s only", gait.time))),
                Err(error) => last = Some(failed(error)),
            }
        }
        Err(last.unwrap_or_else(|| failed("nothing was tried")))
    }
}

/// A gait in words, its multipliers also by differences.
pub fn limit_cycle(
    model: &ModelOptions,
    options: &StrideOptions,
    tolerance: f64,
    out: Option<&Path>,
) -> Result<(), Exit> {
    let mut page = Page::new(&format!("Gait of {}", model.model));
    let walk = Walk::new(model, options, tolerance)?;
    let found = walk.gait(options, &mut page)?;
    tell(&walk, &found, &mut page)?;
    super::cycles::turn(&mut page, &walk.scene, &found.state, found.time, tolerance)?;
    page.finish(out)
}

fn tell(walk: &Walk, found: &Gait, page: &mut Page) -> Result<(), Exit> {
    let cycle = &found.cycle;
    page.say(&format!(
        "a gait after {} Newton steps: one stride takes {:.9} s with {} events, end and start differ by {:.1e}",
        cycle.iterations, found.time, found.events, cycle.residual
    ));
    super::cycles::list(page, &cycle.multipliers, found.time);
    page.say(&match cycle.multipliers.iter().filter(|m| m.modulus() > 1.0 + 1e-6).count() {
        0 => "stable: no disturbance grows".to_owned(),
        n => format!("unstable: {n} multipliers lie outside the unit circle"),
    });
    let by_differences =
        differences(&walk.scene.model, &walk.stride(), &cycle.state, STATE_STEP).and_then(|m| eigenvalues(&m));
    match by_differences {
        Ok(values) => {
            let apart = super::cycles::apart(&cycle.multipliers, &values);
            page.say(&format!("multipliers by differences of strides are these to {apart:.1e}"));
        }
        Err(error) => page.say(&format!("no differences of strides: {error}")),
    }
    let mut rows = vec![["coordinate", "position", "velocity"].map(str::to_owned).to_vec()];
    for (i, (q, v)) in found.state.q.iter().zip(&found.state.v).enumerate() {
        rows.push(vec![walk.scene.model.velocity_name(i), format!("{q:.12}"), format!("{v:.12}")]);
    }
    page.table(&rows);
    let table: String = found.state.q.iter().zip(&found.state.v).map(|(q, v)| format!("{q:?},{v:?}\n")).collect();
    page.file("gait.csv", format!("position,velocity\n{table}").into_bytes());
    Ok(())
}

/// Strides as a map whose parameter is a value of the scene.
pub struct WalkMap<'a> {
    pub walk: &'a Walk,
    pub model: &'a ModelOptions,
    pub parameter: &'a str,
}

impl WalkMap<'_> {
    fn scene(&self, parameter: f64) -> Result<Scene, AnalysisError> {
        let own = super::with(self.model, &[(self.parameter, parameter)]);
        robot::scene(&own).map_err(|_| AnalysisError::Invalid {
            reason: format!("the scene cannot take {} = {parameter}", self.parameter),
        })
    }
}

impl Map for WalkMap<'_> {
    fn size(&self) -> usize {
        self.walk.section.size()
    }
    fn image(&self, z: &[f64], parameter: f64) -> Result<Image, AnalysisError> {
        let stride = self.walk.stride();
        let (value, by_state) = stride.image(&self.scene(parameter)?.model, z)?;
        let step = STEP * (1.0 + parameter.abs());
        let up = self.value(z, parameter + step)?;
        let down = self.value(z, parameter - step)?;
        let by_parameter = up.iter().zip(&down).map(|(u, d)| (u - d) / (2.0 * step)).collect();
        Ok(Image { value, by_state, by_parameter })
    }
    fn value(&self, z: &[f64], parameter: f64) -> Result<Vec<f64>, AnalysisError> {
        self.walk.stride().value(&self.scene(parameter)?.model, z)
    }
}

/// A number of strides from a start that is off the gait in two coordinates, until it is back; nothing if it falls.
pub fn come_back(walk: &Walk, found: &Gait, change: &[(usize, f64)], most: usize) -> Option<usize> {
    let n = found.state.v.len();
    let mut s = found.state.clone();
    for &(i, amount) in change {
        if i < n { s.q[i] += amount } else { s.v[i - n] += amount }
    }
    let mut z = walk.section.chart(&s);
    let stride = walk.stride();
    for round in 0..most {
        let apart = z.iter().zip(&found.cycle.state).fold(0.0f64, |max, (a, b)| max.max((a - b).abs()));
        if apart < 1e-3 {
            return Some(round);
        }
        z = stride.value(&walk.scene.model, &z).ok()?;
    }
    None
}

/// A number for messages.
pub fn modulus(values: &[dalembert_methods::algebra::Complex]) -> String {
    short(values.first().map_or(0.0, |m| m.modulus()))
}
