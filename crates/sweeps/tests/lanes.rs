//! Rows side by side: the same table in any company, within the tolerance of rows one by one, and alone where they must be.
#![allow(clippy::unwrap_used)]

use dalembert_sweeps::{Journal, Outcome, Progress, Shard, Study, Taken, collect, rows, sweep, table};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The tolerance of the runs below.
const TOLERANCE: f64 = 1e-9;

/// A bob on a spring under a hinged arm: rotations in space, constraints, damping, an event.
const SWING: &str = r#"
[parameters]
stiffness = 20
angle = 0.5
[world]
gravity = [0, 0, -9.81]
[body.arm]
kind = "rigid"
mass = 1
inertia = [0.021, 0.021, 0.0002]
position = ["= 0.25*sin(angle)", 0, "= -0.25*cos(angle)"]
orientation = { axis = [0, 1, 0], angle = "= -angle" }
markers.top.at = [0, 0, 0.25]
markers.end.at = [0, 0, -0.25]
[joint.shoulder]
kind = "revolute"
between = ["ground", "arm.top"]
axis = [0, 1, 0]
[body.bob]
kind = "particle"
mass = 0.2
position = ["= 0.5*sin(angle)", 0, "= -0.5*cos(angle) - 0.3"]
[force.spring]
kind = "spring"
between = ["arm.end", "bob"]
stiffness = "= stiffness"
damping = 0.05
rest_length = 0.2
[event.low]
channel = "body.bob.velocity.z"
level = 0
[run]
until = 1.5
tolerance = 1e-9
[output]
every = 0.02
"#;

const STUDY: &str = r#"
[sweep]
scene = "swing"
samples = 11
seed = 3
[[vary]]
path = "parameters.stiffness"
uniform = [15, 30]
[[vary]]
path = "parameters.angle"
uniform = [0.2, 1.2]
[[output]]
name = "x"
channel = "body.bob.position.x"
take = "last"
[[output]]
name = "turns"
events = "event.low"
take = "all_times"
[[output]]
name = "heat"
energy = "dissipated"
[[output]]
name = "kinetic"
energy = "kinetic"
"#;

fn study(text: &str, scene: &str) -> Study {
    Study::with_scene("study.toml", text, Path::new(""), ("swing", scene)).unwrap()
}

/// Rows of a part, computed until some are finished, and how far it came.
fn part(study: &Study, path: &Path, shard: Shard, jobs: usize, most: u64) -> Progress {
    let mut journal = Journal::open(path, study.mark(), study.outputs.len()).unwrap();
    let stop = AtomicBool::new(false);
    let mut watch = |p: Progress| {
        if p.finished - p.before >= most {
            stop.store(true, Ordering::Relaxed);
        }
    };
    sweep(study, shard, &mut journal, jobs, &stop, &mut watch).unwrap()
}

fn computed(study: &Study, order: impl IntoIterator<Item = u64>) -> BTreeMap<u64, Outcome> {
    collect(study, [rows(study, order, &AtomicBool::new(false)).unwrap().as_slice()]).unwrap()
}

fn values(outcome: &Outcome) -> Vec<Vec<f64>> {
    let Outcome::Done(values) = outcome else { panic!("{outcome:?}") };
    let list = |taken: &Taken| taken.all().map_or_else(|| vec![taken.number().unwrap()], <[f64]>::to_vec);
    values.iter().map(list).collect()
}

/// Whatever threads, parts, order and stops: who sits beside whom changes no bit.
#[test]
fn company_changes_no_bit() {
    let study = study(STUDY, SWING);
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let bytes = |rows: &BTreeMap<u64, Outcome>| {
        let mut out = Vec::new();
        table::write_to(&mut out, &study, rows).unwrap();
        out
    };
    let read = |names: &[String]| {
        let paths: Vec<_> = names.iter().map(|name| path(name)).collect();
        bytes(&dalembert_sweeps::read_all(&paths, study.mark(), study.outputs.len()).unwrap())
    };
    let whole = part(&study, &path("one"), Shard::WHOLE, 1, u64::MAX);
    assert_eq!((whole.finished, whole.failed, whole.beside), (11, 0, 11), "all rows side by side");
    let one = read(&["one".into()]);
    part(&study, &path("three"), Shard::WHOLE, 3, u64::MAX);
    assert!(one == read(&["three".into()]), "three threads");
    let mut starts = 0;
    while part(&study, &path("stopped"), Shard::WHOLE, 2, 1).finished < 11 {
        starts += 1;
        assert!(starts < 11, "every start finishes a row");
    }
    assert!(one == read(&["stopped".into()]), "stopped {starts} times");
    let parts: Vec<String> = (0..4).map(|k| format!("part{k}")).collect();
    for (k, name) in (0..).zip(&parts) {
        part(&study, &path(name), Shard { index: k, count: 4 }, 1, u64::MAX);
    }
    assert!(one == read(&parts), "four parts");
    let away = Study::from_parcel(&study.parcel()).unwrap();
    let mut found = computed(&away, (0..11).rev());
    assert!(one == bytes(&found), "backwards, elsewhere");
    // Each row with nobody beside it.
    found = (0..11).flat_map(|row| computed(&study, [row])).collect();
    assert!(one == bytes(&found), "one by one in lanes");
}

