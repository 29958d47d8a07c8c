//! Functions of models as kernels of their elements: the numbers of the whole, whatever its size.

use dalembert::callback::{Callbacks, Function};
use dalembert::equations::Sum;
use dalembert::model::Model;
use dalembert::scene::{Document, Limits, Overrides, Scene};
use dalembert::scenes;
use dalembert_control::elements::{ModelKernels, Reason};
use dalembert_graph::kernels::{Extent, Kernels};
use dalembert_graph::tape::Tape;
use dalembert_graph::{Program, TraceError};
use dalembert_methods::algebra::{Mass, Rows};
use dalembert_methods::nonsmooth::Contacts;
use dalembert_methods::scalar::Dual;
use dalembert_methods::{Scalar, State, System};
use std::sync::Arc;

use super::ball::Ball;

fn scene(name: &str, text: &str, settings: &[String]) -> Model {
    let overrides: Overrides = settings.iter().cloned().collect();
    let document = Document::from_text(name, text, &overrides, &Limits::default());
    document.and_then(Scene::from_document).unwrap_or_else(|e| panic!("{}", e.plain())).model
}

fn built_in(name: &str, settings: &[String]) -> Model {
    scene(name, scenes::find(name).unwrap().text, settings)
}

/// A state from time, coordinates, velocities, extra states and parameters in a row.
fn state<S: Scalar>(model: &Model, x: &[S]) -> State<S> {
    let mut s = State::zeros(model.shape());
    s.t = x[0];
    let mut rest = &x[1..];
    for part in [&mut s.q, &mut s.v, &mut s.x, &mut s.p] {
        let (own, after) = rest.split_at(part.len());
        part.copy_from_slice(own);
        rest = after;
    }
    s
}

fn row(s: &State<f64>) -> Vec<f64> {
    [&[s.t][..], &s.q, &s.v, &s.x, &s.p].concat()
}

/// A function of the whole model, as it is computed.
fn whole<S: Scalar>(model: &Model, sum: Sum, x: &[S]) -> Vec<S> {
    let (shape, s) = (model.shape(), state(model, x));
    let mut w = model.work::<S>();
    model.prepare(&s, &mut w);
    let mut out = vec![S::zero(); model.length(sum)];
    match sum {
        Sum::Mass => {
            let mut mass = Mass::new(&model.mass_blocks());
            model.mass(&s, &mut w, &mut mass);
            out = (0..mass.blocks().count()).flat_map(|i| mass.block(i).to_vec()).collect();
        }
        Sum::Force => model.force(&s, &mut w, &mut out),
        Sum::Rate => model.rate(&s, &mut w, &mut out),
        Sum::Power => model.integrand(&s, &vec![S::zero(); shape.rows()], &mut w, &mut out),
        Sum::Residual => model.constraint(&s, &mut w, &mut out),
        Sum::Velocity => model.constraint_rate(&s, &mut w, &mut out),
        Sum::Bias => model.constraint_bias(&s, &mut w, &mut out),
        Sum::Jacobian => {
            let mut rows = Rows::new(shape.rows(), shape.v, &model.row_blocks());
            model.jacobian(&s, &mut w, &mut rows);
            out = (0..rows.blocks().len()).flat_map(|i| rows.block(i).to_vec()).collect();
        }
        Sum::Gap => model.contact_gap(&s, &mut w, &mut out),
    }
    out
}

/// How far rounding can carry the values of kernels, by running error analysis: see [`Ball`].
fn radii(kernels: &Kernels, x: &[f64]) -> Vec<f64> {
    let mut out = vec![Ball::default(); kernels.sizes.outputs];
    let long: Vec<Ball> = x.iter().chain(&kernels.constants).map(|&x| Ball::from(x)).collect();
    for kernel in &kernels.kernels {
        let tape = Tape::new(&Program::new(&kernel.function));
        let (mut slots, mut y) = (tape.work(), vec![Ball::default(); kernel.function.outputs.len()]);
        for instance in &kernel.instances {
            let own: Vec<Ball> = instance.inputs.iter().map(|&i| long[i as usize]).collect();
            tape.run(&mut slots, &own, &mut y);
            instance.outputs.iter().zip(&y).for_each(|(&place, &y)| out[place as usize] += y);
        }
    }
    out.iter().map(|ball| ball.radius).collect()
}

