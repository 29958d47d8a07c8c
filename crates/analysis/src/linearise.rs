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
//! The same is done at rest where contacts slide: friction follows the press, and the press follows the motion, which Jᵀ does not take out.
//!
//! Reference: Schiehlen: Computational dynamics: theory and applications of multibody systems, Eur. J. Mech. A/Solids 25 (2006) 566–594, eqs.
//! (17), (40), (41).

use crate::dense::Matrix;
use crate::error::AnalysisError;
use crate::linear::Linear;
use crate::variation::Variation;
use dalembert_methods::algebra::Rows;
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
    /// The rates of (y, ẏ, x) under unit forces on each velocity of the system, as columns.
    pub input: Matrix,
    /// The accelerations of the motion about which it was linearised: zero at an equilibrium.
    pub acceleration: f64,
}

/// Entries of a row or a column that are not zero, by rising place.
type Line = Vec<(usize, f64)>;

/// A basis of the null space of rows, and the coordinates that parametrise it: column k has 1 at the k-th of them, 0 at the others.
pub fn null_space(rows: &Matrix) -> (Matrix, Vec<usize>) {
    let n = rows.cols();
    let line = |i: usize| rows.row(i).iter().copied().enumerate().filter(|(_, x)| *x != 0.0).collect();
    let (columns, free) = sparse_null_space(n, (0..rows.rows()).map(line).collect());
    let mut basis = Matrix::zeros(n, free.len());
    for (k, column) in columns.iter().enumerate() {
        column.iter().for_each(|&(i, value)| basis[(i, k)] = value);
    }
    (basis, free)
}

/// The same for rows by their entries: the columns of the basis by theirs.
pub fn sparse_null_space(n: usize, mut rows: Vec<Line>) -> (Vec<Line>, Vec<usize>) {
    let m = rows.len();
    let size = rows.iter().flatten().fold(0.0f64, |max, (_, x)| max.max(x.abs()));
    let (mut pivots, mut taken, mut sum) = (Vec::new(), vec![false; n], Line::new());
    // Gauss and Jordan with complete pivoting.
    for step in 0..m.min(n) {
        let mut best = (step, 0, 0.0f64);
        for (i, row) in rows.iter().enumerate().skip(step) {
            for &(j, x) in row {
                if x.abs() > best.2 && !taken[j] {
                    best = (i, j, x.abs());
                }
            }
        }
        let (row, col, value) = best;
        if value <= REDUNDANT * size {
            break;
        }
        rows.swap(step, row);
        let mut pivot = std::mem::take(&mut rows[step]);
        let inverse = 1.0 / entry(&pivot, col);
        pivot.iter_mut().for_each(|(_, x)| *x *= inverse);
        for (i, row) in rows.iter_mut().enumerate() {
            let factor = entry(row, col);
            if i != step && factor != 0.0 {
                subtract(row, factor, &pivot, &mut sum);
                std::mem::swap(row, &mut sum);
            }
        }
        rows[step] = pivot;
        taken[col] = true;
        pivots.push(col);
    }
    let free: Vec<usize> = (0..n).filter(|&j| !taken[j]).collect();
    let mut place = vec![usize::MAX; n];
    free.iter().enumerate().for_each(|(k, &j)| place[j] = k);
    let mut columns: Vec<Line> = free.iter().map(|&j| vec![(j, 1.0)]).collect();
    for (row, &col) in rows.iter().zip(&pivots) {
        for &(j, x) in row.iter().filter(|(j, _)| !taken[*j]) {
            columns[place[j]].push((col, -x));
        }
    }
    columns.iter_mut().for_each(|column| column.sort_unstable_by_key(|(i, _)| *i));
    (columns, free)
}

/// The entry of a row at a place.
fn entry(row: &Line, place: usize) -> f64 {
    row.binary_search_by_key(&place, |(j, _)| *j).map_or(0.0, |k| row[k].1)
}

/// out = row − factor · other, without what becomes zero.
fn subtract(row: &Line, factor: f64, other: &Line, out: &mut Line) {
    out.clear();
    let mut rest = other.iter().peekable();
    for &(j, x) in row {
        while let Some(&(k, y)) = rest.next_if(|(k, _)| *k < j) {
            out.push((k, -factor * y));
        }
        let x = x - rest.next_if(|(k, _)| *k == j).map_or(0.0, |(_, y)| factor * y);
        if x != 0.0 {
            out.push((j, x));
        }
    }
    out.extend(rest.map(|&(k, y)| (k, -factor * y)));
}

