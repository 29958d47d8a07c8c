//! Coefficient sets of explicit Runge–Kutta methods, as data.
//!
//! A set has `s` stages that make the step, one more at its end (the first stage of the next step: the last row of the
//! step is its weights) and, for some, further stages that only the continuous output needs:
//!
//! ```text
//! k_i = f(t + c_i h, y + h Σ_{j<i} a_ij k_j)          i = 0 … s, then the further ones on demand
//! y(t + h)  ≈ y + h Σ b_i k_i,   b = row s of a
//! y(t + θh) ≈ y + h Σ b_i(θ) k_i
//! ```
//!
//! The continuous weights come from Hairer's nested form (\[1\] p. 192 and II.6)
//! u(θ) = θ(r₀ + (1−θ)(r₁ + θ(r₂ + (1−θ)(r₃ + θ(r₄ + …))))) with r₀ = Σ b k, r₁ = k₀ − r₀, r₂ = 2 r₀ − k₀ − k_s, and
//! r₃ … = Σ d k.
//!
//! References: \[1\] Hairer, Nørsett, Wanner: Solving Ordinary Differential Equations I, 2nd ed., Springer 1993, table II.5.2
//! and section II.10, with the programs DOPRI5 and DOP853; \[2\] Dormand, Prince: A family of embedded Runge–Kutta formulae,
//! J. Comput. Appl. Math. 6 (1980) 19–26; \[3\] Prince, Dormand: High order embedded Runge–Kutta formulae, J. Comput. Appl.
//! Math. 7 (1981) 67–75; \[4\] Kutta: Beitrag zur näherungsweisen Integration totaler Differentialgleichungen, Z. Math. Phys. 46 (1901)
//! 435–453. Every set is tested against the order conditions of all rooted trees up to its order.

/// The largest number of stages of a set, those for continuous output included.
pub const MOST_STAGES: usize = 16;

/// The coefficients of one method.
#[derive(Debug)]
pub struct Tableau {
    /// The order of the step.
    pub order: u32,
    /// The order of the continuous output.
    pub dense_order: u32,
    /// The number of stages that make the step.
    pub stages: usize,
    /// The nodes c of all stages.
    pub nodes: &'static [f64],
    /// The coefficients a, one row for each stage; row `stages` holds the weights b.
    pub rows: &'static [&'static [f64]],
    /// The weights of the error estimate.
    pub error: &'static [f64],
    /// The weights of a second estimate of lower order, empty if there is none; see [`Tableau::combine`].
    pub error_low: &'static [f64],
    /// The error estimate behaves like h to this power.
    pub error_power: u32,
    /// The weights d of r₃, r₄, ….
    pub dense: &'static [&'static [f64]],
    /// The weight of the integral part in the step-size control.
    pub beta: f64,
    /// The most a step may shrink or grow at once.
    pub change: [f64; 2],
    /// How far the region of stability reaches along the negative real axis.
    pub stability: f64,
}

impl Tableau {
    /// All stages, those for the continuous output included.
    pub fn all_stages(&self) -> usize {
        self.rows.len()
    }

    /// The weights b_i(θ) of the continuous output.
    pub fn weights(&self, theta: f64, out: &mut [f64; MOST_STAGES]) {
        let (s, rest) = (self.stages, 1.0 - theta);
        // All stages at once, for one power after the other.
        out.fill(0.0);
        for (k, row) in self.dense.iter().enumerate().rev() {
            out.iter_mut().zip(*row).for_each(|(sum, d)| *sum += d);
            let factor = if k % 2 == 0 { rest } else { theta };
            out.iter_mut().for_each(|sum| *sum *= factor);
        }
        let mut step = [0.0; MOST_STAGES];
        step.iter_mut().zip(self.rows[s]).for_each(|(step, b)| *step = *b);
        let (mut first, mut last) = ([0.0; MOST_STAGES], [0.0; MOST_STAGES]);
        (first[0], last[s]) = (1.0, 1.0);
        for i in 0..MOST_STAGES {
            let sum = (out[i] + 2.0 * step[i] - first[i] - last[i]) * theta;
            let sum = (sum + first[i] - step[i]) * rest;
            out[i] = (sum + step[i]) * theta;
        }
    }

    /// Whether the rates of stage `i` have a part in anything but later stages. Integrals, which feed nothing back, need no others.
    pub fn counts(&self, i: usize) -> bool {
        let weighs = |row: &[f64]| row.get(i).is_some_and(|&weight| weight != 0.0);
        let rows = [self.rows[self.stages], self.error, self.error_low];
        i == 0 || i >= self.stages || rows.into_iter().any(weighs) || self.dense.iter().any(|row| weighs(row))
    }

