//! Laws of forces.

use super::random::{later, pack, pack_places};
use super::{
    Law, ROUNDING, Random, STEPS, Violation, agree, agree_slope, agree_vector, marker_count, no_defect, same_bits,
};
use crate::forces::{AnyForce, ForceOn, Forces};
use crate::model::{Acceleration, Instant, Place, Wrench};
use dalembert_methods::Jet;
use dalembert_methods::scalar::{Dual, Lanes4, Scalar};
use dalembert_methods::vector::Vec3;

/// The laws every force keeps.
pub const LAWS: &[Law<dyn AnyForce>] = &[
    Law { name: "sample", holds: sample },
    Law { name: "power", holds: power },
    Law { name: "balance", holds: balance },
    Law { name: "objectivity", holds: objectivity },
    Law { name: "stillness", holds: stillness },
    Law { name: "derivative", holds: derivative },
    Law { name: "lanes", holds: lanes },
];

/// A random state of a force.
struct Setting {
    t: f64,
    x: Vec<f64>,
    at: Vec<Place<f64>>,
}

impl Setting {
    fn new(force: &Object, random: &mut Random) -> Self {
        let markers = marker_count(force.need().markers(), |n| force.defect(n));
        let mut x = vec![0.0; force.states()];
        force.initial(&mut x);
        x.iter_mut().for_each(|x| *x += 0.1 * random.number());
        Self { t: 1.0 + random.number(), x, at: random.places(markers) }
    }

    fn now(&self) -> Instant<'_, f64> {
        Instant { t: self.t, x: &self.x, p: &[], signals: &[] }
    }
}

/// A force as laws see it.
type Object = dyn AnyForce;

fn on<S: Scalar>(force: &Object) -> &dyn ForceOn<S> {
    S::view::<Forces, _>(force)
}

fn wrenches<S: Scalar>(force: &Object, now: &Instant<'_, S>, at: &[Place<S>]) -> Vec<Wrench<S>> {
    let mut out = vec![Wrench::default(); at.len()];
    on::<S>(force).apply(now, at, &mut out);
    out
}

fn sample(force: &Object, random: &mut Random) -> Result<(), Violation> {
    no_defect(force.defect(Setting::new(force, random).at.len()))
}

/// Power = −dU/dt − dissipation + supply, with dU/dt by a time jet along a motion that passes through the state.
fn power(force: &Object, random: &mut Random) -> Result<(), Violation> {
    let s = Setting::new(force, random);
    let plain = on::<f64>(force);
    let mut size = 0.0;
    let mut power = 0.0;
    for (wrench, at) in wrenches(force, &s.now(), &s.at).iter().zip(&s.at) {
        power += wrench.power(at);
        size += wrench.force.norm() * at.v.norm() + wrench.torque.norm() * at.omega.norm();
    }
    let (heat, supply) = (plain.dissipation(&s.now(), &s.at), plain.supply(&s.now(), &s.at));
    let (same_heat, same_supply) = plain.account(&s.now(), &s.at);
    agree("dissipation of the account", same_heat, heat, heat.abs(), ROUNDING)?;
    agree("supply of the account", same_supply, supply, supply.abs(), ROUNDING)?;
    together(&s, plain, &wrenches(force, &s.now(), &s.at), [heat, supply])?;
    if heat < 0.0 || heat.is_nan() {
        return Err(Violation { message: format!("the dissipation is {heat:e}, below zero") });
    }
    let mut rates = vec![0.0; s.x.len()];
    plain.rate(&s.now(), &s.at, &mut rates);
    let x: Vec<Dual> = s.x.iter().zip(&rates).map(|(&x, &rate)| Jet::new(x, rate)).collect();
    let at: Vec<Place<Dual>> = s.at.iter().map(|p| p.in_time(&Acceleration::default())).collect();
    let energy = on::<Dual>(force).energy(&Instant { t: Jet::new(s.t, 1.0), x: &x, p: &[], signals: &[] }, &at);
    let rate = energy.eps[0];
    agree("power against −dU/dt − dissipation + supply", power, supply - rate - heat, size + heat, ROUNDING)
}

