//! Variational integrators against their theory: orders, symplecticity, momenta, energy, reversal, refusals.
#![allow(clippy::unwrap_used)]

mod centres;
mod directors;
mod fitted;
mod lie;
mod long;
mod lossy;
mod multirate;
mod systems;

use dalembert_methods::integrate::{IntegrateError, Integrator, RungeKutta, Settings};
use dalembert_methods::lie::Quat;
use dalembert_methods::problems::{
    self, ForcedOscillator, FreeBody, Kepler, Links, Pendulum, Problem, RotatingWire, Sleigh, Top,
};
use dalembert_methods::vector::Vec3;
use dalembert_methods::{State, System};
use systems::{distance, end_error, make, reference, run, try_run};

fn none() -> Settings {
    Settings::default()
}

/// A method by name, its settings and its order.
type Member = (&'static str, Settings, u32);

/// Every member of the family that is for all systems.
fn members() -> Vec<Member> {
    let mut out: Vec<Member> = Vec::new();
    for alpha in [0.5, 0.0, 0.25] {
        out.push(("variational", none().with("alpha", alpha), 2));
    }
    for order in [4, 6, 8] {
        out.push(("variational", none().with("composition", f64::from(order)), order));
        out.push(("lie_group", none().with("composition", f64::from(order)), order));
    }
    for degree in 1..=4 {
        for name in ["galerkin_gauss", "galerkin_lobatto"] {
            out.push((name, none().with("degree", f64::from(degree)), 2 * degree));
        }
    }
    for degree in [2, 4] {
        out.push(("galerkin_chebyshev", none().with("degree", f64::from(degree)), degree + 2));
    }
    out.push(("variational", none().with("null_space", 1.0), 2));
    out
}

/// Errors at a number of steps and at twice as many differ by 2^order. Rungs are climbed until the error is small enough for the leading term to
/// rule and large against rounding.
fn order(name: &str, promised: u32, error: impl Fn(u32) -> f64) {
    let goal = [1e-3, 1e-5, 1e-7, 1e-8][(promised / 2 - 1) as usize];
    let mut steps = 4;
    let mut now = error(steps);
    while now > goal {
        steps *= 2;
        now = error(steps);
    }
    let (fine, order) = (error(2 * steps), f64::from(promised));
    // Methods of order 8 fall faster until the leading term rules alone, and meet rounding soon after.
    let above = if promised < 8 { 0.25 } else { 0.5 };
    let floor = rounding(2 * steps, OPERATIONS, 5.0);
    let [most, least] = [order - 0.25, order + above].map(|order| now / order.exp2());
    let found = (now / fine).log2();
    assert!(
        least - floor < fine && fine < most + floor,
        "{name}: order {found} from {steps} steps, errors {now:e} {fine:e}"
    );
}

#[test]
fn orders_are_as_promised_on_every_kind_of_system() {
    fn on<P: Problem>(problem: &P) {
        for (name, settings, promised) in members() {
            let what = format!("{name} {settings:?} on {}", problem.name());
            order(&what, promised, |n| end_error(problem, name, &settings, n));
        }
    }
    on(&Kepler::default());
    on(&FreeBody::default());
    on(&Pendulum::default());
    on(&RotatingWire::default());
    on(&ForcedOscillator::default());
}

#[test]
fn orders_hold_with_varying_masses_and_on_the_rotation_group() {
    let links = Links::default();
    let top = Top::default();
    let spin = top.initial();
    let apart = |found: Result<State<f64>, IntegrateError>, end: &State<f64>| {
        found.map_or(f64::INFINITY, |s| distance(&s, end))
    };
    let ends = (reference(&links, &links.initial(), 2.0), reference(&top, &spin, 2.0));
    for (name, settings, promised) in members() {
        if promised < 8 {
            let what = format!("{name} {settings:?}");
            order(&what, promised, |n| apart(try_run(&links, &links.initial(), name, &settings, 2.0, n), &ends.0));
            order(&what, promised, |n| apart(try_run(&top, &spin, name, &settings, 2.0, n), &ends.1));
        }
    }
}

/// The Jacobian of one step in pairs of directions, and the largest entry of Jᵀ B J − B₀ for the symplectic forms at both ends.
///
/// `moved(state, k, ε)` moves along the k-th direction of (q, p); `apart(a, b)` gives the components from a to b.
fn symplectic_defect(
    size: usize,
    step: impl Fn(&State<f64>) -> State<f64>,
    start: &State<f64>,
    moved: impl Fn(&State<f64>, usize, f64) -> State<f64>,
    apart: impl Fn(&State<f64>, &State<f64>) -> Vec<f64>,
    form: impl Fn(&State<f64>, &[f64], &[f64]) -> f64,
) -> f64 {
    let epsilon = 1e-5;
    let end = step(start);
    let columns: Vec<Vec<f64>> = (0..size)
        .map(|k| {
            let [plus, minus] = [epsilon, -epsilon].map(|e| apart(&end, &step(&moved(start, k, e))));
            plus.iter().zip(&minus).map(|(p, m)| (p - m) / (2.0 * epsilon)).collect()
        })
        .collect();
    let unit = |k: usize| (0..size).map(|i| f64::from(u8::from(i == k))).collect::<Vec<_>>();
    let mut worst: f64 = 0.0;
    for (i, j) in (0..size).flat_map(|i| (0..i).map(move |j| (i, j))) {
        worst = worst.max((form(&end, &columns[i], &columns[j]) - form(start, &unit(i), &unit(j))).abs());
    }
    worst
}

/// dq ∧ dp of a step from (q, p): truncation ε²/6 times third derivatives and rounding ulp/ε are both below 1e-9 here. A method that is not
/// symplectic misses it by its error.
#[test]
fn steps_are_symplectic() {
    let canonical = |_: &State<f64>, a: &[f64], b: &[f64]| (0..2).map(|i| a[i] * b[2 + i] - a[2 + i] * b[i]).sum();
    let nudged = |s: &State<f64>, k: usize, e: f64| {
        let mut s = s.clone();
        if k < 2 {
            s.q[k] += e
        } else {
            s.v[k - 2] += e
        }
        s
    };
    let differences = |a: &State<f64>, b: &State<f64>| -> Vec<f64> {
        (0..4).map(|k| if k < 2 { b.q[k] - a.q[k] } else { b.v[k - 2] - a.v[k - 2] }).collect()
    };
    let orbit = Kepler::default();
    let links = Links::default();
    let defects = |name: &str, settings: &Settings| {
        let one = |h: f64| settings.clone().with("fixed_step", h);
        let plane = symplectic_defect(
            4,
            |s| run(&orbit, s, name, &one(0.3), 0.3, 1),
            &orbit.initial(),
            nudged,
            differences,
            canonical,
        );
        let angles = symplectic_defect(
            4,
            |s| run(&links, s, name, &one(0.1), 0.1, 1),
            &links.initial(),
            |s, k, e| {
                let mut p = links.momentum(s);
                let mut s = s.clone();
                if k < 2 {
                    s.q[k] += e
                } else {
                    p[k - 2] += e
                }
                // v = M⁻¹ p by the two columns of M.
                let column = |unit: [f64; 2]| links.momentum(&State { v: unit.to_vec(), ..s.clone() });
                let ([a, b], [_, c]) = (column([1.0, 0.0]), column([0.0, 1.0]));
                let size = a * c - b * b;
                s.v = vec![(c * p[0] - b * p[1]) / size, (a * p[1] - b * p[0]) / size];
                s
            },
            |a, b| {
                let (p, r) = (links.momentum(a), links.momentum(b));
                vec![b.q[0] - a.q[0], b.q[1] - a.q[1], r[0] - p[0], r[1] - p[1]]
            },
            canonical,
        );
        [plane, angles, on_rotations(name, settings)]
    };
    for (name, settings, _) in members() {
        let found = defects(name, &settings);
        assert!(found.iter().all(|&defect| defect < 1e-8), "{name} {settings:?}: {found:?}");
    }
    let other = symplectic_defect(
        4,
        |s| {
            let mut integrator = RungeKutta::dopri5(&none().with("fixed_step", 0.3)).unwrap();
            let mut s = s.clone();
            integrator.start(&orbit, &mut s).unwrap();
            integrator.step(&orbit, &mut s, 0.3).unwrap();
            s
        },
        &orbit.initial(),
        nudged,
        differences,
        canonical,
    );
    assert!(other > 1e-7, "dopri5: {other:e}");
    for chord in [0.5, 1.0, -0.5] {
        let found = on_rotations("lie_group", &none().with("chord", chord));
        assert!(found < 1e-8, "{chord}: {found:e}");
    }
}

/// On a rod the motion is that of an angle θ and its momentum m l² θ̇: dθ ∧ dp is kept by a step with a constraint, up to differences as above.
#[test]
fn steps_with_a_constraint_are_symplectic() {
    let rod = Pendulum::default();
    let (mass, length) = (rod.mass, rod.length);
    let coordinates = |s: &State<f64>| [s.q[0].atan2(-s.q[1]), mass * (s.q[0] * s.v[1] - s.q[1] * s.v[0])];
    let state = |[angle, p]: [f64; 2]| {
        let ((sine, cosine), speed) = (angle.sin_cos(), p / (mass * length));
        State { q: vec![length * sine, -length * cosine], v: vec![speed * cosine, speed * sine], ..State::default() }
    };
    for (name, settings, _) in members() {
        let found = symplectic_defect(
            2,
            |s| run(&rod, s, name, &settings, 0.1, 1),
            &state([0.7, 2.0]),
            |s, k, e| {
                let mut own = coordinates(s);
                own[k] += e;
                state(own)
            },
            |a, b| coordinates(b).iter().zip(coordinates(a)).map(|(b, a)| b - a).collect(),
            |_, a, b| a[0] * b[1] - a[1] * b[0],
        );
        assert!(found < 1e-8, "{name} {settings:?}: {found:e}");
    }
}

/// On the rotations, with body components η of a turn and π of a change of p = JΩ, the form is π_a·η_b − π_b·η_a − p·(η_a × η_b).
fn on_rotations(name: &str, settings: &Settings) -> f64 {
    let top = Top::default();
    let momentum = |s: &State<f64>| Vec3::<f64>(std::array::from_fn(|i| top.inertia[i] * s.v[i]));
    let part = |a: &[f64], first: usize| Vec3::<f64>::from_slice(&a[first..]);
    symplectic_defect(
        6,
        |s| run(&top, s, name, &settings.clone().with("fixed_step", 0.2), 0.2, 1),
        &top.state(0.5, [0.3, 0.4, 2.0]),
        |s, k, e| {
            let mut out = s.clone();
            let delta: Vec<f64> = (0..3).map(|i| if i == k { e } else { 0.0 }).collect();
            top.retract(&s.q, &delta, &mut out.q);
            if k >= 3 {
                out.v[k - 3] += e / top.inertia[k - 3];
            }
            out
        },
        |a, b| {
            let turn = (Quat::from_slice(&a.q).conjugate() * Quat::from_slice(&b.q)).log();
            turn.0.into_iter().chain((momentum(b) - momentum(a)).0).collect()
        },
        |s, a, b| {
            let ((turn, push), (other, pull)) = ((part(a, 0), part(a, 3)), (part(b, 0), part(b, 3)));
            push.dot(other) - pull.dot(turn) - momentum(s).dot(turn.cross(other))
        },
    )
}

/// What rounding adds up to in numbers of a size: each operation is off by an error that is even within half an ulp, of deviation ε/√12, so that
/// n of them have √n of that; six times it is not seen by chance in 1e9 trials.
pub fn rounding(maps: u32, operations: f64, size: f64) -> f64 {
    6.0 * (f64::from(maps) * operations / 12.0).sqrt() * f64::EPSILON * size
}

/// Operations that round something of the size of a momentum in one map, for each coordinate: at every point 2 for each node in the rate, 2 for the velocity and the
/// momentum, 4 for each node where the momentum and the force are added up (products with forces are smaller by h²); one sum of each node, and 5 for h p_k, the
/// division by h, masses, and the state. An error of a sum is in the equation and in what comes out of it, so that it counts once.
pub fn operations(points: f64, degree: f64) -> f64 {
    points * (6.0 * degree + 2.0) + degree + 5.0
}

/// The most of all members that are tested for momenta: degree 2 with three points.
const OPERATIONS: f64 = 49.0;

/// Momenta of symmetries change by rounding only.
#[test]
fn momenta_of_symmetries_are_kept_to_rounding() {
    let steps = 5000_u32;
    let free = Links { gravity: 0.0, ..Links::default() };
    let top = Top::default();
    let spin = top.initial();
    let orbit = Kepler::default();
    for (name, settings, order) in members() {
        if order > 4 {
            continue;
        }
        // A composition of order 4 is five maps.
        let maps = if settings.iter().any(|(key, _)| key == "composition") { 5 * steps } else { steps };
        let degree = settings.iter().find(|(key, _)| *key == "degree").map_or(1.0, |(_, degree)| degree);
        let points = degree + f64::from(name != "galerkin_gauss");
        let bound = |size: f64| rounding(maps, operations(points, degree), size);
        let turning = |s: &State<f64>| s.q[0] * s.v[1] - s.q[1] * s.v[0];
        let s = run(&orbit, &orbit.initial(), name, &settings, 500.0, steps);
        let found = (turning(&s) - turning(&orbit.initial())).abs();
        // |q| |v| at both apsides, in two products.
        assert!(found < bound(1.6), "{name} {settings:?}, orbit: {found:e}");
        let s = run(&free, &free.initial(), name, &settings, 250.0, steps);
        let found = (free.momentum(&s)[0] - free.momentum(&free.initial())[0]).abs();
        // v = M⁻¹ p and p = M v multiply rounding of a momentum of 1.5 kg m²/s by the condition of M, about ten.
        assert!(found < bound(15.0), "{name} {settings:?}, links: {found:e}");
        let s = run(&top, &spin, name, &settings, 100.0, steps);
        let found = (top.momentum(&s)[2] - top.momentum(&spin)[2]).abs();
        // A momentum of about 3 kg m²/s.
        assert!(found < bound(3.0), "{name} {settings:?}, top: {found:e}");
    }
}

/// All members are symmetric: back with reversed velocities is where it began, up to rounding that the motion amplifies.
#[test]
fn time_runs_backwards_too() {
    fn back<P: Problem>(problem: &P, name: &str, settings: &Settings, until: f64) -> f64 {
        let steps = (until / 0.02) as u32;
        let mut s = run(problem, &problem.initial(), name, settings, until, steps);
        s.v.iter_mut().for_each(|v| *v = -*v);
        s.t = 0.0;
        let mut s = run(problem, &s, name, settings, until, steps);
        s.v.iter_mut().for_each(|v| *v = -*v);
        problem.distance(&s, &problem.initial())
    }
    for (name, settings, _) in members() {
        for found in [
            back(&Kepler::default(), name, &settings, 6.0),
            back(&FreeBody::default(), name, &settings, 6.0),
            back(&Pendulum::default(), name, &settings, 3.0),
        ] {
            assert!(found < 2e-11, "{name} {settings:?}: {found:e}");
        }
    }
}

/// Positions and velocities meet their constraints after every step, and between them.
#[test]
fn constraints_hold_at_every_instant() {
    let problem = Pendulum::default();
    for (name, settings, _) in members() {
        let mut integrator = make(name, &settings.with("fixed_step", 0.02)).unwrap();
        let mut s = problem.initial();
        integrator.start(&problem, &mut s).unwrap();
        for _ in 0..50 {
            let step = integrator.step(&problem, &mut s, 3.0).unwrap();
            let mut between = s.clone();
            between.t = step.t + 0.4 * step.h;
            integrator.dense(&problem, &mut between);
            for s in [&s, &between] {
                assert!((s.q[0].hypot(s.q[1]) - problem.length).abs() < 1e-14);
                assert!((s.q[0] * s.v[0] + s.q[1] * s.v[1]).abs() < 1e-14);
            }
        }
    }
}

/// Continuous output is a shorter step: its error is of the order of the method.
#[test]
fn continuous_output_has_the_order_of_the_method() {
    for (name, settings, promised) in members() {
        if promised > 6 {
            continue;
        }
        let orbit = Kepler::default();
        // One step from the exact solution, and its output at seven places.
        let measure = |steps: u32| {
            let h = orbit.until() / f64::from(steps);
            let mut integrator = make(name, &settings.clone().with("fixed_step", h)).unwrap();
            let mut largest: f64 = 0.0;
            for k in (0..steps).step_by(3) {
                let mut s = orbit.exact(f64::from(k) * h).unwrap();
                integrator.start(&orbit, &mut s).unwrap();
                let begin = s.t;
                integrator.step(&orbit, &mut s, begin + h).unwrap();
                for part in 1..8 {
                    s.t = begin + h * f64::from(part) / 8.0;
                    integrator.dense(&orbit, &mut s);
                    largest = largest.max(orbit.distance(&s, &orbit.exact(s.t).unwrap()));
                }
            }
            largest
        };
        let mut steps = 32;
        while measure(steps) > [1e-4, 1e-7, 1e-9][(promised / 2 - 1) as usize] {
            steps *= 2;
        }
        let found = (measure(steps) / measure(2 * steps)).log2();
        assert!((found - f64::from(promised + 1)).abs() < 0.4, "{name} {settings:?}: {found}");
    }
}

/// Output just after a step, as rows are that meet it up to the rounding of time, is the state there moved on by its share of the way of a whole step, along which rates of these motions, slower than 5 rad/s, change by a tenth:
/// one and a half shares are allowed. Beside that rounding of places of size one, and of velocities, which a method's own short step would make from a hundredth of an ulp over its length: at the shortest, 2e-6 of 0.02 s, 5e-11.
#[test]
fn output_just_after_a_step_is_that_step() {
    fn check<P: Problem>(problem: &P, name: &str, settings: &Settings) {
        let h = 0.02;
        let mut integrator = make(name, &settings.clone().with("fixed_step", h)).unwrap();
        let mut s = problem.initial();
        integrator.start(problem, &mut s).unwrap();
        for _ in 0..20 {
            integrator.step(problem, &mut s, f64::INFINITY).unwrap();
        }
        let base = s.clone();
        integrator.step(problem, &mut s, f64::INFINITY).unwrap();
        let whole = distance(&s, &base);
        for part in [1e-14, 1e-12, 1e-9, 9e-7, 2e-6] {
            s.t = base.t + part * h;
            integrator.dense(problem, &mut s);
            let (found, bound) = (distance(&s, &base), 1.5 * part * whole + 1e-10);
            assert!(found < bound, "{name} {settings:?} on {}, {part:e} of a step: {found:e}", problem.name());
        }
    }
    for (name, settings, _) in members() {
        check(&Kepler::default(), name, &settings);
        check(&FreeBody::default(), name, &settings);
        check(&Pendulum::default(), name, &settings);
    }
    check(&Kepler::default(), "phase_fitted", &none());
}

#[test]
fn what_cannot_be_done_is_said() {
    fn refused<P: Problem>(problem: &P, name: &str, settings: &Settings) -> String {
        let mut integrator = make(name, settings).unwrap();
        let error = integrator.start(problem, &mut problem.initial()).unwrap_err();
        assert!(matches!(error, IntegrateError::Refused { .. }), "{error}");
        error.to_string()
    }
    assert!(refused(&problems::Oscillator::default(), "variational", &none()).contains("extra states"));
    assert!(refused(&Sleigh::default(), "galerkin_gauss", &none()).contains("on velocities"));
    assert!(refused(&FreeBody::default(), "phase_fitted", &none()).contains("lie_group"));
    assert!(make::<Kepler>("variational", &none().with("composition", 5.0)).is_err());
    // Half a turn in a step: sines of all amplitudes pass through both ends, or none. Splines do not mind, and neither do sines a little beside it.
    let half = |h: f64| none().with("frequency", 2.0).with("fixed_step", h);
    let reason = refused(&ForcedOscillator::default(), "phase_fitted", &half(0.5 * std::f64::consts::PI));
    assert!(reason.contains("1.0000 times π") && reason.contains("`fixed_step` or `frequency`"), "{reason}");
    for settings in [half(1.5), half(0.5 * std::f64::consts::PI).with("fitted", 2.0)] {
        let (problem, mut method) = (ForcedOscillator::default(), make("phase_fitted", &settings).unwrap());
        method.start(&problem, &mut problem.initial()).unwrap();
    }
    assert!(refused(&problems::Oscillator::default(), "variational", &none()).contains("`extra state 0`"));

    // A step of a third of a turn is too long for Newton's method on a hanging rod.
    let problem = Pendulum::default();
    let mut integrator = make("variational", &none().with("fixed_step", 2.0)).unwrap();
    let mut s = problem.initial();
    integrator.start(&problem, &mut s).unwrap();
    let error = integrator.step(&problem, &mut s, 10.0).unwrap_err();
    assert!(matches!(error, IntegrateError::NotConverged { what: "variational", .. }), "{error}");
    assert_eq!(s, problem.initial());
    assert!(error.to_string().contains("smaller steps"), "{error}");

    let weightless = Top { inertia: [1.0, 0.0, 1.0], weight: 1.0 };
    let mut s = weightless.state(0.3, [0.0; 3]);
    let mut integrator = make("lie_group", &none()).unwrap();
    let error = integrator.start(&weightless, &mut s).unwrap_err();
    assert!(matches!(&error, IntegrateError::SingularMass { velocity, .. } if velocity == "turn 1"), "{error}");
}

/// Gauss points keep quadratic invariants, and energy and work of a forced linear system are one together: it stays to rounding.
#[test]
fn energy_and_work_balance_to_rounding() {
    let problem = ForcedOscillator::default();
    let end = run(&problem, &problem.initial(), "galerkin_gauss", &none().with("degree", 3.0), 3.0, 50);
    let [before, after] = [problem.initial(), end].map(|s| problem.invariants(&s)[0]);
    assert!((after - before).abs() < 100.0 * f64::EPSILON * before, "{:e}", after - before);
}

/// Without multipliers, in as many unknowns as there are freedoms, the motion is the same up to rounding of both: of places of size one in 200 steps, which
/// a pendulum amplifies by its phase, n²/2 at most.
#[test]
fn the_null_space_gives_the_same_motion_as_multipliers() {
    fn apart<P: Problem>(problem: &P, settings: &Settings, h: f64) -> f64 {
        let runs = [0.0, 1.0].map(|null_space| {
            let settings = settings.clone().with("null_space", null_space);
            run(problem, &problem.initial(), "variational", &settings, 200.0 * h, 200)
        });
        distance(&runs[0], &runs[1])
    }
    let bound = 2e4 * f64::EPSILON;
    for settings in [none(), none().with("alpha", 0.0), none().with("composition", 4.0)] {
        let swing = apart(&Pendulum::default(), &settings, 0.01);
        let wire = apart(&RotatingWire::default(), &settings, 0.005);
        let atoms = apart(&problems::Atoms { cells: 3, far: true }, &settings, 0.002);
        println!("{settings:?}: {swing:.1e} {wire:.1e} {atoms:.1e}");
        assert!(swing < bound && wire < bound && atoms < bound, "{settings:?}: {swing:e} {wire:e} {atoms:e}");
    }
}

/// A second method that takes over memory and state goes on with the same bits: matrices, guesses, frequencies and multipliers are part of the memory.
#[test]
fn continued_runs_have_the_same_bits() {
    fn check<P: Problem>(problem: &P, name: &str, settings: &Settings, h: f64) {
        let settings = settings.clone().with("fixed_step", h);
        let mut first = make(name, &settings).unwrap();
        let mut s = problem.initial();
        first.start(problem, &mut s).unwrap();
        for _ in 0..30 {
            first.step(problem, &mut s, f64::INFINITY).unwrap();
        }
        let (mut copy, mut second) = (s.clone(), make(name, &settings).unwrap());
        second.start(problem, &mut copy).unwrap();
        second.recall(&first.memory());
        for _ in 0..30 {
            first.step(problem, &mut s, f64::INFINITY).unwrap();
            second.step(problem, &mut copy, f64::INFINITY).unwrap();
        }
        assert_eq!(s, copy, "{name} {settings:?} on {}", problem.name());
    }
    for (name, settings) in [
        ("phase_fitted", none()),
        ("phase_fitted", none().with("estimate", 1.0)),
        ("variational", none()),
        ("galerkin_gauss", none()),
    ] {
        check(&Kepler::default(), name, &settings, 0.1);
    }
    for (slow, fast) in [(0.5, 0.5), (0.0, 0.5), (0.0, 0.0)] {
        let settings = none().with("slow_alpha", slow).with("fast_alpha", fast).with("micro_steps", 3.0);
        check(&problems::Chain::default(), "multirate", &settings, 0.03);
        check(&problems::Atoms { cells: 2, far: true }, "multirate", &settings, 0.01);
    }
}
