//! The discrete Euler–Lagrange equations of one step, written once for plain numbers and for their derivatives.
//!
//! Along the curve q_k ⊕ δ(τ), δ(τ) = Σ ℓ_ν(τ) ξ_ν with ξ_0 = 0 and nodes ν = 1 … s, the discrete Lagrangian is
//! L_d = h Σ b_i L(q_k ⊕ δ(c_i), T δ̇(c_i)) − h Σ b̂_ν λ_νᵀ g(q_k ⊕ ξ_ν). With (see [`super::geometry`])
//!
//! ```text
//! R_ν = Σ b_i [h² ℓ_ν (TᵀF + (∂v/∂δ)ᵀp) + h ℓ̇_ν (∂v/∂δ̇)ᵀp]_i       Λ_ν = h² λ_ν
//! h p_k = Σ_ν X(ξ_ν)ᵀ R_ν − Σ b_i h² [Xᵀ TᵀF]_i + b̂_0 G_0ᵀ Λ_0      the left Legendre transform: p_k is known
//! R_ν = b̂_ν T(ξ_ν)ᵀ G_νᵀ Λ_ν,    0 < ν < s                          stationary in the inner nodes
//! g(t_ν, q_k ⊕ ξ_ν) = 0,    0 < ν ≤ s                               the constraints, at nodes
//! h p_{k+1} = T(ξ_s)⁻ᵀ R_s − b̂_s G_sᵀ Λ_s                           the right one; Λ_s by G v_{k+1} + g_t = 0
//! ```
//!
//! are the equations for ξ_1 … ξ_s and Λ_0 … Λ_{s−1}, in this order, scaled so that they stay of order one as h goes to zero.
//! Forces without potential are in F: discrete Lagrange–d'Alembert (\[1\] sections 3.2 and 3.4).
//!
//! With own frequencies the curve is q = g₁ q_k + g₂ q_{k+1} for each coordinate (\[2\] eqs. 2 and 3, see [`super::fitted`]); as g₁ + g₂ ≠ 1 it depends on
//! where coordinates are zero.
//!
//! Forces are the work. On flat spaces the force at the end of a step is not in the equations, only in the momentum that comes out; and where forces
//! depend on the place alone ([`System::still`]) the one at the beginning is that of the last end, and those between are known once
//! iterations have converged ([`Pass`]).
//!
//! References: \[1\] Marsden, West: Discrete mechanics and variational integrators, Acta Numerica 10 (2001) 357–514; \[2\] Kosmas,
//! Leyendecker: On frequency estimations in phase fitted variational integrators, report of the Chair of Applied Dynamics, Erlangen 2013.

use super::bend::{self, by_width};
use super::centre::WIDE;
use super::fitted::{Fitted, Motion};
use super::geometry::{At, Geometry, Pulled};
use super::scheme::Scheme;
use crate::algebra::{Mass, Rows};
use crate::scalar::Scalar;
use crate::system::{Shape, State, System};

/// Which forces an evaluation needs.
#[derive(Copy, Clone, Debug, PartialEq)]
pub(super) enum Pass {
    /// All of them.
    Whole,
    /// Those in the equations.
    Probe,
    /// Those in the momentum at the end, after iterations whose last change is below rounding.
    Close,
}

/// Where a step begins.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub state: State<f64>,
    /// p_k.
    pub momentum: Vec<f64>,
    pub h: f64,
    /// Squares of own frequencies in rad²/s², if the scheme has them; negative where curves bend away from zero.
    pub squares: Vec<f64>,
    /// The coordinates of such a scheme relative to their centres, or to zero.
    pub about: Vec<f64>,
}

impl Start {
    /// Room for a system.
    pub fn new(shape: Shape) -> Self {
        let zeros = || vec![0.0; shape.v];
        Self { state: State::zeros(shape), momentum: zeros(), h: 0.0, squares: zeros(), about: zeros() }
    }
}

