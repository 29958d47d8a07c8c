//! The equations of motion of a model: [`System`] for [`Model`].
//!
//! Bodies give kinematics, masses and gyroscopic forces; elements see only the places of their markers; wrenches are
//! pulled back to generalised forces. Nothing here knows a particular body or element.

mod apart;
mod contact;
mod ledger;
mod rows;

pub use apart::{Apart, Element, Sum};
pub use ledger::{Ledger, Momentum};

use crate::bodies::Bodies;
use crate::constraints::{Constraints, MOST_ROWS, Scratch};
use crate::forces::Forces;
use crate::model::{Acceleration, Instant, Marker, Model, ModelError, Place, Taker, Wrench};
use dalembert_methods::algebra::{Block, Mass, MassBlock, Rows};
use dalembert_methods::system::Coupling;
use dalembert_methods::vector::{Mat3, Vec3};
use dalembert_methods::{Jet, Scalar, Shape, State, System};

/// The integrals z of a model: energy dissipated, energy supplied.
pub(crate) const INTEGRALS: usize = 2;
/// Position of the dissipated energy among the integrals.
pub const DISSIPATED: usize = 0;
/// Position of the supplied energy among the integrals.
pub const SUPPLIED: usize = 1;

/// Scratch of a model: kinematics of bodies, places of markers, signals with their rates.
pub struct Work<S: Scalar> {
    pub(crate) signals: Vec<Jet<S, 1>>,
    pub(crate) cache: Vec<S>,
    pub(crate) places: Vec<Place<S>>,
    /// For each marker whether it is on a body without orientation, so that its place never turns.
    unturned: Vec<bool>,
    /// The places of the markers of one element, and whether each is known not to turn.
    at: Vec<Place<S>>,
    bare: Vec<bool>,
    accelerations: Vec<Acceleration<S>>,
    wrenches: Vec<Wrench<S>>,
    /// The sums of wrenches of all elements at markers of bodies that are not points.
    loads: Vec<Wrench<S>>,
    /// Which forces have told dissipation, supply and rates together with their wrenches; the sums of the first two, and the rates.
    accounted: Vec<bool>,
    powers: [S; INTEGRALS],
    rates: Vec<S>,
    scratch: Scratch<S>,
    body_scratch: Vec<Jet<S, 1>>,
}

