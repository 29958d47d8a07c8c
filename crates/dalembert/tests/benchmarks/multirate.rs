//! Steps of several rates from scenes: the chain of Fermi, Pasta and Ulam, atoms with links, tags that name forces and bodies, resonance.

use super::variational::scene;
use super::{completed, distance, last_vector, within};
use dalembert::record::Status;
use dalembert::run::{Outcome, run};
use dalembert::scene::{Document, Limits, Overrides, Scene};

/// The sum I of the energies of the stiff springs is kept over 200 units of time, while they exchange it. dI/dt = x₁'·F with F the soft forces on the
/// stiff springs; by parts the change is 2 |x₁| |F| with |x₁| ≤ √(2I)/ω and |F| ≤ 2 (4E)^¾ for soft springs of energy E.
#[test]
fn stiff_springs_keep_their_energy_together() {
    let outcome = completed("fpu", &[]);
    let column = |name: String| outcome.trajectory.column(&name).unwrap().to_vec();
    let mut sums = vec![0.0; outcome.trajectory.time().len()];
    let mut exchanged = 0.0_f64;
    for i in 1..=3 {
        let [a, b] = ["left", "right"].map(|side| column(format!("body.{side}{i}.position.x")));
        let [v, w] = ["left", "right"].map(|side| column(format!("body.{side}{i}.velocity.x")));
        for (row, sum) in sums.iter_mut().enumerate() {
            let (stretch, rate) = (b[row] - a[row] - 10.0, w[row] - v[row]);
            // ½(v₁² + ω² x₁²) with x₁ = stretch/√2.
            let energy = 0.25 * (rate * rate + (50.0 * stretch).powi(2));
            *sum += energy;
            exchanged = exchanged.max(if i > 1 { energy } else { 0.0 });
        }
    }
    let worst = sums.iter().fold(0.0_f64, |max, sum| max.max((sum - sums[0]).abs()));
    println!("fpu: start {:.3}, exchanged {exchanged:.3}", sums[0]);
    let soft = outcome.trajectory.column("energy.total").unwrap()[0] - sums[0];
    let bound = 2.0 * (2.0 * sums[0]).sqrt() / 50.0 * 2.0 * (4.0 * soft).powf(0.75);
    within("fpu, sum of stiff energies", worst, bound);
    assert!(exchanged > 0.5);
}

/// Of order 2 against `dop853`, with links.
#[test]
fn atoms_on_two_grids() {
    let fine = completed("atomistic", &["run.until=2", "run.settings.fixed_step=0.001"]);
    let coarse = completed("atomistic", &["run.until=2", "run.settings.fixed_step=0.002"]);
    let settings = ["run.until=2", "run.integrator=\"dop853\"", "run.settings={}", "run.tolerance=1e-12"];
    let exact = completed("atomistic", &settings);
    let error =
        |outcome: &Outcome| distance(last_vector(outcome, "body.c2.position"), last_vector(&exact, "body.c2.position"));
    let order = (error(&coarse) / error(&fine)).log2();
    println!("atomistic: {:.1e} {:.1e} order {order:.2}", error(&coarse), error(&fine));
    assert!((order - 2.0).abs() < 0.2, "{order}");
}

/// A minute, some 1300 turns of the stiff springs. Atoms move without repeating themselves, so that errors of the energy swing by turns more and less; a drift would be three times as large in the
/// last third as in the first. Half the step leaves a quarter of it, in each third.
#[test]
fn atoms_keep_their_energy() {
    let thirds = |step: &str| {
        let step = format!("run.settings.fixed_step={step}");
        let outcome = completed("atomistic", &["run.until=60", "output.every=0.05", &step]);
        let energy = outcome.trajectory.column("energy.total").unwrap().to_vec();
        let worst = |part: &[f64]| part.iter().fold(0.0_f64, |most, e| most.max((e - energy[0]).abs()));
        energy.chunks(energy.len().div_ceil(3)).map(worst).collect::<Vec<_>>()
    };
    let (coarse, fine) = (thirds("0.01"), thirds("0.005"));
    println!("atomistic, energy off by {coarse:.5?} J, with half the step by {fine:.5?} J");
    for own in [&coarse, &fine] {
        assert!(own[2] < 1.5 * own[0], "{own:?}");
    }
    assert!(coarse.iter().zip(&fine).all(|(coarse, fine)| *fine < 0.3 * coarse), "{coarse:?} {fine:?}");
}

/// Macro steps of 0.12 with ω = 50, nearly a whole turn of the stiff springs, pump energy into them, whatever the micro steps: the run says so, by its ledger and, where Newton's
/// method fails in the end, with the steps that may resonate. By then numbers are so large that the motion has no period; where it has one, `methods` tests what is told.
#[test]
fn resonance_is_told() {
    let settings = ["run.until=100", "run.settings.fixed_step=0.12", "run.settings.micro_steps=12"];
    let outcome = run(&scene("fpu", &settings).unwrap(), "fpu", None, &mut ()).unwrap();
    let ledger = &outcome.summary.ledger;
    println!("fpu, resonant: off by {:.2} J, allowed {:.2} J", ledger.worst_imbalance, ledger.allowance);
    assert_eq!(outcome.summary.status, Status::Failed);
    let error = outcome.summary.error.unwrap();
    assert!(error.contains("resonate: change `fixed_step`") && error.contains("t = "), "{error}");
    let longer = [&["run.until=200"][..], &settings[1..]].concat();
    let error = run(&scene("fpu", &longer).unwrap(), "fpu", None, &mut ()).unwrap().summary.error.unwrap();
    println!("fpu, resonant to the end: {error}");
    assert!(error.contains("did not converge") && error.contains("may resonate with the faster motion"), "{error}");
    assert!(error.contains("too large to tell its period") && error.contains("try another `fixed_step`"), "{error}");
}

