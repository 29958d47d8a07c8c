//! Infinitely many impacts in finite time: a ball that bounces to rest, a block that rocks to rest.
//!
//! Under a nearly constant push the intervals between the impacts of a contact shrink geometrically, d, rd, r²d, …, and accumulate at
//! t + d r/(1 − r) after the last one. Three intervals whose two ratios agree are taken for such a series; each may span one, two or three impacts, as a contact that is
//! hit between those of others need not be hit evenly. The accumulation is then known to d δ/(1 − r)² with δ the change of the ratio and what the location of events adds to it.
//!
//! **One contact.** Once the time left is below `Options::settle`, or the bounces are lower than `Options::touch`, it closes for good with the impact at hand. The push then keeps it
//! closed; at the accumulation time velocities are those of the infinite series, since the impulses still to come are replaced by the force that has the same mean.
//!
//! **Several contacts.** A block that rocks stands on one edge until it hits with the other, which lifts the first. Each edge has a series, and all end together: those of contacts
//! that act on each other and whose accumulations agree within what is known of them are one. It comes to its end as that of one contact does, once all of its contacts
//! touch. The velocities left are taken out by the least change that stops all of them, and all that is closed besides; what it costs is counted as lost in impacts. Impulses of it may
//! be negative: they stand for what the push does in the time left.
//!
//! A contact without restitution has no series of its own: it closes anyway.

use super::contacts::{Contacts, Mode};
use super::delassus::Delassus;
use super::desk::Desk;
use super::hybrid::Hybrid;
use super::impact::Outcome;
use super::run::Options;
use crate::algebra::DEPENDENT;
use crate::events::location;
use crate::integrate::IntegrateError;
use crate::system::State;

/// How closely two ratios of intervals agree in a series, relative to one.
const AGREE: f64 = 0.01;
/// Impacts that an interval may span, and how many are kept of each contact.
const SPANS: usize = 3;
/// How many impacts of each contact are kept: three intervals of the longest span.
pub const KEPT: usize = 3 * SPANS + 1;
/// Contacts whose entry of the Delassus matrix is below this part of their own ones do not act on each other.
const APART: f64 = 1e-12;

/// The last impacts of every contact.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Zeno {
    /// The times of the last impacts of each contact, the newest last; not a number where there was none.
    pub times: Vec<[f64; KEPT]>,
}

/// Impacts of a contact that accumulate.
#[derive(Copy, Clone, Debug, PartialEq)]
struct Trend {
    /// The time left after the last impact, and the length of the next interval, in seconds.
    left: f64,
    next: f64,
    /// When they accumulate, and how well it is known, in seconds.
    end: f64,
    blur: f64,
}

/// Contacts whose impacts come to their end together.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Series {
    pub contacts: Vec<usize>,
    /// When they accumulate, in seconds.
    pub end: f64,
}

impl Zeno {
    pub fn new(contacts: usize) -> Self {
        Self { times: vec![[f64::NAN; KEPT]; contacts] }
    }

