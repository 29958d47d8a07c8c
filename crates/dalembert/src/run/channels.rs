//! Channels: what a run records of every state.
//!
//! Names are paths in the scene's words: `body.upper.position.x`, `joint.hinge.angle`, `energy.total`. A choice of channels
//! is a list of patterns in which `*` stands for any text.

use super::driver::RunError;
use crate::bodies::Bodies;
use crate::constraints::{Constraints, MOST_ROWS, Scratch};
use crate::contacts::{CONTACT_ROWS, Surfaces};
use crate::equations::{Ledger, Momentum, Work};
use crate::forces::Forces;
use crate::model::{Instant, Marker, Model, Place, Site, Wrench};
use crate::scene::nearest;
use dalembert_methods::dynamics::{Dynamics, Rates};
use dalembert_methods::integrate::IntegrateError;
use dalembert_methods::lie::Quat;
use dalembert_methods::nonsmooth::{Contacts, Hybrid, Mode};
use dalembert_methods::trajectory::Channel;
use dalembert_methods::vector::Vec3;
use dalembert_methods::{Scalar, State, System};

const AXES: [&str; 3] = ["x", "y", "z"];

/// Computes the channels of a state.
pub struct Channels<'m> {
    sources: Vec<Source>,
    channels: Vec<Channel>,
    /// Which of all values are kept.
    kept: Vec<usize>,
    values: Vec<f64>,
    work: Work<f64>,
    scratch: Scratch<f64>,
    /// What depends on the modes of contacts.
    solver: Option<Solver<'m>>,
    /// The multipliers of the model's own rows, and the forces of contacts.
    multipliers: Vec<f64>,
    forces: Vec<f64>,
    needs_multipliers: bool,
}

/// Multipliers in given modes of contacts.
struct Solver<'m> {
    modes: Vec<Mode>,
    dynamics: Dynamics<Hybrid<'m, Model>>,
    work: <Hybrid<'m, Model> as System>::Work<f64>,
    rates: Rates,
}

impl<'m> Solver<'m> {
    fn new(y: &Hybrid<'m, Model>) -> Self {
        Self { modes: y.modes().to_vec(), dynamics: Dynamics::new(y), work: y.work(), rates: Rates::zeros(y.shape()) }
    }
}

/// Where a group of channels comes from.
#[derive(Copy, Clone, Debug)]
enum Source {
    Time,
    /// A part of a body.
    Body(usize, usize),
    /// The deformation gradient of a body.
    Gradient(usize),
    Marker(usize),
    Coordinates(usize),
    Reaction(usize),
    Multipliers(usize),
    Applied(usize),
    Outputs(usize),
    Contact(usize),
    Energy,
    Momentum,
    Residuals,
}

impl<'m> Channels<'m> {
    /// The channels of a model whose names match one of the patterns (all if there are none).
    pub fn new(model: &Model, patterns: &[String]) -> Self {
        let mut all = Vec::new();
        let mut sources = Vec::new();
        let mut kept = Vec::new();
        let mut next = 0;
        let mut needs_multipliers = false;
        for source in every(model) {
            let group = describe(model, source);
            let first = kept.len();
            for (i, channel) in group.iter().enumerate() {
                let wanted = matches!(source, Source::Time)
                    || patterns.is_empty()
                    || patterns.iter().any(|p| matches(p, &channel.name));
                if wanted {
                    kept.push(next + i);
                    all.push(channel.clone());
                }
            }
            if kept.len() > first {
                sources.push(source);
                next += group.len();
                needs_multipliers |=
                    matches!(source, Source::Contact(_) | Source::Reaction(_) | Source::Multipliers(_));
            }
        }
        Self {
            sources,
            channels: all,
            kept,
            values: vec![0.0; next],
            work: model.work(),
            scratch: Scratch::default(),
            solver: None,
            multipliers: vec![0.0; model.shape().rows()],
            forces: vec![0.0; model.layout.contact_rows()],
            needs_multipliers,
        }
    }

