//! The statement of an optimal control problem: controls, phases, conditions, goals.

use crate::method::{Form, Method};
use crate::moment::{Function, Moment};
use dalembert_graph::Trace;
use dalembert_methods::System;
use dalembert_optimise::Bound;

/// What a control acts on.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Acts {
    /// A free parameter of the system: the number of an entry of `State::p`.
    Parameter(usize),
    /// A generalised force on a velocity, such as the torque in a hinge of a tree.
    Velocity(usize),
}

/// A number that is chosen at every instant.
#[derive(Clone, Debug)]
pub struct Control {
    /// Its name.
    pub name: String,
    /// What it acts on.
    pub acts: Acts,
    /// What it may be between.
    pub bound: Bound,
    /// A first guess.
    pub guess: f64,
}

impl Control {
    /// A control without bounds, guessed zero.
    pub fn new(name: impl Into<String>, acts: Acts) -> Self {
        Self { name: name.into(), acts, bound: Bound::FREE, guess: 0.0 }
    }

    /// The same within bounds.
    pub fn between(self, lower: f64, upper: f64) -> Self {
        Self { bound: Bound::between(lower, upper), ..self }
    }
}

/// A number that is chosen once for all phases.
#[derive(Clone, Debug)]
pub struct Static {
    /// Its name.
    pub name: String,
    /// The free parameter of the system that it is; functions of the problem see it in any case.
    pub parameter: Option<usize>,
    /// What it may be between.
    pub bound: Bound,
    /// A first guess.
    pub guess: f64,
}

/// A condition at the start or at the end of a phase.
pub enum Condition<'a, Y: System> {
    /// The whole configuration.
    Configuration(Vec<f64>),
    /// The whole velocity.
    Velocity(Vec<f64>),
    /// The whole momentum M(q) v; with `Dmocc` by the discrete Legendre transform.
    Momentum(Vec<f64>),
    /// One coordinate.
    Coordinate(usize, Bound),
    /// One velocity.
    Speed(usize, Bound),
    /// One extra state.
    Extra(usize, Bound),
    /// Any function.
    Of {
        /// Its name.
        name: String,
        /// The function.
        function: Function<'a, Y>,
        /// What it may be between.
        bound: Bound,
    },
}

/// A condition on every instant of a phase.
pub struct Path<'a, Y: System> {
    /// Its name.
    pub name: String,
    /// The function.
    pub function: Function<'a, Y>,
    /// What it may be between.
    pub bound: Bound,
}

/// A first guess of the motion of a phase.
#[derive(Clone, Debug, Default)]
pub enum Guess {
    /// From the configuration at the start to the one at the end, as far as conditions give them, at rest.
    #[default]
    Straight,
    /// Given instants; what lies between is interpolated.
    Instants(Vec<GuessAt>),
}

/// One instant of a guess.
#[derive(Clone, Debug, Default)]
pub struct GuessAt {
    /// When, as a part of the duration, from 0 to 1.
    pub part: f64,
    /// Configuration.
    pub q: Vec<f64>,
    /// Velocity.
    pub v: Vec<f64>,
    /// Extra states.
    pub x: Vec<f64>,
    /// Controls.
    pub u: Vec<f64>,
}

/// A piece of the motion with one set of equations.
///
/// Phases follow each other. At a border the configuration and the extra states go on; velocities go on as far as the constraints of the next phase
/// allow: what they do not allow is lost in a plastic impact, M (v⁺ − v⁻) = −[G; A]ᵀ Λ with [G; A] v⁺ = −b.
pub struct Phase<'a, Y: System> {
    /// Its name.
    pub name: String,
    /// The system; those of all phases have the same coordinates, but may have different constraints.
    pub system: &'a Y,
    /// The number of intervals.
    pub intervals: usize,
    /// Ends of intervals as parts of the duration, from 0 to 1; equal ones if empty.
    pub grid: Vec<f64>,
    /// The transcription.
    pub method: Method,
    /// How `Dmocc` treats constraints.
    pub form: Form,
    /// The duration, in s: fixed if both limits are the same.
    pub duration: Bound,
    /// A first guess of the duration.
    pub duration_guess: f64,
    /// Bounds on coordinates at all nodes.
    pub coordinates: Vec<(usize, Bound)>,
    /// Bounds on velocities at all nodes; with `Dmocc` in the middle of intervals and at the ends.
    pub velocities: Vec<(usize, Bound)>,
    /// Bounds on extra states at all nodes.
    pub extra: Vec<(usize, Bound)>,
    /// Conditions on every instant.
    pub path: Vec<Path<'a, Y>>,
    /// Conditions at the start.
    pub start: Vec<Condition<'a, Y>>,
    /// Conditions at the end.
    pub end: Vec<Condition<'a, Y>>,
    /// A first guess.
    pub guess: Guess,
    /// A typical configuration: where the guess begins if no condition says.
    pub typical: Vec<f64>,
}

impl<'a, Y: System> Phase<'a, Y> {
    /// A phase of fixed duration without conditions.
    pub fn new(
        name: impl Into<String>,
        system: &'a Y,
        typical: &[f64],
        method: Method,
        intervals: usize,
        duration: f64,
    ) -> Self {
        Self {
            name: name.into(),
            system,
            intervals,
            grid: Vec::new(),
            method,
            form: Form::default(),
            duration: Bound::equal(duration),
            duration_guess: duration,
            coordinates: Vec::new(),
            velocities: Vec::new(),
            extra: Vec::new(),
            path: Vec::new(),
            start: Vec::new(),
            end: Vec::new(),
            guess: Guess::Straight,
            typical: typical.to_vec(),
        }
    }

