//! Suckers: contacts that pull while they are closed.

use super::{events, finish, last};

const G: f64 = 9.81;

/// A block under a ceiling, with more of the contact and of the scene.
fn ceiling(contact: &str, more: &str) -> String {
    format!(
        "[world]\ngravity = [0, 0, -9.81]\n[body.block]\nkind = 'particle'\nmass = 2\n\
         [contact.ceiling]\nkind = 'plane'\nbetween = ['ground', 'block']\nnormal = [0, 0, -1]\n{contact}\n\
         {more}\n[run]\nuntil = 2\ntolerance = 1e-11\n"
    )
}

/// Under the ceiling suction A = 30 − 10 t holds until A = m g; then the block falls freely.
#[test]
fn a_block_falls_when_its_load_exceeds_the_suction() {
    let text = ceiling("suction = 'fading'", "[signal.fading]\nkind = 'polynomial'\ncoefficients = [30, -10]");
    let outcome = finish("ceiling", &text, &[]);
    let falls = (30.0 - 2.0 * G) / 10.0;
    let [(t, _)] = events(&outcome, "lift-off")[..] else { panic!("{:?}", outcome.events) };
    assert!((t - falls).abs() < 1e-11, "{t} {falls}");
    assert!((last(&outcome, "body.block.velocity.z") + G * (2.0 - falls)).abs() < 1e-10);
    assert!((last(&outcome, "body.block.position.z") + 0.5 * G * (2.0 - falls).powi(2)).abs() < 1e-10);
    // Before, the press is what the suction has left: A − m g; the surface as a whole carries the weight.
    let column = |name: &str| outcome.trajectory.column(&format!("contact.ceiling.{name}")).unwrap();
    for (row, &t) in outcome.trajectory.time().iter().enumerate().filter(|(_, t)| (*t - falls).abs() > 1e-9) {
        let (press, suction, force) =
            if t < falls { (30.0 - 10.0 * t - 2.0 * G, 30.0 - 10.0 * t, 2.0 * G) } else { (0.0, 0.0, 0.0) };
        assert!((column("press")[row] - press).abs() < 1e-11, "{t}");
        assert!((column("suction")[row] - suction).abs() < 1e-11, "{t}");
        assert!((column("force.z")[row] - force).abs() < 1e-11, "{t}");
    }
}

/// A sucker that is switched off lets go at the jump of its signal; where the signal is negative there is none.
#[test]
fn a_sucker_is_switched_off() {
    let third = 2.0 / 3.0;
    for (signal, falls) in [
        ("kind = 'expression'\nvalue = 'if(t < 0.7, 50, 0)'", 0.7),
        ("kind = 'expression'\nvalue = 'if(t < 2/3, 50, 10)'", third),
        // 40 cos(π t/2) falls to m g, and below zero after one second.
        ("kind = 'expression'\nvalue = '40*cos(pi*t/2)'", (2.0 * G / 40.0).acos() * 2.0 / std::f64::consts::PI),
    ] {
        let text = ceiling("suction = 'switch'", &format!("[signal.switch]\n{signal}"));
        let outcome = finish("switch", &text, &[]);
        let [(t, _)] = events(&outcome, "lift-off")[..] else { panic!("{:?}", outcome.events) };
        assert!((t - falls).abs() < 1e-11, "{signal}: {t} {falls}");
        assert!((last(&outcome, "body.block.velocity.z") + G * (2.0 - falls)).abs() < 1e-9);
    }
}

/// On a steep incline friction μ (m g cos α + A) holds the block until A = 20 − 10 t has fallen to m g (sin α/μ − cos α); then
/// m v̇ = m g sin α − μ (m g cos α + A).
#[test]
fn suction_adds_to_the_grip() {
    let (mu, slope, mass) = (0.6f64, 1.0f64, 0.8f64);
    let text = format!(
        "[world]\ngravity = [{:?}, 0, {:?}]\n[body.block]\nkind = 'particle'\nmass = {mass}\n\
         [contact.incline]\nkind = 'plane'\nbetween = ['ground', 'block']\nfriction = {{ sliding = {mu} }}\nsuction = 'fading'\n\
         [signal.fading]\nkind = 'polynomial'\ncoefficients = [20, -10]\n[run]\nuntil = 1.9\ntolerance = 1e-11\n",
        G * slope.sin(),
        -G * slope.cos()
    );
    let outcome = finish("incline", &text, &[]);
    let slips = (20.0 - mass * G * (slope.sin() / mu - slope.cos())) / 10.0;
    let [(t, _)] = events(&outcome, "slip")[..] else { panic!("{:?}", outcome.events) };
    assert!((t - slips).abs() < 1e-11, "{t} {slips}");
    // The net force grows from zero by 10 μ per second.
    let speed = 0.5 * 10.0 * mu * (1.9 - slips).powi(2) / mass;
    assert!((last(&outcome, "body.block.velocity.x") - speed).abs() < 1e-9);
    // ∫ μ (m g cos α + A) v dt with v = 5 μ τ²/m, μ (m g cos α + A) = m g sin α − 10 μ τ.
    let span = 1.9 - slips;
    let heat = 5.0 * mu / mass * (mass * G * slope.sin() * span.powi(3) / 3.0 - 10.0 * mu * span.powi(4) / 4.0);
    assert!((last(&outcome, "energy.dissipated") - heat).abs() < 1e-9);
}

