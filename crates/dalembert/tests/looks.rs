//! Shapes that scenes give bodies for looking at: drawn where they are placed, faults at their places, and no change of any motion.
#![allow(clippy::unwrap_used)]

use dalembert::methods::lie::Quat;
use dalembert::methods::vector::Vec3;
use dalembert::picture::{Animation, Form, gltf, vtk};
use dalembert::run::{Outcome, run, snapshots};
use dalembert::scene::{Document, Limits, MemoryLoader, Overrides, Scene, SceneError};

const SCENE: &str = r##"
[body.ground]
shape = { box = { size = [4, 4, 0.1] }, at = [0, 0, -2], colour = "#cccccc" }

[body.top]
kind = "rigid"
mass = 1
inertia = [0.01, 0.012, 0.014]
velocity = [0.3, 0, 0]
angular_velocity = [1, 2, 3]
shape = [
  { mesh = { file = "parts/wedge.obj", scale = [2, 1, 1] }, at = [0.1, 0, 0], colour = "#d55e00" },
  { capsule = { radius = 0.1, length = 0.5 }, orientation = { axis = [0, 1, 0], angle = "= pi/2" } },
]

[body.dot]
kind = "particle"
mass = 1
velocity = [0, 1, 0]
shape = { ellipsoid = { radii = [0.1, 0.2, 0.3] } }

[body.chain]
kind = "tree"
links = [{ name = "link", joint = { kind = "revolute", axis = [0, 1, 0] }, mass = 1, centre = [0, 0, -0.5], inertia = [0.1, 0.1, 0.01],
  repeat = { count = 3, position = [0, 0, -1] } }]
shape = [{ link = "link*", cylinder = { radius = 0.05, length = 1 }, at = [0, 0, -0.5] }, { link = "link2", sphere = { radius = 0.1 } }]

[world]
gravity = [0, 0, -9.81]
[run]
until = 0.1
"##;

const FLOOR: &str = r##"shape = { box = { size = [4, 4, 0.1] }, at = [0, 0, -2], colour = "#cccccc" }"##;
const TOP: &str = r##"shape = [
  { mesh = { file = "parts/wedge.obj", scale = [2, 1, 1] }, at = [0.1, 0, 0], colour = "#d55e00" },
  { capsule = { radius = 0.1, length = 0.5 }, orientation = { axis = [0, 1, 0], angle = "= pi/2" } },
]"##;
const DOT: &str = "shape = { ellipsoid = { radii = [0.1, 0.2, 0.3] } }";
const CHAIN: &str = r#"shape = [{ link = "link*", cylinder = { radius = 0.05, length = 1 }, at = [0, 0, -0.5] }, { link = "link2", sphere = { radius = 0.1 } }]"#;

const WEDGE: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

fn loaded(text: &str) -> Result<Scene, SceneError> {
    let loader = MemoryLoader::new().with("a/scene.toml", text).with("a/parts/wedge.obj", WEDGE).with("a/bad.stl", "x");
    let document = Document::load(&loader, "a/scene.toml", &Overrides::none(), &Limits::default())?;
    let mut scene = Scene::from_document(document)?;
    scene.read_meshes(&loader)?;
    Ok(scene)
}

fn filmed(text: &str) -> (Scene, Outcome, Animation) {
    let scene = loaded(text).unwrap_or_else(|error| panic!("{}", error.plain()));
    let outcome = run(&scene, "it", None, &mut ()).unwrap();
    let animation = Animation::new(&scene.model, "it", &outcome.film, &outcome.events).unwrap();
    (scene, outcome, Animation::from_json(&animation.to_json()).unwrap())
}

#[test]
fn shapes_are_drawn_where_they_are_placed() {
    let (scene, _, animation) = filmed(SCENE);
    assert_eq!(scene.meshes, ["a/parts/wedge.obj"]);
    let node = |name: &str| animation.nodes.iter().position(|n| n.name == name).unwrap() as i64;
    let of = |node: i64| animation.solids.iter().filter(|s| s.node == node).collect::<Vec<_>>();
    let [floor] = of(-1)[..] else { panic!("the ground has one shape") };
    assert_eq!(
        (floor.form, floor.at, floor.colour.as_deref()),
        (Form::Block([4.0, 4.0, 0.1]), [0.0, 0.0, -2.0], Some("#cccccc"))
    );
    let [wedge, barrel, left, right] = of(node("body.top"))[..] else { panic!("a mesh and three parts of a capsule") };
    assert_eq!((wedge.form, wedge.at, wedge.colour.as_deref()), (Form::Mesh(0), [0.1, 0.0, 0.0], Some("#d55e00")));
    assert_eq!(barrel.form, Form::Cylinder(0.1, 0.5));
    // A quarter turn about y takes z to x: the round ends are at ±0.25 m along x, to seven digits.
    for (end, x) in [(left, -0.25), (right, 0.25)] {
        assert_eq!(end.form, Form::Ball(0.1));
        assert!((Vec3(end.at) - Vec3([x, 0.0, 0.0])).norm() < 1e-6, "{:?}", end.at);
    }
    let axis = Quat(barrel.turn).rotate(Vec3([0.0, 0.0, 1.0]));
    assert!((axis - Vec3([1.0, 0.0, 0.0])).norm() < 1e-6);
    assert_eq!(of(node("body.dot"))[0].form, Form::Ellipsoid([0.1, 0.2, 0.3]));
    let links = [1, 2, 3].map(|k| of(node(&format!("body.chain.link{k}"))).len());
    assert_eq!(links, [1, 2, 1], "all links are rods, and the second has a ball");
    assert_eq!(animation.meshes.len(), 1);
}

