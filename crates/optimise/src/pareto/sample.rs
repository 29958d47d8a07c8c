//! Random starts, feasible points, extremes and scales, and first points of the front.
//!
//! Random numbers are hashes of (seed, start, position) by the mixing function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): a start depends on its
//! number alone.

use super::crew::{Answer, Failure, Halt, Kind, Solution, Task};
use super::error::ParetoError;
use super::form::Form;
use super::{LEAN, Place, Search, Stage, geometry};
use crate::nlp::Bound;

/// A number in [0, 1) that belongs to (seed, start, position).
fn random(seed: u64, start: u64, position: u64) -> f64 {
    let mix = |z: u64| {
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    let golden = 0x9e37_79b9_7f4a_7c15u64;
    let state = mix(seed.wrapping_add(golden)) ^ mix(start.wrapping_mul(golden).wrapping_add(1));
    (mix(state.wrapping_add(position.wrapping_add(1).wrapping_mul(golden))) >> 11) as f64 / (1u64 << 53) as f64
}

impl Search<'_, '_, '_> {
    /// The start of a given number; number 0 is the program's own.
    fn draw(&self, number: u64, start: &[f64], variables: &[Bound]) -> Vec<f64> {
        let mut x = start.to_vec();
        if number == 0 {
            return x;
        }
        let mut position = 0;
        let mut next = || {
            position += 1;
            random(self.options.seed, number, position - 1)
        };
        match self.problem.draw {
            Some(draw) => draw(&mut next, &mut x),
            None => {
                for (x, bound) in x.iter_mut().zip(variables) {
                    let reach = self.options.range * x.abs().max(1.0);
                    let part = |end: f64| if end.is_finite() { self.options.range * end } else { reach };
                    let inside = x.clamp(bound.lower, bound.upper);
                    let (low, high) = (inside - part(inside - bound.lower), inside + part(bound.upper - inside));
                    *x = (low + next() * (high - low)).clamp(bound.lower, bound.upper);
                }
            }
        }
        x
    }

    /// Feasible points of random starts, and a first scale from the best of them.
    pub(super) fn sample(&mut self, start: &[f64], variables: &[Bound]) -> Result<(), Halt> {
        let k = self.problem.goals.len();
        let starts: Vec<Vec<f64>> =
            (0..=self.options.samples as u64).map(|number| self.draw(number, start, variables)).collect();
        let tasks = starts.iter().map(|x| Task::feasible(k, x)).collect();
        let mut nearest: Option<Failure> = None;
        for answer in self.solve(Stage::Samples, tasks)? {
            match answer {
                Ok(solution) => self.samples.push(solution),
                Err(failure) => {
                    if nearest.as_ref().is_none_or(|n| n.violation.is_nan() || failure.violation < n.violation) {
                        nearest = Some(failure);
                    }
                }
            }
        }
        if self.samples.is_empty() {
            let nearest = nearest.map(|failure| failure.said).unwrap_or_default();
            return Err(ParetoError::Infeasible { starts: starts.len(), nearest }.into());
        }
        let goals: Vec<&[f64]> = self.samples.iter().map(|s| &s.goals[..]).collect();
        let best = geometry::non_dominated(&goals);
        let good: Vec<&[f64]> = goals.iter().zip(&best).filter(|(_, best)| **best).map(|(g, _)| *g).collect();
        // One good sample has no range; then that of all.
        let good = if good.len() > 1 { good } else { goals };
        let (ideal, nadir) = ranges(&good, k);
        self.rescale(ideal, nadir);
        Ok(())
    }

    fn rescale(&mut self, ideal: Vec<f64>, mut nadir: Vec<f64>) {
        for i in 0..ideal.len() {
            let (size, range) = (ideal[i].abs().max(nadir[i].abs()), nadir[i] - ideal[i]);
            // A goal without range keeps its scale.
            if range > 1e-5 * self.scale[i] && range > 1e-7 * size {
                self.scale[i] = range;
            } else {
                nadir[i] = ideal[i] + self.scale[i];
            }
        }
        (self.ideal, self.nadir) = (ideal, nadir);
    }

    /// Scales by the ranges of those points that are not clearly dominated. Extremes of three goals alone may miss the worst of one.
    fn rescale_by(&mut self, found: &[Solution]) {
        let better =
            |s: &Solution, t: &Solution| geometry::clearly_dominates(&t.goals, &s.goals, &self.scale, 1e-6, 1e-4);
        let good: Vec<&[f64]> =
            found.iter().filter(|s| !found.iter().any(|t| better(s, t))).map(|s| &s.goals[..]).collect();
        let (ideal, nadir) = ranges(&good, self.problem.goals.len());
        self.rescale(ideal, nadir);
    }

    /// Whether one of these points is best in all goals.
    pub(super) fn is_single_point(&self, found: &[Solution]) -> bool {
        let slack = |i: usize| 1e-6 * self.scale[i].max(self.ideal[i].abs());
        found.iter().any(|s| (0..self.ideal.len()).all(|i| s.goals[i] - self.ideal[i] <= slack(i)))
    }

    pub(super) fn single(&mut self, seeds: Vec<Solution>) {
        let better = |a: &Solution, b: &Solution| a.goals.iter().sum::<f64>() < b.goals.iter().sum::<f64>();
        let best = seeds.into_iter().reduce(|a, b| if better(&b, &a) { b } else { a });
        if let Some(best) = best {
            self.push(best, None, None, Place::End);
        }
    }

    /// Minimises each goal, with a small weight on the others, from several samples; scales by what was found. Returns all minima, also those
    /// that are not the least.
    pub(super) fn extremes(&mut self) -> Result<Vec<Solution>, Halt> {
        let k = self.problem.goals.len();
        let weights = |goal: usize, scale: &[f64]| -> Vec<f64> {
            (0..k).map(|i| if i == goal { 1.0 } else { LEAN } / scale[i]).collect()
        };
        let mut tasks = Vec::new();
        let different = self.different(self.options.starts);
        let each = self.options.attempts.max(1).min(self.samples.len());
        for goal in 0..k {
            let form = Form::weighted(weights(goal, &self.scale));
            let least = &self.by_goal(goal)[..each];
            tasks.extend(least.iter().chain(&different).map(|&i| Task::cold(form.clone(), &self.samples[i].x)));
        }
        let each = tasks.len() / k;
        let answers = self.solve(Stage::Extremes, tasks)?;
        let mut best = Vec::new();
        for goal in 0..k {
            let own = &answers[goal * each..(goal + 1) * each];
            let found = own.iter().filter_map(|a| a.as_ref().ok());
            match found.min_by(|a, b| a.goals[goal].total_cmp(&b.goals[goal])) {
                Some(least) => best.push(least.clone()),
                None => return Err(self.diagnose(goal, own)?.into()),
            }
        }
        self.rescale_by(&best);
        // Once more with the right scale, so that the small weights are small.
        let tasks = (0..k).map(|i| Task::warm(Form::weighted(weights(i, &self.scale)), &best[i])).collect();
        let again = self.solve(Stage::Extremes, tasks)?;
        let mut found: Vec<Solution> =
            again.into_iter().zip(best).map(|(again, first)| again.unwrap_or(first)).collect();
        found.extend(answers.into_iter().filter_map(Result::ok));
        self.rescale_by(&found);
        Ok(found)
    }

    /// Which goal is to blame: each is minimised quite alone, as in sums one that falls without end hides behind another.
    fn diagnose(&mut self, goal: usize, answers: &[Answer]) -> Result<ParetoError, Halt> {
        let k = self.problem.goals.len();
        let alone =
            |goal: usize| Form::weighted((0..k).map(|i| if i == goal { 1.0 / self.scale[i] } else { 0.0 }).collect());
        let tasks = (0..k).map(|i| Task::cold(alone(i), &self.samples[self.by_goal(i)[0]].x)).collect();
        let alone = self.solve(Stage::Extremes, tasks)?;
        let name = |goal: usize| self.problem.goals[goal].name.clone();
        for (i, answer) in alone.iter().enumerate() {
            if let Err(Failure { kind: Kind::Unbounded, said, .. }) = answer {
                return Ok(ParetoError::Unbounded { goal: name(i), said: said.clone() });
            }
        }
        let failed = alone.iter().enumerate().find_map(|(i, answer)| Some((i, answer.as_ref().err()?)));
        let own = answers.iter().find_map(|answer| Some((goal, answer.as_ref().err()?)));
        let (goal, said) = failed.or(own).map_or((goal, String::new()), |(i, failure)| (i, failure.said.clone()));
        Ok(ParetoError::Extreme { goal: name(goal), said })
    }

    /// Samples, those of least goal first.
    fn by_goal(&self, goal: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.samples.len()).collect();
        order.sort_by(|&a, &b| self.samples[a].goals[goal].total_cmp(&self.samples[b].goals[goal]).then(a.cmp(&b)));
        order
    }

    /// Tasks that minimise each goal from samples that were not used for it yet.
    pub(super) fn further_extremes(&self, round: usize) -> Vec<Task> {
        let k = self.problem.goals.len();
        let each = self.options.attempts.max(1);
        let of = |goal: usize| {
            let weights = (0..k).map(|i| if i == goal { 1.0 } else { LEAN } / self.scale[i]).collect();
            let form = Form::weighted(weights);
            let order = self.by_goal(goal).into_iter().skip(each * (round + 1)).take(each);
            order.map(|i| Task::cold(form.clone(), &self.samples[i].x)).collect::<Vec<_>>()
        };
        (0..k).flat_map(of).collect()
    }

    /// Samples that differ most in their projections, one after the other.
    fn different(&self, count: usize) -> Vec<usize> {
        let projections: Vec<Vec<f64>> = self.samples.iter().map(|s| self.problem.project(&s.x)).collect();
        let mut chosen: Vec<usize> = Vec::new();
        let mut far = vec![f64::INFINITY; self.samples.len()];
        while chosen.len() < count.min(self.samples.len()) {
            let next = (0..far.len()).fold(0, |a, b| if far[b] > far[a] { b } else { a });
            for (far, projection) in far.iter_mut().zip(&projections) {
                *far = far.min(geometry::apart(projection, &projections[next]));
            }
            far[next] = -1.0;
            chosen.push(next);
        }
        chosen
    }

    /// Points of the front below those samples that differ most, after the extremes.
    pub(super) fn descend(&mut self, extremes: Vec<Solution>) -> Result<Vec<Solution>, Halt> {
        let k = self.problem.goals.len();
        let chosen = self.different(self.options.starts);
        let tasks = chosen.iter().map(|&i| {
            let sample = &self.samples[i];
            let anchor: Vec<f64> = (0..k).map(|g| sample.goals[g].clamp(self.ideal[g], self.nadir[g])).collect();
            Task::cold(Form::attain(&anchor, &vec![1.0; k], &self.scale, LEAN), &sample.x)
        });
        let tasks: Vec<Task> = tasks.collect();
        let answers = self.solve(Stage::Starts, tasks)?;
        let seeds: Vec<Solution> = extremes.into_iter().chain(answers.into_iter().filter_map(Result::ok)).collect();
        self.rescale_by(&seeds);
        Ok(seeds)
    }
}

/// The least and greatest of each goal.
fn ranges(goals: &[&[f64]], k: usize) -> (Vec<f64>, Vec<f64>) {
    let fold = |i: usize, start: f64, by: fn(f64, f64) -> f64| goals.iter().map(|g| g[i]).fold(start, by);
    let low = (0..k).map(|i| fold(i, f64::INFINITY, f64::min)).collect();
    (low, (0..k).map(|i| fold(i, f64::NEG_INFINITY, f64::max)).collect())
}
