//! Running the postfix code: over any real number, or over plain numbers with a check at every operation.

use super::MAXIMUM_DEPTH;
use super::code::{Binary, CONSTANTS, Expression, Function, Op};
use super::error::{ExpressionError, ExpressionProblem};
use dalembert_methods::real::Real;

/// Stack of the common short expressions, so that wide numbers are not cleared by the dozen.
const SMALL: usize = 8;

impl Expression {
    /// The value for these variables, in the order of their slots. Both sides of `if` are computed.
    ///
    /// # Panics
    /// If there are fewer values than variables: that is a mistake of the caller, never of the text.
    pub fn evaluate<R: Real>(&self, variables: &[R]) -> R {
        assert!(variables.len() >= self.variables.len(), "an expression needs a value for each of its variables");
        if self.stack <= SMALL { self.run::<R, SMALL>(variables) } else { self.run::<R, MAXIMUM_DEPTH>(variables) }
    }

    /// The same with all parts that are numbers already computed. The text, and where in it errors are, is lost.
    pub(crate) fn folded(&self) -> Self {
        let mut code: Vec<Op> = Vec::with_capacity(self.code.len());
        for op in &self.code {
            let takes = op.takes();
            let mut arguments = [0.0; 3];
            let known = code[code.len() - takes..].iter().zip(&mut arguments).all(|(op, value)| match op {
                Op::Number(number) => {
                    *value = *number;
                    true
                }
                _ => false,
            });
            if matches!(op, Op::Variable(_)) || !known {
                code.push(*op);
            } else {
                code.truncate(code.len() - takes);
                code.push(Op::Number(op.apply(arguments)));
            }
        }
        let ranges = vec![(0, 0); code.len()];
        Self { code, ranges, variables: self.variables.clone(), stack: self.stack }
    }

    fn run<R: Real, const N: usize>(&self, variables: &[R]) -> R {
        let mut stack = [R::zero(); N];
        let mut top = 0;
        for op in &self.code {
            match op {
                Op::Number(value) => stack[top] = R::from(*value),
                Op::Variable(slot) => stack[top] = variables[*slot],
                Op::Binary(operator) => {
                    top -= 2;
                    stack[top] = operator.apply(stack[top], stack[top + 1]);
                }
                _ => {
                    top -= op.takes();
                    let arguments = [stack[top], stack[(top + 1).min(N - 1)], stack[(top + 2).min(N - 1)]];
                    stack[top] = op.apply(arguments);
                }
            }
            top += 1;
        }
        stack[0]
    }

    /// The value for these numbers, or the first operation without a finite value. A side of `if`, `and` or `or` that is
    /// not taken may be undefined.
    ///
    /// # Panics
    /// If there are fewer values than variables.
    pub fn value(&self, variables: &[f64]) -> Result<f64, ExpressionError> {
        assert!(variables.len() >= self.variables.len(), "an expression needs a value for each of its variables");
        // Each number travels with the operation that spoilt it, if any.
        let mut stack = [(0.0, None::<usize>); MAXIMUM_DEPTH];
        let mut top = 0;
        for (index, op) in self.code.iter().enumerate() {
            let takes = op.takes();
            top -= takes;
            let at = |i: usize| stack[(top + i).min(MAXIMUM_DEPTH - 1)];
            let value = match op {
                Op::Variable(slot) => variables[*slot],
                _ => op.apply_f64([at(0).0, at(1).0, at(2).0]),
            };
            let (first, second) = (at(0), at(1));
            let spoilt = match op {
                Op::Call(Function::If) => first.1.or(if first.0 != 0.0 { second.1 } else { at(2).1 }),
                Op::Binary(Binary::And) if first.1.is_none() && first.0 == 0.0 => None,
                Op::Binary(Binary::Or) if first.1.is_none() && first.0 != 0.0 => None,
                _ => (0..takes).find_map(|i| at(i).1),
            };
            stack[top] = (value, spoilt.or((!value.is_finite()).then_some(index)));
            top += 1;
        }
        match stack[0] {
            (value, None) => Ok(value),
            (_, Some(index)) => {
                let (start, end) = self.ranges[index];
                let what = self.code[index].undefined();
                Err(ExpressionError::new(ExpressionProblem::Undefined { what }, start as usize..end as usize))
            }
        }
    }
}

