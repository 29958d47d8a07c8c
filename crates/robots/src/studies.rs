//! Studies of a given motion: where the joints must be so that links are where they are wanted (inverse kinematics), and which forces a motion
//! needs (inverse dynamics).
//!
//! **Inverse kinematics.** The errors e of all targets (positions, and orientations as rotation vectors) are made small by damped steps
//! (Levenberg, Marquardt) δ = (JᵀJ + μ 1)⁻¹ Jᵀ e along q ⊕ δ, within the ranges of the joints. Rows of a table follow each other: each starts where
//! the one before has ended.
//!
//! **Inverse dynamics.** Velocities and accelerations come from the polynomial through up to seven neighbouring rows (Fornberg's weights), taken
//! on the increments δ with q_j = q_k ⊕ δ_j; then τ = rnea − forces of the joints themselves. At a spacing h errors are of order h⁶ in velocities and h⁵
//! in accelerations inside, one less at the ends.
//!
//! References: B. Fornberg, Generation of finite difference formulas on arbitrarily spaced grids, Math. Comp. 51 (1988) 699–706;
//! Marquardt, J. SIAM 11 (1963) 431–441.

use dalembert_methods::lie::Quat;
use dalembert_methods::vector::{Mat3, Vec3};
use dalembert_trees::entry::{Level, one};
use dalembert_trees::{JointKind, Tree, jacobian, kinematics, passive};
use std::fmt;

/// Most steps for one row.
const STEPS: usize = 300;
/// Rows through which a polynomial is laid.
const WINDOW: usize = 7;

/// Why a study has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum StudyError {
    /// There is no such link.
    Link {
        /// The name given.
        name: String,
    },
    /// Targets cannot be met; the nearest configuration leaves this.
    OutOfReach {
        /// The row, counted from 0.
        row: usize,
        /// The link with the largest error.
        link: String,
        /// The error, in m (or rad).
        error: f64,
        /// What was allowed.
        tolerance: f64,
    },
    /// A motion needs at least three rows in rising time.
    Times {
        /// The first row at which time does not rise, or the number of rows.
        row: usize,
    },
}

impl fmt::Display for StudyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link { name } => write!(f, "there is no link `{name}`"),
            Self::OutOfReach { row, link, error, tolerance } => write!(
                f,
                "row {}: link `{link}` cannot be brought nearer than {error:.3e} m (or rad) to its target, allowed are {tolerance:.1e}; \
                 is it out of reach, or outside the ranges of the joints? Try another start",
                row + 1
            ),
            Self::Times { row } => {
                write!(f, "a motion needs three rows or more in rising time; look at row {}", row + 1)
            }
        }
    }
}

impl std::error::Error for StudyError {}

/// Where a point of a link is wanted.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The link.
    pub link: String,
    /// The point in its frame, in m.
    pub point: Vec3<f64>,
    /// Where the point is wanted, in m.
    pub position: Option<Vec3<f64>>,
    /// How the link is wanted to be turned.
    pub rotation: Option<Mat3<f64>>,
}

/// A configuration for each row of targets, from a start; every error is at most `tolerance`, in m and rad.
pub fn inverse_kinematics(
    tree: &Tree,
    start: &[f64],
    rows: &[Vec<Target>],
    tolerance: f64,
) -> Result<Vec<Vec<f64>>, StudyError> {
    let mut q = start.to_vec();
    let mut out = Vec::with_capacity(rows.len());
    for (row, targets) in rows.iter().enumerate() {
        let (link, error) = reach(tree, &mut q, targets)?;
        if error.is_nan() || error > tolerance {
            return Err(StudyError::OutOfReach { row, link, error, tolerance });
        }
        out.push(q.clone());
    }
    Ok(out)
}

