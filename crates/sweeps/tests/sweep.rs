//! Sweeps of built-in scenes: right numbers, and the same table however it was computed.
#![allow(clippy::unwrap_used)]

use dalembert_sweeps::{Journal, Outcome, Shard, Study, Taken, collect, read_all, rows, sweep, table};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

const BOUNCES: &str = r#"
[sweep]
scene = "bouncing-ball"
set = ["run.until=1.2", "run.tolerance=1e-9"]
samples = 6
seed = 11

[[vary]]
path = "parameters.height"
values = [0.5, 1]

[[vary]]
path = "parameters.restitution"
uniform = [0.5, 0.9]

[[output]]
name = "height"
channel = "body.ball.position.z"
take = "last"

[[output]]
name = "first"
events = "contact.floor"
kind = "impact"
take = "first_time"

[[output]]
name = "impacts"
events = "contact.floor"
kind = "impact"
take = "count"

[[output]]
name = "lost"
energy = "impacts"
"#;

fn study(text: &str) -> Study {
    Study::from_text("study.toml", text, Path::new("")).unwrap()
}

/// Computes a part into a journal, giving up after some rows.
fn compute(study: &Study, path: &Path, shard: Shard, jobs: usize, rows: u64) -> u64 {
    let mut journal = Journal::open(path, study.mark(), study.outputs.len()).unwrap();
    let stop = AtomicBool::new(false);
    let mut watch = |p: dalembert_sweeps::Progress| {
        if p.finished - p.before >= rows {
            stop.store(true, Ordering::Relaxed);
        }
    };
    sweep(study, shard, &mut journal, jobs, &stop, &mut watch).unwrap().finished
}

fn bytes(study: &Study, paths: &[std::path::PathBuf]) -> Vec<u8> {
    let mut out = Vec::new();
    table::write_to(&mut out, study, &read_all(paths, study.mark(), study.outputs.len()).unwrap()).unwrap();
    out
}

/// Dropped from h the ball strikes after √(2h/g) and loses m g h (1 − e²) of its energy, then e² times less each time.
#[test]
fn a_ball_falls_as_it_must() {
    let study = study(BOUNCES);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    assert_eq!(compute(&study, &path, Shard::WHOLE, 2, u64::MAX), 12);
    for (row, outcome) in read_all(std::slice::from_ref(&path), study.mark(), 4).unwrap() {
        let values = study.plan.values(row);
        let [dalembert_sweeps::Value::Number(h), dalembert_sweeps::Value::Number(e)] = values[..] else { panic!() };
        let Outcome::Done(found) = outcome else { panic!("{outcome:?}") };
        let found: Vec<f64> = found.iter().map(|taken| taken.number().unwrap()).collect();
        let first = (2.0 * h / 9.81).sqrt();
        assert!((found[1] - first).abs() < 1e-8, "row {row}: {} against {first}", found[1]);
        let lost = 9.81 * h * (1.0 - e.powf(2.0 * found[2]));
        assert!((found[3] - lost).abs() < 1e-7 * lost, "row {row}: {} against {lost}", found[3]);
    }
}

#[test]
fn threads_stops_and_parts_change_nothing() {
    let study = study(BOUNCES);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    compute(&study, &path("one"), Shard::WHOLE, 1, u64::MAX);
    let one = bytes(&study, &[path("one")]);
    compute(&study, &path("two"), Shard::WHOLE, 2, u64::MAX);
    assert!(one == bytes(&study, &[path("two")]), "two threads");
    let mut times = 0;
    while compute(&study, &path("stopped"), Shard::WHOLE, 2, 2) < study.plan.rows() {
        times += 1;
        assert!(times < 12, "every start finishes a row");
    }
    assert!(times > 0 && one == bytes(&study, &[path("stopped")]), "stopped {times} times");
    let parts: Vec<_> = (0..3).map(|index| Shard { index, count: 3 }).collect();
    let paths: Vec<_> = parts.iter().map(|part| path(&format!("part{}", part.index))).collect();
    for (part, path) in parts.iter().zip(&paths) {
        compute(&study, path, *part, 1, u64::MAX);
    }
    assert!(one == bytes(&study, &paths), "three parts");
}

/// A step that is too long for the ball's last bounces fails in the rows that meet it, and in no other.
#[test]
fn a_failure_is_a_row() {
    let text = BOUNCES
        .replace("samples = 6\n", "")
        .replace("uniform = [0.5, 0.9]", "values = [0.6, 1.5, 0.7]")
        .replace("values = [0.5, 1]", "values = [1]");
    let study = study(&text);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    compute(&study, &path, Shard::WHOLE, 2, u64::MAX);
    let rows = read_all(std::slice::from_ref(&path), study.mark(), 4).unwrap();
    assert!(matches!(&rows[&0], Outcome::Done(_)) && matches!(&rows[&2], Outcome::Done(_)));
    let Outcome::Failed(reason) = &rows[&1] else { panic!("{rows:?}") };
    assert!(reason.contains("restitution"), "{reason}");
}

