//! Forced vibrations of a scene: harmonic, periodic and random forces.

use super::page::{Chart, Page, Style};
use super::small::{About, about, settled};
use super::{failed, short, velocity};
use crate::args::{ModelOptions, PlaceOptions};
use crate::exit::Exit;
use dalembert::expression::Expression;
use dalembert::model::Model;
use dalembert_analysis::covariance::{stationary, stationary_sparse, transient};
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::export::npy;
use dalembert_analysis::linearise::{Linearised, entries};
use dalembert_analysis::response::{Filter, StateSpace, logarithmic};
use dalembert_methods::algebra::Complex;
use std::f64::consts::TAU;

/// Frequencies of spectral densities, and instants of transient deviations.
const DENSITIES: usize = 600;
const INSTANTS: usize = 64;
/// Harmonics that are listed.
const HARMONICS: usize = 5;
/// Cross spectral densities are written for up to this many positions and velocities.
const CROSSED: usize = 16;
/// Most steps of alternating directions.
const DIRECTIONS: usize = 600;

/// The linearised scene with forces on some velocities and the coordinates of others measured.
fn space(found: &Linearised, forces: &[usize], measures: &[usize]) -> StateSpace {
    let (f, n) = (found.independent.len(), found.state_matrix.rows());
    let input = Matrix::from_fn(n, forces.len(), |i, k| found.input[(i, forces[k])]);
    let output = Matrix::from_fn(measures.len(), n, |i, j| if j < f { found.basis[(measures[i], j)] } else { 0.0 });
    StateSpace { state: found.state_matrix.clone(), input, output }
}

fn velocities(model: &Model, names: &[String]) -> Result<Vec<usize>, Exit> {
    names.iter().map(|name| velocity(model, name)).collect()
}

/// The response of coordinates to harmonic forces: Bode and Nyquist plots.
pub fn frequency_response(
    options: &ModelOptions,
    place: &PlaceOptions,
    force: &[String],
    measure: &[String],
    band: [f64; 2],
    count: usize,
) -> Result<(), Exit> {
    if !(band[0] > 0.0 && band[1] > band[0]) {
        return Err(Exit::Usage("frequencies must be positive and rising".to_owned()));
    }
    let mut page = Page::new(&format!("Frequency response of {}", options.model));
    let About { scene, found, .. } = about(options, place, &mut page)?;
    let (forces, measures) = (velocities(&scene.model, force)?, velocities(&scene.model, measure)?);
    let system = space(&found, &forces, &measures);
    let frequencies = logarithmic(band[0], band[1], count);
    let matrices =
        frequencies.iter().map(|f| system.response(TAU * f).map_err(failed)).collect::<Result<Vec<_>, Exit>>()?;
    let pairs: Vec<(usize, usize)> = (0..measures.len()).flat_map(|i| (0..forces.len()).map(move |j| (i, j))).collect();
    let name = |&(i, j): &(usize, usize)| format!("{} by {}", measure[i], force[j]);
    let mut chart = Vec::new();
    for pair in &pairs {
        let points: Vec<(f64, Complex)> = frequencies.iter().copied().zip(matrices.iter().map(|m| m[*pair])).collect();
        let peak = points.iter().max_by(|a, b| a.1.modulus().total_cmp(&b.1.modulus()));
        if let Some((frequency, value)) = peak {
            let of = if pairs.len() > 1 { format!("{}: ", name(pair)) } else { String::new() };
            page.say(&format!("{of}largest response {} at {} Hz", short(value.modulus()), short(*frequency)));
        }
        chart.push((name(pair), points));
    }
    let several = chart.len() > 1;
    let head = |what: &str, of: &str| if several { format!("{what} of {of}") } else { what.to_owned() };
    let columns: Vec<String> = chart
        .iter()
        .flat_map(|(of, _)| ["real", "imaginary", "amplitude", "phase"].map(|what| head(what, of)))
        .collect();
    let mut table = format!("frequency,{}\n", columns.join(","));
    for (k, f) in frequencies.iter().enumerate() {
        let cells: Vec<f64> = chart.iter().flat_map(|(_, points)| parts(points[k].1)).collect();
        table += &format!("{f:?},{}\n", crate::eval::numbers(&cells));
    }
    page.file("response.csv", table.into_bytes());
    let mut draw = |name: &str, title: &str, across: &str, log: [bool; 2], point: &dyn Fn(f64, Complex) -> [f64; 2]| {
        let curves = chart
            .iter()
            .map(|(of, points)| (of.clone(), points.iter().map(|(f, z)| point(*f, *z)).collect()))
            .collect();
        let (title, across) = (title.to_owned(), across.to_owned());
        page.chart(name, &Chart { title, across, log, style: Style::Line, curves });
    };
    let title = "Bode plot: amplitude of the response to a unit force";
    draw("amplitude", title, "frequency in Hz", [true, true], &|f, z| [f, z.modulus()]);
    draw("phase", "Bode plot: phase [rad]", "frequency in Hz", [true, false], &|f, z| [f, z.im.atan2(z.re)]);
    draw("nyquist", "Nyquist plot: imaginary part", "real part", [false, false], &|_, z| [z.re, z.im]);
    page.finish(place.out.as_deref())
}

