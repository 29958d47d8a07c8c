//! XML with limits, and numbers with places.

use crate::LeftOut;
use dalembert_trees::{Pose, TreeError};
use roxmltree::{Document, Node, ParsingOptions};
use std::fmt;

/// More elements than this are more likely an attack than a robot.
const MAX_NODES: u32 = 2_000_000;
/// The longest text that is read, in bytes.
const MAX_BYTES: usize = 64 << 20;

/// A place in a text, both counted from 1.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

/// Why a file could not be read, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadError {
    /// Where; none if the whole robot is meant.
    pub place: Option<Place>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.place {
            Some(p) => write!(f, "line {}, column {}: {}", p.line, p.column, self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for ReadError {}

impl ReadError {
    /// An error at an element.
    pub(crate) fn at(node: &Node<'_, '_>, message: impl Into<String>) -> Self {
        Self { place: Some(place(node)), message: message.into() }
    }

    /// An error at an attribute, or at its element if it is missing.
    pub(crate) fn at_attribute(node: &Node<'_, '_>, name: &str, message: impl Into<String>) -> Self {
        let place = match node.attribute_node(name) {
            Some(a) => position(node.document(), a.range_value().start),
            None => place(node),
        };
        Self { place: Some(place), message: message.into() }
    }

    /// An error of the tree, placed at the element of the link or joint it names.
    pub(crate) fn of_tree(error: TreeError, places: &[(String, usize)], document: &Document<'_>) -> Self {
        let name = match &error {
            TreeError::Duplicate { name, .. } | TreeError::Value { name, .. } => Some(name),
            TreeError::MissingParent { link, .. } | TreeError::Cycle { link } => Some(link),
            TreeError::Massless { joint } => Some(joint),
            TreeError::TooMany { .. } => None,
        };
        let place = name.and_then(|n| places.iter().rev().find(|(p, _)| p == n));
        let place = place.map(|&(_, at)| position(document, at));
        Self { place, message: error.to_string() }
    }
}

/// The document of a text, within limits.
pub(crate) fn parse(text: &str) -> Result<Document<'_>, ReadError> {
    if text.len() > MAX_BYTES {
        let message = format!("{} bytes are more than the {MAX_BYTES} that a robot file may have", text.len());
        return Err(ReadError { place: None, message });
    }
    let options = ParsingOptions { allow_dtd: false, nodes_limit: MAX_NODES, ..ParsingOptions::default() };
    Document::parse_with_options(text, options).map_err(|e| {
        let at = e.pos();
        ReadError { place: Some(Place { line: at.row, column: at.col }), message: format!("not valid XML: {e}") }
    })
}

/// The line and column of a byte. It reads the text from the start: for errors, not for lists.
pub(crate) fn position(document: &Document<'_>, at: usize) -> Place {
    let p = document.text_pos_at(at);
    Place { line: p.row, column: p.col }
}

/// Where an element begins.
fn place(node: &Node<'_, '_>) -> Place {
    position(node.document(), node.range().start)
}

/// The byte at which an element begins.
pub(crate) fn start(node: &Node<'_, '_>) -> usize {
    node.range().start
}

/// Things not taken over, by the bytes at which they stand.
pub(crate) type Notes = Vec<(usize, String)>;

/// Notes an element that is not taken over.
pub(crate) fn leave_out(node: &Node<'_, '_>, why: &str, out: &mut Notes) {
    let name = node.attribute("name").map(|n| format!(" `{n}`")).unwrap_or_default();
    out.push((start(node), format!("<{}>{name}: {why}", node.tag_name().name())));
}

/// Finds the lines and columns of all notes in one walk through the text; notes come out in its order.
pub(crate) fn placed(text: &str, mut notes: Notes) -> Vec<LeftOut> {
    notes.sort_by_key(|(at, _)| *at);
    let places = places(text, notes.iter().map(|(at, _)| *at));
    notes.into_iter().zip(places).map(|((_, what), place)| LeftOut { place, what }).collect()
}

/// Lines and columns of bytes in rising order, in one walk through the text.
pub(crate) fn places(text: &str, bytes: impl Iterator<Item = usize>) -> Vec<Place> {
    let (mut line, mut column, mut from) = (1, 1, 0);
    bytes
        .map(|at| {
            for c in text[from..at].chars() {
                (line, column) = if c == '\n' { (line + 1, 1) } else { (line, column + 1) };
            }
            from = at;
            Place { line, column }
        })
        .collect()
}

/// The elements below an element.
pub(crate) fn elements<'a, 'i>(node: &Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> + use<'a, 'i> {
    node.children().filter(Node::is_element)
}

/// The first element of this name below an element.
pub(crate) fn child<'a, 'i>(node: &Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|n| n.has_tag_name(name))
}

/// The attribute, which must be there.
pub(crate) fn required<'a>(node: &Node<'a, '_>, name: &str) -> Result<&'a str, ReadError> {
    node.attribute(name)
        .ok_or_else(|| ReadError::at(node, format!("<{}> needs the attribute `{name}`", node.tag_name().name())))
}

/// All finite numbers of a text, or what is wrong with it.
pub(crate) fn parse_numbers(text: &str) -> Result<Vec<f64>, String> {
    text.split_whitespace()
        .map(|word| match word.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(x),
            Ok(_) => Err(format!("`{word}` is not a finite number")),
            Err(_) => Err(format!("`{word}` is not a number")),
        })
        .collect()
}

