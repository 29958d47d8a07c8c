//! Hock and Schittkowski, numbers 41 to 80.

use super::{List, NO, Real, k, sum};

fn hs41<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0] + x[1] * 2.0 + x[2] * 2.0 - x[3];
    k::<R>(2.0) - x[0] * x[1] * x[2]
}
fn hs42<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0] - 2.0;
    c[1] = x[2].square() + x[3].square() - 2.0;
    sum((0..4).map(|i| (x[i] - (i + 1) as f64).square()))
}
fn hs43<R: Real>(x: &[R], c: &mut [R]) -> R {
    let q: Vec<R> = x.iter().map(|x| x.square()).collect();
    c[0] = k::<R>(8.0) - q[0] - q[1] - q[2] - q[3] - x[0] + x[1] - x[2] + x[3];
    c[1] = k::<R>(10.0) - q[0] - q[1] * 2.0 - q[2] - q[3] * 2.0 + x[0] + x[3];
    c[2] = k::<R>(5.0) - q[0] * 2.0 - q[1] - q[2] - x[0] * 2.0 + x[1] + x[3];
    q[0] + q[1] + q[2] * 2.0 + q[3] - x[0] * 5.0 - x[1] * 5.0 - x[2] * 21.0 + x[3] * 7.0
}
fn hs44<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = k::<R>(8.0) - x[0] - x[1] * 2.0;
    c[1] = k::<R>(12.0) - x[0] * 4.0 - x[1];
    c[2] = k::<R>(12.0) - x[0] * 3.0 - x[1] * 4.0;
    c[3] = k::<R>(8.0) - x[2] * 2.0 - x[3];
    c[4] = k::<R>(8.0) - x[2] - x[3] * 2.0;
    c[5] = k::<R>(5.0) - x[2] - x[3];
    x[0] - x[1] - x[2] - x[0] * x[2] + x[0] * x[3] + x[1] * x[2] - x[1] * x[3]
}
fn hs45<R: Real>(x: &[R], _: &mut [R]) -> R {
    k::<R>(2.0) - x[0] * x[1] * x[2] * x[3] * x[4] / 120.0
}
fn hs46<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0].square() * x[3] + (x[3] - x[4]).sin() - 1.0;
    c[1] = x[1] + x[2].powi(4) * x[3].square() - 2.0;
    (x[0] - x[1]).square() + (x[2] - 1.0).square() + (x[3] - 1.0).powi(4) + (x[4] - 1.0).powi(6)
}
/// (x₁ − x₂)² + (x₂ − x₃)² + (x₃ − x₄)⁴ + (x₄ − x₅)⁴
fn steps<R: Real>(x: &[R]) -> R {
    (x[0] - x[1]).square() + (x[1] - x[2]).square() + (x[2] - x[3]).powi(4) + (x[3] - x[4]).powi(4)
}
fn hs47<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0] + x[1].square() + x[2].powi(3) - 3.0;
    c[1] = x[1] - x[2].square() + x[3] - 1.0;
    c[2] = x[0] * x[4] - 1.0;
    steps(x)
}
fn hs48<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0] + x[1] + x[2] + x[3] + x[4] - 5.0;
    c[1] = x[2] - (x[3] + x[4]) * 2.0 + 3.0;
    (x[0] - 1.0).square() + (x[1] - x[2]).square() + (x[3] - x[4]).square()
}
fn hs49<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0] + x[1] + x[2] + x[3] * 4.0 - 7.0;
    c[1] = x[2] + x[4] * 5.0 - 6.0;
    (x[0] - x[1]).square() + (x[2] - 1.0).square() + (x[3] - 1.0).powi(4) + (x[4] - 1.0).powi(6)
}
fn hs50<R: Real>(x: &[R], c: &mut [R]) -> R {
    for i in 0..3 {
        c[i] = x[i] + x[i + 1] * 2.0 + x[i + 2] * 3.0 - 6.0;
    }
    steps(x)
}
/// Rows of numbers 51 to 53, the first of which must be `first`.
fn rows<R: Real>(x: &[R], c: &mut [R], first: f64) {
    c[0] = x[0] + x[1] * 3.0 - first;
    c[1] = x[2] + x[3] - x[4] * 2.0;
    c[2] = x[1] - x[4];
}
fn rest<R: Real>(x: &[R]) -> R {
    (x[1] + x[2] - 2.0).square() + (x[3] - 1.0).square() + (x[4] - 1.0).square()
}
fn hs51<R: Real>(x: &[R], c: &mut [R]) -> R {
    rows(x, c, 4.0);
    (x[0] - x[1]).square() + rest(x)
}
fn hs52<R: Real>(x: &[R], c: &mut [R]) -> R {
    rows(x, c, 0.0);
    (x[0] * 4.0 - x[1]).square() + rest(x)
}
fn hs53<R: Real>(x: &[R], c: &mut [R]) -> R {
    rows(x, c, 0.0);
    (x[0] - x[1]).square() + rest(x)
}
fn hs54<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0] + x[1] * 4000.0 - 17600.0;
    let d = [x[0] - 1e4, x[1] - 1.0, x[2] - 2e6, x[3] - 10.0, x[4] - 1e-3, x[5] - 1e8];
    let q = (d[0].square() * 1.5625e-8 + d[0] * d[1] * 5e-5 + d[1].square()) / 0.96
        + d[2].square() / 4.9e13
        + d[3].square() * 4e-4
        + d[4].square() * 4e2
        + d[5].square() * 4e-18;
    -(q * -0.5).exp()
}
fn hs55<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0] + x[1] * 2.0 + x[4] * 5.0 - 6.0;
    c[1] = x[0] + x[1] + x[2] - 3.0;
    c[2] = x[3] + x[4] + x[5] - 2.0;
    c[3] = x[0] + x[3] - 1.0;
    c[4] = x[1] + x[4] - 2.0;
    c[5] = x[2] + x[5] - 2.0;
    x[0] + x[1] * 2.0 + x[4] * 4.0 + (x[0] * x[3]).exp()
}
fn hs56<R: Real>(x: &[R], c: &mut [R]) -> R {
    for i in 0..3 {
        c[i] = x[i] - x[i + 3].sin().square() * 4.2;
    }
    c[3] = x[0] + x[1] * 2.0 + x[2] * 2.0 - x[6].sin().square() * 7.2;
    -x[0] * x[1] * x[2]
}
fn hs57<R: Real>(x: &[R], c: &mut [R]) -> R {
    // Ages a and measured values b, as (a, b) with repetitions.
    #[rustfmt::skip]
    const DATA: [(f64, f64); 44] = [
        (8.0, 0.49), (8.0, 0.49), (10.0, 0.48), (10.0, 0.47), (10.0, 0.48), (10.0, 0.47), (12.0, 0.46), (12.0, 0.46), (12.0, 0.45),
        (12.0, 0.43), (14.0, 0.45), (14.0, 0.43), (14.0, 0.43), (16.0, 0.44), (16.0, 0.43), (16.0, 0.43), (18.0, 0.46), (18.0, 0.45),
        (20.0, 0.42), (20.0, 0.42), (20.0, 0.43), (22.0, 0.41), (22.0, 0.41), (22.0, 0.40), (24.0, 0.42), (24.0, 0.40), (24.0, 0.40),
        (26.0, 0.41), (26.0, 0.40), (26.0, 0.41), (28.0, 0.41), (28.0, 0.40), (30.0, 0.40), (30.0, 0.40), (30.0, 0.38), (32.0, 0.41),
        (32.0, 0.40), (34.0, 0.40), (36.0, 0.41), (36.0, 0.38), (38.0, 0.40), (38.0, 0.40), (40.0, 0.39), (42.0, 0.39),
    ];
    c[0] = x[1] * 0.49 - x[0] * x[1] - 0.09;
    sum(DATA.iter().map(|&(a, b)| (k::<R>(b) - x[0] - (k::<R>(0.49) - x[0]) * (-(x[1] * (a - 8.0))).exp()).square()))
}
fn hs59<R: Real>(x: &[R], c: &mut [R]) -> R {
    let (a, b) = (x[0], x[1]);
    c[0] = a * b - 700.0;
    c[1] = b - a.square() * 8e-3;
    c[2] = (b - 50.0).square() - (a - 55.0) * 5.0;
    a * 3.8112 - a.powi(2) * 0.12694 + a.powi(3) * 2.0567e-3 - a.powi(4) * 1.0345e-5 + b * 6.8306 - a * b * 3.0234e-2
        + a.powi(2) * b * 1.28134e-3
        - a.powi(3) * b * 3.5256e-5
        + a.powi(4) * b * 2.266e-7
        - b.powi(2) * 0.25645
        + b.powi(3) * 3.4604e-3
        - b.powi(4) * 1.3514e-5
        + k::<R>(28.106) / (b + 1.0)
        + a.powi(2) * b.powi(2) * 5.2375e-6
        + a.powi(3) * b.powi(2) * 6.3e-8
        - a.powi(3) * b.powi(3) * 7e-10
        - a * b.powi(2) * 3.4054e-4
        + a * b.powi(3) * 1.6638e-6
        + (a * b * 5e-4).exp() * 2.8673
        - 75.196
}
fn hs60<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0] * (x[1].square() + 1.0) + x[2].powi(4) - 4.0 - 3.0 * 2.0f64.sqrt();
    (x[0] - 1.0).square() + (x[0] - x[1]).square() + (x[1] - x[2]).powi(4)
}
fn hs61<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0] * 3.0 - x[1].square() * 2.0 - 7.0;
    c[1] = x[0] * 4.0 - x[2].square() - 11.0;
    x[0].square() * 4.0 + x[1].square() * 2.0 + x[2].square() * 2.0 - x[0] * 33.0 + x[1] * 16.0 - x[2] * 24.0
}
fn hs62<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0] + x[1] + x[2] - 1.0;
    let third = x[2] + 0.03;
    let second = third + x[1];
    let first = second + x[0];
    let logs = (first / (second + x[0] * 0.09)).ln() * 255.0
        + (second / (third + x[1] * 0.07)).ln() * 280.0
        + (third / (x[2] * 0.13 + 0.03)).ln() * 290.0;
    logs * -32.174
}
fn hs63<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0] * 8.0 + x[1] * 14.0 + x[2] * 7.0 - 56.0;
    c[1] = x[0].square() + x[1].square() + x[2].square() - 25.0;
    k::<R>(1000.0) - x[0].square() - x[1].square() * 2.0 - x[2].square() - x[0] * x[1] - x[0] * x[2]
}
fn hs64<R: Real>(x: &[R], c: &mut [R]) -> R {
    let r = [x[0].recip(), x[1].recip(), x[2].recip()];
    c[0] = k::<R>(1.0) - r[0] * 4.0 - r[1] * 32.0 - r[2] * 120.0;
    x[0] * 5.0 + r[0] * 5e4 + x[1] * 20.0 + r[1] * 7.2e4 + x[2] * 10.0 + r[2] * 1.44e5
}
fn hs65<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = k::<R>(48.0) - x[0].square() - x[1].square() - x[2].square();
    (x[0] - x[1]).square() + (x[0] + x[1] - 10.0).square() / 9.0 + (x[2] - 5.0).square()
}
fn hs66<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[1] - x[0].exp();
    c[1] = x[2] - x[1].exp();
    x[2] * 0.2 - x[0] * 0.8
}
/// Alkylation; its two implicit relations are iterated to rounding (the published code stops at 1e-3 and 1e-4).
fn hs67<R: Real>(x: &[R], c: &mut [R]) -> R {
    let mut y = [R::zero(); 9];
    y[2] = x[0] * 1.6;
    for _ in 0..60 {
        y[3] = y[2] * 1.22 - x[0];
        y[6] = (x[1] + y[3]) / x[0];
        y[2] = x[0] * (y[6] * 13.167 - y[6].square() * 0.6667 + 112.0) * 0.01;
    }
    y[4] = k(93.0);
    for _ in 0..60 {
        y[5] = y[6] * 1.098 - y[6].square() * 0.038 + (y[4] - 89.0) * 0.325 + 86.35;
        y[8] = y[5] * 3.0 - 133.0;
        y[7] = k::<R>(35.82) - y[8] * 0.222;
        y[4] = x[2] * 9.8e4 / (y[2] * y[7] + x[2] * 1e3);
    }
    let (low, high) = ([0.0, 0.0, 85.0, 90.0, 3.0, 0.01, 145.0], [5000.0, 2000.0, 93.0, 95.0, 12.0, 4.0, 162.0]);
    for i in 0..7 {
        c[i] = y[i + 2] - low[i];
        c[i + 7] = k::<R>(high[i]) - y[i + 2];
    }
    x[0] * 5.04 + y[3] * 3.36 + x[1] * 0.035 + x[2] * 10.0 - y[2] * y[5] * 0.063
}
/// The normal distribution function, by Gauss's rule of 12 points on 40 pieces of [0, x]: exact to rounding for |x| < 40.
fn normal<R: Real>(x: R) -> R {
    const NODES: [f64; 6] = [
        0.125233408511469,
        0.367831498998180,
        0.587317954286617,
        0.769902674194305,
        0.904117256370475,
        0.981560634246719,
    ];
    const WEIGHTS: [f64; 6] = [
        0.249147045813403,
        0.233492536538355,
        0.203167426723066,
        0.160078328543346,
        0.106939325995318,
        0.0471753363865118,
    ];
    const PIECES: usize = 40;
    let mut total = R::zero();
    for piece in 0..PIECES {
        for (node, weight) in NODES.iter().zip(WEIGHTS) {
            for node in [-node, *node] {
                let share = (piece as f64 + 0.5 + 0.5 * node) / PIECES as f64;
                total += (-((x * share).square()) * 0.5).exp() * (0.5 * weight / PIECES as f64);
            }
        }
    }
    total * x / (2.0 * std::f64::consts::PI).sqrt() + 0.5
}
/// Cost-optimal inspection plan.
fn plan<R: Real>(x: &[R], c: &mut [R], a: f64, b: f64, n: f64) -> R {
    let root = n.sqrt();
    c[0] = x[2] - normal(-x[1]) * 2.0;
    c[1] = x[3] - normal(-x[1] + root) - normal(-x[1] - root);
    let grown = x[0].exp() - 1.0;
    (k::<R>(a * n) - x[3] * (grown * b - x[2]) / (grown + x[3])) / x[0]
}
fn hs68<R: Real>(x: &[R], c: &mut [R]) -> R {
    plan(x, c, 1e-4, 1.0, 24.0)
}
fn hs69<R: Real>(x: &[R], c: &mut [R]) -> R {
    plan(x, c, 0.1, 1000.0, 4.0)
}
#[allow(clippy::approx_constant)] // 6.2832 is published so
fn hs70<R: Real>(x: &[R], c: &mut [R]) -> R {
    const SEEN: [f64; 19] = [
        0.00189, 0.1038, 0.268, 0.506, 0.577, 0.604, 0.725, 0.898, 0.947, 0.845, 0.702, 0.528, 0.385, 0.257, 0.159,
        0.0869, 0.0453, 0.01509, 0.00189,
    ];
    let b = x[2] + (k::<R>(1.0) - x[2]) * x[3];
    c[0] = b;
    let factor = |x: R| x * 12.0 / (x * 12.0 + 1.0);
    let first = x[2] * b.powf(x[1]) * (x[1] / 6.2832).sqrt() * factor(x[1]);
    let second = (k::<R>(1.0) - x[2]) * (b / x[3]).powf(x[0]) * (x[0] / 6.2832).sqrt() * factor(x[0]);
    sum(SEEN.iter().enumerate().map(|(i, &seen)| {
        let t = if i == 0 { 0.1 } else { i as f64 };
        let base: R = k(t / 7.658);
        let u = first * base.powf(x[1] - 1.0) * (x[1] - x[1] * b * (t / 7.658)).exp();
        let v = second * base.powf(x[0] - 1.0) * (x[0] - x[0] * b * (t / 7.658) / x[3]).exp();
        (u + v - seen).square()
    }))
}
fn hs71<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = x[0] * x[1] * x[2] * x[3] - 25.0;
    c[1] = sum(x.iter().map(|x| x.square())) - 40.0;
    x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2]
}
fn hs72<R: Real>(x: &[R], c: &mut [R]) -> R {
    let r: Vec<R> = x.iter().map(|x| x.recip()).collect();
    c[0] = k::<R>(0.0401) - r[0] * 4.0 - r[1] * 2.25 - r[2] - r[3] * 0.25;
    c[1] = k::<R>(0.010085) - r[0] * 0.16 - r[1] * 0.36 - r[2] * 0.64 - r[3] * 0.64;
    x[0] + x[1] + x[2] + x[3] + 1.0
}
fn hs73<R: Real>(x: &[R], c: &mut [R]) -> R {
    let spread = (x[0].square() * 0.28 + x[1].square() * 0.19 + x[2].square() * 20.5 + x[3].square() * 0.62).sqrt();
    c[0] = x[0] * 2.3 + x[1] * 5.6 + x[2] * 11.1 + x[3] * 1.3 - 5.0;
    c[1] = x[0] * 12.0 + x[1] * 11.9 + x[2] * 41.8 + x[3] * 52.1 - spread * 1.645 - 21.0;
    c[2] = x[0] + x[1] + x[2] + x[3] - 1.0;
    x[0] * 24.55 + x[1] * 26.75 + x[2] * 39.0 + x[3] * 40.5
}
fn power<R: Real>(x: &[R], c: &mut [R], a: f64) -> R {
    c[0] = x[3] - x[2] + a;
    c[1] = x[2] - x[3] + a;
    c[2] = ((-x[2] - 0.25).sin() + (-x[3] - 0.25).sin()) * 1e3 + 894.8 - x[0];
    c[3] = ((x[2] - 0.25).sin() + (x[2] - x[3] - 0.25).sin()) * 1e3 + 894.8 - x[1];
    c[4] = ((x[3] - 0.25).sin() + (x[3] - x[2] - 0.25).sin()) * 1e3 + 1294.8;
    x[0] * 3.0 + x[0].powi(3) * 1e-6 + x[1] * 2.0 + x[1].powi(3) * (2e-6 / 3.0)
}
fn hs74<R: Real>(x: &[R], c: &mut [R]) -> R {
    power(x, c, 0.55)
}
fn hs75<R: Real>(x: &[R], c: &mut [R]) -> R {
    power(x, c, 0.48)
}
fn hs76<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = k::<R>(5.0) - x[0] - x[1] * 2.0 - x[2] - x[3];
    c[1] = k::<R>(4.0) - x[0] * 3.0 - x[1] - x[2] * 2.0 + x[3];
    c[2] = x[1] + x[2] * 4.0 - 1.5;
    x[0].square() + x[2].square() + (x[1].square() + x[3].square()) * 0.5 - x[0] * x[2] + x[2] * x[3]
        - x[0]
        - x[1] * 3.0
        + x[2]
        - x[3]
}
fn hs77<R: Real>(x: &[R], c: &mut [R]) -> R {
    let root = 2.0f64.sqrt();
    c[0] = x[0].square() * x[3] + (x[3] - x[4]).sin() - 2.0 * root;
    c[1] = x[1] + x[2].powi(4) * x[3].square() - 8.0 - root;
    (x[0] - 1.0).square() + (x[0] - x[1]).square() + (x[2] - 1.0).square() + (x[3] - 1.0).powi(4) + (x[4] - 1.0).powi(6)
}
fn hs78<R: Real>(x: &[R], c: &mut [R]) -> R {
    c[0] = sum(x.iter().map(|x| x.square())) - 10.0;
    c[1] = x[1] * x[2] - x[3] * x[4] * 5.0;
    c[2] = x[0].powi(3) + x[1].powi(3) + 1.0;
    x[0] * x[1] * x[2] * x[3] * x[4]
}
fn hs79<R: Real>(x: &[R], c: &mut [R]) -> R {
    let root = 2.0f64.sqrt();
    c[0] = x[0] + x[1].square() + x[2].powi(3) - 2.0 - 3.0 * root;
    c[1] = x[1] - x[2].square() + x[3] + 2.0 - 2.0 * root;
    c[2] = x[0] * x[4] - 2.0;
    (x[0] - 1.0).square() + steps(x)
}
fn hs80<R: Real>(x: &[R], c: &mut [R]) -> R {
    hs78(x, c).exp()
}

