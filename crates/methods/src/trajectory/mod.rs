//! Trajectories: what a run leaves behind, as columns of numbers with names, units and frames.
//!
//! A [`Trajectory`] is a table. Its first column is time, every other column is one [`Channel`].
//! Columns are contiguous, so a plot, a file or a NumPy array reads them without copying.
//! An [`Event`] is something that happened at one instant: a contact, a limit reached, a switch.

mod channel;
mod event;

pub use channel::Channel;
pub use event::Event;

use std::fmt;

/// A table of recorded numbers: time first, then one column for each channel.
///
/// All columns always have the same length.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectory {
    channels: Vec<Channel>,
    columns: Vec<Vec<f64>>,
}

/// Why a trajectory could not be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrajectoryError {
    /// There is no channel at all, or the first one is not called `time`.
    TimeNotFirst {
        /// The name found in the first place, empty if there is no channel.
        found: String,
    },
    /// A channel has an empty name or an empty unit.
    Unnamed {
        /// Place of the channel, counted from 0.
        index: usize,
    },
    /// Two channels have the same name.
    Repeated {
        /// The name that occurs twice.
        name: String,
    },
    /// A column is longer or shorter than the time column, or is missing.
    Ragged {
        /// Place of the column, counted from 0.
        index: usize,
        /// Number of rows found.
        found: usize,
        /// Number of rows expected.
        expected: usize,
    },
}

impl fmt::Display for TrajectoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TimeNotFirst { found } if found.is_empty() => {
                write!(f, "a trajectory has no channel; the first one must be `time`")
            }
            Self::TimeNotFirst { found } => {
                write!(f, "the first channel of a trajectory is `{found}`; it must be `time`")
            }
            Self::Unnamed { index } => {
                write!(f, "channel {index} has no name or no unit; write the unit of a pure number as `1`")
            }
            Self::Repeated { name } => {
                write!(f, "the channel `{name}` occurs twice; give each channel its own name")
            }
            Self::Ragged { index, found, expected } => {
                write!(f, "column {index} of a trajectory has {found} rows where {expected} are expected")
            }
        }
    }
}

impl std::error::Error for TrajectoryError {}

impl Trajectory {
    /// An empty table with these channels. The first must be [`Channel::time`], names must differ.
    pub fn new(channels: Vec<Channel>) -> Result<Self, TrajectoryError> {
        let columns = vec![Vec::new(); channels.len()];
        Self::from_columns(channels, columns)
    }

    /// A table from finished columns, as read from a file.
    pub fn from_columns(channels: Vec<Channel>, columns: Vec<Vec<f64>>) -> Result<Self, TrajectoryError> {
        match channels.first() {
            Some(first) if first.name == Channel::TIME => {}
            other => {
                let found = other.map_or_else(String::new, |c| c.name.clone());
                return Err(TrajectoryError::TimeNotFirst { found });
            }
        }
        if let Some(index) = channels.iter().position(|c| c.name.is_empty() || c.unit.is_empty()) {
            return Err(TrajectoryError::Unnamed { index });
        }
        let mut names: Vec<&str> = channels.iter().map(|c| c.name.as_str()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(TrajectoryError::Repeated { name: pair[0].to_owned() });
        }
        if columns.len() != channels.len() {
            let index = columns.len().min(channels.len());
            let expected = columns.first().map_or(0, Vec::len);
            return Err(TrajectoryError::Ragged { index, found: 0, expected });
        }
        let expected = columns[0].len();
        if let Some(index) = columns.iter().position(|c| c.len() != expected) {
            return Err(TrajectoryError::Ragged { index, found: columns[index].len(), expected });
        }
        Ok(Self { channels, columns })
    }

    /// Makes room for this many further rows, so that pushing them allocates nothing.
    pub fn reserve(&mut self, rows: usize) {
        for column in &mut self.columns {
            column.reserve(rows);
        }
    }

    /// Adds one row, time first. Allocates only when a column has to grow.
    ///
    /// # Panics
    /// If the row does not have one value for each channel.
    pub fn push(&mut self, row: &[f64]) {
        assert_eq!(row.len(), self.columns.len(), "a row has one value for each channel");
        for (column, &value) in self.columns.iter_mut().zip(row) {
            column.push(value);
        }
    }

