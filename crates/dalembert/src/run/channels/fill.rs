//! The values of channels in a state.

use super::sources::Source;
use crate::bodies::Bodies;
use crate::constraints::{Constraints, MOST_ROWS, Scratch};
use crate::contacts::{CONTACT_ROWS, Surfaces};
use crate::equations::{Ledger, Momentum, Work};
use crate::forces::Forces;
use crate::model::{Instant, Model, Place, Site, Wrench};
use dalembert_methods::nonsmooth::{Contacts, Hybrid, Mode};
use dalembert_methods::vector::{Mat3, Vec3};
use dalembert_methods::{Scalar, State, System};

/// Values of all sources but those of contacts; `turn` makes a quaternion of a rotation.
pub(super) fn fill<S: Scalar>(
    model: &Model,
    s: &State<S>,
    source: Source,
    w: &mut Work<S>,
    scratch: &mut Scratch<S>,
    multipliers: &[S],
    turn: fn(Mat3<S>) -> [S; 4],
    out: &mut [S],
) {
    let gather = |w: &Work<S>, markers: &[usize]| -> Vec<Place<S>> { markers.iter().map(|&m| w.places[m]).collect() };
    match source {
        Source::Time => out[0] = s.t,
        Source::Body(i, part) => {
            let cache = &w.cache[model.layout.cache[i].clone()];
            let place =
                S::view::<Bodies, _>(&*model.bodies[i].item).place(&Site { part, ..Site::point([0.0; 3]) }, cache);
            place.r.write(out);
            place.v.write(&mut out[3..]);
            if out.len() > 6 {
                out[6..10].copy_from_slice(&turn(place.rotation));
                place.omega.write(&mut out[10..]);
            }
        }
        Source::Gradient(i) => {
            // ∇p by rows: what a step along each axis of the reference shape becomes.
            let cache = &w.cache[model.layout.cache[i].clone()];
            let body = S::view::<Bodies, _>(&*model.bodies[i].item);
            let origin = body.place(&Site::point([0.0; 3]), cache).r;
            for k in 0..3 {
                let mut step = [0.0; 3];
                step[k] = 1.0;
                let column = body.place(&Site::point(step), cache).r - origin;
                (0..3).for_each(|row| out[3 * row + k] = column[row]);
            }
        }
        Source::Marker(i) => {
            let place = model.place(i, w);
            place.r.write(out);
            place.v.write(&mut out[3..]);
        }
        Source::Coordinates(i) => {
            let c = &model.constraints[i];
            let now = Instant { t: s.t, x: &[], p: &s.p, signals: &[] };
            S::view::<Constraints, _>(&*c.item).coordinate(&now, &gather(w, &c.markers), out);
        }
        Source::Reaction(i) => {
            let c = &model.constraints[i];
            let now = Instant { t: s.t, x: &[], p: &s.p, signals: &[] };
            let rows = model.layout.rows[i].clone();
            let mut gradients = [Wrench::default(); MOST_ROWS];
            let (at, last) = (gather(w, &c.markers), c.markers.len() - 1);
            S::view::<Constraints, _>(&*c.item).gradient(&now, &at, last, scratch, &mut gradients[..rows.len()]);
            let mut sum = Wrench { force: Vec3::zero(), torque: Vec3::zero() };
            for (gradient, &multiplier) in gradients.iter().zip(&multipliers[rows]) {
                sum.force -= gradient.force * multiplier;
                sum.torque -= gradient.torque * multiplier;
            }
            write_wrench(&sum, out);
        }
        Source::Applied(i) => {
            let f = &model.forces[i];
            let now = Instant { t: s.t, x: &s.x[model.layout.x[i].clone()], p: &s.p, signals: &w.signals };
            let mut wrenches = [Wrench::default(); 2];
            S::view::<Forces, _>(&*f.item).apply(&now, &gather(w, &f.markers), &mut wrenches[..f.markers.len()]);
            write_wrench(&wrenches[f.markers.len() - 1], out);
        }
        Source::Multipliers(i) => out.copy_from_slice(&multipliers[model.layout.rows[i].clone()]),
        Source::Outputs(i) => {
            let f = &model.forces[i];
            let now = Instant { t: s.t, x: &s.x[model.layout.x[i].clone()], p: &s.p, signals: &w.signals };
            S::view::<Forces, _>(&*f.item).output(&now, &gather(w, &f.markers), out);
        }
        Source::Frequency(_) | Source::Contact(_) | Source::Brake(_) | Source::Stop(_) => {}
        Source::Energy => {
            let ledger = model.ledger(s, w);
            let Ledger { kinetic, potential, dissipated, supplied } = ledger;
            out.copy_from_slice(&[kinetic, potential, dissipated, supplied, ledger.total()]);
        }
        Source::Momentum => {
            let Momentum { linear, angular } = model.momentum(w);
            linear.write(out);
            angular.write(&mut out[3..]);
        }
        Source::Residuals => {
            let shape = model.shape();
            let largest = |values: &[S]| values.iter().fold(S::zero(), |max, g| max.max(g.abs()));
            let mut residual = vec![S::zero(); shape.rows()];
            model.constraint(s, w, &mut residual[..shape.g]);
            out[0] = largest(&residual[..shape.g]);
            model.constraint_rate(s, w, &mut residual);
            out[1] = largest(&residual);
        }
    }
}

