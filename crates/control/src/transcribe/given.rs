//! Ends of phases that conditions give, wholly or coordinate by coordinate: what is given must meet the constraints of the system, which are then no rows of the program.
//!
//! The constraints are read with what is given as constants and everything else as inputs. A row that comes out as a number is met or broken before anything is
//! solved; a row that still depends on something (an unknown time, a static parameter, a coordinate that is free) stays a row.

use super::Build;
use crate::error::ControlError;
use crate::problem::Condition;
use crate::program::Duration;
use dalembert_graph::{Trace, record};
use dalembert_methods::{Shape, System};

/// What solvers let a constraint be violated by: given numbers need not be rounder.
const MET: f64 = 1e-6;

/// The rows of constraints that are left at an end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Left {
    /// On the level of positions.
    pub positions: Vec<usize>,
    /// On the level of velocities.
    pub rates: Vec<usize>,
}

/// What is given at an end: numbers, and nothing where they are free.
struct Given {
    configuration: Vec<Option<f64>>,
    velocity: Vec<Option<f64>>,
    momentum: Option<Vec<f64>>,
}

impl Given {
    /// Whether some of the configuration is given, and some of the velocity.
    fn some(&self) -> [bool; 2] {
        let any = |values: &[Option<f64>]| values.iter().any(Option::is_some);
        [any(&self.configuration), any(&self.velocity) || self.momentum.is_some()]
    }

    /// What breaks a constraint on positions, in words.
    fn placed(&self) -> &'static str {
        if self.configuration.iter().all(Option::is_some) {
            "the configuration that is given breaks"
        } else {
            "the coordinates that are given break"
        }
    }

    /// What breaks one on velocities, in words.
    fn moving(&self) -> &'static str {
        match self.velocity.iter().filter(|v| v.is_some()).count() {
            0 => "the momentum that is given breaks",
            n if n == self.velocity.len() => "the velocity that is given breaks",
            _ => "the speeds that are given break",
        }
    }
}

/// The residuals at an end: numbers where they are known.
#[derive(Default)]
struct Residuals {
    positions: Vec<Option<f64>>,
    rates: Vec<Option<f64>>,
    /// M v − p where both are given.
    momenta: Vec<Option<f64>>,
}

fn constants(values: &[f64]) -> Vec<Trace> {
    values.iter().map(|&x| Trace::from(x)).collect()
}

/// What is given as constants, the rest as inputs.
fn mixed(given: &[Option<f64>], inputs: &[Trace]) -> Vec<Trace> {
    given.iter().zip(inputs).map(|(given, &input)| given.map_or(input, Trace::from)).collect()
}

impl<Y: System> Build<'_, '_, Y> {
    /// What conditions and bounds give at an end.
    fn given(&self, phase: usize, end: usize) -> Given {
        let (statement, plan) = (self.phase(phase), &self.plans[phase]);
        let node = &plan.nodes[if end == 0 { 0 } else { plan.nodes.len() - 1 }];
        let fixed = |at: std::ops::Range<usize>| -> Vec<Option<f64>> {
            self.program.variables[at].iter().map(|v| v.bound.is_equality().then_some(v.bound.lower)).collect()
        };
        let mut given = Given { configuration: fixed(node.q.clone()), velocity: fixed(node.v.clone()), momentum: None };
        // What a node has no unknowns for is free.
        let shape = statement.system.shape();
        given.configuration.resize(shape.q, None);
        given.velocity.resize(shape.v, None);
        for condition in if end == 0 { &statement.start } else { &statement.end } {
            match condition {
                // On manifolds the end is met by rows, not by bounds.
                Condition::Configuration(q) => given.configuration = q.iter().copied().map(Some).collect(),
                Condition::Velocity(v) => given.velocity = v.iter().copied().map(Some).collect(),
                Condition::Momentum(p) => given.momentum = Some(p.clone()),
                _ => {}
            }
        }
        given
    }

