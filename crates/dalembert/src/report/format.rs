//! Numbers for people.

/// The digits of an exponent, raised.
pub fn superscript(n: i32) -> String {
    let raise = |c: char| match c {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        c => char::from_u32('⁰' as u32 + c as u32 - '0' as u32).unwrap_or(c),
    };
    n.to_string().chars().map(raise).collect()
}

/// A number with so many significant digits, a true minus and, where it helps, a power of ten.
pub fn number(x: f64, digits: usize) -> String {
    if x.is_nan() {
        return "not a number".to_owned();
    }
    if x.is_infinite() {
        return if x > 0.0 { "∞" } else { "−∞" }.to_owned();
    }
    if x == 0.0 {
        return "0".to_owned();
    }
    // Let the formatter round first: 9.9996 with four digits has the exponent of 10.
    let scientific = format!("{:.*e}", digits.saturating_sub(1), x.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let sign = if x < 0.0 { "−" } else { "" };
    if (-3..6).contains(&exponent) {
        let decimals = usize::try_from(digits as i32 - 1 - exponent).unwrap_or(0);
        return format!("{sign}{}", trim(&format!("{:.decimals$}", x.abs())));
    }
    let mantissa = trim(mantissa);
    let power = format!("10{}", superscript(exponent));
    if mantissa == "1" { format!("{sign}{power}") } else { format!("{sign}{mantissa}·{power}") }
}

/// A whole number with thin spaces between thousands.
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    if digits.len() < 5 {
        return digits;
    }
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(c);
    }
    out
}

fn trim(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        for (x, text) in [
            (0.0, "0"),
            (1.0, "1"),
            (-0.5, "−0.5"),
            (9.99996, "10"),
            (123456.0, "123456"),
            (1e-7, "10⁻⁷"),
            (-2.5e12, "−2.5·10¹²"),
            (0.001234, "0.001234"),
            (f64::NAN, "not a number"),
            (f64::NEG_INFINITY, "−∞"),
        ] {
            assert_eq!(number(x, 4), text);
        }
        assert_eq!(count(1234), "1234");
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(superscript(-1029), "⁻¹⁰²⁹");
    }
}
