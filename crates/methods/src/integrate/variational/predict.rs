//! First guesses: values that follow one another at equal distances of time on a smooth curve are extrapolated.
//!
//! The polynomial through the last m of them goes on to Σ (−1)ⁱ C(m, i + 1) xᵢ, i = 0 … m − 1, the newest first. On a motion of frequency ω each term more
//! shrinks what is left out by 2 sin(ωh/2) and doubles rounding. Which m is best is found by trial: now and then the one beside is computed too, and taken where it
//! would have been nearer. A guess changes the number of iterations, never what they converge to.

/// Values that are kept; a power of two.
const DEPTH: usize = 16;
/// Polynomials of fewer terms are worse than a parabola from the velocity at hand.
const LEAST: usize = 4;
/// The term beside is tried in one of so many steps, once all values are there.
const SELDOM: usize = 8;
/// Numbers side by side.
const SIDE: usize = 8;

/// Numbers side by side, as kept one after another in time.
type Ring = [[f64; SIDE]; DEPTH];

/// The last values of a curve.
pub(super) struct Course {
    rings: Vec<Ring>,
    /// How many values there were, and where in the rings the next one goes.
    count: usize,
    next: usize,
    /// Terms to use; one less than [`LEAST`] if none are good enough.
    terms: usize,
    guesses: usize,
    /// Guesses of the next value by as many terms as are used, and by one more or less.
    tried: [Vec<[f64; SIDE]>; 2],
    /// How many the other one has, if there is one.
    other: Option<usize>,
}

impl Course {
    /// For values of so many numbers.
    pub fn new(size: usize) -> Self {
        let chunks = size.div_ceil(SIDE);
        let zeros = || vec![[0.0; SIDE]; chunks];
        Self {
            rings: vec![[[0.0; SIDE]; DEPTH]; chunks],
            count: 0,
            next: 0,
            terms: LEAST - 1,
            guesses: 0,
            tried: [zeros(), zeros()],
            other: None,
        }
    }

    /// Begins anew.
    pub fn clear(&mut self) {
        (self.count, self.next, self.terms, self.guesses, self.other) = (0, 0, LEAST - 1, 0, None);
        // What is not used is multiplied by zero.
        self.rings.fill([[0.0; SIDE]; DEPTH]);
    }

    /// Takes a value.
    pub fn push(&mut self, value: &[f64]) {
        if let Some(other) = self.other.take() {
            let [used, beside] = self.tried.each_ref().map(|tried| off(tried, value));
            if beside < used {
                self.terms = other;
            }
        }
        for (ring, own) in self.rings.iter_mut().zip(value.chunks(SIDE)) {
            ring[self.next][..own.len()].copy_from_slice(own);
        }
        (self.next, self.count) = ((self.next + 1) % DEPTH, self.count + 1);
    }

    /// The next value, if those before are enough and smooth.
    pub fn guess(&mut self, out: &mut [f64]) -> bool {
        if self.count < self.terms.max(LEAST) {
            return false;
        }
        self.guesses += 1;
        self.other = self.beside();
        for (terms, tried) in [Some(self.terms), self.other].into_iter().zip(&mut self.tried) {
            if let Some(terms) = terms {
                let weights = turned(&WEIGHTS[terms - 1], self.next);
                self.rings.iter().zip(tried).for_each(|(ring, tried)| *tried = sum(ring, &weights));
            }
        }
        out.copy_from_slice(&self.tried[0].as_flattened()[..out.len()]);
        self.terms >= LEAST
    }

    /// The number of terms to try beside the one in use: one more while values come in, then more and less by turns.
    fn beside(&self) -> Option<usize> {
        let filling = self.count < 2 * DEPTH;
        let up = filling || self.guesses.is_multiple_of(2 * SELDOM);
        let other = if up { self.terms + 1 } else { self.terms - 1 };
        let due = filling || self.guesses.is_multiple_of(SELDOM);
        (due && (LEAST - 1..=self.count.min(DEPTH)).contains(&other)).then_some(other)
    }

    /// What the next guess depends on.
    pub fn memory(&self, out: &mut Vec<f64>) {
        out.extend([self.count, self.next, self.terms, self.guesses].map(|number| number as f64));
        out.extend(self.rings.as_flattened().as_flattened());
    }

