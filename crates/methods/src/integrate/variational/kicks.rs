//! Kicks: the forces of one rate change velocities where steps of that rate meet.
//!
//! Forces that depend on the place alone ([`System::still`]) are computed once for the end of one step and the beginning of the next. Others see velocities too, and
//! then it matters at which velocity each half of a kick is taken: in
//!
//! ```text
//! v⁺ = v_k + ½h M⁻¹ F(t_k, q_k, P v⁺)        at the beginning of a step, implicit in v⁺
//! v_{k+1} = v⁻ + ½h M⁻¹ F(t_{k+1}, q_{k+1}, P v⁻)        at its end
//! ```
//!
//! each is the other one backwards in time, so that steps are symmetric and of order 2. Without constraints it is the trapezoidal rule of the discrete
//! Lagrange–d'Alembert principle (\[1\] section 3.2), whose velocity v⁺ is that between the nodes. P takes velocities to those that constraints allow, by the
//! shortest way: what steps leave along M⁻¹Gᵀ is taken up by multipliers, and no force may see it. The implicit half is solved by iterations that shrink by
//! ½h|M⁻¹∂F/∂v|; where they do not, dampers are too strong for an explicit rate and the step fails by name.
//!
//! Reference: \[1\] Marsden, West: Discrete mechanics and variational integrators, Acta Numerica 10 (2001) 357–514.

use super::mover::Mover;
use super::solve::{LEFT, STALL, ULPS};
use crate::integrate::IntegrateError;
use crate::system::{State, System};

/// Accelerations by the forces of one rate, and where they were taken.
struct Kick {
    rate: Vec<f64>,
    at: Vec<f64>,
}

impl Kick {
    /// v += h M⁻¹F.
    fn act(&self, v: &mut [f64], h: f64) {
        v.iter_mut().zip(&self.rate).for_each(|(v, rate)| *v += h * rate);
    }
}

/// What does not converge where dampers are too strong.
const IMPLICIT_HALF: &str = "a kick by forces that depend on velocities";

/// The kicks of all rates.
pub(super) struct Kicks {
    /// Whether forces depend on the place alone.
    pub still: bool,
    own: Vec<Kick>,
    /// A place with velocities that constraints allow, and the velocities looked for.
    seen: State<f64>,
    next: Vec<f64>,
    integrands: Vec<f64>,
    none: Vec<f64>,
    iterations: u32,
    pub forces: u64,
}

impl Kicks {
    pub fn new<Y: System>(y: &Y, rates: usize, iterations: u32) -> Self {
        let shape = y.shape();
        let kick = || Kick { rate: vec![0.0; shape.v], at: vec![f64::NAN; shape.q] };
        Self {
            still: y.still(),
            own: (0..rates).map(|_| kick()).collect(),
            seen: State::zeros(shape),
            next: vec![0.0; shape.v],
            integrands: vec![0.0; shape.z],
            none: vec![0.0; shape.rows()],
            iterations,
            forces: 0,
        }
    }

    /// Room for forces of one rate. What was kept there is given up.
    pub fn room(&mut self, rate: usize) -> &mut [f64] {
        self.own[rate].at.fill(f64::NAN);
        &mut self.own[rate].rate
    }

    /// v += h M⁻¹F of forces that depend on the place alone.
    pub fn push<Y: System>(&mut self, y: &Y, mover: &mut Mover<Y>, s: &mut State<f64>, rate: usize, h: f64) {
        let kick = &mut self.own[rate];
        if kick.at != s.q {
            y.prepare(s, &mut mover.work);
            y.force_of_rate(s, &mut mover.work, rate, &mut kick.rate);
            mover.mass.solve(&mut kick.rate);
            kick.at.copy_from_slice(&s.q);
            self.forces += 1;
        }
        kick.act(&mut s.v, h);
    }

