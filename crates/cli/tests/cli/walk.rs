//! Walkers as scenes: gaits through impacts, latches and exchanged legs, against closed forms and against equations written by hand.

use super::*;
use dalembert_analysis::continuation::{Kind, Options, Special, follow};
use dalembert_analysis::field::Settings;
use dalembert_analysis::hybrid::Hybrid;
use dalembert_analysis::map::{Cycle, Map, Stride, fixed_point};
use dalembert_analysis::problems::{Compass, KneedWalker};
use dalembert_methods::Real;
use tempfile::tempdir;

/// The options of all walkers on two legs.
const LEGS: [&str; 6] = ["--strike", "floor.right_foot", "--exchange", "left=right", "--drift", "along"];

/// The column of a table, below its header.
fn column(text: &str, header: &str, index: usize) -> Vec<f64> {
    let below = text.lines().skip_while(|line| !line.starts_with(header)).skip(1);
    below.map_while(|line| line.split_whitespace().nth(index)?.parse().ok()).collect()
}

/// The number after some words.
fn after(text: &str, words: &str) -> f64 {
    let rest = text.split(words).nth(1).unwrap_or_default();
    let number: String = rest.trim_start().chars().take_while(|c| "+-.e0123456789".contains(*c)).collect();
    number.trim_end_matches('.').parse().unwrap_or(f64::NAN)
}

/// Position and velocity of a coordinate in the table of a gait.
fn place(text: &str, name: &str) -> [f64; 2] {
    let line = text.lines().find(|line| line.split_whitespace().nth(1) == Some(name));
    let numbers: Vec<f64> = line.unwrap_or_default().split_whitespace().filter_map(|x| x.parse().ok()).collect();
    [numbers[0], numbers[1]]
}

fn gait(scene: &str, more: &[&str]) -> String {
    let folder = tempdir().unwrap();
    let out = dalembert(folder.path(), &[&["study", "limit-cycle", scene], more].concat()).with(0).out;
    // Multipliers by saltation are those by differences.
    assert!(after(&out, "by differences of strides are these to") < 1e-6, "{out}");
    out
}

/// ω² = 4 (g/l) sin α sin γ/(1 + j) · c²/(1 − c²) after a strike, multiplier c², with c = (j + cos 2α)/(1 + j).
#[test]
fn the_rimless_wheel_rolls_in_its_closed_form() {
    let half = std::f64::consts::PI / 8.0;
    let turn = format!("hub={:?}", -2.0 * half);
    let out = gait("rimless-wheel", &["--strike", "floor.spoke7", "--turn", &turn, "--drift", "along"]);
    let kept = (0.2 + (2.0 * half).cos()) / 1.2;
    let rate = (4.0 * 9.81 * half.sin() * 0.08f64.sin() / 1.2 * kept * kept / (1.0 - kept * kept)).sqrt();
    assert!((place(&out, "hub")[1] - rate).abs() < 1e-9, "{out} {rate}");
    assert!((column(&out, "multiplier", 2)[0] - kept * kept).abs() < 1e-6, "{out}");
}

fn hand_written(slope: f64, z: [f64; 4]) -> Cycle {
    let stride = Stride {
        system: Compass,
        mode: 0,
        on: Some(0),
        guards: vec![0],
        parameters: vec![slope, 2.0, 1.0, 9.81 / 0.5],
        free: 0,
        longest: 3.0,
        settings: Settings::default(),
    };
    fixed_point(&stride, &z, slope, 1e-12).unwrap()
}

/// Without a guess: the gait of the scene is that of the equations of Goswami et al., state and multipliers.
#[test]
fn the_compass_walks_as_its_equations_say() {
    let set = ["--set", "parameters.half=0.25", "--set", "parameters.stance=1.0", "--set", "parameters.swing=0.0"];
    let out = gait("compass-walker", &[&LEGS[..], &set, &["--search", "0.15", "--shortest", "0.4"]].concat());
    let slope = 3.0 * std::f64::consts::PI / 180.0;
    let ([stance, rate], [swing, swing_rate]) = (place(&out, "left"), place(&out, "right"));
    let z = [swing + slope, stance + slope, swing_rate, rate];
    let own = hand_written(slope, z);
    assert!(own.state.iter().zip(z).all(|(a, b)| (a - b).abs() < 1e-9), "{out} {own:?}");
    let found = column(&out, "multiplier", 2);
    for (found, own) in found.iter().zip(&own.multipliers) {
        assert!((found - own.modulus()).abs() < 1e-6, "{out} {own:?}");
    }
}

