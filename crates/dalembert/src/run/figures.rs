//! The figures a scene asks for: its panels resolved to channels, and the shapes of its bodies at chosen instants.

use super::channels::{Channels, matches};
use super::driver::RunError;
use super::motion::{Poses, Stick, outlines, sticks};
use crate::contacts::{AnyContact, Surfaces};
use crate::model::{Attached, Instant, Marker, Model, ModelError, Orientation, Place, Site};
use crate::picture::{number, vector};
use crate::report::Panel;
use crate::report::contour::zero_lines;
use crate::report::shapes::{Shapes, Snapshot};
use crate::report::theme::CURVES;
use crate::scene::{Moment, PanelSettings, Scene, ShapesSettings, nearest};
use dalembert_methods::Scalar;
use dalembert_methods::trajectory::{Channel, Event, Trajectory};
use dalembert_methods::vector::Vec3;
use std::collections::BTreeSet;

/// Words for what happens to contacts.
const KINDS: [&str; 7] = ["impact", "touch", "lift-off", "stick", "slip", "reversal", "rest"];
/// Cells across and up of the grid on which surfaces are followed.
const GRID: [usize; 2] = [120, 120];

/// The figures of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// The panels, in the order of the scene.
    pub panels: Vec<Panel>,
    /// The pictures of shapes, in the order of the scene.
    pub shapes: Vec<Shapes>,
}

/// The figures that a scene asks for, from what was recorded. What cannot be drawn is left out.
pub fn figures(scene: &Scene, trajectory: &Trajectory, events: &[Event]) -> Figures {
    let panels =
        scene.panels.iter().filter_map(|(name, settings)| panel(name, settings, trajectory.channels()).ok()).collect();
    let draw = |(name, settings): &(String, ShapesSettings)| shapes(scene, name, settings, trajectory, events);
    Figures { panels, shapes: scene.shapes.iter().filter_map(draw).collect() }
}

/// Checks that all figures of a scene can be drawn from what it records.
pub(super) fn check_figures(scene: &Scene) -> Result<(), RunError> {
    if scene.panels.is_empty() && scene.shapes.is_empty() {
        return Ok(());
    }
    let recorded = Channels::new(&scene.model, &scene.output.channels);
    let recorded = recorded.channels();
    let mut errors: Vec<ModelError> = Vec::new();
    for (name, settings) in &scene.panels {
        errors.extend(panel(name, settings, recorded).err());
    }
    for (name, settings) in &scene.shapes {
        if let Some((key, message)) = shapes_defect(scene, settings, recorded) {
            errors.push(ModelError { section: "shapes", name: name.clone(), key, message });
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(RunError::Elements(errors)) }
}

/// A panel with its channels, or what is wrong with it.
fn panel(name: &str, settings: &PanelSettings, recorded: &[Channel]) -> Result<Panel, ModelError> {
    let blame = |key: &'static str, message: String| ModelError {
        section: "panel",
        name: name.to_owned(),
        key: Some(key),
        message,
    };
    let (channels, unit) = drawn(&settings.channels, recorded).map_err(|message| blame("channels", message))?;
    let (right, right_unit) = drawn(&settings.right, recorded).map_err(|message| blame("right", message))?;
    if channels.is_empty() {
        return Err(blame("channels", "a panel draws at least one channel".to_owned()));
    }
    if channels.len() + right.len() > CURVES {
        let message = format!("{} curves cannot be told apart, the limit is {CURVES}", channels.len() + right.len());
        return Err(blame("channels", message));
    }
    for (key, names, curves) in [("names", &settings.names, &channels), ("right_names", &settings.right_names, &right)]
    {
        if !names.is_empty() && names.len() != curves.len() {
            let message = format!("{} names for {} curves ({})", names.len(), curves.len(), curves.join(", "));
            return Err(blame(key, message));
        }
    }
    if let (Some(from), Some(until)) = (settings.from, settings.until)
        && until <= from
    {
        return Err(blame("until", format!("the last time to show must be after the first, {from} s")));
    }
    let title = if settings.title.is_empty() { name } else { &settings.title };
    let names = match (settings.names.as_slice(), channels.len() + right.len()) {
        // The title says it.
        ([], 1) => vec![title.to_owned()],
        ([], _) => distinct(&channels),
        (names, _) => names.to_vec(),
    };
    let right_names = if settings.right_names.is_empty() { distinct(&right) } else { settings.right_names.clone() };
    Ok(Panel {
        section: format!("panel.{name}"),
        title: title.to_owned(),
        unit,
        channels,
        names,
        right,
        right_unit,
        right_names,
        log: settings.log,
        from: settings.from,
        until: settings.until,
    })
}

