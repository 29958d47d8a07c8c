//! The loop of a run: outputs, events, restarts, stops, continuation.
#![allow(clippy::unwrap_used)]

use dalembert_methods::algebra::{Mass, MassBlock};
use dalembert_methods::events::{Crossing, Direction, Hit, Trigger, Watch};
use dalembert_methods::integrate::{
    Ending, Flow, Moment, Observer, Progress, Reaction, Settings, Span, create, resume, simulate,
};
use dalembert_methods::problems::{Kepler, Oscillator, Pendulum, Problem};
use dalembert_methods::{Scalar, Shape, State, System};

const EXPLICIT: [&str; 3] = ["rk4", "dopri5", "dop853"];

fn trigger(name: &str, direction: Direction, terminal: bool) -> Trigger {
    Trigger { name: name.to_owned(), direction, terminal }
}

/// A ball above the floor q = 0 under g = 10 m/s².
struct Ball;

impl System for Ball {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        Shape { q: 1, v: 1, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(1)]
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, _w: &mut ()) {}
    fn mass<S: Scalar>(&self, _s: &State<S>, _w: &mut (), out: &mut Mass<S>) {
        out.block_mut(0)[0] = S::one();
    }
    fn force<S: Scalar>(&self, _s: &State<S>, _w: &mut (), out: &mut [S]) {
        out[0] = S::from(-10.0);
    }
}

/// Keeps everything, bounces balls, stops where told.
#[derive(Default)]
struct Keep {
    outputs: Vec<State<f64>>,
    steps: Vec<(f64, f64)>,
    events: Vec<(f64, Vec<Hit>)>,
    bounce: f64,
    stop_after: Option<u64>,
    saved: Option<(State<f64>, Progress)>,
}

impl Observer for Keep {
    fn on_output(&mut self, s: &State<f64>) {
        self.outputs.push(s.clone());
    }
    fn on_step(&mut self, moment: &Moment<'_>) -> Flow {
        self.steps.push((moment.step.t, moment.step.h));
        if self.stop_after == Some(moment.counts.steps) {
            self.saved = Some((moment.state.clone(), moment.progress()));
            return Flow::Stop;
        }
        Flow::Continue
    }
    fn on_event(&mut self, hits: &[Hit], s: &mut State<f64>) -> Reaction {
        self.events.push((s.t, hits.to_vec()));
        if self.bounce > 0.0 && s.q[0].abs() < 1e-9 {
            s.v[0] *= -self.bounce;
            return Reaction::Restart;
        }
        Reaction::Continue
    }
}

#[test]
fn outputs_are_at_exact_times_and_steps_do_not_depend_on_them() {
    let problem = Oscillator::default();
    for method in EXPLICIT {
        let mut ends = Vec::new();
        for interval in [0.0, 0.1, 0.013] {
            let mut keep = Keep::default();
            let mut s = problem.initial();
            let span = Span::new(0.0, 5.0, interval);
            let mut integrator = create(method, &Settings::default().with("tolerance", 1e-10)).unwrap();
            let run = simulate(&problem, &mut s, &mut *integrator, &span, &mut (), &mut keep);
            assert_eq!(run.ending, Ok(Ending::Reached));
            assert_eq!(s.t, 5.0);
            if interval > 0.0 {
                assert_eq!(keep.outputs.len(), (5.0 / interval + 1e-9) as usize + 1);
            }
            for (k, output) in keep.outputs.iter().enumerate() {
                assert!((output.t - k as f64 * interval).abs() <= 4.0 * f64::EPSILON * 5.0);
                // 150 steps of dopri5 with an error of 1e-10 each; the output of order 4 adds as much once.
                assert!(problem.distance(output, &problem.exact(output.t).unwrap()) < 3e-8, "{method} {}", output.t);
            }
            let joined = keep.steps.windows(2).all(|w| (w[0].0 + w[0].1 - w[1].0).abs() < 1e-15 * 5.0);
            assert!(joined && run.counts.steps as usize == keep.steps.len());
            ends.push(s);
        }
        assert!(ends[0] == ends[1] && ends[1] == ends[2]);
    }
}

/// A ball from h bounces at t₁ = √(2h/g) and then every 2eⁿt₁; with restitution e = 0.8 every bounce has a closed form.
#[test]
fn a_bouncing_ball_meets_its_closed_form() {
    for method in EXPLICIT {
        let mut keep = Keep { bounce: 0.8, ..Keep::default() };
        let mut s = State { q: vec![5.0], v: vec![0.0], ..State::default() };
        let span = Span::new(0.0, 6.0, 0.05);
        let mut watch =
            Watch::new(vec![trigger("floor", Direction::Both, false)], |s: &State<f64>, out: &mut [f64]| {
                out[0] = s.q[0];
            });
        let mut integrator = create(method, &Settings::default().with("tolerance", 1e-12)).unwrap();
        let run = simulate(&Ball, &mut s, &mut *integrator, &span, &mut watch, &mut keep);
        assert_eq!(run.ending, Ok(Ending::Reached));
        let mut expected = Vec::new();
        let (mut t, mut flight) = (1.0, 1.6);
        while t < 6.0 {
            expected.push(t);
            t += flight;
            flight *= 0.8;
        }
        assert_eq!(keep.events.len(), expected.len(), "{method} {:?}", keep.events);
        for ((found, hits), expected) in keep.events.iter().zip(&expected) {
            // Free flight is a polynomial of degree 2, exact for both methods: only location and rounding remain, and
            // each bounce passes its error in time on to all later ones.
            assert!((found - expected).abs() < 1e-11, "{method} {found} {expected}");
            assert_eq!(hits[0].crossing, Crossing::Falling);
        }
        assert_eq!(keep.outputs.len(), 121);
        assert!(keep.outputs.iter().all(|output| output.q[0] > -1e-10));
    }
}

