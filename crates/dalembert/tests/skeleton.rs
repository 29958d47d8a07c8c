//! Hydrostatic skeletons: volumes, muscles, assemblies and static equilibrium against closed forms and conservation laws.
#![allow(clippy::unwrap_used)]

use dalembert::assemblies::{Activation, Compartment, Compartments, Family, Grouping, Rest, Skeleton};
use dalembert::bodies::Particle;
use dalembert::check::{CONSTRAINT_LAWS, FORCE_LAWS, Random, try_law};
use dalembert::constraints::{AnyConstraint, Cell, Distance, Holonomic, Volume};
use dalembert::element::{About, Describe};
use dalembert::forces::{AnyForce, EdgeDrag, Force, ForceVelocity, Law, Muscle, Spring};
use dalembert::methods::vector::Vec3;
use dalembert::methods::{Jet, State, System, statics};
use dalembert::model::{Instant, Model, Orientation, Place, Wrench};
use dalembert::run::{Outcome, check, run};
use dalembert::scene::{Document, Limits, Overrides, Scene};
use dalembert::scenes;
use dalembert::signals::{Formula, Harmonic, Signal, SignalRef};

const EPSILON: f64 = f64::EPSILON;

fn scene(text: &str, set: &[&str]) -> Result<Scene, String> {
    let mut overrides = Overrides::none();
    for setting in set {
        overrides.push(*setting);
    }
    let document = Document::from_text("scene.toml", text, &overrides, &Limits::default());
    document.and_then(Scene::from_document).map_err(|error| error.plain())
}

fn built_in(name: &str, set: &[&str]) -> Scene {
    scene(scenes::find(name).unwrap().text, set).unwrap()
}

fn completed(scene: &Scene) -> Outcome {
    let outcome = run(scene, "test", None, &mut ()).unwrap();
    assert!(outcome.failure.is_none(), "{}", outcome.failure.unwrap());
    outcome
}

fn channel<'o>(outcome: &'o Outcome, name: &str) -> &'o [f64] {
    outcome.trajectory.column(name).unwrap_or_else(|| panic!("there is no channel {name}"))
}

fn largest_error(values: &[f64], value: f64) -> f64 {
    values.iter().fold(0.0, |max, x| max.max((x - value).abs()))
}

/// The corners of the unit cube, in the order of a hexahedron.
fn cube() -> [Vec3<f64>; 8] {
    std::array::from_fn(|i| Vec3([(i / 4) as f64, (i / 2 % 2) as f64, (i % 2) as f64]))
}

fn volume(corners: &[Vec3<f64>]) -> f64 {
    Cell::Hexahedron.volume(|i| corners[i])
}

#[test]
fn volumes_of_cells_with_closed_forms() {
    let near = |a: f64, b: f64| assert!((a - b).abs() <= 20.0 * EPSILON * b.abs(), "{a} {b}");
    near(volume(&cube()), 1.0);
    // An affine map multiplies the volume by its determinant: 2·3·4 here, whatever the shear.
    let map = |r: Vec3<f64>| Vec3([2.0 * r[0] + 0.7 * r[1] - 0.2 * r[2], 3.0 * r[1] + 0.4 * r[2], 4.0 * r[2]]);
    near(volume(&cube().map(map)), 24.0);
    // A face turned by θ: the section at ξ is a square scaled by |1 − ξ + ξ e^{iθ}|, so V = 1 − (1 − cos θ)/3.
    for angle in [0.3, 1.0, 0.5 * std::f64::consts::PI] {
        let (sin, cos) = f64::sin_cos(angle);
        let turn = |r: Vec3<f64>| {
            let (y, z) = (r[1] - 0.5, r[2] - 0.5);
            if r[0] > 0.5 { Vec3([1.0, cos * y - sin * z, sin * y + cos * z]) } else { Vec3([0.0, y, z]) }
        };
        near(volume(&cube().map(turn)), 1.0 - (1.0 - cos) / 3.0);
    }
    // A frustum of squares: h (a² + ab + b²)/3.
    let narrow = |r: Vec3<f64>| Vec3([5.0 * r[0], (3.0 - r[0]) * (r[1] - 0.5), (3.0 - r[0]) * (r[2] - 0.5)]);
    near(volume(&cube().map(narrow)), 5.0 * (9.0 + 6.0 + 4.0) / 3.0);
    // A corner of the cube as a tetrahedron.
    let corner = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    near(Cell::Tetrahedron.volume(|i| Vec3(corner[i])), 1.0 / 6.0);
}

