//! `dalembert list`.

use crate::args::{ListOptions, What};
use crate::exit::Exit;
use dalembert::methods::integrate;
use dalembert::methods::nonsmooth::choices;
use dalembert::scene::{KindInfo, Schema, every_kind, every_section, fields};
use dalembert::scenes;
use dalembert_control::study::built_in;
use std::fmt::Write;

/// The sections of elements with their headings.
const SECTIONS: [(What, &str, &str); 7] = [
    (What::Bodies, "body", "Bodies"),
    (What::Joints, "joint", "Joints"),
    (What::Constraints, "constraint", "Constraints"),
    (What::Contacts, "contact", "Contacts"),
    (What::Forces, "force", "Forces"),
    (What::Signals, "signal", "Signals"),
    (What::Assemblies, "assembly", "Assemblies"),
];

/// Lists what there is.
pub fn list(options: &ListOptions) -> Result<(), Exit> {
    let wanted = |what| options.what.is_none_or(|w| w == what);
    let mut out = String::new();
    if wanted(What::Scenes) {
        heading(&mut out, "Scenes", options.markdown);
        for scene in scenes::ALL {
            row(&mut out, scene.name, scene.summary, options.markdown);
        }
    }
    if wanted(What::Studies) {
        heading(&mut out, "Studies", options.markdown);
        for study in built_in::ALL {
            row(&mut out, study.name, study.summary, options.markdown);
        }
    }
    let kinds = every_kind();
    for (what, section, title) in SECTIONS {
        if wanted(what) {
            heading(&mut out, title, options.markdown);
            for kind in kinds.iter().filter(|kind| kind.section == section) {
                if options.markdown { element(&mut out, kind) } else { row(&mut out, kind.kind, kind.summary, false) }
            }
        }
    }
    if wanted(What::Sections) {
        heading(&mut out, "Other sections", options.markdown);
        for schema in every_section() {
            let about = schema.get("description").and_then(|text| text.as_str()).unwrap_or_default();
            let (name, summary) = about.split_once(": ").unwrap_or((about, ""));
            if options.markdown {
                let _ = writeln!(out, "### {name}\n\n{}\n", sentence(summary));
                table(&mut out, &schema);
            } else {
                row(&mut out, name.trim_matches('`'), summary, false);
            }
        }
    }
    if wanted(What::Integrators) {
        heading(&mut out, "Integrators", options.markdown);
        for about in choices() {
            if options.markdown { method(&mut out, about) } else { row(&mut out, about.name, about.title, false) }
        }
    }
    crate::print(&out)
}

fn heading(out: &mut String, title: &str, markdown: bool) {
    let gap = if out.is_empty() { "" } else { "\n" };
    let _ = if markdown { writeln!(out, "{gap}## {title}\n") } else { writeln!(out, "{gap}{title}") };
}

fn row(out: &mut String, name: &str, summary: &str, markdown: bool) {
    let _ = if markdown { writeln!(out, "- `{name}`: {summary}") } else { writeln!(out, "  {name:<20} {summary}") };
}

/// A cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn element(out: &mut String, kind: &KindInfo) {
    let _ = writeln!(out, "### `{}`\n\n{}\n", kind.kind, kind.summary);
    if let Some(need) = kind.need {
        let count = need.count.map_or_else(|| "two or more".to_owned(), |n| n.to_string());
        let oriented = match need.oriented {
            0 => "",
            n if need.count == Some(n) || n == usize::MAX => ", with an orientation",
            _ => ", the first with an orientation",
        };
        let plural = if need.count == Some(1) { "" } else { "s" };
        let affine = match (need.affine, need.count) {
            (false, _) => "",
            (true, Some(1)) => ": a body, or four markers between which it deforms homogeneously",
            (true, _) => "; the last is a body, or four markers between which it deforms homogeneously",
        };
        let _ = writeln!(out, "Attached by `{}` to {count} marker{plural}{oriented}{affine}.\n", need.key);
    }
    table(out, &kind.schema);
    for reference in kind.references {
        let _ = writeln!(out, "Reference: {reference}\n");
    }
}

/// The keys of a section or element.
fn table(out: &mut String, schema: &Schema) {
    let fields = fields(schema);
    if fields.is_empty() {
        return;
    }
    let _ = writeln!(out, "| key | unit | default | meaning |\n|---|---|---|---|");
    for field in fields {
        let default = field.default.map_or_else(|| "required".to_owned(), |d| format!("`{d}`"));
        let _ = writeln!(out, "| `{}` | {} | {default} | {} |", field.name, field.unit, cell(&field.meaning));
    }
    out.push('\n');
}

/// A text with a capital letter in front.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// A number in few characters.
fn short(x: f64) -> String {
    if x != 0.0 && !(1e-4..1e6).contains(&x.abs()) { format!("{x:e}") } else { x.to_string() }
}

/// A range; an upper bound beyond all that is used is left out.
fn range([low, high]: [f64; 2]) -> String {
    if high < 1e99 { format!("{} … {}", short(low), short(high)) } else { format!("at least {}", short(low)) }
}

fn method(out: &mut String, about: &integrate::About) {
    let _ = writeln!(out, "### `{}`\n\n{}, order {}. {}\n", about.name, about.title, about.order, about.summary);
    let _ = writeln!(out, "| setting | unit | default | range | meaning |\n|---|---|---|---|---|");
    for p in about.parameters {
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} | {} |",
            p.name,
            p.unit,
            short(p.default),
            range(p.range),
            cell(p.meaning)
        );
    }
    out.push('\n');
    for reference in about.references {
        let _ = writeln!(out, "- {reference}");
    }
    out.push('\n');
}
