//! Bad scenes: code 2, the place to the column, what is wrong and what was perhaps meant; never a panic.

use super::*;
use tempfile::tempdir;

/// A scene in which only one thing will be wrong: a ball, a rod on a hinge.
const GOOD: &str = "\
[body.ball]
kind = 'particle'
mass = 1
position = [0, 0, -1]
[body.rod]
kind = 'rigid'
mass = 1
inertia = [1, 1, 1]
markers.tip = { at = [0, 0, 1] }
[joint.hinge]
kind = 'revolute'
between = ['ground', 'rod']
[constraint.string]
kind = 'distance'
between = ['ground', 'ball']
length = 1
[force.coil]
kind = 'spring'
between = ['rod.tip', 'ball']
stiffness = 1
[event.up]
channel = 'joint.hinge.angle'
[run]
until = 1
";

/// Line changed in [`GOOD`], what it becomes, the place, part of the message.
const CHANGES: &[(&str, &str, &str, &str)] = &[
    // types, keys, kinds
    ("mass = 1", "mass = 'one'", "3:8", "expected a number, found the text \"one\""),
    ("mass = 1", "mass = true", "3:8", "expected a number, found `true`"),
    ("mass = 1", "mass = nan", "3:8", "nan is not a number that a scene can use"),
    ("mass = 1", "mass = inf", "3:8", "expected a finite number, found inf"),
    ("mass = 1", "mass = 1e999", "3:8", "the number 1e999 does not fit a double"),
    ("mass = 1", "mass = '= 1/0'", "3:11", "is not a finite number"),
    ("mass = 1", "mas = 1", "3:1", "unknown key `mas` (did you mean `mass`?)"),
    ("mass = 1", "", "1:1", "missing key `mass`"),
    ("mass = 1", "mass = 1\nmass = 2", "4:1", "duplicate key"),
    ("kind = 'particle'", "kind = 'partcle'", "2:8", "unknown kind `partcle` (did you mean `particle`?)"),
    ("kind = 'particle'", "kind = 3", "2:8", "expected the name of a kind, found the number 3"),
    ("kind = 'particle'", "", "1:1", "`body.ball` has no `kind`"),
    ("[body.ball]", "[bdy.ball]", "1:2", "unknown section `bdy` (did you mean `body`?)"),
    ("[run]", "[body.'a b']\nkind = 'particle'\nmass = 1\n[run]", "23:7", "`a b` cannot be a name"),
    ("[body.rod]", "[body.ball]", "5:7", "duplicate key"),
    ("position = [0, 0, -1]", "position = [0, -1]", "4:12", "expected an array of length 3, found 2 elements"),
    // masses and inertias
    ("mass = 1", "mass = 0", "3:8", "body `ball`: a mass must be positive, not 0"),
    ("mass = 1", "mass = -2.5", "3:8", "body `ball`: a mass must be positive, not -2.5"),
    ("inertia = [1, 1, 1]", "inertia = [1, 1, -1]", "8:11", "positive definite; its smallest moment is -1"),
    ("inertia = [1, 1, 1]", "inertia = [0, 1, 1]", "8:11", "the inertia must be positive definite"),
    ("inertia = [1, 1, 1]", "inertia = [1, 1, 3]", "8:11", "each is at most the sum of the other two"),
    // markers
    ("between = ['ground', 'rod']", "between = ['ground', 'rodd']", "12:22", "`rodd` (did you mean `rod`?)"),
    ("between = ['rod.tip', 'ball']", "between = ['rod.tp', 'ball']", "19:12", "`rod.tp` (did you mean `rod.tip`?)"),
    ("between = ['ground', 'rod']", "between = ['rod']", "12:11", "expected the names of 2 markers"),
    ("between = ['ground', 'rod']", "between = 'rod'", "12:11", "expected the names of 2 markers"),
    ("between = ['ground', 'rod']", "", "10:1", "missing key `between`"),
    (
        "between = ['ground', 'rod']",
        "between = ['rod', 'ball']",
        "12:11",
        "`ball` is on the particle `ball`, which has none",
    ),
    ("markers.tip = { at = [0, 0, 1] }", "markers = 3", "9:11", "`markers` must be a table, found the number 3"),
    ("markers.tip = { at = [0, 0, 1] }", "markers.tip = 3", "9:15", "the number 3"),
    (
        "markers.tip = { at = [0, 0, 1] }",
        "markers.tip = { ta = [0, 0, 1] }",
        "9:17",
        "unknown key `ta` (did you mean `at`?)",
    ),
    ("markers.tip = { at = [0, 0, 1] }", "markers.tip = { body = 'rod' }", "9:24", "does not name a body"),
    ("[force.coil]", "[marker.m]\nbody = 'rot'\n[force.coil]", "18:8", "there is no body `rot` (did you mean `rod`?)"),
    ("[force.coil]", "[marker.rod]\n[force.coil]", "17:1", "`rod` is the name of a body already"),
    ("[body.ball]", "[body.ground]\nmass = 1\n[body.ball]", "2:8", "the ground takes only markers"),
    ("position = [0, 0, -1]", "position = [0, 0, -1]\nmarkers.m.at = [1, 0, 0]", "1:1", "a particle is a single point"),
    // directions and signals
    ("kind = 'revolute'", "kind = 'revolute'\naxis = [0, 0, 0]", "12:8", "not zero, but [0, 0, 0] has 0"),
    (
        "[force.coil]",
        "[signal.f]\nkind = 'constant'\nvalue = 1\n[force.push]\nkind = 'applied_force'\nat = 'ball'\n\
      force = ['ff', 0, 0]\n[force.coil]",
        "20:1",
        "there is no signal `ff`; did you mean `f`?",
    ),
    (
        "[force.coil]",
        "[signal.f]\nkind = 'expression'\nvalue = 'sin(u)'\n[force.coil]",
        "19:9",
        "in the formula \"sin(u)\", at character 5: unknown name `u`",
    ),
    // the run
    ("until = 1", "until = -1", "24:9", "the run must end after it starts at 0 s, not at -1 s"),
    ("until = 1", "start = 2\nuntil = 1", "25:9", "the run must end after it starts at 2 s, not at 1 s"),
    ("until = 1", "integrator = 'rado'", "24:14", "unknown integrator `rado` (did you mean `radau`?)"),
    ("until = 1", "tolerance = 0", "24:13", "`tolerance` = 0 is out of range"),
    ("until = 1", "tolerance = 2", "24:13", "`tolerance` = 2 is out of range"),
    ("until = 1", "settings.frist_step = 1", "24:23", "no setting `frist_step` (did you mean `first_step`?)"),
    ("until = 1", "settings.tolerance = 1e-9", "24:22", "write `tolerance` in [run] itself"),
    ("until = 1", "ledger_factor = -1", "24:17", "a factor must not be negative, found -1"),
    ("until = 1", "initial = 'strickt'", "24:11", "unknown choice `strickt` (did you mean `strict`?)"),
    ("until = 1", "[output]\nevery = -1", "25:9", "must not be negative, found -1 s"),
    ("until = 1", "[output]\nevery = 1e-12", "25:9", "1.0e13 rows are too many"),
    ("channel = 'joint.hinge.angle'", "channel = 'joint.hinge.angel'", "22:11", "did you mean `joint.hinge.angle`?"),
    ("channel = 'joint.hinge.angle'", "", "21:1", "missing key `channel`"),
    ("until = 1", "until = 1\n[scene]\nformat = 2", "26:10", "this program reads format 1"),
    // arithmetic, repeats, includes
    ("[body.ball]", "[parameters]\na = '= b'\nb = '= a'\n[body.ball]", "2:5", "in a circle: a → b → a"),
    ("[body.ball]", "[parameters]\na = '= 2*c'\n[body.ball]", "2:10", "unknown parameter `c`"),
    (
        "until = 1",
        "until = 1\n[[repeat]]\nto = 1e9\n[repeat.body.'b{i}']\nkind = 'particle'\nmass = 1",
        "25:1",
        "repeating 1000000000 times makes more than 1000000 elements",
    ),
    ("[body.ball]", "include = 'a.toml'\n[body.ball]", "1:11", "in a circle: a.toml → a.toml"),
    ("[body.ball]", "include = ['nowhere.toml']\n[body.ball]", "1:12", "there is no file `nowhere.toml`"),
    // initial values and contradictions
    (
        "position = [0, 0, -1]",
        "position = [0, 0, -2]",
        "13:1",
        "the state violates `constraint.string` on position level by 1",
    ),
    ("position = [0, 0, -1]", "position = [0, 0, -2]", "13:1", "`initial = \"project\"`"),
    ("position = [0, 0, -1]", "position = [0, 0, -1]\nvelocity = [0, 0, 3]", "14:1", "on velocity level by -3"),
    (
        "[force.coil]",
        "[constraint.other]\nkind = 'distance'\nbetween = ['ground', 'ball']\nlength = 2\n[force.coil]",
        "17:1",
        "the state violates `constraint.other` on position level by -7.500e-1",
    ),
];

