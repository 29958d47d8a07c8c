//! Increments of a step packed as (δ, Δv, Δx, Δz), shared by the methods that keep them so.

use crate::system::{Shape, State, System};

/// out = base moved by the packed increment, at time `t`.
pub(super) fn place<Y: System>(
    y: &Y,
    shape: Shape,
    base: &State<f64>,
    increment: &[f64],
    t: f64,
    out: &mut State<f64>,
) {
    let (delta, rest) = increment.split_at(shape.v);
    out.t = t;
    y.retract(&base.q, delta, &mut out.q);
    let mut rest = rest.iter();
    for (out, base) in [(&mut out.v, &base.v), (&mut out.x, &base.x), (&mut out.z, &base.z)] {
        for ((out, base), increment) in out.iter_mut().zip(base).zip(&mut rest) {
            *out = base + increment;
        }
    }
    out.p.copy_from_slice(&base.p);
}

/// The sizes of all components of a state, for the weights of errors.
pub(super) fn measure<Y: System>(y: &Y, shape: Shape, s: &State<f64>, sizes: &mut [f64]) {
    y.magnitude(&s.q, &mut sizes[..shape.v]);
    for (size, value) in sizes[shape.v..].iter_mut().zip(s.v.iter().chain(&s.x).chain(&s.z)) {
        *size = value.abs();
    }
}

/// The user's name of a packed component.
pub(super) fn name<Y: System>(y: &Y, shape: Shape, index: usize) -> String {
    let Shape { v, x, .. } = shape;
    match index {
        _ if index < v => y.velocity_name(index),
        _ if index < 2 * v => y.velocity_name(index - v),
        _ if index < 2 * v + x => format!("extra state {}", index - 2 * v),
        _ => format!("integral {}", index - 2 * v - x),
    }
}
