//! Stages of steps side by side: all that a Runge–Kutta method does between two looks at its errors, in the lanes of one number.
//!
//! ```text
//! k_i = f(t + c_i h, y ⊕ h Σ a_ij k_j)
//! ```
//!
//! Sums are formed in the order of stages. Each lane has its own time, step and state. What is not sound in one of them (a number that is not finite, a thin pivot)
//! is left to its row.

use super::loom::{LANES, Loom};
use super::table::{Ticket, each, each_mut, finite, papers, put, take, thick};
use dalembert_methods::integrate::Stages;
use dalembert_methods::system::Shape;
use dalembert_methods::{Lanes, Real};
use std::rc::Rc;

/// Room for the stages of four rows.
pub(super) struct Room {
    /// Of increments (δ, Δv, Δx) that move states, and with Δz.
    moves: usize,
    size: usize,
    slopes: Vec<Lanes<LANES>>,
}

impl Room {
    pub fn new(shape: Shape) -> Self {
        let moves = 2 * shape.v + shape.x;
        Self { moves, size: moves + shape.z, slopes: Vec::new() }
    }

    /// increment = h Σ w_j k_j.
    fn combine(&self, h: Lanes<LANES>, weights: &[f64], increment: &mut [Lanes<LANES>]) {
        increment.fill(Lanes::zero());
        let rows = self.slopes.chunks_exact(self.size.max(1)).zip(weights);
        let mut rows = rows.filter(|(_, weight)| **weight != 0.0);
        // Two at a time, so that sums are read and written half as often.
        while let Some((one, &a)) = rows.next() {
            match rows.next() {
                Some((two, &b)) => {
                    for ((sum, &one), &two) in increment.iter_mut().zip(one).zip(two) {
                        *sum = (*sum + one * a) + two * b;
                    }
                }
                None => increment.iter_mut().zip(one).for_each(|(sum, &one)| *sum += one * a),
            }
        }
        increment.iter_mut().for_each(|sum| *sum *= h);
    }

    /// Makes the stages that those in the lanes ask for, all of them the same.
    pub fn serve(&mut self, loom: &mut Loom, lanes: &[Option<Rc<Ticket>>; LANES]) {
        let mut papers = papers(lanes);
        let asked = papers.iter().flatten().find_map(|paper| paper.stages.clone());
        let Some(Stages { tableau, range, .. }) = asked else { return };
        let size = self.size;
        let base = loom.input.len() - self.moves;
        let [mut t, mut h, mut end] = [Lanes::zero(); 3];
        self.slopes.resize(tableau.all_stages() * size, Lanes::zero());
        for (lane, paper) in papers.iter().enumerate() {
            let Some((paper, stages)) = paper.as_ref().and_then(|paper| Some((paper, paper.stages.as_ref()?))) else {
                continue;
            };
            (t.0[lane], h.0[lane], end.0[lane]) = (paper.question[0], stages.h, stages.end);
        }
        put(each(&papers, |paper| &paper.slopes), &mut self.slopes);
        let taken = lanes.each_ref().map(Option::is_some);
        let mut sound = [true; LANES];
        put(each(&papers, |paper| &paper.question), &mut loom.input[..base]);
        for i in range.clone() {
            let node = tableau.nodes[i];
            loom.input[0] = if node == 1.0 { end } else { t + h * node };
            self.combine(h, tableau.rows[i], &mut loom.input[base..]);
            loom.run(taken);
            let (rates, pivots) = loom.output.split_at(size);
            self.slopes[i * size..][..size].copy_from_slice(rates);
            let (thick, finite) = (thick(pivots), finite(rates));
            (0..LANES).for_each(|lane| sound[lane] &= thick[lane] && finite[lane]);
        }
        let made = &self.slopes[range.start * size..range.end * size];
        for (lane, paper) in papers.iter_mut().enumerate() {
            let Some(paper) = paper else { continue };
            paper.answer.resize(made.len(), 0.0);
            paper.sound = sound[lane];
        }
        take(made, each_mut(&mut papers, |paper| &mut paper.answer));
    }
}
