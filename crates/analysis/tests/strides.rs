//! Strides of systems with contacts: a compass walker made of particles, rods and two feet on a slope walks like the equations of the literature.
#![allow(clippy::unwrap_used)]

use dalembert_analysis::AnalysisError;
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::eigen::eigenvalues;
use dalembert_analysis::evolution;
use dalembert_analysis::field::Settings;
use dalembert_analysis::map::{Stride as OwnStride, fixed_point};
use dalembert_analysis::problems::Compass;
use dalembert_analysis::stride::{Section, Stride, Symmetry, differences, gait, search};
use dalembert_analysis::touching::{Goal, flow};
use dalembert_methods::Real;
use dalembert_methods::nonsmooth::{Contacts, Hybrid, Kind, Latch, Options};
use dalembert_methods::problems::touching::{Touching, Toy};
use dalembert_methods::system::{State, System};

/// Hip, left and right leg mass as particles in the plane, x down the slope, z normal to it. Feet are on the lines from hip through leg masses.
struct Walker {
    slope: f64,
    hip: f64,
    leg: f64,
    /// Distances of leg masses from feet and hip.
    lengths: [f64; 2],
    hollow: f64,
}

impl Walker {
    fn foot<R: Real>(&self, hip: R, mass: R) -> R {
        let [low, high] = self.lengths;
        hip + (mass - hip) * ((low + high) / high)
    }

    /// Positions and velocities with the left foot at the origin, from angles against the normal and their rates, (stance, swing).
    fn place(&self, angles: [f64; 2], rates: [f64; 2]) -> ([f64; 6], [f64; 6]) {
        let [low, high] = self.lengths;
        let along = |angle: f64, length: f64| [length * angle.sin(), length * angle.cos()];
        let turn = |angle: f64, rate: f64, length: f64| [length * rate * angle.cos(), -length * rate * angle.sin()];
        let (hip, hip_rate) = (along(angles[0], low + high), turn(angles[0], rates[0], low + high));
        let (left, left_rate) = (along(angles[0], low), turn(angles[0], rates[0], low));
        let (back, back_rate) = (along(angles[1], high), turn(angles[1], rates[1], high));
        let q = [hip[0], hip[1], left[0], left[1], hip[0] - back[0], hip[1] - back[1]];
        let right = [hip_rate[0] - back_rate[0], hip_rate[1] - back_rate[1]];
        (q, [hip_rate[0], hip_rate[1], left_rate[0], left_rate[1], right[0], right[1]])
    }
}

impl Toy<6, 2, 2> for Walker {
    const TANGENTS: usize = 1;
    fn mass(&self) -> [f64; 6] {
        [self.hip, self.hip, self.leg, self.leg, self.leg, self.leg]
    }
    fn force<R: Real>(&self, _t: R, _q: [R; 6], _v: [R; 6]) -> [R; 6] {
        let m = Toy::mass(self);
        let pull = [9.81 * self.slope.sin(), -9.81 * self.slope.cos()];
        std::array::from_fn(|i| R::from(m[i] * pull[i % 2]))
    }
    fn holonomic<R: Real>(&self, _t: R, q: [R; 6]) -> [R; 2] {
        let high = self.lengths[1];
        [2, 4].map(|k| {
            let (x, z) = (q[k] - q[0], q[k + 1] - q[1]);
            (x * x + z * z - high * high) * (0.5 / high)
        })
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 6]) -> [R; 2] {
        [3, 5].map(|k| self.foot(q[1], q[k]))
    }
    fn slip<R: Real>(&self, _t: R, _q: [R; 6], v: [R; 6]) -> [[R; 2]; 2] {
        [2, 4].map(|k| [self.foot(v[0], v[k]), R::zero()])
    }
    fn sticking(&self) -> [f64; 3] {
        [20.0; 3]
    }
    fn hollow<R: Real>(&self, bearing: &[bool], q: [R; 6]) -> Option<[R; 2]> {
        let apart = (self.foot(q[0], q[2]) - self.foot(q[0], q[4])).abs();
        let depth = R::from(self.hollow) - apart;
        let of = |bears: bool| if bears { depth } else { R::from(f64::NEG_INFINITY) };
        Some([of(bearing[1]), of(bearing[0])])
    }
}

/// Goswami's walker: m_H = 10 kg, m = 5 kg, a = b = 0.5 m.
fn walker(slope: f64) -> Touching<Walker, 6, 2, 2> {
    Touching(Walker { slope, hip: 10.0, leg: 5.0, lengths: [0.5, 0.5], hollow: 0.3 })
}

fn symmetry() -> Symmetry {
    Symmetry { exchange: vec![[2, 4], [3, 5]], turn: Vec::new(), drift: vec![vec![0, 2, 4]] }
}

