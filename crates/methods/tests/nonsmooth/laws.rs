//! Impact laws, jams, shared forces, accounts, continuation and errors of contacts.
#![allow(clippy::unwrap_used)]

use crate::contacts::{Keep, follow};
use dalembert_methods::dynamics::{Dynamics, Rates};
use dalembert_methods::events::{Direction, Hit, Trigger, Watch};
use dalembert_methods::integrate::{Ending, Flow, IntegrateError, Settings, Span, create};
use dalembert_methods::nonsmooth::{
    ContactError, Hybrid, Kind, Mode, Moment, Observer, Options, Progress, Restitution, resume, simulate,
};
use dalembert_methods::problems::touching::{Ball, Belt, Rod, Touching, Toy};
use dalembert_methods::{Real, State, System};

fn rod(friction: f64, restitution: f64) -> Touching<Rod, 3, 0, 2> {
    Touching(Rod { gravity: 0.0, lift: 0.0, friction, restitution })
}

/// Slapstick: a rod inclined by 45° meets the ground with one end. With J_n = (0, 1, cos φ), J_t = (1, 0, −sin φ) and inertia 1/3
/// W_nn = W_tt = 5/2, W_nt = 3/2 at φ = −45°.
fn strike(
    model: &Touching<Rod, 3, 0, 2>,
    slip: f64,
    options: &Options,
) -> Result<([f64; 2], State<f64>), IntegrateError> {
    let (sine, cosine) = (-std::f64::consts::FRAC_PI_4).sin_cos();
    // The end is on the ground at the start, approaches with 1 m/s and slips.
    let (s, keep, run) = follow(model, &[0.0, -sine, -std::f64::consts::FRAC_PI_4], &[slip, -1.0, 0.0], 1e-3, options);
    run.ending?;
    let impact = &keep.events[0];
    assert_eq!((impact.kind, impact.contacts.as_slice(), impact.t), (Kind::Impact, [0].as_slice(), 0.0));
    let [n, t, _] = impact.values[0];
    for (v, expected) in s.v.iter().zip([slip + t, -1.0 + n, 3.0 * (cosine * n - sine * t)]) {
        assert!((v - expected).abs() < 1e-9, "{:?} {n} {t}", s.v);
    }
    Ok(([n, t], s))
}

#[test]
fn a_slapstick_rod_meets_its_impulse_by_hand() {
    let with = |restitution| Options { restitution, impact_friction: true, ..Options::default() };
    let close = |found: [f64; 2], expected: [f64; 2]| {
        assert!((found[0] - expected[0]).hypot(found[1] - expected[1]) < 1e-13, "{found:?} {expected:?}");
    };
    for law in [Restitution::Newton, Restitution::Poisson, Restitution::Energetic] {
        // Without friction: P = (1 + ε)/W_nn.
        let free = Options { restitution: law, ..Options::default() };
        close(strike(&rod(0.5, 0.6), 0.0, &free).unwrap().0, [1.6 / 2.5, 0.0]);
        // No slip before; μ = 0.5 < W_nt/W_tt = 0.6: slips forward all along, P = (1 + ε)/(W_nn − μ W_nt).
        let n = 1.6 / (2.5 - 0.5 * 1.5);
        close(strike(&rod(0.5, 0.6), 0.0, &with(law)).unwrap().0, [n, -0.5 * n]);
        // μ = 0.7 holds: P_t = −0.6 P_n, P_n = (1 + ε)/(2.5 − 0.6·1.5) = 1.
        close(strike(&rod(0.7, 0.6), 0.0, &with(law)).unwrap().0, [1.0, -0.6]);
    }
    // Reversal, by Routh's construction with μ = 0.5, ε = 0.5, slip −0.55 before. Slipping back: γ̇ rises by 2.5 + 0.75 and the
    // slip by 1.5 + 1.25 for each unit of p: it stops at p₁ = 0.2 with γ̇ = −0.35 and work −(1 + 0.35)/2·0.2 = −0.135. Then it slips forward:
    // γ̇ rises by 1.75, compression ends at p = 0.4 with work −0.135 − 0.35/2·0.2 = −0.17. A quarter of it comes back:
    // 1.75 p²/2 = 0.0425.
    let back = (2.0f64 * 0.0425 / 1.75).sqrt();
    let ([n, t], s) = strike(&rod(0.5, 0.5), -0.55, &with(Restitution::Energetic)).unwrap();
    close([n, t], [0.4 + back, 0.5 * 0.2 - 0.5 * (0.2 + back)]);
    // The energy lost is that of the normal work and of friction, and no less than nothing.
    let (before, after) =
        (0.5 * (0.55f64.powi(2) + 1.0), 0.5 * (s.v[0].powi(2) + s.v[1].powi(2) + s.v[2].powi(2) / 3.0));
    assert!((s.z[2] - (before - after)).abs() < 1e-9 && s.z[2] > 0.0);
}

