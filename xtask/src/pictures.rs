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
    /// A setting that differs from the scene, or nothing.
    setting: &'static str,
    /// Another one whose curves are shown beside.
    beside: Option<&'static str>,
    /// The picture among those of its report.
    drawn: &'static str,
    /// The name it gets.
    name: &'static str,
}

const fn alone(scene: &'static str, drawn: &'static str, name: &'static str) -> Picture {
    Picture { scene, setting: "", beside: None, drawn, name }
}

/// The same with a setting that differs from the scene.
const fn set(scene: &'static str, setting: &'static str, drawn: &'static str, name: &'static str) -> Picture {
    Picture { scene, setting, beside: None, drawn, name }
}

/// A picture with the curves of another scene beside.
const fn against(scene: &'static str, other: &'static str, drawn: &'static str, name: &'static str) -> Picture {
    Picture { scene, setting: "", beside: Some(other), drawn, name }
}

/// A picture of the leech on the rough wall with the curves of the smooth wall beside.
const fn both(drawn: &'static str, name: &'static str) -> Picture {
    against("leech", "leech-frictionless", drawn, name)
}

/// The higher viscosity of the soft cylinder.
const VISCOUS: &str = "parameters.viscosity=5000";

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
    alone("cube-slide", "shapes-frames.svg", "soft-3a.svg"),
    alone("cube-rock", "shapes-frames.svg", "soft-3e.svg"),
    against("cube-rock", "cube-slide", "panel-a.svg", "soft-3b.svg"),
    against("cube-rock", "cube-slide", "panel-b.svg", "soft-3c.svg"),
    against("cube-rock", "cube-slide", "panel-angle.svg", "soft-3d.svg"),
    alone("cylinder-roll", "shapes-frames.svg", "soft-4a.svg"),
    against("cylinder-roll", "cylinder-bounce", "panel-height.svg", "soft-4b.svg"),
    against("cylinder-roll", "cylinder-bounce", "panel-way.svg", "soft-4c.svg"),
    against("cylinder-roll", "cylinder-bounce", "panel-spin.svg", "soft-4d.svg"),
    alone("stick-ceiling", "shapes-frames.svg", "soft-5a.svg"),
    alone("stick-wall", "shapes-frames.svg", "soft-5b.svg"),
    alone("soft-bounce", "shapes-frames.svg", "soft-6a.svg"),
    alone("soft-bounce", "panel-distance.svg", "soft-6b.svg"),
    alone("soft-bounce", "panel-stretch.svg", "soft-6c.svg"),
    set("soft-bounce", VISCOUS, "panel-distance.svg", "soft-6d.svg"),
    set("soft-bounce", VISCOUS, "panel-stretch.svg", "soft-6e.svg"),
    alone("soft-roll", "shapes-frames.svg", "soft-7a.svg"),
    alone("soft-roll", "panel-way.svg", "soft-7b.svg"),
    alone("soft-roll", "panel-stretch.svg", "soft-7c.svg"),
    alone("jumper", "shapes-frames.svg", "soft-8a.svg"),
    alone("jumper", "panel-distance.svg", "soft-8d.svg"),
    alone("jumper", "panel-elongation.svg", "soft-8e.svg"),
    alone("crawler", "shapes-frames.svg", "soft-9a.svg"),
    alone("crawler-frictionless", "shapes-frames.svg", "soft-9b.svg"),
    alone("crawler", "panel-relaxed.svg", "soft-9c.svg"),
    alone("crawler", "panel-way.svg", "soft-9d.svg"),
    alone("soft-ball", "shapes-frames.svg", "soft-ball.svg"),
    alone("soft-cube", "shapes-frames.svg", "soft-cube.svg"),
    alone("kepler", "shapes-orbit.svg", "kepler-orbit.svg"),
    alone("kepler", "panel-frequency.svg", "kepler-frequency.svg"),
    alone("kepler", "panel-energy.svg", "kepler-energy.svg"),
    alone("heavy-top", "shapes-head.svg", "heavy-top-head.svg"),
    alone("heavy-top", "panel-height.svg", "heavy-top-height.svg"),
    alone("heavy-top", "panel-energy.svg", "heavy-top-energy.svg"),
];

/// Runs the scenes, or those that are named, and draws the pictures.
pub fn draw(scenes: &[String]) -> Outcome {
    if let Some(unknown) = scenes.iter().find(|name| PICTURES.iter().all(|picture| picture.scene != *name)) {
        return Err(format!("no picture shows the scene `{unknown}`"));
    }
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
    let wanted = |picture: &&Picture| scenes.is_empty() || scenes.iter().any(|name| name == picture.scene);
    for Picture { scene, setting, beside, drawn, name } in PICTURES.iter().filter(wanted) {
        let record = |scene: &str, setting: &str| folder.join("runs").join(format!("{scene}{setting}"));
        for (scene, setting) in std::iter::once((*scene, *setting)).chain(beside.map(|other| (other, ""))) {
            let record = record(scene, setting);
            once(record.clone(), &|| {
                let mut tool = command(&tool, &["run", scene, "--quiet", "--out"]);
                tool.arg(&record);
                if !setting.is_empty() {
                    tool.args(["--set", setting]);
                }
                run(&mut tool)
            })?;
        }
        let pictures = folder.join(format!("{scene}{setting}+{}", beside.unwrap_or_default()));
        once(pictures.clone(), &|| {
            let mut report = command(&tool, &["report", "--svg"]);
            report.arg(&pictures).arg(record(scene, setting));
            if let Some(other) = beside {
                report.arg("--compare").arg(record(other, ""));
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
