//! Lie group integrators on a physical pendulum: the printed equations, the period against the elliptic integral, energy.

use crate::none;
use crate::systems::make;
use dalembert_methods::State;
use dalembert_methods::integrate::{Integrator, Settings};
use dalembert_methods::problems::Top;
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
