//! The results as one Parquet table: a line for each finished row, in their order.
//!
//! Columns are `row`, `seed`, the varied entries under their paths (numbers, or texts where any value is one), the outputs (numbers or lists; missing
//! where there was nothing to take, or the row failed) and `error` (missing where it did not). The same rows give the same bytes.

use crate::error::SweepError;
use crate::journal::Outcome;
use crate::plan::Value;
use crate::study::Study;
use parquet::basic::{Compression, ConvertedType, Encoding, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
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
    /// Lists of numbers; none where there is nothing.
    List(Vec<Option<Vec<f64>>>),
}

/// Writes the table to a file, which appears whole or not at all.
pub fn write(path: &Path, study: &Study, rows: &BTreeMap<u64, Outcome>) -> Result<(), SweepError> {
    let beside = path.with_extension("parquet.part");
    let written = File::create(&beside).and_then(|file| {
        write_to(&file, study, rows).map_err(said_by_system)?;
        file.sync_all()
    });
    written.and_then(|()| std::fs::rename(&beside, path)).map_err(|error| {
        // The first error is the one to tell; a draft that cannot be removed does no harm.
        let _ = std::fs::remove_file(&beside);
        SweepError::unwritten(path, &error)
    })
}

/// The system's own error inside one of Parquet's, so that a full disk is called a full disk.
fn said_by_system(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(source) => source.downcast().map_or_else(io::Error::other, |source| *source),
        other => io::Error::other(other),
    }
}

/// Writes the table.
pub fn write_to<W: Write + Send>(out: W, study: &Study, rows: &BTreeMap<u64, Outcome>) -> Result<(), ParquetError> {
    let columns = columns(study, rows);
    let leaf = |(name, column): &(String, Column)| {
        let (physical, logical, repetition) = match column {
            Column::Whole(_) => (Physical::INT64, None, Repetition::REQUIRED),
            Column::Number(_) => (Physical::DOUBLE, None, Repetition::OPTIONAL),
            Column::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::OPTIONAL),
            Column::List(_) => return list(name),
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

/// The type of a list of numbers, as all readers know it: optional group (LIST) of a repeated group `list` of `element`.
fn list(name: &str) -> Result<Arc<Type>, ParquetError> {
    let element =
        Type::primitive_type_builder("element", Physical::DOUBLE).with_repetition(Repetition::REQUIRED).build()?;
    let repeated = Type::group_type_builder("list").with_repetition(Repetition::REPEATED);
    let repeated = repeated.with_fields(vec![Arc::new(element)]).build()?;
    let whole = Type::group_type_builder(name).with_repetition(Repetition::OPTIONAL);
    let whole = whole.with_logical_type(Some(LogicalType::List)).with_converted_type(ConvertedType::LIST);
    Ok(Arc::new(whole.with_fields(vec![Arc::new(repeated)]).build()?))
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
        Column::List(values) => {
            // Level 0: no list, 1: an empty one, 2: a number; repeated after the first number of each.
            let (mut there, mut levels, mut repeats) = (Vec::new(), Vec::new(), Vec::new());
            for row in &values[range] {
                let all = row.as_deref().unwrap_or_default();
                if all.is_empty() {
                    levels.push(i16::from(row.is_some()));
                    repeats.push(0);
                }
                for (k, x) in all.iter().enumerate() {
                    there.push(*x);
                    levels.push(2);
                    repeats.push(i16::from(k > 0));
                }
            }
            place.typed::<DoubleType>().write_batch(&there, Some(&levels), Some(&repeats))?;
        }
    }
    place.close()
}

/// The columns of the table with their names.
pub fn columns<'r>(study: &Study, rows: &'r BTreeMap<u64, Outcome>) -> Vec<(String, Column)> {
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
        let taken = |outcome: &'r Outcome| match outcome {
            Outcome::Done(values) => values.get(k),
            Outcome::Failed(_) => None,
        };
        let column = if output.lists() {
            Column::List(rows.values().map(|row| taken(row)?.all().map(<[f64]>::to_vec)).collect())
        } else {
            Column::Number(rows.values().map(|row| taken(row)?.number()).collect())
        };
        columns.push((output.name.clone(), column));
    }
    let error = |outcome: &Outcome| match outcome {
        Outcome::Done(_) => None,
        Outcome::Failed(reason) => Some(reason.clone()),
    };
    columns.push(("error".to_owned(), Column::Text(rows.values().map(error).collect())));
    columns
}
