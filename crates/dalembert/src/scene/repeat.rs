//! Many elements from one template.
//!
//! ```toml
//! [[repeat]]
//! index = "i"
//! from = 1
//! to = "= n"
//! [repeat.body."link{i}"]
//! kind = "rigid"
//! position = ["= (i - 0.5)*length", 0, 0]
//! ```
//!
//! In a template, keys and strings may hold `{arithmetic}`; whole numbers are printed as whole numbers, and `{{` and `}}` are
//! braces. Repeats may hold repeats. How much will be made is computed before anything is made.

use super::error::{Problem, Problems, SceneError};
use super::include::merge;
use super::limits::Limits;
use super::node::{Key, Node, Table, Value};
use super::parameters::check_name;
use super::scope::{Formula, Scope};
use super::source::{Sources, Span};
use super::{INCLUDE, PARAMETERS, REPEAT, SINGLE_TABLES, nearest};
use std::collections::HashSet;
use std::sync::Arc;

/// Indices stay far below the whole numbers that doubles cannot tell apart.
const LARGEST_INDEX: f64 = 1e15;

/// Repeats inside repeats are expanded recursively, so this holds whatever the limits say.
const DEEPEST: usize = 32;

/// Makes what `repeats` ask for and adds it to the sections of `root`.
pub(super) fn expand(
    repeats: &[Node],
    root: &mut Table,
    scope: &mut Scope,
    sources: &Sources,
    limits: &Limits,
) -> Result<(), SceneError> {
    let mut expansion = Expansion {
        root,
        scope,
        sources,
        limits,
        entries: limits.entries,
        size: limits.expanded_size,
        made: HashSet::new(),
    };
    let mut problems = Problems::default();
    for repeat in repeats {
        if let Err(error) = expansion.repeat(repeat, 1) {
            problems.extend(error);
        }
    }
    problems.or(())
}

struct Expansion<'a> {
    root: &'a mut Table,
    scope: &'a mut Scope,
    sources: &'a Sources,
    limits: &'a Limits,
    /// Elements that may still be made.
    entries: usize,
    /// Bytes that may still be filled.
    size: usize,
    /// What was made, by section and name.
    made: HashSet<(Arc<str>, Arc<str>)>,
}

/// A repeat with its keys told apart.
struct Plan<'r> {
    index: &'r str,
    from: i64,
    to: i64,
    templates: Vec<(&'r Key, &'r Key, &'r Node)>,
    inner: &'r [Node],
}

