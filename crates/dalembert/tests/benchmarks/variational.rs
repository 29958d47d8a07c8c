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
    let own = [format!("run.integrator={method:?}"), format!("run.settings.fixed_step={:?}", 1.0 / f64::from(steps))];
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
        let exact = [&common[..], &["run.tolerance=1e-13", "run.integrator=\"dop853\""]].concat();
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
    // 400 steps; two points, two iterations and both links make some 200 operations on momenta of size one.
    let bound = rounding(400.0 * 200.0, 1.0);
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
    // 1200 steps of some 200 operations on momenta of 0.1 kg m²/s.
    let bound = rounding(1200.0 * 200.0, 0.1);
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
    assert!(sines < 0.5 * lines, "{sines} {lines}");
}

/// Eleven bodies for ten years in steps of a day: the earth against `dop853`, the energy without drift.
#[test]
fn the_solar_system_for_ten_years() {
    let outcome = completed("solar-system", &["run.ledger_factor=10"]);
    // Only the method that fits frequencies records them.
    let settings = ["run.integrator=\"dop853\"", "run.settings={}", "run.tolerance=1e-12", "output.channels=[]"];
    let exact = completed("solar-system", &settings);
    let apart = |body: &str| {
        let name = format!("body.{body}.position");
        distance(last_vector(&outcome, &name), last_vector(&exact, &name))
    };
    for body in ["mercury", "venus", "earth", "mars", "jupiter", "saturn"] {
        println!("solar system, {body}: {:.2e} AU after ten years", apart(body));
    }
    within("solar system, earth", apart("earth"), 1e-3);
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
}

/// The sum I of the energies of the stiff springs is kept over 200 units of time, while they exchange it. dI/dt = x₁'·F with F the soft forces on the
/// stiff springs; by parts the change is 2 |x₁| |F| with |x₁| ≤ √(2I)/ω and |F| ≤ 2 (4E)^¾ for soft springs of energy E.
#[test]
fn stiff_springs_keep_their_energy_together() {
    let outcome = completed("fpu", &["run.ledger_factor=10"]);
    let column = |name: String| outcome.trajectory.column(&name).unwrap().to_vec();
    let mut sums = vec![0.0; outcome.trajectory.time().len()];
    let mut exchanged = 0.0_f64;
    for i in 1..=3 {
        let [a, b] = ["left", "right"].map(|side| column(format!("body.{side}{i}.position.x")));
        let [v, w] = ["left", "right"].map(|side| column(format!("body.{side}{i}.velocity.x")));
        for (row, sum) in sums.iter_mut().enumerate() {
            let (stretch, rate) = (b[row] - a[row] - 10.0, w[row] - v[row]);
            // ½(v₁² + ω² x₁²) with x₁ = stretch/√2.
            let energy = 0.25 * (rate * rate + (50.0 * stretch).powi(2));
            *sum += energy;
            exchanged = exchanged.max(if i > 1 { energy } else { 0.0 });
        }
    }
    let worst = sums.iter().fold(0.0_f64, |max, sum| max.max((sum - sums[0]).abs()));
    println!("fpu: start {:.3}, exchanged {exchanged:.3}", sums[0]);
    let soft = outcome.trajectory.column("energy.total").unwrap()[0] - sums[0];
    let bound = 2.0 * (2.0 * sums[0]).sqrt() / 50.0 * 2.0 * (4.0 * soft).powf(0.75);
    within("fpu, sum of stiff energies", worst, bound);
    assert!(exchanged > 0.5);
}

/// Links hold at the micro steps, the energy closes, and tags that name nothing are an error.
#[test]
fn atoms_on_two_grids() {
    let fine = completed("atomistic", &["run.until=2", "run.settings.fixed_step=0.001", "run.ledger_factor=10"]);
    let coarse = completed("atomistic", &["run.until=2", "run.settings.fixed_step=0.002", "run.ledger_factor=10"]);
    let settings = ["run.until=2", "run.integrator=\"dop853\"", "run.settings={}", "run.tolerance=1e-12"];
    let exact = completed("atomistic", &settings);
    let error =
        |outcome: &Outcome| distance(last_vector(outcome, "body.c2.position"), last_vector(&exact, "body.c2.position"));
    let order = (error(&coarse) / error(&fine)).log2();
    println!("atomistic: {:.1e} {:.1e} order {order:.2}", error(&coarse), error(&fine));
    assert!((order - 2.0).abs() < 0.2, "{order}");
}

fn scene(name: &str, settings: &[&str]) -> Result<Scene, String> {
    let overrides: Overrides = settings.iter().copied().collect();
    let text = dalembert::scenes::find(name).unwrap().text;
    let document = Document::from_text(name, text, &overrides, &Limits::default()).map_err(|e| e.plain())?;
    Scene::from_document(document).map_err(|e| e.plain())
}

/// Without tags stiff springs are found from stiffness, and the motion is that with tags; three rates run; wrong tags are errors.
#[test]
fn rates_are_named_or_found() {
    let short = ["run.until=2", "run.ledger_factor=10"];
    for name in ["fpu", "atomistic"] {
        let found = [&short[..], &["run.fast=[]"]].concat();
        let [named, found] = [&short[..], &found].map(|settings| completed(name, settings));
        assert_eq!(named.summary.final_state.q, found.summary.final_state.q, "{name}");
    }
    let rates = scene("fpu", &["run.fast=[]"]).unwrap().model.stiffness_rates();
    println!("fpu: rates of single forces {rates:.1?}");
    let three = ["run.fast=[\"stiff1\"]", "run.faster=[\"stiff2\", \"stiff3\"]", "run.settings.faster_steps=2"];
    let outcome = completed("fpu", &[&short[..], &three].concat());
    assert!(outcome.summary.final_state.time == 2.0);
    for (settings, expected) in [
        (&["run.fast=[\"stuff*\"]"][..], "no force matches `stuff*`"),
        (&["run.fast=[\"stiff*\"]", "run.faster=[\"stiff1\"]"], "`stiff1` has a rate already"),
        (&["run.fast=[]", "run.faster=[\"stiff*\"]"], "no forces in `fast`"),
    ] {
        let Err(error) = scene("fpu", settings) else { panic!("{expected}") };
        assert!(error.contains(expected), "{error}");
    }
    // All forces alike: no gap, no rates.
    let alike = scene("fpu", &["run.fast=[]", "parameters.omega=3"]).unwrap();
    let Err(error) = run(&alike, "fpu", None, &mut ()) else { panic!("nothing is fast") };
    assert!(error.to_string().contains("run.fast"), "{error}");
}
