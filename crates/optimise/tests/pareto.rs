//! Fronts with known answers, by several methods.
#![allow(clippy::unwrap_used)]

use dalembert_methods::Real;
use dalembert_optimise::pareto::{Front, Goal, Method, Options, ParetoError, Place, Problem, Run, front};
use dalembert_optimise::written::{Second, Written};
use dalembert_optimise::{Bound, Nlp, sqp};
use std::sync::atomic::{AtomicBool, Ordering};

/// Writes goals of x.
type Goals = fn(&[Second], &mut [Second]);

/// A program of x with goals as further variables, tied by equalities, after `more` constraints of its own that the function writes first.
fn tied(goals: Goals, start: &[f64], bounds: Vec<Bound>, more: Vec<Bound>, k: usize) -> Written {
    let (n, m) = (start.len(), more.len());
    let function = move |x: &[Second], c: &mut [Second]| {
        goals(&x[..n], c);
        for i in 0..k {
            c[m + i] = x[n + i] - c[m + i];
        }
        Second::zero()
    };
    let (mut variables, mut constraints, mut start) = (bounds, more, start.to_vec());
    variables.extend(vec![Bound::FREE; k]);
    constraints.extend(vec![Bound::equal(0.0); k]);
    start.extend(vec![1.0; k]);
    Written::new(function, start, variables, constraints)
}

fn goals(n: usize, names: &[&str]) -> Vec<Goal> {
    names.iter().enumerate().map(|(i, name)| Goal::new(n + i, *name)).collect()
}

fn compute(problem: &Problem<'_, '_>, options: &Options, threads: usize) -> Result<Front, ParetoError> {
    let stop = AtomicBool::new(false);
    front(problem, options, &Run { threads, journal: None, stop: &stop }, &mut |_| {})
}

const MASS: f64 = 1.7;
const HEIGHT: f64 = 0.6;
const G: f64 = 9.81;
const INTERVALS: usize = 10;
const SHORTEST: f64 = 0.25;

/// A mass lifted from rest to rest by discrete mechanics and optimal control: midpoint Lagrangian L_d = h (m/2 ((q₁ − q₀)/h)² − m g (q₀ + q₁)/2), forces
/// h (τ_{k−1} + τ_k)/2 at the nodes; x = (q₁ … q_{N−1}, τ₀ … τ_{N−1}, T), goals effort h Σ τ² and time T.
fn lift(x: &[Second], c: &mut [Second]) {
    const N: usize = INTERVALS;
    let time = x[2 * N - 1];
    let h = time / N as f64;
    let q = |k: usize| match k {
        0 => Second::zero(),
        N => Second::from(HEIGHT),
        k => x[k - 1],
    };
    let force = |k: usize| x[N - 1 + k];
    // Momenta m (q₁ − q₀)/h ∓ h/2 (τ − m g) at both ends of an interval; they agree between neighbours and vanish at the ends.
    let side = |k: usize, sign: f64| (q(k + 1) - q(k)) * MASS / h + (force(k) - MASS * G) * h * (0.5 * sign);
    c[0] = side(0, -1.0);
    for k in 1..N {
        c[k] = side(k - 1, 1.0) - side(k, -1.0);
    }
    c[N] = side(N - 1, 1.0);
    c[N + 1] = (0..N).fold(Second::zero(), |sum, k| sum + h * force(k).square());
    c[N + 2] = time;
}

fn lift_program() -> Box<dyn Nlp> {
    const N: usize = INTERVALS;
    let mut start: Vec<f64> = (1..N).map(|k| HEIGHT * k as f64 / N as f64).collect();
    start.extend([MASS * G; N]);
    start.push(1.0);
    let mut bounds = vec![Bound::between(-5.0, 5.0); N - 1];
    bounds.extend(vec![Bound::between(-500.0, 500.0); N]);
    bounds.push(Bound::between(SHORTEST, 4.0));
    Box::new(tied(lift, &start, bounds, vec![Bound::equal(0.0); N + 1], 2))
}

/// Discrete factor of the effort.
fn factor() -> f64 {
    let n = INTERVALS as f64;
    n * n / (n * n - 1.0)
}

fn effort(time: f64) -> f64 {
    12.0 * (MASS * HEIGHT).powi(2) / time.powi(3) * factor() + (MASS * G).powi(2) * time
}

