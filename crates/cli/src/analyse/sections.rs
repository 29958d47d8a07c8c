//! Points of a motion: portraits, Poincaré sections, bifurcation diagrams, spectral densities.

use super::page::{Chart, Page, Style};
use super::{Ear, empty, failed, formula, many, short, velocity, with};
use crate::args::{ModelOptions, SectionOptions};
use crate::exit::Exit;
use crate::robot;
use dalembert::scene::Scene;
use dalembert_analysis::crossing::{Watch, crossings_while};
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::error::Tally;
use dalembert_analysis::field::Settings;
use dalembert_analysis::motion::Motion;
use dalembert_analysis::spectrum::{Window, welch};
use dalembert_analysis::touching;
use dalembert_methods::nonsmooth::{Contacts, Hybrid};
use dalembert_methods::system::{State, System};
use std::path::Path;

/// The longest mean time between two passages of a section in seconds.
const LONGEST_ROUND: f64 = 1e3;

/// The instants of a motion that are kept.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Instants {
    /// One each so many seconds.
    Every(f64),
    /// Where a coordinate passes a value from below.
    Position(usize, f64),
    /// Where a velocity does.
    Rate(usize, f64),
}

/// Which points of a motion are wanted: the instants, how many are passed over first, and how many are kept.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Wanted {
    pub instants: Instants,
    pub settle: usize,
    pub points: usize,
    /// The time between two looks at a section in seconds.
    pub look: f64,
}

impl Wanted {
    /// What options ask for. The period may be a formula of a value of the scene.
    fn of(scene: &Scene, options: &SectionOptions, value: Option<(&str, f64)>) -> Result<Self, Exit> {
        let SectionOptions { settle, points, look, .. } = *options;
        let instants = match (&options.period, &options.section, &options.section_rate) {
            (Some(text), ..) => {
                let (parameter, value) = value.unwrap_or(("t", f64::NAN));
                let period = formula(text, parameter)?.value(&[value]).ok().filter(|p| p.is_finite() && *p > 0.0);
                Instants::Every(period.ok_or_else(|| Exit::Usage(format!("`{text}` is no period in seconds")))?)
            }
            (None, Some(text), _) => {
                let (index, value) = surface(scene, text)?;
                let shape = scene.model.shape();
                if shape.q != shape.v {
                    let reason = "a section of a coordinate needs coordinates that are angles and lengths (trees of hinges and sliders, \
                                  particles); take `--section-rate`";
                    return Err(Exit::Usage(reason.to_owned()));
                }
                Instants::Position(index, value)
            }
            (None, None, Some(text)) => {
                let (index, value) = surface(scene, text)?;
                Instants::Rate(index, value)
            }
            (None, None, None) => {
                return Err(Exit::Usage("points need `--period`, `--section` or `--section-rate`".to_owned()));
            }
        };
        Ok(Self { instants, settle, points, look })
    }
}

/// A coordinate and a value, from NAME=VALUE.
fn surface(scene: &Scene, text: &str) -> Result<(usize, f64), Exit> {
    let found = text.rsplit_once('=').and_then(|(name, value)| Some((name, value.parse::<f64>().ok()?)));
    let (name, value) = found.ok_or_else(|| Exit::Usage(format!("`{text}`: expected NAME=VALUE")))?;
    Ok((velocity(&scene.model, name)?, value))
}

/// The states of a motion at the instants wanted, through events if there are contacts, as long as `keep_on` says so.
pub fn states(
    scene: &Scene,
    wanted: &Wanted,
    tolerance: f64,
    keep_on: &mut dyn FnMut() -> bool,
) -> Result<Vec<State<f64>>, Exit> {
    let (model, settings) = (&scene.model, Settings::within(tolerance));
    let start = model.initial_state();
    let touches = Contacts::contacts(model) > 0;
    let contacts = scene.run.contacts.options(tolerance);
    let function = |s: &State<f64>| match wanted.instants {
        Instants::Position(i, value) => s.q[i] - value,
        Instants::Rate(i, value) => s.v[i] - value,
        Instants::Every(_) => f64::NAN,
    };
    if let Instants::Every(period) = wanted.instants {
        let rounds = wanted.settle + wanted.points;
        if touches {
            let begin = Hybrid::new(model).state(start);
            let all = touching::samples_while(model, &begin, period, rounds, &contacts, settings, keep_on);
            return Ok(all.map_err(failed)?.into_iter().skip(wanted.settle).collect());
        }
        let mut motion = Motion::new(model, settings);
        let mut none = Matrix::zeros(motion.variation().size(), 0);
        let (mut state, mut out) = (start.clone(), Vec::new());
        for round in 1..=rounds {
            if !keep_on() {
                break;
            }
            motion.advance(&mut state, &mut none, start.t + round as f64 * period).map_err(failed)?;
            if round > wanted.settle {
                out.push(state.clone());
            }
        }
        return Ok(out);
    }
    let longest = LONGEST_ROUND * (wanted.settle + wanted.points) as f64;
    let watch = Watch { interval: wanted.look, skipped: wanted.settle, kept: wanted.points, longest };
    if touches {
        let begin = Hybrid::new(model).state(start);
        return touching::crossings(model, &begin, function, &watch, &contacts, settings, keep_on).map_err(failed);
    }
    crossings_while(model, &start, function, &watch, settings, keep_on).map_err(failed)
}

