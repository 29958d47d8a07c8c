//! What runs are compared with: closed forms, and a reference run that knows its own error.

use super::{Comparison, Measure, REFERENCE};
use dalembert::expression::Expression;
use dalembert::run::{Channels, matches, run_figures};
use dalembert::scene::{MethodSettings, Parameter, Scene, Take};
use dalembert_methods::nonsmooth::choices;
use dalembert_methods::trajectory::Trajectory;

/// Parts of the size of a channel below which its errors are rounding.
const ROUNDING: f64 = 1e3 * f64::EPSILON;
/// How many times what the reference may be off an error must be to be known.
const KNOWN: f64 = 10.0;
/// Times are the same up to this part of a run.
const SAME: f64 = 1e-9;

/// The true motion of one scene.
pub(super) struct Truth {
    /// The reference run.
    run: Option<Trajectory>,
    /// What it is off, for each measure.
    doubts: Vec<f64>,
    /// Closed forms, and the values of their variables: the time, and the parameters of the scene.
    exact: Vec<(String, Expression)>,
    variables: Vec<f64>,
}

/// True motions by the texts of their scenes, or why there is none.
pub(super) type Truths = Vec<(String, Result<Truth, String>)>;

/// Errors, and what is known of them.
pub(super) struct Errors {
    pub errors: Vec<f64>,
    pub floors: Vec<f64>,
}

impl Comparison<'_> {
    /// The reference with these values set; the scene and its text.
    pub(super) fn reference(&self, set: &[String], coarse: bool) -> Result<(Scene, String), String> {
        let mut method = self.settings.reference.clone().unwrap_or_else(|| MethodSettings {
            integrator: Some(REFERENCE.0.to_owned()),
            tolerance: Some(REFERENCE.1),
            ..MethodSettings::default()
        });
        if coarse {
            let name = method.integrator.as_deref().unwrap_or(&self.integrator);
            let about = choices().into_iter().find(|about| about.name == name);
            let stepped = about.is_some_and(|about| about.parameters.iter().any(|p| p.name == "fixed_step"));
            if stepped && let Some(step) = method.settings.get_mut("fixed_step") {
                *step *= 2.0;
            } else {
                method.tolerance = method.tolerance.map(|tolerance| 10.0 * tolerance);
            }
        }
        let mut all = set.to_vec();
        all.extend(self.overrides(&method));
        let scene = self.scene(&all, self.settings.take)?;
        let text = scene.to_toml();
        Ok((scene, text))
    }

    /// The true motion of the scene with these values set, computed anew if none of those known is it.
    pub(super) fn truth<'t>(&self, set: &[String], known: &'t mut Truths) -> Result<&'t Truth, String> {
        let (scene, text) = self.reference(set, false)?;
        let k = known.iter().position(|(other, _)| *other == text).unwrap_or_else(|| {
            known.push((text, self.true_motion(&scene, set)));
            known.len() - 1
        });
        known[k].1.as_ref().map_err(Clone::clone)
    }

    fn true_motion(&self, scene: &Scene, set: &[String]) -> Result<Truth, String> {
        let parameters = scene.document.as_ref().map_or(&[][..], |document| document.parameters());
        let exact = self.closed_forms(parameters)?;
        let variables = std::iter::once(0.0).chain(parameters.iter().map(|p| p.value)).collect();
        let mut truth = Truth { run: None, doubts: vec![0.0; self.measures.len()], exact, variables };
        let channels = Channels::new(&scene.model, &self.settings.channels);
        let mut measured = channels.channels().iter().skip(1);
        if !measured.all(|channel| truth.exact.iter().any(|(known, _)| *known == channel.name)) {
            truth.run = Some(Self::referred(scene)?);
            let coarse = Self::referred(&self.reference(set, true)?.0)?;
            truth.doubts = truth.compare(&coarse, &self.measures, self.settings.take)?.errors;
        }
        Ok(truth)
    }

    /// A run of the reference.
    fn referred(scene: &Scene) -> Result<Trajectory, String> {
        let outcome = run_figures(scene, "reference", &mut ()).map_err(|error| format!("the reference: {error}"))?;
        match outcome.failure {
            None => Ok(outcome.trajectory),
            Some(failure) => Err(format!("the reference: {failure}")),
        }
    }

    fn closed_forms(&self, parameters: &[Parameter]) -> Result<Vec<(String, Expression)>, String> {
        let names: Vec<&str> = std::iter::once("t").chain(parameters.iter().map(|p| p.name.as_str())).collect();
        let read = |(channel, text): (&String, &String)| {
            let formula = Expression::parse_in(text, &names);
            let formula = formula.map_err(|error| format!("the closed form `{text}` of `{channel}`: {error}"))?;
            Ok((channel.clone(), formula))
        };
        self.settings.exact.iter().map(read).collect()
    }
}

impl Truth {
    /// A column of the true motion at given times.
    pub(super) fn column(&self, name: &str, times: &[f64]) -> Result<Vec<f64>, String> {
        if let Some((_, formula)) = self.exact.iter().find(|(known, _)| known == name) {
            let mut variables = self.variables.clone();
            let value = |&t: &f64| {
                variables[0] = t;
                formula.value(&variables).map_err(|error| format!("the closed form of `{name}`: {error}"))
            };
            return times.iter().map(value).collect();
        }
        let run = self.run.as_ref().ok_or("there is no reference")?;
        let column = run.column(name).ok_or_else(|| format!("the reference has no channel `{name}`"))?;
        let (own, other) = (run.time().last(), times.last());
        let (Some(own), Some(other)) = (own, other) else { return Err("nothing was recorded".to_owned()) };
        let length = own - run.time()[0];
        let same = |(a, b): (&f64, &f64)| (a - b).abs() <= SAME * length;
        if run.time().len() != times.len() || !run.time().iter().zip(times).all(same) {
            return Err(format!("it ended at t = {other} s, the reference at t = {own} s"));
        }
        Ok(column.to_vec())
    }

    /// The errors of a run.
    pub(super) fn compare(&self, run: &Trajectory, measures: &[Measure], take: Take) -> Result<Errors, String> {
        let mut found = Errors { errors: Vec::new(), floors: Vec::new() };
        let first = match take {
            Take::Last => run.len().saturating_sub(1),
            Take::Maximum => 0,
        };
        for (k, measure) in measures.iter().enumerate() {
            let (mut error, mut size) = (0.0_f64, 0.0_f64);
            for (channel, own) in run.channels().iter().zip(run.columns()).skip(1) {
                if !matches(&measure.name, &channel.name) {
                    continue;
                }
                let truth = self.column(&channel.name, run.time())?;
                size = truth.iter().fold(size, |size, x| size.max(x.abs()));
                for (a, b) in own.iter().zip(&truth).skip(first) {
                    // Not a number is the largest.
                    let off = (a - b).abs();
                    error = if off.is_nan() || off > error { off } else { error };
                }
            }
            found.errors.push(error);
            found.floors.push((ROUNDING * size).max(KNOWN * self.doubts[k]));
        }
        Ok(found)
    }
}
