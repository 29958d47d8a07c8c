//! Arithmetic as text: `"2*length*sin(30*deg)"`.
//!
//! An [`Expression`] is parsed once into postfix code whose names are already variable slots, and evaluated as often as
//! needed over any [`Real`]: numbers, derivatives or lanes. Evaluation neither allocates nor recurses.
//!
//! Grammar, weakest binding first: `or`, `and`, `not`, comparisons (not chained), `+ -`, `* /`, unary `-`, `^` (right to left, so
//! that −2^2 = −4 and 2^3^2 = 2^9). Truth is 1 and falsehood 0; any number other than 0 counts as true.
//! Constants are listed in [`CONSTANTS`], functions in [`FUNCTIONS`].
//!
//! Two readings of one code: [`Expression::evaluate`] computes both sides of `if` and keeps one, as lanes and derivatives
//! need; [`Expression::value`] does the same for plain numbers and refuses a result that is not finite, naming the place,
//! unless it lies on a side that was not taken.

mod code;
mod display;
mod error;
mod evaluate;
mod lexer;
mod parse;

pub use code::{About, CONSTANTS, Expression, FUNCTIONS, Variable};
pub use error::{ExpressionError, ExpressionProblem};
pub(crate) use lexer::{continues_name, starts_name};

/// The longest expression text accepted unless a caller says otherwise, in bytes.
pub const MAXIMUM_LENGTH: usize = 4096;

/// The deepest nesting of an expression, and the deepest stack its evaluation may need.
pub const MAXIMUM_DEPTH: usize = 64;

#[cfg(test)]
mod tests;
