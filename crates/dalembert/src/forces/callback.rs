//! A force or a controller whose law a program gives; see [`crate::callback`]. All its power is supplied from outside.

use super::{AnyForce, ForceOn, Grip};
use crate::callback::{Callbacks, Held, KIND, Law, NO_FORMULA, Samples};
use crate::element::Describe;
use crate::model::{Instant, Need, Place, Wrench};
use crate::signals::SignalRef;
use dalembert_methods::jet::Jet;
use dalembert_methods::scalar::{Dual, Dual2, Duals, Lanes4, Scalar};
use dalembert_methods::trace::Trace;
use dalembert_methods::vector::Vec3;
use std::sync::Arc;

/// A law from outside, on one or several markers.
#[derive(Clone, Debug)]
pub struct Callback {
    held: Held<dyn Law>,
    initial: Vec<f64>,
    markers: usize,
}

/// One marker, named under `at`.
pub(crate) const ONE: Need = Need { key: "at", count: Some(1), oriented: 0, affine: false };
/// Several, named under `markers`.
pub(crate) const MANY: Need = Need { key: "markers", count: None, oriented: 0, affine: false };

impl Callback {
    /// A law on this many markers, under the name of its entry.
    pub(crate) fn new(name: &str, law: &Arc<dyn Law>, markers: usize, callbacks: &Callbacks) -> Self {
        let (function, faults) = (Arc::clone(law), Arc::clone(&callbacks.faults));
        Self { initial: law.initial(), markers, held: Held { name: format!("force.{name}"), function, faults } }
    }

    /// Wrenches and rates of states, in the numbers of the reading.
    fn answer<S: Asked>(&self, now: &Instant<'_, S>, at: &[Place<S>]) -> Vec<S> {
        let states = self.initial.len();
        let mut situation = Vec::with_capacity(1 + states + Samples::MARKER * at.len());
        situation.push(now.t);
        situation.extend_from_slice(now.x);
        for place in at {
            situation.extend(
                place.r.0.iter().chain(&place.v.0).chain(place.rotation.0.as_flattened()).chain(&place.omega.0),
            );
        }
        let answers = 6 * at.len() + states;
        S::ask(&situation, answers, &mut |data, out| {
            let samples = Samples { count: data.len() / situation.len(), markers: at.len(), states, data };
            self.held.ask(data[0], out, |law, out| law.evaluate(&samples, out));
        })
        .unwrap_or_else(|| {
            self.held.fail(f64::NAN, NO_FORMULA.to_owned());
            vec![S::from(f64::NAN); answers]
        })
    }
}

/// A number with which plain functions can be asked: at several points at once, for lanes and for differences.
trait Asked: Scalar {
    /// The answers of a plain function of many numbers; `None` if this number has no value.
    fn ask(x: &[Self], answers: usize, plain: &mut dyn FnMut(&[f64], &mut [f64])) -> Option<Vec<Self>>;
}

impl Asked for f64 {
    fn ask(x: &[Self], answers: usize, plain: &mut dyn FnMut(&[f64], &mut [f64])) -> Option<Vec<Self>> {
        let mut out = vec![0.0; answers];
        plain(x, &mut out);
        Some(out)
    }
}

impl Asked for Lanes4 {
    fn ask(x: &[Self], answers: usize, plain: &mut dyn FnMut(&[f64], &mut [f64])) -> Option<Vec<Self>> {
        let data: Vec<f64> = (0..4).flat_map(|lane| x.iter().map(move |x| x.0[lane])).collect();
        let mut all = vec![0.0; 4 * answers];
        plain(&data, &mut all);
        Some(
            (0..answers)
                .map(|i| dalembert_methods::lanes::Lanes(std::array::from_fn(|lane| all[lane * answers + i])))
                .collect(),
        )
    }
}

/// Points x + s d, s from a list, for each of several directions d.
struct Stencil<'a> {
    x: &'a [f64],
    data: Vec<f64>,
}

impl Stencil<'_> {
    /// Adds the point x + a + b.
    fn add(&mut self, (s, a): (f64, &[f64]), (t, b): (f64, &[f64])) {
        self.data.extend(self.x.iter().zip(a).zip(b).map(|((x, a), b)| x + s * a + t * b));
    }
}

