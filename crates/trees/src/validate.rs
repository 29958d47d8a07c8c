//! What links and joints must be like: finite numbers, inertias that bodies can have, axes that point somewhere.

use crate::build::{LinkSpec, TreeError, count};
use crate::joint::{Cone, Freedom, JointKind, JointSpec, Pose};
use dalembert_methods::vector::{Mat3, Vec3};

fn value(name: &str, what: impl Into<String>) -> TreeError {
    TreeError::Value { name: name.into(), what: what.into() }
}

pub(crate) fn check_link(link: &LinkSpec) -> Result<(), TreeError> {
    let m = &link.mass;
    if !(m.mass.is_finite() && m.mass >= 0.0) {
        return Err(value(&link.name, format!("the mass must be finite and not negative, not {}", m.mass)));
    }
    let entries = m.inertia.0.as_flattened();
    if !entries.iter().chain(&m.centre.0).all(|x| x.is_finite()) {
        return Err(value(&link.name, "centre of mass and inertia must be finite"));
    }
    check_pose(&link.name, &link.offset)?;
    let i = m.inertia.0;
    let scale = i[0][0].abs() + i[1][1].abs() + i[2][2].abs();
    let skew = (i[0][1] - i[1][0]).abs().max((i[0][2] - i[2][0]).abs()).max((i[1][2] - i[2][1]).abs());
    if skew > 1e-9 * scale {
        return Err(value(&link.name, "the inertia must be symmetric"));
    }
    let [a, b, c] = principal_moments(m.inertia);
    // Rounding of the moments, and files that give few digits.
    if a < -1e-9 * scale {
        return Err(value(&link.name, format!("the inertia has a negative principal moment, {a} kg m²")));
    }
    if a + b < c * (1.0 - 1e-6) - 1e-9 * scale {
        let what = format!(
            "no body has the principal moments {a:.6e}, {b:.6e}, {c:.6e} kg m²: each is at most the sum of the other two; is \
             the inertia in kg m² and about the centre of mass?"
        );
        return Err(value(&link.name, what));
    }
    Ok(())
}

/// The principal moments, ascending, by Jacobi rotations.
pub(crate) fn principal_moments(m: Mat3<f64>) -> [f64; 3] {
    let mut a = m.0;
    for _ in 0..30 {
        let off = a[0][1].abs() + a[0][2].abs() + a[1][2].abs();
        if off == 0.0 {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q] == 0.0 {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let t = if theta >= 0.0 { 1.0 } else { -1.0 } / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            for k in 0..3 {
                (a[k][p], a[k][q]) = (c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]);
            }
            for k in 0..3 {
                (a[p][k], a[q][k]) = (c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]);
            }
        }
    }
    let mut moments = [a[0][0], a[1][1], a[2][2]];
    moments.sort_by(f64::total_cmp);
    moments
}

fn check_pose(name: &str, pose: &Pose) -> Result<(), TreeError> {
    if !pose.position.0.iter().chain(pose.rotation.0.as_flattened()).all(|x| x.is_finite()) {
        return Err(value(name, "its place must be finite"));
    }
    let gram = pose.rotation.transposed() * pose.rotation;
    let unit = Mat3::<f64>::identity();
    let error = gram.0.as_flattened().iter().zip(unit.0.as_flattened()).map(|(a, b)| (a - b).abs());
    if error.fold(0.0, f64::max) > 1e-9 || pose.rotation.determinant() < 0.0 {
        return Err(value(name, "its axes must be a rotation"));
    }
    Ok(())
}

