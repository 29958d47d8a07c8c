//! Variational integrators on models of every kind of body: orders against another method, momenta, the built-in scenes.

use super::tops::Top;
use super::{completed, distance, last, last_vector, within};
use dalembert::run::{Outcome, run};
use dalembert::scene::{Document, Limits, Overrides, Scene};

/// What rounding adds up to in numbers of a size: n operations, each off by an error that is even within half an ulp, of deviation ε/√12; six times
/// the deviation of their sum is not seen by chance.
fn rounding(operations: f64, size: f64) -> f64 {
    6.0 * (operations / 12.0).sqrt() * f64::EPSILON * size
}

/// A built-in scene by a variational integrator with `steps` steps for each second.
fn stepped(name: &str, method: &str, steps: u32, settings: &[&str]) -> Outcome {
    let own = [
        "run.settings={}".to_owned(),
        format!("run.integrator={method:?}"),
        format!("run.settings.fixed_step={:?}", 1.0 / f64::from(steps)),
    ];
    let all: Vec<&str> = own.iter().map(String::as_str).chain(settings.iter().copied()).collect();
    completed(name, &all)
}

/// Bodies of every kind, in loops, trees and joints: the order against `dop853`, at the position of a body after half a second.
#[test]
fn variational_integrators_have_their_order_on_models() {
    for (name, body, settings) in [
        ("double-pendulum", "body.lower.position", &[][..]),
        ("double-pendulum-rods", "body.lower.position", &[]),
        ("four-bar", "body.coupler1.position", &["parameters.n=1"]),
        ("chain-tree", "body.chain.link3.position", &["parameters.n=3"]),
        ("heavy-top", "body.top.angular_velocity", &["parameters.spin=20"]),
    ] {
        let common: Vec<&str> = settings.iter().copied().chain(["run.until=0.5", "output.every=0.5"]).collect();
        let exact = [&common[..], &["run.settings={}", "run.tolerance=1e-13", "run.integrator=\"dop853\""]].concat();
        let reference = last_vector(&completed(name, &exact), body);
        for (method, coarse, order) in [
            ("variational", 128, 2.0),
            ("lie_group", 128, 2.0),
            ("galerkin_lobatto", 32, 4.0),
            ("galerkin_gauss", 32, 4.0),
        ] {
            let error = |steps: u32| distance(last_vector(&stepped(name, method, steps, &common), body), reference);
            let (large, small) = (error(coarse), error(2 * coarse));
            let measured = (large / small).log2();
            println!("{name} {method} {body}: {large:.1e} {small:.1e} order {measured:.2}");
            assert!((measured - order).abs() < 0.3, "{name} {method}: {large:e} {small:e} order {measured:.2}");
        }
    }
}

/// A free tree of two links, whose base moves in its own axes: momenta to rounding.
#[test]
fn a_free_tree_keeps_its_momenta() {
    let text = r#"
[scene]
title = "Two links in space"

[body.pair]
kind = "tree"

[[body.pair.links]]
name = "base"
joint = { kind = "free" }
velocities = [0.3, -0.2, 0.1, 0.5, 0.7, -0.4]
mass = 1
centre = [0.1, 0, 0.2]
inertia = [0.2, 0.3, 0.25]

[[body.pair.links]]
name = "arm"
parent = "base"
position = [0.3, 0, 0]
joint = { kind = "revolute", axis = [0, 1, 0] }
velocities = [2]
mass = 0.5
centre = [0, 0, -0.4]
inertia = [0.05, 0.05, 0.02]

[run]
until = 20
integrator = "galerkin_gauss"
settings = { fixed_step = 0.05 }

[output]
every = 20
"#;
    let overrides: Overrides = std::iter::empty::<&str>().collect();
    let document = Document::from_text("pair", text, &overrides, &Limits::default());
    let made = Scene::from_document(document.unwrap_or_else(|e| panic!("{}", e.plain())));
    let outcome = run(&made.unwrap_or_else(|e| panic!("{}", e.plain())), "pair", None, &mut ()).unwrap();
    let ledger = &outcome.summary.ledger;
    // 400 steps of two nodes and two points, 35 operations for each coordinate (see the tests of methods); in a component of a momentum there are two links, each with its spin
    // and two products of place and velocity; of size one.
    let bound = rounding(400.0 * 6.0 * 35.0, 1.0);
    let [before, after] = [ledger.start, ledger.end];
    within("free tree, angular momentum", distance(before.angular_momentum, after.angular_momentum), bound);
    within("free tree, linear momentum", distance(before.linear_momentum, after.linear_momentum), bound);
}

