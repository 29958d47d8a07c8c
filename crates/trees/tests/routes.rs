//! Independent routes to the same numbers, on random trees with every kind of joint.
//!
//! All quantities are of order 1 to 100 and trees have up to 40 links; rounding grows with their number and with the condition of
//! the mass matrix of each, so that 1e-12 of the largest entry leaves a factor of a few; where
//! a tolerance is a multiple of it, accelerations are solved for and the condition enters.
#![allow(clippy::unwrap_used)]

use dalembert_methods::algebra::{Mass, MassBlock};
use dalembert_methods::scalar::Dual;
use dalembert_methods::vector::Vec3;
use dalembert_trees::samples::{chain, random, state};
use dalembert_trees::{
    Tree, Wrench, aba, crba, derivatives, flat, jacobian, kinematics, ltl, momentum, recursion, rnea,
};

const TOLERANCE: f64 = 1e-12;

fn trees() -> Vec<Tree> {
    let mut trees: Vec<Tree> = (1..25).map(|seed| random(seed, 3 + seed as usize * 3 / 2)).collect();
    trees.extend([chain(1), chain(2), chain(17)]);
    trees
}

#[track_caller]
fn close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len());
    let scale = a.iter().fold(1.0f64, |m, x| m.max(x.abs()));
    for (i, (x, y)) in a.iter().zip(b).enumerate() {
        assert!((x - y).abs() <= tolerance * scale, "entry {i}: {x} against {y}, scale {scale}");
    }
}

fn inverse_dynamics(tree: &Tree, q: &[f64], v: &[f64], a: &[f64], external: &[Wrench<f64>]) -> Vec<f64> {
    let mut tau = vec![0.0; tree.velocities()];
    rnea::rnea(tree, q, v, a, external, &mut rnea::Work::new(tree), &mut tau);
    tau
}

fn forward_dynamics(tree: &Tree, q: &[f64], v: &[f64], tau: &[f64], external: &[Wrench<f64>]) -> Vec<f64> {
    let mut a = vec![0.0; tree.velocities()];
    aba::aba(tree, q, v, tau, external, &mut aba::Work::new(tree), &mut a);
    a
}

fn mass(tree: &Tree, q: &[f64]) -> Vec<f64> {
    let n = tree.velocities();
    let mut m = vec![0.0; n * n];
    crba::common(tree, q, &mut crba::Work::new(tree), &mut m);
    crba::symmetrise(n, &mut m);
    m
}

fn wrenches(tree: &Tree, seed: u64) -> Vec<Wrench<f64>> {
    let mut numbers = dalembert_trees::samples::Numbers::new(seed);
    (0..tree.bodies()).map(|_| Wrench { force: numbers.vector(), torque: numbers.vector() }).collect()
}

#[test]
fn forward_dynamics_undoes_inverse_dynamics() {
    for (i, tree) in trees().iter().enumerate() {
        let (q, v, a, _) = state(tree, i as u64);
        for external in [vec![], wrenches(tree, 5)] {
            let tau = inverse_dynamics(tree, &q, &v, &a, &external);
            let back = forward_dynamics(tree, &q, &v, &tau, &external);
            // An error of ε in τ is an error of ε M⁻¹ in a: short chains of light links have entries of 10⁵ there.
            let n = tree.velocities();
            let mut factor = mass(tree, &q);
            ltl::factor(tree, &mut factor);
            let mut inverse: Vec<f64> = (0..n * n).map(|k| if k % (n + 1) == 0 { 1.0 } else { 0.0 }).collect();
            ltl::solve_columns(tree, &factor, n, &mut inverse);
            let rows = inverse.chunks(n).map(|row| row.iter().map(|x| x.abs()).sum::<f64>());
            let force = tau.iter().fold(1.0f64, |m, x| m.max(x.abs()));
            close(&a, &back, 8.0 * f64::EPSILON * force * rows.fold(1.0, f64::max));
            // The other way round there is no such loss.
            close(&tau, &inverse_dynamics(tree, &q, &v, &back, &external), TOLERANCE);
        }
    }
}

