//! What the studio shows: the motion of the current run and how it goes, for any number of pages.

use serde_json::{Value, json};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Frames at which every second one is dropped.
const MOST: usize = 4000;

/// The frames of a run: times and rows of equal length.
#[derive(Default)]
pub struct Frames {
    /// Width of a row.
    pub width: usize,
    /// Times, s.
    pub times: Vec<f64>,
    /// Rows one after another.
    pub rows: Vec<f32>,
    /// Every how many frames one is kept.
    stride: u64,
    seen: u64,
}

impl Frames {
    fn push(&mut self, time: f64, row: &[f32]) -> bool {
        let keep = self.seen.is_multiple_of(self.stride.max(1));
        self.seen += 1;
        if !keep {
            return false;
        }
        self.times.push(time);
        self.rows.extend_from_slice(row);
        if self.times.len() <= MOST {
            return false;
        }
        let mut index = 0;
        self.times.retain(|_| (index % 2 == 0, index += 1).0);
        let width = self.width.max(1);
        self.rows = self.rows.chunks_exact(width).step_by(2).flatten().copied().collect();
        self.stride = 2 * self.stride.max(1);
        true
    }
}

/// Everything there is to tell.
#[derive(Default)]
pub struct Content {
    /// Grows with every run, and when frames are dropped: frames sent before then no longer count.
    pub epoch: u64,
    /// Grows with everything that is told besides frames.
    pub version: u64,
    /// The animation of the first frame of the current run.
    pub header: Option<String>,
    /// The motion so far.
    pub frames: Frames,
    /// The events so far.
    pub events: Vec<Value>,
    /// The whole animation of the last run that ended.
    pub animation: Option<String>,
    /// The scene of the last run as text.
    pub scene: String,
    /// Parameters that can be adjusted.
    pub parameters: Value,
    /// What is wrong, with places in the scene.
    pub problem: Option<String>,
    /// `running`, `paused`, `done` or `failed`.
    pub status: &'static str,
    /// How the run ended, in a sentence.
    pub message: String,
    /// Time reached and time to reach, s; steps done.
    pub progress: (f64, f64, u64),
}

impl Content {
    /// How the run goes.
    pub fn state(&self) -> Value {
        let (time, until, steps) = self.progress;
        json!({
            "epoch": self.epoch, "status": self.status, "message": self.message, "problem": self.problem,
            "time": time, "until": until, "steps": steps, "parameters": self.parameters, "events": self.events,
        })
    }
}

/// The content with a bell that rings when it changes.
#[derive(Default)]
pub struct Show {
    content: Mutex<Content>,
    bell: Condvar,
}

impl Show {
    /// The content, for reading.
    pub fn look(&self) -> MutexGuard<'_, Content> {
        // A thread that died while it told something leaves numbers, not broken promises.
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes what is told.
    pub fn tell(&self, change: impl FnOnce(&mut Content)) {
        let mut content = self.look();
        change(&mut content);
        content.version += 1;
        drop(content);
        self.bell.notify_all();
    }

    /// Begins a run: no frames, no events.
    pub fn begin(&self, header: String, width: usize) {
        self.tell(|content| {
            content.epoch += 1;
            content.header = Some(header);
            content.frames = Frames { width, ..Frames::default() };
            content.events.clear();
        });
    }

    /// Adds a frame.
    pub fn frame(&self, time: f64, row: &[f32], steps: u64) {
        let mut content = self.look();
        if content.frames.push(time, row) {
            content.epoch += 1;
        }
        content.progress.0 = time;
        content.progress.2 = steps;
        drop(content);
        self.bell.notify_all();
    }

    /// Waits until something is new or a duration has passed.
    pub fn wait(&self, known: (u64, u64, usize), longest: Duration) -> MutexGuard<'_, Content> {
        let content = self.look();
        let same = |c: &mut Content| (c.epoch, c.version, c.frames.times.len()) == known;
        let waited = self.bell.wait_timeout_while(content, longest, same);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_thinned_and_pages_told() {
        let show = Show::default();
        show.begin(String::new(), 2);
        let before = show.look().epoch;
        for k in 0..10_000u16 {
            show.frame(f64::from(k), &[f32::from(k), 0.5], u64::from(k));
        }
        let content = show.look();
        let Frames { times, rows, .. } = &content.frames;
        assert!(times.len() <= MOST && 2 * times.len() == rows.len());
        assert!(times.iter().zip(rows.chunks(2)).all(|(&t, row)| t == f64::from(row[0])));
        assert!(times.windows(2).all(|w| w[1] - w[0] == times[1] - times[0]));
        assert!(content.epoch > before);
        assert_eq!(content.progress, (9999.0, 0.0, 9999));
    }
}
