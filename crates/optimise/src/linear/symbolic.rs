//! The plan of a factorisation: which columns are eliminated together, in which order, and where every number goes.
//!
//! Rows that belong together (a constraint and the variable it is eliminated with) are one node of the graph, so that a zero on the diagonal
//! finds its partner in the same front. Nodes are ordered by approximate minimum degree, the elimination tree is post-ordered, and
//! columns of (almost) the same pattern are gathered into *fronts*: small full matrices of pivots and of rows that they reach.
//!
//! Reference: J. W. H. Liu, *The multifrontal method for sparse matrix solution: theory and practice*, SIAM Review 34 (1992) 82–109.

use super::order::approximate_minimum_degree;

/// A front without values.
#[derive(Clone, Debug, Default)]
pub(crate) struct Front {
    /// The rows (numbers of the matrix): pivots first, then those they reach.
    pub rows: Vec<usize>,
    /// How many rows are pivots.
    pub pivots: usize,
    /// Where the fronts that must be added have been pushed, by number, in order of their creation.
    pub children: Vec<usize>,
    /// For each row that is not a pivot, its place in the parent.
    pub up: Vec<usize>,
    /// The entries of the matrix that enter here: (slot, row here, column here), row ≥ column.
    pub entries: Vec<(usize, usize, usize)>,
}

/// Merges a child into its parent if both are small or if few zeros are stored for it.
const SMALL: usize = 8;
/// The share of zeros that larger fronts may store.
const ZEROS: f64 = 0.15;

/// The fronts in the order of their elimination, children before parents.
pub(crate) fn fronts(n: usize, places: &[(usize, usize)], pairs: &[(usize, usize)]) -> Vec<Front> {
    // Nodes: pairs first, then single rows.
    let mut node_of = vec![usize::MAX; n];
    let mut nodes: Vec<Vec<usize>> = Vec::new();
    for &(a, b) in pairs {
        debug_assert!(a != b && node_of[a] == usize::MAX && node_of[b] == usize::MAX);
        node_of[a] = nodes.len();
        node_of[b] = nodes.len();
        nodes.push(vec![a, b]);
    }
    for row in 0..n {
        if node_of[row] == usize::MAX {
            node_of[row] = nodes.len();
            nodes.push(vec![row]);
        }
    }
    let mut neighbours: Vec<Vec<usize>> = vec![Vec::new(); nodes.len()];
    for &(i, j) in places {
        let (a, b) = (node_of[i], node_of[j]);
        if a != b {
            neighbours[a].push(b);
            neighbours[b].push(a);
        }
    }
    for list in &mut neighbours {
        list.sort_unstable();
        list.dedup();
    }
    let weight: Vec<usize> = nodes.iter().map(Vec::len).collect();
    let order = approximate_minimum_degree(&neighbours, &weight);
    let order = post_order(&neighbours, &order);
    let (parent, columns) = columns(&neighbours, &order);
    let groups = amalgamate(&order, &parent, &columns, &weight);
    build(n, places, &nodes, &node_of, &order, &columns, &groups)
}

fn inverse(order: &[usize]) -> Vec<usize> {
    let mut place = vec![0; order.len()];
    for (k, &node) in order.iter().enumerate() {
        place[node] = k;
    }
    place
}

/// The elimination tree over places of an order (Liu): the parent of k, or `usize::MAX`.
fn tree(neighbours: &[Vec<usize>], order: &[usize]) -> Vec<usize> {
    let n = order.len();
    let place = inverse(order);
    let mut parent = vec![usize::MAX; n];
    let mut ancestor = vec![usize::MAX; n];
    for k in 0..n {
        for &other in &neighbours[order[k]] {
            let mut i = place[other];
            while i < k {
                let next = ancestor[i];
                ancestor[i] = k;
                if next == usize::MAX {
                    parent[i] = k;
                    break;
                }
                if next == k {
                    break;
                }
                i = next;
            }
        }
    }
    parent
}

/// The same elimination, children directly before their parents.
fn post_order(neighbours: &[Vec<usize>], order: &[usize]) -> Vec<usize> {
    let n = order.len();
    let parent = tree(neighbours, order);
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut stack: Vec<(usize, usize)> = Vec::new();
    for k in (0..n).rev() {
        match parent[k] {
            usize::MAX => stack.push((k, 0)),
            up => children[up].push(k),
        }
    }
    let mut result = Vec::with_capacity(n);
    while let Some((k, next)) = stack.pop() {
        match children[k].get(children[k].len().wrapping_sub(next + 1)) {
            Some(&child) if next < children[k].len() => {
                stack.push((k, next + 1));
                stack.push((child, 0));
            }
            _ => result.push(order[k]),
        }
    }
    result
}

