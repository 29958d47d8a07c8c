//! Times of runs.

use std::time::Instant;

/// Runs shorter than this are often not interrupted by other work, s.
const SHORT: f64 = 2e-3;
/// Times of the processor below this are told too coarsely, s.
const TICKS: f64 = 0.1;

/// The least time of some work, repeated for so many seconds, s. Long work is always interrupted by others: there the time of the processor counts, as far as the system tells it.
pub fn timed(budget: f64, work: &mut dyn FnMut()) -> f64 {
    let (begun, first) = (Instant::now(), processor());
    let (mut least, mut rounds) = (f64::INFINITY, 0_u32);
    while rounds == 0 || begun.elapsed().as_secs_f64() < budget {
        let now = Instant::now();
        work();
        least = least.min(now.elapsed().as_secs_f64());
        rounds += 1;
    }
    match (first, processor()) {
        // The system counts in ticks of some milliseconds.
        (Some(first), Some(last)) if least > SHORT && last - first > TICKS => {
            least.min((last - first) / f64::from(rounds))
        }
        _ => least,
    }
}

/// Seconds this thread has computed, where the system tells.
fn processor() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(1e-9 * text.split_whitespace().next()?.parse::<f64>().ok()?)
}
