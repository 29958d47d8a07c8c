//! Modes of a scene: frequencies, damping, shapes with their normalisation and participation, and shapes in motion.

use super::film::{Vibration, film, still};
use super::page::{Chart, Page, Style};
use super::small::{About, about, states};
use super::{failed, short};
use crate::args::{ModelOptions, PlaceOptions};
use crate::exit::Exit;
use dalembert::model::Model;
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::eigen::without_rounding;
use dalembert_analysis::linear::{ComplexModes, Norm, RealModes};
use dalembert_methods::system::{State, System};
use std::f64::consts::TAU;

/// Modes whose shapes are drawn as still pictures.
const STILLS: usize = 6;
/// Columns of tables that have one for each coordinate.
const COLUMNS: usize = 6;
/// Parts of a momentum below this, relative to its largest, are rounding.
const ROUNDING: f64 = 1e-12;
/// Eigenvalues with imaginary parts below this, relative to their size, do not turn.
const STRAIGHT: f64 = 1e-9;

/// Frequencies, damping and shapes.
pub fn modes(options: &ModelOptions, place: &PlaceOptions, normalise: &str, shown: usize) -> Result<(), Exit> {
    let mut page = Page::new(&format!("Modes of {}", options.model));
    let About { scene, place: at, found } = about(options, place, &mut page)?;
    let state = at.plain(&scene.model);
    let real = found.system.real_modes().map_err(failed)?;
    let (norm, rule) = match normalise {
        "mass" => (Norm::Mass, "XᵀMX = 1"),
        "largest" => (Norm::Largest, "the largest entry 1"),
        _ => (Norm::Length, "length 1"),
    };
    let shapes = real.scaled(norm);
    page.say(&format!("without damping, gyroscopic and circulatory forces; shapes with {rule}:"));
    let mut head = vec!["mode".to_owned(), "ω² [1/s²]".to_owned(), "ω [rad/s]".to_owned(), "f [Hz]".to_owned()];
    head.extend(found.names.iter().take(COLUMNS).cloned());
    let mut rows = vec![head];
    for (k, &squared) in real.squared.iter().enumerate() {
        let frequency = squared.max(0.0).sqrt();
        let mut row = vec![format!("{}", k + 1), short(squared), short(frequency), short(frequency / TAU)];
        row.extend((0..found.names.len().min(COLUMNS)).map(|i| short(shapes[(i, k)])));
        rows.push(row);
    }
    page.table(&rows);
    take_part(&scene.model, &state, &found.basis.mul(&real.shapes), &mut page);
    page.file("frequencies.csv", Matrix::from_rows(real.squared.len(), 1, real.frequencies()).to_csv().into_bytes());
    page.file("shapes.csv", shapes.to_csv().into_bytes());
    // All velocities of the model, also the dependent ones, for those who draw.
    page.file("shapes-all.csv", found.basis.mul(&shapes).to_csv().into_bytes());
    let vibrations = match ComplexModes::of(&found.state_matrix, found.names.len()) {
        Ok(mut complex) => {
            complex.values = without_rounding(&complex.values);
            whole(&complex, &found.names, &states(&found), &mut page);
            of_complex(&complex, &found.basis)
        }
        Err(error) => {
            page.say(&format!("no complex modes: {error}; shapes in motion are those without damping"));
            of_real(&real, &found.basis)
        }
    };
    if found.names.len() > 1 {
        let curve = |k: usize| {
            let points = (0..found.names.len()).map(|i| [i as f64 + 1.0, shapes[(i, k)]]).collect();
            (format!("mode {}", k + 1), points)
        };
        let curves = (0..real.squared.len().min(6)).map(curve).collect();
        let (title, across) = ("Mode shapes".to_owned(), "number of the independent coordinate".to_owned());
        page.chart("shapes", &Chart { title, across, log: [false; 2], style: Style::Line, curves });
    }
    let names: Vec<String> = (0..scene.model.shape().v).map(|i| scene.model.velocity_name(i)).collect();
    page.file("names.txt", names.join("\n").into_bytes());
    if place.out.is_some() {
        let mut animations = Vec::new();
        let mut stills = Vec::new();
        for (k, vibration) in vibrations.iter().take(shown).enumerate() {
            let animation = film(&scene.model, &state, vibration)?;
            if k < STILLS {
                stills.push(still(&animation, &format!("mode-{}", k + 1))?);
            }
            animations.push(animation.to_json());
        }
        page.motions(&animations);
        for picture in &stills {
            page.picture(&picture.name, |form| picture.draw(form));
        }
    }
    page.finish(place.out.as_deref())
}