/// The quaternion of a rotation, for any number: of the four forms the one without cancellation is chosen (Shepperd).
pub(super) fn quaternion<S: Scalar>(m: Mat3<S>) -> [S; 4] {
    let m = m.0;
    let one = S::one();
    let squares = [
        one + m[0][0] + m[1][1] + m[2][2],
        one + m[0][0] - m[1][1] - m[2][2],
        one - m[0][0] + m[1][1] - m[2][2],
        one - m[0][0] - m[1][1] + m[2][2],
    ];
    let [a, b, c] = [m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]];
    let [d, e, f] = [m[1][0] + m[0][1], m[0][2] + m[2][0], m[2][1] + m[1][2]];
    let forms = [[squares[0], a, b, c], [a, squares[1], d, e], [b, d, squares[2], f], [c, e, f, squares[3]]];
    let (mut best, mut square) = (forms[0], squares[0]);
    for k in 1..4 {
        let better = square.lt(squares[k]);
        best = std::array::from_fn(|i| S::select(better, forms[k][i], best[i]));
        square = S::select(better, squares[k], square);
    }
    // The largest of the squares is at least one: Σ = 4.
    let length = square.sqrt() * 2.0;
    best.map(|q| q / length)
}

/// Gap, mode (0 open, 1 sliding, 2 sticking), press, suction of suckers, friction and slip by tangents, force on the point in
/// the world frame.
pub(super) fn fill_contact(
    y: &Hybrid<'_, Model>,
    contact: usize,
    s: &State<f64>,
    w: &mut Work<f64>,
    forces: &[f64],
    out: &mut [f64],
) {
    let model = y.model();
    let pair = &model.layout.pairs[contact];
    let item = f64::view::<Surfaces, _>(&*model.contacts[pair.element].item);
    let now = Instant { t: s.t, x: &[], p: &s.p, signals: &[] };
    let at = pair.markers.map(|m| w.places[m]);
    let tangents = pair.rows.len() - 1;
    let mut rates = [0.0; CONTACT_ROWS];
    item.rate(&now, &at, &mut rates[..=tangents]);
    let own = &forces[pair.rows.clone()];
    out[0] = item.gap(&now, &at);
    out[1] = mode(y.modes()[contact]);
    out[2] = own[0];
    let (mut pull, mut rest) = (0.0, &mut out[3..]);
    if let Some(suction) = model.suction(contact, s.t) {
        // Open suckers do not pull.
        pull = if y.modes()[contact].closed() { suction } else { 0.0 };
        rest[0] = pull;
        rest = &mut rest[1..];
    }
    rest[..tangents].copy_from_slice(&own[1..]);
    rest[tangents..2 * tangents].copy_from_slice(&rates[1..=tangents]);
    let [normal, tangential @ ..] = item.directions(&now, &at);
    let friction = tangential.iter().zip(&own[1..]);
    let force = friction.fold(normal * (own[0] - pull), |sum, (&direction, &size)| sum + direction * size);
    force.write(&mut rest[2 * tangents..]);
}

/// Friction on the second frame or on the velocity, and mode.
pub(super) fn fill_brake(y: &Hybrid<'_, Model>, brake: usize, forces: &[f64], out: &mut [f64]) {
    let layout = &y.model().layout;
    out[0] = forces[layout.brakes[brake].rows.start + 1];
    out[1] = mode(y.modes()[layout.pairs.len() + brake]);
}

/// Gap, mode and press of a stop.
pub(super) fn fill_stop(y: &Hybrid<'_, Model>, stop: usize, s: &State<f64>, forces: &[f64], out: &mut [f64]) {
    let (model, layout) = (y.model(), &y.model().layout);
    let gap = &layout.stops[stop];
    let q = &s.q[layout.q[gap.body].clone()];
    out[0] = f64::view::<Bodies, _>(&*model.bodies[gap.body].item).stop(gap.number, q).0;
    out[1] = mode(y.modes()[layout.pairs.len() + layout.brakes.len() + stop]);
    out[2] = forces[gap.row];
}

/// Modes as numbers: 0 open, 1 sliding, 2 sticking.
fn mode(mode: Mode) -> f64 {
    match mode {
        Mode::Open => 0.0,
        Mode::Slide { .. } => 1.0,
        Mode::Stick => 2.0,
    }
}

fn write_wrench<S: Scalar>(wrench: &Wrench<S>, out: &mut [S]) {
    wrench.force.write(out);
    if out.len() > 3 {
        wrench.torque.write(&mut out[3..]);
    }
}
