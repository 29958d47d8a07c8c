//! Steps of several rates: the chain of Fermi, Pasta and Ulam, and a small model of atoms with rigid links.

use crate::none;
use crate::systems::{distance, make, reference, run, try_run};
use dalembert_methods::algebra::{Mass, MassBlock};
use dalembert_methods::integrate::{IntegrateError, Integrator, Settings};
use dalembert_methods::problems::{Atoms, Chain, Kepler, Problem};
use dalembert_methods::{Scalar, Shape, State, System};

/// Fully implicit, explicit slow and implicit fast, fully explicit, and one in between.
pub const SCHEMES: [(f64, f64); 4] = [(0.5, 0.5), (0.0, 0.5), (0.0, 0.0), (0.25, 0.1)];

pub fn scheme((slow, fast): (f64, f64)) -> Settings {
    none().with("slow_alpha", slow).with("fast_alpha", fast)
}

/// The stiff springs exchange energy, their sum I stays over 200 units of time, with every scheme.
///
/// dI/dt = x₁'·F with F the soft forces on x₁; by parts the change is 2 |x₁| |F| plus what is small of second order, with |x₁| ≤ √(2I)/ω and
/// |F| ≤ 2 (Σ ℓ⁶)^½ ≤ 2 (4 E)^¾ for soft springs of energy E. The trapezoidal rule keeps ½(v² + ω²q²(1 − ω²h²/4)) instead of the energy.
#[test]
fn the_adiabatic_invariant_of_stiff_springs_is_kept() {
    let chain = Chain::default();
    for alphas in SCHEMES {
        let settings = scheme(alphas).with("fixed_step", 0.05).with("micro_steps", 5.0);
        let mut integrator = make("multirate", &settings).unwrap();
        let mut s = chain.initial();
        integrator.start(&chain, &mut s).unwrap();
        let sum = |s: &State<f64>| chain.stiff_energies(s).iter().sum::<f64>();
        let (energy, start) = (chain.invariants(&s)[0], sum(&s));
        let (mut worst, mut off, mut exchanged) = (0.0_f64, 0.0_f64, 0.0_f64);
        while s.t < 200.0 {
            integrator.step(&chain, &mut s, 200.0).unwrap();
            worst = worst.max((sum(&s) - start).abs());
            off = off.max((chain.invariants(&s)[0] - energy).abs());
            exchanged = exchanged.max(chain.stiff_energies(&s)[1..].iter().copied().fold(0.0, f64::max));
        }
        let bound = 2.0 * (2.0 * start).sqrt() / chain.omega * 2.0 * (4.0 * (energy - start)).powf(0.75);
        println!(
            "slow and fast at {alphas:?}: sum off by {worst:.3} of {bound:.3}, energy by {off:.3}, exchanged {exchanged:.3}"
        );
        let rule = start * (chain.omega * 0.01).powi(2) / 4.0;
        assert!(worst < bound && off < bound + rule, "{alphas:?}: {worst} {off} {bound}");
        assert!(exchanged > 0.5, "{exchanged}");
    }
}

/// Order 2 in the macro step with micro steps in proportion, with rigid links held at every micro step.
#[test]
fn macro_and_micro_steps_are_of_order_two() {
    fn check<P: Problem>(problem: &P, until: f64) {
        let end = reference(problem, &problem.initial(), until);
        for alphas in SCHEMES {
            for micro in [1.0, 4.0, 5.0] {
                let settings = scheme(alphas).with("micro_steps", micro);
                let found =
                    |n: u32| distance(&run(problem, &problem.initial(), "multirate", &settings, until, n), &end);
                let (coarse, fine) = (found(400), found(800));
                let order = (coarse / fine).log2();
                let what = format!("{}, {alphas:?}, {micro} micro steps", problem.name());
                assert!((order - 2.0).abs() < 0.1, "{what}: {order} {coarse:e}");
            }
        }
    }
    check(&Chain { omega: 20.0, ..Chain::default() }, 0.5);
    check(&Atoms { cells: 2, far: true }, 0.1);
}

