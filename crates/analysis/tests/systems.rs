//! Systems with constraints and rotations: linearisation, changes of motions, cycles and exponents against closed forms and differences.
#![allow(clippy::unwrap_used)]

use dalembert_analysis::AnalysisError;
use dalembert_analysis::continuation::{Ending, Kind, Options, follow_on};
use dalembert_analysis::crossing::{Watch, crossings};
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::eigen::eigenvalues;
use dalembert_analysis::family::{Cycles, Turn};
use dalembert_analysis::field::Settings;
use dalembert_analysis::linear::Verdict;
use dalembert_analysis::linearise::{linearise, null_space};
use dalembert_analysis::motion::{ExponentOptions, Motion, exponents, orbit};
use dalembert_analysis::recorded::{monodromies, recipe};
use dalembert_analysis::steady::steady;
use dalembert_methods::algebra::{Mass, MassBlock};
use dalembert_methods::problems::touching::{Touching, Toy};
use dalembert_methods::problems::{FreeBody, Pendulum, Problem};
use dalembert_methods::system::{Shape, State, System};
use dalembert_methods::{Real, Scalar};
use std::f64::consts::TAU;

#[test]
fn a_null_space_is_one_and_is_told_by_its_coordinates() {
    let rows = Matrix::from_rows(3, 4, vec![1.0, 2.0, 0.0, -1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 3.0, 1.0, 0.0]);
    let (basis, free) = null_space(&rows);
    assert_eq!(free.len(), 2);
    assert!(rows.mul(&basis).largest() < 1e-15);
    for (k, &i) in free.iter().enumerate() {
        assert_eq!(basis[(i, k)], 1.0);
    }
}

/// A particle on a rod, two coordinates and one row, about its rest: ω² = g/l, by both ways.
#[test]
fn a_constrained_pendulum_is_linearised_in_one_coordinate() {
    let pendulum = Pendulum::default();
    let ratio = pendulum.gravity / pendulum.length;
    for (sign, verdict) in [(-1.0, Verdict::Marginal), (1.0, Verdict::Unstable(1))] {
        let mut s = State::zeros(pendulum.shape());
        s.q.copy_from_slice(&[0.0, sign * pendulum.length]);
        let found = linearise(&pendulum, &s).unwrap();
        assert_eq!((found.independent.as_slice(), found.acceleration), (&[0][..], 0.0));
        let modes = found.system.real_modes().unwrap();
        assert!((modes.squared[0] + sign * ratio).abs() < 1e-12 * ratio);
        assert_eq!(found.system.verdict().unwrap(), verdict);
        assert!(found.state_matrix.plus(-1.0, &found.system.state_matrix().unwrap()).largest() < 1e-12 * ratio);
    }
    // A swing is no steady motion: what is left of its acceleration is told.
    let moving = pendulum.exact(0.1).unwrap();
    assert!(linearise(&pendulum, &moving).unwrap().acceleration > 0.1);
}

/// Changes carried along a motion are differences of neighbouring motions.
fn check_changes<P: Problem>(problem: &P, until: f64) {
    let mut motion = Motion::new(problem, Settings::within(1e-12));
    let start = problem.initial();
    let basis = motion.basis(&start).unwrap();
    let (mut end, mut columns) = (start.clone(), basis.clone());
    motion.advance(&mut end, &mut columns, start.t + until).unwrap();
    let step = 1e-5;
    for j in 0..basis.cols() {
        let mut moved = |sign: f64| {
            let mut s = start.clone();
            let change: Vec<f64> = basis.column(j).iter().map(|c| sign * step * c).collect();
            motion.shift(&mut s, &change).unwrap();
            motion.advance(&mut s, &mut Matrix::zeros(basis.rows(), 0), start.t + until).unwrap();
            motion.difference(&end, &s).unwrap()
        };
        let (up, down) = (moved(1.0), moved(-1.0));
        for i in 0..basis.rows() {
            let difference = (up[i] - down[i]) / (2.0 * step);
            let exact = columns[(i, j)];
            assert!(
                (difference - exact).abs() < 1e-6 * (1.0 + exact.abs()),
                "{} {i} {j}: {difference} {exact}",
                problem.name()
            );
        }
    }
}

#[test]
fn changes_are_differences_of_motions() {
    check_changes(&Pendulum::default(), 1.3);
    check_changes(&FreeBody::default(), 2.0);
}

/// ẍ + 0.2 ẋ − x + x³ = f cos t, as a system.
struct Forced(f64);

