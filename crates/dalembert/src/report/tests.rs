//! What every report must be: well-formed, safe, small and free of the world outside.

#![allow(clippy::unwrap_used)]

use super::*;
use crate::record::{Ledger, Status};
use dalembert_methods::trajectory::Channel;
use proptest::prelude::*;

const NASTY: &str = "<script>alert('x')</script>&\"\u{1}";

/// Tags of a text in order, as (name, is closing, is self-closing); attributes must be quoted.
fn tags(text: &str) -> Vec<(String, bool, bool)> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let body = &rest[start + 1..];
        let (mut end, mut quote) = (0, false);
        for (i, c) in body.char_indices() {
            match c {
                '"' => quote = !quote,
                '<' => panic!("a stray < near {:.80}", &rest[start..]),
                '>' if !quote => {
                    end = i;
                    break;
                }
                _ => {}
            }
        }
        assert!(end > 0, "an open tag near {:.80}", &rest[start..]);
        let tag = &body[..end];
        let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap().to_owned();
        out.push((name, tag.starts_with('/'), tag.ends_with('/')));
        rest = &body[end + 1..];
    }
    out
}

fn assert_balanced(text: &str) {
    let mut open: Vec<String> = Vec::new();
    for (name, closing, single) in tags(text) {
        if closing {
            assert_eq!(open.pop(), Some(name));
        } else if !single && !matches!(name.as_str(), "meta" | "!DOCTYPE") {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "still open: {open:?}");
}

fn table(channels: &[(&str, &str)], rows: usize, value: impl Fn(usize, f64) -> f64) -> Trajectory {
    let mut list = vec![Channel::time()];
    list.extend(channels.iter().map(|(name, unit)| Channel::new(*name, *unit, "world")));
    let mut trajectory = Trajectory::new(list).unwrap();
    for row in 0..rows {
        let time = row as f64 * 0.01;
        let mut values = vec![time];
        values.extend((0..channels.len()).map(|i| value(i, time)));
        trajectory.push(&values);
    }
    trajectory
}

fn event(time: f64, kind: &str) -> Event {
    Event { time, kind: kind.into(), element: NASTY.into(), marker: NASTY.into(), value: 1.0, unit: NASTY.into() }
}

#[test]
fn user_text_is_escaped_and_nothing_is_fetched() {
    let nasty_channel = format!("body.{NASTY}.position.x");
    let trajectory = table(&[(&nasty_channel, NASTY), ("energy.total", "J")], 50, |_, t| t.sin());
    let mut summary = Summary {
        name: NASTY.into(),
        title: NASTY.into(),
        integrator: NASTY.into(),
        error: Some(NASTY.into()),
        status: Status::Failed,
        ..Summary::default()
    };
    summary.settings.insert(NASTY.into(), crate::record::Setting::Text(NASTY.into()));
    summary.seeds.insert(NASTY.into(), 7);
    summary.counts.insert(NASTY.into(), 7);
    let shapes = vec![Shape { name: NASTY.into(), points: vec![[0.0; 3], [1.0, 0.0, 1.0]] }];
    let motion = Motion { frames: vec![Frame { time: 0.0, shapes }] };
    let events = [event(0.1, NASTY), event(0.2, "turn")];
    let input = ReportInput {
        events: &events,
        steps: &[(0.0, 0.1), (0.1, 0.2)],
        scene_text: NASTY,
        motion: Some(&motion),
        ..ReportInput::new(&summary, &trajectory)
    };
    let html = page(&input);
    assert_balanced(&html);
    for forbidden in ["<script", "http", "url(", "@import", "src=", "alert('"] {
        assert!(!html.contains(forbidden), "{forbidden}");
    }
    assert!(html.contains("&lt;script&gt;"));
    assert!(html.contains("does not close") && html.contains("badge bad\">failed"));
    let files = svg_files(&input);
    assert_eq!(files.len(), 4);
    for (name, svg) in &files {
        assert!(name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'.'), "{name}");
        assert_balanced(svg);
        assert!(!svg.contains("<script") && !svg.contains("var(--"), "{name}");
        assert_eq!(svg.matches("http").count(), 1, "only the name space of SVG");
    }
}

