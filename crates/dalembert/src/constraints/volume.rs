//! A volume between points: one or many cells whose total volume is kept or follows a signal (\[1\], eq. (4)–(5)).
//!
//! A hexahedron is the image of the unit cube under the trilinear map of its eight corners. By the theorem of Gauss its volume
//! ∫ det J is a sum over its six bilinear faces. For a face with corners a, b, c, d in the order of its boundary, seen
//! from outside counterclockwise, the integral is that of the mean of its two triangulations (\[2\]):
//!
//! ```text
//! ⅓ ∫ x·dA = ((c + d)·(a × b) + (a + b)·(c × d))/12
//! ```
//!
//! So the volume is a cubic polynomial in the corners, exact and with the closed gradient
//! 12 ∂/∂a = b × (c + d) + c × d (and the like) of each face. A tetrahedron has (b − a)·((c − a) × (d − a))/6.
//!
//! Corners of a hexahedron are numbered as in \[1\]: a face of four, then the face of four opposite to them, each 1-2-4-3
//! around. With local axes x (from the first face to the second), y and z the corners are (−,−,−), (−,−,+), (−,+,−),
//! (−,+,+), (+,−,−), … in the order x, y, z.
//!
//! The residual is V(t) − ΣV in m³, so that in M v̇ = f − Gᵀλ the multiplier is the pressure inside in Pa, positive if it
//! pushes outwards (ν of \[1\], eq. (6)).
//!
//! References: \[1\] Alscher: Numerical simulation of impact and lift-off events in the hydrostatic skeleton of the leech,
//! Bielefeld. \[2\] Dukowicz: Efficient volume computation for three-dimensional hexahedral cells, J. Comput. Phys. 74
//! (1988) 493–496.

use super::{Constraint, Quantity, Scratch};
use crate::element::About;
use crate::model::{Acceleration, Instant, Place, Point, Wrench};
use crate::signals::SignalRef;
use dalembert_methods::vector::Vec3;
use dalembert_methods::{Jet, Real, Scalar};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The total volume of cells between points.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Volume {
    /// The total volume, a number or the name of a signal; that of the initial positions unless given.
    #[schemars(extend("unit" = "m³"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub volume: Option<SignalRef>,
    /// What the cells are; their corners follow each other in the list of markers.
    pub cell: Cell,
    /// The volume of the initial positions, once known.
    #[serde(skip)]
    #[schemars(skip)]
    initial: f64,
}

/// The shape of a cell.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cell {
    /// Eight corners: a face of four, then the opposite face of four, each 1-2-4-3 around.
    #[default]
    Hexahedron,
    /// Four corners; the last three are counterclockwise, seen from the side away from the first.
    Tetrahedron,
}

/// The faces of a hexahedron, counterclockwise from outside.
const FACES: [[usize; 4]; 6] = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]];

/// For each corner its faces: the three other corners in the order of the boundary after it.
const AROUND: [[[usize; 3]; 3]; 8] = around();

const fn around() -> [[[usize; 3]; 3]; 8] {
    let mut out = [[[0; 3]; 3]; 8];
    let mut corner = 0;
    while corner < 8 {
        let (mut found, mut face) = (0, 0);
        while face < 6 {
            let mut at = 0;
            while at < 4 {
                if FACES[face][at] == corner {
                    let [b, c, d] = [FACES[face][(at + 1) % 4], FACES[face][(at + 2) % 4], FACES[face][(at + 3) % 4]];
                    out[corner][found] = [b, c, d];
                    found += 1;
                }
                at += 1;
            }
            face += 1;
        }
        corner += 1;
    }
    out
}

impl Cell {
    /// The number of corners.
    pub fn corners(self) -> usize {
        match self {
            Self::Hexahedron => 8,
            Self::Tetrahedron => 4,
        }
    }

    /// The volume of one cell, in m³, from its corners as seen from the first of them.
    #[inline(always)]
    pub fn volume<R: Real>(self, corner: impl Fn(usize) -> Vec3<R>) -> R {
        let origin = corner(0);
        let x = |i: usize| corner(i) - origin;
        match self {
            Self::Hexahedron => {
                let x = [x(0), x(1), x(2), x(3), x(4), x(5), x(6), x(7)];
                let mut sum = R::zero();
                for [a, b, c, d] in FACES {
                    let (a, b, c, d) = (x[a], x[b], x[c], x[d]);
                    sum += (c + d).dot(a.cross(b)) + (a + b).dot(c.cross(d));
                }
                sum / 12.0
            }
            Self::Tetrahedron => x(1).dot(x(2).cross(x(3))) / 6.0,
        }
    }

