//! A first guess for the next step: the increments of steps that are all alike lie on a smooth curve, which is extrapolated.
//!
//! With backward differences ∇ʲξ of the last increments the polynomial through m of them continues to Σ ∇ʲξ, j < m (Newton's formula at the next
//! place). On a motion of frequency ω differences shrink by 2 sin(ωh/2), until rounding, which they double, takes over; so terms are
//! added as long as they shrink by half. A guess changes the number of iterations, never what they converge to.

/// Differences up to this order are kept.
const DEPTH: usize = 13;
/// Fewer terms are worse than a parabola from the velocity at hand.
const LEAST: usize = 4;

/// The differences of the last increments, the newest in front.
pub(super) struct Course {
    size: usize,
    count: usize,
    /// ∇⁰, ∇¹, … one after another.
    table: Vec<f64>,
    carried: Vec<f64>,
}

impl Course {
    pub fn new(size: usize) -> Self {
        Self { size, count: 0, table: vec![0.0; DEPTH * size], carried: vec![0.0; size] }
    }

    /// Begins anew.
    pub fn clear(&mut self) {
        self.count = 0;
    }

    /// Takes the increment of a step.
    pub fn push(&mut self, increment: &[f64]) {
        let depth = (self.count + 1).min(DEPTH);
        self.carried.copy_from_slice(increment);
        for row in self.table.chunks_exact_mut(self.size.max(1)).take(depth) {
            difference(&mut self.carried, row);
        }
        self.count = depth;
    }

    /// The increment of the next step, if there are enough of them and they are smooth.
    pub fn guess(&self, out: &mut [f64]) -> bool {
        let (mut before, mut terms) = (f64::INFINITY, 0);
        out.fill(0.0);
        for differences in self.table.chunks_exact(self.size.max(1)).take(self.count) {
            let norm = squared(differences);
            // Squares: a quarter is a half.
            if norm > 0.25 * before {
                break;
            }
            before = norm;
            terms += 1;
            add(differences, out);
        }
        terms >= LEAST
    }

    /// What the next guess depends on.
    pub fn memory(&self, out: &mut Vec<f64>) {
        out.push(self.count as f64);
        out.extend(&self.table);
    }

    /// Takes it over; returns the rest.
    pub fn recall<'a>(&mut self, memory: &'a [f64]) -> &'a [f64] {
        let (&count, rest) = memory.split_first().expect("a memory of this method");
        let (table, rest) = rest.split_at(self.table.len());
        self.count = count as usize;
        self.table.copy_from_slice(table);
        rest
    }
}

/// The newest values move into `old`, their differences to what was there into `new`.
#[inline(never)]
fn difference(new: &mut [f64], old: &mut [f64]) {
    for (new, old) in new.iter_mut().zip(old) {
        (*new, *old) = (*new - *old, *new);
    }
}

#[inline(never)]
fn add(x: &[f64], out: &mut [f64]) {
    for (out, x) in out.iter_mut().zip(x) {
        *out += x;
    }
}

/// Σ x², in eight sums side by side.
#[inline(never)]
fn squared(x: &[f64]) -> f64 {
    let (chunks, rest) = x.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for chunk in chunks {
        (0..8).for_each(|k| sums[k] += chunk[k] * chunk[k]);
    }
    sums.iter().sum::<f64>() + rest.iter().map(|x| x * x).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cubic polynomials are continued exactly once four of their values are known. The differences of two waves of 0.2 rad, a quarter apart, shrink
    /// by 2 sin 0.1 each time, whatever their phase: the first that is left out bounds the error, and rounding doubles with each order.
    #[test]
    fn smooth_courses_go_on() {
        let mut guess = [0.0];
        let mut cubic = Course::new(1);
        (80..100).for_each(|k| cubic.push(&[f64::from(k).powi(3)]));
        assert!(cubic.guess(&mut guess));
        // Whole numbers are not rounded.
        assert_eq!(guess, [1e6]);
        let mut guess = [0.0; 2];
        let mut wave = Course::new(2);
        let at = |k: i32| [(0.2 * f64::from(k)).sin(), (0.2 * f64::from(k)).cos()];
        (80..100).for_each(|k| wave.push(&at(k)));
        assert!(wave.guess(&mut guess));
        let shrink = 2.0 * 0.1_f64.sin();
        let bound = shrink.powi(DEPTH as i32) / (1.0 - shrink) + f64::EPSILON * 2_f64.powi(DEPTH as i32);
        let exact = at(100);
        assert!((guess[0] - exact[0]).hypot(guess[1] - exact[1]) < bound, "{guess:?} {exact:?} {bound:e}");
        wave.clear();
        wave.push(&[1.0, 0.0]);
        assert!(!wave.guess(&mut guess));
    }

    /// Two increments in turn, as of a resonance: differences grow.
    #[test]
    fn rough_courses_are_not_extrapolated() {
        let mut course = Course::new(1);
        (0..10).for_each(|k| course.push(&[if k % 2 == 0 { 1.0 } else { -1.0 }]));
        assert!(!course.guess(&mut [0.0]));
    }
}
