//! Columns of numbers in few bytes.
//!
//! A column is rounded to whole numbers, n = round((x − low)/step) with 0 ≤ n ≤ 65535, and differenced twice,
//! d_k = n_k − 2 n_{k−1} + n_{k−2} (values before the first are 0). Smooth motion leaves small d_k, rest leaves zeros.
//! Each d_k is folded to a natural number (0, −1, 1, −2, … → 0, 1, 2, 3, …) and written as LEB128: seven bits in each
//! byte, the lowest first, the top bit set in all but the last. A zero is followed by the number of further zeros,
//! written alike. Rounding errs by half a step at most.

/// The largest whole number of a column.
pub const LARGEST: i64 = 65535;

/// How the values of a column are rounded: x ≈ low + n step.
#[derive(Copy, Clone, Debug, PartialEq)]
pub struct Grid {
    /// The value of n = 0.
    pub low: f64,
    /// The distance between values.
    pub step: f64,
}

impl Grid {
    /// The grid that spans a range; a range without width has one value.
    pub fn over(low: f64, high: f64) -> Self {
        let step = (high - low) / LARGEST as f64;
        Self { low, step: if step.is_finite() && step > 0.0 { step } else { 0.0 } }
    }

    /// The whole number of a value; 0 in a grid of one value. What is not finite or lies outside goes to the nearest end, NaN to the lower one.
    pub fn round(&self, x: f64) -> i64 {
        ((x - self.low) / self.step).round().clamp(0.0, LARGEST as f64) as i64
    }

    /// The value of a whole number.
    pub fn value(&self, n: i64) -> f64 {
        self.low + n as f64 * self.step
    }
}

/// Appends a column.
pub fn encode(column: impl Iterator<Item = i64>, out: &mut Vec<u8>) {
    let (mut one, mut two, mut zeros) = (0, 0, 0u64);
    for n in column {
        let d = n - 2 * one + two;
        (two, one) = (one, n);
        if d == 0 {
            zeros += 1;
            continue;
        }
        flush(&mut zeros, out);
        natural(((d << 1) ^ (d >> 63)) as u64, out);
    }
    flush(&mut zeros, out);
}

/// Writes a run of zeros, if there is one.
fn flush(zeros: &mut u64, out: &mut Vec<u8>) {
    if *zeros > 0 {
        out.push(0);
        natural(*zeros - 1, out);
        *zeros = 0;
    }
}

fn natural(mut n: u64, out: &mut Vec<u8>) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// Reads columns one after another.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    bytes: &'a [u8],
}

impl<'a> Decoder<'a> {
    /// Starts at the first column.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The next column of a given length; none if the bytes end before it or hold something else.
    pub fn column(&mut self, length: usize) -> Option<Vec<i64>> {
        let mut out = Vec::new();
        let (mut one, mut two) = (0i64, 0i64);
        while out.len() < length {
            let folded = self.natural()?;
            let (d, times) = match folded {
                0 => (0, usize::try_from(self.natural()?).ok()?.checked_add(1)?),
                n => ((n >> 1) as i64 ^ -((n & 1) as i64), 1),
            };
            if times > length - out.len() {
                return None;
            }
            for _ in 0..times {
                let n = d.checked_add(one.checked_mul(2)?)?.checked_sub(two)?;
                (two, one) = (one, n);
                out.push(n);
            }
        }
        Some(out)
    }

    fn natural(&mut self) -> Option<u64> {
        let mut n = 0;
        for shift in (0..63).step_by(7) {
            let (&byte, rest) = self.bytes.split_first()?;
            self.bytes = rest;
            n |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(n);
            }
        }
        None
    }
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Bytes as text: base64 after RFC 4648, with padding.
pub fn base64(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word = group.iter().fold(0u32, |word, &byte| word << 8 | u32::from(byte)) << (8 * (3 - group.len()));
        for digit in 0..4 {
            let shown = digit <= group.len();
            let index = (word >> (18 - 6 * digit)) & 63;
            out.push(if shown { DIGITS[index as usize] as char } else { '=' });
        }
    }
    out
}

/// The bytes of such a text; none if it is not one.
pub fn unbase64(text: &str) -> Option<Vec<u8>> {
    let digits = text.trim_end_matches('=');
    let mut out = Vec::with_capacity(digits.len() / 4 * 3 + 2);
    let (mut word, mut bits) = (0u32, 0);
    for byte in digits.bytes() {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        word = word << 6 | u32::from(value);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            out.push((word >> bits) as u8);
            word &= (1 << bits) - 1;
        }
    }
    Some(out)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn columns_come_back() {
        let columns: Vec<Vec<i64>> = vec![
            vec![0; 1000],
            (0..1000).map(|k| 3 * k).collect(),
            (0..1000).map(|k| (k * 7919) % (LARGEST + 1)).collect(),
            vec![LARGEST, 0, LARGEST, 0],
            vec![5],
            vec![],
        ];
        let mut bytes = Vec::new();
        for column in &columns {
            encode(column.iter().copied(), &mut bytes);
        }
        let mut decoder = Decoder::new(&bytes);
        for column in &columns {
            assert_eq!(&decoder.column(column.len()).unwrap(), column);
        }
        assert_eq!(decoder.column(1), None);
        assert_eq!(Decoder::new(&[0x80; 20]).column(3), None);
        // A run of more zeros than the column is long.
        assert_eq!(Decoder::new(&[0, 9]).column(3), None);
    }

    #[test]
    fn rest_and_steady_motion_cost_next_to_nothing() {
        let mut bytes = Vec::new();
        encode((0..10_000).map(|k| 6 * k), &mut bytes);
        assert!(bytes.len() <= 6, "{}", bytes.len());
    }

    #[test]
    fn rounding_errs_by_half_a_step() {
        let grid = Grid::over(-2.0, 3.0);
        for k in 0..1000 {
            let x = -2.0 + 5.0 * f64::from(k) / 999.0;
            // Half a step and the rounding of the few operations on numbers of size 3.
            assert!((grid.value(grid.round(x)) - x).abs() <= 0.5 * grid.step + 8.0 * f64::EPSILON * 3.0);
        }
        assert_eq!(grid.round(f64::NAN), 0);
        assert_eq!(grid.round(f64::INFINITY), LARGEST);
        assert_eq!(Grid::over(4.0, 4.0).value(Grid::over(4.0, 4.0).round(4.0)), 4.0);
    }

    #[test]
    fn text_is_that_of_the_standard() {
        // The test vectors of RFC 4648, section 10.
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), text);
            assert_eq!(unbase64(text).unwrap(), bytes.as_bytes());
        }
        let all: Vec<u8> = (0..=255).collect();
        assert_eq!(unbase64(&base64(&all)).unwrap(), all);
        assert_eq!(unbase64("a-b"), None);
    }
}
