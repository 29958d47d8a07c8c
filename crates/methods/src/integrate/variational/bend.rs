//! The sums over points for curves with a frequency ([`super::fitted`]): factors by bodies of W coordinates each, numbers by coordinates, in loops over one body after another.

use super::centre::{Homes, home};
use super::fitted::{Motion, Table};
use crate::real::Real;

/// Calls a function for the width of bodies.
macro_rules! by_width {
    ($width:expr, $name:ident($($argument:expr),* $(,)?)) => {
        match $width {
            1 => $crate::integrate::variational::bend::$name::<_, 1>($($argument),*),
            2 => $crate::integrate::variational::bend::$name::<_, 2>($($argument),*),
            _ => $crate::integrate::variational::bend::$name::<_, 3>($($argument),*),
        }
    };
}
pub(super) use by_width;

/// δ = g₂ ξ + (g₁ + g₂ − 1) q + τ c, where centres move by c.
#[inline(never)]
pub(super) fn place<R: Real, const W: usize>(
    table: Table<'_>,
    (homes, means, part): (&Homes, &[R], f64),
    xi: &[R],
    q: &[f64],
    out: &mut [R],
) {
    let ((xi, _), (q, _), (out, _)) = (xi.as_chunks::<W>(), q.as_chunks::<W>(), out.as_chunks_mut::<W>());
    let each = out.iter_mut().zip(table.bodies()).zip(&homes.starts).zip(xi.iter().zip(q));
    for (((out, ([value, _, sum, _], _)), &start), (xi, q)) in each {
        let (bulge, centre) = (sum - 1.0, home::<_, W>(means, start));
        (0..W).for_each(|j| out[j] = xi[j] * value + bulge * q[j] + centre[j] * part);
    }
}

/// δ̇ = (ġ₂ ξ + (ġ₁ + ġ₂) q + c)/h.
#[inline(never)]
pub(super) fn rate<R: Real, const W: usize>(
    table: Table<'_>,
    (homes, means, inverse): (&Homes, &[R], f64),
    xi: &[R],
    q: &[f64],
    out: &mut [R],
) {
    let ((xi, _), (q, _), (out, _)) = (xi.as_chunks::<W>(), q.as_chunks::<W>(), out.as_chunks_mut::<W>());
    let each = out.iter_mut().zip(table.bodies()).zip(&homes.starts).zip(xi.iter().zip(q));
    for (((out, ([_, slope, _, turn], _)), &start), (xi, q)) in each {
        let centre = home::<_, W>(means, start);
        (0..W).for_each(|j| out[j] = (xi[j] * slope + turn * q[j] + centre[j]) * inverse);
    }
}

/// Adds w x.
#[inline(never)]
pub(super) fn add<R: Real>(weight: f64, x: &[R], out: &mut [R]) {
    out.iter_mut().zip(x).for_each(|(out, x)| *out += *x * weight);
}

/// Adds w h² g₂ F at the end and w h² (g₁ + g₂) F at both ends; the same for rates, with ġ and w h.
#[inline(never)]
pub(super) fn push<R: Real, const W: usize>(
    table: Table<'_>,
    which: usize,
    weight: f64,
    force: &[R],
    end: &mut [R],
    both: &mut [R],
) {
    let ((force, _), (end, _)) = (force.as_chunks::<W>(), end.as_chunks_mut::<W>());
    let (both, _) = both.as_chunks_mut::<W>();
    for (((end, both), force), (factors, _)) in end.iter_mut().zip(both).zip(force).zip(table.bodies()) {
        let (value, sum) = (weight * factors[which], weight * factors[which + 2]);
        for j in 0..W {
            end[j] += force[j] * value;
            both[j] += force[j] * sum;
        }
    }
}

/// Adds w F·∂q/∂x; the same for rates.
#[inline(never)]
pub(super) fn lean<R: Real, const W: usize>(
    table: Table<'_>,
    which: usize,
    weight: f64,
    force: &[R],
    xi: &[R],
    q: &[f64],
    out: &mut [R],
) {
    let ((force, _), (xi, _)) = (force.as_chunks::<W>(), xi.as_chunks::<W>());
    let ((q, _), (out, _)) = (q.as_chunks::<W>(), out.as_chunks_mut::<W>());
    for (((out, (_, changes)), force), (xi, q)) in out.iter_mut().zip(table.bodies()).zip(force).zip(xi.iter().zip(q)) {
        let (value, sum) = (weight * changes[which], weight * changes[which + 2]);
        (0..W).for_each(|j| out[j] += force[j] * (xi[j] * value + sum * q[j]));
    }
}

