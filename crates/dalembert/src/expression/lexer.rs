//! Splits the text of an expression into tokens.

use super::error::{ExpressionError, ExpressionProblem};
use std::ops::Range;

/// The smallest piece of an expression with a meaning.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Token<'t> {
    Number(f64),
    /// An identifier that is not one of the words `and or not`.
    Name(&'t str),
    /// An operator, a word operator, a parenthesis or a comma.
    Symbol(&'static str),
    End,
}

impl Token<'_> {
    /// How an error calls it.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Number(value) => format!("the number `{value}`"),
            Self::Name(name) => format!("the name `{name}`"),
            Self::Symbol(symbol) => format!("`{symbol}`"),
            Self::End => "the end of the expression".into(),
        }
    }
}

/// Longer symbols come first.
const SYMBOLS: [&str; 14] = ["<=", ">=", "==", "!=", "<", ">", "+", "-", "*", "/", "^", "(", ")", ","];

/// Whether a name may start with this character.
pub(crate) fn starts_name(c: char) -> bool {
    c == '_' || c.is_alphabetic()
}

/// Whether a name may go on with this character.
pub(crate) fn continues_name(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}

/// The token at or after byte `at`, and its bytes.
pub(super) fn next(text: &str, at: usize) -> Result<(Token<'_>, Range<usize>), ExpressionError> {
    let rest = text[at..].trim_start();
    let start = text.len() - rest.len();
    let Some(first) = rest.chars().next() else {
        return Ok((Token::End, start..start));
    };
    if first.is_ascii_digit() || first == '.' {
        return number(rest, start);
    }
    if starts_name(first) {
        let length = rest.find(|c| !continues_name(c)).unwrap_or(rest.len());
        let name = &rest[..length];
        let token = match name {
            "and" => Token::Symbol("and"),
            "or" => Token::Symbol("or"),
            "not" => Token::Symbol("not"),
            _ => Token::Name(name),
        };
        return Ok((token, start..start + length));
    }
    if rest.starts_with("**") {
        return Err(unexpected('*', Some("`^` for a power"), start..start + 2));
    }
    if let Some(symbol) = SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
        return Ok((Token::Symbol(symbol), start..start + symbol.len()));
    }
    let instead = match first {
        '=' => Some("`==` to compare"),
        '&' => Some("`and`"),
        '|' => Some("`or`"),
        '!' => Some("`not`"),
        '%' => Some("`mod(a, b)` for a remainder"),
        '−' | '–' => Some("the plain minus sign `-`"),
        '·' | '×' => Some("`*`"),
        '°' => Some("`*deg`"),
        _ => None,
    };
    Err(unexpected(first, instead, start..start + first.len_utf8()))
}

fn unexpected(found: char, instead: Option<&'static str>, range: Range<usize>) -> ExpressionError {
    ExpressionError::new(ExpressionProblem::Character { found, instead }, range)
}

/// Digits, perhaps a point and digits, perhaps an exponent.
fn number(rest: &str, start: usize) -> Result<(Token<'_>, Range<usize>), ExpressionError> {
    let bytes = rest.as_bytes();
    let digits = |mut i: usize| {
        while bytes.get(i).is_some_and(u8::is_ascii_digit) {
            i += 1;
        }
        i
    };
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent = digits(end + 1 + sign);
        // Without digits the letter is a name: `2*e` needs its sign of multiplication, which the parser will ask for.
        if exponent > end + 1 + sign {
            end = exponent;
        }
    }
    let text = &rest[..end];
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((Token::Number(value), start..start + end)),
        _ => Err(ExpressionError::new(ExpressionProblem::Number { text: text.into() }, start..start + end)),
    }
}