#[test]
fn columns_of_the_mass_matrix_are_inverse_dynamics_of_unit_accelerations() {
    for (i, tree) in trees().iter().enumerate() {
        let n = tree.velocities();
        let (q, v, _, _) = state(tree, i as u64);
        let still = vec![0.0; n];
        let bias = inverse_dynamics(tree, &q, &v, &still, &[]);
        let mut columns = vec![0.0; n * n];
        for k in 0..n {
            let mut unit = still.clone();
            unit[k] = 1.0;
            let tau = inverse_dynamics(tree, &q, &v, &unit, &[]);
            for j in 0..n {
                columns[j * n + k] = tau[j] - bias[j];
            }
        }
        let m = mass(tree, &q);
        close(&m, &columns, TOLERANCE * 10.0);
        let mut local = vec![0.0; n * n];
        crba::local(tree, &q, &mut crba::Work::new(tree), &mut local);
        crba::symmetrise(n, &mut local);
        close(&m, &local, TOLERANCE);
        for r in 0..n {
            for c in 0..n {
                assert!(tree.couples(r, c) || m[r * n + c] == 0.0);
            }
        }
    }
}

#[test]
fn the_recursion_as_written_meets_mass_matrix_and_sparse_factor() {
    for (i, tree) in trees().iter().enumerate() {
        let n = tree.velocities();
        let (q, v, _, tau) = state(tree, i as u64);
        let mut work = recursion::Work::new(tree);
        let mut a = vec![0.0; n];
        recursion::recursion(tree, &q, &v, &tau, &mut work, &mut a);
        let bias = inverse_dynamics(tree, &q, &v, &vec![0.0; n], &[]);
        let mut x: Vec<f64> = tau.iter().zip(&bias).map(|(t, b)| t - b).collect();
        let mut m = mass(tree, &q);
        ltl::factor(tree, &mut m);
        ltl::solve(tree, &m, &mut x);
        close(&a, &x, TOLERANCE * 100.0);
        close(&a, &forward_dynamics(tree, &q, &v, &tau, &[]), TOLERANCE * 100.0);
        // M̂ is D L of the same elimination for joints of one freedom: its diagonal is D.
        let triangular = work.triangular(tree);
        for k in 0..n {
            assert!((k + 1..n).all(|j| triangular[k * n + j] == 0.0));
        }
    }
}

#[test]
fn the_triangular_matrix_of_a_chain_is_d_times_l() {
    let tree = chain(9);
    let n = 9;
    let (q, v, _, tau) = state(&tree, 3);
    let mut work = recursion::Work::new(&tree);
    recursion::recursion(&tree, &q, &v, &tau, &mut work, &mut vec![0.0; n]);
    let triangular = work.triangular(&tree);
    let mut m = mass(&tree, &q);
    ltl::factor(&tree, &mut m);
    let mut product = vec![0.0; n * n];
    for i in 0..n {
        let d = 1.0 / m[i * n + i];
        for j in 0..i {
            product[i * n + j] = d * m[i * n + j];
        }
        product[i * n + i] = d;
    }
    close(&product, &triangular, TOLERANCE);
}

/// The tangent of q ⊕ (ε direction k), as duals.
fn moved(tree: &Tree, q: &[f64], k: usize) -> Vec<Dual> {
    let q: Vec<Dual> = q.iter().map(|&x| Dual::from(x)).collect();
    let mut delta = vec![Dual::from(0.0); tree.velocities()];
    delta[k] = Dual::new(0.0, 1.0);
    let mut out = q.clone();
    tree.retract(&q, &delta, &mut out);
    out
}

fn duals(x: &[f64]) -> Vec<Dual> {
    x.iter().map(|&x| Dual::from(x)).collect()
}

#[test]
fn derivatives_of_inverse_dynamics_meet_dual_numbers() {
    for (i, tree) in trees().iter().enumerate() {
        let n = tree.velocities();
        let (q, v, a, _) = state(tree, i as u64);
        let external = wrenches(tree, 9);
        let wide: Vec<Wrench<Dual>> = external
            .iter()
            .map(|w| Wrench { force: w.force.map(Dual::from), torque: w.torque.map(Dual::from) })
            .collect();
        let mut out = derivatives::RneaDerivatives::new(tree);
        let mut work = derivatives::Work::new(tree);
        derivatives::rnea_derivatives(tree, &q, &v, &a, &external, &mut work, &mut out);
        close(&out.tau, &inverse_dynamics(tree, &q, &v, &a, &external), TOLERANCE);
        let mut m = out.mass.clone();
        crba::symmetrise(n, &mut m);
        close(&m, &mass(tree, &q), TOLERANCE);
        let (mut by_q, mut by_v) = (vec![0.0; n * n], vec![0.0; n * n]);
        let mut rnea_work = rnea::Work::new(tree);
        let mut tau = duals(&v);
        for k in 0..n {
            rnea::rnea(tree, &moved(tree, &q, k), &duals(&v), &duals(&a), &wide, &mut rnea_work, &mut tau);
            for j in 0..n {
                by_q[j * n + k] = tau[j].eps[0];
            }
            let mut speed = duals(&v);
            speed[k].eps[0] = 1.0;
            rnea::rnea(tree, &duals(&q), &speed, &duals(&a), &wide, &mut rnea_work, &mut tau);
            for j in 0..n {
                by_v[j * n + k] = tau[j].eps[0];
            }
        }
        close(&out.by_q, &by_q, TOLERANCE * 10.0);
        close(&out.by_v, &by_v, TOLERANCE * 10.0);
    }
}

