//! Infinitely many impacts in finite time: a ball that bounces to rest.
//!
//! Where a contact rebounds under a nearly constant push, the intervals between its impacts shrink geometrically, d, rd, r²d, …,
//! and the impacts accumulate at t + d r/(1 − r) after the last one. Three intervals whose two ratios agree are
//! taken for such a series. Once the time left is below `Options::settle`, or the bounces are lower than `Options::touch`, the
//! contact closes for good with the impact at hand. The push then keeps it closed; at the accumulation time velocities
//! are those of the infinite series, since the impulses still to come are replaced by the force that has the same mean.

/// How closely two ratios of intervals agree in a series, relative to one.
const AGREE: f64 = 0.01;

/// The last impacts of every contact.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Zeno {
    /// The times of the last four impacts of each contact, the newest last; not a number where there was none.
    pub times: Vec<[f64; 4]>,
}

impl Zeno {
    pub fn new(contacts: usize) -> Self {
        Self { times: vec![[f64::NAN; 4]; contacts] }
    }

    /// Forgets the impacts of a contact.
    pub fn forget(&mut self, contact: usize) {
        self.times[contact] = [f64::NAN; 4];
    }

    /// Notes an impact with its speed of approach; returns the accumulation time if the contact is to close for good.
    pub fn note(&mut self, contact: usize, t: f64, speed: f64, settle: f64, touch: f64) -> Option<f64> {
        let times = &mut self.times[contact];
        times.rotate_left(1);
        times[3] = t;
        let intervals = [times[1] - times[0], times[2] - times[1], times[3] - times[2]];
        let ratios = [intervals[1] / intervals[0], intervals[2] / intervals[1]];
        let ratio = ratios[1];
        if !(ratio < 1.0 && (ratios[0] - ratio).abs() <= AGREE * (1.0 - ratio).min(ratio)) {
            return None;
        }
        let left = intervals[2] * ratio / (1.0 - ratio);
        // A bounce of length d with speed v rises by v d/4.
        let height = 0.25 * speed * intervals[2] * ratio;
        (left < settle || height < touch).then_some(t + left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_geometric_series_is_summed_and_another_is_not() {
        let mut zeno = Zeno::new(1);
        let (mut t, mut d) = (1.0, 0.5);
        let mut end = None;
        while end.is_none() {
            end = zeno.note(0, t, 5.0 * d, 1e-3, 1e-10);
            t += d;
            d *= 0.7;
        }
        // 1 + 0.5/(1 − 0.7); each interval is known to 1e-16, the ratio to 1e-16/1e-4.
        assert!(end.is_some_and(|end| (end - (1.0 + 0.5 / 0.3)).abs() < 1e-14));
        let mut zeno = Zeno::new(1);
        assert!((0..100).all(|k| zeno.note(0, f64::from(k) * 1e-5, 1.0, 1e-3, 1e-10).is_none()));
        let mut zeno = Zeno::new(1);
        assert!((1..100).all(|k| zeno.note(0, 1.0 - 1.0 / f64::from(k), 1.0, 1e-3, 1e-10).is_none()));
    }
}
