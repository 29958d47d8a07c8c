//! What a discrete Lagrangian asks of the space it lives in, derived from a [`System`] that states forces, not energies.
//!
//! Near a base point a configuration is q₀ ⊕ δ, its velocity v = T(δ) δ̇. With p = M(q) v the motion M v̇ = f reads (Hamel)
//!
//! ```text
//! ṗ = ad*_v p + F,      F = f + Ṁ v − ad*_v p,      Ṁ = dM(q)[v]
//! ```
//!
//! where F is all that depends on the place at fixed v: ∂L/∂q and the forces without a potential. So M and f suffice, and a system need
//! not know its Lagrangian. The structure constants of ad come from `local_rate`, [a, v] = B(a, v) − B(v, a) with B(a, v) its change
//! along a at δ = 0. A variation w of δ and a variation η of the base change an action by
//!
//! ```text
//! ⟨Tᵀ F + (∂v/∂δ)ᵀ p, w⟩ + ⟨(∂v/∂δ̇)ᵀ p, ẇ⟩        ⟨X(δ)ᵀ Tᵀ F, η⟩,   X = `local_shift`
//! ```
//!
//! and these are the transposes computed here, group by group, with unit vectors in all groups at once. Where velocities are rates of
//! coordinates and masses are constant nothing of this is left ([`Flat`]).
//!
//! *Chords.* A rotation by ξ in a step h may be given the discrete velocity sin(κ|ξ|)/(κ|ξ|) ξ/h instead of ξ/h: κ = ½ is the form
//! 2 Im f/h of unit quaternions (\[1\]), κ = 1 the form (F − Fᵀ)/2h of rotation matrices, κ = 0 the exponential map. For κ < 0 it is
//! tan(|κ||ξ|)/(|κ||ξ|) ξ/h, where κ = −½ is Cayley's map (\[2\]).
//!
//! References: \[1\] Leitz, Leyendecker: Lie group variational integrators with quaternion parametrization of rotations, report of the
//! Chair of Applied Dynamics, Erlangen 2013; \[2\] Bou-Rabee, Marsden: Hamilton–Pontryagin integrators on Lie groups, Found. Comput.
//! Math. 9 (2009) 197–219; G. Hamel, Theoretische Mechanik, Springer 1949, section 235.

use crate::algebra::Mass;
use crate::jet::Jet;
use crate::real::Real;
use crate::scalar::{Dual, Dual2, Scalar};
use crate::system::{State, System};
use std::ops::Range;

/// The transposes and velocities at one place of a curve.
pub(super) trait Geometry<Y: System, S: Scalar> {
    /// Whether masses are constant and q̇ = v.
    const FLAT: bool;
    /// v = T(δ) δ̇.
    fn velocity(&self, y: &Y, h: f64, delta: &[S], rate: &[S], out: &mut [S]);
    /// Turns f into F at a state with momentum p.
    fn complete(&mut self, y: &Y, s: &State<S>, momentum: &[S], force: &mut [S]);
    /// Turns F into Tᵀ F, and gives (∂v/∂δ)ᵀ p, (∂v/∂δ̇)ᵀ p and Xᵀ Tᵀ F.
    fn pull(&mut self, y: &Y, at: At<'_, S>, momentum: &[S], force: &mut [S], out: &mut Pulled<S>);
    /// out = T(δ)ᵀ c.
    fn tangent(&mut self, y: &Y, delta: &[S], covector: &[S], out: &mut [S]);
    /// out = X(δ)ᵀ c.
    fn shift(&mut self, y: &Y, delta: &[S], covector: &[S], out: &mut [S]);
    /// out = T(δ)⁻ᵀ c.
    fn release(&mut self, y: &Y, delta: &[S], covector: &[S], out: &mut [S]);
}

/// A place of a curve in a step of length h: δ and δ̇.
pub(super) struct At<'a, S> {
    pub h: f64,
    pub delta: &'a [S],
    pub rate: &'a [S],
}

/// Covectors at one place of a curve.
pub(super) struct Pulled<S> {
    /// (∂v/∂δ)ᵀ p.
    pub by_position: Vec<S>,
    /// (∂v/∂δ̇)ᵀ p.
    pub by_rate: Vec<S>,
    /// Xᵀ Tᵀ F.
    pub shifted: Vec<S>,
}

