//! What the energy ledger allows steps without error control.
//!
//! A symmetric method of order 2 has an energy of its own that it keeps, E + h² E₂, so that E swings by h² E₂ and does not drift. With forces f, accelerations a
//! and velocities v (\[1\] sections IX.3 and IX.8)
//!
//! ```text
//! h² E₂ = −h² (v·ḟ/12 + f·a/24)     trapezoidal rule          h² E₂ = h² (v·ḟ − f·a)/24     midpoint rule
//! ```
//!
//! Both terms are parts of T̈ᵢ = vᵢ ḟᵢ + fᵢ aᵢ, the second derivative of the kinetic energy ½vᵢ(M v)ᵢ of a coordinate, and largest by turns in a motion to and fro: each
//! is at most max |T̈ᵢ|. Between the start and any other time the energy changes by less than twice h² |E₂| or
//!
//! ```text
//! A = max over steps of Σᵢ h² |T̈ᵢ| / 3,
//! ```
//!
//! with h² T̈ᵢ from the differences of three states in a row. Methods of higher order stay far below. A is at most 4/3 of the kinetic energy that coordinates exchange, whatever
//! the step; and where macro steps meet the fast motion always in the same phase, which is where they resonate, it is small.
//!
//! What is dissipated and supplied adds up, and so do its errors: of the energy ΔD + ΔS that goes through a step the part Σ h² |T̈ᵢ|/(3 T) may be missed.
//!
//! A chord κ of rotations (`lie_group`) changes the Lagrangian of a step by −κ²h² Jω⁴/6, or by κ²h² Jω⁴/3 with tangents, and so the energy. Of a pendulum, whose ω² is at most 4 ω₀²
//! and whose T̈ is ω² ω₀² J at its lowest place, that is 2κ² or 4κ² times A at most ([`widened`]).
//!
//! A motion with an impact is two motions. A run of one step has no differences; it may miss a third of what it exchanges.
//!
//! Reference: \[1\] Hairer, Lubich, Wanner: Geometric Numerical Integration, 2nd ed., Springer 2006.

/// Steps of so different lengths are not compared.
const ALIKE: f64 = 1e-3;

/// Watches kinetic energies from step to step.
#[derive(Clone, Debug)]
pub(super) struct Swing {
    /// How many states in a row there are, up to two, the newest last: times, and kinetic energies by coordinates.
    known: usize,
    times: [f64; 2],
    kinetic: [Vec<f64>; 2],
    /// The largest Σ h²|T̈ᵢ|/3 so far; and the largest exchange of a single step over three, for runs without differences.
    largest: f64,
    single: f64,
    compared: bool,
    /// What may be missed of the energies that went through, and those up to the last step.
    missed: f64,
    through: [f64; 2],
}

impl Swing {
    pub fn new(velocities: usize) -> Self {
        Self {
            known: 0,
            times: [0.0; 2],
            kinetic: [vec![0.0; velocities], vec![0.0; velocities]],
            largest: 0.0,
            single: 0.0,
            compared: false,
            missed: 0.0,
            through: [0.0; 2],
        }
    }

    /// A new motion begins: the states before are not compared with those to come.
    pub fn part(&mut self) {
        self.known = 0;
    }

    /// Takes a state: momenta and velocities, and the energies dissipated and supplied so far. Returns what its step may have missed.
    pub fn take(&mut self, t: f64, momentum: &[f64], v: &[f64], through: [f64; 2]) -> f64 {
        let kinetic = |k: usize| 0.5 * momentum[k] * v[k];
        let [older, old] = &self.kinetic;
        let steps = [self.times[1] - self.times[0], t - self.times[1]];
        let count = v.len();
        let flow = (0..2).map(|i| (through[i] - self.through[i]).abs()).sum::<f64>();
        let mut own = 0.0;
        if self.known > 0 {
            self.single = larger(self.single, sum(count, |k| kinetic(k) - old[k]) / 3.0);
        }
        let (short, long) = (steps[0].min(steps[1]), steps[0].max(steps[1]));
        if self.known == 2 && short > ALIKE * long {
            let bent = |k: usize| (kinetic(k) - old[k]) / steps[1] - (old[k] - older[k]) / steps[0];
            own = sum(count, bent) * 2.0 * long * long / (3.0 * (steps[0] + steps[1]));
            self.largest = larger(self.largest, own);
            self.compared = true;
        }
        if self.known > 0 {
            // Before there are differences all that goes through a step may be missed.
            let total = sum(count, kinetic);
            let part = if self.known == 2 && total > 0.0 { (own / total).min(1.0) } else { 1.0 };
            self.missed += part * flow;
            own += part * flow;
        }
        self.through = through;
        self.times = [self.times[1], t];
        self.kinetic.swap(0, 1);
        self.kinetic[1].iter_mut().enumerate().for_each(|(k, out)| *out = kinetic(k));
        self.known = (self.known + 1).min(2);
        own
    }