impl System for Forced {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        Shape { q: 1, v: 1, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(1)]
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, _w: &mut ()) {}
    fn mass<S: Scalar>(&self, _s: &State<S>, _w: &mut (), out: &mut Mass<S>) {
        out.block_mut(0).fill(S::one());
    }
    fn force<S: Scalar>(&self, s: &State<S>, _w: &mut (), out: &mut [S]) {
        let (x, v) = (s.q[0], s.v[0]);
        out[0] = s.t.cos() * self.0 - v * 0.2 + x - x * x * x;
    }
}

/// The cycle of a driven system: Liouville's formula for its multipliers, and exponents that are their logarithms.
#[test]
fn a_driven_cycle_has_multipliers_and_exponents_that_agree() {
    let mut start = State::zeros(Forced(0.2).shape());
    start.q[0] = 1.0;
    let mut motion = Motion::new(&Forced(0.2), Settings::within(1e-10));
    motion.advance(&mut start, &mut Matrix::zeros(2, 0), 20.0 * TAU).unwrap();
    start.t = 0.0;
    let found = orbit(&Forced(0.2), &start, TAU, 1e-10, Settings::within(1e-12)).unwrap();
    let product = found.multipliers[0] * found.multipliers[1];
    assert!((product.re - (-0.2 * TAU).exp()).abs() < 1e-9 && product.im.abs() < 1e-12, "{found:?}");
    let options = ExponentOptions { interval: TAU, transient: 0.0, batch: 20.0 * TAU, batches: 5 };
    let spectrum = exponents(&Forced(0.2), &found.state, &options, Settings::within(1e-9)).unwrap();
    assert_eq!((spectrum.exponents.len(), spectrum.exponents[0]), (3, 0.0));
    let sum: f64 = spectrum.exponents.iter().sum();
    assert!((sum + 0.2).abs() < 1e-7, "{spectrum:?}");
    // The frame starts anywhere: the mean misses by the logarithm of its angle over the whole time at most.
    let expected = found.multipliers[0].modulus().ln() / TAU;
    assert!((spectrum.exponents[1] - expected).abs() < 5.0 / (100.0 * TAU), "{spectrum:?} {expected}");
}

/// A pendulum on a rod repeats after 2π/agm(1, cos θ₀/2) √(l/g). Every amplitude has its own period: the cycle is one of a family, which is
/// said, and both multipliers are 1.
#[test]
fn the_cycle_of_a_pendulum_is_one_of_a_family() {
    let pendulum = Pendulum::default();
    let (mut a, mut b) = (1.0, (0.5 * pendulum.amplitude).cos());
    for _ in 0..8 {
        (a, b) = (0.5 * (a + b), f64::sqrt(a * b));
    }
    let period = TAU / a * (pendulum.length / pendulum.gravity).sqrt();
    let start = pendulum.initial();
    let mut motion = Motion::new(&pendulum, Settings::within(1e-12));
    let (map, end) = motion.monodromy(&start, period).unwrap();
    let difference = motion.difference(&start, &end).unwrap();
    assert!(difference.iter().all(|d| d.abs() < 1e-8), "{difference:?}");
    assert_eq!(map.rows(), 2);
    // A double multiplier is known to the square root of the error of the map.
    for multiplier in eigenvalues(&map).unwrap() {
        assert!((multiplier - dalembert_methods::algebra::Complex::from(1.0)).modulus() < 1e-4, "{map:?}");
    }
    let error = orbit(&pendulum, &start, period, 1e-7, Settings::within(1e-12)).unwrap_err();
    assert!(matches!(error, AnalysisError::NotIsolated { .. }), "{error}");
    // It passes its lowest place, where it starts, once a period in each direction.
    let side = |s: &State<f64>| s.q[0];
    let watch = Watch { interval: 0.05, skipped: 1, kept: 3, longest: 10.0 * period };
    let passed = crossings(&pendulum, &start, side, &watch, Settings::within(1e-12)).unwrap();
    for (k, s) in passed.iter().enumerate() {
        let expected = (k as f64 + 2.0) * period;
        assert!((s.t - start.t - expected).abs() < 1e-8, "{k}: {} {expected}", s.t);
        assert!(s.q[0].abs() < 1e-9, "{:?}", s.q);
    }
    let few = crossings(&pendulum, &start, side, &Watch { longest: period, ..watch }, Settings::within(1e-9));
    assert!(matches!(few, Err(AnalysisError::NoEvent { .. })), "{few:?}");
}