#[test]
fn derivatives_of_forward_dynamics_meet_dual_numbers_and_differences() {
    for (i, tree) in trees().iter().enumerate() {
        let n = tree.velocities();
        let (q, v, _, tau) = state(tree, i as u64);
        let mut out = derivatives::AbaDerivatives::new(tree);
        derivatives::aba_derivatives(tree, &q, &v, &tau, &[], &mut derivatives::ForwardWork::new(tree), &mut out);
        let mut work = aba::Work::new(tree);
        let mut a = duals(&v);
        let (mut by_q, mut by_v, mut by_tau) = (vec![0.0; n * n], vec![0.0; n * n], vec![0.0; n * n]);
        for k in 0..n {
            let mut put = |target: &mut Vec<f64>, q: &[Dual], v: &[Dual], tau: &[Dual]| {
                aba::aba(tree, q, v, tau, &[], &mut work, &mut a);
                for j in 0..n {
                    target[j * n + k] = a[j].eps[0];
                }
            };
            put(&mut by_q, &moved(tree, &q, k), &duals(&v), &duals(&tau));
            let mut speed = duals(&v);
            speed[k].eps[0] = 1.0;
            put(&mut by_v, &duals(&q), &speed, &duals(&tau));
            let mut force = duals(&tau);
            force[k].eps[0] = 1.0;
            put(&mut by_tau, &duals(&q), &duals(&v), &force);
        }
        close(&out.by_q, &by_q, TOLERANCE * 100.0);
        close(&out.by_v, &by_v, TOLERANCE * 100.0);
        close(&out.by_tau, &by_tau, TOLERANCE * 100.0);
        // Central differences: h² times third derivatives, and ε/h.
        let h = 1e-5;
        let k = i % n;
        let step = |sign: f64| {
            let mut delta = vec![0.0; n];
            delta[k] = sign * h;
            let mut at = q.clone();
            tree.retract(&q, &delta, &mut at);
            forward_dynamics(tree, &at, &v, &tau, &[])
        };
        let (up, down) = (step(1.0), step(-1.0));
        let column: Vec<f64> = (0..n).map(|j| (up[j] - down[j]) / (2.0 * h)).collect();
        let exact: Vec<f64> = (0..n).map(|j| out.by_q[j * n + k]).collect();
        close(&exact, &column, 1e-6);
    }
}

