//! Pictures that move: what a model looks like and where everything was, for the viewer and for other programs.
//!
//! A run films its motion ([`Film`]). [`Animation::new`] adds what there is to see: a solid for each body, lines for elements between
//! two points, faces around volumes, surfaces that points cannot pass, contact points with their forces. Sizes come from
//! inertia, markers and contacts, so nothing needs to be said in a scene, unless it gives bodies a shape of its own ([`Look`]). The result is one JSON document, small because
//! motion is rounded and differenced ([`codec`]). [`gltf`] and [`vtk`] write it for other programs.

mod animation;
pub mod codec;
mod drawn;
mod elements;
mod film;
pub mod gltf;
mod look;
mod mesh;
mod scenery;
mod solids;
mod source;
mod sticks;
mod track;
mod triangles;
pub mod vtk;

pub use animation::{Anchor, Animation, AnimationError, ContactPoint, Face, Happening, Line, MarkerFrame, Node, Shade};
pub use drawn::MeshData;
pub use film::{Film, PATTERNS};
pub use look::{Look, Looks, MeshFile, Tube};
pub use scenery::{Scenery, Surface};
pub use solids::{Form, Solid};
pub(crate) use solids::{number, vector};
pub(crate) use sticks::stick;
pub use track::{Pose, Track};
pub use triangles::{MOST_BYTES, MOST_TRIANGLES, MeshError, Triangles};

use dalembert_methods::vector::Vec3;

/// A number with seven significant digits: more than a screen shows, and short as text.
fn short(x: f64) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return 0.0;
    }
    format!("{x:.6e}").parse().unwrap_or(x)
}

/// The same for three numbers.
fn short3(x: [f64; 3]) -> [f64; 3] {
    x.map(short)
}

/// The smallest box around points.
#[derive(Copy, Clone, Debug, PartialEq)]
struct Bounds {
    low: [f64; 3],
    high: [f64; 3],
}

impl Bounds {
    /// Holds nothing.
    fn empty() -> Self {
        Self { low: [f64::INFINITY; 3], high: [f64::NEG_INFINITY; 3] }
    }

    /// Grows to hold a point; points that are not finite are left out.
    fn add(&mut self, point: Vec3<f64>) {
        if point.0.iter().all(|c| c.is_finite()) {
            for k in 0..3 {
                self.low[k] = self.low[k].min(point[k]);
                self.high[k] = self.high[k].max(point[k]);
            }
        }
    }

    /// The diagonal in m; 1 if there is none.
    fn diagonal(&self) -> f64 {
        let size = (Vec3(self.high) - Vec3(self.low)).norm();
        if size.is_finite() && size > 0.0 { size } else { 1.0 }
    }
}
