//! The crawling leech: progress for each period, and what it comes from.

use super::{completed, last};
use dalembert::run::Outcome;

/// Where the middle of the front and rear faces are at the end of each period: the mean of all four corners of both.
fn places(outcome: &Outcome, period: f64) -> Vec<f64> {
    let time = outcome.trajectory.time();
    let corner =
        |face: usize, k: usize| outcome.trajectory.column(&format!("body.leech_corner{face}_{k}.position.x")).unwrap();
    let at = |row: usize| (1..=4).map(|k| (corner(0, k)[row] + corner(3, k)[row]) / 8.0).sum::<f64>();
    let rows = (0..time.len()).filter(|&row| ((time[row] / period).round() - time[row] / period).abs() < 1e-9);
    rows.map(at).collect()
}

/// The progress in each period.
fn progress(settings: &[&str]) -> (Vec<f64>, Outcome) {
    let outcome = completed("crawling", settings);
    let places = places(&outcome, 1.0);
    let steps = places.windows(2).map(|pair| pair[1] - pair[0]).collect();
    println!("{settings:?}: {steps:?}");
    (steps, outcome)
}

#[test]
fn the_leech_crawls_forwards_by_the_same_step_each_period() {
    let (steps, outcome) = progress(&[]);
    let mean = steps[1..].iter().sum::<f64>() / (steps.len() - 1) as f64;
    assert!(steps.len() >= 4 && mean > 0.3, "{steps:?}");
    for step in &steps[1..] {
        assert!((step - mean).abs() < 0.05 * mean, "{steps:?}");
    }
    // What the muscles supply goes into dampers and sliding.
    let ledger = &outcome.summary.ledger;
    assert!(ledger.lost_in_sliding > 0.0 && last(&outcome, "energy.supplied") > 0.0);
}

#[test]
fn with_the_suckers_reversed_it_crawls_backwards() {
    let (steps, _) = progress(&["parameters.sense=-1", "run.until=3"]);
    assert!(steps[1..].iter().all(|&step| step < -0.3), "{steps:?}");
}

#[test]
fn without_suction_it_hardly_moves() {
    let (steps, _) = progress(&["parameters.suction=0", "run.until=3"]);
    assert!(steps[1..].iter().all(|step| step.abs() < 0.1), "{steps:?}");
}
