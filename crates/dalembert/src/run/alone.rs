//! A run of which nothing is kept: what an integrator costs by itself, without ledger, channels and pictures.

use super::driver::RunError;
use super::start::{self, Method};
use super::triggers::ChannelTriggers;
use crate::scene::Scene;
use dalembert_methods::integrate::{Counts, Span};
use dalembert_methods::nonsmooth::{self, Hybrid};

/// Integrates a scene from its start to its end; the work that was done.
pub fn integrate_alone(scene: &Scene) -> Result<Counts, RunError> {
    let model = &scene.model;
    let mut y = Hybrid::new(model);
    let mut method = Method::of(scene)?;
    let mut state = y.state(start::written(scene));
    start::prepare(scene, &mut state)?;
    let mut triggers = ChannelTriggers::new(model, &scene.events)?;
    let (begin, end) = (scene.run.start, scene.run.until);
    let span = Span::new(begin, end, end - begin);
    let options = scene.run.contacts.options(scene.run.tolerance);
    let (ending, counts) = match &mut method {
        Method::Located(integrator) => {
            let run =
                nonsmooth::simulate(&mut y, &mut state, &mut **integrator, &span, &options, &mut triggers, &mut ());
            (run.ending, run.counts)
        }
        Method::Stepped(moreau) => {
            let run = moreau.simulate(model, &mut state, &span, &mut ());
            (run.ending, run.counts)
        }
    };
    ending.map(|_| counts).map_err(RunError::Start)
}
