//! Where everything sits in the vectors of the state: computed once when a model is built.

use super::{Attached, Entry, Marker};
use crate::bodies::{AnyBody, OwnStop};
use crate::constraints::AnyConstraint;
use crate::contacts::AnyContact;
use crate::forces::AnyForce;
use crate::joints::Coordinate;
use dalembert_methods::algebra::{Block, MassBlock};
use dalembert_methods::nonsmooth::Latch;
use dalembert_methods::system::{Coupling, Shape};
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// The layout of a model.
pub(crate) struct Layout {
    pub shape: Shape,
    /// Configuration coordinates of each body.
    pub q: Vec<Range<usize>>,
    /// Velocities of each body.
    pub v: Vec<Range<usize>>,
    /// Kinematic cache of each body.
    pub cache: Vec<Range<usize>>,
    /// Mass blocks of each body.
    pub mass: Vec<Range<usize>>,
    pub mass_blocks: Vec<MassBlock>,
    pub mass_is_constant: bool,
    /// For each marker on a body that is a point, its first coordinate and velocity.
    pub points: Vec<Option<[usize; 2]>>,
    /// For each body whether it is a single point, see [`crate::bodies::Body::point`].
    pub point: Vec<bool>,
    /// Whether all that can move are points, so that places and their changes add up number by number.
    pub flat: bool,
    /// Bodies that are points: where their coordinates, velocities and caches of both begin.
    pub plain_bodies: Vec<[usize; 3]>,
    /// All others that can move.
    pub other_bodies: Vec<usize>,
    /// The markers at work on points, with where coordinates and velocities begin.
    pub plain_markers: Vec<[usize; 3]>,
    /// All others at work.
    pub other_markers: Vec<usize>,
    /// What becomes of a wrench at each marker.
    pub takers: Vec<Taker>,
    /// The markers whose wrenches are gathered before bodies take them, in the order of the gathered ones.
    pub loaded: Vec<usize>,
    /// Extra states of each force.
    pub x: Vec<Range<usize>>,
    /// Rows of each constraint, among all rows (holonomic first).
    pub rows: Vec<Range<usize>>,
    /// For each constraint and marker, the number of its block in the Jacobian (none on a body that cannot move).
    pub blocks_of: Vec<Vec<Option<usize>>>,
    pub blocks: Vec<Block>,
    /// The first value of each of those blocks, among the values of all.
    pub block_starts: Vec<usize>,
    /// The first value of each block of the mass matrix, among the values of all.
    pub mass_starts: Vec<usize>,
    /// For each constraint whether it is between two markers and nothing else, not even time: then its gradients balance.
    pub mutual: Vec<bool>,
    pub coupling: Coupling,
    /// The contacts, one for each surface and point.
    pub pairs: Vec<Pair>,
    /// Dry friction of given size, of bodies on their own velocities and of forces, numbered as contacts after the pairs.
    pub brakes: Vec<Brake>,
    /// Gaps of bodies themselves, numbered as contacts after the brakes.
    pub stops: Vec<OwnGap>,
    pub contact_blocks: Vec<Block>,
    /// The largest number of markers of an element.
    pub most_markers: usize,
    /// The largest number of markers that the gradients of a constraint or contact depend on together.
    pub most_varied: usize,
    /// The largest number of jets that the acceleration of a marker on a body takes.
    pub most_jets: usize,
}

/// What becomes of a wrench at a marker.
#[derive(Copy, Clone)]
pub(crate) enum Taker {
    /// A point takes the force, from this velocity on.
    Point(usize),
    /// It is added to those of other elements at the marker, in this place.
    Gathered(usize),
    /// Its body cannot move.
    Nobody,
}

/// A surface and one point that may touch it.
pub(crate) struct Pair {
    /// The number of the element.
    pub element: usize,
    /// The markers of the surface and of the point.
    pub markers: [usize; 2],
    /// Its rows among those of all contacts: the gap, then the slips.
    pub rows: Range<usize>,
    /// The blocks of the two markers in the Jacobian of contacts (none on a body that cannot move).
    pub blocks: [Option<usize>; 2],
}

