//! Which forces are fast: named by a scene, between bodies that are, or found from their stiffness.
//!
//! For the last at the start each force by itself is given the frequency ω with ω² = max_i Σ_j |∂fᵢ/∂qⱼ|/Mᵢᵢ, over the velocities it acts on: the largest that its
//! stiffness may have in company of the masses there (Gershgorin's bound of M⁻¹K for a diagonal M). In the order of frequencies the largest
//! ratio between neighbours parts slow from fast ones, if it is at least [`GAP`]; otherwise all are slow.

use super::{Builder, Model};
use dalembert_methods::algebra::Mass;
use dalembert_methods::scalar::Dual;
use dalembert_methods::{State, System};

/// Frequencies further apart than this are of different rates.
const GAP: f64 = 4.0;

impl Builder {
    /// Gives forces a rate, for multirate integrators, which take those of rates above zero in smaller steps: forces there are so far whose names pass a
    /// test. Returns how many did, and the name of one that had another rate already.
    pub fn rate(&mut self, rate: usize, is_of: impl Fn(&str) -> bool) -> (usize, Option<String>) {
        self.rates.resize(self.forces.len(), 0);
        let (mut count, mut twice) = (0, None);
        for (force, own) in self.forces.iter().zip(&mut self.rates).filter(|(force, _)| is_of(&force.name)) {
            if *own != 0 && *own != rate {
                twice = Some(force.name.clone());
            }
            *own = rate;
            count += 1;
        }
        (count, twice)
    }

    /// Gives a rate to the forces there are so far that act on some of these bodies and on no others but the ground.
    pub(crate) fn rate_between(&mut self, rate: usize, bodies: &[usize]) {
        self.rates.resize(self.forces.len(), 0);
        for (force, own) in self.forces.iter().zip(&mut self.rates) {
            let mut acted = force.markers.iter().map(|&m| self.markers[m].body).filter(|&body| body != 0).peekable();
            if acted.peek().is_some() && acted.all(|body| bodies.contains(&body)) {
                *own = rate;
            }
        }
    }

    /// The names of those of these bodies on which no force of a rate above zero acts, and forces of such rates with another body on which they act.
    pub(crate) fn unmatched(&self, bodies: &[usize]) -> (Vec<String>, Vec<(String, String)>) {
        let rates = self.rates.iter().copied().chain(std::iter::repeat(0));
        let fast = self.forces.iter().zip(rates).filter(|(_, rate)| *rate > 0).map(|(force, _)| force);
        let acts = fast.flat_map(|force| force.markers.iter().map(|&m| (&force.name, self.markers[m].body)));
        let acts: Vec<(&String, usize)> = acts.filter(|(_, body)| *body != 0).collect();
        let name = |body: usize| self.bodies[body].name.clone();
        let idle = bodies.iter().filter(|body| !acts.iter().any(|(_, own)| own == *body));
        let other = acts.iter().filter(|(_, body)| !bodies.contains(body));
        (idle.map(|&body| name(body)).collect(), other.map(|(force, body)| ((*force).clone(), name(*body))).collect())
    }
}

impl Model {
    /// The frequency of each force by itself at the start, in rad/s.
    pub fn stiffness_rates(&self) -> Vec<f64> {
        let (start, shape) = (self.initial_state(), self.shape());
        let mut plain = self.work::<f64>();
        let mut mass = Mass::new(&self.mass_blocks());
        self.prepare(&start, &mut plain);
        self.mass(&start, &mut plain, &mut mass);
        let mut inertia = vec![0.0; shape.v];
        mass.entries(|row, col, value| {
            if row == col {
                inertia[row] = value;
            }
        });
        let mut work = self.work::<Dual>();
        let mut s: State<Dual> = State::zeros(shape);
        s.lift(&start);
        let base = s.q.clone();
        let (mut delta, mut out) = (vec![Dual::default(); shape.v], vec![Dual::default(); shape.v]);
        let mut sums = vec![vec![0.0_f64; shape.v]; self.forces.len()];
        for k in 0..shape.v {
            delta[k] = Dual::new(0.0, 1.0);
            self.retract(&base, &delta, &mut s.q);
            delta[k] = Dual::default();
            self.prepare(&s, &mut work);
            for (i, sum) in sums.iter_mut().enumerate().filter(|(i, _)| self.acts_on(*i, k)) {
                self.forces_where(&s, &mut work, |force| force == i, &mut out);
                sum.iter_mut().zip(&out).for_each(|(sum, f)| *sum += f.eps[0].abs());
            }
        }
        let rate = |sums: &Vec<f64>| {
            let squares = sums.iter().zip(&inertia).map(|(sum, m)| if *m > 0.0 { sum / m } else { 0.0 });
            squares.fold(0.0, f64::max).sqrt()
        };
        sums.iter().map(rate).collect()
    }

    /// Whether a force has a marker on the body of a velocity.
    fn acts_on(&self, force: usize, velocity: usize) -> bool {
        self.forces[force].markers.iter().any(|&m| self.layout.v[self.markers[m].body].contains(&velocity))
    }

    /// Gives rate one to the forces that are stiffer than all others by a gap.
    pub(crate) fn find_rates(&mut self) {
        let rates = self.stiffness_rates();
        let mut sorted: Vec<f64> = rates.iter().copied().filter(|&rate| rate > 0.0).collect();
        sorted.sort_by(f64::total_cmp);
        let gaps = sorted.windows(2).map(|pair| (pair[1] / pair[0], pair[1]));
        let Some((gap, lowest)) = gaps.max_by(|a, b| a.0.total_cmp(&b.0)) else { return };
        if gap >= GAP {
            self.rates = rates.iter().map(|&rate| usize::from(rate >= lowest)).collect();
        }
    }
}
