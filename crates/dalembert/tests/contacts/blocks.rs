//! Blocks with dry friction: inclines, belts, Stribeck's curve, directions.

use super::{completed, events, finish, last};

const G: f64 = 9.81;

/// A block sent up an incline of angle a stops after v/(g (sin a + μ cos a)); with μ₀ > tan a it stays, otherwise it slides
/// back with g (sin a − μ cos a).
#[test]
fn a_block_on_an_incline() {
    let slope = 0.4f64;
    for (sliding, sticking) in [(0.3, 0.5), (0.2, 0.3)] {
        let text = format!(
            "[world]\ngravity = [{:?}, 0, {:?}]\n[body.block]\nkind = 'particle'\nmass = 3\nvelocity = [2, 0, 0]\n\
             [contact.incline]\nkind = 'plane'\nbetween = ['ground', 'block']\n\
             friction = {{ sliding = {sliding}, static = {sticking} }}\n[run]\nuntil = 1\ntolerance = 1e-11\n",
            -G * slope.sin(),
            -G * slope.cos()
        );
        let outcome = finish("incline", &text, &[]);
        let stop = 2.0 / (G * (slope.sin() + sliding * slope.cos()));
        let holds = sticking > slope.tan();
        let kind = if holds { "stick" } else { "reversal" };
        let [(t, _)] = events(&outcome, kind)[..] else { panic!("{:?}", outcome.events) };
        assert!((t - stop).abs() < 1e-10, "{t} {stop}");
        let back = if holds { 0.0 } else { G * (slope.sin() - sliding * slope.cos()) * (1.0 - stop) };
        assert!((last(&outcome, "body.block.velocity.x") + back).abs() < 1e-9);
        // Heat is the friction force times the way up, and back down.
        let way = stop + if holds { 0.0 } else { 0.5 * back * (1.0 - stop) };
        let heat = sliding * 3.0 * G * slope.cos() * way;
        assert!((last(&outcome, "energy.dissipated") - heat).abs() < 1e-9, "{heat}");
    }
}

/// A growing force k t moves a block at t = μ₀ m g/k; then m v̇ = k t − μ m g.
#[test]
fn a_growing_force_breaks_static_friction() {
    let text = "[world]\ngravity = [0, 0, -9.81]\n[body.block]\nkind = 'particle'\nmass = 2\n\
                [contact.floor]\nkind = 'plane'\nbetween = ['ground', 'block']\nfriction = { sliding = 0.2, static = 0.5 }\n\
                [signal.pull]\nkind = 'polynomial'\ncoefficients = [0, 10]\n\
                [force.pull]\nkind = 'applied_force'\nat = 'block'\nforce = ['pull', 0, 0]\n\
                [run]\nuntil = 2\ntolerance = 1e-11\n";
    let outcome = finish("pull", text, &[]);
    let [(slips, _)] = events(&outcome, "slip")[..] else { panic!("{:?}", outcome.events) };
    let exact = 0.5 * 2.0 * G / 10.0;
    assert!((slips - exact).abs() < 1e-10, "{slips} {exact}");
    let speed = (10.0 * (4.0 - exact * exact) / 2.0 - 0.2 * 2.0 * G * (2.0 - exact)) / 2.0;
    assert!((last(&outcome, "body.block.velocity.x") - speed).abs() < 1e-9);
}

/// A force (4 + t, t) N moves a block of 1 kg at (4 + t)² + t² = (μ m g)² = 25. Which way it slips at first is led for a moment
/// only: what comes later does not depend on the speed of creep, and methods agree.
#[test]
fn a_turning_force_starts_a_slip_in_two_dimensions() {
    let text = "[world]\ngravity = [0, 0, -10]\n[body.block]\nkind = 'particle'\nmass = 1\n\
                [contact.floor]\nkind = 'plane'\nbetween = ['ground', 'block']\nfriction = { sliding = 0.5 }\n\
                [signal.x]\nkind = 'polynomial'\ncoefficients = [4, 1]\n[signal.y]\nkind = 'polynomial'\ncoefficients = [0, 1]\n\
                [force.pull]\nkind = 'applied_force'\nat = 'block'\nforce = ['x', 'y', 0]\n\
                [run]\nuntil = 2\ntolerance = 1e-10\n";
    let end = |creep: &str, method: &str| {
        let settings = [format!("run.contacts.creep={creep}"), format!("run.integrator='{method}'")];
        let outcome = finish("turning", text, &[&settings[0], &settings[1]]);
        let [(slips, _)] = events(&outcome, "slip")[..] else { panic!("{:?}", outcome.events) };
        assert!((slips - (34f64.sqrt() - 4.0) / 2.0).abs() < 1e-10, "{slips}");
        ["x", "y"].map(|axis| last(&outcome, &format!("body.block.velocity.{axis}")))
    };
    let best = end("1e-6", "dop853");
    let error = |v: [f64; 2]| (v[0] - best[0]).hypot(v[1] - best[1]);
    let errors =
        [("1e-3", "dop853"), ("1e-4", "dop853"), ("1e-5", "dop853"), ("1e-5", "radau")].map(|(c, m)| error(end(c, m)));
    println!("{errors:?}");
    assert!(errors.iter().skip(1).all(|&e| e < 1e-8), "{errors:?}");
}

