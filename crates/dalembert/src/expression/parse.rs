//! From text to postfix code: precedence climbing with bounded recursion.

use super::code::{Binary, COMPARISON, CONSTANTS, Expression, FUNCTIONS, Function, NOT, Op, POWER, SIGN, Variable};
use super::error::{ExpressionError, ExpressionProblem};
use super::lexer::{self, Token};
use super::{MAXIMUM_DEPTH, MAXIMUM_LENGTH, nearest};
use std::collections::HashMap;
use std::ops::Range;

/// Whole exponents up to this magnitude are powers by multiplication.
const LARGEST_INTEGER_POWER: f64 = 64.0;

impl Expression {
    /// Parses an expression with any variables; their slots follow the order of first use, see [`Expression::variables`].
    pub fn parse(text: &str) -> Result<Self, ExpressionError> {
        Self::parse_within(text, MAXIMUM_LENGTH, MAXIMUM_DEPTH)
    }

    /// Like [`Expression::parse`], with limits on bytes and nesting; the depth cannot exceed [`MAXIMUM_DEPTH`].
    pub fn parse_within(text: &str, length: usize, depth: usize) -> Result<Self, ExpressionError> {
        parse(text, length, depth, Names::Free)
    }

    /// Parses an expression in given variables, for example `&["t"]`; slot i is `names[i]`. Other names are an error.
    pub fn parse_in(text: &str, names: &[&str]) -> Result<Self, ExpressionError> {
        parse(text, MAXIMUM_LENGTH, MAXIMUM_DEPTH, Names::Given(names))
    }

    /// The variables in the order of their slots.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// The same expression with a number in place of the variable in a slot; the slots of the others stay.
    pub fn with(&self, slot: usize, value: f64) -> Self {
        let mut out = Self { code: Vec::new(), ranges: Vec::new(), ..self.clone() };
        for (&op, &range) in self.code.iter().zip(&self.ranges) {
            let ops: &[Op] = match op {
                Op::Variable(found) if found == slot && value.is_sign_negative() => &[Op::Number(-value), Op::Negate],
                Op::Variable(found) if found == slot => &[Op::Number(value)],
                _ => &[op],
            };
            out.code.extend_from_slice(ops);
            out.ranges.extend(ops.iter().map(|_| range));
        }
        out
    }
}

/// Which variables an expression may use.
#[derive(Clone, Copy)]
enum Names<'n> {
    Free,
    Given(&'n [&'n str]),
}

fn parse(text: &str, length: usize, depth: usize, names: Names<'_>) -> Result<Expression, ExpressionError> {
    if text.len() > length.min(u32::MAX as usize) {
        return Err(ExpressionError::new(ExpressionProblem::TooLong { length: text.len(), limit: length }, 0..0));
    }
    let (token, range) = lexer::next(text, 0)?;
    let mut parser = Parser {
        text,
        token,
        range,
        end: 0,
        depth: 0,
        limit: depth.min(MAXIMUM_DEPTH),
        names,
        slots: HashMap::new(),
        held: 0,
        out: Expression { code: Vec::new(), ranges: Vec::new(), variables: Vec::new(), stack: 0 },
    };
    if let Names::Given(names) = names {
        for (slot, name) in names.iter().enumerate() {
            parser.slots.insert((*name).into(), slot);
            parser.out.variables.push(Variable { name: (*name).into(), range: 0..0 });
        }
    }
    parser.expression(0)?;
    match parser.token {
        Token::End => Ok(parser.out),
        _ => Err(parser.expected("an operator")),
    }
}

struct Parser<'t> {
    text: &'t str,
    /// The token to be read next, and its bytes.
    token: Token<'t>,
    range: Range<usize>,
    /// Where the last token that was read ends.
    end: usize,
    depth: usize,
    limit: usize,
    names: Names<'t>,
    slots: HashMap<String, usize>,
    /// Numbers on the stack after the code so far.
    held: usize,
    out: Expression,
}

