//! Small vibrations against closed forms: chains, beams, shafts, random and parametric excitation.
#![allow(clippy::unwrap_used)]

use dalembert_analysis::AnalysisError;
use dalembert_analysis::covariance::{stationary, stationary_sparse, transient};
use dalembert_analysis::dense::{Dense, Matrix};
use dalembert_analysis::eigen::eigenvalues;
use dalembert_analysis::field::Settings;
use dalembert_analysis::floquet::{Grid, chart, exponents, monodromy};
use dalembert_analysis::linear::{Linear, Stability, Verdict};
use dalembert_analysis::problems::Mathieu;
use dalembert_analysis::response::{StateSpace, curve, frequency_response, logarithmic, periodic, spectral_density};
use dalembert_analysis::routh::{characteristic_polynomial, unstable_roots};
use dalembert_methods::algebra::Complex;
use std::f64::consts::PI;

fn chain(n: usize, damping: f64) -> Linear {
    let stiffness = Matrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
        0 => 2.0,
        1 => -1.0,
        _ => 0.0,
    });
    Linear::split(&Matrix::unit(n), &stiffness.scaled(damping), &stiffness)
}

fn single(frequency: f64, ratio: f64) -> Linear {
    let one = |x: f64| Matrix::from_rows(1, 1, vec![x]);
    Linear::split(&one(1.0), &one(2.0 * ratio * frequency), &one(frequency * frequency))
}

/// Equal masses between equal springs, fixed at both ends: ω_k = 2 sin(kπ/(2(n+1))), shapes sin(ikπ/(n+1)).
#[test]
fn a_chain_of_masses_has_its_known_modes() {
    let n = 20;
    let system = chain(n, 0.0);
    let modes = system.real_modes().unwrap();
    let bound = 100.0 * n as f64 * f64::EPSILON;
    for (k, found) in modes.frequencies().iter().enumerate() {
        let angle = (k + 1) as f64 * PI / (n + 1) as f64;
        assert!((found - 2.0 * (0.5 * angle).sin()).abs() < bound, "{k}");
        let scale = modes.shapes[(0, k)] / angle.sin();
        for i in 0..n {
            assert!((modes.shapes[(i, k)] - scale * (angle * (i + 1) as f64).sin()).abs() < 10.0 * bound);
        }
    }
    // Effective masses add up to the whole mass.
    let along = modes.participation(&system.mass, &vec![1.0; n]);
    assert!((along.iter().map(|g| g * g).sum::<f64>() - n as f64).abs() < n as f64 * bound);
    assert_eq!(system.verdict().unwrap(), Verdict::Marginal);
    assert!(system.statically_stable());
}

/// Ψ₁ and Ψ₂ from real modes are blocks of Φ; with damping Φ by complex modes is Φ by the matrix exponential.
#[test]
fn transition_matrices_agree() {
    let system = chain(5, 0.0);
    let (first, second) = system.real_modes().unwrap().transition(&system.mass, 2.7);
    let phi = system.transition(2.7).unwrap();
    assert!(phi.block(0, 0, 5, 5).plus(-1.0, &first).largest() < 1e-13);
    assert!(phi.block(0, 5, 5, 5).plus(-1.0, &second).largest() < 1e-13);
    let damped = chain(5, 0.1);
    let modes = damped.complex_modes().unwrap();
    assert!(modes.transition(2.7).plus(-1.0, &damped.transition(2.7).unwrap()).largest() < 1e-12);
    // Damping in proportion to stiffness: ζ = ½ 0.1 ω.
    for (ratio, value) in modes.damping_ratios().iter().zip(&modes.values) {
        assert!((ratio - 0.05 * value.modulus()).abs() < 1e-12);
    }
    let shares = modes.participation();
    for k in 0..10 {
        let sum = (0..10).fold(Complex::default(), |s, i| s + shares[(i, k)]);
        assert!((sum - Complex::from(1.0)).modulus() < 1e-11);
    }
}

