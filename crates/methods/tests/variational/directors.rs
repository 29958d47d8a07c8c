//! A rigid body in directors: nine coordinates and six constraints, the same motion as on the rotation group.

use crate::none;
use crate::systems::{distance, reference, run, try_run};
use dalembert_methods::algebra::{Block, Mass, MassBlock, Rows};
use dalembert_methods::lie::Quat;
use dalembert_methods::problems::{Problem, Top};
use dalembert_methods::vector::Vec3;
use dalembert_methods::{Scalar, Shape, State, System};

/// The heavy top in the vectors d₁, d₂, d₃ of its axes, which stay of length one and upright on each other.
struct Directors(Top);

/// The pairs of directors whose products are held.
const PAIRS: [[usize; 2]; 6] = [[0, 0], [1, 1], [2, 2], [0, 1], [1, 2], [2, 0]];

impl Directors {
    /// The moments of Euler's tensor: T = ½ Σ E_i |ḋ_i|² with E_1 = (I_2 + I_3 − I_1)/2 and so on.
    fn moments(&self) -> [f64; 3] {
        let [a, b, c] = self.0.inertia;
        [0.5 * (b + c - a), 0.5 * (c + a - b), 0.5 * (a + b - c)]
    }

    /// A state of the top in directors: d_i = R e_i, ḋ_i = R (ω × e_i).
    fn state(&self, s: &State<f64>) -> State<f64> {
        let (turn, omega) = (Quat::from_slice(&s.q), Vec3::from_slice(&s.v));
        let axes = (0..3).map(|i| Vec3::<f64>(std::array::from_fn(|k| f64::from(u8::from(i == k)))));
        let (q, v): (Vec<_>, Vec<_>) = axes.map(|e| (turn.rotate(e).0, turn.rotate(omega.cross(e)).0)).unzip();
        State { t: s.t, q: q.concat(), v: v.concat(), ..State::default() }
    }

    /// The vertical angular momentum.
    fn momentum(&self, s: &State<f64>) -> f64 {
        let part = |i: usize| s.q[3 * i] * s.v[3 * i + 1] - s.q[3 * i + 1] * s.v[3 * i];
        self.moments().iter().enumerate().map(|(i, moment)| moment * part(i)).sum()
    }
}

/// The product of two directors, or of their rates.
fn product<S: Scalar>(values: &[S], [i, j]: [usize; 2]) -> S {
    (0..3).fold(S::zero(), |sum, k| sum + values[3 * i + k] * values[3 * j + k])
}

impl System for Directors {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        Shape { q: 9, v: 9, g: 6, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(9)]
    }
    fn row_blocks(&self) -> Vec<Block> {
        vec![Block { row: 0, rows: 6, col: 0, cols: 9 }]
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn scleronomic(&self) -> bool {
        true
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, (): &mut ()) {}
    fn mass<S: Scalar>(&self, _s: &State<S>, (): &mut (), out: &mut Mass<S>) {
        (0..9).for_each(|k| out.block_mut(0)[k] = S::from(self.moments()[k / 3]));
    }
    fn force<S: Scalar>(&self, _s: &State<S>, (): &mut (), out: &mut [S]) {
        out.fill(S::zero());
        out[8] = S::from(-self.0.weight);
    }
    fn constraint<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        for (out, pair) in out.iter_mut().zip(PAIRS) {
            *out = if pair[0] == pair[1] { (product(&s.q, pair) - 1.0) * 0.5 } else { product(&s.q, pair) };
        }
    }
    fn constraint_bias<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        for (out, pair) in out.iter_mut().zip(PAIRS) {
            *out = product(&s.v, pair) * if pair[0] == pair[1] { 1.0 } else { 2.0 };
        }
    }
    fn jacobian<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut Rows<S>) {
        out.clear();
        let rows = out.block_mut(0);
        for (row, [i, j]) in PAIRS.into_iter().enumerate() {
            for k in 0..3 {
                rows[9 * row + 3 * i + k] = s.q[3 * j + k];
                rows[9 * row + 3 * j + k] = s.q[3 * i + k];
            }
        }
    }
    fn magnitude(&self, _q: &[f64], out: &mut [f64]) {
        out.fill(1.0);
    }
}

/// Orders against the motion on the rotation group by another method; with multipliers and without.
#[test]
fn rigid_bodies_in_directors_move_as_with_quaternions() {
    let (top, body) = (Top::default(), Directors(Top::default()));
    let (start, end) = (body.state(&top.initial()), body.state(&reference(&top, &top.initial(), 1.0)));
    for (name, settings, order) in [
        ("variational", none(), 2),
        ("variational", none().with("alpha", 0.0), 2),
        ("variational", none().with("null_space", 1.0), 2),
        ("variational", none().with("composition", 4.0), 4),
        ("galerkin_lobatto", none().with("degree", 2.0), 4),
    ] {
        crate::order(&format!("directors, {name} {settings:?}"), order, |n| {
            try_run(&body, &start, name, &settings, 1.0, n).map_or(f64::INFINITY, |s| distance(&s, &end))
        });
    }
}

/// The vertical momentum over many steps: that of rounding, of nine coordinates, each with the forces of four of the six constraints, in two products and a sum.
#[test]
fn directors_keep_their_momentum() {
    let body = Directors(Top::default());
    let start = body.state(&Top::default().initial());
    let s = run(&body, &start, "variational", &none(), 40.0, 2000);
    let found = (body.momentum(&s) - body.momentum(&start)).abs();
    assert!(found < crate::rounding(2000, 9.0 * (crate::operations(1.0, 1.0) + 12.0), 3.0), "{found:e}");
}
