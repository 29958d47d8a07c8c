//! Steps of several rates within each other.
//!
//! With the slow forces at the ends of macro steps (α = 0) the discrete action (\[1\] section 3) makes a step half a kick by slow forces, micro steps by all others,
//! and half a kick; the micro steps are made of kicks by their own forces and of still smaller steps in the same way, down to the fastest
//! forces, which together with the constraints are taken by a variational rule of their own (explicit ones by [`super::links`]). Where no fast force acts a coordinate moves on
//! a straight line through the whole macro step, so the slow variables live on the macro grid. Slow forces within macro steps (α > 0) are
//! [`super::whole`].
//!
//! What a kick is where forces depend on velocities too is [`super::kicks`]. Integrals are taken on the finest grid.
//!
//! References: \[1\] Leyendecker, Ober-Blöbaum: A variational approach to multirate integration for constrained systems, in: Multibody Dynamics,
//! Springer 2013, 97–121; Tuckerman, Berne, Martyna: Reversible multiple time scale molecular dynamics, J. Chem. Phys. 97 (1992) 1990–2001.

use super::kicks::Kicks;
use super::links::Links;
use super::mover::Mover;
use super::whole::Whole;
use super::{MOST_RATES, Micro, Recipe};
use crate::algebra::MassBlock;
use crate::dynamics::finite;
use crate::integrate::{Counts, IntegrateError};
use crate::system::{State, System};

/// Why a system cannot be taken, if it cannot.
pub(super) fn refuse<Y: System>(y: &Y) -> Option<String> {
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
    None
}

/// Which half of a kick: at the beginning of a step, at its end, or both where steps meet.
#[derive(Copy, Clone, PartialEq)]
enum Half {
    First,
    Last,
    Both,
}

impl Half {
    /// The part of a kick before one of `steps` steps, or after the last.
    fn of(step: u32, steps: u32) -> Self {
        match step {
            0 => Self::First,
            _ if step == steps => Self::Last,
            _ => Self::Both,
        }
    }

    /// For how long forces act in steps of length `h`.
    fn time(self, h: f64) -> f64 {
        if self == Self::Both { h } else { 0.5 * h }
    }
}

/// The steps within a macro step.
pub(super) struct Nested<Y: System> {
    micro: Micro,
    /// The highest rate.
    last: usize,
    kicks: Kicks,
    /// The velocities on which the fastest forces act, with their inverse masses if the mass matrix is diagonal; and where the others began.
    light: Option<Vec<(usize, f64)>>,
    rest: Vec<usize>,
    whole: Option<Whole<Y>>,
    /// Explicit steps with constraints.
    links: Option<Links>,
    pub counts: Counts,
}