/// Micro steps alone, p = 1, are the rule of both forces together: trapezoidal with both at the ends, midpoint with both in the middle.
#[test]
fn one_micro_step_is_the_single_rate_method() {
    fn check<P: Problem>(problem: &P, h: f64) {
        for alpha in [0.0, 0.5, 0.25] {
            let both = scheme((alpha, alpha)).with("micro_steps", 1.0);
            let rates = run(problem, &problem.initial(), "multirate", &both, 100.0 * h, 100);
            let single = run(problem, &problem.initial(), "variational", &none().with("alpha", alpha), 100.0 * h, 100);
            // Rounding of 100 steps of size one, amplified by stiff springs, ω h = 2 at most, as phases: n²/2 of an ulp times ωh.
            let bound = 1e4 * f64::EPSILON;
            assert!(distance(&rates, &single) < bound, "{} {alpha}: {:e}", problem.name(), distance(&rates, &single));
        }
    }
    check(&Chain::default(), 0.01);
    check(&Atoms { cells: 2, far: true }, 0.005);
}

/// Three rates: order 2, and the springs of the third rate in steps of their own.
#[test]
fn three_rates_are_of_order_two() {
    let chain = Chain { pairs: 4, omega: 10.0, stiffer: 6.0 };
    assert_eq!((chain.rates(), chain.fast(1), chain.fast(2)), (3, vec![4, 6], vec![5, 7]));
    // All springs swing.
    let mut start = chain.initial();
    start.v[4..].fill(1.0);
    let end = reference(&chain, &start, 0.5);
    for alphas in SCHEMES {
        for (micro, faster) in [(2.0, 3.0), (3.0, 2.0)] {
            let settings = scheme(alphas).with("micro_steps", micro).with("faster_steps", faster);
            let found = |n: u32| distance(&run(&chain, &start, "multirate", &settings, 0.5, n), &end);
            let (coarse, fine) = (found(200), found(400));
            assert!(((coarse / fine).log2() - 2.0).abs() < 0.1, "{alphas:?}: {coarse:e} {fine:e}");
        }
    }
    // The finest grid rules the error of the fastest springs: it falls with their number of steps.
    let error = |steps: f64| {
        let settings = scheme((0.0, 0.0)).with("micro_steps", 2.0).with("faster_steps", steps);
        distance(&run(&chain, &start, "multirate", &settings, 0.5, 50), &end)
    };
    assert!(error(8.0) < 0.3 * error(1.0), "{} {}", error(8.0), error(1.0));
    // One step of each rate in a macro step is the midpoint rule of all forces together; rounding as in `one_micro_step_is_the_single_rate_method`.
    let one = scheme((0.5, 0.5)).with("micro_steps", 1.0).with("faster_steps", 1.0);
    let rates = run(&chain, &start, "multirate", &one, 0.5, 100);
    let single = run(&chain, &start, "variational", &none(), 0.5, 100);
    assert!(distance(&rates, &single) < 1e4 * f64::EPSILON, "{:e}", distance(&rates, &single));
}

/// One macro step of the chain from (x, p), masses one: dx ∧ dp is kept by every scheme and number of micro steps; and back with reversed velocities is where it began.
#[test]
fn macro_steps_are_symplectic_and_symmetric() {
    for stiffer in [1.0, 3.0] {
        symplectic_and_symmetric(&Chain { pairs: 2, omega: 20.0, stiffer });
    }
    let atoms = Atoms { cells: 2, far: true };
    for alphas in SCHEMES {
        let settings = scheme(alphas).with("micro_steps", 4.0);
        let there = run(&atoms, &atoms.initial(), "multirate", &settings, 0.5, 100);
        let back = turned(run(&atoms, &turned(there), "multirate", &settings, 0.5, 100));
        let found = distance(&back, &atoms.initial());
        assert!(found < 2e4 * f64::EPSILON, "{alphas:?}: {found:e}");
    }
}

/// With velocities the other way, at time zero.
fn turned(mut s: State<f64>) -> State<f64> {
    s.v.iter_mut().for_each(|v| *v = -*v);
    s.t = 0.0;
    s
}