/// The fast top on a ball joint by quaternions of order 4 against elliptic functions; 2000 steps of 0.2 rad each.
#[test]
fn the_heavy_top_by_a_lie_group_method() {
    let top = Top::new(1.0, 0.3, 0.01, 0.02, 200.0, 30.0_f64.to_radians());
    let axis = |outcome: &Outcome| {
        let [w, x, y, z] = ["w", "x", "y", "z"].map(|c| last(outcome, &format!("body.top.orientation.{c}")));
        [2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)]
    };
    let u = top.u(2.0);
    let (sine, (s, c)) = ((1.0 - u * u).sqrt(), top.phi(2.0).sin_cos());
    let error = |steps: u32| {
        let settings = ["run.settings.composition=4", "output.every=2"];
        distance(axis(&stepped("heavy-top", "lie_group", steps, &settings)), [sine * c, sine * s, u])
    };
    let (large, small) = (error(500), error(1000));
    let measured = (large / small).log2();
    println!("heavy top, lie_group composed: {large:.1e} {small:.1e} order {measured:.2}");
    assert!((measured - 4.0).abs() < 0.3, "{large:e} {small:e} {measured}");
}

/// Two bodies on a ball joint, turned by moments from outside, one in the axes of its body: the orders of all chords against `dop853`.
#[test]
fn coupled_bodies_under_external_moments() {
    let text = r#"
[scene]
title = "Two bodies, two moments"

[signal.wave]
kind = "harmonic"
amplitude = 0.4
frequency = 5
phase = 0.3

[body.first]
kind = "rigid"
mass = 1
inertia = [0.2, 0.3, 0.25]
angular_velocity = [0.5, 1, -0.4]
markers.tip.at = [0.5, 0, 0]

[body.second]
kind = "rigid"
mass = 0.5
inertia = [0.05, 0.06, 0.08]
position = [0.9, 0, 0]
velocity = [0, -0.2, -0.5]
markers.tip.at = [-0.4, 0, 0]

[joint.ball]
kind = "spherical"
between = ["first.tip", "second.tip"]

[force.steady]
kind = "applied_torque"
at = "first"
torque = [0, 0.3, 0.1]

[force.turning]
kind = "applied_torque"
at = "second"
torque = ["wave", 0, 0.05]
axes = "marker"

[run]
until = 0.5

[output]
every = 0.5
"#;
    let end = |settings: &[String]| {
        let overrides: Overrides = settings.iter().map(String::as_str).collect();
        let document = Document::from_text("moments", text, &overrides, &Limits::default());
        let made = Scene::from_document(document.unwrap_or_else(|e| panic!("{}", e.plain())));
        let outcome = run(&made.unwrap_or_else(|e| panic!("{}", e.plain())), "moments", None, &mut ()).unwrap();
        last_vector(&outcome, "body.second.angular_velocity")
    };
    let exact = end(&["run.integrator=\"dop853\"".into(), "run.tolerance=1e-13".into()]);
    for (chord, composition, coarse) in [(0.0, 2, 128), (0.5, 2, 128), (1.0, 2, 128), (-0.5, 2, 128), (0.5, 4, 24)] {
        let error = |steps: u32| {
            let found = end(&[
                "run.integrator=\"lie_group\"".into(),
                format!("run.settings.fixed_step={:?}", 1.0 / f64::from(steps)),
                format!("run.settings.chord={chord:?}"),
                format!("run.settings.composition={composition}"),
            ]);
            distance(found, exact)
        };
        let (large, small) = (error(coarse), error(2 * coarse));
        let measured = (large / small).log2();
        println!("moments, chord {chord}: {large:.1e} {small:.1e} order {measured:.2}");
        assert!(
            (measured - f64::from(composition)).abs() < 0.3,
            "chord {chord}: {large:e} {small:e} order {measured:.2}"
        );
    }
}

