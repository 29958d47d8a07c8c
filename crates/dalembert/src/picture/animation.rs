//! The animation of a run as one document.

use super::codec::{Grid, base64, encode};
use super::drawn::MeshData;
use super::elements::{contact_points, faces, lines, markers, shades};
use super::film::Film;
use super::scenery::{self, Scenery};
use super::solids::{self, Solid};
use super::source::{Source, bounds, thinned};
use super::{short, short3};
use crate::forces::GRADIENT;
use crate::model::Model;
use dalembert_methods::trajectory::Event;
use dalembert_methods::vector::Vec3;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Most frames of an animation.
const MOST_FRAMES: usize = 1500;
/// Fewest frames that the limit on size leaves.
const FEWEST_FRAMES: usize = 120;
/// Frames times columns at most: about as many bytes.
const MOST_VALUES: usize = 5_000_000;
/// Frames in a second of display.
const RATE: f64 = 60.0;
/// Shortest and longest display, s.
const DISPLAY: [f64; 2] = [4.0, 20.0];
/// Most events that are listed.
const MOST_EVENTS: usize = 2000;

/// A point on a body: the number of its node (−1 for the ground) and the place in its frame, in m.
pub type Anchor = (i64, f64, f64, f64);

/// Something that moves as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Node {
    /// Its name, as in `body.upper`.
    pub name: String,
    /// Whether it turns: then four columns of a quaternion follow the three of its position.
    pub turns: bool,
    /// Whether it deforms: then nine columns of the deformation gradient, by rows, follow those of its position.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deforms: bool,
}

/// An element between two points.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Its name, as in `force.spring`.
    pub name: String,
    /// Its kind in the scene.
    pub kind: String,
    /// Its ends.
    pub ends: [Anchor; 2],
    /// The shade that colours it, such as an activation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shade: Option<usize>,
}

/// A face of three or four corners, counterclockwise from outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Face {
    /// The element it belongs to.
    pub name: String,
    /// Its corners.
    pub corners: Vec<Anchor>,
    /// The shade that colours it, such as a pressure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shade: Option<usize>,
}

/// A point that may touch a surface. Its columns are the mode (0 open, 1 sliding, 2 sticking) and the force on it in the
/// world frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ContactPoint {
    /// The name of the contact.
    pub name: String,
    /// The element it belongs to, as events name it.
    pub element: String,
    /// The point.
    pub at: Anchor,
    /// Radius of the ball around it, in m.
    pub radius: f64,
}

/// A marker with its orientation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MarkerFrame {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub at: Anchor,
    /// Its rotation against the node, a quaternion with the scalar first.
    pub turn: [f64; 4],
}

/// A number over time that gives elements their colour; it has one column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shade {
    /// The name of the channel.
    pub name: String,
    /// What it is: `activation` or `pressure`.
    pub kind: String,
    /// Its unit.
    pub unit: String,
    /// Low end and step of its column.
    pub grid: [f64; 2],
}

/// An event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Happening {
    /// When, s.
    pub time: f64,
    /// What kind of event.
    pub kind: String,
    /// The element.
    pub element: String,
    /// The marker.
    pub marker: String,
}