/// The whole front of lifting a mass: J₁ = 12 m² d² / T³ · N²/(N² − 1) + m² g² T from the shortest time to that of least effort, and its slope from the
/// weights, by every method.
#[test]
fn lifting_a_mass_has_the_front_of_the_closed_form() {
    let methods = [
        Method::Reference,
        Method::Constraint { primary: 0 },
        Method::Constraint { primary: 1 },
        Method::Intersection,
        Method::Rays,
    ];
    // dJ₁/dT = 0.
    let slowest = (36.0 * (HEIGHT / G).powi(2) * factor()).powf(0.25);
    let mut volumes = Vec::new();
    for method in methods {
        let options = Options { method: method.clone(), samples: 6, attempts: 1, ..Options::default() };
        let found =
            compute(&Problem::new(&lift_program, goals(2 * INTERVALS, &["effort", "time"])), &options, 2).unwrap();
        println!(
            "{method:?}: {} points, {} solves, {} failed, {} iterations, volume {}",
            found.points.len(),
            found.solves,
            found.failed,
            found.iterations,
            found.hypervolume(None)
        );
        assert!(found.complete && found.points.len() > 15, "{method:?}: {}", found.points.len());
        assert_eq!((found.kinds(), found.parts()), (1, 1), "{method:?}\n{}", found.csv());
        for p in &found.points {
            let (cost, time) = (p.solution.goals[0], p.solution.goals[1]);
            // First-order conditions are met to 1e-8, and the effort near its optimum errs by the square of what x does.
            assert!((cost / effort(time) - 1.0).abs() < 1e-6, "{method:?} T = {time}: {cost} {}", effort(time));
            assert!(p.global, "{method:?}: T = {time}");
            let slope = -36.0 * (MASS * HEIGHT).powi(2) / time.powi(4) * factor() + (MASS * G).powi(2);
            // Ends have any weights between those of the front and none.
            if p.place == Place::Inside && time > SHORTEST + 1e-6 && time < slowest - 1e-3 {
                assert!((p.rate(0, 1) / slope - 1.0).abs() < 1e-4, "{method:?} T = {time}: {} {slope}", p.rate(0, 1));
            }
        }
        let (first, last) = (&found.points[0].solution.goals, &found.points[found.points.len() - 1].solution.goals);
        // The small weight of time at the extreme of effort moves it by 1e-4 of the ranges over the curvature.
        assert!(
            (first[1] - slowest).abs() < 1e-3 && first[0] < effort(slowest) * (1.0 + 1e-6),
            "{method:?}: {first:?} {slowest}"
        );
        assert!((last[1] - SHORTEST).abs() < 1e-6, "{method:?}: {last:?}");
        volumes.push(found.hypervolume(None));
    }
    // The box below the front is the same but for steps of the staircase, each at most half a spacing squared: 20 · 0.05² / 2.
    for volume in &volumes {
        assert!((volume - volumes[0]).abs() < 0.05, "{volumes:?}");
    }
}

fn zdt(g: fn(Second, Second) -> Second) -> impl Fn(&[Second], &mut [Second]) -> Second + Send + Sync + 'static {
    move |x: &[Second], c: &mut [Second]| {
        let n = 6;
        let sum = x[1..n].iter().fold(Second::zero(), |a, b| a + *b);
        let rest = sum * (9.0 / (n as f64 - 1.0)) + 1.0;
        c[0] = x[n] - x[0];
        c[1] = x[n + 1] - rest * g(x[0], rest);
        Second::zero()
    }
}

/// A program of Zitzler, Deb and Thiele (2000): f₁ = x₁, f₂ = g h(f₁, g), g = 1 + 9 mean(x₂ …), with six variables.
fn zdt_program(h: fn(Second, Second) -> Second) -> Box<dyn Nlp> {
    let mut bounds = vec![Bound::between(0.0, 1.0); 6];
    bounds.extend(vec![Bound::FREE; 2]);
    Box::new(Written::new(zdt(h), vec![0.5; 8], bounds, vec![Bound::equal(0.0); 2]))
}

