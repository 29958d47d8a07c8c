//! A walker with knees: the knee of the swing leg is free until it is straight, then locked until the foot strikes.
//!
//! Legs of two links with a mass each, a mass at the hip, point feet. With u(θ) = (sin θ, cos θ) every mass is at Σ c_i u(θ_i) from the stance foot,
//! θ = (stance leg, swing thigh, swing shank), positive where the upper end is before the lower one. Lagrange's equations are then
//!
//! ```text
//! Σ_j a_ij cos(θ_i − θ_j) θ̈_j + Σ_j a_ij sin(θ_i − θ_j) θ̇_j² − g b_i sin θ_i = 0,    a_ij = Σ m c_i c_j,  b_i = Σ m c_i
//! ```
//!
//! The knee strike is plastic about the stance foot. The foot strike is plastic about the new foot, with all legs straight; then the knee of the
//! new swing leg is let go.
//!
//! References: McGeer: Passive walking with knees, Proc. IEEE Int. Conf. Robotics and Automation (1990) 1640–1645; Hsu Chen: Passive dynamic
//! walking with knees: a point foot model, thesis, MIT 2007 (the masses and lengths).

use crate::hybrid::Hybrid;
use dalembert_methods::Real;

/// The walker; coordinates (θ_stance, θ_thigh, θ_shank) and their rates; the parameter is the slope in radians.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct KneedWalker {
    /// The mass at the hip in kg.
    pub hip: f64,
    /// The mass of a thigh in kg, and its distances from knee and hip in m.
    pub thigh: (f64, [f64; 2]),
    /// The mass of a shank in kg, and its distances from foot and knee in m.
    pub shank: (f64, [f64; 2]),
    /// Gravity in m/s².
    pub gravity: f64,
}

impl Default for KneedWalker {
    fn default() -> Self {
        Self { hip: 0.5, thigh: (0.5, [0.175, 0.325]), shank: (0.05, [0.375, 0.125]), gravity: 9.81 }
    }
}

impl KneedWalker {
    fn leg(&self) -> f64 {
        self.thigh.1.iter().chain(&self.shank.1).sum()
    }

    /// The masses of a straight leg with their distances from the foot.
    fn straight(&self) -> [(f64, f64); 2] {
        let shank_length: f64 = self.shank.1.iter().sum();
        [(self.shank.0, self.shank.1[0]), (self.thigh.0, shank_length + self.thigh.1[0])]
    }

    /// a_ij and b_i.
    fn coefficients(&self) -> ([[f64; 3]; 3], [f64; 3]) {
        let (leg, thigh_length) = (self.leg(), self.thigh.1[0] + self.thigh.1[1]);
        let [low, high] = self.straight();
        let masses = [
            (low.0, [low.1, 0.0, 0.0]),
            (high.0, [high.1, 0.0, 0.0]),
            (self.hip, [leg, 0.0, 0.0]),
            (self.thigh.0, [leg, -self.thigh.1[1], 0.0]),
            (self.shank.0, [leg, -thigh_length, -self.shank.1[1]]),
        ];
        let (mut a, mut b) = ([[0.0; 3]; 3], [0.0; 3]);
        for (m, c) in masses {
            for i in 0..3 {
                b[i] += m * c[i];
                for j in 0..3 {
                    a[i][j] += m * c[i] * c[j];
                }
            }
        }
        (a, b)
    }

    /// The matrix a_ij cos(θ_i − θ_j).
    fn inertia<R: Real>(&self, z: &[R; 6]) -> [[R; 3]; 3] {
        let (a, _) = self.coefficients();
        std::array::from_fn(|i| std::array::from_fn(|j| (z[i] - z[j]).cos() * a[i][j]))
    }

    /// The state after a foot strike whose angle between the legs is twice `half`, with rates of stance and swing leg.
    pub fn after_strike(slope: f64, half: f64, rates: [f64; 2]) -> [f64; 6] {
        [slope - half, slope + half, slope + half, rates[0], rates[1], rates[1]]
    }
}

/// x of A x = b, two by two.
fn solve2<R: Real>(a: [[R; 2]; 2], b: [R; 2]) -> [R; 2] {
    let d = a[0][0] * a[1][1] - a[0][1] * a[1][0];
    [(b[0] * a[1][1] - a[0][1] * b[1]) / d, (a[0][0] * b[1] - b[0] * a[1][0]) / d]
}