impl Parser<'_> {
    fn advance(&mut self) -> Result<(), ExpressionError> {
        self.end = self.range.end;
        (self.token, self.range) = lexer::next(self.text, self.range.end)?;
        Ok(())
    }

    fn expected(&self, what: &'static str) -> ExpressionError {
        let problem = ExpressionProblem::Expected { what, found: self.token.describe() };
        ExpressionError::new(problem, self.range.clone())
    }

    fn expect(&mut self, symbol: &'static str, what: &'static str) -> Result<(), ExpressionError> {
        if self.token != Token::Symbol(symbol) {
            return Err(self.expected(what));
        }
        self.advance()
    }

    /// Appends an operation that takes `takes` numbers and leaves one.
    fn emit(&mut self, op: Op, takes: usize, range: Range<usize>) -> Result<(), ExpressionError> {
        self.held = self.held + 1 - takes;
        self.out.stack = self.out.stack.max(self.held);
        if self.out.stack > MAXIMUM_DEPTH {
            return Err(ExpressionError::new(ExpressionProblem::TooDeep { limit: self.limit }, range));
        }
        self.out.code.push(op);
        // The text is at most u32::MAX bytes long.
        self.out.ranges.push((range.start as u32, range.end as u32));
        Ok(())
    }

    /// Reads an expression inside another one. Only this can nest without bound: between two levels, the right sides of
    /// operators bind ever more strongly.
    fn nested(&mut self, weakest: u8) -> Result<(), ExpressionError> {
        if self.depth == self.limit {
            let problem = ExpressionProblem::TooDeep { limit: self.limit };
            return Err(ExpressionError::new(problem, self.range.clone()));
        }
        self.depth += 1;
        self.expression(weakest)?;
        self.depth -= 1;
        Ok(())
    }

    /// Reads operators that bind at least as strongly as `weakest`.
    fn expression(&mut self, weakest: u8) -> Result<(), ExpressionError> {
        let start = self.range.start;
        self.operand()?;
        let mut compared = false;
        while let Token::Symbol(symbol) = self.token
            && let Some(operator) = Binary::from_symbol(symbol)
        {
            let (_, strength) = operator.symbol();
            if strength < weakest {
                break;
            }
            if strength == COMPARISON && std::mem::replace(&mut compared, true) {
                return Err(ExpressionError::new(ExpressionProblem::Chained, self.range.clone()));
            }
            self.advance()?;
            let right = self.out.code.len();
            // Only the power groups from the right.
            if strength == POWER {
                self.nested(POWER)?
            } else {
                self.expression(strength + 1)?
            }
            self.binary(operator, right, start..self.end)?;
        }
        Ok(())
    }

    /// Appends an operator whose right side starts at operation `right`.
    fn binary(&mut self, operator: Binary, right: usize, range: Range<usize>) -> Result<(), ExpressionError> {
        let exponent = match (operator, &self.out.code[right..]) {
            (Binary::Power, [Op::Number(n)]) => Some(*n),
            (Binary::Power, [Op::Number(n), Op::Negate]) => Some(-n),
            _ => None,
        };
        match exponent.filter(|n| n.fract() == 0.0 && n.abs() <= LARGEST_INTEGER_POWER) {
            Some(n) => {
                self.out.code.truncate(right);
                self.out.ranges.truncate(right);
                self.held -= 1;
                self.emit(Op::PowerInteger(n as i32), 1, range)
            }
            None => self.emit(Op::Binary(operator), 2, range),
        }
    }

    /// A sign, a negation, a number, a name, a call or something in parentheses.
    fn operand(&mut self) -> Result<(), ExpressionError> {
        let start = self.range.start;
        match self.token {
            Token::Symbol("-") => {
                self.advance()?;
                self.nested(SIGN)?;
                self.emit(Op::Negate, 1, start..self.end)
            }
            Token::Symbol("+") => {
                self.advance()?;
                self.nested(SIGN)
            }
            Token::Symbol("not") => {
                self.advance()?;
                self.nested(NOT)?;
                self.emit(Op::Not, 1, start..self.end)
            }
            Token::Symbol("(") => {
                self.advance()?;
                self.nested(0)?;
                self.expect(")", "`)`")
            }
            Token::Number(value) => {
                self.advance()?;
                self.emit(Op::Number(value), 0, start..self.end)
            }
            Token::Name(name) => {
                self.advance()?;
                if self.token == Token::Symbol("(") { self.call(name, start) } else { self.name(name, start) }
            }
            _ => Err(self.expected("a number, a name or `(`")),
        }
    }

    fn name(&mut self, name: &str, start: usize) -> Result<(), ExpressionError> {
        let range = start..self.end;
        let known = match self.slots.get(name) {
            Some(slot) => Some(*slot),
            None => match self.names {
                _ if CONSTANTS.iter().any(|constant| constant.name == name) => None,
                Names::Free if Function::find(name).is_none() => {
                    let slot = self.out.variables.len();
                    self.slots.insert(name.into(), slot);
                    self.out.variables.push(Variable { name: name.into(), range: 0..0 });
                    Some(slot)
                }
                _ => None,
            },
        };
        if let Some(slot) = known {
            let first = &mut self.out.variables[slot].range;
            if first.start == first.end {
                *first = range.clone();
            }
            return self.emit(Op::Variable(slot), 0, range);
        }
        if let Some(constant) = CONSTANTS.iter().position(|constant| constant.name == name) {
            return self.emit(Op::Constant(constant), 0, range);
        }
        let name = name.to_owned();
        if Function::find(&name).is_some() {
            return Err(ExpressionError::new(ExpressionProblem::Uncalled { name }, range));
        }
        let given = self.out.variables.iter().map(|variable| variable.name.as_str());
        let nearest = nearest(&name, given.chain(CONSTANTS.iter().map(|constant| constant.name))).map(str::to_owned);
        Err(ExpressionError::new(ExpressionProblem::UnknownName { name, nearest }, range))
    }

    fn call(&mut self, name: &str, start: usize) -> Result<(), ExpressionError> {
        let range = start..self.end;
        let Some(function) = Function::find(name) else {
            let nearest = nearest(name, FUNCTIONS.iter().map(|function| function.name)).map(str::to_owned);
            return Err(ExpressionError::new(ExpressionProblem::UnknownFunction { name: name.into(), nearest }, range));
        };
        self.advance()?;
        let mut count = 0;
        let mut right = self.out.code.len();
        if self.token != Token::Symbol(")") {
            loop {
                right = self.out.code.len();
                self.nested(0)?;
                count += 1;
                // min(a, b, c) is min(min(a, b), c).
                if function.variadic() && count > 1 {
                    self.emit(Op::Call(function), 2, start..self.end)?;
                }
                if self.token != Token::Symbol(",") {
                    break;
                }
                self.advance()?;
            }
        }
        self.expect(")", "`,` or `)`")?;
        let arity = function.arity();
        if count < arity || (count > arity && !function.variadic()) {
            let about = function.about();
            let problem = ExpressionProblem::Arguments { name: about.name, usage: about.usage, found: count };
            return Err(ExpressionError::new(problem, start..self.end));
        }
        let range = start..self.end;
        match function {
            _ if function.variadic() => Ok(()),
            Function::Power => self.binary(Binary::Power, right, range),
            _ => self.emit(Op::Call(function), arity, range),
        }
    }
}
