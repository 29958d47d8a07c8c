//! Rows side by side. Rows whose equations have the same instructions and other constants hand in their states, and four are computed at once, in the
//! lanes of one number.
//!
//! Each row is a run of its own, with its own time, steps, outputs and end ([`dalembert_methods::integrate::Beside`]); only the rates are computed together. Lanes do not
//! mix: what a row gets depends on its own state and constants, not on who sits beside it. So the rows are the same bits in any order and division.
//!
//! A row sits alone, and is computed as by `run`, where its equations cannot be recorded, do not agree with the instructions at its start, or have constraints that
//! depend on each other. Where pivots get thin or numbers are not finite on the way, the solver that finds ranks takes over, and gives the error if there is one.

use dalembert::model::Model;
use dalembert_graph::recipe::Recipe;
use dalembert_graph::tape::{Slots, Tape};
use dalembert_methods::dynamics::Rates;
use dalembert_methods::integrate::Company;
use dalembert_methods::nonsmooth::{Contacts, Hybrid};
use dalembert_methods::system::{Shape, State};
use dalembert_methods::{Lanes, Real};
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

/// Rows side by side.
const LANES: usize = 4;
type Four = Lanes<LANES>;

/// Pivots below this, in units of their diagonal, are left to the solver that finds ranks: rows that are closer than an angle of 1e-3.
const THIN: f64 = 1e-6;
/// How closely instructions and equations must agree where a row begins, relative to the largest of the rates (and to one SI unit): solves lose no more
/// than 1/[`THIN`] of the sixteen digits, another equation agrees in none.
const AGREE: f64 = 1e-8;
/// Kinds of equations that are kept in mind.
const KINDS: usize = 32;

/// Where rows meet: all those of one thread.
#[derive(Clone, Default)]
pub(crate) struct Hall(Rc<RefCell<Vec<Kind>>>);

/// Rows with the same instructions.
struct Kind {
    recipe: Recipe,
    tape: Rc<Tape>,
    benches: Vec<Rc<RefCell<Bench>>>,
}

/// Four places, with the constants and states of those who sit there.
struct Bench {
    tape: Rc<Tape>,
    slots: Slots<Four>,
    input: Vec<Four>,
    output: Vec<Four>,
    taken: [bool; LANES],
    asked: [bool; LANES],
}

impl Hall {
    /// A seat for a row, which takes a place when its run begins. `seated` is set if it finds one.
    pub fn seat(&self, seated: &Rc<Cell<bool>>) -> Seat {
        Seat { hall: self.clone(), place: None, seated: seated.clone() }
    }

    /// Computes what was asked for.
    pub fn serve(&self) {
        for bench in self.0.borrow().iter().flat_map(|kind| &kind.benches) {
            let Bench { tape, slots, input, output, asked, .. } = &mut *bench.borrow_mut();
            if asked.contains(&true) {
                tape.run(slots, input, output);
                *asked = [false; LANES];
            }
        }
    }

    /// A place for a row with these equations, if they are those of its model at `s`, where its rates are known.
    fn place(&self, recipe: Recipe, s: &State<f64>, rates: &[f64]) -> Option<Place> {
        let mut kinds = self.0.borrow_mut();
        let (shape, constants) = (recipe.shape, recipe.program.constants.clone());
        let at = match kinds.iter().position(|kind| kind.recipe.alike(&recipe)) {
            Some(at) => at,
            None => {
                let tape = Rc::new(Tape::new(&recipe.program));
                if kinds.len() >= KINDS {
                    kinds.retain(|kind| kind.benches.iter().any(|bench| bench.borrow().taken.contains(&true)));
                }
                kinds.push(Kind { recipe, tape, benches: Vec::new() });
                kinds.len() - 1
            }
        };
        let kind = &mut kinds[at];
        let mut found = vec![0.0; kind.recipe.program.outputs.len()];
        let mut alone: Slots<f64> = kind.tape.work_with(&constants);
        kind.tape.run(&mut alone, &inputs(s).collect::<Vec<f64>>(), &mut found);
        if !sound(shape, &found) || !agrees(shape, &found, rates) {
            return None;
        }
        let free = kind.benches.iter().find(|bench| bench.borrow().taken.contains(&false)).cloned();
        let bench = free.unwrap_or_else(|| {
            let bench = Rc::new(RefCell::new(Bench::new(&kind.recipe, &kind.tape)));
            kind.benches.push(bench.clone());
            bench
        });
        let lane = bench.borrow_mut().take(&constants)?;
        Some(Place { bench, lane, shape })
    }
}

