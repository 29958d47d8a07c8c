//! The inverse inertia seen by constraints: G M⁻¹ Gᵀ (m × m), by the sparse factor of the mass matrix.
//!
//! With M = LᵀDL each row of G is taken to y = L⁻ᵀ g, at the cost of the depth of the tree; then G M⁻¹ Gᵀ = Y D⁻¹ Yᵀ. Its inverse
//! is the inertia felt along the constraints (the operational-space inertia when G is the Jacobian of a frame).
//!
//! Reference: \[1\] Featherstone: Exploiting sparsity in operational-space dynamics, Int. J. Robot. Res. 29 (2010).

use crate::ltl;
use crate::tree::Tree;
use dalembert_methods::Real;

/// Writes G M⁻¹ Gᵀ by rows; `rows` holds G (m × n by rows) and is overwritten by G L⁻¹. `factor` comes from [`ltl::factor`].
#[inline(always)]
pub fn constraint_inertia<T: Real>(tree: &Tree, factor: &[T], rows: &mut [T], out: &mut [T]) {
    let n = tree.nv;
    let m = rows.len() / n.max(1);
    assert!(rows.len() == m * n && out.len() == m * m && factor.len() == n * n);
    for row in rows.chunks_exact_mut(n.max(1)) {
        ltl::solve_transposed(tree, factor, row);
    }
    for i in 0..m {
        for j in 0..=i {
            let mut sum = T::zero();
            for k in 0..n {
                sum = (rows[i * n + k] * rows[j * n + k]).mul_plus(factor[k * n + k], sum);
            }
            out[i * m + j] = sum;
            out[j * m + i] = sum;
        }
    }
}
