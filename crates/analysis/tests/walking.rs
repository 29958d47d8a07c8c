//! Hybrid motions: impacts, strides, gaits found without a guess, and where they change.
#![allow(clippy::unwrap_used)]

use dalembert_analysis::AnalysisError;
use dalembert_analysis::continuation::{Ending, Kind, Options, Special, follow};
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::evolution::{self, minimise};
use dalembert_analysis::field::Settings;
use dalembert_analysis::hybrid::{Hybrid, Place, flow, saltation, to_event};
use dalembert_analysis::map::{Cycle, Map, Stride, fixed_point};
use dalembert_analysis::problems::{BlockOnBelt, Compass, ImpactOscillator, KneedWalker, RimlessWheel, SimplestWalker};
use dalembert_analysis::shooting::{Boundary, basin, shoot};
use dalembert_methods::Jet;

/// ∂P/∂z by central differences of order four: with steps of 3e-5 rounding of 1e-12 costs some 1e-8.
fn differences(map: &dyn Map, z: &[f64], parameter: f64) -> Matrix {
    let n = z.len();
    let step = 3e-5;
    let mut out = Matrix::zeros(n, n);
    for j in 0..n {
        let moved = |sign: f64| {
            let mut z = z.to_vec();
            z[j] += sign * step;
            map.value(&z, parameter).unwrap()
        };
        let [a, b, c, d] = [-2.0, -1.0, 1.0, 2.0].map(moved);
        let column: Vec<f64> = (0..n).map(|i| (a[i] - 8.0 * b[i] + 8.0 * c[i] - d[i]) / (12.0 * step)).collect();
        out.set_column(j, &column);
    }
    out
}

fn stride<H: Hybrid<N>, const N: usize>(system: H, parameters: &[f64], longest: f64) -> Stride<H, N> {
    let parameters = parameters.to_vec();
    Stride {
        system,
        mode: 0,
        on: Some(0),
        guards: vec![0],
        parameters,
        free: 0,
        longest,
        settings: Settings::default(),
    }
}

/// The rimless wheel rolls with its known speed and multiplier.
#[test]
fn a_rimless_wheel_rolls_as_its_closed_form_says() {
    let (slope, half, gravity) = (0.08, 0.3, 9.81);
    let map = stride(RimlessWheel, &[slope, half, gravity], 10.0);
    let rate = RimlessWheel::fixed_point(slope, half, gravity);
    let cycle = fixed_point(&map, &[slope - half, 1.2 * rate], slope, 1e-12).unwrap();
    assert!((cycle.state[1] - rate).abs() < 1e-11, "{cycle:?}");
    assert!((cycle.multipliers[0].re - RimlessWheel::multiplier(half)).abs() < 1e-10, "{cycle:?}");
    assert!(cycle.multipliers[1].modulus() < 1e-10 && cycle.stable());
    assert!(
        differences(&map, &cycle.state, slope).plus(-1.0, &map.image(&cycle.state, slope).unwrap().by_state).largest()
            < 1e-6
    );
    // On a flat ground it stops.
    let error = map.value(&[-half, 0.1], 0.0).unwrap_err();
    assert!(matches!(error, AnalysisError::NoEvent { .. }), "{error}");
}

/// All gaits of the simplest walker that an evolution strategy and Newton's method find from nothing.
fn gaits(slope: f64) -> Vec<(Cycle, f64)> {
    let map = stride(SimplestWalker, &[slope], 8.0);
    let mut found: Vec<(Cycle, f64)> = Vec::new();
    for seed in 0..6 {
        let mut goal = |x: &[f64]| {
            let z = SimplestWalker::after_strike(x[0], x[1]);
            // Falling and standing still are no gaits.
            let (end, _) = map.stride(&z, slope).ok().filter(|(end, time)| *time > 1.0 && end[0] > 0.05)?;
            Some(end.iter().zip(&z).map(|(a, b)| (a - b).powi(2)).sum())
        };
        let options = evolution::Options { seed, population: 0, generations: 60, goal: 1e-10 };
        let start = minimise(&mut goal, &[0.25, -0.25], &[0.1, 0.1], &options);
        let guess = SimplestWalker::after_strike(start.point[0], start.point[1]);
        let Ok(cycle) = fixed_point(&map, &guess, slope, 1e-13) else { continue };
        let time = map.stride(&cycle.state.clone().try_into().unwrap(), slope).unwrap().1;
        if time > 1.0 && found.iter().all(|(other, _)| (other.state[0] - cycle.state[0]).abs() > 1e-6) {
            found.push((cycle, time));
        }
    }
    found.sort_by(|a, b| b.1.total_cmp(&a.1));
    found
}

