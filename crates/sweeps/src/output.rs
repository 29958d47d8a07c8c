//! What is kept of a run: one number for each output.

use dalembert::record::Summary;
use dalembert_methods::trajectory::{Event, Trajectory};
use serde::Deserialize;

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

    /// Says what is wrong with it.
    pub(crate) fn checked(&self) -> Result<(), String> {
        use Reduction::{Count, FirstTime, Integral, LastTime, Range, Rms, Sum, TimeOfMaximum, TimeOfMinimum};
        let name = &self.name;
        let source =
            self.source().ok_or(format!("`{name}` is taken from one thing: a `channel`, `events` or `energy`"))?;
        let fits = match (source, self.take) {
            (Source::Energy, take) => take.is_none(),
            (_, None) => return Err(format!("`{name}` needs `take`: `last`, `maximum`, `mean`, `count`, …")),
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

    /// The number of a run; none if there is nothing to take it from.
    pub fn of(&self, trajectory: &Trajectory, events: &[Event], summary: &Summary) -> Option<f64> {
        match self.source()? {
            Source::Channel(name) => reduce(trajectory.time(), trajectory.column(name)?, self.take?),
            Source::Events(element, kind) => {
                let own = |e: &&Event| (e.element == element || element == "*") && kind.is_none_or(|k| e.kind == k);
                count(&events.iter().filter(own).collect::<Vec<_>>(), self.take?)
            }
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
