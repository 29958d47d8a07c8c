//! Constraint solves with hubs against the same without, and against a plain dense solve of the whole system.
#![allow(clippy::unwrap_used)]

use crate::counting;
use dalembert_methods::algebra::{Block, Lu, Mass, MassBlock, RETURN, Rows, Saddle, SaddleError, Structure};
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

    fn below(&mut self, n: usize) -> usize {
        ((self.next() + 1.0) * 0.5 * n as f64) as usize % n
    }

    fn vector(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.next()).collect()
    }
}

/// Bodies of six velocities with random masses.
fn masses(random: &mut Random, bodies: usize) -> Mass<f64> {
    let shapes: Vec<MassBlock> = (0..bodies).flat_map(|_| [MassBlock::Diagonal(3), MassBlock::Dense(3)]).collect();
    let mut mass = Mass::new(&shapes);
    for (i, shape) in shapes.iter().enumerate() {
        let values = mass.block_mut(i);
        if let MassBlock::Diagonal(_) = shape {
            values.fill(2.0 + random.next());
            continue;
        }
        for r in 0..3 {
            for c in 0..=r {
                let value = if r == c { 2.0 + random.next() } else { random.next() / 4.0 };
                values[r * 3 + c] = value;
                values[c * 3 + r] = value;
            }
        }
    }
    mass.factor_checked().unwrap();
    mass
}

/// Groups of random rows between bodies of six velocities: how many rows, and which bodies.
fn joints(random: &mut Random, bodies: usize, joints: &[(usize, Vec<usize>)]) -> Rows<f64> {
    let (mut row, mut places) = (0, Vec::new());
    for (count, met) in joints {
        places.extend(met.iter().map(|&body| Block { row, rows: *count, col: 6 * body, cols: 6 }));
        row += count;
    }
    let mut rows = Rows::new(row, 6 * bodies, &places);
    for i in 0..places.len() {
        rows.block_mut(i).iter_mut().for_each(|g| *g = random.next());
    }
    rows
}

/// `legs` bodies joined to body 0 by `count` rows each.
fn star(random: &mut Random, legs: usize, count: usize) -> (Mass<f64>, Rows<f64>) {
    let parts: Vec<_> = (1..=legs).map(|leg| (count, vec![leg, 0])).collect();
    (masses(random, legs + 1), joints(random, legs + 1, &parts))
}

fn hub() -> Structure {
    Structure::Hubs((0..6).collect())
}

/// [M Gᵀ; G 0] solved as a whole.
fn reference(mass: &Mass<f64>, rows: &Rows<f64>, f: &[f64], c: &[f64]) -> Vec<f64> {
    let (n, m) = (mass.size(), rows.rows());
    let size = n + m;
    let mut lu = Lu::new(size);
    let mut column = vec![0.0; n];
    for j in 0..n {
        let mut unit = vec![0.0; n];
        unit[j] = 1.0;
        mass.apply(&unit, &mut column);
        (0..n).for_each(|i| lu.values_mut()[i * size + j] = column[i]);
    }
    let mut dense = vec![0.0; n * m];
    rows.to_dense(&mut dense);
    for i in 0..m {
        for j in 0..n {
            lu.values_mut()[(n + i) * size + j] = dense[i * n + j];
            lu.values_mut()[j * size + n + i] = dense[i * n + j];
        }
    }
    lu.factor().unwrap();
    let mut x: Vec<f64> = f.iter().chain(c).copied().collect();
    lu.solve(&mut x);
    x
}

fn worst(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).fold(0.0, |max: f64, (a, b)| max.max((a - b).abs()))
}

fn largest(a: &[f64]) -> f64 {
    a.iter().fold(1.0, |max: f64, x| max.max(x.abs()))
}

struct Solution {
    a: Vec<f64>,
    lambda: Vec<f64>,
    saddle: Saddle,
}

fn solve(mass: &Mass<f64>, rows: &Rows<f64>, structure: &Structure, f: &[f64], c: &[f64]) -> Solution {
    let mut saddle = Saddle::with_structure(mass, rows, structure);
    let (mut a, mut lambda) = (f.to_vec(), c.to_vec());
    saddle.factor(mass, rows);
    saddle.solve(mass, rows, &mut a, &mut lambda).unwrap();
    Solution { a, lambda, saddle }
}

