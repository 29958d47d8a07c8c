//! MEXX against its theory: orders of columns and of continuous output, control, constraints, work.
#![allow(clippy::unwrap_used)]

use crate::support::{Auto, Chain, Formula, advance, distance};
use dalembert_methods::algebra::Mass;
use dalembert_methods::check::{self, CheckError, Convergence, ladder};
use dalembert_methods::dynamics::Dynamics;
use dalembert_methods::integrate::{Counts, IntegrateError, Integrator, Mexx, Settings, SettingsError, create};
use dalembert_methods::problems::{Kepler, Oscillator, Pendulum, Problem, RotatingWire, Sleigh, Visitor, each};
use dalembert_methods::{Real, Shape, State};

/// Something to be done with every problem that is not stiff.
trait Task {
    fn run<P: Problem>(&mut self, problem: &P);
}

struct NotStiff<T>(T);

impl<T: Task> Visitor for NotStiff<T> {
    fn visit<P: Problem>(&mut self, problem: &P) {
        if !problem.stiff() {
            self.0.run(problem);
        }
    }
}

/// Columns without error control; tight, so that projections leave nothing to see.
fn columns(k: u32) -> Settings {
    Settings::default().with("tolerance", 1e-13).with("fixed_order", f64::from(k))
}

/// The largest error at the steps of a run; that at its end alone may pass through zero.
fn largest_error<P: Problem>(problem: &P, settings: &Settings) -> Result<f64, CheckError> {
    let mut method = create("mexx", settings).map_err(|error| CheckError::Method(error.to_string()))?;
    let mut s = problem.initial();
    method.start(problem, &mut s).map_err(CheckError::Run)?;
    let mut largest = 0.0_f64;
    while s.t < problem.until() {
        method.step(problem, &mut s, problem.until()).map_err(CheckError::Run)?;
        largest = largest.max(problem.distance(&s, &problem.exact(s.t).unwrap()));
    }
    Ok(largest)
}

/// Errors below this are rounding: ε grown by the weights of six columns (280) and by a few hundred steps.
const FLOOR: f64 = 1e-12;

/// Where the order of k columns shows: coarser for low orders (work), finer for high ones (where h is small enough).
const FROM: [f64; 5] = [0.2, 1e-2, 1e-3, 1e-6, 1e-7];

/// k columns have order k. Least squares over six step sizes; the next term of the expansion still shows in the last digit. (More columns
/// reach rounding before the leading term stands alone; their order shows in single steps, below.)
#[test]
fn columns_have_their_order() {
    struct Order;
    impl Task for Order {
        fn run<P: Problem>(&mut self, problem: &P) {
            for k in 1..=5_u32 {
                let step = |n: u32| problem.until() / f64::from(n);
                let measure = |n: u32| largest_error(problem, &columns(k).with("fixed_step", step(n)));
                let steps = ladder(FROM[k as usize - 1], measure);
                let points = steps.iter().map(|&n| (step(n), measure(n).unwrap())).collect();
                let found = Convergence::new(points, FLOOR);
                println!("{} {k}: {:.3}", problem.name(), found.exponent);
                assert!((found.exponent - f64::from(k)).abs() < 0.3, "{} {k}: {found:?}", problem.name());
            }
        }
    }
    each(&mut NotStiff(Order));
}

/// Random numbers in (0, 1) that are the same on every machine (Knuth's MMIX generator).
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }
}

/// The largest errors of single steps of length `until`/n that begin with the exact solution: at their ends, and of continuous output at
/// eight random times inside them, the same in all.
fn single_steps<P: Problem>(problem: &P, settings: &Settings, n: u32) -> [f64; 2] {
    let h = problem.until() / f64::from(n);
    let mut method = create("mexx", &settings.clone().with("fixed_step", h)).unwrap();
    let mut random = Random(7);
    let inside: [f64; 8] = std::array::from_fn(|_| random.next());
    let mut largest = [0.0_f64; 2];
    for i in 0..n {
        let mut s = problem.exact(f64::from(i) * h).unwrap();
        method.start(problem, &mut s).unwrap();
        let step = method.step(problem, &mut s, f64::INFINITY).unwrap();
        let work = method.counts();
        largest[0] = largest[0].max(problem.distance(&s, &problem.exact(s.t).unwrap()));
        for part in inside {
            s.t = step.t + part * step.h;
            method.dense(problem, &mut s);
            largest[1] = largest[1].max(problem.distance(&s, &problem.exact(s.t).unwrap()));
        }
        assert_eq!(method.counts(), work, "continuous output costs nothing");
    }
    largest
}

