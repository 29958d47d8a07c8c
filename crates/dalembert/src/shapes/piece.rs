//! The pieces a boundary is made of, and the integrals over each of them.

use super::circle::{Round, disc, ring};
use super::moments::Moments;
use super::quadrature::integrate;
use super::{edge, triangle};
use dalembert_methods::Real;
use dalembert_methods::vector::Vec3;
use std::f64::consts::PI;

/// A piece of the boundary of a reference shape, in the frame of the body.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Piece {
    /// A straight edge in the x–z plane, drawn out along y.
    Edge { ends: [[f64; 3]; 2], depth: f64 },
    /// A circle in the x–z plane, drawn out along y.
    Ring { radius: f64, depth: f64 },
    /// An ellipse in the x–z plane, drawn out along y.
    Oval { radii: [f64; 2], depth: f64 },
    /// A flat triangle.
    Triangle { corners: [[f64; 3]; 3], area: f64 },
    /// A sphere.
    Sphere { radius: f64 },
    /// An ellipsoid.
    Ellipsoid { radii: [f64; 3] },
    /// A flat disc across the z axis.
    Disc { radius: f64, height: f64 },
    /// A circular tube about the z axis.
    Tube { radius: f64, half: f64 },
}

/// Slopes across the plane of a plane shape above this, relative to those within it, are not plane.
const PLANE: f64 = 1e-9;

impl Piece {
    /// The moments of d^−ν with d = h + a·X. Not a number unless d is positive all over the piece.
    pub fn moments<R: Real>(&self, power: usize, h: R, a: Vec3<R>) -> Moments<R> {
        match self {
            Self::Edge { ends, depth } => {
                let h = plane(h, a);
                let distances = ends.map(|x| h + a[0] * x[0] + a[2] * x[2]);
                thick(edge::moments(power, *ends, distances, edge_length(ends) * depth), *depth)
            }
            Self::Ring { radius, depth } => {
                let round = Round::new(plane(h, a), (a[0] * a[0] + a[2] * a[2]) * (radius * radius));
                let flat = ring(power, round, *radius);
                thick(scaled(&flat.place(0, 2, [a[0], a[2]]), *depth), *depth)
            }
            Self::Oval { depth, .. } => thick(self.by_quadrature(power, h, a), *depth),
            Self::Triangle { corners, area } => {
                triangle::moments(power, *corners, corners.map(|x| h + a.dot(Vec3::constant(x))), *area)
            }
            Self::Sphere { radius } => sphere(power, h, a, *radius),
            Self::Ellipsoid { .. } => self.by_quadrature(power, h, a),
            Self::Disc { radius, height } => {
                let rho2 = (a[0] * a[0] + a[1] * a[1]) * (radius * radius);
                let round = Round::new(h + a[2] * *height, rho2);
                raised(&disc(power, round, *radius).place(0, 1, [a[0], a[1]]), *height)
            }
            Self::Tube { radius, half } => {
                let rho2 = (a[0] * a[0] + a[1] * a[1]) * (radius * radius);
                let size = radius.hypot(*half);
                let slice = |z: f64| {
                    let flat = ring(power, Round::new(h + a[2] * z, rho2), *radius);
                    shrunk(&raised(&flat.place(0, 1, [a[0], a[1]]), z), size.recip()).to_array()
                };
                let whole = |s: f64, rest: f64| times(slice((s - rest) * half), R::from(2.0 * half));
                shrunk(&Moments::from_array(integrate(&whole)), size)
            }
        }
    }

    /// ∫ d^−ν dA alone, also for ν = 1.
    pub fn integral<R: Real>(&self, power: usize, h: R, a: Vec3<R>) -> R {
        self.moments(power, h, a).zeroth
    }

    /// The smallest value of a·X on the piece.
    pub fn lowest<R: Real>(&self, a: Vec3<R>) -> R {
        let across = |x: R, y: R| -(x * x + y * y).sqrt();
        match self {
            Self::Edge { ends, .. } => {
                let [from, to] = ends.map(|x| a[0] * x[0] + a[2] * x[2]);
                from.min(to)
            }
            Self::Ring { radius, .. } => across(a[0], a[2]) * *radius,
            Self::Oval { radii, .. } => across(a[0] * radii[0], a[2] * radii[1]),
            Self::Triangle { corners, .. } => {
                let [i, j, k] = corners.map(|x| a.dot(Vec3::constant(x)));
                i.min(j).min(k)
            }
            Self::Sphere { radius } => -a.norm() * *radius,
            Self::Ellipsoid { radii } => -stretched(a, *radii).norm(),
            Self::Disc { radius, height } => across(a[0], a[1]) * *radius + a[2] * *height,
            Self::Tube { radius, half } => across(a[0], a[1]) * *radius - a[2].abs() * *half,
        }
    }

    /// The moments by adaptive quadrature: what pieces without closed forms use, and an independent route for the others.
    pub fn by_quadrature<R: Real>(&self, power: usize, h: R, a: Vec3<R>) -> Moments<R> {
        let size = self.size();
        let values = self.integrate(h, a, &|x: Vec3<R>, d: R| {
            let mut point = Moments::zero();
            point.add_point(x * R::from(size.recip()), d.powi(-(power as i32)));
            point.to_array()
        });
        shrunk(&Moments::from_array(values), size)
    }

