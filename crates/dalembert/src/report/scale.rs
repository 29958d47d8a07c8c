//! Axes: from numbers to places, and ticks at round values.
//!
//! Ticks stand at multiples of 1, 2 or 5 times a power of ten. Numbers that share a power of ten, or that differ only
//! far behind the decimal point, share it in a note, so that the labels stay short.

use super::format::{number, superscript};

/// One tick.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Place along the axis, 0 at its start and 1 at its end.
    pub place: f64,
    /// The label.
    pub label: String,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    low: f64,
    high: f64,
    log: bool,
    /// The ticks in rising order.
    pub ticks: Vec<Tick>,
    /// What to add to the labels: a power of ten, an offset; empty if nothing.
    pub note: String,
}

/// Decades that a logarithmic axis shows at most, counted from its upper end.
const DECADES: f64 = 18.0;

impl Axis {
    /// A linear axis from `low` to `high` with about `target` ticks.
    ///
    /// A range without width is widened; one that is not finite becomes 0 to 1.
    pub fn linear(low: f64, high: f64, target: usize) -> Self {
        let (low, high) = widened(low, high);
        let range = high - low;
        let step = nice_step(range / target.max(1) as f64);
        let largest = low.abs().max(high.abs());
        // Labels would need more than five digits: count from a round value instead.
        let coarse = nice_step(10.0 * range);
        let offset = if largest > 1e4 * range { ((low + 0.5 * range) / coarse).round() * coarse } else { 0.0 };
        let first = ((low - offset) / step - 1e-9).ceil();
        let last = ((high - offset) / step + 1e-9).floor();
        let shown = first.abs().max(last.abs()) * step;
        let magnitude = if shown > 0.0 { shown.log10().floor() as i32 } else { 0 };
        let exponent = if (-3..5).contains(&magnitude) { 0 } else { 3 * magnitude.div_euclid(3) };
        let unit = 10f64.powi(exponent);
        let decimals = usize::try_from(-((step / unit).log10() + 1e-9).floor() as i64).unwrap_or(0);
        let tick = |k: f64| {
            let label = format!("{:.decimals$}", k * step / unit).replace('-', "−");
            Tick { place: (offset + k * step - low) / range, label }
        };
        let count = (last - first).clamp(-1.0, 100.0) as i64;
        let ticks = (0..=count).map(|i| tick(first + i as f64)).collect();
        let mut note = String::new();
        if exponent != 0 {
            note = format!("×10{}", superscript(exponent));
        }
        if offset != 0.0 {
            let comma = if note.is_empty() { "" } else { ", " };
            note = format!("{note}{comma}counted from {}", number(offset, 12));
        }
        Self { low, high, log: false, ticks, note }
    }

    /// A logarithmic axis over whole decades that holds `low` to `high`, both positive.
    pub fn logarithmic(low: f64, high: f64) -> Self {
        let valid = low > 0.0 && high >= low && high.is_finite();
        let (low, high) = if valid { (low.log10(), high.log10()) } else { (0.0, 1.0) };
        let (mut low, mut high) = (low.floor(), high.ceil());
        if high - low < 1.0 {
            (low, high) = (low - 1.0, high + 1.0);
        }
        low = low.max(high - DECADES);
        let stride = ((high - low) / 6.0).ceil().max(1.0);
        let first = (low / stride).ceil() as i32;
        let last = (high / stride).floor() as i32;
        // With few decades the steps between them help.
        let between: &[u32] = if high - low <= 2.0 { &[1, 2, 5] } else { &[1] };
        let mut ticks = Vec::new();
        for power in (first..=last).map(|k| k * stride as i32) {
            for &factor in between {
                let place = (f64::from(power) + f64::from(factor).log10() - low) / (high - low);
                let factor = if factor == 1 { String::new() } else { format!("{factor}·") };
                if place <= 1.0 {
                    ticks.push(Tick { place, label: format!("{factor}10{}", superscript(power)) });
                }
            }
        }
        Self { low, high, log: true, ticks, note: String::new() }
    }

    /// The values at its ends.
    pub fn range(&self) -> [f64; 2] {
        [self.low, self.high]
    }

    /// The place of a value along the axis, 0 at its start and 1 at its end; none if it has no place there.
    pub fn place(&self, value: f64) -> Option<f64> {
        let value = if self.log { value.abs().log10() } else { value };
        let place = (value - self.low) / (self.high - self.low);
        // Rounding may put an end of the range a hair outside.
        (place.is_finite() && (-1e-9..=1.0 + 1e-9).contains(&place)).then_some(place.clamp(0.0, 1.0))
    }
}

