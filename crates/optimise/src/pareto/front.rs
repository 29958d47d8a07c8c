//! The front: its points, what they are, and how they are written.

use super::crew::Solution;
use super::{Search, bridge, geometry, kinds};
use std::fmt::Write;

/// Where on the front a point lies.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Among others.
    Inside,
    /// At an end: a goal cannot be improved nearby, or a gap begins.
    End,
    /// At a corner: the front changes its direction.
    Corner,
}

impl Place {
    fn name(self) -> &'static str {
        match self {
            Place::Inside => "inside",
            Place::End => "end",
            Place::Corner => "corner",
        }
    }
}

/// A point of the front.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontPoint {
    /// x, goals, weights and multipliers; weights times the scales of the goals sum to one.
    pub solution: Solution,
    /// Whether no point that was found is better: else it is optimal only among its neighbours.
    pub global: bool,
    /// The kind of solution, from 0.
    pub kind: usize,
    /// The part of the front, from 0; none for points that are optimal only nearby.
    pub part: Option<usize>,
    /// Where on it.
    pub place: Place,
}

impl FrontPoint {
    /// By how much goal `of` changes along the front for each unit by which goal `by` is allowed to rise, the others being kept: −w_by / w_of.
    pub fn rate(&self, of: usize, by: usize) -> f64 {
        -self.solution.weights[by] / self.solution.weights[of]
    }
}

/// A front.
#[derive(Clone, Debug, PartialEq)]
pub struct Front {
    /// Names of the goals.
    pub goals: Vec<String>,
    /// Points in the order of the first goal, then the second, ….
    pub points: Vec<FrontPoint>,
    /// The best value of each goal.
    pub ideal: Vec<f64>,
    /// The worst value of each goal at the extremes of others.
    pub nadir: Vec<f64>,
    /// What goals were divided by.
    pub scale: Vec<f64>,
    /// Feasible goals that random starts led to.
    pub samples: Vec<Vec<f64>>,
    /// Whether all was computed; not if the search was stopped.
    pub complete: bool,
    /// Solves, and how many failed.
    pub solves: usize,
    /// Those that failed.
    pub failed: usize,
    /// Iterations of all solves.
    pub iterations: usize,
    /// What the first few failed solves said.
    pub failures: Vec<String>,
}

impl Front {
    /// Goals of points that are optimal as far as known.
    pub fn best(&self) -> Vec<&[f64]> {
        self.points.iter().filter(|p| p.global).map(|p| &p.solution.goals[..]).collect()
    }

    /// The number of kinds of solutions.
    pub fn kinds(&self) -> usize {
        self.points.iter().map(|p| p.kind + 1).max().unwrap_or(0)
    }

    /// A point that stands for a kind, to be looked at: of its globally optimal points, if it has any, the one nearest to what is best in all goals.
    pub fn typical(&self, kind: usize) -> Option<&FrontPoint> {
        let far = |p: &FrontPoint| geometry::distance(&p.solution.goals, &self.ideal, &self.scale);
        let of_kind = self.points.iter().filter(|p| p.kind == kind);
        of_kind.min_by(|a, b| b.global.cmp(&a.global).then(far(a).total_cmp(&far(b))))
    }

    /// The number of parts.
    pub fn parts(&self) -> usize {
        self.points.iter().filter_map(|p| p.part).map(|part| part + 1).max().unwrap_or(0)
    }

    /// The volume between the front and a reference point, the worst goals at the extremes if none is given, in units of the box between best and worst.
    pub fn hypervolume(&self, reference: Option<&[f64]>) -> f64 {
        let scaled = |y: &[f64]| -> Vec<f64> { (0..y.len()).map(|i| (y[i] - self.ideal[i]) / self.scale[i]).collect() };
        let points: Vec<Vec<f64>> = self.best().into_iter().map(scaled).collect();
        geometry::hypervolume(&points, &scaled(reference.unwrap_or(&self.nadir)))
    }

    /// Mean and standard deviation of distances to the nearest other point, scaled.
    pub fn spacing(&self) -> (f64, f64) {
        geometry::spacing(&self.best(), &self.scale)
    }

    /// One line for each point: goals, weights, kind and part (numbered from 1, empty for points that are optimal only nearby).
    pub fn csv(&self) -> String {
        let quoted = |name: &str| match name.contains([',', '"', '\n', '\r']) {
            true => format!("\"{}\"", name.replace('"', "\"\"")),
            false => name.to_string(),
        };
        let mut out: Vec<String> = self.goals.iter().map(|name| quoted(name)).collect();
        out.extend(self.goals.iter().map(|name| quoted(&format!("weight of {name}"))));
        let mut text = format!("{},type,part,place,optimal\n", out.join(","));
        for p in &self.points {
            for value in p.solution.goals.iter().chain(&p.solution.weights) {
                let _ = write!(text, "{value:?},");
            }
            let part = p.part.map(|part| (part + 1).to_string()).unwrap_or_default();
            let optimal = if p.global { "globally" } else { "locally" };
            let _ = writeln!(text, "{},{part},{},{optimal}", p.kind + 1, p.place.name());
        }
        text
    }

