//! `dalembert run`: settings, the record, exit codes.

use super::*;
use dalembert::record::{self, files};
use serde_json::Value;
use tempfile::tempdir;

/// What every record holds.
const RECORD: [&str; 8] = [
    files::ANIMATION,
    files::EVENTS,
    files::REPORT,
    files::SCENE,
    files::STEPS,
    files::SUMMARY,
    files::TRAJECTORY_CSV,
    files::TRAJECTORY_PARQUET,
];

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("not JSON ({error}):\n{text}"))
}

#[test]
fn a_built_in_scene_leaves_a_record() {
    let folder = tempdir().unwrap();
    let ended = dalembert(folder.path(), &["run", "double-pendulum"]).with(0);
    assert_eq!(names(folder.path()), ["runs"]);
    assert_eq!(names(&folder.path().join("runs")), ["double-pendulum"]);
    let place = folder.path().join("runs/double-pendulum");
    assert_eq!(names(&place), RECORD);
    for part in ["Double pendulum", "completed", "0 s to 10 s", "closes", "report.html"] {
        assert!(ended.out.contains(part), "no `{part}` in:\n{}", ended.out);
    }
    assert_eq!(ended.err, "", "progress belongs to terminals only");
    let record = record::read(&place).unwrap();
    assert_eq!(record.trajectory.len(), 1001);
    assert_eq!(record.summary.rows, 1001);
    assert_eq!(record.summary.events as usize, record.events.len());
    assert!(!record.events.is_empty(), "the pendulum passes its lowest position");
    assert_eq!(record.steps.len() as u64, record.summary.counts["steps"]);
}

#[test]
fn json_is_the_summary_and_nothing_else() {
    let folder = tempdir().unwrap();
    let ended = dalembert(folder.path(), &["run", "simple-pendulum", "--until", "0.5", "--json", "--out", "a"]).with(0);
    assert_eq!(ended.out, read(folder.path().join("a/summary.json")));
    assert_eq!(ended.err, "");
    let summary = json(&ended.out);
    for key in ["dalembert_version", "settings", "seeds", "counts", "wall_time", "ledger", "final_state", "integrator"]
    {
        assert!(summary.get(key).is_some(), "the summary has no `{key}`");
    }
    let quiet = dalembert(folder.path(), &["run", "simple-pendulum", "--until", "0.5", "--quiet"]).with(0);
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("", ""));
}

#[test]
fn options_override_the_scene() {
    let folder = tempdir().unwrap();
    let arguments = [
        "run",
        "double-pendulum-rods",
        "--json",
        "--until",
        "0.25",
        "--tolerance",
        "1e-6",
        "--integrator",
        "dopri5",
        "--set",
        "body.upper.mass=2",
        "--set",
        "parameters.length_2=0.5",
        "--set",
        "output.every=0.125",
    ];
    let summary = json(&dalembert(folder.path(), &arguments).with(0).out);
    assert_eq!(summary["integrator"], "dopri5");
    assert_eq!(summary["tolerance"], 1e-6);
    assert_eq!(summary["end_time"], 0.25);
    assert_eq!(summary["rows"], 3);
    let scene: toml::Value = toml::from_str(&read(folder.path().join("runs/double-pendulum-rods/scene.toml"))).unwrap();
    assert_eq!(scene["body"]["upper"]["mass"].as_float(), Some(2.0));
    assert_eq!(scene["constraint"]["second"]["length"].as_float(), Some(0.5));
    assert_eq!(scene["run"]["until"].as_float(), Some(0.25));

    // The scene as run gives the same run again.
    let copy = folder.path().join("copy.toml");
    std::fs::copy(folder.path().join("runs/double-pendulum-rods/scene.toml"), &copy).unwrap();
    dalembert(folder.path(), &["run", "copy.toml"]).with(0);
    let trajectory = |name: &str| read(folder.path().join("runs").join(name).join("trajectory.csv"));
    assert_eq!(trajectory("copy"), trajectory("double-pendulum-rods"));
}