    /// Keeps the first `rows` rows and drops the rest.
    pub fn truncate(&mut self, rows: usize) {
        for column in &mut self.columns {
            column.truncate(rows);
        }
    }

    /// The channels, time first.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// All columns, in the order of the channels.
    pub fn columns(&self) -> &[Vec<f64>] {
        &self.columns
    }

    /// The columns themselves, in the order of the channels, for whoever takes their memory over.
    pub fn into_columns(self) -> Vec<Vec<f64>> {
        self.columns
    }

    /// The times of the rows, in s.
    pub fn time(&self) -> &[f64] {
        &self.columns[0]
    }

    /// The place of the channel with this name, for use with [`columns`](Self::columns).
    pub fn index(&self, name: &str) -> Option<usize> {
        self.channels.iter().position(|c| c.name == name)
    }

    /// The values of the channel with this name.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        self.index(name).map(|i| self.columns[i].as_slice())
    }

    /// Copies row `index` into `out`.
    ///
    /// # Panics
    /// If there is no such row or `out` does not have one place for each channel.
    pub fn row(&self, index: usize, out: &mut [f64]) {
        assert_eq!(out.len(), self.columns.len(), "a row has one value for each channel");
        for (value, column) in out.iter_mut().zip(&self.columns) {
            *value = column[index];
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.columns[0].len()
    }

    /// Whether there is no row yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn table() -> Trajectory {
        let angle = Channel::new("joint.hinge.angle", "rad", "local");
        let height = Channel::new("body.bob.position.z", "m", "world");
        Trajectory::new(vec![Channel::time(), angle, height]).unwrap()
    }

    #[test]
    fn rows_go_in_and_columns_come_out() {
        let mut t = table();
        assert!(t.is_empty());
        t.push(&[0.0, 0.1, -1.0]);
        t.push(&[0.5, 0.2, -0.9]);
        assert_eq!(t.len(), 2);
        assert_eq!(t.time(), [0.0, 0.5]);
        assert_eq!(t.column("joint.hinge.angle"), Some([0.1, 0.2].as_slice()));
        assert_eq!(t.column("joint.hinge"), None);
        assert_eq!(t.index("body.bob.position.z"), Some(2));
        let mut row = [0.0; 3];
        t.row(1, &mut row);
        assert_eq!(row, [0.5, 0.2, -0.9]);
        t.truncate(1);
        assert_eq!(t.columns(), [vec![0.0], vec![0.1], vec![-1.0]]);
    }

    #[test]
    fn reserved_rows_do_not_move_the_columns() {
        let mut t = table();
        t.reserve(100);
        t.push(&[0.0; 3]);
        let before: Vec<_> = t.columns().iter().map(|c| c.as_ptr()).collect();
        for i in 1..100 {
            t.push(&[i as f64; 3]);
        }
        let after: Vec<_> = t.columns().iter().map(|c| c.as_ptr()).collect();
        assert_eq!(before, after);
    }

    #[test]
    fn bad_tables_are_refused_by_name() {
        let x = || Channel::new("x", "m", "world");
        let error = Trajectory::new(vec![]).unwrap_err();
        assert!(error.to_string().contains("no channel"));
        let error = Trajectory::new(vec![x()]).unwrap_err();
        assert_eq!(error, TrajectoryError::TimeNotFirst { found: "x".into() });
        let error = Trajectory::new(vec![Channel::time(), x(), x()]).unwrap_err();
        assert_eq!(error, TrajectoryError::Repeated { name: "x".into() });
        let unitless = Channel::new("y", "", "");
        let error = Trajectory::new(vec![Channel::time(), unitless]).unwrap_err();
        assert_eq!(error, TrajectoryError::Unnamed { index: 1 });
        let columns = vec![vec![0.0, 1.0], vec![0.0]];
        let error = Trajectory::from_columns(vec![Channel::time(), x()], columns).unwrap_err();
        assert_eq!(error, TrajectoryError::Ragged { index: 1, found: 1, expected: 2 });
        let error = Trajectory::from_columns(vec![Channel::time(), x()], vec![vec![]]).unwrap_err();
        assert_eq!(error, TrajectoryError::Ragged { index: 1, found: 0, expected: 0 });
    }
}
