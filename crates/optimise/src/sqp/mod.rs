//! Sequential quadratic programming: for programs that are solved again and again from a good start.
//!
//! Each step minimises a quadratic model of the Lagrangian under linearised constraints. Near a solution the active set is known from the last step, one or two
//! linear systems are enough, and convergence is quadratic. Far from it an ℓ₁ merit function, φ = f + ρ Σ violations, decides how far a step
//! goes (\[1\] algorithm 18.3); full steps that it refuses are corrected to second order. Linearised constraints that contradict each other are made
//! elastic with weight ρ; where even ρ → ∞ does not reduce the violation the program is infeasible nearby.
//!
//! References: \[1\] J. Nocedal, S. J. Wright, *Numerical optimization*, 2nd ed., Springer 2006, chapter 18; \[2\] M. J. D. Powell, *A fast
//! algorithm for nonlinearly constrained optimization calculations*, Lecture Notes in Mathematics 630 (1978) 144–157 (the weight ρ).

mod active;
mod elastic;

use self::active::{Active, Place, Quadratic};
use crate::interior::{refused, steepest};
use crate::nlp::{Bound, Nlp, Point};
use crate::reduced::Reduced;
use crate::report::{Control, Counts, Outcome, Progress, Report, violated};

/// Options of sequential quadratic programming.
#[derive(Clone, Debug, PartialEq)]
pub struct Options {
    /// First-order conditions, scaled, are met to this.
    pub tolerance: f64,
    /// Conditions met to this are accepted where no step makes progress.
    pub acceptable: f64,
    /// The greatest number of iterations.
    pub iterations: usize,
    /// Whether functions are scaled by their gradients at the start.
    pub scaling: bool,
    /// Whether variables are divided by their sizes at the start (half their ranges where the start is zero).
    pub variables: bool,
    /// An objective (scaled) below minus this is taken for unbounded.
    pub unbounded: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self { tolerance: 1e-8, acceptable: 1e-6, iterations: 500, scaling: true, variables: false, unbounded: 1e14 }
    }
}

/// Armijo's part.
const ARMIJO: f64 = 1e-4;
/// Multipliers beyond this divide errors (as for interior points).
const MULTIPLIERS: f64 = 100.0;
/// Multipliers beyond this, beside the gradient of the objective, make the constraints elastic.
const LIMIT: f64 = 1e5;
/// The shortest step.
const SHORTEST: f64 = 1e-10;
/// So many steps in a row shorter than this are no progress.
const SLOW: f64 = 1e-3;
const PATIENCE: usize = 40;

/// Solves from the program's own start. `watch` is called once for each iteration and may stop the solve.
pub fn solve(problem: &mut dyn Nlp, options: &Options, watch: &mut dyn FnMut(&Progress) -> Control) -> Report {
    run(problem, options, None, watch)
}

/// Solves from a point with multipliers, for example the solution of a neighbouring program.
pub fn solve_from(
    problem: &mut dyn Nlp,
    options: &Options,
    start: &Point,
    watch: &mut dyn FnMut(&Progress) -> Control,
) -> Report {
    run(problem, options, Some(start), watch)
}

/// The solve at work, over the reduced program.
struct Work<'a> {
    problem: Reduced<'a>,
    options: Options,
    n: usize,
    m: usize,
    hessian_places: Vec<(usize, usize)>,
    jacobian_places: Vec<(usize, usize)>,
    variables: Vec<Bound>,
    constraints: Vec<Bound>,
    active: Active,
    x: Vec<f64>,
    y: Vec<f64>,
    /// Multipliers of bounds of variables: positive at lower ones.
    z: Vec<f64>,
    f: f64,
    c: Vec<f64>,
    gradient: Vec<f64>,
    jacobian: Vec<f64>,
    hessian: Vec<f64>,
    rho: f64,
    least_delta: f64,
    delta: f64,
    length: f64,
    factorisations: usize,
}