/// ∫ det J by Gauss's rule with two points in each direction, which is exact: det J has degree 2 in each of them.
#[test]
fn volumes_and_gradients_of_random_cells() {
    let quadrature = |x: &[Vec3<f64>; 8]| {
        let g = [0.5 - 0.5 / 3f64.sqrt(), 0.5 + 0.5 / 3f64.sqrt()];
        let mut sum = 0.0;
        for (i, j, k) in (0..8).map(|n| (n / 4, n / 2 % 2, n % 2)) {
            let at = [g[i], g[j], g[k]];
            let mut columns = [Vec3::zero(); 3];
            for (n, &r) in x.iter().enumerate() {
                let bit = [n / 4, n / 2 % 2, n % 2];
                let shape = |axis: usize| if bit[axis] == 1 { at[axis] } else { 1.0 - at[axis] };
                let slope = |axis: usize| if bit[axis] == 1 { 1.0 } else { -1.0 };
                for (axis, column) in columns.iter_mut().enumerate() {
                    let others: f64 = (0..3).filter(|&a| a != axis).map(shape).product();
                    *column += r * (slope(axis) * others);
                }
            }
            sum += columns[0].dot(columns[1].cross(columns[2])) / 8.0;
        }
        sum
    };
    let mut random = Random::new(1);
    for _ in 0..100 {
        let x: [Vec3<f64>; 8] = std::array::from_fn(|i| cube()[i] + random.vector() * 0.4);
        assert!((volume(&x) - quadrature(&x)).abs() <= 50.0 * EPSILON, "{} {}", volume(&x), quadrature(&x));
        // A cubic polynomial along a line: central differences are exact but for h² V‴/6, here without a cubic part.
        for corner in 0..8 {
            let (gradient, way) = (Cell::Hexahedron.gradient(|i| x[i], corner), random.vector());
            let moved = |h: f64| {
                let mut x = x;
                x[corner] += way * h;
                volume(&x)
            };
            let slope = moved(0.5) - moved(-0.5);
            assert!((gradient.dot(way) - slope).abs() <= 50.0 * EPSILON, "{} {slope}", gradient.dot(way));
        }
    }
}

#[test]
fn other_forms_of_volumes_and_muscles_keep_the_laws() {
    let breath = Harmonic { amplitude: 0.2, frequency: Some(0.6), offset: 0.9, ..Harmonic::default() };
    let volumes = [
        Volume::new(Some(0.3.into()), Cell::Tetrahedron),
        Volume::new(Some(SignalRef::new("breath", Signal::Harmonic(breath))), Cell::Hexahedron),
    ];
    for volume in volumes {
        let constraint: Box<dyn AnyConstraint> = Box::new(Holonomic(volume));
        for law in CONSTRAINT_LAWS {
            try_law(law, &*constraint, 7).unwrap_or_else(|v| panic!("law of {}: {v}", law.name));
        }
    }
    let active = Law::Energy(Formula::new("3*s^2 - s^3").unwrap());
    let muscles = [
        Muscle { stiffness: 0.0.into(), active: Some(active), ..Muscle::sample() },
        Muscle { passive: None, force_velocity: None, ..Muscle::sample() },
    ];
    for muscle in muscles {
        let force: Box<dyn AnyForce> = Box::new(muscle);
        for law in FORCE_LAWS {
            try_law(law, &*force, 7).unwrap_or_else(|v| panic!("law of {}: {v}", law.name));
        }
    }
}

/// Tension of a muscle of length `length` along x whose second end moves with `rate`.
fn tension(muscle: &Muscle, length: f64, rate: f64) -> f64 {
    let place = |x: f64, v: f64| Place { r: Vec3([x, 0.0, 0.0]), v: Vec3([v, 0.0, 0.0]), ..Place::default() };
    let mut out = [Wrench::default(); 2];
    Force::apply(
        muscle,
        &Instant { t: 0.0, x: &[], p: &[], signals: &[] },
        &[place(0.0, 0.0), place(length, rate)],
        &mut out,
    );
    assert_eq!(out[0].force, -out[1].force);
    out[0].force[0]
}