pub(super) fn add(list: &mut List) {
    let positive = |n: usize| vec![(0.0, NO); n];
    list.add(41, hs41, &[2.0; 4], vec![(0.0, 1.0), (0.0, 1.0), (0.0, 1.0), (0.0, 2.0)], 0, 1, 52.0 / 27.0);
    list.add(42, hs42, &[1.0; 4], vec![], 0, 2, 28.0 - 10.0 * 2.0f64.sqrt());
    list.add(43, hs43, &[0.0; 4], vec![], 3, 0, -44.0);
    list.add(44, hs44, &[0.0; 4], positive(4), 6, 0, -15.0);
    list.add(45, hs45, &[2.0; 5], (1..=5).map(|i| (0.0, f64::from(i))).collect(), 0, 0, 1.0);
    list.add(46, hs46, &[0.5f64.sqrt(), 1.75, 0.5, 2.0, 2.0], vec![], 0, 2, 0.0);
    let root = 2.0f64.sqrt();
    list.add(47, hs47, &[2.0, root, -1.0, 2.0 - root, 0.5], vec![], 0, 3, 0.0);
    list.add(48, hs48, &[3.0, 5.0, -3.0, 2.0, -2.0], vec![], 0, 2, 0.0);
    list.add(49, hs49, &[10.0, 7.0, 2.0, -3.0, 0.8], vec![], 0, 2, 0.0);
    list.add(50, hs50, &[35.0, -31.0, 11.0, 5.0, -5.0], vec![], 0, 3, 0.0);
    list.add(51, hs51, &[2.5, 0.5, 2.0, -1.0, 0.5], vec![], 0, 3, 0.0);
    list.add(52, hs52, &[2.0; 5], vec![], 0, 3, 1859.0 / 349.0);
    list.add(53, hs53, &[2.0; 5], vec![(-10.0, 10.0); 5], 0, 3, 176.0 / 43.0);
    let bounds = vec![(0.0, 2e4), (-10.0, 10.0), (0.0, 1e7), (0.0, 20.0), (-1.0, 1.0), (0.0, 2e8)];
    list.add(54, hs54, &[6e3, 1.5, 4e6, 2.0, 3e-3, 5e7], bounds, 0, 1, -(-27.0f64 / 280.0).exp());
    let bounds = vec![(0.0, 1.0), (0.0, NO), (0.0, NO), (0.0, 1.0), (0.0, NO), (0.0, NO)];
    list.add(55, hs55, &[1.0, 2.0, 0.0, 0.0, 0.0, 2.0], bounds, 0, 6, 19.0 / 3.0);
    let (a, b) = ((1.0f64 / 4.2).sqrt().asin(), (5.0f64 / 7.2).sqrt().asin());
    list.add(56, hs56, &[1.0, 1.0, 1.0, a, a, a, b], vec![], 0, 4, -3.456);
    list.add(57, hs57, &[0.42, 5.0], vec![(0.4, NO), (-4.0, NO)], 1, 0, 0.0284596697213);
    // The published point misses x₁x₂ = 700 in its sixth digit.
    list.add(59, hs59, &[90.0, 10.0], vec![(0.0, 75.0), (0.0, 65.0)], 3, 0, -7.80422632408).digits = 2e-6;
    list.add(60, hs60, &[2.0; 3], vec![(-10.0, 10.0); 3], 0, 1, 0.0325682002513);
    list.add(61, hs61, &[0.0; 3], vec![], 0, 2, -143.646142201);
    list.add(62, hs62, &[0.7, 0.2, 0.1], vec![(0.0, 1.0); 3], 0, 1, -26272.5144873);
    list.add(63, hs63, &[2.0; 3], positive(3), 0, 2, 961.715172127);
    list.add(64, hs64, &[1.0; 3], vec![(1e-5, NO); 3], 1, 0, 6299.84242821);
    list.add(65, hs65, &[-5.0, 5.0, 0.0], vec![(-4.5, 4.5), (-4.5, 4.5), (-5.0, 5.0)], 1, 0, 0.953528856757);
    list.add(66, hs66, &[0.0, 1.05, 2.9], vec![(0.0, 100.0), (0.0, 100.0), (0.0, 10.0)], 2, 0, 0.518163274159);
    let bounds = vec![(1e-5, 2e3), (1e-5, 1.6e4), (1e-5, 120.0)];
    // Published for relations solved to 1e-3 and 1e-4 only.
    list.add(67, hs67, &[1745.0, 12000.0, 110.0], bounds, 14, 0, -1162.03650728).digits = 2e-5;
    let bounds = || vec![(1e-4, 100.0), (0.0, 100.0), (0.0, 2.0), (0.0, 2.0)];
    list.add(68, hs68, &[1.0; 4], bounds(), 0, 2, -0.920425020704);
    list.add(69, hs69, &[1.0; 4], bounds(), 0, 2, -956.712887064);
    let bounds = vec![(1e-5, 100.0), (1e-5, 100.0), (1e-5, 1.0), (1e-5, 100.0)];
    list.add(70, hs70, &[2.0, 4.0, 0.04, 2.0], bounds, 1, 0, 0.00749846356143);
    list.add(71, hs71, &[1.0, 5.0, 5.0, 1.0], vec![(1.0, 5.0); 4], 1, 1, 17.0140172895);
    list.add(72, hs72, &[1.0; 4], (1..=4).map(|i| (1e-3, 1e5 * f64::from(5 - i))).collect(), 2, 0, 727.67936);
    list.add(73, hs73, &[1.0; 4], positive(4), 2, 1, 29.8943781573);
    let bounds = |a: f64| vec![(0.0, 1200.0), (0.0, 1200.0), (-a, a), (-a, a)];
    list.add(74, hs74, &[0.0; 4], bounds(0.55), 2, 3, 5126.49810934);
    list.add(75, hs75, &[0.0; 4], bounds(0.48), 2, 3, 5174.41288686);
    list.add(76, hs76, &[0.5; 4], positive(4), 3, 0, -4.68181818182);
    list.add(77, hs77, &[2.0; 5], vec![], 0, 2, 0.241505128786);
    list.add(78, hs78, &[-2.0, 1.5, 2.0, -1.0, -1.0], vec![], 0, 3, -2.91970040911);
    list.add(79, hs79, &[2.0; 5], vec![], 0, 3, 0.0787768208538);
    let bounds = vec![(-2.3, 2.3), (-2.3, 2.3), (-3.2, 3.2), (-3.2, 3.2), (-3.2, 3.2)];
    list.add(80, hs80, &[-2.0, 2.0, 2.0, -1.0, -1.0], bounds, 0, 3, 0.0539498477624);
}
