//! Gaps of the front: searched from samples, bridged if something lies there, and their ends computed if not.
//!
//! Two goals: between two neighbours of the present front that are far apart, the least level is sought at which goals can be below the corner between
//! them plus the level, from the samples nearest to it. What is found and new is followed. Where nothing is, the front has a gap: the part beyond begins
//! where it is as good as the end of the part before, and that point is computed. More goals: the same with a coarse lattice of rays.

use super::crew::{Halt, Solution, Task};
use super::form::Form;
use super::{LEAN, Place, Search, Stage, geometry, lattice};

/// Neighbours farther apart than this, in steps, have a gap between them.
pub(super) const GAP: f64 = 2.2;

/// How much better a point beyond a gap must be, in parts of the ranges.
const CLEAR: f64 = 1e-6;

impl Search<'_, '_, '_> {
    /// Searches gaps until there is nothing new, then computes the ends beside those that remain.
    pub(super) fn bridge(&mut self) -> Result<(), Halt> {
        let k = self.problem.goals.len();
        for round in 0..self.options.rounds {
            // Where to begin, and in which direction to look.
            let anchors: Vec<(Vec<f64>, Vec<f64>)> = match k {
                2 => self.gaps().into_iter().map(|(a, b)| (self.corner(a, b), self.diagonal(a, b))).collect(),
                _ => lattice::simplex(k, 4).into_iter().map(|p| (self.along_ray(&p), vec![1.0; k])).collect(),
            };
            // Each round from other samples.
            let mut tasks = self.further_extremes(round);
            for (anchor, direction) in &anchors {
                let form = Form::attain(anchor, direction, &self.scale, LEAN);
                let samples = self.nearest(anchor, direction, round);
                tasks.extend(samples.into_iter().map(|i| Task::cold(form.clone(), &self.samples[i].x)));
            }
            if tasks.is_empty() {
                break;
            }
            let answers = self.solve(Stage::Gaps, tasks)?;
            let found: Vec<Solution> = answers.into_iter().filter_map(Result::ok).collect();
            let fresh = found.into_iter().filter(|s| !self.is_dominated(&s.goals)).collect();
            self.follow(fresh)?;
        }
        self.challenge()?;
        if k == 2 { self.close() } else { Ok(()) }
    }

    /// Fills wide gaps of a lattice of two goals, from both sides and from samples, until nothing new is found; then computes the ends of those that remain.
    pub(super) fn refine(&mut self) -> Result<(), Halt> {
        let mut tried: Vec<Vec<f64>> = Vec::new();
        for _ in 0..2 * self.options.rounds {
            let gaps = self.gaps();
            let mut tasks = Vec::new();
            for (a, b) in gaps {
                let anchor = self.corner(a, b);
                if tried.contains(&anchor) {
                    continue;
                }
                let diagonal = self.diagonal(a, b);
                let form = Form::attain(&anchor, &diagonal, &self.scale, LEAN);
                tasks.extend([a, b].map(|i| Task::warm(form.clone(), &self.vertices[i].solution)));
                tasks.extend(
                    self.nearest(&anchor, &diagonal, 0)
                        .into_iter()
                        .map(|i| Task::cold(form.clone(), &self.samples[i].x)),
                );
                tried.push(anchor);
            }
            if tasks.is_empty() {
                break;
            }
            for found in self.solve(Stage::Gaps, tasks)?.into_iter().filter_map(Result::ok) {
                let projection = self.problem.project(&found.x);
                if !self.known(&found.goals, &projection, 0.1 * self.options.spacing)
                    && !self.is_dominated(&found.goals)
                {
                    self.push(found, None, None, Place::Inside);
                }
            }
        }
        self.close()
    }

    /// Points that no other point dominates, but perhaps one between others: where branches cross, each is challenged from the nearest points of others.
    fn challenge(&mut self) -> Result<(), Halt> {
        let k = self.problem.goals.len();
        let mut tasks = Vec::new();
        for v in &self.vertices {
            let goals = &v.solution.goals;
            if self.is_dominated(goals) {
                continue;
            }
            let mut rivals: Vec<(usize, f64, usize)> = Vec::new();
            for (i, other) in self.vertices.iter().enumerate() {
                let root = self.root(other.branch);
                let near = self.distance(goals, &other.solution.goals);
                let above: f64 =
                    (0..k).map(|g| other.normal[g] * (goals[g] - other.solution.goals[g]) / self.scale[g]).sum();
                // Not below the tangent plane of the other by more than its curvature allows.
                if root != self.root(v.branch) && near < 2.0 * self.options.spacing && above > -near * near {
                    match rivals.iter_mut().find(|rival| rival.0 == root) {
                        Some(rival) if rival.1 > near => *rival = (root, near, i),
                        Some(_) => {}
                        None => rivals.push((root, near, i)),
                    }
                }
            }
            let form = Form::attain(goals, &vec![1.0; k], &self.scale, LEAN);
            tasks.extend(
                rivals.iter().map(|rival| (rival.2, Task::warm(form.clone(), &self.vertices[rival.2].solution))),
            );
        }
        let (from, tasks): (Vec<usize>, Vec<Task>) = tasks.into_iter().unzip();
        for (from, answer) in from.into_iter().zip(self.solve(Stage::Gaps, tasks)?) {
            let Ok(found) = answer else { continue };
            let projection = self.problem.project(&found.x);
            // It must lie on the branch from which it was sought, and be better than something.
            let rival = &self.vertices[from];
            let same =
                geometry::apart(&rival.projection, &projection) <= geometry::root_mean_square(&projection) + 1e-6;
            let better = |v: &super::Vertex| {
                geometry::clearly_dominates(&found.goals, &v.solution.goals, &self.scale, 1e-7, 1e-6)
            };
            if same && !self.is_dominated(&found.goals) && self.vertices.iter().any(better) {
                let branch = rival.branch;
                self.push(found, Some(from), Some(branch), Place::Inside);
            }
        }
        Ok(())
    }

    /// Whether a present point is clearly better.
    fn is_dominated(&self, goals: &[f64]) -> bool {
        self.vertices.iter().any(|v| geometry::clearly_dominates(&v.solution.goals, goals, &self.scale, 1e-7, 1e-6))
    }

    /// Pairs of neighbours on the present front of two goals with a gap between them.
    fn gaps(&self) -> Vec<(usize, usize)> {
        let mut order: Vec<usize> =
            (0..self.vertices.len()).filter(|&i| !self.is_dominated(&self.vertices[i].solution.goals)).collect();
        let goal = |i: usize, g: usize| self.vertices[i].solution.goals[g];
        order.sort_by(|&a, &b| goal(a, 0).total_cmp(&goal(b, 0)).then(goal(b, 1).total_cmp(&goal(a, 1))));
        let wide = |pair: &&[usize]| {
            let (a, b) = (&self.vertices[pair[0]], &self.vertices[pair[1]]);
            self.distance(&a.solution.goals, &b.solution.goals) > GAP * self.options.spacing
        };
        order.windows(2).filter(wide).map(|pair| (pair[0], pair[1])).collect()
    }

    fn corner(&self, a: usize, b: usize) -> Vec<f64> {
        let (a, b) = (&self.vertices[a].solution.goals, &self.vertices[b].solution.goals);
        a.iter().zip(b).map(|(a, b)| a.min(*b)).collect()
    }

    /// From the corner between two points to the opposite one, scaled.
    fn diagonal(&self, a: usize, b: usize) -> Vec<f64> {
        let (a, b) = (&self.vertices[a].solution.goals, &self.vertices[b].solution.goals);
        (0..a.len()).map(|i| ((a[i] - b[i]).abs() / self.scale[i]).max(0.1 * self.options.spacing)).collect()
    }

    /// A point on the plane through the scaled unit points, from which the diagonal meets the front.
    fn along_ray(&self, part: &[f64]) -> Vec<f64> {
        (0..part.len()).map(|i| self.ideal[i] + self.scale[i] * (part[i] - 0.5)).collect()
    }

    /// The samples nearest to a box of goals that begins at `low` and is `size` wide (scaled); in later rounds those after them. Goals in which a sample is
    /// worse than the front anywhere tell nothing of where it will lead, and are not counted.
    pub(super) fn nearest(&self, low: &[f64], size: &[f64], round: usize) -> Vec<usize> {
        let off = |s: &Solution| -> f64 {
            let outside = |i: usize| {
                let above = (s.goals[i] - low[i]) / self.scale[i];
                let outside = (-above).max(above - size[i]).max(0.0);
                if s.goals[i] <= self.nadir[i] { outside.powi(2) } else { 0.0 }
            };
            (0..low.len()).filter(|&i| low[i].is_finite()).map(outside).sum()
        };
        let mut order: Vec<(f64, usize)> = self.samples.iter().map(off).enumerate().map(|(i, d)| (d, i)).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let each = self.options.attempts.max(1);
        order.into_iter().skip(each * round).take(each).map(|(_, i)| i).collect()
    }

    /// Computes where parts beyond gaps begin: the least of the first goal while the second is no worse than at the end of the part before.
    fn close(&mut self) -> Result<(), Halt> {
        let gaps = self.gaps();
        let tasks = gaps.iter().map(|&(left, right)| {
            // A little less, or the point would be dominated by that end.
            let mut limits = self.vertices[left].solution.goals.clone();
            limits[1] -= CLEAR * self.scale[1];
            Task::warm(Form::limited(0, &limits, &self.scale, LEAN), &self.vertices[right].solution)
        });
        let tasks: Vec<Task> = tasks.collect();
        let answers = self.solve(Stage::Gaps, tasks)?;
        for ((left, right), answer) in gaps.into_iter().zip(answers) {
            self.vertices[left].place = Place::End;
            let Ok(found) = answer else { continue };
            let beyond = &self.vertices[right].solution.goals;
            let near = self.distance(&found.goals, beyond);
            let gap = self.distance(&self.vertices[left].solution.goals, beyond);
            match near {
                _ if near < 1e-3 * self.options.spacing => self.vertices[right].place = Place::End,
                _ if near < 0.9 * gap => {
                    let branch = self.vertices[right].branch;
                    self.push(found, Some(right), Some(branch), Place::End);
                }
                _ => self.vertices[right].place = Place::End,
            }
        }
        Ok(())
    }
}
