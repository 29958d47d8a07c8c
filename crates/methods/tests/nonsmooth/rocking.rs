//! Bodies that rock to rest: impacts of several contacts in turn, infinitely many in finite time.
#![allow(clippy::unwrap_used)]

use crate::contacts::{Keep, follow};
use dalembert_methods::Real;
use dalembert_methods::State;
use dalembert_methods::integrate::{Ending, Flow, Settings, Span, create};
use dalembert_methods::nonsmooth::{
    Contacts, Event, Hybrid, Kind, Mode, Moment, Observer, Options, Progress, resume, simulate,
};
use dalembert_methods::problems::touching::{Touching, Toy};

const GRAVITY: f64 = 9.81;

/// A block of 1 kg, twice `half` wide and twice `tall` high, on rough ground: (x, y, θ) of its centre; its left and its right corner touch.
struct Block {
    half: f64,
    tall: f64,
    inertia: f64,
}

impl Toy<3, 0, 2> for Block {
    const TANGENTS: usize = 1;
    fn mass(&self) -> [f64; 3] {
        [1.0, 1.0, self.inertia]
    }
    fn force<R: Real>(&self, _t: R, _q: [R; 3], _v: [R; 3]) -> [R; 3] {
        [R::zero(), R::from(-GRAVITY), R::zero()]
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 3]) -> [R; 2] {
        let (sine, cosine) = q[2].sin_cos();
        [-self.half, self.half].map(|b| q[1] + sine * b - cosine * self.tall)
    }
    fn slip<R: Real>(&self, _t: R, q: [R; 3], v: [R; 3]) -> [[R; 2]; 2] {
        let (sine, cosine) = q[2].sin_cos();
        [-self.half, self.half].map(|b| [v[0] + v[2] * (cosine * self.tall - sine * b), R::zero()])
    }
    fn sticking(&self) -> [f64; 3] {
        [5.0; 3]
    }
}

impl Block {
    /// R² = b² + h² and the inertia about a corner.
    fn about_corner(&self) -> (f64, f64) {
        let square = self.half.powi(2) + self.tall.powi(2);
        (square, self.inertia + square)
    }

    /// What an impact leaves of the rate: the moment of momentum about the corner that is hit stays (Housner 1963).
    fn kept(&self) -> f64 {
        let (_, inertia) = self.about_corner();
        (self.inertia + self.tall.powi(2) - self.half.powi(2)) / inertia
    }

    /// The time on one corner that begins and ends with a rate ω at θ = 0. With ½ I ω² = g R (cos(α − θₘ) − cos α) and θ = θₘ (1 − u²)
    /// it is 2 ∫ dθ/θ̇, θ̇² = (4 g R/I) sin(α − (θₘ + θ)/2) sin(θₘ u²/2), a smooth function of u.
    fn turn(&self, rate: f64) -> f64 {
        let (square, inertia) = self.about_corner();
        let (radius, angle) = (square.sqrt(), self.half.atan2(self.tall));
        // 2 sin(α − θₘ/2) sin(θₘ/2) = I ω²/(2 g R).
        let rise = 0.5 * inertia * rate * rate / (GRAVITY * radius);
        let most = (0..60).fold(0.0, |most: f64, _| 2.0 * (0.5 * rise / (angle - 0.5 * most).sin()).asin());
        let integrand = |u: f64| {
            let theta = most * (1.0 - u * u);
            let sines = (angle - 0.5 * (most + theta)).sin() * (0.5 * most * u * u).sin();
            2.0 * most * u / (4.0 * GRAVITY * radius / inertia * sines).sqrt()
        };
        // The midpoint rule is exact to h² for a smooth function; Romberg takes it to h¹⁰.
        let rule = |n: u32| -> f64 {
            (0..n).map(|k| integrand((f64::from(k) + 0.5) / f64::from(n))).sum::<f64>() / f64::from(n)
        };
        let mut table: Vec<f64> = (4..9).map(|k| rule(1 << k)).collect();
        for order in 1..table.len() as i32 {
            for k in 0..table.len() - order as usize {
                table[k] = table[k + 1] + (table[k + 1] - table[k]) / (4f64.powi(order) - 1.0);
            }
        }
        2.0 * table[0]
    }

