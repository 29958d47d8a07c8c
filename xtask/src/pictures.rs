//! `cargo xtask pictures`: the pictures of README and book, drawn by the tool itself.

use crate::chores::release_binary;
use crate::shell::{Outcome, command, read, root, run, target, write};
use std::path::{Path, PathBuf};

/// Where the pictures are.
const FOLDER: &str = "docs/src/pictures";
/// Larger pictures have no place among the sources.
const MOST_BYTES: u64 = 300_000;

/// A picture of the pages.
struct Picture {
    /// The built-in scene that is run.
    scene: &'static str,
    /// Another one whose curves are shown beside.
    beside: Option<&'static str>,
    /// The picture among those of its report.
    drawn: &'static str,
    /// The name it gets.
    name: &'static str,
}

const fn alone(scene: &'static str, drawn: &'static str, name: &'static str) -> Picture {
    Picture { scene, beside: None, drawn, name }
}

/// A picture of the leech on the rough wall with the curves of the smooth wall beside.
const fn both(drawn: &'static str, name: &'static str) -> Picture {
    Picture { scene: "leech", beside: Some("leech-frictionless"), drawn, name }
}

const PICTURES: &[Picture] = &[
    alone("double-pendulum", "motion.svg", "double-pendulum.svg"),
    alone("leech", "shapes-body.svg", "leech.svg"),
    alone("leech-frictionless", "shapes-body.svg", "leech-frictionless.svg"),
    both("panel-a.svg", "leech-a.svg"),
    both("panel-b.svg", "leech-b.svg"),
    both("panel-c.svg", "leech-c.svg"),
    alone("leech", "panel-d.svg", "leech-d.svg"),
    alone("swimming", "shapes-stroke.svg", "swimming.svg"),
    alone("swimming", "shapes-oblique.svg", "swimming-oblique.svg"),
    alone("bouncing-ball", "panel-height.svg", "bouncing-ball.svg"),
    alone("block-on-belt", "panel-block.svg", "block-on-belt.svg"),
    alone("bowling-ball", "panel-ball.svg", "bowling-ball.svg"),
    alone("cradle", "panel-balls.svg", "cradle.svg"),
    alone("cradle", "shapes-balls.svg", "cradle-balls.svg"),
];

/// Runs the scenes and draws the pictures.
pub fn draw(_: &[String]) -> Outcome {
    let tool = release_binary()?;
    let folder = target().join("pictures");
    let mut done: Vec<PathBuf> = Vec::new();
    let mut once = |key: PathBuf, work: &dyn Fn() -> Outcome| -> Outcome {
        if done.contains(&key) {
            return Ok(());
        }
        work()?;
        done.push(key);
        Ok(())
    };
    for Picture { scene, beside, drawn, name } in PICTURES {
        let record = |scene: &str| folder.join("runs").join(scene);
        for scene in std::iter::once(*scene).chain(*beside) {
            once(record(scene), &|| run(command(&tool, &["run", scene, "--quiet", "--out"]).arg(record(scene))))?;
        }
        let pictures = folder.join(beside.map_or_else(|| (*scene).to_owned(), |other| format!("{scene}+{other}")));
        once(pictures.clone(), &|| {
            let mut report = command(&tool, &["report", "--svg"]);
            report.arg(&pictures).arg(record(scene));
            if let Some(other) = beside {
                report.arg("--compare").arg(record(other));
            }
            run(&mut report)
        })?;
        write(&root().join(FOLDER).join(name), &read(&pictures.join(drawn))?)?;
    }
    Ok(())
}

/// Every picture is there, is small, and is shown on some page.
pub fn check(pages: &[String], faults: &mut Vec<String>) {
    for Picture { name, .. } in PICTURES {
        let path = Path::new(FOLDER).join(name);
        match std::fs::metadata(root().join(&path)) {
            Err(_) => faults.push(format!("{}: missing; run `cargo xtask pictures`", path.display())),
            Ok(file) if file.len() > MOST_BYTES => {
                faults.push(format!("{}: {} bytes, the limit is {MOST_BYTES}", path.display(), file.len()));
            }
            Ok(_) => {}
        }
        if !pages.iter().any(|page| page.contains(&format!("pictures/{name})"))) {
            faults.push(format!("{}: no page shows it", path.display()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique() {
        for (i, picture) in PICTURES.iter().enumerate() {
            assert!(PICTURES[..i].iter().all(|other| other.name != picture.name), "{}", picture.name);
        }
    }

    #[test]
    fn what_no_page_shows_is_found() {
        let mut faults = Vec::new();
        check(&["![a](pictures/leech.svg)".to_owned()], &mut faults);
        assert!(faults.iter().all(|fault| !fault.contains("leech.svg: no page")), "{faults:?}");
        assert!(faults.iter().any(|fault| fault.contains("swimming.svg: no page")), "{faults:?}");
    }
}
