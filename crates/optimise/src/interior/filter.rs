//! The filter: pairs of violation and barrier objective that no later point may be worse than in both.
//!
//! Reference: R. Fletcher, S. Leyffer, *Nonlinear programming without a penalty function*, Math. Program. 91 (2002) 239–269.

/// Envelope of the violation.
pub(super) const GAMMA_THETA: f64 = 1e-5;
/// Envelope of the objective.
pub(super) const GAMMA_PHI: f64 = 1e-8;

/// `a` ≤ `b` up to the rounding errors of numbers of the size of `base`.
pub(super) fn at_most(a: f64, b: f64, base: f64) -> bool {
    a - b <= 10.0 * f64::EPSILON * base.abs()
}

/// A filter, with the largest violation that is allowed at all.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    entries: Vec<(f64, f64)>,
    pub largest: f64,
}

impl Filter {
    pub fn new(largest: f64) -> Self {
        Self { entries: Vec::new(), largest }
    }

    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// Whether a point is better than every entry in violation or objective.
    pub fn accepts(&self, theta: f64, phi: f64) -> bool {
        theta <= self.largest && self.entries.iter().all(|&(t, p)| at_most(theta, t, t) || at_most(phi, p, p))
    }

    /// Forbids what is no better than the given point by its envelope.
    pub fn add(&mut self, theta: f64, phi: f64) {
        let entry = ((1.0 - GAMMA_THETA) * theta, phi - GAMMA_PHI * theta);
        self.entries.retain(|&(t, p)| t < entry.0 || p < entry.1);
        self.entries.push(entry);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_must_beat_each_entry_in_something() {
        let mut filter = Filter::new(10.0);
        filter.add(1.0, 5.0);
        filter.add(0.1, 8.0);
        assert!(filter.accepts(0.5, 6.0), "less violation than one, less objective than the other");
        assert!(!filter.accepts(2.0, 7.0));
        assert!(!filter.accepts(0.2, 9.0));
        assert!(!filter.accepts(11.0, 0.0), "too far out");
        assert!(filter.accepts(2.0, 4.0));
    }
}