#[test]
fn the_same_scene_gives_the_same_bits() {
    let folder = tempdir().unwrap();
    for scene in ["four-bar", "two-bodies", "rolling-disc"] {
        let run = |out: &str| {
            let text = dalembert(folder.path(), &["run", scene, "--until", "1", "--json", "--out", out]).with(0).out;
            let mut summary = json(&text);
            summary.as_object_mut().unwrap().remove("wall_time").unwrap();
            summary
        };
        assert_eq!(run("a"), run("b"), "{scene}");
        for file in RECORD.iter().filter(|name| ![files::SUMMARY, files::REPORT].contains(name)) {
            let bytes = |run: &str| std::fs::read(folder.path().join(run).join(file)).unwrap();
            assert_eq!(bytes("a"), bytes("b"), "{scene}: {file}");
        }
    }
}

#[test]
fn an_older_record_is_replaced() {
    let folder = tempdir().unwrap();
    let run = |until: &str| {
        dalembert(folder.path(), &["run", "sleigh", "--until", until, "--out", "out", "--json"]).with(0);
        json(&read(folder.path().join("out/summary.json")))["end_time"].as_f64().unwrap()
    };
    assert_eq!([run("0.5"), run("0.25")], [0.5, 0.25]);
    assert_eq!(names(folder.path()), ["out"], "nothing hidden stays behind");
}

#[test]
fn includes_and_settings_of_a_file() {
    let folder = tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("world.toml", "[world]\ngravity = [0, 0, -9.81]\n[parameters]\nheight = 2\n");
    let ball = "include = 'world.toml'\n[body.ball]\nkind = 'particle'\nmass = 1\nposition = [0, 0, '= height']\n";
    write("ball.toml", &format!("{ball}[event.floor]\nchannel = 'body.ball.position.z'\nstop = true\n"));
    let ended = dalembert(folder.path(), &["run", "ball.toml", "--set", "parameters.height=4.905", "--json"]).with(0);
    let summary = json(&ended.out);
    // h = g t²/2: from 4.905 m a stone falls for one second.
    let end = summary["end_time"].as_f64().unwrap();
    assert!((end - 1.0).abs() < 1e-12, "fell until {end} s");
    assert_eq!(summary["events"], 1);
}

#[test]
fn a_ledger_that_does_not_close_is_code_3() {
    let folder = tempdir().unwrap();
    let arguments = ["run", "double-pendulum", "--until", "1", "--set", "run.ledger_factor=0", "--json"];
    let loose = ["--tolerance", "1e-3"];
    let ended = dalembert(folder.path(), &[&arguments[..], &loose[..]].concat()).with(3);
    assert!(ended.err.starts_with("error: the energy ledger does not close: at t ="), "{}", ended.err);
    let summary = json(&ended.out);
    assert_eq!(summary["status"], "failed");
    assert_eq!(summary["ledger"]["closes"], false);
    assert_eq!(names(&folder.path().join("runs/double-pendulum")), RECORD, "the results are kept");
}

#[test]
fn a_run_that_breaks_down_is_code_1() {
    // The force has a pole at t = 1 s that no step can pass.
    let scene = "[body.a]\nkind = 'particle'\nmass = 1\n[signal.f]\nkind = 'expression'\nvalue = '1/(1 - t)'\n\
                 [force.f]\nkind = 'applied_force'\nat = 'a'\nforce = ['f', 0, 0]\n[run]\nuntil = 2\n";
    let folder = tempdir().unwrap();
    std::fs::write(folder.path().join("pole.toml"), scene).unwrap();
    let ended = dalembert(folder.path(), &["run", "pole.toml"]).with(1);
    assert!(ended.err.starts_with("error: at t = "), "{}", ended.err);
    let record = record::read(&folder.path().join("runs/pole")).unwrap();
    assert_eq!(record.summary.status, record::Status::Failed);
    assert!(record.summary.end_time <= 1.0 && record.summary.end_time > 0.9, "{}", record.summary.end_time);
    assert_eq!(ended.err, format!("error: {}\n", record.summary.error.unwrap()));
}
