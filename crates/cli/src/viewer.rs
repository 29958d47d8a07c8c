//! The viewer, if it was built before this program.

/// The program of the viewer; none if this program was built without it.
pub fn script() -> Option<&'static str> {
    const SCRIPT: &str = include_str!(concat!(env!("OUT_DIR"), "/viewer.js"));
    (!SCRIPT.is_empty()).then_some(SCRIPT)
}
