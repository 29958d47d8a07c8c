//! Where text comes from, and places in it.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A place: bytes `start..end` of one file of a [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The number of the file.
    pub file: u32,
    /// The first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// A place in file number `file`.
    pub(crate) fn new(file: u32, range: std::ops::Range<usize>) -> Self {
        let clip = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self { file, start: clip(range.start), end: clip(range.end.max(range.start)) }
    }

    /// The bytes.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// Line and column of a place, both from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The name and the text of one file.
#[derive(Clone, Debug)]
pub struct SourceFile {
    name: String,
    text: String,
    /// Where each line starts, found when first asked for.
    lines: OnceLock<Vec<usize>>,
}

impl SourceFile {
    /// A file with this name and text.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into(), lines: OnceLock::new() }
    }

    /// The name shown to people.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Line and column of a byte; beyond the end it is the end.
    pub fn position(&self, byte: usize) -> Position {
        let mut byte = byte.min(self.text.len());
        while !self.text.is_char_boundary(byte) {
            byte -= 1;
        }
        let starts = self.lines.get_or_init(|| {
            let after = self.text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1);
            std::iter::once(0).chain(after).collect()
        });
        let line = starts.partition_point(|start| *start <= byte).max(1);
        let column = self.text[starts[line - 1]..byte].chars().count() + 1;
        Position { line, column }
    }
}

/// All files of a scene, numbered in the order they were read.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    files: Vec<Arc<SourceFile>>,
}

impl Sources {
    /// Adds a file and gives its number.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> u32 {
        self.files.push(Arc::new(SourceFile::new(name, text)));
        (self.files.len() - 1) as u32
    }

    /// The file of this number.
    pub fn file(&self, number: u32) -> Option<&Arc<SourceFile>> {
        self.files.get(number as usize)
    }

    /// The files in order.
    pub fn files(&self) -> impl ExactSizeIterator<Item = &SourceFile> {
        self.files.iter().map(Arc::as_ref)
    }

    /// The text at a place; empty if there is no such place.
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file).and_then(|file| file.text.get(span.range())).unwrap_or_default()
    }
}

/// Why a file could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// There is no such file.
    Missing,
    /// The file is larger than the limit, in bytes.
    TooLarge(usize),
    /// The system refused, with its reason.
    Refused(String),
}

/// Reads files for a scene: from disk ([`DiskLoader`]) or from memory ([`MemoryLoader`]).
pub trait Loader {
    /// The bytes of a file, at most `limit`.
    fn read(&self, path: &str, limit: usize) -> Result<Vec<u8>, LoadError>;

    /// The path of a file that `base` includes under the name `relative`. Equal files must give equal paths.
    fn resolve(&self, base: &str, relative: &str) -> String {
        let path = Path::new(base).parent().unwrap_or(Path::new("")).join(relative);
        let mut plain = PathBuf::new();
        for part in path.components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir if matches!(plain.components().next_back(), Some(Component::Normal(_))) => {
                    plain.pop();
                }
                _ => plain.push(part),
            }
        }
        plain.to_string_lossy().into_owned()
    }

    /// Names that could have been meant by a missing file.
    fn names(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Reads from the file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct DiskLoader;

impl Loader for DiskLoader {
    fn read(&self, path: &str, limit: usize) -> Result<Vec<u8>, LoadError> {
        let refused = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => LoadError::Missing,
            _ => LoadError::Refused(error.to_string()),
        };
        let file = std::fs::File::open(path).map_err(refused)?;
        if file.metadata().map_err(refused)?.is_dir() {
            return Err(LoadError::Refused("it is a folder".into()));
        }
        let mut bytes = Vec::new();
        file.take(limit as u64 + 1).read_to_end(&mut bytes).map_err(refused)?;
        if bytes.len() > limit { Err(LoadError::TooLarge(limit)) } else { Ok(bytes) }
    }
}

/// Files held in memory: built-in scenes, tests, fuzzing.
#[derive(Clone, Debug, Default)]
pub struct MemoryLoader {
    files: BTreeMap<String, Vec<u8>>,
}

impl MemoryLoader {
    /// No files yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with one more file.
    pub fn with(mut self, name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Self {
        self.files.insert(name.into(), bytes.into());
        self
    }
}

impl Loader for MemoryLoader {
    fn read(&self, path: &str, limit: usize) -> Result<Vec<u8>, LoadError> {
        match self.files.get(path) {
            None => Err(LoadError::Missing),
            Some(bytes) if bytes.len() > limit => Err(LoadError::TooLarge(limit)),
            Some(bytes) => Ok(bytes.clone()),
        }
    }

    fn names(&self) -> Vec<String> {
        self.files.keys().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters() {
        let file = SourceFile::new("a", "äö = 1\r\nx\n");
        assert_eq!(file.position(0).to_string(), "1:1");
        assert_eq!(file.position(2).to_string(), "1:2");
        assert_eq!(file.position(3).to_string(), "1:2");
        assert_eq!(file.position(10).to_string(), "2:1");
        assert_eq!(file.position(999).to_string(), "3:1");
        assert_eq!(SourceFile::new("a", "").position(5).to_string(), "1:1");
    }

    #[test]
    fn paths_are_made_plain() {
        let loader = MemoryLoader::new();
        assert_eq!(loader.resolve("scenes/a.toml", "../parts/./b.toml"), "parts/b.toml");
        assert_eq!(loader.resolve("a.toml", "b.toml"), "b.toml");
        assert_eq!(loader.resolve("a.toml", "../b.toml"), "../b.toml");
        assert_eq!(loader.resolve("x/a.toml", "/b.toml"), "/b.toml");
    }
}
