//! Derivatives by transformation of the graph: what comes out is a graph again, simplified and sharing all it can.
//!
//! Three routes give the same entries with different numbers of operations: [`forward`] carries derivatives from the inputs on, column
//! by column and only where they are not zero; [`reverse`] carries them from an output back; [`eliminate`] removes intermediate nodes in
//! orders of little work. [`jacobian`] takes the cheapest.
//!
//! Reference: Griewank, Walther: Evaluating derivatives, 2nd ed., SIAM 2008, ch. 3, 7 and 9.

pub mod colour;
pub mod eliminate;
pub mod forward;
pub mod jacobian;
pub mod reverse;

use dalembert_methods::trace::{Graph, Id, Op};

/// ∂(node)/∂(operand k). Choices and masks have none; they are treated where they occur.
pub(crate) fn partial(g: &mut Graph, id: Id, k: usize) -> Id {
    let node = g.node(id);
    let [a, b, _] = node.args;
    let one = g.constant(1.0);
    match (node.op, k) {
        (Op::Add, _) | (Op::Sub, 0) => one,
        (Op::Sub, _) | (Op::Neg, _) => g.constant(-1.0),
        (Op::Mul, 0) => b,
        (Op::Mul, _) => a,
        (Op::Div, 0) => g.div(one, b),
        (Op::Div, _) => {
            let r = g.div(one, b);
            let p = g.mul(r, id);
            g.neg(p)
        }
        (Op::Sqrt, _) => {
            let half = g.constant(0.5);
            g.div(half, id)
        }
        (Op::Sin, _) => g.unary(Op::Cos, a),
        (Op::Cos, _) => {
            let s = g.unary(Op::Sin, a);
            g.neg(s)
        }
        (Op::Tan, _) => {
            let square = g.mul(id, id);
            g.add(one, square)
        }
        (Op::Asin | Op::Acos, _) => {
            let square = g.mul(a, a);
            let rest = g.sub(one, square);
            let root = g.unary(Op::Sqrt, rest);
            let slope = g.div(one, root);
            if node.op == Op::Asin { slope } else { g.neg(slope) }
        }
        (Op::Atan2, _) => {
            let (aa, bb) = (g.mul(a, a), g.mul(b, b));
            let square = g.add(aa, bb);
            if k == 0 {
                g.div(b, square)
            } else {
                let slope = g.div(a, square);
                g.neg(slope)
            }
        }
        (Op::Exp, _) => id,
        (Op::Ln, _) => g.div(one, a),
        (Op::Tanh, _) => {
            let square = g.mul(id, id);
            g.sub(one, square)
        }
        // n xⁿ⁻¹, not n xⁿ / x, which has no value at zero.
        (Op::Power, 0) => {
            let less = g.sub(b, one);
            let power = g.power(a, less);
            g.mul(b, power)
        }
        (Op::Power, _) => {
            let log = g.unary(Op::Ln, a);
            g.mul(id, log)
        }
        _ => g.constant(0.0),
    }
}

/// Whether the derivative of an operation may be infinite, or not a number, where its value is finite.
pub(crate) fn hazardous(op: Op) -> bool {
    matches!(op, Op::Div | Op::Sqrt | Op::Asin | Op::Acos | Op::Atan2 | Op::Ln | Op::Power | Op::Tan)
}