impl<S: Scalar> Work<S> {
    /// Gathers the places of an element's markers. Of those that never turn only what changes is copied: places are long.
    #[inline]
    fn gather(&mut self, markers: &[usize]) {
        self.at.resize(markers.len(), unturned());
        self.bare.resize(markers.len(), true);
        for ((at, bare), &m) in self.at.iter_mut().zip(&mut self.bare).zip(markers) {
            let from = &self.places[m];
            if self.unturned[m] && *bare {
                (at.r, at.v) = (from.r, from.v);
            } else {
                *at = *from;
                *bare = self.unturned[m];
            }
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
        let mut cache = vec![S::zero(); self.layout.cache.last().map_or(0, |r| r.end)];
        let mut places = vec![unturned(); self.markers.len()];
        // What cannot move is where it is for good.
        let held = |body: usize| self.layout.v[body].is_empty();
        for body in (0..self.bodies.len()).filter(|&body| held(body)) {
            let cache = &mut cache[self.layout.cache[body].clone()];
            S::view::<Bodies, _>(&*self.bodies[body].item).kinematics(&[], &[], cache);
        }
        for (place, marker) in places.iter_mut().zip(&self.markers).filter(|(_, marker)| held(marker.body)) {
            let body = S::view::<Bodies, _>(&*self.bodies[marker.body].item);
            *place = body.place(&marker.site, &cache[self.layout.cache[marker.body].clone()]);
        }
        Work {
            signals: vec![Jet::default(); self.signals.len()],
            cache,
            places,
            unturned: self.markers.iter().map(|marker| !self.bodies[marker.body].item.oriented()).collect(),
            at: Vec::with_capacity(most),
            bare: Vec::with_capacity(most),
            accelerations: Vec::with_capacity(most),
            wrenches: vec![Wrench::default(); most],
            loads: vec![Wrench::default(); self.layout.loaded.len()],
            accounted: vec![false; self.forces.len()],
            powers: [S::zero(); INTEGRALS],
            rates: vec![S::zero(); self.layout.shape.x],
            scratch: Scratch::with_capacity(self.layout.most_varied),
            body_scratch: Vec::with_capacity(self.layout.most_jets),
        }
    }

    fn prepare<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>) {
        let (layout, now) = (&self.layout, Jet::variable(s.t, 0));
        w.accounted.fill(false);
        for (value, signal) in w.signals.iter_mut().zip(&self.signals) {
            *value = signal.item.at(now);
        }
        for (value, &parameter) in w.signals.iter_mut().zip(&self.driven) {
            if let Some(parameter) = parameter {
                *value = Jet::constant(s.p[parameter]);
            }
        }
        for &[q, v, cache] in &layout.plain_bodies {
            let ([x, y, z], [a, b, c]) = (Vec3::from_slice(&s.q[q..]).0, Vec3::from_slice(&s.v[v..]).0);
            w.cache[cache..cache + 6].copy_from_slice(&[x, y, z, a, b, c]);
        }
        layout.other_bodies.iter().for_each(|&body| self.move_body(body, s, w));
        for &[m, q, v] in &layout.plain_markers {
            let place = &mut w.places[m];
            (place.r, place.v) = (Vec3::from_slice(&s.q[q..]), Vec3::from_slice(&s.v[v..]));
        }
        layout.other_markers.iter().for_each(|&marker| self.move_marker(marker, s, w));
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
        self.own_forces(w, out);
        w.powers = [S::zero(); INTEGRALS];
        w.loads.fill(Wrench::default());
        for (i, force) in self.forces.iter().enumerate() {
            w.gather(&force.markers);
            let now = self.instant(s, i, &w.signals);
            let wrenches = &mut w.wrenches[..force.markers.len()];
            let item = S::view::<Forces, _>(&*force.item);
            let account = item.apply_and_account(&now, &w.at, wrenches, &mut w.rates[self.layout.x[i].clone()]);
            w.accounted[i] = account.is_some();
            match account {
                Some((dissipated, supplied)) => {
                    w.powers[DISSIPATED] += dissipated;
                    w.powers[SUPPLIED] += supplied;
                }
                None => item.apply(&now, &w.at, wrenches),
            }
            self.gather_loads(&force.markers, w, out);
        }
        self.take_loads(w, out);
    }

    fn still(&self) -> bool {
        let resting = |body: usize| self.layout.v[body].is_empty() || self.bodies[body].item.point();
        (0..self.bodies.len()).all(resting) && self.forces.iter().all(|force| force.item.still())
    }

    fn rates(&self) -> usize {
        1 + self.rates.iter().copied().max().unwrap_or(0)
    }

    fn fast(&self, rate: usize) -> Vec<usize> {
        let fast = self.forces.iter().zip(&self.rates).filter(|(_, own)| **own == rate);
        let bodies = fast.flat_map(|(force, _)| &force.markers).map(|&m| self.markers[m].body);
        let mut out: Vec<usize> = bodies.flat_map(|body| self.layout.v[body].clone()).collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    fn coupling_of_rate(&self, rate: usize) -> Coupling {
        let groups = self.layout.coupling.groups.clone();
        let of = |body: usize| groups.iter().position(|group| self.layout.v[body].start < group.end);
        let mut neighbours: Vec<Vec<usize>> = (0..groups.len()).map(|i| vec![i]).collect();
        for (force, _) in self.forces.iter().zip(&self.rates).filter(|(_, own)| **own == rate) {
            let bodies = force.markers.iter().map(|&m| self.markers[m].body);
            let moving = bodies.filter(|&body| !self.layout.v[body].is_empty());
            let touched: Vec<usize> = moving.filter_map(of).collect();
            for &group in &touched {
                neighbours[group].extend(&touched);
            }
        }
        for own in &mut neighbours {
            own.sort_unstable();
            own.dedup();
        }
        Coupling { groups, neighbours }
    }

    fn force_of_rate<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>, rate: usize, out: &mut [S]) {
        self.forces_where(s, w, |i| self.rates[i] == rate, out);
        if rate == 0 {
            self.own_forces(w, out);
        }
    }

