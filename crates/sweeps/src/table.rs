//! The results as one Parquet table: a line for each finished row, in their order.
//!
//! Columns are `row`, `seed`, the varied entries under their paths (numbers, or texts where any value is one), the outputs (missing
//! where there was nothing to take, or the row failed) and `error` (missing where it did not). The same rows give the same bytes.

use crate::error::SweepError;
use crate::journal::Outcome;
use crate::plan::Value;
use crate::study::Study;
use parquet::basic::{Compression, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Rows in one group.
const GROUP: usize = 1 << 20;

/// A column, row by row.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Whole numbers.
    Whole(Vec<i64>),
    /// Numbers; none where there is nothing.
    Number(Vec<Option<f64>>),
    /// Texts; none where there is nothing.
    Text(Vec<Option<String>>),
}

/// Writes the table to a file, which appears whole or not at all.
pub fn write(path: &Path, study: &Study, rows: &BTreeMap<u64, Outcome>) -> Result<(), SweepError> {
    let beside = path.with_extension("parquet.part");
    let fault = |e: String| SweepError::file(path, e);
    let file = File::create(&beside).map_err(|e| fault(e.to_string()))?;
    write_to(file, study, rows).map_err(|e| fault(e.to_string()))?;
    std::fs::rename(&beside, path).map_err(|e| fault(e.to_string()))
}

/// Writes the table.
pub fn write_to<W: Write + Send>(out: W, study: &Study, rows: &BTreeMap<u64, Outcome>) -> Result<(), ParquetError> {
    let columns = columns(study, rows);
    let leaf = |(name, column): &(String, Column)| {
        let (physical, logical, repetition) = match column {
            Column::Whole(_) => (Physical::INT64, None, Repetition::REQUIRED),
            Column::Number(_) => (Physical::DOUBLE, None, Repetition::OPTIONAL),
            Column::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::OPTIONAL),
        };
        let leaf = Type::primitive_type_builder(name, physical).with_repetition(repetition);
        Ok(Arc::new(leaf.with_logical_type(logical).build()?))
    };
    let leaves = columns.iter().map(leaf).collect::<Result<Vec<_>, ParquetError>>()?;
    let schema = Arc::new(Type::group_type_builder("sweep").with_fields(leaves).build()?);
    let properties = WriterProperties::builder()
        .set_created_by(format!("dalembert {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::PLAIN)
        .build();
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    for start in (0..rows.len()).step_by(GROUP) {
        let end = rows.len().min(start + GROUP);
        let mut group = writer.next_row_group()?;
        for (_, column) in &columns {
            put(&mut group, column, start..end)?;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

fn put<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    column: &Column,
    range: std::ops::Range<usize>,
) -> Result<(), ParquetError> {
    let mut place = group.next_column()?.expect("the schema has this column");
    match column {
        Column::Whole(values) => {
            place.typed::<Int64Type>().write_batch(&values[range], None, None)?;
        }
        Column::Number(values) => {
            let levels: Vec<i16> = values[range.clone()].iter().map(|x| i16::from(x.is_some())).collect();
            let there: Vec<f64> = values[range].iter().copied().flatten().collect();
            place.typed::<DoubleType>().write_batch(&there, Some(&levels), None)?;
        }
        Column::Text(values) => {
            let levels: Vec<i16> = values[range.clone()].iter().map(|x| i16::from(x.is_some())).collect();
            let there: Vec<ByteArray> = values[range].iter().flatten().map(|x| x.as_str().into()).collect();
            place.typed::<ByteArrayType>().write_batch(&there, Some(&levels), None)?;
        }
    }
    place.close()
}

/// The columns of the table with their names.
pub fn columns(study: &Study, rows: &BTreeMap<u64, Outcome>) -> Vec<(String, Column)> {
    let plan = &study.plan;
    let mut columns = vec![
        ("row".to_owned(), Column::Whole(rows.keys().map(|row| *row as i64).collect())),
        ("seed".to_owned(), Column::Whole(rows.keys().map(|row| plan.seed(*row) as i64).collect())),
    ];
    let values: Vec<Vec<Value>> = rows.keys().map(|row| plan.values(*row)).collect();
    for (k, name) in plan.names().into_iter().enumerate() {
        let number = |row: &Vec<Value>| match &row[k] {
            Value::Number(x) => Some(*x),
            _ => None,
        };
        let column = if values.iter().all(|row| number(row).is_some()) {
            Column::Number(values.iter().map(number).collect())
        } else {
            let text = |row: &Vec<Value>| match &row[k] {
                Value::Number(x) => format!("{x:?}"),
                Value::Truth(x) => x.to_string(),
                Value::Text(x) => x.clone(),
            };
            Column::Text(values.iter().map(|row| Some(text(row))).collect())
        };
        columns.push((name, column));
    }
    for (k, output) in study.outputs.iter().enumerate() {
        let value = |outcome: &Outcome| match outcome {
            Outcome::Done(values) => values.get(k).copied().flatten(),
            Outcome::Failed(_) => None,
        };
        columns.push((output.name.clone(), Column::Number(rows.values().map(value).collect())));
    }
    let error = |outcome: &Outcome| match outcome {
        Outcome::Done(_) => None,
        Outcome::Failed(reason) => Some(reason.clone()),
    };
    columns.push(("error".to_owned(), Column::Text(rows.values().map(error).collect())));
    columns
}
