//! glTF 2.0: the motion for programs that show and edit scenes, as one binary file (`.glb`).
//!
//! Nodes are bodies with their solids; elements between two points are rods that stretch. All follow one animation, with the
//! display's time: 1 s there is `pace` s of the run. Upwards is y, as the format wants it. Left out are volumes, deformations and contacts, which
//! change in ways the format has no means for, and surfaces that points cannot pass.
//!
//! Reference: Khronos Group, glTF 2.0 specification, ISO/IEC 12113:2022.

use super::animation::{Animation, AnimationError};
use super::mesh::{Mesh, forms, unit_of};
use super::solids::Solid;
use super::track::Track;
use dalembert_methods::lie::Quat;
use dalembert_methods::vector::Vec3;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Colours of bodies in turn, of lines, sRGB; those of the reports.
const COLOURS: [u32; 6] = [0x0072b2, 0xd55e00, 0x00875f, 0xa8478f, 0x8f6a00, 0x59636f];
/// The number of the colour of lines.
const LINES: usize = 5;
/// The number of the form of lines: a cylinder.
const ROD: usize = 2;
/// Types of components: unsigned int, float.
const INTEGER: u32 = 5125;
const FLOAT: u32 = 5126;

/// The buffer with its views and accessors.
#[derive(Default)]
struct Buffer {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Buffer {
    fn accessor(
        &mut self,
        bytes: &[u8],
        component: u32,
        kind: &str,
        count: usize,
        range: Option<[Vec<f32>; 2]>,
    ) -> usize {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        // Views begin at multiples of four.
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        self.views.push(json!({ "buffer": 0, "byteOffset": start, "byteLength": bytes.len() }));
        let mut accessor =
            json!({ "bufferView": self.views.len() - 1, "componentType": component, "type": kind, "count": count });
        if let Some([low, high]) = range {
            accessor["min"] = json!(low);
            accessor["max"] = json!(high);
        }
        self.accessors.push(accessor);
        self.accessors.len() - 1
    }

    /// Vectors of N floats.
    fn floats<const N: usize>(&mut self, rows: &[[f32; N]]) -> usize {
        let bytes: Vec<u8> = rows.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        let range = [f32::min as fn(f32, f32) -> f32, f32::max].map(|pick| {
            (0..N).map(|k| rows.iter().map(|row| row[k]).reduce(pick).unwrap_or(0.0)).collect::<Vec<f32>>()
        });
        let kind = ["", "SCALAR", "VEC2", "VEC3", "VEC4"][N];
        self.accessor(&bytes, FLOAT, kind, rows.len(), Some(range))
    }

