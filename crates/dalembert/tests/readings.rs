//! One model, three readings: numbers, derivatives, lanes.
#![allow(clippy::unwrap_used)]

use dalembert::bodies::{Inertia, Particle, Rigid};
use dalembert::constraints::Distance;
use dalembert::forces::Spring;
use dalembert::methods::algebra::Rows;
use dalembert::methods::scalar::{Dual, Dual2, Lanes4};
use dalembert::methods::{Jet, Lanes, Real, Scalar, State, System};
use dalembert::model::{Model, Orientation};

/// A particle on a spring and a rigid body, tied by a rod at points away from its centre.
fn model() -> Model {
    let mut b = Model::builder();
    b.gravity([0.3, -0.2, -9.81]);
    let bob = b.body("bob", Particle { mass: 1.5, position: [0.4, 0.1, -0.9], velocity: [0.3, -0.4, 0.2] });
    let bar = b.body(
        "bar",
        Rigid {
            mass: 2.0,
            inertia: Inertia::try_from(vec![0.3, 0.4, 0.5, 0.02, -0.03, 0.01]).unwrap(),
            centre: [0.1, 0.0, -0.05],
            position: [-0.5, 0.2, 0.3],
            orientation: Orientation::AxisAngle { axis: [1.0, 2.0, -0.5], angle: 0.8 },
            velocity: [0.1, 0.7, -0.3],
            angular_velocity: [1.1, -0.6, 0.9],
        },
    );
    let (p, ground) = (b.point("", bob, [0.0; 3]), b.ground());
    let (anchor, end, top) = (
        b.point("anchor", ground, [0.0; 3]),
        b.point("end", bar, [0.6, 0.1, 0.0]),
        b.point("top", bar, [0.0, 0.2, 0.4]),
    );
    let spring = |k: f64, d: f64| Spring { stiffness: k.into(), damping: d.into(), rest_length: 0.5.into() };
    b.force("anchor", spring(40.0, 0.3), [anchor, p]);
    b.force("tie", spring(25.0, 0.7), [top, p]);
    b.constraint("rod", Distance { length: 1.1 }, [p, end]);
    b.build().unwrap()
}

fn lifted<S: Scalar>(model: &Model, s: &State<f64>) -> State<S> {
    let mut out = State::zeros(model.shape());
    out.lift(s);
    out
}

fn forces<S: Scalar>(model: &Model, s: &State<S>) -> Vec<S> {
    let mut w = model.work::<S>();
    model.prepare(s, &mut w);
    let mut out = vec![S::zero(); model.shape().v];
    model.force(s, &mut w, &mut out);
    out
}

/// The constraint Jacobian from marker gradients equals the derivative of the residual along each velocity.
#[test]
fn jacobian_is_the_derivative_of_the_residual() {
    let model = model();
    let s = model.initial_state();
    let shape = model.shape();
    let mut w = model.work::<f64>();
    model.prepare(&s, &mut w);
    let mut rows = Rows::new(shape.rows(), shape.v, &model.row_blocks());
    model.jacobian(&s, &mut w, &mut rows);
    let mut dense = vec![0.0; shape.rows() * shape.v];
    rows.to_dense(&mut dense);
    for j in 0..shape.v {
        let mut moved = lifted::<Dual>(&model, &s);
        let mut delta = vec![Dual::zero(); shape.v];
        delta[j].eps[0] = 1.0;
        let q = moved.q.clone();
        model.retract(&q, &delta, &mut moved.q);
        let mut w = model.work::<Dual>();
        model.prepare(&moved, &mut w);
        let mut g = [Dual::zero()];
        model.constraint(&moved, &mut w, &mut g);
        assert!((g[0].eps[0] - dense[j]).abs() < 1e-14, "column {j}: {} {}", g[0].eps[0], dense[j]);
    }
}

/// Rate and bias are first and second time derivatives of the residual along the motion with constant velocities.
#[test]
fn rate_and_bias_are_time_derivatives() {
    let model = model();
    let s = model.initial_state();
    // q(τ) = q ⊕ τ v to second order: τ = ε₁ + ε₂, so that the mixed part of g is g̈.
    let mut moved = lifted::<Dual2>(&model, &s);
    let tau = Jet::new(Jet::new(0.0, 1.0), Jet::new(1.0, 0.0));
    let delta: Vec<Dual2> = s.v.iter().map(|&v| tau * v).collect();
    let q = moved.q.clone();
    model.retract(&q, &delta, &mut moved.q);
    let mut w = model.work::<Dual2>();
    model.prepare(&moved, &mut w);
    let mut g = [Dual2::zero()];
    model.constraint(&moved, &mut w, &mut g);

    let mut w = model.work::<f64>();
    model.prepare(&s, &mut w);
    let (mut rate, mut bias) = ([0.0], [0.0]);
    model.constraint_rate(&s, &mut w, &mut rate);
    model.constraint_bias(&s, &mut w, &mut bias);
    assert!((g[0].re.eps[0] - rate[0]).abs() < 1e-14);
    assert!((g[0].eps[0].eps[0] - bias[0]).abs() < 1e-13, "{} {}", g[0].eps[0].eps[0], bias[0]);
}

/// Each lane of a batch gives the bits of the plain evaluation.
#[test]
fn lanes_are_four_plain_evaluations() {
    let model = model();
    let base = model.initial_state();
    let states: Vec<State<f64>> = (0..4)
        .map(|k| {
            let mut s = base.clone();
            s.v.iter_mut().for_each(|v| *v += 0.1 * f64::from(k));
            s.q[0] += 0.05 * f64::from(k);
            s
        })
        .collect();
    let mut batch = State::<Lanes4>::zeros(model.shape());
    let pack = |get: &dyn Fn(&State<f64>) -> f64| Lanes(std::array::from_fn(|k| get(&states[k])));
    for i in 0..batch.q.len() {
        batch.q[i] = pack(&|s| s.q[i]);
    }
    for i in 0..batch.v.len() {
        batch.v[i] = pack(&|s| s.v[i]);
    }
    let wide = forces(&model, &batch);
    for (k, s) in states.iter().enumerate() {
        for (i, f) in forces(&model, s).into_iter().enumerate() {
            assert_eq!(wide[i].0[k].to_bits(), f.to_bits());
        }
    }
}

/// Directional derivative of the generalised force by duals against central differences.
#[test]
fn duals_meet_differences() {
    let model = model();
    let s = model.initial_state();
    let n = model.shape().v;
    let direction: Vec<f64> = (0..n).map(|i| 0.3 - 0.1 * i as f64).collect();
    let shifted = |h: f64| {
        let mut out = s.clone();
        let delta: Vec<f64> = direction.iter().map(|d| h * d).collect();
        model.retract(&s.q, &delta, &mut out.q);
        forces(&model, &out)
    };
    let mut dual = lifted::<Dual>(&model, &s);
    let delta: Vec<Dual> = direction.iter().map(|&d| Jet::new(0.0, d)).collect();
    let q = dual.q.clone();
    model.retract(&q, &delta, &mut dual.q);
    let exact = forces(&model, &dual);
    let h = 1e-5;
    let (right, left) = (shifted(h), shifted(-h));
    for i in 0..n {
        // Truncation h² f'''/6 ≈ 1e-10 · 1e2, rounding ε f/h ≈ 1e-9.
        assert!((exact[i].eps[0] - (right[i] - left[i]) / (2.0 * h)).abs() < 2e-8);
    }
}
