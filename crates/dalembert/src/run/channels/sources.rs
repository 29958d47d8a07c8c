//! Where channels come from, with their names, units and frames.

use crate::model::{Marker, Model};
use dalembert_methods::System;
use dalembert_methods::nonsmooth::Contacts;
use dalembert_methods::trajectory::Channel;

const AXES: [&str; 3] = ["x", "y", "z"];

/// Where a group of channels comes from.
#[derive(Copy, Clone, Debug)]
pub(super) enum Source {
    Time,
    /// A part of a body.
    Body(usize, usize),
    /// The frequency with which an integrator fits the motion of a point.
    Frequency(usize),
    /// The deformation gradient of a body.
    Gradient(usize),
    Marker(usize),
    Coordinates(usize),
    Reaction(usize),
    Multipliers(usize),
    Applied(usize),
    Outputs(usize),
    Contact(usize),
    /// Dry friction of given size.
    Brake(usize),
    /// A gap of a body itself.
    Stop(usize),
    Energy,
    Momentum,
    Residuals,
}

impl Source {
    /// Whether its values follow from the multipliers of constraints and contacts.
    pub(super) fn needs_multipliers(self) -> bool {
        matches!(self, Self::Contact(_) | Self::Brake(_) | Self::Stop(_) | Self::Reaction(_) | Self::Multipliers(_))
    }
}

pub(super) fn every(model: &Model) -> Vec<Source> {
    let moving = (0..model.bodies.len()).filter(|&i| !model.layout.v[i].is_empty());
    let constraints = 0..model.constraints.len();
    let with_coordinates = constraints.clone().filter(|&i| !model.constraints[i].item.coordinates().is_empty());
    std::iter::once(Source::Time)
        .chain(moving.flat_map(|i| (0..model.bodies[i].item.parts()).map(move |part| Source::Body(i, part))))
        .chain((0..model.bodies.len()).filter(|&i| fitted(model, i)).map(Source::Frequency))
        .chain((0..model.bodies.len()).filter(|&i| deforms(model, i)).map(Source::Gradient))
        .chain((0..model.markers.len()).filter(|&i| is_free(model, i)).map(Source::Marker))
        .chain(with_coordinates.map(Source::Coordinates))
        .chain(constraints.map(|i| {
            let named = !model.constraints[i].item.multipliers().is_empty();
            if named { Source::Multipliers(i) } else { Source::Reaction(i) }
        }))
        .chain((0..model.forces.len()).filter(|&i| applies(model, i)).map(Source::Applied))
        .chain((0..model.forces.len()).filter(|&i| !model.forces[i].item.outputs().is_empty()).map(Source::Outputs))
        .chain((0..model.layout.pairs.len()).map(Source::Contact))
        .chain((0..model.layout.brakes.len()).map(Source::Brake))
        .chain((0..model.layout.stops.len()).map(Source::Stop))
        .chain([Source::Energy, Source::Momentum])
        .chain((model.shape().rows() > 0).then_some(Source::Residuals))
        .collect()
}

/// Whether an integrator fits the frequency of a body.
fn fitted(model: &Model, body: usize) -> bool {
    model.fitted && model.bodies[body].item.point() && !model.layout.v[body].is_empty()
}

/// Whether a force acts on one or two markers with what it says by itself.
fn applies(model: &Model, force: usize) -> bool {
    let force = &model.forces[force];
    force.markers.len() <= 2 && force.item.grip().is_none()
}

/// Whether a marker was given a name of its own, on a body that can move.
fn is_free(model: &Model, marker: usize) -> bool {
    let Marker { name, body, .. } = &model.markers[marker];
    !name.contains('.') && *name != model.bodies[*body].name && !model.layout.v[*body].is_empty()
}

/// Whether a body changes its shape.
pub(in crate::run) fn deforms(model: &Model, body: usize) -> bool {
    let item = &model.bodies[body].item;
    item.extended() && !item.oriented() && !model.layout.v[body].is_empty()
}

fn vector(path: &str, unit: &str, frame: &str) -> [Channel; 3] {
    AXES.map(|axis| Channel::new(format!("{path}.{axis}"), unit, frame))
}

fn wrench(path: &str, oriented: bool) -> Vec<Channel> {
    let mut channels = vector(&format!("{path}.force"), "N", "world").to_vec();
    if oriented {
        channels.extend(vector(&format!("{path}.torque"), "N m", "world"));
    }
    channels
}

/// What the names of its channels begin with.
pub(super) fn path(model: &Model, source: Source) -> String {
    let of = |section: &str, name: &str| format!("{section}.{name}");
    let (pairs, brakes) = (model.layout.pairs.len(), model.layout.brakes.len());
    match source {
        Source::Time => Channel::time().name,
        Source::Body(i, part) => model.part_path(i, part),
        Source::Frequency(i) => of("body", &model.bodies[i].name),
        Source::Gradient(i) => format!("body.{}.gradient", model.bodies[i].name),
        Source::Marker(i) => of("marker", &model.markers[i].name),
        Source::Coordinates(i) | Source::Reaction(i) | Source::Multipliers(i) => {
            of(model.constraints[i].section, &model.constraints[i].name)
        }
        Source::Applied(i) | Source::Outputs(i) => of(model.forces[i].section, &model.forces[i].name),
        Source::Contact(i) => model.contact_name(i),
        Source::Brake(i) => model.contact_name(pairs + i),
        Source::Stop(i) => model.contact_name(pairs + brakes + i),
        Source::Energy => "energy".to_owned(),
        Source::Momentum => "momentum".to_owned(),
        Source::Residuals => "residual".to_owned(),
    }
}