    /// Sets a free duration; the guess so far is kept inside.
    pub fn free(&mut self, lower: f64, upper: f64) -> &mut Self {
        self.duration = Bound::between(lower, upper);
        self
    }

    /// The ends of intervals as parts of the duration.
    pub fn parts(&self) -> Vec<f64> {
        if self.grid.is_empty() {
            (0..=self.intervals).map(|k| k as f64 / self.intervals as f64).collect()
        } else {
            self.grid.clone()
        }
    }

    /// Adds a condition at the start.
    pub fn from(&mut self, condition: Condition<'a, Y>) -> &mut Self {
        self.start.push(condition);
        self
    }

    /// Adds a condition at the end.
    pub fn to(&mut self, condition: Condition<'a, Y>) -> &mut Self {
        self.end.push(condition);
        self
    }

    /// Adds a condition on every instant.
    pub fn always(
        &mut self,
        name: impl Into<String>,
        bound: Bound,
        function: impl Fn(&mut Moment<'_, '_, Y>) -> Trace + 'a,
    ) -> &mut Self {
        self.path.push(Path { name: name.into(), function: Box::new(function), bound });
        self
    }
}

/// A function of the first and the last instant of the whole motion.
pub type AcrossFunction<'a, Y> = Box<dyn Fn(&mut Moment<'_, '_, Y>, &mut Moment<'_, '_, Y>) -> Trace + 'a>;

/// A condition between the start and the end of the whole motion, such as periodicity.
pub struct Across<'a, Y: System> {
    /// Its name.
    pub name: String,
    /// The function of start and end.
    pub function: AcrossFunction<'a, Y>,
    /// What it may be between.
    pub bound: Bound,
}

/// What the rates are of that a goal makes small.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Rates {
    /// Controls.
    Controls,
    /// Accelerations: the rate is the jerk. Only collocation with accelerations as unknowns knows them.
    Accelerations,
}

/// A part of a goal.
pub enum Term<'a, Y: System> {
    /// The integral over a phase, or over all of them.
    Integral {
        /// The phase.
        phase: Option<usize>,
        /// The integrand.
        function: Function<'a, Y>,
    },
    /// The value at the end of a phase.
    End {
        /// The phase.
        phase: usize,
        /// The function.
        function: Function<'a, Y>,
    },
    /// The integral of the squares of rates over a phase, or over all of them, by differences of neighbours.
    Rates {
        /// The phase.
        phase: Option<usize>,
        /// Of what.
        of: Rates,
    },
    /// The duration of a phase, or of all of them.
    Duration {
        /// The phase.
        phase: Option<usize>,
    },
}

/// Something to be made small.
pub struct Goal<'a, Y: System> {
    /// Its name.
    pub name: String,
    /// Its weight in a single objective.
    pub weight: f64,
    /// Its parts, which are added.
    pub terms: Vec<Term<'a, Y>>,
}

/// An optimal control problem.
pub struct Problem<'a, Y: System> {
    /// Controls, the same in all phases.
    pub controls: Vec<Control>,
    /// Static parameters.
    pub statics: Vec<Static>,
    /// The phases, in order.
    pub phases: Vec<Phase<'a, Y>>,
    /// Conditions between the start and the end.
    pub across: Vec<Across<'a, Y>>,
    /// What is to be made small.
    pub goals: Vec<Goal<'a, Y>>,
    /// The time at which the motion begins, in s.
    pub start_time: f64,
}

impl<Y: System> Default for Problem<'_, Y> {
    fn default() -> Self {
        Self {
            controls: Vec::new(),
            statics: Vec::new(),
            phases: Vec::new(),
            across: Vec::new(),
            goals: Vec::new(),
            start_time: 0.0,
        }
    }
}

impl<'a, Y: System> Problem<'a, Y> {
    /// Adds the integral of a function over all phases as a goal.
    pub fn integral(
        &mut self,
        name: impl Into<String>,
        weight: f64,
        function: impl Fn(&mut Moment<'_, '_, Y>) -> Trace + 'a,
    ) -> &mut Self {
        let term = Term::Integral { phase: None, function: Box::new(function) };
        self.goals.push(Goal { name: name.into(), weight, terms: vec![term] });
        self
    }

    /// Adds the duration as a goal.
    pub fn time(&mut self, name: impl Into<String>, weight: f64) -> &mut Self {
        self.goals.push(Goal { name: name.into(), weight, terms: vec![Term::Duration { phase: None }] });
        self
    }

    /// Asks for the end of the motion to repeat its start: these coordinates up to a shift, and all velocities, extra states.
    pub fn periodic(&mut self, coordinates: &[(usize, f64)], velocities: &[usize], extra: &[usize]) -> &mut Self {
        let mut add = |name: String, value: f64, function: AcrossFunction<'a, Y>| {
            self.across.push(Across { name, function, bound: Bound::equal(value) });
        };
        for &(i, shift) in coordinates {
            add(format!("coordinate {i} repeats"), shift, Box::new(move |a, b| b.q()[i] - a.q()[i]));
        }
        for &i in velocities {
            add(format!("velocity {i} repeats"), 0.0, Box::new(move |a, b| b.v()[i] - a.v()[i]));
        }
        for &i in extra {
            add(format!("extra state {i} repeats"), 0.0, Box::new(move |a, b| b.x()[i] - a.x()[i]));
        }
        self
    }
}
