//! The studies of variational integrators that the book shows: the oscillator, the pendulum, computing time over micro steps, and one rate against several at
//! equal error.
//!
//! `cargo bench -p dalembert-methods --bench variational -- FOLDER [quick] [oscillator | multirate | race | pendulum]` writes one table for each figure, columns in the first line, and prints what they say;
//! `cargo xtask figures` draws them. Times are the least of several runs, so that other work on the machine does not count.
#![allow(clippy::print_stdout)]

#[path = "common/clock.rs"]
mod clock;

use clock::computed;
use dalembert_methods::State;
use dalembert_methods::integrate::{Integrator, RungeKutta, Settings, Variational};
use dalembert_methods::problems::{Atoms, Chain, ForcedOscillator, Problem, Top};
use std::f64::consts::PI;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// A table to be written.
struct Table {
    file: PathBuf,
    text: String,
}

impl Table {
    fn new(folder: &Path, name: &str, columns: &[&str]) -> Self {
        Self { file: folder.join(format!("{name}.txt")), text: columns.join("\t") + "\n" }
    }

    fn row(&mut self, name: &str, values: &[f64]) {
        let numbers: Vec<String> = values.iter().map(|x| format!("{x:e}")).collect();
        writeln!(self.text, "{name}\t{}", numbers.join("\t")).expect("text takes any text");
    }

    fn write(self) -> Outcome<()> {
        Ok(std::fs::write(self.file, self.text)?)
    }
}

/// Runs below this are often not interrupted, s.
const SHORT: f64 = 2e-3;
/// Every point is repeated for so long, s.
const REPEATED: f64 = 0.15;

/// Runs to a time in equal steps; the state there and the least computing time of some runs.
fn timed<P: Problem>(
    problem: &P,
    make: &dyn Fn() -> Outcome<Variational<P>>,
    until: f64,
    rounds: u32,
) -> Outcome<(State<f64>, f64)> {
    let (mut least, mut end) = (f64::INFINITY, problem.initial());
    let (first, mut round) = (Instant::now(), 0);
    let begun = computed(first);
    // Short runs are repeated for a while, so that some of them are not interrupted.
    while round < rounds || rounds > 1 && computed(first) - begun < REPEATED {
        round += 1;
        let mut method = make()?;
        let mut s = problem.initial();
        method.start(problem, &mut s)?;
        let begin = Instant::now();
        while s.t < until {
            method.step(problem, &mut s, until)?;
        }
        least = least.min(begin.elapsed().as_secs_f64());
        end = s;
    }
    // Long ones are always interrupted: their computing time is counted, in ticks of the system, over all of them.
    if rounds > 1 && least > SHORT {
        least = least.min((computed(first) - begun) / f64::from(round));
    }
    Ok((end, least))
}

/// Figures 1 and 2 of Kosmas and Leyendecker: errors at t = 3 over h, and over computing time.
fn oscillator(folder: &Path, rounds: u32) -> Outcome<()> {
    let problem = ForcedOscillator::harmonic();
    let exact = problem.exact(3.0).ok_or("an oscillator has a closed form")?;
    let mut table = Table::new(folder, "oscillator", &["method", "h", "position", "momentum", "seconds"]);
    println!("oscillator: errors of position and momentum at t = 3, computing time");
    type Maker = fn(&Settings) -> Result<Variational<ForcedOscillator>, dalembert_methods::integrate::SettingsError>;
    let fitted = Settings::default().with("frequency", 1.0).with("points", 5.0);
    let methods: [(&str, Maker, Settings); 5] = [
        ("sines, 5 equidistant", Variational::phase_fitted, fitted.clone()),
        ("sines, 5 Lobatto", Variational::phase_fitted, fitted.clone().with("spacing", 1.0)),
        ("splines, 5 Lobatto", Variational::phase_fitted, fitted.with("spacing", 1.0).with("fitted", 2.0)),
        ("Gauss-Legendre, order 4", Variational::gauss, Settings::default().with("degree", 2.0)),
        ("Chebyshev, order 4", Variational::chebyshev, Settings::default().with("degree", 2.0)),
    ];
    for (name, make, settings) in methods {
        for h in [0.01, 0.05, 0.1, 0.5, 1.0] {
            let settings = settings.clone().with("fixed_step", h);
            let (s, seconds) = timed(&problem, &|| Ok(make(&settings)?), 3.0, rounds)?;
            let (q, p) = ((s.q[0] - exact.q[0]).abs(), (s.v[0] - exact.v[0]).abs());
            println!("  {name:24} h = {h:<4} {q:.1e} {p:.1e} {:.1} µs", 1e6 * seconds);
            table.row(name, &[h, q.max(1e-17), p.max(1e-17), seconds]);
        }
    }
    table.write()
}

