//! The equations of a system, read with the number that records.
//!
//! ```text
//! M(q) v̇ = f + B u − [G; A]ᵀ λ + C λ
//! ```
//!
//! Transcriptions take them in the form of inverse dynamics, M a − f − B u + [G; A]ᵀ λ − C λ = 0, which needs no factor of the mass matrix: M a costs as much as
//! inverse dynamics does. Only shooting and explicit collocation ask for accelerations, by factors recorded without pivoting.

use dalembert_graph::Trace;
use dalembert_methods::algebra::{Mass, Rows};
use dalembert_methods::{Real, Shape, State, System};

/// A system with scratch for recording.
pub struct Reader<'y, Y: System> {
    /// The system.
    pub system: &'y Y,
    /// Its sizes.
    pub shape: Shape,
    /// Its scratch.
    pub work: Y::Work<Trace>,
    mass: Mass<Trace>,
    rows: Rows<Trace>,
}

fn zeros(n: usize) -> Vec<Trace> {
    vec![Trace::from(0.0); n]
}

impl<'y, Y: System> Reader<'y, Y> {
    /// A reader of this system.
    pub fn new(system: &'y Y) -> Self {
        let shape = system.shape();
        let rows = Rows::new(shape.rows(), shape.v, &system.row_blocks());
        Self { system, shape, work: system.work(), mass: Mass::new(&system.mass_blocks()), rows }
    }

    /// Kinematics of a state.
    pub fn prepare(&mut self, s: &State<Trace>) {
        self.system.prepare(s, &mut self.work);
    }

    /// M(q) a in a prepared state.
    pub fn mass_times(&mut self, s: &State<Trace>, a: &[Trace]) -> Vec<Trace> {
        self.system.mass(s, &mut self.work, &mut self.mass);
        let mut out = zeros(self.shape.v);
        self.mass.apply(a, &mut out);
        out
    }

    /// M(q)⁻¹ p in a prepared state, by a factor without pivoting.
    pub fn mass_solve(&mut self, s: &State<Trace>, p: &[Trace]) -> Vec<Trace> {
        self.system.mass(s, &mut self.work, &mut self.mass);
        self.mass.factor();
        let mut out = p.to_vec();
        self.mass.solve(&mut out);
        out
    }

    /// The forces f in a prepared state.
    pub fn force(&mut self, s: &State<Trace>) -> Vec<Trace> {
        let mut out = zeros(self.shape.v);
        self.system.force(s, &mut self.work, &mut out);
        out
    }

    /// The rates of the extra states in a prepared state, after [`Reader::force`].
    pub fn rate(&mut self, s: &State<Trace>) -> Vec<Trace> {
        let mut out = zeros(self.shape.x);
        self.system.rate(s, &mut self.work, &mut out);
        out
    }

    /// The integrands in a prepared state, with multipliers of all rows.
    pub fn integrand(&mut self, s: &State<Trace>, multipliers: &[Trace]) -> Vec<Trace> {
        let mut out = zeros(self.shape.z);
        self.system.integrand(s, multipliers, &mut self.work, &mut out);
        out
    }

    /// [G; A]ᵀ λ − C λ in a prepared state.
    pub fn reaction(&mut self, s: &State<Trace>, multipliers: &[Trace]) -> Vec<Trace> {
        let mut out = zeros(self.shape.v);
        if self.shape.rows() == 0 {
            return out;
        }
        self.system.jacobian(s, &mut self.work, &mut self.rows);
        self.rows.add_transpose(1.0, multipliers, &mut out);
        if !self.system.loads().is_empty() {
            let mut friction = zeros(self.shape.v);
            self.system.friction(s, multipliers, &mut self.work, &mut friction);
            out.iter_mut().zip(friction).for_each(|(out, f)| *out -= f);
        }
        out
    }

    /// [G; A]ᵀ λ alone: directions in which constraints push, for projections.
    pub fn directions(&mut self, s: &State<Trace>, multipliers: &[Trace]) -> Vec<Trace> {
        let mut out = zeros(self.shape.v);
        if self.shape.rows() > 0 {
            self.system.jacobian(s, &mut self.work, &mut self.rows);
            self.rows.add_transpose(1.0, multipliers, &mut out);
        }
        out
    }

    /// [G; A] in a prepared state, by rows.
    pub fn gradients(&mut self, s: &State<Trace>) -> Vec<Trace> {
        let mut dense = zeros(self.shape.rows() * self.shape.v);
        if self.shape.rows() > 0 {
            self.system.jacobian(s, &mut self.work, &mut self.rows);
            self.rows.to_dense(&mut dense);
        }
        dense
    }