/// Real part, imaginary part, amplitude and phase.
fn parts(z: Complex) -> [f64; 4] {
    [z.re, z.im, z.modulus(), z.im.atan2(z.re)]
}

/// A pair `NAME=VALUE` with a name of a velocity.
fn pair<'t>(text: &'t str, expected: &str) -> Result<(&'t str, &'t str), Exit> {
    let found = text.split_once('=').filter(|(name, value)| !name.trim().is_empty() && !value.trim().is_empty());
    let (name, value) = found.ok_or_else(|| Exit::Usage(format!("`{text}`: expected {expected}")))?;
    Ok((name.trim(), value.trim()))
}

/// The periodic response to periodic forces.
pub fn periodic_response(
    options: &ModelOptions,
    place: &PlaceOptions,
    force: &[String],
    measure: &[String],
    period: f64,
    samples: usize,
) -> Result<(), Exit> {
    if !(period > 0.0 && (2..=1 << 16).contains(&samples)) {
        return Err(Exit::Usage("a period must be positive and have 2 to 65536 samples".to_owned()));
    }
    let mut page = Page::new(&format!("Periodic response of {}", options.model));
    let About { scene, found, .. } = about(options, place, &mut page)?;
    let (mut forces, mut formulas) = (Vec::new(), Vec::new());
    for text in force {
        let (name, formula) = pair(text, "NAME=FORMULA")?;
        forces.push(velocity(&scene.model, name)?);
        formulas.push(Expression::parse_in(formula, &["t"]).map_err(|e| Exit::Usage(format!("`{text}`: {e}")))?);
    }
    let names = if measure.is_empty() { found.names.clone() } else { measure.to_vec() };
    let system = space(&found, &forces, &velocities(&scene.model, &names)?);
    let mut inputs = Matrix::zeros(samples, forces.len());
    for k in 0..samples {
        for (j, formula) in formulas.iter().enumerate() {
            inputs[(k, j)] = formula.value(&[period * k as f64 / samples as f64]).map_err(failed)?;
        }
    }
    let outputs = system.periodic(period, &inputs).map_err(failed)?;
    let mut rows = vec![["coordinate", "mean", "largest"].map(str::to_owned).to_vec()];
    rows[0].extend((1..=HARMONICS).map(|k| format!("harmonic {k}: amplitude, phase [°]")));
    for (i, name) in names.iter().enumerate() {
        let column = outputs.column(i);
        let mean = column.iter().sum::<f64>() / samples as f64;
        let largest = column.iter().fold(0.0f64, |max, x| max.max(x.abs()));
        let mut row = vec![name.clone(), short(mean), short(largest)];
        for k in 1..=HARMONICS {
            let (a, b) = harmonic(&column, k);
            row.push(format!("{}, {:.2}", short(a.hypot(b)), (-b).atan2(a).to_degrees()));
        }
        rows.push(row);
    }
    page.say("harmonics are amplitude · cos(kΩt + phase):");
    page.table(&rows);
    let time = |k: usize| period * k as f64 / samples as f64;
    let lines: String =
        (0..samples).map(|k| format!("{:?},{}\n", time(k), crate::eval::numbers(outputs.row(k)))).collect();
    page.file("periodic.csv", format!("time,{}\n{lines}", names.join(",")).into_bytes());
    let curve = |m: &Matrix, i: usize| (0..=samples).map(|k| [time(k), m[(k % samples, i)]]).collect::<Vec<_>>();
    let across = "time in s".to_owned();
    let curves = force.iter().enumerate().map(|(j, text)| (text.clone(), curve(&inputs, j))).collect();
    let (title, log) = ("Forces over one period".to_owned(), [false; 2]);
    page.chart("forces", &Chart { title, across: across.clone(), log, style: Style::Line, curves });
    let curves = names.iter().enumerate().map(|(i, name)| (name.clone(), curve(&outputs, i))).collect();
    let title = "Periodic response, from the equilibrium".to_owned();
    page.chart("periodic", &Chart { title, across, log, style: Style::Line, curves });
    page.finish(place.out.as_deref())
}

