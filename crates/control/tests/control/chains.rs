//! Chains with redundant coordinates, open and closed, in both forms of DMOCC: with multipliers, and in the discrete null space.

use crate::toys::Pendulum;
use crate::{options, solved};
use dalembert::model::Model;
use dalembert::scene::{Document, Limits, Overrides, Scene};
use dalembert_control::transcribe::Division;
use dalembert_control::{Acts, Condition, Control, Form, Guess, GuessAt, Method, Phase, Problem, Solution, solve};
use dalembert_methods::{Real, State, System};
use dalembert_optimise::{Control as Go, interior};

fn model(text: &str) -> Model {
    let document = Document::from_text("scene.toml", text, &Overrides::none(), &Limits::default());
    document.and_then(Scene::from_document).unwrap_or_else(|e| panic!("{}", e.plain())).model
}

/// The largest residual of any constraint at a node.
fn residual(y: &Model, q: &[f64], t: f64) -> f64 {
    let mut s: State<f64> = State::zeros(y.shape());
    s.t = t;
    s.q.copy_from_slice(q);
    let mut w = y.work();
    y.prepare(&s, &mut w);
    let mut out = vec![0.0; y.shape().g];
    y.constraint(&s, &mut w, &mut out);
    out.iter().fold(0.0, |m, g| m.max(g.abs()))
}

fn tight<Y: System>(problem: &Problem<'_, Y>) -> Solution {
    let strict = interior::Options { tolerance: 1e-11, violation: 1e-11, ..interior::Options::default() };
    let solution = solve(problem, &options(), &strict, &mut |_| Go::Continue).unwrap();
    assert!(solution.is_success(), "{}", solution.report);
    solution
}

/// Pᵀ Gᵀ = 0 for the rows that count and for those that follow from them; P is one on the independent velocities.
#[test]
fn null_spaces_are_orthogonal_to_constraints() {
    let n = 7;
    let number = |i: usize| (1.0 + 0.37 * (i * i) as f64).sin();
    let mut jacobian: Vec<f64> = (0..3 * n).map(number).collect();
    // A fourth row that follows from the first two.
    let follows: Vec<f64> = (0..n).map(|j| 2.0 * jacobian[j] - 0.5 * jacobian[n + j]).collect();
    jacobian.extend(follows);
    let division = Division::of(&jacobian, n);
    assert_eq!((division.rows.len(), division.independent.len()), (3, 4));
    for row in jacobian.chunks_exact(n) {
        let reduced = division.reduce(&jacobian, row);
        // Elimination of three rows with pivots of order one: some ten roundings.
        assert!(reduced.iter().all(|x| x.abs() < 20.0 * f64::EPSILON), "{reduced:?}");
        let balance = division.balance(&jacobian, row);
        for j in 0..n {
            let sum: f64 = (0..4).map(|i| balance[i] * jacobian[i * n + j]).sum();
            assert!((sum - row[j]).abs() < 20.0 * f64::EPSILON, "{sum} {}", row[j]);
        }
    }
    for (k, &j) in division.independent.iter().enumerate() {
        let mut unit = vec![0.0; n];
        unit[j] = 1.0;
        let reduced = division.reduce(&jacobian, &unit);
        assert!(reduced.iter().enumerate().all(|(i, x)| *x == f64::from(u8::from(i == k))), "{reduced:?}");
    }
}

/// Two rigid bodies of six freedoms each, hinged to the ground and to each other: ten rows of constraints for two freedoms.
const OPEN: &str = r#"
[world]
gravity = [0, 0, -9.81]
[body.upper]
kind = "rigid"
mass = 1.0
inertia = [0.02, 0.02, 0.001]
position = [0, 0, -0.25]
markers.top.at = [0, 0, 0.25]
markers.end.at = [0, 0, -0.25]
[body.lower]
kind = "rigid"
mass = 0.7
inertia = [0.015, 0.015, 0.001]
position = [0, 0, -0.7]
markers.top.at = [0, 0, 0.2]
[joint.shoulder]
kind = "revolute"
between = ["ground", "upper.top"]
axis = [0, 1, 0]
[joint.elbow]
kind = "revolute"
between = ["upper.end", "lower.top"]
axis = [0, 1, 0]
[run]
until = 1
"#;