/// The N numbers of a text.
pub(crate) fn parse_array<const N: usize>(text: &str) -> Result<[f64; N], String> {
    let list = parse_numbers(text)?;
    let found = list.len();
    list.try_into().map_err(|_| format!("expected {N} numbers, found {found}"))
}

/// The N numbers of an attribute, if it is there.
pub(crate) fn numbers<const N: usize>(node: &Node<'_, '_>, name: &str) -> Result<Option<[f64; N]>, ReadError> {
    match node.attribute(name) {
        None => Ok(None),
        Some(text) => parse_array(text)
            .map(Some)
            .map_err(|e| ReadError::at_attribute(node, name, format!("attribute `{name}`: {e}"))),
    }
}

/// The number of an attribute, if it is there.
pub(crate) fn number(node: &Node<'_, '_>, name: &str) -> Result<Option<f64>, ReadError> {
    Ok(numbers::<1>(node, name)?.map(|[x]| x))
}

/// The number of an attribute that must be there.
pub(crate) fn required_number(node: &Node<'_, '_>, name: &str) -> Result<f64, ReadError> {
    required(node, name)?;
    Ok(number(node, name)?.unwrap_or_default())
}

/// The pose of an `<origin xyz rpy>` below an element, or the identity.
pub(crate) fn origin(node: &Node<'_, '_>) -> Result<Pose, ReadError> {
    match child(node, "origin") {
        None => Ok(Pose::default()),
        Some(o) => {
            let xyz = numbers::<3>(&o, "xyz")?.unwrap_or_default();
            let rpy = numbers::<3>(&o, "rpy")?.unwrap_or_default();
            Ok(Pose::of_roll_pitch_yaw(rpy, xyz))
        }
    }
}

/// The numbers in the text of an element.
pub(crate) fn text_numbers<const N: usize>(node: &Node<'_, '_>) -> Result<[f64; N], ReadError> {
    parse_array(node.text().unwrap_or_default())
        .map_err(|e| ReadError::at(node, format!("<{}>: {e}", node.tag_name().name())))
}

/// The number in the text of the element `name` below an element, if there is one.
pub(crate) fn child_number(node: &Node<'_, '_>, name: &str) -> Result<Option<f64>, ReadError> {
    child(node, name).map(|c| text_numbers::<1>(&c).map(|[x]| x)).transpose()
}