pub(super) fn describe(model: &Model, source: Source) -> Vec<Channel> {
    let path = path(model, source);
    let named = |list: Vec<(&str, &str)>| -> Vec<Channel> {
        list.into_iter().map(|(name, unit)| Channel::new(format!("{path}.{name}"), unit, "")).collect()
    };
    match source {
        Source::Time => vec![Channel::time()],
        Source::Body(i, _) => {
            let mut channels = vector(&format!("{path}.position"), "m", "world").to_vec();
            channels.extend(vector(&format!("{path}.velocity"), "m/s", "world"));
            if model.bodies[i].item.oriented() {
                for part in ["w", "x", "y", "z"] {
                    channels.push(Channel::new(format!("{path}.orientation.{part}"), "1", "world"));
                }
                channels.extend(vector(&format!("{path}.angular_velocity"), "rad/s", "world"));
            }
            channels
        }
        Source::Frequency(_) => named(vec![("frequency", "rad/s")]),
        Source::Gradient(_) => {
            let name = |k: usize| Channel::new(format!("{path}.{}{}", AXES[k / 3], AXES[k % 3]), "1", "world");
            (0..9).map(name).collect()
        }
        Source::Marker(_) => {
            let mut channels = vector(&format!("{path}.position"), "m", "world").to_vec();
            channels.extend(vector(&format!("{path}.velocity"), "m/s", "world"));
            channels
        }
        Source::Coordinates(i) => named(model.constraints[i].item.coordinates()),
        Source::Reaction(i) => wrench(&path, model.constraints[i].item.need().oriented > 0),
        Source::Applied(i) => wrench(&path, model.forces[i].item.need().oriented > 0),
        Source::Multipliers(i) => named(model.constraints[i].item.multipliers()),
        Source::Outputs(i) => named(model.forces[i].item.outputs()),
        Source::Contact(i) => {
            let tangents = model.tangents(i);
            let mut channels =
                vec![Channel::new(format!("{path}.gap"), "m", ""), Channel::new(format!("{path}.mode"), "1", "")];
            channels.push(Channel::new(format!("{path}.press"), "N", ""));
            if model.suction(i, 0.0).is_some() {
                channels.push(Channel::new(format!("{path}.suction"), "N", ""));
            }
            for (name, unit) in [("friction", "N"), ("slip", "m/s")] {
                channels.extend((1..=tangents).map(|k| Channel::new(format!("{path}.{name}.{k}"), unit, "contact")));
            }
            channels.extend(vector(&format!("{path}.force"), "N", "world"));
            channels
        }
        Source::Brake(i) => named(vec![("friction", model.layout.brakes[i].of.force_unit()), ("mode", "1")]),
        Source::Stop(i) => {
            let of = model.layout.stops[i].stop.of;
            named(vec![("gap", of.unit()), ("mode", "1"), ("press", of.force_unit())])
        }
        Source::Energy => {
            named(["kinetic", "potential", "dissipated", "supplied", "total"].map(|name| (name, "J")).to_vec())
        }
        Source::Momentum => {
            let mut channels = vector("momentum.linear", "kg m/s", "world").to_vec();
            channels.extend(vector("momentum.angular", "kg m²/s", "world"));
            channels
        }
        Source::Residuals => named(vec![("position", "mixed"), ("velocity", "mixed")]),
    }
}

pub(super) fn width(model: &Model, source: Source) -> usize {
    let wrench = |oriented| if oriented { 6 } else { 3 };
    match source {
        Source::Time => 1,
        Source::Body(i, _) => {
            if model.bodies[i].item.oriented() {
                13
            } else {
                6
            }
        }
        Source::Gradient(_) => 9,
        Source::Marker(_) => 6,
        Source::Coordinates(i) => model.constraints[i].item.coordinates().len(),
        Source::Reaction(i) => wrench(model.constraints[i].item.need().oriented > 0),
        Source::Applied(i) => wrench(model.forces[i].item.need().oriented > 0),
        Source::Multipliers(i) => model.constraints[i].item.multipliers().len(),
        Source::Outputs(i) => model.forces[i].item.outputs().len(),
        Source::Contact(i) => 6 + usize::from(model.suction(i, 0.0).is_some()) + 2 * model.tangents(i),
        Source::Frequency(_) => 1,
        Source::Brake(_) => 2,
        Source::Stop(_) => 3,
        Source::Energy => 5,
        Source::Momentum => 6,
        Source::Residuals => 2,
    }
}