/// Two legs of length 1 with masses at the feet, a mass at the hip; coordinates as those of the compass, whose equations these are with the masses of legs moved to the
/// feet. Parameters: slope, mass at the hip over that of a foot; gravity is 1.
struct Footed;

impl Hybrid<4> for Footed {
    fn rate<R: Real>(&self, _mode: usize, _t: R, z: &[R; 4], p: &[R]) -> [R; 4] {
        let [swing, stance, swing_rate, rate] = *z;
        let (s, c) = (stance - swing).sin_cos();
        // θ̈_n − c θ̈_s = f₁, −c θ̈_n + (h + 1) θ̈_s = f₂.
        let all = p[1] + 1.0;
        let (f1, f2) = (-s * rate * rate - swing.sin(), s * swing_rate * swing_rate + all * stance.sin());
        let d = all - c * c;
        [swing_rate, rate, (f1 * all + f2 * c) / d, (f2 + f1 * c) / d]
    }
    fn guards(&self, _mode: usize) -> usize {
        1
    }
    fn guard<R: Real>(&self, _mode: usize, _guard: usize, _t: R, z: &[R; 4], p: &[R]) -> R {
        p[0] * 2.0 - z[0] - z[1]
    }
    fn reset<R: Real>(&self, _mode: usize, _guard: usize, _t: R, z: &[R; 4], p: &[R]) -> [R; 4] {
        let [swing, stance, _, rate] = *z;
        let c = (stance - swing).cos();
        // The foot that stood has no momentum about the hip, the hip keeps its own about the new foot: θ̇_n = c θ̇_s, (h + 1 − c²) θ̇_s = h c θ̇.
        let new = p[1] * c * rate / (p[1] + 1.0 - c * c);
        [stance, swing, c * new, new]
    }
    fn name(&self, _mode: usize, _guard: usize) -> String {
        "the foot strike".to_owned()
    }
}

fn footed(slope: f64) -> Stride<Footed, 4> {
    let (parameters, settings) = (vec![slope, 1e6], Settings::default());
    Stride { system: Footed, mode: 0, on: Some(0), guards: vec![0], parameters, free: 0, longest: 8.0, settings }
}

/// Both gaits of Garcia et al. with feet of a millionth of the mass: states and multipliers are those of equations with such feet, and as near to the limit without
/// mass as that.
#[test]
fn the_simplest_walker_has_its_long_and_its_short_gait() {
    let slope = 0.009;
    let long = gait("simplest-walker", &LEGS);
    let start = ["--set", "parameters.half=0.193937369810", "--set", "parameters.stance=0.203866927442"];
    let short = gait("simplest-walker", &[&LEGS[..], &start].concat());
    assert!(long.contains("stable: no disturbance grows") && short.contains("unstable: 1"), "{long} {short}");
    let gaits = [
        (&long, 0.200_310_900_544_247, [0.589_111_5, 0.589_111_5]),
        (&short, 0.193_937_369_810_182, [4.003_864_4, 0.459_589_6]),
    ];
    for (out, limit, moduli) in gaits {
        let ([stance, rate], [swing, swing_rate]) = (place(out, "left"), place(out, "right"));
        assert!((swing - limit).abs() < 1e-5, "{out}");
        let z = [swing + slope, stance + slope, swing_rate, rate];
        let own = fixed_point(&footed(slope), &z, slope, 1e-12).unwrap();
        assert!(own.state.iter().zip(z).all(|(a, b)| (a - b).abs() < 1e-9), "{out} {own:?}");
        for ((found, own), limit) in column(out, "multiplier", 2).iter().zip(&own.multipliers).zip(moduli) {
            assert!((found - own.modulus()).abs() < 1e-6, "{out} {own:?}");
            assert!((found - limit).abs() < 1e-4, "{out} {limit}");
        }
    }
}

