//! Animations of built-in scenes against what the same runs recorded, and what other programs read of them.
#![allow(clippy::unwrap_used)]

use dalembert::methods::lie::Quat;
use dalembert::methods::vector::Vec3;
use dalembert::picture::codec::unbase64;
use dalembert::picture::{Animation, Form, PATTERNS, Surface, Track, gltf, vtk};
use dalembert::run::{Outcome, matches, run};
use dalembert::scene::{Document, Limits, Overrides, Scene};
use dalembert::scenes;

/// Runs a built-in scene with settings.
fn filmed(name: &str, settings: &[&str]) -> (Animation, Track, Outcome) {
    let mut overrides = Overrides::none();
    settings.iter().for_each(|setting| overrides.push(*setting));
    let text = scenes::find(name).unwrap().text;
    let document = Document::from_text(name, text, &overrides, &Limits::default()).unwrap();
    let scene = Scene::from_document(document).unwrap();
    let outcome = run(&scene, name, None, &mut ()).unwrap();
    let animation = Animation::new(&scene.model, name, &outcome.film, &outcome.events).unwrap();
    // What is read back is what was written.
    let animation = Animation::from_json(&animation.to_json()).unwrap();
    let track = animation.track().unwrap();
    (animation, track, outcome)
}

/// The row of the trajectory at a frame.
fn row(animation: &Animation, outcome: &Outcome, frame: usize) -> usize {
    // Times in the animation have ten digits.
    let time = animation.times[frame];
    let near = |t: &f64| (t - time).abs() <= 1e-9 * (1.0 + time.abs());
    outcome.trajectory.time().iter().position(near).unwrap()
}

#[test]
fn positions_and_turns_are_those_recorded() {
    let (animation, track, outcome) = filmed("double-pendulum", &["run.until=2"]);
    assert_eq!(animation.nodes.len(), 2);
    // Half a step of each grid; the grid of quaternions has the step 2/65535, so an angle errs by less than three of them.
    for frame in 0..animation.times.len() {
        let row = row(&animation, &outcome, frame);
        for (node, pose) in animation.nodes.iter().zip(&track.poses[frame]) {
            let value = |part: &str| outcome.trajectory.column(&format!("{}.{part}", node.name)).unwrap()[row];
            for (k, axis) in ["x", "y", "z"].iter().enumerate() {
                let off = (pose.at[k] - value(&format!("position.{axis}"))).abs();
                assert!(off <= 0.5 * animation.position_grids[k][1] + 1e-12, "{off}");
            }
            let recorded = Quat(["w", "x", "y", "z"].map(|part| value(&format!("orientation.{part}"))));
            let between = (recorded.conjugate() * Quat(pose.turn)).log().norm();
            let angle = between.min(2.0 * std::f64::consts::PI - between);
            assert!(angle <= 3.0 * 2.0 / 65535.0, "{angle}");
        }
    }
    // The upper link is a rod with round ends between its hinges, the lower one a rod by its inertia and one to its hinge.
    let rods = animation.solids.iter().filter(|s| matches!(s.form, Form::Cylinder(..))).count();
    assert_eq!((rods, animation.solids.len()), (3, 5));
    assert!(animation.times.len() as u64 <= animation.rows);
}

#[test]
fn a_film_has_all_bodies_whatever_is_recorded() {
    let (animation, track, outcome) = filmed("leech-free", &["run.until=0.02", "output.channels=[\"energy.*\"]"]);
    assert!(outcome.trajectory.column("body.leech_corner2_1.position.x").is_none());
    assert!(outcome.film.names().iter().all(|name| PATTERNS.iter().any(|pattern| matches(pattern, name))));
    assert_eq!(animation.nodes.len(), 24);
    // Five segments: four sides each and two ends.
    assert_eq!(animation.faces.len(), 22);
    assert_eq!(animation.lines.iter().filter(|line| line.kind == "muscle").count(), 44);
    assert!(animation.lines.iter().all(|line| line.shade.is_some()), "muscles are coloured by activation");
    // The faces are counterclockwise from outside: by Gauss they enclose the volume that is kept, to the rounding of corners.
    let volume = |frame: usize| -> f64 {
        let sum = |face: &dalembert::picture::Face| {
            let [a, b, c, d] = [0, 1, 2, 3].map(|k| Vec3(track.place(frame, face.corners[k])));
            ((c + d).dot(a.cross(b)) + (a + b).dot(c.cross(d))) / 12.0
        };
        animation.faces.iter().map(sum).sum()
    };
    let last = animation.times.len() - 1;
    // Each of 24 corners errs by a resolution; the surface is below 50 m².
    assert!(volume(0) > 0.0 && (volume(last) - volume(0)).abs() < 50.0 * animation.resolution());
}

#[test]
fn contacts_have_their_modes_and_forces() {
    let (animation, track, outcome) = filmed("bouncing-ball", &[]);
    assert!(matches!(animation.surfaces[0].surface, Surface::Plane([0.0, 0.0, 1.0])));
    let last = animation.times.len() - 1;
    let (mode, force) = track.contacts[last][0];
    // At rest it carries its weight; the grid of forces has 32767 steps.
    let weight = 9.81;
    assert!(mode > 0 && (force[2] - weight).abs() <= animation.force_grid[1], "{mode} {force:?}");
    assert_eq!(track.contacts[0][0], (0, [0.0; 3]));
    assert_eq!(animation.events.len(), outcome.events.len());
    assert_eq!(animation.up, [0.0, 0.0, 1.0]);
}