/// The slope at which the long gait doubles its period: det(P′ + 1) = 0 in 34 digits.
const DOUBLES: f64 = 0.015_088_437_941_119;

/// Both gaits at slope 0.009 from scratch; the long one is stable until its period doubles near slope 0.0151.
#[test]
fn the_simplest_walker_has_two_gaits_and_the_long_one_doubles() {
    let slope = 0.009;
    let found = gaits(slope);
    assert_eq!(found.len(), 2, "{found:?}");
    let map = stride(SimplestWalker, &[slope], 8.0);
    let [(long, long_time), (short, short_time)] = [&found[0], &found[1]];
    // Taylor series of order 28 in 34 digits, Newton's method, differences of strides; Garcia et al. print θ* = 0.200310900544287, θ̇* = −0.199832473004977.
    for (cycle, [angle, rate]) in [
        (long, [0.200_310_900_544_247_1, -0.199_832_473_004_952_4]),
        (short, [0.193_937_369_810_181_8, -0.203_866_927_442_006_9]),
    ] {
        assert!((cycle.state[0] - angle).abs() < 1e-9 && (cycle.state[2] - rate).abs() < 1e-9, "{cycle:?}");
    }
    assert!((long_time - 3.882_463_752_851_4).abs() < 1e-8 && (short_time - 3.096_105_868_078_2).abs() < 1e-8);
    let pair = [(-0.190_099_841_065_89, 0.557_598_776_682_07), (-0.190_099_841_065_89, -0.557_598_776_682_07)];
    let single = [(4.003_864_358_929_7, 0.0), (0.459_589_589_797_67, 0.0)];
    for (cycle, expected) in [(long, pair), (short, single)] {
        for (m, (re, im)) in cycle.multipliers.iter().zip(expected) {
            assert!((m.re - re).abs() < 1e-6 && (m.im.abs() - f64::abs(im)).abs() < 1e-6, "{cycle:?}");
        }
    }
    assert!(long.stable() && !short.stable(), "{found:?}");
    for (cycle, _) in &found {
        let exact = map.image(&cycle.state, slope).unwrap().by_state;
        let difference = differences(&map, &cycle.state, slope).plus(-1.0, &exact).largest();
        println!("{:?}: differences {difference:.1e}", cycle);
        assert!(difference < 1e-6);
    }
    let options = Options { step: 0.002, steps: [1e-6, 0.01], range: [0.005, 0.019], points: 200, tolerance: 1e-11 };
    let branch = follow(&map, Kind::Cycles, &long.state, slope, &options).unwrap();
    let doubling = branch.special.iter().find(|(what, _)| *what == Special::PeriodDoubling).unwrap();
    println!("period doubling at {}", doubling.1.parameter);
    assert!((doubling.1.parameter - DOUBLES).abs() < 1e-7, "{}", doubling.1.parameter);
}

/// The compass walker of Goswami et al. (µ = 2, β = 1): a stable gait at 3°, whose period doubles near 4.4°.
#[test]
fn the_compass_walker_doubles_its_period() {
    let degree = std::f64::consts::PI / 180.0;
    let gravity = 9.81 / 0.5;
    let map = stride(Compass, &[3.0 * degree, 2.0, 1.0, gravity], 3.0);
    let slope = 3.0 * degree;
    let mut goal = |x: &[f64]| {
        let z = [slope + x[0], slope - x[0], x[1], x[2]];
        let (end, _) = map.stride(&z, slope).ok().filter(|(end, time)| *time > 0.3 && end[0] > end[1] + 0.2)?;
        Some(end.iter().zip(&z).map(|(a, b)| (a - b).powi(2)).sum())
    };
    let options = evolution::Options { seed: 1, population: 12, generations: 150, goal: 1e-8 };
    let start = minimise(&mut goal, &[0.25, 0.0, 1.0], &[0.1, 1.0, 0.5], &options);
    let x = &start.point;
    let cycle = fixed_point(&map, &[slope + x[0], slope - x[0], x[1], x[2]], slope, 1e-12).unwrap();
    assert!(cycle.stable(), "{cycle:?}");
    let exact = map.image(&cycle.state, slope).unwrap().by_state;
    let difference = differences(&map, &cycle.state, slope).plus(-1.0, &exact).largest();
    println!("{cycle:?}: differences {difference:.1e}");
    assert!(difference < 1e-6 * exact.largest());
    let options =
        Options { step: 0.02, steps: [1e-5, 0.05], range: [0.01, 5.0 * degree], points: 200, tolerance: 1e-10 };
    let branch = follow(&map, Kind::Cycles, &cycle.state, slope, &options).unwrap();
    let doubling = branch.special.iter().find(|(what, _)| *what == Special::PeriodDoubling).unwrap();
    println!("period doubling at {}°", doubling.1.parameter / degree);
    assert!((doubling.1.parameter / degree - 4.37).abs() < 0.05, "{}", doubling.1.parameter / degree);
}

