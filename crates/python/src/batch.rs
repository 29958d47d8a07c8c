//! Functions of a model on tables of states: many states in one call, without the interpreter, on as many threads as are wanted.
//!
//! Four rows are computed side by side. Only constraints are solved for each alone, and derivatives of equations that cannot be recorded are taken for each alone.

use crate::error;
use crate::model::Model;
use crate::share::{Trouble, raised, room, shaped, share};
use crate::watch::detached;
use dalembert::methods::algebra::{Mass, Rows, Saddle};
use dalembert::methods::dynamics::{Dynamics, Rates};
use dalembert::methods::scalar::Lanes4;
use dalembert::methods::{Lanes, State, System};
use dalembert::model::Model as Mechanics;
use dalembert_analysis::Matrix;
use dalembert_analysis::variation::Variation;
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

/// States side by side.
const LANES: usize = 4;

/// What is asked of a model.
#[derive(Copy, Clone, PartialEq)]
enum Quantity {
    Mass,
    Force,
    Inverse,
    Forward,
    Jacobian,
    Constraint,
    Energy,
    Momentum,
    Derivatives,
}

impl Quantity {
    fn of(name: &str) -> Option<Self> {
        Some(match name {
            "mass_matrix" => Self::Mass,
            "forces" => Self::Force,
            "inverse_dynamics" => Self::Inverse,
            "forward_dynamics" => Self::Forward,
            "constraint_jacobian" => Self::Jacobian,
            "constraint_residuals" => Self::Constraint,
            "energy" => Self::Energy,
            "momentum" => Self::Momentum,
            "derivatives" => Self::Derivatives,
            _ => return None,
        })
    }

    fn name(self) -> &'static str {
        match self {
            Self::Mass => "the mass matrix",
            Self::Force => "a force",
            Self::Inverse => "a force of inverse dynamics",
            Self::Forward => "an acceleration",
            Self::Jacobian => "the Jacobian of constraints",
            Self::Constraint => "a residual of constraints",
            Self::Energy => "an energy",
            Self::Momentum => "a momentum",
            Self::Derivatives => "a derivative",
        }
    }

    fn width(self, model: &Mechanics) -> usize {
        let shape = model.shape();
        let (n, rows) = (shape.v, shape.rows());
        match self {
            Self::Mass => n * n,
            Self::Force | Self::Inverse => n,
            Self::Forward => n + rows,
            Self::Jacobian => n * rows,
            Self::Constraint => shape.g + rows,
            Self::Energy => 2,
            Self::Momentum => 6,
            Self::Derivatives => 2 * n * n,
        }
    }
}

/// The scratch of one thread for plain numbers: what lanes cannot do, and why a row has no answer.
struct Plain {
    state: State<f64>,
    dynamics: Dynamics<Mechanics>,
    rates: Rates,
    variation: Option<(Variation<Mechanics>, Matrix, Matrix)>,
}

impl Plain {
    fn new(model: &Mechanics, quantity: Quantity, time: f64) -> Self {
        let variation = (quantity == Quantity::Derivatives).then(|| {
            let variation = Variation::new(model);
            let size = variation.size();
            (variation, Matrix::unit(size), Matrix::zeros(size, size))
        });
        Self {
            state: State { t: time, ..model.initial_state() },
            dynamics: Dynamics::new(model),
            rates: Rates::zeros(model.shape()),
            variation,
        }
    }

    /// Accelerations and multipliers under further forces, or derivatives of accelerations.
    fn row(&mut self, model: &Mechanics, given: &[f64], out: &mut [f64]) -> Result<(), String> {
        let (shape, s) = (model.shape(), &self.state);
        let n = shape.v;
        if let Some((variation, columns, rates)) = &mut self.variation {
            // Rows that were dependent in another state are no matter of this one.
            variation.dynamics.parts().saddle.release();
            variation.motion(model, s).map_err(|e| e.to_string())?;
            variation.changes(model, s, columns, rates).map_err(|e| e.to_string())?;
            for i in 0..n {
                for j in 0..n {
                    out[i * n + j] = rates[(n + i, j)];
                    out[(n + i) * n + j] = rates[(n + i, n + j)];
                }
            }
            return Ok(());
        }
        self.dynamics.evaluate(model, s, &mut self.rates).map_err(|e| e.to_string())?;
        let parts = self.dynamics.parts();
        let (force, multipliers) = out.split_at_mut(n);
        model.force(s, parts.work, force);
        for (f, tau) in force.iter_mut().zip(given) {
            *f += tau;
        }
        if shape.rows() == 0 {
            parts.mass.solve(force);
            return Ok(());
        }
        model.constraint_bias(s, parts.work, multipliers);
        multipliers.iter_mut().for_each(|c| *c = -*c);
        parts.saddle.solve_trial(parts.mass, parts.rows, force, multipliers).map_err(|e| e.to_string())
    }
}

