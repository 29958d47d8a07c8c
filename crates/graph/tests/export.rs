//! Functions written down: what readers see, and what compilers make of it.
#![allow(clippy::unwrap_used, missing_docs)]

#[allow(dead_code)] // shared with the bench and other tests
#[path = "../benches/problems/mod.rs"]
mod problems;

use dalembert_graph::derive::jacobian::jacobian;
use dalembert_graph::export::{Driver, Names, c, latex, rust, text};
use dalembert_graph::{Function, Recorded, Trace, record};
use dalembert_methods::Real;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

fn pendulum() -> Recorded {
    record(3, |x: &[Trace]| {
        let (s, c) = x[0].sin_cos();
        let energy = x[1].square() * 0.5 - c * 9.81;
        vec![energy, x[2] - s * 9.81 - x[1] * 0.1, Trace::select(x[0].lt(x[1]), s, -s) / (c * c + 1.0)]
    })
    .unwrap()
}

fn named() -> Names {
    let list = |names: &[&str]| names.iter().map(|n| (*n).to_owned()).collect();
    Names { function: "pendulum".into(), inputs: list(&["angle", "rate", "torque"]), outputs: list(&["E", "a", "f"]) }
}

#[test]
fn text_is_readable_and_stable() {
    let expected = "\
p1 = cos(angle)
p2 = sin(angle)
E = 0.5 rate^2 - 9.81 p1
a = torque - 9.81 p2 - 0.1 rate
f = if(angle < rate, p2, -p2) / (1 + p1^2)
";
    assert_eq!(text(&pendulum(), &named()), expected);
    assert_eq!(text(&pendulum(), &named()), text(&pendulum(), &named()));
}

#[test]
fn latex_is_what_one_would_write() {
    let f = record(2, |x: &[Trace]| vec![(x[0] * x[0] + x[1]).sqrt() / x[1], -(x[0] - x[1]) * 1e-9, x[1].powf(x[0])])
        .unwrap();
    let expected = "\
\\begin{align*}
  y_{1} &= \\frac{\\sqrt{x_{2} + {x_{1}}^{2}}}{x_{2}} \\\\
  y_{2} &= 1 \\cdot 10^{-9} \\, \\left(x_{2} - x_{1}\\right) \\\\
  y_{3} &= {x_{2}}^{x_{1}}
\\end{align*}
";
    assert_eq!(latex(&f, &Names::latex("f", &f)), expected);
}

/// Everything a function can hold.
fn everything() -> Recorded {
    record(4, |x: &[Trace]| {
        let [a, b, c, d] = [x[0], x[1], x[2], x[3]];
        let mask = Trace::or(Trace::and(a.lt(b), Trace::not(c.le(d))), a.equals(d));
        vec![
            a.tan() + b.asin() * c.acos() - (d - (a - b)),
            a.atan2(b).exp() / c.square(),
            (d.square() + 1.0).ln().tanh() * b.square().powf(c),
            (a * 5.0).round() + (b * 5.0).floor() - (-c),
            Trace::select(mask, a * b, c / d) * Trace::select(mask, d, a) - 1e-12,
            a.powi(-3) * 1e20 + d.abs().sqrt(),
            Trace::from(0.1),
            b.max(c).min(d),
        ]
    })
    .unwrap()
}

fn cases() -> Vec<(Recorded, Vec<Vec<f64>>)> {
    let arm = record(21, |x: &[Trace]| problems::arm(7, x)).unwrap();
    let few = vec![vec![0.3, -0.4, 0.5, 0.6], vec![-0.7, 0.2, 0.1, -0.9], vec![0.25, 0.5, -0.75, 0.25]];
    vec![(everything(), few), (jacobian(&arm).function, vec![problems::point(21), vec![0.1; 21]])]
}

/// Compiles a source, feeds it the states and compares what it prints.
fn compare(compiler: &mut Command, program: &Path, f: &Recorded, states: &[Vec<f64>]) {
    let built = compiler.output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let mut run = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines: Vec<String> = states.iter().flatten().map(|x| format!("{x:?}\n")).collect();
    run.stdin.take().unwrap().write_all(lines.concat().as_bytes()).unwrap();
    let printed = String::from_utf8(run.wait_with_output().unwrap().stdout).unwrap();
    let found: Vec<f64> = printed.lines().map(|line| line.parse().unwrap()).collect();
    let function = Function::interpreted(f);
    let mut exact = Vec::new();
    for x in states {
        let mut y = vec![0.0; function.outputs()];
        function.call(&mut function.work(), x, &mut y);
        exact.extend(y);
    }
    assert_eq!(found.len(), exact.len());
    let largest = exact.iter().fold(1.0, |m: f64, y| if y.abs() < 1e10 { m.max(y.abs()) } else { m });
    for (k, (a, b)) in found.iter().zip(&exact).enumerate() {
        // A few hundred operations in another order of rounding.
        assert!(
            (a - b).abs() <= 100.0 * f64::EPSILON * largest.max(b.abs()) || a.is_nan() && b.is_nan(),
            "{k}: {a} {b}"
        );
    }
}

#[test]
fn c_gives_the_same_numbers() {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    if Command::new(&compiler).arg("--version").output().is_err() {
        println!("there is no C compiler `{compiler}`: the test of exported C is skipped");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    for (k, (f, states)) in cases().into_iter().enumerate() {
        let (source, program) = (folder.path().join(format!("f{k}.c")), folder.path().join(format!("c{k}")));
        std::fs::write(&source, c(&f, &Names::plain("function", &f), Driver::Main)).unwrap();
        let mut command = Command::new(&compiler);
        command.args(["-std=c99", "-Wall", "-Werror", "-pedantic", "-O1", "-o"]).arg(&program).arg(&source).arg("-lm");
        compare(&mut command, &program, &f, &states);
    }
}

#[test]
fn rust_gives_the_same_numbers() {
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".into());
    if Command::new(&compiler).arg("--version").output().is_err() {
        println!("there is no `{compiler}`: the test of exported Rust is skipped");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let (f, states) = cases().swap_remove(0);
    let (source, program) = (folder.path().join("f.rs"), folder.path().join("r"));
    std::fs::write(&source, rust(&f, &Names::plain("Function-1", &f), Driver::Main)).unwrap();
    let mut command = Command::new(&compiler);
    command.args(["--edition=2021", "-Dwarnings", "-o"]).arg(&program).arg(&source);
    compare(&mut command, &program, &f, &states);
}