/// Kane's paradox: with ε = 1 Newton's law and a sticking end the energy grows by −½ u₀ (2 W_nt + W_nn u₀)/det W.
#[test]
fn an_impact_that_creates_energy_is_refused() {
    let with = |restitution| Options { restitution, impact_friction: true, ..Options::default() };
    match strike(&rod(0.5, 1.0), -0.6, &with(Restitution::Newton)) {
        Err(IntegrateError::Contact(ContactError::EnergyGain { gained, contacts, .. })) => {
            assert!((gained - 0.5 * 0.6 * (3.0 - 1.5) / 4.0).abs() < 1e-13, "{gained}");
            assert_eq!(contacts, ["contact 0"]);
        }
        other => panic!("{other:?}"),
    }
    for law in [Restitution::Poisson, Restitution::Energetic] {
        assert!(strike(&rod(0.5, 1.0), -0.6, &with(law)).unwrap().1.z[2] >= 0.0);
    }
}

/// Painlevé's rod: sliding forward with μ > W_nn/W_nt = 5/3 the press would pull.
#[test]
fn a_jammed_rod_is_an_error() {
    let height = -(-std::f64::consts::FRAC_PI_4).sin();
    let state = |y: &Hybrid<'_, _>| {
        y.state(State {
            q: vec![0.0, height, -std::f64::consts::FRAC_PI_4],
            v: vec![1.0, 0.0, 0.0],
            ..State::default()
        })
    };
    for (friction, jams) in [(1.6, false), (1.7, true)] {
        let model = Touching(Rod { gravity: 10.0, lift: 0.0, friction, restitution: 0.0 });
        let mut y = Hybrid::new(&model);
        y.set_modes(&[Mode::Slide { direction: [1.0, 0.0] }, Mode::Open]);
        let s = state(&y);
        let mut rates = Rates::zeros(y.shape());
        let outcome = Dynamics::new(&y).evaluate(&y, &s, &mut rates);
        if jams {
            let Err(IntegrateError::Jammed { load, pivot, .. }) = outcome else { panic!("{outcome:?}") };
            assert_eq!(load, "`contact 0` (μ = 1.7000)");
            assert!((pivot - (2.5 - 1.7 * 1.5) / 2.5).abs() < 1e-14);
        } else {
            // N (W_nn − μ W_nt) = g, and the end does not move off the ground: v̇_y + cos φ ω̇ = 0.
            assert!((-rates.multipliers[0] - 10.0 / (2.5 - 1.6 * 1.5)).abs() < 1e-11);
            assert!((rates.v[1] + rates.v[2] * std::f64::consts::FRAC_1_SQRT_2).abs() < 1e-12);
        }
        let mut keep = Keep::default();
        let mut s = state(&y);
        let mut integrator = create("dop853", &Settings::default()).unwrap();
        let span = Span::new(0.0, 1e-3, 0.0);
        let run = simulate(&mut y, &mut s, &mut *integrator, &span, &Options::default(), &mut (), &mut keep);
        assert_eq!(run.ending.is_err(), jams, "{:?}", run.ending);
    }
}

/// A sledge on two runners whose centre of mass is off the middle, on a plane that tilts.
struct Sledge;

impl Toy<3, 0, 2> for Sledge {
    const TANGENTS: usize = 1;
    fn mass(&self) -> [f64; 3] {
        [1.0, 1.0, 0.5]
    }
    fn force<R: Real>(&self, t: R, _q: [R; 3], _v: [R; 3]) -> [R; 3] {
        let (sine, cosine) = (t * 0.5).sin_cos();
        [sine * 9.81, cosine * -9.81, R::zero()]
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 3]) -> [R; 2] {
        // Runners 0.7 behind and 1.3 before the centre of mass, nearly at its height.
        [q[1] - q[2] * 0.7, q[1] + q[2] * 1.3]
    }
    fn slip<R: Real>(&self, _t: R, _q: [R; 3], v: [R; 3]) -> [[R; 2]; 2] {
        [[v[0], R::zero()]; 2]
    }
    fn sticking(&self) -> [f64; 3] {
        [0.4; 3]
    }
    fn sliding<R: Real>(&self, _speed: R) -> [R; 3] {
        [R::from(0.3); 3]
    }
}

