//! Materials: stress against closed forms, viscosity, contraction, and small oscillations of the free body.

use dalembert::bodies::Affine;
use dalembert::check::{FORCE_LAWS, Random, try_law};
use dalembert::constraints::Incompressible;
use dalembert::forces::{AnyForce, Elastic};
use dalembert::materials::{
    Contraction, Driven, Freedom, Material, MooneyRivlin, NeoHookean, Ogden, SaintVenantKirchhoff, Stretch,
};
use dalembert::methods::dynamics::{Dynamics, Rates};
use dalembert::methods::vector::Mat3;
use dalembert::methods::{State, System};
use dalembert::model::Model;
use dalembert::shapes::{Ball, Brick, Form, Shape};
use dalembert::signals::{Harmonic, Signal, SignalRef};

const EPSILON: f64 = f64::EPSILON;

fn materials() -> Vec<Material> {
    vec![
        Material::NeoHookean(NeoHookean { modulus: 1.5 }),
        Material::MooneyRivlin(MooneyRivlin { first: 1.1, second: 0.4 }),
        Material::Ogden(Ogden { terms: vec![[1.7, 1.3], [-0.2, -2.1], [0.3, 4.5]] }),
        Material::SaintVenantKirchhoff(SaintVenantKirchhoff { lame: 2.0, shear: 1.5 }),
    ]
}

/// Stretches along the axes: φ as a function of the stretches, written out by hand.
#[test]
fn energies_of_stretches() {
    for [a, b, c] in [[1.0, 1.0, 1.0], [1.3, 0.8, 1.1], [2.5, 0.5, 0.7], [0.4, 1.9, 1.9]] {
        let f = Mat3::diagonal([a, b, c]);
        let squares = [a * a, b * b, c * c];
        let one: f64 = squares.iter().sum();
        let two = squares[0] * squares[1] + squares[1] * squares[2] + squares[2] * squares[0];
        let strain = squares.map(|x| 0.5 * (x - 1.0));
        let by_hand = [
            1.5 * (one - 3.0),
            1.1 * (one - 3.0) + 0.4 * (two - 3.0),
            [[1.7, 1.3], [-0.2, -2.1], [0.3, 4.5f64]]
                .iter()
                .map(|[m, e]| m / e * (a.powf(*e) + b.powf(*e) + c.powf(*e) - 3.0))
                .sum(),
            strain.iter().sum::<f64>().powi(2) + 1.5 * strain.iter().map(|e| e * e).sum::<f64>(),
        ];
        for (material, expected) in materials().iter().zip(by_hand) {
            let found = material.energy(&f, None);
            // Ogden by 50 matrix operations at a condition number of a few hundred; the others by a few sums.
            assert!(
                (found - expected).abs() <= 1e5 * EPSILON * (1.0 + expected.abs()),
                "{material:?}: {found} {expected}"
            );
        }
    }
}

/// Frame indifference makes the Cauchy stress symmetric; the reference is free of stress with a bulk modulus, and small strains have the shear
/// modulus that the material says.
#[test]
fn stresses() {
    let mut random = Random::new(5);
    for material in &materials() {
        let bulk = (!matches!(material, Material::SaintVenantKirchhoff(_))).then_some(4.0);
        let (_, rest) = material.stress(&Mat3::<f64>::identity(), bulk);
        assert!(rest.0.as_flattened().iter().all(|s| s.abs() < 1e4 * EPSILON), "{material:?}: {rest:?}");
        for _ in 0..20 {
            let f = Mat3(std::array::from_fn(|i| {
                std::array::from_fn(|j| f64::from(u8::from(i == j)) + 0.3 * random.number())
            }));
            let (_, p) = material.stress(&f, bulk);
            let cauchy = p * f.transposed();
            for (i, j) in [(0, 1), (0, 2), (1, 2)] {
                let off = (cauchy.0[i][j] - cauchy.0[j][i]).abs();
                assert!(off <= 1e5 * EPSILON * 20.0, "{material:?}: {off:e}");
            }
        }
        let h = 1e-5;
        let shear = |h: f64| {
            let mut f = Mat3::identity();
            f.0[0][1] = h;
            material.stress(&f, bulk).1.0[0][1]
        };
        let slope = (shear(h) - shear(-h)) / (2.0 * h);
        // Truncation h² times third derivatives of order ten, rounding of the stress over h.
        assert!((slope / material.shear_modulus() - 1.0).abs() < 1e-8, "{material:?}: {slope}");
    }
}