impl<S: Scalar> Pulled<S> {
    pub fn new(n: usize) -> Self {
        let zeros = || vec![S::zero(); n];
        Self { by_position: zeros(), by_rate: zeros(), shifted: zeros() }
    }
}

/// Constant masses and q̇ = v.
pub(super) struct Flat;

impl<Y: System, S: Scalar> Geometry<Y, S> for Flat {
    const FLAT: bool = true;
    fn velocity(&self, _y: &Y, _h: f64, _delta: &[S], rate: &[S], out: &mut [S]) {
        out.copy_from_slice(rate);
    }
    fn complete(&mut self, _y: &Y, _s: &State<S>, _momentum: &[S], _force: &mut [S]) {}
    fn pull(&mut self, _y: &Y, _at: At<'_, S>, momentum: &[S], force: &mut [S], out: &mut Pulled<S>) {
        out.by_rate.copy_from_slice(momentum);
        out.shifted.copy_from_slice(force);
    }
    fn tangent(&mut self, _y: &Y, _delta: &[S], covector: &[S], out: &mut [S]) {
        out.copy_from_slice(covector);
    }
    fn shift(&mut self, _y: &Y, _delta: &[S], covector: &[S], out: &mut [S]) {
        out.copy_from_slice(covector);
    }
    fn release(&mut self, _y: &Y, _delta: &[S], covector: &[S], out: &mut [S]) {
        out.copy_from_slice(covector);
    }
}

/// What is known of a space before any number is chosen.
#[derive(Clone, Debug, Default)]
pub(super) struct Structure {
    /// The groups of velocities that are not rates of coordinates.
    groups: Vec<Range<usize>>,
    /// Nonzero structure constants (i, j, k, c): [e_i, e_j] has c along e_k.
    brackets: Vec<(usize, usize, usize, f64)>,
    /// The first velocity of each rotation that is a factor of the group by itself.
    turns: Vec<usize>,
    /// κ.
    chord: f64,
    /// Whether M depends on the place.
    varying: bool,
}

impl Structure {
    /// Finds out by asking a system; an error if its maps do not fit each other.
    pub fn new<Y: System>(y: &Y, q: &[f64], chord: f64) -> Result<Self, String> {
        let n = y.shape().v;
        let delta: Vec<f64> = (0..n).map(|i| 0.3 * (1.0 + i as f64).sin()).collect();
        let probe: Vec<f64> = (0..n).map(|i| 0.5 + (2.0 + 1.7 * i as f64).cos()).collect();
        let [mut velocity, mut shifted, mut back] = [vec![0.0; n], vec![0.0; n], vec![0.0; n]];
        y.local_velocity(&delta, &probe, &mut velocity);
        y.local_rate(&delta, &velocity, &mut back);
        y.local_shift(&delta, &probe, &mut shifted);
        let far = |a: f64, b: f64| (a - b).abs() > 1e-9 * (1.0 + a.abs() + b.abs());
        if let Some(i) = (0..n).find(|&i| far(back[i], probe[i])) {
            return Err(format!("`local_velocity` does not undo `local_rate` for {}", y.velocity_name(i)));
        }
        let lift = |a: &[f64]| a.iter().map(|&a| Dual::from(a)).collect::<Vec<_>>();
        let moving = |a: &[f64], d: &[f64]| a.iter().zip(d).map(|(&a, &d)| Dual::new(a, d)).collect::<Vec<Dual>>();
        let [mut begun, mut by_base, mut by_shift] = [lift(q), lift(q), lift(q)];
        y.retract(&lift(q), &moving(&vec![0.0; n], &probe), &mut begun);
        y.retract(&begun, &lift(&delta), &mut by_base);
        y.retract(&lift(q), &moving(&delta, &shifted), &mut by_shift);
        if let Some(i) = (0..q.len()).find(|&i| far(by_base[i].eps[0], by_shift[i].eps[0])) {
            return Err(format!("`local_shift` does not follow a moving base in coordinate {i}"));
        }
        let bent = |g: &Range<usize>| g.clone().any(|i| velocity[i] != probe[i] || shifted[i] != probe[i]);
        let groups: Vec<_> = y.coupling().groups.into_iter().filter(bent).collect();
        let mut out = Self { groups, chord, varying: !y.mass_is_constant(), ..Self::default() };
        out.find_brackets(y, n);
        out.find_turns();
        Ok(out)
    }

    /// Whether nothing is left of it.
    pub fn is_flat(&self) -> bool {
        self.groups.is_empty() && !self.varying
    }