/// Away from the start, as the tests of recordings go.
fn moved(x: &[f64]) -> Vec<f64> {
    x.iter().enumerate().map(|(k, x)| x + 0.01 * (1.0 + x.abs()) * (1.7 * (k + 1) as f64).sin()).collect()
}

/// The recorded operations are those of the plain reading, some of them in another order or with reciprocals for divisions: so both readings are as far from the truth as the
/// radius tells, each reordering at most doubles it, and they are apart by four radii at most. What recording finds to vanish (x − x, a · b − b · a) is a rounding of the plain
/// reading, of terms that are not larger than the largest value, some ten of them.
fn bound(radius: f64, largest: f64) -> f64 {
    4.0 * radius + 10.0 * f64::EPSILON * largest
}

fn largest(list: impl Iterator<Item = f64>) -> f64 {
    list.filter(|y| y.is_finite()).fold(1.0, |most, y| most.max(y.abs()))
}

/// Every built-in scene at its start and away from it: each function by kernels, interpreted and compiled, is that of the whole.
#[test]
fn kernels_have_the_numbers_of_the_whole() {
    let (mut compared, mut blurred) = (0, 0);
    for scene in scenes::ALL {
        let model = built_in(scene.name, &[]);
        let start = row(&model.initial_state());
        for sum in Sum::ALL {
            let parts = ModelKernels::of(&model, &[sum]);
            assert!(parts.plain().is_empty(), "{}: {:?}", scene.name, parts.plain());
            let [mut slow, mut fast] = [0, 1_000_000].map(|evaluations| parts.values(evaluations, None).unwrap());
            for x in [start.clone(), moved(&start)] {
                let (exact, radius) = (whole(&model, sum, &x), radii(parts.kernels(), &x));
                assert_eq!(exact.len(), parts.len());
                let most = largest(exact.iter().copied());
                for values in [&mut slow, &mut fast] {
                    let mut found = vec![f64::NAN; exact.len()];
                    values.call(&state(&model, &x), &mut found);
                    for (k, (a, b)) in found.iter().zip(&exact).enumerate() {
                        // A field of contact has no number inside of its wall; in directions that vanish the recording has zero.
                        let same = (a - b).abs() <= bound(radius[k], most) || !b.is_finite();
                        let what = format!("{} {sum:?} {k}", scene.name);
                        assert!(
                            same,
                            "{what}: {a} by kernels, {b} whole, apart by {:e} > 4 · {:e}",
                            (a - b).abs(),
                            radius[k]
                        );
                        compared += usize::from(b.is_finite());
                        blurred += usize::from(radius[k] > 1e-6 * (1.0 + b.abs()));
                    }
                }
            }
        }
    }
    // A bound that says nothing would pass anything.
    assert!(compared > 10_000 && blurred * 100 < compared, "{blurred} of {compared} have no sharp bound");
}

/// Every built-in scene away from its start: the sparse derivatives of all functions along a direction are those of duals of the whole.
#[test]
fn derivatives_of_kernels_agree_with_duals_of_the_whole() {
    let (mut compared, mut blurred, mut vary) = (0, 0, 0);
    for scene in scenes::ALL {
        let model = built_in(scene.name, &[]);
        let start = row(&model.initial_state());
        for sum in Sum::ALL {
            let parts = ModelKernels::of(&model, &[sum]);
            let (kernels, pattern) = parts.derivatives();
            let [mut slow, mut fast] = [0, 1_000_000].map(|evaluations| parts.slopes(evaluations, None).unwrap());
            assert_eq!(slow.pattern(), &pattern);
            for x in [start.clone(), moved(&start)] {
                let along: Vec<f64> = (0..x.len()).map(|k| (0.9 * (k + 1) as f64).sin()).collect();
                let seeded: Vec<Dual> = x.iter().zip(&along).map(|(&x, &v)| Dual::new(x, v)).collect();
                let (exact, radius) = (whole(&model, sum, &seeded), radii(&kernels, &x));
                let most = largest(exact.iter().flat_map(|y| [y.re, y.eps[0]]));
                for slopes in [&mut slow, &mut fast] {
                    let mut entries = vec![f64::NAN; pattern.len()];
                    slopes.call(&state(&model, &x), &mut entries);
                    let mut found = vec![Ball::default(); exact.len()];
                    for ((&(row, column), &entry), &radius) in pattern.entries.iter().zip(&entries).zip(&radius) {
                        found[row as usize] += Ball { value: entry, radius } * Ball::from(along[column as usize]);
                    }
                    for (k, (a, b)) in found.iter().zip(&exact).enumerate() {
                        let (b, apart) = (b.eps[0], (a.value - b.eps[0]).abs());
                        // Duals have no number where a side that is not taken has an infinite slope.
                        let same = apart <= bound(a.radius, most) || !b.is_finite();
                        let what = format!("{} {sum:?} {k}", scene.name);
                        assert!(
                            same,
                            "{what}: {} by kernels, {b} by duals, apart by {apart:e} > 4 · {:e}",
                            a.value, a.radius
                        );
                        compared += usize::from(b.is_finite());
                        blurred += usize::from(a.radius > 1e-6 * (1.0 + b.abs()));
                        vary += usize::from(b != 0.0);
                    }
                }
            }
        }
    }
    assert!(compared > 10_000 && 5 * vary > compared, "{vary} of {compared} vary");
    assert!(blurred * 100 < compared, "{blurred} of {compared} have no sharp bound");
}

