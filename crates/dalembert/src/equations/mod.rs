//! The equations of motion of a model: [`System`] for [`Model`].
//!
//! Bodies give kinematics, masses and gyroscopic forces; elements see only the places of their markers; wrenches are
//! pulled back to generalised forces. Nothing here knows a particular body or element.

mod contact;
mod ledger;

pub use ledger::{Ledger, Momentum};

use crate::bodies::Bodies;
use crate::constraints::{Constraints, MOST_ROWS, Scratch};
use crate::forces::Forces;
use crate::model::{Acceleration, Instant, Model, ModelError, Place, Wrench};
use dalembert_methods::algebra::{Block, Mass, MassBlock, Rows};
use dalembert_methods::system::Coupling;
use dalembert_methods::vector::Vec3;
use dalembert_methods::{Jet, Scalar, Shape, State, System};

/// The integrals z of a model: energy dissipated, energy supplied.
pub(crate) const INTEGRALS: usize = 2;
/// Position of the dissipated energy among the integrals.
pub(crate) const DISSIPATED: usize = 0;
/// Position of the supplied energy among the integrals.
pub(crate) const SUPPLIED: usize = 1;

/// Scratch of a model: kinematics of bodies, places of markers.
pub struct Work<S: Scalar> {
    pub(crate) cache: Vec<S>,
    pub(crate) places: Vec<Place<S>>,
    at: Vec<Place<S>>,
    accelerations: Vec<Acceleration<S>>,
    wrenches: Vec<Wrench<S>>,
    scratch: Scratch<S>,
    body_scratch: Vec<Jet<S, 1>>,
}

impl<S: Scalar> Work<S> {
    /// Gathers the places of an element's markers.
    #[inline]
    fn gather(&mut self, markers: &[usize]) {
        self.at.clear();
        for &m in markers {
            self.at.push(self.places[m]);
        }
    }
}

impl System for Model {
    type Work<S: Scalar> = Work<S>;

    fn shape(&self) -> Shape {
        self.layout.shape
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        self.layout.mass_blocks.clone()
    }
    fn row_blocks(&self) -> Vec<Block> {
        self.layout.blocks.clone()
    }
    fn coupling(&self) -> Coupling {
        self.layout.coupling.clone()
    }
    fn mass_is_constant(&self) -> bool {
        self.layout.mass_is_constant
    }

    fn work<S: Scalar>(&self) -> Work<S> {
        let most = self.layout.most_markers;
        Work {
            cache: vec![S::zero(); self.layout.cache.last().map_or(0, |r| r.end)],
            places: vec![Place::default(); self.markers.len()],
            at: Vec::with_capacity(most),
            accelerations: Vec::with_capacity(most),
            wrenches: vec![Wrench::default(); most],
            scratch: Scratch::default(),
            body_scratch: Vec::new(),
        }
    }

