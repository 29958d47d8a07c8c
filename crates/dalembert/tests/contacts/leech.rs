//! The leech against the wall: the sequence of events, conserved quantities, and what does not depend on the observer.

use super::{completed, events, finish};
use dalembert::scenes;

/// Impact of the four front corners, sticking, a short slip of the upper corners, lift-off in pairs.
#[test]
fn the_rough_wall_has_its_sequence_of_events() {
    let outcome = completed("leech", &[]);
    let kinds: Vec<(&str, usize)> = outcome
        .events
        .chunk_by(|a, b| a.kind == b.kind && a.time == b.time)
        .map(|together| (together[0].kind.as_str(), together.len()))
        .collect();
    let expected =
        [("impact", 4), ("stick", 2), ("stick", 2), ("slip", 2), ("lift-off", 2), ("slip", 2), ("lift-off", 2)];
    assert_eq!(kinds, expected);
    // The document reads 0.24, 0.36, 0.375 and 0.4 from its figure; the parameters are not given there.
    let first = |kind: &str| events(&outcome, kind)[0];
    assert!((first("impact").0 - 0.24).abs() < 1e-6);
    assert!((first("stick").0 - 0.325).abs() < 2e-3);
    let lifted = events(&outcome, "lift-off");
    assert!((lifted[0].0 - 0.378).abs() < 2e-3 && (lifted[2].0 - 0.415).abs() < 2e-3, "{lifted:?}");
    let upper: Vec<&str> = lifted[..2].iter().map(|(_, marker)| *marker).collect();
    assert_eq!(upper, ["leech_corner0_2", "leech_corner0_4"]);
    let ledger = &outcome.summary.ledger;
    assert!(ledger.worst_imbalance < 1e-8, "{:e}", ledger.worst_imbalance);
    volume_is_kept(&outcome);
}

/// Without friction the four corners leave together: one event.
#[test]
fn on_the_smooth_wall_all_corners_lift_off_together() {
    let outcome = completed("leech-frictionless", &[]);
    let (impacts, lifted) = (events(&outcome, "impact"), events(&outcome, "lift-off"));
    assert_eq!((impacts.len(), lifted.len(), outcome.events.len()), (4, 4, 8), "{:?}", outcome.events);
    assert!(lifted.iter().all(|(t, _)| *t == lifted[0].0));
    assert!((lifted[0].0 - 0.5075).abs() < 1e-3);
    // Momentum along the wall is kept.
    let along = outcome.trajectory.column("momentum.linear.z").unwrap();
    assert!(along.iter().all(|p| (p - along[0]).abs() < 1e-12 * along[0].abs()));
    volume_is_kept(&outcome);
}

fn volume_is_kept(outcome: &dalembert::run::Outcome) {
    let residual = outcome.trajectory.column("residual.position").unwrap();
    let worst = residual.iter().fold(0.0f64, |max, r| max.max(r.abs()));
    assert!(worst < 1e-11 * 5.5, "{worst:e}");
}

/// Event times converge with the tolerance. (At 1e-6 the pairs of corners no longer stick together, so that there are more events.)
#[test]
fn event_times_converge_with_the_tolerance() {
    let times = |tolerance: &str| -> Vec<f64> {
        let outcome = completed("leech", &[&format!("run.tolerance={tolerance}"), "output.every=0.1"]);
        outcome.events.iter().map(|e| e.time).collect()
    };
    let best = times("1e-12");
    for (tolerance, bound) in [("1e-8", 1e-7), ("1e-9", 1e-8), ("1e-10", 1e-9)] {
        let now = times(tolerance);
        assert_eq!(now.len(), best.len());
        let worst = now.iter().zip(&best).fold(0.0f64, |max, (a, b)| max.max((a - b).abs()));
        println!("tolerance {tolerance}: event times off by {worst:.1e} s");
        assert!(worst < bound, "{tolerance}: {worst:e}");
    }
}

/// A turned and shifted scene has the same events.
#[test]
fn events_do_not_depend_on_the_frame() {
    let text = scenes::find("leech").unwrap().text;
    let plain = finish("leech", text, &["output.every=0.1"]);
    // A turn by 90° about x takes y to z: the wall stays x = 0 and slides along −y; the body moves along −y.
    let turned = finish(
        "leech",
        text,
        &[
            "output.every=0.1",
            "assembly.leech.orientation={ axis = [1, 0, 0], angle = 1.5707963267948966 }",
            "assembly.leech.velocity=[-10, 10, 0]",
            "assembly.leech.position=[2.4, 3, -7]",
            "contact.wall.friction.along=[0, 1, 0]",
        ],
    );
    assert_eq!(plain.events.len(), turned.events.len());
    for (a, b) in plain.events.iter().zip(&turned.events) {
        assert!((a.time - b.time).abs() < 1e-9 && a.kind == b.kind, "{a:?} {b:?}");
    }
}
