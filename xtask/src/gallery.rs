//! `cargo xtask gallery`: the page of examples, with a picture, the motion and the text of every built-in scene.

use crate::chores::release_binary;
use crate::shell::{Outcome, command, output, read, root, run, target, write};
use crate::viewer;
use std::fmt::Write;
use std::path::Path;

/// The beginning of the page.
const TOP: &str = "# Gallery\n\n<!-- Written by `cargo xtask gallery`; changes by hand are lost. -->\n\n\
    All built-in scenes as the [viewer](viewer.md) shows them, each at an instant of its motion with ghosts of others. Each \
    picture leads to the report with the motion, if this book was built after `cargo xtask gallery`; else `dalembert run NAME` makes it, and \
    `dalembert view NAME` shows it live.\n";

/// Runs all scenes, takes their pictures and writes the page; with the word `page` it writes the page alone, with the pictures there are.
pub fn build(arguments: &[String]) -> Outcome {
    let alone = match arguments {
        [] => false,
        [word] if word == "page" => true,
        _ => return Err("expected nothing or `page`".into()),
    };
    let tool = if alone { release_binary()? } else { viewer::build_all()? };
    let listed = output(&mut command(&tool, &["list", "scenes"]))?;
    let scenes: Vec<(&str, &str)> = listed.lines().skip(1).filter_map(|line| line.trim().split_once(' ')).collect();
    if alone {
        return write(&root().join("docs/src/gallery.md"), &page(&scenes)?);
    }
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
        let title = field(&text, "title").unwrap_or_else(|| (*name).to_owned());
        let shows = field(&text, "description").unwrap_or_default();
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

/// A text of the table `[scene]`, in one line.
fn field(text: &str, key: &str) -> Option<String> {
    let start = text.find(&format!("\n{key} = \""))? + key.len() + 4;
    let rest = &text[start..];
    let mark = if rest.starts_with("\"\"\"") { "\"\"\"" } else { "\"" };
    let inner = &rest[mark.len()..];
    Some(inner[..inner.find(mark)?].split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_from_one_line_or_more() {
        let text = "[scene]\ntitle = \"A \"\ndescription = \"\"\"\nb\nc.\"\"\"\n";
        assert_eq!(field(text, "title").as_deref(), Some("A"));
        assert_eq!(field(text, "description").as_deref(), Some("b c."));
        assert_eq!(field(text, "other"), None);
    }
}