#[test]
fn two_bodies_keep_their_momenta() {
    let ledger = stepped("two-bodies", "galerkin_gauss", 100, &["output.every=12"]).summary.ledger;
    let [before, after] = [ledger.start, ledger.end];
    // 1200 steps of two nodes and two points, 35 operations for each coordinate (see the tests of methods); in a component of a momentum there are two bodies, each with its spin
    // and two products of place and velocity; of 0.1 kg m²/s.
    let bound = rounding(1200.0 * 6.0 * 35.0, 0.1);
    within("two bodies, angular momentum", distance(before.angular_momentum, after.angular_momentum), bound);
    within("two bodies, linear momentum", distance(before.linear_momentum, after.linear_momentum), bound);
}

/// At t = 3 the oscillator is off by the closed form of its starting error, and nothing else; see the tests of methods for the formula.
#[test]
fn the_oscillator_has_only_its_starting_error() {
    let h = 0.5_f64;
    let a = 0.5 * (3.0_f64 / 7.0).sqrt();
    let nodes = [0.0, 0.5 - a, 0.5, 0.5 + a, 1.0].into_iter().zip([9.0, 49.0, 64.0, 49.0, 9.0]);
    let sum: f64 = nodes.map(|(c, w)| w / 180.0 * (2.0 * h * (1.0 - c)).cos()).sum();
    let sigma = h / (h.sin() * h.cos()) * sum;
    let outcome = completed("oscillator", &[]);
    let (sine, cosine) = 3.0_f64.sin_cos();
    let error = (last(&outcome, "body.mass.position.x") - (2.0 * cosine + 2.0 / sigma * sine)).abs();
    within("oscillator, position beside the closed form", error, 1e-14);
    within("oscillator, starting error", (1.0 / sigma - 1.0).abs(), 1e-6);
}

/// Ten turns of sixty steps on an orbit that is nearly a circle: sines against straight lines.
#[test]
fn kepler_by_sines() {
    let place = |fitted: u8| {
        let settings =
            ["parameters.turns=10", "parameters.eccentricity=0.01", &format!("run.settings.fitted={fitted}")];
        last_vector(&completed("kepler", &settings), "body.planet.position")
    };
    let [sines, lines] = [1, 0].map(|fitted| distance(place(fitted), [0.99, 0.0, 0.0]));
    println!("kepler, after 10 turns: sines {sines:.2e}, straight lines {lines:.2e}");
    // Straight lines lose phase by u²/24 a radian; sines by what is left of the change of r in a step, e u² of that.
    let u = std::f64::consts::TAU / 60.0;
    let phase = 10.0 * std::f64::consts::TAU * u * u / 24.0;
    assert!(lines > 0.5 * phase && sines < 0.01 * phase, "{sines} {lines} {phase}");
}

/// The largest |E/E₀ − 1| of the total energy in the first and in the last part of a run, of so many parts.
fn energy_bands(outcome: &Outcome, parts: usize) -> [f64; 2] {
    let energy = outcome.trajectory.column("energy.total").unwrap();
    let worst = |part: &[f64]| part.iter().fold(0.0_f64, |most, e| most.max((e / energy[0] - 1.0).abs()));
    let length = energy.len() / parts;
    [worst(&energy[..length]), worst(&energy[energy.len() - length..])]
}

