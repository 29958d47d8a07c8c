//! Work and precision of integrators on a scene: errors over steps, over processor time and over work, as a table and as diagrams.

use super::page::{Chart, Page, Style};
use super::{Ear, bar, failed, with};
use crate::args::{ModelOptions, WorkOptions};
use crate::exit::Exit;
use crate::robot;
use dalembert::scene::{ComparisonSettings, Scene, Take, nearest};
use dalembert_sweeps::compare::{Compared, Comparison, Row};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Runs shorter than this are often not interrupted by other work, s.
const SHORT: f64 = 2e-3;
/// Times of the processor below this are told too coarsely, s.
const TICKS: f64 = 0.1;
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
    for (name, settings) in wanted(&scene, options)? {
        let title = if settings.title.is_empty() { name.clone() } else { settings.title.clone() };
        let own = options.method.is_empty().then_some(name.as_str());
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

/// The comparisons that are asked for: those of the scene, with what the command line says in place of what they say.
fn wanted(scene: &Scene, options: &WorkOptions) -> Result<Vec<(String, ComparisonSettings)>, Exit> {
    let names: Vec<&str> = scene.comparisons.iter().map(|(name, _)| name.as_str()).collect();
    if let Some(unknown) = options.comparison.iter().find(|name| !names.contains(&name.as_str())) {
        let near = nearest(unknown, names.iter().copied()).map(|near| format!("; did you mean `{near}`?"));
        let all = if names.is_empty() {
            "; the scene has none".to_owned()
        } else {
            format!("; there are {}", names.join(", "))
        };
        return Err(Exit::Usage(format!("there is no comparison `{unknown}`{}", near.unwrap_or(all))));
    }
    let chosen = |name: &str| options.comparison.is_empty() || options.comparison.iter().any(|wanted| wanted == name);
    let mut all: Vec<(String, ComparisonSettings)> =
        scene.comparisons.iter().filter(|(name, _)| chosen(name)).cloned().collect();
    // Methods and values of one's own are one comparison, whatever the scene has.
    if all.is_empty() || (!options.method.is_empty() && options.comparison.is_empty()) {
        all = vec![("comparison".to_owned(), ComparisonSettings::default())];
    }
    for (_, settings) in &mut all {
        say(settings, options)?;
    }
    Ok(all)
}

/// Puts what the command line says in place of what a comparison says.
fn say(settings: &mut ComparisonSettings, options: &WorkOptions) -> Result<(), Exit> {
    if !options.method.is_empty() {
        settings.methods.clone_from(&options.method);
    }
    if let Some(vary) = &options.vary {
        settings.vary.clone_from(vary);
        settings.methods.iter_mut().for_each(|method| method.vary.clear());
    }
    if !options.values.is_empty() {
        settings.values.clone_from(&options.values);
        settings.methods.iter_mut().for_each(|method| method.values.clear());
    }
    if !options.channel.is_empty() {
        settings.channels.clone_from(&options.channel);
    }
    match options.take.as_deref() {
        Some("maximum") => settings.take = Take::Maximum,
        Some(_) => settings.take = Take::Last,
        None => {}
    }
    settings.until = options.until.or(settings.until);
    if options.reference.is_some() {
        settings.reference.clone_from(&options.reference);
        settings.exact.clear();
    }
    for text in &options.exact {
        let (channel, formula) =
            text.split_once('=').ok_or_else(|| Exit::Usage(format!("`{text}`: expected CHANNEL=FORMULA")))?;
        settings.exact.insert(channel.trim().to_owned(), formula.trim().to_owned());
    }
    Ok(())
}

/// The least time of some work, repeated for a while, s. Long work is always interrupted by others: there the time of the processor counts, as far as the system tells it.
fn timed(budget: f64, work: &mut dyn FnMut()) -> f64 {
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
