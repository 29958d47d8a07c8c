//! Tables as text: `events.csv`, `steps.csv` and `trajectory.csv`.
//!
//! RFC 4180 with `\n` line ends: fields with a comma, a quote or a line end are quoted, quotes inside are doubled.
//! Numbers have 17 significant digits, which give back every f64 bit for bit (except the payload of NaN).

use std::borrow::Cow;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

use dalembert_methods::trajectory::{Channel, Event, Trajectory};

use super::RecordError;

const EVENT_HEADER: [&str; 6] = ["time", "kind", "element", "marker", "value", "unit"];
const STEP_HEADER: [&str; 2] = ["time", "size"];

/// Writes `events.csv`.
pub fn write_events(out: &mut impl Write, events: &[Event]) -> io::Result<()> {
    writeln!(out, "{}", EVENT_HEADER.join(","))?;
    for e in events {
        let [kind, element, marker, unit] = [&e.kind, &e.element, &e.marker, &e.unit].map(|text| quoted(text));
        writeln!(out, "{:.16e},{kind},{element},{marker},{:.16e},{unit}", e.time, e.value)?;
    }
    Ok(())
}

/// Writes `steps.csv`: the time at the start of each accepted step and its size, both in s.
pub fn write_steps(out: &mut impl Write, steps: &[(f64, f64)]) -> io::Result<()> {
    writeln!(out, "{}", STEP_HEADER.join(","))?;
    for (time, size) in steps {
        writeln!(out, "{time:.16e},{size:.16e}")?;
    }
    Ok(())
}

/// Writes `trajectory.csv`: one header line of names with units, then one line for each row.
pub fn write_trajectory_csv(out: &mut impl Write, trajectory: &Trajectory) -> io::Result<()> {
    for (i, Channel { name, unit, .. }) in trajectory.channels().iter().enumerate() {
        let comma = if i == 0 { "" } else { "," };
        write!(out, "{comma}{}", quoted(&format!("{name} [{unit}]")))?;
    }
    writeln!(out)?;
    for row in 0..trajectory.len() {
        for (i, column) in trajectory.columns().iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(out, "{comma}{:.16e}", column[row])?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Reads `events.csv`.
pub fn read_events(path: &Path) -> Result<Vec<Event>, RecordError> {
    let table = Table::read(path, &EVENT_HEADER)?;
    let event = |(line, row): &(usize, Vec<String>)| {
        let [time, kind, element, marker, value, unit] = table.fields(*line, row)?;
        Ok(Event {
            time: table.number(*line, time)?,
            kind: kind.clone(),
            element: element.clone(),
            marker: marker.clone(),
            value: table.number(*line, value)?,
            unit: unit.clone(),
        })
    };
    table.rows.iter().map(event).collect()
}

/// Reads `steps.csv`.
pub fn read_steps(path: &Path) -> Result<Vec<(f64, f64)>, RecordError> {
    let table = Table::read(path, &STEP_HEADER)?;
    let step = |(line, row): &(usize, Vec<String>)| {
        let [time, size] = table.fields(*line, row)?;
        Ok((table.number(*line, time)?, table.number(*line, size)?))
    };
    table.rows.iter().map(step).collect()
}

/// Reads `trajectory.csv`. Text has no place for frames, so they come back empty.
pub fn read_trajectory_csv(path: &Path) -> Result<Trajectory, RecordError> {
    let table = Table::read(path, &[])?;
    let mut channels = Vec::with_capacity(table.header.len());
    for title in &table.header {
        let parts = title.strip_suffix(']').and_then(|t| t.rsplit_once(" ["));
        let (name, unit) = parts
            .ok_or_else(|| RecordError::malformed(path, 1, format!("`{title}` is not of the form `name [unit]`")))?;
        channels.push(Channel::new(name, unit, ""));
    }
    let mut columns = vec![Vec::with_capacity(table.rows.len()); channels.len()];
    for (line, row) in &table.rows {
        if row.len() != columns.len() {
            return Err(table.wrong_width(*line, row.len(), columns.len()));
        }
        for (column, field) in columns.iter_mut().zip(row) {
            column.push(table.number(*line, field)?);
        }
    }
    Trajectory::from_columns(channels, columns).map_err(|error| RecordError::table(path, &error))
}

/// A field as it stands in the file.
fn quoted(text: &str) -> Cow<'_, str> {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\"")).into()
    } else {
        text.into()
    }
}

/// A parsed file: the header and the rows with the lines they start on.
struct Table<'a> {
    path: &'a Path,
    header: Vec<String>,
    rows: Vec<(usize, Vec<String>)>,
}

impl<'a> Table<'a> {
    fn read(path: &'a Path, header: &[&str]) -> Result<Self, RecordError> {
        let text = fs::read_to_string(path).map_err(RecordError::io("read", path))?;
        let mut rows = parse(&text).map_err(|line| RecordError::malformed(path, line, "a quote is not closed"))?;
        if rows.is_empty() {
            return Err(RecordError::malformed(path, 1, "the file is empty"));
        }
        let (_, found) = rows.remove(0);
        if !header.is_empty() && found != header {
            let reason = format!("the header is `{}`, expected `{}`", found.join(","), header.join(","));
            return Err(RecordError::malformed(path, 1, reason));
        }
        Ok(Self { path, header: found, rows })
    }

    fn fields<'r, const N: usize>(&self, line: usize, row: &'r [String]) -> Result<&'r [String; N], RecordError> {
        row.try_into().map_err(|_| self.wrong_width(line, row.len(), N))
    }

    fn number(&self, line: usize, field: &str) -> Result<f64, RecordError> {
        field.parse().map_err(|_| RecordError::malformed(self.path, line, format!("`{field}` is not a number")))
    }

    fn wrong_width(&self, line: usize, found: usize, expected: usize) -> RecordError {
        RecordError::malformed(self.path, line, format!("{found} fields where {expected} are expected"))
    }
}

/// Splits text into rows of fields; an unclosed quote is reported by the line it opens on.
fn parse(text: &str) -> Result<Vec<(usize, Vec<String>)>, usize> {
    let mut rows = Vec::new();
    let mut row = Vec::new();
    let mut field = String::new();
    let (mut line, mut row_line, mut open) = (1, 1, None);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        if c == '\n' {
            line += 1;
        }
        match (open, c) {
            (Some(_), '"') if rest.peek() == Some(&'"') => field.extend(rest.next()),
            (Some(_), '"') => open = None,
            (Some(_), _) => field.push(c),
            (None, '"') => open = Some(line),
            (None, ',') => row.push(std::mem::take(&mut field)),
            (None, '\r') if rest.peek() == Some(&'\n') => {}
            (None, '\n') => {
                row.push(std::mem::take(&mut field));
                rows.push((row_line, std::mem::take(&mut row)));
                row_line = line;
            }
            (None, _) => field.push(c),
        }
    }
    if let Some(line) = open {
        return Err(line);
    }
    if !row.is_empty() || !field.is_empty() {
        row.push(field);
        rows.push((row_line, row));
    }
    Ok(rows)
}
