//! A hydrostatic skeleton: segments in a row, with masses in their corners, muscles as edges and fluid inside (\[1\], sec. 2).
//!
//! N segments have N + 1 faces of four corners, numbered Q1 = (y−, z−), Q2 = (y−, z+), Q3 = (y+, z−), Q4 = (y+, z+); the ring
//! around a face is 1-2-4-3. The front face lies at `position`; the body runs along x behind it. The assembly `leech` makes
//!
//! | elements | names |
//! |---|---|
//! | particles at the corners of face f = 0 … N | `leech_corner{f}_{k}`, k = 1 … 4 |
//! | longitudinal muscles of segment j = 1 … N | `leech_longitudinal{j}_{k}` from corner k of face j − 1 to that of face j |
//! | circular muscles of face f | `leech_circular{f}_{k}`: 1-2, 2-4, 4-3, 3-1 |
//! | dorsoventral muscles of face f | `leech_dorsoventral{f}_{k}`: the diagonals 1-4, 3-2 |
//! | oblique muscles of segment j | `leech_oblique{j}_{k}`: both diagonals of each side face |
//! | drag along longitudinal edges | `leech_drag{j}_{k}` |
//! | volumes | `leech_volume`, `leech_volume{j}`, or `leech_{compartment}` |
//! | signals of activation waves | `leech_activation{i}` |
//!
//! Each corner carries an eighth of the mass of every segment it belongs to. The start shape is the given one, or the static
//! equilibrium near it, at rest, without gravity and other forces, at the activations and volumes of the start. The front face
//! then stays where it was given.
//!
//! Reference: \[1\] Alscher: Numerical simulation of impact and lift-off events in the hydrostatic skeleton of the leech,
//! Bielefeld; masses and rest lengths are not given there.

use super::Assembly;
use super::family::{Activation, Activations, Family, Spot};
use super::shape::{self, RING, Shape, Taper};
use crate::bodies::Particle;
use crate::constraints::{Cell, Volume};
use crate::element::About;
use crate::forces::{EdgeDrag, Muscle};
use crate::model::{Builder, ModelError, Orientation, Point};
use crate::signals::{Signal, SignalRef};
use dalembert_methods::statics;
use dalembert_methods::vector::Vec3;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The largest number of segments.
const MOST_SEGMENTS: usize = 10_000;
/// Tolerance of the equilibrium, relative to the size of the body.
const BALANCE: f64 = 1e-13;

/// A hydrostatic skeleton.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Skeleton {
    /// Number of segments N.
    pub segments: usize,
    /// Length of the whole body in the given shape.
    #[schemars(extend("unit" = "m"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<f64>,
    /// Lengths of the segments from the front, in place of `length`.
    #[schemars(extend("unit" = "m"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lengths: Option<Vec<f64>>,
    /// Half widths of a rectangular section in y and z.
    #[schemars(extend("unit" = "m"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub half_widths: Option<[f64; 2]>,
    /// Any section in place of `half_widths`: y and z of corners 1 to 4.
    #[schemars(extend("unit" = "m"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub section: Option<[[f64; 2]; 4]>,
    /// Factor of the section along the body: a formula of the arclength s from 0 to 1, or a table.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taper: Option<Taper>,
    /// Centre of the front face in the world frame.
    #[schemars(extend("unit" = "m"))]
    #[serde(default)]
    pub position: [f64; 3],
    /// Orientation: the body's frame (x from front to end) to the world frame.
    #[serde(default)]
    pub orientation: Orientation,
    /// Initial velocity in the world frame.
    #[schemars(extend("unit" = "m/s"))]
    #[serde(default)]
    pub velocity: [f64; 3],
    /// Initial angular velocity about the centre of mass, in the world frame.
    #[schemars(extend("unit" = "rad/s"))]
    #[serde(default)]
    pub angular_velocity: [f64; 3],
    /// Density of the body; its mass goes to the corners.
    #[schemars(extend("unit" = "kg/m³"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub density: Option<f64>,
    /// Mass of every corner, in place of a density.
    #[schemars(extend("unit" = "kg"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corner_mass: Option<f64>,
    /// Muscles along the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longitudinal: Option<Family>,
    /// Muscles around the faces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub circular: Option<Family>,
    /// Muscles across the faces, from dorsal to ventral corners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dorsoventral: Option<Family>,
    /// Muscles across the side faces of segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oblique: Option<Family>,
    /// Whose volume is kept: "whole" (the body), "each" (every segment), "none", or a list of compartments.
    #[serde(default)]
    pub compartments: Compartments,
    /// Volume of the body, a number or the name of a signal; that of the given shape unless said otherwise. With "each" a
    /// number is shared among the segments in proportion to the given shape.
    #[schemars(extend("unit" = "m³"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<SignalRef>,
    /// The shape at the start: "given", or the "equilibrium" near it.
    #[serde(default)]
    pub shape: Rest,
    /// Drag of a medium on the longitudinal edges, as of an `edge_drag`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drag: Option<EdgeDrag>,
}

