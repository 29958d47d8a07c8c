//! Equilibria and small vibrations about them.

use super::Work;
use super::choice::Choice;
use super::item::{Item, Items, state_items};
use super::job::{Job, said, velocities};
use crate::error;
use dalembert::methods::System;
use dalembert::methods::stability::stability;
use dalembert::model::Model as Mechanics;
use dalembert_analysis::eigen::{eigenvalues, schur, without_rounding};
use dalembert_analysis::linear::{ComplexModes, Norm, Verdict, damping_ratio, ordered_eigenvalues, verdict};
use dalembert_analysis::linearise::{Linearised, linearise as linearised};
use dalembert_analysis::place::{Place as At, Touch, word};
use pyo3::prelude::*;

/// The search for an equilibrium ends at this part of the size of the system.
pub const BALANCE: f64 = 1e-12;
/// The search for a steady motion ends at velocities and accelerations below this.
const STEADY: f64 = 1e-10;
/// The tolerance of the motion along which a scene is linearised.
const ALONG: f64 = 1e-11;
/// The tolerance that options of contacts follow.
pub const CONTACTS: f64 = 1e-9;

/// About which state a scene is linearised: its start, a steady motion in which some coordinates run on, or its equilibrium.
pub struct Place {
    here: bool,
    steady: Vec<String>,
}

