//! `dalembert equations` of scenes: what is written is compiled, run, and compared with the numbers of `dalembert eval`.

use super::*;
use dalembert::methods::System;
use dalembert::scene::{Document, Limits, Overrides, Scene};
use std::io::Write;
use tempfile::tempdir;

/// The inputs of a built-in scene at its initial state, as a driver reads them.
fn state(name: &str) -> String {
    let text = dalembert::scenes::find(name).unwrap().text;
    let document = Document::from_text(name, text, &Overrides::none(), &Limits::default());
    let scene = document.and_then(Scene::from_document).unwrap_or_else(|e| panic!("{}", e.plain()));
    let s = scene.model.initial_state();
    assert_eq!(scene.model.shape().p, s.p.len());
    let numbers = std::iter::once(s.t).chain(s.q).chain(s.v).chain(s.x).chain(s.p);
    numbers.map(|x| format!("{x:?}\n")).collect()
}

/// Feeds a compiled driver.
fn fed(program: &Path, input: &str) -> Vec<f64> {
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let out = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    out.lines().map(|line| line.parse().unwrap()).collect()
}

fn compiled(folder: &Path, scene: &str, what: &str, language: &str) -> Vec<f64> {
    compiled_with(folder, scene, what, language, &[]).0
}

/// The numbers of a compiled source, and its length in bytes.
fn compiled_with(folder: &Path, scene: &str, what: &str, language: &str, options: &[&str]) -> (Vec<f64>, usize) {
    let (source, program) = (format!("{scene}.{language}"), folder.join(format!("{scene}-{language}")));
    let words = ["equations", scene, "--what", what, "--as", language, "--out", &source];
    dalembert(folder, &[&words, options].concat()).with(0);
    let mut compiler = match language {
        "c" => Command::new("cc"),
        _ => Command::new("rustc"),
    };
    let language_options: &[&str] =
        if language == "c" { &["-std=c99", "-x", "c"] } else { &["--edition", "2021", "-A", "warnings"] };
    compiler.args(language_options).arg(&source).arg("-o").arg(&program).current_dir(folder);
    if language == "c" {
        compiler.arg("-lm");
    }
    let built = compiler.output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let length = std::fs::metadata(folder.join(&source)).unwrap().len() as usize;
    (fed(&program, &state(scene)), length)
}

/// Kernels are told: a leech of any length has the same; what is solved for has none; and kernels with tables, as C and as Rust, have the numbers of the whole function in a shorter
/// source.
#[test]
fn kernels_are_told_and_written() {
    let folder = tempdir().unwrap();
    let told = |segments: usize, derivatives: &[&str]| {
        let (count, length) =
            (format!("assembly.leech.segments={segments}"), format!("assembly.leech.length={}", 2 * segments));
        let set = ["--set", &count, "--set", &length, "--set", "assembly.leech.shape=\"given\""];
        let words = ["equations", "leech-21", "--what", "force,residual", "--kernels"];
        dalembert(folder.path(), &[&words[..], &set, derivatives].concat()).with(0).out
    };
    for derivatives in [&[][..], &["--derivatives"]] {
        let [short, long] = [4, 40].map(|segments| told(segments, derivatives));
        let kernels = |text: &str| -> Vec<String> {
            let own = text.lines().filter(|line| line.starts_with("  "));
            own.map(|line| line.split_once(": ").map_or(line, |(_, counts)| counts).to_owned()).collect()
        };
        assert!(!kernels(&short).is_empty() && kernels(&short) == kernels(&long), "{short}\n{long}");
        assert!(
            long.contains("force: ") && long.contains("muscle force.leech_longitudinal") && long.contains(" like it"),
            "{long}"
        );
    }
    let refused =
        dalembert(folder.path(), &["equations", "leech-21", "--what", "acceleration", "--kernels"]).with(2).err;
    assert!(refused.contains("solved for"), "{refused}");
    for (scene, what, language) in [
        ("leech-21", "force,residual", "c"),
        ("leech-21", "force", "rust"),
        ("stewart", "mass,force,velocity", "c"),
        ("leech", "gap", "c"),
    ] {
        let exact = compiled_with(folder.path(), scene, what, language, &[]);
        let found = compiled_with(folder.path(), scene, what, language, &["--kernels"]);
        // Whole functions leave out entries of the mass matrix that vanish or stand twice.
        if !what.contains("mass") {
            assert_eq!(exact.0.len(), found.0.len(), "{scene} {what}");
            let size = exact.0.iter().fold(1.0f64, |m, x| m.max(x.abs()));
            // Some hundred operations for each element.
            assert!(
                exact.0.iter().zip(&found.0).all(|(a, b)| (a - b).abs() < 100.0 * f64::EPSILON * size),
                "{scene} {what}"
            );
        }
        assert!(scene != "leech-21" || 2 * found.1 < exact.1, "{scene} {what}: {} and {} bytes", found.1, exact.1);
    }
}

