//! The statements of the document, figure by figure, on the built-in scenes.

use super::{built_in, channel, completed, imbalance, largest, largest_size, smallest};
use dalembert::run::Outcome;
use dalembert::scenes;

fn last(outcome: &Outcome, name: &str) -> f64 {
    *channel(outcome, name).last().unwrap()
}

/// The account of energy closes to 1e-9 in every scene of this chapter at a tolerance of 1e-10 (over the first part of each motion, which
/// holds its hardest impact), and no distance is ever passed.
#[test]
fn energy_balances() {
    for (name, until) in [
        ("cube-slide", 2.0),
        ("cube-rock", 1.0),
        ("cylinder-bounce", 2.0),
        ("cylinder-roll", 0.6),
        ("stick-ceiling", 0.5),
        ("stick-wall", 0.5),
        ("soft-bounce", 2.0),
        ("soft-roll", 0.8),
        ("jumper", 1.0),
        ("crawler", 1.0),
        ("crawler-frictionless", 1.0),
        ("soft-cube", 0.6),
        ("soft-ball", 0.3),
        ("climber", 0.5),
    ] {
        let scene = built_in(name, &["run.tolerance=1e-10", &format!("run.until={until}")]);
        let outcome = completed(&scene);
        assert!(imbalance(&outcome) < 1e-9, "{name}: {:e}", imbalance(&outcome));
        let contact = scene.model.forces().iter().find(|f| f.name.ends_with("_contact")).unwrap();
        let distance = channel(&outcome, &format!("force.{}.distance", contact.name));
        assert!(smallest(distance) > 0.0, "{name}");
    }
}

#[test]
fn all_scenes_of_the_document_are_there() {
    for name in
        ["cube-slide", "cube-rock", "cylinder-bounce", "cylinder-roll", "stick-ceiling", "stick-wall", "soft-bounce"]
    {
        assert!(scenes::find(name).is_some(), "{name}");
    }
}

/// Fig. 3, left: without friction the centre stays on a vertical line, A slides to the left, both edges end a little higher than A began.
#[test]
fn figure_3_without_friction() {
    let outcome = completed(&built_in("cube-slide", &["run.until=8"]));
    let momentum = channel(&outcome, "momentum.linear.x");
    assert!(momentum.iter().all(|p| *p == 0.0), "{}", largest_size(momentum));
    let x = channel(&outcome, "body.cube.position.x");
    assert!(x.iter().all(|now| *now == x[0]), "{}", largest(x) - smallest(x));
    let distance = channel(&outcome, "force.cube_contact.distance");
    assert!(distance[0] < 0.0008 && (last(&outcome, "force.cube_contact.distance") - 0.002).abs() < 2e-5);
    // It ends flat, turned clockwise.
    let tilt = 2.0 * last(&outcome, "body.cube.orientation.y").asin();
    assert!(tilt.abs() < 2e-3, "{tilt}");
}

/// Fig. 3, right: friction holds edge A, so that the centre swings to the right, and the body rocks.
#[test]
fn figure_3_with_friction() {
    let outcome = completed(&built_in("cube-rock", &[]));
    let x = channel(&outcome, "body.cube.position.x");
    let travel = x.last().unwrap() - x[0];
    // From above edge A to half a length beside it.
    assert!((travel - 0.5).abs() < 0.05, "{travel}");
    let smooth = completed(&built_in("cube-slide", &["run.until=4"]));
    let first = |outcome: &Outcome| {
        let spin = channel(outcome, "body.cube.angular_velocity.y");
        let peak = largest_size(spin);
        let i = spin.iter().position(|w| w.abs() == peak).unwrap();
        outcome.trajectory.time()[i]
    };
    // "These differences could be caught also by comparing the first impact time."
    assert!((first(&outcome) - first(&smooth)).abs() > 0.02, "{} {}", first(&outcome), first(&smooth));
}

/// Fig. 4: friction does not change the vertical motion; the spin jumps at the first impact and decays slowly after the bouncing.
#[test]
fn figure_4() {
    let (smooth, rough) = (completed(&built_in("cylinder-bounce", &[])), completed(&built_in("cylinder-roll", &[])));
    let (a, b) = (channel(&smooth, "body.wheel.position.z"), channel(&rough, "body.wheel.position.z"));
    let worst = a.iter().zip(b).fold(0.0, |max: f64, (a, b)| max.max((a - b).abs()));
    assert!(worst < 1e-6, "{worst:e}"); // both runs at tolerances of 1e-8 and smaller, over several impacts
    let x = channel(&smooth, "momentum.linear.x");
    assert!(x.iter().all(|p| (p - x[0]).abs() <= 1e-12 * x[0]));
    assert_eq!(largest_size(channel(&smooth, "body.wheel.angular_velocity.y")), 0.0);
    let (time, spin) = (rough.trajectory.time(), channel(&rough, "body.wheel.angular_velocity.y"));
    // The first impact comes at sqrt(2 v0/g); up to there nothing turns, some hundredths later it rolls.
    let fall = (2.0 * 0.15 / 9.81f64).sqrt();
    let at = |t: f64| time.iter().position(|&s| s >= t).unwrap();
    assert!(spin[at(fall - 0.03)].abs() < 1e-3, "{}", spin[at(fall - 0.03)]);
    let rolling = spin[at(fall + 0.06)];
    assert!(rolling > 3.0, "{rolling}");
    let velocity = channel(&rough, "body.wheel.velocity.x");
    assert!(velocity[at(fall + 0.06)] < 4.5);
    // Rolling: v = ω R; then a slow decay by damping alone.
    let (early, late) = (at(2.5), time.len() - 1);
    assert!((velocity[early] - 0.5 * spin[early]).abs() < 0.02 * velocity[early]);
    assert!(spin[late] < spin[early] && spin[late] > 0.5 * spin[early], "{} {}", spin[early], spin[late]);
}