/// What constraints need beside four states: they are solved for one after the other.
struct Alone {
    mass: Mass<f64>,
    rows: Rows<f64>,
    saddle: Saddle,
    force: Vec<f64>,
    multipliers: Vec<f64>,
}

impl Alone {
    fn new(model: &Mechanics) -> Self {
        let shape = model.shape();
        let mass = Mass::new(&model.mass_blocks());
        let rows = Rows::new(shape.rows(), shape.v, &model.row_blocks());
        let saddle = Saddle::new(&mass, &rows);
        Self { mass, rows, saddle, force: vec![0.0; shape.v], multipliers: vec![0.0; shape.rows()] }
    }

    /// Turns the forces of one state into accelerations, and the biases of its constraints into multipliers. No answer is not a number.
    fn solve(&mut self, lane: usize, mass: &Mass<Lanes4>, rows: &Rows<Lanes4>, bias: &[Lanes4], out: &mut [Lanes4]) {
        let take = |to: &mut [f64], from: &[Lanes4]| to.iter_mut().zip(from).for_each(|(to, from)| *to = from.0[lane]);
        for i in 0..mass.blocks().count() {
            take(self.mass.block_mut(i), mass.block(i));
        }
        for i in 0..rows.blocks().len() {
            take(self.rows.block_mut(i), rows.block(i));
        }
        take(&mut self.force, out);
        take(&mut self.multipliers, bias);
        self.multipliers.iter_mut().for_each(|c| *c = -*c);
        // Rows that were dependent in another state are no matter of this one.
        self.saddle.release();
        let Self { mass, rows, saddle, force, multipliers } = self;
        let solved = mass.factor_checked().is_ok() && {
            saddle.factor(mass, rows);
            saddle.solve_trial(mass, rows, force, multipliers).is_ok()
        };
        for (out, value) in out.iter_mut().zip(force.iter().chain(multipliers.iter())) {
            out.0[lane] = if solved { *value } else { f64::NAN };
        }
    }
}

/// The scratch of one thread for four states side by side.
struct Side {
    state: State<Lanes4>,
    work: <Mechanics as System>::Work<Lanes4>,
    mass: Mass<Lanes4>,
    rows: Rows<Lanes4>,
    given: Vec<Lanes4>,
    unit: Vec<Lanes4>,
    column: Vec<Lanes4>,
    out: Vec<Lanes4>,
    alone: Option<Alone>,
}

impl Side {
    fn new(model: &Mechanics, quantity: Quantity, time: f64) -> Self {
        let shape = model.shape();
        let mut state = State::zeros(shape);
        state.lift(&State { t: time, ..model.initial_state() });
        let zeros = |n: usize| vec![Lanes4::default(); n];
        Self {
            state,
            work: model.work(),
            mass: Mass::new(&model.mass_blocks()),
            rows: Rows::new(shape.rows(), shape.v, &model.row_blocks()),
            given: zeros(shape.v),
            unit: zeros(shape.v),
            column: zeros(shape.rows()),
            out: zeros(quantity.width(model)),
            alone: (quantity == Quantity::Forward && shape.rows() > 0).then(|| Alone::new(model)),
        }
    }

