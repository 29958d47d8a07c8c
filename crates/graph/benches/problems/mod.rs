//! Functions of mechanics on which derivatives are measured and tested; `benches/peers/graph.py` holds the same for CasADi.

use dalembert_graph::derive::jacobian;
use dalembert_graph::{Recorded, Trace, TraceError, record};
use dalembert_methods::Real;

const WEIGHT: f64 = 9.81;
/// The step of the discrete Lagrangian, in s.
const STEP: f64 = 0.01;

/// Mass in kg, length and distance of the centre in m, inertia in kg m² of link `i` of the planar chain.
fn link(i: usize) -> [f64; 4] {
    let k = i as f64;
    [1.0 + 0.1 * k, 0.5 + 0.03 * k, 0.2 + 0.02 * k, 0.05 + 0.007 * k]
}

/// Inverse dynamics of a planar chain in relative angles: torques for x = (q, q̇, q̈).
pub fn chain<T: Real>(n: usize, x: &[T]) -> Vec<T> {
    let o = T::zero();
    let (mut angle, mut w, mut al) = (o, o, o);
    let (mut ax, mut ay) = (o, T::from(WEIGHT));
    let mut links = Vec::new();
    for i in 0..n {
        let [m, l, c, j] = link(i);
        angle += x[i];
        w += x[n + i];
        al += x[2 * n + i];
        let (sin, cos) = angle.sin_cos();
        let (kx, ky) = (al * cos - w * w * sin, al * sin + w * w * cos);
        links.push(([sin, -cos], [(ax + kx * c) * m, (ay + ky * c) * m], al * j));
        ax += kx * l;
        ay += ky * l;
    }
    let (mut rx, mut ry, mut torque) = (o, o, o);
    let mut out = vec![o; n];
    for (i, ([ex, ey], [fx, fy], spin)) in links.into_iter().enumerate().rev() {
        let [_, l, c, _] = link(i);
        let (mx, my) = (fx * c + rx * l, fy * c + ry * l);
        torque = torque + spin + ex * my - ey * mx;
        rx += fx;
        ry += fy;
        out[i] = torque;
    }
    out
}

/// The Lagrangian of the planar chain.
pub fn lagrangian<T: Real>(n: usize, q: &[T], v: &[T]) -> T {
    let o = T::zero();
    let (mut angle, mut w, mut vx, mut vy, mut height, mut sum) = (o, o, o, o, o, o);
    for i in 0..n {
        let [m, l, c, j] = link(i);
        angle += q[i];
        w += v[i];
        let (sin, cos) = angle.sin_cos();
        let (kx, ky) = (w * cos, w * sin);
        let (ux, uy) = (vx + kx * c, vy + ky * c);
        sum = sum + ((ux * ux + uy * uy) * m + w * w * j) * 0.5 - (height - cos * c) * (m * WEIGHT);
        vx += kx * l;
        vy += ky * l;
        height -= cos * l;
    }
    sum
}

/// The action of two steps of the midpoint rule, whose gradient in the middle is the discrete Euler–Lagrange residual.
pub fn action<T: Real>(n: usize, x: &[T]) -> T {
    let step = |a: &[T], b: &[T]| {
        let q: Vec<T> = (0..n).map(|i| (a[i] + b[i]) * 0.5).collect();
        let v: Vec<T> = (0..n).map(|i| (b[i] - a[i]) * (1.0 / STEP)).collect();
        lagrangian(n, &q, &v) * STEP
    };
    step(&x[..n], &x[n..2 * n]) + step(&x[n..2 * n], &x[2 * n..])
}

type V3<T> = [T; 3];
type M3<T> = [V3<T>; 3];