    /// A length that no point is farther from the origin than.
    pub fn size(&self) -> f64 {
        let norm = |x: &[f64; 3]| Vec3(*x).norm();
        match self {
            Self::Edge { ends, .. } => norm(&ends[0]).max(norm(&ends[1])),
            Self::Triangle { corners, .. } => corners.iter().map(norm).fold(0.0, f64::max),
            Self::Ring { radius, .. } | Self::Sphere { radius } => *radius,
            Self::Oval { radii, .. } => radii[0].max(radii[1]),
            Self::Ellipsoid { radii } => radii[0].max(radii[1]).max(radii[2]),
            Self::Disc { radius, height } => radius.hypot(*height),
            Self::Tube { radius, half } => radius.hypot(*half),
        }
    }

    /// ∫ f(X, d) dA by adaptive quadrature; no component of f may be larger than about the first one.
    pub fn integrate<R: Real, const N: usize>(&self, h: R, a: Vec3<R>, f: &dyn Fn(Vec3<R>, R) -> [R; N]) -> [R; N] {
        match self {
            Self::Edge { ends, depth } => {
                let h = plane(h, a);
                let [from, to] = ends.map(|x| edge::outside(h + a[0] * x[0] + a[2] * x[2]));
                let [x, y] = ends.map(Vec3::<R>::constant);
                let size = edge_length(ends) * depth;
                let along = |s: f64, rest: f64| {
                    let (s, rest) = (R::from(s), R::from(rest));
                    times(f(x * rest + y * s, from * rest + to * s), R::from(size))
                };
                integrate(&along)
            }
            Self::Ring { radius, depth } => around(plane(h, a), [a[0], a[2]], [*radius; 2], &|x, z, d, weight| {
                times(f(Vec3([x, R::zero(), z]), d), weight * *depth)
            }),
            Self::Oval { radii, depth } => around(plane(h, a), [a[0], a[2]], *radii, &|x, z, d, weight| {
                times(f(Vec3([x, R::zero(), z]), d), weight * *depth)
            }),
            Self::Triangle { corners, area } => {
                let d = corners.map(|x| edge::outside(h + a.dot(Vec3::constant(x))));
                let x = corners.map(Vec3::<R>::constant);
                let point = |[s, far]: [f64; 2], [t, rest]: [f64; 2]| {
                    let [i, j, k] = [far, s * rest, s * t].map(R::from);
                    let at = x[0] * i + x[1] * j + x[2] * k;
                    times(f(at, d[0] * i + d[1] * j + d[2] * k), R::from(2.0 * area * s))
                };
                integrate(&|s, far| integrate(&|t, rest| point([s, far], [t, rest])))
            }
            Self::Sphere { radius } => over_ellipsoid(h, a, [*radius; 3], f),
            Self::Ellipsoid { radii } => over_ellipsoid(h, a, *radii, f),
            Self::Disc { radius, height } => {
                let h = h + a[2] * *height;
                let circle = |s: f64, _: f64| {
                    around(h, [a[0], a[1]], [s * radius; 2], &|x, y, d, weight| {
                        times(f(Vec3([x, y, R::from(*height)]), d), weight * *radius)
                    })
                };
                integrate(&circle)
            }
            Self::Tube { radius, half } => {
                let circle = |s: f64, rest: f64| {
                    let z = (s - rest) * half;
                    around(h + a[2] * z, [a[0], a[1]], [*radius; 2], &|x, y, d, weight| {
                        times(f(Vec3([x, y, R::from(z)]), d), weight * (2.0 * half))
                    })
                };
                integrate(&circle)
            }
        }
    }
}

fn times<R: Real, const N: usize>(values: [R; N], by: R) -> [R; N] {
    values.map(|value| value * by)
}

fn edge_length(ends: &[[f64; 3]; 2]) -> f64 {
    (Vec3(ends[1]) - Vec3(ends[0])).norm()
}

/// The distance at the origin, not a number unless distances are the same all along y.
#[inline(always)]
fn plane<R: Real>(h: R, a: Vec3<R>) -> R {
    let within = (a[0] * a[0] + a[2] * a[2]) * (PLANE * PLANE);
    R::select((a[1] * a[1]).le(within), h, R::from(f64::NAN))
}

fn stretched<R: Real>(a: Vec3<R>, radii: [f64; 3]) -> Vec3<R> {
    Vec3(std::array::from_fn(|i| a[i] * radii[i]))
}

/// Moments of a section drawn out over a depth about it.
#[inline(always)]
fn thick<R: Real>(section: Moments<R>, depth: f64) -> Moments<R> {
    let mut out = section;
    out.second[1] = section.zeroth * (depth * depth / 12.0);
    out
}

#[inline(always)]
fn scaled<R: Real>(m: &Moments<R>, by: f64) -> Moments<R> {
    Moments { zeroth: m.zeroth * by, first: m.first * R::from(by), second: m.second.map(|x| x * by) }
}