#[test]
fn a_terminal_event_stops_exactly_there() {
    let problem = Kepler::default();
    for method in EXPLICIT {
        let mut keep = Keep::default();
        let mut s = problem.initial();
        let list = vec![trigger("apocentre", Direction::Both, true), trigger("same", Direction::Falling, false)];
        let mut watch = Watch::new(list, |s: &State<f64>, out: &mut [f64]| out.fill(s.q[1]));
        let mut integrator = create(method, &Settings::default().with("tolerance", 1e-12)).unwrap();
        let span = Span::new(0.0, 6.0, 0.5);
        let run = simulate(&problem, &mut s, &mut *integrator, &span, &mut watch, &mut keep);
        let Ok(Ending::Event(hits)) = run.ending else { panic!("{:?}", run.ending) };
        assert_eq!(hits.len(), 2);
        // Half a period; error of the orbit about 1e-11 at this tolerance.
        assert!((s.t - std::f64::consts::PI).abs() < 1e-9, "{method} {}", s.t);
        assert!(s.q[1].abs() < 1e-11 && (s.q[0] + 1.3).abs() < 1e-9);
        assert_eq!(keep.outputs.len(), 7);
        assert!((keep.steps.last().unwrap().0 + keep.steps.last().unwrap().1 - s.t).abs() < 1e-14);
    }
}

#[test]
fn events_and_outputs_of_constrained_systems_lie_on_the_constraints() {
    let problem = Pendulum::default();
    let quarter = {
        let modulus = (0.5 * problem.amplitude).sin();
        dalembert_methods::problems::elliptic::quarter_period(modulus * modulus)
            / (problem.gravity / problem.length).sqrt()
    };
    for method in EXPLICIT {
        let mut keep = Keep::default();
        let mut s = problem.initial();
        let list = vec![trigger("bottom", Direction::Falling, false)];
        let mut watch = Watch::new(list, |s: &State<f64>, out: &mut [f64]| out[0] = s.q[0]);
        let mut integrator = create(method, &Settings::default().with("tolerance", 1e-11)).unwrap();
        let span = Span::new(0.0, 3.0, 0.02);
        let run = simulate(&problem, &mut s, &mut *integrator, &span, &mut watch, &mut keep);
        assert_eq!(run.ending, Ok(Ending::Reached));
        for output in &keep.outputs {
            let length = output.q[0].hypot(output.q[1]);
            // Outputs at step ends are left with residuals below 1 % of the tolerance, the others are projected.
            assert!((length - problem.length).abs() < 1e-12, "{method} {length}");
        }
        let expected: Vec<f64> = (0..).map(|k| quarter * f64::from(4 * k + 2)).take_while(|&t| t < 3.0).collect();
        assert_eq!(keep.events.len(), expected.len());
        for ((found, _), expected) in keep.events.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-8, "{method} {found} {expected}");
        }
    }
}

/// Cut after any number of steps, bounces included, the run gives the same outputs, events and end.
#[test]
fn a_run_with_events_continues_with_the_same_bits() {
    let start = || State { q: vec![5.0], v: vec![0.0], ..State::default() };
    let span = Span::new(0.0, 4.0, 0.03);
    let watch = || {
        Watch::new(vec![trigger("floor", Direction::Falling, false)], |s: &State<f64>, out: &mut [f64]| out[0] = s.q[0])
    };
    for method in EXPLICIT {
        let settings = Settings::default().with("largest_step", 0.1);
        let make = || create::<Ball>(method, &settings).unwrap();
        let mut whole = Keep { bounce: 0.8, ..Keep::default() };
        let mut end = start();
        let run = simulate(&Ball, &mut end, &mut *make(), &span, &mut watch(), &mut whole);
        assert_eq!(run.ending, Ok(Ending::Reached));
        for cut in [1, 7, 13, 14, 15, 16, 17, 18, 30] {
            let mut pieces = Keep { bounce: 0.8, stop_after: Some(cut), ..Keep::default() };
            let mut s = start();
            let first = simulate(&Ball, &mut s, &mut *make(), &span, &mut watch(), &mut pieces);
            assert_eq!(first.ending, Ok(Ending::Stopped));
            let (mut s, progress) = pieces.saved.take().unwrap();
            assert_eq!(progress, first.progress);
            pieces.stop_after = None;
            let second = resume(&Ball, &mut s, &mut *make(), &span, &mut watch(), &mut pieces, &progress);
            assert_eq!(second.ending, Ok(Ending::Reached));
            assert_eq!(s, end);
            assert_eq!(pieces.outputs, whole.outputs);
            assert_eq!(pieces.events, whole.events);
            assert_eq!(pieces.steps, whole.steps);
            assert_eq!(second.counts, run.counts);
        }
    }
}