/// Dry friction of given size on one freedom.
pub(crate) struct Brake {
    pub on: Braked,
    /// What is resisted.
    pub of: Coordinate,
    /// The largest force, in N or N m.
    pub force: f64,
    /// Its rows among those of all contacts: one that is always zero, and the speed.
    pub rows: Range<usize>,
}

/// Where dry friction acts.
pub(crate) enum Braked {
    /// On a velocity of a body: the body, the number of the velocity in it and among all, the block in the Jacobian of contacts.
    Velocity { body: usize, own: usize, velocity: usize, block: usize },
    /// Between two frames: the number of the force, and the blocks of its markers in the Jacobian of contacts (none on a body that cannot move,
    /// the same one on the same body).
    Frames { force: usize, blocks: [Option<usize>; 2] },
}

/// A gap of a body itself.
pub(crate) struct OwnGap {
    /// The body, and the number of the gap in it.
    pub body: usize,
    pub number: usize,
    pub stop: OwnStop,
    /// Its latch, once the names of contacts are known.
    pub latch: Option<Latch>,
    /// Its row among those of all contacts, and its block in their Jacobian.
    pub row: usize,
    pub block: usize,
}

impl Layout {
    /// The rows of all contacts.
    pub fn contact_rows(&self) -> usize {
        let last = self.stops.last().map(|stop| stop.row + 1);
        let last = last.or(self.brakes.last().map(|brake| brake.rows.end));
        last.or(self.pairs.last().map(|pair| pair.rows.end)).unwrap_or(0)
    }

