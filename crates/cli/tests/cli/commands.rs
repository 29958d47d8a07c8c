//! The other commands: `check`, `list`, `new`, `report`, completions, the manual.

use super::*;
use dalembert::scenes;
use tempfile::tempdir;

#[test]
fn every_scene_passes_the_check() {
    let folder = tempdir().unwrap();
    for scene in scenes::ALL {
        let ended = dalembert(folder.path(), &["check", scene.name]).with(0);
        assert!(ended.out.starts_with(&format!("{}: ", scene.name)), "{}", ended.out);
        assert_eq!(ended.err, "");
    }
    assert_eq!(names(folder.path()), [""; 0], "a check writes nothing");
    let out = dalembert(folder.path(), &["check", "double-pendulum"]).with(0).out;
    let expected = "double-pendulum: 2 bodies, 2 joints and constraints, 0 forces\n\
                    12 velocities, 10 constraint rows (0 redundant), 2 degrees of freedom\n";
    assert_eq!(out, expected);
    let out = dalembert(folder.path(), &["check", "bricard"]).with(0).out;
    assert!(out.contains("1 degrees of freedom") && out.contains("redundant (and consistent) rows in: "), "{out}");
}

/// Scene → model → scene is the identity: what is written, read and written again is the same text.
#[test]
fn an_expanded_scene_expands_to_itself() {
    let folder = tempdir().unwrap();
    let starter = scenes::STARTER;
    let all = scenes::ALL.iter().map(|scene| (scene.name, scene.text)).chain([("starter", starter)]);
    for (name, text) in all {
        let file = |text: &str| std::fs::write(folder.path().join("scene.toml"), text).unwrap();
        file(text);
        let once = dalembert(folder.path(), &["check", "--expand", "scene.toml"]).with(0).out;
        file(&once);
        let twice = dalembert(folder.path(), &["check", "--expand", "scene.toml"]).with(0).out;
        assert_eq!(once, twice, "{name}");
        assert!(!once.contains("[parameters]") && !once.contains("[[repeat]]"), "{name}: all is computed");
    }
}

#[test]
fn a_new_scene_runs() {
    let folder = tempdir().unwrap();
    let ended = dalembert(folder.path(), &["new", "mine.toml"]).with(0);
    assert!(ended.out.contains("dalembert run mine.toml"), "{}", ended.out);
    dalembert(folder.path(), &["check", "mine.toml"]).with(0);
    dalembert(folder.path(), &["run", "mine.toml"]).with(0);
    assert!(folder.path().join("runs/mine/report.html").is_file());
    let text = read(folder.path().join("mine.toml"));
    let ended = dalembert(folder.path(), &["new", "mine.toml"]).with(4);
    assert!(ended.err.contains("cannot make `mine.toml`"), "{}", ended.err);
    assert_eq!(text, read(folder.path().join("mine.toml")), "nothing is written over");
}

#[test]
fn reports_are_made_again() {
    let folder = tempdir().unwrap();
    dalembert(folder.path(), &["run", "double-pendulum", "--until", "2", "--out", "a"]).with(0);
    let report = folder.path().join("a/report.html");
    let page = read(&report);
    let others: Vec<String> = names(&folder.path().join("a"));
    std::fs::remove_file(&report).unwrap();
    let ended = dalembert(folder.path(), &["report", "a"]).with(0);
    assert_eq!(ended.out, "a/report.html\n");
    assert!(page == read(&report), "the report made again is the same page");
    assert_eq!(others, names(&folder.path().join("a")));
    assert!(page.starts_with("<!DOCTYPE html>") || page.starts_with("<!doctype html>"));
    for address in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!page.contains(address), "the report works offline, but has `{address}`");
    }

    let ended = dalembert(folder.path(), &["report", "a", "--svg", "pictures/of/a"]).with(0);
    let pictures = names(&folder.path().join("pictures/of/a"));
    assert!(!pictures.is_empty());
    assert_eq!(ended.out.lines().count(), pictures.len());
    for name in &pictures {
        let svg = read(folder.path().join("pictures/of/a").join(name));
        assert!(name.ends_with(".svg") && svg.contains("<svg") && svg.trim_end().ends_with("</svg>"), "{name}");
    }
    assert_eq!(names(folder.path()), ["a", "pictures"]);

    let ended = dalembert(folder.path(), &["report", "nowhere"]).with(4);
    assert!(ended.err.contains("nowhere"), "{}", ended.err);
}