/// Solves in both structures. Accelerations must agree to rounding times the condition number, which follows from the smallest pivot;
/// multipliers must balance the forces. Returns what agreement means.
fn agree(mass: &Mass<f64>, rows: &Rows<f64>, hubs: &Structure, f: &[f64], c: &[f64]) -> ([Solution; 2], f64) {
    let plain = solve(mass, rows, &Structure::Schur, f, c);
    let other = solve(mass, rows, hubs, f, c);
    assert_eq!(other.saddle.dependent().len(), plain.saddle.dependent().len());
    let size = largest(&plain.a).max(largest(&plain.lambda));
    let pivot = plain.saddle.smallest_pivot().1.min(other.saddle.smallest_pivot().1);
    let bound = 1e3 / pivot * f64::EPSILON * size;
    assert!(worst(&plain.a, &other.a) < bound, "{} {bound}", worst(&plain.a, &other.a));
    let mut balance = vec![0.0; mass.size()];
    mass.apply(&other.a, &mut balance);
    rows.add_transpose(1.0, &other.lambda, &mut balance);
    assert!(worst(&balance, f) < bound);
    let mut met = vec![0.0; c.len()];
    rows.add_apply(&other.a, &mut met);
    // Rows may be in any unit.
    let mut dense = vec![0.0; rows.cols() * rows.rows()];
    rows.to_dense(&mut dense);
    for ((met, c), row) in met.iter().zip(c).zip(dense.chunks_exact(rows.cols())) {
        assert!((met - c).abs() < bound * largest(row), "{met} {c} {bound}");
    }
    ([plain, other], bound)
}

/// The same; multipliers must agree as well.
fn compare(mass: &Mass<f64>, rows: &Rows<f64>, hubs: &Structure, f: &[f64], c: &[f64]) -> [Solution; 2] {
    let (both, bound) = agree(mass, rows, hubs, f, c);
    let difference = worst(&both[0].lambda, &both[1].lambda);
    assert!(difference < bound, "{difference} {bound}");
    both
}

#[test]
fn stars_agree_with_the_schur_complement() {
    for (legs, count) in [(10, 3), (10, 5), (40, 5), (100, 3), (400, 3)] {
        let mut random = Random(legs as u64);
        let (mass, rows) = star(&mut random, legs, count);
        let (f, c) = (random.vector(mass.size()), random.vector(rows.rows()));
        let [_, other] = compare(&mass, &rows, &hub(), &f, &c);
        assert!(other.saddle.dependent().is_empty());
    }
}

#[test]
fn the_work_for_a_star_grows_with_its_legs_or_with_their_cube() {
    let work = |legs: usize, structure: Option<Structure>| {
        let (mass, rows) = star(&mut Random(1), legs, 5);
        let saddle = structure.map_or_else(|| Saddle::new(&mass, &rows), |s| Saddle::with_structure(&mass, &rows, &s));
        (saddle.structure(), saddle.work())
    };
    let chosen = [50, 100, 200, 400].map(|legs| work(legs, None));
    assert!(chosen.iter().all(|(structure, _)| *structure == hub()));
    let steps: Vec<u64> = chosen.windows(2).map(|w| w[1].1 - w[0].1).collect();
    assert_eq!((steps[1], steps[2]), (2 * steps[0], 4 * steps[0]));
    // Per leg of five rows and a hub of six velocities: 5³/6 + 5, 6 · 15 for Z and 5 · 21 for W.
    assert_eq!(steps[0] / 50, 25 + 90 + 105);
    let plain = [50, 100, 200].map(|legs| work(legs, Some(Structure::Schur)));
    for (legs, (structure, work)) in [50u64, 100, 200].into_iter().zip(plain) {
        assert_eq!((structure, work), (Structure::Schur, (5 * legs).pow(3) / 6 + 5 * legs));
    }
}

