//! Signals against closed forms, and what scenes say about them.
#![allow(clippy::unwrap_used)]

use dalembert::element::Describe;
use dalembert::methods::Jet;
use dalembert::methods::scalar::Dual2;
use dalembert::scene::{Document, Limits, Overrides};
use dalembert::signals::{self, Curve, Formula, Interpolation, Outside, Points, Signal, SmoothStep, Table};

/// Value, first and second derivative.
fn jet(signal: &Signal, t: f64) -> [f64; 3] {
    let jet: Dual2 = signal.at(Jet::new(Jet::new(t, 1.0), Jet::new(1.0, 0.0)));
    [jet.re.re, jet.re.eps[0], jet.eps[0].eps[0]]
}

fn close(found: [f64; 3], expected: [f64; 3], size: f64) {
    for i in 0..3 {
        // A handful of operations on numbers below `size`.
        assert!((found[i] - expected[i]).abs() <= 32.0 * f64::EPSILON * size, "{found:?} {expected:?}");
    }
}

fn read(text: &str) -> Result<Signal, String> {
    let text = format!("[signal.s]\n{text}");
    let document =
        Document::from_text("s.toml", &text, &Overrides::none(), &Limits::default()).map_err(|e| e.plain())?;
    let entry = document.section("signal").next().unwrap();
    let kind = entry.kind().map_err(|e| e.plain())?;
    let kind = signals::kinds().into_iter().find(|k| k.kind == kind).unwrap();
    (kind.read)(&entry).map(|signal| *signal).map_err(|e| e.plain())
}

#[test]
fn derivatives_meet_closed_forms() {
    let polynomial = read("kind = 'polynomial'\ncoefficients = [1, -2, 0.5, 3]\nstart = 0.5").unwrap();
    let constant = read("kind = 'constant'\nvalue = 2.5").unwrap();
    let hertz = read("kind = 'harmonic'\namplitude = 2\nfrequency = 0.25\nphase = 0.3\noffset = 1").unwrap();
    let radians = read("kind = 'harmonic'\namplitude = 2\nangular_frequency = 3").unwrap();
    let written = read("kind = 'expression'\nvalue = 't^3*exp(-t) + 1'").unwrap();
    for t in [-1.3, 0.0, 0.5, 2.1] {
        let u: f64 = t - 0.5;
        let value = 1.0 - 2.0 * u + 0.5 * u * u + 3.0 * u * u * u;
        close(jet(&polynomial, t), [value, -2.0 + u + 9.0 * u * u, 1.0 + 18.0 * u], 30.0);
        close(jet(&constant, t), [2.5, 0.0, 0.0], 0.0);
        let w = std::f64::consts::FRAC_PI_2;
        let (s, c) = (w * t + 0.3).sin_cos();
        close(jet(&hertz, t), [1.0 + 2.0 * s, 2.0 * w * c, -2.0 * w * w * s], 6.0);
        let (s, c) = (3.0 * t).sin_cos();
        close(jet(&radians, t), [2.0 * s, 6.0 * c, -18.0 * s], 60.0);
        let e = (-t).exp();
        let expected = [1.0 + t.powi(3) * e, (3.0 * t * t - t.powi(3)) * e, (6.0 * t - 6.0 * t * t + t.powi(3)) * e];
        close(jet(&written, t), expected, 80.0);
    }
}

#[test]
fn a_smooth_step_is_at_rest_at_both_ends() {
    let step = Signal::SmoothStep(SmoothStep { from: 2.0, to: -1.0, start: 1.0, end: 3.0 });
    assert_eq!(jet(&step, -5.0), [2.0, 0.0, 0.0]);
    assert_eq!(jet(&step, 1.0), [2.0, 0.0, 0.0]);
    assert_eq!(jet(&step, 3.0), [-1.0, 0.0, 0.0]);
    assert_eq!(jet(&step, 9.0), [-1.0, 0.0, 0.0]);
    // Half way: half the step, the steepest slope 15/8 Δ/T, no curvature.
    close(jet(&step, 2.0), [0.5, -15.0 / 8.0 * 3.0 / 2.0, 0.0], 20.0);
}

fn table(times: &[f64], f: impl Fn(f64) -> f64, interpolation: Interpolation, slopes: [f64; 2]) -> Signal {
    let values = times.iter().map(|&t| f(t)).collect();
    let points = Points { times: times.to_vec(), values, interpolation, slopes, outside: Outside::Hold };
    Signal::Table(Table::try_from(points).unwrap())
}

