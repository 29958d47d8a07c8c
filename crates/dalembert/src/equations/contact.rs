//! The contacts of a model: [`Contacts`] for [`Model`]. First come the pairs of surfaces and points, then the dry friction of bodies on
//! their own velocities, which has a press of its own: the largest force, with coefficient 1.

use super::{Work, plain};
use crate::bodies::Bodies;
use crate::contacts::{CONTACT_ROWS, Surfaces};
use crate::model::{Brake, Model, Pair, Wrench};
use dalembert_methods::algebra::{Block, Rows};
use dalembert_methods::nonsmooth::Contacts;
use dalembert_methods::{Scalar, State};

impl Contacts for Model {
    fn contacts(&self) -> usize {
        self.layout.pairs.len() + self.layout.brakes.len()
    }
    fn tangents(&self, contact: usize) -> usize {
        self.layout.pairs.get(contact).map_or(1, |pair| pair.rows.len() - 1)
    }
    fn contact_name(&self, contact: usize) -> String {
        if let Some(brake) = self.brake(contact) {
            let body = &self.bodies[brake.body];
            return format!("body.{}.{}", body.name, body.item.velocity_name(brake.own));
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
        out[self.layout.pairs.len()..].fill(S::zero());
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
        self.touch(contact).map_or(0.0, |touch| touch.restitution)
    }
    fn suction<S: Scalar>(&self, contact: usize, t: S) -> Option<S> {
        self.touch(contact)?.suction_at(t)
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
            out[brake.rows.start + 1] = s.v[brake.velocity];
            return;
        }
        let pair = &self.layout.pairs[contact];
        w.gather(&pair.markers);
        let now = plain(s, &w.signals);
        let item = S::view::<Surfaces, _>(&*self.contacts[pair.element].item);
        item.rate(&now, &w.at, &mut w.scratch, &mut out[pair.rows.clone()]);
    }

    fn bias_of_contact<S: Scalar>(&self, contact: usize, s: &State<S>, w: &mut Work<S>, out: &mut [S]) {
        if let Some(brake) = self.brake(contact) {
            out[brake.rows.clone()].fill(S::zero());
            return;
        }
        let pair = &self.layout.pairs[contact];
        w.gather(&pair.markers);
        self.gather_accelerations(s, w, &pair.markers);
        let now = plain(s, &w.signals);
        let item = S::view::<Surfaces, _>(&*self.contacts[pair.element].item);
        item.bias(&now, &w.at, &w.accelerations, &mut w.scratch, &mut out[pair.rows.clone()]);
    }

    fn jacobian_of_contact<S: Scalar>(&self, contact: usize, s: &State<S>, w: &mut Work<S>, out: &mut Rows<S>) {
        if let Some(brake) = self.brake(contact) {
            out.block_mut(brake.block).copy_from_slice(&[S::zero(), S::one()]);
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
            item.gradient(&now, &w.at, k, &mut w.scratch, gradients);
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

    /// What a pair of a surface and a point has; nothing for friction of bodies on their own velocities.
    fn touch(&self, contact: usize) -> Option<crate::contacts::Touch<'_>> {
        Some(self.contacts[self.layout.pairs.get(contact)?.element].item.touch())
    }

    /// The dry friction of a body, if the contact is one.
    pub(crate) fn brake(&self, contact: usize) -> Option<&Brake> {
        self.layout.brakes.get(contact.checked_sub(self.layout.pairs.len())?)
    }
}
