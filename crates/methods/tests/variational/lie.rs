//! Lie group integrators on a physical pendulum: the printed equations, the period against the elliptic integral, energy.

use crate::none;
use crate::systems::{make, run};
use dalembert_methods::State;
use dalembert_methods::integrate::{Integrator, Settings};
use dalembert_methods::lie::Quat;
use dalembert_methods::problems::Top;
use dalembert_methods::vector::{Mat3, Vec3};
use std::f64::consts::PI;

/// Turns about its first axis only; hangs downwards at angle π from the upright.
const PENDULUM: Top = Top { inertia: [1.0, 1.2, 0.5], weight: 9.81 };

/// The angle from hanging, within (−π, π].
fn angle(s: &State<f64>) -> f64 {
    let turned = 2.0 * s.q[1].atan2(s.q[0]) - PI;
    (turned + PI).rem_euclid(2.0 * PI) - PI
}

fn released(amplitude: f64) -> State<f64> {
    PENDULUM.state(PI - amplitude, [0.0; 3])
}

/// For plane motion the equations of the document are J(sin φ_j − sin φ_{j−1}) = h² m g ℓ sin θ_j, with θ from the upright; with other chords
/// f = sin κφ/κ they are J(f f' |_j − f f' |_{j−1}).
#[test]
fn the_printed_equations_hold_in_the_plane() {
    let h = 0.05;
    for chord in [0.5, 1.0, 0.0, -0.5] {
        let mut integrator = make("lie_group", &none().with("fixed_step", h).with("chord", chord)).unwrap();
        let mut s = released(2.5);
        integrator.start(&PENDULUM, &mut s).unwrap();
        let mut angles = vec![angle(&s)];
        for _ in 0..60 {
            integrator.step(&PENDULUM, &mut s, f64::INFINITY).unwrap();
            assert!(s.v[1] == 0.0 && s.v[2] == 0.0 && s.q[2] == 0.0 && s.q[3] == 0.0);
            angles.push(angle(&s));
        }
        let push = |turn: f64| match chord {
            c if c > 0.0 => (c * turn).sin() * (c * turn).cos() / c,
            0.0 => turn,
            c => (c * turn).tan() / (c * turn).cos().powi(2) / c,
        };
        for w in angles.windows(3) {
            let left = push(w[2] - w[1]) - push(w[1] - w[0]);
            let right = -h * h * PENDULUM.weight * w[1].sin();
            assert!((left - right).abs() < 64.0 * f64::EPSILON, "{chord}: {left} {right}");
        }
    }
}

/// The quaternion Cayley map, (1 + g)(1 − g)⁻¹.
fn cayley(g: Vec3<f64>) -> Quat<f64> {
    let square = g.dot(g);
    let Vec3([x, y, z]) = g * (2.0 / (1.0 + square));
    Quat([(1.0 - square) / (1.0 + square), x, y, z])
}

/// A root of three equations near a guess, by Newton's method with differences, to rounding.
fn root(guess: Vec3<f64>, equations: impl Fn(Vec3<f64>) -> Vec3<f64>) -> Vec3<f64> {
    let mut g = guess;
    for _ in 0..12 {
        let e = 1e-6;
        let unit = |k: usize| Vec3::<f64>(std::array::from_fn(|i| if i == k { e } else { 0.0 }));
        let columns = [0, 1, 2].map(|k| (equations(g + unit(k)) - equations(g - unit(k))) * (0.5 / e));
        // Cramer's rule.
        let triple = |a: Vec3<f64>, b: Vec3<f64>, c: Vec3<f64>| a.dot(b.cross(c));
        let (r, [a, b, c]) = (equations(g), columns);
        let size = triple(a, b, c);
        g -= Vec3([triple(r, b, c), triple(a, r, c), triple(a, b, r)]) * (1.0 / size);
    }
    g
}

