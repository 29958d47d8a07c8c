//! Prints an expression back with the fewest parentheses that keep its meaning.

use super::code::{ATOM, Binary, COMPARISON, CONSTANTS, Expression, NOT, Op, POWER, SIGN};
use std::fmt;

/// Printed text and how strongly its outermost operator binds.
type Piece = (String, u8);

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut stack: Vec<Piece> = Vec::new();
        for op in &self.code {
            let piece = match op {
                Op::Number(value) => (number(*value), ATOM),
                Op::Constant(index) => (CONSTANTS[*index].name.into(), ATOM),
                Op::Variable(slot) => (self.variables[*slot].name.clone(), ATOM),
                Op::Negate => (format!("-{}", wrapped(stack.pop(), SIGN)), SIGN),
                Op::Not => (format!("not {}", wrapped(stack.pop(), NOT)), NOT),
                Op::PowerInteger(n) => (format!("{}^{n}", wrapped(stack.pop(), ATOM)), POWER),
                Op::Binary(operator) => binary(*operator, &mut stack),
                Op::Call(function) => {
                    let arguments = stack.split_off(stack.len().saturating_sub(function.arity()));
                    let arguments: Vec<_> = arguments.into_iter().map(|(text, _)| text).collect();
                    (format!("{}({})", function.about().name, arguments.join(", ")), ATOM)
                }
            };
            stack.push(piece);
        }
        match stack.pop() {
            Some((text, _)) => f.write_str(&text),
            None => Ok(()),
        }
    }
}

fn binary(operator: Binary, stack: &mut Vec<Piece>) -> Piece {
    let (symbol, strength) = operator.symbol();
    let right = stack.pop();
    let left = stack.pop();
    // Left operands group by themselves, except in powers and comparisons.
    let (left_needs, right_needs) = match strength {
        POWER => (ATOM, POWER),
        COMPARISON => (COMPARISON + 1, COMPARISON + 1),
        _ => (strength, strength + 1),
    };
    (format!("{} {symbol} {}", wrapped(left, left_needs), wrapped(right, right_needs)), strength)
}

fn wrapped(piece: Option<Piece>, needs: u8) -> String {
    match piece {
        Some((text, strength)) if strength >= needs => text,
        Some((text, _)) => format!("({text})"),
        None => String::new(),
    }
}

/// The shortest text that reads as the same number.
fn number(value: f64) -> String {
    let text = format!("{value:?}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
}
