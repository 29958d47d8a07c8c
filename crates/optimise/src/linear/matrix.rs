//! The entries of a sparse symmetric matrix, in the order in which fronts take them.
//!
//! Values come as a list for places in any order, some of them several times. They are added up once for each factorisation; after that everything runs along columns:
//! scaling, assembly of fronts, products.

use super::ldl::NotFinite;
use super::symbolic::{Front, fronts};
use std::ops::Range;

/// Sweeps of equilibration.
const SWEEPS: usize = 3;

/// Entries of one column in one front.
#[derive(Copy, Clone, Debug)]
struct Run {
    column: u32,
    /// The column in the front.
    local: u32,
    start: u32,
    end: u32,
}

impl Run {
    fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// The entries of a matrix of fixed pattern.
#[derive(Clone, Debug)]
pub(super) struct Matrix {
    /// The places of values, as given.
    places: Vec<(usize, usize)>,
    /// The entry that each of them adds to.
    targets: Vec<u32>,
    /// The row of each entry in the matrix and in its front, and its value.
    entries: Vec<(u32, u32)>,
    values: Vec<f64>,
    /// Entries of one column, and those of each front.
    runs: Vec<Run>,
    of_front: Vec<Range<usize>>,
    /// Scales of the rows, powers of two, so that nothing is rounded.
    pub scale: Vec<f64>,
    largest: Vec<f64>,
}

/// The distinct places, as (row, column) with row ≥ column, and which of them each place is.
fn distinct(n: usize, places: &[(usize, usize)]) -> (Vec<(usize, usize)>, Vec<u32>) {
    let lower = |&(i, j): &(usize, usize)| if i >= j { (i, j) } else { (j, i) };
    let mut starts = vec![0; n + 1];
    places.iter().for_each(|place| starts[lower(place).1 + 1] += 1);
    for k in 0..n {
        starts[k + 1] += starts[k];
    }
    let mut by_column = vec![0; places.len()];
    for (slot, place) in places.iter().enumerate() {
        let at = &mut starts[lower(place).1];
        by_column[*at] = slot;
        *at += 1;
    }
    // Numbers of the entries seen in a row, with the column in which it was seen.
    let mut seen = vec![(usize::MAX, 0u32); n];
    let (mut entries, mut targets) = (Vec::new(), vec![0; places.len()]);
    for slot in by_column {
        let (row, column) = lower(&places[slot]);
        if seen[row].0 != column {
            seen[row] = (column, entries.len() as u32);
            entries.push((row, column));
        }
        targets[slot] = seen[row].1;
    }
    (entries, targets)
}

/// A power of two near 1/√x, and one for zero.
fn inverse_root(x: f64) -> f64 {
    if x < f64::MIN_POSITIVE {
        return 1.0;
    }
    // x lies in [2ᵉ, 2ᵉ⁺¹): with half of e + 1, rounded down, x s² lies in [½, 2).
    let exponent = (x.to_bits() >> 52) as i64 - 1023;
    f64::from_bits(((1023 - (exponent + 1).div_euclid(2)) as u64) << 52)
}

impl Matrix {
    /// Plans fronts for entries at these places.
    pub fn new(n: usize, places: &[(usize, usize)], pairs: &[(usize, usize)]) -> (Self, Vec<Front>) {
        let (distinct, mut targets) = distinct(n, places);
        let mut fronts = fronts(n, &distinct, pairs);
        let (mut entries, mut runs, mut of_front) = (Vec::with_capacity(distinct.len()), Vec::<Run>::new(), Vec::new());
        let mut order = vec![0; distinct.len()];
        for front in &mut fronts {
            let first = runs.len();
            let mut own = std::mem::take(&mut front.entries);
            own.sort_unstable_by_key(|&(_, row, column)| (column, row));
            for (slot, row, local) in own {
                let (at, column) = (entries.len() as u32, front.rows[local] as u32);
                order[slot] = at;
                entries.push((front.rows[row] as u32, row as u32));
                match runs[first..].last_mut() {
                    Some(run) if run.column == column => run.end = at + 1,
                    _ => runs.push(Run { column, local: local as u32, start: at, end: at + 1 }),
                }
            }
            of_front.push(first..runs.len());
        }
        targets.iter_mut().for_each(|target| *target = order[*target as usize]);
        let matrix = Self {
            places: places.to_vec(),
            targets,
            values: vec![0.0; entries.len()],
            entries,
            runs,
            of_front,
            scale: vec![1.0; n],
            largest: vec![0.0; n],
        };
        (matrix, fronts)
    }