/// What tells names apart: the words after those that all begin with and before those that all end with.
fn distinct(names: &[String]) -> Vec<String> {
    let words: Vec<Vec<&str>> = names.iter().map(|name| name.split('.').collect()).collect();
    let Some(first) = words.first().filter(|_| words.len() > 1) else {
        return names.iter().map(|name| name.replace('.', " ")).collect();
    };
    let shortest = words.iter().map(Vec::len).min().unwrap_or(0);
    let before = (0..shortest).take_while(|&k| words.iter().all(|w| w[k] == first[k])).count();
    let last = |w: &[&str], k: usize| w[w.len() - 1 - k].to_owned();
    let after = (0..shortest - before).take_while(|&k| words.iter().all(|w| last(w, k) == last(first, k))).count();
    words.iter().map(|w| w[before..w.len() - after].join(" ")).collect()
}

/// The recorded channels that match patterns, each once, and their unit.
fn drawn(patterns: &[String], recorded: &[Channel]) -> Result<(Vec<String>, String), String> {
    let mut found: Vec<&Channel> = Vec::new();
    for pattern in patterns {
        let before = found.len();
        for channel in recorded.iter().filter(|c| c.name != Channel::TIME && matches(pattern, &c.name)) {
            if !found.contains(&channel) {
                found.push(channel);
            }
        }
        if found.len() == before {
            let near = nearest(pattern, recorded.iter().map(|c| c.name.as_str()));
            let hint = near.map_or_else(
                || "; `output.channels` says what is recorded".to_owned(),
                |near| format!("; did you mean `{near}`?"),
            );
            return Err(format!("no recorded channel matches `{pattern}`{hint}"));
        }
    }
    if let Some(other) = found.iter().find(|c| c.unit != found[0].unit) {
        let first = found[0];
        return Err(format!(
            "`{}` in {} and `{}` in {} cannot share an axis; put one of them under `right`",
            first.name, first.unit, other.name, other.unit
        ));
    }
    let unit = found.first().map_or_else(String::new, |c| c.unit.clone());
    Ok((found.into_iter().map(|c| c.name.clone()).collect(), unit))
}

/// What is wrong with a picture of shapes, if anything.
fn shapes_defect(
    scene: &Scene,
    settings: &ShapesSettings,
    recorded: &[Channel],
) -> Option<(Option<&'static str>, String)> {
    if settings.times.is_empty() {
        return Some((Some("times"), "a picture of shapes needs at least one time".to_owned()));
    }
    let words = || KINDS.into_iter().chain(scene.events.iter().map(|(name, _)| name.as_str()));
    for moment in &settings.times {
        if let Moment::Event(word) = moment
            && !words().any(|known| known == word)
        {
            let hint = match nearest(word, words()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("expected a time, or one of {}", words().collect::<Vec<_>>().join(", ")),
            };
            return Some((Some("times"), format!("there is no event `{word}`; {hint}")));
        }
    }
    let unknown = |name: &&String| !recorded.iter().any(|c| c.name == format!("{name}.position.x"));
    if let Some(name) = settings.traces.iter().find(unknown) {
        let known = recorded.iter().filter_map(|c| c.name.strip_suffix(".position.x"));
        let hint = nearest(name, known).map(|near| format!("; did you mean `{near}`?"));
        let message = format!("no position of `{name}` is recorded{}", hint.unwrap_or_default());
        return Some((Some("traces"), message));
    }
    if let Err(message) = settings.view.view() {
        return Some((Some("view"), message));
    }
    let names = drawable(&scene.model);
    if let Some(pattern) = settings.elements.iter().find(|pattern| !names.iter().any(|name| matches(pattern, name))) {
        let hint = nearest(pattern, names.iter().map(String::as_str)).map(|near| format!("; did you mean `{near}`?"));
        let message = format!("nothing that can be drawn matches `{pattern}`{}", hint.unwrap_or_default());
        return Some((Some("elements"), message));
    }
    let missing = Poses::missing(&scene.model, |name| recorded.iter().any(|c| c.name == name))?;
    Some((None, format!("`{missing}` is not recorded; add it to `output.channels`")))
}