    /// Whether some velocities are not rates of coordinates.
    pub fn is_bent(&self) -> bool {
        !self.groups.is_empty()
    }

    /// The bent groups that hold no rotation by itself.
    pub fn unturned(&self) -> Option<usize> {
        let whole = |g: &&Range<usize>| !self.turns.iter().any(|t| g.contains(t));
        self.groups.iter().find(whole).map(|g| g.start)
    }

    fn widest(&self) -> usize {
        self.groups.iter().map(|g| g.len()).max().unwrap_or(0)
    }

    fn find_brackets<Y: System>(&mut self, y: &Y, n: usize) {
        let widest = self.widest();
        let mut changes = vec![vec![0.0; n]; widest * widest];
        for i in 0..widest {
            for j in 0..widest {
                let (mut along, mut velocity) = (vec![Dual::default(); n], vec![Dual::default(); n]);
                for g in self.groups.iter().filter(|g| g.len() > i.max(j)) {
                    along[g.start + i].eps[0] = 1.0;
                    velocity[g.start + j].re = 1.0;
                }
                let mut out = velocity.clone();
                y.local_rate(&along, &velocity, &mut out);
                changes[i * widest + j] = out.iter().map(|x| x.eps[0]).collect();
            }
        }
        for g in &self.groups {
            for (i, j) in (0..g.len()).flat_map(|i| (0..g.len()).map(move |j| (i, j))) {
                for k in g.clone() {
                    let c = changes[i * widest + j][k] - changes[j * widest + i][k];
                    if c != 0.0 {
                        self.brackets.push((g.start + i, g.start + j, k, c));
                    }
                }
            }
        }
    }

    /// Three velocities in a row whose brackets are those of rotations and touch no others.
    fn find_turns(&mut self) {
        for g in &self.groups {
            for start in g.start..(g.end + 1).saturating_sub(3) {
                let own = start..start + 3;
                let mut touched = 0;
                let fits = self.brackets.iter().all(|&(i, j, k, c)| {
                    let inside = [i, j, k].iter().filter(|x| own.contains(x)).count();
                    touched += usize::from(inside == 3);
                    let even = (j + 3 - i) % 3 == 1;
                    inside == 0 || (inside == 3 && i != j && k != i && k != j && c == if even { 1.0 } else { -1.0 })
                });
                if fits && touched == 6 {
                    self.turns.push(start);
                }
            }
        }
    }
}

/// A number that can carry one more derivative.
pub(super) trait Nest: Scalar {
    /// The number that carries it.
    type Deep: Scalar;
    /// A value and its derivative.
    fn nest(value: Self, derivative: Self) -> Self::Deep;
    /// The derivative.
    fn derivative(deep: Self::Deep) -> Self;
}

impl Nest for f64 {
    type Deep = Dual;
    fn nest(value: Self, derivative: Self) -> Dual {
        Jet::new(value, derivative)
    }
    fn derivative(deep: Dual) -> Self {
        deep.eps[0]
    }
}

impl Nest for Dual {
    type Deep = Dual2;
    fn nest(value: Self, derivative: Self) -> Dual2 {
        Jet::new(value, derivative)
    }
    fn derivative(deep: Dual2) -> Self {
        deep.eps[0]
    }
}

/// Any space and any mass.
pub(super) struct Curved<Y: System, S: Nest> {
    structure: Structure,
    unit: Vec<S>,
    column: Vec<S>,
    pulled: Vec<S>,
    deep_delta: Vec<S::Deep>,
    deep_rate: Vec<S::Deep>,
    deep_column: Vec<S::Deep>,
    mass: Option<Varying<Y, S>>,
}

/// What the rate of a mass matrix needs.
struct Varying<Y: System, S: Nest> {
    work: Y::Work<S::Deep>,
    state: State<S::Deep>,
    base: Vec<S::Deep>,
    mass: Mass<S::Deep>,
}

impl<Y: System, S: Nest> Curved<Y, S> {
    pub fn new(y: &Y, structure: Structure) -> Self {
        let shape = y.shape();
        let zero = S::Deep::zero();
        let mass = structure.varying.then(|| Varying {
            work: y.work(),
            state: State::zeros(shape),
            base: vec![zero; shape.q],
            mass: Mass::new(&y.mass_blocks()),
        });
        Self {
            structure,
            unit: vec![S::zero(); shape.v],
            column: vec![S::zero(); shape.v],
            pulled: vec![S::zero(); shape.v],
            deep_delta: vec![zero; shape.v],
            deep_rate: vec![zero; shape.v],
            deep_column: vec![zero; shape.v],
            mass,
        }
    }

