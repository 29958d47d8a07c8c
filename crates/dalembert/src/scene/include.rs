//! Reading a scene with the files it includes, and merging them.
//!
//! An included file is a base that the including file builds on: tables are merged section by section and element by element,
//! key by key; the including file wins, and among included files the later one. An element whose `kind` changes is replaced
//! as a whole. Repeats of all files are kept. A file that is included twice counts once, where it first appears.

use super::error::{Problem, Problems, SceneError};
use super::limits::Limits;
use super::node::{Key, Node, Table, Value};
use super::read;
use super::source::{LoadError, Loader, Sources, Span};
use super::{INCLUDE, REPEAT, nearest};

/// Include chains cannot be longer than this, whatever the limits say, because they are followed recursively.
const LONGEST_CHAIN: usize = 64;

/// Reads a file and everything it includes into one table without `include`.
pub(super) fn load(
    loader: &dyn Loader,
    path: &str,
    sources: &mut Sources,
    limits: &Limits,
) -> Result<Table, SceneError> {
    let path = loader.resolve("", path);
    Reading { loader, sources, limits, chain: Vec::new(), seen: Vec::new() }.file(&path, None)
}

struct Reading<'a> {
    loader: &'a dyn Loader,
    sources: &'a mut Sources,
    limits: &'a Limits,
    /// The files being read, each including the next.
    chain: Vec<String>,
    seen: Vec<String>,
}

impl Reading<'_> {
    /// A problem of a file: at the place that asked for it, or of the scene as a whole.
    fn problem(&self, message: String, asked: Option<Span>) -> Problem {
        let problem = Problem::new(message);
        match asked {
            Some(span) => problem.at(self.sources, span),
            None => problem,
        }
    }

    fn file(&mut self, path: &str, asked: Option<Span>) -> Result<Table, SceneError> {
        if let Some(first) = self.chain.iter().position(|file| file == path) {
            let circle: Vec<_> = self.chain[first..].iter().map(String::as_str).chain([path]).collect();
            let message = format!("files include each other in a circle: {}", circle.join(" → "));
            return Err(self.problem(message, asked).into());
        }
        if self.seen.iter().any(|file| file == path) {
            return Ok(Table::default());
        }
        let depth = self.limits.include_depth.min(LONGEST_CHAIN);
        if self.chain.len() > depth {
            return Err(self.problem(format!("files include each other more than {depth} deep"), asked).into());
        }
        if self.seen.len() >= self.limits.files {
            let message = format!("the scene has more than {} files", self.limits.files);
            return Err(self.problem(message, asked).into());
        }
        let file = self.read(path, asked)?;
        self.seen.push(path.into());
        self.chain.push(path.into());
        let own = read::document(self.sources, file, self.limits)?;
        let table = self.with_includes(own, path)?;
        self.chain.pop();
        Ok(table)
    }

    /// Reads the text of a file into the sources.
    fn read(&mut self, path: &str, asked: Option<Span>) -> Result<u32, SceneError> {
        // Places are 32-bit.
        let limit = self.limits.file_size.min(u32::MAX as usize - 1);
        let bytes = match self.loader.read(path, limit) {
            Ok(bytes) => bytes,
            Err(LoadError::Missing) => {
                let names = self.loader.names();
                let near =
                    nearest(path, names.iter().map(String::as_str)).map(|name| format!("did you mean `{name}`?"));
                return Err(self.problem(format!("there is no file `{path}`"), asked).maybe_help(near).into());
            }
            Err(LoadError::TooLarge(limit)) => {
                let message = format!("the file `{path}` is larger than {limit} bytes");
                return Err(self.problem(message, asked).into());
            }
            Err(LoadError::Refused(reason)) => {
                return Err(self.problem(format!("cannot read the file `{path}`: {reason}"), asked).into());
            }
        };
        match String::from_utf8(bytes) {
            Ok(text) => Ok(self.sources.add(path, text)),
            Err(error) => {
                let at = error.utf8_error().valid_up_to();
                let byte = error.as_bytes().get(at).copied().unwrap_or_default();
                // What is readable up to that byte stays where it is.
                let file = self.sources.add(path, String::from_utf8_lossy(error.as_bytes()));
                let message = format!("the file is not UTF-8: byte 0x{byte:02x} at offset {at}");
                let problem = Problem::new(message).at(self.sources, Span::new(file, at..at + '\u{fffd}'.len_utf8()));
                Err(problem.help("save the file as UTF-8 text").into())
            }
        }
    }

    /// Takes `include` out of a table and puts the table on top of what it includes.
    fn with_includes(&mut self, own: Table, path: &str) -> Result<Table, SceneError> {
        let mut plain = Table::default();
        let mut included = Table::default();
        let mut problems = Problems::default();
        for (key, node) in own {
            if key.name.as_ref() != INCLUDE {
                plain.insert(key, node);
                continue;
            }
            let files = match node.value {
                Value::Array(files) => files,
                _ => vec![node],
            };
            for file in files {
                let Some(name) = file.as_str() else {
                    let message = format!("expected the name of a file, found {}", file.value.describe());
                    let problem = Problem::new(message).at(self.sources, file.span);
                    problems.push(problem.help("write include = [\"common.toml\"]"));
                    continue;
                };
                let target = self.loader.resolve(path, name);
                match self.file(&target, Some(file.span)) {
                    Ok(table) => merge(&mut included, table, 0),
                    Err(error) => problems.extend(error),
                }
            }
        }
        merge(&mut included, plain, 0);
        problems.or(included)
    }
}

/// Sections (0) and elements (1) are merged, values inside elements (2) are replaced.
const DEEPEST: usize = 2;

/// Puts `over` on top of `base`.
pub(super) fn merge(base: &mut Table, over: Table, depth: usize) {
    for (key, node) in over {
        let merged = match base.get_mut(&key.name) {
            None => node,
            Some(old) => on_top(std::mem::replace(&mut old.value, Value::Boolean(false)), node, &key, depth),
        };
        base.insert(key, merged);
    }
}

/// What becomes of `old` when `new` comes on top of it under `key`.
fn on_top(old: Value, new: Node, key: &Key, depth: usize) -> Node {
    let span = new.span;
    match (old, new.value) {
        (Value::Table(mut old), Value::Table(new)) if depth < DEEPEST && same_kind(&old, &new) => {
            merge(&mut old, new, depth + 1);
            Node::new(Value::Table(old), span)
        }
        (Value::Array(mut old), Value::Array(new)) if depth == 0 && key.name.as_ref() == REPEAT => {
            old.extend(new);
            Node::new(Value::Array(old), span)
        }
        (_, value) => Node::new(value, span),
    }
}

fn same_kind(old: &Table, new: &Table) -> bool {
    match (old.get("kind"), new.get("kind")) {
        (Some(old), Some(new)) => old == new,
        _ => true,
    }
}
