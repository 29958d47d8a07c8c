//! Integrators and their options side by side: errors, work and times.

use super::Work;
use super::choice::Choice;
use super::item::{Item, Items, matrix};
use super::job::Job;
use crate::error;
use dalembert::scene::{MethodSettings, Take};
use dalembert_sweeps::compare::{Compared, Comparison, Motion, Row, Wanted, timed};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeSet;

/// For how long every run is timed again and again, s.
const TIMING: f64 = 0.1;

/// The comparisons of a scene, or one of the methods that are given.
pub fn work_precision(c: &Choice<'_, '_>) -> PyResult<Work> {
    c.only(&["comparison", "method", "vary", "values", "channel", "take", "until", "reference", "exact", "timing"])?;
    let take = c.find::<String>("take")?.map(|take| take.parse::<Take>()).transpose();
    let wanted = Wanted {
        comparison: c.texts("comparison")?,
        method: methods(c)?,
        vary: c.find("vary")?,
        values: c.find("values")?.unwrap_or_default(),
        channel: c.texts("channel")?,
        take: take.map_err(|reason| error::value(format!("option `take`: {reason}")))?,
        until: c.maybe("until")?,
        reference: c.given("reference")?.map(|given| method("reference", &given)).transpose()?,
        exact: c.pairs("exact")?,
    };
    let timing = c.number("timing", Some(TIMING))?;
    Ok(Box::new(move |job| -> Result<Items, String> {
        let wanted_of = wanted.of(job.scene())?;
        let make = |set: &[String]| job.model.with_settings(set);
        let mut all = Vec::with_capacity(wanted_of.len());
        for (name, settings) in wanted_of {
            let title = if settings.title.is_empty() { name.clone() } else { settings.title.clone() };
            let own = wanted.own_methods().then_some(name.as_str());
            let comparison = Comparison::new(&make, own, settings).map_err(|reason| format!("{title}: {reason}"))?;
            let compared = compared(job, &comparison, timing)?;
            all.push(items(name, title, &comparison, &compared));
            if !compared.whole {
                break;
            }
        }
        Ok(vec![("comparisons", Item::Rows(all))])
    }))
}

/// The methods that are given: one or a list.
fn methods(c: &Choice<'_, '_>) -> PyResult<Vec<MethodSettings>> {
    let Some(given) = c.given("method")? else { return Ok(Vec::new()) };
    if let Ok(list) = given.extract::<Vec<Bound<'_, PyAny>>>() {
        return list.iter().map(|one| method("method", one)).collect();
    }
    Ok(vec![method("method", &given)?])
}

/// A method as text, as the command line has it, or as a dictionary with the keys of scenes.
fn method(name: &str, given: &Bound<'_, PyAny>) -> PyResult<MethodSettings> {
    let wrong = |reason: String| error::value(format!("option `{name}`: {reason}"));
    if let Ok(text) = given.extract::<String>() {
        return text.parse().map_err(wrong);
    }
    if !given.is_instance_of::<PyDict>() {
        return Err(wrong("a method is a text, \"galerkin_gauss degree=2\", or a dictionary".to_owned()));
    }
    let text: String = given.py().import("json")?.call_method1("dumps", (given,))?.extract()?;
    serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))
}

/// Makes the runs.
fn compared(job: &Job<'_>, comparison: &Comparison<'_>, timing: f64) -> Result<Compared, String> {
    job.follow.begin(comparison.len());
    let mut clock = |work: &mut dyn FnMut()| timed(timing, work);
    comparison.run(&mut clock, &|| !job.follow.ending(), &mut |done| {
        job.keep_fault();
        job.follow.reached(done);
    })
}

/// What a comparison has found.
fn items(name: String, title: String, comparison: &Comparison<'_>, compared: &Compared) -> Items {
    let measures = comparison.measures.len();
    let texts = |of: &dyn Fn(&Row) -> String| Item::Texts(compared.rows.iter().map(of).collect());
    let numbers = |of: &dyn Fn(&Row) -> f64| Item::Numbers(compared.rows.iter().map(of).collect());
    let table = |of: &dyn Fn(&Row) -> Vec<f64>| matrix(&compared.rows.iter().map(of).collect::<Vec<_>>(), measures);
    let order = |k: usize| (0..measures).map(|measure| compared.order(k, measure).unwrap_or(f64::NAN)).collect();
    let orders: Vec<Vec<f64>> = (0..compared.methods.len()).map(order).collect();
    let counts: BTreeSet<&String> = compared.rows.iter().flat_map(|row| row.counts.keys()).collect();
    let count = |row: &Row| counts.iter().map(|name| row.counts.get(*name).map_or(f64::NAN, |n| *n as f64)).collect();
    let worked: Vec<Vec<f64>> = compared.rows.iter().map(count).collect();
    vec![
        ("name", Item::Text(name)),
        ("title", Item::Text(title)),
        ("vary", Item::Text(comparison.vary().to_owned())),
        ("logarithmic", Item::Flag(comparison.logarithmic())),
        ("methods", Item::Texts(compared.methods.iter().map(|method| method.name.clone()).collect())),
        ("channels", Item::Texts(comparison.measures.iter().map(|measure| measure.name.clone()).collect())),
        ("units", Item::Texts(comparison.measures.iter().map(|measure| measure.unit.clone()).collect())),
        ("method", texts(&|row| compared.methods[row.method].name.clone())),
        ("varied", texts(&|row| compared.methods[row.method].vary.clone())),
        ("value", numbers(&|row| row.value)),
        ("errors", table(&|row| row.errors.clone())),
        ("floors", table(&|row| row.floors.clone())),
        ("seconds", numbers(&|row| row.seconds)),
        ("counts", Item::Texts(counts.iter().map(ToString::to_string).collect())),
        ("work", matrix(&worked, counts.len())),
        ("faults", texts(&|row| row.fault.clone().unwrap_or_default())),
        ("orders", matrix(&orders, measures)),
        ("motions", Item::Rows(compared.motions.iter().map(motion).collect())),
    ]
}

/// Curves of a channel: name, time and values of each.
fn motion(motion: &Motion) -> Items {
    let curve = |(name, points): &(String, Vec<[f64; 2]>)| -> Items {
        let column = |k: usize| Item::Numbers(points.iter().map(|point| point[k]).collect());
        vec![("name", Item::Text(name.clone())), ("time", column(0)), ("values", column(1))]
    };
    vec![
        ("channel", Item::Text(motion.channel.clone())),
        ("unit", Item::Text(motion.unit.clone())),
        ("curves", Item::Rows(motion.curves.iter().map(curve).collect())),
    ]
}
