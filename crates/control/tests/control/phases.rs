//! Phases: contact established and released.

use crate::solved;
use crate::toys::Masses;
use dalembert_control::{Acts, Condition, Control, Method, Phase, Problem};
use dalembert_methods::Real;
use dalembert_optimise::Bound;

/// A jumper of two masses: the foot stands, is let go, flies, and lands without rebound.
///
/// In flight the centre of mass is a parabola; at landing the momentum of the foot is lost, and only that.
#[test]
fn a_jumper_jumps() {
    let (foot, trunk, g) = (1.0, 3.0, 9.81);
    let masses = |held| Masses { mass: vec![foot, trunk], stiffness: 0.0, gravity: g, free_stiffness: false, held };
    let (stand, fly) = (masses(Some(0)), masses(None));
    for method in [Method::Midpoint, Method::HERMITE_SIMPSON, Method::Dmocc] {
        let phase = |name: &str, y, n, t| {
            let mut phase = Phase::new(name, y, &[0.0, 1.0], method, n, t);
            phase.free(0.05, 1.0);
            phase.coordinates = vec![(1, Bound::between(0.5, 3.0))];
            phase
        };
        let mut up = phase("push", &stand, 10, 0.4);
        up.from(Condition::Configuration(vec![0.0, 1.0])).from(Condition::Velocity(vec![0.0; 2]));
        let mut flight = phase("flight", &fly, 10, 0.3);
        // High enough in the middle: the height of the end is asked for by the duration.
        flight.duration = Bound::between(0.3, 1.0);
        let mut down = phase("landing", &stand, 10, 0.4);
        down.to(Condition::Configuration(vec![0.0, 1.0])).to(Condition::Velocity(vec![0.0; 2]));
        let mut problem = Problem { phases: vec![up, flight, down], ..Problem::default() };
        // One force between the two: it acts on both with opposite signs, tied by a path condition.
        problem.controls = (0..2).map(|i| Control::new(["foot", "trunk"][i], Acts::Velocity(i))).collect();
        for phase in &mut problem.phases {
            phase.always("force and counterforce", Bound::equal(0.0), |m| m.controls()[0] + m.controls()[1]);
        }
        problem.integral("effort", 1.0, |m| m.controls()[1].square());
        let solution = solved(&problem);
        let (push, flight, landing) = (solution.phase(0), solution.phase(1), solution.phase(2));
        for instant in push.iter().chain(landing) {
            assert!(instant.q[0].abs() < 1e-10, "{method:?} {instant:?}");
        }
        let centre = |q: &[f64]| (foot * q[0] + trunk * q[1]) / (foot + trunk);
        let (first, last) = (&flight[0], flight.last().unwrap());
        let t = solution.durations[1];
        let fallen = centre(&first.q) + centre(&first.v) * t - 0.5 * g * t * t;
        // The midpoint rule and all others are exact for parabolas; the solver's tolerance remains.
        assert!((centre(&last.q) - fallen).abs() < 1e-7, "{method:?} {} {fallen}", centre(&last.q));
        // Release: velocities go on. Landing: the foot stops, the trunk goes on.
        let (off, touch) = (push.last().unwrap(), &landing[0]);
        for (a, b) in [(off.v[0], first.v[0]), (off.v[1], first.v[1]), (last.v[1], touch.v[1])] {
            assert!((a - b).abs() < 1e-8, "{method:?} {a} {b}");
        }
        assert!(touch.v[0].abs() < 1e-8);
        let impulse = solution.report.point.x[solution.plans[2].impulse.clone()][0];
        assert!((impulse - foot * last.v[0]).abs() < 1e-7, "{method:?} {impulse} {}", last.v[0]);
        assert!(t > 0.3 - 1e-6 && push.last().unwrap().t > 0.05);
        assert!(solution.goals[0].1.square() > 0.0);
    }
}