/// The error of a scene file, which `check` and `run` tell alike.
#[track_caller]
fn error(folder: &Path, text: &[u8]) -> String {
    std::fs::write(folder.join("a.toml"), text).unwrap();
    let check = dalembert(folder, &["check", "a.toml"]).with(2);
    let run = dalembert(folder, &["run", "a.toml"]).with(2);
    assert_eq!(check.err, run.err);
    assert_eq!((check.out.as_str(), run.out.as_str()), ("", ""));
    assert!(!check.err.contains("panicked"), "{}", check.err);
    assert!(!folder.join("runs/a").exists(), "nothing was run");
    check.err
}

#[test]
fn one_thing_wrong() {
    let folder = tempdir().unwrap();
    std::fs::write(folder.path().join("a.toml"), GOOD).unwrap();
    dalembert(folder.path(), &["check", "a.toml"]).with(0);
    let mut wrong = Vec::new();
    for (line, change, place, message) in CHANGES {
        assert!(GOOD.contains(line), "{line}");
        let found = error(folder.path(), GOOD.replacen(line, change, 1).as_bytes());
        if !found.starts_with(&format!("error: a.toml:{place}: ")) || !found.contains(message) {
            wrong.push(format!("{change}\n  expected {place}: {message}\n  found {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn many_things_wrong() {
    let folder = tempdir().unwrap();
    let text = GOOD.replace("mass = 1", "mass = 'x'").replace("'revolute'", "'revolut'");
    let found = error(folder.path(), text.as_bytes());
    assert!(found.starts_with("error: 3 problems in the scene\na.toml:3:8: expected a number"), "{found}");
    assert!(found.contains("\na.toml:11:8: unknown kind `revolut` (did you mean `revolute`?)\n"), "{found}");
}

#[test]
fn not_text() {
    let folder = tempdir().unwrap();
    let found = error(folder.path(), b"[scene]\ntitle = '\xff'\n");
    assert_eq!(
        found,
        "error: a.toml:2:10: the file is not UTF-8: byte 0xff at offset 17 (save the file as UTF-8 text)\n"
    );
    for bytes in [&[0; 64][..], &[0x7f, b'E', b'L', b'F', 2, 1, 1, 0], b"[", b"a", b"\"\"\"", b"=", b"[[[["] {
        let found = error(folder.path(), bytes);
        assert!(found.starts_with("error: a.toml:1:"), "{bytes:?}: {found}");
    }
}

#[test]
fn too_much() {
    let folder = tempdir().unwrap();
    let deep = format!("[run]\nuntil = {}1{}\n", "[".repeat(200_000), "]".repeat(200_000));
    assert_eq!(error(folder.path(), deep.as_bytes()), "error: a.toml:2:72: nested deeper than 64 levels\n");
    let huge = vec![b'#'; (16 << 20) + 1];
    assert_eq!(error(folder.path(), &huge), "error: the file `a.toml` is larger than 16777216 bytes\n");
}

#[test]
fn motions_that_disagree() {
    let folder = tempdir().unwrap();
    // Both hold at the start; their rates do not.
    let drive = |name: &str, value: &str| {
        format!(
            "[signal.{name}]\nkind = 'expression'\nvalue = '{value}'\n\
             [constraint.{name}]\nkind = 'prescribed_angle'\nbetween = ['ground', 'rod']\nangle = '{name}'\n"
        )
    };
    let rates = format!("{}{}{GOOD}", drive("slow", "0"), drive("fast", "t"));
    let found = error(folder.path(), rates.as_bytes());
    assert!(
        found.starts_with("error: a.toml:11:1: at t = 0 s the state violates `constraint.fast` on velocity level"),
        "{found}"
    );
    // Positions and velocities agree; accelerations do not.
    let accelerations = format!("{}{}{GOOD}", drive("slow", "0"), drive("fast", "t^2"));
    let found = error(folder.path(), accelerations.as_bytes());
    assert!(found.starts_with("error: a.toml:"), "{found}");
    assert!(found.contains("contradicts other constraints") && found.contains("depends on"), "{found}");
    assert!(found.contains("constraint.fast") && found.contains("constraint.slow"), "{found}");
    // Nothing can be projected onto two lengths at once.
    let lengths = GOOD.replace(
        "[force.coil]",
        "[constraint.other]\nkind = 'distance'\nbetween = ['ground', 'ball']\nlength = 2\n[force.coil]",
    );
    let found = error(folder.path(), lengths.replace("until = 1", "initial = 'project'").as_bytes());
    assert!(found.contains("constraint.string") || found.contains("constraint.other"), "{found}");
}

#[test]
fn an_impossible_state_can_be_projected() {
    let folder = tempdir().unwrap();
    let text = GOOD
        .replace("position = [0, 0, -1]", "position = [0, 0, -1.5]")
        .replace("until = 1", "initial = 'project'\nuntil = 1");
    std::fs::write(folder.path().join("a.toml"), text).unwrap();
    dalembert(folder.path(), &["check", "a.toml"]).with(0);
    dalembert(folder.path(), &["run", "a.toml"]).with(0);
}
