//! What a run needs to go on with the same bits, as a checkpoint.

use super::audit::Audit;
use super::driver::RunError;
use crate::picture::Film;
use crate::record::{Checkpoint, Section, parse_events, write_events};
use dalembert_methods::State;
use dalembert_methods::integrate::{self, Counts};
use dalembert_methods::nonsmooth::{KEPT, Mode, Progress};
use dalembert_methods::trajectory::{Event, Trajectory};

/// Everything written so far.
pub(super) struct Written<'a> {
    pub scene: &'a str,
    pub trajectory: &'a Trajectory,
    pub film: &'a Film,
    pub steps: &'a [(f64, f64)],
    pub events: &'a [Event],
    pub audit: &'a Audit,
}

/// Packs a run between two steps.
pub(super) fn pack(s: &State<f64>, progress: &Progress, written: &Written<'_>) -> Checkpoint {
    let mut c = Checkpoint::new();
    let text = |text: &str| Section::Bytes(text.as_bytes().to_vec());
    c.put("version", text(env!("CARGO_PKG_VERSION")));
    c.put("scene", text(written.scene));
    c.put("time", Section::F64(vec![s.t]));
    for (name, values) in [("q", &s.q), ("v", &s.v), ("x", &s.x), ("z", &s.z), ("p", &s.p)] {
        c.put(name, Section::F64(values.clone()));
    }
    let run = &progress.run;
    c.put("next output", Section::U64(vec![run.next_output]));
    c.put("anew", Section::U64(vec![u64::from(progress.anew)]));
    c.put("sides", Section::F64(run.sides.clone()));
    c.put("integrator", Section::F64(run.integrator.clone()));
    c.put("projection", Section::F64(run.projection.clone()));
    c.put("modes", Section::F64(progress.modes.iter().flat_map(|&mode| plain(mode)).collect()));
    for (name, flags) in [("shared", &progress.shared), ("idle", &progress.idle), ("latched", &progress.latched)] {
        c.put(name, Section::U64(flags.iter().map(|&flag| u64::from(flag)).collect()));
    }
    c.put("below", Section::F64(progress.below.clone()));
    c.put("creep", Section::F64(progress.creep.clone()));
    c.put("switching", Section::F64(progress.switching.clone()));
    c.put("impacts", Section::F64(progress.impacts.concat()));
    c.put(
        "last event",
        Section::F64(vec![progress.last.0, f64::from(progress.last.1), f64::from(u8::from(progress.silent))]),
    );
    c.put("counts", Section::U64(run.counts.named().map(|(_, count)| count).to_vec()));
    c.put("audit", Section::F64(written.audit.memory()));
    c.put("rows", Section::F64(written.trajectory.columns().concat()));
    let (frames, counters) = written.film.memory();
    c.put("film", Section::F64(frames));
    c.put("film counters", Section::U64(counters));
    c.put("steps", Section::F64(written.steps.iter().flat_map(|&(t, h)| [t, h]).collect()));
    let mut events = Vec::new();
    write_events(&mut events, written.events).expect("writing to memory does not fail");
    c.put("events", Section::Bytes(events));
    c
}

/// A mode as plain numbers.
fn plain(mode: Mode) -> [f64; 3] {
    match mode {
        Mode::Open => [0.0; 3],
        Mode::Slide { direction: [first, second] } => [1.0, first, second],
        Mode::Stick => [2.0, 0.0, 0.0],
    }
}

/// A mode from plain numbers.
fn mode_of([kind, first, second]: [f64; 3]) -> Mode {
    match kind {
        0.0 => Mode::Open,
        1.0 => Mode::Slide { direction: [first, second] },
        _ => Mode::Stick,
    }
}

/// A run as it was when it was packed.
pub(super) struct Unpacked {
    pub state: State<f64>,
    pub progress: Progress,
    pub trajectory: Trajectory,
    pub steps: Vec<(f64, f64)>,
    pub events: Vec<Event>,
}

