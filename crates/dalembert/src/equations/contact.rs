//! The contacts of a model: [`Contacts`] for [`Model`]. First come the pairs of surfaces and points, then dry friction of given size, of bodies on
//! their own velocities and of forces between frames. It has a press of its own: the largest force, with coefficient 1. Last come gaps of bodies
//! themselves, stops of joints, without friction.

use super::{Work, plain};
use crate::bodies::Bodies;
use crate::contacts::{CONTACT_ROWS, Surfaces};
use crate::forces::Grip;
use crate::model::{Brake, Braked, Marker, Model, OwnGap, Pair, Place, Wrench};
use dalembert_methods::algebra::{Block, Rows};
use dalembert_methods::nonsmooth::{Contacts, Latch};
use dalembert_methods::{Jet, Scalar, State};

impl Contacts for Model {
    fn contacts(&self) -> usize {
        self.layout.pairs.len() + self.layout.brakes.len() + self.layout.stops.len()
    }
    fn tangents(&self, contact: usize) -> usize {
        let given = usize::from(self.brake(contact).is_some());
        self.layout.pairs.get(contact).map_or(given, |pair| pair.rows.len() - 1)
    }
    fn contact_name(&self, contact: usize) -> String {
        if let Some(brake) = self.brake(contact) {
            return match brake.on {
                Braked::Velocity { body, own, .. } => {
                    format!("body.{}.{}", self.bodies[body].name, self.bodies[body].item.velocity_name(own))
                }
                Braked::Frames { force, .. } => format!("force.{}", self.forces[force].name),
            };
        }
        if let Some(gap) = self.own_gap(contact) {
            return format!("body.{}.{}", self.bodies[gap.body].name, gap.stop.name);
        }
        let pair = &self.layout.pairs[contact];
        let element = &self.contacts[pair.element];
        if element.markers.len() == 2 {
            return format!("contact.{}", element.name);
        }
        format!("contact.{}.{}", element.name, self.markers[pair.markers[1]].name)
    }
    fn contact_blocks(&self) -> Vec<Block> {
        self.layout.contact_blocks.clone()
    }
    fn contact_gap<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>, out: &mut [S]) {
        let (pairs, brakes) = (self.layout.pairs.len(), self.layout.brakes.len());
        out[pairs..pairs + brakes].fill(S::zero());
        for (gap, out) in self.layout.stops.iter().zip(&mut out[pairs + brakes..]) {
            let q = &s.q[self.layout.q[gap.body].clone()];
            *out = S::view::<Bodies, _>(&*self.bodies[gap.body].item).stop(gap.number, q).0;
        }
        for (pair, out) in self.layout.pairs.iter().zip(out) {
            w.gather(&pair.markers);
            let now = plain(s, &w.signals);
            *out = S::view::<Surfaces, _>(&*self.contacts[pair.element].item).gap(&now, &w.at);
        }
    }
    fn contact_rate<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>, out: &mut [S]) {
        (0..Contacts::contacts(self)).for_each(|contact| self.rate_of_contact(contact, s, w, out));
    }
    fn contact_bias<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>, out: &mut [S]) {
        (0..Contacts::contacts(self)).for_each(|contact| self.bias_of_contact(contact, s, w, out));
    }
    fn contact_jacobian<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>, out: &mut Rows<S>) {
        (0..Contacts::contacts(self)).for_each(|contact| self.jacobian_of_contact(contact, s, w, out));
    }
    fn contact_rate_of<S: Scalar>(&self, some: &[usize], s: &State<S>, w: &mut Work<S>, out: &mut [S]) {
        some.iter().for_each(|&contact| self.rate_of_contact(contact, s, w, out));
    }
    fn contact_bias_of<S: Scalar>(&self, some: &[usize], s: &State<S>, w: &mut Work<S>, out: &mut [S]) {
        some.iter().for_each(|&contact| self.bias_of_contact(contact, s, w, out));
    }
    fn contact_jacobian_of<S: Scalar>(&self, some: &[usize], s: &State<S>, w: &mut Work<S>, out: &mut Rows<S>) {
        some.iter().for_each(|&contact| self.jacobian_of_contact(contact, s, w, out));
    }
    fn restitution(&self, contact: usize) -> f64 {
        match self.own_gap(contact) {
            Some(gap) => gap.stop.restitution,
            None => self.touch(contact).map_or(0.0, |touch| touch.restitution),
        }
    }
    fn suction<S: Scalar>(&self, contact: usize, t: S) -> Option<S> {
        self.touch(contact)?.suction_at(t)
    }
    fn contact_hollow<S: Scalar>(&self, bearing: &[bool], _s: &State<S>, w: &mut Work<S>, out: &mut [S]) -> bool {
        let pairs = &self.layout.pairs;
        let radius = |pair: &Pair| self.contacts[pair.element].item.touch().hollow;
        if pairs.iter().all(|pair| radius(pair) == 0.0) {
            return false;
        }
        out.fill(S::from(f64::NEG_INFINITY));
        for (j, stone) in pairs.iter().enumerate().filter(|&(j, stone)| bearing[j] && radius(stone) > 0.0) {
            w.gather(&stone.markers);
            let centre = w.at[1].r;
            for (i, pair) in pairs.iter().enumerate().filter(|&(i, pair)| i != j && pair.element == stone.element) {
                w.gather(&pair.markers);
                let depth = -((w.at[1].r - centre).norm() - radius(stone));
                out[i] = S::select(out[i].lt(depth), depth, out[i]);
            }
        }
        true
    }
    fn latch(&self, contact: usize) -> Option<&Latch> {
        self.own_gap(contact)?.latch.as_ref()
    }
    fn own_press(&self, contact: usize) -> Option<f64> {
        self.brake(contact).map(|brake| brake.force)
    }
    fn sliding<S: Scalar>(&self, contact: usize, direction: [S; 2], speed: S) -> [S; 2] {
        match self.touch(contact) {
            Some(touch) => touch.friction.resistance(direction, speed),
            None => [-direction[0], S::zero()],
        }
    }
    fn sticking(&self, contact: usize, direction: [f64; 2]) -> [f64; 2] {
        match self.touch(contact) {
            Some(touch) => touch.friction.grip(direction),
            None => [-direction[0], 0.0],
        }
    }
    fn excess(&self, contact: usize, force: [f64; 2], press: f64) -> f64 {
        match self.touch(contact) {
            Some(touch) => touch.friction.excess(force, press),
            None => force[0].abs() - press,
        }
    }
}

