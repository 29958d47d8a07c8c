//! Traces of real powers of symmetric positive definite matrices, without eigenvalues: those have no derivatives where they meet.
//!
//! C^s = (C^(1/16))^16s. Four square roots by the iteration of Denman and Beavers \[1\] bring all eigenvalues near one, the binomial
//! series gives the power s, four squarings the rest.
//!
//! Reference: \[1\] Denman, Beavers: The matrix sign function and computations in systems, Appl. Math. Comput. 2 (1976) 63–94.

use super::{inverse, trace};
use dalembert_methods::Real;
use dalembert_methods::vector::Mat3;

/// Square roots taken.
const ROOTS: i32 = 4;
/// Iterations of a root: the first meets eigenvalues down to 1e-4 of the mean, quadratic convergence does the rest.
const ITERATIONS: [usize; ROOTS as usize] = [13, 9, 8, 7];
/// Terms of the binomial series, for eigenvalues within 0.45 of one: 0.45^40 < 1e-13, and less by the coefficients.
const TERMS: usize = 40;

/// tr C^s.
pub(super) fn trace_of_power<R: Real>(c: &Mat3<R>, s: f64) -> R {
    let mean = trace(c) / 3.0;
    let mut root = *c * mean.recip();
    for iterations in ITERATIONS {
        root = square_root(&root, iterations);
    }
    let small = root + Mat3::identity() * -R::one();
    // Horner's scheme for Σ C(s,k) E^k.
    let mut sum = Mat3::identity();
    for k in (1..=TERMS).rev() {
        let factor = (s - (k as f64 - 1.0)) / k as f64;
        sum = Mat3::identity() + product(&small, &sum) * R::from(factor);
    }
    for _ in 0..ROOTS {
        sum = product(&sum, &sum);
    }
    trace(&sum) * mean.powf(R::from(s))
}

/// a b, compiled once.
#[inline(never)]
fn product<R: Real>(a: &Mat3<R>, b: &Mat3<R>) -> Mat3<R> {
    *a * *b
}

/// a⁻¹, compiled once.
#[inline(never)]
fn inverted<R: Real>(a: &Mat3<R>) -> Mat3<R> {
    inverse(a)
}

fn square_root<R: Real>(c: &Mat3<R>, iterations: usize) -> Mat3<R> {
    let (mut y, mut z, half) = (*c, Mat3::identity(), R::from(0.5));
    for _ in 0..iterations {
        (y, z) = ((y + inverted(&z)) * half, (z + inverted(&y)) * half);
    }
    y
}
