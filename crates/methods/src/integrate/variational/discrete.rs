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
//! With own frequencies the curve is q = g₁ q_k + g₂ q_{k+1} for each coordinate (\[2\] eqs. 2 and 3); as g₁ + g₂ ≠ 1 it depends on
//! where coordinates are zero.
//!
//! References: \[1\] Marsden, West: Discrete mechanics and variational integrators, Acta Numerica 10 (2001) 357–514; \[2\] Kosmas,
//! Leyendecker: On frequency estimations in phase fitted variational integrators, report of the Chair of Applied Dynamics, Erlangen 2013.

use super::geometry::{At, Geometry, Pulled};
use super::nodes::lagrange;
use crate::algebra::{Mass, Rows};
use crate::scalar::Scalar;
use crate::system::{Shape, State, System};

/// Interpolation and quadrature.
#[derive(Clone, Debug)]
pub(super) struct Scheme {
    /// s.
    pub degree: usize,
    /// The nodes 0 … s on [0, 1], and their weights b̂.
    pub nodes: Vec<f64>,
    pub holds: Vec<f64>,
    /// The points c_i and weights b_i.
    pub points: Vec<f64>,
    pub weights: Vec<f64>,
    /// ℓ_ν(c_i) and ℓ̇_ν(c_i), by points.
    value: Vec<f64>,
    slope: Vec<f64>,
    /// Trigonometric interpolation with a frequency for each coordinate, if wanted.
    pub fitted: Option<Fitted>,
}

/// g₂, ġ₂, g₁ + g₂ and ġ₁ + ġ₂ by points and coordinates; rates are per step.
#[derive(Clone, Debug)]
pub(super) struct Fitted {
    value: Vec<f64>,
    slope: Vec<f64>,
    sum: Vec<f64>,
    sum_slope: Vec<f64>,
}

impl Scheme {
    /// Polynomials through `nodes`, quadrature at `points`.
    pub fn new((nodes, holds): (Vec<f64>, Vec<f64>), (points, weights): (Vec<f64>, Vec<f64>)) -> Self {
        let degree = nodes.len() - 1;
        let table = |which: usize| {
            let row = |&c: &f64| (0..=degree).map(|nu| lagrange(&nodes, nu, c)[which]).collect::<Vec<_>>();
            points.iter().flat_map(row).collect()
        };
        let (value, slope) = (table(0), table(1));
        Self { degree, nodes, holds, points, weights, value, slope, fitted: None }
    }

    /// Room for own frequencies of `n` coordinates.
    pub fn with_frequencies(mut self, n: usize) -> Self {
        let zeros = || vec![0.0; n * self.points.len()];
        self.fitted = Some(Fitted { value: zeros(), slope: zeros(), sum: zeros(), sum_slope: zeros() });
        self
    }

    /// Takes frequencies, in rad/s, for a step h: g₁ = sin(u − cu)/sin u, g₂ = sin cu/sin u with u = ωh.
    pub fn fit(&mut self, frequencies: &[f64], h: f64) {
        let (n, Some(f)) = (frequencies.len(), &mut self.fitted) else { return };
        for (i, &c) in self.points.iter().enumerate() {
            for (k, &omega) in frequencies.iter().enumerate() {
                let (u, at) = (omega * h, i * n + k);
                // Below this the straight line differs by u²/16 of an ulp at most.
                if u.abs() < 1e-8 {
                    (f.value[at], f.slope[at], f.sum[at], f.sum_slope[at]) = (c, 1.0, 1.0, 0.0);
                    continue;
                }
                let half = (0.5 * u).cos();
                f.value[at] = (c * u).sin() / u.sin();
                f.slope[at] = u * (c * u).cos() / u.sin();
                f.sum[at] = (u * (c - 0.5)).cos() / half;
                f.sum_slope[at] = -u * (u * (c - 0.5)).sin() / half;
            }
        }
    }
}

/// Where a step begins.
#[derive(Clone, Debug)]
pub(super) struct Start {
    pub state: State<f64>,
    /// p_k.
    pub momentum: Vec<f64>,
    pub h: f64,
    /// Own frequencies in rad/s, if the scheme has them.
    pub frequencies: Vec<f64>,
}