#[test]
fn velocities_are_derivatives_of_places_and_accelerations_of_velocities() {
    for (i, tree) in trees().iter().enumerate() {
        let n = tree.velocities();
        let (q, v, a, _) = state(tree, i as u64);
        let mut plain = kinematics::Work::new(tree);
        kinematics::kinematics(tree, &q, &v, &mut plain);
        kinematics::accelerations(tree, &v, &a, &mut plain);
        // Along the motion: q ⊕ v ε, v + a ε.
        let delta: Vec<Dual> = v.iter().map(|&x| Dual::new(0.0, x)).collect();
        let mut at = duals(&q);
        tree.retract(&duals(&q), &delta, &mut at);
        let speed: Vec<Dual> = v.iter().zip(&a).map(|(&x, &y)| Dual::new(x, y)).collect();
        let mut dual = kinematics::Work::new(tree);
        kinematics::kinematics(tree, &at, &speed, &mut dual);
        for link in tree.links() {
            let point = Vec3([0.3, -0.2, 0.5]);
            let (p, d) = (plain.link(link, point), dual.link(link, point));
            close(&p.velocity.0, &d.position.map(|x| x.eps[0]).0, TOLERANCE);
            close(&p.acceleration.0, &d.velocity.map(|x| x.eps[0]).0, TOLERANCE * 10.0);
            close(&p.alpha.0, &d.omega.map(|x| x.eps[0]).0, TOLERANCE);
            // Jacobian and rate: x' = J v, x'' = J a + J' v.
            let (mut j, mut rate) = (vec![0.0; 6 * n], vec![0.0; 6 * n]);
            jacobian::jacobian(tree, &plain, link.body, p.position, &mut j);
            jacobian::jacobian_rate(tree, &plain, link.body, p.position, &mut rate);
            let times = |m: &[f64], x: &[f64]| -> Vec<f64> {
                m.chunks(n).map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
            };
            let motion: Vec<f64> = p.velocity.0.into_iter().chain(p.omega.0).collect();
            close(&motion, &times(&j, &v), TOLERANCE);
            let second: Vec<f64> = p.acceleration.0.into_iter().chain(p.alpha.0).collect();
            let sum: Vec<f64> = times(&j, &a).iter().zip(times(&rate, &v)).map(|(x, y)| x + y).collect();
            close(&second, &sum, TOLERANCE * 10.0);
            // The transpose gives the same power.
            let (force, torque) = (Vec3([1.0, 2.0, -0.5]), Vec3([-0.7, 0.4, 1.3]));
            let mut tau = vec![0.0; n];
            jacobian::pull_back(tree, &plain, link.body, p.position, force, torque, &mut tau);
            let power: f64 = tau.iter().zip(&v).map(|(t, v)| t * v).sum();
            let expected = force.dot(p.velocity) + torque.dot(p.omega);
            close(&[expected], &[power], TOLERANCE);
        }
    }
}

#[test]
fn momentum_and_energy_agree_with_mass_matrix_and_centroidal_matrix() {
    for (i, tree) in trees().iter().enumerate() {
        let n = tree.velocities();
        let (q, v, _, _) = state(tree, i as u64);
        let mut work = kinematics::Work::new(tree);
        kinematics::kinematics(tree, &q, &v, &mut work);
        let s = momentum::summary(tree, &work, &v);
        let m = mass(tree, &q);
        let kinetic: f64 = (0..n).map(|r| (0..n).map(|c| 0.5 * v[r] * m[r * n + c] * v[c]).sum::<f64>()).sum();
        close(&[kinetic], &[s.kinetic], TOLERANCE);
        let mut matrix = vec![0.0; 6 * n];
        momentum::centroidal_matrix(tree, &work, &mut matrix);
        let product: Vec<f64> = matrix.chunks(n).map(|row| row.iter().zip(&v).map(|(a, b)| a * b).sum()).collect();
        let expected: Vec<f64> = s.momentum.0.into_iter().chain(s.spin.0).collect();
        close(&expected, &product, TOLERANCE);
        // The weight is minus the slope of the potential energy.
        let still = vec![0.0; n];
        let weight = inverse_dynamics(tree, &q, &still, &still, &[]);
        for k in 0..n {
            let mut dual = kinematics::Work::new(tree);
            kinematics::kinematics(tree, &moved(tree, &q, k), &duals(&still), &mut dual);
            let slope = momentum::summary(tree, &dual, &duals(&still)).potential.eps[0];
            assert!((slope - weight[k]).abs() < 1e-11, "{slope} {}", weight[k]);
        }
    }
}

