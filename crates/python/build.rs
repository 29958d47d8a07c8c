//! Takes the viewer into the package if `cargo xtask viewer` has built it; without it everything else works.

use std::path::{Path, PathBuf};

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../viewer/dist");
    println!("cargo::rerun-if-changed={}", folder.display());
    println!("cargo::rerun-if-changed=build.rs");
    let script = std::fs::read_to_string(folder.join("viewer.js")).unwrap_or_default();
    let out: PathBuf = std::env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    std::fs::write(out.join("viewer.js"), script).expect("cargo gives a folder that can be written to");
}
