//! Maps with derivatives: one period of a forced motion, one stride of a hybrid one; fixed points by Newton's method.
//!
//! ```text
//! z* = P(z*, p),   multipliers: eigenvalues of ∂P/∂z at z*
//! ```
//!
//! A cycle is stable if all multipliers lie inside the unit circle. Strides end on the surface of their last event, so that some of
//! their multipliers are zero; the others do not depend on where on the cycle one starts.

use crate::dense::Matrix;
use crate::eigen::eigenvalues;
use crate::error::AnalysisError;
use crate::field::{Field, Settings, flow, seeded};
use crate::hybrid::{Hybrid, Place, to_event};
use crate::motion::LEAP;
use dalembert_methods::Jet;
use dalembert_methods::algebra::Complex;

/// The value of a map with its derivatives.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// P(z, p).
    pub value: Vec<f64>,
    /// ∂P/∂z.
    pub by_state: Matrix,
    /// ∂P/∂p for the parameter that is free.
    pub by_parameter: Vec<f64>,
}

/// A map of a state that depends on one parameter.
pub trait Map: Sync {
    /// The number of coordinates.
    fn size(&self) -> usize;
    /// The value and its derivatives.
    ///
    /// # Errors
    /// Whatever keeps the motion from its end.
    fn image(&self, z: &[f64], parameter: f64) -> Result<Image, AnalysisError>;
    /// The value alone.
    ///
    /// # Errors
    /// As [`Map::image`].
    fn value(&self, z: &[f64], parameter: f64) -> Result<Vec<f64>, AnalysisError> {
        Ok(self.image(z, parameter)?.value)
    }
}

/// One period of a field: t₀ to t₀ + T.
#[derive(Clone, Debug)]
pub struct Period<F, const N: usize> {
    /// The field.
    pub field: F,
    /// The period in seconds.
    pub period: f64,
    /// All parameters.
    pub parameters: Vec<f64>,
    /// Which of them is free.
    pub free: usize,
    /// How the flow is computed.
    pub settings: Settings,
}

impl<F: Field<N>, const N: usize> Map for Period<F, N> {
    fn size(&self) -> usize {
        N
    }

    fn image(&self, z: &[f64], parameter: f64) -> Result<Image, AnalysisError> {
        let (z, p) = (sized(z)?, replaced(&self.parameters, self.free, parameter));
        let lifted: Vec<Jet<f64, N>> = p.iter().map(|&p| p.into()).collect();
        let mut at = seeded(&z);
        flow(&self.field, &mut at, &lifted, 0.0, self.period, self.settings)?;
        let along = direction(&p, self.free);
        let mut by = z.map(Jet::<f64, 1>::from);
        flow(&self.field, &mut by, &along, 0.0, self.period, self.settings)?;
        Ok(Image {
            value: at.iter().map(|z| z.re).collect(),
            by_state: Matrix::from_fn(N, N, |i, j| at[i].eps[j]),
            by_parameter: by.iter().map(|z| z.eps[0]).collect(),
        })
    }

    fn value(&self, z: &[f64], parameter: f64) -> Result<Vec<f64>, AnalysisError> {
        let (mut z, p) = (sized(z)?, replaced(&self.parameters, self.free, parameter));
        flow(&self.field, &mut z, &p, 0.0, self.period, self.settings)?;
        Ok(z.to_vec())
    }
}

/// The stride function: from a state in a mode through a sequence of guards to the state after the last one.
#[derive(Clone, Debug)]
pub struct Stride<H, const N: usize> {
    /// The hybrid motion.
    pub system: H,
    /// The mode in which a stride begins.
    pub mode: usize,
    /// The guard of this mode on whose surface a stride begins, if there is one.
    pub on: Option<usize>,
    /// The guards that must be met, in order; others end the stride with an error.
    pub guards: Vec<usize>,
    /// All parameters.
    pub parameters: Vec<f64>,
    /// Which of them is free.
    pub free: usize,
    /// The longest time allowed in seconds.
    pub longest: f64,
    /// How the flow is computed.
    pub settings: Settings,
}

impl<H: Hybrid<N>, const N: usize> Stride<H, N> {
    fn run<R: crate::field::Number>(&self, z: [R; N], p: &[R]) -> Result<Place<R, N>, AnalysisError> {
        let mut place = Place { t: R::zero(), z, mode: self.mode };
        for (k, &expected) in self.guards.iter().enumerate() {
            let (mode, on) = (place.mode, if k == 0 { self.on } else { None });
            match to_event(&self.system, &mut place, p, on, self.longest, self.settings)? {
                Some(guard) if guard == expected => {}
                Some(guard) => {
                    let reason = format!(
                        "at t = {} s {} was met before {}",
                        place.t.value(),
                        self.system.name(mode, guard),
                        self.system.name(mode, expected)
                    );
                    return Err(AnalysisError::Invalid { reason });
                }
                None => return Err(AnalysisError::NoEvent { t: self.longest }),
            }
        }
        Ok(place)
    }

    /// The state after a stride and how long it took, in seconds.
    ///
    /// # Errors
    /// [`AnalysisError::NoEvent`] if a guard is not met in time.
    pub fn stride(&self, z: &[f64; N], parameter: f64) -> Result<([f64; N], f64), AnalysisError> {
        let place = self.run(*z, &replaced(&self.parameters, self.free, parameter))?;
        Ok((place.z, place.t))
    }
}

impl<H: Hybrid<N>, const N: usize> Map for Stride<H, N> {
    fn size(&self) -> usize {
        N
    }