/// One step with k columns has the error H^{k+1}, at its end and inside.
#[test]
fn single_steps_and_continuous_output_have_the_order_of_the_columns() {
    struct Single;
    impl Task for Single {
        fn run<P: Problem>(&mut self, problem: &P) {
            for k in 1..=6_u32 {
                let from = if k < 4 { 1e-2 } else { 1e-7 };
                let steps = ladder(from, |n| Ok(single_steps(problem, &columns(k), n)[1]));
                let errors: Vec<_> = steps.iter().map(|&n| (n, single_steps(problem, &columns(k), n))).collect();
                for (which, place) in ["end", "inside"].iter().enumerate() {
                    let points = errors.iter().map(|(n, errors)| (1.0 / f64::from(*n), errors[which])).collect();
                    let found = Convergence::new(points, 2e-13);
                    println!("{} {k} {place}: {:.3}", problem.name(), found.exponent);
                    let expected = f64::from(k) + 1.0;
                    assert!(found.exponent > expected - 0.25, "{} {k} {place}: {found:?}", problem.name());
                }
            }
        }
    }
    each(&mut NotStiff(Single));
}

/// At both ends of a step the output is the state, but for the projection, which is as small as the tolerance.
#[test]
fn continuous_output_begins_and_ends_with_the_step() {
    let problem = Pendulum::default();
    for tolerance in [1e-4, 1e-8, 1e-12] {
        let mut method = create("mexx", &Settings::default().with("tolerance", tolerance)).unwrap();
        let mut s = problem.initial();
        method.start(&problem, &mut s).unwrap();
        let mut out = s.clone();
        for _ in 0..5 {
            let before = s.clone();
            method.step(&problem, &mut s, 3.0).unwrap();
            out.t = before.t;
            method.dense(&problem, &mut out);
            assert_eq!(out, before);
            out.t = s.t;
            method.dense(&problem, &mut out);
            // Sizes below 10, and the projection is a part of the local error.
            assert!(distance(&out, &s) < 10.0 * tolerance, "{tolerance:e}: {:e}", distance(&out, &s));
        }
    }
}

/// Errors follow the tolerance with exponent 1, and both levels of constraints are met after each step.
#[test]
fn errors_follow_the_tolerance_on_the_constraints() {
    struct Follow;
    impl Task for Follow {
        fn run<P: Problem>(&mut self, problem: &P) {
            let measure = |tolerance: f64| {
                let mut method = create("mexx", &Settings::default().with("tolerance", tolerance)).unwrap();
                let mut dynamics = Dynamics::new(problem);
                let mut s = problem.initial();
                method.start(problem, &mut s).unwrap();
                let mut largest = 0.0_f64;
                while s.t < problem.until() {
                    let step = method.step(problem, &mut s, problem.until()).unwrap();
                    assert!(step.error.unwrap() <= 1.0);
                    let (position, velocity) = dynamics.residuals(problem, &s).unwrap();
                    assert!(position.relative < 1e-12 && velocity.relative < 1e-12, "{position:?} {velocity:?}");
                    largest = largest.max(problem.distance(&s, &problem.exact(s.t).unwrap()));
                }
                assert_eq!(s.t, problem.until());
                (tolerance, largest)
            };
            let points: Vec<_> = (4..=12).map(|e| measure(10_f64.powi(-e))).collect();
            for (tolerance, error) in &points {
                // Sums of at most a few hundred local errors, amplified by the motion.
                assert!(*error < 100.0 * tolerance, "{} at {tolerance:e}: {error:e}", problem.name());
            }
            let found = Convergence::new(points, 2e-13);
            println!("{}: {found:?}", problem.name());
            assert!((0.85..1.15).contains(&found.exponent), "{}: {found:?}", problem.name());
        }
    }
    each(&mut NotStiff(Follow));
}

