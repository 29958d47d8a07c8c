//! The postfix code of an expression, and the tables of constants and functions.

use std::f64::consts;
use std::ops::Range;

/// A parsed expression: postfix code over numbered variables.
///
/// Two expressions are equal when they compute the same thing in the same order with the same names, however they were spaced.
#[derive(Clone, Debug)]
pub struct Expression {
    /// Operations in postfix order.
    pub(super) code: Vec<Op>,
    /// For each operation the bytes of the text that it computes.
    pub(super) ranges: Vec<(u32, u32)>,
    /// The variables, in the order of their slots.
    pub(super) variables: Vec<Variable>,
    /// How many numbers the evaluation holds at once, at most.
    pub(super) stack: usize,
}

impl PartialEq for Expression {
    fn eq(&self, other: &Self) -> bool {
        self.code == other.code
            && self.variables.len() == other.variables.len()
            && self.variables.iter().zip(&other.variables).all(|(a, b)| a.name == b.name)
    }
}

/// A variable of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// The bytes of its first use, empty if it is not used.
    pub range: Range<usize>,
}

/// One operation. Numbers and variables push, the rest replace their arguments on the stack.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Op {
    Number(f64),
    /// Index into [`CONSTANTS`].
    Constant(usize),
    Variable(usize),
    Negate,
    Not,
    Binary(Binary),
    /// A power whose exponent is a whole number written in the text; it is differentiable at every base.
    PowerInteger(i32),
    Call(Function),
}

/// Operators between two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binary {
    Or,
    And,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
}

impl Binary {
    /// The symbol, and how strongly it binds.
    pub(super) fn symbol(self) -> (&'static str, u8) {
        match self {
            Self::Or => ("or", OR),
            Self::And => ("and", OR + 1),
            Self::Less => ("<", COMPARISON),
            Self::LessEqual => ("<=", COMPARISON),
            Self::Greater => (">", COMPARISON),
            Self::GreaterEqual => (">=", COMPARISON),
            Self::Equal => ("==", COMPARISON),
            Self::NotEqual => ("!=", COMPARISON),
            Self::Add => ("+", SUM),
            Self::Subtract => ("-", SUM),
            Self::Multiply => ("*", PRODUCT),
            Self::Divide => ("/", PRODUCT),
            Self::Power => ("^", POWER),
        }
    }

    /// The operator written so.
    pub(super) fn from_symbol(symbol: &str) -> Option<Self> {
        Some(match symbol {
            "or" => Self::Or,
            "and" => Self::And,
            "<" => Self::Less,
            "<=" => Self::LessEqual,
            ">" => Self::Greater,
            ">=" => Self::GreaterEqual,
            "==" => Self::Equal,
            "!=" => Self::NotEqual,
            "+" => Self::Add,
            "-" => Self::Subtract,
            "*" => Self::Multiply,
            "/" => Self::Divide,
            "^" => Self::Power,
            _ => return None,
        })
    }
}

pub(super) const OR: u8 = 1;
pub(super) const NOT: u8 = 3;
pub(super) const COMPARISON: u8 = 4;
pub(super) const SUM: u8 = 5;
pub(super) const PRODUCT: u8 = 6;
pub(super) const SIGN: u8 = 7;
pub(super) const POWER: u8 = 8;
/// Numbers, names, calls and parentheses.
pub(super) const ATOM: u8 = 9;

/// Functions with a code of their own. `pow` is [`Binary::Power`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Ln,
    Log10,
    Sqrt,
    Cbrt,
    Abs,
    Min,
    Max,
    Floor,
    Ceil,
    Round,
    Sign,
    Power,
    Mod,
    Hypot,
    Step,
    If,
}

impl Function {
    /// The function of this name.
    pub(super) fn find(name: &str) -> Option<Self> {
        ALL.iter().zip(FUNCTIONS).find(|(_, about)| about.name == name).map(|(function, _)| *function)
    }

