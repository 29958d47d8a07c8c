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
use crate::sample::hash;
use dalembert::scene::{Draft, Limits, Overrides, Scene};
use serde::Deserialize;
use std::path::Path;
use std::sync::OnceLock;
use toml::Spanned;

/// The most rows that are tried before a sweep is refused.
const TRIED: u64 = 8;

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
    /// The most steps of a row, if there is a limit.
    pub(crate) steps: Option<u64>,
    /// Whether rows are computed side by side where they can be.
    pub lanes: bool,
    /// The scene with all that it includes, as it was when the study was read; and the table of rows.
    pub(crate) files: Files,
    /// The scene as it is written, or what is wrong with it; read when the first row is.
    draft: OnceLock<Result<Draft, String>>,
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
    steps: Option<Spanned<u64>>,
    lanes: Option<bool>,
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
        let Sweep { scene, set, samples, sampling, seed, seed_as, table, steps, lanes } = read.sweep;
        if let Some(limit) = steps.as_ref().filter(|limit| *limit.get_ref() == 0) {
            return Err(fault(limit.span().start, "`steps` is the most steps of a row, 1 or more".into()));
        }
        let steps = steps.map(Spanned::into_inner);
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
        let (file, text, lanes) = (file.to_owned(), text.to_owned(), lanes.unwrap_or(true));
        Ok(Self { file, text, scene, plan, outputs, set, steps, lanes, files, draft: OnceLock::new() })
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
        let limits = Limits::default();
        let draft = || Draft::load(self.files.loader(), &self.scene, &limits).map_err(|e| e.plain());
        let draft = self.draft.get_or_init(draft).clone()?;
        let document = draft.document(&overrides, &limits);
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

    /// Whether any of some rows, spread over all of them, can start and has the channels that are kept: what is wrong in all of them is wrong
    /// with the study, what is wrong in one is told by its row.
    ///
    /// # Errors
    /// [`SweepError::Scene`] with what is wrong, and with the numbers of rows where it differs from row to row.
    pub fn check(&self) -> Result<(), SweepError> {
        let mut faults: Vec<(u64, String)> = Vec::new();
        for row in self.tried() {
            match self.starts(row) {
                Ok(()) => return Ok(()),
                Err(fault) if faults.iter().any(|(_, other)| *other == fault) => {}
                Err(fault) => faults.push((row, fault)),
            }
        }
        let told = match faults.as_slice() {
            [(_, fault)] => fault.clone(),
            several => several.iter().map(|(row, fault)| format!("row {row}: {fault}")).collect::<Vec<_>>().join("\n"),
        };
        Err(SweepError::Scene(told))
    }

    /// The first row, the last, and some between them: one of each stretch of equal length, where in it is left to chance, since what varies
    /// from row to row may do so with any period.
    fn tried(&self) -> impl Iterator<Item = u64> + use<> {
        let rows = self.plan.rows();
        let count = rows.min(TRIED);
        (0..count).map(move |k| {
            let (from, to) = (k * rows / count, (k + 1) * rows / count);
            match k {
                0 => 0,
                _ if k + 1 == count => rows - 1,
                _ => from + hash(0, k, rows) % (to - from),
            }
        })
    }

    /// Whether the scene of a row can start.
    fn starts(&self, row: u64) -> Result<(), String> {
        let scene = self.scene(row)?;
        let told =
            |error: dalembert::run::RunError| error.place(&scene).map_or_else(|| error.to_string(), |e| e.plain());
        dalembert::run::check(&scene).map(drop).map_err(told)
    }

    /// A number that tells this study, with all files of its scene and this version, from others.
    pub fn mark(&self) -> u64 {
        let files = self.files.contents();
        // Rows side by side differ from those one by one in their last digits.
        let lanes: &[u8] = if self.lanes { b"lanes" } else { b"" };
        let parts = [env!("CARGO_PKG_VERSION").as_bytes(), self.text.as_bytes(), lanes].into_iter().chain(files);
        crate::journal::checksum(parts.flat_map(|part| part.iter().copied().chain([0])))
    }
}
