//! Variational integrators by name, and runs of equal steps.

use dalembert_methods::integrate::{IntegrateError, Integrator, RungeKutta, Settings, SettingsError, Variational};
use dalembert_methods::problems::Problem;
use dalembert_methods::{State, System};

/// A variational integrator by name: the others are not compiled for every system here.
pub fn make<Y: System>(name: &str, settings: &Settings) -> Result<Variational<Y>, SettingsError> {
    match name {
        "variational" => Variational::affine(settings),
        "galerkin_gauss" => Variational::gauss(settings),
        "galerkin_lobatto" => Variational::lobatto(settings),
        "galerkin_chebyshev" => Variational::chebyshev(settings),
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