/// Eleven bodies for ten years in steps of a day: the earth against `dop853`, the energy without drift.
#[test]
fn the_solar_system_for_ten_years() {
    let outcome = completed("solar-system", &[]);
    // Only the method that fits frequencies records them.
    let settings = [
        "run.integrator=\"dop853\"",
        "run.settings={}",
        "run.tolerance=1e-12",
        "output.channels=[]",
        "panel.inner.channels=[\"energy.kinetic\"]",
        "panel.outer.channels=[\"energy.potential\"]",
    ];
    let exact = completed("solar-system", &settings);
    let [early, late] = energy_bands(&outcome, 3);
    println!("solar system, energy: {early:.2e}, then {late:.2e}");
    assert!(late < 1.1 * early && early < 1e-8, "{early:e} {late:e}");
    let apart = |body: &str| {
        let name = format!("body.{body}.position");
        distance(last_vector(&outcome, &name), last_vector(&exact, &name))
    };
    for body in ["mercury", "venus", "earth", "mars", "jupiter", "saturn"] {
        println!("solar system, {body}: {:.2e} AU after ten years", apart(body));
    }
    // Steps of a day lose the phase of the month: with the moon, up to 0.00271 AU away, on any side, the earth is off the centre of both by twice 1/82.3 of
    // that at most. The rest of the bound is the error of that centre on its way round the sun.
    within("solar system, earth", apart("earth"), 2.0 * 0.00271 / 82.3 + 1e-5);
    // Estimated frequencies: a turn of 225 days for venus, steady to the eccentricity 0.0068 and no more; at the start by the acceleration there.
    let frequency = outcome.trajectory.column("body.venus.frequency").unwrap();
    let mean = std::f64::consts::TAU / 224.701;
    let off = frequency.iter().fold(0.0_f64, |max, omega| max.max((omega / mean - 1.0).abs()));
    println!("solar system: the frequency of venus is within {off:.2e} of its mean");
    assert!(off < 0.02, "{off}");
}

/// Half a swing of the pendulum on the rotation group: the energy stays in its band.
#[test]
fn the_pendulum_on_the_rotation_group() {
    let outcome = completed("pendulum-lie", &[]);
    let energy = outcome.trajectory.column("energy.total").unwrap();
    let worst = |part: &[f64]| part.iter().fold(0.0_f64, |max, e| max.max((e - energy[0]).abs()));
    let (early, late) = energy.split_at(energy.len() / 3);
    println!("pendulum-lie, energy: {:.2e} J, then {:.2e} J", worst(early), worst(late));
    assert!(worst(late) < 1.05 * worst(early), "{} {}", worst(late), worst(early));
    // The period of the table in the book: 4.7e-2 s less than 2.66587 s with quaternions. Passages through the lowest place lie between rows, on curves that are straight there up
    // to h² θ̇̇̇/8 of a step of 0.1 s, which is 0.01 s, over 22 swings.
    let (time, y) = (outcome.trajectory.time(), outcome.trajectory.column("marker.bob.position.y").unwrap());
    let passed: Vec<f64> = (1..y.len())
        .filter(|&k| y[k - 1] < 0.0 && y[k] >= 0.0)
        .map(|k| time[k] - (time[k] - time[k - 1]) * y[k] / (y[k] - y[k - 1]))
        .collect();
    let swings = passed.len() - 1;
    let period = (passed[swings] - passed[0]) / swings as f64;
    println!("pendulum-lie: period {period:.5} s over {swings} swings");
    assert!((period - (2.66587 - 4.7e-2)).abs() < 2.0 * 0.01 / swings as f64 + 5e-4, "{period}");
    // Rotation matrices have no solution at this step.
    let matrices =
        run(&scene("pendulum-lie", &["run.settings.chord=1"]).unwrap(), "pendulum-lie", None, &mut ()).unwrap();
    let error = matrices.summary.error.unwrap();
    assert!(error.contains("did not converge") && error.contains("smaller steps"), "{error}");
}