/// Names of all that can be drawn.
fn drawable(model: &Model) -> Vec<String> {
    let bodies = model.bodies().iter().skip(1).map(|body| format!("body.{}", body.name));
    let forces = model.forces().iter().map(|f| format!("{}.{}", f.section, f.name));
    let constraints = model.constraints().iter().map(|c| format!("{}.{}", c.section, c.name));
    let contacts = model.contacts().iter().map(|c| format!("{}.{}", c.section, c.name));
    bodies.chain(forces).chain(constraints).chain(contacts).collect()
}

fn shapes(
    scene: &Scene,
    name: &str,
    settings: &ShapesSettings,
    trajectory: &Trajectory,
    events: &[Event],
) -> Option<Shapes> {
    let poses = Poses::new(&scene.model, trajectory)?;
    let title = if settings.title.is_empty() { name } else { &settings.title };
    let view = settings.view.view().ok()?;
    let mut picture = Shapes {
        name: name.to_owned(),
        title: title.to_owned(),
        view,
        snapshots: Vec::new(),
        traces: Vec::new(),
        remarks: Vec::new(),
    };
    let looks = (outlines(&scene.model), sticks(&scene.model));
    let wanted = |section: &str, name: &str| {
        let path = format!("{section}.{name}");
        settings.elements.is_empty() || settings.elements.iter().any(|pattern| matches(pattern, &path))
    };
    for moment in &settings.times {
        let (time, label) = match moment {
            Moment::Time(time) => (*time, String::new()),
            Moment::Event(word) => {
                match events.iter().find(|e| e.kind == *word || e.element == format!("event.{word}")) {
                    Some(event) => (event.time, word.clone()),
                    None => {
                        picture.remarks.push(format!("There was no event “{word}” in this run."));
                        continue;
                    }
                }
            }
        };
        match poses.at(time) {
            Some(place) => picture.snapshots.push(snapshot(&scene.model, &looks, &place, time, label, &wanted)),
            None => picture.remarks.push(format!("Nothing was recorded at {time} s.")),
        }
    }
    let times = || picture.snapshots.iter().map(|shot| shot.time);
    let (first, last) = (times().fold(f64::INFINITY, f64::min), times().fold(f64::NEG_INFINITY, f64::max));
    let rows = trajectory.time().iter().enumerate().filter(|(_, t)| (first..=last).contains(*t)).map(|(row, _)| row);
    let rows: Vec<usize> = rows.collect();
    let column = |name: &str, axis: &str| trajectory.column(&format!("{name}.position.{axis}"));
    let trace = |name: &String| {
        let [x, y, z] = [column(name, "x")?, column(name, "y")?, column(name, "z")?];
        Some(rows.iter().map(|&row| [x[row], y[row], z[row]]).collect())
    };
    picture.traces = settings.traces.iter().filter_map(trace).collect();
    if settings.surfaces && picture.view.flat {
        draw_surfaces(&scene.model, &poses, &mut picture, &wanted);
    }
    Some(picture)
}

/// The outlines of bodies in their own frames, and links as sticks.
type Drawn = (Vec<Vec<Vec<[f64; 3]>>>, Vec<Stick>);

/// The bodies and elements of a model at some of the times of a trajectory, in their order; none if poses were not recorded. Times outside of it are left out.
pub fn snapshots(model: &Model, trajectory: &Trajectory, times: &[f64]) -> Option<Vec<Snapshot>> {
    let poses = Poses::new(model, trajectory)?;
    let looks = (outlines(model), sticks(model));
    let shot = |&time: &f64| {
        let place = poses.at(time)?;
        Some(snapshot(model, &looks, &place, time, String::new(), &|_, _| true))
    };
    Some(times.iter().filter_map(shot).collect())
}

