//! Studies in files: which scene, what to choose, where to go, what to save.
//!
//! ```toml
//! [optimise]
//! scene = "cart-pole.toml"          # a built-in scene, or a file beside this one
//! method = "hermite_simpson"
//! intervals = 50
//!
//! [[control]]
//! name = "force"
//! on = "body.cart_pole.cart"        # a velocity of the model, `signal.NAME`, or a coefficient of an element
//! between = [-20, 20]
//!
//! [[phase]]
//! duration = 2.0                    # or [0.5, 3.0]
//! start = { configuration = "scene", velocity = "rest" }
//! end = { configuration = [1.0, 3.141592653589793], velocity = "rest" }
//!
//! [[goal]]
//! name = "effort"
//! integral = "force^2"
//! ```

pub mod built_in;
mod file;
mod front;
mod motion;
mod quantity;
mod remarks;

pub use front::FrontSearch;
pub use motion::record;

use crate::error::ControlError;
use crate::method::{Form, Method};
use crate::problem::{
    Across, Acts, Condition, Control, Goal, Guess, GuessAt, Path as Always, Phase, Problem, Rates, Static, Term,
};
use dalembert::model::Model;
use dalembert::scene::{DiskLoader, Document, Limits, Overrides, Scene};
use dalembert::scenes;
use dalembert_methods::{Real, State, System};
use dalembert_optimise::{Bound, Solver, interior, sqp};
use file::{File, Number, Range, Whole};
use quantity::{Names, Quantity, Scope};
use std::fmt;
use std::path::Path;
use toml::Spanned;

/// Why a study cannot be read.
#[derive(Debug)]
pub enum StudyError {
    /// The study is not valid: where, and why.
    Study {
        /// The file.
        file: String,
        /// Line and column, from 1.
        at: (usize, usize),
        /// What is wrong, with what is expected.
        message: String,
    },
    /// The scene cannot be read.
    Scene(String),
    /// A file cannot be read.
    File {
        /// Its path.
        path: String,
        /// Why.
        reason: String,
    },
}

impl fmt::Display for StudyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Study { file, at: (line, column), message } => write!(f, "{file}:{line}:{column}: {message}"),
            Self::Scene(message) => f.write_str(message),
            Self::File { path, reason } => write!(f, "`{path}`: {reason}"),
        }
    }
}

impl std::error::Error for StudyError {}

/// Where texts of studies and scenes are found.
pub enum Source<'a> {
    /// On disk, beside this folder.
    Disk(&'a Path),
    /// Among the built-in ones.
    BuiltIn,
}

/// A study: scenes of its phases, and the statement.
pub struct Study {
    file: String,
    text: String,
    read: File,
    /// The scene of each phase; the first is that of the record.
    pub scenes: Vec<Scene>,
    /// The state the scene gives.
    pub initial: State<f64>,
    parameters: Vec<(String, usize)>,
    /// Whether it is solved by a sequence of quadratic programs.
    sequences: bool,
}

fn place(text: &str, byte: usize) -> (usize, usize) {
    let before = &text[..byte.min(text.len())];
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[line..].chars().count() + 1)
}

impl Study {
    /// Reads a study from a file, or a built-in one by name.
    pub fn load(name: &str) -> Result<Self, StudyError> {
        if let Some(found) = built_in::find(name) {
            return Self::from_text(&format!("{name}.toml"), found.text, &Source::BuiltIn);
        }
        let path = Path::new(name);
        let text =
            std::fs::read_to_string(path).map_err(|e| StudyError::File { path: name.into(), reason: e.to_string() })?;
        Self::from_text(name, &text, &Source::Disk(path.parent().unwrap_or(Path::new(""))))
    }

