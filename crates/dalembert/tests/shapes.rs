//! Shapes: exact contents against closed forms, boundary integrals in closed form against adaptive quadrature, bad shapes.
#![allow(clippy::unwrap_used)]

use dalembert::check::Random;
use dalembert::methods::vector::{Mat3, Vec3};
use dalembert::methods::{Jet, Real};
use dalembert::shapes::{
    Ball, Brick, Cylinder, Disc, Ellipse, Ellipsoid, Form, Moments, Polygon, Polyhedron, Rectangle, Shape,
    TriangulatedSurface,
};

const EPSILON: f64 = f64::EPSILON;

fn shape(form: Form) -> Shape {
    Shape::try_from(form).unwrap()
}

/// The largest difference of two sets of moments, each entry relative to m₀ times the power of the size.
fn difference(a: &Moments<f64>, b: &Moments<f64>, size: f64) -> f64 {
    let scale = a.zeroth.abs().max(b.zeroth.abs());
    let mut worst = (a.zeroth - b.zeroth).abs() / scale;
    for i in 0..3 {
        worst = worst.max((a.first[i] - b.first[i]).abs() / (scale * size));
    }
    for i in 0..6 {
        worst = worst.max((a.second[i] - b.second[i]).abs() / (scale * size * size));
    }
    if worst.is_nan() { f64::INFINITY } else { worst }
}

/// Slopes of a plane seen from a body that is turned and stretched.
fn slopes(random: &mut Random) -> Vec3<f64> {
    let a = random.vector();
    if a.norm() < 0.1 { slopes(random) } else { a * (1.5 / a.norm()).powf(random.number()) }
}

fn distance(random: &mut Random) -> f64 {
    10f64.powf(-3.0 + 3.0 * random.number())
}

fn in_plane(a: Vec3<f64>) -> Vec3<f64> {
    Vec3([a[0], 0.0, a[2]])
}

/// Both routes start from the same distances at the corners, so they differ by rounding only.
#[test]
fn integrals_over_edges_triangles_and_spheres() {
    let mut random = Random::new(7);
    for round in 0..60 {
        let quad: Vec<[f64; 2]> = (0..5)
            .map(|i| {
                let (s, c) = (std::f64::consts::TAU * (f64::from(i) + 0.3 * random.number()) / 5.0).sin_cos();
                [(0.6 + 0.3 * random.number()) * c, (0.6 + 0.3 * random.number()) * s]
            })
            .collect();
        let polygon = shape(Form::Polygon(Polygon { vertices: quad, depth: 1.0 }));
        let brick = shape(Form::Box(Brick { size: [1.0, 0.7, 0.4].map(|l| l * (1.0 + 0.3 * random.number())) }));
        let ball = shape(Form::Sphere(Ball { radius: 0.5 + 0.3 * random.number() }));
        let corners = tetrahedron().0.into_iter().map(|v| (Vec3(v) + random.vector() * 0.2).0).collect();
        let pointed = shape(Form::Surface(TriangulatedSurface { vertices: corners, triangles: tetrahedron().1 }));
        let a = slopes(&mut random);
        let d = distance(&mut random);
        for power in 2..=12 {
            let shapes = [("polygon", &polygon), ("box", &brick), ("tetrahedron", &pointed), ("sphere", &ball)];
            for (name, shape) in shapes {
                let a = if name == "polygon" { in_plane(a) } else { a };
                // Quadrature over triangles takes long.
                if name != "polygon" && (round % 12 != 0 || power % 3 == 0) {
                    continue;
                }
                let h = d - shape.nearest(0.0, a);
                let (closed, adaptive) = (shape.moments(power, h, a), shape.moments_by_quadrature(power, h, a));
                let worst = difference(&closed, &adaptive, shape.size());
                assert!(worst <= 1e-12, "{name}, power {power}, distance {d:e}: {worst:e}");
            }
        }
    }
}

/// A face parallel to the support, and nearly so: all distances equal, or within rounding.
#[test]
fn integrals_over_faces_that_are_parallel_to_the_support() {
    let brick = shape(Form::Box(Brick { size: [1.0, 1.0, 1.0] }));
    let square = shape(Form::Rectangle(Rectangle { size: [1.0, 1.0], depth: 1.0 }));
    for tilt in [0.0, 1e-15, 1e-9, 1e-4] {
        for d in [1e-3, 0.7] {
            for power in 2..=12 {
                for shape in [&brick, &square] {
                    let a = Vec3([tilt, 0.0, 1.0]);
                    let h = d - shape.nearest(0.0, a);
                    let adaptive = shape.moments_by_quadrature(power, h, a);
                    let worst = difference(&shape.moments(power, h, a), &adaptive, shape.size());
                    assert!(worst <= 1e-12, "power {power}, tilt {tilt:e}, distance {d:e}: {worst:e}");
                }
            }
        }
    }
}