/// The slope at which the long gait doubles its period, as equations with such feet have it.
#[test]
fn the_simplest_walker_doubles_its_period() {
    let folder = tempdir().unwrap();
    let range = ["--parameter", "parameters.slope", "--from", "0.0148", "--to", "0.0153", "--step", "0.0005"];
    let start = ["--set", "parameters.half=0.2346", "--set", "parameters.stance=0.2325", "--tolerance", "1e-11"];
    let all = [&["study", "continuation", "simplest-walker"][..], &LEGS, &range, &start].concat();
    let out = dalembert(folder.path(), &all).with(0).out;
    let found = column(&out, "what ", 1);
    let slope = 0.0148;
    let z = [0.2346 + slope, slope - 0.2346, 0.2325 * f64::cos(0.4692), 0.2325];
    let cycle = fixed_point(&footed(slope), &z, slope, 1e-12).unwrap();
    let options = Options { step: 5e-4, steps: [1e-7, 1e-2], range: [0.0147, 0.0153], points: 50, tolerance: 1e-11 };
    let branch = follow(&footed(slope), Kind::Cycles, &cycle.state, slope, &options).unwrap();
    let own = &branch.special.iter().find(|(what, _)| *what == Special::PeriodDoubling).unwrap().1;
    assert!(out.contains("PeriodDoubling") && (found[0] - own.parameter).abs() < 1e-7, "{out} {}", own.parameter);
    // Without mass it is 0.0150884379.
    assert!((own.parameter - 0.015_088_437_9).abs() < 1e-6, "{}", own.parameter);
}

/// The gait with knees, upwards: it doubles its period where the equations written by hand do, and ends where the foot comes down before the knee is straight.
#[test]
fn the_gait_with_knees_doubles_and_ends_upwards() {
    let folder = tempdir().unwrap();
    let strikes = ["--strike", "right_shank.lower", "--strike", "floor.right_foot"];
    let more = ["--exchange", "left=right", "--drift", "along", "--parameter", "parameters.slope"];
    let range = ["--from", "0.05", "--to", "0.2", "--points", "100", "--out", "curve"];
    let all = [&["study", "continuation", "kneed-walker"][..], &strikes, &more, &range].concat();
    let out = dalembert(folder.path(), &all).with(0).out;
    assert!(out.contains("PeriodDoubling"), "{out}");
    assert!((column(&out, "what ", 1)[0] - 0.106_211_66).abs() < 1e-6, "{out}");
    assert!(
        out.contains("impact of `contact.floor.right_foot` came before impact of `body.walker.right_shank"),
        "{out}"
    );
    assert!((after(&out, "last point: parameters.slope =") - 0.1196).abs() < 2e-4, "{out}");
    // Tables have names, times and multipliers; stable are those points whose multipliers are all inside.
    let text = read(folder.path().join("curve/curve.csv"));
    assert!(text.contains("\"position of") && text.contains(",time,multiplier1,multiplier1 imaginary"), "{text}");
    for line in text.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').filter_map(|x| x.parse().ok()).collect();
        let largest = cells[cells.len() - 6..].chunks(2).fold(0.0f64, |max, m| max.max(m[0].hypot(m[1])));
        assert_eq!(line.contains("true"), largest < 1.0, "{line}");
    }
    assert!(read(folder.path().join("curve/special.csv")).contains("\nPeriodDoubling,0.1062"));
}

