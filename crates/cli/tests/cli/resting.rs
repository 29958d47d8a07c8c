//! Small vibrations and equilibria of scenes with contacts, against closed forms.

use super::*;
use tempfile::tempdir;

/// A block of 2 kg on a spring along x, in a tree, on a plane; g = 10 m/s².
const BLOCK: &str = r#"
[parameters]
mu = 0.5
x = 0.02
z = 0.0
belt = 0.0
[world]
gravity = [0, 0, -10]
[body.block]
kind = "tree"
[[body.block.links]]
name = "along"
joint = { kind = "prismatic", axis = [1, 0, 0] }
coordinates = ["= x"]
mass = 0
inertia = [1, 1, 1]
[[body.block.links]]
name = "up"
parent = "along"
joint = { kind = "prismatic", axis = [0, 0, 1] }
coordinates = ["= z"]
mass = 2
inertia = [1, 1, 1]
[marker.foot]
body = "block"
link = "up"
[marker.anchor]
at = [-1000, 0, 0]
[force.spring]
kind = "spring"
between = ["anchor", "foot"]
stiffness = 50
rest_length = 1000
[contact.floor]
kind = "plane"
between = ["ground", "foot"]
belt = "= belt"
friction = { sliding = "= mu", one_dimensional = true }
"#;

fn line<'t>(text: &'t str, name: &str) -> Vec<&'t str> {
    text.lines().find(|line| line.starts_with(name)).unwrap_or_default().split_whitespace().collect()
}

/// A mass pressed on a rough floor sticks: nothing is left to vibrate. Without friction it vibrates with √(k/m), and from above it is laid down. The
/// contact is told with its forces.
#[test]
fn a_block_on_a_floor_is_linearised_as_it_stands() {
    let folder = tempdir().unwrap();
    std::fs::write(folder.path().join("own.toml"), BLOCK).unwrap();
    let run = |more: &[&str]| dalembert(folder.path(), &[&["study", "modes", "own.toml"][..], more].concat());
    let error = run(&[]).with(2).err;
    assert!(error.contains("leave nothing free"), "{error}");
    for more in [&["--set", "parameters.mu=0"][..], &["--set", "parameters.mu=0", "--set", "parameters.z=0.3"]] {
        let out = run(more).with(0).out;
        let found: f64 = line(&out, "1 ").get(1).and_then(|x| x.parse().ok()).unwrap_or_default();
        // The spring is 1000 m long: its line tilts by nothing that counts.
        assert!((found - 25.0).abs() < 1e-5, "{out}");
        assert!(out.contains("closed without friction") && out.contains("20.000000"), "{out}");
    }
    // On a belt the block slides where the spring holds 0.5 · 20 N; there is neither damping nor the opposite.
    let out = run(&["--set", "parameters.belt=0.1"]).with(0).out;
    assert!(line(&out, "contact.floor")[1..] == ["sliding", "–", "20.000000", "10.000000", "–"], "{out}");
}

/// A curve of equilibria with a contact ends where the block would slip: at 50 N/m · x = μ · 20 N.
#[test]
fn a_curve_of_equilibria_ends_where_a_contact_slips() {
    let folder = tempdir().unwrap();
    std::fs::write(folder.path().join("own.toml"), BLOCK).unwrap();
    let arguments =
        ["study", "continuation", "own.toml", "--parameter", "parameters.mu", "--from", "0.5", "--to", "0.01"];
    let out = dalembert(folder.path(), &arguments).with(0).out;
    assert!(out.contains("then the curve was lost") && out.contains("`contact.floor` would have to hold"), "{out}");
    let least = out.split("the curve lies between parameters.mu = ").nth(1).unwrap_or_default();
    let least: f64 = least.split_whitespace().next().and_then(|x| x.parse().ok()).unwrap_or_default();
    assert!((least - 0.05).abs() < 1e-5, "{out}");
}

/// The block on the belt rests in steady sliding; an equilibrium and its eigenvalues are those of mass and spring, x = μmg/k.
#[test]
fn scenes_with_contacts_are_linearised() {
    let folder = tempdir().unwrap();
    let out = dalembert(folder.path(), &["study", "linearise", "block-on-belt"]).with(0).out;
    assert!(line(&out, "contact.belt")[1..] == ["sliding", "–", "9.810000", "1.962000", "–"], "{out}");
    assert!(out.contains("0.000000   10.000000"), "{out}");
    // The ball falls to the floor, where it may roll off in both directions.
    let out = dalembert(folder.path(), &["study", "linearise", "bouncing-ball"]).with(0).out;
    assert!(out.contains("the equilibrium is not isolated: 2 directions"), "{out}");
}
