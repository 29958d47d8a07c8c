//! The coefficient sets of explicit Runge–Kutta methods against the order conditions of all rooted trees.

use dalembert_methods::integrate::tableau::{DOP853, DOPRI5, MOST_STAGES, RK4, Tableau};

/// A rooted tree by its branches.
#[derive(Clone, PartialEq, PartialOrd, Debug)]
struct Tree(Vec<Tree>);

impl Tree {
    fn nodes(&self) -> usize {
        1 + self.0.iter().map(Tree::nodes).sum::<usize>()
    }
    /// γ(t): the density.
    fn density(&self) -> f64 {
        self.0.iter().fold(self.nodes() as f64, |product, branch| product * branch.density())
    }
    /// Φ_i(t) = Π over the branches of Σ_j a_ij Φ_j(branch).
    fn stage_weights(&self, tableau: &Tableau) -> Vec<f64> {
        let branches: Vec<Vec<f64>> = self.0.iter().map(|branch| branch.stage_weights(tableau)).collect();
        let sum = |row: &[f64], w: &[f64]| row.iter().zip(w).map(|(a, w)| a * w).sum::<f64>();
        tableau.rows.iter().map(|row| branches.iter().map(|w| sum(row, w)).product()).collect()
    }
}

/// All rooted trees with `nodes` nodes.
fn trees(nodes: usize) -> Vec<Tree> {
    fn forests(nodes: usize, smaller: &[Vec<Tree>], bound: Option<&Tree>) -> Vec<Vec<Tree>> {
        if nodes == 0 {
            return vec![Vec::new()];
        }
        let mut all = Vec::new();
        for first in smaller[1..=nodes].iter().flatten() {
            // Branches in descending order of (size, form), so that each forest is met once.
            let key = |t: &Tree| (t.nodes(), t.clone());
            if bound.is_none_or(|b| key(first) <= key(b)) {
                for mut rest in forests(nodes - first.nodes(), smaller, Some(first)) {
                    rest.insert(0, first.clone());
                    all.push(rest);
                }
            }
        }
        all
    }
    let mut by_size = vec![Vec::new()];
    for n in 1..=nodes {
        let grown = forests(n - 1, &by_size, None).into_iter().map(Tree).collect();
        by_size.push(grown);
    }
    by_size.swap_remove(nodes)
}

/// The largest violation of Σ b_i Φ_i(t) = target/γ(t) over the trees of one size.
fn violation(tableau: &Tableau, weights: &[f64], nodes: usize, target: f64) -> f64 {
    trees(nodes)
        .iter()
        .map(|tree| {
            let sum: f64 = weights.iter().zip(tree.stage_weights(tableau)).map(|(b, w)| b * w).sum();
            (sum - target / tree.density()).abs()
        })
        .fold(0.0, f64::max)
}

/// The coefficients reach 500 in size and the sums have 16 terms: rounding below 500·16·ε ≈ 2e-12.
const ROUNDING: f64 = 2e-12;

#[test]
fn there_are_as_many_trees_as_cayley_counted() {
    let counts: Vec<usize> = (1..=9).map(|n| trees(n).len()).collect();
    assert_eq!(counts, [1, 1, 2, 4, 9, 20, 48, 115, 286]);
}

#[test]
fn rows_sum_to_nodes() {
    for tableau in [&RK4, &DOPRI5, &DOP853] {
        assert!(tableau.all_stages() <= MOST_STAGES);
        for (row, node) in tableau.rows.iter().zip(tableau.nodes) {
            assert!((row.iter().sum::<f64>() - node).abs() < ROUNDING);
        }
    }
}

#[test]
fn steps_meet_the_order_conditions_up_to_their_order_and_no_further() {
    for tableau in [&RK4, &DOPRI5, &DOP853] {
        let order = tableau.order as usize;
        for nodes in 1..=order {
            let found = violation(tableau, tableau.rows[tableau.stages], nodes, 1.0);
            assert!(found < ROUNDING, "order {order}, trees of {nodes} nodes: {found:e}");
        }
        assert!(violation(tableau, tableau.rows[tableau.stages], order + 1, 1.0) > 1e-6);
    }
}

#[test]
fn error_estimates_vanish_up_to_their_order() {
    for (tableau, weights, order) in
        [(&RK4, RK4.error, 3), (&DOPRI5, DOPRI5.error, 4), (&DOP853, DOP853.error, 5), (&DOP853, DOP853.error_low, 3)]
    {
        for nodes in 1..=order {
            assert!(violation(tableau, weights, nodes, 0.0) < ROUNDING, "{order} {nodes}");
        }
        assert!(violation(tableau, weights, order + 1, 0.0) > 1e-6);
    }
}

#[test]
fn continuous_outputs_meet_the_order_conditions_everywhere_in_the_step() {
    for tableau in [&RK4, &DOPRI5, &DOP853] {
        let order = tableau.dense_order as usize;
        for theta in [0.0, 0.1, 0.37, 0.5, 0.81, 1.0_f64] {
            let mut weights = [0.0; MOST_STAGES];
            tableau.weights(theta, &mut weights);
            for nodes in 1..=order {
                let found = violation(tableau, &weights, nodes, theta.powi(nodes as i32));
                assert!(found < ROUNDING, "{order} {theta} {nodes}: {found:e}");
            }
            tableau.hermite_weights(theta, &mut weights);
            for nodes in 1..=3 {
                assert!(violation(tableau, &weights, nodes, theta.powi(nodes as i32)) < ROUNDING);
            }
        }
    }
}
