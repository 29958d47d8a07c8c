//! The laws of mechanics as checks of everything registered.
//!
//! An element is not believed but tried: in random states, from a seed, each law is evaluated by two independent routes
//! that must agree to a stated multiple of rounding. A new element is checked by being registered.
//!
//! | section | law | what must hold |
//! |---|---|---|
//! | body | transpose | pull-back is the transpose of place (d'Alembert's principle) |
//! | body | velocity | places move with the velocities they state; their accelerations are the derivatives of these |
//! | body | retraction | q₀ ⊕ δ moves with velocity v when δ moves with `local_rate` |
//! | body | mass | M is symmetric and positive definite, kinetic energy is ½ vᵀMv |
//! | body | momentum | without forces from outside linear and angular momentum stay |
//! | body | weight | its power is that of m g at the centre of mass |
//! | force | power | power = −dU/dt − dissipation + supply, dissipation ≥ 0 |
//! | force | balance | an internal force has neither resultant force nor moment |
//! | force | objectivity | wrenches turn with a superposed rigid motion, energies stay |
//! | force | stillness | wrenches of a still force see neither time nor velocities, and have no power |
//! | force | derivative | wrenches by duals = by differences |
//! | constraint | gradient | gradients = differenced residuals |
//! | constraint | rate | rate and bias = time derivatives by duals and by differences; what is not rheonomic has no ∂/∂t |
//! | constraint | objectivity | residuals do not change under a superposed rigid motion |
//! | contact | normal | on the surface the normal is the gradient of the distance |
//! | contact | gradient | gradients = differenced gaps, and what a change of velocities does to the rates |
//! | contact | rate | rate of the gap and bias = time derivatives by duals and by differences; rates are linear in velocities |
//! | contact | friction | sliding friction takes power and lies within the static cone |
//! | contact | objectivity | gaps and slips do not change under a superposed rigid motion |
//! | signal | derivative | first and second derivative by jets = by differences |
//! | assembly | sample | what it makes is a model without defects whose elements can start |
//! | all | sample | the sample has no defect |
//! | all | lanes | four states side by side give the bits of four plain evaluations |
//! | all | description | writing and reading a scene gives the same element; the schema knows every key |
//!
//! References: Truesdell, Noll: The Non-Linear Field Theories of Mechanics, Springer 1965, sec. 17–19 (objectivity).

mod assembly;
mod body;
mod constraint;
mod contact;
mod describe;
mod force;
mod random;
mod signal;

pub use assembly::LAWS as ASSEMBLY_LAWS;
pub use body::LAWS as BODY_LAWS;
pub use constraint::LAWS as CONSTRAINT_LAWS;
pub use contact::LAWS as CONTACT_LAWS;
pub use describe::description;
pub use force::LAWS as FORCE_LAWS;
pub use random::Random;
pub use signal::LAWS as SIGNAL_LAWS;

use crate::assemblies::{self, AnyAssembly};
use crate::bodies::{self, AnyBody};
use crate::constraints::{self, AnyConstraint};
use crate::contacts::{self, AnyContact};
use crate::element::{Describe, Kind};
use crate::forces::{self, AnyForce};
use crate::joints;
use crate::signals::{self, Signal};
use dalembert_methods::Lanes;
use dalembert_methods::scalar::Lanes4;
use dalembert_methods::vector::{Mat3, Vec3};
use std::fmt;

/// How many random states each law is tried in.
pub const STATES: usize = 25;