fn symplectic_and_symmetric(chain: &Chain) {
    let n = 4;
    let start = run(chain, &chain.initial(), "multirate", &scheme((0.0, 0.0)), 0.3, 60);
    let nudged = |s: &State<f64>, k: usize, e: f64| {
        let mut s = s.clone();
        if k < n {
            s.q[k] += e
        } else {
            s.v[k - n] += e
        }
        s
    };
    let apart = |a: &State<f64>, b: &State<f64>| -> Vec<f64> {
        let differences = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| b - a).collect::<Vec<_>>();
        [differences(&a.q, &b.q), differences(&a.v, &b.v)].concat()
    };
    let form = |_: &State<f64>, a: &[f64], b: &[f64]| (0..n).map(|i| a[i] * b[n + i] - a[n + i] * b[i]).sum();
    for alphas in SCHEMES {
        for micro in [1.0, 3.0] {
            let settings = scheme(alphas).with("micro_steps", micro).with("faster_steps", 2.0);
            let step = |s: &State<f64>| run(chain, s, "multirate", &settings, 0.05, 1);
            let found = crate::symplectic_defect(2 * n, step, &State { t: 0.0, ..start.clone() }, nudged, apart, form);
            assert!(found < 1e-8, "{alphas:?} {micro}: {found:e}");
            let there = run(chain, &chain.initial(), "multirate", &settings, 2.0, 100);
            let back = turned(run(chain, &turned(there), "multirate", &settings, 2.0, 100));
            // Rounding of n = 200 steps, as phases of the stiffest springs: n²/2 of an ulp times ωh.
            let found = distance(&back, &chain.initial());
            let phase = (chain.omega * chain.stiffer * 0.02).max(1.0);
            assert!(found < 2e4 * phase * f64::EPSILON, "{alphas:?} {micro}: {found:e}");
        }
    }
}

/// Links hold, momenta are kept, the energy does not drift, with every scheme.
#[test]
fn links_hold_at_every_micro_step() {
    let atoms = Atoms { cells: 1, far: false };
    for alphas in SCHEMES {
        let settings = scheme(alphas).with("fixed_step", 0.01).with("micro_steps", 5.0);
        let mut integrator = make("multirate", &settings).unwrap();
        let mut s = atoms.initial();
        integrator.start(&atoms, &mut s).unwrap();
        let start = atoms.invariants(&s);
        let mut bands = [0.0_f64; 2];
        let steps = 8000_u32;
        for k in 0..steps {
            integrator.step(&atoms, &mut s, f64::INFINITY).unwrap();
            // Newton's method ends at an ulp of places of size |q| ≤ 15, twice.
            assert!(((s.q[6] - s.q[4]).hypot(s.q[7] - s.q[5]) - 1.0).abs() < 4.0 * 15.0 * f64::EPSILON, "{k}");
            let band = usize::from(k >= steps / 4);
            bands[band] = bands[band].max((atoms.invariants(&s)[0] - start[0]).abs());
        }
        // A drift would be four times as large at the end as after a quarter of the time.
        assert!(bands[1] < 2.0 * bands[0], "{alphas:?}: {bands:?}");
        // A heavy atom of 1.5 kg m/s and three light ones of 0.3 kg m/s each. In a micro step each goes through a map with two points, kicks in 2 operations, and
        // corrections by the link, 2 in each of at most five iterations.
        let end = atoms.invariants(&s);
        let bound = crate::rounding(5 * steps, 4.0 * (crate::operations(2.0, 1.0) + 12.0), 2.4);
        for k in [1, 2] {
            assert!((end[k] - start[k]).abs() < bound, "{alphas:?}, momentum {k}: {:e}", end[k] - start[k]);
        }
        // About the origin with arms of 15 m.
        assert!((end[3] - start[3]).abs() < 15.0 * bound, "{alphas:?}: {:e}", end[3] - start[3]);
    }
}