/// What there is to see of a run.
///
/// `data` holds the columns of all nodes (position x, y, z; if they turn, the quaternion w, x, y, z; if they deform, the gradient by rows), then those of all
/// contacts (mode, force x, y, z), of all shades, and of those surfaces that move, in the code of [`super::codec`] as base64.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Animation {
    /// Always [`Animation::FORMAT`].
    pub format: String,
    /// Version of the layout, [`Animation::FORMAT_VERSION`].
    pub format_version: u32,
    /// The title of the scene.
    pub title: String,
    /// Upwards: against gravity, or z without it.
    pub up: [f64; 3],
    /// The smallest corner of the box that holds all that moves, m.
    pub low: [f64; 3],
    /// The largest corner.
    pub high: [f64; 3],
    /// Seconds of the run in a second of display that show it well.
    pub pace: f64,
    /// Radius of points and lines that have no size of their own, m.
    pub thickness: f64,
    /// Rows of output of the run.
    pub rows: u64,
    /// The times of the frames, s.
    pub times: Vec<f64>,
    /// What moves.
    pub nodes: Vec<Node>,
    /// Solids fixed to nodes.
    pub solids: Vec<Solid>,
    /// Meshes of solids.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub meshes: Vec<MeshData>,
    /// Elements between two points.
    pub lines: Vec<Line>,
    /// Outer faces of volumes.
    pub faces: Vec<Face>,
    /// What points cannot pass.
    pub surfaces: Vec<Scenery>,
    /// Points that may touch surfaces.
    pub contacts: Vec<ContactPoint>,
    /// Markers.
    pub markers: Vec<MarkerFrame>,
    /// What gives colours.
    pub shades: Vec<Shade>,
    /// The events.
    pub events: Vec<Happening>,
    /// Low end and step of the columns of positions: x, y, z, m.
    pub position_grids: [[f64; 2]; 3],
    /// Low end and step of the columns of deformation gradients.
    #[serde(default)]
    pub gradient_grid: [f64; 2],
    /// Low end and step of the columns of forces, N.
    pub force_grid: [f64; 2],
    /// The columns.
    pub data: String,
}

/// Why a text is not an animation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnimationError {
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for AnimationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not an animation of this version: {}", self.reason)
    }
}

impl std::error::Error for AnimationError {}

/// The grid of unit quaternions.
pub(super) fn turn_grid() -> Grid {
    Grid::over(-1.0, 1.0)
}

/// The grid of modes: whole numbers.
pub(super) const MODE_GRID: Grid = Grid { low: 0.0, step: 1.0 };

/// From markers of a model to anchors of a picture.
pub(super) struct Anchors {
    /// The first node of each body; each of its parts has one.
    nodes: Vec<i64>,
}

impl Anchors {
    fn new(model: &Model) -> Self {
        let mut next = 0;
        let first = |(i, body): (usize, &crate::model::Entry<Box<dyn crate::bodies::AnyBody>>)| {
            if model.layout.v[i].is_empty() {
                return -1;
            }
            let first = next;
            next += body.item.parts() as i64;
            first
        };
        Self { nodes: model.bodies.iter().enumerate().map(first).collect() }
    }

    /// The node of a part of a body; −1 if it cannot move.
    pub fn node(&self, body: usize, part: usize) -> i64 {
        if self.nodes[body] < 0 { -1 } else { self.nodes[body] + part as i64 }
    }

    /// The anchor of a marker.
    pub fn of(&self, model: &Model, marker: usize) -> Anchor {
        let marker = &model.markers[marker];
        let [x, y, z] = short3(marker.site.at);
        (self.node(marker.body, marker.site.part), x, y, z)
    }
}

impl Animation {
    /// The value of the key `format`.
    pub const FORMAT: &'static str = "dalembert-animation";
    /// The layout this version writes.
    pub const FORMAT_VERSION: u32 = 1;