#[test]
fn chains_trees_and_small_systems_have_no_hubs() {
    let structure = |bodies: usize, parts: &[(usize, Vec<usize>)]| {
        let mut random = Random(2);
        Saddle::new(&masses(&mut random, bodies), &joints(&mut random, bodies, parts)).structure()
    };
    let chain: Vec<_> = (1..300).map(|i| (5, vec![i - 1, i])).collect();
    assert_eq!(structure(300, &chain), Structure::Schur);
    let ring: Vec<_> = (0..100).map(|i| (5, vec![i, (i + 1) % 100])).collect();
    assert_eq!(structure(100, &ring), Structure::Schur);
    let tree: Vec<_> = (1..255).map(|i| (5, vec![(i - 1) / 2, i])).collect();
    assert_eq!(structure(255, &tree), Structure::Schur);
    let small: Vec<_> = (1..=4).map(|leg| (5, vec![leg, 0])).collect();
    assert_eq!(structure(5, &small), Structure::Schur);
    assert_eq!(structure(1, &[]), Structure::Schur);
    // A flywheel with many chains of pendulums is a hub all the same.
    let chains: Vec<_> = (1..=300).map(|i| (5, vec![i, if i % 3 == 1 { 0 } else { i - 1 }])).collect();
    assert_eq!(structure(301, &chains), hub());
}

/// Two platforms, `legs` legs on each and `both` legs between them.
fn two_hubs(random: &mut Random, legs: usize, both: usize) -> (Mass<f64>, Rows<f64>) {
    let bodies = 2 + 2 * legs + both;
    let mut parts: Vec<_> = (0..2 * legs).map(|leg| (5, vec![2 + leg, leg % 2])).collect();
    for leg in 2 + 2 * legs..bodies {
        parts.extend([(3, vec![leg, 0]), (2, vec![leg, 1])]);
    }
    (masses(random, bodies), joints(random, bodies, &parts))
}

#[test]
fn two_hubs_are_found_and_agree() {
    let mut random = Random(4);
    let (mass, rows) = two_hubs(&mut random, 30, 20);
    let hubs = Saddle::new(&mass, &rows).structure();
    assert_eq!(hubs, Structure::Hubs((0..12).collect()));
    let (f, c) = (random.vector(mass.size()), random.vector(rows.rows()));
    compare(&mass, &rows, &hubs, &f, &c);
    // One of them alone is right as well, and any other body.
    compare(&mass, &rows, &hub(), &f, &c);
    compare(&mass, &rows, &Structure::Hubs(vec![9, 20, 21, 100]), &f, &c);
}

/// Copies of rows with other coefficients: row `to` becomes the sum of rows over the same bodies.
fn combine(rows: &mut Rows<f64>, to: usize, of: &[(usize, f64)]) {
    let (n, m) = (rows.cols(), rows.rows());
    let mut dense = vec![0.0; n * m];
    rows.to_dense(&mut dense);
    let line: Vec<f64> = (0..n).map(|j| of.iter().map(|&(row, factor)| factor * dense[row * n + j]).sum()).collect();
    for i in 0..rows.blocks().len() {
        let Block { row, rows: count, col, cols } = rows.blocks()[i];
        if (row..row + count).contains(&to) {
            rows.block_mut(i)[(to - row) * cols..][..cols].copy_from_slice(&line[col..col + cols]);
        }
    }
}

#[test]
fn duplicated_rows_of_legs_are_dependent() {
    // Every leg has a joint of four rows and another whose two rows combine them.
    for legs in [10, 60] {
        let mut random = Random(5);
        let parts: Vec<_> = (1..=legs).flat_map(|leg| [(4, vec![leg, 0]), (2, vec![leg, 0])]).collect();
        let mass = masses(&mut random, legs + 1);
        let mut rows = joints(&mut random, legs + 1, &parts);
        let mut c = random.vector(rows.rows());
        for leg in 0..legs {
            let of = [(6 * leg, 300.0 * random.next()), (6 * leg + 2, 300.0), (6 * leg + 3, 300.0 * random.next())];
            combine(&mut rows, 6 * leg + 5, &of);
            c[6 * leg + 5] = of.iter().map(|&(row, factor)| factor * c[row]).sum();
        }
        let f = random.vector(mass.size());
        let [plain, other] = compare(&mass, &rows, &hub(), &f, &c);
        assert_eq!(other.saddle.dependent().len(), legs);
        // One row of each leg, in either structure.
        let of_leg = |saddle: &Saddle| saddle.dependent().iter().map(|row| row / 6).collect::<Vec<_>>();
        assert_eq!(of_leg(&plain.saddle), (0..legs).collect::<Vec<_>>());
        assert_eq!(of_leg(&other.saddle), (0..legs).collect::<Vec<_>>());
    }
}

