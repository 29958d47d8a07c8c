//! The stages of one step, in the chart at its beginning.

use crate::dynamics::{Dynamics, Rates, floor};
use crate::integrate::control::{Largest, Tolerance};
use crate::integrate::packed::{self, place};
use crate::integrate::tableau::{MOST_STAGES, Tableau};
use crate::integrate::{Company, Counts, IntegrateError, Stages, Ways};
use crate::system::{Shape, State, System};
use std::ops::Range;

/// Constraint residuals below this part of the tolerance are left alone.
const NEGLIGIBLE: f64 = 0.01;

/// Everything allocated at the start. Vectors of increments are packed as (δ, Δv, Δx, Δz).
pub(super) struct Scratch<Y: System> {
    tableau: &'static Tableau,
    dynamics: Dynamics<Y>,
    rates: Rates,
    shape: Shape,
    size: usize,
    /// Where the last step began; the base point of its increments.
    base: State<f64>,
    /// The state of the stage at hand, in the end that of the next state.
    stage: State<f64>,
    /// The rates of all stages, one row each.
    slopes: Vec<f64>,
    /// The increment of the stage at hand.
    increment: Vec<f64>,
    /// The sizes of all components at the beginning of the step.
    sizes: Vec<f64>,
    /// The length of the last step.
    h: f64,
    /// Which part of `slopes` belongs to the state given out last.
    reuse: Reuse,
    /// Whether the stages for continuous output are there.
    dense: Dense,
}

/// What the next step can take over from the last.
#[derive(Copy, Clone, PartialEq)]
enum Reuse {
    /// Nothing: rates must be evaluated.
    Nothing,
    /// The first row holds the rates at the state.
    First,
    /// The row at the end of the step holds the rates at the state.
    Last,
}

/// The further stages for continuous output.
#[derive(Copy, Clone, PartialEq)]
enum Dense {
    Missing,
    Ready,
    Failed,
}

impl<Y: System> Scratch<Y> {
    /// Scratch for a system, with what was made for it, and a coefficient set.
    pub(super) fn new(y: &Y, dynamics: Dynamics<Y>, tableau: &'static Tableau) -> Self {
        let shape = y.shape();
        let size = 2 * shape.v + shape.x + shape.z;
        Self {
            tableau,
            dynamics,
            rates: Rates::zeros(shape),
            shape,
            size,
            base: State::zeros(shape),
            stage: State::zeros(shape),
            slopes: vec![0.0; tableau.all_stages() * size],
            increment: vec![0.0; size],
            sizes: vec![0.0; size],
            h: 0.0,
            reuse: Reuse::Nothing,
            dense: Dense::Failed,
        }
    }

    /// What was made for the system.
    pub(super) fn into_dynamics(self) -> Dynamics<Y> {
        self.dynamics
    }

    /// increment = h Σ w_j k_j over the rows of slopes.
    fn combine(&mut self, h: f64, weights: &[f64]) {
        self.increment.fill(0.0);
        let rows = self.slopes.chunks_exact(self.size.max(1)).zip(weights);
        let mut rows = rows.filter(|(_, weight)| **weight != 0.0);
        // Two at a time, so that sums are read and written half as often.
        while let Some((one, &a)) = rows.next() {
            match rows.next() {
                Some((two, &b)) => {
                    for ((sum, &one), &two) in self.increment.iter_mut().zip(one).zip(two) {
                        *sum = (*sum + a * one) + b * two;
                    }
                }
                None => {
                    for (sum, &one) in self.increment.iter_mut().zip(one) {
                        *sum += a * one;
                    }
                }
            }
        }
        for sum in &mut self.increment {
            *sum *= h;
        }
    }

    /// stage = base moved by `increment`, at time `t`.
    fn place(&mut self, y: &Y, t: f64) {
        place(y, self.shape, &self.base, &self.increment, t, &mut self.stage);
    }

    /// Row `i` of slopes: the rates at the stage state, in the chart at the base.
    fn evaluate(&mut self, y: &Y, i: usize) -> Result<(), IntegrateError> {
        if self.tableau.counts(i) {
            self.dynamics.evaluate(y, &self.stage, &mut self.rates)?;
        } else {
            self.dynamics.evaluate_motion(y, &self.stage, &mut self.rates)?;
        }
        self.keep(y, i)
    }

    /// The same by others, if they can.
    pub(super) async fn evaluate_beside(
        &mut self,
        y: &Y,
        i: usize,
        company: &mut impl Company<Y>,
    ) -> Result<(), IntegrateError> {
        if !company.rates(&self.stage, &mut self.rates).await {
            return self.evaluate(y, i);
        }
        self.dynamics.credit();
        self.keep(y, i)
    }

