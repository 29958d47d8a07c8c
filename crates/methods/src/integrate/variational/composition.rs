//! Symmetric methods of order 2 made into methods of higher order by steps forth and back.
//!
//! A step is the sequence of steps γ_1 h, …, γ_m h with γ symmetric and Σ γ = 1; each is a symplectic, symmetric map, so that their sequence is
//! one too, and keeps the same momenta and constraints. Order 4: Suzuki's five stages; order 6: Yoshida's seven; order 8: the fifteen of
//! Suzuki and Umeno.
//!
//! Reference: E. Hairer, C. Lubich, G. Wanner, *Geometric Numerical Integration*, 2nd ed., Springer 2006, sections II.4 and V.3, eqs. (II.4.5),
//! (V.3.11) and (V.3.12).

/// The first half of the stages of order 6, the one in the middle last.
const SIX: [f64; 4] =
    [0.784_513_610_477_557_3, 0.235_573_213_359_358_13, -1.177_679_984_178_871, 1.315_186_320_683_911_2];
/// The same of order 8.
const EIGHT: [f64; 8] = [
    0.741_670_364_350_613,
    -0.409_100_825_800_031_6,
    0.190_754_710_296_238_4,
    -0.573_862_471_116_082_3,
    0.299_064_181_303_655_9,
    0.334_624_918_245_298_2,
    0.315_293_092_396_766_6,
    -0.796_887_939_352_916_4,
];

/// The orders there are.
pub(super) const ORDERS: [u32; 4] = [2, 4, 6, 8];

/// The stages of an order, each with the number of its length among the different ones.
pub(super) fn stages(order: u32) -> Vec<(f64, usize)> {
    let half = match order {
        4 => {
            let outer = 1.0 / (4.0 - 4.0_f64.cbrt());
            vec![outer, outer, 1.0 - 4.0 * outer]
        }
        6 => SIX.to_vec(),
        8 => EIGHT.to_vec(),
        _ => vec![1.0],
    };
    let mut different: Vec<f64> = Vec::new();
    let mut out: Vec<(f64, usize)> = half
        .iter()
        .map(|&gamma| {
            let known = different.iter().position(|&g| g == gamma).unwrap_or_else(|| {
                different.push(gamma);
                different.len() - 1
            });
            (gamma, known)
        })
        .collect();
    let back: Vec<_> = out[..out.len() - 1].iter().rev().copied().collect();
    out.extend(back);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Σ γ = 1 and Σ γ³ = 0, the conditions for more than order 2; for more than order 4 also Σ γ⁵ = 0.
    #[test]
    fn stages_add_up_and_cancel() {
        for order in ORDERS {
            let stages = stages(order);
            let sum = |power: i32| stages.iter().map(|(g, _)| g.powi(power)).sum::<f64>();
            assert!((sum(1) - 1.0).abs() < 1e-15, "{order}: {}", sum(1));
            for power in (3..order as i32).step_by(2) {
                assert!(sum(power).abs() < 1e-13, "{order}: {power} {}", sum(power));
            }
            assert_eq!(stages.len(), [1, 5, 7, 15][(order as usize - 2) / 2]);
        }
    }
}
