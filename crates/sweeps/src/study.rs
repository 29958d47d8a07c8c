//! The file of a study: which scene, what to vary, what to keep.
//!
//! ```toml
//! [sweep]
//! scene = "bouncing-ball"       # a built-in scene, or a file beside this one
//! samples = 100                 # rows for each point of the grids
//! seed = 1
//!
//! [[vary]]
//! path = "parameters.restitution"
//! uniform = [0.5, 0.9]
//!
//! [[output]]
//! name = "height"
//! channel = "body.ball.position.z"
//! take = "maximum"
//! ```

use crate::error::SweepError;
use crate::files::{Files, read_text};
use crate::output::Output;
use crate::plan::Plan;
use dalembert::scene::{Document, Limits, Overrides, Scene};
use serde::Deserialize;
use std::path::Path;
use toml::Spanned;

/// A sweep as its file says it.
#[derive(Clone, Debug)]
pub struct Study {
    /// The name of the file, for messages.
    pub(crate) file: String,
    /// The text of the file.
    pub text: String,
    /// The path of the scene among its files; that of a built-in one is its name with `.toml`.
    pub scene: String,
    /// What every row is.
    pub plan: Plan,
    /// What is kept of every row.
    pub outputs: Vec<Output>,
    /// Settings for all rows.
    set: Vec<String>,
    /// The scene with all that it includes, as it was when the study was read; and the table of rows.
    pub(crate) files: Files,
}

/// One part of the rows: those whose number is `index` modulo `count`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Which part, from 0.
    pub index: u64,
    /// How many parts.
    pub count: u64,
}

impl Shard {
    /// All rows.
    pub const WHOLE: Self = Self { index: 0, count: 1 };

    /// Reads `i/n`, with i from 1 to n.
    pub fn parse(text: &str) -> Option<Self> {
        let (index, count) = text.split_once('/')?;
        let (index, count): (u64, u64) = (index.trim().parse().ok()?, count.trim().parse().ok()?);
        (1..=count).contains(&index).then(|| Self { index: index - 1, count })
    }

    /// Whether a row belongs to it.
    pub fn has(self, row: u64) -> bool {
        row % self.count == self.index
    }
}

/// The file, as TOML has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    sweep: Sweep,
    #[serde(default)]
    vary: Vec<Spanned<crate::plan::Vary>>,
    #[serde(default)]
    output: Vec<Spanned<Output>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sweep {
    scene: Spanned<String>,
    #[serde(default)]
    set: Vec<String>,
    samples: Option<Spanned<u64>>,
    #[serde(default)]
    sampling: crate::plan::Sampling,
    #[serde(default)]
    seed: u64,
    seed_as: Option<String>,
    table: Option<Spanned<String>>,
}

/// Line and column of a byte, from 1.
fn place(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..byte.min(text.len())];
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
}

impl Study {
    /// Reads a study from a file; other files are found beside it.
    pub fn load(path: &Path) -> Result<Self, SweepError> {
        let text = read_text(path)?;
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        Self::from_text(&path.display().to_string(), &text, &folder)
    }

    /// Reads a study from a text; files are found beside `folder`. All of them are read here: what happens to them later changes
    /// nothing.
    pub fn from_text(file: &str, text: &str, folder: &Path) -> Result<Self, SweepError> {
        Self::read(file, text, Files::beside(folder))
    }

    /// The same with a scene that is no file: `scene` is the name by which the study calls it, and its text, which includes nothing.
    pub fn with_scene(file: &str, text: &str, folder: &Path, scene: (&str, &str)) -> Result<Self, SweepError> {
        Self::read(file, text, Files::beside(folder).with(scene.0, scene.1))
    }