impl Bench {
    fn new(recipe: &Recipe, tape: &Rc<Tape>) -> Self {
        let program = &recipe.program;
        Self {
            tape: tape.clone(),
            slots: tape.work(),
            input: vec![Four::zero(); program.inputs],
            output: vec![Four::zero(); program.outputs.len()],
            taken: [false; LANES],
            asked: [false; LANES],
        }
    }

    /// Takes a free lane for a row with these constants.
    fn take(&mut self, constants: &[f64]) -> Option<usize> {
        let lane = self.taken.iter().position(|taken| !taken)?;
        self.taken[lane] = true;
        for (four, &constant) in self.tape.constants_mut(&mut self.slots).iter_mut().zip(constants) {
            four.0[lane] = constant;
        }
        Some(lane)
    }
}

/// The inputs of a recipe.
fn inputs(s: &State<f64>) -> impl Iterator<Item = f64> {
    std::iter::once(s.t).chain(s.q.iter().chain(&s.v).chain(&s.x).copied())
}

/// Whether the outputs of a recipe can be used: finite, and with pivots that are not thin.
fn sound(shape: Shape, outputs: &[f64]) -> bool {
    let (rates, pivots) = outputs.split_at(shape.v + shape.x + shape.z);
    rates.iter().all(|rate| rate.is_finite()) && pivots.iter().all(|&pivot| pivot >= THIN)
}

/// Whether the outputs of a recipe are the rates, kind by kind.
fn agrees(shape: Shape, outputs: &[f64], rates: &[f64]) -> bool {
    let kinds = [0..shape.v, shape.v..shape.v + shape.x, shape.v + shape.x..shape.v + shape.x + shape.z];
    kinds.into_iter().all(|kind| {
        let (found, known) = (&outputs[kind.clone()], &rates[kind]);
        let size = known.iter().fold(1.0f64, |size, rate| size.max(rate.abs()));
        found.iter().zip(known).all(|(found, known)| (found - known).abs() <= AGREE * size)
    })
}

/// The place of a row among others.
struct Place {
    bench: Rc<RefCell<Bench>>,
    lane: usize,
    shape: Shape,
}

impl Place {
    fn ask(&self, s: &State<f64>) {
        let Bench { input, asked, .. } = &mut *self.bench.borrow_mut();
        input.iter_mut().zip(inputs(s)).for_each(|(four, value)| four.0[self.lane] = value);
        asked[self.lane] = true;
    }

    fn answered(&self) -> bool {
        !self.bench.borrow().asked[self.lane]
    }

    /// Takes the rates; `false` if they cannot be used.
    fn take(&self, out: &mut Rates) -> bool {
        let bench = self.bench.borrow();
        let mut values = bench.output.iter().map(|four| four.0[self.lane]);
        for rate in out.v.iter_mut().chain(&mut out.x).chain(&mut out.z) {
            *rate = values.next().unwrap_or(f64::NAN);
        }
        let finite = out.v.iter().chain(&out.x).chain(&out.z).all(|rate| rate.is_finite());
        finite && values.take(self.shape.rows()).all(|pivot| pivot >= THIN)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut bench = self.bench.borrow_mut();
        (bench.taken[self.lane], bench.asked[self.lane]) = (false, false);
    }
}

/// What a row brings to its run.
pub(crate) struct Seat {
    hall: Hall,
    place: Option<Place>,
    seated: Rc<Cell<bool>>,
}

impl<'m> Company<Hybrid<'m, Model>> for Seat {
    fn join(&mut self, y: &Hybrid<'m, Model>, s: &State<f64>, rates: &[f64]) {
        self.place = None;
        // Between two events there are too few steps to pay for a recording.
        if Contacts::contacts(y.model()) == 0
            && let Some(recipe) = Recipe::whole(y)
        {
            self.place = self.hall.place(recipe, s, rates);
            self.seated.set(self.seated.get() || self.place.is_some());
        }
    }

    async fn rates(&mut self, s: &State<f64>, out: &mut Rates) -> bool {
        let Some(place) = &self.place else { return false };
        place.ask(s);
        poll_fn(|_| if place.answered() { Poll::Ready(()) } else { Poll::Pending }).await;
        place.take(out)
    }
}
