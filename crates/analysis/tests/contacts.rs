//! Changes of motions with contacts: through impacts, stops and slips they are differences of neighbouring motions.
#![allow(clippy::unwrap_used)]

use dalembert_analysis::AnalysisError;
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::eigen::eigenvalues;
use dalembert_analysis::field::Settings;
use dalembert_analysis::hybrid::{self, Place};
use dalembert_analysis::problems::ImpactOscillator;
use dalembert_analysis::touching::{flow, orbit};
use dalembert_methods::Real;
use dalembert_methods::nonsmooth::{Contacts, Hybrid, Kind, Options};
use dalembert_methods::problems::touching::{Ball, Belt, Rod, Touching, Toy};
use dalembert_methods::system::{State, System};
use std::f64::consts::TAU;

/// Carries the unit changes of all coordinates of a model with q̇ = v and compares with central differences. Returns the kinds of events.
fn check<Y: Contacts>(model: &Y, q: &[f64], v: &[f64], until: f64) -> Vec<Kind> {
    let n = q.len();
    let mut start = Hybrid::new(model).state(State::zeros(model.shape()));
    start.q.copy_from_slice(q);
    start.v.copy_from_slice(v);
    let run = |start: &State<f64>, columns: &mut Matrix| {
        let mut s = start.clone();
        let events = flow(model, &mut s, columns, until, &Options::default(), Settings::within(1e-12)).unwrap();
        (s, events.iter().map(|e| e.kind).collect::<Vec<_>>())
    };
    let mut columns = Matrix::unit(2 * n);
    let (_, kinds) = run(&start, &mut columns);
    let step = 1e-6;
    for j in 0..2 * n {
        let moved = |sign: f64| {
            let mut s = start.clone();
            if j < n {
                s.q[j] += sign * step
            } else {
                s.v[j - n] += sign * step
            }
            let (s, others) = run(&s, &mut Matrix::zeros(2 * n, 0));
            assert_eq!(others, kinds);
            s
        };
        let (up, down) = (moved(1.0), moved(-1.0));
        for i in 0..2 * n {
            let of = |s: &State<f64>| if i < n { s.q[i] } else { s.v[i - n] };
            let difference = (of(&up) - of(&down)) / (2.0 * step);
            let exact = columns[(i, j)];
            assert!((difference - exact).abs() < 1e-6 * (1.0 + exact.abs()), "{i} {j}: {exact} {difference}");
        }
    }
    kinds
}

#[test]
fn changes_pass_impacts() {
    let kinds = check(&Touching(Ball { gravity: 9.81, restitution: 0.8 }), &[1.0], &[0.3], 1.6);
    assert_eq!(kinds, [Kind::Impact, Kind::Impact]);
    // A tilted rod falls on one end and is turned by the impact, then on the other.
    let rod = Rod { gravity: 9.81, lift: 0.0, friction: 0.0, restitution: 0.6 };
    let kinds = check(&Touching(rod), &[0.0, 1.0, 0.3], &[0.1, 0.0, 0.2], 0.9);
    assert!(kinds.len() >= 2 && kinds.iter().all(|k| *k == Kind::Impact), "{kinds:?}");
}

#[test]
fn changes_pass_stops_and_slips() {
    let belt = Belt { gravity: 10.0, stiffness: 100.0, speed: 0.1, friction: [0.4, 0.2], fall: 0.0 };
    // The height and its rate are held by the belt: only changes along it are asked, all others stay where contact puts them.
    let model = Touching(belt);
    let mut start = Hybrid::new(&model).state(State::zeros(model.shape()));
    (start.q[0], start.v[0]) = (0.03, 0.05);
    let run = |start: &State<f64>, columns: &mut Matrix| {
        let mut s = start.clone();
        let events = flow(&model, &mut s, columns, 1.5, &Options::default(), Settings::within(1e-12)).unwrap();
        (s, events.iter().map(|e| e.kind).collect::<Vec<_>>())
    };
    let mut columns = Matrix::zeros(4, 2);
    (columns[(0, 0)], columns[(2, 1)]) = (1.0, 1.0);
    let (_, kinds) = run(&start, &mut columns);
    assert!(kinds.contains(&Kind::Stick) && kinds.contains(&Kind::Slip), "{kinds:?}");
    for j in 0..2 {
        let moved = |sign: f64| {
            let mut s = start.clone();
            if j == 0 {
                s.q[0] += sign * 1e-6
            } else {
                s.v[0] += sign * 1e-6
            }
            run(&s, &mut Matrix::zeros(4, 0)).0
        };
        let (up, down) = (moved(1.0), moved(-1.0));
        let differences = [(up.q[0] - down.q[0]) / 2e-6, (up.v[0] - down.v[0]) / 2e-6];
        for (difference, exact) in differences.iter().zip([columns[(0, j)], columns[(2, j)]]) {
            assert!((difference - exact).abs() < 1e-6 * (1.0 + exact.abs()), "{j}: {exact} {difference}");
        }
    }
}