/// A leech of any length has the same kernels, as long and no longer, of forces, of residuals and of their derivatives; only tables grow, by
/// the same for every segment. With one volume for all of it too: the volume is a sum over segments.
#[test]
fn kernels_of_a_leech_do_not_grow() {
    for compartments in ["each", "whole"] {
        let extents = [2, 20, 200].map(|n: usize| {
            let settings = [
                format!("assembly.leech.segments={n}"),
                format!("assembly.leech.length={}", 1.8 * n as f64),
                format!("assembly.leech.compartments=\"{compartments}\""),
                "assembly.leech.shape=\"given\"".to_owned(),
            ];
            let model = built_in("leech-21", &settings);
            let parts = ModelKernels::of(&model, &Sum::ALL);
            assert!(parts.plain().is_empty());
            let (slopes, pattern) = parts.derivatives();
            let entries = pattern.len();
            (parts.kernels().extent(), slopes.extent(), entries)
        });
        let fixed = |e: &Extent| (e.kernels, e.operations);
        for (values, slopes, _) in &extents[1..] {
            assert_eq!((fixed(values), fixed(slopes)), (fixed(&extents[0].0), fixed(&extents[0].1)), "{compartments}");
        }
        let linear = |of: &dyn Fn(&(Extent, Extent, usize)) -> usize| {
            let [a, b, c] = [0, 1, 2].map(|k| of(&extents[k]));
            // From 2 to 20 are 18 segments, from 20 to 200 ten times as many.
            assert_eq!(c - b, 10 * (b - a), "{compartments}: {a} {b} {c}");
        };
        linear(&|e| e.0.instances);
        linear(&|e| e.0.entries);
        linear(&|e| e.1.entries);
        linear(&|e| e.2);
    }
}

/// A sum and its derivatives, column by column, by kernels and by the whole, where some elements are computed as they are: with the very same operations for plain numbers, and
/// for duals along the same column, so that adaptive rules take the same steps.
fn agree(model: &Model, parts: &ModelKernels<'_>, sum: Sum) {
    let x = moved(&row(&model.initial_state()));
    let exact = whole(model, sum, &x);
    let (mut values, mut slopes) = (parts.values(1, None).unwrap(), parts.slopes(1, None).unwrap());
    let (mut found, mut entries) = (vec![f64::NAN; exact.len()], vec![f64::NAN; slopes.pattern().len()]);
    values.call(&state(model, &x), &mut found);
    slopes.call(&state(model, &x), &mut entries);
    // Kernels beside them have some hundred operations.
    let largest = |list: &[f64]| 200.0 * f64::EPSILON * list.iter().fold(1.0, |most: f64, y| most.max(y.abs()));
    let bound = largest(&exact);
    assert!(found.iter().zip(&exact).all(|(a, b)| (a - b).abs() <= bound), "{found:?} {exact:?}");
    let dense = slopes.pattern().dense(&entries);
    let mut vary = 0;
    for column in 0..x.len() {
        let unit = |i: usize| f64::from(u8::from(i == column));
        let seeded: Vec<Dual> = x.iter().enumerate().map(|(i, &x)| Dual::new(x, unit(i))).collect();
        let exact: Vec<f64> = whole(model, sum, &seeded).iter().map(|y| y.eps[0]).collect();
        let bound = largest(&exact);
        for (row, b) in exact.iter().enumerate() {
            let a = dense[row * x.len() + column];
            assert!((a - b).abs() <= bound, "{row} {column}: {a} {b}");
            vary += usize::from(*b != 0.0);
        }
    }
    assert!(vary > 0);
}

