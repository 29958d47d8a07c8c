//! The equations of a system with contacts as instructions, for every set of modes.
//!
//! Modes change what is done with the functions of a model (masses, forces, rows of constraints and contacts), not the functions. So these are recorded once, with
//! directions of sliding as inputs; and for each set of modes what [`Hybrid`] does with them is recorded once, with the functions as inputs ([`Given`]) and hence without
//! any number of the model. One program after the other gives
//!
//! ```text
//! motion     (v̇, ẋ, ż)                    accelerations, rates and integrands
//! sight      (γ, γ̇ and u, N and r)        gaps of all contacts, rates of closed ones, forces
//! correct    (δq, δv)                     the least changes that meet all rows to first order
//! stage      (δ̇, v̇, ẋ, ż)                 the motion at q ⊕ δ, v + Δv, x + Δx, seen from q: a stage of a Runge–Kutta method
//! ```
//!
//! each with the pivots of its rows ([`crate::recipe`]). Systems that differ in numbers only have the same instructions, for all modes, and other constants: those of the
//! functions come first among the constants of each program, in the same order.

mod given;

pub use given::Given;

use crate::program::{Instruction, Prepared, Program};
use crate::recipe::{Held, moved};
use crate::{Id, Recorded, Trace, TraceError, record, record_again};
use dalembert_methods::Real;
use dalembert_methods::algebra::{Mass, Rows};
use dalembert_methods::nonsmooth::{Contacts, Hybrid, Mode, resistance};
use dalembert_methods::system::{Shape, State, System};

/// Inputs for each contact: the direction in which it slides, and the speed below which it is led back to it.
pub const LEAD: usize = 3;

/// What is asked of a system in a set of modes.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// Accelerations, rates of extra states and of integrals.
    Motion,
    /// Gaps, rates of closed contacts, and forces.
    Sight,
    /// Corrections of configuration and velocity.
    Correct,
    /// Rates of an increment of the state, in the chart at the state: the increment (δ, Δv, Δx) is a further input.
    Stage,
}

/// The functions of a model as instructions: inputs (t, q, v, x), then [`LEAD`] for each contact.
#[derive(Clone, Debug)]
pub struct Functions {
    /// The instructions and constants.
    pub program: Program,
    given: Given,
    recorded: Recorded,
    prepared: Prepared,
    /// How states are moved by increments, or why that cannot be recorded.
    way: Result<Way, TraceError>,
}

/// States moved by increments as instructions, and then the functions there.
#[derive(Clone, Debug)]
struct Way {
    /// How they are moved, and what is done for it, as recorded, as prepared, and as instructions.
    recorded: Recorded,
    prepared: Prepared,
    own: Program,
    /// That and the functions after it; constants are those of the functions, then those of the way. First among the outputs are those of the way.
    program: Program,
}

/// Why the functions of a model cannot be had as instructions.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Unrecorded {
    /// The equations branch.
    Trace(TraceError),
    /// Surfaces are hollow around contacts that bear: which gaps there are depends on modes.
    Hollow,
}

impl std::fmt::Display for Unrecorded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Trace(error) => error.fmt(f),
            Self::Hollow => f.write_str("a contact has a `hollow`, which opens and closes with the modes of others"),
        }
    }
}

impl std::error::Error for Unrecorded {}

impl Functions {
    /// Records the functions of a model.
    ///
    /// # Errors
    /// [`Unrecorded`] if that cannot be.
    pub fn of<Y: Contacts>(y: &Y) -> Result<Self, Unrecorded> {
        let mut given = Given::of(y);
        let mut hollow = false;
        let count = inputs(y.shape(), y.contacts());
        let recorded = record(count, |input| functions(y, &given, input, &mut hollow)).map_err(Unrecorded::Trace)?;
        if hollow {
            return Err(Unrecorded::Hollow);
        }
        for (zero, &output) in given.zero.iter_mut().zip(&recorded.outputs) {
            *zero = recorded.graph.constant_of(output) == Some(0.0);
        }
        let prepared = Prepared::new(&recorded);
        let program = Program::of(&prepared);
        let way = Way::of(y, count, &program);
        Ok(Self { program, given, recorded, prepared, way })
    }

    /// The sizes of states, with the accounts of contacts and nothing closed.
    pub fn shape(&self) -> Shape {
        Hybrid::new(&self.given).shape()
    }