#[test]
fn the_flat_array_gives_the_same_equations() {
    for (i, tree) in trees().iter().enumerate() {
        let n = tree.velocities();
        let (q, v, _, _) = state(tree, i as u64);
        let mut cache = vec![0.0; flat::length(tree)];
        flat::fill(tree, &q, &v, &mut cache);
        let mut carried = Mass::new(&[MassBlock::Carried(tree.velocity_parents().into())]);
        flat::carried(tree, &cache, carried.block_mut(0));
        carried.factor_checked().unwrap();
        let (full, mut m, mut columns) = (mass(tree, &q), vec![0.0; n * n], vec![0.0; n * n]);
        carried.entries(|row, col, value| m[row * n + col] = value);
        close(&full, &m, TOLERANCE);
        let mut sparse = full.clone();
        ltl::factor(tree, &mut sparse);
        for k in 0..n {
            let mut unit = vec![0.0; n];
            unit[k] = 1.0;
            carried.apply(&unit, &mut columns[k * n..(k + 1) * n]);
            let (mut x, mut y) = (columns[k * n..(k + 1) * n].to_vec(), unit.clone());
            // M⁻¹ M = 1 and the same solution as by the sparse factor, but for the condition of M.
            carried.solve(&mut x);
            close(&unit, &x, TOLERANCE * 1e3);
            carried.solve(&mut y);
            ltl::solve(tree, &sparse, &mut unit);
            close(&unit, &y, TOLERANCE * 100.0);
        }
        close(&full, &columns, TOLERANCE);
        let mut force = vec![0.0; n];
        flat::gyroscopic(tree, &cache, &mut force);
        flat::weight(tree, &cache, tree.gravity(), &mut force);
        let bias: Vec<f64> = inverse_dynamics(tree, &q, &v, &vec![0.0; n], &[]).iter().map(|x| -x).collect();
        close(&bias, &force, TOLERANCE);
        let mut work = kinematics::Work::new(tree);
        kinematics::kinematics(tree, &q, &v, &mut work);
        kinematics::accelerations(tree, &v, &vec![0.0; n], &mut work);
        let sum = momentum::summary(tree, &work, &v);
        let (linear, angular, kinetic) = flat::momentum(tree, &cache);
        close(&sum.momentum.0, &linear.0, TOLERANCE);
        close(&sum.angular_momentum.0, &angular.0, TOLERANCE);
        close(&sum.centre.0, &flat::centre(tree, &cache).0, TOLERANCE);
        let drives: f64 = tree.freedoms().iter().zip(&v).map(|(f, v)| 0.5 * f.armature * v * v).sum();
        close(&[sum.kinetic], &[kinetic + drives], TOLERANCE);
        for b in 0..tree.bodies() {
            let (x, y) = (work.body(Some(b)), flat::body(&cache, b));
            close(&x.acceleration.0, &y.acceleration.0, TOLERANCE * 10.0);
            close(&x.velocity.0, &y.velocity.0, TOLERANCE);
            close(x.rotation.0.as_flattened(), y.rotation.0.as_flattened(), TOLERANCE);
            let (force, torque) = (Vec3([1.0, 2.0, -0.5]), Vec3([-0.7, 0.4, 1.3]));
            let (mut s, mut t) = (vec![0.0; n], vec![0.0; n]);
            jacobian::pull_back(tree, &work, Some(b), x.position, force, torque, &mut s);
            flat::pull_back(tree, &cache, b, y.position, force, torque, &mut t);
            close(&s, &t, TOLERANCE);
        }
    }
}

/// Impacts: the rows have their targets afterwards, and what is lost is the energy of the change.
#[test]
fn impulses_meet_their_targets() {
    use dalembert_trees::{constraint_inertia, impulse};
    for (i, tree) in trees().iter().enumerate().filter(|(_, t)| t.velocities() >= 6) {
        let n = tree.velocities();
        let (q, mut v, _, _) = state(tree, i as u64);
        let mut work = kinematics::Work::new(tree);
        kinematics::kinematics(tree, &q, &v, &mut work);
        let link = tree.links().iter().rev().find(|l| l.body.is_some()).unwrap();
        let mut j = vec![0.0; 6 * n];
        jacobian::jacobian(tree, &work, link.body, work.link(link, Vec3([0.1, 0.2, 0.3])).position, &mut j);
        // One row by itself cannot depend on others.
        let row: Vec<f64> = j[..n].to_vec();
        let mut factor = mass(tree, &q);
        ltl::factor(tree, &mut factor);
        let (mut felt, mut x) = ([0.0], row.clone());
        ltl::solve(tree, &factor, &mut x);
        let expected: f64 = x.iter().zip(&row).map(|(a, b)| a * b).sum();
        constraint_inertia::constraint_inertia(tree, &factor, &mut row.clone(), &mut felt);
        close(&[expected], &felt, TOLERANCE * 100.0);
        let mut out = [0.0];
        impulse::impulse(tree, &factor, &row, &[0.7], &mut v, &mut impulse::Work::new(tree, 1), &mut out).unwrap();
        let after: f64 = row.iter().zip(&v).map(|(a, b)| a * b).sum();
        assert!((after - 0.7).abs() < 1e-10, "{after}");
        // The same row twice is redundant, and told so.
        let twice = [row.clone(), row].concat();
        let mut work = impulse::Work::new(tree, 2);
        let error = impulse::impulse(tree, &factor, &twice, &[0.7, 0.7], &mut v, &mut work, &mut [0.0; 2]).unwrap_err();
        assert_eq!(error.row, 1);
    }
}
