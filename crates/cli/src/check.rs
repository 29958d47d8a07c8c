//! `dalembert check`.

use crate::args::CheckOptions;
use crate::exit::Exit;
use crate::{print, source};
use dalembert::methods::System;
use dalembert::run;

/// Reads a scene, builds its model, and checks all that a run would check before its first step.
pub fn check(options: &CheckOptions) -> Result<(), Exit> {
    let (scene, name) = source::load(&options.scene, &[])?;
    if options.expand {
        return print(&scene.to_toml());
    }
    let model = &scene.model;
    let shape = model.shape();
    let redundant = run::check(&scene).map_err(|error| Exit::start(&error, &scene))?;
    let mut names: Vec<String> = redundant.iter().map(|&row| model.row_name(row)).collect();
    names.dedup();
    let rank = shape.rows() - redundant.len();
    print(&format!(
        "{name}: {} bodies, {} joints and constraints, {} forces\n\
         {} velocities, {} constraint rows ({} redundant), {} degrees of freedom\n",
        model.bodies().len() - 1,
        model.constraints().len(),
        model.forces().len(),
        shape.v,
        shape.rows(),
        redundant.len(),
        shape.v - rank,
    ))?;
    if !names.is_empty() {
        print(&format!("redundant (and consistent) rows in: {}\n", names.join(", ")))?;
    }
    Ok(())
}
