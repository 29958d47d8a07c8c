//! Contacts in modes: runs against closed forms.
#![allow(clippy::unwrap_used)]

use crate::contacts::{follow, follow_with};
use dalembert_methods::Real;
use dalembert_methods::integrate::Ending;
use dalembert_methods::nonsmooth::{Kind, Options, Restitution};
use dalembert_methods::problems::touching::{Ball, Belt, Incline, Puck, Rod, Roller, Row, Touching, Toy};

/// A ball from h reaches the floor at t₁ = √(2h/g), bounces every 2εⁿt₁ and rests at t₁ (1 + ε)/(1 − ε).
#[test]
fn a_ball_bounces_to_rest_at_the_accumulation_time() {
    let model = Touching(Ball { gravity: 10.0, restitution: 0.8 });
    for method in ["dopri5", "dop853", "radau"] {
        let (s, keep, run) = follow_with(&model, &[5.0], &[0.0], 12.0, &Options::default(), method, 1e-11);
        assert_eq!(run.ending, Ok(Ending::Reached));
        let impacts: Vec<_> = keep.events.iter().filter(|event| event.kind == Kind::Impact).collect();
        let (mut t, mut flight) = (1.0, 1.6);
        for impact in &impacts {
            // Speeds are known to 1e-11 each and add up over some 50 bounces.
            assert!((impact.t - t).abs() < 1e-9, "{method} {} {t}", impact.t);
            t += flight;
            flight *= 0.8;
        }
        assert!(impacts.len() > 30);
        let rest = keep.events.last().unwrap();
        assert_eq!(rest.kind, Kind::Rest);
        assert!((rest.t - 9.0).abs() < 1e-9, "{method} {}", rest.t);
        assert_eq!((s.q[0], s.v[0]), (0.0, 0.0));
        // All the energy mgh = 50 J is lost in impacts.
        assert!((s.z[2] - 50.0).abs() < 1e-8, "{method} {}", s.z[2]);
    }
}

/// A plane tilting up: slip at tan θ = μ₀, lift-off at θ = π/2 where the press vanishes.
#[test]
fn a_block_on_a_tilting_plane_slips_and_lifts_off() {
    let model = Touching(Incline { gravity: 9.81, angle: 0.0, rate: 0.5, friction: [0.7, 0.4] });
    let (s, keep, run) = follow(&model, &[0.0, 0.0], &[0.0, 0.0], 4.0, &Options::default());
    assert_eq!(run.ending, Ok(Ending::Reached));
    assert_eq!(keep.kinds(), [Kind::Slip, Kind::LiftOff]);
    let slip = 0.7f64.atan() / 0.5;
    assert!((keep.events[0].t - slip).abs() < 1e-11, "{}", keep.events[0].t - slip);
    let lift = std::f64::consts::PI;
    assert!((keep.events[1].t - lift).abs() < 1e-11, "{}", keep.events[1].t - lift);
    // ẋ = (g/ω)(cos θ₁ − cos θ − μ (sin θ − sin θ₁)) up to the lift-off, frictionless after it.
    let (a, b) = (0.5 * slip, 0.5 * lift);
    let at_lift = 9.81 / 0.5 * (a.cos() - b.cos() - 0.4 * (b.sin() - a.sin()));
    let end = at_lift + 9.81 / 0.5 * (b.cos() - 2.0f64.cos());
    assert!((s.v[0] - end).abs() < 1e-9, "{} {end}", s.v[0]);
}

/// A plane tilting back: the block slides down and stops where ∫ g (sin θ − μ cos θ) dt = 0.
#[test]
fn a_sliding_block_stops_and_sticks() {
    let model = Touching(Incline { gravity: 9.81, angle: 0.9, rate: -0.4, friction: [0.5, 0.45] });
    let (s, keep, run) = follow(&model, &[0.0, 0.0], &[0.0, 0.0], 3.0, &Options::default());
    assert_eq!(run.ending, Ok(Ending::Reached));
    let speed = |t: f64| {
        let (a, b) = (0.9f64, 0.9 - 0.4 * t);
        9.81 / -0.4 * (a.cos() - b.cos() - 0.45 * (b.sin() - a.sin()))
    };
    let (mut low, mut high) = (1.0, 3.0);
    assert!(speed(low) > 0.0 && speed(high) < 0.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if speed(middle) > 0.0 { low = middle } else { high = middle }
    }
    assert_eq!(keep.kinds(), [Kind::Stick]);
    assert!((keep.events[0].t - low).abs() < 1e-10, "{} {low}", keep.events[0].t);
    assert!(s.v[0].abs() < 1e-13);
    // Heat is the work of gravity along the plane, since the block stands at both ends.
    assert!(s.z[1] > 0.0);
}

