//! Large models: one kernel mapped over many instances.
#![allow(clippy::unwrap_used, missing_docs)]

use dalembert_graph::kernels::{Kernels, Part};
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

/// The energy of a row of springs, whose gradient is minus the force.
fn energy<T: Real>(x: &[T]) -> T {
    (0..x.len() / 2 - 1).fold(T::zero(), |sum, i| {
        let (dx, dy) = (x[2 * i + 2] - x[2 * i], x[2 * i + 3] - x[2 * i + 1]);
        let stretch = (dx * dx + dy * dy).sqrt() - 1.0;
        sum + stretch * stretch * 20.0
    })
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
            // Nested duals of the energy of the whole row: a route that knows neither kernels nor forces.
            for (row, found) in found.iter().enumerate().take(16) {
                let unit = |k: usize, at: usize| f64::from(u8::from(k == at));
                let nested: Vec<Jet<Jet<f64, 1>, 1>> =
                    (0..n).map(|k| Jet::new(Jet::new(x[k], unit(k, row)), Jet::new(unit(k, column), 0.0))).collect();
                let second = energy(&nested).eps[0].eps[0];
                assert!((found + second).abs() < 10.0 * bound, "{points} {row} {column}: {found} {second}");
            }
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

/// Springs of other stiffness, length and dimension recorded one by one.
fn springs(numbers: &[(f64, f64)]) -> Vec<Part> {
    let one = |(i, &(stiffness, length)): (usize, &(f64, f64))| {
        let function = record(4, |x: &[Trace]| {
            let (dx, dy) = (x[2] - x[0], x[3] - x[1]);
            let size = (dx * dx + dy * dy).sqrt();
            let pull = (size - length) * stiffness / size;
            vec![pull * dx, pull * dy, -pull * dx, -pull * dy]
        });
        let places: Vec<u32> = (2 * i as u32..2 * i as u32 + 4).collect();
        Part { function: function.unwrap(), place: Instance { inputs: places.clone(), outputs: places } }
    };
    numbers.iter().enumerate().map(one).collect()
}

/// Parts that differ in constants are found to be one kernel, with the constants that differ as its inputs, those that do not inside; where a constant is so special that the
/// recording is simplified, there is another kernel. Numbers and derivatives are those of the parts.
#[test]
fn parts_that_read_the_same_share_a_kernel() {
    let n = 9;
    let sizes = Sizes { inputs: 2 * n + 2, outputs: 2 * n + 2 };
    // Lengths differ, stiffness does not: a power of two or not.
    for stiffness in [40.0, 64.0] {
        let numbers: Vec<(f64, f64)> = (0..n).map(|i| (stiffness, 0.5 + 0.1 * i as f64)).collect();
        let kernels = Kernels::group(&springs(&numbers), sizes).unwrap();
        let [kernel] = &kernels.kernels[..] else { panic!("{}", kernels.kernels.len()) };
        assert_eq!((kernel.variables, kernel.function.inputs, kernel.members.len()), (4, 5, n));
        assert_eq!(kernels.constants.len(), n);
    }
    // Both differ, and three are special: without length, without a factor, and a factor of −1.
    let mut numbers: Vec<(f64, f64)> = (0..n).map(|i| (20.0 + i as f64, 0.5 + 0.1 * i as f64)).collect();
    (numbers[2].1, numbers[4].0, numbers[7].0) = (0.0, 1.0, -1.0);
    let parts = springs(&numbers);
    let kernels = Kernels::group(&parts, sizes).unwrap();
    let shares: Vec<usize> = kernels.kernels.iter().map(|kernel| kernel.instances.len()).collect();
    assert_eq!(shares, [6, 1, 1, 1]);
    assert_eq!(kernels.kernels[0].members, [0, 1, 3, 5, 6, 8]);
    let alone: usize = parts.iter().map(|p| p.function.graph.operations(&p.function.outputs)).max().unwrap();
    assert!(kernels.extent().operations <= 4 * alone && kernels.extent().instances == n);

    let x: Vec<f64> = (0..sizes.inputs).map(|i| 1.3 * (i / 2) as f64 + 0.2 * (7.1 * i as f64).sin()).collect();
    let (slopes, pattern) = kernels.jacobian(&[]);
    let (mut y, mut entries) = (vec![f64::NAN; sizes.outputs], vec![f64::NAN; pattern.len()]);
    kernels.interpreted().call(&x, &mut y);
    slopes.interpreted().call(&x, &mut entries);
    let dense = pattern.dense(&entries);
    let force = |x: &[Jet<f64, 1>]| {
        let mut out = vec![Jet::<f64, 1>::zero(); x.len()];
        for (i, &(stiffness, length)) in numbers.iter().enumerate() {
            let (dx, dy) = (x[2 * i + 2] - x[2 * i], x[2 * i + 3] - x[2 * i + 1]);
            let size = (dx * dx + dy * dy).sqrt();
            let pull = (size - length) * stiffness / size;
            for (k, f) in [pull * dx, pull * dy, -pull * dx, -pull * dy].into_iter().enumerate() {
                out[2 * i + k] += f;
            }
        }
        out
    };
    for column in 0..x.len() {
        let seeded: Vec<Jet<f64, 1>> = (0..x.len()).map(|i| Jet::new(x[i], f64::from(u8::from(i == column)))).collect();
        for (row, exact) in force(&seeded).iter().enumerate() {
            // Some ten operations on forces and stiffnesses of some 50 N and N/m, and their sums.
            let bound = 10.0 * f64::EPSILON * 100.0;
            let (a, b) = (y[row] - exact.re, dense[row * x.len() + column] - exact.eps[0]);
            assert!(a.abs() < bound && b.abs() < 10.0 * bound, "{row} {column}: {a:e} {b:e}");
        }
    }
}

/// Exponents are part of what a function is, outputs that are constants differ from part to part, and those that are nothing are left out.
#[test]
fn exponents_and_constant_outputs() {
    let part = |exponent: f64, weight: f64, at: u32| {
        let function =
            record(2, |x: &[Trace]| vec![x[1].powf(Trace::from(exponent)), Trace::from(weight), Trace::default()]);
        let place = Instance { inputs: vec![0, 1], outputs: vec![at, at, at] };
        Part { function: function.unwrap(), place }
    };
    let sizes = Sizes { inputs: 2, outputs: 3 };
    let nothing = record(1, |x: &[Trace]| vec![x[0] - x[0]]).unwrap();
    let nothing = Part { function: nothing, place: Instance { inputs: vec![0], outputs: vec![0] } };
    let parts = [part(1.5, 2.0, 0), part(2.5, 3.0, 1), part(1.5, 4.0, 2), nothing];
    let kernels = Kernels::group(&parts, sizes).unwrap();
    let members: Vec<&[usize]> = kernels.kernels.iter().map(|kernel| &kernel.members[..]).collect();
    assert_eq!(members, [&[0, 2][..], &[1]]);
    assert_eq!(kernels.kernels[0].variables, 1);
    let mut y = [f64::NAN; 3];
    kernels.interpreted().call(&[9.0, 4.0], &mut y);
    assert_eq!(y, [10.0, 35.0, 12.0]);
    // 4^1.5 · 1.5/4 and 4^2.5 · 2.5/4; the other input is in no kernel.
    let (slopes, pattern) = kernels.jacobian(&[(2, 0)]);
    assert_eq!(pattern.entries, [(0, 1), (1, 1), (2, 0), (2, 1)]);
    let mut entries = [f64::NAN; 4];
    slopes.interpreted().call(&[9.0, 4.0], &mut entries);
    assert_eq!(entries, [3.0, 20.0, 0.0, 3.0]);
    let wrong = Part { place: Instance { inputs: vec![0, 2], outputs: vec![0; 3] }, ..parts[0].clone() };
    assert_eq!(
        Kernels::group(&[parts[1].clone(), wrong], sizes).unwrap_err(),
        MapError::Range { instance: 1, place: 2 }
    );
}
