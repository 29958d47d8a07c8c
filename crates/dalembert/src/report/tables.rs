//! The tables of the page.

use std::fmt::Write;

use dalembert_methods::trajectory::{Event, Trajectory};

use super::format::{count, number};
use super::svg::escape;
use crate::record::{Ledger, Summary};

/// Most rows of the table of events.
const EVENTS: usize = 1000;
/// Most rows of the table of channels.
const CHANNELS: usize = 500;

/// A table from rows of cells; cells after the first are numbers if `numeric` says so.
pub fn table(header: &[&str], numeric: &[bool], rows: impl Iterator<Item = Vec<String>>) -> String {
    let class = |i: usize| if numeric.get(i).copied().unwrap_or(false) { " class=\"n\"" } else { "" };
    let mut out = String::from("<div class=\"scroll\"><table>");
    if !header.is_empty() {
        out.push_str("<thead><tr>");
        for (i, cell) in header.iter().enumerate() {
            put(&mut out, format_args!("<th scope=\"col\"{}>{}</th>", class(i), escape(cell)));
        }
        out.push_str("</tr></thead>");
    }
    out.push_str("<tbody>");
    for row in rows {
        out.push_str("<tr>");
        for (i, cell) in row.iter().enumerate() {
            put(&mut out, format_args!("<td{}>{}</td>", class(i), escape(cell)));
        }
        out.push_str("</tr>");
    }
    out.push_str("</tbody></table></div>");
    out
}

/// Energies and momenta at start and end.
pub fn ledger(ledger: &Ledger) -> String {
    let Ledger { start, end, .. } = ledger;
    let scalar = |name: &str, unit: &str, a: f64, b: f64| {
        vec![name.to_owned(), unit.to_owned(), number(a, 10), number(b, 10), number(b - a, 4)]
    };
    let vector = |name: &str, unit: &str, a: [f64; 3], b: [f64; 3]| {
        let list = |v: [f64; 3], digits: usize| v.map(|c| number(c, digits)).join(",  ");
        let change = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
        vec![name.to_owned(), unit.to_owned(), list(a, 6), list(b, 6), list(change, 3)]
    };
    let rows = [
        scalar("kinetic energy", "J", start.kinetic, end.kinetic),
        scalar("potential energy", "J", start.potential, end.potential),
        scalar("dissipated", "J", start.dissipated, end.dissipated),
        scalar("supplied", "J", start.supplied, end.supplied),
        scalar("total (kinetic + potential + dissipated − supplied)", "J", start.total, end.total),
        vector("linear momentum (x, y, z)", "kg m/s", start.linear_momentum, end.linear_momentum),
        vector("angular momentum (x, y, z)", "kg m²/s", start.angular_momentum, end.angular_momentum),
    ];
    table(&["", "unit", "start", "end", "change"], &[false, false, true, true, true], rows.into_iter())
}

/// The events with the numbers that mark them in the plots.
pub fn events(events: &[Event]) -> String {
    let row = |(i, e): (usize, &Event)| {
        let [kind, element, marker] = [&e.kind, &e.element, &e.marker].map(Clone::clone);
        vec![count(i as u64 + 1), number(e.time, 10), kind, element, marker, number(e.value, 8), e.unit.clone()]
    };
    let rows = events.iter().take(EVENTS).enumerate().map(row);
    let mut out = table(
        &["", "time [s]", "kind", "element", "marker", "value", "unit"],
        &[true, true, false, false, false, true, false],
        rows,
    );
    if events.len() > EVENTS {
        let text = format!("The first {EVENTS} of {} events; all are in events.csv.", count(events.len() as u64));
        put(&mut out, format_args!("<p class=\"note\">{}</p>", escape(&text)));
    }
    out
}

/// Counts of work done.
pub fn counts(summary: &Summary) -> String {
    let rows = summary.counts.iter().map(|(name, n)| vec![name.replace('_', " "), count(*n)]);
    table(&[], &[false, true], rows)
}

/// Settings, tolerance and seeds.
pub fn settings(summary: &Summary) -> String {
    let mut rows = vec![vec!["integrator".to_owned(), summary.integrator.clone()]];
    if let Some(tolerance) = summary.tolerance {
        rows.push(vec!["tolerance".to_owned(), number(tolerance, 6)]);
    }
    rows.extend(summary.settings.iter().map(|(name, value)| vec![name.replace('_', " "), value.to_string()]));
    rows.extend(summary.seeds.iter().map(|(name, seed)| vec![format!("seed of {name}"), seed.to_string()]));
    rows.push(vec!["dalembert".to_owned(), summary.dalembert_version.clone()]);
    table(&[], &[false, true], rows.into_iter())
}

/// All channels with their ranges.
pub fn channels(trajectory: &Trajectory) -> String {
    let row = |(i, c): (usize, &dalembert_methods::trajectory::Channel)| {
        let values = &trajectory.columns()[i];
        let end = |x: Option<&f64>| x.map_or_else(String::new, |x| number(*x, 6));
        let finite = || values.iter().copied().filter(|x| x.is_finite());
        let [low, high] = [finite().reduce(f64::min), finite().reduce(f64::max)];
        vec![
            c.name.clone(),
            c.unit.clone(),
            c.frame.clone(),
            end(values.first()),
            end(values.last()),
            end(low.as_ref()),
            end(high.as_ref()),
        ]
    };
    let rows = trajectory.channels().iter().enumerate().take(CHANNELS).map(row);
    let mut out = table(
        &["channel", "unit", "frame", "first", "last", "lowest", "highest"],
        &[false, false, false, true, true, true, true],
        rows,
    );
    let all = trajectory.channels().len();
    if all > CHANNELS {
        let text = format!("The first {CHANNELS} of {} channels; all are in trajectory.parquet.", count(all as u64));
        put(&mut out, format_args!("<p class=\"note\">{}</p>", escape(&text)));
    }
    out
}

/// Appends formatted text.
pub fn put(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("writing to a String cannot fail");
}