/// A top that leans, turns and precesses in space: the two-step equations of the document, b(g) = 0 with f = Cay(g), solved here from the first two
/// orientations,
///
/// ```text
/// Im[(J f − J f̄) f̄]_j = Im[f̄ (J f − J f̄)]_{j−1} + h² mgℓ Im(p̄ e₃ p e₃)
/// ```
///
/// with J f − J f̄ = 2 J Im f; and those with rotation matrices, hω = (F − Fᵀ)/2, by variations R exp(εη):
///
/// ```text
/// ½(tr F − Fᵀ)_j J hω_j = ½(tr F − F)_{j−1} J hω_{j−1} + h² mgℓ Γ × e₃,   Γ = Rᵀe₃.
/// ```
///
/// The integrator is to follow them, whose unknown is a rotation vector: Cayley's map is a chart and changes nothing. Both have rounding of n steps, in turns that add up: n²/2 of a few ulps.
#[test]
fn the_printed_equations_hold_in_space() {
    let top = Top { inertia: [1.0, 1.3, 0.6], weight: 4.0 };
    let (h, steps) = (0.02, 100);
    let weigh = |w: Vec3<f64>| Vec3::<f64>(std::array::from_fn(|i| top.inertia[i] * w[i]));
    let vector = |f: &Quat<f64>| Vec3([f.0[1], f.0[2], f.0[3]]);
    let quaternion = |f: &Quat<f64>, left: bool| {
        let (w, v) = (weigh(vector(f)) * 2.0, vector(f));
        w * f.0[0] + if left { v.cross(w) } else { w.cross(v) }
    };
    let matrix = |f: &Quat<f64>, left: bool| {
        let Mat3(m) = f.matrix();
        let skew = Vec3([m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]]) * 0.5;
        let (w, trace) = (weigh(skew), m[0][0] + m[1][1] + m[2][2]);
        let turned =
            Vec3::<f64>(std::array::from_fn(|i| (0..3).map(|k| if left { m[k][i] } else { m[i][k] } * w[k]).sum()));
        (w * trace - turned) * 0.5
    };
    type Side<'a> = &'a dyn Fn(&Quat<f64>, bool) -> Vec3<f64>;
    for (chord, side) in [(0.5, &quaternion as Side<'_>), (1.0, &matrix)] {
        let mut method = make("lie_group", &none().with("fixed_step", h).with("chord", chord)).unwrap();
        let mut s = top.state(0.5, [0.3, 0.4, 3.0]);
        method.start(&top, &mut s).unwrap();
        let mut places = vec![Quat::<f64>::from_slice(&s.q)];
        for _ in 0..steps {
            method.step(&top, &mut s, f64::INFINITY).unwrap();
            places.push(Quat::from_slice(&s.q));
        }
        let (mut before, mut p) = (places[0].conjugate() * places[1], places[1]);
        let mut worst = 0.0_f64;
        for place in &places[2..] {
            let up = p.conjugate().rotate(Vec3([0.0, 0.0, 1.0]));
            let known = side(&before, false) + up.cross(Vec3([0.0, 0.0, 1.0])) * (h * h * top.weight);
            let g = root(vector(&before) * 0.5, |g| side(&cayley(g), true) - known);
            before = cayley(g);
            p = p * before;
            worst = worst.max((p.conjugate() * *place).log().0.iter().fold(0.0, |most: f64, x| most.max(x.abs())));
        }
        println!("chord {chord}: orientations are {worst:.1e} apart after {steps} steps in space");
        assert!(worst < 0.5 * f64::from(steps).powi(2) * 4.0 * f64::EPSILON, "{chord}: {worst:e}");
        // The other form is not met: the test can fail.
        let other: Side<'_> = if chord == 0.5 { &matrix } else { &quaternion };
        let known = other(&(places[0].conjugate() * places[1]), false);
        let up = places[1].conjugate().rotate(Vec3([0.0, 0.0, 1.0]));
        let known = known + up.cross(Vec3([0.0, 0.0, 1.0])) * (h * h * top.weight);
        let left = other(&(places[1].conjugate() * places[2]), true) - known;
        assert!(left.dot(left).sqrt() > 1e-8, "{chord}: {left:?}");
    }
}

/// With every chord the vertical angular momentum is kept to rounding, and time runs backwards.
#[test]
fn chords_keep_momentum_and_run_backwards() {
    let (top, steps) = (Top::default(), 2000);
    let start = top.state(0.5, [0.3, 0.4, 3.0]);
    for chord in [0.5, 1.0, -0.5] {
        let settings = none().with("chord", chord);
        let s = run(&top, &start, "lie_group", &settings, 40.0, steps);
        let found = (top.momentum(&s)[2] - top.momentum(&start)[2]).abs();
        // A momentum of about 2 kg m²/s, two points, and twice the operations for the tangents of a turn.
        let bound = crate::rounding(steps, 2.0 * crate::operations(2.0, 1.0), 2.0);
        assert!(found < bound, "{chord}: {found:e} {bound:e}");
        let turned = |mut s: State<f64>| {
            s.v.iter_mut().for_each(|v| *v = -*v);
            s.t = 0.0;
            s
        };
        let there = run(&top, &start, "lie_group", &settings, 3.0, 150);
        let back = turned(run(&top, &turned(there), "lie_group", &settings, 3.0, 150));
        assert!(crate::systems::distance(&back, &start) < 2e-11, "{chord}");
    }
}

