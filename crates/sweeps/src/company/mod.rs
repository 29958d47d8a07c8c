//! Rows side by side. Rows whose equations have the same instructions and other constants hand in their states, and four are computed at once, in the
//! lanes of one number.
//!
//! Each row is a run of its own, with its own time, steps, modes of contacts, events, outputs and end ([`dalembert_methods::integrate::Beside`]); computed together are stages of steps,
//! states inside them with their contacts, and corrections towards the constraints ([`dalembert_graph::touching`]). Rows that ask the same in the same modes queue at one table; a table
//! serves four of them at once. Lanes do not mix: what a row gets depends on its own state and constants, not on who sits beside it. So the rows are the same bits in any order and division.
//!
//! A row sits alone, and is computed as by `run`, where its equations cannot be recorded, do not agree with the instructions where a part of its run begins, or have constraints that
//! depend on each other. Where pivots get thin or numbers are not finite on the way, the solver that finds ranks takes over, and gives the error if there is one.

mod look;
mod loom;
mod stages;
mod table;

use dalembert::model::Model;
use dalembert_graph::touching::{Functions, LEAD, Unrecorded};
use dalembert_methods::dynamics::Rates;
use dalembert_methods::events::Sight;
use dalembert_methods::integrate::{Company, Glance, Stages, Ways};
use dalembert_methods::nonsmooth::{Contacts, Hybrid, Mode};
use dalembert_methods::system::{Shape, State, System};
use std::cell::{Cell, Ref, RefCell};
use std::fmt;
use std::future::poll_fn;
use std::ops::Range;
use std::rc::Rc;
use std::task::Poll;
use table::{Guest, Paper, Sort, Table, Ticket};

/// Pivots below this, in units of their diagonal, are left to the solver that finds ranks: rows that are closer than an angle of 1e-3.
const THIN: f64 = 1e-6;
/// How closely instructions and equations must agree where a part of a row begins, relative to the largest of the rates (and to one SI unit): solves lose no more
/// than 1/[`THIN`] of the sixteen digits, another equation agrees in none.
const AGREE: f64 = 1e-8;
/// Kinds of equations, and tables, that are kept in mind.
const KINDS: usize = 32;
const TABLES: usize = 1024;

/// What a row asks for.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
enum Question {
    /// Accelerations and rates at a state.
    Motion,
    /// Contacts at a state.
    Sight,
    /// Corrections of a state towards the constraints.
    Correct,
    /// Stages of a step.
    Stages,
    /// States inside a step, and their contacts.
    Look,
}

impl Question {
    const ALL: [Self; 5] = [Self::Motion, Self::Sight, Self::Correct, Self::Stages, Self::Look];
}

/// Where rows meet: all those of one thread.
#[derive(Clone, Default)]
pub(crate) struct Hall(Rc<RefCell<Rooms>>);

#[derive(Default)]
struct Rooms {
    kinds: Vec<Rc<Functions>>,
    tables: Vec<Rc<RefCell<Table>>>,
    /// Tables at which somebody waits.
    busy: Vec<Rc<RefCell<Table>>>,
    rows: u64,
}

impl Hall {
    /// A seat for a row, which takes its place when its run begins. What becomes of it is noted.
    pub fn seat(&self, noted: &Noted) -> Seat {
        let mut rooms = self.0.borrow_mut();
        rooms.rows += 1;
        let ticket = Rc::new(Ticket { row: rooms.rows, waits: noted.waits.clone(), paper: RefCell::default() });
        Seat { hall: self.clone(), ticket, own: None, known: Vec::new(), place: None, seated: noted.seated.clone() }
    }

    /// Lets somebody wait at a table.
    fn queue(&self, chair: &Chair, sort: Sort) {
        let mut table = chair.table.borrow_mut();
        if table.waiting() == 0 {
            self.0.borrow_mut().busy.push(chair.table.clone());
        }
        table.queue(sort, chair.guest.clone());
    }

    /// Computes what was asked for: at all tables where four wait for the same, or if there is none at the one where most do.
    pub fn serve(&self) {
        let busy = &mut self.0.borrow_mut().busy;
        let mut served = false;
        for table in &*busy {
            served |= table.borrow_mut().serve_full();
        }
        if !served && let Some(table) = busy.iter().max_by_key(|table| table.borrow().party()) {
            table.borrow_mut().serve();
        }
        busy.retain(|table| table.borrow().waiting() > 0);
    }

