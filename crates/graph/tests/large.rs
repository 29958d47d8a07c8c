//! Large models: one kernel mapped over many instances.
#![allow(clippy::unwrap_used, missing_docs)]

use dalembert_graph::map::{Instance, MapError, Mapped, MappedJacobian, Sizes};
use dalembert_graph::{Function, Trace, record};
use dalembert_methods::{Jet, Real};

/// The force of a spring between two points of the plane, on both.
fn spring<T: Real>(x: &[T]) -> Vec<T> {
    let (dx, dy) = (x[2] - x[0], x[3] - x[1]);
    let length = (dx * dx + dy * dy).sqrt();
    let pull = (length - 1.0) * 40.0 / length;
    vec![pull * dx, pull * dy, -pull * dx, -pull * dy]
}

/// Forces of a row of springs by hand, for any number.
fn row<T: Real>(x: &[T]) -> Vec<T> {
    let mut out = vec![T::zero(); x.len()];
    for i in 0..x.len() / 2 - 1 {
        for (k, f) in spring(&x[2 * i..2 * i + 4]).into_iter().enumerate() {
            out[2 * i + k] += f;
        }
    }
    out
}

fn instances(points: usize) -> Vec<Instance> {
    let one = |i: u32| Instance { inputs: (2 * i..2 * i + 4).collect(), outputs: (2 * i..2 * i + 4).collect() };
    (0..points as u32 - 1).map(one).collect()
}

/// Forces and their Jacobian of rows of springs, odd and even: the kernel does not grow, the numbers are those of the whole.
#[test]
fn kernels_are_mapped() {
    let kernel = record(4, |x: &[Trace]| spring(x)).unwrap();
    for points in [2, 3, 8, 201] {
        let n = 2 * points;
        let sizes = Sizes { inputs: n, outputs: n };
        let x: Vec<f64> = (0..n).map(|i| 1.3 * (i / 2) as f64 + 0.2 * (7.1 * i as f64).sin()).collect();
        let force = Mapped::new(Function::interpreted(&kernel), instances(points), sizes).unwrap();
        let mut y = vec![f64::NAN; n];
        force.call(&mut force.work(), &x, &mut y);
        // Some ten operations on forces of some 40 N.
        let bound = 10.0 * f64::EPSILON * 100.0;
        assert!(y.iter().zip(row(&x)).all(|(a, b)| (a - b).abs() < bound));
        let slope = MappedJacobian::new(&kernel, &instances(points), sizes);
        assert!(slope.kernel.function.graph.operations(&slope.kernel.function.outputs) < 60);
        assert_eq!(slope.pattern.len(), 12 * points - 8);
        #[cfg(feature = "compile")]
        let function = Function::compiled(&slope.kernel.function, None).unwrap();
        #[cfg(not(feature = "compile"))]
        let function = Function::interpreted(&slope.kernel.function);
        let count = slope.pattern.len();
        let map = Mapped::new(function, slope.instances.clone(), Sizes { inputs: n, outputs: count }).unwrap();
        let mut entries = vec![f64::NAN; count];
        map.call(&mut map.work(), &x, &mut entries);
        for column in [0, n / 2, n - 1] {
            let seeded: Vec<Jet<f64, 1>> = (0..n).map(|i| Jet::new(x[i], f64::from(u8::from(i == column)))).collect();
            let exact: Vec<f64> = row(&seeded).iter().map(|y| y.eps[0]).collect();
            let mut found = vec![0.0; n];
            for (&(r, c), e) in slope.pattern.entries.iter().zip(&entries) {
                if c as usize == column {
                    found[r as usize] += e;
                }
            }
            assert!(found.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 10.0 * bound), "{points} {column}");
        }
    }
    let wrong = |inputs: Vec<u32>| {
        let instance = Instance { inputs, outputs: vec![0; 4] };
        Mapped::new(Function::interpreted(&kernel), vec![instance], Sizes { inputs: 4, outputs: 4 })
            .map(|_| ())
            .unwrap_err()
    };
    assert_eq!(wrong(vec![0; 3]), MapError::Count { instance: 0 });
    assert_eq!(wrong(vec![0, 1, 2, 4]), MapError::Range { instance: 0, place: 4 });
}
