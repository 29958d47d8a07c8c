//! Derivatives of accelerations of four states side by side, as the Python package asks for them: those of one state after the other, for every built-in scene.

use dalembert::methods::{State, System};
use dalembert::scene::{Document, Limits, Overrides, Scene};
use dalembert::scenes;
use dalembert_analysis::Matrix;
use dalembert_analysis::beside::Beside;
use dalembert_analysis::variation::Variation;

/// Models with more velocities than this have matrices that take long to compute twice.
const MOST: usize = 120;

#[test]
fn derivatives_side_by_side_are_those_of_one_after_the_other() {
    let (mut recorded, mut alone) = (0, Vec::new());
    for scene in scenes::ALL {
        let document = Document::from_text(scene.name, scene.text, &Overrides::none(), &Limits::default());
        let model = document.and_then(Scene::from_document).unwrap_or_else(|e| panic!("{}", e.plain())).model;
        let n = model.shape().v;
        if n == 0 || n > MOST {
            continue;
        }
        let Some(beside) = Beside::of(&model) else {
            alone.push(scene.name);
            continue;
        };
        recorded += 1;
        // Three states, so that a lane is idle: the start, and others with other velocities, at another time.
        let start = model.initial_state();
        let moved = |k: usize| {
            let mut s: State<f64> = start.clone();
            s.t += 0.01 * k as f64;
            s.v.iter_mut().enumerate().for_each(|(i, v)| *v += 0.1 * k as f64 * (1.0 + i as f64).sin());
            s
        };
        let states: Vec<State<f64>> = (0..3).map(moved).collect();
        let width = 2 * n * n;
        let mut found = vec![0.0; 3 * width];
        let mut work = beside.work(&model);
        beside
            .derivatives(&mut work, &model, &states, &mut found)
            .unwrap_or_else(|(k, e)| panic!("{} {k}: {e}", scene.name));
        let mut variation = Variation::new(&model);
        let (unit, mut rates) = (Matrix::unit(variation.size()), Matrix::zeros(variation.size(), variation.size()));
        for (k, (s, found)) in states.iter().zip(found.chunks_exact(width)).enumerate() {
            variation.dynamics.parts().saddle.release();
            variation.motion(&model, s).unwrap();
            variation.changes(&model, s, &unit, &mut rates).unwrap();
            let wanted = |row: usize| rates[(n + row % (n * n) / n, row / (n * n) * n + row % n)];
            let size = (0..width).fold(0.0f64, |max, row| max.max(wanted(row).abs()));
            // The same operations but for products with zero and the order of sums: rounding, times the operations between input and output, at most some
            // thousands, and the condition of masses, which are well scaled in these scenes.
            let bound = 1e4 * f64::EPSILON * size.max(1.0);
            for (row, found) in found.iter().enumerate() {
                let wanted = wanted(row);
                let same = (found - wanted).abs() <= bound || (wanted.is_nan() && !found.is_finite());
                assert!(same, "{} {k}, entry {row}: {found} and {wanted}, largest {size}", scene.name);
            }
        }
    }
    assert!(recorded > 3 * alone.len(), "{recorded} scenes are recorded, and these are not: {alone:?}");
}
