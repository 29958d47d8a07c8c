//! Units that cannot be those of one robot: files in which some numbers are in mm and others in m are common, and run without a word.
//!
//! Robots have all sizes, so that no length is wrong by itself. But a link is not a hundred times larger than the longest distance in its robot:
//! its radius of gyration √(I/m), or its centre of mass, then has another unit than the places of joints, or I is not in kg m².

use dalembert_trees::{TreeBuilder, TreeError};

/// How many times the longest distance between joints a link may be large, or its centre far away.
const LARGE: f64 = 100.0;

/// Says which link has other units than the rest.
pub(crate) fn check(builder: &TreeBuilder) -> Result<(), TreeError> {
    let length = |v: [f64; 3]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    // The place of a robot in the world says nothing about its size.
    let inner = builder.links().iter().filter(|link| link.parent.is_some());
    let joints = inner.map(|link| length(link.joint.placement.position.0)).fold(0.0, f64::max);
    if joints == 0.0 {
        return Ok(());
    }
    for link in builder.links().iter().filter(|link| link.mass.mass > 0.0) {
        let inertia = (0..3).map(|k| link.mass.inertia.0[k][k]).fold(0.0, f64::max);
        let parts =
            [("radius of gyration", (inertia / link.mass.mass).sqrt()), ("centre of mass", length(link.mass.centre.0))];
        if let Some((what, size)) = parts.into_iter().find(|(_, size)| *size > LARGE * joints) {
            let what = format!(
                "the {what}, {size:.3e} m, is {:.0} times the longest distance between joints, {joints:.3e} m: are all masses in kg, lengths in m \
                 and inertias in kg m²?",
                size / joints
            );
            return Err(TreeError::Value { name: link.name.clone(), what });
        }
    }
    Ok(())
}
