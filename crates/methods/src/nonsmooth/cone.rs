//! Complementarity with friction, for accelerations and forces or for velocities and impulses alike.
//!
//! ```text
//! y = W p + c              motion from forces, by rows of contacts (normal, tangents)
//! 0 ≤ y_n ⟂ p_n − floor ≥ 0
//! p_t = p_n φ              contacts that slide in a known direction
//! p_t = p_n Σ β_k g_k      contacts that may stick: β ≥ 0, Σ β ≤ 1, the g_k are vertices of the section of the cone
//!       with 0 ≤ β_k ⟂ g_k·y_t + σ ≥ 0,  0 ≤ σ ⟂ 1 − Σ β ≥ 0     (maximum dissipation)
//! ```
//!
//! With one tangent the two vertices are the whole section. With two, the polygon is refined: where a solution slips, the
//! vertex that belongs to its direction is added, and the problem is solved again. Each round halves the angle left. After a
//! few, the directions of slip are found by Newton's method on the exact cone, with all else still decided by
//! complementarity. The complementarity problem is that of \[1\]; [`lemke`] solves it. Tangential rows of contacts that are
//! held whatever it takes are eliminated first.
//!
//! Reference: \[1\] D. E. Stewart, J. C. Trinkle: An implicit time-stepping scheme for rigid body dynamics with inelastic
//! collisions and Coulomb friction, Int. J. Numer. Meth. Engng. 39 (1996) 2673–2691; F. Pfeiffer, Ch. Glocker, 1996, chapters 6, 8.

use super::lcp::{LcpError, lemke};
use crate::algebra::Lu;

/// Vertices of the first polygon of a cone with two tangents.
const VERTICES: usize = 8;
/// Refinements of the polygons, and after how many of them Newton's method is tried.
const REFINEMENTS: usize = 24;
const ROUGH: usize = 5;
/// Iterations of Newton's method, and the angle over which it differences.
const ITERATIONS: usize = 12;
const TURN: f64 = 1e-6;
/// How closely a sliding force is that of the exact cone, relative to it.
const EXACT: f64 = 1e-11;
/// Rounding of a motion, relative to the largest.
const ROUNDING: f64 = 32.0 * f64::EPSILON;

/// What a contact may do tangentially.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Grip {
    /// Slip without force.
    Free,
    /// Slip in a known direction: the force for unit press.
    Slide([f64; 2]),
    /// Slip or stick: the vertices of the section.
    Cone(Vec<[f64; 2]>),
    /// Stick, whatever the force.
    Hold,
}

/// One contact of a problem.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// Its first row in the problem.
    pub row: usize,
    /// Its tangents.
    pub tangents: usize,
    /// What it may do tangentially.
    pub grip: Grip,
    /// The least press.
    pub floor: f64,
    /// Whether it is the press itself, which nothing changes; then the normal row does not move.
    pub given: bool,
}

/// The contacts and how they move each other.
#[derive(Clone, Debug)]
pub(super) struct Problem {
    /// W by rows.
    pub w: Vec<f64>,
    /// c.
    pub c: Vec<f64>,
    /// The contacts, in the order of their rows.
    pub items: Vec<Item>,
}

/// Forces and motions, by rows.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub force: Vec<f64>,
    pub motion: Vec<f64>,
}

/// The vertices of a first polygon, given the vertex for each direction of slip.
pub(super) fn vertices(tangents: usize, vertex: impl Fn([f64; 2]) -> [f64; 2]) -> Vec<[f64; 2]> {
    if tangents == 1 {
        return vec![vertex([1.0, 0.0]), vertex([-1.0, 0.0])];
    }
    let turn = std::f64::consts::TAU / VERTICES as f64;
    (0..VERTICES).map(|k| (turn * k as f64).sin_cos()).map(|(sine, cosine)| vertex([cosine, sine])).collect()
}