/// The configuration of the open chain with these angles from hanging.
fn hanging(a: f64, b: f64) -> Vec<f64> {
    let turned = |angle: f64| [(0.5 * angle).cos(), 0.0, -(0.5 * angle).sin(), 0.0];
    let along = |angle: f64, length: f64| [length * angle.sin(), 0.0, -length * angle.cos()];
    let (half, elbow, rest) = (along(a, 0.25), along(a, 0.5), along(b, 0.2));
    let lower = [elbow[0] + rest[0], 0.0, elbow[2] + rest[2]];
    [&half[..], &turned(a), &lower, &turned(b)].concat()
}

fn swing<'a>(y: &'a Model, form: Form, from: &[f64], to: &[f64], drives: &[usize], n: usize) -> Problem<'a, Model> {
    let still = vec![0.0; y.shape().v];
    let mut phase = Phase::new("swing", y, from, Method::Dmocc, n, 0.6);
    phase.form = form;
    phase.from(Condition::Configuration(from.to_vec())).from(Condition::Velocity(still.clone()));
    phase.to(Condition::Configuration(to.to_vec())).to(Condition::Velocity(still));
    let mut problem = Problem { phases: vec![phase], ..Problem::default() };
    problem.controls = drives.iter().map(|&i| Control::new(format!("torque {i}"), Acts::Velocity(i))).collect();
    problem.integral("effort", 1.0, |m| m.controls().iter().fold(0.0.into(), |sum, u| sum + u.square()));
    problem
}

/// The same motions, hence the same optimum, multipliers and all; the null space has fewer unknowns and equations.
#[test]
fn both_forms_have_the_same_optimum() {
    let y = model(OPEN);
    let (from, to) = (hanging(0.0, 0.0), hanging(0.9, 0.3));
    assert!(residual(&y, &to, 0.0) < 1e-14);
    let [plain, reduced] =
        [Form::Multipliers, Form::NullSpace].map(|form| tight(&swing(&y, form, &from, &to, &[4, 10], 5)));
    let (a, b) = (plain.report.objective, reduced.report.objective);
    assert!((a / b - 1.0).abs() < 1e-8, "{a} {b}");
    // Ten multipliers and ten rows less at each of six nodes.
    assert_eq!(plain.report.point.x.len() - reduced.report.point.x.len(), 60);
    assert_eq!(plain.report.point.constraints.len() - reduced.report.point.constraints.len(), 60);
    for (p, r) in plain.instants.iter().zip(&reduced.instants) {
        assert!(residual(&y, &r.q, r.t) < 1e-10 && residual(&y, &p.q, p.t) < 1e-10);
        let far = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0f64, |m, (a, b)| m.max((a - b).abs()));
        assert!(far(&p.q, &r.q) < 1e-7, "{p:?} {r:?}");
        let size = p.multipliers.iter().fold(1.0f64, |m, l| m.max(l.abs()));
        assert!(far(&p.multipliers, &r.multipliers) < 1e-6 * size, "{:?} {:?}", p.multipliers, r.multipliers);
    }
}

