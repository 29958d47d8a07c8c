//! Lattices of programs: ε-constraint, normal-boundary intersection, rays.
//!
//! Programs of a lattice differ little from their neighbours, so that each begins from its solved neighbours, and in the first place from the extremes. As
//! neighbours can lead into an optimum that is one only nearby, each is also solved from the samples nearest to it.

use super::crew::{Halt, Solution, Task};
use super::form::Form;
use super::{LEAN, Method, Place, Search, Stage};

/// Points of a lattice with barycentric coordinates that are multiples of 1 / `divisions`.
pub(super) fn simplex(k: usize, divisions: usize) -> Vec<Vec<f64>> {
    let grid = grid(k - 1, divisions).into_iter().filter(|cells| cells.iter().sum::<usize>() <= divisions);
    let whole = |cells: Vec<usize>| -> Vec<f64> {
        let last = divisions - cells.iter().sum::<usize>();
        cells.into_iter().chain([last]).map(|c| c as f64 / divisions as f64).collect()
    };
    grid.map(whole).collect()
}

/// All lists of `k` whole numbers from 0 to `divisions`, the last one changing first.
fn grid(k: usize, divisions: usize) -> Vec<Vec<usize>> {
    (0..k).fold(vec![Vec::new()], |lists, _| {
        let longer = |list: Vec<usize>| (0..=divisions).map(move |c| list.iter().copied().chain([c]).collect());
        lists.into_iter().flat_map(longer).collect()
    })
}

/// A program of the lattice.
struct Node {
    form: Form,
    /// Its place, for neighbours.
    at: Vec<f64>,
    /// Goals near which its solution may lie.
    near: Vec<f64>,
}

impl Search<'_, '_, '_> {
    /// Solves the lattice of the method.
    pub(super) fn solve_lattice(&mut self, extremes: Vec<Solution>) -> Result<(), Halt> {
        let k = self.problem.goals.len();
        let best: Vec<Solution> = extremes.iter().take(k).cloned().collect();
        for extreme in extremes {
            let projection = self.problem.project(&extreme.x);
            if !self.known(&extreme.goals, &projection, 0.1 * self.options.spacing) {
                self.push(extreme, None, None, Place::End);
            }
        }
        let nodes = self.nodes();
        let mut starts: Vec<(Vec<f64>, Solution)> = Vec::new();
        let mut order: Vec<Vec<usize>> = Vec::new();
        for extreme in best {
            // The node at which an extreme would lie.
            let off = |node: &Node| {
                let known = (0..k).filter(|&i| node.near[i].is_finite());
                known.map(|i| ((node.near[i] - extreme.goals[i]) / self.scale[i]).powi(2)).sum::<f64>()
            };
            let nearest = (0..nodes.len()).fold(0, |a, b| if off(&nodes[b]) < off(&nodes[a]) { b } else { a });
            starts.push((nodes[nearest].at.clone(), extreme));
        }
        // Rings about the extremes, a step of the lattice wide.
        let step = self.options.spacing;
        for (i, node) in nodes.iter().enumerate() {
            let ring = starts.iter().map(|(at, _)| far(at, &node.at)).fold(f64::INFINITY, f64::min) / step;
            let ring = ring.round() as usize;
            if order.len() <= ring {
                order.resize(ring + 1, Vec::new());
            }
            order[ring].push(i);
        }
        for ring in order.into_iter().filter(|ring| !ring.is_empty()) {
            let mut tasks = Vec::new();
            let mut owner = Vec::new();
            for &i in &ring {
                let node = &nodes[i];
                let off = |s: &(Vec<f64>, Solution)| far(&s.0, &node.at);
                let from = (0..starts.len()).fold(0, |a, b| if off(&starts[b]) < off(&starts[a]) { b } else { a });
                tasks.push(Task::warm(node.form.clone(), &starts[from].1));
                owner.push(i);
                for sample in self.nearest(&node.near, &vec![0.0; k], 0) {
                    tasks.push(Task::cold(node.form.clone(), &self.samples[sample].x));
                    owner.push(i);
                }
            }
            let answers = self.solve(Stage::Following, tasks)?;
            for (i, answer) in owner.into_iter().zip(answers) {
                let Ok(found) = answer else { continue };
                starts.push((nodes[i].at.clone(), found.clone()));
                let projection = self.problem.project(&found.x);
                if !self.known(&found.goals, &projection, 1e-4 * self.options.spacing)
                    && self.vertices.len() < self.options.most
                {
                    self.push(found, None, None, Place::Inside);
                }
            }
        }
        if k == 2 { self.refine() } else { Ok(()) }
    }

    fn nodes(&self) -> Vec<Node> {
        let k = self.scale.len();
        let divisions = (1.0 / self.options.spacing).ceil() as usize;
        let part = |i: usize, p: f64| self.ideal[i] + p * (self.nadir[i] - self.ideal[i]);
        match &self.options.method {
            Method::Constraint { primary } => {
                let cells = grid(k - 1, divisions);
                let node = |cells: Vec<usize>| {
                    let at: Vec<f64> = cells.iter().map(|&c| c as f64 / divisions as f64).collect();
                    let mut places = at.iter();
                    let limit = |i: usize| match i == *primary {
                        true => self.ideal[i],
                        // A limit exactly at the best value leaves no room.
                        false => part(i, places.next().copied().unwrap_or(0.0).max(1e-3 / divisions as f64)),
                    };
                    let limits: Vec<f64> = (0..k).map(limit).collect();
                    let form = Form::limited(*primary, &limits, &self.scale, LEAN);
                    // Nothing is known of the primary goal.
                    let near = (0..k).map(|i| if i == *primary { f64::NAN } else { limits[i] }).collect();
                    Node { form, near, at }
                };
                cells.into_iter().map(node).collect()
            }
            Method::Intersection => {
                let node = |at: Vec<f64>| {
                    let anchor: Vec<f64> = (0..k).map(|i| part(i, at[i])).collect();
                    Node { form: Form::attain(&anchor, &vec![1.0; k], &self.scale, LEAN), near: anchor, at }
                };
                simplex(k, divisions).into_iter().map(node).collect()
            }
            _ => {
                let node = |at: Vec<f64>| {
                    let ray: Vec<f64> = at.iter().map(|p| p.max(1e-3 / divisions as f64)).collect();
                    let near = (0..k).map(|i| part(i, ray[i])).collect();
                    Node { form: Form::attain(&self.ideal, &ray, &self.scale, LEAN), near, at }
                };
                simplex(k, divisions).into_iter().map(node).collect()
            }
        }
    }
}

/// The distance of places of a lattice: its steps have the length of the spacing.
fn far(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::simplex;

    #[test]
    fn the_lattice_is_that_of_das_and_dennis() {
        // (d + k − 1 choose k − 1) points.
        assert_eq!((simplex(2, 10).len(), simplex(3, 4).len(), simplex(4, 5).len()), (11, 15, 56));
        for point in simplex(4, 5) {
            assert!((point.iter().sum::<f64>() - 1.0).abs() < 1e-15 && point.iter().all(|p| *p >= 0.0));
        }
    }
}