/// Figures 1 and 2 of Leitz and Leyendecker: the angle of a pendulum, its period, and its energy over many swings.
fn pendulum(folder: &Path, swings: f64) -> Outcome<()> {
    let problem = Top { inertia: [1.0, 1.2, 0.5], weight: 9.81 };
    let (amplitude, h) = (2.0_f64, 0.05);
    let angle = |s: &State<f64>| (2.0 * s.q[1].atan2(s.q[0]) - PI + PI).rem_euclid(2.0 * PI) - PI;
    let (mut a, mut b) = (1.0_f64, (0.5 * amplitude).cos());
    while (a - b).abs() > 1e-15 {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    let period = 2.0 * PI * (problem.inertia[0] / problem.weight).sqrt() / a;
    println!("pendulum: exact period {period:.6} s");
    let mut angles = Table::new(folder, "pendulum-angle", &["method", "t", "angle"]);
    let mut energies = Table::new(folder, "pendulum-energy", &["method", "swing", "lowest", "highest"]);
    for (name, chord) in [("quaternions", 0.5), ("rotation matrices", 1.0)] {
        let settings = Settings::default().with("fixed_step", h).with("chord", chord);
        let mut method = Variational::lie_group(&settings)?;
        let mut s = problem.state(PI - amplitude, [0.0; 3]);
        method.start(&problem, &mut s)?;
        let start = problem.energy(&s);
        let (mut before, mut passed, mut first, mut last) = (angle(&s), 0_u32, 0.0, 0.0);
        let mut ends = [f64::INFINITY, f64::NEG_INFINITY];
        let (mut bands, mut next) = (Vec::new(), 0.01 * swings * period);
        while s.t < swings * period {
            method.step(&problem, &mut s, f64::INFINITY)?;
            let now = angle(&s);
            if s.t < 3.0 * period {
                angles.row(name, &[s.t, now]);
            }
            if before < 0.0 && now >= 0.0 {
                // Between steps on a straight line: off by h³ once, over all swings.
                let at = s.t - h * now / (now - before);
                (first, last) = (if passed == 0 { at } else { first }, at);
                passed += 1;
            }
            before = now;
            let energy = problem.energy(&s) - start;
            ends = [ends[0].min(energy), ends[1].max(energy)];
            if s.t >= next {
                energies.row(name, &[s.t / period, ends[0], ends[1]]);
                bands.push(ends);
                ends = [f64::INFINITY, f64::NEG_INFINITY];
                next += 0.01 * swings * period;
            }
        }
        let own = (last - first) / f64::from(passed - 1);
        let spread = |e: &[f64; 2]| format!("{:+.4e} to {:+.4e}", e[0], e[1]);
        let (early, late) = (bands.first().ok_or("no swings")?, bands.last().ok_or("no swings")?);
        println!(
            "  {name:18} period off by {:+.3e} s; energy in the first hundredth {}, in the last {} J",
            own - period,
            spread(early),
            spread(late)
        );
    }
    let mut reference = RungeKutta::dop853(&Settings::default().with("tolerance", 1e-12))?;
    let mut s = problem.state(PI - amplitude, [0.0; 3]);
    reference.start(&problem, &mut s)?;
    for k in 1..=160 {
        let until = 3.0 * period * f64::from(k) / 160.0;
        while s.t < until {
            reference.step(&problem, &mut s, until)?;
        }
        angles.row("exact", &[s.t, angle(&s)]);
    }
    angles.write()?;
    energies.write()
}

/// The three schemes by their quadratures.
const SCHEMES: [(&str, f64, f64); 3] =
    [("fully implicit", 0.5, 0.5), ("explicit slow, implicit fast", 0.0, 0.5), ("fully explicit", 0.0, 0.0)];

/// Computing times over micro steps at a fixed micro step, and the largest error of places and velocities at an early time.
struct Study<'a, P> {
    problem: &'a P,
    what: &'a str,
    micro: f64,
    /// The time of the runs that are timed, short so that nothing comes between, and of one that shows resonance.
    span: f64,
    long: f64,
    early: f64,
    rounds: u32,
    schemes: &'a [(&'a str, f64, f64)],
}

