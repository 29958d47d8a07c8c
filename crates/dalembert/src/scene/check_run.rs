//! Whether the settings of a run and of its output make sense.

use super::assemble::Reader;
use super::nearest;
use super::settings::{ContactSettings, OutputSettings, RunSettings};
use crate::run::matches;
use dalembert_methods::integrate;
use dalembert_methods::nonsmooth::choices;

/// The largest number of rows a run may record.
const MOST_ROWS: f64 = 1e8;

impl Reader<'_> {
    /// Gives the forces that `run.fast`, `run.faster` and `run.fastest` name their rates.
    pub(super) fn read_rates(&mut self, run: &RunSettings) {
        let Some(entry) = self.document.table("run") else { return };
        for (rate, (key, patterns)) in run.rates().into_iter().enumerate() {
            if rate > 0 && !patterns.is_empty() && run.rates()[rate - 1].1.is_empty() {
                let message = format!("there are no forces in `{}`, the rate below", run.rates()[rate - 1].0);
                self.problems.extend(entry.error(key, message, Some("name the forces of lower rates first")));
            }
            for (i, pattern) in patterns.iter().enumerate() {
                let (message, help) = match self.builder.rate(rate + 1, |name| matches(pattern, name)) {
                    (0, _) => (
                        format!("no force matches `{pattern}`"),
                        "name forces by the words after `force.`; `*` stands for any text",
                    ),
                    (_, Some(name)) => (format!("`{name}` has a rate already"), "a force has one rate"),
                    _ => continue,
                };
                self.problems.extend(entry.error(&format!("{key}.{i}"), message, Some(help)));
            }
        }
    }

    /// Blames settings of the run.
    pub(super) fn check_run(&mut self, run: &RunSettings) {
        let Some(entry) = self.document.table("run") else { return };
        let mut blame = |key: &str, message: String, help: Option<String>| {
            self.problems.extend(entry.error(key, message, help.as_deref()));
        };
        for (key, time) in [("start", run.start), ("until", run.until)] {
            if !time.is_finite() {
                blame(key, format!("a run takes a finite time, found {time} s"), None);
            }
        }
        if run.until.partial_cmp(&run.start) != Some(std::cmp::Ordering::Greater) {
            blame(
                "until",
                format!("the run must end after it starts at {} s, not at {} s", run.start, run.until),
                None,
            );
        }
        if run.ledger_factor < 0.0 {
            blame("ledger_factor", format!("a factor must not be negative, found {}", run.ledger_factor), None);
        }
        let ContactSettings { touch, rest, creep, settle, .. } = run.contacts;
        for (key, value) in [("rest", rest), ("settle", settle)] {
            if value <= 0.0 {
                blame(&format!("contacts.{key}"), format!("must be positive, found {value}"), None);
            }
        }
        for (key, value) in [("touch", touch), ("creep", creep)] {
            if value < 0.0 {
                blame(&format!("contacts.{key}"), format!("must not be negative, found {value}"), None);
            }
        }
        let methods = choices();
        let Some(about) = methods.iter().find(|about| about.name == run.integrator) else {
            let names = methods.iter().map(|about| about.name);
            let help = nearest(&run.integrator, names.clone()).map_or_else(
                || format!("expected one of {}", names.collect::<Vec<_>>().join(", ")),
                |n| format!("did you mean `{n}`?"),
            );
            blame("integrator", format!("unknown integrator `{}`", run.integrator), Some(help));
            return;
        };
        if run.settings.contains_key("tolerance") {
            let help = "write `tolerance` in [run] itself, where the ledger sees it too".to_owned();
            blame("settings.tolerance", "the tolerance is not among the further settings".to_owned(), Some(help));
            return;
        }
        for (name, &value) in run.settings.iter().chain([(&"tolerance".to_owned(), &run.tolerance)]) {
            let path = if name == "tolerance" { name.clone() } else { format!("settings.{name}") };
            let one = integrate::Settings::default().with(name, value);
            if let Err(error) = one.check(about) {
                let help =
                    nearest(name, about.parameters.iter().map(|p| p.name)).map(|n| format!("did you mean `{n}`?"));
                blame(
                    &path,
                    error.to_string(),
                    help.filter(|_| matches!(error, integrate::SettingsError::Unknown { .. })),
                );
            }
        }
    }

    /// Blames settings of the output.
    pub(super) fn check_output(&mut self, output: &OutputSettings, run: &RunSettings) {
        let Some(entry) = self.document.table("output") else { return };
        let rows = (run.until - run.start) / output.every;
        let message = if output.every < 0.0 {
            format!("the time between rows must not be negative, found {} s", output.every)
        } else if output.every > 0.0 && rows.is_finite() && rows > MOST_ROWS {
            format!("{rows:.1e} rows are too many, the limit is {MOST_ROWS:.0e}")
        } else {
            return;
        };
        self.problems.extend(entry.error("every", message, None));
    }
}