    /// Whether there are instructions for stages that serve another model of this kind too: its states are moved in the same way, with the same numbers.
    pub fn moves<Y: Contacts>(&self, y: &Y) -> bool {
        self.way.as_ref().is_ok_and(|way| {
            let again = record_again(&way.recorded, |input| moves(y, input));
            again.and_then(|again| way.prepared.constants_again(&again)).as_ref() == Some(&way.own.constants)
        })
    }

    /// The constants of another model that does the same with other numbers; nothing if it does not. This takes a fraction of the time of a recording.
    pub fn constants_of<Y: Contacts>(&self, y: &Y) -> Option<Vec<f64>> {
        let mut given = Given::of(y);
        given.zero.clone_from(&self.given.zero);
        if given != self.given {
            return None;
        }
        let mut hollow = false;
        let recorded = record_again(&self.recorded, |input| functions(y, &given, input, &mut hollow))?;
        let zero = |output: &Id| recorded.graph.constant_of(*output) == Some(0.0);
        let same = recorded.outputs.iter().map(zero).eq(given.zero.iter().copied());
        if hollow || !same { None } else { self.prepared.constants_again(&recorded) }
    }

    /// The instructions that answer a question in a set of modes, of which directions do not matter. Inputs are those of the functions, and for a stage its increment after them; the constants of the
    /// functions come first.
    ///
    /// # Errors
    /// [`Unrecorded`] if that cannot be.
    pub fn answer(&self, modes: &[Mode], ask: Ask) -> Result<Program, Unrecorded> {
        let mut y = Hybrid::new(&self.given);
        y.set_modes(modes);
        let (shape, count) = (self.given.shape(), self.given.shape().p);
        let recorded = record(1 + shape.v + count, |input| algebra(&y, ask, input)).map_err(Unrecorded::Trace)?;
        let after = Program::new(&recorded);
        let velocities = 1 + shape.q..1 + shape.q + shape.v;
        // Time and velocities are inputs of the functions, all else are their outputs.
        if ask != Ask::Stage {
            let first = self.program.constants.len() as u32;
            let given = std::iter::once(0).chain(velocities).map(|input| first + input as u32);
            let wires: Vec<u32> = given.chain(self.program.outputs.iter().copied()).collect();
            return Ok(join(&self.program, &after, &wires, &[]));
        }
        let way = self.way()?;
        let (moved, functions) = way.program.outputs.split_at(way.own.outputs.len());
        let given = std::iter::once(0).chain(velocities).map(|output| moved[output]);
        let wires: Vec<u32> = given.chain(functions.iter().copied()).collect();
        Ok(join(&way.program, &after, &wires, &moved[way.own.outputs.len() - shape.v..]))
    }

    /// The instructions that give the inputs at a state moved by an increment, of inputs and increment: (t, q ⊕ δ, v + Δv, x + Δx) and what contacts are led by. The constants of the functions
    /// come first.
    ///
    /// # Errors
    /// [`Unrecorded`] if that cannot be.
    pub fn mover(&self) -> Result<Program, Unrecorded> {
        let (own, first) = (&self.way()?.own, self.program.constants.len() as u32);
        let program = Program {
            constants: self.program.constants.iter().chain(&own.constants).copied().collect(),
            inputs: own.inputs,
            instructions: own.instructions.iter().map(|i| renamed(i, |value| value + first)).collect(),
            values: own.values + first as usize,
            outputs: own.outputs[..self.program.inputs].iter().map(|&o| o + first).collect(),
        };
        Ok(program.needed())
    }

    fn way(&self) -> Result<&Way, Unrecorded> {
        self.way.as_ref().map_err(|&why| Unrecorded::Trace(why))
    }
}

impl Way {
    /// The way of a model whose functions have so many inputs.
    fn of<Y: Contacts>(y: &Y, count: usize, functions: &Program) -> Result<Self, TraceError> {
        let shape = y.shape();
        let recorded = record(count + 2 * shape.v + shape.x, |input| moves(y, input))?;
        let prepared = Prepared::new(&recorded);
        let own = Program::of(&prepared);
        let both = join(&own, functions, &own.outputs[..count], &own.outputs);
        Ok(Self { program: turned(both, own.constants.len(), functions.constants.len()), recorded, prepared, own })
    }
}

/// The number of inputs for a model.
fn inputs(shape: Shape, contacts: usize) -> usize {
    1 + shape.q + shape.v + shape.x + LEAD * contacts
}