impl<Y: System> Nested<Y> {
    pub fn new(y: &Y, micro: Micro, recipe: &Recipe) -> Self {
        let iterations = recipe.iterations;
        let (shape, last) = (y.shape(), y.rates() - 1);
        let diagonal = y.mass_blocks().iter().all(|block| matches!(block, MassBlock::Diagonal(_)));
        let explicit = micro.fast == 0.0 && shape.g == 0 && diagonal && y.still();
        let fast = y.fast(last);
        Self {
            micro,
            last,
            kicks: Kicks::new(y, last + 1, iterations),
            rest: (0..shape.v).filter(|k| fast.binary_search(k).is_err()).collect(),
            light: explicit.then(|| fast.into_iter().map(|k| (k, 0.0)).collect()),
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

    /// A macro step.
    pub fn travel(
        &mut self,
        y: &Y,
        recipe: &Recipe,
        mover: &mut Mover<Y>,
        s: &mut State<f64>,
        h: f64,
    ) -> Result<(), IntegrateError> {
        mover.load(y, s)?;
        self.weigh(mover);
        if let Some(links) = &mut self.links {
            links.begin(&s.q);
        }
        if let Some(whole) = &mut self.whole {
            whole.step(y, recipe, mover, s, h)?;
            self.counts = whole.counts;
        } else {
            self.kick(y, mover, s, 0, h, Half::First)?;
            self.sweep(y, recipe, mover, s, 1, h / f64::from(self.micro.steps[0]))?;
            self.kick(y, mover, s, 0, h, Half::Last)?;
        }
        if !mover.held.is_empty() {
            mover.dynamics.project_velocity(y, s)?;
            if let Some(links) = &mut self.links {
                links.arrive(&s.q);
                self.counts.factorisations += std::mem::take(&mut links.factorisations);
                self.counts.solves += std::mem::take(&mut links.solves);
            }
        }
        finite(y, s, &s.v, "the velocity of")?;
        self.counts.forces += std::mem::take(&mut self.kicks.forces);
        Ok(())
    }

    /// Inverse masses of the fastest variables, once.
    fn weigh(&mut self, mover: &Mover<Y>) {
        if let Some(light) = &mut self.light
            && light.iter().all(|(_, inverse)| *inverse == 0.0)
        {
            let ones = self.kicks.room(0);
            ones.fill(1.0);
            mover.mass.solve(ones);
            light.iter_mut().for_each(|(k, inverse)| *inverse = ones[*k]);
        }
    }

    /// All steps of length `h` of one rate in one step of the rate below it: kicks by the forces of that rate where they meet, unless a rule of its own takes the fastest
    /// ones, and in between steps of the next rate, or at the last one the way of a step.
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
        let (last, explicit) = (rate == self.last, self.micro.fast == 0.0);
        if last && self.light.is_some() {
            self.leap(y, mover, s, h, steps);
            return Ok(());
        }
        if last && let Some(links) = &mut self.links {
            links.measure(y, s, h);
        }
        for step in 0..=steps {
            if !last || explicit {
                self.kick(y, mover, s, rate, h, Half::of(step, steps))?;
            }
            if step == steps {
                break;
            }
            match &mut self.links {
                _ if !last => self.sweep(y, recipe, mover, s, rate + 1, h / f64::from(self.micro.steps[rate]))?,
                _ if !explicit => mover.advance(y, recipe, s, h, 0)?,
                Some(links) => links.drift(y, mover, s, h, recipe.about.name)?,
                None => {
                    s.q.iter_mut().zip(&s.v).for_each(|(q, v)| *q += h * v);
                    s.t += h;
                }
            }
        }
        Ok(())
    }

    /// The same with the fastest forces by the trapezoidal rule, where it is explicit and moves the fastest variables alone.
    fn leap(&mut self, y: &Y, mover: &mut Mover<Y>, s: &mut State<f64>, h: f64, steps: u32) {
        let Some(light) = &self.light else { return };
        let force = self.kicks.room(self.last);
        for step in 0..=steps {
            y.prepare(s, &mut mover.work);
            y.force_of_rate(s, &mut mover.work, self.last, force);
            let time = Half::of(step, steps).time(h);
            for &(k, inverse) in light {
                s.v[k] += time * inverse * force[k];
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
    }

    /// The kick by the forces of one rate in steps of length `h`.
    fn kick(
        &mut self,
        y: &Y,
        mover: &mut Mover<Y>,
        s: &mut State<f64>,
        rate: usize,
        h: f64,
        half: Half,
    ) -> Result<(), IntegrateError> {
        let kicks = &mut self.kicks;
        if kicks.still {
            kicks.push(y, mover, s, rate, half.time(h));
            return Ok(());
        }
        if half != Half::First {
            kicks.leave(y, mover, s, rate, 0.5 * h)?;
        }
        if rate == self.last {
            kicks.account(y, mover, s, half.time(h))?;
        }
        if half != Half::Last {
            kicks.begin(y, mover, s, rate, 0.5 * h)?;
        }
        // Velocities that forces see were projected here.
        if let Some(links) = &mut self.links {
            links.arrive(&s.q);
        }
        Ok(())
    }
}
