//! Tidiness of the tree: nothing in it may depend on the machine of whoever wrote it.

use crate::shell::{Outcome, command, output, root};
use std::path::PathBuf;

/// Beginnings of paths that belong to one machine. They are written in two parts so that this file passes its own test.
const PRIVATE: &[(&str, &str)] =
    &[("/ho", "me/"), ("/Use", "rs/"), ("/ro", "ot/"), ("/t", "mp/"), ("/wo", "rk/"), (r"C:\", "Users")];

/// Files that keep what a machine found, byte by byte.
const EXEMPT: &str = "fuzz/corpus/";

/// Looks for paths of one machine in every file under version control.
pub fn check() -> Outcome {
    let names: Vec<String> = PRIVATE.iter().map(|(start, end)| format!("{start}{end}")).collect();
    let listed = output(&mut command("git", &["ls-files", "--cached", "--others", "--exclude-standard"]))?;
    let mut faults = Vec::new();
    let mut count = 0;
    for file in listed.lines().filter(|file| !file.starts_with(EXEMPT)) {
        let path: PathBuf = root().join(file);
        // A file that was deleted but not yet committed is still listed.
        let Ok(bytes) = std::fs::read(&path) else { continue };
        count += 1;
        let text = String::from_utf8_lossy(&bytes);
        for (number, line) in text.lines().enumerate() {
            if let Some(found) = names.iter().find(|name| holds_path(line, name)) {
                faults.push(format!("{file}:{}: a path of one machine (`{found}…`)", number + 1));
            }
        }
    }
    if !faults.is_empty() {
        return Err(format!("\n{}", faults.join("\n")));
    }
    println!("{count} files hold no path of one machine");
    Ok(())
}

/// Whether a line holds this beginning of a path, not as the middle of a longer one.
fn holds_path(line: &str, name: &str) -> bool {
    line.match_indices(name).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '~' | '}' | ')'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middles_of_paths_are_fine() {
        let name = ["/t", "mp/"].concat();
        assert!(holds_path(&format!("cd {name}x"), &name));
        assert!(!holds_path(&format!("target{name}x"), &name));
    }
}
