//! Derivatives by the graph, by jets and by differences are the same.
#![allow(clippy::unwrap_used, missing_docs)]

#[allow(dead_code)] // shared with the bench and other tests
#[path = "../benches/problems/mod.rs"]
mod problems;

use dalembert_graph::derive::jacobian::{
    ORDERS, Route, coloured, gradient, hessian, jacobian, jacobian_by, lagrangian_hessian, pattern,
};
use dalembert_graph::{Function, Recorded, Trace, record};
use dalembert_methods::{Jet, Real};

fn routes() -> impl Iterator<Item = Route> {
    [Route::Forward, Route::Reverse].into_iter().chain(ORDERS.map(Route::Eliminate))
}

fn values(f: &Recorded, x: &[f64]) -> Vec<f64> {
    let function = Function::interpreted(f);
    let mut y = vec![0.0; function.outputs()];
    function.call(&mut function.work(), x, &mut y);
    y
}

fn largest(list: &[f64]) -> f64 {
    list.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

/// All entries within `tolerance` of each other.
fn close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (k, (a, b)) in a.iter().zip(b).enumerate() {
        assert!((a - b).abs() <= tolerance, "entry {k}: {a} and {b} differ by {:e} > {tolerance:e}", (a - b).abs());
    }
}

/// The dense Jacobian by jets, on the equation itself.
fn by_jets(f: impl Fn(&[Jet<f64, 1>]) -> Vec<Jet<f64, 1>>, x: &[f64]) -> Vec<f64> {
    let columns: Vec<Vec<f64>> = (0..x.len())
        .map(|j| {
            let x: Vec<Jet<f64, 1>> =
                x.iter().enumerate().map(|(i, &x)| Jet::new(x, f64::from(u8::from(i == j)))).collect();
            f(&x).iter().map(|y| y.eps[0]).collect()
        })
        .collect();
    (0..columns[0].len()).flat_map(|i| columns.iter().map(move |c| c[i])).collect()
}

/// By central differences, h = ε^(1/3): the error is h² times a third derivative, and ε/h times the value, each some 4e-11.
fn by_differences(f: &Recorded, x: &[f64]) -> Vec<f64> {
    let h = f64::EPSILON.cbrt();
    let columns: Vec<Vec<f64>> = (0..x.len())
        .map(|j| {
            let at = |s: f64| {
                values(f, &x.iter().enumerate().map(|(i, x)| if i == j { x + s } else { *x }).collect::<Vec<_>>())
            };
            at(h).iter().zip(at(-h)).map(|(a, b)| (a - b) / (2.0 * h)).collect()
        })
        .collect();
    (0..f.outputs.len()).flat_map(|i| columns.iter().map(move |c| c[i])).collect()
}

/// Some 10³ operations, each adding ε of the largest entry at most, mostly of random sign.
fn rounding(entries: &[f64]) -> f64 {
    200.0 * f64::EPSILON * largest(entries)
}

fn all_routes(f: &Recorded, jets: &[f64], x: &[f64]) {
    for route in routes() {
        let made = jacobian_by(f, route);
        let dense = made.pattern.dense(&values(&made.function, x));
        close(&dense, jets, rounding(jets));
        // What is left out vanishes, and every entry is foreseen by the pattern of dependence.
        let foreseen = pattern(f);
        assert!(made.pattern.entries.iter().all(|e| foreseen.entries.binary_search(e).is_ok()), "{route:?}");
    }
    let differences = by_differences(f, x);
    // Third derivatives of these trigonometric functions are some hundred times the largest first ones.
    close(&differences, jets, 1e2 * 4e-11 * (largest(jets) + largest(&values(f, x))));
}

#[test]
fn chain_and_arm() {
    for n in [2, 4] {
        let (x, f) = (problems::point(3 * n), record(3 * n, |x: &[Trace]| problems::chain(n, x)).unwrap());
        all_routes(&f, &by_jets(|x| problems::chain(n, x), &x), &x);
    }
    let (x, f) = (problems::point(21), record(21, |x: &[Trace]| problems::arm(7, x)).unwrap());
    all_routes(&f, &by_jets(|x| problems::arm(7, x), &x), &x);
}

