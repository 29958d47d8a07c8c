//! Couplings of joints, cables, tendons over joints and motors on slides, against closed forms.

use dalembert::record::Status;
use dalembert::run::{Outcome, run};
use dalembert::scene::{Document, Limits, Overrides, Scene};

fn completed(text: &str, settings: &[&str]) -> Outcome {
    let overrides: Overrides = settings.iter().copied().collect();
    let document = Document::from_text("tendons", text, &overrides, &Limits::default());
    let scene = Scene::from_document(document.unwrap_or_else(|e| panic!("{}", e.plain())))
        .unwrap_or_else(|e| panic!("{}", e.plain()));
    let outcome = run(&scene, "tendons", None, &mut ()).unwrap();
    assert_eq!(outcome.summary.status, Status::Completed, "{:?}", outcome.summary.error);
    outcome
}

fn column<'a>(outcome: &'a Outcome, channel: &str) -> &'a [f64] {
    outcome.trajectory.column(channel).unwrap_or_else(|| panic!("no channel {channel}"))
}

/// Two wheels with moments 2 and 3 kg m² about z on the ground, and a slide of 0.5 kg along y; frames before and after each joint.
fn machine(angles: [f64; 2], speeds: [f64; 3]) -> String {
    let link = |name: &str, rest: &str, q: f64, v: f64| {
        format!("[[body.tree.links]]\nname = \"{name}\"\ncoordinates = [{q:?}]\nvelocities = [{v:?}]\n{rest}\n")
    };
    let wheel = |inertia: f64| {
        format!("mass = 1\ninertia = [2, 2, {inertia:?}]\njoint = {{ kind = \"revolute\", axis = [0, 0, 1] }}")
    };
    let slide = "mass = 0.5\ninertia = [1, 1, 1]\njoint = { kind = \"prismatic\", axis = [0, 1, 0] }";
    let mut text = String::from("[body.tree]\nkind = \"tree\"\n");
    text += &link("one", &wheel(2.0), angles[0], speeds[0]);
    text += &link("two", &wheel(3.0), angles[1], speeds[1]);
    text += &link("rack", slide, 0.0, speeds[2]);
    for name in ["one", "two", "rack"] {
        text += &format!("[marker.{name}]\nbody = \"tree\"\nlink = \"{name}\"\n");
    }
    text
}

/// θ₁ = r θ₂ + o: M θ̈₂ = τ with M = 3 + 2 r², and the load of the coupling turns the first wheel: 2 r τ/M.
#[test]
fn coupled_wheels_share_a_torque() {
    let (ratio, offset, torque) = (-0.7, 0.3, 1.1);
    let text = machine([offset, 0.0], [0.0; 3])
        + &format!(
            "[constraint.belt]\nkind = \"coupling\"\nmarkers = [\"ground\", \"one\", \"ground\", \"two\"]\noffset = {offset}\n\
             terms = [{{ of = \"angle\", coefficients = [1] }}, {{ of = \"angle\", coefficients = [{}] }}]\n\
             [force.drive]\nkind = \"motor\"\nbetween = [\"ground\", \"two\"]\ntorque = 5\nlimits = [-3, {torque}]\n",
            -ratio
        );
    let outcome = completed(&text, &["run.until=2", "run.tolerance=1e-10", "output.every=0.25"]);
    let mass = 3.0 + 2.0 * ratio * ratio;
    let angle = |channel: &str| -> Vec<f64> {
        let part = |c: &str| column(&outcome, &format!("body.tree.{channel}.orientation.{c}"));
        part("z").iter().zip(part("w")).map(|(z, w)| 2.0 * z.atan2(*w)).collect()
    };
    let (one, two, times) = (angle("one"), angle("two"), column(&outcome, "time"));
    for ((t, one), two) in times.iter().zip(one).zip(two) {
        let exact = 0.5 * torque / mass * t * t;
        // Polynomials of second degree are exact; some tens of steps at 1e-10 and rounding of quaternions are left.
        assert!((two - exact).abs() < 1e-9 && (one - ratio * exact - offset).abs() < 1e-9, "{t}: {one} {two}");
    }
    let load = column(&outcome, "constraint.belt.load");
    assert!(load.iter().all(|l| (l + 2.0 * ratio * torque / mass).abs() < 1e-9), "{load:?}");
}

/// A cam lifts a slide, y = a θ²: ½ (3 + m (2aθ)²) θ̇² + m g y is constant, which gives θ̇ for every θ.
#[test]
fn a_cam_trades_speed_for_height() {
    let (lift, speed) = (0.4, 1.5);
    let text = machine([0.0; 2], [0.0, speed, 0.0])
        + &format!(
            "[world]\ngravity = [0, -9.81, 0]\n[constraint.cam]\nkind = \"coupling\"\nmarkers = [\"ground\", \"rack\", \"ground\", \"two\"]\n\
             terms = [{{ of = \"travel\", axis = [0, 1, 0], coefficients = [1] }}, {{ of = \"angle\", coefficients = [0, -{lift}] }}]\n"
        );
    let outcome = completed(&text, &["run.until=3", "run.tolerance=1e-10", "output.every=0.1"]);
    let rates = column(&outcome, "body.tree.two.angular_velocity.z");
    let heights = column(&outcome, "body.tree.rack.position.y");
    assert!(heights.iter().any(|y| *y > 0.5) && rates.iter().any(|w| *w < -0.5), "it goes up and comes back");
    for (y, rate) in heights.iter().zip(rates) {
        let mass = 3.0 + 0.5 * 4.0 * lift * y;
        let left = 0.5 * 3.0 * speed * speed - 0.5 * 9.81 * y - 0.5 * mass * rate * rate;
        assert!(left.abs() < 1e-8, "{y}: {left:e}");
    }
}

