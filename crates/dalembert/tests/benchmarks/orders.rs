//! The measured order of integrators on a constrained scene, by halving fixed steps.
//!
//! `radau` cannot shorten a fixed step in which its simplified Newton iteration is slow, so its order is measured on the
//! problems of the methods crate, two of them constrained.

use super::{completed, distance, last_vector};

#[test]
fn integrators_have_their_order_on_the_double_pendulum() {
    let reference = last_vector(
        &completed("double-pendulum", &["run.tolerance=1e-13", "run.until=1", "output.every=1"]),
        "body.lower.position",
    );
    // Steps per second for which errors lie between rounding and the pre-asymptotic range, and a tolerance (of Newton's method,
    // where there is one) well below those errors.
    for (name, order, coarse, tolerance) in
        [("dopri5", 5.0, 32, 1e-12), ("dop853", 8.0, 12, 1e-12), ("generalized_alpha", 2.0, 128, 1e-8)]
    {
        let error = |steps: i32| {
            let step = format!("run.settings.fixed_step={:?}", 1.0 / f64::from(steps));
            let integrator = format!("run.integrator={name:?}");
            let tolerance = format!("run.tolerance={tolerance:?}");
            // A fixed step controls no error, so the ledger gets room; it is the error that is measured here.
            let settings =
                [integrator.as_str(), &step, &tolerance, "run.until=1", "output.every=1", "run.ledger_factor=1e12"];
            distance(last_vector(&completed("double-pendulum", &settings), "body.lower.position"), reference)
        };
        let (large, small) = (error(coarse), error(2 * coarse));
        let measured = (large / small).log2();
        // Leading error terms of high order methods may still cancel at such steps, so the order is a lower bound.
        assert!(measured > order - 0.5, "{name}: {large:e} {small:e} order {measured:.2}");
    }
}
