//! A model taken apart: what each of its elements gives by itself, and from which numbers of the state.
//!
//! Functions of a model are sums over its elements, and an element depends on the bodies it touches alone:
//!
//! ```text
//! f(t, q, v, x, p) = Σ fᵢ(t, q, v of its bodies, x of its own, p)      masses, rates, residuals, gaps, … likewise
//! ```
//!
//! [`Model::sources`] are the numbers that an element depends on, by their places in (t, q, v, x, p); [`Model::targets`] are the places of the sum that
//! it adds to; [`Apart::read`] is the function between them, for any number. The equations are those of the whole: what is not asked
//! for is left out.
//!
//! A constraint on many points may fall apart into clusters ([`crate::constraints::Constraint::cluster`]): gradients in one do not depend on the others, so
//! mixed second derivatives vanish, and its rows are a sum too,
//!
//! ```text
//! g(c₁, c₂, …) = g() + Σ (g(cᵢ) − g())
//! ```
//!
//! so that the fluid inside a skeleton of many segments is a sum over segments.

use super::{DISSIPATED, INTEGRALS, SUPPLIED, Work, plain};
use crate::bodies::Bodies;
use crate::callback;
use crate::constraints::{Constraints, MOST_ROWS};
use crate::contacts::Surfaces;
use crate::forces::Forces;
use crate::model::Model;
use dalembert_methods::algebra::Rows;
use dalembert_methods::nonsmooth::Contacts;
use dalembert_methods::{Jet, Scalar, State, System};
use std::ops::Range;

/// A function of a model that is a sum over its elements.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sum {
    /// The values of the blocks of the mass matrix, one after the other.
    Mass,
    /// The generalised forces f.
    Force,
    /// The rates of the extra states.
    Rate,
    /// The powers that bodies and forces turn to heat, and are supplied with, in W.
    Power,
    /// The residuals of constraints on positions.
    Residual,
    /// The residuals of all constraints on the level of velocities.
    Velocity,
    /// The accelerations of all constraints at v̇ = 0.
    Bias,
    /// The values of the blocks of the constraints' Jacobian, one after the other.
    Jacobian,
    /// The gaps of contacts; zero for those of dry friction, which have none.
    Gap,
}

impl Sum {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Mass,
        Self::Force,
        Self::Rate,
        Self::Power,
        Self::Residual,
        Self::Velocity,
        Self::Bias,
        Self::Jacobian,
        Self::Gap,
    ];
}

/// An element of a model, by its number among those of its sort.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Element {
    /// What a body is by itself: inertia, weight, gyroscopic forces.
    Body(usize),
    /// A force.
    Force(usize),
    /// A joint or constraint; of one that falls apart, what does not depend on its markers.
    Constraint(usize),
    /// A constraint, and one of the clusters into which it falls apart.
    Cluster(usize, usize),
    /// A contact: a surface with a point, or a gap of a body itself.
    Contact(usize),
}

impl Model {
    /// All elements, in the order of the model.
    pub fn elements(&self) -> Vec<Element> {
        let constraints = (0..self.constraints.len()).flat_map(|i| {
            let clusters = self.clusters(i).map_or(0, |(count, _)| count);
            std::iter::once(Element::Constraint(i)).chain((0..clusters).map(move |k| Element::Cluster(i, k)))
        });
        let bodies = (0..self.bodies.len()).map(Element::Body);
        let forces = (0..self.forces.len()).map(Element::Force);
        bodies.chain(forces).chain(constraints).chain((0..Contacts::contacts(self)).map(Element::Contact)).collect()
    }

    /// The name of an element, as in `force.spring`.
    pub fn element_name(&self, element: Element) -> String {
        match element {
            Element::Body(i) => format!("body.{}", self.bodies[i].name),
            Element::Force(i) => format!("{}.{}", self.forces[i].section, self.forces[i].name),
            Element::Constraint(i) => format!("{}.{}", self.constraints[i].section, self.constraints[i].name),
            Element::Cluster(i, k) => format!("{}, part {}", self.element_name(Element::Constraint(i)), k + 1),
            Element::Contact(i) => self.contact_name(i),
        }
    }

