//! The statements of the document, figure by figure, on the built-in scenes.

use super::{built_in, channel, completed, imbalance, largest, largest_size, scene, smallest};
use dalembert::run::Outcome;
use dalembert::scenes;

fn last(outcome: &Outcome, name: &str) -> f64 {
    *channel(outcome, name).last().unwrap()
}

/// The account of energy closes to 1e-9 over the whole of every scene of this chapter at a tolerance of 1e-10, det F stays 1 to 1e-12
/// where the body keeps its volume, and no distance is ever passed.
fn balances(names: &[&str]) {
    for name in names {
        let scene = built_in(name, &["run.tolerance=1e-10"]);
        let outcome = completed(&scene);
        println!("{name}: energy is kept to {:.1e}", imbalance(&outcome));
        assert!(imbalance(&outcome) < 1e-9, "{name}: {:e}", imbalance(&outcome));
        let contact = scene.model.forces().iter().find(|f| f.name.ends_with("_contact")).unwrap();
        let distance = channel(&outcome, &format!("force.{}.distance", contact.name));
        assert!(smallest(distance) > 0.0, "{name}");
        for material in scene.model.forces().iter().filter(|f| f.name.ends_with("_material")) {
            let volume = channel(&outcome, &format!("force.{}.volume_ratio", material.name));
            let worst = volume.iter().fold(0.0, |max: f64, v| max.max((v - 1.0).abs()));
            assert!(worst <= 1e-12, "{name}: det F = 1 ± {worst:e}");
        }
    }
}

#[test]
fn energy_balances_where_bodies_slide_rock_bounce_and_roll() {
    balances(&["cube-slide", "cube-rock", "cylinder-bounce", "cylinder-roll", "soft-bounce", "soft-roll"]);
}

#[test]
fn energy_balances_where_bodies_stick_and_jump() {
    balances(&["stick-ceiling", "stick-wall", "jumper", "soft-cube"]);
}

#[test]
fn energy_balances_where_bodies_crawl() {
    balances(&["crawler", "crawler-frictionless", "climber", "soft-ball"]);
}

