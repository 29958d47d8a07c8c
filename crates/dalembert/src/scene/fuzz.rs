//! What fuzzing asks of the scene reader, in one function that the fuzz target and the replay of its corpus share.

use super::{Document, Limits, MemoryLoader, Overrides, Scene, SceneError};

/// Between the files of one input: the text before it is the scene, the texts after it are `base.toml` and `part.toml`.
const NEXT_FILE: &str = "\n#%%\n";

/// Limits that let an input of a few thousand bytes reach every one of them quickly.
fn limits() -> Limits {
    Limits {
        file_size: 1 << 16,
        include_depth: 4,
        files: 8,
        nesting: 32,
        entries: 2_000,
        expanded_size: 1 << 21,
        repeat_depth: 4,
        string_length: 1 << 12,
        ..Limits::default()
    }
}

/// Reads any bytes as a scene and builds its model. It must end with a model or with an error that can be shown; document and model
/// must be the same after writing and reading them again.
///
/// Lines `#%%` separate the scene from two files it may include; lines `#% path=value` of the scene are settings from outside.
///
/// # Panics
/// If one of these promises is broken.
pub fn fuzz_one(bytes: &[u8]) {
    let limits = limits();
    let text = String::from_utf8_lossy(bytes);
    let mut files = text.splitn(3, NEXT_FILE);
    let scene = files.next().unwrap_or_default();
    let settings: Overrides = scene.lines().filter_map(|line| line.strip_prefix("#% ")).take(4).collect();
    // A scene that is not UTF-8 must reach the reader as it is.
    let main = if std::str::from_utf8(bytes).is_ok() { scene.as_bytes() } else { bytes };
    let loader = MemoryLoader::new().with("scene.toml", main);
    let loader = ["base.toml", "part.toml"].into_iter().zip(files).fold(loader, |l, (name, text)| l.with(name, text));
    match Document::load(&loader, "scene.toml", &settings, &limits) {
        Err(error) => show(&error),
        Ok(document) => {
            read_again(&document, &limits);
            match Scene::from_document(document) {
                Err(error) => show(&error),
                Ok(scene) => build_again(&scene, &limits),
            }
        }
    }
}

/// The texts of an error name places that exist.
fn show(error: &SceneError) {
    assert!(!error.problems().is_empty(), "an error without a problem");
    assert!(!error.plain().is_empty() && !error.to_string().is_empty(), "an error without words");
    for problem in error.problems() {
        assert!(!problem.message().is_empty(), "a problem without words");
    }
    let mut picture = String::new();
    let drawn = miette::NarratableReportHandler::new().render_report(&mut picture, error);
    assert!(drawn.is_ok() && !picture.is_empty(), "an error that cannot be shown: {}", error.plain());
}

/// Writing and reading is the identity.
fn read_again(document: &Document, limits: &Limits) {
    let text = document.to_toml();
    // Computed text may be longer than what it was computed from.
    let limits = Limits { file_size: usize::MAX, string_length: usize::MAX, ..limits.clone() };
    match Document::from_text("again.toml", &text, &Overrides::none(), &limits) {
        Ok(again) => assert!(again == *document, "read again it is another document:\n{text}"),
        Err(error) => panic!("what was written cannot be read: {}\n{text}", error.plain()),
    }
}

/// Scene to model to scene is the identity.
fn build_again(scene: &Scene, limits: &Limits) {
    let text = scene.to_toml();
    let limits = Limits { file_size: usize::MAX, string_length: usize::MAX, ..limits.clone() };
    let again = Document::from_text("again.toml", &text, &Overrides::none(), &limits).and_then(Scene::from_document);
    match again {
        Ok(again) => assert!(again.to_toml() == text, "built again it is another scene:\n{text}"),
        Err(error) => panic!("what was described cannot be read: {}\n{text}", error.plain()),
    }
}