/// The field around an ellipsoid has no closed form and is integrated adaptively, so it cannot be recorded: it is evaluated as it is, the reason is told, and numbers
/// and derivatives are those of the whole. The rest of the model is kernels.
#[test]
fn what_branches_is_computed_as_it_is() {
    let settings = ["assembly.ball.shape={ellipsoid={radii=[0.5, 0.4, 0.5]}}", "assembly.ball.position=[0, 0, 0.7]"];
    let model = built_in("soft-ball", &settings.map(str::to_owned));
    let parts = ModelKernels::of(&model, &[Sum::Force]);
    assert!(!parts.plain().is_empty() && !parts.kernels().kernels.is_empty());
    for plain in parts.plain() {
        assert!(matches!(plain.reason, Reason::Trace(TraceError::Branched { .. })), "{}", plain.reason);
        assert!(plain.name.starts_with("force."), "{}", plain.name);
        assert!(plain.reason.to_string().contains("quadrature.rs"), "{}", plain.reason);
    }
    agree(&model, &parts, Sum::Force);
}

/// A wave that a program gives.
struct Wave;

impl Function for Wave {
    fn values(&self, times: &[f64], out: &mut [f64]) -> Result<(), String> {
        out.iter_mut().zip(times).for_each(|(out, t)| *out = t.sin());
        Ok(())
    }
    fn derivative(&self, order: usize, t: f64) -> Option<Result<f64, String>> {
        Some(Ok([t.sin(), t.cos(), -t.sin(), -t.cos()][order % 4]))
    }
}

/// Forces by functions from outside are asked as they are, and never recorded; springs beside them are kernels.
#[test]
fn functions_from_outside_are_asked_as_they_are() {
    let text = "[body.mass]\nkind = \"particle\"\nmass = 2\nposition = [1.1, 0, 0]\n[signal.wave]\nkind = \"callback\"\n\
                [force.push]\nkind = \"applied_force\"\nat = \"mass\"\nforce = [0, \"wave\", 0]\n\
                [force.spring]\nkind = \"spring\"\nbetween = [\"ground\", \"mass\"]\nstiffness = 20\nrest_length = 1\n[run]\nuntil = 2";
    let mut callbacks = Callbacks::none();
    callbacks.signals.insert("wave".to_owned(), Arc::new(Wave));
    let document = Document::from_text("own.toml", text, &Overrides::none(), &Limits::default()).unwrap();
    let scene = Scene::with_callbacks(document, callbacks).unwrap();
    let parts = ModelKernels::of(&scene.model, &[Sum::Force]);
    let told: Vec<(&str, Reason)> = parts.plain().iter().map(|p| (p.name.as_str(), p.reason)).collect();
    assert_eq!(told, [("force.push", Reason::Outside)]);
    agree(&scene.model, &parts, Sum::Force);
    assert!(scene.callbacks.faults.take().is_none());
}

/// A signal that a study has set free is an input like coordinates: the force it makes has the slope one by it, and none by time any more.
#[test]
fn signals_set_free_are_inputs() {
    let text = "[body.mass]\nkind = \"particle\"\nmass = 2\n[signal.wave]\nkind = \"expression\"\nvalue = \"sin(3*t)\"\n\
                [force.push]\nkind = \"applied_force\"\nat = \"mass\"\nforce = [0, \"wave\", 0]\n[run]\nuntil = 2";
    let mut model = scene("free.toml", text, &[]);
    let entries = |model: &Model| {
        let parts = ModelKernels::of(model, &[Sum::Force]);
        let mut slopes = parts.slopes(1, None).unwrap();
        let mut entries = vec![f64::NAN; slopes.pattern().len()];
        slopes.call(&State { t: 0.2, ..model.initial_state() }, &mut entries);
        (slopes.pattern().entries.clone(), entries)
    };
    // By time it has the slope 3 cos 3t; a cosine is good to a unit of the last place, and 3t to half of one.
    let (places, found) = entries(&model);
    assert_eq!(places, [(1, 0)]);
    assert!((found[0] - 3.0 * (3.0f64 * 0.2).cos()).abs() < 8.0 * f64::EPSILON * 3.0);
    model.set_free(1, &[("wave", 0)]).unwrap();
    // t, three coordinates and three velocities come before p.
    assert_eq!(entries(&model), (vec![(1, 7)], vec![1.0]));
}
