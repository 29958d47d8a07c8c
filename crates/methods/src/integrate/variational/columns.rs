//! The discrete equations in plain numbers and with derivatives, and the columns of Newton's matrix that come from the latter.

use super::discrete::{Discrete, Pass, Start};
use super::geometry::{Curved, Flat, Geometry};
use super::matrix::Pattern;
use super::scheme::Scheme;
use crate::scalar::{Dual, Duals, Scalar};
use crate::system::{Shape, System};

/// A number with derivatives along some directions.
pub(super) trait Lanes: Scalar {
    const WIDTH: usize;
    fn seed(&mut self, lane: usize, value: f64);
    fn slope(&self, lane: usize) -> f64;
}

impl Lanes for Dual {
    const WIDTH: usize = 1;
    fn seed(&mut self, lane: usize, value: f64) {
        self.eps[lane] = value;
    }
    fn slope(&self, lane: usize) -> f64 {
        self.eps[lane]
    }
}

impl Lanes for Duals {
    const WIDTH: usize = 6;
    fn seed(&mut self, lane: usize, value: f64) {
        self.eps[lane] = value;
    }
    fn slope(&self, lane: usize) -> f64 {
        self.eps[lane]
    }
}

/// The equations in plain numbers and with derivatives.
pub(super) struct Pair<Y: System, S: Scalar, G, H> {
    pub plain: Discrete<Y, f64, G>,
    pub moved: Discrete<Y, S, H>,
    unknown: Vec<S>,
    out: Vec<S>,
}

impl<Y: System, S: Lanes, G: Geometry<Y, f64>, H: Geometry<Y, S>> Pair<Y, S, G, H> {
    pub fn new(y: &Y, plain: G, moved: H, scheme: &Scheme, rate: Option<usize>) -> Self {
        let shape = y.shape();
        let size = scheme.degree * (shape.v + shape.g);
        Self {
            plain: Discrete::new(y, plain, scheme, rate),
            moved: Discrete::new(y, moved, scheme, rate),
            unknown: vec![S::zero(); size],
            out: vec![S::zero(); size],
        }
    }

    /// Columns of the nodes, handed to `put` as (row, column, value).
    pub fn columns(&mut self, y: &Y, at: &Linear<'_>, pattern: &Pattern, mut put: impl FnMut(usize, usize, f64)) {
        let Shape { v: n, g: m, .. } = y.shape();
        let s = at.scheme.degree;
        for (to, &from) in self.unknown.iter_mut().zip(at.unknown) {
            *to = S::from(from);
        }
        for nu in 0..s {
            for (pass, moved) in pattern.compression.directions.chunks(S::WIDTH).enumerate() {
                let lanes = || moved.iter().enumerate().flat_map(|(lane, own)| own.iter().map(move |&v| (lane, v)));
                lanes().for_each(|(lane, v)| self.unknown[nu * n + v].seed(lane, 1.0));
                self.moved.evaluate(y, at.scheme, at.start, &self.unknown, Pass::Whole, &mut self.out);
                lanes().for_each(|(lane, v)| self.unknown[nu * n + v].seed(lane, 0.0));
                let lane_of = |col: usize| {
                    let direction = pattern.compression.direction_of[col];
                    (direction / S::WIDTH == pass).then_some(direction % S::WIDTH)
                };
                for b in &pattern.forces {
                    for (col, lane) in (b.col..b.col + b.cols).filter_map(|col| Some((col, lane_of(col)?))) {
                        for row in (0..s).flat_map(|e| (b.row..b.row + b.rows).map(move |r| e * n + r)) {
                            put(row, nu * n + col, self.out[row].slope(lane));
                        }
                    }
                }
                for b in &pattern.rows {
                    for (col, lane) in (b.col..b.col + b.cols).filter_map(|col| Some((col, lane_of(col)?))) {
                        for r in (b.row..b.row + b.rows).filter(|&r| !at.held[r]) {
                            let row = s * n + nu * m + r;
                            let value = self.out[row].slope(lane);
                            put(row, nu * n + col, value);
                            // The force of the node's multiplier is the transpose; that of the last node is not here.
                            if nu + 1 < s {
                                let force = -at.scheme.holds[nu + 1] * value;
                                put((nu + 1) * n + col, s * n + (nu + 1) * m + r, force);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Where the matrix is taken.
pub(super) struct Linear<'a> {
    pub scheme: &'a Scheme,
    pub start: &'a Start,
    pub unknown: &'a [f64],
    pub held: &'a [bool],
}

/// The equations on any space; derivatives of derivatives are needed, so one direction at a time.
pub(super) type CurvedPair<Y> = Pair<Y, Dual, Curved<Y, f64>, Curved<Y, Dual>>;

pub(super) enum Equations<Y: System> {
    Flat(Box<Pair<Y, Duals, Flat, Flat>>),
    Curved(Box<CurvedPair<Y>>),
}

/// Does the same with whichever kind of equations there is.
macro_rules! either {
    ($equations:expr, $pair:ident => $body:expr) => {
        match $equations {
            Equations::Flat($pair) => $body,
            Equations::Curved($pair) => $body,
        }
    };
}
pub(super) use either;