/// Position, from that of the start, and velocity of a coordinate at some states.
pub fn plane(scene: &Scene, states: &[State<f64>], index: usize) -> Result<Vec<[f64; 2]>, Exit> {
    let motion = Motion::new(&scene.model, Settings::default());
    let start = scene.model.initial_state();
    states.iter().map(|s| Ok([motion.difference(&start, s).map_err(failed)?[index], s.v[index]])).collect()
}

/// A Poincaré section: once a period, or where a coordinate or a velocity passes a value.
pub fn poincare(
    options: &ModelOptions,
    section: &SectionOptions,
    tolerance: f64,
    out: Option<&Path>,
) -> Result<(), Exit> {
    let scene = robot::scene(options)?;
    let wanted = Wanted::of(&scene, section, None)?;
    draw(&scene, options, &section.coordinate, &wanted, tolerance, ("Poincaré section", Style::Dots), out)
}

/// A phase portrait.
pub fn portrait(
    options: &ModelOptions,
    coordinate: &str,
    interval: f64,
    counts: [usize; 2],
    tolerance: f64,
    out: Option<&Path>,
) -> Result<(), Exit> {
    let scene = robot::scene(options)?;
    let wanted =
        Wanted { instants: Instants::Every(interval), settle: counts[0], points: counts[1], look: f64::INFINITY };
    draw(&scene, options, coordinate, &wanted, tolerance, ("Phase portrait", Style::Line), out)
}

/// A plot of velocities over positions, and their table.
fn draw(
    scene: &Scene,
    options: &ModelOptions,
    coordinate: &str,
    wanted: &Wanted,
    tolerance: f64,
    (name, style): (&str, Style),
    out: Option<&Path>,
) -> Result<(), Exit> {
    let (index, ear) = (velocity(&scene.model, coordinate)?, Ear::new());
    let states = states(scene, wanted, tolerance, &mut || ear.more())?;
    let points = plane(scene, &states, index)?;
    let mut page = Page::new(&format!("{name} of {}", options.model));
    let of = |i: usize| scene.model.velocity_name(i);
    let where_ = match wanted.instants {
        Instants::Every(interval) => format!("one each {interval} s"),
        Instants::Position(i, value) => format!("where {} passes {value} from below", of(i)),
        Instants::Rate(i, value) => format!("where rate of {} passes {value} from below", of(i)),
    };
    let last = states.last().map_or(0.0, |s| s.t);
    page.say(&format!(
        "{} points, {where_}, after {} of them, until t = {} s",
        points.len(),
        wanted.settle,
        short(last)
    ));
    if points.len() < wanted.points {
        page.interrupted(&format!("{} of {} points", points.len(), wanted.points));
    }
    let table: String = points.iter().map(|[x, v]| format!("{x:?},{v:?}\n")).collect();
    page.file("section.csv", format!("position,velocity\n{table}").into_bytes());
    let curves = vec![(String::new(), points)];
    let title = format!("Velocity over position, {coordinate}");
    let across = "position, from that of the start".to_owned();
    page.chart("section", &Chart { title, across, log: [false; 2], style, curves });
    page.finish(out)
}

