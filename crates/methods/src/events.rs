//! Events: zeros of scalar functions of the state, located on the continuous output of a step.
//!
//! A trigger fires where its function changes sign in its direction. Each step is sampled at a few points. Between samples
//! of opposite sign a zero is bracketed; between samples of the same sign the slopes tell whether there is an extreme
//! towards zero, which is then followed as long as it may reach it, so that a pair of zeros inside one step is found as well. A function that only
//! touches zero fires triggers of both directions. Brackets are closed by Chandrupatla's method \[1\] to 1e-12·max(1, |t|).
//!
//! A function that is zero at the start, or at the state with which a run goes on after its own event, counts as being on
//! the surface: leaving it is no event.
//!
//! References: \[1\] Chandrupatla: A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function,
//! Adv. Eng. Software 28 (1997) 145–149.

use crate::integrate::now;
use crate::system::{State, System};

/// Sub-intervals into which a step is divided.
const PARTS: usize = 4;
/// The distance over which slopes are differenced, relative to a sub-interval.
const NEAR: f64 = 1e-4;
/// The location of events, in seconds where |t| < 1 s, relative elsewhere.
pub const LOCATION: f64 = 1e-12;

/// Which changes of sign matter.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From negative to positive.
    Rising,
    /// From positive to negative.
    Falling,
    /// Any, touching zero included.
    Both,
}

/// What a function did at an event.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum Crossing {
    /// It went from negative to positive.
    Rising,
    /// It went from positive to negative.
    Falling,
    /// It met zero and turned back.
    Touching,
}

/// What to watch for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trigger {
    /// The user's name of it.
    pub name: String,
    /// Which changes of sign fire it.
    pub direction: Direction,
    /// Whether the run stops there.
    pub terminal: bool,
}

/// A set of watched functions, evaluated together.
pub trait Triggers<Y: System> {
    /// What they are, in the order of their values.
    fn list(&self) -> &[Trigger];
    /// The values of all functions at a state.
    fn values(&mut self, y: &Y, s: &State<f64>, out: &mut [f64]);
    /// Whether they can make use of what others have computed of contacts.
    fn sees(&self) -> bool {
        false
    }
    /// The values of all functions at a state whose contacts others have computed.
    fn values_seen(&mut self, y: &Y, s: &State<f64>, _sight: &Sight, out: &mut [f64]) {
        self.values(y, s, out);
    }
}

/// What others have computed of the contacts of a state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sight {
    /// The gaps of all contacts, in m.
    pub gap: Vec<f64>,
    /// By rows of contacts the rates of closed ones, in m/s, and their forces, in N; what stands there for others is not read.
    pub rate: Vec<f64>,
    /// The forces.
    pub force: Vec<f64>,
}

/// Nothing is watched.
impl<Y: System> Triggers<Y> for () {
    fn list(&self) -> &[Trigger] {
        &[]
    }
    fn values(&mut self, _y: &Y, _s: &State<f64>, _out: &mut [f64]) {}
}

/// Triggers whose values one closure computes.
pub struct Watch<F> {
    list: Vec<Trigger>,
    values: F,
}

impl<F: FnMut(&State<f64>, &mut [f64])> Watch<F> {
    /// Triggers and the closure that writes their values, in the same order.
    pub fn new(list: Vec<Trigger>, values: F) -> Self {
        Self { list, values }
    }
}

impl<Y: System, F: FnMut(&State<f64>, &mut [f64])> Triggers<Y> for Watch<F> {
    fn list(&self) -> &[Trigger] {
        &self.list
    }
    fn values(&mut self, _y: &Y, s: &State<f64>, out: &mut [f64]) {
        (self.values)(s, out);
    }
}

/// A located event.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Hit {
    /// Which trigger.
    pub trigger: usize,
    /// When, in seconds.
    pub t: f64,
    /// What its function did.
    pub crossing: Crossing,
}

/// How closely events at `t` are located, in seconds.
pub fn location(t: f64) -> f64 {
    LOCATION * t.abs().max(1.0)
}