/// Two arms of two links each whose ends are hinged together: a chain of five bars with the ground, driven at both shoulders.
const FIVE_BAR: &str = r#"
[world]
gravity = [0, 0, -9.81]
[body.left]
kind = "tree"
[[body.left.links]]
name = "upper"
joint = { kind = "revolute", axis = [0, 1, 0] }
position = [-0.2, 0, 0]
mass = 1.0
centre = [0, 0, 0.2]
inertia = [0.014, 0.014, 0.001]
[[body.left.links]]
name = "lower"
parent = "upper"
joint = { kind = "revolute", axis = [0, 1, 0] }
position = [0, 0, 0.4]
mass = 0.8
centre = [0, 0, 0.25]
inertia = [0.017, 0.017, 0.001]
[body.right]
kind = "tree"
[[body.right.links]]
name = "upper"
joint = { kind = "revolute", axis = [0, 1, 0] }
position = [0.2, 0, 0]
mass = 1.0
centre = [0, 0, 0.2]
inertia = [0.014, 0.014, 0.001]
[[body.right.links]]
name = "lower"
parent = "upper"
joint = { kind = "revolute", axis = [0, 1, 0] }
position = [0, 0, 0.4]
mass = 0.8
centre = [0, 0, 0.25]
inertia = [0.017, 0.017, 0.001]
[marker.left_tip]
body = "left"
link = "lower"
at = [0, 0, 0.5]
[marker.right_tip]
body = "right"
link = "lower"
at = [0, 0, 0.5]
[joint.hand]
kind = "JOINT"
between = ["left_tip", "right_tip"]
AXIS
[run]
until = 1
"#;

/// Angles of the five bars with the hand at a place: elbows outwards.
fn five_bar(x: f64, z: f64) -> Vec<f64> {
    let arm = |base: f64, side: f64| {
        let (dx, dz) = (x - base, z);
        let d = dx.hypot(dz);
        let (l, m) = (0.4f64, 0.5f64);
        let shoulder = ((l * l + d * d - m * m) / (2.0 * l * d)).acos();
        let elbow = std::f64::consts::PI - ((l * l + m * m - d * d) / (2.0 * l * m)).acos();
        [dx.atan2(dz) + side * shoulder, -side * elbow]
    };
    [arm(-0.2, -1.0), arm(0.2, 1.0)].concat()
}

/// A closed chain moved from rest to rest: all constraints hold at every node to 1e-10, those that follow from others too; both forms agree, and so does another method as h → 0.
#[test]
fn five_bars_stay_closed() {
    let (from, to) = (five_bar(-0.1, 0.6), five_bar(0.15, 0.7));
    // A ball in the hand has three rows, one of which follows in the plane; a hinge has five, three of which do.
    let ball = model(&FIVE_BAR.replace("JOINT", "spherical").replace("AXIS", ""));
    let hinge = model(&FIVE_BAR.replace("JOINT", "revolute").replace("AXIS", "axis = [0, 1, 0]"));
    let mut found = Vec::new();
    for (y, form) in [(&ball, Form::NullSpace), (&hinge, Form::NullSpace), (&ball, Form::Multipliers)] {
        assert!(residual(y, &from, 0.0) < 1e-14 && residual(y, &to, 0.0) < 1e-14);
        let solution = tight(&swing(y, form, &from, &to, &[0, 2], 12));
        for instant in &solution.instants {
            let open = residual(y, &instant.q, instant.t);
            assert!(open < 1e-10, "{form:?} at {}: {open:e}", instant.t);
        }
        found.push(solution.report.objective);
    }
    assert!(found.iter().all(|x| (x / found[0] - 1.0).abs() < 1e-8), "{found:?}");
    // Order 2: the difference from a method of order 4 on the same grid falls by four.
    let fine = {
        let mut problem = swing(&ball, Form::Multipliers, &from, &to, &[0, 2], 12);
        problem.phases[0].method = Method::HERMITE_SIMPSON;
        solved(&problem).report.objective
    };
    let coarse = tight(&swing(&ball, Form::NullSpace, &from, &to, &[0, 2], 6)).report.objective;
    let order = ((coarse - fine) / (found[0] - fine)).abs().log2();
    assert!((order - 2.0).abs() < 0.3, "{order}: {coarse} {} {fine}", found[0]);
}

