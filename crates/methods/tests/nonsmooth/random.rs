//! Complementarity on random problems and random scenes: solvable, never penetrating, never pulling, never outside the cone.
#![allow(clippy::unwrap_used)]

use crate::contacts::follow_with;
use dalembert_methods::integrate::Ending;
use dalembert_methods::nonsmooth::lcp::{LcpError, lemke};
use dalembert_methods::nonsmooth::{Kind, Options};
use dalembert_methods::problems::touching::{Puck, Touching, Toy};
use dalembert_methods::{Real, State};
use proptest::prelude::*;

/// All complementary solutions by trying every set of positive variables, with Gauss elimination.
fn enumerate(m: &[f64], q: &[f64]) -> Vec<Vec<f64>> {
    let n = q.len();
    let mut found = Vec::new();
    for mask in 0u32..1 << n {
        let set: Vec<usize> = (0..n).filter(|i| mask >> i & 1 == 1).collect();
        let k = set.len();
        let mut a: Vec<Vec<f64>> =
            set.iter().map(|&i| set.iter().map(|&j| m[i * n + j]).chain([-q[i]]).collect()).collect();
        let mut regular = true;
        for c in 0..k {
            let pivot = (c..k).max_by(|&i, &j| a[i][c].abs().total_cmp(&a[j][c].abs())).unwrap();
            a.swap(c, pivot);
            if a[c][c].abs() < 1e-12 {
                regular = false;
                break;
            }
            for i in (0..k).filter(|&i| i != c) {
                let factor = a[i][c] / a[c][c];
                let row = a[c].clone();
                a[i].iter_mut().zip(&row).for_each(|(x, r)| *x -= factor * r);
            }
        }
        if !regular {
            continue;
        }
        let mut z = vec![0.0; n];
        set.iter().enumerate().for_each(|(c, &i)| z[i] = a[c][k] / a[c][c]);
        let w = |i: usize| q[i] + (0..n).fold(0.0, |sum, j| sum + m[i * n + j] * z[j]);
        if z.iter().all(|&z| z >= -1e-10) && (0..n).all(|i| w(i) >= -1e-10) {
            found.push(z);
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// Positive definite matrices, symmetric or not, are P-matrices: one solution, the one found by trying all.
    #[test]
    fn problems_with_p_matrices_are_solved(
        a in prop::collection::vec(-1.0..1.0f64, 25),
        skew in prop::collection::vec(-2.0..2.0f64, 25),
        q in prop::collection::vec(-1.0..1.0f64, 5),
    ) {
        let n = 5;
        let m: Vec<f64> = (0..25)
            .map(|k| {
                let (i, j) = (k / n, k % n);
                let square: f64 = (0..n).map(|l| a[l * n + i] * a[l * n + j]).sum();
                square + f64::from(u8::from(i == j)) * 0.1 + 0.5 * (skew[k] - skew[j * n + i])
            })
            .collect();
        let solution = lemke(&m, &q).unwrap();
        let all = enumerate(&m, &q);
        prop_assert!(!all.is_empty());
        // The smallest eigenvalue is at least 0.1, entries are below 10: a condition of 1e2 to 1e3.
        prop_assert!(all.iter().all(|z| z.iter().zip(&solution.z).all(|(a, b)| (a - b).abs() < 1e-9)));
    }

    /// Semidefinite problems of frictionless contact: more supports than freedoms, all from below, solvable for every q = J v.
    /// (Contacts that face each other to within rounding have impulses without bound.)
    #[test]
    fn redundant_supports_are_solved(j in prop::collection::vec(-1.0..1.0f64, 18), v in prop::collection::vec(-1.0..1.0f64, 3)) {
        let n = 6;
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0, |sum, (a, b)| sum + a * b);
        let j: Vec<f64> = j.iter().enumerate().map(|(k, &x)| if k % 3 == 2 { 0.6 + 0.4 * x } else { x }).collect();
        let row = |i: usize| &j[3 * i..3 * i + 3];
        let m: Vec<f64> = (0..n * n).map(|k| product(row(k / n), row(k % n))).collect();
        let q: Vec<f64> = (0..n).map(|i| product(row(i), &v)).collect();
        let solution = lemke(&m, &q).unwrap();
        for i in 0..n {
            prop_assert!(solution.w[i] > -1e-9 && (solution.w[i] * solution.z[i]).abs() < 1e-8 * (1.0 + solution.z[i]));
        }
    }

    /// Any matrix: a solution or an error, and never a wrong answer.
    #[test]
    fn any_problem_ends(m in prop::collection::vec(-1.0..1.0f64, 16), q in prop::collection::vec(-1.0..1.0f64, 4)) {
        match lemke(&m, &q) {
            Ok(solution) => {
                let size = 1.0 + solution.z.iter().fold(0.0, |max: f64, z| max.max(*z));
                for i in 0..4 {
                    prop_assert!(solution.w[i] >= -1e-8 * size && solution.z[i] >= 0.0);
                    prop_assert!((solution.w[i] * solution.z[i]).abs() < 1e-8 * size * size);
                }
            }
            Err(LcpError::Ray { variable }) => prop_assert!(variable < 4),
            Err(LcpError::Rounding { pivots }) => prop_assert!(false, "gave up after {} pivots", pivots),
        }
    }
}

/// Particles above each other on the floor.
struct Stack {
    restitution: f64,
}

impl Toy<4, 0, 4> for Stack {
    const TANGENTS: usize = 0;
    fn mass(&self) -> [f64; 4] {
        [1.0, 2.0, 0.5, 1.5]
    }
    fn force<R: Real>(&self, _t: R, _q: [R; 4], _v: [R; 4]) -> [R; 4] {
        <Self as Toy<4, 0, 4>>::mass(self).map(|m| R::from(-9.81 * m))
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 4]) -> [R; 4] {
        [q[0], q[1] - q[0], q[2] - q[1], q[3] - q[2]]
    }
    fn restitution(&self, _contact: usize) -> f64 {
        self.restitution
    }
}