/// The shape at the start.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Rest {
    /// As given by lengths, section and taper.
    #[default]
    Given,
    /// The static equilibrium at the activations and volumes of the start.
    Equilibrium,
}

/// How the inside is divided.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "expected \"whole\", \"each\", \"none\" or a list of { name, first, last }")]
pub enum Compartments {
    /// In a common way.
    Common(Grouping),
    /// By a list of compartments.
    List(Vec<Compartment>),
}

impl Default for Compartments {
    fn default() -> Self {
        Self::Common(Grouping::Whole)
    }
}

/// Common ways to divide the inside.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    /// One volume for the whole body.
    Whole,
    /// A volume for each segment.
    Each,
    /// No volume is kept.
    None,
}

/// Adjacent segments with a common volume, \[1\] eq. (4).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Compartment {
    /// Its name, after that of the skeleton and `_`.
    pub name: String,
    /// The first segment, counted from 1.
    pub first: usize,
    /// The last segment.
    pub last: usize,
    /// Its volume, a number or the name of a signal; that at the start unless given.
    #[schemars(extend("unit" = "m³"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub volume: Option<SignalRef>,
}

/// The corners of a skeleton, face by face.
#[derive(Clone, Debug, PartialEq)]
pub struct Corners {
    /// Four markers for each face, Q1 to Q4.
    pub faces: Vec<[Point; 4]>,
}

impl About for Skeleton {
    const KIND: &'static str = "skeleton";
    const SUMMARY: &'static str =
        "A hydrostatic skeleton: segments of masses, muscles along and around, and volumes of fluid inside.";
    const REFERENCES: &'static [&'static str] = &[
        "Alscher, Numerical simulation of impact and lift-off events in the hydrostatic skeleton of the leech, sec. 2",
    ];

    fn sample() -> Self {
        let wave = Activation::wave("0.6 + 0.3*z*sin(2*pi*(t - s))");
        Self {
            longitudinal: Some(Family::linear(16.0, 1.7, 0.1, wave)),
            circular: Some(Family::linear(16.0, 0.05, 0.1, Activation::Number(0.75))),
            corner_mass: Some(0.01),
            ..Self::new(3, 5.4, [0.39, 0.41])
        }
    }
}

impl Skeleton {
    /// A body of equal segments with a rectangular section, without muscles and masses.
    pub fn new(segments: usize, length: f64, half_widths: [f64; 2]) -> Self {
        Self {
            segments,
            length: Some(length),
            lengths: None,
            half_widths: Some(half_widths),
            section: None,
            taper: None,
            position: [0.0; 3],
            orientation: Orientation::default(),
            velocity: [0.0; 3],
            angular_velocity: [0.0; 3],
            density: None,
            corner_mass: None,
            longitudinal: None,
            circular: None,
            dorsoventral: None,
            oblique: None,
            compartments: Compartments::default(),
            volume: None,
            shape: Rest::Given,
            drag: None,
        }
    }
}

