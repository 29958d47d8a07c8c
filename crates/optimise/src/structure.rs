//! Which equalities contend for the same variables.
//!
//! A matching gives as many equalities as possible a variable of their own. From an equality that is left without one, alternating paths (from a row to all its variables, from a
//! variable to the row that has it) reach k rows that depend on k − 1 variables only: more conditions than freedom, whatever the values are (Hall 1935; Dulmage and Mendelsohn 1958).

use std::collections::VecDeque;

/// Rows that depend on fewer variables than they are many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Contenders {
    /// The rows, ascending.
    pub rows: Vec<usize>,
    /// The number of variables they depend on.
    pub variables: usize,
}

/// The smallest set of equalities found to contend, if there is one. `pattern` holds places (row, variable), `equal` tells which rows are equalities.
pub(crate) fn contenders(equal: &[bool], variables: usize, pattern: &[(usize, usize)]) -> Option<Contenders> {
    let mut of_row: Vec<Vec<usize>> = vec![Vec::new(); equal.len()];
    for &(row, variable) in pattern.iter().filter(|(row, _)| equal[*row]) {
        of_row[row].push(variable);
    }
    let mut owner = vec![usize::MAX; variables];
    // The row that reached a variable, valid where `seen` is the row being matched.
    let (mut reached_by, mut seen) = (vec![0; variables], vec![usize::MAX; variables]);
    let mut owned = vec![usize::MAX; equal.len()];
    let mut alone = Vec::new();
    let mut search = |start: usize, owner: &[usize], reached_by: &mut [usize]| -> (Vec<usize>, Option<usize>) {
        let (mut rows, mut queue) = (vec![start], VecDeque::from([start]));
        while let Some(row) = queue.pop_front() {
            for &variable in &of_row[row] {
                if seen[variable] == start {
                    continue;
                }
                (seen[variable], reached_by[variable]) = (start, row);
                match owner[variable] {
                    usize::MAX => return (rows, Some(variable)),
                    next => {
                        rows.push(next);
                        queue.push_back(next);
                    }
                }
            }
        }
        (rows, None)
    };
    for row in (0..equal.len()).filter(|&row| equal[row]) {
        let (_, found) = search(row, &owner, &mut reached_by);
        let Some(mut variable) = found else {
            alone.push(row);
            continue;
        };
        loop {
            let from = reached_by[variable];
            let next = owned[from];
            (owner[variable], owned[from]) = (from, variable);
            if from == row {
                break;
            }
            variable = next;
        }
    }
    let sets = alone.iter().map(|&row| {
        let mut rows = vec![row];
        let (mut met, mut k) = (vec![false; variables], 0);
        while k < rows.len() {
            for &variable in &of_row[rows[k]] {
                if !met[variable] {
                    met[variable] = true;
                    rows.push(owner[variable]);
                }
            }
            k += 1;
        }
        rows
    });
    // A row without any variable is wrong or superfluous by itself; two that contend for one tell more.
    let size = |rows: &Vec<usize>| if rows.len() == 1 { usize::MAX } else { rows.len() };
    let mut rows = sets.filter(|rows| !rows.contains(&usize::MAX)).min_by_key(size)?;
    rows.sort_unstable();
    Some(Contenders { variables: rows.len() - 1, rows })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_set_is_found() {
        // A chain of rows 0–3 over variables 0–4, and two rows that both fix variable 2 alone.
        let mut pattern: Vec<(usize, usize)> = (0..4).flat_map(|i| [(i, i), (i, i + 1)]).collect();
        pattern.extend([(4, 2), (5, 2)]);
        let found = contenders(&[true; 6], 5, &pattern);
        assert_eq!(found, Some(Contenders { rows: vec![4, 5], variables: 1 }));
        assert_eq!(contenders(&[true, true, true, true, true, false], 5, &pattern), None);
        // A row without variables contends with nothing.
        assert_eq!(contenders(&[true], 1, &[]), Some(Contenders { rows: vec![0], variables: 0 }));
    }
}
