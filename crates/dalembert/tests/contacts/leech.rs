//! The leech against the wall: the sequence of events, conserved quantities, and what does not depend on the observer.

use super::{completed, events, finish};
use dalembert::methods::lie::Quat;
use dalembert::methods::vector::Vec3;
use dalembert::scenes;
use std::collections::BTreeMap;

/// Impact of the four front corners, sticking, a short slip of the upper corners, lift-off in pairs.
#[test]
fn the_rough_wall_has_its_sequence_of_events() {
    let outcome = completed("leech", &[]);
    let kinds: Vec<(&str, usize)> = outcome
        .events
        .chunk_by(|a, b| a.kind == b.kind && a.time == b.time)
        .map(|together| (together[0].kind.as_str(), together.len()))
        .collect();
    let expected = [
        ("impact", 4),
        ("loss", 1),
        ("stick", 2),
        ("stick", 2),
        ("slip", 2),
        ("lift-off", 2),
        ("slip", 2),
        ("lift-off", 2),
    ];
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
    // Four impacts with one account of what they cost, four corners that lift off.
    assert_eq!((impacts.len(), lifted.len(), outcome.events.len()), (4, 4, 9), "{:?}", outcome.events);
    assert!(lifted.iter().all(|(t, _)| *t == lifted[0].0));
    assert!((lifted[0].0 - 0.5075).abs() < 1e-3);
    // Momentum along the wall is kept.
    let along = outcome.trajectory.column("momentum.linear.z").unwrap();
    assert!(along.iter().all(|p| (p - along[0]).abs() < 1e-12 * along[0].abs()));
    volume_is_kept(&outcome);
}

/// The volume is kept to 1e-12 of itself. Its rate ∮ v·n dA is kept to 1e-12 of what it could be: the surface of the body, at least
/// that of a cylinder of its volume V and length L, 2√(πVL), times its speed.
fn volume_is_kept(outcome: &dalembert::run::Outcome) {
    let (volume, length, speed) = (5.5f64, 9.02, 200f64.sqrt());
    let worst = |channel: &str| {
        let residual = outcome.trajectory.column(channel).unwrap();
        residual.iter().fold(0.0f64, |max, r| max.max(r.abs()))
    };
    let [position, rate] = [worst("residual.position"), worst("residual.velocity")];
    println!("volume off by {position:.1e} m³, its rate by {rate:.1e} m³/s");
    assert!(position < 1e-12 * volume, "{position:e}");
    assert!(rate < 1e-12 * 2.0 * (std::f64::consts::PI * volume * length).sqrt() * speed, "{rate:e}");
}

/// The first time of each kind of event at each corner, and the number of all events.
fn times(settings: &[&str]) -> (BTreeMap<(String, String), f64>, usize) {
    let mut first = BTreeMap::new();
    let events = completed("leech", settings).events;
    let count = events.len();
    for event in events {
        first.entry((event.kind, event.marker)).or_insert(event.time);
    }
    (first, count)
}

/// Event times converge in proportion to the tolerance, as global errors do under error control per step, down to the 1e-12 s to which
/// events are located. All runs have the same events.
#[test]
fn event_times_converge_with_the_tolerance() {
    let run = |method: &str, tolerance: &str| {
        let method = format!("run.integrator=\"{method}\"");
        times(&[&method, &format!("run.tolerance={tolerance}"), "output.every=0.1"])
    };
    let (best, count) = run("dop853", "1e-13");
    let tolerances = ["1e-7", "1e-8", "1e-9", "1e-10", "1e-11"];
    let methods = ["dop853", "dopri5"];
    let errors = tolerances.map(|tolerance| {
        methods.map(|method| {
            let (now, found) = run(method, tolerance);
            assert_eq!(found, count, "{method} at {tolerance}");
            best.iter().fold(0.0f64, |max, (key, time)| max.max((now[key] - time).abs()))
        })
    });
    println!("| tolerance | `{}` | `{}` |\n|---|---|---|", methods[0], methods[1]);
    for (tolerance, [a, b]) in tolerances.iter().zip(errors) {
        println!("| {tolerance} | {a:.1e} | {b:.1e} |");
    }
    for (k, method) in methods.iter().enumerate() {
        // Four decades of the tolerance; at rate 1 the error falls by 10⁴.
        let rate = (errors[0][k] / errors[4][k]).log10() / 4.0;
        println!("{method}: error ∝ tolerance^{rate:.2}");
        assert!(rate > 0.75, "{method}: {rate}");
        assert!(errors[2][k] < 1e-10, "{method}: {:e}", errors[2][k]);
    }
}

/// With friction across the wall as well, corners that stuck begin to slip in two dimensions, mirror images alike.
#[test]
fn a_leech_slips_in_two_dimensions() {
    let text = scenes::find("leech").unwrap().text;
    let plane = r#"friction = { sliding = "= mu" }"#;
    let text = text.replace(r#"friction = { sliding = "= mu", along = [0, 0, 1], one_dimensional = true }"#, plane);
    assert!(text.contains(plane));
    for method in ["dop853", "radau"] {
        let outcome = finish("leech", &text, &[&format!("run.integrator=\"{method}\""), "output.every=0.01"]);
        let slips = events(&outcome, "slip");
        println!("{method}: {:?}", outcome.events.iter().map(|e| (e.time, &*e.kind, &*e.marker)).collect::<Vec<_>>());
        for pair in slips.chunks(2) {
            assert!((pair[0].0 - pair[1].0).abs() < 1e-8, "{slips:?}");
        }
        assert_eq!(events(&outcome, "lift-off").len(), 4);
    }
}

/// The same experiment in a frame that is turned about an oblique axis and shifted has the same events.
#[test]
fn events_do_not_depend_on_the_frame() {
    let text = scenes::find("leech").unwrap().text;
    let plain = finish("leech", text, &["output.every=0.1"]);
    let (angle, shift) = (0.7, Vec3([3.0, -7.0, 11.0]));
    let axis = Vec3([1.0, 2.0, 3.0]).normalized();
    let turn = Quat::exp(axis * angle);
    let list = |v: Vec3<f64>| format!("[{:?}, {:?}, {:?}]", v[0], v[1], v[2]);
    let turned = |v: [f64; 3]| turn.rotate(Vec3(v));
    let normal = turned([1.0, 0.0, 0.0]);
    let settings = [
        "output.every=0.1".to_owned(),
        format!("assembly.leech.orientation={{ axis = {}, angle = {angle:?} }}", list(axis)),
        format!("assembly.leech.velocity={}", list(turned([-10.0, 0.0, -10.0]))),
        format!("assembly.leech.position={}", list(turned([2.4, 0.0, 0.0]) + shift)),
        format!("contact.wall.normal={}", list(normal)),
        format!("contact.wall.offset={:?}", normal.dot(shift)),
        format!("contact.wall.friction.along={}", list(turned([0.0, 0.0, 1.0]))),
    ];
    let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
    let moved = finish("leech", text, &settings);
    assert_eq!(plain.events.len(), moved.events.len(), "{:?}", moved.events);
    for (a, b) in plain.events.iter().zip(&moved.events) {
        assert!((a.time - b.time).abs() < 1e-9 && a.kind == b.kind, "{a:?} {b:?}");
    }
}