    /// Makes velocities at a place those that forces see.
    fn see<Y: System>(
        &mut self,
        y: &Y,
        mover: &mut Mover<Y>,
        s: &State<f64>,
        ahead: bool,
    ) -> Result<(), IntegrateError> {
        self.seen.t = s.t;
        self.seen.q.copy_from_slice(&s.q);
        self.seen.p.copy_from_slice(&s.p);
        self.seen.v.copy_from_slice(if ahead { &self.next } else { &s.v });
        if !mover.held.is_empty() {
            mover.dynamics.project_velocity(y, &mut self.seen)?;
        }
        y.prepare(&self.seen, &mut mover.work);
        Ok(())
    }

    /// M⁻¹F at what is seen.
    fn accelerate<Y: System>(&mut self, y: &Y, mover: &mut Mover<Y>, rate: usize) {
        let out = &mut self.own[rate].rate;
        y.force_of_rate(&self.seen, &mut mover.work, rate, out);
        mover.mass.solve(out);
        self.forces += 1;
    }

    /// The half of a kick at the end of a step, v += h M⁻¹F(t, q, P v).
    pub fn leave<Y: System>(
        &mut self,
        y: &Y,
        mover: &mut Mover<Y>,
        s: &mut State<f64>,
        rate: usize,
        h: f64,
    ) -> Result<(), IntegrateError> {
        self.see(y, mover, s, false)?;
        self.accelerate(y, mover, rate);
        self.own[rate].act(&mut s.v, h);
        Ok(())
    }

    /// The half of a kick at the beginning of a step, v⁺ = v + h M⁻¹F(t, q, P v⁺).
    pub fn begin<Y: System>(
        &mut self,
        y: &Y,
        mover: &mut Mover<Y>,
        s: &mut State<f64>,
        rate: usize,
        h: f64,
    ) -> Result<(), IntegrateError> {
        self.next.copy_from_slice(&s.v);
        let floor = 1e-3 * s.v.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
        let (mut last, mut worst) = (f64::INFINITY, 0);
        for round in 0..=self.iterations {
            self.see(y, mover, s, true)?;
            self.accelerate(y, mover, rate);
            let (mut change, mut size) = (0.0, floor);
            for (k, (next, rate)) in self.next.iter_mut().zip(&self.own[rate].rate).enumerate() {
                let v = s.v[k] + h * rate;
                size = f64::max(size, 1e-3 * v.abs());
                let relative = (v - *next).abs() / (v.abs() + s.v[k].abs() + if size > 0.0 { size } else { 1.0 });
                if relative > change || !relative.is_finite() {
                    (change, worst) = (relative, k);
                }
                *next = v;
            }
            let contraction = change / last;
            let left = if last.is_finite() { contraction / (1.0 - contraction).max(0.0) * change } else { change };
            if round > 0 && (left <= LEFT || contraction > 0.5 && change <= ULPS) {
                s.v.copy_from_slice(&self.next);
                return Ok(());
            }
            if !change.is_finite() || round > 1 && contraction > 2.0 && change > STALL {
                break;
            }
            last = if round > 0 { change } else { last };
        }
        let (t, residual) = (s.t, last / f64::EPSILON);
        Err(IntegrateError::NotConverged {
            t,
            h: 2.0 * h,
            what: IMPLICIT_HALF,
            residual,
            worst: y.velocity_name(worst),
        })
    }

    /// Adds the integrands at a state to the integrals, for a time `h`.
    pub fn account<Y: System>(
        &mut self,
        y: &Y,
        mover: &mut Mover<Y>,
        s: &mut State<f64>,
        h: f64,
    ) -> Result<(), IntegrateError> {
        if s.z.is_empty() {
            return Ok(());
        }
        self.see(y, mover, s, false)?;
        y.integrand(&self.seen, &self.none, &mut mover.work, &mut self.integrands);
        s.z.iter_mut().zip(&self.integrands).for_each(|(z, rate)| *z += h * rate);
        Ok(())
    }
}
