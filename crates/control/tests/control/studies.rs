//! Built-in studies, and studies that are wrong.

use dalembert_control::refine::{errors, solve_refined};
use dalembert_control::solution::solve_near;
use dalembert_control::study::{Source, Study, built_in, record};
use dalembert_control::{Options, Solution, solve};
use dalembert_optimise::Control as Go;

fn run(name: &str, change: &dyn Fn(&str) -> String) -> (Study, Solution) {
    let text = change(built_in::find(name).unwrap().text);
    let study = Study::from_text("study.toml", &text, &Source::BuiltIn).unwrap_or_else(|e| panic!("{name}: {e}"));
    let problem = study.problem().unwrap_or_else(|e| panic!("{name}: {e}"));
    let options = Options { evaluations: 1, ..Options::default() };
    let solution =
        solve(&problem, &options, study.solver(), &mut |_| Go::Continue).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(solution.is_success(), "{name}: {}", solution.report);
    let outcome = record(&study, &problem, &solution, name, 4).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(outcome.trajectory.len() > 10 && outcome.trajectory.time().windows(2).all(|t| t[1] > t[0]));
    assert!(outcome.trajectory.channels().iter().any(|c| c.name.starts_with("control.")));
    // What the controls supply is found again as energy, but for the errors of the grid.
    let ledger = &outcome.summary.ledger;
    assert!(ledger.closes, "{name}: {ledger:?}");
    drop(problem);
    (study, solution)
}

/// Kelly's swing-up needs 58.8 N² s; errors of order 4 at this grid are below 1e-3 of it.
#[test]
fn the_cart_swings_its_pole_up() {
    let (_, solution) = run("swing-up", &|text| text.to_owned());
    assert!((solution.goals[0].1 - 58.83).abs() < 0.06, "{:?}", solution.goals);
}

#[test]
fn the_sleigh_parks() {
    let (study, solution) = run("parallel-parking", &|text| text.replace("intervals = 30", "intervals = 20"));
    let end = solution.instants.last().unwrap();
    assert!((end.q[1] - 0.5).abs() < 1e-8, "{end:?}");
    // Rotation about z by twice the half angle; the blade lets nothing across.
    for i in &solution.instants {
        let heading = 2.0 * i.q[6].atan2(i.q[3]);
        let across = i.v[1] * heading.cos() - i.v[0] * heading.sin();
        assert!(across.abs() < 1e-8, "{i:?}");
    }
    assert_eq!(study.phase_names(), ["park"]);
}

/// The chain closes into a square; DMOCC keeps quaternions at length one, and the end is reached.
#[test]
fn the_chain_closes() {
    let (_, solution) = run("four-body-chain", &|text| text.replace("intervals = 14", "intervals = 6"));
    for i in &solution.instants {
        for start in [3, 8] {
            let length: f64 = i.q[start..start + 4].iter().map(|x| x * x).sum();
            assert!((length - 1.0).abs() < 1e-10, "{i:?}");
        }
    }
    let end = solution.instants.last().unwrap();
    assert!(
        (end.q[7] - std::f64::consts::FRAC_PI_2).abs() < 1e-8 && end.q[..3].iter().all(|x| x.abs() < 1e-8),
        "{end:?}"
    );
    assert_eq!(solution.goals.len(), 2);
    assert!((solution.goals[1].1 - solution.durations[0]).abs() < 1e-12);
}

/// Finer intervals where the estimate asks for them; the estimate falls below the tolerance.
#[test]
fn grids_are_refined() {
    let text = built_in::find("swing-up").unwrap().text.replace("intervals = 40", "intervals = 12");
    let study = Study::from_text("study.toml", &text, &Source::BuiltIn).unwrap();
    let mut problem = study.problem().unwrap();
    let options = Options { evaluations: 1, ..Options::default() };
    let coarse = solve(&problem, &options, study.solver(), &mut |_| Go::Continue).unwrap();
    let before = errors(&problem, &coarse).unwrap()[0].iter().fold(0.0f64, |m, e| m.max(*e));
    let tolerance = before / 50.0;
    let (fine, found) =
        solve_refined(&mut problem, &options, study.solver(), tolerance, 5, &mut |_| Go::Continue).unwrap();
    let after = found[0].iter().fold(0.0f64, |m, e| m.max(*e));
    assert!(after <= tolerance, "{before:e} {after:e}");
    let widths: Vec<f64> = problem.phases[0].parts().windows(2).map(|w| w[1] - w[0]).collect();
    assert!(widths.iter().any(|w| (w / widths[0] - 1.0).abs() > 0.5), "all intervals alike: {widths:?}");
    assert!((fine.goals[0].1 - 58.83).abs() < 0.1, "{:?}", fine.goals);
}

