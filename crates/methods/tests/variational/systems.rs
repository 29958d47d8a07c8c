//! Systems of every kind a discrete Lagrangian can have.

use dalembert_methods::algebra::{Mass, MassBlock};
use dalembert_methods::integrate::{IntegrateError, Integrator, RungeKutta, Settings, SettingsError, Variational};
use dalembert_methods::lie::{Quat, tangent, tangent_inverse};
use dalembert_methods::problems::Problem;
use dalembert_methods::vector::Vec3;
use dalembert_methods::{Scalar, Shape, State, System};

/// m q̈ + c q̇ + k q = F cos Ωt: forced, or with c = F = 0 the harmonic oscillator.
pub struct Oscillator {
    pub mass: f64,
    pub stiffness: f64,
    pub damping: f64,
    pub force: f64,
    pub rate: f64,
}

impl Oscillator {
    /// The one of the document: ω = 1 without loss.
    pub fn harmonic() -> Self {
        Self { mass: 1.0, stiffness: 1.0, damping: 0.0, force: 0.0, rate: 0.0 }
    }

    pub fn forced() -> Self {
        Self { mass: 2.0, stiffness: 8.0, damping: 0.6, force: 3.0, rate: 1.3 }
    }
}

impl System for Oscillator {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        Shape { q: 1, v: 1, z: 1, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(1)]
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, (): &mut ()) {}
    fn mass<S: Scalar>(&self, _s: &State<S>, (): &mut (), out: &mut Mass<S>) {
        out.block_mut(0)[0] = S::from(self.mass);
    }
    fn force<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        out[0] = (s.t * self.rate).cos() * self.force - s.q[0] * self.stiffness - s.v[0] * self.damping;
    }
    /// The power lost and supplied: with the energy it adds up to a constant.
    fn integrand<S: Scalar>(&self, s: &State<S>, _multipliers: &[S], (): &mut (), out: &mut [S]) {
        out[0] = s.v[0].square() * self.damping - (s.t * self.rate).cos() * s.v[0] * self.force;
    }
}

impl Problem for Oscillator {
    fn name(&self) -> &'static str {
        "forced oscillator"
    }
    fn initial(&self) -> State<f64> {
        State { q: vec![2.0], v: vec![2.0], z: vec![0.0], ..State::default() }
    }
    fn until(&self) -> f64 {
        3.0
    }
    fn exact(&self, t: f64) -> Option<State<f64>> {
        let Self { mass, stiffness, damping, force, rate } = *self;
        let (stiff, loss) = (stiffness - mass * rate * rate, damping * rate);
        let size = stiff * stiff + loss * loss;
        let (cosine, sine) = (force * stiff / size, force * loss / size);
        let (decay, omega) = (0.5 * damping / mass, (stiffness / mass - (0.5 * damping / mass).powi(2)).sqrt());
        let a = 2.0 - cosine;
        let b = (2.0 - rate * sine + decay * a) / omega;
        let (s, c) = (omega * t).sin_cos();
        let (rs, rc) = (rate * t).sin_cos();
        let fade = (-decay * t).exp();
        let q = cosine * rc + sine * rs + fade * (a * c + b * s);
        let v = rate * (sine * rc - cosine * rs) + fade * (omega * (b * c - a * s) - decay * (a * c + b * s));
        let energy = |q: f64, v: f64| 0.5 * (mass * v * v + stiffness * q * q);
        Some(State { t, q: vec![q], v: vec![v], z: vec![energy(2.0, 2.0) - energy(q, v)], ..State::default() })
    }
    fn invariants(&self, s: &State<f64>) -> Vec<f64> {
        vec![0.5 * (self.mass * s.v[0].powi(2) + self.stiffness * s.q[0].powi(2)) + s.z[0]]
    }
}

/// Two point masses on massless links, angles of the first from the vertical and of the second from the first: a mass matrix that depends on
/// the place.
pub struct Links {
    pub masses: [f64; 2],
    pub lengths: [f64; 2],
    pub gravity: f64,
}