    /// Reads a study from a text.
    pub fn from_text(file: &str, text: &str, source: &Source<'_>) -> Result<Self, StudyError> {
        let fault =
            |byte: usize, message: String| StudyError::Study { file: file.into(), at: place(text, byte), message };
        let read: File =
            toml::from_str(text).map_err(|e| fault(e.span().map_or(0, |s| s.start), e.message().to_owned()))?;
        if read.phase.is_empty() {
            return Err(fault(0, "there is no phase: a `[[phase]]` is needed".into()));
        }
        if read.goal.is_empty() {
            return Err(fault(0, "there is no goal: a `[[goal]]` is needed".into()));
        }
        let sequences = match read.optimise.solver.as_ref().map(|word| (word.get_ref().as_str(), word.span().start)) {
            None | Some(("interior", _)) => false,
            Some(("sqp", _)) => true,
            Some((other, at)) => {
                return Err(fault(at, format!("there is no solver `{other}`; expected interior or sqp")));
            }
        };
        if let (true, Some(word), Some(_)) = (sequences, &read.optimise.solver, &read.front) {
            let message =
                "a front is begun by interior points; write `sequences = true` in `[front]` for its warm starts";
            return Err(fault(word.span().start, message.into()));
        }
        // Numbers of the free parameters: signals and coefficients in the order of controls and statics.
        let mut overrides: Vec<String> = read.optimise.set.clone();
        let mut parameters = Vec::new();
        let wanted = read.control.iter().map(|c| (&c.on, c.guess)).chain(read.fixed.iter().map(|s| (&s.on, s.guess)));
        for (on, guess) in wanted {
            let path = on.get_ref();
            if path.starts_with("body.") || parameters.iter().any(|(own, _)| own == path) {
                continue;
            }
            let number = parameters.len();
            if !path.starts_with("signal.") {
                overrides.push(format!("{path}={{ parameter = {number}, value = {guess:?} }}"));
            }
            parameters.push((path.clone(), number));
        }
        let mut scenes = Vec::new();
        for phase in &read.phase {
            let scene = load_scene(&read.optimise.scene, source, &overrides, &phase.without)
                .map_err(|message| fault(read.optimise.scene.span().start, message))?;
            scenes.push(scene);
        }
        for scene in &mut scenes {
            let signals: Vec<(&str, usize)> =
                parameters.iter().filter_map(|(path, k)| path.strip_prefix("signal.").map(|name| (name, *k))).collect();
            scene.model.set_free(parameters.len(), &signals).map_err(|e| {
                let named = read.control.iter().find(|c| c.on.get_ref().ends_with(&e.name));
                fault(named.map_or(0, |c| c.on.span().start), e.to_string())
            })?;
        }
        let initial = scenes[0].model.initial_state();
        Ok(Self { file: file.into(), text: text.into(), read, scenes, initial, parameters, sequences })
    }

    fn fault(&self, byte: usize, message: impl Into<String>) -> StudyError {
        StudyError::Study { file: self.file.clone(), at: place(&self.text, byte), message: message.into() }
    }

    /// The scene of the record.
    pub fn scene(&self) -> &Scene {
        &self.scenes[0]
    }

    /// The names of the phases.
    pub fn phase_names(&self) -> Vec<String> {
        let name = |(k, p): (usize, &file::PhaseTable)| p.name.clone().unwrap_or_else(|| format!("phase {}", k + 1));
        self.read.phase.iter().enumerate().map(name).collect()
    }

    /// Tolerance of local errors and number of refinements, if these are wanted.
    pub fn refinement(&self) -> Option<(f64, usize)> {
        self.read.optimise.refine.as_ref().map(|r| (r.tolerance, r.rounds))
    }

    /// The solver with its options.
    pub fn solver(&self) -> Solver {
        match self.sequences {
            true => Solver::Sequence(self.sequence()),
            false => Solver::Interior(self.interior()),
        }
    }

    /// Options of sequences of quadratic programs.
    fn sequence(&self) -> sqp::Options {
        let given = &self.read.optimise;
        let plain = sqp::Options::default();
        sqp::Options {
            tolerance: given.tolerance.unwrap_or(plain.tolerance),
            iterations: given.iterations.unwrap_or(plain.iterations),
            ..plain
        }
    }

    /// Options of interior points.
    fn interior(&self) -> interior::Options {
        let given = &self.read.optimise;
        let plain = interior::Options::default();
        interior::Options {
            tolerance: given.tolerance.unwrap_or(plain.tolerance),
            iterations: given.iterations.unwrap_or(plain.iterations),
            ..plain
        }
    }

