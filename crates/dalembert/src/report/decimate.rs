//! Curves with no more points than the eye can use.
//!
//! First, of all samples that fall into one column of pixels only the first, the lowest, the highest and the last are
//! kept: the drawn curve covers the same pixels. Then points that lie closer to a straight stretch than a fraction of
//! a pixel are dropped, which makes smooth curves short.
//!
//! Reference: D. H. Douglas, T. K. Peucker, "Algorithms for the reduction of the number of points required to
//! represent a digitized line or its caricature", Cartographica 10 (1973) 112–122.

/// Keeps the first, lowest, highest and last point of each of `columns` equal columns between `left` and `right`.
///
/// Points must be finite. The lowest and the highest point of all are always kept.
pub fn by_column(points: &[[f64; 2]], left: f64, right: f64, columns: usize) -> Vec<[f64; 2]> {
    if points.len() <= 4 * columns.max(1) || right <= left {
        return points.to_vec();
    }
    let scale = columns.max(1) as f64 / (right - left);
    let column = |point: &[f64; 2]| ((point[0] - left) * scale).floor();
    let mut out = Vec::with_capacity(4 * columns);
    for run in points.chunk_by(|a, b| column(a) == column(b)) {
        let by_height = |&a: &usize, &b: &usize| run[a][1].total_cmp(&run[b][1]);
        let lowest = (0..run.len()).min_by(by_height).unwrap_or(0);
        let highest = (0..run.len()).max_by(by_height).unwrap_or(0);
        let mut kept = [0, lowest, highest, run.len() - 1];
        kept.sort_unstable();
        for (i, &index) in kept.iter().enumerate() {
            if i == 0 || kept[i - 1] != index {
                out.push(run[index]);
            }
        }
    }
    out
}

/// Drops points that lie within `tolerance` of the curve through the rest; keeps the ends.
pub fn simplify(points: &[[f64; 2]], tolerance: f64) -> Vec<[f64; 2]> {
    if points.len() < 3 {
        return points.to_vec();
    }
    let mut keep = vec![false; points.len()];
    keep[0] = true;
    keep[points.len() - 1] = true;
    let mut open = vec![(0, points.len() - 1)];
    while let Some((start, end)) = open.pop() {
        let far = (start + 1..end)
            .map(|i| (i, distance(points[i], points[start], points[end])))
            .max_by(|a, b| a.1.total_cmp(&b.1));
        if let Some((index, _)) = far.filter(|(_, distance)| *distance > tolerance) {
            keep[index] = true;
            open.push((start, index));
            open.push((index, end));
        }
    }
    points.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(point, _)| *point).collect()
}

/// Distance of a point from a stretch.
fn distance(p: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    let (ab, ap) = ([b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]);
    let length = ab[0] * ab[0] + ab[1] * ab[1];
    let along = if length > 0.0 { ((ap[0] * ab[0] + ap[1] * ab[1]) / length).clamp(0.0, 1.0) } else { 0.0 };
    (ap[0] - along * ab[0]).hypot(ap[1] - along * ab[1])
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn extremes_survive() {
        let mut points: Vec<[f64; 2]> =
            (0..100_000).map(|i| [f64::from(i) * 0.005, (f64::from(i) * 0.37).sin()]).collect();
        points[12_345][1] = 40.0;
        points[54_321][1] = -50.0;
        let few = by_column(&points, 0.0, 500.0, 100);
        assert!(few.len() <= 404, "{}", few.len());
        assert!(few.contains(&points[12_345]) && few.contains(&points[54_321]));
        assert_eq!((few[0], few.last()), (points[0], points.last()));
        assert!(few.is_sorted_by(|a, b| a[0] <= b[0]));
        // Each column keeps its own range.
        let range = |points: &[[f64; 2]], k: usize| {
            let inside = points.iter().filter(|p| (p[0] / 5.0).floor() as usize == k).map(|p| p[1]);
            inside.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), y| (l.min(y), h.max(y)))
        };
        for k in 0..100 {
            assert_eq!(range(&points, k), range(&few, k), "column {k}");
        }
    }

    #[test]
    fn a_smooth_curve_becomes_short_and_stays_close() {
        let points: Vec<[f64; 2]> = (0..=500).map(|i| [f64::from(i), 80.0 * (f64::from(i) * 0.025).sin()]).collect();
        let few = simplify(&points, 0.2);
        assert!(few.len() < 100, "{}", few.len());
        for p in &points {
            let nearest = few.windows(2).map(|w| distance(*p, w[0], w[1])).fold(f64::INFINITY, f64::min);
            assert!(nearest <= 0.2, "{p:?} {nearest}");
        }
        assert_eq!(simplify(&points[..2], 1.0).len(), 2);
        assert_eq!(simplify(&[[1.0, 1.0]; 5], 0.1).len(), 2);
    }
}
