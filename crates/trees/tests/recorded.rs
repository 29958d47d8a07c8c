//! The fourth reading: algorithms of trees recorded as graphs.
#![allow(clippy::unwrap_used, missing_docs)]

use dalembert_graph::derive::jacobian::jacobian;
use dalembert_graph::{Function, Trace, record};
use dalembert_trees::samples::{Numbers, chain};
use dalembert_trees::{aba, crba, rnea};

/// Mass matrix, inverse and forward dynamics of a tree: the same equations, recorded, give the same numbers; forward dynamics undoes
/// inverse dynamics in one graph.
#[test]
fn trees_are_recorded() {
    let n = 5;
    let tree = chain(n);
    let recorded = record(3 * n, |x: &[Trace]| {
        let (q, v, a) = (&x[..n], &x[n..2 * n], &x[2 * n..]);
        let mut out = vec![Trace::default(); n * n + 2 * n];
        let (mass, rest) = out.split_at_mut(n * n);
        let (tau, back) = rest.split_at_mut(n);
        crba::crba(&tree, q, &mut crba::Work::new(&tree), mass);
        rnea::rnea(&tree, q, v, a, &[], &mut rnea::Work::new(&tree), tau);
        aba::aba(&tree, q, v, tau, &[], &mut aba::Work::new(&tree), back);
        out
    })
    .unwrap();
    let mut numbers = Numbers::new(3);
    let x: Vec<f64> = (0..3 * n).map(|_| numbers.number()).collect();
    let f = Function::interpreted(&recorded);
    let mut y = vec![0.0; f.outputs()];
    f.call(&mut f.work(), &x, &mut y);
    let (q, v, a) = (&x[..n], &x[n..2 * n], &x[2 * n..]);
    let (mut mass, mut tau) = (vec![0.0; n * n], vec![0.0; n]);
    crba::crba(&tree, q, &mut crba::Work::new(&tree), &mut mass);
    rnea::rnea(&tree, q, v, a, &[], &mut rnea::Work::new(&tree), &mut tau);
    let bound = |list: &[f64]| 100.0 * f64::EPSILON * list.iter().fold(0.0, |m: f64, x| m.max(x.abs()));
    assert!(y.iter().zip(&mass).all(|(a, b)| (a - b).abs() <= bound(&mass)));
    assert!(y[n * n..].iter().zip(&tau).all(|(a, b)| (a - b).abs() <= bound(&tau)));
    // The condition of the mass matrix of five links is some 10⁴.
    assert!(y[n * n + n..].iter().zip(a).all(|(found, a)| (found - a).abs() <= 1e4 * 100.0 * f64::EPSILON));
    // ∂τ/∂a is the mass matrix.
    let inverse = record(3 * n, |x: &[Trace]| {
        let mut tau = vec![Trace::default(); n];
        rnea::rnea(&tree, &x[..n], &x[n..2 * n], &x[2 * n..], &[], &mut rnea::Work::new(&tree), &mut tau);
        tau
    })
    .unwrap();
    let slope = jacobian(&inverse);
    let f = Function::interpreted(&slope.function);
    let mut entries = vec![0.0; f.outputs()];
    f.call(&mut f.work(), &x, &mut entries);
    let dense = slope.pattern.dense(&entries);
    crba::symmetrise(n, &mut mass);
    for i in 0..n {
        for j in 0..n {
            assert!((dense[i * 3 * n + 2 * n + j] - mass[i * n + j]).abs() <= bound(&mass), "{i} {j}");
        }
    }
}

/// The graph of inverse dynamics grows as the chain does.
#[test]
fn graphs_of_chains_grow_linearly() {
    let operations = [20, 40, 80].map(|n| {
        let tree = chain(n);
        let f = record(3 * n, |x: &[Trace]| {
            let mut tau = vec![Trace::default(); n];
            rnea::rnea(&tree, &x[..n], &x[n..2 * n], &x[2 * n..], &[], &mut rnea::Work::new(&tree), &mut tau);
            tau
        })
        .unwrap();
        f.graph.operations(&f.outputs) as f64
    });
    assert!((operations[2] - operations[1]) / (operations[1] - operations[0]) < 2.01, "{operations:?}");
}