    /// By how much the ledger may be off.
    pub fn allowance(&self) -> f64 {
        self.missed + if self.compared { self.largest } else { self.single }
    }

    /// All that it remembers.
    pub fn memory(&self, out: &mut Vec<f64>) {
        out.extend([self.known as f64, f64::from(u8::from(self.compared)), self.largest, self.single, self.missed]);
        out.extend(self.times.iter().chain(&self.through).chain(self.kinetic.iter().flatten()));
    }

    /// Takes a memory back; `None` if it has another length.
    pub fn recall(&mut self, memory: &[f64]) -> Option<()> {
        let (&[known, compared, largest, single, missed], rest) = memory.split_first_chunk()?;
        let (&[before, now, dissipated, supplied], kinetic) = rest.split_first_chunk()?;
        let (first, second) = kinetic.split_at_checked(self.kinetic[0].len())?;
        if second.len() != first.len() {
            return None;
        }
        (self.known, self.compared) = (known as usize, compared != 0.0);
        (self.largest, self.single, self.missed) = (largest, single, missed);
        (self.times, self.through) = ([before, now], [dissipated, supplied]);
        self.kinetic[0].copy_from_slice(first);
        self.kinetic[1].copy_from_slice(second);
        Some(())
    }
}

/// The sum of the sizes of terms.
fn sum(count: usize, term: impl Fn(usize) -> f64) -> f64 {
    (0..count).map(term).fold(0.0, |sum, x: f64| sum + x.abs())
}

/// By how much a chord widens the swing.
pub(super) fn widened(chord: f64) -> f64 {
    1.0 + if chord < 0.0 { 4.0 } else { 2.0 } * chord * chord
}

/// The larger of two; what is not a number is largest.
fn larger(a: f64, b: f64) -> f64 {
    if a.is_nan() || b <= a { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An oscillator of mass and frequency one by the trapezoidal rule: its energy swings by h²/8 (from v²/12 + x²/24 with amplitude one), below what is allowed, h²·2/3 of T̈ = cos 2t.
    #[test]
    fn an_oscillator_swings_within_its_allowance() {
        for h in [0.5, 0.1, 0.02] {
            let (mut q, mut v, mut swing) = (1.0_f64, 0.0_f64, Swing::new(1));
            let (mut off, steps) = (0.0_f64, (20.0 / h) as u32);
            for k in 0..=steps {
                swing.take(f64::from(k) * h, &[v], &[v], [0.0; 2]);
                off = off.max((0.5 * (q * q + v * v) - 0.5).abs());
                v -= 0.5 * h * q;
                q += h * v;
                v -= 0.5 * h * q;
            }
            let allowed = swing.allowance();
            assert!((off / (h * h) - 0.125).abs() < 0.03, "{h}: {off}");
            assert!(off < allowed && allowed < 0.34 * h * h, "{h}: {off} {allowed}");
        }
    }

    /// Energies that go through count with the part of a step; after an impact differences begin anew.
    #[test]
    fn losses_and_impacts_are_accounted_for() {
        let mut swing = Swing::new(1);
        for k in 0..100 {
            let t = 0.1 * f64::from(k);
            swing.take(t, &[2.0], &[1.0], [t, 0.0]);
        }
        // A steady speed: nothing is missed but in the first step.
        assert!((swing.allowance() - 0.1).abs() < 1e-12, "{}", swing.allowance());
        swing.part();
        swing.take(10.0, &[-1.0], &[-0.5], [9.9, 0.0]);
        swing.take(10.1, &[-1.0], &[-0.5], [9.9, 0.0]);
        swing.take(10.2, &[-1.0], &[-0.5], [9.9, 0.0]);
        assert!((swing.allowance() - 0.1).abs() < 1e-12, "{}", swing.allowance());
        let mut out = Vec::new();
        swing.memory(&mut out);
        let mut other = Swing::new(1);
        assert!(other.recall(&out).is_some() && other.recall(&out[1..]).is_none());
        assert_eq!(format!("{other:?}"), format!("{swing:?}"));
    }
}