#[test]
fn rows_that_depend_through_the_hub_only_are_found() {
    // Legs on the ground by five rows, on the platform by three: with the platform fixed each has two rows too many, with the
    // platform free three legs hold it and the others are redundant by 2 n − 6 rows.
    for legs in [3, 4, 10, 40] {
        let mut random = Random(6 + legs as u64);
        let parts: Vec<_> = (1..=legs).flat_map(|leg| [(5, vec![leg]), (3, vec![leg, 0])]).collect();
        let mass = masses(&mut random, legs + 1);
        let rows = joints(&mut random, legs + 1, &parts);
        let f = random.vector(mass.size());
        // Rows of full column rank ask for a velocity there is.
        let mut c = vec![0.0; rows.rows()];
        rows.add_apply(&random.vector(mass.size()), &mut c);
        let ([plain, other], bound) = agree(&mass, &rows, &hub(), &f, &c);
        assert_eq!(other.saddle.dependent().len(), 2 * legs - 6);
        // The smallest multipliers are reached in as many steps as rows are dependent if these are few.
        assert!(legs > 4 || worst(&plain.lambda, &other.lambda) < bound);
    }
}

/// A star whose hub is fixed to the ground by six rows, and by a seventh that is the sum of two of them.
fn grounded(random: &mut Random) -> (Mass<f64>, Rows<f64>) {
    let mut parts: Vec<_> = (1..=20).map(|leg| (5, vec![leg, 0])).collect();
    parts.extend([(6, vec![0]), (1, vec![0])]);
    let mass = masses(random, 21);
    let mut rows = joints(random, 21, &parts);
    combine(&mut rows, 106, &[(101, 1.0), (104, -2.0)]);
    (mass, rows)
}

#[test]
fn a_hub_on_the_ground_is_fixed_once() {
    let mut random = Random(7);
    let (mass, rows) = grounded(&mut random);
    let (f, mut c) = (random.vector(mass.size()), random.vector(rows.rows()));
    c[106] = c[101] - 2.0 * c[104];
    let [_, mut other] = compare(&mass, &rows, &hub(), &f, &c);
    let &[row] = other.saddle.dependent() else { panic!("{:?}", other.saddle.dependent()) };
    assert!([101, 104, 106].contains(&row));
    // Its two companions are named, and in a contradiction all three.
    let mut named = other.saddle.depends_on(&mass, &rows, row);
    named.push(row);
    named.sort_unstable();
    assert_eq!(named, [101, 104, 106]);
    c[106] += 1e-3;
    other.saddle.factor(&mass, &rows);
    let error = other.saddle.solve(&mass, &rows, &mut f.clone(), &mut c).unwrap_err();
    let SaddleError::Contradictory { row, depends_on, .. } = error else { panic!("{error}") };
    let mut named = depends_on;
    named.push(row);
    named.sort_unstable();
    assert_eq!(named, [101, 104, 106]);
}

#[test]
fn contradictions_within_a_leg_and_rows_of_zeros_are_named() {
    let mut random = Random(8);
    let (mass, mut rows) = star(&mut random, 12, 5);
    combine(&mut rows, 33, &[(30, 1.0), (31, 0.5)]);
    let (f, mut c) = (random.vector(60 + 18), random.vector(60));
    c[33] = c[30] + 0.5 * c[31] + 0.1;
    let mut saddle = Saddle::with_structure(&mass, &rows, &hub());
    saddle.factor(&mass, &rows);
    let error = saddle.solve(&mass, &rows, &mut f.clone(), &mut c.clone()).unwrap_err();
    let SaddleError::Contradictory { row, depends_on, .. } = error else { panic!("{error}") };
    let mut named = depends_on;
    named.push(row);
    named.sort_unstable();
    assert_eq!(named, [30, 31, 33]);
    combine(&mut rows, 33, &[]);
    saddle.release();
    saddle.factor(&mass, &rows);
    assert_eq!(saddle.dependent(), [33]);
    c[33] = 1.0;
    let error = saddle.solve(&mass, &rows, &mut f.clone(), &mut c.clone()).unwrap_err();
    assert_eq!(error, SaddleError::Contradictory { row: 33, residual: -1.0, depends_on: vec![] });
    // What is not a number is named.
    rows.block_mut(0)[7] = f64::NAN;
    saddle.factor(&mass, &rows);
    let error = saddle.solve(&mass, &rows, &mut f.clone(), &mut c).unwrap_err();
    assert_eq!(error, SaddleError::NotFinite { row: 1 });
}

