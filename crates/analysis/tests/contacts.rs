//! Changes of motions with contacts: through impacts, stops and slips they are differences of neighbouring motions.
#![allow(clippy::unwrap_used)]

use dalembert_analysis::AnalysisError;
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::eigen::eigenvalues;
use dalembert_analysis::field::Settings;
use dalembert_analysis::hybrid::{self, Place};
use dalembert_analysis::problems::{BlockOnBelt, ImpactOscillator};
use dalembert_analysis::touching::{driven, flow, orbit};
use dalembert_methods::Real;
use dalembert_methods::nonsmooth::{Contacts, Hybrid, Kind, Options, Restitution};
use dalembert_methods::problems::touching::{Ball, Belt, Rod, Touching, Toy};
use dalembert_methods::system::{State, System};
use std::f64::consts::TAU;

/// Carries the unit changes of all coordinates of a model with q̇ = v and compares with central differences. Returns the kinds of events.
fn check<Y: Contacts>(model: &Y, q: &[f64], v: &[f64], until: f64) -> Vec<Kind> {
    check_with(model, &Options::default(), q, v, until).0
}

/// The same with a choice of laws; returns the velocities at the end, too.
fn check_with<Y: Contacts>(model: &Y, options: &Options, q: &[f64], v: &[f64], until: f64) -> (Vec<Kind>, Vec<f64>) {
    let n = q.len();
    let mut start = Hybrid::new(model).state(State::zeros(model.shape()));
    start.q.copy_from_slice(q);
    start.v.copy_from_slice(v);
    let run = |start: &State<f64>, columns: &mut Matrix| {
        let mut s = start.clone();
        let events = flow(model, &mut s, columns, until, options, Settings::within(1e-12)).unwrap();
        (s, events.iter().map(|e| e.kind).collect::<Vec<_>>())
    };
    let mut columns = Matrix::unit(2 * n);
    let (end, kinds) = run(&start, &mut columns);
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
    (kinds, end.v)
}

/// A mass over a tilted floor, with friction in both tangents.
struct Puck {
    friction: f64,
}

impl Toy<3, 0, 1> for Puck {
    const TANGENTS: usize = 2;
    fn mass(&self) -> [f64; 3] {
        [1.0, 2.0, 1.0]
    }
    fn force<R: Real>(&self, _t: R, q: [R; 3], _v: [R; 3]) -> [R; 3] {
        [q[0] * -0.3, R::zero(), R::from(-9.81)]
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 3]) -> [R; 1] {
        [q[2] + (q[0] * 0.7).sin() * 0.1]
    }
    fn slip<R: Real>(&self, _t: R, q: [R; 3], v: [R; 3]) -> [[R; 2]; 1] {
        [[v[0] - v[2] * (q[0] * 0.7).cos() * 0.07, v[1]]]
    }
    fn restitution(&self, _contact: usize) -> f64 {
        0.6
    }
    fn sticking(&self) -> [f64; 3] {
        [self.friction; 3]
    }
}

/// Newton's law with Coulomb's friction: contacts that slide through an impact, with one tangent and with two, whose friction turns with the slip, and such as stop.
#[test]
fn changes_pass_impacts_with_friction() {
    let options = Options { impact_friction: true, ..Options::default() };
    let rod = |friction: f64| Touching(Rod { gravity: 9.81, lift: 0.0, friction, restitution: 0.6 });
    let (q, v) = ([0.0, 1.0, 0.3], [3.0, 0.0, 0.2]);
    let (kinds, end) = check_with(&rod(0.1), &options, &q, &v, 0.9);
    assert!(kinds.len() >= 2 && kinds.iter().all(|k| *k == Kind::Impact) && end[0] < 2.9, "{kinds:?} {end:?}");
    // A slow one stops its slip at the first end.
    let (kinds, end) = check_with(&rod(0.9), &options, &q, &[0.1, 0.0, 0.2], 0.6);
    assert!(kinds.iter().all(|k| *k == Kind::Impact) && (end[0] - 0.1).abs() > 1e-3, "{kinds:?} {end:?}");
    let (kinds, end) = check_with(&Touching(Puck { friction: 0.2 }), &options, &[0.1, 0.0, 1.0], &[3.0, 2.0, 0.0], 0.9);
    assert!(kinds == [Kind::Impact] && end[1] < 1.9, "{kinds:?} {end:?}");
    let (kinds, end) = check_with(&Touching(Puck { friction: 2.0 }), &options, &[0.1, 0.0, 1.0], &[0.3, 0.2, 0.0], 0.6);
    assert!(kinds == [Kind::Impact] && end[1].abs() < 1e-12, "{kinds:?} {end:?}");
}

