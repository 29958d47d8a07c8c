//! The structure of a constraint solve: which rows meet which masses, and what a factorisation will cost.
//!
//! Blocks of rows are cut into pieces that lie over one mass and in one group of rows. Pieces of two groups over a common
//! mass make the groups neighbours in the Schur complement. The velocities of *hubs* stay unknowns (see `hubs.rs`) and make no
//! neighbours; without them the groups fall into parts that do not meet.
//!
//! **Choice.** A mass met by r rows makes a full block of r rows in the Schur complement, so r³/6 multiplications at least. Those met
//! by the most rows are tried as hubs, 1, 2, 4, … of them; they are chosen if they save half of the multiplications.

use super::cholesky::{Count, count};
use super::{Block, Mass, MassBlock, Rows};
use std::collections::BTreeSet;

/// Multiplications below which nothing but the Schur complement is considered.
const SMALL: u64 = 4000;

/// How a constraint solve is made. See [`super::Saddle::structure`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Structure {
    /// All velocities are eliminated; the multipliers are the unknowns of one positive semidefinite matrix.
    Schur,
    /// These velocities, ascending, stay unknowns beside the multipliers in one indefinite matrix.
    Hubs(Vec<usize>),
}

/// The part of a block of rows that lies over one mass and in one group of rows.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Piece {
    /// The run of `Rows`, and its first row and column used here.
    pub run: usize,
    pub run_row: usize,
    pub run_col: usize,
    /// The group of rows, the first row, the number of rows.
    pub group: usize,
    pub row: usize,
    pub rows: usize,
    /// First velocity, number of velocities.
    pub col: usize,
    pub cols: usize,
    /// The mass block, its first velocity.
    pub mass: usize,
    pub mass_col: usize,
    pub dense: bool,
    /// Whether its velocities stay unknowns.
    pub hub: bool,
    /// Where W = M⁻¹ Gᵀ is stored (by rows of G), the first velocity of it, and how many there are.
    pub start: usize,
    pub wide_col: usize,
    pub wide: usize,
}

/// Groups of rows that meet each other, but no others, where hubs are left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct Groups {
    /// The groups, ascending.
    pub groups: Vec<usize>,
    /// The number of rows.
    pub rows: usize,
    /// The velocities that are not hubs.
    pub velocities: usize,
    /// The hub velocities, as places in the list of all, ascending.
    pub hubs: Vec<usize>,
}

/// Pairs of pieces.
type Pairs = Vec<(usize, usize)>;

/// The pieces, groups and parts for given hubs.
pub(crate) struct Layout {
    /// The first row of each group, and the number of rows.
    pub cuts: Vec<usize>,
    pub pieces: Vec<Piece>,
    /// The pairs of pieces over common velocities that are not hubs, and those over hubs within a group.
    pub pairs: Pairs,
    pub own: Pairs,
    pub sizes: Vec<usize>,
    pub neighbours: Vec<BTreeSet<usize>>,
    /// The hub velocities, ascending.
    pub hubs: Vec<usize>,
}

impl Layout {
    /// The layout with the given velocities as hubs; of a dense mass block all are, if one is, of carriers none.
    pub fn new(mass: &Mass<f64>, rows: &Rows<f64>, hubs: &[usize]) -> Self {
        let mut hub = vec![false; mass.size()];
        for &velocity in hubs {
            hub[velocity] = true;
        }
        for (shape, start) in mass.blocks() {
            let own = &mut hub[start..start + shape.size()];
            match shape {
                MassBlock::Dense(_) if own.contains(&true) => own.fill(true),
                // Solves with carriers cost so little that they never stay unknowns.
                MassBlock::Carried(_) => own.fill(false),
                _ => {}
            }
        }
        let cuts = row_cuts(rows);
        let pieces = cut_pieces(mass, rows, &cuts, &hub);
        let (pairs, own) = meeting_pieces(&pieces);
        let sizes: Vec<usize> = cuts.windows(2).map(|c| c[1] - c[0]).collect();
        let mut neighbours = vec![BTreeSet::new(); sizes.len()];
        for &(p, q) in &pairs {
            neighbours[pieces[p].group].insert(pieces[q].group);
            neighbours[pieces[q].group].insert(pieces[p].group);
        }
        let hubs = (0..hub.len()).filter(|&velocity| hub[velocity]).collect();
        Self { cuts, pieces, pairs, own, sizes, neighbours, hubs }
    }

    /// Makes all rows one group.
    pub fn merge(&mut self, rows: usize) {
        self.cuts = vec![0, rows];
        self.sizes = vec![rows];
        self.neighbours = vec![BTreeSet::new()];
        self.pieces.iter_mut().for_each(|piece| piece.group = 0);
    }

    /// The place of a hub velocity in the list of all.
    pub fn place(&self, velocity: usize) -> usize {
        self.hubs.partition_point(|&hub| hub < velocity)
    }

