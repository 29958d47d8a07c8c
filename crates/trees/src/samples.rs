//! Trees and states for tests, benches and examples; every number follows from a seed.

use crate::build::{LinkSpec, TreeBuilder};
use crate::joint::{Freedom, JointKind, JointSpec, MassProperties, Pose};
use crate::tree::Tree;
use dalembert_methods::lie::Quat;
use dalembert_methods::vector::{Mat3, Vec3};

/// A small generator of numbers (xorshift64*).
#[derive(Clone, Debug)]
pub struct Numbers(u64);

impl Numbers {
    /// The generator of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }
    /// The next number in [−1, 1).
    pub fn number(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11;
        bits as f64 / (1u64 << 52) as f64 - 1.0
    }
    /// The next index below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        (((self.number() + 1.0) * 0.5 * n as f64) as usize).min(n - 1)
    }
    /// A vector with entries in [−1, 1).
    pub fn vector(&mut self) -> Vec3<f64> {
        Vec3([self.number(), self.number(), self.number()])
    }
    /// A rotation.
    pub fn rotation(&mut self) -> Mat3<f64> {
        Quat([self.number() + 1.5, self.number(), self.number(), self.number()]).normalized().matrix()
    }
}

/// A chain of `n` slender links of 1/n m and 1/n kg, hanging along −z; axes alternate between y and x.
pub fn chain(n: usize) -> Tree {
    let l = 1.0 / n as f64;
    let r = l / 20.0;
    let across = l * (3.0 * r * r + l * l) / 12.0;
    let mut builder = TreeBuilder::new();
    for i in 0..n {
        let axis = if i % 2 == 0 { Vec3([0.0, 1.0, 0.0]) } else { Vec3([1.0, 0.0, 0.0]) };
        let placement = if i == 0 { Pose::default() } else { Pose::at(0.0, 0.0, -l) };
        builder.link(LinkSpec {
            name: format!("link{i}"),
            parent: i.checked_sub(1).map(|p| format!("link{p}")),
            joint: JointSpec::new(format!("joint{i}"), JointKind::Revolute { axis }, placement),
            offset: Pose::default(),
            mass: MassProperties::principal(l, [0.0, 0.0, -l / 2.0], [across, across, l * r * r / 2.0]),
        });
    }
    builder.build().expect("a chain of links with mass is a tree")
}

/// A joint of every kind in turn, with random axes.
fn kind(i: usize, numbers: &mut Numbers) -> JointKind {
    let unit = |k: usize| Vec3(std::array::from_fn(|j| if j == k % 3 { 1.0 } else { 0.0 }));
    let mut axis = || numbers.vector();
    match i % 16 {
        0..=2 => JointKind::Revolute { axis: unit(i) },
        3 => JointKind::Revolute { axis: axis() },
        4..=6 => JointKind::Prismatic { axis: unit(i) },
        7 => JointKind::Prismatic { axis: axis() },
        8 => JointKind::Helical { axis: axis(), pitch: 0.3 },
        9 => JointKind::Cylindrical { axis: axis() },
        10 => JointKind::Planar { normal: axis() },
        11 => JointKind::Universal { first: axis(), second: axis() },
        12 => JointKind::Spherical,
        13 => JointKind::Free,
        14 => JointKind::Fixed,
        _ => JointKind::Combined(vec![
            JointKind::Prismatic { axis: axis() },
            JointKind::Spherical,
            JointKind::Helical { axis: axis(), pitch: -0.2 },
        ]),
    }
}

/// A random tree of `n` links that has every kind of joint when n ≥ 16, with armatures and links of general inertia.
pub fn random(seed: u64, n: usize) -> Tree {
    let mut numbers = Numbers::new(seed);
    let shift = numbers.below(16);
    let mut builder = TreeBuilder::new();
    builder.gravity(Vec3([1.0, -2.0, -9.0]));
    for i in 0..n {
        // Some links hang on the world; most on one of the last few, in an order that is not depth first.
        let parent = if i == 0 || numbers.number() > 0.9 { None } else { Some(i - 1 - numbers.below(i.min(4))) };
        let kind = kind(i + shift, &mut numbers);
        let whole = matches!(kind, JointKind::Free | JointKind::Combined(_));
        let count = crate::build::count(&kind).1;
        let armature = if whole { 0.0 } else { 0.1 * (numbers.number() + 1.0) };
        let freedoms = vec![Freedom { armature, ..Freedom::default() }; count];
        let placement = Pose { rotation: numbers.rotation(), position: numbers.vector() };
        let turn = numbers.rotation();
        let moments = [1.0 + 0.4 * numbers.number(), 1.1 + 0.4 * numbers.number(), 1.2 + 0.2 * numbers.number()];
        let mass = MassProperties {
            mass: 1.0 + 0.5 * numbers.number(),
            centre: numbers.vector(),
            inertia: turn * Mat3::diagonal(moments) * turn.transposed(),
        };
        builder.link(LinkSpec {
            name: format!("link{i}"),
            parent: parent.map(|p| format!("link{p}")),
            joint: JointSpec::new(format!("joint{i}"), kind, placement).with(freedoms),
            offset: Pose { rotation: numbers.rotation(), position: numbers.vector() },
            mass,
        });
    }
    builder.build().expect("links with mass and inertia make a tree")
}

/// A random configuration and random velocities, accelerations and forces.
pub fn state(tree: &Tree, seed: u64) -> (Vec<f64>, Vec<f64>, Vec<f64>, Vec<f64>) {
    let mut numbers = Numbers::new(seed ^ 0xABCD);
    let mut list = || (0..tree.nv).map(|_| numbers.number()).collect::<Vec<f64>>();
    let (delta, v, a, tau) = (list(), list(), list(), list());
    let mut q = vec![0.0; tree.nq];
    tree.retract(&tree.neutral(), &delta, &mut q);
    (q, v, a, tau)
}
