//! A tree of links of a model, or of a robot file: recursive algorithms on tables of states, four states at a time. Configurations that reach targets
//! follow each other, one at a time.

use crate::error;
use crate::model::Model;
use crate::share::{Trouble, raised, room, shaped, share};
use crate::watch::{Look, detached};
use dalembert::bodies::{Tree as TreeBody, TreeSettings};
use dalembert::methods::vector::{Mat3, Vec3};
use dalembert_robots::evaluate::Quantity;
use dalembert_robots::studies::{StudyError, Target, inverse_dynamics, inverse_kinematics};
use dalembert_robots::{Base, read};
use dalembert_trees::entry::{Level, four};
use dalembert_trees::passive::{self, Smoothing};
use dalembert_trees::{FastLanes, Link, Tree as Links, crba, jacobian, kinematics, momentum};
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A link, a point on it, and for each row where it is wanted and how the link is to be turned: three and nine numbers.
type Wanted<'py> = (String, [f64; 3], Option<PyReadonlyArray2<'py, f64>>, Option<PyReadonlyArray2<'py, f64>>);
/// The same while rows are computed.
type Given<'a> = (&'a String, Vec3<f64>, Option<&'a [f64]>, Option<&'a [f64]>);
/// Four states side by side.
type Four = FastLanes<4, false>;
/// How many that are.
const LANES: usize = 4;
/// Rows of a motion that are computed between two looks for signals, and those beside them that their derivatives need at most.
const STRETCH: usize = 1024;
const BESIDE: usize = 7;

/// A tree of links.
#[pyclass(frozen, module = "dalembert._dalembert")]
pub struct Tree {
    links: Links,
    initial: Vec<f64>,
    /// Forces of the joints themselves; none if there are none.
    passive: Option<Smoothing>,
    /// How it can be made again, in another process: function and arguments.
    recipe: (&'static str, Py<PyTuple>),
}

/// What ends rows that follow each other.
enum Ended {
    Stopped(PyErr),
    Study(StudyError),
}

impl Ended {
    /// An error of rows of which `before` went before them.
    fn study(error: StudyError, before: usize) -> Self {
        Self::Study(match error {
            StudyError::OutOfReach { row, link, error, tolerance } => {
                StudyError::OutOfReach { row: row + before, link, error, tolerance }
            }
            StudyError::Times { row } => StudyError::Times { row: row + before },
            other => other,
        })
    }

    fn raised(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Stopped(error) => error,
            Self::Study(error) => error::plain(py, "StudyError", error),
        }
    }
}

/// The tree of a model, by its name or the only one.
#[pyfunction]
#[pyo3(signature = (model, name))]
pub fn tree_of(py: Python<'_>, model: &Bound<'_, Model>, name: Option<&str>) -> PyResult<Tree> {
    let mechanics = &model.get().scene.model;
    let wanted = |other: &str| name.is_none_or(|name| name == other);
    let trees: Vec<_> = mechanics.bodies().iter().filter(|b| b.item.kind() == "tree" && wanted(&b.name)).collect();
    let [body] = trees.as_slice() else {
        let names: Vec<&str> = trees.iter().map(|b| b.name.as_str()).collect();
        return Err(error::value(match (names.as_slice(), name) {
            ([], Some(name)) => format!("the model has no tree named `{name}`"),
            ([], None) => "the model has no body of kind `tree`".to_owned(),
            _ => format!("the model has several trees; choose one of {}", names.join(", ")),
        }));
    };
    let wrong = |message: String| error::value(format!("body `{}`: {message}", body.name));
    let settings: TreeSettings =
        serde_json::from_value(serde_json::Value::Object(body.item.parameters())).map_err(|e| wrong(e.to_string()))?;
    let hard = settings.stop_restitution.is_some();
    let smoothing = Smoothing {
        slip: settings.slip,
        stop_stiffness: if hard { 0.0 } else { settings.stop_stiffness },
        stop_damping: if hard { 0.0 } else { settings.stop_damping },
    };
    let made = TreeBody::try_from(settings).map_err(wrong)?;
    let links = made.tree().clone().with_gravity(Vec3(mechanics.gravity()));
    let (mut initial, mut v) = (vec![0.0; body.item.coordinates()], vec![0.0; body.item.velocities()]);
    body.item.initial(&mut initial, &mut v);
    let recipe = ("tree_of", (model, name).into_pyobject(py)?.unbind());
    Ok(Tree { passive: acts(&links, smoothing), links, initial, recipe })
}

