//! A record comes back to the last bit, and a folder is whole or not there.

#![allow(clippy::unwrap_used)]

use super::*;
use dalembert_methods::trajectory::{Channel, Event, Trajectory};
use proptest::prelude::*;
use std::fs::{self, File};
use std::path::Path;

const ODD: [f64; 8] = [0.1, -0.0, 1.0 / 3.0, f64::MIN_POSITIVE / 7.0, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, 1e22];

fn trajectory(rows: usize) -> Trajectory {
    let channels = vec![
        Channel::time(),
        Channel::new("body.upper.position.x", "m", "world"),
        Channel::new("a, \"quoted\"\nname", "kg m²/s", "body \"upper\""),
    ];
    let mut trajectory = Trajectory::new(channels).unwrap();
    for i in 0..rows {
        trajectory.push(&[i as f64 * 0.1, ODD[i % ODD.len()], (i as f64).sqrt().sin()]);
    }
    trajectory
}

fn events() -> Vec<Event> {
    let (kind, element) = ("contact".to_owned(), "a,\"b\"\r\nc".to_owned());
    let one = Event { time: 0.1 + 0.2, kind, element, marker: String::new(), value: -1.0 / 3.0, unit: "m/s".into() };
    vec![one, Event { time: 1e-300, unit: "1".into(), ..Event::default() }]
}

fn summary() -> Summary {
    let mut summary = Summary {
        name: "double-pendulum".into(),
        title: "Double pendulum \"α\"".into(),
        status: Status::Failed,
        error: Some("the step became too small at t = 0.3 s".into()),
        integrator: "radau".into(),
        tolerance: Some(1e-10),
        end_time: 0.1 + 0.2,
        wall_time: 1.25,
        final_state: FinalState { time: 0.3, q: ODD.to_vec(), v: vec![f64::NAN], x: vec![] },
        ..Summary::default()
    };
    summary.ledger.worst_imbalance = f64::INFINITY;
    summary.ledger.start.angular_momentum = [1.0 / 3.0, f64::NEG_INFINITY, 5e-324];
    summary.settings.insert("order".into(), Setting::Count(5));
    summary.settings.insert("safety".into(), Setting::Number(0.9));
    summary.settings.insert("first_step".into(), Setting::Number(2.0));
    summary.settings.insert("projection".into(), Setting::Flag(true));
    summary.settings.insert("solver".into(), Setting::Text("Schur".into()));
    summary.counts.insert("steps".into(), u64::MAX);
    summary.seeds.insert("noise".into(), 42);
    summary
}

fn write_sample(folder: &Path, rows: usize) -> Result<(), RecordError> {
    let (summary, trajectory, events) = (summary(), trajectory(rows), events());
    let contents = Contents {
        scene: "title = \"ü\"\n",
        summary: &summary,
        trajectory: &trajectory,
        steps: &[(0.0, 0.1), (0.1, 1.0 / 3.0)],
        events: &events,
        animation: Some("{}"),
        report: Some("<!DOCTYPE html>"),
        checkpoint: None,
    };
    write(folder, &contents)
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn bits(trajectory: &Trajectory) -> Vec<Vec<u64>> {
    trajectory.columns().iter().map(|column| column.iter().map(|x| x.to_bits()).collect()).collect()
}

#[test]
fn a_record_comes_back_whole() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("runs/first");
    write_sample(&folder, 100).unwrap();
    assert!(is_record(&folder));
    let expected = [
        "animation.json",
        "events.csv",
        "report.html",
        "scene.toml",
        "steps.csv",
        "summary.json",
        "trajectory.csv",
        "trajectory.parquet",
    ];
    assert_eq!(names(&folder), expected);
    assert_eq!(names(folder.parent().unwrap()), ["first"]);
    let back = read(&folder).unwrap();
    assert_eq!(back.scene, "title = \"ü\"\n");
    assert_eq!(back.trajectory.channels(), trajectory(100).channels());
    assert_eq!(bits(&back.trajectory), bits(&trajectory(100)));
    assert_eq!(back.events, events());
    assert_eq!(back.animation.as_deref(), Some("{}"));
    assert_eq!(back.steps, [(0.0, 0.1), (0.1, 1.0 / 3.0)]);
    assert_eq!((back.summary.events, back.summary.rows, back.summary.channels.len()), (2, 100, 3));
    let text = read_trajectory_csv(&folder.join(files::TRAJECTORY_CSV)).unwrap();
    assert_eq!(bits(&text), bits(&trajectory(100)));
    let header = fs::read_to_string(folder.join(files::TRAJECTORY_CSV)).unwrap();
    assert!(header.starts_with("time [s],body.upper.position.x [m],\"a, \"\"quoted\"\"\n"), "{header:.80}");
}