    /// The kind of an element, as scenes name it.
    pub fn element_kind(&self, element: Element) -> &'static str {
        match element {
            Element::Body(i) => self.bodies[i].item.kind(),
            Element::Force(i) => self.forces[i].item.kind(),
            Element::Constraint(i) | Element::Cluster(i, _) => self.constraints[i].item.kind(),
            Element::Contact(i) => match (self.layout.pairs.get(i), self.own_gap(i)) {
                (Some(pair), _) => self.contacts[pair.element].item.kind(),
                (None, Some(gap)) => self.bodies[gap.body].item.kind(),
                _ => "dry_friction",
            },
        }
    }

    /// Whether an element asks functions from outside, of which no formula is known: it cannot be recorded.
    pub fn asks_outside(&self, element: Element) -> bool {
        let own = match element {
            Element::Force(i) => self.forces[i].item.kind() == callback::KIND,
            _ => false,
        };
        own || self.ear(element).is_some_and(|ear| ear.outside)
    }

    /// The length of a sum.
    pub fn length(&self, sum: Sum) -> usize {
        let shape = self.layout.shape;
        match sum {
            Sum::Mass => self.layout.mass_starts.last().copied().unwrap_or(0),
            Sum::Force => shape.v,
            Sum::Rate => shape.x,
            Sum::Power => INTEGRALS,
            Sum::Residual => shape.g,
            Sum::Velocity | Sum::Bias => shape.rows(),
            Sum::Jacobian => self.layout.block_starts.last().copied().unwrap_or(0),
            Sum::Gap => Contacts::contacts(self),
        }
    }

    /// The numbers that an element depends on, by their places in (t, q, v, x, p).
    pub fn sources(&self, element: Element) -> Vec<usize> {
        let (layout, shape) = (&self.layout, self.layout.shape);
        let shifted = |range: &Range<usize>, by: usize| range.start + by..range.end + by;
        let mut out = vec![0];
        for body in self.bodies_of(element) {
            out.extend(shifted(&layout.q[body], 1));
            out.extend(shifted(&layout.v[body], 1 + shape.q));
        }
        if let Element::Force(i) = element {
            out.extend(shifted(&layout.x[i], 1 + shape.q + shape.v));
        }
        let parameters = 1 + shape.q + shape.v + shape.x;
        out.extend(parameters..parameters + shape.p);
        out
    }

    /// The places of a sum that an element adds to; none if it gives nothing.
    pub fn targets(&self, element: Element, sum: Sum) -> Vec<usize> {
        let layout = &self.layout;
        match (element, sum) {
            (Element::Body(i), Sum::Mass) => {
                (layout.mass_starts[layout.mass[i].start]..layout.mass_starts[layout.mass[i].end]).collect()
            }
            (Element::Body(i), Sum::Force) => layout.v[i].clone().collect(),
            (Element::Body(i), Sum::Power) if !layout.v[i].is_empty() => vec![DISSIPATED],
            (Element::Force(_), Sum::Force) => {
                self.bodies_of(element).into_iter().flat_map(|body| layout.v[body].clone()).collect()
            }
            (Element::Force(i), Sum::Rate) => layout.x[i].clone().collect(),
            (Element::Force(_), Sum::Power) => vec![DISSIPATED, SUPPLIED],
            (Element::Constraint(i) | Element::Cluster(i, _), Sum::Residual)
                if self.constraints[i].item.holonomic() =>
            {
                layout.rows[i].clone().collect()
            }
            (Element::Constraint(i) | Element::Cluster(i, _), Sum::Velocity | Sum::Bias) => {
                layout.rows[i].clone().collect()
            }
            (Element::Constraint(_) | Element::Cluster(..), Sum::Jacobian) => {
                let values = |&block: &usize| layout.block_starts[block]..layout.block_starts[block + 1];
                self.blocks_touched(element).iter().flat_map(values).collect()
            }
            (Element::Contact(i), Sum::Gap) if self.brake(i).is_none() => vec![i],
            _ => Vec::new(),
        }
    }

    /// The number of clusters into which a constraint falls apart and the markers of each, if it does.
    fn clusters(&self, constraint: usize) -> Option<(usize, usize)> {
        let constraint = &self.constraints[constraint];
        let all = constraint.markers.len();
        let each = constraint.item.cluster(all);
        (each > 0 && each < all && all.is_multiple_of(each)).then_some((all / each, each))
    }

    /// The markers of a constraint that an element reads.
    fn span(&self, element: Element) -> Range<usize> {
        match element {
            Element::Constraint(i) if self.clusters(i).is_some() => 0..0,
            Element::Constraint(i) => 0..self.constraints[i].markers.len(),
            Element::Cluster(i, k) => self.clusters(i).map_or(0..0, |(_, each)| k * each..(k + 1) * each),
            _ => 0..0,
        }
    }

    fn markers_of(&self, element: Element) -> &[usize] {
        match element {
            Element::Body(_) => &[],
            Element::Force(i) => &self.forces[i].markers,
            Element::Constraint(i) | Element::Cluster(i, _) => &self.constraints[i].markers[self.span(element)],
            Element::Contact(i) => self.layout.pairs.get(i).map_or(&[], |pair| &pair.markers),
        }
    }

    /// The bodies that can move and that an element touches, each once, in the order of its markers.
    fn bodies_of(&self, element: Element) -> Vec<usize> {
        let own = match element {
            Element::Body(i) => Some(i),
            Element::Contact(i) => self.own_gap(i).map(|gap| gap.body),
            _ => None,
        };
        let mut out = Vec::new();
        for body in own.into_iter().chain(self.markers_of(element).iter().map(|&m| self.markers[m].body)) {
            if !self.layout.v[body].is_empty() && !out.contains(&body) {
                out.push(body);
            }
        }
        out
    }

    /// The blocks of the Jacobian that an element writes, each once.
    fn blocks_touched(&self, element: Element) -> Vec<usize> {
        let (Element::Constraint(i) | Element::Cluster(i, _)) = element else { return Vec::new() };
        let mut out: Vec<usize> = self.layout.blocks_of[i][self.span(element)].iter().flatten().copied().collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    /// What an element listens to.
    fn ear(&self, element: Element) -> Option<&crate::model::Ear> {
        match element {
            Element::Body(_) => None,
            Element::Force(i) => self.heard.forces.get(i),
            Element::Constraint(i) | Element::Cluster(i, _) => self.heard.constraints.get(i),
            Element::Contact(i) => self.heard.contacts.get(self.layout.pairs.get(i)?.element),
        }
    }
}