    /// The weights of the cubic Hermite polynomial through both ends, for when the further stages cannot be evaluated.
    pub fn hermite_weights(&self, theta: f64, out: &mut [f64; MOST_STAGES]) {
        let (s, b) = (self.stages, self.rows[self.stages]);
        for (i, weight) in out.iter_mut().enumerate() {
            let step = b.get(i).copied().unwrap_or(0.0);
            let first = if i == 0 { 1.0 } else { 0.0 };
            let last = if i == s { 1.0 } else { 0.0 };
            let sum = (2.0 * step - first - last) * theta;
            *weight = ((sum + first - step) * (1.0 - theta) + step) * theta;
        }
    }

    /// One error from the two estimates e, e_low: e²/√(e² + e_low²/100), which behaves like h⁸ for orders 5 and 3 (\[1\] p. 255).
    pub fn combine(error: f64, low: f64) -> f64 {
        let denominator = error * error + 0.01 * low * low;
        if denominator > 0.0 { error * error / denominator.sqrt() } else { 0.0 }
    }
}

/// The classical method of order 4. The rates at the end of the step give an estimate of order 3: (k₃ − k₄)/6 is the only combination
/// that vanishes to that order.
pub const RK4: Tableau = Tableau {
    order: 4,
    dense_order: 3,
    stages: 4,
    nodes: &[0.0, 0.5, 0.5, 1.0, 1.0],
    rows: &[&[], &[0.5], &[0.0, 0.5], &[0.0, 0.0, 1.0], &[1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0]],
    error: &[0.0, 0.0, 0.0, 1.0 / 6.0, -1.0 / 6.0],
    error_low: &[],
    error_power: 4,
    dense: &[],
    beta: 0.04,
    change: [0.2, 10.0],
    stability: 2.7,
};