    /// The first corner at which the cell is turned inside out, although its volume is positive: the edges from there are
    /// left-handed, det J < 0.
    pub fn folded(self, corner: impl Fn(usize) -> Vec3<f64>) -> Option<usize> {
        if self == Self::Tetrahedron {
            return None;
        }
        (0..8).find(|&i| {
            // Corners are numbered by three bits, one for each direction; neighbours differ in one of them.
            let [a, b, c] = [4, 2, 1].map(|bit| corner(i ^ bit) - corner(i));
            let handed = if i.count_ones().is_multiple_of(2) { 1.0 } else { -1.0 };
            handed * a.dot(b.cross(c)) < -1e-9 * a.norm() * b.norm() * c.norm()
        })
    }

    /// First and second derivative of the volume of one cell in time, in m³/s and m³/s²; corners have places, velocities and
    /// accelerations.
    #[inline(always)]
    pub fn bend<R: Real>(self, corner: impl Fn(usize) -> [Vec3<R>; 3]) -> (R, R) {
        let [origin, drift, pull] = corner(0);
        let seen = |i: usize| {
            let [x, v, a] = corner(i);
            Moving { x: x - origin, v: v - drift, a: a - pull }
        };
        match self {
            Self::Hexahedron => {
                let x = [seen(0), seen(1), seen(2), seen(3), seen(4), seen(5), seen(6), seen(7)];
                let (mut first, mut second) = (R::zero(), R::zero());
                for [a, b, c, d] in FACES {
                    let (a, b, c, d) = (x[a], x[b], x[c], x[d]);
                    for (rate, bend) in [a.cross(b).dot(c.plus(d)), c.cross(d).dot(a.plus(b))] {
                        first += rate;
                        second += bend;
                    }
                }
                (first / 12.0, second / 12.0)
            }
            Self::Tetrahedron => {
                let (first, second) = seen(2).cross(seen(3)).dot(seen(1));
                (first / 6.0, second / 6.0)
            }
        }
    }

    /// The gradient of the volume with respect to one of the corners, in m².
    #[inline(always)]
    pub fn gradient<R: Real>(self, corner: impl Fn(usize) -> Vec3<R>, which: usize) -> Vec3<R> {
        match self {
            Self::Hexahedron => {
                // The volume does not change under a shift: seen from the corner itself, a = 0 in each of its faces.
                let origin = corner(which);
                let mut sum = Vec3::zero();
                for [b, c, d] in AROUND[which] {
                    let (b, c, d) = (corner(b) - origin, corner(c) - origin, corner(d) - origin);
                    sum += b.cross(c + d) + c.cross(d);
                }
                sum * R::from(1.0 / 12.0)
            }
            Self::Tetrahedron => {
                // The face opposite to the corner, outwards, a third of its area.
                let [b, c, d] = [[1, 3, 2], [0, 2, 3], [0, 3, 1], [0, 1, 2]][which].map(&corner);
                (c - b).cross(d - b) * R::from(1.0 / 6.0)
            }
        }
    }
}

/// A vector with its first and second derivative in time.
#[derive(Copy, Clone)]
struct Moving<R> {
    x: Vec3<R>,
    v: Vec3<R>,
    a: Vec3<R>,
}

impl<R: Real> Moving<R> {
    #[inline(always)]
    fn plus(self, o: Self) -> Self {
        Self { x: self.x + o.x, v: self.v + o.v, a: self.a + o.a }
    }
    #[inline(always)]
    fn cross(self, o: Self) -> Self {
        let twice = self.v.cross(o.v);
        Self {
            x: self.x.cross(o.x),
            v: self.v.cross(o.x) + self.x.cross(o.v),
            a: self.a.cross(o.x) + twice + twice + self.x.cross(o.a),
        }
    }
    /// First and second derivative of the scalar product.
    #[inline(always)]
    fn dot(self, o: Self) -> (R, R) {
        let twice = self.v.dot(o.v);
        (self.v.dot(o.x) + self.x.dot(o.v), self.a.dot(o.x) + twice + twice + self.x.dot(o.a))
    }
}

impl About for Volume {
    const KIND: &'static str = "volume";
    const SUMMARY: &'static str =
        "Keeps the total volume of cells between points, or lets it follow a signal; its multiplier is the pressure.";
    const REFERENCES: &'static [&'static str] = &[
        "Alscher, Numerical simulation of impact and lift-off events in the hydrostatic skeleton of the leech, eq. (4)–(7)",
        "Dukowicz, Efficient volume computation for three-dimensional hexahedral cells, J. Comput. Phys. 74 (1988) 493–496",
    ];

    fn sample() -> Self {
        Self::new(Some(0.8.into()), Cell::Hexahedron)
    }
}

impl Volume {
    /// A total volume of cells; that of the initial positions if none is given.
    pub fn new(volume: Option<SignalRef>, cell: Cell) -> Self {
        Self { volume, cell, initial: 0.0 }
    }

    #[inline(always)]
    fn given<R: Real>(&self, t: R) -> R {
        self.volume.as_ref().map_or(R::from(self.initial), |volume| volume.at(t))
    }

