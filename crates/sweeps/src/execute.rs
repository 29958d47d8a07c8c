//! Computing rows with several threads, and side by side in each. Which thread takes which row, when, and beside which others, changes nothing in the results.

use crate::company::{Alone, Hall, Noted, Seat, Seated};
use crate::error::SweepError;
use crate::journal::{Journal, Outcome};
use crate::output::{MOST, Taken};
use crate::study::{Shard, Study};
use dalembert::run::{Watcher, run_one_of_many};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};

/// The most threads, whatever is asked for: more than any machine has processors for, fewer than any refuses.
const THREADS: usize = 1024;
/// Rows that a thread has in work at once where they are computed side by side.
pub(crate) const ABREAST: usize = 32;
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
    /// Those that this process has computed side by side with others.
    pub beside: u64,
    /// Why the first row of this process that was not, or not in all its parts, was computed by itself, if lanes were asked for.
    pub alone: Option<Alone>,
}

/// How a sweep ended.
pub type Tally = Progress;

/// Ends a run when everything is to end, or when it has taken more steps than a row may.
struct Stop<'a> {
    all: &'a AtomicBool,
    most: Option<u64>,
    steps: u64,
    /// When there were too many.
    beyond: Option<f64>,
}

impl Watcher for Stop<'_> {
    fn step(&mut self, t: f64, _steps: u64) -> bool {
        self.steps += 1;
        if self.most.is_some_and(|most| self.steps > most) {
            self.beyond = Some(t);
        }
        self.beyond.is_none() && !self.all.load(Ordering::Relaxed)
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
    let mut progress = Progress { rows: own.len() as u64, finished, failed, before: finished, beside: 0, alone: None };
    let missing: Vec<u64> = own.into_iter().filter(|row| !journal.rows().contains_key(row)).collect();
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel::<Finished>();
    let mut trouble = Ok(());
    let jobs = jobs.min(THREADS).clamp(1, missing.len().max(1));
    // No thread takes more than its share.
    let abreast = ABREAST.min(missing.len().div_ceil(jobs));
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            let (send, next, missing) = (send.clone(), &next, &missing);
            scope.spawn(move || {
                let next = || missing.get(next.fetch_add(1, Ordering::Relaxed)).copied();
                compute(study, stop, abreast, next, |finished| send.send(finished).is_ok());
            });
        }
        drop(send);
        for (count, Finished { row, outcome, beside, alone }) in receive.iter().enumerate() {
            progress.finished += 1;
            progress.failed += u64::from(matches!(outcome, Outcome::Failed(_)));
            progress.beside += u64::from(beside);
            progress.alone = progress.alone.or(alone);
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

/// A row that is finished.
pub(crate) struct Finished {
    pub row: u64,
    pub outcome: Outcome,
    /// Whether it was computed side by side with others.
    pub beside: bool,
    /// Why it was not, or not all of it.
    pub alone: Option<Alone>,
}

/// A row that is being computed.
struct Lively<'a> {
    row: u64,
    work: Pin<Box<dyn Future<Output = Result<Vec<Taken>, String>> + 'a>>,
    noted: Noted,
}