pub(crate) fn check_joint(joint: &JointSpec) -> Result<(), TreeError> {
    check_pose(&joint.name, &joint.placement)?;
    check_kind(&joint.name, &joint.kind)?;
    let freedoms = count(&joint.kind).1;
    if joint.freedoms.len() > freedoms {
        let what = format!("has {freedoms} freedoms, but properties of {}", joint.freedoms.len());
        return Err(value(&joint.name, what));
    }
    for f in &joint.freedoms {
        let parts =
            [("armature", f.armature), ("damping", f.damping), ("friction", f.friction), ("stiffness", f.stiffness)];
        for (what, x) in parts {
            if !(x.is_finite() && x >= 0.0) {
                return Err(value(&joint.name, format!("{what} must be finite and not negative, not {x}")));
            }
        }
        if !f.rest.is_finite() {
            return Err(value(&joint.name, "the rest position of its spring must be finite"));
        }
        if f.lower.is_nan() || f.upper.is_nan() || f.lower > f.upper {
            return Err(value(&joint.name, format!("the range from {} to {} is empty", f.lower, f.upper)));
        }
        if !(f.effort >= 0.0 && f.speed >= 0.0) {
            return Err(value(&joint.name, "the limits of force and speed must not be negative"));
        }
    }
    if let Some(cone) = &joint.cone {
        check_cone(joint, cone)?;
    }
    let mut at = 0;
    check_whole(&joint.name, &joint.kind, &joint.freedoms, &mut at)
}

fn check_cone(joint: &JointSpec, cone: &Cone) -> Result<(), TreeError> {
    let half = std::f64::consts::PI;
    if joint.kind != JointKind::Spherical {
        return Err(value(&joint.name, "only spherical joints move within a cone"));
    }
    if !(cone.axis.0.iter().all(|x| x.is_finite()) && cone.axis.norm() > 1e-9) {
        return Err(value(&joint.name, format!("the axis {:?} of the cone has no direction", cone.axis.0)));
    }
    if !(cone.swing > 0.0 && (cone.swing <= half || cone.swing == f64::INFINITY)) {
        return Err(value(&joint.name, format!("the swing must lie between 0 and π, not at {}", cone.swing)));
    }
    let [lower, upper] = cone.twist;
    let inside = |x: f64| x.abs() <= half || x.is_infinite();
    if !(lower <= upper && inside(lower) && inside(upper)) {
        return Err(value(&joint.name, format!("the twist must have a range within −π and π, not {lower} to {upper}")));
    }
    Ok(())
}

/// Joints that are not taken apart have one armature.
fn check_whole(name: &str, kind: &JointKind, all: &[Freedom], at: &mut usize) -> Result<(), TreeError> {
    if let JointKind::Combined(parts) = kind {
        return parts.iter().try_for_each(|part| check_whole(name, part, all, at));
    }
    let n = count(kind).1;
    let own: Vec<Freedom> = (*at..*at + n).map(|i| all.get(i).copied().unwrap_or_default()).collect();
    *at += n;
    match kind {
        JointKind::Free if own.iter().any(|f| f.armature != 0.0) => {
            Err(value(name, "a free joint has no drive and hence no armature"))
        }
        JointKind::Spherical | JointKind::Free
            if own.iter().any(|f| f.stiffness != 0.0 || f.lower.is_finite() || f.upper.is_finite()) =>
        {
            Err(value(
                name,
                "springs and ranges by coordinates of spherical and free joints are not supported; a spherical joint can have a cone",
            ))
        }
        JointKind::Spherical if own.iter().any(|f| f.armature != own[0].armature) => {
            Err(value(name, "a spherical joint has the same armature about all axes"))
        }
        _ => Ok(()),
    }
}

fn check_kind(name: &str, kind: &JointKind) -> Result<(), TreeError> {
    let axis = |a: &Vec3<f64>| {
        if a.0.iter().all(|x| x.is_finite()) && a.norm() > 1e-9 {
            Ok(())
        } else {
            Err(value(name, format!("the axis {:?} has no direction", a.0)))
        }
    };
    match kind {
        JointKind::Revolute { axis: a } | JointKind::Prismatic { axis: a } | JointKind::Cylindrical { axis: a } => {
            axis(a)
        }
        JointKind::Planar { normal } => axis(normal),
        JointKind::Helical { axis: a, pitch } => {
            axis(a)?;
            if pitch.is_finite() { Ok(()) } else { Err(value(name, "the pitch must be finite")) }
        }
        JointKind::Universal { first, second } => {
            axis(first)?;
            axis(second)?;
            if first.normalized().cross(second.normalized()).norm() < 1e-6 {
                return Err(value(name, "the two axes of a universal joint must not be parallel"));
            }
            Ok(())
        }
        JointKind::Combined(parts) => parts.iter().try_for_each(|part| check_kind(name, part)),
        JointKind::Fixed | JointKind::Spherical | JointKind::Free => Ok(()),
    }
}