/// In flat pictures a body to which nothing is attached is a point at its place: the dot has moved by 1 m/s · 0.1 s and fallen by g (0.1 s)²/2, to
/// the tolerance of the run, which is below 1e-6.
#[test]
fn bodies_without_markers_are_points_in_pictures() {
    let (scene, outcome, _) = filmed(SCENE);
    let shots = snapshots(&scene.model, &outcome.trajectory, &[0.1]).unwrap();
    let place = Vec3([0.0, 0.1, -9.81 * 0.005]);
    assert!(shots[0].balls.iter().any(|(at, radius)| *radius == 0.0 && (Vec3(*at) - place).norm() < 1e-6), "{shots:?}");
}

#[test]
fn shapes_change_no_motion_and_come_back_from_text() {
    let (scene, outcome, _) = filmed(SCENE);
    let written = scene.to_toml();
    let again = loaded(&written).unwrap_or_else(|error| panic!("{}", error.plain()));
    assert_eq!(again.to_toml(), written);
    assert_eq!(again.model.looks().len(), 6);
    // Without its shapes the scene moves the same, to the bit.
    let mut plain = SCENE.to_owned();
    for shape in [FLOOR, TOP, DOT, CHAIN] {
        assert!(plain.contains(shape));
        plain = plain.replace(shape, "");
    }
    let (bare, same, _) = filmed(&plain);
    assert!(bare.model.looks().is_empty());
    for name in ["body.top.orientation.x", "body.chain.link3.position.x"] {
        assert_eq!(outcome.trajectory.column(name).unwrap(), same.trajectory.column(name).unwrap(), "{name}");
    }
    // A record is read without mesh files; nothing but the picture needs them.
    let document = Document::from_text("scene.toml", &written, &Overrides::none(), &Limits::default()).unwrap();
    assert!(Scene::from_document(document).is_ok());
}

#[test]
fn other_programs_get_meshes_too() {
    let (_, _, animation) = filmed(SCENE);
    let files = vtk::write(&animation, "motion").unwrap();
    assert!(files[2].1.contains("NumberOfPolys"));
    let bytes = gltf::write(&animation).unwrap();
    let length = u32::from_le_bytes(bytes[12..16].try_into().unwrap()) as usize;
    let document: serde_json::Value = serde_json::from_slice(&bytes[20..20 + length]).unwrap();
    let counts: Vec<u64> =
        document["accessors"].as_array().unwrap().iter().filter_map(|a| a["count"].as_u64()).collect();
    // Four triangles with corners of their own.
    assert!(counts.iter().filter(|&&count| count == 12).count() >= 3, "points, normals and corners: {counts:?}");
    // #cccccc in linear light: ((0.8 + 0.055)/1.055)^2.4.
    let grey = ((0.8_f64 + 0.055) / 1.055).powf(2.4);
    let colour = |m: &serde_json::Value| m["pbrMetallicRoughness"]["baseColorFactor"][0].as_f64().unwrap();
    assert!(document["materials"].as_array().unwrap().iter().any(|m| (colour(m) - grey).abs() < 1e-12));
    let broken = Animation { meshes: Vec::new(), ..animation };
    assert!(gltf::write(&broken).unwrap_err().to_string().contains("not there"));
}

#[test]
fn faults_are_shown_where_they_are() {
    let fault = |from: &str, to: &str| {
        assert!(SCENE.contains(from), "{from}");
        let text = SCENE.replace(from, to);
        let at = text.find(to).unwrap();
        let line = text[..at].matches('\n').count() + 1;
        let Err(error) = loaded(&text) else { panic!("{to} is accepted") };
        let plain = error.plain();
        assert!(plain.starts_with(&format!("a/scene.toml:{line}:")), "line {line}: {plain}");
        plain
    };
    assert!(fault("{ size = [4, 4, 0.1] }", "{ size = [4, 0, 0.1] }").contains("positive and finite, not 0"));
    assert!(fault("colour = \"#cccccc\"", "colour = \"grey\"").contains("\"#d55e00\", not \"grey\""));
    assert!(fault("{ ellipsoid = { radii = [0.1, 0.2, 0.3] } }", "{ at = [0, 0, 0] }").contains("needs a form"));
    assert!(fault("ellipsoid = {", "elipsoid = {").contains("did you mean `ellipsoid`?"));
    assert!(fault("radius = 0.1, length = 0.5", "radius = 0.1").contains("missing key `length`"));
    assert!(fault("link = \"link2\"", "link = \"link4\"").contains("there is no link `link4`"));
    assert!(fault("{ ellipsoid", "{ link = \"a\", ellipsoid").contains("only trees have links"));
    assert!(fault("parts/wedge.obj", "parts/edge.obj").contains("mesh `a/parts/edge.obj`: there is no such file"));
    assert!(fault("parts/wedge.obj", "bad.stl").contains("mesh `a/bad.stl`: this is no STL"));
    assert!(fault("parts/wedge.obj", "a.dae").contains(".stl and .obj"));
    assert!(fault("{ ellipsoid = { radii = [0.1, 0.2, 0.3] } }", "7").contains("a shape like"));
}
