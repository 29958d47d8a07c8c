//! Dry friction of joints that sticks, and stops of spherical joints, against closed forms.
#![allow(clippy::unwrap_used, missing_docs)]

use dalembert::record::Status;
use dalembert::run::{Outcome, run};
use dalembert::scene::{Document, Limits, Overrides, Scene};

fn completed(text: &str, settings: &[&str]) -> Outcome {
    let overrides: Overrides = settings.iter().copied().collect();
    let document = Document::from_text("tree", text, &overrides, &Limits::default());
    let scene = Scene::from_document(document.unwrap_or_else(|e| panic!("{}", e.plain())))
        .unwrap_or_else(|e| panic!("{}", e.plain()));
    let outcome = run(&scene, "tree", None, &mut ()).unwrap();
    assert_eq!(outcome.summary.status, Status::Completed, "{:?}", outcome.summary.error);
    outcome
}

fn last(outcome: &Outcome, channel: &str) -> f64 {
    *outcome.trajectory.column(channel).unwrap_or_else(|| panic!("no channel {channel}")).last().unwrap()
}

/// Times of the events of a kind, with the joints.
fn events<'a>(outcome: &'a Outcome, kind: &str) -> Vec<(f64, &'a str)> {
    outcome.events.iter().filter(|e| e.kind == kind).map(|e| (e.time, e.element.as_str())).collect()
}

const SLIDE: &str = "joint = { kind = \"prismatic\", axis = [1, 0, 0] }\ninertia = [1, 1, 1]\n";

/// 2 kg at 6 m/s against 3 N: at rest after 4 s and 12 m, for good, and all energy is heat. Also in time steps, to first order.
#[test]
fn a_slider_stops_at_the_known_time_and_place() {
    let text = format!(
        "[body.tree]\nkind = \"tree\"\n[[body.tree.links]]\nname = \"slider\"\nmass = 2\nfriction = 3\nvelocities = [6]\n{SLIDE}"
    );
    let settings = ["run.until=6", "run.tolerance=1e-10", "output.every=0.5"];
    let outcome = completed(&text, &settings);
    let [(stop, joint)] = events(&outcome, "stick")[..] else { panic!("{:?}", outcome.events) };
    assert!((stop - 4.0).abs() < 1e-9 && joint == "body.tree.slider", "{joint}: {stop}");
    assert!((last(&outcome, "body.tree.slider.position.x") - 12.0).abs() < 1e-9);
    assert!(last(&outcome, "body.tree.slider.velocity.x").abs() < 1e-12);
    assert!((last(&outcome, "energy.dissipated") - 36.0).abs() < 1e-8);
    let stepped = ["run.integrator=\"moreau\"", "run.contacts.impact_friction=true", "run.settings.step=0.01"];
    let outcome = completed(&text, &[&settings[..1], &stepped, &settings[2..]].concat());
    // The midpoint rule is exact for constant forces; only the step of the stop is not: less than v h = 1.5 · 0.01².
    assert!((last(&outcome, "body.tree.slider.position.x") - 12.0).abs() < 2e-4);
}

/// A spring that pulls less than friction holds moves nothing; one that pulls more swings to the mirror image of friction's share and so on:
/// the turning points are x ← ±2F/k − x, until |k x| ≤ F.
#[test]
fn a_spring_moves_a_slider_only_beyond_friction() {
    let scene = |x: f64| {
        format!(
            "[body.tree]\nkind = \"tree\"\n[[body.tree.links]]\nname = \"slider\"\nmass = 2\nfriction = 3\nstiffness = 10\ncoordinates = [{x:?}]\n{SLIDE}"
        )
    };
    let settings = ["run.until=8", "run.tolerance=1e-10", "output.every=1"];
    let held = completed(&scene(0.29), &settings);
    // Some ten steps with one projection each, to rounding.
    assert!((last(&held, "body.tree.slider.position.x") - 0.29).abs() < 1e-14);
    let mut exact: f64 = 1.7;
    let mut swings = 0;
    while 10.0 * exact.abs() > 3.0 {
        exact = exact.signum() * 0.6 - exact;
        swings += 1;
    }
    let moved = completed(&scene(1.7), &settings);
    assert!((last(&moved, "body.tree.slider.position.x") - exact).abs() < 1e-8, "{exact}");
    let [(stop, _)] = events(&moved, "stick")[..] else { panic!("{:?}", moved.events) };
    let half = std::f64::consts::PI / 5f64.sqrt();
    assert!((stop - f64::from(swings) * half).abs() < 1e-8, "{stop}");
}