/// k columns: 1 + Σ(n_j − 1) forces, Σ n_j factorisations and solves; the start checks the state with one force, two factorisations and
/// one solve. Projections: the sleigh has velocity rows only (one factorisation, one solve for each step).
#[test]
fn work_is_as_promised() {
    for k in 1..=12_u64 {
        let settings = Settings::default().with("fixed_step", 0.01).with("fixed_order", k as f64);
        let counts = steps(&Sleigh::default(), &settings, 10);
        let (forces, solves) = (1 + k * (k - 1) / 2, k * (k + 1) / 2);
        let expected = Counts {
            steps: 10,
            forces: 1 + 10 * forces,
            factorisations: 2 + 10 * (solves + 1),
            solves: 1 + 10 * (solves + 1),
            projections: 10,
            ..Counts::default()
        };
        assert_eq!(counts, expected, "{k} columns");
        // The rod has positions, too: with more than a few columns one factorisation more, and one or two iterations.
        let counts = steps(&Pendulum::default(), &settings, 10);
        let most = if k < 4 { 3 } else { 2 };
        assert_eq!(counts.forces, 1 + 10 * forces, "{k} columns");
        assert!(counts.factorisations <= 2 + 10 * (solves + most), "{k} columns: {counts:?}");
        assert!(counts.projections <= 10 * (most + 1), "{k} columns: {counts:?}");
        // Without constraints there is nothing to factor.
        let counts = steps(&Kepler::default(), &settings, 10);
        assert_eq!(counts, Counts { steps: 10, forces: 1 + 10 * forces, ..Counts::default() });
    }
}

fn steps<P: Problem>(problem: &P, settings: &Settings, n: u32) -> Counts {
    let mut method = create("mexx", settings).unwrap();
    let mut s = problem.initial();
    method.start(problem, &mut s).unwrap();
    for _ in 0..n {
        method.step(problem, &mut s, f64::INFINITY).unwrap();
    }
    method.counts()
}

/// The order that is chosen, and may change by one inside a step, is cheaper than any prescribed one, and grows as tolerances tighten.
#[test]
fn the_order_is_chosen_well() {
    struct Cheapest;
    impl Task for Cheapest {
        fn run<P: Problem>(&mut self, problem: &P) {
            let mut last = 0.0;
            for tolerance in [1e-4, 1e-8, 1e-12] {
                let settings = Settings::default().with("tolerance", tolerance);
                let work = |settings: &Settings| {
                    let counts = check::end_error(problem, "mexx", settings).unwrap().1;
                    (counts.forces + counts.factorisations, counts.forces as f64 / counts.steps as f64)
                };
                let (chosen, columns) = work(&settings);
                let fixed = |k: u32| work(&settings.clone().with("fixed_order", f64::from(k))).0;
                let best = (3..=10).map(fixed).min().unwrap();
                println!("{} {tolerance:e}: {chosen}, best {best}, {columns:.1} forces each", problem.name());
                assert!(chosen <= best, "{} {tolerance:e}: {chosen} {best}", problem.name());
                assert!(columns > last);
                last = columns;
            }
        }
    }
    each(&mut NotStiff(Cheapest));
}

/// Where the order is kept low, errors fall fast from column to column; no step is thrown away for that.
#[test]
fn a_low_largest_order_does_not_cause_rejections() {
    let settings = Settings::default().with("tolerance", 1e-10).with("largest_order", 5.0);
    let (error, counts) = check::end_error(&Oscillator::default(), "mexx", &settings).unwrap();
    assert!(error < 1e-8 && counts.rejected * 20 < counts.steps, "{error:e} {counts:?}");
}

/// The same row three times changes nothing but the split of its force; the integral sees their sum.
#[test]
fn repeated_constraints_give_the_same_motion() {
    let rod = |copies| Auto(crate::support::Pendulum { amplitude: 0.2, copies });
    let end = |copies, settings: &Settings| {
        let y = rod(copies);
        let mut s = y.0.state();
        let mut method = Mexx::new(settings).unwrap();
        method.start(&y, &mut s).unwrap();
        advance(&y, &mut s, &mut method, 2.0);
        s
    };
    for settings in [Settings::default().with("tolerance", 1e-10), columns(5).with("fixed_step", 0.02)] {
        let (one, three) = (end(1, &settings), end(3, &settings));
        // Rounding, grown by the weights of the columns and by 2 s of a motion with rates up to 10/s.
        assert!(distance(&one, &three) < 1e-10, "{:e}", distance(&one, &three));
    }
    // The work of the rod, of which the integral is made, balances the energy.
    let y = rod(3);
    for tolerance in [1e-6, 1e-9, 1e-12] {
        let s = end(3, &Settings::default().with("tolerance", tolerance));
        let change = y.0.balance(&s) - y.0.balance(&y.0.state());
        assert!(change.abs() < 300.0 * tolerance, "{tolerance:e}: {change:e}");
    }
}

