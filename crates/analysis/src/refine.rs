//! Maps over two values that are computed where they change: a coarse grid first, then again and again halves of those cells whose corners differ in kind.
//!
//! A cell whose four corners are alike is filled by bilinear interpolation. So a map of n × n places costs in proportion to the length of the borders in it,
//! some n log n, not n². What is narrower than a coarse cell and touches none of its corners is missed.

use crate::sweep::parallel;

/// A map that was computed in part.
#[derive(Clone, Debug, PartialEq)]
pub struct Refined {
    /// The values, row after row.
    pub values: Vec<f64>,
    /// How many of them were computed; the others are between those.
    pub computed: usize,
}

/// A map over a grid of columns and rows. `work` computes the value of a place (row · columns + column), `same` says whether two values are of one kind,
/// `coarse` is the spacing of the first places, and `progress` hears how many places each round computes.
///
/// # Errors
/// The first failure of a place, in the order of places.
pub fn refined<E: Send>(
    counts: [usize; 2],
    coarse: usize,
    work: impl Fn(usize) -> Result<f64, E> + Sync,
    same: impl Fn(f64, f64) -> bool,
    mut progress: impl FnMut(usize),
) -> Result<Refined, E> {
    let [columns, rows] = counts;
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
        for (&k, value) in wanted.iter().zip(parallel(wanted.len(), |i| work(wanted[i]))) {
            values[k] = value?;
            known[k] = true;
        }
        computed += wanted.len();
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
    Ok(Refined { values, computed })
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
        let found = refined([301, 201], 16, circle, |a, b| (a < 0.0) == (b < 0.0), |_| ()).unwrap();
        for (k, value) in found.values.iter().enumerate() {
            let exact = circle(k).unwrap();
            assert_eq!(*value < 0.0, exact < 0.0, "{k}");
            // Far from the centre distances are almost linear: (16 m)² / (8 · 77 m) at most.
            assert!((value - exact).abs() < 0.5, "{k}: {value} {exact}");
        }
        // The border is some 490 long; each round meets it in cells of half the size.
        assert!(found.computed < 5000, "{}", found.computed);
        let all = refined([301, 201], 1, circle, |a, b| a == b, |_| ()).unwrap();
        assert_eq!(all.computed, 301 * 201);
        assert!((0..all.values.len()).all(|k| all.values[k] == circle(k).unwrap()));
    }

    #[test]
    fn failures_and_thin_grids_are_met() {
        assert_eq!(refined([5, 5], 2, |k| if k == 12 { Err(k) } else { Ok(0.0) }, |_, _| true, |_| ()), Err(12));
        let line = refined([9, 1], 4, |k| Ok::<f64, ()>(k as f64), |a, b| (a < 5.0) == (b < 5.0), |_| ()).unwrap();
        assert_eq!(line.values, (0..9).map(|k| k as f64).collect::<Vec<_>>());
        assert_eq!(refined([1, 1], 4, |_| Ok::<f64, ()>(3.0), |_, _| true, |_| ()).unwrap().values, [3.0]);
    }
}
