//! Export for NumPy: one two-dimensional array of float64 and a list of channels beside it.
//!
//! `trajectory.npy` has one row for each channel, so `numpy.load("trajectory.npy")[i]` is the column of channel
//! `i` of `channels.json`. It is the NPY format 1.0: magic, version, header as a Python dictionary padded with
//! spaces to a multiple of 64 bytes, then the numbers, little-endian.
//!
//! Reference: NumPy Enhancement Proposal 1, "A Simple File Format for NumPy Arrays".

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use dalembert_methods::trajectory::Trajectory;

use super::{ChannelSummary, RecordError, files};

/// Writes `trajectory.npy` and `channels.json` into a folder that exists.
pub fn export_numpy(folder: &Path, trajectory: &Trajectory) -> Result<(), RecordError> {
    let path = folder.join(files::TRAJECTORY_NPY);
    write_array(&path, trajectory.columns()).map_err(RecordError::io("write", &path))?;
    let channels: Vec<ChannelSummary> = trajectory.channels().iter().map(Into::into).collect();
    let mut text = serde_json::to_string_pretty(&channels).expect("a list of texts is always valid JSON");
    text.push('\n');
    let path = folder.join(files::CHANNELS);
    fs::write(&path, text).map_err(RecordError::io("write", &path))
}

fn write_array(path: &Path, columns: &[Vec<f64>]) -> std::io::Result<()> {
    let (rows, length) = (columns.len(), columns.first().map_or(0, Vec::len));
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({rows}, {length}), }}");
    // Magic, version and length take 10 bytes; the line end closes the header.
    let padding = (64 - (10 + header.len() + 1) % 64) % 64;
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    let mut out = BufWriter::new(File::create(path)?);
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&(header.len() as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())?;
    for value in columns.iter().flatten() {
        out.write_all(&value.to_le_bytes())?;
    }
    out.into_inner()?.sync_all()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use dalembert_methods::trajectory::Channel;

    #[test]
    fn the_array_lies_where_numpy_looks_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut trajectory = Trajectory::new(vec![Channel::time(), Channel::new("x", "m", "world")]).unwrap();
        trajectory.push(&[0.0, 1.5]);
        trajectory.push(&[1.0, -2.5]);
        trajectory.push(&[2.0, f64::NAN]);
        export_numpy(folder.path(), &trajectory).unwrap();
        let bytes = fs::read(folder.path().join(files::TRAJECTORY_NPY)).unwrap();
        let data = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        assert_eq!(data % 64, 0);
        assert!(std::str::from_utf8(&bytes[10..data]).unwrap().contains("'shape': (2, 3)"));
        assert_eq!(bytes[data - 1], b'\n');
        let (words, rest) = bytes[data..].as_chunks::<8>();
        assert!(rest.is_empty());
        let bits: Vec<u64> = words.iter().map(|w| u64::from_le_bytes(*w)).collect();
        let expected: Vec<u64> = trajectory.columns().iter().flatten().map(|x| x.to_bits()).collect();
        assert_eq!(bits, expected);
        let text = fs::read_to_string(folder.path().join(files::CHANNELS)).unwrap();
        let channels: Vec<ChannelSummary> = serde_json::from_str(&text).unwrap();
        assert_eq!(channels[1].unit, "m");
    }
}