/// The residual by nested jets of the action, and its Jacobian by jets three deep.
#[test]
fn discrete_mechanics() {
    let n = 3;
    let x = problems::three(n);
    let f = problems::residual(n).unwrap();
    let by_nested = |x: &[Jet<f64, 1>]| -> Vec<Jet<f64, 1>> {
        let one = |k: usize| {
            let seeded = x.iter().enumerate().map(|(i, &x)| Jet::new(x, Jet::from(f64::from(u8::from(i == n + k)))));
            problems::action(n, &seeded.collect::<Vec<Jet<Jet<f64, 1>, 1>>>()).eps[0]
        };
        (0..n).map(one).collect()
    };
    let jets = by_jets(by_nested, &x);
    for route in routes() {
        let made = jacobian_by(&f, route);
        close(&made.pattern.dense(&values(&made.function, &x)), &jets, rounding(&jets));
    }
}

fn rosen<T: Real>(x: &[T]) -> Vec<T> {
    let mut cost = T::zero();
    for i in 0..x.len() - 1 {
        cost += (x[i + 1] - x[i].square()).square() * 100.0 + (T::one() - x[i]).square();
    }
    vec![cost, x[0] * x[1] + (x[2] * x[3]).sin(), x[3].exp() / (x[0].square() + 1.0)]
}

/// σ∇²f + Σ λ∇²g by jets in jets, entry by entry; the band of the cost is all that is stored where no constraint is.
#[test]
fn hessian_of_a_lagrangian() {
    let n = 6;
    let f = record(n, |x: &[Trace]| rosen(x)).unwrap();
    let made = lagrangian_hessian(&f);
    let x = problems::point(n);
    let weights = [0.7, -1.3, 2.1];
    let inputs: Vec<f64> = x.iter().copied().chain(weights).collect();
    let found = made.pattern.dense(&values(&made.function, &inputs));
    for i in 0..n {
        for j in 0..=i {
            let unit = |k: usize, at: usize| f64::from(u8::from(k == at));
            let y: Vec<Jet<Jet<f64, 1>, 1>> =
                (0..n).map(|k| Jet::new(Jet::new(x[k], unit(k, i)), Jet::new(unit(k, j), 0.0))).collect();
            let exact: f64 = rosen(&y).iter().zip(weights).map(|(y, w)| w * y.eps[0].eps[0]).sum();
            assert!(
                (found[i * n + j] - exact).abs() < 1e3 * f64::EPSILON * 1e3,
                "{i} {j}: {} {exact}",
                found[i * n + j]
            );
        }
    }
    assert!(made.pattern.entries.iter().all(|(i, j)| j <= i && (i - j <= 1 || *i < 4)), "{:?}", made.pattern.entries);
    // The band, and one entry of the last constraint outside it.
    assert_eq!(made.pattern.len(), 6 + 5 + 1);
    // The gradient of a quadratic form has constants for slopes.
    let square = record(3, |x: &[Trace]| vec![x[0] * x[1] * 2.0 + x[2] * x[2] * 0.5]).unwrap();
    let second = hessian(&square, 3);
    assert_eq!(second.pattern.entries, [(1, 0), (2, 2)]);
    assert_eq!(values(&second.function, &[0.0; 3]), [2.0, 1.0]);
}

fn kinks<T: Real>(x: &[T]) -> Vec<T> {
    let (a, b, zero) = (x[0], x[1], T::zero());
    vec![
        a.max(b),
        a.min(b * a),
        a.abs(),
        // The side that is not taken has an infinite slope, or none.
        T::select(a.le(zero), zero, a.sqrt()),
        T::select(T::and(zero.lt(a), zero.lt(b)), (a * b).ln() + a / b, a * b),
        T::select(T::or(a.lt(zero), b.equals(T::one())), a.square(), (a + b).powf(T::from(1.5))) + a.sign() * b,
        T::select(T::not(a.lt(b)), a.atan2(b), b / (a * a + 1.0)) + a.round() * b + a.floor(),
        T::select(a.le(zero), b, a.sqrt() * b) + T::select(T::or(a.le(zero), b.le(zero)), zero, a.sqrt() / b),
    ]
}

