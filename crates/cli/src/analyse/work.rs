//! Work and precision of integrators on a scene: errors over steps, over processor time and over work, as a table and as diagrams.

use super::page::{Chart, Page, Style};
use super::{Ear, bar, failed, with};
use crate::args::{ModelOptions, WorkOptions};
use crate::exit::Exit;
use crate::robot;
use dalembert_sweeps::compare::{Compared, Comparison, Row, Wanted, timed};
use std::path::{Path, PathBuf};

/// The work that errors are drawn over, and that the table shows.
const WORK: &str = "forces";
const COUNTS: [&str; 4] = ["steps", WORK, "factorisations", "rejected"];

/// Compares integrators and their options on a scene.
pub fn work_precision(model: &ModelOptions, options: &WorkOptions, out: Option<&Path>) -> Result<(), Exit> {
    let make = |set: &[String]| {
        let mut all = with(model, &[]);
        all.set.extend_from_slice(set);
        robot::scene(&all).map_err(|exit| exit.to_string())
    };
    // Faults of the scene itself are told as those of a run are.
    let scene = robot::scene(model)?;
    let stem = Path::new(&model.model).file_stem().map_or_else(|| "scene".into(), |stem| stem.to_string_lossy());
    let folder = out.map_or_else(|| PathBuf::from(format!("runs/{stem}-work-precision")), Path::to_path_buf);
    let title = if scene.info.title.is_empty() { stem.as_ref() } else { &scene.info.title };
    let mut page = Page::new(&format!("Work and precision: {title}"));
    let (ear, mut interrupted, mut sound) = (Ear::new(), None, 0);
    let wanted = wanted(options)?;
    for (name, settings) in wanted.of(&scene).map_err(Exit::Usage)? {
        let title = if settings.title.is_empty() { name.clone() } else { settings.title.clone() };
        let own = wanted.own_methods().then_some(name.as_str());
        let comparison = Comparison::new(&make, own, settings).map_err(|error| failed(format!("{title}: {error}")))?;
        let bar = bar(comparison.len());
        let mut clock = |work: &mut dyn FnMut()| timed(options.timing, work);
        let compared = comparison.run(&mut clock, &|| ear.more(), &mut |done| bar.set_position(done as u64));
        bar.finish_and_clear();
        let compared = compared.map_err(failed)?;
        if !compared.whole {
            interrupted = Some(format!("{} of {} runs of `{name}` were made", compared.rows.len(), comparison.len()));
        }
        sound += compared.rows.iter().filter(|row| row.fault.is_none()).count();
        write(&mut page, &name, &title, &comparison, &compared);
        if interrupted.is_some() {
            break;
        }
    }
    if let Some(what) = interrupted {
        page.interrupted(&what);
    }
    page.note(&format!("report  {}", folder.join("report.html").display()));
    page.finish(Some(&folder))?;
    if sound == 0 { Err(Exit::Failed("every run failed; the table has the reasons".to_owned())) } else { Ok(()) }
}

/// What the command line asks for.
fn wanted(options: &WorkOptions) -> Result<Wanted, Exit> {
    let exact = |text: &String| {
        let found =
            text.split_once('=').map(|(channel, formula)| (channel.trim().to_owned(), formula.trim().to_owned()));
        found.ok_or_else(|| Exit::Usage(format!("`{text}`: expected CHANNEL=FORMULA")))
    };
    Ok(Wanted {
        comparison: options.comparison.clone(),
        method: options.method.clone(),
        vary: options.vary.clone(),
        values: options.values.clone(),
        channel: options.channel.clone(),
        take: options.take,
        until: options.until,
        reference: options.reference.clone(),
        exact: options.exact.iter().map(exact).collect::<Result<_, _>>()?,
    })
}

