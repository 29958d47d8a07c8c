//! The equations of motion of a tree, derived symbol by symbol.
//!
//! One pass of inverse dynamics (Newton–Euler in body frames, as `dalembert_trees::rnea`) with polynomials for numbers gives τ(y, ẏ, ÿ). It
//! is linear in ÿ: those coefficients are M, the terms with velocities are k, and what is left is weight.

use super::EquationError;
use super::polynomial::{Polynomial, Symbol};
use dalembert_methods::vector::{Mat3, Vec3};
use dalembert_trees::{JointKind, MassProperties, Pose, Tree};

/// Polynomials of more terms than this are not readable, and take long.
const MOST_TERMS: usize = 2_000;

type P = Polynomial;
type V = [P; 3];
type M = [V; 3];
/// The turn and the slide of a velocity, and its number.
type Direction = (Vec3<f64>, Vec3<f64>, usize);

/// A body that moves against the one before by one simple joint.
struct Moving {
    parent: Option<usize>,
    /// The frame in the one before: rotation by rows and position.
    rotation: M,
    position: V,
    /// The directions of its velocities.
    directions: Vec<Direction>,
    /// Whether slides are along axes that turn with it.
    carried: bool,
    mass: MassProperties,
}

/// τ for symbols of coordinates, velocities and accelerations.
pub(super) fn inverse_dynamics(tree: &Tree) -> Result<Vec<P>, EquationError> {
    let bodies = bodies(tree);
    let mut tau = vec![P::default(); tree.velocities()];
    let mut motion: Vec<[V; 3]> = Vec::new();
    for b in &bodies {
        let g = -tree.gravity();
        let ground = [zero(), zero(), constant(g)];
        let [w, al, a] = b.parent.map_or(&ground, |p| &motion[p]);
        // The point of the parent, then into the axes of the body.
        let at = add(&add(a, &cross(al, &b.position)), &cross(w, &cross(w, &b.position)));
        let (w0, al0, mut a1) = (turn_back(&b.rotation, w), turn_back(&b.rotation, al), turn_back(&b.rotation, &at));
        let (mut spin, mut slide) = (zero(), zero());
        let (mut spin_rate, mut slide_rate) = (zero(), zero());
        for (turn, along, k) in &b.directions {
            let (v, acceleration) = (P::symbol(Symbol::Velocity(*k)), P::symbol(Symbol::Acceleration(*k)));
            spin = add(&spin, &times(*turn, &v));
            slide = add(&slide, &times(*along, &v));
            spin_rate = add(&spin_rate, &times(*turn, &acceleration));
            slide_rate = add(&slide_rate, &times(*along, &acceleration));
        }
        let w1 = add(&w0, &spin);
        let al1 = add(&add(&al0, &spin_rate), &cross(&w0, &spin));
        let twice = if b.carried { add(&w0, &w1) } else { add(&w0, &w0) };
        a1 = add(&add(&a1, &slide_rate), &cross(&twice, &slide));
        limit(&a1)?;
        motion.push([w1, al1, a1]);
    }
    let mut loads = vec![[zero(), zero()]; bodies.len()];
    for (i, b) in bodies.iter().enumerate().rev() {
        let [w, al, a] = &motion[i];
        let (m, c) = (b.mass.mass, b.mass.centre);
        let h = constant(c * m);
        let inertia = about_origin(&b.mass);
        let force = add(&add(&scale(a, m), &cross(al, &h)), &cross(w, &cross(w, &h)));
        let spun = apply(&inertia, w);
        let torque = add(&add(&apply(&inertia, al), &cross(w, &spun)), &cross(&h, a));
        let [n, f] = &loads[i];
        let (n, f) = (add(n, &torque), add(f, &force));
        limit(&n)?;
        limit(&f)?;
        for (turn, along, k) in &b.directions {
            let own = P::symbol(Symbol::Acceleration(*k)).scaled(tree.freedoms()[*k].armature);
            tau[*k] = dot(*turn, &n) + &dot(*along, &f) + &own;
        }
        if let Some(p) = b.parent {
            let f = turn(&b.rotation, &f);
            let n = add(&turn(&b.rotation, &n), &cross(&b.position, &f));
            loads[p] = [add(&loads[p][0], &n), add(&loads[p][1], &f)];
        }
    }
    Ok(tau)
}

fn limit(v: &V) -> Result<(), EquationError> {
    match v.iter().map(P::len).max() {
        Some(terms) if terms > MOST_TERMS => Err(EquationError { terms }),
        _ => Ok(()),
    }
}

/// The moving bodies in the order of their coordinates.
fn bodies(tree: &Tree) -> Vec<Moving> {
    let mut bodies: Vec<Moving> = Vec::new();
    for link in tree.links() {
        let joint = &tree.joints()[link.joint];
        let before = link.parent.map(|p| &tree.links()[p]);
        let mut pose = before.map_or_else(Pose::default, |l| l.pose).then(&joint.spec.placement);
        let mut parent = before.and_then(|l| l.body);
        let (mut q, mut v) = (joint.coordinate, joint.velocity);
        for kind in joint.spec.kind.simple() {
            let (rotation, position, directions, carried) = placed(&kind, &pose, q, v);
            (q, v) = (q + kind.coordinates(), v + kind.velocities());
            bodies.push(Moving { parent, rotation, position, directions, carried, mass: MassProperties::default() });
            (parent, pose) = (Some(bodies.len() - 1), Pose::default());
        }
        if let Some(body) = link.body {
            let own = link.mass.seen_from(&link.pose);
            bodies[body].mass = bodies[body].mass.joined(&own);
        }
    }
    bodies
}

