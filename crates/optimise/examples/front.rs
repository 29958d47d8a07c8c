//! Short or smooth? The front of ways around an obstacle, with its two kinds of solutions.
//!
//! A way leads from (0, 0) to (1, 0) in six straight pieces; its goals are its length and the roughness of its corners. A round obstacle lies on the straight
//! line, so that ways pass it on the left or on the right. It lies a little to the left: all ways to its left are optimal only among their neighbours.

use dalembert_methods::Real;
use dalembert_optimise::pareto::{Goal, Options, ParetoError, Problem, Run, front};
use dalembert_optimise::written::{Second, Written};
use dalembert_optimise::{Bound, Nlp};
use std::sync::atomic::AtomicBool;

const PIECES: usize = 6;
const INNER: usize = PIECES - 1;

/// Heights of the inner corners at equal distances; then the two goals, each tied to what it stands for.
fn way(x: &[Second], c: &mut [Second]) -> Second {
    let height = |k: usize| if k == 0 || k == PIECES { Second::zero() } else { x[k - 1] };
    let mut length = x[INNER];
    let mut roughness = x[INNER + 1];
    for k in 0..PIECES {
        let rise = height(k + 1) - height(k);
        length -= (rise.square() + (PIECES as f64).powi(-2)).sqrt();
    }
    for k in 1..PIECES {
        let bend = height(k + 1) - height(k) * 2.0 + height(k - 1);
        roughness -= bend.square() * 100.0;
        // Outside the obstacle: (x − 1/2)² + (y − 0.002)² ≥ 0.2².
        let along = k as f64 / PIECES as f64 - 0.5;
        c[1 + k] = (height(k) - 0.002).square() + along * along;
    }
    (c[0], c[1]) = (length, roughness);
    Second::zero()
}

fn program() -> Box<dyn Nlp> {
    let mut variables = vec![Bound::between(-1.0, 1.0); INNER];
    variables.extend([Bound::FREE; 2]);
    let mut constraints = vec![Bound::equal(0.0); 2];
    constraints.extend([Bound::at_least(0.04); INNER]);
    Box::new(Written::new(way, vec![0.1; INNER + 2], variables, constraints))
}

fn main() -> Result<(), ParetoError> {
    let goals = vec![Goal::new(INNER, "length"), Goal::new(INNER + 1, "roughness")];
    let side = |x: &[f64]| vec![x[INNER / 2]];
    let mut problem = Problem::new(&program, goals);
    problem.projection = Some(&side);
    let stop = AtomicBool::new(false);
    let run = Run { threads: 2, journal: None, stop: &stop };
    let front = front(&problem, &Options { behind: 1.0, ..Options::default() }, &run, &mut |_| {})?;
    print!("{}", front.csv());
    println!(
        "{} solves, {} parts, {} kinds, volume {:.3}",
        front.solves,
        front.parts(),
        front.kinds(),
        front.hypervolume(None)
    );
    assert_eq!(front.kinds(), 2);
    assert!(front.points.iter().all(|p| p.global == (p.solution.x[INNER / 2] < 0.0)), "the right side is shorter");
    Ok(())
}