    /// The parts, and the part of each group.
    pub fn parts(&self) -> (Vec<Groups>, Vec<usize>) {
        let mut part_of = vec![usize::MAX; self.sizes.len()];
        let mut parts: Vec<Groups> = Vec::new();
        for first in 0..self.sizes.len() {
            if part_of[first] != usize::MAX {
                continue;
            }
            let (mut part, mut open) = (Groups::default(), vec![first]);
            part_of[first] = parts.len();
            while let Some(group) = open.pop() {
                part.groups.push(group);
                part.rows += self.sizes[group];
                for &other in &self.neighbours[group] {
                    if part_of[other] == usize::MAX {
                        part_of[other] = parts.len();
                        open.push(other);
                    }
                }
            }
            part.groups.sort_unstable();
            parts.push(part);
        }
        let mut met = BTreeSet::new();
        for piece in &self.pieces {
            let part = part_of[piece.group];
            met.extend((piece.wide_col..piece.wide_col + piece.wide).map(|velocity| (part, velocity, piece.hub)));
        }
        for (part, velocity, hub) in met {
            if hub {
                parts[part].hubs.push(self.place(velocity));
            } else {
                parts[part].velocities += 1;
            }
        }
        (parts, part_of)
    }

    /// Multiplications of one factorisation with hubs, assembly left out; and the rows that must be delayed, as parts have more
    /// rows than velocities.
    pub fn hub_work(&self) -> (u64, usize) {
        let Count { work: mut total, entries } = count(&self.sizes, &self.neighbours);
        let all = self.hubs.len() as u64;
        let mut delayed = 0;
        for part in self.parts().0 {
            let (rows, hubs) = (part.rows as u64, part.hubs.len() as u64);
            let column: u64 = part.groups.iter().map(|&group| entries[group]).sum();
            let late = part.rows.saturating_sub(part.velocities) as u64;
            // Columns of the hubs and their products; the same for rows that must wait.
            total += hubs * column + rows * hubs * (hubs + 1) / 2;
            total += late * (column + rows * hubs + all * all / 2 + late * rows / 2);
            delayed += late;
        }
        total += all.pow(3) / 6 + delayed * (delayed + 1) / 2 * all + delayed.pow(3) / 6;
        (total, delayed as usize)
    }
}

/// Multiplications for one full matrix of m rows.
pub(crate) fn full_work(m: usize) -> u64 {
    (m as u64).pow(3) / 6 + m as u64
}

/// The structure that needs clearly fewer multiplications.
pub(crate) fn choose(mass: &Mass<f64>, rows: &Rows<f64>) -> Structure {
    let m = rows.rows();
    if full_work(m) <= SMALL {
        return Structure::Schur;
    }
    let met = rows_met(mass, rows);
    let largest = met.iter().copied().max().unwrap_or(0);
    let mut best: Option<(u64, Vec<usize>)> = None;
    let mut candidates: Vec<(u64, Vec<usize>)> = Vec::new();
    for level in levels(mass, &met) {
        let hubs: Vec<usize> = (0..met.len()).filter(|&velocity| met[velocity] >= level).collect();
        let rest = met.iter().copied().filter(|&rows| rows < level).max().unwrap_or(0);
        candidates.push((full_work(hubs.len()) + full_work(rest), hubs));
    }
    candidates.sort();
    for (least, hubs) in candidates {
        let bound = best.as_ref().map_or(full_work(m) / 2, |&(work, _)| work);
        if least < bound {
            let (work, _) = Layout::new(mass, rows, &hubs).hub_work();
            if work < bound {
                best = Some((work, hubs));
            }
        }
    }
    match best {
        Some((work, hubs)) if 2 * work < full_work(largest) || 2 * work < schur_work(mass, rows) => {
            Structure::Hubs(hubs)
        }
        _ => Structure::Schur,
    }
}

/// Multiplications without hubs.
fn schur_work(mass: &Mass<f64>, rows: &Rows<f64>) -> u64 {
    let layout = Layout::new(mass, rows, &[]);
    full_work(rows.rows()).min(count(&layout.sizes, &layout.neighbours).work)
}

/// For each velocity the number of rows that meet its mass.
pub(crate) fn rows_met(mass: &Mass<f64>, rows: &Rows<f64>) -> Vec<usize> {
    let mut met = vec![0; mass.size()];
    let mut last = vec![usize::MAX; mass.size()];
    let mut pieces = cut_pieces(mass, rows, &row_cuts(rows), &vec![false; mass.size()]);
    pieces.sort_by_key(|piece| piece.group);
    for piece in &pieces {
        for velocity in piece.wide_col..piece.wide_col + piece.wide {
            if last[velocity] != piece.group {
                last[velocity] = piece.group;
                met[velocity] += piece.rows;
            }
        }
    }
    met
}