    /// The statement.
    pub fn problem(&self) -> Result<Problem<'_, Model>, StudyError> {
        let model = &self.scenes[0].model;
        let names = Names::new(model, &self.read, &self.parameters, &self.initial.q);
        let acts = |on: &Spanned<String>| -> Result<Acts, StudyError> {
            let path = on.get_ref();
            if let Some((_, number)) = self.parameters.iter().find(|(own, _)| own == path) {
                return Ok(Acts::Parameter(*number));
            }
            names.velocity(path).map(Acts::Velocity).map_err(|message| self.fault(on.span().start, message))
        };
        let mut problem = Problem { start_time: self.scenes[0].run.start, ..Problem::default() };
        for c in &self.read.control {
            let bound = bound(c.between.as_ref());
            problem.controls.push(Control { name: c.name.clone(), acts: acts(&c.on)?, bound, guess: c.guess });
        }
        for s in &self.read.fixed {
            let parameter = match acts(&s.on)? {
                Acts::Parameter(number) => Some(number),
                Acts::Velocity(_) => {
                    return Err(
                        self.fault(s.on.span().start, "a static parameter is a signal or a coefficient, no velocity")
                    );
                }
            };
            problem.statics.push(Static {
                name: s.name.clone(),
                parameter,
                bound: bound(s.between.as_ref()),
                guess: s.guess,
            });
        }
        let phase_names = self.phase_names();
        for (number, table) in self.read.phase.iter().enumerate() {
            problem.phases.push(self.phase(number, table, &phase_names, &names)?);
        }
        for g in &self.read.goal {
            problem.goals.push(self.goal(g, &phase_names, &names)?);
        }
        for own in &self.read.periodic {
            let name = own.of.get_ref().clone();
            let first = self.quantity(&names, &phase_names, 0, false, &own.of)?;
            let last = self.quantity(&names, &phase_names, phase_names.len() - 1, false, &own.of)?;
            let function =
                Box::new(move |a: &mut crate::Moment<'_, '_, Model>, b: &mut crate::Moment<'_, '_, Model>| {
                    last.value(b) - first.value(a)
                });
            problem.across.push(Across { name: format!("{name} repeats"), function, bound: Bound::equal(own.shift) });
        }
        Ok(problem)
    }

    fn phase<'a>(
        &'a self,
        number: usize,
        table: &file::PhaseTable,
        phase_names: &[String],
        names: &Names,
    ) -> Result<Phase<'a, Model>, StudyError> {
        let model = &self.scenes[number].model;
        let optimise = &self.read.optimise;
        let method = table.method.as_ref().unwrap_or(&optimise.method);
        let method = Method::parse(method.get_ref()).ok_or_else(|| {
            let expected = "dmocc, midpoint, trapezoidal, hermite_simpson, lobatto-N or shooting-N";
            self.fault(method.span().start, format!("there is no method `{}`; expected {expected}", method.get_ref()))
        })?;
        let intervals = table.intervals.or(optimise.intervals).unwrap_or(30);
        let range = table.duration.get_ref();
        let (low, high) = range.limits();
        if !(low >= 0.0 && high > 0.0 && high.is_finite()) {
            return Err(self.fault(table.duration.span().start, "a duration is a positive number, or two limits"));
        }
        let mut phase = Phase::new(&phase_names[number], model, &self.initial.q, method, intervals, high);
        if let Some(form) = table.form.as_ref().or(optimise.form.as_ref()) {
            phase.form = Form::parse(form.get_ref()).ok_or_else(|| {
                let message = format!("there is no form `{}`; expected multipliers or null-space", form.get_ref());
                self.fault(form.span().start, message)
            })?;
            if method != Method::Dmocc {
                let message = format!("only dmocc has a form, not `{}`", method.name());
                return Err(self.fault(form.span().start, message));
            }
        }
        phase.duration = Bound::between(low, high);
        phase.duration_guess = table.guess_duration.unwrap_or(0.5 * (low + high));
        phase.start = self.conditions(number, table.start.as_ref(), phase_names, names)?;
        phase.end = self.conditions(number, table.end.as_ref(), phase_names, names)?;
        for own in &table.always {
            let bound = own.bound().map_err(|message| self.fault(own.of.span().start, message))?;
            let text = own.of.get_ref();
            match names.unknown(text) {
                Some(quantity::Unknown::Coordinate(i)) => phase.coordinates.push((i, bound)),
                Some(quantity::Unknown::Velocity(i)) => phase.velocities.push((i, bound)),
                None => {
                    let quantity = self.quantity(names, phase_names, number, true, &own.of)?;
                    let name = own.name.clone().unwrap_or_else(|| text.clone());
                    phase.path.push(Always { name, function: quantity.function(), bound });
                }
            }
        }
        if !table.guess.is_empty() {
            let shape = model.shape();
            let mut instants = Vec::new();
            for g in &table.guess {
                let q = match &g.configuration {
                    Some(q) if q.get_ref().len() == shape.q => q.get_ref().clone(),
                    Some(q) => return Err(self.fault(q.span().start, format!("{} coordinates are expected", shape.q))),
                    None => self.initial.q.clone(),
                };
                let u = self.read.control.iter().map(|c| g.controls.get(&c.name).copied().unwrap_or(c.guess)).collect();
                instants.push(GuessAt { part: g.part, q, v: vec![0.0; shape.v], x: self.initial.x.clone(), u });
            }
            phase.guess = Guess::Instants(instants);
        }
        Ok(phase)
    }

    fn conditions<'a>(
        &'a self,
        number: usize,
        table: Option<&file::Conditions>,
        phase_names: &[String],
        names: &Names,
    ) -> Result<Vec<Condition<'a, Model>>, StudyError> {
        let Some(table) = table else { return Ok(Vec::new()) };
        let model = &self.scenes[number].model;
        let shape = model.shape();
        let mut out = Vec::new();
        let whole = |given: &Spanned<Whole>, scene: &[f64], rest: bool| -> Result<Vec<f64>, StudyError> {
            match given.get_ref() {
                Whole::Numbers(numbers) if numbers.len() == scene.len() => Ok(numbers.clone()),
                Whole::Numbers(numbers) => Err(self.fault(
                    given.span().start,
                    format!("{} numbers are expected, found {}", scene.len(), numbers.len()),
                )),
                Whole::Word(word) if word == "scene" => Ok(scene.to_vec()),
                Whole::Word(word) if word == "rest" && rest => Ok(vec![0.0; scene.len()]),
                Whole::Word(word) => {
                    let words = if rest { "`scene`, `rest`" } else { "`scene`" };
                    Err(self.fault(given.span().start, format!("expected {words} or numbers, found `{word}`")))
                }
            }
        };
        if let Some(q) = &table.configuration {
            out.push(Condition::Configuration(whole(q, &self.initial.q, false)?));
        }
        if let Some(v) = &table.velocity {
            out.push(Condition::Velocity(whole(v, &self.initial.v, true)?));
        }
        if let Some(p) = &table.momentum {
            out.push(Condition::Momentum(whole(p, &vec![0.0; shape.v], true)?));
        }
        if let Some(word) = &table.extra {
            if word.get_ref() != "scene" {
                let message =
                    format!("expected `scene`, found `{}`; single ones are conditions in `where`", word.get_ref());
                return Err(self.fault(word.span().start, message));
            }
            out.extend(self.initial.x.iter().enumerate().map(|(i, &x)| Condition::Extra(i, Bound::equal(x))));
        }
        for own in &table.conditions {
            let text = own.of.get_ref();
            let bound = own.bound().map_err(|message| self.fault(own.of.span().start, message))?;
            out.push(match names.unknown(text) {
                Some(quantity::Unknown::Coordinate(i)) => Condition::Coordinate(i, bound),
                Some(quantity::Unknown::Velocity(i)) => Condition::Speed(i, bound),
                None => {
                    let quantity = self.quantity(names, phase_names, number, true, &own.of)?;
                    let name = own.name.clone().unwrap_or_else(|| text.clone());
                    Condition::Of { name, function: quantity.function(), bound }
                }
            });
        }
        Ok(out)
    }

    /// Reads a quantity of a phase; `named` if the study names the phase there.
    fn quantity(
        &self,
        names: &Names,
        phases: &[String],
        phase: usize,
        named: bool,
        text: &Spanned<String>,
    ) -> Result<Quantity, StudyError> {
        let models = self.scenes.iter().map(|scene| &scene.model).collect();
        let scope = Scope { models, phases, phase, named };
        names.quantity(&scope, text.get_ref()).map_err(|message| self.fault(text.span().start, message))
    }

    fn goal<'a>(
        &'a self,
        g: &file::GoalTable,
        phases: &[String],
        names: &Names,
    ) -> Result<Goal<'a, Model>, StudyError> {
        let phase = match &g.phase {
            None => None,
            Some(name) => Some(phases.iter().position(|own| own == name.get_ref()).ok_or_else(|| {
                self.fault(
                    name.span().start,
                    format!("there is no phase `{}`; there are {}", name.get_ref(), phases.join(", ")),
                )
            })?),
        };
        let mut terms = Vec::new();
        if let Some(text) = &g.integral {
            // Phases have models of their own, in which the same name may stand elsewhere or nowhere.
            for own in (0..phases.len()).filter(|&own| phase.is_none_or(|phase| phase == own)) {
                let function = self.quantity(names, phases, own, phase.is_some(), text)?.function();
                terms.push(Term::Integral { phase: Some(own), function });
            }
        }
        if let Some(text) = &g.end {
            let phase = phase.unwrap_or(phases.len() - 1);
            terms.push(Term::End { phase, function: self.quantity(names, phases, phase, true, text)?.function() });
        }
        if g.time {
            terms.push(Term::Duration { phase });
        }
        if let Some(of) = &g.rates {
            let of = match of.get_ref().as_str() {
                "controls" => Rates::Controls,
                "accelerations" => Rates::Accelerations,
                other => {
                    return Err(
                        self.fault(of.span().start, format!("expected `controls` or `accelerations`, found `{other}`"))
                    );
                }
            };
            terms.push(Term::Rates { phase, of });
        }
        if terms.is_empty() {
            return Err(self.fault(g.name.span().start, "a goal needs `integral`, `end`, `time` or `rates`"));
        }
        Ok(Goal { name: g.name.get_ref().clone(), weight: g.weight, terms })
    }
}