/// The impact oscillator as a system with a contact.
struct Oscillator {
    damping: f64,
    frequency: f64,
    wall: f64,
    restitution: f64,
}

impl Toy<1, 0, 1> for Oscillator {
    const TANGENTS: usize = 0;
    fn mass(&self) -> [f64; 1] {
        [1.0]
    }
    fn force<R: Real>(&self, t: R, q: [R; 1], v: [R; 1]) -> [R; 1] {
        [(t * self.frequency).cos() - v[0] * (2.0 * self.damping) - q[0]]
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 1]) -> [R; 1] {
        [-(q[0] - self.wall)]
    }
    fn restitution(&self, _contact: usize) -> f64 {
        self.restitution
    }
}

/// A cycle with impacts: found by Newton's method, its multipliers are those of the same motion written as a hybrid field, and by
/// Liouville their product is ε² exp(−2ζT) for each impact.
#[test]
fn an_impact_oscillator_has_a_cycle_with_known_multipliers() {
    let (damping, frequency, wall, restitution) = (0.1, 1.7, 0.3, 0.7);
    let model = Touching(Oscillator { damping, frequency, wall, restitution });
    let period = TAU / frequency;
    let options = Options::default();
    let mut s = Hybrid::new(&model).state(State::zeros(model.shape()));
    flow(&model, &mut s, &mut Matrix::zeros(2, 0), 60.0 * period, &options, Settings::within(1e-12)).unwrap();
    s.t = 0.0;
    let found = orbit(&model, &s, period, 1e-10, &options, Settings::within(1e-12)).unwrap();
    let mut end = found.state.clone();
    let impacts =
        flow(&model, &mut end, &mut Matrix::zeros(2, 0), period, &options, Settings::within(1e-12)).unwrap().len();
    assert!(impacts > 0);
    let product = found.multipliers[0] * found.multipliers[1];
    let expected = restitution.powi(2 * i32::try_from(impacts).unwrap()) * (-2.0 * damping * period).exp();
    println!("{found:?}, {impacts} impacts");
    assert!((product.re - expected).abs() < 1e-8, "{product:?} {expected}");
    let p = [damping, 1.0, frequency, wall, restitution];
    let z = [found.state.q[0], found.state.v[0], 0.0];
    let lifted = p.map(dalembert_methods::Jet::<f64, 3>::from);
    let mut place = Place { t: 0.0.into(), z: dalembert_analysis::field::seeded(&z), mode: 0 };
    hybrid::flow(&ImpactOscillator, &mut place, &lifted, period, 100, Settings::within(1e-12)).unwrap();
    let map = Matrix::from_fn(2, 2, |i, j| place.z[i].eps[j]);
    for (a, b) in eigenvalues(&map).unwrap().iter().zip(&found.multipliers) {
        assert!((*a - *b).modulus() < 1e-7, "{a:?} {b:?}");
    }
}

/// Two ends of a level rod that hit together have no derivative, which is said.
#[test]
fn events_of_several_contacts_at_once_are_refused() {
    let model = Touching(Rod { gravity: 9.81, lift: 0.0, friction: 0.0, restitution: 0.6 });
    let mut s = Hybrid::new(&model).state(State::zeros(model.shape()));
    s.q[1] = 0.5;
    let error =
        flow(&model, &mut s, &mut Matrix::unit(6), 0.5, &Options::default(), Settings::within(1e-12)).unwrap_err();
    assert!(matches!(&error, AnalysisError::Invalid { reason } if reason.contains("at once")), "{error}");
}
