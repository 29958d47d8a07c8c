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

/// A block of 2 kg on a rail at 3 m/s under a load of 2 N against 5 N: at rest after 2 s and 3 m, and held there. Friction is −5 N while it
/// slides and −2 N while it sticks. The same between links of a tree, where it is the friction of the joint, and between bodies that both move.
#[test]
fn a_block_on_a_rail_stops_and_holds_its_load() {
    let settings = ["run.until=5", "run.tolerance=1e-10", "output.every=0.25"];
    let block = "kind = \"rigid\"\nmass = 2\ninertia = [1, 1, 1]\nvelocity = [3, 0, 0]\n";
    let rail = "[joint.rail]\nkind = \"prismatic\"\nbetween = [\"ground\", \"block\"]\naxis = [1, 0, 0]\n\
                [force.rub]\nkind = \"dry_friction\"\nbetween = [\"ground\", \"block\"]\nof = \"travel\"\naxis = [1, 0, 0]\nsize = 5\n";
    let world = "[world]\ngravity = [1, 0, 0]\n";
    let bodies = completed(&format!("{world}[body.block]\n{block}{rail}"), &settings);
    let tree = format!(
        "{world}[body.tree]\nkind = \"tree\"\n[[body.tree.links]]\nname = \"block\"\nmass = 2\nfriction = 5\nvelocities = [3]\n{SLIDE}"
    );
    let tree = completed(&tree, &settings);
    for (outcome, body, friction) in
        [(&bodies, "body.block", "force.rub"), (&tree, "body.tree.block", "body.tree.block")]
    {
        let [(stop, element)] = events(outcome, "stick")[..] else { panic!("{:?}", outcome.events) };
        assert!((stop - 2.0).abs() < 1e-9 && element == friction, "{element}: {stop}");
        assert!((last(outcome, &format!("{body}.position.x")) - 3.0).abs() < 1e-9);
        assert!((last(outcome, "energy.dissipated") - 5.0 * 3.0).abs() < 1e-8);
        let channel = outcome.trajectory.channels().iter().find(|c| c.name == format!("{friction}.friction")).unwrap();
        assert_eq!(channel.unit, "N");
        let (times, forces) =
            (outcome.trajectory.column("time").unwrap(), outcome.trajectory.column(&channel.name).unwrap());
        for (t, force) in times.iter().zip(forces).filter(|(t, _)| **t != 2.0) {
            let exact = if *t < 2.0 { -5.0 } else { -2.0 };
            assert!((force - exact).abs() < 1e-9, "{t}: {force} against {exact}");
        }
    }
    // On a sledge of 3 kg that is free itself: both end at 3 · 2/5 m/s, after 3 m/s over the relative deceleration 5 (1/2 + 1/3) m/s².
    let free = format!(
        "[body.sledge]\nkind = \"rigid\"\nmass = 3\ninertia = [1, 1, 1]\n[body.block]\n{block}{}",
        rail.replace("\"ground\"", "\"sledge\"")
    );
    let outcome = completed(&free, &settings);
    let [(stop, _)] = events(&outcome, "stick")[..] else { panic!("{:?}", outcome.events) };
    assert!((stop - 3.0 / (5.0 * (0.5 + 1.0 / 3.0))).abs() < 1e-9, "{stop}");
    for body in ["sledge", "block"] {
        assert!((last(&outcome, &format!("body.{body}.velocity.x")) - 1.2).abs() < 1e-9);
    }
}