fn bound(range: Option<&Range>) -> Bound {
    range.map_or(Bound::FREE, |range| Bound::between(range.0[0].value(), range.0[1].value()))
}

/// The scene of a phase, without some of its constraints.
fn load_scene(
    name: &Spanned<String>,
    source: &Source<'_>,
    overrides: &[String],
    without: &[String],
) -> Result<Scene, String> {
    let overrides: Overrides = overrides.iter().cloned().collect();
    let limits = Limits::default();
    let name = name.get_ref();
    let document = match (scenes::find(name), source) {
        (Some(scene), _) => Document::from_text(&format!("{}.toml", scene.name), scene.text, &overrides, &limits),
        (None, Source::BuiltIn) => {
            let text = built_in::scene(name).ok_or_else(|| format!("there is no scene `{name}`"))?;
            Document::from_text(name, text, &overrides, &limits)
        }
        (None, Source::Disk(folder)) => {
            let path = folder.join(name);
            Document::load(&DiskLoader, &path.display().to_string(), &overrides, &limits)
        }
    };
    let mut scene = document.and_then(Scene::from_document).map_err(|e| e.plain())?;
    scene.read_meshes_from_disk().map_err(|e| e.to_string())?;
    if without.is_empty() {
        return Ok(scene);
    }
    let mut table: toml::Table = scene.to_toml().parse().map_err(|e: toml::de::Error| e.to_string())?;
    for path in without {
        let (section, entry) =
            path.split_once('.').ok_or_else(|| format!("`{path}` of `without` is no section.name"))?;
        let removed = table.get_mut(section).and_then(|s| s.as_table_mut()).and_then(|s| s.remove(entry));
        if removed.is_none() {
            return Err(format!("`without` names `{path}`, which is not in the scene"));
        }
    }
    let text = toml::to_string(&table).map_err(|e| e.to_string())?;
    let document = Document::from_text("phase.toml", &text, &Overrides::none(), &limits);
    document.and_then(Scene::from_document).map_err(|e| e.plain())
}

impl From<StudyError> for ControlError {
    fn from(error: StudyError) -> Self {
        Self::statement("study", error.to_string())
    }
}

/// The sum of squares, for goals.
pub(crate) fn squares(values: &[dalembert_graph::Trace]) -> dalembert_graph::Trace {
    values.iter().fold(0.0.into(), |sum, v| sum + v.square())
}

impl Number {
    fn value(&self) -> f64 {
        match self {
            Self::Float(x) => *x,
            Self::Integer(n) => *n as f64,
        }
    }
}