/// The equations in one kind of number.
pub(super) struct Discrete<Y: System, S: Scalar, G> {
    pub geometry: G,
    /// The one rate whose forces act, if not all do.
    rate_of: Option<usize>,
    shape: Shape,
    work: Y::Work<S>,
    mass: Mass<S>,
    mass_is_constant: bool,
    mass_ready: bool,
    pub state: State<S>,
    rows: Rows<S>,
    base: Vec<S>,
    delta: Vec<S>,
    rate: Vec<S>,
    force: Vec<S>,
    momentum: Vec<S>,
    pulled: Pulled<S>,
    /// R_1 … R_s, then the sum over points for the left end.
    sums: Vec<S>,
    turned: Vec<S>,
    /// The derivatives of the action by u², for each coordinate, if frequencies come from it.
    pub slopes: Vec<S>,
    /// The increments relative to centres, and those of centres.
    pub relative: Vec<S>,
    means: Vec<S>,
    /// Sums over the bodies of centres: of forces, of what these do for the equations and at the end, and of what is counted by bodies.
    totals: Vec<S>,
    pushes: [Vec<S>; 2],
    counted: Vec<S>,
    /// What does not change in a step, −h p_k and the force at its beginning, and whether it is known.
    fixed: Vec<S>,
    settled: bool,
    /// Whether integrals are wanted, what they are over the step, their rates, and multipliers of zero.
    pub tally: bool,
    pub integrals: Vec<S>,
    integrands: Vec<S>,
    none: Vec<S>,
    pub forces: u64,
    /// Whether forces depend on the place alone, on a flat space.
    still: bool,
    /// The forces found at each point, whether that at the beginning is of this step, and the place at the end of the last one.
    found: Vec<S>,
    known: bool,
    reached: Vec<f64>,
    /// Whether the state at the beginning is the one at hand.
    begun: bool,
}

impl<Y: System, S: Scalar, G: Geometry<Y, S>> Discrete<Y, S, G> {
    pub fn new(y: &Y, geometry: G, scheme: &Scheme, rate_of: Option<usize>) -> Self {
        let (shape, degree) = (y.shape(), scheme.degree);
        let zeros = |n| vec![S::zero(); n];
        Self {
            geometry,
            rate_of,
            shape,
            work: y.work(),
            mass: Mass::new(&y.mass_blocks()),
            mass_is_constant: y.mass_is_constant(),
            mass_ready: false,
            state: State::zeros(shape),
            rows: Rows::new(shape.rows(), shape.v, &y.row_blocks()),
            base: zeros(shape.q),
            delta: zeros(shape.v),
            rate: zeros(shape.v),
            force: zeros(shape.v),
            momentum: zeros(shape.v),
            pulled: Pulled::new(shape.v),
            sums: zeros((degree + 1) * shape.v),
            turned: zeros(shape.v),
            slopes: zeros(shape.v),
            relative: zeros(shape.v),
            means: zeros(WIDE * (scheme.centres() + 1)),
            totals: zeros(WIDE * (scheme.centres() + 1)),
            pushes: [zeros(WIDE * scheme.centres()), zeros(WIDE * scheme.centres())],
            counted: zeros(WIDE * (scheme.centres() + 1)),
            fixed: zeros(shape.v),
            settled: false,
            tally: false,
            integrals: zeros(shape.z),
            integrands: zeros(shape.z),
            none: zeros(shape.rows()),
            forces: 0,
            still: G::FLAT && y.still(),
            found: zeros(scheme.points.len() * shape.v),
            known: false,
            reached: vec![f64::NAN; shape.q],
            begun: false,
        }
    }

    /// A new step: the force at its beginning is known if it begins where the last one ended.
    pub fn begin(&mut self, scheme: &Scheme, start: &Start) {
        let (n, points) = (self.shape.v, &scheme.points);
        let ends = points.first() == Some(&0.0) && points.last() == Some(&1.0);
        self.known = self.still && ends && self.reached == start.state.q;
        if self.known {
            self.found.copy_within((points.len() - 1) * n.., 0);
        }
        self.lift(start);
        (self.begun, self.settled) = (true, false);
    }

    fn lift(&mut self, start: &Start) {
        self.state.lift(&start.state);
        self.base.copy_from_slice(&self.state.q);
    }

    /// Takes note of where a step has ended.
    pub fn arrive(&mut self, q: &[f64]) {
        self.reached.copy_from_slice(q);
    }

