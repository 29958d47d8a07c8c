//! Where the film has the motion of nodes, and how much room it takes.

use super::Bounds;
use super::animation::Anchors;
use crate::model::Model;
use dalembert_methods::lie::Quat;
use dalembert_methods::vector::{Mat3, Vec3};

/// Frames in which markers are looked at for the size of the picture.
const BOUND_FRAMES: usize = 64;

/// Where the columns of a node are in a row of the film.
pub(super) struct Source {
    /// The position.
    pub place: Vec<usize>,
    /// The quaternion; empty if it does not turn.
    pub turn: Vec<usize>,
    /// The deformation gradient by rows; empty if it does not deform.
    pub gradient: Vec<usize>,
}

impl Source {
    fn position(&self, frame: &[f64]) -> Vec3<f64> {
        Vec3(std::array::from_fn(|k| frame[self.place[k]]))
    }

    /// Where a point of the node is.
    fn point(&self, frame: &[f64], at: Vec3<f64>) -> Vec3<f64> {
        let origin = self.position(frame);
        match (self.turn.as_slice(), self.gradient.len()) {
            (&[w, x, y, z], _) => origin + Quat([frame[w], frame[x], frame[y], frame[z]]).rotate(at),
            (_, 9) => {
                let rows = std::array::from_fn(|i| std::array::from_fn(|j| frame[self.gradient[3 * i + j]]));
                origin + Mat3(rows) * at
            }
            _ => origin,
        }
    }
}

/// The box of all nodes in all frames and of all markers in some of them.
pub(super) fn bounds(model: &Model, anchors: &Anchors, sources: &[Source], frames: &[&[f64]]) -> Bounds {
    let mut bounds = Bounds::empty();
    for frame in frames {
        for source in sources {
            bounds.add(source.position(frame));
        }
    }
    for frame in thinned(frames, BOUND_FRAMES) {
        for marker in &model.markers {
            let at = Vec3(marker.site.at);
            let node = usize::try_from(anchors.node(marker.body, marker.site.part)).ok();
            bounds.add(node.map_or(at, |node| sources[node].point(frame, at)));
        }
    }
    bounds
}

/// At most this many of the frames, evenly, with the first and the last.
pub(super) fn thinned<'a>(frames: &[&'a [f64]], most: usize) -> Vec<&'a [f64]> {
    let last = frames.len() - 1;
    let count = frames.len().min(most.max(2));
    if count < 2 {
        return frames.to_vec();
    }
    (0..count).map(|k| frames[k * last / (count - 1)]).collect()
}