    /// Reads a study whose files are found in `files`.
    pub(crate) fn read(file: &str, text: &str, mut files: Files) -> Result<Self, SweepError> {
        let fault =
            |byte: usize, message: String| SweepError::Study { file: file.to_owned(), at: place(text, byte), message };
        let read: File =
            toml::from_str(text).map_err(|e| fault(e.span().map_or(0, |span| span.start), e.message().to_owned()))?;
        let Sweep { scene, set, samples, sampling, seed, seed_as, table } = read.sweep;
        let start = scene.span().start;
        let scene = files.scene(scene.get_ref()).map_err(|e| fault(start, e))?;
        let rows = match &table {
            None => None,
            Some(name) => {
                let text = files.table(name.get_ref()).map_err(|e| fault(name.span().start, e))?;
                Some(crate::plan::Listed::parse(&text).map_err(|e| fault(name.span().start, e))?)
            }
        };
        let mut vary = Vec::new();
        for entry in read.vary {
            let start = entry.span().start;
            vary.push(entry.into_inner().checked().map_err(|message| fault(start, message))?);
        }
        let start = samples.as_ref().map_or(0, |s| s.span().start);
        let samples = samples.map(Spanned::into_inner);
        let plan = Plan::new(vary, rows, samples, sampling, seed, seed_as).map_err(|message| fault(start, message))?;
        let mut outputs: Vec<Output> = Vec::new();
        for entry in read.output {
            let start = entry.span().start;
            let output = entry.into_inner();
            let twice = outputs.iter().any(|o| o.name == output.name) || plan.names().contains(&output.name);
            if twice || ["row", "seed", "error"].contains(&output.name.as_str()) {
                return Err(fault(start, format!("there is a column `{}` already; choose another name", output.name)));
            }
            output.checked().map_err(|message| fault(start, message))?;
            outputs.push(output);
        }
        if outputs.is_empty() {
            return Err(fault(0, "nothing is kept of the runs: an `[[output]]` is needed".into()));
        }
        Ok(Self { file: file.to_owned(), text: text.to_owned(), scene, plan, outputs, set, files })
    }

    /// The settings of a row, strongest last.
    pub fn settings(&self, row: u64) -> Vec<String> {
        let mut channels: Vec<&str> = self.outputs.iter().filter_map(Output::channel).collect();
        channels.sort_unstable();
        channels.dedup();
        // Only what is kept is recorded; a run needs one channel at least.
        let channels = if channels.is_empty() { vec!["energy.total"] } else { channels };
        let mut settings = vec![format!("output.channels={channels:?}")];
        settings.extend(self.set.iter().cloned());
        settings.extend(self.plan.settings(row));
        settings
    }

    /// The scene of a row.
    pub fn scene(&self, row: u64) -> Result<Scene, String> {
        let overrides: Overrides = self.settings(row).into_iter().collect();
        let document = Document::load(self.files.loader(), &self.scene, &overrides, &Limits::default());
        let mut scene = document.and_then(Scene::from_document).map_err(|e| e.plain())?;
        // Nobody draws a row: its pictures would ask for channels that are not kept.
        scene.panels.clear();
        scene.shapes.clear();
        // Where nothing is taken from channels, one interval of output is enough. Steps do not depend on it.
        if self.outputs.iter().all(|output| output.channel().is_none()) {
            scene.output.every = scene.run.until - scene.run.start;
        }
        Ok(scene)
    }

    /// Whether the scene of the first row can start and has the channels that are kept.
    pub fn check(&self) -> Result<(), SweepError> {
        let scene = self.scene(0).map_err(SweepError::Scene)?;
        let told = |error: dalembert::run::RunError| match error.place(&scene) {
            Some(placed) => SweepError::Scene(placed.plain()),
            None => SweepError::Scene(error.to_string()),
        };
        dalembert::run::check(&scene).map(drop).map_err(told)
    }

    /// A number that tells this study, with all files of its scene and this version, from others.
    pub fn mark(&self) -> u64 {
        let files = self.files.contents();
        let parts = [env!("CARGO_PKG_VERSION").as_bytes(), self.text.as_bytes()].into_iter().chain(files);
        crate::journal::checksum(parts.flat_map(|part| part.iter().copied().chain([0])))
    }
}
