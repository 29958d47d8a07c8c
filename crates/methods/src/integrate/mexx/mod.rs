//! MEXX: extrapolation of the half-explicit Euler method, for constrained systems that are not stiff.
//!
//! The constraints are taken on velocity level (index 2), where one linear system for each substep meets them: steps ask for no
//! accelerations of constraints, and multipliers need no start values. The scheme of one substep stands in `euler`, \[1\]
//! (36)–(41). Its error has an expansion in powers of h \[2\], so the results of 1, 2, 3, … substeps in one step H are
//! extrapolated to h = 0, and k of them (columns) give order k (`table`). The number of columns and the step size are
//! chosen together (`order`). The state is then projected to the positions and velocities that the constraints allow,
//! \[1\] (42). The projection is as small as the local error and keeps the order.
//!
//! Choices where the sources leave one, and departures:
//!
//! - Increments δ from the base of the step take the place of q, so this is a Lie-group method as the others here: the expansion
//!   holds in the chart.
//! - A mass that depends on q is taken at the new position, as the rows in (40): both belong to one factorisation. Forces are
//!   those of the old state, as printed; so the force at the base serves all columns.
//! - Extra states follow with their old rates. Integrals are advanced with the multipliers of the same substep, at its new position
//!   and old velocity, where the system is prepared anyway. This holds for the first substep, too.
//! - The error is the largest weighted component (see [`super::control`]) of T_{kk} − T_{k,k−1}; T_{kk} is taken.
//! - What is known of rows that depend on others goes back to the base before every column: what a coarse column meets far off
//!   the constraints does not decide about the next one.
//! - The expansion is in h, not in h². The midpoint rule, which has one in h², would take Gᵀ at one position and G at the next:
//!   a system without symmetry, which the solves by structure here are not made for.
//!
//! k columns cost 1 + k(k−1)/2 forces and k(k+1)/2 factorisations, and the projection two factorisations more as a rule.
//! Continuous output costs no evaluation and is not projected: its constraint residuals are those of its order, k.
//!
//! References: \[1\] Alscher: Numerical simulation of impact and lift-off events in the hydrostatic skeleton of the leech, University of
//! Bielefeld, section 3; \[2\] Lubich: Extrapolation integrators for constrained multibody systems, Impact Comput. Sci. Eng. 3 (1991)
//! 213–234; Lubich, Nowak, Pöhle, Engstler: MEXX – numerical software for the integration of constrained mechanical multibody
//! systems, Preprint SC 92-12, Konrad-Zuse-Zentrum Berlin 1992; \[3\] Hairer, Nørsett, Wanner: Solving Ordinary Differential
//! Equations I, 2nd ed., Springer 1993, section II.9; Deuflhard: Order and stepsize control in extrapolation methods, Numer. Math. 41 (1983)
//! 399–422; \[4\] Hairer, Ostermann: Dense output for extrapolation methods, Numer. Math. 58 (1990) 419–439.

mod euler;
mod order;
mod table;

use super::control::{Largest, Tolerance, land, shortest_step};
use super::options::{ABSOLUTE, FIRST_STEP, FIXED_STEP, LARGEST_STEP, SAFETY, SMALLEST_STEP, TOLERANCE};
use super::packed::{self, place};
use super::{About, Counts, IntegrateError, Integrator, Parameter, Settings, SettingsError, Step};
use crate::system::{State, System};
use euler::Euler;
use order::{Control, MOST, Verdict};
use table::Table;

/// Initial states are never asked to meet the constraints better than this, relative to the size of the system.
const CONSISTENT: f64 = 1e-12;
/// The number of columns with steps of fixed length, if no other is asked for.
const COLUMNS: usize = 5;

/// What `mexx` is.
pub const ABOUT_MEXX: About = About {
    name: "mexx",
    title: "Extrapolation of the half-explicit Euler method, of variable order (MEXX)",
    summary: "For constrained systems without stiff springs, when contacts and events start the motion anew again and again: it \
              needs no accelerations of constraints and no history, and chooses its order with the step size. k columns of \
              extrapolation give order k for 1 + k(k−1)/2 force evaluations and k(k+1)/2 factorisations; with steps of fixed \
              length there are 5. Continuous output of order k at no cost. Constraints are met on velocity level in every \
              substep and by projection after each step.",
    order: COLUMNS as u32,
    stiff: false,
    parameters: &[
        TOLERANCE,
        ABSOLUTE,
        FIRST_STEP,
        LARGEST_STEP,
        SMALLEST_STEP,
        FIXED_STEP,
        SAFETY,
        Parameter {
            name: "largest_order",
            unit: "1",
            default: 10.0,
            range: [5.0, MOST as f64],
            meaning: "the most columns of extrapolation; rounding grows about threefold with each",
        },
        Parameter {
            name: "fixed_order",
            unit: "1",
            default: 0.0,
            range: [0.0, MOST as f64],
            meaning: "the number of columns in every step, at least 2 under error control; 0 chooses the cheapest (5 with `fixed_step`)",
        },
    ],
    references: &[
        "Lubich: Extrapolation integrators for constrained multibody systems, Impact Comput. Sci. Eng. 3 (1991) 213–234",
        "Lubich, Nowak, Pöhle, Engstler: MEXX – numerical software for the integration of constrained mechanical multibody \
         systems, Preprint SC 92-12, Konrad-Zuse-Zentrum Berlin 1992",
        "Deuflhard: Order and stepsize control in extrapolation methods, Numer. Math. 41 (1983) 399–422",
        "Hairer, Nørsett, Wanner: Solving Ordinary Differential Equations I, 2nd ed., Springer 1993, section II.9",
        "Hairer, Ostermann: Dense output for extrapolation methods, Numer. Math. 58 (1990) 419–439",
    ],
};