impl Links {
    pub fn state(&self) -> State<f64> {
        State { q: vec![0.4, 1.1], v: vec![1.2, -0.7], ..State::default() }
    }

    fn entries<S: Scalar>(&self, q: &[S]) -> [S; 3] {
        let ([m1, m2], [a, b]) = (self.masses, self.lengths);
        let product = q[1].cos() * (m2 * a * b);
        [product * 2.0 + ((m1 + m2) * a * a + m2 * b * b), product + m2 * b * b, S::from(m2 * b * b)]
    }

    /// The momenta M v.
    pub fn momentum(&self, s: &State<f64>) -> [f64; 2] {
        let [a, b, c] = self.entries(&s.q);
        [a * s.v[0] + b * s.v[1], b * s.v[0] + c * s.v[1]]
    }
}

impl System for Links {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        Shape { q: 2, v: 2, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Dense(2)]
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, (): &mut ()) {}
    fn mass<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut Mass<S>) {
        let [a, b, c] = self.entries(&s.q);
        out.block_mut(0).copy_from_slice(&[a, b, b, c]);
    }
    fn force<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        let ([m1, m2], [a, b]) = (self.masses, self.lengths);
        let turn = s.q[1].sin() * (m2 * a * b);
        let low = (s.q[0] + s.q[1]).sin() * (m2 * self.gravity * b);
        let (v, w) = (s.v[0], s.v[1]);
        out[0] = turn * (v * w * 2.0 + w * w) - low - s.q[0].sin() * ((m1 + m2) * self.gravity * a);
        out[1] = -turn * v * v - low;
    }
    fn magnitude(&self, _q: &[f64], out: &mut [f64]) {
        out.fill(1.0);
    }
}

/// A body on a fixed point under gravity: inertia about that point in body axes, weight times distance of the centre on its third axis.
pub struct Top {
    pub inertia: [f64; 3],
    pub weight: f64,
}

impl Top {
    /// Leaning and turning.
    pub fn state(&self, lean: f64, omega: [f64; 3]) -> State<f64> {
        State { q: Quat::exp(Vec3([lean, 0.0, 0.0])).0.to_vec(), v: omega.to_vec(), ..State::default() }
    }

    pub fn momentum(&self, s: &State<f64>) -> Vec3<f64> {
        Quat::from_slice(&s.q).rotate(Vec3(std::array::from_fn(|i| self.inertia[i] * s.v[i])))
    }

    pub fn energy(&self, s: &State<f64>) -> f64 {
        let kinetic: f64 = (0..3).map(|i| 0.5 * self.inertia[i] * s.v[i].powi(2)).sum();
        kinetic + self.weight * Quat::from_slice(&s.q).rotate(Vec3([0.0, 0.0, 1.0]))[2]
    }
}