    pub fn new(
        bodies: &[Entry<Box<dyn AnyBody>>],
        markers: &[Marker],
        forces: &[Attached<Box<dyn AnyForce>>],
        constraints: &[Attached<Box<dyn AnyConstraint>>],
        contacts: &[Attached<Box<dyn AnyContact>>],
    ) -> Self {
        let q = pack(bodies.iter().map(|b| b.item.coordinates()));
        let v = pack(bodies.iter().map(|b| b.item.velocities()));
        let cache = pack(bodies.iter().map(|b| b.item.cache()));
        let mass = pack(bodies.iter().map(|b| b.item.mass_blocks().len()));
        let mass_blocks: Vec<MassBlock> = bodies.iter().flat_map(|b| b.item.mass_blocks()).collect();
        let x = pack(forces.iter().map(|f| f.item.states()));

        let count = |c: &Attached<Box<dyn AnyConstraint>>| c.item.rows().len();
        let holonomic: usize = constraints.iter().filter(|c| c.item.holonomic()).map(count).sum();
        let (mut g, mut a) = (0, holonomic);
        let rows: Vec<Range<usize>> = constraints
            .iter()
            .map(|c| {
                let next = if c.item.holonomic() { &mut g } else { &mut a };
                let start = *next;
                *next += count(c);
                start..*next
            })
            .collect();

        let mut blocks = Vec::new();
        let blocks_of = constraints
            .iter()
            .zip(&rows)
            .map(|(c, rows)| {
                let mut known = HashMap::new();
                c.markers
                    .iter()
                    .map(|&m| {
                        let columns = &v[markers[m].body];
                        if columns.is_empty() || rows.is_empty() {
                            return None;
                        }
                        let block =
                            Block { row: rows.start, rows: rows.len(), col: columns.start, cols: columns.len() };
                        Some(*known.entry(block.col).or_insert_with(|| {
                            blocks.push(block);
                            blocks.len() - 1
                        }))
                    })
                    .collect()
            })
            .collect();

        let attached = forces.iter().map(|f| &f.markers).chain(constraints.iter().map(|c| &c.markers));
        let clusters = constraints.iter().flat_map(|c| c.markers.chunks(c.item.cluster(c.markers.len()).max(1)));
        let together = forces.iter().map(|f| f.markers.as_slice()).chain(clusters);
        let coupling = couple(&v, together.map(|m| m.iter().map(|&m| markers[m].body)));
        let (pairs, mut contact_blocks) = pair_up(contacts, markers, &v);
        let row = pairs.last().map_or(0, |pair| pair.rows.end);
        let brakes = brakes(bodies, forces, markers, &v, row, &mut contact_blocks);
        let row = brakes.last().map_or(row, |brake| brake.rows.end);
        let stops = own_gaps(bodies, &v, row, &mut contact_blocks);
        let shape = Shape {
            q: total(&q),
            v: total(&v),
            x: total(&x),
            z: crate::equations::INTEGRALS,
            p: 0,
            g: holonomic,
            a: a - holonomic,
            gaps: pairs.len() + stops.len(),
        };
        let surfaces = contacts.iter().map(|c| &c.markers);
        let at_work: BTreeSet<usize> = attached.clone().chain(surfaces).flatten().copied().collect();
        let moving = |m: &usize| !v[markers[*m].body].is_empty();
        let pulled: BTreeSet<usize> = forces.iter().flat_map(|f| &f.markers).copied().collect();
        let mut loaded = Vec::new();
        let takers = markers
            .iter()
            .enumerate()
            .map(|(m, marker)| match bodies[marker.body].item.point() {
                _ if !moving(&m) => Taker::Nobody,
                true => Taker::Point(v[marker.body].start),
                false if !pulled.contains(&m) => Taker::Nobody,
                false => {
                    loaded.push(m);
                    Taker::Gathered(loaded.len() - 1)
                }
            })
            .collect();
        // Places that change and that equations of motion need, ascending.
        let at_work = at_work.into_iter().filter(moving);
        let is_plain = |i: usize| bodies[i].item.point() && (q[i].len(), v[i].len(), cache[i].len()) == (3, 3, 6);
        let (plain, other_markers): (Vec<usize>, Vec<usize>) = at_work.partition(|&m| is_plain(markers[m].body));
        let begin = |m: usize| [m, q[markers[m].body].start, v[markers[m].body].start];
        let plain_markers = plain.into_iter().map(begin).collect();
        let (plain_bodies, other_bodies): (Vec<usize>, Vec<usize>) =
            (0..bodies.len()).filter(|&i| !v[i].is_empty()).partition(|&i| is_plain(i));
        let jets = |b: &Entry<Box<dyn AnyBody>>| 2 * (b.item.coordinates() + b.item.velocities()) + b.item.cache();
        let point = |m: &Marker| bodies[m.body].item.point().then(|| [q[m.body].start, v[m.body].start]);
        Self {
            shape,
            takers,
            loaded,
            plain_markers,
            other_markers,
            points: markers.iter().map(point).collect(),
            point: bodies.iter().map(|body| body.item.point()).collect(),
            flat: bodies
                .iter()
                .all(|body| body.item.point() || body.item.velocities() == 0 && body.item.coordinates() == 0),
            plain_bodies: plain_bodies.into_iter().map(|i| [q[i].start, v[i].start, cache[i].start]).collect(),
            other_bodies,
            mutual: constraints.iter().map(|c| c.markers.len() == 2 && !c.item.rheonomic()).collect(),
            mass_starts: starts(mass_blocks.iter().map(MassBlock::values)),
            mass_blocks,
            mass_is_constant: bodies.iter().all(|b| b.item.mass_is_constant()),
            most_markers: attached.map(Vec::len).max().unwrap_or(0).max(2),
            most_varied: constraints.iter().map(|c| c.item.cluster(c.markers.len())).max().unwrap_or(0).max(2),
            most_jets: bodies.iter().map(jets).max().unwrap_or(0),
            q,
            v,
            cache,
            mass,
            x,
            rows,
            blocks_of,
            block_starts: starts(blocks.iter().map(|block| block.rows * block.cols)),
            blocks,
            coupling,
            pairs,
            brakes,
            stops,
            contact_blocks,
        }
    }
}

/// Every surface with each of its points, and the blocks of their rows.
fn pair_up(
    contacts: &[Attached<Box<dyn AnyContact>>],
    markers: &[Marker],
    v: &[Range<usize>],
) -> (Vec<Pair>, Vec<Block>) {
    let (mut pairs, mut blocks, mut row) = (Vec::new(), Vec::new(), 0);
    for (element, contact) in contacts.iter().enumerate() {
        let rows = 1 + contact.item.touch().friction.tangents();
        for &point in contact.markers.get(1..).unwrap_or_default() {
            let two = [contact.markers[0], point];
            let own = two.map(|m| {
                let columns = &v[markers[m].body];
                (!columns.is_empty()).then(|| {
                    blocks.push(Block { row, rows, col: columns.start, cols: columns.len() });
                    blocks.len() - 1
                })
            });
            pairs.push(Pair { element, markers: two, rows: row..row + rows, blocks: own });
            row += rows;
        }
    }
    (pairs, blocks)
}