/// Poisson's law and the energetic one: contacts that slide through both phases, stop within one and hold, or stop and slip back, with one tangent; and Poisson's with two.
#[test]
fn changes_pass_impacts_by_impulses_and_energies() {
    let rod = |friction: f64| Touching(Rod { gravity: 9.81, lift: 0.0, friction, restitution: 0.6 });
    let q = [0.0, 1.0, 0.3];
    for restitution in [Restitution::Poisson, Restitution::Energetic] {
        let options = Options { impact_friction: true, restitution, ..Options::default() };
        // Fast and smooth: it slides all the time. Slow and rough: it stops and holds. In between the slip turns back in expansion.
        let mut ends = Vec::new();
        for (friction, speed) in [(0.1, 3.0), (0.9, 0.1), (0.3, 0.8), (0.5, -0.4), (0.05, -1.5)] {
            let (kinds, end) = check_with(&rod(friction), &options, &q, &[speed, 0.0, 0.2], 0.6);
            assert!(!kinds.is_empty() && kinds.iter().all(|k| *k == Kind::Impact), "{kinds:?}");
            ends.push(end);
        }
        let newton = Options { impact_friction: true, ..Options::default() };
        let (_, other) = check_with(&rod(0.9), &newton, &q, &[0.1, 0.0, 0.2], 0.6);
        assert!((0..3).any(|i| (ends[1][i] - other[i]).abs() > 1e-3), "the laws differ: {ends:?} {other:?}");
    }
    let options = Options { impact_friction: true, restitution: Restitution::Poisson, ..Options::default() };
    for (friction, v) in [(0.2, [3.0, 2.0, 0.0]), (2.0, [0.3, 0.2, 0.0]), (0.6, [0.5, 0.9, 0.0])] {
        let (kinds, _) = check_with(&Touching(Puck { friction }), &options, &[0.1, 0.0, 1.0], &v, 0.6);
        assert_eq!(kinds, [Kind::Impact]);
    }
}

/// A block between springs on a belt that runs askew, with friction in both tangents.
struct Table {
    friction: [f64; 2],
    belt: [f64; 2],
}

impl Toy<3, 0, 1> for Table {
    const TANGENTS: usize = 2;
    fn mass(&self) -> [f64; 3] {
        [1.0, 1.5, 1.0]
    }
    fn force<R: Real>(&self, t: R, q: [R; 3], _v: [R; 3]) -> [R; 3] {
        let drive = (t * 3.0).sin() * 0.5;
        [q[0] * -100.0 - q[1] * 20.0, q[1] * -60.0 - q[0] * 20.0 + drive, R::from(-10.0) - q[0] * 3.0]
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 3]) -> [R; 1] {
        [q[2]]
    }
    fn slip<R: Real>(&self, _t: R, _q: [R; 3], v: [R; 3]) -> [[R; 2]; 1] {
        [[v[0] - self.belt[0], v[1] - self.belt[1]]]
    }
    fn sticking(&self) -> [f64; 3] {
        [self.friction[0]; 3]
    }
    fn sliding<R: Real>(&self, _speed: R) -> [R; 3] {
        [R::from(self.friction[1]); 3]
    }
}