#[test]
fn tensions_of_muscles() {
    // Equation (2) of the document: a k (l − L) + d l̇.
    let linear = Muscle::linear(16.0, 1.7, 0.1, 0.75.into());
    assert!((tension(&linear, 2.0, 0.5) - (0.75 * 16.0 * 0.3 + 0.05)).abs() < 10.0 * EPSILON);
    // Hill: (T + a)(u + b) = (T₀ + a) b with a = κ T₀, b = κ v_max; no tension at v_max, none beyond.
    let curve = ForceVelocity { maximum_velocity: 2.0, curvature: 0.25, lengthening: 1.5 };
    let hill = Muscle { force_velocity: Some(curve), damping: 0.0.into(), ..linear };
    let most = tension(&hill, 2.0, 0.0);
    assert!((most - 3.6).abs() < 10.0 * EPSILON * 4.0);
    for u in [0.1, 0.7, 1.9] {
        let product = (tension(&hill, 2.0, -u) + 0.25 * most) * (u + 0.5);
        assert!((product - 1.25 * most * 0.5).abs() < 20.0 * EPSILON * most, "{u}");
    }
    assert_eq!(tension(&hill, 2.0, -2.0), 0.0);
    assert_eq!(tension(&hill, 2.0, -5.0), 0.0);
    // Fast lengthening tends to e T₀; both branches meet at zero with the slope (1 + 1/κ)/v_max.
    assert!((tension(&hill, 2.0, 1e9) / most - 1.5).abs() < 1e-8);
    for at in [-1e-300, 0.0, 1e-300] {
        let slope = curve.factor(Jet::<f64, 1>::variable(at, 0)).eps[0];
        assert!((slope - 2.5).abs() < 10.0 * EPSILON, "{at}: {slope}");
    }
}

/// Edges feel −(c_n across + c_t along) l u when they move without turning; a rod that turns about its middle feels c_n Ω l³/12.
#[test]
fn drag_on_edges() {
    let drag = EdgeDrag { normal: 3.0.into(), tangential: 2.0.into(), ..EdgeDrag::default() };
    let forces = |v: [[f64; 3]; 2]| {
        let place = |x: f64, v: [f64; 3]| Place { r: Vec3([x, 0.0, 0.0]), v: Vec3(v), ..Place::default() };
        let mut out = [Wrench::default(); 2];
        let now = Instant { t: 0.0, x: &[], p: &[], signals: &[] };
        Force::apply(&drag, &now, &[place(-2.0, v[0]), place(2.0, v[1])], &mut out);
        out.map(|wrench| wrench.force)
    };
    let total = |v| forces([v, v])[0] + forces([v, v])[1];
    assert!((total([0.5, 0.0, 0.0]) - Vec3([-4.0, 0.0, 0.0])).norm() < 20.0 * EPSILON * 4.0);
    assert!((total([0.0, 0.5, 0.0]) - Vec3([0.0, -6.0, 0.0])).norm() < 20.0 * EPSILON * 6.0);
    let [left, right] = forces([[0.0, -2.0, 0.0], [0.0, 2.0, 0.0]]);
    let moment = 2.0 * (right[1] - left[1]);
    assert!((moment + 3.0 * 1.0 * 64.0 / 12.0).abs() < 20.0 * EPSILON * 16.0, "{moment}");
}

/// A pendulum comes to hang, whichever side it starts from; doubled rods are no obstacle.
#[test]
fn a_pendulum_hangs() {
    for (start, rods) in [([1.0, 0.0, 0.1], 1), ([0.6, 0.0, 0.8], 1), ([0.0, 0.8, 0.6], 2)] {
        let mut b = Model::builder();
        b.gravity([0.0, 0.0, -9.81]);
        let bob = b.body("bob", Particle { mass: 2.0, position: start, velocity: [0.0; 3] });
        let ground = b.ground();
        let ends = [b.point("", ground, [0.0; 3]), b.point("", bob, [0.0; 3])];
        for i in 0..rods {
            b.constraint(&format!("rod{i}"), Distance { length: 1.0 }, ends);
        }
        let model = b.build().unwrap();
        let mut s = model.initial_state();
        let found = statics::equilibrium(&model, &mut s, 1e-12).unwrap();
        assert!((Vec3([s.q[0], s.q[1], s.q[2]]) - Vec3([0.0, 0.0, -1.0])).norm() < 1e-9, "{:?}", s.q);
        assert!((found.multipliers.iter().sum::<f64>() - 2.0 * 9.81).abs() < 1e-8, "{:?}", found.multipliers);
    }
}

/// Without a spring to hold it, a weight has no equilibrium, and the error names it.
#[test]
fn a_falling_weight_has_no_equilibrium() {
    let mut b = Model::builder();
    b.gravity([0.0, 0.0, -9.81]);
    b.body("stone", Particle { mass: 2.0, position: [0.0; 3], velocity: [0.0; 3] });
    let model = b.build().unwrap();
    let error = statics::equilibrium(&model, &mut model.initial_state(), 1e-12).unwrap_err().to_string();
    assert!(error.contains("static equilibrium") && error.contains("stone"), "{error}");
}

