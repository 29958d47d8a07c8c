//! Periodic and chaotic motions: multipliers, cycles, exponents, sections, portraits, spectra.

use super::Work;
use super::choice::Choice;
use super::item::{Item, Items, matrix, state_items};
use super::job::{Job, formula, period, said, velocity};
use super::walk;
use crate::error;
use dalembert::methods::State;
use dalembert::methods::nonsmooth::{Contacts, Hybrid};
use dalembert::scene::Scene;
use dalembert_analysis::crossing::{Watch, crossings_while};
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::eigen::eigenvalues;
use dalembert_analysis::field::Settings;
use dalembert_analysis::motion::{ExponentOptions, Motion, exponents_while, orbit};
use dalembert_analysis::recorded;
use dalembert_analysis::spectrum::{Window, welch};
use dalembert_analysis::touching;
use pyo3::prelude::*;

/// Points of one turn of a cycle.
const TURN: usize = 200;
/// The longest mean time between two passages of a section in seconds.
const LONGEST_ROUND: f64 = 1e3;

/// A period and what goes with it.
struct Period {
    period: f64,
    settle: f64,
    tolerance: f64,
}

impl Period {
    fn read(c: &Choice<'_, '_>) -> PyResult<Self> {
        let (period, settle) = (c.positive("period", None)?, c.number("settle", Some(0.0))?);
        Ok(Self { period, settle, tolerance: c.positive("tolerance", Some(1e-12))? })
    }

    /// The state after the motion has settled, with the clock set back.
    fn settled(&self, scene: &Scene) -> Result<State<f64>, String> {
        let model = &scene.model;
        let settings = Settings::within(self.tolerance);
        let mut state = model.initial_state();
        let touches = Contacts::contacts(model) > 0;
        if touches {
            state = Hybrid::new(model).state(state);
        }
        let begin = state.t;
        let until = begin + self.settle * self.period;
        if touches {
            let mut none = Matrix::zeros(2 * state.v.len() + state.x.len(), 0);
            let choice = scene.run.contacts.options(scene.run.tolerance);
            touching::flow(model, &mut state, &mut none, until, &choice, settings).map_err(said)?;
        } else {
            let mut motion = Motion::new(model, settings);
            let mut none = Matrix::zeros(motion.variation().size(), 0);
            motion.advance(&mut state, &mut none, until).map_err(said)?;
        }
        state.t = begin;
        Ok(state)
    }
}

/// Multipliers of the motion over one period.
pub fn floquet(c: &Choice<'_, '_>) -> PyResult<Work> {
    c.only(&["period", "settle", "tolerance"])?;
    let own = Period::read(c)?;
    Ok(Box::new(move |job| {
        let scene = job.scene();
        let (model, settings) = (&scene.model, Settings::within(own.tolerance));
        let state = own.settled(scene)?;
        let (map, end) = if Contacts::contacts(model) > 0 {
            let choice = scene.run.contacts.options(scene.run.tolerance);
            touching::monodromy(model, &state, own.period, &choice, settings).map_err(said)?
        } else {
            Motion::new(model, settings).monodromy(&state, own.period).map_err(said)?
        };
        let difference = Motion::new(model, settings).difference(&state, &end).map_err(said)?;
        let apart = difference.iter().fold(0.0f64, |max, d| max.max(d.abs()));
        let mut items = state_items(&state);
        items.extend([
            ("period", Item::Number(own.period)),
            ("multipliers", Item::Complexes(eigenvalues(&map).map_err(said)?)),
            ("monodromy", Item::Matrix(map)),
            ("residual", Item::Number(apart)),
        ]);
        Ok(items)
    }))
}