/// Everything a skeleton consists of, with corners by number.
#[derive(Debug)]
struct Plan {
    corners: Vec<Vec3<f64>>,
    masses: Vec<f64>,
    signals: Vec<(String, Signal)>,
    muscles: Vec<(String, Muscle, [usize; 2])>,
    drags: Vec<(String, EdgeDrag, [usize; 2])>,
    volumes: Vec<(String, Volume, Vec<usize>)>,
}

impl Assembly for Skeleton {
    type Made = Corners;

    fn assemble(&self, name: &str, start: f64, builder: &mut Builder) -> Result<Corners, Vec<ModelError>> {
        let blame =
            |(key, message)| vec![ModelError { section: "assembly", name: name.to_owned(), key: Some(key), message }];
        let mut plan = self.plan(name, builder).map_err(blame)?;
        if self.shape == Rest::Equilibrium {
            let key = format!("{start:?} {plan:?}");
            plan.corners = builder.found.clone().get(&key, || self.settled(name, start, &plan))?;
        }
        plan.masses = self.masses(&plan.corners).map_err(blame)?;
        // v = v₀ + ω × (r − c)
        let mut centre = Vec3::zero();
        for (&r, &m) in plan.corners.iter().zip(&plan.masses) {
            centre += r * m;
        }
        centre = centre * plan.masses.iter().sum::<f64>().recip();
        let spin = Vec3(self.angular_velocity);
        let velocities: Vec<_> =
            plan.corners.iter().map(|&r| (Vec3(self.velocity) + spin.cross(r - centre)).0).collect();
        Ok(plan.insert(name, &velocities, builder))
    }
}

