//! A volume between points: one or many cells whose total volume is kept or follows a signal (\[1\], eq. (4)–(5)).
//!
//! A hexahedron is the image of the unit cube under the trilinear map of its eight corners. Its volume ∫ det J is a sum of three
//! triple products of six of its diagonals (\[2\]), with the corners x₀ … x₇:
//!
//! ```text
//! 12 V = −[p + q, r, s] − [q, r + t, u] − [p, t, u + s]
//! p = x₇ − x₁,  q = x₆ − x₀,  r = x₇ − x₂,  s = x₃ − x₀,  t = x₅ − x₀,  u = x₇ − x₄
//! ```
//!
//! So the volume is a cubic polynomial in the corners, exact and with closed derivatives: those by the diagonals are vector products of
//! the others. A tetrahedron has (b − a)·((c − a) × (d − a))/6.
//!
//! Corners of a hexahedron are numbered as in \[1\]: a face of four, then the face of four opposite to them, each 1-2-4-3
//! around. With local axes x (from the first face to the second), y and z the corners are (−,−,−), (−,−,+), (−,+,−),
//! (−,+,+), (+,−,−), … in the order x, y, z.
//!
//! The residual is V(t) − ΣV in m³, so that in M v̇ = f − Gᵀλ the multiplier is the pressure inside in Pa, positive if it
//! pushes outwards (ν of \[1\], eq. (6)).
//!
//! References: \[1\] Alscher: Numerical simulation of impact and lift-off events in the hydrostatic skeleton of the leech,
//! Bielefeld. \[2\] Grandy: Efficient computation of volume of hexahedral cells, Lawrence Livermore National Laboratory,
//! UCRL-ID-128886 (1997).

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

/// The six diagonals p, q, r, s, t, u of a hexahedron whose triple products make its volume, from values at the corners.
#[inline(always)]
fn diagonals<R: Real>(x: impl Fn(usize) -> Vec3<R>) -> [Vec3<R>; 6] {
    let (x0, x7) = (x(0), x(7));
    [x7 - x(1), x(6) - x0, x7 - x(2), x(3) - x0, x(5) - x0, x7 - x(4)]
}

impl Cell {
    /// The number of corners.
    pub fn corners(self) -> usize {
        match self {
            Self::Hexahedron => 8,
            Self::Tetrahedron => 4,
        }
    }