    /// Takes new values, one for each place, and finds scales that bring the largest entry of each row near one.
    pub fn take(&mut self, values: &[f64]) -> Result<(), NotFinite> {
        if let Some(bad) = values.iter().position(|value| !value.is_finite()) {
            let (row, column) = self.places[bad];
            return Err(NotFinite { row, column });
        }
        self.values.fill(0.0);
        for (&target, value) in self.targets.iter().zip(values) {
            self.values[target as usize] += value;
        }
        self.scale.fill(1.0);
        for _ in 0..SWEEPS {
            self.largest.fill(0.0);
            for run in &self.runs {
                let (column, range) = (run.column as usize, run.range());
                let (own, mut most) = (self.scale[column], 0.0f64);
                for (&(row, _), value) in self.entries[range.clone()].iter().zip(&self.values[range]) {
                    let row = row as usize;
                    let size = value.abs() * (own * self.scale[row]);
                    most = if size > most { size } else { most };
                    let there = &mut self.largest[row];
                    *there = if size > *there { size } else { *there };
                }
                self.largest[column] = self.largest[column].max(most);
            }
            for (scale, &largest) in self.scale.iter_mut().zip(&self.largest) {
                *scale *= inverse_root(largest);
            }
        }
        Ok(())
    }

    /// Writes the scaled entries of a front into a full matrix of `size` rows, in which rows of the front stand at `place`.
    pub fn fill(&self, front: usize, size: usize, place: impl Fn(usize) -> usize, out: &mut [f64]) {
        for run in &self.runs[self.of_front[front].clone()] {
            let (own, range) = (self.scale[run.column as usize], run.range());
            let target = &mut out[place(run.local as usize) * size..][..size];
            for (&(row, local), value) in self.entries[range.clone()].iter().zip(&self.values[range]) {
                target[place(local as usize)] = value * (own * self.scale[row as usize]);
            }
        }
    }

    /// out ← out + A x.
    pub fn add_product(&self, x: &[f64], out: &mut [f64]) {
        for run in &self.runs {
            let (column, range) = (run.column as usize, run.range());
            let (own, mut sum) = (x[column], 0.0);
            for (&(row, _), value) in self.entries[range.clone()].iter().zip(&self.values[range]) {
                let row = row as usize;
                out[row] += value * own;
                sum += if row == column { 0.0 } else { value * x[row] };
            }
            out[column] += sum;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half the exponent, to the nearest: x s² lies within a factor of two of one, even at the ends of the range.
    #[test]
    fn scales_bring_sizes_near_one() {
        for x in [1.0, 1.9, 2.1, 7.0, 1e-3, 3.3e17, 1e-300, 1e300] {
            let s = inverse_root(x);
            assert!(s.log2().fract() == 0.0 && (0.5..=2.0).contains(&(x * s * s)), "{x} {s}");
        }
        assert_eq!(inverse_root(0.0), 1.0);
    }

    #[test]
    fn equal_places_add_up() {
        let (mut matrix, _) = Matrix::new(3, &[(1, 0), (0, 1), (2, 2), (1, 0), (2, 2)], &[]);
        matrix.take(&[1.0, 2.0, 3.0, 4.0, 5.0]).expect("finite");
        let mut out = vec![0.0; 3];
        matrix.add_product(&[1.0, 10.0, 100.0], &mut out);
        assert_eq!(out, [70.0, 7.0, 800.0]);
    }
}
