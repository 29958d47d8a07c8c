//! The fourth reading of an equation: recorded as a graph of expressions instead of computed.
//!
//! [`Trace`] is a [`Real`](crate::real::Real) whose operations write nodes into a [`Graph`]; [`record`] runs an equation with it and
//! hands out the graph. What can be done with a graph (derivatives, evaluation, machine code, export) is in `dalembert-graph`; only the
//! number lives here, because it is a member of the closed set of [`crate::scalar`].
//!
//! A number must be `Copy`, so it holds an index, and the graph being recorded is found through the thread: [`record`] puts it
//! there and takes it away again. Constants need no recording, so scratch may be made before. Numbers remember which recording they
//! belong to; one that strays into another recording, or into another thread, is found and is an error of [`record`].
//!
//! Departure: an equation may branch on [`Real::size`](crate::real::Real::size), which is a plain number. A recording knows none, so it
//! notes the place and [`record`] gives [`TraceError::Branched`]. Such equations must choose by `select`, or be recorded by [`record_near`],
//! which computes along at one point and takes the branches as they are there: adaptive rules keep the steps they take at that point.

mod graph;
mod node;
mod number;

pub use graph::Graph;
pub use node::{Id, Node, Op};
pub use number::{Trace, TraceMask};

use std::cell::RefCell;
use std::fmt;
use std::panic::Location;

/// Why an equation could not be recorded.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum TraceError {
    /// The equation asks for the size of a number that is not known yet, to branch on it.
    Branched {
        /// Where it asks.
        place: &'static Location<'static>,
    },
    /// A number of another recording was used.
    Foreign {
        /// The first output it reached, if it did.
        output: Option<usize>,
    },
}

impl fmt::Display for TraceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Branched { place } => write!(
                f,
                "the equation branches on the size of a number at {place}, so it cannot be recorded: choose by `select`, or fix the number \
                 of steps there"
            ),
            Self::Foreign { output } => {
                write!(f, "a number of another recording or thread was used")?;
                if let Some(output) = output {
                    write!(f, " in output {output}")?;
                }
                write!(f, ": make all numbers inside the recorded function")
            }
        }
    }
}

impl std::error::Error for TraceError {}

/// A recorded function: a graph, and which of its nodes are the outputs.
#[derive(Clone, Debug)]
pub struct Recorded {
    /// All expressions.
    pub graph: Graph,
    /// The number of inputs, whether used or not.
    pub inputs: usize,
    /// The outputs in order.
    pub outputs: Vec<Id>,
}

/// A function recorded near a point.
#[derive(Clone, Debug)]
pub struct Near {
    /// The function as it is while all branches are taken as at the point.
    pub recorded: Recorded,
    /// Where it branches, each place once. With none it holds everywhere.
    pub branches: Vec<&'static Location<'static>>,
}

/// What is being recorded.
struct Recording {
    number: u32,
    graph: Graph,
    fault: Option<TraceError>,
    /// Inputs, and values of the nodes so far as they were asked for, at the point of [`record_near`].
    point: Option<(Vec<f64>, Vec<f64>)>,
    branches: Vec<&'static Location<'static>>,
}

thread_local! {
    static RECORDING: RefCell<Option<Recording>> = const { RefCell::new(None) };
    static LAST: RefCell<u32> = const { RefCell::new(0) };
}

/// Puts the recording that was going on before back into its place, also when the equation panics.
struct Restore(Option<Recording>);

impl Drop for Restore {
    fn drop(&mut self) {
        RECORDING.with(|r| *r.borrow_mut() = self.0.take());
    }
}

/// Records a function of `inputs` numbers. Recordings may nest, but not share numbers.
pub fn record(inputs: usize, function: impl FnOnce(&[Trace]) -> Vec<Trace>) -> Result<Recorded, TraceError> {
    run(inputs, None, Graph::default(), function).map(|near| near.recorded)
}

/// Records a function that does the same as one recorded before, with other constants, in a fraction of the time: nodes are the same, constants are those of now. Nothing if it
/// does anything else, also where constants that were equal no longer are.
pub fn record_again(first: &Recorded, function: impl FnOnce(&[Trace]) -> Vec<Trace>) -> Option<Recorded> {
    let recorded = run(first.inputs, None, first.graph.again(), function).ok()?.recorded;
    (recorded.graph.kept() && recorded.outputs == first.outputs).then_some(recorded)
}

/// Records a function near the point `x`: where it branches on the size of a number, it goes on as it does at that point.
pub fn record_near(x: &[f64], function: impl FnOnce(&[Trace]) -> Vec<Trace>) -> Result<Near, TraceError> {
    run(x.len(), Some(x), Graph::default(), function)
}

fn run(
    inputs: usize,
    point: Option<&[f64]>,
    mut graph: Graph,
    function: impl FnOnce(&[Trace]) -> Vec<Trace>,
) -> Result<Near, TraceError> {
    let number = LAST.with(|last| {
        let mut last = last.borrow_mut();
        *last = last.wrapping_add(1);
        *last
    });
    let x: Vec<Trace> = (0..inputs).map(|i| Trace::node(number, graph.input(i))).collect();
    let point = point.map(|x| (x.to_vec(), Vec::new()));
    let recording = Recording { number, graph, fault: None, point, branches: Vec::new() };
    let restore = Restore(RECORDING.with(|r| r.borrow_mut().replace(recording)));
    let outputs = function(&x);
    let own = RECORDING.with(|r| r.borrow_mut().take());
    drop(restore);
    let Recording { mut graph, fault, branches, .. } = own.ok_or(TraceError::Foreign { output: None })?;
    if let Some(fault) = fault {
        return Err(fault);
    }
    let outputs = outputs.iter().enumerate().map(|(output, y)| {
        let foreign = TraceError::Foreign { output: Some(output) };
        y.id_in(number, &mut graph).ok_or(foreign)
    });
    let outputs = outputs.collect::<Result<Vec<Id>, TraceError>>()?;
    Ok(Near { recorded: Recorded { graph, inputs, outputs }, branches })
}