    /// The volume of one cell, in m³.
    #[inline(always)]
    pub fn volume<R: Real>(self, corner: impl Fn(usize) -> Vec3<R>) -> R {
        match self {
            Self::Hexahedron => {
                let [p, q, r, s, t, u] = diagonals(corner);
                let sum = (p + q).dot(r.cross(s)) + q.dot((r + t).cross(u)) + p.dot(t.cross(u + s));
                sum * R::from(-1.0 / 12.0)
            }
            Self::Tetrahedron => {
                let a = corner(0);
                (corner(1) - a).dot((corner(2) - a).cross(corner(3) - a)) / 6.0
            }
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

    /// The part of the second derivative of the volume in time that velocities make, in m³/s²; corners have places and velocities.
    #[inline(always)]
    pub fn bend<R: Real>(self, place: impl Fn(usize) -> Vec3<R>, velocity: impl Fn(usize) -> Vec3<R>) -> R {
        // Of [a, b, c] it is 2 ([ȧ, ḃ, c] + [ȧ, b, ċ] + [a, ḃ, ċ]).
        let bend = |[a, b, c]: [Vec3<R>; 3], [va, vb, vc]: [Vec3<R>; 3]| {
            vc.dot(va.cross(b) + a.cross(vb)) + c.dot(va.cross(vb))
        };
        match self {
            Self::Hexahedron => {
                let [p, q, r, s, t, u] = diagonals(place);
                let [vp, vq, vr, vs, vt, vu] = diagonals(velocity);
                let sum = bend([p + q, r, s], [vp + vq, vr, vs])
                    + bend([q, r + t, u], [vq, vr + vt, vu])
                    + bend([p, t, u + s], [vp, vt, vu + vs]);
                sum * R::from(-1.0 / 6.0)
            }
            Self::Tetrahedron => {
                let edges = |x: &dyn Fn(usize) -> Vec3<R>| [1, 2, 3].map(|i| x(i) - x(0));
                bend(edges(&place), edges(&velocity)) / 3.0
            }
        }
    }

    /// The gradient of the volume with respect to each corner, in m², told one after the other.
    #[inline(always)]
    pub fn gradients<R: Real>(self, corner: impl Fn(usize) -> Vec3<R>, mut tell: impl FnMut(usize, Vec3<R>)) {
        match self {
            Self::Hexahedron => {
                let twelfth = R::from(-1.0 / 12.0);
                let [p, q, r, s, t, u] = diagonals(corner);
                let (pq, rt, us) = (p + q, r + t, u + s);
                let (rs, uq, pt) = (r.cross(s), u.cross(q), p.cross(t));
                let by_p = (rs + t.cross(us)) * twelfth;
                let by_q = (rs + rt.cross(u)) * twelfth;
                let by_r = (s.cross(pq) + uq) * twelfth;
                let by_s = (pq.cross(r) + pt) * twelfth;
                let by_t = (uq + us.cross(p)) * twelfth;
                let by_u = (q.cross(rt) + pt) * twelfth;
                tell(0, -(by_q + by_s + by_t));
                tell(1, -by_p);
                tell(2, -by_r);
                tell(3, by_s);
                tell(4, -by_u);
                tell(5, by_t);
                tell(6, by_q);
                tell(7, by_p + by_r + by_u);
            }
            Self::Tetrahedron => {
                // The face opposite to each corner, outwards, a third of its area.
                for (which, face) in [[1, 3, 2], [0, 2, 3], [0, 3, 1], [0, 1, 2]].into_iter().enumerate() {
                    let [b, c, d] = face.map(&corner);
                    tell(which, (c - b).cross(d - b) * R::from(1.0 / 6.0));
                }
            }
        }
    }

    /// The gradient of the volume with respect to one of the corners, in m².
    #[inline(always)]
    pub fn gradient<R: Real>(self, corner: impl Fn(usize) -> Vec3<R>, which: usize) -> Vec3<R> {
        let mut found = Vec3::zero();
        self.gradients(corner, |i, gradient| {
            if i == which {
                found = gradient;
            }
        });
        found
    }

    /// The sum of the gradients times what `along` says of each corner.
    #[inline(always)]
    fn slope<R: Real>(self, corner: impl Fn(usize) -> Vec3<R>, along: impl Fn(usize) -> Vec3<R>) -> R {
        let mut sum = R::zero();
        self.gradients(corner, |i, gradient| sum += gradient.dot(along(i)));
        sum
    }
}

impl About for Volume {
    const KIND: &'static str = "volume";
    const SUMMARY: &'static str =
        "Keeps the total volume of cells between points, or lets it follow a signal; its multiplier is the pressure.";
    const REFERENCES: &'static [&'static str] = &[
        "Alscher, Numerical simulation of impact and lift-off events in the hydrostatic skeleton of the leech, eq. (4)–(7)",
        "Grandy, Efficient computation of volume of hexahedral cells, Lawrence Livermore National Laboratory, UCRL-ID-128886 (1997)",
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
            out[0] -= self.cell.slope(|i| at[i].r, |i| at[i].v);
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
            out[0] -= self.cell.bend(|i| at[i].r, |i| at[i].v);
            out[0] -= self.cell.slope(|i| at[i].r, |i| accelerations[i].a);
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
    fn gradients<S: Scalar>(&self, at: &[Place<S>], out: &mut [Wrench<S>]) -> bool {
        let n = self.cell.corners();
        for (at, out) in at.chunks_exact(n).zip(out.chunks_exact_mut(n)) {
            self.cell.gradients(|i| at[i].r, |i, gradient| out[i] = Wrench::force(-gradient));
        }
        true
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
