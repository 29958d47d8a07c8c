//! Eleven bodies of the solar system by variational integrators: errors of positions after a century, energies over a million days, computing times.
//!
//! `cargo bench -p dalembert-methods --bench solar -- <state file> [days] [file for true places] [folder for tables] [beginning of names]` reads lines `name GM x y z vx vy vz` in AU and days (as
//! `cargo xtask solar` makes from the scene `solar-system`), takes `dop853` at its tightest as the truth of the first hundred years, and prints one table. With
//! phase fitting, the frequencies of every body follow: their mean, in the first and the last tenth too, and how far they swing. Files that are not wanted are called `-`;
//! of the methods those whose names begin as given are run. Galerkin methods, which take most of the time, run for a tenth of the days, as their rows say.
#![allow(clippy::print_stdout)]

#[path = "common/clock.rs"]
mod clock;

use clock::computed;
use dalembert_methods::algebra::{Mass, MassBlock};
use dalembert_methods::integrate::{Integrator, RungeKutta, Settings, Variational};
use dalembert_methods::system::Coupling;
use dalembert_methods::{Scalar, Shape, State, System};
use std::fmt::Write;
use std::time::Instant;

/// Point masses under Newton's law, G = 1.
struct Bodies {
    names: Vec<String>,
    masses: Vec<f64>,
}

impl Bodies {
    fn energy(&self, s: &State<f64>) -> f64 {
        let n = self.masses.len();
        let mut sum = 0.0;
        for i in 0..n {
            sum += 0.5 * self.masses[i] * (0..3).map(|k| s.v[3 * i + k].powi(2)).sum::<f64>();
            for j in 0..i {
                let squared: f64 = (0..3).map(|k| (s.q[3 * i + k] - s.q[3 * j + k]).powi(2)).sum();
                sum -= self.masses[i] * self.masses[j] / squared.sqrt();
            }
        }
        sum
    }
}

impl Bodies {
    /// Σ p and Σ q × p, relative to Σ|p| and Σ|q||p|: how far both are from those of another state.
    fn momentum_change(&self, s: &State<f64>, other: &State<f64>) -> [f64; 2] {
        let momenta = |s: &State<f64>| {
            let mut out = [0.0; 8];
            for (i, &mass) in self.masses.iter().enumerate() {
                let at = |x: &[f64]| -> [f64; 3] { std::array::from_fn(|k| x[3 * i + k]) };
                let (q, p) = (at(&s.q), at(&s.v).map(|v| mass * v));
                let size = |x: [f64; 3]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
                for k in 0..3 {
                    let (a, b) = ((k + 1) % 3, (k + 2) % 3);
                    out[k] += p[k];
                    out[3 + k] += q[a] * p[b] - q[b] * p[a];
                }
                out[6] += size(p);
                out[7] += size(q) * size(p);
            }
            out
        };
        let (a, b) = (momenta(s), momenta(other));
        [0, 3].map(|first| (0..3).map(|k| (a[first + k] - b[first + k]).abs()).fold(0.0, f64::max) / b[6 + first / 3])
    }

    /// Adds to the table of energies, relative to the total one at the start.
    fn energies(&self, s: &State<f64>, start: f64, table: &mut String) -> std::fmt::Result {
        let kinetic: f64 = (0..s.v.len()).map(|k| 0.5 * self.masses[k / 3] * s.v[k].powi(2)).sum();
        let total = self.energy(s);
        for (name, energy) in [("kinetic", kinetic), ("potential", total - kinetic), ("total", total)] {
            writeln!(table, "{name}\t{}\t{:e}", s.t, energy / start.abs())?;
        }
        Ok(())
    }

