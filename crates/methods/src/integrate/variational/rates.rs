//! Steps of several rates within each other.
//!
//! With the slow forces at the ends of macro steps (α = 0) the discrete action (\[1\] section 3) makes a step half a kick by slow forces, micro steps by all others,
//! and half a kick; the micro steps are made of kicks by their own forces and of still smaller steps in the same way, down to the fastest
//! forces, which together with the constraints are taken by a variational rule of their own (explicit ones by [`super::links`]). Where no fast force acts a coordinate moves on
//! a straight line through the whole macro step, so the slow variables live on the macro grid. Slow forces within macro steps (α > 0) are
//! [`super::whole`].
//!
//! Of forces that depend on the place alone those at the end of a step serve at the beginning of the next one too.
//!
//! References: \[1\] Leyendecker, Ober-Blöbaum: A variational approach to multirate integration for constrained systems, in: Multibody Dynamics,
//! Springer 2013, 97–121; Tuckerman, Berne, Martyna: Reversible multiple time scale molecular dynamics, J. Chem. Phys. 97 (1992) 1990–2001.

use super::links::Links;
use super::mover::Mover;
use super::whole::Whole;
use super::{MOST_RATES, Micro, Recipe};
use crate::algebra::MassBlock;
use crate::dynamics::finite;
use crate::integrate::{Counts, IntegrateError};
use crate::system::{State, System};

/// Why a system cannot be taken, if it cannot.
pub(super) fn refuse<Y: System>(y: &Y, micro: Micro) -> Option<String> {
    let rates = y.rates();
    if rates < 2 {
        let reason =
            "needs forces that are fast, and none is named; name stiff ones in `run.fast`, or use `variational`";
        return Some(reason.to_owned());
    }
    if rates > MOST_RATES {
        return Some(format!("knows {MOST_RATES} rates at most, and there are {rates}"));
    }
    if let Some(rate) = (1..rates).find(|&rate| y.fast(rate).is_empty()) {
        let key = ["fast", "faster", "fastest"][rate - 1];
        return Some(format!(
            "has no variable to move fast: the forces of `run.{key}` act on nothing that moves, or there are none"
        ));
    }
    if micro.slow > 0.0 && rates > 2 {
        return Some(format!(
            "takes slow forces within macro steps with two rates only, and there are {rates}; use `slow_alpha = 0`"
        ));
    }
    None
}

/// Accelerations by the forces of one rate, and where they were taken.
struct Kick {
    rate: Vec<f64>,
    at: Vec<f64>,
}

/// The steps within a macro step.
pub(super) struct Nested<Y: System> {
    micro: Micro,
    /// The highest rate.
    last: usize,
    still: bool,
    kicks: Vec<Kick>,
    /// The velocities on which the fastest forces act, with their inverse masses if the mass matrix is diagonal; and where the others began.
    light: Option<Vec<(usize, f64)>>,
    rest: Vec<usize>,
    integrands: Vec<f64>,
    none: Vec<f64>,
    old: State<f64>,
    whole: Option<Whole<Y>>,
    /// Explicit steps with constraints.
    links: Option<Links>,
    pub counts: Counts,
}

impl<Y: System> Nested<Y> {
    pub fn new(y: &Y, micro: Micro, iterations: u32) -> Self {
        let (shape, last) = (y.shape(), y.rates() - 1);
        let diagonal = y.mass_blocks().iter().all(|block| matches!(block, MassBlock::Diagonal(_)));
        let explicit = micro.fast == 0.0 && shape.g == 0 && diagonal;
        let fast = y.fast(last);
        let kick = || Kick { rate: vec![0.0; shape.v], at: vec![f64::NAN; shape.q] };
        Self {
            micro,
            last,
            still: y.still(),
            kicks: (0..=last).map(|_| kick()).collect(),
            rest: (0..shape.v).filter(|k| fast.binary_search(k).is_err()).collect(),
            light: explicit.then(|| fast.into_iter().map(|k| (k, 0.0)).collect()),
            integrands: vec![0.0; shape.z],
            none: vec![0.0; shape.rows()],
            old: State::zeros(shape),
            whole: (micro.slow > 0.0).then(|| Whole::new(y, micro, iterations)),
            links: (micro.slow == 0.0 && micro.fast == 0.0 && shape.g > 0).then(|| Links::new(y, iterations)),
            counts: Counts::default(),
        }
    }

