//! Prints a computed scene as TOML that people like to read.
//!
//! Elements become `[section.name]`, everything inside them stays inline, in the order of the source. Numbers are the shortest
//! that read as the same double. Reading what was written gives an equal tree.

use super::node::{Node, Table, Value};
use super::{PARAMETERS, SINGLE_TABLES};

/// Arrays that would be wider are broken into lines.
const WIDTH: usize = 100;

/// The TOML text of a tree whose top level holds tables.
pub fn to_toml(root: &Table) -> String {
    let mut out = String::new();
    // Values before the first header belong to the top level.
    for (key, node) in root.iter().filter(|(_, node)| node.as_table().is_none()) {
        line(&mut out, &key.name, node);
    }
    for (key, node) in root.iter() {
        let Some(table) = node.as_table() else { continue };
        let name = key_text(&key.name);
        if has_headers(&key.name, table) {
            for (inner, element) in table.iter() {
                section(&mut out, &format!("{name}.{}", key_text(&inner.name)), element.as_table());
            }
        } else {
            section(&mut out, &name, Some(table));
        }
    }
    out
}

/// Whether each entry gets a header of its own.
fn has_headers(name: &str, table: &Table) -> bool {
    name != PARAMETERS
        && !SINGLE_TABLES.contains(&name)
        && !table.is_empty()
        && table.iter().all(|(_, node)| node.as_table().is_some())
}

fn section(out: &mut String, header: &str, table: Option<&Table>) {
    if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(&format!("[{header}]\n"));
    for (key, node) in table.into_iter().flat_map(Table::iter) {
        line(out, &key.name, node);
    }
}

/// A key with its value, and the end of the line.
pub(super) fn line(out: &mut String, key: &str, node: &Node) {
    out.push_str(&key_text(key));
    out.push_str(" = ");
    out.push_str(&entry(node));
    out.push('\n');
}

/// A value as it stands behind its key.
pub(super) fn entry(node: &Node) -> String {
    let mut out = String::new();
    match &node.value {
        Value::String(text) if text.contains('\n') => paragraph(&mut out, text),
        _ => value(&mut out, node, 0),
    }
    out
}

fn value(out: &mut String, node: &Node, indent: usize) {
    match &node.value {
        Value::Boolean(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Integer(value) => out.push_str(&value.to_string()),
        Value::Float(value) => out.push_str(&format!("{value:?}")),
        Value::String(text) => quoted(out, text),
        Value::Table(table) => {
            out.push('{');
            for (i, (key, node)) in table.iter().enumerate() {
                out.push_str(if i == 0 { " " } else { ", " });
                out.push_str(&key_text(&key.name));
                out.push_str(" = ");
                value(out, node, indent);
            }
            out.push_str(if table.is_empty() { "}" } else { " }" });
        }
        Value::Array(items) => array(out, items, indent),
    }
}

/// An array on one line if it is short, else filled lines, each item being kept whole.
fn array(out: &mut String, items: &[Node], indent: usize) {
    let start = out.len();
    out.push('[');
    let mut ends = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        value(out, item, indent + 2);
        ends.push(out.len());
    }
    out.push(']');
    if out.len() - start <= WIDTH || items.len() < 2 {
        return;
    }
    let flat = out.split_off(start);
    let margin = " ".repeat(indent + 2);
    out.push_str("[\n");
    let mut width = 0;
    let mut from = 1;
    for end in ends {
        let item = &flat[from..end - start];
        if width > 0 && width + item.len() > WIDTH {
            out.push('\n');
            width = 0;
        }
        out.push_str(if width == 0 { &margin } else { " " });
        out.push_str(item);
        out.push(',');
        width += item.len() + 2;
        from = end - start + 2;
    }
    out.push('\n');
    out.push_str(&" ".repeat(indent));
    out.push(']');
}

fn key_text(key: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(plain) {
        return key.into();
    }
    let mut out = String::new();
    quoted(&mut out, key);
    out
}

fn quoted(out: &mut String, text: &str) {
    out.push('"');
    text.chars().for_each(|c| escaped(out, c));
    out.push('"');
}

fn escaped(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if c.is_control() => out.push_str(&format!("\\u{:04X}", c as u32)),
        c => out.push(c),
    }
}

/// Text of several lines, in three quotes. The line break after the opening quotes is not part of the text.
fn paragraph(out: &mut String, text: &str) {
    out.push_str("\"\"\"\n");
    let mut letters = text.chars().peekable();
    while let Some(c) = letters.next() {
        match c {
            '\n' => out.push('\n'),
            // A quote needs care only before another one or at the end.
            '"' if !matches!(letters.peek(), None | Some('"')) => out.push('"'),
            c => escaped(out, c),
        }
    }
    out.push_str("\"\"\"");
}