/// A step with its multipliers and the violation that the linearisation leaves.
struct Step {
    d: Vec<f64>,
    y: Vec<f64>,
    z: Vec<f64>,
    left: f64,
    /// Whether it comes from the active set, whose factor can be used again.
    settled: bool,
}

fn run(
    problem: &mut dyn Nlp,
    options: &Options,
    start: Option<&Point>,
    watch: &mut dyn FnMut(&Progress) -> Control,
) -> Report {
    let mut reduced = match Reduced::new(problem) {
        Ok(reduced) => reduced,
        Err(outcome) => return refused(problem, outcome, None),
    };
    if let Some(start) = start {
        reduced.set_start(&start.x);
    }
    if options.variables {
        reduced.scale_variables();
    }
    let (n, m) = (reduced.free.len(), reduced.constraints.len());
    let mut x = vec![0.0; n];
    reduced.start(&mut x);
    let (mut variables, mut constraints) = (vec![Bound::FREE; n], vec![Bound::FREE; m]);
    reduced.bounds(&mut variables, &mut constraints);
    for (x, bound) in x.iter_mut().zip(&variables) {
        *x = x.clamp(bound.lower, bound.upper);
    }
    if let Some(what) = reduced.not_a_number(&x) {
        let x = reduced.whole(&x);
        return refused(problem, Outcome::NotANumber { what }, Some(x));
    }
    if options.scaling {
        reduced.scale(&x);
    }
    let (hessian_places, jacobian_places) = (reduced.hessian_pattern(), reduced.jacobian_pattern());
    reduced.bounds(&mut variables, &mut constraints);
    let mut work = Work {
        active: Active::new(n, m, hessian_places.clone(), jacobian_places.clone()),
        f: reduced.objective(&x),
        c: vec![0.0; m],
        gradient: vec![0.0; n],
        jacobian: vec![0.0; jacobian_places.len()],
        hessian: vec![0.0; hessian_places.len()],
        problem: reduced,
        options: options.clone(),
        y: vec![0.0; m],
        z: vec![0.0; n],
        rho: 1.0,
        least_delta: 0.0,
        delta: 0.0,
        length: 0.0,
        factorisations: 0,
        n,
        m,
        hessian_places,
        jacobian_places,
        variables,
        constraints,
        x,
    };
    work.problem.constraints(&work.x, &mut work.c);
    work.guess(start);
    let (outcome, iterations) = work.iterate(watch);
    work.finish(outcome, iterations)
}

