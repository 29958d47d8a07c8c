//! The number that records what is done with it.

use super::{Graph, Id, Op, size, with};
use crate::real::Real;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};
use std::panic::Location;

/// A number that is known, or a node of a recording.
#[derive(Copy, Clone, Debug, PartialEq)]
enum Value {
    Constant(f64),
    Node {
        recording: u32,
        id: Id,
    },
    /// It came from numbers of different recordings, or was computed where there is none.
    Lost,
}

/// A number of the recorded reading.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Trace(Value);

/// The answer of a comparison of recorded numbers.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct TraceMask(Mask);

#[derive(Copy, Clone, Debug, PartialEq)]
enum Mask {
    Known(bool),
    Node { recording: u32, id: Id },
    Lost,
}

impl Trace {
    pub(super) fn node(recording: u32, id: Id) -> Self {
        Self(Value::Node { recording, id })
    }

    /// The value, if it does not depend on inputs.
    pub fn known(self) -> Option<f64> {
        if let Value::Constant(x) = self.0 { Some(x) } else { None }
    }

    /// The node of this number in a recording, if it belongs there.
    pub(super) fn id_in(self, recording: u32, graph: &mut Graph) -> Option<Id> {
        match self.0 {
            Value::Constant(x) => Some(graph.constant(x)),
            Value::Node { recording: own, id } if own == recording => Some(id),
            _ => None,
        }
    }

    fn of(recording: u32, graph: &Graph, id: Id) -> Self {
        graph.constant_of(id).map_or(Self::node(recording, id), Self::from)
    }

    /// Computes if all numbers are known, and records otherwise.
    #[inline]
    fn make(op: Op, numbers: &[Self], known: impl FnOnce() -> f64) -> Self {
        if numbers.iter().all(|x| matches!(x.0, Value::Constant(_))) {
            return Self::from(known());
        }
        with(|recording, graph| {
            let mut args = [Id(0); 3];
            for (arg, x) in args.iter_mut().zip(numbers) {
                let Some(id) = x.id_in(recording, graph) else { return Self(Value::Lost) };
                *arg = id;
            }
            let id = graph.make(op, args);
            Self::of(recording, graph, id)
        })
        .unwrap_or(Self(Value::Lost))
    }

    /// What needs no node, by the rules of [`Graph`]: x + 0, x − 0, x · 0, x · 1. Most of what jets and matrices of turned axes ask for is of this sort.
    #[inline]
    fn simple(op: Op, a: Self, b: Self) -> Option<Self> {
        match (op, a.known(), b.known()) {
            (Op::Add | Op::Sub, _, Some(0.0)) | (Op::Mul, _, Some(1.0)) => Some(a),
            (Op::Add, Some(0.0), _) | (Op::Mul, Some(1.0), _) => Some(b),
            (Op::Mul, Some(0.0), _) | (Op::Mul, _, Some(0.0)) => Some(Self::from(0.0)),
            _ => None,
        }
    }

    fn one_of(self, op: Op) -> Self {
        Self::make(op, &[self], || self.known().map_or(f64::NAN, |x| op.of_one(x)))
    }

    fn compare(self, op: Op, other: Self, known: impl FnOnce(f64, f64) -> bool) -> TraceMask {
        if let (Value::Constant(a), Value::Constant(b)) = (self.0, other.0) {
            return TraceMask(Mask::Known(known(a, b)));
        }
        let made = with(|recording, graph| {
            let (a, b) = (self.id_in(recording, graph)?, other.id_in(recording, graph)?);
            let id = graph.compare(op, a, b);
            Some(TraceMask::of(recording, graph, id))
        });
        made.flatten().unwrap_or(TraceMask(Mask::Lost))
    }
}

impl TraceMask {
    fn of(recording: u32, graph: &Graph, id: Id) -> Self {
        Self(graph.known_mask(id).map_or(Mask::Node { recording, id }, Mask::Known))
    }

    fn id_in(self, recording: u32, graph: &mut Graph) -> Option<Id> {
        match self.0 {
            Mask::Known(holds) => Some(graph.mask(holds)),
            Mask::Node { recording: own, id } if own == recording => Some(id),
            _ => None,
        }
    }

    fn join(
        self,
        other: Self,
        join: impl FnOnce(&mut Graph, Id, Id) -> Id,
        known: impl FnOnce(bool, bool) -> bool,
    ) -> Self {
        if let (Mask::Known(a), Mask::Known(b)) = (self.0, other.0) {
            return Self(Mask::Known(known(a, b)));
        }
        let made = with(|recording, graph| {
            let (a, b) = (self.id_in(recording, graph)?, other.id_in(recording, graph)?);
            let id = join(graph, a, b);
            Some(Self::of(recording, graph, id))
        });
        made.flatten().unwrap_or(Self(Mask::Lost))
    }
}

