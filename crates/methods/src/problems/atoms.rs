//! A simple atomistic model: slow and fast masses in a plane, springs of varying stiffness, rigid links.
//!
//! The report that names it (Gail, Leyendecker, Ober-Blöbaum: Computing time investigations of variational multirate systems, Erlangen 2013) prints no
//! data; masses, stiffnesses and shape are chosen here.

use super::Problem;
use crate::algebra::{Block, Mass, MassBlock, Rows};
use crate::scalar::Scalar;
use crate::system::{Coupling, Shape, State, System};

/// Mass of slow and of fast atoms in kg.
const HEAVY: f64 = 5.0;
const LIGHT: f64 = 0.2;
/// Stiffnesses in N/m: between neighbours, within pairs, between any two atoms of different cells.
const SOFT: f64 = 3.0;
const STIFF: f64 = 2000.0;
const FAR: f64 = 0.01;

/// A row of cells that floats freely. Each has a heavy atom, on a soft spring a light one a, on a stiff spring (rate one) a light one b, and on a rigid
/// link of length 1 a light one c. Soft springs join neighbouring cells; with `far` weak ones join all atoms of different cells.
#[derive(Clone, Debug)]
pub struct Atoms {
    /// Number of cells, of four atoms each.
    pub cells: usize,
    /// Whether all atoms of different cells are joined.
    pub far: bool,
}

impl Default for Atoms {
    fn default() -> Self {
        Self { cells: 1, far: false }
    }
}

/// Two atoms, stiffness, length at rest.
type Spring = (usize, usize, f64, f64);

impl Atoms {
    /// Where an atom is at rest.
    fn site(i: usize) -> [f64; 2] {
        let x = 2.0 * (i / 4) as f64;
        [[x, 0.0], [x, 1.0], [x, 2.0], [x + 1.0, 2.0]][i % 4]
    }

    /// The soft springs of neighbours.
    fn near(&self) -> impl Iterator<Item = Spring> {
        let arms = (0..self.cells).map(|i| (4 * i, 4 * i + 1, SOFT, 1.0));
        let rows = (1..self.cells).map(|i| (4 * i - 4, 4 * i, SOFT, 2.0));
        let tops = (1..self.cells).map(|i| (4 * i - 1, 4 * i + 2, SOFT, 1.0));
        arms.chain(rows).chain(tops)
    }

    fn stiff(&self) -> impl Iterator<Item = Spring> {
        (0..self.cells).map(|i| (4 * i + 1, 4 * i + 2, STIFF, 1.0))
    }

    /// The weak springs between cells.
    fn distant(&self) -> impl Iterator<Item = Spring> {
        let all = if self.far { 4 * self.cells } else { 0 };
        (0..all).flat_map(|j| (0..4 * (j / 4)).map(move |i| (i, j))).map(|(i, j)| {
            let (a, b) = (Self::site(i), Self::site(j));
            (i, j, FAR, (a[0] - b[0]).hypot(a[1] - b[1]))
        })
    }

    #[inline(always)]
    fn pull<S: Scalar>(q: &[S], (a, b, stiffness, rest): Spring, out: &mut [S]) {
        let d = [q[2 * b] - q[2 * a], q[2 * b + 1] - q[2 * a + 1]];
        let length = (d[0].square() + d[1].square()).sqrt();
        let tension = (length - rest) * stiffness / length;
        for (k, &d) in d.iter().enumerate() {
            out[2 * a + k] += d * tension;
            out[2 * b + k] -= d * tension;
        }
    }

    /// Which atoms springs join, and links.
    fn joined(&self, springs: impl Iterator<Item = Spring>) -> Coupling {
        let n = 4 * self.cells;
        let mut neighbours: Vec<Vec<usize>> = (0..n).map(|i| vec![i]).collect();
        let links = (0..self.cells).map(Self::link);
        for [a, b] in springs.map(|(a, b, ..)| [a, b]).chain(links) {
            neighbours[a].push(b);
            neighbours[b].push(a);
        }
        neighbours.iter_mut().for_each(|own| own.sort_unstable());
        Coupling { groups: (0..n).map(|i| 2 * i..2 * i + 2).collect(), neighbours }
    }

    fn mass_of(i: usize) -> f64 {
        if i % 4 == 0 { HEAVY } else { LIGHT }
    }

    /// The two atoms of a link.
    fn link(cell: usize) -> [usize; 2] {
        [4 * cell + 2, 4 * cell + 3]
    }
}

