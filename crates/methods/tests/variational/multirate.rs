//! Micro steps for stiff springs: the chain of Fermi, Pasta and Ulam, and a small model of atoms with a rigid link.

use crate::none;
use crate::systems::{distance, make, reference, run};
use dalembert_methods::algebra::{Block, Mass, MassBlock, Rows};
use dalembert_methods::integrate::{IntegrateError, Integrator};
use dalembert_methods::problems::{Kepler, Problem};
use dalembert_methods::system::Coupling;
use dalembert_methods::{Scalar, Shape, State, System};

/// Soft nonlinear and stiff harmonic springs in turn, in the sums x₀ and differences x₁ of the ends of the stiff ones: q = (x₀, x₁).
/// Reference: Hairer, Lubich, Wanner: Geometric Numerical Integration, 2nd ed., section I.5.1.
struct Fpu {
    pairs: usize,
    omega: f64,
}

impl Fpu {
    fn state(&self) -> State<f64> {
        let mut s = State::zeros(self.shape());
        (s.q[0], s.v[0]) = (1.0, 1.0);
        (s.q[self.pairs], s.v[self.pairs]) = (1.0 / self.omega, 1.0);
        s
    }

    /// The energy of each stiff spring; their sum is an adiabatic invariant.
    fn stiff(&self, s: &State<f64>) -> Vec<f64> {
        let fast = self.pairs..2 * self.pairs;
        fast.map(|i| 0.5 * (s.v[i].powi(2) + (self.omega * s.q[i]).powi(2))).collect()
    }

    /// The lengths of the soft springs.
    fn soft<S: Scalar>(&self, q: &[S], i: usize) -> S {
        let (slow, fast) = q.split_at(self.pairs);
        let left = if i == 0 { S::zero() } else { slow[i - 1] + fast[i - 1] };
        let right = if i == self.pairs { S::zero() } else { slow[i] - fast[i] };
        right - left
    }

    fn energy(&self, s: &State<f64>) -> f64 {
        let kinetic: f64 = s.v[..self.pairs].iter().map(|v| 0.5 * v * v).sum();
        let soft: f64 = (0..=self.pairs).map(|i| 0.25 * self.soft(&s.q, i).powi(4)).sum();
        kinetic + soft + self.stiff(s).iter().sum::<f64>()
    }
}

impl System for Fpu {
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
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, (): &mut ()) {}
    fn mass<S: Scalar>(&self, _s: &State<S>, (): &mut (), out: &mut Mass<S>) {
        out.block_mut(0).fill(S::one());
    }
    fn force<S: Scalar>(&self, s: &State<S>, w: &mut (), out: &mut [S]) {
        self.fast_force(s, w, out);
        let n = self.pairs;
        for i in 0..=n {
            let length = self.soft(&s.q, i);
            let pull = length * length * length;
            if i < n {
                out[i] -= pull;
                out[n + i] += pull;
            }
            if i > 0 {
                out[i - 1] += pull;
                out[n + i - 1] += pull;
            }
        }
    }
    fn fast(&self) -> Vec<usize> {
        (self.pairs..2 * self.pairs).collect()
    }
    fn fast_force<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        out.fill(S::zero());
        for i in self.pairs..2 * self.pairs {
            out[i] = s.q[i] * -(self.omega * self.omega);
        }
    }
}

/// Atoms in a plane: one heavy and slow on soft springs, three light ones; a stiff spring between two of them, a rigid link to the third.
struct Atoms;

const LIGHT: f64 = 0.2;

impl Atoms {
    fn state(&self) -> State<f64> {
        let mut s = State::zeros(self.shape());
        s.q.copy_from_slice(&[0.0, 1.0, 1.05, 0.9, 2.0, 1.0, 2.0, 2.0]);
        s.v.copy_from_slice(&[0.3, -0.1, 0.0, 0.2, 0.1, 0.0, -0.4, 0.0]);
        s
    }

