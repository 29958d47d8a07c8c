//! The contacts of a model: [`Contacts`] for [`Model`].

use super::Work;
use crate::bodies::Bodies;
use crate::contacts::{CONTACT_ROWS, Surfaces};
use crate::model::{Instant, Model, Pair, Wrench};
use dalembert_methods::algebra::{Block, Rows};
use dalembert_methods::nonsmooth::Contacts;
use dalembert_methods::{Scalar, State};

impl Contacts for Model {
    fn contacts(&self) -> usize {
        self.layout.pairs.len()
    }
    fn tangents(&self, contact: usize) -> usize {
        self.layout.pairs[contact].rows.len() - 1
    }
    fn contact_name(&self, contact: usize) -> String {
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
        let now = Instant { t: s.t, x: &[], p: &s.p };
        for (pair, out) in self.layout.pairs.iter().zip(out) {
            w.gather(&pair.markers);
            *out = S::view::<Surfaces, _>(&*self.contacts[pair.element].item).gap(&now, &w.at);
        }
    }
    fn contact_rate<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>, out: &mut [S]) {
        let now = Instant { t: s.t, x: &[], p: &s.p };
        for pair in &self.layout.pairs {
            w.gather(&pair.markers);
            let contact = S::view::<Surfaces, _>(&*self.contacts[pair.element].item);
            contact.rate(&now, &w.at, &mut w.scratch, &mut out[pair.rows.clone()]);
        }
    }
    fn contact_bias<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>, out: &mut [S]) {
        let now = Instant { t: s.t, x: &[], p: &s.p };
        for pair in &self.layout.pairs {
            w.gather(&pair.markers);
            self.gather_accelerations(s, w, &pair.markers);
            let contact = S::view::<Surfaces, _>(&*self.contacts[pair.element].item);
            contact.bias(&now, &w.at, &w.accelerations, &mut w.scratch, &mut out[pair.rows.clone()]);
        }
    }
    fn contact_jacobian<S: Scalar>(&self, s: &State<S>, w: &mut Work<S>, out: &mut Rows<S>) {
        out.clear();
        let now = Instant { t: s.t, x: &[], p: &s.p };
        for Pair { element, markers, rows, blocks } in &self.layout.pairs {
            w.gather(markers);
            let mut gradients = [Wrench::default(); CONTACT_ROWS];
            let gradients = &mut gradients[..rows.len()];
            for (k, block) in blocks.iter().enumerate() {
                let Some(block) = *block else { continue };
                let contact = S::view::<Surfaces, _>(&*self.contacts[*element].item);
                contact.gradient(&now, &w.at, k, &mut w.scratch, gradients);
                let marker = &self.markers[markers[k]];
                let body = S::view::<Bodies, _>(&*self.bodies[marker.body].item);
                let cache = &w.cache[self.layout.cache[marker.body].clone()];
                let columns = self.layout.v[marker.body].len();
                for (row, gradient) in out.block_mut(block).chunks_exact_mut(columns).zip(&*gradients) {
                    body.pull_back(&marker.site, cache, gradient, row);
                }
            }
        }
    }
    fn restitution(&self, contact: usize) -> f64 {
        self.touch(contact).restitution
    }
    fn suction<S: Scalar>(&self, contact: usize, t: S) -> Option<S> {
        self.touch(contact).suction_at(t)
    }
    fn sliding<S: Scalar>(&self, contact: usize, direction: [S; 2], speed: S) -> [S; 2] {
        self.touch(contact).friction.resistance(direction, speed)
    }
    fn sticking(&self, contact: usize, direction: [f64; 2]) -> [f64; 2] {
        self.touch(contact).friction.grip(direction)
    }
    fn excess(&self, contact: usize, force: [f64; 2], press: f64) -> f64 {
        self.touch(contact).friction.excess(force, press)
    }
}

impl Model {
    fn touch(&self, contact: usize) -> crate::contacts::Touch<'_> {
        self.contacts[self.layout.pairs[contact].element].item.touch()
    }
}