    /// Its line in the table.
    pub(super) fn about(self) -> &'static About {
        // `ALL` lists the functions in the order of their declaration and of the table, see the test.
        &FUNCTIONS[self as usize]
    }

    /// How many arguments it takes; `min` and `max` take more as well.
    pub(super) fn arity(self) -> usize {
        match self {
            Self::Atan2 | Self::Min | Self::Max | Self::Power | Self::Mod | Self::Hypot => 2,
            Self::If => 3,
            _ => 1,
        }
    }

    /// Whether more arguments than [`Function::arity`] may follow.
    pub(super) fn variadic(self) -> bool {
        matches!(self, Self::Min | Self::Max)
    }
}

pub(super) const ALL: [Function; 27] = [
    Function::Sin,
    Function::Cos,
    Function::Tan,
    Function::Asin,
    Function::Acos,
    Function::Atan,
    Function::Atan2,
    Function::Sinh,
    Function::Cosh,
    Function::Tanh,
    Function::Exp,
    Function::Ln,
    Function::Log10,
    Function::Sqrt,
    Function::Cbrt,
    Function::Abs,
    Function::Min,
    Function::Max,
    Function::Floor,
    Function::Ceil,
    Function::Round,
    Function::Sign,
    Function::Power,
    Function::Mod,
    Function::Hypot,
    Function::Step,
    Function::If,
];

/// A line of the reference: a constant or a function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct About {
    /// Its name.
    pub name: &'static str,
    /// How it is written.
    pub usage: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// Its value, if it is a constant.
    pub value: Option<f64>,
}

const fn constant(name: &'static str, value: f64, meaning: &'static str) -> About {
    About { name, usage: name, meaning, value: Some(value) }
}

const fn function(name: &'static str, usage: &'static str, meaning: &'static str) -> About {
    About { name, usage, meaning, value: None }
}

/// The constants that every expression knows.
pub const CONSTANTS: &[About] = &[
    constant("pi", consts::PI, "half the circumference of the unit circle"),
    constant("tau", consts::TAU, "a full turn in radians"),
    constant("e", consts::E, "the base of the natural logarithm"),
    constant("deg", consts::PI / 180.0, "one degree in radians: write 30*deg"),
];

/// The functions that every expression knows. Angles are in radians.
pub const FUNCTIONS: &[About] = &[
    function("sin", "sin(x)", "sine"),
    function("cos", "cos(x)", "cosine"),
    function("tan", "tan(x)", "tangent"),
    function("asin", "asin(x)", "the angle in [−π/2, π/2] with this sine"),
    function("acos", "acos(x)", "the angle in [0, π] with this cosine"),
    function("atan", "atan(x)", "the angle in (−π/2, π/2) with this tangent"),
    function("atan2", "atan2(y, x)", "the angle of the point (x, y), in (−π, π]"),
    function("sinh", "sinh(x)", "hyperbolic sine"),
    function("cosh", "cosh(x)", "hyperbolic cosine"),
    function("tanh", "tanh(x)", "hyperbolic tangent"),
    function("exp", "exp(x)", "exponential function"),
    function("ln", "ln(x)", "natural logarithm"),
    function("log10", "log10(x)", "decimal logarithm"),
    function("sqrt", "sqrt(x)", "square root"),
    function("cbrt", "cbrt(x)", "cube root, of either sign"),
    function("abs", "abs(x)", "magnitude"),
    function("min", "min(a, b, …)", "the smallest of its arguments"),
    function("max", "max(a, b, …)", "the largest of its arguments"),
    function("floor", "floor(x)", "the largest whole number not above x"),
    function("ceil", "ceil(x)", "the smallest whole number not below x"),
    function("round", "round(x)", "the nearest whole number, ties away from zero"),
    function("sign", "sign(x)", "−1, 0 or 1"),
    function("pow", "pow(x, y)", "x^y"),
    function("mod", "mod(a, b)", "a − b floor(a/b): the remainder with the sign of b"),
    function("hypot", "hypot(a, b)", "sqrt(a^2 + b^2)"),
    function("step", "step(x)", "0 for x < 0 and 1 from 0 on"),
    function("if", "if(condition, yes, no)", "yes where the condition is not 0, no elsewhere"),
];