/// Elements of a model read one by one, with any number.
pub struct Apart<'m, S: Scalar> {
    model: &'m Model,
    state: State<S>,
    work: Work<S>,
    rows: Rows<S>,
}

impl<'m, S: Scalar> Apart<'m, S> {
    /// A reader of this model.
    pub fn new(model: &'m Model) -> Self {
        let shape = model.shape();
        let rows = Rows::new(shape.rows(), shape.v, &model.layout.blocks);
        Self { model, state: State::zeros(shape), work: model.work(), rows }
    }

    /// What an element adds to a sum, in the order of [`Model::targets`], from the numbers at its [`Model::sources`].
    pub fn read(&mut self, element: Element, sum: Sum, x: &[S], out: &mut [S]) {
        self.prepare(element, x);
        let (model, s, w) = (self.model, &self.state, &mut self.work);
        out.fill(S::zero());
        match element {
            Element::Body(i) => {
                let cache = &w.cache[model.layout.cache[i].clone()];
                let body = S::view::<Bodies, _>(&*model.bodies[i].item);
                match sum {
                    Sum::Mass => {
                        let mut rest = out;
                        for (k, block) in model.layout.mass[i].clone().enumerate() {
                            let (own, after) = rest.split_at_mut(model.layout.mass_blocks[block].values());
                            body.mass(k, cache, own);
                            rest = after;
                        }
                    }
                    Sum::Power => out[0] = body.dissipation(cache),
                    _ => model.own_force(i, w, out),
                }
            }
            Element::Force(i) => {
                w.gather(&model.forces[i].markers);
                let now = model.instant(s, i, &w.signals);
                let force = S::view::<Forces, _>(&*model.forces[i].item);
                match sum {
                    Sum::Rate => force.rate(&now, &w.at, out),
                    Sum::Power => (out[DISSIPATED], out[SUPPLIED]) = force.account(&now, &w.at),
                    _ => {
                        force.apply(&now, &w.at, &mut w.wrenches[..model.forces[i].markers.len()]);
                        model.pull_all(element, w, out);
                    }
                }
            }
            Element::Constraint(_) | Element::Cluster(..) if sum == Sum::Jacobian => self.rows(element, out),
            Element::Constraint(i) => self.residual(i, model.span(element), sum, out),
            Element::Cluster(i, _) => {
                let mut nothing = [S::zero(); MOST_ROWS];
                let nothing = &mut nothing[..out.len()];
                self.residual(i, 0..0, sum, nothing);
                self.residual(i, model.span(element), sum, out);
                out.iter_mut().zip(nothing).for_each(|(out, nothing)| *out -= *nothing);
            }
            Element::Contact(i) => match (model.layout.pairs.get(i), model.own_gap(i)) {
                (Some(pair), _) => {
                    w.gather(&pair.markers);
                    let now = plain(s, &w.signals);
                    out[0] = S::view::<Surfaces, _>(&*model.contacts[pair.element].item).gap(&now, &w.at);
                }
                (None, Some(gap)) => {
                    let q = &s.q[model.layout.q[gap.body].clone()];
                    out[0] = S::view::<Bodies, _>(&*model.bodies[gap.body].item).stop(gap.number, q).0;
                }
                _ => {}
            },
        }
    }

