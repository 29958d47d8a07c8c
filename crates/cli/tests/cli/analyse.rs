//! Studies of vibration, cycles and chaos on scenes, against closed forms and against the same equations written by hand.

use super::*;
use dalembert_analysis::eigen::eigenvalues;
use dalembert_analysis::field::Settings;
use dalembert_analysis::floquet::monodromy;
use dalembert_analysis::problems::Mathieu;
use std::f64::consts::{PI, TAU};
use tempfile::tempdir;

/// The column of a table, below its header.
fn column(text: &str, header: &str, index: usize) -> Vec<f64> {
    let below = text.lines().skip_while(|line| !line.starts_with(header)).skip(1);
    below.map_while(|line| line.split_whitespace().nth(index)?.parse().ok()).collect()
}

/// A chain of n links in its rest is linearised with n coordinates; the double pendulum of rods in two of its twelve velocities.
#[test]
fn constrained_scenes_are_linearised_in_independent_coordinates() {
    let folder = tempdir().unwrap();
    let out = dalembert(folder.path(), &["study", "linearise", "double-pendulum", "--out", "small"]).with(0).out;
    assert!(out.contains("2 independent coordinates"), "{out}");
    assert!(out.contains("static condition: K is positive") && out.contains("marginal"), "{out}");
    for file in ["report.html", "M.csv", "K.npy", "A.csv", "matrices.mat"] {
        assert!(folder.path().join("small").join(file).exists(), "{file}");
    }
    // Two rods of length l = 1 m: ω² = (g/l) (3 ± 6/√7).
    let out = dalembert(folder.path(), &["study", "modes", "double-pendulum"]).with(0).out;
    let squared = column(&out, "mode ", 1);
    for (found, sign) in squared.iter().zip([-1.0, 1.0]) {
        let expected = 9.81 * (3.0 + sign * 6.0 / 7.0f64.sqrt());
        assert!((found / expected - 1.0).abs() < 1e-4, "{squared:?} {expected}");
    }
}

/// The spinning disc has a gyroscopic matrix with axial inertia times spin, the torque along its shaft a circulatory one.
#[test]
fn the_rotor_has_gyroscopic_and_circulatory_matrices() {
    let folder = tempdir().unwrap();
    let out = dalembert(folder.path(), &["study", "linearise", "rotor", "--here", "--out", "rotor"]).with(0).out;
    let read = |name: &str| -> Vec<Vec<f64>> {
        let text = std::fs::read_to_string(folder.path().join("rotor").join(name)).unwrap();
        text.lines().map(|line| line.split(',').map(|x| x.parse().unwrap()).collect()).collect()
    };
    let gyroscopic = read("G.csv");
    assert!((gyroscopic[0][1].abs() - 0.018 * 30.0).abs() < 1e-9, "{out}");
    assert!(read("N.csv")[0][1].abs() > 0.1, "{out}");
}

/// The static deflection of a quarter car under a slow force, and the variance of its wheel under white noise is finite.
#[test]
fn the_quarter_car_answers_slow_forces_and_noise() {
    let folder = tempdir().unwrap();
    let arguments = ["study", "frequency-response", "quarter-car-random", "--force", "wheel", "--measure", "wheel"];
    let arguments = [&arguments[..], &["--from", "0.001", "--out", "response"]].concat();
    dalembert(folder.path(), &arguments).with(0);
    let text = std::fs::read_to_string(folder.path().join("response/response.csv")).unwrap();
    let first: Vec<f64> = text.lines().nth(1).unwrap().split(',').map(|x| x.parse().unwrap()).collect();
    assert!((first[3] * 160_000.0 - 1.0).abs() < 1e-4, "{first:?}");
    let out =
        dalembert(folder.path(), &["study", "covariance", "quarter-car-random", "--noise", "wheel=1000"]).with(0).out;
    assert!(out.contains("stationary standard deviations"), "{out}");
}