/// What a search asks for: the values of all functions at a time within the step. `true` asks for the best there is.
pub type Sample<'a> = dyn FnMut(f64, bool, &mut [f64]) + 'a;

/// The same for several times at once, one row each, by somebody who may have to be waited for.
pub(crate) trait Ask: AsyncFnMut(&[f64], bool, &mut [f64]) {}
impl<F: AsyncFnMut(&[f64], bool, &mut [f64])> Ask for F {}

/// Finds the events of one step after the other.
#[derive(Clone, Debug)]
pub struct Locator {
    directions: Vec<Direction>,
    terminal: Vec<bool>,
    /// On which side of zero each function was last: −1, 1, or 0 while it is on the surface.
    sides: Vec<f64>,
    /// Values at the samples, one row each, and near them; last among these those twice as far from the end.
    values: Vec<f64>,
    near: Vec<f64>,
    scratch: Vec<f64>,
    hits: Vec<Hit>,
}

impl Locator {
    /// A locator for these triggers; [`Locator::begin`] comes next.
    pub fn new(list: &[Trigger]) -> Self {
        let n = list.len();
        Self {
            directions: list.iter().map(|trigger| trigger.direction).collect(),
            terminal: list.iter().map(|trigger| trigger.terminal).collect(),
            sides: vec![0.0; n],
            values: vec![0.0; (PARTS + 1) * n],
            near: vec![0.0; (PARTS + 2) * n],
            scratch: vec![0.0; n],
            // Two for each sub-interval is the most a search can find.
            hits: Vec::with_capacity(2 * PARTS * n),
        }
    }

    /// Begins with the values at a state; functions in `on_surface` count as zero there.
    pub fn begin(&mut self, values: &[f64], on_surface: &[Hit]) {
        let n = self.sides.len();
        self.values[PARTS * n..].copy_from_slice(values);
        for (side, value) in self.sides.iter_mut().zip(values) {
            *side = sign(*value);
        }
        for hit in on_surface {
            self.sides[hit.trigger] = 0.0;
        }
    }

    /// On which side of zero each function is: −1, 1, or 0 on the surface. With the state this is all a search depends on.
    pub fn sides(&self) -> &[f64] {
        &self.sides
    }

    /// Goes on where another locator was: the values at the state and its sides.
    pub fn recall(&mut self, values: &[f64], sides: &[f64]) {
        self.begin(values, &[]);
        self.sides.copy_from_slice(sides);
    }

    /// All events of the step from `t` to `end`, in order of time; `last` are the values at its end. After a terminal one, what comes later may be left out.
    pub fn search(&mut self, t: f64, end: f64, last: &[f64], sample: &mut Sample<'_>) -> &[Hit] {
        let count = self.sides.len();
        now(self.search_with(t, end, last, &mut async |times: &[f64], best: bool, out: &mut [f64]| {
            times.iter().zip(out.chunks_exact_mut(count)).for_each(|(&t, row)| sample(t, best, row));
        }))
    }

    /// The same with samples that may have to be waited for.
    pub(crate) async fn search_with(&mut self, t: f64, end: f64, last: &[f64], sample: &mut impl Ask) -> &[Hit] {
        let n = self.directions.len();
        self.hits.clear();
        if n == 0 {
            return &self.hits;
        }
        let part = (end - t) / PARTS as f64;
        let time = |k: usize| if k == PARTS { end } else { t + part * k as f64 };
        self.values.copy_within(PARTS * n.., 0);
        let inner: [f64; PARTS - 1] = std::array::from_fn(|k| time(k + 1));
        sample(&inner, false, &mut self.values[n..PARTS * n]).await;
        self.values[PARTS * n..].copy_from_slice(last);
        if (0..n).all(|i| self.clear(i)) {
            return &self.hits;
        }
        let near = NEAR * part;
        let beside: [f64; PARTS + 2] = std::array::from_fn(|k| match k {
            0..PARTS => time(k) + near,
            PARTS => end - near,
            _ => end - 2.0 * near,
        });
        sample(&beside, false, &mut self.near).await;
        // Slopes come from the continuous output alone.
        let (nearest, second) = self.near[PARTS * n..].split_at_mut(n);
        for (near, (before, value)) in nearest.iter_mut().zip(second.iter().zip(last)) {
            *near = value + (*near - before);
        }
        for (side, near) in self.sides.iter_mut().zip(&self.near) {
            if *side == 0.0 {
                *side = sign(*near);
            }
        }
        for k in 0..PARTS {
            for i in 0..n {
                self.search_between(i, k, [time(k), time(k + 1)], sample).await;
            }
            let beyond = time(k + 1) - 4.0 * location(end);
            if self.hits.iter().any(|hit| self.terminal[hit.trigger] && hit.t < beyond) {
                break;
            }
        }
        self.hits.sort_unstable_by(|a, b| a.t.total_cmp(&b.t).then(a.trigger.cmp(&b.trigger)));
        &self.hits
    }