/// The step along a direction: `relative` times the size of the numbers that it moves most.
fn step(x: &[f64], d: &[f64], relative: f64) -> f64 {
    let most = x.iter().zip(d).fold(0.0f64, |most, (x, d)| most.max(d.abs() / x.abs().max(1.0)));
    if most > 0.0 { relative / most } else { 0.0 }
}

/// Value and directional derivatives by central differences of second order, with the step ε^(1/3).
fn first<const N: usize>(
    x: &[Jet<f64, N>],
    answers: usize,
    plain: &mut dyn FnMut(&[f64], &mut [f64]),
) -> Vec<Jet<f64, N>> {
    let base: Vec<f64> = x.iter().map(|x| x.re).collect();
    let none = vec![0.0; x.len()];
    let mut stencil = Stencil { x: &base, data: base.clone() };
    let mut steps = [0.0; N];
    for (i, h) in steps.iter_mut().enumerate() {
        let d: Vec<f64> = x.iter().map(|x| x.eps[i]).collect();
        *h = step(&base, &d, f64::EPSILON.cbrt());
        if *h > 0.0 {
            stencil.add((*h, &d), (0.0, &none));
            stencil.add((-*h, &d), (0.0, &none));
        }
    }
    let mut all = vec![0.0; stencil.data.len() / x.len() * answers];
    plain(&stencil.data, &mut all);
    let mut out: Vec<Jet<f64, N>> = all[..answers].iter().map(|&y| Jet::constant(y)).collect();
    let mut rest = all[answers..].chunks_exact(2 * answers);
    for (k, &h) in steps.iter().enumerate().filter(|(_, h)| **h > 0.0) {
        let Some(pair) = rest.next() else { break };
        for (i, out) in out.iter_mut().enumerate() {
            out.eps[k] = (pair[i] - pair[answers + i]) / (2.0 * h);
        }
    }
    out
}

impl Asked for Dual {
    fn ask(x: &[Self], answers: usize, plain: &mut dyn FnMut(&[f64], &mut [f64])) -> Option<Vec<Self>> {
        Some(first(x, answers, plain))
    }
}

impl Asked for Duals {
    fn ask(x: &[Self], answers: usize, plain: &mut dyn FnMut(&[f64], &mut [f64])) -> Option<Vec<Self>> {
        Some(first(x, answers, plain))
    }
}

impl Asked for Dual2 {
    /// With x + a ε₁ + b ε₂ + c ε₁ε₂ the answer is f + Df a ε₁ + Df b ε₂ + (D²f(a, b) + Df c) ε₁ε₂; the mixed derivative by four points with the
    /// step ε^(1/4).
    fn ask(x: &[Self], answers: usize, plain: &mut dyn FnMut(&[f64], &mut [f64])) -> Option<Vec<Self>> {
        let three: Vec<Jet<f64, 3>> =
            x.iter().map(|x| Jet { re: x.re.re, eps: [x.re.eps[0], x.eps[0].re, x.eps[0].eps[0]] }).collect();
        let value = first(&three, answers, plain);
        let base: Vec<f64> = x.iter().map(|x| x.re.re).collect();
        let [a, b] = [0, 1].map(|k| three.iter().map(|x| x.eps[k]).collect::<Vec<f64>>());
        let [h, k] = [&a, &b].map(|d| step(&base, d, f64::EPSILON.powf(0.25)));
        let mut mixed = vec![0.0; answers];
        if h > 0.0 && k > 0.0 {
            let mut stencil = Stencil { x: &base, data: Vec::new() };
            for (s, t) in [(h, k), (h, -k), (-h, k), (-h, -k)] {
                stencil.add((s, &a), (t, &b));
            }
            let mut all = vec![0.0; 4 * answers];
            plain(&stencil.data, &mut all);
            for (i, out) in mixed.iter_mut().enumerate() {
                let at = |point: usize| all[point * answers + i];
                *out = (at(0) - at(1) - at(2) + at(3)) / (4.0 * h * k);
            }
        }
        let whole = value.iter().zip(mixed);
        Some(whole.map(|(y, m)| Jet::new(Jet::new(y.re, y.eps[0]), Jet::new(y.eps[1], y.eps[2] + m))).collect())
    }
}

