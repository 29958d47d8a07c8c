//! Figures that scenes ask for: in the page, as files, beside other runs, and what is wrong with them.

use super::*;
use tempfile::tempdir;

/// A ball that slides, then rolls, with a panel and a picture of its shapes.
const SCENE: &str = "\
[world]
gravity = [0, 0, -9.81]
[parameters]
mu = 0.2
[body.ball]
kind = 'rigid'
mass = 6
inertia = [0.029, 0.029, 0.029]
position = [0, 0, 0.11]
velocity = [1, 0, 0]
[contact.lane]
kind = 'plane'
between = ['ground', 'ball']
radius = 0.11
friction = { sliding = '= mu' }
[panel.speeds]
title = 'Speeds & <spin>'
channels = ['body.ball.velocity.x', 'contact.lane.slip.1']
names = ['speed', 'slip']
right = ['body.ball.angular_velocity.y']
right_names = ['spin']
until = 0.4
[shapes.ball]
times = [0, 'stick', 'lift-off', 0.5]
[run]
until = 0.5
";

#[test]
fn pages_and_files_show_them() {
    let folder = tempdir().unwrap();
    let at = folder.path();
    std::fs::write(at.join("a.toml"), SCENE).unwrap();
    dalembert(at, &["run", "a.toml"]).with(0);
    let page = read(at.join("runs/a/report.html"));
    assert!(page.contains("<h2>Figures</h2>") && page.contains("Speeds &amp; &lt;spin&gt;"));
    assert!(page.contains("← speed [m/s]") && page.contains("spin [rad/s] →"));
    assert!(page.contains("There was no event “lift-off” in this run."));
    // What the record holds gives the same page.
    dalembert(at, &["report", "runs/a"]).with(0);
    assert_eq!(page, read(at.join("runs/a/report.html")));
    dalembert(at, &["report", "runs/a", "--svg", "pictures"]).with(0);
    let shapes = read(at.join("pictures/shapes-ball.svg"));
    assert!(shapes.contains(", stick") && shapes.contains("class=\"hatch\""), "{shapes}");
    assert!(read(at.join("pictures/panel-speeds.svg")).contains("slip [m/s]"));

    // A second run beside it.
    dalembert(at, &["run", "a.toml", "--set", "parameters.mu=0.4", "--out", "runs/b"]).with(0);
    dalembert(at, &["report", "runs/a", "--compare", "runs/b", "--svg", "both"]).with(0);
    let panel = read(at.join("both/panel-speeds.svg"));
    assert_eq!(panel.matches("class=\"curve c").count(), 12, "six curves with their keys: {panel}");
    assert_eq!(names(&at.join("both")).iter().filter(|name| name.starts_with("shapes-ball")).count(), 2);
    dalembert(at, &["report", "runs/a", "--compare", "runs/nothing"]).with(4);
}

/// Text changed in [`SCENE`], what it becomes, the place, part of the message.
const CHANGES: &[(&str, &str, &str, &str)] = &[
    ("'contact.lane.slip.1'", "'contact.lane.slp.1'", "18:12", "did you mean `contact.lane.slip.1`?"),
    ("'contact.lane.slip.1'", "'energy.total'", "18:12", "cannot share an axis; put one of them under `right`"),
    (
        "channels = ['body.ball.velocity.x', 'contact.lane.slip.1']",
        "channels = []",
        "18:12",
        "draws at least one channel",
    ),
    ("channels = ['body.ball.velocity.x', 'contact.lane.slip.1']", "channels = ['*']", "18:12", "cannot share an axis"),
    ("['body.ball.angular_velocity.y']", "['body.ball.angular*', 'contact.lane.gap']", "20:9", "cannot share an axis"),
    ("names = ['speed', 'slip']", "names = ['speed']", "19:9", "1 names for 2 curves"),
    ("right_names = ['spin']", "right_name = ['spin']", "21:1", "did you mean `right_names`?"),
    ("until = 0.4", "from = 1\nuntil = 0.4", "23:9", "must be after the first"),
    ("times = [0, 'stick', 'lift-off', 0.5]", "times = []", "24:9", "needs at least one time"),
    ("'lift-off'", "'lift-of'", "24:9", "there is no event `lift-of`; did you mean `lift-off`?"),
    ("[run]", "view = 'zx'\n[run]", "25:8", ""),
    ("[run]", "view = [0, 0, 0]\n[run]", "25:8", "a direction needs a length"),
    ("[run]", "elements = ['body.bal']\n[run]", "25:12", "did you mean `body.ball`?"),
    (
        "until = 0.5\n",
        "until = 0.5\n[output]\nchannels = ['body.*.velocity.*', 'contact.*', 'body.*.angular*']\n",
        "23:1",
        "is not recorded; add it to `output.channels`",
    ),
];

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let folder = tempdir().unwrap();
    let mut wrong = Vec::new();
    for (text, change, place, message) in CHANGES {
        assert!(SCENE.contains(text), "{text}");
        std::fs::write(folder.path().join("a.toml"), SCENE.replacen(text, change, 1)).unwrap();
        let found = dalembert(folder.path(), &["check", "a.toml"]).with(2).err;
        if !found.starts_with(&format!("error: a.toml:{place}: ")) || !found.contains(message) {
            wrong.push(format!("{change}\n  expected {place}: {message}\n  found {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