    /// Whether the samples of a function are so far from zero that none lies between them.
    ///
    /// The polynomial through five samples at equal distances stays within Λ/2 = 1.1 times their range of the middle of it (Λ is the constant of Lebesgue),
    /// which is 0.61 times the range below the lowest of them. Twice the range leaves room for what that polynomial does not show.
    fn clear(&self, i: usize) -> bool {
        let n = self.sides.len();
        let side = self.sides[i];
        let samples = || (0..=PARTS).map(|k| side * self.values[k * n + i]);
        let (low, high) =
            samples().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
        side != 0.0 && low > 2.0 * (high - low) && samples().all(f64::is_finite)
    }

    /// Notes the events of one function in one sub-interval.
    async fn search_between(&mut self, i: usize, k: usize, times: [f64; 2], sample: &mut impl Ask) {
        let n = self.sides.len();
        let at = |values: &[f64], k: usize| values[k * n + i];
        let scale = (0..=PARTS).fold(0.0_f64, |largest, k| largest.max(at(&self.values, k).abs()));
        let (left, right) = (at(&self.values, k), at(&self.values, k + 1));
        let slopes = [at(&self.near, k) - left, at(&self.near, k + 1) - right];
        let scratch = &mut self.scratch;
        let mut f = async |t: f64| {
            sample(&[t], true, scratch).await;
            scratch[i]
        };
        let found = search_part(self.sides[i], times, [left, right], slopes, scale, &mut f).await;
        for (t, crossing) in found.into_iter().flatten() {
            let wanted = match (self.directions[i], crossing) {
                (Direction::Both, _) => true,
                (Direction::Rising, crossing) => crossing == Crossing::Rising,
                (Direction::Falling, crossing) => crossing == Crossing::Falling,
            };
            if wanted {
                self.hits.push(Hit { trigger: i, t, crossing });
            }
        }
        if right != 0.0 {
            self.sides[i] = sign(right);
        }
    }
}

/// The first hits that belong together: within the accuracy of their location.
pub fn group(hits: &[Hit]) -> &[Hit] {
    let Some(first) = hits.first() else { return hits };
    let together = hits.iter().take_while(|hit| hit.t - first.t <= 2.0 * location(first.t)).count();
    &hits[..together]
}

fn sign(value: f64) -> f64 {
    if value > 0.0 {
        1.0
    } else if value < 0.0 {
        -1.0
    } else {
        0.0
    }
}