/// The factors of cos and sin of a harmonic of samples over one period.
fn harmonic(samples: &[f64], k: usize) -> (f64, f64) {
    let base = TAU * k as f64 / samples.len() as f64;
    let sum = |f: &dyn Fn(f64) -> f64| {
        samples.iter().enumerate().map(|(j, x)| x * f(base * j as f64)).sum::<f64>() * 2.0 / samples.len() as f64
    };
    (sum(&f64::cos), sum(&f64::sin))
}

/// The velocities on which white noise acts, and its intensities.
fn white(model: &Model, noise: &[String]) -> Result<(Vec<usize>, Vec<f64>), Exit> {
    let (mut forces, mut intensities) = (Vec::new(), Vec::new());
    for text in noise {
        let (name, value) = pair(text, "NAME=INTENSITY, not negative")?;
        let intensity = value.parse::<f64>().ok().filter(|w| *w >= 0.0 && w.is_finite());
        forces.push(velocity(model, name)?);
        intensities
            .push(intensity.ok_or_else(|| Exit::Usage(format!("`{text}`: expected NAME=INTENSITY, not negative")))?);
    }
    Ok((forces, intensities))
}

/// The stationary covariance of a large scene under white noise: its state matrix by entries, the covariance of low rank.
pub fn sparse_covariance(
    options: &ModelOptions,
    place: &PlaceOptions,
    noise: &[String],
    residual: f64,
) -> Result<(), Exit> {
    let mut page = Page::new(&format!("Random vibration of {}", options.model));
    let (scene, at) = settled(options, place, &mut page)?;
    let (forces, intensities) = white(&scene.model, noise)?;
    let found = entries(&at.system(&scene.model), &at.state, &forces).map_err(failed)?;
    let roots: Vec<f64> = intensities.iter().map(|w| w.sqrt()).collect();
    let input = found.input.mul(&Matrix::diagonal(&roots));
    let full = 100.0 * found.state.len() as f64 / (found.size as f64).powi(2).max(1.0);
    page.say(&format!(
        "{} states; {} entries of their matrix, {full:.2} %, are not zero",
        found.size,
        found.state.len()
    ));
    let low = stationary_sparse(found.size, &found.state, &input, residual, DIRECTIONS).map_err(failed)?;
    page.say(&format!(
        "the covariance has rank {}, its equation the relative residual {:.1e}",
        low.factor.cols(),
        low.residual
    ));
    page.say("stationary standard deviations:");
    let f = found.independent.len();
    let deviation = |i: usize| low.entry(i, i).max(0.0).sqrt();
    let mut rows = vec![["coordinate", "of the position", "of the velocity"].map(str::to_owned).to_vec()];
    rows.extend((0..f).map(|i| vec![found.names[i].clone(), short(deviation(i)), short(deviation(f + i))]));
    page.table(&rows);
    page.file("factor.npy", npy(&low.factor));
    let table: String = (0..f)
        .map(|i| format!("{},{:?},{:?}\n", found.names[i].replace(',', ""), deviation(i), deviation(f + i)))
        .collect();
    page.file("deviations.csv", format!("coordinate,position,velocity\n{table}").into_bytes());
    page.finish(place.out.as_deref())
}