    /// Takes it over; returns the rest.
    pub fn recall<'a>(&mut self, memory: &'a [f64]) -> &'a [f64] {
        let (numbers, rest) = memory.split_first_chunk().expect("a memory of this method");
        let (values, rest) = rest.split_at(self.rings.len() * DEPTH * SIDE);
        [self.count, self.next, self.terms, self.guesses] = numbers.map(|number: f64| number as usize);
        self.rings.as_flattened_mut().as_flattened_mut().copy_from_slice(values);
        self.other = None;
        rest
    }
}

/// (−1)ⁱ C(m, i + 1) by numbers of terms m = 1 … [`DEPTH`] and age i.
const WEIGHTS: [[f64; DEPTH]; DEPTH] = {
    let mut out = [[0.0; DEPTH]; DEPTH];
    let mut m = 1;
    while m <= DEPTH {
        let (mut i, mut next) = (0, m as f64);
        while i < m {
            out[m - 1][i] = next;
            next *= -((m - i - 1) as f64) / (i + 2) as f64;
            i += 1;
        }
        m += 1;
    }
    out
};

/// Weights by places in a ring whose next place is given.
fn turned(weights: &[f64; DEPTH], next: usize) -> [f64; DEPTH] {
    std::array::from_fn(|place| weights[(next + DEPTH - 1 - place) % DEPTH])
}

fn sum(ring: &Ring, weights: &[f64; DEPTH]) -> [f64; SIDE] {
    let mut out = [0.0; SIDE];
    for (values, weight) in ring.iter().zip(weights) {
        (0..SIDE).for_each(|k| out[k] += weight * values[k]);
    }
    out
}

/// The square of how far a guess is off.
fn off(guess: &[[f64; SIDE]], value: &[f64]) -> f64 {
    guess.as_flattened().iter().zip(value).map(|(guess, value)| (guess - value).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Guesses and takes one value after another; returns the last guess, if there is one.
    fn follow<const N: usize>(course: &mut Course, values: impl Iterator<Item = [f64; N]>) -> Option<[f64; N]> {
        let mut guess = None;
        for value in values {
            let mut next = [0.0; N];
            guess = course.guess(&mut next).then_some(next);
            course.push(&value);
        }
        guess
    }

    /// Cubic polynomials are continued exactly. The differences of two waves of 0.2 rad, a quarter apart, shrink
    /// by 2 sin 0.1 each time, whatever their phase: the first that is left out bounds the error.
    #[test]
    fn smooth_courses_go_on() {
        let mut cubic = Course::new(1);
        let last = follow(&mut cubic, (80..100).map(|k| [f64::from(k).powi(3)]));
        // Whole numbers are not rounded.
        assert_eq!(last, Some([99_f64.powi(3)]));
        let mut wave = Course::new(2);
        let at = |k: i32| [(0.2 * f64::from(k)).sin(), (0.2 * f64::from(k)).cos()];
        let guess = follow(&mut wave, (80..=100).map(at)).unwrap_or_default();
        let shrink = 2.0 * 0.1_f64.sin();
        // Weights add up to 2ᵐ − 1 in size, which bounds every sum on the way; each of m is rounded.
        let rounding = DEPTH as f64 * f64::EPSILON * 2_f64.powi(DEPTH as i32);
        let bound = shrink.powi(DEPTH as i32) / (1.0 - shrink) + rounding;
        let exact = at(100);
        assert!((guess[0] - exact[0]).hypot(guess[1] - exact[1]) < bound, "{guess:?} {exact:?} {bound:e}");
        wave.clear();
        wave.push(&[1.0, 0.0]);
        assert!(!wave.guess(&mut [0.0; 2]));
    }

    /// Two increments in turn, as of a resonance: differences grow.
    #[test]
    fn rough_courses_are_not_extrapolated() {
        let mut course = Course::new(1);
        assert_eq!(follow(&mut course, (0..40).map(|k| [if k % 2 == 0 { 1.0 } else { -1.0 }])), None);
    }

    /// A course that goes on from a memory has the same bits.
    #[test]
    fn memories_go_on() {
        let at = |k: i32| [(0.3 * f64::from(k)).sin(), (0.7 * f64::from(k)).cos()];
        let (mut one, mut other) = (Course::new(2), Course::new(2));
        follow(&mut one, (0..77).map(at));
        let mut memory = Vec::new();
        one.memory(&mut memory);
        assert!(other.recall(&memory).is_empty());
        let [a, b] = [&mut one, &mut other].map(|course| follow(course, (77..120).map(at)));
        assert!(a.is_some() && a == b);
    }
}
