//! `cargo xtask gallery`: the page of examples, with a picture, the motion and the text of every built-in scene.

use crate::shell::{Outcome, command, output, read, root, run, target, write};
use crate::viewer;
use std::fmt::Write;
use std::path::Path;

/// The beginning of the page.
const TOP: &str = "# Gallery\n\n<!-- Written by `cargo xtask gallery`; changes by hand are lost. -->\n\n\
    All built-in scenes as the [viewer](viewer.md) shows them, each at an instant of its motion with ghosts of others. Each \
    picture leads to the report with the motion, if this book was built after `cargo xtask gallery`; else `dalembert run NAME` makes it, and \
    `dalembert view NAME` shows it live.\n";

/// Runs all scenes, takes their pictures and writes the page.
pub fn build(_: &[String]) -> Outcome {
    let tool = viewer::build_all()?;
    let listed = output(&mut command(&tool, &["list", "scenes"]))?;
    let scenes: Vec<(&str, &str)> = listed.lines().skip(1).filter_map(|line| line.trim().split_once(' ')).collect();
    let runs = target().join("gallery");
    for (name, _) in &scenes {
        println!("{name}");
        run(command(&tool, &["run", name, "--quiet", "--out"]).arg(runs.join(name)))?;
    }
    let pictures = root().join("docs/src/pictures/gallery");
    std::fs::create_dir_all(&pictures).map_err(|error| format!("cannot make {}: {error}", pictures.display()))?;
    viewer::script(&["tests/pictures.mjs", &path(&runs), &path(&pictures)], &tool)?;
    let pages = root().join("docs/src/gallery");
    std::fs::create_dir_all(&pages).map_err(|error| format!("cannot make {}: {error}", pages.display()))?;
    for (name, _) in &scenes {
        let (from, to) = (runs.join(name).join("report.html"), pages.join(format!("{name}.html")));
        std::fs::copy(&from, &to).map_err(|error| format!("cannot copy {}: {error}", from.display()))?;
    }
    write(&root().join("docs/src/gallery.md"), &page(&scenes)?)
}

fn path(path: &Path) -> String {
    path.display().to_string()
}

fn page(scenes: &[(&str, &str)]) -> Outcome<String> {
    let mut page = String::from(TOP);
    for (name, summary) in scenes {
        let text = read(&root().join(format!("crates/dalembert/scenes/{name}.toml")))?;
        let field = |key: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(key)?.trim().strip_prefix('='))?;
            Some(line.trim().trim_matches('"').to_owned())
        };
        let title = field("title").unwrap_or_else(|| (*name).to_owned());
        let shows = field("description").unwrap_or_else(|| summary.trim().to_owned());
        let _ = write!(
            page,
            "\n## {title}\n\n<a href=\"gallery/{name}.html\">\n\n![{title}](pictures/gallery/{name}.png)\n\n</a>\n\n`{name}`: {}. {shows}\n\n\
             <details><summary>The scene</summary>\n\n```toml\n{}\n```\n\n</details>\n",
            summary.trim(),
            text.trim_end()
        );
    }
    Ok(page)
}