impl<P: Problem> Study<'_, P> {
    fn run(&self, counts: &[u32], table: &mut Table) -> Outcome<()> {
        let mut reference = RungeKutta::dop853(&Settings::default().with("tolerance", 1e-13))?;
        let mut truth = self.problem.initial();
        reference.start(self.problem, &mut truth)?;
        while truth.t < self.early {
            reference.step(self.problem, &mut truth, self.early)?;
        }
        for &(name, slow, fast) in self.schemes {
            let mut found: Vec<(u32, f64, f64)> = Vec::new();
            for &p in counts {
                let step = f64::from(p) * self.micro;
                let settings = Settings::default()
                    .with("fixed_step", step)
                    .with("micro_steps", f64::from(p))
                    .with("slow_alpha", slow)
                    .with("fast_alpha", fast);
                let make = || -> Outcome<Variational<P>> { Ok(Variational::multirate(&settings)?) };
                // What resonates or does not converge has no time.
                let Ok((end, _)) = timed(self.problem, &make, self.long, 1) else { continue };
                let energy = |s: &State<f64>| self.problem.invariants(s)[0];
                let begin = energy(&self.problem.initial());
                let gained = (energy(&end) - begin).abs();
                if gained.is_nan() || gained >= 0.5 * begin.abs() {
                    println!("  {:20} {name:28} p = {p:<3} resonates", self.what);
                    continue;
                }
                // Whole macro steps: a shorter one at the end would need a matrix of its own.
                let whole = (self.span / step).round().max(1.0) * step;
                let (_, seconds) = timed(self.problem, &make, whole, self.rounds)?;
                let seconds = seconds * self.span / whole;
                let (s, _) = timed(self.problem, &make, self.early, 1)?;
                let error = self.problem.distance(&s, &truth);
                println!("  {:20} {name:28} p = {p:<3} {:8.3} ms, error {error:.1e}", self.what, 1e3 * seconds);
                table.row(&format!("{}: {name}", self.what), &[f64::from(p), seconds, error]);
                found.push((p, seconds, error));
            }
            let best = found.iter().min_by(|a, b| a.1.total_cmp(&b.1));
            if let Some((best, first)) = best.zip(found.first()) {
                let factor = first.1 / best.1;
                println!("  {:20} {name:28} fastest at p = {}, {factor:.1} times faster than p = 1", self.what, best.0);
            }
        }
        Ok(())
    }
}

/// A way to make steps: its name, whether it has one rate, and the method for a step.
type Way<P> = (String, bool, Box<dyn Fn(f64) -> Outcome<Variational<P>>>);

