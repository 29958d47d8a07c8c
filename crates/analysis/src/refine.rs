//! Maps over two values that are computed where they change: a coarse grid first, then again and again halves of those cells whose corners differ in kind.
//!
//! A cell whose four corners are alike is filled by bilinear interpolation. So a map of n × n places costs in proportion to the length of the borders in it,
//! some n log n, not n². What is narrower than a coarse cell and touches none of its corners is missed.

use crate::sweep::parallel_while;

/// A map that was computed in part.
#[derive(Clone, Debug, PartialEq)]
pub struct Refined<E> {
    /// The values, row after row.
    pub values: Vec<f64>,
    /// How many of them were computed; the others are between those.
    pub computed: usize,
    /// Whether all that was wanted was computed; if not, other values are no numbers.
    pub whole: bool,
    /// The places that failed, in their order, and why; their values are no numbers, nor are those between such places.
    pub failed: Vec<(usize, E)>,
}

/// A map over a grid of columns and rows. `work` computes the value of a place (row · columns + column), `same` says whether two values are of one kind,
/// `coarse` is the spacing of the first places, and `progress` hears how many places each round computes. Places that fail are a kind of their own.
pub fn refined<E: Send>(
    counts: [usize; 2],
    coarse: usize,
    work: impl Fn(usize) -> Result<f64, E> + Sync,
    same: impl Fn(f64, f64) -> bool,
    progress: impl FnMut(usize),
) -> Refined<E> {
    refined_blocks(counts, coarse, 1, |places| places.iter().map(|&k| work(k)).collect(), same, progress, || true)
}

