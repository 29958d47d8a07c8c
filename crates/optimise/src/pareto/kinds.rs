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

/// How much farther than their nearest neighbours solutions of different kinds are.
const FARTHER: f64 = 4.0;

/// What of solutions tells kinds apart.
pub(super) struct Kinds<'k> {
    /// Projections of x.
    pub projections: &'k [&'k [f64]],
    /// Distances of goals, scaled.
    pub goals: &'k dyn Fn(usize, usize) -> f64,
    /// How far apart points of the front are meant to be.
    pub spacing: f64,
}

impl Kinds<'_> {
    fn far(&self, a: usize, b: usize) -> f64 {
        geometry::apart(self.projections[a], self.projections[b])
    }

    /// How fast x changes with the goals between two points.
    fn rate(&self, a: usize, b: usize) -> f64 {
        self.far(a, b) / (self.goals)(a, b).max(0.25 * self.spacing)
    }

    /// Links between solutions of one kind: x differ little, or not much for how the goals differ, against the nearest other points.
    pub fn links(&self) -> Vec<(usize, usize)> {
        let count = self.projections.len();
        let size = self.projections.iter().map(|p| geometry::root_mean_square(p)).fold(0.0, f64::max);
        let least = |i: usize, of: &dyn Fn(usize) -> f64| {
            let others = (0..count).filter(|&j| j != i && (self.goals)(i, j) > 0.25 * self.spacing);
            others.map(of).fold(f64::INFINITY, f64::min)
        };
        let reach: Vec<f64> = (0..count).map(|i| FARTHER * least(i, &|j| self.far(i, j)).max(1e-4 * size)).collect();
        let rates: Vec<f64> = (0..count).map(|i| FARTHER * least(i, &|j| self.rate(i, j))).collect();
        let pairs = (0..count).flat_map(|a| (0..a).map(move |b| (a, b)));
        let linked = |&(a, b): &(usize, usize)| {
            let neighbours = (self.goals)(a, b) <= super::bridge::GAP * self.spacing;
            self.far(a, b) <= reach[a].min(reach[b]) || neighbours && self.rate(a, b) <= rates[a].min(rates[b])
        };
        pairs.filter(linked).collect()
    }
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