/// Splines reproduce what they can represent: a cubic (not-a-knot, clamped), a line (natural, linear).
#[test]
fn splines_reproduce_their_own_kind() {
    let times = [-1.0, -0.2, 0.5, 1.1, 2.0, 2.3];
    let cubic = |t: f64| [2.0 - t + 0.5 * t * t - 2.0 * t.powi(3), -1.0 + t - 6.0 * t * t, 1.0 - 12.0 * t];
    let line = |t: f64| [3.0 - 2.0 * t, -2.0, 0.0];
    for t in [-0.9, -0.2, 0.1, 0.7, 1.1, 1.9, 2.2] {
        let slopes = [cubic(-1.0)[1], cubic(2.3)[1]];
        close(jet(&table(&times, |t| cubic(t)[0], Interpolation::NotAKnot, [0.0; 2]), t), cubic(t), 200.0);
        close(jet(&table(&times, |t| cubic(t)[0], Interpolation::Clamped, slopes), t), cubic(t), 200.0);
        close(jet(&table(&times, |t| line(t)[0], Interpolation::Natural, [0.0; 2]), t), line(t), 50.0);
        close(jet(&table(&times, |t| line(t)[0], Interpolation::Linear, [0.0; 2]), t), line(t), 50.0);
    }
    let parabola = |t: f64| [1.0 + t * t, 2.0 * t, 2.0];
    close(jet(&table(&[0.0, 1.0, 3.0], |t| 1.0 + t * t, Interpolation::NotAKnot, [0.0; 2]), 2.0), parabola(2.0), 20.0);
}

/// The error of a not-a-knot spline falls like h⁴, and values, slopes and curvatures are continuous at the knots.
#[test]
fn splines_are_fourth_order_and_twice_continuous() {
    let error = |n: u32| {
        let times: Vec<f64> = (0..=n).map(|i| 2.0 * f64::from(i) / f64::from(n)).collect();
        let spline = table(&times, f64::sin, Interpolation::NotAKnot, [0.0; 2]);
        for &knot in &times[1..times.len() - 1] {
            let (before, after) = (jet(&spline, knot * (1.0 - f64::EPSILON)), jet(&spline, knot));
            close(before, after, 100.0);
        }
        (0..1000).map(|i| 0.002 * f64::from(i)).map(|t| (jet(&spline, t)[0] - t.sin()).abs()).fold(0.0, f64::max)
    };
    let order = (error(20) / error(40)).log2();
    assert!((order - 4.0).abs() < 0.3, "order {order}");
}

/// ∫ of the curve through a cubic is the quartic.
#[test]
fn the_integral_is_exact() {
    let x = [-1.0, 0.3, 0.9, 2.0];
    let y = x.map(|x: f64| x.powi(3) - x);
    let curve = Curve::new(&x, &y, Interpolation::NotAKnot, [0.0; 2]).unwrap();
    let quartic = |x: f64| x.powi(4) / 4.0 - x * x / 2.0;
    for x in [-1.0, -0.5, 0.3, 0.6, 1.7, 2.0] {
        assert!((curve.integral(x) - (quartic(x) - quartic(-1.0))).abs() < 64.0 * f64::EPSILON * 4.0);
    }
}

#[test]
fn outside_its_range_a_table_holds_or_is_not_a_number() {
    let points = |outside| {
        let points = Points {
            times: vec![0.0, 1.0, 2.0],
            values: vec![1.0, 3.0, 2.0],
            interpolation: Interpolation::Natural,
            slopes: [0.0; 2],
            outside,
        };
        Signal::Table(Table::try_from(points).unwrap())
    };
    assert_eq!(jet(&points(Outside::Hold), -1.0), [1.0, 0.0, 0.0]);
    assert_eq!(jet(&points(Outside::Hold), 5.0), [2.0, 0.0, 0.0]);
    assert!(points(Outside::Error).at(2.1).is_nan() && points(Outside::Error).at(-0.1).is_nan());
    assert_eq!(points(Outside::Error).at(2.0), 2.0);
}