impl Model {
    fn rate_of_contact<S: Scalar>(&self, contact: usize, s: &State<S>, w: &mut Work<S>, out: &mut [S]) {
        if let Some(brake) = self.brake(contact) {
            out[brake.rows.start] = S::zero();
            out[brake.rows.start + 1] = match brake.on {
                Braked::Velocity { velocity, .. } => s.v[velocity],
                Braked::Frames { force, .. } => {
                    w.gather(&self.forces[force].markers);
                    self.grip_of(force).map_or_else(S::zero, |grip| grip.of.speed(grip.axis, &w.at))
                }
            };
            return;
        }
        if let Some(gap) = self.own_gap(contact) {
            let v = &s.v[self.layout.v[gap.body].clone()][gap.stop.velocities.clone()];
            let gradient = self.gradient_of_gap(gap, s);
            out[gap.row] = v.iter().zip(gradient).fold(S::zero(), |sum, (&v, e)| sum + v * e);
            return;
        }
        let pair = &self.layout.pairs[contact];
        w.gather(&pair.markers);
        let now = plain(s, &w.signals);
        let item = S::view::<Surfaces, _>(&*self.contacts[pair.element].item);
        item.rate(&now, &w.at, &mut out[pair.rows.clone()]);
    }

    fn bias_of_contact<S: Scalar>(&self, contact: usize, s: &State<S>, w: &mut Work<S>, out: &mut [S]) {
        if let Some(brake) = self.brake(contact) {
            out[brake.rows.clone()].fill(S::zero());
            if let Braked::Frames { force, .. } = brake.on
                && let Some(grip) = self.grip_of(force)
            {
                let markers = &self.forces[force].markers;
                w.gather(markers);
                self.gather_accelerations(s, w, markers);
                let moving: [Place<Jet<S, 1>>; 2] = std::array::from_fn(|k| w.at[k].in_time(&w.accelerations[k]));
                out[brake.rows.start + 1] = grip.of.speed(grip.axis, &moving).eps[0];
            }
            return;
        }
        if let Some(gap) = self.own_gap(contact) {
            let (q, v) = (&s.q[self.layout.q[gap.body].clone()], &s.v[self.layout.v[gap.body].clone()]);
            let body = S::view::<Bodies, _>(&*self.bodies[gap.body].item);
            out[gap.row] = body.stop_bias(gap.number, gap.stop.velocities.start, q, v, &mut w.body_scratch);
            return;
        }
        let pair = &self.layout.pairs[contact];
        w.gather(&pair.markers);
        self.gather_accelerations(s, w, &pair.markers);
        let now = plain(s, &w.signals);
        let item = S::view::<Surfaces, _>(&*self.contacts[pair.element].item);
        item.bias(&now, &w.at, &w.accelerations, &mut out[pair.rows.clone()]);
    }

