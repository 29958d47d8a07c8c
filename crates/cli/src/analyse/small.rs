//! Small vibrations of a scene about its equilibrium.

use super::page::{Chart, Page, Style};
use super::{failed, short, smooth, velocity};
use crate::args::ModelOptions;
use crate::exit::Exit;
use dalembert::scene::Scene;
use dalembert_analysis::covariance::{stationary, transient};
use dalembert_analysis::dense::{Dense, Matrix};
use dalembert_analysis::eigen::schur;
use dalembert_analysis::export::{mat, npy};
use dalembert_analysis::linear::{Verdict, verdict};
use dalembert_analysis::linearise::{Linearised, linearise as linearised};
use dalembert_analysis::response::logarithmic;
use dalembert_analysis::routh::{characteristic_polynomial, unstable_roots};
use dalembert_methods::algebra::Complex;
use dalembert_methods::statics::equilibrium;
use dalembert_methods::system::System;
use std::path::Path;

/// The search for an equilibrium ends at this part of the size of the system.
const BALANCE: f64 = 1e-12;

/// The scene linearised about its equilibrium, or about its start.
fn about(options: &ModelOptions, here: bool, page: &mut Page) -> Result<(Scene, Linearised), Exit> {
    let scene = smooth(options)?;
    let mut state = scene.model.initial_state();
    if !here {
        let found = equilibrium(&scene.model, &mut state, BALANCE).map_err(failed)?;
        page.say(&format!("equilibrium after {} steps, largest force left {:.1e}", found.iterations, found.residual));
    }
    let system = linearised(&scene.model, &state).map_err(failed)?;
    if here && system.acceleration > 1e-9 {
        page.say(&format!(
            "the start is no equilibrium (largest acceleration {:.3e}): the matrices hold for this instant of its motion",
            system.acceleration
        ));
    }
    Ok((scene, system))
}

fn eigenvalues(a: &Matrix) -> Result<Vec<Complex>, Exit> {
    let mut values = schur(&a.to_complex()).map_err(failed)?.values();
    values.sort_by(|a, b| a.im.abs().total_cmp(&b.im.abs()).then(b.im.total_cmp(&a.im)));
    Ok(values)
}

fn verdict_text(v: Verdict) -> String {
    match v {
        Verdict::AsymptoticallyStable => "asymptotically stable: all small motions die out".to_owned(),
        Verdict::Marginal => "marginal: no small motion grows exponentially, some do not die out".to_owned(),
        Verdict::Unstable(n) => format!("unstable: {n} independent small motions grow"),
    }
}

/// Matrices, eigenvalues and stability.
pub fn linearise(options: &ModelOptions, here: bool, out: Option<&Path>) -> Result<(), Exit> {
    let mut page = Page::new(&format!("Linearisation of {}", options.model));
    let (_, found) = about(options, here, &mut page)?;
    let system = &found.system;
    page.say(&format!("{} independent coordinates: {}", found.names.len(), found.names.join("; ")));
    let parts = [
        ("M", &system.mass),
        ("D", &system.damping),
        ("G", &system.gyroscopic),
        ("K", &system.stiffness),
        ("N", &system.circulatory),
    ];
    for (name, matrix) in parts {
        page.say(&format!("{name} (largest entry {})", short(matrix.largest())));
        if matrix.rows() <= 8 && matrix.largest() > 0.0 {
            let rows: Vec<Vec<String>> =
                (0..matrix.rows()).map(|i| matrix.row(i).iter().map(|&x| short(x)).collect()).collect();
            page.table(&rows);
        }
        page.file(&format!("{name}.csv"), matrix.to_csv().into_bytes());
        page.file(&format!("{name}.npy"), npy(matrix));
    }
    let a = &found.state_matrix;
    page.file("A.csv", a.to_csv().into_bytes());
    page.file("A.npy", npy(a));
    let all: Vec<(&str, &Matrix)> = parts.into_iter().chain([("A", a)]).collect();
    page.file("matrices.mat", mat(&all));
    let values = eigenvalues(a)?;
    page.say("eigenvalues in 1/s:");
    let mut rows = vec![vec!["real part".to_owned(), "imaginary part".to_owned()]];
    rows.extend(values.iter().map(|z| vec![short(z.re), short(z.im)]));
    page.table(&rows);
    page.say(&verdict_text(verdict(&values)));
    page.say(if system.statically_stable() {
        "static condition: K is positive"
    } else {
        "static condition: K is not positive"
    });
    page.say(&match unstable_roots(&characteristic_polynomial(a)) {
        Ok(n) => format!("Routh and Hurwitz: {n} roots with positive real part"),
        Err(error) => format!("Routh and Hurwitz: {error}"),
    });
    page.finish(out)
}