/// Three particles in a trough with walls at ±0.6 rad.
struct Trough {
    friction: f64,
    restitution: f64,
}

const SLOPE: (f64, f64) = (0.564_642_473_395_035_4, 0.825_335_614_909_678_3);

impl Toy<6, 0, 6> for Trough {
    const TANGENTS: usize = 1;
    fn mass(&self) -> [f64; 6] {
        [1.0, 1.0, 2.0, 2.0, 0.3, 0.3]
    }
    fn force<R: Real>(&self, _t: R, _q: [R; 6], _v: [R; 6]) -> [R; 6] {
        let mass = <Self as Toy<6, 0, 6>>::mass(self);
        std::array::from_fn(|i| if i % 2 == 1 { R::from(-9.81 * mass[i]) } else { R::zero() })
    }
    fn gap<R: Real>(&self, _t: R, q: [R; 6]) -> [R; 6] {
        std::array::from_fn(|i| {
            let side = if i % 2 == 0 { SLOPE.0 } else { -SLOPE.0 };
            q[i / 2 * 2] * side + q[i / 2 * 2 + 1] * SLOPE.1
        })
    }
    fn slip<R: Real>(&self, _t: R, _q: [R; 6], v: [R; 6]) -> [[R; 2]; 6] {
        std::array::from_fn(|i| {
            let side = if i % 2 == 0 { -SLOPE.0 } else { SLOPE.0 };
            [v[i / 2 * 2] * SLOPE.1 + v[i / 2 * 2 + 1] * side, R::zero()]
        })
    }
    fn restitution(&self, _contact: usize) -> f64 {
        self.restitution
    }
    fn sticking(&self) -> [f64; 3] {
        [self.friction; 3]
    }
}