/// Rows by their entries.
fn lines(rows: &Rows<f64>) -> Vec<Line> {
    let mut lines = vec![Line::new(); rows.rows()];
    for (k, b) in rows.blocks().iter().enumerate() {
        for (i, &value) in rows.block(k).iter().enumerate().filter(|(_, value)| **value != 0.0) {
            lines[b.row + i / b.cols].push((b.col + i % b.cols, value));
        }
    }
    for line in &mut lines {
        line.sort_by_key(|(j, _)| *j);
        // Blocks may overlap.
        line.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            kept.1 += if same { next.1 } else { 0.0 };
            same
        });
    }
    lines
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
    let slides = !y.loads().is_empty();
    if moves && shape.a > 0 {
        let reason = format!(
            "a system with rows on velocities (rolling) is linearised at rest; here a velocity is {fastest:.3e}; use multipliers of the \
             motion (a limit cycle) or write the motion in a frame in which it rests"
        );
        return Err(AnalysisError::Invalid { reason });
    }
    let mut variation = Variation::new(y);
    variation.motion(y, s)?;
    let mut mass = Matrix::zeros(n, n);
    let parts = variation.dynamics.parts();
    parts.mass.entries(|row, col, value| mass[(row, col)] = value);
    let (sparse, independent) = sparse_null_space(n, lines(parts.rows));
    let f = independent.len();
    let mut basis = Matrix::zeros(n, f);
    for (k, column) in sparse.iter().enumerate() {
        column.iter().for_each(|&(i, value)| basis[(i, k)] = value);
    }
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
    let system = if moves || slides {
        let [turn, first, second] = [(0, 0), (f, 0), (f, f)].map(|(row, col)| state_matrix.block(row, col, f, f));
        let speed = inertia.mul(&second.plus(1.0, &turn)).scaled(-1.0);
        let place = inertia.mul(&first.plus(-1.0, &second.mul(&turn))).scaled(-1.0);
        Linear::split(&inertia, &speed, &place)
    } else {
        Linear::split(&inertia, &reduced(&damping, -1.0), &reduced(&stiffness, -1.0))
    };
    let all: Vec<usize> = (0..n).collect();
    Ok(Linearised {
        system,
        state_matrix,
        input: inputs(&mut variation, y, s, &independent, &all)?,
        names: independent.iter().map(|&i| y.velocity_name(i)).collect(),
        independent,
        basis,
        acceleration: variation.rates.v.iter().fold(0.0, |max, a| a.abs().max(max)),
    })
}

/// The state matrix of a system by its entries, for systems that are too large for matrices with all of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Entries {
    /// The number of states (y, ẏ, x).
    pub size: usize,
    /// The entries of A: row, column, value.
    pub state: Vec<(usize, usize, f64)>,
    /// The independent coordinates, and their names.
    pub independent: Vec<usize>,
    /// Their names.
    pub names: Vec<String>,
    /// B: the rates of the states under unit forces on some velocities, as columns.
    pub input: Matrix,
}

/// Changes that are followed at once.
const TOGETHER: usize = 6;

/// The state matrix of a system at rest by its entries that are not zero, and the input of forces on some velocities.
///
/// # Errors
/// [`AnalysisError::Invalid`] if the system has constraints and is not at rest, and those of the accelerations.
pub fn entries<Y: System>(y: &Y, s: &State<f64>, forces: &[usize]) -> Result<Entries, AnalysisError> {
    let shape = y.shape();
    let (n, m, x) = (shape.v, shape.rows(), shape.x);
    if m > 0 && s.v.iter().any(|v| v.abs() > REST) {
        let reason = "a large system with constraints is linearised at rest".to_owned();
        return Err(AnalysisError::Invalid { reason });
    }
    let mut variation = Variation::new(y);
    variation.motion(y, s)?;
    let (basis, independent) = sparse_null_space(n, lines(variation.dynamics.parts().rows));
    let f = independent.len();
    let size = 2 * f + x;
    let place = |i: usize| match i {
        _ if i < f => independent[i],
        _ if i < 2 * f => n + independent[i - f],
        _ => 2 * n + i - 2 * f,
    };
    let mut state = Vec::new();
    for first in (0..size).step_by(TOGETHER) {
        let count = TOGETHER.min(size - first);
        let mut columns = Matrix::zeros(2 * n + x, count);
        for k in 0..count {
            match first + k {
                j if j < f => basis[j].iter().for_each(|&(i, value)| columns[(i, k)] = value),
                j if j < 2 * f => basis[j - f].iter().for_each(|&(i, value)| columns[(n + i, k)] = value),
                j => columns[(2 * n + j - 2 * f, k)] = 1.0,
            }
        }
        let mut rates = Matrix::zeros(2 * n + x, count);
        variation.changes(y, s, &columns, &mut rates)?;
        for i in 0..size {
            let entries = (0..count).map(|k| (i, first + k, rates[(place(i), k)]));
            state.extend(entries.filter(|(_, _, value)| *value != 0.0));
        }
    }
    let input = inputs(&mut variation, y, s, &independent, forces)?;
    let names = independent.iter().map(|&i| y.velocity_name(i)).collect();
    Ok(Entries { size, state, independent, names, input })
}

/// The rates of (y, ẏ, x) under unit forces on some velocities, as columns, at the state of the last evaluation.
fn inputs<Y: System>(
    variation: &mut Variation<Y>,
    y: &Y,
    s: &State<f64>,
    independent: &[usize],
    forces: &[usize],
) -> Result<Matrix, AnalysisError> {
    let shape = y.shape();
    let f = independent.len();
    let mut input = Matrix::zeros(2 * f + shape.x, forces.len());
    for (k, &force) in forces.iter().enumerate() {
        let (mut push, mut right) = (vec![0.0; shape.v], vec![0.0; shape.rows()]);
        push[force] = 1.0;
        variation.dynamics.respond(y, s, &mut push, &mut right)?;
        (0..f).for_each(|i| input[(f + i, k)] = push[independent[i]]);
    }
    Ok(input)
}
