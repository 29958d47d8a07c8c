//! Small motions of any system about a state of rest or a steady motion, in independent coordinates.
//!
//! Constraints leave a space of velocities: with coordinates y chosen among the system's own by elimination of the rows, v = J ẏ. At rest
//! with multipliers λ
//!
//! ```text
//! M_y = Jᵀ M J,   P = −Jᵀ D J,   Q = −Jᵀ K J,      K = ∂(f + Cλ − [G; A]ᵀλ − M a)/∂δ,   D = ∂(f + Cλ)/∂v
//! ```
//!
//! and the symmetric and skew parts of P and Q are damping, gyroscopic, stiffness and circulatory matrices ([`crate::linear`]). The state
//! matrix comes by another way, from the linearised equations themselves ([`crate::variation`]), and holds the extra states too.
//!
//! About a motion of a system with holonomic constraints changes (y, u) of positions and velocities obey ẏ = C y + u, u̇ = A₁ y + A₂ u, where changes of
//! the dependent velocities keep the constraints; then
//!
//! ```text
//! P = −M_y (A₂ + C),   Q = −M_y (A₁ − A₂ C)
//! ```
//!
//! Reference: Schiehlen: Computational dynamics: theory and applications of multibody systems, Eur. J. Mech. A/Solids 25 (2006) 566–594, eqs.
//! (17), (40), (41).

use crate::dense::Matrix;
use crate::error::AnalysisError;
use crate::linear::Linear;
use crate::variation::Variation;
use dalembert_methods::system::{State, System};
use dalembert_methods::tangent::Tangent;

/// Pivots below this part of the largest entry are zero: their rows are redundant.
const REDUNDANT: f64 = 1e-10;
/// Speeds up to this count as rest, relative to one.
const REST: f64 = 1e-9;

/// A linearised system.
#[derive(Clone, Debug, PartialEq)]
pub struct Linearised {
    /// M, D, G, K, N in the independent coordinates.
    pub system: Linear,
    /// The matrix A of (y, ẏ, x).
    pub state_matrix: Matrix,
    /// The independent coordinates: which velocities of the system they belong to.
    pub independent: Vec<usize>,
    /// Their names.
    pub names: Vec<String>,
    /// J: all velocities from the independent ones.
    pub basis: Matrix,
    /// The accelerations of the motion about which it was linearised: zero at an equilibrium.
    pub acceleration: f64,
}

/// A basis of the null space of rows, and the coordinates that parametrise it: column k has 1 at the k-th of them, 0 at the others.
pub fn null_space(rows: &Matrix) -> (Matrix, Vec<usize>) {
    let (m, n) = (rows.rows(), rows.cols());
    let mut a = rows.clone();
    let (size, mut pivots) = (a.largest(), Vec::new());
    // Gauss and Jordan with complete pivoting.
    for step in 0..m.min(n) {
        let mut best = (step, 0, 0.0f64);
        for i in step..m {
            for j in (0..n).filter(|j| !pivots.contains(j)) {
                if a[(i, j)].abs() > best.2 {
                    best = (i, j, a[(i, j)].abs());
                }
            }
        }
        let (row, col, value) = best;
        if value <= REDUNDANT * size {
            break;
        }
        for j in 0..n {
            let swapped = a[(step, j)];
            a[(step, j)] = a[(row, j)];
            a[(row, j)] = swapped;
        }
        let inverse = 1.0 / a[(step, col)];
        (0..n).for_each(|j| a[(step, j)] *= inverse);
        for i in (0..m).filter(|&i| i != step) {
            let factor = a[(i, col)];
            if factor != 0.0 {
                for j in 0..n {
                    let above = a[(step, j)];
                    a[(i, j)] -= factor * above;
                }
            }
        }
        pivots.push(col);
    }
    let free: Vec<usize> = (0..n).filter(|j| !pivots.contains(j)).collect();
    let mut basis = Matrix::zeros(n, free.len());
    for (k, &j) in free.iter().enumerate() {
        basis[(j, k)] = 1.0;
        for (step, &col) in pivots.iter().enumerate() {
            basis[(col, k)] = -a[(step, j)];
        }
    }
    (basis, free)
}