impl Problem {
    /// Solves; `vertex` gives the force for unit press of an item's exact cone against slip in a direction.
    pub fn solve(&mut self, vertex: &dyn Fn(usize, [f64; 2]) -> [f64; 2]) -> Result<Answer, LcpError> {
        let n = self.c.len();
        // The size of motions: those without forces, and those by the least presses, which in the expansion of an impact are all there is.
        let pressed = |i: usize| self.items.iter().map(|item| self.w[i * n + item.row] * item.floor).sum::<f64>();
        let scale = (0..n).fold(0.0, |max: f64, i| max.max(self.c[i].abs()).max(pressed(i).abs()));
        for round in 0..REFINEMENTS {
            let answer = self.solve_polygons()?;
            let mut sliders = Vec::new();
            for i in 0..self.items.len() {
                let Item { row, tangents: 2, grip: Grip::Cone(list), .. } = &mut self.items[i] else { continue };
                let (press, force) = (answer.force[*row], [answer.force[*row + 1], answer.force[*row + 2]]);
                let slip = [answer.motion[*row + 1], answer.motion[*row + 2]];
                let speed = slip[0].hypot(slip[1]);
                if press <= 0.0 || speed <= 1e-13 * scale {
                    continue;
                }
                let exact = vertex(i, slip.map(|u| u / speed));
                let miss = (force[0] - press * exact[0]).hypot(force[1] - press * exact[1]);
                let miss = miss / (press * exact[0].hypot(exact[1]));
                // The direction of a slow slip is known to rounding only.
                let fits = miss <= EXACT.max(ROUNDING * scale / speed) || miss.is_nan();
                if !fits {
                    list.push(exact);
                }
                // All that slip turn together, those that are exact already included.
                sliders.push((i, slip[1].atan2(slip[0]), fits));
            }
            if sliders.iter().all(|&(_, _, fits)| fits) {
                return Ok(answer);
            }
            if round >= ROUGH
                && let Some(answer) = self.turn(sliders.iter().map(|&(i, angle, _)| (i, angle)).collect(), vertex)
            {
                return Ok(answer);
            }
        }
        Err(LcpError::Rounding { pivots: REFINEMENTS * n })
    }

    /// Turns the directions of the slipping items until the slip they lead to has them; none if that fails.
    fn turn(&self, mut angles: Vec<(usize, f64)>, vertex: &dyn Fn(usize, [f64; 2]) -> [f64; 2]) -> Option<Answer> {
        let k = angles.len();
        let mut fixed = self.clone();
        // The part of each slip across the direction assumed, and along it. Slow slips turn fast with the direction of their
        // force, but this part is nearly linear in it.
        let mut miss = |angles: &[(usize, f64)]| -> Option<(Answer, Vec<f64>, bool)> {
            for &(i, angle) in angles {
                fixed.items[i].grip = Grip::Slide(vertex(i, [angle.cos(), angle.sin()]));
            }
            let answer = fixed.solve_polygons().ok()?;
            let (mut across, mut forward) = (Vec::with_capacity(k), true);
            for &(i, angle) in angles {
                let row = fixed.items[i].row;
                let (u, (sine, cosine)) = ([answer.motion[row + 1], answer.motion[row + 2]], angle.sin_cos());
                across.push(u[1] * cosine - u[0] * sine);
                forward &= u[0] * cosine + u[1] * sine > 0.0;
            }
            Some((answer, across, forward))
        };
        let mut across = miss(&angles)?.1;
        for _ in 0..ITERATIONS {
            let mut lu = Lu::new(k);
            for j in 0..k {
                let mut turned = angles.clone();
                turned[j].1 += TURN;
                let changed = miss(&turned)?.1;
                for i in 0..k {
                    lu.values_mut()[i * k + j] = (changed[i] - across[i]) / TURN;
                }
            }
            lu.factor().ok()?;
            lu.solve(&mut across);
            let change = across.iter().fold(0.0, |max: f64, x| max.max(x.abs()));
            for (angle, change) in angles.iter_mut().zip(&across) {
                angle.1 -= change.clamp(-0.2, 0.2);
            }
            let (answer, left, forward) = miss(&angles)?;
            across = left;
            if change <= EXACT {
                return forward.then_some(answer);
            }
        }
        None
    }

