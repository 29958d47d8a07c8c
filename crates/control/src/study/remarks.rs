//! What can be told of a solution from its model: units of controls, and turns that are too fast for the grid.

use super::Study;
use crate::problem::Acts;
use crate::program::When;
use crate::solution::Solution;
use dalembert::model::Model;
use dalembert::run::Reading;
use dalembert::scene::{every_kind, fields};
use dalembert_methods::System;
use std::f64::consts::PI;

/// Whether a velocity turns something; others move it along. Bodies whose velocities are neither speeds nor those of links have angular ones, or rates of a deformation.
fn turns(model: &Model, velocity: usize) -> bool {
    let name = model.velocity_name(velocity);
    let (body, own) = name.split_once(", ").unwrap_or((&name, ""));
    if own.starts_with("velocity.") {
        return false;
    }
    let link = own.split('.').next().unwrap_or(own);
    let mut s = model.initial_state();
    s.v.fill(0.0);
    s.v[velocity] = 1.0;
    let mut w = model.work();
    model.prepare(&s, &mut w);
    let none = vec![0.0; model.shape().rows()];
    let mut spin = |axis: &str| {
        let reading = Reading::new(model, &format!("{body}.{link}.angular_velocity.{axis}")).ok()?;
        Some(reading.value(model, &s, &mut w, &none).abs())
    };
    let found: Option<Vec<f64>> = ["x", "y", "z"].into_iter().map(&mut spin).collect();
    // A unit of the velocity turns its link by one, or by nothing but rounding.
    found.is_none_or(|spin| spin.iter().any(|w| *w > 1e-9))
}

/// Whether a value of a scene mentions a signal.
fn mentions(value: &toml::Value, signal: &str) -> bool {
    match value {
        toml::Value::String(text) => text == signal,
        toml::Value::Array(list) => list.iter().any(|value| mentions(value, signal)),
        toml::Value::Table(table) => table.values().any(|value| mentions(value, signal)),
        _ => false,
    }
}

impl Study {
    /// The unit of a control: of a generalised force, of what a signal is used for, or of a coefficient; `1` where uses of a signal differ.
    pub(super) fn unit(&self, control: usize, acts: Acts) -> String {
        let model = &self.scene().model;
        if let Acts::Velocity(velocity) = acts {
            return if turns(model, velocity) { "N m" } else { "N" }.into();
        }
        let path = self.read.control[control].on.get_ref();
        let table: toml::Table = self.scene().to_toml().parse().unwrap_or_default();
        let kinds = every_kind();
        let unit = |section: &str, element: &toml::Value, key: &str| -> Option<String> {
            let kind = element.get("kind")?.as_str()?;
            let info = kinds.iter().find(|info| info.section == section && info.kind == kind)?;
            fields(&info.schema).into_iter().find(|field| field.name == key).map(|field| field.unit)
        };
        let mut found: Vec<String> = Vec::new();
        if let Some(signal) = path.strip_prefix("signal.") {
            for (section, elements) in table.iter().filter_map(|(s, e)| Some((s, e.as_table()?))) {
                for element in elements.values() {
                    let used = element.as_table().into_iter().flatten().filter(|(_, value)| mentions(value, signal));
                    found.extend(used.filter_map(|(key, _)| unit(section, element, key)));
                }
            }
        } else {
            let mut parts = path.split('.');
            if let (Some(section), Some(name), Some(key)) = (parts.next(), parts.next(), parts.next()) {
                let element = table.get(section).and_then(|elements| elements.get(name));
                found.extend(element.and_then(|element| unit(section, element, key)));
            }
        }
        found.dedup();
        match &found[..] {
            [one] if !one.is_empty() => one.clone(),
            _ => "1".into(),
        }
    }

    /// Warnings: what turns by more than half a turn within an interval, where a grid does not see the way it goes.
    pub fn remarks(&self, solution: &Solution) -> Vec<String> {
        let model = &self.scene().model;
        // Turning velocities of one link belong together.
        let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
        for velocity in (0..model.shape().v).filter(|&i| turns(model, i)) {
            let name = model.velocity_name(velocity);
            let (body, own) = name.split_once(", ").unwrap_or((&name, ""));
            let link = if own.contains(' ') { "" } else { own.split('.').next().unwrap_or(own) };
            let name = format!("{body}.{link}").trim_end_matches('.').to_owned();
            match groups.iter_mut().find(|(own, _)| *own == name) {
                Some((_, list)) => list.push(velocity),
                None => groups.push((name, vec![velocity])),
            }
        }
        let x = &solution.report.point.x;
        let mut worst: Vec<Option<(f64, f64, f64)>> = vec![None; groups.len()];
        for (phase, plan) in solution.plans.iter().enumerate() {
            let nodes = solution.phase(phase);
            for (k, interval) in plan.intervals.iter().enumerate().filter(|(k, _)| k + 1 < nodes.len()) {
                let (a, b) = (&nodes[k], &nodes[k + 1]);
                let increment = |i: usize| {
                    if !interval.step.is_empty() {
                        x[interval.step.start + i]
                    } else if plan.flat {
                        b.q[i] - a.q[i]
                    } else {
                        0.5 * (b.t - a.t) * (a.v[i] + b.v[i])
                    }
                };
                for ((_, own), worst) in groups.iter().zip(&mut worst) {
                    let angle = own.iter().map(|&i| increment(i).powi(2)).sum::<f64>().sqrt();
                    if angle > PI && worst.is_none_or(|(most, ..)| angle > most) {
                        let time = |k: usize| solution.program.time(x, When { phase, part: plan.parts[k] });
                        *worst = Some((angle, time(k), time(k + 1)));
                    }
                }
            }
        }
        let told = groups.iter().zip(worst).filter_map(|((name, _), worst)| {
            let (angle, from, to) = worst?;
            let turns = angle / (2.0 * PI);
            Some(format!(
                "`{name}` turns by {turns:.2} of a turn from {from:.4} s to {to:.4} s, within one interval; beyond half a turn a grid does not see the way, and the motion may cheat: take more intervals, or bound the rate"
            ))
        });
        told.collect()
    }
}