/// The exact period, by the arithmetic–geometric mean: T = 2π √(J/mgℓ)/agm(1, cos(θ/2)).
fn period(amplitude: f64) -> f64 {
    let (mut a, mut b) = (1.0, (0.5 * amplitude).cos());
    while (a - b).abs() > 1e-15 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    2.0 * PI * (PENDULUM.inertia[0] / PENDULUM.weight).sqrt() / a
}

/// The mean period of some swings: between passages upwards through the lowest place, each located on continuous output.
fn measured(settings: &Settings, amplitude: f64, swings: u32) -> f64 {
    let mut integrator = make("lie_group", settings).unwrap();
    let mut s = released(amplitude);
    integrator.start(&PENDULUM, &mut s).unwrap();
    let (mut first, mut count, mut before) = (0.0, 0, angle(&s));
    loop {
        let step = integrator.step(&PENDULUM, &mut s, f64::INFINITY).unwrap();
        let now = angle(&s);
        if before < 0.0 && now >= 0.0 && now - before < 3.0 {
            let (mut low, mut high) = (step.t, step.t + step.h);
            let mut between = s.clone();
            for _ in 0..40 {
                between.t = 0.5 * (low + high);
                let middle = between.t;
                integrator.dense(&PENDULUM, &mut between);
                if angle(&between) < 0.0 { low = middle } else { high = middle }
            }
            count += 1;
            match count {
                1 => first = low,
                n if n == swings + 1 => return (low - first) / f64::from(swings),
                _ => {}
            }
        }
        before = now;
    }
}

/// At equal steps the period of the quaternion form is nearer to the exact one than that of the matrix form, which turns with sin φ/h, as the document
/// shows; all are of order 2, and of order 4 in composition.
#[test]
fn the_period_of_the_pendulum() {
    let amplitude = 2.0;
    let exact = period(amplitude);
    let error = |chord: f64, h: f64, order: f64| {
        let settings = none().with("fixed_step", h).with("chord", chord).with("composition", order);
        measured(&settings, amplitude, 10) - exact
    };
    let [quaternion, matrix] = [0.5, 1.0].map(|chord| error(chord, 0.05, 2.0));
    assert!(quaternion.abs() < matrix.abs(), "{quaternion} {matrix}");
    for chord in [0.5, 1.0, 0.0, -0.5] {
        let found = (error(chord, 0.05, 2.0) / error(chord, 0.025, 2.0)).log2();
        assert!((found - 2.0).abs() < 0.2, "{chord}: {found}");
        let found = (error(chord, 0.05, 4.0) / error(chord, 0.025, 4.0)).log2();
        assert!((found - 4.0).abs() < 0.5, "{chord}: {found}");
    }
    println!(
        "T = {exact}, quaternion {quaternion:+e}, matrix {matrix:+e}, exponential {:+e}, Cayley {:+e}",
        error(0.0, 0.05, 2.0),
        error(-0.5, 0.05, 2.0)
    );
}

/// A thousand swings: the energy stays within the band of the first swings.
#[test]
fn a_pendulum_keeps_its_energy() {
    for chord in [0.5, 1.0] {
        let mut integrator = make("lie_group", &none().with("fixed_step", 0.05).with("chord", chord)).unwrap();
        let mut s = released(2.0);
        integrator.start(&PENDULUM, &mut s).unwrap();
        let start = PENDULUM.energy(&s);
        let steps = (1000.0 * period(2.0) / 0.05) as u32;
        let mut bands = [0.0_f64; 2];
        for k in 0..steps {
            integrator.step(&PENDULUM, &mut s, f64::INFINITY).unwrap();
            let band = usize::from(k > steps / 10);
            bands[band] = bands[band].max((PENDULUM.energy(&s) - start).abs());
        }
        assert!(bands[1] < 1.001 * bands[0], "{chord}: {bands:?}");
    }
}