/// A disc of 0.4 kg m² on a shaft at 5 rad/s against 0.8 N m: at rest after 2.5 s and 6.25 rad. Held by 0.8 N m it stays under a motor of 0.7 N m, and
/// turns under one of 0.9 N m with 0.1/0.4 rad/s².
#[test]
fn a_disc_on_a_shaft_stops_and_starts() {
    let scene = |speed: f64, torque: f64| {
        format!(
            "[body.disc]\nkind = \"rigid\"\nmass = 1\ninertia = [0.2, 0.2, 0.4]\nangular_velocity = [0, 0, {speed:?}]\n\
             [joint.shaft]\nkind = \"revolute\"\nbetween = [\"ground\", \"disc\"]\n\
             [force.brake]\nkind = \"dry_friction\"\nbetween = [\"ground\", \"disc\"]\nof = \"angle\"\nsize = 0.8\n\
             [force.motor]\nkind = \"motor\"\nbetween = [\"ground\", \"disc\"]\ntorque = {torque:?}\n"
        )
    };
    let settings = ["run.until=4", "run.tolerance=1e-10", "output.every=0.25"];
    let stopped = completed(&scene(5.0, 0.0), &settings);
    let [(stop, element)] = events(&stopped, "stick")[..] else { panic!("{:?}", stopped.events) };
    assert!((stop - 2.5).abs() < 1e-9 && element == "force.brake", "{element}: {stop}");
    let angle = last(&stopped, "joint.shaft.angle");
    assert!((angle - (6.25 - std::f64::consts::TAU)).abs() < 1e-9, "{angle}");
    let channel = stopped.trajectory.channels().iter().find(|c| c.name == "force.brake.friction").unwrap();
    assert_eq!(channel.unit, "N m");
    let held = completed(&scene(0.0, 0.7), &settings);
    assert!(last(&held, "body.disc.angular_velocity.z").abs() < 1e-12);
    assert!((last(&held, "force.brake.friction") + 0.7).abs() < 1e-9);
    let turning = completed(&scene(0.0, 0.9), &settings);
    assert!((last(&turning, "body.disc.angular_velocity.z") - 1.0).abs() < 1e-9);
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

/// A slide falls 5 m onto its stop and bounces with ε = 1/2: impacts after 1 s, 2 s, 2.5 s, …, at rest from 3 s on, pressed by its weight. The
/// first impact takes 3/4 of the energy 2 · ½ 10² J.
#[test]
fn a_slide_bounces_off_the_end_of_its_range() {
    let text = format!(
        "[world]\ngravity = [-10, 0, 0]\n[body.tree]\nkind = \"tree\"\nstop_restitution = 0.5\n[[body.tree.links]]\nname = \"slider\"\nmass = 2\nrange = [-5, 3]\n{SLIDE}"
    );
    let outcome = completed(&text, &["run.until=4", "run.tolerance=1e-10", "output.every=0.5"]);
    let impacts = events(&outcome, "impact");
    for ((t, element), exact) in impacts.iter().zip([1.0, 2.0, 2.5, 2.75]) {
        assert!((t - exact).abs() < 1e-8 && *element == "body.tree.slider.lower", "{element}: {t} against {exact}");
    }
    let loss = outcome.events.iter().find(|e| e.kind == "loss").unwrap();
    assert!((loss.value - 75.0).abs() < 1e-7, "{loss:?}");
    assert!((last(&outcome, "body.tree.slider.position.x") + 5.0).abs() < 1e-9);
    assert!((last(&outcome, "body.tree.slider.lower.press") - 20.0).abs() < 1e-9);
    assert!((last(&outcome, "body.tree.slider.upper.gap") - 8.0).abs() < 1e-9);
}

/// A wheel on a ball joint turns about the axis of its cone between the ends of its twist, with ε = 1/2: 1 rad/s to 0.8 rad, then −1/2 rad/s to
/// −1 rad, reached after 0.8 s + 1.8/0.5 s, then 1/4 rad/s. A rod comes to rest on the edge of its cone, at the swing itself, and presses it with m g l sin θ.
#[test]
fn stops_of_a_ball_joint_are_contacts() {
    let ball = "joint = { kind = \"spherical\" }\n";
    let text = format!(
        "[body.tree]\nkind = \"tree\"\nstop_restitution = 0.5\n[[body.tree.links]]\nname = \"wheel\"\nmass = 1\ninertia = [0.1, 0.1, 0.15]\n{ball}\
         velocities = [0, 0, 1]\ncone = {{ axis = [0, 0, 1], twist = [-1, 0.8] }}\n"
    );
    let outcome = completed(&text, &["run.until=6", "run.tolerance=1e-10", "output.every=0.5"]);
    let impacts = events(&outcome, "impact");
    let [(first, upper), (second, lower)] = impacts[..] else { panic!("{impacts:?}") };
    assert!((first - 0.8).abs() < 1e-9 && upper == "body.tree.wheel.twist_upper", "{upper}: {first}");
    assert!((second - 4.4).abs() < 1e-8 && lower == "body.tree.wheel.twist_lower", "{lower}: {second}");
    assert!((last(&outcome, "body.tree.wheel.angular_velocity.z") - 0.25).abs() < 1e-9);
    let unit = &outcome.events.iter().find(|e| e.kind == "impact").unwrap().unit;
    assert_eq!(unit, "N m s");

    let text = format!(
        "[world]\ngravity = [0, 0, -10]\n[body.tree]\nkind = \"tree\"\nstop_restitution = 0\n[[body.tree.links]]\nname = \"rod\"\nmass = 1\n\
         centre = [0, 0, 0.5]\ninertia = [0.1, 0.1, 0.1]\ndamping = 1\n{ball}\
         coordinates = [0.99, 0.1, 0.09949874371066199, 0]\nvelocities = [0.1, 0, 1]\ncone = {{ axis = [0, 0, 1], swing = 0.6 }}\n"
    );
    let outcome = completed(&text, &["run.until=20", "run.tolerance=1e-9", "output.every=1"]);
    let q = ["w", "x", "y", "z"].map(|c| last(&outcome, &format!("body.tree.rod.orientation.{c}")));
    let swing = 2.0 * q[1].hypot(q[2]).asin();
    assert!((swing - 0.6).abs() < 1e-9, "{swing}");
    // What is left of the motion after 20 s of damping 1/0.35 s is rounding and the tolerance.
    let press = last(&outcome, "body.tree.rod.swing.press");
    assert!((press - 5.0 * f64::sin(0.6)).abs() < 1e-6, "{press}");
}

/// Stops of a cone are conservative without damping: the energy stays while the rod goes from stop to stop.
#[test]
fn stops_of_a_cone_keep_the_energy() {
    let text = "[world]\ngravity = [0, 0, -10]\n[body.tree]\nkind = \"tree\"\nstop_stiffness = 100\nstop_damping = 0\n[[body.tree.links]]\nname = \"rod\"\nmass = 1\n\
                centre = [0, 0, -0.5]\ninertia = [0.1, 0.12, 0.05]\njoint = { kind = \"spherical\" }\nvelocities = [2, 3, 4]\n\
                cone = { axis = [0.1, 0, 1], swing = 0.4, twist = [-0.5, 0.7] }\n";
    let outcome = completed(text, &["run.until=3", "run.tolerance=1e-10", "output.every=0.1"]);
    let energy = outcome.trajectory.column("energy.total").unwrap().to_vec();
    assert!(energy.iter().all(|e| (e - energy[0]).abs() < 1e-5), "{energy:?}");
}
