//! The simulation of the studio: one run after another, as asked for.

use super::show::Show;
use crate::args::SceneOptions;
use crate::exit::Exit;
use crate::source;
use dalembert::methods::trajectory::Event;
use dalembert::picture::{Animation, Film};
use dalembert::record::FinalState;
use dalembert::run::{self, RunError, Watcher};
use dalembert::scene::{Scene, SceneError};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a page can ask for.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "lowercase", tag = "do", deny_unknown_fields)]
pub enum Command {
    /// Hold the run.
    Pause {},
    /// Go on.
    Resume {},
    /// Go on to the next frame and hold there.
    Step {},
    /// Run from the start with the parameters of the file.
    Reset {},
    /// Run with other parameters.
    Run {
        /// New values by name.
        #[serde(default)]
        parameters: BTreeMap<String, f64>,
        /// Whether to go on from where the run is now, instead of from the start.
        #[serde(default)]
        from_now: bool,
        /// Whether to keep to the pace of the display instead of running as fast as possible.
        #[serde(default)]
        in_step: bool,
    },
}

/// What the simulating thread is asked for.
#[derive(Default)]
struct Orders {
    /// A new run is wanted.
    run: bool,
    from_now: bool,
    in_step: bool,
    parameters: BTreeMap<String, f64>,
    paused: bool,
    /// Frames to go before the next pause.
    steps: u32,
}

/// The simulation and its orders.
pub struct Stage {
    options: SceneOptions,
    show: Arc<Show>,
    orders: Mutex<Orders>,
    bell: Condvar,
    /// The files of the scene as it was read last.
    files: Mutex<Vec<PathBuf>>,
}

impl Stage {
    /// A simulation of a scene, which runs as soon as somebody works.
    pub fn new(options: &SceneOptions, show: Arc<Show>) -> Self {
        let options = SceneOptions { scene: options.scene.clone(), set: options.set.clone() };
        let files = Mutex::new(source_file(&options).into_iter().collect());
        Self {
            options,
            show,
            orders: Mutex::new(Orders { run: true, ..Orders::default() }),
            bell: Condvar::new(),
            files,
        }
    }

    fn orders(&self) -> MutexGuard<'_, Orders> {
        self.orders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The files whose change calls for a new run.
    pub fn files(&self) -> Vec<PathBuf> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes an order.
    pub fn take(&self, command: Command) {
        let mut orders = self.orders();
        match command {
            Command::Pause {} => orders.paused = true,
            Command::Resume {} => orders.paused = false,
            Command::Step {} => (orders.paused, orders.steps) = (true, 1),
            Command::Reset {} => *orders = Orders { run: true, in_step: orders.in_step, ..Orders::default() },
            Command::Run { parameters, from_now, in_step } => {
                let parameters = orders.parameters.clone().into_iter().chain(parameters).collect();
                *orders = Orders { run: true, from_now, in_step, parameters, ..Orders::default() };
            }
        }
        let paused = orders.paused;
        drop(orders);
        self.bell.notify_all();
        self.show.tell(|content| {
            if matches!(content.status, "running" | "paused") {
                content.status = if paused { "paused" } else { "running" };
            }
        });
    }

    /// Runs again with the same parameters, because a file has changed.
    pub fn again(&self) {
        let (parameters, in_step) = {
            let orders = self.orders();
            (orders.parameters.clone(), orders.in_step)
        };
        self.take(Command::Run { parameters, from_now: false, in_step });
    }

    /// Carries out orders for ever.
    pub fn work(&self) {
        let mut last: Option<FinalState> = None;
        loop {
            let mut orders = self.orders();
            while !orders.run {
                orders = self.bell.wait(orders).unwrap_or_else(PoisonError::into_inner);
            }
            orders.run = false;
            let from = if orders.from_now { last.take() } else { None };
            let (parameters, in_step) = (orders.parameters.clone(), orders.in_step);
            drop(orders);
            match self.run(&parameters, from.as_ref(), in_step) {
                Ok(state) => last = Some(state),
                Err(problem) => self.show.tell(|content| {
                    content.status = "failed";
                    content.problem = Some(problem);
                }),
            }
        }
    }