/// Circles with slopes 3:4 (any scale and quarter turn) have ρ, h and the distance without rounding: so both routes see one problem.
#[test]
fn integrals_around_circles() {
    let mut random = Random::new(11);
    for _ in 0..60 {
        let k = (3.0 * random.number()).round() as i32;
        let [x, z] = [[3.0, 4.0], [-4.0, 3.0], [4.0, -3.0], [0.0, 5.0]][(random.number().abs() * 4.0) as usize % 4];
        let a = Vec3([x, 0.0, z]) * 2f64.powi(k - 3);
        let radius = 0.5;
        let ring = shape(Form::Disc(Disc { radius, depth: 1.0 }));
        let d = 2f64.powi((-10.0 + 10.0 * random.number()).round() as i32);
        let h = radius * 5.0 * 2f64.powi(k - 3) + d;
        for power in 1..=12 {
            let (closed, adaptive) = (ring.moments(power, h, a), ring.moments_by_quadrature(power, h, a));
            let worst = difference(&closed, &adaptive, radius);
            assert!(worst <= 1e-12, "power {power}, distance {d:e}: {worst:e}");
        }
    }
}

/// Discs, tubes, and circles of any slope: the distance h − ρ of the two routes differs by some units in the last place of h, which the power
/// multiplies; derived bound 8 ε ν h/d.
#[test]
fn integrals_over_cylinders() {
    let mut random = Random::new(13);
    for ends in [false, true] {
        let cylinder = shape(Form::Cylinder(Cylinder { radius: 0.5, length: 0.8, ends }));
        for round in 0..8 {
            let mut a = slopes(&mut random);
            if round == 0 {
                a = Vec3([0.0, 0.0, 1.0]); // upright: the slopes across vanish
            } else if round == 1 {
                a[2] = 0.0; // lying
            }
            let d = distance(&mut random).max(1e-4);
            let h = d - cylinder.nearest(0.0, a);
            for power in [2, 3, 4, 5, 8, 12] {
                let (closed, adaptive) = (cylinder.moments(power, h, a), cylinder.moments_by_quadrature(power, h, a));
                let worst = difference(&closed, &adaptive, cylinder.size());
                let bound = 1e-12 + 8.0 * EPSILON * power as f64 * h / d;
                assert!(worst <= bound, "ends {ends}, power {power}, {a:?}, distance {d:e}: {worst:e}, {bound:e}");
            }
        }
    }
}

/// An ellipse is a circle under an affine map: the same current curve, but tractions are per reference length. The integral of a constant
/// traction tells the circumference; a nearly round ellipse has the moments of the circle up to its eccentricity.
#[test]
fn integrals_without_closed_form() {
    let (a, h) = (Vec3([0.3, 0.0, 0.9]), 0.6);
    let ring = shape(Form::Disc(Disc { radius: 0.5, depth: 1.0 }));
    let close = shape(Form::Ellipse(Ellipse { radii: [0.5, 0.5 + 1e-9], depth: 1.0 }));
    assert!(difference(&ring.moments(8, h, a), &close.moments(8, h, a), 0.5) < 1e-6);
    let (space, ball) = (Vec3([0.3, -0.2, 0.8]), shape(Form::Sphere(Ball { radius: 0.5 })));
    let close = shape(Form::Ellipsoid(Ellipsoid { radii: [0.5, 0.5 + 1e-9, 0.5] }));
    assert!(difference(&ball.moments(6, h, space), &close.moments(6, h, space), 0.5) < 1e-6);
    // Far away d^-ν is constant: m0 h^ν → circumference (Ramanujan's second formula, exact to 1e-9 at this eccentricity).
    let oval = shape(Form::Ellipse(Ellipse { radii: [0.5, 0.4], depth: 1.0 }));
    let far = 1e7;
    let around: f64 = oval.moments(2, far, a).zeroth * far * far;
    let [x, z] = [0.5, 0.4f64];
    let e = ((x - z) / (x + z)).powi(2);
    let ramanujan = std::f64::consts::PI * (x + z) * (1.0 + 3.0 * e / (10.0 + (4.0 - 3.0 * e).sqrt()));
    assert!((around / ramanujan - 1.0).abs() < 1e-6, "{around} {ramanujan}");
}

