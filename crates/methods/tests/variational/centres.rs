//! The phase-fitted method on bodies that act on each other alone: curves about their centre of mass, momenta, order 4, bodies at the origin.

use crate::none;
use crate::systems::{distance, reference, run, try_run};
use dalembert_methods::algebra::{Mass, MassBlock};
use dalembert_methods::integrate::Settings;
use dalembert_methods::system::Coupling;
use dalembert_methods::{Scalar, Shape, State, System};

/// Bodies in a plane that attract each other, G = 1, about no place in particular, and a force in their plane that is the same for each kg everywhere.
struct Free {
    masses: Vec<f64>,
    field: [f64; 2],
}

impl Free {
    fn new(masses: &[f64]) -> Self {
        Self { masses: masses.to_vec(), field: [0.0; 2] }
    }

    /// Both components of Σ p, and Σ q × p.
    fn momenta(&self, s: &State<f64>) -> [f64; 3] {
        let mut out = [0.0; 3];
        for (i, m) in self.masses.iter().enumerate() {
            let (q, p) = (&s.q[2 * i..2 * i + 2], [m * s.v[2 * i], m * s.v[2 * i + 1]]);
            out = [out[0] + p[0], out[1] + p[1], out[2] + q[0] * p[1] - q[1] * p[0]];
        }
        out
    }

    /// Σ |p| and Σ |q| |p|.
    fn sizes(&self, s: &State<f64>) -> [f64; 2] {
        let mut out = [0.0; 2];
        for (i, m) in self.masses.iter().enumerate() {
            let p = m * s.v[2 * i].hypot(s.v[2 * i + 1]);
            out = [out[0] + p, out[1] + p * s.q[2 * i].hypot(s.q[2 * i + 1])];
        }
        out
    }
}

impl System for Free {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        let n = 2 * self.masses.len();
        Shape { q: n, v: n, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(2 * self.masses.len())]
    }
    fn coupling(&self) -> Coupling {
        let n = self.masses.len();
        Coupling { groups: (0..n).map(|i| 2 * i..2 * i + 2).collect(), neighbours: vec![(0..n).collect(); n] }
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, (): &mut ()) {}
    fn mass<S: Scalar>(&self, _s: &State<S>, (): &mut (), out: &mut Mass<S>) {
        (0..2 * self.masses.len()).for_each(|k| out.block_mut(0)[k] = S::from(self.masses[k / 2]));
    }
    fn force<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        for (k, out) in out.iter_mut().enumerate() {
            *out = S::from(self.masses[k / 2] * self.field[k % 2]);
        }
        for (j, i) in (0..self.masses.len()).flat_map(|j| (0..j).map(move |i| (j, i))) {
            let d = [s.q[2 * j] - s.q[2 * i], s.q[2 * j + 1] - s.q[2 * i + 1]];
            let squared = d[0].square() + d[1].square();
            let pull = (squared * squared.sqrt()).recip() * (self.masses[i] * self.masses[j]);
            for k in 0..2 {
                out[2 * i + k] += d[k] * pull;
                out[2 * j + k] -= d[k] * pull;
            }
        }
    }
}

/// A binary star with a companion, far from the origin and moving away from it.
fn passing() -> (Free, State<f64>) {
    let system = Free::new(&[1.0, 0.5, 0.25]);
    let s = State { q: vec![3.0, 1.0, 4.0, 1.0, 9.0, 1.0], v: vec![0.2, -0.1, 0.2, 1.0, 0.2, 0.8], ..State::default() };
    (system, s)
}

/// Operations as in `operations`, for sums in closed form: kinetic terms 8, forces at three points 6, h p, division, masses and state 5; and for bodies about a
/// common centre the sums of both ends over all of them, and 6 to share them out.
pub fn fitted_operations(bodies: usize) -> f64 {
    19.0 + if bodies > 1 { 2.0 * bodies as f64 + 6.0 } else { 0.0 }
}