    /// Solves with the polygons as they are.
    fn solve_polygons(&self) -> Result<Answer, LcpError> {
        let n = self.c.len();
        let (mut w, mut c) = (self.w.clone(), self.c.clone());
        let eliminated = self.eliminate(&mut w, &mut c);
        let columns = self.columns(&w);
        let size = columns.len();
        // Motion of row i per unit of variable k, and the motion with the least presses alone.
        let mut floor = vec![0.0; n];
        for (item, force) in self.items.iter().filter(|item| item.floor > 0.0).map(|item| (item, item.floor)) {
            floor[item.row] += force;
            if let Grip::Slide(phi) = item.grip {
                (0..item.tangents).for_each(|k| floor[item.row + 1 + k] += force * phi[k]);
            }
        }
        let motion =
            |p: &[f64], i: usize| c[i] + w[i * n..(i + 1) * n].iter().zip(p).fold(0.0, |sum, (w, p)| sum + w * p);
        let (mut m, mut q) = (vec![0.0; size * size], vec![0.0; size]);
        for (a, left) in columns.iter().enumerate() {
            for &(i, factor) in &left.watch {
                q[a] += factor * motion(&floor, i);
                for (b, right) in columns.iter().enumerate() {
                    m[a * size + b] += right.push.iter().fold(0.0, |sum, &(j, p)| sum + factor * w[i * n + j] * p);
                }
            }
            for &(b, factor) in &left.link {
                m[a * size + b] += factor;
            }
            q[a] += left.spare;
        }
        let largest = q.iter().fold(0.0, |max: f64, q| max.max(q.abs()));
        if largest > 0.0 {
            q.iter_mut().for_each(|q| *q /= largest);
        }
        let solution = lemke(&m, &q)?;
        let mut force = floor;
        for (column, z) in columns.iter().zip(&solution.z) {
            for &(i, p) in &column.push {
                force[i] += p * z * largest;
            }
        }
        for (row, h) in eliminated.iter().rev() {
            let sum = row[..n].iter().zip(&force).fold(row[n], |sum, (w, p)| sum + w * p);
            // force[h] is still zero, so that its own term does not count.
            force[*h] = -sum / row[*h];
        }
        let motion = (0..n)
            .map(|i| self.c[i] + self.w[i * n..(i + 1) * n].iter().zip(&force).fold(0.0, |sum, (w, p)| sum + w * p))
            .collect();
        Ok(Answer { force, motion })
    }

    /// Eliminates the rows that are held; returns them with their motion at the time, in order.
    fn eliminate(&self, w: &mut [f64], c: &mut [f64]) -> Vec<(Vec<f64>, usize)> {
        let n = c.len();
        let mut eliminated = Vec::new();
        for item in self.items.iter().filter(|item| item.grip == Grip::Hold) {
            for h in item.row + 1..=item.row + item.tangents {
                let pivot = w[h * n + h];
                if pivot <= 1e-10 * self.w[h * n + h] {
                    // Held already by the others.
                    continue;
                }
                let mut row = w[h * n..(h + 1) * n].to_vec();
                row.push(c[h]);
                for i in 0..n {
                    let factor = w[i * n + h] / pivot;
                    if factor != 0.0 {
                        (0..n).for_each(|j| w[i * n + j] -= factor * row[j]);
                        c[i] -= factor * row[n];
                    }
                }
                eliminated.push((row, h));
            }
        }
        eliminated
    }