    fn springs() -> [(usize, usize, f64, f64); 4] {
        // Ends (4 is the origin), stiffness, rest length; the last one is stiff.
        [(4, 0, 3.0, 0.8), (0, 1, 2.0, 1.0), (0, 3, 1.0, 2.0), (1, 2, 2000.0, 1.0)]
    }

    fn pull<S: Scalar>(s: &State<S>, (a, b, k, rest): (usize, usize, f64, f64), out: &mut [S]) {
        let at = |i: usize, k: usize| if i == 4 { S::zero() } else { s.q[2 * i + k] };
        let d = [at(b, 0) - at(a, 0), at(b, 1) - at(a, 1)];
        let length = (d[0].square() + d[1].square()).sqrt();
        let tension = (length - rest) * k / length;
        for (k, &d) in d.iter().enumerate() {
            if a < 4 {
                out[2 * a + k] += d * tension;
            }
            out[2 * b + k] -= d * tension;
        }
    }

    fn energy(&self, s: &State<f64>) -> f64 {
        let kinetic: f64 = (0..8).map(|i| 0.5 * if i < 2 { 5.0 } else { LIGHT } * s.v[i].powi(2)).sum();
        let stored = Self::springs().into_iter().map(|(a, b, k, rest)| {
            let at = |i: usize, k: usize| if i == 4 { 0.0 } else { s.q[2 * i + k] };
            0.5 * k * ((at(b, 0) - at(a, 0)).hypot(at(b, 1) - at(a, 1)) - rest).powi(2)
        });
        kinetic + stored.sum::<f64>()
    }
}

impl System for Atoms {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        Shape { q: 8, v: 8, g: 1, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(8)]
    }
    fn row_blocks(&self) -> Vec<Block> {
        vec![Block { row: 0, rows: 1, col: 4, cols: 4 }]
    }
    fn coupling(&self) -> Coupling {
        Coupling { groups: (0..4).map(|i| 2 * i..2 * i + 2).collect(), neighbours: vec![(0..4).collect(); 4] }
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn scleronomic(&self) -> bool {
        true
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, (): &mut ()) {}
    fn mass<S: Scalar>(&self, _s: &State<S>, (): &mut (), out: &mut Mass<S>) {
        out.block_mut(0).fill(S::from(LIGHT));
        out.block_mut(0)[..2].fill(S::from(5.0));
    }
    fn force<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        out.fill(S::zero());
        Self::springs().into_iter().for_each(|spring| Self::pull(s, spring, out));
    }
    fn fast(&self) -> Vec<usize> {
        (2..8).collect()
    }
    fn fast_force<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        out.fill(S::zero());
        Self::pull(s, Self::springs()[3], out);
    }
    /// A link of length 1 between the last two.
    fn constraint<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        out[0] = ((s.q[6] - s.q[4]).square() + (s.q[7] - s.q[5]).square() - 1.0) * 0.5;
    }
    fn constraint_rate<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        out[0] = (s.q[6] - s.q[4]) * (s.v[6] - s.v[4]) + (s.q[7] - s.q[5]) * (s.v[7] - s.v[5]);
    }
    fn constraint_bias<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        out[0] = (s.v[6] - s.v[4]).square() + (s.v[7] - s.v[5]).square();
    }
    fn jacobian<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut Rows<S>) {
        let d = [s.q[6] - s.q[4], s.q[7] - s.q[5]];
        out.block_mut(0).copy_from_slice(&[-d[0], -d[1], d[0], d[1]]);
    }
}