/// The least height over the slope of the foot that has just been left, in the first moments of a stride; legs are 1 m long with knees in the middle.
fn lowest(z: &[f64], slope: f64) -> f64 {
    let mut place = Place { t: 0.0, z: std::array::from_fn(|i| z[i]), mode: 0 };
    (1..=60).fold(f64::INFINITY, |least, k| {
        flow(&KneedWalker::default(), &mut place, &[slope], 1e-3 * f64::from(k), 10, Settings::default()).unwrap();
        let [stance, thigh, shank] = [0, 1, 2].map(|i| (place.z[i] - slope).cos());
        least.min(stance - 0.5 * (thigh + shank))
    })
}

/// A walker with knees: a gait by an evolution strategy and Newton's method, stable at a slope of 0.05, followed over the slope to its end.
#[test]
fn the_kneed_walker_has_a_gait_that_ends() {
    let slope = 0.05;
    let map = Stride { guards: vec![0, 0], on: None, ..stride(KneedWalker::default(), &[slope], 3.0) };
    let mut goal = |x: &[f64]| {
        let z = KneedWalker::after_strike(slope, x[0], [x[1], x[2]]);
        let (end, _) = map.stride(&z, slope).ok().filter(|(end, time)| *time > 0.3 && end[1] > end[0] + 0.1)?;
        Some(end.iter().zip(&z).map(|(a, b)| (a - b).powi(2)).sum())
    };
    let options = evolution::Options { seed: 3, population: 14, generations: 120, goal: 1e-7 };
    let start = minimise(&mut goal, &[0.25, 1.0, 0.0], &[0.08, 0.4, 0.4], &options);
    let x = &start.point;
    let cycle = fixed_point(&map, &KneedWalker::after_strike(slope, x[0], [x[1], x[2]]), slope, 1e-11).unwrap();
    println!("{start:?}\n{cycle:?}");
    assert!(cycle.stable(), "{cycle:?}");
    // The state after a strike has straight legs on the slope.
    let z = &cycle.state;
    assert!((z[1] - z[2]).abs() < 1e-11 && (z[4] - z[5]).abs() < 1e-11 && (z[0] + z[1] - 2.0 * slope).abs() < 1e-10);
    let exact = map.image(z, slope).unwrap().by_state;
    let difference = differences(&map, z, slope).plus(-1.0, &exact).largest();
    println!("differences {difference:.1e} of {:.1e}", exact.largest());
    assert!(difference < 1e-6 * exact.largest());
    // Straight legs on the slope leave three unknowns; three conditions on the end make it a gait.
    let form = |i: usize, j: usize| {
        [[-1.0, 1.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 1.0, 1.0]][j][i]
    };
    let offset = KneedWalker::after_strike(slope, 0.0, [0.0, 0.0]).to_vec();
    let boundary = Boundary::cycle(offset, Matrix::from_fn(6, 3, form), &[1, 3, 4]);
    let shot = shoot(&map, &boundary, x, slope, 1e-11).unwrap();
    assert!(shot.state.iter().zip(z).all(|(a, b)| (a - b).abs() < 1e-9), "{shot:?}");
    // Starts with a little more or less speed come back to the gait, those with half of it fall.
    let starts: Vec<Vec<f64>> = [0.5, 0.97, 1.0, 1.03]
        .map(|f| KneedWalker::after_strike(slope, shot.unknowns[0], [f * shot.unknowns[1], shot.unknowns[2]]).to_vec())
        .to_vec();
    let back = basin(&map, z, slope, &starts, 40, 1e-6);
    println!("{back:?}");
    assert!(back[0].is_none() && back[2] == Some(0) && back[1].is_some() && back[3].is_some(), "{back:?}");
    for direction in [1.0, -1.0] {
        let options =
            Options { step: 0.01 * direction, steps: [1e-6, 0.05], range: [0.0, 0.3], points: 250, tolerance: 1e-9 };
        let branch = follow(&map, Kind::Cycles, z, slope, &options).unwrap();
        let last = branch.points.last().unwrap();
        println!("to slope {} in {} points: {:?}", last.parameter, branch.points.len(), branch.special);
        if direction < 0.0 {
            // Below this slope there is no gait: the stable one meets an unstable one.
            let (what, end) = &branch.special[0];
            assert!(*what == Special::Fold && (end.parameter - 0.0318).abs() < 1e-4, "{end:?}");
            assert!(!last.stable);
        } else {
            // Stable until its period doubles; it ends where the foot scuffs before the knee is straight.
            let (what, doubling) = &branch.special[0];
            assert!(
                *what == Special::PeriodDoubling && (doubling.parameter - 0.106_211_66).abs() < 1e-7,
                "{doubling:?}"
            );
            assert!(branch.points.iter().all(|point| point.stable == (point.parameter < doubling.parameter)));
            let lows: Vec<[f64; 2]> =
                branch.points.iter().map(|p| [p.parameter, lowest(&p.state, p.parameter)]).collect();
            let pair = lows.windows(2).find(|pair| pair[0][1] > 0.0 && pair[1][1] <= 0.0).unwrap();
            let near = branch.points.iter().find(|p| p.parameter == pair[0][0]).unwrap();
            let (mut range, mut guess) = ([pair[0][0], pair[1][0]], near.state.clone());
            for _ in 0..16 {
                let slope = 0.5 * (range[0] + range[1]);
                guess = fixed_point(&map, &guess, slope, 1e-10).unwrap().state;
                range[usize::from(lowest(&guess, slope) <= 0.0)] = slope;
            }
            let end = range[0];
            println!("the foot scuffs at {end}");
            assert!((end - 0.119_65).abs() < 2e-4, "{end}");
        }
        assert!(branch.ending != Ending::Points, "{:?}", branch.ending);
    }
}