    /// The animation of a run; none if nothing moves or nothing was filmed.
    pub fn new(model: &Model, title: &str, film: &Film, events: &[Event]) -> Option<Self> {
        let filmed = film.frames();
        let places = film.places();
        let anchors = Anchors::new(model);
        let moving = (0..model.bodies.len()).filter(|&i| anchors.node(i, 0) >= 0);
        let parts = moving.flat_map(|i| (0..model.bodies[i].item.parts()).map(move |part| (i, part)));
        let (first, last) = (filmed.first()?[0], filmed.last()?[0]);
        let columns_of = |name: &str, parts: &[&str]| -> Option<Vec<usize>> {
            parts.iter().map(|part| places.get(format!("{name}.{part}").as_str()).copied()).collect()
        };
        let mut nodes = Vec::new();
        let mut sources = Vec::new();
        for (i, part) in parts {
            let body = &model.bodies[i];
            let name = model.part_path(i, part);
            let turns = body.item.oriented();
            let gradient = columns_of(&name, &GRADIENT).unwrap_or_default();
            let place = columns_of(&name, &["position.x", "position.y", "position.z"])?;
            let turn = if turns {
                columns_of(&name, &["orientation.w", "orientation.x", "orientation.y", "orientation.z"])?
            } else {
                Vec::new()
            };
            nodes.push(Node { name, turns, deforms: !gradient.is_empty() });
            sources.push(Source { place, turn, gradient });
        }
        if nodes.is_empty() {
            return None;
        }
        let span = last - first;
        let pace = Self::pace_of(span);
        let shown = span / pace;

        let (shades, shade_columns) = shades(film);
        let contacts = contact_points(model, &anchors);
        let own = sources.iter().map(|s| s.place.len() + s.turn.len() + s.gradient.len()).sum::<usize>();
        let count = own + 4 * contacts.len() + shades.len();
        let wanted = ((RATE * shown).ceil() as usize + 1).min(MOST_FRAMES);
        let frames = thinned(&filmed, wanted.min((MOST_VALUES / count.max(1)).max(FEWEST_FRAMES)));

        let bounds = bounds(model, &anchors, &sources, &frames);
        let grids: [Grid; 3] = std::array::from_fn(|k| {
            // The range of positions themselves: the box may be larger.
            over(sources.iter().flat_map(|source| frames.iter().map(|frame| frame[source.place[k]])))
        });
        let gradients = sources
            .iter()
            .flat_map(|source| frames.iter().flat_map(|frame| source.gradient.iter().map(|&column| frame[column])));
        let gradient_grid = over(gradients);
        let mut out = Vec::new();
        for Source { place, turn, gradient } in &sources {
            for (k, &column) in place.iter().enumerate() {
                encode(frames.iter().map(|frame| grids[k].round(frame[column])), &mut out);
            }
            if !turn.is_empty() {
                let turns = continuous(frames.iter().map(|frame| std::array::from_fn(|k| frame[turn[k]])));
                for k in 0..4 {
                    encode(turns.iter().map(|turn| turn_grid().round(turn[k])), &mut out);
                }
            }
            for &column in gradient {
                encode(frames.iter().map(|frame| gradient_grid.round(frame[column])), &mut out);
            }
        }
        let force_columns: Vec<Option<Vec<usize>>> =
            contacts.iter().map(|c| columns_of(&c.name, &["mode", "force.x", "force.y", "force.z"])).collect();
        let forces = force_columns
            .iter()
            .flatten()
            .flat_map(|columns| frames.iter().flat_map(|frame| columns[1..].iter().map(|&column| frame[column].abs())));
        let largest = forces.filter(|f| f.is_finite()).fold(0.0, f64::max);
        let force_grid = Grid { low: -largest, step: if largest > 0.0 { largest / 32767.0 } else { 1.0 } };
        for columns in &force_columns {
            for k in 0..4 {
                let grid = if k == 0 { MODE_GRID } else { force_grid };
                let value = |frame: &&[f64]| columns.as_ref().map_or(0.0, |columns| frame[columns[k]]);
                encode(frames.iter().map(|frame| grid.round(value(frame))), &mut out);
            }
        }
        for (shade, column) in shades.iter().zip(shade_columns) {
            let [low, step] = shade.grid;
            let grid = Grid { low, step };
            encode(frames.iter().map(|frame| grid.round(frame[column])), &mut out);
        }
        let times: Vec<f64> = frames.iter().map(|frame| frame[0]).collect();
        let surfaces = scenery::surfaces(model, &anchors, &bounds, &times, &mut out);

        let thickness = solids::thickness(model, &bounds);
        let (solids, meshes) = solids::solids(model, &anchors, thickness);
        let happening = |e: &Event| Happening {
            time: e.time,
            kind: e.kind.clone(),
            element: e.element.clone(),
            marker: e.marker.clone(),
        };
        let gravity = Vec3(model.gravity);
        Some(Self {
            format: Self::FORMAT.to_owned(),
            format_version: Self::FORMAT_VERSION,
            title: title.to_owned(),
            up: if gravity.norm() > 0.0 { short3((-gravity.normalized()).0) } else { [0.0, 0.0, 1.0] },
            low: short3(bounds.low),
            high: short3(bounds.high),
            pace: short(pace),
            thickness: short(thickness),
            rows: film.rows(),
            times: times.iter().map(|&t| format!("{t:.9e}").parse().unwrap_or(t)).collect(),
            lines: lines(model, &anchors, &shades),
            faces: faces(model, &anchors, &shades),
            markers: markers(model, &anchors),
            nodes,
            solids,
            meshes,
            surfaces,
            contacts,
            shades,
            events: events.iter().take(MOST_EVENTS).map(happening).collect(),
            position_grids: grids.map(|grid| [grid.low, grid.step]),
            gradient_grid: [gradient_grid.low, gradient_grid.step],
            force_grid: [force_grid.low, force_grid.step],
            data: base64(&out),
        })
    }