/// x of A x = b, three by three, by Cramer's rule.
fn solve3<R: Real>(a: [[R; 3]; 3], b: [R; 3]) -> [R; 3] {
    let minor = |m: &[[R; 3]; 3], i: usize, j: usize| {
        let (r, s) = ((i + 1) % 3, (i + 2) % 3);
        let (c, d) = ((j + 1) % 3, (j + 2) % 3);
        m[r][c] * m[s][d] - m[r][d] * m[s][c]
    };
    let determinant = (0..3).fold(R::zero(), |sum, j| sum + a[0][j] * minor(&a, 0, j));
    std::array::from_fn(|j| (0..3).fold(R::zero(), |sum, i| sum + b[i] * minor(&a, i, j)) / determinant)
}

impl Hybrid<6> for KneedWalker {
    fn rate<R: Real>(&self, mode: usize, _t: R, z: &[R; 6], _p: &[R]) -> [R; 6] {
        let (a, b) = self.coefficients();
        let inertia = self.inertia(z);
        let force: [R; 3] = std::array::from_fn(|i| {
            let spun = (0..3).fold(R::zero(), |sum, j| sum + (z[i] - z[j]).sin() * z[3 + j] * z[3 + j] * a[i][j]);
            z[i].sin() * (self.gravity * b[i]) - spun
        });
        let [first, second, third] = if mode == 0 {
            solve3(inertia, force)
        } else {
            let cross = inertia[0][1] + inertia[0][2];
            let swing = inertia[1][1] + inertia[1][2] * 2.0 + inertia[2][2];
            let [stance, swing] = solve2([[inertia[0][0], cross], [cross, swing]], [force[0], force[1] + force[2]]);
            [stance, swing, swing]
        };
        [z[3], z[4], z[5], first, second, third]
    }

    fn guards(&self, _mode: usize) -> usize {
        1
    }

    fn guard<R: Real>(&self, mode: usize, _guard: usize, _t: R, z: &[R; 6], p: &[R]) -> R {
        if mode == 0 { z[2] - z[1] } else { p[0] * 2.0 - z[0] - z[1] }
    }

    fn reset<R: Real>(&self, mode: usize, _guard: usize, _t: R, z: &[R; 6], _p: &[R]) -> [R; 6] {
        if mode == 0 {
            let inertia = self.inertia(z);
            let momentum: [R; 3] =
                std::array::from_fn(|i| (0..3).fold(R::zero(), |sum, j| sum + inertia[i][j] * z[3 + j]));
            let cross = inertia[0][1] + inertia[0][2];
            let swing = inertia[1][1] + inertia[1][2] * 2.0 + inertia[2][2];
            let [stance, swing] =
                solve2([[inertia[0][0], cross], [cross, swing]], [momentum[0], momentum[1] + momentum[2]]);
            return [z[0], z[1], z[1], stance, swing, swing];
        }
        // Angular momenta about the new foot (all masses) and about the hip (the old stance leg). A mass at r u(α) with velocity
        // w u′(ψ) has the moment r w cos(α − ψ).
        let (stance, swing, rate, swing_rate) = (z[0], z[1], z[3], z[4]);
        let (leg, c) = (self.leg(), (stance - swing).cos());
        let mut about_foot = c * rate * (self.hip * leg * leg);
        let mut about_hip = R::zero();
        let mut foot_row = [R::from(self.hip * leg * leg), R::zero()];
        let mut hip_row = [R::zero(); 2];
        for (m, low) in self.straight() {
            let high = leg - low;
            about_foot += (c * (leg * low) - high * low) * rate * m + (c * rate * leg - swing_rate * high) * (m * low);
            about_hip -= rate * (m * high * low);
            foot_row[0] += c * (-m * high * leg) + m * (low * low + leg * leg);
            foot_row[1] += c * (-m * high * leg) + m * high * high;
            hip_row[0] += c * (-m * high * leg);
            hip_row[1] += R::from(m * high * high);
        }
        let [new_stance, new_swing] = solve2([foot_row, hip_row], [about_foot, about_hip]);
        [swing, stance, stance, new_stance, new_swing, new_swing]
    }

    fn next(&self, mode: usize, _guard: usize, _z: &[f64; 6]) -> usize {
        1 - mode
    }

    fn name(&self, mode: usize, _guard: usize) -> String {
        if mode == 0 { "the knee strike".to_owned() } else { "the foot strike".to_owned() }
    }
}
