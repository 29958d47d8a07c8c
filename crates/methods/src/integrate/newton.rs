//! The matrix of Newton's method for implicit integrators, assembled from tangents, mass and constraint rows.
//!
//! Implicit methods for the equations of [`crate::system`] solve, stage by stage, linear systems of one shape. With
//! increments of positions eliminated by Δδ = (c₂/c₁) Δv, rows scaled so that everything stays of order one as the step
//! goes to zero (\[1\]), and unknowns (Δv, Δx, c₁ Δλ), it is
//!
//! ```text
//! ⎡ c₀ M − c₁ D − c₂ K             −c₁ ∂f/∂x       [G;A]ᵀ ⎤
//! ⎢ −e₁ (∂r/∂v + (c₂/c₁) ∂r/∂δ)    e₀ I − e₁ ∂r/∂x   0     ⎥
//! ⎣ [G;A] + c₃ C                   0               0     ⎦
//! ```
//!
//! with real or complex coefficients. Where multipliers drive friction C λ, their columns are [G;A]ᵀ − C. Rows that depend on others ([`crate::algebra::Saddle::dependent`]) would make it
//! singular: their equation is replaced by Δλ = 0. What they ask for then follows from the rows they depend on, and the
//! velocities are the same. (Penalising them instead would let rounding choose between nearly parallel rows off the
//! manifold, where the rank of closed loops is higher than on it.)
//!
//! Reference: \[1\] Bottasso, Dopico, Trainelli: On the optimal scaling of index three DAEs in multibody dynamics, Multibody
//! System Dynamics 19 (2008) 3–20.

use crate::algebra::{Field, Lu, Mass, Rows, Sparse, SparseLu};
use crate::system::{Shape, System};
use crate::tangent::Tangent;

/// The coefficients of a method and step.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) struct Coefficients<T> {
    /// c₀, of the mass.
    pub mass: T,
    /// c₁, of the damping.
    pub first: T,
    /// c₂, of the stiffness.
    pub second: T,
    /// c₃, of the change of the rows.
    pub change: T,
    /// e₀, of the extra states.
    pub own: T,
    /// e₁, of their rates.
    pub rate: T,
}

/// Matrices from this size on may be sparse.
const LARGE: usize = 48;
/// The part of the entries below which they are.
const THIN: f64 = 0.25;

/// What the matrix is made of.
pub(super) struct Parts<'a, Y: System> {
    pub mass: &'a Mass<f64>,
    pub rows: &'a Rows<f64>,
    pub tangent: &'a Tangent<Y>,
    /// The rows that depend on others.
    pub held: &'a [bool],
    /// The rows that drive friction, and for each its column of C.
    pub loads: &'a [usize],
    pub friction: &'a [f64],
}

/// Newton's matrix and its factors, dense where it is small or full, sparse elsewhere.
pub(super) struct Newton<T: Field> {
    shape: Shape,
    factors: Factors<T>,
    /// Where the entries go, in the order of assembly.
    targets: Vec<usize>,
    /// The step with which pivots were chosen, and whether the factors are of that step and no other came between.
    chosen: f64,
    direct: bool,
}

enum Factors<T: Field> {
    Dense(Lu<T>),
    Sparse(Box<(Sparse<T>, SparseLu<T>)>),
}

impl<T: Field> Newton<T> {
    /// The structure for a system.
    pub fn new<Y: System>(shape: Shape, parts: &Parts<'_, Y>) -> Self {
        let one = T::from(1.0);
        let ones = Coefficients { mass: one, first: one, second: one, change: one, own: one, rate: one };
        let size = shape.v + shape.x + shape.rows();
        let mut places = Vec::new();
        assemble(shape, &ones, parts, |row, col, _| places.push((row, col)));
        let matrix = Sparse::new(size, places.iter().copied());
        let thin = (matrix.values().len() as f64) < THIN * (size * size) as f64;
        let (factors, targets) = if size >= LARGE && thin {
            let slot = |&(row, col): &(usize, usize)| matrix.slot(row, col).expect("a place of the pattern");
            let targets = places.iter().map(slot).collect();
            let factors = SparseLu::new(&matrix);
            (Factors::Sparse(Box::new((matrix, factors))), targets)
        } else {
            (Factors::Dense(Lu::new(size)), places.iter().map(|(row, col)| row * size + col).collect())
        };
        Self { shape, factors, targets, chosen: 0.0, direct: true }
    }

