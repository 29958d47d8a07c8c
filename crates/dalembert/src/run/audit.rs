//! The audit of a run: does the energy ledger close?
//!
//! The exact motion keeps E = T + U + dissipated − supplied. Each step of an integrator leaves the exact motion by a local
//! error that it estimates as η wᵢ, wᵢ = absolute + tolerance·|yᵢ|, in every component; its control keeps η below one. To
//! first order this changes the energy by at most
//!
//! ```text
//! e = η (Σ |fᵢ| wᵢ(q) + Σ |(M v)ᵢ| wᵢ(v) + Σ w(z))
//! ```
//!
//! because −∂U/∂q is part of the generalised forces f and ∂T/∂v = M v. Between errors the exact motion keeps E, so they add
//! up and nothing amplifies them: the ledger must close within a small factor times Σ e over the steps. An estimate that
//! vanishes by chance counts as a hundredth ([`LEAST`]). Rounding adds a few ulps of the energies in each step.
//!
//! Time stepping (`moreau`) has no error control; it says of each step how much energy it may have missed. Variational methods have none either: their energies swing
//! and do not drift, see [`super::swing`].

use super::swing::{Swing, widened};
use crate::equations::{Ledger, Momentum, Work};
use crate::model::Model;
use crate::record;
use dalembert_methods::algebra::Mass;
use dalembert_methods::{State, System};

/// The part of the tolerance that a step's error counts as at least.
const LEAST: f64 = 1e-2;

/// Watches the energies of a run.
pub struct Audit {
    work: Work<f64>,
    mass: Mass<f64>,
    /// Whether masses are at hand, which need not be asked for again if they are constant.
    massed: bool,
    force: Vec<f64>,
    product: Vec<f64>,
    magnitude: Vec<f64>,
    tolerance: f64,
    absolute: f64,
    factor: f64,
    start: Option<record::Balance>,
    end: record::Balance,
    worst: f64,
    worst_time: f64,
    allowed: f64,
    swing: Swing,
    /// By how much the method widens it.
    wide: f64,
    worst_position: f64,
    worst_velocity: f64,
    /// Heat of sliding and energy lost in impacts.
    lost: [f64; 2],
    residual: Vec<f64>,
    /// The time looked at last.
    time: Option<f64>,
    /// A force that dissipates less than nothing, when, and how much.
    gain: Option<(usize, f64, f64)>,
}

impl Audit {
    /// An audit for steps of the given tolerances; `factor` multiplies the allowance.
    pub fn new(model: &Model, tolerance: f64, absolute: f64, factor: f64) -> Self {
        let shape = model.shape();
        Self {
            work: model.work(),
            mass: Mass::new(&model.mass_blocks()),
            massed: false,
            force: vec![0.0; shape.v],
            product: vec![0.0; shape.v],
            magnitude: vec![0.0; shape.v],
            tolerance,
            absolute,
            factor,
            start: None,
            end: record::Balance::default(),
            worst: 0.0,
            worst_time: 0.0,
            allowed: 0.0,
            swing: Swing::new(shape.v),
            wide: 1.0,
            worst_position: 0.0,
            worst_velocity: 0.0,
            lost: [0.0; 2],
            residual: vec![0.0; shape.rows()],
            time: None,
            gain: None,
        }
    }

    /// Tells the chord of rotations, if the method has one.
    pub fn set_chord(&mut self, chord: f64) {
        self.wide = widened(chord);
    }

    /// Takes a state at the end of a step (or the initial one) into account; `error` is the estimate η of the step, if the method has one.
    pub fn observe(&mut self, model: &Model, s: &State<f64>, error: Option<f64>) {
        let is_first = self.start.is_none();
        let ledger = self.look(model, s);
        if !(self.massed && model.mass_is_constant()) {
            model.mass(s, &mut self.work, &mut self.mass);
            self.massed = true;
        }
        self.mass.apply(&s.v, &mut self.product);
        let rounding = rounding(&ledger);
        let mut step = rounding;
        if is_first || error.is_none() {
            let through = [ledger.dissipated, ledger.supplied];
            step += self.factor * self.swing.take(s.t, &self.product, &s.v, through);
        }
        match error {
            Some(error) => {
                let allowed = self.step_allowance(model, s, error) + rounding;
                self.allow(model, s, allowed, allowed);
            }
            None => self.allow(model, s, rounding, step),
        }
    }

    /// Velocities have jumped.
    pub fn part(&mut self) {
        self.swing.part();
    }

    /// The same for a step of which the method itself says how much energy it may have missed, in J.
    pub fn observe_missed(&mut self, model: &Model, s: &State<f64>, missed: f64) {
        let ledger = self.look(model, s);
        let allowed = self.factor * missed + rounding(&ledger);
        self.allow(model, s, allowed, allowed);
    }

    /// Allows so much more, in J.
    pub fn forgive(&mut self, missed: f64) {
        self.allowed += self.factor * missed;
    }