const GOALS: [Goal; 1] = [Goal { contact: 1, kind: Kind::Impact }];

fn options() -> Options {
    Options { impact_friction: true, ..Options::default() }
}

fn start(model: &Touching<Walker, 6, 2, 2>, half: f64, rates: [f64; 2]) -> State<f64> {
    let mut s = Hybrid::new(model).state(State::zeros(model.shape()));
    let (q, v) = model.0.place([-half, half], rates);
    s.q.copy_from_slice(&q);
    s.v.copy_from_slice(&v);
    s
}

/// Found by the evolution strategy from a rough start: state, time and multipliers are those of the equations of Goswami et al.; derivatives are
/// differences.
#[test]
fn a_walker_of_particles_has_the_gait_of_the_compass() {
    let degree = std::f64::consts::PI / 180.0;
    let slope = 3.0 * degree;
    let own = OwnStride {
        system: Compass,
        mode: 0,
        on: Some(0),
        guards: vec![0],
        parameters: vec![slope, 2.0, 1.0, 9.81 / 0.5],
        free: 0,
        longest: 3.0,
        settings: Settings::default(),
    };
    let model = walker(slope);
    let options = options();
    let section = Section::new(&model, &start(&model, 0.28, [1.1, -0.3]), &symmetry(), &options).unwrap();
    assert_eq!(section.size(), 3);
    let stride =
        Stride { section: &section, goals: &GOALS, longest: 3.0, options: &options, settings: Settings::within(1e-12) };
    let choice = evolution::Options { seed: 1, population: 12, generations: 60, goal: 1e-6 };
    let found = search(&model, &stride, 0.1, 0.3, &choice);
    println!("{found:?}");
    let gait = gait(&model, &stride, &found.point, 1e-10).unwrap();
    // Angles of stance and swing leg against the vertical.
    let s = &gait.state;
    let angle = |k: usize| (s.q[0] - s.q[k]).atan2(s.q[1] - s.q[k + 1]) + slope;
    let rate = |k: usize| {
        let (x, z) = (s.q[0] - s.q[k], s.q[1] - s.q[k + 1]);
        ((s.v[0] - s.v[k]) * z - (s.v[1] - s.v[k + 1]) * x) / (x * x + z * z)
    };
    let z = [angle(4), angle(2), rate(4), rate(2)];
    let cycle = fixed_point(&own, &z, slope, 1e-12).unwrap();
    println!("{:?} in {} s\n{cycle:?}", gait.cycle, gait.time);
    assert!(cycle.state.iter().zip(&z).all(|(a, b)| (a - b).abs() < 1e-8), "{z:?} {:?}", cycle.state);
    let (_, time) = own.stride(&cycle.state.clone().try_into().unwrap(), slope).unwrap();
    assert!((time - gait.time).abs() < 1e-9);
    for (a, b) in gait.cycle.multipliers.iter().zip(&cycle.multipliers) {
        assert!((*a - *b).modulus() < 1e-6, "{a:?} {b:?}");
    }
    let (_, exact) = stride.image(&model, &gait.cycle.state).unwrap();
    let by_differences = differences(&model, &stride, &gait.cycle.state, 1e-4).unwrap();
    let apart = exact.plus(-1.0, &by_differences).largest();
    println!("differences {apart:.1e} of {:.1e}", exact.largest());
    assert!(apart < 1e-6 * exact.largest());
    for (a, b) in gait.cycle.multipliers.iter().zip(eigenvalues(&by_differences).unwrap()) {
        assert!((*a - b).modulus() < 1e-6, "{a:?} {b:?}");
    }
}

/// Without the exchange of legs the end of a stride is no start; a hollow may be left below the floor, or be so narrow that the swing foot scuffs.
#[test]
fn wrong_strides_are_told() {
    let slope = 3.0 * std::f64::consts::PI / 180.0;
    let options = options();
    let run = |model: &Touching<Walker, 6, 2, 2>, begin: &State<f64>, goals: &[Goal], longest: f64| {
        let section = Section::new(model, begin, &symmetry(), &options).unwrap();
        let stride = Stride { section: &section, goals, longest, options: &options, settings: Settings::within(1e-10) };
        stride.value(model, &[0.0; 3])
    };
    let model = walker(slope);
    let begin = start(&model, 0.271, [1.0924, 0.3774]);
    let late = run(&model, &begin, &GOALS, 0.1).unwrap_err();
    assert!(matches!(late, AnalysisError::NoEvent { .. }), "{late}");
    let goals = [Goal { contact: 0, kind: Kind::Impact }, GOALS[0]];
    let order = run(&model, &begin, &goals, 3.0).unwrap_err();
    assert!(order.to_string().contains("came before"), "{order}");
    // A hollow as wide as a step is left below the floor; in one that is too narrow the foot comes down on its way.
    let mut wide = walker(slope);
    wide.0.hollow = 0.6;
    let stubbed = run(&wide, &begin, &GOALS, 3.0).unwrap_err();
    assert!(stubbed.to_string().contains("leaves its hollow"), "{stubbed}");
    let mut narrow = walker(slope);
    narrow.0.hollow = 0.02;
    let scuffed = run(&narrow, &begin, &GOALS, 3.0).unwrap();
    assert!(scuffed.iter().any(|z| z.abs() > 0.1), "{scuffed:?}");
}