    /// Makes the rates at hand row `i` of slopes.
    fn keep(&mut self, y: &Y, i: usize) -> Result<(), IntegrateError> {
        let Shape { v, x, .. } = self.shape;
        let slope = &mut self.slopes[i * self.size..(i + 1) * self.size];
        y.local_rate(&self.increment[..v], &self.stage.v, &mut slope[..v]);
        slope[v..2 * v].copy_from_slice(&self.rates.v);
        slope[2 * v..2 * v + x].copy_from_slice(&self.rates.x);
        slope[2 * v + x..].copy_from_slice(&self.rates.z);
        match slope.iter().position(|k| !k.is_finite()) {
            None => Ok(()),
            Some(j) => {
                Err(IntegrateError::NotFinite { t: self.stage.t, what: format!("the rate of {}", self.name(y, j)) })
            }
        }
    }

    /// Moves the base to the state; says whether its rates are still to be made row 0 of slopes, at the stage state. Then [`Scratch::moved`] comes next.
    pub(super) fn move_to(&mut self, y: &Y, s: &State<f64>) -> bool {
        self.base.copy_from(s);
        self.dense = Dense::Failed;
        match std::mem::replace(&mut self.reuse, Reuse::Nothing) {
            Reuse::Nothing => {
                self.increment.fill(0.0);
                self.stage.copy_from(s);
                return true;
            }
            Reuse::First => {}
            Reuse::Last => {
                let last = self.tableau.stages * self.size;
                self.slopes.copy_within(last..last + self.size, 0);
                // The chart moved with the base: there δ = 0.
                self.increment.fill(0.0);
                let v = self.shape.v;
                y.local_rate(&self.increment[..v], &s.v, &mut self.slopes[..v]);
            }
        }
        false
    }

    /// Row 0 of slopes holds the rates of the base.
    pub(super) fn moved(&mut self) {
        self.reuse = Reuse::First;
    }

    /// Moves the base to the state and makes row 0 of slopes its rates.
    pub(super) fn rebase(&mut self, y: &Y, s: &State<f64>) -> Result<(), IntegrateError> {
        if self.move_to(y, s) {
            self.evaluate(y, 0)?;
        }
        self.moved();
        Ok(())
    }

    /// The number of stages of a step.
    pub(super) fn stages(&self) -> usize {
        self.tableau.stages
    }

    /// The rates (v̇, ẋ, ż) in row 0.
    pub(super) fn first_rates(&self) -> &[f64] {
        &self.slopes[self.shape.v..self.size]
    }

    /// The sizes of all components, for the weights of the error.
    pub(super) fn measure(&mut self, y: &Y) {
        packed::measure(y, self.shape, &self.base, &mut self.sizes);
    }

    /// The error allowed in each component: the larger of the sizes at both ends of the step counts.
    fn weight(&self, tolerance: Tolerance, i: usize) -> f64 {
        let Shape { v, x, .. } = self.shape;
        let end = match i {
            _ if i < v => 0.0,
            _ if i < 2 * v => self.stage.v[i - v],
            _ if i < 2 * v + x => self.stage.x[i - 2 * v],
            _ => self.stage.z[i - 2 * v - x],
        };
        tolerance.weight(self.sizes[i].max(end.abs()))
    }

    /// The largest of h Σ e_j k_j in units of the weights.
    fn error(&mut self, tolerance: Tolerance, h: f64, weights: &[f64]) -> Largest {
        self.combine(h, weights);
        let mut largest = Largest::default();
        for i in 0..self.size {
            largest.see(i, self.increment[i] / self.weight(tolerance, i));
        }
        largest
    }

    /// One attempt at a step to `end`: all stages, the state at the end in `stage`, and the error.
    pub(super) fn attempt(&mut self, y: &Y, tolerance: Tolerance, end: f64) -> Result<Largest, IntegrateError> {
        for i in 1..=self.tableau.stages {
            if self.advance(y, i, end) {
                self.evaluate(y, i)?;
            }
        }
        Ok(self.errors(tolerance, end))
    }

    /// Moves on to stage `i` of a step to `end`; says whether its rates are needed now.
    pub(super) fn advance(&mut self, y: &Y, i: usize, end: f64) -> bool {
        let (tableau, t) = (self.tableau, self.base.t);
        let h = end - t;
        self.combine(h, tableau.rows[i]);
        self.place(y, if tableau.nodes[i] == 1.0 { end } else { t + tableau.nodes[i] * h });
        self.needed().contains(&i)
    }

    /// The stages after the first one that a verdict needs: the rates at the end wait for it where the estimate does without them.
    pub(super) fn needed(&self) -> Range<usize> {
        1..self.tableau.stages + usize::from(self.tableau.error.len() > self.tableau.stages)
    }

