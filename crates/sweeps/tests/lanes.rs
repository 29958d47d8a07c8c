//! Rows side by side: the same table in any company, within the tolerance of rows one by one, and alone where they must be.
#![allow(clippy::unwrap_used)]

use dalembert_sweeps::{Alone, Journal, Outcome, Progress, Shard, Study, Taken, collect, rows, sweep, table};
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

/// The head of a leech against a rough wall: impacts, sliding, sticking, lift-off.
const HEAD: &str = include_str!("../studies/leech-head/scene.toml");

const THROWS: &str = r#"
[sweep]
scene = "swing"
samples = 6
seed = 3
[[vary]]
path = "parameters.mu"
uniform = [0.05, 0.8]
[[vary]]
path = "parameters.speed"
normal = [12, 1.5]
[[output]]
name = "impacts"
events = "contact.wall"
kind = "impact"
take = "all_times"
[[output]]
name = "all"
events = "contact.wall"
take = "all_times"
[[output]]
name = "kinetic"
energy = "kinetic"
[[output]]
name = "lost"
energy = "impacts"
[[output]]
name = "heat"
energy = "dissipated"
[[output]]
name = "rebound"
channel = "momentum.linear.x"
take = "last"
"#;

/// A stool falls on a belt that runs, slides in two directions, turns and comes to rest: two tangents, and closed contacts that depend on each other where all legs stick.
const STOOL: &str = r#"
[parameters]
mu = 0.4
spin = 3
[world]
gravity = [0, 0, -9.81]
[body.stool]
kind = "rigid"
mass = 3
inertia = [0.05, 0.06, 0.07]
position = [0, 0, 0.3]
velocity = [0.8, 0.3, 0]
angular_velocity = [0, 0, "= spin"]
markers.leg1.at = [0.2, 0, -0.25]
markers.leg2.at = [-0.1, 0.18, -0.25]
markers.leg3.at = [-0.1, -0.17, -0.25]
[contact.floor]
kind = "plane"
between = ["ground", "stool.leg1", "stool.leg2", "stool.leg3"]
normal = [0, 0, 1]
belt = 0.1
friction = { sliding = "= mu" }
[run]
until = 0.6
tolerance = 1e-9
[output]
every = 0.02
"#;

const SLIDES: &str = r#"
[sweep]
scene = "swing"
samples = 6
seed = 5
[[vary]]
path = "parameters.mu"
uniform = [0.2, 0.5]
[[vary]]
path = "parameters.spin"
uniform = [1, 4]
[[output]]
name = "all"
events = "contact.floor"
take = "all_times"
[[output]]
name = "x"
channel = "body.stool.position.x"
take = "last"
[[output]]
name = "heat"
energy = "dissipated"
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
    changes_no_bit(&study(STUDY, SWING));
}

/// The same with contacts, where rows that share lanes are in the same modes for a while only.
#[test]
fn company_changes_no_bit_of_contacts() {
    changes_no_bit(&study(THROWS, HEAD));
    changes_no_bit(&study(SLIDES, STOOL));
}

fn changes_no_bit(study: &Study) {
    let all = study.plan.rows();
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let bytes = |rows: &BTreeMap<u64, Outcome>| {
        let mut out = Vec::new();
        table::write_to(&mut out, study, rows).unwrap();
        out
    };
    let read = |names: &[String]| {
        let paths: Vec<_> = names.iter().map(|name| path(name)).collect();
        bytes(&dalembert_sweeps::read_all(&paths, study.mark(), study.outputs.len()).unwrap())
    };
    let whole = part(study, &path("one"), Shard::WHOLE, 1, u64::MAX);
    assert_eq!((whole.finished, whole.failed, whole.beside), (all, 0, all), "all rows side by side");
    let one = read(&["one".into()]);
    part(study, &path("three"), Shard::WHOLE, 3, u64::MAX);
    assert!(one == read(&["three".into()]), "three threads");
    let mut starts = 0;
    while part(study, &path("stopped"), Shard::WHOLE, 2, 1).finished < all {
        starts += 1;
        assert!(starts < all, "every start finishes a row");
    }
    assert!(one == read(&["stopped".into()]), "stopped {starts} times");
    let parts: Vec<String> = (0..4).map(|k| format!("part{k}")).collect();
    for (k, name) in (0..).zip(&parts) {
        part(study, &path(name), Shard { index: k, count: 4 }, 1, u64::MAX);
    }
    assert!(one == read(&parts), "four parts");
    let away = Study::from_parcel(&study.parcel()).unwrap();
    let mut found = computed(&away, (0..all).rev());
    assert!(one == bytes(&found), "backwards, elsewhere");
    // Each row with nobody beside it.
    found = (0..all).flat_map(|row| computed(study, [row])).collect();
    assert!(one == bytes(&found), "one by one in lanes");
}

