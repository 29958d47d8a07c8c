//! Models whose configurations are no vectors: rotations.

use crate::{rest_to_rest, solved};
use dalembert::model::Model;
use dalembert::scene::{Document, Limits, Overrides, Scene};
use dalembert_control::solution::kinetic;
use dalembert_control::{Condition, Method, Phase, Problem};

const BODY: &str = "
[body.satellite]
kind = \"rigid\"
mass = 2.0
inertia = [1.0, 2.0, 2.5]
[run]
until = 1
";

fn model() -> Model {
    let document = Document::from_text("scene.toml", BODY, &Overrides::none(), &Limits::default());
    document.and_then(Scene::from_document).unwrap_or_else(|e| panic!("{}", e.plain())).model
}

/// A turn about a principal axis is a motion on a line: ∫ τ² = 12 J² θ²/T³, with N²/(N² − 1) for the midpoint rule and DMOCC.
#[test]
fn a_turn_costs_what_it_must() {
    let y = model();
    let (angle, t, n, inertia) = (1.2f64, 1.5f64, 4, 2.5f64);
    let (from, to) =
        ([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, (angle / 2.0).cos(), 0.0, 0.0, (angle / 2.0).sin()]);
    for method in [Method::Dmocc, Method::Midpoint, Method::HERMITE_SIMPSON] {
        let solution = solved(&rest_to_rest(&y, &from, &to, method, n, t));
        let square = (n * n) as f64;
        let factor = if method == Method::HERMITE_SIMPSON { 1.0 } else { square / (square - 1.0) };
        let exact = 12.0 * (inertia * angle).powi(2) / t.powi(3) * factor;
        // The tolerance 1e-8 of conditions that are scaled by the size of the multipliers, here some tens.
        assert!(
            (solution.report.objective / exact - 1.0).abs() < 1e-6,
            "{method:?} {} {exact}",
            solution.report.objective
        );
        let last = solution.instants.last().unwrap();
        assert!(last.q.iter().zip(&to).all(|(a, b)| (a - b).abs() < 1e-7), "{method:?} {last:?}");
    }
}

/// A body that tumbles freely, as a problem without choice: DMOCC keeps its angular momentum, and its energy does not drift.
#[test]
fn a_tumbling_body_keeps_its_momentum() {
    let y = model();
    let start = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
    let spin = [0.1, 0.2, -0.1, 0.3, 2.0, 0.1];
    let run = |n: usize, t: f64| {
        let mut phase = Phase::new("tumble", &y, &start, Method::Dmocc, n, t);
        phase.from(Condition::Configuration(start.to_vec())).from(Condition::Velocity(spin.to_vec()));
        solved(&Problem { phases: vec![phase], ..Problem::default() })
    };
    let solution = run(40, 2.0);
    let momentum = |i: &dalembert_control::Instant| {
        let [w, x, y, z] = [i.q[3], i.q[4], i.q[5], i.q[6]];
        let l = [1.0 * i.v[3], 2.0 * i.v[4], 2.5 * i.v[5]];
        // R l with the matrix of the quaternion.
        [
            (1.0 - 2.0 * (y * y + z * z)) * l[0] + 2.0 * (x * y - w * z) * l[1] + 2.0 * (x * z + w * y) * l[2],
            2.0 * (x * y + w * z) * l[0] + (1.0 - 2.0 * (x * x + z * z)) * l[1] + 2.0 * (y * z - w * x) * l[2],
            2.0 * (x * z - w * y) * l[0] + 2.0 * (y * z + w * x) * l[1] + (1.0 - 2.0 * (x * x + y * y)) * l[2],
        ]
    };
    let (first, last) = (&solution.instants[0], solution.instants.last().unwrap());
    for (a, b) in momentum(first).iter().zip(momentum(last)) {
        // The solver's violation, below 1e-8, summed over forty nodes.
        assert!((a - b).abs() < 1e-7, "{a} {b}");
    }
    // The energy at the end, where the velocity is that of the discrete Legendre transform: off by c h², whatever the time.
    let off = |n, t| {
        let solution = run(n, t);
        (kinetic(&y, solution.instants.last().unwrap()) / kinetic(&y, &solution.instants[0]) - 1.0).abs()
    };
    let band = 0.05f64.powi(2) * 2.0f64.powi(2);
    for (n, t) in [(40, 2.0), (80, 4.0), (120, 6.0)] {
        assert!(off(n, t) < band, "{n}: {}", off(n, t));
    }
}
