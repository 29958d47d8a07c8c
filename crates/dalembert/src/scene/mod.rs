//! Scenes.

/// The candidate nearest to a mistyped name.
pub fn nearest<'a>(_name: &str, mut candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    candidates.next()
}
