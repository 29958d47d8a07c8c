//! Nodes of a graph: what is done, and with which others.

/// The number of a node.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub u32);

impl Id {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a node does with its operands. Comparisons and what combines them are masks; all others are numbers.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // operators and functions by their names
pub enum Op {
    /// A number; its bits stand in the operands.
    Constant,
    /// An input; its index stands in the first operand.
    Input,
    /// A mask that always holds, or never: the first operand is 1 or 0.
    Known,
    Add,
    Sub,
    Mul,
    Div,
    Neg,
    Sqrt,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    /// The angle of the point (second operand, first operand).
    Atan2,
    Exp,
    Ln,
    Tanh,
    /// The first operand to the power of the second.
    Power,
    Round,
    Floor,
    /// Where the first is less.
    Less,
    /// Where the first is not greater.
    LessEqual,
    Equal,
    And,
    Or,
    Not,
    /// The second operand where the first, a mask, holds, the third elsewhere.
    Select,
}

impl Op {
    /// How many operands it has.
    pub fn arity(self) -> usize {
        match self {
            Op::Constant | Op::Input | Op::Known => 0,
            Op::Neg | Op::Sqrt | Op::Sin | Op::Cos | Op::Tan | Op::Asin | Op::Acos => 1,
            Op::Exp | Op::Ln | Op::Tanh | Op::Round | Op::Floor | Op::Not => 1,
            Op::Select => 3,
            _ => 2,
        }
    }

    /// Whether the result is a mask.
    pub fn is_mask(self) -> bool {
        matches!(self, Op::Known | Op::Less | Op::LessEqual | Op::Equal | Op::And | Op::Or | Op::Not)
    }

    /// The value of a function of one number.
    pub fn of_one(self, x: f64) -> f64 {
        match self {
            Op::Neg => -x,
            Op::Sqrt => x.sqrt(),
            Op::Sin => x.sin(),
            Op::Cos => x.cos(),
            Op::Tan => x.tan(),
            Op::Asin => x.asin(),
            Op::Acos => x.acos(),
            Op::Exp => x.exp(),
            Op::Ln => x.ln(),
            Op::Tanh => x.tanh(),
            Op::Round => x.round(),
            Op::Floor => x.floor(),
            _ => f64::NAN,
        }
    }
}

/// One expression: an operation and the nodes it works on, older than itself.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// What is done.
    pub op: Op,
    /// With what; unused ones are 0.
    pub args: [Id; 3],
}

impl Node {
    /// The operands in use.
    pub fn operands(&self) -> &[Id] {
        &self.args[..self.op.arity()]
    }
}
