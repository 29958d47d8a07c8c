//! Watching the files of a scene: when one changes, the scene runs again.

use super::stage::Stage;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// How often files are looked at.
const EVERY: Duration = Duration::from_millis(300);

/// Looks for ever.
pub fn watch(stage: &Stage) {
    let mut known = times(&stage.files());
    loop {
        std::thread::sleep(EVERY);
        let files = stage.files();
        let now = times(&files);
        let same_files = now.len() == known.len() && now.iter().zip(&known).all(|(a, b)| a.0 == b.0);
        // Editors replace files: one that is away for a moment has not changed yet.
        let changed = same_files && now.iter().zip(&known).any(|(a, b)| a.1.is_some() && a.1 != b.1);
        if !same_files || changed {
            known = now;
        }
        if changed {
            stage.again();
        }
    }
}

/// The files with the time of their last change and their size.
fn times(files: &[PathBuf]) -> Vec<(PathBuf, Option<(SystemTime, u64)>)> {
    let look = |path: &PathBuf| {
        let data = std::fs::metadata(path).ok()?;
        Some((data.modified().ok()?, data.len()))
    };
    files.iter().map(|path| (path.clone(), look(path))).collect()
}