/// The stiff springs exchange energy, their sum stays: within O(1/ω) over 200 units of time, with and without micro steps implicit.
#[test]
fn the_adiabatic_invariant_of_stiff_springs_is_kept() {
    let chain = Fpu { pairs: 3, omega: 50.0 };
    for explicit in [0.0, 1.0] {
        let settings = none().with("fixed_step", 0.05).with("micro_steps", 5.0).with("explicit", explicit);
        let mut integrator = make("multirate", &settings).unwrap();
        let mut s = chain.state();
        integrator.start(&chain, &mut s).unwrap();
        let (energy, sum) = (chain.energy(&s), chain.stiff(&s).iter().sum::<f64>());
        let (mut worst, mut off, mut exchanged) = (0.0_f64, 0.0_f64, 0.0_f64);
        while s.t < 200.0 {
            integrator.step(&chain, &mut s, 200.0).unwrap();
            let stiff = chain.stiff(&s);
            worst = worst.max((stiff.iter().sum::<f64>() - sum).abs());
            off = off.max((chain.energy(&s) - energy).abs());
            exchanged = exchanged.max(stiff[1].max(stiff[2]));
        }
        println!("explicit {explicit}: sum off by {worst:.3}, energy by {off:.3}, exchanged {exchanged:.3}");
        assert!(worst < 5.0 / chain.omega && off < 5.0 / chain.omega, "{worst} {off}");
        assert!(exchanged > 0.5, "{exchanged}");
    }
}

/// Order 2 in the macro step with micro steps in proportion, with a rigid link held at every micro step.
#[test]
fn macro_and_micro_steps_are_of_order_two() {
    let chain = Fpu { pairs: 3, omega: 20.0 };
    let ends = (reference(&chain, &chain.state(), 1.0), reference(&Atoms, &Atoms.state(), 1.0));
    for explicit in [0.0, 1.0] {
        for micro in [1.0, 4.0] {
            let settings = none().with("explicit", explicit).with("micro_steps", micro);
            let found = |n: u32| {
                let soft = distance(&run(&chain, &chain.state(), "multirate", &settings, 1.0, n), &ends.0);
                let linked = distance(&run(&Atoms, &Atoms.state(), "multirate", &settings, 1.0, n), &ends.1);
                [soft, linked]
            };
            let (coarse, fine) = (found(2000), found(4000));
            for k in 0..2 {
                let order = (coarse[k] / fine[k]).log2();
                assert!((order - 2.0).abs() < 0.1, "explicit {explicit}, {micro} micro steps: {order} {coarse:?}");
            }
        }
    }
}

/// The link holds, the momentum about the origin is kept (all forces are central or mutual), the energy does not drift.
#[test]
fn links_hold_at_every_micro_step() {
    let settings = none().with("fixed_step", 0.01).with("micro_steps", 5.0);
    let mut integrator = make("multirate", &settings).unwrap();
    let mut s = Atoms.state();
    integrator.start(&Atoms, &mut s).unwrap();
    let turning = |s: &State<f64>| -> f64 {
        (0..4)
            .map(|i| if i == 0 { 5.0 } else { LIGHT } * (s.q[2 * i] * s.v[2 * i + 1] - s.q[2 * i + 1] * s.v[2 * i]))
            .sum()
    };
    let (energy, momentum) = (Atoms.energy(&s), turning(&s));
    let mut bands = [0.0_f64; 2];
    for k in 0..20_000 {
        integrator.step(&Atoms, &mut s, f64::INFINITY).unwrap();
        assert!(((s.q[6] - s.q[4]).hypot(s.q[7] - s.q[5]) - 1.0).abs() < 1e-13);
        let band = usize::from(k >= 10_000);
        bands[band] = bands[band].max((Atoms.energy(&s) - energy).abs());
    }
    assert!(bands[1] < 1.2 * bands[0], "{bands:?}");
    // A few ulps of a momentum of about 3 kg m²/s in each of 1e5 micro steps, at random.
    assert!((turning(&s) - momentum).abs() < 60.0 * f64::EPSILON * 1e5_f64.sqrt(), "{:e}", turning(&s) - momentum);
}

#[test]
fn without_fast_forces_there_is_nothing_to_do() {
    let orbit = Kepler::default();
    let error = make::<Kepler>("multirate", &none()).unwrap().start(&orbit, &mut orbit.initial()).unwrap_err();
    assert!(matches!(&error, IntegrateError::Refused { reason } if reason.contains("run.fast")), "{error}");
}