/// How much each mode takes part when the ground shakes: L = e·p with the momentum p of the shape, and the effective mass L².
///
/// The force of a ground that accelerates by ü along e is −ü e·∂p/∂ẏ on the coordinates y, so that xᵀh = −ü L.
fn take_part(model: &Model, at: &State<f64>, shapes: &Matrix, page: &mut Page) {
    let mut work = model.work::<f64>();
    let mut rows = vec![
        ["mode", "L along x", "L along y", "L along z", "effective mass x, y, z [kg]"].map(str::to_owned).to_vec(),
    ];
    let (mut sums, mut table) = ([0.0; 3], "mode,x,y,z\n".to_owned());
    for k in 0..shapes.cols() {
        let mut s = at.clone();
        s.v.copy_from_slice(&shapes.column(k));
        model.prepare(&s, &mut work);
        let linear = model.momentum(&work).linear.0;
        let largest = linear.iter().fold(0.0f64, |max, l| max.max(l.abs()));
        let linear = linear.map(|l| if l.abs() <= ROUNDING * largest { 0.0 } else { l });
        (0..3).for_each(|axis| sums[axis] += linear[axis] * linear[axis]);
        let masses = linear.map(|l| short(l * l)).join(", ");
        rows.push([&[format!("{}", k + 1)], &linear.map(short)[..], &[masses]].concat());
        table += &format!("{},{:?},{:?},{:?}\n", k + 1, linear[0], linear[1], linear[2]);
    }
    page.say("participation in a motion of the ground, with XᵀMX = 1:");
    page.table(&rows);
    page.say(&format!("effective masses add up to {} kg along x, y, z", sums.map(short).join(", ")));
    page.file("participation.csv", table.into_bytes());
}

/// The modes of the whole system.
fn whole(complex: &ComplexModes, names: &[String], states: &[String], page: &mut Page) {
    page.say("of the whole system; the largest position of each shape is 1:");
    let mut rows = vec![["mode", "λ real [1/s]", "λ imaginary [1/s]", "damping ratio"].map(str::to_owned).to_vec()];
    rows[0].extend(names.iter().take(COLUMNS).map(|name| format!("{name}: size, phase [°]")));
    let ratios = complex.damping_ratios();
    for (number, k) in upper(complex).into_iter().enumerate() {
        let z = complex.values[k];
        let mut row = vec![format!("{}", number + 1), short(z.re), short(z.im), short(ratios[k])];
        row.extend((0..names.len().min(COLUMNS)).map(|i| {
            let entry = complex.right[(i, k)];
            format!("{:.4}, {:.1}", entry.modulus(), entry.im.atan2(entry.re).to_degrees())
        }));
        rows.push(row);
    }
    page.table(&rows);
    // How much each state takes part in each mode: sizes of left · right.
    let taken = complex.participation();
    let sizes = Matrix::from_fn(taken.rows(), taken.cols(), |i, k| taken[(i, k)].modulus());
    let mut rows = vec![vec!["state".to_owned()]];
    let some: Vec<usize> = upper(complex).into_iter().take(COLUMNS).collect();
    rows[0].extend((1..=some.len()).map(|k| format!("in mode {k}")));
    for (i, name) in states.iter().enumerate().take(4 * COLUMNS) {
        rows.push([vec![name.clone()], some.iter().map(|&k| short(sizes[(i, k)])).collect()].concat());
    }
    page.say("participation of states in modes:");
    page.table(&rows);
    page.file("participation-states.csv", sizes.to_csv().into_bytes());
    let points = complex.values.iter().map(|z| [z.re, z.im]).collect();
    let (title, across) = ("Eigenvalues: imaginary part [1/s]".to_owned(), "real part in 1/s".to_owned());
    let curves = vec![(String::new(), points)];
    page.chart("eigenvalues", &Chart { title, across, log: [false; 2], style: Style::Dots, curves });
}

/// One of each pair: those that do not turn backwards.
fn upper(complex: &ComplexModes) -> Vec<usize> {
    let turns_back = |k: usize| complex.values[k].im < -STRAIGHT * complex.values[k].modulus();
    (0..complex.values.len()).filter(|&k| !turns_back(k)).collect()
}

/// Complex modes as motions: each coordinate has its own phase; damping is left out, so that they repeat.
fn of_complex(complex: &ComplexModes, basis: &Matrix) -> Vec<Vibration> {
    let n = basis.cols();
    let mut out = Vec::new();
    for (number, k) in upper(complex).into_iter().enumerate() {
        let value = complex.values[k];
        let part = |of: &dyn Fn(usize) -> f64| basis.apply(&(0..n).map(of).collect::<Vec<_>>());
        let (real, imaginary) = (part(&|i| complex.right[(i, k)].re), part(&|i| complex.right[(i, k)].im));
        let turns = value.im > STRAIGHT * value.modulus();
        let size = value.modulus();
        let (title, period) = if turns {
            let ratio = -value.re / size;
            let hertz = value.im / TAU;
            (format!("mode {}: {} Hz, damping ratio {}", number + 1, short(hertz), short(ratio)), 1.0 / hertz)
        } else if size > 0.0 {
            let time = 1.0 / value.re.abs();
            let what = if value.re < 0.0 { "dies out" } else { "grows" };
            (format!("mode {}: {what} in {} s", number + 1, short(time)), time)
        } else {
            (format!("mode {}: moves freely", number + 1), 1.0)
        };
        out.push(Vibration { title, real, imaginary, period });
    }
    out
}

/// Real modes as motions.
fn of_real(real: &RealModes, basis: &Matrix) -> Vec<Vibration> {
    let one = |k: usize| {
        let shape = basis.apply(&real.shapes.column(k));
        let rate = real.squared[k].abs().sqrt();
        let (title, period) = match real.squared[k] {
            w if w > 0.0 && rate > 0.0 => (format!("mode {}: {} Hz", k + 1, short(rate / TAU)), TAU / rate),
            _ => (format!("mode {}: does not vibrate", k + 1), 1.0),
        };
        Vibration { title, imaginary: vec![0.0; shape.len()], real: shape, period }
    };
    (0..real.squared.len()).map(one).collect()
}