/// A body in directors, held rigid by constraints, is the top with a quaternion: mass 1 kg, E = m/12 (0.4², 0.4², 0.1²) and so inertias of m/12 (0.4² + 0.4²) and
/// m/12 (0.4² + 0.1²). Height and angular momentum about the tip after half a second, of order 2 and 4 against `dop853` on the rotation group; with multipliers and without.
#[test]
fn a_top_in_directors_is_the_top_with_a_quaternion() {
    let common = ["run.until=0.5", "output.every=0.5", "parameters.spin=60"];
    let twin = ["parameters.axial=\"= 0.32/12\"", "parameters.transverse=\"= 0.17/12\""];
    let exact = [&common[..], &twin, &["run.settings={}", "run.tolerance=1e-13", "run.integrator=\"dop853\""]].concat();
    let end = |outcome: &Outcome| {
        let balance = outcome.summary.ledger.end;
        let [x, y, z] = balance.angular_momentum;
        [balance.potential, x, y, z]
    };
    let reference = end(&completed("heavy-top", &exact));
    let apart = |found: [f64; 4]| found.iter().zip(&reference).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    for (method, coarse, order, settings) in [
        ("variational", 1000, 2.0, &[][..]),
        ("variational", 1000, 2.0, &["run.settings.null_space=1"]),
        ("galerkin_lobatto", 200, 4.0, &[]),
    ] {
        let all = [&common[..], settings].concat();
        let runs = [coarse, 2 * coarse].map(|steps| stepped("heavy-top-directors", method, steps, &all));
        let [large, small] = [&runs[0], &runs[1]].map(|outcome| apart(end(outcome)));
        let measured = (large / small).log2();
        println!("directors, {method} {settings:?}: {large:.1e} {small:.1e} order {measured:.2}");
        assert!((measured - order).abs() < 0.2, "{method} {settings:?}: {large:e} {small:e} order {measured:.2}");
        // Newton's method ends where changes below 16 ε no longer shrink, which is √2 times as much in a product of two directors; places of their ends, of size 1.3, are
        // rounded by half an ulp in three components each, and so are products: 6 ε.
        let bound = (16.0 * 2.0_f64.sqrt() + 6.0) * f64::EPSILON;
        within("directors", runs[0].summary.ledger.worst_position_residual, bound);
        // The vertical momentum about the tip is that of a symmetry.
        let ledger = &runs[0].summary.ledger;
        let change = (ledger.end.angular_momentum[2] - ledger.start.angular_momentum[2]).abs();
        // Twelve coordinates, each in some 50 operations of a map of up to three points and in nine constraints with three operations; momenta of 1.5 kg m²/s.
        within("directors, momentum", change, rounding(f64::from(coarse) * 0.5 * 12.0 * (50.0 + 27.0), 1.5));
    }
}

/// A built-in scene with settings, or what is wrong with it.
pub fn scene(name: &str, settings: &[&str]) -> Result<Scene, String> {
    let overrides: Overrides = settings.iter().copied().collect();
    let text = dalembert::scenes::find(name).unwrap().text;
    let document = Document::from_text(name, text, &overrides, &Limits::default()).map_err(|e| e.plain())?;
    Scene::from_document(document).map_err(|e| e.plain())
}

/// What runs without error control may be off by is of the size of what they are off by at order 2, not of their energies.
#[test]
fn ledgers_of_fixed_steps_can_fail() {
    for (name, settings, most) in [
        ("kepler", &["parameters.turns=10", "run.settings.fitted=0"][..], 3e-2),
        ("solar-system", &["run.settings.fitted=0"], 3e-2),
        ("fpu", &["run.until=20"], 0.6),
        ("atomistic", &["run.until=2"], 0.5),
        ("pendulum-lie", &[], 0.4),
        ("pendulum-lie", &["run.settings.chord=1", "run.settings.fixed_step=0.05"], 0.2),
        ("heavy-top-directors", &["run.until=0.5"], 1e-2),
    ] {
        let ledger = completed(name, settings).summary.ledger;
        let size = ledger.start.kinetic.abs() + ledger.start.potential.abs();
        println!("{name}: off by {:.2e} J, allowed {:.2e} J of {size:.2e} J", ledger.worst_imbalance, ledger.allowance);
        assert!(ledger.allowance < most * size, "{name}: {} of {size}", ledger.allowance);
    }
}