/// The dry friction of all bodies and forces, with rows from `row` on.
fn brakes(
    bodies: &[Entry<Box<dyn AnyBody>>],
    forces: &[Attached<Box<dyn AnyForce>>],
    markers: &[Marker],
    v: &[Range<usize>],
    mut row: usize,
    blocks: &mut Vec<Block>,
) -> Vec<Brake> {
    let mut brakes = Vec::new();
    let mut keep = |on, of, force, row: &mut usize| {
        brakes.push(Brake { on, of, force, rows: *row..*row + 2 });
        *row += 2;
    };
    for (body, entry) in bodies.iter().enumerate() {
        for (own, of, force) in entry.item.dry_friction() {
            let velocity = v[body].start + own;
            blocks.push(Block { row, rows: 2, col: velocity, cols: 1 });
            keep(Braked::Velocity { body, own, velocity, block: blocks.len() - 1 }, of, force, &mut row);
        }
    }
    for (number, force) in forces.iter().enumerate() {
        let (Some(grip), &[first, second]) = (force.item.grip(), force.markers.as_slice()) else { continue };
        let mut block_of = |marker: usize| {
            let columns = &v[markers[marker].body];
            (!columns.is_empty()).then(|| {
                blocks.push(Block { row, rows: 2, col: columns.start, cols: columns.len() });
                blocks.len() - 1
            })
        };
        let one = block_of(first);
        let two = if markers[first].body == markers[second].body { one } else { block_of(second) };
        keep(Braked::Frames { force: number, blocks: [one, two] }, grip.of, grip.size, &mut row);
    }
    brakes
}

/// The gaps of all bodies themselves, with rows from `row` on.
fn own_gaps(
    bodies: &[Entry<Box<dyn AnyBody>>],
    v: &[Range<usize>],
    mut row: usize,
    blocks: &mut Vec<Block>,
) -> Vec<OwnGap> {
    let mut gaps = Vec::new();
    for (body, entry) in bodies.iter().enumerate() {
        for (number, stop) in entry.item.stops().into_iter().enumerate() {
            let Range { start, end } = stop.velocities;
            blocks.push(Block { row, rows: 1, col: v[body].start + start, cols: end - start });
            gaps.push(OwnGap { body, number, stop, latch: None, row, block: blocks.len() - 1 });
            row += 1;
        }
    }
    gaps
}

/// Consecutive ranges of the given lengths.
fn pack(lengths: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut next = 0;
    lengths
        .map(|n| {
            let start = next;
            next += n;
            start..next
        })
        .collect()
}

/// Where ranges of the given lengths start that follow each other, and where the last one ends.
fn starts(lengths: impl Iterator<Item = usize>) -> Vec<usize> {
    let ranges = pack(lengths);
    ranges.iter().map(|range| range.start).chain([total(&ranges)]).collect()
}

fn total(ranges: &[Range<usize>]) -> usize {
    ranges.last().map_or(0, |r| r.end)
}

/// Bodies that can move are the groups; those that share an element depend on each other.
fn couple<I: Iterator<Item = usize>>(v: &[Range<usize>], elements: impl Iterator<Item = I>) -> Coupling {
    let mut group_of = vec![None; v.len()];
    let mut groups = Vec::new();
    for (body, range) in v.iter().enumerate().filter(|(_, range)| !range.is_empty()) {
        group_of[body] = Some(groups.len());
        groups.push(range.clone());
    }
    let mut neighbours: Vec<BTreeSet<usize>> = (0..groups.len()).map(|i| BTreeSet::from([i])).collect();
    for element in elements {
        let together: BTreeSet<usize> = element.filter_map(|body| group_of[body]).collect();
        for &i in &together {
            neighbours[i].extend(&together);
        }
    }
    Coupling { groups, neighbours: neighbours.into_iter().map(|set| set.into_iter().collect()).collect() }
}
