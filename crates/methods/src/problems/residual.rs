//! Constraints from one written function: residuals, rates, Jacobian and bias by jets.
//!
//! For systems with q̇ = v whose configuration has `N` coordinates. Along q(τ) = q + v τ, t(τ) = t + τ a residual g has
//! dg/dτ = G v + ∂g/∂t and d²g/dτ² = the bias; column j of G is the derivative along coordinate j.

use crate::algebra::Rows;
use crate::jet::Jet;
use crate::real::Real;
use crate::scalar::Scalar;
use crate::system::State;

/// Holonomic constraints g(t, q) = 0, written once.
pub trait Holonomic<const N: usize, const M: usize> {
    /// The residuals.
    fn residual<R: Real>(&self, t: R, q: [R; N]) -> [R; M];
}

/// Velocity-level constraints A(t, q) v + b(t, q) = 0, written once.
pub trait VelocityLevel<const N: usize, const M: usize> {
    /// The residuals.
    fn residual<R: Real>(&self, t: R, q: [R; N], v: [R; N]) -> [R; M];
}

fn array<S: Scalar, const N: usize>(values: &[S]) -> [S; N] {
    std::array::from_fn(|i| values[i])
}

/// Writes one block that covers all rows and columns.
fn write<S: Scalar, const N: usize, const M: usize>(columns: [[S; M]; N], out: &mut Rows<S>) {
    let block = out.block_mut(0);
    for (j, column) in columns.iter().enumerate() {
        for (i, &value) in column.iter().enumerate() {
            block[i * N + j] = value;
        }
    }
}

/// g.
pub fn constraint<S: Scalar, const N: usize, const M: usize>(g: &impl Holonomic<N, M>, s: &State<S>, out: &mut [S]) {
    out[..M].copy_from_slice(&g.residual(s.t, array(&s.q)));
}

/// G v + ∂g/∂t.
pub fn constraint_rate<S: Scalar, const N: usize, const M: usize>(
    g: &impl Holonomic<N, M>,
    s: &State<S>,
    out: &mut [S],
) {
    let q = std::array::from_fn(|i| Jet::new(s.q[i], s.v[i]));
    out[..M].copy_from_slice(&g.residual(Jet::new(s.t, S::one()), q).map(|g| g.eps[0]));
}

/// The second derivative along q + v τ, t + τ.
pub fn constraint_bias<S: Scalar, const N: usize, const M: usize>(
    g: &impl Holonomic<N, M>,
    s: &State<S>,
    out: &mut [S],
) {
    let twice = |value, rate| Jet::new(Jet::new(value, rate), Jet::new(rate, S::zero()));
    let q = std::array::from_fn(|i| twice(s.q[i], s.v[i]));
    out[..M].copy_from_slice(&g.residual(twice(s.t, S::one()), q).map(|g| g.eps[0].eps[0]));
}

/// G, written to the first block.
pub fn jacobian<S: Scalar, const N: usize, const M: usize>(g: &impl Holonomic<N, M>, s: &State<S>, out: &mut Rows<S>) {
    let columns = std::array::from_fn(|j| {
        let q = std::array::from_fn(|i| Jet::new(s.q[i], S::from(if i == j { 1.0 } else { 0.0 })));
        g.residual(Jet::<S, 1>::constant(s.t), q).map(|g| g.eps[0])
    });
    write::<S, N, M>(columns, out);
}

/// A v + b.
pub fn velocity_rate<S: Scalar, const N: usize, const M: usize>(
    a: &impl VelocityLevel<N, M>,
    s: &State<S>,
    out: &mut [S],
) {
    out[..M].copy_from_slice(&a.residual(s.t, array(&s.q), array(&s.v)));
}

/// The derivative of A v + b along q + v τ, t + τ at constant v.
pub fn velocity_bias<S: Scalar, const N: usize, const M: usize>(
    a: &impl VelocityLevel<N, M>,
    s: &State<S>,
    out: &mut [S],
) {
    let q = std::array::from_fn(|i| Jet::new(s.q[i], s.v[i]));
    let v = std::array::from_fn(|i| Jet::constant(s.v[i]));
    out[..M].copy_from_slice(&a.residual(Jet::new(s.t, S::one()), q, v).map(|a| a.eps[0]));
}

/// A, written to the first block.
pub fn velocity_jacobian<S: Scalar, const N: usize, const M: usize>(
    a: &impl VelocityLevel<N, M>,
    s: &State<S>,
    out: &mut Rows<S>,
) {
    let columns = std::array::from_fn(|j| {
        let q = std::array::from_fn(|i| Jet::<S, 1>::constant(s.q[i]));
        let v = std::array::from_fn(|i| Jet::new(s.v[i], S::from(if i == j { 1.0 } else { 0.0 })));
        a.residual(Jet::constant(s.t), q, v).map(|a| a.eps[0])
    });
    write::<S, N, M>(columns, out);
}