#[test]
fn lists_name_everything() {
    let folder = tempdir().unwrap();
    let list = |what: &[&str]| dalembert(folder.path(), &[&["list"], what].concat()).with(0).out;
    let everything = list(&[]);
    for scene in scenes::ALL {
        assert!(everything.contains(scene.name) && list(&["scenes"]).contains(scene.name));
    }
    for kind in dalembert::scene::every_kind() {
        assert!(everything.contains(kind.kind), "{}", kind.kind);
        assert!(list(&["--markdown"]).contains(&format!("### `{}`", kind.kind)), "{}", kind.kind);
    }
    let integrators = list(&["integrators"]);
    for about in dalembert::methods::integrate::methods() {
        assert!(integrators.contains(about.name), "{}", about.name);
    }
    assert!(!integrators.contains("revolute"));
}

#[test]
fn completions_and_manual() {
    let folder = tempdir().unwrap();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = dalembert(folder.path(), &["completions", shell]).with(0).out;
        assert!(script.contains("dalembert") && script.contains("resume"), "{shell}");
    }
    let manual = dalembert(folder.path(), &["man"]).with(0).out;
    assert!(manual.contains(".TH dalembert 1") && manual.contains("Exit codes"), "{manual}");
    let help = dalembert(folder.path(), &["--help"]).with(0).out;
    assert!(help.contains("Exit codes: 0 done"), "{help}");
    dalembert(folder.path(), &["--version"]).with(0);
}

/// `dalembert … | head -1` is no failure.
#[test]
#[cfg(unix)]
fn a_closed_pipe_is_no_error() {
    let folder = tempdir().unwrap();
    for arguments in [&["completions", "bash"][..], &["schema"], &["man"], &["list"], &["check", "--expand", "chain"]] {
        let mut child =
            command(folder.path(), arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let ended: Ended = child.wait_with_output().unwrap().into();
        assert_eq!(ended.with(0).err, "", "{arguments:?}");
    }
}

#[test]
fn motions_are_exported() {
    let folder = tempdir().unwrap();
    dalembert(folder.path(), &["run", "double-pendulum", "--until", "0.1", "--out", "a", "--quiet"]).with(0);
    let ended = dalembert(folder.path(), &["export", "a", "--gltf", "a.glb", "--vtk", "series"]).with(0);
    assert_eq!(ended.out, "a.glb\nseries/motion.pvd\n");
    assert!(std::fs::read(folder.path().join("a.glb")).unwrap().starts_with(b"glTF"));
    assert!(names(&folder.path().join("series")).contains(&"motion_0000.vtp".to_owned()));
    let ended = dalembert(folder.path(), &["export", "a"]).with(2);
    assert!(ended.err.contains("--gltf FILE"), "{}", ended.err);
    dalembert(folder.path(), &["export", "nowhere", "--gltf", "b.glb"]).with(4);
    // The tests build the command line without that feature.
    let ended = dalembert(folder.path(), &["export", "a", "--rerun", "a.rrd"]).with(2);
    assert!(ended.err.contains("--features rerun"), "{}", ended.err);
    assert!(!folder.path().join("a.rrd").exists());
    std::fs::write(folder.path().join("a/animation.json"), "{}").unwrap();
    let ended = dalembert(folder.path(), &["export", "a", "--gltf", "b.glb"]).with(4);
    assert!(ended.err.contains("not an animation"), "{}", ended.err);
}

#[test]
fn the_studio_needs_a_scene() {
    let folder = tempdir().unwrap();
    let ended = dalembert(folder.path(), &["view", "duble-pendulum", "--no-open"]).with(2);
    assert!(
        ended.err.contains("did you mean `double-pendulum`?") || ended.err.contains("without the viewer"),
        "{}",
        ended.err
    );
}
