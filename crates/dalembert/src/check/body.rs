//! Laws of bodies.

use super::random::pack;
use super::{Law, ROUNDING, Random, Violation, agree, agree_matrix, agree_vector, no_defect, same_bits};
use crate::bodies::{AnyBody, Bodies, BodyOn};
use crate::model::{Place, Site};
use dalembert_methods::Jet;
use dalembert_methods::algebra::Mass;
use dalembert_methods::scalar::{Dual, Scalar};
use dalembert_methods::vector::{Mat3, Vec3};

/// The laws every body keeps.
pub const LAWS: &[Law<dyn AnyBody>] = &[
    Law { name: "sample", holds: |body, _| no_defect(body.defect()) },
    Law { name: "transpose", holds: transpose },
    Law { name: "velocity", holds: velocity },
    Law { name: "point", holds: point },
    Law { name: "retraction", holds: retraction },
    Law { name: "mass", holds: mass },
    Law { name: "momentum", holds: momentum },
    Law { name: "weight", holds: weight },
    Law { name: "lanes", holds: lanes },
];

/// A body as laws see it.
type Object = dyn AnyBody;

fn on<S: Scalar>(body: &Object) -> &dyn BodyOn<S> {
    S::view::<Bodies, _>(body)
}

/// A random state of a body.
struct Setting {
    q: Vec<f64>,
    v: Vec<f64>,
    site: Site,
}

impl Setting {
    fn new(body: &Object, random: &mut Random) -> Self {
        let (mut q0, mut v0) = (vec![0.0; body.coordinates()], vec![0.0; body.velocities()]);
        body.initial(&mut q0, &mut v0);
        let mut q = q0.clone();
        on::<f64>(body).retract(&q0, &random.numbers(v0.len()), &mut q);
        let site = match (body.oriented(), body.extended()) {
            (true, _) => Site::frame(random.vector().0, random.rotation()),
            (false, true) => Site::point(random.vector().0),
            (false, false) => Site::point([0.0; 3]),
        };
        let part = ((random.numbers(1)[0].abs() * 1e6) as usize) % body.parts();
        Self { q, v: random.numbers(v0.len()), site: Site { part, ..site } }
    }

    fn cache(&self, body: &Object) -> Vec<f64> {
        cache(body, &self.q, &self.v)
    }

    /// Coordinates and velocities along q ⊕ ε u, v + ε a.
    fn along(&self, body: &Object, u: &[f64], a: &[f64]) -> (Vec<Dual>, Vec<Dual>) {
        let q: Vec<Dual> = self.q.iter().map(|&q| Jet::constant(q)).collect();
        let delta: Vec<Dual> = u.iter().map(|&u| Jet::new(0.0, u)).collect();
        let mut moved = q.clone();
        on::<Dual>(body).retract(&q, &delta, &mut moved);
        (moved, self.v.iter().zip(a).map(|(&v, &a)| Jet::new(v, a)).collect())
    }
}

fn cache<S: Scalar>(body: &Object, q: &[S], v: &[S]) -> Vec<S> {
    let mut cache = vec![S::zero(); body.cache()];
    on::<S>(body).kinematics(q, v, &mut cache);
    cache
}

/// What a body that calls itself a point leaves to the model: its place, its pull-back, no forces of its own.
fn point(body: &Object, random: &mut Random) -> Result<(), Violation> {
    if !body.point() {
        return Ok(());
    }
    let s = Setting::new(body, random);
    let (wrench, cache) = (random.wrench(), s.cache(body));
    if (s.q.len(), s.v.len()) != (3, 3) {
        return Err(Violation { message: "a point has three coordinates and three velocities".to_owned() });
    }
    let place = on::<f64>(body).place(&s.site, &cache);
    agree_vector("position of a point", place.r, Vec3::from_slice(&s.q), 0.0, 0.0)?;
    agree_vector("velocity of a point", place.v, Vec3::from_slice(&s.v), 0.0, 0.0)?;
    agree_matrix("orientation of a point", place.rotation, Mat3::identity(), 0.0, 0.0)?;
    agree_vector("angular velocity of a point", place.omega, Vec3::zero(), 0.0, 0.0)?;
    let bias = on::<f64>(body).bias(&s.site, &s.q, &s.v, &cache, &mut Vec::new());
    agree_vector("acceleration of a point at constant velocity", bias.a, Vec3::zero(), 0.0, 0.0)?;
    let (mut pulled, mut own) = ([0.0; 3], [0.0; 3]);
    on::<f64>(body).pull_back(&s.site, &cache, &wrench, &mut pulled);
    on::<f64>(body).force(&cache, &mut own);
    agree_vector("generalised force of a point", Vec3(pulled), wrench.force, 0.0, 0.0)?;
    agree_vector("force of a point on itself", Vec3(own), Vec3::zero(), 0.0, 0.0)
}

