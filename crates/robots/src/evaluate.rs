//! Numbers of a tree for a table of states: what the command `dalembert eval` prints.
//!
//! A table of states is CSV text with a header. Columns are named `q.NAME` for coordinates and `v.NAME`, `a.NAME`, `tau.NAME` for
//! velocities, accelerations and forces, with the names of [`Tree::coordinate_names`] and [`Tree::velocity_names`]. Columns that
//! are missing have the value of the initial configuration, or zero.

use dalembert_methods::vector::Vec3;
use dalembert_trees::entry::{Level, one};
use dalembert_trees::{Link, Tree, crba, jacobian, kinematics, momentum, passive};
use std::fmt;

/// What can be computed for a state.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// M(q), by rows.
    MassMatrix,
    /// τ for given accelerations, without forces of the joints themselves.
    InverseDynamics,
    /// Accelerations for given forces, without forces of the joints themselves.
    ForwardDynamics,
    /// τ at zero accelerations: centrifugal, gyroscopic and weight.
    Bias,
    /// Forces of the joints themselves: damping, friction, springs, stops.
    Passive,
    /// ∂τ/∂q and ∂τ/∂v, by rows.
    InverseDerivatives,
    /// ∂a/∂q, ∂a/∂v and ∂a/∂τ, by rows.
    ForwardDerivatives,
    /// Jacobian of a point of a link, by rows.
    Jacobian,
    /// The rate of that Jacobian, by rows.
    JacobianRate,
    /// Position, rotation by rows, velocity and angular velocity of a link.
    Place,
    /// Kinetic and potential energy.
    Energy,
    /// Centre of mass, momentum, and angular momentum about the centre.
    Momentum,
}

impl Quantity {
    /// All quantities with their names and meanings.
    pub const ALL: [(Quantity, &'static str, &'static str); 12] = [
        (Self::MassMatrix, "mass-matrix", "the mass matrix"),
        (Self::InverseDynamics, "inverse-dynamics", "forces for given accelerations"),
        (Self::ForwardDynamics, "forward-dynamics", "accelerations for given forces"),
        (Self::Bias, "bias", "forces at zero accelerations"),
        (Self::Passive, "passive", "damping, friction, springs and stops"),
        (Self::InverseDerivatives, "inverse-derivatives", "derivatives of inverse dynamics"),
        (Self::ForwardDerivatives, "forward-derivatives", "derivatives of forward dynamics"),
        (Self::Jacobian, "jacobian", "Jacobian of a point of a link"),
        (Self::JacobianRate, "jacobian-rate", "rate of the Jacobian"),
        (Self::Place, "place", "place and velocity of a link"),
        (Self::Energy, "energy", "kinetic and potential energy"),
        (Self::Momentum, "momentum", "centre of mass and momenta"),
    ];

    /// Whether it is of a link.
    pub fn needs_link(self) -> bool {
        matches!(self, Self::Jacobian | Self::JacobianRate | Self::Place)
    }
}

