//! Actuators of MJCF on hinges, slides and tendons: `motor`, `position`, `velocity`, and `general` ones that amount to these.
//!
//! MuJoCo's force is gain · ctrl + b₀ + b₁ · length + b₂ · velocity, within `forcerange`, where length is gear times the coordinate; what acts on the
//! coordinate is gear times the force. With ctrl = 0, as at the start, this is a servo with stiffness −gear² b₁ and damping −gear² b₂ that holds
//! zero; what drives it is for the scene to say. Limits are those of `forcerange`, and of `ctrlrange` if there is no servo; a limit on
//! one side is kept as it is.
//!
//! Actuators of other joints, of sites and bodies, with dynamics of their own or b₀ are listed.

use crate::couplings::{Tendon, is_single};
use crate::mjcf_defaults::Defaults;
use crate::xml::{Notes, leave_out, parse_numbers, start};
use crate::{Drive, DriveOn, ReadError};
use dalembert_trees::Tree;
use roxmltree::Node;

/// The drives of actuators.
pub(crate) fn drives<'a>(
    nodes: &[Node<'a, '_>],
    defaults: &Defaults<'a>,
    tree: &Tree,
    tendons: &[Tendon],
    left_out: &mut Notes,
) -> Result<Vec<Drive>, ReadError> {
    let mut out: Vec<Drive> = Vec::new();
    for node in nodes {
        match drive(node, defaults, tree, tendons, out.len() + 1)? {
            Ok(drive) => {
                left_out.push((
                    start(node),
                    format!("the control of `{}`: it is zero until the scene says more", drive.name),
                ));
                out.push(drive);
            }
            Err(why) => leave_out(node, why, left_out),
        }
    }
    Ok(out)
}

/// One drive, or why it is left out.
fn drive<'a>(
    node: &Node<'a, '_>,
    defaults: &Defaults<'a>,
    tree: &Tree,
    tendons: &[Tendon],
    number: usize,
) -> Result<Result<Drive, &'static str>, ReadError> {
    let list = |name: &str| -> Result<Vec<f64>, ReadError> {
        let text = defaults.get(node, "main", name).unwrap_or("");
        parse_numbers(text).map_err(|e| ReadError::at_attribute(node, name, format!("attribute `{name}`: {e}")))
    };
    let first = |name: &str, default: f64| list(name).map(|l| l.first().copied().unwrap_or(default));
    let word = |name: &str| defaults.get(node, "main", name);
    // Gain, and factors of length and velocity.
    let (gain, length, velocity) = match node.tag_name().name() {
        "motor" => (1.0, 0.0, 0.0),
        "position" => {
            if word("dampratio").is_some() || word("timeconst").is_some() {
                return Ok(Err("servos with a damping ratio or a time constant are not taken over"));
            }
            let kp = first("kp", 1.0)?;
            (kp, -kp, -first("kv", 0.0)?)
        }
        "velocity" => {
            let kv = first("kv", 1.0)?;
            (kv, 0.0, -kv)
        }
        "general" => {
            let bias = list("biasprm")?;
            let bias = |k: usize| bias.get(k).copied().unwrap_or(0.0);
            let affine = match word("biastype").unwrap_or("none") {
                "none" => false,
                "affine" => true,
                _ => return Ok(Err("a bias of this type is not taken over")),
            };
            let plain = |name: &str, only: &str| word(name).is_none_or(|given| given == only);
            if !plain("gaintype", "fixed") || !plain("dyntype", "none") || (affine && bias(0) != 0.0) {
                return Ok(Err("actuators with dynamics, a gain or a bias of their own are not taken over"));
            }
            let gain = first("gainprm", 1.0)?;
            if affine { (gain, bias(1), bias(2)) } else { (gain, 0.0, 0.0) }
        }
        _ => return Ok(Err("actuators of this kind are not taken over")),
    };
    let on = match (word("joint"), word("tendon")) {
        (Some(name), _) => match tree.joints().iter().find(|j| j.name == name) {
            Some(joint) if is_single(&joint.spec.kind) => DriveOn::Joint(name.to_string()),
            Some(_) => return Ok(Err("only actuators of hinges and slides are taken over")),
            None => return Err(ReadError::at_attribute(node, "joint", format!("there is no joint named `{name}`"))),
        },
        (None, Some(name)) => match tendons.iter().any(|t| t.name == name) {
            true => DriveOn::Tendon(name.to_string()),
            false => return Ok(Err("its tendon is not taken over")),
        },
        (None, None) => return Ok(Err("only actuators of joints and tendons are taken over")),
    };
    let gear = first("gear", 1.0)?;
    let range = |key: &str, limited: &str| -> Result<Option<[f64; 2]>, ReadError> {
        let values = list(key)?;
        Ok(match (values.as_slice(), word(limited)) {
            (_, Some("false")) => None,
            (&[low, high], _) => Some([low, high]),
            _ => None,
        })
    };
    let (force, control) = (range("forcerange", "forcelimited")?, range("ctrlrange", "ctrllimited")?);
    let servo = length != 0.0 || velocity != 0.0;
    let scaled = |[low, high]: [f64; 2]| if gain < 0.0 { [gain * high, gain * low] } else { [gain * low, gain * high] };
    let control = control.filter(|_| !servo).map(scaled);
    let both = |[a, b]: [f64; 2], [c, d]: [f64; 2]| [a.max(c), b.min(d)];
    let limits = force.into_iter().chain(control).reduce(both).map(|[low, high]| [gear * low, gear * high]);
    let limits = limits.map(|[a, b]| if gear < 0.0 { [b, a] } else { [a, b] });
    if limits.is_some_and(|[low, high]| low > high) {
        return Err(ReadError::at(node, "its ranges exclude each other"));
    }
    if length > 0.0 || velocity > 0.0 || !(gear.is_finite() && gain.is_finite()) {
        return Ok(Err("a servo that pushes away from where it should be is not taken over"));
    }
    Ok(Ok(Drive {
        name: node.attribute("name").map_or_else(|| format!("drive{number}"), str::to_string),
        on,
        stiffness: -gear * gear * length,
        damping: -gear * gear * velocity,
        limits,
    }))
}