/// The zeros in one sub-interval of a function that was on the given side before.
async fn search_part(
    side: f64,
    times: [f64; 2],
    values: [f64; 2],
    slopes: [f64; 2],
    scale: f64,
    f: &mut impl AsyncFnMut(f64) -> f64,
) -> [Option<(f64, Crossing)>; 2] {
    if side == 0.0 {
        return [None; 2];
    }
    let (leave, back) =
        if side > 0.0 { (Crossing::Falling, Crossing::Rising) } else { (Crossing::Rising, Crossing::Falling) };
    let [a, b] = times;
    let tolerance = 0.25 * location(b);
    // g is not negative where the function is on the known side; a value of the wrong sign at the left is rounding.
    let [left, right] = [(side * values[0]).max(0.0), side * values[1]];
    if right < 0.0 {
        // On the surface at the left, but leaving it on the known side: the zero sought is a later one, perhaps soon.
        let mut part = NEAR * (b - a);
        let mut risen = side * (values[0] + slopes[0]);
        while left == 0.0 && risen <= 0.0 && part > tolerance {
            part *= 0.1;
            risen = side * f(a + part).await;
        }
        if left == 0.0 && risen > 0.0 {
            let t = zero_with(&mut async |t| side * f(t).await, [a + part, b], [risen, right], tolerance).await;
            return [Some((t, leave)), None];
        }
        let t = zero_with(&mut async |t| side * f(t).await, [a, b], [left, right], tolerance).await;
        return [Some((t, leave)), None];
    }
    let turns = side * slopes[0] < 0.0 && side * slopes[1] >= 0.0;
    if !turns || left == 0.0 || stays_above([left, right], slopes.map(|slope| side * slope / NEAR)) {
        return [None; 2];
    }
    let (middle, lowest) = minimum(&mut async |t| side * f(t).await, times, [left, right], tolerance).await;
    if lowest < 0.0 {
        let first = zero_with(&mut async |t| side * f(t).await, [a, middle], [left, lowest], tolerance).await;
        let second = zero_with(&mut async |t| -side * f(t).await, [middle, b], [-lowest, -right], tolerance).await;
        [Some((first, leave)), Some((second, back))]
    } else if lowest <= LOCATION * scale {
        [Some((middle, Crossing::Touching)), None]
    } else {
        [None; 2]
    }
}

/// Whether a function that falls from its left value and rises to its right one stays far above zero between them, given its slopes over the interval.
///
/// A convex function lies above its tangents; where these meet is its lowest bound. A function that is not quite convex has half of its lower end to spare.
fn stays_above([left, right]: [f64; 2], [falls, rises]: [f64; 2]) -> bool {
    let meet = (right - rises - left) / (falls - rises);
    left + falls * meet > 0.5 * left.min(right)
}

/// A zero between two points, where g goes from not negative to negative (Chandrupatla \[1\]).
pub fn zero(g: &mut dyn FnMut(f64) -> f64, times: [f64; 2], values: [f64; 2], tolerance: f64) -> f64 {
    now(zero_with(&mut async |t| g(t), times, values, tolerance))
}

/// The same of a function whose values may have to be waited for.
async fn zero_with(g: &mut impl AsyncFnMut(f64) -> f64, times: [f64; 2], values: [f64; 2], tolerance: f64) -> f64 {
    // (a, fa) is the newest point, (b, fb) brackets the zero with it, (c, fc) is the one before.
    let ([mut b, mut a], [mut fb, mut fa]) = (times, values);
    if fb == 0.0 {
        return b;
    }
    let mut fraction = 0.5;
    for _ in 0..200 {
        let t = a + fraction * (b - a);
        let ft = g(t).await;
        let (c, fc);
        if (ft < 0.0) == (fa < 0.0) {
            (c, fc) = (a, fa);
        } else {
            (c, fc) = (b, fb);
            (b, fb) = (a, fa);
        }
        (a, fa) = (t, ft);
        let (best, least) = if fa.abs() < fb.abs() { (a, fa) } else { (b, fb) };
        let limit = tolerance / (b - a).abs();
        if limit >= 0.5 || least == 0.0 || limit.is_nan() {
            return best;
        }
        // Inverse quadratic interpolation where it is safe, else halving.
        let (xi, phi) = ((a - b) / (c - b), (fa - fb) / (fc - fb));
        fraction = if phi * phi < xi && (1.0 - phi) * (1.0 - phi) < 1.0 - xi {
            fa / (fb - fa) * fc / (fb - fc) + (c - a) / (b - a) * fa / (fc - fa) * fb / (fc - fb)
        } else {
            0.5
        };
        fraction = fraction.clamp(limit, 1.0 - limit);
    }
    a
}

