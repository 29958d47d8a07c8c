//! Time stepping against located events: the same scenes, with a difference that falls like the step.

use super::{finish, last, read};
use dalembert::methods::nonsmooth::Contacts;
use dalembert::run::{Outcome, run};
use dalembert::scenes;
use std::fmt::Write;

const G: f64 = 9.81;

/// The largest difference of coordinates at the end of two runs.
fn difference(a: &Outcome, b: &Outcome) -> f64 {
    let (a, b) = (&a.summary.final_state.q, &b.summary.final_state.q);
    a.iter().zip(b).fold(0.0, |max, (a, b)| f64::max(max, (a - b).abs()))
}

/// Runs a scene with located events and by time stepping; prints the differences and gives the slope of their logarithms.
fn rate(name: &str, text: &str, settings: &[&str], steps: &[f64]) -> f64 {
    let exact = finish(name, text, settings);
    let points: Vec<(f64, f64)> = steps
        .iter()
        .map(|step| {
            let more = [format!("run.settings.step={step:?}"), "run.integrator=\"moreau\"".to_owned()];
            let settings: Vec<&str> = settings.iter().copied().chain(more.iter().map(String::as_str)).collect();
            let stepped = finish(name, text, &settings);
            let error = difference(&stepped, &exact);
            println!("{name}: step {step:.2e} s, difference {error:.3e}");
            (step.ln(), error.ln())
        })
        .collect();
    let n = points.len() as f64;
    let mean = |f: &dyn Fn(&(f64, f64)) -> f64| points.iter().map(f).sum::<f64>() / n;
    let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
    let (up, across) = (mean(&|p| (p.0 - x) * (p.1 - y)), mean(&|p| (p.0 - x) * (p.0 - x)));
    let slope = up / across;
    println!("{name}: order {slope:.2}");
    slope
}

#[test]
fn a_block_on_an_incline_converges() {
    let slope = 0.4f64;
    let text = format!(
        "[world]\ngravity = [{:?}, 0, {:?}]\n[body.block]\nkind = 'particle'\nmass = 3\nvelocity = [2, 0, 0]\n\
         [contact.incline]\nkind = 'plane'\nbetween = ['ground', 'block']\nfriction = {{ sliding = 0.2, static = 0.3 }}\n\
         [run]\nuntil = 1\ntolerance = 1e-11\n",
        -G * slope.sin(),
        -G * slope.cos()
    );
    let order = rate("incline", &text, &["output.every=1"], &[8e-3, 4e-3, 2e-3, 1e-3, 5e-4]);
    assert!((0.8..1.3).contains(&order), "{order}");
}

/// Each impact comes late by some part of a step, so that differences scatter about a line.
#[test]
fn a_bouncing_ball_converges() {
    let text = scenes::find("bouncing-ball").unwrap().text;
    let steps = [8e-3, 4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4];
    let order = rate("bouncing-ball", text, &["run.until=1.2", "output.every=1.2"], &steps);
    assert!((0.7..1.4).contains(&order), "{order}");
}

/// The leech on the rough wall, up to where its upper corners have lifted off; impacts have friction in both runs.
#[test]
fn the_leech_converges() {
    let text = scenes::find("leech").unwrap().text;
    let settings = ["run.until=0.4", "output.every=0.4", "run.contacts.impact_friction=true"];
    let order = rate("leech", text, &settings, &[2e-3, 1e-3, 5e-4, 2.5e-4]);
    assert!((0.7..1.4).contains(&order), "{order}");
}

/// Under the ceiling suction 30 − 10 t holds until it is m g: the fall begins in the step in which that happens.
#[test]
fn a_sucker_lets_go_in_time() {
    let text = "[world]\ngravity = [0, 0, -9.81]\n[body.block]\nkind = 'particle'\nmass = 2\n\
         [contact.ceiling]\nkind = 'plane'\nbetween = ['ground', 'block']\nnormal = [0, 0, -1]\nsuction = 'fading'\n\
         [signal.fading]\nkind = 'polynomial'\ncoefficients = [30, -10]\n\
         [run]\nuntil = 2\nintegrator = 'moreau'\nsettings.step = 1e-3\n";
    let outcome = finish("ceiling", text, &[]);
    let falls = (30.0 - 2.0 * G) / 10.0;
    // The step in which it lets go is still pulled, and the next may be.
    assert!((last(&outcome, "body.block.velocity.z") + G * (2.0 - falls)).abs() < 2.5e-3 * G);
    let (press, suction) = (
        outcome.trajectory.column("contact.ceiling.press").unwrap(),
        outcome.trajectory.column("contact.ceiling.suction").unwrap(),
    );
    // At t = 0.5: suction 25 N, of which the weight leaves 5.38 N; both are means over the step before.
    let row = outcome.trajectory.time().iter().position(|&t| t >= 0.5).unwrap();
    assert!(
        (press[row] - (25.0 - 2.0 * G)).abs() < 0.01 && (suction[row] - 25.0).abs() < 0.01,
        "{} {}",
        press[row],
        suction[row]
    );
}