    /// out = T(ξ_s)⁻ᵀ R_s of the last evaluation.
    pub fn leave(&mut self, y: &Y, end: &[S], out: &mut [S]) {
        let n = self.shape.v;
        let right = self.sums.len() - 2 * n..self.sums.len() - n;
        self.geometry.release(y, end, &self.sums[right], out);
    }

    /// The state at point `i` of the curve, not yet prepared.
    pub fn place(&mut self, y: &Y, scheme: &Scheme, start: &Start, unknown: &[S], i: usize) {
        let (n, s, h) = (self.shape.v, scheme.degree, start.h);
        match &scheme.fitted {
            None => {
                for k in 0..n {
                    let [mut delta, mut rate] = [S::zero(); 2];
                    for nu in 1..=s {
                        delta += unknown[(nu - 1) * n + k] * scheme.value[i * (s + 1) + nu];
                        rate += unknown[(nu - 1) * n + k] * (scheme.slope[i * (s + 1) + nu] / h);
                    }
                    (self.delta[k], self.rate[k]) = (delta, rate);
                }
            }
            Some(f) => {
                let (width, xi, q) = (f.width(), &self.relative, &start.about);
                let centres = (f.homes(), &self.means[..], scheme.points[i]);
                by_width!(width, place(f.at(i), centres, xi, q, &mut self.delta));
                if !f.is_bare() {
                    let centres = (f.homes(), &self.means[..], 1.0 / h);
                    by_width!(width, rate(f.at(i), centres, xi, q, &mut self.rate));
                }
            }
        }
        self.state.t = S::from(start.state.t + scheme.points[i] * h);
        y.retract(&self.base, &self.delta, &mut self.state.q);
        if !scheme.fitted.as_ref().is_some_and(Fitted::is_bare) {
            self.geometry.velocity(y, h, &self.delta, &self.rate, &mut self.state.v);
        }
    }

    /// The increments relative to centres, if there are some.
    fn relate(&mut self, f: &Fitted, unknown: &[S]) {
        f.centres().means(unknown, &mut self.means);
        by_width!(f.width(), relate(f.homes(), &self.means, unknown, &mut self.relative));
    }

    /// The momentum at the state placed, and the force as far as it is wanted.
    fn read(&mut self, y: &Y, scheme: &Scheme, pass: Pass, i: usize) {
        let (c, own) = (scheme.points[i], i * self.shape.v..(i + 1) * self.shape.v);
        let kept = self.still && (c == 0.0 && self.known || pass == Pass::Close && c != 1.0);
        let unheard = G::FLAT && pass == Pass::Probe && c == 1.0;
        if (kept || unheard) && self.mass_ready {
            self.mass.apply(&self.state.v, &mut self.momentum);
            if kept {
                self.force.copy_from_slice(&self.found[own]);
            } else {
                self.force.fill(S::zero());
            }
            return;
        }
        y.prepare(&self.state, &mut self.work);
        if !(self.mass_ready && self.mass_is_constant) {
            y.mass(&self.state, &mut self.work, &mut self.mass);
            self.mass_ready = true;
        }
        if !scheme.fitted.as_ref().is_some_and(Fitted::is_bare) {
            self.mass.apply(&self.state.v, &mut self.momentum);
        }
        match self.rate_of {
            Some(rate) => y.force_of_rate(&self.state, &mut self.work, rate, &mut self.force),
            None => y.force(&self.state, &mut self.work, &mut self.force),
        }
        self.forces += 1;
        self.geometry.complete(y, &self.state, &self.momentum, &mut self.force);
        if self.still {
            self.found[own].copy_from_slice(&self.force);
            self.known |= c == 0.0;
        }
    }

