//! Trees of links as bodies: against the same mechanisms in redundant coordinates, closed by joints, with springs and stops.
#![allow(clippy::unwrap_used, missing_docs)]

use dalembert::record::Status;
use dalembert::run::{Outcome, run};
use dalembert::scene::{Document, Limits, Overrides, Scene};
use dalembert::scenes;

fn scene_of(name: &str, text: &str, settings: &[&str]) -> Scene {
    let overrides: Overrides = settings.iter().copied().collect();
    let document = Document::from_text(name, text, &overrides, &Limits::default());
    Scene::from_document(document.unwrap_or_else(|e| panic!("{}", e.plain())))
        .unwrap_or_else(|e| panic!("{}", e.plain()))
}

fn completed(name: &str, text: &str, settings: &[&str]) -> Outcome {
    let outcome = run(&scene_of(name, text, settings), name, None, &mut ()).unwrap();
    assert_eq!(outcome.summary.status, Status::Completed, "{name}: {:?}", outcome.summary.error);
    outcome
}

fn built_in(name: &str, settings: &[&str]) -> Outcome {
    completed(name, scenes::find(name).unwrap().text, settings)
}

fn column(outcome: &Outcome, channel: &str) -> Vec<f64> {
    outcome.trajectory.column(channel).unwrap_or_else(|| panic!("no channel {channel}")).to_vec()
}

/// Both runs have tolerance 1e-10; errors grow by less than 100 within two seconds of this chain.
#[test]
fn a_chain_as_a_tree_moves_as_the_chain_of_rigid_bodies_does() {
    let settings = ["parameters.n=5", "run.until=2", "run.tolerance=1e-10", "output.every=0.1"];
    let (tree, rigid) = (built_in("chain-tree", &settings), built_in("chain", &settings));
    for link in 1..=5 {
        for part in ["position.x", "position.z", "velocity.x", "velocity.z", "angular_velocity.y"] {
            let a = column(&tree, &format!("body.chain.link{link}.{part}"));
            let b = column(&rigid, &format!("body.link{link}.{part}"));
            assert_eq!(a.len(), b.len());
            for (x, y) in a.iter().zip(&b) {
                assert!((x - y).abs() < 1e-7, "link {link} {part}: {x} against {y}");
            }
        }
    }
    let energy = column(&tree, "energy.total");
    assert!(energy.iter().all(|e| (e - energy[0]).abs() < 1e-8));
}

/// The loop closed by a joint of the library: the same motion as with three rigid bodies, and a residual at rounding.
#[test]
fn a_loop_of_a_tree_closed_by_a_joint_moves_as_the_four_bar() {
    let tree = built_in("four-bar-tree", &["run.until=0.5", "output.every=0.05"]);
    let settings = ["parameters.n=1", "run.until=0.5", "run.tolerance=1e-10", "output.every=0.05"];
    let rigid = built_in("four-bar", &settings);
    for (ours, theirs) in [("crank", "crank0"), ("coupler", "coupler1")] {
        for part in ["position.x", "position.y", "velocity.x", "angular_velocity.z"] {
            let a = column(&tree, &format!("body.linkage.{ours}.{part}"));
            let b = column(&rigid, &format!("body.{theirs}.{part}"));
            for (x, y) in a.iter().zip(&b) {
                assert!((x - y).abs() < 1e-7, "{ours} {part}: {x} against {y}");
            }
        }
    }
    let residual = column(&tree, "residual.position");
    assert!(residual.iter().all(|r| r.abs() < 1e-10), "{residual:?}");
}

const OSCILLATOR: &str = r#"
[body.robot]
kind = "tree"
links = [{ name = "slider", joint = { kind = "prismatic", axis = [1, 0, 0] }, mass = 2, armature = 1, stiffness = 12, damping = 0.6,
  coordinates = [0.5] }]
[run]
until = 3
tolerance = 1e-10
[output]
every = 0.1
"#;

