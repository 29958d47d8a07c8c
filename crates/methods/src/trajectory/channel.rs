//! What one recorded number is: its name, its unit and the frame it is expressed in.

/// One column of a trajectory.
///
/// Names are words joined by dots, from the general to the particular, ending in the component:
/// `body.upper.position.x`, `joint.knee.angle`, `energy.kinetic`. Readers group by these parts.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Channel {
    /// Unique name, such as `body.upper.position.x`.
    pub name: String,
    /// SI unit, such as `m` or `rad/s`; `1` for a pure number.
    pub unit: String,
    /// The frame a component is expressed in, such as `world`; empty where no frame is involved.
    pub frame: String,
}

impl Channel {
    /// The name of the channel that comes first in every trajectory.
    pub const TIME: &'static str = "time";

    /// A channel from its three words.
    pub fn new(name: impl Into<String>, unit: impl Into<String>, frame: impl Into<String>) -> Self {
        Self { name: name.into(), unit: unit.into(), frame: frame.into() }
    }

    /// The time channel, in s.
    pub fn time() -> Self {
        Self::new(Self::TIME, "s", "")
    }
}
