//! Goals: integrals are parts of the kernels of intervals and nodes, all else has kernels of its own.

use super::{Build, ids};
use crate::error::ControlError;
use crate::kernel::{Kernel, Signature};
use crate::lobatto::Lobatto;
use crate::moment::Moment;
use crate::problem::{Rates, Term};
use crate::program::Duration;
use dalembert_graph::Trace;
use dalembert_methods::{Real, System};
use dalembert_optimise::Bound;

/// Whether a term of this choice of phase belongs to a phase.
fn belongs(choice: Option<usize>, phase: usize) -> bool {
    choice.is_none_or(|own| own == phase)
}

impl<Y: System> Build<'_, '_, Y> {
    /// Numbers the unknowns and rows of goals, if these are wanted.
    pub fn begin_goals(&mut self) {
        for goal in &self.problem.goals {
            let unknown = self.options.goal_variables.then(|| {
                let label = self.program.label(&goal.name);
                self.goal_rows.push(self.program.add_row(label, None, Bound::equal(0.0)));
                self.program.add_variable(label, None, Bound::FREE, 0.0)
            });
            self.program.goals.push((goal.name.clone(), unknown));
        }
    }

    /// The goals with integrals over a phase.
    fn integral_goals(&self, phase: usize) -> Vec<usize> {
        let has = |terms: &[Term<'_, Y>]| {
            terms.iter().any(|t| matches!(t, Term::Integral { phase: own, .. } if belongs(*own, phase)))
        };
        (0..self.problem.goals.len()).filter(|&g| has(&self.problem.goals[g].terms)).collect()
    }

    /// The integrands of a phase times a weight: the part of the objective, and of rows of goals.
    pub fn integrals(&self, phase: usize, moment: &mut Moment<'_, '_, Y>, weight: Trace) -> (Trace, Vec<Trace>) {
        let mut parts = Vec::new();
        for goal in self.integral_goals(phase) {
            let mut sum = Trace::from(0.0);
            for term in &self.problem.goals[goal].terms {
                if let Term::Integral { phase: own, function } = term
                    && belongs(*own, phase)
                {
                    sum += function(moment);
                }
            }
            parts.push((goal, sum * weight));
        }
        self.split(&parts)
    }

    /// Adds up parts of goals found at several instants.
    pub fn sum(parts: Vec<(Trace, Vec<Trace>)>) -> (Trace, Vec<Trace>) {
        let mut parts = parts.into_iter();
        let Some(mut all) = parts.next() else { return (Trace::from(0.0), Vec::new()) };
        for (objective, rows) in parts {
            all.0 += objective;
            all.1.iter_mut().zip(rows).for_each(|(sum, row)| *sum += row);
        }
        all
    }

    /// The rows to which [`Build::integrals`] are added.
    pub fn integral_rows(&self, phase: usize) -> Vec<u32> {
        self.rows_of(&self.integral_goals(phase))
    }

    fn rows_of(&self, goals: &[usize]) -> Vec<u32> {
        if self.goal_rows.is_empty() { Vec::new() } else { goals.iter().map(|&g| self.goal_rows[g]).collect() }
    }

    /// Parts of goals as a part of the objective, or of the rows y − J = 0.
    fn split(&self, parts: &[(usize, Trace)]) -> (Trace, Vec<Trace>) {
        let mut objective = Trace::from(0.0);
        if self.options.goal_variables {
            return (objective, parts.iter().map(|(_, part)| -*part).collect());
        }
        for &(goal, part) in parts {
            objective += part * self.problem.goals[goal].weight;
        }
        (objective, Vec::new())
    }