    fn prepare<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>) {
        let layout = &self.layout;
        for (i, body) in self.bodies.iter().enumerate() {
            let (q, v) = (&s.q[layout.q[i].clone()], &s.v[layout.v[i].clone()]);
            S::view::<Bodies, _>(&*body.item).kinematics(q, v, &mut w.cache[layout.cache[i].clone()]);
        }
        for (place, marker) in w.places.iter_mut().zip(&self.markers) {
            let cache = &w.cache[layout.cache[marker.body].clone()];
            *place = S::view::<Bodies, _>(&*self.bodies[marker.body].item).place(&marker.site, cache);
        }
    }

    fn mass<S: Scalar>(&self, _s: &State<S>, w: &mut Work<S>, out: &mut Mass<S>) {
        for (i, body) in self.bodies.iter().enumerate() {
            let cache = &w.cache[self.layout.cache[i].clone()];
            for (k, block) in self.layout.mass[i].clone().enumerate() {
                S::view::<Bodies, _>(&*body.item).mass(k, cache, out.block_mut(block));
            }
        }
    }

    fn force<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>, out: &mut [S]) {
        out.fill(S::zero());
        let gravity = Vec3::constant(self.gravity);
        for (i, body) in self.bodies.iter().enumerate() {
            let (cache, out) = (&w.cache[self.layout.cache[i].clone()], &mut out[self.layout.v[i].clone()]);
            let body = S::view::<Bodies, _>(&*body.item);
            body.force(cache, out);
            body.weight(cache, gravity, out);
        }
        for (i, force) in self.forces.iter().enumerate() {
            w.gather(&force.markers);
            let now = self.instant(s, i);
            let wrenches = &mut w.wrenches[..force.markers.len()];
            S::view::<Forces, _>(&*force.item).apply(&now, &w.at, wrenches);
            for (&m, wrench) in force.markers.iter().zip(&w.wrenches) {
                self.pull_back(m, &w.cache, wrench, out);
            }
        }
    }

    fn rate<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>, out: &mut [S]) {
        for (i, force) in self.forces.iter().enumerate() {
            if self.layout.x[i].is_empty() {
                continue;
            }
            w.gather(&force.markers);
            let now = self.instant(s, i);
            S::view::<Forces, _>(&*force.item).rate(&now, &w.at, &mut out[self.layout.x[i].clone()]);
        }
    }

    fn integrand<S: Scalar>(&self, s: &State<S>, multipliers: &[S], w: &mut Work<S>, out: &mut [S]) {
        out.fill(S::zero());
        for (i, body) in self.bodies.iter().enumerate() {
            out[DISSIPATED] += S::view::<Bodies, _>(&*body.item).dissipation(&w.cache[self.layout.cache[i].clone()]);
        }
        for (i, force) in self.forces.iter().enumerate() {
            w.gather(&force.markers);
            let now = self.instant(s, i);
            let force = S::view::<Forces, _>(&*force.item);
            out[DISSIPATED] += force.dissipation(&now, &w.at);
            out[SUPPLIED] += force.supply(&now, &w.at);
        }
        // Constraint forces −Gᵀλ do the work −λᵀ(Gv) = λᵀ ∂g/∂t: only moving constraints supply power.
        for (constraint, rows) in self.constraints.iter().zip(&self.layout.rows) {
            if !constraint.item.rheonomic() {
                continue;
            }
            w.at.clear();
            for &m in &constraint.markers {
                w.at.push(w.places[m].at_rest());
            }
            let mut explicit = [S::zero(); MOST_ROWS];
            let now = Instant { t: s.t, x: &[], p: &s.p };
            let explicit = &mut explicit[..rows.len()];
            S::view::<Constraints, _>(&*constraint.item).rate(&now, &w.at, &mut w.scratch, explicit);
            for (&multiplier, &rate) in multipliers[rows.clone()].iter().zip(&*explicit) {
                out[SUPPLIED] += multiplier * rate;
            }
        }
    }

    fn constraint<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>, out: &mut [S]) {
        for (constraint, rows) in self.constraints.iter().zip(&self.layout.rows) {
            if constraint.item.holonomic() {
                w.gather(&constraint.markers);
                let now = Instant { t: s.t, x: &[], p: &s.p };
                S::view::<Constraints, _>(&*constraint.item).residual(&now, &w.at, &mut out[rows.clone()]);
            }
        }
    }

    fn constraint_rate<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>, out: &mut [S]) {
        for (constraint, rows) in self.constraints.iter().zip(&self.layout.rows) {
            w.gather(&constraint.markers);
            let now = Instant { t: s.t, x: &[], p: &s.p };
            let out = &mut out[rows.clone()];
            S::view::<Constraints, _>(&*constraint.item).rate(&now, &w.at, &mut w.scratch, out);
        }
    }

    fn constraint_bias<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>, out: &mut [S]) {
        for (constraint, rows) in self.constraints.iter().zip(&self.layout.rows) {
            w.gather(&constraint.markers);
            self.gather_accelerations(s, w, &constraint.markers);
            let now = Instant { t: s.t, x: &[], p: &s.p };
            let constraint = S::view::<Constraints, _>(&*constraint.item);
            constraint.bias(&now, &w.at, &w.accelerations, &mut w.scratch, &mut out[rows.clone()]);
        }
    }

    fn jacobian<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>, out: &mut Rows<S>) {
        out.clear();
        for (i, constraint) in self.constraints.iter().enumerate() {
            w.gather(&constraint.markers);
            let now = Instant { t: s.t, x: &[], p: &s.p };
            let count = self.layout.rows[i].len();
            let mut gradients = [Wrench::default(); MOST_ROWS];
            for (k, block) in self.layout.blocks_of[i].iter().enumerate() {
                let Some(block) = *block else { continue };
                let rows = S::view::<Constraints, _>(&*constraint.item);
                rows.gradient(&now, &w.at, k, &mut w.scratch, &mut gradients[..count]);
                let marker = &self.markers[constraint.markers[k]];
                let body = S::view::<Bodies, _>(&*self.bodies[marker.body].item);
                let cache = &w.cache[self.layout.cache[marker.body].clone()];
                let columns = self.layout.v[marker.body].len();
                for (row, gradient) in out.block_mut(block).chunks_exact_mut(columns).zip(&gradients[..count]) {
                    body.pull_back(&marker.site, cache, gradient, row);
                }
            }
        }
    }

    fn retract<S: Scalar>(&self, q: &[S], delta: &[S], out: &mut [S]) {
        for (i, body) in self.bodies.iter().enumerate() {
            let (range, columns) = (self.layout.q[i].clone(), self.layout.v[i].clone());
            S::view::<Bodies, _>(&*body.item).retract(&q[range.clone()], &delta[columns], &mut out[range]);
        }
    }

    fn local_rate<S: Scalar>(&self, delta: &[S], v: &[S], out: &mut [S]) {
        for (i, body) in self.bodies.iter().enumerate() {
            let range = self.layout.v[i].clone();
            let out = &mut out[range.clone()];
            S::view::<Bodies, _>(&*body.item).local_rate(&delta[range.clone()], &v[range], out);
        }
    }

    fn magnitude(&self, q: &[f64], out: &mut [f64]) {
        for (i, body) in self.bodies.iter().enumerate() {
            body.item.magnitude(&q[self.layout.q[i].clone()], &mut out[self.layout.v[i].clone()]);
        }
    }

    fn row_name(&self, row: usize) -> String {
        let found = self.layout.rows.iter().position(|r| r.contains(&row));
        found.map_or_else(
            || format!("row {row}"),
            |i| format!("{}.{}", self.constraints[i].section, self.constraints[i].name),
        )
    }

    fn velocity_name(&self, velocity: usize) -> String {
        match self.layout.v.iter().position(|r| r.contains(&velocity)) {
            Some(i) => {
                let body = &self.bodies[i];
                format!("body.{}, {}", body.name, body.item.velocity_name(velocity - self.layout.v[i].start))
            }
            None => format!("velocity {velocity}"),
        }
    }
}

