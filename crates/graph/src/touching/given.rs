//! A system with contacts whose functions are all given as numbers: the free parameters of its state. Read through
//! [`Hybrid`](dalembert_methods::nonsmooth::Hybrid) it says what is done with the functions of a model in a set of modes, whatever the model.

use dalembert_methods::Scalar;
use dalembert_methods::algebra::{Block, Mass, MassBlock, Rows};
use dalembert_methods::nonsmooth::Contacts;
use dalembert_methods::system::{Shape, State, System};
use std::ops::Range;

/// Where the values of each function stand among all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Places {
    pub mass: Range<usize>,
    pub force: Range<usize>,
    pub rate: Range<usize>,
    /// Integrands without multipliers, and for each row what a unit multiplier adds to them.
    pub integrand: Range<usize>,
    pub supplied: Range<usize>,
    pub constraint: Range<usize>,
    pub constraint_rate: Range<usize>,
    pub bias: Range<usize>,
    pub jacobian: Range<usize>,
    pub gap: Range<usize>,
    pub contact_rate: Range<usize>,
    pub contact_bias: Range<usize>,
    pub contact_jacobian: Range<usize>,
    /// Two for each contact.
    pub resistance: Range<usize>,
    /// One for each contact.
    pub suction: Range<usize>,
}

impl Places {
    fn new(shape: Shape, mass: usize, jacobian: usize, contacts: usize, rows: usize, contact_jacobian: usize) -> Self {
        let mut end = 0;
        let mut next = |count: usize| {
            end += count;
            end - count..end
        };
        Self {
            mass: next(mass),
            force: next(shape.v),
            rate: next(shape.x),
            integrand: next(shape.z),
            supplied: next(shape.z * shape.rows()),
            constraint: next(shape.g),
            constraint_rate: next(shape.rows()),
            bias: next(shape.rows()),
            jacobian: next(jacobian),
            gap: next(contacts),
            contact_rate: next(rows),
            contact_bias: next(rows),
            contact_jacobian: next(contact_jacobian),
            resistance: next(2 * contacts),
            suction: next(contacts),
        }
    }

    /// The number of all values.
    pub fn count(&self) -> usize {
        self.suction.end
    }
}

/// All that modes do not change of a model with contacts: sizes and structures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    shape: Shape,
    mass_blocks: Vec<MassBlock>,
    row_blocks: Vec<Block>,
    contact_blocks: Vec<Block>,
    tangents: Vec<usize>,
    /// Which contacts have a press of their own, and which are suckers.
    pressed: Vec<bool>,
    sucking: Vec<bool>,
    pub(super) places: Places,
    /// The values that are zero in every state: they are no parameters.
    pub(super) zero: Vec<bool>,
}

impl Given {
    /// The structure of a model.
    pub(super) fn of<Y: Contacts>(y: &Y) -> Self {
        let (shape, count) = (y.shape(), y.contacts());
        let (mass_blocks, row_blocks, contact_blocks) = (y.mass_blocks(), y.row_blocks(), y.contact_blocks());
        let tangents: Vec<usize> = (0..count).map(|i| y.tangents(i)).collect();
        let rows = tangents.iter().map(|tangents| 1 + tangents).sum();
        let area = |blocks: &[Block]| blocks.iter().map(|b| b.rows * b.cols).sum();
        let mass = mass_blocks.iter().map(MassBlock::values).sum();
        let places = Places::new(shape, mass, area(&row_blocks), count, rows, area(&contact_blocks));
        Self {
            shape: Shape { p: places.count(), gaps: 0, ..shape },
            mass_blocks,
            row_blocks,
            contact_blocks,
            tangents,
            pressed: (0..count).map(|i| y.own_press(i).is_some()).collect(),
            sucking: (0..count).map(|i| y.suction(i, 0.0).is_some()).collect(),
            zero: vec![false; places.count()],
            places,
        }
    }

    fn fill<S: Scalar>(blocks: &[Block], mut from: &[S], out: &mut Rows<S>) {
        for (k, block) in blocks.iter().enumerate() {
            let (own, rest) = from.split_at(block.rows * block.cols);
            out.block_mut(k).copy_from_slice(own);
            from = rest;
        }
    }
}

impl System for Given {
    /// All values.
    type Work<S: Scalar> = Vec<S>;

