//! Where a system with contacts is linearised: a state, and the modes in which its contacts are held there.
//!
//! Small motions about a place keep the modes: a closed contact is a row, a sticking one a row on velocities, a sliding one a friction force that follows
//! its press ([`Hybrid`]). They end where a press or a gap is used up; how much of them there is, is told.
//!
//! Modes are those in which a run would begin. At an equilibrium and in a steady motion they are found with it.

use crate::error::AnalysisError;
use crate::steady::{Steady, steady};
use crate::touching::beginning;
use dalembert_methods::integrate::{IntegrateError, Integrator, RungeKutta, Settings, Span};
use dalembert_methods::nonsmooth::{Contacts, Hybrid, Mode, Observer, Options, contact_forces, rest, simulate};
use dalembert_methods::statics::Equilibrium;
use dalembert_methods::system::{State, System};

/// Most searches for a steady motion with other modes.
const SEARCHES: usize = 8;

/// A state with the modes of its contacts.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The state, with the accounts of contacts.
    pub state: State<f64>,
    /// The modes of all contacts.
    pub modes: Vec<Mode>,
    /// The forces of all contacts in newtons, contact by contact: press, then tangents.
    pub forces: Vec<f64>,
}

/// What a contact does at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Touch {
    /// Its name.
    pub name: String,
    /// Its mode.
    pub mode: Mode,
    /// Its gap in m.
    pub gap: f64,
    /// Its press in N.
    pub press: f64,
    /// Its friction in N.
    pub friction: f64,
    /// How much of a sticking contact's cone is left, in N.
    pub left: Option<f64>,
}

impl Place {
    /// The start as it is, in the modes in which a run begins.
    ///
    /// # Errors
    /// Those of the beginning of a run.
    pub fn start<Y: Contacts>(model: &Y, start: &State<f64>, options: &Options) -> Result<Self, AnalysisError> {
        let hybrid = Hybrid::new(model);
        let state = hybrid.state(start.clone());
        if hybrid.modes().is_empty() {
            return Ok(Self { state, modes: Vec::new(), forces: Vec::new() });
        }
        Self::taken(model, state, options)
    }

    /// A state in the modes in which a run would begin there.
    fn taken<Y: Contacts>(model: &Y, state: State<f64>, options: &Options) -> Result<Self, AnalysisError> {
        let (modes, latched) = beginning(model, &state, options)?;
        let mut hybrid = Hybrid::new(model);
        hybrid.set_modes(&modes);
        hybrid.set_latched(&latched);
        let forces = contact_forces(&hybrid, &state)?;
        Ok(Self { state, modes, forces })
    }

    /// The static equilibrium near the start.
    ///
    /// # Errors
    /// Those of [`rest`].
    pub fn equilibrium<Y: Contacts>(
        model: &Y,
        start: &State<f64>,
        tolerance: f64,
        options: &Options,
    ) -> Result<(Self, Equilibrium), AnalysisError> {
        let mut hybrid = Hybrid::new(model);
        let mut state = hybrid.state(start.clone());
        let found = rest(&mut hybrid, &mut state, tolerance, options)?;
        Ok((Self { state, modes: hybrid.modes().to_vec(), forces: found.forces }, found.equilibrium))
    }

    /// The steady motion near the start in which some velocities run on.
    ///
    /// # Errors
    /// Those of [`steady`], and [`AnalysisError::Invalid`] if the motion that is found is none of the modes it was sought in.
    pub fn steady<Y: Contacts>(
        model: &Y,
        start: &State<f64>,
        running: &[usize],
        tolerance: f64,
        options: &Options,
    ) -> Result<(Self, Steady), AnalysisError> {
        let mut place = Self::start(model, start, options)?;
        let mut seen: Vec<Vec<Mode>> = Vec::new();
        loop {
            let held = place.modes.clone();
            let found = steady(&place.system(model), &place.state, running, tolerance)?;
            if held.is_empty() {
                place.state.clone_from(&found.state);
                return Ok((place, found));
            }
            let there = Self::taken(model, found.state.clone(), options)?;
            let Some(i) = (0..held.len()).find(|&i| !alike(held[i], there.modes[i])) else {
                return Ok((there, found));
            };
            seen.push(held);
            if seen.len() == SEARCHES || seen.contains(&there.modes) {
                let reason = format!(
                    "no steady motion fits to the modes of contacts: where `{}` is {} in the search, it would be {}; start nearer to the motion",
                    model.contact_name(i),
                    word(seen[seen.len() - 1][i]),
                    word(there.modes[i])
                );
                return Err(AnalysisError::Invalid { reason });
            }
            // The search begins again from the start, with what those contacts ask for.
            place.modes = there.modes;
        }
    }