/// What forces F between the ends of a step do, if they act relative to centres: −w h² g₁ F for the equations, and w F·∂q/∂x for the frequencies.
#[inline(never)]
pub(super) fn pull<R: Real, const W: usize>(
    table: Table<'_>,
    [weight, positions]: [f64; 2],
    force: &[R],
    (xi, q): (&[R], &[f64]),
    (out, slopes): (&mut [R], &mut [R]),
) {
    let ((force, _), (out, _)) = (force.as_chunks::<W>(), out.as_chunks_mut::<W>());
    let ((xi, _), (q, _), (slopes, _)) = (xi.as_chunks::<W>(), q.as_chunks::<W>(), slopes.as_chunks_mut::<W>());
    let each = force.iter().zip(out).zip(slopes).zip(xi.iter().zip(q));
    for (([value, _, sum, _], by), (((force, out), slope), (xi, q))) in table.bodies().zip(each) {
        let (left, value, sum) = ((value - sum) * positions, by[0] * weight, by[2] * weight);
        for j in 0..W {
            out[j] += force[j] * left;
            slope[j] += force[j] * (xi[j] * value + sum * q[j]);
        }
    }
}

/// What masses do between the ends of a step: m ((a − b) ξ + (b − c) q) for the equations, and m/2h² (a′ ξ² + 2 b′ ξ q + c′ q²) for the frequencies.
#[inline(never)]
pub(super) fn swing<R: Real, const W: usize>(
    motion: Motion<'_>,
    half: f64,
    (xi, q): (&[R], &[f64]),
    (out, slopes): (&mut [R], &mut [R]),
) {
    let ((xi, _), (q, _)) = (xi.as_chunks::<W>(), q.as_chunks::<W>());
    let ((out, _), (slopes, _)) = (out.as_chunks_mut::<W>(), slopes.as_chunks_mut::<W>());
    let each = out.iter_mut().zip(slopes).zip(motion.bodies::<W>()).zip(xi.iter().zip(q));
    for (((out, slope), ([a, b, c, d, e, f], masses)), (xi, q)) in each {
        let ([own, other], [d, e, f]) = ([a - b, b - c], [d * half, e * (2.0 * half), f * half]);
        for j in 0..W {
            let (xi, q, mass) = (xi[j], q[j], masses[j]);
            out[j] = (xi * own + other * q) * mass;
            slope[j] = (xi * (xi * d + e * q) + f * q * q) * mass;
        }
    }
}

/// m (a ξ + b q), which masses have at the end.
#[inline(never)]
pub(super) fn reach<R: Real, const W: usize>(motion: Motion<'_>, (xi, q): (&[R], &[f64]), out: &mut [R]) {
    let ((xi, _), (q, _)) = (xi.as_chunks::<W>(), q.as_chunks::<W>());
    let (out, _) = out.as_chunks_mut::<W>();
    for ((out, ([a, b, ..], masses)), (xi, q)) in out.iter_mut().zip(motion.bodies::<W>()).zip(xi.iter().zip(q)) {
        (0..W).for_each(|j| out[j] = (xi[j] * a + b * q[j]) * masses[j]);
    }
}

/// Adds w h² g₂ F, which forces between the ends of a step do at the end.
#[inline(never)]
pub(super) fn hand<R: Real, const W: usize>(table: Table<'_>, weight: f64, force: &[R], out: &mut [R]) {
    let ((force, _), (out, _)) = (force.as_chunks::<W>(), out.as_chunks_mut::<W>());
    for ((out, force), ([value, ..], _)) in out.iter_mut().zip(force).zip(table.bodies()) {
        let value = weight * value;
        (0..W).for_each(|j| out[j] += force[j] * value);
    }
}

/// Makes numbers of bodies relative to those of their centres.
#[inline(never)]
pub(super) fn relate<R: Real, const W: usize>(homes: &Homes, means: &[R], x: &[R], out: &mut [R]) {
    let ((x, _), (out, _)) = (x.as_chunks::<W>(), out.as_chunks_mut::<W>());
    for ((out, x), &start) in out.iter_mut().zip(x).zip(&homes.starts) {
        let mean = home::<_, W>(means, start);
        (0..W).for_each(|j| out[j] = x[j] - mean[j]);
    }
}

/// Adds the share of each body in what its centre has to share out.
#[inline(never)]
pub(super) fn share<R: Real, const W: usize>(homes: &Homes, totals: &[R], out: &mut [R]) {
    let (out, _) = out.as_chunks_mut::<W>();
    for ((out, &start), share) in out.iter_mut().zip(&homes.starts).zip(&homes.shares) {
        let total = home::<_, W>(totals, start);
        (0..W).for_each(|j| out[j] += total[j] * *share);
    }
}

/// (z − z̄ + λ)/I of each body, and z̄ on it ([`super::centre::Centres::offsets`]).
#[inline(never)]
pub(super) fn unscale<R: Real, const W: usize>(
    inverse: &[f64],
    homes: &Homes,
    [means, offsets]: [&[R]; 2],
    z: &mut [R],
) {
    let (z, _) = z.as_chunks_mut::<W>();
    for ((z, &start), inverse) in z.iter_mut().zip(&homes.starts).zip(inverse) {
        let (mean, offset) = (home::<_, W>(means, start), home::<_, W>(offsets, start));
        (0..W).for_each(|j| z[j] = (z[j] + offset[j]) * *inverse + mean[j]);
    }
}
