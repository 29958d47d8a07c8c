//! Where cycles change their kind, at places that are known, and questions without an answer, each with its name.
#![allow(clippy::unwrap_used)]

use dalembert_analysis::AnalysisError;
use dalembert_analysis::continuation::{Kind, Options, Special, follow};
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::field::{Field, Settings};
use dalembert_analysis::linear::Linear;
use dalembert_analysis::map::{Image, Map, Period, Power, Stride, fixed_point};
use dalembert_analysis::problems::Compass;
use dalembert_methods::Real;

/// The logistic map with delay, (x, y) → (p x (1 − y), x).
struct Delayed;

impl Map for Delayed {
    fn size(&self) -> usize {
        2
    }
    fn image(&self, z: &[f64], p: f64) -> Result<Image, AnalysisError> {
        Ok(Image {
            value: vec![p * z[0] * (1.0 - z[1]), z[0]],
            by_state: Matrix::from_rows(2, 2, vec![p * (1.0 - z[1]), -p * z[0], 1.0, 0.0]),
            by_parameter: vec![z[0] * (1.0 - z[1]), 0.0],
        })
    }
}

/// ẇ = (p + iω) w − |w|² w about w = 0: the flow over a time T has the multipliers exp((p ± iω) T).
struct Rotor;

impl Field<2> for Rotor {
    fn rate<R: Real>(&self, _t: R, z: &[R; 2], p: &[R]) -> [R; 2] {
        let growth = p[0] - z[0] * z[0] - z[1] * z[1];
        [growth * z[0] - z[1] * 1.7, growth * z[1] + z[0] * 1.7]
    }
}

/// x* = 1 − 1/p has the multipliers of μ² − μ + p − 1 = 0: at p = 2 they are exp(±iπ/3). The flow loses its stability at p = 0.
#[test]
fn neimark_sacker_points_are_located() {
    let options = Options { step: 0.05, steps: [1e-6, 0.1], range: [1.2, 2.4], points: 100, tolerance: 1e-13 };
    let start = 1.0 - 1.0 / 1.5;
    let branch = follow(&Delayed, Kind::Cycles, &[start, start], 1.5, &options).unwrap();
    let [(what, point)] = branch.special.as_slice() else { panic!("{:?}", branch.special) };
    assert!(*what == Special::NeimarkSacker && (point.parameter - 2.0).abs() < 1e-9, "{point:?}");
    let angle = point.values[0].im.abs().atan2(point.values[0].re);
    assert!((angle - std::f64::consts::FRAC_PI_3).abs() < 1e-8);
    let map = Period { field: Rotor, period: 0.9, parameters: vec![0.0], free: 0, settings: Settings::default() };
    let options = Options { step: 0.03, steps: [1e-6, 0.1], range: [-0.3, 0.3], points: 100, tolerance: 1e-12 };
    let branch = follow(&map, Kind::Cycles, &[0.0, 0.0], -0.2, &options).unwrap();
    let (what, point) = &branch.special[0];
    assert!(*what == Special::NeimarkSacker && point.parameter.abs() < 1e-9, "{point:?}");
}

/// The cascade of the compass walker: after the first doubling cycles of two and of four steps are found and double in turn, in ever shorter
/// intervals.
#[test]
fn the_compass_walker_doubles_again_and_again() {
    let degree = std::f64::consts::PI / 180.0;
    let map = Stride {
        system: Compass,
        mode: 0,
        on: Some(0),
        guards: vec![0],
        parameters: vec![0.0, 2.0, 1.0, 9.81 / 0.5],
        free: 0,
        longest: 3.0,
        settings: Settings::within(1e-11),
    };
    // The gait at 3°.
    let mut z = vec![0.323_388_558, -0.218_668_803, 0.377_373_949, 1.092_383_590];
    let mut slope = 3.0 * degree;
    let mut found = Vec::new();
    for times in [1, 2, 4] {
        let power = Power { map: &map, times };
        let cycle = fixed_point(&power, &z, slope, 1e-10).unwrap();
        assert!(cycle.stable(), "{times} {cycle:?}");
        let step = 0.3 * degree / times as f64;
        let range = [2.0 * degree, 5.3 * degree];
        let options = Options { step, steps: [1e-6, 0.02], range, points: 60, tolerance: 1e-9 };
        let branch = follow(&power, Kind::Cycles, &cycle.state, slope, &options).unwrap();
        let (_, point) = branch.special.iter().find(|(what, _)| *what == Special::PeriodDoubling).unwrap();
        found.push(point.parameter / degree);
        // Beyond it motions settle on the cycle of twice the length; the slope grows slowly, so that they stay near.
        let gap = if times == 1 { 0.3 } else { 0.07 / times as f64 };
        z = point.state.clone();
        z[2] += 1e-4;
        for k in 1..=40 {
            slope = point.parameter + gap * degree * f64::from(k) / 40.0;
            for _ in 0..20 {
                z = map.value(&z, slope).unwrap();
            }
        }
    }
    println!("period doublings at {found:?}°");
    assert!((found[0] - 4.39).abs() < 0.01 && (found[1] - 4.9).abs() < 0.05 && (found[2] - 5.0).abs() < 0.05);
    let ratio = (found[1] - found[0]) / (found[2] - found[1]);
    assert!((3.0..7.0).contains(&ratio), "{ratio}");
}

/// A mass that is missing, maps that have no fixed point or a line of them.
#[test]
fn degenerate_questions_are_named() {
    let zeros = Matrix::zeros(2, 2);
    let massless = Linear {
        mass: Matrix::diagonal(&[1.0, 0.0]),
        damping: zeros.clone(),
        gyroscopic: zeros.clone(),
        stiffness: Matrix::diagonal(&[1.0, 2.0]),
        circulatory: zeros,
    };
    let error = massless.real_modes().unwrap_err();
    assert!(matches!(error, AnalysisError::SingularMass { .. }), "{error}");
    struct Shift(f64);
    impl Map for Shift {
        fn size(&self) -> usize {
            1
        }
        fn image(&self, z: &[f64], _p: f64) -> Result<Image, AnalysisError> {
            Ok(Image { value: vec![z[0] + self.0], by_state: Matrix::unit(1), by_parameter: vec![0.0] })
        }
    }
    // Every point is a fixed point, or none is.
    let error = fixed_point(&Shift(1e-3), &[0.3], 0.0, 1e-12).unwrap_err();
    assert!(matches!(error, AnalysisError::NotIsolated { .. }), "{error}");
    struct Far;
    impl Map for Far {
        fn size(&self) -> usize {
            1
        }
        fn image(&self, z: &[f64], _p: f64) -> Result<Image, AnalysisError> {
            let value = vec![z[0] + 1.0 + z[0] * z[0]];
            Ok(Image { value, by_state: Matrix::diagonal(&[1.0 + 2.0 * z[0]]), by_parameter: vec![0.0] })
        }
    }
    let error = fixed_point(&Far, &[0.3], 0.0, 1e-12).unwrap_err();
    assert!(matches!(error, AnalysisError::NotConverged { .. }), "{error}");
    assert!(error.to_string().contains("did not converge"), "{error}");
}