/// The shaping filter of each noise that has one: NAME=[…]/[…], coefficients of numerator and denominator by rising powers of s.
fn filters(model: &Model, forces: &[usize], given: &[String]) -> Result<Vec<Option<Filter>>, Exit> {
    let mut out: Vec<Option<Filter>> = vec![None; forces.len()];
    let expected = "NAME=[N0,N1,…]/[D0,D1,…]";
    for text in given {
        let (name, formula) = pair(text, expected)?;
        let wrong = || Exit::Usage(format!("`{text}`: expected {expected}, coefficients by rising powers of s"));
        let list = |part: &str| -> Option<Vec<f64>> {
            let inside = part.trim().strip_prefix('[')?.strip_suffix(']')?;
            inside.split(',').map(|x| x.trim().parse::<f64>().ok().filter(|x| x.is_finite())).collect()
        };
        let (above, below) = formula.split_once('/').ok_or_else(wrong)?;
        let filter = Filter { numerator: list(above).ok_or_else(wrong)?, denominator: list(below).ok_or_else(wrong)? };
        let on = velocity(model, name)?;
        let missing = || Exit::Usage(format!("`{text}`: no `--noise` acts there, so that there is nothing to filter"));
        let k = forces.iter().position(|&force| force == on).ok_or_else(missing)?;
        out[k] = Some(filter);
    }
    Ok(out)
}

/// The covariance of a scene under noise, white or shaped by filters, with its spectral densities.
pub fn covariance(
    options: &ModelOptions,
    place: &PlaceOptions,
    noise: &[String],
    filter: &[String],
    time: Option<f64>,
    band: [Option<f64>; 2],
) -> Result<(), Exit> {
    let mut page = Page::new(&format!("Random vibration of {}", options.model));
    let About { scene, found, .. } = about(options, place, &mut page)?;
    let (forces, intensities) = white(&scene.model, noise)?;
    let f = found.independent.len();
    let mut system = space(&found, &forces, &found.independent);
    // Velocities are measured too.
    system.output = Matrix::from_fn(2 * f, found.state_matrix.rows(), |i, j| f64::from(u8::from(i == j)));
    let system = system.shaped(&filters(&scene.model, &forces, filter)?).map_err(failed)?;
    let a = &system.state;
    let n = a.rows();
    if n > found.state_matrix.rows() {
        page.say(&format!("{} states of filters follow those of the scene", n - found.state_matrix.rows()));
    }
    let q = system.input.mul(&Matrix::diagonal(&intensities)).mul(&system.input.transpose());
    let deviation = |p: &Matrix, i: usize| p[(i, i)].max(0.0).sqrt();
    let p = match time {
        None => stationary(a, &q).map_err(failed)?,
        Some(t) => transient(a, &q, &Matrix::zeros(n, n), t).map_err(failed)?,
    };
    page.say(&match time {
        None => "stationary standard deviations:".to_owned(),
        Some(t) => format!("standard deviations {t} s after rest:"),
    });
    let mut rows = vec![["coordinate", "of the position", "of the velocity"].map(str::to_owned).to_vec()];
    for (i, name) in found.names.iter().enumerate() {
        rows.push(vec![name.clone(), short(deviation(&p, i)), short(deviation(&p, f + i))]);
    }
    page.table(&rows);
    page.file("covariance.csv", p.to_csv().into_bytes());
    page.file("covariance.npy", npy(&p));
    if let Some(t) = time {
        let mut curves: Vec<(String, Vec<[f64; 2]>)> =
            found.names.iter().take(6).map(|name| (name.clone(), vec![[0.0, 0.0]])).collect();
        let step = t / INSTANTS as f64;
        let mut now = Matrix::zeros(n, n);
        for k in 1..=INSTANTS {
            now = transient(a, &q, &now, step).map_err(failed)?;
            curves
                .iter_mut()
                .enumerate()
                .for_each(|(i, (_, points))| points.push([k as f64 * step, deviation(&now, i)]));
        }
        let (title, across) = ("Standard deviations of positions".to_owned(), "time after rest in s".to_owned());
        page.chart("deviations", &Chart { title, across, log: [false; 2], style: Style::Line, curves });
    }
    densities(&system, &intensities, &found, band, (time.is_none()).then_some(&p), &mut page)?;
    page.finish(place.out.as_deref())
}