/// Two masses on a line, thrown at walls: the first is held by its wall, though a spring pulls it, until the second hits its own.
struct Held {
    latch: Latch,
}

impl Toy<2, 0, 2> for Held {
    const TANGENTS: usize = 0;
    fn mass(&self) -> [f64; 2] {
        [1.0, 2.0]
    }
    fn force<R: Real>(&self, _t: R, q: [R; 2], _v: [R; 2]) -> [R; 2] {
        let pull = (q[0] - q[1]) * 3.0;
        [-pull - q[0] * 5.0, pull]
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 2]) -> [R; 2] {
        [-q[0] + 0.4, -q[1] + 1.0]
    }
    fn restitution(&self, contact: usize) -> f64 {
        if contact == 0 { 0.0 } else { 0.5 }
    }
    fn latch(&self, contact: usize) -> Option<&Latch> {
        (contact == 0).then_some(&self.latch)
    }
}

/// The latch holds against the spring until it is released; changes pass closing and release like differences.
#[test]
fn a_latch_holds_until_it_is_released() {
    let model = Touching(Held { latch: Latch { released_by: vec![1], holds: false } });
    let mut begin = Hybrid::new(&model).state(State::zeros(model.shape()));
    begin.v.copy_from_slice(&[2.0, 1.3]);
    let run = |begin: &State<f64>, columns: &mut Matrix, until: f64| {
        let mut s = begin.clone();
        let events = flow(&model, &mut s, columns, until, &Options::default(), Settings::within(1e-12)).unwrap();
        (s, events)
    };
    let (_, events) = run(&begin, &mut Matrix::zeros(4, 0), 2.0);
    let told: Vec<(Kind, usize)> = events.iter().map(|e| (e.kind, e.contacts[0])).collect();
    println!("{events:?}");
    assert_eq!(&told[..3], &[(Kind::Impact, 0), (Kind::Impact, 1), (Kind::LiftOff, 0)], "{told:?}");
    let middle = 0.5 * (events[0].t + events[1].t);
    let (s, _) = run(&begin, &mut Matrix::zeros(4, 0), middle);
    assert!((s.q[0] - 0.4).abs() < 1e-12 && s.v[0].abs() < 1e-12);
    let until = events[1].t + 0.1;
    let mut columns = Matrix::unit(4);
    run(&begin, &mut columns, until);
    for j in 0..4 {
        let moved = |sign: f64| {
            let mut s = begin.clone();
            if j < 2 {
                s.q[j] += sign * 1e-6
            } else {
                s.v[j - 2] += sign * 1e-6
            }
            run(&s, &mut Matrix::zeros(4, 0), until).0
        };
        let (up, down) = (moved(1.0), moved(-1.0));
        for i in 0..4 {
            let of = |s: &State<f64>| if i < 2 { s.q[i] } else { s.v[i - 2] };
            let difference = (of(&up) - of(&down)) / 2e-6;
            assert!((columns[(i, j)] - difference).abs() < 1e-6 * (1.0 + difference.abs()), "{i} {j}");
        }
    }
    // Without the latch the spring takes it away at once.
    struct Free(Held);
    impl Toy<2, 0, 2> for Free {
        const TANGENTS: usize = 0;
        fn mass(&self) -> [f64; 2] {
            Toy::mass(&self.0)
        }
        fn force<R: Real>(&self, t: R, q: [R; 2], v: [R; 2]) -> [R; 2] {
            Toy::force(&self.0, t, q, v)
        }
        fn gap<R: Real>(&self, t: R, q: [R; 2]) -> [R; 2] {
            Toy::gap(&self.0, t, q)
        }
    }
    let free = Touching(Free(Held { latch: Latch::default() }));
    let mut s = begin.clone();
    flow(&free, &mut s, &mut Matrix::zeros(4, 0), middle, &Options::default(), Settings::within(1e-12)).unwrap();
    assert!(s.q[0] < 0.39, "{}", s.q[0]);
    assert!(free.latch(0).is_none());
}