/// A ring of four masses on rods, thrown without forces.
const RING: &str = r#"
[body.a]
kind = "particle"
mass = 1.0
position = [0.5, 0, 0]
[body.b]
kind = "particle"
mass = 0.6
position = [0, 0.5, 0.1]
[body.c]
kind = "particle"
mass = 1.3
position = [-0.5, 0, 0]
[body.d]
kind = "particle"
mass = 0.9
position = [0, -0.5, 0.1]
[constraint.ab]
kind = "distance"
between = ["a", "b"]
length = "= sqrt(0.51)"
[constraint.bc]
kind = "distance"
between = ["b", "c"]
length = "= sqrt(0.51)"
[constraint.cd]
kind = "distance"
between = ["c", "d"]
length = "= sqrt(0.51)"
[constraint.da]
kind = "distance"
between = ["d", "a"]
length = "= sqrt(0.51)"
[run]
until = 1
"#;

/// Without controls momenta are kept from interval to interval, and the energy stays in a band of width c h² however long the flight is.
#[test]
fn a_thrown_ring_keeps_its_momenta() {
    let y = model(RING);
    let mass = [1.0, 0.6, 1.3, 0.9];
    let start: Vec<f64> = y.initial_state().q.clone();
    // A spin about an axis askew, a throw, and a motion of the links that the rods allow: one diagonal grows, the other shrinks.
    let mut v = Vec::new();
    for x in start.chunks_exact(3) {
        let spin = [1.0 * x[2] - 2.0 * x[1], 2.0 * x[0] - 0.5 * x[2], 0.5 * x[1] - 1.0 * x[0]];
        let shear = [-0.3 * x[0], 0.3 * x[1], 0.0];
        v.extend((0..3).map(|i| spin[i] + shear[i] + [0.3, -0.2, 0.1][i]));
    }
    let mut s = y.initial_state();
    s.v.copy_from_slice(&v);
    let (mut w, mut rates) = (y.work(), vec![0.0; 4]);
    y.prepare(&s, &mut w);
    y.constraint_rate(&s, &mut w, &mut rates);
    assert!(rates.iter().all(|r| r.abs() < 1e-14), "{rates:?}");
    // The flight in pieces of four intervals: velocities at the ends are those of the discrete Legendre transforms, so that pieces join without a seam.
    let fly = |form: Form, n: usize, t: f64| -> (f64, f64) {
        let h = t / n as f64;
        let (mut q, mut v, mut all) = (start.clone(), v.clone(), Vec::new());
        for _ in 0..n / 4 {
            let mut phase = Phase::new("flight", &y, &q, Method::Dmocc, 4, 4.0 * h);
            phase.form = form;
            phase.from(Condition::Configuration(q.clone())).from(Condition::Velocity(v.clone()));
            let ahead = |part: f64| q.iter().zip(&v).map(|(q, v)| q + 4.0 * h * part * v).collect();
            let at = |part: f64| GuessAt { part, q: ahead(part), v: v.clone(), ..GuessAt::default() };
            phase.guess = Guess::Instants(vec![at(0.0), at(1.0)]);
            let strict = interior::Options { tolerance: 1e-12, violation: 1e-12, ..interior::Options::default() };
            let problem = Problem { phases: vec![phase], ..Problem::default() };
            let solution = solve(&problem, &options(), &strict, &mut |_| Go::Continue).unwrap();
            assert!(solution.is_success(), "{form:?} {}", solution.report);
            for pair in solution.instants.windows(2) {
                assert!(residual(&y, &pair[1].q, 0.0) < 1e-10);
                let (mut linear, mut angular, mut energy) = ([0.0; 3], [0.0; 3], 0.0);
                for (k, m) in mass.iter().enumerate() {
                    let (x, next) = (&pair[0].q[3 * k..3 * k + 3], &pair[1].q[3 * k..3 * k + 3]);
                    for i in 0..3 {
                        let (j, l) = ((i + 1) % 3, (i + 2) % 3);
                        linear[i] += m * (next[i] - x[i]) / h;
                        // The momentum map of the discrete Lagrangian: q_k × p, p = m (q_{k+1} − q_k)/h.
                        angular[i] += m * (x[j] * next[l] - x[l] * next[j]) / h;
                        energy += 0.5 * m * ((next[i] - x[i]) / h).powi(2);
                    }
                }
                all.push((linear, angular, energy));
            }
            let last = solution.instants.last().unwrap();
            (q, v) = (last.q.clone(), last.v.clone());
        }
        let (mut drift, mut band) = (0.0f64, 0.0f64);
        for (linear, angular, energy) in &all {
            for i in 0..3 {
                drift = drift.max((linear[i] - all[0].0[i]).abs()).max((angular[i] - all[0].1[i]).abs());
            }
            band = band.max((energy / all[0].2 - 1.0).abs());
        }
        (drift, band)
    };
    let (drift, plain) = fly(Form::Multipliers, 40, 2.0);
    // Momenta of order one: 1e-12 of the solver for each of twelve coordinates, and as many roundings of q/h, at each node.
    let bound = |n: usize| n as f64 * 12.0 * (1e-12 + f64::EPSILON / 0.05);
    assert!(drift < bound(40), "{drift:e}");
    let (_, same) = fly(Form::NullSpace, 40, 2.0);
    assert!((plain - same).abs() < 1e-9, "the same motion: {plain:e} {same:e}");
    let (drift, band) = fly(Form::NullSpace, 120, 6.0);
    assert!(drift < bound(120), "{drift:e}");
    let (_, half) = fly(Form::NullSpace, 240, 6.0);
    // The ring folds and unfolds: the error is of order h², with terms of h⁴ where it folds.
    assert!((band / half).log2() > 1.6, "{band:e} {half:e}");
    // Twice as long the band is the same: what was lost when the ring folded has come back.
    let (_, long) = fly(Form::NullSpace, 240, 12.0);
    assert!(long < 1.01 * band, "{band:e} {long:e}");
}
/// A pendulum in Cartesian coordinates is swung far beyond the horizontal, where the dependent coordinate changes; also from a guess that hangs almost all the time, whose division of velocities does
/// not serve the solution: it is found anew.
#[test]
fn divisions_follow_the_motion() {
    let y = Pendulum { redundant: true };
    let at = |angle: f64| vec![angle.sin(), -angle.cos()];
    let swing = |form: Form, hang: bool| {
        let mut phase = Phase::new("swing", &y, &at(0.0), Method::Dmocc, 40, 1.0);
        phase.form = form;
        phase.from(Condition::Configuration(at(0.0))).from(Condition::Velocity(vec![0.0; 2]));
        phase.to(Condition::Configuration(at(2.5))).to(Condition::Velocity(vec![0.0; 2]));
        if hang {
            let instant =
                |part: f64, angle: f64| GuessAt { part, q: at(angle), v: vec![0.0; 2], x: vec![], u: vec![0.0] };
            phase.guess = Guess::Instants(vec![instant(0.0, 0.0), instant(0.85, 0.3), instant(1.0, 2.5)]);
        }
        let mut problem = Problem { phases: vec![phase], ..Problem::default() };
        problem.controls = vec![Control::new("torque", Acts::Parameter(0))];
        problem.integral("effort", 1.0, |m| m.controls()[0].square());
        tight(&problem)
    };
    let plain = swing(Form::Multipliers, false).report.objective;
    for hang in [false, true] {
        let reduced = swing(Form::NullSpace, hang);
        assert!((reduced.report.objective / plain - 1.0).abs() < 1e-8, "{} {plain}", reduced.report.objective);
        assert!(reduced.plans[0].divisions.len() > 1, "{:?}", reduced.plans[0].divisions);
    }
}
