//! The trajectory as a Parquet file: one column of doubles for each channel.
//!
//! Columns are required (no missing values), plainly encoded and compressed with Snappy, which every reader knows.
//! Names stand as they are, dots included. The list of channels with units and frames is JSON under the key
//! `dalembert.channels` of the file's metadata. The same trajectory gives the same bytes.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use dalembert_methods::trajectory::{Channel, Trajectory};
use parquet::basic::{Compression, Encoding, Repetition, Type as Physical};
use parquet::column::reader::ColumnReader;
use parquet::data_type::DoubleType;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type;

use super::{ChannelSummary, RecordError};

const KEY: &str = "dalembert.channels";
/// Rows in one group: large enough to read fast, small enough to hold in memory.
const GROUP: usize = 1 << 20;

/// Writes the trajectory in Parquet.
pub fn write_parquet<W: Write + Send>(out: W, trajectory: &Trajectory) -> Result<(), ParquetError> {
    let leaf = |channel: &Channel| {
        let leaf = Type::primitive_type_builder(&channel.name, Physical::DOUBLE);
        Ok(Arc::new(leaf.with_repetition(Repetition::REQUIRED).build()?))
    };
    let leaves = trajectory.channels().iter().map(leaf).collect::<Result<Vec<_>, ParquetError>>()?;
    let schema = Arc::new(Type::group_type_builder("trajectory").with_fields(leaves).build()?);
    let channels: Vec<ChannelSummary> = trajectory.channels().iter().map(Into::into).collect();
    let channels = serde_json::to_string(&channels).expect("a list of texts is always valid JSON");
    let properties = WriterProperties::builder()
        .set_created_by(format!("dalembert {}", env!("CARGO_PKG_VERSION")))
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::PLAIN)
        .set_key_value_metadata(Some(vec![KeyValue::new(KEY.to_owned(), channels)]))
        .build();
    let mut writer = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    for start in (0..trajectory.len()).step_by(GROUP) {
        let end = trajectory.len().min(start + GROUP);
        let mut group = writer.next_row_group()?;
        for column in trajectory.columns() {
            let mut place = group.next_column()?.expect("the schema has one column for each channel");
            place.typed::<DoubleType>().write_batch(&column[start..end], None, None)?;
            place.close()?;
        }
        group.close()?;
    }
    writer.close()?;
    Ok(())
}

/// Reads the trajectory back from Parquet.
pub fn read_parquet(path: &Path) -> Result<Trajectory, RecordError> {
    let file = File::open(path).map_err(RecordError::io("read", path))?;
    let damaged = |error: ParquetError| RecordError::malformed(path, 0, error.to_string());
    let foreign = |reason: &str| RecordError::malformed(path, 0, reason);
    let reader = SerializedFileReader::new(file).map_err(damaged)?;
    let metadata = reader.metadata().file_metadata();
    let pairs = metadata.key_value_metadata().map_or(&[][..], Vec::as_slice);
    let text = pairs.iter().find(|pair| pair.key == KEY).and_then(|pair| pair.value.as_deref());
    let text = text.ok_or_else(|| foreign("its metadata has no list of channels, so dalembert did not write it"))?;
    let channels: Vec<ChannelSummary> =
        serde_json::from_str(text).map_err(|error| foreign(&format!("its list of channels: {error}")))?;
    let channels: Vec<Channel> = channels.into_iter().map(Into::into).collect();
    let mut columns = vec![Vec::new(); channels.len()];
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).map_err(damaged)?;
        let rows = usize::try_from(group.metadata().num_rows()).unwrap_or(0);
        if group.num_columns() != columns.len() {
            return Err(foreign("it has more or fewer columns than channels"));
        }
        for (index, column) in columns.iter_mut().enumerate() {
            let ColumnReader::DoubleColumnReader(mut source) = group.get_column_reader(index).map_err(damaged)? else {
                return Err(foreign(&format!("column {index} does not hold doubles")));
            };
            let expected = column.len() + rows;
            while column.len() < expected {
                let missing = expected - column.len();
                let (_, found, _) = source.read_records(missing, None, None, column).map_err(damaged)?;
                if found == 0 {
                    break;
                }
            }
        }
    }
    Trajectory::from_columns(channels, columns).map_err(|error| RecordError::table(path, &error))
}