#[test]
fn gltf_is_well_formed() {
    let (animation, ..) = filmed("car-axis", &["run.until=0.5"]);
    let bytes = gltf::write(&animation).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!((&bytes[..4], word(4), word(8)), (&b"glTF"[..], 2, bytes.len()));
    let (length, start) = (word(12), 20);
    assert_eq!((&bytes[16..20], length % 4), (&b"JSON"[..], 0));
    let json: serde_json::Value = serde_json::from_slice(&bytes[start..start + length]).unwrap();
    let (buffer, size) = (start + length + 8, word(start + length));
    assert_eq!((&bytes[buffer - 4..buffer], buffer + size), (&b"BIN\0"[..], bytes.len()));
    assert_eq!(json["buffers"][0]["byteLength"], size);
    let list = |name: &str| json[name].as_array().unwrap().clone();
    let number = |value: &serde_json::Value| value.as_u64().unwrap() as usize;
    let (views, accessors, nodes) = (list("bufferViews"), list("accessors"), list("nodes"));
    for accessor in &accessors {
        let view = &views[number(&accessor["bufferView"])];
        let parts = [("SCALAR", 1), ("VEC3", 3), ("VEC4", 4)];
        let width = parts.iter().find(|(name, _)| accessor["type"] == *name).unwrap().1;
        let bytes = if accessor["componentType"] == 5123 { 2 } else { 4 };
        assert_eq!(number(&accessor["count"]) * width * bytes, number(&view["byteLength"]));
        assert!(
            number(&view["byteOffset"]) % 4 == 0 && number(&view["byteOffset"]) + number(&view["byteLength"]) <= size
        );
    }
    let motion = &json["animations"][0];
    let channels = motion["channels"].as_array().unwrap();
    assert!(channels.len() > 4);
    for channel in channels {
        let sampler = &motion["samplers"][number(&channel["sampler"])];
        let [input, output] = ["input", "output"].map(|end| &accessors[number(&sampler[end])]);
        assert_eq!(input["count"], output["count"]);
        assert!(nodes.len() > number(&channel["target"]["node"]));
    }
    // Times begin at zero and rise.
    let view = &views[number(&accessors[number(&motion["samplers"][0]["input"])]["bufferView"])];
    let at = buffer + number(&view["byteOffset"]);
    let time = |k: usize| f32::from_le_bytes(bytes[at + 4 * k..at + 4 * k + 4].try_into().unwrap());
    assert_eq!(time(0), 0.0);
    assert!((1..number(&view["byteLength"]) / 4).all(|k| time(k) > time(k - 1)));
}

#[test]
fn vtk_series_are_well_formed() {
    let (animation, track, _) = filmed("leech", &["run.until=0.01"]);
    let files = vtk::write(&animation, "motion").unwrap();
    let (index, frames) = (&files[0], &files[2..]);
    assert_eq!(index.0, "motion.pvd");
    assert_eq!(frames.len(), animation.times.len());
    for (name, text) in frames {
        assert!(index.1.contains(&format!("file=\"{name}\"")));
        let count = |key: &str| -> usize {
            let rest = &text[text.find(key).unwrap() + key.len() + 2..];
            rest[..rest.find('"').unwrap()].parse().unwrap()
        };
        let array = |name: &str| -> Vec<Vec<u8>> {
            let mark = format!("Name=\"{name}\"");
            let each = text.match_indices(&mark).map(|(at, _)| {
                let rest = &text[at..];
                let content = &rest[rest.find('>').unwrap() + 1..rest.find('<').unwrap()];
                let bytes = unbase64(content).unwrap();
                assert_eq!(u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize, bytes.len() - 4);
                bytes[4..].to_vec()
            });
            each.collect()
        };
        assert_eq!(array("Points")[0].len(), 12 * count("NumberOfPoints"));
        let kinds = ["NumberOfVerts", "NumberOfLines", "NumberOfPolys"].map(count);
        assert_eq!(kinds[0], animation.contacts.len());
        assert_eq!(kinds[1], animation.lines.len());
        for (offsets, (connectivity, cells)) in array("offsets").iter().zip(array("connectivity").iter().zip(kinds)) {
            assert_eq!(offsets.len(), 4 * cells);
            let last = i32::from_le_bytes(offsets[offsets.len() - 4..].try_into().unwrap()) as usize;
            assert_eq!(connectivity.len(), 4 * last);
            let points = connectivity.chunks(4).map(|b| i32::from_le_bytes(b.try_into().unwrap()) as usize);
            assert!(points.max().unwrap() < count("NumberOfPoints"));
        }
        assert_eq!(array("element")[0].len(), 4 * kinds.iter().sum::<usize>());
    }
    assert_eq!(track.poses.len(), frames.len());
}

#[test]
fn damaged_animations_are_refused() {
    let (animation, ..) = filmed("bouncing-ball", &["run.until=0.1"]);
    let cut = Animation { data: animation.data[..8].to_owned(), ..animation.clone() };
    assert!(cut.track().unwrap_err().to_string().contains("end early"));
    let odd = Animation { data: "?".to_owned(), ..animation.clone() };
    assert!(odd.track().is_err());
    assert!(Animation::from_json("{}").is_err());
    let other = animation.to_json().replace("dalembert-animation", "another");
    assert!(Animation::from_json(&other).unwrap_err().to_string().contains("another"));
}