/// The tree of a robot file: URDF, MJCF or SDF.
#[pyfunction]
#[pyo3(signature = (text, free))]
pub fn tree_of_robot(py: Python<'_>, text: &str, free: bool) -> PyResult<Tree> {
    let base = if free { Base::Free } else { Base::Fixed };
    let robot = detached(py, || read(text, base)).map_err(|e| error::plain(py, "RobotError", e))?;
    let recipe = ("tree_of_robot", (text, free).into_pyobject(py)?.unbind());
    Ok(Tree { passive: None, links: robot.tree, initial: robot.initial, recipe })
}

/// The forces of the joints themselves, if there are any.
fn acts(links: &Links, smoothing: Smoothing) -> Option<Smoothing> {
    let ends = smoothing.stop_stiffness > 0.0 || smoothing.stop_damping > 0.0;
    let free = links.freedoms().iter().all(|f| {
        let dry = f.friction > 0.0 && smoothing.slip.is_some();
        f.damping == 0.0 && f.stiffness == 0.0 && !dry && !(ends && (f.lower.is_finite() || f.upper.is_finite()))
    });
    let cones = ends && links.joints().iter().any(|joint| joint.spec.cone.is_some());
    (!free || cones).then_some(smoothing)
}

/// The scratch of one thread.
struct Work {
    rnea: four::Rnea,
    aba: four::Aba,
    crba: four::Crba,
    kinematics: kinematics::Work<Four>,
    by_rnea: Option<four::RneaDerivatives>,
    by_aba: Option<four::AbaDerivatives>,
    q: Vec<Four>,
    v: Vec<Four>,
    given: Vec<Four>,
    own: Vec<Four>,
    out: Vec<Four>,
}

/// Four rows side by side; where there are fewer the first stands in for the others.
fn gather(all: &[f64], first: usize, rows: usize, n: usize, out: &mut [Four]) {
    for (i, out) in out.iter_mut().enumerate() {
        *out = FastLanes(std::array::from_fn(|lane| {
            let row = if lane < rows { first + lane } else { first };
            all[row * n + i]
        }));
    }
}

/// Writes a block of numbers of four states to its place in each row.
fn scatter(from: &[Four], at: usize, width: usize, out: &mut [f64]) {
    for (lane, out) in out.chunks_exact_mut(width).enumerate() {
        for (out, value) in out[at..at + from.len()].iter_mut().zip(from) {
            *out = value.0[lane];
        }
    }
}

impl Tree {
    fn width(&self, quantity: Quantity) -> usize {
        let n = self.links.velocities();
        match quantity {
            Quantity::MassMatrix => n * n,
            Quantity::InverseDerivatives => 2 * n * n,
            Quantity::ForwardDerivatives => 3 * n * n,
            Quantity::Jacobian | Quantity::JacobianRate => 6 * n,
            Quantity::Place => 18,
            Quantity::Energy => 2,
            Quantity::Momentum => 9,
            _ => n,
        }
    }

    fn work(&self, quantity: Quantity) -> Work {
        let (tree, level) = (&self.links, Level::best());
        let zeros = |n: usize| vec![Four::from(0.0); n];
        Work {
            rnea: four::Rnea::new(tree, level),
            aba: four::Aba::new(tree, level),
            crba: four::Crba::new(tree, level),
            kinematics: kinematics::Work::new(tree),
            by_rnea: (quantity == Quantity::InverseDerivatives).then(|| four::RneaDerivatives::new(tree, level)),
            by_aba: (quantity == Quantity::ForwardDerivatives).then(|| four::AbaDerivatives::new(tree, level)),
            q: zeros(tree.coordinates()),
            v: zeros(tree.velocities()),
            given: zeros(tree.velocities()),
            own: zeros(tree.velocities()),
            out: zeros(self.width(quantity).max(tree.velocities())),
        }
    }