/// The extrapolated half-explicit Euler method.
pub struct Mexx<Y: System> {
    tolerance: Tolerance,
    first_step: f64,
    largest_step: f64,
    smallest_step: f64,
    fixed_step: f64,
    /// The most columns that can occur.
    most: usize,
    control: Control,
    proposal: f64,
    counts: Counts,
    scratch: Option<Scratch<Y>>,
}

/// Everything allocated at the start.
struct Scratch<Y: System> {
    euler: Euler<Y>,
    table: Table,
    sizes: Vec<f64>,
    increment: Vec<f64>,
    /// The length of the last step.
    h: f64,
}

/// The end of an attempt at a step.
struct Attempt {
    /// The last column that was complete.
    column: usize,
    /// Its error in units of the tolerance.
    error: Largest,
    /// Whether the step is good.
    accepted: bool,
}

impl<Y: System> Mexx<Y> {
    /// The method with its settings.
    pub fn new(settings: &Settings) -> Result<Self, SettingsError> {
        settings.check(&ABOUT_MEXX)?;
        let get = |name| settings.get(&ABOUT_MEXX, name);
        let (largest_step, fixed_step) = (get("largest_step"), get("fixed_step"));
        let (largest, columns) = (get("largest_order") as usize, get("fixed_order") as usize);
        if columns == 1 && fixed_step == 0.0 {
            // One column has no second one to be compared with.
            return Err(SettingsError::Range { name: "fixed_order", value: columns as f64, range: [2.0, MOST as f64] });
        }
        let fixed = match columns {
            0 => (fixed_step > 0.0).then_some(COLUMNS),
            _ => Some(columns),
        };
        Ok(Self {
            tolerance: Tolerance::new(get("tolerance"), get("absolute")),
            first_step: get("first_step"),
            largest_step: if largest_step > 0.0 { largest_step } else { f64::INFINITY },
            smallest_step: get("smallest_step"),
            fixed_step,
            most: fixed.unwrap_or(largest),
            control: Control::new(get("safety"), largest, fixed),
            proposal: 0.0,
            counts: Counts::default(),
            scratch: None,
        })
    }
}

impl<Y: System> Scratch<Y> {
    fn new(y: &Y, most: usize) -> Self {
        let euler = Euler::new(y);
        let size = euler.size();
        let zeros = || vec![0.0; size];
        Self { euler, table: Table::new(size, most), sizes: zeros(), increment: zeros(), h: 0.0 }
    }

    /// Takes a state as the base of a step.
    fn begin(&mut self, y: &Y, s: &State<f64>) -> Result<(), IntegrateError> {
        self.table.begin();
        self.euler.begin(y, s)?;
        packed::measure(y, self.euler.shape, s, &mut self.sizes);
        Ok(())
    }

    /// A first step: one in which nothing changes by more than 1 % of its size, measured in units of the tolerance.
    fn first_step(&mut self, y: &Y, s: &State<f64>, tolerance: Tolerance) -> Result<f64, IntegrateError> {
        packed::measure(y, self.euler.shape, s, &mut self.sizes);
        self.euler.slope(y, s, &mut self.increment)?;
        let (mut size, mut slope) = (Largest::default(), Largest::default());
        for (i, &own) in self.sizes.iter().enumerate() {
            size.see(i, own / tolerance.weight(own));
            slope.see(i, self.increment[i] / tolerance.weight(own));
        }
        Ok(if slope.value < 1e-5 || size.value < 1e-5 { 1e-6 } else { 0.01 * size.value / slope.value })
    }

    /// The largest weighted component of T_{kk} − T_{k,k−1}; the larger of the sizes at both ends of the step counts.
    fn error(&self, tolerance: Tolerance) -> Largest {
        let v = self.euler.shape.v;
        let base = &self.euler.base;
        let begin = base.v.iter().chain(&base.x).chain(&base.z);
        let mut begin = std::iter::repeat_n(&0.0, v).chain(begin);
        let mut largest = Largest::default();
        for (i, (difference, increment)) in self.table.difference().zip(self.table.end()).enumerate() {
            let end = begin.next().map_or(0.0, |begin| if i < v { 0.0 } else { begin + increment });
            largest.see(i, difference / tolerance.weight(self.sizes[i].max(end.abs())));
        }
        largest
    }

