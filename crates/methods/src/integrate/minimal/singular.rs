//! Steps that pass a singular position of the constraints.
//!
//! With pivots of relative size s of the constraints, rounding ε of coordinates becomes ε/s in dependent coordinates and ε/s² in dependent
//! velocities, and there it stays: the next step starts from it. A step that shrinks because a stage came close to such a position would
//! come closer still. Instead the pivots of all stages tell when the position is passed (s = k |t − t*| on both sides), and the step is made
//! again with t* in the widest gap between stages, or ends so early that the next one does.

/// Where t* is put, as part of a step: halfway between the nodes 1/3 and 3/5 of the method of order 8.
const GAP: f64 = 7.0 / 15.0;
/// How much longer than its accuracy asks for a step may be to pass at the gap.
const STRETCH: f64 = 1.2;
/// Rounding of dependent velocities in units of the tolerance that is left by a step.
const ROUNDING: f64 = 0.1;
/// Pivots above this are never too small.
const LARGE: f64 = 0.03;

/// The smallest pivot that leaves velocities as exact as the tolerance: ε/s² = 0.1 tol.
pub(super) fn least(tolerance: f64) -> f64 {
    (f64::EPSILON / (ROUNDING * tolerance)).sqrt().min(LARGE)
}

/// When the pivots vanish, as part of the step: the minimum of Σ ((s_i − k |c_i − c|) / (s_i + s_max/10))² over k and c.
pub(super) fn locate(nodes: &[f64], pivots: &[f64]) -> Option<f64> {
    let largest = pivots.iter().fold(0.0f64, |max, &s| max.max(s));
    if pivots.len() < 3 || largest <= 0.0 {
        return None;
    }
    let points = || {
        nodes.iter().zip(pivots).map(|(&c, &s)| {
            let weight = (s + 0.1 * largest).recip();
            (c, s, weight * weight)
        })
    };
    let misfit = |at: f64| {
        let (above, below) = points().fold((0.0, 0.0), |(a, b), (c, s, w)| {
            let way = (c - at).abs();
            (a + w * s * way, b + w * way * way)
        });
        let slope = above / below;
        points().fold(0.0, |sum, (c, s, w)| sum + w * (s - slope * (c - at).abs()).powi(2))
    };
    let best = (1..=200).map(|i| 0.01 * f64::from(i)).min_by(|&a, &b| misfit(a).total_cmp(&misfit(b)))?;
    // Twenty sections of the interval around the best of the grid.
    let (mut low, mut high) = (best - 0.01, best + 0.01);
    for _ in 0..20 {
        let third = (high - low) / 3.0;
        if misfit(low + third) < misfit(high - third) {
            high -= third;
        } else {
            low += third;
        }
    }
    Some(0.5 * (low + high))
}

/// The length of the next attempt if pivots vanish after the time `until` and accuracy asks for steps of length `natural`.
pub(super) fn length(until: f64, natural: f64) -> f64 {
    let across = until / GAP;
    if across <= STRETCH * natural { across } else { (until - GAP * natural).min(natural) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_instant_is_found_from_pivots_on_both_sides_or_on_one() {
        let nodes = [0.0, 0.1, 0.3, 0.6, 0.9, 1.0];
        for at in [0.2, 0.45, 0.95, 1.3] {
            let pivots = nodes.map(|c: f64| 0.7 * (c - at).abs());
            let found = locate(&nodes, &pivots).unwrap();
            // Twenty sections of 0.02 by 2/3 leave 6e-6.
            assert!((found - at).abs() < 1e-5, "{at}: {found}");
        }
        assert_eq!(locate(&nodes[..2], &[1.0, 0.5]), None);
    }

    #[test]
    fn a_step_passes_in_its_gap_or_makes_room() {
        assert_eq!(length(7.0, 15.0), 15.0);
        assert_eq!(length(7.0, 20.0), 15.0);
        // Too far for one step: the next one passes.
        assert_eq!(length(14.0, 15.0), 7.0);
        assert_eq!(length(100.0, 15.0), 15.0);
    }
}