/// The moments of the same weights at points that are `by` times as far.
#[inline(always)]
fn shrunk<R: Real>(m: &Moments<R>, by: f64) -> Moments<R> {
    Moments { zeroth: m.zeroth, first: m.first * R::from(by), second: m.second.map(|x| x * (by * by)) }
}

/// The moments of the same weights shifted along z.
#[inline(always)]
fn raised<R: Real>(m: &Moments<R>, z: f64) -> Moments<R> {
    let mut out = *m;
    out.first[2] += m.zeroth * z;
    out.second[2] += m.first[2] * (2.0 * z) + m.zeroth * (z * z);
    out.second[4] += m.first[0] * z;
    out.second[5] += m.first[1] * z;
    out
}

/// On a sphere the cosine of the polar angle about a is evenly distributed: an integral along a segment.
#[inline(always)]
fn sphere<R: Real>(power: usize, h: R, a: Vec3<R>, radius: f64) -> Moments<R> {
    let slope = a.norm();
    let rho = slope * radius;
    let [top, side, bottom] = edge::quadratic(power, h - rho, h + rho);
    let (e, size) = (a * slope.recip(), 4.0 * PI * radius * radius);
    let across = side * (2.0 * size * radius * radius);
    let along = (top - side * 2.0 + bottom) * (size * radius * radius) - across;
    let mut out = Moments {
        zeroth: (top + side * 2.0 + bottom) * size,
        first: e * ((top - bottom) * (size * radius)),
        second: [across, across, across, R::zero(), R::zero(), R::zero()],
    };
    out.add_pair(e, e, along * 0.5);
    out
}

/// ∫ f dl around an ellipse from its lowest point both ways; `f` gets the point, its distance and the element of arc length.
fn around<R: Real, const N: usize>(h: R, a: [R; 2], radii: [f64; 2], f: &dyn Fn(R, R, R, R) -> [R; N]) -> [R; N] {
    let (rho, [ex, ey]) = direction([a[0] * radii[0], a[1] * radii[1]]);
    let least = edge::outside(h - rho);
    let point = |turn: f64| {
        let (sin, cos) = turn.sin_cos();
        let (c, s) = (-ex * cos - ey * sin, ex * sin - ey * cos);
        let half = (0.5 * turn).sin();
        let d = least + rho * (2.0 * half * half);
        let weight = if radii[0] == radii[1] {
            R::from(radii[0])
        } else {
            ((s * radii[0]).square() + (c * radii[1]).square()).sqrt()
        };
        f(c * radii[0], s * radii[1], d, weight)
    };
    integrate(&|s, _| {
        let (left, right) = (point(-PI * s), point(PI * s));
        std::array::from_fn(|i| (left[i] + right[i]) * PI)
    })
}

/// Length and direction of a vector; where it vanishes any direction serves.
fn direction<R: Real>(a: [R; 2]) -> (R, [R; 2]) {
    let squared = a[0] * a[0] + a[1] * a[1];
    let some = R::zero().lt(squared);
    let length = R::select(some, squared, R::one()).sqrt();
    let pick = |component: R, otherwise: f64| R::select(some, component / length, R::from(otherwise));
    (R::select(some, length, R::zero()), [pick(a[0], 1.0), pick(a[1], 0.0)])
}

/// ∫ f dA over an ellipsoid in polar angles about its lowest point.
fn over_ellipsoid<R: Real, const N: usize>(
    h: R,
    a: Vec3<R>,
    radii: [f64; 3],
    f: &dyn Fn(Vec3<R>, R) -> [R; N],
) -> [R; N] {
    let b = stretched(a, radii);
    let rho = b.norm();
    let axis = b * rho.recip();
    let steep = R::from(0.6).lt(axis[2].abs());
    let helper = Vec3([R::select(steep, R::one(), R::zero()), R::zero(), R::select(steep, R::zero(), R::one())]);
    let one = helper.cross(axis).normalized();
    let two = axis.cross(one);
    let least = edge::outside(h - rho);
    let volume = radii[0] * radii[1] * radii[2];
    let belt = |s: f64, rest: f64| {
        let turn = PI * s;
        // sin π(1 − s) = sin πs keeps its digits at the upper end.
        let (sin, cos) = ((PI * s.min(rest)).sin(), turn.cos());
        let half = (0.5 * turn).sin();
        let d = least + rho * (2.0 * half * half);
        let point = |share: f64, _: f64| {
            let (s, c) = (2.0 * PI * share).sin_cos();
            let unit = (one * R::from(c) + two * R::from(s)) * R::from(sin) - axis * R::from(cos);
            // dA = det A |A⁻¹u| du on the image of the unit sphere under A.
            let inverse = Vec3(std::array::from_fn::<R, 3, _>(|i| unit[i] / radii[i]));
            times(f(stretched(unit, radii), d), inverse.norm() * (2.0 * PI * PI * volume * sin))
        };
        integrate(&point)
    };
    integrate(&belt)
}