    /// Columns until the step to `end` is good or given up.
    fn attempt(
        &mut self,
        y: &Y,
        control: &mut Control,
        tolerance: Tolerance,
        end: f64,
        early: bool,
    ) -> Result<Attempt, IntegrateError> {
        let h = end - self.euler.base.t;
        control.begin();
        let mut column = 1;
        loop {
            self.euler.column(y, column, end, self.table.column(column))?;
            self.table.extrapolate(column);
            let error = if column == 1 { Largest::default() } else { self.error(tolerance) };
            match control.judge(column, h, error.value, early) {
                Verdict::Continue => column += 1,
                verdict => return Ok(Attempt { column, error, accepted: verdict == Verdict::Accept }),
            }
        }
    }

    /// Completes an accepted attempt.
    fn finish(&mut self, y: &Y, end: f64, column: usize, tolerance: Tolerance) -> Result<(), IntegrateError> {
        self.euler.finish(y, end, self.table.end(), tolerance.relative)?;
        self.table.complete(column);
        self.h = end - self.euler.base.t;
        Ok(())
    }
}

impl<Y: System> Integrator<Y> for Mexx<Y> {
    fn about(&self) -> &'static About {
        &ABOUT_MEXX
    }

    fn start(&mut self, y: &Y, s: &mut State<f64>) -> Result<(), IntegrateError> {
        let mut scratch = Scratch::new(y, self.most);
        scratch.euler.check(y, s, self.tolerance.relative.max(CONSISTENT))?;
        scratch.euler.base.copy_from(s);
        self.control.start(y.shape().rows() > 0, self.tolerance.relative);
        self.proposal = match (self.fixed_step, self.first_step) {
            (fixed, _) if fixed > 0.0 => fixed,
            (_, first) if first > 0.0 => first,
            _ => scratch.first_step(y, s, self.tolerance)?,
        };
        self.counts = Counts::default();
        self.scratch = Some(scratch);
        Ok(())
    }

    fn step(&mut self, y: &Y, s: &mut State<f64>, until: f64) -> Result<Step, IntegrateError> {
        let Some(scratch) = &mut self.scratch else {
            return Err(IntegrateError::Refused { reason: "`mexx` was not started".to_owned() });
        };
        let t = s.t;
        if until.is_nan() || until <= t {
            return Err(IntegrateError::Refused { reason: format!("a step from t = {t} s cannot end at {until} s") });
        }
        scratch.begin(y, s)?;
        let fixed = self.fixed_step > 0.0;
        let smallest = self.smallest_step.max(shortest_step(t));
        let mut rejected = 0;
        loop {
            let wanted = self.proposal.min(self.largest_step);
            let end = land(t, wanted, until);
            let h = end - t;
            // A step cut short by `until` ends as soon as it can, and says little about the next one.
            let short = h < 0.99 * wanted;
            let attempt = scratch.attempt(y, &mut self.control, self.tolerance, end, short).and_then(|attempt| {
                if fixed || attempt.accepted {
                    scratch.finish(y, end, attempt.column, self.tolerance)?;
                }
                Ok(attempt)
            });
            let next = match &attempt {
                Ok(Attempt { column, error, accepted }) if fixed || *accepted => {
                    s.copy_from(&scratch.euler.stage);
                    if !fixed && !short {
                        self.proposal = self.control.accept(*column, h, rejected > 0);
                    }
                    self.counts.steps += 1;
                    return Ok(Step { t, h, error: Some(error.value), rejected });
                }
                Ok(Attempt { column, .. }) => self.control.reject(*column, h),
                Err(_) => 0.5 * h,
            };
            self.counts.rejected += 1;
            rejected += 1;
            if fixed || next < smallest {
                return Err(match attempt {
                    Err(failure) => failure,
                    Ok(Attempt { error, .. }) => {
                        let worst = packed::name(y, scratch.euler.shape, error.index);
                        IntegrateError::StepTooSmall { t, h, worst }
                    }
                });
            }
            self.proposal = next;
        }
    }

    fn dense(&mut self, y: &Y, out: &mut State<f64>) {
        let Some(scratch) = &mut self.scratch else { return };
        let (base, h) = (&scratch.euler.base, scratch.h);
        let theta = if h > 0.0 { (out.t - base.t) / h } else { 0.0 };
        scratch.table.dense(theta, &mut scratch.increment);
        place(y, scratch.euler.shape, base, &scratch.increment, out.t, out);
    }

    fn counts(&self) -> Counts {
        let work = self.scratch.as_ref().map(|scratch| scratch.euler.counts()).unwrap_or_default();
        Counts { steps: self.counts.steps, rejected: self.counts.rejected, ..work }
    }

    fn memory(&self) -> Vec<f64> {
        let mut memory = vec![self.proposal, self.control.target as f64];
        if let Some(scratch) = &self.scratch {
            scratch.euler.memory(&mut memory);
        }
        memory
    }

    fn recall(&mut self, memory: &[f64]) {
        if let (Some(scratch), &[proposal, target, ref rest @ ..]) = (&mut self.scratch, memory) {
            self.proposal = proposal;
            self.control.target = target as usize;
            scratch.euler.recall(rest);
        }
    }
}