/// With two tangents a slip stops and starts in a direction that the motion chooses; changes pass both, with equal coefficients of friction and with different ones.
#[test]
fn changes_pass_stops_and_slips_with_two_tangents() {
    for (friction, belt, v, until) in [
        ([0.4, 0.2], [0.1, 0.05], [0.05, -0.03], 1.5),
        ([0.3, 0.3], [0.1, 0.05], [0.05, -0.03], 1.0),
        ([0.5, 0.4], [0.0, 0.0], [0.8, 0.5], 0.6),
        ([0.4, 0.3], [-0.08, 0.12], [0.3, 0.4], 1.5),
    ] {
        let model = Touching(Table { friction, belt });
        let mut start = Hybrid::new(&model).state(State::zeros(model.shape()));
        (start.q[0], start.q[1]) = (0.05, -0.04);
        (start.v[0], start.v[1]) = (v[0], v[1]);
        let run = |start: &State<f64>, columns: &mut Matrix| {
            let mut s = start.clone();
            let events = flow(&model, &mut s, columns, until, &Options::default(), Settings::within(1e-12)).unwrap();
            (s, events.iter().map(|e| e.kind).collect::<Vec<_>>())
        };
        // The height and its rate are held by the belt: positions and velocities along it are free.
        let free = [0, 1, 3, 4];
        let mut columns = Matrix::zeros(6, 4);
        free.iter().enumerate().for_each(|(j, &i)| columns[(i, j)] = 1.0);
        let (_, kinds) = run(&start, &mut columns);
        println!("{friction:?}: {kinds:?}");
        assert!(kinds.contains(&Kind::Stick), "{kinds:?}");
        assert!(belt == [0.0; 2] || kinds.contains(&Kind::Slip), "{kinds:?}");
        let step = 1e-6;
        for (j, &moved) in free.iter().enumerate() {
            let at = |times: f64| {
                let mut s = start.clone();
                let part = if moved < 3 { &mut s.q } else { &mut s.v };
                part[moved % 3] += times * step;
                let (s, others) = run(&s, &mut Matrix::zeros(6, 0));
                assert_eq!(others, kinds);
                [s.q[0], s.q[1], s.v[0], s.v[1]]
            };
            let [a, b, c, e] = [at(-2.0), at(-1.0), at(1.0), at(2.0)];
            for (k, &i) in free.iter().enumerate() {
                let difference = (a[k] - 8.0 * b[k] + 8.0 * c[k] - e[k]) / (12.0 * step);
                let exact = columns[(i, j)];
                assert!(
                    (difference - exact).abs() < 1e-6 * (1.0 + exact.abs()),
                    "{friction:?} {i} {j}: {exact} {difference}"
                );
            }
        }
    }
}

/// A ball that bounces to rest has no derivative from there on; told are all its impacts, not those of the last instant.
#[test]
fn impacts_that_accumulate_are_counted() {
    let ball = Touching(Ball { gravity: 9.81, restitution: 0.5 });
    let mut s = Hybrid::new(&ball).state(State::zeros(ball.shape()));
    s.q[0] = 1.0;
    let error =
        flow(&ball, &mut s, &mut Matrix::unit(2), 3.0, &Options::default(), Settings::within(1e-12)).unwrap_err();
    // Bounces of 0.9 s · 0.5ᵏ until 1e-4 s are left: k = 13, and the last one.
    assert!(matches!(error, AnalysisError::TooManyEvents { events, .. } if (12..18).contains(&events)), "{error}");
}

/// Nothing drives a block on a belt: its cycle has a period of its own, that of stick and slip in closed form. Of its two multipliers one belongs to the change along the
/// motion, and sticking forgets the other.
#[test]
fn a_cycle_that_nothing_drives_has_its_own_period() {
    let model = Touching(Belt { gravity: 10.0, stiffness: 100.0, speed: 0.1, friction: [0.4, 0.2], fall: 0.0 });
    let mut s = Hybrid::new(&model).state(State::zeros(model.shape()));
    s.q[0] = 0.041;
    assert!(!driven(&model, &s).unwrap());
    let found = orbit(&model, &s, 0.75, 1e-10, &Options::default(), Settings::within(1e-12)).unwrap();
    let period = BlockOnBelt::period([100.0, 0.1, 2.0, 4.0]);
    assert!((found.period - period).abs() < 1e-9, "{found:?} {period}");
    let [first, second] = [0, 1].map(|k| found.multipliers[k]);
    assert!((first.re - 1.0).abs() < 1e-7 && second.modulus() < 1e-7, "{found:?}");
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