impl Work<'_> {
    /// Multipliers of the start, and active sets from them or from what lies outside.
    fn guess(&mut self, start: Option<&Point>) {
        if let Some(start) = start {
            let scale = self.problem.objective_scale;
            for i in 0..self.m {
                self.y[i] = start.constraints.get(i).copied().unwrap_or(0.0) * scale / self.problem.row_scale[i];
            }
            for (k, &i) in self.problem.free.iter().enumerate() {
                let side = |z: &[f64]| z.get(i).copied().unwrap_or(0.0) * scale * self.problem.sizes[k];
                self.z[k] = side(&start.lower) - side(&start.upper);
            }
        }
        let place = |multiplier: f64, below: f64, above: f64| match () {
            () if multiplier > 1e-6 && below < 1e-3 => Place::Lower,
            () if multiplier < -1e-6 && above < 1e-3 => Place::Upper,
            () if below < 0.0 => Place::Lower,
            () if above < 0.0 => Place::Upper,
            () => Place::Free,
        };
        for i in 0..self.m {
            let Bound { lower, upper } = self.constraints[i];
            self.active.rows[i] = place(-self.y[i], self.c[i] - lower, upper - self.c[i]);
        }
        for j in 0..self.n {
            let Bound { lower, upper } = self.variables[j];
            self.active.variables[j] = place(self.z[j], self.x[j] - lower, upper - self.x[j]);
        }
    }

    fn violation(&self, c: &[f64]) -> f64 {
        c.iter().zip(&self.constraints).map(|(&c, bound)| bound.violation(c)).sum()
    }

    /// Stationarity, violation and complementarity, scaled as for interior points.
    fn errors(&self) -> (f64, f64, f64) {
        let mut slope = self.gradient.clone();
        for (&(row, column), value) in self.jacobian_places.iter().zip(&self.jacobian) {
            slope[column] += value * self.y[row];
        }
        let sum: f64 = self.y.iter().chain(&self.z).map(|y| y.abs()).sum();
        let scale = (sum / (self.n + self.m).max(1) as f64).max(MULTIPLIERS) / MULTIPLIERS;
        let stationarity = slope.iter().zip(&self.z).fold(0.0f64, |a, (s, z)| a.max((s - z).abs())) / scale;
        let violation = self.c.iter().zip(&self.constraints).fold(0.0f64, |a, (&c, b)| a.max(b.violation(c)));
        let mut apart = 0.0f64;
        let gap = |multiplier: f64, value: f64, bound: &Bound| {
            let gap = if multiplier > 0.0 { value - bound.lower } else { bound.upper - value };
            if multiplier == 0.0 { 0.0 } else { (multiplier * gap.max(0.0)).abs() }
        };
        for i in 0..self.m {
            apart = apart.max(gap(-self.y[i], self.c[i], &self.constraints[i]));
        }
        for j in 0..self.n {
            apart = apart.max(gap(self.z[j], self.x[j], &self.variables[j]));
        }
        (stationarity, violation, apart / scale)
    }

    fn iterate(&mut self, watch: &mut dyn FnMut(&Progress) -> Control) -> (Outcome, usize) {
        let mut best: Option<(f64, f64, Vec<f64>)> = None;
        let (mut stuck, mut slow) = (0, 0);
        for iteration in 0.. {
            self.problem.gradient(&self.x, &mut self.gradient);
            self.problem.jacobian(&self.x, &mut self.jacobian);
            self.problem.hessian(&self.x, 1.0, &self.y, &mut self.hessian);
            let finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
            if !finite(&self.gradient) || !finite(&self.jacobian) || !finite(&self.hessian) {
                let what = self.problem.not_a_number(&self.x.clone());
                let what = what.unwrap_or_else(|| "Hessian of the Lagrangian".into());
                return (Outcome::NotANumber { what }, iteration);
            }
            let (stationarity, violation, complementarity) = self.errors();
            let rank = violation.max(self.options.acceptable);
            if best.as_ref().is_none_or(|b| (rank, self.f) < (b.0, b.1)) {
                best = Some((rank, self.f, self.x.clone()));
            }
            let control = watch(&Progress {
                iteration,
                restoring: false,
                objective: self.f / self.problem.objective_scale,
                violation,
                stationarity,
                barrier: 0.0,
                regularisation: self.delta,
                step: self.length,
            });
            let error = stationarity.max(violation).max(complementarity);
            let give_up = match () {
                () if error <= self.options.tolerance => return (Outcome::Solved, iteration),
                () if control == Control::Stop => Some(Outcome::Stopped),
                () if iteration >= self.options.iterations => Some(Outcome::IterationLimit),
                () => None,
            };
            if let Some(outcome) = give_up {
                if let Some((_, _, x)) = best {
                    self.move_to(&x);
                }
                return (outcome, iteration);
            }
            if self.f < -self.options.unbounded && violation < 1e-4 {
                let value = |k: usize| self.x[k] * self.problem.sizes[k];
                let far = (0..self.n).max_by(|&a, &b| value(a).abs().total_cmp(&value(b).abs())).unwrap_or(0);
                let value = value(far);
                let name = self.problem.free[far];
                let variable = self.problem.problem().variable_name(name);
                return (Outcome::Unbounded { variable, value }, iteration);
            }
            slow = if self.length < SLOW { slow + 1 } else { 0 };
            if slow > PATIENCE {
                let good = error <= self.options.acceptable;
                return (if good { Outcome::Acceptable } else { Outcome::NoProgress }, iteration);
            }
            match self.advance() {
                Ok(()) => stuck = 0,
                // Where the model misleads, a more convex one gives shorter steps.
                Err(Stuck::Short) if stuck < 12 => {
                    stuck += 1;
                    self.least_delta = if self.least_delta == 0.0 { 1e-2 } else { 10.0 * self.least_delta };
                    continue;
                }
                Err(Stuck::Infeasible) if violation > self.options.acceptable => {
                    return (Outcome::Infeasible, iteration);
                }
                Err(_) if error <= self.options.acceptable => return (Outcome::Acceptable, iteration),
                Err(_) => return (Outcome::NoProgress, iteration),
            }
            self.least_delta = 0.0;
        }
        (Outcome::IterationLimit, self.options.iterations)
    }

    fn move_to(&mut self, x: &[f64]) {
        self.x.copy_from_slice(x);
        self.f = self.problem.objective(x);
        self.problem.constraints(x, &mut self.c);
    }

    /// One step: quadratic program, merit function, line search.
    fn advance(&mut self) -> Result<(), Stuck> {
        let room: Vec<Bound> =
            self.variables.iter().zip(&self.x).map(|(b, x)| Bound::between(b.lower - x, b.upper - x)).collect();
        let rows: Vec<Bound> =
            self.constraints.iter().zip(&self.c).map(|(b, c)| Bound::between(b.lower - c, b.upper - c)).collect();
        let step = self.quadratic(&room, &rows)?;
        // The multipliers of the quadratic program may show that this point is a solution already.
        let kept = (self.y.clone(), self.z.clone());
        (self.y, self.z) = (step.y.clone(), step.z.clone());
        let (stationarity, outside, complementarity) = self.errors();
        if stationarity.max(outside).max(complementarity) <= self.options.tolerance {
            return Ok(());
        }
        (self.y, self.z) = kept;
        let violation = self.violation(&self.c);
        let largest = step.y.iter().fold(0.0f64, |a, y| a.max(y.abs()));
        // Large enough for the multipliers, and falling if it was too large ([2]).
        self.rho = (1.5 * largest).max(0.85 * self.rho + 0.15 * 1.5 * largest);
        let along: f64 = self.gradient.iter().zip(&step.d).map(|(g, d)| g * d).sum();
        let mut slope = along - self.rho * (violation - step.left);
        if slope > -1e-16 * self.f.abs() && violation > step.left {
            self.rho = (2.0 * along.abs() / (violation - step.left)).max(self.rho);
            slope = along - self.rho * (violation - step.left);
        }
        let merit = self.f + self.rho * violation;
        // Differences below the rounding of the merit function decide nothing.
        let noise = 10.0 * f64::EPSILON * (self.f.abs() + self.rho * violation.max(f64::EPSILON));
        let moved = step.d.iter().zip(&self.x).fold(0.0f64, |a, (d, x)| a.max(d.abs() / (1.0 + x.abs())));
        if slope > noise && moved > 1e-12 {
            return Err(Stuck::Short);
        }
        let mut length = 1.0;
        let mut trial = vec![0.0; self.n];
        let mut c = vec![0.0; self.m];
        while length >= SHORTEST {
            self.point(&step.d, length, &mut trial);
            let f = self.problem.objective(&trial);
            self.problem.constraints(&trial, &mut c);
            let reached = f + self.rho * self.violation(&c);
            if reached <= merit + ARMIJO * length * slope + noise {
                self.take(&step, length, &trial, f, &c);
                return Ok(());
            }
            if length == 1.0 && step.settled && reached.is_finite() {
                // What the linearisation missed: c(x + d) − c − J d.
                let mut shift: Vec<f64> = c.iter().zip(&self.c).map(|(new, old)| new - old).collect();
                for (&(row, column), value) in self.jacobian_places.iter().zip(&self.jacobian) {
                    shift[row] -= value * step.d[column];
                }
                let data = Quadratic {
                    gradient: &self.gradient,
                    hessian: &self.hessian,
                    jacobian: &self.jacobian,
                    variables: &room,
                    rows: &rows,
                };
                if self.active.corrected(&data, &shift) {
                    let d = self.active.step().0.to_vec();
                    self.point(&d, 1.0, &mut trial);
                    let f = self.problem.objective(&trial);
                    self.problem.constraints(&trial, &mut c);
                    if f + self.rho * self.violation(&c) <= merit + ARMIJO * slope + noise {
                        self.take(&step, 1.0, &trial, f, &c);
                        return Ok(());
                    }
                }
            }
            length *= 0.5;
        }
        Err(Stuck::Short)
    }

    /// x + α d, never outside the bounds.
    fn point(&self, d: &[f64], length: f64, out: &mut [f64]) {
        for j in 0..self.n {
            out[j] = (self.x[j] + length * d[j]).clamp(self.variables[j].lower, self.variables[j].upper);
        }
    }

    fn take(&mut self, step: &Step, length: f64, x: &[f64], f: f64, c: &[f64]) {
        self.x.copy_from_slice(x);
        self.c.copy_from_slice(c);
        (self.f, self.length) = (f, length);
        for (y, new) in self.y.iter_mut().zip(&step.y) {
            *y += length * (new - *y);
        }
        for (z, new) in self.z.iter_mut().zip(&step.z) {
            *z += length * (new - *z);
        }
    }

    /// Solves the quadratic program: by active sets, or elastic by interior points.
    fn quadratic(&mut self, room: &[Bound], rows: &[Bound]) -> Result<Step, Stuck> {
        let data = Quadratic {
            gradient: &self.gradient,
            hessian: &self.hessian,
            jacobian: &self.jacobian,
            variables: room,
            rows,
        };
        let kept = (self.active.variables.clone(), self.active.rows.clone());
        let before = self.active.factorisations;
        let settled = self.active.solve(&data, self.least_delta);
        self.factorisations += self.active.factorisations - before;
        // Multipliers without limit belong to linearised constraints that (almost) contradict each other.
        let steep = 1.0 + self.gradient.iter().fold(0.0f64, |a, g| a.max(g.abs()));
        let limited = self.active.step().1.iter().all(|y| y.abs() <= LIMIT * steep);
        if settled && limited && self.active.delta < 1e8 {
            self.delta = self.active.delta;
            let (d, y) = self.active.step();
            let (d, y) = (d.to_vec(), y.to_vec());
            let z = (0..self.n)
                .map(|j| if self.active.variables[j] == Place::Free { 0.0 } else { self.active.pull[j] })
                .collect();
            return Ok(Step { d, y, z, left: 0.0, settled: true });
        }
        (self.active.variables, self.active.rows) = kept;
        self.elastic(room, rows)
    }

    fn finish(mut self, outcome: Outcome, iterations: usize) -> Report {
        let (stationarity, _, complementarity) = self.errors();
        let lower: Vec<f64> = self.z.iter().map(|z| z.max(0.0)).collect();
        let upper: Vec<f64> = self.z.iter().map(|z| (-z).max(0.0)).collect();
        let point = self.problem.point(&self.x, &self.y, &lower, &upper);
        let counts = Counts { factorisations: self.factorisations, ..self.problem.counts };
        let bounds = self.problem.constraints.clone();
        let problem = self.problem.problem();
        let mut values = vec![0.0; bounds.len()];
        problem.constraints(&point.x, &mut values);
        let objective = problem.objective(&point.x);
        Report {
            violated: violated(problem, &bounds, &values, &point.constraints, self.options.acceptable),
            steepest: steepest(problem, &point),
            violation: bounds.iter().zip(&values).fold(0.0f64, |a, (b, &v)| a.max(b.violation(v))),
            outcome,
            objective,
            stationarity,
            complementarity,
            iterations,
            counts,
            point,
        }
    }
}

/// Why a step was not made.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Stuck {
    /// No step lowers the merit function.
    Short,
    /// No step lowers the violation.
    Infeasible,
}