    /// One run; gives where it ended, or what is wrong.
    fn run(
        &self,
        parameters: &BTreeMap<String, f64>,
        from: Option<&FinalState>,
        in_step: bool,
    ) -> Result<FinalState, String> {
        let more: Vec<String> = parameters.iter().map(|(name, value)| format!("parameters.{name}={value:?}")).collect();
        let (scene, name) = source::load(&self.options, &more).map_err(|exit| explain(&exit))?;
        self.remember(&scene);
        let text = self.text(parameters).unwrap_or_else(|| scene.to_toml());
        self.show.tell(|content| {
            content.parameters = adjustable(&scene);
            content.problem = None;
            content.status = "running";
            content.message = String::new();
            content.scene = text;
            content.progress = (scene.run.start, scene.run.until, 0);
        });
        let mut watcher = Screen {
            stage: self,
            scene: &scene,
            name: &name,
            columns: Vec::new(),
            row: Vec::new(),
            events: Vec::new(),
            pace: in_step.then_some(1.0),
            began: None,
            steps: 0,
        };
        let outcome = match from {
            None => run::run(&scene, &name, None, &mut watcher),
            Some(from) => run::run_from(&scene, &name, from, &mut watcher),
        };
        let outcome = outcome.map_err(|error| describe(&error, &scene))?;
        let title = title(&scene, &name);
        let animation = Animation::new(&scene.model, &title, &outcome.film, &outcome.events);
        self.show.tell(|content| {
            content.animation = animation.map(|animation| animation.to_json());
            content.status = if outcome.failure.is_some() { "failed" } else { "done" };
            content.message = match &outcome.failure {
                Some(failure) => failure.to_string(),
                None => format!("The energy ledger is off by {:.1e} J.", outcome.summary.ledger.worst_imbalance),
            };
            content.progress.0 = outcome.summary.end_time;
        });
        Ok(outcome.summary.final_state)
    }

    /// The text of the scene as it is written, with other values of its parameters; none if some are written elsewhere.
    fn text(&self, parameters: &BTreeMap<String, f64>) -> Option<String> {
        let (scene, _) = source::load(&self.options, &[]).ok()?;
        let document = scene.document.as_ref()?;
        let mut text = document.sources().file(0)?.text().to_owned();
        let mut places = Vec::new();
        for (name, value) in parameters {
            let span = document.parameters().iter().find(|p| p.name == *name)?.span;
            if span.file != 0 {
                return None;
            }
            places.push((span.range(), value));
        }
        // From the end, so that what is before stays where it is.
        places.sort_by_key(|(range, _)| std::cmp::Reverse(range.start));
        for (range, value) in places {
            text.replace_range(range, &format!("{value:?}"));
        }
        Some(text)
    }

    fn remember(&self, scene: &Scene) {
        let Some(document) = &scene.document else { return };
        let mut files: Vec<PathBuf> = source_file(&self.options).into_iter().collect();
        if !files.is_empty() {
            let meshes = scene.meshes.iter().map(PathBuf::from);
            let sources = document.sources().files().map(|file| PathBuf::from(file.name()));
            files.extend(sources.chain(meshes).filter(|path| path.is_file()));
        }
        files.sort();
        files.dedup();
        *self.files.lock().unwrap_or_else(PoisonError::into_inner) = files;
    }

    /// Waits while paused; false if the run should end.
    fn may_go_on(&self) -> bool {
        let mut orders = self.orders();
        while orders.paused && orders.steps == 0 && !orders.run {
            orders = self.bell.wait(orders).unwrap_or_else(PoisonError::into_inner);
        }
        !orders.run
    }

    fn frame_done(&self) {
        let mut orders = self.orders();
        orders.steps = orders.steps.saturating_sub(1);
    }

    fn is_called(&self) -> bool {
        self.orders().run
    }
}

/// The file of a scene, unless it is built in.
fn source_file(options: &SceneOptions) -> Option<PathBuf> {
    let path = PathBuf::from(&options.scene);
    (dalembert::scenes::find(&options.scene).is_none() && path.is_file()).then_some(path)
}

fn title(scene: &Scene, name: &str) -> String {
    if scene.info.title.is_empty() { name.to_owned() } else { scene.info.title.clone() }
}