/// Computes the rows that `next` gives, in one thread with up to `abreast` in work, and hands each to `done`, which says whether to go on. Rows under way are given up when
/// `stop` is raised.
pub(crate) fn compute(
    study: &Study,
    stop: &AtomicBool,
    abreast: usize,
    mut next: impl FnMut() -> Option<u64>,
    mut done: impl FnMut(Finished) -> bool,
) {
    let hall = study.lanes.then(Hall::default);
    let mut lively: Vec<Lively<'_>> = Vec::new();
    let mut at = 0;
    while !stop.load(Ordering::Relaxed) {
        if at == lively.len() {
            // All wait. A new row is begun at once, and another taken only when it waits too: a row that waits for nobody keeps none from other threads.
            if lively.len() < abreast
                && let Some(row) = next()
            {
                let noted = Noted::default();
                let seat = hall.as_ref().map(|hall| hall.seat(&noted));
                lively.push(Lively { row, work: Box::pin(figures(study, row, stop, seat)), noted });
            } else if lively.is_empty() {
                return;
            } else {
                hall.iter().for_each(Hall::serve);
                at = 0;
            }
        }
        if lively[at].noted.waits.get() {
            at += 1;
            continue;
        }
        match guarded(stop, || lively[at].work.as_mut().poll(&mut Context::from_waker(Waker::noop()))) {
            Went::GivenUp => return,
            Went::Waits => at += 1,
            Went::Ended(outcome) => {
                // The last one, which has not been asked yet unless it is this one, takes its place.
                let Lively { row, noted, .. } = lively.swap_remove(at);
                let Seated { beside, mut alone } = noted.seated.get();
                // Nobody asked for a place.
                if study.lanes && !beside && matches!(outcome, Outcome::Done(_)) {
                    alone = alone.or(Some(Alone::Integrator));
                }
                if !done(Finished { row, outcome, beside, alone }) {
                    return;
                }
            }
        }
    }
}

/// The figures of one row.
async fn figures(study: &Study, row: u64, stop: &AtomicBool, seat: Option<Seat>) -> Result<Vec<Taken>, String> {
    let scene = study.scene(row)?;
    let mut watch = Stop { all: stop, most: study.steps, steps: 0, beyond: None };
    let outcome = run_one_of_many(&scene, "row", &mut watch, seat).await.map_err(|error| error.to_string())?;
    if let (Some(t), Some(most)) = (watch.beyond, watch.most) {
        return Err(format!("more than {most} steps at t = {t} s, which `steps` of the sweep does not allow"));
    }
    if let Some(failure) = outcome.failure {
        return Err(failure.to_string());
    }
    let number = |output: &crate::Output| output.of(&outcome.trajectory, &outcome.events, &outcome.summary);
    let values: Vec<Taken> = study.outputs.iter().map(number).collect();
    let all: usize = values.iter().map(Taken::len).sum();
    if all > MOST {
        return Err(format!(
            "{all} numbers are more than the {MOST} that are kept of a row; record fewer (`output.every`), or take less of them"
        ));
    }
    Ok(values)
}

/// How far the work on a row went.
#[derive(Debug, PartialEq)]
enum Went {
    /// It waits for others.
    Waits,
    Ended(Outcome),
    GivenUp,
}

/// What became of the work on a row; a panic is a row that failed.
fn guarded(stop: &AtomicBool, work: impl FnOnce() -> Poll<Result<Vec<Taken>, String>>) -> Went {
    let computed = catch_unwind(AssertUnwindSafe(work));
    if stop.load(Ordering::Relaxed) {
        return Went::GivenUp;
    }
    match computed {
        Ok(Poll::Pending) => Went::Waits,
        Ok(Poll::Ready(Ok(values))) => Went::Ended(Outcome::Done(values)),
        Ok(Poll::Ready(Err(reason))) => Went::Ended(Outcome::Failed(reason)),
        Err(_) => {
            let reason = "the program failed in this row; please report it with the study and the row";
            Went::Ended(Outcome::Failed(reason.into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever a row does, it ends as a row; what was given up is none.
    #[test]
    fn a_panic_is_a_row_that_failed() {
        let go = AtomicBool::new(false);
        let failed = guarded(&go, || panic!("a fault of the program"));
        let told = |reason: &str| reason.contains("please report it");
        assert!(matches!(&failed, Went::Ended(Outcome::Failed(reason)) if told(reason)), "{failed:?}");
        let done = guarded(&go, || Poll::Ready(Ok(vec![Taken::Number(1.0)])));
        assert_eq!(done, Went::Ended(Outcome::Done(vec![Taken::Number(1.0)])));
        assert_eq!(guarded(&go, || Poll::Pending), Went::Waits);
        assert_eq!(guarded(&AtomicBool::new(true), || Poll::Ready(Ok(Vec::new()))), Went::GivenUp);
    }
}