/// Parent of each place and the later places its column reaches, ascending.
fn columns(neighbours: &[Vec<usize>], order: &[usize]) -> (Vec<usize>, Vec<Vec<usize>>) {
    let n = order.len();
    let (place, parent) = (inverse(order), tree(neighbours, order));
    let mut columns: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut mark = vec![usize::MAX; n];
    for k in 0..n {
        mark[k] = k;
        let mut column = Vec::new();
        let own = neighbours[order[k]].iter().map(|&node| place[node]).filter(|&i| i > k);
        let inherited = below[k].iter().flat_map(|&child| columns[child].iter().copied());
        for i in own.chain(inherited) {
            if mark[i] != k {
                mark[i] = k;
                column.push(i);
            }
        }
        column.sort_unstable();
        if parent[k] != usize::MAX {
            below[parent[k]].push(k);
        }
        columns[k] = column;
    }
    (parent, columns)
}

/// Groups of successive places that are eliminated together: the first place of each, and the number of places.
fn amalgamate(order: &[usize], parent: &[usize], columns: &[Vec<usize>], weight: &[usize]) -> Vec<usize> {
    let n = order.len();
    let wide = |k: usize| weight[order[k]];
    let rows = |k: usize| columns[k].iter().map(|&i| wide(i)).sum::<usize>();
    // Group of the last places: start, pivots by weight, zeros stored so far.
    let mut groups: Vec<(usize, usize, usize)> = Vec::new();
    for k in 0..n {
        // A group may take in the one before it, if that is a child: the new group holds both patterns.
        let mut new = (k, wide(k), 0);
        while let Some(&(start, pivots, zeros)) = groups.last() {
            let last = new.0 - 1;
            if parent[last] == usize::MAX || parent[last] > k {
                break;
            }
            // Rows of the child's pivots in the merged front, beyond what they need.
            let need = rows(last);
            let have = new.1 + rows(k);
            let extra = pivots * (have - need.min(have));
            let merged = (start, pivots + new.1, zeros + new.2 + extra);
            let stored = merged.1 * (merged.1 + 1) / 2 + merged.1 * rows(k);
            let small = merged.1 <= SMALL && extra <= SMALL * SMALL;
            if extra > 0 && !small && merged.2 as f64 > ZEROS * stored as f64 {
                break;
            }
            groups.pop();
            new = merged;
        }
        groups.push(new);
    }
    groups.iter().map(|group| group.0).chain([n]).collect()
}

fn build(
    n: usize,
    places: &[(usize, usize)],
    nodes: &[Vec<usize>],
    node_of: &[usize],
    order: &[usize],
    columns: &[Vec<usize>],
    cuts: &[usize],
) -> Vec<Front> {
    let mut fronts: Vec<Front> = Vec::with_capacity(cuts.len());
    let mut front_of = vec![0; n];
    let place = inverse(order);
    for (f, cut) in cuts.windows(2).enumerate() {
        let (start, end) = (cut[0], cut[1]);
        let mut front = Front::default();
        for k in start..end {
            for &row in &nodes[order[k]] {
                front_of[row] = f;
                front.rows.push(row);
            }
        }
        front.pivots = front.rows.len();
        // Merged patterns nest: the last column's pattern holds what all reach beyond the group.
        let mut reached: Vec<usize> =
            (start..end).flat_map(|k| columns[k].iter().copied()).filter(|&i| i >= end).collect();
        reached.sort_unstable();
        reached.dedup();
        front.rows.extend(reached.iter().flat_map(|&i| nodes[order[i]].iter().copied()));
        fronts.push(front);
    }
    let mut local = vec![usize::MAX; n];
    let mut by_front: Vec<Vec<(usize, usize, usize)>> = vec![Vec::new(); fronts.len()];
    for (slot, &(i, j)) in places.iter().enumerate() {
        let first = if place[node_of[i]] <= place[node_of[j]] { i } else { j };
        by_front[front_of[first]].push((slot, i, j));
    }
    for f in 0..fronts.len() {
        for (k, &row) in fronts[f].rows.iter().enumerate() {
            local[row] = k;
        }
        fronts[f].entries =
            by_front[f].iter().map(|&(slot, i, j)| (slot, local[i].max(local[j]), local[i].min(local[j]))).collect();
    }
    for f in 0..fronts.len() {
        let Some(&first) = fronts[f].rows.get(fronts[f].pivots) else { continue };
        let up = front_of[first];
        for (k, &row) in fronts[up].rows.iter().enumerate() {
            local[row] = k;
        }
        fronts[f].up = fronts[f].rows[fronts[f].pivots..].iter().map(|&row| local[row]).collect();
        fronts[up].children.push(f);
    }
    fronts
}
