//! Charts of tables: the figures of the book's page on variational integrators.
//!
//! `cargo run --example chart_tables -- TABLES PICTURES` reads the tables that `cargo xtask figures` has made and writes one SVG for each figure. A table has the names
//! of its columns in the first line, then lines of a curve's name and numbers, with tabs between. Without arguments a small table is drawn.

use dalembert::report::Form;
use dalembert::report::scale::Axis;
use dalembert::report::svg::{Anchor, Svg, polyline};
use dalembert::report::theme::CURVES;
use std::path::Path;

/// Size of a picture and of the margins around its field, px.
const SIZE: [f64; 2] = [640.0, 400.0];
const LEFT: f64 = 64.0;
const RIGHT: f64 = 20.0;
const BOTTOM: f64 = 44.0;

/// What a figure shows of a table.
struct Figure {
    file: &'static str,
    table: &'static str,
    /// Curves whose names begin or end so; what they have in common is left out of the key.
    part: &'static str,
    title: &'static str,
    labels: [&'static str; 2],
    /// The columns of abscissa and ordinates, counted from the first number.
    x: usize,
    y: &'static [usize],
    logarithmic: [bool; 2],
}

const FIGURES: &[Figure] = &[
    Figure {
        file: "oscillator-errors",
        table: "oscillator",
        part: "",
        title: "Oscillator: error of the position at t = 3",
        labels: ["h", "error"],
        x: 0,
        y: &[1],
        logarithmic: [true, true],
    },
    Figure {
        file: "oscillator-momenta",
        table: "oscillator",
        part: "",
        title: "Oscillator: error of the momentum at t = 3",
        labels: ["h", "error"],
        x: 0,
        y: &[2],
        logarithmic: [true, true],
    },
    Figure {
        file: "oscillator-times",
        table: "oscillator",
        part: "",
        title: "Oscillator: error of the position over computing time",
        labels: ["s", "error"],
        x: 3,
        y: &[1],
        logarithmic: [true, true],
    },
    Figure {
        file: "pendulum-angle",
        table: "pendulum-angle",
        part: "",
        title: "Pendulum: angle, h = 0.05 s",
        labels: ["t [s]", "rad"],
        x: 0,
        y: &[1],
        logarithmic: [false, false],
    },
    Figure {
        file: "pendulum-energy",
        table: "pendulum-energy",
        part: "",
        title: "Pendulum: lowest and highest energy error, by hundredths of all swings",
        labels: ["swings", "J"],
        x: 0,
        y: &[1, 2],
        logarithmic: [false, false],
    },
    Figure {
        file: "multirate-fpu",
        table: "multirate-schemes",
        part: "FPU, 6 masses: ",
        title: "FPU, 6 masses: computing time, micro steps of 0.01",
        labels: ["micro steps in a macro step", "s"],
        x: 0,
        y: &[1],
        logarithmic: [false, true],
    },
    Figure {
        file: "multirate-sam",
        table: "multirate-schemes",
        part: "SAM: ",
        title: "SAM: computing time, micro steps of 0.0001",
        labels: ["micro steps in a macro step", "s"],
        x: 0,
        y: &[1],
        logarithmic: [false, true],
    },
    Figure {
        file: "multirate-implicit",
        table: "multirate-masses",
        part: ": fully implicit",
        title: "FPU, fully implicit: computing time",
        labels: ["micro steps in a macro step", "s"],
        x: 0,
        y: &[1],
        logarithmic: [false, true],
    },
    Figure {
        file: "multirate-mixed",
        table: "multirate-masses",
        part: ": explicit slow, implicit fast",
        title: "FPU, explicit slow, implicit fast: computing time",
        labels: ["micro steps in a macro step", "s"],
        x: 0,
        y: &[1],
        logarithmic: [false, true],
    },
    Figure {
        file: "multirate-explicit",
        table: "multirate-masses",
        part: ": fully explicit",
        title: "FPU, fully explicit: computing time",
        labels: ["micro steps in a macro step", "s"],
        x: 0,
        y: &[1],
        logarithmic: [false, true],
    },
    Figure {
        file: "solar-frequencies",
        table: "solar-frequencies",
        part: "",
        title: "Solar system: frequencies from the action",
        labels: ["days", "rad/day"],
        x: 0,
        y: &[1],
        logarithmic: [false, true],
    },
    Figure {
        file: "solar-estimates",
        table: "solar-estimates",
        part: "",
        title: "Solar system: frequencies from velocities, eq. (6)",
        labels: ["days", "rad/day"],
        x: 0,
        y: &[1],
        logarithmic: [false, true],
    },
    Figure {
        file: "solar-energies",
        table: "solar-energies",
        part: "",
        title: "Solar system: energies, relative to the total at the start",
        labels: ["days", "1"],
        x: 0,
        y: &[1],
        logarithmic: [false, false],
    },
    Figure {
        file: "solar-orbits",
        table: "solar-orbits",
        part: "",
        title: "Solar system: orbits of the six outer planets",
        labels: ["AU", "AU"],
        x: 0,
        y: &[1],
        logarithmic: [false, false],
    },
    Figure {
        file: "solar-moon",
        table: "solar-moon",
        part: "",
        title: "The moon about the earth, every day",
        labels: ["AU", "AU"],
        x: 0,
        y: &[1],
        logarithmic: [false, false],
    },
];

/// The curves of a figure: names and points.
fn curves(figure: &Figure, text: &str) -> Vec<(String, Vec<[f64; 2]>)> {
    let mut out: Vec<(String, Vec<[f64; 2]>)> = Vec::new();
    for &column in figure.y {
        for line in text.lines().skip(1) {
            let mut words = line.split('\t');
            let name = words.next().unwrap_or_default();
            if !name.contains(figure.part) {
                continue;
            }
            let numbers: Vec<f64> = words.filter_map(|word| word.parse().ok()).collect();
            let (Some(&x), Some(&y)) = (numbers.get(figure.x), numbers.get(column)) else { continue };
            let mut name = name.replace(figure.part, "");
            if figure.y.len() > 1 {
                name += if column == figure.y[0] { ", lowest" } else { ", highest" };
            }
            match out.iter_mut().find(|(known, _)| *known == name) {
                Some((_, points)) => points.push([x, y]),
                None => out.push((name, vec![[x, y]])),
            }
        }
    }
    out
}

fn axis(values: impl Iterator<Item = f64>, logarithmic: bool) -> Axis {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values.filter(|value| value.is_finite()) {
        (low, high) = (low.min(value), high.max(value));
    }
    if logarithmic { Axis::logarithmic(low, high) } else { Axis::linear(low, high, 6) }
}

fn draw(figure: &Figure, text: &str) -> String {
    let curves = curves(figure, text);
    let points = || curves.iter().flat_map(|(_, points)| points);
    // Two lengths have one scale, so that circles are round.
    let map = figure.labels[0] == figure.labels[1];
    let of = |point: &[f64; 2], k: usize| if map { point.to_vec() } else { vec![point[k]] };
    let axes = [0, 1].map(|k| axis(points().flat_map(|point| of(point, k)), figure.logarithmic[k]));
    let rows = curves.len().div_ceil(3);
    let top = 34.0 + 16.0 * rows as f64;
    let width = if map { SIZE[1] } else { SIZE[0] - LEFT - RIGHT };
    let height = if map { width } else { SIZE[1] - top - BOTTOM };
    let size = [LEFT + width + RIGHT, top + height + BOTTOM];
    let place = |point: &[f64; 2]| -> Option<[f64; 2]> {
        Some([LEFT + axes[0].place(point[0])? * width, top + height - axes[1].place(point[1])? * height])
    };
    let mut svg = Svg::new(Form::File, size[0], size[1], figure.title);
    svg.text("title", [LEFT, 18.0], Anchor::Start, figure.title);
    for (i, (name, _)) in curves.iter().enumerate() {
        let at = [LEFT + width / 3.0 * (i % 3) as f64, 36.0 + 16.0 * (i / 3) as f64];
        stroke(&mut svg, i, &[[at[0], at[1] - 3.5], [at[0] + 24.0, at[1] - 3.5]]);
        svg.text("key", [at[0] + 29.0, at[1]], Anchor::Start, name);
    }
    for tick in &axes[0].ticks {
        let x = LEFT + tick.place * width;
        svg.path("grid", &polyline(&[[x, top], [x, top + height]]));
        svg.text("tick", [x, top + height + 15.0], Anchor::Middle, &tick.label);
    }
    for tick in &axes[1].ticks {
        let y = top + height - tick.place * height;
        svg.path("grid", &polyline(&[[LEFT, y], [LEFT + width, y]]));
        svg.text("tick", [LEFT - 7.0, y + 3.8], Anchor::End, &tick.label);
    }
    let notes = [0, 1].map(|k| format!("{} {}", figure.labels[k], axes[k].note));
    svg.text("mark", [LEFT + width, top + height + 32.0], Anchor::End, notes[0].trim());
    svg.text("mark", [LEFT - 7.0, top - 6.0], Anchor::End, notes[1].trim());
    for (i, (_, points)) in curves.iter().enumerate() {
        let line: Vec<[f64; 2]> = points.iter().filter_map(place).collect();
        stroke(&mut svg, i, &line);
    }
    svg.finish()
}

/// Draws curve `i`. There are six colours with a dash pattern each; the next six curves have the same ones, broad, pale and whole.
fn stroke(svg: &mut Svg, i: usize, points: &[[f64; 2]]) {
    let (class, commands) = (format!("curve c{}", i % CURVES), polyline(points));
    if i < CURVES {
        svg.path(&class, &commands);
        return;
    }
    let style = "stroke-width:4;stroke-opacity:0.4;stroke-dasharray:none";
    svg.leaf("path", &[("class", (&class).into()), ("d", (&commands).into()), ("style", style.into())]);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [tables, pictures] = &arguments[..] else {
        let svg = draw(&FIGURES[0], "method\th\tposition\na\t0.1\t1e-4\na\t1\t1\nb\t0.1\t1e-8\nb\t1\t1\n");
        // Two curves, each in the field and in the key.
        assert_eq!(svg.matches("<path class=\"curve").count(), 4, "{svg}");
        assert!(svg.contains(">a</text>") && svg.contains(">b</text>"), "{svg}");
        let many: String = (0..8).map(|i| format!("n{i}\t0.1\t1e-{i}\nn{i}\t1\t1\n")).collect();
        let svg = draw(&FIGURES[0], &format!("method\th\tposition\n{many}"));
        // No two curves look alike: the seventh and the eighth are broad.
        assert_eq!(svg.matches("stroke-width:4").count(), 4, "{svg}");
        return Ok(());
    };
    for figure in FIGURES {
        let file = Path::new(tables).join(format!("{}.txt", figure.table));
        // Tables of the solar system are made by a chore of their own.
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        std::fs::write(Path::new(pictures).join(format!("variational-{}.svg", figure.file)), draw(figure, &text))?;
    }
    Ok(())
}
