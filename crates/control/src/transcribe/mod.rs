//! From a problem to a nonlinear program: unknowns are laid out, kernels recorded once for each phase and placed on all intervals.
//!
//! Unknowns stand in the order of time, node, interval, node, so that matrices are bands. Every transcription meets constraints of the system at the nodes, holonomic
//! ones as g(q) = 0 and all of them as rates; the unknowns that make room for these rows are multipliers that push positions and velocities back,
//! q = … + Gᵀ γ, v = … + [G; A]ᵀ ν, small as the error of the method. Where conditions give the whole configuration or velocity of a node, these are checked against the
//! constraints, and the rows there are left out.

mod dmocc;
mod ends;
mod given;
mod goals;
mod guess;
mod layout;
mod lobatto;
mod midpoint;
mod null_space;
mod shooting;

pub use layout::{Interval, Node, Plan, Stage};
pub use null_space::Division;
pub(crate) use null_space::{gradients, multipliers, node_state, worn};

use crate::difference::is_flat;
use crate::equations::Reader;
use crate::error::ControlError;
use crate::kernel::{Kernel, Signature};
use crate::method::{Form, Method};
use crate::moment::Moment;
use crate::problem::{Acts, Phase, Problem};
use crate::program::{Duration, Options, Program, When};
use dalembert_graph::Trace;
use dalembert_methods::{Shape, State, System};
use dalembert_optimise::Bound;
use std::cell::Cell;
use std::ops::Range;

/// What is built from a problem.
pub(crate) struct Build<'p, 'a, Y: System> {
    pub problem: &'p Problem<'a, Y>,
    pub options: &'p Options,
    pub program: Program,
    pub plans: Vec<Plan>,
    pub statics: Range<usize>,
    /// The rows of goals that are unknowns.
    pub goal_rows: Vec<u32>,
    pub missing: Cell<Option<&'static str>>,
}

/// The groups of the clock and of static parameters in a kernel.
pub(crate) struct Clock<'t> {
    pub statics: &'t [Trace],
    pub duration: Trace,
    /// When the phase begins.
    pub begins: Trace,
}

/// Transcribes a problem. The program comes with the places of all that a solution is read from.
pub fn transcribe<Y: System>(
    problem: &Problem<'_, Y>,
    options: &Options,
) -> Result<(Program, Vec<Plan>), ControlError> {
    transcribe_about(problem, options, None)
}

/// The same, beginning from a point of an earlier transcription with the same unknowns.
pub(crate) fn transcribe_about<Y: System>(
    problem: &Problem<'_, Y>,
    options: &Options,
    point: Option<&[f64]>,
) -> Result<(Program, Vec<Plan>), ControlError> {
    check(problem)?;
    let mut build = Build {
        problem,
        options,
        program: Program::empty(problem.start_time),
        plans: Vec::new(),
        statics: 0..0,
        goal_rows: Vec::new(),
        missing: Cell::new(None),
    };
    build.lay_out()?;
    build.set_guess();
    if let Some(point) = point {
        build.program.set_start(point);
    }
    build.begin_goals();
    for phase in 0..problem.phases.len() {
        match problem.phases[phase].method {
            Method::Dmocc => {
                if problem.phases[phase].form == Form::NullSpace && problem.phases[phase].system.shape().rows() > 0 {
                    build.divide(phase);
                }
                build.dmocc(phase)?;
            }
            Method::Midpoint => build.midpoint(phase)?,
            Method::Lobatto { .. } | Method::LobattoExplicit { .. } => build.lobatto(phase)?,
            Method::Shooting { .. } => build.shooting(phase)?,
        }
        build.holds(phase)?;
        build.conditions(phase)?;
    }
    build.borders()?;
    build.across()?;
    build.end_goals()?;
    let Build { mut program, plans, .. } = build;
    program.finish(options)?;
    program.begin_goals();
    Ok((program, plans))
}