/// Rows side by side and one by one solve the same equations to the same tolerance.
#[test]
fn rows_agree_with_runs_alone() {
    // Each is within a local error of TOLERANCE (absolute, and relative to sizes below 10) a step of the exact motion, in fewer than 200 steps. Errors grow by no more than
    // ten on the way: the motion is a swing of a second and a half.
    agree(STUDY, SWING, 2.0 * 200.0 * 10.0 * TOLERANCE);
}

/// The same with contacts. Sizes are below 20, steps fewer than 400; an error in the time of an event, and so in what follows, is that of a gap, a force or a slip over its rate, which is
/// above a hundredth of its size per millisecond here: errors grow by a hundred at most.
#[test]
fn rows_with_contacts_agree_with_runs_alone() {
    let head = HEAD.replace("tolerance = 1e-6", "tolerance = 1e-9").replace("until = 0.25", "until = 0.1");
    agree(THROWS, &head, 2.0 * 400.0 * 100.0 * TOLERANCE);
    // Until a leg stops: whether others stop with it, or slip back for 1e-10 s, is decided by rounding.
    agree(SLIDES, &STOOL.replace("until = 0.6", "until = 0.17"), 2.0 * 400.0 * 100.0 * TOLERANCE);
}

fn agree(text: &str, scene: &str, bound: f64) {
    let beside = study(text, scene);
    let alone = study(&text.replace("[sweep]", "[sweep]\nlanes = false"), scene);
    assert!(beside.mark() != alone.mark(), "a journal of one is not gone on with by the other");
    let (left, right) = (computed(&beside, 0..beside.plan.rows()), computed(&alone, 0..beside.plan.rows()));
    let mut apart = false;
    for (row, left) in &left {
        let (left, right) = (values(left), values(&right[row]));
        for (k, (left, right)) in left.iter().zip(&right).enumerate() {
            assert_eq!(left.len(), right.len(), "row {row}, output {k}: {left:?} against {right:?}");
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
        (STUDY.to_owned(), SWING.replace("until = 1.5", "until = 0.2\nintegrator = \"radau\""), "integrator"),
        // A constraint that is there twice.
        (
            STUDY.to_owned(),
            SWING.replace(
                "[body.bob]",
                "[joint.again]\nkind = \"revolute\"\nbetween = [\"ground\", \"arm.top\"]\naxis = [0, 1, 0]\n[body.bob]",
            ),
            "depend on each other",
        ),
        // Hollows around contacts that bear.
        (
            STUDY.to_owned(),
            format!(
                "{SWING}[contact.floor]\nkind = \"plane\"\nbetween = [\"ground\", \"bob\"]\nnormal = [0, 0, 1]\noffset = -5\nhollow = 0.1\n"
            ),
            "`hollow`",
        ),
    ];
    let folder = tempfile::tempdir().unwrap();
    for (k, (text, scene, why)) in cases.into_iter().enumerate() {
        let text = text.replace("samples = 11", "samples = 3");
        let one = study(&text, &scene);
        one.check().unwrap();
        let tally = part(&one, &folder.path().join(format!("journal{k}")), Shard::WHOLE, 2, u64::MAX);
        assert_eq!((tally.finished, tally.failed, tally.beside), (3, 0, 0), "case {k}");
        assert!(tally.alone.is_some_and(|alone: Alone| alone.to_string().contains(why)), "{:?}", tally.alone);
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
