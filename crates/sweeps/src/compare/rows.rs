//! The runs of a comparison, one after the other.

use super::truth::Truths;
use super::{Compared, Comparison, Method, Motion, Row};
use dalembert::run::{Failure, RunError, Watcher, integrate_alone, run_figures};
use dalembert::scene::{MethodSettings, Scene, Take};
use std::collections::BTreeMap;

/// Takes the time of a piece of work in s, as often as it thinks fit.
pub type Clock<'a> = dyn FnMut(&mut dyn FnMut()) -> f64 + 'a;

/// Ends a run when everything is to end.
struct Ear<'a>(&'a dyn Fn() -> bool);

impl Watcher for Ear<'_> {
    fn step(&mut self, _t: f64, _steps: u64) -> bool {
        (self.0)()
    }
}

impl Comparison<'_> {
    /// The settings of the scene that a method asks for.
    pub(super) fn overrides(&self, method: &MethodSettings) -> Vec<String> {
        let mut all = Vec::new();
        if let Some(name) = method.integrator.as_ref().filter(|name| **name != self.integrator) {
            all.push(format!("run.integrator={name:?}"));
            all.push("run.settings={}".to_owned());
        }
        all.extend(method.tolerance.map(|value| format!("run.tolerance={value:?}")));
        all.extend(method.settings.iter().map(|(name, value)| format!("run.settings.{name}={value:?}")));
        all
    }

    /// The scene of a run, with nothing to draw and little to write down.
    pub(super) fn scene(&self, set: &[String], take: Take) -> Result<Scene, String> {
        let mut scene = (self.make)(set)?;
        scene.panels.clear();
        scene.shapes.clear();
        scene.comparisons.clear();
        scene.run.until = self.until;
        scene.output.every = match take {
            Take::Last => self.until - self.start,
            Take::Maximum => self.every,
        };
        scene.output.channels = self.settings.channels.iter().chain(&self.settings.motions).cloned().collect();
        Ok(scene)
    }

    /// What is set for a method at a value: first what belongs to the model, then what belongs to the run.
    fn settings(&self, k: usize, value: f64) -> Result<[Vec<String>; 2], String> {
        let method = &self.settings.methods[k];
        let vary = self.varied(method);
        let mut model = method.set.clone();
        let is_option = !vary.contains('.');
        if !is_option {
            model.push(format!("{vary}={value:?}"));
        }
        // Formulas of the scene's own comparison may depend on what is varied.
        let mut run = match &self.name {
            Some(name) if !model.is_empty() => {
                let scene = (self.make)(&model)?;
                let found = scene.comparisons.iter().find(|(known, _)| known == name);
                let again = found.and_then(|(_, comparison)| comparison.methods.get(k));
                self.overrides(again.unwrap_or(method))
            }
            _ => self.overrides(method),
        };
        match vary {
            "tolerance" => run.push(format!("run.tolerance={value:?}")),
            option if is_option => run.push(format!("run.settings.{option}={value:?}")),
            _ => {}
        }
        Ok([model, run])
    }

    /// Makes all runs. `clock` takes times; `follow` is told after every run how many there are, and `more` is asked whether to go on.
    pub fn run(
        &self,
        clock: &mut Clock<'_>,
        more: &dyn Fn() -> bool,
        follow: &mut dyn FnMut(usize),
    ) -> Result<Compared, String> {
        let name = |method: &MethodSettings| Method {
            name: method.title(&self.integrator),
            vary: self.varied(method).to_owned(),
        };
        let methods: Vec<Method> = self.settings.methods.iter().map(name).collect();
        let mut compared = Compared { methods, rows: Vec::new(), motions: Vec::new(), whole: true };
        let mut truths = Truths::new();
        for (k, method) in self.settings.methods.iter().enumerate() {
            for &value in self.values(method) {
                let row = self.row(k, value, &mut truths, clock, more);
                if !more() {
                    compared.whole = false;
                    return Ok(compared);
                }
                compared.rows.push(row);
                follow(compared.rows.len());
            }
        }
        compared.motions = self.motions(&compared.methods, more);
        Ok(compared)
    }

    fn row(
        &self,
        method: usize,
        value: f64,
        truths: &mut Truths,
        clock: &mut Clock<'_>,
        more: &dyn Fn() -> bool,
    ) -> Row {
        let none = vec![f64::NAN; self.measures.len()];
        let mut row = Row {
            method,
            value,
            errors: none.clone(),
            floors: none,
            seconds: f64::NAN,
            counts: BTreeMap::new(),
            fault: None,
        };
        row.fault = self.fill(&mut row, truths, clock, more).err();
        row
    }

    fn fill(
        &self,
        row: &mut Row,
        truths: &mut Truths,
        clock: &mut Clock<'_>,
        more: &dyn Fn() -> bool,
    ) -> Result<(), String> {
        let [model, run] = self.settings(row.method, row.value)?;
        let scene = self.scene(&[model.clone(), run].concat(), self.settings.take)?;
        let outcome = run_figures(&scene, "row", &mut Ear(more)).map_err(|error| error.to_string())?;
        row.counts = outcome.summary.counts;
        if let Some(failure @ (Failure::Integrate(_) | Failure::Callback(_))) = &outcome.failure {
            return Err(failure.to_string());
        }
        if !more() {
            return Err("interrupted".to_owned());
        }
        let truth = self.truth(&model, truths)?;
        let found = truth.compare(&outcome.trajectory, &self.measures, self.settings.take)?;
        (row.errors, row.floors) = (found.errors, found.floors);
        if let Some(failure) = outcome.failure {
            return Err(failure.to_string());
        }
        let mut fault: Option<RunError> = None;
        let seconds = clock(&mut || {
            fault = integrate_alone(&scene).err();
        });
        match fault {
            Some(error) => Err(error.to_string()),
            None => {
                row.seconds = seconds;
                Ok(())
            }
        }
    }

    /// The motions that were asked for, each method at the first of its values, and the reference.
    fn motions(&self, methods: &[Method], more: &dyn Fn() -> bool) -> Vec<Motion> {
        if self.settings.motions.is_empty() {
            return Vec::new();
        }
        let mut motions: Vec<Motion> = Vec::new();
        let mut add = |name: &str, scene: Result<Scene, String>| {
            // What failed here has failed in its row too, with the reason.
            let Ok(scene) = scene else { return };
            let Ok(outcome) = run_figures(&scene, "motion", &mut Ear(more)) else { return };
            for channel in &self.settings.motions {
                let run = &outcome.trajectory;
                let Some((column, at)) = run.column(channel).zip(run.index(channel)) else { continue };
                let points = run.time().iter().zip(column).map(|(t, x)| [*t, *x]).collect();
                let k = motions.iter().position(|motion| motion.channel == *channel).unwrap_or_else(|| {
                    let unit = run.channels()[at].unit.clone();
                    motions.push(Motion { channel: channel.clone(), unit, curves: Vec::new() });
                    motions.len() - 1
                });
                motions[k].curves.push((name.to_owned(), points));
            }
        };
        for (k, method) in self.settings.methods.iter().enumerate() {
            let Some(&value) = self.values(method).first() else { continue };
            let name = format!("{}, {} = {value}", methods[k].name, methods[k].vary);
            add(&name, self.settings(k, value).and_then(|[m, r]| self.scene(&[m, r].concat(), Take::Maximum)));
        }
        let reference = self.reference(&[], false).map(|(mut scene, _)| {
            scene.output.every = self.every;
            scene
        });
        add("reference", reference);
        motions
    }
}