/// Without impacts the amplitude is f/√((1−ω²)² + (2ζω)²): a wall just beyond is not met, one just before is, and exactly there the
/// event grazes. Through impacts, derivatives equal differences.
#[test]
fn an_impact_oscillator_grazes_at_its_known_amplitude() {
    let (zeta, force, frequency) = (0.1, 1.0, 0.8);
    let (stiffness, loss) = (1.0f64 - frequency * frequency, 2.0 * zeta * frequency);
    let amplitude = force / stiffness.hypot(loss);
    // x = A cos(φ − ψ): at φ = ψ − π/2 the mass passes zero upwards.
    let lag = loss.atan2(stiffness);
    let phase = lag - 0.5 * std::f64::consts::PI;
    let start = [0.0, amplitude * frequency, phase];
    let met = |wall: f64| {
        let mut place = Place { t: 0.0, z: start, mode: 0 };
        flow(&ImpactOscillator, &mut place, &[zeta, force, frequency, wall, 0.7], 40.0, 1000, Settings::default())
            .unwrap()
    };
    assert_eq!(met(amplitude * (1.0 + 1e-9)), 0);
    assert!(met(amplitude * (1.0 - 1e-6)) > 0);
    // Displaced by 1e-18 s from the top the speed at the wall is nothing.
    let p = [zeta, force, frequency, amplitude, 0.7];
    let top = Place { t: 0.0, z: [amplitude, 0.0, lag], mode: 0 };
    assert!(matches!(saltation(&ImpactOscillator, &top, &p, 0), Err(AnalysisError::Grazing { .. })));

    let p = [zeta, force, frequency, 0.4 * amplitude, 0.7];
    let until = 30.0;
    let run = |z: [f64; 3]| {
        let mut place = Place { t: 0.0, z, mode: 0 };
        let events = flow(&ImpactOscillator, &mut place, &p, until, 1000, Settings::default()).unwrap();
        (place.z, events)
    };
    let lifted = p.map(Jet::<f64, 3>::from);
    let mut place = Place { t: Jet::from(0.0), z: dalembert_analysis::field::seeded(&start), mode: 0 };
    let events = flow(&ImpactOscillator, &mut place, &lifted, until, 1000, Settings::default()).unwrap();
    assert!(events > 3 && run(start).1 == events);
    for j in 0..3 {
        let step = 1e-7;
        let moved = |sign: f64| {
            let mut z = start;
            z[j] += sign * step;
            run(z).0
        };
        let (up, down) = (moved(1.0), moved(-1.0));
        for i in 0..3 {
            let difference = (up[i] - down[i]) / (2.0 * step);
            assert!((place.z[i].eps[j] - difference).abs() < 1e-6 * (1.0 + difference.abs()), "{i} {j}");
        }
    }
}