/// A ball that falls from a height h hits the ground at t₀ = √(2h/g), and bounces with restitution e again after 2eᵏt₀ each. Free flight is a parabola, which every
/// variational step has exactly: times are off by where events are located, 1e-10 of the tolerance over a speed that has fallen to 1 m/s, and what is after the tenth is at rest.
#[test]
fn a_ball_bounces_by_variational_steps() {
    let outcome = completed("bouncing-ball", &["run.integrator=\"variational\"", "run.settings={fixed_step=0.01}"]);
    let (first, e) = ((2.0_f64 / 9.81).sqrt(), 0.8_f64);
    let impacts = outcome.events.iter().filter(|event| event.kind == "impact");
    let mut expected = first;
    for (k, event) in impacts.take(6).enumerate() {
        within("bouncing ball, impact", (event.time - expected).abs(), 1e-9);
        expected += 2.0 * first * e.powi(k as i32 + 1);
    }
    assert!(outcome.events.iter().filter(|event| event.kind == "impact").count() > 10);
    let end = first * (1.0 + e) / (1.0 - e);
    let rest = outcome.events.iter().find(|event| event.kind == "rest" || event.kind == "touch");
    println!("bouncing ball: rest at {:?}, in closed form {end}", rest.map(|event| event.time));
    within("bouncing ball, height at the end", last(&outcome, "body.ball.position.z").abs(), 1e-9);
}

/// A free elastic body that stretches and turns: order 2 and 4 of its centre and of its deformation against `dop853`.
#[test]
fn a_free_elastic_body() {
    let text = r#"
[scene]
title = "A soft block in flight"

[assembly.block]
kind = "soft"
shape = { box = { size = [1, 0.8, 0.6] } }
density = 1000
material = { neo_hookean = { modulus = 6e4 } }
supports = []
position = [0, 0, 1]
velocity = [0.5, 0, 1]
angular_velocity = [2, 1, 3]

[run]
until = 0.5

[output]
every = 0.5
"#;
    let end = |settings: &[String]| -> Vec<f64> {
        let overrides: Overrides = settings.iter().map(String::as_str).collect();
        let document = Document::from_text("block", text, &overrides, &Limits::default());
        let made = Scene::from_document(document.unwrap_or_else(|e| panic!("{}", e.plain())));
        let outcome = run(&made.unwrap_or_else(|e| panic!("{}", e.plain())), "block", None, &mut ()).unwrap();
        assert_eq!(outcome.summary.error, None);
        outcome.summary.final_state.q
    };
    let exact = end(&["run.integrator=\"dop853\"".into(), "run.tolerance=1e-12".into()]);
    for (method, coarse, order) in
        [("variational", 200, 2.0), ("galerkin_gauss", 60, 4.0), ("galerkin_lobatto", 60, 4.0)]
    {
        let error = |steps: u32| {
            let step = format!("run.settings.fixed_step={:?}", 1.0 / f64::from(steps));
            let found = end(&[format!("run.integrator={method:?}"), step]);
            found.iter().zip(&exact).fold(0.0_f64, |most, (a, b)| most.max((a - b).abs()))
        };
        let (large, small) = (error(coarse), error(2 * coarse));
        let measured = (large / small).log2();
        println!("elastic block, {method}: {large:.1e} {small:.1e} order {measured:.2}");
        assert!((measured - order).abs() < 0.3, "{method}: {large:e} {small:e} order {measured:.2}");
    }
}

/// Extra states are refused by the name of the element that has them.
#[test]
fn extra_states_are_refused_by_name() {
    let made = scene("jumper", &["run.integrator=\"variational\"", "run.settings={}"]).unwrap();
    let Err(error) = run(&made, "jumper", None, &mut ()) else { panic!("extra states are taken") };
    assert!(error.to_string().contains("extra states") && error.to_string().contains("`force."), "{error}");
}