    fn shape(&self) -> Shape {
        self.shape
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        self.mass_blocks.clone()
    }
    fn row_blocks(&self) -> Vec<Block> {
        self.row_blocks.clone()
    }
    fn work<S: Scalar>(&self) -> Vec<S> {
        vec![S::zero(); self.places.count()]
    }
    fn prepare<S: Scalar>(&self, s: &State<S>, w: &mut Vec<S>) {
        for ((w, &p), &zero) in w.iter_mut().zip(&s.p).zip(&self.zero) {
            *w = if zero { S::zero() } else { p };
        }
    }
    fn mass<S: Scalar>(&self, _s: &State<S>, w: &mut Vec<S>, out: &mut Mass<S>) {
        let mut from = &w[self.places.mass.clone()];
        for (k, block) in self.mass_blocks.iter().enumerate() {
            let (own, rest) = from.split_at(block.values());
            out.block_mut(k).copy_from_slice(own);
            from = rest;
        }
    }
    fn force<S: Scalar>(&self, _s: &State<S>, w: &mut Vec<S>, out: &mut [S]) {
        out.copy_from_slice(&w[self.places.force.clone()]);
    }
    fn rate<S: Scalar>(&self, _s: &State<S>, w: &mut Vec<S>, out: &mut [S]) {
        out.copy_from_slice(&w[self.places.rate.clone()]);
    }
    fn integrand<S: Scalar>(&self, _s: &State<S>, multipliers: &[S], w: &mut Vec<S>, out: &mut [S]) {
        out.copy_from_slice(&w[self.places.integrand.clone()]);
        let supplied = w[self.places.supplied.clone()].chunks_exact(self.shape.z.max(1));
        for (&multiplier, each) in multipliers.iter().zip(supplied) {
            out.iter_mut().zip(each).for_each(|(out, &each)| *out += multiplier * each);
        }
    }
    fn constraint<S: Scalar>(&self, _s: &State<S>, w: &mut Vec<S>, out: &mut [S]) {
        out.copy_from_slice(&w[self.places.constraint.clone()]);
    }
    fn constraint_rate<S: Scalar>(&self, _s: &State<S>, w: &mut Vec<S>, out: &mut [S]) {
        out.copy_from_slice(&w[self.places.constraint_rate.clone()]);
    }
    fn constraint_bias<S: Scalar>(&self, _s: &State<S>, w: &mut Vec<S>, out: &mut [S]) {
        out.copy_from_slice(&w[self.places.bias.clone()]);
    }
    fn jacobian<S: Scalar>(&self, _s: &State<S>, w: &mut Vec<S>, out: &mut Rows<S>) {
        Self::fill(&self.row_blocks, &w[self.places.jacobian.clone()], out);
    }
}

impl Contacts for Given {
    fn contacts(&self) -> usize {
        self.tangents.len()
    }
    fn tangents(&self, contact: usize) -> usize {
        self.tangents[contact]
    }
    fn contact_blocks(&self) -> Vec<Block> {
        self.contact_blocks.clone()
    }
    fn contact_gap<S: Scalar>(&self, _s: &State<S>, w: &mut Vec<S>, out: &mut [S]) {
        out.copy_from_slice(&w[self.places.gap.clone()]);
    }
    fn contact_rate<S: Scalar>(&self, _s: &State<S>, w: &mut Vec<S>, out: &mut [S]) {
        out.copy_from_slice(&w[self.places.contact_rate.clone()]);
    }
    fn contact_bias<S: Scalar>(&self, _s: &State<S>, w: &mut Vec<S>, out: &mut [S]) {
        out.copy_from_slice(&w[self.places.contact_bias.clone()]);
    }
    fn contact_jacobian<S: Scalar>(&self, _s: &State<S>, w: &mut Vec<S>, out: &mut Rows<S>) {
        Self::fill(&self.contact_blocks, &w[self.places.contact_jacobian.clone()], out);
    }
    fn suction<S: Scalar>(&self, contact: usize, _t: S) -> Option<S> {
        self.sucking[contact].then(S::zero)
    }
    fn suction_at<S: Scalar>(&self, contact: usize, _t: S, w: &Vec<S>) -> Option<S> {
        self.sucking[contact].then(|| w[self.places.suction.start + contact])
    }
    /// One: what resists is given whole.
    fn own_press(&self, contact: usize) -> Option<f64> {
        self.pressed[contact].then_some(1.0)
    }
    fn sliding_at<S: Scalar>(&self, contact: usize, _direction: [S; 2], _speed: S, w: &Vec<S>) -> [S; 2] {
        let first = self.places.resistance.start + 2 * contact;
        [w[first], w[first + 1]]
    }
}
