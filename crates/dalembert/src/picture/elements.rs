//! What there is to see besides bodies: lines, faces, contact points, markers, and what colours them.

use super::animation::{Anchors, ContactPoint, Face, Line, MarkerFrame, Shade, over};
use super::film::Film;
use super::short;
use crate::model::{Marker, Model, Pair};
use dalembert_methods::lie::Quat;
use dalembert_methods::nonsmooth::Contacts;
use std::collections::HashMap;

/// Most marker frames that are listed.
const MOST_MARKERS: usize = 400;

/// The points of all contacts.
pub(super) fn contact_points(model: &Model, anchors: &Anchors) -> Vec<ContactPoint> {
    let point = |(i, pair): (usize, &Pair)| ContactPoint {
        name: model.contact_name(i),
        element: format!("contact.{}", model.contacts[pair.element].name),
        at: anchors.of(model, pair.markers[1]),
        radius: short(model.contacts[pair.element].item.touch().radius),
    };
    model.layout.pairs.iter().enumerate().map(point).collect()
}

/// Activations and pressures with their columns in the film.
pub(super) fn shades(film: &Film) -> (Vec<Shade>, Vec<usize>) {
    let frames = film.frames();
    let mut columns = Vec::new();
    let mut shades = Vec::new();
    for (i, name) in film.names().iter().enumerate() {
        let Some((kind, unit)) = [("activation", "1"), ("pressure", "Pa")]
            .into_iter()
            .find(|(kind, _)| name.rsplit('.').next() == Some(*kind))
        else {
            continue;
        };
        let grid = over(frames.iter().map(|frame| frame[i + 1]));
        columns.push(i + 1);
        shades.push(Shade { name: name.clone(), kind: kind.into(), unit: unit.into(), grid: [grid.low, grid.step] });
    }
    (shades, columns)
}

/// The number of the shade of each element.
fn shade_of(shades: &[Shade]) -> HashMap<&str, usize> {
    let element = |shade: &'_ Shade| shade.name.rfind('.').unwrap_or(shade.name.len());
    shades.iter().enumerate().map(|(i, shade)| (&shade.name[..element(shade)], i)).collect()
}

/// Elements that are drawn as lines: what pulls or holds between points, piece by piece.
pub(super) fn lines(model: &Model, anchors: &Anchors, shades: &[Shade]) -> Vec<Line> {
    const FORCES: [&str; 5] = ["spring", "nonlinear_spring", "actuator", "muscle", "cable"];
    const CONSTRAINTS: [&str; 3] = ["distance", "prescribed_distance", "cable_length"];
    let shade_of = shade_of(shades);
    let line = |section: &str, name: &str, kind: &'static str, markers: &[usize]| -> Vec<Line> {
        let name = format!("{section}.{name}");
        let shade = shade_of.get(name.as_str()).copied();
        let ends = markers.windows(2).map(|piece| [0, 1].map(|k| anchors.of(model, piece[k])));
        ends.map(|ends| Line { shade, name: name.clone(), kind: kind.to_owned(), ends }).collect()
    };
    let forces = model.forces.iter().filter(|f| FORCES.contains(&f.item.kind()));
    let constraints = model.constraints.iter().filter(|c| CONSTRAINTS.contains(&c.item.kind()));
    forces
        .flat_map(|f| line(f.section, &f.name, f.item.kind(), &f.markers))
        .chain(constraints.flat_map(|c| line(c.section, &c.name, c.item.kind(), &c.markers)))
        .collect()
}

/// The faces of volumes that belong to one cell only.
pub(super) fn faces(model: &Model, anchors: &Anchors, shades: &[Shade]) -> Vec<Face> {
    const BRICK: [&[usize]; 6] =
        [&[0, 1, 3, 2], &[4, 6, 7, 5], &[0, 4, 5, 1], &[2, 3, 7, 6], &[0, 2, 6, 4], &[1, 5, 7, 3]];
    const TETRAHEDRON: [&[usize]; 4] = [&[0, 2, 1], &[0, 3, 2], &[0, 1, 3], &[1, 2, 3]];
    let shade_of = shade_of(shades);
    let mut found: Vec<(Vec<usize>, Face)> = Vec::new();
    let mut times: HashMap<Vec<usize>, usize> = HashMap::new();
    for volume in model.constraints.iter().filter(|c| c.item.kind() == "volume") {
        let name = format!("{}.{}", volume.section, volume.name);
        let size = volume.item.cluster(volume.markers.len()).max(1);
        let sides: &[&[usize]] = if size == 8 { &BRICK } else { &TETRAHEDRON };
        for cell in volume.markers.chunks_exact(size) {
            for side in sides {
                let markers: Vec<usize> = side.iter().map(|&k| cell[k]).collect();
                let corners = markers.iter().map(|&m| anchors.of(model, m)).collect();
                let mut key = markers;
                key.sort_unstable();
                *times.entry(key.clone()).or_default() += 1;
                found.push((key, Face { corners, shade: shade_of.get(name.as_str()).copied(), name: name.clone() }));
            }
        }
    }
    found.into_iter().filter(|(key, _)| times[key] == 1).map(|(_, face)| face).collect()
}

/// The markers with their orientations.
pub(super) fn markers(model: &Model, anchors: &Anchors) -> Vec<MarkerFrame> {
    let frame = |(i, marker): (usize, &Marker)| MarkerFrame {
        name: marker.name.clone(),
        at: anchors.of(model, i),
        turn: Quat::from_matrix(marker.site.rotation).0.map(short),
    };
    model.markers.iter().enumerate().take(MOST_MARKERS).map(frame).collect()
}
