//! Interpreter, lanes, machine code for one and for two states: the same numbers to rounding, on random functions.
#![allow(clippy::unwrap_used, missing_docs)]
#![cfg(feature = "compile")]

#[allow(dead_code)] // shared with the bench and other tests
#[path = "../benches/problems/mod.rs"]
mod problems;

use dalembert_graph::derive::jacobian::jacobian;
use dalembert_graph::machine::{Four, Machine, Width};
use dalembert_graph::store::Store;
use dalembert_graph::tape::Tape;
use dalembert_graph::{Function, Program, Recorded, Trace, Way, record};
use dalembert_methods::{Lanes, Real};
use proptest::prelude::*;

const INPUTS: usize = 5;

/// One more number from earlier ones. All lie within [−1.6, 1.6], and the slopes of each step sum to 2 at most, so that an error in
/// the operands grows no more than twofold. Comparisons that jump are made between inputs, which have no error.
fn grow<T: Real>(kind: usize, x: &[T], a: T, b: T, k: usize) -> T {
    let (p, q) = (x[k % x.len()], x[(k / 7) % x.len()]);
    match kind % 24 {
        0 => (a + b) * 0.5,
        1 => (a - b) * 0.5,
        2 => a.tanh() * b.tanh(),
        3 => a.sin(),
        4 => a.cos(),
        5 => a.tanh(),
        6 => a.tanh() / (b * b * 0.25 + 1.0),
        7 => (a * a + 1.0).sqrt() * 0.5,
        8 => T::select(p.lt(q), a, b),
        9 => a.atan2(b * b * 0.25 + 1.0),
        10 => a.tanh().exp() * 0.25,
        11 => (a.tanh().square() + 1.0).ln(),
        12 => (a.tanh().square() + 0.5).powf(T::from(1.5)) * 0.5,
        13 => (a.tanh() * 0.9).asin() * 0.5,
        14 => (a.tanh() * 0.9).acos() * 0.3,
        15 => a.tanh().tan() * 0.5,
        16 => (p * 3.0).round() * 0.3,
        17 => (p * 2.0).floor() * 0.25,
        18 => -a,
        19 => a.max(b),
        20 => a.min(-b),
        21 => a.abs(),
        22 => T::select(T::or(p.le(q), T::not(q.equals(p))), a, -b),
        _ => T::select(T::and(T::zero().lt(p), q.lt(T::from(0.5))), a.tanh().powi(3) * 0.3, b),
    }
}

type Steps = Vec<(usize, usize, usize, usize)>;

fn function<T: Real>(x: &[T], steps: &Steps) -> Vec<T> {
    let mut all = x.to_vec();
    for &(kind, a, b, k) in steps {
        let (a, b) = (all[a % all.len()], all[b % all.len()]);
        all.push(grow(kind, x, a, b, k));
    }
    all.split_off(x.len())
}

/// The depth of each number: how often an error may have doubled.
fn depths(steps: &Steps) -> Vec<i32> {
    let mut all = vec![0; INPUTS];
    for &(_, a, b, _) in steps {
        all.push(1 + all[a % all.len()].max(all[b % all.len()]));
    }
    all.split_off(INPUTS)
}

fn states() -> impl Strategy<Value = [[f64; INPUTS]; 2]> {
    prop::array::uniform2(prop::array::uniform5(-1.0..1.0f64))
}

fn steps() -> impl Strategy<Value = Steps> {
    prop::collection::vec((0..24usize, 0..1000usize, 0..1000usize, 0..1000usize), 1..120)
}

fn same(found: &[f64], exact: &[f64], depths: &[i32], what: &str) {
    for (k, ((a, b), depth)) in found.iter().zip(exact).zip(depths).enumerate() {
        // Each step rounds eight times at most, in each of the two readings, and doubles what was there.
        let bound = 16.0 * f64::EPSILON * 2f64.powi(*depth);
        assert!((a - b).abs() <= bound, "{what}, number {k}: {a} and {b} differ by {:e} > {bound:e}", (a - b).abs());
    }
}