/// Frequencies, damping and shapes.
pub fn modes(options: &ModelOptions, here: bool, out: Option<&Path>) -> Result<(), Exit> {
    let mut page = Page::new(&format!("Modes of {}", options.model));
    let (scene, found) = about(options, here, &mut page)?;
    let real = found.system.real_modes().map_err(failed)?;
    let complex = found.system.complex_modes().map_err(failed)?;
    page.say("without damping, gyroscopic and circulatory forces; shapes with XᵀMX = 1:");
    let mut head = vec!["mode".to_owned(), "ω² [1/s²]".to_owned(), "ω [rad/s]".to_owned(), "f [Hz]".to_owned()];
    head.extend(found.names.iter().take(6).cloned());
    let mut rows = vec![head];
    for (k, &squared) in real.squared.iter().enumerate() {
        let frequency = squared.max(0.0).sqrt();
        let mut row =
            vec![format!("{}", k + 1), short(squared), short(frequency), short(frequency / std::f64::consts::TAU)];
        row.extend((0..found.names.len().min(6)).map(|i| short(real.shapes[(i, k)])));
        rows.push(row);
    }
    page.table(&rows);
    page.say("of the whole system; the largest position of each shape is 1:");
    let mut rows = vec![["λ real [1/s]", "λ imaginary [1/s]", "damping ratio"].map(str::to_owned).to_vec()];
    for (z, ratio) in complex.values.iter().zip(complex.damping_ratios()).filter(|(z, _)| z.im >= 0.0) {
        rows.push(vec![short(z.re), short(z.im), short(ratio)]);
    }
    page.table(&rows);
    page.file("frequencies.csv", Matrix::from_rows(real.squared.len(), 1, real.frequencies()).to_csv().into_bytes());
    page.file("shapes.csv", real.shapes.to_csv().into_bytes());
    // All velocities of the model, also the dependent ones, for those who draw.
    page.file("shapes-all.csv", found.basis.mul(&real.shapes).to_csv().into_bytes());
    let shapes: Vec<(String, Vec<[f64; 2]>)> = (0..real.squared.len().min(6))
        .map(|k| {
            let points = (0..found.names.len()).map(|i| [i as f64 + 1.0, real.shapes[(i, k)]]).collect();
            (format!("mode {}", k + 1), points)
        })
        .collect();
    if found.names.len() > 1 {
        let (title, across) = ("Mode shapes".to_owned(), "number of the independent coordinate".to_owned());
        page.chart("shapes", &Chart { title, across, log: [false; 2], style: Style::Line, curves: shapes });
    }
    let names: Vec<String> = (0..scene.model.shape().v).map(|i| scene.model.velocity_name(i)).collect();
    page.file("names.txt", names.join("\n").into_bytes());
    page.finish(out)
}

/// The column of the state equation for a unit force on a velocity, and the row that reads a velocity's coordinate.
fn input(found: &Linearised, index: usize) -> Result<Vec<f64>, Exit> {
    let f = found.independent.len();
    let pull: Vec<f64> = found.basis.row(index).to_vec();
    let push = found.system.mass.solve_vector(&pull, "the mass matrix").map_err(failed)?;
    let mut column = vec![0.0; found.state_matrix.rows()];
    column[f..2 * f].copy_from_slice(&push);
    Ok(column)
}