/// f · J v = (Jᵀ f) · v for any wrench and any velocity.
fn transpose(body: &Object, random: &mut Random) -> Result<(), Violation> {
    let s = Setting::new(body, random);
    let (wrench, cache) = (random.wrench(), s.cache(body));
    let place = on::<f64>(body).place(&s.site, &cache);
    let mut generalised = vec![0.0; s.v.len()];
    on::<f64>(body).pull_back(&s.site, &cache, &wrench, &mut generalised);
    let pulled: f64 = generalised.iter().zip(&s.v).map(|(f, v)| f * v).sum();
    let size = generalised.iter().map(|f| f.abs()).sum::<f64>() + 1.0;
    agree("power at the marker against power of the generalised force", wrench.power(&place), pulled, size, ROUNDING)
}

fn values(place: &Place<Dual>) -> Place<f64> {
    let re = |a: Vec3<Dual>| a.map(|x| x.re);
    Place { r: re(place.r), v: re(place.v), rotation: place.rotation.map(|x| x.re), omega: re(place.omega) }
}

/// The derivative of a moving place must be the motion it states: ṙ = v, Ṙ = ω̂ R.
fn moves(what: &str, place: &Place<Dual>, motion: &Place<f64>) -> Result<(), Violation> {
    let now = values(place);
    agree_vector(&format!("ṙ {what}"), place.r.map(|x| x.eps[0]), motion.v, 1.0, ROUNDING)?;
    let turned = Mat3::skew(motion.omega) * now.rotation;
    agree_matrix(&format!("Ṙ {what}"), place.rotation.map(|x| x.eps[0]), turned, 1.0, ROUNDING)
}

/// Velocities are the derivatives of positions and rotations; stated accelerations those of velocities.
fn velocity(body: &Object, random: &mut Random) -> Result<(), Violation> {
    let s = Setting::new(body, random);
    let (q, v) = s.along(body, &s.v, &vec![0.0; s.v.len()]);
    let place = on::<Dual>(body).place(&s.site, &cache(body, &q, &v));
    moves("against the velocity", &place, &values(&place))?;
    let bias = on::<f64>(body).bias(&s.site, &s.q, &s.v, &s.cache(body), &mut Vec::new());
    agree_vector("acceleration against v̇", bias.a, place.v.map(|x| x.eps[0]), 1.0, ROUNDING)?;
    agree_vector("angular acceleration against ω̇", bias.alpha, place.omega.map(|x| x.eps[0]), 1.0, ROUNDING)
}

/// q₀ ⊕ δ with δ̇ = local_rate(δ, v) moves with velocity v.
fn retraction(body: &Object, random: &mut Random) -> Result<(), Violation> {
    let s = Setting::new(body, random);
    let delta = random.numbers(s.v.len());
    let mut rate = vec![0.0; s.v.len()];
    on::<f64>(body).local_rate(&delta, &s.v, &mut rate);
    let base: Vec<Dual> = s.q.iter().map(|&q| Jet::constant(q)).collect();
    let moving: Vec<Dual> = delta.iter().zip(&rate).map(|(&d, &r)| Jet::new(d, r)).collect();
    let mut q = base.clone();
    on::<Dual>(body).retract(&base, &moving, &mut q);
    let v: Vec<Dual> = s.v.iter().map(|&v| Jet::constant(v)).collect();
    let place = on::<Dual>(body).place(&s.site, &cache(body, &q, &v));
    moves("along the retraction", &place, &values(&place))?;
    let mut back = vec![0.0; s.v.len()];
    on::<f64>(body).local_velocity(&delta, &rate, &mut back);
    for (k, (&back, &v)) in back.iter().zip(&s.v).enumerate() {
        agree(&format!("velocity {k} of the rate of a retraction"), back, v, 1.0, ROUNDING)?;
    }
    // A base that moves by v takes q₀ ⊕ δ along as the shift of δ does.
    on::<f64>(body).local_shift(&delta, &s.v, &mut rate);
    let [mut by_base, mut moved, mut by_shift] = [base.clone(), base.clone(), base.clone()];
    let constant: Vec<Dual> = delta.iter().map(|&d| Jet::constant(d)).collect();
    let start: Vec<Dual> = s.v.iter().map(|&v| Jet::new(0.0, v)).collect();
    let shifted: Vec<Dual> = delta.iter().zip(&rate).map(|(&d, &r)| Jet::new(d, r)).collect();
    on::<Dual>(body).retract(&base, &start, &mut moved);
    on::<Dual>(body).retract(&moved, &constant, &mut by_base);
    on::<Dual>(body).retract(&base, &shifted, &mut by_shift);
    for (k, (a, b)) in by_base.iter().zip(&by_shift).enumerate() {
        agree(&format!("coordinate {k} of a retraction from a moving base"), a.eps[0], b.eps[0], 1.0, ROUNDING)?;
    }
    Ok(())
}

