//! The mass matrix as a sum of diagonal blocks, each of which knows how to solve itself.

use super::carried;
use crate::real::Real;
use std::cell::RefCell;
use std::sync::Arc;

/// The shape of one block on the diagonal of the mass matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MassBlock {
    /// `n` independent masses; `n` values.
    Diagonal(usize),
    /// A full symmetric positive definite block; `n × n` values by rows.
    Dense(usize),
    /// The inertia of carriers that ride on one another, 20 values for each velocity; see [`MassBlock::CARRIED`]. Given is the velocity
    /// on whose carrier each one rides, which comes before it, or `usize::MAX`.
    Carried(Arc<[usize]>),
}

impl MassBlock {
    /// The number of values of a carried velocity. They are, in axes common to all: the arm from the origin of the carrier it rides on
    /// (3), the directions in which it turns (3) and slides (3), an inertia of the velocity alone (1), and of the carrier the mass
    /// (1), its moment about the origin (3) and the inertia about the origin (xx, xy, xz, yy, yz, zz).
    pub const CARRIED: usize = carried::VALUES;

    /// The number of velocities it covers.
    pub fn size(&self) -> usize {
        match self {
            Self::Diagonal(n) | Self::Dense(n) => *n,
            Self::Carried(parents) => parents.len(),
        }
    }

    /// The number of values it holds.
    pub fn values(&self) -> usize {
        match self {
            Self::Diagonal(n) => *n,
            Self::Dense(n) => n * n,
            Self::Carried(parents) => carried::VALUES * parents.len(),
        }
    }

    /// The number of values of its factors.
    fn factors(&self) -> usize {
        match self {
            Self::Carried(parents) => carried::FACTORS * parents.len(),
            _ => self.values(),
        }
    }
}

/// A block of the mass matrix is not positive definite.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct MassError {
    /// The velocity at which the factorisation met a pivot that is not positive.
    pub velocity: usize,
}

/// A block-diagonal mass matrix and its factors.
#[derive(Clone, Debug)]
pub struct Mass<R> {
    blocks: Vec<Placed>,
    values: Vec<R>,
    factors: Vec<R>,
    size: usize,
    /// For carried blocks; solves leave the matrix as it is.
    scratch: RefCell<Vec<R>>,
    /// Whether all blocks are diagonal: then values and factors follow the velocities.
    diagonal: bool,
}

#[derive(Clone, Debug)]
struct Placed {
    shape: MassBlock,
    velocity: usize,
    value: usize,
    factor: usize,
}

impl Placed {
    fn values<'a, R>(&self, values: &'a [R]) -> &'a [R] {
        &values[self.value..self.value + self.shape.values()]
    }
    fn factors<'a, R>(&self, factors: &'a [R]) -> &'a [R] {
        &factors[self.factor..self.factor + self.shape.factors()]
    }
}

impl<R: Real> Mass<R> {
    /// A zero matrix of the given blocks, in the order of the velocities.
    pub fn new(shapes: &[MassBlock]) -> Self {
        let (mut velocity, mut value, mut factor, mut most) = (0, 0, 0, 0);
        let blocks = shapes
            .iter()
            .map(|shape| {
                let placed = Placed { shape: shape.clone(), velocity, value, factor };
                velocity += shape.size();
                value += shape.values();
                factor += shape.factors();
                if let MassBlock::Carried(parents) = shape {
                    most = most.max(carried::SCRATCH * parents.len());
                }
                placed
            })
            .collect();
        let zeros = |n| vec![R::zero(); n];
        // A dense block of size one has a root for its factor, not a reciprocal.
        let diagonal = shapes.iter().all(|shape| matches!(shape, MassBlock::Diagonal(_)));
        let (values, factors, scratch) = (zeros(value), zeros(factor), RefCell::new(zeros(most)));
        Self { blocks, values, factors, size: velocity, scratch, diagonal }
    }