/// Linearises a system about a state.
///
/// # Errors
/// [`AnalysisError::Invalid`] if a system with rows on velocities is not at rest there, and those of the accelerations.
pub fn linearise<Y: System>(y: &Y, s: &State<f64>) -> Result<Linearised, AnalysisError> {
    let shape = y.shape();
    let (n, m, x) = (shape.v, shape.rows(), shape.x);
    let fastest = s.v.iter().fold(0.0f64, |max, v| max.max(v.abs()));
    let moves = m > 0 && fastest > REST;
    if moves && shape.a > 0 {
        let reason = format!(
            "a system with rows on velocities (rolling) is linearised at rest; here a velocity is {fastest:.3e}; use multipliers of the \
             motion (a limit cycle) or write the motion in a frame in which it rests"
        );
        return Err(AnalysisError::Invalid { reason });
    }
    let mut variation = Variation::new(y);
    variation.motion(y, s)?;
    let (mut dense, mut mass) = (vec![0.0; m * n], Matrix::zeros(n, n));
    let parts = variation.dynamics.parts();
    parts.mass.entries(|row, col, value| mass[(row, col)] = value);
    if m > 0 {
        parts.rows.to_dense(&mut dense);
    }
    let (basis, independent) = null_space(&Matrix::from_rows(m, n, dense));
    let f = independent.len();
    let mut tangent = Tangent::new(y);
    tangent.evaluate(y, s, &variation.rates.multipliers, &variation.rates.v);
    let (mut stiffness, mut damping) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
    tangent.stiffness().to_dense(stiffness.values_mut());
    tangent.damping().to_dense(damping.values_mut());
    let reduced = |a: &Matrix, sign: f64| basis.transpose().mul(a).mul(&basis).scaled(sign);
    // The state matrix: rates of changes along the basis, read at the independent coordinates.
    let mut columns = Matrix::zeros(2 * n + x, 2 * f + x);
    columns.set_block(0, 0, &basis);
    columns.set_block(n, f, &basis);
    (0..x).for_each(|i| columns[(2 * n + i, 2 * f + i)] = 1.0);
    if moves {
        // Changes of positions change the velocities that constraints allow: keep them, with nothing at the independent ones.
        variation.settle(y, s, &mut columns)?;
        for j in 0..f {
            let own: Vec<f64> = independent.iter().map(|&i| columns[(n + i, j)]).collect();
            let kept = basis.apply(&own);
            (0..n).for_each(|i| columns[(n + i, j)] -= kept[i]);
        }
    }
    let mut rates = Matrix::zeros(2 * n + x, 2 * f + x);
    variation.changes(y, s, &columns, &mut rates)?;
    let place = |i: usize| match i {
        _ if i < f => independent[i],
        _ if i < 2 * f => n + independent[i - f],
        _ => 2 * n + i - 2 * f,
    };
    let state_matrix = Matrix::from_fn(2 * f + x, 2 * f + x, |i, j| rates[(place(i), j)]);
    let inertia = reduced(&mass, 1.0);
    let system = if moves {
        let [turn, first, second] = [(0, 0), (f, 0), (f, f)].map(|(row, col)| state_matrix.block(row, col, f, f));
        let speed = inertia.mul(&second.plus(1.0, &turn)).scaled(-1.0);
        let place = inertia.mul(&first.plus(-1.0, &second.mul(&turn))).scaled(-1.0);
        Linear::split(&inertia, &speed, &place)
    } else {
        Linear::split(&inertia, &reduced(&damping, -1.0), &reduced(&stiffness, -1.0))
    };
    Ok(Linearised {
        system,
        state_matrix,
        names: independent.iter().map(|&i| y.velocity_name(i)).collect(),
        independent,
        basis,
        acceleration: variation.rates.v.iter().fold(0.0, |max, a| a.abs().max(max)),
    })
}
