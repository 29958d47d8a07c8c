//! A scene text with other contents, in which everything that stays the same keeps its words, its comments and its order.
//!
//! Values know where they are written, so that a change is a change of those bytes alone. New keys come behind the others of their table, new elements and
//! sections to the end of the text. Whatever was made is read again and compared: where a text is written in a way in which that fails, there is no edited text.

use super::limits::Limits;
use super::node::{Key, Node, Table, Value};
use super::source::{Sources, Span};
use super::{INCLUDE, read, write};
use std::ops::Range;

/// The text with the contents of a tree; none if the text has other files in it, is not a scene, or cannot be changed so that it says just that.
pub fn edited(text: &str, wanted: &Table, limits: &Limits) -> Option<String> {
    let tree = |text: &str| {
        let mut sources = Sources::default();
        let file = sources.add("scene", text);
        read::document(&sources, file, limits).ok()
    };
    let written = tree(text)?;
    if written.get(INCLUDE).is_some() {
        return None;
    }
    if written == *wanted {
        return Some(text.to_owned());
    }
    let mut edits = Edits { text, changes: Vec::new(), head: String::new(), tail: Table::default() };
    edits.root(&written, wanted)?;
    let out = edits.done()?;
    (tree(&out)? == *wanted).then_some(out)
}

/// Where the keys of a table are written.
enum Home {
    /// Below a header of its own.
    Header,
    /// Between braces.
    Braces,
    /// Nowhere: its name is a part of longer ones.
    Names,
}

/// Changes of a text, each of some bytes.
struct Edits<'t> {
    text: &'t str,
    changes: Vec<(Range<usize>, String)>,
    /// What comes before everything else.
    head: String,
    /// Tables that come after everything else.
    tail: Table,
}

impl Edits<'_> {
    fn home(&self, span: Span) -> Home {
        match self.text.as_bytes().get(span.start as usize) {
            Some(b'[') => Home::Header,
            Some(b'{') => Home::Braces,
            _ => Home::Names,
        }
    }

    /// The end of the line in which a byte is.
    fn line_end(&self, at: usize) -> usize {
        self.text.get(at..).and_then(|rest| rest.find('\n')).map_or(self.text.len(), |offset| at + offset)
    }

    /// The start of the line in which a byte is.
    fn line_start(&self, at: usize) -> usize {
        self.text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |offset| offset + 1)
    }

    /// The white space before the first word of a line.
    fn margin(&self, at: usize) -> &str {
        let line = self.text.get(self.line_start(at)..).unwrap_or_default();
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    fn root(&mut self, old: &Table, new: &Table) -> Option<()> {
        self.removed(old, new)?;
        for (key, node) in new.iter() {
            match (old.get(&key.name), &node.value) {
                (Some(written), Value::Table(table)) if matches!(self.home(written.span), Home::Names) => {
                    self.section(key, written.as_table()?, table)?;
                }
                (Some(written), _) => self.node(written, node)?,
                (None, Value::Table(_)) => {
                    self.tail.insert(key.clone(), node.clone());
                }
                (None, _) => write::line(&mut self.head, &key.name, node),
            }
        }
        Some(())
    }

    /// A section that is there only in the headers of its elements: new ones come to the end.
    fn section(&mut self, name: &Key, old: &Table, new: &Table) -> Option<()> {
        self.removed(old, new)?;
        let mut added = Table::default();
        for (key, node) in new.iter() {
            match old.get(&key.name) {
                Some(written) => self.node(written, node)?,
                None => {
                    node.as_table()?;
                    added.insert(key.clone(), node.clone());
                }
            }
        }
        if !added.is_empty() {
            self.tail.insert(name.clone(), Node::new(Value::Table(added), name.span));
        }
        Some(())
    }

    fn node(&mut self, old: &Node, new: &Node) -> Option<()> {
        if old == new {
            return Some(());
        }
        match (&old.value, &new.value) {
            (Value::Table(a), Value::Table(b)) if !matches!(self.home(old.span), Home::Braces) || same_names(a, b) => {
                self.table(old.span, a, b)
            }
            (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
                a.iter().zip(b).try_for_each(|(a, b)| self.node(a, b))
            }
            _ => {
                self.changes.push((old.span.range(), write::entry(new)));
                Some(())
            }
        }
    }

    fn table(&mut self, span: Span, old: &Table, new: &Table) -> Option<()> {
        self.removed(old, new)?;
        let mut lines = String::new();
        // The last key that stands below the header itself.
        let own = |key: &Key, node: &Node| {
            let inline = node.as_table().is_none() || matches!(self.home(node.span), Home::Braces);
            let array_of_tables =
                matches!(&node.value, Value::Array(items) if items.first().is_some_and(|i| i.span == node.span));
            (inline && !array_of_tables && node.span.start >= key.span.end).then_some((key.span, node.span))
        };
        let last = old.iter().filter_map(|(key, node)| own(key, node)).max_by_key(|(_, value)| value.end);
        let (line, end) = last.map_or((span, span.end), |(key, value)| (key, value.end));
        let margin = self.margin(line.start as usize).to_owned();
        for (key, node) in new.iter() {
            match old.get(&key.name) {
                Some(written) => self.node(written, node)?,
                None => {
                    lines.push('\n');
                    lines.push_str(&margin);
                    write::line(&mut lines, &key.name, node);
                    lines.truncate(lines.trim_end_matches('\n').len());
                }
            }
        }
        if !lines.is_empty() {
            if !matches!(self.home(span), Home::Header) {
                return None;
            }
            let at = self.line_end(end as usize);
            self.changes.push((at..at, lines));
        }
        Some(())
    }

    /// Takes away what is not wanted any more.
    fn removed(&mut self, old: &Table, new: &Table) -> Option<()> {
        old.iter().filter(|(key, _)| new.get(&key.name).is_none()).try_for_each(|(key, node)| self.remove(key, node))
    }

    fn remove(&mut self, key: &Key, node: &Node) -> Option<()> {
        if let (Value::Table(table), Home::Names) = (&node.value, self.home(node.span)) {
            return table.iter().try_for_each(|(key, node)| self.remove(key, node));
        }
        let start = self.line_start(key.span.start as usize);
        let end = self.line_end(last_byte(node).max(key.span.end) as usize);
        let end = if end < self.text.len() { end + 1 } else { end };
        self.changes.push((start..end, String::new()));
        Some(())
    }

    /// The changed text; none if two changes meet.
    fn done(mut self) -> Option<String> {
        self.changes.sort_by_key(|(range, _)| (range.start, range.end));
        let mut out = self.head;
        let mut at = 0;
        for (range, text) in &self.changes {
            out.push_str(self.text.get(at..range.start)?);
            out.push_str(text);
            at = range.end;
        }
        out.push_str(self.text.get(at..)?);
        if !self.tail.is_empty() {
            if !out.is_empty() && !out.ends_with('\n') {
                out.push('\n');
            }
            out.push('\n');
            out.push_str(&write::to_toml(&self.tail));
        }
        Some(out)
    }
}

