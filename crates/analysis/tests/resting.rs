//! Equilibria with contacts and small motions about them, against closed forms: what bears, sticks and slides is found with them.
#![allow(clippy::unwrap_used)]

use dalembert_analysis::AnalysisError;
use dalembert_analysis::continuation::{Ending, Kind, Options as Reach, follow_on};
use dalembert_analysis::eigen::eigenvalues;
use dalembert_analysis::family::Equilibria;
use dalembert_analysis::linear::Verdict;
use dalembert_analysis::linearise::linearise;
use dalembert_analysis::place::{Place, word};
use dalembert_methods::Real;
use dalembert_methods::nonsmooth::{Contacts, Mode, Options};
use dalembert_methods::problems::touching::{Touching, Toy};
use dalembert_methods::system::{State, System};

/// The search for an equilibrium ends at this part of the size of the system; what is found is as good as that by Newton's method.
const BALANCE: f64 = 1e-13;

/// A block of 2 kg on a floor or a belt, (x, z), on a spring along x; friction μ(v) = low + (high − low) exp(−v/fall).
#[derive(Clone, Debug)]
struct Block {
    stiffness: f64,
    /// A spring along z from a height.
    lift: [f64; 2],
    high: f64,
    low: f64,
    fall: f64,
    belt: f64,
    /// What presses the block down beside its weight of 20 N: by its place and by its speed along x, and by itself.
    press: [f64; 3],
}

const REST: Block =
    Block { stiffness: 50.0, lift: [0.0; 2], high: 0.5, low: 0.5, fall: 1.0, belt: 0.0, press: [0.0; 3] };

impl Block {
    fn coefficient<R: Real>(&self, speed: R) -> R {
        R::from(self.low) + (speed * (-1.0 / self.fall)).exp() * (self.high - self.low)
    }
}

impl Toy<2, 0, 1> for Block {
    const TANGENTS: usize = 1;
    fn mass(&self) -> [f64; 2] {
        [2.0, 2.0]
    }
    fn force<R: Real>(&self, _t: R, q: [R; 2], v: [R; 2]) -> [R; 2] {
        let [by_place, by_speed, own] = self.press;
        let up = (R::from(self.lift[1]) - q[1]) * self.lift[0];
        [q[0] * -self.stiffness, up - q[0] * by_place - v[0] * by_speed - R::from(20.0 + own)]
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 2]) -> [R; 1] {
        [q[1]]
    }
    fn slip<R: Real>(&self, _t: R, _q: [R; 2], v: [R; 2]) -> [[R; 2]; 1] {
        [[v[0] - R::from(self.belt), R::zero()]]
    }
    fn sticking(&self) -> [f64; 3] {
        [self.high; 3]
    }
    fn sliding<R: Real>(&self, speed: R) -> [R; 3] {
        [self.coefficient(speed); 3]
    }
}

/// The same on a floor without friction.
#[derive(Clone, Debug)]
struct Smooth(Block);

impl Toy<2, 0, 1> for Smooth {
    const TANGENTS: usize = 0;
    fn mass(&self) -> [f64; 2] {
        self.0.mass()
    }
    fn force<R: Real>(&self, t: R, q: [R; 2], v: [R; 2]) -> [R; 2] {
        self.0.force(t, q, v)
    }
    fn gap<R: Real>(&self, t: R, q: [R; 2]) -> [R; 1] {
        self.0.gap(t, q)
    }
}

/// A beam (h, θ) whose one end is held by a spring, a metre and a half from its centre, while it lies on a support a metre from it.
#[derive(Clone, Debug)]
struct Beam;

const REACH: [f64; 2] = [1.0, 1.5];
const SPRING: f64 = 80.0;

impl Toy<2, 0, 1> for Beam {
    const TANGENTS: usize = 0;
    fn mass(&self) -> [f64; 2] {
        [3.0, 0.7]
    }
    fn force<R: Real>(&self, _t: R, q: [R; 2], _v: [R; 2]) -> [R; 2] {
        let pull = (q[0] - q[1].sin() * REACH[1]) * -SPRING;
        [pull - R::from(30.0), pull * q[1].cos() * -REACH[1]]
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 2]) -> [R; 1] {
        [q[0] + q[1].sin() * REACH[0]]
    }
}

/// A mass above two supports at the same height.
#[derive(Clone, Debug)]
struct Twice;

impl Toy<1, 0, 2> for Twice {
    const TANGENTS: usize = 0;
    fn mass(&self) -> [f64; 1] {
        [2.0]
    }
    fn force<R: Real>(&self, _t: R, _q: [R; 1], _v: [R; 1]) -> [R; 1] {
        [R::from(-20.0)]
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 1]) -> [R; 2] {
        [q[0], q[0]]
    }
}

fn start<Y: System>(model: &Y, q: &[f64]) -> State<f64> {
    let mut s = State::zeros(model.shape());
    s.q.copy_from_slice(q);
    s
}

fn settled<Y: Contacts>(model: &Y, q: &[f64]) -> Place {
    Place::equilibrium(model, &start(model, q), BALANCE, &Options::default()).unwrap().0
}