/// Two runners hold one direction: how they share is not determined, when they slip is, at tan θ = μ₀.
#[test]
fn shared_friction_slips_when_all_of_it_is_used() {
    let (s, keep, run) = follow(&Touching(Sledge), &[0.0; 3], &[0.0; 3], 2.0, &Options::default());
    assert_eq!(run.ending, Ok(Ending::Reached));
    assert_eq!(keep.kinds(), [Kind::Slip]);
    assert_eq!(keep.events[0].contacts, [0, 1]);
    let slip = 0.4f64.atan() / 0.5;
    assert!((keep.events[0].t - slip).abs() < 1e-11, "{} {slip}", keep.events[0].t);
    let (a, b) = (0.5 * slip, 1.0f64);
    let speed = 9.81 / 0.5 * (a.cos() - b.cos() - 0.3 * (b.sin() - a.sin()));
    assert!((s.v[0] - speed).abs() < 1e-10, "{} {speed}", s.v[0]);
}

/// A square plate (height, two tilts) on four legs, with a weight that wanders along the diagonal: at (t, t) of half the side.
struct Table;

impl Toy<3, 0, 4> for Table {
    const TANGENTS: usize = 0;
    fn mass(&self) -> [f64; 3] {
        [1.0; 3]
    }
    fn force<R: Real>(&self, t: R, _q: [R; 3], _v: [R; 3]) -> [R; 3] {
        [R::from(-10.0), t * -10.0, t * -10.0]
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 3]) -> [R; 4] {
        [q[0] + q[1] + q[2], q[0] + q[1] - q[2], q[0] - q[1] + q[2], q[0] - q[1] - q[2]]
    }
}

/// With forces of least square the far leg is free from t = ½ on, and hangs there. The plate tips over at t = 1, when the weight
/// passes the leg below it: both legs beside it lift off at once, and the far one leaves with them.
#[test]
fn a_table_tips_over_its_leg() {
    let (s, keep, run) = follow(&Touching(Table), &[0.0; 3], &[0.0; 3], 1.1, &Options::default());
    assert_eq!(run.ending, Ok(Ending::Reached));
    assert_eq!(keep.kinds(), [Kind::LiftOff, Kind::LiftOff]);
    assert_eq!(
        (keep.events[0].contacts.as_slice(), keep.events[1].contacts.as_slice()),
        ([3].as_slice(), [1, 2].as_slice())
    );
    assert!((keep.events[0].t - 0.5).abs() < 1e-11 && (keep.events[1].t - 1.0).abs() < 1e-11, "{:?}", keep.events);
    // About the leg, with N from z̈ + α̈ + β̈ = 0: N = (10 + 20 t)/3 and z̈ = N − 10 = 20 (t − 1)/3.
    assert!((s.q[0] - 20.0 / 18.0 * 1e-3).abs() < 1e-9, "{:?}", s.q);
}

/// A pendulum of unit mass and length falls from the horizontal to a wall below its pivot.
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
    fn restitution(&self, _contact: usize) -> f64 {
        0.5
    }
}

/// The fall takes K(sin 45°) √(l/g); the impact halves the speed √(2 g l) along the circle and keeps the constraint.
#[test]
fn an_impact_respects_bilateral_constraints() {
    let (s, keep, run) = follow(&Touching(Bell), &[1.0, 0.0], &[0.0, 0.0], 0.7, &Options::default());
    assert_eq!(run.ending, Ok(Ending::Reached));
    assert_eq!(keep.kinds(), [Kind::Impact]);
    let fall = 1.854_074_677_301_372 / 9.81f64.sqrt();
    assert!((keep.events[0].t - fall).abs() < 1e-10, "{} {fall}", keep.events[0].t);
    let speed = (2.0f64 * 9.81).sqrt();
    assert!((keep.events[0].values[0][0] - 1.5 * speed).abs() < 1e-9);
    assert!((keep.events[0].lost - 0.5 * speed * speed * 0.75).abs() < 1e-9);
    let energy = 0.5 * (s.v[0].powi(2) + s.v[1].powi(2)) + 9.81 * s.q[1];
    assert!((energy + 0.75 * 9.81).abs() < 1e-9, "{energy}");
}

/// A particle on a table that shakes: A sin Ωt.
struct Shaker;