    /// What others need to make stages of a step to `end`, and where these go.
    pub(super) fn ahead(&mut self, range: Range<usize>, end: f64) -> (&State<f64>, Stages, &mut [f64]) {
        let stages = Stages { tableau: self.tableau, range, h: end - self.base.t, end };
        (&self.base, stages, &mut self.slopes)
    }

    /// Counts evaluations that others have made.
    pub(super) fn credit(&mut self, count: usize) {
        (0..count).for_each(|_| self.dynamics.credit());
    }

    /// The error of an attempt whose stages are there.
    pub(super) fn errors(&mut self, tolerance: Tolerance, end: f64) -> Largest {
        let (tableau, h) = (self.tableau, end - self.base.t);
        let mut error = self.error(tolerance, h, tableau.error);
        if !tableau.error_low.is_empty() {
            let low = self.error(tolerance, h, tableau.error_low);
            error.value = Tableau::combine(error.value, low.value);
        }
        error
    }

    /// Completes an accepted attempt: rates at the end, projection to the constraints.
    pub(super) fn finish(&mut self, y: &Y, tolerance: Tolerance, end: f64) -> Result<(), IntegrateError> {
        if self.lacks_end(end) {
            self.evaluate(y, self.tableau.stages)?;
        }
        self.settle(y, tolerance, end)
    }

    /// Whether the rates at the end of an accepted attempt are still to be evaluated.
    pub(super) fn lacks_end(&mut self, end: f64) -> bool {
        let tableau = self.tableau;
        let lacks = tableau.error.len() <= tableau.stages;
        if lacks {
            self.combine(end - self.base.t, tableau.rows[tableau.stages]);
        }
        lacks
    }

    /// Projects the end of an accepted attempt to the constraints, and notes what the next step can take over.
    pub(super) fn settle(&mut self, y: &Y, tolerance: Tolerance, end: f64) -> Result<(), IntegrateError> {
        let moved = self.project(y, tolerance)?;
        self.settled(moved, end);
        Ok(())
    }

    /// Notes what the next step can take over from an accepted attempt, whose end was moved to the constraints or not.
    pub(super) fn settled(&mut self, moved: bool, end: f64) {
        let tableau = self.tableau;
        self.reuse = if moved { Reuse::Nothing } else { Reuse::Last };
        self.h = end - self.base.t;
        self.dense = if tableau.all_stages() > tableau.stages + 1 { Dense::Missing } else { Dense::Ready };
    }

    /// What projects the end of an attempt, and that end.
    pub(super) fn projected(&mut self) -> (&mut Dynamics<Y>, &mut State<f64>) {
        (&mut self.dynamics, &mut self.stage)
    }

    /// The relative residuals that are left alone.
    pub(super) fn negligible(&self, tolerance: Tolerance) -> f64 {
        NEGLIGIBLE * tolerance.relative
    }

    /// Moves the state at the end of the step to the constraints; says whether that was necessary.
    fn project(&mut self, y: &Y, tolerance: Tolerance) -> Result<bool, IntegrateError> {
        if self.shape.rows() == 0 {
            return Ok(false);
        }
        let (position, velocity) = self.dynamics.residuals(y, &self.stage)?;
        let negligible = self.negligible(tolerance);
        if position.relative <= negligible && velocity.relative <= negligible {
            return Ok(false);
        }
        self.dynamics.project_position(y, &mut self.stage, tolerance.relative)?;
        self.dynamics.project_velocity(y, &mut self.stage)?;
        Ok(true)
    }

    /// h|λ| for the fastest rate λ that the last two stages show, both at the end of the step: h |k_s − k_{s−1}| / |y_s − y_{s−1}|, \[3\]
    /// section IV.2. Integrals have no part in it.
    pub(super) fn stiffness(&mut self, tolerance: Tolerance) -> f64 {
        let (s, size) = (self.tableau.stages, self.size);
        let mut weights = [0.0; MOST_STAGES];
        weights[..s].copy_from_slice(self.tableau.rows[s]);
        for (weight, before) in weights.iter_mut().zip(self.tableau.rows[s - 1]) {
            *weight -= before;
        }
        self.combine(self.h, &weights);
        let (mut rates, mut ways) = (0.0, 0.0);
        for i in 0..2 * self.shape.v + self.shape.x {
            let weight = self.weight(tolerance, i);
            rates += ((self.slopes[s * size + i] - self.slopes[(s - 1) * size + i]) / weight).powi(2);
            ways += (self.increment[i] / weight).powi(2);
        }
        if ways > 0.0 { self.h * (rates / ways).sqrt() } else { 0.0 }
    }