/// From scratch, as the book has it: the evolution strategy and Newton's method lead to the gait with knees.
#[test]
fn the_gait_with_knees_is_found_from_scratch() {
    let strikes = ["--strike", "right_shank.lower", "--strike", "floor.right_foot"];
    let more = ["--exchange", "left=right", "--drift", "along", "--search", "0.1", "--shortest", "0.4"];
    let set = ["--set", "parameters.half=0.25", "--set", "parameters.stance=1", "--set", "parameters.swing=0"];
    let out = gait("kneed-walker", &[&strikes[..], &more, &set].concat());
    assert!(out.contains("evolution strategy") && out.contains("stable: no disturbance grows"), "{out}");
    assert!((after(&out, "one stride takes") - 0.563_844_6).abs() < 1e-6, "{out}");
}

/// Both gaits of Garcia et al. from scratch, by the evolution strategy and Newton's method: neither angle nor rates of a gait are given, ranges are wide, and the second search keeps
/// away from what the first one found. States and multipliers are those of equations with such feet.
#[test]
fn both_gaits_of_the_simplest_walker_are_found_from_scratch() {
    let slope = 0.009;
    let set = ["--set", "parameters.half=0.25", "--set", "parameters.stance=0.25", "--set", "parameters.swing=0.2"];
    let search = ["--search", "--gaits", "2", "--range", "right=0.1:0.3"];
    let rates = ["--range-rate", "left=0.1:0.3", "--range-rate", "right=0:0.3"];
    let out = gait("simplest-walker", &[&LEGS[..], &set, &search, &rates].concat());
    assert!(out.contains("gait 2 of 2:"), "{out}");
    let mut found = Vec::new();
    for part in out.split(" of 2:").skip(1) {
        let ([stance, rate], [swing, swing_rate]) = (place(part, "left"), place(part, "right"));
        let z = [swing + slope, stance + slope, swing_rate, rate];
        let own = fixed_point(&footed(slope), &z, slope, 1e-12).unwrap();
        assert!(own.state.iter().zip(z).all(|(a, b)| (a - b).abs() < 1e-9), "{out} {own:?}");
        for (found, own) in column(part, "multiplier", 2).iter().zip(&own.multipliers) {
            assert!((found - own.modulus()).abs() < 1e-6, "{out} {own:?}");
        }
        found.push(swing);
    }
    // Without mass of the feet they are 0.200310900544 and 0.193937369810.
    for expected in [0.200_310_751, 0.193_936_810] {
        assert!(found.iter().any(|half| (half - expected).abs() < 1e-8), "{out}");
    }
    assert!(out.contains("stable: no disturbance grows") && out.contains("unstable: 1"), "{out}");
}

/// Knees: state and multipliers of the gait are those of the equations written by hand, through knee strike and heel strike.
#[test]
fn the_walker_with_knees_walks_as_its_equations_say() {
    let strikes = ["--strike", "right_shank.lower", "--strike", "floor.right_foot"];
    let more = ["--exchange", "left=right", "--drift", "along"];
    let out = gait("kneed-walker", &[&strikes[..], &more].concat());
    let slope = 0.05;
    let stride = Stride {
        system: KneedWalker::default(),
        mode: 0,
        on: None,
        guards: vec![0, 0],
        parameters: vec![slope],
        free: 0,
        longest: 3.0,
        settings: Settings::default(),
    };
    let ([stance, rate], [swing, swing_rate]) = (place(&out, "left_thigh"), place(&out, "right_thigh"));
    let z = [stance + slope, swing + slope, swing + slope, rate, swing_rate, swing_rate];
    let image = stride.image(&z, slope).unwrap();
    assert!(image.value.iter().zip(z).all(|(a, b)| (a - b).abs() < 1e-8), "{out} {image:?}");
    let own = fixed_point(&stride, &z, slope, 1e-11).unwrap();
    for (found, own) in column(&out, "multiplier", 2).iter().zip(&own.multipliers) {
        assert!((found - own.modulus()).abs() < 1e-6, "{out} {own:?}");
    }
}