    /// The kind of a row, one that is known or a new one, and its constants.
    fn kind(&self, model: &Model) -> Result<(Rc<Functions>, Vec<f64>), Unrecorded> {
        let mut rooms = self.0.borrow_mut();
        let known = rooms.kinds.iter().find_map(|kind| Some((kind.clone(), kind.constants_of(model)?)));
        if let Some(known) = known {
            return Ok(known);
        }
        let kind = Rc::new(Functions::of(model)?);
        if rooms.kinds.len() >= KINDS {
            rooms.kinds.clear();
            rooms.tables.retain(|table| Rc::strong_count(table) > 1);
        }
        rooms.kinds.push(kind.clone());
        let constants = kind.program.constants.clone();
        Ok((kind, constants))
    }

    /// The table of a question.
    fn table(
        &self,
        kind: &Rc<Functions>,
        y: &Hybrid<'_, Model>,
        asks: Question,
    ) -> Result<Rc<RefCell<Table>>, Unrecorded> {
        let (mut rooms, modes) = (self.0.borrow_mut(), y.modes());
        if let Some(known) = rooms.tables.iter().find(|table| table.borrow().is_for(kind, modes, asks)) {
            return Ok(known.clone());
        }
        if rooms.tables.len() >= TABLES {
            rooms.tables.retain(|table| Rc::strong_count(table) > 1);
        }
        let table = Rc::new(RefCell::new(Table::new(kind, y, asks)?));
        rooms.tables.push(table.clone());
        Ok(table)
    }
}

/// Whether the rates are the same, kind by kind.
fn agrees(shape: Shape, found: &[f64], known: &[f64]) -> bool {
    let kinds = [0..shape.v, shape.v..shape.v + shape.x, shape.v + shape.x..shape.v + shape.x + shape.z];
    kinds.into_iter().all(|kind| {
        let (found, known) = (&found[kind.clone()], &known[kind]);
        let size = known.iter().fold(1.0f64, |size, rate| size.max(rate.abs()));
        found.iter().zip(known).all(|(found, known)| (found - known).abs() <= AGREE * size)
    })
}

/// Why a row, or a part of it, was computed by itself.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Alone {
    /// Its integrator is of another kind.
    Integrator,
    /// Its equations cannot be recorded.
    Unrecorded(Unrecorded),
    /// Its constraints, or what closed contacts add to them, depend on each other, or a number is not finite.
    Dependent,
    /// What was recorded does not agree with the equations.
    Differs,
}

impl fmt::Display for Alone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integrator => f.write_str("the integrator is none of rk4, dopri5 and dop853"),
            Self::Unrecorded(why) => why.fmt(f),
            Self::Dependent => f.write_str("constraints or closed contacts depend on each other"),
            Self::Differs => f.write_str("the recorded equations do not agree with the scene; please report it"),
        }
    }
}

/// What became of a row among others.
#[derive(Copy, Clone, Debug, Default)]
pub(crate) struct Seated {
    /// Whether some part of it was computed beside others.
    pub beside: bool,
    /// Why some part was not.
    pub alone: Option<Alone>,
}

/// What is noted of a row while it is in work.
#[derive(Clone, Default)]
pub(crate) struct Noted {
    /// What became of it among others.
    pub seated: Rc<Cell<Seated>>,
    /// Whether it waits for an answer: until then there is nothing to do.
    pub waits: Rc<Cell<bool>>,
}

/// The place of a row among others, in one set of modes.
struct Place {
    /// Tables, and the row as it waits at each; for stages and looks only where there are instructions for them.
    chairs: [Option<Chair>; 5],
    shape: Shape,
    /// Directions of sliding and what leads back to them.
    leads: Vec<f64>,
    /// The first rows of contacts with a press of their own, and that press.
    presses: Vec<(usize, f64)>,
    contacts: usize,
    rows: usize,
}

/// A table, and a row as it waits there.
struct Chair {
    table: Rc<RefCell<Table>>,
    guest: Guest,
}

/// A table, and what is used there of the constants of a row.
type Known = (Rc<RefCell<Table>>, Rc<[Rc<[f64]>]>);