    /// A first step after \[2\] p. 169: an explicit Euler step of 1 % of the state's size tells the second derivative.
    pub(super) fn first_step(&mut self, y: &Y, tolerance: Tolerance) -> f64 {
        self.measure(y);
        let weigh = |of: &Self, values: &[f64]| {
            let mut largest = Largest::default();
            for i in 0..of.size {
                largest.see(i, values[i] / tolerance.weight(of.sizes[i]));
            }
            largest.value
        };
        let (size, slope) = (weigh(self, &self.sizes), weigh(self, &self.slopes[..self.size]));
        let trial = if size < 1e-5 || slope < 1e-5 { 1e-6 } else { 0.01 * size / slope };
        self.combine(trial, &[1.0]);
        self.place(y, self.base.t + trial);
        let evaluated = self.dynamics.evaluate(y, &self.stage, &mut self.rates);
        if evaluated.and_then(|()| self.keep(y, 1)).is_err() {
            return trial;
        }
        for i in 0..self.size {
            self.increment[i] = self.slopes[self.size + i] - self.slopes[i];
        }
        let curvature = weigh(self, &self.increment) / trial;
        let largest = slope.max(curvature);
        let power = f64::from(self.tableau.order + 1);
        let step = if largest <= 1e-15 { (trial * 1e-3).max(1e-6) } else { (0.01 / largest).powf(1.0 / power) };
        step.min(100.0 * trial)
    }

    /// The user's name of a packed component.
    pub(super) fn name(&self, y: &Y, index: usize) -> String {
        packed::name(y, self.shape, index)
    }

    /// The state at the end of the step completed last.
    pub(super) fn end(&self) -> &State<f64> {
        &self.stage
    }

    /// The work done.
    pub(super) fn counts(&self) -> Counts {
        self.dynamics.counts()
    }

    /// Whether the state meets the constraints.
    pub(super) fn check(&mut self, y: &Y, s: &State<f64>, tolerance: f64) -> Result<(), IntegrateError> {
        self.dynamics.check(y, s, tolerance)
    }

    /// The further stages that continuous output still needs; they count as there from now on.
    pub(super) fn further(&mut self) -> Range<usize> {
        if self.dense != Dense::Missing {
            return 0..0;
        }
        self.dense = Dense::Ready;
        self.tableau.stages + 1..self.tableau.all_stages()
    }

    /// Moves on to a further stage.
    pub(super) fn advance_dense(&mut self, y: &Y, i: usize) {
        self.combine(self.h, self.tableau.rows[i]);
        self.place(y, self.base.t + self.tableau.nodes[i] * self.h);
    }

    /// The further stages could not be evaluated.
    pub(super) fn fail_dense(&mut self) {
        self.dense = Dense::Failed;
    }

    /// Makes the increment that leads from the base to the continuous output at a time.
    fn increase(&mut self, y: &Y, at: f64) {
        let tableau = self.tableau;
        let (t, h) = (self.base.t, self.h);
        let theta = if h > 0.0 { (at - t) / h } else { 0.0 };
        for i in self.further() {
            self.advance_dense(y, i);
            if self.evaluate(y, i).is_err() {
                self.fail_dense();
                break;
            }
        }
        let mut weights = [0.0; MOST_STAGES];
        match self.dense {
            Dense::Ready => tableau.weights(theta, &mut weights),
            _ => tableau.hermite_weights(theta, &mut weights),
        }
        self.combine(h, &weights);
    }

    /// The continuous output at `out.t`.
    pub(super) fn dense(&mut self, y: &Y, out: &mut State<f64>) {
        self.increase(y, out.t);
        place(y, self.shape, &self.base, &self.increment, out.t, out);
    }

    /// What leads from the base to the continuous output at some times; gives the base and the size of an increment.
    pub(super) fn ways(&mut self, y: &Y, times: &[f64], out: &mut Ways) -> (&State<f64>, usize) {
        out.times.clear();
        out.times.extend_from_slice(times);
        out.increments.clear();
        for &t in times {
            self.increase(y, t);
            out.increments.extend_from_slice(&self.increment);
        }
        out.sizes.clear();
        out.sizes.extend_from_slice(&self.sizes[..self.shape.v]);
        floor(&mut out.sizes);
        (&self.base, self.size)
    }

    /// What the next step depends on besides the state: whether rates are evaluated anew, and the memory of the dynamics.
    pub(super) fn memory(&self, out: &mut Vec<f64>) {
        out.push(f64::from(u8::from(self.reuse == Reuse::Nothing)));
        self.dynamics.memory(out);
    }

    /// Takes over a memory.
    pub(super) fn recall(&mut self, memory: &[f64]) {
        let Some((&anew, rest)) = memory.split_first() else { return };
        let mut held = Vec::new();
        self.dynamics.memory(&mut held);
        self.dynamics.recall(rest);
        // The rates found by the start serve if they were found with the same rows. The sizes of rows come after them, and tell only through them.
        let rows = held.len() / 2;
        if anew != 0.0 || held[..rows] != rest[..rows] {
            self.reuse = Reuse::Nothing;
        }
    }
}
