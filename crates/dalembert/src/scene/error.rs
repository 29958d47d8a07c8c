//! Problems of a scene, each with its place, its reason and what to try.

use super::source::{Position, SourceFile, Sources, Span};
use miette::{Diagnostic, LabeledSpan, SourceCode};
use std::fmt;
use std::sync::Arc;

/// How many problems are reported at once.
pub const MOST_PROBLEMS: usize = 20;

/// One thing that is wrong in a scene.
#[derive(Clone, Debug)]
pub struct Problem {
    message: String,
    help: Option<String>,
    place: Option<(Arc<SourceFile>, Span)>,
}

impl Problem {
    /// A problem of the whole scene rather than of a place in it.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None, place: None }
    }

    /// The same with its place.
    pub fn at(mut self, sources: &Sources, span: Span) -> Self {
        self.place = sources.file(span.file).map(|file| (file.clone(), span));
        self
    }

    /// The same with what to try.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// The same with what to try, if something is known.
    pub fn maybe_help(mut self, help: Option<impl Into<String>>) -> Self {
        self.help = help.map(Into::into).or(self.help);
        self
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The place, if it has one.
    pub fn span(&self) -> Option<Span> {
        self.place.as_ref().map(|(_, span)| *span)
    }

    /// The name of the file, and line and column in it, if it has a place.
    pub fn place(&self) -> Option<(&str, Position)> {
        self.place.as_ref().map(|(file, span)| (file.name(), file.position(span.start as usize)))
    }

    /// What to try, if something is known.
    pub fn advice(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// One line: `file:line:column: message (help)`.
    pub fn line(&self) -> String {
        let mut line = String::new();
        if let Some((file, span)) = &self.place {
            line = format!("{}:{}: ", file.name(), file.position(span.start as usize));
        }
        line.push_str(&self.message);
        if let Some(help) = &self.help {
            line.push_str(&format!(" ({help})"));
        }
        line
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

impl Diagnostic for Problem {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.place.as_ref().map(|(file, _)| file.as_ref() as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let (file, span) = self.place.as_ref()?;
        let end = (span.end as usize).min(file.text().len());
        let start = (span.start as usize).min(end);
        Some(Box::new(std::iter::once(LabeledSpan::underline((start, end - start)))))
    }
}

impl SourceCode for SourceFile {
    fn read_span<'a>(
        &'a self,
        span: &miette::SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn miette::SpanContents<'a> + 'a>, miette::MietteError> {
        let inner = self.text().read_span(span, before, after)?;
        Ok(Box::new(miette::MietteSpanContents::new_named(
            self.name().to_owned(),
            inner.data(),
            *inner.span(),
            inner.line(),
            inner.column(),
            inner.line_count(),
        )))
    }
}

/// Why a scene cannot be used: at least one problem, in the order found.
///
/// `Display` gives the message alone, as [`miette`] wants it beside its picture of the source; [`SceneError::plain`] gives
/// lines that stand by themselves in a log.
#[derive(Clone, Debug)]
pub struct SceneError {
    problems: Vec<Problem>,
    /// Whether there are more than are kept.
    more: bool,
}

impl SceneError {
    /// The problems, at most [`MOST_PROBLEMS`].
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// One line `file:line:column: message (help)` for each problem.
    pub fn plain(&self) -> String {
        let mut lines: Vec<_> = self.problems.iter().map(Problem::line).collect();
        if self.more {
            lines.push("and more".into());
        }
        lines.join("\n")
    }
}

impl From<Problem> for SceneError {
    fn from(problem: Problem) -> Self {
        Self { problems: vec![problem], more: false }
    }
}

impl fmt::Display for SceneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problems.as_slice() {
            [only] => only.fmt(f),
            many if self.more => write!(f, "more than {} problems in the scene", many.len()),
            many => write!(f, "{} problems in the scene", many.len()),
        }
    }
}

impl std::error::Error for SceneError {}

impl Diagnostic for SceneError {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.only()?.help.as_ref().map(|help| Box::new(help) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.only()?.source_code()
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.only()?.labels()
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        match self.only() {
            Some(_) => None,
            None => Some(Box::new(self.problems.iter().map(|problem| problem as &dyn Diagnostic))),
        }
    }
}

impl SceneError {
    /// The problem, if there is a single one: it is shown by itself.
    fn only(&self) -> Option<&Problem> {
        match self.problems.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }
}

/// Collects problems so that several are reported at once.
#[derive(Clone, Debug, Default)]
pub struct Problems {
    problems: Vec<Problem>,
    more: bool,
}

impl Problems {
    /// Adds one, unless there are [`MOST_PROBLEMS`] already.
    pub fn push(&mut self, problem: Problem) {
        if self.problems.len() < MOST_PROBLEMS {
            self.problems.push(problem);
        } else {
            self.more = true;
        }
    }

    /// Whether looking further is of no use: one more problem was found than can be reported.
    pub fn is_full(&self) -> bool {
        self.more
    }

    /// Adds those of an error.
    pub fn extend(&mut self, error: SceneError) {
        self.more |= error.more;
        for problem in error.problems {
            self.push(problem);
        }
    }

    /// Whether nothing is wrong.
    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// `value` if nothing is wrong, the problems otherwise.
    pub fn or<T>(self, value: T) -> Result<T, SceneError> {
        if self.problems.is_empty() { Ok(value) } else { Err(SceneError { problems: self.problems, more: self.more }) }
    }
}