/// Writes tables and diagrams of one comparison.
fn write(page: &mut Page, name: &str, title: &str, comparison: &Comparison<'_>, compared: &Compared) {
    page.heading(title);
    let log = comparison.logarithmic();
    page.file(&format!("{name}.csv"), csv(comparison, compared).into_bytes());
    if log {
        orders(page, comparison, compared);
        equal(page, comparison, compared);
    } else {
        least(page, compared);
    }
    let varied = axis(comparison.vary());
    let curves = |point: &dyn Fn(&Row) -> [f64; 2], all: bool| -> Vec<(String, Vec<[f64; 2]>)> {
        let methods = compared.methods.iter().enumerate();
        let own = methods.filter(|(_, method)| all || method.vary == comparison.vary());
        own.map(|(k, method)| (method.name.clone(), compared.sound(k).into_iter().map(point).collect())).collect()
    };
    let mut draw = |file: String, title: String, across: &str, log: [bool; 2], curves: Vec<(String, Vec<[f64; 2]>)>| {
        let across = across.to_owned();
        page.chart(&format!("{name}-{file}"), &Chart { title, across, log, style: Style::Marked, curves });
    };
    for (k, measure) in comparison.measures.iter().enumerate() {
        let what = format!("Error of {} [{}]", measure.name, measure.unit);
        let number = if k == 0 { String::new() } else { format!("-{}", k + 1) };
        let mut errors = curves(&|row| [row.value, row.errors[k]], false);
        if log {
            let own = (0..compared.methods.len()).filter(|&k| compared.methods[k].vary == comparison.vary());
            for (method, (name, _)) in own.zip(&mut errors) {
                if let Some(order) = compared.order(method, k) {
                    *name += &format!(" (order {order:.1})");
                }
            }
        }
        draw(format!("errors{number}"), what.clone(), &varied, [log, true], errors);
        if !log {
            continue;
        }
        let times = curves(&|row| [row.seconds, row.errors[k]], true);
        draw(format!("times{number}"), format!("{what} over processor time"), "s", [true, true], times);
        if k == 0 {
            let count = |row: &Row| row.counts.get(WORK).map_or(f64::NAN, |n| *n as f64);
            let work = curves(&|row| [count(row), row.errors[0]], true);
            draw("work".to_owned(), format!("{what} over work"), "evaluations of forces", [true, true], work);
        }
    }
    let times = curves(&|row| [row.value, row.seconds], false);
    draw("seconds".to_owned(), "Processor time [s]".to_owned(), &varied, [log, true], times);
    for motion in &compared.motions {
        let (title, across) = (format!("{} [{}]", motion.channel, motion.unit), "t [s]".to_owned());
        let curves = motion.curves.clone();
        let chart = Chart { title, across, log: [false; 2], style: Style::Line, curves };
        page.chart(&format!("{name}-{}", motion.channel), &chart);
    }
    table(page, comparison, compared);
}

/// What is varied, with its unit where that is known.
fn axis(vary: &str) -> String {
    match vary {
        "fixed_step" => "fixed_step [s]".to_owned(),
        other => other.strip_prefix("parameters.").unwrap_or(other).to_owned(),
    }
}

/// A value with six digits at most.
fn plain(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 || (1e-4..1e6).contains(&size) {
        let rounded: f64 = format!("{x:.5e}").parse().unwrap_or(x);
        return format!("{rounded}");
    }
    format!("{x:.3e}")
}

fn table(page: &mut Page, comparison: &Comparison<'_>, compared: &Compared) {
    let mut head = vec!["method".to_owned(), axis(comparison.vary())];
    head.extend(comparison.measures.iter().map(|measure| format!("error of {} [{}]", measure.name, measure.unit)));
    head.push("time [s]".to_owned());
    let shown: Vec<&str> = COUNTS
        .into_iter()
        .filter(|name| compared.rows.iter().any(|row| row.counts.get(*name).is_some_and(|n| *n > 0)))
        .collect();
    head.extend(shown.iter().map(|name| (*name).to_owned()));
    let number = |x: f64| if x.is_nan() { "–".to_owned() } else { format!("{x:.2e}") };
    let mut rows = vec![head];
    let mut faults = Vec::new();
    let mut last = None;
    for row in &compared.rows {
        let method = &compared.methods[row.method];
        let value = if method.vary == comparison.vary() {
            plain(row.value)
        } else {
            format!("{} = {}", axis(&method.vary), plain(row.value))
        };
        let mark = if row.fault.is_some() { " *" } else { "" };
        if let Some(fault) = &row.fault {
            faults.push(format!("* {}, {}: {fault}", method.name, value));
        }
        // A method has its name once.
        let name = if last == Some(row.method) { "" } else { &method.name };
        last = Some(row.method);
        let mut cells = vec![name.to_owned(), format!("{value}{mark}")];
        cells.extend(row.errors.iter().map(|error| number(*error)));
        cells.push(number(row.seconds));
        cells.extend(shown.iter().map(|name| row.counts.get(*name).map_or("–".to_owned(), ToString::to_string)));
        rows.push(cells);
    }
    page.table(&rows);
    page.note("");
    for fault in faults {
        page.say(&fault);
    }
}

