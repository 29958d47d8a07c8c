//! The equations of motion of a small tree, to be read: M(y) ÿ + k(y, ẏ) = q(y, ẏ), as text and as LaTeX.
//!
//! They are polynomials in sines and cosines of the coordinates, in canonical form: sums that vanish have vanished. Sums that occur more
//! than once have names. Numbers have twelve digits in text; [`Equations::value`] computes with all.
//!
//! Reference: Schiehlen, Computational dynamics, eq. (17), from where the symbols are.

mod derive;
mod polynomial;

pub use polynomial::{Monomial, Polynomial, Symbol};

use dalembert_trees::Tree;
use std::fmt;

/// No more sums than this get names, and only in equations of at most so many terms.
const MOST_NAMES: usize = 100;
const MOST_NAMED: usize = 2000;

/// The equations are too long to be read.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct EquationError {
    /// The number of terms one expression has come to.
    pub terms: usize,
}

impl fmt::Display for EquationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "one expression of the equations has come to {} terms, which nobody reads: equations are written for small mechanisms; \
             compute numbers with `eval` instead",
            self.terms
        )
    }
}

impl std::error::Error for EquationError {}

/// The equations of motion in symbols.
#[derive(Clone, Debug)]
pub struct Equations {
    /// Names of the coordinates and of the velocities.
    names: [Vec<String>; 2],
    /// Whether each velocity is the rate of one coordinate, and of which.
    rate_of: Vec<Option<usize>>,
    /// M by rows.
    mass: Vec<Polynomial>,
    k: Vec<Polynomial>,
    q: Vec<Polynomial>,
    /// Sums that occur more than once; each may hold later ones.
    parts: Vec<Polynomial>,
}

/// The values of M, k and q at a state.
#[derive(Clone, Debug, PartialEq)]
pub struct EquationValues {
    /// M by rows.
    pub mass: Vec<f64>,
    /// k.
    pub k: Vec<f64>,
    /// q.
    pub q: Vec<f64>,
}

impl Equations {
    /// Derives the equations. Of the forces of joints, damping, springs and drives are in q; dry friction and stops are not smooth and are left
    /// out.
    pub fn of(tree: &Tree) -> Result<Self, EquationError> {
        let tau = derive::inverse_dynamics(tree)?;
        let n = tree.velocities();
        let mut rate_of = vec![None; n];
        for joint in tree.joints().iter().filter(|j| j.coordinates == j.velocities) {
            (0..joint.velocities).for_each(|i| rate_of[joint.velocity + i] = Some(joint.coordinate + i));
        }
        let (mut mass, mut k, mut q) = (Vec::new(), Vec::new(), Vec::new());
        for (i, tau) in tau.iter().enumerate() {
            let mut row = vec![Polynomial::default(); n];
            let (mut fast, mut rest) = (Polynomial::default(), Polynomial::default());
            for (m, c) in tau.terms() {
                let moving = m.iter().find_map(|(s, _)| if let Symbol::Acceleration(j) = s { Some(*j) } else { None });
                match moving {
                    Some(j) => {
                        let still = m.iter().copied().filter(|(s, _)| !matches!(s, Symbol::Acceleration(_)));
                        row[j].put(still.collect(), c);
                    }
                    None if m.iter().any(|(s, _)| matches!(s, Symbol::Velocity(_))) => fast.put(m.clone(), c),
                    None => rest.put(m.clone(), -c),
                }
            }
            let f = &tree.freedoms()[i];
            rest.put(vec![(Symbol::Velocity(i), 1)], -f.damping);
            if let Some(at) = rate_of[i] {
                rest.put(vec![(Symbol::Coordinate(at), 1)], -f.stiffness);
                rest.put(Vec::new(), f.stiffness * f.rest);
            }
            rest.put(vec![(Symbol::Drive(i), 1)], 1.0);
            mass.extend(row);
            k.push(fast);
            q.push(rest);
        }
        let names = [tree.coordinate_names(), tree.velocity_names()];
        let mut out = Self { names, rate_of, mass, k, q, parts: Vec::new() };
        out.name_parts();
        Ok(out)
    }