/// What is wrong with a table of states or a request.
#[derive(Clone, Debug, PartialEq)]
pub struct EvaluateError {
    /// The line of the table, counted from 1; none if the request is meant.
    pub line: Option<usize>,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for EvaluateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for EvaluateError {}

fn wrong(line: impl Into<Option<usize>>, message: impl Into<String>) -> EvaluateError {
    EvaluateError { line: line.into(), message: message.into() }
}

/// One state: coordinates, velocities, accelerations and forces.
#[derive(Clone, Debug, PartialEq)]
pub struct TreeState {
    /// Coordinates.
    pub q: Vec<f64>,
    /// Velocities.
    pub v: Vec<f64>,
    /// Accelerations.
    pub a: Vec<f64>,
    /// Generalised forces.
    pub tau: Vec<f64>,
}

/// The states of a table.
pub fn read_states(tree: &Tree, initial: &[f64], text: &str) -> Result<Vec<TreeState>, EvaluateError> {
    let zero = vec![0.0; tree.velocities()];
    let start = TreeState { q: initial.to_vec(), v: zero.clone(), a: zero.clone(), tau: zero };
    let states = read_table(&tree.coordinate_names(), &tree.velocity_names(), &start, text)?;
    for (number, state) in states.iter().enumerate() {
        if let Some((joint, length)) = tree.quaternion_defect(&state.q, 1e-6) {
            let message = format!("the quaternion of joint `{joint}` has length {length}, not 1");
            return Err(wrong(number + 2, message));
        }
    }
    Ok(states)
}

/// The states of a table with columns q.NAME of these coordinates and v.NAME, a.NAME, tau.NAME of these velocities; what is missing is as at
/// the start.
pub fn read_table(
    coordinates: &[String],
    velocities: &[String],
    start: &TreeState,
    text: &str,
) -> Result<Vec<TreeState>, EvaluateError> {
    let mut lines = text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty());
    let (_, header) = lines.next().ok_or_else(|| wrong(None, "the table of states is empty"))?;
    let mut columns = Vec::new();
    for title in header.split(',').map(str::trim) {
        let (part, name) = title.split_once('.').unwrap_or((title, ""));
        let (which, names) = match part {
            "q" => (0, coordinates),
            "v" => (1, velocities),
            "a" => (2, velocities),
            "tau" => (3, velocities),
            _ => {
                return Err(wrong(1, format!("column `{title}`: expected q.NAME, v.NAME, a.NAME or tau.NAME")));
            }
        };
        let index = names.iter().position(|n| n == name).ok_or_else(|| {
            wrong(1, format!("column `{title}`: there is no `{name}`; names are {}", names.join(", ")))
        })?;
        if columns.contains(&(which, index)) {
            return Err(wrong(1, format!("column `{title}` is given twice")));
        }
        columns.push((which, index));
    }
    let mut out = Vec::new();
    for (number, line) in lines {
        let mut state = start.clone();
        let cells: Vec<&str> = line.split(',').map(str::trim).collect();
        if cells.len() != columns.len() {
            let message = format!("{} numbers for {} columns", cells.len(), columns.len());
            return Err(wrong(number + 1, message));
        }
        for (cell, &(which, index)) in cells.iter().zip(&columns) {
            let x = cell.parse::<f64>().ok().filter(|x| x.is_finite());
            let x = x.ok_or_else(|| wrong(number + 1, format!("`{cell}` is not a finite number")))?;
            [&mut state.q, &mut state.v, &mut state.a, &mut state.tau][which][index] = x;
        }
        out.push(state);
    }
    Ok(out)
}

/// Column names and one row for each state.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<f64>>,
}

impl Table {
    /// The table as CSV text; numbers have all their digits.
    pub fn to_csv(&self) -> String {
        let mut out = self.columns.join(",");
        out.push('\n');
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(|x| format!("{x:?}")).collect();
            out.push_str(&cells.join(","));
            out.push('\n');
        }
        out
    }
}

/// Computes a quantity for every state; `link` and `point` (in its frame, in m) for those of a link.
pub fn evaluate(
    tree: &Tree,
    quantity: Quantity,
    link: Option<(&str, Vec3<f64>)>,
    states: &[TreeState],
) -> Result<Table, EvaluateError> {
    let found = match link {
        Some((name, point)) => match tree.link(name) {
            Some(l) => Some((l, point)),
            None => {
                let names: Vec<&str> = tree.links().iter().map(|l| l.name.as_str()).collect();
                return Err(wrong(None, format!("there is no link `{name}`; links are {}", names.join(", "))));
            }
        },
        None if quantity.needs_link() => return Err(wrong(None, "say which link, by --link NAME")),
        None => None,
    };
    let names = tree.velocity_names();
    let columns = columns(&names, quantity);
    let mut compute = Evaluator::new(tree);
    let rows = states.iter().map(|s| compute.row(tree, quantity, found, s)).collect();
    Ok(Table { columns, rows })
}

