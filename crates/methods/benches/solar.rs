//! Eleven bodies of the solar system by variational integrators: errors of positions after a century, energies over a million days, computing times.
//!
//! `cargo bench -p dalembert-methods --bench solar -- <state file> [days] [file for true places] [folder for tables]` reads lines `name GM x y z vx vy vz` in AU and days (as
//! `cargo xtask solar` makes from the scene `solar-system`), takes `dop853` at its tightest as the truth of the first hundred years, and prints one table. With
//! phase fitting, the estimated frequencies of every body follow: their mean and how far they swing.
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
    /// Adds to the tables of figures: frequencies, energies, orbits of the outer planets, and the moon about the earth.
    fn write(
        &self,
        s: &State<f64>,
        count: u64,
        start: f64,
        frequencies: &[f64],
        [swings, energies, orbits, moon]: &mut [String; 4],
    ) -> std::fmt::Result {
        let place = |name: &str| {
            let at = self.names.iter().position(|own| own == name).map_or(0, |i| 3 * i);
            [s.q[at], s.q[at + 1]]
        };
        if count.is_multiple_of(5000) {
            for (body, name) in self.names.iter().enumerate() {
                writeln!(swings, "{name}\t{}\t{:e}", s.t, frequencies[3 * body])?;
            }
            let kinetic: f64 = (0..s.v.len()).map(|k| 0.5 * self.masses[k / 3] * s.v[k].powi(2)).sum();
            let total = self.energy(s);
            for (name, energy) in [("kinetic", kinetic), ("potential", total - kinetic), ("total", total)] {
                writeln!(energies, "{name}\t{}\t{:e}", s.t, energy / start.abs())?;
            }
        }
        if count.is_multiple_of(100) && count <= 90_000 {
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
    fn force<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        out.fill(S::zero());
        for i in 1..self.masses.len() {
            for j in 0..i {
                let d: [S; 3] = std::array::from_fn(|k| s.q[3 * i + k] - s.q[3 * j + k]);
                let squared = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
                let pull = (squared * squared.sqrt()).recip() * (self.masses[i] * self.masses[j]);
                for k in 0..3 {
                    out[3 * i + k] -= d[k] * pull;
                    out[3 * j + k] += d[k] * pull;
                }
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
    if let Some(file) = arguments.get(2) {
        let place =
            |i: usize| (0..3).map(|k| format!("{:e}", truth.q[3 * i + k] - truth.q[k])).collect::<Vec<_>>().join(" ");
        let lines: Vec<String> = (1..bodies.masses.len()).map(place).collect();
        std::fs::write(file, lines.join("\n") + "\n")?;
    }

    let step = |h: f64| Settings::default().with("fixed_step", h);
    let methods: Vec<(&str, Made)> = vec![
        ("phase_fitted, S = 3", Variational::phase_fitted(&step(1.0))),
        ("the same, straight lines", Variational::phase_fitted(&step(1.0).with("fitted", 0.0))),
        ("variational, trapezoidal", Variational::affine(&step(1.0).with("alpha", 0.0))),
        ("variational, midpoint", Variational::affine(&step(1.0))),
        ("galerkin_gauss, degree 2, h = 2 d", Variational::gauss(&step(2.0))),
        ("galerkin_gauss, degree 4, h = 8 d", Variational::gauss(&step(8.0).with("degree", 4.0))),
    ];
    println!(
        "errors of places relative to the sun after {century} days in AU; energy over {days:e} days; h = 1 d unless said"
    );
    print!("{:34}", "");
    bodies.names[1..].iter().for_each(|name| print!(" {name:>8}"));
    println!("  energy, worst  last tenth  CPU s  forces in a step");
    for (name, made) in methods {
        let mut method = made?;
        let mut s = start.clone();
        method.start(&bodies, &mut s)?;
        let energy = bodies.energy(&s);
        let (mut worst, mut late, mut found) = ([0.0_f64; 2], 0.0, Vec::new());
        let fitted = name.starts_with("phase");
        let mut tables: [String; 4] = std::array::from_fn(|_| "name\tx\ty\n".to_owned());
        let mut seen = vec![(0.0_f64, f64::INFINITY, 0.0_f64, 0u32); bodies.masses.len()];
        let begin = Instant::now();
        let (since, mut looking) = (computed(begin), 0.0);
        let mut count = 0u64;
        while s.t < days {
            let until = if s.t < century { century } else { days };
            method.step(&bodies, &mut s, until)?;
            count += 1;
            if fitted && arguments.len() > 3 {
                bodies.write(&s, count, energy, method.frequencies(), &mut tables)?;
            }
            if count.is_multiple_of(1000) || s.t == century {
                let pause = computed(begin);
                let off = ((bodies.energy(&s) - energy) / energy).abs();
                worst[0] = worst[0].max(off);
                if s.t > 0.9 * days {
                    late = f64::max(late, off);
                }
                if s.t == century {
                    found = errors(&s, &truth);
                }
                for (body, (sum, low, high, n)) in seen.iter_mut().enumerate() {
                    if let Some(&omega) = method.frequencies().get(3 * body) {
                        (*sum, *low, *high, *n) = (*sum + omega, low.min(omega), high.max(omega), *n + 1);
                    }
                }
                looking += computed(begin) - pause;
            }
        }
        let seconds = computed(begin) - since - looking;
        print!("{name:34}");
        found.iter().for_each(|error| print!(" {error:8.1e}"));
        let forces = method.counts().forces as f64 / count as f64;
        println!("  {:13.1e}  {late:10.1e}  {seconds:5.2}  {forces:.1}", worst[0]);
        if let (true, Some(folder)) = (fitted, arguments.get(3)) {
            for (file, text) in ["frequencies", "energies", "orbits", "moon"].iter().zip(&tables) {
                std::fs::write(std::path::Path::new(folder).join(format!("solar-{file}.txt")), text)?;
            }
        }
        if fitted {
            for (body, (sum, low, high, n)) in bodies.names.iter().zip(&seen) {
                let mean = sum / f64::from((*n).max(1));
                println!("    ω of {body:8} {mean:.6} rad/d, from {low:.6} to {high:.6}");
            }
        }
    }
    Ok(())
}