/// Bodies can be tagged in place of forces; tags that do not fit are errors.
#[test]
fn bodies_are_named_fast() {
    let short = "run.until=1";
    let bodies = "run.fast_bodies=[\"a*\", \"b*\"]";
    let named = completed("atomistic", &[short]);
    let tagged = completed("atomistic", &[short, "run.fast=[]", bodies]);
    assert_eq!(named.summary.final_state.q, tagged.summary.final_state.q);
    for (settings, expected) in [
        (&["run.fast_bodies=[\"stuff*\"]"][..], "no body matches `stuff*`"),
        (&["run.fast=[]", "run.fast_bodies=[\"slow1\", \"a1\"]"], ""),
        (&["run.fast_bodies=[\"a*\", \"b*\", \"slow2\"]"], "no fast force acts on `slow2`"),
        (&["run.fast=[]", "run.fast_bodies=[\"a*\"]"], "a fast variable without a fast potential"),
        (&["run.fast_bodies=[\"a*\"]"], "`stiff1` is fast and acts on `b1`, which is not among `fast_bodies`"),
    ] {
        match (scene("atomistic", settings), expected) {
            (Ok(_), "") => {}
            (Err(error), expected) if !expected.is_empty() => assert!(error.contains(expected), "{error}"),
            (Ok(_), _) => panic!("{expected}"),
            (Err(error), _) => panic!("{error}"),
        }
    }
}

/// A fast force that acts on nothing that moves, and a body without mass, are told by name.
#[test]
fn what_cannot_be_fast_in_a_scene_is_said() {
    let text = r#"
[scene]
title = "Fast, and nothing moves"

[marker.here]
at = [0, 0, 0]

[marker.there]
at = [1, 0, 0]

[body.bob]
kind = "particle"
mass = 1
position = [0, 1, 0]

[force.idle]
kind = "spring"
between = ["here", "there"]
stiffness = 1000

[force.slow]
kind = "spring"
between = ["here", "bob"]
stiffness = 1

[run]
integrator = "multirate"
fast = ["idle"]
"#;
    let error = |settings: &[&str]| {
        let overrides: Overrides = settings.iter().copied().collect();
        let document = Document::from_text("idle", text, &overrides, &Limits::default()).map_err(|e| e.plain())?;
        let made = Scene::from_document(document).map_err(|e| e.plain())?;
        run(&made, "idle", None, &mut ()).map(|_| ()).map_err(|e| e.to_string())
    };
    let found = error(&[]).unwrap_err();
    assert!(found.contains("no variable to move fast") && found.contains("run.fast"), "{found}");
    let weightless = ["run.fast=[\"slow\"]", "body.bob.mass=0", "run.settings.fast_alpha=0"];
    let found = error(&weightless).unwrap_err();
    assert!(found.contains("bob") && found.contains("mass"), "{found}");
}

/// Without tags stiff springs are found from stiffness, and the motion is that with tags; three rates run; wrong tags are errors.
#[test]
fn rates_are_named_or_found() {
    let short = ["run.until=2"];
    for name in ["fpu", "atomistic"] {
        let found = [&short[..], &["run.fast=[]"]].concat();
        let [named, found] = [&short[..], &found].map(|settings| completed(name, settings));
        assert_eq!(named.summary.final_state.q, found.summary.final_state.q, "{name}");
    }
    let rates = scene("fpu", &["run.fast=[]"]).unwrap().model.stiffness_rates();
    println!("fpu: rates of single forces {rates:.1?}");
    let three = ["run.fast=[\"stiff1\"]", "run.faster=[\"stiff2\", \"stiff3\"]", "run.settings.faster_steps=2"];
    let outcome = completed("fpu", &[&short[..], &three].concat());
    assert!(outcome.summary.final_state.time == 2.0);
    for (settings, expected) in [
        (&["run.fast=[\"stuff*\"]"][..], "no force matches `stuff*`"),
        (&["run.fast=[\"stiff*\"]", "run.faster=[\"stiff1\"]"], "`stiff1` has a rate already"),
        (&["run.fast=[]", "run.faster=[\"stiff*\"]"], "no forces in `fast`"),
    ] {
        let Err(error) = scene("fpu", settings) else { panic!("{expected}") };
        assert!(error.contains(expected), "{error}");
    }
    // All forces alike: no gap, no rates.
    let alike = scene("fpu", &["run.fast=[]", "parameters.omega=3"]).unwrap();
    let Err(error) = run(&alike, "fpu", None, &mut ()) else { panic!("nothing is fast") };
    assert!(error.to_string().contains("run.fast"), "{error}");
}