    /// Records all parts of goals that are no integrals.
    pub fn end_goals(&mut self) -> Result<(), ControlError> {
        for (goal, row) in self.goal_rows.clone().into_iter().enumerate() {
            let mut signature = Signature::default();
            signature.push(1, true);
            let mut kernel = Kernel::record("goal", &signature, |x| (Trace::from(0.0), vec![x[0][0]]))?;
            let own = self.program.goals[goal].1.unwrap_or(0) as u32;
            kernel.place(&signature, &[vec![own]], vec![row]);
            self.program.kernels.push(kernel);
        }
        for goal in 0..self.problem.goals.len() {
            for term in &self.problem.goals[goal].terms {
                match term {
                    Term::Integral { .. } => {}
                    Term::End { phase, function } => {
                        let name = format!("goal `{}`", self.problem.goals[goal].name);
                        let hint = "the value at the end knows what the method knows at nodes";
                        self.at_end(
                            *phase,
                            1,
                            name,
                            hint,
                            |build, moment| {
                                let value = function(moment);
                                build.split(&[(goal, value)])
                            },
                            self.rows_of(&[goal]),
                        )?;
                    }
                    Term::Rates { phase, of } => {
                        for number in (0..self.problem.phases.len()).filter(|&p| belongs(*phase, p)) {
                            self.rates(goal, number, *of)?;
                        }
                    }
                    Term::Duration { phase } => {
                        for number in (0..self.problem.phases.len()).filter(|&p| belongs(*phase, p)) {
                            let mut signature = Signature::default();
                            let unknown = matches!(self.program.durations[number], Duration::Unknown(_));
                            signature.push(1, unknown);
                            let mut kernel =
                                Kernel::record("duration", &signature, |x| self.split(&[(goal, x[0][0])]))?;
                            let place = match self.program.durations[number] {
                                Duration::Unknown(at) => vec![at as u32],
                                Duration::Fixed(value) => self.constants(&[value]),
                            };
                            kernel.place(&signature, &[place], self.rows_of(&[goal]));
                            self.program.kernels.push(kernel);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// ∫ |ẇ|² dt by differences of neighbours: Σ |w_{k+1} − w_k|² / h.
    fn rates(&mut self, goal: usize, phase: usize, of: Rates) -> Result<(), ControlError> {
        let plan = &self.plans[phase];
        let middle = |k: usize| 0.5 * (plan.parts[k] + plan.parts[k + 1]);
        // Inner stages count, too: what changes between nodes would cost nothing otherwise.
        let at_nodes = |part: fn(&super::Node) -> Vec<u32>| -> Vec<(f64, Vec<u32>)> {
            let mut out = vec![(plan.parts[0], part(&plan.nodes[0]))];
            for (k, interval) in plan.intervals.iter().enumerate() {
                let width = plan.parts[k + 1] - plan.parts[k];
                let points = Lobatto::new(interval.stages.len() + 2).c;
                for (stage, c) in interval.stages.iter().zip(&points[1..]) {
                    out.push((plan.parts[k] + c * width, part(stage)));
                }
                out.push((plan.parts[k + 1], part(&plan.nodes[k + 1])));
            }
            out
        };
        let values: Vec<(f64, Vec<u32>)> = match of {
            Rates::Controls if plan.nodes[0].u.is_empty() => {
                plan.intervals.iter().enumerate().map(|(k, i)| (middle(k), ids(&i.u))).collect()
            }
            Rates::Controls => at_nodes(|node| ids(&node.u)),
            Rates::Accelerations => at_nodes(|node| ids(&node.a)),
        };
        let count = values[0].1.len();
        if count == 0 {
            return Err(ControlError::Missing {
                function: self.problem.goals[goal].name.clone(),
                what: "accelerations at nodes",
                hint: "take trapezoidal, hermite_simpson or lobatto",
            });
        }
        let mut signature = Signature::default();
        signature.push(count, true);
        signature.push(count, true);
        self.clock_signature(phase, &mut signature);
        signature.push(1, false);
        let mut kernel = Kernel::record("rates", &signature, |x| {
            let h = Self::clock(&x[2..6]).duration * x[6][0];
            let square = x[0].iter().zip(x[1]).fold(Trace::from(0.0), |sum, (&a, &b)| sum + (b - a).square());
            self.split(&[(goal, square / h)])
        })?;
        for pair in values.windows(2) {
            let mut groups = vec![pair[0].1.clone(), pair[1].1.clone()];
            groups.extend(self.clock_places(phase));
            groups.push(self.constants(&[pair[1].0 - pair[0].0]));
            kernel.place(&signature, &groups, self.rows_of(&[goal]));
        }
        self.program.kernels.push(kernel);
        Ok(())
    }
}
