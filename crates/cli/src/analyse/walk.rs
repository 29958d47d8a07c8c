//! Gaits of scenes: strides from one strike to the next, their fixed points, multipliers, curves over a value, basins.

use super::cycles::STATE_STEP;
use super::maps::Axis;
use super::page::Page;
use super::{failed, short, velocity};
use crate::args::{ModelOptions, StrideOptions};
use crate::exit::Exit;
use crate::robot;
use dalembert::model::Model;
use dalembert::scene::Scene;
use dalembert_analysis::AnalysisError;
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::eigen::eigenvalues;
use dalembert_analysis::field::Settings;
use dalembert_analysis::map::{Image, Map};
use dalembert_analysis::stride::{Gait, Search, Section, Stride, Symmetry, differences, gait, gaits};
use dalembert_analysis::touching::{Goal, nearest_graze};
use dalembert_methods::nonsmooth::{Contacts, Hybrid, Kind, Options};
use dalembert_methods::system::{State, System};
use std::io::IsTerminal;
use std::path::Path;

/// The step of differences by the value of the scene, relative to one and its size.
const STEP: f64 = 1e-6;

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

/// The ranges in which a search is to look: coordinates, and velocities numbered after them.
fn ranges(model: &Model, options: &StrideOptions) -> Result<Vec<(usize, [f64; 2])>, Exit> {
    let n = model.shape().v;
    let texts = options.range.iter().map(|text| (text, 0)).chain(options.range_rate.iter().map(|text| (text, n)));
    texts
        .map(|(text, offset)| {
            let axis = Axis::read(text, 2)?;
            if axis.range[0] == axis.range[1] {
                return Err(Exit::Usage(format!("`{text}`: a range to search in has two different ends")));
            }
            Ok((offset + velocity(model, &axis.name)?, axis.range))
        })
        .collect()
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
        let found = self.gaits(options, 1, &mut |line| page.say(line))?;
        found.into_iter().next().ok_or_else(|| failed("nothing was tried"))
    }

    /// Gaits: the one near the start, or as many different ones as asked for, if the evolution strategy finds them. `say` hears how the search goes.
    pub fn gaits(&self, options: &StrideOptions, wanted: usize, say: &mut dyn FnMut(&str)) -> Result<Vec<Gait>, Exit> {
        let (model, stride, d) = (&self.scene.model, self.stride(), self.section.size());
        say(&format!("{d} coordinates on the section"));
        let near = (1e3 * self.tolerance).max(1e-11);
        let Some(spread) = options.search else {
            let mut z = vec![0.0; d];
            for _ in 0..options.walk {
                z = stride.value(model, &z).map_err(failed)?;
            }
            return Ok(vec![gait(model, &stride, &z, near).map_err(failed)?]);
        };
        let search = Search {
            spread,
            ranges: ranges(model, options)?,
            shortest: options.shortest,
            seed: options.seed,
            generations: options.generations,
            tries: options.tries,
            near,
        };
        gaits(model, &stride, &search, wanted, &mut || true, say).map_err(failed)
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
    let watched = std::io::stderr().is_terminal() && options.search.is_some();
    let found = walk.gaits(options, options.gaits, &mut |line| {
        if watched {
            eprintln!("  {line}");
        }
        page.say(line);
    })?;
    for (k, gait) in found.iter().enumerate() {
        if found.len() > 1 {
            page.say(&format!("gait {} of {}:", k + 1, found.len()));
        }
        tell(&walk, gait, if k == 0 { String::new() } else { format!("-{}", k + 1) }.as_str(), &mut page)?;
    }
    let first = &found[0];
    // Legs that have changed places come back after two strides.
    let turns = if options.exchange.is_empty() { 1 } else { 2 };
    super::cycles::turn(&mut page, &walk.scene, &first.state, first.time, turns, tolerance)?;
    page.finish(out)
}

fn tell(walk: &Walk, found: &Gait, suffix: &str, page: &mut Page) -> Result<(), Exit> {
    let cycle = &found.cycle;
    page.say(&format!(
        "a gait after {} Newton steps: one stride takes {:.9} s with {} events, end and start differ by {:.1e}",
        cycle.iterations, found.time, found.events, cycle.residual
    ));
    super::cycles::list(page, &cycle.multipliers, found.time, suffix);
    page.say(&match cycle.multipliers.iter().filter(|m| m.modulus() > 1.0 + 1e-6).count() {
        0 => "stable: no disturbance grows".to_owned(),
        n => format!("unstable: {n} multipliers lie outside the unit circle"),
    });
    let by_differences =
        differences(&walk.scene.model, &walk.stride(), &cycle.state, STATE_STEP).and_then(|m| eigenvalues(&m));
    let model = &walk.scene.model;
    let graze =
        nearest_graze(model, &found.state, found.time, &walk.options, walk.stride().settings).map_err(failed)?;
    super::cycles::compare(page, "strides", &cycle.multipliers, by_differences, graze.as_ref());
    let mut rows = vec![["coordinate", "position", "velocity"].map(str::to_owned).to_vec()];
    for (i, (q, v)) in found.state.q.iter().zip(&found.state.v).enumerate() {
        rows.push(vec![walk.scene.model.velocity_name(i), format!("{q:.12}"), format!("{v:.12}")]);
    }
    page.table(&rows);
    let table: String = found.state.q.iter().zip(&found.state.v).map(|(q, v)| format!("{q:?},{v:?}\n")).collect();
    page.file(&format!("gait{suffix}.csv"), format!("position,velocity\n{table}").into_bytes());
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

impl WalkMap<'_> {
    /// The state at the beginning of a stride, by its coordinates on the section, and the time that the stride takes.
    pub fn begin(&self, z: &[f64], parameter: f64) -> Result<(State<f64>, f64), AnalysisError> {
        let (scene, stride) = (self.scene(parameter)?, self.walk.stride());
        let state = stride.section.lift(&scene.model, z)?;
        let time = stride.run(&scene.model, &state, &mut Matrix::zeros(2 * state.v.len(), 0))?.time;
        Ok((state, time))
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

/// A number for messages.
pub fn modulus(values: &[dalembert_methods::algebra::Complex]) -> String {
    short(values.first().map_or(0.0, |m| m.modulus()))
}