    /// The number of velocities.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The shapes and first velocities of the blocks.
    pub fn blocks(&self) -> impl Iterator<Item = (&MassBlock, usize)> + '_ {
        self.blocks.iter().map(|b| (&b.shape, b.velocity))
    }

    /// The values of block `i`: the diagonal, the full block by rows, or what carriers have.
    pub fn block(&self, i: usize) -> &[R] {
        self.blocks[i].values(&self.values)
    }

    /// The values of block `i`, to be written.
    pub fn block_mut(&mut self, i: usize) -> &mut [R] {
        let b = &self.blocks[i];
        &mut self.values[b.value..b.value + b.shape.values()]
    }

    /// `n` diagonal values from place `offset` of block `i` on; they may go on in diagonal blocks that follow it.
    pub(crate) fn diagonal(&self, i: usize, offset: usize, n: usize) -> &[R] {
        &self.values[self.blocks[i].value + offset..][..n]
    }

    /// Visits the entries (row, column, value) that can differ from zero, in a fixed order.
    pub fn entries(&self, mut put: impl FnMut(usize, usize, R)) {
        for b in &self.blocks {
            let (values, first) = (b.values(&self.values), b.velocity);
            match &b.shape {
                MassBlock::Diagonal(n) => (0..*n).for_each(|k| put(first + k, first + k, values[k])),
                MassBlock::Dense(n) => (0..n * n).for_each(|k| put(first + k / n, first + k % n, values[k])),
                MassBlock::Carried(parents) => {
                    let scratch = &mut self.scratch.borrow_mut();
                    carried::entries(parents, values, scratch, |i, j, value| put(first + i, first + j, value));
                }
            }
        }
    }

    /// Factors every block (Cholesky, M = L Lᵀ; reciprocal diagonals are stored).
    pub fn factor(&mut self) {
        for b in &self.blocks {
            let values = b.values(&self.values);
            let factors = &mut self.factors[b.factor..b.factor + b.shape.factors()];
            match &b.shape {
                MassBlock::Diagonal(n) => {
                    for i in 0..*n {
                        factors[i] = values[i].recip();
                    }
                }
                MassBlock::Dense(n) => cholesky(*n, values, factors),
                MassBlock::Carried(parents) => carried::factor(parents, values, factors, self.scratch.get_mut()),
            }
        }
    }

    /// Replaces `rhs` by M⁻¹ rhs; [`Mass::factor`] comes first.
    pub fn solve(&self, rhs: &mut [R]) {
        if self.diagonal {
            for (rhs, &factor) in rhs.iter_mut().zip(&self.factors) {
                *rhs *= factor;
            }
            return;
        }
        for (i, b) in self.blocks.iter().enumerate() {
            self.solve_block(i, &mut rhs[b.velocity..b.velocity + b.shape.size()]);
        }
    }

    /// Replaces the part `rhs` belonging to block `i` by the solution of that block.
    #[inline]
    pub fn solve_block(&self, i: usize, rhs: &mut [R]) {
        let b = &self.blocks[i];
        let factors = b.factors(&self.factors);
        match &b.shape {
            MassBlock::Diagonal(n) => {
                for i in 0..*n {
                    rhs[i] *= factors[i];
                }
            }
            MassBlock::Carried(parents) => {
                carried::solve(parents, b.values(&self.values), factors, &mut self.scratch.borrow_mut(), rhs);
            }
            MassBlock::Dense(n) => back_substitute(*n, factors, rhs),
        }
    }

    /// out = M v.
    pub fn apply(&self, v: &[R], out: &mut [R]) {
        if self.diagonal {
            for ((out, &v), &value) in out.iter_mut().zip(v).zip(&self.values) {
                *out = value * v;
            }
            return;
        }
        for (i, b) in self.blocks.iter().enumerate() {
            let values = self.block(i);
            let n = b.shape.size();
            let (v, out) = (&v[b.velocity..b.velocity + n], &mut out[b.velocity..b.velocity + n]);
            match &b.shape {
                MassBlock::Carried(parents) => {
                    carried::apply(parents, values, &mut self.scratch.borrow_mut(), v, out);
                }
                MassBlock::Diagonal(_) => {
                    for i in 0..n {
                        out[i] = values[i] * v[i];
                    }
                }
                MassBlock::Dense(_) => {
                    for i in 0..n {
                        out[i] = (0..n).fold(R::zero(), |sum, j| sum + values[i * n + j] * v[j]);
                    }
                }
            }
        }
    }
}