/// A state moved by an increment, (t, q ⊕ δ, v + Δv, x + Δx) and what contacts are led by, then δ̇, given the state, what contacts are led by, and the increment.
fn moves<Y: Contacts>(y: &Y, input: &[Trace]) -> Vec<Trace> {
    let shape = y.shape();
    let count = inputs(shape, y.contacts());
    let (base, increment) = input.split_at(count);
    let (delta, more) = increment.split_at(shape.v);
    let mut out = base.to_vec();
    let (q, rest) = out[1..].split_at_mut(shape.q);
    y.retract(&base[1..1 + shape.q], delta, q);
    rest.iter_mut().zip(more).for_each(|(sum, &more)| *sum += more);
    let mut rate = zeros(shape.v);
    y.local_rate(delta, &rest[..shape.v], &mut rate);
    out.extend(rate);
    out
}

fn zeros(count: usize) -> Vec<Trace> {
    vec![Trace::zero(); count]
}

/// The values of all functions, in their places.
fn functions<Y: Contacts>(y: &Y, given: &Given, input: &[Trace], hollow: &mut bool) -> Vec<Trace> {
    let (shape, contacts) = (y.shape(), y.contacts());
    let places = &given.places;
    let mut out = zeros(places.count());
    let mut s = State::zeros(shape);
    s.t = input[0];
    let (q, rest) = input[1..].split_at(shape.q);
    let (v, rest) = rest.split_at(shape.v);
    let (x, leads) = rest.split_at(shape.x);
    s.q.copy_from_slice(q);
    s.v.copy_from_slice(v);
    s.x.copy_from_slice(x);
    let mut work = y.work();
    y.prepare(&s, &mut work);
    let mut mass = Mass::new(&y.mass_blocks());
    y.mass(&s, &mut work, &mut mass);
    let values: Vec<Trace> = (0..y.mass_blocks().len()).flat_map(|k| mass.block(k).to_vec()).collect();
    out[places.mass.clone()].copy_from_slice(&values);
    y.force(&s, &mut work, &mut out[places.force.clone()]);
    y.rate(&s, &mut work, &mut out[places.rate.clone()]);
    // Power is linear in forces, and these in multipliers.
    let (mut multipliers, mut whole) = (zeros(shape.rows()), zeros(shape.z));
    y.integrand(&s, &multipliers, &mut work, &mut whole);
    out[places.integrand.clone()].copy_from_slice(&whole);
    for row in 0..shape.rows() {
        multipliers[row] = Trace::one();
        let each = &mut out[places.supplied.clone()][row * shape.z..(row + 1) * shape.z];
        y.integrand(&s, &multipliers, &mut work, each);
        each.iter_mut().zip(&whole).for_each(|(each, &whole)| *each -= whole);
        multipliers[row] = Trace::zero();
    }
    y.constraint(&s, &mut work, &mut out[places.constraint.clone()]);
    y.constraint_rate(&s, &mut work, &mut out[places.constraint_rate.clone()]);
    y.constraint_bias(&s, &mut work, &mut out[places.bias.clone()]);
    let mut rows = Rows::new(shape.rows(), shape.v, &y.row_blocks());
    y.jacobian(&s, &mut work, &mut rows);
    let flat =
        |rows: &Rows<Trace>| -> Vec<Trace> { (0..rows.blocks().len()).flat_map(|k| rows.block(k).to_vec()).collect() };
    out[places.jacobian.clone()].copy_from_slice(&flat(&rows));
    y.contact_gap(&s, &mut work, &mut out[places.gap.clone()]);
    y.contact_rate(&s, &mut work, &mut out[places.contact_rate.clone()]);
    y.contact_bias(&s, &mut work, &mut out[places.contact_bias.clone()]);
    let mut rows = Rows::new(places.contact_rate.len(), shape.v, &y.contact_blocks());
    y.contact_jacobian(&s, &mut work, &mut rows);
    out[places.contact_jacobian.clone()].copy_from_slice(&flat(&rows));
    let mut row = places.contact_rate.start;
    for (i, lead) in (0..contacts).zip(leads.chunks_exact(LEAD)) {
        let slip = row + 1..row + 1 + y.tangents(i);
        row = slip.end;
        if !slip.is_empty() {
            let force = resistance(y, i, [lead[0], lead[1]], lead[2], &out[slip], &work);
            let press = y.own_press(i).unwrap_or(1.0);
            out[places.resistance.clone()][2 * i..2 * i + 2].copy_from_slice(&force.map(|force| force * press));
        }
        out[places.suction.start + i] = y.suction_at(i, s.t, &work).unwrap_or(Trace::zero());
    }
    *hollow = contacts > 0 && y.contact_hollow(&vec![false; contacts], &s, &mut work, &mut zeros(contacts));
    out
}