/// A sliding sphere rolls after 2 v₀/(7 μ g) with 5/7 of its speed; friction has turned 2/7 of its energy into heat.
#[test]
fn a_sliding_ball_rolls() {
    let model = Touching(Roller { gravity: 9.81, friction: 0.25 });
    for method in ["dopri5", "dop853", "radau", "generalized_alpha", "mexx"] {
        let tolerance = if method == "generalized_alpha" { 1e-7 } else { 1e-11 };
        let (s, keep, run) =
            follow_with(&model, &[0.0, 1.0, 0.0], &[3.0, 0.0, 0.0], 1.0, &Options::default(), method, tolerance);
        assert_eq!(run.ending, Ok(Ending::Reached), "{method}");
        assert_eq!(keep.kinds(), [Kind::Stick]);
        let expected = 2.0 * 3.0 / (7.0 * 0.25 * 9.81);
        // Accelerations are constant: any method is exact but for rounding and its continuous output.
        assert!((keep.events[0].t - expected).abs() < 1e-10, "{method} {} {expected}", keep.events[0].t);
        assert!((s.v[0] - 15.0 / 7.0).abs() < 1e-10 && (s.v[2] + 15.0 / 7.0).abs() < 1e-10, "{method} {:?}", s.v);
        assert!((s.z[1] - 4.5 * 2.0 / 7.0).abs() < 1e-9, "{method} {:?}", s.z);
    }
}

/// With gaps, equal elastic balls hand on their speed one by one; touching, Newton's and Poisson's law give the same for
/// three, (−1/3, 2/3, 2/3): Λ₁ = 4/3, Λ₂ = 2/3 from 2Λ₁ − Λ₂ = 2, −Λ₁ + 2Λ₂ = 0.
#[test]
fn a_cradle_with_gaps_and_without() {
    let model = Touching::<Row, 5, 0, 4>(Row { restitution: 1.0 });
    let q: Vec<f64> = (0..5).map(|i| 1.01 * f64::from(i)).collect();
    let (s, keep, run) = follow(&model, &q, &[1.0, 0.0, 0.0, 0.0, 0.0], 0.1, &Options::default());
    assert_eq!(run.ending, Ok(Ending::Reached));
    assert_eq!(keep.kinds(), [Kind::Impact; 4]);
    for (k, event) in keep.events.iter().enumerate() {
        assert_eq!(event.contacts, [k]);
        assert!((event.t - 0.01 * (k as f64 + 1.0)).abs() < 1e-12);
        assert!((event.values[0][0] - 1.0).abs() < 1e-13 && event.lost < 1e-14);
    }
    assert!((s.v[4] - 1.0).abs() < 1e-13 && s.v[..4].iter().all(|v| v.abs() < 1e-13));
    let model = Touching::<Row, 3, 0, 2>(Row { restitution: 1.0 });
    for restitution in [Restitution::Newton, Restitution::Poisson] {
        let options = Options { restitution, ..Options::default() };
        let (s, keep, run) = follow(&model, &[-0.5, 1.0, 2.0], &[1.0, 0.0, 0.0], 1.0, &options);
        assert_eq!(run.ending, Ok(Ending::Reached));
        assert_eq!(keep.kinds(), [Kind::Impact]);
        assert_eq!(keep.events[0].contacts, [0, 1]);
        for (v, expected) in s.v.iter().zip([-1.0 / 3.0, 2.0 / 3.0, 2.0 / 3.0]) {
            assert!((v - expected).abs() < 1e-13, "{:?}", s.v);
        }
    }
}

/// A level rod meets the ground with both ends at once and leaves it with both at once, at lift · t = m g.
#[test]
fn a_rod_lands_and_lifts_off_in_one_event_each() {
    let model = Touching(Rod { gravity: 10.0, lift: 4.0, friction: 0.3, restitution: 0.0 });
    let (_, keep, run) = follow(&model, &[0.0, 0.3, 0.0], &[0.0, 0.0, 0.0], 3.0, &Options::default());
    assert_eq!(run.ending, Ok(Ending::Reached));
    assert_eq!(keep.kinds(), [Kind::Impact, Kind::Stick, Kind::LiftOff]);
    assert!(keep.events.iter().all(|event| event.contacts == [0, 1]));
    assert!((keep.events[2].t - 2.5).abs() < 1e-11, "{:?}", keep.events);
}