/// Bodies as outlines or lines through their markers, those without markers as points, links of trees as sticks with a point at each joint, elements between points as lines, cells by their edges, balls of contacts.
fn snapshot(
    model: &Model,
    (outlines, sticks): &Drawn,
    place: &dyn Fn(&Marker) -> Place<f64>,
    time: f64,
    label: String,
    wanted: &dyn Fn(&str, &str) -> bool,
) -> Snapshot {
    let point = |marker: usize| place(&model.markers()[marker]).r.0;
    let mut shot = Snapshot { time, label, ..Snapshot::default() };
    let mut joined: BTreeSet<[usize; 2]> = BTreeSet::new();
    let mut touched: BTreeSet<usize> = BTreeSet::new();
    let mut edge = |a: usize, b: usize, lines: &mut Vec<Vec<[f64; 3]>>| {
        let bodies = [a, b].map(|m| model.markers()[m].body);
        touched.extend(bodies);
        if joined.insert([a.min(b), a.max(b)]) {
            lines.push(vec![point(a), point(b)]);
        }
    };
    for force in model.forces().iter().filter(|f| f.markers.len() == 2 && wanted(f.section, &f.name)) {
        edge(force.markers[0], force.markers[1], &mut shot.lines);
    }
    for constraint in model.constraints().iter().filter(|c| wanted(c.section, &c.name)) {
        match constraint.item.kind() {
            "distance" => edge(constraint.markers[0], constraint.markers[1], &mut shot.lines),
            "volume" => {
                let simplex = constraint.item.parameters().iter().any(|(_, value)| *value == "tetrahedron");
                let edges: &[[usize; 2]] = if simplex { &TETRAHEDRON } else { &HEXAHEDRON };
                for corners in constraint.markers.chunks_exact(if simplex { 4 } else { 8 }) {
                    for [a, b] in edges {
                        edge(corners[*a], corners[*b], &mut shot.lines);
                    }
                }
            }
            _ => {}
        }
    }
    for contact in model.contacts().iter().filter(|c| wanted(c.section, &c.name)) {
        let radius = contact.item.touch().radius;
        let carrier = &model.markers()[contact.markers[0]];
        if !model.layout.v[carrier.body].is_empty() {
            // A surface around its marker is a ball at least as large as the marker lies deep inside.
            let surface = place(carrier);
            let depth = -distance(model, contact, time, surface, surface);
            let ball = (surface.r.0, depth.max(0.0));
            touched.insert(carrier.body);
            if !shot.balls.contains(&ball) {
                shot.balls.push(ball);
            }
        }
        for &marker in contact.markers.iter().skip(1).filter(|_| radius > 0.0) {
            let ball = (point(marker), radius);
            touched.insert(model.markers()[marker].body);
            if !shot.balls.contains(&ball) {
                shot.balls.push(ball);
            }
        }
    }
    for (i, _) in model.bodies().iter().enumerate().skip(1).filter(|(_, body)| wanted("body", &body.name)) {
        let mut marker =
            Marker { name: String::new(), body: i, site: Site::point([0.0; 3]), orientation: Orientation::default() };
        if !outlines[i].is_empty() {
            let mut moved = |at: &[f64; 3]| {
                marker.site.at = *at;
                place(&marker).r.0
            };
            shot.lines.extend(outlines[i].iter().map(|line| line.iter().map(&mut moved).collect::<Vec<_>>()));
            continue;
        }
        if model.bodies()[i].item.part_name(0).is_some() {
            for stick in sticks.iter().filter(|stick| stick.body == i) {
                let line = stick.placed(&|marker| place(marker).r.0);
                shot.balls.extend(line.first().map(|&joint| (joint, 0.0)));
                shot.lines.extend((line.len() > 1).then_some(line));
            }
            continue;
        }
        let mut own: Vec<[f64; 3]> = Vec::new();
        for (number, _) in model.markers().iter().enumerate().filter(|(_, marker)| marker.body == i) {
            let at = point(number);
            if !own.contains(&at) {
                own.push(at);
            }
        }
        match own.as_slice() {
            [_, _, ..] => shot.lines.push(own),
            [at] if !touched.contains(&i) => shot.balls.push((*at, 0.0)),
            // Nothing is attached to it: it is seen all the same.
            [] => shot.balls.push((place(&marker).r.0, 0.0)),
            _ => {}
        }
    }
    shot
}

