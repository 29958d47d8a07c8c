//! The files of a study: read once, kept in memory, and sent along when rows are computed elsewhere.
//!
//! A sweep may take days. Files that change meanwhile must not change its later rows, and machines that compute rows need not
//! have them: every row is read from what was on the disk when the study was.

use crate::error::SweepError;
use dalembert::scene::{DiskLoader, Document, Limits, LoadError, Loader, MemoryLoader, Overrides};
use dalembert::scenes;
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The longest file that is read, in bytes.
const LONGEST: u64 = 1 << 24;

/// The text of a file of reasonable length.
pub(crate) fn read_text(path: &Path) -> Result<String, SweepError> {
    let length = std::fs::metadata(path).map_err(|e| SweepError::file(path, e))?.len();
    if length > LONGEST {
        return Err(SweepError::file(path, format!("{length} bytes are more than the {LONGEST} that are read")));
    }
    std::fs::read_to_string(path).map_err(|e| SweepError::file(path, e))
}

/// The files of a study.
#[derive(Clone, Debug)]
pub(crate) struct Files {
    /// The folder in which they are found; none if nothing is read but what is here already.
    folder: Option<PathBuf>,
    known: Known,
    memory: MemoryLoader,
}

/// What was read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Known {
    /// The paths of what the study names.
    paths: BTreeMap<String, String>,
    /// The texts of all files by their paths.
    texts: BTreeMap<String, String>,
}

/// Reads from the disk and remembers what it has read.
struct Noting<'a>(&'a RefCell<BTreeMap<String, Vec<u8>>>);

impl Loader for Noting<'_> {
    fn read(&self, path: &str, limit: usize) -> Result<Vec<u8>, LoadError> {
        let bytes = DiskLoader.read(path, limit)?;
        self.0.borrow_mut().insert(path.to_owned(), bytes.clone());
        Ok(bytes)
    }
}

impl Files {
    /// Files beside a folder.
    pub fn beside(folder: &Path) -> Self {
        Self { folder: Some(folder.to_path_buf()), known: Known::default(), memory: MemoryLoader::new() }
    }

    /// The same with one more text, which the study may name as if it were a file.
    pub fn with(mut self, name: &str, text: &str) -> Self {
        self.known.paths.insert(name.to_owned(), name.to_owned());
        self.add(name.to_owned(), text.to_owned());
        self
    }

    /// These and no others.
    pub fn given(known: Known) -> Self {
        let files = known.texts.iter();
        let memory = files.fold(MemoryLoader::new(), |memory, (path, text)| memory.with(path, text.as_str()));
        Self { folder: None, known, memory }
    }

    /// All that was read.
    pub fn known(&self) -> &Known {
        &self.known
    }

    /// The contents of all files, in the order of their paths. The paths are left out: they may differ from machine to machine.
    pub fn contents(&self) -> impl Iterator<Item = &[u8]> {
        self.known.texts.values().map(String::as_bytes)
    }

    /// Reads them again, from memory.
    pub fn loader(&self) -> &MemoryLoader {
        &self.memory
    }

    fn add(&mut self, path: String, text: String) {
        self.memory = std::mem::take(&mut self.memory).with(path.as_str(), text.as_str());
        self.known.texts.insert(path, text);
    }

    /// Takes in a scene with all that it includes: a built-in one, or a file. Gives its path.
    pub fn scene(&mut self, name: &str) -> Result<String, String> {
        if let Some(path) = self.known.paths.get(name) {
            return Ok(path.clone());
        }
        let path = match scenes::find(name) {
            Some(found) => {
                let path = format!("{}.toml", found.name);
                self.add(path.clone(), found.text.to_owned());
                path
            }
            None => self.scene_file(name)?,
        };
        self.known.paths.insert(name.to_owned(), path.clone());
        Ok(path)
    }

    fn scene_file(&mut self, name: &str) -> Result<String, String> {
        let path = self.find(name).map_err(|reason| format!("no built-in scene, and no file: {reason}"))?;
        let path = DiskLoader.resolve("", &path.display().to_string());
        let read = RefCell::new(BTreeMap::new());
        // Files are read before anything else is done with them. Whatever is wrong with their contents is told when a row is read.
        let _ = Document::load(&Noting(&read), &path, &Overrides::none(), &Limits::default());
        for (path, bytes) in read.into_inner() {
            let text = String::from_utf8(bytes);
            self.add(path.clone(), text.map_err(|_| format!("the file `{path}` is not UTF-8; save it as UTF-8 text"))?);
        }
        Ok(path)
    }

    /// Takes in a table of rows, and gives its text.
    pub fn table(&mut self, name: &str) -> Result<String, String> {
        if let Some(path) = self.known.paths.get(name) {
            return Ok(self.known.texts.get(path).cloned().unwrap_or_default());
        }
        let path = self.find(name)?;
        let text = read_text(&path).map_err(|e| e.to_string())?;
        self.add(path.display().to_string(), text.clone());
        self.known.paths.insert(name.to_owned(), path.display().to_string());
        Ok(text)
    }

    /// The path of a file that can be read.
    fn find(&self, name: &str) -> Result<PathBuf, String> {
        let folder = self.folder.as_ref().ok_or_else(|| format!("`{name}` was not sent along"))?;
        let path = folder.join(name);
        read_text(&path).map_err(|e| e.to_string())?;
        Ok(path)
    }
}