    /// The volume of all cells, each corner as `corner` says.
    #[inline(always)]
    fn total<R: Real>(&self, markers: usize, corner: impl Fn(usize) -> Vec3<R>) -> R {
        let n = self.cell.corners();
        let mut sum = R::zero();
        for first in (0..markers).step_by(n) {
            sum += self.cell.volume(|i| corner(first + i));
        }
        sum
    }
}

impl Constraint for Volume {
    type Markers = Vec<Point>;

    fn rows(&self) -> Vec<Quantity> {
        vec![Quantity::Volume]
    }
    #[inline(always)]
    fn residual<R: Real>(&self, now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        out[0] = self.given(now.t) - self.total(at.len(), |i| at[i].r);
    }
    fn rate<S: Scalar>(&self, now: &Instant<'_, S>, at: &[Place<S>], _scratch: &mut Scratch<S>, out: &mut [S]) {
        out[0] = self.given(Jet::<S, 1>::variable(now.t, 0)).eps[0];
        for at in at.chunks_exact(self.cell.corners()) {
            out[0] -= self.cell.bend(|i| [at[i].r, at[i].v, Vec3::zero()]).0;
        }
    }
    fn bias<S: Scalar>(
        &self,
        now: &Instant<'_, S>,
        at: &[Place<S>],
        accelerations: &[Acceleration<S>],
        _scratch: &mut Scratch<S>,
        out: &mut [S],
    ) {
        let t = Jet::new(Jet::<S, 1>::new(now.t, S::one()), Jet::constant(S::one()));
        let n = self.cell.corners();
        out[0] = self.given(t).eps[0].eps[0];
        for (at, accelerations) in at.chunks_exact(n).zip(accelerations.chunks_exact(n)) {
            out[0] -= self.cell.bend(|i| [at[i].r, at[i].v, accelerations[i].a]).1;
        }
    }
    fn gradient<S: Scalar>(
        &self,
        _now: &Instant<'_, S>,
        at: &[Place<S>],
        marker: usize,
        _scratch: &mut Scratch<S>,
        out: &mut [Wrench<S>],
    ) {
        let n = self.cell.corners();
        let (which, at) = (marker % n, &at[marker - marker % n..][..n]);
        out[0] = Wrench::force(-self.cell.gradient(|i| at[i].r, which));
    }
    fn cluster(&self, _markers: usize) -> usize {
        self.cell.corners()
    }
    fn rheonomic(&self) -> bool {
        matches!(self.volume, Some(SignalRef::Named { .. }))
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        self.volume.iter_mut().collect()
    }
    fn settle(&mut self, at: &[Place<f64>]) {
        self.initial = self.total(at.len(), |i| at[i].r);
    }
    fn coordinates(&self) -> Vec<(&'static str, &'static str)> {
        vec![("volume", "m³")]
    }
    fn coordinate<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [R]) {
        out[0] = self.total(at.len(), |i| at[i].r);
    }
    fn multipliers(&self) -> Vec<(&'static str, &'static str)> {
        vec![("pressure", "Pa")]
    }
    fn defect(&self, markers: usize) -> Option<(&'static str, String)> {
        let n = self.cell.corners();
        if markers == 0 || !markers.is_multiple_of(n) {
            return Some((
                "markers",
                format!("each cell has {n} corners, so {markers} markers do not make whole cells"),
            ));
        }
        match self.volume {
            Some(SignalRef::Number(volume)) if volume.is_nan() || volume <= 0.0 => {
                Some(("volume", format!("a volume must be positive, not {volume} m³")))
            }
            _ => None,
        }
    }
    fn defect_at(&self, now: &Instant<'_, f64>, at: &[Place<f64>]) -> Option<(&'static str, String)> {
        let mut cells = at.chunks_exact(self.cell.corners()).enumerate();
        let inverted = cells.find_map(|(cell, at)| {
            let volume = self.cell.volume(|i| at[i].r);
            // The rounding of a volume between points of this size.
            let size = at.iter().fold(0.0, |size: f64, p| size.max((p.r - at[0].r).norm()));
            (volume.is_nan() || volume <= 100.0 * f64::EPSILON * size.powi(3)).then(|| {
                let message = format!(
                    "cell {} is turned inside out or flat: its volume is {volume:.3e} m³; check the order of its corners",
                    cell + 1
                );
                ("markers", message)
            })
        });
        let mut cells = at.chunks_exact(self.cell.corners()).enumerate();
        let folded = || {
            cells.find_map(|(cell, at)| {
                let corner = self.cell.folded(|i| at[i].r)?;
                let message = format!(
                    "cell {} is folded over at its corner {}: check the order of its corners",
                    cell + 1,
                    corner + 1
                );
                Some(("markers", message))
            })
        };
        let inverted = inverted.or_else(folded);
        let given = self.given(now.t);
        let negative = (given.is_nan() || given <= 0.0)
            .then(|| ("volume", format!("a volume must be positive, but is {given} m³ at t = {} s", now.t)));
        inverted.or(negative)
    }
}
