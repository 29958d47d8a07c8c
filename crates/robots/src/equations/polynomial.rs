//! Polynomials in sines, cosines, coordinates, velocities and accelerations, in one canonical form.
//!
//! Products are multiplied out, and sin² is replaced by 1 − cos² (for unit quaternions the square of the scalar part by one minus the
//! others), so that two expressions are equal exactly if their terms are.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Add, Mul, Neg, Sub};

/// Terms below this part of the largest one are rounding.
const ROUNDING: f64 = 1e-14;

/// What a polynomial is in; the numbers are those of coordinates or velocities.
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Symbol {
    /// The sine of a coordinate.
    Sine(usize),
    /// The cosine of a coordinate.
    Cosine(usize),
    /// A coordinate.
    Coordinate(usize),
    /// The scalar part of a unit quaternion, by its coordinate; the others are the next three.
    Scalar(usize),
    /// A velocity.
    Velocity(usize),
    /// An acceleration.
    Acceleration(usize),
    /// The force of a drive on a velocity.
    Drive(usize),
    /// A named part.
    Named(usize),
}

/// A product of powers, ascending.
pub type Monomial = Vec<(Symbol, u32)>;

/// A polynomial: coefficients by monomials.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Polynomial {
    terms: BTreeMap<Monomial, f64>,
}

impl Polynomial {
    /// A number.
    pub fn constant(value: f64) -> Self {
        let mut out = Self::default();
        out.put(Vec::new(), value);
        out
    }

    /// A symbol.
    pub fn symbol(symbol: Symbol) -> Self {
        let mut out = Self::default();
        out.put(vec![(symbol, 1)], 1.0);
        out
    }

    /// The terms, in a fixed order.
    pub fn terms(&self) -> impl Iterator<Item = (&Monomial, f64)> {
        self.terms.iter().map(|(m, c)| (m, *c))
    }

    /// The number of terms.
    pub fn len(&self) -> usize {
        self.terms.len()
    }

    /// Whether it is zero.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Adds a term.
    pub fn put(&mut self, monomial: Monomial, coefficient: f64) {
        if coefficient != 0.0 {
            *self.terms.entry(monomial).or_insert(0.0) += coefficient;
        }
    }

    /// The same times a number.
    pub fn scaled(&self, factor: f64) -> Self {
        let mut out = Self::default();
        self.terms().for_each(|(m, c)| out.put(m.clone(), c * factor));
        out
    }

    /// The largest coefficient.
    pub fn largest(&self) -> f64 {
        self.terms.values().fold(0.0, |max, c| max.max(c.abs()))
    }

    /// Leaves out terms that are rounding beside coefficients of this size.
    pub fn cleaned(mut self, size: f64) -> Self {
        self.terms.retain(|_, c| c.abs() > ROUNDING * size);
        self
    }

    /// The value for given values of symbols.
    pub fn value(&self, of: &dyn Fn(Symbol) -> f64) -> f64 {
        self.terms().map(|(m, c)| m.iter().fold(c, |x, &(s, n)| x * of(s).powi(n as i32))).sum()
    }

    /// All symbols in it.
    pub fn symbols(&self) -> BTreeSet<Symbol> {
        self.terms.keys().flatten().map(|(s, _)| *s).collect()
    }

    /// The terms sorted by what `key` takes out of their monomials: for each such factor the polynomial it multiplies.
    pub fn sorted(&self, key: impl Fn(Symbol) -> bool) -> BTreeMap<Monomial, Polynomial> {
        let mut out: BTreeMap<Monomial, Polynomial> = BTreeMap::new();
        for (m, c) in self.terms() {
            let (taken, rest): (Monomial, Monomial) = m.iter().partition(|(s, _)| key(*s));
            out.entry(taken).or_default().put(rest, c);
        }
        out
    }

    /// The longest part that two polynomials have in common but for a number, with 1 for its first coefficient.
    pub fn common(&self, o: &Polynomial) -> Polynomial {
        let mut ratios: BTreeMap<String, Vec<&Monomial>> = BTreeMap::new();
        for (m, c) in self.terms() {
            if let Some(other) = o.terms.get(m) {
                ratios.entry(format!("{:.10e}", other / c)).or_default().push(m);
            }
        }
        let Some(shared) = ratios.into_values().max_by_key(Vec::len) else { return Polynomial::default() };
        let first = self.terms[shared[0]];
        let mut out = Polynomial::default();
        shared.into_iter().for_each(|m| out.put(m.clone(), self.terms[m] / first));
        out
    }

    /// If it holds a multiple of a part: the factor, and what is left.
    pub fn without(&self, part: &Polynomial) -> Option<(f64, Polynomial)> {
        let (first, unit) = part.terms().next()?;
        let factor = self.terms.get(first)? / unit;
        let mut rest = self.clone();
        for (m, c) in part.terms() {
            let own = rest.terms.remove(m)?;
            if (own - factor * c).abs() > 1e-10 * own.abs() {
                return None;
            }
        }
        Some((factor, rest))
    }

    /// Adds coefficient · m, with the squares of sines and scalar parts replaced.
    fn put_reduced(&mut self, m: Monomial, c: f64) {
        let found = m.iter().position(|&(s, n)| n >= 2 && matches!(s, Symbol::Sine(_) | Symbol::Scalar(_)));
        let Some(at) = found else { return self.put(m, c) };
        let symbol = m[at].0;
        let mut rest = m;
        rest[at].1 -= 2;
        rest.retain(|(_, n)| *n > 0);
        let with = |s: Symbol| product(&rest, &vec![(s, 2)]);
        match symbol {
            Symbol::Scalar(i) => (1..4).for_each(|k| self.put_reduced(with(Symbol::Coordinate(i + k)), -c)),
            Symbol::Sine(i) => self.put_reduced(with(Symbol::Cosine(i)), -c),
            _ => {}
        }
        self.put_reduced(rest, c);
    }
}

/// The product of two monomials.
fn product(a: &Monomial, b: &Monomial) -> Monomial {
    let mut powers: BTreeMap<Symbol, u32> = a.iter().copied().collect();
    b.iter().for_each(|&(s, n)| *powers.entry(s).or_insert(0) += n);
    powers.into_iter().collect()
}

impl Add<&Polynomial> for Polynomial {
    type Output = Polynomial;
    fn add(mut self, o: &Polynomial) -> Polynomial {
        let size = self.largest().max(o.largest());
        for (m, c) in o.terms() {
            self.put(m.clone(), c);
        }
        self.cleaned(size)
    }
}

impl Sub<&Polynomial> for Polynomial {
    type Output = Polynomial;
    fn sub(self, o: &Polynomial) -> Polynomial {
        self + &o.scaled(-1.0)
    }
}

impl Neg for Polynomial {
    type Output = Polynomial;
    fn neg(self) -> Polynomial {
        self.scaled(-1.0)
    }
}

impl Mul for &Polynomial {
    type Output = Polynomial;
    fn mul(self, o: &Polynomial) -> Polynomial {
        let mut out = Polynomial::default();
        for (a, x) in self.terms() {
            for (b, y) in o.terms() {
                out.put_reduced(product(a, b), x * y);
            }
        }
        let size = self.largest() * o.largest();
        out.cleaned(size)
    }
}
