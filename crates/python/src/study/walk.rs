//! Gaits: strides from one strike to the next, their fixed points, multipliers, curves over a value, basins.

use super::Work;
use super::choice::{Choice, missing};
use super::cycles::turn;
use super::item::{Item, Items, state_items};
use super::job::{Job, said, velocity};
use crate::error;
use dalembert::methods::System;
use dalembert::methods::nonsmooth::{Contacts, Hybrid, Kind, Options};
use dalembert::model::Model;
use dalembert::scene::Scene;
use dalembert_analysis::AnalysisError;
use dalembert_analysis::field::Settings;
use dalembert_analysis::map::{Image, Map};
use dalembert_analysis::stride::{Gait, STARTS, Search, Section, Stride, Symmetry, gait, gaits};
use dalembert_analysis::touching::Goal;
use pyo3::prelude::*;

/// The step of differences by the value of the scene, relative to one and its size.
const STEP: f64 = 1e-6;
/// A start that is this near to the gait is back.
pub const BACK: f64 = 1e-3;

/// What a stride is, and how a gait is sought.
pub struct Strides {
    strike: Vec<String>,
    exchange: Vec<(String, String)>,
    turn: Vec<(String, f64)>,
    drift: Vec<String>,
    longest: f64,
    pub shortest: f64,
    walk: usize,
    pub search: Option<f64>,
    range: Vec<(String, [f64; 2])>,
    range_rate: Vec<(String, [f64; 2])>,
    pub seed: u64,
    pub generations: usize,
    pub tries: usize,
    gaits: usize,
}

impl Strides {
    /// The options.
    pub const OPTIONS: [&'static str; 14] = [
        "strike",
        "exchange",
        "turn",
        "drift",
        "longest",
        "shortest",
        "walk",
        "search",
        "range",
        "range_rate",
        "seed",
        "generations",
        "tries",
        "gaits",
    ];

    /// Reads them, for strides.
    pub fn read(c: &Choice<'_, '_>) -> PyResult<Self> {
        Self::searched(c, true)
    }

    /// Reads them; without strikes what is left is how to search.
    pub fn searched(c: &Choice<'_, '_>, struck: bool) -> PyResult<Self> {
        let strides = Self {
            strike: c.texts("strike")?,
            exchange: c.pairs("exchange")?,
            turn: c.pairs("turn")?,
            drift: c.texts("drift")?,
            longest: c.positive("longest", Some(10.0))?,
            shortest: c.number("shortest", Some(0.0))?,
            walk: c.count("walk", 0)?,
            search: c.maybe("search")?,
            range: c.ranges("range")?,
            range_rate: c.ranges("range_rate")?,
            seed: c.find("seed")?.unwrap_or(1),
            generations: c.count("generations", 80)?,
            tries: c.count("tries", 5)?,
            gaits: c.count("gaits", 1)?,
        };
        if struck && strides.strike.is_empty() {
            return Err(missing("strike"));
        }
        if strides.search.is_some() && strides.walk > 0 {
            return Err(error::value("`search` and `walk` exclude each other"));
        }
        let both = strides.range.iter().chain(&strides.range_rate);
        if let Some((name, _)) = both.clone().find(|(_, [from, to])| from == to) {
            return Err(error::value(format!("`{name}`: a range to search in has two different ends")));
        }
        if strides.search.is_none() && both.count() > 0 {
            return Err(error::value("`range` and `range_rate` need `search`"));
        }
        if strides.search.is_none() && strides.gaits > 1 {
            return Err(error::value("several `gaits` need `search`"));
        }
        Ok(strides)
    }

    /// Where a search is to look: coordinates, and velocities numbered after them.
    fn ranges(&self, model: &Model) -> Result<Vec<(usize, [f64; 2])>, String> {
        let rates = self.range_rate.iter().map(|one| (one, model.shape().v));
        let all = self.range.iter().map(|one| (one, 0)).chain(rates);
        all.map(|((name, range), offset)| Ok((offset + velocity(model, name)?, *range))).collect()
    }

    fn symmetry(&self, model: &Model) -> Result<Symmetry, String> {
        let names: Vec<String> = (0..model.shape().v).map(|i| model.velocity_name(i)).collect();
        let mut exchange = Vec::new();
        for (one, other) in &self.exchange {
            let own: Vec<usize> = (0..names.len()).filter(|&i| names[i].contains(one)).collect();
            if own.is_empty() {
                return Err(format!("`{one}` is in no name of {}", names.join(", ")));
            }
            for i in own {
                let wanted = names[i].replace(one, other);
                let j = names.iter().position(|n| *n == wanted);
                exchange.push([i, j.ok_or_else(|| format!("`{}` has no partner `{wanted}`", names[i]))?]);
            }
        }
        let turned = self.turn.iter().map(|(name, value)| Ok((velocity(model, name)?, *value)));
        let drift = self.drift.iter().map(|name| Ok(vec![velocity(model, name)?]));
        Ok(Symmetry {
            exchange,
            turn: turned.collect::<Result<_, String>>()?,
            drift: drift.collect::<Result<_, String>>()?,
        })
    }
}