/// Parameters with their ranges; those without get one around their value.
fn adjustable(scene: &Scene) -> serde_json::Value {
    let parameters = scene.document.as_ref().map_or(&[][..], |document| document.parameters());
    let describe = |p: &dalembert::scene::Parameter| {
        let reach = if p.value == 0.0 { 1.0 } else { p.value.abs() };
        let low = p.minimum.unwrap_or(if p.value < 0.0 { p.value - reach } else { 0.0_f64.min(p.value) });
        let high = p.maximum.unwrap_or(p.value.max(low) + reach);
        json!({ "name": p.name, "value": p.value, "min": low, "max": high, "unit": p.unit, "about": p.about })
    };
    parameters.iter().filter(|p| p.adjustable).map(describe).collect()
}

/// What is wrong with a scene, drawn beside its source.
fn drawn(error: &SceneError) -> String {
    let handler = miette::GraphicalReportHandler::new_themed(miette::GraphicalTheme::unicode_nocolor()).with_width(100);
    let mut text = String::new();
    match handler.render_report(&mut text, error) {
        Ok(()) => format!("{}\n\n{text}", error.plain()),
        Err(_) => error.plain(),
    }
}

fn explain(exit: &Exit) -> String {
    match exit {
        Exit::Bad(error) => drawn(error),
        Exit::Failed(message) | Exit::Usage(message) | Exit::Ledger(message) | Exit::Io(message) => message.clone(),
        Exit::Interrupted => "interrupted".to_owned(),
        Exit::Told(code) => format!("ended with code {code}"),
    }
}

fn describe(error: &RunError, scene: &Scene) -> String {
    error.place(scene).map_or_else(|| error.to_string(), |error| drawn(&error))
}

/// Tells the pages what a run does.
struct Screen<'a> {
    stage: &'a Stage,
    scene: &'a Scene,
    name: &'a str,
    /// Places of the columns in a row of the film.
    columns: Vec<Option<usize>>,
    row: Vec<f32>,
    events: Vec<Event>,
    /// Seconds of the run in a second, if the run keeps step with the display.
    pace: Option<f64>,
    /// When the first frame came, and its time.
    began: Option<(Instant, f64)>,
    steps: u64,
}

impl Screen<'_> {
    /// Waits until it is time for a frame, but not when a new run is called for.
    fn keep_step(&mut self, time: f64) {
        let Some(pace) = self.pace else { return };
        let (began, first) = *self.began.get_or_insert_with(|| (Instant::now(), time));
        loop {
            let due = (time - first) / pace - began.elapsed().as_secs_f64();
            if due <= 0.0 || self.stage.is_called() {
                return;
            }
            std::thread::sleep(Duration::from_secs_f64(due.min(0.05)));
        }
    }
}

impl Watcher for Screen<'_> {
    fn step(&mut self, _t: f64, steps: u64) -> bool {
        self.steps = steps;
        self.stage.may_go_on()
    }

    fn event(&mut self, event: &Event) {
        self.events.push(event.clone());
        let told = json!({ "time": event.time, "kind": event.kind, "element": event.element, "marker": event.marker });
        self.stage.show.tell(|content| {
            if content.events.len() < 2000 {
                content.events.push(told);
            }
        });
    }

    fn frame(&mut self, film: &Film) {
        let row = film.newest();
        if self.columns.is_empty() {
            let title = title(self.scene, self.name);
            let Some(mut animation) = Animation::new(&self.scene.model, &title, film, &[]) else { return };
            self.columns = animation.arrangement(film);
            self.row = vec![0.0; self.columns.len()];
            let span = self.scene.run.until - self.scene.run.start;
            animation.pace = if span > 0.0 { Animation::pace_of(span) } else { 1.0 };
            self.pace = self.pace.map(|_| animation.pace);
            self.stage.show.begin(animation.to_json(), self.columns.len());
        }
        for (out, column) in self.row.iter_mut().zip(&self.columns) {
            *out = column.map_or(0.0, |column| row[column] as f32);
        }
        self.keep_step(row[0]);
        self.stage.show.frame(row[0], &self.row, self.steps);
        self.stage.frame_done();
    }
}