fn energy(mass: &[f64], s: &State<f64>, height: impl Fn(usize) -> f64) -> f64 {
    (0..mass.len()).map(|i| 0.5 * mass[i] * s.v[i].powi(2) + 9.81 * mass[i] * height(i)).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Outputs are checked by the observer; the account of energy closes over all impacts.
    #[test]
    fn stacks_come_to_rest_without_penetration(
        gaps in prop::array::uniform4(0.01..0.5f64),
        v in prop::array::uniform4(-1.0..1.0f64),
        restitution in 0.0..0.6f64,
    ) {
        let model = Touching(Stack { restitution });
        let q: Vec<f64> = (0..4).map(|i| gaps[..=i].iter().sum()).collect();
        let (s, keep, run) = follow_with(&model, &q, &v, 3.0, &Options::default(), "dop853", 1e-10);
        prop_assert_eq!(run.ending, Ok(Ending::Reached));
        prop_assert!(keep.events.iter().any(|event| event.kind == Kind::Impact));
        let mass = [1.0, 2.0, 0.5, 1.5];
        let start = State { q: q.clone(), v: v.to_vec(), ..State::default() };
        let change = energy(&mass, &start, |i| q[i]) - energy(&mass, &s, |i| s.q[i]);
        // Some hundred steps of 1e-10 at energies of some ten joules.
        prop_assert!((change - s.z[2]).abs() < 1e-7, "{} {:?}", change, s.z);
    }

    /// The same in the plane with friction.
    #[test]
    fn particles_in_a_trough_obey_their_laws(
        x in prop::array::uniform3(-0.5..0.5f64),
        rise in prop::array::uniform3(0.01..0.4f64),
        v in prop::array::uniform6(-1.0..1.0f64),
        friction in 0.05..0.9f64,
        restitution in 0.0..0.5f64,
        impact_friction in any::<bool>(),
    ) {
        let model = Touching(Trough { friction, restitution });
        let q: Vec<f64> = (0..3).flat_map(|i| [x[i], x[i].abs() * SLOPE.0 / SLOPE.1 + rise[i]]).collect();
        let options = Options { impact_friction, ..Options::default() };
        let (s, _, run) = follow_with(&model, &q, &v, 1.5, &options, "dop853", 1e-10);
        prop_assert_eq!(run.ending, Ok(Ending::Reached));
        let mass = [1.0, 1.0, 2.0, 2.0, 0.3, 0.3];
        let start = State { q: q.clone(), v: v.to_vec(), ..State::default() };
        let height = |q: &[f64], i: usize| if i % 2 == 1 { q[i] } else { 0.0 };
        let change = energy(&mass, &start, |i| height(&q, i)) - energy(&mass, &s, |i| height(&s.q, i));
        prop_assert!((change - s.z[1] - s.z[2]).abs() < 1e-7, "{} {:?}", change, s.z);
    }

    /// A puck with elliptic friction, pulled sideways: it sticks where the pull is inside the cone, and heat is the energy lost.
    /// By an implicit method, since slow slips in the plane are stiff.
    #[test]
    fn a_puck_with_anisotropic_friction(
        v in prop::array::uniform2(-1.0..1.0f64),
        pull in prop::array::uniform2(-3.0..3.0f64),
        friction in prop::array::uniform3(0.1..0.6f64),
    ) {
        let model = Touching(Puck { gravity: 10.0, pull, friction });
        let (s, keep, run) = follow_with(&model, &[0.0; 3], &[v[0], v[1], 0.0], 1.0, &Options::default(), "radau", 1e-9);
        prop_assert_eq!(run.ending, Ok(Ending::Reached));
        let work = pull[0] * s.q[0] + pull[1] * s.q[1];
        let change = 0.5 * (v[0].powi(2) + v[1].powi(2) - s.v[0].powi(2) - s.v[1].powi(2));
        // A hundred steps of 1e-9 each.
        prop_assert!((change + work - s.z[1]).abs() < 1e-7, "{} {:?} {:?}", change + work, s.z, keep.events);
    }
}