/// Unpacks a checkpoint of the same scene and version.
pub(super) fn unpack(
    c: &Checkpoint,
    scene: &str,
    state: &State<f64>,
    trajectory: &Trajectory,
    film: &mut Film,
    audit: &mut Audit,
    contacts: usize,
) -> Result<Unpacked, RunError> {
    let unfit = |what: &str| RunError::Checkpoint(format!("the checkpoint does not fit this scene: {what} differs"));
    if c.bytes("version")? != env!("CARGO_PKG_VERSION").as_bytes() {
        return Err(unfit("the version of dalembert that wrote it"));
    }
    if c.bytes("scene")? != scene.as_bytes() {
        return Err(unfit("the scene (or a setting given on the command line)"));
    }
    let fit = |name: &'static str, like: &[f64]| -> Result<Vec<f64>, RunError> {
        let values = c.f64(name)?;
        if values.len() == like.len() { Ok(values.to_vec()) } else { Err(unfit(name)) }
    };
    let t = *c.f64("time")?.first().ok_or_else(|| unfit("time"))?;
    let state = State {
        t,
        q: fit("q", &state.q)?,
        v: fit("v", &state.v)?,
        x: fit("x", &state.x)?,
        z: fit("z", &state.z)?,
        p: fit("p", &state.p)?,
    };
    let counts: &[u64; 8] = c.u64("counts")?.try_into().map_err(|_| unfit("counts"))?;
    let [steps, rejected, forces, tangents, factorisations, solves, projections, stiff] = *counts;
    let run = integrate::Progress {
        next_output: *c.u64("next output")?.first().ok_or_else(|| unfit("next output"))?,
        sides: c.f64("sides")?.to_vec(),
        integrator: c.f64("integrator")?.to_vec(),
        projection: c.f64("projection")?.to_vec(),
        counts: Counts { steps, rejected, forces, tangents, factorisations, solves, projections, stiff },
    };
    let &[time, again, silent] = c.f64("last event")? else { return Err(unfit("last event")) };
    let flags = |name: &'static str| -> Result<Vec<bool>, RunError> {
        let flags: Vec<bool> = c.u64(name)?.iter().map(|&flag| flag != 0).collect();
        if flags.len() == contacts { Ok(flags) } else { Err(unfit("the number of contacts")) }
    };
    let progress = Progress {
        run,
        modes: c.f64("modes")?.chunks_exact(3).map(|mode| mode_of([mode[0], mode[1], mode[2]])).collect(),
        shared: flags("shared")?,
        below: c.f64("below")?.to_vec(),
        creep: c.f64("creep")?.to_vec(),
        idle: flags("idle")?,
        latched: flags("latched")?,
        switching: c.f64("switching")?.to_vec(),
        impacts: c.f64("impacts")?.chunks_exact(KEPT).map(|times| std::array::from_fn(|k| times[k])).collect(),
        last: (time, again as u32),
        silent: silent != 0.0,
        anew: c.u64("anew")?.first().is_some_and(|&flag| flag != 0),
    };
    let lengths = [progress.modes.len(), progress.below.len(), progress.creep.len(), progress.impacts.len()];
    if lengths != [contacts; 4] {
        return Err(unfit("the number of contacts"));
    }
    audit.recall(c.f64("audit")?).ok_or_else(|| unfit("audit"))?;
    film.recall(c.f64("film")?, c.u64("film counters")?).ok_or_else(|| unfit("film"))?;
    let channels = trajectory.channels().to_vec();
    let values = c.f64("rows")?;
    if values.len() % channels.len() != 0 {
        return Err(unfit("rows"));
    }
    let rows = values.len() / channels.len();
    let columns = (0..channels.len()).map(|i| values[i * rows..(i + 1) * rows].to_vec()).collect();
    let trajectory = Trajectory::from_columns(channels, columns).map_err(|_| unfit("rows"))?;
    let steps = c.f64("steps")?.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    let text = std::str::from_utf8(c.bytes("events")?).map_err(|_| unfit("events"))?;
    let events = parse_events(text).map_err(|error| RunError::Checkpoint(error.to_string()))?;
    Ok(Unpacked { state, progress, trajectory, steps, events })
}