/// Choices by all routes that promise them, on all sides, and at the kinks. The gradients hold no number that is not one.
#[test]
fn choices() {
    let f = record(2, |x: &[Trace]| kinks(x)).unwrap();
    for x in [[1.2, 0.4], [0.4, 1.2], [-1.2, 0.4], [-0.3, -0.4], [0.7, -0.4], [0.0, 0.5], [0.5, 1.0], [-2.0, 1.0]] {
        let jets = by_jets(kinks, &x);
        for route in [Route::Forward, Route::Reverse] {
            let made = jacobian_by(&f, route);
            let found = made.pattern.dense(&values(&made.function, &x));
            for (k, (found, jet)) in found.iter().zip(&jets).enumerate() {
                assert!(
                    found == jet || (found - jet).abs() < 1e2 * f64::EPSILON * (1.0 + jet.abs()),
                    "{x:?} {route:?} {k}: {found} {jet}"
                );
            }
        }
        assert!(values(&jacobian(&f).function, &x).iter().all(|e| e.is_finite()), "{x:?}");
    }
}

/// Springs in a row.
fn springs<T: Real>(x: &[T]) -> Vec<T> {
    let at = |i: usize| x.get(i).copied().unwrap_or(T::zero());
    (0..x.len()).map(|i| (at(i + 1) - x[i]).sin() - if i > 0 { (x[i] - x[i - 1]).sin() } else { x[0] }).collect()
}

/// Three colours give the whole matrix of a band of any length, from one function whose size does not grow with the colours; entries
/// one by one grow with the length only.
#[test]
fn colours_and_linear_growth() {
    let sizes = [100, 200, 400].map(|n| {
        let f = record(n, |x: &[Trace]| springs(x)).unwrap();
        let made = jacobian_by(&f, Route::Forward);
        assert_eq!(made.pattern.len(), 3 * n - 2);
        let product = coloured(&f);
        assert_eq!(product.colours.count, 3);
        assert_eq!(product.pattern, made.pattern);
        let x = problems::point(n);
        let direct = values(&made.function, &x);
        for colour in 0..3 {
            let v = product.colours.of.iter().map(|&c| f64::from(u8::from(c == colour)));
            let y = values(&product.function, &x.iter().copied().chain(v).collect::<Vec<_>>());
            for (&(row, column), entry) in made.pattern.entries.iter().zip(&direct) {
                if product.colours.of[column as usize] == colour {
                    assert!((y[row as usize] - entry).abs() <= 4.0 * f64::EPSILON, "{row} {column}");
                }
            }
        }
        made.function.graph.operations(&made.function.outputs)
    });
    assert!(
        (sizes[1] as f64 / sizes[0] as f64 - 2.0).abs() < 0.02
            && (sizes[2] as f64 / sizes[1] as f64 - 2.0).abs() < 0.01
    );
}

#[test]
fn gradients_of_one_number() {
    let n = 8;
    let f = record(2 * n, |x: &[Trace]| vec![problems::lagrangian(n, &x[..n], &x[n..])]).unwrap();
    let x = problems::point(2 * n);
    let slope = gradient(&f);
    let jets = by_jets(|x| vec![problems::lagrangian(n, &x[..n], &x[n..])], &x);
    close(&values(&slope, &x), &jets, rounding(&jets));
    // Cheap gradient principle: at most five times the function.
    let (whole, own) = (slope.graph.operations(&slope.outputs), f.graph.operations(&f.outputs));
    assert!(whole <= 5 * own, "{whole} for {own}");
}
