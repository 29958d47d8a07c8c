//! Places, velocities and accelerations of all moving bodies and links, in the axes of the world.

use crate::placement::Placements;
use crate::space::{M3, V3};
use crate::tree::{Body, Link, Motion, Tree};
use dalembert_methods::Real;
use dalembert_methods::vector::{Mat3, Vec3};

/// The motion of a frame, in the axes of the world.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct FrameMotion<R> {
    /// Its axes as columns.
    pub rotation: Mat3<R>,
    /// Its origin, in m.
    pub position: Vec3<R>,
    /// Angular velocity in rad/s.
    pub omega: Vec3<R>,
    /// Velocity of the origin in m/s.
    pub velocity: Vec3<R>,
    /// Angular acceleration in rad/s²; of the last call of [`accelerations`].
    pub alpha: Vec3<R>,
    /// Acceleration of the origin in m/s²; of the last call of [`accelerations`].
    pub acceleration: Vec3<R>,
}

#[derive(Copy, Clone, Debug)]
pub(crate) struct State<T> {
    pub r: M3<T>,
    pub p: V3<T>,
    pub w: V3<T>,
    pub v: V3<T>,
    pub al: V3<T>,
    pub a: V3<T>,
}

/// The motion of all moving bodies.
#[derive(Clone, Debug)]
pub struct Work<T> {
    placements: Placements<T>,
    /// The ground first.
    pub(crate) states: Vec<State<T>>,
}

impl<T: Real> Work<T> {
    /// Scratch for this tree.
    pub fn new(tree: &Tree) -> Self {
        let o = V3::zero();
        let ground = State { r: M3::identity(), p: o, w: o, v: o, al: o, a: o };
        Self { placements: Placements::new(tree), states: vec![ground; tree.bodies.len() + 1] }
    }

    /// The motion of a moving body, or of the ground.
    pub fn body(&self, body: Option<usize>) -> FrameMotion<T> {
        let s = &self.states[body.map_or(0, |b| b + 1)];
        FrameMotion {
            rotation: s.r.mat(),
            position: s.p.vec(),
            omega: s.w.vec(),
            velocity: s.v.vec(),
            alpha: s.al.vec(),
            acceleration: s.a.vec(),
        }
    }

    /// The motion of a frame at `point` of a link, with the axes of the link.
    pub fn link(&self, link: &Link, point: Vec3<f64>) -> FrameMotion<T> {
        let body = self.body(link.body);
        let at = link.pose.rotation * point + link.pose.position;
        let arm = body.rotation * Vec3::constant(at.0);
        FrameMotion {
            rotation: body.rotation * Mat3::constant(link.pose.rotation.0),
            position: body.position + arm,
            velocity: body.velocity + body.omega.cross(arm),
            acceleration: body.acceleration + body.alpha.cross(arm) + body.omega.cross(body.omega.cross(arm)),
            ..body
        }
    }
}

/// Places and velocities.
#[inline(always)]
pub fn kinematics<T: Real>(tree: &Tree, q: &[T], v: &[T], work: &mut Work<T>) {
    assert!(q.len() == tree.nq && v.len() == tree.nv && work.states.len() == tree.bodies.len() + 1);
    work.placements.compute(tree, q);
    for (i, (b, place)) in tree.bodies.iter().zip(&work.placements.at).enumerate() {
        let (before, rest) = work.states.split_at_mut(i + 1);
        let (parent, me) = (&before[b.parent], &mut rest[0]);
        let arm = parent.r.times(place.p);
        me.r = parent.r.product(&place.r);
        me.p = parent.p.plus(arm);
        let (spin, slide) = relative(b, &me.r, v);
        me.w = parent.w.plus(spin);
        me.v = parent.w.cross_plus(arm, parent.v.plus(slide));
    }
}

/// Accelerations, after [`kinematics`] at the same state; gravity plays no part.
#[inline(always)]
pub fn accelerations<T: Real>(tree: &Tree, v: &[T], a: &[T], work: &mut Work<T>) {
    for (i, b) in tree.bodies.iter().enumerate() {
        let (before, rest) = work.states.split_at_mut(i + 1);
        let (parent, me) = (&before[b.parent], &mut rest[0]);
        let arm = me.p.minus(parent.p);
        let (spin, slide) = relative(b, &me.r, v);
        let (turn, pull) = relative(b, &me.r, a);
        me.al = parent.w.cross_plus(spin, parent.al.plus(turn));
        let carried = parent.al.cross_plus(arm, parent.w.cross_plus(parent.w.cross(arm), parent.a));
        // Directions of displacement turn with the body where they are fixed to it, which matters for free joints only.
        let twice = if b.motion == Motion::Free { parent.w.plus(me.w) } else { parent.w.plus(parent.w) };
        me.a = twice.cross_plus(slide, carried.plus(pull));
    }
}

/// Angular and linear parts of a joint's velocity, in the axes of the world.
#[inline(always)]
pub(crate) fn relative<T: Real>(b: &Body, r: &M3<T>, v: &[T]) -> (V3<T>, V3<T>) {
    let (i, o) = (b.iv, V3::zero());
    match b.motion {
        Motion::RevoluteX => (r.a.times(v[i]), o),
        Motion::RevoluteY => (r.b.times(v[i]), o),
        Motion::RevoluteZ => (r.c.times(v[i]), o),
        Motion::Revolute => (r.scale(&b.axis).times(v[i]), o),
        Motion::PrismaticX => (o, r.a.times(v[i])),
        Motion::PrismaticY => (o, r.b.times(v[i])),
        Motion::PrismaticZ => (o, r.c.times(v[i])),
        Motion::Prismatic => (o, r.scale(&b.axis).times(v[i])),
        Motion::Helical => {
            let u = r.scale(&b.axis).times(v[i]);
            (u, u.scale(b.pitch))
        }
        Motion::Spherical => (r.times(V3::read(&v[i..i + 3])), o),
        Motion::Free => (r.times(V3::read(&v[i + 3..i + 6])), r.times(V3::read(&v[i..i + 3]))),
    }
}

/// The direction of velocity `k` of a body (angular, and linear at its origin), in the axes of the world.
#[inline(always)]
pub(crate) fn direction<T: Real>(b: &Body, r: &M3<T>, k: usize) -> (V3<T>, V3<T>) {
    let o = V3::zero();
    let column = |j: usize| match j {
        0 => r.a,
        1 => r.b,
        _ => r.c,
    };
    match b.motion {
        Motion::RevoluteX | Motion::RevoluteY | Motion::RevoluteZ | Motion::Revolute => (r.scale(&b.axis), o),
        Motion::PrismaticX | Motion::PrismaticY | Motion::PrismaticZ | Motion::Prismatic => (o, r.scale(&b.axis)),
        Motion::Helical => {
            let u = r.scale(&b.axis);
            (u, u.scale(b.pitch))
        }
        Motion::Spherical => (column(k - b.iv), o),
        Motion::Free if k - b.iv < 3 => (o, column(k - b.iv)),
        Motion::Free => (column(k - b.iv - 3), o),
    }
}
