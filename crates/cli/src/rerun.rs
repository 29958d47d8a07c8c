//! Recordings for Rerun (`.rrd`), if this program was built with the feature `rerun`.
//!
//! Entities: `bodies/…` with a transform for each frame and their solids below, `lines`, `volumes`, `contacts` with the forces on
//! them, `shades/…` as curves, `events` as text. The timeline `time` is that of the run.

use crate::exit::Exit;
use dalembert::picture::Animation;
use std::path::Path;

/// How to get it.
#[cfg(not(feature = "rerun"))]
pub const HOW: &str = "this program was built without Rerun; build it again with \
    `cargo build --release --package dalembert-cli --features rerun`";

/// Writes a recording.
#[cfg(not(feature = "rerun"))]
pub fn write(_: &Animation, _: &Path) -> Result<(), Exit> {
    Err(Exit::Usage(HOW.to_owned()))
}

/// Writes a recording.
#[cfg(feature = "rerun")]
pub fn write(animation: &Animation, path: &Path) -> Result<(), Exit> {
    recording::write(animation, path).map_err(|error| Exit::Io(format!("cannot write `{}`: {error}", path.display())))
}

#[cfg(feature = "rerun")]
mod recording {
    use dalembert::picture::{Animation, Form, Pose, Solid, Track};
    use re_sdk::{RecordingStream, RecordingStreamBuilder};
    use re_types::archetypes::{
        Arrows3D, Boxes3D, Cylinders3D, Ellipsoids3D, LineStrips3D, Mesh3D, Scalars, TextLog, Transform3D,
        ViewCoordinates,
    };
    use re_types::components::TransformMat3x3;
    use re_types::datatypes::{Mat3x3, Quaternion};
    use std::error::Error;
    use std::path::Path;

    type Outcome = Result<(), Box<dyn Error>>;

    /// The timeline.
    const TIME: &str = "time";
    /// Colours of bodies in turn, as in reports.
    const COLOURS: [u32; 5] = [0x0072b2, 0xd55e00, 0x00875f, 0xa8478f, 0x8f6a00];
    /// Colours of contacts: open, sliding, sticking.
    const MODES: [u32; 3] = [0x8b95a1, 0xe8a33d, 0x2f9e6e];
    /// The longest arrow, compared with the size of the motion.
    const ARROW: f64 = 0.25;

    fn float3(x: [f64; 3]) -> [f32; 3] {
        x.map(|c| c as f32)
    }

    fn quaternion([w, x, y, z]: [f64; 4]) -> Quaternion {
        Quaternion::from_xyzw([x as f32, y as f32, z as f32, w as f32])
    }

    /// A colour with full opacity, as Rerun has it.
    fn opaque(rgb: u32) -> u32 {
        rgb << 8 | 0xff
    }

    pub fn write(animation: &Animation, path: &Path) -> Outcome {
        let track = animation.track()?;
        let out = RecordingStreamBuilder::new("dalembert").save(path)?;
        let [x, y, z] = animation.up;
        // Rerun knows the axes of the world only.
        let up = if z >= x.max(y) { ViewCoordinates::RIGHT_HAND_Z_UP() } else { ViewCoordinates::RIGHT_HAND_Y_UP() };
        out.log_static("/", &up)?;
        for (number, solid) in animation.solids.iter().enumerate() {
            shape(&out, animation, solid, number)?;
        }
        for (frame, &time) in animation.times.iter().enumerate() {
            out.set_duration_secs(TIME, time);
            for (node, pose) in animation.nodes.iter().zip(&track.poses[frame]) {
                out.log(entity(&node.name), &placed(pose))?;
            }
            between(&out, animation, &track, frame)?;
        }
        for event in &animation.events {
            out.set_duration_secs(TIME, event.time);
            let words = format!("{} {} {}", event.kind, event.element, event.marker);
            out.log("events", &TextLog::new(words.trim_end()))?;
        }
        out.flush_blocking()?;
        Ok(())
    }

    fn entity(name: &str) -> String {
        format!("bodies/{}", name.strip_prefix("body.").unwrap_or(name).replace('.', "/"))
    }

    fn placed(pose: &Pose) -> Transform3D {
        let Some(rows) = pose.gradient else {
            return Transform3D::from_translation_rotation(float3(pose.at), quaternion(pose.turn));
        };
        let columns: [[f32; 3]; 3] = std::array::from_fn(|j| std::array::from_fn(|i| rows[i][j] as f32));
        Transform3D::from_translation_mat3x3(float3(pose.at), TransformMat3x3(Mat3x3::from(columns)))
    }