fn first() -> Box<dyn Nlp> {
    zdt_program(|f, g| -(f / g).sqrt() + 1.0)
}
fn second() -> Box<dyn Nlp> {
    zdt_program(|f, g| -(f / g).square() + 1.0)
}
fn third() -> Box<dyn Nlp> {
    zdt_program(|f, g| -(f / g).sqrt() - f / g * (f * (10.0 * std::f64::consts::PI)).sin() + 1.0)
}

/// Convex and hollow fronts, followed and by lattices.
#[test]
fn convex_and_hollow_fronts_are_found_whole() {
    for (name, make, exact) in [
        ("convex", &first as &(dyn Fn() -> Box<dyn Nlp> + Sync), (|f: f64| 1.0 - f.sqrt()) as fn(f64) -> f64),
        ("hollow", &second, |f: f64| 1.0 - f * f),
    ] {
        for method in [Method::Reference, Method::Intersection, Method::Constraint { primary: 1 }] {
            let options = Options { method: method.clone(), samples: 8, attempts: 1, ..Options::default() };
            let found = compute(&Problem::new(make, goals(6, &["f₁", "f₂"])), &options, 2).unwrap();
            println!(
                "{name} {method:?}: {} points, {} solves, {} failed, {} iterations, spacing {:?}",
                found.points.len(),
                found.solves,
                found.failed,
                found.iterations,
                found.spacing()
            );
            assert_eq!(found.parts(), 1, "{name} {method:?}\n{}", found.csv());
            let best = found.best();
            for y in &best {
                // Gaps of x to its five bounds are below 1e-8 over their multipliers; g rises by 9/5 of each.
                assert!(
                    (y[1] - exact(y[0])).abs() < 1e-6 * (1.0 + y[0].max(1e-6).sqrt().recip()),
                    "{name} {method:?}: {y:?}"
                );
            }
            // From end to end without a hole: the arc is at most two long.
            assert!(best[0][0] < 1e-3 && best[best.len() - 1][0] > 0.999, "{name} {method:?}");
            if method == Method::Reference {
                assert!(
                    best.windows(2).all(|w| (w[0][0] - w[1][0]).hypot(w[0][1] - w[1][1]) < 2.2 * options.spacing),
                    "{name}"
                );
            }
        }
    }
}

/// The third one has five parts; their ends are where f₂ has a minimum over f₁, and where it is as low as at the end before (f₁ from
/// both conditions by bisection, see the last lines).
#[test]
fn all_five_parts_of_a_disconnected_front_are_found() {
    let curve = |f: f64| 1.0 - f.sqrt() - f * (10.0 * std::f64::consts::PI * f).sin();
    let bisect = |of: &dyn Fn(f64) -> f64, mut low: f64, mut high: f64| {
        for _ in 0..60 {
            let middle = 0.5 * (low + high);
            *(if of(middle) > 0.0 { &mut high } else { &mut low }) = middle;
        }
        low
    };
    // Minima of f₂ lie between 0.08 and 0.088 plus multiples of about 0.2; parts begin between the maximum before and that.
    let turn = |f: f64| {
        let angle = 10.0 * std::f64::consts::PI * f;
        -0.5 / f.sqrt() - angle.sin() - angle * angle.cos()
    };
    let mut ends: Vec<(f64, f64)> = Vec::new();
    for (low, high) in [(0.06, 0.1), (0.24, 0.27), (0.44, 0.46), (0.64, 0.66), (0.84, 0.86)] {
        let end = bisect(&turn, low, high);
        let begin = ends.last().map_or(0.0, |before| bisect(&|f| curve(before.1) - curve(f), end - 0.09, end));
        ends.push((begin, end));
    }
    let options = Options { spacing: 0.02, samples: 40, ..Options::default() };
    let found = compute(&Problem::new(&third, goals(6, &["f₁", "f₂"])), &options, 2).unwrap();
    println!(
        "{} points, {} solves, {} failed, {} iterations",
        found.points.len(),
        found.solves,
        found.failed,
        found.iterations
    );
    assert_eq!(found.parts(), 5, "{}", found.csv());
    for (part, (low, high)) in ends.into_iter().enumerate() {
        let inside: Vec<&[f64]> =
            found.points.iter().filter(|p| p.part == Some(part)).map(|p| &p.solution.goals[..]).collect();
        let (from, to) = (inside[0][0], inside[inside.len() - 1][0]);
        // Ends are computed with a weight of 1e-4 on the other goal, and lie beside the exact ones by that over the curvature (70 at the first).
        assert!((from - low).abs() < 5e-6 && (to - high).abs() < 5e-6, "{part}: {from} {low}, {to} {high}");
        for y in inside {
            let exact = curve(y[0]);
            assert!((y[1] - exact).abs() < 1e-6 * (1.0 + y[0].max(1e-6).sqrt().recip()), "{y:?} {exact}");
        }
    }
    // Limits of ε-constraint find the same parts, though not their ends.
    let options =
        Options { method: Method::Constraint { primary: 0 }, spacing: 0.02, samples: 40, ..Options::default() };
    let other = compute(&Problem::new(&third, goals(6, &["f₁", "f₂"])), &options, 2).unwrap();
    let (a, b) = (
        found.hypervolume(None),
        other.hypervolume(Some(&found.nadir)) * other.scale[0] * other.scale[1] / (found.scale[0] * found.scale[1]),
    );
    assert!((a - b).abs() < 0.02, "{a} {b}");
}

