//! How large changes of coordinates are, beside the coordinates themselves.

use crate::system::{State, System};

/// The sizes against which changes of coordinates in a step of length `h` are measured: theirs, their way, and a thousandth of the largest.
pub(super) fn measure<Y: System>(y: &Y, s: &State<f64>, h: f64, sizes: &mut [f64]) {
    y.magnitude(&s.q, sizes);
    for (size, v) in sizes.iter_mut().zip(&s.v) {
        *size += (h * v).abs();
    }
    let floor = 1e-3 * sizes.iter().fold(0.0, |max: f64, &size| max.max(size));
    let floor = if floor > 0.0 { floor } else { 1.0 };
    sizes.iter_mut().for_each(|size| *size += floor);
}

/// The largest |d| in units of sizes, four at a time; not finite if one is not.
#[inline(never)]
pub(super) fn largest(d: &[f64], inverse: &[f64]) -> f64 {
    let (mut most, mut sums) = ([0.0; 4], [0.0; 4]);
    let ((d, rest), (inverse, others)) = (d.as_chunks::<4>(), inverse.as_chunks::<4>());
    for (d, inverse) in d.iter().zip(inverse) {
        for k in 0..4 {
            let relative = d[k].abs() * inverse[k];
            most[k] = if relative > most[k] { relative } else { most[k] };
            sums[k] += relative;
        }
    }
    let (mut out, mut sum) = (0.0, sums.iter().sum::<f64>());
    for relative in most.into_iter().chain(rest.iter().zip(others).map(|(d, inverse)| d.abs() * inverse)) {
        out = if relative > out { relative } else { out };
        sum += relative;
    }
    if sum.is_finite() { out } else { sum }
}
