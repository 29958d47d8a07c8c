//! Small vibrations of a scene about its equilibrium, a steady motion or a trajectory: matrices, stability, transition matrices.

use super::page::{Chart, Page, Style};
use super::{failed, short, velocity};
use crate::args::{ModelOptions, PlaceOptions};
use crate::exit::Exit;
use crate::robot;
use dalembert::model::Model;
use dalembert::scene::Scene;
use dalembert_analysis::dense::Matrix;
use dalembert_analysis::eigen::{schur, symmetric, without_rounding};
use dalembert_analysis::export::{mat, npy, npy_stack};
use dalembert_analysis::linear::{Linear, Verdict, verdict};
use dalembert_analysis::linearise::{Linearised, linearise as linearised};
use dalembert_analysis::place::{Place, Touch, word};
use dalembert_analysis::routh::{scaled_polynomial, scheme};
use dalembert_methods::algebra::Complex;
use dalembert_methods::nonsmooth::Mode;
use dalembert_methods::system::System;

/// The search for an equilibrium ends at this part of the size of the system.
const BALANCE: f64 = 1e-12;
/// The search for a steady motion ends at velocities and accelerations below this.
const STEADY: f64 = 1e-10;
/// Larger matrices are written to files only.
const SHOWN: usize = 8;
/// The tolerance of the motion along which a scene is linearised.
const ALONG: f64 = 1e-11;
/// The tolerance that options of contacts follow.
const CONTACTS: f64 = 1e-9;
/// Gaps in m, and parts of presses, up to which a contact is on the edge of another mode.
const EDGE: f64 = 1e-8;
/// The mode of a contact without friction.
const FREE: Mode = Mode::Slide { direction: [0.0; 2] };
/// Points of the curves of transition matrices.
const POINTS: usize = 200;

/// A scene linearised about a place.
pub struct About {
    pub scene: Scene,
    pub place: Place,
    pub found: Linearised,
}

/// The scene at its equilibrium, in a steady motion, or at its start.
pub fn settled(options: &ModelOptions, place: &PlaceOptions, page: &mut Page) -> Result<(Scene, Place), Exit> {
    let scene = robot::scene(options)?;
    let (model, start) = (&scene.model, scene.model.initial_state());
    let contacts = scene.run.contacts.options(CONTACTS);
    let found = if !place.steady.is_empty() {
        let running = place.steady.iter().map(|name| velocity(model, name)).collect::<Result<Vec<usize>, Exit>>()?;
        let (place, found) = Place::steady(model, &start, &running, STEADY, &contacts).map_err(failed)?;
        let speeds: Vec<String> =
            running.iter().map(|&i| format!("{} at {}", model.velocity_name(i), short(found.state.v[i]))).collect();
        page.say(&format!(
            "steady motion after {} Newton steps, largest rate left {:.1e}: {}; {} directions are free",
            found.iterations,
            found.residual,
            speeds.join(", "),
            found.free
        ));
        let mut rows = vec![["coordinate", "position", "velocity"].map(str::to_owned).to_vec()];
        let n = found.state.v.len();
        if found.state.q.len() == n {
            rows.extend((0..n).map(|i| {
                vec![model.velocity_name(i), format!("{:.12}", found.state.q[i]), format!("{:.12}", found.state.v[i])]
            }));
            page.table(&rows);
        }
        place
    } else if place.here {
        Place::start(model, &start, &contacts).map_err(failed)?
    } else {
        // What turns on has no equilibrium where it starts.
        let running = (0..start.v.len()).find(|&i| start.v[i] != 0.0).map(|i| model.velocity_name(i));
        let (place, found) = Place::equilibrium(model, &start, BALANCE, &contacts).map_err(|error| match &running {
            Some(name) => failed(format!(
                "{error}\nthe scene moves at its start ({name}): `--steady COORDINATE` searches for a steady motion, `--here` takes the start as it is"
            )),
            None => failed(error),
        })?;
        page.say(&format!("equilibrium after {} steps, largest force left {:.1e}", found.iterations, found.residual));
        place
    };
    tell_contacts(model, &found, page);
    Ok((scene, found))
}