    /// Everything, x included, as JSON.
    pub fn json(&self) -> String {
        let list = |values: &[f64]| format!("[{}]", values.iter().map(|v| number(*v)).collect::<Vec<_>>().join(","));
        let names: Vec<String> = self.goals.iter().map(|name| string(name)).collect();
        let point = |p: &FrontPoint| {
            format!(
                "{{\"goals\":{},\"weights\":{},\"type\":{},\"part\":{},\"place\":\"{}\",\"optimal\":\"{}\",\"x\":{}}}",
                list(&p.solution.goals),
                list(&p.solution.weights),
                p.kind + 1,
                p.part.map_or("null".into(), |part| (part + 1).to_string()),
                p.place.name(),
                if p.global { "globally" } else { "locally" },
                list(&p.solution.x)
            )
        };
        let points: Vec<String> = self.points.iter().map(point).collect();
        let samples: Vec<String> = self.samples.iter().map(|s| list(s)).collect();
        format!(
            "{{\"goals\":[{}],\"ideal\":{},\"nadir\":{},\"complete\":{},\"solves\":{},\"failed\":{},\"iterations\":{},\"points\":[\n{}\n],\"samples\":[\n{}\n]}}\n",
            names.join(","),
            list(&self.ideal),
            list(&self.nadir),
            self.complete,
            self.solves,
            self.failed,
            self.iterations,
            points.join(",\n"),
            samples.join(",\n")
        )
    }
}

fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:?}") } else { "null".into() }
}

fn string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if (c as u32) < 32 => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

impl Search<'_, '_, '_> {
    /// Compares, groups and orders what was found.
    pub(super) fn finish(self, complete: bool) -> Front {
        let spacing = self.options.spacing;
        let mut order: Vec<usize> = (0..self.vertices.len()).collect();
        let goals = |i: usize| &self.vertices[i].solution.goals;
        let compare = |a: usize, b: usize| {
            let by_goals = goals(a).iter().zip(goals(b)).map(|(a, b)| a.total_cmp(b)).find(|o| o.is_ne());
            by_goals.unwrap_or(std::cmp::Ordering::Equal).then(a.cmp(&b))
        };
        order.sort_by(|&a, &b| compare(a, b));
        // A corner has one point for each direction: the first is kept.
        let mut kept: Vec<usize> = Vec::new();
        for i in order {
            let v = &self.vertices[i];
            let same = |&j: &usize| {
                let other = &self.vertices[j];
                let together = v.parent.is_some() && self.root(v.branch) == self.root(other.branch);
                let close = geometry::apart(&v.projection, &other.projection)
                    <= 1e-4 * geometry::root_mean_square(&v.projection) + 1e-9;
                self.distance(&v.solution.goals, &other.solution.goals) < 0.02 * spacing && (together || close)
            };
            if !kept.iter().any(same) {
                kept.push(i);
            }
        }
        let best = |i: usize| {
            let better = |j: &usize| geometry::clearly_dominates(goals(*j), goals(i), &self.scale, 1e-7, 1e-6);
            !kept.iter().any(better)
        };
        let global: Vec<bool> = kept.iter().map(|&i| best(i)).collect();
        // Kinds: by the distance given, else by a gap in the distances.
        let projections: Vec<&[f64]> = kept.iter().map(|&i| &self.vertices[i].projection[..]).collect();
        let apart = self.options.apart.unwrap_or_else(|| kinds::limit(&projections));
        let near = |a: usize, b: usize| geometry::apart(projections[a], projections[b]) <= apart;
        let kind = kinds::groups(kept.len(), near);
        let on_front: Vec<usize> = (0..kept.len()).filter(|&i| global[i]).collect();
        let close = |a: usize, b: usize| {
            self.distance(goals(kept[on_front[a]]), goals(kept[on_front[b]])) <= bridge::GAP * spacing
        };
        let parts = kinds::groups(on_front.len(), close);
        let mut part = vec![None; kept.len()];
        on_front.iter().zip(parts).for_each(|(&i, number)| part[i] = Some(number));
        let points = kept.iter().enumerate().map(|(n, &i)| FrontPoint {
            solution: self.vertices[i].solution.clone(),
            global: global[n],
            kind: kind[n],
            part: part[n],
            place: self.vertices[i].place,
        });
        let points = points.collect();
        let crew = &mut *self.crew;
        Front {
            goals: self.problem.goals.iter().map(|goal| goal.name.clone()).collect(),
            points,
            samples: self.samples.iter().map(|s| s.goals.clone()).collect(),
            complete,
            solves: crew.solved + crew.recalled,
            failed: crew.failed,
            iterations: crew.iterations,
            failures: std::mem::take(&mut crew.failures),
            ideal: self.ideal,
            nadir: self.nadir,
            scale: self.scale,
        }
    }
}