/// Runs `f` on the graph being recorded, with its number. Nothing if none is.
fn with<T>(f: impl FnOnce(u32, &mut Graph) -> T) -> Option<T> {
    RECORDING.with(|r| r.borrow_mut().as_mut().map(|r| f(r.number, &mut r.graph)))
}

/// The size of a number that is not known, asked for at a place: that at the point of [`record_near`], or none, which is noted.
fn size(of: Trace, place: &'static Location<'static>) -> f64 {
    RECORDING.with(|r| {
        let mut recording = r.borrow_mut();
        let Some(Recording { number, graph, fault, point, branches }) = recording.as_mut() else { return f64::NAN };
        let Some((inputs, values)) = point else {
            fault.get_or_insert(TraceError::Branched { place });
            return f64::NAN;
        };
        if !branches.contains(&place) {
            branches.push(place);
        }
        of.id_in(*number, graph).map_or(f64::NAN, |id| {
            graph.compute(inputs, id, values);
            values[id.index()].abs()
        })
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::Real;

    fn ops(f: impl FnOnce(&[Trace]) -> Vec<Trace>) -> (Recorded, Vec<Op>) {
        let recorded = record(3, f).unwrap();
        let ops = recorded.outputs.iter().map(|&id| recorded.graph.node(id).op).collect();
        (recorded, ops)
    }

    /// The rules of simplification, each by the node it leaves.
    #[test]
    fn expressions_are_simplified() {
        let (r, found) = ops(|x| {
            let (a, b) = (x[0], x[1]);
            vec![
                a * 1.0,
                a + 0.0,
                a - a,
                -(-a),
                a * 0.0,
                (a + b) - (b + a),
                -(a - b) - (b - a),
                a * -b + b * a,
                (a * 2.0) * 3.0,
            ]
        });
        let zero = r.graph.zero();
        assert_eq!(r.outputs[0], r.outputs[1]);
        assert_eq!(r.outputs[3], r.outputs[0]);
        for at in [2, 4, 5, 6, 7] {
            assert_eq!(r.outputs[at], zero, "{at}");
        }
        assert_eq!(found[8], Op::Mul);
        let scaled = r.graph.node(r.outputs[8]);
        assert_eq!(r.graph.constant_of(scaled.args[0]), Some(6.0));
    }

    /// The same expression is one node, whatever the order of what commutes.
    #[test]
    fn common_expressions_are_shared() {
        let (r, _) =
            ops(|x| vec![x[0] * x[1] + x[2].sin(), x[2].sin() + x[1] * x[0], x[0].min(x[1]), Real::min(x[0], x[1])]);
        assert_eq!(r.outputs[0], r.outputs[1]);
        assert_eq!(r.outputs[2], r.outputs[3]);
    }

    #[test]
    fn choices_are_nodes_and_known_ones_are_made() {
        let (r, found) =
            ops(|x| vec![Trace::select(x[0].lt(x[1]), x[2], x[0]), Trace::from(2.0).max(Trace::from(1.0)), x[1].abs()]);
        assert_eq!(found, [Op::Select, Op::Constant, Op::Select]);
        assert_eq!(r.graph.constant_of(r.outputs[1]), Some(2.0));
    }

    #[test]
    fn branches_on_sizes_are_refused_with_their_place() {
        let error = record(1, |x| if x[0].size() > 1.0 { vec![x[0]] } else { vec![x[0] * 2.0] }).unwrap_err();
        let TraceError::Branched { place } = error else { panic!("{error}") };
        assert!(place.file().ends_with("mod.rs"), "{error}");
        // The size of a constant is known.
        assert!(
            record(1, |x| if Trace::from(-3.0).size() > 1.0 { vec![x[0]] } else { vec![] }).unwrap().outputs.len() == 1
        );
    }

    /// Newton's iteration for a root stops by size: near a point it is recorded with the steps it takes there.
    #[test]
    fn branches_are_taken_as_at_a_point() {
        fn root<R: Real>(x: R) -> R {
            let mut y = x;
            while (y * y - x).size() > 1e-12 {
                y = (y + x / y) * 0.5;
            }
            y
        }
        let near = record_near(&[2.0], |x| vec![root(x[0])]).unwrap();
        assert_eq!(near.branches.len(), 1);
        let mut values = Vec::new();
        for x in [2.0, 2.1, 1.9] {
            values.clear();
            near.recorded.graph.compute(&[x], near.recorded.outputs[0], &mut values);
            assert!((values[near.recorded.outputs[0].index()] - x.sqrt()).abs() < 1e-12);
        }
        assert!(record_near(&[2.0], |x| vec![x[0].sqrt()]).unwrap().branches.is_empty());
    }

    #[test]
    fn strangers_are_found() {
        let mut kept = Trace::default();
        record(1, |x| {
            kept = x[0];
            vec![]
        })
        .unwrap();
        assert_eq!(record(1, |x| vec![x[0], x[0] + kept]).unwrap_err(), TraceError::Foreign { output: Some(1) });
        let inner = record(1, |x| {
            let inside = record(2, |y| vec![y[0] * y[1]]).unwrap();
            assert_eq!(inside.outputs.len(), 1);
            vec![x[0] + 1.0]
        });
        assert!(inner.is_ok());
        let there = record(1, |x| {
            let y = x[0];
            vec![std::thread::spawn(move || y * y).join().unwrap()]
        });
        assert_eq!(there.unwrap_err(), TraceError::Foreign { output: Some(0) });
    }
}