/// What an element tells together is what it tells one after the other.
fn together(s: &Setting, force: &dyn ForceOn<f64>, alone: &[Wrench<f64>], powers: [f64; 2]) -> Result<(), Violation> {
    let (mut out, mut rates, mut own) =
        (vec![Wrench::default(); alone.len()], vec![0.0; s.x.len()], vec![0.0; s.x.len()]);
    let Some((heat, supply)) = force.apply_and_account(&s.now(), &s.at, &mut out, &mut rates) else { return Ok(()) };
    force.rate(&s.now(), &s.at, &mut own);
    for (out, alone) in out.iter().zip(alone) {
        agree_vector("force told with the account", out.force, alone.force, alone.force.norm(), ROUNDING)?;
        agree_vector("torque told with the account", out.torque, alone.torque, alone.torque.norm(), ROUNDING)?;
    }
    for (rate, own) in rates.iter().zip(&own) {
        agree("rate told with the wrenches", *rate, *own, own.abs(), ROUNDING)?;
    }
    agree("dissipation told with the wrenches", heat, powers[0], powers[0].abs(), ROUNDING)?;
    agree("supply told with the wrenches", supply, powers[1], powers[1].abs(), ROUNDING)
}

/// Σ f = 0 and Σ (r × f + τ) = 0.
fn balance(force: &Object, random: &mut Random) -> Result<(), Violation> {
    if !force.internal() {
        return Ok(());
    }
    let s = Setting::new(force, random);
    let (mut resultant, mut moment, mut size) = (Vec3::zero(), Vec3::zero(), 0.0);
    for (wrench, at) in wrenches(force, &s.now(), &s.at).iter().zip(&s.at) {
        resultant += wrench.force;
        moment += wrench.torque + at.r.cross(wrench.force);
        size += wrench.force.norm() * (1.0 + at.r.norm()) + wrench.torque.norm();
    }
    agree_vector("resultant force of an internal force", resultant, Vec3::zero(), size, ROUNDING)?;
    agree_vector("resultant moment of an internal force", moment, Vec3::zero(), size, ROUNDING)
}

/// Wrenches that are still do not see velocities or time, and have no power of their own.
fn stillness(force: &Object, random: &mut Random) -> Result<(), Violation> {
    if !force.still() {
        return Ok(());
    }
    let s = Setting::new(force, random);
    let at_rest: Vec<_> = s.at.iter().map(Place::at_rest).collect();
    let later = Instant { t: s.now().t + 1.0, ..s.now() };
    for (moving, resting) in wrenches(force, &s.now(), &s.at).iter().zip(wrenches(force, &later, &at_rest)) {
        agree_vector("force at rest and later of a still force", resting.force, moving.force, 0.0, 0.0)?;
        agree_vector("torque at rest and later of a still force", resting.torque, moving.torque, 0.0, 0.0)?;
    }
    let (heat, supply) = on::<f64>(force).account(&s.now(), &s.at);
    agree("power of a still force", heat.abs() + supply.abs(), 0.0, 0.0, 0.0)
}

/// Under a superposed steady rigid motion wrenches turn, energy and dissipation stay.
fn objectivity(force: &Object, random: &mut Random) -> Result<(), Violation> {
    if !force.objective() {
        return Ok(());
    }
    let (s, motion) = (Setting::new(force, random), random.motion());
    let moved: Vec<_> = s.at.iter().map(|p| motion.carry(p)).collect();
    let (here, there) = (wrenches(force, &s.now(), &s.at), wrenches(force, &s.now(), &moved));
    // Rounding of the moved places counts by how strongly the wrenches depend on them: their rate in a motion of unit size.
    let accelerations: Vec<_> = s.at.iter().map(|_| random.acceleration()).collect();
    let rates = in_time(force, &s, &accelerations);
    let rate = |a: Vec3<Dual>| a.map(|f| f.eps[0]).norm();
    let size = here.iter().map(|w| w.force.norm() + w.torque.norm()).sum::<f64>()
        + rates.iter().map(|w| rate(w.force) + rate(w.torque)).sum::<f64>();
    for (here, there) in here.iter().zip(&there) {
        agree_vector("force under a rigid motion", there.force, motion.turn(here.force), size, ROUNDING)?;
        agree_vector("torque under a rigid motion", there.torque, motion.turn(here.torque), size, ROUNDING)?;
    }
    let plain = on::<f64>(force);
    let pairs = [
        ("energy", plain.energy(&s.now(), &s.at), plain.energy(&s.now(), &moved)),
        ("dissipation", plain.dissipation(&s.now(), &s.at), plain.dissipation(&s.now(), &moved)),
    ];
    pairs.into_iter().try_for_each(|(what, a, b)| agree(&format!("{what} under a rigid motion"), a, b, size, ROUNDING))
}