/// The leech of the notes: five segments, masses 0.01, k = 16, volume 5.5.
fn leech() -> Skeleton {
    Skeleton {
        longitudinal: Some(Family::linear(16.0, 1.7, 0.1, Activation::Number(1.0))),
        circular: Some(Family::linear(16.0, 0.05, 0.1, Activation::Number(0.75))),
        corner_mass: Some(0.01),
        volume: Some(5.5.into()),
        shape: Rest::Equilibrium,
        ..Skeleton::new(5, 9.0, [0.39, 0.39])
    }
}

fn model_of(skeleton: &Skeleton) -> Model {
    let mut b = Model::builder();
    b.assembly("leech", skeleton, 0.0).unwrap();
    b.build().unwrap()
}

/// The same equilibrium by another route: all faces are squares of side b across a straight axis. The unknowns are six
/// sides, five distances and the pressure; Newton's method with differenced second derivatives of L = U − p (V − V₀).
fn symmetric_equilibrium() -> ([f64; 6], f64, f64) {
    let lagrangian = |z: &[f64; 12]| {
        let mut l = 0.0;
        for side in &z[..6] {
            l += 4.0 * 0.5 * 12.0 * (side - 0.05f64).powi(2);
        }
        let mut volume = 0.0;
        for j in 0..5 {
            let (a, b, h) = (z[j], z[j + 1], z[6 + j]);
            let edge = (h * h + 0.5 * (a - b) * (a - b)).sqrt();
            l += 4.0 * 0.5 * 16.0 * (edge - 1.7).powi(2);
            volume += h * (a * a + a * b + b * b) / 3.0;
        }
        l - z[11] * (volume - 5.5)
    };
    // Fourth differences of step 1e-3 have an error of about 1e-12 in gradients.
    let gradient = |z: &[f64; 12]| -> [f64; 12] {
        std::array::from_fn(|i| {
            let h = 1e-3;
            let at = |k: f64| {
                let mut z = *z;
                z[i] += k * h;
                lagrangian(&z)
            };
            (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * h)
        })
    };
    let mut z = [0.78, 0.78, 0.78, 0.78, 0.78, 0.78, 1.8, 1.8, 1.8, 1.8, 1.8, 13.0];
    for _ in 0..30 {
        let g = gradient(&z);
        let mut a = [[0.0; 13]; 12];
        for i in 0..12 {
            let (mut up, mut down) = (z, z);
            up[i] += 1e-4;
            down[i] -= 1e-4;
            let (up, down) = (gradient(&up), gradient(&down));
            for j in 0..12 {
                a[j][i] = (up[j] - down[j]) / 2e-4;
            }
            a[i][12] = -g[i];
        }
        for k in 0..12 {
            let pivot = (k..12).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
            a.swap(k, pivot);
            for i in k + 1..12 {
                let factor = a[i][k] / a[k][k];
                for j in k..13 {
                    a[i][j] -= factor * a[k][j];
                }
            }
        }
        let mut step = [0.0; 12];
        for k in (0..12).rev() {
            let known: f64 = (k + 1..12).map(|j| a[k][j] * step[j]).sum();
            step[k] = (a[k][12] - known) / a[k][k];
            z[k] += step[k];
        }
    }
    (std::array::from_fn(|i| z[i]), z[6..11].iter().sum(), z[11])
}

#[test]
fn the_leech_of_the_notes_is_in_equilibrium() {
    let (sides, length, pressure) = symmetric_equilibrium();
    assert!((length - 9.02).abs() < 0.005 && (pressure - 12.96).abs() < 0.005, "{length} {pressure}");
    let model = model_of(&leech());
    let mut s = model.initial_state();
    // The difference quotients of the other route leave about 1e-10.
    assert!((s.q[3 * 20] - s.q[0] - length).abs() < 1e-8, "{} {length}", s.q[3 * 20] - s.q[0]);
    for (face, side) in sides.iter().enumerate() {
        let corner = &s.q[12 * face..12 * face + 3];
        assert!((corner[1] + side / 2.0).abs() < 1e-8 && (corner[2] + side / 2.0).abs() < 1e-8, "{corner:?} {side}");
    }
    let found = statics::equilibrium(&model, &mut s, 1e-12).unwrap();
    assert_eq!(found.iterations, 0);
    assert!((found.multipliers[0] - pressure).abs() < 1e-7, "{} {pressure}", found.multipliers[0]);
}

