//! Lyapunov exponents, sections, bifurcations and curves of solutions of well-known fields.
#![allow(clippy::unwrap_used)]

use dalembert_analysis::AnalysisError;
use dalembert_analysis::continuation::{self, Ending, Kind, Special, follow};
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::field::{Field, Settings};
use dalembert_analysis::hybrid::{Coordinate, Section};
use dalembert_analysis::lyapunov::{Options, kaplan_yorke, spectrum};
use dalembert_analysis::map::{Image, Map, Period, Power, Stride, fixed_point};
use dalembert_analysis::problems::{Duffing, HenonHeiles, Lorenz, Roessler};
use dalembert_analysis::sweep::{Strobe, basins, bifurcation};
use dalembert_methods::{Jet, Real};
use std::f64::consts::TAU;

fn options(step: f64, batch: f64, batches: usize) -> Options {
    Options { step, every: 10, transient: 200.0, batch, batches, bundles: 2, spread: 0.1 }
}

/// Duffing's oscillator, set b: 0.17, 0, −0.37 and D_L = 2.46. Divergence is −0.2 whatever the motion.
#[test]
fn duffing_set_b_is_chaotic_with_its_known_exponents() {
    let found = spectrum(&Duffing, &[0.1, 0.0, 0.0], &Duffing::SET_B, &options(TAU / 80.0, 500.0, 60)).unwrap();
    let [first, second, third] = [0, 1, 2].map(|i| found.exponents[i]);
    println!("{:?} ± {:?}, D = {} ± {}", found.exponents, found.errors, found.dimension, found.dimension_error);
    assert!(found.errors.iter().all(|e| *e < 0.001), "{:?}", found.errors);
    // Printed to two digits, within error bars of 0.003.
    assert!((first - 0.17).abs() < 0.005 + 0.003 && second.abs() < 1e-12 && (third + 0.37).abs() < 0.005 + 0.003);
    assert!((found.dimension - 2.46).abs() < 0.005 + 0.003, "{}", found.dimension);
    assert!((first + second + third + 0.2).abs() < 1e-6);
    assert_eq!(found.history.len(), 60);
}

/// Set a: a limit cycle with 0, −0.10, −0.10 and D_L = 1; its multipliers tell the same.
#[test]
fn duffing_set_a_is_periodic_with_its_known_exponents() {
    let found = spectrum(&Duffing, &[1.0, 0.0, 0.0], &Duffing::SET_A, &options(TAU / 80.0, 400.0, 6)).unwrap();
    println!("{:?} ± {:?}", found.exponents, found.errors);
    assert!(found.exponents[0].abs() < 2e-3 && (found.dimension - 1.0).abs() < 1e-3, "{found:?}");
    assert!((found.exponents[1] + 0.1).abs() < 2e-3 && (found.exponents[2] + 0.1).abs() < 2e-3, "{found:?}");
}

/// Lorenz: 0.9056, 0, −14.5723 (Sprott 2003); Rössler: 0.0714, 0, −5.3943.
#[test]
fn lorenz_and_roessler_have_their_published_exponents() {
    let lorenz = spectrum(&Lorenz, &[1.0, 1.0, 20.0], &[10.0, 28.0, 8.0 / 3.0], &options(0.005, 60.0, 25)).unwrap();
    println!("{:?} ± {:?}", lorenz.exponents, lorenz.errors);
    for (found, (error, known)) in lorenz.exponents.iter().zip(lorenz.errors.iter().zip([0.9056, 0.0, -14.5723])) {
        assert!((found - known).abs() < 4.0 * error + 2e-3, "{lorenz:?}");
    }
    let roessler = spectrum(&Roessler, &[1.0, 1.0, 1.0], &[0.2, 0.2, 5.7], &options(0.02, 200.0, 15)).unwrap();
    println!("{:?} ± {:?}", roessler.exponents, roessler.errors);
    for (found, (error, known)) in roessler.exponents.iter().zip(roessler.errors.iter().zip([0.0714, 0.0, -5.3943])) {
        assert!((found - known).abs() < 4.0 * error + 2e-3, "{roessler:?}");
    }
}