/// Bodies that act on each other alone swing about their centre of mass: linear momentum is kept to rounding, and angular momentum with it, wherever they are. About
/// the origin linear momentum is not kept.
#[test]
fn free_bodies_keep_linear_and_angular_momentum() {
    let (system, start) = passing();
    let steps = 20_000_u32;
    for (settings, kept) in [
        (none(), true),
        (none().with("fitted", 2.0), true),
        (none().with("frequency", 0.7), true),
        (none().with("centre", 0.0), false),
    ] {
        let s = run(&system, &start, "phase_fitted", &settings, 400.0, steps);
        let (before, after) = (system.momenta(&start), system.momenta(&s));
        let (near, far) = (system.sizes(&start), system.sizes(&s));
        let operations = fitted_operations(system.masses.len()) * system.masses.len() as f64;
        // At the end all are 80 away from the origin: arms grow with time, and sizes with them.
        let linear = crate::rounding(steps, operations, near[0].max(far[0]));
        let angular = crate::rounding(steps, operations, near[1].max(far[1]));
        println!(
            "{settings:?}: {:.1e} {:.1e} within {linear:.1e}, {:.1e} within {angular:.1e}",
            after[0] - before[0],
            after[1] - before[1],
            after[2] - before[2]
        );
        let is_kept = (0..2).all(|k| (after[k] - before[k]).abs() < linear);
        assert_eq!(is_kept, kept, "{settings:?}");
        assert!(!kept || (after[2] - before[2]).abs() < angular, "{settings:?}");
    }
}

/// Two bodies about their centre move as one about the origin: order 4 wherever they are, and the same motion if all is shifted and moved along.
#[test]
fn two_bodies_are_of_order_four_about_their_centre() {
    let two = Free::new(&[1.0, 0.3]);
    let start = State { q: vec![5.0, 0.0, 6.0, 0.0], v: vec![0.1, 0.0, 0.1, 1.2], ..State::default() };
    let end = reference(&two, &start, 5.0);
    crate::order("two bodies", 4, |n| {
        try_run(&two, &start, "phase_fitted", &none(), 5.0, n).map_or(f64::INFINITY, |s| distance(&s, &end))
    });
    let (far, speed) = ([17.0, -4.0], [0.5, 0.25]);
    let moved = |s: &State<f64>| {
        let mut s = s.clone();
        for k in 0..4 {
            s.q[k] += far[k % 2] + speed[k % 2] * s.t;
            s.v[k] += speed[k % 2];
        }
        s
    };
    let [here, there] = [start.clone(), moved(&start)].map(|s| run(&two, &s, "phase_fitted", &none(), 5.0, 500));
    // Rounding of places of size 25, as phases: n²/2 steps of h times that of a velocity, which is that of places over the distance of 1.
    let bound = 0.5 * 500.0 * 500.0 * 0.01 * 25.0 * f64::EPSILON;
    assert!(distance(&moved(&here), &there) < bound, "{:e}", distance(&moved(&here), &there));
    // A force that is the same everywhere moves the centre on a parabola, which the rule of Simpson has exactly.
    let falling = Free { field: [0.0, -2.0], ..Free::new(&[1.0, 0.3]) };
    let s = run(&falling, &start, "phase_fitted", &none(), 5.0, 500);
    for k in 0..4 {
        let field = falling.field[k % 2];
        let (fallen, faster) = (here.q[k] + 0.5 * field * 25.0, here.v[k] + field * 5.0);
        assert!((s.q[k] - fallen).abs() < bound && (s.v[k] - faster).abs() < bound, "{k}: {:e}", s.q[k] - fallen);
    }
}

