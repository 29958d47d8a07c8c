//! The page: everything about a run in one file that opens anywhere, today and in twenty years.
//!
//! No link to anywhere else, no font to fetch, and no script but that of the view in space. Names and texts come from users and are escaped without
//! exception. Long parts fold away; what is folded costs few bytes because curves share a budget.

use super::format::{count, number};
use super::svg::{Form, escape};
use super::tables::{self, put};
use super::{Picture, ReportInput, View, theme};
use crate::record::{Status, Summary};

/// Plots of the motion that are unfolded at first.
const UNFOLDED: usize = 12;
/// Bytes of the scene shown on the page.
const SCENE_BYTES: usize = 200_000;

/// Makes the report.
pub fn page(input: &ReportInput<'_>) -> String {
    let summary = input.summary;
    let title = if summary.title.is_empty() { &summary.name } else { &summary.title };
    let title = if title.is_empty() { "run" } else { title };
    let sections = sections(input);
    let mut out = String::from("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    out.push_str("<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n");
    put(&mut out, format_args!("<title>{} · dalembert</title>\n", escape(title)));
    put(&mut out, format_args!("<style>\n{}{}</style>\n", theme::page_style(), include_str!("page.css")));
    out.push_str("</head>\n<body>\n<main>\n<header>\n");
    put(&mut out, format_args!("<div class=\"top\"><h1>{}</h1>{}</div>\n", escape(title), badge(summary)));
    put(&mut out, format_args!("<p class=\"sub\">{}</p>\n", escape(&subtitle(summary))));
    put(&mut out, format_args!("<p>{}</p>\n", escape(&story(input))));
    if let Some(error) = &summary.error {
        put(&mut out, format_args!("<p class=\"error\">{}</p>\n", escape(error)));
    }
    out.push_str(&key_figures(summary));
    out.push_str("</header>\n");
    if let Some(view) = &input.view {
        out.push_str(&view_section(view));
    }
    if let Some(svg) = input.motion.and_then(|motion| motion.draw(Form::Inline)) {
        put(&mut out, format_args!("<figure class=\"motion\">{svg}</figure>\n"));
    }
    out.push_str("<nav aria-label=\"Contents\"><ul>");
    for (id, name, _) in &sections {
        put(&mut out, format_args!("<li><a href=\"#{id}\">{name}</a></li>"));
    }
    out.push_str("</ul></nav>\n");
    for (id, name, body) in &sections {
        put(&mut out, format_args!("<section id=\"{id}\">\n<h2>{name}</h2>\n{body}</section>\n"));
    }
    put(&mut out, format_args!("<footer>Made by dalembert {}.</footer>\n", escape(&summary.dalembert_version)));
    out.push_str("</main>\n");
    if let Some(script) = input.view.and_then(|view| view.script) {
        put(&mut out, format_args!("<script>{script}</script>\n"));
    }
    out.push_str("</body>\n</html>\n");
    out
}

/// The place of the view in space with its data, or a sentence on how to get it.
fn view_section(view: &View<'_>) -> String {
    if view.script.is_none() {
        return "<p class=\"note\">This page has no view in space, because the program that wrote it was built without one. \
                Build it with <code>cargo xtask viewer</code> and then <code>cargo build --release</code>, and make the page again \
                with <code>dalembert report</code>.</p>\n"
            .to_owned();
    }
    // Inside a script only `<` could end the data; JSON has another way to write it.
    let data = view.animation.replace('<', "\\u003c");
    format!(
        "<section id=\"view\" aria-label=\"Motion in space\"></section>\n\
         <script type=\"application/json\" id=\"animation\">{data}</script>\n"
    )
}

/// Anchor, heading and content of each section that has content.
fn sections(input: &ReportInput<'_>) -> Vec<(&'static str, &'static str, String)> {
    let (mut energies, mut residuals, mut motion) = (Vec::new(), Vec::new(), Vec::new());
    for picture in input.pictures(Form::Inline) {
        match picture.panel.kind() {
            "energy" | "momentum" => energies.push(picture),
            "residual" => residuals.push(picture),
            _ => motion.push(picture),
        }
    }
    let mut accuracy = figures(&residuals);
    if let Some(svg) = input.step_picture(Form::Inline) {
        put(&mut accuracy, format_args!("<figure>{svg}</figure>\n"));
    }
    let grid =
        |content: String| if content.is_empty() { content } else { format!("<div class=\"grid2\">{content}</div>\n") };
    let events = if input.events.is_empty() { String::new() } else { tables::events(input.events) };
    let asked = input.figure_pictures(Form::Inline);
    let asked = asked.iter().map(|(_, svg)| format!("<figure>{svg}</figure>\n")).collect();
    let all = [
        ("figures", "Figures", grid(asked)),
        ("ledger", "Ledger", ledger(input.summary)),
        ("energies", "Energies and momenta", grid(figures(&energies))),
        ("accuracy", "Residuals and step sizes", grid(accuracy)),
        ("motion", "Motion", motion_section(&motion, input.panels.len())),
        ("events", "Events", events),
        ("work", "Work and settings", work(input.summary)),
        ("channels", "Channels", folded("All recorded channels", &tables::channels(input.trajectory), "")),
        ("scene", "Scene", scene(input.scene_text)),
    ];
    all.into_iter().filter(|(_, _, body)| !body.is_empty()).collect()
}

fn figures(pictures: &[Picture]) -> String {
    pictures.iter().map(|picture| format!("<figure>{}</figure>\n", picture.svg)).collect()
}

/// The plots of bodies, joints and forces, one foldable group for each.
fn motion_section(pictures: &[Picture], panels: usize) -> String {
    let mut out = String::new();
    let mut shown = 0;
    for group in pictures.chunk_by(|a, b| a.group == b.group) {
        let open = if shown == 0 || shown + group.len() <= UNFOLDED { " open" } else { "" };
        shown += group.len();
        let name = if group[0].group.is_empty() { "other" } else { &group[0].group };
        let plots = if group.len() == 1 { "1 plot".to_owned() } else { format!("{} plots", group.len()) };
        put(
            &mut out,
            format_args!(
                "<details{open}><summary>{}<small>{plots}</small></summary><div class=\"grid2\">{}</div></details>\n",
                escape(name),
                figures(group)
            ),
        );
    }
    if panels > super::DRAWN {
        let rest = panels - super::DRAWN;
        put(
            &mut out,
            format_args!(
                "<p class=\"note\">{} further plots are not drawn. Their channels are in trajectory.parquet.</p>\n",
                count(rest as u64)
            ),
        );
    }
    out
}

fn badge(summary: &Summary) -> String {
    let class = match summary.status {
        Status::Completed if summary.ledger.closes => "good",
        Status::Completed | Status::Interrupted => "warn",
        Status::Failed => "bad",
    };
    format!("<span class=\"badge {class}\">{}</span>", summary.status)
}

fn subtitle(summary: &Summary) -> String {
    let mut parts = vec![format!("dalembert {}", summary.dalembert_version)];
    if !summary.name.is_empty() {
        parts.insert(0, format!("scene {}", summary.name));
    }
    parts.join(" · ")
}

/// The run in a few sentences.
fn story(input: &ReportInput<'_>) -> String {
    let s = input.summary;
    let mut text = format!("The run went from {} s to {} s", number(s.start_time, 6), number(s.end_time, 6));
    if !s.integrator.is_empty() {
        text += &format!(" with {}", s.integrator);
    }
    if let Some(tolerance) = s.tolerance {
        text += &format!(" at tolerance {}", number(tolerance, 4));
    }
    if s.wall_time > 0.0 {
        text += &format!(" and took {} s on the clock", number(s.wall_time, 3));
    }
    text.push('.');
    text += match s.status {
        Status::Completed => "",
        Status::Interrupted => " It was interrupted; everything up to there is kept.",
        Status::Failed => " It failed; everything up to there is kept.",
    };
    let imbalance = number(s.ledger.worst_imbalance, 3);
    let verdict = if s.ledger.closes { "closes" } else { "does not close" };
    text += &format!(" The energy ledger {verdict}: the total changed by {imbalance} J at most");
    text += &format!(", where {} J are allowed.", number(s.ledger.allowance, 3));
    match input.events.len() {
        0 => {}
        1 => text += " One event was recorded.",
        n => text += &format!(" {} events were recorded.", count(n as u64)),
    }
    text
}

fn key_figures(summary: &Summary) -> String {
    let simulated = summary.end_time - summary.start_time;
    let mut out = String::from("<dl class=\"figures\">");
    let mut figure = |name: &str, value: String, unit: &str| {
        put(
            &mut out,
            format_args!(
                "<div><dt>{}</dt><dd>{} <small>{}</small></dd></div>",
                escape(name),
                escape(&value),
                escape(unit)
            ),
        );
    };
    figure("simulated time", number(simulated, 4), "s");
    if summary.wall_time > 0.0 {
        figure("time on the clock", number(summary.wall_time, 3), "s");
        figure("speed", number(simulated / summary.wall_time, 3), "× real time");
    }
    if let Some(steps) = summary.counts.get("steps") {
        let rejected = summary.counts.get("rejected").map_or(String::new(), |n| format!("{} rejected", count(*n)));
        figure("steps", count(*steps), &rejected);
    }
    figure("worst imbalance", number(summary.ledger.worst_imbalance, 3), "J");
    figure("worst residual", number(summary.ledger.worst_position_residual, 3), "m or rad");
    out.push_str("</dl>\n");
    out
}

fn ledger(summary: &Summary) -> String {
    let ledger = &summary.ledger;
    let (class, verdict) = if ledger.closes { ("good", "✓ closes") } else { ("bad", "✗ does not close") };
    let by = if summary.tolerance.is_some() { "For this tolerance" } else { "For the errors of these steps" };
    let text = format!(
        "The total of all energies changed by {} J at most, at {} s. {by} {} J are allowed. Constraints \
         were met within {} (positions) and {} (velocities), in SI units.",
        number(ledger.worst_imbalance, 4),
        number(ledger.worst_imbalance_time, 6),
        number(ledger.allowance, 4),
        number(ledger.worst_position_residual, 4),
        number(ledger.worst_velocity_residual, 4)
    );
    let table = tables::ledger(ledger);
    format!("<div class=\"verdict {class}\"><strong>{verdict}</strong><p>{}</p></div>\n{table}\n", escape(&text))
}

fn work(summary: &Summary) -> String {
    let counts = if summary.counts.is_empty() {
        String::new()
    } else {
        format!("<div><h3>Work done</h3>{}</div>", tables::counts(summary))
    };
    let advice = summary.advice().map_or_else(String::new, |advice| format!("<p>{}.</p>\n", escape(&advice)));
    format!("<div class=\"pair\">{counts}<div><h3>Settings</h3>{}</div></div>\n{advice}", tables::settings(summary))
}

fn scene(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let mut end = text.len().min(SCENE_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let mut body = format!("<pre>{}</pre>", escape(&text[..end]));
    if end < text.len() {
        let shown = count(end as u64);
        put(&mut body, format_args!("<p class=\"note\">The first {shown} bytes; all of it is in scene.toml.</p>"));
    }
    let lines = text.lines().count();
    folded(&format!("The scene as run, {} lines", count(lines as u64)), &body, " class=\"printed\"")
}

fn folded(name: &str, body: &str, class: &str) -> String {
    format!("<details{class}><summary>{}</summary>{body}</details>\n", escape(name))
}