impl Place {
    /// The options of a place.
    pub const OPTIONS: [&'static str; 2] = ["here", "steady"];

    /// Reads them.
    pub fn read(c: &Choice<'_, '_>) -> PyResult<Self> {
        let place = Self { here: c.flag("here")?, steady: c.texts("steady")? };
        if place.here && !place.steady.is_empty() {
            return Err(error::value("`here` and `steady` exclude each other"));
        }
        Ok(place)
    }

    /// The state, with the modes of contacts.
    pub fn place(&self, job: &Job<'_>) -> Result<At, String> {
        let scene = job.scene();
        let (model, start) = (&scene.model, scene.model.initial_state());
        let contacts = scene.run.contacts.options(CONTACTS);
        if !self.steady.is_empty() {
            let running = velocities(model, &self.steady)?;
            return Ok(At::steady(model, &start, &running, STEADY, &contacts).map_err(said)?.0);
        }
        match self.here {
            true => At::start(model, &start, &contacts).map_err(said),
            false => Ok(At::equilibrium(model, &start, BALANCE, &contacts).map_err(said)?.0),
        }
    }

    /// The state, and the scene linearised about it.
    pub fn about(&self, job: &Job<'_>) -> Result<(At, Linearised), String> {
        let at = self.place(job)?;
        let found = linearised(&at.system(&job.scene().model), &at.state).map_err(said)?;
        if found.names.is_empty() {
            return Err("constraints and closed contacts leave nothing free: there are no small motions".to_owned());
        }
        Ok((at, found))
    }
}

/// The numbers of a place: state, and contacts where there are any.
pub fn place_items(model: &Mechanics, at: &At) -> Items {
    let mut items = state_items(&at.plain(model));
    let touches = at.touches(model);
    if !touches.is_empty() {
        let numbers = |of: &dyn Fn(&Touch) -> f64| Item::Numbers(touches.iter().map(of).collect());
        items.extend([
            ("contacts", Item::Texts(touches.iter().map(|touch| touch.name.clone()).collect())),
            ("contact_modes", Item::Texts(touches.iter().map(|touch| word(touch.mode).to_owned()).collect())),
            ("gap", numbers(&|touch| touch.gap)),
            ("press", numbers(&|touch| touch.press)),
            ("friction", numbers(&|touch| touch.friction)),
        ]);
    }
    items
}

/// The names of options of a place with some others.
pub fn and(others: &[&'static str]) -> Vec<&'static str> {
    [&Place::OPTIONS[..], others].concat()
}

/// The static equilibrium.
pub fn equilibrium(c: &Choice<'_, '_>) -> PyResult<Work> {
    c.only(&["here"])?;
    let here = c.flag("here")?;
    Ok(Box::new(move |job| {
        let scene = job.scene();
        let (model, start) = (&scene.model, scene.model.initial_state());
        let contacts = scene.run.contacts.options(CONTACTS);
        let mut items = Vec::new();
        let at = if here {
            At::start(model, &start, &contacts).map_err(said)?
        } else {
            let (at, found) = At::equilibrium(model, &start, BALANCE, &contacts).map_err(said)?;
            items.push(("iterations", Item::Count(found.iterations as usize)));
            items.push(("residual", Item::Number(found.residual)));
            at
        };
        items.extend(place_items(model, &at));
        let held = at.system(model);
        if held.loads().is_empty() {
            let found = stability(&held, &at.state).map_err(said)?;
            items.extend([
                ("stable", Item::Flag(found.stable())),
                ("unstable", Item::Count(found.unstable())),
                ("neutral", Item::Count(found.neutral())),
                ("squared", Item::Numbers(found.squared)),
            ]);
        } else {
            // Friction of what slides has no potential: eigenvalues of the whole decide.
            let values = eigenvalues(&linearised(&held, &at.state).map_err(said)?.state_matrix).map_err(said)?;
            let unstable = if let Verdict::Unstable(n) = verdict(&values) { n } else { 0 };
            items.extend([("stable", Item::Flag(unstable == 0)), ("unstable", Item::Count(unstable))]);
        }
        Ok(items)
    }))
}

/// What a linearised scene has to tell.
fn linear_items(model: &Mechanics, at: &At, found: Linearised) -> Result<Items, String> {
    let mut values = without_rounding(&schur(&found.state_matrix.to_complex()).map_err(said)?.values());
    values.sort_by(|a, b| a.im.abs().total_cmp(&b.im.abs()).then(b.im.total_cmp(&a.im)));
    let text = match verdict(&values) {
        Verdict::AsymptoticallyStable => "asymptotically stable".to_owned(),
        Verdict::Marginal => "marginal".to_owned(),
        Verdict::Unstable(n) => format!("unstable: {n} independent small motions grow"),
    };
    let system = found.system;
    let mut items = place_items(model, at);
    items.extend([
        ("conclusion", Item::Text(system.conclusion().reason.to_owned())),
        ("input_matrix", Item::Matrix(found.input)),
        ("inputs", Item::Texts((0..model.shape().v).map(|i| model.velocity_name(i)).collect())),
        ("names", Item::Texts(found.names)),
        ("mass", Item::Matrix(system.mass)),
        ("damping", Item::Matrix(system.damping)),
        ("gyroscopic", Item::Matrix(system.gyroscopic)),
        ("stiffness", Item::Matrix(system.stiffness)),
        ("circulatory", Item::Matrix(system.circulatory)),
        ("state_matrix", Item::Matrix(found.state_matrix)),
        ("basis", Item::Matrix(found.basis)),
        ("acceleration", Item::Number(found.acceleration)),
        ("eigenvalues", Item::Complexes(values)),
        ("verdict", Item::Text(text)),
    ]);
    Ok(items)
}

/// Matrices, eigenvalues and stability.
pub fn linearise(c: &Choice<'_, '_>) -> PyResult<Work> {
    c.only(&and(&["along", "count"]))?;
    let (place, count) = (Place::read(c)?, c.count("count", 11)?);
    if !c.has("along")? {
        return Ok(Box::new(move |job| {
            let (at, found) = place.about(job)?;
            linear_items(&job.scene().model, &at, found)
        }));
    }
    let time = c.positive("along", None)?;
    if count < 2 {
        return Err(error::value(format!("option `count` is {count}; a motion has two instants at least")));
    }
    Ok(Box::new(move |job| along(job, time, count)))
}

/// The matrices at some instants of the motion from the start: for each what there is for one, and state matrices in one array where all have as many states.
fn along(job: &Job<'_>, time: f64, count: usize) -> Result<Items, String> {
    let scene = job.scene();
    let (model, interval) = (&scene.model, time / (count - 1) as f64);
    let contacts = scene.run.contacts.options(CONTACTS);
    let places = At::along(model, &model.initial_state(), interval, count, ALONG, &contacts).map_err(said)?;
    let times = places.iter().map(|at| at.state.t).collect();
    let (mut instants, mut sizes, mut matrices) = (Vec::new(), Vec::new(), Vec::new());
    for at in &places {
        let found = linearised(&at.system(model), &at.state).map_err(said)?;
        sizes.push(found.state_matrix.rows());
        matrices.extend_from_slice(found.state_matrix.values());
        let mut items = vec![("time", Item::Number(at.state.t))];
        items.extend(linear_items(model, at, found)?);
        instants.push(items);
    }
    let mut items = vec![("time", Item::Numbers(times)), ("instants", Item::Rows(instants))];
    if let Some(&n) = sizes.first().filter(|n| sizes.iter().all(|size| size == *n)) {
        items.push(("state_matrix", Item::Array(vec![sizes.len(), n, n], matrices)));
    }
    Ok(items)
}

/// Frequencies, damping and shapes.
pub fn modes(c: &Choice<'_, '_>) -> PyResult<Work> {
    c.only(&and(&["normalise"]))?;
    let (place, rule): (_, Option<String>) = (Place::read(c)?, c.find("normalise")?);
    let norm = match rule.as_deref() {
        None | Some("mass") => Norm::Mass,
        Some("largest") => Norm::Largest,
        Some("length") => Norm::Length,
        Some(other) => {
            let known = "mass, largest and length";
            return Err(error::value(format!("option `normalise` is `{other}`; there are {known}")));
        }
    };
    Ok(Box::new(move |job| {
        let (at, found) = place.about(job)?;
        let real = found.system.real_modes().map_err(said)?;
        let shapes = real.scaled(norm);
        let values = without_rounding(&ordered_eigenvalues(&found.state_matrix).map_err(said)?);
        let mut items = place_items(&job.scene().model, &at);
        // Bodies that nothing holds drift away, which is no mode: the rest is told all the same.
        if let Err(error) = ComplexModes::of(&found.state_matrix, found.names.len()) {
            items.push(("remark", Item::Text(format!("no complex modes: {error}"))));
        }
        items.extend([
            ("names", Item::Texts(found.names)),
            ("squared", Item::Numbers(real.squared.clone())),
            ("frequencies", Item::Numbers(real.frequencies())),
            ("all_shapes", Item::Matrix(found.basis.mul(&shapes))),
            ("shapes", Item::Matrix(shapes)),
            ("damping_ratios", Item::Numbers(values.iter().copied().map(damping_ratio).collect())),
            ("eigenvalues", Item::Complexes(values)),
        ]);
        Ok(items)
    }))
}

/// Ψ₁, Ψ₂ and Φ after a time.
pub fn transition(c: &Choice<'_, '_>) -> PyResult<Work> {
    c.only(&and(&["at"]))?;
    let (place, time) = (Place::read(c)?, c.number("at", None)?);
    Ok(Box::new(move |job| -> Result<Items, String> {
        let (_, found) = place.about(job)?;
        let real = found.system.real_modes().map_err(said)?;
        let (first, second) = real.transition(&found.system.mass, time);
        let whole = found.state_matrix.scaled(time).exponential().map_err(said)?;
        Ok(vec![
            ("names", Item::Texts(found.names)),
            ("positions", Item::Matrix(first)),
            ("velocities", Item::Matrix(second)),
            ("whole", Item::Matrix(whole)),
        ])
    }))
}