    /// The rows that are left at the start (0) or the end (1) of a phase; an error if what is given there breaks one.
    pub(super) fn left(&self, phase: usize, end: usize) -> Result<Left, ControlError> {
        let statement = self.phase(phase);
        let shape = statement.system.shape();
        let given = self.given(phase, end);
        let mut left = Left { positions: (0..shape.g).collect(), rates: (0..shape.rows()).collect() };
        let [fixed, moving] = given.some();
        if !fixed && !moving {
            return Ok(left);
        }
        let found = self.residuals(phase, end, shape, &given)?;
        let place = format!("{} of phase `{}`", ["start", "end"][end], statement.name);
        let name = |row: usize| statement.system.row_name(row);
        let worst = |values: &[Option<f64>]| -> Option<(usize, f64)> {
            let known = values.iter().enumerate().filter_map(|(row, value)| value.map(|value| (row, value)));
            // What is not a number is not met.
            let broken = known.filter(|(_, value)| value.is_nan() || value.abs() > MET);
            broken.max_by(|a, b| a.1.abs().total_cmp(&b.1.abs()))
        };
        if let Some((row, value)) = worst(&found.positions) {
            let message = format!(
                "{} `{}`: its residual is {value:.6e}, not 0; give what meets the constraints, or fewer conditions in `where`",
                given.placed(),
                name(row)
            );
            return Err(ControlError::statement(place, message));
        }
        if let Some((row, value)) = worst(&found.rates) {
            let message = format!(
                "{} `{}`: the rate of its residual is {value:.6e}, not 0; give what the constraints allow, or fewer conditions in `where`",
                given.moving(),
                name(row)
            );
            return Err(ControlError::statement(place, message));
        }
        if let Some((row, value)) = worst(&found.momenta) {
            let message = format!(
                "velocity and momentum that are given differ: M v − p of `{}` is {value:.6e}, not 0; give one of them",
                statement.system.velocity_name(row)
            );
            return Err(ControlError::statement(place, message));
        }
        let open = |values: &[Option<f64>]| (0..values.len()).filter(|&row| values[row].is_none()).collect();
        if fixed {
            left.positions = open(&found.positions);
        }
        if moving {
            left.rates = open(&found.rates);
        }
        Ok(left)
    }

    fn residuals(&self, phase: usize, end: usize, shape: Shape, given: &Given) -> Result<Residuals, ControlError> {
        let durations = &self.program.durations[..phase + end];
        let unknown = durations.iter().filter(|d| matches!(d, Duration::Unknown(_))).count();
        let statics = self.statics.len();
        let mut found = Residuals::default();
        let recorded = record(unknown + statics + shape.q + shape.v, |x| {
            let (times, rest) = x.split_at(unknown);
            let (statics, rest) = rest.split_at(statics);
            let (q, v) = rest.split_at(shape.q);
            let mut times = times.iter().copied();
            let t = durations.iter().fold(Trace::from(self.program.start_time), |t, duration| match duration {
                Duration::Fixed(value) => t + *value,
                Duration::Unknown(_) => t + times.next().unwrap_or_default(),
            });
            let q = mixed(&given.configuration, q);
            let zeros = |n: usize| vec![Trace::from(0.0); n];
            let (extra, controls) = (zeros(shape.x), zeros(self.problem.controls.len()));
            let mut s = self.state(shape, t, &q, &zeros(shape.v), &extra, &controls, statics);
            let mut reader = self.reader(phase);
            reader.prepare(&s);
            let known = |values: Vec<Trace>| values.into_iter().map(Trace::known).collect();
            let [placed, moving] = given.some();
            if placed {
                found.positions = known(reader.holonomic(&s));
            }
            if !moving {
                return Vec::new();
            }
            let speeds = given.velocity.iter().any(Option::is_some);
            match &given.momentum {
                Some(p) if !speeds => s.v = reader.mass_solve(&s, &constants(p)),
                _ => s.v = mixed(&given.velocity, v),
            }
            reader.prepare(&s);
            found.rates = known(reader.velocity(&s));
            if let (true, Some(p)) = (given.velocity.iter().all(Option::is_some), &given.momentum) {
                let momentum = reader.mass_times(&s, &s.v);
                found.momenta = known(momentum.iter().zip(p).map(|(&m, &p)| m - p).collect());
            }
            Vec::new()
        });
        let place = || format!("constraints of `{}`", self.phase(phase).name);
        recorded.map_err(|error| ControlError::Record { place: place(), error })?;
        Ok(found)
    }
}