impl Default for Trace {
    fn default() -> Self {
        Self::from(0.0)
    }
}

impl From<f64> for Trace {
    fn from(x: f64) -> Self {
        Self(Value::Constant(x))
    }
}

impl Neg for Trace {
    type Output = Self;
    fn neg(self) -> Self {
        self.one_of(Op::Neg)
    }
}

macro_rules! operator {
    ($($name:ident $function:ident $op:ident $symbol:tt),*) => {$(
        impl $name for Trace {
            type Output = Self;
            fn $function(self, o: Self) -> Self {
                if let Some(simple) = Self::simple(Op::$op, self, o) {
                    return simple;
                }
                let known = || self.known().zip(o.known()).map_or(f64::NAN, |(a, b)| a $symbol b);
                Self::make(Op::$op, &[self, o], known)
            }
        }
        impl $name<f64> for Trace {
            type Output = Self;
            fn $function(self, o: f64) -> Self {
                self $symbol Self::from(o)
            }
        }
    )*};
}
operator!(Add add Add +, Sub sub Sub -, Mul mul Mul *, Div div Div /);

macro_rules! assign {
    ($($name:ident $function:ident $symbol:tt),*) => {$(
        impl $name for Trace {
            fn $function(&mut self, o: Self) {
                *self = *self $symbol o;
            }
        }
    )*};
}
assign!(AddAssign add_assign +, SubAssign sub_assign -, MulAssign mul_assign *);

impl Real for Trace {
    type Mask = TraceMask;

    fn sqrt(self) -> Self {
        self.one_of(Op::Sqrt)
    }
    fn sin_cos(self) -> (Self, Self) {
        (self.one_of(Op::Sin), self.one_of(Op::Cos))
    }
    fn tan(self) -> Self {
        self.one_of(Op::Tan)
    }
    fn asin(self) -> Self {
        self.one_of(Op::Asin)
    }
    fn acos(self) -> Self {
        self.one_of(Op::Acos)
    }
    fn atan2(self, x: Self) -> Self {
        Self::make(Op::Atan2, &[self, x], || self.known().zip(x.known()).map_or(f64::NAN, |(y, x)| y.atan2(x)))
    }
    fn exp(self) -> Self {
        self.one_of(Op::Exp)
    }
    fn ln(self) -> Self {
        self.one_of(Op::Ln)
    }
    fn tanh(self) -> Self {
        self.one_of(Op::Tanh)
    }
    fn powi(self, n: i32) -> Self {
        if let Some(x) = self.known() {
            return Self::from(x.powi(n));
        }
        let made = with(|recording, graph| {
            let base = self.id_in(recording, graph)?;
            let id = graph.integer_power(base, n);
            Some(Self::of(recording, graph, id))
        });
        made.flatten().unwrap_or(Self(Value::Lost))
    }
    fn powf(self, n: Self) -> Self {
        Self::make(Op::Power, &[self, n], || self.known().zip(n.known()).map_or(f64::NAN, |(x, n)| x.powf(n)))
    }
    fn round(self) -> Self {
        self.one_of(Op::Round)
    }
    fn floor(self) -> Self {
        self.one_of(Op::Floor)
    }
    fn lt(self, other: Self) -> TraceMask {
        self.compare(Op::Less, other, |a, b| a < b)
    }
    fn le(self, other: Self) -> TraceMask {
        self.compare(Op::LessEqual, other, |a, b| a <= b)
    }
    fn equals(self, other: Self) -> TraceMask {
        self.compare(Op::Equal, other, |a, b| a == b)
    }
    fn and(a: TraceMask, b: TraceMask) -> TraceMask {
        a.join(b, Graph::and, |a, b| a && b)
    }
    fn or(a: TraceMask, b: TraceMask) -> TraceMask {
        a.join(b, Graph::or, |a, b| a || b)
    }
    fn not(a: TraceMask) -> TraceMask {
        a.join(a, |graph, a, _| graph.not(a), |a, _| !a)
    }
    fn select(mask: TraceMask, yes: Self, no: Self) -> Self {
        if let Mask::Known(holds) = mask.0 {
            return if holds { yes } else { no };
        }
        let made = with(|recording, graph| {
            let mask = mask.id_in(recording, graph)?;
            let (yes, no) = (yes.id_in(recording, graph)?, no.id_in(recording, graph)?);
            let id = graph.select(mask, yes, no);
            Some(Self::of(recording, graph, id))
        });
        made.flatten().unwrap_or(Self(Value::Lost))
    }
    /// The magnitude of a known number, and near a point that of any. Otherwise there is none: the recording becomes an error, and what
    /// is given is not a number, at which adaptive rules give up.
    #[track_caller]
    fn size(self) -> f64 {
        let place = Location::caller();
        self.known().map_or_else(|| size(self, place), f64::abs)
    }
}