fn columns(names: &[String], quantity: Quantity) -> Vec<String> {
    let each = |prefix: &str| names.iter().map(|n| format!("{prefix}.{n}")).collect::<Vec<_>>();
    let matrix = |prefix: &str| {
        names.iter().flat_map(|r| names.iter().map(move |c| format!("{prefix}.{r}.{c}"))).collect::<Vec<_>>()
    };
    let six = |prefix: &str| {
        ["vx", "vy", "vz", "wx", "wy", "wz"]
            .iter()
            .flat_map(|r| names.iter().map(move |c| format!("{prefix}.{r}.{c}")))
            .collect()
    };
    let words = |list: &[&str]| list.iter().map(|w| (*w).to_string()).collect();
    match quantity {
        Quantity::MassMatrix => matrix("mass"),
        Quantity::InverseDynamics | Quantity::Bias | Quantity::Passive => each("tau"),
        Quantity::ForwardDynamics => each("a"),
        Quantity::InverseDerivatives => [matrix("dtau_dq"), matrix("dtau_dv")].concat(),
        Quantity::ForwardDerivatives => [matrix("da_dq"), matrix("da_dv"), matrix("da_dtau")].concat(),
        Quantity::Jacobian => six("jacobian"),
        Quantity::JacobianRate => six("rate"),
        Quantity::Place => words(&[
            "x", "y", "z", "rxx", "rxy", "rxz", "ryx", "ryy", "ryz", "rzx", "rzy", "rzz", "vx", "vy", "vz", "wx", "wy",
            "wz",
        ]),
        Quantity::Energy => words(&["kinetic", "potential"]),
        Quantity::Momentum => words(&["cx", "cy", "cz", "px", "py", "pz", "lx", "ly", "lz"]),
    }
}

struct Evaluator {
    level: Level,
    kinematics: kinematics::Work<f64>,
    rnea: one::Rnea,
    aba: one::Aba,
    crba: one::Crba,
}

impl Evaluator {
    fn new(tree: &Tree) -> Self {
        let level = Level::best();
        Self {
            level,
            kinematics: kinematics::Work::new(tree),
            rnea: one::Rnea::new(tree, level),
            aba: one::Aba::new(tree, level),
            crba: one::Crba::new(tree, level),
        }
    }

    fn row(&mut self, tree: &Tree, quantity: Quantity, link: Option<(&Link, Vec3<f64>)>, s: &TreeState) -> Vec<f64> {
        let n = tree.velocities();
        let mut out = vec![0.0; n];
        kinematics::kinematics(tree, &s.q, &s.v, &mut self.kinematics);
        match quantity {
            Quantity::MassMatrix => {
                out.resize(n * n, 0.0);
                self.crba.compute(tree, &s.q, &mut out);
                crba::symmetrise(n, &mut out);
            }
            Quantity::InverseDynamics => self.rnea.compute(tree, &s.q, &s.v, &s.a, &[], &mut out),
            Quantity::Bias => {
                let still = vec![0.0; n];
                self.rnea.compute(tree, &s.q, &s.v, &still, &[], &mut out);
            }
            Quantity::ForwardDynamics => self.aba.compute(tree, &s.q, &s.v, &s.tau, &[], &mut out),
            Quantity::Passive => passive::forces(tree, &s.q, &s.v, &passive::Smoothing::default(), &mut out),
            Quantity::InverseDerivatives => {
                let mut d = one::RneaDerivatives::new(tree, self.level);
                d.compute(tree, &s.q, &s.v, &s.a, &[]);
                out = [d.by_q(), d.by_v()].concat();
            }
            Quantity::ForwardDerivatives => {
                let mut d = one::AbaDerivatives::new(tree, self.level);
                d.compute(tree, &s.q, &s.v, &s.tau, &[]);
                out = [d.by_q(), d.by_v(), d.by_tau()].concat();
            }
            Quantity::Energy => {
                let sum = momentum::summary(tree, &self.kinematics, &s.v);
                out = vec![sum.kinetic, sum.potential];
            }
            Quantity::Momentum => {
                let sum = momentum::summary(tree, &self.kinematics, &s.v);
                out = [sum.centre.0, sum.momentum.0, sum.spin.0].concat();
            }
            Quantity::Jacobian | Quantity::JacobianRate | Quantity::Place => {
                let Some((link, point)) = link else { return Vec::new() };
                let motion = self.kinematics.link(link, point);
                out.resize(6 * n, 0.0);
                match quantity {
                    Quantity::Jacobian => {
                        jacobian::jacobian(tree, &self.kinematics, link.body, motion.position, &mut out);
                    }
                    Quantity::JacobianRate => {
                        jacobian::jacobian_rate(tree, &self.kinematics, link.body, motion.position, &mut out);
                    }
                    _ => {
                        let rotation = motion.rotation.0.as_flattened();
                        out = [&motion.position.0[..], rotation, &motion.velocity.0, &motion.omega.0].concat();
                    }
                }
            }
        }
        out
    }
}