/// Three equal cranks that carry a coupler: three particles on circles, each two of them at a fixed distance. The distance of the
/// outer two follows from the others where these hold, and only there.
struct Cranks;

impl Formula for Cranks {
    fn shape(&self) -> Shape {
        Shape { q: 6, v: 6, g: 6, ..Shape::default() }
    }
    fn mass<R: Real>(&self, _q: &[R], out: &mut Mass<R>) {
        out.block_mut(0).fill(R::one());
    }
    fn force<R: Real>(&self, _t: R, _q: &[R], _v: &[R], _x: &[R], out: &mut [R]) {
        out.fill(R::zero());
    }
    fn constraint<R: Real>(&self, _t: R, q: &[R], out: &mut [R]) {
        for i in 0..3 {
            out[i] = (q[2 * i] - 2.0 * i as f64).square() + q[2 * i + 1].square() - 1.0;
            let j = (i + 1) % 3;
            let length = if j == 0 { 4.0 } else { 2.0 };
            out[3 + i] = (q[2 * i] - q[2 * j]).square() + (q[2 * i + 1] - q[2 * j + 1]).square() - length * length;
        }
    }
    fn magnitude(&self, _q: &[f64], out: &mut [f64]) {
        out.fill(1.0);
    }
}

/// Coarse columns leave the constraints far enough for the dependent row to seem independent; the mechanism must keep turning.
#[test]
fn a_mechanism_that_is_redundant_only_on_its_constraints_keeps_turning() {
    let y = Auto(Cranks);
    let exact = |angle: f64| {
        let (sine, cosine) = angle.sin_cos();
        let mut s = State::zeros(y.0.shape());
        s.t = angle;
        for i in 0..3 {
            s.q[2 * i..2 * i + 2].copy_from_slice(&[2.0 * i as f64 + cosine, sine]);
            s.v[2 * i..2 * i + 2].copy_from_slice(&[-sine, cosine]);
        }
        s
    };
    for tolerance in [1e-4, 1e-6, 1e-8, 1e-10] {
        let mut s = exact(0.5);
        let mut method = Mexx::new(&Settings::default().with("tolerance", tolerance)).unwrap();
        method.start(&y, &mut s).unwrap();
        advance(&y, &mut s, &mut method, 2.6);
        let error = distance(&s, &exact(2.6));
        println!("{tolerance:e}: {error:e} {:?}", method.counts());
        assert!(error < 30.0 * tolerance, "{tolerance:e}: {error:e} {:?}", method.counts());
    }
}

/// Masses that depend on the position, rotations, a constraint in time and an extra state, all at once, against `dop853`.
#[test]
fn a_chain_of_bodies_converges_to_the_same_motion() {
    let y = Auto(Chain { bodies: 2 });
    let mut start = y.0.state();
    let mut dynamics = Dynamics::new(&y);
    dynamics.project_position(&y, &mut start, 1e-10).unwrap();
    dynamics.project_velocity(&y, &mut start).unwrap();
    let end = |method: &str, settings: &Settings| {
        let mut s = start.clone();
        let mut method = create(method, settings).unwrap();
        method.start(&y, &mut s).unwrap();
        advance(&y, &mut s, &mut *method, start.t + 0.5);
        s
    };
    let reference = end("dop853", &Settings::default().with("tolerance", 1e-13));
    for k in 2..=5_u32 {
        let error = |n: u32| distance(&end("mexx", &columns(k).with("fixed_step", 0.5 / f64::from(n))), &reference);
        let n = [256, 128, 64, 32][k as usize - 2];
        let (coarse, fine) = (error(n), error(2 * n));
        let order = (coarse / fine).log2();
        println!("{k}: {coarse:e} {fine:e} {order}");
        assert!((order - f64::from(k)).abs() < 0.3, "{k}: {coarse:e} {fine:e} {order}");
    }
    for tolerance in [1e-5, 1e-8, 1e-11] {
        let error = distance(&end("mexx", &Settings::default().with("tolerance", tolerance)), &reference);
        assert!(error < 30.0 * tolerance, "{tolerance:e}: {error:e}");
    }
}

