//! How steep a slope can a soft body climb? The scene `climber` is run on one slope after the other, halving the interval in which the
//! answer lies. Run it as `cargo run --example steepest_slope`.

use dalembert::run::run;
use dalembert::scene::{Document, Limits, Overrides, Scene};
use dalembert::scenes;

/// How far the body gets up a slope, in m.
fn climbed(slope: f64) -> Result<f64, Box<dyn std::error::Error>> {
    let text = scenes::find("climber").ok_or("there is no scene `climber`")?.text;
    let mut overrides = Overrides::none();
    for setting in [format!("parameters.slope={slope}"), "run.until=5.5".to_owned(), "run.tolerance=1e-6".to_owned()] {
        overrides.push(setting);
    }
    let scene = Scene::from_document(Document::from_text("climber", text, &overrides, &Limits::default())?)?;
    let outcome = run(&scene, "steepest_slope", None, &mut ())?;
    let x = outcome.trajectory.column("body.blob.position.x").ok_or("no position was recorded")?;
    Ok(x[0] - x[x.len() - 1])
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut climbs, mut slides) = (0.04, 0.1);
    while slides - climbs > 0.005 {
        let slope = 0.5 * (climbs + slides);
        let height = climbed(slope)?;
        println!("slope {slope:.4} rad: {height:+.2} m");
        *(if height > 0.0 { &mut climbs } else { &mut slides }) = slope;
    }
    println!("the steepest slope is between {climbs:.3} and {slides:.3} rad");
    assert!(climbs > 0.04 && slides < 0.1, "the answer lies within the interval it was searched in");
    Ok(())
}