/// Turned, shifted and given another first guess, the body finds the same shape.
#[test]
fn equilibrium_does_not_depend_on_where_and_how_it_is_sought() {
    let lengths = |model: &Model| -> Vec<f64> {
        let q = model.initial_state().q;
        let corner = |i: usize| Vec3([q[3 * i], q[3 * i + 1], q[3 * i + 2]]);
        (0..20).map(|i| (corner(i + 4) - corner(i)).norm()).collect()
    };
    let here = lengths(&model_of(&leech()));
    let turned = Skeleton {
        orientation: Orientation::AxisAngle { axis: [1.0, 2.0, -0.5], angle: 1.1 },
        position: [3.0, -2.0, 7.0],
        half_widths: Some([0.5, 0.33]),
        length: Some(7.0),
        ..leech()
    };
    for (a, b) in here.iter().zip(lengths(&model_of(&turned))) {
        assert!((a - b).abs() < 1e-8, "{a} {b}");
    }
}

#[test]
fn a_free_leech_keeps_volume_momentum_and_the_ledger() {
    let scene = built_in("leech-free", &[]);
    let outcome = completed(&scene);
    let worst = |name: &str, value: f64| largest_error(channel(&outcome, name), value);
    // Rows between steps are projected to rounding; the last row is the end of a step, which is left alone if its residual is below a
    // hundredth of the tolerance (relative to positions of about 15 m, times surfaces of about 15 m²).
    let (last, rows) = channel(&outcome, "constraint.leech_volume.volume").split_last().unwrap();
    assert!(largest_error(rows, 5.5) <= 1e-12 * 5.5, "{}", largest_error(rows, 5.5));
    assert!((last - 5.5).abs() <= 0.01 * scene.run.tolerance * 15.0 * 15.0, "{last}");
    // 24 corners of 0.01 kg at −10 m/s; inner forces and projections add nothing but rounding.
    for axis in ["x", "z"] {
        assert!(worst(&format!("momentum.linear.{axis}"), -2.4) < 1e-12 * 2.4);
    }
    let pressure = channel(&outcome, "constraint.leech_volume.pressure");
    assert!((pressure[0] - 12.96).abs() < 0.005, "{}", pressure[0]);
    // The pulse supplies energy, and the body has become longer meanwhile.
    assert!(*channel(&outcome, "energy.supplied").last().unwrap() != 0.0);
    let (front, end) =
        (channel(&outcome, "body.leech_corner0_1.position.x"), channel(&outcome, "body.leech_corner5_1.position.x"));
    assert!(front.iter().zip(end).map(|(a, b)| b - a).fold(0.0, f64::max) > 9.5);
    let tension = channel(&outcome, "force.leech_longitudinal1_1.tension");
    assert!(tension[0] > 0.0 && channel(&outcome, "force.leech_longitudinal1_1.length")[0] > 1.7);
    assert!((channel(&outcome, "force.leech_circular0_1.activation")[0] - 0.75).abs() < 1e-6);
}

#[test]
fn the_leech_of_21_segments_has_549_unknowns() {
    let scene = built_in("leech-21", &["run.until=0.3"]);
    let shape = scene.model.shape();
    assert_eq!((shape.q, shape.v, shape.g, shape.q + shape.v + shape.g), (264, 264, 21, 549));
    let outcome = completed(&scene);
    for j in 1..=21 {
        let volumes = channel(&outcome, &format!("constraint.leech_volume{j}.volume"));
        let (last, rows) = volumes.split_last().unwrap();
        assert!(largest_error(rows, rows[0]) <= 1e-12 * rows[0], "segment {j}: {}", largest_error(rows, rows[0]));
        // As above, with positions up to 38 m.
        assert!((last - rows[0]).abs() <= 0.01 * scene.run.tolerance * 40.0 * 4.0, "segment {j}: {last} {}", rows[0]);
    }
}

/// The mean velocity along x from the second period on.
fn progress(set: &[&str]) -> f64 {
    let outcome = completed(&built_in("swimming", set));
    let middle: Vec<f64> = {
        let columns: Vec<&[f64]> = (0..=8)
            .flat_map(|f| (1..=4).map(move |k| format!("body.leech_corner{f}_{k}.position.x")))
            .map(|name| channel(&outcome, &name))
            .collect();
        (0..columns[0].len()).map(|i| columns.iter().map(|c| c[i]).sum::<f64>() / 36.0).collect()
    };
    let time = channel(&outcome, "time");
    let first = time.iter().position(|&t| t >= 1.0 - 1e-9).unwrap();
    (middle[middle.len() - 1] - middle[first]) / (time[time.len() - 1] - time[first])
}