/// ∂m₀(ν)/∂h = −ν m₀(ν+1), ∂m₀(ν)/∂a = −ν m₁(ν+1), ∂m₁(ν)/∂a = −ν m₂(ν+1): by jets, for every shape with closed forms.
#[test]
fn moments_are_derivatives_of_each_other() {
    let mut random = Random::new(17);
    let shapes = [
        shape(Form::Box(Brick { size: [1.0, 0.7, 0.4] })),
        shape(Form::Sphere(Ball { radius: 0.5 })),
        shape(Form::Disc(Disc { radius: 0.5, depth: 1.0 })),
        shape(Form::Rectangle(Rectangle { size: [1.0, 0.5], depth: 1.0 })),
        shape(Form::Cylinder(Cylinder { radius: 0.5, length: 0.8, ends: true })),
        shape(Form::Ellipse(Ellipse { radii: [0.5, 0.3], depth: 1.0 })),
    ];
    for shape in &shapes {
        for _ in 0..4 {
            let mut a = slopes(&mut random);
            if shape.is_plane() {
                a = in_plane(a);
            }
            let h = 0.05 - shape.nearest(0.0, a);
            for power in [2, 3, 4, 5, 7] {
                type J = Jet<f64, 4>;
                let jet = shape.moments(power, J::variable(h, 0), Vec3([0, 1, 2].map(|i| J::variable(a[i], i + 1))));
                let next = shape.moments(power + 1, h, a);
                let scale = next.zeroth * power as f64;
                let near = |x: f64, y: f64, size: f64, what: &str| {
                    let bound = 1e-10 * scale * size;
                    assert!((x - y).abs() <= bound, "{:?}, power {power}, {what}: {x} {y}", shape.form());
                };
                near(jet.zeroth.eps[0], -(power as f64) * next.zeroth, 1.0, "h");
                for i in (0..3).filter(|&i| !(shape.is_plane() && i == 1)) {
                    near(jet.zeroth.eps[i + 1], -(power as f64) * next.first[i], shape.size(), "a");
                    let row = next.matrix().0[i];
                    for j in (0..3).filter(|&j| !(shape.is_plane() && j == 1)) {
                        let size = shape.size().powi(2);
                        near(jet.first[i].eps[j + 1], -(power as f64) * row[j], size, "m1");
                    }
                }
            }
        }
    }
}

#[test]
fn a_support_inside_gives_no_number() {
    for (shape, a) in [
        (shape(Form::Disc(Disc { radius: 0.5, depth: 1.0 })), Vec3([0.0, 0.0, 1.0])),
        (shape(Form::Rectangle(Rectangle { size: [1.0, 1.0], depth: 1.0 })), Vec3([0.3, 0.0, 1.0])),
        (shape(Form::Box(Brick { size: [1.0, 1.0, 1.0] })), Vec3([0.3, 0.2, 1.0])),
        (shape(Form::Sphere(Ball { radius: 0.5 })), Vec3([0.3, 0.2, 1.0])),
        (shape(Form::Cylinder(Cylinder { radius: 0.5, length: 1.0, ends: true })), Vec3([0.3, 0.2, 1.0])),
        (shape(Form::Ellipse(Ellipse { radii: [0.5, 0.4], depth: 1.0 })), Vec3([0.0, 0.0, 1.0])),
    ] {
        for power in [2, 3, 8] {
            for h in [0.3, 0.0, -0.3, -3.0] {
                assert!(shape.moments(power, h, a).zeroth.is_nan(), "{:?} {h} {power}", shape.form());
            }
            assert!(shape.moments(power, 3.0, a).zeroth > 0.0);
        }
    }
    // A plane shape that is tipped out of its plane has no distances.
    let disc = shape(Form::Disc(Disc { radius: 0.5, depth: 1.0 }));
    assert!(disc.moments(8, 3.0, Vec3([0.0, 0.1, 1.0])).zeroth.is_nan());
}

