//! `dalembert check`.

use crate::args::CheckOptions;
use crate::exit::Exit;
use crate::{print, source};
use dalembert::methods::System;
use dalembert::methods::dynamics::Dynamics;
use dalembert::run::RunError;
use dalembert::scene::Initial;

/// Reads a scene, builds its model, and looks whether its initial values satisfy the constraints.
pub fn check(options: &CheckOptions) -> Result<(), Exit> {
    let (scene, name) = source::load(&options.scene, &[])?;
    if options.expand {
        return print(&scene.to_toml());
    }
    let model = &scene.model;
    let shape = model.shape();
    let mut dynamics = Dynamics::new(model);
    let mut state = model.initial_state();
    state.t = scene.run.start;
    if scene.run.initial == Initial::Project {
        let projected = dynamics
            .project_position(model, &mut state, scene.run.tolerance)
            .and_then(|_| dynamics.project_velocity(model, &mut state));
        projected.map_err(RunError::Start)?;
    }
    dynamics.check(model, &state, scene.run.tolerance.max(1e-9)).map_err(RunError::Start)?;
    let redundant = dynamics.dependent();
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