/// What is known of a row.
struct Own {
    kind: Rc<Functions>,
    constants: Vec<f64>,
    /// Whether its states move as those of the kind do.
    moves: bool,
}

/// What a row brings to its run.
pub(crate) struct Seat {
    hall: Hall,
    /// The kind of the row and its constants, or none if it cannot be recorded, once it is known.
    own: Option<Option<Own>>,
    ticket: Rc<Ticket>,
    /// Tables at which the row has been, and its constants there.
    known: Vec<Known>,
    place: Option<Place>,
    seated: Rc<Cell<Seated>>,
}

impl Seat {
    /// The place of a row that goes on in the modes of `y`, if instructions agree there with its rates.
    fn take(&mut self, y: &Hybrid<'_, Model>, s: &State<f64>, rates: &[f64]) -> Result<Place, Option<Alone>> {
        if self.own.is_none() {
            self.own = Some(None);
            let (kind, constants) = self.hall.kind(y.model()).map_err(|why| Some(Alone::Unrecorded(why)))?;
            let moves = kind.moves(y.model());
            self.own = Some(Some(Own { kind, constants, moves }));
        }
        let Some(Some(Own { kind, constants, moves })) = &self.own else { return Err(None) };
        let (ticket, known) = (&self.ticket, &mut self.known);
        let mut chair = |asks| {
            let table = self.hall.table(kind, y, asks).map_err(|why| Some(Alone::Unrecorded(why)))?;
            let found = known.iter().find(|(known, _)| Rc::ptr_eq(known, &table)).map(|(_, own)| own.clone());
            let constants = found.unwrap_or_else(|| {
                let own = table.borrow_mut().constants(constants);
                known.push((table.clone(), own.clone()));
                own
            });
            Ok::<_, Option<Alone>>(Chair { table, guest: Guest { ticket: ticket.clone(), constants } })
        };
        let mut chairs = [const { None }; 5];
        for (chair_of, asks) in chairs.iter_mut().zip(Question::ALL) {
            let free = !matches!(asks, Question::Stages | Question::Look) || *moves;
            *chair_of = if free { Some(chair(asks)?) } else { None };
        }
        let (shape, count) = (y.shape(), y.modes().len());
        let lead = |(mode, &creep): (&Mode, &f64)| match mode {
            Mode::Slide { direction: [first, second] } => [*first, *second, creep],
            _ => [1.0, 0.0, creep],
        };
        let leads: Vec<[f64; LEAD]> = y.modes().iter().zip(y.creep()).map(lead).collect();
        let presses = (0..count).filter_map(|i| Some((y.start(i), y.model().own_press(i)?))).collect();
        let place = Place { chairs, shape, leads: leads.concat(), presses, contacts: count, rows: y.start(count) };
        let Some(Chair { table, guest }) = &place.chairs[Question::Motion as usize] else { return Err(None) };
        let mut asked = Vec::new();
        question(s, &place.leads, &mut asked);
        let answer = table.borrow_mut().ask_alone(&guest.constants, &asked);
        let (found, pivots) = answer.split_at(shape.v + shape.x + shape.z);
        if found.iter().any(|rate| !rate.is_finite()) || pivots.iter().any(|&pivot| pivot < THIN || pivot.is_nan()) {
            return Err(Some(Alone::Dependent));
        }
        if !agrees(shape, found, rates) {
            return Err(Some(Alone::Differs));
        }
        Ok(place)
    }

    /// Asks for something; nothing if there is no place to ask at, or the answer is not sound. What `more` writes down besides the state is of a sort: only questions of one sort
    /// are answered together.
    async fn ask(
        &self,
        asks: Question,
        s: &State<f64>,
        more: impl FnOnce(&mut Paper) -> Sort,
    ) -> Option<(&Place, Ref<'_, Paper>)> {
        let (place, ticket) = (self.place.as_ref()?, &self.ticket);
        let chair = place.chairs[asks as usize].as_ref()?;
        let sort = {
            let paper = &mut *ticket.paper.borrow_mut();
            question(s, &place.leads, &mut paper.question);
            more(paper)
        };
        ticket.waits.set(true);
        self.hall.queue(chair, sort);
        poll_fn(|_| if ticket.waits.get() { Poll::Pending } else { Poll::Ready(()) }).await;
        let paper = ticket.paper.borrow();
        paper.sound.then_some((place, paper))
    }
}

