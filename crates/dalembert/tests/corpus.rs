//! Replays the fuzz corpus of the scene reader on stable Rust.
#![allow(clippy::unwrap_used)]

use std::path::Path;

#[test]
fn corpus_of_the_scene_reader() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/scene");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        dalembert::scene::fuzz_one(&std::fs::read(path).unwrap());
        count += 1;
    }
    assert!(count >= 20, "only {count} files in the corpus");
}