/// A block on a belt from one stick to the next: of all disturbances the one along the belt is forgotten, those across go on turning.
#[test]
fn the_block_on_a_belt_sticks_again() {
    let out = gait("block-on-belt", &["--strike", "belt:stick"]);
    let (mu, speed, rate) = ([0.4 * 9.81, 0.2 * 9.81], 0.1f64, 10.0f64);
    // It sticks over twice the way that the loss of friction gives, and slips for the rest of a turn of its spring.
    let fall = (mu[0] - mu[1]) / rate;
    let slip = (2.0 * std::f64::consts::PI - 2.0 * (fall / speed).atan()) / rate;
    let expected = 2.0 * fall / (rate * speed) + slip;
    assert!((after(&out, "one stride takes") - expected).abs() < 1e-8, "{out} {expected}");
    assert!(column(&out, "multiplier", 2)[2] < 1e-8, "{out}");
}

/// The upper body balances on a gait that exists, and is unstable.
#[test]
fn the_walker_of_five_bodies_has_a_gait() {
    let strikes = ["--strike", "right_shank.lower", "--strike", "floor.right_foot"];
    let more = ["--exchange", "left=right", "--drift", "along"];
    let out = gait("five-body-walker", &[&strikes[..], &more].concat());
    assert!(out.contains("5 coordinates on the section") && out.contains("unstable"), "{out}");
}

/// Ranges of a search that are none are refused before anything is computed.
#[test]
fn ranges_have_two_ends() {
    let folder = tempdir().unwrap();
    for (range, expected) in
        [("right=0.1:0.1", "two different ends"), ("right=0.1", "NAME=FROM:TO"), ("tail=0:1", "tail")]
    {
        let search = [&["study", "limit-cycle", "simplest-walker"][..], &LEGS, &["--search", "--range", range]];
        let error = dalembert(folder.path(), &search.concat()).with(2).err;
        assert!(error.contains(expected), "{error}");
    }
}

/// A hollow that is too narrow, so that both feet strike at once, and a latch that nobody can release are told.
#[test]
fn walkers_that_cannot_walk_are_told() {
    let folder = tempdir().unwrap();
    let narrow = [&["study", "limit-cycle", "compass-walker"][..], &LEGS, &["--set", "contact.floor.hollow=0.02"]];
    let error = dalembert(folder.path(), &narrow.concat()).with(2).err;
    assert!(error.contains("`contact.floor.right_foot` came down 0.1996 m outside of the hollow"), "{error}");
    assert!(error.contains("too narrow") && error.contains("wider by more than that"), "{error}");
    let wrong = ["run", "kneed-walker", "--set", "body.walker.links[3].latch.release[0]=roof"];
    let error = dalembert(folder.path(), &wrong).with(2).err;
    assert!(error.contains("released by `roof`, which is no contact"), "{error}");
}

/// Loss of stability and ends of gaits of scenes, at the slopes at which the equations written by hand have them: the compass doubles its period at
/// 4.391° as Goswami et al. tell, the walker with knees has no gait below its fold.
#[test]
fn gaits_are_followed_to_their_doublings_and_ends() {
    let follow = |scene: &str, strikes: &[&str], more: &[&str]| {
        let folder = tempdir().unwrap();
        let range = ["--parameter", "parameters.slope", "--tolerance", "1e-9"];
        let all = [&["study", "continuation", scene][..], strikes, &range, more].concat();
        dalembert(folder.path(), &all).with(0).out
    };
    let at = |out: &str, what: &str| column(out, "what ", 1).first().copied().filter(|_| out.contains(what));
    let out =
        follow("compass-walker", &LEGS, &["--from", "0.0765", "--to", "0.0775", "--step", "0.001", "--points", "8"]);
    let doubling = at(&out, "PeriodDoubling").unwrap_or_default();
    assert!((doubling.to_degrees() - 4.3909).abs() < 1e-3, "{out}");
    let knees = ["--strike", "right_shank.lower", "--strike", "floor.right_foot"];
    let knees = [&knees[..], &["--exchange", "left=right", "--drift", "along"]].concat();
    let out =
        follow("kneed-walker", &knees, &["--from", "0.0325", "--to", "0.0315", "--step", "0.005", "--points", "10"]);
    let fold = at(&out, "Fold").unwrap_or_default();
    assert!((fold - 0.031_785).abs() < 2e-6, "{out}");
}
