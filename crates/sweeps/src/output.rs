//! What is kept of a run: for each output a number, or all numbers of it.

use dalembert::record::Summary;
use dalembert_methods::trajectory::{Event, Trajectory};
use serde::Deserialize;

/// The most numbers that are kept of one row.
pub(crate) const MOST: usize = 10_000_000;

/// One column of the results.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// Its name in the table.
    pub name: String,
    channel: Option<String>,
    events: Option<String>,
    kind: Option<String>,
    energy: Option<Energy>,
    take: Option<Reduction>,
    /// The time at which a channel is read, in s.
    at: Option<f64>,
}

/// What was taken from a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Taken {
    /// There was nothing to take.
    Nothing,
    /// One number.
    Number(f64),
    /// All numbers, in the order of time.
    All(Vec<f64>),
}

impl Taken {
    /// The number, if it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            Self::Number(x) => Some(*x),
            Self::Nothing | Self::All(_) => None,
        }
    }

    /// The list, if it is one.
    pub fn all(&self) -> Option<&[f64]> {
        match self {
            Self::All(values) => Some(values),
            Self::Nothing | Self::Number(_) => None,
        }
    }

    /// How many numbers it has.
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::Number(_) => 1,
            Self::All(values) => values.len(),
        }
    }
}

impl From<Option<f64>> for Taken {
    fn from(number: Option<f64>) -> Self {
        number.map_or(Self::Nothing, Self::Number)
    }
}

/// An entry of the account of energy at the end of a run.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Energy {
    /// Kinetic energy.
    Kinetic,
    /// Potential energy.
    Potential,
    /// Energy dissipated since the start.
    Dissipated,
    /// Energy supplied since the start.
    Supplied,
    /// Lost in impacts.
    Impacts,
    /// The largest gap in the ledger.
    Imbalance,
}

/// Where an output comes from.
#[derive(Copy, Clone, Debug, PartialEq)]
pub enum Source<'a> {
    /// A recorded channel.
    Channel(&'a str),
    /// Events of an element, all of them or those of a kind.
    Events(&'a str, Option<&'a str>),
    /// The ledger.
    Energy,
}

/// How many numbers become one.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reduction {
    /// The value at the start; of events, that of the first.
    First,
    /// The value at the end; of events, that of the last.
    Last,
    /// The smallest value.
    Minimum,
    /// The largest value.
    Maximum,
    /// The largest less the smallest.
    Range,
    /// The mean over time, by trapezia; of events, over their number.
    Mean,
    /// The root of the mean square over time.
    Rms,
    /// The integral over time.
    Integral,
    /// The sum of the values of events.
    Sum,
    /// When the smallest value is recorded, in s.
    TimeOfMinimum,
    /// When the largest value is recorded, in s.
    TimeOfMaximum,
    /// The number of events.
    Count,
    /// When the first event happens, in s.
    FirstTime,
    /// When the last event happens, in s.
    LastTime,
    /// All values.
    All,
    /// The times of all values, in s.
    AllTimes,
}