/// The lowest point of g between two times by golden sections, or the first one met below zero, or any one as soon as it is clear that g stays above zero.
///
/// A convex function lies above the extensions of its chords. With points a < x < y < b in golden sections, whose distances are as 1 : Φ : 1 with Φ = 0.618…, this
/// gives
///
/// ```text
/// between x and y   g ≥ g(x) − Φ (g(a) − g(x))
/// left of x         g ≥ g(x) − (1 + Φ)(g(y) − g(x))
/// right of y        g ≥ g(y) − (1 + Φ)(g(x) − g(y))
/// ```
///
/// The search ends where these bounds are above half of the lowest value: a function that is not quite convex has the other half. Most minima of gaps and forces are
/// far from zero, and need a few values instead of some forty.
async fn minimum(
    g: &mut impl AsyncFnMut(f64) -> f64,
    [mut a, mut b]: [f64; 2],
    [mut ga, mut gb]: [f64; 2],
    tolerance: f64,
) -> (f64, f64) {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let (mut x, mut y) = (b - GOLDEN * (b - a), a + GOLDEN * (b - a));
    let (mut gx, mut gy) = (g(x).await, g(y).await);
    // Near its minimum a function cannot tell points closer than √ε of its scale apart.
    let resolution = tolerance.max(1e-9 * (b - a));
    while gx.min(gy) >= 0.0 && b - a > resolution {
        let inside = (gx - GOLDEN * (ga - gx).max(0.0)).max(gy - GOLDEN * (gb - gy).max(0.0));
        let outside = gx.min(gy) - (1.0 + GOLDEN) * (gx - gy).abs();
        if inside.min(outside) > 0.5 * gx.min(gy) {
            break;
        }
        if gx < gy {
            (b, gb, y, gy) = (y, gy, x, gx);
            x = b - GOLDEN * (b - a);
            gx = g(x).await;
        } else {
            (a, ga, x, gx) = (x, gx, y, gy);
            y = a + GOLDEN * (b - a);
            gy = g(y).await;
        }
    }
    if gx < gy { (x, gx) } else { (y, gy) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trigger(direction: Direction) -> Trigger {
        Trigger { name: "test".to_owned(), direction, terminal: false }
    }

    /// All events of plain functions of time over equal steps.
    fn watch(list: &[Trigger], functions: &[&dyn Fn(f64) -> f64], steps: &[f64]) -> Vec<Hit> {
        let values = |t: f64, out: &mut [f64]| {
            for (out, f) in out.iter_mut().zip(functions) {
                *out = f(t);
            }
        };
        let mut locator = Locator::new(list);
        let mut last = vec![0.0; list.len()];
        values(steps[0], &mut last);
        locator.begin(&last, &[]);
        let mut all = Vec::new();
        for pair in steps.windows(2) {
            values(pair[1], &mut last);
            all.extend_from_slice(locator.search(pair[0], pair[1], &last, &mut |t, _, out| values(t, out)));
        }
        all
    }

    fn times(hits: &[Hit]) -> Vec<f64> {
        hits.iter().map(|hit| hit.t).collect()
    }

    fn assert_close(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len(), "{found:?} {expected:?}");
        for (a, b) in found.iter().zip(expected) {
            assert!((a - b).abs() <= location(*b), "{a} {b}");
        }
    }

    #[test]
    fn simple_zeros_are_located_in_their_direction() {
        use std::f64::consts::PI;
        let steps: Vec<f64> = (0..=20).map(|k| 0.5 * f64::from(k)).collect();
        let f = |t: f64| t.sin();
        for (direction, expected) in [
            (Direction::Both, vec![PI, 2.0 * PI, 3.0 * PI]),
            (Direction::Rising, vec![2.0 * PI]),
            (Direction::Falling, vec![PI, 3.0 * PI]),
        ] {
            assert_close(&times(&watch(&[trigger(direction)], &[&f], &steps)), &expected);
        }
    }

    #[test]
    fn several_zeros_in_one_step_are_found() {
        // Three zeros in three different quarters, and a close pair inside one quarter.
        let cubic = |t: f64| (t - 0.1) * (t - 0.4) * (t - 0.9);
        assert_close(&times(&watch(&[trigger(Direction::Both)], &[&cubic], &[0.0, 1.0])), &[0.1, 0.4, 0.9]);
        let pair = |t: f64| (t - 0.6) * (t - 0.6001) + 0.0;
        let hits = watch(&[trigger(Direction::Both)], &[&pair], &[0.0, 1.0]);
        // The values there are 1e-4 times smaller than elsewhere, so the zeros are known to 1e-12 all the same.
        assert_close(&times(&hits), &[0.6, 0.6001]);
        assert_eq!((hits[0].crossing, hits[1].crossing), (Crossing::Falling, Crossing::Rising));
    }

    #[test]
    fn a_touch_fires_triggers_of_both_directions_only() {
        let touch = |t: f64| (t - 0.55) * (t - 0.55);
        let hits = watch(&[trigger(Direction::Both)], &[&touch], &[0.0, 1.0]);
        assert_eq!(hits.len(), 1);
        assert_eq!(hits[0].crossing, Crossing::Touching);
        // A minimum is known to the root of the value's resolution.
        assert!((hits[0].t - 0.55).abs() < 1e-6);
        assert!(watch(&[trigger(Direction::Falling)], &[&touch], &[0.0, 1.0]).is_empty());
        let near_miss = |t: f64| touch(t) + 1e-9;
        assert!(watch(&[trigger(Direction::Both)], &[&near_miss], &[0.0, 1.0]).is_empty());
    }

    /// A minimum that is far from zero costs a few values; one that is near costs what it must, and is judged as before.
    #[test]
    fn minima_far_from_zero_are_left_soon() {
        for (height, most) in [(1.0, 4), (0.1, 6), (0.01, 9), (1e-4, 16)] {
            let mut count = 0;
            let mut g = async |t: f64| {
                count += 1;
                (t - 0.37).powi(2) + height
            };
            let ends = [0.37f64.powi(2) + height, 0.63f64.powi(2) + height];
            let (_, lowest) = now(minimum(&mut g, [0.0, 1.0], ends, 1e-12));
            assert!(lowest > 0.0 && count <= most, "{height}: {count} values, {lowest}");
        }
        // A step over a dip: not convex, found all the same.
        let dip = |t: f64| 1.0 - 1.1 * (-((t - 0.4) / 0.05).powi(2)).exp();
        let hits = watch(&[trigger(Direction::Both)], &[&dip], &[0.3, 0.5]);
        let half = 0.05 * 1.1f64.ln().sqrt();
        assert_close(&times(&hits), &[0.4 - half, 0.4 + half]);
    }

    /// A step whose functions are all far from zero costs three samples, one in which one comes near nine at least.
    #[test]
    fn steps_far_from_zero_cost_three_samples() {
        let count = |f: &dyn Fn(f64) -> f64| {
            let mut locator = Locator::new(&[trigger(Direction::Falling)]);
            locator.begin(&[f(0.0)], &[]);
            let mut samples = 0;
            let hits = locator.search(0.0, 1.0, &[f(1.0)], &mut |t, _, out| {
                samples += 1;
                out[0] = f(t);
            });
            (hits.len(), samples)
        };
        assert_eq!(count(&|t| 2.5 - t), (0, 9));
        assert_eq!(count(&|t| 3.5 - t), (0, 3));
        assert_eq!(count(&|t| 1.0 + 8.0 * (t - 0.4) * (t - 0.4)), (0, 9));
        assert_eq!(count(&|t| 1.0 - 1.5 * t).0, 1);
    }

    /// A terminal event ends the search, but for what happens together with it at the border of two parts.
    #[test]
    fn nothing_is_sought_after_a_terminal_event() {
        let mut list = vec![trigger(Direction::Both), trigger(Direction::Both)];
        let (first, second) = (|t: f64| t - 0.1, |t: f64| t - 0.9);
        assert_close(&times(&watch(&list, &[&first, &second], &[0.0, 1.0])), &[0.1, 0.9]);
        list[0].terminal = true;
        assert_close(&times(&watch(&list, &[&first, &second], &[0.0, 1.0])), &[0.1]);
        let (before, after) = (|t: f64| t - (0.5 - 1e-13), |t: f64| t - (0.5 + 1e-13));
        let hits = watch(&list, &[&before, &after], &[0.0, 1.0]);
        assert_eq!(group(&hits).len(), 2);
    }

    #[test]
    fn leaving_the_surface_at_the_start_is_no_event() {
        let f = |t: f64| t * (t - 0.7);
        assert_close(&times(&watch(&[trigger(Direction::Both)], &[&f], &[0.0, 0.3, 1.0])), &[0.7]);
        assert!(watch(&[trigger(Direction::Both)], &[&|_| 0.0], &[0.0, 0.3, 1.0]).is_empty());
    }

    #[test]
    fn a_zero_at_the_end_of_a_step_is_found_once() {
        let f = |t: f64| t - 0.5;
        assert_close(&times(&watch(&[trigger(Direction::Both)], &[&f], &[0.0, 0.5, 1.0])), &[0.5]);
        assert_close(&times(&watch(&[trigger(Direction::Both)], &[&f], &[0.0, 0.25, 0.75, 1.0])), &[0.5]);
    }

    #[test]
    fn a_whole_bounce_in_one_part_of_a_step_is_found() {
        // Known to be above zero, a rounding error below it, and back within a tenth of a sub-interval.
        let f = |t: f64| t * (0.02 - t) - 1e-15;
        let mut locator = Locator::new(&[trigger(Direction::Falling)]);
        locator.recall(&[f(0.0)], &[1.0]);
        let hits = locator.search(0.0, 1.0, &[f(1.0)], &mut |t, _, out| out[0] = f(t));
        assert_close(&times(hits), &[0.02]);
        // Also if it is much shorter than the distance over which slopes are taken.
        let f = |t: f64| t * (1e-8 - t);
        locator.recall(&[f(0.0)], &[1.0]);
        let hits = locator.search(0.0, 1.0, &[f(1.0)], &mut |t, _, out| out[0] = f(t));
        assert_close(&times(hits), &[1e-8]);
    }

    #[test]
    fn simultaneous_events_make_one_group() {
        let f = |t: f64| t - 1.0 / 3.0;
        let g = |t: f64| 5.0 * (1.0 / 3.0 - t) * (2.0 + t);
        let late = |t: f64| t - 0.34;
        let list = [trigger(Direction::Both), trigger(Direction::Both), trigger(Direction::Both)];
        let hits = watch(&list, &[&f, &g, &late], &[0.0, 1.0]);
        assert_eq!(hits.len(), 3);
        let together = group(&hits);
        let mut members: Vec<_> = together.iter().map(|hit| hit.trigger).collect();
        members.sort_unstable();
        assert_eq!(members, [0, 1]);
        assert_eq!(group(&hits[2..]).len(), 1);
    }

    #[test]
    fn hard_brackets_close() {
        // Flat, steep and discontinuous functions: Chandrupatla's method never does worse than a few times bisection.
        for f in [
            (|t: f64| (t - 0.3).powi(9)) as fn(f64) -> f64,
            |t| (1e6 * (t - 0.3)).atan(),
            |t| if t < 0.3 { -1.0 } else { 2.0 },
            |t| (20.0 * (t - 0.3)).exp() - 1.0,
        ] {
            let mut evaluations = 0;
            let mut g = |t: f64| {
                evaluations += 1;
                -f(t)
            };
            let t = zero(&mut g, [0.0, 1.0], [-f(0.0), -f(1.0)], 1e-13);
            // (t − 0.3)⁹ underflows to nothing near its zero, but not beyond 1e-30.
            assert!((t - 0.3).abs() < 1e-12, "{t}");
            assert!(evaluations < 150, "{evaluations}");
        }
    }
}