/// Under the ceiling a growing pull 4 t moves the block sideways when it exceeds μ₀ (A − m g).
#[test]
fn a_hanging_block_is_pulled_sideways() {
    let text = ceiling(
        "suction = 30\nfriction = { sliding = 0.2, static = 0.4 }",
        "[signal.pull]\nkind = 'polynomial'\ncoefficients = [0, 4]\n\
         [force.pull]\nkind = 'applied_force'\nat = 'block'\nforce = [0, 'pull', 0]",
    );
    let outcome = finish("pull", &text, &[]);
    let [(t, _)] = events(&outcome, "slip")[..] else { panic!("{:?}", outcome.events) };
    let press = 30.0 - 2.0 * G;
    let slips = 0.4 * press / 4.0;
    assert!((t - slips).abs() < 1e-11, "{t} {slips}");
    let speed = (2.0 * (4.0 - slips * slips) - 0.2 * press * (2.0 - slips)) / 2.0;
    assert!((last(&outcome, "body.block.velocity.y") - speed).abs() < 1e-9);
}

/// A ceiling that shakes by a sin ωt throws the block off when A = m (g + a ω² sin ωt); until then it moves it, and the ledger
/// counts its work.
#[test]
fn a_shaken_ceiling_throws_the_block_off() {
    let (a, omega, suction) = (0.05f64, 10.0f64, 25.0);
    let text = ceiling(
        "suction = 25\noffset = 'shake'",
        &format!("[signal.shake]\nkind = 'harmonic'\namplitude = {a}\nangular_frequency = {omega:?}"),
    )
    .replace("mass = 2\n", &format!("mass = 2\nvelocity = [0, 0, {:?}]\n", -a * omega));
    let outcome = finish("shaken", &text, &["run.until=0.3"]);
    let off = ((suction / 2.0 - G) / (a * omega * omega)).asin() / omega;
    let lifts = events(&outcome, "lift-off");
    assert!((lifts[0].0 - off).abs() < 1e-10, "{lifts:?} {off}");
    let speed = -a * omega * (omega * off).cos();
    let supplied = 2.0 * (0.5 * (speed * speed - (a * omega).powi(2)) - G * a * (omega * off).sin());
    assert!((last(&outcome, "energy.supplied") - supplied).abs() < 1e-9, "{}", last(&outcome, "energy.supplied"));
}

/// A plate on three suckers is pulled down outside their triangle: when one lets go, the others cannot hold, and all go
/// at one instant.
#[test]
fn suckers_that_cannot_hold_alone_let_go_together() {
    let text = "[body.plate]\nkind = 'rigid'\nmass = 1\ninertia = [0.1, 0.1, 0.2]\n\
         markers.a = { at = [-1, 0, 0] }\nmarkers.b = { at = [0.5, 0.8, 0] }\nmarkers.c = { at = [0.5, -0.8, 0] }\n\
         [contact.floor]\nkind = 'plane'\nbetween = ['ground', 'plate.a', 'plate.b', 'plate.c']\nsuction = 10\n\
         [signal.pull]\nkind = 'polynomial'\ncoefficients = [0, 20]\n\
         [force.pull]\nkind = 'applied_force'\nat = 'plate.a'\nforce = [0, 0, 'pull']\n[run]\nuntil = 0.6\n";
    let outcome = finish("plate", text, &[]);
    let lifts = events(&outcome, "lift-off");
    assert!((lifts[0].0 - 0.5).abs() < 1e-10 && lifts[0].1 == "plate.a", "{lifts:?}");
    assert!(outcome.trajectory.column("contact.floor.plate.b.press").unwrap().iter().all(|&press| press >= 0.0));
}

#[test]
fn a_negative_suction_is_refused() {
    let text = ceiling("suction = -1", "");
    let document =
        dalembert::scene::Document::from_text("bad", &text, &Default::default(), &Default::default()).unwrap();
    let Err(error) = dalembert::scene::Scene::from_document(document) else { panic!("accepted") };
    assert!(error.plain().to_string().contains("a suction must not be negative"), "{}", error.plain());
}