/// Cubic beam elements, simply supported: ω_k = (kπ)² with error of order h⁴.
#[test]
fn beam_elements_reach_the_limit_of_euler_and_bernoulli() {
    let first = |elements: usize| {
        let (h, n) = (1.0 / elements as f64, 2 * (elements + 1));
        let k = [[12.0, 6.0, -12.0, 6.0], [6.0, 4.0, -6.0, 2.0], [-12.0, -6.0, 12.0, -6.0], [6.0, 2.0, -6.0, 4.0]];
        let m = [
            [156.0, 22.0, 54.0, -13.0],
            [22.0, 4.0, 13.0, -3.0],
            [54.0, 13.0, 156.0, -22.0],
            [-13.0, -3.0, -22.0, 4.0],
        ];
        let (mut mass, mut stiffness) = (Matrix::zeros(n, n), Matrix::zeros(n, n));
        for e in 0..elements {
            for i in 0..4 {
                for j in 0..4 {
                    // Rotations are in units of 1/h.
                    mass[(2 * e + i, 2 * e + j)] += m[i][j] * h / 420.0;
                    stiffness[(2 * e + i, 2 * e + j)] += k[i][j] / h.powi(3);
                }
            }
        }
        let free: Vec<usize> = (0..n).filter(|&i| i != 0 && i != n - 2).collect();
        let pick = |a: &Matrix| Matrix::from_fn(free.len(), free.len(), |i, j| a[(free[i], free[j])]);
        let zero = Matrix::zeros(free.len(), free.len());
        Linear::split(&pick(&mass), &zero, &pick(&stiffness)).real_modes().unwrap().frequencies()[0]
    };
    let errors = [4, 8].map(|n| (first(n) / (PI * PI) - 1.0).abs());
    let order = (errors[0] / errors[1]).log2();
    assert!((order - 4.0).abs() < 0.1, "{errors:?} {order}");
}

/// A shaft with internal damping d_i turns unstable at Ω = ω (1 + d_e/d_i); eigenvalues and Routh's scheme agree.
#[test]
fn internal_damping_makes_a_rotor_unstable_above_its_known_speed() {
    let (external, internal, frequency) = (0.02, 0.05, 3.0);
    let rotor = |speed: f64| {
        let turn = Matrix::from_rows(2, 2, vec![0.0, 1.0, -1.0, 0.0]);
        let velocities = Matrix::unit(2).scaled(external + internal);
        let positions = Matrix::unit(2).scaled(frequency * frequency).plus(internal * speed, &turn);
        Linear::split(&Matrix::unit(2), &velocities, &positions)
    };
    let limit = frequency * (1.0 + external / internal);
    for (speed, expected, roots) in
        [(limit - 1e-6, Verdict::AsymptoticallyStable, 0), (limit + 1e-6, Verdict::Unstable(2), 2)]
    {
        let system = rotor(speed);
        assert_eq!(system.verdict().unwrap(), expected);
        let polynomial = characteristic_polynomial(&system.state_matrix().unwrap());
        assert_eq!(unstable_roots(&polynomial).unwrap(), roots);
        assert!(system.statically_stable() && system.circulatory.largest() > 0.0);
    }
}

/// A round shaft seen from the rotating frame whirls with ω ± Ω; with unequal stiffness it leaves between its two critical speeds.
#[test]
fn a_whirling_shaft_has_split_frequencies() {
    let shaft = |speed: f64, k1: f64, k2: f64| {
        let gyro = Matrix::from_rows(2, 2, vec![0.0, -2.0 * speed, 2.0 * speed, 0.0]);
        let positions = Matrix::diagonal(&[k1 - speed * speed, k2 - speed * speed]);
        Linear::split(&Matrix::unit(2), &gyro, &positions)
    };
    let values = shaft(1.0, 9.0, 9.0).complex_modes().unwrap().values;
    for (z, expected) in values.iter().zip([2.0, -2.0, 4.0, -4.0]) {
        assert!(z.re.abs() < 1e-13 && (z.im - expected).abs() < 1e-13, "{values:?}");
    }
    assert_eq!(shaft(2.9, 9.0, 16.0).verdict().unwrap(), Verdict::Marginal);
    assert_eq!(shaft(3.5, 9.0, 16.0).verdict().unwrap(), Verdict::Unstable(1));
    assert_eq!(shaft(4.1, 9.0, 16.0).verdict().unwrap(), Verdict::Marginal);
}