fn sphere(x: &[Second], c: &mut [Second]) {
    let g = (x[2] - 0.5).square() + (x[3] - 0.5).square() + 1.0;
    let quarter = std::f64::consts::FRAC_PI_2;
    let ((s1, c1), (s2, c2)) = ((x[0] * quarter).sin_cos(), (x[1] * quarter).sin_cos());
    c[0] = g * c1 * c2;
    c[1] = g * c1 * s2;
    c[2] = g * s1;
}

fn octant() -> Box<dyn Nlp> {
    Box::new(tied(sphere, &[0.4, 0.6, 0.2, 0.7], vec![Bound::between(0.0, 1.0); 4], vec![], 3))
}

/// Three goals (the second program of Deb, Thiele, Laumanns and Zitzler 2002): an octant of the unit sphere, hollow everywhere.
#[test]
fn three_goals_cover_an_octant() {
    for method in [Method::Reference, Method::Rays, Method::Constraint { primary: 2 }, Method::Intersection] {
        let options = Options { method: method.clone(), spacing: 0.2, samples: 8, attempts: 1, ..Options::default() };
        let found = compute(&Problem::new(&octant, goals(4, &["a", "b", "c"])), &options, 2).unwrap();
        println!(
            "{method:?}: {} points, {} solves, {} failed, {} iterations",
            found.points.len(),
            found.solves,
            found.failed,
            found.iterations
        );
        let best = found.best();
        for y in &best {
            let radius = y.iter().map(|y| y * y).sum::<f64>().sqrt();
            assert!((radius - 1.0).abs() < 1e-6, "{method:?}: {y:?}");
        }
        assert!(best.len() > 15, "{method:?}: {}", best.len());
        if !matches!(method, Method::Reference | Method::Rays) {
            continue;
        }
        // Every place of the octant is within 1.5 steps of a point (rays are farther apart at the rim than in the middle).
        for i in 0..=10 {
            for j in 0..=10 {
                let (a, b) = (f64::from(i) * 0.05 * std::f64::consts::PI, f64::from(j) * 0.05 * std::f64::consts::PI);
                let place = [a.cos() * b.cos(), a.cos() * b.sin(), a.sin()];
                let far = |y: &&[f64]| y.iter().zip(place).map(|(y, p)| (y - p).powi(2)).sum::<f64>().sqrt();
                let least = best.iter().map(far).fold(f64::INFINITY, f64::min);
                let bound = if method == Method::Reference { 1.5 } else { 2.5 };
                assert!(least < bound * 0.2, "{method:?}: {place:?} is {least} from the nearest");
            }
        }
    }
}

/// Goals p² + 0.1 (1 + s) and (p − 2)² + 0.1 (1 − s), both plus a double well in s.
fn wells(x: &[Second], c: &mut [Second]) {
    let well = (x[1].square() - 1.0).square();
    c[0] = x[0].square() + well + (x[1] + 1.0) * 0.1;
    c[1] = (x[0] - 2.0).square() + well - (x[1] - 1.0) * 0.1;
}

fn double_well() -> Box<dyn Nlp> {
    Box::new(tied(wells, &[0.3, 0.2], vec![Bound::between(-3.0, 3.0), Bound::between(-2.0, 2.0)], vec![], 2))
}