    /// Gives names to sums that occur more than once but for a number: the longest first. Products of velocities are factored out before.
    fn name_parts(&mut self) {
        let fast = |s: Symbol| matches!(s, Symbol::Velocity(_) | Symbol::Drive(_));
        let n = self.k.len();
        let mut homes: Vec<(usize, usize, Monomial)> = Vec::new();
        let mut pieces: Vec<Polynomial> = Vec::new();
        for (list, entries) in [&self.mass, &self.k, &self.q].into_iter().enumerate() {
            // The matrix is symmetric: its lower half is looked at, and written.
            for (i, entry) in entries.iter().enumerate().filter(|(i, _)| list > 0 || i % n <= i / n) {
                for (factor, piece) in entry.sorted(fast) {
                    homes.push((list, i, factor));
                    pieces.push(piece);
                }
            }
        }
        let terms: usize = pieces.iter().map(Polynomial::len).sum();
        while terms <= MOST_NAMED && self.parts.len() < MOST_NAMES {
            let Some(part) = longest_common(&pieces) else { break };
            let name = Symbol::Named(self.parts.len());
            for piece in pieces.iter_mut().chain(&mut self.parts) {
                if let Some((factor, rest)) = piece.without(&part) {
                    *piece = rest;
                    piece.put(vec![(name, 1)], factor);
                }
            }
            self.parts.push(part);
        }
        let mut lists =
            [vec![Polynomial::default(); n * n], vec![Polynomial::default(); n], vec![Polynomial::default(); n]];
        for ((list, i, factor), piece) in homes.into_iter().zip(pieces) {
            for (m, c) in piece.terms() {
                lists[list][i].put(sorted([m.clone(), factor.clone()].concat()), c);
            }
        }
        for i in 0..n {
            for j in 0..i {
                lists[0][j * n + i] = lists[0][i * n + j].clone();
            }
        }
        [self.mass, self.k, self.q] = lists;
    }

    /// The numbers of M, k and q, from the same expressions that are written.
    pub fn value(&self, coordinates: &[f64], velocities: &[f64], drives: &[f64]) -> EquationValues {
        let plain = |symbol: Symbol| match symbol {
            Symbol::Sine(i) => coordinates[i].sin(),
            Symbol::Cosine(i) => coordinates[i].cos(),
            Symbol::Coordinate(i) | Symbol::Scalar(i) => coordinates[i],
            Symbol::Velocity(i) => velocities[i],
            Symbol::Drive(i) => drives[i],
            Symbol::Acceleration(_) | Symbol::Named(_) => 0.0,
        };
        // A part may hold those that were named after it.
        let mut parts = vec![0.0; self.parts.len()];
        for i in (0..parts.len()).rev() {
            parts[i] =
                self.parts[i].value(&|symbol| if let Symbol::Named(j) = symbol { parts[j] } else { plain(symbol) });
        }
        let all = |symbol: Symbol| if let Symbol::Named(i) = symbol { parts[i] } else { plain(symbol) };
        let list = |of: &[Polynomial]| of.iter().map(|p| p.value(&all)).collect();
        EquationValues { mass: list(&self.mass), k: list(&self.k), q: list(&self.q) }
    }

    /// The equations as text.
    pub fn to_text(&self) -> String {
        self.write(&Style { latex: false, rate_of: &self.rate_of })
    }

    /// The equations as LaTeX, for a document with `amsmath`.
    pub fn to_latex(&self) -> String {
        self.write(&Style { latex: true, rate_of: &self.rate_of })
    }

    fn write(&self, style: &Style<'_>) -> String {
        let mut lines = Vec::new();
        let n = self.k.len();
        let mut used: Vec<Symbol> = Vec::new();
        for p in self.mass.iter().chain(&self.k).chain(&self.q).chain(&self.parts) {
            used.extend(p.symbols());
        }
        used.sort();
        used.dedup();
        for (i, name) in self.names[0].iter().enumerate() {
            lines.push((style.symbol(Symbol::Coordinate(i)), style.words(name)));
        }
        for (i, name) in self.names[1].iter().enumerate().filter(|(i, _)| self.rate_of[*i].is_none()) {
            lines.push((style.symbol(Symbol::Velocity(i)), style.words(&format!("velocity {name}"))));
        }
        for &symbol in &used {
            if let Symbol::Sine(i) | Symbol::Cosine(i) = symbol {
                let function = if matches!(symbol, Symbol::Sine(_)) { "sin" } else { "cos" };
                let slash = if style.latex { "\\" } else { "" };
                let of = style.symbol(Symbol::Coordinate(i));
                lines.push((style.symbol(symbol), format!("{slash}{function} {of}")));
            }
        }
        for (i, part) in self.parts.iter().enumerate().rev() {
            lines.push((style.symbol(Symbol::Named(i)), style.polynomial(part)));
        }
        for row in 0..n {
            for col in 0..=row {
                lines.push((style.indexed("M", &[row, col]), style.polynomial(&self.mass[row * n + col])));
            }
        }
        for (name, list) in [("k", &self.k), ("q", &self.q)] {
            for (i, p) in list.iter().enumerate() {
                lines.push((style.indexed(name, &[i]), style.polynomial(p)));
            }
        }
        if style.latex {
            let body: Vec<String> = lines.iter().map(|(left, right)| format!("{left} &= {right}")).collect();
            let head = "\\begin{equation*}\n\\mathbf{M}(\\mathbf{y})\\,\\ddot{\\mathbf{y}} + \
                        \\mathbf{k}(\\mathbf{y}, \\dot{\\mathbf{y}}) = \\mathbf{q}(\\mathbf{y}, \\dot{\\mathbf{y}})\n\\end{equation*}";
            return format!("{head}\n\\begin{{align*}}\n{}\n\\end{{align*}}\n", body.join(" \\\\\n"));
        }
        let mut out = String::from("M(y) y'' + k(y, y') = q(y, y'), M symmetric\n\n");
        lines.iter().for_each(|(left, right)| out.push_str(&format!("{left} = {right}\n")));
        out
    }
}