/// Stick–slip on a belt with constant coefficients. With a = (μ₀ − μ) N/k and ω² = k/m the slip lasts
/// 2 (π − atan(aω/V))/ω (from tan(ωt/2) = −aω/V) and the stick 2a/V.
#[test]
fn a_mass_on_a_belt_sticks_and_slips_periodically() {
    let model = Touching(Belt { gravity: 10.0, stiffness: 100.0, speed: 0.5, friction: [0.8, 0.4], fall: 0.0 });
    let (_, keep, run) = follow(&model, &[0.0, 0.0], &[0.5, 0.0], 4.0, &Options::default());
    assert_eq!(run.ending, Ok(Ending::Reached));
    let (a, omega) = (0.4 * 10.0 / 100.0, 10.0);
    let slip = 2.0 * (std::f64::consts::PI - (a * omega / 0.5f64).atan()) / omega;
    let stick = 2.0 * a / 0.5;
    let mut t = 0.08 / 0.5;
    for pair in keep.events.chunks(2).filter(|pair| pair.len() == 2) {
        assert_eq!((pair[0].kind, pair[1].kind), (Kind::Slip, Kind::Stick));
        assert!((pair[0].t - t).abs() < 1e-9, "{} {t}", pair[0].t);
        assert!((pair[1].t - t - slip).abs() < 1e-9, "{} {}", pair[1].t, t + slip);
        t += slip + stick;
    }
    assert!(keep.events.len() >= 10);
}

/// Stick–slip with a falling curve of friction: forces that depend on velocities and multipliers. All methods agree.
#[test]
fn methods_agree_on_sliding_friction() {
    let model = Touching(Belt { gravity: 10.0, stiffness: 100.0, speed: 0.5, friction: [0.8, 0.4], fall: 0.2 });
    let end = |method, tolerance| {
        let (s, keep, run) = follow_with(&model, &[0.0, 0.0], &[0.1, 0.0], 0.6, &Options::default(), method, tolerance);
        assert_eq!(run.ending, Ok(Ending::Reached), "{method}");
        (s, keep.events[0].t)
    };
    let (exact, first) = end("dop853", 1e-12);
    for (method, tolerance) in [("dopri5", 1e-10), ("radau", 1e-9), ("mexx", 1e-9), ("generalized_alpha", 1e-7)] {
        let (s, t) = end(method, tolerance);
        // Errors of single steps add up over some hundred to thousand of them.
        assert!((t - first).abs() < 3e3 * tolerance, "{method} {t} {first}");
        assert!((s.q[0] - exact.q[0]).abs() < 3e3 * tolerance, "{method} {:?} {:?}", s.q, exact.q);
    }
}

/// A puck thrown obliquely stops after v₀/(μ g) on a straight line; pulled by less than μ g it stays, by more it does not stop.
#[test]
fn a_puck_stops_on_a_straight_line() {
    let model = Touching(Puck { gravity: 10.0, pull: [0.0, 0.0], friction: [0.3; 3] });
    let (s, keep, run) = follow(&model, &[0.0; 3], &[1.2, 0.9, 0.0], 1.0, &Options::default());
    assert_eq!(run.ending, Ok(Ending::Reached));
    assert_eq!(keep.kinds(), [Kind::Stick]);
    assert!((keep.events[0].t - 0.5).abs() < 1e-11, "{:?}", keep.events);
    // The way is v₀²/(2 μ g) = 0.375.
    assert!((s.q[0] - 0.3).abs() < 1e-11 && (s.q[1] - 0.225).abs() < 1e-11);
}

/// A particle of 2 kg on the floor under a pull that grows by 4 N in each second, with less friction once it slips.
struct Dragged([f64; 2]);

impl Toy<3, 0, 1> for Dragged {
    const TANGENTS: usize = 2;
    fn mass(&self) -> [f64; 3] {
        [2.0; 3]
    }
    fn force<R: Real>(&self, t: R, _q: [R; 3], _v: [R; 3]) -> [R; 3] {
        [t * (4.0 * self.0[0]), t * (4.0 * self.0[1]), R::from(-10.38)]
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 3]) -> [R; 1] {
        [q[2]]
    }
    fn slip<R: Real>(&self, _t: R, _q: [R; 3], v: [R; 3]) -> [[R; 2]; 1] {
        [[v[0], v[1]]]
    }
    fn sticking(&self) -> [f64; 3] {
        [0.4; 3]
    }
    fn sliding<R: Real>(&self, _speed: R) -> [R; 3] {
        [R::from(0.2); 3]
    }
}

/// A slip starts once, at 0.4·10.38/4 s, and in the direction of the pull, whichever that is.
#[test]
fn a_slip_starts_once_in_every_direction() {
    for k in 0..24 {
        let (sine, cosine) = (f64::from(k) * std::f64::consts::TAU / 24.0).sin_cos();
        let model = Touching(Dragged([cosine, sine]));
        let (s, keep, run) = follow(&model, &[0.0; 3], &[0.0; 3], 2.0, &Options::default());
        assert_eq!(run.ending, Ok(Ending::Reached));
        assert_eq!(keep.kinds(), [Kind::Slip], "{k}");
        assert!((keep.events[0].t - 1.038).abs() < 1e-11, "{}", keep.events[0].t);
        let speed = (2.0 * (4.0 - 1.038 * 1.038) - 0.2 * 10.38 * (2.0 - 1.038)) / 2.0;
        assert!((s.v[0] - speed * cosine).hypot(s.v[1] - speed * sine) < 1e-9, "{k} {:?}", s.v);
    }
}
