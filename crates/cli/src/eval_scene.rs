//! `dalembert eval` for a whole scene: numbers of all its bodies together, with joints and constraints.
//!
//! Columns are `q.BODY.1`, `q.BODY.2`, … in the order of the coordinates of a body, and `v.BODY.NAME`, `a.BODY.NAME`, `tau.BODY.NAME`
//! with the names of its velocities. Contacts and dry friction take no part: they need a history.

use crate::exit::Exit;
use dalembert::model::Model;
use dalembert_methods::algebra::Rows;
use dalembert_methods::dynamics::{Dynamics, Rates};
use dalembert_methods::{State, System};
use dalembert_robots::evaluate::{Quantity, Table, TreeState, read_table};

/// The names of all coordinates and velocities.
pub fn names(model: &Model) -> (Vec<String>, Vec<String>) {
    let (mut q, mut v) = (Vec::new(), Vec::new());
    for body in model.bodies() {
        q.extend((1..=body.item.coordinates()).map(|k| format!("{}.{k}", body.name)));
        v.extend((0..body.item.velocities()).map(|k| format!("{}.{}", body.name, body.item.velocity_name(k))));
    }
    (q, v)
}

/// Computes a quantity of a scene for a table of states; without one, for the initial state.
pub fn evaluate(model: &Model, quantity: Quantity, states: Option<&str>) -> Result<Table, Exit> {
    let (coordinates, velocities) = names(model);
    let start = model.initial_state();
    let n = velocities.len();
    let initial = TreeState { q: start.q.clone(), v: start.v.clone(), a: vec![0.0; n], tau: vec![0.0; n] };
    let states = match states {
        Some(text) => read_table(&coordinates, &velocities, &initial, text).map_err(|e| Exit::Usage(e.to_string()))?,
        None => vec![initial],
    };
    let columns = columns(model, &velocities, quantity)?;
    let mut dynamics = Dynamics::new(model);
    let rows = states.iter().map(|s| row(model, &mut dynamics, quantity, s)).collect::<Result<_, _>>()?;
    Ok(Table { columns, rows })
}

fn columns(model: &Model, names: &[String], quantity: Quantity) -> Result<Vec<String>, Exit> {
    let each = |prefix: &str| names.iter().map(|n| format!("{prefix}.{n}")).collect::<Vec<_>>();
    let rows: Vec<String> = (0..model.shape().rows()).map(|k| format!("{}.{k}", model.row_name(k))).collect();
    let words = |list: &[&str]| list.iter().map(|w| (*w).to_string()).collect();
    Ok(match quantity {
        Quantity::MassMatrix => names.iter().flat_map(|r| names.iter().map(move |c| format!("mass.{r}.{c}"))).collect(),
        Quantity::InverseDynamics | Quantity::Bias => each("tau"),
        Quantity::ForwardDynamics => [each("a"), rows.iter().map(|r| format!("lambda.{r}")).collect()].concat(),
        Quantity::Jacobian => {
            rows.iter().flat_map(|r| names.iter().map(move |c| format!("jacobian.{r}.{c}"))).collect()
        }
        Quantity::Energy => words(&["kinetic", "potential"]),
        Quantity::Momentum => words(&["px", "py", "pz", "lx", "ly", "lz"]),
        _ => {
            let known = "mass-matrix, inverse-dynamics, forward-dynamics, bias, jacobian (of the constraints), energy, momentum";
            let message = "this quantity is known for trees only (choose one by --body); for a whole scene there are";
            return Err(Exit::Usage(format!("{message} {known}")));
        }
    })
}

fn row(model: &Model, dynamics: &mut Dynamics<Model>, quantity: Quantity, at: &TreeState) -> Result<Vec<f64>, Exit> {
    let (shape, n) = (model.shape(), at.v.len());
    let start = model.initial_state();
    let s = State { q: at.q.clone(), v: at.v.clone(), ..start };
    let mut rates = Rates::zeros(shape);
    dynamics.evaluate(model, &s, &mut rates).map_err(|error| Exit::Usage(error.to_string()))?;
    let parts = dynamics.parts();
    let mut force = vec![0.0; n];
    model.force(&s, parts.work, &mut force);
    let mut product = vec![0.0; n];
    Ok(match quantity {
        Quantity::MassMatrix => {
            let mut unit = vec![0.0; n];
            let mut out = Vec::with_capacity(n * n);
            for k in 0..n {
                unit[k] = 1.0;
                parts.mass.apply(&unit, &mut product);
                out.extend(&product);
                unit[k] = 0.0;
            }
            out
        }
        Quantity::InverseDynamics => {
            parts.mass.apply(&at.a, &mut product);
            product.iter().zip(&force).map(|(m, f)| m - f).collect()
        }
        Quantity::Bias => force.iter().map(|f| -f).collect(),
        Quantity::ForwardDynamics => {
            force.iter_mut().zip(&at.tau).for_each(|(f, tau)| *f += tau);
            let mut multipliers = vec![0.0; shape.rows()];
            if shape.rows() == 0 {
                parts.mass.solve(&mut force);
            } else {
                model.constraint_bias(&s, parts.work, &mut multipliers);
                multipliers.iter_mut().for_each(|c| *c = -*c);
                let solved = parts.saddle.solve_trial(parts.mass, parts.rows, &mut force, &mut multipliers);
                solved.map_err(|error| Exit::Usage(error.to_string()))?;
            }
            [force, multipliers].concat()
        }
        Quantity::Jacobian => dense(parts.rows, shape.rows(), n),
        Quantity::Energy => {
            let ledger = model.ledger(&s, parts.work);
            vec![ledger.kinetic, ledger.potential]
        }
        _ => {
            let momentum = model.momentum(parts.work);
            [momentum.linear.0, momentum.angular.0].concat()
        }
    })
}

/// All entries of constraint rows.
pub fn dense(rows: &Rows<f64>, count: usize, n: usize) -> Vec<f64> {
    let mut out = vec![0.0; count * n];
    let (mut unit, mut column) = (vec![0.0; n], vec![0.0; count]);
    for k in 0..n {
        unit[k] = 1.0;
        column.fill(0.0);
        rows.add_apply(&unit, &mut column);
        unit[k] = 0.0;
        for (i, value) in column.iter().enumerate() {
            out[i * n + k] = *value;
        }
    }
    out
}