    /// What the bits of the next step depend on.
    pub fn memory(&self, out: &mut Vec<f64>) {
        if let Some(whole) = &self.whole {
            whole.memory(out);
        }
    }

    /// Takes it over.
    pub fn recall(&mut self, memory: &[f64]) {
        if let Some(whole) = &mut self.whole {
            whole.recall(memory);
        }
    }

    /// Gives up what was kept from steps before.
    pub fn forget(&mut self) {
        if let Some(whole) = &mut self.whole {
            whole.forget();
        }
    }

    /// A macro step. Returns its difference to the trapezoidal rule in units of the tolerance.
    pub fn travel(
        &mut self,
        y: &Y,
        recipe: &Recipe,
        mover: &mut Mover<Y>,
        s: &mut State<f64>,
        h: f64,
    ) -> Result<f64, IntegrateError> {
        self.old.copy_from(s);
        mover.load(y, s)?;
        self.weigh(mover);
        if let Some(whole) = &mut self.whole {
            whole.step(y, recipe, mover, s, h)?;
            self.counts = whole.counts;
        } else {
            self.kick(y, mover, s, 0, 0.5 * h)?;
            self.sweep(y, recipe, mover, s, 1, h / f64::from(self.micro.steps[0]))?;
            self.kick(y, mover, s, 0, 0.5 * h)?;
        }
        if !mover.held.is_empty() {
            mover.dynamics.project_velocity(y, s)?;
            if let Some(links) = &mut self.links {
                links.arrive(&s.q);
            }
        }
        finite(y, s, &s.v, "the velocity of")?;
        y.magnitude(&s.q, &mut mover.sizes);
        let mut error: f64 = 0.0;
        for (k, &size) in mover.sizes.iter().enumerate() {
            let mean = 0.5 * h * (self.old.v[k] + s.v[k]);
            error = error.max((s.q[k] - self.old.q[k] - mean).abs() / recipe.tolerance.weight(size));
        }
        Ok(error)
    }

    /// Inverse masses of the fastest variables, once.
    fn weigh(&mut self, mover: &Mover<Y>) {
        if let Some(light) = &mut self.light
            && light.iter().all(|(_, inverse)| *inverse == 0.0)
        {
            let ones = &mut self.kicks[0].rate;
            ones.fill(1.0);
            mover.mass.solve(ones);
            light.iter_mut().for_each(|(k, inverse)| *inverse = ones[*k]);
            self.kicks[0].at.fill(f64::NAN);
        }
    }

    /// All steps of length `h` of one rate in one step of the rate below it.
    fn sweep(
        &mut self,
        y: &Y,
        recipe: &Recipe,
        mover: &mut Mover<Y>,
        s: &mut State<f64>,
        rate: usize,
        h: f64,
    ) -> Result<(), IntegrateError> {
        let steps = self.micro.steps[rate - 1];
        if rate == self.last && self.micro.fast == 0.0 {
            return match self.links.take() {
                None => self.leap(y, mover, s, h, steps),
                Some(mut links) => {
                    let result = self.shake(y, recipe, mover, s, h, &mut links);
                    self.links = Some(links);
                    result
                }
            };
        }
        for step in 0..=steps {
            if rate < self.last {
                self.kick(y, mover, s, rate, if step == 0 || step == steps { 0.5 * h } else { h })?;
            }
            if step == steps {
                break;
            }
            if rate < self.last {
                self.sweep(y, recipe, mover, s, rate + 1, h / f64::from(self.micro.steps[rate]))?;
            } else {
                mover.advance(y, recipe, s, h, 0)?;
            }
        }
        Ok(())
    }