    fn rate<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>, out: &mut [S]) {
        for (i, force) in self.forces.iter().enumerate() {
            let own = self.layout.x[i].clone();
            if own.is_empty() {
                continue;
            }
            if w.accounted[i] {
                out[own.clone()].copy_from_slice(&w.rates[own]);
                continue;
            }
            w.gather(&force.markers);
            let now = self.instant(s, i, &w.signals);
            S::view::<Forces, _>(&*force.item).rate(&now, &w.at, &mut out[own]);
        }
    }

    fn integrand<S: Scalar>(&self, s: &State<S>, multipliers: &[S], w: &mut Work<S>, out: &mut [S]) {
        out.fill(S::zero());
        for (i, body) in self.bodies.iter().enumerate() {
            out[DISSIPATED] += S::view::<Bodies, _>(&*body.item).dissipation(&w.cache[self.layout.cache[i].clone()]);
        }
        if w.accounted.contains(&true) {
            for (out, &power) in out.iter_mut().zip(&w.powers) {
                *out += power;
            }
        }
        for (i, force) in self.forces.iter().enumerate() {
            if w.accounted[i] {
                continue;
            }
            w.gather(&force.markers);
            let now = self.instant(s, i, &w.signals);
            let (dissipated, supplied) = S::view::<Forces, _>(&*force.item).account(&now, &w.at);
            out[DISSIPATED] += dissipated;
            out[SUPPLIED] += supplied;
        }
        // Constraint forces −Gᵀλ do the work −λᵀ(Gv) = λᵀ ∂g/∂t: only moving constraints supply power.
        for (constraint, rows) in self.constraints.iter().zip(&self.layout.rows) {
            if !constraint.item.rheonomic() {
                continue;
            }
            w.gather(&constraint.markers);
            w.at.iter_mut().for_each(|at| *at = at.at_rest());
            let mut explicit = [S::zero(); MOST_ROWS];
            let now = plain(s, &w.signals);
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
                let now = plain(s, &w.signals);
                S::view::<Constraints, _>(&*constraint.item).residual(&now, &w.at, &mut out[rows.clone()]);
            }
        }
    }

    fn constraint_rate<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>, out: &mut [S]) {
        for (constraint, rows) in self.constraints.iter().zip(&self.layout.rows) {
            w.gather(&constraint.markers);
            let now = plain(s, &w.signals);
            let out = &mut out[rows.clone()];
            S::view::<Constraints, _>(&*constraint.item).rate(&now, &w.at, &mut w.scratch, out);
        }
    }

    fn scleronomic(&self) -> bool {
        !self.constraints.iter().any(|constraint| constraint.item.rheonomic())
    }

    fn constraint_bias<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>, out: &mut [S]) {
        for (constraint, rows) in self.constraints.iter().zip(&self.layout.rows) {
            w.gather(&constraint.markers);
            self.gather_accelerations(s, w, &constraint.markers);
            let now = plain(s, &w.signals);
            let constraint = S::view::<Constraints, _>(&*constraint.item);
            constraint.bias(&now, &w.at, &w.accelerations, &mut w.scratch, &mut out[rows.clone()]);
        }
    }

    fn jacobian<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>, out: &mut Rows<S>) {
        out.clear();
        for (i, constraint) in self.constraints.iter().enumerate() {
            self.rows_of(i, 0..constraint.markers.len(), s, w, out);
        }
    }

    fn retract<S: Scalar>(&self, q: &[S], delta: &[S], out: &mut [S]) {
        if self.layout.flat {
            out.iter_mut().zip(q).zip(delta).for_each(|((out, &q), &delta)| *out = q + delta);
            return;
        }
        for (i, body) in self.bodies.iter().enumerate() {
            let (range, columns) = (self.layout.q[i].clone(), self.layout.v[i].clone());
            if self.layout.point[i] {
                let each = out[range.clone()].iter_mut().zip(&q[range]).zip(&delta[columns]);
                each.for_each(|((out, &q), &delta)| *out = q + delta);
                continue;
            }
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

    fn local_velocity<S: Scalar>(&self, delta: &[S], rate: &[S], out: &mut [S]) {
        for (i, body) in self.bodies.iter().enumerate() {
            let range = self.layout.v[i].clone();
            let out = &mut out[range.clone()];
            S::view::<Bodies, _>(&*body.item).local_velocity(&delta[range.clone()], &rate[range], out);
        }
    }

    fn local_shift<S: Scalar>(&self, delta: &[S], base: &[S], out: &mut [S]) {
        for (i, body) in self.bodies.iter().enumerate() {
            let range = self.layout.v[i].clone();
            let out = &mut out[range.clone()];
            S::view::<Bodies, _>(&*body.item).local_shift(&delta[range.clone()], &base[range], out);
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

    fn extra_name(&self, extra: usize) -> String {
        match self.layout.x.iter().position(|own| own.contains(&extra)) {
            Some(i) => format!("{}.{}", self.forces[i].section, self.forces[i].name),
            None => format!("extra state {extra}"),
        }
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
    /// The kinematics of one body.
    #[inline(always)]
    fn move_body<S: Scalar>(&self, i: usize, s: &State<S>, w: &mut Work<S>) {
        let layout = &self.layout;
        let (q, v) = (&s.q[layout.q[i].clone()], &s.v[layout.v[i].clone()]);
        let cache = &mut w.cache[layout.cache[i].clone()];
        if layout.point[i]
            && let Some(cache) = cache.first_chunk_mut::<6>()
        {
            let ([x, y, z], [a, b, c]) = (Vec3::from_slice(q).0, Vec3::from_slice(v).0);
            *cache = [x, y, z, a, b, c];
            return;
        }
        S::view::<Bodies, _>(&*self.bodies[i].item).kinematics(q, v, cache);
    }

    /// The place of one marker on a body that can move, whose kinematics are known.
    #[inline(always)]
    fn move_marker<S: Scalar>(&self, m: usize, s: &State<S>, w: &mut Work<S>) {
        let place = &mut w.places[m];
        if let Some([q, v]) = self.layout.points[m] {
            (place.r, place.v) = (Vec3::from_slice(&s.q[q..]), Vec3::from_slice(&s.v[v..]));
            return;
        }
        let marker = &self.markers[m];
        let cache = &w.cache[self.layout.cache[marker.body].clone()];
        let body = S::view::<Bodies, _>(&*self.bodies[marker.body].item);
        if w.unturned[m] {
            (place.r, place.v) = body.travel(&marker.site, cache);
        } else {
            *place = body.place(&marker.site, cache);
        }
    }

    /// The forces of the bodies themselves, weights among them, on `out`, which is zero.
    #[inline(always)]
    fn own_forces<S: Scalar>(&self, w: &Work<S>, out: &mut [S]) {
        if self.gravity == [0.0; 3] {
            // Points have no forces of their own but their weights.
            self.layout.other_bodies.iter().for_each(|&i| self.own_force(i, w, &mut out[self.layout.v[i].clone()]));
            return;
        }
        for i in 0..self.bodies.len() {
            self.own_force(i, w, &mut out[self.layout.v[i].clone()]);
        }
    }

    /// The force of one body itself, on its own velocities.
    #[inline(always)]
    fn own_force<S: Scalar>(&self, i: usize, w: &Work<S>, out: &mut [S]) {
        let weightless = self.layout.point[i] && self.gravity == [0.0; 3];
        if !weightless {
            let cache = &w.cache[self.layout.cache[i].clone()];
            let body = S::view::<Bodies, _>(&*self.bodies[i].item);
            body.force(cache, out);
            body.weight(cache, Vec3::constant(self.gravity), out);
        }
    }

    /// The generalised forces of some elements in a prepared state; `out` is overwritten.
    pub(crate) fn forces_where<S: Scalar>(
        &self,
        s: &State<S>,
        w: &mut Work<S>,
        wanted: impl Fn(usize) -> bool,
        out: &mut [S],
    ) {
        out.fill(S::zero());
        w.loads.fill(Wrench::default());
        for (i, force) in self.forces.iter().enumerate().filter(|(i, _)| wanted(*i)) {
            w.gather(&force.markers);
            let now = self.instant(s, i, &w.signals);
            S::view::<Forces, _>(&*force.item).apply(&now, &w.at, &mut w.wrenches[..force.markers.len()]);
            self.gather_loads(&force.markers, w, out);
        }
        self.take_loads(w, out);
    }

    /// Hands the wrenches of one force to points at once, and to markers of other bodies, where they are gathered.
    #[inline(always)]
    fn gather_loads<S: Scalar>(&self, markers: &[usize], w: &mut Work<S>, out: &mut [S]) {
        for (&m, wrench) in markers.iter().zip(&w.wrenches) {
            match self.layout.takers[m] {
                Taker::Point(v) => wrench.force.add_to(&mut out[v..v + 3]),
                Taker::Gathered(at) => w.loads[at].add(wrench),
                Taker::Nobody => {}
            }
        }
    }

    /// Lets bodies take what was gathered at their markers.
    #[inline(always)]
    fn take_loads<S: Scalar>(&self, w: &mut Work<S>, out: &mut [S]) {
        for (&m, wrench) in self.layout.loaded.iter().zip(&w.loads) {
            let marker = &self.markers[m];
            let (cache, out) =
                (&w.cache[self.layout.cache[marker.body].clone()], &mut out[self.layout.v[marker.body].clone()]);
            S::view::<Bodies, _>(&*self.bodies[marker.body].item).pull_back(&marker.site, cache, wrench, out);
        }
    }

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
            blame(force.section, &force.name, force.item.defect_at(&self.instant(s, i, &w.signals), &w.at));
        }
        for constraint in &self.constraints {
            w.gather(&constraint.markers);
            let now = plain(s, &w.signals);
            blame(constraint.section, &constraint.name, constraint.item.defect_at(&now, &w.at));
        }
        errors
    }

    /// The place of any marker in a prepared state, of those too that no element needs.
    pub fn place<S: Scalar>(&self, marker: usize, w: &Work<S>) -> Place<S> {
        let Marker { body, site, .. } = &self.markers[marker];
        S::view::<Bodies, _>(&*self.bodies[*body].item).place(site, &w.cache[self.layout.cache[*body].clone()])
    }

    /// Gathers the accelerations of markers at v̇ = 0.
    fn gather_accelerations<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>, markers: &[usize]) {
        w.accelerations.clear();
        for &m in markers {
            if self.layout.points[m].is_some() {
                w.accelerations.push(Acceleration::default());
                continue;
            }
            let marker = &self.markers[m];
            let b = marker.body;
            let (q, v) = (&s.q[self.layout.q[b].clone()], &s.v[self.layout.v[b].clone()]);
            let cache = &w.cache[self.layout.cache[b].clone()];
            let body = S::view::<Bodies, _>(&*self.bodies[b].item);
            w.accelerations.push(body.bias(&marker.site, q, v, cache, &mut w.body_scratch));
        }
    }

    fn instant<'a, S: Scalar>(&self, s: &'a State<S>, force: usize, signals: &'a [Jet<S, 1>]) -> Instant<'a, S> {
        Instant { x: &s.x[self.layout.x[force].clone()], ..plain(s, signals) }
    }
}

/// A place in the orientation of the world, at rest.
fn unturned<S: Scalar>() -> Place<S> {
    Place { rotation: Mat3::identity(), ..Place::default() }
}

/// What elements without states of their own see.
fn plain<'a, S: Scalar>(s: &'a State<S>, signals: &'a [Jet<S, 1>]) -> Instant<'a, S> {
    Instant { t: s.t, x: &[], p: &s.p, signals }
}
