//! The motion of an animation, decoded.

use super::animation::{Anchor, Animation, AnimationError, MODE_GRID, turn_grid};
use super::codec::{Decoder, Grid, unbase64};
use dalembert_methods::lie::Quat;
use dalembert_methods::vector::{Mat3, Vec3};

/// Where a node is.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Pose {
    /// The position of its frame, m.
    pub at: [f64; 3],
    /// The orientation, a quaternion with the scalar first.
    pub turn: [f64; 4],
    /// The deformation gradient by rows, in place of an orientation, if it deforms.
    pub gradient: Option<[[f64; 3]; 3]>,
}

impl Pose {
    /// Where a point in its frame is, m.
    pub fn point(&self, at: [f64; 3]) -> [f64; 3] {
        let moved = match self.gradient {
            Some(gradient) => Mat3(gradient) * Vec3(at),
            None => Quat(self.turn).rotate(Vec3(at)),
        };
        (Vec3(self.at) + moved).0
    }
}

/// Positions, forces and shades of all frames.
#[derive(Clone, Debug, PartialEq)]
pub struct Track {
    /// For each frame the poses of all nodes.
    pub poses: Vec<Vec<Pose>>,
    /// For each frame the modes of all contacts and the forces on their points, N.
    pub contacts: Vec<Vec<(u8, [f64; 3])>>,
    /// For each frame the values of all shades.
    pub shades: Vec<Vec<f64>>,
}

impl Animation {
    /// Decodes the motion.
    pub fn track(&self) -> Result<Track, AnimationError> {
        let bad = |reason: &str| AnimationError { reason: reason.to_owned() };
        let bytes = unbase64(&self.data).ok_or_else(|| bad("its data are not base64"))?;
        let frames = self.times.len();
        let mut decoder = Decoder::new(&bytes);
        let mut column = |grid: Grid| -> Result<Vec<f64>, AnimationError> {
            let numbers = decoder.column(frames).ok_or_else(|| bad("its data end early"))?;
            Ok(numbers.into_iter().map(|n| grid.value(n)).collect())
        };
        let grid = |[low, step]: [f64; 2]| Grid { low, step };
        let mut poses = vec![Vec::with_capacity(self.nodes.len()); frames];
        for node in &self.nodes {
            let mut place = Vec::new();
            for pair in self.position_grids {
                place.push(column(grid(pair))?);
            }
            let mut turn = Vec::new();
            for _ in 0..if node.turns { 4 } else { 0 } {
                turn.push(column(turn_grid())?);
            }
            let mut gradient = Vec::new();
            for _ in 0..if node.deforms { 9 } else { 0 } {
                gradient.push(column(grid(self.gradient_grid))?);
            }
            for (k, poses) in poses.iter_mut().enumerate() {
                let rows = || std::array::from_fn(|i| std::array::from_fn(|j| gradient[3 * i + j][k]));
                let turn = match turn.as_slice() {
                    [w, x, y, z] => Quat([w[k], x[k], y[k], z[k]]).normalized().0,
                    _ => [1.0, 0.0, 0.0, 0.0],
                };
                let gradient = node.deforms.then(rows);
                poses.push(Pose { at: [place[0][k], place[1][k], place[2][k]], turn, gradient });
            }
        }
        let mut contacts = vec![Vec::with_capacity(self.contacts.len()); frames];
        for _ in &self.contacts {
            let mode = column(MODE_GRID)?;
            let force =
                [column(grid(self.force_grid))?, column(grid(self.force_grid))?, column(grid(self.force_grid))?];
            for (k, contacts) in contacts.iter_mut().enumerate() {
                contacts.push((mode[k] as u8, [force[0][k], force[1][k], force[2][k]]));
            }
        }
        let mut shades = vec![Vec::with_capacity(self.shades.len()); frames];
        for shade in &self.shades {
            for (values, value) in shades.iter_mut().zip(column(grid(shade.grid))?) {
                values.push(value);
            }
        }
        Ok(Track { poses, contacts, shades })
    }
}

impl Track {
    /// Where an anchor is in a frame, m.
    pub fn place(&self, frame: usize, (node, x, y, z): Anchor) -> [f64; 3] {
        match usize::try_from(node).ok().and_then(|node| self.poses[frame].get(node)) {
            None => [x, y, z],
            Some(pose) => pose.point([x, y, z]),
        }
    }
}