/// Atwood's machine: 3 kg and 1 kg on a rope over a point move with g/2 and pull it with 3 g/2.
#[test]
fn a_rope_over_a_point_is_atwoods_machine() {
    let text = "[world]\ngravity = [0, 0, -10]\n[body.heavy]\nkind = \"particle\"\nmass = 3\nposition = [0, 0, -1]\n\
                [body.light]\nkind = \"particle\"\nmass = 1\nposition = [0, 0, -4]\n\
                [constraint.rope]\nkind = \"cable_length\"\nmarkers = [\"heavy\", \"ground\", \"light\"]\n";
    let outcome = completed(text, &["run.until=1", "run.tolerance=1e-10", "output.every=0.1"]);
    for ((t, z), tension) in column(&outcome, "time")
        .iter()
        .zip(column(&outcome, "body.light.position.z"))
        .zip(column(&outcome, "constraint.rope.tension"))
    {
        assert!((z + 4.0 - 2.5 * t * t).abs() < 1e-9 && (tension - 15.0).abs() < 1e-9, "{t}: {z}, {tension}");
    }
}

/// A mass on an elastic cable over a point: beyond the play it swings about z₀ − m g/k with √(k/m); within it falls freely.
#[test]
fn a_cable_is_slack_within_its_play() {
    let (stiffness, mass) = (50.0, 2.0);
    let text = format!(
        "[world]\ngravity = [0, 0, -10]\n[body.load]\nkind = \"particle\"\nmass = {mass}\nposition = [0, 0, -1.5]\n[marker.winch]\nat = [3, 0, 0]\n\
         [force.cable]\nkind = \"cable\"\nmarkers = [\"winch\", \"ground\", \"load\"]\nstiffness = {stiffness}\nrest = [0, 5]\n"
    );
    let outcome = completed(&text, &["run.until=0.6", "run.tolerance=1e-12", "output.every=0.02"]);
    // 0.5 m of play: it is taut from t₁ = √(2 · 0.5/10) on, with the speed −10 t₁.
    let (taut, omega, sag) = (0.1f64.sqrt(), f64::sqrt(stiffness / mass), 10.0 * mass / stiffness);
    let tensions = column(&outcome, "force.cable.tension");
    for ((&t, &z), &tension) in
        column(&outcome, "time").iter().zip(column(&outcome, "body.load.position.z")).zip(tensions)
    {
        let exact = if t < taut {
            -1.5 - 5.0 * t * t
        } else {
            let (sine, cosine) = (omega * (t - taut)).sin_cos();
            -2.0 - sag + sag * cosine - 10.0 * taut / omega * sine
        };
        // The tension has a kink where it begins: the step across it has an error of the tolerance like all others.
        assert!((z - exact).abs() < 1e-8, "{t}: {z} against {exact}");
        let pull = if t < taut { 0.0 } else { -stiffness * (exact + 2.0) };
        assert!((tension - pull).abs() < 1e-6, "{t}: {tension} against {pull}");
    }
}

/// A tendon over both wheels and the slide, L = Σ c x: it swings with ω² = k Σ c²/m, and x along c/m.
#[test]
fn a_tendon_over_joints_swings_with_the_known_frequency() {
    let (k, c, m) = (6.0, [0.5, -0.8, 1.0], [2.0, 3.0, 0.5]);
    let share: f64 = c.iter().zip(&m).map(|(c, m)| c * c / m).sum();
    let start = 0.9;
    let speeds = [0, 1, 2].map(|i| start * c[i] / m[i]);
    let text = machine([0.0; 2], speeds)
        + &format!(
            "[force.tendon]\nkind = \"joint_tendon\"\nmarkers = [\"ground\", \"one\", \"ground\", \"two\", \"ground\", \"rack\"]\n\
             stiffness = {k}\npulleys = [{{ of = \"angle\", coefficient = {} }}, {{ of = \"angle\", coefficient = {} }}, \
             {{ of = \"travel\", axis = [0, 1, 0], coefficient = {} }}]\n",
            c[0], c[1], c[2]
        );
    let outcome = completed(&text, &["run.until=4", "run.tolerance=1e-11", "output.every=0.1"]);
    let omega = (k * share).sqrt();
    let travel = column(&outcome, "body.tree.rack.position.y");
    for ((t, y), length) in column(&outcome, "time").iter().zip(travel).zip(column(&outcome, "force.tendon.length")) {
        let wave = start * (omega * t).sin() / omega;
        assert!((y - wave * c[2] / m[2]).abs() < 1e-8 && (length - wave * share).abs() < 1e-8, "{t}: {y}, {length}");
    }
}

/// A motor on a slide whose servo asks for more than it can: it pushes with its upper limit, x = ½ (2/m) t².
#[test]
fn a_linear_motor_keeps_its_limits() {
    let text = machine([0.0; 2], [0.0; 3])
        + "[force.drive]\nkind = \"linear_motor\"\nbetween = [\"ground\", \"rack\"]\naxis = [0, 1, 0]\ntravel = 100\nstiffness = 9\n\
           damping = 1\nlimits = [-1, 2]\n";
    let outcome = completed(&text, &["run.until=2", "run.tolerance=1e-10", "output.every=0.5"]);
    for ((t, y), f) in column(&outcome, "time")
        .iter()
        .zip(column(&outcome, "body.tree.rack.position.y"))
        .zip(column(&outcome, "force.drive.force.y"))
    {
        assert!((y - 2.0 * t * t).abs() < 1e-9 && (f - 2.0).abs() < 1e-12, "{t}: {y}, {f}");
    }
}