/// |F| = 1/(2ζω²) and a phase of −π/2 at ω; a periodic force gives what the flow repeats.
#[test]
fn forced_vibrations_have_their_known_amplitudes() {
    let system = single(2.0, 0.05);
    let found = curve(&system, &[1.0], &[1.0], &[2.0]).unwrap()[0];
    assert!((found.amplitude() - 1.0 / (2.0 * 0.05 * 4.0)).abs() < 1e-13 && (found.phase() + 0.5 * PI).abs() < 1e-13);
    let points = logarithmic(0.1, 10.0, 3);
    assert!((points[1] - 1.0).abs() < 1e-14 && (points[2] - 10.0).abs() < 1e-13);
    // cos Ωt + ½ sin 2Ωt by superposition.
    let (count, base) = (64, 0.7);
    let instants: Vec<f64> = (0..count).map(|k| 2.0 * PI * f64::from(k) / f64::from(count)).collect();
    let force = Matrix::from_rows(64, 1, instants.iter().map(|a| a.cos() + 0.5 * (2.0 * a).sin()).collect());
    let answer = periodic(&system, 2.0 * PI / base, &force).unwrap();
    let f = |w: f64| frequency_response(&system, w).unwrap()[(0, 0)];
    for (k, a) in instants.iter().enumerate() {
        let turn = |a: f64| Complex::new(a.cos(), a.sin());
        let expected = (f(base) * turn(*a)).re + 0.5 * (f(2.0 * base) * turn(2.0 * a)).im;
        assert!((answer[(k, 0)] - expected).abs() < 1e-13);
    }
    let undamped = frequency_response(&single(2.0, 0.0), 2.0).unwrap_err();
    assert!(undamped.to_string().contains("resonance"));
    // The same as a system of states whose velocity is measured too.
    let space = StateSpace {
        state: system.state_matrix().unwrap(),
        input: system.input_matrix().unwrap(),
        output: Matrix::unit(2),
    };
    let both = space.response(base).unwrap();
    let turned = both[(0, 0)] * Complex::new(0.0, base);
    assert!((both[(0, 0)] - f(base)).modulus() < 1e-14 && (both[(1, 0)] - turned).modulus() < 1e-14);
    assert!(
        space
            .periodic(2.0 * PI / base, &force)
            .unwrap()
            .column(0)
            .iter()
            .zip(answer.column(0))
            .all(|(a, b)| (a - b).abs() < 1e-13)
    );
    let density = space.density(&[0.3], 0.4).unwrap()[0];
    let size = f(0.8 * PI).modulus();
    assert!((density - 0.6 * size * size).abs() < 1e-14, "{density}");
}