/// One more number by instructions of the processor alone; bounds as for [`grow`].
fn grow_plainly<T: Real>(kind: usize, x: &[T], a: T, b: T, k: usize) -> T {
    let (p, q) = (x[k % x.len()], x[(k / 7) % x.len()]);
    match kind % 16 {
        0 | 1 => (a + b) * 0.5,
        2 | 3 => (a - b) * 0.5,
        4..7 => a * b * 0.5,
        7 => a * p * 0.5 + b * 0.5,
        8 => b * 0.5 - a * q * 0.5,
        9 => a * q * 0.5 - p,
        10 => a / (b * b * 0.25 + 1.0) * 0.5,
        11 => (a * a + 1.0).sqrt() * 0.5,
        12 => T::select(T::and(p.lt(q), T::not(q.equals(p))), a, b),
        13 => T::select(T::or(p.le(q), T::zero().lt(p)), a, -b),
        14 => a.sin(),
        _ => (a + p).cos(),
    }
}

/// Long functions of which many numbers are needed late: more than there are registers.
fn long<T: Real>(x: &[T], steps: &Steps, outputs: usize) -> Vec<T> {
    let mut all = x.to_vec();
    for &(kind, a, b, k) in steps {
        let (a, b) = (all[a % all.len()], all[b % all.len()]);
        all.push(grow_plainly(kind, x, a, b, k));
    }
    all.split_off(all.len() - outputs)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn long_functions_without_calls_agree(
        steps in prop::collection::vec((0..16usize, 0..1000usize, 0..1000usize, 0..1000usize), 100..900),
        outputs in 1..90usize,
        x in states(),
    ) {
        let depths = depths(&steps);
        let depths = &depths[steps.len() - outputs..];
        let f = record(INPUTS, |x: &[Trace]| long(x, &steps, outputs)).unwrap();
        let fast = Function::compiled(&f, None).unwrap();
        let mut work = fast.work();
        let plain: Vec<Vec<f64>> = x.iter().map(|x| long(x, &steps, outputs)).collect();
        for j in 0..2 {
            let mut y = vec![f64::NAN; outputs];
            fast.call(&mut work, &x[j], &mut y);
            same(&y, &plain[j], depths, "machine code");
        }
        let side: Vec<f64> = (0..INPUTS).flat_map(|i| [x[0][i], x[1][i]]).collect();
        let mut y = vec![f64::NAN; 2 * outputs];
        fast.call_two(&mut work, &side, &mut y);
        for j in 0..2 {
            same(&y.iter().skip(j).step_by(2).copied().collect::<Vec<_>>(), &plain[j], depths, "two states");
        }
    }
}