    /// Steps by the trapezoidal rule, which is explicit without constraints: half a kick by the fastest forces, a drift, half a kick.
    fn leap(
        &mut self,
        y: &Y,
        mover: &mut Mover<Y>,
        s: &mut State<f64>,
        h: f64,
        steps: u32,
    ) -> Result<(), IntegrateError> {
        let Some(light) = &self.light else {
            for step in 0..=steps {
                self.kick(y, mover, s, self.last, if step == 0 || step == steps { 0.5 * h } else { h })?;
                if step < steps {
                    s.q.iter_mut().zip(&s.v).for_each(|(q, v)| *q += h * v);
                    s.t += h;
                }
            }
            return Ok(());
        };
        let force = &mut self.kicks[self.last].rate;
        for step in 0..=steps {
            y.prepare(s, &mut mover.work);
            y.force_of_rate(s, &mut mover.work, self.last, force);
            let part = if step == 0 || step == steps { 0.5 * h } else { h };
            for &(k, inverse) in light {
                s.v[k] += part * inverse * force[k];
            }
            if step < steps {
                for &(k, _) in light {
                    s.q[k] += h * s.v[k];
                }
                s.t += h;
            }
        }
        // All others move on straight lines, and the fastest forces do not see them.
        for &k in &self.rest {
            s.q[k] += h * f64::from(steps) * s.v[k];
        }
        self.counts.forces += u64::from(steps) + 1;
        Ok(())
    }

    /// The same with constraints, whose multipliers are all that is solved for.
    fn shake(
        &mut self,
        y: &Y,
        recipe: &Recipe,
        mover: &mut Mover<Y>,
        s: &mut State<f64>,
        h: f64,
        links: &mut Links,
    ) -> Result<(), IntegrateError> {
        let steps = self.micro.steps[self.last - 1];
        y.magnitude(&s.q, &mut mover.sizes);
        let floor = mover.sizes.iter().fold(0.0_f64, |max, &size| max.max(size));
        let floor = if floor > 0.0 { 1e-3 * floor } else { 1.0 };
        mover.sizes.iter_mut().zip(&s.v).for_each(|(size, v)| *size += (h * v).abs() + floor);
        for step in 0..=steps {
            self.kick(y, mover, s, self.last, if step == 0 || step == steps { 0.5 * h } else { h })?;
            if step < steps {
                links.drift(y, mover, s, h, recipe.about.name)?;
            }
        }
        self.counts.factorisations += std::mem::take(&mut links.factorisations);
        self.counts.solves += std::mem::take(&mut links.solves);
        Ok(())
    }

    /// v += h M⁻¹ of the forces of one rate; with the slow ones integrals too, by the same rule.
    fn kick(
        &mut self,
        y: &Y,
        mover: &mut Mover<Y>,
        s: &mut State<f64>,
        rate: usize,
        h: f64,
    ) -> Result<(), IntegrateError> {
        let kick = &mut self.kicks[rate];
        if !(self.still && kick.at == s.q) {
            y.prepare(s, &mut mover.work);
            y.force_of_rate(s, &mut mover.work, rate, &mut kick.rate);
            mover.mass.solve(&mut kick.rate);
            kick.at.copy_from_slice(&s.q);
            self.counts.forces += 1;
            if rate == 0 && !self.still {
                y.integrand(s, &self.none, &mut mover.work, &mut self.integrands);
            }
        }
        for (v, rate) in s.v.iter_mut().zip(&kick.rate) {
            *v += h * rate;
        }
        if rate == 0 {
            for (z, rate) in s.z.iter_mut().zip(&self.integrands) {
                *z += h * rate;
            }
        }
        Ok(())
    }
}