/// A particle that runs along a trough with a steady speed, turned by a force across its velocity: z = c y²/2, f = B (v_y, v₀ − v_x).
struct Trough {
    turn: f64,
    speed: f64,
    stiffness: f64,
    curvature: f64,
}

impl Toy<3, 1, 0> for Trough {
    const TANGENTS: usize = 0;
    fn mass(&self) -> [f64; 3] {
        [1.0, 2.0, 0.5]
    }
    fn force<R: Real>(&self, _t: R, q: [R; 3], v: [R; 3]) -> [R; 3] {
        let across = -((v[0] - self.speed) * self.turn) - q[1] * self.stiffness;
        [v[1] * self.turn, across, R::from(-0.5 * 9.81)]
    }
    fn holonomic<R: Real>(&self, _t: R, q: [R; 3]) -> [R; 1] {
        [q[2] - q[1] * q[1] * (0.5 * self.curvature)]
    }
    fn gap<R: Real>(&self, _t: R, _q: [R; 3]) -> [R; 0] {
        []
    }
}

/// About a steady motion with a constraint the matrices are those found by hand; the constraint adds m g c to the stiffness.
#[test]
fn a_steady_motion_with_a_constraint_is_linearised() {
    let trough = Trough { turn: 0.7, speed: 3.0, stiffness: 4.0, curvature: 1.5 };
    let expected = trough.stiffness + 0.5 * 9.81 * trough.curvature;
    let model = Touching(trough);
    let mut s = State::zeros(model.shape());
    s.v[0] = 3.0;
    let found = linearise(&model, &s).unwrap();
    assert_eq!(found.independent, [0, 1]);
    let near = |a: &Matrix, b: [f64; 4]| (0..4).all(|k| (a[(k / 2, k % 2)] - b[k]).abs() < 1e-10);
    let system = &found.system;
    assert!(near(&system.mass, [1.0, 0.0, 0.0, 2.0]), "{:?}", system.mass);
    assert!(near(&system.gyroscopic, [0.0, -0.7, 0.7, 0.0]), "{:?}", system.gyroscopic);
    assert!(near(&system.stiffness, [0.0, 0.0, 0.0, expected]), "{:?}", system.stiffness);
    assert!(near(&system.damping, [0.0; 4]) && near(&system.circulatory, [0.0; 4]));
    assert!(found.acceleration < 1e-12);
}

/// From a state off it the nearest steady motion of the trough is found: the force across holds the particle off its middle, as far as its speed is off.
#[test]
fn a_steady_motion_with_a_constraint_is_found() {
    let trough = Trough { turn: 0.7, speed: 3.0, stiffness: 4.0, curvature: 1.5 };
    let whole = trough.stiffness + 0.5 * 9.81 * trough.curvature;
    let model = Touching(trough);
    let mut s = State::zeros(model.shape());
    s.v.copy_from_slice(&[2.5, 0.1, 0.0]);
    s.q[1] = -0.2;
    let found = steady(&model, &s, &[0], 1e-11).unwrap();
    let (speed, place) = (found.state.v[0], found.state.q[1]);
    // m v̇ = −B (v_x − v₀) − (k + m g c) y, the slope of the trough left aside at rest across.
    assert!((0.7 * (speed - 3.0) + whole * place).abs() < 1e-9, "{found:?}");
    assert!(found.state.v[1].abs() < 1e-11 && (found.state.q[2] - 0.75 * place * place).abs() < 1e-11, "{found:?}");
    // Its way along the trough and its speed are free.
    assert_eq!(found.free, 2, "{found:?}");
    // All at rest: the equilibrium, with its way free.
    let rest = steady(&model, &s, &[], 1e-11).unwrap();
    assert!((whole * rest.state.q[1] - 0.7 * 3.0).abs() < 1e-9 && rest.free == 1, "{rest:?}");
    assert!(steady(&model, &s, &[3], 1e-11).is_err());
}

/// Van der Pol's oscillator, ẍ − μ (1 − x²) ẋ + x = 0, as two half masses of which the second one is held to the first.
struct Tied {
    growth: f64,
}

impl Toy<2, 1, 0> for Tied {
    const TANGENTS: usize = 0;
    fn mass(&self) -> [f64; 2] {
        [0.5, 0.5]
    }
    fn force<R: Real>(&self, _t: R, q: [R; 2], v: [R; 2]) -> [R; 2] {
        [(R::one() - q[0] * q[0]) * v[0] * self.growth - q[0], R::zero()]
    }
    fn holonomic<R: Real>(&self, _t: R, q: [R; 2]) -> [R; 1] {
        [q[1] - q[0]]
    }
    fn gap<R: Real>(&self, _t: R, _q: [R; 2]) -> [R; 0] {
        []
    }
}