/// What is wrong with a statement before anything is recorded.
fn check<Y: System>(problem: &Problem<'_, Y>) -> Result<(), ControlError> {
    let Some(first) = problem.phases.first() else {
        return Err(ControlError::statement("problem", "there is no phase"));
    };
    let Shape { q, v, x, p, .. } = first.system.shape();
    for phase in &problem.phases {
        let fault = |message: String| Err(ControlError::statement(format!("phase `{}`", phase.name), message));
        let shape = phase.system.shape();
        if (shape.q, shape.v, shape.x, shape.p) != (q, v, x, p) {
            return fault("its system has other coordinates than that of the first phase".into());
        }
        if phase.intervals == 0 {
            return fault("there must be at least one interval".into());
        }
        let parts = phase.parts();
        let rising = parts.windows(2).all(|w| w[0] < w[1]);
        if parts.len() != phase.intervals + 1 || parts[0] != 0.0 || parts[phase.intervals] != 1.0 || !rising {
            return fault(format!("the grid must have {} parts that rise from 0 to 1", phase.intervals + 1));
        }
        if phase.typical.len() != q {
            return fault(format!(
                "the typical configuration has {} numbers, the system has {q} coordinates",
                phase.typical.len()
            ));
        }
        if !(phase.duration.upper > 0.0 && phase.duration.upper.is_finite() && phase.duration.lower >= 0.0) {
            return fault(format!(
                "the duration must lie between finite limits that are not negative, not {} and {}",
                phase.duration.lower, phase.duration.upper
            ));
        }
        let stages = match phase.method {
            Method::Lobatto { stages } | Method::LobattoExplicit { stages } => stages,
            Method::Shooting { steps } => steps + 1,
            _ => 2,
        };
        if stages < 2 {
            return fault(format!("`{}` needs two stages or one step at least", phase.method.name()));
        }
        let explicit = matches!(phase.method, Method::LobattoExplicit { .. } | Method::Shooting { .. } | Method::Dmocc);
        if explicit && !phase.system.loads().is_empty() {
            return fault(format!(
                "friction driven by multipliers cannot be had with `{}`; take midpoint or lobatto",
                phase.method.name()
            ));
        }
    }
    for control in &problem.controls {
        let (number, count, what) = match control.acts {
            Acts::Parameter(i) => (i, p, "free parameters"),
            Acts::Velocity(i) => (i, v, "velocities"),
        };
        if number >= count {
            let message = format!("it acts on number {number}, but there are {count} {what}");
            return Err(ControlError::statement(format!("control `{}`", control.name), message));
        }
    }
    Ok(())
}