/// A study is refused for what is wrong in all rows that are tried, not for a value of the first.
#[test]
fn a_bad_value_in_the_first_row_is_a_row_too() {
    let text = |values: &str| {
        let text = BOUNCES.replace("samples = 6\n", "").replace("values = [0.5, 1]", "values = [1]");
        text.replace("uniform = [0.5, 0.9]", &format!("values = {values}"))
    };
    let study_of = |values: &str| study(&text(values));
    let one = study_of("[1.5, 0.6, 0.7]");
    one.check().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal");
    compute(&one, &path, Shard::WHOLE, 2, u64::MAX);
    let rows = read_all(std::slice::from_ref(&path), one.mark(), 4).unwrap();
    assert!(matches!(&rows[&0], Outcome::Failed(reason) if reason.contains("restitution")), "{rows:?}");
    assert!(matches!(&rows[&1], Outcome::Done(_)) && matches!(&rows[&2], Outcome::Done(_)));
    // One good value among many bad ones, the last; and none at all, for two reasons.
    let bad = "1.5, ".repeat(40);
    study_of(&format!("[{bad}0.5]")).check().unwrap();
    let told = study_of("[1.5, -0.5]").check().unwrap_err().to_string();
    assert!(told.contains("row 0: ") && told.contains("row 1: ") && told.contains("restitution"), "{told}");
}

/// A row that would not end is one that failed, at the same step however many threads there are.
#[test]
fn a_row_with_too_many_steps_has_failed() {
    let text = "[sweep]\nscene = \"oscillator\"\nsteps = 400\nset = [\"output.every=0.5\"]\n[[vary]]\npath = \"run.until\"\nvalues = [1, 1e6, 2]\n\
                [[output]]\nname = \"energy\"\nenergy = \"kinetic\"\n";
    let study = study(text);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    compute(&study, &path("one"), Shard::WHOLE, 1, u64::MAX);
    compute(&study, &path("two"), Shard::WHOLE, 3, u64::MAX);
    assert!(bytes(&study, &[path("one")]) == bytes(&study, &[path("two")]));
    let rows = read_all(&[path("one")], study.mark(), 1).unwrap();
    let Outcome::Failed(reason) = &rows[&1] else { panic!("{rows:?}") };
    assert!(reason.contains("more than 400 steps at t = ") && reason.contains("`steps`"), "{reason}");
    assert!(matches!(&rows[&0], Outcome::Done(_)) && matches!(&rows[&2], Outcome::Done(_)), "{rows:?}");
    let none = Study::from_text("s.toml", &text.replace("steps = 400", "steps = 0"), Path::new("")).unwrap_err();
    assert!(none.to_string().starts_with("s.toml:3:"), "{none}");
}

