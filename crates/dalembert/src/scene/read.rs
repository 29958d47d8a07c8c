//! From the text of one file to a [`Node`]: TOML with limits.
//!
//! The TOML reader bounds brackets and dotted keys one by one, not together, and frees its tables recursively. So the depth is
//! measured first, by a scan that follows the TOML lexer over strings, comments and brackets.

use super::error::Problem;
use super::limits::Limits;
use super::node::{Key, Node, Table, Value};
use super::source::{Sources, Span};
use toml::de::{DeTable, DeValue};

/// The TOML reader refuses 80 levels by itself, without saying where.
const DEEPEST: usize = 79;

/// Reads file number `file` as a document.
pub(super) fn document(sources: &Sources, file: u32, limits: &Limits) -> Result<Table, Problem> {
    let text = sources.file(file).map(|file| file.text()).unwrap_or_default();
    let reader = Reader { sources, file, offset: 0, limits };
    reader.check_depth(text, 0)?;
    let parsed = DeTable::parse(text).map_err(|error| reader.syntax(&error))?;
    reader.table(parsed.get_ref())
}

/// Reads `text`, found at byte `offset` of file number `file`, as one value that will sit `depth` levels deep.
pub(super) fn value(
    sources: &Sources,
    file: u32,
    text: &str,
    offset: usize,
    depth: usize,
    limits: &Limits,
) -> Result<Node, Problem> {
    let reader = Reader { sources, file, offset, limits };
    reader.check_depth(text, depth)?;
    let parsed = DeValue::parse(text).map_err(|error| reader.syntax(&error))?;
    reader.node(&parsed)
}

struct Reader<'s> {
    sources: &'s Sources,
    file: u32,
    offset: usize,
    limits: &'s Limits,
}

impl Reader<'_> {
    fn span(&self, range: std::ops::Range<usize>) -> Span {
        Span::new(self.file, self.offset + range.start..self.offset + range.end)
    }

    fn problem(&self, message: impl Into<String>, range: std::ops::Range<usize>) -> Problem {
        Problem::new(message).at(self.sources, self.span(range))
    }

    fn syntax(&self, error: &toml::de::Error) -> Problem {
        self.problem(error.message(), error.span().unwrap_or_default()).help("the file must be valid TOML")
    }

    fn check_depth(&self, text: &str, depth: usize) -> Result<(), Problem> {
        let limit = self.limits.nesting.min(DEEPEST);
        match too_deep(text, limit.saturating_sub(depth)) {
            Some(at) => Err(self.problem(format!("nested deeper than {limit} levels"), at..at + 1)),
            None => Ok(()),
        }
    }

    fn table(&self, parsed: &DeTable<'_>) -> Result<Table, Problem> {
        let mut entries: Vec<_> = parsed.iter().collect();
        entries.sort_by_key(|(key, _)| key.span().start);
        let mut table = Table::default();
        for (key, value) in entries {
            self.check_length(key.get_ref(), "key", key.span())?;
            let key = Key { name: key.get_ref().as_ref().into(), span: self.span(key.span()) };
            table.insert(key, self.node(value)?);
        }
        Ok(table)
    }

    fn node(&self, parsed: &toml::Spanned<DeValue<'_>>) -> Result<Node, Problem> {
        let range = parsed.span();
        let value = match parsed.get_ref() {
            DeValue::Boolean(value) => Value::Boolean(*value),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(value) => Value::Integer(value),
                Err(_) => {
                    let problem = self.problem(format!("the whole number {number} does not fit 64 bits"), range);
                    return Err(problem.help("write it with a decimal point"));
                }
            },
            DeValue::Float(number) => Value::Float(self.float(number.as_str(), range.clone())?),
            DeValue::String(text) => {
                self.check_length(text, "text", range.clone())?;
                Value::String(text.as_ref().into())
            }
            DeValue::Datetime(_) => {
                return Err(self.problem("dates have no meaning in a scene", range).help("put the date in quotes"));
            }
            DeValue::Array(items) => Value::Array(items.iter().map(|item| self.node(item)).collect::<Result<_, _>>()?),
            DeValue::Table(table) => Value::Table(self.table(table)?),
        };
        Ok(Node::new(value, self.span(range)))
    }

    fn float(&self, text: &str, range: std::ops::Range<usize>) -> Result<f64, Problem> {
        match text.parse::<f64>() {
            Ok(value) if value.is_nan() => Err(self.problem("nan is not a number that a scene can use", range)),
            Ok(value) if value.is_finite() || text.contains("inf") => Ok(value),
            _ => Err(self.problem(format!("the number {text} does not fit a double"), range)),
        }
    }

    fn check_length(&self, text: &str, what: &str, range: std::ops::Range<usize>) -> Result<(), Problem> {
        let limit = self.limits.string_length;
        if text.len() > limit {
            return Err(self.problem(format!("this {what} has {} bytes, the limit is {limit}", text.len()), range));
        }
        Ok(())
    }
}

