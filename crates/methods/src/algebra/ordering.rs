//! Fill-reducing ordering of a symmetric pattern: minimum degree on the elimination graph.
//!
//! At each turn the node with the fewest neighbours goes first and its neighbours become a clique; ties go to the lowest
//! number, so that the order is the same on every machine. Chains and trees are eliminated without fill.
//!
//! References: A. George, J. W. H. Liu, *The evolution of the minimum degree ordering algorithm*, SIAM Review 31 (1989) 1–19.

use std::collections::BTreeSet;

/// The elimination of a symmetric pattern.
pub(crate) struct Elimination {
    /// The nodes in the order in which they are eliminated.
    pub order: Vec<usize>,
    /// For each place in the order, the later places its column reaches (fill included), ascending.
    pub columns: Vec<Vec<usize>>,
}

/// Orders the nodes `0..neighbours.len()`; `neighbours` is symmetric, loops are ignored.
pub(crate) fn minimum_degree(neighbours: &[BTreeSet<usize>]) -> Elimination {
    let n = neighbours.len();
    let mut graph: Vec<BTreeSet<usize>> = neighbours.to_vec();
    for (node, set) in graph.iter_mut().enumerate() {
        set.remove(&node);
    }
    let mut queue: BTreeSet<(usize, usize)> = graph.iter().enumerate().map(|(node, set)| (set.len(), node)).collect();
    let mut order = Vec::with_capacity(n);
    let mut reached = Vec::with_capacity(n);
    while let Some((_, node)) = queue.pop_first() {
        let around: Vec<usize> = std::mem::take(&mut graph[node]).into_iter().collect();
        for &a in &around {
            queue.remove(&(graph[a].len(), a));
            graph[a].remove(&node);
            graph[a].extend(around.iter().copied().filter(|&b| b != a));
            queue.insert((graph[a].len(), a));
        }
        order.push(node);
        reached.push(around);
    }
    let mut place = vec![0; n];
    for (k, &node) in order.iter().enumerate() {
        place[node] = k;
    }
    let columns = reached
        .into_iter()
        .map(|around| {
            let mut column: Vec<usize> = around.into_iter().map(|node| place[node]).collect();
            column.sort_unstable();
            column
        })
        .collect();
    Elimination { order, columns }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(n: usize, edges: impl Iterator<Item = (usize, usize)>) -> Vec<BTreeSet<usize>> {
        let mut graph = vec![BTreeSet::new(); n];
        for (a, b) in edges {
            graph[a].insert(b);
            graph[b].insert(a);
        }
        graph
    }

    #[test]
    fn a_chain_and_a_star_have_no_fill() {
        let chain = minimum_degree(&graph(100, (0..99).map(|i| (i, i + 1))));
        assert_eq!(chain.columns.iter().map(Vec::len).sum::<usize>(), 99);
        let star = minimum_degree(&graph(100, (1..100).map(|i| (0, i))));
        assert_eq!(star.columns.iter().map(Vec::len).sum::<usize>(), 99);
    }

    #[test]
    fn a_ring_fills_once_for_each_inner_node() {
        let ring = minimum_degree(&graph(50, (0..50).map(|i| (i, (i + 1) % 50))));
        // Two neighbours for all but the last two.
        assert_eq!(ring.columns.iter().map(Vec::len).sum::<usize>(), 2 * 48 + 1);
    }
}
