//! Results on their way to Python: numbers, texts and arrays by name.

use dalembert::methods::State;
use dalembert::methods::algebra::Complex;
use dalembert_analysis::dense::Matrix;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// One result.
pub enum Item {
    Text(String),
    Texts(Vec<String>),
    Number(f64),
    Count(usize),
    Flag(bool),
    Flags(Vec<bool>),
    Numbers(Vec<f64>),
    Complexes(Vec<Complex>),
    Matrix(Matrix),
    /// Numbers in an array of any shape.
    Array(Vec<usize>, Vec<f64>),
    /// Complex numbers in an array of any shape.
    ComplexArray(Vec<usize>, Vec<Complex>),
    /// A list of dictionaries.
    Rows(Vec<Items>),
}

/// Results by name.
pub type Items = Vec<(&'static str, Item)>;

/// A complex array: pairs of real and imaginary parts are seen as complex numbers.
fn complexes<'py>(py: Python<'py>, values: &[Complex]) -> PyResult<Bound<'py, PyAny>> {
    let pairs: Vec<f64> = values.iter().flat_map(|z| [z.re, z.im]).collect();
    PyArray1::from_vec(py, pairs).call_method1("view", ("complex128",))
}

/// The dictionary of results.
pub fn to_python<'py>(py: Python<'py>, items: Items) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    for (name, item) in items {
        match item {
            Item::Text(text) => out.set_item(name, text),
            Item::Texts(texts) => out.set_item(name, texts),
            Item::Number(x) => out.set_item(name, x),
            Item::Count(n) => out.set_item(name, n),
            Item::Flag(yes) => out.set_item(name, yes),
            Item::Flags(flags) => out.set_item(name, PyArray1::from_vec(py, flags)),
            Item::Numbers(values) => out.set_item(name, PyArray1::from_vec(py, values)),
            Item::Complexes(values) => out.set_item(name, complexes(py, &values)?),
            Item::Matrix(matrix) => {
                let shape = [matrix.rows(), matrix.cols()];
                out.set_item(name, PyArray1::from_slice(py, matrix.values()).reshape(shape)?)
            }
            Item::Array(shape, values) => {
                out.set_item(name, PyArray1::from_vec(py, values).call_method1("reshape", (shape,))?)
            }
            Item::ComplexArray(shape, values) => {
                out.set_item(name, complexes(py, &values)?.call_method1("reshape", (shape,))?)
            }
            Item::Rows(rows) => {
                let rows = rows.into_iter().map(|row| to_python(py, row)).collect::<PyResult<Vec<_>>>()?;
                out.set_item(name, PyList::new(py, rows)?)
            }
        }?;
    }
    Ok(out)
}

/// Coordinates, velocities and extra states.
pub fn state_items(state: &State<f64>) -> Items {
    vec![
        ("q", Item::Numbers(state.q.clone())),
        ("v", Item::Numbers(state.v.clone())),
        ("x", Item::Numbers(state.x.clone())),
    ]
}

/// Rows of equal length as a matrix.
pub fn matrix(rows: &[Vec<f64>], columns: usize) -> Item {
    Item::Matrix(Matrix::from_rows(rows.len(), columns, rows.concat()))
}
