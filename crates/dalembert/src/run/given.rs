//! A motion that was computed elsewhere, recorded as a run is: optimal motions, measured ones.
//!
//! Nothing is integrated. The account of energy tells how well the given states agree with the energy that was supplied and dissipated: it closes
//! if they are as accurate as a run of the scene would be, or as whoever computed them says they are.

use super::audit::Audit;
use super::channels::check_patterns;
use super::driver::{Outcome, RunError};
use super::recorder::Kept;
use crate::picture::Film;
use crate::record::{FinalState, Status, Summary};
use crate::scene::Scene;
use dalembert_methods::State;
use dalembert_methods::nonsmooth::Hybrid;
use dalembert_methods::trajectory::{Channel, Trajectory};

/// One instant of a given motion.
#[derive(Clone, Debug)]
pub struct Given {
    /// The state, with the integrals of dissipated and supplied energy.
    pub state: State<f64>,
    /// The multipliers of all constraints of the scene.
    pub multipliers: Vec<f64>,
    /// Energy that the motion may have missed since the instant before, in J.
    pub missed: f64,
}

/// A further column of the record.
#[derive(Clone, Debug)]
pub struct Column {
    /// Name and unit.
    pub channel: Channel,
    /// One value for each instant.
    pub values: Vec<f64>,
}

/// Records a motion of the model of a scene, with further columns, as a run of the `method` named.
pub fn given(scene: &Scene, name: &str, method: &str, motion: &[Given], more: &[Column]) -> Result<Outcome, RunError> {
    let model = &scene.model;
    let (mut channels, kept) = Kept::of(model, &scene.output.channels, true);
    check_patterns(model, &scene.output.channels, channels.channels())?;
    let select = |places: &[usize]| places.iter().map(|&i| channels.channels()[i].clone()).collect::<Vec<_>>();
    let mut film = Film::new(&select(&kept.filmed));
    let recorded = select(&kept.recorded).into_iter().chain(more.iter().map(|column| column.channel.clone()));
    let mut trajectory = Trajectory::new(recorded.collect()).map_err(RunError::Channels)?;
    let y = Hybrid::new(model);
    let mut audit = Audit::new(model, scene.run.tolerance, scene.run.tolerance, scene.run.ledger_factor);
    let mut all = vec![0.0; channels.channels().len()];
    let forces = vec![0.0; model.layout.contact_rows()];
    let mut row = Vec::new();
    for (k, Given { state, multipliers, missed }) in motion.iter().enumerate() {
        let wrong = state.q.len() != model.layout.shape.q || state.v.len() != model.layout.shape.v;
        if wrong || more.iter().any(|column| column.values.len() != motion.len()) {
            return Err(RunError::State(format!(
                "instant {k} has not the coordinates of the scene, or a column has not its length"
            )));
        }
        channels.sample_given(&y, state, multipliers, &forces, &mut all);
        row.clear();
        row.extend(kept.recorded.iter().map(|&i| all[i]));
        row.extend(more.iter().map(|column| column.values[k]));
        trajectory.push(&row);
        film.push(kept.filmed.iter().map(|&i| all[i]));
        audit.observe(model, state, Some(0.0));
        audit.forgive(*missed);
    }
    let ledger = audit.ledger();
    let time = |s: Option<&Given>| s.map_or(0.0, |s| s.state.t);
    let last = motion.last().map(|s| s.state.clone()).unwrap_or_default();
    let summary = Summary {
        name: name.to_owned(),
        title: scene.info.title.clone(),
        status: Status::Completed,
        integrator: method.to_owned(),
        start_time: time(motion.first()),
        end_time: time(motion.last()),
        ledger,
        final_state: FinalState { time: last.t, q: last.q, v: last.v, x: last.x },
        rows: trajectory.len() as u64,
        channels: trajectory.channels().iter().map(Into::into).collect(),
        ..Summary::default()
    };
    let steps = motion.windows(2).map(|pair| (pair[0].state.t, pair[1].state.t - pair[0].state.t)).collect();
    let scene = scene.to_toml();
    Ok(Outcome { summary, trajectory, film, steps, events: Vec::new(), scene, failure: None, checkpoint: None })
}