/// Spectral densities over a band, and how much of the variances is in it.
fn densities(
    system: &StateSpace,
    intensities: &[f64],
    found: &Linearised,
    band: [Option<f64>; 2],
    covariance: Option<&Matrix>,
    page: &mut Page,
) -> Result<(), Exit> {
    let own = system.band().map_err(failed)?;
    let (low, high) = (band[0].unwrap_or(own[0]), band[1].unwrap_or(own[1]));
    if !(low > 0.0 && high > low) {
        return Err(Exit::Usage("frequencies must be positive and rising".to_owned()));
    }
    let frequencies = logarithmic(low, high, DENSITIES);
    let rows = frequencies
        .iter()
        .map(|&f| system.density(intensities, f).map_err(failed))
        .collect::<Result<Vec<Vec<f64>>, Exit>>()?;
    if let Some(p) = covariance {
        let shares: Vec<String> = (0..found.names.len())
            .map(|i| {
                let pieces = frequencies.windows(2).zip(rows.windows(2));
                let sum: f64 = pieces.map(|(f, s)| 0.5 * (f[1] - f[0]) * (s[0][i] + s[1][i])).sum();
                // Below the band the density is as at its lower end.
                let whole = sum + low * rows[0][i];
                format!("{:.4}", if p[(i, i)] > 0.0 { whole / p[(i, i)] } else { 0.0 })
            })
            .collect();
        page.say(&format!(
            "areas under the spectral densities up to {} Hz, as parts of the variances: {}",
            short(high),
            shares.join(", ")
        ));
    }
    let lines: String =
        frequencies.iter().zip(&rows).map(|(f, row)| format!("{f:?},{}\n", crate::eval::numbers(row))).collect();
    let names: Vec<String> =
        found.names.iter().cloned().chain(found.names.iter().map(|name| format!("rate of {name}"))).collect();
    let head: Vec<String> = names.iter().map(|name| name.replace(',', "")).collect();
    page.file("densities.csv", format!("frequency,{}\n{lines}", head.join(",")).into_bytes());
    if names.len() <= CROSSED {
        let pairs: Vec<(usize, usize)> =
            (0..names.len()).flat_map(|i| (i + 1..names.len()).map(move |j| (i, j))).collect();
        let of = |&(i, j): &(usize, usize)| {
            format!("real of {} with {},imaginary of {} with {}", head[i], head[j], head[i], head[j])
        };
        let mut table = format!("frequency,{}\n", pairs.iter().map(of).collect::<Vec<_>>().join(","));
        for f in &frequencies {
            let matrix = system.cross_density(intensities, *f).map_err(failed)?;
            let cells: Vec<f64> = pairs.iter().flat_map(|&at| [matrix[at].re, matrix[at].im]).collect();
            table += &format!("{f:?},{}\n", crate::eval::numbers(&cells));
        }
        page.file("cross-densities.csv", table.into_bytes());
    }
    let curve = |i: usize| frequencies.iter().zip(&rows).map(|(f, row)| [*f, row[i]]).collect::<Vec<_>>();
    let curves = found.names.iter().take(6).enumerate().map(|(i, name)| (name.clone(), curve(i))).collect();
    let (title, across) =
        ("Spectral densities of positions, one-sided, per Hz".to_owned(), "frequency in Hz".to_owned());
    page.chart("densities", &Chart { title, across, log: [true; 2], style: Style::Line, curves });
    Ok(())
}