impl System for Top {
    type Work<S: Scalar> = ();
    fn shape(&self) -> Shape {
        Shape { q: 4, v: 3, ..Shape::default() }
    }
    fn mass_blocks(&self) -> Vec<MassBlock> {
        vec![MassBlock::Diagonal(3)]
    }
    fn mass_is_constant(&self) -> bool {
        true
    }
    fn work<S: Scalar>(&self) {}
    fn prepare<S: Scalar>(&self, _s: &State<S>, (): &mut ()) {}
    fn mass<S: Scalar>(&self, _s: &State<S>, (): &mut (), out: &mut Mass<S>) {
        out.block_mut(0).copy_from_slice(&self.inertia.map(S::from));
    }
    fn force<S: Scalar>(&self, s: &State<S>, (): &mut (), out: &mut [S]) {
        let omega = Vec3::from_slice(&s.v);
        let momentum = Vec3(std::array::from_fn(|i| omega[i] * self.inertia[i]));
        let down = Quat::from_slice(&s.q).conjugate().rotate(Vec3::constant([0.0, 0.0, -self.weight]));
        (momentum.cross(omega) + Vec3::constant([0.0, 0.0, 1.0]).cross(down)).write(out);
    }
    fn retract<S: Scalar>(&self, q: &[S], delta: &[S], out: &mut [S]) {
        let moved = Quat::from_slice(q) * Quat::exp(Vec3::from_slice(delta));
        out.copy_from_slice(&moved.normalized().0);
    }
    fn local_rate<S: Scalar>(&self, delta: &[S], v: &[S], out: &mut [S]) {
        tangent_inverse(Vec3::from_slice(delta), Vec3::from_slice(v)).write(out);
    }
    fn local_velocity<S: Scalar>(&self, delta: &[S], rate: &[S], out: &mut [S]) {
        tangent(Vec3::from_slice(delta), Vec3::from_slice(rate)).write(out);
    }
    fn local_shift<S: Scalar>(&self, delta: &[S], base: &[S], out: &mut [S]) {
        tangent_inverse(-Vec3::from_slice(delta), Vec3::from_slice(base)).write(out);
    }
    fn magnitude(&self, _q: &[f64], out: &mut [f64]) {
        out.fill(1.0);
    }
    fn velocity_name(&self, i: usize) -> String {
        format!("turn {i}")
    }
}

/// A variational integrator by name: the others are not compiled for every system here.
pub fn make<Y: System>(name: &str, settings: &Settings) -> Result<Variational<Y>, SettingsError> {
    match name {
        "variational" => Variational::affine(settings),
        "galerkin_gauss" => Variational::gauss(settings),
        "galerkin_lobatto" => Variational::lobatto(settings),
        "lie_group" => Variational::lie_group(settings),
        "phase_fitted" => Variational::phase_fitted(settings),
        "multirate" => Variational::multirate(settings),
        _ => panic!("no variational integrator is called {name}"),
    }
}

/// Steps of length h to the end, or the error on the way.
pub fn try_run<Y: System>(
    y: &Y,
    s: &State<f64>,
    name: &str,
    settings: &Settings,
    until: f64,
    steps: u32,
) -> Result<State<f64>, IntegrateError> {
    let h = until / f64::from(steps);
    let mut integrator = make(name, &settings.clone().with("fixed_step", h)).unwrap();
    let mut s = s.clone();
    let end = s.t + until;
    integrator.start(y, &mut s)?;
    while s.t < end {
        integrator.step(y, &mut s, end)?;
    }
    Ok(s)
}

/// The state after equal steps.
pub fn run<Y: System>(y: &Y, s: &State<f64>, name: &str, settings: &Settings, until: f64, steps: u32) -> State<f64> {
    try_run(y, s, name, settings, until, steps).unwrap()
}

/// The error at the end of a problem; a step too long for Newton's method has an error of any size.
pub fn end_error<P: Problem>(problem: &P, name: &str, settings: &Settings, steps: u32) -> f64 {
    let end = try_run(problem, &problem.initial(), name, settings, problem.until(), steps);
    end.map_or(f64::INFINITY, |s| problem.distance(&s, &problem.exact(s.t).unwrap()))
}

/// The state by another method, as good as exact.
pub fn reference<Y: System>(y: &Y, s: &State<f64>, until: f64) -> State<f64> {
    let mut integrator = RungeKutta::dop853(&Settings::default().with("tolerance", 1e-14)).unwrap();
    let mut s = s.clone();
    integrator.start(y, &mut s).unwrap();
    while s.t < until {
        integrator.step(y, &mut s, until).unwrap();
    }
    s
}

/// The largest difference of positions and velocities.
pub fn distance(a: &State<f64>, b: &State<f64>) -> f64 {
    let pairs = a.q.iter().zip(&b.q).chain(a.v.iter().zip(&b.v));
    pairs.fold(0.0, |largest, (a, b)| largest.max((a - b).abs()))
}