#[test]
fn a_row_once_dependent_returns_when_it_is_clearly_independent() {
    // Two rows at an angle, on the hub alone or on a leg alone; other legs leave the hub free in the directions of the first.
    for col in [0, 39] {
        let mut random = Random(9);
        let mut mass = Mass::new(&[MassBlock::Diagonal(41)]);
        mass.block_mut(0).fill(1.0);
        mass.factor();
        let mut places: Vec<Block> = (0..18)
            .flat_map(|leg| [(2, 1), (3 + 2 * leg, 2)].map(|(col, cols)| Block { row: leg, rows: 1, col, cols }))
            .collect();
        places.push(Block { row: 18, rows: 2, col, cols: 2 });
        let mut rows = Rows::new(20, 41, &places);
        for i in 0..36 {
            rows.block_mut(i).iter_mut().for_each(|g| *g = random.next());
        }
        let mut saddle = Saddle::with_structure(&mass, &rows, &Structure::Hubs(vec![0, 1, 2]));
        let mut found = |angle: f64| {
            rows.block_mut(36).copy_from_slice(&[1.0, 0.0, 1.0, angle]);
            saddle.factor(&mass, &rows);
            saddle.dependent().len()
        };
        assert_eq!([1e-4, 1e-6, 1e-4, 5e-4, 2e-3, 1e-4].map(&mut found), [0, 1, 1, 1, 0, 0]);
    }
}

#[test]
fn light_and_heavy_hubs_agree() {
    for weight in [1e-6, 1e-3, 1e3, 1e6] {
        let mut random = Random(10);
        let (mut mass, rows) = star(&mut random, 30, 5);
        (0..2).for_each(|block| mass.block_mut(block).iter_mut().for_each(|m| *m *= weight));
        mass.factor_checked().unwrap();
        let (f, c) = (random.vector(mass.size()), random.vector(rows.rows()));
        let [_, mut other] = compare(&mass, &rows, &hub(), &f, &c);
        // A hub of almost no mass delays all rows: memory grows in the first factorisation, and never again.
        let before = counting::allocations();
        other.saddle.factor(&mass, &rows);
        other.saddle.correct(&mass, &rows, &mut f.clone(), &mut c.clone()).unwrap();
        assert_eq!(counting::allocations() - before, 2, "two copies of arguments");
    }
}

#[test]
fn rows_that_are_left_out_do_nothing() {
    let mut random = Random(11);
    let (mass, rows) = grounded(&mut random);
    let active = 93;
    let (f, c) = (random.vector(mass.size()), random.vector(rows.rows()));
    let solved = [Structure::Schur, hub()].map(|structure| {
        let mut saddle = Saddle::with_structure(&mass, &rows, &structure);
        saddle.factor_first(&mass, &rows, active);
        assert!(saddle.dependent().is_empty());
        let (mut a, mut lambda) = (f.clone(), c.clone());
        saddle.solve(&mass, &rows, &mut a, &mut lambda).unwrap();
        assert!(lambda[active..].iter().all(|&lambda| lambda == 0.0));
        (a, lambda, saddle.smallest_pivot().1)
    });
    let size = largest(&solved[0].0).max(largest(&solved[0].1));
    let bound = 1e3 / solved[0].2 * f64::EPSILON * size;
    assert!(worst(&solved[0].0, &solved[1].0) < bound && worst(&solved[0].1, &solved[1].1) < bound);
}