    /// Places of a motion each `interval` seconds, the start included, `count` of them, in one run through all events.
    ///
    /// # Errors
    /// Those of the run.
    pub fn along<Y: Contacts>(
        model: &Y,
        start: &State<f64>,
        interval: f64,
        count: usize,
        tolerance: f64,
        options: &Options,
    ) -> Result<Vec<Self>, AnalysisError> {
        let mut hybrid = Hybrid::new(model);
        let mut s = hybrid.state(start.clone());
        let tuning = Settings::default().with("tolerance", tolerance).with("absolute", tolerance);
        let invalid = |reason: String| AnalysisError::Invalid { reason };
        let mut integrator = RungeKutta::dop853(&tuning).map_err(|error| invalid(error.to_string()))?;
        let integrator: &mut dyn Integrator<Hybrid<'_, Y>> = &mut integrator;
        let mut keeper = Keeper { places: Vec::new(), failure: None };
        // Half an interval more, so that the last instant does not depend on rounding.
        let span = Span::new(s.t, s.t + interval * (count as f64 - 0.5), interval);
        simulate(&mut hybrid, &mut s, integrator, &span, options, &mut (), &mut keeper).ending?;
        match keeper.failure {
            Some(failure) => Err(failure.into()),
            None => Ok(keeper.places.into_iter().take(count).collect()),
        }
    }

    /// The system with the modes of this place.
    pub fn system<'m, Y: Contacts>(&self, model: &'m Y) -> Hybrid<'m, Y> {
        let mut hybrid = Hybrid::new(model);
        hybrid.set_modes(&self.modes);
        hybrid
    }

    /// The state without the accounts of contacts, as the model has it.
    pub fn plain<Y: System>(&self, model: &Y) -> State<f64> {
        let mut state = self.state.clone();
        state.z.truncate(model.shape().z);
        state
    }

    /// What all contacts do here.
    pub fn touches<Y: Contacts>(&self, model: &Y) -> Vec<Touch> {
        let hybrid = self.system(model);
        let count = self.modes.len();
        let (mut gap, mut rate) = (vec![0.0; count], vec![0.0; hybrid.start(count)]);
        let mut work = hybrid.work();
        hybrid.prepare(&self.state, &mut work);
        hybrid.kinematics(&self.state, &mut work, &mut gap, &mut rate);
        let touch = |i: usize| {
            let force = &self.forces[hybrid.start(i)..hybrid.start(i + 1)];
            let across = [force.get(1).copied().unwrap_or(0.0), force.get(2).copied().unwrap_or(0.0)];
            let sticks = self.modes[i] == Mode::Stick;
            Touch {
                name: model.contact_name(i),
                mode: self.modes[i],
                gap: gap[i],
                press: force[0],
                friction: across[0].hypot(across[1]),
                left: sticks.then(|| -model.excess(i, across, force[0])),
            }
        };
        (0..count).map(touch).collect()
    }
}

/// Keeps the places of a run at output times.
struct Keeper {
    places: Vec<Place>,
    failure: Option<IntegrateError>,
}

impl<Y: Contacts> Observer<Y> for Keeper {
    fn on_output(&mut self, y: &Hybrid<'_, Y>, s: &State<f64>) {
        match contact_forces(y, s) {
            Ok(forces) => self.places.push(Place { state: s.clone(), modes: y.modes().to_vec(), forces }),
            Err(failure) => self.failure = self.failure.take().or(Some(failure)),
        }
    }
}

/// Whether a contact does the same in two modes.
fn alike(a: Mode, b: Mode) -> bool {
    match (a, b) {
        (Mode::Slide { direction: a }, Mode::Slide { direction: b }) => a[0] * b[0] + a[1] * b[1] >= 0.0,
        _ => a == b,
    }
}

/// A mode in a word.
pub fn word(mode: Mode) -> &'static str {
    match mode {
        Mode::Open => "open",
        Mode::Stick => "sticking",
        Mode::Slide { direction: [0.0, 0.0] } => "closed without friction",
        Mode::Slide { .. } => "sliding",
    }
}
