//! A small writer of SVG: elements that close, attributes and text that are escaped, numbers that are short.
//!
//! Reference: W3C, "Scalable Vector Graphics (SVG) 1.1".

use std::fmt::Write;

use super::theme;

/// Where a picture will stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Inside a page, whose style sheet colours it.
    Inline,
    /// In a file of its own, with its own style sheet.
    File,
}

/// The value of an attribute.
#[derive(Clone, Copy, Debug)]
pub enum Value<'a> {
    /// A number, written with at most two decimals.
    Number(f64),
    /// A text, escaped.
    Text(&'a str),
}

impl From<f64> for Value<'_> {
    fn from(x: f64) -> Self {
        Value::Number(x)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(text: &'a str) -> Self {
        Value::Text(text)
    }
}

impl<'a> From<&'a String> for Value<'a> {
    fn from(text: &'a String) -> Self {
        Value::Text(text)
    }
}

/// To which side of its point a text extends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The text starts at the point.
    Start,
    /// The text is centred on the point.
    Middle,
    /// The text ends at the point.
    End,
}

/// A picture being written.
#[derive(Debug)]
pub struct Svg {
    out: String,
    open: Vec<&'static str>,
}

impl Svg {
    /// Starts a picture of this size in px; the label is read out to those who cannot see it.
    pub fn new(form: Form, width: f64, height: f64, label: &str) -> Self {
        let mut svg = Self { out: String::new(), open: Vec::new() };
        let view = format!("0 0 {} {}", short(width), short(height));
        let common = [("viewBox", Value::Text(&view)), ("role", "img".into()), ("aria-label", label.into())];
        match form {
            Form::Inline => svg.open("svg", &common),
            Form::File => {
                let own = [
                    ("xmlns", "http://www.w3.org/2000/svg".into()),
                    ("width", width.into()),
                    ("height", height.into()),
                ];
                svg.open("svg", &[&own[..], &common[..]].concat());
                svg.open("style", &[]);
                svg.out.push_str(&theme::file_style());
                svg.close();
                svg.leaf("rect", &[("class", "surface".into()), ("width", width.into()), ("height", height.into())]);
            }
        }
        svg
    }

    /// Opens an element.
    pub fn open(&mut self, tag: &'static str, attributes: &[(&str, Value<'_>)]) {
        self.tag(tag, attributes);
        self.out.push('>');
        self.open.push(tag);
    }

    /// Closes the element opened last.
    pub fn close(&mut self) {
        if let Some(tag) = self.open.pop() {
            self.out.push_str("</");
            self.out.push_str(tag);
            self.out.push('>');
        }
    }

    /// An element without content.
    pub fn leaf(&mut self, tag: &'static str, attributes: &[(&str, Value<'_>)]) {
        self.tag(tag, attributes);
        self.out.push_str("/>");
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, from: [f64; 2], to: [f64; 2]) {
        self.leaf(
            "line",
            &[
                ("class", class.into()),
                ("x1", from[0].into()),
                ("y1", from[1].into()),
                ("x2", to[0].into()),
                ("y2", to[1].into()),
            ],
        );
    }

    /// A path given by its commands.
    pub fn path(&mut self, class: &str, commands: &str) {
        self.leaf("path", &[("class", class.into()), ("d", commands.into())]);
    }

    /// A line of text.
    pub fn text(&mut self, class: &str, at: [f64; 2], anchor: Anchor, text: &str) {
        let mut attributes = vec![("class", Value::Text(class)), ("x", at[0].into()), ("y", at[1].into())];
        match anchor {
            Anchor::Start => {}
            Anchor::Middle => attributes.push(("text-anchor", "middle".into())),
            Anchor::End => attributes.push(("text-anchor", "end".into())),
        }
        self.open("text", &attributes);
        self.out.push_str(&escape(text));
        self.close();
    }

    /// Closes what is open and returns the text.
    pub fn finish(mut self) -> String {
        while !self.open.is_empty() {
            self.close();
        }
        self.out
    }

    fn tag(&mut self, tag: &str, attributes: &[(&str, Value<'_>)]) {
        self.out.push('<');
        self.out.push_str(tag);
        for (name, value) in attributes {
            let value = match value {
                Value::Number(x) => short(*x),
                Value::Text(text) => escape(text),
            };
            write!(self.out, " {name}=\"{value}\"").expect("writing to a String cannot fail");
        }
    }
}

/// Path commands for a polyline, rounded to a tenth of a px.
pub fn polyline(points: &[[f64; 2]]) -> String {
    let mut out = String::with_capacity(points.len() * 10);
    for (i, point) in points.iter().enumerate() {
        let separator = if i == 0 { "M" } else { " " };
        let [x, y] = point.map(|c| trimmed(c, 1));
        write!(out, "{separator}{x} {y}").expect("writing to a String cannot fail");
    }
    out
}

/// A number with at most two decimals and no trailing zeros.
pub fn short(x: f64) -> String {
    trimmed(x, 2)
}

fn trimmed(x: f64, decimals: usize) -> String {
    if !x.is_finite() {
        return "0".to_owned();
    }
    let mut text = format!("{x:.decimals$}");
    if text.contains('.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    if text == "-0" { "0".to_owned() } else { text }
}

/// Text that is safe inside elements and attributes of XML and HTML.
///
/// Control characters that XML forbids are shown as the replacement character.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' | '\r' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