/// A run cut after some steps and continued by a new integrator has the same bits, dependent rows included.
#[test]
fn continued_runs_have_the_same_bits() {
    let y = Auto(crate::support::Pendulum { amplitude: 0.2, copies: 2 });
    let tight = Settings::default().with("tolerance", 1e-11);
    for (stop, settings) in [(1, Settings::default()), (7, columns(4).with("fixed_step", 0.01)), (3, tight)] {
        let mut s = y.0.state();
        let mut method = Mexx::new(&settings).unwrap();
        method.start(&y, &mut s).unwrap();
        for _ in 0..stop {
            method.step(&y, &mut s, 3.0).unwrap();
        }
        let (mut copy, memory) = (s.clone(), method.memory());
        let mut second = Mexx::new(&settings).unwrap();
        second.start(&y, &mut copy).unwrap();
        second.recall(&memory);
        for _ in 0..6 {
            assert_eq!(method.step(&y, &mut s, 3.0), second.step(&y, &mut copy, 3.0));
            assert_eq!(s, copy);
        }
        assert_eq!(method.memory(), second.memory());
    }
}

#[test]
fn steps_end_where_they_are_asked_to() {
    let problem = RotatingWire::default();
    let mut method = create("mexx", &Settings::default().with("largest_step", 0.3)).unwrap();
    let mut s = problem.initial();
    method.start(&problem, &mut s).unwrap();
    for until in [0.1, 0.100001, 0.77, 1.3, 2.0] {
        while s.t < until {
            let step = method.step(&problem, &mut s, until).unwrap();
            assert!(step.h <= 0.3 * 1.01 && s.t <= until);
        }
        assert_eq!(s.t, until);
    }
    assert!(problem.distance(&s, &problem.exact(2.0).unwrap()) < 1e-7);
    assert!(matches!(method.step(&problem, &mut s, 1.0), Err(IntegrateError::Refused { .. })));
}

#[test]
fn settings_and_starts_that_make_no_sense_are_refused() {
    let wrong = Mexx::<Kepler>::new(&Settings::default().with("fixed_order", 1.0)).err();
    assert!(matches!(wrong, Some(SettingsError::Range { name: "fixed_order", .. })), "{wrong:?}");
    assert!(Mexx::<Kepler>::new(&Settings::default().with("largest_order", 40.0)).is_err());
    let problem = Pendulum::default();
    let mut method = Mexx::new(&Settings::default()).unwrap();
    let mut s = problem.initial();
    assert!(matches!(method.step(&problem, &mut s, 1.0), Err(IntegrateError::Refused { .. })));
    s.q[1] *= 1.001;
    let error = method.start(&problem, &mut s).unwrap_err();
    assert!(matches!(&error, IntegrateError::Inconsistent { constraint, .. } if constraint == "rod"), "{error}");
}

/// q̈ = 2q³, or q̈ = √(1 − q).
enum Falling {
    Cube,
    Root,
}

impl Formula for Falling {
    fn shape(&self) -> Shape {
        Shape { q: 1, v: 1, ..Shape::default() }
    }
    fn mass<R: Real>(&self, _q: &[R], out: &mut Mass<R>) {
        out.block_mut(0)[0] = R::one();
    }
    fn force<R: Real>(&self, _t: R, q: &[R], _v: &[R], _x: &[R], out: &mut [R]) {
        out[0] = match self {
            Self::Cube => q[0] * q[0] * q[0] * 2.0,
            Self::Root => (R::one() - q[0]).sqrt(),
        };
    }
}

/// The run ends at the last good state, and says what it met: an infinite solution (q = 1/(1 − t)) and a force that is no number.
#[test]
fn failures_name_what_they_met() {
    let run = |y: &Auto<Falling>, q: f64| {
        let mut method = Mexx::new(&Settings::default()).unwrap();
        let mut s = State { q: vec![q], v: vec![1.0], ..State::default() };
        method.start(y, &mut s).unwrap();
        loop {
            let before = s.clone();
            if let Err(error) = method.step(y, &mut s, 10.0) {
                assert_eq!(s, before);
                return (s, error);
            }
        }
    };
    let (s, error) = run(&Auto(Falling::Cube), 1.0);
    assert!(s.t > 0.999 && s.t < 1.001 && error.to_string().contains("velocity 0"), "{s:?} {error}");
    let (s, error) = run(&Auto(Falling::Root), 0.0);
    assert!(matches!(&error, IntegrateError::NotFinite { what, .. } if what.contains("velocity 0")), "{error}");
    // Forces are those of old states, so the last good step may end a little beyond.
    assert!((s.q[0] - 1.0).abs() < 1e-6, "{s:?}");
}