/// All impacts, all records, and the value at a time, by closed forms: the ball strikes at t₁ and then after 2 eᵏ t₁ each time, and falls from h by
/// g t²/2 before that. What is kept travels through parts, bytes and tables.
#[test]
fn whole_lists_and_values_at_a_time_are_kept() {
    let more = "[[output]]\nname = \"z\"\nchannel = \"body.ball.position.z\"\ntake = \"all\"\n\
                [[output]]\nname = \"t\"\nchannel = \"body.ball.position.z\"\ntake = \"all_times\"\n\
                [[output]]\nname = \"strikes\"\nevents = \"contact.floor\"\nkind = \"impact\"\ntake = \"all_times\"\n\
                [[output]]\nname = \"blows\"\nevents = \"contact.floor\"\nkind = \"impact\"\ntake = \"all\"\n\
                [[output]]\nname = \"none\"\nevents = \"contact.floor\"\nkind = \"no-such\"\ntake = \"all\"\n\
                [[output]]\nname = \"at\"\nchannel = \"body.ball.position.z\"\nat = 0.25\n\
                [[output]]\nname = \"late\"\nchannel = \"body.ball.position.z\"\nat = 2\n";
    let study = study(&format!("{BOUNCES}{more}").replace("set = [", "set = [\"output.every=0.0625\", "));
    let go = AtomicBool::new(false);
    let found = collect(&study, [rows(&study, 0..12, &go).unwrap().as_slice()]).unwrap();
    for (row, outcome) in &found {
        let [dalembert_sweeps::Value::Number(h), dalembert_sweeps::Value::Number(e)] = study.plan.values(*row)[..]
        else {
            panic!()
        };
        let Outcome::Done(values) = outcome else { panic!("{outcome:?}") };
        let list = |k: usize| values[k].all().unwrap();
        let (first, impacts) = ((2.0 * h / 9.81).sqrt(), values[2].number().unwrap() as usize);
        let (z, t, strikes) = (list(4), list(5), list(6));
        assert_eq!((strikes.len(), list(7).len(), list(8).len()), (impacts, impacts, 0), "row {row}");
        let mut exact = first;
        for (k, strike) in strikes.iter().enumerate() {
            // As for the first alone: 1e-8, once for every flight.
            assert!((strike - exact).abs() < 1e-8 * (k + 1) as f64, "row {row}: {strike} against {exact}");
            exact += 2.0 * first * e.powi(k as i32 + 1);
        }
        assert_eq!(t.len(), z.len());
        assert_eq!(z.last().copied(), values[0].number(), "the last of all is the last");
        for (t, z) in t.iter().zip(z).take_while(|(t, _)| **t < first) {
            assert!((z - (h - 0.5 * 9.81 * t * t)).abs() < 1e-9, "row {row}: {z} at {t}");
        }
        // 0.25 s is the fifth record.
        assert_eq!(values[9].number(), Some(z[4]));
        assert_eq!((t[4], values[10].clone()), (0.25, Taken::Nothing));
    }
    let folder = tempfile::tempdir().unwrap();
    let paths: Vec<_> = (0..3).map(|k| folder.path().join(format!("part{k}"))).collect();
    for (k, path) in paths.iter().enumerate() {
        compute(&study, path, Shard { index: k as u64, count: 3 }, 2, u64::MAX);
    }
    let mut together = Vec::new();
    table::write_to(&mut together, &study, &found).unwrap();
    assert!(together == bytes(&study, &paths), "by parts");
    for (old, new, part) in [
        ("at = 0.25", "at = inf", "a time in s"),
        ("at = 0.25", "at = 0.25\ntake = \"last\"", "not both"),
        (
            "take = \"all\"\n[[output]]\nname = \"none\"",
            "at = 1\n[[output]]\nname = \"none\"",
            "belongs to a `channel`",
        ),
    ] {
        let wrong = format!("{BOUNCES}{more}").replace(old, new);
        let error = Study::from_text("s.toml", &wrong, Path::new("")).unwrap_err().to_string();
        assert!(error.contains(part), "{new}: {error}");
    }
}

#[test]
fn faults_of_a_study_have_a_place() {
    for (old, new, line, part) in [
        ("samples = 6", "sample = 6", 5, "sample"),
        ("take = \"last\"", "take = \"count\"", 17, "does not fit"),
        ("uniform = [0.5, 0.9]", "uniform = [0.9, 0.5]", 13, "smaller first"),
        ("name = \"first\"", "name = \"height\"", 22, "already"),
        ("scene = \"bouncing-ball\"", "scene = \"no-such\"", 3, "no built-in scene"),
        ("energy = \"impacts\"", "energy = \"impact\"", 36, "impact"),
    ] {
        let error = Study::from_text("s.toml", &BOUNCES.replace(old, new), Path::new("")).unwrap_err().to_string();
        assert!(error.contains(part), "{new}: {error}");
        let found: usize = error.split(':').nth(1).unwrap().parse().unwrap();
        assert!(found.abs_diff(line) <= 1, "{new}: {error}");
    }
    let wrong = study(&BOUNCES.replace("body.ball.position.z", "body.bal.position.z"));
    assert!(wrong.check().unwrap_err().to_string().contains("body.ball.position.z"), "the near one is named");
    let wrong = study(&BOUNCES.replace("parameters.height", "parameters.hight"));
    assert!(wrong.check().unwrap_err().to_string().contains("hight"));
}

