//! Forces of a long leech and their sparse Jacobian, three ways: as they are computed with plain and coloured dual numbers, recorded whole, and as kernels mapped
//! over the elements. One line for each length and way: operations that are compiled, milliseconds to record, to differentiate and to compile, bytes of machine code, and
//! microseconds of one evaluation.
//!
//! `cargo bench -p dalembert-control --bench elements` runs it, with `-- 20 200` for other numbers of segments.
#![allow(clippy::unwrap_used, missing_docs)]

use dalembert::equations::Sum;
use dalembert::model::Model;
use dalembert::scene::{Document, Limits, Overrides, Scene};
use dalembert::scenes;
use dalembert_control::elements::ModelKernels;
use dalembert_graph::derive::colour::Pattern;
use dalembert_graph::derive::jacobian::{Route, jacobian_by};
use dalembert_graph::machine::Width;
use dalembert_graph::{Function, Recorded, Trace, record};
use dalembert_methods::scalar::Duals;
use dalembert_methods::{Scalar, State, System};
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Longer programs are interpreted, as `Way::Automatic` does.
const MOST_OPERATIONS: usize = 100_000;

/// So many evaluations are worth machine code for every kernel.
const MANY: u64 = 1_000_000;

fn model(segments: usize) -> Model {
    let settings = [
        format!("assembly.leech.segments={segments}"),
        format!("assembly.leech.length={}", 1.8 * segments as f64),
        "assembly.leech.shape=\"given\"".to_owned(),
    ];
    let overrides: Overrides = settings.into_iter().collect();
    let text = scenes::find("leech-21").unwrap().text;
    let document = Document::from_text("leech-21", text, &overrides, &Limits::default());
    document.and_then(Scene::from_document).unwrap_or_else(|e| panic!("{}", e.plain())).model
}

/// What it gives, and how long it took, in ms.
fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let start = Instant::now();
    let out = work();
    (out, start.elapsed().as_secs_f64() * 1e3)
}

/// The best of many calls, in µs.
fn best(mut work: impl FnMut()) -> f64 {
    let (mut best, begin) = (f64::MAX, Instant::now());
    while begin.elapsed() < Duration::from_millis(500) {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64() * 1e6);
    }
    best
}

fn forces<S: Scalar>(model: &Model, x: &[S]) -> Vec<S> {
    let mut s = State::zeros(model.shape());
    s.t = x[0];
    let (q, v) = x[1..].split_at(s.q.len());
    s.q.copy_from_slice(q);
    s.v.copy_from_slice(v);
    let mut w = model.work();
    model.prepare(&s, &mut w);
    let mut out = vec![S::zero(); s.v.len()];
    model.force(&s, &mut w, &mut out);
    out
}

struct Line<'a> {
    segments: usize,
    way: &'a str,
    entries: usize,
    operations: usize,
    record: f64,
    derive: f64,
    compile: f64,
    bytes: usize,
    call: f64,
}

impl Line<'_> {
    fn print(&self) {
        let Self { segments, way, entries, operations, record, derive, compile, bytes, call } = self;
        println!(
            "{segments:8}  {way:26}  {entries:8}  {operations:10}  {record:9.1}  {derive:9.1}  {compile:9.1}  {bytes:9}  {call:10.1}"
        );
    }
}

/// A function recorded whole, interpreted, and compiled if it is not too long.
fn whole(f: &Recorded, x: &[f64], line: Line<'_>) {
    let operations = f.graph.operations(&f.outputs);
    let slow = Function::interpreted(f);
    let (mut work, mut y) = (slow.work(), vec![0.0; slow.outputs()]);
    let call = best(|| slow.call(&mut work, black_box(x), &mut y));
    Line { operations, call, ..line }.print();
    if operations <= MOST_OPERATIONS {
        let (fast, compile) = timed(|| Function::compiled_for(f, &[Width::One], None).unwrap());
        let mut work = fast.work();
        let call = best(|| fast.call(&mut work, black_box(x), &mut y));
        Line { way: "recorded whole, compiled", operations, compile, bytes: fast.code_size(), call, ..line }.print();
    }
}

