//! Continuation: reference points that move along the front.
//!
//! At a point y with unit normal n (its weights, scaled) the next reference point lies a step h along a tangent direction τ and ρ = 2 h below it,
//!
//! ```text
//! z = y + s (h τ − ρ n),     y' = the feasible goals nearest to z
//! ```
//!
//! so that a nearest point always exists, is found whether the front is convex or hollow (up to a curvature of 1/ρ), and has its own normal, y' − z. x is
//! predicted by the secant through the last two points. The front is followed from every new point in all tangent directions towards places that no point
//! of the same branch covers yet.
//!
//! - **End.** If a component of the normal becomes negative, y' is no optimum: goals could be improved together. The end before is computed with a weighted
//!   sum, or approached by shorter steps.
//! - **Corner.** If y' = y but the normal has turned, the front has a corner, and the normal goes on turning until the front leads away.
//! - **Jump.** If y' is much farther than the step the solver has changed to another branch: the step is made shorter; what it found becomes a start of its
//!   own.

use super::crew::{Answer, Halt, Solution, Task};
use super::form::Form;
use super::{LEAN, Place, Search, Stage, geometry};

/// How far below the front reference points lie, in steps.
const DEPTH: f64 = 2.0;
/// The shortest step, as a part of the spacing.
const SHORTEST: f64 = 0.124;
/// Places nearer to a point than this, in steps, are covered by it.
const COVERED: f64 = 0.6;
/// Points nearer than this, in steps, are the same.
const SAME: f64 = 0.3;
/// A point farther away than this, in steps, was reached by a jump.
const JUMP: f64 = 2.5;
/// A turn of the normal (radians) that counts.
const TURN: f64 = 0.02;
/// The greatest number of turns at a corner.
const TURNS: usize = 12;

/// A step to be made.
#[derive(Clone, Debug)]
struct Item {
    from: usize,
    /// Which tangent, and its sense.
    axis: usize,
    sense: f64,
    /// The length, as a part of the spacing.
    part: f64,
    /// The goal whose weight has vanished, if the end is to be computed.
    end: Option<usize>,
}

