//! Lines on which a function of two variables is zero, by marching squares.
//!
//! Each cell of a grid is crossed where the function changes sign along its edges. Walking around a cell counterclockwise, a line
//! leads from each change to negative values back to the change to positive ones before it; so negative values always lie to the
//! right of it, and lines of neighbouring cells join end to end.
//!
//! Reference: W. E. Lorensen, H. E. Cline, "Marching cubes: a high resolution 3D surface construction algorithm",
//! Computer Graphics 21 (1987) 163–169, in two dimensions.

use std::collections::BTreeMap;

/// An edge of the grid: its lower left end, and whether it goes up.
type Edge = (usize, usize, bool);

/// The lines where `f` is zero in a rectangle given by its lower left and upper right corner, on a grid of so many cells.
/// Negative values lie to the right of each line. Values that are not finite count as positive.
pub fn zero_lines(
    f: impl Fn([f64; 2]) -> f64,
    [low, high]: [[f64; 2]; 2],
    [across, up]: [usize; 2],
) -> Vec<Vec<[f64; 2]>> {
    let at = |i: usize, j: usize| {
        let part = |k: usize, n: usize, axis: usize| low[axis] + (high[axis] - low[axis]) * k as f64 / n.max(1) as f64;
        [part(i, across, 0), part(j, up, 1)]
    };
    let values: Vec<f64> = (0..=up).flat_map(|j| (0..=across).map(move |i| (i, j))).map(|(i, j)| f(at(i, j))).collect();
    let value = |i: usize, j: usize| values[j * (across + 1) + i];
    let negative = |i: usize, j: usize| value(i, j) < 0.0;
    let crossing = |(i, j, upwards): Edge| {
        let (k, l) = if upwards { (i, j + 1) } else { (i + 1, j) };
        let (a, b) = (value(i, j), value(k, l));
        let share = if (b - a).is_finite() && b != a { (a / (a - b)).clamp(0.0, 1.0) } else { 0.5 };
        let (p, q) = (at(i, j), at(k, l));
        [p[0] + share * (q[0] - p[0]), p[1] + share * (q[1] - p[1])]
    };

    // Where the line that enters a cell through an edge leaves it.
    let mut next: BTreeMap<Edge, Edge> = BTreeMap::new();
    for j in 0..up {
        for i in 0..across {
            let corners = [(i, j), (i + 1, j), (i + 1, j + 1), (i, j + 1)].map(|(i, j)| negative(i, j));
            let edges: [Edge; 4] = [(i, j, false), (i + 1, j, true), (i, j + 1, false), (i, j, true)];
            for k in 0..4 {
                if corners[k] && !corners[(k + 1) % 4] {
                    let end = (1..4).map(|m| (k + m) % 4).find(|&m| !corners[m] && corners[(m + 1) % 4]);
                    next.extend(end.map(|m| (edges[m], edges[k])));
                }
            }
        }
    }

    let mut lines = Vec::new();
    let ends: Vec<Edge> = next.values().copied().collect();
    // Open lines begin where no other ends; what is left is closed.
    let mut starts: Vec<Edge> = next.keys().copied().filter(|edge| !ends.contains(edge)).collect();
    while let Some(start) = starts.pop().or_else(|| next.keys().next().copied()) {
        let mut line = vec![crossing(start)];
        let mut edge = start;
        while let Some(after) = next.remove(&edge) {
            line.push(crossing(after));
            edge = after;
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The zero line of a linear function is straight, whole, and has the negative side to its right.
    #[test]
    fn a_plane_is_one_straight_line() {
        let f = |[x, y]: [f64; 2]| x + 0.3 * y - 0.2;
        let lines = zero_lines(f, [[-1.0, -1.0], [1.0, 1.0]], [7, 9]);
        assert_eq!(lines.len(), 1);
        assert!(lines[0].iter().all(|p| f(*p).abs() < 1e-14));
        let (first, last) = (lines[0][0], lines[0][lines[0].len() - 1]);
        let middle = [0.5 * (first[0] + last[0]), 0.5 * (first[1] + last[1])];
        let right = [last[1] - first[1], first[0] - last[0]];
        assert!(f([middle[0] + 0.1 * right[0], middle[1] + 0.1 * right[1]]) < 0.0);
        assert!((first[1] - last[1]).abs() > 1.99, "from edge to edge");
    }

    /// On a grid of width h the line through a circle of radius r is off by at most h²/(8 r), twice for a diagonal.
    #[test]
    fn a_circle_closes() {
        let f = |[x, y]: [f64; 2]| x.hypot(y) - 0.7;
        let lines = zero_lines(f, [[-1.0, -1.0], [1.0, 1.0]], [40, 40]);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].first(), lines[0].last());
        let bound = 2.0 * 0.05 * 0.05 / (8.0 * 0.7);
        assert!(lines[0].iter().all(|p| f(*p).abs() < bound));
    }

    #[test]
    fn odd_functions_do_no_harm() {
        for f in [f64::NAN, f64::INFINITY, -1.0, 1.0, 0.0] {
            assert!(zero_lines(|_| f, [[0.0; 2], [1.0; 2]], [5, 5]).is_empty());
        }
        let saddle = zero_lines(|[x, y]| x * y, [[-1.0; 2], [1.0; 2]], [5, 5]);
        assert_eq!(saddle.len(), 2);
        assert!(zero_lines(|[x, _]| x, [[0.0; 2], [0.0; 2]], [0, 0]).is_empty());
    }
}