/// Exponents of a Hamiltonian motion come in pairs ±σ.
#[test]
fn hamiltonian_exponents_come_in_pairs() {
    let energy = 1.0f64 / 6.0 - 0.005;
    let y = -0.1;
    let speed = (2.0 * energy - y * y + 2.0 * y * y * y / 3.0).sqrt();
    let options = Options { spread: 0.0, ..options(0.05, 500.0, 8) };
    let found = spectrum(&HenonHeiles, &[0.0, y, 0.0, speed], &[], &options).unwrap();
    let e = &found.exponents;
    // The step of order four loses volume at a rate of about h⁴ = 6e-6.
    assert!((e[0] + e[3]).abs() < 1e-4 && (e[1] + e[2]).abs() < 1e-4 && e[0] > 0.01, "{e:?}");
}

#[test]
fn the_dimension_of_kaplan_and_yorke_follows_its_rule() {
    assert!((kaplan_yorke(&[0.17, 0.0, -0.37], 0.0) - (2.0 + 0.17 / 0.37)).abs() < 1e-15);
    assert_eq!(kaplan_yorke(&[0.0, -0.1, -0.1], 1e-6), 1.0);
    assert_eq!(kaplan_yorke(&[-0.1, -0.2], 0.0), 0.0);
    assert_eq!(kaplan_yorke(&[0.2, -0.1], 0.0), 2.0);
}

/// Van der Pol's oscillator: the period of its cycle at ε = 1 and, by Liouville, its multiplier.
struct VanDerPol;

impl Field<2> for VanDerPol {
    fn rate<R: Real>(&self, _t: R, z: &[R; 2], p: &[R]) -> [R; 2] {
        [z[1], p[0] * (R::one() - z[0] * z[0]) * z[1] - z[0]]
    }
}

#[test]
fn the_cycle_of_van_der_pol_is_found_on_a_section() {
    let section = Section { field: VanDerPol, section: Coordinate { index: 1, level: 0.0, sign: 1.0 } };
    let (parameters, settings) = (vec![1.0], Settings::default());
    let map =
        Stride { system: section, mode: 0, on: Some(0), guards: vec![0], parameters, free: 0, longest: 20.0, settings };
    let cycle = fixed_point(&map, &[1.8, 0.0], 1.0, 1e-12).unwrap();
    let (_, period) = map.stride(&[cycle.state[0], cycle.state[1]], 1.0).unwrap();
    // Strogatz; Andersen, Geer 1982: T = 6.66328686, amplitude 2.00861986.
    assert!((period - 6.663_286_86).abs() < 1e-7 && (cycle.state[0] - 2.008_619_86).abs() < 1e-7, "{cycle:?} {period}");
    assert!(cycle.stable() && cycle.multipliers[1].modulus() < 1e-9);
}

/// A field whose equilibria fold and oscillate: ż = p + z², and the normal form of Hopf.
struct Normal;

impl Map for Normal {
    fn size(&self) -> usize {
        3
    }
    fn image(&self, z: &[f64], parameter: f64) -> Result<Image, AnalysisError> {
        fn rate<R: Real>(z: &[R; 3], p: R) -> [R; 3] {
            let r = z[0] * z[0] + z[1] * z[1];
            // The third coordinate folds at p = −1; the other two begin to oscillate where it passes ½.
            let growth = z[2] - 0.5;
            [growth * z[0] - z[1] * 2.0 - z[0] * r, z[0] * 2.0 + growth * z[1] - z[1] * r, p + 1.0 - z[2] * z[2]]
        }
        let state: [Jet<f64, 4>; 3] = std::array::from_fn(|i| Jet::variable(z[i], i));
        let out = rate(&state, Jet::variable(parameter, 3));
        Ok(Image {
            value: out.iter().map(|r| r.re).collect(),
            by_state: Matrix::from_fn(3, 3, |i, j| out[i].eps[j]),
            by_parameter: out.iter().map(|r| r.eps[3]).collect(),
        })
    }
}

#[test]
fn folds_and_hopf_points_of_equilibria_are_located() {
    let options =
        continuation::Options { step: -0.05, steps: [1e-6, 0.1], range: [-2.0, 1.0], points: 200, tolerance: 1e-12 };
    let branch = follow(&Normal, Kind::Equilibria, &[0.0, 0.0, 0.9], -0.1, &options).unwrap();
    assert_eq!(branch.ending, Ending::Range);
    let find = |what: Special| branch.special.iter().find(|(s, _)| *s == what).unwrap().1.clone();
    let (fold, hopf) = (find(Special::Fold), find(Special::Hopf));
    assert!((fold.parameter + 1.0).abs() < 1e-9 && fold.state[2].abs() < 1e-6, "{fold:?}");
    assert!((hopf.parameter + 0.75).abs() < 1e-9 && (hopf.state[2] - 0.5).abs() < 1e-9, "{hopf:?}");
}