type Fault = (&'static str, String);

impl Skeleton {
    fn plan(&self, name: &str, builder: &Builder) -> Result<Plan, Fault> {
        let shape = Shape::new(&self.segment_lengths()?, self.corners()?, self.taper.as_ref())
            .map_err(|message| ("taper", message))?;
        let turn = self.orientation.quaternion().matrix();
        let corners: Vec<_> = shape.corners.iter().map(|&r| Vec3(self.position) + turn * r).collect();
        let mut plan = Plan {
            masses: self.masses(&corners)?,
            volumes: self.volumes(name, &corners)?,
            corners,
            signals: Vec::new(),
            muscles: Vec::new(),
            drags: Vec::new(),
        };
        let mut activations = Activations::new(name);
        for (key, family, edges) in self.edges() {
            let Some(family) = family else { continue };
            let faulty = |message| (key, message);
            family.defect().map_or(Ok(()), |message| Err(faulty(message)))?;
            for (label, ends) in edges {
                let length = (plan.corners[ends[1]] - plan.corners[ends[0]]).norm();
                let spot = Spot::between(&shape.arclength, ends);
                let activation = activations.of(&family.activation, spot, builder).map_err(faulty)?;
                plan.muscles.push((format!("{name}_{key}{label}"), family.muscle(activation, length), ends));
            }
        }
        plan.signals = activations.signals;
        if let Some(drag) = &self.drag {
            let edges = self.longitudinal_edges();
            plan.drags = edges.into_iter().map(|(l, ends)| (format!("{name}_drag{l}"), drag.clone(), ends)).collect();
        }
        Ok(plan)
    }

    fn segment_lengths(&self) -> Result<Vec<f64>, Fault> {
        let n = self.segments;
        if !(1..=MOST_SEGMENTS).contains(&n) {
            return Err(("segments", format!("a skeleton has 1 to {MOST_SEGMENTS} segments, not {n}")));
        }
        let (key, lengths) = match (self.length, &self.lengths) {
            (Some(length), None) => ("length", vec![length / n as f64; n]),
            (None, Some(lengths)) if lengths.len() == n => ("lengths", lengths.clone()),
            (None, Some(lengths)) => {
                return Err(("lengths", format!("{n} segments need as many lengths, found {}", lengths.len())));
            }
            _ => return Err(("length", "give either `length` or `lengths`".to_owned())),
        };
        match lengths.iter().find(|length| !(**length > 0.0 && length.is_finite())) {
            Some(length) => Err((key, format!("lengths must be positive and finite, found {length} m for a segment"))),
            None => Ok(lengths),
        }
    }

    /// The section: y and z of the four corners.
    fn corners(&self) -> Result<[[f64; 2]; 4], Fault> {
        match (self.half_widths, self.section) {
            (Some([y, z]), None) if y > 0.0 && z > 0.0 && y.is_finite() && z.is_finite() => {
                Ok(shape::SIGNS.map(|[left, down]| [left * y, down * z]))
            }
            (Some(widths), None) => Err(("half_widths", format!("half widths must be positive, found {widths:?}"))),
            (None, Some(section)) => Ok(section),
            _ => Err(("half_widths", "give either `half_widths` or `section`".to_owned())),
        }
    }

    fn masses(&self, corners: &[Vec3<f64>]) -> Result<Vec<f64>, Fault> {
        let positive = |key, value: f64| match value > 0.0 && value.is_finite() {
            true => Ok(value),
            false => Err((key, format!("`{key}` must be positive and finite, found {value}"))),
        };
        match (self.corner_mass, self.density) {
            (Some(mass), None) => Ok(vec![positive("corner_mass", mass)?; corners.len()]),
            (None, Some(density)) => {
                let density = positive("density", density)?;
                let mut masses = vec![0.0; corners.len()];
                for (j, volume) in shape::volumes(corners).into_iter().enumerate() {
                    shape::cell(j).for_each(|corner| masses[corner] += density * volume / 8.0);
                }
                match masses.iter().position(|&mass| mass.is_nan() || mass <= 0.0) {
                    Some(i) => {
                        let message = format!(
                            "the segments at face {} are turned inside out or flat: corner {} would get the mass {} kg",
                            i / 4,
                            i % 4 + 1,
                            masses[i]
                        );
                        Err((if self.section.is_some() { "section" } else { "density" }, message))
                    }
                    None => Ok(masses),
                }
            }
            _ => Err(("density", "give either `density` or `corner_mass`".to_owned())),
        }
    }

    /// Families with their edges: a label and two corners each.
    fn edges(&self) -> [(&'static str, Option<&Family>, Vec<Edge>); 4] {
        let faces = 0..=self.segments;
        let ring = |f: usize| RING.iter().enumerate().map(move |(k, &[a, b])| (label(f, k), [4 * f + a, 4 * f + b]));
        let across = |f: usize| {
            [[0, 3], [2, 1]].into_iter().enumerate().map(move |(k, [a, b])| (label(f, k), [4 * f + a, 4 * f + b]))
        };
        let sides = |j: usize| {
            let ends =
                RING.iter().flat_map(move |&[a, b]| [[4 * (j - 1) + a, 4 * j + b], [4 * (j - 1) + b, 4 * j + a]]);
            ends.enumerate().map(move |(k, ends)| (label(j, k), ends))
        };
        [
            ("longitudinal", self.longitudinal.as_ref(), self.longitudinal_edges()),
            ("circular", self.circular.as_ref(), faces.clone().flat_map(ring).collect()),
            ("dorsoventral", self.dorsoventral.as_ref(), faces.flat_map(across).collect()),
            ("oblique", self.oblique.as_ref(), (1..=self.segments).flat_map(sides).collect()),
        ]
    }

    fn longitudinal_edges(&self) -> Vec<Edge> {
        let along = |j: usize| (0..4).map(move |k| (label(j, k), [4 * (j - 1) + k, 4 * j + k]));
        (1..=self.segments).flat_map(along).collect()
    }

    fn volumes(&self, name: &str, corners: &[Vec3<f64>]) -> Result<Vec<(String, Volume, Vec<usize>)>, Fault> {
        let n = self.segments;
        let made = |label: &str, volume: Option<SignalRef>, segments: std::ops::Range<usize>| {
            let volume = Volume::new(volume, Cell::Hexahedron);
            (format!("{name}_{label}"), volume, segments.flat_map(shape::cell).collect())
        };
        match &self.compartments {
            Compartments::Common(Grouping::None) => Ok(Vec::new()),
            Compartments::Common(Grouping::Whole) => Ok(vec![made("volume", self.volume.clone(), 0..n)]),
            Compartments::Common(Grouping::Each) => {
                let given = shape::volumes(corners);
                let total: f64 = given.iter().sum();
                let share = |j: usize| match &self.volume {
                    None => Ok(None),
                    Some(SignalRef::Number(volume)) => Ok(Some(SignalRef::Number(volume * given[j] / total))),
                    Some(SignalRef::Named { .. }) => {
                        Err(("volume", "a signal cannot be shared among segments; list the compartments".to_owned()))
                    }
                };
                (0..n).map(|j| Ok(made(&format!("volume{}", j + 1), share(j)?, j..j + 1))).collect()
            }
            Compartments::List(list) => {
                if self.volume.is_some() {
                    return Err(("volume", "give the volumes in the list of compartments".to_owned()));
                }
                let one = |c: &Compartment| {
                    if !(1 <= c.first && c.first <= c.last && c.last <= n) {
                        let message = format!(
                            "compartment `{}` has segments {} to {}, not within 1 to {n}",
                            c.name, c.first, c.last
                        );
                        return Err(("compartments", message));
                    }
                    Ok(made(&c.name, c.volume.clone(), c.first - 1..c.last))
                };
                list.iter().map(one).collect()
            }
        }
    }

    /// The corners at the static equilibrium of the body by itself; the front face stays where it is.
    fn settled(&self, name: &str, start: f64, plan: &Plan) -> Result<Vec<Vec3<f64>>, Vec<ModelError>> {
        let mut builder = Builder::new();
        plan.insert(name, &vec![[0.0; 3]; plan.corners.len()], &mut builder);
        let model = builder.build()?;
        let mut state = model.initial_state();
        state.t = start;
        let defects = model.defects_at(&state);
        if !defects.is_empty() {
            return Err(defects);
        }
        statics::equilibrium(&model, &mut state, BALANCE).map_err(|error| {
            let message = format!("no equilibrium was found: {error}");
            vec![ModelError { section: "assembly", name: name.to_owned(), key: Some("shape"), message }]
        })?;
        let mut found: Vec<_> = state.q.chunks_exact(3).map(|r| Vec3([r[0], r[1], r[2]])).collect();
        // A turn of the whole body costs nothing, so that rounding may leave a small one.
        shape::turn_back(&plan.corners, &mut found);
        let front = |corners: &[Vec3<f64>]| (corners[0] + corners[1] + corners[2] + corners[3]) * 0.25;
        let shift = front(&plan.corners) - front(&found);
        Ok(found.into_iter().map(|r| r + shift).collect())
    }
}

/// A label and the two corners of an edge.
type Edge = (String, [usize; 2]);

fn label(at: usize, k: usize) -> String {
    format!("{at}_{}", k + 1)
}

impl Plan {
    fn insert(&self, name: &str, velocities: &[[f64; 3]], builder: &mut Builder) -> Corners {
        for (name, signal) in &self.signals {
            builder.signal(name, signal.clone());
        }
        let corners = self.corners.iter().zip(&self.masses).zip(velocities).enumerate();
        let points: Vec<Point> = corners
            .map(|(i, ((r, &mass), &velocity))| {
                let name = format!("{name}_corner{}_{}", i / 4, i % 4 + 1);
                let body = builder.body(&name, Particle { mass, position: r.0, velocity });
                builder.point("", body, [0.0; 3])
            })
            .collect();
        for (name, muscle, [a, b]) in &self.muscles {
            builder.force(name, muscle.clone(), [points[*a], points[*b]]);
        }
        for (name, drag, [a, b]) in &self.drags {
            builder.force(name, drag.clone(), [points[*a], points[*b]]);
        }
        for (name, volume, corners) in &self.volumes {
            builder.constraint(name, volume.clone(), corners.iter().map(|&i| points[i]).collect());
        }
        Corners { faces: points.chunks_exact(4).map(|face| [face[0], face[1], face[2], face[3]]).collect() }
    }
}