/// The equations in one kind of number.
pub(super) struct Discrete<Y: System, S: Scalar, G> {
    pub geometry: G,
    /// Whether fast forces alone act.
    fast: bool,
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
    /// Whether integrals are wanted, what they are over the step, their rates, and multipliers of zero.
    pub tally: bool,
    pub integrals: Vec<S>,
    integrands: Vec<S>,
    none: Vec<S>,
    pub forces: u64,
}

impl<Y: System, S: Scalar, G: Geometry<Y, S>> Discrete<Y, S, G> {
    pub fn new(y: &Y, geometry: G, degree: usize, fast: bool) -> Self {
        let shape = y.shape();
        let zeros = |n| vec![S::zero(); n];
        Self {
            geometry,
            fast,
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
            tally: false,
            integrals: zeros(shape.z),
            integrands: zeros(shape.z),
            none: zeros(shape.rows()),
            forces: 0,
        }
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
                for k in 0..n {
                    let (at, q) = (i * n + k, start.state.q[k]);
                    self.delta[k] = unknown[k] * f.value[at] + (f.sum[at] - 1.0) * q;
                    self.rate[k] = unknown[k] * (f.slope[at] / h) + f.sum_slope[at] / h * q;
                }
            }
        }
        self.state.t = S::from(start.state.t + scheme.points[i] * h);
        y.retract(&self.base, &self.delta, &mut self.state.q);
        self.geometry.velocity(y, h, &self.delta, &self.rate, &mut self.state.v);
    }

    /// The forces and momenta at the state placed.
    fn read(&mut self, y: &Y) {
        y.prepare(&self.state, &mut self.work);
        if !(self.mass_ready && self.mass_is_constant) {
            y.mass(&self.state, &mut self.work, &mut self.mass);
            self.mass_ready = true;
        }
        self.mass.apply(&self.state.v, &mut self.momentum);
        if self.fast {
            y.fast_force(&self.state, &mut self.work, &mut self.force);
        } else {
            y.force(&self.state, &mut self.work, &mut self.force);
        }
        self.forces += 1;
        self.geometry.complete(y, &self.state, &self.momentum, &mut self.force);
    }

    /// The residuals of all equations.
    pub fn evaluate(&mut self, y: &Y, scheme: &Scheme, start: &Start, unknown: &[S], out: &mut [S]) {
        let (n, m, s, h) = (self.shape.v, self.shape.g, scheme.degree, start.h);
        self.state.lift(&start.state);
        self.base.copy_from_slice(&self.state.q);
        self.sums.fill(S::zero());
        self.integrals.fill(S::zero());
        for i in 0..scheme.points.len() {
            self.place(y, scheme, start, unknown, i);
            self.read(y);
            if self.tally {
                y.integrand(&self.state, &self.none, &mut self.work, &mut self.integrands);
                for (sum, &rate) in self.integrals.iter_mut().zip(&self.integrands) {
                    *sum += rate * (h * scheme.weights[i]);
                }
            }
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
                    for k in 0..n {
                        let at = i * n + k;
                        nodes[k] += force[k] * (positions * f.value[at]) + by_rate[k] * (rates * f.slope[at]);
                        left[k] += force[k] * (positions * f.sum[at]) + by_rate[k] * (rates * f.sum_slope[at]);
                    }
                }
            }
        }
        let (equations, residuals) = out.split_at_mut(s * n);
        for k in 0..n {
            equations[k] = -self.sums[s * n + k] - h * start.momentum[k];
        }
        equations[n..].copy_from_slice(&self.sums[..(s - 1) * n]);
        for nu in 1..=s {
            let xi = &unknown[(nu - 1) * n..nu * n];
            self.geometry.shift(y, xi, &self.sums[(nu - 1) * n..nu * n], &mut self.turned);
            for k in 0..n {
                equations[k] += self.turned[k];
            }
        }
        if m == 0 {
            return;
        }
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