/// The same for work on several places at once, `block` of them, as long as `keep_on` says so: it is asked before each block.
pub fn refined_blocks<E: Send>(
    counts: [usize; 2],
    coarse: usize,
    block: usize,
    work: impl Fn(&[usize]) -> Vec<Result<f64, E>> + Sync,
    same: impl Fn(f64, f64) -> bool,
    mut progress: impl FnMut(usize),
    keep_on: impl Fn() -> bool + Sync,
) -> Refined<E> {
    let [columns, rows] = counts;
    let same = |a: f64, b: f64| if a.is_nan() || b.is_nan() { a.is_nan() && b.is_nan() } else { same(a, b) };
    let mut failed = Vec::new();
    let mut values = vec![f64::NAN; columns * rows];
    let mut known = vec![false; values.len()];
    let mut computed = 0;
    let ends = |count: usize| -> Vec<usize> {
        let last = count.saturating_sub(1);
        (0..last).step_by(coarse.max(1)).chain([last]).collect()
    };
    let (across, up) = (ends(columns), ends(rows));
    let mut wanted: Vec<usize> = up.iter().flat_map(|&j| across.iter().map(move |&i| j * columns + i)).collect();
    let spans = |ends: &[usize]| -> Vec<[usize; 2]> {
        match ends {
            [only] => vec![[*only, *only]],
            _ => ends.windows(2).map(|pair| [pair[0], pair[1]]).collect(),
        }
    };
    let mut cells: Vec<[[usize; 2]; 2]> =
        spans(&up).into_iter().flat_map(|j| spans(&across).into_iter().map(move |i| [i, j])).collect();
    let mut filled: Vec<[[usize; 2]; 2]> = Vec::new();
    loop {
        wanted.retain(|&k| !known[k]);
        wanted.sort_unstable();
        wanted.dedup();
        progress(wanted.len());
        let mut whole = true;
        let blocks: Vec<&[usize]> = wanted.chunks(block.max(1)).collect();
        for (places, found) in blocks.iter().zip(parallel_while(blocks.len(), &keep_on, |i| work(blocks[i]))) {
            whole &= found.is_some();
            for (&k, value) in places.iter().zip(found.into_iter().flatten()) {
                match value {
                    Ok(value) => values[k] = value,
                    Err(error) => failed.push((k, error)),
                }
                known[k] = true;
                computed += 1;
            }
        }
        if !whole {
            failed.sort_by_key(|(k, _)| *k);
            return Refined { values, computed, whole, failed };
        }
        wanted.clear();
        let mut finer = Vec::new();
        for cell @ [i, j] in cells {
            if i[1] - i[0] <= 1 && j[1] - j[0] <= 1 {
                continue;
            }
            let corner = |a: usize, b: usize| values[j[b] * columns + i[a]];
            let first = corner(0, 0);
            if [(1, 0), (0, 1), (1, 1)].iter().all(|&(a, b)| same(first, corner(a, b))) {
                filled.push(cell);
                continue;
            }
            let halves = |[low, high]: [usize; 2]| -> Vec<[usize; 2]> {
                let middle = low.midpoint(high);
                if middle > low { vec![[low, middle], [middle, high]] } else { vec![[low, high]] }
            };
            for j in halves(j) {
                for i in halves(i) {
                    wanted.extend(j.iter().flat_map(|&j| i.iter().map(move |&i| j * columns + i)));
                    finer.push([i, j]);
                }
            }
        }
        cells = finer;
        if cells.is_empty() {
            break;
        }
    }
    for [i, j] in filled {
        let corner = |a: usize, b: usize| values[j[b] * columns + i[a]];
        let corners = [[corner(0, 0), corner(1, 0)], [corner(0, 1), corner(1, 1)]];
        let part = |[low, high]: [usize; 2], k: usize| (k - low) as f64 / (high - low).max(1) as f64;
        for row in j[0]..=j[1] {
            for column in i[0]..=i[1] {
                let k = row * columns + column;
                if !known[k] {
                    let (x, y) = (part(i, column), part(j, row));
                    let along = |[a, b]: [f64; 2]| a + x * (b - a);
                    values[k] = along(corners[0]) + y * (along(corners[1]) - along(corners[0]));
                }
            }
        }
    }
    failed.sort_by_key(|(k, _)| *k);
    Refined { values, computed, whole: true, failed }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// Inside a circle −1, outside its distance.
    fn circle(k: usize) -> Result<f64, ()> {
        let (x, y) = ((k % 301) as f64 - 140.0, (k / 301) as f64 - 90.0);
        Ok(if x.hypot(y) < 77.3 { -1.0 } else { x.hypot(y) })
    }

    #[test]
    fn borders_are_exact_and_little_is_computed() {
        let found = refined([301, 201], 16, circle, |a, b| (a < 0.0) == (b < 0.0), |_| ());
        for (k, value) in found.values.iter().enumerate() {
            let exact = circle(k).unwrap();
            assert_eq!(*value < 0.0, exact < 0.0, "{k}");
            // Far from the centre distances are almost linear: (16 m)² / (8 · 77 m) at most.
            assert!((value - exact).abs() < 0.5, "{k}: {value} {exact}");
        }
        // The border is some 490 long; each round meets it in cells of half the size.
        assert!(found.computed < 5000, "{}", found.computed);
        let all = refined([301, 201], 1, circle, |a, b| a == b, |_| ());
        assert_eq!(all.computed, 301 * 201);
        assert!((0..all.values.len()).all(|k| all.values[k] == circle(k).unwrap()));
    }

    #[test]
    fn failures_and_thin_grids_are_met() {
        // A place that fails is left empty and bordered; all others have their values.
        let holed = refined([5, 5], 2, |k| if k == 12 { Err("no") } else { Ok(0.0) }, |_, _| true, |_| ());
        assert_eq!((holed.failed, holed.computed), (vec![(12, "no")], 25));
        assert!((0..25).all(|k| holed.values[k].is_nan() == (k == 12)), "{:?}", holed.values);
        let line = refined([9, 1], 4, |k| Ok::<f64, ()>(k as f64), |a, b| (a < 5.0) == (b < 5.0), |_| ());
        assert_eq!(line.values, (0..9).map(|k| k as f64).collect::<Vec<_>>());
        assert_eq!(refined([1, 1], 4, |_| Ok::<f64, ()>(3.0), |_, _| true, |_| ()).values, [3.0]);
    }
}