fn cross<T: Real>(a: V3<T>, b: V3<T>) -> V3<T> {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
fn plus<T: Real>(a: V3<T>, b: V3<T>) -> V3<T> {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}
fn times<T: Real>(m: &M3<T>, b: V3<T>) -> V3<T> {
    std::array::from_fn(|i| m[i][0] * b[0] + m[i][1] * b[1] + m[i][2] * b[2])
}
fn back<T: Real>(m: &M3<T>, b: V3<T>) -> V3<T> {
    std::array::from_fn(|i| m[0][i] * b[0] + m[1][i] * b[1] + m[2][i] * b[2])
}

/// Inverse dynamics of an arm in space with `n` hinges, twisted by right angles: torques for x = (q, q̇, q̈).
pub fn arm<T: Real>(n: usize, x: &[T]) -> Vec<T> {
    let (o, one, number) = (T::zero(), T::one(), T::from);
    let (mut w, mut al, mut a) = ([o; 3], [o; 3], [o, o, number(WEIGHT)]);
    let mut links = Vec::new();
    for i in 0..n {
        let k = i as f64;
        let twist = if i % 2 == 0 { -one } else { one };
        let (s, c) = x[i].sin_cos();
        // About x by the twist, then about z by the angle.
        let r = [[c, -s, o], [o, o, -twist], [twist * s, twist * c, o]];
        let p = [o, number(0.1 + 0.01 * k), number(0.2)];
        let at = plus(a, plus(cross(al, p), cross(w, cross(w, p))));
        let (rate, second) = ([o, o, x[n + i]], [o, o, x[2 * n + i]]);
        let before = back(&r, w);
        al = plus(plus(back(&r, al), cross(before, rate)), second);
        w = plus(before, rate);
        a = back(&r, at);
        let centre = [number(0.01 * (k + 1.0)), number(-0.03), number(0.05)];
        let acceleration = plus(a, plus(cross(al, centre), cross(w, cross(w, centre))));
        let force = acceleration.map(|y| y * (4.0 - 0.4 * k));
        let [d, e, g] = [0.001, -0.002, 0.003].map(number);
        let inertia = [[number(0.1), d, e], [d, number(0.09 + 0.001 * k), g], [e, g, number(0.05)]];
        let torque = plus(times(&inertia, al), cross(w, times(&inertia, w)));
        links.push((r, p, force, plus(torque, cross(centre, force))));
    }
    let (mut force, mut torque) = ([o; 3], [o; 3]);
    let mut out = vec![o; n];
    for (i, (r, p, own, turn)) in links.into_iter().enumerate().rev() {
        torque = plus(turn, torque);
        out[i] = torque[2];
        force = times(&r, plus(own, force));
        torque = plus(times(&r, torque), cross(p, force));
    }
    out
}

/// A point at which functions of `n` numbers are evaluated.
pub fn point(n: usize) -> Vec<f64> {
    (0..n).map(|i| (1.3 * i as f64 + 0.4).sin()).collect()
}

/// Three configurations near each other.
pub fn three(n: usize) -> Vec<f64> {
    (0..3 * n).map(|i| (1.3 * (i % n) as f64 + 0.4).sin() + 0.01 * (i / n) as f64).collect()
}

/// The residual of two steps: the gradient of the action in the middle configuration.
pub fn residual(n: usize) -> Result<Recorded, TraceError> {
    let mut slope = jacobian::gradient(&record(3 * n, |x| vec![action(n, x)])?);
    slope.outputs = slope.outputs[n..2 * n].to_vec();
    Ok(slope)
}

/// All functions of the race with their points.
pub fn all() -> Result<Vec<(String, Recorded, Vec<f64>)>, TraceError> {
    let mut out = Vec::new();
    for n in [4, 8, 16] {
        out.push((format!("chain-{n}"), record(3 * n, |x: &[Trace]| chain(n, x))?, point(3 * n)));
    }
    out.push(("arm-7".into(), record(21, |x: &[Trace]| arm(7, x))?, point(21)));
    for n in [4, 8] {
        out.push((format!("discrete-{n}"), residual(n)?, three(n)));
    }
    Ok(out)
}