#[test]
fn the_same_bits_come_out_and_nothing_is_allocated() {
    let mut random = Random(12);
    let parts: Vec<_> = (1..=30).flat_map(|leg| [(5, vec![leg]), (3, vec![leg, 0])]).collect();
    let mass = masses(&mut random, 31);
    let rows = joints(&mut random, 31, &parts);
    let f = random.vector(mass.size());
    let mut c = vec![0.0; rows.rows()];
    rows.add_apply(&random.vector(mass.size()), &mut c);
    let runs = [0, 1].map(|_| {
        let mut saddle = Saddle::with_structure(&mass, &rows, &hub());
        let (mut a, mut lambda) = (f.clone(), c.clone());
        let before = counting::allocations();
        for _ in 0..3 {
            a.copy_from_slice(&f);
            lambda.copy_from_slice(&c);
            saddle.factor(&mass, &rows);
            saddle.solve(&mass, &rows, &mut a, &mut lambda).unwrap();
        }
        assert_eq!(counting::allocations() - before, 0);
        a.iter().chain(&lambda).map(|x| x.to_bits()).collect::<Vec<_>>()
    });
    assert_eq!(runs[0], runs[1]);
}

/// Legs with any number of rows, too many of them among these, in any units; some only on hubs, some on two legs.
fn redundant(seed: u64, legs: usize, hubs: usize) -> (Mass<f64>, Rows<f64>, Vec<f64>, Vec<f64>) {
    let mut random = Random(seed);
    let bodies = hubs + legs;
    let mut parts = vec![(1 + random.below(7), vec![random.below(hubs)])];
    for leg in hubs..bodies {
        parts.push((1 + random.below(5), vec![leg, random.below(hubs)]));
        if random.below(3) == 0 {
            parts.push((1 + random.below(5), vec![leg]));
        }
        if leg + 1 < bodies && random.below(4) == 0 {
            parts.push((1 + random.below(3), vec![leg, leg + 1]));
        }
    }
    let mass = masses(&mut random, bodies);
    let mut rows = joints(&mut random, bodies, &parts);
    for _ in 0..3 {
        // Copies within a group, in another unit.
        let (row, group) = (random.below(rows.rows()), random.below(parts.len()));
        let first: usize = parts[..group].iter().map(|(count, _)| count).sum();
        if (first..first + parts[group].0).contains(&row) && row > first {
            combine(&mut rows, row, &[(first, 10f64.powi(random.below(7) as i32 - 3))]);
        }
    }
    let f = random.vector(mass.size());
    let mut c = vec![0.0; rows.rows()];
    rows.add_apply(&random.vector(mass.size()), &mut c);
    (mass, rows, f, c)
}