impl Mass<f64> {
    /// Factors every block and reports the first pivot that is not positive.
    pub fn factor_checked(&mut self) -> Result<(), MassError> {
        self.factor();
        for b in &self.blocks {
            let factors = b.factors(&self.factors);
            let bad = |pivot: &f64| !(*pivot > 0.0 && *pivot < f64::INFINITY);
            let found = match &b.shape {
                MassBlock::Diagonal(_) => factors.iter().position(bad),
                MassBlock::Dense(n) => factors.iter().step_by(n + 1).position(bad),
                MassBlock::Carried(_) => {
                    factors.iter().skip(carried::FACTORS - 1).step_by(carried::FACTORS).position(bad)
                }
            };
            if let Some(i) = found {
                return Err(MassError { velocity: b.velocity + i });
            }
        }
        Ok(())
    }
}

/// Lower factor L of a symmetric matrix with the reciprocals of its diagonal stored in place of the diagonal.
pub(crate) fn cholesky<R: Real>(n: usize, a: &[R], l: &mut [R]) {
    // Sizes known to the compiler are unrolled: blocks of single bodies.
    match n {
        2 => cholesky_of(2, a, l),
        3 => cholesky_of(3, a, l),
        _ => cholesky_of(n, a, l),
    }
}

#[inline(always)]
fn cholesky_of<R: Real>(n: usize, a: &[R], l: &mut [R]) {
    let (a, l) = (&a[..n * n], &mut l[..n * n]);
    for i in 0..n {
        for j in 0..=i {
            let mut sum = a[i * n + j];
            for k in 0..j {
                sum -= l[i * n + k] * l[j * n + k];
            }
            l[i * n + j] = if i == j { sum.sqrt().recip() } else { sum * l[j * n + j] };
        }
    }
}

/// Replaces `rhs` by L^−T L⁻¹ rhs for a factor of [`cholesky`].
#[inline]
fn back_substitute<R: Real>(n: usize, l: &[R], rhs: &mut [R]) {
    match n {
        2 => back_substitute_of(2, l, rhs),
        3 => back_substitute_of(3, l, rhs),
        _ => back_substitute_of(n, l, rhs),
    }
}

#[inline(always)]
fn back_substitute_of<R: Real>(n: usize, l: &[R], rhs: &mut [R]) {
    let (l, rhs) = (&l[..n * n], &mut rhs[..n]);
    for i in 0..n {
        let mut sum = rhs[i];
        for j in 0..i {
            sum -= l[i * n + j] * rhs[j];
        }
        rhs[i] = sum * l[i * n + i];
    }
    for i in (0..n).rev() {
        let mut sum = rhs[i];
        for j in i + 1..n {
            sum -= l[j * n + i] * rhs[j];
        }
        rhs[i] = sum * l[i * n + i];
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn solve_undoes_apply() {
        let mut mass = Mass::new(&[MassBlock::Diagonal(2), MassBlock::Dense(3)]);
        mass.block_mut(0).copy_from_slice(&[2.0, 3.0]);
        mass.block_mut(1).copy_from_slice(&[4.0, 1.0, 0.5, 1.0, 5.0, -1.0, 0.5, -1.0, 6.0]);
        mass.factor_checked().unwrap();
        let v = [1.0, -2.0, 0.3, 0.7, -1.1];
        let mut f = [0.0; 5];
        mass.apply(&v, &mut f);
        mass.solve(&mut f);
        for i in 0..5 {
            // Condition number below 10.
            assert!((f[i] - v[i]).abs() < 10.0 * f64::EPSILON * 3.0);
        }
    }

    #[test]
    fn dense_blocks_of_size_one_are_solved_like_diagonal_ones() {
        let mut mass = Mass::new(&[MassBlock::Dense(1), MassBlock::Diagonal(1)]);
        mass.block_mut(0).copy_from_slice(&[4.0]);
        mass.block_mut(1).copy_from_slice(&[4.0]);
        mass.factor_checked().unwrap();
        let mut f = [1.0, 1.0];
        mass.solve(&mut f);
        assert_eq!(f, [0.25, 0.25]);
    }

    #[test]
    fn an_indefinite_block_is_named() {
        let mut mass = Mass::new(&[MassBlock::Diagonal(1), MassBlock::Dense(2)]);
        mass.block_mut(0).copy_from_slice(&[1.0]);
        mass.block_mut(1).copy_from_slice(&[1.0, 2.0, 2.0, 1.0]);
        assert_eq!(mass.factor_checked(), Err(MassError { velocity: 2 }));
    }
}