    /// The quantity of up to four states, written to `out`.
    fn compute(&mut self, model: &Mechanics, quantity: Quantity, count: usize) {
        let Self { state: s, work, mass, rows, given, unit, column, out, alone } = self;
        let (shape, one) = (model.shape(), Lanes4::from(1.0));
        model.prepare(s, work);
        match quantity {
            Quantity::Mass => {
                model.mass(s, work, mass);
                for (k, out) in out.chunks_exact_mut(shape.v).enumerate() {
                    unit[k] = one;
                    mass.apply(unit, out);
                    unit[k] = Lanes4::default();
                }
            }
            Quantity::Force => model.force(s, work, out),
            Quantity::Inverse => {
                model.mass(s, work, mass);
                mass.apply(given, out);
                model.force(s, work, unit);
                for (out, f) in out.iter_mut().zip(unit.iter_mut()) {
                    *out -= *f;
                    *f = Lanes4::default();
                }
            }
            Quantity::Forward | Quantity::Derivatives => {
                model.mass(s, work, mass);
                model.force(s, work, &mut out[..shape.v]);
                for (out, tau) in out.iter_mut().zip(given) {
                    *out += *tau;
                }
                let Some(alone) = alone else {
                    mass.factor();
                    return mass.solve(out);
                };
                model.jacobian(s, work, rows);
                model.constraint_bias(s, work, column);
                (0..count).for_each(|lane| alone.solve(lane, mass, rows, column, out));
            }
            Quantity::Jacobian => {
                model.jacobian(s, work, rows);
                for k in 0..shape.v {
                    unit[k] = one;
                    column.fill(Lanes4::default());
                    rows.add_apply(unit, column);
                    unit[k] = Lanes4::default();
                    for (i, value) in column.iter().enumerate() {
                        out[i * shape.v + k] = *value;
                    }
                }
            }
            Quantity::Constraint => {
                let (position, velocity) = out.split_at_mut(shape.g);
                model.constraint(s, work, position);
                model.constraint_rate(s, work, velocity);
            }
            Quantity::Energy => {
                let ledger = model.ledger(s, work);
                (out[0], out[1]) = (ledger.kinetic, ledger.potential);
            }
            Quantity::Momentum => {
                let momentum = model.momentum(work);
                out[..3].copy_from_slice(&momentum.linear.0);
                out[3..].copy_from_slice(&momentum.angular.0);
            }
        }
    }
}

/// Why a row has no finite answer: in the words of plain numbers.
fn explain(model: &Mechanics, quantity: Quantity, time: f64, [q, v]: [&[f64]; 2], lane: usize) -> Trouble {
    let mut plain = Plain::new(model, Quantity::Forward, time);
    plain.state.q.copy_from_slice(q);
    plain.state.v.copy_from_slice(v);
    let mut out = vec![0.0; Quantity::Forward.width(model)];
    let reason = plain.row(model, &[], &mut out).err();
    let reason = reason.unwrap_or_else(|| format!("{} is not finite", quantity.name()));
    Trouble::Row(lane, reason)
}

/// A table of numbers by rows.
#[derive(Copy, Clone)]
struct Rowed<'a> {
    values: &'a [f64],
    width: usize,
}

impl Rowed<'_> {
    fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.width..(row + 1) * self.width]
    }

    /// Up to four rows side by side; where there are fewer the first stands in for the others.
    fn gather(&self, first: usize, count: usize, out: &mut [Lanes4]) {
        for (i, out) in out.iter_mut().enumerate() {
            let row = |lane: usize| if lane < count { first + lane } else { first };
            *out = Lanes(std::array::from_fn(|lane| self.values[row(lane) * self.width + i]));
        }
    }
}