    /// Sets the `j`-th velocity of every group to one, or back to zero.
    fn seed(&mut self, j: usize, value: f64) {
        for g in self.structure.groups.iter().filter(|g| g.len() > j) {
            self.unit[g.start + j] = S::from(value);
        }
    }

    /// out = (linear map)ᵀ c, where the map acts on each group by itself.
    fn transpose(&mut self, covector: &[S], out: &mut [S], map: impl Fn(&[S], &mut [S])) {
        out.copy_from_slice(covector);
        for j in 0..self.structure.widest() {
            self.seed(j, 1.0);
            map(&self.unit, &mut self.column);
            for g in self.structure.groups.iter().filter(|g| g.len() > j) {
                out[g.start + j] = g.clone().fold(S::zero(), |sum, k| sum + self.column[k] * covector[k]);
            }
            self.seed(j, 0.0);
        }
    }
}

/// The factor of a chord and its derivative with respect to |ξ|², for |ξ|² = z.
fn chord<S: Scalar>(kappa: f64, z: S) -> (S, S) {
    let a = z * (kappa * kappa);
    let small = a.lt(S::from(1e-3));
    let safe = S::select(small, S::one(), a);
    let angle = safe.sqrt();
    let (sine, cosine) = angle.sin_cos();
    let series = |c: &[f64]| c.iter().rev().fold(S::zero(), |sum, &c| sum * a + c);
    let (value, slope) = if kappa > 0.0 {
        let sinc = sine / angle;
        let near = [1.0, -1.0 / 6.0, 1.0 / 120.0, -1.0 / 5040.0, 1.0 / 362_880.0];
        let near_slope = [-1.0 / 6.0, 1.0 / 60.0, -1.0 / 1680.0, 1.0 / 90_720.0];
        (S::select(small, series(&near), sinc), S::select(small, series(&near_slope), (cosine - sinc) / safe * 0.5))
    } else {
        let tanc = sine / (cosine * angle);
        let near = [1.0, 1.0 / 3.0, 2.0 / 15.0, 17.0 / 315.0, 62.0 / 2835.0, 1382.0 / 155_925.0];
        let near_slope = [1.0 / 3.0, 4.0 / 15.0, 51.0 / 315.0, 248.0 / 2835.0, 6910.0 / 155_925.0];
        let far = ((cosine * cosine).recip() - tanc) / safe * 0.5;
        (S::select(small, series(&near), tanc), S::select(small, series(&near_slope), far))
    };
    (value, slope * (kappa * kappa))
}

impl<Y: System, S: Nest> Geometry<Y, S> for Curved<Y, S> {
    const FLAT: bool = false;
    fn velocity(&self, y: &Y, h: f64, delta: &[S], rate: &[S], out: &mut [S]) {
        y.local_velocity(delta, rate, out);
        if self.structure.chord != 0.0 {
            for &turn in &self.structure.turns {
                let own = turn..turn + 3;
                let z = own.clone().fold(S::zero(), |sum, k| sum + rate[k].square()) * (h * h);
                let (factor, _) = chord(self.structure.chord, z);
                own.for_each(|k| out[k] = rate[k] * factor);
            }
        }
    }

    fn complete(&mut self, y: &Y, s: &State<S>, momentum: &[S], force: &mut [S]) {
        for &(i, j, k, c) in &self.structure.brackets {
            force[j] -= s.v[i] * momentum[k] * c;
        }
        let Some(Varying { work, state, base, mass }) = &mut self.mass else { return };
        let zero = S::zero();
        for (to, &from) in base.iter_mut().zip(&s.q) {
            *to = S::nest(from, zero);
        }
        for (k, &v) in s.v.iter().enumerate() {
            self.deep_delta[k] = S::nest(zero, v);
            state.v[k] = S::nest(v, zero);
        }
        state.t = S::nest(s.t, zero);
        for (to, &from) in state.p.iter_mut().zip(&s.p) {
            *to = S::nest(from, zero);
        }
        y.retract(base, &self.deep_delta, &mut state.q);
        y.prepare(state, work);
        y.mass(state, work, mass);
        mass.apply(&state.v, &mut self.deep_column);
        for (force, &product) in force.iter_mut().zip(&self.deep_column) {
            *force += S::derivative(product);
        }
    }