fn sorted(mut m: Monomial) -> Monomial {
    m.sort();
    m
}

/// The longest sum, of two terms at least, that two polynomials have in common but for a number.
fn longest_common(pieces: &[Polynomial]) -> Option<Polynomial> {
    let mut best = Polynomial::default();
    for (i, a) in pieces.iter().enumerate() {
        for b in &pieces[..i] {
            if a.len().min(b.len()) > best.len().max(1) {
                let common = a.common(b);
                best = if common.len() > best.len().max(1) { common } else { best };
            }
        }
    }
    (!best.is_empty()).then_some(best)
}

/// How symbols are written.
struct Style<'a> {
    latex: bool,
    rate_of: &'a [Option<usize>],
}

impl Style<'_> {
    fn indexed(&self, name: &str, index: &[usize]) -> String {
        let numbers: Vec<String> = index.iter().map(|i| (i + 1).to_string()).collect();
        match self.latex {
            true => format!("{name}_{{{}}}", numbers.join(",")),
            false => format!("{name}{}", numbers.join("_")),
        }
    }

    fn words(&self, name: &str) -> String {
        if self.latex { format!("\\text{{{}}}", name.replace('_', "\\_")) } else { name.to_owned() }
    }

    fn symbol(&self, symbol: Symbol) -> String {
        match symbol {
            Symbol::Sine(i) => self.indexed("s", &[i]),
            Symbol::Cosine(i) => self.indexed("c", &[i]),
            Symbol::Coordinate(i) | Symbol::Scalar(i) => self.indexed("y", &[i]),
            Symbol::Velocity(i) => match (self.rate_of[i], self.latex) {
                (Some(at), true) => format!("\\dot{{y}}_{{{}}}", at + 1),
                (Some(at), false) => format!("y{}'", at + 1),
                (None, _) => self.indexed("z", &[i]),
            },
            Symbol::Acceleration(i) => self.indexed("a", &[i]),
            Symbol::Drive(i) if self.latex => format!("\\tau_{{{}}}", i + 1),
            Symbol::Drive(i) => self.indexed("tau", &[i]),
            Symbol::Named(i) => self.indexed("p", &[i]),
        }
    }

    fn polynomial(&self, p: &Polynomial) -> String {
        if p.is_empty() {
            return "0".into();
        }
        let mut out = String::new();
        for (m, c) in p.terms() {
            let sign = match (c < 0.0, out.is_empty()) {
                (true, true) => "-",
                (true, false) => " - ",
                (false, true) => "",
                (false, false) => " + ",
            };
            let factors: Vec<String> = m.iter().map(|&(s, n)| self.power(s, n)).collect();
            let number = number(c.abs(), self.latex);
            out.push_str(sign);
            if m.is_empty() || number != "1" {
                out.push_str(&number);
                out.push_str(if m.is_empty() { "" } else { " " });
            }
            out.push_str(&factors.join(" "));
        }
        out
    }

    fn power(&self, symbol: Symbol, n: u32) -> String {
        let name = self.symbol(symbol);
        if n == 1 { name } else { format!("{name}^{n}") }
    }
}

/// Twelve digits, without zeros at the end.
fn number(x: f64, latex: bool) -> String {
    let rounded: f64 = format!("{x:.11e}").parse().unwrap_or(x);
    if rounded != 0.0 && !(1e-4..1e7).contains(&rounded) {
        let text = format!("{rounded:e}");
        return match (text.split_once('e'), latex) {
            (Some((digits, power)), true) => format!("{digits} \\cdot 10^{{{power}}}"),
            _ => text,
        };
    }
    format!("{rounded}")
}