impl Output {
    /// Where it comes from, if it says so in one way.
    pub fn source(&self) -> Option<Source<'_>> {
        match (&self.channel, &self.events, self.energy) {
            (Some(channel), None, None) => Some(Source::Channel(channel)),
            (None, Some(element), None) => Some(Source::Events(element, self.kind.as_deref())),
            (None, None, Some(_)) => Some(Source::Energy),
            _ => None,
        }
    }

    /// The channel it needs, if any.
    pub fn channel(&self) -> Option<&str> {
        self.channel.as_deref()
    }

    /// Whether it is a list in every row.
    pub fn lists(&self) -> bool {
        matches!(self.take, Some(Reduction::All | Reduction::AllTimes))
    }

    /// Says what is wrong with it.
    pub(crate) fn checked(&self) -> Result<(), String> {
        use Reduction::{Count, FirstTime, Integral, LastTime, Range, Rms, Sum, TimeOfMaximum, TimeOfMinimum};
        let name = &self.name;
        let source =
            self.source().ok_or(format!("`{name}` is taken from one thing: a `channel`, `events` or `energy`"))?;
        if let Some(at) = self.at {
            return match (source, self.take) {
                _ if !at.is_finite() => Err(format!("`at` of `{name}` is a time in s, not {at}")),
                (Source::Channel(_), None) => Ok(()),
                (Source::Channel(_), Some(_)) => Err(format!("`{name}` has `take` or `at`, not both")),
                _ => Err(format!("`at` of `{name}` belongs to a `channel`")),
            };
        }
        let fits = match (source, self.take) {
            (Source::Energy, take) => take.is_none(),
            (_, None) => return Err(format!("`{name}` needs `take`: `last`, `maximum`, `mean`, `count`, `all`, …")),
            (Source::Channel(_), Some(take)) => !matches!(take, Count | FirstTime | LastTime | Sum),
            (Source::Events(..), Some(take)) => !matches!(take, Rms | Integral | Range | TimeOfMinimum | TimeOfMaximum),
        };
        if self.kind.is_some() && self.events.is_none() {
            return Err(format!("`kind` of `{name}` belongs to `events`"));
        }
        match fits {
            true => Ok(()),
            false => Err(format!("`take` of `{name}` does not fit what it is taken from")),
        }
    }

    /// What it takes from a run.
    pub fn of(&self, trajectory: &Trajectory, events: &[Event], summary: &Summary) -> Taken {
        if self.lists() { self.list(trajectory, events) } else { self.one(trajectory, events, summary).into() }
    }

    /// The events that it is taken from.
    fn own<'e>(&self, events: &'e [Event], element: &str, kind: Option<&str>) -> Vec<&'e Event> {
        let own = |e: &&Event| (e.element == element || element == "*") && kind.is_none_or(|k| e.kind == k);
        events.iter().filter(own).collect()
    }

    /// All numbers of a run.
    fn list(&self, trajectory: &Trajectory, events: &[Event]) -> Taken {
        let times = self.take == Some(Reduction::AllTimes);
        match self.source() {
            Some(Source::Channel(_)) if times => Taken::All(trajectory.time().to_vec()),
            Some(Source::Channel(name)) => {
                trajectory.column(name).map_or(Taken::Nothing, |values| Taken::All(values.to_vec()))
            }
            Some(Source::Events(element, kind)) => {
                let number = |e: &Event| if times { e.time } else { e.value };
                Taken::All(self.own(events, element, kind).into_iter().map(number).collect())
            }
            Some(Source::Energy) | None => Taken::Nothing,
        }
    }

    /// The number of a run; none if there is nothing to take it from.
    fn one(&self, trajectory: &Trajectory, events: &[Event], summary: &Summary) -> Option<f64> {
        match self.source()? {
            Source::Channel(name) => {
                let (time, values) = (trajectory.time(), trajectory.column(name)?);
                self.at.map_or_else(|| reduce(time, values, self.take?), |at| interpolate(time, values, at))
            }
            Source::Events(element, kind) => count(&self.own(events, element, kind), self.take?),
            Source::Energy => {
                let (end, ledger) = (&summary.ledger.end, &summary.ledger);
                Some(match self.energy? {
                    Energy::Kinetic => end.kinetic,
                    Energy::Potential => end.potential,
                    Energy::Dissipated => end.dissipated,
                    Energy::Supplied => end.supplied,
                    Energy::Impacts => ledger.lost_in_impacts,
                    Energy::Imbalance => ledger.worst_imbalance,
                })
            }
        }
    }
}

/// The value of a channel at a time, on the line between the records beside it; none outside them.
fn interpolate(time: &[f64], values: &[f64], at: f64) -> Option<f64> {
    let after = time.partition_point(|t| *t < at);
    let (t, x) = (*time.get(after)?, *values.get(after)?);
    if t == at {
        return Some(x);
    }
    let before = after.checked_sub(1)?;
    let part = (at - time[before]) / (t - time[before]);
    Some(values[before] + part * (x - values[before]))
}

