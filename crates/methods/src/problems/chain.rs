//! The chain of Fermi, Pasta and Ulam with stiff springs: several rates, an adiabatic invariant.
//!
//! Reference: E. Hairer, C. Lubich, G. Wanner, *Geometric Numerical Integration*, 2nd ed., Springer 2006, section I.5.1.

use super::Problem;
use crate::algebra::{Mass, MassBlock};
use crate::scalar::Scalar;
use crate::system::{Coupling, Shape, State, System};

/// Unit masses with soft quartic and stiff harmonic springs in turn, between walls; coordinates are the sums x₀ and differences x₁ of the ends of
/// the stiff springs: q = (x₀, x₁). Stiff springs are of rate one; with `stiffer` every second one is of rate two.
#[derive(Clone, Debug)]
pub struct Chain {
    /// Number of stiff springs: half the number of masses.
    pub pairs: usize,
    /// Frequency of the stiff springs in rad/s.
    pub omega: f64,
    /// Every second stiff spring has this many times the frequency; 1 for all alike.
    pub stiffer: f64,
}

impl Default for Chain {
    fn default() -> Self {
        Self { pairs: 3, omega: 50.0, stiffer: 1.0 }
    }
}

impl Chain {
    /// The frequency of a stiff spring.
    fn frequency(&self, i: usize) -> f64 {
        if i % 2 == 1 { self.omega * self.stiffer } else { self.omega }
    }

    /// The energy of each stiff spring in J; their sum is an adiabatic invariant.
    pub fn stiff_energies(&self, s: &State<f64>) -> Vec<f64> {
        let (n, fast) = (self.pairs, 0..self.pairs);
        fast.map(|i| 0.5 * (s.v[n + i].powi(2) + (self.frequency(i) * s.q[n + i]).powi(2))).collect()
    }

    /// The lengths of the soft springs.
    fn soft<S: Scalar>(&self, q: &[S], i: usize) -> S {
        let (slow, fast) = q.split_at(self.pairs);
        let left = if i == 0 { S::zero() } else { slow[i - 1] + fast[i - 1] };
        let right = if i == self.pairs { S::zero() } else { slow[i] - fast[i] };
        right - left
    }

    fn add_soft<S: Scalar>(&self, s: &State<S>, out: &mut [S]) {
        let n = self.pairs;
        let (slow, fast) = out.split_at_mut(n);
        for i in 0..=n {
            let length = self.soft(&s.q, i);
            let pull = length * length * length;
            if i < n {
                slow[i] -= pull;
                fast[i] += pull;
            }
            if i > 0 {
                slow[i - 1] += pull;
                fast[i - 1] += pull;
            }
        }
    }

    /// Whether a stiff spring is of a rate.
    fn is_of(&self, i: usize, rate: usize) -> bool {
        rate == if self.stiffer != 1.0 && i % 2 == 1 { 2 } else { 1 }
    }
}

impl System for Chain {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        Shape { q: 2 * self.pairs, v: 2 * self.pairs, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(2 * self.pairs)]
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn coupling(&self) -> Coupling {
        let n = self.pairs;
        let near = |i: usize| {
            let pair = i % n;
            let (low, high) = (pair.saturating_sub(1), (pair + 1).min(n - 1));
            (low..=high).chain(n + low..=n + high).collect()
        };
        Coupling { groups: (0..2 * n).map(|i| i..i + 1).collect(), neighbours: (0..2 * n).map(near).collect() }
    }
    fn still(&self) -> bool {
        true
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, (): &mut ()) {}
    fn mass<S: Scalar>(&self, _s: &State<S>, (): &mut (), out: &mut Mass<S>) {
        out.block_mut(0).fill(S::one());
    }
    fn force<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        let n = self.pairs;
        out.fill(S::zero());
        for i in 0..n {
            out[n + i] = s.q[n + i] * -self.frequency(i).powi(2);
        }
        self.add_soft(s, out);
    }
    fn rates(&self) -> usize {
        if self.stiffer == 1.0 { 2 } else { 3 }
    }
    fn fast(&self, rate: usize) -> Vec<usize> {
        (0..self.pairs).filter(|&i| self.is_of(i, rate)).map(|i| self.pairs + i).collect()
    }
    fn coupling_of_rate(&self, rate: usize) -> Coupling {
        let own = || (0..2 * self.pairs).map(|i| vec![i]).collect();
        if rate == 0 { self.coupling() } else { Coupling { neighbours: own(), ..self.coupling() } }
    }
    fn force_of_rate<S: Scalar>(&self, s: &State<S>, (): &mut (), rate: usize, out: &mut [S]) {
        let n = self.pairs;
        match rate {
            0 => {
                out.fill(S::zero());
                self.add_soft(s, out);
            }
            1 if self.stiffer == 1.0 => {
                let (slow, fast) = out.split_at_mut(n);
                slow.fill(S::zero());
                let stiffness = -self.omega * self.omega;
                fast.iter_mut().zip(&s.q[n..]).for_each(|(f, &q)| *f = q * stiffness);
            }
            _ => {
                out.fill(S::zero());
                for i in (0..n).filter(|&i| self.is_of(i, rate)) {
                    out[n + i] = s.q[n + i] * -self.frequency(i).powi(2);
                }
            }
        }
    }
    fn magnitude(&self, _q: &[f64], out: &mut [f64]) {
        out.fill(1.0);
    }
}

impl Problem for Chain {
    fn name(&self) -> &'static str {
        "chain of Fermi, Pasta and Ulam"
    }
    fn initial(&self) -> State<f64> {
        let mut s = State::zeros(self.shape());
        (s.q[0], s.v[0]) = (1.0, 1.0);
        (s.q[self.pairs], s.v[self.pairs]) = (1.0 / self.omega, 1.0);
        s
    }
    fn until(&self) -> f64 {
        200.0
    }
    fn exact(&self, _t: f64) -> Option<State<f64>> {
        None
    }
    fn invariants(&self, s: &State<f64>) -> Vec<f64> {
        let kinetic: f64 = s.v[..self.pairs].iter().map(|v| 0.5 * v * v).sum();
        let soft: f64 = (0..=self.pairs).map(|i| 0.25 * self.soft(&s.q, i).powi(4)).sum();
        vec![kinetic + soft + self.stiff_energies(s).iter().sum::<f64>()]
    }
}
