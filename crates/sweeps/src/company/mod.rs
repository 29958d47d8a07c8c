//! Rows side by side. Rows whose equations have the same instructions and other constants hand in their states, and four are computed at once, in the
//! lanes of one number.
//!
//! Each row is a run of its own, with its own time, steps, modes of contacts, events, outputs and end ([`dalembert_methods::integrate::Beside`]); computed together are accelerations, gaps
//! and forces of contacts, and corrections towards the constraints ([`dalembert_graph::touching`]). Rows that ask the same in the same modes queue at one table; a table
//! serves four of them at once. Lanes do not
//! mix: what a row gets depends on its own state and constants, not on who sits beside it. So the rows are the same bits in any order and division.
//!
//! A row sits alone, and is computed as by `run`, where its equations cannot be recorded, do not agree with the instructions where a part of its run begins, or have constraints that
//! depend on each other. Where pivots get thin or numbers are not finite on the way, the solver that finds ranks takes over, and gives the error if there is one.

mod table;

use dalembert::model::Model;
use dalembert_graph::touching::{Ask, Functions, LEAD, Unrecorded};
use dalembert_methods::dynamics::Rates;
use dalembert_methods::events::Sight;
use dalembert_methods::integrate::Company;
use dalembert_methods::nonsmooth::{Contacts, Hybrid, Mode};
use dalembert_methods::system::{Shape, State, System};
use std::cell::{Cell, RefCell};
use std::fmt;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;
use table::{Guest, Table, Ticket};

/// Pivots below this, in units of their diagonal, are left to the solver that finds ranks: rows that are closer than an angle of 1e-3.
const THIN: f64 = 1e-6;
/// How closely instructions and equations must agree where a part of a row begins, relative to the largest of the rates (and to one SI unit): solves lose no more
/// than 1/[`THIN`] of the sixteen digits, another equation agrees in none.
const AGREE: f64 = 1e-8;
/// Kinds of equations, and tables, that are kept in mind.
const KINDS: usize = 32;
const TABLES: usize = 1024;

/// Where rows meet: all those of one thread.
#[derive(Clone, Default)]
pub(crate) struct Hall(Rc<RefCell<Rooms>>);

#[derive(Default)]
struct Rooms {
    kinds: Vec<Rc<Functions>>,
    tables: Vec<Rc<RefCell<Table>>>,
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

    /// Computes what was asked for: at all tables where four wait, or if there is none at the one where most do.
    pub fn serve(&self) {
        let rooms = self.0.borrow();
        let mut served = false;
        for table in &rooms.tables {
            served |= table.borrow_mut().serve_full();
        }
        if !served && let Some(table) = rooms.tables.iter().max_by_key(|table| table.borrow().waiting()) {
            table.borrow_mut().serve();
        }
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
    fn table(&self, kind: &Rc<Functions>, modes: &[Mode], ask: Ask) -> Result<Rc<RefCell<Table>>, Unrecorded> {
        let mut rooms = self.0.borrow_mut();
        if let Some(known) = rooms.tables.iter().find(|table| table.borrow().is_for(kind, modes, ask)) {
            return Ok(known.clone());
        }
        if rooms.tables.len() >= TABLES {
            rooms.tables.retain(|table| Rc::strong_count(table) > 1);
        }
        let table = Rc::new(RefCell::new(Table::new(kind, modes, ask)?));
        rooms.tables.push(table.clone());
        Ok(table)
    }
}

/// Whether numbers can be used: finite, and with pivots that are not thin.
fn sound(values: &[f64], pivots: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite()) && pivots.iter().all(|&pivot| pivot >= THIN)
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
    tables: [Rc<RefCell<Table>>; 3],
    /// The row as it waits at each.
    guests: [Guest; 3],
    shape: Shape,
    /// Directions of sliding and what leads back to them.
    leads: Vec<f64>,
    /// The first rows of contacts with a press of their own, and that press.
    presses: Vec<(usize, f64)>,
    contacts: usize,
    rows: usize,
}

/// A table, and what is used there of the constants of a row.
type Known = (Rc<RefCell<Table>>, Rc<[f64]>);