/// The spectral density of a coordinate's velocity, or of its position.
pub fn spectrum(
    options: &ModelOptions,
    (coordinate, positions): (&str, bool),
    interval: f64,
    counts: [usize; 2],
    window: &str,
    settle: f64,
    tolerance: f64,
    out: Option<&Path>,
) -> Result<(), Exit> {
    let weight = match window {
        "rectangular" => Window::Rectangular,
        "hamming" => Window::Hamming,
        "blackman" => Window::Blackman,
        "flat-top" => Window::FlatTop,
        _ => Window::Hann,
    };
    let scene = robot::scene(options)?;
    let index = velocity(&scene.model, coordinate)?;
    let before = (settle / interval).ceil() as usize;
    let wanted = Wanted { instants: Instants::Every(interval), settle: before, points: counts[0], look: f64::INFINITY };
    let states = states(&scene, &wanted, tolerance, &mut || true)?;
    let samples: Vec<f64> =
        plane(&scene, &states, index)?.into_iter().map(|[x, v]| if positions { x } else { v }).collect();
    let found = welch(&samples, interval, counts[1], weight).map_err(failed)?;
    let mut page = Page::new(&format!("Power spectral density of {}", options.model));
    let peak = (1..found.density.len()).max_by(|&i, &j| found.density[i].total_cmp(&found.density[j])).unwrap_or(0);
    page.say(&format!(
        "{} segments of {} samples, window {window}; largest at {} Hz",
        found.segments,
        counts[1],
        short(found.frequencies[peak])
    ));
    let spacing = found.frequencies.get(1).copied().unwrap_or(0.0);
    page.say(&format!("its area, the variance, is {}", short(found.density.iter().skip(1).sum::<f64>() * spacing)));
    let points: Vec<[f64; 2]> = found.frequencies.iter().zip(&found.density).skip(1).map(|(f, d)| [*f, *d]).collect();
    let table: String = points.iter().map(|[f, d]| format!("{f:?},{d:?}\n")).collect();
    page.file("spectrum.csv", format!("frequency,density\n{table}").into_bytes());
    let curves = vec![(String::new(), points)];
    let (title, across) = (
        format!("Spectral density of the {}, {coordinate}", if positions { "position" } else { "velocity" }),
        "frequency in Hz".to_owned(),
    );
    page.chart("spectrum", &Chart { title, across, log: [false, true], style: Style::Line, curves });
    page.finish(out)
}

/// A bifurcation diagram over a value of the scene; scenes run on all cores.
pub fn bifurcation(
    options: &ModelOptions,
    parameter: &str,
    values: &[f64],
    section: &SectionOptions,
    tolerance: f64,
    out: Option<&Path>,
) -> Result<(), Exit> {
    let ear = Ear::new();
    let run = |k: usize| -> Result<Option<Vec<[f64; 2]>>, Exit> {
        let scene = robot::scene(&with(options, &[(parameter, values[k])]))?;
        let index = velocity(&scene.model, &section.coordinate)?;
        let wanted = Wanted::of(&scene, section, Some((parameter, values[k])))?;
        let states = states(&scene, &wanted, tolerance, &mut || ear.more())?;
        // A value that was interrupted is not kept.
        Ok((states.len() == wanted.points).then_some(plane(&scene, &states, index)?))
    };
    let (mut points, mut done, mut tally) = (Vec::new(), 0, Tally::default());
    for (value, line) in values.iter().zip(many(values.len(), &ear, run)) {
        match line.transpose() {
            Ok(None | Some(None)) => {}
            Ok(Some(Some(line))) => {
                points.extend(line.into_iter().map(|[x, v]| [*value, x, v]));
                done += 1;
            }
            Err(exit) => tally.add(exit),
        }
    }
    let mut page = Page::new(&format!("Bifurcation diagram of {} over {parameter}", options.model));
    let what = if section.period.is_some() { "periods" } else { "passages" };
    page.say(&format!("{done} values, {} points each, after {} {what}", section.points, section.settle));
    empty(&tally, "values", done + tally.count(), &mut page)?;
    if done + tally.count() < values.len() {
        page.interrupted(&format!("{done} of {} values", values.len()));
    }
    let table: String = points.iter().map(|[p, x, v]| format!("{p:?},{x:?},{v:?}\n")).collect();
    page.file("diagram.csv", format!("{parameter},position,velocity\n{table}").into_bytes());
    // On a section of the coordinate itself only its velocity changes.
    let flat = section.section.is_some() && points.iter().all(|point| (point[1] - points[0][1]).abs() < 1e-6);
    let (shown, name) = if flat { (2, "Velocity") } else { (1, "Position") };
    let curves = vec![(String::new(), points.iter().map(|point| [point[0], point[shown]]).collect())];
    let when = if section.period.is_some() { "once a period" } else { "on the section" };
    let (title, across) = (format!("{name} {when}, {}", section.coordinate), parameter.to_owned());
    page.chart("diagram", &Chart { title, across, log: [false; 2], style: Style::Dots, curves });
    page.finish(out)
}