/// Rotation, position, directions and whether slides are carried, of a simple joint at a pose, with coordinate `q` and velocity `v`.
fn placed(kind: &JointKind, pose: &Pose, q: usize, v: usize) -> (M, V, Vec<Direction>, bool) {
    let (still, o) = (pose.rotation, Vec3::zero());
    let unit = |k: usize| Vec3(std::array::from_fn(|i| f64::from(u8::from(i == k))));
    let position = |axis: Vec3<f64>, pitch: f64| {
        let along = still * axis * pitch;
        let shift = times(along, &P::symbol(Symbol::Coordinate(q)));
        add(&constant(pose.position), &shift)
    };
    match kind {
        JointKind::Revolute { axis } => {
            let axis = axis.normalized();
            (about(still, axis, q), constant(pose.position), vec![(axis, o, v)], false)
        }
        JointKind::Helical { axis, pitch } => {
            let axis = axis.normalized();
            (about(still, axis, q), position(axis, *pitch), vec![(axis, axis * *pitch, v)], false)
        }
        JointKind::Prismatic { axis } => {
            let axis = axis.normalized();
            (matrix(still), position(axis, 1.0), vec![(o, axis, v)], false)
        }
        JointKind::Free => {
            let x: V = std::array::from_fn(|k| P::symbol(Symbol::Coordinate(q + k)));
            let at = add(&constant(pose.position), &turn(&matrix(still), &x));
            let slides = (0..3).map(|k| (o, unit(k), v + k));
            let turns = (0..3).map(|k| (unit(k), o, v + 3 + k));
            (product(&matrix(still), &quaternion(q + 3)), at, slides.chain(turns).collect(), true)
        }
        _ => {
            let turns = (0..3).map(|k| (unit(k), o, v + k)).collect();
            (product(&matrix(still), &quaternion(q)), constant(pose.position), turns, false)
        }
    }
}

/// A constant rotation, then one about a unit axis: cos 1 + (1 − cos) u uᵀ + sin û.
fn about(still: Mat3<f64>, u: Vec3<f64>, q: usize) -> M {
    let (s, c) = (P::symbol(Symbol::Sine(q)), P::symbol(Symbol::Cosine(q)));
    let skew = Mat3::skew(u);
    let turn: M = std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let unit = f64::from(u8::from(i == j));
            P::constant(u[i] * u[j]) + &c.scaled(unit - u[i] * u[j]) + &s.scaled(skew.0[i][j])
        })
    });
    product(&matrix(still), &turn)
}

/// The rotation of a unit quaternion at coordinate `q`.
fn quaternion(q: usize) -> M {
    let [w, x, y, z] = [
        P::symbol(Symbol::Scalar(q)),
        P::symbol(Symbol::Coordinate(q + 1)),
        P::symbol(Symbol::Coordinate(q + 2)),
        P::symbol(Symbol::Coordinate(q + 3)),
    ];
    let two = |a: &P, b: &P| (a * b).scaled(2.0);
    let one = P::constant(1.0);
    [
        [one.clone() - &two(&y, &y) - &two(&z, &z), two(&x, &y) - &two(&w, &z), two(&x, &z) + &two(&w, &y)],
        [two(&x, &y) + &two(&w, &z), one.clone() - &two(&x, &x) - &two(&z, &z), two(&y, &z) - &two(&w, &x)],
        [two(&x, &z) - &two(&w, &y), two(&y, &z) + &two(&w, &x), one - &two(&x, &x) - &two(&y, &y)],
    ]
}

/// The inertia about the origin, by rows.
fn about_origin(p: &MassProperties) -> Mat3<f64> {
    let c = p.centre;
    Mat3(std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let unit = if i == j { c.norm_squared() } else { 0.0 };
            0.5 * (p.inertia.0[i][j] + p.inertia.0[j][i]) + p.mass * (unit - c[i] * c[j])
        })
    }))
}

fn zero() -> V {
    [P::default(), P::default(), P::default()]
}
fn constant(v: Vec3<f64>) -> V {
    v.0.map(P::constant)
}
fn matrix(m: Mat3<f64>) -> M {
    m.0.map(|row| row.map(P::constant))
}
fn times(v: Vec3<f64>, s: &P) -> V {
    v.0.map(|x| s.scaled(x))
}
fn scale(v: &V, s: f64) -> V {
    std::array::from_fn(|i| v[i].scaled(s))
}
fn add(a: &V, b: &V) -> V {
    std::array::from_fn(|i| a[i].clone() + &b[i])
}
fn dot(a: Vec3<f64>, b: &V) -> P {
    (0..3).fold(P::default(), |sum, i| sum + &b[i].scaled(a[i]))
}
fn cross(a: &V, b: &V) -> V {
    let entry = |i: usize, j: usize| &a[i] * &b[j] - &(&a[j] * &b[i]);
    [entry(1, 2), entry(2, 0), entry(0, 1)]
}
fn apply(m: &Mat3<f64>, v: &V) -> V {
    std::array::from_fn(|i| dot(Vec3(m.0[i]), v))
}
fn turn(m: &M, v: &V) -> V {
    std::array::from_fn(|i| (0..3).fold(P::default(), |sum, j| sum + &(&m[i][j] * &v[j])))
}
fn turn_back(m: &M, v: &V) -> V {
    std::array::from_fn(|i| (0..3).fold(P::default(), |sum, j| sum + &(&m[j][i] * &v[j])))
}
fn product(a: &M, b: &M) -> M {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).fold(P::default(), |sum, k| sum + &(&a[i][k] * &b[k][j]))))
}