    fn pull(&mut self, y: &Y, at: At<'_, S>, momentum: &[S], force: &mut [S], out: &mut Pulled<S>) {
        let At { h, delta, rate } = at;
        out.by_rate.copy_from_slice(momentum);
        if self.structure.groups.is_empty() {
            out.shifted.copy_from_slice(force);
            return;
        }
        let zero = S::zero();
        for k in 0..rate.len() {
            self.deep_rate[k] = S::nest(rate[k], zero);
        }
        self.pulled.copy_from_slice(force);
        for j in 0..self.structure.widest() {
            self.seed(j, 1.0);
            y.local_velocity(delta, &self.unit, &mut self.column);
            for k in 0..delta.len() {
                self.deep_delta[k] = S::nest(delta[k], self.unit[k]);
            }
            y.local_velocity(&self.deep_delta, &self.deep_rate, &mut self.deep_column);
            for g in self.structure.groups.iter().filter(|g| g.len() > j) {
                let [mut pulled, mut by_rate, mut by_position] = [zero; 3];
                for k in g.clone() {
                    pulled += self.column[k] * force[k];
                    by_rate += self.column[k] * momentum[k];
                    by_position += S::derivative(self.deep_column[k]) * momentum[k];
                }
                self.pulled[g.start + j] = pulled;
                out.by_rate[g.start + j] = by_rate;
                out.by_position[g.start + j] = by_position;
            }
            self.seed(j, 0.0);
        }
        force.copy_from_slice(&self.pulled);
        if self.structure.chord != 0.0 {
            for &turn in &self.structure.turns {
                let own = turn..turn + 3;
                let dot = own.clone().fold(zero, |sum, k| sum + rate[k] * momentum[k]) * (2.0 * h * h);
                let z = own.clone().fold(zero, |sum, k| sum + rate[k].square()) * (h * h);
                let (factor, slope) = chord(self.structure.chord, z);
                for k in own {
                    out.by_position[k] = zero;
                    out.by_rate[k] = momentum[k] * factor + rate[k] * (slope * dot);
                }
            }
        }
        self.shift(y, delta, force, &mut out.shifted);
    }

    fn tangent(&mut self, y: &Y, delta: &[S], covector: &[S], out: &mut [S]) {
        self.transpose(covector, out, |unit, column| y.local_velocity(delta, unit, column));
    }

    fn shift(&mut self, y: &Y, delta: &[S], covector: &[S], out: &mut [S]) {
        self.transpose(covector, out, |unit, column| y.local_shift(delta, unit, column));
    }

    fn release(&mut self, y: &Y, delta: &[S], covector: &[S], out: &mut [S]) {
        self.transpose(covector, out, |unit, column| y.local_rate(delta, unit, column));
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::problems::{FreeBody, Kepler, Problem};

    #[test]
    fn a_rotation_is_known_by_its_brackets() {
        let body = FreeBody::default();
        let found = Structure::new(&body, &body.initial().q, 0.5).unwrap();
        assert_eq!((found.turns, found.brackets.len(), found.groups), (vec![0], 6, std::iter::once(0..3).collect()));
        let orbit = Kepler::default();
        assert!(Structure::new(&orbit, &orbit.initial().q, 0.0).unwrap().is_flat());
    }

    /// Value and slope of the chord factor against dual numbers of the closed forms, across the change to series.
    #[test]
    fn chords_have_their_slopes() {
        for kappa in [1.0, 0.5, -0.5] {
            for z in [1e-9_f64, 9.9e-4, 1.01e-3, 9.9e-4 * 4.0, 1.01e-3 * 4.0, 0.3, 2.0] {
                let (value, slope) = chord(kappa, z);
                let angle = f64::abs(kappa) * z.sqrt();
                let exact = if kappa > 0.0 { angle.sin() / angle } else { angle.tan() / angle };
                assert!((value - exact).abs() < 1e-14, "{kappa} {z}");
                let by_jet = chord(kappa, Dual::new(z, 1.0)).0.eps[0];
                // The closed slope loses ε/z to cancellation at z = 1e-3.
                assert!((slope - by_jet).abs() < 1e-12, "{kappa} {z}: {slope} {by_jet}");
            }
        }
    }
}