#[test]
fn faults_of_studies_have_places() {
    let text = built_in::find("swing-up").unwrap().text;
    let told = |change: &str, to: &str| {
        let text = text.replace(change, to);
        let study = Study::from_text("study.toml", &text, &Source::BuiltIn);
        match study {
            Err(error) => error.to_string(),
            Ok(study) => study.problem().err().map_or_else(|| "nothing wrong".into(), |e| e.to_string()),
        }
    };
    for (change, to, place, word) in [
        ("hermite_simpson", "simpson", "study.toml:4:10", "lobatto-N"),
        (
            "body.cart_pole.cart\"\nbetween = [-20",
            "body.cart_pole.kart\"\nbetween = [-20",
            "study.toml:9:6",
            "did you mean `body.cart_pole.cart`",
        ),
        ("push^2", "puhs^2", "study.toml:24:12", "push"),
        ("[1.0, 3.141592653589793]", "[1.0]", "study.toml:16:25", "2 numbers"),
        ("cart-pole.scene.toml", "cart.toml", "study.toml:3:9", "no scene"),
        ("duration = 2.0", "length = 2.0", "study.toml:", "length"),
    ] {
        let found = told(change, to);
        assert!(found.starts_with(place) && found.contains(word), "{change} → {to}: {found}");
    }
}

/// Interior points and sequences of quadratic programs end in the same motion; from nearby a sequence needs few steps.
#[test]
fn solvers_find_the_same_motion() {
    let (_, interior) = run("five-bar", &|text| text.to_owned());
    let sequence = |text: &str| text.replace("form =", "solver = \"sqp\"\nform =");
    let (study, solution) = run("five-bar", &sequence);
    assert_eq!(study.solver().name(), "sqp");
    let (a, b) = (interior.goals[0].1, solution.goals[0].1);
    // Both to a tolerance of 1e-10, which enters the optimum by its square; rounding and scaling remain.
    assert!((a / b - 1.0).abs() < 1e-8, "{a} {b}");
    // Warm: from the motion found, with another time.
    let mut problem = study.problem().unwrap();
    problem.phases[0].guess = solution.guess(0);
    problem.phases[0].duration = dalembert_optimise::Bound::equal(0.62);
    let options = Options { evaluations: 1, ..Options::default() };
    let warm = solve_near(&problem, &options, study.solver(), &mut |_| Go::Continue).unwrap();
    assert!(warm.is_success() && warm.report.iterations <= solution.report.iterations, "{}", warm.report);
    let text = built_in::find("five-bar").unwrap().text.replace("form =", "solver = \"newton\"\nform =");
    let told = Study::from_text("study.toml", &text, &Source::BuiltIn).err().unwrap().to_string();
    assert!(told.starts_with("study.toml:") && told.contains("interior or sqp"), "{told}");
    let text = built_in::find("pareto-chain").unwrap().text.replace("method =", "solver = \"sqp\"\nmethod =");
    let told = Study::from_text("study.toml", &text, &Source::BuiltIn).err().unwrap().to_string();
    assert!(told.contains("sequences = true"), "{told}");
    let text = built_in::find("five-bar")
        .unwrap()
        .text
        .replace("velocity = \"rest\" }", "velocity = \"rest\", extra = \"nonsense\" }");
    let told = Study::from_text("study.toml", &text, &Source::BuiltIn).unwrap().problem().err().unwrap().to_string();
    assert!(told.contains("expected `scene`, found `nonsense`"), "{told}");
}

/// The sphere of `reach` is in the way: without it the tip enters, with it nothing does, and something touches.
#[test]
fn the_arm_reaches_around_the_sphere() {
    let coarse = |text: &str| text.replace("intervals = 30", "intervals = 20");
    let free = |text: &str| {
        let first = text.find("[[phase.always]]\nname = \"middle of the forearm").unwrap();
        let after = text.find("[[phase.always]]\nof = \"body.arm.base.rate\"").unwrap();
        coarse(&format!("{}{}", &text[..first], &text[after..]))
    };
    let nearest = |change: &dyn Fn(&str) -> String, each: usize| {
        let (study, solution) = run("reach", change);
        let problem = study.problem().unwrap();
        let rows = record(&study, &problem, &solution, "reach", each).unwrap().trajectory;
        let place = |marker: &str, i: usize| {
            ["x", "y", "z"].map(|axis| rows.column(&format!("marker.{marker}.position.{axis}")).unwrap()[i])
        };
        let mut least = [f64::INFINITY; 4];
        for i in 0..rows.len() {
            let (elbow, wrist, tip) = (place("elbow", i), place("wrist", i), place("tip", i));
            let middle = |a: [f64; 3], b: [f64; 3]| std::array::from_fn::<f64, 3, _>(|k| 0.5 * (a[k] + b[k]));
            for (least, at) in least.iter_mut().zip([middle(elbow, wrist), wrist, middle(wrist, tip), tip]) {
                *least = least.min((at[0] - 0.42).hypot(at[1] - 0.12).hypot(at[2]));
            }
        }
        least.into_iter().fold(f64::INFINITY, f64::min)
    };
    let radius = 0.2;
    assert!(nearest(&free, 1) < 0.6 * radius);
    // At the nodes the squared distance is met to the tolerance of the solver; between them curves dip in by some h⁴.
    let touched = nearest(&coarse, 1);
    assert!((touched - radius).abs() < 1e-6, "{touched}");
    let between = nearest(&coarse, 6);
    assert!(between > radius - 2e-3, "{between}");
}

/// All built-in studies of one motion are solved as they are, but for refinement; the violation is small, and a record can be made.
#[test]
fn all_studies_are_solved() {
    for found in built_in::ALL.iter().filter(|study| !study.text.contains("[front]")) {
        let (_, solution) = run(found.name, &|text| text.to_owned());
        assert!(solution.report.violation < 1e-6, "{}: {}", found.name, solution.report);
    }
}
