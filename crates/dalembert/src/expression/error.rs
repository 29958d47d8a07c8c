//! What can be wrong with an expression, and where.

use super::code::FUNCTIONS;
use std::fmt;
use std::ops::Range;

/// A problem and the bytes of the expression it concerns.
#[derive(Clone, Debug, PartialEq)]
pub struct ExpressionError {
    /// What is wrong.
    pub problem: ExpressionProblem,
    /// Which bytes of the text are meant.
    pub range: Range<usize>,
}

/// What can be wrong with an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum ExpressionProblem {
    /// The text is longer than allowed.
    TooLong {
        /// Bytes found.
        length: usize,
        /// Bytes allowed.
        limit: usize,
    },
    /// Parentheses, signs or calls are nested deeper than allowed.
    TooDeep {
        /// Levels allowed.
        limit: usize,
    },
    /// A character that means nothing here.
    Character {
        /// The character.
        found: char,
        /// What to write instead, where it is known.
        instead: Option<&'static str>,
    },
    /// A number that cannot be read or does not fit a double.
    Number {
        /// The number as written.
        text: String,
    },
    /// Something else had to come here.
    Expected {
        /// What had to come.
        what: &'static str,
        /// What came.
        found: String,
    },
    /// `a < b < c`.
    Chained,
    /// A name that is neither a variable nor a constant.
    UnknownName {
        /// The name.
        name: String,
        /// The nearest known name.
        nearest: Option<String>,
    },
    /// The name of a function without its arguments.
    Uncalled {
        /// The function.
        name: String,
    },
    /// A call of something that is no function.
    UnknownFunction {
        /// The name.
        name: String,
        /// The nearest function.
        nearest: Option<String>,
    },
    /// A function with too few or too many arguments.
    Arguments {
        /// The function.
        name: &'static str,
        /// How it is written.
        usage: &'static str,
        /// How many arguments came.
        found: usize,
    },
    /// The value is not a finite number.
    Undefined {
        /// The operation that has no finite value.
        what: String,
    },
}

impl ExpressionError {
    /// An error at a place.
    pub(crate) fn new(problem: ExpressionProblem, range: Range<usize>) -> Self {
        Self { problem, range }
    }

    /// What to try, where it is known.
    pub fn help(&self) -> Option<String> {
        use ExpressionProblem::*;
        match &self.problem {
            TooLong { .. } | TooDeep { .. } => Some("split it into several parameters".into()),
            Character { instead, .. } => instead.map(|text| format!("write {text}")),
            Chained => Some("write `a < b and b < c`".into()),
            UnknownName { nearest, .. } => nearest.as_ref().map(|name| format!("did you mean `{name}`?")),
            UnknownFunction { nearest: Some(name), .. } => Some(format!("did you mean `{name}`?")),
            UnknownFunction { nearest: None, .. } => {
                let names: Vec<&str> = FUNCTIONS.iter().map(|function| function.name).collect();
                Some(format!("there are {}", names.join(", ")))
            }
            Uncalled { name } => Some(format!("write `{name}(…)`")),
            Arguments { usage, .. } => Some(format!("write `{usage}`")),
            Number { .. } | Expected { .. } | Undefined { .. } => None,
        }
    }
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use ExpressionProblem::*;
        match &self.problem {
            TooLong { length, limit } => write!(f, "the expression has {length} bytes, the limit is {limit}"),
            TooDeep { limit } => write!(f, "the expression is nested deeper than {limit} levels"),
            Character { found, .. } => write!(f, "unexpected character `{}` in an expression", found.escape_debug()),
            Number { text } => write!(f, "`{text}` is not a number that fits a double"),
            Expected { what, found } => write!(f, "expected {what}, found {found}"),
            Chained => write!(f, "comparisons cannot be chained"),
            UnknownName { name, .. } => write!(f, "unknown name `{name}`"),
            Uncalled { name } => write!(f, "`{name}` is a function and needs arguments"),
            UnknownFunction { name, .. } => write!(f, "unknown function `{name}`"),
            Arguments { name, found, .. } => write!(f, "`{name}` cannot take {found} argument{}", plural(*found)),
            Undefined { what } => write!(f, "{what} is not a finite number"),
        }
    }
}

impl std::error::Error for ExpressionError {}

fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
