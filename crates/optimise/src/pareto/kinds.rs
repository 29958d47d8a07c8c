//! Kinds of solutions, and parts of the front.
//!
//! Points belong together if a chain of points leads from one to the other whose links are short (single linkage): short in the projection of x for kinds,
//! short in scaled goals for parts. Points of one branch are linked by the way they were found. Groups are numbered in the order of their first points.

use super::geometry;

/// Groups of points as numbers from zero, from links and from a test of whether two are near.
pub(super) fn groups(count: usize, links: &[(usize, usize)], near: impl Fn(usize, usize) -> bool) -> Vec<usize> {
    let mut root: Vec<usize> = (0..count).collect();
    fn find(root: &[usize], mut i: usize) -> usize {
        while root[i] != i {
            i = root[i];
        }
        i
    }
    let join = |root: &mut Vec<usize>, a: usize, b: usize| {
        let (a, b) = (find(root, a), find(root, b));
        root[a.max(b)] = a.min(b);
    };
    links.iter().for_each(|&(a, b)| join(&mut root, a, b));
    for a in 0..count {
        for b in 0..a {
            if find(&root, a) != find(&root, b) && near(a, b) {
                join(&mut root, a, b);
            }
        }
    }
    let mut names: Vec<usize> = Vec::new();
    (0..count)
        .map(|i| {
            let root = find(&root, i);
            names.iter().position(|&name| name == root).unwrap_or_else(|| {
                names.push(root);
                names.len() - 1
            })
        })
        .collect()
}

/// How much farther than usual neighbours solutions of different kinds are.
const FARTHER: f64 = 4.0;

/// The distance in projections beyond which solutions are of different kinds: a multiple of the usual distance to the nearest other.
pub(super) fn usual_distance(projections: &[&[f64]]) -> f64 {
    let nearest = |i: usize| {
        let others = (0..projections.len()).filter(|j| *j != i);
        others.map(|j| geometry::apart(projections[i], projections[j])).fold(f64::INFINITY, f64::min)
    };
    let mut all: Vec<f64> = (0..projections.len()).map(nearest).filter(|d| d.is_finite()).collect();
    all.sort_by(f64::total_cmp);
    let usual = all.get(all.len() / 2).copied().unwrap_or(0.0);
    let size = projections.iter().map(|p| geometry::root_mean_square(p)).fold(0.0, f64::max);
    FARTHER * usual.max(1e-4 * size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_groups() {
        let at = [0.0f64, 5.0, 0.4, 5.3, 0.8, 9.0];
        let near = |a: usize, b: usize| (at[a] - at[b]).abs() < 0.5;
        assert_eq!(groups(6, &[], near), [0, 1, 0, 1, 0, 2]);
        assert_eq!(groups(6, &[(5, 0)], near), [0, 1, 0, 1, 0, 0]);
    }
}