/// One number of a channel.
fn reduce(time: &[f64], values: &[f64], take: Reduction) -> Option<f64> {
    let least = || values.iter().copied().enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
    let most = || values.iter().copied().enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
    let span = time.last()? - time.first()?;
    let integral = |f: fn(f64) -> f64| -> f64 {
        let pieces = time.windows(2).zip(values.windows(2));
        pieces.map(|(t, x)| 0.5 * (t[1] - t[0]) * (f(x[0]) + f(x[1]))).sum()
    };
    let mean = |f: fn(f64) -> f64| if span > 0.0 { Some(integral(f) / span) } else { values.first().map(|x| f(*x)) };
    match take {
        Reduction::First => values.first().copied(),
        Reduction::Last => values.last().copied(),
        Reduction::Minimum => Some(least()?.1),
        Reduction::Maximum => Some(most()?.1),
        Reduction::Range => Some(most()?.1 - least()?.1),
        Reduction::Mean => mean(|x| x),
        Reduction::Rms => mean(|x| x * x).map(f64::sqrt),
        Reduction::Integral => Some(integral(|x| x)),
        Reduction::TimeOfMinimum => time.get(least()?.0).copied(),
        Reduction::TimeOfMaximum => time.get(most()?.0).copied(),
        Reduction::Sum | Reduction::Count | Reduction::FirstTime | Reduction::LastTime => None,
        Reduction::All | Reduction::AllTimes => None,
    }
}

/// One number of events, which are in the order of time.
fn count(events: &[&Event], take: Reduction) -> Option<f64> {
    let values = || events.iter().map(|e| e.value);
    let sum: f64 = values().sum();
    match take {
        Reduction::Count => Some(events.len() as f64),
        Reduction::Sum => Some(sum),
        Reduction::First => values().next(),
        Reduction::Last => values().next_back(),
        Reduction::Minimum => values().min_by(f64::total_cmp),
        Reduction::Maximum => values().max_by(f64::total_cmp),
        Reduction::Mean => (!events.is_empty()).then(|| sum / events.len() as f64),
        Reduction::FirstTime => events.first().map(|e| e.time),
        Reduction::LastTime => events.last().map(|e| e.time),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x = t² at 0, 1, 2: trapezia give ∫ = 3, ∫x² = ½ + 8.5 = 9.
    #[test]
    fn channels_become_numbers() {
        let (t, x) = ([0.0, 1.0, 2.0], [0.0, 1.0, 4.0]);
        for (take, exact) in [
            (Reduction::First, 0.0),
            (Reduction::Last, 4.0),
            (Reduction::Minimum, 0.0),
            (Reduction::Maximum, 4.0),
            (Reduction::Range, 4.0),
            (Reduction::Integral, 3.0),
            (Reduction::Mean, 1.5),
            (Reduction::Rms, 4.5f64.sqrt()),
            (Reduction::TimeOfMinimum, 0.0),
            (Reduction::TimeOfMaximum, 2.0),
        ] {
            assert_eq!(reduce(&t, &x, take), Some(exact), "{take:?}");
        }
        assert_eq!(reduce(&[], &[], Reduction::Last), None);
    }

    /// On the records their values, between them the line, outside them nothing.
    #[test]
    fn a_channel_is_read_at_a_time() {
        let (t, x) = ([0.0, 1.0, 3.0], [2.0, 4.0, 0.0]);
        for (at, exact) in [(0.0, Some(2.0)), (1.0, Some(4.0)), (3.0, Some(0.0)), (0.25, Some(2.5)), (2.5, Some(1.0))] {
            assert_eq!(interpolate(&t, &x, at), exact, "{at}");
        }
        assert_eq!(
            (interpolate(&t, &x, -0.1), interpolate(&t, &x, 3.1), interpolate(&[], &[], 0.0)),
            (None, None, None)
        );
    }

    #[test]
    fn events_are_counted() {
        let event = |time: f64, value: f64| Event {
            time,
            kind: "impact".into(),
            element: "contact.floor".into(),
            marker: String::new(),
            value,
            unit: "m/s".into(),
        };
        let (a, b) = (event(0.5, 3.0), event(0.75, 1.0));
        for (take, exact) in [
            (Reduction::Count, 2.0),
            (Reduction::Sum, 4.0),
            (Reduction::Mean, 2.0),
            (Reduction::First, 3.0),
            (Reduction::Last, 1.0),
            (Reduction::Minimum, 1.0),
            (Reduction::Maximum, 3.0),
            (Reduction::FirstTime, 0.5),
            (Reduction::LastTime, 0.75),
        ] {
            assert_eq!(count(&[&a, &b], take), Some(exact), "{take:?}");
        }
        assert_eq!((count(&[], Reduction::FirstTime), count(&[], Reduction::Count)), (None, Some(0.0)));
    }
}
