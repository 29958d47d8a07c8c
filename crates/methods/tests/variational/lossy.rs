//! Steps of several rates with forces that depend on velocities and on time: order 2 of places, velocities and integrals, whatever the rate of the forces.

use crate::multirate::{SCHEMES, scheme};
use crate::systems::{make, reference, run};
use dalembert_methods::algebra::{Block, Mass, MassBlock, Rows};
use dalembert_methods::integrate::{IntegrateError, Integrator};
use dalembert_methods::problems::{Atoms, Chain, Problem};
use dalembert_methods::system::Coupling;
use dalembert_methods::{Scalar, Shape, State, System};

/// Another system with a damper and a drive on each coordinate that forces of one rate act on. The integral is what dampers take less what drives give.
struct Lossy<P> {
    inner: P,
    rate: usize,
    damping: f64,
    drive: f64,
}

impl<P: System> Lossy<P> {
    /// The coordinates, and for each its damping in kg/s and the phase of its drive.
    fn acted(&self) -> Vec<(usize, f64, f64)> {
        let all = if self.rate == 0 { (0..self.inner.shape().v).collect() } else { self.inner.fast(self.rate) };
        all.into_iter().map(|k| (k, self.damping * (1.0 + 0.4 * (k % 3) as f64), k as f64)).collect()
    }

    fn add<S: Scalar>(&self, s: &State<S>, out: &mut [S]) {
        for (k, damping, phase) in self.acted() {
            out[k] += (s.t * 7.0 + phase).cos() * self.drive - s.v[k] * damping;
        }
    }
}

