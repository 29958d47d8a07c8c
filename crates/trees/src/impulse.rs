//! Impacts: the velocities after constraints have acted for an instant.
//!
//! M (v⁺ − v) = Gᵀ Λ with G v⁺ = target; for a collision with restitution e the target is −e G v. Forces of finite size do
//! nothing in an instant.
//!
//! Reference: \[1\] Featherstone: Rigid body dynamics algorithms, 2008, sec. 11.7.

use crate::constraint_inertia::constraint_inertia;
use crate::ltl;
use crate::tree::Tree;
use std::fmt;

/// The constraints of an impact depend on each other.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Redundant {
    /// The first row that depends on those before.
    pub row: usize,
    /// What is left of its inverse inertia, relative to the whole.
    pub pivot: f64,
}

impl fmt::Display for Redundant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "constraint row {} depends on those before it (relative pivot {:.1e}); leave it out of the impact",
            self.row, self.pivot
        )
    }
}

impl std::error::Error for Redundant {}

/// Scratch of [`impulse`].
#[derive(Clone, Debug)]
pub struct Work {
    rows: Vec<f64>,
    matrix: Vec<f64>,
}

impl Work {
    /// Scratch for this tree and `m` constraint rows.
    pub fn new(tree: &Tree, m: usize) -> Self {
        Self { rows: vec![0.0; m * tree.nv], matrix: vec![0.0; m * m] }
    }
}

/// Changes `v` so that G v = `target`, by the impulses `out` (N s or N m s) along the rows of G; `factor` comes from
/// [`ltl::factor`]. Rows whose inverse inertia is below 1e-12 of what it was without the others are an error.
pub fn impulse(
    tree: &Tree,
    factor: &[f64],
    rows: &[f64],
    target: &[f64],
    v: &mut [f64],
    work: &mut Work,
    out: &mut [f64],
) -> Result<(), Redundant> {
    let (n, m) = (tree.nv, target.len());
    assert!(rows.len() == m * n && out.len() == m && work.matrix.len() == m * m);
    work.rows.copy_from_slice(rows);
    constraint_inertia(tree, factor, &mut work.rows, &mut work.matrix);
    for i in 0..m {
        out[i] = target[i] - (0..n).map(|k| rows[i * n + k] * v[k]).sum::<f64>();
    }
    let a = &mut work.matrix;
    for j in 0..m {
        let whole = a[j * m + j];
        let pivot = whole - (0..j).map(|k| a[j * m + k] * a[j * m + k]).sum::<f64>();
        if pivot.is_nan() || pivot <= 1e-12 * whole {
            return Err(Redundant { row: j, pivot: pivot / whole });
        }
        let root = pivot.sqrt();
        a[j * m + j] = root;
        for i in j + 1..m {
            let sum: f64 = (0..j).map(|k| a[i * m + k] * a[j * m + k]).sum();
            a[i * m + j] = (a[i * m + j] - sum) / root;
        }
    }
    for i in 0..m {
        let sum: f64 = (0..i).map(|k| a[i * m + k] * out[k]).sum();
        out[i] = (out[i] - sum) / a[i * m + i];
    }
    for i in (0..m).rev() {
        let sum: f64 = (i + 1..m).map(|k| a[k * m + i] * out[k]).sum();
        out[i] = (out[i] - sum) / a[i * m + i];
    }
    // v += M⁻¹ Gᵀ Λ; G L⁻¹ is already there, so only the second half of the solve is left.
    let mut change = vec![0.0; n];
    for k in 0..n {
        let sum: f64 = (0..m).map(|i| work.rows[i * n + k] * out[i]).sum();
        change[k] = sum * factor[k * n + k];
    }
    ltl::solve_lower(tree, factor, &mut change);
    for k in 0..n {
        v[k] += change[k];
    }
    Ok(())
}