    /// Names, units and frames.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// The values of a state, in the order of the channels.
    pub fn sample(&mut self, y: &Hybrid<'m, Model>, s: &State<f64>, row: &mut [f64]) -> Result<(), IntegrateError> {
        if self.needs_multipliers {
            if self.solver.as_ref().is_none_or(|solver| solver.modes != y.modes()) {
                self.solver = Some(Solver::new(y));
            }
            if let Some(Solver { dynamics, work, rates, .. }) = &mut self.solver {
                dynamics.evaluate(y, s, rates)?;
                y.own_multipliers(&rates.multipliers, &mut self.multipliers);
                y.prepare(s, work);
                y.forces(&rates.multipliers, work, &mut self.forces);
            }
        }
        self.write(y, s, row);
        Ok(())
    }

    /// The same with given multipliers of the model's rows and forces by rows of contacts.
    pub fn sample_given(
        &mut self,
        y: &Hybrid<'m, Model>,
        s: &State<f64>,
        multipliers: &[f64],
        forces: &[f64],
        row: &mut [f64],
    ) {
        self.multipliers.copy_from_slice(multipliers);
        self.forces.copy_from_slice(forces);
        self.write(y, s, row);
    }

    fn write(&mut self, y: &Hybrid<'m, Model>, s: &State<f64>, row: &mut [f64]) {
        let model = y.model();
        model.prepare(s, &mut self.work);
        let mut rest = self.values.as_mut_slice();
        for &source in &self.sources {
            let n = width(model, source);
            let (out, after) = rest.split_at_mut(n);
            match source {
                Source::Contact(i) => fill_contact(y, i, s, &mut self.work, &mut self.scratch, &self.forces, out),
                _ => fill(model, s, source, &mut self.work, &mut self.scratch, &self.multipliers, out),
            }
            rest = after;
        }
        for (out, &i) in row.iter_mut().zip(&self.kept) {
            *out = self.values[i];
        }
    }
}

/// Whether every pattern matches some channel of the model.
pub(super) fn check_patterns(model: &Model, patterns: &[String]) -> Result<(), RunError> {
    let names: Vec<String> =
        every(model).into_iter().flat_map(|source| describe(model, source)).map(|channel| channel.name).collect();
    match patterns.iter().position(|pattern| !names.iter().any(|name| matches(pattern, name))) {
        None => Ok(()),
        Some(index) => {
            let pattern = patterns[index].clone();
            let near = nearest(&pattern, names.iter().map(String::as_str)).map(str::to_owned);
            Err(RunError::UnmatchedPattern { index, pattern, near })
        }
    }
}

