//! A run record made by hand: a planar double pendulum, its folder and its report.
//!
//! The equations are written out in two angles and stepped with the classical Runge–Kutta method, so the example shows
//! only the record and the report. Run it as `cargo run --example run_record -- FOLDER` and open `report.html` there.

use std::path::{Path, PathBuf};

use dalembert::record::{self, Balance, Contents, FinalState, Ledger, Setting, Status, Summary};
use dalembert::report::{self, Frame, Motion, ReportInput, Shape};
use dalembert_methods::trajectory::{Channel, Event, Trajectory};

const GRAVITY: f64 = 9.81;
const STEP: f64 = 0.002;
const END: f64 = 12.0;
const SCENE: &str = "\
# Two bobs of 1 kg on massless rods of 1 m, let go at rest.
title = \"Double pendulum\"

[gravity]
acceleration = [0.0, 0.0, -9.81]   # m/s^2

[body.upper]
kind = \"particle\"
mass = 1.0                         # kg

[body.lower]
kind = \"particle\"
mass = 1.0                         # kg
";

/// Angles of the two rods from the vertical and their rates.
type State = [f64; 4];

fn rate([a, b, da, db]: State) -> State {
    let (s, c) = (a - b).sin_cos();
    // Two equal masses and lengths: [2 c; c 1] [a″ b″] = [−b′² s − 2 g sin a, a′² s − g sin b].
    let (right_a, right_b) = (-db * db * s - 2.0 * GRAVITY * a.sin(), da * da * s - GRAVITY * b.sin());
    let determinant = 2.0 - c * c;
    [da, db, (right_a - c * right_b) / determinant, (2.0 * right_b - c * right_a) / determinant]
}

fn step(y: State, h: f64) -> State {
    let add = |k: State, f: f64| std::array::from_fn(|i| y[i] + f * k[i]);
    let k1 = rate(y);
    let k2 = rate(add(k1, 0.5 * h));
    let k3 = rate(add(k2, 0.5 * h));
    let k4 = rate(add(k3, h));
    std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
}

/// Positions and velocities of both bobs.
fn bobs([a, b, da, db]: State) -> [[f64; 3]; 4] {
    let upper = [a.sin(), 0.0, -a.cos()];
    let lower = [upper[0] + b.sin(), 0.0, upper[2] - b.cos()];
    let upper_speed = [da * a.cos(), 0.0, da * a.sin()];
    let lower_speed = [upper_speed[0] + db * b.cos(), 0.0, upper_speed[2] + db * b.sin()];
    [upper, lower, upper_speed, lower_speed]
}

fn balance(y: State) -> Balance {
    let [upper, lower, upper_speed, lower_speed] = bobs(y);
    let square = |v: [f64; 3]| v.iter().map(|c| c * c).sum::<f64>();
    let kinetic = 0.5 * (square(upper_speed) + square(lower_speed));
    let potential = GRAVITY * (upper[2] + lower[2]);
    let linear_momentum = std::array::from_fn(|i| upper_speed[i] + lower_speed[i]);
    let spin = |r: [f64; 3], v: [f64; 3]| r[2] * v[0] - r[0] * v[2];
    let angular_momentum = [0.0, spin(upper, upper_speed) + spin(lower, lower_speed), 0.0];
    Balance { kinetic, potential, total: kinetic + potential, linear_momentum, angular_momentum, ..Balance::default() }
}

fn channels() -> Vec<Channel> {
    let mut channels = vec![Channel::time()];
    for body in ["upper", "lower"] {
        for (quantity, unit) in [("position", "m"), ("velocity", "m/s")] {
            for axis in ["x", "y", "z"] {
                channels.push(Channel::new(format!("body.{body}.{quantity}.{axis}"), unit, "world"));
            }
        }
    }
    channels.push(Channel::new("joint.shoulder.angle", "rad", "local"));
    channels.push(Channel::new("joint.elbow.angle", "rad", "local"));
    for energy in ["kinetic", "potential", "total"] {
        channels.push(Channel::new(format!("energy.{energy}"), "J", ""));
    }
    channels.push(Channel::new("residual.energy", "J", ""));
    channels
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args_os().nth(1).map_or_else(|| std::env::temp_dir().join("run_record"), PathBuf::from);
    let mut state: State = [2.0, 1.4, 0.0, 0.0];
    let start = balance(state);
    let mut trajectory = Trajectory::new(channels())?;
    let (mut steps, mut events, mut motion) = (Vec::new(), Vec::new(), Motion::default());
    let (mut worst, mut worst_time) = (0.0, 0.0);
    let count = (END / STEP).round() as u64;
    for k in 0..=count {
        let time = k as f64 * STEP;
        let [upper, lower, upper_speed, lower_speed] = bobs(state);
        let now = balance(state);
        let imbalance = (now.total - start.total).abs();
        if imbalance > worst {
            (worst, worst_time) = (imbalance, time);
        }
        let mut row = vec![time];
        row.extend([upper, upper_speed, lower, lower_speed].concat());
        row.extend([state[0], state[1] - state[0], now.kinetic, now.potential, now.total, imbalance]);
        trajectory.push(&row);
        if k % 10 == 0 && time <= 2.4 {
            let arm = |name: &str, points: Vec<[f64; 3]>| Shape { name: name.to_owned(), points };
            let shapes = vec![arm("upper", vec![[0.0; 3], upper]), arm("lower", vec![upper, lower])];
            motion.frames.push(Frame { time, shapes });
        }
        if k == count {
            break;
        }
        let next = step(state, STEP);
        if state[2] > 0.0 && next[2] <= 0.0 {
            let (kind, element) = ("turn".to_owned(), "shoulder".to_owned());
            events.push(Event { time, kind, element, marker: String::new(), value: state[0], unit: "rad".to_owned() });
        }
        steps.push((time, STEP));
        state = next;
    }
    let allowance = 1e-5;
    let ledger = Ledger {
        start,
        end: balance(state),
        worst_imbalance: worst,
        worst_imbalance_time: worst_time,
        allowance,
        closes: worst <= allowance,
        ..Ledger::default()
    };
    let summary = Summary {
        name: "double-pendulum".to_owned(),
        title: "Double pendulum".to_owned(),
        status: Status::Completed,
        integrator: "classical Runge–Kutta".to_owned(),
        settings: [("step".to_owned(), Setting::Number(STEP)), ("order".to_owned(), Setting::Count(4))].into(),
        end_time: END,
        counts: [("steps".to_owned(), count), ("force_evaluations".to_owned(), 4 * count)].into(),
        ledger,
        final_state: FinalState { time: END, q: state[..2].to_vec(), v: state[2..].to_vec(), x: Vec::new() },
        ..Summary::default()
    };
    let input = ReportInput {
        steps: &steps,
        events: &events,
        scene_text: SCENE,
        motion: Some(&motion),
        ..ReportInput::new(&summary, &trajectory)
    };
    let page = report::page(&input);
    let contents = Contents {
        scene: SCENE,
        summary: &summary,
        trajectory: &trajectory,
        steps: &steps,
        events: &events,
        animation: None,
        report: Some(&page),
        checkpoint: None,
    };
    record::write(&folder, &contents)?;
    println!("{}", folder.join(record::files::REPORT).display());
    check(&folder, &trajectory)
}

/// What was written can be read back to the last bit, and the ledger closes.
fn check(folder: &Path, trajectory: &Trajectory) -> Result<(), Box<dyn std::error::Error>> {
    let back = record::read(folder)?;
    assert_eq!(&back.trajectory, trajectory);
    assert!(back.summary.ledger.closes, "{:?}", back.summary.ledger);
    Ok(())
}
