//! Watching a run from a terminal: progress, Ctrl-C, checkpoints.

use dalembert::methods::trajectory::Event;
use dalembert::record::Checkpoint;
use dalembert::run::Watcher;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The clock is read once in this many steps.
const LOOK: u64 = 16;
/// The bar moves at most this often.
const TICK: Duration = Duration::from_millis(100);
/// Parts of the bar.
const PARTS: f64 = 1e4;

/// A progress bar, an ear for Ctrl-C, and a hand for checkpoints.
pub struct Terminal {
    bar: ProgressBar,
    span: [f64; 2],
    began: Instant,
    looked: Instant,
    steps: u64,
    stop: Arc<AtomicBool>,
    checkpoint: Option<(PathBuf, Duration)>,
    saved: Instant,
    due: bool,
    events: bool,
    /// A checkpoint that could not be written, told at the end.
    pub trouble: Option<String>,
}

impl Terminal {
    /// A watcher of a run over a span of time. `checkpoint` says where and how often.
    pub fn new(span: [f64; 2], show: bool, checkpoint: Option<(PathBuf, Duration)>) -> Self {
        let bar = if show { ProgressBar::new(PARTS as u64) } else { ProgressBar::hidden() };
        let style = ProgressStyle::with_template("  {bar:32} {percent:>3} %  {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let now = Instant::now();
        Self {
            bar,
            span,
            began: now,
            looked: now,
            steps: 0,
            stop: listen(),
            checkpoint,
            saved: now,
            due: false,
            events: show,
            trouble: None,
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// A flag that Ctrl-C raises; the second Ctrl-C ends the program at once.
pub fn listen() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    // Without a handler Ctrl-C ends the program at once, which is all that is lost if it cannot be installed.
    let _ = ctrlc::set_handler(move || {
        if raised.swap(true, Ordering::SeqCst) {
            std::process::exit(130);
        }
    });
    flag
}

impl Watcher for Terminal {
    fn step(&mut self, t: f64, _steps: u64) -> bool {
        self.steps += 1;
        if self.steps.is_multiple_of(LOOK) {
            let now = Instant::now();
            if now - self.looked >= TICK {
                self.looked = now;
                let [start, end] = self.span;
                let spent = (now - self.began).as_secs_f64();
                let rate = (t - start) / spent;
                let left = (end - t) / rate;
                self.bar.set_position((PARTS * (t - start) / (end - start)) as u64);
                self.bar.set_message(format!("t = {t:.4} s, {rate:.3} s/s, {} left", duration(left)));
            }
            self.due = self.checkpoint.as_ref().is_some_and(|(_, every)| now - self.saved >= *every);
        }
        !self.stop.load(Ordering::SeqCst)
    }

    fn event(&mut self, event: &Event) {
        if self.events {
            self.bar.suspend(|| {
                eprintln!("{}", line(event));
            });
        }
    }

    fn checkpoint(&mut self, pack: &dyn Fn() -> Checkpoint) {
        if !self.due {
            return;
        }
        self.due = false;
        if let Some((path, _)) = &self.checkpoint {
            if let Err(error) = pack().write(path) {
                self.trouble = Some(error.to_string());
            }
            self.saved = Instant::now();
        }
    }
}

/// An event as a row of a table: time, kind, element, marker, value.
fn line(event: &Event) -> String {
    let place = format!("{} {}", event.element, event.marker);
    format!("  t = {:.9} s  {:9} {place:<36} {:>12.5e} {}", event.time, event.kind, event.value, event.unit)
}

/// A duration as people say it.
fn duration(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() || s < 0.0 => "?".to_owned(),
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_rows_of_a_table() {
        let event = Event {
            time: 0.24,
            kind: "impact".to_owned(),
            element: "contact.wall".to_owned(),
            marker: "corner".to_owned(),
            value: 0.1,
            unit: "N s".to_owned(),
        };
        let row = line(&event);
        assert_eq!(row, "  t = 0.240000000 s  impact    contact.wall corner                    1.00000e-1 N s");
    }
}