impl Search<'_, '_, '_> {
    /// Follows the front from new starts.
    pub(super) fn follow(&mut self, seeds: Vec<Solution>) -> Result<(), Halt> {
        let mut queue = Vec::new();
        for seed in seeds {
            self.plant(seed, &mut queue);
        }
        while !queue.is_empty() && self.vertices.len() < self.options.most {
            let (batch, later) = self.choose(std::mem::take(&mut queue));
            let tasks = batch.iter().map(|item| self.task(item)).collect();
            let answers = self.solve(Stage::Following, tasks)?;
            queue = later;
            let mut seeds = Vec::new();
            for (item, answer) in batch.into_iter().zip(answers) {
                match item.end {
                    Some(_) => self.ended(item, answer, &mut queue),
                    None => self.stepped(item, answer, &mut queue, &mut seeds),
                }
            }
            for seed in seeds {
                self.plant(seed, &mut queue);
            }
        }
        Ok(())
    }

    /// Adds the start of a branch, unless it is known or far behind.
    fn plant(&mut self, seed: Solution, queue: &mut Vec<Item>) {
        let projection = self.problem.project(&seed.x);
        if self.known(&seed.goals, &projection, 0.1 * self.options.spacing) || self.is_behind(&seed.goals) {
            return;
        }
        let place = if self.is_past_end(&geometry::normal(&seed.weights, &self.scale), 2.0) {
            Place::End
        } else {
            Place::Inside
        };
        let vertex = self.push(seed, None, None, place);
        self.join(vertex);
        self.all_directions(vertex, queue);
    }

    fn all_directions(&self, from: usize, queue: &mut Vec<Item>) {
        for axis in 0..self.problem.goals.len() - 1 {
            for sense in [1.0, -1.0] {
                queue.push(Item { from, axis, sense, part: 1.0, end: None });
            }
        }
    }

    /// Whether others are better in all goals by the option `behind`.
    fn is_behind(&self, goals: &[f64]) -> bool {
        let all = |v: &super::Vertex| {
            (0..goals.len()).all(|i| (goals[i] - v.solution.goals[i]) / self.scale[i] > self.options.behind)
        };
        self.vertices.iter().any(all)
    }

    fn is_past_end(&self, normal: &[f64], factor: f64) -> bool {
        normal.iter().any(|n| *n < factor * LEAN)
    }

    /// Where a step leads if the front is straight.
    fn target(&self, item: &Item) -> Vec<f64> {
        let v = &self.vertices[item.from];
        let along = &geometry::tangents(&v.normal)[item.axis];
        let h = item.part * item.sense * self.options.spacing;
        (0..self.scale.len()).map(|i| v.solution.goals[i] + self.scale[i] * h * along[i]).collect()
    }

    /// Which steps are made at once, and which wait for them because they lead to the same place.
    fn choose(&self, queue: Vec<Item>) -> (Vec<Item>, Vec<Item>) {
        let (mut batch, mut targets, mut later) = (Vec::new(), Vec::<(usize, Vec<f64>)>::new(), Vec::new());
        for item in queue {
            let target = self.target(&item);
            let (from, root) = (&self.vertices[item.from], self.root(self.vertices[item.from].branch));
            let h = item.part * self.options.spacing;
            let here = &from.solution.goals;
            let covers = |v: &super::Vertex| {
                self.root(v.branch) == root
                    && self.distance(&v.solution.goals, &target) < COVERED * h
                    && self.distance(&v.solution.goals, here) > SAME * h
            };
            if item.end.is_none() && self.vertices.iter().any(covers) {
                continue;
            }
            let close = |(other, at): &(usize, Vec<f64>)| *other == root && self.distance(at, &target) < COVERED * h;
            if item.end.is_none() && targets.iter().any(close) {
                later.push(item);
                continue;
            }
            targets.push((root, target));
            batch.push(item);
        }
        (batch, later)
    }

    fn task(&self, item: &Item) -> Task {
        let v = &self.vertices[item.from];
        if let Some(goal) = item.end {
            let weights = (0..self.scale.len()).map(|i| {
                let normal = if i == goal { LEAN } else { v.normal[i].max(LEAN) };
                normal / self.scale[i]
            });
            return Task::warm(Form::weighted(weights.collect()), &v.solution);
        }
        let (target, depth) = (self.target(item), DEPTH * item.part * self.options.spacing);
        let reference = (0..target.len()).map(|i| target[i] - self.scale[i] * depth * v.normal[i]).collect();
        let mut task = Task::warm(Form::reference(reference, &self.scale, depth), &v.solution);
        if let (Some(parent), Some(warm)) = (v.parent, &mut task.warm) {
            let old = &self.vertices[parent].solution;
            let scaled = |a: &[f64]| -> Vec<f64> {
                (0..a.len()).map(|i| (a[i] - v.solution.goals[i]) / self.scale[i]).collect()
            };
            let (ahead, back) = (scaled(&target), scaled(&old.goals));
            let square: f64 = back.iter().map(|b| b * b).sum();
            let part = -ahead.iter().zip(&back).map(|(a, b)| a * b).sum::<f64>() / square;
            if square > (0.1 * self.options.spacing).powi(2) && part > 0.0 {
                let part = part.min(1.5);
                let secant =
                    |now: &mut [f64], old: &[f64]| now.iter_mut().zip(old).for_each(|(x, o)| *x += part * (*x - o));
                secant(&mut task.x, &old.x);
                secant(&mut warm.constraints, &old.constraints);
            }
        }
        task
    }

    /// Judges a step.
    fn stepped(&mut self, item: Item, answer: Answer, queue: &mut Vec<Item>, seeds: &mut Vec<Solution>) {
        let shorter = Item { part: 0.5 * item.part, ..item.clone() };
        let may_shorten = shorter.part >= SHORTEST;
        let Ok(found) = answer else {
            queue.extend(may_shorten.then_some(shorter));
            return;
        };
        let h = item.part * self.options.spacing;
        let normal = geometry::normal(&found.weights, &self.scale);
        let here = &self.vertices[item.from];
        let (moved, turn) = (self.distance(&found.goals, &here.solution.goals), turned(&normal, &here.normal));
        if moved > JUMP * h {
            match may_shorten {
                true => queue.push(shorter),
                false if !self.is_past_end(&normal, 0.5) => seeds.push(found),
                false => {}
            }
            return;
        }
        if self.is_past_end(&normal, 0.5) {
            if item.part == 1.0 {
                let least = (0..normal.len()).fold(0, |a, b| if normal[b] < normal[a] { b } else { a });
                queue.push(Item { end: Some(least), ..item });
            } else if may_shorten {
                queue.push(shorter);
            } else {
                self.vertices[item.from].place = Place::End;
            }
            return;
        }
        if moved < 0.1 * h {
            let turns = here.turns + 1;
            if turn < TURN || turns > TURNS {
                self.vertices[item.from].place = Place::End;
                return;
            }
            let (branch, place) = (here.branch, Place::Corner);
            self.vertices[item.from].place = Place::Corner;
            let new = self.push(found, Some(item.from), Some(branch), place);
            self.vertices[new].turns = turns;
            let along = |axis: usize, sense: f64| Item { from: new, axis, sense, part: 1.0, end: None };
            match self.scale.len() {
                // A curve is left at the other side.
                2 => queue.push(along(item.axis, item.sense)),
                _ => self.all_directions(new, queue),
            }
            return;
        }
        self.accept(item.from, found, Place::Inside, Some(queue));
    }

    /// Judges the end of a branch.
    fn ended(&mut self, item: Item, answer: Answer, queue: &mut Vec<Item>) {
        let h = self.options.spacing;
        let near = match &answer {
            Ok(found) => self.distance(&found.goals, &self.vertices[item.from].solution.goals),
            Err(_) => f64::INFINITY,
        };
        match answer {
            Ok(mut found) if near < 0.05 * h => {
                found.normalise(&self.scale);
                let projection = self.problem.project(&found.x);
                let v = &mut self.vertices[item.from];
                (v.normal, v.projection) = (geometry::normal(&found.weights, &self.scale), projection);
                (v.solution, v.place) = (found, Place::End);
            }
            Ok(found) if near < 2.0 * h => self.accept(item.from, found, Place::End, None),
            // A hollow front runs away from its end; it is approached instead.
            _ => queue.push(Item { end: None, part: 0.5, ..item }),
        }
    }

    /// Takes a point, unless it is known or far behind; goes on from it if there is a queue.
    fn accept(&mut self, from: usize, found: Solution, place: Place, queue: Option<&mut Vec<Item>>) {
        if self.is_behind(&found.goals) {
            return;
        }
        let branch = self.vertices[from].branch;
        let new = self.push(found, Some(from), Some(branch), place);
        let near = self.join(new);
        if near && place == Place::Inside {
            // Another point of the branch is there.
            self.vertices.pop();
            return;
        }
        if let Some(queue) = queue {
            self.all_directions(new, queue);
        }
    }

    /// Joins the branch of a new point with those it has met; tells whether a point other than its parent is at the same place.
    fn join(&mut self, new: usize) -> bool {
        let h = self.options.spacing;
        let v = &self.vertices[new];
        // How far apart in x points are for their distance in goals, along this branch.
        let rate = v.parent.map_or(0.0, |p| {
            let parent = &self.vertices[p];
            let moved = self.distance(&v.solution.goals, &parent.solution.goals).max(0.1 * h);
            geometry::apart(&v.projection, &parent.projection) / moved
        });
        let (mut met, mut same) = (Vec::new(), false);
        for (i, other) in self.vertices.iter().enumerate().filter(|(i, _)| *i != new && Some(*i) != v.parent) {
            let near = self.distance(&v.solution.goals, &other.solution.goals);
            if near > COVERED * h {
                continue;
            }
            let rounding = 1e-4 * (geometry::root_mean_square(&v.projection) + 1e-3);
            if geometry::apart(&v.projection, &other.projection) <= 2.0 * rate * near.max(0.2 * h) + rounding {
                met.push(i);
                same |= near < SAME * h;
            }
        }
        let root = self.root(v.branch);
        for i in met {
            let other = self.root(self.vertices[i].branch);
            let (low, high) = (root.min(other), root.max(other));
            let low = self.root(low);
            self.joined[high] = low;
        }
        same
    }
}

/// The angle between unit vectors.
fn turned(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}