/// Two kinds of solutions, s near −1 and near 1. Each is best on one half: where the front is steep, it costs less to be higher than to be farther right. Each
/// goes on as an optimum among its neighbours.
#[test]
fn two_kinds_of_solutions_are_told_apart() {
    let side = |x: &[f64]| vec![x[1]];
    let mut problem = Problem::new(&double_well, goals(2, &["first", "second"]));
    problem.projection = Some(&side);
    let found = compute(&problem, &Options { spacing: 0.04, ..Options::default() }, 2).unwrap();
    println!(
        "{} points, {} solves, {} failed, {} iterations",
        found.points.len(),
        found.solves,
        found.failed,
        found.iterations
    );
    assert_eq!(found.kinds(), 2, "{}", found.csv());
    for kind in 0..2 {
        let of: Vec<_> = found.points.iter().filter(|p| p.kind == kind).collect();
        let sign = of[0].solution.x[1].signum();
        assert!(of.iter().all(|p| p.solution.x[1].signum() == sign));
        assert!(
            of.iter().filter(|p| p.global).count() > 8 && of.iter().filter(|p| !p.global).count() > 3,
            "{}",
            found.csv()
        );
        for p in of {
            // By symmetry kinds change where both goals are equal, at p = 1; near there either may be found first.
            let lead = p.solution.goals[0] - p.solution.goals[1];
            assert!(lead.abs() < 0.3 || p.global == ((lead < 0.0) == (sign < 0.0)), "{:?}", p.solution.goals);
        }
    }
}

fn lines(x: &[Second], c: &mut [Second]) {
    (c[0], c[1]) = (x[0] + x[1] * 3.0, x[0] * 3.0 + x[1]);
    (c[2], c[3]) = (x[0], x[1]);
}

fn two_lines() -> Box<dyn Nlp> {
    let more = vec![Bound::at_least(3.0), Bound::at_least(3.0)];
    Box::new(tied(lines, &[1.5, 1.5], vec![Bound::between(0.0, 4.0); 2], more, 2))
}

/// Two lines that meet at (3/4, 3/4): the corner is found, and the front is followed around it.
#[test]
fn corners_are_passed() {
    let found = compute(&Problem::new(&two_lines, goals(2, &["a", "b"])), &Options::default(), 2).unwrap();
    assert_eq!((found.parts(), found.kinds()), (1, 1), "{}", found.csv());
    // A distance that is given is kept to: points lie some hundredths apart, so that each is a kind by itself.
    let options = Options { apart: Some(1e-4), ..Options::default() };
    let strict = compute(&Problem::new(&two_lines, goals(2, &["a", "b"])), &options, 2).unwrap();
    assert_eq!(strict.kinds(), strict.points.len(), "{}", strict.csv());
    for p in &found.points {
        let (a, b) = (p.solution.goals[0], p.solution.goals[1]);
        // Slacks of the two lines, and of the lower bounds at the ends, are below 1e-9 over multipliers of at least 1e-4.
        let off = (a + 3.0 * b - 3.0).min(3.0 * a + b - 3.0);
        assert!(off.abs() < 1e-5, "{a} {b}: {off}\n{}", found.csv());
        let slope = if a < 0.75 { -3.0 } else { -1.0 / 3.0 };
        if p.place == Place::Inside {
            assert!((p.rate(1, 0) / slope - 1.0).abs() < 1e-4, "{a} {b}: {} {slope}", p.rate(1, 0));
        }
    }
    let corner = found.points.iter().find(|p| p.place == Place::Corner).unwrap();
    assert!(corner.solution.goals.iter().all(|y| (y - 0.75).abs() < 1e-6), "{:?}", corner.solution.goals);
    let (first, last) = (&found.points[0].solution.goals, &found.points[found.points.len() - 1].solution.goals);
    assert!((first[1] - 3.0).abs() < 1e-4 && (last[0] - 3.0).abs() < 1e-4, "{first:?} {last:?}");
    assert!((found.typical(0).unwrap().solution.goals[0] - 0.75).abs() < 0.2);
}

