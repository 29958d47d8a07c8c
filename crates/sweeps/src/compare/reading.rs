//! What the numbers of a comparison say: orders, and times at equal error.

/// Orders are measured over so many of the smallest values whose errors are known.
const FINEST: usize = 3;

/// Times of methods at the same error.
#[derive(Clone, Debug, PartialEq)]
pub struct Equal {
    /// The error.
    pub error: f64,
    /// The time of each method in s; none for those that have other errors only.
    pub seconds: Vec<Option<f64>>,
}

/// The slope of errors over values on logarithmic axes, by least squares over the three smallest values whose errors are above their floors; points are value, error and
/// floor. None with fewer than two.
pub fn order(points: &[[f64; 3]]) -> Option<f64> {
    let mut known: Vec<[f64; 2]> =
        points.iter().filter(|[x, e, floor]| *x > 0.0 && e > floor).map(|[x, e, _]| [x.ln(), e.ln()]).collect();
    known.sort_by(|a, b| a[0].total_cmp(&b[0]));
    known.truncate(FINEST);
    let count = known.len() as f64;
    let mean = [0, 1].map(|k| known.iter().map(|p| p[k]).sum::<f64>() / count);
    let sum = |k: usize| known.iter().map(|p| (p[0] - mean[0]) * (p[k] - mean[k])).sum::<f64>();
    (known.len() > 1 && sum(0) > 0.0).then(|| sum(1) / sum(0))
}

/// The error that most methods reach, and the time of each at it, on straight lines between its points on logarithmic axes. Curves are pairs of error and time in the order of
/// what is varied. None where no two methods meet.
pub fn at_equal_error(curves: &[Vec<[f64; 2]>]) -> Option<Equal> {
    let usable = |p: &&[f64; 2]| p.iter().all(|x| *x > 0.0 && x.is_finite());
    let curves: Vec<Vec<[f64; 2]>> =
        curves.iter().map(|curve| curve.iter().filter(usable).map(|p| p.map(f64::ln)).collect()).collect();
    let mut ends: Vec<f64> = curves.iter().flatten().map(|p| p[0]).collect();
    ends.sort_by(f64::total_cmp);
    // Between two errors next to each other the same methods reach all errors.
    let reached = |error: f64| curves.iter().filter(|curve| time(curve, error).is_some()).count();
    let middles = ends.windows(2).filter(|pair| pair[1] > pair[0]).map(|pair| (0.5 * (pair[0] + pair[1]), pair));
    let best = middles.max_by(|(a, one), (b, other)| {
        let width = |pair: &[f64]| pair[1] - pair[0];
        reached(*a).cmp(&reached(*b)).then(width(one).total_cmp(&width(other)))
    });
    let (error, _) = best.filter(|(error, _)| reached(*error) > 1)?;
    let seconds = curves.iter().map(|curve| time(curve, error).map(f64::exp)).collect();
    Some(Equal { error: error.exp(), seconds })
}

/// The least time at which a curve passes an error.
fn time(curve: &[[f64; 2]], error: f64) -> Option<f64> {
    let crossing = |pair: &[[f64; 2]]| {
        let [[from, first], [to, last]] = [pair[0], pair[1]];
        let share = (error - from) / (to - from);
        (0.0..=1.0).contains(&share).then_some(first + share * (last - first))
    };
    curve.windows(2).filter_map(crossing).min_by(f64::total_cmp)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn orders_are_slopes_above_the_floor() {
        let line = |x: f64| [x, 3.0 * x.powi(4), 1e-12];
        let exact: Vec<[f64; 3]> = [1e-4, 0.1, 0.2, 0.4, 0.8].map(line).to_vec();
        // 3e-16 at 1e-4 is below the floor.
        assert!((order(&exact).unwrap() - 4.0).abs() < 1e-12);
        assert_eq!(order(&exact[..2]), None);
        assert_eq!(order(&[[0.1, f64::NAN, 0.0], [0.2, 1.0, 0.0]]), None);
    }

    #[test]
    fn methods_are_compared_where_they_meet() {
        // Of order 2 and 4, with the same time at e = 1e-2; the third is nowhere near.
        let curve =
            |p: i32| [1.0, 10.0, 100.0].map(|s: f64| [s.powi(-p), s * 10f64.powf(-2.0 / f64::from(p))]).to_vec();
        let equal = at_equal_error(&[curve(2), curve(4), vec![[5.0, 1.0], [9.0, 0.5]]]).unwrap();
        assert_eq!(equal.seconds[2], None);
        let ratio = equal.seconds[0].unwrap() / equal.seconds[1].unwrap();
        let expected = (1e-2 / equal.error).powf(0.5) / (1e-2 / equal.error).powf(0.25);
        assert!((ratio - expected).abs() < 1e-9 * expected, "{ratio} {expected}");
        assert_eq!(at_equal_error(&[curve(2)]), None);
        assert_eq!(at_equal_error(&[]), None);
    }
}