/// Tells which contacts are closed, stick and slide, and with what forces.
pub fn tell_contacts(model: &Model, place: &Place, page: &mut Page) {
    let touches = place.touches(model);
    if touches.is_empty() {
        return;
    }
    page.say("contacts, which small motions leave as they are here:");
    let head = ["contact", "is", "gap [m]", "press [N]", "friction [N]", "left to slip [N]"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let or_none = |told: Option<f64>| told.map_or_else(|| "–".to_owned(), short);
    for touch in &touches {
        let closed = touch.mode.closed();
        rows.push(vec![
            touch.name.clone(),
            word(touch.mode).to_owned(),
            or_none((!closed).then_some(touch.gap)),
            or_none(closed.then_some(touch.press)),
            or_none((closed && touch.mode != FREE).then_some(touch.friction)),
            or_none(touch.left),
        ]);
    }
    page.table(&rows);
    let named = |test: &dyn Fn(&Touch) -> bool| -> Vec<&str> {
        touches.iter().filter(|touch| test(touch)).map(|touch| touch.name.as_str()).collect()
    };
    let sticks = named(&|touch| touch.mode == Mode::Stick);
    if !sticks.is_empty() {
        page.say(&format!(
            "what sticks ({}) holds a range of forces: the place is one of a family, and small motions along it are none",
            sticks.join(", ")
        ));
    }
    let most = touches.iter().fold(0.0f64, |max, touch| max.max(touch.press.abs()));
    let edge = named(&|touch| match touch.mode {
        Mode::Open => touch.gap.abs() <= EDGE,
        _ => touch.press <= EDGE * most || touch.left.is_some_and(|left| left <= EDGE * touch.press),
    });
    if !edge.is_empty() {
        page.say(&format!(
            "on the edge of another mode: {}; what follows holds to one side of it only",
            edge.join(", ")
        ));
    }
}

/// The scene linearised about its equilibrium, a steady motion, or its start.
pub fn about(options: &ModelOptions, place: &PlaceOptions, page: &mut Page) -> Result<About, Exit> {
    let (scene, at) = settled(options, place, page)?;
    let found = linearised(&at.system(&scene.model), &at.state).map_err(failed)?;
    if found.names.is_empty() {
        let reason = "constraints and closed contacts leave nothing free: there are no small motions";
        return Err(Exit::Usage(reason.to_owned()));
    }
    if place.here && found.acceleration > 1e-9 {
        page.say(&format!(
            "the start is no equilibrium (largest acceleration {:.3e}): the matrices hold for this instant of its motion",
            found.acceleration
        ));
    }
    Ok(About { scene, place: at, found })
}

/// Parts of a stiffness below this, relative to the largest one, are rounding.
const ROUNDING: f64 = 1e-12;

/// The eigenvalues of a matrix by rising frequency.
fn eigenvalues(a: &Matrix) -> Result<Vec<Complex>, Exit> {
    let mut values = without_rounding(&schur(&a.to_complex()).map_err(failed)?.values());
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

/// The matrices with their names.
fn parts(system: &Linear) -> [(&'static str, &Matrix); 5] {
    [
        ("M", &system.mass),
        ("D", &system.damping),
        ("G", &system.gyroscopic),
        ("K", &system.stiffness),
        ("N", &system.circulatory),
    ]
}

/// A matrix as text if it is small, and as files.
fn matrix(page: &mut Page, name: &str, matrix: &Matrix) {
    if matrix.rows() <= SHOWN && matrix.largest() > 0.0 {
        let rows: Vec<Vec<String>> =
            (0..matrix.rows()).map(|i| matrix.row(i).iter().map(|&x| short(x)).collect()).collect();
        page.table(&rows);
    }
    page.file(&format!("{name}.csv"), matrix.to_csv().into_bytes());
    page.file(&format!("{name}.npy"), npy(matrix));
}

/// Matrices, eigenvalues and stability.
pub fn linearise(options: &ModelOptions, place: &PlaceOptions) -> Result<(), Exit> {
    let mut page = Page::new(&format!("Linearisation of {}", options.model));
    let About { scene, found, .. } = about(options, place, &mut page)?;
    let system = &found.system;
    page.say(&format!("{} independent coordinates: {}", found.names.len(), found.names.join("; ")));
    for (name, part) in parts(system) {
        page.say(&format!("{name} (largest entry {})", short(part.largest())));
        matrix(&mut page, name, part);
    }
    let (a, c) = (&found.state_matrix, outputs(&found));
    let space = [("A", a), ("B", &found.input), ("C", &c)];
    for (name, matrix) in space {
        page.file(&format!("{name}.csv"), matrix.to_csv().into_bytes());
        page.file(&format!("{name}.npy"), npy(matrix));
    }
    let all: Vec<(&str, &Matrix)> = parts(system).into_iter().chain(space).collect();
    page.file("matrices.mat", mat(&all));
    let velocities: Vec<String> = (0..scene.model.shape().v).map(|i| scene.model.velocity_name(i)).collect();
    page.file("states.txt", (states(&found).join("\n") + "\n").into_bytes());
    page.file("inputs.txt", (velocities.join("\n") + "\n").into_bytes());
    page.say(&format!(
        "ẋ = A x + B h, y = C x with {} states (states.txt), forces h on all {} velocities (inputs.txt) and the changes y of their coordinates",
        a.rows(),
        velocities.len()
    ));
    let values = eigenvalues(a)?;
    page.say("eigenvalues in 1/s:");
    let mut rows = vec![vec!["real part".to_owned(), "imaginary part".to_owned()]];
    rows.extend(values.iter().map(|z| vec![short(z.re), short(z.im)]));
    page.table(&rows);
    page.say(&verdict_text(verdict(&values)));
    let word = if system.statically_stable() { "positive" } else { "not positive" };
    page.say(&format!("static condition: K is {word}; {}", system.conclusion().reason));
    let loose = if place.here || !place.steady.is_empty() { 0 } else { free_directions(&system.stiffness) };
    if loose > 0 {
        page.say(&format!(
            "the equilibrium is not isolated: {loose} directions without stiffness lead to others, so it is one of a family; hold what is free, or \
             name what runs on with --steady"
        ));
    }
    routh(a, &values, &mut page);
    let curves = vec![(String::new(), values.iter().map(|z| [z.re, z.im]).collect())];
    let (title, across) = ("Eigenvalues: imaginary part [1/s]".to_owned(), "real part in 1/s".to_owned());
    page.chart("eigenvalues", &Chart { title, across, log: [false; 2], style: Style::Dots, curves });
    page.finish(place.out.as_deref())
}

/// C: the changes of the coordinates of all velocities.
fn outputs(found: &Linearised) -> Matrix {
    let (rows, f) = (found.basis.rows(), found.basis.cols());
    Matrix::from_fn(rows, found.state_matrix.rows(), |i, j| if j < f { found.basis[(i, j)] } else { 0.0 })
}

/// The names of the states (y, ẏ, x).
pub fn states(found: &Linearised) -> Vec<String> {
    let (names, further) = (&found.names, found.state_matrix.rows() - 2 * found.names.len());
    let rates = names.iter().map(|name| format!("rate of {name}"));
    names.iter().cloned().chain(rates).chain((1..=further).map(|k| format!("further state {k}"))).collect()
}

/// The directions in which a symmetric matrix is zero to rounding.
fn free_directions(stiffness: &Matrix) -> usize {
    let (values, _) = symmetric(stiffness);
    let size = values.iter().fold(0.0f64, |max, v| max.max(v.abs()));
    values.iter().filter(|v| v.abs() <= ROUNDING * size).count()
}

/// The scheme of Routh and Hurwitz in words and numbers.
fn routh(a: &Matrix, values: &[Complex], page: &mut Page) {
    let size = values.iter().fold(0.0f64, |max, z| max.max(z.modulus()));
    match scheme(&scaled_polynomial(a, if size > 0.0 { size } else { 1.0 })) {
        Ok(rows) => {
            let changes = rows.windows(2).filter(|pair| (pair[0][0] < 0.0) != (pair[1][0] < 0.0)).count();
            page.say(&format!("Routh and Hurwitz: {changes} roots with positive real part"));
            if rows.len() <= 2 * SHOWN + 1 {
                let width = rows.first().map_or(0, Vec::len);
                let head = std::iter::once(format!("λ in {} 1/s", short(size)))
                    .chain((1..=width).map(|k| format!("column {k}")));
                let mut table = vec![head.collect::<Vec<_>>()];
                for (k, row) in rows.iter().enumerate() {
                    let power = format!("λ^{}", rows.len() - 1 - k);
                    let cells = (0..width).map(|j| row.get(j).map_or_else(String::new, |&x| short(x)));
                    table.push(std::iter::once(power).chain(cells).collect());
                }
                page.table(&table);
            }
        }
        Err(error) => page.say(&format!("Routh and Hurwitz: {error}")),
    }
}

/// The matrices along a motion, at some instants.
pub fn along(options: &ModelOptions, place: &PlaceOptions, time: f64, count: usize) -> Result<(), Exit> {
    let mut page = Page::new(&format!("Linearisation of {} along its motion", options.model));
    if !(time > 0.0 && count > 1) {
        return Err(Exit::Usage("a motion needs a time and two instants at least".to_owned()));
    }
    let scene = robot::scene(options)?;
    let model = &scene.model;
    let (contacts, interval) = (scene.run.contacts.options(CONTACTS), time / (count - 1) as f64);
    let places = Place::along(model, &model.initial_state(), interval, count, ALONG, &contacts).map_err(failed)?;
    let head = ["time [s]", "largest acceleration", "largest real part [1/s]", "largest frequency [rad/s]"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let (mut table, mut kept) = (String::new(), Vec::new());
    let mut names: Option<Vec<String>> = None;
    let mut modes = Vec::new();
    for (k, at) in places.iter().enumerate() {
        let t = at.state.t;
        if modes != at.modes {
            page.say(&format!("at t = {t} s"));
            tell_contacts(model, at, &mut page);
            modes.clone_from(&at.modes);
        }
        let found = linearised(&at.system(model), &at.state).map_err(failed)?;
        if names.as_ref().is_some_and(|names| *names != found.names) {
            page.say(&format!("from t = {t} s on the independent coordinates are {}", found.names.join("; ")));
        } else if names.is_none() {
            page.say(&format!("{} independent coordinates: {}", found.names.len(), found.names.join("; ")));
        }
        let values = eigenvalues(&found.state_matrix)?;
        let most = |of: &dyn Fn(&Complex) -> f64| values.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        rows.push(vec![short(t), short(found.acceleration), short(most(&|z| z.re)), short(most(&|z| z.im))]);
        table += &format!("{:?},{}\n", t, crate::eval::numbers(found.state_matrix.values()));
        names = Some(found.names.clone());
        kept.push((k + 1, found));
    }
    page.say("the matrices hold for these instants, with the motion going on:");
    page.table(&rows);
    page.file("along.csv", format!("time,A by rows\n{table}").into_bytes());
    let named: Vec<(String, &Matrix)> = kept
        .iter()
        .flat_map(|(k, found)| {
            let space = [("A", &found.state_matrix), ("B", &found.input)];
            let all = parts(&found.system).into_iter().chain(space);
            all.map(move |(name, matrix)| (format!("{name}{k}"), matrix))
        })
        .collect();
    // One array over the instants, where all have as many states.
    let stacked = |of: &dyn Fn(&Linearised) -> Matrix| {
        let matrices: Vec<Matrix> = kept.iter().map(|(_, found)| of(found)).collect();
        npy_stack(&matrices.iter().collect::<Vec<_>>())
    };
    let space = [
        ("A.npy", stacked(&|found| found.state_matrix.clone())),
        ("B.npy", stacked(&|found| found.input.clone())),
        ("C.npy", stacked(&outputs)),
    ];
    for (name, file) in space {
        if let Some(file) = file {
            page.file(name, file);
        }
    }
    page.file("matrices.mat", mat(&named.iter().map(|(name, m)| (name.as_str(), *m)).collect::<Vec<_>>()));
    page.finish(place.out.as_deref())
}

/// Ψ₁, Ψ₂ and Φ after a time, with the way to there.
pub fn transition(options: &ModelOptions, place: &PlaceOptions, time: f64) -> Result<(), Exit> {
    let mut page = Page::new(&format!("Transition matrices of {}", options.model));
    let About { found, .. } = about(options, place, &mut page)?;
    let real = found.system.real_modes().map_err(failed)?;
    let (first, second) = real.transition(&found.system.mass, time);
    let whole = found.state_matrix.scaled(time).exponential().map_err(failed)?;
    page.say(&format!("after {time} s, in {}", found.names.join("; ")));
    page.say("Ψ₁: positions from positions, without damping, gyroscopic and circulatory forces");
    matrix(&mut page, "Psi1", &first);
    page.say("Ψ₂: positions from velocities [s]");
    matrix(&mut page, "Psi2", &second);
    page.say("Φ: the whole state (positions, velocities, further states) of the whole system");
    matrix(&mut page, "Phi", &whole);
    page.file("transition.mat", mat(&[("Psi1", &first), ("Psi2", &second), ("Phi", &whole)]));
    let n = found.names.len();
    // How each coordinate moves when it is let go from one.
    let step = found.state_matrix.scaled(time / POINTS as f64).exponential().map_err(failed)?;
    let mut now = Matrix::unit(whole.rows());
    let mut curves: Vec<(String, Vec<[f64; 2]>)> =
        found.names.iter().take(6).map(|name| (name.clone(), Vec::with_capacity(POINTS + 1))).collect();
    for k in 0..=POINTS {
        for (i, (_, points)) in curves.iter_mut().enumerate().take(n) {
            points.push([time * k as f64 / POINTS as f64, now[(i, i)]]);
        }
        now = step.mul(&now);
    }
    let (title, across) = ("Each coordinate, let go from one".to_owned(), "time in s".to_owned());
    page.chart("transition", &Chart { title, across, log: [false; 2], style: Style::Line, curves });
    page.finish(place.out.as_deref())
}