impl Expansion<'_> {
    fn problem(&self, message: impl Into<String>, span: Span) -> Problem {
        Problem::new(message).at(self.sources, span)
    }

    fn repeat(&mut self, node: &Node, depth: usize) -> Result<(), SceneError> {
        let deepest = self.limits.repeat_depth.min(DEEPEST);
        if depth > deepest {
            return Err(self.problem(format!("repeats are nested deeper than {deepest} levels"), node.span).into());
        }
        let plan = self.plan(node)?;
        self.charge(&plan, node.span)?;
        for index in plan.from..=plan.to {
            self.scope.push_index(plan.index, index as f64);
            let done = self.once(&plan, depth);
            self.scope.pop_index();
            done?;
        }
        Ok(())
    }

    /// Reads a repeat.
    fn plan<'r>(&self, node: &'r Node) -> Result<Plan<'r>, SceneError> {
        let Some(table) = node.as_table() else {
            let problem = self.problem(format!("expected a table, found {}", node.value.describe()), node.span);
            return Err(problem.help("write [[repeat]]").into());
        };
        let mut plan = Plan { index: "i", from: 1, to: 0, templates: Vec::new(), inner: &[] };
        let mut ends = false;
        let mut problems = Problems::default();
        for (key, value) in table.iter() {
            let read = match (key.name.as_ref(), &value.value) {
                ("index", Value::String(name)) => self.index(name, value.span).map(|()| plan.index = name),
                ("from", _) => self.bound(value).map(|bound| plan.from = bound),
                ("to", _) => self.bound(value).map(|bound| {
                    ends = true;
                    plan.to = bound;
                }),
                (REPEAT, Value::Array(inner)) => {
                    plan.inner = inner;
                    Ok(())
                }
                (_, Value::Table(templates)) => self
                    .templates(key, templates)
                    .map(|()| plan.templates.extend(templates.iter().map(|(name, t)| (key, name, t)))),
                ("index", other) => {
                    Err(self.problem(format!("expected a name, found {}", other.describe()), value.span).into())
                }
                (name, other) => {
                    let near = nearest(name, ["index", "from", "to"]).map(|near| format!("did you mean `{near}`?"));
                    let message = format!(
                        "unknown key `{name}` in a repeat: expected a section of templates, found {}",
                        other.describe()
                    );
                    Err(self.problem(message, key.span).maybe_help(near).into())
                }
            };
            if let Err(error) = read {
                problems.extend(error);
            }
        }
        if !ends && problems.is_empty() {
            problems.push(
                self.problem("missing key `to` in a repeat", node.span).help("say where the index ends: to = 10"),
            );
        }
        problems.or(plan)
    }

    fn index(&self, name: &str, span: Span) -> Result<(), SceneError> {
        check_name(name).map_err(|message| self.problem(message, span))?;
        if self.scope.get(name).is_some() {
            let problem = self.problem(format!("the index `{name}` is already the name of a parameter or index"), span);
            return Err(problem.help("choose another name").into());
        }
        Ok(())
    }

    fn bound(&self, node: &Node) -> Result<i64, SceneError> {
        let number = match node.as_str().and_then(|text| Formula::of(text, node.span)) {
            Some(formula) => Some(formula.value(self.sources, self.limits, self.scope)?),
            None => node.as_number(),
        };
        match number {
            Some(number) if number.fract() == 0.0 && number.abs() <= LARGEST_INDEX => Ok(number as i64),
            Some(number) if number.fract() == 0.0 => {
                let message = format!("the index must lie within ±{LARGEST_INDEX:?}, found {number:?}");
                Err(self.problem(message, node.span).into())
            }
            Some(number) => Err(self.problem(format!("expected a whole number, found {number:?}"), node.span).into()),
            None => {
                let message = format!("expected a whole number, found {}", node.value.describe());
                Err(self.problem(message, node.span).into())
            }
        }
    }

    /// Whether a section may be repeated, and all its templates are tables.
    fn templates(&self, section: &Key, templates: &Table) -> Result<(), SceneError> {
        let name = section.name.as_ref();
        if SINGLE_TABLES.contains(&name) || [PARAMETERS, INCLUDE, REPEAT].contains(&name) {
            let problem = self.problem(format!("`{name}` cannot be repeated"), section.span);
            return Err(match name {
                REPEAT => problem.help("write [[repeat.repeat]]").into(),
                _ => problem.into(),
            });
        }
        let mut problems = Problems::default();
        for (key, node) in templates.iter().filter(|(_, node)| node.as_table().is_none()) {
            let message =
                format!("expected a table as the template of `{name}.{}`, found {}", key.name, node.value.describe());
            problems.push(self.problem(message, node.span));
        }
        problems.or(())
    }

    /// Takes what a repeat will need from what is left, before it makes anything. An empty round counts as an element.
    fn charge(&mut self, plan: &Plan<'_>, span: Span) -> Result<(), SceneError> {
        let rounds = usize::try_from((plan.to - plan.from).saturating_add(1).max(0)).unwrap_or(usize::MAX);
        let entries = rounds.saturating_mul(plan.templates.len().max(1));
        let bytes: usize = plan.templates.iter().map(|(_, name, node)| name.name.len() + node.cost()).sum();
        let bytes = rounds.saturating_mul(bytes);
        let times = format!("repeating {rounds} times");
        match (self.entries.checked_sub(entries), self.size.checked_sub(bytes)) {
            (Some(entries), Some(size)) => {
                self.entries = entries;
                self.size = size;
                Ok(())
            }
            (None, _) => {
                let message = format!("{times} makes more than {} elements in the scene", self.limits.entries);
                Err(self.problem(message, span).help("check `from` and `to`").into())
            }
            (_, None) => {
                let message = format!("{times} fills more than {} bytes", self.limits.expanded_size);
                Err(self.problem(message, span).help("check `from` and `to`").into())
            }
        }
    }

    /// One round.
    fn once(&mut self, plan: &Plan<'_>, depth: usize) -> Result<(), SceneError> {
        for (section, name, template) in &plan.templates {
            let name = self.key(name)?;
            let element = self.node(template)?;
            self.add(section, name, element)?;
        }
        for inner in plan.inner {
            self.repeat(inner, depth + 1)?;
        }
        Ok(())
    }

    fn add(&mut self, section: &Key, name: Key, element: Node) -> Result<(), SceneError> {
        if self.root.get(&section.name).is_none() {
            self.root.insert((*section).clone(), Node::new(Value::Table(Table::default()), section.span));
        }
        let (sources, root) = (self.sources, &mut *self.root);
        let Some(table) = root.get_mut(&section.name).and_then(Node::as_table_mut) else {
            let message = format!("`{}` is not a section of tables", section.name);
            return Err(Problem::new(message).at(sources, section.span).into());
        };
        let again = !self.made.insert((section.name.clone(), name.name.clone()));
        match table.entry(&name.name) {
            // An element of another file that includes this repeat is put on top of what the repeat makes.
            Some((key, written)) if !again && key.span.file != name.span.file => {
                let key = key.clone();
                let mut both = Table::default();
                let written = written.clone();
                both.insert(name, element);
                let mut over = Table::default();
                over.insert(key, written);
                merge(&mut both, over, 1);
                for (key, node) in both {
                    table.insert(key, node);
                }
                Ok(())
            }
            Some(_) => {
                let message = format!("`{}.{}` is made more than once", section.name, name.name);
                let help = "put the index into the name, as in \"link{i}\"";
                Err(Problem::new(message).at(sources, name.span).help(help).into())
            }
            None => {
                table.insert(name, element);
                Ok(())
            }
        }
    }

    /// A copy of a template with everything filled in.
    fn node(&self, template: &Node) -> Result<Node, SceneError> {
        let value = match &template.value {
            Value::String(text) => {
                let filled = self.fill(text, template.span)?;
                let text = filled.as_ref().unwrap_or(text);
                match Formula::of(text, template.span) {
                    Some(formula) => Value::from_number(formula.value(self.sources, self.limits, self.scope)?),
                    None => Value::String(text.clone()),
                }
            }
            Value::Array(items) => Value::Array(items.iter().map(|item| self.node(item)).collect::<Result<_, _>>()?),
            Value::Table(table) => {
                let mut filled = Table::default();
                for (key, node) in table.iter() {
                    let key = self.key(key)?;
                    let (span, name) = (key.span, key.name.clone());
                    if filled.insert(key, self.node(node)?).is_some() {
                        return Err(self.problem(format!("the key `{name}` is made more than once"), span).into());
                    }
                }
                Value::Table(filled)
            }
            plain => plain.clone(),
        };
        Ok(Node::new(value, template.span))
    }

    fn key(&self, key: &Key) -> Result<Key, SceneError> {
        Ok(match self.fill(&key.name, key.span)? {
            Some(name) => Key { name: name.into(), span: key.span },
            None => key.clone(),
        })
    }

    /// The string with its braces filled in, or nothing if it has none.
    fn fill(&self, text: &str, span: Span) -> Result<Option<String>, SceneError> {
        if !text.contains(['{', '}']) {
            return Ok(None);
        }
        let whole = Formula { string: text, span, start: 0, end: 0 };
        let mut filled = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(offset) = text[at..].find(['{', '}']) {
            let brace = at + offset;
            filled.push_str(&text[at..brace]);
            let rest = &text[brace..];
            if rest.starts_with("{{") || rest.starts_with("}}") {
                filled.push_str(&rest[..1]);
                at = brace + 2;
                continue;
            }
            let close = rest.find('}').filter(|close| *close > 0);
            let Some(close) = close else {
                let problem = self.problem("a brace without its partner", whole.place(self.sources, brace..brace + 1));
                return Err(problem.help("write `{{` or `}}` for a brace itself").into());
            };
            let formula = Formula { string: text, span, start: brace + 1, end: brace + close };
            filled.push_str(&print(formula.value(self.sources, self.limits, self.scope)?));
            at = brace + close + 1;
        }
        filled.push_str(&text[at..]);
        let limit = self.limits.string_length;
        if filled.len() > limit {
            return Err(self.problem(format!("this text grows beyond {limit} bytes"), span).into());
        }
        Ok(Some(filled))
    }
}

/// A number in a text: whole numbers without a point.
fn print(number: f64) -> String {
    match Value::from_number(number) {
        Value::Integer(whole) => whole.to_string(),
        _ => format!("{number:?}"),
    }
}
