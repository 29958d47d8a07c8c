//! Bad skeletons and contacts: the element is named, with its place in the file.

use super::*;
use tempfile::tempdir;

/// A good scene: a short leech before a wall, and a cell of its own.
const GOOD: &str = "\
[assembly.leech]
kind = 'skeleton'
segments = 3
length = 5
half_widths = [0.4, 0.4]
position = [2.4, 0, 0]
corner_mass = 0.01
longitudinal = { stiffness = 16, rest_length = 1.5, damping = 0.1, activation = 1 }
circular = { stiffness = 16, rest_length = 0.05, damping = 0.1, activation = 0.75 }
[contact.wall]
kind = 'plane'
between = ['ground', 'leech_corner*']
normal = [1, 0, 0]
friction = { sliding = 0.3 }
[[repeat]]
from = 0
to = 7
[repeat.body.'c{i}']
kind = 'particle'
mass = 1
position = ['= floor(i/4)', '= mod(floor(i/2), 2)', '= mod(i, 2)']
[constraint.cell]
kind = 'volume'
markers = ['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7']
[force.tie]
kind = 'muscle'
between = ['c0', 'c1']
stiffness = 1
activation = 1
[run]
until = 0.01
";

/// Text changed in [`GOOD`], what it becomes, the place, part of the message.
const CHANGES: &[(&str, &str, &str, &str)] = &[
    (
        "position = [2.4, 0, 0]",
        "position = [-0.1, 0, 0]",
        "10:1",
        "`contact.wall.leech_corner0_1` starts with a gap of -1.000e-1 m",
    ),
    (
        "normal =",
        "restitution = 1.5\nnormal =",
        "13:15",
        "contact `wall`: a coefficient of restitution lies between 0 and 1, found 1.5",
    ),
    ("normal =", "restitution = -0.1\nnormal =", "13:15", "between 0 and 1, found -0.1"),
    (
        "sliding = 0.3",
        "sliding = 0.3, static = 0.2",
        "14:12",
        "contact `wall`: static friction must not be less than sliding friction",
    ),
    ("sliding = 0.3", "sliding = -0.3", "14:12", "contact `wall`"),
    // turned inside out: by the section of an assembly, as a whole, at a corner
    (
        "half_widths = [0.4, 0.4]",
        "section = [[1, -1], [1, 1], [-1, -1], [-1, 1]]",
        "1:1",
        "constraint `leech_volume`: cell 1 is turned inside out or flat",
    ),
    (
        "'c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7'",
        "'c4', 'c5', 'c6', 'c7', 'c0', 'c1', 'c2', 'c3'",
        "24:11",
        "cell 1 is turned inside out",
    ),
    (
        "markers = ['c0', 'c1',",
        "markers = ['c1', 'c0',",
        "24:11",
        "constraint `cell`: cell 1 is folded over at its corner",
    ),
    ("'c6', 'c7']", "'c6']", "24:11", "7 markers do not make whole cells"),
    // volumes that do not fit
    (
        "corner_mass = 0.01",
        "corner_mass = 0.01\nvolume = 5",
        "1:1",
        "violates `constraint.leech_volume` on position level",
    ),
    ("corner_mass = 0.01", "corner_mass = 0.01\nvolume = -5", "8:10", "a volume must be positive, not -5 m³"),
    (
        "corner_mass = 0.01",
        "corner_mass = 0.01\ncompartments = [{ name = 'a', first = 1, last = 2, volume = 3 }, { name = 'b', first = 2, last = 3, volume = 9 }]",
        "1:1",
        "violates `constraint.leech_",
    ),
    (
        "[force.tie]",
        "[constraint.other]\nkind = 'volume'\nvolume = 2\nmarkers = ['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6', 'c7']\n[force.tie]",
        "25:1",
        "violates `constraint.other` on position level by 1",
    ),
    // edges without length
    (
        "half_widths = [0.4, 0.4]",
        "section = [[-1, -1], [-1, -1], [1, -1], [1, 1]]",
        "1:1",
        "force `leech_circular0_1`: the points coincide",
    ),
    ("between = ['c0', 'c1']", "between = ['c0', 'c0']", "27:11", "force `tie`: the points coincide"),
    (
        "kind = 'muscle'\nbetween = ['c0', 'c1']\nstiffness = 1\nactivation = 1",
        "kind = 'spring'\nbetween = ['c0', 'c0']\nstiffness = 1\nrest_length = 1",
        "27:11",
        "force `tie`: the points coincide",
    ),
    ("length = 5", "length = 0", "4:10", "assembly `leech`: lengths must be positive"),
    ("half_widths = [0.4, 0.4]", "half_widths = [0.4, 0]", "5:15", "half widths must be positive"),
];

#[test]
fn each_is_named_with_its_place() {
    let folder = tempdir().unwrap();
    std::fs::write(folder.path().join("a.toml"), GOOD).unwrap();
    dalembert(folder.path(), &["check", "a.toml"]).with(0);
    let mut wrong = Vec::new();
    for (text, change, place, message) in CHANGES {
        assert!(GOOD.contains(text), "{text}");
        std::fs::write(folder.path().join("a.toml"), GOOD.replacen(text, change, 1)).unwrap();
        let found = dalembert(folder.path(), &["check", "a.toml"]).with(2).err;
        let run = dalembert(folder.path(), &["run", "a.toml"]).with(2).err;
        if !found.contains(&format!("a.toml:{place}: ")) || !found.contains(message) || found != run {
            wrong.push(format!("{change}\n  expected {place}: {message}\n  found {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
