//! Constraint solves against a plain dense solve of the whole system, with and without dependent rows.
#![allow(clippy::unwrap_used)]

use dalembert_methods::algebra::{Block, Lu, Mass, MassBlock, Rows, Saddle, SaddleError};
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
}

/// A random well-conditioned mass matrix.
fn mass(random: &mut Random, blocks: &[MassBlock]) -> Mass<f64> {
    let mut mass = Mass::new(blocks);
    for (i, block) in blocks.iter().enumerate() {
        let values = mass.block_mut(i);
        match *block {
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
    mass
}

fn fill(random: &mut Random, rows: &mut Rows<f64>) {
    for i in 0..rows.blocks().len() {
        rows.block_mut(i).iter_mut().for_each(|g| *g = random.next());
    }
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
        for i in 0..n {
            lu.values_mut()[i * size + j] = column[i];
        }
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

/// A chain of `n` bodies of six velocities: five rows between neighbours, the first to the ground.
fn chain(random: &mut Random, n: usize) -> (Mass<f64>, Rows<f64>) {
    let blocks: Vec<MassBlock> = (0..n).flat_map(|_| [MassBlock::Diagonal(3), MassBlock::Dense(3)]).collect();
    let places: Vec<Block> = (0..n)
        .flat_map(|i| {
            let at = |body: usize| Block { row: 5 * i, rows: 5, col: 6 * body, cols: 6 };
            if i == 0 { vec![at(0)] } else { vec![at(i), at(i - 1)] }
        })
        .collect();
    let mut rows = Rows::new(5 * n, 6 * n, &places);
    fill(random, &mut rows);
    (mass(random, &blocks), rows)
}

/// Rows scaled by units: the solution must not depend on them.
fn solve(mass: &Mass<f64>, rows: &Rows<f64>, f: &[f64], c: &[f64]) -> (Vec<f64>, Vec<f64>, Saddle) {
    let mut saddle = Saddle::new(mass, rows);
    let (mut a, mut lambda) = (f.to_vec(), c.to_vec());
    saddle.factor(mass, rows);
    saddle.solve(mass, rows, &mut a, &mut lambda).unwrap();
    (a, lambda, saddle)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_problems_agree_with_the_whole_system(seed in any::<u64>(), bodies in 2usize..12) {
        let mut random = Random(seed);
        let shapes: Vec<MassBlock> = (0..bodies)
            .map(|_| match random.below(4) {
                0 => MassBlock::Diagonal(3),
                1 => MassBlock::Dense(4),
                2 => MassBlock::Carried([usize::MAX, 0, 1, 1, 3].into()),
                _ => MassBlock::Dense(6),
            })
            .collect();
        let mass = mass(&mut random, &shapes);
        let starts: Vec<(usize, usize)> = mass.blocks().map(|(shape, start)| (start, shape.size())).collect();
        // Fewer rows than velocities: one constraint of one or two rows for each body, to another body, over parts of blocks.
        let (mut places, mut row) = (Vec::new(), 0);
        for body in 0..bodies {
            let count = 1 + random.below(2);
            let (start, size) = starts[body];
            let skip = random.below(2);
            places.push(Block { row, rows: count, col: start + skip, cols: size - skip });
            let (other, width) = starts[random.below(bodies)];
            if other != start {
                places.push(Block { row, rows: count, col: other, cols: width });
            }
            row += count;
        }
        let mut rows = Rows::new(row, mass.size(), &places);
        fill(&mut random, &mut rows);
        let f: Vec<f64> = (0..mass.size()).map(|_| random.next()).collect();
        let c: Vec<f64> = (0..row).map(|_| random.next()).collect();
        let (a, lambda, saddle) = solve(&mass, &rows, &f, &c);
        let exact = reference(&mass, &rows, &f, &c);
        prop_assert!(saddle.dependent().is_empty());
        // Random rows: both solves are right to rounding times their condition number, which follows from the smallest pivot.
        let condition = 1e3 / saddle.smallest_pivot().1;
        let size = exact.iter().fold(1.0, |max: f64, x| max.max(x.abs()));
        let bound = condition * f64::EPSILON * size;
        prop_assert!(worst(&a, &exact[..mass.size()]) < bound, "{} {bound}", worst(&a, &exact[..mass.size()]));
        prop_assert!(worst(&lambda, &exact[mass.size()..]) < bound, "{} {bound}", worst(&lambda, &exact[mass.size()..]));
        // The constraints themselves are met to rounding, whatever the condition.
        let mut residual: Vec<f64> = c.iter().map(|c| -c).collect();
        rows.add_apply(&a, &mut residual);
        prop_assert!(residual.iter().all(|r| r.abs() < 1e-13 * size));
    }
}

#[test]
fn one_full_block_and_its_groups_give_the_same() {
    let mut random = Random(3);
    let (mass, rows) = chain(&mut random, 12);
    let (n, m) = (mass.size(), rows.rows());
    let mut full = Rows::new(m, n, &[Block { row: 0, rows: m, col: 0, cols: n }]);
    rows.to_dense(full.block_mut(0));
    let f: Vec<f64> = (0..n).map(|_| random.next()).collect();
    let c: Vec<f64> = (0..m).map(|_| random.next()).collect();
    let (a, lambda, sparse) = solve(&mass, &rows, &f, &c);
    let (b, mu, dense) = solve(&mass, &full, &f, &c);
    assert!(10 * sparse.work() < dense.work(), "{} {}", sparse.work(), dense.work());
    let exact = reference(&mass, &rows, &f, &c);
    let size = exact.iter().fold(1.0, |max: f64, x| max.max(x.abs()));
    let bound = 1e3 / dense.smallest_pivot().1 * f64::EPSILON * size;
    assert!(worst(&a, &exact[..n]) < bound && worst(&b, &exact[..n]) < bound);
    assert!(worst(&lambda, &exact[n..]) < bound && worst(&mu, &exact[n..]) < bound);
}

#[test]
fn the_work_for_a_chain_grows_with_its_length() {
    let works: Vec<u64> = [16, 32, 64, 128]
        .iter()
        .map(|&n| {
            let (mass, rows) = chain(&mut Random(1), n);
            Saddle::new(&mass, &rows).work()
        })
        .collect();
    let step = works[1] - works[0];
    assert_eq!(works[2] - works[1], 2 * step);
    assert_eq!(works[3] - works[2], 4 * step);
    // Per joint of five rows: 5³/6 + 5³/2 + 5·15 multiplications and a few.
    assert!(step / 16 < 200, "{step}");
}

/// Adds rows to a chain that are random combinations of its rows (each in its own group), in random units.
fn with_combinations(random: &mut Random, n: usize, extra: usize, full: bool) -> (Mass<f64>, Rows<f64>, Vec<f64>) {
    let (mass, rows) = chain(random, n);
    let (v, m) = (mass.size(), rows.rows());
    let mut dense = vec![0.0; m * v];
    rows.to_dense(&mut dense);
    let mut places: Vec<Block> =
        if full { vec![Block { row: 0, rows: m, col: 0, cols: v }] } else { rows.blocks().to_vec() };
    let mut combinations = Vec::new();
    let mut made = Vec::new();
    for k in 0..extra {
        // A combination of the rows of one joint and the next.
        let joint = random.below(n - 1);
        let unit = 10f64.powi(random.below(7) as i32 - 3);
        let mut row = vec![0.0; v];
        let mut coefficients = vec![0.0; m];
        for i in 5 * joint..5 * joint + 10 {
            coefficients[i] = unit * random.next();
            for j in 0..v {
                row[j] += coefficients[i] * dense[i * v + j];
            }
        }
        let col = 6 * joint.saturating_sub(1);
        let cols = 6 * (joint + 2) - col;
        places.push(Block { row: m + k, rows: 1, col, cols });
        made.push(row[col..col + cols].to_vec());
        combinations.extend(coefficients);
    }
    let mut all = Rows::new(m + extra, v, &places);
    let base = places.len() - extra;
    if full {
        all.block_mut(0).copy_from_slice(&dense);
    } else {
        for i in 0..base {
            all.block_mut(i).copy_from_slice(rows.block(i));
        }
    }
    for k in 0..extra {
        all.block_mut(base + k).copy_from_slice(&made[k]);
    }
    (mass, all, combinations)
}

#[test]
fn redundant_rows_change_nothing_and_are_counted() {
    for (seed, full) in [(5, false), (6, true), (7, false), (8, true)] {
        let mut random = Random(seed);
        let (n, extra) = (9, 4);
        let (mass, all, combinations) = with_combinations(&mut random, n, extra, full);
        let (v, m) = (mass.size(), 5 * n);
        let mut dense = vec![0.0; (m + extra) * v];
        all.to_dense(&mut dense);
        let mut rows = Rows::new(m, v, &[Block { row: 0, rows: m, col: 0, cols: v }]);
        rows.block_mut(0).copy_from_slice(&dense[..m * v]);
        let f: Vec<f64> = (0..v).map(|_| random.next()).collect();
        let mut c: Vec<f64> = (0..m).map(|_| random.next()).collect();
        let exact = reference(&mass, &rows, &f, &c);
        for k in 0..extra {
            let sum = (0..m).map(|i| combinations[k * m + i] * c[i]).sum();
            c.push(sum);
        }
        let (a, lambda, saddle) = solve(&mass, &all, &f, &c);
        assert_eq!(saddle.dependent().len(), extra);
        let size = exact.iter().fold(1.0, |max: f64, x| max.max(x.abs()));
        let bound = 1e3 / saddle.smallest_pivot().1 * f64::EPSILON * size;
        assert!(worst(&a, &exact[..v]) < bound, "{} {bound}", worst(&a, &exact[..v]));
        // The multipliers balance the forces …
        let mut balance = vec![0.0; v];
        mass.apply(&a, &mut balance);
        all.add_transpose(1.0, &lambda, &mut balance);
        assert!(worst(&balance, &f) < bound);
        // … and are the smallest ones: orthogonal to every combination that does nothing.
        for k in 0..extra {
            let (mut product, mut norm) = (lambda[m + k], 1.0);
            for i in 0..m {
                product -= combinations[k * m + i] * lambda[i];
                norm += combinations[k * m + i].powi(2);
            }
            assert!(product.abs() < 1e-9 * norm.sqrt() * size, "{product} {norm}");
        }
    }
}

#[test]
fn contradictory_rows_are_named() {
    // Rows 0 and 3 are the same but for their unit; row 2 stands alone.
    let mut rows = Rows::new(4, 6, &[Block { row: 0, rows: 4, col: 0, cols: 6 }]);
    let g = rows.block_mut(0);
    let line = [1.0, 2.0, 0.0, 0.0, -1.0, 0.5];
    g[..6].copy_from_slice(&line);
    g[6 + 2] = 1.0;
    g[12 + 3] = 1.0;
    for j in 0..6 {
        g[18 + j] = 1000.0 * line[j] + if j == 2 { 500.0 } else { 0.0 };
    }
    let mut mass = Mass::new(&[MassBlock::Diagonal(6)]);
    mass.block_mut(0).copy_from_slice(&[1.0, 2.0, 3.0, 1.0, 2.0, 3.0]);
    mass.factor();
    let mut saddle = Saddle::new(&mass, &rows);
    saddle.factor(&mass, &rows);
    assert_eq!(saddle.dependent().len(), 1);
    let (mut f, mut c) = ([0.0; 6], [1.0, 1.0, 0.0, 1500.0]);
    saddle.solve(&mass, &rows, &mut f, &mut c).unwrap();
    let (mut f, mut c) = ([0.0; 6], [1.0, 1.0, 0.0, 1501.0]);
    let error = saddle.solve(&mass, &rows, &mut f, &mut c).unwrap_err();
    let SaddleError::Contradictory { row, residual, depends_on } = error else { panic!("{error}") };
    let mut named = depends_on.clone();
    named.push(row);
    named.sort_unstable();
    assert_eq!(named, [0, 1, 3]);
    assert!(residual != 0.0);
}

#[test]
fn a_row_of_zeros_is_dependent_and_contradicts_only_if_asked() {
    let rows = Rows::new(1, 2, &[Block { row: 0, rows: 1, col: 0, cols: 2 }]);
    let mut mass = Mass::new(&[MassBlock::Diagonal(2)]);
    mass.block_mut(0).fill(1.0);
    mass.factor();
    let mut saddle = Saddle::new(&mass, &rows);
    saddle.factor(&mass, &rows);
    let (mut f, mut c) = ([1.0, 2.0], [0.0]);
    saddle.solve(&mass, &rows, &mut f, &mut c).unwrap();
    assert_eq!((f, c), ([1.0, 2.0], [0.0]));
    let error = saddle.solve(&mass, &rows, &mut f, &mut [1.0]).unwrap_err();
    assert_eq!(error, SaddleError::Contradictory { row: 0, residual: -1.0, depends_on: vec![] });
}

#[test]
fn what_is_not_a_number_is_named() {
    let mut rows = Rows::new(2, 2, &[Block { row: 0, rows: 2, col: 0, cols: 2 }]);
    rows.block_mut(0).copy_from_slice(&[1.0, 0.0, f64::NAN, 1.0]);
    let mut mass = Mass::new(&[MassBlock::Diagonal(2)]);
    mass.block_mut(0).fill(1.0);
    mass.factor();
    let mut saddle = Saddle::new(&mass, &rows);
    saddle.factor(&mass, &rows);
    let error = saddle.solve(&mass, &rows, &mut [1.0, 1.0], &mut [0.0, 0.0]).unwrap_err();
    assert_eq!(error, SaddleError::NotFinite { row: 1 });
}

#[test]
fn a_row_once_dependent_returns_when_it_is_clearly_independent() {
    let mut rows = Rows::new(2, 2, &[Block { row: 0, rows: 2, col: 0, cols: 2 }]);
    let mut mass = Mass::new(&[MassBlock::Diagonal(2)]);
    mass.block_mut(0).fill(1.0);
    mass.factor();
    let mut saddle = Saddle::new(&mass, &rows);
    let mut found = |angle: f64| {
        rows.block_mut(0).copy_from_slice(&[1.0, 0.0, 1.0, angle]);
        saddle.factor(&mass, &rows);
        saddle.dependent().len()
    };
    assert_eq!([1e-4, 1e-6, 1e-4, 5e-4, 2e-3, 1e-4].map(&mut found), [0, 1, 1, 1, 0, 0]);
}
#[test]
fn rows_that_are_left_out_do_nothing() {
    let mut random = Random(11);
    let (mass, rows) = chain(&mut random, 8);
    let (n, m) = (mass.size(), rows.rows());
    let active = m - 7;
    let mut dense = vec![0.0; m * n];
    rows.to_dense(&mut dense);
    let mut first = Rows::new(active, n, &[Block { row: 0, rows: active, col: 0, cols: n }]);
    first.block_mut(0).copy_from_slice(&dense[..active * n]);
    let f: Vec<f64> = (0..n).map(|_| random.next()).collect();
    let mut c: Vec<f64> = (0..m).map(|_| random.next()).collect();
    let exact = reference(&mass, &first, &f, &c[..active]);
    let mut saddle = Saddle::new(&mass, &rows);
    saddle.factor_first(&mass, &rows, active);
    let mut a = f.clone();
    saddle.solve(&mass, &rows, &mut a, &mut c).unwrap();
    let size = exact.iter().fold(1.0, |max: f64, x| max.max(x.abs()));
    let bound = 1e3 / saddle.smallest_pivot().1 * f64::EPSILON * size;
    assert!(saddle.dependent().is_empty());
    assert!(worst(&a, &exact[..n]) < bound && worst(&c[..active], &exact[n..]) < bound);
    assert!(c[active..].iter().all(|&lambda| lambda == 0.0));
}
