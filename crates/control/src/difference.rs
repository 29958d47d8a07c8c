//! The way from one configuration to another: δ with q₀ ⊕ δ = q₁.

use dalembert_methods::System;
use dalembert_methods::scalar::Dual;

/// Whether configurations are added to and velocities are their rates.
pub fn is_flat<Y: System>(y: &Y, typical: &[f64]) -> bool {
    let (nq, nv) = (y.shape().q, y.shape().v);
    if nq != nv {
        return false;
    }
    let delta: Vec<f64> = (0..nv).map(|i| 0.3 * (1.0 + i as f64).sin()).collect();
    let (mut moved, mut rate) = (vec![0.0; nq], vec![0.0; nv]);
    y.retract(typical, &delta, &mut moved);
    y.local_rate(&delta, &delta, &mut rate);
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + a.abs());
    (0..nv).all(|i| near(moved[i], typical[i] + delta[i]) && near(rate[i], delta[i]))
}

/// The columns of ∂(q ⊕ δ)/∂δ, with q ⊕ δ itself.
pub fn tangents<Y: System>(y: &Y, q: &[f64], delta: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let base: Vec<Dual> = q.iter().map(|&q| Dual::from(q)).collect();
    let mut step: Vec<Dual> = delta.iter().map(|&d| Dual::from(d)).collect();
    let mut out = vec![Dual::default(); q.len()];
    let mut columns = Vec::with_capacity(delta.len());
    let mut moved = q.to_vec();
    y.retract(q, delta, &mut moved);
    for i in 0..delta.len() {
        step[i].eps[0] = 1.0;
        y.retract(&base, &step, &mut out);
        columns.push(out.iter().map(|q| q.eps[0]).collect());
        step[i].eps[0] = 0.0;
    }
    (moved, columns)
}

/// δ with q₀ ⊕ δ nearest to q₁, by the method of Gauss and Newton.
pub fn difference<Y: System>(y: &Y, q0: &[f64], q1: &[f64]) -> Vec<f64> {
    let n = y.shape().v;
    let mut delta = vec![0.0; n];
    for _ in 0..30 {
        let (moved, columns) = tangents(y, q0, &delta);
        let miss: Vec<f64> = q1.iter().zip(&moved).map(|(a, b)| a - b).collect();
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut normal: Vec<Vec<f64>> = columns.iter().map(|a| columns.iter().map(|b| dot(a, b)).collect()).collect();
        let mut right: Vec<f64> = columns.iter().map(|column| dot(column, &miss)).collect();
        for i in 0..n {
            normal[i][i] += 1e-14;
        }
        for k in 0..n {
            for i in k + 1..n {
                let factor = normal[i][k] / normal[k][k];
                for j in k..n {
                    normal[i][j] -= factor * normal[k][j];
                }
                right[i] -= factor * right[k];
            }
        }
        for k in (0..n).rev() {
            let sum: f64 = (k + 1..n).map(|j| normal[k][j] * right[j]).sum();
            right[k] = (right[k] - sum) / normal[k][k];
        }
        let size = right.iter().fold(0.0f64, |m, d| m.max(d.abs()));
        delta.iter_mut().zip(&right).for_each(|(delta, d)| *delta += d);
        if size < 1e-13 {
            break;
        }
    }
    delta
}
