//! The folder itself: written whole or not at all.
//!
//! Everything is written into a hidden folder beside the final one and brought to the disk; then it is renamed.
//! A record that is already there is first renamed away, and renamed back should the second rename fail, and only
//! deleted when the new one is in place. A crash between the two renames leaves both, whole, under hidden names;
//! the next [`write()`] to the same place then first puts the old one back.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use dalembert_methods::trajectory::{Event, Trajectory};
use parquet::errors::ParquetError;

use super::{Checkpoint, RecordError, Summary, csv, files, read_parquet, write_parquet};

/// What goes into a run folder.
#[derive(Clone, Copy, Debug)]
pub struct Contents<'a> {
    /// The scene as run.
    pub scene: &'a str,
    /// The summary. The keys `events`, `rows` and `channels` are written from the data below.
    pub summary: &'a Summary,
    /// The recorded channels.
    pub trajectory: &'a Trajectory,
    /// The time at the start of each accepted step and its size, both in s.
    pub steps: &'a [(f64, f64)],
    /// The events in the order of time.
    pub events: &'a [Event],
    /// The text of the animation; without it the folder has no `animation.json`.
    pub animation: Option<&'a str>,
    /// The text of the report; without it the folder has no `report.html`.
    pub report: Option<&'a str>,
    /// Where to continue, for a run that did not reach its end.
    pub checkpoint: Option<&'a Checkpoint>,
}

/// What a run folder holds, read back.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The scene as run.
    pub scene: String,
    /// The summary.
    pub summary: Summary,
    /// The recorded channels.
    pub trajectory: Trajectory,
    /// The time at the start of each accepted step and its size, both in s.
    pub steps: Vec<(f64, f64)>,
    /// The events in the order of time.
    pub events: Vec<Event>,
    /// The text of the animation, if there is one.
    pub animation: Option<String>,
}

/// Writes a run folder, replacing an older record of the same name but nothing else.
///
/// On an error the folder under the final name is what it was before. A checkpoint written while the run went on
/// (see [`running_checkpoint`]) is removed after success.
pub fn write(folder: &Path, contents: &Contents<'_>) -> Result<(), RecordError> {
    let folder = resolved(folder)?;
    let old = sibling(&folder, "old");
    recover(&folder, &old)?;
    let replace = refuse_foreign(&folder)?;
    let parent = parent(&folder);
    fs::create_dir_all(parent).map_err(RecordError::io("create", parent))?;
    let draft = Draft::create(&folder)?;
    fill(&draft.path, contents)?;
    if replace {
        fs::rename(&folder, &old).map_err(RecordError::io("replace", &folder))?;
    }
    if let Err(error) = fs::rename(&draft.path, &folder) {
        if replace {
            fs::rename(&old, &folder).map_err(RecordError::io("put back", &folder))?;
        }
        return Err(RecordError::io("write", &folder)(error));
    }
    draft.keep();
    sync_folder(parent);
    // What follows is tidying up: the record is in place, so a failure here is no failure of the run.
    if replace {
        let _ = fs::remove_dir_all(&old);
    }
    let _ = fs::remove_file(running_checkpoint(&folder));
    Ok(())
}

/// Writes the report of a record again and leaves all else as it is, a checkpoint above all.
pub fn replace_report(folder: &Path, report: &str) -> Result<(), RecordError> {
    let folder = resolved(folder)?;
    let path = folder.join(files::REPORT);
    let draft = Draft::create(&folder)?;
    put(&draft.path, files::REPORT, |out| out.write_all(report.as_bytes()))?;
    fs::rename(draft.path.join(files::REPORT), &path).map_err(RecordError::io("write", &path))
}

/// Whether a record may and can be written to a folder, found out before a long run. Makes the parent folder.
pub fn check_destination(folder: &Path) -> Result<(), RecordError> {
    let folder = resolved(folder)?;
    refuse_foreign(&folder)?;
    let parent = parent(&folder);
    fs::create_dir_all(parent).map_err(RecordError::io("create", parent))?;
    Draft::create(&folder).map(drop)
}

/// Reads a run folder.
pub fn read(folder: &Path) -> Result<Record, RecordError> {
    let text = |name: &str| {
        let path = folder.join(name);
        fs::read_to_string(&path).map_err(RecordError::io("read", &path))
    };
    let path = folder.join(files::SUMMARY);
    let summary = Summary::from_json(&text(files::SUMMARY)?)
        .map_err(|error| RecordError::malformed(&path, error.line(), error.to_string()))?;
    if summary.format != Summary::FORMAT || summary.format_version != Summary::FORMAT_VERSION {
        let (format, version) = (&summary.format, summary.format_version);
        let reason = format!(
            "its format is `{format}` version {version}, this program reads `{}` version {}",
            Summary::FORMAT,
            Summary::FORMAT_VERSION
        );
        return Err(RecordError::malformed(&path, 0, reason));
    }
    Ok(Record {
        scene: text(files::SCENE)?,
        summary,
        trajectory: read_parquet(&folder.join(files::TRAJECTORY_PARQUET))?,
        steps: csv::read_steps(&folder.join(files::STEPS))?,
        events: csv::read_events(&folder.join(files::EVENTS))?,
        animation: if folder.join(files::ANIMATION).exists() { Some(text(files::ANIMATION)?) } else { None },
    })
}

/// Whether this folder is a run record: a summary of ours and no file that is not.
pub fn is_record(folder: &Path) -> bool {
    matches!(foreign_content(folder), Ok(None)) && folder.join(files::SUMMARY).is_file()
}