/// The numbers of `dalembert eval` at the initial state.
fn evaluated(folder: &Path, scene: &str, what: &str) -> Vec<f64> {
    let out = dalembert(folder, &["eval", scene, "--what", what]).with(0).out;
    out.lines().nth(1).unwrap().split(',').map(|x| x.parse().unwrap()).collect()
}

/// Accelerations and forces of a tree, of bodies in joints, of rolling without slip: by the compiled sources and by the dynamics of a run.
#[test]
fn compiled_equations_have_the_numbers_of_eval() {
    let folder = tempdir().unwrap();
    for (scene, languages) in
        [("double-pendulum", &["c", "rust"][..]), ("chain-tree", &["c"]), ("rolling-disc", &["c"])]
    {
        let accelerations = evaluated(folder.path(), scene, "forward-dynamics");
        let forces: Vec<f64> = evaluated(folder.path(), scene, "bias").iter().map(|f| -f).collect();
        for language in languages {
            let found = compiled(folder.path(), scene, "force,acceleration", language);
            let n = forces.len();
            assert_eq!(found.len(), 2 * n, "{scene} {language}");
            let size = |list: &[f64]| list.iter().fold(1.0f64, |m, x| m.max(x.abs()));
            for (own, exact) in [(&found[..n], &forces[..]), (&found[n..], &accelerations[..n])] {
                for (a, b) in own.iter().zip(exact) {
                    // Two routes through factors of some tens of freedoms: a thousand roundings.
                    assert!((a - b).abs() < 1e3 * f64::EPSILON * size(exact), "{scene} {language}: {a} {b}");
                }
            }
        }
    }
}

/// Constraints on velocities hold at the start of a disc that rolls; gaps and rates have names; unknown words are refused with what there is.
#[test]
fn every_function_of_a_scene_can_be_written() {
    let folder = tempdir().unwrap();
    let written = |scene: &str, what: &str| dalembert(folder.path(), &["equations", scene, "--what", what]).with(0).out;
    for value in compiled(folder.path(), "rolling-disc", "velocity", "c") {
        assert!(value.abs() < 1e-12, "{value}");
    }
    // The ball is a sphere above the ground: its gap falls with its height.
    let gap = written("bouncing-ball", "gap");
    let line = gap.lines().find(|line| line.starts_with("gap.1 = ")).unwrap_or_default();
    assert!(line.contains("q.ball.3"), "{gap}");
    let told = written("rolling-disc", "acceleration,multiplier,velocity");
    assert!(told.contains("acceleration.disc.velocity.x = ") && told.contains("multiplier."), "{told}");
    let slopes =
        dalembert(folder.path(), &["equations", "oscillator", "--what", "acceleration", "--derivatives"]).with(0).out;
    assert!(slopes.contains("d(acceleration.mass.velocity.x)/d(q.mass.1) = "), "{slopes}");
    let told = dalembert(folder.path(), &["equations", "oscillator", "--what", "weight"]).with(2).err;
    assert!(told.contains("`weight`") && told.contains("multiplier: "), "{told}");
}
