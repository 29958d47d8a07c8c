//! Before the first step: initial values and all that can be known to be wrong without a step.

use super::channels::check_patterns;
use super::driver::RunError;
use super::figures::check_figures;
use super::triggers::ChannelTriggers;
use crate::model::Model;
use crate::scene::{Initial, Scene};
use dalembert_methods::dynamics::Dynamics;
use dalembert_methods::nonsmooth::{ContactError, Contacts, Hybrid};
use dalembert_methods::{State, System, integrate};

/// The initial state as the scene writes it.
pub(super) fn written(scene: &Scene) -> State<f64> {
    let mut state = scene.model.initial_state();
    state.t = scene.run.start;
    state
}

/// Checks that every element can start, and brings initial values to the constraints if the scene asks for it.
pub(super) fn prepare(scene: &Scene, state: &mut State<f64>) -> Result<(), RunError> {
    let model = &scene.model;
    let defects = model.defects_at(state);
    if !defects.is_empty() {
        return Err(RunError::Elements(defects));
    }
    if scene.run.initial == Initial::Project && model.shape().rows() > 0 {
        let mut dynamics = Dynamics::new(model);
        dynamics.project_position(model, state, scene.run.tolerance).map_err(RunError::Start)?;
        dynamics.project_velocity(model, state).map_err(RunError::Start)?;
    }
    Ok(())
}

/// Checks that no contact starts inside its surface.
fn check_gaps(scene: &Scene, state: &State<f64>) -> Result<(), RunError> {
    let model = &scene.model;
    let mut gaps = vec![0.0; Contacts::contacts(model)];
    let mut work = model.work();
    model.prepare(state, &mut work);
    model.contact_gap(state, &mut work, &mut gaps);
    match gaps.iter().position(|&gap| gap < -scene.run.contacts.touch || gap.is_nan()) {
        None => Ok(()),
        Some(i) => {
            let error = ContactError::Penetration { t: state.t, contact: model.contact_name(i), gap: gaps[i] };
            Err(RunError::Start(error.into()))
        }
    }
}

/// Checks a scene as a run does before its first step: events, initial values, constraints. Gives the constraint rows that are
/// redundant but consistent.
pub fn check(scene: &Scene) -> Result<Vec<usize>, RunError> {
    let model = &scene.model;
    ChannelTriggers::new(model, &scene.events)?;
    check_patterns(model, &scene.output.channels)?;
    check_figures(scene)?;
    let mut state = written(scene);
    prepare(scene, &mut state)?;
    let y = Hybrid::new(model);
    let mut with_accounts = y.state(state.clone());
    integrate::create::<Hybrid<'_, Model>>(&scene.run.integrator, &scene.run.integrator_settings())
        .map_err(|error| RunError::Integrator(error.to_string()))?
        .start(&y, &mut with_accounts)
        .map_err(RunError::Start)?;
    check_gaps(scene, &state)?;
    // The integrator has judged the residuals by its tolerance; only the rank is still to be found.
    let mut dynamics = Dynamics::new(model);
    dynamics.check(model, &state, f64::INFINITY).map_err(RunError::Start)?;
    Ok(dynamics.dependent().to_vec())
}