/// Where a run that goes on keeps its checkpoint: a hidden file beside the final folder.
pub fn running_checkpoint(folder: &Path) -> PathBuf {
    sibling(folder, files::CHECKPOINT)
}

/// The checkpoint to continue from: that of a run that was killed, else that of one that ended early.
pub fn find_checkpoint(folder: &Path) -> Option<PathBuf> {
    [running_checkpoint(folder), folder.join(files::CHECKPOINT)].into_iter().find(|path| path.is_file())
}

/// The folder by a path that has a name and is no link.
fn resolved(folder: &Path) -> Result<PathBuf, RecordError> {
    if folder.file_name().is_none() {
        let reason = "the path does not end in a name".to_owned();
        return Err(RecordError::NotARecord { path: folder.to_owned(), reason });
    }
    match fs::canonicalize(folder) {
        Ok(path) => Ok(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(folder.to_owned()),
        Err(error) => Err(RecordError::io("look at", folder)(error)),
    }
}

/// `.name.suffix` beside the folder.
fn sibling(folder: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(folder.file_name().unwrap_or_default());
    name.push(".");
    name.push(suffix);
    folder.with_file_name(name)
}

fn parent(folder: &Path) -> &Path {
    match folder.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Puts back, or clears away, what a crash between two renames left.
fn recover(folder: &Path, old: &Path) -> Result<(), RecordError> {
    if !is_record(old) {
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(old).map_err(RecordError::io("remove", old))
    } else {
        fs::rename(old, folder).map_err(RecordError::io("put back", folder))
    }
}

/// Whether there is something to replace; an error if it must not be replaced.
fn refuse_foreign(folder: &Path) -> Result<bool, RecordError> {
    match fs::symlink_metadata(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(RecordError::io("look at", folder)(error)),
        Ok(_) => match foreign_content(folder)? {
            None => Ok(true),
            Some(reason) => Err(RecordError::NotARecord { path: folder.to_owned(), reason }),
        },
    }
}

/// Why a folder is not a run record; none if it is one, or is empty.
fn foreign_content(folder: &Path) -> Result<Option<String>, RecordError> {
    if !folder.is_dir() {
        return Ok(Some("it is not a folder".to_owned()));
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(RecordError::io("look at", folder))? {
        names.push(entry.map_err(RecordError::io("look at", folder))?.file_name());
    }
    names.sort();
    if names.is_empty() {
        return Ok(None);
    }
    if let Some(name) = names.iter().find(|name| !files::ALL.iter().any(|known| name == known)) {
        return Ok(Some(format!("it holds `{}`", name.display())));
    }
    let text = fs::read_to_string(folder.join(files::SUMMARY)).unwrap_or_default();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let ours = json.get("format").is_some_and(|format| format == Summary::FORMAT);
    Ok(if ours { None } else { Some(format!("its `{}` is missing or is not ours", files::SUMMARY)) })
}

/// A hidden folder that goes away again unless it is kept.
struct Draft {
    path: PathBuf,
    kept: bool,
}

impl Draft {
    fn create(folder: &Path) -> Result<Self, RecordError> {
        let mut number = 0;
        loop {
            let path = sibling(folder, &format!("writing-{number}"));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path, kept: false }),
                // Another process, or one that was killed, has this name.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => number += 1,
                Err(error) => return Err(RecordError::io("create", &path)(error)),
            }
        }
    }

    fn keep(mut self) {
        self.kept = true;
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if !self.kept {
            // Nothing can be reported from here, and the error that led here is reported anyway.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Writes all files of a record into an empty folder.
fn fill(folder: &Path, contents: &Contents<'_>) -> Result<(), RecordError> {
    let summary = Summary {
        events: contents.events.len() as u64,
        rows: contents.trajectory.len() as u64,
        channels: contents.trajectory.channels().iter().map(Into::into).collect(),
        ..contents.summary.clone()
    };
    put(folder, files::SCENE, |out| out.write_all(contents.scene.as_bytes()))?;
    put(folder, files::SUMMARY, |out| out.write_all(summary.to_json().as_bytes()))?;
    put(folder, files::EVENTS, |out| csv::write_events(out, contents.events))?;
    put(folder, files::STEPS, |out| csv::write_steps(out, contents.steps))?;
    put(folder, files::TRAJECTORY_CSV, |out| csv::write_trajectory_csv(out, contents.trajectory))?;
    put(folder, files::TRAJECTORY_PARQUET, |out| write_parquet(out, contents.trajectory).map_err(said_by_system))?;
    if let Some(animation) = contents.animation {
        put(folder, files::ANIMATION, |out| out.write_all(animation.as_bytes()))?;
    }
    if let Some(report) = contents.report {
        put(folder, files::REPORT, |out| out.write_all(report.as_bytes()))?;
    }
    if let Some(checkpoint) = contents.checkpoint {
        checkpoint.write(&folder.join(files::CHECKPOINT))?;
    }
    sync_folder(folder);
    Ok(())
}

/// Writes one file and brings it to the disk.
fn put(
    folder: &Path,
    name: &str,
    content: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), RecordError> {
    let path = folder.join(name);
    let written = File::create(&path).and_then(|file| {
        let mut out = BufWriter::new(file);
        content(&mut out)?;
        out.into_inner()?.sync_all()
    });
    written.map_err(RecordError::io("write", &path))
}

/// Brings names to the disk where the system can do that; elsewhere a folder cannot be opened, which is fine.
fn sync_folder(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

/// The system's own error inside one of Parquet's, so that a full disk is called a full disk.
fn said_by_system(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => source.downcast().map_or_else(io::Error::other, |source| *source),
        other => io::Error::other(other),
    }
}
