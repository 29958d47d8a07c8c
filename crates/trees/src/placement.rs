//! Where each moving body stands in the one before: the first two passes of every algorithm.
//!
//! Passes are kept apart on purpose: the sines and cosines of all angles, then all placements, then the recursions. One joint's
//! step in a single loop is so long that the processor cannot start on the next.

use crate::space::{M3, V3, axis_rotation, coordinate_rotation, coordinate_rotation_only, quaternion_matrix};
use crate::tree::{Body, Motion, Tree};
use dalembert_methods::Real;

/// The frame of a moving body in the one before.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Placement<T> {
    pub r: M3<T>,
    pub p: V3<T>,
}

/// Sines and cosines of all coordinates, and all placements.
#[derive(Clone, Debug)]
pub(crate) struct Placements<T> {
    trig: Vec<(T, T)>,
    pub at: Vec<Placement<T>>,
}

impl<T: Real> Placements<T> {
    pub fn new(tree: &Tree) -> Self {
        Self {
            trig: vec![(T::zero(), T::zero()); tree.nq],
            at: vec![Placement { r: M3::zero(), p: V3::zero() }; tree.bodies.len()],
        }
    }

    #[inline(always)]
    pub fn compute(&mut self, tree: &Tree, q: &[T]) {
        T::sin_cos_all(q, &mut self.trig);
        for (b, out) in tree.bodies.iter().zip(&mut self.at) {
            *out = place(b, q, self.trig[b.iq]);
        }
    }

    /// The same without those of the first bodies of branches, on which nothing within a branch depends.
    #[inline(always)]
    pub fn compute_within(&mut self, tree: &Tree, q: &[T]) {
        T::sin_cos_all(q, &mut self.trig);
        for (b, out) in tree.bodies.iter().zip(&mut self.at).filter(|(b, _)| b.parent > 0) {
            *out = place(b, q, self.trig[b.iq]);
        }
    }
}

#[inline(always)]
fn place<T: Real>(b: &Body, q: &[T], trig: (T, T)) -> Placement<T> {
    let i = b.iq;
    match b.motion {
        Motion::RevoluteX => revolute::<0, T>(b, trig),
        Motion::RevoluteY => revolute::<1, T>(b, trig),
        Motion::RevoluteZ => revolute::<2, T>(b, trig),
        Motion::Revolute => Placement { r: about_axis(b, trig), p: V3::constant(&b.pos) },
        Motion::PrismaticX | Motion::PrismaticY | Motion::PrismaticZ | Motion::Prismatic => {
            Placement { r: M3::constant(&b.rot), p: slid(b, q[i]) }
        }
        Motion::Helical => Placement { r: about_axis(b, trig), p: slid(b, q[i] * b.pitch) },
        Motion::Spherical => Placement { r: after(b, quaternion_matrix(&q[i..i + 4])), p: V3::constant(&b.pos) },
        Motion::Free => {
            let p = V3::read(&q[i..i + 3]);
            Placement {
                r: after(b, quaternion_matrix(&q[i + 3..i + 7])),
                p: M3::constant(&b.rot).times_plus(p, V3::constant(&b.pos)),
            }
        }
    }
}

/// The placement of one body by itself.
#[inline]
pub(crate) fn place_alone<T: Real>(b: &Body, q: &[T]) -> Placement<T> {
    let trig = match b.motion {
        Motion::RevoluteX | Motion::RevoluteY | Motion::RevoluteZ | Motion::Revolute | Motion::Helical => {
            q[b.iq].sin_cos()
        }
        _ => (T::zero(), T::zero()),
    };
    place(b, q, trig)
}

#[inline(always)]
fn revolute<const A: usize, T: Real>(b: &Body, (s, c): (T, T)) -> Placement<T> {
    let r = if b.aligned { coordinate_rotation_only::<A, T>(s, c) } else { coordinate_rotation::<A, T>(&b.rot, s, c) };
    Placement { r, p: V3::constant(&b.pos) }
}

#[inline(always)]
fn about_axis<T: Real>(b: &Body, (s, c): (T, T)) -> M3<T> {
    after(b, axis_rotation(&b.axis, s, c))
}

/// The constant rotation of the joint frame, followed by another.
#[inline(always)]
fn after<T: Real>(b: &Body, turn: M3<T>) -> M3<T> {
    if b.aligned { turn } else { M3::constant(&b.rot).product(&turn) }
}

#[inline(always)]
fn slid<T: Real>(b: &Body, x: T) -> V3<T> {
    let (d, p) = (&b.slide, &b.pos);
    V3 { x: x.scale_plus(d.x, T::from(p.x)), y: x.scale_plus(d.y, T::from(p.y)), z: x.scale_plus(d.z, T::from(p.z)) }
}
