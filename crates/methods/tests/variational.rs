//! Variational integrators against their theory.
#![allow(clippy::unwrap_used)]

use dalembert_methods::State;
use dalembert_methods::check;
use dalembert_methods::integrate::{Integrator, Settings, create};
use dalembert_methods::problems::{FreeBody, Kepler, Pendulum, Problem, RotatingWire};

#[test]
fn explore() {
    fn show<P: Problem>(p: &P, method: &str, s: &Settings, n: u32) {
        let steps: Vec<u32> = (0..4).map(|k| n << k).collect();
        match check::order(p, method, s, &steps) {
            Ok(c) => println!(
                "{method} {:?} on {}: {:.2}  {:?}",
                s,
                p.name(),
                c.exponent,
                c.points.iter().map(|p| p.1).collect::<Vec<_>>()
            ),
            Err(e) => println!("{method} {:?} on {}: {e:?}", s, p.name()),
        }
    }
    let d = Settings::default;
    let mut list: Vec<(&str, Settings, u32)> = vec![];
    for alpha in [0.5, 0.0, 0.25] {
        list.push(("variational", d().with("alpha", alpha), 100));
    }
    for c in [4.0, 6.0, 8.0] {
        list.push(("variational", d().with("composition", c), 20));
    }
    for degree in [1.0, 2.0, 3.0, 4.0] {
        list.push(("galerkin_gauss", d().with("degree", degree), 20));
        list.push(("galerkin_lobatto", d().with("degree", degree), 20));
    }
    for k in [0.0, 0.5, 1.0, -0.5] {
        list.push(("lie_group", d().with("chord", k), 100));
    }
    list.push(("lie_group", d().with("chord", 0.5).with("composition", 4.0), 20));
    for (m, s, n) in &list {
        show(&Kepler::default(), m, s, *n);
        show(&FreeBody::default(), m, s, *n);
        show(&Pendulum::default(), m, s, *n);
        show(&RotatingWire::default(), m, s, *n);
    }
    show(&Kepler::default(), "phase_fitted", &d(), 100);
    let _ = create::<Kepler>("variational", &d()).map(|m| m.counts());
    let _: Option<State<f64>> = None;
}