    /// Seconds of a run of this duration, in s, in a second of display that show it well.
    pub fn pace_of(span: f64) -> f64 {
        if span > 0.0 { round_pace(span / span.clamp(DISPLAY[0], DISPLAY[1])) } else { 1.0 }
    }

    /// The text of `animation.json`.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("maps have text keys and numbers are finite")
    }

    /// Reads the text of an `animation.json`.
    pub fn from_json(text: &str) -> Result<Self, AnimationError> {
        let animation: Self =
            serde_json::from_str(text).map_err(|error| AnimationError { reason: error.to_string() })?;
        if animation.format != Self::FORMAT || animation.format_version != Self::FORMAT_VERSION {
            let reason = format!("its format is `{}` version {}", animation.format, animation.format_version);
            return Err(AnimationError { reason });
        }
        Ok(animation)
    }

    /// For each column of `data` its place in a row of the film; none for columns that are computed otherwise.
    pub fn arrangement(&self, film: &Film) -> Vec<Option<usize>> {
        let places = film.places();
        let place = |name: String| places.get(name.as_str()).copied();
        let mut columns = Vec::new();
        for node in &self.nodes {
            let turn: &[&str] = if node.turns { &["w", "x", "y", "z"] } else { &[] };
            columns.extend(["x", "y", "z"].iter().map(|part| place(format!("{}.position.{part}", node.name))));
            columns.extend(turn.iter().map(|part| place(format!("{}.orientation.{part}", node.name))));
            let gradient: &[&str] = if node.deforms { &GRADIENT } else { &[] };
            columns.extend(gradient.iter().map(|part| place(format!("{}.{part}", node.name))));
        }
        for contact in &self.contacts {
            let parts = ["mode", "force.x", "force.y", "force.z"];
            columns.extend(parts.iter().map(|part| place(format!("{}.{part}", contact.name))));
        }
        columns.extend(self.shades.iter().map(|shade| place(shade.name.clone())));
        columns.extend(self.surfaces.iter().filter(|surface| surface.moves.is_some()).map(|_| None));
        columns
    }

    /// How far a shown position may be from the recorded one because of rounding, m.
    pub fn resolution(&self) -> f64 {
        self.position_grids.iter().map(|[_, step]| 0.5 * step).fold(0.0, f64::max)
    }
}

/// The range of values that are finite as a grid.
pub(super) fn over(values: impl Iterator<Item = f64>) -> Grid {
    let range = values
        .filter(|x| x.is_finite())
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)]);
    if range[0] <= range[1] { Grid::over(range[0], range[1]) } else { Grid::over(0.0, 0.0) }
}

/// 1, 2 or 5 times a power of ten near x.
fn round_pace(x: f64) -> f64 {
    let power = 10f64.powf(x.log10().floor());
    let nearest = [1.0, 2.0, 5.0, 10.0].into_iter().min_by(|a, b| {
        let off = |m: f64| (x / (m * power)).ln().abs();
        off(*a).total_cmp(&off(*b))
    });
    nearest.unwrap_or(1.0) * power
}

/// Quaternions with the sign that is nearer to the one before.
fn continuous(turns: impl Iterator<Item = [f64; 4]>) -> Vec<[f64; 4]> {
    let mut before = [0.0; 4];
    let follow = |turn: [f64; 4]| {
        let dot: f64 = turn.iter().zip(&before).map(|(a, b)| a * b).sum();
        before = if dot < 0.0 { turn.map(|c| -c) } else { turn };
        before
    };
    turns.map(follow).collect()
}
