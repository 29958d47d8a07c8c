//! Closed loops of trees: the spanning tree in minimal coordinates, closed by joints of the library, against rigid bodies in redundant
//! coordinates; and each mechanism in the redundant form (16) and the minimal form (17), which is one switch of a scene.
#![allow(clippy::unwrap_used, missing_docs)]

use dalembert::record::Status;
use dalembert::run::{Outcome, run};
use dalembert::scene::{Document, Limits, Overrides, Scene};
use dalembert::scenes;

/// The largest residual of a loop, in m or rad.
const CLOSED: f64 = 1e-10;

fn completed(name: &str, text: &str, settings: &[&str]) -> Outcome {
    let overrides: Overrides = settings.iter().copied().collect();
    let document = Document::from_text(name, text, &overrides, &Limits::default());
    let scene = Scene::from_document(document.unwrap_or_else(|e| panic!("{}", e.plain())))
        .unwrap_or_else(|e| panic!("{}", e.plain()));
    let outcome = run(&scene, name, None, &mut ()).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(outcome.summary.status, Status::Completed, "{name}: {:?}", outcome.summary.error);
    let residual = outcome.summary.ledger.worst_position_residual;
    assert!(residual < CLOSED, "{name}: the loop is open by {residual:e}");
    outcome
}

fn built_in(name: &str, settings: &[&str]) -> Outcome {
    completed(name, scenes::find(name).unwrap().text, settings)
}

fn column(outcome: &Outcome, channel: &str) -> Vec<f64> {
    outcome.trajectory.column(channel).unwrap_or_else(|| panic!("no channel {channel}")).to_vec()
}

/// The largest difference between two motions of a body.
fn apart(a: (&Outcome, &str), b: (&Outcome, &str)) -> f64 {
    let mut worst = 0.0f64;
    for part in ["position.x", "position.y", "position.z", "velocity.x", "velocity.y", "angular_velocity.z"] {
        let (x, y) = (column(a.0, &format!("body.{}.{part}", a.1)), column(b.0, &format!("body.{}.{part}", b.1)));
        assert_eq!(x.len(), y.len());
        worst = x.iter().zip(&y).fold(worst, |w, (x, y)| w.max((x - y).abs()));
    }
    worst
}

/// A planar rod: name, what it hangs on, its pivot, its other points, all in the world at the start.
struct Rod(&'static str, Option<&'static str>, [f64; 2], &'static [(&'static str, [f64; 2])]);

/// A planar mechanism of rods of 1 kg, as one tree or as rigid bodies; `closures` are hinges between points of different rods.
fn planar(rods: &[Rod], closures: &[(&str, &str)], tree: bool) -> String {
    let mut text = String::from("[world]\ngravity = [0, -9.81, 0]\n");
    let pivot = |name: &str| rods.iter().find(|r| r.0 == name).unwrap().2;
    if tree {
        text += "[body.tree]\nkind = \"tree\"\n";
    }
    for Rod(name, parent, at, points) in rods {
        let common = "mass = 1\ncentre = [0.1, 0.2, 0]\ninertia = [0.1, 0.1, 0.1]\n";
        if tree {
            let before = parent.map_or([0.0; 2], pivot);
            text += &format!("[[body.tree.links]]\nname = \"{name}\"\n");
            text += &parent.map_or_else(String::new, |p| format!("parent = \"{p}\"\n"));
            text += "joint = { kind = \"revolute\", axis = [0, 0, 1] }\n";
            text += &format!("position = [{:?}, {:?}, 0]\n{common}", at[0] - before[0], at[1] - before[1]);
        } else {
            text += &format!("[body.{name}]\nkind = \"rigid\"\nposition = [{:?}, {:?}, 0]\n{common}", at[0], at[1]);
        }
        let mut marker = |label: &str, on: &str, at: [f64; 2], from: [f64; 2]| {
            let part = if tree && on != "ground" {
                format!("body = \"tree\"\nlink = \"{on}\"")
            } else {
                format!("body = \"{on}\"")
            };
            text += &format!("[marker.{label}]\n{part}\nat = [{:?}, {:?}, 0]\n", at[0] - from[0], at[1] - from[1]);
        };
        for (label, point) in *points {
            marker(label, name, *point, *at);
        }
        if !tree {
            let on = parent.unwrap_or("ground");
            marker(&format!("base_{name}"), on, *at, parent.map_or([0.0; 2], pivot));
            text += &format!("[joint.{name}]\nkind = \"revolute\"\nbetween = [\"base_{name}\", \"{name}\"]\n");
        }
    }
    for (a, b) in closures {
        text += &format!("[joint.{a}_{b}]\nkind = \"revolute\"\nbetween = [\"{a}\", \"{b}\"]\n");
    }
    text
}