/// The numbers of rows met by the first, second, fourth, … of the masses that are met by the most.
fn levels(mass: &Mass<f64>, met: &[usize]) -> BTreeSet<usize> {
    let mut units: Vec<usize> = mass
        .blocks()
        .flat_map(|(shape, start)| match shape {
            MassBlock::Diagonal(n) => met[start..start + n].to_vec(),
            MassBlock::Dense(0) | MassBlock::Carried(_) => Vec::new(),
            MassBlock::Dense(_) => vec![met[start]],
        })
        .collect();
    units.sort_unstable_by(|a, b| b.cmp(a));
    let places = std::iter::successors(Some(1usize), |place| place.checked_mul(2));
    places.map_while(|place| units.get(place - 1).copied()).filter(|&rows| rows > 0).collect()
}

/// The rows at which some block begins or ends.
fn row_cuts(rows: &Rows<f64>) -> Vec<usize> {
    let mut cuts = Vec::with_capacity(2 + 2 * rows.blocks().len());
    cuts.extend([0, rows.rows()]);
    for block in rows.blocks() {
        cuts.extend([block.row, block.row + block.rows]);
    }
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// Neighbouring velocities of one mass block, or of several diagonal ones, all of them hubs or none.
struct Span {
    mass: usize,
    mass_col: usize,
    start: usize,
    end: usize,
    dense: bool,
    hub: bool,
}

fn spans(mass: &Mass<f64>, hub: &[bool]) -> Vec<Span> {
    let mut spans = Vec::new();
    for (index, (shape, first)) in mass.blocks().enumerate() {
        let dense = !matches!(shape, MassBlock::Diagonal(_));
        for same in hub[first..first + shape.size()].chunk_by(|a, b| a == b) {
            let start = spans.last().map_or(0, |span: &Span| span.end);
            match spans.last_mut() {
                Some(last) if !last.dense && !dense && last.hub == same[0] => last.end += same.len(),
                _ => {
                    let end = start + same.len();
                    spans.push(Span { mass: index, mass_col: first, start, end, dense, hub: same[0] });
                }
            }
        }
    }
    spans
}

/// Cuts blocks of rows by groups of rows and by masses.
fn cut_pieces(mass: &Mass<f64>, rows: &Rows<f64>, cuts: &[usize], hub: &[bool]) -> Vec<Piece> {
    let spans = spans(mass, hub);
    let (mut pieces, mut total) = (Vec::new(), 0);
    for (index, Block { row, rows: count, col, cols }) in rows.runs().enumerate() {
        let first_group = cuts.partition_point(|&cut| cut < row);
        let first_span = spans.partition_point(|span| span.end <= col);
        for (group, cut) in cuts.windows(2).enumerate().skip(first_group).take_while(|(_, c)| c[0] < row + count) {
            for span in spans[first_span..].iter().take_while(|span| span.start < col + cols) {
                let (low, high) = (col.max(span.start), (col + cols).min(span.end));
                let (wide_col, wide) = if span.dense { (span.start, span.end - span.start) } else { (low, high - low) };
                pieces.push(Piece {
                    run: index,
                    run_row: cut[0] - row,
                    run_col: low - col,
                    group,
                    row: cut[0],
                    rows: cut[1] - cut[0],
                    col: low,
                    cols: high - low,
                    mass: span.mass,
                    mass_col: span.mass_col,
                    dense: span.dense,
                    hub: span.hub,
                    start: total,
                    wide_col,
                    wide,
                });
                total += (cut[1] - cut[0]) * wide;
            }
        }
    }
    pieces
}

/// The unordered pairs of pieces whose product is not zero by structure: those that meet over velocities which are not hubs, and those
/// over hubs within a group.
fn meeting_pieces(pieces: &[Piece]) -> (Pairs, Pairs) {
    // Over hubs only pieces of the same group count; elsewhere the key says nothing of the group.
    let key = |piece: &Piece| if piece.hub { piece.group + 1 } else { 0 };
    let columns = |piece: &Piece| piece.wide_col..piece.wide_col + piece.wide;
    let over = pieces.iter().enumerate().flat_map(|(p, piece)| columns(piece).map(move |col| (key(piece), col, p)));
    let mut over: Vec<(usize, usize, usize)> = over.collect();
    over.sort_unstable();
    let (mut pairs, mut own) = (Pairs::new(), Pairs::new());
    let mut before: &[(usize, usize, usize)] = &[];
    for same in over.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        // Neighbouring columns are mostly met by the same pieces.
        let again = same.iter().map(|&(key, _, p)| (key, p)).eq(before.iter().map(|&(key, _, p)| (key, p)));
        before = same;
        if again {
            continue;
        }
        let into = if same[0].0 > 0 { &mut own } else { &mut pairs };
        for (k, &(.., p)) in same.iter().enumerate() {
            into.extend(same[..=k].iter().map(|&(.., q)| (q, p)));
        }
    }
    for list in [&mut pairs, &mut own] {
        list.sort_unstable();
        list.dedup();
    }
    (pairs, own)
}
