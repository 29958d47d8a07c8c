//! Adaptive quadrature with error control, for integrals without a closed form.
//!
//! Each panel is integrated by the Gauss–Kronrod pair of 7 and 15 points \[1\] and halved until the difference of the two, with the usual estimate
//! (200 |K − G|)^1.5 for the error of the better one, is below [`ACCURACY`] of the whole. What does not converge
//! is not a number, so that the step in which it happens is rejected. Readings of several states are refined together.
//!
//! Reference: \[1\] Piessens, de Doncker-Kapenga, Überhuber, Kahaner: QUADPACK, Springer 1983.

use dalembert_methods::Real;

/// Error of an integral relative to its first component.
const ACCURACY: f64 = 1e-14;
/// Largest number of times a panel is halved.
const MOST_HALVINGS: u32 = 60;
/// Largest number of panels.
const MOST_PANELS: u32 = 4000;

/// Nodes on [0, 1], weights of the 15-point rule, and those of the 7-point rule (zero between its nodes).
const NODES: [[f64; 3]; 8] = [
    [0.991_455_371_120_812_6, 0.022_935_322_010_529_224, 0.0],
    [0.949_107_912_342_758_5, 0.063_092_092_629_978_56, 0.129_484_966_168_869_7],
    [0.864_864_423_359_769_1, 0.104_790_010_322_250_19, 0.0],
    [0.741_531_185_599_394_5, 0.140_653_259_715_525_92, 0.279_705_391_489_276_64],
    [0.586_087_235_467_691_1, 0.169_004_726_639_267_9, 0.0],
    [0.405_845_151_377_397_2, 0.190_350_578_064_785_42, 0.381_830_050_505_118_9],
    [0.207_784_955_007_898_48, 0.204_432_940_075_298_89, 0.0],
    [0.0, 0.209_482_141_084_727_82, 0.417_959_183_673_469_4],
];

/// ∫ f over [0, 1]; f is given s and 1 − s, both without loss of digits near the ends. No component of f may be larger
/// than about the first one.
pub(crate) fn integrate<R: Real, const N: usize>(f: &dyn Fn(f64, f64) -> [R; N]) -> [R; N] {
    let (whole, error) = panel(f, 0.0, 1.0);
    let mut run = Run { total: [R::zero(); N], scale: whole[0].size(), panels: 0 };
    run.refine(f, 0.0, 1.0, whole, error, 0);
    run.total
}

struct Run<R, const N: usize> {
    total: [R; N],
    scale: f64,
    panels: u32,
}

impl<R: Real, const N: usize> Run<R, N> {
    fn refine(&mut self, f: &dyn Fn(f64, f64) -> [R; N], from: f64, to: f64, value: [R; N], error: f64, depth: u32) {
        self.panels += 1;
        self.scale = self.scale.max(self.total[0].size() + value[0].size());
        // Not a number is never small enough, and no further halving helps.
        if (200.0 * error / self.scale).powf(1.5) <= ACCURACY || !error.is_finite() {
            for (total, value) in self.total.iter_mut().zip(value) {
                *total += value;
            }
            return;
        }
        if depth >= MOST_HALVINGS || self.panels >= MOST_PANELS {
            self.total = [R::from(f64::NAN); N];
            return;
        }
        let middle = 0.5 * (from + to);
        let (left, right) = (panel(f, from, middle), panel(f, middle, to));
        self.scale = self.scale.max(left.0[0].size() + right.0[0].size());
        self.refine(f, from, middle, left.0, left.1, depth + 1);
        self.refine(f, middle, to, right.0, right.1, depth + 1);
    }
}

/// The integral over a panel by 15 points, and the largest difference to that by 7 points. The ends of panels have few binary
/// digits, so that 1 − `to` is exact.
fn panel<R: Real, const N: usize>(f: &dyn Fn(f64, f64) -> [R; N], from: f64, to: f64) -> ([R; N], f64) {
    let (rest, half) = (1.0 - to, 0.5 * (to - from));
    let (mut fine, mut coarse) = ([R::zero(); N], [R::zero(); N]);
    for [node, kronrod, gauss] in NODES {
        for side in if node == 0.0 { &[0.0][..] } else { &[-1.0, 1.0] } {
            let values = f(from + half * (1.0 + side * node), rest + half * (1.0 - side * node));
            for i in 0..N {
                fine[i] += values[i] * kronrod;
                coarse[i] += values[i] * gauss;
            }
        }
    }
    let mut error = 0.0;
    for i in 0..N {
        let size = ((fine[i] - coarse[i]) * half).size();
        error = if size.is_nan() { size } else { f64::max(error, size) };
        fine[i] = fine[i] * half;
    }
    (fine, error)
}