/// The same bits whatever the number of threads; after a stop the journal brings back what was solved, and the end is the same.
#[test]
fn stopped_searches_go_on_to_the_same_front() {
    let problem = Problem::new(&double_well, goals(2, &["first", "second"]));
    let options = Options { samples: 8, sequences: Some(sqp::Options::default()), ..Options::default() };
    let whole = compute(&problem, &options, 1).unwrap();
    assert_eq!(whole, compute(&problem, &options, 3).unwrap());
    let path = std::env::temp_dir().join(format!("dalembert-pareto-test-{}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let mut recalled = 0;
    for limit in [5, 50, usize::MAX] {
        let stop = AtomicBool::new(false);
        let run = Run { threads: 2, journal: Some(&path), stop: &stop };
        let mut last = 0.0;
        let found = front(&problem, &options, &run, &mut |progress| {
            assert!(progress.done >= 0.0 && progress.done <= 1.0);
            (last, recalled) = (progress.done, progress.recalled);
            if progress.solved >= limit {
                stop.store(true, Ordering::Relaxed);
            }
        })
        .unwrap();
        match limit {
            usize::MAX => assert_eq!(found, whole),
            5 => assert!(!found.complete && found.points.is_empty()),
            _ => assert!(!found.complete && !found.points.is_empty() && found.points.len() < whole.points.len()),
        }
    }
    assert!(recalled >= 50, "{recalled}");
    let stop = AtomicBool::new(false);
    let run = Run { threads: 2, journal: Some(&path), stop: &stop };
    let other = Options { spacing: 0.1, ..options };
    let error = front(&problem, &other, &run, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("another problem"), "{error}");
    std::fs::remove_file(&path).unwrap();
}

fn contradictory() -> Box<dyn Nlp> {
    let two = |x: &[Second], c: &mut [Second]| {
        c[0] = x[0].square() + x[1].square();
        c[1] = x[0];
        c[2] = x[1];
    };
    let program = tied(two, &[0.5, 0.5], vec![Bound::between(0.0, 1.0); 2], vec![Bound::at_least(3.0)], 2);
    Box::new(program.named(&["along", "up", "a", "b"], &["reach at 0.5 s", "a", "b"]))
}

fn falling() -> Box<dyn Nlp> {
    let two = |x: &[Second], c: &mut [Second]| {
        c[0] = x[0].square();
        c[1] = x[1] * 2.0;
    };
    Box::new(tied(two, &[0.5, 0.5], vec![Bound::FREE; 2], vec![], 2))
}

fn agreeing() -> Box<dyn Nlp> {
    let two = |x: &[Second], c: &mut [Second]| {
        c[0] = (x[0] - 1.0).square();
        c[1] = (x[0] - 1.0).square() * 3.0 + 2.0;
    };
    Box::new(tied(two, &[0.5], vec![Bound::between(-4.0, 4.0)], vec![], 2))
}

/// Bad problems are told by name; goals that agree have a front of one point.
#[test]
fn bad_goals_are_named() {
    let options = Options { samples: 3, ..Options::default() };
    let error = compute(&Problem::new(&contradictory, goals(2, &["width", "height"])), &options, 1).unwrap_err();
    assert!(matches!(error, ParetoError::Infeasible { starts: 4, .. }), "{error}");
    assert!(error.to_string().contains("reach at 0.5 s"), "{error}");
    let error = compute(&Problem::new(&falling, goals(2, &["width", "height"])), &options, 1).unwrap_err();
    assert!(matches!(&error, ParetoError::Unbounded { goal, .. } if goal == "height"), "{error}");
    let limited = vec![Goal::new(2, "width"), Goal::new(3, "height").within(Bound::between(-1.0, 1.0))];
    assert!(compute(&Problem::new(&falling, limited), &options, 1).is_ok());
    let single = compute(&Problem::new(&agreeing, goals(1, &["a", "b"])), &options, 1).unwrap();
    assert_eq!(single.points.len(), 1, "{}", single.csv());
    assert!((single.points[0].solution.goals[1] - 2.0).abs() < 1e-7);
    let twice = vec![Goal::new(2, "a"), Goal::new(2, "b")];
    let error = compute(&Problem::new(&falling, twice), &options, 1).unwrap_err();
    assert_eq!(error.to_string(), "goal `b` is given twice");
    let none = vec![Goal::new(9, "a")];
    let error = compute(&Problem::new(&falling, none), &options, 1).unwrap_err();
    assert_eq!(error.to_string(), "goal `a` is variable 9 of a program that has 4");
}