/// The byte at which brackets, dotted keys and the table header together nest deeper than `limit`.
fn too_deep(text: &str, limit: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let rest = |at: usize| bytes.get(at..).unwrap_or_default();
    // Open brackets with the dots seen at each level; the first is the line itself.
    let mut levels = vec![(b'\n', 0)];
    let mut header = 0;
    let mut in_header = false;
    let mut depth = 0;
    let mut line_start = true;
    let mut at = if text.starts_with('\u{feff}') { 3 } else { 0 };
    while let Some(&byte) = bytes.get(at) {
        let top = levels.len() - 1;
        let mut next = at + 1;
        let starts_line = std::mem::replace(&mut line_start, false);
        match byte {
            b' ' | b'\t' => line_start = starts_line,
            b'\n' | b'\r' => {
                line_start = true;
                in_header = false;
                if top == 0 {
                    depth -= std::mem::take(&mut levels[0].1);
                }
            }
            b'#' => next = at + find(rest(at), |b| b == b'\n' || b == b'\r'),
            b'[' if starts_line && top == 0 => {
                in_header = true;
                let width = if bytes.get(at + 1) == Some(&b'[') { 2 } else { 1 };
                next = at + width;
                depth = depth - header + width;
                header = width;
            }
            b'.' if in_header => {
                header += 1;
                depth += 1;
            }
            b']' if in_header => in_header = false,
            b'.' => {
                levels[top].1 += 1;
                depth += 1;
            }
            b'[' | b'{' => {
                levels.push((byte, 0));
                depth += 1;
            }
            b']' | b'}' => {
                // '[' and ']', '{' and '}' are two apart in ASCII.
                if top > 0 && levels[top].0 + 2 == byte {
                    depth -= 1 + levels[top].1;
                    levels.pop();
                }
            }
            b',' => depth -= std::mem::take(&mut levels[top].1),
            b'"' => next = at + basic_string(rest(at)),
            b'\'' => next = at + literal_string(rest(at)),
            b'=' => {}
            _ => next = at + find(rest(at), |b| b".=,[]{} \t#\r\n".contains(&b)),
        }
        if depth > limit {
            return Some(at);
        }
        at = next;
    }
    None
}

/// The first byte after the start that satisfies the condition, or the end.
fn find(bytes: &[u8], condition: impl Fn(u8) -> bool) -> usize {
    bytes.iter().position(|b| condition(*b)).unwrap_or(bytes.len()).max(1)
}

/// The length of the string in double quotes that starts here.
fn basic_string(bytes: &[u8]) -> usize {
    let multiline = bytes.starts_with(b"\"\"\"");
    let mut at = if multiline { 3 } else { 1 };
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += if matches!(bytes.get(at + 1), Some(b'\\' | b'"')) { 2 } else { 1 },
            b'\n' if !multiline => return at,
            b'"' if !multiline => return at + 1,
            b'"' if bytes[at..].starts_with(b"\"\"\"") => return at + closing(&bytes[at..], b'"'),
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The length of the string in single quotes that starts here.
fn literal_string(bytes: &[u8]) -> usize {
    if !bytes.starts_with(b"'''") {
        let end = bytes[1..].iter().position(|b| *b == b'\'' || *b == b'\n');
        return end.map_or(bytes.len(), |end| 1 + end + usize::from(bytes[1 + end] == b'\''));
    }
    let end = bytes[3..].windows(3).position(|window| window == b"'''");
    end.map_or(bytes.len(), |end| 3 + end + closing(&bytes[3 + end..], b'\''))
}

/// Three closing quotes may be followed by two more that belong to the text.
fn closing(bytes: &[u8], quote: u8) -> usize {
    bytes.iter().take(5).take_while(|b| **b == quote).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_adds_headers_dots_and_brackets() {
        assert_eq!(too_deep("[a.b.c]\nd.e = [{ f.g = [1.5, 2.5] }]\n", 9), None);
        assert_eq!(too_deep("[a.b.c]\nd.e = [{ f.g = [1.5, 2.5] }]\n", 8), Some(25));
        assert_eq!(too_deep("[[a]]\n[[a.b]]\nx = 1\n[c]\ny = 1.5\n", 3), None);
        assert_eq!(
            too_deep("a = '[[[[' # [[[[\nb = \"[[\\\"[[\"\nc = '''[[\n[['''''\nd = \"\"\"[\"[\\\"\"\"[\"\"\"", 0),
            None
        );
        assert_eq!(too_deep("a = [1, 2, [3]]", 1), Some(11));
        assert_eq!(too_deep("a.b.c = 1\nd.e.f = 1\n", 2), None);
        assert_eq!(too_deep("a = [ } [ } [ }", 2), Some(12));
    }
}