    /// Puts the numbers of an element into their places of the state, and computes signals, kinematics and places that it needs.
    fn prepare(&mut self, element: Element, x: &[S]) {
        let (model, s, w) = (self.model, &mut self.state, &mut self.work);
        let layout = &model.layout;
        let mut rest = x;
        let mut take = |to: &mut [S]| {
            let (own, after) = rest.split_at(to.len());
            to.copy_from_slice(own);
            rest = after;
        };
        take(std::slice::from_mut(&mut s.t));
        let bodies = model.bodies_of(element);
        for &body in &bodies {
            take(&mut s.q[layout.q[body].clone()]);
            take(&mut s.v[layout.v[body].clone()]);
        }
        if let Element::Force(i) = element {
            take(&mut s.x[layout.x[i].clone()]);
        }
        take(&mut s.p);
        let now = Jet::variable(s.t, 0);
        for &slot in model.ear(element).map_or(&[][..], |ear| &ear.slots) {
            w.signals[slot] = match model.driven[slot] {
                Some(parameter) => Jet::constant(s.p[parameter]),
                None => model.signals[slot].item.at(now),
            };
        }
        bodies.iter().for_each(|&body| model.move_body(body, s, w));
        let moving = |m: &&usize| !layout.v[model.markers[**m].body].is_empty();
        model.markers_of(element).iter().filter(moving).for_each(|&m| model.move_marker(m, s, w));
    }

    /// Rows of a constraint on one level, as some of its markers make them.
    fn residual(&mut self, i: usize, some: Range<usize>, sum: Sum, out: &mut [S]) {
        let (model, s, w) = (self.model, &self.state, &mut self.work);
        let markers = &model.constraints[i].markers[some];
        w.gather(markers);
        if sum == Sum::Bias {
            model.gather_accelerations(s, w, markers);
        }
        let now = plain(s, &w.signals);
        let constraint = S::view::<Constraints, _>(&*model.constraints[i].item);
        match sum {
            Sum::Residual => constraint.residual(&now, &w.at, out),
            Sum::Bias => constraint.bias(&now, &w.at, &w.accelerations, &mut w.scratch, out),
            _ => constraint.rate(&now, &w.at, &mut w.scratch, out),
        }
    }

    /// The blocks of the Jacobian that an element makes.
    fn rows(&mut self, element: Element, out: &mut [S]) {
        let (Element::Constraint(i) | Element::Cluster(i, _)) = element else { return };
        let (model, touched) = (self.model, self.model.blocks_touched(element));
        touched.iter().for_each(|&block| self.rows.block_mut(block).fill(S::zero()));
        model.rows_of(i, model.span(element), &self.state, &mut self.work, &mut self.rows);
        let values = touched.iter().flat_map(|&block| self.rows.block(block));
        out.iter_mut().zip(values).for_each(|(out, &value)| *out = value);
    }
}

impl Model {
    /// The generalised force of the wrenches of one force, on the velocities of its bodies, one body after the other.
    fn pull_all<S: Scalar>(&self, element: Element, w: &Work<S>, out: &mut [S]) {
        let mut start = 0;
        for body in self.bodies_of(element) {
            let (cache, own) = (&w.cache[self.layout.cache[body].clone()], self.layout.v[body].len());
            let out = &mut out[start..start + own];
            for (&m, wrench) in self.markers_of(element).iter().zip(&w.wrenches) {
                if self.markers[m].body == body {
                    let site = &self.markers[m].site;
                    S::view::<Bodies, _>(&*self.bodies[body].item).pull_back(site, cache, wrench, out);
                }
            }
            start += own;
        }
    }
}