/// Whether a name matches a pattern in which `*` stands for any text.
pub fn matches(pattern: &str, name: &str) -> bool {
    let mut parts = pattern.split('*');
    let Some(mut rest) = parts.next().and_then(|first| name.strip_prefix(first)) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

fn every(model: &Model) -> Vec<Source> {
    let moving = (0..model.bodies.len()).filter(|&i| !model.layout.v[i].is_empty());
    let constraints = 0..model.constraints.len();
    let with_coordinates = constraints.clone().filter(|&i| !model.constraints[i].item.coordinates().is_empty());
    std::iter::once(Source::Time)
        .chain(moving.flat_map(|i| (0..model.bodies[i].item.parts()).map(move |part| Source::Body(i, part))))
        .chain((0..model.bodies.len()).filter(|&i| deforms(model, i)).map(Source::Gradient))
        .chain((0..model.markers.len()).filter(|&i| is_free(model, i)).map(Source::Marker))
        .chain(with_coordinates.map(Source::Coordinates))
        .chain(constraints.map(|i| {
            let named = !model.constraints[i].item.multipliers().is_empty();
            if named { Source::Multipliers(i) } else { Source::Reaction(i) }
        }))
        .chain((0..model.forces.len()).filter(|&i| model.forces[i].markers.len() <= 2).map(Source::Applied))
        .chain((0..model.forces.len()).filter(|&i| !model.forces[i].item.outputs().is_empty()).map(Source::Outputs))
        .chain((0..model.layout.pairs.len()).map(Source::Contact))
        .chain([Source::Energy, Source::Momentum])
        .chain((model.shape().rows() > 0).then_some(Source::Residuals))
        .collect()
}

/// Whether a marker was given a name of its own, on a body that can move.
fn is_free(model: &Model, marker: usize) -> bool {
    let Marker { name, body, .. } = &model.markers[marker];
    !name.contains('.') && *name != model.bodies[*body].name && !model.layout.v[*body].is_empty()
}

/// Whether a body changes its shape.
pub(super) fn deforms(model: &Model, body: usize) -> bool {
    let item = &model.bodies[body].item;
    item.extended() && !item.oriented() && !model.layout.v[body].is_empty()
}

fn vector(path: &str, unit: &str, frame: &str) -> [Channel; 3] {
    AXES.map(|axis| Channel::new(format!("{path}.{axis}"), unit, frame))
}

fn wrench(path: &str, oriented: bool) -> Vec<Channel> {
    let mut channels = vector(&format!("{path}.force"), "N", "world").to_vec();
    if oriented {
        channels.extend(vector(&format!("{path}.torque"), "N m", "world"));
    }
    channels
}

fn describe(model: &Model, source: Source) -> Vec<Channel> {
    match source {
        Source::Time => vec![Channel::time()],
        Source::Body(i, part) => {
            let body = &model.bodies[i];
            let path = match body.item.part_name(part) {
                Some(name) => format!("body.{}.{name}", body.name),
                None => format!("body.{}", body.name),
            };
            let mut channels = vector(&format!("{path}.position"), "m", "world").to_vec();
            channels.extend(vector(&format!("{path}.velocity"), "m/s", "world"));
            if model.bodies[i].item.oriented() {
                for part in ["w", "x", "y", "z"] {
                    channels.push(Channel::new(format!("{path}.orientation.{part}"), "1", "world"));
                }
                channels.extend(vector(&format!("{path}.angular_velocity"), "rad/s", "world"));
            }
            channels
        }
        Source::Gradient(i) => {
            let path = format!("body.{}.gradient", model.bodies[i].name);
            let name = |k: usize| Channel::new(format!("{path}.{}{}", AXES[k / 3], AXES[k % 3]), "1", "world");
            (0..9).map(name).collect()
        }
        Source::Marker(i) => {
            let path = format!("marker.{}", model.markers[i].name);
            let mut channels = vector(&format!("{path}.position"), "m", "world").to_vec();
            channels.extend(vector(&format!("{path}.velocity"), "m/s", "world"));
            channels
        }
        Source::Coordinates(i) => {
            let c = &model.constraints[i];
            let name = |(name, unit)| Channel::new(format!("{}.{}.{name}", c.section, c.name), unit, "");
            c.item.coordinates().into_iter().map(name).collect()
        }
        Source::Reaction(i) => {
            let c = &model.constraints[i];
            wrench(&format!("{}.{}", c.section, c.name), c.item.need().oriented > 0)
        }
        Source::Applied(i) => {
            let f = &model.forces[i];
            wrench(&format!("{}.{}", f.section, f.name), f.item.need().oriented > 0)
        }
        Source::Multipliers(i) => {
            let c = &model.constraints[i];
            let name = |(name, unit)| Channel::new(format!("{}.{}.{name}", c.section, c.name), unit, "");
            c.item.multipliers().into_iter().map(name).collect()
        }
        Source::Outputs(i) => {
            let f = &model.forces[i];
            let name = |(name, unit)| Channel::new(format!("{}.{}.{name}", f.section, f.name), unit, "");
            f.item.outputs().into_iter().map(name).collect()
        }
        Source::Contact(i) => {
            let path = model.contact_name(i);
            let tangents = model.tangents(i);
            let mut channels =
                vec![Channel::new(format!("{path}.gap"), "m", ""), Channel::new(format!("{path}.mode"), "1", "")];
            channels.push(Channel::new(format!("{path}.press"), "N", ""));
            if model.suction(i, 0.0).is_some() {
                channels.push(Channel::new(format!("{path}.suction"), "N", ""));
            }
            for (name, unit) in [("friction", "N"), ("slip", "m/s")] {
                channels.extend((1..=tangents).map(|k| Channel::new(format!("{path}.{name}.{k}"), unit, "contact")));
            }
            channels.extend(vector(&format!("{path}.force"), "N", "world"));
            channels
        }
        Source::Energy => ["kinetic", "potential", "dissipated", "supplied", "total"]
            .map(|name| Channel::new(format!("energy.{name}"), "J", ""))
            .to_vec(),
        Source::Momentum => {
            let mut channels = vector("momentum.linear", "kg m/s", "world").to_vec();
            channels.extend(vector("momentum.angular", "kg m²/s", "world"));
            channels
        }
        Source::Residuals => {
            vec![Channel::new("residual.position", "mixed", ""), Channel::new("residual.velocity", "mixed", "")]
        }
    }
}

fn width(model: &Model, source: Source) -> usize {
    let wrench = |oriented| if oriented { 6 } else { 3 };
    match source {
        Source::Time => 1,
        Source::Body(i, _) => {
            if model.bodies[i].item.oriented() {
                13
            } else {
                6
            }
        }
        Source::Gradient(_) => 9,
        Source::Marker(_) => 6,
        Source::Coordinates(i) => model.constraints[i].item.coordinates().len(),
        Source::Reaction(i) => wrench(model.constraints[i].item.need().oriented > 0),
        Source::Applied(i) => wrench(model.forces[i].item.need().oriented > 0),
        Source::Multipliers(i) => model.constraints[i].item.multipliers().len(),
        Source::Outputs(i) => model.forces[i].item.outputs().len(),
        Source::Contact(i) => 6 + usize::from(model.suction(i, 0.0).is_some()) + 2 * model.tangents(i),
        Source::Energy => 5,
        Source::Momentum => 6,
        Source::Residuals => 2,
    }
}

fn fill(
    model: &Model,
    s: &State<f64>,
    source: Source,
    w: &mut Work<f64>,
    scratch: &mut Scratch<f64>,
    multipliers: &[f64],
    out: &mut [f64],
) {
    let gather =
        |w: &Work<f64>, markers: &[usize]| -> Vec<Place<f64>> { markers.iter().map(|&m| w.places[m]).collect() };
    match source {
        Source::Time => out[0] = s.t,
        Source::Body(i, part) => {
            let cache = &w.cache[model.layout.cache[i].clone()];
            let place =
                f64::view::<Bodies, _>(&*model.bodies[i].item).place(&Site { part, ..Site::point([0.0; 3]) }, cache);
            place.r.write(out);
            place.v.write(&mut out[3..]);
            if out.len() > 6 {
                out[6..10].copy_from_slice(&Quat::from_matrix(place.rotation).0);
                place.omega.write(&mut out[10..]);
            }
        }
        Source::Gradient(i) => {
            // ∇p by rows: what a step along each axis of the reference shape becomes.
            let cache = &w.cache[model.layout.cache[i].clone()];
            let body = f64::view::<Bodies, _>(&*model.bodies[i].item);
            let origin = body.place(&Site::point([0.0; 3]), cache).r;
            for k in 0..3 {
                let mut step = [0.0; 3];
                step[k] = 1.0;
                let column = body.place(&Site::point(step), cache).r - origin;
                (0..3).for_each(|row| out[3 * row + k] = column[row]);
            }
        }
        Source::Marker(i) => {
            let place = model.place(i, w);
            place.r.write(out);
            place.v.write(&mut out[3..]);
        }
        Source::Coordinates(i) => {
            let c = &model.constraints[i];
            let now = Instant { t: s.t, x: &[], p: &s.p, signals: &[] };
            f64::view::<Constraints, _>(&*c.item).coordinate(&now, &gather(w, &c.markers), out);
        }
        Source::Reaction(i) => {
            let c = &model.constraints[i];
            let now = Instant { t: s.t, x: &[], p: &s.p, signals: &[] };
            let rows = model.layout.rows[i].clone();
            let mut gradients = [Wrench::default(); MOST_ROWS];
            let (at, last) = (gather(w, &c.markers), c.markers.len() - 1);
            f64::view::<Constraints, _>(&*c.item).gradient(&now, &at, last, scratch, &mut gradients[..rows.len()]);
            let mut sum = Wrench { force: Vec3::zero(), torque: Vec3::zero() };
            for (gradient, &multiplier) in gradients.iter().zip(&multipliers[rows]) {
                sum.force -= gradient.force * multiplier;
                sum.torque -= gradient.torque * multiplier;
            }
            write_wrench(&sum, out);
        }
        Source::Applied(i) => {
            let f = &model.forces[i];
            let now = Instant { t: s.t, x: &s.x[model.layout.x[i].clone()], p: &s.p, signals: &[] };
            let mut wrenches = [Wrench::default(); 2];
            f64::view::<Forces, _>(&*f.item).apply(&now, &gather(w, &f.markers), &mut wrenches[..f.markers.len()]);
            write_wrench(&wrenches[f.markers.len() - 1], out);
        }
        Source::Multipliers(i) => out.copy_from_slice(&multipliers[model.layout.rows[i].clone()]),
        Source::Outputs(i) => {
            let f = &model.forces[i];
            let now = Instant { t: s.t, x: &s.x[model.layout.x[i].clone()], p: &s.p, signals: &[] };
            f64::view::<Forces, _>(&*f.item).output(&now, &gather(w, &f.markers), out);
        }
        Source::Contact(_) => {}
        Source::Energy => {
            let ledger = model.ledger(s, w);
            let Ledger { kinetic, potential, dissipated, supplied } = ledger;
            out.copy_from_slice(&[kinetic, potential, dissipated, supplied, ledger.total()]);
        }
        Source::Momentum => {
            let Momentum { linear, angular } = model.momentum(w);
            linear.write(out);
            angular.write(&mut out[3..]);
        }
        Source::Residuals => {
            let shape = model.shape();
            let largest = |values: &[f64]| values.iter().fold(0.0, |max: f64, g| max.max(g.abs()));
            let mut residual = vec![0.0; shape.rows()];
            model.constraint(s, w, &mut residual[..shape.g]);
            out[0] = largest(&residual[..shape.g]);
            model.constraint_rate(s, w, &mut residual);
            out[1] = largest(&residual);
        }
    }
}

/// Gap, mode (0 open, 1 sliding, 2 sticking), press, suction of suckers, friction and slip by tangents, force on the point in
/// the world frame.
fn fill_contact(
    y: &Hybrid<'_, Model>,
    contact: usize,
    s: &State<f64>,
    w: &mut Work<f64>,
    scratch: &mut Scratch<f64>,
    forces: &[f64],
    out: &mut [f64],
) {
    let model = y.model();
    let pair = &model.layout.pairs[contact];
    let item = f64::view::<Surfaces, _>(&*model.contacts[pair.element].item);
    let now = Instant { t: s.t, x: &[], p: &s.p, signals: &[] };
    let at = pair.markers.map(|m| w.places[m]);
    let tangents = pair.rows.len() - 1;
    let mut rates = [0.0; CONTACT_ROWS];
    item.rate(&now, &at, scratch, &mut rates[..=tangents]);
    let own = &forces[pair.rows.clone()];
    out[0] = item.gap(&now, &at);
    out[1] = match y.modes()[contact] {
        Mode::Open => 0.0,
        Mode::Slide { .. } => 1.0,
        Mode::Stick => 2.0,
    };
    out[2] = own[0];
    let (mut pull, mut rest) = (0.0, &mut out[3..]);
    if let Some(suction) = model.suction(contact, s.t) {
        // Open suckers do not pull.
        pull = if y.modes()[contact].closed() { suction } else { 0.0 };
        rest[0] = pull;
        rest = &mut rest[1..];
    }
    rest[..tangents].copy_from_slice(&own[1..]);
    rest[tangents..2 * tangents].copy_from_slice(&rates[1..=tangents]);
    let [normal, tangential @ ..] = item.directions(&now, &at);
    let friction = tangential.iter().zip(&own[1..]);
    let force = friction.fold(normal * (own[0] - pull), |sum, (&direction, &size)| sum + direction * size);
    force.write(&mut rest[2 * tangents..]);
}

fn write_wrench(wrench: &Wrench<f64>, out: &mut [f64]) {
    wrench.force.write(out);
    if out.len() > 3 {
        wrench.torque.write(&mut out[3..]);
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns() {
        assert!(matches("body.*.position.x", "body.upper.position.x"));
        assert!(matches("*", "anything"));
        assert!(matches("energy.total", "energy.total"));
        assert!(matches("*.force.*", "joint.hinge.force.y"));
        assert!(!matches("energy", "energy.total"));
        assert!(!matches("body.*.velocity.x", "body.upper.position.x"));
        assert!(!matches("a*b*b", "ab"));
    }
}