impl System for Atoms {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        Shape { q: 8 * self.cells, v: 8 * self.cells, g: self.cells, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(8 * self.cells)]
    }
    fn row_blocks(&self) -> Vec<Block> {
        (0..self.cells).map(|i| Block { row: i, rows: 1, col: 8 * i + 4, cols: 4 }).collect()
    }
    fn coupling(&self) -> Coupling {
        self.joined(self.near().chain(self.stiff()).chain(self.distant()))
    }
    fn coupling_of_rate(&self, rate: usize) -> Coupling {
        if rate == 0 { self.joined(self.near().chain(self.distant())) } else { self.joined(self.stiff()) }
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn scleronomic(&self) -> bool {
        true
    }
    fn still(&self) -> bool {
        true
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, (): &mut ()) {}
    fn mass<S: Scalar>(&self, _s: &State<S>, (): &mut (), out: &mut Mass<S>) {
        for (i, own) in out.block_mut(0).chunks_exact_mut(2).enumerate() {
            own.fill(S::from(Self::mass_of(i)));
        }
    }
    fn force<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        out.fill(S::zero());
        self.near().chain(self.distant()).chain(self.stiff()).for_each(|spring| Self::pull(&s.q, spring, out));
    }
    fn rates(&self) -> usize {
        2
    }
    fn fast(&self, _rate: usize) -> Vec<usize> {
        (0..self.cells).flat_map(|i| 8 * i + 2..8 * i + 6).collect()
    }
    fn force_of_rate<S: Scalar>(&self, s: &State<S>, (): &mut (), rate: usize, out: &mut [S]) {
        out.fill(S::zero());
        if rate == 0 {
            self.near().chain(self.distant()).for_each(|spring| Self::pull(&s.q, spring, out));
        } else {
            self.stiff().for_each(|spring| Self::pull(&s.q, spring, out));
        }
    }
    fn constraint<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        for (cell, out) in out.iter_mut().enumerate() {
            let [a, b] = Self::link(cell).map(|i| 2 * i);
            *out = ((s.q[b] - s.q[a]).square() + (s.q[b + 1] - s.q[a + 1]).square() - 1.0) * 0.5;
        }
    }
    fn constraint_rate<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        for (cell, out) in out.iter_mut().enumerate() {
            let [a, b] = Self::link(cell).map(|i| 2 * i);
            *out = (s.q[b] - s.q[a]) * (s.v[b] - s.v[a]) + (s.q[b + 1] - s.q[a + 1]) * (s.v[b + 1] - s.v[a + 1]);
        }
    }
    fn constraint_bias<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        for (cell, out) in out.iter_mut().enumerate() {
            let [a, b] = Self::link(cell).map(|i| 2 * i);
            *out = (s.v[b] - s.v[a]).square() + (s.v[b + 1] - s.v[a + 1]).square();
        }
    }
    fn jacobian<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut Rows<S>) {
        for cell in 0..self.cells {
            let [a, b] = Self::link(cell).map(|i| 2 * i);
            let d = [s.q[b] - s.q[a], s.q[b + 1] - s.q[a + 1]];
            out.block_mut(cell).copy_from_slice(&[-d[0], -d[1], d[0], d[1]]);
        }
    }
    fn magnitude(&self, _q: &[f64], out: &mut [f64]) {
        out.fill(1.0);
    }
}

impl Problem for Atoms {
    fn name(&self) -> &'static str {
        "atoms"
    }
    /// Stiff springs a little short, all cells moving.
    fn initial(&self) -> State<f64> {
        let mut s = State::zeros(self.shape());
        for i in 0..4 * self.cells {
            let ([x, y], cell) = (Self::site(i), (i / 4) as f64 + 1.0);
            let stretched = if i % 4 == 1 { 0.02 } else { 0.0 };
            s.q[2 * i..2 * i + 2].copy_from_slice(&[x, y + stretched]);
            let v = [[0.0, 0.3 * cell.sin()], [0.0, 0.2], [0.2 * cell.cos(), 0.0], [0.2 * cell.cos(), 0.3]][i % 4];
            s.v[2 * i..2 * i + 2].copy_from_slice(&v);
        }
        s
    }
    fn until(&self) -> f64 {
        2.0
    }
    fn exact(&self, _t: f64) -> Option<State<f64>> {
        None
    }
    /// Energy, two components of linear and one of angular momentum.
    fn invariants(&self, s: &State<f64>) -> Vec<f64> {
        let mut out = vec![0.0; 4];
        for i in 0..4 * self.cells {
            let (m, q, v) = (Self::mass_of(i), &s.q[2 * i..2 * i + 2], &s.v[2 * i..2 * i + 2]);
            out[0] += 0.5 * m * (v[0] * v[0] + v[1] * v[1]);
            out[1] += m * v[0];
            out[2] += m * v[1];
            out[3] += m * (q[0] * v[1] - q[1] * v[0]);
        }
        for (a, b, stiffness, rest) in self.near().chain(self.distant()).chain(self.stiff()) {
            let length = (s.q[2 * b] - s.q[2 * a]).hypot(s.q[2 * b + 1] - s.q[2 * a + 1]);
            out[0] += 0.5 * stiffness * (length - rest).powi(2);
        }
        out
    }
}
