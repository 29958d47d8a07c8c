//! LU factors, dense and sparse, real and complex: against each other and against the matrices they came from.
#![allow(clippy::unwrap_used)]

use dalembert_methods::algebra::{Complex, Field, Lu, SingularColumn, Sparse, SparseLu};
use proptest::prelude::*;

/// A seeded generator of numbers in [−1, 1): splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Numbers made from the generator.
trait Made: Field {
    fn made(random: &mut Random) -> Self;
}

impl Made for f64 {
    fn made(random: &mut Random) -> Self {
        random.next()
    }
}

impl Made for Complex {
    fn made(random: &mut Random) -> Self {
        Self::new(random.next(), random.next())
    }
}

/// The backward error max|A x − b| / (n max|A| max|x|), which pivoting keeps near rounding.
fn backward<T: Field>(a: &Sparse<T>, x: &[T], b: &[T]) -> f64 {
    let mut image = vec![T::default(); b.len()];
    a.apply(x, &mut image);
    let error = image.iter().zip(b).fold(0.0, |max: f64, (&i, &b)| max.max((i - b).size()));
    let largest = |values: &[T]| values.iter().fold(0.0, |max: f64, v| max.max(v.size()));
    error / (b.len() as f64 * largest(a.values()) * largest(x) + largest(b))
}

/// A random pattern: a diagonal with holes, and a few entries for each column.
fn pattern(random: &mut Random, n: usize) -> Vec<(usize, usize)> {
    let mut entries: Vec<(usize, usize)> = (0..n).map(|i| ((i * 7 + 3) % n, i)).collect();
    for col in 0..n {
        for _ in 0..3 {
            entries.push((((random.next() + 1.0) * 0.5 * n as f64) as usize % n, col));
        }
    }
    entries
}

fn agree<T: Made>(seed: u64, n: usize) {
    let mut random = Random(seed);
    let mut a = Sparse::<T>::new(n, pattern(&mut random, n));
    let mut sparse = SparseLu::new(&a);
    let mut dense = Lu::<T>::new(n);
    for round in 0..4 {
        a.clear();
        for slot in 0..a.values().len() {
            a.add(slot, T::made(&mut random));
        }
        dense.values_mut().fill(T::default());
        for ((row, col), &value) in a.places().zip(a.values()) {
            dense.values_mut()[row * n + col] = value;
        }
        let b: Vec<T> = (0..n).map(|_| T::made(&mut random)).collect();
        match (dense.factor(), sparse.factor(&a)) {
            (Ok(()), Ok(())) => {
                let (mut x, mut y) = (b.clone(), b.clone());
                dense.solve(&mut x);
                sparse.solve(&mut y);
                // Growth of entries: at most a few tens with full pivots, 1/KEEP_PIVOT for pivots that are reused.
                assert!(backward(&a, &x, &b) < 1e-14, "dense {}", backward(&a, &x, &b));
                assert!(backward(&a, &y, &b) < 1e-11, "sparse {round} {}", backward(&a, &y, &b));
            }
            // A pattern may be singular by structure; then both say so.
            (dense, sparse) => assert!(dense.is_err() && sparse.is_err(), "{dense:?} {sparse:?}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn dense_and_sparse_factors_solve_the_same(seed in any::<u64>(), n in 1usize..60) {
        agree::<f64>(seed, n);
        agree::<Complex>(seed, n);
    }
}

/// The pattern and values of [M/h² Gᵀ; G 0] for a chain of particles on a line, unknowns by kind, not by place.
fn chain(n: usize, stiffness: f64) -> Sparse<f64> {
    let mut entries = Vec::new();
    for i in 0..n {
        entries.push((i, i, 2.0 + stiffness));
        entries.extend([(n + i, i, 1.0), (i, n + i, 1.0)]);
        if i > 0 {
            entries.extend([(n + i, i - 1, -1.0), (i - 1, n + i, -1.0)]);
            entries.extend([(i, i - 1, -stiffness), (i - 1, i, -0.5 * stiffness)]);
        }
    }
    let mut a = Sparse::new(2 * n, entries.iter().map(|&(row, col, _)| (row, col)));
    for (row, col, value) in entries {
        let slot = a.slot(row, col).unwrap();
        a.add(slot, value);
    }
    a
}

#[test]
fn factors_of_a_constrained_chain_grow_in_proportion_and_keep_their_pivots() {
    let entries = [100, 200, 400].map(|n| {
        let a = chain(n, 0.3);
        let mut lu = SparseLu::new(&a);
        for stiffness in [0.3, 0.4, 0.2] {
            let a = chain(n, stiffness);
            lu.factor(&a).unwrap();
            let exact: Vec<f64> = (0..2 * n).map(|i| (i as f64).sin()).collect();
            let mut b = vec![0.0; 2 * n];
            a.apply(&exact, &mut b);
            let rhs = b.clone();
            lu.solve(&mut b);
            assert!(backward(&a, &b, &rhs) < 1e-14);
        }
        assert_eq!(lu.searches(), 1);
        lu.entries()
    });
    assert!(entries[2] < 2 * entries[1] + 50 && entries[1] < 2 * entries[0] + 50, "{entries:?}");
    assert!(entries[2] < 400 * 20, "{entries:?}");
}

#[test]
fn pivots_are_chosen_anew_when_old_ones_vanish() {
    let entries = [(0, 0), (0, 1), (1, 0), (1, 1)];
    let mut a = Sparse::new(2, entries);
    let mut lu = SparseLu::new(&a);
    let mut solve = |values: [f64; 4]| {
        a.values_mut().copy_from_slice(&values);
        lu.factor(&a).unwrap();
        let mut b = [1.0, 2.0];
        lu.solve(&mut b);
        (b, lu.searches())
    };
    assert_eq!(solve([1.0, 0.0, 0.0, 1.0]), ([1.0, 2.0], 1));
    assert_eq!(solve([2.0, 0.0, 0.0, 1.0]), ([0.5, 2.0], 1));
    assert_eq!(solve([0.0, 1.0, 1.0, 0.0]), ([2.0, 1.0], 2));
}

#[test]
fn singular_matrices_name_a_column() {
    let mut dense = Lu::new(3);
    dense.values_mut().copy_from_slice(&[1.0, 2.0, 3.0, 2.0, 4.0, 7.0, 0.1, 0.2, 0.5]);
    assert_eq!(dense.factor(), Err(SingularColumn { column: 1 }));
    dense.values_mut().copy_from_slice(&[1.0, 2.0, 3.0, 2.0, f64::NAN, 7.0, 0.1, 0.2, 0.5]);
    assert_eq!(dense.factor(), Err(SingularColumn { column: 1 }));
    let mut a = Sparse::new(3, (0..9).map(|i| (i / 3, i % 3)));
    for (slot, value) in [1.0, 2.0, 3.0, 2.0, 4.0, 6.0, 1.0, 0.0, 1.0].into_iter().enumerate() {
        a.add(slot, value);
    }
    // Column 1 is twice column 0, and all columns are equally full, so they are taken in their order.
    assert_eq!(SparseLu::new(&a).factor(&a), Err(SingularColumn { column: 1 }));
    // A column without entries is named exactly.
    let mut a = Sparse::new(2, [(0, 0), (1, 0)]);
    a.values_mut().fill(1.0);
    assert_eq!(SparseLu::new(&a).factor(&a), Err(SingularColumn { column: 1 }));
}