/// A cycle of Duffing's oscillator doubles its period; beyond it the doubled one is a fixed point of the second power.
#[test]
fn a_period_doubling_of_duffing_is_located_and_seen_in_the_diagram() {
    /// Duffing's oscillator in (x, ẋ).
    struct Forced;
    impl Field<2> for Forced {
        fn rate<R: Real>(&self, t: R, z: &[R; 2], p: &[R]) -> [R; 2] {
            let [x, v, _] = Duffing.rate(t, &[z[0], z[1], t], &[p[0], p[1], p[2], p[3], p[4]]);
            [x, v]
        }
    }
    let parameters = vec![0.2, -1.0, 1.0, 0.2, 1.0];
    let map = Period { field: Forced, period: TAU, parameters, free: 3, settings: Settings::default() };
    let mut z = vec![1.0, 0.0];
    for _ in 0..60 {
        z = map.value(&z, 0.2).unwrap();
    }
    let cycle = fixed_point(&map, &z, 0.2, 1e-12).unwrap();
    assert!(cycle.stable());
    // Liouville: the product of the multipliers is exp(−0.2 · 2π).
    let product = cycle.multipliers[0] * cycle.multipliers[1];
    assert!((product.re - (-0.2 * TAU).exp()).abs() < 1e-10);
    let options =
        continuation::Options { step: 0.01, steps: [1e-6, 0.02], range: [0.1, 0.32], points: 200, tolerance: 1e-11 };
    let branch = follow(&map, Kind::Cycles, &cycle.state, 0.2, &options).unwrap();
    let (_, fold) = branch.special.iter().find(|(s, _)| *s == Special::Fold).unwrap();
    // The scene `duffing-b` folds at the same force.
    assert!((fold.parameter - 0.258_607_456).abs() < 1e-8, "{}", fold.parameter);
    let (_, point) = branch.special.iter().find(|(s, _)| *s == Special::PeriodDoubling).unwrap();
    let beyond = point.parameter + 0.003;
    let strobe = Strobe { period: TAU, steps: 100, transient: 300, kept: 4 };
    let values = [point.parameter - 0.005, beyond];
    let start = [point.state[0], point.state[1]];
    let diagram = bifurcation(&Forced, &start, &map.parameters, (3, &values), 0, &strobe).unwrap();
    assert!((diagram[(0, 0)] - diagram[(0, 1)]).abs() < 1e-4, "{diagram:?}");
    assert!((diagram[(1, 0)] - diagram[(1, 1)]).abs() > 1e-2, "{diagram:?}");
    assert!((diagram[(1, 0)] - diagram[(1, 2)]).abs() < 1e-3, "{diagram:?}");
    let double = Power { map: &map, times: 2 };
    let seen = map.value(&[diagram[(1, 0)], 0.0], beyond);
    assert!(seen.is_ok());
    let near = fixed_point(&double, &cycle_near(&map, beyond, &start), beyond, 1e-11).unwrap();
    assert!(near.stable() && (near.multipliers[0] * near.multipliers[1]).re > 0.0, "{near:?}");
    assert!((map.value(&near.state, beyond).unwrap()[0] - near.state[0]).abs() > 1e-2);
}

fn cycle_near(map: &dyn Map, parameter: f64, start: &[f64]) -> Vec<f64> {
    (0..200).fold(start.to_vec(), |z, _| map.value(&z, parameter).unwrap())
}

/// Two wells without excitation: motions from rest end in the well on their side if they start inside it.
#[test]
fn basins_of_two_wells_mirror_each_other() {
    let strobe = Strobe { period: 1.0, steps: 20, transient: 60, kept: 2 };
    let axis: Vec<f64> = (0..9).map(|k| -1.6 + 0.4 * f64::from(k) + 1e-3).collect();
    let mirrored: Vec<f64> = axis.iter().rev().map(|x| -x).collect();
    let p = [0.3, -1.0, 1.0, 0.0, 1.0];
    let one = basins(&Duffing, &[0.0; 3], &p, (0, &axis), (1, &axis), 0, &strobe);
    let other = basins(&Duffing, &[0.0; 3], &p, (0, &mirrored), (1, &mirrored), 0, &strobe);
    for i in 0..9 {
        for j in 0..9 {
            assert!((one[(i, j)] + other[(8 - i, 8 - j)]).abs() < 1e-12);
            assert!((one[(i, j)].abs() - 1.0).abs() < 1e-2);
        }
    }
}