    /// Assembles and factors for a step; false if the matrix is singular. `anew` chooses pivots without regard to the past.
    pub fn factor<Y: System>(
        &mut self,
        h: f64,
        coefficients: impl Fn(f64) -> Coefficients<T>,
        parts: &Parts<'_, Y>,
        anew: bool,
    ) -> bool {
        let values = match &mut self.factors {
            Factors::Dense(lu) => lu.values_mut(),
            Factors::Sparse(sparse) => sparse.0.values_mut(),
        };
        values.fill(T::default());
        let mut targets = self.targets.iter();
        assemble(self.shape, &coefficients(h), parts, |_, _, value| {
            if let Some(&target) = targets.next() {
                values[target] += value;
            }
        });
        match &mut self.factors {
            Factors::Dense(lu) => {
                (self.chosen, self.direct) = (h, true);
                lu.factor().is_ok()
            }
            Factors::Sparse(sparse) => {
                let (matrix, lu) = &mut **sparse;
                if anew {
                    lu.forget();
                }
                let before = lu.searches();
                let regular = lu.factor(matrix).is_ok();
                self.direct = lu.searches() != before;
                if self.direct {
                    self.chosen = h;
                }
                regular
            }
        }
    }

    /// Replaces a right-hand side (for v, x and rows) by the solution.
    pub fn solve(&mut self, rhs: &mut [T]) {
        match &mut self.factors {
            Factors::Dense(lu) => lu.solve(rhs),
            Factors::Sparse(sparse) => sparse.1.solve(rhs),
        }
    }

    /// What the bits of the factors depend on besides the matrix.
    pub fn memory(&self) -> [f64; 2] {
        [self.chosen, f64::from(u8::from(self.direct))]
    }

    /// Takes it over.
    pub fn recall(&mut self, memory: [f64; 2]) {
        (self.chosen, self.direct) = (memory[0], memory[1] != 0.0);
    }

    /// Factors as a run did that chose its pivots with one step and came to another.
    pub fn restore<Y: System>(
        &mut self,
        h: f64,
        coefficients: impl Fn(f64) -> Coefficients<T>,
        parts: &Parts<'_, Y>,
    ) -> bool {
        let direct = self.direct;
        let regular = self.factor(self.chosen, &coefficients, parts, true);
        if direct { regular } else { self.factor(h, coefficients, parts, false) }
    }
}

/// Visits every entry (row, column, value) in a fixed order; entries at one place add up.
fn assemble<T: Field, Y: System>(
    shape: Shape,
    c: &Coefficients<T>,
    parts: &Parts<'_, Y>,
    mut put: impl FnMut(usize, usize, T),
) {
    let Parts { mass, rows, tangent, held, loads, friction } = parts;
    let per_velocity = c.second / c.first;
    mass.entries(|row, col, value| put(row, col, c.mass * value.into()));
    for (matrix, factor) in [(tangent.damping(), -c.first), (tangent.stiffness(), -c.second)] {
        for (i, b) in matrix.blocks().iter().enumerate() {
            for (k, &value) in matrix.block(i).iter().enumerate() {
                put(b.row + k / b.cols, b.col + k % b.cols, factor * value.into());
            }
        }
    }
    let Shape { v, x, .. } = shape;
    for j in 0..x {
        for i in 0..v {
            put(i, v + j, -c.first * tangent.force_by_state()[i * x + j].into());
            let (by_v, by_q) = (tangent.rate_by_velocity()[j * v + i], tangent.rate_by_position()[j * v + i]);
            put(v + j, i, -c.rate * (T::from(by_v) + per_velocity * by_q.into()));
        }
        for i in 0..x {
            put(v + j, v + i, -c.rate * tangent.rate_by_state()[j * x + i].into());
        }
        put(v + j, v + j, c.own);
    }
    let changes = tangent.rows_by_position();
    for (i, b) in rows.blocks().iter().enumerate() {
        for (k, (&g, &change)) in rows.block(i).iter().zip(changes.block(i)).enumerate() {
            let (row, col) = (b.row + k / b.cols, b.col + k % b.cols);
            let (down, right) = match held[row] {
                true => (T::default(), T::default()),
                false => (T::from(g) + c.change * change.into(), T::from(g)),
            };
            put(v + x + row, col, down);
            put(col, v + x + row, right);
        }
    }
    for (&row, column) in loads.iter().zip(friction.chunks_exact(v.max(1))) {
        for (i, &value) in column.iter().enumerate() {
            put(i, v + x + row, if held[row] { T::default() } else { -T::from(value) });
        }
    }
    for (row, &held) in held.iter().enumerate() {
        put(v + x + row, v + x + row, if held { T::from(1.0) } else { T::default() });
    }
}
