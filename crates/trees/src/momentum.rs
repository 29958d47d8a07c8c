//! Momentum, energy and centroidal quantities.
//!
//! The centroidal momentum matrix maps velocities to momentum and to angular momentum about the centre of mass; it comes from
//! composite inertias about that centre, like the mass matrix.
//!
//! Reference: \[1\] Orin, Goswami, Lee: Centroidal dynamics of a humanoid robot, Auton. Robots 35 (2013).

use crate::kinematics::{Work, direction};
use crate::space::{V3, Y3};
use crate::subspace::inertia_at;
use crate::tree::Tree;
use dalembert_methods::Real;
use dalembert_methods::vector::Vec3;

/// Mass, centre, momentum and energies of a tree.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Summary<R> {
    /// The centre of mass of all moving bodies, in m.
    pub centre: Vec3<R>,
    /// Linear momentum in kg m/s.
    pub momentum: Vec3<R>,
    /// Angular momentum about the centre of mass, in kg m²/s.
    pub spin: Vec3<R>,
    /// Angular momentum about the world origin, in kg m²/s.
    pub angular_momentum: Vec3<R>,
    /// Kinetic energy in J, that of the drives included.
    pub kinetic: R,
    /// Potential energy of the weight in J, zero for masses at the world origin.
    pub potential: R,
}

/// Mass, centre, momentum and energies, after [`crate::kinematics::kinematics`] with the velocities `v`.
pub fn summary<T: Real>(tree: &Tree, work: &Work<T>, v: &[T]) -> Summary<T> {
    let (mut moment, mut momentum, mut about_origin) = (V3::zero(), V3::zero(), V3::zero());
    let mut kinetic = T::zero();
    for (b, s) in tree.bodies.iter().zip(&work.states[1..]) {
        let (h, i) = (s.r.scale(&b.moment), s.r.congruence(&b.inertia));
        let p = s.w.cross_plus(h, s.v.scale(b.mass));
        let l = h.cross_plus(s.v, i.times(s.w));
        moment = moment.plus(s.p.scale_plus(b.mass, h));
        momentum = momentum.plus(p);
        about_origin = s.p.cross_plus(p, about_origin.plus(l));
        kinetic = s.v.dot_plus(p, s.w.dot_plus(l, kinetic));
        for k in b.iv..b.iv + b.motion.velocities() {
            kinetic += v[k] * v[k] * b.armature;
        }
    }
    let mass = tree.total_mass();
    let centre = if mass > 0.0 { moment.scale(1.0 / mass) } else { moment };
    Summary {
        centre: centre.vec(),
        momentum: momentum.vec(),
        spin: about_origin.minus(centre.cross(momentum)).vec(),
        angular_momentum: about_origin.vec(),
        kinetic: kinetic * 0.5,
        potential: -moment.dot_constant(&tree.gravity),
    }
}

/// Writes the 6 × n centroidal momentum matrix by rows: linear momentum, then angular momentum about the centre of mass.
pub fn centroidal_matrix<T: Real>(tree: &Tree, work: &Work<T>, out: &mut [T]) {
    let n = tree.nv;
    assert!(out.len() == 6 * n);
    out.fill(T::zero());
    let centre = centre(tree, work);
    let mut composites: Vec<(V3<T>, Y3<T>)> =
        tree.bodies.iter().zip(&work.states[1..]).map(|(b, s)| inertia_at(b, &s.r, s.p.minus(centre))).collect();
    for (i, b) in tree.bodies.iter().enumerate().rev() {
        let (h, y) = composites[i];
        if b.parent > 0 {
            let parent = &mut composites[b.parent - 1];
            *parent = (parent.0.plus(h), parent.1.plus(&y));
        }
        let s = &work.states[i + 1];
        for k in b.iv..b.iv + b.motion.velocities() {
            let (w, v) = direction(b, &s.r, k);
            let v = s.p.minus(centre).cross_plus(w, v);
            let linear = w.cross_plus(h, v.scale(b.subtree_mass));
            let angular = h.cross_plus(v, y.times(w));
            for (row, x) in [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z].into_iter().enumerate() {
                out[row * n + k] = x;
            }
        }
    }
}

/// The inertia of all bodies about their centre of mass, in the axes of the world, in kg m².
pub fn centroidal_inertia<T: Real>(tree: &Tree, work: &Work<T>) -> dalembert_methods::vector::Mat3<T> {
    let centre = centre(tree, work);
    let mut sum = Y3::zero();
    for (b, s) in tree.bodies.iter().zip(&work.states[1..]) {
        sum = sum.plus(&inertia_at(b, &s.r, s.p.minus(centre)).1);
    }
    sum.full().mat()
}

fn centre<T: Real>(tree: &Tree, work: &Work<T>) -> V3<T> {
    let mut moment = V3::zero();
    for (b, s) in tree.bodies.iter().zip(&work.states[1..]) {
        moment = moment.plus(s.p.scale_plus(b.mass, s.r.scale(&b.moment)));
    }
    let mass = tree.total_mass();
    if mass > 0.0 { moment.scale(1.0 / mass) } else { moment }
}
