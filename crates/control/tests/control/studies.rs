//! Built-in studies, and studies that are wrong.

use dalembert_control::refine::{errors, solve_refined};
use dalembert_control::study::{Source, Study, built_in, record};
use dalembert_control::{Options, Solution, solve};
use dalembert_optimise::Control as Go;

fn run(name: &str, change: &dyn Fn(&str) -> String) -> (Study, Solution) {
    let text = change(built_in::find(name).unwrap().text);
    let study = Study::from_text("study.toml", &text, &Source::BuiltIn).unwrap_or_else(|e| panic!("{name}: {e}"));
    let problem = study.problem().unwrap_or_else(|e| panic!("{name}: {e}"));
    let options = Options { evaluations: 1, ..Options::default() };
    let solution =
        solve(&problem, &options, &study.solver(), &mut |_| Go::Continue).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(solution.is_success(), "{name}: {}", solution.report);
    let outcome = record(&study, &problem, &solution, name, 4).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(outcome.trajectory.len() > 10 && outcome.trajectory.time().windows(2).all(|t| t[1] > t[0]));
    assert!(outcome.trajectory.channels().iter().any(|c| c.name.starts_with("control.")));
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
    let coarse = solve(&problem, &options, &study.solver(), &mut |_| Go::Continue).unwrap();
    let before = errors(&problem, &coarse).unwrap()[0].iter().fold(0.0f64, |m, e| m.max(*e));
    let tolerance = before / 50.0;
    let (fine, found) =
        solve_refined(&mut problem, &options, &study.solver(), tolerance, 5, &mut |_| Go::Continue).unwrap();
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
