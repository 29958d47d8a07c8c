//! Things that happen at one instant.

/// Something that happened at one instant of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Event {
    /// When, in s.
    pub time: f64,
    /// What kind of thing, such as `contact`, `limit` or `switch`.
    pub kind: String,
    /// The element it happened to, by its name in the scene.
    pub element: String,
    /// The marker it happened at; empty if none is concerned.
    pub marker: String,
    /// One number that goes with it, such as an approach speed.
    pub value: f64,
    /// The unit of the value; `1` for a pure number.
    pub unit: String,
}
