//! The book and the root documents: links, pictures, the table of modules, and scenes among the code samples.
//!
//! A sample that is a whole scene is fenced as `toml scene`; `dalembert check` must accept it. One fenced as `toml bad` must be
//! refused with exit code 2. Samples fenced as `toml part NAME` are, one after the other, the whole text of the built-in scene NAME.
//! Plain `toml` samples are fragments.

use crate::pictures;
use crate::shell::{Outcome, command, files, installed, read, root, run, target};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// Documents at the root of the project.
const DOCUMENTS: &[&str] = &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"];

/// Crates by the word before `::` in the table of modules, with their source folders.
const CRATES: &[(&str, &str)] = &[
    ("methods", "crates/methods/src"),
    ("graph", "crates/graph/src"),
    ("analysis", "crates/analysis/src"),
    ("optimise", "crates/optimise/src"),
    ("dalembert", "crates/dalembert/src"),
    ("trees", "crates/trees/src"),
    ("robots", "crates/robots/src"),
    ("control", "crates/control/src"),
    ("sweeps", "crates/sweeps/src"),
    ("cli", "crates/cli/src"),
];

/// Builds the book.
pub fn build(_: &[String]) -> Outcome {
    check_pages()?;
    let mdbook = installed("mdbook", "mdbook")?;
    run(&mut command(mdbook, &["build", "docs"]))?;
    println!("open docs/book/index.html");
    Ok(())
}

/// All checks, samples included.
pub fn check() -> Outcome {
    check_pages()?;
    check_samples()
}

/// Links and tables of all documents.
fn check_pages() -> Outcome {
    let mut faults = Vec::new();
    let pages = pages();
    let texts = pages.iter().map(|page| read(page)).collect::<Outcome<Vec<String>>>()?;
    pictures::check(&texts, &mut faults);
    for (page, text) in pages.iter().zip(&texts) {
        check_links(page, text, &mut faults);
        check_parts(page, text, &mut faults)?;
    }
    check_summary(&read(&root().join("docs/src/SUMMARY.md"))?, &mut faults);
    check_modules(&read(&root().join("ARCHITECTURE.md"))?, &mut faults)?;
    if !faults.is_empty() {
        return Err(format!("\n{}", faults.join("\n")));
    }
    println!("links and pictures of {} documents and the table of modules are right", pages.len());
    Ok(())
}

fn pages() -> Vec<PathBuf> {
    let mut pages: Vec<PathBuf> = DOCUMENTS.iter().map(|name| root().join(name)).collect();
    pages.extend(files(&root().join("docs/src"), ".md"));
    pages
}

fn short(page: &Path) -> String {
    page.strip_prefix(root()).unwrap_or(page).display().to_string()
}

/// Every relative link leads to a file.
fn check_links(page: &Path, text: &str, faults: &mut Vec<String>) {
    for target in links(text) {
        let file = target.split('#').next().unwrap_or_default();
        if file.is_empty() || file.contains("://") {
            continue;
        }
        if !page.parent().unwrap_or(page).join(file).exists() {
            faults.push(format!("{}: the link to `{file}` leads nowhere", short(page)));
        }
    }
}

/// The targets of `[text](target)` and `![text](target)` outside code.
fn links(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        // Every second piece of a line split at backticks is code.
        for prose in line.split('`').step_by(2) {
            for (at, _) in prose.match_indices("](") {
                let rest = &prose[at + 2..];
                found.extend(rest.find(')').map(|end| &rest[..end]));
            }
        }
    }
    // A link text that is code ends in the piece after it: `](` then stands at the beginning of a piece, which is found above.
    found
}

/// A scene explained piece by piece is the built-in scene, but for empty lines.
fn check_parts(page: &Path, text: &str, faults: &mut Vec<String>) -> Outcome {
    for (scene, pieces) in parts(text) {
        let file = root().join("crates/dalembert/scenes").join(format!("{scene}.toml"));
        let whole = read(&file)?;
        let lines = |text: &'_ str| -> Vec<String> {
            text.lines().map(str::trim_end).filter(|line| !line.is_empty()).map(str::to_owned).collect()
        };
        let (shown, real) = (lines(&pieces), lines(&whole));
        if shown != real {
            let first = shown.iter().zip(&real).find(|(a, b)| a != b);
            let what = first.map_or_else(
                || format!("{} lines for {}", shown.len(), real.len()),
                |(a, b)| format!("`{a}` for `{b}`"),
            );
            faults.push(format!("{}: the pieces are not the scene `{scene}`: {what}", short(page)));
        }
    }
    Ok(())
}

/// The scenes explained piece by piece: name and text.
fn parts(text: &str) -> BTreeMap<&str, String> {
    let mut found: BTreeMap<&str, String> = BTreeMap::new();
    let (mut fenced, mut scene) = (false, None);
    for line in text.lines() {
        if let Some(info) = line.strip_prefix("```") {
            fenced = !fenced;
            scene = info.strip_prefix("toml part ").filter(|_| fenced);
        } else if let Some(name) = scene {
            let text = found.entry(name).or_default();
            text.push_str(line);
            text.push('\n');
        }
    }
    found
}

