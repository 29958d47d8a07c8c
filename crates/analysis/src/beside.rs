//! Derivatives of accelerations for many states of one system, four states side by side.
//!
//! The residuals of the equations ([`Reading`]) are recorded once, and read with dual numbers whose parts have a lane for each state. Accelerations, multipliers and
//! the factors of the solve are those of each state by itself, so that redundant constraints and friction in them are treated as they are elsewhere:
//!
//! ```text
//! ∂a/∂q and ∂a/∂v:   the response of each state to the change of its residuals along η and v
//! ```

use crate::reading::Reading;
use dalembert_graph::program::Program;
use dalembert_graph::tape::{Slots, Tape};
use dalembert_graph::{Trace, record};
use dalembert_methods::dynamics::{Dynamics, Rates};
use dalembert_methods::integrate::IntegrateError;
use dalembert_methods::system::{Shape, State, System};
use dalembert_methods::{Jet, Lanes, Real};

/// States side by side.
pub const LANES: usize = 4;
/// Changes of one pass.
const WIDTH: usize = 4;
/// Longer recordings do not fit into the caches of a processor, and gain nothing.
const LONGEST: usize = 200_000;

type Number = Jet<Lanes<LANES>, WIDTH>;

/// The recorded residuals of a system.
pub struct Beside {
    tape: Tape,
    shape: Shape,
}

/// The scratch of one thread.
pub struct Work<Y: System> {
    dynamics: [Dynamics<Y>; LANES],
    rates: [Rates; LANES],
    slots: Slots<Number>,
    input: Vec<Number>,
    output: Vec<Number>,
    column: Vec<f64>,
    right: Vec<f64>,
}

/// The number of inputs: time, configuration, increment, velocities, extra states, parameters, accelerations and multipliers.
fn inputs(shape: Shape) -> usize {
    1 + shape.q + 3 * shape.v + shape.x + shape.p + shape.rows()
}

impl Beside {
    /// Records a system; none if it cannot be recorded, or is too large for that to pay.
    pub fn of<Y: System>(y: &Y) -> Option<Self> {
        let shape = y.shape();
        let recorded = record(inputs(shape), |input| {
            let mut reading = Reading::<Y, Trace>::new(y);
            let mut rest = input;
            let mut take = |count: usize| {
                let (own, tail) = rest.split_at(count);
                rest = tail;
                own
            };
            reading.state.t = take(1)[0];
            reading.base.copy_from_slice(take(shape.q));
            reading.increment.copy_from_slice(take(shape.v));
            reading.state.v.copy_from_slice(take(shape.v));
            reading.state.x.copy_from_slice(take(shape.x));
            reading.state.p.copy_from_slice(take(shape.p));
            reading.acceleration.copy_from_slice(take(shape.v));
            reading.multipliers.copy_from_slice(take(shape.rows()));
            reading.evaluate(y);
            let mut out = reading.force;
            out.extend(reading.residual);
            out
        });
        let program = Program::new(&recorded.ok()?);
        (program.instructions.len() <= LONGEST).then(|| Self { tape: Tape::new(&program), shape })
    }

    /// Scratch for evaluations.
    pub fn work<Y: System>(&self, y: &Y) -> Work<Y> {
        let shape = self.shape;
        let zeros = |count: usize| vec![Number::zero(); count];
        Work {
            dynamics: std::array::from_fn(|_| Dynamics::new(y)),
            rates: std::array::from_fn(|_| Rates::zeros(shape)),
            slots: self.tape.work(),
            input: zeros(inputs(shape)),
            output: zeros(shape.v + shape.rows()),
            column: vec![0.0; shape.v],
            right: vec![0.0; shape.rows()],
        }
    }

    /// ∂a/∂q along increments and then ∂a/∂v, by rows, of up to four states, one after the other.
    ///
    /// # Errors
    /// Those of the accelerations and of the constraint solve, with the number of the state.
    pub fn derivatives<Y: System>(
        &self,
        work: &mut Work<Y>,
        y: &Y,
        states: &[State<f64>],
        out: &mut [f64],
    ) -> Result<(), (usize, IntegrateError)> {
        let Shape { q, v: n, .. } = self.shape;
        for (lane, s) in states.iter().enumerate() {
            let dynamics = &mut work.dynamics[lane];
            // Rows that were dependent in another state are no matter of this one.
            dynamics.parts().saddle.release();
            dynamics.evaluate(y, s, &mut work.rates[lane]).map_err(|error| (lane, error))?;
            let rates = &work.rates[lane];
            let place = std::iter::once(&s.t).chain(&s.q).chain(std::iter::repeat_n(&0.0, n));
            let all = place.chain(&s.v).chain(&s.x).chain(&s.p).chain(&rates.v).chain(&rates.multipliers);
            for (input, &value) in work.input.iter_mut().zip(all) {
                // Where there are fewer states the first stands in for the others.
                let to = if lane == 0 { 0..LANES } else { lane..lane + 1 };
                to.for_each(|lane| input.re.0[lane] = value);
            }
        }
        // Where increments and velocities stand among the inputs.
        let place = |change: usize| 1 + q + change;
        for first in (0..2 * n).step_by(WIDTH) {
            let changes = first..(first + WIDTH).min(2 * n);
            let seed = |input: &mut [Number], value: f64| {
                changes.clone().for_each(|change| input[place(change)].eps[change - first] = Lanes::from(value));
            };
            seed(&mut work.input, 1.0);
            self.tape.run(&mut work.slots, &work.input, &mut work.output);
            seed(&mut work.input, 0.0);
            for (lane, (s, out)) in states.iter().zip(out.chunks_exact_mut(2 * n * n)).enumerate() {
                for change in changes.clone() {
                    let slope = |number: &Number| number.eps[change - first].0[lane];
                    let (force, residual) = work.output.split_at(n);
                    work.column.iter_mut().zip(force).for_each(|(to, from)| *to = slope(from));
                    work.right.iter_mut().zip(residual).for_each(|(to, from)| *to = -slope(from));
                    let dynamics = &mut work.dynamics[lane];
                    dynamics.respond(y, s, &mut work.column, &mut work.right).map_err(|error| (lane, error))?;
                    let (block, j) = (change / n * n * n, change % n);
                    work.column.iter().enumerate().for_each(|(i, &value)| out[block + i * n + j] = value);
                }
            }
        }
        Ok(())
    }
}
