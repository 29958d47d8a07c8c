//! Changes on top of what is written: from outside, `body.upper.mass=2`, or in the section `[set]` of a scene, `"body.upper.mass" = 2`.

use super::error::{Problem, Problems, SceneError};
use super::limits::Limits;
use super::node::{Key, Node, Table, Value};
use super::source::{Sources, Span};
use super::{PARAMETERS, SET, SINGLE_TABLES, nearest, read};
use std::ops::Range;

/// Settings that win over the files, each `path=value`, the last one strongest.
///
/// A path names a section, an entry and keys inside it, with `[n]` (from 0) for array elements: `body.upper.position[2]`. Names that
/// are not plain words stand in quotes. The value is TOML, or else plain text: `run.method=radau`. Only existing entries
/// can be set; keys inside an entry may be new, because defaults are not written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides {
    settings: Vec<String>,
}

impl Overrides {
    /// No changes.
    pub fn none() -> Self {
        Self::default()
    }

    /// Adds a setting.
    pub fn push(&mut self, setting: impl Into<String>) {
        self.settings.push(setting.into());
    }
}

impl<S: Into<String>> FromIterator<S> for Overrides {
    fn from_iter<I: IntoIterator<Item = S>>(settings: I) -> Self {
        Self { settings: settings.into_iter().map(Into::into).collect() }
    }
}

/// The name under which settings appear in errors.
const FILE: &str = "--set";

/// A parsed setting.
pub(super) struct Setting {
    steps: Vec<(Step, Span)>,
    value: Node,
}

/// One step of a path.
#[derive(Debug, PartialEq)]
enum Step {
    Key(String),
    Index(usize),
}

impl Setting {
    /// Whether it changes a parameter, and so comes before everything is computed.
    pub(super) fn is_parameter(&self) -> bool {
        matches!(self.steps.first(), Some((Step::Key(name), _)) if name == PARAMETERS)
    }
}

/// Parses all settings; their texts join the sources.
pub(super) fn parse(overrides: &Overrides, sources: &mut Sources, limits: &Limits) -> Result<Vec<Setting>, Problem> {
    overrides.settings.iter().map(|text| parse_one(text, sources, limits)).collect()
}

/// The settings of the section `[set]`, in their order.
pub(super) fn written(set: Node, sources: &Sources, limits: &Limits) -> Result<Vec<Setting>, SceneError> {
    const HELP: &str = "write the whole path in quotes, as in \"body.upper.mass\" = 2";
    let span = set.span;
    let Value::Table(table) = set.value else {
        return Err(Problem::new(format!("`{SET}` must be a table")).at(sources, span).help(HELP).into());
    };
    let mut problems = Problems::default();
    let mut settings = Vec::new();
    for (key, value) in table {
        let text = format!("{}=", key.name);
        let steps = match path(&text) {
            Ok((steps, end)) if end == text.len() && steps.len() > 1 => steps,
            Err((message, _)) => {
                problems.push(Problem::new(message).at(sources, key.span).help(HELP));
                continue;
            }
            _ => {
                let message = format!("`{}` is not the path of a value", key.name);
                problems.push(Problem::new(message).at(sources, key.span).help(HELP));
                continue;
            }
        };
        if steps.len() > limits.nesting {
            let message = format!("nested deeper than {} levels", limits.nesting);
            problems.push(Problem::new(message).at(sources, key.span));
            continue;
        }
        settings.push(Setting { steps: steps.into_iter().map(|(step, _)| (step, key.span)).collect(), value });
    }
    problems.or(settings)
}

fn parse_one(text: &str, sources: &mut Sources, limits: &Limits) -> Result<Setting, Problem> {
    let file = sources.add(FILE, text);
    let problem = |sources: &Sources, message: String, range: Range<usize>| {
        Problem::new(message).at(sources, Span::new(file, range)).help("write path=value, as in body.upper.mass=2")
    };
    if text.len() > limits.string_length {
        return Err(problem(sources, format!("this setting is longer than {} bytes", limits.string_length), 0..0));
    }
    let (steps, start) = path(text).map_err(|(message, range)| problem(sources, message, range))?;
    if steps.len() > limits.nesting {
        return Err(problem(sources, format!("nested deeper than {} levels", limits.nesting), 0..start));
    }
    let raw = &text[start..];
    let offset = start + raw.len() - raw.trim_start().len();
    let raw = raw.trim();
    if raw.is_empty() {
        return Err(problem(sources, "the value is missing".into(), start..text.len()));
    }
    let value = match read::value(sources, file, raw, offset, steps.len(), limits) {
        Ok(node) => node,
        // What is plainly meant as TOML must be TOML; the rest is text.
        Err(problem) if raw.starts_with(['[', '{', '"', '\'']) => return Err(problem),
        Err(_) => Node::new(Value::String(raw.into()), Span::new(file, offset..offset + raw.len())),
    };
    let steps = steps.into_iter().map(|(step, range)| (step, Span::new(file, range))).collect();
    Ok(Setting { steps, value })
}

