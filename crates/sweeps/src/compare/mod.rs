//! Integrators and their options side by side on one scene: errors, orders, work and time, as work–precision diagrams show them \[1\].
//!
//! A [`Comparison`] has methods and values of something that is varied, a step say. Each pair is one run. Its error is the largest difference between its channels
//! and a closed form, or a reference run whose own error is estimated from a second, coarser one. What fails is a row with the reason; the others go on.
//! Time is that of the integrator alone, without ledger and output, taken by whoever has a clock.
//!
//! Reference: \[1\] Hairer, Nørsett, Wanner: Solving Ordinary Differential Equations I, 2nd ed., Springer 1993, section II.10.

mod clock;
mod reading;
mod rows;
mod truth;
mod wanted;

pub use clock::timed;
pub use reading::{Equal, at_equal_error, order};
pub use rows::Clock;
pub use wanted::Wanted;

use dalembert::expression::nearest;
use dalembert::run::{Channels, matches};
use dalembert::scene::{ComparisonSettings, MethodSettings, Scene};
use dalembert_methods::nonsmooth::choices;
use std::collections::BTreeMap;

/// The reference, if none is named.
const REFERENCE: (&str, f64) = ("dop853", 1e-13);
/// What a step and a tolerance are multiplied by where no values are given.
const STEPS: [f64; 5] = [4.0, 2.0, 1.0, 0.5, 0.25];
const TOLERANCES: [f64; 5] = [1e2, 1e1, 1.0, 1e-1, 1e-2];
/// What errors are taken of where nothing is named.
const POSITIONS: &str = "body.*.position.*";

/// Makes the scene with some values set, each `PATH=VALUE`.
pub type Make<'a> = dyn Fn(&[String]) -> Result<Scene, String> + 'a;

/// What to compare.
pub struct Comparison<'a> {
    make: &'a Make<'a>,
    /// The name in the scene, if formulas of methods may depend on what is varied.
    name: Option<String>,
    settings: ComparisonSettings,
    /// What the scene itself says: integrator, start, and time between rows.
    integrator: String,
    start: f64,
    every: f64,
    until: f64,
    /// The errors that are taken.
    pub measures: Vec<Measure>,
}

/// Something that errors are taken of.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// A channel, or a pattern.
    pub name: String,
    /// The unit of its channels.
    pub unit: String,
}

/// One method of a comparison.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// What it is called.
    pub name: String,
    /// What is varied.
    pub vary: String,
}

/// One run.
#[derive(Clone, Debug)]
pub struct Row {
    /// The method, by its place.
    pub method: usize,
    /// The value of what is varied.
    pub value: f64,
    /// The error of each measure; not a number where there is none.
    pub errors: Vec<f64>,
    /// Errors below this are not known: rounding, and what the reference itself may be off.
    pub floors: Vec<f64>,
    /// The time of the integrator alone, in s; not a number where the run failed.
    pub seconds: f64,
    /// The work, by name.
    pub counts: BTreeMap<String, u64>,
    /// What went wrong, if anything.
    pub fault: Option<String>,
}

/// Curves of a channel over time, one for each method.
#[derive(Clone, Debug)]
pub struct Motion {
    /// The channel.
    pub channel: String,
    /// Its unit.
    pub unit: String,
    /// Names and points.
    pub curves: Vec<(String, Vec<[f64; 2]>)>,
}

/// What a comparison has brought.
#[derive(Clone, Debug)]
pub struct Compared {
    /// The methods.
    pub methods: Vec<Method>,
    /// The runs, method by method.
    pub rows: Vec<Row>,
    /// The motions that were asked for.
    pub motions: Vec<Motion>,
    /// Whether all runs were made.
    pub whole: bool,
}

impl Compared {
    /// The runs of a method that can be judged, by their values: they reached the end and their ledger closes.
    pub fn sound(&self, method: usize) -> Vec<&Row> {
        let mut rows: Vec<&Row> = self.rows.iter().filter(|row| row.method == method && row.fault.is_none()).collect();
        rows.sort_by(|a, b| a.value.total_cmp(&b.value));
        rows
    }

    /// The order of a method in a measure: the slope of errors over what is varied.
    pub fn order(&self, method: usize, measure: usize) -> Option<f64> {
        let points: Vec<[f64; 3]> =
            self.sound(method).iter().map(|row| [row.value, row.errors[measure], row.floors[measure]]).collect();
        order(&points)
    }

    /// The times of all methods at the same error.
    pub fn at_equal_error(&self, measure: usize) -> Option<Equal> {
        let curve = |method: usize| -> Vec<[f64; 2]> {
            let known = self.sound(method).into_iter().filter(|row| row.errors[measure] > row.floors[measure]);
            known.map(|row| [row.errors[measure], row.seconds]).collect()
        };
        at_equal_error(&(0..self.methods.len()).map(curve).collect::<Vec<_>>())
    }
}

