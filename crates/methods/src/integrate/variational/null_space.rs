//! The discrete null space: steps of constrained systems without multipliers, in as many unknowns as there are freedoms.
//!
//! The left Legendre transform r(ξ) + G₀ᵀΛ = 0 and g(q_k ⊕ ξ) = 0 of a straight step (see [`super::discrete`]) are multiplied by a basis P of the directions that the
//! constraints at its beginning allow, G₀ P = 0, which takes the multipliers out: Pᵀ r = 0 (\[1\] section 3.3; discrete d'Alembert). The
//! increment is written ξ = P u + G₀ᵀ c, where c follows from g = 0 (nodal reparametrisation, q_{k+1} = F(u, q_k)). With A = ∂r/∂ξ and
//! G₁ = ∂g/∂ξ a step of Newton's method is
//!
//! ```text
//! c' = −(G₁G₀ᵀ)⁻¹ g      N = P − G₀ᵀ(G₁G₀ᵀ)⁻¹ G₁P      u' = −(PᵀAN)⁻¹ Pᵀ(r + A G₀ᵀc')      ξ' = N u' + G₀ᵀ c'
//! ```
//!
//! Reference: \[1\] Leyendecker, Marsden, Ortiz: Variational integrators for constrained dynamical systems, ZAMM 88 (2008) 677–708.

use crate::algebra::Lu;

/// Columns smaller than this, relative to what they were, depend on others.
const DEPENDENT: f64 = 1e-10;

/// The reduction of one step. Matrices are dense, by rows.
pub(super) struct NullSpace {
    velocities: usize,
    /// Rows of the constraints that count.
    rows: Vec<usize>,
    /// G₀ of these rows, and Pᵀ: an orthonormal basis.
    gradients: Vec<f64>,
    basis: Vec<f64>,
    moved: Vec<f64>,
    normal: Vec<f64>,
    push: Vec<f64>,
    /// N by columns, factors of G₁G₀ᵀ and PᵀAN, right-hand sides for them, and the change of ξ.
    tangents: Vec<f64>,
    inner: Lu<f64>,
    reduced: Lu<f64>,
    wanted: Vec<f64>,
    along: Vec<f64>,
    pub change: Vec<f64>,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Takes the parts along orthonormal `others` out of a vector, twice for the sake of rounding; its length then.
fn clear_of(others: &[f64], vector: &mut [f64]) -> f64 {
    for _ in 0..2 {
        for other in others.chunks_exact(vector.len()) {
            let along = dot(other, vector);
            vector.iter_mut().zip(other).for_each(|(v, o)| *v -= along * o);
        }
    }
    dot(vector, vector).sqrt()
}

impl NullSpace {
    pub fn new(velocities: usize, rows: usize) -> Self {
        Self {
            velocities,
            rows: Vec::with_capacity(rows),
            gradients: Vec::with_capacity(rows * velocities),
            basis: Vec::with_capacity(velocities * velocities),
            moved: vec![0.0; velocities],
            normal: vec![0.0; velocities],
            push: vec![0.0; velocities],
            tangents: vec![0.0; velocities * velocities],
            inner: Lu::new(rows),
            reduced: Lu::new(velocities.saturating_sub(rows)),
            wanted: Vec::with_capacity(rows),
            along: Vec::with_capacity(velocities),
            change: vec![0.0; velocities],
        }
    }

    /// Takes G₀, by rows, without those that are held; false if they do not leave a basis.
    pub fn base(&mut self, jacobian: &[f64], held: &[bool]) -> bool {
        let n = self.velocities;
        self.rows.clear();
        self.rows.extend((0..held.len()).filter(|&row| !held[row]));
        self.gradients.clear();
        self.basis.clear();
        // First an orthonormal basis of the rows, then unit vectors as far as they are new, the newest first.
        for &row in &self.rows {
            let own = &jacobian[row * n..(row + 1) * n];
            self.gradients.extend(own);
            self.moved.copy_from_slice(own);
            let size = dot(own, own).sqrt();
            let left = clear_of(&self.basis, &mut self.moved);
            if left <= DEPENDENT * size {
                return false;
            }
            self.basis.extend(self.moved.iter().map(|x| x / left));
        }
        let free = n - self.rows.len();
        for _ in 0..free {
            let left = |k: usize, basis: &[f64]| 1.0 - basis.chunks_exact(n).map(|b| b[k] * b[k]).sum::<f64>();
            let best = (0..n).max_by(|&a, &b| left(a, &self.basis).total_cmp(&left(b, &self.basis))).unwrap_or(0);
            self.moved.fill(0.0);
            self.moved[best] = 1.0;
            let size = clear_of(&self.basis, &mut self.moved);
            self.basis.extend(self.moved.iter().map(|x| x / size));
        }
        self.basis.drain(..self.rows.len() * n);
        if self.inner.size() != self.rows.len() {
            (self.inner, self.reduced) = (Lu::new(self.rows.len()), Lu::new(free));
        }
        true
    }

    /// Bends a direction back along G₀ᵀ, where the constraints are to change by less what is wanted.
    fn bend(inner: &Lu<f64>, gradients: &[f64], wanted: &mut [f64], direction: &mut [f64]) {
        inner.solve(wanted);
        for (c, gradient) in wanted.iter().zip(gradients.chunks_exact(direction.len())) {
            direction.iter_mut().zip(gradient).for_each(|(out, g)| *out -= c * g);
        }
    }

    /// A step of Newton's method from the residuals (r, g) and their matrix by rows, of which the first n columns count; false if it is singular.
    pub fn step(&mut self, matrix: &[f64], residual: &[f64]) -> bool {
        let Self {
            velocities,
            rows,
            gradients,
            basis,
            normal,
            push,
            tangents,
            inner,
            reduced,
            wanted,
            along,
            change,
            ..
        } = self;
        let (n, m, width) = (*velocities, rows.len(), residual.len());
        let free = n - m;
        let row = |i: usize| &matrix[i * width..i * width + n];
        for (values, &i) in inner.values_mut().chunks_exact_mut(m.max(1)).zip(&*rows) {
            values.iter_mut().zip(gradients.chunks_exact(n)).for_each(|(value, own)| *value = dot(row(n + i), own));
        }
        if inner.factor().is_err() {
            return false;
        }
        wanted.clear();
        wanted.extend(rows.iter().map(|&i| residual[n + i]));
        normal.fill(0.0);
        Self::bend(inner, gradients, wanted, normal);
        for (k, (tangent, own)) in tangents.chunks_exact_mut(n).zip(basis.chunks_exact(n)).enumerate() {
            tangent.copy_from_slice(own);
            wanted.clear();
            wanted.extend(rows.iter().map(|&i| dot(row(n + i), own)));
            Self::bend(inner, gradients, wanted, tangent);
            push.iter_mut().enumerate().for_each(|(i, pushed)| *pushed = dot(row(i), tangent));
            for (e, other) in basis.chunks_exact(n).enumerate() {
                reduced.values_mut()[e * free + k] = dot(other, push);
            }
        }
        if reduced.factor().is_err() {
            return false;
        }
        push.iter_mut().enumerate().for_each(|(i, pushed)| *pushed = residual[i] + dot(row(i), normal));
        along.clear();
        along.extend(basis.chunks_exact(n).map(|own| -dot(own, push)));
        reduced.solve(along);
        change.copy_from_slice(normal);
        for (u, tangent) in along.iter().zip(tangents.chunks_exact(n)) {
            change.iter_mut().zip(tangent).for_each(|(out, t)| *out += u * t);
        }
        true
    }
}
