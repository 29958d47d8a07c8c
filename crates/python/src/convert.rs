//! Trees of values between Python and scenes: dictionaries are tables, lists are arrays.

use crate::error;
use dalembert::scene::{Key, Node, Span, Table, Value};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyDict, PyFloat, PyInt, PyList, PyMapping, PySequence, PyString};
use std::sync::Arc;

/// Values from Python have no place in a file.
const NOWHERE: Span = Span { file: 0, start: 0, end: 0 };

/// Trees deeper than this are refused, as scenes refuse them.
const DEEPEST: usize = 64;

/// A table as a dictionary.
pub fn to_python<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    for (key, node) in table.iter() {
        out.set_item(&*key.name, value_to_python(py, node)?)?;
    }
    Ok(out)
}

fn value_to_python<'py>(py: Python<'py>, node: &Node) -> PyResult<Bound<'py, PyAny>> {
    Ok(match &node.value {
        Value::Boolean(value) => PyBool::new(py, *value).to_owned().into_any(),
        Value::Integer(value) => value.into_pyobject(py)?.into_any(),
        Value::Float(value) => PyFloat::new(py, *value).into_any(),
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(items) => {
            let items = items.iter().map(|item| value_to_python(py, item)).collect::<PyResult<Vec<_>>>()?;
            PyList::new(py, items)?.into_any()
        }
        Value::Table(table) => to_python(py, table)?.into_any(),
    })
}

/// A dictionary as a table.
pub fn from_python(tree: &Bound<'_, PyAny>) -> PyResult<Table> {
    table(tree, "the scene", 0)
}

fn table(value: &Bound<'_, PyAny>, path: &str, depth: usize) -> PyResult<Table> {
    let mapping = value
        .cast::<PyMapping>()
        .map_err(|_| error::kind(format!("{path} must be a dictionary, not {}", kind(value))))?;
    let mut out = Table::default();
    for pair in mapping.items()?.iter() {
        let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
        let name: String =
            key.extract().map_err(|_| error::kind(format!("keys of {path} must be text, not {}", kind(&key))))?;
        let inner = if depth == 0 { name.clone() } else { format!("{path}.{name}") };
        let node = node(&value, &inner, depth + 1)?;
        out.insert(Key { name: Arc::from(name), span: NOWHERE }, node);
    }
    Ok(out)
}

fn node(value: &Bound<'_, PyAny>, path: &str, depth: usize) -> PyResult<Node> {
    if depth > DEEPEST {
        return Err(error::value(format!("{path}: values are nested more than {DEEPEST} deep")));
    }
    let value = if value.is_instance_of::<PyBool>() {
        Value::Boolean(value.extract()?)
    } else if value.is_instance_of::<PyInt>() {
        let whole: i64 = value
            .extract()
            .map_err(|_| error::value(format!("{path}: the whole number {value} does not fit into 64 bits")))?;
        Value::Integer(whole)
    } else if value.is_instance_of::<PyFloat>() {
        Value::Float(value.extract()?)
    } else if value.is_instance_of::<PyString>() {
        Value::String(value.extract()?)
    } else if value.cast::<PyMapping>().is_ok() {
        Value::Table(table(value, path, depth)?)
    } else if value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>() {
        return Err(error::kind(format!("{path}: a scene cannot hold {}; decode it to text first", kind(value))));
    } else if value.cast::<PySequence>().is_ok() {
        let items = value.try_iter()?.enumerate();
        Value::Array(items.map(|(i, item)| node(&item?, &format!("{path}[{i}]"), depth + 1)).collect::<PyResult<_>>()?)
    } else if let Ok(plain) = value.call_method0("tolist") {
        // Arrays and numbers of NumPy; what `tolist` gives is plain.
        if plain.is_instance(&value.get_type())? {
            return Err(error::kind(format!("{path}: a scene cannot hold {}", kind(value))));
        }
        return node(&plain, path, depth + 1);
    } else {
        return Err(error::kind(format!(
            "{path}: a scene cannot hold {}; it holds numbers, texts, true and false, lists and dictionaries",
            kind(value)
        )));
    };
    Ok(Node::new(value, NOWHERE))
}

fn kind(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "this".to_owned(), |name| format!("a value of type {name}"))
}