#[test]
fn every_anchor_leads_somewhere() {
    let names = [("body.a.position.x", "m"), ("energy.total", "J"), ("momentum.angular.z", "kg m²/s")];
    let trajectory = table(&names, 50, |_, t| t);
    let summary = Summary { ledger: Ledger { closes: true, ..Ledger::default() }, ..Summary::default() };
    let html = page(&ReportInput::new(&summary, &trajectory));
    let links: Vec<&str> = html.split("href=\"#").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(links.len() >= 4);
    for link in links {
        assert_eq!(html.matches(&format!("id=\"{link}\"")).count(), 1, "{link}");
    }
    assert!(html.contains("✓ closes") && html.contains(">angular momentum [kg m²/s]<"));
}

#[test]
fn many_bodies_stay_readable_and_small() {
    let mut names = Vec::new();
    for body in 0..300 {
        for quantity in ["position", "velocity"] {
            for axis in ["x", "y", "z"] {
                names.push(format!("body.b{body}.{quantity}.{axis}"));
            }
        }
    }
    let names: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "m")).collect();
    let trajectory = table(&names, 2000, |i, t| (t * (1.0 + i as f64)).sin() * (i as f64 + 1.0));
    let events: Vec<Event> = (0..5000).map(|k| event(f64::from(k) * 0.004, "contact")).collect();
    let summary = Summary::default();
    let html = page(&ReportInput { events: &events, ..ReportInput::new(&summary, &trajectory) });
    assert!(html.len() < 2_000_000, "{} bytes", html.len());
    assert!(html.matches("<details open>").count() <= 12);
    assert!(html.contains("further plots are not drawn") && html.contains("The first 1000 of 5"));
}