impl<'p, 'a, Y: System> Build<'p, 'a, Y> {
    /// A reader of the system of a phase.
    pub fn reader(&self, phase: usize) -> Reader<'a, Y> {
        Reader::new(self.problem.phases[phase].system)
    }

    pub fn phase(&self, phase: usize) -> &'p Phase<'a, Y> {
        &self.problem.phases[phase]
    }

    /// Adds the groups of the clock to a signature.
    pub fn clock_signature(&self, phase: usize, signature: &mut Signature) {
        let unknown = matches!(self.program.durations[phase], Duration::Unknown(_));
        signature.push(self.statics.len(), true);
        signature.push(1, unknown);
        signature.push(self.earlier(phase).len(), true);
        signature.push(1, false);
    }

    /// The unknown durations of earlier phases.
    fn earlier(&self, phase: usize) -> Vec<u32> {
        let unknown = |d: &Duration| if let Duration::Unknown(at) = d { Some(*at as u32) } else { None };
        self.program.durations[..phase].iter().filter_map(unknown).collect()
    }

    /// The places of the clock's groups.
    pub fn clock_places(&mut self, phase: usize) -> Vec<Vec<u32>> {
        let statics = self.statics.clone().map(|i| i as u32).collect();
        let duration = match self.program.durations[phase] {
            Duration::Unknown(at) => vec![at as u32],
            Duration::Fixed(value) => self.constants(&[value]),
        };
        let fixed = |d: &Duration| if let Duration::Fixed(value) = d { *value } else { 0.0 };
        let before = self.program.start_time + self.program.durations[..phase].iter().map(fixed).sum::<f64>();
        vec![statics, duration, self.earlier(phase), self.constants(&[before])]
    }

    /// The clock in a kernel, from its four groups.
    pub fn clock<'t>(groups: &[&'t [Trace]]) -> Clock<'t> {
        let begins = groups[2].iter().fold(groups[3][0], |sum, &t| sum + t);
        Clock { statics: groups[0], duration: groups[1][0], begins }
    }

    /// New constants, numbered after all unknowns.
    pub fn constants(&mut self, values: &[f64]) -> Vec<u32> {
        let first = self.program.variables.len() + self.program.constants.len();
        self.program.constants.extend_from_slice(values);
        (first..first + values.len()).map(|i| i as u32).collect()
    }

    /// A state from its parts.
    pub fn state(
        &self,
        shape: Shape,
        t: Trace,
        q: &[Trace],
        v: &[Trace],
        x: &[Trace],
        u: &[Trace],
        statics: &[Trace],
    ) -> State<Trace> {
        let mut s = State::zeros(shape);
        s.t = t;
        s.q.copy_from_slice(q);
        s.v.copy_from_slice(v);
        s.x.copy_from_slice(x);
        for (control, &u) in self.problem.controls.iter().zip(u) {
            if let Acts::Parameter(i) = control.acts {
                s.p[i] = u;
            }
        }
        for (parameter, &value) in self.problem.statics.iter().zip(statics) {
            if let Some(i) = parameter.parameter {
                s.p[i] = value;
            }
        }
        s
    }

    /// The generalised forces of controls that act on velocities.
    pub fn drives(&self, shape: Shape, u: &[Trace]) -> Vec<Trace> {
        let mut out = vec![Trace::from(0.0); shape.v];
        for (control, &u) in self.problem.controls.iter().zip(u) {
            if let Acts::Velocity(i) = control.acts {
                out[i] += u;
            }
        }
        out
    }

    /// Values of the path functions of a phase.
    pub fn path_rows(&self, phase: usize, moment: &mut Moment<'_, '_, Y>) -> Vec<Trace> {
        self.phase(phase).path.iter().map(|path| (path.function)(moment)).collect()
    }

    /// New rows of the path functions of a phase.
    pub fn new_path_rows(&mut self, phase: usize, part: f64) -> Vec<u32> {
        let count = self.phase(phase).path.len();
        (0..count)
            .map(|i| {
                let path = &self.problem.phases[phase].path[i];
                let label = self.program.label(&path.name);
                self.program.add_row(label, Some(When { phase, part }), path.bound)
            })
            .collect()
    }

    /// New equality rows, one for each name.
    pub fn new_rows(&mut self, names: &[String], phase: usize, part: f64) -> Vec<u32> {
        let when = Some(When { phase, part });
        names
            .iter()
            .map(|name| {
                let label = self.program.label(name);
                self.program.add_row(label, when, Bound::equal(0.0))
            })
            .collect()
    }

    /// Records a kernel, and tells if a function asked for what is not known.
    pub fn record(
        &self,
        name: String,
        signature: &Signature,
        hint: &'static str,
        function: impl FnOnce(&[&[Trace]]) -> (Trace, Vec<Trace>),
    ) -> Result<Kernel, ControlError> {
        self.missing.set(None);
        let kernel = Kernel::record(name.clone(), signature, function)?;
        match self.missing.take() {
            Some(what) => Err(ControlError::Missing { function: name, what, hint }),
            None => Ok(kernel),
        }
    }

    /// The user's names of rows of the equations of motion.
    pub fn balance_names(&self, phase: usize) -> Vec<String> {
        let system = self.phase(phase).system;
        (0..system.shape().v).map(|i| format!("equation of motion of {}", system.velocity_name(i))).collect()
    }

    /// The user's names of steps of coordinates.
    pub fn step_names(&self, phase: usize, flat: bool) -> Vec<String> {
        let system = self.phase(phase).system;
        let of = |i: usize| if flat { system.velocity_name(i) } else { format!("coordinate {i}") };
        (0..system.shape().q).map(|i| format!("step of {}", of(i))).collect()
    }

    /// The user's names of steps of velocities.
    pub fn speed_names(&self, phase: usize) -> Vec<String> {
        let system = self.phase(phase).system;
        (0..system.shape().v).map(|i| format!("step of the rate of {}", system.velocity_name(i))).collect()
    }

    /// The user's names of steps of extra states.
    pub fn extra_names(&self, phase: usize) -> Vec<String> {
        (0..self.phase(phase).system.shape().x).map(|i| format!("step of extra state {i}")).collect()
    }

    /// The user's names of rows of constraints.
    pub fn constraint_names(&self, phase: usize, rows: Range<usize>, level: &str) -> Vec<String> {
        let system = self.phase(phase).system;
        rows.map(|row| format!("{level}{}", system.row_name(row))).collect()
    }

    /// Whether configurations of a phase are added to.
    pub fn flat(&self, phase: usize) -> bool {
        let phase = self.phase(phase);
        is_flat(phase.system, &phase.typical)
    }
}

/// Numbers of a range, as kernels want them.
pub(crate) fn ids(range: &Range<usize>) -> Vec<u32> {
    range.clone().map(|i| i as u32).collect()
}

/// a + b · factor, entry by entry.
pub(crate) fn add_scaled(a: &[Trace], b: &[Trace], factor: Trace) -> Vec<Trace> {
    a.iter().zip(b).map(|(&a, &b)| a + b * factor).collect()
}

/// (a + b)/2, entry by entry.
pub(crate) fn middle(a: &[Trace], b: &[Trace]) -> Vec<Trace> {
    a.iter().zip(b).map(|(&a, &b)| (a + b) * 0.5).collect()
}
