//! The account of energy and momentum of a state.

use super::{DISSIPATED, INTEGRALS, SUPPLIED, Work};
use crate::bodies::Bodies;
use crate::forces::Forces;
use crate::model::Model;
use dalembert_methods::vector::Vec3;
use dalembert_methods::{Scalar, State};

/// The energies of a state, in J. Kinetic + potential + dissipated − supplied never changes.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Ledger<S> {
    /// Kinetic energy.
    pub kinetic: S,
    /// Potential energy of gravity and of all forces.
    pub potential: S,
    /// Energy turned to heat since the start.
    pub dissipated: S,
    /// Energy supplied by applied forces and moving constraints since the start.
    pub supplied: S,
}

impl<S: Scalar> Ledger<S> {
    /// What never changes: kinetic + potential + dissipated − supplied.
    pub fn total(&self) -> S {
        self.kinetic + self.potential + self.dissipated - self.supplied
    }
}

/// Linear momentum in kg m/s and angular momentum about the world origin in kg m²/s, world frame.
#[derive(Copy, Clone, Debug, Default, PartialEq)]
pub struct Momentum<S> {
    /// Linear momentum.
    pub linear: Vec3<S>,
    /// Angular momentum about the world origin.
    pub angular: Vec3<S>,
}

impl Model {
    /// The energies of a prepared state.
    pub fn ledger<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>) -> Ledger<S> {
        let gravity = Vec3::constant(self.gravity);
        let mut ledger =
            Ledger { kinetic: S::zero(), potential: S::zero(), dissipated: s.z[DISSIPATED], supplied: s.z[SUPPLIED] };
        // A run with contacts adds its accounts: work of moving contacts, heat of sliding, energy lost in impacts.
        if let [.., work, heat, lost] = s.z[INTEGRALS..] {
            ledger.supplied += work;
            ledger.dissipated += heat + lost;
        }
        for (i, body) in self.bodies.iter().enumerate() {
            let cache = &w.cache[self.layout.cache[i].clone()];
            let mass = body.item.total_mass();
            let body = S::view::<Bodies, _>(&*body.item);
            ledger.kinetic += body.kinetic(cache);
            ledger.potential -= gravity.dot(body.centre(cache)) * mass;
            ledger.potential += body.stored(cache);
        }
        for (i, force) in self.forces.iter().enumerate() {
            w.gather(&force.markers);
            ledger.potential += S::view::<Forces, _>(&*force.item).energy(&self.instant(s, i, &w.signals), &w.at);
        }
        ledger
    }

    /// The force that dissipates least, and how much, in W; none without forces.
    pub fn least_dissipation(&self, s: &State<f64>, w: &mut Work<f64>) -> Option<(usize, f64)> {
        let mut least: Option<(usize, f64)> = None;
        for (i, force) in self.forces.iter().enumerate() {
            w.gather(&force.markers);
            let heat = f64::view::<Forces, _>(&*force.item).dissipation(&self.instant(s, i, &w.signals), &w.at);
            if least.is_none_or(|(_, other)| heat < other) {
                least = Some((i, heat));
            }
        }
        least
    }

    /// The momenta of a prepared state.
    pub fn momentum<S: Scalar>(&self, w: &Work<S>) -> Momentum<S> {
        let mut momentum = Momentum { linear: Vec3::zero(), angular: Vec3::zero() };
        for (i, body) in self.bodies.iter().enumerate() {
            let (linear, angular) = S::view::<Bodies, _>(&*body.item).momentum(&w.cache[self.layout.cache[i].clone()]);
            momentum.linear += linear;
            momentum.angular += angular;
        }
        momentum
    }
}
