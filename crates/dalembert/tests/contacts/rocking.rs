//! Scenes that rock to rest on several feet, against closed forms.

use super::{completed, events, finish, last, read};
use dalembert::record::Checkpoint;
use dalembert::run::{Watcher, run};
use dalembert::scenes;

const G: f64 = 9.81;

/// The time that a body stands on a foot which it leaves and meets again with a rate ω: a pendulum upside down, at an angle α from the vertical, with
/// Ω² = m g R/I. With ½ ω² = Ω² (cos(α − θₘ) − cos α) and θ = θₘ (1 − u²) it is 2 ∫ dθ/θ̇, θ̇² = 4 Ω² sin(α − (θₘ + θ)/2) sin(θₘ u²/2), a smooth function of u.
fn turn(rate: f64, square: f64, angle: f64) -> f64 {
    // 2 sin(α − θₘ/2) sin(θₘ/2) = ω²/(2 Ω²).
    let rise = 0.5 * rate * rate / square;
    let most = (0..60).fold(0.0, |most: f64, _| 2.0 * (0.5 * rise / (angle - 0.5 * most).sin()).asin());
    let integrand = |u: f64| {
        let theta = most * (1.0 - u * u);
        let sines = (angle - 0.5 * (most + theta)).sin() * (0.5 * most * u * u).sin();
        2.0 * most * u / (4.0 * square * sines).sqrt()
    };
    // The midpoint rule is exact to h² for a smooth function; Romberg takes it to h¹⁰.
    let rule = |n: u32| (0..n).map(|k| integrand((f64::from(k) + 0.5) / f64::from(n))).sum::<f64>() / f64::from(n);
    let mut table: Vec<f64> = (5..10).map(|k| rule(1 << k)).collect();
    for order in 1..table.len() as i32 {
        for k in 0..table.len() - order as usize {
            table[k] = table[k + 1] + (table[k + 1] - table[k]) / (4f64.powi(order) - 1.0);
        }
    }
    2.0 * table[0]
}

/// The times of impacts between two sides in turn, each given by Ω², its angle and what the impact after it leaves of the rate, and where they accumulate.
fn series(mut rate: f64, sides: [[f64; 3]; 2]) -> (Vec<f64>, f64) {
    let (mut t, mut times) = (0.0, Vec::new());
    for k in 0.. {
        let [square, angle, kept] = sides[k % 2];
        t += turn(rate, square, angle);
        rate *= kept;
        times.push(t);
        if rate < 1e-16 {
            break;
        }
    }
    (times, t)
}

/// Too slow to roll, the wheel without rim rocks on two spokes, at angles half ∓ slope from the vertical; each impact leaves c of its rate.
#[test]
fn a_wheel_that_is_too_slow_rocks_to_rest_on_two_spokes() {
    let outcome = completed("rimless-wheel", &["parameters.rate=0.7", "run.until=4"]);
    let (half, slope, inertia) = (std::f64::consts::PI / 8.0, 0.08, 0.2);
    let kept = (inertia + f64::cos(2.0 * half)) / (1.0 + inertia);
    let square = G / (1.0 + inertia);
    let (times, end) = series(0.7, [[square, half - slope, kept], [square, half + slope, kept]]);
    let impacts = events(&outcome, "impact");
    assert!(impacts.len() > 20);
    for ((t, _), exact) in impacts.iter().zip(times) {
        // A tolerance of 1e-10 in each of some ten steps of each turn.
        assert!((t - exact).abs() < 1e-8, "{t} {exact}");
    }
    let rest = events(&outcome, "rest");
    assert_eq!(rest.iter().map(|(_, marker)| *marker).collect::<Vec<_>>(), ["spoke0", "spoke1"]);
    assert!(rest.iter().all(|(t, _)| (t - end).abs() < 1e-8), "{rest:?} {end}");
    assert!(last(&outcome, "body.wheel.hub.angular_velocity.y").abs() < 1e-12);
    // All of the energy is lost in impacts, the last little bit at once.
    let energy = 0.5 * (1.0 + inertia) * 0.7f64.powi(2);
    let lost = outcome.summary.ledger.lost_in_impacts;
    assert!((lost - energy).abs() < 1e-9, "{lost} {energy}");
    // On the slope it would not be still without the friction of both feet.
    assert!(
        (last(&outcome, "contact.floor.spoke0.press") > 1.0) && (last(&outcome, "contact.floor.spoke1.press") > 1.0)
    );
}

/// A stool on three feet in space: one at a distance a from its middle, two at b on the other side; the middle is at a height h.
fn stool(velocity: [f64; 3], rates: [f64; 3]) -> String {
    format!(
        "[world]\ngravity = [0, 0, -9.81]\n[body.stool]\nkind = 'rigid'\nmass = 2\ninertia = [0.1, 0.12, 0.15]\n\
         position = [0, 0, 0.4]\nvelocity = {velocity:?}\nangular_velocity = {rates:?}\n\
         markers.front.at = [0.25, 0, -0.4]\nmarkers.left.at = [-0.15, 0.2, -0.4]\nmarkers.right.at = [-0.15, -0.2, -0.4]\n\
         [contact.floor]\nkind = 'plane'\nbetween = ['ground', 'stool.front', 'stool.left', 'stool.right']\n\
         friction = {{ sliding = 2 }}\n[run]\nuntil = 4\ntolerance = 1e-10\n"
    )
}

