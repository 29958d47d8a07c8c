//! A tree of links of a model, or of a robot file: recursive algorithms on tables of states, four states at a time.

use crate::batch::{Trouble, raised, shaped, share};
use crate::error;
use crate::model::Model;
use dalembert::bodies::{Tree as TreeBody, TreeSettings};
use dalembert::methods::vector::Vec3;
use dalembert_robots::evaluate::{Quantity, TreeState, evaluate};
use dalembert_robots::{Base, read};
use dalembert_trees::entry::{Level, four};
use dalembert_trees::passive::{self, Smoothing};
use dalembert_trees::{FastLanes, Tree as Links, crba};
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Four states side by side.
type Four = FastLanes<4, false>;
/// How many that are.
const LANES: usize = 4;

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
    let robot = py.detach(|| read(text, base)).map_err(|e| error::plain(py, "RobotError", e))?;
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
    fn lanes(&self, work: &mut Work, quantity: Quantity, out: &mut [f64]) {
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
            _ => {
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
            (true, Some(name)) => Some((name, Vec3(point))),
            (true, None) => return Err(error::value("this quantity is of a link; name one")),
        };
        let (q, v, given) = (q.as_slice()?, v.as_slice()?, given.as_slice()?);
        let width = self.width(quantity);
        let mut out = vec![0.0; rows * width];
        let alone = quantity.needs_link() || matches!(quantity, Quantity::Energy | Quantity::Momentum);
        let result = py.detach(|| {
            let row = |all: &[f64], row: usize, n: usize| all[row * n..(row + 1) * n].to_vec();
            if alone {
                return share(
                    rows,
                    width,
                    1,
                    threads,
                    &mut out,
                    || (),
                    |(), k, out| {
                        let tau = row(given, k, n);
                        let state = TreeState { q: row(q, k, nq), v: row(v, k, n), a: tau.clone(), tau };
                        let table =
                            evaluate(tree, quantity, link, &[state]).map_err(|e| Trouble::Equations(e.to_string()))?;
                        out.copy_from_slice(table.rows.first().map_or(&[], |row| row.as_slice()));
                        Ok(())
                    },
                );
            }
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
                    self.lanes(work, quantity, out);
                    Ok(())
                },
            )
        });
        result.map_err(|failed| raised(py, failed))?;
        shaped(py, rows, &[width], out)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, Py<PyTuple>)> {
        let (py, (function, arguments)) = (slf.py(), &slf.get().recipe);
        Ok((py.import("dalembert._dalembert")?.getattr(*function)?, arguments.clone_ref(py)))
    }
}