    fn indices(&mut self, triangles: &[[usize; 3]]) -> usize {
        let bytes: Vec<u8> = triangles.iter().flatten().flat_map(|&i| (i as u32).to_le_bytes()).collect();
        self.accessor(&bytes, INTEGER, "SCALAR", 3 * triangles.len(), None)
    }
}

fn float3(x: [f64; 3]) -> [f32; 3] {
    x.map(|c| c as f32)
}

/// A quaternion in the order of the format: x, y, z, w.
fn scalar_last([w, x, y, z]: [f64; 4]) -> [f32; 4] {
    [x, y, z, w].map(|c| c as f32)
}

/// sRGB to the linear values that materials want.
fn linear(colour: u32) -> [f64; 4] {
    let part = |shift: u32| {
        let c = f64::from(colour >> shift & 255) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { ((c + 0.055) / 1.055).powf(2.4) }
    };
    [part(16), part(8), part(0), 1.0]
}

/// The shortest rotation from one direction to another.
fn between(from: Vec3<f64>, to: Vec3<f64>) -> Quat<f64> {
    let (from, to) = (from.normalized(), to.normalized());
    let w = 1.0 + from.dot(to);
    if w < 1e-9 {
        let (across, _) = from.perpendiculars();
        return Quat([0.0, across[0], across[1], across[2]]);
    }
    let axis = from.cross(to);
    Quat([w, axis[0], axis[1], axis[2]]).normalized()
}

/// Channels and samplers of the animation.
#[derive(Default)]
struct Channels {
    samplers: Vec<Value>,
    channels: Vec<Value>,
}

impl Channels {
    fn add(&mut self, node: usize, path: &str, input: usize, output: usize) {
        self.samplers.push(json!({ "input": input, "output": output, "interpolation": "LINEAR" }));
        let target = json!({ "node": node, "path": path });
        self.channels.push(json!({ "sampler": self.samplers.len() - 1, "target": target }));
    }
}

/// The bytes of a `.glb` file.
pub fn write(animation: &Animation) -> Result<Vec<u8>, AnimationError> {
    let track = animation.track()?;
    // Times must rise; frames at the same instant as the one before are left out.
    let mut frames: Vec<usize> = Vec::new();
    for (k, &time) in animation.times.iter().enumerate() {
        if frames.last().is_none_or(|&last| time > animation.times[last]) {
            frames.push(k);
        }
    }
    let mut buffer = Buffer::default();
    let start = animation.times.first().copied().unwrap_or(0.0);
    let times: Vec<[f32; 1]> =
        frames.iter().map(|&k| [((animation.times[k] - start) / animation.pace) as f32]).collect();
    let input = buffer.floats(&times);
    let mut paint = Paint::new(&forms(animation)?, &mut buffer);

    let mut nodes: Vec<Value> = vec![json!({})];
    let mut top = Vec::new();
    let mut motion = Channels::default();
    for (i, node) in animation.nodes.iter().enumerate() {
        let own = nodes.len();
        top.push(own);
        nodes.push(json!({ "name": node.name }));
        let mut children = Vec::new();
        for solid in animation.solids.iter().filter(|solid| solid.node == i as i64) {
            children.push(nodes.len());
            nodes.push(paint.solid(solid, COLOURS[i % LINES]));
        }
        if !children.is_empty() {
            nodes[own]["children"] = json!(children);
        }
        let places: Vec<[f32; 3]> = frames.iter().map(|&k| float3(track.poses[k][i].at)).collect();
        nodes[own]["translation"] = json!(places[0]);
        motion.add(own, "translation", input, buffer.floats(&places));
        if node.turns {
            let turns: Vec<[f32; 4]> = frames.iter().map(|&k| scalar_last(track.poses[k][i].turn)).collect();
            nodes[own]["rotation"] = json!(turns[0]);
            motion.add(own, "rotation", input, buffer.floats(&turns));
        }
    }
    for solid in animation.solids.iter().filter(|solid| solid.node < 0) {
        top.push(nodes.len());
        nodes.push(paint.solid(solid, COLOURS[LINES]));
    }
    let rod = paint.mesh(ROD, COLOURS[LINES]);
    lines(animation, &track, &frames, (input, rod), &mut buffer, &mut nodes, &mut top, &mut motion);
    let up = between(Vec3(animation.up), Vec3([0.0, 1.0, 0.0]));
    nodes[0] = json!({ "name": animation.title, "rotation": scalar_last(up.0), "children": top });

    let materials: Vec<Value> = paint
        .colours
        .iter()
        .map(|&colour| {
            json!({ "pbrMetallicRoughness": { "baseColorFactor": linear(colour), "metallicFactor": 0, "roughnessFactor": 0.7 } })
        })
        .collect();
    let mut document = json!({
        "asset": { "version": "2.0", "generator": concat!("dalembert ", env!("CARGO_PKG_VERSION")) },
        "scene": 0,
        "scenes": [{ "nodes": [0] }],
        "nodes": nodes,
        "meshes": paint.meshes,
        "materials": materials,
        "buffers": [{ "byteLength": buffer.bytes.len() }],
        "bufferViews": buffer.views,
        "accessors": buffer.accessors,
    });
    if !motion.channels.is_empty() && frames.len() > 1 {
        document["animations"] =
            json!([{ "name": "motion", "channels": motion.channels, "samplers": motion.samplers }]);
    }
    Ok(container(&document.to_string(), &buffer.bytes))
}

/// Meshes and materials, made for each form and colour that is used; meshes of one form share their points.
struct Paint {
    /// Accessors of points, normals and triangles of each form.
    forms: Vec<[usize; 3]>,
    colours: Vec<u32>,
    meshes: Vec<Value>,
    made: HashMap<(usize, u32), usize>,
}

impl Paint {
    fn new(forms: &[Mesh], buffer: &mut Buffer) -> Self {
        let rows = |list: &[[f64; 3]]| list.iter().map(|&x| float3(x)).collect::<Vec<_>>();
        let form = |mesh: &Mesh| {
            let points = buffer.floats(&rows(&mesh.points));
            [points, buffer.floats(&rows(&mesh.normals)), buffer.indices(&mesh.triangles)]
        };
        let forms = forms.iter().map(form).collect();
        Self { forms, colours: Vec::new(), meshes: Vec::new(), made: HashMap::new() }
    }