/// Stick and slip: the period is known, and as sticking forgets where the slip began, both multipliers are zero. Derivatives through the stop and
/// through the start of the slip equal differences, also over a time that ends in the middle of a slip.
#[test]
fn a_block_on_a_belt_sticks_and_slips_in_its_known_period() {
    let p = [100.0, 0.1, 2.0, 4.0];
    let map = Stride { guards: vec![0, 0], on: Some(0), ..stride(BlockOnBelt, &p, 5.0) };
    let start = [p[3] / p[0], p[1]];
    let cycle = fixed_point(&map, &[start[0] + 1e-3, p[1]], p[0], 1e-12).unwrap();
    let (_, time) = map.stride(&start, p[0]).unwrap();
    assert!(
        (cycle.state[0] - start[0]).abs() < 1e-12 && (time - BlockOnBelt::period(p)).abs() < 1e-11,
        "{cycle:?} {time}"
    );
    assert!(cycle.multipliers.iter().all(|m| m.modulus() < 1e-9), "{cycle:?}");
    let until = 2.3 * time;
    let run = |z: [f64; 2]| {
        let mut place = Place { t: 0.0, z, mode: 0 };
        let events = flow(&BlockOnBelt, &mut place, &p, until, 100, Settings::default()).unwrap();
        (place.z, events)
    };
    let z = [0.03, 0.05];
    let lifted = p.map(Jet::<f64, 2>::from);
    let mut place = Place { t: Jet::from(0.0), z: dalembert_analysis::field::seeded(&z), mode: 0 };
    let events = flow(&BlockOnBelt, &mut place, &lifted, until, 100, Settings::default()).unwrap();
    assert!(events >= 4 && events == run(z).1);
    for j in 0..2 {
        let step = 1e-6;
        let moved = |sign: f64| {
            let mut z = z;
            z[j] += sign * step;
            run(z).0
        };
        let (up, down) = (moved(1.0), moved(-1.0));
        for i in 0..2 {
            let difference = (up[i] - down[i]) / (2.0 * step);
            assert!((place.z[i].eps[j] - difference).abs() < 1e-6 * (1.0 + difference.abs()), "{i} {j} {difference}");
        }
    }
}

/// The written-out saltation matrix S = R_z + (F⁺ − R_z F⁻) g_z / (g_z F⁻) of an impact.
#[test]
fn the_saltation_matrix_is_its_formula() {
    let p = [0.1, 1.0, 0.8, 0.5, 0.7];
    let mut place = Place { t: 0.0, z: [0.0, 1.0, 0.3], mode: 0 };
    assert_eq!(to_event(&ImpactOscillator, &mut place, &p, None, 10.0, Settings::default()).unwrap(), Some(0));
    let before = Place { z: [place.z[0], -place.z[1] / p[4], place.z[2]], ..place };
    let found = saltation(&ImpactOscillator, &before, &p, 0).unwrap();
    let reset = Matrix::diagonal(&[1.0, -p[4], 1.0]);
    let (minus, plus) = (ImpactOscillator.rate(0, 0.0, &before.z, &p), ImpactOscillator.rate(0, 0.0, &place.z, &p));
    let (gradient, moved) = ([-1.0, 0.0, 0.0], reset.apply(&minus));
    let speed = -minus[0];
    let expected = Matrix::from_fn(3, 3, |i, j| reset[(i, j)] + (plus[i] - moved[i]) * gradient[j] / speed);
    assert!(found.plus(-1.0, &expected).largest() < 1e-12);
}
