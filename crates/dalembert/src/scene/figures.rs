//! The figures that a scene asks for in its report: panels of curves, and shapes of the bodies at chosen instants.

use crate::report::shapes::View;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// `[panel.NAME]`: a plot of channels over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PanelSettings {
    /// The title; the name of the panel if not given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// The channels to draw: names in which `*` stands for any text. All have the same unit.
    pub channels: Vec<String>,
    /// What the key calls the curves, in order; the names of the channels if not given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Channels to draw with an axis of their own at the right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub right: Vec<String>,
    /// What the key calls the curves of the axis at the right.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub right_names: Vec<String>,
    /// Whether magnitudes are drawn on a logarithmic axis.
    #[serde(default)]
    pub log: bool,
    /// The first time to show; that of the run if not given.
    #[schemars(extend("unit" = "s"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<f64>,
    /// The last time to show; that of the run if not given.
    #[schemars(extend("unit" = "s"))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
}

/// An instant at which shapes are drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Moment {
    /// A time in s.
    Time(f64),
    /// The first event of this kind (`"impact"`, `"stick"`, …) or name.
    Event(String),
}

/// From where shapes are seen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Eye {
    /// Along an axis of the world.
    Plane(EyePlane),
    /// From this direction in the world frame, with z up.
    From([f64; 3]),
}

/// A view by name.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum EyePlane {
    /// x to the right, y up.
    Xy,
    /// x to the right, z up.
    #[default]
    Xz,
    /// y to the right, z up.
    Yz,
    /// From above, a little from the right, with z up.
    Oblique,
}

impl Default for Eye {
    fn default() -> Self {
        Self::Plane(EyePlane::default())
    }
}

impl Eye {
    /// The view; what is wrong with it otherwise.
    pub fn view(&self) -> Result<View, String> {
        match self {
            Self::Plane(EyePlane::Xy) => Ok(View::plane("xy", 0, 1)),
            Self::Plane(EyePlane::Xz) => Ok(View::plane("xz", 0, 2)),
            Self::Plane(EyePlane::Yz) => Ok(View::plane("yz", 1, 2)),
            Self::Plane(EyePlane::Oblique) => Ok(View::oblique()),
            Self::From(direction) => {
                View::from(*direction).ok_or_else(|| format!("a direction needs a length, but {direction:?} has none"))
            }
        }
    }
}

/// `[shapes.NAME]`: the shapes of bodies at some instants, on top of each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShapesSettings {
    /// The title; the name of the picture if not given.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// When: times, or words for events such as `"impact"`; for an event the first one of its kind or name.
    pub times: Vec<Moment>,
    /// From where: `"xy"`, `"xz"`, `"yz"`, `"oblique"`, or a direction from which to look.
    #[serde(default)]
    pub view: Eye,
    /// Which bodies and elements to draw, such as `"force.leech_*"` (`*` stands for any text); all if not given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elements: Vec<String>,
    /// Bodies and markers whose ways from the first to the last of the times are drawn, such as `"body.ball"` or `"marker.tip"`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traces: Vec<String>,
    /// Whether surfaces of contacts are drawn where they cross the plane of view.
    #[serde(default = "yes")]
    pub surfaces: bool,
}

fn yes() -> bool {
    true
}
