//! First guesses of all unknowns.

use super::Build;
use crate::difference::difference;
use crate::problem::{Condition, Guess, GuessAt, Phase};
use crate::program::{Duration, When};
use dalembert_methods::System;
use std::ops::Range;

/// The configuration that conditions give, over one that is given.
fn configuration<Y: System>(conditions: &[Condition<'_, Y>], typical: &[f64]) -> Vec<f64> {
    let mut q = typical.to_vec();
    for condition in conditions {
        match condition {
            Condition::Configuration(own) => q.copy_from_slice(own),
            Condition::Coordinate(i, bound) => q[*i] = q[*i].clamp(bound.lower, bound.upper),
            _ => {}
        }
    }
    q
}

/// A guess interpolated between instants; configurations along the shortest way.
fn between<Y: System>(phase: &Phase<'_, Y>, flat: bool, instants: &[GuessAt], part: f64) -> GuessAt {
    let after = instants.partition_point(|g| g.part < part).clamp(1, instants.len().max(2) - 1);
    let (Some(a), Some(b)) = (instants.get(after - 1), instants.get(after)) else {
        return instants.first().cloned().unwrap_or_default();
    };
    let share = if b.part > a.part { ((part - a.part) / (b.part - a.part)).clamp(0.0, 1.0) } else { 0.0 };
    let mix = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a + share * (b - a)).collect::<Vec<f64>>();
    let q = if flat {
        mix(&a.q, &b.q)
    } else {
        let step: Vec<f64> = difference(phase.system, &a.q, &b.q).iter().map(|d| share * d).collect();
        let mut q = a.q.clone();
        phase.system.retract(&a.q, &step, &mut q);
        q
    };
    GuessAt { part, q, v: mix(&a.v, &b.v), x: mix(&a.x, &b.x), u: mix(&a.u, &b.u) }
}

impl<Y: System> Build<'_, '_, Y> {
    /// Sets where the unknowns begin.
    pub fn set_guess(&mut self) {
        let mut typical: Option<Vec<f64>> = None;
        for number in 0..self.problem.phases.len() {
            let phase = self.phase(number);
            let shape = phase.system.shape();
            let flat = self.plans[number].flat;
            let instants = match &phase.guess {
                Guess::Instants(instants) if !instants.is_empty() => instants.clone(),
                _ => {
                    let begin = configuration(&phase.start, typical.as_deref().unwrap_or(&phase.typical));
                    let end = configuration(&phase.end, &begin);
                    let mut x = vec![0.0; shape.x];
                    for condition in &phase.start {
                        if let Condition::Extra(i, bound) = condition {
                            x[*i] = 0.0f64.clamp(bound.lower, bound.upper);
                        }
                    }
                    let u: Vec<f64> = self.problem.controls.iter().map(|c| c.guess).collect();
                    let at =
                        |part: f64, q: Vec<f64>| GuessAt { part, q, v: vec![0.0; shape.v], x: x.clone(), u: u.clone() };
                    vec![at(0.0, begin), at(1.0, end)]
                }
            };
            typical = instants.last().map(|g| g.q.clone());
            let plan = self.plans[number].clone();
            // Accelerations by differences of the velocities.
            let duration = phase.duration_guess.clamp(phase.duration.lower, phase.duration.upper);
            let reach = 0.25 / phase.intervals as f64;
            let slope = |part: f64| -> Vec<f64> {
                let (low, high) = ((part - reach).max(0.0), (part + reach).min(1.0));
                let [a, b] = [low, high].map(|part| between(phase, flat, &instants, part).v);
                a.iter().zip(&b).map(|(a, b)| (b - a) / ((high - low) * duration)).collect()
            };
            for (k, node) in plan.nodes.iter().enumerate() {
                let guess = between(phase, flat, &instants, plan.parts[k]);
                let parts = [(&node.q, &guess.q), (&node.v, &guess.v), (&node.x, &guess.x), (&node.u, &guess.u)];
                parts.into_iter().for_each(|(range, values)| self.begin_at(range, values));
                if !node.a.is_empty() {
                    self.begin_at(&node.a, &slope(plan.parts[k]));
                }
                let Some(interval) = plan.intervals.get(k) else { continue };
                let width = plan.parts[k + 1] - plan.parts[k];
                let mid = between(phase, flat, &instants, plan.parts[k] + 0.5 * width);
                self.begin_at(&interval.u, &mid.u);
                if !interval.step.is_empty() {
                    let next = between(phase, flat, &instants, plan.parts[k + 1]);
                    self.begin_at(&interval.step, &difference(phase.system, &guess.q, &next.q));
                }
                for stage in &interval.stages {
                    let part = self.program.variables[stage.v.start].when.map_or(0.0, |w: When| w.part);
                    let own = between(phase, flat, &instants, part);
                    let q = if flat { own.q } else { difference(phase.system, &guess.q, &own.q) };
                    self.begin_at(&stage.q, &q);
                    self.begin_at(&stage.v, &own.v);
                    self.begin_at(&stage.x, &own.x);
                    self.begin_at(&stage.u, &own.u);
                    if !stage.a.is_empty() {
                        self.begin_at(&stage.a, &slope(part));
                    }
                }
            }
            if let Duration::Unknown(at) = self.program.durations[number] {
                self.program.variables[at].start = duration;
            }
        }
    }

    fn begin_at(&mut self, range: &Range<usize>, values: &[f64]) {
        for (variable, &value) in self.program.variables[range.clone()].iter_mut().zip(values) {
            let fixed = variable.bound.is_equality();
            variable.start = if fixed { variable.bound.lower } else { value };
        }
    }
}