fn tetrahedron() -> (Vec<[f64; 3]>, Vec<[usize; 3]>) {
    let vertices = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    (vertices, vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
}

/// Unit cube by every route; corner tetrahedron: V = 1/6, centre 1/4, ∫XX about the centre = V (3/80 on the diagonal, −1/80 off it).
#[test]
fn contents_are_exact() {
    let near = |a: Mat3<f64>, b: Mat3<f64>| {
        for i in 0..3 {
            for j in 0..3 {
                assert!((a.0[i][j] - b.0[i][j]).abs() <= 20.0 * EPSILON, "{a:?} {b:?}");
            }
        }
    };
    let (vertices, triangles) = tetrahedron();
    let corner = shape(Form::Surface(TriangulatedSurface { vertices: vertices.clone(), triangles: triangles.clone() }));
    let solid = corner.solid();
    assert!((solid.volume - 1.0 / 6.0).abs() < 4.0 * EPSILON);
    assert!((solid.centre - Vec3([0.25; 3])).norm() < 4.0 * EPSILON);
    let (on, off) = (3.0 / 480.0, -1.0 / 480.0);
    near(solid.second, Mat3([[on, off, off], [off, on, off], [off, off, on]]));
    let faces = triangles.iter().map(|t| t.to_vec()).collect();
    let same = shape(Form::Polyhedron(Polyhedron { vertices, faces }));
    near(same.solid().second, solid.second);
    // A square as a polygon, away from the origin.
    let vertices = vec![[1.0, 2.0], [2.0, 2.0], [2.0, 3.0], [1.0, 3.0]];
    let polygon = shape(Form::Polygon(Polygon { vertices, depth: 1.0 }));
    let square = shape(Form::Rectangle(Rectangle { size: [1.0, 1.0], depth: 1.0 }));
    assert!((polygon.solid().centre - Vec3([1.5, 0.0, 2.5])).norm() < 10.0 * EPSILON);
    near(polygon.solid().second, square.solid().second);
    near(square.solid().second, shape(Form::Box(Brick { size: [1.0; 3] })).solid().second);
    // An L of three unit squares: moments add by Steiner's theorem.
    let l = vec![[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]];
    let solid = *shape(Form::Polygon(Polygon { vertices: l, depth: 1.0 })).solid();
    assert!((solid.volume - 3.0).abs() < 10.0 * EPSILON);
    let centre = 2.5 / 3.0;
    assert!((solid.centre - Vec3([centre, 0.0, centre])).norm() < 10.0 * EPSILON);
    let offsets = [[0.5, 0.5], [1.5, 0.5], [0.5, 1.5]].map(|[x, z]| [x - centre, z - centre]);
    let xx: f64 = offsets.iter().map(|[x, _]| 1.0 / 12.0 + x * x).sum();
    let xz: f64 = offsets.iter().map(|[x, z]| x * z).sum();
    near(solid.second, Mat3([[xx, 0.0, xz], [0.0, 3.0 / 12.0, 0.0], [xz, 0.0, xx]]));
}

#[test]
fn bad_shapes_are_refused() {
    let refused = |form: Form, words: &str| {
        let message = Shape::try_from(form.clone()).err().unwrap_or_else(|| panic!("{form:?} was taken"));
        assert!(message.contains(words), "{message}");
    };
    let (vertices, triangles) = tetrahedron();
    let surface =
        |triangles: Vec<[usize; 3]>| Form::Surface(TriangulatedSurface { vertices: tetrahedron().0, triangles });
    refused(surface(triangles[1..].to_vec()), "open");
    refused(surface(triangles.iter().map(|&[a, b, c]| [a, c, b]).collect()), "inside out");
    refused(surface(vec![[0, 1, 9]]), "there is no vertex 9");
    let mut turned = triangles.clone();
    turned[0].swap(0, 1);
    refused(surface(turned), "turned alike");
    // A dent: the tetrahedron with its slanted face drawn inwards.
    let mut dented = vertices;
    dented.push([0.2, 0.2, 0.2]);
    let faces = vec![vec![0, 2, 1], vec![0, 1, 3], vec![0, 3, 2], vec![1, 2, 4], vec![2, 3, 4], vec![3, 1, 4]];
    refused(Form::Polyhedron(Polyhedron { vertices: dented.clone(), faces: faces.clone() }), "not convex");
    let triangles = faces.iter().map(|f| [f[0], f[1], f[2]]).collect();
    assert!(Shape::try_from(Form::Surface(TriangulatedSurface { vertices: dented, triangles })).is_ok());
    refused(Form::Disc(Disc { radius: -1.0, depth: 1.0 }), "`radius` must be positive");
    refused(Form::Disc(Disc { radius: 1.0, depth: 0.0 }), "`depth` must be positive");
    refused(Form::Box(Brick { size: [1.0, f64::NAN, 1.0] }), "`size` must be positive");
    let polygon = |vertices: &[[f64; 2]]| Form::Polygon(Polygon { vertices: vertices.to_vec(), depth: 1.0 });
    refused(polygon(&[[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]]), "inside out");
    refused(polygon(&[[0.0, 0.0], [1.0, 0.0]]), "three or more");
    refused(polygon(&[[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0], [1.0, -0.1]]), "cross");
}

/// What adaptive rules compare.
#[test]
fn sizes_of_numbers() {
    assert_eq!(Jet::<f64, 1>::new(-1.0, 3.0).size(), 3.0);
    assert!(Jet::<f64, 1>::new(f64::NAN, 3.0).size().is_nan());
}