    /// Notes impacts with their speeds of approach; returns the series that are to end with them.
    pub fn note<'m, Y: Contacts>(
        &mut self,
        desk: &mut Desk<'m, Y>,
        y: &Hybrid<'m, Y>,
        s: &State<f64>,
        closing: &[(usize, f64)],
        options: &Options,
    ) -> Result<Vec<Series>, IntegrateError> {
        for &(i, _) in closing {
            self.hit(i, s.t);
        }
        let mut found: Vec<Series> = Vec::new();
        for &(i, speed) in closing {
            let Some(own) = self.trend(i) else { continue };
            // A bounce of length d with speed v rises by v d/4.
            let due = own.left < options.settle || 0.25 * speed * own.next < options.touch;
            if !due || found.iter().any(|series| series.contacts.contains(&i)) {
                continue;
            }
            let (contacts, touching) = self.together(desk, y, s, i, own, options)?;
            let alone = contacts.len() == 1 && y.model().restitution(i) == 0.0;
            if !touching || alone {
                continue;
            }
            let trends = contacts.iter().filter_map(|&j| self.trend(j));
            let best = trends.min_by(|a, b| a.blur.total_cmp(&b.blur)).unwrap_or(own);
            found.push(Series { contacts, end: best.end });
        }
        for &i in found.iter().flat_map(|series| &series.contacts) {
            self.times[i] = [f64::NAN; KEPT];
        }
        Ok(found)
    }

    fn hit(&mut self, contact: usize, t: f64) {
        let times = &mut self.times[contact];
        times.rotate_left(1);
        times[KEPT - 1] = t;
    }

    /// The series of a contact, if its impacts are one.
    fn trend(&self, contact: usize) -> Option<Trend> {
        let times = &self.times[contact];
        let t = times[KEPT - 1];
        (1..=SPANS).find_map(|span| {
            let [a, b, c, d] = [3, 2, 1, 0].map(|k| times[KEPT - 1 - k * span]);
            let intervals = [b - a, c - b, d - c];
            let ratios = [intervals[1] / intervals[0], intervals[2] / intervals[1]];
            let (ratio, change) = (ratios[1], (ratios[0] - ratios[1]).abs());
            if !(ratio < 1.0 && change <= AGREE * (1.0 - ratio).min(ratio)) {
                return None;
            }
            let next = intervals[2] * ratio;
            let left = next / (1.0 - ratio);
            // Both ends of each interval are located.
            let blur = (change * intervals[2] + 8.0 * location(t)) / (1.0 - ratio).powi(2);
            Some(Trend { left, next, end: t + left, blur })
        })
    }

    /// All contacts whose series is that of contact `i`, ascending, and whether they all touch.
    fn together<'m, Y: Contacts>(
        &self,
        desk: &mut Desk<'m, Y>,
        y: &Hybrid<'m, Y>,
        s: &State<f64>,
        i: usize,
        own: Trend,
        options: &Options,
    ) -> Result<(Vec<usize>, bool), IntegrateError> {
        let agrees = |j: usize| {
            let trend = self.trend(j);
            j == i || trend.is_some_and(|trend| (trend.end - own.end).abs() <= trend.blur + own.blur)
        };
        let some: Vec<bool> = (0..y.modes().len()).map(agrees).collect();
        if some.iter().filter(|agrees| **agrees).count() == 1 {
            return Ok((vec![i], true));
        }
        let (delassus, chosen) = Delassus::new(desk, y, s, |j, _, _| some[j])?;
        let first = first_rows(y, &chosen);
        let n = delassus.rows.len();
        let w = |a: usize, b: usize| delassus.w[first[a] * n + first[b]];
        let coupled = |a: usize, b: usize| w(a, b).abs() > APART * (w(a, a) * w(b, b)).sqrt();
        let mut taken: Vec<bool> = chosen.iter().map(|&j| j == i).collect();
        while let Some(next) =
            (0..chosen.len()).find(|&a| !taken[a] && (0..chosen.len()).any(|b| taken[b] && coupled(a, b)))
        {
            taken[next] = true;
        }
        let contacts: Vec<usize> = chosen.iter().zip(&taken).filter(|(_, taken)| **taken).map(|(&j, _)| j).collect();
        let contacts = if contacts.is_empty() { vec![i] } else { contacts };
        let touching = contacts.iter().all(|&j| options.meets(s.t, delassus.gap[j], delassus.rate[y.start(j)]));
        Ok((contacts, touching))
    }
}

/// For each chosen contact the place of its first row among those chosen.
fn first_rows<Y: Contacts>(y: &Hybrid<'_, Y>, chosen: &[usize]) -> Vec<usize> {
    let rows = |&i: &usize| y.start(i + 1) - y.start(i);
    let ends = chosen.iter().map(rows).scan(0, |sum, rows| {
        *sum += rows;
        Some(*sum - rows)
    });
    ends.collect()
}

/// Stops all contacts of a series, after its last impact, and keeps closed what is: by the least change of velocities. Sticking contacts stick on. Where nothing parts there is nothing to do.
pub(super) fn stop<'m, Y: Contacts>(
    desk: &mut Desk<'m, Y>,
    y: &Hybrid<'m, Y>,
    s: &mut State<f64>,
    series: &Series,
    options: &Options,
) -> Result<Outcome, IntegrateError> {
    let total = y.start(y.modes().len());
    let mut outcome =
        Outcome { contacts: Vec::new(), impulse: vec![0.0; total], lost: 0.0, driven: 0.0, phases: Vec::new() };
    let own = |i: usize| series.contacts.contains(&i);
    let held = |i: usize, gap: f64, rate: &[f64]| {
        let rests = y.modes()[i].closed() && rate[0] <= options.rest && gap <= options.touch;
        own(i) || (rests && y.model().own_press(i).is_none())
    };
    let (delassus, chosen) = Delassus::new(desk, y, s, held)?;
    if series.contacts.iter().all(|&i| delassus.rate[y.start(i)].abs() <= options.rest) {
        return Ok(outcome);
    }
    let first = first_rows(y, &chosen);
    let mut rows = Vec::new();
    for (&row, &i) in first.iter().zip(&chosen) {
        let sticks = y.modes()[i] == Mode::Stick;
        rows.extend(row..row + if sticks { y.start(i + 1) - y.start(i) } else { 1 });
    }
    let n = delassus.rows.len();
    let before: Vec<f64> = delassus.rows.iter().map(|&row| delassus.rate[row]).collect();
    let impulse = stopping(&delassus.w, n, &rows, &before);
    let old = s.v.clone();
    for (response, p) in delassus.response.iter().zip(&impulse) {
        s.v.iter_mut().zip(response).for_each(|(v, r)| *v += r * p);
    }
    let after = |i: usize| (0..n).fold(before[i], |sum, j| sum + delassus.w[i * n + j] * impulse[j]);
    let lost = (0..n).fold(0.0, |sum, i| sum - 0.5 * impulse[i] * (before[i] + after(i)));
    // ½ (v⁺ + v⁻)·M (v⁺ − v⁻): what is neither lost nor kept came from drives.
    let change: Vec<f64> = s.v.iter().zip(&old).map(|(new, old)| new - old).collect();
    let mut momentum = vec![0.0; change.len()];
    delassus.mass.apply(&change, &mut momentum);
    let kinetic = (0..old.len()).fold(0.0, |sum, i| sum + 0.5 * (s.v[i] + old[i]) * momentum[i]);
    (outcome.lost, outcome.driven) = (lost.max(0.0), kinetic + lost.max(0.0));
    delassus.rows.iter().zip(&impulse).for_each(|(&row, &p)| outcome.impulse[row] = p);
    Ok(outcome)
}

