//! The solution of a study as a run record, so that reports and viewers show it.

use super::{Study, StudyError};
use crate::problem::{Acts, Problem};
use crate::sample::sample;
use crate::solution::Solution;
use dalembert::methods::trajectory::Channel;
use dalembert::model::Model;
use dalembert::run::{Column, Given, Outcome, given};
use dalembert_methods::{State, System};

/// Records a solution with so many instants in each interval. Work supplied and heat are integrated by the trapezoidal rule.
pub fn record(
    study: &Study,
    problem: &Problem<'_, Model>,
    solution: &Solution,
    name: &str,
    each: usize,
) -> Result<Outcome, StudyError> {
    let scene = study.scene();
    let model = &scene.model;
    let names: Vec<String> = (0..model.shape().rows()).map(|row| model.row_name(row)).collect();
    let mut motion: Vec<Given> = Vec::new();
    let mut columns: Vec<Column> = problem
        .controls
        .iter()
        .enumerate()
        .map(|(k, c)| {
            let channel = Channel::new(format!("control.{}", c.name), study.unit(k, c.acts), "");
            Column { channel, values: Vec::new() }
        })
        .collect();
    let mut power = Vec::new();
    for instant in sample(problem, solution, each) {
        let own = problem.phases[instant.phase].system;
        let mut s: State<f64> = State::zeros(model.shape());
        s.t = instant.t;
        s.q.copy_from_slice(&instant.q);
        s.v.copy_from_slice(&instant.v);
        s.x.copy_from_slice(&instant.x);
        for (control, &u) in problem.controls.iter().zip(&instant.u) {
            if let Acts::Parameter(i) = control.acts {
                s.p[i] = u;
            }
        }
        for (parameter, &value) in problem.statics.iter().zip(&solution.statics) {
            if let Some(i) = parameter.parameter {
                s.p[i] = value;
            }
        }
        // Rows of constraints that a phase does not have press with nothing.
        let mut multipliers = vec![0.0; names.len()];
        let mut used = vec![false; names.len()];
        for (row, &value) in instant.multipliers.iter().enumerate() {
            let name = own.row_name(row);
            if let Some(at) = (0..names.len()).find(|&k| !used[k] && names[k] == name) {
                (multipliers[at], used[at]) = (value, true);
            }
        }
        let mut w = model.work();
        model.prepare(&s, &mut w);
        let mut force = vec![0.0; s.v.len()];
        model.force(&s, &mut w, &mut force);
        let mut now = vec![0.0; s.z.len()];
        model.integrand(&s, &multipliers, &mut w, &mut now);
        for (control, &u) in problem.controls.iter().zip(&instant.u) {
            if let Acts::Velocity(i) = control.acts {
                now[1] += u * s.v[i];
            }
        }
        if let Some(last) = motion.last() {
            let h = s.t - last.state.t;
            for (k, z) in s.z.iter_mut().enumerate() {
                *z = last.state.z[k] + 0.5 * h * (power_at(&power, k) + now[k]);
            }
        }
        power = now;
        columns.iter_mut().zip(&instant.u).for_each(|(column, &u)| column.values.push(u));
        motion.push(Given { state: s, multipliers });
    }
    let method = problem.phases.first().map_or_else(String::new, |phase| phase.method.name());
    given(scene, name, &method, &motion, &columns).map_err(|e| StudyError::Scene(e.to_string()))
}

fn power_at(power: &[f64], k: usize) -> f64 {
    power.get(k).copied().unwrap_or(0.0)
}