#[test]
fn the_summary_keeps_every_bit() {
    let before = summary();
    let text = before.to_json();
    let mut after = Summary::from_json(&text).unwrap();
    assert!(after.final_state.v[0].is_nan());
    assert_eq!(after.to_json(), text);
    after.final_state.v[0] = 0.0;
    let before = Summary { final_state: FinalState { v: vec![0.0], ..before.final_state.clone() }, ..before };
    assert_eq!(after, before);
    assert!(after.final_state.q[1].is_sign_negative());
}

#[test]
fn parquet_is_the_same_each_time_and_has_units() {
    let bytes = |rows| {
        let mut out = Vec::new();
        write_parquet(&mut out, &trajectory(rows)).unwrap();
        out
    };
    assert_eq!(bytes(50), bytes(50));
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("t.parquet");
    for rows in [0, 1, 3000] {
        fs::write(&path, bytes(rows)).unwrap();
        let back = read_parquet(&path).unwrap();
        assert_eq!(bits(&back), bits(&trajectory(rows)));
        assert_eq!(back.channels()[2].unit, "kg m²/s");
        assert_eq!(back.channels()[2].frame, "body \"upper\"");
    }
    fs::write(&path, b"PAR1 this is none PAR1").unwrap();
    assert!(matches!(read_parquet(&path), Err(RecordError::Malformed { .. })));
}

#[test]
fn an_older_record_is_replaced_whole() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("run");
    write_sample(&folder, 10).unwrap();
    export_numpy(&folder, &trajectory(10)).unwrap();
    write_sample(&folder, 20).unwrap();
    assert_eq!(read(&folder).unwrap().trajectory.len(), 20);
    assert_eq!(names(root.path()), ["run"]);
    assert!(!folder.join(files::TRAJECTORY_NPY).exists());
    // An empty folder made by hand is fine too.
    let empty = root.path().join("empty");
    fs::create_dir(&empty).unwrap();
    assert!(!is_record(&empty));
    write_sample(&empty, 5).unwrap();
}

#[test]
fn other_peoples_folders_are_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("mine");
    write_sample(&folder, 10).unwrap();
    fs::write(folder.join("notes.txt"), "dear diary").unwrap();
    let error = write_sample(&folder, 20).unwrap_err();
    assert!(error.to_string().contains("it holds `notes.txt`"), "{error}");
    assert_eq!(read(&folder).unwrap().trajectory.len(), 10);

    let foreign = root.path().join("foreign");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join(files::SUMMARY), "{}").unwrap();
    assert!(matches!(write_sample(&foreign, 1), Err(RecordError::NotARecord { .. })));
    assert_eq!(fs::read_to_string(foreign.join(files::SUMMARY)).unwrap(), "{}");

    let file = root.path().join("file");
    fs::write(&file, "text").unwrap();
    assert!(write_sample(&file, 1).unwrap_err().to_string().contains("not a folder"));
    assert!(write_sample(&file.join("below"), 1).is_err());
    assert!(matches!(write_sample(Path::new(".."), 1), Err(RecordError::NotARecord { .. })));
    assert_eq!(names(root.path()), ["file", "foreign", "mine"]);
}

#[test]
fn a_crash_between_the_renames_loses_nothing() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("run");
    write_sample(&folder, 10).unwrap();
    fs::rename(&folder, root.path().join(".run.old")).unwrap();
    // A draft of a killed process is in the way and stays; the old record comes back and is replaced.
    fs::create_dir(root.path().join(".run.writing-0")).unwrap();
    write_sample(&folder, 20).unwrap();
    assert_eq!(read(&folder).unwrap().trajectory.len(), 20);
    assert_eq!(names(root.path()), [".run.writing-0", "run"]);
}

