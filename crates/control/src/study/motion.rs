//! The solution of a study as a run record, so that reports and viewers show it.

use super::{Study, StudyError};
use crate::problem::{Acts, Problem};
use crate::refine::{STEPS, flights, greater};
use crate::sample::sample;
use crate::solution::{Instant, Solution};
use dalembert::equations::{DISSIPATED, Ledger, SUPPLIED};
use dalembert::methods::trajectory::Channel;
use dalembert::model::Model;
use dalembert::run::{Column, Given, Outcome, given};
use dalembert_methods::{State, System};
use dalembert_optimise::Outcome as Reason;

/// Records a solution with so many instants in each interval.
///
/// Between nodes the motion is drawn as a smooth curve, while the controls lead along another ([`flights`]), which ends a little beside the next node: that is the error of the grid.
/// Work and heat are those of the controls' own way. So the account of energy is off by what the errors of the grid amount to, and is allowed as much: for each interval the largest
/// difference between the energies on both ways. What is beyond that is not the grid's. What a landing between phases takes away is heat.
pub fn record(
    study: &Study,
    problem: &Problem<'_, Model>,
    solution: &Solution,
    name: &str,
    each: usize,
) -> Result<Outcome, StudyError> {
    let scene = study.scene();
    let model = &scene.model;
    let each = each.max(1);
    // Nobody waits for the errors of a motion that was stopped on the way.
    let steps = if solution.report.outcome == Reason::Stopped { 1 } else { STEPS };
    let flown = flights(problem, solution, each, steps).map_err(|e| StudyError::Scene(e.to_string()))?;
    let mut columns: Vec<Column> = problem
        .controls
        .iter()
        .enumerate()
        .map(|(k, c)| {
            let channel = Channel::new(format!("control.{}", c.name), study.unit(k, c.acts), "");
            Column { channel, values: Vec::new() }
        })
        .collect();
    let sampled = sample(problem, solution, each);
    let mut instants = sampled.iter();
    let mut motion: Vec<Given> = Vec::new();
    let mut before = vec![0.0; model.shape().z];
    for (number, intervals) in flown.iter().enumerate() {
        let nodes = solution.phase(number);
        for (k, flight) in intervals.iter().enumerate() {
            let (first, last) = (motion.len(), number + 1 == flown.len() && k + 1 == intervals.len());
            let mut missed: f64 = 0.0;
            for (i, passed) in flight.passed.iter().enumerate() {
                // The end of an interval is the start of the next, with controls of its own.
                let own = if i < each || last { instants.next() } else { None };
                let mut s = state(problem, solution, model, own.unwrap_or(&nodes[k + 1]));
                let mut led = s.clone();
                led.q.copy_from_slice(&passed.q);
                led.v.copy_from_slice(&passed.v);
                led.x.copy_from_slice(&passed.x);
                let apart = (energy(model, &s) - energy(model, &led)).abs();
                missed = greater(missed, apart);
                for (z, (start, since)) in s.z.iter_mut().zip(before.iter().zip(&passed.z)) {
                    *z = start + since;
                }
                s.z[SUPPLIED] += passed.work;
                if i == each {
                    before.copy_from_slice(&s.z);
                }
                if let Some(instant) = own {
                    columns.iter_mut().zip(&instant.u).for_each(|(column, &u)| column.values.push(u));
                    motion.push(Given { state: s, multipliers: multipliers(problem, model, instant), missed: 0.0 });
                }
            }
            motion.iter_mut().skip(first).take(1).for_each(|given| given.missed = missed);
        }
        let next = flown.get(number + 1).and_then(|_| solution.phase(number + 1).first());
        if let (Some(end), Some(next)) = (nodes.last(), next) {
            let [end, next] = [end, next].map(|instant| energy(model, &state(problem, solution, model, instant)));
            before[DISSIPATED] += (end - next).max(0.0);
        }
    }
    let method = problem.phases.first().map_or_else(String::new, |phase| phase.method.name());
    given(scene, name, &method, &motion, &columns).map_err(|e| StudyError::Scene(e.to_string()))
}

/// Kinetic and potential energy, in J.
fn energy(model: &Model, s: &State<f64>) -> f64 {
    let mut work = model.work();
    model.prepare(s, &mut work);
    let Ledger { kinetic, potential, .. } = model.ledger(s, &mut work);
    kinetic + potential
}

/// An instant as a state of the model, with integrals of zero.
fn state(problem: &Problem<'_, Model>, solution: &Solution, model: &Model, instant: &Instant) -> State<f64> {
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
    s
}

/// Multipliers of all constraints of the scene; rows that a phase does not have press with nothing.
fn multipliers(problem: &Problem<'_, Model>, model: &Model, instant: &Instant) -> Vec<f64> {
    let own = problem.phases[instant.phase].system;
    let names: Vec<String> = (0..model.shape().rows()).map(|row| model.row_name(row)).collect();
    let (mut all, mut used) = (vec![0.0; names.len()], vec![false; names.len()]);
    for (row, &value) in instant.multipliers.iter().enumerate() {
        let name = own.row_name(row);
        if let Some(at) = (0..names.len()).find(|&k| !used[k] && names[k] == name) {
            (all[at], used[at]) = (value, true);
        }
    }
    all
}
