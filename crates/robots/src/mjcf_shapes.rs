//! Mass properties of bodies that MJCF gives by shapes: spheres, boxes, capsules, cylinders and ellipsoids of a density or mass.

use crate::mjcf_defaults::Defaults;
use crate::xml::parse_numbers;
use crate::{ReadError, xml};
use dalembert_methods::lie::Quat;
use dalembert_methods::vector::{Mat3, Vec3};
use dalembert_trees::{MassProperties, Pose};
use roxmltree::Node;
use std::f64::consts::PI;

/// Mass, centre and inertia of a `<geom>` in the frame of its body; nothing for planes, height fields and meshes.
pub(crate) fn shape<'a>(
    node: &Node<'a, '_>,
    class: &str,
    defaults: &Defaults<'a>,
    pose: Pose,
    left_out: &mut xml::Notes,
) -> Result<MassProperties, ReadError> {
    let kind = defaults.get(node, class, "type").unwrap_or("sphere");
    let size = match defaults.get(node, class, "size") {
        Some(text) => parse_numbers(text).map_err(|e| ReadError::at_attribute(node, "size", format!("`size`: {e}")))?,
        None => Vec::new(),
    };
    let ends = defaults.numbers::<6>(node, class, "fromto")?;
    let (pose, half) = match ends {
        Some([a, b, c, x, y, z]) => {
            let (from, to) = (Vec3([a, b, c]), Vec3([x, y, z]));
            let length = (to - from).norm();
            (Pose { rotation: along(from - to), position: (from + to) * 0.5 }, Some(0.5 * length))
        }
        None => (pose, None),
    };
    let get = |i: usize| {
        let given = if i == 1 && half.is_some() { half } else { size.get(i).copied() };
        given.ok_or_else(|| ReadError::at(node, format!("a {kind} needs {} numbers in `size`", i + 1)))
    };
    let (volume, moments) = match kind {
        "sphere" => {
            let r = get(0)?;
            (4.0 / 3.0 * PI * r.powi(3), [0.4 * r * r; 3])
        }
        "box" => {
            let (a, b, c) = (get(0)?, get(1)?, get(2)?);
            (8.0 * a * b * c, [(b * b + c * c) / 3.0, (a * a + c * c) / 3.0, (a * a + b * b) / 3.0])
        }
        "ellipsoid" => {
            let (a, b, c) = (get(0)?, get(1)?, get(2)?);
            (4.0 / 3.0 * PI * a * b * c, [(b * b + c * c) / 5.0, (a * a + c * c) / 5.0, (a * a + b * b) / 5.0])
        }
        "cylinder" => {
            let (r, h) = (get(0)?, 2.0 * get(1)?);
            let across = (3.0 * r * r + h * h) / 12.0;
            (PI * r * r * h, [across, across, r * r / 2.0])
        }
        "capsule" => {
            let (r, h) = (get(0)?, 2.0 * get(1)?);
            let (barrel, ball) = (PI * r * r * h, 4.0 / 3.0 * PI * r.powi(3));
            let (b, s) = (barrel / (barrel + ball), ball / (barrel + ball));
            // Two half balls, their centres 3r/8 beyond the ends of the barrel.
            let across = b * (3.0 * r * r + h * h) / 12.0 + s * (0.4 * r * r + 0.375 * r * h + h * h / 4.0);
            (barrel + ball, [across, across, b * r * r / 2.0 + s * 0.4 * r * r])
        }
        "plane" | "hfield" | "sdf" | "mesh" => {
            if kind == "mesh" {
                xml::leave_out(node, "meshes are not read: the body has no mass from it", left_out);
            }
            return Ok(MassProperties::default());
        }
        other => return Err(ReadError::at_attribute(node, "type", format!("`{other}` is no kind of shape"))),
    };
    let density = defaults.number(node, class, "density")?.unwrap_or(1000.0);
    let mass = defaults.number(node, class, "mass")?.unwrap_or(density * volume);
    let inertia = Mat3::diagonal(moments.map(|m| m * mass));
    Ok(MassProperties { mass, centre: Vec3::zero(), inertia }.seen_from(&pose))
}

/// The rotation that takes z to a direction by the shortest way.
pub(crate) fn along(direction: Vec3<f64>) -> Mat3<f64> {
    let z = Vec3([0.0, 0.0, 1.0]);
    if direction.norm() < 1e-12 {
        return Mat3::identity();
    }
    let d = direction.normalized();
    let (axis, cosine) = (z.cross(d), z.dot(d));
    if cosine < -1.0 + 1e-12 {
        return Quat([0.0, 1.0, 0.0, 0.0]).matrix();
    }
    Quat([1.0 + cosine, axis[0], axis[1], axis[2]]).normalized().matrix()
}
