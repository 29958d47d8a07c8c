//! Dominance, distances, normals, and measures of fronts. All goals are minimised.

/// Whether `a` is at least as good as `b` in every goal, and better in one.
pub fn dominates(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a <= b) && a.iter().zip(b).any(|(a, b)| a < b)
}

/// Whether `a` is at least as good as `b` but for `slack`, and better in one goal by `gain`, both in parts of `scale`.
pub fn clearly_dominates(a: &[f64], b: &[f64], scale: &[f64], slack: f64, gain: f64) -> bool {
    let worse = |i: usize| (a[i] - b[i]) / scale[i];
    (0..a.len()).all(|i| worse(i) <= slack) && (0..a.len()).any(|i| worse(i) < -gain)
}

/// Which points are dominated by no other.
pub fn non_dominated<P: AsRef<[f64]>>(points: &[P]) -> Vec<bool> {
    points.iter().map(|p| !points.iter().any(|q| dominates(q.as_ref(), p.as_ref()))).collect()
}

/// The distance of goals, scaled.
pub fn distance(a: &[f64], b: &[f64], scale: &[f64]) -> f64 {
    a.iter().zip(b).zip(scale).map(|((a, b), s)| ((a - b) / s).powi(2)).sum::<f64>().sqrt()
}

/// The root of the mean square of numbers; zero of none.
pub fn root_mean_square(values: &[f64]) -> f64 {
    (values.iter().map(|v| v * v).sum::<f64>() / values.len().max(1) as f64).sqrt()
}

/// The root mean square of differences.
pub fn apart(a: &[f64], b: &[f64]) -> f64 {
    (a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>() / a.len().max(1) as f64).sqrt()
}

/// The unit normal, in scaled goals, of a front at which goals have these weights.
pub fn normal(weights: &[f64], scale: &[f64]) -> Vec<f64> {
    let scaled: Vec<f64> = weights.iter().zip(scale).map(|(w, s)| w * s).collect();
    let length = scaled.iter().map(|w| w * w).sum::<f64>().sqrt();
    if length > 0.0 { scaled.into_iter().map(|w| w / length).collect() } else { scaled }
}

/// Orthonormal directions across a unit vector: columns of the Householder reflection that takes the last axis to it.
pub fn tangents(normal: &[f64]) -> Vec<Vec<f64>> {
    let k = normal.len();
    let mut v = normal.to_vec();
    // Away from cancellation: v = n ± e_k.
    let sign = if normal[k - 1] < 0.0 { -1.0 } else { 1.0 };
    v[k - 1] += sign;
    let square: f64 = v.iter().map(|v| v * v).sum();
    let column = |j: usize| (0..k).map(|i| f64::from(u8::from(i == j)) - 2.0 * v[i] * v[j] / square).collect();
    (0..k - 1).map(column).collect()
}

/// The volume that lies between points and a reference point worse than all of them (hypervolume): larger is better. Exact, by slices.
pub fn hypervolume<P: AsRef<[f64]>>(points: &[P], reference: &[f64]) -> f64 {
    let inside = |p: &&[f64]| p.iter().zip(reference).all(|(p, r)| p < r);
    let points: Vec<&[f64]> = points.iter().map(|p| p.as_ref()).filter(inside).collect();
    volume(points, reference)
}

fn volume(mut points: Vec<&[f64]>, reference: &[f64]) -> f64 {
    let last = reference.len() - 1;
    if last == 0 {
        return points.iter().map(|p| reference[0] - p[0]).fold(0.0, f64::max);
    }
    points.sort_by(|a, b| a[last].total_cmp(&b[last]));
    let mut sum = 0.0;
    for i in 0..points.len() {
        let next = points.get(i + 1).map_or(reference[last], |p| p[last]);
        if next > points[i][last] {
            let slice = points[..=i].iter().map(|p| &p[..last]).collect();
            sum += (next - points[i][last]) * volume(slice, &reference[..last]);
        }
    }
    sum
}

/// How evenly points lie: mean and standard deviation of distances to the nearest other, scaled (after Schott 1995, with Euclidean distances).
pub fn spacing<P: AsRef<[f64]>>(points: &[P], scale: &[f64]) -> (f64, f64) {
    let nearest = |i: usize| {
        let others = (0..points.len()).filter(|j| *j != i);
        others.map(|j| distance(points[i].as_ref(), points[j].as_ref(), scale)).fold(f64::INFINITY, f64::min)
    };
    if points.len() < 2 {
        return (0.0, 0.0);
    }
    let all: Vec<f64> = (0..points.len()).map(nearest).collect();
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let square = all.iter().map(|d| (d - mean).powi(2)).sum::<f64>() / (all.len() - 1) as f64;
    (mean, square.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tangents_are_orthonormal() {
        for normal in [vec![0.6, 0.8], vec![0.0, 0.0, 1.0], vec![-0.6, 0.0, -0.8], vec![0.5; 4]] {
            let mut all = tangents(&normal);
            all.push(normal);
            for i in 0..all.len() {
                for j in 0..all.len() {
                    let dot: f64 = all[i].iter().zip(&all[j]).map(|(a, b)| a * b).sum();
                    // A few roundings of numbers below one.
                    assert!((dot - f64::from(u8::from(i == j))).abs() < 8.0 * f64::EPSILON);
                }
            }
        }
    }

    /// By inclusion and exclusion of boxes, for three goals.
    #[test]
    fn volumes_are_those_of_boxes() {
        assert_eq!(hypervolume(&[[1.0, 3.0], [2.0, 1.0], [2.5, 2.5]], &[4.0, 4.0]), 3.0 + 6.0 - 2.0);
        let points = [[0.0, 2.0, 2.0], [2.0, 0.0, 2.0], [2.0, 2.0, 0.0], [5.0, 0.0, 0.0]];
        // Three boxes of 3·1·1, which meet pairwise and together in one of 1.
        assert_eq!(hypervolume(&points, &[3.0; 3]), 3.0 * 3.0 - 3.0 + 1.0);
        assert_eq!(hypervolume::<[f64; 2]>(&[], &[1.0, 1.0]), 0.0);
    }

    #[test]
    fn dominance_is_strict() {
        assert!(dominates(&[1.0, 2.0], &[1.0, 3.0]) && !dominates(&[1.0, 2.0], &[1.0, 2.0]));
        assert_eq!(non_dominated(&[[1.0, 2.0], [2.0, 1.0], [2.0, 2.0], [1.0, 2.0]]), [true, true, false, true]);
    }
}