impl Toy<1, 0, 1> for Shaker {
    const TANGENTS: usize = 0;
    fn mass(&self) -> [f64; 1] {
        [1.0]
    }
    fn force<R: Real>(&self, _t: R, _q: [R; 1], _v: [R; 1]) -> [R; 1] {
        [R::from(-9.81)]
    }
    fn gap<R: Real>(&self, t: R, q: [R; 1]) -> [R; 1] {
        [q[0] - (t * 10.0).sin() * 0.2]
    }
    fn restitution(&self, _contact: usize) -> f64 {
        0.3
    }
}

/// The particle leaves where the table falls with g: sin Ωt = g/(AΩ²). Its energy is what the table gave less what impacts took.
#[test]
fn a_shaken_particle_leaves_its_table_and_the_account_closes() {
    let (s, keep, run) = follow(&Touching(Shaker), &[0.0], &[2.0], 2.0, &Options::default());
    assert_eq!(run.ending, Ok(Ending::Reached));
    assert_eq!(keep.events[0].kind, Kind::LiftOff);
    let leave = (9.81f64 / 20.0).asin() / 10.0;
    assert!((keep.events[0].t - leave).abs() < 1e-11, "{}", keep.events[0].t);
    assert!(keep.events.iter().filter(|event| event.kind == Kind::Impact).count() > 3);
    let energy = 0.5 * s.v[0].powi(2) + 9.81 * s.q[0];
    assert!((energy - 2.0 - s.z[0] + s.z[1] + s.z[2]).abs() < 1e-9, "{energy} {:?}", s.z);
}

fn belt() -> Touching<Belt, 2, 0, 1> {
    Touching(Belt { gravity: 10.0, stiffness: 100.0, speed: 0.5, friction: [0.8, 0.4], fall: 0.2 })
}

/// Stick–slip with a Stribeck curve: the slip phase by a plain Runge–Kutta method of order 4 with 40 000 steps to its end.
#[test]
fn a_stribeck_belt_has_the_period_of_an_independent_integration() {
    let (s, keep, run) = follow(&belt(), &[0.0, 0.0], &[0.5, 0.0], 3.0, &Options::default());
    assert_eq!(run.ending, Ok(Ending::Reached));
    let acceleration = |x: f64, v: f64| -100.0 * x + 10.0 * (0.4 + 0.4 * (-(0.5 - v) / 0.2f64).exp());
    let (mut x, mut v, mut t, h) = (0.08, 0.5, 0.0, 2e-5);
    let advance = |x: f64, v: f64, h: f64| {
        let (k1, l1) = (v, acceleration(x, v));
        let (k2, l2) = (v + 0.5 * h * l1, acceleration(x + 0.5 * h * k1, v + 0.5 * h * l1));
        let (k3, l3) = (v + 0.5 * h * l2, acceleration(x + 0.5 * h * k2, v + 0.5 * h * l2));
        let (k4, l4) = (v + h * l3, acceleration(x + h * k3, v + h * l3));
        (x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), v + h / 6.0 * (l1 + 2.0 * l2 + 2.0 * l3 + l4))
    };
    // Leaves v = V, comes back to it; the last step is bisected.
    loop {
        let (next_x, next_v) = advance(x, v, h);
        if t > 0.05 && next_v >= 0.5 {
            break;
        }
        (x, v, t) = (next_x, next_v, t + h);
    }
    let (mut low, mut high) = (0.0, h);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if advance(x, v, middle).1 < 0.5 { low = middle } else { high = middle }
    }
    let (slip, landing) = (t + low, advance(x, v, low).0);
    let stick = (0.08 - landing) / 0.5;
    let starts: Vec<f64> = keep.events.iter().filter(|event| event.kind == Kind::Slip).map(|event| event.t).collect();
    for pair in starts.windows(2) {
        // At the start of a slip the acceleration is zero and grows from rounding: times are known to about its root less than elsewhere.
        assert!((pair[1] - pair[0] - slip - stick).abs() < 1e-7, "{} {}", pair[1] - pair[0], slip + stick);
    }
    assert!(starts.len() > 3);
    let energy = 0.5 * s.v[0].powi(2) + 50.0 * s.q[0].powi(2);
    assert!((energy - 0.125 - s.z[0] + s.z[1]).abs() < 1e-8, "{energy} {:?}", s.z);
}

/// Stops after a number of steps and keeps what a continuation needs.
#[derive(Default)]
struct Cut {
    after: Option<u64>,
    saved: Option<(State<f64>, Progress)>,
    outputs: Vec<State<f64>>,
}

