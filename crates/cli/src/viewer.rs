//! The viewer, if it was built before this program.

/// How to get it.
pub const HOW: &str = "install Node.js, run `cargo xtask viewer` and build again";

/// The program of the viewer; none if this program was built without it.
pub fn script() -> Option<&'static str> {
    const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/viewer.js"));
    (!SCRIPT.is_empty()).then_some(SCRIPT)
}
