//! Vibrations in pictures: a shape with its phases as an animation for the viewer, and as a still of its extremes.

use super::failed;
use crate::exit::Exit;
use dalembert::model::Model;
use dalembert::picture::{Anchor, Animation, Film, Form, PATTERNS, Pose};
use dalembert::report::shapes::{Shapes, Snapshot, View};
use dalembert::run::Channels;
use dalembert_analysis::field::Settings;
use dalembert_analysis::motion::Motion;
use dalembert_methods::lie::Quat;
use dalembert_methods::nonsmooth::Hybrid;
use dalembert_methods::system::State;
use dalembert_methods::vector::Vec3;
use std::collections::HashMap;
use std::f64::consts::TAU;

/// Frames of a period.
const FRAMES: usize = 48;
/// The largest way of a body compared with the size of all, and its largest turn in rad.
const WAY: f64 = 0.12;
const TURN: f64 = 0.35;
/// A change so small that the way of bodies goes with it.
const SMALL: f64 = 1e-4;
/// How often a change is halved that constraints do not allow.
const HALVINGS: usize = 8;
/// Seconds of display of a period.
const SHOWN: f64 = 2.0;
/// The extent across a plane, compared with that along it, below which a motion is plane.
const FLAT: f64 = 0.04;

/// A vibration about a state: changes Re((a + ib) e^{iφ}) of all velocities' coordinates.
pub struct Vibration {
    /// What to call it.
    pub title: String,
    /// a.
    pub real: Vec<f64>,
    /// b.
    pub imaginary: Vec<f64>,
    /// The time of φ = 2π in seconds.
    pub period: f64,
}

/// Computes rows of a film at states of a model.
struct Camera<'m> {
    hybrid: Hybrid<'m, Model>,
    motion: Motion<'m, Model>,
    channels: Channels<'m>,
    row: Vec<f64>,
}

impl<'m> Camera<'m> {
    fn new(model: &'m Model) -> Self {
        let channels = Channels::new(model, &PATTERNS.map(str::to_owned));
        let row = vec![0.0; channels.channels().len()];
        Self { hybrid: Hybrid::new(model), motion: Motion::new(model, Settings::default()), channels, row }
    }

    /// The row of a state that is off by a change of its coordinates.
    fn take(&mut self, at: &State<f64>, change: &[f64]) -> Result<&[f64], Exit> {
        let mut s = at.clone();
        let whole: Vec<f64> = change.iter().copied().chain(vec![0.0; s.v.len() + s.x.len()]).collect();
        self.motion.shift(&mut s, &whole).map_err(failed)?;
        let s = self.hybrid.state(s);
        self.channels.sample(&self.hybrid, &s, &mut self.row).map_err(failed)?;
        Ok(&self.row)
    }
}

/// The animation of one period of a vibration about a state.
pub fn film(model: &Model, at: &State<f64>, vibration: &Vibration) -> Result<Animation, Exit> {
    let mut still = at.clone();
    still.v.fill(0.0);
    let mut camera = Camera::new(model);
    let nothing = || failed("nothing moves: there is no mode to show");
    let largest = vibration.real.iter().chain(&vibration.imaginary).fold(0.0f64, |max, x| max.max(x.abs()));
    if largest == 0.0 {
        return Err(nothing());
    }
    let mut amplitude = amplitude(&mut camera, model, &still, vibration, largest)?;
    let mut halvings = 0;
    let film = loop {
        match shoot(&mut camera, &still, vibration, amplitude) {
            Ok(film) => break film,
            Err(error) if halvings == HALVINGS => return Err(error),
            Err(_) => {
                halvings += 1;
                amplitude *= 0.5;
            }
        }
    };
    let mut animation = Animation::new(model, &vibration.title, &film, &[]).ok_or_else(nothing)?;
    animation.pace = vibration.period / SHOWN;
    Ok(animation)
}

/// A motion given by its states (made by [`Hybrid::state`]) as an animation that takes some seconds of display; nothing if nothing of it can be seen.
pub fn moving(model: &Model, title: &str, states: &[State<f64>]) -> Result<Option<Animation>, Exit> {
    let mut camera = Camera::new(model);
    let mut film = Film::new(camera.channels.channels());
    for s in states {
        camera.channels.sample(&camera.hybrid, s, &mut camera.row).map_err(failed)?;
        film.push(camera.row.iter().copied());
    }
    let (Some(first), Some(last)) = (states.first(), states.last()) else { return Ok(None) };
    let mut animation = Animation::new(model, title, &film, &[]);
    if let Some(animation) = &mut animation {
        animation.pace = (last.t - first.t) / (2.0 * SHOWN);
    }
    Ok(animation)
}

/// The frames of a period, the last like the first.
fn shoot(camera: &mut Camera<'_>, at: &State<f64>, vibration: &Vibration, amplitude: f64) -> Result<Film, Exit> {
    let mut film = Film::new(camera.channels.channels());
    for frame in 0..=FRAMES {
        let phase = TAU * frame as f64 / FRAMES as f64;
        let mut row = camera.take(at, &vibration.at(phase, amplitude))?.to_vec();
        row[0] = vibration.period * frame as f64 / FRAMES as f64;
        film.push(row.into_iter());
    }
    Ok(film)
}