/// The response of a coordinate to a force over frequencies: Bode and Nyquist plots.
pub fn frequency_response(
    options: &ModelOptions,
    here: bool,
    force: &str,
    measure: &str,
    band: [f64; 2],
    count: usize,
    out: Option<&Path>,
) -> Result<(), Exit> {
    if !(band[0] > 0.0 && band[1] > band[0]) {
        return Err(Exit::Usage("frequencies must be positive and rising".to_owned()));
    }
    let mut page = Page::new(&format!("Frequency response of {}", options.model));
    let (scene, found) = about(options, here, &mut page)?;
    let (at, read) = (velocity(&scene.model, force)?, velocity(&scene.model, measure)?);
    let column: Vec<Complex> = input(&found, at)?.iter().map(|&b| b.into()).collect();
    let n = found.state_matrix.rows();
    let mut points = Vec::with_capacity(count);
    for frequency in logarithmic(band[0], band[1], count) {
        let turn = std::f64::consts::TAU * frequency;
        let matrix =
            Dense::from_fn(n, n, |i, j| Complex::new(-found.state_matrix[(i, j)], if i == j { turn } else { 0.0 }));
        let x = matrix.solve_vector(&column, "the dynamic stiffness (an undamped resonance)").map_err(failed)?;
        let reading = found.basis.row(read).iter().zip(&x);
        points.push((frequency, reading.fold(Complex::default(), |sum, (&c, &x)| sum + Complex::from(c) * x)));
    }
    let peak = points.iter().max_by(|a, b| a.1.modulus().total_cmp(&b.1.modulus()));
    if let Some((frequency, value)) = peak {
        page.say(&format!("largest response {} at {} Hz", short(value.modulus()), short(*frequency)));
    }
    let mut table = "frequency,real,imaginary,amplitude,phase\n".to_owned();
    for (f, z) in &points {
        table += &format!("{f:?},{:?},{:?},{:?},{:?}\n", z.re, z.im, z.modulus(), z.im.atan2(z.re));
    }
    page.file("response.csv", table.into_bytes());
    let curve = |value: &dyn Fn(Complex) -> f64| points.iter().map(|(f, z)| [*f, value(*z)]).collect::<Vec<_>>();
    let mut chart = |name: &str, title: &str, across: &str, log: [bool; 2], points: Vec<[f64; 2]>| {
        let curves = vec![(String::new(), points)];
        let (title, across) = (title.to_owned(), across.to_owned());
        page.chart(name, &Chart { title, across, log, style: Style::Line, curves });
    };
    chart(
        "amplitude",
        "Amplitude of the response to a unit force",
        "frequency in Hz",
        [true, true],
        curve(&|z| z.modulus()),
    );
    chart("phase", "Phase [rad]", "frequency in Hz", [true, false], curve(&|z| z.im.atan2(z.re)));
    let nyquist = points.iter().map(|(_, z)| [z.re, z.im]).collect();
    chart("nyquist", "Nyquist plot: imaginary part", "real part", [false, false], nyquist);
    page.finish(out)
}

/// The covariance of a scene under white noise.
pub fn covariance(
    options: &ModelOptions,
    here: bool,
    noise: &[String],
    time: Option<f64>,
    out: Option<&Path>,
) -> Result<(), Exit> {
    let mut page = Page::new(&format!("Random vibration of {}", options.model));
    let (scene, found) = about(options, here, &mut page)?;
    let n = found.state_matrix.rows();
    let mut q = Matrix::zeros(n, n);
    for text in noise {
        let (name, intensity) = text
            .rsplit_once('=')
            .and_then(|(name, value)| Some((name, value.trim().parse::<f64>().ok().filter(|w| *w >= 0.0)?)))
            .ok_or_else(|| Exit::Usage(format!("`{text}`: expected NAME=INTENSITY, not negative")))?;
        let b = input(&found, velocity(&scene.model, name.trim())?)?;
        let column = Matrix::from_rows(n, 1, b);
        q = q.plus(intensity, &column.mul(&column.transpose()));
    }
    let p = match time {
        None => stationary(&found.state_matrix, &q).map_err(failed)?,
        Some(t) => transient(&found.state_matrix, &q, &Matrix::zeros(n, n), t).map_err(failed)?,
    };
    page.say(&match time {
        None => "stationary standard deviations:".to_owned(),
        Some(t) => format!("standard deviations {t} s after rest:"),
    });
    let f = found.independent.len();
    let mut rows = vec![["coordinate", "of the position", "of the velocity"].map(str::to_owned).to_vec()];
    for (i, name) in found.names.iter().enumerate() {
        let deviation = |i: usize| short(p[(i, i)].max(0.0).sqrt());
        rows.push(vec![name.clone(), deviation(i), deviation(f + i)]);
    }
    page.table(&rows);
    page.file("covariance.csv", p.to_csv().into_bytes());
    page.file("covariance.npy", npy(&p));
    page.finish(out)
}