/// The wrenches along a motion through the state, as functions of time.
fn in_time(force: &Object, s: &Setting, accelerations: &[Acceleration<f64>]) -> Vec<Wrench<Dual>> {
    let x: Vec<Dual> = s.x.iter().map(|&x| Jet::constant(x)).collect();
    let at: Vec<Place<Dual>> = s.at.iter().zip(accelerations).map(|(p, a)| p.in_time(a)).collect();
    wrenches(force, &Instant { t: Jet::new(s.t, 1.0), x: &x, p: &[], signals: &[] }, &at)
}

/// The time derivative of the wrenches by duals against central differences.
fn derivative(force: &Object, random: &mut Random) -> Result<(), Violation> {
    let s = Setting::new(force, random);
    let accelerations: Vec<_> = s.at.iter().map(|_| random.acceleration()).collect();
    let exact = in_time(force, &s, &accelerations);
    let around = STEPS.map(|h| {
        let at: Vec<_> = s.at.iter().zip(&accelerations).map(|(p, a)| later(p, a, h)).collect();
        wrenches(force, &Instant { t: s.t + h, x: &s.x, p: &[], signals: &[] }, &at)
    });
    let size = 1.0 + exact.iter().map(|w| w.force.map(|f| f.re).norm() + w.torque.map(|f| f.re).norm()).sum::<f64>();
    for (marker, exact) in exact.iter().enumerate() {
        for i in 0..3 {
            let near = std::array::from_fn(|k| around[k][marker].force[i]);
            agree_slope(&format!("rate of force component {i}"), exact.force[i].eps[0], near, size)?;
            let near = std::array::from_fn(|k| around[k][marker].torque[i]);
            agree_slope(&format!("rate of torque component {i}"), exact.torque[i].eps[0], near, size)?;
        }
    }
    Ok(())
}

fn lanes(force: &Object, random: &mut Random) -> Result<(), Violation> {
    let settings: [Setting; 4] = std::array::from_fn(|_| Setting::new(force, random));
    let places: [Vec<Place<f64>>; 4] = std::array::from_fn(|k| settings[k].at.clone());
    let at: Vec<_> = (0..places[0].len()).map(|i| pack_places(&places, i)).collect();
    let x: Vec<Lanes4> = (0..settings[0].x.len()).map(|i| pack(|k| settings[k].x[i])).collect();
    let now = Instant { t: pack(|k| settings[k].t), x: &x, p: &[], signals: &[] };
    let wide = wrenches(force, &now, &at);
    let (lanes, plain) = (on::<Lanes4>(force), on::<f64>(force));
    let energies = [lanes.energy(&now, &at), lanes.dissipation(&now, &at), lanes.supply(&now, &at)];
    for (k, s) in settings.iter().enumerate() {
        for (wide, narrow) in wide.iter().zip(wrenches(force, &s.now(), &s.at)) {
            for i in 0..3 {
                same_bits("force", wide.force[i], k, narrow.force[i])?;
                same_bits("torque", wide.torque[i], k, narrow.torque[i])?;
            }
        }
        same_bits("energy", energies[0], k, plain.energy(&s.now(), &s.at))?;
        same_bits("dissipation", energies[1], k, plain.dissipation(&s.now(), &s.at))?;
        same_bits("supply", energies[2], k, plain.supply(&s.now(), &s.at))?;
    }
    Ok(())
}