/// A pendulum with friction T in its hinge turns where m g l (cos θ₁ − cos θ₀) = −T |θ₁ − θ₀|, and stays where m g l |sin θ| ≤ T.
#[test]
fn a_pendulum_with_friction_stops_at_the_known_angle() {
    let text = "[world]\ngravity = [0, 0, -10]\n[body.tree]\nkind = \"tree\"\n[[body.tree.links]]\nname = \"rod\"\nmass = 1\ncentre = [0, 0, -1]\n\
                inertia = [0.1, 0.1, 0.1]\nfriction = 1.3\ncoordinates = [1.4]\njoint = { kind = \"revolute\", axis = [0, 1, 0] }\n";
    let (weight, torque) = (10.0, 1.3);
    let mut angle = 1.4f64;
    while weight * angle.sin().abs() > torque {
        // Towards the other side: bisection on the energy that is left, which falls from positive to negative.
        let sign = angle.signum();
        let left = |x: f64| weight * ((sign * x).cos() - angle.cos()) - torque * (angle - sign * x).abs();
        let (mut low, mut high) = ((torque / weight).asin() * 0.999, -angle.abs());
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if left(middle) > 0.0 { low = middle } else { high = middle }
        }
        angle = sign * low;
    }
    let outcome = completed(text, &["run.until=30", "run.tolerance=1e-10", "output.every=1"]);
    let (x, z) = (last(&outcome, "body.tree.rod.orientation.y"), last(&outcome, "body.tree.rod.orientation.w"));
    let reached = 2.0 * x.atan2(z);
    assert!((reached - angle).abs() < 1e-7, "{reached} against {angle}");
}

/// Two sliders in a row, 3 kg on the ground with friction F₁ and 1 kg on it with 2 N, which starts with 4 m/s.
#[test]
fn a_chain_of_sliders_sticks_one_by_one() {
    let scene = |first: f64| {
        format!(
            "[body.tree]\nkind = \"tree\"\n[[body.tree.links]]\nname = \"one\"\nmass = 3\nfriction = {first:?}\n{SLIDE}\
             [[body.tree.links]]\nname = \"two\"\nparent = \"one\"\nmass = 1\nfriction = 2\nvelocities = [4]\n{SLIDE}"
        )
    };
    let settings = ["run.until=5", "run.tolerance=1e-10", "output.every=1"];
    // 5 N hold the first: the second stops after 2 s and 4 m.
    let held = completed(&scene(5.0), &settings);
    assert!(last(&held, "body.tree.one.position.x").abs() < 1e-12);
    assert!((last(&held, "body.tree.two.position.x") - 4.0).abs() < 1e-9);
    // 1 N does not: it gains 1/3 m/s² until both move alike after 12/7 s, then both stop together, 4 s from the start.
    let dragged = completed(&scene(1.0), &settings);
    let sticks = events(&dragged, "stick");
    let [(joined, "body.tree.two"), (stopped, "body.tree.one")] = sticks[..] else { panic!("{sticks:?}") };
    assert!((joined - 12.0 / 7.0).abs() < 1e-9 && (stopped - 4.0).abs() < 1e-8, "{joined} {stopped}");
    assert!((last(&dragged, "body.tree.one.position.x") - 8.0 / 7.0).abs() < 1e-8);
    assert!((last(&dragged, "body.tree.two.position.x") - 8.0 / 7.0 - 24.0 / 7.0).abs() < 1e-8);
}

/// A rod on a ball joint leans on the edge of its cone: at rest m g l sin θ = K (θ − θ₀). A wheel that is turned about the axis of the cone by
/// a spring-like stop rests where its twist ends.
#[test]
fn a_ball_joint_leans_on_its_cone() {
    let text = "[world]\ngravity = [0, 0, -10]\n[body.tree]\nkind = \"tree\"\nstop_stiffness = 400\nstop_damping = 60\n[[body.tree.links]]\nname = \"rod\"\nmass = 1\n\
                centre = [0, 0, 0.5]\ninertia = [0.1, 0.1, 0.1]\ndamping = 1\njoint = { kind = \"spherical\" }\n\
                coordinates = [0.99, 0.1, 0.09949874371066199, 0]\nvelocities = [0.1, 0, 3]\ncone = { axis = [0, 0, 1], swing = 0.6, twist = [-1, 0.8] }\n";
    let outcome = completed(text, &["run.until=30", "run.tolerance=1e-9", "output.every=1"]);
    let q = ["w", "x", "y", "z"].map(|c| last(&outcome, &format!("body.tree.rod.orientation.{c}")));
    let swing = 2.0 * q[1].hypot(q[2]).asin();
    let mut exact = 0.6;
    for _ in 0..100 {
        exact = 0.6 + 10.0 * 0.5 * f64::sin(exact) / 400.0;
    }
    assert!((swing - exact).abs() < 1e-7, "{swing} against {exact}");
    let energy = outcome.summary.ledger;
    assert!(energy.worst_position_residual < 1e-12);
}

/// Stops of a cone are conservative without damping: the energy stays while the rod goes from stop to stop.
#[test]
fn stops_of_a_cone_keep_the_energy() {
    let text = "[world]\ngravity = [0, 0, -10]\n[body.tree]\nkind = \"tree\"\nstop_stiffness = 100\nstop_damping = 0\n[[body.tree.links]]\nname = \"rod\"\nmass = 1\n\
                centre = [0, 0, -0.5]\ninertia = [0.1, 0.12, 0.05]\njoint = { kind = \"spherical\" }\nvelocities = [2, 3, 4]\n\
                cone = { axis = [0.1, 0, 1], swing = 0.4, twist = [-0.5, 0.7] }\n";
    let outcome = completed(text, &["run.until=3", "run.tolerance=1e-9", "output.every=0.1"]);
    let energy = outcome.trajectory.column("energy.total").unwrap().to_vec();
    assert!(energy.iter().all(|e| (e - energy[0]).abs() < 1e-5), "{energy:?}");
}