    /// Up to four rows with lanes.
    fn lanes(&self, work: &mut Work, quantity: Quantity, link: Option<(&Link, Vec3<f64>)>, out: &mut [f64]) {
        let (tree, n, width) = (&self.links, self.links.velocities(), self.width(quantity));
        let Work { q, v, given, own, out: result, .. } = work;
        if quantity == Quantity::Passive {
            own.fill(Four::from(0.0));
            let smoothing = self.passive.unwrap_or(Smoothing { slip: None, stop_stiffness: 0.0, stop_damping: 0.0 });
            passive::forces(tree, q, v, &smoothing, own);
            return scatter(own, 0, width, out);
        }
        match quantity {
            Quantity::MassMatrix => {
                result.fill(Four::from(0.0));
                work.crba.compute(tree, q, &mut result[..n * n]);
                scatter(&result[..n * n], 0, width, out);
                out.chunks_exact_mut(width).for_each(|out| crba::symmetrise(n, out));
            }
            Quantity::Bias => {
                own.fill(Four::from(0.0));
                work.rnea.compute(tree, q, v, own, &[], &mut result[..n]);
                scatter(&result[..n], 0, width, out);
            }
            Quantity::InverseDynamics => {
                work.rnea.compute(tree, q, v, given, &[], &mut result[..n]);
                scatter(&result[..n], 0, width, out);
            }
            Quantity::InverseDerivatives => {
                if let Some(d) = &mut work.by_rnea {
                    d.compute(tree, q, v, given, &[]);
                    scatter(d.by_q(), 0, width, out);
                    scatter(d.by_v(), n * n, width, out);
                }
            }
            Quantity::ForwardDerivatives => {
                if let Some(d) = &mut work.by_aba {
                    d.compute(tree, q, v, given, &[]);
                    for (k, part) in [d.by_q(), d.by_v(), d.by_tau()].into_iter().enumerate() {
                        scatter(part, k * n * n, width, out);
                    }
                }
            }
            Quantity::Energy => {
                kinematics::kinematics(tree, q, v, &mut work.kinematics);
                let sum = momentum::summary(tree, &work.kinematics, v);
                scatter(&[sum.kinetic, sum.potential], 0, width, out);
            }
            Quantity::Momentum => {
                kinematics::kinematics(tree, q, v, &mut work.kinematics);
                let sum = momentum::summary(tree, &work.kinematics, v);
                for (k, part) in [sum.centre, sum.momentum, sum.spin].into_iter().enumerate() {
                    scatter(&part.0, 3 * k, width, out);
                }
            }
            Quantity::Jacobian | Quantity::JacobianRate | Quantity::Place => {
                let Some((link, point)) = link else { return };
                kinematics::kinematics(tree, q, v, &mut work.kinematics);
                let motion = work.kinematics.link(link, point);
                let result = &mut result[..width];
                match quantity {
                    Quantity::Jacobian => {
                        jacobian::jacobian(tree, &work.kinematics, link.body, motion.position, result);
                    }
                    Quantity::JacobianRate => {
                        jacobian::jacobian_rate(tree, &work.kinematics, link.body, motion.position, result);
                    }
                    _ => {
                        result[..3].copy_from_slice(&motion.position.0);
                        result[3..12].copy_from_slice(motion.rotation.0.as_flattened());
                        result[12..15].copy_from_slice(&motion.velocity.0);
                        result[15..].copy_from_slice(&motion.omega.0);
                    }
                }
                scatter(result, 0, width, out);
            }
            Quantity::ForwardDynamics | Quantity::Passive => {
                work.aba.compute(tree, q, v, given, &[], &mut result[..n]);
                scatter(&result[..n], 0, width, out);
            }
        }
    }
}

#[pymethods]
impl Tree {
    /// The names of coordinates, velocities and links.
    fn names(&self) -> (Vec<String>, Vec<String>, Vec<String>) {
        let links = self.links.links().iter().map(|link| link.name.clone()).collect();
        (self.links.coordinate_names(), self.links.velocity_names(), links)
    }

    /// The coordinates at the start.
    fn initial(&self) -> Vec<f64> {
        self.initial.clone()
    }

