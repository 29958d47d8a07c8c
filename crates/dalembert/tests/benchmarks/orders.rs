//! The measured order of integrators on a constrained scene, by halving fixed steps.

use super::{completed, distance, last_vector};

#[test]
fn integrators_have_their_order_on_the_double_pendulum() {
    let reference = last_vector(
        &completed("double-pendulum", &["run.tolerance=1e-13", "run.until=1", "output.every=1"]),
        "body.lower.position",
    );
    // Steps per second for which errors lie between rounding and the pre-asymptotic range. The error terms of order 8 of
    // `dop853` are small by construction, so that those of order 9 show until rounding hides both.
    for (name, orders, coarse) in [
        ("rk4", [3.75, 4.25], 64),
        ("dopri5", [4.75, 5.25], 64),
        ("dop853", [7.5, 9.5], 24),
        ("radau", [4.75, 5.25], 64),
        ("generalized_alpha", [1.9, 2.1], 128),
    ] {
        let error = |steps: i32| {
            let step = format!("run.settings.fixed_step={:?}", 1.0 / f64::from(steps));
            let integrator = format!("run.integrator={name:?}");
            // A fixed step controls no error, so the ledger gets room; it is the error that is measured here.
            let settings =
                [&integrator, &step, "run.tolerance=1e-12", "run.until=1", "output.every=1", "run.ledger_factor=1e12"];
            distance(last_vector(&completed("double-pendulum", &settings), "body.lower.position"), reference)
        };
        let (large, small) = (error(coarse), error(2 * coarse));
        let measured = (large / small).log2();
        println!("{name}: order {measured:.2}");
        assert!((orders[0]..orders[1]).contains(&measured), "{name}: {large:e} {small:e} order {measured:.2}");
    }
}