/// Drag that differs along and across makes a wave drive the body against its direction; equal drag does not.
#[test]
fn swimming_needs_anisotropic_drag_and_reverses_with_the_wave() {
    let (forwards, backwards, isotropic) =
        (progress(&[]), progress(&["parameters.waves=-1"]), progress(&["parameters.along=0.4"]));
    println!("{forwards} {backwards} {isotropic}");
    assert!(forwards < -0.05, "{forwards}");
    assert!((forwards + backwards).abs() < 1e-3 * forwards.abs(), "{forwards} {backwards}");
    assert!(isotropic.abs() < 0.05 * forwards.abs(), "{isotropic} {forwards}");
}

#[test]
fn everything_has_the_name_it_should_have() {
    let skeleton = Skeleton {
        dorsoventral: Some(Family::linear(1.0, 0.1, 0.0, Activation::Number(0.5))),
        oblique: Some(Family::linear(1.0, 0.1, 0.0, Activation::wave("0.5 + 0.1*y*z*sin(t - s)"))),
        drag: Some(EdgeDrag::default()),
        compartments: Compartments::List(vec![
            Compartment { name: "head".into(), first: 1, last: 2, volume: None },
            Compartment { name: "tail".into(), first: 3, last: 5, volume: Some(3.0.into()) },
        ]),
        volume: None,
        shape: Rest::Given,
        ..leech()
    };
    let model = model_of(&skeleton);
    assert_eq!(model.bodies().len(), 1 + 24);
    let count = |part: &str| model.forces().iter().filter(|f| f.name.starts_with(&format!("leech_{part}"))).count();
    assert_eq!(["longitudinal", "circular", "dorsoventral", "oblique", "drag"].map(count), [20, 24, 12, 40, 20]);
    let names: Vec<&str> = model.constraints().iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["leech_head", "leech_tail"]);
    let ends = |name: &str| {
        let force = model.forces().iter().find(|f| f.name == name).unwrap();
        let names: Vec<&str> = force.markers.iter().map(|&m| model.markers()[m].name.as_str()).collect();
        names.join(" ")
    };
    assert_eq!(ends("leech_longitudinal1_3"), "leech_corner0_3 leech_corner1_3");
    assert_eq!(ends("leech_circular5_2"), "leech_corner5_2 leech_corner5_4");
    assert_eq!(ends("leech_circular5_3"), "leech_corner5_4 leech_corner5_3");
    // Muscles with the same activation share a signal: in each segment obliques of two sides have y z = 0.
    assert!(model.signals().iter().all(|s| s.item.kind() == "expression" && s.name.starts_with("leech_activation")));
}

/// Each corner gets an eighth of the segments it belongs to: one at the ends, two between.
#[test]
fn masses_come_from_density_and_volume() {
    let skeleton = Skeleton {
        corner_mass: None,
        density: Some(800.0),
        volume: None,
        shape: Rest::Given,
        ..Skeleton { longitudinal: None, circular: None, ..leech() }
    };
    let model = model_of(&skeleton);
    let segment = 800.0 * 1.8 * 0.78 * 0.78;
    for (i, body) in model.bodies().iter().skip(1).enumerate() {
        let share = if (4..20).contains(&i) { 2.0 } else { 1.0 };
        let expected = segment * share / 8.0;
        assert!((body.item.total_mass() - expected).abs() < 1e-12 * expected);
    }
}

/// What a whole body costs grows with its length and not with its square: blocks, couplings and directions of tangents.
#[test]
fn long_bodies_keep_a_sparse_structure() {
    for n in [10, 40, 160] {
        let skeleton =
            Skeleton { shape: Rest::Given, volume: None, length: Some(1.8 * n as f64), segments: n, ..leech() };
        let model = model_of(&skeleton);
        assert_eq!(model.row_blocks().len(), 4 * (n + 1));
        let coupling = model.coupling();
        assert!(coupling.neighbours.iter().all(|neighbours| neighbours.len() <= 12));
        let compression = dalembert::methods::tangent::Compression::of(&coupling, &[]);
        assert!(compression.directions.len() <= 60, "{}", compression.directions.len());
    }
}