    fn jacobian_of_contact<S: Scalar>(&self, contact: usize, s: &State<S>, w: &mut Work<S>, out: &mut Rows<S>) {
        if let Some(brake) = self.brake(contact) {
            match brake.on {
                Braked::Velocity { block, .. } => out.block_mut(block).copy_from_slice(&[S::zero(), S::one()]),
                Braked::Frames { force, blocks } => self.jacobian_of_grip(force, blocks, w, out),
            }
            return;
        }
        if let Some(gap) = self.own_gap(contact) {
            let gradient = self.gradient_of_gap(gap, s);
            out.block_mut(gap.block).copy_from_slice(&gradient[..gap.stop.velocities.len()]);
            return;
        }
        let Pair { element, markers, rows, blocks } = &self.layout.pairs[contact];
        w.gather(markers);
        let now = plain(s, &w.signals);
        let mut gradients = [Wrench::default(); CONTACT_ROWS];
        let gradients = &mut gradients[..rows.len()];
        for (k, block) in blocks.iter().enumerate() {
            let Some(block) = *block else { continue };
            let item = S::view::<Surfaces, _>(&*self.contacts[*element].item);
            item.gradient(&now, &w.at, k, gradients);
            let marker = &self.markers[markers[k]];
            let body = S::view::<Bodies, _>(&*self.bodies[marker.body].item);
            let cache = &w.cache[self.layout.cache[marker.body].clone()];
            let columns = self.layout.v[marker.body].len();
            let values = out.block_mut(block);
            values.fill(S::zero());
            for (row, gradient) in values.chunks_exact_mut(columns).zip(&*gradients) {
                body.pull_back(&marker.site, cache, gradient, row);
            }
        }
    }

    /// The rows of dry friction between two frames: zeros, and the gradient of the speed.
    fn jacobian_of_grip<S: Scalar>(
        &self,
        force: usize,
        blocks: [Option<usize>; 2],
        w: &mut Work<S>,
        out: &mut Rows<S>,
    ) {
        let Some(grip) = self.grip_of(force) else { return };
        let markers = &self.forces[force].markers;
        w.gather(markers);
        blocks.into_iter().flatten().for_each(|block| out.block_mut(block).fill(S::zero()));
        for ((&marker, block), wrench) in markers.iter().zip(blocks).zip(grip.of.gradient(grip.axis, &w.at)) {
            let Some(block) = block else { continue };
            let Marker { body, site, .. } = &self.markers[marker];
            let columns = self.layout.v[*body].len();
            let cache = &w.cache[self.layout.cache[*body].clone()];
            let row = &mut out.block_mut(block)[columns..];
            S::view::<Bodies, _>(&*self.bodies[*body].item).pull_back(site, cache, &wrench, row);
        }
    }

    /// The dry friction of a force.
    fn grip_of(&self, force: usize) -> Option<Grip<'_>> {
        self.forces[force].item.grip()
    }

    /// What a pair of a surface and a point has; nothing for dry friction of given size.
    fn touch(&self, contact: usize) -> Option<crate::contacts::Touch<'_>> {
        Some(self.contacts[self.layout.pairs.get(contact)?.element].item.touch())
    }

    fn gradient_of_gap<S: Scalar>(&self, gap: &OwnGap, s: &State<S>) -> [S; 3] {
        let q = &s.q[self.layout.q[gap.body].clone()];
        S::view::<Bodies, _>(&*self.bodies[gap.body].item).stop(gap.number, q).1
    }

    /// The gap of a body itself, if the contact is one.
    pub(crate) fn own_gap(&self, contact: usize) -> Option<&OwnGap> {
        self.layout.stops.get(contact.checked_sub(self.layout.pairs.len() + self.layout.brakes.len())?)
    }

    /// The unit of the force of a contact.
    pub(crate) fn press_unit(&self, contact: usize) -> &'static str {
        let of = self.brake(contact).map(|brake| brake.of).or(self.own_gap(contact).map(|gap| gap.stop.of));
        of.map_or("N", |of| of.force_unit())
    }

    /// The dry friction of given size, if the contact is one.
    pub(crate) fn brake(&self, contact: usize) -> Option<&Brake> {
        self.layout.brakes.get(contact.checked_sub(self.layout.pairs.len())?)
    }
}
