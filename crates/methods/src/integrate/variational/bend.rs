//! The sums over points for curves with a frequency ([`super::fitted`]): factors by bodies of W coordinates each, numbers by coordinates, in loops of known length over slices
//! that do not overlap.

use crate::real::Real;

/// Calls a function for the width of bodies.
macro_rules! by_width {
    ($width:expr, $name:ident($($argument:expr),* $(,)?)) => {
        match $width {
            1 => super::bend::$name::<_, 1>($($argument),*),
            2 => super::bend::$name::<_, 2>($($argument),*),
            _ => super::bend::$name::<_, 3>($($argument),*),
        }
    };
}
pub(super) use by_width;

/// δ = g₂ ξ + (g₁ + g₂ − 1) q.
#[inline(never)]
pub(super) fn place<R: Real, const W: usize>([value, sum]: [&[f64]; 2], xi: &[R], q: &[f64], out: &mut [R]) {
    let ((xi, _), (q, _), (out, _)) = (xi.as_chunks::<W>(), q.as_chunks::<W>(), out.as_chunks_mut::<W>());
    let n = out.len();
    let (value, sum, xi, q) = (&value[..n], &sum[..n], &xi[..n], &q[..n]);
    for b in 0..n {
        let (value, bulge) = (value[b], sum[b] - 1.0);
        (0..W).for_each(|j| out[b][j] = xi[b][j] * value + bulge * q[b][j]);
    }
}

/// δ̇ = (ġ₂ ξ + (ġ₁ + ġ₂) q)/h.
#[inline(never)]
pub(super) fn rate<R: Real, const W: usize>(
    [slope, turn]: [&[f64]; 2],
    inverse: f64,
    xi: &[R],
    q: &[f64],
    out: &mut [R],
) {
    let ((xi, _), (q, _), (out, _)) = (xi.as_chunks::<W>(), q.as_chunks::<W>(), out.as_chunks_mut::<W>());
    let n = out.len();
    let (slope, turn, xi, q) = (&slope[..n], &turn[..n], &xi[..n], &q[..n]);
    for b in 0..n {
        let (slope, turn) = (slope[b] * inverse, turn[b] * inverse);
        (0..W).for_each(|j| out[b][j] = xi[b][j] * slope + turn * q[b][j]);
    }
}

/// Adds w x.
#[inline(never)]
pub(super) fn add<R: Real>(weight: f64, x: &[R], out: &mut [R]) {
    let n = out.len();
    let x = &x[..n];
    for k in 0..n {
        out[k] += x[k] * weight;
    }
}

/// Adds w h² g₂ F at the end and w h² (g₁ + g₂) F at both ends.
#[inline(never)]
pub(super) fn push<R: Real, const W: usize>(
    [value, sum]: [&[f64]; 2],
    weight: f64,
    force: &[R],
    end: &mut [R],
    both: &mut [R],
) {
    let ((force, _), (end, _)) = (force.as_chunks::<W>(), end.as_chunks_mut::<W>());
    let (both, _) = both.as_chunks_mut::<W>();
    let n = end.len();
    let (value, sum, force, both) = (&value[..n], &sum[..n], &force[..n], &mut both[..n]);
    for b in 0..n {
        let (value, sum) = (weight * value[b], weight * sum[b]);
        for j in 0..W {
            end[b][j] += force[b][j] * value;
            both[b][j] += force[b][j] * sum;
        }
    }
}

/// Adds w F·∂q/∂x.
#[inline(never)]
pub(super) fn lean<R: Real, const W: usize>(
    [value, sum]: [&[f64]; 2],
    weight: f64,
    force: &[R],
    xi: &[R],
    q: &[f64],
    out: &mut [R],
) {
    let ((force, _), (xi, _)) = (force.as_chunks::<W>(), xi.as_chunks::<W>());
    let ((q, _), (out, _)) = (q.as_chunks::<W>(), out.as_chunks_mut::<W>());
    let n = out.len();
    let (value, sum, force, xi, q) = (&value[..n], &sum[..n], &force[..n], &xi[..n], &q[..n]);
    for b in 0..n {
        let (value, sum) = (weight * value[b], weight * sum[b]);
        (0..W).for_each(|j| out[b][j] += force[b][j] * (xi[b][j] * value + sum * q[b][j]));
    }
}

/// Adds m (a ξ + b q) at the end and m (b ξ + c q) at both ends.
#[inline(never)]
pub(super) fn swing<R: Real, const W: usize>(
    [a, b, c]: [&[f64]; 3],
    masses: &[f64],
    xi: &[R],
    q: &[f64],
    end: &mut [R],
    both: &mut [R],
) {
    let ((masses, _), (xi, _), (q, _)) = (masses.as_chunks::<W>(), xi.as_chunks::<W>(), q.as_chunks::<W>());
    let ((end, _), (both, _)) = (end.as_chunks_mut::<W>(), both.as_chunks_mut::<W>());
    let n = end.len();
    let (a, b, c, masses) = (&a[..n], &b[..n], &c[..n], &masses[..n]);
    let (xi, q, both) = (&xi[..n], &q[..n], &mut both[..n]);
    for i in 0..n {
        let (a, b, c) = (a[i], b[i], c[i]);
        for j in 0..W {
            let (xi, q, mass) = (xi[i][j], q[i][j], masses[i][j]);
            end[i][j] += (xi * a + b * q) * mass;
            both[i][j] += (xi * b + c * q) * mass;
        }
    }
}

/// Adds m/2h² (a ξ² + 2 b ξ q + c q²), with derivatives by x for a, b and c.
#[inline(never)]
pub(super) fn weigh<R: Real, const W: usize>(
    [a, b, c]: [&[f64]; 3],
    masses: &[f64],
    half: f64,
    xi: &[R],
    q: &[f64],
    out: &mut [R],
) {
    let ((masses, _), (xi, _), (q, _)) = (masses.as_chunks::<W>(), xi.as_chunks::<W>(), q.as_chunks::<W>());
    let (out, _) = out.as_chunks_mut::<W>();
    let n = out.len();
    let (a, b, c, masses) = (&a[..n], &b[..n], &c[..n], &masses[..n]);
    let (xi, q) = (&xi[..n], &q[..n]);
    for i in 0..n {
        let (a, b, c) = (a[i] * half, b[i] * (2.0 * half), c[i] * half);
        for j in 0..W {
            let (xi, q, mass) = (xi[i][j], q[i][j], masses[i][j]);
            out[i][j] += (xi * (xi * a + b * q) + c * q * q) * mass;
        }
    }
}

/// Moves factors by their derivatives.
#[inline(never)]
pub(super) fn nudge(by: &[f64], shift: &[f64], out: &mut [f64]) {
    let n = out.len();
    let (by, shift) = (&by[..n], &shift[..n]);
    for k in 0..n {
        out[k] += by[k] * shift[k];
    }
}