/// Macro steps of nearly a period of the stiff springs, ωH = 6, pump energy into them until iterations or numbers fail: the error has the period 2π/ω of the springs, which are linear and
/// move alone what is fast, so that it is exact; and both steps it proposes go through, with an energy that does not grow by more than half.
#[test]
fn failures_by_resonance_are_told() {
    let chain = Chain::default();
    let run = |alphas, until: f64, step: f64| {
        let settings = scheme(alphas).with("micro_steps", 12.0);
        try_run(&chain, &chain.initial(), "multirate", &settings, until, (until / step).round() as u32)
    };
    for alphas in &SCHEMES[..3] {
        let error = run(*alphas, 480.0, 0.12).unwrap_err();
        println!("{alphas:?}: {error}");
        let IntegrateError::Resonance { step, period: Some(period), .. } = error else { panic!("{error}") };
        let exact = std::f64::consts::TAU / chain.omega;
        assert!((step - 0.12).abs() < 1e-9 && (period / exact - 1.0).abs() < 1e-9, "{alphas:?}: {step} {period}");
        for other in [0.75 * period, 0.25 * period] {
            let end = run(*alphas, 480.0, other).unwrap();
            let [before, after] = [&chain.initial(), &end].map(|s| chain.invariants(s)[0]);
            assert!((after / before - 1.0).abs() < 0.5, "{alphas:?} {other}: {before} {after}");
        }
    }
}

/// Of three rates the steps of the middle one are 0.97 half periods of the fastest springs, ω = 60, and macro steps 3.88: the middle ones are named.
#[test]
fn the_grid_that_resonates_is_named() {
    let chain = Chain { pairs: 4, omega: 10.0, stiffer: 6.0 };
    let mut start = chain.initial();
    start.v[4..].fill(1.0);
    let micro = 0.97 * std::f64::consts::PI / 60.0;
    let settings = scheme((0.0, 0.0)).with("micro_steps", 4.0).with("faster_steps", 12.0);
    let error = try_run(&chain, &start, "multirate", &settings, 40_000.0 * micro, 10_000).unwrap_err();
    println!("{error}");
    let IntegrateError::Resonance { step, period: Some(period), .. } = error else { panic!("{error}") };
    // The springs of both frequencies are fast for macro steps, those of the higher one for the others.
    assert!((step / micro - 1.0).abs() < 1e-6, "{step} {micro}");
    assert!((period * 60.0 / std::f64::consts::TAU - 1.0).abs() < 1e-9, "{period}");
}

/// A mass between two springs, the stiff one of rate one, or with forces of rate one that act on nothing.
struct Tagged {
    mass: f64,
    acts: bool,
}

impl System for Tagged {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        Shape { q: 1, v: 1, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(1)]
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, (): &mut ()) {}
    fn mass<S: Scalar>(&self, _s: &State<S>, (): &mut (), out: &mut Mass<S>) {
        out.block_mut(0)[0] = S::from(self.mass);
    }
    fn force<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        out[0] = s.q[0] * -101.0;
    }
    fn rates(&self) -> usize {
        2
    }
    fn fast(&self, _rate: usize) -> Vec<usize> {
        if self.acts { vec![0] } else { Vec::new() }
    }
    fn force_of_rate<S: Scalar>(&self, s: &State<S>, (): &mut (), rate: usize, out: &mut [S]) {
        out[0] = s.q[0] * if rate == 0 { -1.0 } else { -100.0 };
    }
}

#[test]
fn what_cannot_be_fast_is_said() {
    let orbit = Kepler::default();
    let error = make::<Kepler>("multirate", &none()).unwrap().start(&orbit, &mut orbit.initial()).unwrap_err();
    assert!(matches!(&error, IntegrateError::Refused { reason } if reason.contains("run.fast")), "{error}");
    let start = || State { q: vec![1.0], v: vec![0.0], ..State::default() };
    let idle = Tagged { mass: 1.0, acts: false };
    let error = make("multirate", &none()).unwrap().start(&idle, &mut start()).unwrap_err();
    assert!(
        matches!(&error, IntegrateError::Refused { reason } if reason.contains("no variable to move fast")),
        "{error}"
    );
    // Without mass an explicit scheme has nothing to divide by.
    let weightless = Tagged { mass: 0.0, acts: true };
    let mut s = start();
    let mut explicit = make("multirate", &scheme((0.0, 0.0))).unwrap();
    let error =
        explicit.start(&weightless, &mut s).err().or_else(|| explicit.step(&weightless, &mut s, 1.0).err()).unwrap();
    assert!(matches!(&error, IntegrateError::SingularMass { velocity, .. } if velocity == "velocity 0"), "{error}");
}
