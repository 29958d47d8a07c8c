//! Order and step size chosen together: the number of columns that advances time with the least work.
//!
//! After \[3\] section II.9 and its code ODEX, for an expansion in h: with k columns the estimated error e_k behaves like H^k, so
//!
//! ```text
//! H_k = H · safety · (0.65 / e_k)^{1/k},   W_k = A_k / H_k
//! ```
//!
//! are the step that k columns allow and their work per unit of time; A_k counts forces and factorisations. A step aims at
//! the column k that was best last time and may end one column before or after it. It is given up as soon as
//! e_{k+1} ≤ 1 is not to be expected. Each further column is hoped to bring the error down by n_{j+1}/n₁, as in \[3\], or by
//! the ratio of the last two errors if that is more. (The first alone holds where H is as long as the order allows; when
//! `largest_order` keeps steps short, errors fall faster, and it would throw away good steps.)

/// The most columns of an extrapolation table.
pub(super) const MOST: usize = 12;
/// Fewest columns aimed at under control of the order; a step may end one earlier. So continuous output has order 3 at least.
const LEAST: usize = 4;
/// Part of the tolerance aimed at.
const AIM: f64 = 0.65;
/// Bounds of H_k / H: the k-th root of `CHANGE[0]`, and four times less; the inverse of that root.
const CHANGE: [f64; 2] = [0.02, 4.0];
/// One column less is taken if its work is below this part of the work now, ...
const FEWER: f64 = 0.8;
/// ... one column more if the last one brought the work below this part.
const MORE: f64 = 0.9;

/// What to do after a column.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// Compute one more column.
    Continue,
    /// The step is good.
    Accept,
    /// The step is too long.
    Reject,
}

/// The controller of order and step size.
#[derive(Clone, Debug)]
pub(super) struct Control {
    safety: f64,
    largest: usize,
    /// The number of columns in every step, if it is prescribed.
    fixed: Option<usize>,
    /// The column aimed at.
    pub target: usize,
    /// A_k, the work of a step with k columns.
    work: [f64; MOST + 1],
    /// H_k.
    step: [f64; MOST + 1],
    /// W_k.
    cost: [f64; MOST + 1],
    /// The error of the column before; 0 before the first.
    before: f64,
}

impl Control {
    /// A controller; `fixed` prescribes the number of columns.
    pub fn new(safety: f64, largest: usize, fixed: Option<usize>) -> Self {
        let zeros = [0.0; MOST + 1];
        Self { safety, largest, fixed, target: 0, work: zeros, step: zeros, cost: zeros, before: 0.0 }
    }

    /// Takes the work of the system's columns and a first guess of the order: about ten columns for 1e-13.
    pub fn start(&mut self, constrained: bool, tolerance: f64) {
        for k in 1..=MOST {
            self.work[k] = forces(k) as f64 + if constrained { (factorisations(k) + 2) as f64 } else { 0.0 };
        }
        let guess = (-0.6 * tolerance.log10() + 1.5) as usize;
        self.target = self.fixed.unwrap_or(guess.clamp(LEAST, self.largest - 1));
    }

    /// Forgets the columns of an attempt before.
    pub fn begin(&mut self) {
        self.before = 0.0;
    }

    /// Judges the attempt of length `h` after column `k` with this error; `early` ends at the first column that is good.
    pub fn judge(&mut self, k: usize, h: f64, error: f64, early: bool) -> Verdict {
        let root = 1.0 / k as f64;
        let slowest = CHANGE[0].powf(root);
        let factor = self.safety * (AIM / error.max(f64::MIN_POSITIVE)).powf(root);
        self.step[k] = h * factor.clamp(slowest / CHANGE[1], 1.0 / slowest);
        self.cost[k] = self.work[k] / self.step[k];
        if let Some(fixed) = self.fixed {
            return match error <= 1.0 {
                _ if k < fixed => Verdict::Continue,
                true => Verdict::Accept,
                false => Verdict::Reject,
            };
        }
        // ODEX gives up when an error above the tolerance grows to more than four times the one before.
        let before = std::mem::replace(&mut self.before, error);
        let diverges = k > 2 && error >= (4.0 * before).max(1.0);
        let first = if early { LEAST - 1 } else { self.target - 1 };
        if error <= 1.0 && k >= first {
            return Verdict::Accept;
        }
        let fall = |l: usize| (l as f64).max(before / error);
        let hope: f64 = (k + 1..=self.target + 1).map(fall).product();
        if diverges || (k + 1 >= self.target && error > hope) || k > self.target {
            return Verdict::Reject;
        }
        Verdict::Continue
    }

    /// The next step after one of length `h` was accepted in column `k`; sets the next order.
    pub fn accept(&mut self, k: usize, h: f64, rejected: bool) -> f64 {
        if self.fixed.is_some() {
            return if rejected { h.min(self.step[k]) } else { self.step[k] };
        }
        let (w, target) = (&self.cost, self.target);
        let mut best = k;
        if k > target {
            best = if w[k - 2] < FEWER * w[k - 1] { k - 2 } else { k - 1 };
            if w[k] < MORE * w[best] {
                best = k;
            }
        } else if w[k - 1] < FEWER * w[k] {
            best = k - 1;
        } else if w[k] < MORE * w[k - 1] {
            best = k + 1;
        }
        best = best.clamp(LEAST, self.largest - 1);
        if rejected {
            self.target = best.min(k).max(LEAST);
            return h.min(self.step[self.target.min(k)]);
        }
        self.target = best;
        match best {
            _ if best <= k => self.step[best],
            // The work may grow with the order: the step as much.
            _ if k < target && w[k] < MORE * w[k - 1] => self.step[k] * self.work[best + 1] / self.work[k],
            _ => self.step[k] * self.work[best] / self.work[k],
        }
    }

    /// The next attempt after one of length `h` was given up in column `k`; sets its order.
    pub fn reject(&mut self, k: usize, h: f64) -> f64 {
        if self.fixed.is_none() {
            let mut best = self.target.min(k);
            if best > 2 && self.cost[best - 1] < FEWER * self.cost[best] {
                best -= 1;
            }
            self.target = best.clamp(LEAST, self.largest - 1);
        }
        self.step[self.target.min(k)].min(0.9 * h)
    }
}

/// Evaluations of forces in a step with k columns: the one at the base is shared.
fn forces(k: usize) -> usize {
    1 + k * (k - 1) / 2
}

/// Factorisations of a step with k columns, projections left out.
fn factorisations(k: usize) -> usize {
    k * (k + 1) / 2
}