fn same_names(a: &Table, b: &Table) -> bool {
    a.len() == b.len() && a.names().zip(b.names()).all(|(a, b)| a == b)
}

/// One past the last byte of a value and of all that is in it.
fn last_byte(node: &Node) -> u32 {
    let inside = match &node.value {
        Value::Array(items) => items.iter().map(last_byte).max(),
        Value::Table(table) => table.iter().map(|(key, node)| last_byte(node).max(key.span.end)).max(),
        _ => None,
    };
    inside.unwrap_or(0).max(node.span.end)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    const TEXT: &str = r#"# A pendulum.
[parameters]
length = 0.5                  # m
angle = { value = 0.3, min = 0, max = 1 }   # from the vertical

[body.bob]                    # the only one
kind = "particle"
mass = 2                      # kg
position = ["= length", 0,    # across
            -1]

[body.bob.markers.top]
at = [0, 0, 1]

# How long.
[run]
until = 1
"#;

    fn tree(text: &str) -> Table {
        let mut sources = Sources::default();
        let file = sources.add("a", text);
        read::document(&sources, file, &Limits::default()).unwrap()
    }

    /// The wanted tree is that of another text; what comes out is that text.
    #[track_caller]
    fn becomes(from: &str, change: impl Fn(&str) -> String) {
        let wanted = change(from);
        assert_eq!(edited(from, &tree(&wanted), &Limits::default()).as_deref(), Some(&*wanted));
    }

    #[test]
    fn only_what_changes_is_written_anew() {
        becomes(TEXT, str::to_owned);
        becomes(TEXT, |text| text.replace("mass = 2 ", "mass = 2.5 "));
        becomes(TEXT, |text| text.replace("value = 0.3", "value = 0.4").replace("until = 1", "until = 3"));
        becomes(TEXT, |text| text.replace("            -1]", "            \"= -2*length\"]"));
        becomes(TEXT, |text| text.replace("at = [0, 0, 1]", "at = [0, 0, 1, 2]"));
        becomes(TEXT, |text| text.replace("{ value = 0.3, min = 0, max = 1 }", "{ value = 0.3 }"));
    }

    #[test]
    fn new_keys_come_behind_those_of_their_table() {
        becomes(TEXT, |text| text.replace("            -1]", "            -1]\nvelocity = [1, 0, 0]\nspin = 3"));
        becomes(TEXT, |text| text.replace("vertical\n", "vertical\nheight = \"= length\"\n"));
        becomes(TEXT, |text| format!("{text}\n[body.second]\nkind = \"particle\"\nmass = 1\n"));
        becomes(TEXT, |text| format!("{text}\n[world]\ngravity = [0, 0, -9.81]\n"));
        becomes("[a]\nx = 1", |text| format!("{text}\ny = 2"));
        becomes("[[repeat]]\nto = 3\n[repeat.body.\"b{i}\"]\nmass = 1\n", |text| {
            text.replace("mass = 1", "mass = 1\nz = 2")
        });
    }

    #[test]
    fn what_is_gone_takes_its_line_along() {
        becomes(TEXT, |text| text.replace("mass = 2                      # kg\n", ""));
        becomes(TEXT, |text| text.replace("[run]\nuntil = 1\n", ""));
        becomes(TEXT, |text| text.replace("[body.bob.markers.top]\nat = [0, 0, 1]\n", ""));
    }

    /// Where the words of a text do not allow it there is no edited text, never a wrong one.
    #[test]
    fn what_cannot_be_edited_is_left_to_others() {
        let none = |from: &str, wanted: &str| assert_eq!(edited(from, &tree(wanted), &Limits::default()), None);
        none("include = \"a.toml\"\n[run]\nuntil = 1", "[run]\nuntil = 1");
        none("[a]\nb.c = 1", "[a]\nb.c = 1\nb.d = 2");
        none("[a]\nx = 1\ny = 2", "[a]\ny = 2\nx = 1");
        none("[[repeat]]\nto = 1", "[[repeat]]\nto = 1\n[[repeat]]\nto = 2");
        none("not a scene", "[a]\nx = 1");
    }
}