impl Model {
    /// The initial state the bodies and elements give.
    pub fn initial_state(&self) -> State<f64> {
        let mut s = State::zeros(self.layout.shape);
        for (i, body) in self.bodies.iter().enumerate() {
            body.item.initial(&mut s.q[self.layout.q[i].clone()], &mut s.v[self.layout.v[i].clone()]);
        }
        for (i, force) in self.forces.iter().enumerate() {
            force.item.initial(&mut s.x[self.layout.x[i].clone()]);
        }
        s
    }

    /// Lets constraints take from the initial places what they were not told.
    pub(crate) fn settle(&mut self) {
        let mut w = self.work::<f64>();
        self.prepare(&self.initial_state(), &mut w);
        for constraint in &mut self.constraints {
            w.gather(&constraint.markers);
            constraint.item.settle(&w.at);
        }
    }

    /// What is wrong with elements where and when a run would start: a muscle of no length, a cell turned inside out.
    pub fn defects_at(&self, s: &State<f64>) -> Vec<ModelError> {
        let mut w = self.work::<f64>();
        self.prepare(s, &mut w);
        let mut errors = Vec::new();
        let mut blame = |section, name: &str, defect: Option<(&'static str, String)>| {
            let error = |(key, message)| ModelError { section, name: name.to_owned(), key: Some(key), message };
            errors.extend(defect.map(error));
        };
        for (i, force) in self.forces.iter().enumerate() {
            w.gather(&force.markers);
            blame(force.section, &force.name, force.item.defect_at(&self.instant(s, i), &w.at));
        }
        for constraint in &self.constraints {
            w.gather(&constraint.markers);
            let now = Instant { t: s.t, x: &[], p: &s.p };
            blame(constraint.section, &constraint.name, constraint.item.defect_at(&now, &w.at));
        }
        errors
    }

    /// Gathers the accelerations of markers at v̇ = 0.
    fn gather_accelerations<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>, markers: &[usize]) {
        w.accelerations.clear();
        for &m in markers {
            let marker = &self.markers[m];
            let b = marker.body;
            let (q, v) = (&s.q[self.layout.q[b].clone()], &s.v[self.layout.v[b].clone()]);
            let cache = &w.cache[self.layout.cache[b].clone()];
            let body = S::view::<Bodies, _>(&*self.bodies[b].item);
            w.accelerations.push(body.bias(&marker.site, q, v, cache, &mut w.body_scratch));
        }
    }

    fn instant<'a, S: Scalar>(&self, s: &'a State<S>, force: usize) -> Instant<'a, S> {
        Instant { t: s.t, x: &s.x[self.layout.x[force].clone()], p: &s.p }
    }

    fn pull_back<S: Scalar>(&self, marker: usize, cache: &[S], wrench: &Wrench<S>, out: &mut [S]) {
        let marker = &self.markers[marker];
        let (cache, out) =
            (&cache[self.layout.cache[marker.body].clone()], &mut out[self.layout.v[marker.body].clone()]);
        S::view::<Bodies, _>(&*self.bodies[marker.body].item).pull_back(&marker.site, cache, wrench, out);
    }
}
