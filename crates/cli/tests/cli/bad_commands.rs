//! Bad commands: settings that fit nothing, files that cannot be read, folders that must not be touched.

use super::*;
use tempfile::tempdir;

#[test]
fn settings_that_fit_nothing() {
    let folder = tempdir().unwrap();
    for (arguments, message) in [
        (&["--set", "body.uper.mass=2"][..], "there is no `body.uper` (did you mean `upper`?)"),
        (&["--set", "body.upper.mas=2"], "did you mean `mass`?"),
        (&["--set", "body.upper.mass"], "body.upper.mass"),
        (&["--set", "body.upper.mass=two"], "two"),
        (&["--set", "=3"], "--set"),
        (&["--set", "parameters.lenght=2"], "did you mean `length`?"),
        (&["--set", "parameters.length=20"], "beyond its max 2"),
        (&["--until", "-1"], "the run must end after it starts at 0 s, not at -1 s"),
        (&["--until", "nan"], "expected a finite number"),
        (&["--until", "inf"], "expected a finite number"),
        (&["--tolerance", "3"], "`tolerance` = 3 is out of range"),
        (&["--integrator", "dop835"], "did you mean `dop853`?"),
        (&["--integrator", "\"\n[x]"], "unknown integrator"),
        (&["--checkpoint-every", "-1"], "--checkpoint-every"),
        (&["--until", "soon"], "invalid value 'soon'"),
        (&["--no-such-option"], "unexpected argument"),
    ] {
        let ended = dalembert(folder.path(), &[&["run", "double-pendulum"], arguments].concat()).with(2);
        assert!(ended.err.starts_with("error: "), "{arguments:?}: {}", ended.err);
        assert!(ended.err.contains(message), "{arguments:?}: expected `{message}` in\n{}", ended.err);
        assert_eq!(ended.out, "");
    }
    assert_eq!(names(folder.path()), [""; 0], "nothing was run");
    dalembert(folder.path(), &[]).with(2);
    dalembert(folder.path(), &["fly"]).with(2);
}

#[test]
fn scenes_that_cannot_be_read() {
    let folder = tempdir().unwrap();
    let error = |scene: &str| dalembert(folder.path(), &["run", scene]).with(2).err;
    assert_eq!(
        error("double-pendulm"),
        "error: there is no built-in scene and no file `double-pendulm`; did you mean `double-pendulum`?\n"
    );
    assert_eq!(
        error("missing.toml"),
        "error: there is no built-in scene and no file `missing.toml`; `dalembert list scenes` shows the built-in ones\n"
    );
    std::fs::create_dir(folder.path().join("a.toml")).unwrap();
    assert!(error("a.toml").contains("it is a folder"), "{}", error("a.toml"));
    #[cfg(unix)]
    assert!(error("/dev/zero").contains("is larger than 16777216 bytes"), "{}", error("/dev/zero"));
}

#[test]
fn folders_that_are_not_ours_stay() {
    let folder = tempdir().unwrap();
    let letters = folder.path().join("letters");
    std::fs::create_dir(&letters).unwrap();
    std::fs::write(letters.join("mother.txt"), "Dear mother").unwrap();
    std::fs::write(folder.path().join("file"), "text").unwrap();
    let run = |out: &str| dalembert(folder.path(), &["run", "sleigh", "--until", "0.1", "--out", out]).with(4).err;
    let error = run("letters");
    assert!(error.contains("letters` is not a run record (it holds `mother.txt`) and is left as it is"), "{error}");
    assert_eq!(read(letters.join("mother.txt")), "Dear mother");
    assert!(run("file").contains("it is not a folder"), "{}", run("file"));
    assert_eq!(read(folder.path().join("file")), "text");
    assert!(run("file/inside").starts_with("error: cannot "), "{}", run("file/inside"));
    assert!(run("/").contains("does not end in a name"), "{}", run("/"));
    // Something strange among the files of a record protects it too.
    dalembert(folder.path(), &["run", "sleigh", "--until", "0.1", "--out", "mine"]).with(0);
    std::fs::write(folder.path().join("mine/notes.txt"), "keep").unwrap();
    let summary = read(folder.path().join("mine/summary.json"));
    assert!(run("mine").contains("it holds `notes.txt`"), "{}", run("mine"));
    assert_eq!(summary, read(folder.path().join("mine/summary.json")));
    assert_eq!(names(folder.path()), ["file", "letters", "mine"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_place_that_cannot_be_written_is_found_before_the_run() {
    let folder = tempdir().unwrap();
    // Nobody, not even root, makes folders in /proc. The run would take hours.
    let arguments = ["run", "chain", "--until", "1e6", "--out", "/proc/dalembert/run"];
    let ended = dalembert(folder.path(), &arguments).with(4);
    assert!(ended.err.starts_with("error: cannot create `/proc/dalembert"), "{}", ended.err);
}