impl<P: System> System for Lossy<P> {
    type Work<S: Scalar> = P::Work<S>;
    fn shape(&self) -> Shape {
        Shape { z: 1, ..self.inner.shape() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        self.inner.mass_blocks()
    }
    fn row_blocks(&self) -> Vec<Block> {
        self.inner.row_blocks()
    }
    fn coupling(&self) -> Coupling {
        self.inner.coupling()
    }
    fn coupling_of_rate(&self, rate: usize) -> Coupling {
        self.inner.coupling_of_rate(rate)
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn scleronomic(&self) -> bool {
        self.inner.scleronomic()
    }
    fn work<S: Scalar>(&self) -> P::Work<S> {
        self.inner.work()
    }
    fn prepare<S: Scalar>(&self, s: &State<S>, w: &mut P::Work<S>) {
        self.inner.prepare(s, w);
    }
    fn mass<S: Scalar>(&self, s: &State<S>, w: &mut P::Work<S>, out: &mut Mass<S>) {
        self.inner.mass(s, w, out);
    }
    fn force<S: Scalar>(&self, s: &State<S>, w: &mut P::Work<S>, out: &mut [S]) {
        self.inner.force(s, w, out);
        self.add(s, out);
    }
    fn rates(&self) -> usize {
        self.inner.rates()
    }
    fn fast(&self, rate: usize) -> Vec<usize> {
        self.inner.fast(rate)
    }
    fn force_of_rate<S: Scalar>(&self, s: &State<S>, w: &mut P::Work<S>, rate: usize, out: &mut [S]) {
        self.inner.force_of_rate(s, w, rate, out);
        if rate == self.rate {
            self.add(s, out);
        }
    }
    fn integrand<S: Scalar>(&self, s: &State<S>, _: &[S], _: &mut P::Work<S>, out: &mut [S]) {
        out[0] = S::zero();
        for (k, damping, phase) in self.acted() {
            out[0] += s.v[k] * (s.v[k] * damping - (s.t * 7.0 + phase).cos() * self.drive);
        }
    }
    fn constraint<S: Scalar>(&self, s: &State<S>, w: &mut P::Work<S>, out: &mut [S]) {
        self.inner.constraint(s, w, out);
    }
    fn constraint_rate<S: Scalar>(&self, s: &State<S>, w: &mut P::Work<S>, out: &mut [S]) {
        self.inner.constraint_rate(s, w, out);
    }
    fn constraint_bias<S: Scalar>(&self, s: &State<S>, w: &mut P::Work<S>, out: &mut [S]) {
        self.inner.constraint_bias(s, w, out);
    }
    fn jacobian<S: Scalar>(&self, s: &State<S>, w: &mut P::Work<S>, out: &mut Rows<S>) {
        self.inner.jacobian(s, w, out);
    }
    fn magnitude(&self, q: &[f64], out: &mut [f64]) {
        self.inner.magnitude(q, out);
    }
}

/// The largest difference of places and velocities, and that of the integral.
fn apart(a: &State<f64>, b: &State<f64>) -> [f64; 2] {
    [crate::systems::distance(a, b), (a.z[0] - b.z[0]).abs()]
}

/// Places, velocities and integrals are of order 2 with dampers and with drives in forces of any rate.
fn check<P: Problem + Clone>(inner: &P, start: &State<f64>, until: f64, coarse: u32) {
    let mut start = start.clone();
    start.z = vec![0.0];
    for rate in 0..inner.rates() {
        for (damping, drive) in [(0.8, 0.0), (0.0, 2.0)] {
            let lossy = Lossy { inner: inner.clone(), rate, damping, drive };
            let end = reference(&lossy, &start, until);
            for alphas in SCHEMES {
                for micro in [2.0, 3.0] {
                    let settings = scheme(alphas).with("micro_steps", micro).with("faster_steps", 2.0);
                    let found = |n: u32| apart(&run(&lossy, &start, "multirate", &settings, until, n), &end);
                    let (large, small) = (found(coarse), found(2 * coarse));
                    for (what, (large, small)) in ["state", "integral"].iter().zip(large.into_iter().zip(small)) {
                        let order = (large / small).log2();
                        let name = inner.name();
                        assert!(
                            (order - 2.0).abs() < 0.1,
                            "{name}, {what}, rate {rate}, {damping} {drive}, {alphas:?}, {micro}: {order} {large:e} {small:e}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn dampers_and_drives_leave_order_two() {
    let chain = Chain { omega: 20.0, ..Chain::default() };
    check(&chain, &chain.initial(), 0.5, 400);
}

#[test]
fn dampers_and_drives_leave_order_two_with_three_rates() {
    let chain = Chain { pairs: 4, omega: 10.0, stiffer: 4.0 };
    let mut start = chain.initial();
    start.v[4..].fill(1.0);
    check(&chain, &start, 0.5, 400);
}

/// Dampers see velocities that links allow, at every micro step.
#[test]
fn dampers_and_drives_leave_order_two_with_links() {
    let atoms = Atoms { cells: 2, far: true };
    check(&atoms, &atoms.initial(), 0.1, 400);
}

/// Fast dampers in one micro step: the explicit scheme is the trapezoidal rule of the discrete Lagrange–d'Alembert principle. Rounding as in
/// `one_micro_step_is_the_single_rate_method`.
#[test]
fn one_micro_step_with_dampers_is_the_trapezoidal_rule() {
    let lossy = Lossy { inner: Chain::default(), rate: 1, damping: 2.0, drive: 1.0 };
    let mut start = lossy.inner.initial();
    start.z = vec![0.0];
    let one = scheme((0.0, 0.0)).with("micro_steps", 1.0);
    let rates = run(&lossy, &start, "multirate", &one, 1.0, 100);
    let single = run(&lossy, &start, "variational", &crate::none().with("alpha", 0.0), 1.0, 100);
    let found = apart(&rates, &single)[0];
    assert!(found < 1e4 * f64::EPSILON, "{found:e}");
}

/// A damper too strong for an explicit rate, ½h c/m = 4, is refused by name where it stands, and is taken by an implicit one.
#[test]
fn dampers_too_strong_for_an_explicit_rate_are_said() {
    let lossy = Lossy { inner: Chain::default(), rate: 1, damping: 800.0, drive: 0.0 };
    let mut start = lossy.inner.initial();
    start.z = vec![0.0];
    let step = |alphas| {
        let settings = scheme(alphas).with("fixed_step", 0.05).with("micro_steps", 5.0);
        let mut method = make("multirate", &settings).unwrap();
        let mut s = start.clone();
        method.start(&lossy, &mut s).unwrap();
        method.step(&lossy, &mut s, 1.0)
    };
    let error = step((0.0, 0.0)).unwrap_err();
    assert!(
        matches!(&error, IntegrateError::NotConverged { what, .. } if what.contains("depend on velocities")),
        "{error}"
    );
    assert!(error.to_string().contains("velocity 3") && error.to_string().contains("smaller steps"), "{error}");
    step((0.0, 0.5)).unwrap();
}