/// A scene that includes a file and rows from a table travel as one text; what comes back in any division is the table of the
/// local run. Files that change after the study was read change nothing.
#[test]
fn a_study_travels_and_its_rows_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("parts")).unwrap();
    std::fs::write(path("parts/ball.toml"), "[body.ball]\nkind = \"particle\"\nmass = 2\nposition = [0, 0, 1]\n")
        .unwrap();
    let scene = "include = \"parts/ball.toml\"\n[parameters]\ng = 9.81\n[world]\ngravity = [0, 0, \"= -g\"]\n[run]\nuntil = 0.25\n";
    std::fs::write(path("fall.toml"), scene).unwrap();
    std::fs::write(path("rows.csv"), "parameters.g, body.ball.mass\n9.81, 1\n1.62, 2\n3.7, 1\n1, -1\n24.8, 3\n")
        .unwrap();
    let text = "[sweep]\nscene = \"fall.toml\"\ntable = \"rows.csv\"\n[[output]]\nname = \"z\"\nchannel = \"body.ball.position.z\"\n\
                take = \"last\"\n[[output]]\nname = \"energy\"\nenergy = \"kinetic\"\n";
    std::fs::write(path("study.toml"), text).unwrap();
    let study = Study::load(&path("study.toml")).unwrap();
    compute(&study, &path("journal"), Shard::WHOLE, 2, u64::MAX);
    let local = bytes(&study, &[path("journal")]);

    let parcel = study.parcel();
    for name in ["parts/ball.toml", "fall.toml", "rows.csv", "study.toml"] {
        std::fs::write(path(name), "changed meanwhile").unwrap();
    }
    let away = Study::from_parcel(&parcel).unwrap();
    let go = AtomicBool::new(false);
    let parts = [vec![4, 1], vec![], vec![0, 1], vec![3, 2]].map(|part| rows(&away, part, &go).unwrap());
    let found = collect(&study, parts.iter().map(Vec::as_slice)).unwrap();
    let mut together = Vec::new();
    table::write_to(&mut together, &study, &found).unwrap();
    assert!(together == local, "rows from elsewhere");
    assert!(matches!(&found[&3], Outcome::Failed(reason) if reason.contains("mass")), "{:?}", found[&3]);
    // z = 1 − g t²/2
    for (row, g) in [(0, 9.81), (1, 1.62), (4, 24.8)] {
        let Outcome::Done(values) = &found[&row] else { panic!("{found:?}") };
        let exact = 1.0 - 0.5 * g * 0.0625;
        assert!((values[0].number().unwrap() - exact).abs() < 1e-12 * g, "row {row}: {values:?} against {exact}");
    }

    let mut journal = Journal::open(&path("taken"), study.mark(), 2).unwrap();
    let new: Vec<u64> = parts.iter().map(|part| journal.take(&study, part).unwrap()).collect();
    assert_eq!(new, [2, 0, 1, 2], "a row that comes twice counts once");
    drop(journal);
    assert!(local == bytes(&study, &[path("taken")]), "taken into a journal");
}

/// Where nothing is taken from channels nothing is recorded on the way; the numbers are the same bits.
#[test]
fn what_is_recorded_changes_nothing() {
    let cut = BOUNCES.find("[[output]]").unwrap();
    let next = cut + 2 + BOUNCES[cut + 2..].find("[[output]]").unwrap();
    let lean = study(&format!("{}{}", &BOUNCES[..cut], &BOUNCES[next..]));
    let (full, go) = (study(BOUNCES), AtomicBool::new(false));
    let numbers = |study: &Study| -> Vec<Vec<Taken>> {
        let found = collect(study, [rows(study, 0..12, &go).unwrap().as_slice()]).unwrap();
        let done = |outcome: Outcome| if let Outcome::Done(values) = outcome { values } else { panic!("{outcome:?}") };
        found.into_values().map(done).collect()
    };
    for (full, lean) in numbers(&full).into_iter().zip(numbers(&lean)) {
        assert_eq!(full[1..], lean[..]);
    }
}

#[test]
fn rows_of_others_are_refused() {
    let (one, other) = (study(BOUNCES), study(&BOUNCES.replace("seed = 11", "seed = 12")));
    let go = AtomicBool::new(false);
    let packet = rows(&one, [0, 5], &go).unwrap();
    let refused = |study: &Study, bytes: &[u8]| collect(study, [bytes]).unwrap_err().to_string();
    assert!(refused(&other, &packet).contains("another study"));
    assert!(refused(&one, &packet[..packet.len() - 3]).contains("damaged"));
    let mut flipped = packet.clone();
    *flipped.last_mut().unwrap() ^= 1;
    assert!(refused(&one, &flipped).contains("damaged"));
    let beyond = rows(&one, [12], &go).unwrap();
    assert!(refused(&one, &beyond).contains("row 12"));
    assert!(rows(&one, [1], &AtomicBool::new(true)).is_none(), "stopped");

    let parcel = one.parcel();
    let refused = |text: &str| Study::from_parcel(text).unwrap_err().to_string();
    let version = format!("version = \"{}\"", dalembert_sweeps::VERSION);
    assert!(parcel.contains(&version), "{parcel}");
    let older = refused(&parcel.replacen(&version, "version = \"0.0.9\"", 1));
    assert!(older.contains("dalembert 0.0.9") && older.contains(dalembert_sweeps::VERSION), "{older}");
    assert!(refused("no parcel").contains("damaged"));
    assert!(refused(&parcel[..parcel.len() / 2]).contains("damaged"));
}