    /// The first equation, on a flat space with own frequencies and masses that act by themselves: what is kinetic is known in closed form, and places are wanted
    /// for forces only. What makes the momentum at the end goes to the first sums, if it is wanted.
    fn evaluate_fitted(
        &mut self,
        y: &Y,
        scheme: &Scheme,
        (f, motion): (&Fitted, Motion<'_>),
        (start, unknown): (&Start, &[S]),
        pass: Pass,
        out: &mut [S],
    ) {
        let (n, h, width, homes) = (self.shape.v, start.h, f.width(), f.homes());
        let (is_sought, is_whole, q) = (pass != Pass::Close, pass != Pass::Probe, &start.about[..]);
        if is_sought {
            by_width!(width, swing(motion, 0.5 / (h * h), (&self.relative, q), (out, &mut self.slopes)));
        }
        if is_whole {
            by_width!(width, reach(motion, (&self.relative, q), &mut self.sums));
        }
        self.pushes.iter_mut().for_each(|push| push.fill(S::zero()));
        if !self.settled {
            self.fixed.iter_mut().zip(&start.momentum).for_each(|(fixed, p)| *fixed = S::from(-h * p));
        }
        for (i, &c) in scheme.points.iter().enumerate() {
            if c == 0.0 && self.settled || c == 1.0 && !is_whole {
                continue;
            }
            if self.still && (c == 0.0 && self.known || pass == Pass::Close && c != 1.0) {
                self.force.copy_from_slice(&self.found[i * n..(i + 1) * n]);
            } else {
                self.place(y, scheme, start, unknown, i);
                self.read(y, scheme, pass, i);
                self.account(y, scheme, h, i);
            }
            let (weight, positions) = (scheme.weights[i], scheme.weights[i] * h * h);
            // At the beginning all of it acts on the body itself, whatever the increment.
            if c == 0.0 {
                bend::add(-positions, &self.force, &mut self.fixed);
                continue;
            }
            f.centres().total(&self.force, &mut self.totals);
            let parts = [positions * (c - 1.0), positions * c];
            self.pushes.iter_mut().zip(parts).for_each(|(push, part)| bend::add(part, &self.totals, push));
            // What acts relative to centres.
            self.totals.iter_mut().for_each(|total| *total = -*total);
            by_width!(width, share(homes, &self.totals, &mut self.force));
            if is_sought {
                let curve = (&self.relative[..], q);
                by_width!(width, pull(f.at(i), [weight, positions], &self.force, curve, (out, &mut self.slopes)));
            }
            if is_whole {
                by_width!(width, hand(f.at(i), positions, &self.force, &mut self.sums));
            }
        }
        self.settled = self.still;
        if is_sought {
            self.share(f, 0, out);
            bend::add(1.0, &self.fixed, out);
        }
        if is_whole {
            let mut sums = std::mem::take(&mut self.sums);
            self.share(f, 1, &mut sums);
            self.sums = sums;
        }
    }

    /// Turns what curves about zero do into what curves about centres do, for the equations or at the end.
    fn share(&mut self, f: &Fitted, which: usize, out: &mut [S]) {
        f.centres().total(out, &mut self.counted);
        f.centres().lead(&self.means, &self.pushes[which], &mut self.counted);
        by_width!(f.width(), share(f.homes(), &self.counted, out));
    }

    /// Adds to the integrals what a point brings, if they are wanted.
    fn account(&mut self, y: &Y, scheme: &Scheme, h: f64, i: usize) {
        if self.tally && !self.still {
            y.integrand(&self.state, &self.none, &mut self.work, &mut self.integrands);
            for (sum, &rate) in self.integrals.iter_mut().zip(&self.integrands) {
                *sum += rate * (h * scheme.weights[i]);
            }
        }
    }

    /// The residuals of all equations.
    pub fn evaluate(&mut self, y: &Y, scheme: &Scheme, start: &Start, unknown: &[S], pass: Pass, out: &mut [S]) {
        let (n, m, s) = (self.shape.v, self.shape.g, scheme.degree);
        if !self.begun {
            self.lift(start);
        }
        self.integrals.fill(S::zero());
        if let Some(f) = &scheme.fitted {
            self.relate(f, unknown);
        }
        let closed = scheme.fitted.as_ref().filter(|_| G::FLAT).and_then(|f| Some((f, f.kinetic()?)));
        match closed {
            Some(closed) => self.evaluate_fitted(y, scheme, closed, (start, unknown), pass, &mut out[..n]),
            None => self.evaluate_points(y, scheme, start, unknown, pass, &mut out[..s * n]),
        }
        if m > 0 {
            self.evaluate_constraints(y, scheme, start, unknown, out);
        }
    }

    /// The equations of all nodes, without constraints.
    fn evaluate_points(
        &mut self,
        y: &Y,
        scheme: &Scheme,
        start: &Start,
        unknown: &[S],
        pass: Pass,
        equations: &mut [S],
    ) {
        let (n, s, h) = (self.shape.v, scheme.degree, start.h);
        self.sums.fill(S::zero());
        self.slopes.fill(S::zero());
        for i in 0..scheme.points.len() {
            self.place(y, scheme, start, unknown, i);
            self.read(y, scheme, pass, i);
            self.account(y, scheme, h, i);
            let (weight, force, momentum) = (scheme.weights[i], &mut self.force, &self.momentum);
            let at = At { h, delta: &self.delta, rate: &self.rate };
            self.geometry.pull(y, at, momentum, force, &mut self.pulled);
            let Pulled { by_position, by_rate, shifted } = &self.pulled;
            let (positions, rates) = (weight * h * h, weight * h);
            let (nodes, left) = self.sums.split_at_mut(s * n);
            match &scheme.fitted {
                None => {
                    for (nu, sums) in nodes.chunks_exact_mut(n).enumerate() {
                        let at = i * (s + 1) + nu + 1;
                        let (value, slope) = (positions * scheme.value[at], rates * scheme.slope[at]);
                        for k in 0..n {
                            sums[k] += (force[k] + by_position[k]) * value + by_rate[k] * slope;
                        }
                    }
                    for k in 0..n {
                        left[k] += shifted[k] * positions;
                    }
                }
                Some(f) => {
                    let width = f.width();
                    by_width!(width, push(f.at(i), 0, positions, force, nodes, left));
                    by_width!(width, push(f.at(i), 1, rates, by_rate, nodes, left));
                    if f.is_tuned() {
                        let (xi, q, slopes) = (&self.relative, &start.about, &mut self.slopes);
                        by_width!(width, lean(f.at(i), 0, weight, force, xi, q, slopes));
                        by_width!(width, lean(f.at(i), 1, weight / h, by_rate, xi, q, slopes));
                    }
                }
            }
        }
        for k in 0..n {
            equations[k] = -self.sums[s * n + k] - h * start.momentum[k];
        }
        equations[n..].copy_from_slice(&self.sums[..(s - 1) * n]);
        for nu in 1..=s {
            let own = &self.sums[(nu - 1) * n..nu * n];
            if G::FLAT {
                bend::add(1.0, own, &mut equations[..n]);
                continue;
            }
            self.geometry.shift(y, &unknown[(nu - 1) * n..nu * n], own, &mut self.turned);
            bend::add(1.0, &self.turned, &mut equations[..n]);
        }
    }

    /// The constraints, and their forces in the equations.
    fn evaluate_constraints(&mut self, y: &Y, scheme: &Scheme, start: &Start, unknown: &[S], out: &mut [S]) {
        let (n, m, s, h) = (self.shape.v, self.shape.g, scheme.degree, start.h);
        let (equations, residuals) = out.split_at_mut(s * n);
        let multipliers = &unknown[s * n..];
        for nu in 0..=s {
            self.state.t = S::from(start.state.t + scheme.nodes[nu] * h);
            match nu {
                0 => self.state.q.copy_from_slice(&self.base),
                _ => y.retract(&self.base, &unknown[(nu - 1) * n..nu * n], &mut self.state.q),
            }
            y.prepare(&self.state, &mut self.work);
            if nu > 0 {
                y.constraint(&self.state, &mut self.work, &mut residuals[(nu - 1) * m..nu * m]);
            }
            if nu < s {
                y.jacobian(&self.state, &mut self.work, &mut self.rows);
                let own = &mut equations[nu * n..(nu + 1) * n];
                let factors = &multipliers[nu * m..(nu + 1) * m];
                if nu == 0 {
                    self.rows.add_transpose(scheme.holds[0], factors, own);
                } else {
                    self.force.fill(S::zero());
                    self.rows.add_transpose(-scheme.holds[nu], factors, &mut self.force);
                    self.geometry.tangent(y, &unknown[(nu - 1) * n..nu * n], &self.force, &mut self.turned);
                    for k in 0..n {
                        own[k] += self.turned[k];
                    }
                }
            }
        }
    }
}
