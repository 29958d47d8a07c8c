//! Functions of a model on tables of states: many states in one call, without the interpreter, on as many threads as are wanted.
//!
//! Rows are shared out in pieces that follow each other, and every row is computed by itself, so the bits do not depend on the number of threads.

use crate::error;
use crate::model::{Fault, Model};
use dalembert::methods::algebra::Rows;
use dalembert::methods::dynamics::{Dynamics, Rates};
use dalembert::methods::{State, System};
use dalembert_analysis::Matrix;
use dalembert_analysis::variation::Variation;
use numpy::{PyArray1, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

/// Why a row has no answer.
pub enum Trouble {
    /// The equations have none.
    Equations(String),
    /// A callback failed.
    Callback(Box<Fault>),
}

/// A trouble with the number of its row.
type Failed = (usize, Trouble);

/// Turns the first trouble into an exception.
pub fn raised(py: Python<'_>, (row, trouble): Failed) -> PyErr {
    match trouble {
        Trouble::Equations(message) => error::plain(py, "EvaluationError", format!("row {row}: {message}")),
        Trouble::Callback(fault) => fault.into_exception(py),
    }
}

/// Fills `out`, `width` numbers for each row, in groups of rows: `group` is how many are computed together.
pub fn share<W>(
    rows: usize,
    width: usize,
    group: usize,
    threads: usize,
    out: &mut [f64],
    make: impl Fn() -> W + Sync,
    compute: impl Fn(&mut W, usize, &mut [f64]) -> Result<(), Trouble> + Sync,
) -> Result<(), Failed> {
    let piece = |first: usize, out: &mut [f64]| {
        let mut work = make();
        for (k, out) in out.chunks_mut(group * width).enumerate() {
            let row = first + k * group;
            compute(&mut work, row, out).map_err(|trouble| (row, trouble))?;
        }
        Ok(())
    };
    let groups = rows.div_ceil(group);
    let threads = threads.clamp(1, groups.max(1));
    if threads == 1 || width == 0 {
        return piece(0, out);
    }
    let length = groups.div_ceil(threads) * group;
    let mut results: Vec<Result<(), Failed>> = Vec::new();
    std::thread::scope(|scope| {
        let piece = &piece;
        let pieces = out.chunks_mut(length * width).enumerate();
        let handles: Vec<_> = pieces.map(|(k, out)| scope.spawn(move || piece(k * length, out))).collect();
        for handle in handles {
            let lost = || Err((0, Trouble::Equations("a thread ended before its time".to_owned())));
            results.push(handle.join().unwrap_or_else(|_| lost()));
        }
    });
    results.into_iter().collect()
}

/// An array of rows of some shape.
pub fn shaped<'py>(py: Python<'py>, rows: usize, shape: &[usize], values: Vec<f64>) -> PyResult<Bound<'py, PyAny>> {
    let mut whole = vec![rows];
    whole.extend_from_slice(shape);
    Ok(PyArray1::from_vec(py, values).reshape(whole)?.into_any())
}

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

    fn width(self, model: &dalembert::model::Model) -> usize {
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

/// The scratch of one thread.
struct Work {
    state: State<f64>,
    dynamics: Dynamics<dalembert::model::Model>,
    rates: Rates,
    force: Vec<f64>,
    product: Vec<f64>,
    unit: Vec<f64>,
    multipliers: Vec<f64>,
    variation: Option<(Variation<dalembert::model::Model>, Matrix, Matrix)>,
}

impl Work {
    fn new(model: &dalembert::model::Model, quantity: Quantity, time: f64) -> Self {
        let shape = model.shape();
        let zeros = || vec![0.0; shape.v];
        let variation = (quantity == Quantity::Derivatives).then(|| {
            let variation = Variation::new(model);
            let size = variation.size();
            (variation, Matrix::unit(size), Matrix::zeros(size, size))
        });
        Self {
            state: State { t: time, ..model.initial_state() },
            dynamics: Dynamics::new(model),
            rates: Rates::zeros(shape),
            force: zeros(),
            product: zeros(),
            unit: zeros(),
            multipliers: vec![0.0; shape.rows()],
            variation,
        }
    }

    /// One row; `given` are accelerations or forces.
    fn row(
        &mut self,
        model: &dalembert::model::Model,
        quantity: Quantity,
        given: &[f64],
        out: &mut [f64],
    ) -> Result<(), String> {
        let (shape, s) = (model.shape(), &self.state);
        let n = shape.v;
        let said = |error: &dyn std::fmt::Display| error.to_string();
        if let Some((variation, columns, rates)) = &mut self.variation {
            variation.motion(model, s).map_err(|e| said(&e))?;
            variation.changes(model, s, columns, rates).map_err(|e| said(&e))?;
            for i in 0..n {
                for j in 0..n {
                    out[i * n + j] = rates[(n + i, j)];
                    out[(n + i) * n + j] = rates[(n + i, n + j)];
                }
            }
            return Ok(());
        }
        self.dynamics.evaluate(model, s, &mut self.rates).map_err(|e| said(&e))?;
        let parts = self.dynamics.parts();
        model.force(s, parts.work, &mut self.force);
        match quantity {
            Quantity::Mass => {
                for (k, out) in out.chunks_exact_mut(n).enumerate() {
                    self.unit[k] = 1.0;
                    parts.mass.apply(&self.unit, out);
                    self.unit[k] = 0.0;
                }
            }
            Quantity::Force => out.copy_from_slice(&self.force),
            Quantity::Inverse => {
                parts.mass.apply(given, &mut self.product);
                for ((out, m), f) in out.iter_mut().zip(&self.product).zip(&self.force) {
                    *out = m - f;
                }
            }
            Quantity::Forward => {
                for (f, tau) in self.force.iter_mut().zip(given) {
                    *f += tau;
                }
                if shape.rows() == 0 {
                    parts.mass.solve(&mut self.force);
                } else {
                    model.constraint_bias(s, parts.work, &mut self.multipliers);
                    self.multipliers.iter_mut().for_each(|c| *c = -*c);
                    let solved =
                        parts.saddle.solve_trial(parts.mass, parts.rows, &mut self.force, &mut self.multipliers);
                    solved.map_err(|e| said(&e))?;
                }
                out[..n].copy_from_slice(&self.force);
                out[n..].copy_from_slice(&self.multipliers);
            }
            Quantity::Jacobian => dense(parts.rows, shape.rows(), &mut self.unit, &mut self.multipliers, out),
            Quantity::Constraint => {
                let (position, velocity) = out.split_at_mut(shape.g);
                model.constraint(s, parts.work, position);
                model.constraint_rate(s, parts.work, velocity);
            }
            Quantity::Energy => {
                let ledger = model.ledger(s, parts.work);
                out.copy_from_slice(&[ledger.kinetic, ledger.potential]);
            }
            Quantity::Momentum | Quantity::Derivatives => {
                let momentum = model.momentum(parts.work);
                out[..3].copy_from_slice(&momentum.linear.0);
                out[3..].copy_from_slice(&momentum.angular.0);
            }
        }
        Ok(())
    }
}

/// All entries of constraint rows, by rows.
fn dense(rows: &Rows<f64>, count: usize, unit: &mut [f64], column: &mut [f64], out: &mut [f64]) {
    let n = unit.len();
    for k in 0..n {
        unit[k] = 1.0;
        column.fill(0.0);
        rows.add_apply(unit, column);
        unit[k] = 0.0;
        for i in 0..count {
            out[i * n + k] = column[i];
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
    let (q, v, given) = (q.as_slice()?, v.as_slice()?, given.as_slice()?);
    let x = x.as_ref().map(|x| x.as_slice()).transpose()?;
    let width = quantity.width(mechanics);
    let mut out = vec![0.0; rows * width];
    let result = py.detach(|| {
        share(
            rows,
            width,
            1,
            threads,
            &mut out,
            || Work::new(mechanics, quantity, time),
            |work, row, out| {
                let part = |all: &[f64], n: usize| all[row * n..(row + 1) * n].to_vec();
                work.state.q.copy_from_slice(&q[row * shape.q..(row + 1) * shape.q]);
                work.state.v.copy_from_slice(&v[row * shape.v..(row + 1) * shape.v]);
                if let Some(x) = x {
                    work.state.x.copy_from_slice(&x[row * shape.x..(row + 1) * shape.x]);
                }
                let result = work.row(mechanics, quantity, &part(given, shape.v), out);
                match this.take_fault() {
                    Some(fault) => Err(Trouble::Callback(Box::new(fault))),
                    None => result.map_err(Trouble::Equations),
                }
            },
        )
    });
    result.map_err(|failed| raised(py, failed))?;
    shaped(py, rows, &[width], out)
}