/// The Jacobians of the race, whose numbers wait in memory for long: machine code gives what the interpreter gives.
#[test]
fn jacobians_agree() {
    for (name, function, x) in problems::all().unwrap() {
        let f = jacobian(&function).function;
        let (fast, slow) = (Function::compiled(&f, None).unwrap(), Function::interpreted(&f));
        let n = fast.outputs();
        let (mut exact, mut one, mut two) = (vec![0.0; n], vec![f64::NAN; n], vec![f64::NAN; 2 * n]);
        slow.call(&mut slow.work(), &x, &mut exact);
        fast.call(&mut fast.work(), &x, &mut one);
        let side: Vec<f64> = x.iter().flat_map(|&x| [x, x]).collect();
        fast.call_two(&mut fast.work(), &side, &mut two);
        // Each entry is a sum along one way through the links and back, of some 20 roundings for a link of terms that are no larger than
        // the largest entry.
        let largest = exact.iter().fold(0.0, |m: f64, y| m.max(y.abs()));
        let bound = 20.0 * 16.0 * f64::EPSILON * largest;
        for k in 0..n {
            for found in [one[k], two[2 * k], two[2 * k + 1]] {
                assert!((found - exact[k]).abs() <= bound, "{name}, entry {k}: {found} and {}", exact[k]);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn all_readings_agree(steps in steps(), x in states()) {
        let depths = depths(&steps);
        let f = record(INPUTS, |x: &[Trace]| function(x, &steps)).unwrap();
        let plain: Vec<Vec<f64>> = x.iter().map(|x| function(x, &steps)).collect();
        let fast = Function::compiled(&f, None).unwrap();
        prop_assert!(fast.is_compiled());
        let slow = Function::interpreted(&f);
        let (mut work, n) = (fast.work(), fast.outputs());
        for j in 0..2 {
            let mut y = vec![f64::NAN; n];
            slow.call(&mut slow.work(), &x[j], &mut y);
            same(&y, &plain[j], &depths, "interpreter");
            y.fill(f64::NAN);
            fast.call(&mut work, &x[j], &mut y);
            same(&y, &plain[j], &depths, "machine code");
        }
        let side: Vec<f64> = (0..INPUTS).flat_map(|i| [x[0][i], x[1][i]]).collect();
        for (function, what) in [(&fast, "two states"), (&slow, "two states interpreted")] {
            let mut y = vec![f64::NAN; 2 * n];
            function.call_two(&mut function.work(), &side, &mut y);
            for j in 0..2 {
                same(&y.iter().skip(j).step_by(2).copied().collect::<Vec<_>>(), &plain[j], &depths, what);
            }
        }
        // The interpreter in four lanes gives in each what it gives alone.
        let lanes: Vec<Lanes<4>> = (0..INPUTS).map(|i| Lanes([x[0][i], x[1][i], x[0][i], x[1][i]])).collect();
        let mut wide = vec![Lanes::<4>::default(); n];
        slow.tape().run(&mut slow.tape().work(), &lanes, &mut wide);
        for j in 0..2 {
            let mut y = vec![0.0; n];
            slow.call(&mut slow.work(), &x[j], &mut y);
            prop_assert!(wide.iter().zip(&y).all(|(w, y)| w.0[j] == *y && w.0[j + 2] == *y));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    /// Code without fused instructions, as older processors need it.
    #[test]
    fn plain_code_agrees(steps in steps(), x in states()) {
        let depths = depths(&steps);
        let f = record(INPUTS, |x: &[Trace]| function(x, &steps)).unwrap();
        let plain: Vec<Vec<f64>> = x.iter().map(|x| function(x, &steps)).collect();
        let n = plain[0].len();
        let program = Program::new(&f);
        for width in [Width::One, Width::Two] {
            let bytes = Machine::compile_plain(&program, width).unwrap();
            let machine = Machine::load(&program, width, &bytes).unwrap();
            let count = width.count();
            let side: Vec<f64> = (0..INPUTS).flat_map(|i| x[..count].iter().map(move |x| x[i])).collect();
            let mut y = vec![f64::NAN; count * n];
            prop_assert!(machine.run(&mut machine.work(), &side, &mut y));
            for j in 0..count {
                same(&y.iter().skip(j).step_by(count).copied().collect::<Vec<_>>(), &plain[j], &depths, "plain code");
            }
        }
    }
}

/// Four states by machine code and by the interpreter, with constants of their own; those that the code leaves to the interpreter are its own.
fn fours(program: &Program, x: &[[f64; 4]], scale: [f64; 4]) {
    let tape = Tape::new(program);
    let own: Vec<Lanes<4>> = program.constants.iter().map(|&c| Lanes(scale.map(|s| s * c))).collect();
    let x: Vec<Lanes<4>> = x.iter().map(|&x| Lanes(x)).collect();
    let zeros = vec![Lanes([0.0; 4]); program.outputs.len()];
    let mut by_tape = zeros.clone();
    tape.run_lanes(&mut tape.work_with(&own), &x, &mut by_tape);
    // A state by itself is a lane.
    for lane in 0..4 {
        let one = |all: &[Lanes<4>]| all.iter().map(|all| Lanes([all.0[lane]])).collect::<Vec<Lanes<1>>>();
        let mut alone = one(&zeros);
        tape.run_lanes(&mut tape.work_with(&one(&own)), &one(&x), &mut alone);
        let bits = |y: &[Lanes<1>]| y.iter().map(|y| y.0[0].to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&alone), bits(&one(&by_tape)), "lane {lane} by itself");
    }
    let Ok(machine) = Four::new(program) else {
        assert!(!cfg!(target_arch = "x86_64") || !std::arch::is_x86_feature_detected!("avx2"));
        return;
    };
    let mut constants = machine.constants();
    for (at, own) in own.iter().enumerate() {
        (0..4).for_each(|lane| constants.set(at, lane, own.0[lane]));
    }
    let (mut work, mut y) = (machine.work(), zeros);
    let near = machine.run(&constants, &mut work, &x, &mut y);
    for lane in 0..4 {
        let is_near = x.iter().all(|x| x.0[lane].abs() < 1e3);
        assert!(near[lane] || !is_near, "lane {lane} is near");
        let bits = |y: &[Lanes<4>]| y.iter().map(|y| y.0[lane].to_bits()).collect::<Vec<_>>();
        assert!(!near[lane] || bits(&y) == bits(&by_tape), "lane {lane} of {y:?} and of {by_tape:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn fours_have_the_bits_of_the_interpreter(
        steps in prop::collection::vec((0..16usize, 0..1000usize, 0..1000usize, 0..1000usize), 1..700),
        outputs in 1..90usize,
        x in prop::array::uniform5(prop::array::uniform4(-1.0..1.0f64)),
        scale in prop::array::uniform4(0.5..1.5f64),
    ) {
        let outputs = outputs.min(steps.len());
        let program = Program::new(&record(INPUTS, |x: &[Trace]| long(x, &steps, outputs)).unwrap());
        fours(&program, &x, scale);
    }
}

/// One state whose angle is far away leaves the others as they are, and is left to the interpreter itself.
#[test]
fn a_far_angle_is_left_to_the_interpreter() {
    let program = Program::new(&turning());
    let machine = Four::new(&program);
    let x = [[0.3, 3e5, -2.0, f64::NAN]; 3];
    fours(&program, &x[..program.inputs], [1.0; 4]);
    if let Ok(machine) = machine {
        let x: Vec<Lanes<4>> = x[..program.inputs].iter().map(|&x| Lanes(x)).collect();
        let mut y = vec![Lanes([0.0; 4]); program.outputs.len()];
        let near = machine.run(&machine.constants(), &mut machine.work(), &x, &mut y);
        assert_eq!(near, [true, false, true, false]);
    }
}

/// What calls the library has no code for four.
#[test]
fn calls_of_the_library_are_for_the_interpreter() {
    let program = Program::new(&record(1, |x: &[Trace]| vec![x[0].exp()]).unwrap());
    assert!(Four::new(&program).is_err());
}

fn call(f: &Function, x: &[f64]) -> Vec<f64> {
    let mut y = vec![f64::NAN; f.outputs()];
    f.call(&mut f.work(), x, &mut y);
    y
}

fn turning() -> Recorded {
    record(2, |x: &[Trace]| vec![x[0].sin(), (x[0] * x[1]).cos(), x[1].sin(), x[0]]).unwrap()
}

/// Inline sines are those of the library to a unit in the last place of 1; angles far away, infinite or not numbers go to the library.
#[test]
fn angles_near_and_far() {
    let fast = Function::compiled(&turning(), None).unwrap();
    for k in -2000..2000 {
        let x = [f64::from(k) * 0.137, f64::from(k % 17) * 0.3];
        let y = call(&fast, &x);
        let exact = [x[0].sin(), (x[0] * x[1]).cos(), x[1].sin(), x[0]];
        assert!(y.iter().zip(exact).all(|(a, b)| (a - b).abs() <= 2.3e-16), "{x:?}: {y:?} {exact:?}");
    }
    for x in [[1e6, 1.0], [3e300, 0.0], [-7e5, 2e9]] {
        assert_eq!(call(&fast, &x), [x[0].sin(), (x[0] * x[1]).cos(), x[1].sin(), x[0]]);
    }
    let y = call(&fast, &[f64::INFINITY, 1.0]);
    assert!(y[0].is_nan() && y[1].is_nan() && (y[2] - 1f64.sin()).abs() < 2.3e-16);
    assert!(call(&fast, &[f64::NAN, 1.0])[0].is_nan());
}

/// Constants, inputs and the same value in several places are outputs, too; there may be none of anything.
#[test]
fn corners() {
    let f = record(2, |x: &[Trace]| vec![Trace::from(3.5), x[1], x[0] + x[1], x[1], x[0] + x[1], Trace::from(-0.0)])
        .unwrap();
    let fast = Function::compiled(&f, None).unwrap();
    assert_eq!(call(&fast, &[1.0, 2.0]), [3.5, 2.0, 3.0, 2.0, 3.0, 0.0]);
    let mut pairs = [0.0; 12];
    fast.call_two(&mut fast.work(), &[1.0, 5.0, 2.0, 6.0], &mut pairs);
    assert_eq!(pairs, [3.5, 3.5, 2.0, 6.0, 3.0, 11.0, 2.0, 6.0, 3.0, 11.0, 0.0, 0.0]);
    let none = record(0, |_: &[Trace]| vec![]).unwrap();
    assert!(call(&Function::compiled(&none, None).unwrap(), &[]).is_empty());
    // 1/3 by a reciprocal is one rounding off at most.
    let third = Function::compiled(&record(1, |x: &[Trace]| vec![x[0] / 3.0]).unwrap(), None).unwrap();
    assert!((call(&third, &[1.0])[0] - 1.0 / 3.0).abs() <= f64::EPSILON / 3.0);
}

#[test]
fn the_way_is_chosen() {
    let f = turning();
    let way = |evaluations| Function::new(&f, Way::Automatic { evaluations }, None).unwrap().is_compiled();
    assert!(!way(10) && way(1_000_000));
    assert!(!Function::new(&f, Way::Interpret, None).unwrap().is_compiled());
    assert!(Function::new(&f, Way::Compile, None).unwrap().is_compiled());
}

/// Code is kept by its content, found again, and never taken from a file that is not what it should be.
#[test]
fn code_is_kept_on_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path().join("code"));
    let f = turning();
    let x = [0.3, 0.4];
    let first = call(&Function::compiled(&f, Some(&store)).unwrap(), &x);
    let files = || {
        let mut files: Vec<_> = std::fs::read_dir(store.folder()).unwrap().map(|f| f.unwrap().path()).collect();
        files.sort();
        files
    };
    assert_eq!(files().len(), 2);
    let program = Program::new(&f);
    let kept = store.find(&program, Width::One).unwrap();
    assert_eq!(kept, Machine::compile(&program, Width::One).unwrap());
    assert_eq!(call(&Function::compiled(&f, Some(&store)).unwrap(), &x), first);
    assert_eq!(files().len(), 2);
    // Another function has other files.
    Function::compiled(&record(1, |x: &[Trace]| vec![x[0] * 2.0]).unwrap(), Some(&store)).unwrap();
    assert_eq!(files().len(), 4);
    for file in files() {
        let mut bytes = std::fs::read(&file).unwrap();
        let last = bytes.len() - 1;
        bytes[last] ^= 1;
        std::fs::write(&file, &bytes).unwrap();
    }
    assert!(store.find(&program, Width::One).is_none());
    assert_eq!(call(&Function::compiled(&f, Some(&store)).unwrap(), &x), first);
    assert!(store.find(&program, Width::One).is_some());
    for file in files() {
        std::fs::write(&file, b"dalgraph").unwrap();
    }
    assert!(store.find(&program, Width::Two).is_none());
}

/// Files that are cut, changed anywhere, of another function, of another width or longer than they should be are never taken.
#[test]
fn foreign_and_damaged_code_is_a_miss() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::new(folder.path());
    let (ours, other) = (Program::new(&turning()), Program::new(&record(1, |x: &[Trace]| vec![x[0] * 2.0]).unwrap()));
    let only = |keep: &dyn Fn()| {
        let before: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().path()).collect();
        keep();
        let after = std::fs::read_dir(folder.path()).unwrap().map(|f| f.unwrap().path());
        after.into_iter().find(|file| !before.contains(file)).unwrap()
    };
    let kept = |program: &Program, width: Width| {
        let bytes = Machine::compile(program, width).unwrap();
        (only(&|| store.keep(program, width, &bytes)), bytes)
    };
    let (file, bytes) = kept(&ours, Width::One);
    let (wide, _) = kept(&ours, Width::Two);
    let (foreign, _) = kept(&other, Width::One);
    let good = std::fs::read(&file).unwrap();
    let find = || store.find(&ours, Width::One);
    assert_eq!(find(), Some(bytes));
    for at in (0..good.len()).step_by(5) {
        let mut bad = good.clone();
        bad[at] ^= 1 << (at % 8);
        std::fs::write(&file, &bad).unwrap();
        assert_eq!(find(), None, "byte {at}");
        std::fs::write(&file, &good[..at]).unwrap();
        assert_eq!(find(), None, "cut at {at}");
    }
    for strange in [
        std::fs::read(&wide).unwrap(),
        std::fs::read(&foreign).unwrap(),
        [&good[..], b"\xcc"].concat(),
        vec![0; 64],
        b"dalgraph".repeat(9),
    ] {
        std::fs::write(&file, strange).unwrap();
        assert_eq!(find(), None);
    }
    // A length of the key that points beyond the file, with the right checksum of what follows.
    let mut long = good.clone();
    long[16..24].copy_from_slice(&u64::MAX.to_le_bytes());
    let sum =
        long[16..].iter().fold(0xcbf2_9ce4_8422_2325u64, |h, &b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3));
    long[8..16].copy_from_slice(&sum.to_le_bytes());
    std::fs::write(&file, &long).unwrap();
    assert_eq!(find(), None);
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert_eq!(find(), None);
}