    /// The state on the left corner that begins to lift the right one.
    fn start(&self, rate: f64) -> ([f64; 3], [f64; 3]) {
        ([0.0, self.tall, 0.0], [-self.tall * rate, self.half * rate, rate])
    }
}

fn rough() -> Options {
    Options { impact_friction: true, ..Options::default() }
}

/// A block rocks with rates ω, ηω, η²ω, … and rests at Σ T(ηᵏω).
#[test]
fn a_block_rocks_to_rest_when_its_series_of_turns_ends() {
    for (half, tall, rate) in [(0.2, 0.5, 1.0), (0.3, 0.4, 1.5)] {
        let model = Touching(Block { half, tall, inertia: (half * half + tall * tall) / 3.0 });
        let block = &model.0;
        let (q, v) = block.start(rate);
        let (s, keep, run) = follow(&model, &q, &v, 6.0, &rough());
        assert_eq!(run.ending, Ok(Ending::Reached));
        let (mut t, mut speed) = (0.0, rate);
        let impacts: Vec<&Event> = keep.events.iter().filter(|event| event.kind == Kind::Impact).collect();
        for (k, impact) in impacts.iter().enumerate() {
            t += block.turn(speed);
            speed *= block.kept();
            assert_eq!(impact.contacts, [(k + 1) % 2]);
            // Rates are known to 1e-12 and their times add up.
            assert!((impact.t - t).abs() < 1e-10, "{k}: {} {t}", impact.t);
        }
        let turns = impacts.len();
        while speed > 1e-17 {
            t += block.turn(speed);
            speed *= block.kept();
        }
        let [rest] = keep.events.iter().filter(|event| event.kind == Kind::Rest).collect::<Vec<_>>()[..] else {
            panic!("one end: {:?}", keep.events)
        };
        assert_eq!(rest.contacts, [0, 1]);
        // The time left after the last impact, below `settle`, is taken from ratios that agree to their change over it: some 1e-4 of 1e-4.
        assert!((rest.t - t).abs() < 1e-8, "{} {t} after {turns} turns", rest.t);
        assert!(s.v.iter().all(|v| v.abs() < 1e-12) && s.q[2].abs() < 1e-12, "{s:?}");
        // It closes when less than `settle` is left, and all energy but ½ I ω² counts as lost, in impacts.
        let energy = 0.5 * block.about_corner().1 * rate * rate;
        assert!((s.z[2] - energy).abs() < 1e-9, "{} {energy}", s.z[2]);
        assert!(rest.lost > 0.0 && rest.lost < 1e-6 * energy, "{}", rest.lost);
        assert_eq!(keep.outputs.last().unwrap().1, [Mode::Stick; 2]);
    }
}

/// A plate of 1 kg on three smooth feet: height and two small angles, so that everything is linear. The feet lie on a circle of radius 1.
struct Plate {
    inertia: f64,
}

const FEET: [[f64; 2]; 3] = [[1.0, 0.0], [-0.5, 0.866_025_403_784_438_6], [-0.5, -0.866_025_403_784_438_6]];

impl Toy<3, 0, 3> for Plate {
    const TANGENTS: usize = 0;
    fn mass(&self) -> [f64; 3] {
        [1.0, self.inertia, self.inertia]
    }
    fn force<R: Real>(&self, _t: R, _q: [R; 3], _v: [R; 3]) -> [R; 3] {
        [R::from(-GRAVITY), R::zero(), R::zero()]
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 3]) -> [R; 3] {
        FEET.map(|[x, y]| q[0] + q[1] * x + q[2] * y)
    }
}