    /// A quantity for every row of a table of states; `given` are accelerations or forces.
    #[pyo3(signature = (quantity, q, v, given, link, point, threads))]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        quantity: &str,
        q: PyReadonlyArray2<'py, f64>,
        v: PyReadonlyArray2<'py, f64>,
        given: PyReadonlyArray2<'py, f64>,
        link: Option<&str>,
        point: [f64; 3],
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        let known = Quantity::ALL.iter().find(|(_, name, _)| *name == quantity).map(|q| q.0);
        let name = quantity;
        let quantity = known.ok_or_else(|| error::value(format!("there is no quantity `{quantity}`")))?;
        let (tree, rows) = (&self.links, q.shape()[0]);
        let (nq, n) = (tree.coordinates(), tree.velocities());
        if q.shape() != [rows, nq] || v.shape() != [rows, n] || given.shape() != [rows, n] {
            return Err(error::value(
                "tables of states have not the numbers of rows and columns that the tree asks for",
            ));
        }
        let link = match (quantity.needs_link(), link) {
            (false, _) => None,
            (true, Some(name)) => {
                let found = tree.link(name).ok_or_else(|| error::value(format!("there is no link `{name}`")))?;
                Some((found, Vec3(point)))
            }
            (true, None) => return Err(error::value("this quantity is of a link; name one")),
        };
        let (q, v, given) = (q.as_slice()?, v.as_slice()?, given.as_slice()?);
        let width = self.width(quantity);
        let mut out = room(rows, width)?;
        let result = detached(py, || {
            share(
                rows,
                width,
                LANES,
                threads,
                &mut out,
                || self.work(quantity),
                |work, first, out| {
                    let count = out.len() / width;
                    gather(q, first, count, nq, &mut work.q);
                    gather(v, first, count, n, &mut work.v);
                    gather(given, first, count, n, &mut work.given);
                    self.lanes(work, quantity, link, out);
                    match out.chunks_exact(width).position(|row| row.iter().any(|x| !x.is_finite())) {
                        None => Ok(()),
                        Some(lane) => Err(Trouble::Row(lane, format!("`{name}` is not finite"))),
                    }
                },
            )
        });
        result.map_err(|failed| raised(py, failed))?;
        shaped(py, rows, &[width], out)
    }

    /// A configuration for each row of targets: links, points on them, and where those are wanted, how the links are to be turned, or both.
    fn inverse_kinematics<'py>(
        &self,
        py: Python<'py>,
        targets: Vec<Wanted<'py>>,
        rows: usize,
        start: Vec<f64>,
        tolerance: f64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let whole = targets.iter().all(|(_, _, positions, rotations)| {
            positions.as_ref().is_none_or(|p| p.shape() == [rows, 3])
                && rotations.as_ref().is_none_or(|r| r.shape() == [rows, 9])
        });
        if start.len() != self.links.coordinates() || !whole {
            return Err(error::value("targets and start have not the numbers of rows that are asked for"));
        }
        let mut given = Vec::new();
        for (link, point, positions, rotations) in &targets {
            let positions = positions.as_ref().map(|p| p.as_slice()).transpose()?;
            given.push((link, Vec3(*point), positions, rotations.as_ref().map(|r| r.as_slice()).transpose()?));
        }
        let three = |all: &[f64], at: usize| std::array::from_fn(|i| all[at + i]);
        let target = |(link, point, positions, rotations): &Given<'_>, k| Target {
            link: (*link).clone(),
            point: *point,
            position: positions.map(|all| Vec3(three(all, 3 * k))),
            rotation: rotations.map(|all| Mat3(std::array::from_fn(|i| three(all, 9 * k + 3 * i)))),
        };
        let mut out = room(rows, self.links.coordinates())?;
        // Every row begins where the one before it has ended, so that one after the other is the same as all at once.
        let found = detached(py, || {
            let (mut q, mut look) = (start, Look::new());
            for (k, out) in out.chunks_exact_mut(self.links.coordinates().max(1)).enumerate() {
                look.look().map_err(Ended::Stopped)?;
                let all = [given.iter().map(|t| target(t, k)).collect()];
                let mut found = inverse_kinematics(&self.links, &q, &all, tolerance).map_err(|e| Ended::study(e, k))?;
                q = found.swap_remove(0);
                out.copy_from_slice(&q);
            }
            Ok(())
        });
        found.map_err(|ended: Ended| ended.raised(py))?;
        shaped(py, rows, &[self.links.coordinates()], out)
    }

    /// Velocities, accelerations and forces of a motion that is given by configurations at rising times; side by side in one row for each time.
    fn motion<'py>(
        &self,
        py: Python<'py>,
        times: Vec<f64>,
        q: PyReadonlyArray2<'py, f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (nq, n) = (self.links.coordinates(), self.links.velocities());
        if q.shape() != [times.len(), nq] {
            return Err(error::value("times and configurations have not the same number of rows"));
        }
        let states: Vec<Vec<f64>> = q.as_slice()?.chunks(nq.max(1)).map(<[f64]>::to_vec).collect();
        let rows = times.len();
        let mut out = Vec::new();
        let found = detached(py, || {
            let mut look = Look::new();
            for first in (0..rows.max(1)).step_by(STRETCH) {
                look.look().map_err(Ended::Stopped)?;
                let (from, to) = (first.saturating_sub(BESIDE), rows.min(first + STRETCH + BESIDE));
                let found = inverse_dynamics(&self.links, &times[from..to], &states[from..to]);
                let found = found.map_err(|e| Ended::study(e, from))?;
                let own = found.iter().skip(first - from).take(STRETCH);
                out.extend(own.flat_map(|row| [&row.v[..], &row.a, &row.tau].concat()));
            }
            Ok(())
        });
        found.map_err(|ended: Ended| ended.raised(py))?;
        shaped(py, rows, &[3, n], out)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Py<PyTuple>)> {
        let (py, (function, arguments)) = (slf.py(), &slf.get().recipe);
        Ok((py.import("dalembert._dalembert")?.getattr(*function)?, arguments.clone_ref(py)))
    }
}