/// The contact with a name, or whose name contains it, and what is to happen there.
fn goal(model: &Model, text: &str) -> Result<Goal, String> {
    let (name, kind) = text.rsplit_once(':').unwrap_or((text, "impact"));
    let kinds = [Kind::Impact, Kind::Touch, Kind::LiftOff, Kind::Stick, Kind::Slip, Kind::Reversal];
    let Some(kind) = kinds.into_iter().find(|k| k.name() == kind) else {
        let known: Vec<&str> = kinds.iter().map(|k| k.name()).collect();
        return Err(format!("`{kind}` is nothing that happens to contacts; there are {}", known.join(", ")));
    };
    let names: Vec<String> = (0..Contacts::contacts(model)).map(|i| model.contact_name(i)).collect();
    let exact = names.iter().position(|n| n == name || n.strip_prefix("contact.") == Some(name));
    let part: Vec<usize> = (0..names.len()).filter(|&i| names[i].contains(name)).collect();
    match (exact, part.as_slice()) {
        (Some(contact), _) | (None, &[contact]) => Ok(Goal { contact, kind }),
        _ => Err(format!("`{name}` names no single contact; there are {}", names.join(", "))),
    }
}

/// A scene with all that makes its strides.
pub struct Walk<'a> {
    pub scene: &'a Scene,
    pub section: Section,
    goals: Vec<Goal>,
    options: Options,
    longest: f64,
    tolerance: f64,
}

impl<'a> Walk<'a> {
    /// The strides of a scene from its start.
    pub fn new(scene: &'a Scene, strides: &Strides, tolerance: f64) -> Result<Self, String> {
        let model = &scene.model;
        let goals = strides.strike.iter().map(|text| goal(model, text)).collect::<Result<Vec<_>, _>>()?;
        let symmetry = strides.symmetry(model)?;
        let options = scene.run.contacts.options(tolerance);
        let start = Hybrid::new(model).state(model.initial_state());
        let section = Section::new(model, &start, &symmetry, &options).map_err(said)?;
        Ok(Self { scene, section, goals, options, longest: strides.longest, tolerance })
    }

    /// How a stride goes.
    pub fn stride(&self) -> Stride<'_> {
        let Self { section, goals, options, longest, tolerance, .. } = self;
        Stride { section, goals, longest: *longest, options, settings: Settings::within(*tolerance) }
    }

    /// A gait: near the start, or wherever the evolution strategy leads.
    pub fn gait(&self, job: &Job<'_>, strides: &Strides) -> Result<Gait, String> {
        self.gaits(job, strides, 1)?.into_iter().next().ok_or_else(|| "nothing was tried".to_owned())
    }

    /// Gaits: the one near the start, or as many different ones as asked for, if the evolution strategy finds them.
    fn gaits(&self, job: &Job<'_>, strides: &Strides, wanted: usize) -> Result<Vec<Gait>, String> {
        let (model, stride, d) = (&self.scene.model, self.stride(), self.section.size());
        let near = (1e3 * self.tolerance).max(1e-11);
        let Some(spread) = strides.search else {
            let mut z = vec![0.0; d];
            for _ in 0..strides.walk {
                z = stride.value(model, &z).map_err(said)?;
            }
            return Ok(vec![gait(model, &stride, &z, near).map_err(said)?]);
        };
        let search = Search {
            spread,
            ranges: strides.ranges(model)?,
            shortest: strides.shortest,
            seed: strides.seed,
            generations: strides.generations,
            tries: strides.tries,
            near,
        };
        job.follow.begin(wanted * strides.tries.max(1) * (1 + STARTS));
        let mut keep_on = || {
            job.follow.step();
            !job.follow.ending()
        };
        gaits(model, &stride, &search, wanted, &mut keep_on, &mut |_| ()).map_err(said)
    }
}

/// What is told of a gait.
fn told(found: &Gait) -> Items {
    let mut items = state_items(&found.state);
    items.extend([
        ("period", Item::Number(found.time)),
        ("multipliers", Item::Complexes(found.cycle.multipliers.clone())),
        ("residual", Item::Number(found.cycle.residual)),
        ("iterations", Item::Count(found.cycle.iterations)),
        ("events", Item::Count(found.events)),
    ]);
    items
}

/// A gait with its multipliers and one stride of it.
pub fn limit_cycle(c: &Choice<'_, '_>) -> PyResult<Work> {
    c.only(&[&Strides::OPTIONS[..], &["tolerance"]].concat())?;
    let (strides, tolerance) = (Strides::read(c)?, c.positive("tolerance", Some(1e-12))?);
    Ok(Box::new(move |job| -> Result<Items, String> {
        let walk = Walk::new(job.scene(), &strides, tolerance)?;
        let found = walk.gaits(job, &strides, strides.gaits)?;
        let first = &found[0];
        let mut items = told(first);
        items.extend(turn(job.scene(), &first.state, first.time, tolerance)?);
        if strides.gaits > 1 {
            items.push(("gaits", Item::Rows(found.iter().map(told).collect())));
        }
        Ok(items)
    }))
}

/// Strides as a map whose parameter is a value of the scene.
pub struct WalkMap<'a> {
    pub walk: &'a Walk<'a>,
    pub job: &'a Job<'a>,
    pub parameter: &'a str,
}

impl Map for WalkMap<'_> {
    fn size(&self) -> usize {
        self.walk.section.size()
    }
    fn image(&self, z: &[f64], parameter: f64) -> Result<Image, AnalysisError> {
        let scene = self.job.made(self.parameter, parameter)?;
        let (value, by_state) = self.walk.stride().image(&scene.model, z)?;
        let step = STEP * (1.0 + parameter.abs());
        let (up, down) = (self.value(z, parameter + step)?, self.value(z, parameter - step)?);
        let by_parameter = up.iter().zip(&down).map(|(u, d)| (u - d) / (2.0 * step)).collect();
        Ok(Image { value, by_state, by_parameter })
    }
    fn value(&self, z: &[f64], parameter: f64) -> Result<Vec<f64>, AnalysisError> {
        self.walk.stride().value(&self.job.made(self.parameter, parameter)?.model, z)
    }
}