/// Dormand and Prince's method of order 5 with an error estimate of order 4.
pub const DOPRI5: Tableau = Tableau {
    order: 5,
    dense_order: 4,
    stages: 6,
    nodes: &[0.0, 1.0 / 5.0, 3.0 / 10.0, 4.0 / 5.0, 8.0 / 9.0, 1.0, 1.0],
    rows: &[
        &[],
        &[1.0 / 5.0],
        &[3.0 / 40.0, 9.0 / 40.0],
        &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
        &[19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0],
        &[9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
        &[35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0],
    ],
    error: &[71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0],
    error_low: &[],
    error_power: 5,
    dense: &[&[
        -12715105075.0 / 11282082432.0,
        0.0,
        87487479700.0 / 32700410799.0,
        -10690763975.0 / 1880347072.0,
        701980252875.0 / 199316789632.0,
        -1453857185.0 / 822651844.0,
        69997945.0 / 29380423.0,
    ]],
    beta: 0.04,
    change: [0.2, 10.0],
    stability: 3.3,
};

/// Dormand and Prince's method of order 8 with Hairer's error estimates of orders 5 and 3 and output of order 7.
pub const DOP853: Tableau = Tableau {
    order: 8,
    dense_order: 7,
    stages: 12,
    nodes: DOP853_NODES,
    rows: DOP853_ROWS,
    error: DOP853_ERROR,
    error_low: DOP853_LOW,
    error_power: 8,
    dense: DOP853_DENSE,
    beta: 0.0,
    change: [1.0 / 3.0, 6.0],
    stability: 6.1,
};

const DOP853_NODES: &[f64] = &[
    0.0,
    0.05260015195876773,
    0.0789002279381516,
    0.1183503419072274,
    0.2816496580927726,
    0.3333333333333333,
    0.25,
    0.3076923076923077,
    0.6512820512820513,
    0.6,
    0.8571428571428571,
    1.0,
    1.0,
    0.1,
    0.2,
    0.7777777777777778,
];
const DOP853_ROWS: &[&[f64]] = &[
    &[],
    &[0.05260015195876773],
    &[0.0197250569845379, 0.0591751709536137],
    &[0.02958758547680685, 0.0, 0.08876275643042054],
    &[0.2413651341592667, 0.0, -0.8845494793282861, 0.924834003261792],
    &[0.037037037037037035, 0.0, 0.0, 0.17082860872947386, 0.12546768756682242],
    &[0.037109375, 0.0, 0.0, 0.17025221101954405, 0.06021653898045596, -0.017578125],
    &[
        0.03709200011850479,
        0.0,
        0.0,
        0.17038392571223998,
        0.10726203044637328,
        -0.015319437748624402,
        0.008273789163814023,
    ],
    &[
        0.6241109587160757,
        0.0,
        0.0,
        -3.3608926294469414,
        -0.868219346841726,
        27.59209969944671,
        20.154067550477894,
        -43.48988418106996,
    ],
    &[
        0.47766253643826434,
        0.0,
        0.0,
        -2.4881146199716677,
        -0.590290826836843,
        21.230051448181193,
        15.279233632882423,
        -33.28821096898486,
        -0.020331201708508627,
    ],
    &[
        -0.9371424300859873,
        0.0,
        0.0,
        5.186372428844064,
        1.0914373489967295,
        -8.149787010746927,
        -18.52006565999696,
        22.739487099350505,
        2.4936055526796523,
        -3.0467644718982196,
    ],
    &[
        2.273310147516538,
        0.0,
        0.0,
        -10.53449546673725,
        -2.0008720582248625,
        -17.9589318631188,
        27.94888452941996,
        -2.8589982771350235,
        -8.87285693353063,
        12.360567175794303,
        0.6433927460157636,
    ],
    &[
        0.054293734116568765,
        0.0,
        0.0,
        0.0,
        0.0,
        4.450312892752409,
        1.8915178993145003,
        -5.801203960010585,
        0.3111643669578199,
        -0.1521609496625161,
        0.20136540080403034,
        0.04471061572777259,
    ],
    &[
        0.056167502283047954,
        0.0,
        0.0,
        0.0,
        0.0,
        0.0,
        0.25350021021662483,
        -0.2462390374708025,
        -0.12419142326381637,
        0.15329179827876568,
        0.00820105229563469,
        0.007567897660545699,
        -0.008298,
    ],
    &[
        0.03183464816350214,
        0.0,
        0.0,
        0.0,
        0.0,
        0.028300909672366776,
        0.053541988307438566,
        -0.05492374857139099,
        0.0,
        0.0,
        -0.00010834732869724932,
        0.0003825710908356584,
        -0.00034046500868740456,
        0.1413124436746325,
    ],
    &[
        -0.42889630158379194,
        0.0,
        0.0,
        0.0,
        0.0,
        -4.697621415361164,
        7.683421196062599,
        4.06898981839711,
        0.3567271874552811,
        0.0,
        0.0,
        0.0,
        -0.0013990241651590145,
        2.9475147891527724,
        -9.15095847217987,
    ],
];
const DOP853_ERROR: &[f64] = &[
    0.01312004499419488,
    0.0,
    0.0,
    0.0,
    0.0,
    -1.2251564463762044,
    -0.4957589496572502,
    1.6643771824549864,
    -0.35032884874997366,
    0.3341791187130175,
    0.08192320648511571,
    -0.022355307863886294,
];
const DOP853_LOW: &[f64] = &[
    -0.18980075407240762,
    0.0,
    0.0,
    0.0,
    0.0,
    4.450312892752409,
    1.8915178993145003,
    -5.801203960010585,
    -0.4226823213237919,
    -0.1521609496625161,
    0.20136540080403034,
    0.02265179219836082,
];
const DOP853_DENSE: &[&[f64]] = &[
    &[
        -8.428938276109013,
        0.0,
        0.0,
        0.0,
        0.0,
        0.5667149535193777,
        -3.0689499459498917,
        2.38466765651207,
        2.117034582445028,
        -0.871391583777973,
        2.2404374302607883,
        0.6315787787694688,
        -0.08899033645133331,
        18.148505520854727,
        -9.194632392478356,
        -4.436036387594894,
    ],
    &[
        10.427508642579134,
        0.0,
        0.0,
        0.0,
        0.0,
        242.28349177525817,
        165.20045171727028,
        -374.5467547226902,
        -22.113666853125306,
        7.733432668472264,
        -30.674084731089398,
        -9.332130526430229,
        15.697238121770845,
        -31.139403219565178,
        -9.35292435884448,
        35.81684148639408,
    ],
    &[
        19.985053242002433,
        0.0,
        0.0,
        0.0,
        0.0,
        -387.0373087493518,
        -189.17813819516758,
        527.8081592054236,
        -11.57390253995963,
        6.8812326946963,
        -1.0006050966910838,
        0.7777137798053443,
        -2.778205752353508,
        -60.19669523126412,
        84.32040550667716,
        11.99229113618279,
    ],
    &[
        -25.69393346270375,
        0.0,
        0.0,
        0.0,
        0.0,
        -154.18974869023643,
        -231.5293791760455,
        357.6391179106141,
        93.40532418362432,
        -37.45832313645163,
        104.0996495089623,
        29.8402934266605,
        -43.53345659001114,
        96.32455395918828,
        -39.17726167561544,
        -149.72683625798564,
    ],
];