/// Rows side by side and one by one solve the same equations to the same tolerance.
#[test]
fn rows_agree_with_runs_alone() {
    let beside = study(STUDY, SWING);
    let alone = study(&STUDY.replace("seed = 3", "seed = 3\nlanes = false"), SWING);
    assert!(beside.mark() != alone.mark(), "a journal of one is not gone on with by the other");
    let (left, right) = (computed(&beside, 0..11), computed(&alone, 0..11));
    // Each is within a local error of TOLERANCE (absolute, and relative to sizes below 10) a step of the exact motion, in fewer than 200 steps. Errors grow by no more than
    // ten on the way: the motion is a swing of a second and a half.
    let bound = 2.0 * 200.0 * 10.0 * TOLERANCE;
    let mut apart = false;
    for (row, left) in &left {
        let (left, right) = (values(left), values(&right[row]));
        for (k, (left, right)) in left.iter().zip(&right).enumerate() {
            assert_eq!(left.len(), right.len(), "row {row}, output {k}");
            for (l, r) in left.iter().zip(right) {
                assert!((l - r).abs() < bound * r.abs().max(1.0), "row {row}, output {k}: {l} against {r}");
                apart |= l != r;
            }
        }
    }
    assert!(apart, "rows side by side are summed up in another order");
}

/// What cannot be computed side by side is what it is without lanes, to the bit, and says so.
#[test]
fn rows_that_cannot_sit_together_sit_alone() {
    let cases = [
        // A method of another kind.
        (STUDY.to_owned(), SWING.replace("until = 1.5", "until = 0.2\nintegrator = \"radau\"")),
        // A constraint that is there twice.
        (
            STUDY.to_owned(),
            SWING.replace(
                "[body.bob]",
                "[joint.again]\nkind = \"revolute\"\nbetween = [\"ground\", \"arm.top\"]\naxis = [0, 1, 0]\n[body.bob]",
            ),
        ),
        // Contacts.
        (
            STUDY.to_owned(),
            format!(
                "{SWING}[contact.floor]\nkind = \"plane\"\nbetween = [\"ground\", \"bob\"]\nnormal = [0, 0, 1]\noffset = -5\n"
            ),
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (k, (text, scene)) in cases.into_iter().enumerate() {
        let text = text.replace("samples = 11", "samples = 3");
        let one = study(&text, &scene);
        one.check().unwrap();
        let tally = part(&one, &folder.path().join(format!("journal{k}")), Shard::WHOLE, 2, u64::MAX);
        assert_eq!((tally.finished, tally.failed, tally.beside), (3, 0, 0), "case {k}");
        let alone = study(&text.replace("seed = 3", "seed = 3\nlanes = false"), &scene);
        assert_eq!(computed(&one, 0..3), computed(&alone, 0..3), "case {k}");
    }
}

/// A row fails with the words of a run alone, whoever sits beside it.
#[test]
fn failures_keep_their_words() {
    // A cubic spring that pulls outwards: rows with a large factor leave every bound before the end.
    let scene = "[parameters]\nfactor = 1\n[body.ball]\nkind = \"particle\"\nmass = 1\nposition = [1, 0, 0]\n\
                 [force.push]\nkind = \"spring\"\nbetween = [\"ground\", \"ball\"]\nstiffness = \"= -factor\"\nrest_length = 0.5\n[run]\nuntil = 4\n";
    let text = "[sweep]\nscene = \"swing\"\nsteps = 40\n[[vary]]\npath = \"parameters.factor\"\nvalues = [1, 4e4, 2, 1e5, 3]\n\
                [[output]]\nname = \"x\"\nchannel = \"body.ball.position.x\"\ntake = \"last\"\n";
    let beside = computed(&study(text, scene), 0..5);
    let alone = computed(&study(&text.replace("steps = 40", "steps = 40\nlanes = false"), scene), 0..5);
    for row in [1, 3] {
        let (Outcome::Failed(left), Outcome::Failed(right)) = (&beside[&row], &alone[&row]) else {
            panic!("row {row}: {:?} and {:?}", beside[&row], alone[&row])
        };
        // The time of the last step may differ in its last digits.
        let words = |text: &str| text.split("t = ").next().map(str::to_owned);
        assert!(left.contains("more than 40 steps") && words(left) == words(right), "{left}\n{right}");
    }
    assert!([0, 2, 4].iter().all(|row| matches!(&beside[row], Outcome::Done(_))), "{beside:?}");
}