/// Every page is in the table of contents.
fn check_summary(summary: &str, faults: &mut Vec<String>) {
    let folder = root().join("docs/src");
    let listed: BTreeSet<PathBuf> = links(summary).iter().map(|link| folder.join(link)).collect();
    for page in files(&folder, ".md") {
        if !page.ends_with("SUMMARY.md") && !listed.contains(&page) {
            faults.push(format!("docs/src/SUMMARY.md: `{}` is not listed", short(&page)));
        }
    }
}

/// Every row of the table of modules names a module, and every public module has a row.
fn check_modules(architecture: &str, faults: &mut Vec<String>) -> Outcome {
    let rows = architecture.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next());
    let named: BTreeSet<&str> = rows.filter(|name| name.contains("::")).collect();
    for name in &named {
        let Some((_, folder)) = CRATES.iter().find(|(krate, _)| name.split("::").next() == Some(krate)) else {
            faults.push(format!("ARCHITECTURE.md: `{name}` names no crate"));
            continue;
        };
        let path = root().join(folder).join(name.split("::").skip(1).collect::<Vec<_>>().join("/"));
        if !path.with_extension("rs").exists() && !path.join("mod.rs").exists() {
            faults.push(format!("ARCHITECTURE.md: there is no module `{name}`"));
        }
    }
    if named.is_empty() {
        faults.push("ARCHITECTURE.md: the table of modules is missing".into());
    }
    for (krate, folder) in CRATES.iter().filter(|(krate, _)| *krate != "cli") {
        let library = read(&root().join(folder).join("lib.rs"))?;
        for module in library.lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')) {
            let name = format!("{krate}::{module}");
            if !named.contains(name.as_str()) {
                faults.push(format!("ARCHITECTURE.md: the module `{name}` has no row"));
            }
        }
    }
    Ok(())
}

/// Gives every scene among the samples to `dalembert check`.
fn check_samples() -> Outcome {
    let tool = target().join("debug").join(format!("dalembert{}", std::env::consts::EXE_SUFFIX));
    let folder = target().join("book-scenes");
    std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let mut faults = Vec::new();
    let mut count = 0;
    for page in pages() {
        for (line, good, scene) in samples(&read(&page)?) {
            count += 1;
            let stem = page.file_stem().unwrap_or_default().to_string_lossy();
            let file = folder.join(format!("{stem}-{line}.toml"));
            std::fs::write(&file, scene).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
            let mut check = command(&tool, &["check"]);
            let checked = check.arg(&file).stdout(Stdio::null()).output();
            let checked = checked.map_err(|error| format!("cannot start `dalembert check`: {error}"))?;
            if checked.status.code() != Some(if good { 0 } else { 2 }) {
                let wanted = if good { "is not accepted" } else { "is not refused with exit code 2" };
                let said = String::from_utf8_lossy(&checked.stderr);
                faults.push(format!("{}:{line}: this scene {wanted} ({})\n{said}", short(&page), checked.status));
            }
        }
    }
    if !faults.is_empty() {
        return Err(format!("\n{}", faults.join("\n")));
    }
    println!("{count} scenes among the samples were checked");
    Ok(())
}

/// The scenes among the samples of a page: the line of the fence, whether it is a good one, and the text.
fn samples(text: &str) -> Vec<(usize, bool, String)> {
    let mut found: Vec<(usize, bool, String)> = Vec::new();
    let (mut fenced, mut scene) = (false, false);
    for (number, line) in text.lines().enumerate() {
        if let Some(info) = line.strip_prefix("```") {
            fenced = !fenced;
            scene = fenced && matches!(info, "toml scene" | "toml bad");
            if scene {
                found.push((number + 1, info == "toml scene", String::new()));
            }
        } else if scene && let Some((_, _, sample)) = found.last_mut() {
            sample.push_str(line);
            sample.push('\n');
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_code() {
        let text = "[a](b.md) `[c](d.md)` and [`e`](f.md#g)\n```\n[h](i.md)\n```\n![j](k.svg)";
        assert_eq!(links(text), ["b.md", "f.md#g", "k.svg"]);
    }

    #[test]
    fn parts_of_a_scene_follow_each_other() {
        let text = "```toml part a\nb = 1\n```\nprose\n```toml\nc = 2\n```\n```toml part a\nd = 3\n```\n";
        assert_eq!(parts(text), BTreeMap::from([("a", "b = 1\nd = 3\n".to_owned())]));
        let mut faults = Vec::new();
        check_parts(Path::new("page.md"), "```toml part leech\n[scene]\n```\n", &mut faults).unwrap_or_default();
        assert_eq!(faults.len(), 1, "{faults:?}");
    }

    #[test]
    fn scenes_are_told_from_fragments() {
        let text = "```toml\na = 1\n```\n```toml scene\nb = 2\n```\n```toml bad\nc = 3\n```\n";
        assert_eq!(samples(text), [(4, true, "b = 2\n".to_owned()), (7, false, "c = 3\n".to_owned())]);
    }
}
