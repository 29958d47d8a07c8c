//! Computing rows with several threads. Which thread takes which row, and when, changes nothing in the results.

use crate::error::SweepError;
use crate::journal::{Journal, Outcome};
use crate::study::{Shard, Study};
use dalembert::run::{Watcher, run};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

/// Rows between two moments at which the disk is made sure to have all.
const SETTLE: usize = 256;

/// How far a sweep is.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Rows of this part.
    pub rows: u64,
    /// Finished ones, those of earlier processes included.
    pub finished: u64,
    /// Those of them that failed.
    pub failed: u64,
    /// Those that were finished before this process began.
    pub before: u64,
}

/// How a sweep ended.
pub type Tally = Progress;

/// Ends a run when everything is to end.
struct Stop<'a>(&'a AtomicBool);

impl Watcher for Stop<'_> {
    fn step(&mut self, _t: f64, _steps: u64) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}

/// Computes the rows of a part that the journal does not have, with `jobs` threads. `stop` ends it soon: rows under way are given up.
/// `watch` hears of every finished row.
pub fn sweep(
    study: &Study,
    shard: Shard,
    journal: &mut Journal,
    jobs: usize,
    stop: &AtomicBool,
    watch: &mut dyn FnMut(Progress),
) -> Result<Tally, SweepError> {
    let own: Vec<u64> = (0..study.plan.rows()).filter(|row| shard.has(*row)).collect();
    let known: Vec<&Outcome> = own.iter().filter_map(|row| journal.rows().get(row)).collect();
    let failed = known.iter().filter(|outcome| matches!(outcome, Outcome::Failed(_))).count() as u64;
    let finished = known.len() as u64;
    let mut progress = Progress { rows: own.len() as u64, finished, failed, before: finished };
    let missing: Vec<u64> = own.into_iter().filter(|row| !journal.rows().contains_key(row)).collect();
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel::<(u64, Outcome)>();
    let mut trouble = Ok(());
    std::thread::scope(|scope| {
        for _ in 0..jobs.clamp(1, missing.len().max(1)) {
            let (send, next, missing) = (send.clone(), &next, &missing);
            scope.spawn(move || {
                while !stop.load(Ordering::Relaxed) {
                    let Some(&row) = missing.get(next.fetch_add(1, Ordering::Relaxed)) else { break };
                    let Some(outcome) = compute(study, row, stop) else { break };
                    if send.send((row, outcome)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(send);
        for (count, (row, outcome)) in receive.iter().enumerate() {
            progress.finished += 1;
            progress.failed += u64::from(matches!(outcome, Outcome::Failed(_)));
            trouble = journal.add(row, outcome);
            if trouble.is_ok() && count % SETTLE == SETTLE - 1 {
                trouble = journal.settle();
            }
            if trouble.is_err() {
                stop.store(true, Ordering::Relaxed);
                break;
            }
            watch(progress);
        }
    });
    trouble?;
    journal.settle()?;
    Ok(progress)
}

/// One row; none if it was given up.
pub(crate) fn compute(study: &Study, row: u64, stop: &AtomicBool) -> Option<Outcome> {
    let computed = catch_unwind(AssertUnwindSafe(|| {
        let scene = study.scene(row)?;
        let outcome = run(&scene, "row", None, &mut Stop(stop)).map_err(|error| error.to_string())?;
        if let Some(failure) = outcome.failure {
            return Err(failure.to_string());
        }
        let number = |output: &crate::Output| output.of(&outcome.trajectory, &outcome.events, &outcome.summary);
        Ok(study.outputs.iter().map(number).collect())
    }));
    if stop.load(Ordering::Relaxed) {
        return None;
    }
    Some(match computed {
        Ok(Ok(values)) => Outcome::Done(values),
        Ok(Err(reason)) => Outcome::Failed(reason),
        Err(_) => Outcome::Failed("the program failed in this row; please report it with the study and the row".into()),
    })
}
