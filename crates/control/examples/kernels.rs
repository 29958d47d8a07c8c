//! A leech of 200 segments has the kernels of one of 2: its forces and their sparse derivatives by machine code that does not grow.
//!
//! `cargo run --release -p dalembert-control --example kernels`

use dalembert::equations::Sum;
use dalembert::model::Model;
use dalembert::scene::{Document, Limits, Overrides, Scene, SceneError};
use dalembert_control::elements::ModelKernels;

fn leech(segments: usize) -> Result<Model, SceneError> {
    let text = dalembert::scenes::find("leech-21").map_or("", |scene| scene.text);
    let settings = [
        format!("assembly.leech.segments={segments}"),
        format!("assembly.leech.length={}", 2 * segments),
        "assembly.leech.shape=\"given\"".to_owned(),
    ];
    let overrides: Overrides = settings.into_iter().collect();
    let document = Document::from_text("leech-21", text, &overrides, &Limits::default())?;
    Ok(Scene::from_document(document)?.model)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let [short, long] = [leech(2)?, leech(200)?];
    let [few, many] = [&short, &long].map(|model| ModelKernels::of(model, &[Sum::Force]));
    let (a, b) = (few.kernels().extent(), many.kernels().extent());
    println!("  2 segments: {} kernels of {} operations, {} instances", a.kernels, a.operations, a.instances);
    println!("200 segments: {} kernels of {} operations, {} instances", b.kernels, b.operations, b.instances);
    assert_eq!((a.kernels, a.operations), (b.kernels, b.operations));

    // How the forces change when the leech is stretched by a part of its length: not at all in sum, for muscles pull on both of their ends.
    let state = long.initial_state();
    let mut slopes = many.slopes(10_000, None)?;
    let mut entries = vec![0.0; slopes.pattern().len()];
    slopes.call(&state, &mut entries);
    let (mut sum, mut size) = (0.0, 0.0f64);
    for (&(row, column), entry) in slopes.pattern().entries.iter().zip(&entries) {
        // Time is first, then come coordinates, three for each corner; x of forces and of places.
        let place = (column as usize).checked_sub(1).filter(|&q| q < state.q.len() && q % 3 == 0 && row % 3 == 0);
        if let Some(q) = place {
            sum += entry * state.q[q];
            size = size.max((entry * state.q[q]).abs());
        }
    }
    println!("{} derivatives; stretched, the forces change by up to {size:.1} N, in sum by {sum:.1e} N", entries.len());
    assert!(size > 1.0 && sum.abs() < 1e-9 * size);
    Ok(())
}
