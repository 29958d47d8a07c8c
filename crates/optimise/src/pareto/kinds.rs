//! Kinds of solutions, and parts of the front.
//!
//! Points belong together if a chain of points leads from one to the other whose links are short (single linkage): short in the projection of x for kinds,
//! short in scaled goals for parts. Groups are numbered in the order of their first points.
//!
//! How short links between solutions of one kind are is read from the solutions. The shortest tree that joins all of them has links within kinds, many and alike, and links between
//! kinds, few and long. A link is taken for one between kinds if it lies beyond the upper fence of the lengths' logarithms and beyond four times their median, and the limit is drawn
//! in the first gap between successive lengths there. How points were found plays no part: a branch that is followed around a fold ends in motions of another kind.
//!
//! References: J. C. Gower, G. J. S. Ross, *Minimum spanning trees and single linkage cluster analysis*, Appl. Statist. 18 (1969) 54–64; J. W. Tukey, *Exploratory data analysis*,
//! Addison-Wesley 1977 (the fence, q₃ + 1.5 (q₃ − q₁)).

use super::geometry;

/// Groups of points as numbers from zero, from a test of whether two are near.
pub(super) fn groups(count: usize, near: impl Fn(usize, usize) -> bool) -> Vec<usize> {
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

/// Links between kinds are at least this many times longer than the median of all.
const FARTHER: f64 = 4.0;
/// Tukey's factor of the distance between quartiles.
const FENCE: f64 = 1.5;
/// Successive lengths at the border between kinds differ by this factor at least. Of a hundred lengths that scatter by a factor of two the two longest differ by 1.2.
const GAP: f64 = 1.4;
/// Differences below this part of the largest projection are nothing.
const NOTHING: f64 = 1e-4;

/// Lengths of the shortest tree that joins all points (Prim).
fn tree(projections: &[&[f64]]) -> Vec<f64> {
    let far = |a: usize, b: usize| geometry::apart(projections[a], projections[b]);
    let mut left: Vec<(usize, f64)> = (1..projections.len()).map(|i| (i, far(0, i))).collect();
    let mut lengths = Vec::with_capacity(left.len());
    while let Some(k) = (0..left.len()).min_by(|&a, &b| left[a].1.total_cmp(&left[b].1)) {
        let (next, length) = left.swap_remove(k);
        lengths.push(length);
        left.iter_mut().for_each(|(i, nearest)| *nearest = nearest.min(far(next, *i)));
    }
    lengths
}

/// How far apart solutions of one kind may be; not finite if there is only one kind.
pub(super) fn limit(projections: &[&[f64]]) -> f64 {
    let size = projections.iter().map(|p| geometry::root_mean_square(p)).fold(0.0, f64::max);
    let mut lengths: Vec<f64> = tree(projections).iter().map(|x| x.max(NOTHING * size)).collect();
    lengths.sort_by(f64::total_cmp);
    if lengths.len() < 3 || lengths[0] <= 0.0 {
        return f64::INFINITY;
    }
    let quantile = |part: f64| {
        let at = part * (lengths.len() - 1) as f64;
        let (k, rest) = (at as usize, at.fract());
        let next = lengths[(k + 1).min(lengths.len() - 1)];
        lengths[k].ln() * (1.0 - rest) + next.ln() * rest
    };
    let [low, middle, high] = [0.25, 0.5, 0.75].map(quantile);
    let fence = (high + FENCE * (high - low)).max(middle + FARTHER.ln());
    let gap = lengths.windows(2).find(|pair| pair[1].ln() > fence && pair[1] >= GAP * pair[0]);
    gap.map_or(f64::INFINITY, |pair| (pair[0] * pair[1]).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_are_groups() {
        let at = [0.0f64, 5.0, 0.4, 5.3, 0.8, 9.0];
        let near = |a: usize, b: usize| (at[a] - at[b]).abs() < 0.5;
        assert_eq!(groups(6, near), [0, 1, 0, 1, 0, 2]);
    }

    /// A curve of points from one place to another, with steps that grow along it.
    fn curve(from: [f64; 2], to: [f64; 2], count: usize, growth: f64) -> Vec<Vec<f64>> {
        let at = |k: usize| (growth.powf(k as f64 / count as f64) - 1.0) / (growth - 1.0);
        (0..count).map(|k| (0..2).map(|i| from[i] + at(k) * (to[i] - from[i])).collect()).collect()
    }

    fn kinds(points: &[Vec<f64>]) -> usize {
        let projections: Vec<&[f64]> = points.iter().map(|p| &p[..]).collect();
        let limit = limit(&projections);
        let near = |a: usize, b: usize| geometry::apart(projections[a], projections[b]) <= limit;
        groups(points.len(), near).iter().max().map_or(0, |k| k + 1)
    }

    /// One curve is one kind, even if its last steps are ten times its first ones; two and three curves are two and three kinds, though they bend towards each other.
    #[test]
    fn curves_are_kinds() {
        for growth in [1.01, 3.0, 10.0] {
            let first = curve([0.0, 0.0], [1.0, 0.2], 20, growth);
            assert_eq!(kinds(&first), 1, "{growth}");
            let second = curve([0.0, 1.0], [1.0, 0.9], 12, growth);
            assert_eq!(kinds(&[first.clone(), second.clone()].concat()), 2, "{growth}");
            let third = curve([0.2, -3.0], [1.0, -2.0], 9, growth);
            assert_eq!(kinds(&[first, second, third].concat()), 3, "{growth}");
        }
        // Too few to tell, and the same up to rounding.
        assert_eq!(kinds(&[vec![0.0, 0.0], vec![1.0, 0.0]]), 1);
        assert_eq!(kinds(&(0..9).map(|k| vec![1.0 + 1e-9 * f64::from(k % 3), 0.0]).collect::<Vec<_>>()), 1);
    }
}