/// The pivots of G M⁻¹ Gᵀ, scaled to a unit diagonal, in a full factorisation that always takes the largest.
fn pivots(mass: &Mass<f64>, rows: &Rows<f64>) -> Vec<f64> {
    let (n, m) = (mass.size(), rows.rows());
    let mut dense = vec![0.0; n * m];
    rows.to_dense(&mut dense);
    let lines: Vec<&[f64]> = dense.chunks_exact(n).collect();
    let solved = lines.iter().map(|line| {
        let mut x = line.to_vec();
        mass.solve(&mut x);
        x
    });
    let mut s: Vec<Vec<f64>> =
        solved.map(|x| lines.iter().map(|line| line.iter().zip(&x).map(|(a, b)| a * b).sum()).collect()).collect();
    let size: Vec<f64> = (0..m).map(|i| s[i][i].sqrt()).collect();
    (0..m).for_each(|i| (0..m).for_each(|j| s[i][j] /= size[i] * size[j]));
    let mut left: Vec<usize> = (0..m).collect();
    let mut pivots = Vec::new();
    while let Some(at) = (0..left.len()).max_by(|&a, &b| s[left[a]][left[a]].total_cmp(&s[left[b]][left[b]])) {
        let k = left.swap_remove(at);
        let pivot = s[k][k];
        pivots.push(pivot);
        // From here on all is rounding.
        if pivot < 1e-14 {
            pivots.resize(m, 0.0);
            break;
        }
        for &i in &left {
            let factor = s[i][k] / pivot;
            left.iter().for_each(|&j| s[i][j] -= factor * s[k][j]);
        }
    }
    pivots
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any velocities may stay unknowns, in parts of blocks and of masses of any shape.
    #[test]
    fn random_hubs_agree_with_the_whole_system(seed in any::<u64>(), bodies in 2usize..12) {
        let mut random = Random(seed);
        let shapes: Vec<MassBlock> = (0..bodies)
            .map(|_| match random.below(4) {
                0 => MassBlock::Diagonal(3),
                1 => MassBlock::Dense(4),
                2 => MassBlock::Carried([usize::MAX, 0, 1, 1, 3].into()),
                _ => MassBlock::Dense(6),
            })
            .collect();
        let mut mass = Mass::new(&shapes);
        for (i, shape) in shapes.iter().enumerate() {
            let values = mass.block_mut(i);
            match *shape {
                MassBlock::Diagonal(_) => values.iter_mut().for_each(|m| *m = 2.0 + random.next()),
                MassBlock::Carried(_) => {
                    for node in values.chunks_exact_mut(MassBlock::CARRIED) {
                        node.iter_mut().for_each(|x| *x = random.next());
                        (node[9], node[10]) = (3.0 + random.next(), 2.0 + random.next());
                        node[11..14].iter_mut().for_each(|x| *x *= 0.3);
                        node[14..].copy_from_slice(&[2.0, 0.3, 0.1, 2.5, -0.2, 3.0]);
                    }
                }
                MassBlock::Dense(n) => {
                    for r in 0..n {
                        for c in 0..=r {
                            let value = if r == c { 3.0 + random.next() } else { random.next() / n as f64 };
                            values[r * n + c] = value;
                            values[c * n + r] = value;
                        }
                    }
                }
            }
        }
        mass.factor_checked().unwrap();
        let starts: Vec<(usize, usize)> = mass.blocks().map(|(shape, start)| (start, shape.size())).collect();
        let (mut places, mut row) = (Vec::new(), 0);
        for body in 0..bodies {
            let count = 1 + random.below(2);
            let (start, size) = starts[body];
            let skip = random.below(2);
            // In two blocks, so that two pieces of one row lie over one mass.
            places.push(Block { row, rows: count, col: start + skip, cols: 1 });
            places.push(Block { row, rows: count, col: start + skip + 1, cols: size - skip - 1 });
            let (other, width) = starts[random.below(bodies)];
            if other != start {
                places.push(Block { row, rows: count, col: other, cols: width });
            }
            row += count;
        }
        let mut rows = Rows::new(row, mass.size(), &places);
        for i in 0..places.len() {
            rows.block_mut(i).iter_mut().for_each(|g| *g = random.next());
        }
        let (f, c) = (random.vector(mass.size()), random.vector(row));
        let hubs: Vec<usize> = (0..mass.size()).filter(|_| random.below(4) == 0).collect();
        let Solution { a, lambda, saddle } = solve(&mass, &rows, &Structure::Hubs(hubs), &f, &c);
        let exact = reference(&mass, &rows, &f, &c);
        prop_assert!(saddle.dependent().is_empty());
        let size = largest(&exact);
        let bound = 1e3 / saddle.smallest_pivot().1 * f64::EPSILON * size;
        prop_assert!(worst(&a, &exact[..mass.size()]) < bound, "{} {bound}", worst(&a, &exact[..mass.size()]));
        prop_assert!(worst(&lambda, &exact[mass.size()..]) < bound, "{} {bound}", worst(&lambda, &exact[mass.size()..]));
        let mut residual: Vec<f64> = c.iter().map(|c| -c).collect();
        rows.add_apply(&a, &mut residual);
        prop_assert!(residual.iter().all(|r| r.abs() < 1e-13 * size));
    }

    /// Where a pivot is neither rounding nor clearly independent either rank is right, and what is left unmet may be seen. The Schur
    /// complement is asked where the coefficients of combinations are small enough for it: where its own pivots are clear too.
    #[test]
    fn random_redundant_systems_have_the_same_rank(seed in any::<u64>(), legs in 2usize..12, hubs in 1usize..3) {
        let (mass, rows, f, c) = redundant(seed, legs, hubs);
        let pivots = pivots(&mass, &rows);
        prop_assume!(pivots.iter().all(|pivot| !(1e-13..RETURN).contains(pivot)));
        let rank = pivots.iter().filter(|&&pivot| pivot >= RETURN).count();
        let hubs = Structure::Hubs((0..6 * hubs).collect());
        prop_assert_eq!(solve(&mass, &rows, &hubs, &f, &c).saddle.dependent().len(), rows.rows() - rank);
        prop_assume!(solve(&mass, &rows, &Structure::Schur, &f, &c).saddle.smallest_pivot().1 > RETURN);
        agree(&mass, &rows, &hubs, &f, &c);
    }
}
