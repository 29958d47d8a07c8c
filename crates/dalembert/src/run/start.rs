//! Before the first step: initial values and all that can be known to be wrong without a step.

use super::channels::check_patterns;
use super::driver::RunError;
use super::figures::check_figures;
use super::triggers::ChannelTriggers;
use crate::model::Model;
use crate::record::FinalState;
use crate::scene::{Initial, RestitutionLaw, Scene};
use dalembert_methods::dynamics::Dynamics;
use dalembert_methods::integrate::{self, About, Integrator};
use dalembert_methods::nonsmooth::moreau::{ABOUT_MOREAU, Moreau};
use dalembert_methods::nonsmooth::{ContactError, Contacts, Hybrid};
use dalembert_methods::{State, System};

/// How a run is made.
pub(super) enum Method<'m> {
    /// From located event to located event.
    Located(Box<dyn Integrator<Hybrid<'m, Model>> + 'm>),
    /// In fixed steps.
    Stepped(Moreau),
}

impl<'m> Method<'m> {
    /// The method that a scene asks for, with its settings checked.
    pub fn of(scene: &'m Scene) -> Result<Self, RunError> {
        let settings = scene.run.integrator_settings();
        if scene.run.integrator != ABOUT_MOREAU.name {
            return match integrate::create(&scene.run.integrator, &settings) {
                Ok(integrator) => Ok(Self::Located(integrator)),
                Err(error) => Err(RunError::Integrator(error.to_string())),
            };
        }
        let refuse = |reason: &str| Err(RunError::Integrator(format!("`moreau` {reason}")));
        if !scene.events.is_empty() {
            return refuse("does not locate events; remove the `[event]` entries or choose another integrator");
        }
        let contacts = &scene.run.contacts;
        if contacts.restitution != RestitutionLaw::Newton {
            return refuse("knows Newton's restitution only; remove `run.contacts.restitution`");
        }
        let model = &scene.model;
        let rubs = (0..Contacts::contacts(model)).any(|i| Contacts::tangents(model, i) > 0);
        if !contacts.impact_friction && rubs {
            return refuse("has friction in all impulses; set `run.contacts.impact_friction = true`");
        }
        match Moreau::new(&settings) {
            Ok(moreau) => Ok(Self::Stepped(moreau)),
            Err(error) => Err(RunError::Integrator(error.to_string())),
        }
    }

    /// What it is.
    pub fn about(&self) -> &'static About {
        match self {
            Self::Located(integrator) => integrator.about(),
            Self::Stepped(_) => &ABOUT_MOREAU,
        }
    }
}

/// The relative residual at which an initial state counts as consistent for time stepping.
const CONSISTENT: f64 = 1e-6;

/// The initial state as the scene writes it.
pub(super) fn written(scene: &Scene) -> State<f64> {
    let mut state = scene.model.initial_state();
    state.t = scene.run.start;
    state
}

/// Puts a state where another run has ended.
pub(super) fn place(state: &mut State<f64>, from: &FinalState) -> Result<(), RunError> {
    let sizes = [(&state.q, &from.q), (&state.v, &from.v), (&state.x, &from.x)];
    if sizes.iter().any(|(own, other)| own.len() != other.len()) {
        let message = "the scene has other bodies or elements than the run it should go on from; start it anew";
        return Err(RunError::State(message.to_owned()));
    }
    state.t = from.time;
    state.q.copy_from_slice(&from.q);
    state.v.copy_from_slice(&from.v);
    state.x.copy_from_slice(&from.x);
    Ok(())
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
    let touch = scene.run.contacts.options(scene.run.tolerance).touch;
    match gaps.iter().position(|&gap| gap < -touch || gap.is_nan()) {
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
    check_patterns(model, &scene.output.channels, &[])?;
    check_figures(scene)?;
    let mut state = written(scene);
    prepare(scene, &mut state)?;
    // The integrator judges the residuals by its tolerance; then only the rank is still to be found.
    let mut tolerance = CONSISTENT;
    if let Method::Located(mut integrator) = Method::of(scene)? {
        let y = Hybrid::new(model);
        integrator.start(&y, &mut y.state(state.clone())).map_err(RunError::Start)?;
        tolerance = f64::INFINITY;
    }
    check_gaps(scene, &state)?;
    let mut dynamics = Dynamics::new(model);
    dynamics.check(model, &state, tolerance).map_err(RunError::Start)?;
    Ok(dynamics.dependent().to_vec())
}