/// The smallest 1, 2 or 5 times a power of ten that is not below `x`.
pub fn nice_step(x: f64) -> f64 {
    if !(x > 0.0 && x.is_finite()) {
        return 1.0;
    }
    let power = 10f64.powi(x.log10().floor() as i32);
    let mantissa = x / power;
    let nice = [1.0, 2.0, 5.0].into_iter().find(|nice| mantissa <= nice * (1.0 + 1e-9));
    nice.unwrap_or(10.0) * power
}

/// A range with some width. Less than a few units in the last place counts as none.
///
/// Numbers near the limits of f64 have no useful axis: tiny ones count as zero, huge ones give 0 to 1.
fn widened(low: f64, high: f64) -> (f64, f64) {
    let largest = low.abs().max(high.abs());
    if low.is_nan() || high.is_nan() || high < low || largest > 1e300 {
        return (0.0, 1.0);
    }
    if high - low > (64.0 * f64::EPSILON * largest).max(1e-280) {
        return (low, high);
    }
    let middle = 0.5 * (low + high);
    let pad = if largest > 1e-270 { 0.1 * largest } else { 1.0 };
    (middle - pad, middle + pad)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<&str> {
        axis.ticks.iter().map(|t| t.label.as_str()).collect()
    }

    #[test]
    fn steps_are_one_two_five() {
        for (x, step) in [(0.11, 0.2), (1.0, 1.0), (2.1, 5.0), (5.1, 10.0), (3e-7, 5e-7)] {
            assert!((nice_step(x) / step - 1.0).abs() < 1e-12, "{x}");
        }
    }

    #[test]
    fn ticks_are_round_and_inside() {
        let axis = Axis::linear(-1.04, 1.04, 5);
        assert_eq!(labels(&axis), ["−1.0", "−0.5", "0.0", "0.5", "1.0"]);
        assert_eq!(labels(&Axis::linear(0.0, 10.0, 6)), ["0", "2", "4", "6", "8", "10"]);
        for (low, high) in [(-3.7e-5, 8.1e-4), (1e8, 3e9), (0.0, 0.3), (-17.0, -2.0), (1e-250, 3e-250)] {
            let axis = Axis::linear(low, high, 5);
            assert!((2..=12).contains(&axis.ticks.len()), "{low} {high} {axis:?}");
            assert!(axis.ticks.iter().all(|t| (-1e-6..=1.0 + 1e-6).contains(&t.place)), "{axis:?}");
            assert!(axis.ticks.iter().all(|t| t.label.chars().count() <= 7), "{axis:?}");
        }
    }

    #[test]
    fn small_changes_of_large_numbers_are_counted_from_a_round_one() {
        let axis = Axis::linear(-29.430000003, -29.430000001, 4);
        assert!(axis.note.starts_with("×10⁻⁹, counted from −29.43"), "{}", axis.note);
        assert!(axis.ticks.iter().all(|t| t.label.chars().count() <= 5), "{axis:?}");
    }

    #[test]
    fn degenerate_ranges_still_make_an_axis() {
        for (low, high) in [
            (0.0, 0.0),
            (5.0, 5.0),
            (f64::NAN, 1.0),
            (f64::INFINITY, f64::NEG_INFINITY),
            (-f64::MAX, f64::MAX),
            (1.0, 1.0 + f64::EPSILON),
            (f64::MAX, f64::MAX),
            (1e-320, 1e-310),
            (-f64::MAX, 0.0),
        ] {
            let axis = Axis::linear(low, high, 5);
            assert!(axis.ticks.len() >= 2 && axis.ticks.len() < 30, "{low} {high} {axis:?}");
        }
        let one = ["10⁰", "2·10⁰", "5·10⁰", "10¹"];
        assert_eq!(labels(&Axis::logarithmic(0.0, 0.0)), one);
        assert_eq!(labels(&Axis::logarithmic(f64::NAN, f64::NAN)), one);
        assert_eq!(labels(&Axis::logarithmic(1e-3, 1e-3)).len(), 7);
        assert_eq!(labels(&Axis::logarithmic(2e-6, 3e-3)), ["10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²"]);
        assert!(Axis::logarithmic(1e-300, 1.0).ticks.len() <= 7);
    }

    #[test]
    fn places_are_exact_at_the_ends() {
        let axis = Axis::linear(-2.0, 6.0, 4);
        assert_eq!(axis.place(-2.0), Some(0.0));
        assert_eq!(axis.place(6.0), Some(1.0));
        assert_eq!(axis.place(f64::NAN), None);
        assert_eq!(axis.place(f64::INFINITY), None);
        let axis = Axis::logarithmic(1e-4, 1.0);
        assert_eq!(axis.place(1e-2), Some(0.5));
        assert_eq!(axis.place(-1e-2), Some(0.5));
        assert_eq!(axis.place(0.0), None);
    }
}