    /// Adds to the tables of orbits: the outer planets, and the moon about the earth.
    fn draw(&self, s: &State<f64>, count: u64, [_, _, _, orbits, moon]: &mut [String; 5]) -> std::fmt::Result {
        let place = |name: &str| {
            let at = self.names.iter().position(|own| own == name).map_or(0, |i| 3 * i);
            [s.q[at], s.q[at + 1]]
        };
        if count.is_multiple_of(100) {
            for name in ["jupiter", "saturn", "uranus", "neptune", "pluto", "mars"] {
                let ([x, y], [sun, other]) = (place(name), place("sun"));
                writeln!(orbits, "{name}\t{:e}\t{:e}", x - sun, y - other)?;
            }
        }
        if count <= 365 {
            let ([x, y], [a, b]) = (place("moon"), place("earth"));
            writeln!(moon, "moon\t{:e}\t{:e}", x - a, y - b)?;
        }
        Ok(())
    }
}

impl System for Bodies {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        let n = 3 * self.masses.len();
        Shape { q: n, v: n, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(3 * self.masses.len())]
    }
    fn coupling(&self) -> Coupling {
        let n = self.masses.len();
        Coupling { groups: (0..n).map(|i| 3 * i..3 * i + 3).collect(), neighbours: vec![(0..n).collect(); n] }
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn still(&self) -> bool {
        true
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, (): &mut ()) {}
    fn mass<S: Scalar>(&self, _s: &State<S>, (): &mut (), out: &mut Mass<S>) {
        for (i, &mass) in self.masses.iter().enumerate() {
            out.block_mut(0)[3 * i..3 * i + 3].fill(S::from(mass));
        }
    }
    /// Two attractions side by side, so that their roots and quotients are computed together.
    fn force<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        out.fill(S::zero());
        let (places, _) = s.q.as_chunks::<3>();
        let (forces, _) = out.as_chunks_mut::<3>();
        let masses = &self.masses[..places.len()];
        for i in 1..places.len() {
            let (here, own) = (places[i], masses[i]);
            let mut sum = [[S::zero(); 2]; 3];
            let (before, _) = forces.split_at_mut(i);
            let (pairs, single) = before.as_chunks_mut::<2>();
            for (j, pair) in pairs.iter_mut().enumerate() {
                let j = 2 * j;
                let there = [places[j], places[j + 1]];
                let d: [[S; 2]; 3] = std::array::from_fn(|k| there.map(|there| here[k] - there[k]));
                let squared: [S; 2] =
                    std::array::from_fn(|l| d[0][l] * d[0][l] + d[1][l] * d[1][l] + d[2][l] * d[2][l]);
                let root = squared.map(S::sqrt);
                let pull: [S; 2] = std::array::from_fn(|l| S::from(own * masses[j + l]) / (squared[l] * root[l]));
                for k in 0..3 {
                    for l in 0..2 {
                        let force = d[k][l] * pull[l];
                        pair[l][k] += force;
                        sum[k][l] += force;
                    }
                }
            }
            let mut own_force: [S; 3] = std::array::from_fn(|k| sum[k][0] + sum[k][1]);
            for (j, other) in single.iter_mut().enumerate() {
                let there = places[i - 1 - j];
                let d: [S; 3] = std::array::from_fn(|k| here[k] - there[k]);
                let squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
                let pull = S::from(own * masses[i - 1 - j]) / (squared * squared.sqrt());
                for k in 0..3 {
                    other[k] += d[k] * pull;
                    own_force[k] += d[k] * pull;
                }
            }
            for k in 0..3 {
                forces[i][k] -= own_force[k];
            }
        }
    }
    fn magnitude(&self, q: &[f64], out: &mut [f64]) {
        for (size, place) in out.chunks_exact_mut(3).zip(q.chunks_exact(3)) {
            size.fill(place.iter().map(|x| x * x).sum::<f64>().sqrt());
        }
    }
}

