//! VTK: the motion for ParaView and its kin, as a series of polygon files (`.vtp`) under one index (`.pvd`).
//!
//! Each file has the solids as triangles, the elements between two points as lines, the outer faces of volumes as polygons, and contact
//! points with the forces on them. Arrays on cells: `element` (its number in the list of names, the CSV file beside them; −1 for the ground),
//! `activation` (NaN where there is none), `pressure` in Pa (likewise). Arrays on points: `contact_force` in N and
//! `contact_mode` (−1 where there is no contact, 0 open, 1 sliding, 2 sticking). Positions in m.
//!
//! Reference: VTK file formats, XML, serial PolyData with base64 inline.

use super::animation::{Animation, AnimationError};
use super::codec::base64;
use super::mesh::{Mesh, forms, unit_of};
use super::track::{Pose, Track};
use dalembert_methods::lie::Quat;
use dalembert_methods::vector::Vec3;
use std::fmt::Write;

/// One frame as polygons.
#[derive(Default)]
struct Polygons {
    points: Vec<[f64; 3]>,
    forces: Vec<[f64; 3]>,
    modes: Vec<i32>,
    /// Cells by kind: single points, lines, polygons.
    cells: [Vec<Cell>; 3],
}

struct Cell {
    points: Vec<usize>,
    element: i64,
    activation: f64,
    pressure: f64,
}

impl Polygons {
    fn point(&mut self, at: [f64; 3]) -> usize {
        self.points.push(at);
        self.forces.push([0.0; 3]);
        self.modes.push(-1);
        self.points.len() - 1
    }
}

/// Names of all elements in the order of their numbers: nodes, lines, faces, contacts.
fn names(animation: &Animation) -> Vec<&str> {
    let nodes = animation.nodes.iter().map(|node| node.name.as_str());
    let lines = animation.lines.iter().map(|line| line.name.as_str());
    let faces = animation.faces.iter().map(|face| face.name.as_str());
    nodes.chain(lines).chain(faces).chain(animation.contacts.iter().map(|c| c.name.as_str())).collect()
}

fn frame(animation: &Animation, track: &Track, forms: &[Mesh], k: usize) -> Polygons {
    let mut out = Polygons::default();
    let plain = |points, element| Cell { points, element, activation: f64::NAN, pressure: f64::NAN };
    for solid in &animation.solids {
        let still = Pose { at: [0.0; 3], turn: [1.0, 0.0, 0.0, 0.0], gradient: None };
        let pose = usize::try_from(solid.node).ok().and_then(|node| track.poses[k].get(node)).unwrap_or(&still);
        let (form, scale) = unit_of(solid.form);
        let mesh = &forms[form];
        let own = Quat(solid.turn);
        let first = out.points.len();
        for point in &mesh.points {
            let scaled = Vec3(std::array::from_fn(|i| point[i] * scale[i]));
            let at = Vec3(solid.at) + own.rotate(scaled);
            out.point(pose.point(at.0));
        }
        for triangle in &mesh.triangles {
            out.cells[2].push(plain(triangle.map(|i| first + i).to_vec(), solid.node));
        }
    }
    let shade = |index: Option<usize>, kind: &str| {
        let found = index.filter(|&i| animation.shades[i].kind == kind);
        found.map_or(f64::NAN, |i| track.shades[k][i])
    };
    let mut element = animation.nodes.len() as i64;
    for line in &animation.lines {
        let points = line.ends.map(|end| out.point(track.place(k, end))).to_vec();
        out.cells[1].push(Cell { activation: shade(line.shade, "activation"), ..plain(points, element) });
        element += 1;
    }
    for face in &animation.faces {
        let points = face.corners.iter().map(|&corner| out.point(track.place(k, corner))).collect();
        out.cells[2].push(Cell { pressure: shade(face.shade, "pressure"), ..plain(points, element) });
        element += 1;
    }
    for (contact, &(mode, force)) in animation.contacts.iter().zip(&track.contacts[k]) {
        let point = out.point(track.place(k, contact.at));
        out.forces[point] = force;
        out.modes[point] = i32::from(mode);
        out.cells[0].push(plain(vec![point], element));
        element += 1;
    }
    out
}