/// Tilted about the line of two feet, the plate rocks between these and the third: with the distance a of the feet that bear from the centre and b of
/// the others, mr² = J, a turn takes 2ω (J + a²)/(g a) and an impact leaves (J − ab)/(J + b²) of the rate. A geometric series of two turns.
#[test]
fn a_plate_rocks_between_one_foot_and_two() {
    let inertia = 1.4;
    let model = Touching(Plate { inertia });
    let (one, two) = (1.0, 0.5);
    let turn = |a: f64, rate: f64| 2.0 * rate * (inertia + a * a) / (GRAVITY * a);
    let kept = |b: f64| (inertia - one * two) / (inertia + b * b);
    let rate = 0.8;
    // It stands on the first foot and lifts the others.
    let (s, keep, run) = follow(&model, &[0.0; 3], &[rate, -rate, 0.0], 4.0, &Options::default());
    assert_eq!(run.ending, Ok(Ending::Reached));
    let first = turn(one, rate) + turn(two, rate * kept(two));
    let end = first / (1.0 - kept(one) * kept(two));
    let impacts: Vec<&Event> = keep.events.iter().filter(|event| event.kind == Kind::Impact).collect();
    let sets: Vec<Vec<usize>> = impacts.iter().map(|impact| impact.contacts.clone()).collect();
    assert_eq!(sets[..4], [vec![1, 2], vec![0], vec![1, 2], vec![0]]);
    // Free motions are polynomials of second order: times are exact but for rounding and location.
    assert!((impacts[0].t - turn(one, rate)).abs() < 1e-11 && (impacts[1].t - first).abs() < 1e-11);
    let rest: Vec<&Event> = keep.events.iter().filter(|event| event.kind == Kind::Rest).collect();
    assert_eq!(rest.len(), 1, "{rest:?}");
    assert_eq!(rest[0].contacts, [0, 1, 2]);
    assert!((rest[0].t - end).abs() < 1e-9, "{} {end}", rest[0].t);
    assert!(s.v.iter().all(|v| v.abs() < 1e-12) && s.q.iter().all(|q| q.abs() < 1e-12), "{s:?}");
    let energy = 0.5 * (1.0 + inertia) * rate * rate;
    assert!((s.z[2] - energy).abs() < 1e-8, "{} {energy}", s.z[2]);
}

/// However it is tilted and turned, the plate comes to rest on its three feet; all energy goes into impacts.
#[test]
fn a_plate_comes_to_rest_on_three_feet() {
    for inertia in [1.4, 0.8, 0.4] {
        for k in 0..6 {
            let (sine, cosine) = (0.3 + f64::from(k)).sin_cos();
            let model = Touching(Plate { inertia });
            let tilt = [0.04 * cosine, 0.04 * sine];
            let height = -FEET.iter().map(|[x, y]| tilt[0] * x + tilt[1] * y).fold(0.0, f64::min);
            let (s, keep, run) = follow(&model, &[height, tilt[0], tilt[1]], &[0.0; 3], 8.0, &Options::default());
            assert_eq!(run.ending, Ok(Ending::Reached), "{inertia} {k}");
            assert!(s.v.iter().all(|v| v.abs() < 1e-9) && s.q.iter().all(|q| q.abs() < 1e-9), "{inertia} {k}: {s:?}");
            assert!((s.z[2] - GRAVITY * height).abs() < 1e-8, "{inertia} {k}: {} {height}", s.z[2]);
            assert!(keep.outputs.last().unwrap().1.iter().all(|mode| mode.closed()));
        }
    }
}

/// Two balls that do not know of each other.
struct Pair([f64; 2]);

impl Toy<2, 0, 2> for Pair {
    const TANGENTS: usize = 0;
    fn mass(&self) -> [f64; 2] {
        [1.0; 2]
    }
    fn force<R: Real>(&self, _t: R, _q: [R; 2], _v: [R; 2]) -> [R; 2] {
        [R::from(-10.0); 2]
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 2]) -> [R; 2] {
        q
    }
    fn restitution(&self, contact: usize) -> f64 {
        self.0[contact]
    }
}

/// Two balls whose series end at the same instant, t₁ (1 + ε)/(1 − ε) = 9 s for both, rest each by itself: the end of one takes nothing from the other. A ball within `touch` of the
/// floor takes part in an impact of the other, early by touch/v. With less than `settle` left v = g settle (1 − ε)/(2ε), and what is early grows by 1/(1 − ε): 1e-10/1.25e-4/0.2 = 4e-6.
#[test]
fn balls_that_do_not_act_on_each_other_rest_each_by_itself() {
    let model = Touching(Pair([0.8, 0.5]));
    // Falls of 1 s and of 3 s.
    let (s, keep, run) = follow(&model, &[5.0, 45.0], &[0.0; 2], 10.0, &Options::default());
    assert_eq!(run.ending, Ok(Ending::Reached));
    let rests: Vec<&Event> = keep.events.iter().filter(|event| event.kind == Kind::Rest).collect();
    assert_eq!(rests.len(), 2, "{rests:?}");
    for rest in rests {
        assert!(rest.contacts.len() == 1 && (rest.t - 9.0).abs() < 4e-6 && rest.lost == 0.0, "{rest:?}");
    }
    assert_eq!(s.v, [0.0; 2]);
    assert!((s.z[2] - 500.0).abs() < 1e-7, "{}", s.z[2]);
    // The same with other heights: no series of one ends that of the other.
    let (_, keep, run) = follow(&model, &[5.0, 3.0], &[0.0; 2], 10.0, &Options::default());
    assert_eq!(run.ending, Ok(Ending::Reached));
    let mut ends: Vec<f64> = keep.events.iter().filter(|e| e.kind == Kind::Rest).map(|e| e.t).collect();
    ends.sort_by(f64::total_cmp);
    assert!((ends[0] - 3.0 * 0.6f64.sqrt()).abs() < 1e-9 && (ends[1] - 9.0).abs() < 1e-9, "{ends:?}");
}