/// How far each body is from its true place, relative to the sun, in AU.
fn errors(s: &State<f64>, truth: &State<f64>) -> Vec<f64> {
    let place = |s: &State<f64>, i: usize| -> [f64; 3] { std::array::from_fn(|k| s.q[3 * i + k] - s.q[k]) };
    let apart = |i: usize| {
        let (a, b) = (place(s, i), place(truth, i));
        (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt()
    };
    (1..s.q.len() / 3).map(apart).collect()
}

type Made = Result<Variational<Bodies>, dalembert_methods::integrate::SettingsError>;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let file = arguments.first().ok_or("give a state file")?;
    let days: f64 = arguments.get(1).map_or(Ok(1e6), |days| days.parse())?;
    let (mut names, mut masses, mut start) = (Vec::new(), Vec::new(), State::default());
    for line in std::fs::read_to_string(file)?.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split_whitespace();
        names.push(words.next().ok_or("an empty line")?.to_owned());
        let numbers = words.map(str::parse).collect::<Result<Vec<f64>, _>>()?;
        masses.push(numbers[0]);
        start.q.extend(&numbers[1..4]);
        start.v.extend(&numbers[4..7]);
    }
    let bodies = Bodies { names, masses };
    let century = 36_525.0_f64.min(days);
    let mut truth = start.clone();
    let mut reference = RungeKutta::dop853(&Settings::default().with("tolerance", 1e-15))?;
    reference.start(&bodies, &mut truth)?;
    while truth.t < century {
        reference.step(&bodies, &mut truth, century)?;
    }
    if let Some(file) = arguments.get(2).filter(|file| *file != "-") {
        let place =
            |i: usize| (0..3).map(|k| format!("{:e}", truth.q[3 * i + k] - truth.q[k])).collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = (1..bodies.masses.len()).map(place).collect();
        std::fs::write(file, lines.join("\n") + "\n")?;
    }

    let step = |h: f64| Settings::default().with("fixed_step", h);
    let methods: Vec<(&str, Made)> = vec![
        ("phase_fitted, S = 3", Variational::phase_fitted(&step(1.0))),
        ("frequencies from velocities, (6)", Variational::phase_fitted(&step(1.0).with("estimate", 1.0))),
        (
            "the report's: (6), about zero",
            Variational::phase_fitted(&step(1.0).with("estimate", 1.0).with("centre", 0.0)),
        ),
        ("about zero, S = 3", Variational::phase_fitted(&step(1.0).with("centre", 0.0))),
        ("straight lines, S = 3", Variational::phase_fitted(&step(1.0).with("fitted", 0.0))),
        ("variational, trapezoidal", Variational::affine(&step(1.0).with("alpha", 0.0))),
        ("variational, midpoint", Variational::affine(&step(1.0))),
        ("galerkin_gauss, degree 2, h = 2 d", Variational::gauss(&step(2.0))),
        ("galerkin_gauss, degree 4, h = 8 d", Variational::gauss(&step(8.0).with("degree", 4.0))),
    ];
    println!(
        "errors of places relative to the sun after {century} days in AU; energy over {days:e} days, or as many as are told; h = 1 d unless said"
    );
    print!("{:34}", "");
    bodies.names[1..].iter().for_each(|name| print!(" {name:>8}"));
    println!("  energy, worst  last tenth      days  CPU s  forces in a step");
    let mut tables: [String; 5] = std::array::from_fn(|_| "name\tx\ty\n".to_owned());
    let wanted = arguments.get(4).map_or("", String::as_str);
    for (name, made) in methods.into_iter().filter(|(name, _)| name.starts_with(wanted)) {
        let mut method = made?;
        // No less than the century at which errors are taken.
        let days = if name.starts_with("galerkin") { (0.1 * days).max(century) } else { days };
        let mut s = start.clone();
        method.start(&bodies, &mut s)?;
        let energy = bodies.energy(&s);
        let (mut worst, mut late, mut found) = (0.0_f64, 0.0, Vec::new());
        let (fitted, estimated) = (name.starts_with("phase"), name.starts_with("freq"));
        let mut seen = vec![Seen::default(); bodies.masses.len()];
        let mut ended = None;
        let begin = Instant::now();
        let (since, mut looking) = (computed(begin), 0.0);
        let mut count = 0u64;
        while s.t < days {
            let until = if s.t < century { century } else { days };
            // A method that loses a body has no solution any more.
            if let Err(error) = method.step(&bodies, &mut s, until) {
                ended = Some(error);
                break;
            }
            count += 1;
            let drawn = fitted && (count <= 365 || count <= 90_000 && count.is_multiple_of(100));
            if drawn || count.is_multiple_of(1000) || s.t == century {
                let pause = computed(begin);
                if drawn {
                    bodies.draw(&s, count, &mut tables)?;
                }
                if count.is_multiple_of(1000) {
                    let off = (bodies.energy(&s) - energy) / energy;
                    worst = worst.max(off.abs());
                    if s.t > 0.9 * days {
                        late = f64::max(late, off.abs());
                    }
                    for (body, seen) in seen.iter_mut().enumerate() {
                        method.frequencies().get(3 * body).iter().for_each(|omega| seen.take(**omega, s.t / days));
                    }
                    if count.is_multiple_of(5000) && (fitted || estimated) {
                        let frequencies = &mut tables[usize::from(estimated)];
                        for (body, name) in bodies.names.iter().enumerate() {
                            writeln!(frequencies, "{name}\t{}\t{:e}", s.t, method.frequencies()[3 * body].abs())?;
                        }
                    }
                    if count.is_multiple_of(5000) && fitted {
                        bodies.energies(&s, energy, &mut tables[2])?;
                    }
                }
                if s.t == century {
                    found = errors(&s, &truth);
                }
                looking += computed(begin) - pause;
            }
        }
        let seconds = computed(begin) - since - looking;
        print!("{name:34}");
        found.iter().for_each(|error| print!(" {error:8.1e}"));
        // What ended before the century has no errors there.
        (found.len() + 1..bodies.masses.len()).for_each(|_| print!(" {:>8}", "-"));
        let late = if ended.is_some() { "-".to_owned() } else { format!("{late:.1e}") };
        let forces = method.counts().forces as f64 / count as f64;
        println!("  {worst:13.1e}  {late:>10}  {:8.0}  {seconds:5.2}  {forces:.1}", s.t);
        let [linear, angular] = bodies.momentum_change(&s, &start);
        println!("    momentum changed by {linear:.1e} of its parts, angular momentum by {angular:.1e}");
        if let Some(error) = ended {
            println!("    ended after {} days: {error}", s.t);
        }
        if fitted || estimated {
            for (body, seen) in bodies.names.iter().zip(&seen) {
                println!("    ω of {body:8} {seen}");
            }
        }
    }
    if let Some(folder) = arguments.get(3).filter(|folder| *folder != "-") {
        let files = ["frequencies", "estimates", "energies", "orbits", "moon"];
        for (file, text) in files.iter().zip(&tables) {
            std::fs::write(std::path::Path::new(folder).join(format!("solar-{file}.txt")), text)?;
        }
    }
    Ok(())
}

/// The frequencies of a body over a run: the mean over all and over the first and last tenth, the lowest and the highest.
#[derive(Clone, Debug)]
struct Seen {
    sums: [(f64, u32); 3],
    ends: [f64; 2],
}

impl Default for Seen {
    fn default() -> Self {
        Self { sums: Default::default(), ends: [f64::INFINITY, f64::NEG_INFINITY] }
    }
}

impl Seen {
    fn take(&mut self, omega: f64, part: f64) {
        for (which, (sum, n)) in self.sums.iter_mut().enumerate() {
            if [true, part <= 0.1, part > 0.9][which] {
                (*sum, *n) = (*sum + omega, *n + 1);
            }
        }
        self.ends = [self.ends[0].min(omega), self.ends[1].max(omega)];
    }
}

impl std::fmt::Display for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [all, first, last] = self.sums.map(|(sum, n)| sum / f64::from(n.max(1)));
        write!(
            f,
            "{all:.6} rad/d, {first:.6} in the first tenth, {last:.6} in the last; from {:.6} to {:.6}",
            self.ends[0], self.ends[1]
        )
    }
}