    /// A solid below its body.
    fn shape(out: &RecordingStream, animation: &Animation, solid: &Solid, number: usize) -> Outcome {
        let node = usize::try_from(solid.node).ok();
        let above = node.map_or("bodies/ground".to_owned(), |node| entity(&animation.nodes[node].name));
        let path = format!("{above}/solid{number}");
        let own = solid.colour.as_deref().and_then(|hex| u32::from_str_radix(hex.strip_prefix('#')?, 16).ok());
        let colour = opaque(own.unwrap_or(COLOURS[node.unwrap_or(0) % COLOURS.len()]));
        let place = Transform3D::from_translation_rotation(float3(solid.at), quaternion(solid.turn));
        out.log_static(path.as_str(), &place)?;
        match solid.form {
            Form::Ball(r) => out.log_static(path, &Ellipsoids3D::from_radii([r as f32]).with_colors([colour]))?,
            Form::Ellipsoid(radii) => {
                out.log_static(path, &Ellipsoids3D::from_half_sizes([float3(radii)]).with_colors([colour]))?;
            }
            Form::Block(edges) => {
                out.log_static(path, &Boxes3D::from_sizes([float3(edges)]).with_colors([colour]))?;
            }
            Form::Cylinder(r, h) => {
                let rod = Cylinders3D::from_lengths_and_radii([h as f32], [r as f32]);
                out.log_static(path, &rod.with_colors([colour]))?;
            }
            Form::Mesh(mesh) => {
                let found = animation.meshes.get(mesh).and_then(|data| data.decode()).ok_or("a mesh is damaged")?;
                let points = found.points.iter().map(|&point| float3(point));
                let drawn = Mesh3D::new(points).with_triangle_indices(found.triangles).with_albedo_factor(colour);
                out.log_static(path, &drawn)?;
            }
        }
        Ok(())
    }

    /// What is between bodies in a frame.
    fn between(out: &RecordingStream, animation: &Animation, track: &Track, frame: usize) -> Outcome {
        let place = |anchor| float3(track.place(frame, anchor));
        if !animation.lines.is_empty() {
            let strips = animation.lines.iter().map(|line| line.ends.map(place));
            let drawn = LineStrips3D::new(strips).with_radii([0.3 * animation.thickness as f32]);
            out.log("lines", &drawn.with_colors([opaque(MODES[0])]))?;
        }
        if !animation.faces.is_empty() {
            let (mut points, mut triangles) = (Vec::new(), Vec::new());
            for face in &animation.faces {
                let first = points.len() as u32;
                points.extend(face.corners.iter().map(|&corner| place(corner)));
                triangles.extend((2..face.corners.len() as u32).map(|k| [first, first + k - 1, first + k]));
            }
            let drawn = Mesh3D::new(points).with_triangle_indices(triangles);
            out.log("volumes", &drawn.with_albedo_factor(COLOURS[0] << 8 | 0x60))?;
        }
        if !animation.contacts.is_empty() {
            let force = |(_, force): &(u8, [f64; 3])| force.iter().map(|c| c * c).sum::<f64>().sqrt();
            let largest = track.contacts.iter().flatten().map(force).fold(0.0, f64::max);
            let size = (0..3).map(|k| (animation.high[k] - animation.low[k]).powi(2)).sum::<f64>().sqrt();
            let scale = if largest > 0.0 { ARROW * size / largest } else { 0.0 };
            let closed = animation.contacts.iter().zip(&track.contacts[frame]).filter(|(_, (mode, _))| *mode > 0);
            let (mut origins, mut vectors, mut colours) = (Vec::new(), Vec::new(), Vec::new());
            for (contact, (mode, force)) in closed {
                origins.push(place(contact.at));
                vectors.push(float3(force.map(|c| scale * c)));
                colours.push(opaque(MODES[usize::from(*mode).min(2)]));
            }
            out.log("contacts", &Arrows3D::from_vectors(vectors).with_origins(origins).with_colors(colours))?;
        }
        for (shade, value) in animation.shades.iter().zip(&track.shades[frame]) {
            out.log(format!("shades/{}", shade.name), &Scalars::single(*value))?;
        }
        Ok(())
    }
}