/// Balls that fall into a bowl and pile up: the ledger closes, balls overlap by no more than the order of the step, and in the end
/// the bowl carries the weight.
#[test]
fn balls_pile_up_in_a_bowl() {
    let (count, radius, bowl) = (24, 0.1, 1.0);
    let mut text = String::from("[world]\ngravity = [0, 0, -9.81]\n");
    for k in 0..count {
        // Layers of six on a ring, slightly turned against each other.
        let (layer, angle) = (k / 6, (k % 6) as f64 * std::f64::consts::TAU / 6.0 + 0.3 * (k / 6) as f64);
        let (x, y, z) = (0.25 * angle.cos(), 0.25 * angle.sin(), -0.6 + 0.25 * layer as f64);
        write!(text, "[body.ball{k}]\nkind = 'particle'\nmass = 0.1\nposition = [{x:?}, {y:?}, {z:?}]\n").unwrap();
        let others: Vec<String> = (k + 1..count).map(|j| format!("'ball{j}'")).collect();
        if !others.is_empty() {
            write!(
                text,
                "[contact.touch{k}]\nkind = 'sphere'\nbetween = ['ball{k}', {}]\nsize = {radius}\nradius = {radius}\nfriction = {{ sliding = 0.2 }}\n",
                others.join(", ")
            )
            .unwrap();
        }
    }
    let all: Vec<String> = (0..count).map(|j| format!("'ball{j}'")).collect();
    write!(
        text,
        "[contact.bowl]\nkind = 'sphere'\nbetween = ['ground', {}]\nsize = {bowl}\ninside = true\nradius = {radius}\nfriction = {{ sliding = 0.3 }}\n\
         [run]\nuntil = 3\nintegrator = 'moreau'\ntolerance = 1e-8\nsettings.step = 2e-3\n[output]\nevery = 0.1\n",
        all.join(", ")
    )
    .unwrap();
    let outcome = finish("pile", &text, &[]);
    let model = read("pile", &text, &[]).model;
    let (mut carried, mut deepest) = (0.0, 0.0f64);
    for i in 0..Contacts::contacts(&model) {
        let name = Contacts::contact_name(&model, i);
        let gap = outcome.trajectory.column(&format!("{name}.gap")).unwrap();
        deepest = gap.iter().fold(deepest, |deepest, &gap| deepest.min(gap));
        if name.starts_with("contact.bowl") {
            carried += last(&outcome, &format!("{name}.force.z"));
        }
    }
    // Balls fall with up to 4 m/s: a step lets them in by 8 mm, and piles add up.
    assert!(deepest > -0.03, "{deepest}");
    assert!((carried - count as f64 * 0.1 * G).abs() < 0.02 * carried, "{carried}");
    assert!(last(&outcome, "energy.kinetic") < 1e-3, "{}", last(&outcome, "energy.kinetic"));
}

/// What time stepping cannot do is refused in words.
#[test]
fn what_moreau_cannot_do_is_refused() {
    let event = "\n[event.top]\nchannel = 'body.ball.velocity.z'\n";
    for (name, more, setting, expected) in [
        ("leech", "", "run.until=0.6", "impact_friction = true"),
        ("bouncing-ball", "", "run.contacts.restitution=\"poisson\"", "Newton's restitution only"),
        ("bouncing-ball", event, "run.until=1", "does not locate events"),
    ] {
        let text = format!("{}{more}", scenes::find(name).unwrap().text);
        let scene = read(name, &text, &[setting, "run.integrator=\"moreau\""]);
        let Err(error) = run(&scene, name, None, &mut ()) else { panic!("{name} was accepted") };
        assert!(error.to_string().contains(expected), "{error}");
    }
}