#[cfg(unix)]
#[test]
fn a_link_leads_to_the_folder_behind_it() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("run");
    write_sample(&folder, 10).unwrap();
    let link = root.path().join("latest");
    std::os::unix::fs::symlink(&folder, &link).unwrap();
    write_sample(&link, 20).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(read(&folder).unwrap().trajectory.len(), 20);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_called_that() {
    let mut full = File::options().write(true).open("/dev/full").unwrap();
    let source = write_trajectory_csv(&mut full, &trajectory(10)).unwrap_err();
    let error = RecordError::io("write", Path::new("runs/x/trajectory.csv"))(source).to_string();
    assert!(error.contains("runs/x/trajectory.csv") && error.contains("free some space"), "{error}");
}

#[test]
fn checkpoints_live_beside_a_run_and_inside_an_unfinished_one() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("run");
    assert_eq!(find_checkpoint(&folder), None);
    let mut checkpoint = Checkpoint::new();
    checkpoint.put("t", Section::F64(vec![0.5]));
    checkpoint.write(&running_checkpoint(&folder)).unwrap();
    assert_eq!(find_checkpoint(&folder), Some(root.path().join(".run.checkpoint.bin")));
    let (summary, trajectory) = (Summary { status: Status::Interrupted, ..summary() }, trajectory(3));
    let contents = Contents {
        scene: "",
        summary: &summary,
        trajectory: &trajectory,
        steps: &[],
        events: &[],
        animation: None,
        report: None,
        checkpoint: Some(&checkpoint),
    };
    write(&folder, &contents).unwrap();
    assert_eq!(names(root.path()), ["run"]);
    let found = find_checkpoint(&folder).unwrap();
    assert_eq!(Checkpoint::read(&found).unwrap(), checkpoint);
    // A finished run replaces it and has none.
    write_sample(&folder, 3).unwrap();
    assert_eq!(find_checkpoint(&folder), None);
}

#[test]
fn damaged_files_are_named_with_the_line() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("events.csv");
    for (text, expected) in [
        ("", "line 1"),
        ("time,kind\n", "the header is `time,kind`"),
        ("time,kind,element,marker,value,unit\n1,a,b,c,x,m\n", "line 2"),
        ("time,kind,element,marker,value,unit\n1,a,\"b\nb\",c,1,m\n2,a\n", "line 4"),
        ("time,kind,element,marker,value,unit\n1,\"a\n", "a quote is not closed"),
    ] {
        fs::write(&path, text).unwrap();
        let error = read_events(&path).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("events.csv"), "{error}");
    }
    let error = read(root.path()).unwrap_err().to_string();
    assert!(error.contains("summary.json"), "{error}");
}

/// Keys of a JSON value and of all that is in it, except the names users choose inside maps.
fn keys(value: &serde_json::Value, out: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(map) => {
            for (key, inner) in map {
                out.push(key.clone());
                if !matches!(key.as_str(), "settings" | "counts" | "seeds") {
                    keys(inner, out);
                }
            }
        }
        serde_json::Value::Array(list) => list.iter().for_each(|inner| keys(inner, out)),
        _ => {}
    }
}

#[test]
fn the_page_describes_every_file_and_every_key() {
    let page = include_str!("../../../../docs/src/run-record.md");
    let summary = Summary { channels: vec![(&Channel::time()).into()], ..summary() };
    let mut found = Vec::new();
    keys(&serde_json::from_str(&summary.to_json()).unwrap(), &mut found);
    assert!(found.len() > 40);
    for name in found.iter().map(String::as_str).chain(files::ALL) {
        assert!(page.contains(&format!("`{name}`")), "docs/src/run-record.md does not name `{name}`");
    }
}

proptest! {
    #[test]
    fn any_event_comes_back(time in any::<f64>(), value in any::<f64>(), kind in any::<String>(), marker in any::<String>()) {
        let event = Event { time, kind, element: "e".into(), marker, value, unit: "1".into() };
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("events.csv");
        let mut out = Vec::new();
        write_events(&mut out, std::slice::from_ref(&event)).unwrap();
        fs::write(&path, out).unwrap();
        let back = read_events(&path).unwrap().remove(0);
        prop_assert_eq!(back.time.to_bits(), event.time.to_bits());
        prop_assert_eq!(back.value.to_bits(), event.value.to_bits());
        prop_assert_eq!((back.kind, back.marker), (event.kind, event.marker));
    }
}
