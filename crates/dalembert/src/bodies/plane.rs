//! Plane motion: which plane it is, and 2 × 2 matrices.

use crate::model::{Place, Site, Wrench};
use dalembert_methods::Real;
use dalembert_methods::vector::{Mat3, Vec3};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The plane in which a body moves. The first axis is the body's x, the second one its z; its y is across the plane.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Plane {
    /// World x and z.
    #[default]
    Xz,
    /// World x and y.
    Xy,
    /// World y and z.
    Yz,
}

/// A 2 × 2 matrix by rows.
pub(super) type Mat2<R> = [[R; 2]; 2];

/// The quarter turn from the first axis to the second.
#[inline(always)]
pub(super) fn quarter<R: Real>(a: Mat2<R>) -> Mat2<R> {
    [[-a[1][0], -a[1][1]], a[0]]
}

/// a b.
#[inline(always)]
pub(super) fn product<R: Real>(a: Mat2<R>, b: Mat2<R>) -> Mat2<R> {
    let row = |a: [R; 2]| [a[0] * b[0][0] + a[1] * b[1][0], a[0] * b[0][1] + a[1] * b[1][1]];
    [row(a[0]), row(a[1])]
}

/// a + b k.
#[inline(always)]
pub(super) fn plus<R: Real>(a: Mat2<R>, b: Mat2<R>, k: R) -> Mat2<R> {
    let row = |a: [R; 2], b: [R; 2]| [a[0] + b[0] * k, a[1] + b[1] * k];
    [row(a[0], b[0]), row(a[1], b[1])]
}

/// The rotation by an angle from the first axis to the second.
#[inline(always)]
pub(super) fn rotation<R: Real>(angle: R) -> Mat2<R> {
    let (s, c) = angle.sin_cos();
    [[c, -s], [s, c]]
}

/// Plain numbers as any.
#[inline(always)]
pub(super) fn constant<R: Real>(a: Mat2<f64>) -> Mat2<R> {
    let row = |a: [f64; 2]| [R::from(a[0]), R::from(a[1])];
    [row(a[0]), row(a[1])]
}

pub(super) fn determinant(a: Mat2<f64>) -> f64 {
    a[0][0] * a[1][1] - a[0][1] * a[1][0]
}

/// The x and z part of a matrix in the body's frame.
pub(super) fn in_plane(a: &Mat3<f64>) -> Mat2<f64> {
    [[a.0[0][0], a.0[0][2]], [a.0[2][0], a.0[2][2]]]
}

/// Position, gradient and their rates of an affine motion in a plane: u (2), F by rows (4), u̇ (2), Ḟ by rows (4).
pub(super) const MOTION: usize = 12;

impl Plane {
    /// World directions of the body's x, y and z.
    #[inline(always)]
    pub(super) fn axes(self) -> [[f64; 3]; 3] {
        match self {
            Self::Xz => [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
            Self::Xy => [[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]],
            Self::Yz => [[0.0, 1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
        }
    }

    /// World numbers of the two axes.
    #[inline(always)]
    pub(super) fn indices(self) -> [usize; 2] {
        match self {
            Self::Xz => [0, 2],
            Self::Xy => [0, 1],
            Self::Yz => [1, 2],
        }
    }

    /// The two components of a world vector in the plane.
    #[inline(always)]
    pub(super) fn within<R: Copy>(self, a: [R; 3]) -> [R; 2] {
        let [i, j] = self.indices();
        [a[i], a[j]]
    }

    /// The component of a world vector across the plane, along the body's y.
    pub(super) fn across(self, a: [f64; 3]) -> f64 {
        Vec3(self.axes()[1]).dot(Vec3(a))
    }

    /// A vector from its components in the plane and across it.
    #[inline(always)]
    pub(super) fn vector<R: Real>(self, within: [R; 2], across: f64) -> Vec3<R> {
        let mut out = Vec3::constant((Vec3(self.axes()[1]) * across).0);
        for (i, component) in self.indices().into_iter().zip(within) {
            out[i] = component;
        }
        out
    }

    /// The motion of a marker; `centre` is the material point of u, `offset` the position of the body's plane.
    #[inline(always)]
    pub(super) fn place<R: Real>(self, site: &Site, centre: Vec3<f64>, offset: f64, motion: &[R]) -> Place<R> {
        let arm = [site.at[0] - centre[0], site.at[2] - centre[2]];
        let at = |first: usize| {
            let m = &motion[first..first + 6];
            [m[0] + m[2] * arm[0] + m[3] * arm[1], m[1] + m[4] * arm[0] + m[5] * arm[1]]
        };
        Place {
            r: self.vector(at(0), offset + site.at[1]),
            v: self.vector(at(6), 0.0),
            rotation: Mat3::identity(),
            omega: Vec3::zero(),
        }
    }

    /// Adds a force at a marker to the forces on u (2) and F by rows (4).
    #[inline(always)]
    pub(super) fn pull_back<R: Real>(self, site: &Site, centre: Vec3<f64>, wrench: &Wrench<R>, out: &mut [R]) {
        let arm = [site.at[0] - centre[0], site.at[2] - centre[2]];
        for (i, force) in self.within(wrench.force.0).into_iter().enumerate() {
            out[i] += force;
            for j in 0..2 {
                out[2 + 2 * i + j] += force * arm[j];
            }
        }
    }

    /// Kinetic energy of a motion.
    pub(super) fn kinetic<R: Real>(self, mass: f64, euler: Mat2<f64>, motion: &[R]) -> R {
        let mut sum = (motion[6] * motion[6] + motion[7] * motion[7]) * mass;
        for i in 0..2 {
            let [a, b] = [motion[8 + 2 * i], motion[9 + 2 * i]];
            sum += a * a * euler[0][0] + a * b * (2.0 * euler[0][1]) + b * b * euler[1][1];
        }
        sum * 0.5
    }

    /// Linear momentum, and angular momentum about the world origin.
    pub(super) fn momentum<R: Real>(
        self,
        mass: f64,
        euler: Mat2<f64>,
        offset: f64,
        motion: &[R],
    ) -> (Vec3<R>, Vec3<R>) {
        let p = self.vector([motion[6] * mass, motion[7] * mass], 0.0);
        let gradient = [[motion[2], motion[3]], [motion[4], motion[5]]];
        let moved = product([[motion[8], motion[9]], [motion[10], motion[11]]], constant(euler));
        let spin = (0..2).fold(R::zero(), |sum, j| sum + gradient[0][j] * moved[1][j] - gradient[1][j] * moved[0][j]);
        // From the first axis to the second is a turn about −y of the body.
        let about = Vec3::constant((Vec3(self.axes()[1]) * -1.0).0) * spin;
        (p, self.vector([motion[0], motion[1]], offset).cross(p) + about)
    }
}
