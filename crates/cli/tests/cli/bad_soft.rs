//! Bad soft bodies: what is wrong is named with its place in the file, by `check` and by `run` alike.

use super::*;
use tempfile::tempdir;

const GOOD: &str = "\
[world]
gravity = [0, 0, -9.81]
[assembly.blob]
kind = 'soft'
shape = { box = { size = [1, 1, 1] } }
density = 1000
material = { neo_hookean = { modulus = 6e4 } }
position = [0, 0, 0.6]
rest_distance = 0.002
damping = { coefficient = 1e-9, power = 6 }
contraction = { stretch = { stretch = 1.1 } }
";

const BOX: &str = "{ box = { size = [1, 1, 1] } }";

/// A change of the good scene, and what the message says.
const CHANGES: &[(&str, &str, &str)] = &[
    ("size = [1, 1, 1]", "size = [1, -1, 1]", "`size` must be positive and finite, found -1"),
    // An inverted tetrahedron, an open one, and a dented polyhedron.
    (
        BOX,
        "{ surface = { vertices = [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], triangles = [[0,1,2],[0,3,1],[0,2,3],[1,3,2]] } }",
        "turned inside out or flat",
    ),
    (
        BOX,
        "{ surface = { vertices = [[0,0,0],[1,0,0],[0,1,0],[0,0,1]], triangles = [[0,2,1],[0,1,3],[0,3,2]] } }",
        "it is open: the edge between vertices 1 and 2 has one face only",
    ),
    (
        BOX,
        "{ polyhedron = { vertices = [[0,0,0],[1,0,0],[0,1,0],[0,0,1],[0.2,0.2,0.2]], \
         faces = [[0,2,1],[0,1,3],[0,3,2],[1,2,4],[2,3,4],[3,1,4]] } }",
        "it is not convex",
    ),
    ("density = 1000", "density = 0", "a density must be positive and finite"),
    ("modulus = 6e4", "modulus = -6e4", "the modulus must be positive and finite, found -60000 Pa"),
    ("[0, 0, 0.6]", "[0, 0, 0.4]", "the support is inside the body"),
    ("rest_distance = 0.002", "rest_distance = -1", "a distance must be positive, found -1 m"),
    ("coefficient = 1e-9", "coefficient = -1", "a coefficient must not be negative nor infinite, found -1"),
    ("power = 6", "power = 1", "powers of the distance go from 2 to 24, found 1"),
    ("stretch = 1.1", "stretch = 0", "the determinant of the relaxed shape must be positive"),
    (
        "{ stretch = { stretch = 1.1 } }",
        "{ matrix = [[1, 0, 0], [0, -1, 0], [0, 0, 1]] }",
        "the determinant of the relaxed shape must be positive, but is -1 at t = 0 s",
    ),
];

#[test]
fn each_is_named_with_its_place() {
    let folder = tempdir().unwrap();
    std::fs::write(folder.path().join("a.toml"), GOOD).unwrap();
    dalembert(folder.path(), &["check", "a.toml"]).with(0);
    let mut wrong = Vec::new();
    for (text, change, message) in CHANGES {
        assert!(GOOD.contains(text), "{text}");
        std::fs::write(folder.path().join("a.toml"), GOOD.replacen(text, change, 1)).unwrap();
        let found = dalembert(folder.path(), &["check", "a.toml"]).with(2).err;
        let run = dalembert(folder.path(), &["run", "a.toml"]).with(2).err;
        // The line of what was changed; a body and its support are blamed together.
        let line = match *message {
            "the support is inside the body" => 3,
            _ => 1 + GOOD[..GOOD.find(text).unwrap()].matches('\n').count(),
        };
        let placed = format!("a.toml:{line}:");
        if !found.contains(&placed) || !found.contains(message) || found != run {
            wrong.push(format!("{change}\n  expected {placed} {message}\n  found {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
