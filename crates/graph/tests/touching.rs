//! Systems with contacts as instructions: in every set of modes they give what the equations give, also with the numbers of another system.
#![allow(clippy::unwrap_used)]

use dalembert_graph::program::Program;
use dalembert_graph::tape::{Slots, Tape};
use dalembert_graph::touching::{Ask, Functions};
use dalembert_methods::dynamics::{Dynamics, Rates};
use dalembert_methods::nonsmooth::{FAINT, Hybrid, Mode};
use dalembert_methods::problems::touching::{Puck, Rod, Touching, Toy};
use dalembert_methods::system::{Shape, State, System};

const SLIDE: Mode = Mode::Slide { direction: [1.0, 0.0] };
const BACK: Mode = Mode::Slide { direction: [-0.6, 0.8] };

/// The answer of a program with the constants of a model, what depends on them alone first.
fn ask(program: &Program, own: &[f64], question: &[f64]) -> Vec<f64> {
    let (early, late) = program.hoisted();
    let mut constants = program.constants.clone();
    constants[..own.len()].copy_from_slice(own);
    let tape = Tape::new(&early);
    let (mut slots, mut more): (Slots<f64>, _) = (tape.work_with(&constants), vec![0.0; tape.outputs()]);
    tape.run(&mut slots, &vec![0.0; program.inputs], &mut more);
    constants.extend(more);
    let tape = Tape::new(&late);
    let (mut slots, mut answer): (Slots<f64>, _) = (tape.work_with(&constants), vec![0.0; tape.outputs()]);
    tape.run(&mut slots, question, &mut answer);
    answer
}