#[test]
fn errors_say_what_and_where() {
    let message = |text: &str| read(text).unwrap_err();
    let found = message("kind = 'expression'\nvalue = '2*tt'");
    assert!(found.starts_with("s.toml:3:9") && found.contains("at character 3") && found.contains("`t`"), "{found}");
    let found = message("kind = 'harmonic'\namplitude = 1\nfrequncy = 2");
    assert!(found.starts_with("s.toml:4:1") && found.contains("did you mean `frequency`"), "{found}");
    let found = message("kind = 'table'\ntimes = [0, 1, 1]\nvalues = [1, 2, 3]");
    assert!(found.contains("must ascend, but 1 follows 1"), "{found}");
    let found = message("kind = 'table'\ntimes = []\nvalues = []");
    assert!(found.contains("at least two points, found 0"), "{found}");
    let found = message("kind = 'table'\ntimes = [0, 'x']\nvalues = [1, 2]");
    assert!(found.starts_with("s.toml:3:13"), "{found}");
    for (text, key) in [
        ("kind = 'harmonic'\namplitude = 1", "frequency"),
        ("kind = 'harmonic'\namplitude = 1\nfrequency = 1\nangular_frequency = 1", "angular_frequency"),
        ("kind = 'polynomial'\ncoefficients = []", "coefficients"),
        ("kind = 'smooth_step'\nto = 1\nstart = 2\nend = 2", "end"),
    ] {
        assert_eq!(read(text).unwrap().defect().unwrap().0, key);
    }
}

#[test]
fn a_signal_is_written_as_it_was_read() {
    let signal = read("kind = 'expression'\nvalue = '2 * sin( t )'").unwrap();
    assert_eq!(signal.kind(), "expression");
    assert_eq!(signal.parameters()["value"], "2 * sin( t )");
    let again = Signal::read(signal.kind(), serde_json::Value::Object(signal.parameters())).unwrap().unwrap();
    assert_eq!(again, signal);
    assert!(Signal::read("sinus", serde_json::json!({})).is_none());
    assert!(Formula::<'t'>::new("1 +").is_err());
}

/// Functions that a program gives.
mod callbacks {
    use dalembert::callback::{Callbacks, Function, Law, Samples};
    use dalembert::methods::scalar::{Dual2, Duals, Lanes4};
    use dalembert::methods::tangent::Tangent;
    use dalembert::methods::trace::Trace;
    use dalembert::methods::{Jet, Lanes, State, System};
    use dalembert::run::{Failure, run};
    use dalembert::scene::{Document, Limits, Overrides, Scene};
    use std::sync::Arc;

    /// sin t, with or without its derivatives.
    struct Sine {
        knows: bool,
    }

    impl Function for Sine {
        fn values(&self, times: &[f64], out: &mut [f64]) -> Result<(), String> {
            out.iter_mut().zip(times).for_each(|(out, t)| *out = t.sin());
            Ok(())
        }
        fn derivative(&self, order: usize, t: f64) -> Option<Result<f64, String>> {
            self.knows.then(|| Ok([t.sin(), t.cos(), -t.sin(), -t.cos()][order % 4]))
        }
    }

    /// A spring k (x − 1) along x with the stiffness 8 N/m that fails beyond a time.
    struct Pull {
        until: f64,
    }

    impl Law for Pull {
        fn evaluate(&self, samples: &Samples<'_>, out: &mut [f64]) -> Result<(), String> {
            for (sample, out) in samples.data.chunks(samples.width()).zip(out.chunks_mut(samples.answers())) {
                if sample[0] > self.until {
                    return Err("too late".to_owned());
                }
                out.fill(0.0);
                out[0] = -8.0 * (sample[1] - 1.0);
            }
            Ok(())
        }
    }

    fn scene(callbacks: Callbacks) -> Scene {
        let text = "[body.mass]\nkind = \"particle\"\nmass = 2\nposition = [1.1, 0, 0]\n[signal.wave]\nkind = \"callback\"\n\
                    [force.push]\nkind = \"applied_force\"\nat = \"mass\"\nforce = [0, \"wave\", 0]\n\
                    [force.own]\nkind = \"callback\"\nat = \"mass\"\n[run]\nuntil = 2";
        let document = Document::from_text("own.toml", text, &Overrides::none(), &Limits::default()).unwrap();
        Scene::with_callbacks(document, callbacks).unwrap()
    }

    fn callbacks(knows: bool, until: f64) -> Callbacks {
        let mut callbacks = Callbacks::none();
        callbacks.signals.insert("wave".to_owned(), Arc::new(Sine { knows }));
        callbacks.forces.insert("own".to_owned(), Arc::new(Pull { until }));
        callbacks
    }