/// Multipliers of the pendulum with a moving hinge are those of Mathieu's equation.
#[test]
fn the_moving_hinge_obeys_mathieus_equation() {
    let folder = tempdir().unwrap();
    let (a, q) = (1.0f64, 0.1);
    let omega = (4.0 * 9.81 / a).sqrt();
    let period = format!("{:?}", TAU / omega);
    let arguments = ["study", "floquet", "mathieu", "--set", "parameters.angle=0", "--period", &period];
    let out = dalembert(folder.path(), &arguments).with(0).out;
    let found = column(&out, "multiplier", 2);
    let (matrix, _) = monodromy(&Mathieu, &[0.0; 2], &[a, q], PI, Settings::default()).unwrap();
    let expected = eigenvalues(&matrix).unwrap()[0].modulus();
    assert!((found[0] - expected).abs() < 2e-5, "{out} {expected}");
}

/// Duffing's oscillator: the product of the multipliers is exp(−0.2 · 2π) on its cycle, exponents add up to −0.2 in its chaos.
#[test]
fn duffings_oscillator_loses_what_its_damping_takes() {
    let folder = tempdir().unwrap();
    let period = format!("{TAU:?}");
    let arguments = ["study", "limit-cycle", "duffing-a", "--period", &period, "--settle", "30"];
    let out = dalembert(folder.path(), &arguments).with(0).out;
    let moduli = column(&out, "multiplier", 2);
    assert!((moduli[0] * moduli[1] - (-0.2 * TAU).exp()).abs() < 1e-5, "{out}");
    let arguments = ["study", "lyapunov", "duffing-b", "--batches", "3", "--tolerance", "1e-7", "--out", "chaos"];
    let out = dalembert(folder.path(), &arguments).with(0).out;
    let exponents = column(&out, "exponent", 0);
    assert_eq!(exponents.len(), 3, "{out}");
    assert!((exponents.iter().sum::<f64>() + 0.2).abs() < 1e-4 && exponents[0] > 0.05, "{out}");
    assert!(folder.path().join("chaos/convergence.svg").exists());
    assert!(out.contains("dimension of Kaplan and Yorke: 2."), "{out}");
}

/// A cycle with one impact: the product of its multipliers is ε² exp(−2ζT).
#[test]
fn the_impact_oscillator_has_a_cycle_through_its_wall() {
    let folder = tempdir().unwrap();
    let period = TAU / 1.7;
    let text = format!("{period:?}");
    let arguments = ["study", "limit-cycle", "impact-oscillator", "--period", &text, "--settle", "60"];
    let out = dalembert(folder.path(), &arguments).with(0).out;
    let moduli = column(&out, "multiplier", 2);
    assert!((moduli[0] * moduli[1] - 0.49 * (-0.2 * period).exp()).abs() < 1e-5, "{out}");
    let apart = out.split("are these to ").nth(1).and_then(|rest| rest.lines().next()?.parse::<f64>().ok());
    assert!(apart.is_some_and(|apart| apart < 1e-6), "{out}");
    // From rest it is too far away: that is said, instead of a leap to the cycle on the other side of the spring, 20 m from here.
    let error = dalembert(folder.path(), &["study", "limit-cycle", "impact-oscillator", "--period", &text]).with(2).err;
    assert!(error.contains("did not converge") && error.contains("settle"), "{error}");
}

/// The motion inside one well folds back as the force grows, at the force at which the same field written by hand does.
#[test]
fn a_cycle_is_followed_over_a_value_of_its_scene() {
    let folder = tempdir().unwrap();
    let period = format!("{TAU:?}");
    let arguments = ["study", "continuation", "duffing-b", "--parameter", "parameters.force", "--from", "0.2"];
    let arguments = [&arguments[..], &["--to", "0.32", "--period", &period, "--out", "curve"]].concat();
    let out = dalembert(folder.path(), &arguments).with(0).out;
    let fold = out.lines().find(|line| line.starts_with("Fold")).unwrap_or_default();
    let force: f64 = fold.split_whitespace().nth(1).and_then(|x| x.parse().ok()).unwrap_or_default();
    assert!((force - 0.258_607).abs() < 1e-5, "{out}");
    assert!(folder.path().join("curve/curve.csv").exists());
}

/// What cannot be done is said.
#[test]
fn unknown_names_are_refused() {
    let folder = tempdir().unwrap();
    let error =
        dalembert(folder.path(), &["study", "covariance", "quarter-car-random", "--noise", "axle=1"]).with(2).err;
    assert!(error.contains("names none of the velocities"), "{error}");
}