fn mass_matrix(body: &Object, cache: &[f64]) -> Mass<f64> {
    let mut mass = Mass::new(&body.mass_blocks());
    for block in 0..body.mass_blocks().len() {
        on::<f64>(body).mass(block, cache, mass.block_mut(block));
    }
    mass
}

/// M = Mᵀ, M positive definite, T = ½ vᵀ M v.
fn mass(body: &Object, random: &mut Random) -> Result<(), Violation> {
    let s = Setting::new(body, random);
    let cache = s.cache(body);
    let mut mass = mass_matrix(body, &cache);
    let n = s.v.len();
    let columns: Vec<Vec<f64>> = (0..n)
        .map(|j| {
            let (mut unit, mut column) = (vec![0.0; n], vec![0.0; n]);
            unit[j] = 1.0;
            mass.apply(&unit, &mut column);
            column
        })
        .collect();
    for i in 0..n {
        for j in 0..i {
            // |Mᵢⱼ| ≤ √(Mᵢᵢ Mⱼⱼ), and rounding is of that size where a recursion finds a zero.
            let size = (columns[i][i] * columns[j][j]).sqrt();
            let what = format!("mass matrix, entries ({i}, {j}) and ({j}, {i})");
            agree(&what, columns[j][i], columns[i][j], size, ROUNDING)?;
        }
    }
    if let Err(error) = mass.factor_checked() {
        let message = format!("the mass matrix is not positive definite, see velocity {}", error.velocity);
        return Err(Violation { message });
    }
    let mut momentum = vec![0.0; n];
    mass.apply(&s.v, &mut momentum);
    let half: f64 = momentum.iter().zip(&s.v).map(|(p, v)| 0.5 * p * v).sum();
    agree("kinetic energy against ½ vᵀMv", on::<f64>(body).kinetic(&cache), half, 0.0, ROUNDING)
}

/// Without forces from outside linear and angular momentum stay, with v̇ = M⁻¹ f of the body's own forces.
fn momentum(body: &Object, random: &mut Random) -> Result<(), Violation> {
    let s = Setting::new(body, random);
    let plain = s.cache(body);
    let mut acceleration = vec![0.0; s.v.len()];
    on::<f64>(body).force(&plain, &mut acceleration);
    let mut mass = mass_matrix(body, &plain);
    mass.factor();
    mass.solve(&mut acceleration);
    let (q, v) = s.along(body, &s.v, &acceleration);
    let (linear, angular) = on::<Dual>(body).momentum(&cache(body, &q, &v));
    let size = linear.map(|p| p.re).norm() + angular.map(|p| p.re).norm() + body.total_mass();
    agree_vector("rate of linear momentum of a free body", linear.map(|p| p.eps[0]), Vec3::zero(), size, ROUNDING)?;
    agree_vector("rate of angular momentum of a free body", angular.map(|p| p.eps[0]), Vec3::zero(), size, ROUNDING)
}

/// The power of the weight is m g · ċ.
fn weight(body: &Object, random: &mut Random) -> Result<(), Violation> {
    let s = Setting::new(body, random);
    let gravity = random.vector();
    let mut generalised = vec![0.0; s.v.len()];
    on::<f64>(body).weight(&s.cache(body), gravity, &mut generalised);
    let power: f64 = generalised.iter().zip(&s.v).map(|(f, v)| f * v).sum();
    let (q, v) = s.along(body, &s.v, &vec![0.0; s.v.len()]);
    let centre = on::<Dual>(body).centre(&cache(body, &q, &v)).map(|c| c.eps[0]);
    agree("power of the weight", power, gravity.dot(centre) * body.total_mass(), body.total_mass(), ROUNDING)
}

fn lanes(body: &Object, random: &mut Random) -> Result<(), Violation> {
    let settings: [Setting; 4] = std::array::from_fn(|_| Setting::new(body, random));
    let site = &settings[0].site;
    let q: Vec<_> = (0..body.coordinates()).map(|i| pack(|k| settings[k].q[i])).collect();
    let v: Vec<_> = (0..body.velocities()).map(|i| pack(|k| settings[k].v[i])).collect();
    let wide = on(body).place(site, &cache(body, &q, &v));
    for (k, s) in settings.iter().enumerate() {
        let narrow = on::<f64>(body).place(site, &s.cache(body));
        for i in 0..3 {
            same_bits("position", wide.r[i], k, narrow.r[i])?;
            same_bits("velocity", wide.v[i], k, narrow.v[i])?;
            same_bits("angular velocity", wide.omega[i], k, narrow.omega[i])?;
        }
    }
    Ok(())
}