/// (m + armature) q̈ + d q̇ + k q = 0 in closed form; the energy of the spring and the heat of the damper close the ledger.
#[test]
fn a_slider_with_spring_damper_and_armature_is_the_damped_oscillator() {
    let outcome = completed("oscillator", OSCILLATOR, &[]);
    let (t, x) = (column(&outcome, "time"), column(&outcome, "body.robot.slider.position.x"));
    let (decay, squared): (f64, f64) = (0.6 / 6.0, 12.0 / 3.0);
    let w = (squared - decay * decay).sqrt();
    for (t, x) in t.iter().zip(&x) {
        let exact = 0.5 * (-decay * t).exp() * ((w * t).cos() + decay / w * (w * t).sin());
        assert!((x - exact).abs() < 1e-8, "{t}: {x} {exact}");
    }
    let total = column(&outcome, "energy.total");
    assert!(total.iter().all(|e| (e - total[0]).abs() < 1e-8), "{total:?}");
}

const DRIVEN: &str = r#"
[body.robot]
kind = "tree"
links = [{ name = "arm", joint = { kind = "revolute", axis = [0, 0, 1] }, mass = 1, inertia = [1, 1, 2] }]
[marker.arm]
body = "robot"
link = "arm"
[force.drive]
kind = "motor"
between = ["ground", "arm"]
torque = 5
limit = 3
[run]
until = 2
tolerance = 1e-10
[output]
every = 0.5
"#;

/// A torque of 5 N m that is limited to 3 on an inertia of 2 kg m²: φ̇ = 1.5 t. A servo without limit is the damped oscillator
/// 2 φ̈ + 0.4 φ̇ + 8 (φ − 0.5) = 0.
#[test]
fn drives_keep_within_their_limits_and_servos_hold_angles() {
    let outcome = completed("driven", DRIVEN, &[]);
    for (t, w) in column(&outcome, "time").iter().zip(column(&outcome, "body.robot.arm.angular_velocity.z")) {
        assert!((w - 1.5 * t).abs() < 1e-9, "{t}: {w}");
    }
    let servo = DRIVEN.replace("torque = 5\nlimit = 3", "angle = 0.5\nstiffness = 8\ndamping = 0.4");
    let outcome = completed("servo", &servo, &[]);
    let (decay, w) = (0.1, (4.0f64 - 0.01).sqrt());
    for (t, q) in column(&outcome, "time").iter().zip(column(&outcome, "body.robot.arm.orientation.z")) {
        let angle = 0.5 - 0.5 * (-decay * t).exp() * ((w * t).cos() + decay / w * (w * t).sin());
        assert!((2.0 * q.asin() - angle).abs() < 1e-8, "{t}: {q}");
    }
}

#[test]
fn scenes_with_trees_are_written_and_read_again() {
    for name in ["chain-tree", "four-bar-tree", "andrews-tree", "stewart"] {
        let scene = scene_of(name, scenes::find(name).unwrap().text, &[]);
        let text = scene.to_toml();
        assert_eq!(scene_of(name, &text, &[]).to_toml(), text);
    }
}

#[track_caller]
fn refused(old: &str, new: &str, words: &str) {
    let text = OSCILLATOR.replace(old, new);
    assert_ne!(text, OSCILLATOR);
    let document = Document::from_text("bad", &text, &Overrides::none(), &Limits::default()).unwrap();
    let error = Scene::from_document(document).err().unwrap().plain();
    assert!(error.contains(words), "{error}");
}

#[test]
fn bad_trees_are_refused_with_their_names() {
    refused("mass = 2, armature = 1,", "", "moves nothing with inertia");
    refused("mass = 2", "mass = -2", "`slider`: the mass must be finite and not negative");
    refused("axis = [1, 0, 0]", "axis = [0, 0, 0]", "no direction");
    refused("coordinates = [0.5]", "coordinates = [0.5, 1]", "has 1 coordinates, but 2 are given");
    refused("name = \"slider\",", "name = \"slider\", parent = \"rail\",", "`rail`, and there is no such link");
    refused("[run]", "[marker.m]\nbody = \"robot\"\nlink = \"slidr\"\n[run]", "did you mean `slider`?");
    refused(
        "name = \"slider\",",
        "name = \"slider\", repeat = { count = 90000, position = [0, 0, 1] },",
        "more than the 20000",
    );
}
