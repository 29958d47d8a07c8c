//! Random placements, dense linear algebra and erased views of elements, for tests.

use dalembert::constraints::{AnyConstraint, MOST_ROWS, RowsOn, Scratch};
use dalembert::joints::Axis;
use dalembert::methods::algebra::{Mass, Rows};
use dalembert::methods::lie::Quat;
use dalembert::methods::vector::{Mat3, Vec3};
use dalembert::methods::{State, System};
use dalembert::model::{Acceleration, Instant, Model, Place, Wrench};

/// Reproducible numbers (splitmix64).
pub struct Random(pub u64);

impl Random {
    /// A number between −1 and 1.
    pub fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
    pub fn vector(&mut self) -> Vec3<f64> {
        Vec3([self.number(), self.number(), self.number()])
    }
    pub fn rotation(&mut self) -> Mat3<f64> {
        Quat::exp(self.vector() * 2.0).matrix()
    }
    /// A marker anywhere, moving anyhow.
    pub fn place(&mut self) -> Place<f64> {
        Place { r: self.vector(), v: self.vector(), rotation: self.rotation(), omega: self.vector() }
    }
    pub fn acceleration(&mut self) -> Acceleration<f64> {
        Acceleration { a: self.vector(), alpha: self.vector() }
    }
}

pub fn at(t: f64) -> Instant<'static, f64> {
    Instant { t, x: &[], p: &[], signals: &[] }
}

fn view(item: &dyn AnyConstraint) -> &dyn RowsOn<f64> {
    item
}

pub fn residual(item: &dyn AnyConstraint, t: f64, places: &[Place<f64>]) -> Vec<f64> {
    let mut out = vec![0.0; item.rows().len()];
    view(item).residual(&at(t), places, &mut out);
    out
}

pub fn rate(item: &dyn AnyConstraint, t: f64, places: &[Place<f64>]) -> Vec<f64> {
    let mut out = vec![0.0; item.rows().len()];
    view(item).rate(&at(t), places, &mut Scratch::default(), &mut out);
    out
}

pub fn bias(item: &dyn AnyConstraint, t: f64, places: &[Place<f64>], along: &[Acceleration<f64>]) -> Vec<f64> {
    let mut out = vec![0.0; item.rows().len()];
    view(item).bias(&at(t), places, along, &mut Scratch::default(), &mut out);
    out
}

pub fn coordinates(item: &dyn AnyConstraint, places: &[Place<f64>]) -> Vec<f64> {
    let mut out = vec![0.0; item.coordinates().len()];
    view(item).coordinate(&at(0.0), places, &mut out);
    out
}

/// The gradients of all rows with respect to one marker.
pub fn gradient(item: &dyn AnyConstraint, t: f64, places: &[Place<f64>], marker: usize) -> Vec<Wrench<f64>> {
    let mut out = vec![Wrench::default(); item.rows().len()];
    assert!(out.len() <= MOST_ROWS);
    view(item).gradient(&at(t), places, marker, &mut Scratch::default(), &mut out);
    out
}

/// Wrenches as rows of a matrix.
pub fn matrix(wrenches: &[Wrench<f64>]) -> Vec<Vec<f64>> {
    wrenches.iter().map(|w| [w.force.0, w.torque.0].concat()).collect()
}

/// The rank, by elimination with full pivoting; pivots of our tests are of order one or of rounding.
pub fn rank(mut a: Vec<Vec<f64>>) -> usize {
    let mut found = 0;
    while found < a.len() {
        let entries = (found..a.len()).flat_map(|i| (0..a[0].len()).map(move |j| (i, j)));
        let Some((i, j)) = entries.max_by(|&(i, j), &(k, l)| a[i][j].abs().total_cmp(&a[k][l].abs())) else { break };
        if a[i][j].abs() < 1e-9 {
            break;
        }
        a.swap(found, i);
        let pivot = a[found].clone();
        for row in &mut a[found + 1..] {
            let factor = row[j] / pivot[j];
            row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= factor * p);
            row[j] = 0.0;
        }
        found += 1;
    }
    found
}

/// The frame (p, q, axis) of a joint axis, as columns.
pub fn joint_frame(axis: &Axis) -> Mat3<f64> {
    let [p, q] = axis.across();
    Mat3([p, q, axis.unit()].map(|v| v.0)).transposed()
}

/// The second marker, turned and shifted against the first in the frames of the joint axes.
pub fn moved(first: &Place<f64>, a: &Axis, b: &Axis, turn: Mat3<f64>, shift: Vec3<f64>) -> Place<f64> {
    let base = first.rotation * joint_frame(a);
    Place { r: first.r + base * shift, rotation: base * turn * joint_frame(b).transposed(), ..*first }
}

/// A turn about the third axis.
pub fn turn(angle: f64) -> Mat3<f64> {
    Quat::exp(Vec3([0.0, 0.0, angle])).matrix()
}

#[track_caller]
pub fn close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        assert!((x - y).abs() <= tolerance, "entry {i}: {x} against {y}");
    }
}

/// Accelerations and multipliers from [M Gᵀ; G 0] [v̇; λ] = [f; −bias], solved as a dense system.
pub fn accelerations(model: &Model, s: &State<f64>) -> (Vec<f64>, Vec<f64>) {
    let shape = model.shape();
    let (n, m) = (shape.v, shape.rows());
    let mut w = model.work::<f64>();
    model.prepare(s, &mut w);
    let mut mass = Mass::new(&model.mass_blocks());
    model.mass(s, &mut w, &mut mass);
    let mut rows = Rows::new(m, n, &model.row_blocks());
    model.jacobian(s, &mut w, &mut rows);
    let mut g = vec![0.0; m * n];
    rows.to_dense(&mut g);
    let mut rhs = vec![0.0; n + m];
    model.force(s, &mut w, &mut rhs[..n]);
    model.constraint_bias(s, &mut w, &mut rhs[n..]);
    rhs[n..].iter_mut().for_each(|b| *b = -*b);
    let mut kkt = vec![vec![0.0; n + m]; n + m];
    for j in 0..n {
        let (mut unit, mut column) = (vec![0.0; n], vec![0.0; n]);
        unit[j] = 1.0;
        mass.apply(&unit, &mut column);
        for i in 0..n {
            kkt[i][j] = column[i];
        }
        for i in 0..m {
            kkt[n + i][j] = g[i * n + j];
            kkt[j][n + i] = g[i * n + j];
        }
    }
    let mut x = solve(kkt, rhs);
    let multipliers = x.split_off(n);
    (x, multipliers)
}

/// Gaussian elimination with partial pivoting.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        assert!(a[k][k].abs() > 1e-12, "singular at {k}");
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - sum) / a[k][k];
    }
    b
}