    /// The number of the mesh of a form in a colour.
    fn mesh(&mut self, form: usize, colour: u32) -> usize {
        let Self { forms, colours, meshes, made } = self;
        *made.entry((form, colour)).or_insert_with(|| {
            let material = colours.iter().position(|&known| known == colour).unwrap_or_else(|| {
                colours.push(colour);
                colours.len() - 1
            });
            let [points, normals, indices] = forms[form];
            meshes.push(json!({ "primitives": [{
                "attributes": { "POSITION": points, "NORMAL": normals }, "indices": indices, "material": material,
            }] }));
            meshes.len() - 1
        })
    }

    /// The node of a solid, in its own colour or that of its body.
    fn solid(&mut self, solid: &Solid, colour: u32) -> Value {
        let (form, scale) = unit_of(solid.form);
        let own = solid.colour.as_deref().and_then(|hex| u32::from_str_radix(hex.strip_prefix('#')?, 16).ok());
        json!({
            "mesh": self.mesh(form, own.unwrap_or(colour)),
            "translation": float3(solid.at),
            "rotation": scalar_last(solid.turn),
            "scale": float3(scale),
        })
    }
}

/// Rods between the ends of lines.
fn lines(
    animation: &Animation,
    track: &Track,
    frames: &[usize],
    (input, rod): (usize, usize),
    buffer: &mut Buffer,
    nodes: &mut Vec<Value>,
    top: &mut Vec<usize>,
    motion: &mut Channels,
) {
    let radius = 0.35 * animation.thickness;
    for line in &animation.lines {
        let own = nodes.len();
        top.push(own);
        let (mut places, mut turns, mut scales) = (Vec::new(), Vec::new(), Vec::new());
        for &k in frames {
            let [from, to] = line.ends.map(|end| Vec3(track.place(k, end)));
            places.push(float3(((from + to) * 0.5).0));
            let along = to - from;
            let turn = if along.norm() > 0.0 { between(Vec3([0.0, 0.0, 1.0]), along) } else { Quat::identity() };
            turns.push(scalar_last(turn.0));
            scales.push(float3([radius, radius, along.norm().max(1e-9)]));
        }
        nodes.push(json!({
            "name": line.name, "mesh": rod,
            "translation": places[0], "rotation": turns[0], "scale": scales[0],
        }));
        motion.add(own, "translation", input, buffer.floats(&places));
        motion.add(own, "rotation", input, buffer.floats(&turns));
        motion.add(own, "scale", input, buffer.floats(&scales));
    }
}

/// Header and two chunks: text padded with spaces, buffer padded with zeros.
fn container(text: &str, buffer: &[u8]) -> Vec<u8> {
    let mut text = text.as_bytes().to_vec();
    text.resize(text.len().next_multiple_of(4), b' ');
    let length = 12 + 8 + text.len() + 8 + buffer.len();
    let mut out = Vec::with_capacity(length);
    let word = |out: &mut Vec<u8>, x: usize| out.extend_from_slice(&(x as u32).to_le_bytes());
    out.extend_from_slice(b"glTF");
    word(&mut out, 2);
    word(&mut out, length);
    word(&mut out, text.len());
    out.extend_from_slice(b"JSON");
    out.extend_from_slice(&text);
    word(&mut out, buffer.len());
    out.extend_from_slice(b"BIN\0");
    out.extend_from_slice(buffer);
    out
}