impl<'a> Comparison<'a> {
    /// A comparison on a scene that `make` gives when nothing is set. `name` tells that the settings are those of the scene under this name.
    pub fn new(make: &'a Make<'a>, name: Option<&str>, mut settings: ComparisonSettings) -> Result<Self, String> {
        let scene = make(&[])?;
        let known = choices();
        for name in settings.methods.iter().chain(&settings.reference).filter_map(|method| method.integrator.as_deref())
        {
            let names = known.iter().map(|about| about.name);
            if !names.clone().any(|known| known == name) {
                let near = nearest(name, names).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                return Err(format!("there is no integrator `{name}`{near}"));
            }
        }
        let about = known.iter().find(|about| about.name == scene.run.integrator);
        // Most methods can have a fixed step; some always have one.
        let default =
            about.and_then(|about| about.parameters.iter().find(|p| p.name == "fixed_step")).map(|p| p.default);
        let step = scene.run.settings.get("fixed_step").copied().or(default).unwrap_or(0.0);
        if settings.vary.is_empty() {
            settings.vary = if step > 0.0 { "fixed_step" } else { "tolerance" }.to_owned();
        }
        let without = settings.methods.iter().any(|method| method.values.is_empty()) || settings.methods.is_empty();
        if settings.values.is_empty() && without {
            settings.values = own_values(&settings.vary, scene.run.tolerance, step)?;
        }
        if settings.methods.is_empty() {
            settings.methods.push(MethodSettings::default());
        }
        let all = settings.values.iter().chain(settings.methods.iter().flat_map(|method| &method.values));
        if let Some(wrong) = all.clone().find(|value| !value.is_finite()) {
            return Err(format!("{wrong} is not a finite number"));
        }
        if settings.channels.is_empty() {
            settings.channels.push(POSITIONS.to_owned());
        }
        let until = settings.until.unwrap_or(scene.run.until);
        if until.partial_cmp(&scene.run.start) != Some(std::cmp::Ordering::Greater) {
            return Err(format!("runs must end after they start at {} s, not at {until} s", scene.run.start));
        }
        let measures = measures(&scene, &settings)?;
        Ok(Self {
            make,
            name: name.map(str::to_owned),
            integrator: scene.run.integrator.clone(),
            start: scene.run.start,
            every: if scene.output.every > 0.0 { scene.output.every } else { (until - scene.run.start) / 1000.0 },
            until,
            settings,
            measures,
        })
    }

    /// What is varied, unless a method has something of its own.
    pub fn vary(&self) -> &str {
        &self.settings.vary
    }

    /// Whether the axis of what is varied is logarithmic, and orders have a meaning.
    pub fn logarithmic(&self) -> bool {
        let positive = self.settings.values.iter().all(|value| *value > 0.0);
        let own = ["fixed_step", "tolerance"].contains(&self.settings.vary.as_str());
        positive && self.settings.log.unwrap_or(own)
    }

    /// How many runs it has.
    pub fn len(&self) -> usize {
        self.settings.methods.iter().map(|method| self.values(method).len()).sum()
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn values<'s>(&'s self, method: &'s MethodSettings) -> &'s [f64] {
        if method.values.is_empty() { &self.settings.values } else { &method.values }
    }

    fn varied<'s>(&'s self, method: &'s MethodSettings) -> &'s str {
        if method.vary.is_empty() { &self.settings.vary } else { &method.vary }
    }
}

/// Values about those of the scene itself.
fn own_values(vary: &str, tolerance: f64, step: f64) -> Result<Vec<f64>, String> {
    let (own, factors) = match vary {
        "tolerance" => (tolerance, TOLERANCES),
        "fixed_step" => (step, STEPS),
        _ => (0.0, STEPS),
    };
    if own <= 0.0 {
        return Err(format!("`{vary}` is varied, but no values are given"));
    }
    Ok(factors.iter().map(|factor| factor * own).collect())
}

/// The measures with their units; patterns that match nothing, or channels of several units, are refused.
fn measures(scene: &Scene, settings: &ComparisonSettings) -> Result<Vec<Measure>, String> {
    let channels = Channels::new(&scene.model, &[]);
    let known = |name: &str| {
        let near = nearest(name, channels.channels().iter().map(|channel| channel.name.as_str()));
        near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
    };
    for name in settings.exact.keys().chain(&settings.motions) {
        if !channels.channels().iter().any(|channel| channel.name == *name) {
            return Err(format!("there is no channel `{name}`{}", known(name)));
        }
    }
    let of = |pattern: &String| {
        let mut found = channels.channels().iter().filter(|channel| matches(pattern, &channel.name));
        let first = found.next().ok_or_else(|| format!("no channel matches `{pattern}`{}", known(pattern)))?;
        match found.find(|channel| channel.unit != first.unit) {
            None => Ok(Measure { name: pattern.clone(), unit: first.unit.clone() }),
            Some(other) => Err(format!(
                "`{pattern}` matches `{}` in {} and `{}` in {}: the largest of both means nothing; give them apart",
                first.name, first.unit, other.name, other.unit
            )),
        }
    };
    settings.channels.iter().map(of).collect()
}