/// The impulses in some rows that take their rates to zero by all rows: W Λ = −u, with W semidefinite; rows that depend on others have none.
fn stopping(w: &[f64], n: usize, rows: &[usize], rates: &[f64]) -> Vec<f64> {
    let m = rows.len();
    let mut a: Vec<f64> = (0..m * m).map(|k| w[rows[k / m] * n + rows[k % m]]).collect();
    let mut c: Vec<f64> = rows.iter().map(|&row| -rates[row]).collect();
    let own: Vec<f64> = (0..m).map(|i| a[i * m + i]).collect();
    let mut left: Vec<usize> = (0..m).collect();
    let mut pivots = Vec::new();
    // Gauss and Jordan, the largest part of its own entry first.
    while let Some(at) = (0..left.len())
        .max_by(|&i, &j| (a[left[i] * (m + 1)] / own[left[i]]).total_cmp(&(a[left[j] * (m + 1)] / own[left[j]])))
    {
        let k = left[at];
        if a[k * (m + 1)].is_nan() || a[k * (m + 1)] <= DEPENDENT * own[k] {
            break;
        }
        left.remove(at);
        pivots.push(k);
        for i in (0..m).filter(|&i| i != k) {
            let factor = a[i * m + k] / a[k * (m + 1)];
            for j in 0..m {
                a[i * m + j] -= factor * a[k * m + j];
            }
            c[i] -= factor * c[k];
        }
    }
    let mut impulse = vec![0.0; n];
    for k in pivots {
        impulse[rows[k]] = c[k] / a[k * (m + 1)];
    }
    impulse
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_geometric_series_is_summed_and_another_is_not() {
        let mut zeno = Zeno::new(1);
        let (mut t, mut d) = (1.0, 0.5);
        while d > 1e-4 {
            zeno.hit(0, t);
            t += d;
            d *= 0.7;
        }
        // 1 + 0.5/(1 − 0.7); each interval is known to 1e-16, the ratio to 1e-16/1e-4.
        assert!(zeno.trend(0).is_some_and(|trend| (trend.end - (1.0 + 0.5 / 0.3)).abs() < 1e-14));
        let mut zeno = Zeno::new(1);
        assert!((0..100).all(|k| {
            zeno.hit(0, f64::from(k) * 1e-5);
            zeno.trend(0).is_none()
        }));
        let mut zeno = Zeno::new(1);
        assert!((1..100).all(|k| {
            zeno.hit(0, 1.0 - 1.0 / f64::from(k));
            zeno.trend(0).is_none()
        }));
    }

    /// A contact that is hit twice in each round: intervals a, b, ra, rb, … end at (a + b)/(1 − r).
    #[test]
    fn uneven_impacts_are_a_series_over_their_rounds() {
        for parts in [vec![0.3, 0.1], vec![0.2, 0.05, 0.4]] {
            let mut zeno = Zeno::new(1);
            let (mut t, mut scale) = (0.0, 1.0);
            for _ in 0..12 {
                for part in &parts {
                    zeno.hit(0, t);
                    t += part * scale;
                }
                scale *= 0.6;
            }
            let end = parts.iter().sum::<f64>() / 0.4;
            let trend = zeno.trend(0).unwrap_or(Trend { left: 0.0, next: 0.0, end: 0.0, blur: 0.0 });
            assert!((trend.end - end).abs() < 1e-13, "{} {end}", trend.end);
            assert!(trend.blur < 1e-10, "{}", trend.blur);
        }
    }

    /// W of rank two in three rows: the rates of all vanish, and the third row has no impulse.
    #[test]
    fn rows_that_depend_on_others_stop_with_them() {
        let rows = [[1.0, 0.0], [0.0, 2.0], [0.5, 1.0]];
        let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
        let w: Vec<f64> = (0..9).map(|k| dot(rows[k / 3], rows[k % 3])).collect();
        let rates: Vec<f64> = rows.iter().map(|row| dot(*row, [0.3, -0.7])).collect();
        let impulse = stopping(&w, 3, &[0, 1, 2], &rates);
        for i in 0..3 {
            let after = (0..3).fold(rates[i], |sum, j| sum + w[i * 3 + j] * impulse[j]);
            assert!(after.abs() < 1e-14, "{impulse:?}");
        }
        assert!(impulse.contains(&0.0));
    }
}