/// What sticks stays where it is, and nothing of it moves; what cannot stick slides to where friction just holds it; without friction there is the
/// mode of mass and spring. From above the block falls on the floor, and a spring lifts it off.
#[test]
fn a_block_on_a_floor_sticks_slides_or_vibrates() {
    let rough = Touching(REST);
    let place = settled(&rough, &[0.02, 0.0]);
    assert_eq!(place.modes, [Mode::Stick]);
    assert_eq!(place.state.q, [0.02, 0.0]);
    let touch = &place.touches(&rough)[0];
    assert!((touch.press - 20.0).abs() < 1e-12 && (touch.friction - 1.0).abs() < 1e-12, "{touch:?}");
    // The cone reaches to 10 N.
    assert!((touch.left.unwrap() - 9.0).abs() < 1e-12, "{touch:?}");
    assert!(linearise(&place.system(&rough), &place.state).unwrap().names.is_empty());
    // 50 x = 0.5 · 20.
    let place = settled(&rough, &[0.5, 0.0]);
    assert_eq!(word(place.modes[0]), "sticking");
    assert!((place.state.q[0] - 0.2).abs() < 1e-11, "{:?}", place.state.q);
    assert!(place.touches(&rough)[0].left.unwrap().abs() < 1e-9);
    // From above, without anything else that holds it.
    let place = settled(&rough, &[0.02, 0.3]);
    assert_eq!(place.modes, [Mode::Stick]);
    assert!(place.state.q[1].abs() < 1e-15);
    // Without friction: ω² = 50/2.
    let smooth = Touching(Smooth(REST));
    let place = settled(&smooth, &[0.5, 0.0]);
    assert_eq!(word(place.modes[0]), "closed without friction");
    let found = linearise(&place.system(&smooth), &place.state).unwrap();
    assert_eq!(found.independent, [0]);
    assert!((found.system.real_modes().unwrap().squared[0] - 25.0).abs() < 1e-12);
    // A spring from 1 m with 100 N/m holds the weight at 0.8 m: the floor has nothing to bear.
    let lifted = Touching(Block { lift: [100.0, 1.0], ..REST });
    let place = settled(&lifted, &[0.1, 0.0]);
    assert_eq!(place.modes, [Mode::Open]);
    assert!((place.state.q[1] - 0.8).abs() < 1e-11 && place.state.q[0].abs() < 1e-11, "{:?}", place.state.q);
    // One from below would hold it in the floor.
    let pressed = Touching(Block { lift: [100.0, 0.1], ..REST });
    let place = settled(&pressed, &[0.0, 0.05]);
    assert!((place.touches(&pressed)[0].press - 10.0).abs() < 1e-12);
}

/// With the contact as a row the beam keeps one motion: ω² = k (a + b)² cos² θ/(m a² cos² θ + J) at sin θ = m g a/(k (a + b)²), and the support bears
/// m g b/(a + b).
#[test]
fn a_beam_on_a_support_keeps_one_motion() {
    let model = Touching(Beam);
    let place = settled(&model, &[0.0, 0.0]);
    let ([a, b], reach) = (REACH, (REACH[0] + REACH[1]).powi(2));
    let sine = 30.0 * a / (SPRING * reach);
    assert!((place.state.q[1].sin() - sine).abs() < 1e-11, "{:?}", place.state.q);
    assert!((place.touches(&model)[0].press - 30.0 * b / (a + b)).abs() < 1e-9);
    let found = linearise(&place.system(&model), &place.state).unwrap();
    let squares = 1.0 - sine * sine;
    let expected = SPRING * reach * squares / (3.0 * a * a * squares + 0.7);
    let squared = found.system.real_modes().unwrap().squared;
    assert_eq!(squared.len(), 1);
    assert!((squared[0] / expected - 1.0).abs() < 1e-10, "{squared:?} {expected}");
}