    fn image(&self, z: &[f64], parameter: f64) -> Result<Image, AnalysisError> {
        let (z, p) = (sized(z)?, replaced(&self.parameters, self.free, parameter));
        let lifted: Vec<Jet<f64, N>> = p.iter().map(|&p| p.into()).collect();
        let at = self.run(seeded(&z), &lifted)?.z;
        let by = self.run(z.map(Jet::<f64, 1>::from), &direction(&p, self.free))?.z;
        Ok(Image {
            value: at.iter().map(|z| z.re).collect(),
            by_state: Matrix::from_fn(N, N, |i, j| at[i].eps[j]),
            by_parameter: by.iter().map(|z| z.eps[0]).collect(),
        })
    }

    fn value(&self, z: &[f64], parameter: f64) -> Result<Vec<f64>, AnalysisError> {
        Ok(self.stride(&sized(z)?, parameter)?.0.to_vec())
    }
}

/// A map done several times: cycles of longer period are its fixed points.
pub struct Power<'a> {
    /// The map.
    pub map: &'a dyn Map,
    /// How often it is done.
    pub times: usize,
}

impl Map for Power<'_> {
    fn size(&self) -> usize {
        self.map.size()
    }

    fn image(&self, z: &[f64], parameter: f64) -> Result<Image, AnalysisError> {
        let n = self.size();
        let start = Image { value: z.to_vec(), by_state: Matrix::unit(n), by_parameter: vec![0.0; n] };
        (0..self.times).try_fold(start, |before, _| {
            let next = self.map.image(&before.value, parameter)?;
            let carried = next.by_state.apply(&before.by_parameter);
            let by_parameter = next.by_parameter.iter().zip(carried).map(|(a, b)| a + b).collect();
            Ok(Image { value: next.value, by_state: next.by_state.mul(&before.by_state), by_parameter })
        })
    }
}

fn sized<const N: usize>(z: &[f64]) -> Result<[f64; N], AnalysisError> {
    z.try_into().map_err(|_| AnalysisError::Invalid { reason: format!("a state has {N} coordinates, not {}", z.len()) })
}

fn replaced(parameters: &[f64], free: usize, value: f64) -> Vec<f64> {
    let mut p = parameters.to_vec();
    if let Some(entry) = p.get_mut(free) {
        *entry = value;
    }
    p
}

fn direction(p: &[f64], free: usize) -> Vec<Jet<f64, 1>> {
    p.iter().enumerate().map(|(i, &p)| Jet::new(p, f64::from(u8::from(i == free)))).collect()
}

/// A fixed point of a map: a periodic motion.
#[derive(Clone, Debug, PartialEq)]
pub struct Cycle {
    /// The state at its beginning.
    pub state: Vec<f64>,
    /// The multipliers, by falling modulus.
    pub multipliers: Vec<Complex>,
    /// The largest difference of state and image.
    pub residual: f64,
    /// Newton steps.
    pub iterations: usize,
}

impl Cycle {
    /// Whether small disturbances die out.
    pub fn stable(&self) -> bool {
        self.multipliers.iter().all(|m| m.modulus() < 1.0)
    }
}

/// Most Newton steps.
const ITERATIONS: usize = 50;
/// Most halvings of one.
const HALVINGS: usize = 12;

/// A fixed point near a guess, by Newton's method with steps that are halved until the residual falls.
///
/// # Errors
/// [`AnalysisError::NotIsolated`] where ∂P/∂z has a multiplier one, [`AnalysisError::NotConverged`] where no step helps.
pub fn fixed_point(map: &dyn Map, guess: &[f64], parameter: f64, tolerance: f64) -> Result<Cycle, AnalysisError> {
    let mut z = guess.to_vec();
    let mut image = map.image(&z, parameter)?;
    let residual = |z: &[f64], image: &[f64]| z.iter().zip(image).fold(0.0f64, |max, (z, p)| max.max((p - z).abs()));
    let mut left = residual(&z, &image.value);
    for iterations in 0..ITERATIONS {
        if left <= tolerance {
            let multipliers = eigenvalues(&image.by_state)?;
            return Ok(Cycle { state: z, multipliers, residual: left, iterations });
        }
        let matrix = Matrix::unit(z.len()).plus(-1.0, &image.by_state);
        let difference: Vec<f64> = image.value.iter().zip(&z).map(|(p, z)| p - z).collect();
        let step = matrix
            .solve_vector(&difference, "1 − ∂P/∂z")
            .map_err(|_| AnalysisError::NotIsolated { what: "the cycle", ratio: f64::EPSILON })?;
        // No leap far beyond where the search is: from there a motion may take long to compute, or lead elsewhere.
        let size = |values: &[f64]| values.iter().fold(0.0f64, |max, v| max.max(v.abs()));
        let mut part = (LEAP * (1.0 + left + size(&z)) / size(&step).max(f64::MIN_POSITIVE)).min(1.0);
        let better = (0..HALVINGS).find_map(|_| {
            let trial: Vec<f64> = z.iter().zip(&step).map(|(z, d)| z + part * d).collect();
            part *= 0.5;
            let image = map.image(&trial, parameter).ok()?;
            let there = residual(&trial, &image.value);
            (there < left || there <= tolerance).then_some((trial, image, there))
        });
        let Some((trial, next, there)) = better else { break };
        (z, image, left) = (trial, next, there);
    }
    let advice = "start nearer to the cycle, for instance from an evolution strategy, or loosen the tolerance";
    Err(AnalysisError::NotConverged { what: "the search for a cycle", iterations: ITERATIONS, residual: left, advice })
}
