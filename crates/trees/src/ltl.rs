//! The factor M = LᵀDL of a mass matrix, which keeps the zeros of the tree.
//!
//! Velocities of different branches do not couple. Factored from the last row up, the matrix fills in nowhere: the factor has the
//! pattern of M, and solves cost as much as the tree is deep.
//!
//! Reference: \[1\] Featherstone: Efficient factorization of the joint-space inertia matrix for branched kinematic trees, Int. J.
//! Robot. Res. 24 (2005), tables 3 and 4.

use crate::tree::Tree;
use dalembert_methods::Real;

/// Replaces the lower triangle of `m` (by rows) by L below the diagonal and the reciprocals of D on it.
#[inline(always)]
pub fn factor<T: Real>(tree: &Tree, m: &mut [T]) {
    let n = tree.nv;
    assert!(m.len() == n * n);
    for k in (0..n).rev() {
        let (above, rest) = m.split_at_mut(k * n);
        let row = &mut rest[..n];
        let inverse = row[k].recip();
        row[k] = inverse;
        // For each i that moves k, in falling order: a = M_ki/D_k, M_ij −= a M_kj for j that move i, M_ki = a.
        let mut i = tree.before[k];
        while i != usize::MAX {
            let a = row[i] * inverse;
            let target = &mut above[i * n..(i + 1) * n];
            for &(first, last) in tree.runs(i) {
                for (t, x) in target[first..last].iter_mut().zip(&row[first..last]) {
                    *t = a.mul_from(*x, *t);
                }
            }
            row[i] = a;
            i = tree.before[i];
        }
    }
}

/// x ← L⁻ᵀ x: the forward half of a solve, from the last velocity to the first.
#[inline(always)]
pub fn solve_transposed<T: Real>(tree: &Tree, l: &[T], x: &mut [T]) {
    let n = tree.nv;
    for k in (0..n).rev() {
        let (xk, row) = (x[k], &l[k * n..(k + 1) * n]);
        for &(first, last) in tree.runs(k) {
            let last = last.min(k);
            if first < last {
                for (x, l) in x[first..last].iter_mut().zip(&row[first..last]) {
                    *x = l.mul_from(xk, *x);
                }
            }
        }
    }
}

/// x ← L⁻¹ x: the backward half of a solve, from the first velocity to the last.
#[inline(always)]
pub fn solve_lower<T: Real>(tree: &Tree, l: &[T], x: &mut [T]) {
    let n = tree.nv;
    for k in 0..n {
        let row = &l[k * n..(k + 1) * n];
        let mut sum = x[k];
        for &(first, last) in tree.runs(k) {
            let last = last.min(k);
            if first < last {
                for (x, l) in x[first..last].iter().zip(&row[first..last]) {
                    sum = l.mul_from(*x, sum);
                }
            }
        }
        x[k] = sum;
    }
}

/// x ← M⁻¹ x with the factor of M.
#[inline(always)]
pub fn solve<T: Real>(tree: &Tree, l: &[T], x: &mut [T]) {
    solve_transposed(tree, l, x);
    for k in 0..tree.nv {
        x[k] *= l[k * tree.nv + k];
    }
    solve_lower(tree, l, x);
}

/// X ← M⁻¹ X for a matrix of `columns` columns, by rows.
#[inline(always)]
pub fn solve_columns<T: Real>(tree: &Tree, l: &[T], columns: usize, x: &mut [T]) {
    let n = tree.nv;
    assert!(x.len() == n * columns && l.len() == n * n);
    for k in (0..n).rev() {
        let (above, rest) = x.split_at_mut(k * columns);
        let mut i = tree.before[k];
        while i != usize::MAX {
            let a = l[k * n + i];
            for (t, s) in above[i * columns..(i + 1) * columns].iter_mut().zip(&rest[..columns]) {
                *t = a.mul_from(*s, *t);
            }
            i = tree.before[i];
        }
    }
    for k in 0..n {
        let d = l[k * n + k];
        let (above, rest) = x.split_at_mut(k * columns);
        let row = &mut rest[..columns];
        for x in row.iter_mut() {
            *x *= d;
        }
        let mut i = tree.before[k];
        while i != usize::MAX {
            let a = l[k * n + i];
            for (t, s) in row.iter_mut().zip(&above[i * columns..(i + 1) * columns]) {
                *t = a.mul_from(*s, *t);
            }
            i = tree.before[i];
        }
    }
}