/// The amplitude that shows a vibration well.
fn amplitude(
    camera: &mut Camera<'_>,
    model: &Model,
    at: &State<f64>,
    vibration: &Vibration,
    largest: f64,
) -> Result<f64, Exit> {
    let mut film = Film::new(camera.channels.channels());
    let rest = camera.take(at, &vec![0.0; at.v.len()])?.to_vec();
    film.push(rest.iter().copied());
    let size = Animation::new(model, "", &film, &[])
        .map_or(1.0, |animation| (Vec3(animation.high) - Vec3(animation.low)).norm())
        .max(f64::MIN_POSITIVE);
    let names: Vec<String> = camera.channels.channels().iter().map(|c| c.name.clone()).collect();
    let places: HashMap<&str, usize> = names.iter().enumerate().map(|(i, name)| (name.as_str(), i)).collect();
    let (mut way, mut turn) = (0.0f64, 0.0f64);
    for phase in [0.0, 0.25, 0.5, 0.75].map(|part| part * TAU) {
        let row = camera.take(at, &vibration.at(phase, SMALL / largest))?;
        for (name, &i) in &places {
            let columns = |stem: &str, parts: &[&str]| -> Option<Vec<usize>> {
                parts.iter().map(|part| places.get(format!("{stem}.{part}").as_str()).copied()).collect()
            };
            if let Some(stem) = name.strip_suffix(".x").filter(|stem| stem.ends_with(".position")) {
                let own = columns(stem, &["x", "y", "z"]).unwrap_or_else(|| vec![i]);
                way = way.max(own.iter().map(|&c| (row[c] - rest[c]).powi(2)).sum::<f64>().sqrt());
            }
            if let Some(stem) = name.strip_suffix(".w").filter(|stem| stem.ends_with(".orientation")) {
                let own = columns(stem, &["w", "x", "y", "z"]).unwrap_or_default();
                // |q − q₀| is half the angle, whichever sign q has.
                let off = |sign: f64| own.iter().map(|&c| (sign * row[c] - rest[c]).powi(2)).sum::<f64>().sqrt();
                turn = turn.max(2.0 * off(1.0).min(off(-1.0)));
            }
        }
    }
    let most = |limit: f64, met: f64| if met > 0.0 { limit * SMALL / met } else { f64::INFINITY };
    let times = most(WAY * size, way).min(most(TURN, turn));
    Ok(if times.is_finite() { times / largest } else { SMALL / largest })
}

impl Vibration {
    /// The change of all coordinates at a phase.
    fn at(&self, phase: f64, amplitude: f64) -> Vec<f64> {
        let (s, c) = phase.sin_cos();
        self.real.iter().zip(&self.imaginary).map(|(a, b)| amplitude * (a * c - b * s)).collect()
    }
}

/// A still picture of an animation of one period: at rest in the middle, and a quarter of a period apart.
pub fn still(animation: &Animation, name: &str) -> Result<Shapes, Exit> {
    stills(animation, name, &[0.0, 0.25, 0.5], &|part, _| format!("phase {}°", 360.0 * part))
}

/// A picture of an animation at some parts of its time, with what is written there.
pub fn stills(
    animation: &Animation,
    name: &str,
    parts: &[f64],
    label: &dyn Fn(f64, f64) -> String,
) -> Result<Shapes, Exit> {
    let track = animation.track().map_err(failed)?;
    let extent: Vec<f64> = (0..3).map(|k| animation.high[k] - animation.low[k]).collect();
    let least = (0..3).min_by(|&i, &j| extent[i].total_cmp(&extent[j])).unwrap_or(1);
    let flat = extent[least] <= FLAT * extent.iter().fold(0.0, |max: f64, &e| max.max(e));
    let view = match least {
        0 if flat => View::plane("yz", 1, 2),
        1 if flat => View::plane("xz", 0, 2),
        2 if flat => View::plane("xy", 0, 1),
        _ => View::oblique(),
    };
    let frames = track.poses.len().max(1) - 1;
    let snapshot = |&part: &f64| {
        let k = (frames as f64 * part).round() as usize;
        let time = animation.times[k];
        let mut shot = Snapshot { time, label: label(part, time), ..Snapshot::default() };
        draw(animation, &track.poses[k], &mut shot);
        shot
    };
    Ok(Shapes {
        name: name.to_owned(),
        title: animation.title.clone(),
        view,
        snapshots: parts.iter().map(snapshot).collect(),
        traces: Vec::new(),
        remarks: Vec::new(),
    })
}

/// All solids and lines of an instant as lines and balls.
fn draw(animation: &Animation, poses: &[Pose], shot: &mut Snapshot) {
    let point = |node: i64, at: [f64; 3]| match usize::try_from(node) {
        Ok(node) => poses[node].point(at),
        Err(_) => at,
    };
    for solid in &animation.solids {
        let turn = Quat(solid.turn);
        let place = |at: [f64; 3]| point(solid.node, (Vec3(solid.at) + turn.rotate(Vec3(at))).0);
        match solid.form {
            Form::Ball(radius) => shot.balls.push((place([0.0; 3]), radius)),
            Form::Ellipsoid([a, b, c]) => shot.balls.push((place([0.0; 3]), (a * b * c).cbrt())),
            Form::Cylinder(_, length) => {
                shot.lines.push([-0.5, 0.5].map(|part| place([0.0, 0.0, part * length])).to_vec());
            }
            Form::Block(edges) => {
                let corner = |k: usize| {
                    std::array::from_fn(|axis| if k >> axis & 1 == 1 { 0.5 * edges[axis] } else { -0.5 * edges[axis] })
                };
                for (k, axis) in (0..8).flat_map(|k| (0..3).map(move |axis| (k, axis))) {
                    if k >> axis & 1 == 0 {
                        shot.lines.push(vec![place(corner(k)), place(corner(k | 1 << axis))]);
                    }
                }
            }
            Form::Mesh(_) => shot.balls.push((place([0.0; 3]), 0.0)),
        }
    }
    let anchor = |&(node, x, y, z): &Anchor| point(node, [x, y, z]);
    shot.lines.extend(animation.lines.iter().map(|line| line.ends.iter().map(anchor).collect()));
}