impl Asked for Trace {
    fn ask(_: &[Self], _: usize, _: &mut dyn FnMut(&[f64], &mut [f64])) -> Option<Vec<Self>> {
        None
    }
}

/// Takes an answer apart.
fn share<S: Asked>(answer: &[S], out: &mut [Wrench<S>]) {
    for (out, y) in out.iter_mut().zip(answer.chunks_exact(6)) {
        *out = Wrench { force: Vec3([y[0], y[1], y[2]]), torque: Vec3([y[3], y[4], y[5]]) };
    }
}

fn power<S: Asked>(answer: &[S], at: &[Place<S>]) -> S {
    let mut wrenches = vec![Wrench::default(); at.len()];
    share(answer, &mut wrenches);
    wrenches.iter().zip(at).fold(S::zero(), |sum, (wrench, place)| sum + wrench.power(place))
}

/// The readings, written once for all numbers.
macro_rules! readings {
    ($($number:ty),*) => {$(
        impl ForceOn<$number> for Callback {
            fn apply(&self, now: &Instant<'_, $number>, at: &[Place<$number>], out: &mut [Wrench<$number>]) {
                share(&self.answer(now, at), out);
            }
            fn energy(&self, _: &Instant<'_, $number>, _: &[Place<$number>]) -> $number {
                <$number>::from(0.0)
            }
            fn dissipation(&self, _: &Instant<'_, $number>, _: &[Place<$number>]) -> $number {
                <$number>::from(0.0)
            }
            fn supply(&self, now: &Instant<'_, $number>, at: &[Place<$number>]) -> $number {
                power(&self.answer(now, at), at)
            }
            fn account(&self, now: &Instant<'_, $number>, at: &[Place<$number>]) -> ($number, $number) {
                (<$number>::from(0.0), power(&self.answer(now, at), at))
            }
            fn apply_and_account(
                &self,
                now: &Instant<'_, $number>,
                at: &[Place<$number>],
                out: &mut [Wrench<$number>],
                rates: &mut [$number],
            ) -> Option<($number, $number)> {
                let answer = self.answer(now, at);
                share(&answer, out);
                rates.copy_from_slice(&answer[6 * at.len()..]);
                Some((<$number>::from(0.0), power(&answer, at)))
            }
            fn rate(&self, now: &Instant<'_, $number>, at: &[Place<$number>], out: &mut [$number]) {
                out.copy_from_slice(&self.answer(now, at)[6 * at.len()..]);
            }
            fn output(&self, _: &Instant<'_, $number>, _: &[Place<$number>], _: &mut [$number]) {}
        }
    )*};
}

readings!(f64, Dual, Duals, Dual2, Lanes4, Trace);

impl Describe for Callback {
    fn kind(&self) -> &'static str {
        KIND
    }
    fn parameters(&self) -> serde_json::Map<String, serde_json::Value> {
        serde_json::Map::new()
    }
}

impl AnyForce for Callback {
    fn need(&self) -> Need {
        if self.markers == 1 { ONE } else { MANY }
    }
    fn internal(&self) -> bool {
        false
    }
    fn grip(&self) -> Option<Grip<'_>> {
        None
    }
    fn objective(&self) -> bool {
        false
    }
    fn still(&self) -> bool {
        false
    }
    fn states(&self) -> usize {
        self.initial.len()
    }
    fn initial(&self, x: &mut [f64]) {
        x.copy_from_slice(&self.initial);
    }
    fn signals(&mut self) -> Vec<&mut SignalRef> {
        Vec::new()
    }
    fn defect(&self, _markers: usize) -> Option<(&'static str, String)> {
        None
    }
    fn defect_at(&self, _: &Instant<'_, f64>, _: &[Place<f64>]) -> Option<(&'static str, String)> {
        None
    }
    fn outputs(&self) -> Vec<(&'static str, &'static str)> {
        Vec::new()
    }
}
