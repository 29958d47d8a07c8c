//! Time stepping against closed forms and against located events.
#![allow(clippy::unwrap_used)]

use dalembert_methods::integrate::{IntegrateError, Settings, Span, create};
use dalembert_methods::nonsmooth::moreau::{Moreau, Touches, Watcher};
use dalembert_methods::nonsmooth::{ContactError, Contacts, Hybrid, Options, simulate};
use dalembert_methods::problems::touching::{Ball, Belt, Puck, Roller, Touching, Toy};
use dalembert_methods::{Real, State};

fn step_through<Y: Contacts>(model: &Y, q: &[f64], v: &[f64], until: f64, step: f64) -> State<f64> {
    let mut s = Hybrid::new(model).state(State { q: q.to_vec(), v: v.to_vec(), ..State::default() });
    let moreau = Moreau { step, ..Moreau::default() };
    moreau.simulate(model, &mut s, &Span::new(0.0, until, 0.0), &mut ()).ending.unwrap();
    assert_eq!(s.t, until);
    s
}

/// Each impact comes late by at most a step, an error of at most (1 + ε) v h in the height; for ε = ½ from 10 m/s their sum is 30 h.
#[test]
fn a_ball_bounces_with_an_error_of_the_step() {
    let model = Touching(Ball { gravity: 10.0, restitution: 0.5 });
    for step in [1e-2, 1e-3, 1e-4] {
        // Impacts at 1 s and 2 s; at 2.2 s the second bounce is at 2.5·0.2 − 5·0.04 = 0.3 m.
        let s = step_through(&model, &[5.0], &[0.0], 2.2, step);
        assert!((s.q[0] - 0.3).abs() < 30.0 * step, "{step} {}", s.q[0]);
        // After the accumulation at 3 s it lies still, without care for infinitely many impacts.
        let s = step_through(&model, &[5.0], &[0.0], 3.5, step);
        assert!(s.v[0].abs() < 10.0 * step && s.q[0].abs() < 10.0 * step, "{step} {s:?}");
    }
}

/// The end of slipping falls inside a step; momentum about the ground is kept all the same: v = 5/7 v₀ to the tolerance.
#[test]
fn a_ball_rolls_with_the_exact_speed() {
    let model = Touching(Roller { gravity: 9.81, friction: 0.25 });
    let s = step_through(&model, &[0.0, 1.0, 0.0], &[3.0, 0.0, 0.0], 1.0, 1e-2);
    assert!((s.v[0] - 15.0 / 7.0).abs() < 1e-8 && (s.v[2] + 15.0 / 7.0).abs() < 1e-8, "{:?}", s.v);
}

/// A puck with two tangents stops on a straight line; its way is v₀²/(2μg) to the order of the step.
#[test]
fn a_puck_stops_on_its_line() {
    let model = Touching(Puck { gravity: 10.0, pull: [0.0; 2], friction: [0.3; 3] });
    let s = step_through(&model, &[0.0; 3], &[1.2, 0.9, 0.0], 1.0, 1e-3);
    assert!((s.q[0] - 0.3).abs() < 1.5e-3 && (s.q[1] - 0.75 * s.q[0]).abs() < 1e-8, "{:?}", s.q);
    assert!(s.v[0].abs() < 1e-9 && s.v[1].abs() < 1e-9);
}

/// Stick and slip on a belt converge to the located events with order one: halving the step halves the error.
#[test]
fn time_stepping_agrees_with_located_events_for_small_steps() {
    let model = Touching(Belt { gravity: 10.0, stiffness: 100.0, speed: 0.5, friction: [0.8, 0.4], fall: 0.0 });
    let mut y = Hybrid::new(&model);
    let mut exact = y.state(State { q: vec![0.0; 2], v: vec![0.5, 0.0], ..State::default() });
    let mut integrator = create("dop853", &Settings::default().with("tolerance", 1e-12)).unwrap();
    let span = Span::new(0.0, 0.5, 0.0);
    simulate(&mut y, &mut exact, &mut *integrator, &span, &Options::default(), &mut (), &mut ()).ending.unwrap();
    let error = |step| (step_through(&model, &[0.0; 2], &[0.5, 0.0], 0.5, step).q[0] - exact.q[0]).abs();
    // The slip starts late by up to a step; accelerations of 4 m/s² act over 0.34 s: at most about 4·0.34·h.
    for step in [1e-3, 1e-4, 1e-5] {
        assert!(error(step) < 1.5 * step, "{step} {}", error(step));
    }
}