/// White noise of intensity W: σ_x² = W/(4ζω³), σ_v² = W/(4ζω), no correlation; the spectrum integrates to the same.
#[test]
fn the_random_response_of_one_degree_of_freedom_is_known() {
    let (frequency, ratio, intensity) = (3.0, 0.1, 0.5);
    let system = single(frequency, ratio);
    let (a, b) = (system.state_matrix().unwrap(), system.input_matrix().unwrap());
    let q = b.mul(&b.transpose()).scaled(intensity);
    let p = stationary(&a, &q).unwrap();
    let expected = [intensity / (4.0 * ratio * frequency.powi(3)), intensity / (4.0 * ratio * frequency)];
    assert!((p[(0, 0)] / expected[0] - 1.0).abs() < 1e-13 && (p[(1, 1)] / expected[1] - 1.0).abs() < 1e-13);
    assert!(p[(0, 1)].abs() < 1e-15);
    // From rest: σ²(t) = σ∞² [1 − e^{−2ζωt}(1 + (ζω/ω_d) sin 2ω_d t + 2 (ζω/ω_d)² sin² ω_d t)].
    let (t, decay) = (1.3, ratio * frequency);
    let damped = frequency * (1.0 - ratio * ratio).sqrt();
    let (s, part) = ((damped * t).sin(), decay / damped);
    let grown = 1.0 - (-2.0 * decay * t).exp() * (1.0 + part * (2.0 * damped * t).sin() + 2.0 * part * part * s * s);
    let found = transient(&a, &q, &Matrix::zeros(2, 2), t).unwrap();
    assert!((found[(0, 0)] / (expected[0] * grown) - 1.0).abs() < 1e-12, "{} {}", found[(0, 0)], expected[0] * grown);
    // ∫ S dΩ over all frequencies with Ω = tan u: the trapezoid rule converges faster than any power for a periodic integrand.
    let density = Dense::from_rows(1, 1, vec![Complex::from(intensity / (2.0 * PI))]);
    let count = 2000;
    let sum: f64 = (0..count)
        .map(|k| {
            let u = PI * (f64::from(k) + 0.5) / f64::from(count) - 0.5 * PI;
            let s = spectral_density(&system, &density, u.tan()).unwrap()[(0, 0)].re;
            s / (u.cos() * u.cos()) * PI / f64::from(count)
        })
        .sum();
    assert!((sum / expected[0] - 1.0).abs() < 1e-10, "{sum}");
    let error = stationary(&single(1.0, 0.0).state_matrix().unwrap(), &Matrix::unit(2)).unwrap_err();
    assert!(matches!(error, AnalysisError::Undamped { .. }));
}

/// The covariance of a long damped chain with noise at one mass, by alternating directions and by the Schur form.
#[test]
fn a_large_covariance_of_low_rank_is_the_dense_one() {
    let n = 30;
    let mut system = chain(n, 0.2);
    system.damping = system.damping.plus(0.1, &Matrix::unit(n));
    let a = system.state_matrix().unwrap();
    let b = Matrix::from_fn(2 * n, 1, |i, _| if i == n { 1.0 } else { 0.0 });
    let dense = stationary(&a, &b.mul(&b.transpose())).unwrap();
    let entries: Vec<(usize, usize, f64)> = (0..2 * n)
        .flat_map(|i| (0..2 * n).map(move |j| (i, j)))
        .filter(|&place| a[place] != 0.0)
        .map(|(i, j)| (i, j, a[(i, j)]))
        .collect();
    let found = stationary_sparse(2 * n, &entries, &b, 1e-13, 400).unwrap();
    let size = dense.largest();
    for i in 0..2 * n {
        for j in 0..2 * n {
            assert!((found.entry(i, j) - dense[(i, j)]).abs() < 1e-9 * size, "{i} {j}");
        }
    }
    let unstable = stationary_sparse(1, &[(0, 0, 1e-30)], &Matrix::unit(1), 1e-10, 50);
    assert!(unstable.is_err());
}

/// Boundaries of Mathieu's equation: characteristic values from Abramowitz, Stegun: Handbook of Mathematical Functions, table 20.1.
#[test]
fn the_boundaries_of_mathieus_equation_are_met_to_nine_digits() {
    let half_trace = |a: f64, q: f64| {
        let (m, _) = monodromy(&Mathieu, &[0.0; 2], &[a, q], PI, Settings::default()).unwrap();
        assert!((m.determinant() - 1.0).abs() < 1e-9);
        0.5 * m.trace()
    };
    // (q, lower and upper end of a bracket, sign of the trace, a).
    let known = [
        (1.0, [-0.6, -0.3], 1.0, -0.455_138_604_1),
        (1.0, [-0.3, 0.3], -1.0, -0.110_248_817_0),
        (1.0, [1.5, 2.2], -1.0, 1.859_108_072_5),
        (1.0, [3.8, 4.1], 1.0, 3.917_024_773_0),
        (1.0, [4.15, 4.8], 1.0, 4.371_300_982_7),
        (5.0, [-5.795, -5.0], -1.0, -5.790_080_598_6),
        (5.0, [1.0, 1.95], -1.0, 1.858_187_541_5),
    ];
    for (q, [mut low, mut high], sign, expected) in known {
        let outside = |a: f64| sign * half_trace(a, q) > 1.0;
        let below = outside(low);
        assert_ne!(below, outside(high), "{expected}");
        while high - low > 1e-11 {
            let middle = 0.5 * (low + high);
            if outside(middle) == below { low = middle } else { high = middle }
        }
        assert!((low - expected).abs() < 2e-9, "{low} {expected}");
    }
    let (m, _) = monodromy(&Mathieu, &[0.0; 2], &[4.2, 1.0], PI, Settings::default()).unwrap();
    let growth = exponents(&eigenvalues(&m).unwrap(), PI);
    assert!(growth[0].re > 0.01 && (growth[0].re + growth[1].re).abs() < 1e-11);
}