/// A quantity of a model for every row of a table of states. Without extra states those of the start are taken.
#[pyfunction]
#[pyo3(signature = (model, quantity, q, v, given, x, time, threads))]
pub fn evaluate<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    quantity: &str,
    q: PyReadonlyArray2<'py, f64>,
    v: PyReadonlyArray2<'py, f64>,
    given: PyReadonlyArray2<'py, f64>,
    x: Option<PyReadonlyArray2<'py, f64>>,
    time: f64,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let quantity = Quantity::of(quantity).ok_or_else(|| error::value(format!("there is no quantity `{quantity}`")))?;
    let this = model.get();
    let mechanics = &this.scene.model;
    let (shape, rows) = (mechanics.shape(), q.shape()[0]);
    let fits = |array: &PyReadonlyArray2<'py, f64>, columns: usize| array.shape() == [rows, columns];
    if !(fits(&q, shape.q) && fits(&v, shape.v) && fits(&given, shape.v) && x.as_ref().is_none_or(|x| fits(x, shape.x)))
    {
        return Err(error::value("tables of states have not the numbers of rows and columns that the model asks for"));
    }
    let table = |values, width| Rowed { values, width };
    let (q, v) = (table(q.as_slice()?, shape.q), table(v.as_slice()?, shape.v));
    let given = table(given.as_slice()?, shape.v);
    let x = x.as_ref().map(|x| x.as_slice()).transpose()?.map(|x| table(x, shape.x));
    let width = quantity.width(mechanics);
    let mut out = room(rows, width)?;
    let plain = |work: &mut Plain, row: usize, out: &mut [f64]| {
        work.state.q.copy_from_slice(q.row(row));
        work.state.v.copy_from_slice(v.row(row));
        if let Some(x) = x {
            work.state.x.copy_from_slice(x.row(row));
        }
        let result = work.row(mechanics, given.row(row), out);
        if this.interrupted() {
            return Err(Trouble::Stopped(PyKeyboardInterrupt::new_err(())));
        }
        match this.take_fault() {
            Some(fault) => Err(Trouble::Callback(Box::new(fault))),
            None => result.map_err(Trouble::Equations).and_then(|()| match out.iter().all(|x| x.is_finite()) {
                true => Ok(()),
                false => Err(Trouble::Equations(format!("{} is not finite", quantity.name()))),
            }),
        }
    };
    let result = detached(py, || {
        if quantity == Quantity::Derivatives {
            let alone = || Plain::new(mechanics, quantity, time);
            let Some(beside) = this.beside() else {
                return share(rows, width, 1, threads, &mut out, alone, plain);
            };
            let make = || {
                let start = State { t: time, ..mechanics.initial_state() };
                (beside.work(mechanics), vec![start; LANES], alone())
            };
            return share(rows, width, LANES, threads, &mut out, make, |(work, states, alone), first, out| {
                let count = out.len() / width;
                for (k, state) in states.iter_mut().take(count).enumerate() {
                    state.q.copy_from_slice(q.row(first + k));
                    state.v.copy_from_slice(v.row(first + k));
                    if let Some(x) = x {
                        state.x.copy_from_slice(x.row(first + k));
                    }
                }
                if beside.derivatives(work, mechanics, &states[..count], out).is_ok()
                    && out.iter().all(|x| x.is_finite())
                {
                    return Ok(());
                }
                // Some row has no answer: one by one they say which, and why.
                let each = out.chunks_exact_mut(width).enumerate();
                each.map(|(lane, out)| (lane, plain(alone, first + lane, out))).try_for_each(
                    |(lane, done)| match done {
                        Err(Trouble::Equations(message)) => Err(Trouble::Row(lane, message)),
                        other => other,
                    },
                )
            });
        }
        let make = || Side::new(mechanics, quantity, time);
        share(rows, width, LANES, threads, &mut out, make, |work, first, out| {
            let count = out.len() / width;
            q.gather(first, count, &mut work.state.q);
            v.gather(first, count, &mut work.state.v);
            given.gather(first, count, &mut work.given);
            if let Some(x) = x {
                x.gather(first, count, &mut work.state.x);
            }
            work.compute(mechanics, quantity, count);
            if this.interrupted() {
                return Err(Trouble::Stopped(PyKeyboardInterrupt::new_err(())));
            }
            if let Some(fault) = this.take_fault() {
                return Err(Trouble::Callback(Box::new(fault)));
            }
            for (lane, out) in out.chunks_exact_mut(width).enumerate() {
                for (out, value) in out.iter_mut().zip(&work.out) {
                    *out = value.0[lane];
                }
                if out.iter().any(|x| !x.is_finite()) {
                    return Err(explain(mechanics, quantity, time, [q.row(first + lane), v.row(first + lane)], lane));
                }
            }
            Ok(())
        })
    });
    result.map_err(|failed| raised(py, failed))?;
    shaped(py, rows, &[width], out)
}