/// The Jacobian by dual numbers, six colours at a time.
fn coloured(model: &Model, x: &[f64], pattern: &Pattern) -> f64 {
    let colours = pattern.colours();
    let mut w = model.work::<Duals>();
    let mut s: State<Duals> = State::zeros(model.shape());
    let (n, mut out) = (s.q.len(), vec![Duals::default(); s.v.len()]);
    let mut entries = vec![0.0; pattern.len()];
    best(|| {
        for first in (0..colours.count as u32).step_by(6) {
            let seeded = |i: usize| {
                let mut dual = Duals::constant(x[i]);
                if let Some(eps) = colours.of[i].checked_sub(first).and_then(|k| dual.eps.get_mut(k as usize)) {
                    *eps = 1.0;
                }
                dual
            };
            s.t = seeded(0);
            (0..n).for_each(|i| s.q[i] = seeded(1 + i));
            (0..s.v.len()).for_each(|i| s.v[i] = seeded(1 + n + i));
            model.prepare(&s, &mut w);
            model.force(&s, &mut w, &mut out);
            for (&(row, column), entry) in pattern.entries.iter().zip(&mut entries) {
                let colour = colours.of[column as usize];
                if (first..first + 6).contains(&colour) {
                    *entry = out[row as usize].eps[(colour - first) as usize];
                }
            }
        }
        black_box(&mut entries);
    })
}

fn main() {
    // Run by `cargo test` too, with `--test`: nothing to do then.
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    let given: Vec<usize> = std::env::args().filter_map(|a| a.parse().ok()).collect();
    println!(
        "segments  way                          entries  operations  record ms  derive ms  compile ms    bytes  call µs"
    );
    for segments in if given.is_empty() { vec![20, 200] } else { given } {
        let model = model(segments);
        let s = model.initial_state();
        let x = [&[s.t][..], &s.q, &s.v].concat();
        let line = |way, entries| Line {
            segments,
            way,
            entries,
            operations: 0,
            record: 0.0,
            derive: 0.0,
            compile: 0.0,
            bytes: 0,
            call: 0.0,
        };
        let n = s.v.len();

        let (parts, record_parts) = timed(|| ModelKernels::of(&model, &[Sum::Force]));
        let ((derived, pattern), derive) = timed(|| parts.derivatives());
        let (mut values, compile_values) = timed(|| parts.values(MANY, None).unwrap());
        let (mut slopes, compile_slopes) = timed(|| parts.slopes(MANY, None).unwrap());

        let (mut work, mut force) = (model.work::<f64>(), vec![0.0; n]);
        let call = best(|| {
            model.prepare(black_box(&s), &mut work);
            model.force(&s, &mut work, &mut force);
        });
        Line { call, ..line("forces, plain", n) }.print();
        let (f, record) = timed(|| record(x.len(), |x: &[Trace]| forces(&model, x)).unwrap());
        whole(&f, &x, Line { record, ..line("recorded whole", n) });
        let call = best(|| values.call(black_box(&s), &mut force));
        let (operations, bytes) = (parts.kernels().extent().operations, values.ready().code_size());
        let own = line("kernels of elements", n);
        Line { operations, record: record_parts, compile: compile_values, bytes, call, ..own }.print();

        let entries = pattern.len();
        Line { call: coloured(&model, &x, &pattern), ..line("Jacobian, coloured duals", entries) }.print();
        let (sparse, derive_whole) = timed(|| jacobian_by(&f, Route::Forward));
        whole(&sparse.function, &x, Line { record, derive: derive_whole, ..line("recorded whole", entries) });
        let mut out = vec![0.0; entries];
        let call = best(|| slopes.call(black_box(&s), &mut out));
        let (operations, bytes) = (derived.extent().operations, slopes.ready().code_size());
        // Deriving is done again before compiling.
        let compile = compile_slopes - derive;
        let own = line("kernels of elements", entries);
        Line { operations, record: record_parts, derive, compile, bytes, call, ..own }.print();
    }
}