/// In every set of modes instructions recorded of one model, with the constants of another, give what the equations of the other give; rounding is amplified a
/// hundredfold at most by solves of few rows that are far from dependent.
fn agrees<T: Toy<N, H, C>, const N: usize, const H: usize, const C: usize>(
    first: T,
    other: T,
    sets: &[[Mode; C]],
    q: [f64; N],
    v: [f64; N],
) {
    let close = |found: &[f64], known: &[f64], what: &str| {
        let size = known.iter().fold(10.0f64, |size, x| size.max(x.abs()));
        assert_eq!(found.len(), known.len(), "{what}");
        for (found, known) in found.iter().zip(known) {
            assert!((found - known).abs() <= 100.0 * f64::EPSILON * size, "{what}: {found} {known}");
        }
    };
    let (first, other) = (Touching(first), Touching(other));
    let functions = Functions::of(&first).unwrap();
    let constants = functions.constants_of(&other).unwrap();
    assert!(constants != functions.program.constants, "other numbers");
    assert_eq!(functions.constants_of(&first).unwrap(), functions.program.constants, "the same numbers");
    assert_eq!(Functions::of(&other).unwrap().program.constants, constants, "as if recorded by itself");
    for modes in sets {
        let mut y = Hybrid::new(&other);
        y.set_modes(modes);
        y.set_creep(&[0.01; C]);
        let mut s = y.state(State { t: 0.3, q: q.to_vec(), v: v.to_vec(), ..State::default() });
        s.p = vec![0.0; y.shape().p];
        let lead = |mode: &Mode| match mode {
            Mode::Slide { direction: [a, b] } => [*a, *b, 0.01],
            _ => [1.0, 0.0, FAINT],
        };
        let question = [&[s.t], &s.q[..], &s.v, &s.x, modes.each_ref().map(lead).as_flattened()].concat();
        let answer = |ask_for| ask(&functions.answer(modes, ask_for).unwrap(), &constants, &question);
        let (mut dynamics, mut rates) = (Dynamics::new(&y), Rates::zeros(y.shape()));
        dynamics.evaluate(&y, &s, &mut rates).unwrap();
        let motion = answer(Ask::Motion);
        let known = [&rates.v[..], &rates.x, &rates.z].concat();
        close(&motion[..known.len()], &known, "motion");
        assert!(motion[known.len()..].iter().all(|&pivot| pivot > 1e-3), "rows are far from dependent");
        // A stage of a step: the state moved by an increment, and the rate of the increment there.
        let increment: Vec<f64> = (0..2 * N).map(|i| 0.01 * (i as f64 - 1.3)).collect();
        let mut there = s.clone();
        y.retract(&s.q, &increment[..N], &mut there.q);
        there.v.iter_mut().zip(&increment[N..]).for_each(|(v, more)| *v += more);
        let (mut delta, mut moved) = (vec![0.0; N], Rates::zeros(y.shape()));
        y.local_rate(&increment[..N], &there.v, &mut delta);
        dynamics.evaluate(&y, &there, &mut moved).unwrap();
        assert!(functions.moves(&first) && functions.moves(&other), "moved in the same way");
        let stage =
            ask(&functions.answer(modes, Ask::Stage).unwrap(), &constants, &[&question[..], &increment].concat());
        let known = [&delta[..], &moved.v, &moved.x, &moved.z].concat();
        close(&stage[..known.len()], &known, "stage");
        assert_eq!(stage.len() - known.len(), y.shape().rows(), "pivots");
        let moved = ask(&functions.mover().unwrap(), &constants, &[&question[..], &increment].concat());
        let known = [&[there.t][..], &there.q, &there.v, &there.x].concat();
        close(&moved[..known.len()], &known, "move");
        let Shape { q, v, x, z, .. } = functions.shape();
        assert_eq!([q, v, x, z], [y.shape().q, y.shape().v, y.shape().x, y.shape().z], "what a table sets apart");
        let (mut gap, mut rate, mut force) = (vec![0.0; C], vec![0.0; y.start(C)], vec![0.0; y.start(C)]);
        let mut work = y.work();
        y.prepare(&s, &mut work);
        y.kinematics(&s, &mut work, &mut gap, &mut rate);
        y.forces(&rates.multipliers, &work, &mut force);
        for i in (0..C).filter(|&i| !modes[i].closed()) {
            rate[y.start(i)..y.start(i + 1)].fill(0.0);
        }
        let sight = answer(Ask::Sight);
        let known = [gap, rate, force].concat();
        close(&sight[..known.len()], &known, "sight");
        // A correction of velocities is exact, one of positions is so to its square.
        let change = answer(Ask::Correct);
        let mut moved = s.clone();
        moved.v.iter_mut().zip(&change[N..2 * N]).for_each(|(v, change)| *v += change);
        let mut left = vec![0.0; y.shape().rows()];
        y.prepare(&moved, &mut work);
        y.constraint_rate(&moved, &mut work, &mut left);
        close(&left, &vec![0.0; left.len()], "velocities");
        let (mut before, mut after) = (vec![0.0; y.shape().g], vec![0.0; y.shape().g]);
        y.constraint(&s, &mut work, &mut before);
        y.retract(&s.q, &change[..N], &mut moved.q);
        y.prepare(&moved, &mut work);
        y.constraint(&moved, &mut work, &mut after);
        let size = before.iter().fold(0.0f64, |size, g| size.max(g.abs()));
        assert!(after.iter().all(|g| g.abs() <= size * size + 1e-15), "{before:?} {after:?}");
    }
}

#[test]
fn answers_are_those_of_the_equations_in_every_set_of_modes() {
    let rod = |gravity, friction| Rod { gravity, lift: 0.7, friction, restitution: 0.0 };
    let sets = [[Mode::Open; 2], [SLIDE, Mode::Open], [Mode::Open, Mode::Stick], [SLIDE, SLIDE], [Mode::Stick, SLIDE]];
    agrees(rod(9.81, 0.3), rod(9.7, 0.45), &sets, [0.1, 0.02, 0.05], [0.4, -0.3, 0.2]);
    let puck = |gravity, friction| Puck { gravity, pull: [1.3, 0.7], friction };
    let sets = [[Mode::Open], [SLIDE], [BACK], [Mode::Stick]];
    agrees(puck(9.81, [0.3, 0.4, 0.5]), puck(9.5, [0.35, 0.25, 0.6]), &sets, [0.1, 0.2, 0.01], [0.3, 0.2, -0.1]);
}

/// Numbers that were equal, or one, and are no longer: other instructions.
#[test]
fn another_structure_is_told() {
    let puck = |friction| Touching(Puck { gravity: 9.81, pull: [1.3, 0.4], friction });
    let functions = Functions::of(&puck([0.3; 3])).unwrap();
    assert!(functions.constants_of(&puck([0.4; 3])).is_some());
    assert!(functions.constants_of(&puck([0.3, 0.4, 0.5])).is_none());
    assert!(functions.constants_of(&puck([1.0; 3])).is_none());
}