impl Place {
    /// Writes down contacts from their numbers.
    fn sight(&self, numbers: &[f64], out: &mut Sight) {
        let (gap, rest) = numbers.split_at(self.contacts);
        let (rate, force) = rest.split_at(self.rows);
        for (to, from) in [(&mut out.gap, gap), (&mut out.rate, rate), (&mut out.force, force)] {
            to.clear();
            to.extend_from_slice(from);
        }
        self.presses.iter().for_each(|&(row, press)| out.force[row] = press);
    }
}

/// Writes down a state and what contacts are led by.
fn question(s: &State<f64>, leads: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.push(s.t);
    [&s.q, &s.v, &s.x].into_iter().for_each(|part| out.extend_from_slice(part));
    out.extend_from_slice(leads);
}

impl<'m> Company<Hybrid<'m, Model>> for Seat {
    fn join(&mut self, y: &Hybrid<'m, Model>, s: &State<f64>, rates: &[f64]) {
        self.place = None;
        match self.take(y, s, rates) {
            Ok(place) => {
                self.place = Some(place);
                self.seated.set(Seated { beside: true, ..self.seated.get() });
            }
            Err(why) => {
                let mut seated = self.seated.get();
                seated.alone = seated.alone.or(why);
                self.seated.set(seated);
            }
        }
    }

    async fn rates(&mut self, s: &State<f64>, out: &mut Rates) -> bool {
        let Some((_, paper)) = self.ask(Question::Motion, s, |_| Sort::default()).await else { return false };
        let mut rest = &paper.answer[..];
        for part in [&mut out.v, &mut out.x, &mut out.z] {
            let (own, more) = rest.split_at(part.len());
            part.copy_from_slice(own);
            rest = more;
        }
        true
    }

    async fn stages(&mut self, base: &State<f64>, stages: &Stages, slopes: &mut [f64]) -> bool {
        let size = slopes.len() / stages.tableau.all_stages();
        let known = &slopes[..stages.range.start * size];
        let more = |paper: &mut Paper| {
            paper.slopes.clear();
            paper.slopes.extend_from_slice(known);
            paper.stages = Some(stages.clone());
            let Range { start, end } = stages.range;
            [std::ptr::from_ref(stages.tableau) as usize, start * stages.tableau.all_stages() + end]
        };
        let Some((_, paper)) = self.ask(Question::Stages, base, more).await else { return false };
        slopes[stages.range.start * size..stages.range.end * size].copy_from_slice(&paper.answer);
        true
    }

    async fn look(&mut self, base: &State<f64>, ways: &Ways, out: &mut Vec<Glance>) -> bool {
        let more = |paper: &mut Paper| {
            paper.ways.clone_from(ways);
            [ways.times.len(), usize::from(ways.project.is_some())]
        };
        let Some((place, paper)) = self.ask(Question::Look, base, more).await else { return false };
        let state = place.shape.q + place.shape.v + place.shape.x;
        let size = paper.answer.len() / ways.times.len().max(1);
        // Room that is there stays.
        out.resize_with(out.len().max(ways.times.len()), Glance::default);
        for ((glance, numbers), &corrections) in
            out.iter_mut().zip(paper.answer.chunks_exact(size)).zip(&paper.corrections)
        {
            let (own, seen) = numbers.split_at(state);
            glance.state.clear();
            glance.state.extend_from_slice(own);
            if place.contacts > 0 {
                place.sight(seen, &mut glance.sight);
            }
            glance.corrections = corrections;
        }
        true
    }

    async fn sight(&mut self, s: &State<f64>, out: &mut Sight) -> bool {
        let Some((place, paper)) = self.ask(Question::Sight, s, |_| Sort::default()).await else { return false };
        place.sight(&paper.answer, out);
        true
    }

    async fn correct(&mut self, s: &State<f64>, position: &mut [f64], velocity: &mut [f64]) -> bool {
        let Some((place, paper)) = self.ask(Question::Correct, s, |_| Sort::default()).await else { return false };
        position.copy_from_slice(&paper.answer[..place.shape.v]);
        velocity.copy_from_slice(&paper.answer[place.shape.v..]);
        true
    }
}