/// A Watt linkage of six links: two four-bars that share a rocker of three hinges. The tree has two loops, rigid bodies have 7 hinges.
#[test]
fn a_six_bar_moves_alike_as_tree_as_bodies_and_in_minimal_coordinates() {
    let rods = [
        Rod("crank", None, [0.0, 0.0], &[]),
        Rod("coupler", Some("crank"), [0.1, 0.6], &[("q1", [2.0, 1.2])]),
        Rod("rocker", None, [2.0, 0.0], &[("q2", [2.0, 1.2])]),
        Rod("second", Some("rocker"), [2.6, 1.0], &[("t1", [4.2, 1.3])]),
        Rod("follower", None, [4.0, 0.0], &[("t2", [4.2, 1.3])]),
    ];
    let closures = [("q1", "q2"), ("t1", "t2")];
    let settings = ["run.until=2", "run.tolerance=1e-10", "output.every=0.05"];
    let tree = completed("tree", &planar(&rods, &closures, true), &settings);
    let bodies = completed("bodies", &planar(&rods, &closures, false), &settings);
    let minimal: Vec<&str> = settings.iter().copied().chain(["run.integrator=\"minimal\""]).collect();
    let minimal = completed("minimal", &planar(&rods, &closures, true), &minimal);
    for Rod(name, ..) in &rods {
        let link = format!("tree.{name}");
        // Some hundred steps at 1e-10, and a motion that spreads errors by less than 100.
        assert!(apart((&tree, &link), (&bodies, name)) < 1e-7, "{name}");
        assert!(apart((&tree, &link), (&minimal, &link)) < 1e-7, "{name}");
    }
    let lengths = column(&tree, "body.tree.crank.position.x");
    assert!(lengths.iter().all(|x| x.abs() < 1e-12), "the pivot stays");
    let energy = column(&minimal, "energy.total");
    assert!(energy.iter().all(|e| (e - energy[0]).abs() < 1e-7));
}

/// Andrews' mechanism in tree form reaches the published end values (test set for IVP solvers, Bari), in both forms.
#[test]
fn andrews_in_tree_form_reaches_the_published_angles() {
    let expected = [
        ("k1", 15.810_771_196_299_04),
        ("k2", -15.756_371_059_842_98),
        ("k3", 0.040_822_240_130_731_01),
        ("k5", 0.524_409_965_880_530_5),
        ("k4", -0.534_730_116_322_694_8),
        ("k7", 1.048_080_741_042_263),
        ("k6", 0.534_730_116_322_694_8),
    ];
    for integrator in ["dop853", "minimal"] {
        let chosen = format!("run.integrator=\"{integrator}\"");
        let outcome = built_in("andrews-tree", &["run.tolerance=1e-12", "output.every=0.03", &chosen]);
        for ((link, expected), found) in expected.iter().zip(&outcome.summary.final_state.q) {
            // Nine digits of the reference are right.
            assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{integrator}, {link}: {found}");
        }
    }
}

const BRICARD: &str = r#"
[parameters]
inertia = "= 1/12"
thin = "= inertia/1000"
[world]
gravity = [0, -9.81, 0]
[body.tree]
kind = "tree"
links = [
  { name = "rod1", joint = { kind = "revolute", axis = [0, 1, 0] }, mass = 1, centre = [0.5, 0, 0], inertia = ["= thin", "= inertia", "= inertia"] },
  { name = "rod2", parent = "rod1", joint = { kind = "revolute", axis = [0, 0, 1] }, position = [1, 0, 0], mass = 1, centre = [0, 0.5, 0], inertia = ["= inertia", "= thin", "= inertia"] },
  { name = "rod3", parent = "rod2", joint = { kind = "revolute", axis = [1, 0, 0] }, position = [0, 1, 0], mass = 1, centre = [0, 0, 0.5], inertia = ["= inertia", "= inertia", "= thin"] },
  { name = "rod4", parent = "rod3", joint = { kind = "revolute", axis = [0, 1, 0] }, position = [0, 0, 1], mass = 1, centre = [-0.5, 0, 0], inertia = ["= thin", "= inertia", "= inertia"] },
  { name = "rod5", parent = "rod4", joint = { kind = "revolute", axis = [0, 0, 1] }, position = [-1, 0, 0], mass = 1, centre = [0, -0.5, 0], inertia = ["= inertia", "= thin", "= inertia"] },
]
[marker.far]
at = [0, 0, 1]
[marker.end]
body = "tree"
link = "rod5"
at = [0, -1, 0]
[joint.closure]
kind = "revolute"
between = ["end", "far"]
axis = [1, 0, 0]
"#;