/// One step with centres is symplectic too, in all twelve directions, and runs backwards.
#[test]
fn centres_leave_steps_symplectic_and_symmetric() {
    let (system, start) = passing();
    let mass = |k: usize| system.masses[k / 2];
    let nudged = |s: &State<f64>, k: usize, e: f64| {
        let mut s = s.clone();
        match k < 6 {
            true => s.q[k] += e,
            false => s.v[k - 6] += e / mass(k - 6),
        }
        s
    };
    let apart = |a: &State<f64>, b: &State<f64>| {
        let places = (0..6).map(|k| b.q[k] - a.q[k]);
        places.chain((0..6).map(|k| (b.v[k] - a.v[k]) * mass(k))).collect()
    };
    let form = |_: &State<f64>, a: &[f64], b: &[f64]| (0..6).map(|i| a[i] * b[6 + i] - a[6 + i] * b[i]).sum();
    for h in [0.05, 0.2] {
        let step = |s: &State<f64>| run(&system, s, "phase_fitted", &none().with("fixed_step", h), h, 1);
        let found = crate::symplectic_defect(12, step, &start, nudged, apart, form);
        assert!(found < 1e-8, "{h}: {found:e}");
    }
    let turned = |mut s: State<f64>| {
        s.v.iter_mut().for_each(|v| *v = -*v);
        s.t = 0.0;
        s
    };
    let there = run(&system, &start, "phase_fitted", &none(), 10.0, 200);
    let back = turned(run(&system, &turned(there), "phase_fitted", &none(), 10.0, 200));
    // Rounding of 400 steps of places of size ten, as phases.
    assert!(
        distance(&back, &start) < 0.5 * 400.0 * 400.0 * 0.05 * 10.0 * f64::EPSILON,
        "{:e}",
        distance(&back, &start)
    );
}

/// A heavy body that begins at rest at the origin has no frequency about it at first: the run goes on, converges to the motion of another method, and keeps angular
/// momentum. Within a distance of h²a/x of zero, x = 1 the largest u², the action changes by ma²h³/24, what a straight line misses: the body is pushed by ha x/24 as it comes
/// there and as it goes.
#[test]
fn a_body_at_the_origin_is_no_trouble() {
    let (two, about) = (Free::new(&[1.0, 1e-3]), none().with("centre", 0.0));
    let start = State { q: vec![0.0, 0.0, 1.0, 0.0], v: vec![0.0, 0.0, 0.0, 1.1], ..State::default() };
    let end = reference(&two, &start, 20.0);
    let error = |settings: &Settings, steps: u32| {
        let s = run(&two, &start, "phase_fitted", settings, 20.0, steps);
        let found = (two.momenta(&s)[2] - two.momenta(&start)[2]).abs();
        assert!(found < crate::rounding(steps, 2.0 * fitted_operations(2), 2e-3), "{found:e}");
        distance(&s, &end)
    };
    let (coarse, fine) = (error(&about, 500), error(&about, 1000));
    println!("a body at the origin: {coarse:.1e} {fine:.1e}");
    // An acceleration of 1e-3, for 20 units of time.
    let pushed = |h: f64| 2.0 * h * 1e-3 / 24.0 * 20.0;
    assert!(coarse < pushed(0.04) && fine < pushed(0.02), "{coarse:e} {fine:e}");
    let away = State { q: vec![-0.1, 0.0, 0.9, 0.0], ..start.clone() };
    let away_end = reference(&two, &away, 20.0);
    let far = |steps: u32| distance(&run(&two, &away, "phase_fitted", &about, 20.0, steps), &away_end);
    let order = (far(500) / far(1000)).log2();
    println!("away from the origin: {:.1e} {:.1e}", far(500), far(1000));
    assert!(order > 1.8, "{order}");
    // About their centre of mass neither is at zero, and the order is 4: the trouble is none.
    let (coarse, fine) = (error(&none(), 500), error(&none(), 1000));
    println!("about the centre: {coarse:.1e} {fine:.1e}");
    assert!((coarse / fine).log2() > 3.8 && fine < 0.01 * pushed(0.02), "{coarse:e} {fine:e}");
}