/// Steady sliding on a belt: 2 ẍ + (μ′N − μ e) ẋ + (k + μ c) x = 0 where x and ẋ change the press by −c and e; falling friction is negative damping.
#[test]
fn friction_that_falls_with_speed_makes_sliding_unstable() {
    let belt = Block { high: 0.4, low: 0.2, fall: 0.3, belt: 0.1, ..REST };
    let [by_place, by_speed] = [7.0, 0.4];
    for press in [[0.0; 3], [-by_place, by_speed, 0.0]] {
        let model = Touching(Block { press, ..belt.clone() });
        let place = settled(&model, &[0.0, 0.0]);
        let speed = (-0.1f64 / 0.3).exp();
        let (mu, slope) = (0.2 + 0.2 * speed, -0.2 * speed / 0.3);
        // k x = μ N with N = 20 + c x for the press by place.
        let x = 20.0 * mu / (50.0 - mu * press[0]);
        assert_eq!(word(place.modes[0]), "sliding");
        assert!((place.state.q[0] - x).abs() < 1e-11, "{:?} {x}", place.state.q);
        let n = 20.0 + press[0] * x;
        assert!((place.touches(&model)[0].press - n).abs() < 1e-9);
        let found = linearise(&place.system(&model), &place.state).unwrap();
        let (damping, stiffness) = (slope * n - mu * press[1], 50.0 - mu * press[0]);
        assert!((found.system.damping[(0, 0)] - damping).abs() < 1e-9, "{:?} {damping}", found.system);
        assert!((found.system.stiffness[(0, 0)] - stiffness).abs() < 1e-9, "{:?} {stiffness}", found.system);
        assert_eq!(found.system.verdict().unwrap(), Verdict::Unstable(2));
        for z in eigenvalues(&found.state_matrix).unwrap() {
            assert!((z.re + damping / 4.0).abs() < 1e-9, "{z:?}");
        }
        // A force upwards takes press away, and friction with it.
        assert!((found.input[(1, 1)] + mu / 2.0).abs() < 1e-12 && (found.input[(1, 0)] - 0.5).abs() < 1e-12);
    }
    // Rising friction damps.
    let model = Touching(Block { low: 0.6, ..belt });
    let place = settled(&model, &[0.0, 0.0]);
    let found = linearise(&place.system(&model), &place.state).unwrap();
    assert_eq!(found.system.verdict().unwrap(), Verdict::AsymptoticallyStable);
}

/// Two supports under one mass share its weight; nothing is left to move.
#[test]
fn redundant_contacts_share_the_weight() {
    let model = Touching(Twice);
    let place = settled(&model, &[0.4]);
    assert!(place.modes.iter().all(|mode| mode.closed()), "{:?}", place.modes);
    let presses: Vec<f64> = place.touches(&model).iter().map(|touch| touch.press).collect();
    assert!(presses.iter().all(|&n| n >= 0.0) && (presses.iter().sum::<f64>() - 20.0).abs() < 1e-12, "{presses:?}");
    assert!(linearise(&place.system(&model), &place.state).unwrap().names.is_empty());
}

/// A curve of equilibria ends where its contact is lifted: at 20 N. What sticks is carried along.
#[test]
fn a_curve_of_equilibria_ends_where_a_press_does() {
    let options = Options::default();
    let reach = |step: f64| Reach { step, steps: [1e-7, 2.0], range: [0.0, 100.0], points: 400, tolerance: 1e-9 };
    let smooth = |lift: f64| Ok::<_, AnalysisError>(Touching(Smooth(Block { press: [0.0, 0.0, -lift], ..REST })));
    let place = settled(&smooth(0.0).unwrap(), &[0.5, 0.0]);
    let family = Equilibria::new(&smooth, &place.modes, &options, 1e-9);
    let branch = follow_on(&family, Kind::Equilibria, &(place.state, 0.0), 0.0, &reach(1.0), &mut |_| true).unwrap();
    let last = branch.points.last().unwrap();
    // Steps are halved until one is shorter than 1e-7.
    assert!((last.parameter - 20.0).abs() < 1e-6, "{}", last.parameter);
    let Ending::Lost(error) = &branch.ending else { panic!("{:?}", branch.ending) };
    assert!(error.to_string().contains("`contact 0` would have to pull"), "{error}");
    // The stiffness grows; the block sticks at 0.1 m until the spring pulls with 10 N.
    let rough = |stiffness: f64| Ok::<_, AnalysisError>(Touching(Block { stiffness, ..REST }));
    let place = settled(&rough(50.0).unwrap(), &[0.1, 0.0]);
    let family = Equilibria::new(&rough, &place.modes, &options, 1e-9);
    let branch = follow_on(&family, Kind::Equilibria, &(place.state, 50.0), 50.0, &reach(1.0), &mut |_| true).unwrap();
    let last = branch.points.last().unwrap();
    assert!((last.parameter - 100.0).abs() < 1e-6, "{}", last.parameter);
    assert_eq!(last.state.0.q, [0.1, 0.0]);
}

/// Along a motion the modes are those of each instant.
#[test]
fn places_along_a_motion_have_the_modes_of_their_instants() {
    let rough = Touching(REST);
    // Slides with ω = 5 about 0.2 from 0.5, stops at −0.1 after π/5 seconds, where the spring pulls with 5 N: it sticks.
    let places = Place::along(&rough, &start(&rough, &[0.5, 0.0]), 0.5, 3, 1e-11, &Options::default()).unwrap();
    let words: Vec<&str> = places.iter().map(|place| word(place.modes[0])).collect();
    assert_eq!(words, ["sliding", "sliding", "sticking"]);
    assert!((places[2].state.q[0] + 0.1).abs() < 1e-9);
}

/// What has no equilibrium is told.
#[test]
fn what_cannot_rest_is_told() {
    // Nothing but the belt pulls the block.
    let model = Touching(Block { stiffness: 0.0, belt: 0.1, ..REST });
    let error = Place::equilibrium(&model, &start(&model, &[0.0, 0.0]), BALANCE, &Options::default()).unwrap_err();
    assert!(error.to_string().contains("static equilibrium"), "{error}");
}
