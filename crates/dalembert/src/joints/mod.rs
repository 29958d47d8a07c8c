//! Joints: two frames that move against each other in a few given ways.
//!
//! The joint axis is `axis` in the frame of the first marker and `axis_b` in the frame of the second (the same numbers
//! unless given). Angles are zero where the perpendiculars of the two axes coincide ([`Axis::across`]); for equal axes that
//! is equal orientation. Positive angles turn the second frame about the axis by the right-hand rule.
//!
//! A joint is a [`crate::constraints::Constraint`] with free coordinates; its rows are made of the few functions in `primitives`.
//!
//! | joint | rows | free |
//! |---|---|---|
//! | [`Fixed`] | 6 | nothing |
//! | [`Revolute`] | 5 | angle |
//! | [`Prismatic`] | 5 | travel |
//! | [`Screw`] | 5 | angle, with the travel |
//! | [`Cylindrical`] | 4 | angle, travel |
//! | [`Universal`] | 4 | two angles |
//! | [`Spherical`] | 3 | all rotations |
//! | [`Planar`] | 3 | two shifts, angle |

mod axis;
mod cylindrical;
mod fixed;
mod freedom;
mod planar;
pub(crate) mod primitives;
mod prismatic;
mod revolute;
mod screw;
mod spherical;
mod universal;

pub use axis::Axis;
pub use cylindrical::Cylindrical;
pub use fixed::Fixed;
pub use freedom::Coordinate;
pub use planar::Planar;
pub use prismatic::Prismatic;
pub use revolute::Revolute;
pub use screw::Screw;
pub use spherical::Spherical;
pub use universal::Universal;

use crate::constraints::{AnyConstraint, holonomic};
use crate::element::Kind;

/// The kinds of joints, by name.
pub fn kinds() -> Vec<Kind<dyn AnyConstraint>> {
    vec![
        holonomic::<Cylindrical>(),
        holonomic::<Fixed>(),
        holonomic::<Planar>(),
        holonomic::<Prismatic>(),
        holonomic::<Revolute>(),
        holonomic::<Screw>(),
        holonomic::<Spherical>(),
        holonomic::<Universal>(),
    ]
}
