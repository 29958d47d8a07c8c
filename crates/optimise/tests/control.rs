//! Optimal control in block-banded form: closed form, and how the work grows with the number of nodes.
#![allow(clippy::unwrap_used)]

use dalembert_optimise::problems::control::{CartPole, Lift};
use dalembert_optimise::report::{Control, Outcome, Progress};
use dalembert_optimise::{interior, sqp};

fn on(_: &Progress) -> Control {
    Control::Continue
}

/// A linear-quadratic problem is solved by one step; its optimum is 12 m²d²/T³ · N²/(N² − 1) + m²g²T.
#[test]
fn lifting_a_mass_costs_what_the_closed_form_says() {
    for intervals in [2, 7, 64, 500] {
        let mut lift = Lift { intervals, mass: 1.7, distance: 0.6, duration: 0.9 };
        let exact = lift.exact();
        let inner = interior::solve(&mut lift, &interior::Options::default(), &mut on);
        let steps = sqp::solve(&mut lift, &sqp::Options::default(), &mut on);
        for (name, report) in [("interior", inner), ("sqp", steps)] {
            assert_eq!(report.outcome, Outcome::Solved, "{name}: {report}");
            assert_eq!(report.iterations, 1, "{name}");
            // Rounding of 2N linear equations whose condition grows as N².
            let bound = 1e-14 * (intervals * intervals) as f64 + 1e-12;
            assert!((report.objective / exact - 1.0).abs() < bound, "{name} {intervals}: {} {exact}", report.objective);
        }
    }
}

/// The swing-up of the cart-pole: the objective that CasADi and Ipopt find for the same discretisation (58.89671 at N = 100, in 12
/// iterations), the same for both barriers.
#[test]
fn the_cart_pole_swings_up() {
    let monotone = interior::solve(&mut CartPole::new(100), &interior::Options::default(), &mut on);
    assert_eq!(monotone.outcome, Outcome::Solved, "{monotone}");
    assert!((monotone.objective - 58.89671).abs() < 5e-6, "{monotone}");
    assert!(monotone.iterations <= 12, "{monotone}");
    let options = interior::Options { barrier: interior::Barrier::Adaptive, ..Default::default() };
    let adaptive = interior::solve(&mut CartPole::new(100), &options, &mut on);
    assert_eq!(adaptive.outcome, Outcome::Solved, "{adaptive}");
    assert!((adaptive.objective - monotone.objective).abs() < 1e-6, "{adaptive}");
    // 1 % farther, from this solution.
    let mut next = CartPole { distance: 1.01, ..CartPole::new(100) };
    let steps = sqp::solve_from(&mut next, &sqp::Options::default(), &monotone.point, &mut on);
    let inner = interior::solve_from(&mut next, &interior::Options::default(), &monotone.point, &mut on);
    assert_eq!((steps.outcome.clone(), inner.outcome.clone()), (Outcome::Solved, Outcome::Solved));
    assert!((steps.objective - inner.objective).abs() < 1e-6 * inner.objective);
    assert!(steps.iterations <= 3, "{steps}");
    assert!(inner.iterations <= 5, "{inner}");
}

/// An end that cannot be reached with so little force: the report says which step is broken, and when.
#[test]
fn an_unreachable_target_is_told_by_name_and_time() {
    let mut weak = CartPole { force: 0.2, ..CartPole::new(20) };
    let report = interior::solve(&mut weak, &interior::Options::default(), &mut on);
    assert_eq!(report.outcome, Outcome::Infeasible, "{report}");
    let worst = &report.violated[0];
    assert!(worst.name.starts_with("step of ") && worst.name.ends_with(" s"), "{report}");
    assert!(report.to_string().contains(&worst.name));
}

/// Twenty neighbouring problems, each from the solution before: a few iterations each, and the same as from scratch at the end.
#[test]
fn sequences_of_neighbours_are_followed_warm() {
    let far = |k: usize| CartPole { distance: 1.0 + 0.01 * k as f64, ..CartPole::new(50) };
    let first = interior::solve(&mut far(0), &interior::Options::default(), &mut on);
    let (mut inner, mut steps) = (first.point.clone(), first.point.clone());
    let (mut most, mut sum) = ((0, 0), (0, 0));
    for k in 1..=20 {
        let a = interior::solve_from(&mut far(k), &interior::Options::default(), &inner, &mut on);
        let b = sqp::solve_from(&mut far(k), &sqp::Options::default(), &steps, &mut on);
        assert_eq!((&a.outcome, &b.outcome), (&Outcome::Solved, &Outcome::Solved), "{k}");
        assert!((a.objective - b.objective).abs() < 1e-6 * a.objective, "{k}");
        most = (most.0.max(a.iterations), most.1.max(b.iterations));
        sum = (sum.0 + a.iterations, sum.1 + b.iterations);
        (inner, steps) = (a.point, b.point);
    }
    let cold = interior::solve(&mut far(20), &interior::Options::default(), &mut on);
    println!("cold {} iterations, warm interior {sum:?} in all, at most {most:?}", cold.iterations);
    assert!(most.0 <= 6 && most.1 <= 3, "{most:?}");
}