#[test]
fn all_scenes_of_the_document_are_there() {
    for name in [
        "cube-slide",
        "cube-rock",
        "cylinder-bounce",
        "cylinder-roll",
        "stick-ceiling",
        "stick-wall",
        "soft-bounce",
        "soft-roll",
        "jumper",
        "crawler",
        "crawler-frictionless",
        "soft-cube",
        "soft-ball",
        "climber",
    ] {
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
    // The sum of internal forces is zero up to rounding, some 1e5 N times ε over 4 s.
    assert!(largest_size(channel(&outcome, "momentum.linear.x")) < 1e-9);
    let calm = completed(&built_in("soft-bounce", &["parameters.viscosity=5000"]));
    let stretch = |o: &Outcome, from: f64| {
        let (time, values) = (o.trajectory.time(), channel(o, "force.blob_material.gradient.zz"));
        let late: Vec<f64> = time.iter().zip(values).filter(|(t, _)| **t >= from).map(|(_, v)| *v).collect();
        largest(&late) - smallest(&late)
    };
    assert!(stretch(&outcome, 2.0) > 4.0 * stretch(&calm, 2.0), "{} {}", stretch(&outcome, 2.0), stretch(&calm, 2.0));
    // Free flight after the first bounce: zero crossings of the stretch about its mean give the frequency
    // ω² = 8 c₁/(ρ R²) · … of the plane body: E ω² = 2 G vol with E = ρ vol R²/4, G = 2 c₁.
    let omega = (2.0 * 2.0 * 6e4f64 / (4000.0 * 0.25 * 0.25)).sqrt();
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
    // Without friction no force acts along the support. The sum of internal forces is zero up to rounding, some 1e5 N times ε over 11 s.
    assert!(largest_size(channel(&still, "momentum.linear.x")) < 1e-9);
    assert!(largest_size(channel(&still, "body.blob.position.x")) < 1e-11);
}

/// In space: the contractile ball rolls on, to the left of its course all the time.
#[test]
fn the_ball_rolls_along_a_curve() {
    let outcome = completed(&built_in("soft-ball", &["run.until=4", "run.tolerance=1e-6"]));
    let (x, y) = (channel(&outcome, "body.ball.position.x"), channel(&outcome, "body.ball.position.y"));
    let middle = x.len() / 2;
    let way = |from: usize, to: usize| [x[to] - x[from], y[to] - y[from]];
    let ([a, b], [c, d]) = (way(0, middle), way(middle, x.len() - 1));
    assert!(a.hypot(b) > 0.5 && c.hypot(d) > 0.5, "{a} {b} {c} {d}");
    let turn = (a * d - b * c).atan2(a * c + b * d);
    assert!(turn > 0.3 && turn < 1.5, "{turn}");
    let volume = channel(&outcome, "force.ball_material.volume_ratio");
    assert!(volume.iter().all(|v| (v - 1.0).abs() <= 1e-12), "{}", largest(volume));
}

/// In space: the soft cube tumbles and comes to rest on a face, its energy gone to heat.
#[test]
fn the_cube_tumbles() {
    let outcome = completed(&built_in("soft-cube", &["run.tolerance=1e-6"]));
    let spin = channel(&outcome, "momentum.angular.y");
    assert!(largest(spin) - smallest(spin) > 100.0);
    let up = ["zx", "zy", "zz"].map(|part| last(&outcome, &format!("body.cube.gradient.{part}")).abs());
    assert!(largest(&up) > 0.9, "{up:?}");
    let kinetic = channel(&outcome, "energy.kinetic");
    assert!(*kinetic.last().unwrap() < 0.05 * largest(kinetic));
    let heats = ["heat.damping", "heat.friction"].map(|name| last(&outcome, &format!("force.cube_contact.{name}")));
    assert!(heats.iter().all(|heat| *heat > 0.0) && heats.iter().sum::<f64>() < last(&outcome, "energy.dissipated"));
}

/// Explicit steps that stability keeps short are counted, and the record advises an implicit method; bouncing is not stiff.
#[test]
fn stiff_fields_are_noticed() {
    let flat = ["parameters.tilt=0.0", "parameters.distance=0.002", "assembly.cube.velocity=[0.1, 0, 0]"];
    let set = [&flat[..], &["run.integrator=\"dop853\"", "run.until=0.1"]].concat();
    let sliding = completed(&built_in("cube-rock", &set)).summary;
    assert!(sliding.counts["stiff"] > 100, "{:?}", sliding.counts);
    assert!(sliding.advice().unwrap().contains("radau"));
    let implicit = completed(&built_in("cube-rock", &[&flat[..], &["run.until=0.1"]].concat())).summary;
    assert!(implicit.counts["steps"] < sliding.counts["steps"] / 5, "{:?}", implicit.counts);
    let bouncing = completed(&built_in("soft-bounce", &["run.until=1"])).summary;
    assert_eq!((bouncing.counts["stiff"], bouncing.advice()), (0, None));
}

/// A prescribed relaxed shape reports the couple that would drive it: that of Fig. 8 for the shape of Fig. 8.
#[test]
fn a_prescribed_shape_reports_the_couple() {
    let text = scenes::find("jumper").unwrap().text;
    let (head, tail) = text.split_once("contraction = {").unwrap();
    let tail = tail.split_once('\n').unwrap().1;
    let law =
        "contraction = { stretch = { stretch = \"gamma\", normal = [0, 1, 0] } }\nresistance = \"= resistance\"\n";
    let shape = "[signal.gamma]\nkind = \"expression\"\nvalue = \"exp(0.9*0.4/(2*pi)*(1 - cos(2*pi*t/0.4)))\"\n";
    let given = format!("{}{law}{tail}\n{shape}", head);
    let given = completed(&scene(&given, &["run.until=0.8"]).unwrap());
    let driven = completed(&built_in("jumper", &["run.until=0.8"]));
    let (zz, xx) = (channel(&given, "force.blob_material.couple.zz"), channel(&given, "force.blob_material.couple.xx"));
    for ((t, zz), xx) in given.trajectory.time().iter().zip(zz).zip(xx) {
        let expected = 0.9e9 * (std::f64::consts::TAU * t / 0.4).sin();
        // Stresses of some 1e5 Pa are part of the couple.
        assert!((0.5 * (zz - xx) - expected).abs() < 1e6, "{t}: {zz} {xx} {expected}");
    }
    // What is supplied is nearly all dissipated by the resistance; both ways of driving it supply the same.
    let (a, b) = (last(&given, "energy.supplied"), last(&driven, "energy.supplied"));
    assert!(a > 0.0 && (a / b - 1.0).abs() < 1e-3, "{a} {b}");
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
    assert!(climbed(0.2) < 0.0);
}