/// Five coordinates, five rows of which one is redundant: one degree of freedom, as with thirty rows for rigid bodies.
#[test]
fn bricard_in_tree_form_moves_as_the_rigid_bodies_do() {
    let settings = ["run.until=3", "run.tolerance=1e-10", "output.every=0.1"];
    let (tree, bodies) = (completed("bricard-tree", BRICARD, &settings), built_in("bricard", &settings));
    let minimal: Vec<&str> = settings.iter().copied().chain(["run.integrator=\"minimal\""]).collect();
    let minimal = completed("bricard-minimal", BRICARD, &minimal);
    for rod in ["rod1", "rod3", "rod5"] {
        let link = format!("tree.{rod}");
        assert!(apart((&tree, &link), (&bodies, rod)) < 1e-7, "{rod}: {}", apart((&tree, &link), (&bodies, rod)));
        assert!(apart((&tree, &link), (&minimal, &link)) < 1e-7, "{rod}");
    }
}

/// Six legs of two links, a plate and six ball joints: 24 velocities, 18 rows. In both forms it moves alike, and the ledger of springs, heat
/// and weight closes.
#[test]
fn a_stewart_platform_keeps_its_loops_closed() {
    let settings = ["run.until=1", "output.every=0.05"];
    let redundant = built_in("stewart", &settings);
    let minimal = built_in("stewart", &["run.until=1", "output.every=0.05", "run.integrator=\"minimal\""]);
    let apart = apart((&redundant, "plate"), (&minimal, "plate"));
    assert!(apart < 1e-7, "{apart:e}");
    let heights = column(&redundant, "body.plate.position.z");
    assert!(heights.iter().any(|z| (z - heights[0]).abs() > 1e-3), "it moves");
}

/// The row of n four-bar windows (IFToMM A02) as one tree: cranks on the ground, each coupler on the crank before it, closed by n hinges.
fn windows(n: usize) -> String {
    let mut text = String::from("[world]\ngravity = [0, -9.81, 0]\n[body.row]\nkind = \"tree\"\n");
    let rod = "joint = { kind = \"revolute\", axis = [0, 0, 1] }\nmass = 1\ninertia = [0.08333333333333333, 0.08333333333333333, 0.08333333333333333]\n";
    for i in 0..=n {
        text += &format!(
            "[[body.row.links]]\nname = \"crank{i}\"\nposition = [{i}, 0, 0]\ncentre = [0, 0.5, 0]\nvelocities = [-1]\n{rod}"
        );
        if i > 0 {
            let before = i - 1;
            text += &format!(
                "[[body.row.links]]\nname = \"coupler{i}\"\nparent = \"crank{before}\"\nposition = [0, 1, 0]\n"
            );
            text += &format!("centre = [0.5, 0, 0]\nvelocities = [1]\n{rod}");
            text += &format!("[marker.end{i}]\nbody = \"row\"\nlink = \"coupler{i}\"\nat = [1, 0, 0]\n");
            text += &format!("[marker.tip{i}]\nbody = \"row\"\nlink = \"crank{i}\"\nat = [0, 1, 0]\n");
            text += &format!("[joint.right{i}]\nkind = \"revolute\"\nbetween = [\"end{i}\", \"tip{i}\"]\n");
        }
    }
    text
}

/// In 10 s all rods lie on one line some ten times. There a row of each loop vanishes in coordinates of joints, and the mechanism could go
/// on in other ways. It goes on as the one of rigid bodies does, with closed loops and its energy, in every method and in both forms.
#[test]
fn four_bars_in_tree_form_pass_their_singular_positions() {
    for n in [1, 2, 5] {
        let count = format!("parameters.n={n}");
        let settings = ["run.until=10", "run.tolerance=1e-10", "output.every=1"];
        let bodies = built_in("four-bar", &[&count, settings[0], settings[1], settings[2]]);
        for integrator in ["dopri5", "dop853", "radau", "minimal"] {
            let chosen = format!("run.integrator=\"{integrator}\"");
            let all = [settings[0], settings[1], settings[2], &chosen];
            let name = format!("{n} windows, {integrator}");
            let tree = completed(&name, &windows(n), &all);
            let apart = apart((&tree, &format!("row.coupler{n}")), (&bodies, &format!("coupler{n}")));
            // As for rigid bodies: some 2000 steps at 1e-10, and an amplification of less than 1e3 at singular positions.
            assert!(apart < 1e-6, "{name}: {apart:e}");
            let energy = column(&tree, "energy.total");
            let size = 9.81 * (1.5 * n as f64 + 0.5);
            assert!(energy.iter().all(|e| (e - energy[0]).abs() < 1e-7 * size), "{name}: {energy:?}");
        }
    }
}