/// Edges between the corners of a cell.
const HEXAHEDRON: [[usize; 2]; 12] =
    [[0, 1], [1, 3], [3, 2], [2, 0], [4, 5], [5, 7], [7, 6], [6, 4], [0, 4], [1, 5], [2, 6], [3, 7]];
const TETRAHEDRON: [[usize; 2]; 6] = [[0, 1], [0, 2], [0, 3], [1, 2], [2, 3], [3, 1]];

/// The distance of a point from the surface of a contact, in m; negative inside.
fn distance(
    model: &Model,
    contact: &Attached<Box<dyn AnyContact>>,
    t: f64,
    surface: Place<f64>,
    point: Place<f64>,
) -> f64 {
    let parameters = model.initial_state().p;
    let now = Instant { t, x: &[], p: &parameters, signals: &[] };
    f64::view::<Surfaces, _>(&*contact.item).gap(&now, &[surface, point]) + contact.item.touch().radius
}

/// Adds the lines in which surfaces cross the plane through the middle of the shapes.
fn draw_surfaces(model: &Model, poses: &Poses<'_>, picture: &mut Shapes, wanted: &dyn Fn(&str, &str) -> bool) {
    let Some(frame) = picture.frame() else { return };
    let eye = Vec3(picture.view.eye);
    let (sum, count) = picture
        .snapshots
        .iter()
        .flat_map(|shot| shot.lines.iter().flatten().chain(shot.balls.iter().map(|(centre, _)| centre)))
        .fold((0.0, 0.0), |(sum, count), point| (sum + eye.dot(Vec3(*point)), count + 1.0));
    let height = sum / f64::max(count, 1.0);
    let view = picture.view.clone();
    for shot in &mut picture.snapshots {
        let Some(place) = poses.at(shot.time) else { continue };
        let fields = model.forces().iter().filter(|f| f.item.kind() == "contact_field");
        for field in fields.filter(|f| wanted(f.section, &f.name)) {
            let parameters = field.item.parameters();
            let support = place(&model.markers()[field.markers[0]]);
            let normal = support.axis(vector(&parameters, "normal").normalized().0);
            let offset = number(&parameters, "offset");
            let above = |at: [f64; 2]| normal.dot(Vec3(view.lift(at, height)) - support.r) - offset;
            shot.surfaces.extend(zero_lines(above, frame, GRID));
        }
        for contact in model.contacts().iter().filter(|c| wanted(c.section, &c.name)) {
            let surface = place(&model.markers()[contact.markers[0]]);
            let to = |at: [f64; 2]| Place { r: Vec3(view.lift(at, height)), ..surface };
            let lines = zero_lines(|at| distance(model, contact, shot.time, surface, to(at)), frame, GRID);
            if model.layout.v[model.markers()[contact.markers[0]].body].is_empty() {
                shot.surfaces.extend(lines);
            } else if contact.item.kind() != "sphere" {
                // What moves with a body looks like a part of it.
                let lift = |line: Vec<[f64; 2]>| line.into_iter().map(|at| view.lift(at, height)).collect();
                shot.lines.extend(lines.into_iter().map(lift));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::distinct;

    #[test]
    fn names_keep_what_tells_them_apart() {
        let short = |names: &[&str]| distinct(&names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>());
        assert_eq!(short(&["body.a.velocity.x", "body.b.velocity.x"]), ["a", "b"]);
        assert_eq!(short(&["body.a.velocity.x", "body.a.velocity.z"]), ["x", "z"]);
        assert_eq!(short(&["energy.total", "body.a.position.x"]), ["energy total", "body a position x"]);
        assert_eq!(short(&["energy.total"]), ["energy total"]);
    }
}