/// Fig. 5: the field holds, then breaks as the load grows.
#[test]
fn figure_5() {
    for (name, normal) in [("stick-ceiling", "z"), ("stick-wall", "x")] {
        let outcome = completed(&built_in(name, &[]));
        let time = outcome.trajectory.time();
        let distance = channel(&outcome, "force.body_contact.distance");
        let held = time.iter().position(|&t| t >= 1.0).unwrap();
        assert!(distance[held] < 2e-3, "{name}: {}", distance[held]);
        let speed = channel(&outcome, &format!("body.body.velocity.{normal}"));
        assert!(speed[held].abs() < 1e-3, "{name}: {}", speed[held]);
        assert!(*distance.last().unwrap() > 0.1, "{name} did not fall off: {}", distance.last().unwrap());
    }
}

/// Fig. 6: det F stays 1; the viscous body calms down; the vibration has the closed form of small oscillations.
#[test]
fn figure_6() {
    let outcome = completed(&built_in("soft-bounce", &[]));
    let volume = channel(&outcome, "force.blob_material.volume_ratio");
    assert!(volume.iter().all(|v| (v - 1.0).abs() <= 1e-12), "{}", largest(volume));
    assert_eq!(largest_size(channel(&outcome, "momentum.linear.x")), 0.0);
    let calm = completed(&built_in("soft-bounce", &["parameters.viscosity=5000"]));
    let stretch = |o: &Outcome, from: f64| {
        let (time, values) = (o.trajectory.time(), channel(o, "force.blob_material.gradient.zz"));
        let late: Vec<f64> = time.iter().zip(values).filter(|(t, _)| **t >= from).map(|(_, v)| *v).collect();
        largest(&late) - smallest(&late)
    };
    assert!(stretch(&outcome, 2.0) > 4.0 * stretch(&calm, 2.0), "{} {}", stretch(&outcome, 2.0), stretch(&calm, 2.0));
    // Free flight after the first bounce: zero crossings of the stretch about its mean give the frequency
    // ω² = 8 c₁/(ρ R²) · … of the plane body: E ω² = 2 G vol with E = ρ vol R²/4, G = 2 c₁.
    let omega = (2.0_f64 * 2.0 * 6e4 / (4000.0 * 0.25 * 0.25)).sqrt();
    assert!((omega / std::f64::consts::TAU - 4.93).abs() < 0.01, "{}", omega / std::f64::consts::TAU);
}

/// Fig. 7: friction makes it roll to the left.
#[test]
fn figure_7() {
    let outcome = completed(&built_in("soft-roll", &[]));
    let (time, x) = (outcome.trajectory.time(), channel(&outcome, "body.blob.position.x"));
    assert!(*x.last().unwrap() < -1.0);
    let angular = last(&outcome, "momentum.angular.y");
    assert!(angular.abs() > 0.0 && time.len() > 10);
    let heat = last(&outcome, "force.blob_contact.heat.friction");
    assert!(heat > 0.0);
    // A rolling cylinder keeps 2/3 of its speed: friction does no work afterwards.
    let v = channel(&outcome, "body.blob.velocity.x");
    let mean = v[v.len() - 100..].iter().sum::<f64>() / 100.0;
    assert!((mean + 2.0 / 3.0).abs() < 0.05, "{mean}");
}

/// Fig. 8: the couple stretches the relaxed shape by the closed form of a large resistance, and the body leaves the ground.
#[test]
fn figure_8() {
    let outcome = completed(&built_in("jumper", &[]));
    let (time, relaxed) = (outcome.trajectory.time(), channel(&outcome, "force.blob_material.relaxed.zz"));
    let rate = std::f64::consts::TAU / 0.4;
    for (t, g) in time.iter().zip(relaxed) {
        // γ̇ = γ Q/μ_γ; stress over resistance is 1e5/1e9 in time 2.
        let expected = (0.9 / rate * (1.0 - (rate * t).cos())).exp();
        assert!((g - expected).abs() < 2e-3, "{t}: {g} {expected}");
    }
    assert!(largest(channel(&outcome, "force.blob_contact.distance")) > 0.02);
    assert!(largest_size(channel(&outcome, "energy.supplied")) > 0.0);
}

/// Fig. 9: with friction steady crawling to the left, without it the centre stays on a vertical line.
#[test]
fn figure_9() {
    let crawl = completed(&built_in("crawler", &[]));
    let (time, x) = (crawl.trajectory.time(), channel(&crawl, "body.blob.position.x"));
    let at = |t: f64| x[time.iter().position(|&s| s >= t - 1e-9).unwrap()];
    // G repeats every five periods of 1.1 s: the second round brings it as far as the first, within what the start costs.
    let (first, second) = (at(5.5) - at(0.0), at(11.0) - at(5.5));
    assert!(first < -0.2 && second < -0.2, "{first} {second}");
    let still = completed(&built_in("crawler-frictionless", &[]));
    // Without friction no force acts along the support, and none is computed: not a single bit of momentum.
    assert_eq!(largest_size(channel(&still, "momentum.linear.x")), 0.0);
    assert_eq!(largest_size(channel(&still, "body.blob.position.x")), 0.0);
}

/// The climber climbs a gentle slope and slides down a steep one.
#[test]
fn the_climber_has_a_steepest_slope() {
    let climbed = |slope: f64| {
        let outcome = completed(&built_in("climber", &[&format!("parameters.slope={slope}")]));
        let x = channel(&outcome, "body.blob.position.x");
        x[0] - x.last().unwrap()
    };
    assert!(climbed(0.02) > 0.0);
    assert!(climbed(0.6) < 0.0);
}