/// What is done with the functions, given time, velocities and their values.
fn algebra(y: &Hybrid<'_, Given>, ask: Ask, input: &[Trace]) -> Vec<Trace> {
    let (shape, model) = (y.shape(), y.model().shape());
    let mut s = State::zeros(shape);
    s.t = input[0];
    s.v.copy_from_slice(&input[1..1 + shape.v]);
    s.p.copy_from_slice(&input[1 + shape.v..]);
    debug_assert_eq!(model.p, s.p.len());
    let mut work = y.work();
    y.prepare(&s, &mut work);
    let mut held = Held::new(y, &s, &mut work);
    match ask {
        Ask::Motion | Ask::Stage => moved(y, &s, &mut work, &mut held, true).out,
        Ask::Sight => {
            let count = y.modes().len();
            let (mut gap, mut rate, mut force) = (zeros(count), zeros(y.start(count)), zeros(y.start(count)));
            y.kinematics(&s, &mut work, &mut gap, &mut rate);
            let mut pivots = Vec::new();
            if y.modes().iter().any(|mode| mode.closed()) {
                let motion = moved(y, &s, &mut work, &mut held, false);
                y.forces(&motion.multipliers, &work, &mut force);
                pivots = motion.pivots;
            }
            for (i, _) in y.modes().iter().enumerate().filter(|(_, mode)| !mode.closed()) {
                rate[y.start(i)..y.start(i + 1)].fill(Trace::zero());
            }
            [gap, rate, force, pivots].concat()
        }
        Ask::Correct => {
            let (mut residual, mut rate) = (zeros(shape.g), zeros(shape.rows()));
            y.constraint(&s, &mut work, &mut residual);
            y.constraint_rate(&s, &mut work, &mut rate);
            let (position, mut pivots) = held.least_change(&residual);
            let (velocity, more) = held.least_change(&rate);
            pivots.extend(more);
            [position, velocity, pivots].concat()
        }
    }
}

/// A program that computes `after`, each of whose inputs is a value of `before`, from the inputs of `before`; `kept` values of `before` are given back first. Constants are those of `before`, then
/// those of `after`.
fn join(before: &Program, after: &Program, wires: &[u32], kept: &[u32]) -> Program {
    let (own, more) = (before.constants.len() as u32, after.constants.len() as u32);
    let first = |value: u32| if value < own { value } else { value + more };
    let end = before.values as u32 + more;
    let second = |value: u32| match value {
        _ if value < more => own + value,
        _ if ((value - more) as usize) < after.inputs => first(wires[(value - more) as usize]),
        _ => end + value - more - after.inputs as u32,
    };
    let instructions = before.instructions.iter().map(|i| renamed(i, first));
    let program = Program {
        constants: before.constants.iter().chain(&after.constants).copied().collect(),
        inputs: before.inputs,
        instructions: instructions.chain(after.instructions.iter().map(|i| renamed(i, second))).collect(),
        values: (end as usize) + after.values - after.constants.len() - after.inputs,
        outputs: kept.iter().map(|&o| first(o)).chain(after.outputs.iter().map(|&o| second(o))).collect(),
    };
    program.needed()
}

/// The same program with its first `one` constants behind the `other` ones that come after them.
fn turned(mut program: Program, one: usize, other: usize) -> Program {
    program.constants[..one + other].rotate_left(one);
    let name = |value: u32| match value as usize {
        at if at < one => value + other as u32,
        at if at < one + other => value - one as u32,
        _ => value,
    };
    program.instructions.iter_mut().for_each(|i| *i = renamed(i, name));
    program.outputs.iter_mut().for_each(|o| *o = name(*o));
    program
}

/// An instruction on values of other names.
fn renamed(i: &Instruction, name: impl Fn(u32) -> u32) -> Instruction {
    let mut args = i.args;
    args[..i.code.arity()].iter_mut().for_each(|a| *a = name(*a));
    Instruction { code: i.code, to: name(i.to), args }
}
