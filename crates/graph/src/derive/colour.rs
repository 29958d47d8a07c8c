//! Patterns of sparse matrices, and columns that can be had together.
//!
//! Entries of a Jacobian are built one by one where the graph is small. Where it is large, a product J · v costs two evaluations
//! whatever v is, and columns that never meet in a row share one: as many products as colours give the whole matrix.
//!
//! Reference: Gebremedhin, Manne, Pothen: What color is your Jacobian?, SIAM Review 47 (2005), sec. 3.

/// Where a matrix has entries, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The number of rows.
    pub rows: usize,
    /// The number of columns.
    pub columns: usize,
    /// Rows and columns of the entries, ascending.
    pub entries: Vec<(u32, u32)>,
}

/// Colours of columns: two of one colour have no row in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Colours {
    /// The colour of each column.
    pub of: Vec<u32>,
    /// How many there are.
    pub count: usize,
}

impl Pattern {
    /// The number of entries.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether all entries vanish.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The dense matrix, row by row, of these values.
    pub fn dense(&self, values: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.rows * self.columns];
        for (&(row, column), value) in self.entries.iter().zip(values) {
            out[row as usize * self.columns + column as usize] = *value;
        }
        out
    }

    /// Colours the columns, the longest first, each with the first colour that is free.
    pub fn colours(&self) -> Colours {
        let mut by_column: Vec<Vec<u32>> = vec![Vec::new(); self.columns];
        for &(row, column) in &self.entries {
            by_column[column as usize].push(row);
        }
        let mut order: Vec<usize> = (0..self.columns).collect();
        order.sort_by_key(|&c| std::cmp::Reverse(by_column[c].len()));
        // The colours already present in each row.
        let mut present: Vec<Vec<bool>> = vec![Vec::new(); self.rows];
        let mut of = vec![0; self.columns];
        let mut count = 0;
        for column in order {
            let free =
                |colour: usize| by_column[column].iter().all(|&row| present[row as usize].get(colour) != Some(&true));
            let colour = (0..).find(|&colour| free(colour)).unwrap_or(count);
            for &row in &by_column[column] {
                let row = &mut present[row as usize];
                if row.len() <= colour {
                    row.resize(colour + 1, false);
                }
                row[colour] = true;
            }
            of[column] = colour as u32;
            count = count.max(colour + 1);
        }
        Colours { of, count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A band of width 3 needs three colours, an arrow with a full row as many as columns.
    #[test]
    fn bands_and_arrows() {
        let n = 50u32;
        let band = (0..n).flat_map(|i| (i.saturating_sub(1)..(i + 2).min(n)).map(move |j| (i, j))).collect();
        let band = Pattern { rows: 50, columns: 50, entries: band };
        assert_eq!(band.colours().count, 3);
        let arrow = Pattern { rows: 1, columns: 7, entries: (0..7).map(|j| (0, j)).collect() };
        assert_eq!(arrow.colours().count, 7);
        let colours = band.colours().of;
        for (a, b) in band.entries.iter().zip(&band.entries[1..]) {
            assert!(a.0 != b.0 || colours[a.1 as usize] != colours[b.1 as usize]);
        }
    }
}