/// On the belt the block sticks until the spring holds μ₀ N, slips through an arc of the free oscillation, and sticks again.
/// With d = (μ₀ − μ) N/k and φ = atan(ω d/u) the slip lasts (2π − 2φ)/ω, the stick 2 d/u.
#[test]
fn stick_and_slip_on_a_belt_have_their_period() {
    let (k, u, m) = (100.0f64, 0.1, 1.0f64);
    let (omega, reach) = ((k / m).sqrt(), (0.4 - 0.2) * m * G / k);
    let slip = (2.0 * std::f64::consts::PI - 2.0 * (omega * reach / u).atan()) / omega;
    let stick = 2.0 * reach / u;
    let outcome = completed("block-on-belt", &[]);
    let (slips, sticks) = (events(&outcome, "slip"), events(&outcome, "stick"));
    assert!(slips.len() >= 5);
    for (begin, end) in slips.iter().zip(&sticks) {
        assert!((end.0 - begin.0 - slip).abs() < 1e-8, "{} {slip}", end.0 - begin.0);
    }
    for (end, begin) in sticks.iter().zip(&slips[1..]) {
        assert!((begin.0 - end.0 - stick).abs() < 1e-8, "{} {stick}", begin.0 - end.0);
    }
}

/// Bristles: a block slides back and forth with different deceleration, and sideways with a third.
#[test]
fn friction_depends_on_direction() {
    for (velocity, factor) in [([1.0, 0.0], 1.0), ([-1.0, 0.0], 3.0), ([0.0, 1.0], 2.0)] {
        let text = format!(
            "[world]\ngravity = [0, 0, -9.81]\n[body.block]\nkind = 'particle'\nmass = 1\nvelocity = [{:?}, {:?}, 0]\n\
             [contact.floor]\nkind = 'plane'\nbetween = ['ground', 'block']\n\
             friction = {{ sliding = 0.1, backward = 3, sideways = 2 }}\n[run]\nuntil = 1.5\ntolerance = 1e-11\n",
            velocity[0], velocity[1]
        );
        let outcome = finish("bristles", &text, &[]);
        let [(stops, _)] = events(&outcome, "stick")[..] else { panic!("{:?}", outcome.events) };
        assert!((stops - 1.0 / (0.1 * factor * G)).abs() < 1e-9, "{stops}");
    }
}

/// A rod of length 2l falls flat-handed onto one end (slapstick): with friction large enough to stop the slip, the impulses follow
/// from the rod's inertia alone. For a rod at angle a to the ground moving down with v, without spin, the end must come to
/// rest: with c = m l²/J the velocity of the end responds by (1/m)[[1 + c sin²a, c sin a cos a], [·, 1 + c cos²a]].
#[test]
fn a_slapstick_rod() {
    let (a, v, l, m) = (0.7f64, 3.0, 0.5, 2.0);
    let inertia = m * l * l / 3.0;
    let text = format!(
        "[body.rod]\nkind = 'rigid'\nmass = {m}\ninertia = [{inertia:?}, {inertia:?}, 1e-3]\n\
         position = [0, 0, {:?}]\nvelocity = [0, 0, {:?}]\norientation = {{ axis = [0, 1, 0], angle = {:?} }}\n\
         markers.end = {{ at = [0, 0, {:?}] }}\n\
         [contact.floor]\nkind = 'plane'\nbetween = ['ground', 'rod.end']\nfriction = {{ sliding = 5 }}\n\
         [run]\nuntil = 0.1\ntolerance = 1e-11\n",
        l * a.sin() + 0.1,
        -v,
        std::f64::consts::FRAC_PI_2 - a,
        -l
    );
    let outcome = finish("slapstick", &text, &[]);
    let [(t, _)] = events(&outcome, "impact")[..] else { panic!("{:?}", outcome.events) };
    assert!((t - 0.1 / v).abs() < 1e-11);
    // The end lies at (−l cos a, −l sin a) from the centre; stopping it takes the impulse P with D P = (0, v).
    let (rx, rz) = (-l * a.cos(), -l * a.sin());
    let (dxx, dxz, dzz) = (1.0 / m + rz * rz / inertia, -rx * rz / inertia, 1.0 / m + rx * rx / inertia);
    let determinant = dxx * dzz - dxz * dxz;
    let (px, pz) = (-dxz * v / determinant, dxx * v / determinant);
    let impulse = outcome.events.iter().find(|e| e.kind == "impact").unwrap().value;
    assert!((impulse - pz).abs() < 1e-9, "{impulse} {pz}");
    assert!(px.abs() < 5.0 * pz, "it sticks");
    // Energy lost in the impact: ½ Pᵀ D P.
    let lost = 0.5 * v * pz;
    assert!((last(&outcome, "energy.dissipated") - lost).abs() < 1e-9);
}