/// A periodic motion with a period, or a gait from strike to strike.
pub fn limit_cycle(c: &Choice<'_, '_>) -> PyResult<Work> {
    if !c.has("period")? {
        if !c.has("strike")? {
            return Err(error::value("this study needs the option `period`, or `strike` for a gait"));
        }
        return walk::limit_cycle(c);
    }
    c.only(&["period", "settle", "tolerance"])?;
    let own = Period::read(c)?;
    Ok(Box::new(move |job| {
        let scene = job.scene();
        let (model, settings, near) = (&scene.model, Settings::within(own.tolerance), 1e3 * own.tolerance);
        let state = own.settled(scene)?;
        let touches = Contacts::contacts(model) > 0;
        let found = if touches {
            let choice = scene.run.contacts.options(scene.run.tolerance);
            touching::orbit(model, &state, own.period, near, &choice, settings).map_err(said)?
        } else {
            orbit(model, &state, own.period, near, settings).map_err(said)?
        };
        let mut items = state_items(&found.state);
        items.extend([
            ("period", Item::Number(found.period)),
            ("multipliers", Item::Complexes(found.multipliers)),
            ("residual", Item::Number(found.residual)),
            ("iterations", Item::Count(found.iterations)),
        ]);
        let start = if touches { found.state } else { Hybrid::new(model).state(found.state) };
        items.extend(turn(scene, &start, found.period, own.tolerance)?);
        Ok(items)
    }))
}

/// One turn of a cycle: times, positions and velocities.
pub fn turn(scene: &Scene, start: &State<f64>, period: f64, tolerance: f64) -> Result<Items, String> {
    let (model, settings) = (&scene.model, Settings::within(tolerance));
    let choice = scene.run.contacts.options(tolerance);
    let all = touching::samples(model, start, period / TURN as f64, TURN, &choice, settings).map_err(said)?;
    let motion = Motion::new(model, settings);
    let n = start.v.len();
    let (mut times, mut places, mut speeds) = (Vec::new(), Vec::new(), Vec::new());
    for s in std::iter::once(start).chain(&all) {
        let mut place = motion.difference(start, s).map_err(said)?;
        place.truncate(n);
        if s.q.len() == n {
            place.iter_mut().zip(&start.q).for_each(|(x, q)| *x += q);
        }
        times.push(s.t - start.t);
        places.push(place);
        speeds.push(s.v.clone());
    }
    Ok(vec![("time", Item::Numbers(times)), ("positions", matrix(&places, n)), ("velocities", matrix(&speeds, n))])
}

/// The Lyapunov spectrum.
pub fn lyapunov(c: &Choice<'_, '_>) -> PyResult<Work> {
    c.only(&["interval", "transient", "batch", "batches", "motions", "tolerance"])?;
    let choice = ExponentOptions {
        interval: c.positive("interval", Some(1.0))?,
        transient: c.number("transient", Some(100.0))?,
        batch: c.positive("batch", Some(100.0))?,
        batches: c.count("batches", 20)?,
    };
    let tolerance = c.positive("tolerance", Some(1e-9))?;
    let motions = c.count("motions", 1)?;
    let motions = if motions > 1 { motions.next_multiple_of(4) } else { 1 };
    Ok(Box::new(move |job| {
        let scene = job.scene();
        let (model, settings) = (&scene.model, Settings::within(tolerance));
        let state = model.initial_state();
        job.follow.begin(choice.batches * motions);
        let mut keep_on = |done: usize| {
            job.follow.reached(done);
            !job.follow.ending()
        };
        let found = if motions > 1 && Contacts::contacts(model) > 0 {
            return Err("several motions side by side need a scene without contacts; follow one motion of it".into());
        } else if motions > 1 {
            recorded::exponents_while(model, &state, motions, &choice, settings, &keep_on)
        } else if Contacts::contacts(model) > 0 {
            let (state, contacts) = (Hybrid::new(model).state(state), scene.run.contacts.options(tolerance));
            touching::exponents_while(model, &state, &choice, &contacts, settings, &mut keep_on)
        } else {
            exponents_while(model, &state, &choice, settings, &mut keep_on)
        };
        let found = found.map_err(said)?;
        let columns = found.exponents.len();
        Ok(vec![
            ("exponents", Item::Numbers(found.exponents)),
            ("errors", Item::Numbers(found.errors)),
            ("dimension", Item::Number(found.dimension)),
            ("dimension_error", Item::Number(found.dimension_error)),
            ("history", matrix(&found.history, columns)),
        ])
    }))
}

/// The instants of a motion that are kept.
enum Instants {
    /// One each so many seconds, which may be a formula of a value of the scene.
    Every(String),
    /// Where a coordinate passes a value from below.
    Position(String, f64),
    /// Where a velocity does.
    Rate(String, f64),
}