/// Many particles on top of each other.
struct Column;

impl Toy<20, 0, 20> for Column {
    const TANGENTS: usize = 0;
    fn mass(&self) -> [f64; 20] {
        [1.0; 20]
    }
    fn force<R: Real>(&self, _t: R, _q: [R; 20], _v: [R; 20]) -> [R; 20] {
        [R::from(-10.0); 20]
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 20]) -> [R; 20] {
        std::array::from_fn(|i| if i == 0 { q[0] } else { q[i] - q[i - 1] })
    }
}

#[derive(Default)]
struct Last(Vec<f64>);

impl Watcher for Last {
    fn on_output(&mut self, _s: &State<f64>, touches: &Touches<'_>) {
        self.0 = touches.force.to_vec();
    }
}

/// In a resting column each contact carries all above it. Too few sweeps are an error, not a wrong answer.
#[test]
fn a_column_carries_its_weight() {
    let model = Touching(Column);
    let mut s = Hybrid::new(&model).state(State { q: vec![0.0; 20], v: vec![0.0; 20], ..State::default() });
    let mut last = Last::default();
    let moreau = Moreau { step: 1e-3, tolerance: 1e-12, ..Moreau::default() };
    moreau.simulate(&model, &mut s, &Span::new(0.0, 0.01, 0.01), &mut last).ending.unwrap();
    for (i, press) in last.0.iter().enumerate() {
        // Velocities to 1e-12 of 1e-2 m/s; errors add up along the column, whose matrix has a condition of 20².
        assert!((press - 10.0 * (20.0 - i as f64)).abs() < 1e-6, "{i} {press}");
    }
    let mut s = Hybrid::new(&model).state(State { q: vec![0.0; 20], v: vec![0.0; 20], ..State::default() });
    let hasty = Moreau { sweeps: 3, ..Moreau::default() };
    let error = hasty.simulate(&model, &mut s, &Span::new(0.0, 0.01, 0.0), &mut ()).ending.unwrap_err();
    assert!(matches!(error, IntegrateError::Contact(ContactError::Undecided { .. })), "{error}");
}

/// A pendulum that meets a wall: constraint and contact together.
struct Bell;

impl Toy<2, 1, 1> for Bell {
    const TANGENTS: usize = 0;
    fn mass(&self) -> [f64; 2] {
        [1.0; 2]
    }
    fn force<R: Real>(&self, _t: R, _q: [R; 2], _v: [R; 2]) -> [R; 2] {
        [R::zero(), R::from(-9.81)]
    }
    fn holonomic<R: Real>(&self, _t: R, q: [R; 2]) -> [R; 1] {
        [(q[0].square() + q[1].square() - 1.0) * 0.5]
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 2]) -> [R; 1] {
        [q[0]]
    }
}

/// Without restitution the pendulum stays at the wall, on its circle.
#[test]
fn a_pendulum_comes_to_rest_at_the_wall() {
    let s = step_through(&Touching(Bell), &[1.0, 0.0], &[0.0, 0.0], 1.0, 1e-3);
    assert!((s.q[0].hypot(s.q[1]) - 1.0).abs() < 1e-14);
    // It is at most a step beyond the wall, at 4.43 m/s.
    assert!(s.q[0].abs() < 4.5e-3 && s.v[0].abs() < 1e-2, "{s:?}");
}