/// What a row brings to its run.
pub(crate) struct Seat {
    hall: Hall,
    /// The kind of the row and its constants, or none if it cannot be recorded, once it is known.
    own: Option<Option<(Rc<Functions>, Vec<f64>)>>,
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
            self.own = Some(Some(self.hall.kind(y.model()).map_err(|why| Some(Alone::Unrecorded(why)))?));
        }
        let Some(Some((kind, constants))) = &self.own else { return Err(None) };
        let table = |ask| self.hall.table(kind, y.modes(), ask).map_err(|why| Some(Alone::Unrecorded(why)));
        let tables = [table(Ask::Motion)?, table(Ask::Sight)?, table(Ask::Correct)?];
        let (ticket, known) = (&self.ticket, &mut self.known);
        let guest = |table: &Rc<RefCell<Table>>| {
            let found = known.iter().find(|(known, _)| Rc::ptr_eq(known, table)).map(|(_, own)| own.clone());
            let constants = found.unwrap_or_else(|| {
                let own = table.borrow_mut().constants(constants);
                known.push((table.clone(), own.clone()));
                own
            });
            Guest { ticket: ticket.clone(), constants }
        };
        let guests = tables.each_ref().map(guest);
        let (shape, count) = (y.shape(), y.modes().len());
        let lead = |(mode, &creep): (&Mode, &f64)| match mode {
            Mode::Slide { direction: [first, second] } => [*first, *second, creep],
            _ => [1.0, 0.0, creep],
        };
        let leads: Vec<[f64; LEAD]> = y.modes().iter().zip(y.creep()).map(lead).collect();
        let presses = (0..count).filter_map(|i| Some((y.start(i), y.model().own_press(i)?))).collect();
        let place =
            Place { tables, guests, shape, leads: leads.concat(), presses, contacts: count, rows: y.start(count) };
        let answer = place.tables[0].borrow_mut().ask_alone(&place.guests[0].constants, place.question(s));
        let (found, pivots) = answer.split_at(shape.v + shape.x + shape.z);
        if !sound(found, pivots) {
            return Err(Some(Alone::Dependent));
        }
        if !agrees(shape, found, rates) {
            return Err(Some(Alone::Differs));
        }
        Ok(place)
    }

    /// Asks for something; nothing if there is no place to ask at.
    async fn ask(&self, ask: Ask, s: &State<f64>) -> Option<(&Place, &Ticket)> {
        let (place, ticket) = (self.place.as_ref()?, &self.ticket);
        {
            let mut paper = ticket.paper.borrow_mut();
            paper.question.clear();
            paper.question.extend(place.question(s));
        }
        ticket.waits.set(true);
        place.tables[ask as usize].borrow_mut().queue(place.guests[ask as usize].clone());
        poll_fn(|_| if ticket.waits.get() { Poll::Pending } else { Poll::Ready(()) }).await;
        Some((place, ticket))
    }
}

impl Place {
    fn question<'a>(&'a self, s: &'a State<f64>) -> impl Iterator<Item = f64> + 'a {
        std::iter::once(s.t).chain(s.q.iter().chain(&s.v).chain(&s.x).chain(&self.leads).copied())
    }
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
        let Some((_, ticket)) = self.ask(Ask::Motion, s).await else { return false };
        let paper = ticket.paper.borrow();
        let mut rest = &paper.answer[..];
        for part in [&mut out.v, &mut out.x, &mut out.z] {
            let (own, more) = rest.split_at(part.len());
            part.copy_from_slice(own);
            rest = more;
        }
        sound(&paper.answer[..paper.answer.len() - rest.len()], rest)
    }

    async fn sight(&mut self, s: &State<f64>, out: &mut Sight) -> bool {
        let Some((place, ticket)) = self.ask(Ask::Sight, s).await else { return false };
        let paper = ticket.paper.borrow();
        let (gap, rest) = paper.answer.split_at(place.contacts);
        let (rate, rest) = rest.split_at(place.rows);
        let (force, pivots) = rest.split_at(place.rows);
        for (to, from) in [(&mut out.gap, gap), (&mut out.rate, rate), (&mut out.force, force)] {
            to.clear();
            to.extend_from_slice(from);
        }
        place.presses.iter().for_each(|&(row, press)| out.force[row] = press);
        sound(&paper.answer[..place.contacts + 2 * place.rows], pivots)
    }

    async fn correct(&mut self, s: &State<f64>, position: &mut [f64], velocity: &mut [f64]) -> bool {
        let Some((place, ticket)) = self.ask(Ask::Correct, s).await else { return false };
        let paper = ticket.paper.borrow();
        let (changes, pivots) = paper.answer.split_at(2 * place.shape.v);
        position.copy_from_slice(&changes[..place.shape.v]);
        velocity.copy_from_slice(&changes[place.shape.v..]);
        sound(changes, pivots)
    }
}
