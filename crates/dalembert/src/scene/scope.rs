//! Names with values, and the evaluation of arithmetic written in strings.

use super::error::Problems;
use super::error::{Problem, SceneError};
use super::limits::Limits;
use super::nearest;
use super::source::{Sources, Span};
use crate::expression::{CONSTANTS, Expression, ExpressionError};
use std::collections::HashMap;
use std::ops::Range;

/// The names that arithmetic may use: parameters, and the indices of repeats.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    parameters: HashMap<String, f64>,
    indices: Vec<(String, f64)>,
}

impl Scope {
    pub(super) fn set(&mut self, name: &str, value: f64) {
        self.parameters.insert(name.into(), value);
    }

    pub(super) fn push_index(&mut self, name: &str, value: f64) {
        self.indices.push((name.into(), value));
    }

    pub(super) fn pop_index(&mut self) {
        self.indices.pop();
    }

    pub(super) fn get(&self, name: &str) -> Option<f64> {
        let index = self.indices.iter().rev().find(|(index, _)| index == name).map(|(_, value)| *value);
        index.or_else(|| self.parameters.get(name).copied())
    }

    /// The known name nearest to this one. Names are looked at in order, so that the answer is always the same.
    fn nearest(&self, name: &str) -> Option<String> {
        let mut names: Vec<_> = self.parameters.keys().map(String::as_str).collect();
        names.sort_unstable();
        let indices = self.indices.iter().map(|(index, _)| index.as_str());
        nearest(name, indices.chain(names).chain(CONSTANTS.iter().map(|about| about.name))).map(str::to_owned)
    }
}

/// A piece of a string that holds arithmetic.
#[derive(Clone, Copy)]
pub(super) struct Formula<'t> {
    /// The whole string as decoded, and where it is written.
    pub(super) string: &'t str,
    pub(super) span: Span,
    /// The bytes of the string that hold the arithmetic.
    pub(super) start: usize,
    pub(super) end: usize,
}

impl<'t> Formula<'t> {
    /// The arithmetic of a string that starts with `=`.
    pub(super) fn of(string: &'t str, span: Span) -> Option<Self> {
        string.starts_with('=').then_some(Self { string, span, start: 1, end: string.len() })
    }

    /// Parses it.
    pub(super) fn parse(&self, sources: &Sources, limits: &Limits) -> Result<Expression, Problem> {
        let text = self.string.get(self.start..self.end).unwrap_or_default();
        Expression::parse_within(text, limits.expression_length, limits.expression_depth)
            .map_err(|error| self.problem(sources, &error))
    }

    /// An error of the expression as a problem of the file.
    pub(super) fn problem(&self, sources: &Sources, error: &ExpressionError) -> Problem {
        Problem::new(error.to_string()).at(sources, self.place(sources, error.range.clone())).maybe_help(error.help())
    }

    /// Where bytes of the expression are in the file: exactly if the string is written without escapes, else the whole string.
    pub(super) fn place(&self, sources: &Sources, range: Range<usize>) -> Span {
        let raw = sources.text(self.span);
        let quote = match raw {
            _ if raw.starts_with("\"\"\"") || raw.starts_with("'''") => 3,
            _ if raw.starts_with(['"', '\'']) => 1,
            _ => 0,
        };
        match raw.len().checked_sub(quote).and_then(|end| raw.get(quote..end)) {
            Some(inner) if inner == self.string => {
                let first = self.span.start as usize + quote + self.start;
                Span::new(self.span.file, first + range.start..first + range.end)
            }
            _ => self.span,
        }
    }

    /// Its value. All unknown names are reported.
    pub(super) fn value(&self, sources: &Sources, limits: &Limits, scope: &Scope) -> Result<f64, SceneError> {
        let expression = self.parse(sources, limits)?;
        let mut problems = Problems::default();
        let mut values = Vec::with_capacity(expression.variables().len());
        for variable in expression.variables() {
            match scope.get(&variable.name) {
                Some(value) => values.push(value),
                None => {
                    let near = scope.nearest(&variable.name);
                    problems.push(unknown(sources, &variable.name, self.place(sources, variable.range.clone()), near));
                }
            }
        }
        let values = problems.or(values)?;
        expression.value(&values).map_err(|error| self.problem(sources, &error).into())
    }
}

/// The problem of an unknown name.
pub(super) fn unknown(sources: &Sources, name: &str, span: Span, near: Option<String>) -> Problem {
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => "parameters are defined under [parameters]".into(),
    };
    Problem::new(format!("unknown parameter `{name}`")).at(sources, span).help(help)
}
