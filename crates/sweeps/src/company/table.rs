//! Where rows that ask the same in the same modes wait for each other, and are answered four at a time.

use super::look::Look;
use super::loom::{LANES, Loom};
use super::stages::Room;
use super::{Question, THIN};
use dalembert::model::Model;
use dalembert_graph::touching::{Ask, Functions, Unrecorded};
use dalembert_methods::integrate::{Stages, Ways};
use dalembert_methods::nonsmooth::{Hybrid, Mode};
use dalembert_methods::system::System;
use dalembert_methods::{Lanes, Real};
use std::cell::{Cell, RefCell, RefMut};
use std::rc::Rc;

/// A row, and what it asks and gets.
#[derive(Default)]
pub(super) struct Ticket {
    pub row: u64,
    /// Whether it waits for an answer.
    pub waits: Rc<Cell<bool>>,
    pub paper: RefCell<Paper>,
}

#[derive(Default)]
pub(super) struct Paper {
    /// A state and what contacts are led by.
    pub question: Vec<f64>,
    /// Where stages of a step are asked for, which, and the rates of those before them.
    pub stages: Option<Stages>,
    pub slopes: Vec<f64>,
    /// Where states near the one of the question are asked for, how to get there.
    pub ways: Ways,
    pub answer: Vec<f64>,
    /// Whether all numbers are finite and no pivot is thin.
    pub sound: bool,
    /// How many corrections were made at each state.
    pub corrections: Vec<u32>,
}

/// What a question needs to have in common with others for one answer.
pub(super) type Sort = [usize; 2];

/// Who waits at a table.
#[derive(Clone)]
pub(super) struct Guest {
    pub ticket: Rc<Ticket>,
    /// The constants of the row that are used here, by looms.
    pub constants: Rc<[Rc<[f64]>]>,
}

/// Where rows of one kind in one set of modes ask one thing.
pub(super) struct Table {
    kind: Rc<Functions>,
    modes: Vec<u8>,
    asks: Question,
    work: Work,
    /// Who sits in the lanes.
    owners: [u64; LANES],
    /// Those who wait, by what they wait for.
    queues: Vec<(Sort, Vec<Guest>)>,
}

/// How questions are answered.
enum Work {
    /// By one run, and how many of its outputs are no pivots.
    Once(Loom, usize),
    Stages(Loom, Room),
    Look(Box<Look>),
}

/// The modes of contacts without directions.
fn key(modes: &[Mode]) -> impl Iterator<Item = u8> {
    modes.iter().map(|mode| match mode {
        Mode::Open => 0,
        Mode::Slide { .. } => 1,
        Mode::Stick => 2,
    })
}

impl Table {
    /// A table for a question of a system in its modes.
    pub fn new(kind: &Rc<Functions>, y: &Hybrid<'_, Model>, asks: Question) -> Result<Self, Unrecorded> {
        let (shape, modes, own) = (y.shape(), y.modes(), kind.program.constants.len());
        let loom = |ask| Ok(Loom::new(own, &kind.answer(modes, ask)?));
        let seen = modes.len() + 2 * y.start(modes.len());
        let work = match asks {
            Question::Motion => Work::Once(loom(Ask::Motion)?, shape.v + shape.x + shape.z),
            Question::Sight => Work::Once(loom(Ask::Sight)?, seen),
            Question::Correct => Work::Once(loom(Ask::Correct)?, 2 * shape.v),
            Question::Stages => Work::Stages(loom(Ask::Stage)?, Room::new(shape)),
            Question::Look => {
                let correct = if shape.rows() > 0 { Some(loom(Ask::Correct)?) } else { None };
                let sight = if modes.is_empty() { None } else { Some(loom(Ask::Sight)?) };
                Work::Look(Box::new(Look::new(shape, Loom::new(own, &kind.mover()?), correct, sight, seen)))
            }
        };
        Ok(Self { kind: kind.clone(), modes: key(modes).collect(), asks, work, owners: [0; LANES], queues: Vec::new() })
    }

    /// Whether it is the one for a question.
    pub fn is_for(&self, kind: &Rc<Functions>, modes: &[Mode], asks: Question) -> bool {
        self.asks == asks && Rc::ptr_eq(&self.kind, kind) && key(modes).eq(self.modes.iter().copied())
    }

