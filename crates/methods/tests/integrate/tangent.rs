//! Tangents against central differences and against an uncompressed evaluation.

use crate::support::{Auto, Chain};
use dalembert_methods::algebra::{Mass, Rows};
use dalembert_methods::tangent::{Compression, Tangent};
use dalembert_methods::{State, System};

struct Point<'a> {
    y: &'a Auto<Chain>,
    multipliers: Vec<f64>,
    acceleration: Vec<f64>,
}

impl Point<'_> {
    /// f − Gᵀλ − M a, then the velocity-level residuals, then r.
    fn all(&self, s: &State<f64>) -> Vec<f64> {
        let shape = self.y.shape();
        let mut force = vec![0.0; shape.v];
        self.y.force(s, &mut (), &mut force);
        let mut rows = Rows::new(shape.rows(), shape.v, &self.y.row_blocks());
        self.y.jacobian(s, &mut (), &mut rows);
        rows.add_transpose(-1.0, &self.multipliers, &mut force);
        let mut mass = Mass::new(&self.y.mass_blocks());
        self.y.mass(s, &mut (), &mut mass);
        let mut product = vec![0.0; shape.v];
        mass.apply(&self.acceleration, &mut product);
        force.iter_mut().zip(&product).for_each(|(f, p)| *f -= p);
        let mut residual = vec![0.0; shape.rows()];
        self.y.constraint_rate(s, &mut (), &mut residual);
        let mut rate = vec![0.0; shape.x];
        self.y.rate(s, &mut (), &mut rate);
        [force, residual, rate].concat()
    }

    /// A column of central differences; `shift` moves the state by a signed step.
    fn difference(&self, s: &State<f64>, shift: impl Fn(&mut State<f64>, f64)) -> Vec<f64> {
        let h = 1e-5;
        let [plus, minus] = [h, -h].map(|h| {
            let mut s = s.clone();
            shift(&mut s, h);
            self.all(&s)
        });
        plus.iter().zip(&minus).map(|(p, m)| (p - m) / (2.0 * h)).collect()
    }
}

#[test]
fn tangents_agree_with_differences() {
    let y = Auto(Chain { bodies: 5 });
    let s = y.0.state();
    let shape = y.shape();
    let point = Point {
        y: &y,
        multipliers: (0..shape.rows()).map(|i| 0.4 + i as f64).collect(),
        acceleration: (0..shape.v).map(|i| (i as f64).cos()).collect(),
    };
    let mut tangent = Tangent::new(&y);
    tangent.evaluate(&y, &s, &point.multipliers, &point.acceleration);
    let (n, rows) = (shape.v, shape.rows());
    let mut k = vec![0.0; n * n];
    let mut d = vec![0.0; n * n];
    let mut c = vec![0.0; rows * n];
    tangent.stiffness().to_dense(&mut k);
    tangent.damping().to_dense(&mut d);
    tangent.rows_by_position().to_dense(&mut c);
    // Truncation h²/6·f''' with f''' below 100, rounding ε·10/h: 2e-9 and 2e-10.
    let close = |a: f64, b: f64, what: &str| assert!((a - b).abs() < 1e-8, "{what}: {a} {b}");
    for j in 0..n {
        let column = point.difference(&s, |moved, h| {
            let mut delta = vec![0.0; n];
            delta[j] = h;
            y.retract(&s.q, &delta, &mut moved.q);
        });
        for i in 0..n {
            close(k[i * n + j], column[i], "K");
        }
        for i in 0..rows {
            close(c[i * n + j], column[n + i], "C");
        }
        close(tangent.rate_by_position()[j], column[n + rows], "∂r/∂δ");
        let column = point.difference(&s, |moved, h| moved.v[j] += h);
        for i in 0..n {
            close(d[i * n + j], column[i], "D");
        }
        close(tangent.rate_by_velocity()[j], column[n + rows], "∂r/∂v");
    }
    let column = point.difference(&s, |moved, h| moved.x[0] += h);
    for i in 0..n {
        close(tangent.force_by_state()[i], column[i], "∂f/∂x");
    }
    close(tangent.rate_by_state()[0], column[n + rows], "∂r/∂x");
}

/// Compression changes which directions travel together, not a single bit of the result, and its cost does not grow.
#[test]
fn compressed_tangents_are_the_plain_ones() {
    let y = Auto(Chain { bodies: 12 });
    let s = y.0.state();
    let multipliers = vec![0.8; y.shape().rows()];
    let acceleration: Vec<f64> = (0..y.shape().v).map(|i| (i as f64).sin()).collect();
    let mut compressed = Tangent::new(&y);
    let mut plain = Tangent::with_compression(&y, Compression::none(y.shape().v));
    compressed.evaluate(&y, &s, &multipliers, &acceleration);
    plain.evaluate(&y, &s, &multipliers, &acceleration);
    for (a, b) in [
        (compressed.stiffness(), plain.stiffness()),
        (compressed.damping(), plain.damping()),
        (compressed.rows_by_position(), plain.rows_by_position()),
    ] {
        for i in 0..a.blocks().len() {
            assert_eq!(a.block(i), b.block(i));
        }
    }
    assert_eq!(compressed.compression().directions.len(), 18);
    assert_eq!(plain.compression().directions.len(), 72);
}
