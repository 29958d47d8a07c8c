//! Channels: what a run records of every state.
//!
//! Names are paths in the scene's words: `body.upper.position.x`, `joint.hinge.angle`, `energy.total`. A choice of channels
//! is a list of patterns in which `*` stands for any text.

mod fill;
mod reading;
mod sources;

pub use reading::{Reading, ReadingError};
pub(super) use sources::deforms;

use super::driver::RunError;
use crate::constraints::Scratch;
use crate::equations::Work;
use crate::model::Model;
use crate::scene::nearest;
use dalembert_methods::dynamics::{Dynamics, Rates};
use dalembert_methods::integrate::IntegrateError;
use dalembert_methods::lie::Quat;
use dalembert_methods::nonsmooth::{Hybrid, Mode};
use dalembert_methods::trajectory::Channel;
use dalembert_methods::{State, System};
use fill::{fill, fill_brake, fill_contact, fill_stop};
use sources::{Source, describe, every, path, width};

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
    /// Estimated frequencies by velocities; not known outside of steps.
    frequencies: Vec<f64>,
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

impl<'m> Channels<'m> {
    /// The channels of a model whose names match one of the patterns (all if there are none).
    pub fn new(model: &Model, patterns: &[String]) -> Self {
        let mut all = Vec::new();
        let mut sources = Vec::new();
        let mut kept = Vec::new();
        let mut next = 0;
        let mut needs_multipliers = false;
        for source in every(model) {
            if !matches!(source, Source::Time) && !may_match(patterns, || path(model, source)) {
                continue;
            }
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
                needs_multipliers |= source.needs_multipliers();
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
            frequencies: vec![f64::NAN; model.shape().v],
        }
    }

    /// Takes the frequencies of the step at hand, for the states that follow.
    pub fn take_frequencies(&mut self, frequencies: &[f64]) {
        self.frequencies.copy_from_slice(frequencies);
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
                Source::Frequency(i) => out[0] = self.frequencies[model.layout.v[i].start],
                Source::Brake(i) => fill_brake(y, i, &self.forces, out),
                Source::Stop(i) => fill_stop(y, i, s, &self.forces, out),
                Source::Contact(i) => fill_contact(y, i, s, &mut self.work, &self.forces, out),
                _ => {
                    let turn = |m| Quat::from_matrix(m).0;
                    fill(model, s, source, &mut self.work, &mut self.scratch, &self.multipliers, turn, out);
                }
            }
            rest = after;
        }
        for (out, &i) in row.iter_mut().zip(&self.kept) {
            *out = self.values[i];
        }
    }
}

/// Whether every pattern matches some channel of the model. `chosen` are channels among which those that the patterns have chosen are.
pub(in crate::run) fn check_patterns(model: &Model, patterns: &[String], chosen: &[Channel]) -> Result<(), RunError> {
    if patterns.iter().all(|pattern| chosen.iter().any(|channel| matches(pattern, &channel.name))) {
        return Ok(());
    }
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

/// Whether a name that begins with a path may match one of the patterns; all names do if there are none, and an empty pattern matches none.
fn may_match(patterns: &[String], path: impl Fn() -> String) -> bool {
    let mut heads = patterns.iter().filter(|pattern| !pattern.is_empty()).map(|pattern| pattern.split('*').next());
    let Some(first) = heads.next() else { return patterns.is_empty() };
    let path = path();
    std::iter::once(first).chain(heads).flatten().any(|head| head.starts_with(&path) || path.starts_with(head))
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

#[cfg(test)]
mod tests {
    use super::{matches, may_match};

    #[test]
    fn beginnings_of_names() {
        let may = |patterns: &[&str], path: &str| {
            may_match(&patterns.iter().map(|p| (*p).to_owned()).collect::<Vec<_>>(), || path.to_owned())
        };
        assert!(may(&[], "body.a") && may(&["*"], "body.a") && may(&["body.*.position.x"], "body.a"));
        assert!(may(&["energy.total", "body.a.position.x"], "body.a") && may(&["bo*"], "body.a"));
        assert!(!may(&[""], "body.a") && !may(&["energy.*"], "body.a") && !may(&["body.b*"], "body.a"));
    }

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
