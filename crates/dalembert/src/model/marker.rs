//! Markers: named points and frames on bodies, to which everything else attaches.

use dalembert_methods::lie::Quat;
use dalembert_methods::vector::Mat3;

/// Where on a body a marker sits; the body says what it means.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Which part of the body (link of a tree, node of a mesh); 0 for bodies of one part.
    pub part: usize,
    /// Position in the frame of that part, in m.
    pub at: [f64; 3],
    /// Rotation from the marker frame to the frame of that part.
    pub rotation: Mat3<f64>,
}

impl Site {
    /// A point of the body's frame, with the body's own orientation.
    pub fn point(at: [f64; 3]) -> Self {
        Self { part: 0, at, rotation: Mat3::identity() }
    }

    /// A point with an orientation of its own.
    pub fn frame(at: [f64; 3], orientation: Quat<f64>) -> Self {
        Self { part: 0, at, rotation: orientation.matrix() }
    }
}

/// A marker that is known to have a position and a velocity.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Point(pub(crate) usize);

/// A marker that is known to have a position *and* an orientation.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Frame(pub(crate) usize);

impl From<Frame> for Point {
    fn from(frame: Frame) -> Self {
        Self(frame.0)
    }
}

/// Four markers that show a homogeneous deformation: the origin of a body's frame and the points at unit distance along its
/// axes. With their places rᵢ the deformation gradient has the columns rᵢ − r₀. On a rigid body it is the rotation; on four
/// particles it is that of the tetrahedron between them.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct AffineFrame(pub(crate) [usize; 4]);

impl AffineFrame {
    /// The frame between any four points; the reference points are the origin and the three unit points.
    pub fn between(points: [Point; 4]) -> Self {
        Self(points.map(|point| point.0))
    }
}

/// Names and places of the three markers along the axes.
pub(crate) const AXIS_MARKERS: [(&str, [f64; 3]); 3] =
    [("axis_x", [1.0, 0.0, 0.0]), ("axis_y", [0.0, 1.0, 0.0]), ("axis_z", [0.0, 0.0, 1.0])];

/// What markers an element asks for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// The key under which a scene names them.
    pub key: &'static str,
    /// How many, or any number (at least two) if `None`.
    pub count: Option<usize>,
    /// How many of them, counted from the first, must have an orientation; `usize::MAX` for all.
    pub oriented: usize,
    /// Whether the last of them is an affine frame: a body whose name stands for four markers, see [`AffineFrame`].
    pub affine: bool,
}

impl Need {
    /// The number of markers in the model, or any number if `None`.
    pub fn markers(&self) -> Option<usize> {
        self.count.map(|count| if self.affine { count + 3 } else { count })
    }
}

/// A typed set of markers: what an element is attached to.
pub trait Markers {
    /// What is asked for.
    const NEED: Need;
    /// The numbers of the markers in the model.
    fn indices(&self) -> Vec<usize>;
}

impl Markers for Point {
    const NEED: Need = Need { key: "at", count: Some(1), oriented: 0, affine: false };
    fn indices(&self) -> Vec<usize> {
        vec![self.0]
    }
}
impl Markers for Frame {
    const NEED: Need = Need { key: "at", count: Some(1), oriented: 1, affine: false };
    fn indices(&self) -> Vec<usize> {
        vec![self.0]
    }
}
impl Markers for [Point; 2] {
    const NEED: Need = Need { key: "between", count: Some(2), oriented: 0, affine: false };
    fn indices(&self) -> Vec<usize> {
        self.iter().map(|m| m.0).collect()
    }
}
impl Markers for [Frame; 2] {
    const NEED: Need = Need { key: "between", count: Some(2), oriented: 2, affine: false };
    fn indices(&self) -> Vec<usize> {
        self.iter().map(|m| m.0).collect()
    }
}
impl Markers for (Frame, Point) {
    const NEED: Need = Need { key: "between", count: Some(2), oriented: 1, affine: false };
    fn indices(&self) -> Vec<usize> {
        vec![self.0.0, self.1.0]
    }
}
impl Markers for [Frame; 3] {
    const NEED: Need = Need { key: "between", count: Some(3), oriented: 3, affine: false };
    fn indices(&self) -> Vec<usize> {
        self.iter().map(|m| m.0).collect()
    }
}
impl Markers for Vec<Point> {
    const NEED: Need = Need { key: "markers", count: None, oriented: 0, affine: false };
    fn indices(&self) -> Vec<usize> {
        self.iter().map(|m| m.0).collect()
    }
}
impl Markers for Vec<Frame> {
    const NEED: Need = Need { key: "markers", count: None, oriented: usize::MAX, affine: false };
    fn indices(&self) -> Vec<usize> {
        self.iter().map(|m| m.0).collect()
    }
}
impl Markers for AffineFrame {
    const NEED: Need = Need { key: "on", count: Some(1), oriented: 0, affine: true };
    fn indices(&self) -> Vec<usize> {
        self.0.to_vec()
    }
}
impl Markers for (Frame, AffineFrame) {
    const NEED: Need = Need { key: "between", count: Some(2), oriented: 1, affine: true };
    fn indices(&self) -> Vec<usize> {
        std::iter::once(self.0.0).chain(self.1.0).collect()
    }
}
