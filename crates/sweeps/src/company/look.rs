//! Looks at states inside steps, side by side: from the base of a step along an increment, to the constraints if asked, and what contacts are like there.
//!
//! Corrections are those of [`dalembert_methods::dynamics::Dynamics`] in company: Newton's method in q until an increment is below the tolerance, and velocities where it ends. A lane that has
//! arrived is left as it is while others go on.

use super::loom::{LANES, Loom};
use super::table::{Ticket, each, each_mut, finite, papers, put, take, thick};
use dalembert_methods::dynamics::{ARRIVED, ROUNDS};
use dalembert_methods::system::Shape;
use dalembert_methods::{Lanes, Real};
use std::rc::Rc;

/// How states are moved, corrected and seen.
pub(super) struct Look {
    shape: Shape,
    /// The length of an increment (δ, Δv, Δx) that moves states, and with Δz.
    moves: usize,
    size: usize,
    mover: Loom,
    /// Where there are constraints or closed contacts.
    correct: Option<Loom>,
    /// Where there are contacts, and how many of its outputs are no pivots.
    sight: Option<Loom>,
    seen: usize,
    /// A state, and sizes of configurations.
    state: Vec<Lanes<LANES>>,
    sizes: Vec<Lanes<LANES>>,
}

impl Look {
    pub fn new(shape: Shape, mover: Loom, correct: Option<Loom>, sight: Option<Loom>, seen: usize) -> Self {
        let moves = 2 * shape.v + shape.x;
        Self {
            shape,
            moves,
            size: moves + shape.z,
            state: vec![Lanes::zero(); mover.output.len()],
            sizes: vec![Lanes::zero(); shape.v],
            mover,
            correct,
            seen: if sight.is_some() { seen } else { 0 },
            sight,
        }
    }

    pub fn looms(&mut self) -> Vec<&mut Loom> {
        std::iter::once(&mut self.mover).chain(&mut self.correct).chain(&mut self.sight).collect()
    }

    /// Finds all states that those in the lanes ask for, of all the same number.
    pub fn serve(&mut self, lanes: &[Option<Rc<Ticket>>; LANES]) {
        let taken = lanes.each_ref().map(Option::is_some);
        let (base, size, moves) = (self.state.len(), self.size, self.moves);
        let own = 1..1 + self.shape.q + self.shape.v + self.shape.x;
        let width = own.len() + self.seen;
        let mut papers = papers(lanes);
        let (mut count, mut tolerances) = (0, None);
        for (lane, paper) in papers.iter_mut().enumerate() {
            let Some(paper) = paper else { continue };
            count = paper.ways.times.len();
            if let Some(tolerance) = paper.ways.project {
                tolerances.get_or_insert([0.0; LANES])[lane] = tolerance;
            }
            paper.answer.resize(count * width, 0.0);
            paper.corrections.clear();
        }
        put(each(&papers, |paper| &paper.ways.sizes), &mut self.sizes);
        let mut sound = [true; LANES];
        for k in 0..count {
            put(each(&papers, |paper| &paper.question), &mut self.mover.input[..base]);
            put(each(&papers, |paper| &paper.ways.times[k..=k]), &mut self.mover.input[..1]);
            let increments = each(&papers, |paper| &paper.ways.increments[k * size..][..moves]);
            put(increments, &mut self.mover.input[base..]);
            self.mover.run(taken);
            self.state.copy_from_slice(&self.mover.output);
            let mut corrections = [0; LANES];
            if let Some(tolerances) = tolerances {
                corrections = self.project(taken, tolerances, &mut sound);
            }
            if let Some(sight) = &mut self.sight {
                sight.input.copy_from_slice(&self.state);
                sight.run(taken);
            }
            let seen = self.sight.as_ref().map_or(&[][..], |sight| &sight.output);
            let (state, (seen, pivots)) = (&self.state[own.clone()], seen.split_at(self.seen));
            let judged = [thick(pivots), finite(state), finite(seen)];
            (0..LANES).for_each(|lane| sound[lane] &= judged.iter().all(|sound| sound[lane]));
            take(state, each_mut(&mut papers, |paper| &mut paper.answer[k * width..]));
            take(seen, each_mut(&mut papers, |paper| &mut paper.answer[k * width + own.len()..]));
            for (paper, corrections) in papers.iter_mut().zip(corrections) {
                paper.iter_mut().for_each(|paper| paper.corrections.push(corrections));
            }
        }
        for (paper, sound) in papers.iter_mut().zip(sound) {
            paper.iter_mut().for_each(|paper| paper.sound = sound);
        }
    }

    /// Moves the state of each lane to the constraints; counts the corrections. A lane that does not arrive is not sound.
    fn project(
        &mut self,
        mut going: [bool; LANES],
        tolerances: [f64; LANES],
        sound: &mut [bool; LANES],
    ) -> [u32; LANES] {
        let mut rounds = [0; LANES];
        let Some(correct) = &mut self.correct else { return rounds };
        let Shape { q, v, .. } = self.shape;
        let (base, velocity) = (self.state.len(), 1 + q..1 + q + v);
        let mut arrived = [false; LANES];
        while going.iter().any(|&goes| goes) {
            correct.input.copy_from_slice(&self.state);
            correct.run(going);
            let (delta, rest) = correct.output.split_at(v);
            let (turn, pivots) = rest.split_at(v);
            let thick = thick(pivots);
            // Where velocities are corrected: where the configuration is in the end.
            let (mut ends, mut moves) = ([false; LANES], going);
            for lane in 0..LANES {
                if !going[lane] {
                    continue;
                }
                rounds[lane] += 1;
                let norm = largest(delta, &self.sizes, lane);
                if !thick[lane] || !norm.is_finite() {
                    (sound[lane], going[lane], moves[lane]) = (false, false, false);
                } else if arrived[lane] || norm == 0.0 {
                    (ends[lane], moves[lane]) = (true, false);
                } else {
                    arrived[lane] = norm <= tolerances[lane];
                    ends[lane] = arrived[lane] && norm <= ARRIVED;
                    sound[lane] &= ends[lane] || rounds[lane] < ROUNDS;
                    going[lane] = sound[lane];
                }
            }
            if moves.iter().any(|&moves| moves) {
                self.mover.input[..base].copy_from_slice(&self.state);
                self.mover.input[base..base + v].copy_from_slice(delta);
                self.mover.input[base + v..].fill(Lanes::zero());
                self.mover.run(moves);
                select(&mut self.state[1..1 + q], &self.mover.output[1..1 + q], moves);
            }
            for lane in (0..LANES).filter(|&lane| ends[lane]) {
                for (v, turn) in self.state[velocity.clone()].iter_mut().zip(turn) {
                    v.0[lane] += turn.0[lane];
                }
                going[lane] = false;
            }
        }
        rounds
    }
}

/// Takes over the numbers of some lanes.
fn select(to: &mut [Lanes<LANES>], from: &[Lanes<LANES>], which: [bool; LANES]) {
    for (to, from) in to.iter_mut().zip(from) {
        (0..LANES).filter(|&lane| which[lane]).for_each(|lane| to.0[lane] = from.0[lane]);
    }
}

/// The largest change of a lane in units of its size; not a number counts as infinite.
fn largest(change: &[Lanes<LANES>], size: &[Lanes<LANES>], lane: usize) -> f64 {
    change.iter().zip(size).fold(0.0, |max: f64, (change, size)| {
        let relative = (change.0[lane] / size.0[lane]).abs();
        if relative <= max {
            max
        } else if relative.is_nan() {
            f64::INFINITY
        } else {
            relative
        }
    })
}