    /// The variables of the complementarity problem.
    fn columns(&self, w: &[f64]) -> Vec<Column> {
        let n = self.c.len();
        let mut columns = Vec::new();
        for item in &self.items {
            let rows = item.row..=item.row + item.tangents;
            // Units in which forces and motions of this contact are of like size.
            let largest = rows.map(|i| w[i * n + i]).fold(0.0, f64::max);
            let unit = if largest > 0.0 { largest.sqrt().recip() } else { 1.0 };
            let mut normal =
                Column { watch: vec![(item.row, unit)], push: vec![(item.row, unit)], ..Column::default() };
            if let Grip::Slide(phi) = item.grip {
                normal.push.extend((0..item.tangents).map(|k| (item.row + 1 + k, unit * phi[k])));
            }
            let first = columns.len();
            let normal = (!item.given).then_some(normal);
            let vertices = first + usize::from(normal.is_some());
            columns.extend(normal);
            if let Grip::Cone(list) = &item.grip {
                let sigma = vertices + list.len();
                for g in list {
                    let terms: Vec<_> = (0..item.tangents).map(|k| (item.row + 1 + k, unit * g[k])).collect();
                    columns.push(Column { watch: terms.clone(), push: terms, link: vec![(sigma, 1.0)], spare: 0.0 });
                }
                let press = (first..vertices).map(|k| (k, 1.0));
                let link = press.chain((vertices..sigma).map(|k| (k, -1.0))).collect();
                columns.push(Column { link, spare: item.floor / unit, ..Column::default() });
            }
        }
        columns
    }
}

/// A variable of the complementarity problem.
#[derive(Clone, Debug, Default)]
struct Column {
    /// Its complement is the sum of these motions,
    watch: Vec<(usize, f64)>,
    /// and of these other variables,
    link: Vec<(usize, f64)>,
    /// and of this.
    spare: f64,
    /// The forces that one unit of it makes.
    push: Vec<(usize, f64)>,
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn item(grip: Grip, tangents: usize) -> Item {
        Item { row: 0, tangents, grip, floor: 0.0, given: false }
    }

    /// A particle of unit mass pressed with 1 and pulled with f along one tangent, μ = 0.5.
    #[test]
    fn one_tangent_sticks_or_slides() {
        let vertex = |_: usize, d: [f64; 2]| [-0.5 * d[0], 0.0];
        for (pull, force, slip) in [(0.3, -0.3, 0.0), (0.7, -0.5, 0.2), (-0.9, 0.5, -0.4)] {
            let cone = Grip::Cone(vertices(1, |d| vertex(0, d)));
            let mut problem = Problem { w: vec![1.0, 0.0, 0.0, 1.0], c: vec![-1.0, pull], items: vec![item(cone, 1)] };
            let answer = problem.solve(&vertex).unwrap();
            assert!((answer.force[0] - 1.0).abs() < 1e-15);
            assert!((answer.force[1] - force).abs() < 1e-15 && (answer.motion[1] - slip).abs() < 1e-15, "{answer:?}");
        }
    }

    /// Two tangents: the exact force is −μ along the pull, whatever the polygon.
    #[test]
    fn two_tangents_meet_the_exact_cone() {
        let vertex = |_: usize, d: [f64; 2]| [-0.5 * d[0], -0.5 * d[1]];
        let w = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        for (size, angle) in [(0.8f64, 0.3f64), (3.0, 2.1), (0.51, -1.2), (0.495, 0.4)] {
            let pull = [size * angle.cos(), size * angle.sin()];
            let cone = Grip::Cone(vertices(2, |d| vertex(0, d)));
            let mut problem = Problem { w: w.clone(), c: vec![-1.0, pull[0], pull[1]], items: vec![item(cone, 2)] };
            let answer = problem.solve(&vertex).unwrap();
            for k in 0..2 {
                let expected = -pull[k] * (0.5f64 / size).min(1.0);
                assert!((answer.force[k + 1] - expected).abs() < 1e-10, "{answer:?} {expected}");
            }
        }
    }

