//! Whether the settings of a run and of its output make sense.

use super::assemble::Reader;
use super::comparison::ComparisonSettings;
use super::nearest;
use super::settings::{ContactSettings, OutputSettings, RunSettings};
use crate::run::matches;
use dalembert_methods::integrate;
use dalembert_methods::nonsmooth::choices;

/// The largest number of rows a run may record.
const MOST_ROWS: f64 = 1e8;

impl Reader<'_> {
    /// Gives the forces that `run.fast`, `run.fast_bodies`, `run.faster` and `run.fastest` name their rates.
    pub(super) fn read_rates(&mut self, run: &RunSettings) {
        let Some(entry) = self.document.table("run") else { return };
        let fast = self.fast_bodies(run);
        if run.fast.is_empty() {
            self.builder.rate_between(1, &fast);
        }
        for (rate, (key, patterns)) in run.rates().into_iter().enumerate() {
            let named = rate == 0 || !run.rates()[rate - 1].1.is_empty() || rate == 1 && !run.fast_bodies.is_empty();
            if !patterns.is_empty() && !named {
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
        if !fast.is_empty() {
            self.check_fast_bodies(&fast);
        }
    }

    /// The bodies that `run.fast_bodies` names, by number; blames names that no body has.
    fn fast_bodies(&mut self, run: &RunSettings) -> Vec<usize> {
        let Some(entry) = self.document.table("run") else { return Vec::new() };
        let mut found = Vec::new();
        for (i, pattern) in run.fast_bodies.iter().enumerate() {
            let before = found.len();
            let own = self.bodies.iter().filter(|(name, body)| **body != 0 && matches(pattern, name));
            found.extend(own.map(|(_, &body)| body));
            if found.len() == before {
                let help = "name bodies by the words after `body.`; `*` stands for any text";
                let message = format!("no body matches `{pattern}`");
                self.problems.extend(entry.error(&format!("fast_bodies.{i}"), message, Some(help)));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Blames fast bodies without a fast force, and fast forces on other bodies.
    fn check_fast_bodies(&mut self, fast: &[usize]) {
        let Some(entry) = self.document.table("run") else { return };
        let (idle, other) = self.builder.unmatched(fast);
        for name in idle {
            let message = format!(
                "no fast force acts on `{name}`, which is to be fast: a fast variable without a fast potential"
            );
            let help = "name a stiff force on it in `fast`, or take it out of `fast_bodies`";
            self.problems.extend(entry.error("fast_bodies", message, Some(help)));
        }
        for (force, body) in other {
            let message = format!("`{force}` is fast and acts on `{body}`, which is not among `fast_bodies`");
            let help = "name the body there, or take the force out of `fast`";
            self.problems.extend(entry.error("fast_bodies", message, Some(help)));
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

    /// Blames integrators of comparisons that there are not.
    pub(super) fn check_comparisons(&mut self, comparisons: &[(String, ComparisonSettings)]) {
        let names: Vec<&str> = choices().iter().map(|about| about.name).collect();
        for entry in self.document.section("comparison") {
            let Some((_, comparison)) = comparisons.iter().find(|(name, _)| name == entry.name()) else { continue };
            let methods = comparison.methods.iter().enumerate().map(|(k, m)| (format!("methods[{k}].integrator"), m));
            let reference = comparison.reference.iter().map(|m| ("reference.integrator".to_owned(), m));
            for (path, method) in methods.chain(reference) {
                let Some(wrong) = method.integrator.as_deref().filter(|name| !names.contains(name)) else { continue };
                let help = nearest(wrong, names.iter().copied()).map(|near| format!("did you mean `{near}`?"));
                let message = format!("unknown integrator `{wrong}`");
                self.problems.extend(entry.error(&path, message, help.as_deref()));
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
