//! The options of a study, by the names that the command line has for them.
//!
//! Where the command line reads `NAME=VALUE`, Python gives a dictionary; where an option may be repeated, a list, or one text for a single one.

use crate::error;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// The most steps, points or places that a study may have: their results are held in memory.
const MOST: usize = 10_000_000;

/// The options of a study; what is asked for and not there is an error, and so is what is there and unknown.
pub struct Choice<'a, 'py>(pub &'a Bound<'py, PyDict>);

impl<'py> Choice<'_, 'py> {
    /// What is given, of any type.
    pub fn given(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.0.get_item(name)?.filter(|value| !value.is_none()))
    }

    /// An option of any type.
    pub fn find<T: for<'a> FromPyObject<'a, 'py, Error = PyErr>>(&self, name: &str) -> PyResult<Option<T>> {
        let Some(value) = self.given(name)? else { return Ok(None) };
        value.extract().map(Some).map_err(|error| wrong(name, &error))
    }

    /// A finite number, if there is one.
    pub fn maybe(&self, name: &str) -> PyResult<Option<f64>> {
        self.find(name)?.map(|value| finite(name, value)).transpose()
    }

    /// A finite number that is needed unless there is a default.
    pub fn number(&self, name: &str, default: Option<f64>) -> PyResult<f64> {
        self.maybe(name)?.or(default).ok_or_else(|| missing(name))
    }

    /// A finite number above zero.
    pub fn positive(&self, name: &str, default: Option<f64>) -> PyResult<f64> {
        let value = self.number(name, default)?;
        if value > 0.0 {
            Ok(value)
        } else {
            Err(error::value(format!("option `{name}` is {value}; it must be positive")))
        }
    }

    /// A whole number that is not negative.
    pub fn count(&self, name: &str, default: usize) -> PyResult<usize> {
        let count = self.find(name)?.unwrap_or(default);
        few(name, count)?;
        Ok(count)
    }

    /// Yes or no.
    pub fn flag(&self, name: &str) -> PyResult<bool> {
        Ok(self.find(name)?.unwrap_or(false))
    }

    /// A text that is needed.
    pub fn text(&self, name: &str) -> PyResult<String> {
        self.find(name)?.ok_or_else(|| missing(name))
    }

    /// One text or a list of them.
    pub fn texts(&self, name: &str) -> PyResult<Vec<String>> {
        let Some(value) = self.given(name)? else { return Ok(Vec::new()) };
        if value.is_instance_of::<PyString>() {
            return Ok(vec![value.extract()?]);
        }
        value.extract().map_err(|error| wrong(name, &error))
    }

    /// Whether an option is one text, and no list.
    pub fn single(&self, name: &str) -> PyResult<bool> {
        Ok(self.given(name)?.is_some_and(|value| value.is_instance_of::<PyString>()))
    }

    /// A dictionary in its own order.
    pub fn pairs<T: for<'a> FromPyObject<'a, 'py, Error = PyErr>>(&self, name: &str) -> PyResult<Vec<(String, T)>> {
        let Some(value) = self.given(name)? else { return Ok(Vec::new()) };
        let table = value.cast::<PyDict>().map_err(|_| {
            error::value(format!("option `{name}` must be a dictionary {{name: value}}, not {}", value.get_type()))
        })?;
        table
            .iter()
            .map(|(key, value)| Ok((key.extract()?, value.extract::<T>()?)))
            .collect::<PyResult<_>>()
            .map_err(|error| wrong(name, &error))
    }

    /// Names with ranges: `{"parameters.a": (0, 4)}`.
    pub fn ranges(&self, name: &str) -> PyResult<Vec<(String, [f64; 2])>> {
        let found: Vec<(String, (f64, f64))> = self.pairs(name)?;
        found.into_iter().map(|(key, (a, b))| Ok((key, [finite(name, a)?, finite(name, b)?]))).collect()
    }

    /// A number, or a formula of some names, as text.
    pub fn formula(&self, name: &str) -> PyResult<Option<String>> {
        let Some(value) = self.given(name)? else { return Ok(None) };
        if value.is_instance_of::<PyString>() {
            return Ok(Some(value.extract()?));
        }
        Ok(Some(format!("{:?}", self.number(name, None)?)))
    }

    /// Whether there is such an option.
    pub fn has(&self, name: &str) -> PyResult<bool> {
        Ok(self.given(name)?.is_some())
    }

    /// Refuses options with other names.
    pub fn only(&self, known: &[&str]) -> PyResult<()> {
        for key in self.0.keys() {
            let key: String = key.extract()?;
            if !known.contains(&key.as_str()) {
                let known = known.join(", ");
                return Err(error::value(format!("this study has no option `{key}`; it takes {known}")));
            }
        }
        Ok(())
    }
}

/// Refuses more than results can have.
pub fn few(what: &str, count: usize) -> PyResult<()> {
    if count <= MOST {
        return Ok(());
    }
    Err(error::value(format!("option `{what}` makes {count} of them; the most are {MOST}")))
}

fn wrong(name: &str, error: &PyErr) -> PyErr {
    error::value(format!("option `{name}`: {error}"))
}

/// An option that is not there.
pub fn missing(name: &str) -> PyErr {
    error::value(format!("this study needs the option `{name}`"))
}

fn finite(name: &str, value: f64) -> PyResult<f64> {
    if value.is_finite() { Ok(value) } else { Err(error::value(format!("option `{name}` is {value}"))) }
}
