//! A film: what a run keeps of its motion for pictures, whatever channels it was asked to record.
//!
//! Frames are taken at the rows of the output. When there are [`MOST`] of them every second one is dropped and from then on only every
//! second row is taken, so a film of any length fits the memory. The newest row is always kept.

use dalembert_methods::trajectory::Channel;
use std::collections::HashMap;

/// The channels a film needs, as patterns: places and turns of bodies, what colours elements, contacts.
pub const PATTERNS: [&str; 7] = [
    "body.*.position.*",
    "body.*.orientation.*",
    "body.*.gradient.*",
    "force.*.activation",
    "constraint.*.pressure",
    "contact.*.mode",
    "contact.*.force.*",
];

/// The number of frames at which a film is thinned.
const MOST: usize = 3000;

/// Frames of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Film {
    names: Vec<String>,
    /// Frame after frame; each has the time and then one value for each name.
    frames: Vec<f64>,
    /// Every how many rows a frame is kept.
    stride: u64,
    /// Rows seen so far.
    rows: u64,
    /// The newest row.
    newest: Vec<f64>,
}

impl Film {
    /// An empty film of the given channels; the first is the time.
    pub fn new(channels: &[Channel]) -> Self {
        Self { names: channels.iter().skip(1).map(|c| c.name.clone()).collect(), stride: 1, ..Self::default() }
    }

    /// Adds a row: the time, and one value for each channel.
    pub fn push(&mut self, row: impl Iterator<Item = f64>) {
        self.newest.clear();
        self.newest.extend(row);
        debug_assert_eq!(self.newest.len(), self.width(), "a row has one value for each channel");
        if self.rows.is_multiple_of(self.stride) {
            self.frames.extend_from_slice(&self.newest);
            if self.frames.len() / self.width() > MOST {
                self.thin();
            }
        }
        self.rows += 1;
    }

    fn thin(&mut self) {
        let width = self.width();
        let kept: Vec<f64> = self.frames.chunks_exact(width).step_by(2).flatten().copied().collect();
        self.frames = kept;
        self.stride *= 2;
    }

    fn width(&self) -> usize {
        1 + self.names.len()
    }

    /// The channels without the time.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The rows of output seen so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The frames, with the newest row as the last one.
    pub fn frames(&self) -> Vec<&[f64]> {
        let mut frames: Vec<&[f64]> = self.frames.chunks_exact(self.width()).collect();
        if self.rows > 0 && !(self.rows - 1).is_multiple_of(self.stride) {
            frames.push(&self.newest);
        }
        frames
    }

    /// The newest row; empty before the first.
    pub fn newest(&self) -> &[f64] {
        &self.newest
    }

    /// The places of the channels in a row, by name.
    pub fn places(&self) -> HashMap<&str, usize> {
        self.names.iter().enumerate().map(|(i, name)| (name.as_str(), i + 1)).collect()
    }

    /// All that a later run needs to go on: numbers and counters.
    pub fn memory(&self) -> (Vec<f64>, Vec<u64>) {
        ([self.newest.as_slice(), &self.frames].concat(), vec![self.stride, self.rows])
    }

    /// Goes on from such a memory; none if it does not fit.
    #[must_use]
    pub fn recall(&mut self, numbers: &[f64], counters: &[u64]) -> Option<()> {
        let &[stride, rows] = counters else { return None };
        let width = self.width();
        if stride == 0 || !numbers.len().is_multiple_of(width) || (rows > 0) != (numbers.len() >= 2 * width) {
            return None;
        }
        let (newest, frames) = numbers.split_at(if rows > 0 { width } else { 0 });
        (self.stride, self.rows) = (stride, rows);
        self.newest = newest.to_vec();
        self.frames = frames.to_vec();
        Some(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn filmed(rows: usize) -> Film {
        let mut film = Film::new(&[Channel::time(), Channel::new("a", "m", "")]);
        for k in 0..rows {
            film.push([k as f64, -(k as f64)].into_iter());
        }
        film
    }

    #[test]
    fn long_films_are_thinned_evenly_and_keep_their_ends() {
        let film = filmed(10_001);
        let times: Vec<f64> = film.frames().iter().map(|frame| frame[0]).collect();
        assert!(times.len() <= MOST + 1 && times.len() > MOST / 2, "{}", times.len());
        assert_eq!((times[0], *times.last().unwrap()), (0.0, 10_000.0));
        let (whole, end) = (times.windows(2).map(|w| w[1] - w[0]), times[1] - times[0]);
        assert!(whole.take(times.len() - 2).all(|step| step == end));
        assert_eq!(film.rows(), 10_001);
    }

    #[test]
    fn a_film_goes_on_where_it_was_left() {
        let whole = filmed(7000);
        for cut in [0, 1, 2, 2999, 3001, 6999] {
            let (numbers, counters) = filmed(cut).memory();
            let mut film = filmed(0);
            film.recall(&numbers, &counters).unwrap();
            for k in cut..7000 {
                film.push([k as f64, -(k as f64)].into_iter());
            }
            assert_eq!(film, whole, "cut at {cut}");
        }
        assert_eq!(filmed(0).recall(&[1.0], &[1, 1]), None);
        assert_eq!(filmed(0).recall(&[], &[0, 0]), None);
    }
}