/// It rocks between its front foot and the two behind: an impact leaves (J + m (h² − ab))/(J + m (h² + c²)) of the rate, with c the distance of the feet that are hit.
#[test]
fn a_stool_rocks_to_rest_on_three_feet() {
    let (rate, mass, inertia, front, behind, height) = (0.9, 2.0, 0.12, 0.25f64, 0.15f64, 0.4f64);
    let outcome = finish("stool", &stool([-rate * height, 0.0, rate * behind], [0.0, -rate, 0.0]), &[]);
    let side = |own: f64, other: f64| {
        let about = |foot: f64| inertia + mass * (height * height + foot * foot);
        let square = mass * G * own.hypot(height) / about(own);
        [square, own.atan2(height), (inertia + mass * (height * height - own * other)) / about(other)]
    };
    let (times, end) = series(rate, [side(behind, front), side(front, behind)]);
    let mut impacts: Vec<f64> = events(&outcome, "impact").iter().map(|(t, _)| *t).collect();
    impacts.dedup();
    assert!(impacts.len() > 20);
    for (t, exact) in impacts.iter().zip(times) {
        assert!((t - exact).abs() < 1e-8, "{t} {exact}");
    }
    let rest = events(&outcome, "rest");
    assert_eq!(
        rest.iter().map(|(_, marker)| *marker).collect::<Vec<_>>(),
        ["stool.front", "stool.left", "stool.right"]
    );
    assert!(rest.iter().all(|(t, _)| (t - end).abs() < 1e-8), "{rest:?} {end}");
    let lost = outcome.summary.ledger.lost_in_impacts;
    let energy = 0.5 * (inertia + mass * (height * height + behind * behind)) * rate * rate;
    assert!((lost - energy).abs() < 1e-8, "{lost} {energy}");
}

/// Pushed askew it wobbles on one foot after the other, slips a little, and comes to rest as well.
#[test]
fn a_stool_that_wobbles_comes_to_rest() {
    for rates in [[0.4, -0.6, 0.1], [-0.5, 0.3, 0.0], [0.2, 0.7, -0.3]] {
        let outcome = finish(
            "stool",
            &stool([0.0, 0.0, 0.0], rates),
            &["body.stool.position=[0, 0, 0.42]", "contact.floor.friction.sliding=0.6"],
        );
        for channel in ["velocity.x", "velocity.z", "angular_velocity.x", "angular_velocity.y", "angular_velocity.z"] {
            let speed = last(&outcome, &format!("body.stool.{channel}"));
            assert!(speed.abs() < 1e-9, "{rates:?} {channel} {speed}");
        }
        assert!((last(&outcome, "body.stool.position.z") - 0.4).abs() < 1e-9);
    }
}

/// Keeps the checkpoint of each step, and stops at one of them.
#[derive(Default)]
struct Keeper {
    stop: Option<u64>,
    checkpoints: Vec<Checkpoint>,
}

impl Watcher for Keeper {
    fn step(&mut self, _t: f64, steps: u64) -> bool {
        self.stop != Some(steps)
    }
    fn checkpoint(&mut self, pack: &dyn Fn() -> Checkpoint) {
        self.checkpoints.push(pack());
    }
}

/// Every step of a rocking wheel ends in an event towards the end. A stop is heard there, and every checkpoint leads to the same bits.
#[test]
fn a_wheel_that_rocks_is_stopped_anywhere_and_goes_on_with_the_same_bits() {
    let settings = ["parameters.rate=0.7", "run.until=2.3", "output.every=0.1"];
    let scene = read("rimless-wheel", scenes::find("rimless-wheel").unwrap().text, &settings);
    let mut keeper = Keeper::default();
    let whole = run(&scene, "wheel", None, &mut keeper).unwrap();
    let steps = whole.steps.len();
    assert!(keeper.checkpoints.len() >= steps && steps > 50, "{steps}");
    let same = |rest: &dalembert::run::Outcome, what: &str| {
        assert_eq!(rest.events, whole.events, "{what}");
        assert_eq!(rest.steps, whole.steps, "{what}");
        assert_eq!(rest.trajectory.columns(), whole.trajectory.columns(), "{what}");
        assert_eq!(rest.summary.counts, whole.summary.counts, "{what}");
    };
    for (k, checkpoint) in keeper.checkpoints.iter().enumerate().step_by(3) {
        same(&run(&scene, "wheel", Some(checkpoint), &mut ()).unwrap(), &format!("checkpoint {k}"));
    }
    for stop in (1..steps as u64).step_by(4) {
        let part = run(&scene, "wheel", None, &mut Keeper { stop: Some(stop), ..Keeper::default() }).unwrap();
        assert_eq!(part.steps.len() as u64, stop, "the step at which it was asked to stop is the last");
        let checkpoint = part.checkpoint.unwrap_or_else(|| panic!("it was interrupted at step {stop}"));
        same(&run(&scene, "wheel", Some(&checkpoint), &mut ()).unwrap(), &format!("stop {stop}"));
    }
}