/// Moves q until the errors no longer fall; gives the largest one and its link.
fn reach(tree: &Tree, q: &mut Vec<f64>, targets: &[Target]) -> Result<(String, f64), StudyError> {
    let n = tree.velocities();
    let mut work = kinematics::Work::new(tree);
    let (mut e, mut j) = errors(tree, q, targets, &mut work)?;
    let norm = |e: &[f64]| e.iter().map(|x| x * x).sum::<f64>();
    let mut damping = 1e-3;
    for _ in 0..STEPS {
        if norm(&e) == 0.0 || damping > 1e12 {
            break;
        }
        let (mut a, mut delta) = (vec![0.0; n * n], vec![0.0; n]);
        for (row, e) in j.chunks_exact(n).zip(&e) {
            for i in 0..n {
                delta[i] += row[i] * e;
                for k in 0..n {
                    a[i * n + k] += row[i] * row[k];
                }
            }
        }
        let scale = (0..n).map(|i| a[i * n + i]).fold(1e-30, f64::max);
        (0..n).for_each(|i| a[i * n + i] += damping * scale);
        solve_positive(n, &mut a, &mut delta);
        let mut next = q.clone();
        tree.retract(q, &delta, &mut next);
        hold(tree, &mut next);
        let (there, slope) = errors(tree, &next, targets, &mut work)?;
        if norm(&there) < norm(&e) {
            let small = norm(&there) > 0.999_999 * norm(&e) && damping > 1e-9;
            (*q, e, j) = (next, there, slope);
            damping = if small { damping * 10.0 } else { (damping * 0.1).max(1e-14) };
        } else {
            damping *= 10.0;
        }
    }
    let mut at = e.iter();
    let mut worst = (String::new(), 0.0);
    for target in targets {
        let count = 3 * (usize::from(target.position.is_some()) + usize::from(target.rotation.is_some()));
        let largest =
            at.by_ref().take(count).fold(0.0f64, |max, x| if x.is_nan() { f64::NAN } else { max.max(x.abs()) });
        if largest >= worst.1 || largest.is_nan() {
            worst = (target.link.clone(), largest);
        }
    }
    Ok(worst)
}

/// The errors of all targets and their Jacobian.
fn errors(
    tree: &Tree,
    q: &[f64],
    targets: &[Target],
    work: &mut kinematics::Work<f64>,
) -> Result<(Vec<f64>, Vec<f64>), StudyError> {
    let n = tree.velocities();
    let (mut e, mut j, mut six) = (Vec::new(), Vec::new(), vec![0.0; 6 * n]);
    kinematics::kinematics(tree, q, &vec![0.0; n], work);
    for target in targets {
        let link = tree.link(&target.link).ok_or_else(|| StudyError::Link { name: target.link.clone() })?;
        let motion = work.link(link, target.point);
        jacobian::jacobian(tree, work, link.body, motion.position, &mut six);
        if let Some(wanted) = target.position {
            e.extend((wanted - motion.position).0);
            j.extend_from_slice(&six[..3 * n]);
        }
        if let Some(wanted) = target.rotation {
            e.extend(Quat::from_matrix(wanted * motion.rotation.transposed()).log().0);
            j.extend_from_slice(&six[3 * n..]);
        }
    }
    Ok((e, j))
}

/// Keeps coordinates within their ranges.
fn hold(tree: &Tree, q: &mut [f64]) {
    each_single(tree, |iq, iv| {
        let f = &tree.freedoms()[iv];
        q[iq] = q[iq].max(f.lower).min(f.upper);
    });
}

/// Every coordinate that is one number, with its velocity.
fn each_single(tree: &Tree, mut f: impl FnMut(usize, usize)) {
    for joint in tree.joints() {
        let (mut q, mut v) = (joint.coordinate, joint.velocity);
        for kind in joint.spec.kind.simple() {
            if kind.coordinates() == 1 {
                f(q, v);
            }
            (q, v) = (q + kind.coordinates(), v + kind.velocities());
        }
    }
}

/// Solves a positive definite system in place, by Cholesky.
fn solve_positive(n: usize, a: &mut [f64], x: &mut [f64]) {
    for i in 0..n {
        for j in 0..=i {
            let sum = (0..j).fold(a[i * n + j], |sum, k| sum - a[i * n + k] * a[j * n + k]);
            a[i * n + j] = if i == j { sum.max(f64::MIN_POSITIVE).sqrt() } else { sum / a[j * n + j] };
        }
        x[i] = (0..i).fold(x[i], |sum, k| sum - a[i * n + k] * x[k]) / a[i * n + i];
    }
    for i in (0..n).rev() {
        x[i] = (i + 1..n).fold(x[i], |sum, k| sum - a[k * n + i] * x[k]) / a[i * n + i];
    }
}

/// The state of a motion and the forces it needs.
#[derive(Clone, Debug, PartialEq)]
pub struct MotionRow {
    /// Velocities.
    pub v: Vec<f64>,
    /// Accelerations.
    pub a: Vec<f64>,
    /// The forces of drives that make the motion, in N m or N.
    pub tau: Vec<f64>,
}