#[test]
fn gaps_and_odd_numbers_do_no_harm() {
    let values = [0.0, f64::NAN, f64::INFINITY, -1.0, f64::NEG_INFINITY, 1e300, -1e300, 1e-320, 5.0, 5.0];
    for log in [false, true] {
        for keep in 0..values.len() {
            let time: Vec<f64> = (0..keep).map(|i| i as f64).collect();
            let series = vec![Series { name: NASTY.into(), time: &time, values: &values[..keep], right: false }];
            let marks = [Mark { time: f64::NAN, label: NASTY.into() }, Mark { time: 2.0, label: NASTY.into() }];
            let title = NASTY.to_owned();
            let plot = Plot {
                title,
                unit: "m".into(),
                right_unit: String::new(),
                log,
                series,
                marks: &marks,
                span: None,
                curve_bytes: 1000,
            };
            let svg = plot.draw(Form::Inline);
            assert_balanced(&svg);
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }
    let empty = Trajectory::new(vec![Channel::time(), Channel::new("x", "m", "")]).unwrap();
    assert_balanced(&page(&ReportInput::new(&Summary::default(), &empty)));
}

#[test]
fn the_curve_lies_where_the_numbers_are() {
    // Time 0…1 and values 0…1 fill the field from corner to corner but for the padding above.
    let (time, values) = ([0.0, 1.0], [0.0, 1.0]);
    let series = vec![Series { name: "x".into(), time: &time, values: &values, right: false }];
    let plot = Plot {
        title: "x".into(),
        unit: "1".into(),
        right_unit: String::new(),
        log: false,
        series,
        marks: &[],
        span: None,
        curve_bytes: 1000,
    };
    let svg = plot.draw(Form::Inline);
    let path = svg.split("class=\"curve c0\" d=\"M").nth(1).unwrap().split('"').next().unwrap();
    let ends: Vec<f64> = path.split(' ').map(|x| x.parse().unwrap()).collect();
    // Field of 168 px; 1 of 1.04 of the axis from its foot; the right end is 16 px from the edge of 560.
    assert!((ends[2] - (560.0 - 16.0)).abs() <= 0.05, "{ends:?}");
    assert!((ends[1] - ends[3] - 168.0 / 1.04).abs() <= 0.1, "{ends:?}");
}

#[test]
fn labels_of_events_do_not_overlap() {
    let time = [0.0, 10.0];
    let series = vec![Series { name: "x".into(), time: &time, values: &time, right: false }];
    let marks: Vec<Mark> = (0..40).map(|k| Mark { time: f64::from(k) * 0.25, label: format!("{k} contact") }).collect();
    let plot = Plot {
        title: "x".into(),
        unit: "m".into(),
        right_unit: String::new(),
        log: false,
        series,
        marks: &marks,
        span: None,
        curve_bytes: 1000,
    };
    let svg = plot.draw(Form::Inline);
    let mut labels: Vec<(String, f64, f64)> = Vec::new();
    for part in svg.split("<text class=\"mark\" x=\"").skip(1) {
        let x: f64 = part.split('"').next().unwrap().parse().unwrap();
        let y = part.split("y=\"").nth(1).unwrap().split('"').next().unwrap().to_owned();
        let text = part.split('>').nth(1).unwrap().split('<').next().unwrap();
        let half = 0.5 * plot::text_width(text, 10.0);
        labels.push((y, x - half, x + half));
    }
    assert!(labels.len() >= 10, "{}", labels.len());
    for (i, a) in labels.iter().enumerate() {
        for b in &labels[..i] {
            assert!(a.0 != b.0 || a.1 >= b.2 || b.1 >= a.2, "{a:?} {b:?}");
        }
    }
}

#[test]
fn the_same_input_gives_the_same_page() {
    let trajectory = table(&[("body.a.position.x", "m")], 100, |_, t| t.cos());
    let summary = Summary::default();
    let input = ReportInput::new(&summary, &trajectory);
    assert_eq!(page(&input), page(&input));
    assert_eq!(svg_files(&input), svg_files(&input));
}

#[test]
fn figures_have_two_axes_and_a_window() {
    let trajectory = table(&[("a", "m/s"), ("b", "N")], 101, |i, t| if i == 0 { t } else { 100.0 - t });
    let summary = Summary { name: "one".into(), ..Summary::default() };
    let end = *trajectory.time().last().unwrap();
    let panel = Panel {
        section: "panel.both".into(),
        title: "Both".into(),
        unit: "m/s".into(),
        channels: vec!["a".into()],
        right: vec!["b".into()],
        right_unit: "N".into(),
        until: Some(0.5 * end),
        ..Panel::default()
    };
    let mut input = ReportInput { figures: vec![panel], ..ReportInput::new(&summary, &trajectory) };
    let files = svg_files(&input);
    let svg = &files.iter().find(|(name, _)| name == "panel-both.svg").unwrap().1;
    assert_balanced(svg);
    assert!(svg.contains("← a [m/s]") && svg.contains("b [N] →"), "{svg}");
    // Both curves end at the right edge of the field, at half of the time; each fills its own axis.
    let paths = svg.split("<path class=\"curve c").skip(1).map(|rest| rest.split("d=\"M").nth(1).unwrap());
    let ends: Vec<Vec<f64>> =
        paths.map(|p| p.split('"').next().unwrap().split(' ').map(|x| x.parse().unwrap()).collect()).collect();
    assert_eq!(ends.len(), 2, "{svg}");
    assert!(ends.iter().all(|path| path[path.len() - 2] == ends[0][ends[0].len() - 2]), "{ends:?}");
    assert!(ends[0][1] > ends[0][3] + 100.0 && ends[1][1] + 100.0 < ends[1][3], "{ends:?}");
    // Another run brings its curves with it.
    input.others.push(Other { name: "two".into(), trajectory: &trajectory, shapes: Vec::new() });
    let page = page(&input);
    assert!(page.contains("← a, one [m/s]") && page.contains("b, two [N] →"));
}

proptest! {
    #[test]
    fn any_text_leaves_svg_well_formed(text in any::<String>(), low in any::<f64>(), high in any::<f64>()) {
        let (time, values) = ([0.0, 1.0], [low, high]);
        let series = vec![Series { name: text.clone(), time: &time, values: &values, right: false }];
        let (title, unit) = (text.clone(), text.clone());
        let marks = [Mark { time: 0.5, label: text }];
        let right_unit = String::new();
        let plot = Plot { title, unit, right_unit, log: false, series, marks: &marks, span: None, curve_bytes: 1000 };
        assert_balanced(&plot.draw(Form::File));
    }
}