/// A data array with its bytes behind their number, as the format wants it.
fn array(out: &mut String, kind: &str, name: &str, components: usize, bytes: &[u8]) {
    let mut all = (bytes.len() as u32).to_le_bytes().to_vec();
    all.extend_from_slice(bytes);
    let parts = if components > 1 { format!(" NumberOfComponents=\"{components}\"") } else { String::new() };
    let text = base64(&all);
    writeln!(out, "<DataArray type=\"{kind}\" Name=\"{name}\"{parts} format=\"binary\">{text}</DataArray>")
        .expect("writing to a String cannot fail");
}

fn floats(values: impl Iterator<Item = f64>) -> Vec<u8> {
    values.flat_map(|x| (x as f32).to_le_bytes()).collect()
}

fn integers(values: impl Iterator<Item = i32>) -> Vec<u8> {
    values.flat_map(i32::to_le_bytes).collect()
}

fn polydata(polygons: &Polygons) -> String {
    let Polygons { points, forces, modes, cells } = polygons;
    let mut out = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" \
         header_type=\"UInt32\">\n<PolyData>\n",
    );
    let [verts, lines, polys] = [0, 1, 2].map(|kind: usize| cells[kind].len());
    let put = |out: &mut String, text: std::fmt::Arguments<'_>| {
        out.write_fmt(text).expect("writing to a String cannot fail");
    };
    put(
        &mut out,
        format_args!(
            "<Piece NumberOfPoints=\"{}\" NumberOfVerts=\"{verts}\" NumberOfLines=\"{lines}\" NumberOfStrips=\"0\" \
             NumberOfPolys=\"{polys}\">\n<PointData>\n",
            points.len()
        ),
    );
    array(&mut out, "Float32", "contact_force", 3, &floats(forces.iter().flatten().copied()));
    array(&mut out, "Int32", "contact_mode", 1, &integers(modes.iter().copied()));
    out.push_str("</PointData>\n<CellData>\n");
    let all = || cells.iter().flatten();
    array(&mut out, "Int32", "element", 1, &integers(all().map(|cell| cell.element as i32)));
    array(&mut out, "Float32", "activation", 1, &floats(all().map(|cell| cell.activation)));
    array(&mut out, "Float32", "pressure", 1, &floats(all().map(|cell| cell.pressure)));
    out.push_str("</CellData>\n<Points>\n");
    array(&mut out, "Float32", "Points", 3, &floats(points.iter().flatten().copied()));
    out.push_str("</Points>\n");
    for (tag, cells) in ["Verts", "Lines", "Polys"].iter().zip(cells) {
        put(&mut out, format_args!("<{tag}>\n"));
        array(
            &mut out,
            "Int32",
            "connectivity",
            1,
            &integers(cells.iter().flat_map(|c| c.points.iter().map(|&p| p as i32))),
        );
        let mut end = 0;
        let ends = cells.iter().map(|cell| {
            end += cell.points.len() as i32;
            end
        });
        array(&mut out, "Int32", "offsets", 1, &integers(ends));
        put(&mut out, format_args!("</{tag}>\n"));
    }
    out.push_str("</Piece>\n</PolyData>\n</VTKFile>\n");
    out
}

/// The files of a series: pairs of a name and the text. The first is the index, the second the list of names.
pub fn write(animation: &Animation, stem: &str) -> Result<Vec<(String, String)>, AnimationError> {
    let track = animation.track()?;
    let forms = forms(animation)?;
    let mut index = String::from(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"Collection\" version=\"1.0\" byte_order=\"LittleEndian\">\n<Collection>\n",
    );
    let mut files = Vec::new();
    for (k, time) in animation.times.iter().enumerate() {
        let name = format!("{stem}_{k:04}.vtp");
        writeln!(index, "<DataSet timestep=\"{time:?}\" part=\"0\" file=\"{name}\"/>")
            .expect("writing to a String cannot fail");
        files.push((name, polydata(&frame(animation, &track, &forms, k))));
    }
    index.push_str("</Collection>\n</VTKFile>\n");
    let mut list = String::from("element,name\n");
    for (i, name) in names(animation).iter().enumerate() {
        writeln!(list, "{i},{name}").expect("writing to a String cannot fail");
    }
    let mut all = vec![(format!("{stem}.pvd"), index), (format!("{stem}_elements.csv"), list)];
    all.extend(files);
    Ok(all)
}
