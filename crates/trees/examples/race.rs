//! Times of the tree algorithms on the models of a text file, beside Pinocchio's; see `benches/peers/trees.py`.
//!
//! Output lines: model, algorithm, nanoseconds for each state (the smallest over many short batches, one thread).
//! With a model, an algorithm and a number of calls it only makes these calls, so that a profiler can count instructions.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use dalembert_methods::vector::{Mat3, Vec3};
use dalembert_trees::entry::{Level, four, one};
use dalembert_trees::samples::state;
use dalembert_trees::{FastLanes, JointKind, JointSpec, LinkSpec, MassProperties, Pose, Tree, TreeBuilder};
use std::hint::black_box;
use std::time::Instant;

/// Models in the plain format of the race: parent, joint, axis, rotation, position, mass, centre, inertia.
fn models(text: &str) -> Vec<(String, Tree)> {
    let mut lines = text.lines().filter(|l| !l.trim().is_empty());
    let mut out = Vec::new();
    while let Some(head) = lines.next() {
        let words: Vec<&str> = head.split_whitespace().collect();
        let mut builder = TreeBuilder::new();
        for i in 0..words[2].parse::<usize>().unwrap() {
            let line: Vec<&str> = lines.next().unwrap().split_whitespace().collect();
            let parent: usize = line[0].parse().unwrap();
            let x: Vec<f64> = line[2..].iter().map(|w| w.parse().unwrap()).collect();
            let axis = match line[1].as_bytes()[1] {
                b'X' => Vec3([1.0, 0.0, 0.0]),
                b'Y' => Vec3([0.0, 1.0, 0.0]),
                b'Z' => Vec3([0.0, 0.0, 1.0]),
                _ => Vec3([x[0], x[1], x[2]]),
            };
            let kind = match line[1].as_bytes()[0] {
                b'R' => JointKind::Revolute { axis },
                b'P' => JointKind::Prismatic { axis },
                _ => JointKind::Free,
            };
            let rotation = Mat3([[x[3], x[4], x[5]], [x[6], x[7], x[8]], [x[9], x[10], x[11]]]);
            let inertia = Mat3([[x[19], x[20], x[21]], [x[20], x[22], x[23]], [x[21], x[23], x[24]]]);
            builder.link(LinkSpec {
                name: format!("l{}", i + 1),
                parent: (parent > 0).then(|| format!("l{parent}")),
                joint: JointSpec::new(
                    format!("j{}", i + 1),
                    kind,
                    Pose { rotation, position: Vec3([x[12], x[13], x[14]]) },
                ),
                offset: Pose::default(),
                mass: MassProperties { mass: x[15], centre: Vec3([x[16], x[17], x[18]]), inertia },
            });
        }
        out.push((words[1].to_string(), builder.build().expect("a model of the race")));
    }
    out
}

enum Mode {
    Times,
    Calls(String, usize),
}

fn measure(mode: &Mode, model: &str, algorithm: &str, states: usize, mut f: impl FnMut(usize)) {
    if let Mode::Calls(chosen, calls) = mode {
        if chosen == algorithm {
            (0..*calls).for_each(f);
        }
        return;
    }
    let mut batch = |n: usize| {
        let start = Instant::now();
        (0..n).for_each(&mut f);
        start.elapsed().as_secs_f64()
    };
    let mut n = 1;
    while batch(n) < 2e-4 {
        n *= 2;
    }
    let best = (0..300).map(|_| batch(n) / n as f64).fold(f64::INFINITY, f64::min);
    println!("{model},{algorithm},{:.1}", best * 1e9 / states as f64);
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&arguments[1]).expect("the file of models");
    let chosen = arguments.get(2).filter(|_| arguments.len() > 4);
    let mode = match chosen {
        Some(_) => Mode::Calls(arguments[3].clone(), arguments[4].parse().unwrap()),
        None => Mode::Times,
    };
    let level = if std::env::var_os("PORTABLE").is_some() { Level::portable() } else { Level::best() };
    const K: usize = 64;
    for (name, tree) in models(&text) {
        if chosen.is_some_and(|c| *c != name) {
            continue;
        }
        let t = &tree;
        let n = t.velocities();
        let states: Vec<_> = (0..K).map(|i| state(t, i as u64)).collect();
        let mut out = vec![0.0; n];
        let mut matrix = vec![0.0; n * n];
        let mut rnea = one::Rnea::new(t, level);
        measure(&mode, &name, "rnea", 1, |i| {
            let (q, v, a, _) = &states[i % K];
            rnea.compute(t, q, v, a, &[], &mut out);
            black_box(&out);
        });
        let mut crba = one::Crba::new(t, level);
        measure(&mode, &name, "crba", 1, |i| {
            crba.compute(t, &states[i % K].0, &mut matrix);
            black_box(&matrix);
        });
        let mut aba = one::Aba::new(t, level);
        measure(&mode, &name, "aba", 1, |i| {
            let (q, v, _, tau) = &states[i % K];
            aba.compute(t, q, v, tau, &[], &mut out);
            black_box(&out);
        });
        let mut inverse = one::RneaDerivatives::new(t, level);
        measure(&mode, &name, "rnea_derivatives", 1, |i| {
            let (q, v, a, _) = &states[i % K];
            inverse.compute(t, q, v, a, &[]);
            black_box(inverse.by_q());
        });
        let mut forward = one::AbaDerivatives::new(t, level);
        measure(&mode, &name, "aba_derivatives", 1, |i| {
            let (q, v, _, tau) = &states[i % K];
            forward.compute(t, q, v, tau, &[]);
            black_box(forward.by_q());
        });
        type Four = FastLanes<4, false>;
        type Pick = fn(&(Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>)) -> &Vec<f64>;
        let pack = |g: usize, pick: Pick| -> Vec<Four> {
            (0..pick(&states[0]).len())
                .map(|i| FastLanes(std::array::from_fn(|l| pick(&states[4 * g + l])[i])))
                .collect()
        };
        let groups: Vec<_> =
            (0..K / 4).map(|g| (pack(g, |s| &s.0), pack(g, |s| &s.1), pack(g, |s| &s.2), pack(g, |s| &s.3))).collect();
        let mut out = vec![Four::default(); n];
        let mut matrix = vec![Four::default(); n * n];
        let mut rnea = four::Rnea::new(t, level);
        measure(&mode, &name, "rnea4", 4, |i| {
            let (q, v, a, _) = &groups[i % (K / 4)];
            rnea.compute(t, q, v, a, &[], &mut out);
            black_box(&out);
        });
        let mut crba = four::Crba::new(t, level);
        measure(&mode, &name, "crba4", 4, |i| {
            crba.compute(t, &groups[i % (K / 4)].0, &mut matrix);
            black_box(&matrix);
        });
        let mut aba = four::Aba::new(t, level);
        measure(&mode, &name, "aba4", 4, |i| {
            let (q, v, _, tau) = &groups[i % (K / 4)];
            aba.compute(t, q, v, tau, &[], &mut out);
            black_box(&out);
        });
        let mut inverse = four::RneaDerivatives::new(t, level);
        measure(&mode, &name, "rnea_derivatives4", 4, |i| {
            let (q, v, a, _) = &groups[i % (K / 4)];
            inverse.compute(t, q, v, a, &[]);
            black_box(inverse.by_q());
        });
    }
}