/// Velocities, accelerations and forces of a motion given by configurations at rising times.
pub fn inverse_dynamics(tree: &Tree, times: &[f64], motion: &[Vec<f64>]) -> Result<Vec<MotionRow>, StudyError> {
    let rows = times.len().min(motion.len());
    if let Some(row) = (1..rows).find(|&k| times[k].partial_cmp(&times[k - 1]) != Some(std::cmp::Ordering::Greater)) {
        return Err(StudyError::Times { row });
    }
    if rows < 3 {
        return Err(StudyError::Times { row: rows });
    }
    let n = tree.velocities();
    let mut rnea = one::Rnea::new(tree, Level::best());
    let window = WINDOW.min(rows);
    let mut out = Vec::with_capacity(rows);
    for k in 0..rows {
        let first = k.saturating_sub(window / 2).min(rows - window);
        let weights = fornberg(times[k], &times[first..first + window]);
        let (mut v, mut a) = (vec![0.0; n], vec![0.0; n]);
        for (j, [once, twice]) in weights.iter().enumerate() {
            let delta = difference(tree, &motion[k], &motion[first + j]);
            for i in 0..n {
                v[i] += once * delta[i];
                a[i] += twice * delta[i];
            }
        }
        // A free body: δ̇ = exp(δ) v, so that v̇ = δ̈ − ω × v.
        for (_, _, iv) in whole(tree).into_iter().filter(|(kind, _, _)| matches!(kind, JointKind::Free)) {
            let (speed, spin) = (Vec3::from_slice(&v[iv..]), Vec3::from_slice(&v[iv + 3..]));
            (Vec3::from_slice(&a[iv..]) - spin.cross(speed)).write(&mut a[iv..]);
        }
        let (mut tau, mut own) = (vec![0.0; n], vec![0.0; n]);
        rnea.compute(tree, &motion[k], &v, &a, &[], &mut tau);
        passive::forces(tree, &motion[k], &v, &passive::Smoothing::default(), &mut own);
        tau.iter_mut().zip(&own).for_each(|(tau, own)| *tau -= own);
        out.push(MotionRow { v, a, tau });
    }
    Ok(out)
}

/// The spherical and free parts of joints with their first coordinate and velocity.
fn whole(tree: &Tree) -> Vec<(JointKind, usize, usize)> {
    let mut out = Vec::new();
    for joint in tree.joints() {
        let (mut q, mut v) = (joint.coordinate, joint.velocity);
        for kind in joint.spec.kind.simple() {
            let next = (q + kind.coordinates(), v + kind.velocities());
            if kind.coordinates() > 1 {
                out.push((kind, q, v));
            }
            (q, v) = next;
        }
    }
    out
}

/// The increment δ with to = from ⊕ δ.
fn difference(tree: &Tree, from: &[f64], to: &[f64]) -> Vec<f64> {
    let mut delta = vec![0.0; tree.velocities()];
    each_single(tree, |q, v| delta[v] = to[q] - from[q]);
    for (kind, q, v) in whole(tree) {
        let (at, turn) = if matches!(kind, JointKind::Free) { (q + 3, v + 3) } else { (q, v) };
        let (a, b) = (Quat::from_slice(&from[at..]), Quat::from_slice(&to[at..]));
        (a.conjugate() * b).log().write(&mut delta[turn..]);
        if matches!(kind, JointKind::Free) {
            let moved = Vec3::from_slice(&to[q..]) - Vec3::from_slice(&from[q..]);
            a.matrix().transpose_mul(moved).write(&mut delta[v..]);
        }
    }
    delta
}

/// The weights of the first and second derivative at z of values at the points x.
fn fornberg(z: f64, x: &[f64]) -> Vec<[f64; 2]> {
    let n = x.len();
    let mut c = vec![[0.0f64; 3]; n];
    let (mut c1, mut c4) = (1.0, x[0] - z);
    c[0][0] = 1.0;
    for i in 1..n {
        let most = i.min(2);
        let (mut c2, c5) = (1.0, c4);
        c4 = x[i] - z;
        for j in 0..i {
            let c3 = x[i] - x[j];
            c2 *= c3;
            if j == i - 1 {
                for k in (1..=most).rev() {
                    c[i][k] = c1 * (k as f64 * c[i - 1][k - 1] - c5 * c[i - 1][k]) / c2;
                }
                c[i][0] = -c1 * c5 * c[i - 1][0] / c2;
            }
            for k in (1..=most).rev() {
                c[j][k] = (c4 * c[j][k] - k as f64 * c[j][k - 1]) / c3;
            }
            c[j][0] = c4 * c[j][0] / c3;
        }
        c1 = c2;
    }
    c.into_iter().map(|[_, once, twice]| [once, twice]).collect()
}