    /// A slip that hardly starts, in every direction: its force is that of the cone.
    #[test]
    fn a_slip_that_hardly_starts_is_found() {
        let vertex = |_: usize, d: [f64; 2]| [-0.5 * (1.0 - 1e-6) * d[0], -0.5 * (1.0 - 1e-6) * d[1]];
        let w = vec![0.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5];
        for k in 0..48 {
            let (sine, cosine) = (f64::from(k) * std::f64::consts::TAU / 48.0).sin_cos();
            let pull = [0.5 * 1.7 * cosine, 0.5 * 1.7 * sine];
            let cone = Grip::Cone(vertices(2, |d| vertex(0, d)));
            let mut problem = Problem { w: w.clone(), c: vec![-1.7, pull[0], pull[1]], items: vec![item(cone, 2)] };
            let answer = problem.solve(&vertex).unwrap();
            assert!((answer.force[0] - 3.4).abs() < 1e-12, "{answer:?}");
            let held = answer.force[1].hypot(answer.force[2]);
            assert!((held - 1.7 * (1.0 - 1e-6)).abs() < 1e-10, "{held}");
            assert!(answer.motion[1] * cosine + answer.motion[2] * sine > 0.0);
        }
    }

    /// The expansion of an impact that has stopped the slip: nothing moves but what the least press moves, and the contact holds against it in both tangents.
    #[test]
    fn a_least_press_alone_is_held() {
        let vertex = |_: usize, d: [f64; 2]| [-2.0 * d[0], -2.0 * d[1]];
        let w = vec![1.0, 0.2, -0.1, 0.2, 0.7, 0.05, -0.1, 0.05, 0.5];
        let cone = Grip::Cone(vertices(2, |d| vertex(0, d)));
        let items = vec![Item { floor: 0.6, ..item(cone, 2) }];
        let mut problem = Problem { w, c: vec![1e-17, -3e-18, 2e-17], items };
        let answer = problem.solve(&vertex).unwrap();
        assert!((answer.force[0] - 0.6).abs() < 1e-15, "{answer:?}");
        assert!(answer.motion[1].abs() < 1e-15 && answer.motion[2].abs() < 1e-15, "{answer:?}");
        assert!(answer.motion[0] > 0.0);
    }

    /// A brake with a press of 2 and a coefficient of 0.5 on a unit mass: it holds pulls up to 1.
    #[test]
    fn a_given_press_holds_what_it_can() {
        let vertex = |_: usize, d: [f64; 2]| [-0.5 * d[0], 0.0];
        for (pull, force, slip) in [(0.7, -0.7, 0.0), (1.2, -1.0, 0.2), (-3.0, 1.0, -2.0)] {
            let cone = Grip::Cone(vertices(1, |d| vertex(0, d)));
            let brake = Item { row: 0, tangents: 1, grip: cone, floor: 2.0, given: true };
            let mut problem = Problem { w: vec![0.0, 0.0, 0.0, 1.0], c: vec![0.0, pull], items: vec![brake] };
            let answer = problem.solve(&vertex).unwrap();
            assert!((answer.force[0] - 2.0).abs() < 1e-15);
            assert!((answer.force[1] - force).abs() < 1e-15 && (answer.motion[1] - slip).abs() < 1e-15, "{answer:?}");
        }
    }

    /// A held tangent takes what it needs, also through its coupling with the normal.
    #[test]
    fn held_rows_are_eliminated() {
        let w = vec![2.0, 0.5, 0.5, 1.0];
        let mut problem = Problem { w, c: vec![-1.0, 3.0], items: vec![item(Grip::Hold, 1)] };
        let answer = problem.solve(&|_, _| [0.0; 2]).unwrap();
        // 2 N + 0.5 r = 1, 0.5 N + r = −3: N = 10/7, r = −26/7.
        assert!((answer.force[0] - 10.0 / 7.0).abs() < 1e-14 && (answer.force[1] + 26.0 / 7.0).abs() < 1e-14);
        assert!(answer.motion.iter().all(|y| y.abs() < 1e-14));
    }
}