    /// Adds an allowance. A force whose dissipation over the step is below zero by more than `step` creates energy.
    fn allow(&mut self, model: &Model, s: &State<f64>, allowed: f64, step: f64) {
        self.allowed += allowed;
        let h = self.time.map_or(0.0, |time| s.t - time);
        self.time = Some(s.t);
        if self.gain.is_none() {
            let least = model.least_dissipation(s, &mut self.work);
            self.gain = least.filter(|(_, heat)| heat * h < -step).map(|(force, heat)| (force, s.t, heat));
        }
    }

    /// Compares the energies and residuals of a state with what was before.
    fn look(&mut self, model: &Model, s: &State<f64>) -> Ledger<f64> {
        model.prepare(s, &mut self.work);
        let ledger = model.ledger(s, &mut self.work);
        let balance = balance(&ledger, &model.momentum(&self.work));
        let start = *self.start.get_or_insert(balance);
        self.end = balance;
        let imbalance = (balance.total - start.total).abs();
        // Not a number counts as the worst.
        if imbalance.is_nan() || imbalance > self.worst {
            self.worst = imbalance;
            self.worst_time = s.t;
        }
        if let [.., _, heat, lost] = s.z[model.shape().z..] {
            self.lost = [heat, lost];
        }
        let g = model.shape().g;
        model.constraint(s, &mut self.work, &mut self.residual[..g]);
        self.worst_position = self.worst_position.max(largest(&self.residual[..g]));
        model.constraint_rate(s, &mut self.work, &mut self.residual);
        self.worst_velocity = self.worst_velocity.max(largest(&self.residual));
        ledger
    }

    /// The bound e of one step; momenta are at hand.
    fn step_allowance(&mut self, model: &Model, s: &State<f64>, error: f64) -> f64 {
        model.force(s, &mut self.work, &mut self.force);
        model.magnitude(&s.q, &mut self.magnitude);
        let weight = |size: f64| self.absolute + self.tolerance * size.abs();
        let mut sum = 0.0;
        for i in 0..s.v.len() {
            sum += self.force[i].abs() * weight(self.magnitude[i]) + self.product[i].abs() * weight(s.v[i]);
        }
        sum += s.z.iter().map(|&z| weight(z)).sum::<f64>();
        self.factor * error.max(LEAST) * sum
    }

    /// The first force found to dissipate less than nothing: its number, the time in s and its dissipation in W. No law of a material or
    /// contact may do so (the dissipation inequality).
    pub fn gain(&self) -> Option<(usize, f64, f64)> {
        self.gain
    }

    /// The verdict.
    pub fn ledger(&self) -> record::Ledger {
        let allowance = self.allowed + self.factor * self.wide * self.swing.allowance();
        record::Ledger {
            start: self.start.unwrap_or_default(),
            end: self.end,
            worst_imbalance: self.worst,
            worst_imbalance_time: self.worst_time,
            allowance,
            closes: self.worst.is_finite() && allowance.is_finite() && self.worst <= allowance,
            worst_position_residual: self.worst_position,
            worst_velocity_residual: self.worst_velocity,
            lost_in_impacts: self.lost[1],
            lost_in_sliding: self.lost[0],
        }
    }

    /// All that it remembers, as plain numbers.
    pub(super) fn memory(&self) -> Vec<f64> {
        let mut memory = vec![self.worst, self.worst_time, self.allowed, self.worst_position, self.worst_velocity];
        for b in [self.start.unwrap_or_default(), self.end] {
            memory.extend([b.kinetic, b.potential, b.dissipated, b.supplied, b.total]);
            memory.extend(b.linear_momentum.iter().chain(&b.angular_momentum));
        }
        self.swing.memory(&mut memory);
        memory
    }

    /// Takes a memory back; `None` if it has another length.
    pub(super) fn recall(&mut self, memory: &[f64]) -> Option<()> {
        let read = |m: &[f64]| {
            Some(record::Balance {
                kinetic: m[0],
                potential: m[1],
                dissipated: m[2],
                supplied: m[3],
                total: m[4],
                linear_momentum: m[5..8].try_into().ok()?,
                angular_momentum: m[8..11].try_into().ok()?,
            })
        };
        let (head, balances) = memory.split_at_checked(5)?;
        let (start, rest) = balances.split_at_checked(11)?;
        let (end, swing) = rest.split_at_checked(11)?;
        self.swing.recall(swing)?;
        [self.worst, self.worst_time, self.allowed, self.worst_position, self.worst_velocity] = head.try_into().ok()?;
        self.start = Some(read(start)?);
        self.end = read(end)?;
        Some(())
    }
}

/// A few ulps of the energies.
fn rounding(ledger: &Ledger<f64>) -> f64 {
    let Ledger { kinetic, potential, dissipated, supplied } = ledger;
    4.0 * f64::EPSILON * (kinetic + potential.abs() + dissipated.abs() + supplied.abs())
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |max: f64, g| max.max(g.abs()))
}

fn balance(ledger: &Ledger<f64>, momentum: &Momentum<f64>) -> record::Balance {
    record::Balance {
        kinetic: ledger.kinetic,
        potential: ledger.potential,
        dissipated: ledger.dissipated,
        supplied: ledger.supplied,
        total: ledger.total(),
        linear_momentum: momentum.linear.0,
        angular_momentum: momentum.angular.0,
    }
}