/// Single-rate methods and multirate ones, the same error of the whole state for each: steps are chosen until the run has it, then the run is timed.
fn at_equal_error<P: Problem>(
    problem: &P,
    what: &str,
    [micro, until]: [f64; 2],
    rounds: u32,
    table: &mut Table,
) -> Outcome<()> {
    let mut reference = RungeKutta::dop853(&Settings::default().with("tolerance", 1e-12))?;
    let mut truth = problem.initial();
    reference.start(problem, &mut truth)?;
    while truth.t < until {
        reference.step(problem, &mut truth, until)?;
    }
    let mut ways: Vec<Way<P>> = Vec::new();
    for (name, alpha) in [("trapezoidal", 0.0), ("midpoint", 0.5)] {
        let make = move |h: f64| -> Outcome<Variational<P>> {
            Ok(Variational::affine(&Settings::default().with("fixed_step", h).with("alpha", alpha))?)
        };
        ways.push((format!("variational, {name}"), true, Box::new(make)));
    }
    // The matrices of the fully implicit scheme grow with the number of micro steps.
    let large = problem.shape().v > 50;
    for (name, slow, fast) in SCHEMES.into_iter().filter(|(_, slow, _)| !large || *slow == 0.0) {
        for p in [1, 2, 5, 10, 20] {
            let make = move |h: f64| -> Outcome<Variational<P>> {
                let settings = Settings::default().with("fixed_step", h).with("micro_steps", f64::from(p));
                Ok(Variational::multirate(&settings.with("slow_alpha", slow).with("fast_alpha", fast))?)
            };
            ways.push((format!("{name}, p = {p}"), p == 1, Box::new(make)));
        }
    }
    let error = |make: &dyn Fn() -> Outcome<Variational<P>>| -> Outcome<f64> {
        Ok(problem.distance(&timed(problem, make, until, 1)?.0, &truth))
    };
    let goal = error(&|| ways[0].2(micro))?;
    println!(
        "{what}: error {goal:.2e} of the whole state at t = {until}, as the trapezoidal rule has with steps of {micro}"
    );
    let mut best = [f64::INFINITY; 2];
    for (name, single, make) in &ways {
        // Errors fall with the square of the number of steps, once there are enough of them.
        let mut steps = (until / micro / if *single { 1.0 } else { 4.0 }).ceil();
        let mut found = None;
        for _ in 0..8 {
            let own = error(&|| make(until / steps)).ok().filter(|own| own.is_finite()).unwrap_or(f64::INFINITY);
            if own <= goal {
                found = Some((steps, own));
                if own > 0.8 * goal {
                    break;
                }
            }
            let factor = (own / (0.9 * goal)).sqrt().clamp(0.25, 2.0);
            steps = (steps * factor).ceil().max(1.0);
        }
        let Some((steps, own)) = found else {
            println!("  {name:34} does not reach it");
            continue;
        };
        let (_, seconds) = timed(problem, &|| make(until / steps), until, rounds)?;
        println!("  {name:34} {steps:6} steps, error {own:.2e}, {:9.4} ms", 1e3 * seconds);
        table.row(&format!("{what}: {name}"), &[steps, own, seconds]);
        let of = usize::from(!*single);
        best[of] = best[of].min(seconds);
    }
    println!("  {what}: best of several rates is {:.1} times faster than the best of one rate", best[0] / best[1]);
    Ok(())
}

/// The chain, in micro steps of 0.01 as in the report or smaller ones.
fn fpu<'a>(problem: &'a Chain, what: &'a str, micro: f64, rounds: u32) -> Study<'a, Chain> {
    let whole = 360.0 * micro;
    Study { problem, what, micro, span: whole, long: 10.8, early: whole, rounds, schemes: &SCHEMES }
}

