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
    println!("progress in m for each period with {settings:?}: {steps:?}");
    (steps, outcome)
}

#[test]
fn the_leech_crawls_forwards_by_the_same_step_each_period() {
    let (steps, outcome) = progress(&["run.until=3"]);
    // The body is 3 m long, and its length changes by about a third of that.
    assert!(steps.len() == 3 && steps.iter().all(|&step| step > 0.9), "{steps:?}");
    // After the first period the motion repeats, but for its impacts.
    assert!((steps[2] / steps[1] - 1.0).abs() < 0.05, "{steps:?}");
    // What the muscles supply goes into dampers and sliding.
    let ledger = &outcome.summary.ledger;
    assert!(ledger.lost_in_sliding > 0.0 && last(&outcome, "energy.supplied") > 0.0);
}

#[test]
fn with_the_suckers_reversed_it_crawls_backwards() {
    let (steps, _) = progress(&["parameters.sense=-1", "run.until=2"]);
    assert!(steps.iter().all(|&step| step < -0.9), "{steps:?}");
}

#[test]
fn without_suction_it_hardly_moves() {
    let (steps, _) = progress(&["parameters.suction=0", "run.until=2"]);
    // The wave itself carries it along a little.
    assert!(steps.iter().all(|step| step.abs() < 0.12), "{steps:?}");
}