/// A chart in lanes has its borders where the boundaries are.
#[test]
fn a_chart_of_stability_has_its_borders_at_the_boundaries() {
    let grid = Grid::even((0, -1.0, 5.0, 61), (1, 0.0, 1.0, 11));
    let found = chart(&Mathieu, &[0.0, 0.0], PI, 64, &grid).unwrap();
    for (j, a) in grid.first.1.iter().enumerate() {
        let inside = |low: f64, high: f64| *a > low && *a < high;
        let stable = inside(-0.4551, -0.1102) || inside(1.8591, 3.9170) || *a > 4.3713;
        assert_eq!(found[(10, j)] < 1.0 + 1e-5, stable, "{a}");
    }
}

/// The theorems of Thomson, Tait and Chetaev agree with the eigenvalues wherever they decide.
#[test]
fn the_static_condition_concludes_what_eigenvalues_say() {
    let two = |values: [f64; 4]| Matrix::from_rows(2, 2, values.to_vec());
    let turn = |g: f64| two([0.0, g, -g, 0.0]);
    let (both, one, none) = (two([0.1, 0.0, 0.0, 0.2]), two([0.1, 0.0, 0.0, 0.0]), two([0.0; 4]));
    let (up, saddle, down) = (two([2.0, 0.5, 0.5, 3.0]), two([1.0, 0.0, 0.0, -2.0]), two([-1.0, 0.0, 0.0, -2.0]));
    let plain = two([2.0, 0.0, 0.0, 3.0]);
    let cases = [
        (none.clone(), up.clone(), Stability::Stable),
        (turn(1.0), up.clone(), Stability::Stable),
        (both.clone(), up.clone(), Stability::Asymptotic),
        (both.plus(1.0, &turn(1.0)), up.clone(), Stability::Asymptotic),
        // Damping of one coordinate reaches both by coupling, and only then.
        (one.clone(), up.clone(), Stability::Asymptotic),
        (one.clone(), plain.clone(), Stability::Stable),
        // Of equal frequencies one mixture escapes it.
        (one.clone(), Matrix::unit(2), Stability::Stable),
        (none.clone(), saddle.clone(), Stability::Unstable),
        (turn(9.0), saddle, Stability::Unstable),
        // Gyroscopic forces hold a top, damping lets it fall in the end.
        (turn(9.0), down.clone(), Stability::Open),
        (both.plus(1.0, &turn(9.0)), down, Stability::Unstable),
        (both.clone(), up.plus(1.0, &turn(0.3)), Stability::Open),
        (both.scaled(-1.0), plain, Stability::Open),
    ];
    for (k, (velocities, positions, expected)) in cases.into_iter().enumerate() {
        let system = Linear::split(&Matrix::unit(2), &velocities, &positions);
        assert_eq!(system.conclusion().stability, expected, "{k}: {}", system.conclusion().reason);
        let verdict = system.verdict().unwrap();
        let agrees = match expected {
            Stability::Asymptotic => verdict == Verdict::AsymptoticallyStable,
            Stability::Stable => verdict == Verdict::Marginal,
            Stability::Unstable => matches!(verdict, Verdict::Unstable(_)),
            Stability::Open => true,
        };
        assert!(agrees, "{k}: {verdict:?}");
    }
}