    /// What is used here of a row with these constants.
    pub fn constants(&mut self, own: &[f64]) -> Rc<[Rc<[f64]>]> {
        self.work.looms().into_iter().map(|loom| loom.constants(own)).collect()
    }

    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.queues.iter().map(|(_, queue)| queue.len()).sum()
    }

    pub fn queue(&mut self, sort: Sort, guest: Guest) {
        match self.queues.iter_mut().find(|(known, _)| *known == sort) {
            Some((_, queue)) => queue.push(guest),
            None => self.queues.push((sort, vec![guest])),
        }
    }

    /// How many wait for what most wait for.
    pub fn party(&self) -> usize {
        self.queues.iter().map(|(_, queue)| queue.len()).max().unwrap_or(0)
    }

    /// Serves as long as lanes are full, and says whether they were.
    pub fn serve_full(&mut self) -> bool {
        let full = self.party() >= LANES;
        while self.party() >= LANES {
            self.serve();
        }
        full
    }

    /// Serves up to four that wait for the same.
    pub fn serve(&mut self) {
        let lanes = self.seat();
        match &mut self.work {
            Work::Once(loom, known) => once(loom, *known, &lanes),
            Work::Stages(loom, room) => room.serve(loom, &lanes),
            Work::Look(look) => look.serve(&lanes),
        }
        lanes.iter().flatten().for_each(|ticket| ticket.waits.set(false));
    }

    /// Gives lanes to those who wait for what most do, first to those who sit in one: they keep it, and their constants in it.
    fn seat(&mut self) -> [Option<Rc<Ticket>>; LANES] {
        let mut lanes = [const { None }; LANES];
        let mut others = [const { None }; LANES];
        let Some((_, queue)) = self.queues.iter_mut().max_by_key(|(_, queue)| queue.len()) else { return lanes };
        let mut count = 0;
        for sits in [true, false] {
            let mut at = 0;
            while at < queue.len() && count < LANES {
                let lane = self.owners.iter().position(|&owner| owner == queue[at].ticket.row);
                if lane.is_some() != sits {
                    at += 1;
                    continue;
                }
                let guest = queue.remove(at);
                match lane {
                    Some(lane) => lanes[lane] = Some(guest.ticket),
                    None => others[count] = Some(guest),
                }
                count += 1;
            }
        }
        for Guest { ticket, constants } in others.into_iter().flatten() {
            let free = (0..LANES).filter(|&lane| lanes[lane].is_none());
            // Where nobody has sat, before a place is taken from somebody who may come back.
            let Some(lane) = free.min_by_key(|&lane| self.owners[lane]) else { continue };
            self.work.looms().into_iter().zip(&*constants).for_each(|(loom, own)| loom.seat(lane, own));
            self.owners[lane] = ticket.row;
            lanes[lane] = Some(ticket);
        }
        lanes
    }

    /// The answer for one row, at once, where one run gives it.
    pub fn ask_alone(&mut self, constants: &[Rc<[f64]>], question: &[f64]) -> Vec<f64> {
        match &mut self.work {
            Work::Once(loom, _) => loom.run_alone(&constants[0], question),
            _ => Vec::new(),
        }
    }
}

impl Work {
    fn looms(&mut self) -> Vec<&mut Loom> {
        match self {
            Self::Once(loom, _) | Self::Stages(loom, _) => vec![loom],
            Self::Look(look) => look.looms(),
        }
    }
}

/// Answers a question by one run.
fn once(loom: &mut Loom, known: usize, lanes: &[Option<Rc<Ticket>>; LANES]) {
    let mut papers = papers(lanes);
    put(each(&papers, |paper| &paper.question), &mut loom.input);
    loom.run(lanes.each_ref().map(Option::is_some));
    let (answer, pivots) = loom.output.split_at(known);
    let (sound, finite) = (thick(pivots), finite(answer));
    for (lane, paper) in papers.iter_mut().enumerate() {
        let Some(paper) = paper else { continue };
        paper.answer.resize(known, 0.0);
        paper.sound = sound[lane] && finite[lane];
    }
    take(answer, each_mut(&mut papers, |paper| &mut paper.answer));
}

/// What those in the lanes ask and get.
pub(super) type Papers<'a> = [Option<RefMut<'a, Paper>>; LANES];

/// Those of the rows in the lanes.
pub(super) fn papers(lanes: &[Option<Rc<Ticket>>; LANES]) -> Papers<'_> {
    lanes.each_ref().map(|ticket| ticket.as_ref().map(|ticket| ticket.paper.borrow_mut()))
}

/// Some numbers of each.
pub(super) fn each<'a>(papers: &'a Papers<'_>, of: impl Fn(&'a Paper) -> &'a [f64]) -> [Option<&'a [f64]>; LANES] {
    papers.each_ref().map(|paper| paper.as_ref().map(|paper| of(paper)))
}

/// The same to be written.
pub(super) fn each_mut<'a>(
    papers: &'a mut Papers<'_>,
    of: impl Fn(&'a mut Paper) -> &'a mut [f64],
) -> [Option<&'a mut [f64]>; LANES] {
    papers.each_mut().map(|paper| paper.as_mut().map(|paper| of(paper)))
}

/// Puts the numbers of rows into their lanes.
pub(super) fn put(rows: [Option<&[f64]>; LANES], to: &mut [Lanes<LANES>]) {
    if let [Some(a), Some(b), Some(c), Some(d)] = rows {
        let numbers = a.iter().zip(b).zip(c).zip(d);
        to.iter_mut().zip(numbers).for_each(|(four, (((&a, &b), &c), &d))| four.0 = [a, b, c, d]);
        return;
    }
    for (lane, row) in rows.iter().enumerate() {
        let numbers = row.iter().copied().flatten();
        to.iter_mut().zip(numbers).for_each(|(four, &value)| four.0[lane] = value);
    }
}

/// Takes the numbers of rows out of their lanes.
pub(super) fn take(from: &[Lanes<LANES>], mut rows: [Option<&mut [f64]>; LANES]) {
    if let [Some(a), Some(b), Some(c), Some(d)] = &mut rows {
        let numbers = a.iter_mut().zip(b.iter_mut()).zip(c.iter_mut()).zip(d.iter_mut());
        from.iter().zip(numbers).for_each(|(four, (((a, b), c), d))| [*a, *b, *c, *d] = four.0);
        return;
    }
    for (lane, row) in rows.into_iter().enumerate() {
        let numbers = row.into_iter().flatten();
        numbers.zip(from).for_each(|(to, four)| *to = four.0[lane]);
    }
}

/// In which lanes no pivot is thin.
pub(super) fn thick(pivots: &[Lanes<LANES>]) -> [bool; LANES] {
    let mut thick = [true; LANES];
    for pivot in pivots {
        (0..LANES).for_each(|lane| thick[lane] &= pivot.0[lane] >= THIN);
    }
    thick
}

/// In which lanes all numbers are finite: of others zero times them is no number.
pub(super) fn finite(numbers: &[Lanes<LANES>]) -> [bool; LANES] {
    let mut none = Lanes::zero();
    numbers.iter().for_each(|&four| none += four * 0.0);
    none.0.map(|none| none == 0.0)
}