/// The laws of mechanics for every form: materials, contraction by a matrix, in space, driven in all freedoms.
#[test]
fn every_form_keeps_the_laws() {
    let wave = |offset: f64, amplitude: f64| {
        let harmonic = Harmonic { amplitude, frequency: Some(0.3), phase: 0.2, offset, ..Harmonic::default() };
        SignalRef::new("wave", Signal::Harmonic(harmonic))
    };
    let mut forms = Vec::new();
    for material in materials() {
        forms.push(Elastic { viscosity: 0.3, ..Elastic::new(0.8, material) });
    }
    let soft = Elastic { viscosity: 0.4, ..Elastic::new(0.7, Material::NeoHookean(NeoHookean { modulus: 3.0 })) };
    let matrix = [
        [wave(1.0, 0.1), 0.1.into(), 0.0.into()],
        [0.0.into(), wave(1.1, 0.2), 0.1.into()],
        [0.05.into(), 0.0.into(), wave(0.9, 0.1)],
    ];
    forms.push(Elastic { contraction: Some(Contraction::Matrix(matrix)), resistance: 0.2, ..soft.clone() });
    let stretch = Stretch {
        stretch: wave(1.1, 0.2),
        axis: [0.2.into(), wave(0.3, 0.1), 1.0.into()],
        normal: None,
        angle: 0.0.into(),
    };
    forms.push(Elastic { contraction: Some(Contraction::Stretch(stretch)), ..soft.clone() });
    for (freedom, normal) in [
        (Freedom::Axis, Some([0.0, 1.0, 0.0])),
        (Freedom::Axis, None),
        (Freedom::Isochoric, Some([0.1, 1.0, 0.0])),
        (Freedom::Isochoric, None),
        (Freedom::Free, None),
    ] {
        let driven = Driven {
            couple: Some(wave(0.5, 1.0)),
            couples: None,
            resistance: 2.0,
            axis: [0.1, 0.0, 1.0],
            normal,
            freedom,
        };
        forms.push(Elastic { contraction: Some(Contraction::Driven(driven)), ..soft.clone() });
    }
    for form in forms {
        let force: Box<dyn AnyForce> = Box::new(form.clone());
        for law in FORCE_LAWS {
            // Random gradients may be nearly singular, where a viscous stress has large derivatives; law by law the bound grows with them.
            try_law(law, &*force, 1743).unwrap_or_else(|v| panic!("{form:?}, law of {}: {v}", law.name));
        }
    }
}

fn free_body(shape: Form, material: &Material, incompressible: bool, bulk: Option<f64>) -> Model {
    let shape = Shape::try_from(shape).unwrap();
    let volume = shape.solid().volume;
    let mut b = Model::builder();
    let body = b.body("blob", Affine::new(shape, 2.0));
    let frame = b.affine_frame(body);
    b.force("material", Elastic { bulk, ..Elastic::new(volume, material.clone()) }, frame);
    if incompressible {
        b.constraint("volume", Incompressible { volume, contraction: None }, frame);
    }
    b.build().unwrap()
}

/// ∇p̈ = −ω² ε for a small deformation ε along a mode: ω² from the accelerations.
fn frequency(model: &Model, mode: Mat3<f64>) -> f64 {
    let h = 1e-5;
    let mut s: State<f64> = model.initial_state();
    for (q, e) in s.q[3..].iter_mut().zip(mode.0.as_flattened()) {
        *q += h * e;
    }
    let mut rates = Rates::zeros(model.shape());
    Dynamics::new(model).evaluate(model, &s, &mut rates).unwrap();
    let size: f64 = mode.0.as_flattened().iter().map(|e| e * e).sum();
    let along: f64 = rates.v[3..].iter().zip(mode.0.as_flattened()).map(|(a, e)| a * e).sum();
    (-along / (h * size)).sqrt()
}

/// Closed forms for small oscillations of a free affine body with E = e 1 and shear modulus G: all shape modes (isochoric, symmetric) have
/// e ω² = 2 G vol; the breathing mode of a compressible body has e ω² = 3 K vol with the bulk modulus K of small strains.
#[test]
fn small_oscillations() {
    for material in &materials() {
        for form in [Form::Box(Brick { size: [1.0; 3] }), Form::Sphere(Ball { radius: 0.5 })] {
            let shape = Shape::try_from(form.clone()).unwrap();
            let (volume, e) = (shape.solid().volume, 2.0 * shape.solid().second.0[0][0]);
            let kirchhoff = matches!(material, Material::SaintVenantKirchhoff(_));
            let expected = (2.0 * material.shear_modulus() * volume / e).sqrt();
            let modes = [
                Mat3([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]),
                Mat3([[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, -1.0]]),
            ];
            let bulk = (!kirchhoff).then_some(5.0);
            let soft = free_body(form.clone(), material, false, bulk);
            let kept = free_body(form.clone(), material, true, None);
            for mode in modes {
                for model in [&soft, &kept] {
                    let found = frequency(model, mode);
                    // Quadratic terms of relative size h = 1e-5 and moduli of order ten.
                    assert!((found / expected - 1.0).abs() < 1e-3, "{material:?}: {found} {expected}");
                }
            }
            // K of small strains: λ + 2μ/3 of Lamé's moduli, or of the energies with −p ln J + K/2 (J − 1)².
            let breathing = frequency(&soft, Mat3::identity());
            let bulk = match material {
                Material::SaintVenantKirchhoff(m) => m.lame + 2.0 * m.shear / 3.0,
                _ => {
                    let (h, id) = (1e-4, Mat3::<f64>::identity());
                    let energy = |s: f64| material.energy(&(id * (1.0 + s)), Some(5.0));
                    // φ(1 + s) = 9/2 K s²
                    (energy(h) - 2.0 * energy(0.0) + energy(-h)) / (h * h) / 9.0
                }
            };
            let expected = (3.0 * bulk * volume / e).sqrt();
            assert!((breathing / expected - 1.0).abs() < 1e-3, "{material:?}: {breathing} {expected}");
        }
    }
}