type Steps = Vec<(Step, Range<usize>)>;

/// Splits a setting into the steps of its path and the start of its value.
fn path(text: &str) -> Result<(Steps, usize), (String, Range<usize>)> {
    let mut steps = Steps::new();
    let mut at = 0;
    loop {
        let rest = &text[at..];
        if let Some(quote) = rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            let Some(length) = rest[1..].find(quote) else {
                return Err(("the quote is not closed".into(), at..text.len()));
            };
            steps.push((Step::Key(rest[1..1 + length].into()), at..at + length + 2));
            at += length + 2;
        } else {
            let length = rest.find(['.', '[', '=', ']', '"', '\'']).unwrap_or(rest.len());
            let name = rest[..length].trim();
            if name.is_empty() {
                return Err(("a name is missing in the path".into(), at..at + length));
            }
            steps.push((Step::Key(name.into()), at..at + length));
            at += length;
        }
        while text[at..].starts_with('[') {
            let Some(length) = text[at..].find(']') else {
                return Err(("the bracket is not closed".into(), at..text.len()));
            };
            let range = at..at + length + 1;
            let index = text[at + 1..at + length].trim();
            match index.parse() {
                Ok(index) => steps.push((Step::Index(index), range)),
                Err(_) => return Err((format!("`{index}` is not the number of an array element"), range)),
            }
            at += length + 1;
        }
        let rest = text[at..].trim_start();
        let start = text.len() - rest.len();
        match rest.chars().next() {
            Some('.') => at = start + 1,
            Some('=') => return Ok((steps, start + 1)),
            Some(_) => return Err(("expected `.`, `[` or `=`".into(), start..text.len())),
            None => return Err(("there is no `=` and no value".into(), 0..text.len())),
        }
    }
}

/// Makes one change.
pub(super) fn apply(root: &mut Table, setting: Setting, sources: &Sources) -> Result<(), Problem> {
    let mut steps = setting.steps.into_iter();
    let Some((Step::Key(section), span)) = steps.next() else {
        return Err(Problem::new("a setting must start with a section").at(sources, setting.value.span));
    };
    let single = SINGLE_TABLES.contains(&section.as_str());
    if single && root.get(&section).is_none() {
        let key = Key { name: section.as_str().into(), span };
        root.insert(key, Node::new(Value::Table(Table::default()), span));
    }
    if root.get(&section).is_none() {
        let near = nearest(&section, root.names().chain(SINGLE_TABLES));
        return Err(missing(sources, &format!("there is no section `{section}`"), span, near));
    }
    let Some(mut node) = root.get_mut(&section) else { return Ok(()) };
    let is_parameter = section == PARAMETERS;
    let mut path = section;
    let mut depth = 0;
    for (step, span) in steps.by_ref() {
        depth += 1;
        let last = depth > 1 || single;
        let outer = std::mem::take(&mut path);
        node = match (step, &mut node.value) {
            (Step::Key(name), Value::Table(table)) => {
                path = format!("{outer}.{name}");
                let exists = table.get(&name).is_some();
                if !exists && !last {
                    let near = nearest(&name, table.names());
                    return Err(missing(sources, &format!("there is no `{path}`"), span, near));
                }
                if !exists {
                    // A new key holds an empty table, which a longer path fills and the value replaces.
                    let key = Key { name: name.as_str().into(), span };
                    table.insert(key, Node::new(Value::Table(Table::default()), span));
                }
                let Some(inner) = table.get_mut(&name) else { return Ok(()) };
                inner
            }
            (Step::Index(index), Value::Array(items)) => {
                path = format!("{outer}[{index}]");
                let length = items.len();
                let Some(inner) = items.get_mut(index) else {
                    let message = format!("there is no `{path}`: the array has {length} elements, counted from 0");
                    return Err(Problem::new(message).at(sources, span));
                };
                inner
            }
            (Step::Key(name), _) => {
                return Err(
                    Problem::new(format!("there is no `{outer}.{name}`: `{outer}` is not a table")).at(sources, span)
                );
            }
            (Step::Index(index), _) => {
                let message = format!("there is no `{outer}[{index}]`: `{outer}` is not an array");
                return Err(Problem::new(message).at(sources, span));
            }
        };
    }
    if depth == 0 {
        let problem = Problem::new(format!("`{path}` is a section and cannot be set as a whole")).at(sources, span);
        return Err(problem.help("name an entry in it"));
    }
    // A plain value for an adjustable parameter keeps its range and unit.
    if is_parameter
        && depth == 1
        && setting.value.as_table().is_none()
        && let Value::Table(table) = &mut node.value
    {
        table.insert(Key { name: "value".into(), span: setting.value.span }, setting.value);
    } else {
        *node = setting.value;
    }
    Ok(())
}

fn missing(sources: &Sources, message: &str, span: Span, near: Option<&str>) -> Problem {
    Problem::new(message).at(sources, span).maybe_help(near.map(|name| format!("did you mean `{name}`?")))
}