/// Figures 4 and 5 of Gail, Leyendecker and Ober-Blöbaum.
fn multirate(folder: &Path, quick: bool) -> Outcome<()> {
    let columns = ["run", "micro steps", "seconds", "error"];
    // Those of the report, and some below ten.
    let counts: &[u32] = if quick { &[1, 10] } else { &[1, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100] };
    let rounds = if quick { 1 } else { 10 };
    let mut table = Table::new(folder, "multirate-schemes", &columns);
    println!("computing time over micro steps, fixed micro step");
    let chain = Chain::default();
    fpu(&chain, "FPU, 6 masses", 0.01, rounds).run(counts, &mut table)?;
    fpu(&chain, "FPU, steps of 0.001", 0.001, rounds).run(counts, &mut table)?;
    let sam = |problem, what, schemes| Study {
        problem,
        what,
        micro: 1e-4,
        span: 0.036,
        long: 0.036,
        early: 0.072,
        rounds: rounds / 3 + 1,
        schemes,
    };
    let (few, many) = (Atoms { cells: 3, far: true }, Atoms { cells: if quick { 4 } else { 20 }, far: true });
    sam(&few, "SAM", &SCHEMES[..]).run(counts, &mut table)?;
    // Springs between neighbours alone, as the scene `atomistic` has them.
    let near = Atoms { cells: 4, far: false };
    sam(&near, "SAM, neighbours", &SCHEMES[..]).run(counts, &mut table)?;
    table.write()?;
    let mut table = Table::new(folder, "multirate-masses", &columns);
    let masses: &[usize] = if quick { &[6] } else { &[6, 30, 90, 240] };
    for &masses in masses {
        let chain = Chain { pairs: masses / 2, ..Chain::default() };
        let report = [1, 5, 6, 7, 8, 9, 10, 11, 12, 15, 19, 20, 30, 40, 50, 60, 70, 80, 90, 100];
        let counts: &[u32] = if quick { &[1, 5] } else { &report };
        let rounds = if quick { 1 } else { 3 };
        fpu(&chain, &format!("{masses} masses"), 0.01, rounds).run(counts, &mut table)?;
    }
    table.write()?;
    // All atoms on all others, so that slow forces are costly.
    let mut table = Table::new(folder, "multirate-costly", &columns);
    let counts: &[u32] = if quick { &[1, 10] } else { &[1, 10, 30, 90] };
    Study { rounds: 3, long: 0.009, early: 0.018, ..sam(&many, "SAM, 80 atoms", &SCHEMES[1..]) }
        .run(counts, &mut table)?;
    table.write()
}

/// One rate against several at equal error.
fn race(folder: &Path, quick: bool) -> Outcome<()> {
    let mut table = Table::new(folder, "multirate-race", &["run", "steps", "error", "seconds"]);
    let rounds = if quick { 1 } else { 3 };
    for masses in if quick { &[6][..] } else { &[6, 30, 90, 240] } {
        let chain = Chain { pairs: masses / 2, ..Chain::default() };
        at_equal_error(&chain, &format!("FPU, {masses} masses"), [0.001, 1.0], rounds, &mut table)?;
    }
    for cells in if quick { &[2][..] } else { &[3, 10] } {
        let atoms = Atoms { cells: *cells, far: true };
        at_equal_error(&atoms, &format!("SAM, {} atoms", 4 * cells), [1e-3, 0.5], rounds, &mut table)?;
    }
    table.write()
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let folder = PathBuf::from(arguments.first().ok_or("give a folder for the tables")?);
    let words = &arguments[1..];
    let quick = words.iter().any(|word| word == "quick");
    // A study by its name, or all of them.
    let wanted = |name: &str| !words.iter().any(|word| word != "quick") || words.iter().any(|word| word == name);
    std::fs::create_dir_all(&folder)?;
    if wanted("oscillator") {
        oscillator(&folder, if quick { 1 } else { 200 })?;
    }
    if wanted("multirate") {
        multirate(&folder, quick)?;
    }
    if wanted("race") {
        race(&folder, quick)?;
    }
    if wanted("pendulum") {
        pendulum(&folder, if quick { 100.0 } else { 1e5 })?;
    }
    println!("tables are in {}", folder.display());
    Ok(())
}