/// A law broken: by how much, where.
#[derive(Clone, Debug, PartialEq)]
pub struct Violation {
    /// What does not agree, in words and numbers.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Violation {}

/// A law of mechanics for elements seen as `T`: its name, and the check.
pub struct Law<T: ?Sized> {
    /// The name.
    pub name: &'static str,
    /// Tries the law on an element in one random state.
    pub holds: fn(&T, &mut Random) -> Result<(), Violation>,
}

/// The outcome of one law for one kind of element.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The section of a scene the element belongs to.
    pub section: &'static str,
    /// The kind of element.
    pub kind: &'static str,
    /// The law.
    pub law: &'static str,
    /// Whether it holds.
    pub outcome: Result<(), Violation>,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`, law of {}: ", self.section, self.kind, self.law)?;
        match &self.outcome {
            Ok(()) => f.write_str("holds"),
            Err(violation) => write!(f, "broken: {violation}"),
        }
    }
}

/// Tries every law on every registered kind of body, force, joint, constraint, contact, signal and assembly.
pub fn everything(seed: u64) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(bodies::kinds().iter().flat_map(|kind| body(kind, seed)));
    findings.extend(forces::kinds().iter().flat_map(|kind| force(kind, seed)));
    findings.extend(joints::kinds().iter().flat_map(|kind| constraint("joint", kind, seed)));
    findings.extend(constraints::kinds().iter().flat_map(|kind| constraint("constraint", kind, seed)));
    findings.extend(contacts::kinds().iter().flat_map(|kind| contact(kind, seed)));
    findings.extend(signals::kinds().iter().flat_map(|kind| signal(kind, seed)));
    findings.extend(assemblies::kinds().iter().flat_map(|kind| assembly(kind, seed)));
    findings
}

/// Tries every law of bodies.
pub fn body(kind: &Kind<dyn AnyBody>, seed: u64) -> Vec<Finding> {
    findings("body", kind, BODY_LAWS, seed)
}

/// Tries every law of forces.
pub fn force(kind: &Kind<dyn AnyForce>, seed: u64) -> Vec<Finding> {
    findings("force", kind, FORCE_LAWS, seed)
}

/// Tries every law of joints and constraints; `section` is `joint` or `constraint`.
pub fn constraint(section: &'static str, kind: &Kind<dyn AnyConstraint>, seed: u64) -> Vec<Finding> {
    findings(section, kind, CONSTRAINT_LAWS, seed)
}

/// Tries every law of contacts.
pub fn contact(kind: &Kind<dyn AnyContact>, seed: u64) -> Vec<Finding> {
    findings("contact", kind, CONTACT_LAWS, seed)
}

/// Tries every law of signals.
pub fn signal(kind: &Kind<Signal>, seed: u64) -> Vec<Finding> {
    findings("signal", kind, SIGNAL_LAWS, seed)
}

/// Tries every law of assemblies.
pub fn assembly(kind: &Kind<dyn AnyAssembly>, seed: u64) -> Vec<Finding> {
    findings("assembly", kind, ASSEMBLY_LAWS, seed)
}

fn findings<T: Describe + ?Sized>(section: &'static str, kind: &Kind<T>, laws: &[Law<T>], seed: u64) -> Vec<Finding> {
    let element = (kind.sample)();
    let mut findings: Vec<_> = laws
        .iter()
        .map(|law| {
            let outcome = try_law(law, &*element, seed);
            Finding { section, kind: kind.kind, law: law.name, outcome }
        })
        .collect();
    findings.push(Finding { section, kind: kind.kind, law: "description", outcome: description(section, kind) });
    findings
}

/// Tries a law on an element in [`STATES`] random states.
pub fn try_law<T: ?Sized>(law: &Law<T>, element: &T, seed: u64) -> Result<(), Violation> {
    let mut random = Random::new(seed);
    (0..STATES).try_for_each(|_| (law.holds)(element, &mut random))
}

/// Rounding of two routes of some hundred operations each, relative to the largest term.
const ROUNDING: f64 = 2000.0 * f64::EPSILON;
/// Step of central differences, and their error relative to the largest term: truncation h² f‴/6 with derivatives that
/// grow by up to 10 each (unit lengths, frequencies up to 10 rad/s), rounding ε/h. See also [`agree_slope`].
const STEP: f64 = 1e-5;
const DIFFERENCE: f64 = 1e3 * STEP * STEP + 100.0 * f64::EPSILON / STEP;

/// Two routes to one number must agree to `tolerance` times the size of what they are made of.
fn agree(what: &str, a: f64, b: f64, size: f64, tolerance: f64) -> Result<(), Violation> {
    let bound = tolerance * (size + a.abs().max(b.abs()));
    // A number that is not finite agrees with nothing.
    if (a - b).abs() <= bound {
        return Ok(());
    }
    let message = format!("{what}: {a:e} against {b:e}, they differ by {:e}, allowed is {bound:e}", (a - b).abs());
    Err(Violation { message })
}

/// A derivative against differences of values at −2h, −h, h, 2h. The two central differences tell the error of the narrower
/// one: |D(h) − D(2h)|/3 where the function is smooth, 2 |D(h) − D(2h)| where it jumps. So states near a singularity or
/// at a branch cut are judged by what differences can say there.
fn agree_slope(what: &str, exact: f64, at: [f64; 4], size: f64) -> Result<(), Violation> {
    let (narrow, wide) = ((at[2] - at[1]) / (2.0 * STEP), (at[3] - at[0]) / (4.0 * STEP));
    agree(what, exact, narrow, size + 3.0 * (narrow - wide).abs() / DIFFERENCE, DIFFERENCE)
}

/// The times of the four values that [`agree_slope`] compares.
const STEPS: [f64; 4] = [-2.0 * STEP, -STEP, STEP, 2.0 * STEP];

fn agree_vector(what: &str, a: Vec3<f64>, b: Vec3<f64>, size: f64, tolerance: f64) -> Result<(), Violation> {
    let size = size + a.norm().max(b.norm());
    (0..3).try_for_each(|i| agree(&format!("{what}, component {i}"), a[i], b[i], size, tolerance))
}

fn agree_matrix(what: &str, a: Mat3<f64>, b: Mat3<f64>, size: f64, tolerance: f64) -> Result<(), Violation> {
    (0..3).try_for_each(|j| agree_vector(&format!("{what}, column {j}"), a.column(j), b.column(j), size, tolerance))
}

/// Lane `k` must have the bits of the plain number.
fn same_bits(what: &str, lanes: Lanes4, k: usize, plain: f64) -> Result<(), Violation> {
    let Lanes(lanes) = lanes;
    if lanes[k].to_bits() == plain.to_bits() || (lanes[k] == 0.0 && plain == 0.0) {
        return Ok(());
    }
    Err(Violation { message: format!("{what}: lane {k} gives {:e}, the plain number {plain:e}", lanes[k]) })
}

/// What is wrong with a sample, as a violation.
fn no_defect(defect: Option<(&'static str, String)>) -> Result<(), Violation> {
    defect.map_or(Ok(()), |(key, message)| Err(Violation { message: format!("`{key}`: {message}") }))
}

/// How many markers an element takes: the number it asks for, or the first that it accepts.
fn marker_count(count: Option<usize>, defect: impl Fn(usize) -> Option<(&'static str, String)>) -> usize {
    count.unwrap_or_else(|| (2..10).find(|&n| defect(n).is_none()).unwrap_or(2))
}
