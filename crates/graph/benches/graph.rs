//! Speed of Jacobians: lines for `cargo xtask graph`. Each function gives a line `time NAME …` and a line `entries NAME …` with its dense
//! Jacobian, row by row.
#![allow(clippy::unwrap_used, missing_docs)]

mod problems;

use dalembert_graph::derive::jacobian::{ORDERS, Route, jacobian, jacobian_by};
use dalembert_graph::machine::{Machine, Width};
use dalembert_graph::{Function, Program};
use dalembert_methods::Lanes;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// The best of many batches, in ns for one call.
fn best(mut work: impl FnMut()) -> f64 {
    let start = Instant::now();
    work();
    let once = start.elapsed().as_nanos().max(50) as f64;
    // Batches so short that few are interrupted.
    let batch = ((20_000.0 / once) as usize).clamp(1, 2000);
    let (mut best, begin) = (f64::MAX, Instant::now());
    while begin.elapsed() < Duration::from_millis(700) {
        let start = Instant::now();
        (0..batch).for_each(|_| work());
        best = best.min(start.elapsed().as_nanos() as f64 / batch as f64);
    }
    best
}

fn main() {
    // Run by `cargo test` too, with `--test`: nothing to do then.
    if std::env::args().any(|a| a == "--test") {
        return;
    }
    let verbose = std::env::args().any(|a| a == "--routes");
    for (name, function, x) in problems::all().unwrap() {
        let start = Instant::now();
        let sparse = jacobian(&function);
        let derive = start.elapsed().as_secs_f64() * 1e3;
        if verbose {
            for route in [Route::Forward, Route::Reverse].into_iter().chain(ORDERS.map(Route::Eliminate)) {
                let start = Instant::now();
                let made = jacobian_by(&function, route);
                let spent = start.elapsed().as_secs_f64() * 1e3;
                let program = Program::new(&made.function);
                let operations = made.function.graph.operations(&made.function.outputs);
                println!(
                    "route {name} {route:?} operations {operations} instructions {} ms {spent:.2}",
                    program.instructions.len()
                );
            }
        }
        let compile = (0..20).map(|_| {
            let start = Instant::now();
            let program = Program::new(&sparse.function);
            black_box(Machine::compile(&program, Width::One).unwrap());
            start.elapsed().as_secs_f64() * 1e3
        });
        let compile = compile.fold(f64::MAX, f64::min);
        let fast = Function::compiled(&sparse.function, None).unwrap();
        let slow = Function::interpreted(&sparse.function);
        let (mut work, mut y) = (fast.work(), vec![0.0; fast.outputs()]);
        let one = best(|| fast.call(&mut work, black_box(&x), &mut y));
        let interpreter = best(|| slow.call(&mut work, black_box(&x), &mut y));
        // Eight states at once by the interpreter, for one of them.
        let wide: Vec<Lanes<8>> = x.iter().map(|&x| Lanes([x; 8])).collect();
        let (mut slots, mut out) = (slow.tape().work(), vec![Lanes::<8>::default(); y.len()]);
        let lanes = best(|| slow.tape().run(&mut slots, black_box(&wide), &mut out)) / 8.0;
        println!("lanes {name} interpreter_eight_ns {lanes:.0}");
        fast.call(&mut work, &x, &mut y);
        let xx: Vec<f64> = x.iter().flat_map(|&x| [x, x]).collect();
        let mut yy = vec![0.0; 2 * y.len()];
        let two = 0.5 * best(|| fast.call_two(&mut work, black_box(&xx), &mut yy));
        let (entries, instructions) = (sparse.pattern.len(), fast.program().instructions.len());
        println!(
            "time {name} inputs {} outputs {} entries {entries} route {} instructions {instructions} bytes {} derive_ms {derive:.2} \
             compile_ms {compile:.2} interpreter_ns {interpreter:.0} one_ns {one:.1} two_ns {two:.1}",
            fast.inputs(),
            function.outputs.len(),
            format!("{:?}", sparse.route).replace(' ', ""),
            fast.code_size()
        );
        let dense: Vec<String> = sparse.pattern.dense(&y).iter().map(f64::to_string).collect();
        println!("entries {name} {}", dense.join(" "));
    }
}