impl Observer<Touching<Belt, 2, 0, 1>> for Cut {
    fn on_output(&mut self, _y: &Hybrid<'_, Touching<Belt, 2, 0, 1>>, s: &State<f64>) {
        self.outputs.push(s.clone());
    }
    fn on_step(&mut self, _y: &Hybrid<'_, Touching<Belt, 2, 0, 1>>, moment: &Moment<'_>) -> Flow {
        if self.after == Some(moment.counts.steps) {
            self.saved = (!moment.cut).then(|| (moment.state.clone(), moment.progress()));
            return Flow::Stop;
        }
        Flow::Continue
    }
}

#[test]
fn a_run_that_is_cut_and_continued_has_the_same_bits() {
    let (model, options, span) = (belt(), Options::default(), Span::new(0.0, 2.0, 0.03));
    for method in ["dopri5", "radau"] {
        let settings = Settings::default().with("tolerance", 1e-9);
        let start = |y: &Hybrid<'_, _>| y.state(State { q: vec![0.0; 2], v: vec![0.5, 0.0], ..State::default() });
        let mut y = Hybrid::new(&model);
        let (mut whole, mut s) = (Cut::default(), start(&y));
        let run =
            simulate(&mut y, &mut s, &mut *create(method, &settings).unwrap(), &span, &options, &mut (), &mut whole);
        assert_eq!(run.ending, Ok(Ending::Reached));
        for after in (1..run.counts.steps).step_by(5) {
            let mut y = Hybrid::new(&model);
            let (mut cut, mut first) = (Cut { after: Some(after), ..Cut::default() }, start(&y));
            let part = simulate(
                &mut y,
                &mut first,
                &mut *create(method, &settings).unwrap(),
                &span,
                &options,
                &mut (),
                &mut cut,
            );
            // Where an event ended the step at which the observer wanted to stop, the run stops after the event.
            assert_eq!(part.ending, Ok(Ending::Stopped));
            let (mut then, progress) = cut.saved.take().unwrap_or((first, part.progress));
            let (mut y, mut rest) = (Hybrid::new(&model), Cut::default());
            let mut integrator = create(method, &settings).unwrap();
            let end = resume(&mut y, &mut then, &mut *integrator, &span, &options, &mut (), &mut rest, &progress);
            assert_eq!(end.ending, Ok(Ending::Reached));
            assert_eq!(then, s, "{method} {after}");
            assert_eq!([cut.outputs, rest.outputs].concat(), whole.outputs);
        }
    }
}

/// Functions of the user are watched beside those of the contacts.
#[test]
fn functions_of_the_user_stop_a_run() {
    let model = Touching(Ball { gravity: 10.0, restitution: 0.5 });
    let mut y = Hybrid::new(&model);
    let mut s = y.state(State { q: vec![5.0], v: vec![0.0], ..State::default() });
    let top = Trigger { name: "top".to_owned(), direction: Direction::Falling, terminal: true };
    let mut watch = Watch::new(vec![top], |s: &State<f64>, out: &mut [f64]| out[0] = s.v[0]);
    let mut integrator = create("dop853", &Settings::default().with("tolerance", 1e-12)).unwrap();
    let run =
        simulate(&mut y, &mut s, &mut *integrator, &Span::new(0.0, 9.0, 0.0), &Options::default(), &mut watch, &mut ());
    assert!(matches!(run.ending.unwrap().clone(), Ending::Event(hits) if matches!(hits[..], [Hit { trigger: 0, .. }])));
    // Falls 1 s, rises with half the speed for 0.5 s to a quarter of the height.
    assert!((s.t - 1.5).abs() < 1e-11 && (s.q[0] - 1.25).abs() < 1e-11, "{s:?}");
}

#[test]
fn bad_starts_are_named() {
    let model = Touching(Ball { gravity: 10.0, restitution: 0.5 });
    let error = follow(&model, &[-0.01], &[0.0], 1.0, &Options::default()).2.ending.unwrap_err();
    assert_eq!(error.to_string(), "at t = 0 s `contact 0` starts with a gap of -1.000e-2 m; move its bodies apart");
    let model = Touching(Ball { gravity: 10.0, restitution: 1.5 });
    let error = follow(&model, &[1.0], &[0.0], 1.0, &Options::default()).2.ending.unwrap_err();
    assert!(error.to_string().contains("`contact 0`: the coefficient of restitution is 1.5"), "{error}");
}