/// The table for other programs: all counts, and reasons.
fn csv(comparison: &Comparison<'_>, compared: &Compared) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('"', "\"\"").replace('\n', " "));
    let mut names: Vec<&String> = compared.rows.iter().flat_map(|row| row.counts.keys()).collect();
    names.sort();
    names.dedup();
    let errors =
        comparison.measures.iter().map(|measure| quoted(&format!("error {} [{}]", measure.name, measure.unit)));
    let floors =
        comparison.measures.iter().map(|measure| quoted(&format!("floor {} [{}]", measure.name, measure.unit)));
    let head = ["method", "vary", "value"].map(str::to_owned).into_iter().chain(errors).chain(floors);
    let head = head.chain(["seconds".to_owned()]).chain(names.iter().map(|name| (*name).clone()));
    let mut out = head.chain(["fault".to_owned()]).collect::<Vec<_>>().join(",") + "\n";
    let number = |x: f64| if x.is_nan() { String::new() } else { format!("{x:?}") };
    for row in &compared.rows {
        let method = &compared.methods[row.method];
        let mut cells = vec![quoted(&method.name), method.vary.clone(), number(row.value)];
        cells.extend(row.errors.iter().chain(&row.floors).chain([&row.seconds]).map(|x| number(*x)));
        cells.extend(names.iter().map(|name| row.counts.get(*name).map_or(String::new(), ToString::to_string)));
        cells.push(row.fault.as_deref().map_or(String::new(), quoted));
        out += &(cells.join(",") + "\n");
    }
    out
}

/// The measured orders.
fn orders(page: &mut Page, comparison: &Comparison<'_>, compared: &Compared) {
    let mut head = vec!["measured order".to_owned()];
    head.extend(comparison.measures.iter().map(|measure| measure.name.clone()));
    let mut rows = vec![head];
    for (k, method) in compared.methods.iter().enumerate() {
        let order = |measure| compared.order(k, measure).map_or("–".to_owned(), |order| format!("{order:.2}"));
        let own = (0..comparison.measures.len()).map(order);
        rows.push(std::iter::once(method.name.clone()).chain(own).collect());
    }
    page.table(&rows);
    page.note("");
    page.say("Orders are slopes over the three smallest values whose errors stand above rounding and what the reference may be off (`floor` in the table of numbers).");
}

/// Times at equal error.
fn equal(page: &mut Page, comparison: &Comparison<'_>, compared: &Compared) {
    for (k, measure) in comparison.measures.iter().enumerate() {
        let Some(equal) = compared.at_equal_error(k) else { continue };
        let best = equal.seconds.iter().flatten().fold(f64::INFINITY, |least, s| least.min(*s));
        let what = format!("at an error of {:.1e} {} in {}", equal.error, measure.unit, measure.name);
        let mut rows = vec![vec![what, "time [s]".to_owned(), "times the least".to_owned()]];
        for (method, seconds) in compared.methods.iter().zip(&equal.seconds) {
            if let Some(seconds) = seconds {
                rows.push(vec![method.name.clone(), format!("{seconds:.2e}"), format!("{:.1}", seconds / best)]);
            }
        }
        page.table(&rows);
        page.note("");
    }
}

/// Where the least time is.
fn least(page: &mut Page, compared: &Compared) {
    let head = ["least time of", "at", "s", "at the first value", "times faster"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for (k, method) in compared.methods.iter().enumerate() {
        let Some(best) = compared.sound(k).into_iter().min_by(|a, b| a.seconds.total_cmp(&b.seconds)) else { continue };
        let first = compared.rows.iter().find(|row| row.method == k).filter(|row| row.fault.is_none());
        let (at, factor) = first.map_or(("–".to_owned(), "–".to_owned()), |first| {
            (format!("{:.2e} s", first.seconds), format!("{:.1}", first.seconds / best.seconds))
        });
        let own = vec![method.name.clone(), plain(best.value), format!("{:.2e}", best.seconds), at, factor];
        rows.push(own);
    }
    page.table(&rows);
    page.note("");
}