/// Stops at a step, or after the event that ends it.
#[derive(Default)]
struct Cut {
    after: Option<u64>,
    keep: Keep,
    /// The steps that events cut short, and what could be continued after the event.
    cuts: Vec<u64>,
    passed: Option<(State<f64>, Progress)>,
}

impl<Y: Contacts> Observer<Y> for Cut {
    fn on_output(&mut self, y: &Hybrid<'_, Y>, s: &State<f64>) {
        self.keep.outputs.push((s.clone(), y.modes().to_vec()));
    }
    fn on_step(&mut self, _y: &Hybrid<'_, Y>, moment: &Moment<'_>) -> Flow {
        if moment.cut {
            self.cuts.push(moment.counts.steps);
        }
        if self.after == Some(moment.counts.steps) { Flow::Stop } else { Flow::Continue }
    }
    fn on_event(&mut self, _y: &Hybrid<'_, Y>, event: &Event, _s: &State<f64>) {
        self.keep.events.push(event.clone());
    }
    fn on_passed(&mut self, _y: &Hybrid<'_, Y>, s: &State<f64>, progress: &dyn Fn() -> Progress) {
        self.passed = Some((s.clone(), progress()));
    }
}

/// A stop that is asked for in a step which an event ends comes right after the event, and the run goes on from there with the same bits: events, outputs, end and counts.
#[test]
fn a_rocking_block_can_be_stopped_at_every_impact() {
    let model = Touching(Block { half: 0.2, tall: 0.5, inertia: 0.1 });
    let (q, v) = model.0.start(1.0);
    let (options, span) = (rough(), Span::new(0.0, 3.0, 0.05));
    for method in ["dop853", "radau"] {
        let integrator = || create(method, &Settings::default().with("tolerance", 1e-9)).unwrap();
        let begin = |y: &Hybrid<'_, _>| y.state(State { q: q.to_vec(), v: v.to_vec(), ..State::default() });
        let mut y = Hybrid::new(&model);
        let (mut whole, mut s) = (Cut::default(), begin(&y));
        let run = simulate(&mut y, &mut s, &mut *integrator(), &span, &options, &mut (), &mut whole);
        assert_eq!(run.ending, Ok(Ending::Reached));
        assert!(whole.cuts.len() > 10);
        for &after in &whole.cuts {
            let mut y = Hybrid::new(&model);
            let (mut first, mut at) = (Cut { after: Some(after), ..Cut::default() }, begin(&y));
            let part = simulate(&mut y, &mut at, &mut *integrator(), &span, &options, &mut (), &mut first);
            assert_eq!(part.ending, Ok(Ending::Stopped), "{method} {after}");
            assert!(part.progress.anew && first.cuts.last() == Some(&after));
            // Times of impacts that never were are not numbers: compared as texts.
            assert_eq!(format!("{:?}", first.passed.take()), format!("{:?}", Some((&at, &part.progress))));
            let (mut y, mut rest) = (Hybrid::new(&model), Cut::default());
            let end = resume(&mut y, &mut at, &mut *integrator(), &span, &options, &mut (), &mut rest, &part.progress);
            assert_eq!(end.ending, Ok(Ending::Reached));
            assert_eq!((&at, end.counts), (&s, run.counts), "{method} {after}");
            assert_eq!([first.keep.events, rest.keep.events].concat(), whole.keep.events);
            assert_eq!([first.keep.outputs, rest.keep.outputs].concat(), whole.keep.outputs);
        }
    }
}