/// A cycle that nothing drives is followed with its period: 2π/ω, ω = 1 − μ²/16 + 17 μ⁴/3072 + 35 μ⁶/884736 − … (Andersen, Geer: Power series expansions
/// for the frequency and period of the limit cycle of the van der Pol equation, SIAM J. Appl. Math. 42 (1982) 678–693).
#[test]
fn a_free_cycle_with_a_constraint_is_followed_with_its_period() {
    let member = |growth: f64| Ok(Touching(Tied { growth }));
    let start = member(0.1).unwrap();
    let mut s = State::zeros(start.shape());
    s.q.fill(2.0);
    let settings = Settings::within(1e-12);
    let found = orbit(&start, &s, TAU, 1e-10, settings).unwrap();
    let turn = Turn { state: found.state, period: found.period, value: 0.1 };
    let contacts = dalembert_methods::nonsmooth::Options::default();
    let cycles = Cycles::new(&member, None, &turn, &contacts, settings).unwrap();
    let options = Options { step: 0.02, steps: [1e-6, 0.05], range: [0.05, 0.3], points: 50, tolerance: 1e-10 };
    let branch = follow_on(&cycles, Kind::Cycles, &turn, 0.1, &options, &mut |_| true).unwrap();
    assert_eq!(branch.ending, Ending::Range);
    assert!(branch.special.is_empty() && branch.points.len() > 4);
    for point in &branch.points {
        let square = point.parameter * point.parameter;
        let omega = 1.0 - square / 16.0 + 17.0 * square.powi(2) / 3072.0 + 35.0 * square.powi(3) / 884_736.0;
        // The next term is 1.4e-4 μ⁸; 1e-9 is left of the cycle.
        let bound = TAU * 1.4e-4 * square.powi(4) + 1e-8;
        assert!((point.state.period - TAU / omega).abs() < bound, "{}: {}", point.parameter, point.state.period);
        // By Liouville's formula the multiplier is exp(μ ∫ (1 − x²) dt), −2πμ to first order.
        let [multiplier] = point.values.as_slice() else { panic!("{:?}", point.values) };
        assert!((multiplier.re.ln() / (-TAU * point.parameter) - 1.0).abs() < 0.2 * square + 1e-6 && point.stable);
    }
    // Asked to stop, it does.
    let mut left = 3;
    let part = follow_on(&cycles, Kind::Cycles, &turn, 0.1, &options, &mut |_| {
        left -= 1;
        left > 0
    });
    let part = part.unwrap();
    assert_eq!((part.points.len(), part.ending), (3, Ending::Stopped));
}

/// Pendulums of several lengths side by side, in Cartesian coordinates with a constraint, have the matrices that each has alone.
#[test]
fn systems_side_by_side_move_as_they_do_alone() {
    let settings = Settings::within(1e-10);
    // With a length of 0.5 m a factor is one and drops out: that pendulum does something else, and goes alone.
    let lengths = [0.55, 0.68, 0.81, 0.94, 1.07, 1.2, 0.5];
    let pendulums = lengths.map(|length| Pendulum { length, amplitude: 1.2, ..Pendulum::default() });
    let systems: Vec<(&Pendulum, State<f64>, f64)> =
        pendulums.iter().enumerate().map(|(k, p)| (p, p.initial(), 1.0 + 0.3 * k as f64)).collect();
    let recipes = pendulums.each_ref().map(|p| recipe(p).unwrap());
    assert!(recipes[..6].iter().all(|recipe| recipe.alike(&recipes[0])) && !recipes[6].alike(&recipes[0]));
    for ((pendulum, start, period), found) in systems.iter().zip(monodromies(&systems, settings)) {
        let (alone, _) = Motion::new(*pendulum, settings).monodromy(start, *period).unwrap();
        let found = found.unwrap();
        assert_eq!((found.rows(), found.cols()), (2, 2));
        // Some hundred steps of 1e-10 each, of a motion whose neighbours part at most ten times.
        assert!(found.plus(-1.0, &alone).largest() < 1e-7, "{found:?} {alone:?}");
    }
    // Rotations in space are no plain numbers: they are run one by one.
    let body = FreeBody::default();
    assert!(recipe(&body).is_none());
    let alone = Motion::new(&body, settings).monodromy(&body.initial(), 0.4).unwrap().0;
    let found = monodromies(&[(&body, body.initial(), 0.4)], settings).remove(0).unwrap();
    assert_eq!(found, alone);
}