/// A long body with one volume stays even where K_C C w > 4 K_L (l − L)²; its middle then meets the closed form of a segment,
/// p = 4 K_L (l − L)/w² = 2 K_C (w − C)/(l w), because the ends are felt e^(−1.5) less in each segment further away.
#[test]
fn long_bodies_with_stiff_rings_stay_even() {
    let (longitudinal, rest, circular, ring) = (16.0, 1.7, 12.0, 0.3);
    let text = format!(
        "[assembly.leech]\nkind = \"skeleton\"\nsegments = 60\nlength = 107\nhalf_widths = [0.39, 0.39]\ncorner_mass = 0.01\n\
             volume = 66\nshape = \"equilibrium\"\n\
             longitudinal = {{ stiffness = {longitudinal}, rest_length = {rest}, damping = 0.1, activation = 1 }}\n\
             circular = {{ stiffness = 16, rest_length = {ring}, damping = 0.1, activation = 0.75 }}\n[run]\nuntil = 1\n"
    );
    let model = scene(&text, &[]).unwrap().model;
    let q = model.initial_state().q;
    let corner = |face: usize, k: usize| Vec3::from_slice(&q[12 * face + 3 * k..]);
    let (l, w) = ((corner(31, 0) - corner(30, 0)).norm(), (corner(30, 2) - corner(30, 0)).norm());
    assert!(circular * ring * w > 4.0 * longitudinal * (l - rest).powi(2));
    let pressures = [4.0 * longitudinal * (l - rest) / (w * w), 2.0 * circular * (w - ring) / (l * w)];
    // Forces are left over that would move the stiffest direction by 1e-12 of 107 m; stiffnesses here lie within a factor of ten.
    assert!((pressures[0] - pressures[1]).abs() < 1e-8 * pressures[0], "{pressures:?}");
    for face in [20, 40] {
        let other = (corner(face, 2) - corner(face, 0)).norm();
        assert!((other - w).abs() < 1e-9, "{other} {w}");
    }
}

/// A scene with an assembly, written with everything made, gives the same model; users attach to corners by name.
#[test]
fn a_scene_with_a_skeleton_survives_writing() {
    let text = r#"
[assembly.worm]
kind = "skeleton"
segments = 2
length = 2
half_widths = [0.3, 0.4]
taper = { positions = [0, 1], factors = [1, 0.5], interpolation = "linear" }
density = 10
compartments = [{ name = "head", first = 1, last = 1 }, { name = "tail", first = 2, last = 2 }]
[assembly.worm.longitudinal]
stiffness = 5
rest_factor = 0.8
activation = { expression = "0.5 - 0.2*z*cos(k*t - 3*s)", k = 4 }
[body.plate]
kind = "rigid"
mass = 1
inertia = [1, 1, 1]
position = [0, 0, -0.4]
[force.leash]
kind = "spring"
between = ["worm_corner0_1", "plate"]
stiffness = 3
[run]
until = 0.1
"#;
    let first = scene(text, &[]).unwrap();
    let written = first.to_toml();
    let second = scene(&written, &[]).unwrap();
    assert_eq!(written, second.to_toml());
    assert_eq!(first.model.initial_state(), second.model.initial_state());
    let end = |scene: &Scene| -> State<f64> {
        let outcome = completed(scene);
        let end = outcome.summary.final_state;
        State { t: end.time, q: end.q, v: end.v, ..State::default() }
    };
    assert_eq!(end(&first), end(&second));
}