fn truth<R: Real>(x: R) -> R::Mask {
    R::not(x.equals(R::zero()))
}

fn number<R: Real>(mask: R::Mask) -> R {
    R::select(mask, R::one(), R::zero())
}

impl Binary {
    #[inline]
    fn apply<R: Real>(self, a: R, b: R) -> R {
        match self {
            Self::Or => number(R::or(truth(a), truth(b))),
            Self::And => number(R::and(truth(a), truth(b))),
            Self::Less => number(a.lt(b)),
            Self::LessEqual => number(a.le(b)),
            Self::Greater => number(a.gt(b)),
            Self::GreaterEqual => number(a.ge(b)),
            Self::Equal => number(a.equals(b)),
            Self::NotEqual => number(R::not(a.equals(b))),
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Power => a.powf(b),
        }
    }
}

impl Op {
    /// How many numbers it takes from the stack.
    fn takes(&self) -> usize {
        match self {
            Self::Number(_) | Self::Constant(_) | Self::Variable(_) => 0,
            Self::Negate | Self::Not | Self::PowerInteger(_) => 1,
            Self::Binary(_) => 2,
            Self::Call(function) => function.arity(),
        }
    }

    /// How an error calls a result that is not finite.
    fn undefined(&self) -> String {
        match self {
            Self::Binary(Binary::Divide) => "this quotient (a division by zero?)".into(),
            Self::Binary(Binary::Power) | Self::PowerInteger(_) => "this power".into(),
            Self::Call(function) => format!("`{}` of this", function.about().name),
            Self::Variable(_) => "this variable".into(),
            _ => "this value".into(),
        }
    }

    fn apply<R: Real>(&self, [a, b, c]: [R; 3]) -> R {
        match self {
            Self::Number(value) => R::from(*value),
            Self::Constant(index) => R::from(CONSTANTS[*index].value.unwrap_or_default()),
            // Variables are read by the caller, who holds them.
            Self::Variable(_) => a,
            Self::Negate => -a,
            Self::Not => number(R::not(truth(a))),
            Self::PowerInteger(n) => a.powi(*n),
            Self::Binary(operator) => operator.apply(a, b),
            Self::Call(function) => match function {
                Function::Sin => a.sin(),
                Function::Cos => a.cos(),
                Function::Tan => a.tan(),
                Function::Asin => a.asin(),
                Function::Acos => a.acos(),
                Function::Atan => a.atan(),
                Function::Atan2 => a.atan2(b),
                Function::Sinh => a.sinh(),
                Function::Cosh => a.cosh(),
                Function::Tanh => a.tanh(),
                Function::Exp => a.exp(),
                Function::Ln => a.ln(),
                Function::Log10 => a.ln() / std::f64::consts::LN_10,
                Function::Sqrt => a.sqrt(),
                Function::Cbrt => a.sign() * a.abs().powf(R::from(1.0 / 3.0)),
                Function::Abs => a.abs(),
                Function::Min => a.min(b),
                Function::Max => a.max(b),
                Function::Floor => a.floor(),
                Function::Ceil => -(-a).floor(),
                Function::Round => a.round(),
                Function::Sign => a.sign(),
                Function::Power => a.powf(b),
                Function::Mod => a - b * (a / b).floor(),
                Function::Hypot => (a * a + b * b).sqrt(),
                Function::Step => number(a.ge(R::zero())),
                Function::If => R::select(truth(a), b, c),
            },
        }
    }

    /// The same for plain numbers, by the standard library where it rounds better (log10(1000) is exactly 3).
    fn apply_f64(&self, arguments: [f64; 3]) -> f64 {
        let [a, b, _] = arguments;
        match self {
            Self::PowerInteger(n) => a.powf(f64::from(*n)),
            Self::Call(Function::Sinh) => a.sinh(),
            Self::Call(Function::Cosh) => a.cosh(),
            Self::Call(Function::Log10) => a.log10(),
            Self::Call(Function::Cbrt) => a.cbrt(),
            Self::Call(Function::Hypot) => a.hypot(b),
            _ => self.apply(arguments),
        }
    }
}