    /// The holonomic residuals g in a prepared state.
    pub fn holonomic(&mut self, s: &State<Trace>) -> Vec<Trace> {
        let mut out = zeros(self.shape.g);
        if self.shape.g > 0 {
            self.system.constraint(s, &mut self.work, &mut out);
        }
        out
    }

    /// The residuals of all rows on the level of velocities in a prepared state.
    pub fn velocity(&mut self, s: &State<Trace>) -> Vec<Trace> {
        let mut out = zeros(self.shape.rows());
        if self.shape.rows() > 0 {
            self.system.constraint_rate(s, &mut self.work, &mut out);
        }
        out
    }

    /// The residuals of all rows on the level of accelerations in a prepared state.
    pub fn second(&mut self, s: &State<Trace>, a: &[Trace]) -> Vec<Trace> {
        let mut out = zeros(self.shape.rows());
        if self.shape.rows() > 0 {
            self.system.constraint_bias(s, &mut self.work, &mut out);
            self.system.jacobian(s, &mut self.work, &mut self.rows);
            self.rows.add_apply(a, &mut out);
        }
        out
    }

    /// M a − f − B u + [G; A]ᵀ λ − C λ; `drives` is B u.
    pub fn balance(&mut self, s: &State<Trace>, a: &[Trace], drives: &[Trace], multipliers: &[Trace]) -> Vec<Trace> {
        self.prepare(s);
        let mut out = self.mass_times(s, a);
        let (force, reaction) = (self.force(s), self.reaction(s, multipliers));
        for i in 0..self.shape.v {
            out[i] = out[i] - force[i] - drives[i] + reaction[i];
        }
        out
    }

    /// Accelerations and multipliers from forces: M a + [G; A]ᵀ λ = f + B u, [G; A] a = −bias, by factors without pivoting.
    pub fn accelerate(&mut self, s: &State<Trace>, drives: &[Trace]) -> (Vec<Trace>, Vec<Trace>) {
        let all: Vec<usize> = (0..self.shape.rows()).collect();
        self.accelerate_by(s, drives, &all)
    }

    /// The same by some of the rows, from which the others follow; multipliers are theirs.
    pub fn accelerate_by(&mut self, s: &State<Trace>, drives: &[Trace], rows: &[usize]) -> (Vec<Trace>, Vec<Trace>) {
        self.prepare(s);
        let (n, m) = (self.shape.v, rows.len());
        let mut a: Vec<Trace> = self.force(s).iter().zip(drives).map(|(&f, &d)| f + d).collect();
        self.system.mass(s, &mut self.work, &mut self.mass);
        self.mass.factor();
        self.mass.solve(&mut a);
        if m == 0 {
            return (a, Vec::new());
        }
        let all = self.gradients(s);
        let dense: Vec<Trace> = rows.iter().flat_map(|&row| all[row * n..(row + 1) * n].iter().copied()).collect();
        // Columns of M⁻¹ Gᵀ, then S = G M⁻¹ Gᵀ, S λ = G a + bias.
        let columns: Vec<Vec<Trace>> = dense
            .chunks_exact(n)
            .map(|row| {
                let mut column = row.to_vec();
                self.mass.solve(&mut column);
                column
            })
            .collect();
        let dot = |a: &[Trace], b: &[Trace]| a.iter().zip(b).fold(Trace::from(0.0), |sum, (&a, &b)| sum + a * b);
        let mut schur: Vec<Vec<Trace>> =
            dense.chunks_exact(n).map(|row| columns.iter().map(|column| dot(row, column)).collect()).collect();
        let mut bias = zeros(self.shape.rows());
        self.system.constraint_bias(s, &mut self.work, &mut bias);
        let mut multipliers: Vec<Trace> =
            dense.chunks_exact(n).zip(rows).map(|(row, &b)| dot(row, &a) + bias[b]).collect();
        eliminate(&mut schur, &mut multipliers);
        for (column, &multiplier) in columns.iter().zip(&multipliers) {
            a.iter_mut().zip(column).for_each(|(a, &c)| *a -= c * multiplier);
        }
        (a, multipliers)
    }
}

/// Solves a symmetric positive system by elimination without pivoting.
fn eliminate(matrix: &mut [Vec<Trace>], right: &mut [Trace]) {
    let n = right.len();
    for k in 0..n {
        let reciprocal = Trace::one() / matrix[k][k];
        for i in k + 1..n {
            let factor = matrix[i][k] * reciprocal;
            for j in k + 1..n {
                let product = factor * matrix[k][j];
                matrix[i][j] -= product;
            }
            let product = factor * right[k];
            right[i] -= product;
        }
    }
    for k in (0..n).rev() {
        let mut sum = right[k];
        for j in k + 1..n {
            sum -= matrix[k][j] * right[j];
        }
        right[k] = sum / matrix[k][k];
    }
}