#[test]
fn what_cannot_start_is_named() {
    let mut wrong = Vec::new();
    let mut fails = |text: &str, parts: &[&str]| {
        let message = match scene(text, &[]) {
            Err(message) => message,
            Ok(scene) => match check(&scene) {
                Err(error) => error.place(&scene).map_or_else(|| error.to_string(), |error| error.plain()),
                Ok(_) => format!("accepted:\n{text}"),
            },
        };
        let missing = parts.iter().filter(|part| !message.contains(**part));
        wrong.extend(missing.map(|part| format!("`{part}` is not in:\n{message}\n")));
    };
    let body = |more: &str| {
        format!("[assembly.worm]\nkind = \"skeleton\"\nsegments = 2\nlength = 2\ncorner_mass = 1\n{more}\n")
    };
    let muscles = "longitudinal = { stiffness = 5, rest_length = 0.5, activation = 0.5 }";
    // A segment turned inside out.
    let section = "section = [[1, -1], [1, 1], [-1, -1], [-1, 1]]";
    fails(&body(section), &["worm_volume", "cell 1", "inside out"]);
    fails(&body(&format!("{section}\nshape = \"equilibrium\"\n{muscles}")), &["worm_volume", "cell 1", "inside out"]);
    // Volumes that do not fit the shape, or each other.
    let square = "half_widths = [0.5, 0.5]";
    fails(&body(&format!("{square}\nvolume = 3")), &["worm_volume", "violates"]);
    let twice = "compartments = [{ name = \"a\", first = 1, last = 2, volume = 2 }, { name = \"b\", first = 1, last = 2, volume = 2.5 }]";
    fails(&format!("{}[run]\ninitial = \"project\"\n", body(&format!("{square}\n{twice}"))), &["worm_", "contradicts"]);
    fails(&body(&format!("{square}\nvolume = -1")), &["volume", "positive"]);
    let outside = "compartments = [{ name = \"a\", first = 1, last = 3 }]";
    fails(&body(&format!("{square}\n{outside}")), &["compartment `a`", "1 to 2"]);
    // Edges of length zero.
    let flat = "section = [[-1, 0], [-1, 0], [1, -1], [1, 1]]\ncircular = { stiffness = 1, activation = 1 }";
    fails(&body(flat), &["worm_circular0_1", "length zero"]);
    // Activations out of range, unknown signals, wrong expressions.
    let lively = muscles.replace("0.5 }", "1.5 }");
    fails(&body(&format!("{square}\n{lively}")), &["worm_longitudinal1_1", "between 0 and 1"]);
    let unknown = muscles.replace("activation = 0.5", "activation = \"twitch\"");
    fails(&body(&format!("{square}\n{unknown}")), &["worm", "no signal `twitch`"]);
    let faulty = muscles.replace("activation = 0.5", "activation = { expression = \"sin(q)\" }");
    fails(&body(&format!("{square}\n{faulty}")), &["worm", "`q`"]);
    // Numbers that make no body.
    fails(&body("half_widths = [0.5, 0]"), &["half widths", "positive"]);
    fails(&body(&format!("{square}\ntaper = \"1 - s\"")), &["taper", "s = 1"]);
    fails(&body(&format!("{square}\ndensity = 2")), &["density", "corner_mass"]);
    fails(&body(&format!("{square}\nsegment = 2")), &["segment"]);
    // No equilibrium: nothing holds the fluid together sideways.
    let loose = format!("{square}\nshape = \"equilibrium\"\n{muscles}");
    fails(&body(&loose), &["worm", "equilibrium"]);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn grouping_each_shares_a_given_volume() {
    let skeleton = Skeleton {
        compartments: Compartments::Common(Grouping::Each),
        taper: Some(dalembert::assemblies::Taper::Formula(Formula::new("1 - s/2").unwrap())),
        ..leech()
    };
    let model = model_of(&skeleton);
    let volumes: Vec<f64> =
        model.constraints().iter().map(|c| c.item.parameters()["volume"].as_f64().unwrap()).collect();
    assert!((volumes.iter().sum::<f64>() - 5.5).abs() < 1e-14 * 5.5);
    assert!(volumes.windows(2).all(|pair| pair[1] < pair[0]));
}

/// Fluid that is pumped in at pressure p does the work p V̇: the ledger of a body whose volume follows a signal closes.
#[test]
fn a_volume_that_follows_a_signal_supplies_work() {
    let mut b = Model::builder();
    let pump = b.signal("pump", Signal::expression("5.5 + 0.4*t^3").unwrap());
    let skeleton = Skeleton { volume: Some(pump), ..leech() };
    b.assembly("leech", &skeleton, 0.0).unwrap();
    let mut scene = Scene::new(b.build().unwrap());
    scene.run.until = 1.0;
    scene.run.tolerance = 1e-9;
    let outcome = completed(&scene);
    let volumes = channel(&outcome, "constraint.leech_volume.volume");
    assert!((volumes[volumes.len() - 1] - 5.9).abs() < 1e-11);
    let supplied = *channel(&outcome, "energy.supplied").last().unwrap();
    assert!(supplied > 12.9 * 0.4 && supplied < 20.0 * 0.4, "{supplied}");
}

/// A spring to a corner is an ordinary spring.
#[test]
fn rust_users_attach_to_corners() {
    let mut b = Model::builder();
    let corners = b.assembly("leech", &Skeleton { shape: Rest::Given, volume: None, ..leech() }, 0.0).unwrap();
    let ground = b.ground();
    let hook = b.point("hook", ground, [0.0, 0.0, 1.0]);
    b.force("leash", Spring::sample(), [hook, corners.faces[0][3]]);
    let model = b.build().unwrap();
    let leash = model.forces().last().unwrap();
    assert_eq!(model.markers()[leash.markers[1]].name, "leech_corner0_4");
}