/// Points of a motion: position and velocity of one coordinate, once a period or on a section.
pub struct Points {
    pub coordinate: String,
    instants: Instants,
    pub settle: usize,
    pub points: usize,
    look: f64,
    tolerance: f64,
}

/// Times, positions (from that of the start) and velocities.
pub type Found = [Vec<f64>; 3];

impl Points {
    /// The options.
    pub const OPTIONS: [&'static str; 8] =
        ["coordinate", "period", "section", "section_rate", "look", "settle", "points", "tolerance"];

    /// Reads them.
    pub fn read(c: &Choice<'_, '_>) -> PyResult<Self> {
        let mut by_place = c.pairs::<f64>("section")?;
        let mut by_rate = c.pairs::<f64>("section_rate")?;
        let instants = match (c.formula("period")?, by_place.len(), by_rate.len()) {
            (Some(text), 0, 0) => Instants::Every(text),
            (None, 1, 0) => {
                by_place.pop().map(|(name, value)| Instants::Position(name, value)).ok_or_else(needs_section)?
            }
            (None, 0, 1) => by_rate.pop().map(|(name, value)| Instants::Rate(name, value)).ok_or_else(needs_section)?,
            _ => return Err(needs_section()),
        };
        if matches!(&instants, Instants::Every(text) if text.parse().is_ok_and(|p: f64| !(p > 0.0 && p.is_finite()))) {
            return Err(error::value("option `period` must be positive and finite"));
        }
        Ok(Self {
            coordinate: c.text("coordinate")?,
            instants,
            settle: c.count("settle", 100)?,
            points: c.count("points", 100)?,
            look: c.positive("look", Some(0.02))?,
            tolerance: c.positive("tolerance", Some(1e-9))?,
        })
    }

    /// The states wanted, through events if there are contacts, as long as `keep_on` says so. The period may depend on a value of the scene.
    fn states(
        &self,
        scene: &Scene,
        value: Option<(&str, f64)>,
        keep_on: &mut dyn FnMut() -> bool,
    ) -> Result<Vec<State<f64>>, String> {
        let (model, settings) = (&scene.model, Settings::within(self.tolerance));
        let start = model.initial_state();
        let touches = Contacts::contacts(model) > 0;
        let contacts = scene.run.contacts.options(self.tolerance);
        let rounds = self.settle + self.points;
        let (guard, level, by_rate) = match &self.instants {
            Instants::Every(text) => {
                let (parameter, value) = value.unwrap_or(("t", f64::NAN));
                let every = period(&formula(text, parameter)?, text, value)?;
                if touches {
                    let begin = Hybrid::new(model).state(start);
                    let all = touching::samples_while(model, &begin, every, rounds, &contacts, settings, keep_on);
                    return Ok(all.map_err(said)?.into_iter().skip(self.settle).collect());
                }
                let mut motion = Motion::new(model, settings);
                let mut none = Matrix::zeros(motion.variation().size(), 0);
                let (mut state, mut out) = (start.clone(), Vec::with_capacity(self.points));
                for round in 1..=rounds {
                    if !keep_on() {
                        break;
                    }
                    motion.advance(&mut state, &mut none, start.t + round as f64 * every).map_err(said)?;
                    if round > self.settle {
                        out.push(state.clone());
                    }
                }
                return Ok(out);
            }
            Instants::Position(name, level) => {
                if start.q.len() != start.v.len() {
                    return Err(
                        "a section of a coordinate needs coordinates that are angles and lengths (trees of hinges and \
                                sliders, particles); take `section_rate`"
                            .to_owned(),
                    );
                }
                (velocity(model, name)?, *level, false)
            }
            Instants::Rate(name, level) => (velocity(model, name)?, *level, true),
        };
        let function = |s: &State<f64>| if by_rate { s.v[guard] - level } else { s.q[guard] - level };
        let longest = LONGEST_ROUND * rounds as f64;
        let watch = Watch { interval: self.look, skipped: self.settle, kept: self.points, longest };
        let found = if touches {
            let begin = Hybrid::new(model).state(start);
            touching::crossings(model, &begin, function, &watch, &contacts, settings, keep_on)
        } else {
            crossings_while(model, &start, function, &watch, settings, keep_on)
        };
        found.map_err(said)
    }

    /// The points; fewer of them if the study is to end.
    pub fn run(
        &self,
        scene: &Scene,
        value: Option<(&str, f64)>,
        keep_on: &mut dyn FnMut() -> bool,
    ) -> Result<Found, String> {
        let index = velocity(&scene.model, &self.coordinate)?;
        let states = self.states(scene, value, keep_on)?;
        let (motion, start) = (Motion::new(&scene.model, Settings::default()), scene.model.initial_state());
        let mut out: Found = Default::default();
        for s in &states {
            out[0].push(s.t);
            out[1].push(motion.difference(&start, s).map_err(said)?[index]);
            out[2].push(s.v[index]);
        }
        Ok(out)
    }

    /// The same as results.
    fn items(&self, job: &Job<'_>) -> Result<Items, String> {
        let [times, places, speeds] = self.run(job.scene(), None, &mut self.counted(job))?;
        Ok(vec![
            ("time", Item::Numbers(times)),
            ("position", Item::Numbers(places)),
            ("velocity", Item::Numbers(speeds)),
        ])
    }

    /// Counts periods where there are some, and says whether to go on.
    fn counted<'j>(&self, job: &'j Job<'_>) -> impl FnMut() -> bool + 'j {
        let regular = matches!(self.instants, Instants::Every(_)) && Contacts::contacts(&job.scene().model) == 0;
        if regular {
            job.follow.begin(self.settle + self.points);
        }
        move || {
            if regular {
                job.follow.step();
            }
            !job.follow.ending()
        }
    }
}

/// A section: one point each period, or where a coordinate or a velocity passes a value from below.
pub fn poincare(c: &Choice<'_, '_>) -> PyResult<Work> {
    c.only(&Points::OPTIONS)?;
    let points = Points::read(c)?;
    Ok(Box::new(move |job| points.items(job)))
}

fn needs_section() -> PyErr {
    error::value(
        "this study needs the option `period`, or one of `section={name: value}` and `section_rate={name: value}`",
    )
}

/// Velocity over position, one point each period.
pub fn portrait(c: &Choice<'_, '_>) -> PyResult<Work> {
    c.only(&["coordinate", "period", "settle", "points", "tolerance"])?;
    c.positive("period", None)?;
    poincare(c)
}

/// The spectral density of a velocity, or of a position.
pub fn spectrum(c: &Choice<'_, '_>) -> PyResult<Work> {
    c.only(&["coordinate", "positions", "interval", "samples", "segment", "window", "settle", "tolerance"])?;
    let (interval, settle) = (c.positive("interval", None)?, c.number("settle", Some(0.0))?);
    let window: Option<String> = c.find("window")?;
    let window = match window.as_deref() {
        None | Some("hann") => Window::Hann,
        Some("rectangular") => Window::Rectangular,
        Some("hamming") => Window::Hamming,
        Some("blackman") => Window::Blackman,
        Some("flat-top") => Window::FlatTop,
        Some(other) => {
            let known = "rectangular, hann, hamming, blackman and flat-top";
            return Err(error::value(format!("there is no window `{other}`; there are {known}")));
        }
    };
    let wanted = Points {
        coordinate: c.text("coordinate")?,
        instants: Instants::Every(format!("{interval:?}")),
        look: f64::INFINITY,
        settle: (settle / interval).ceil() as usize,
        points: c.count("samples", 16384)?,
        tolerance: c.positive("tolerance", Some(1e-9))?,
    };
    let (segment, positions) = (c.count("segment", 2048)?, c.flag("positions")?);
    Ok(Box::new(move |job| {
        let [_, places, speeds] = wanted.run(job.scene(), None, &mut wanted.counted(job))?;
        let samples = if positions { places } else { speeds };
        let found = welch(&samples, interval, segment, window).map_err(said)?;
        Ok(vec![
            ("frequency", Item::Numbers(found.frequencies)),
            ("density", Item::Numbers(found.density)),
            ("segments", Item::Count(found.segments)),
        ])
    }))
}