    #[test]
    fn signals_from_outside_are_read_with_every_number() {
        for knows in [true, false] {
            let scene = scene(callbacks(knows, f64::INFINITY));
            let signal = &scene.model.signals()[0].item;
            let t = 0.7f64;
            // Exact derivatives are exact to rounding, differences of order k to ε^(2/(k+2)).
            let near = |order: i32| if knows { 1e-15 } else { 4.0 * f64::EPSILON.powf(2.0 / f64::from(order + 2)) };
            assert_eq!(signal.at(t), t.sin());
            assert_eq!(signal.at(Lanes([t, 0.1, 0.2, 0.3])), Lanes([t, 0.1, 0.2, 0.3].map(f64::sin)));
            let once = signal.at(Duals::variable(t, 3));
            assert!((once.eps[3] - t.cos()).abs() < near(1) && once.eps[0] == 0.0);
            let twice = signal.at(Dual2::new(Jet::new(t, 1.0), Jet::new(1.0, 0.0)));
            assert!((twice.eps[0].eps[0] + t.sin()).abs() < near(2));
            assert!(scene.callbacks.faults.take().is_none());
        }
    }

    #[test]
    fn forces_from_outside_are_read_with_every_number() {
        let scene = scene(callbacks(true, f64::INFINITY));
        let (model, start) = (&scene.model, scene.model.initial_state());
        let mut tangent = Tangent::new(model);
        tangent.evaluate(model, &start, &[], &[0.0; 3]);
        let mut column = [0.0; 3];
        tangent.stiffness().add_apply(&[1.0, 0.0, 0.0], &mut column);
        // A central difference of a linear law has no error but rounding: ε/h with h = ε^(1/3), times the stiffness.
        assert!((column[0] + 8.0).abs() < 1e-8 && column[1] == 0.0);
        let mut work = model.work::<Lanes4>();
        let mut state = State::<Lanes4>::zeros(model.shape());
        state.lift(&start);
        state.q[0] = Lanes([1.1, 1.2, 0.9, 1.0]);
        model.prepare(&state, &mut work);
        let mut force = vec![Lanes4::default(); 3];
        model.force(&state, &mut work, &mut force);
        assert_eq!(force[0], Lanes([1.1, 1.2, 0.9, 1.0].map(|x| -8.0 * (x - 1.0))));
        assert!(scene.callbacks.faults.take().is_none());
    }

    #[test]
    fn a_run_with_forces_from_outside_meets_the_closed_form() {
        let scene = scene(callbacks(true, f64::INFINITY));
        let outcome = run(&scene, "own", None, &mut ()).unwrap();
        assert!(outcome.failure.is_none());
        let (time, x) = (outcome.trajectory.time(), outcome.trajectory.column("body.mass.position.x").unwrap());
        // ω² = 8/2; the tolerance is 1e-8 for each of some ten steps.
        assert!(time.iter().zip(x).all(|(t, x)| (x - 1.0 - 0.1 * (2.0 * t).cos()).abs() < 1e-6));
        let y = outcome.trajectory.column("body.mass.position.y").unwrap();
        // 2 ÿ = sin t from rest: y = (t − sin t)/2
        assert!(time.iter().zip(y).all(|(t, y)| (y - (t - t.sin()) / 2.0).abs() < 1e-6));
    }

    #[test]
    fn faults_are_named_and_end_the_run() {
        let scene = scene(callbacks(true, 0.5));
        let outcome = run(&scene, "own", None, &mut ()).unwrap();
        let Some(Failure::Callback(fault)) = outcome.failure else { panic!("the fault is not told") };
        assert!(fault.name == "force.own" && fault.time > 0.5 && fault.message == "too late");
        assert!(outcome.summary.end_time <= 0.5 && !outcome.trajectory.is_empty());
        // Nothing is left over for the next run, and other threads have their own.
        std::thread::scope(|scope| {
            scope.spawn(|| assert!(!scene.callbacks.faults.is_set()));
        });
        assert!(scene.callbacks.faults.take().is_none());
    }

    #[test]
    fn formulas_are_not_made_up() {
        let scene = scene(callbacks(true, f64::INFINITY));
        assert!(scene.model.signals()[0].item.at(Trace::from(0.3)).known().is_some_and(f64::is_nan));
        let fault = scene.callbacks.faults.take().unwrap();
        assert!(fault.name == "signal.wave" && fault.message.contains("formula"));
    }

    #[test]
    fn a_scene_without_its_functions_is_refused() {
        let whole = scene(callbacks(true, 1.0));
        let document =
            Document::from_text("own.toml", &whole.to_toml(), &Overrides::none(), &Limits::default()).unwrap();
        let error = Scene::from_document(document).err().unwrap();
        assert_eq!(error.problems().len(), 2);
        assert!(error.plain().contains("a callback, whose function a program gives"));
    }
}
