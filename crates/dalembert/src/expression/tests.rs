#![allow(clippy::unwrap_used)]

use super::code::{ALL, Function};
use super::*;
use dalembert_methods::{Jet, Lanes};
use proptest::prelude::*;

fn value(text: &str) -> f64 {
    Expression::parse(text).unwrap().value(&[]).unwrap()
}

fn error(text: &str) -> String {
    let names = ["length", "t"];
    let error = match Expression::parse_in(text, &names) {
        Ok(expression) => expression.value(&[0.0, 0.0]).unwrap_err(),
        Err(error) => error,
    };
    let help = error.help().map(|help| format!(" ({help})")).unwrap_or_default();
    format!("{}..{} {error}{help}", error.range.start, error.range.end)
}

#[test]
fn precedence_is_that_of_the_textbook() {
    for (text, expected) in [
        ("1 + 2*3", 7.0),
        ("(1 + 2)*3", 9.0),
        ("8/4/2", 1.0),
        ("2 - 3 - 4", -5.0),
        ("2^3^2", 512.0),
        ("-2^2", -4.0),
        ("2^-1", 0.5),
        ("2^-2*8", 2.0),
        ("--3", 3.0),
        ("2*-3", -6.0),
        ("+4", 4.0),
        ("1 < 2 and 2 < 3", 1.0),
        ("not 1 > 2", 1.0),
        ("not 0 and 0", 0.0),
        ("1 or 0 and 0", 1.0),
        ("1 + 1 == 2", 1.0),
        ("3 != 3", 0.0),
        ("2 <= 2", 1.0),
        ("2 >= 3", 0.0),
        ("1.5e3 + .5", 1500.5),
        ("2*e", 2.0 * std::f64::consts::E),
        ("180*deg", std::f64::consts::PI),
        ("tau/pi", 2.0),
    ] {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn functions_have_their_closed_forms() {
    for (text, expected) in [
        ("sin(pi/2)", 1.0),
        ("cos(0)", 1.0),
        ("atan2(1, 1)*4/pi", 1.0),
        ("log10(1000)", 3.0),
        ("ln(e)", 1.0),
        ("sqrt(9)", 3.0),
        ("cbrt(-27)", -3.0),
        ("abs(-2)", 2.0),
        ("min(3, 1, 2)", 1.0),
        ("max(3, 1, 5, 2)", 5.0),
        ("floor(-1.5)", -2.0),
        ("ceil(-1.5)", -1.0),
        ("round(2.5)", 3.0),
        ("sign(-3)", -1.0),
        ("sign(0)", 0.0),
        ("pow(2, 10)", 1024.0),
        ("mod(-1, 3)", 2.0),
        ("mod(7, -3)", -2.0),
        ("hypot(3, 4)", 5.0),
        ("step(0)", 1.0),
        ("step(-1e-300)", 0.0),
        ("if(1 < 2, 10, 20)", 10.0),
        ("if(0, 10, 20)", 20.0),
        ("cosh(1)^2 - sinh(1)^2", 1.0),
    ] {
        assert!(
            (value(text) - expected).abs() <= 4.0 * f64::EPSILON * expected.abs().max(1.0),
            "{text}: {}",
            value(text)
        );
    }
}

/// No function is near: all are listed, the one that is meant among them.
const LISTED: &str = "0..3 unknown function `log` (there are sin, cos, tan, asin, acos, atan, atan2, sinh, cosh, tanh, exp, ln, log10, sqrt, cbrt, \
                      abs, min, max, floor, ceil, round, sign, pow, mod, hypot, step, if)";

#[test]
fn errors_name_the_place() {
    for (text, expected) in [
        ("", "0..0 expected a number, a name or `(`, found the end of the expression"),
        ("1 +", "3..3 expected a number, a name or `(`, found the end of the expression"),
        ("2 * lenght", "4..10 unknown name `lenght` (did you mean `length`?)"),
        ("sn(t)", "0..2 unknown function `sn` (did you mean `sin`?)"),
        ("log(t)", LISTED),
        ("sin", "0..3 `sin` is a function and needs arguments (write `sin(…)`)"),
        ("atan2(1)", "0..8 `atan2` cannot take 1 argument (write `atan2(y, x)`)"),
        ("min()", "0..5 `min` cannot take 0 arguments (write `min(a, b, …)`)"),
        ("1 < 2 < 3", "6..7 comparisons cannot be chained (write `a < b and b < c`)"),
        ("2 ** 3", "2..4 unexpected character `*` in an expression (write `^` for a power)"),
        ("1 = 1", "2..3 unexpected character `=` in an expression (write `==` to compare)"),
        ("2 t", "2..3 expected an operator, found the name `t`"),
        ("(1", "2..2 expected `)`, found the end of the expression"),
        ("1e999", "0..5 `1e999` is not a number that fits a double"),
        (".", "0..1 `.` is not a number that fits a double"),
        ("2 + 1/t", "4..7 this quotient (a division by zero?) is not a finite number"),
        ("1 + ln(t)", "4..9 `ln` of this is not a finite number"),
        ("sqrt(t - 1)", "0..11 `sqrt` of this is not a finite number"),
        ("exp(1000)*0", "0..9 `exp` of this is not a finite number"),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
}

#[test]
fn the_side_not_taken_may_be_undefined() {
    assert_eq!(value("if(0 != 0, 1/0, 7)"), 7.0);
    assert_eq!(value("0 != 0 and 1/0 > 1"), 0.0);
    assert_eq!(value("1 or 1/0"), 1.0);
    assert_eq!(Expression::parse("if(1/0, 1, 1)").unwrap().value(&[]).unwrap_err().range, 3..6);
}

#[test]
fn size_and_depth_are_bounded() {
    let long = "1+".repeat(MAXIMUM_LENGTH) + "1";
    assert!(matches!(Expression::parse(&long).unwrap_err().problem, ExpressionProblem::TooLong { .. }));
    for open in ["(", "-", "sin(", "2^", "not ", "if(1,2,"] {
        let deep = open.repeat(400);
        assert!(matches!(Expression::parse(&deep).unwrap_err().problem, ExpressionProblem::TooDeep { .. }), "{open}");
    }
    let wide = format!("{}1{}", "(1+".repeat(60), ")".repeat(60));
    assert_eq!(value(&wide), 61.0);
    // Two numbers wait at each level, so the stack runs out before the nesting does.
    let waiting = format!("{}1{}", "if(1, 2, ".repeat(40), ")".repeat(40));
    assert!(matches!(Expression::parse(&waiting).unwrap_err().problem, ExpressionProblem::TooDeep { .. }));
}

#[test]
fn the_table_is_in_the_order_of_the_functions() {
    assert_eq!(ALL.len(), FUNCTIONS.len());
    for (i, function) in ALL.into_iter().enumerate() {
        assert_eq!(function as usize, i);
        assert_eq!(Function::find(FUNCTIONS[i].name), Some(function));
        assert!(FUNCTIONS[i].usage.starts_with(FUNCTIONS[i].name));
    }
}

/// Smooth around t = 0.6, and together using every function that has a derivative.
const SMOOTH: [&str; 22] = [
    "sin(3*t)",
    "cos(t^2)",
    "tan(t)",
    "asin(t)",
    "acos(t)",
    "atan(2*t)",
    "atan2(t, 1 - t)",
    "sinh(t)",
    "cosh(t)",
    "tanh(t)",
    "exp(-t)*t",
    "ln(t)",
    "log10(t)",
    "sqrt(t)",
    "cbrt(t - 1)",
    "abs(t - 2)",
    "min(t, 2*t) + max(t, 3, 4*t)",
    "(t - 1)^3 + (t - 1)^-2",
    "pow(t, 1.5) + 2^t",
    "mod(5*t, 2)",
    "hypot(t, 3)",
    "if(t < 1, t^2, 1/0) + step(t)*t + sign(t)*t + floor(t) + ceil(t) + round(t)",
];

/// Central differences err by h² f‴/6 + ε f/h; with h = 1e-5 and derivatives up to a few hundred that is below 1e-7.
#[test]
fn derivatives_agree_with_differences() {
    let h = 1e-5;
    for text in SMOOTH {
        let expression = Expression::parse_in(text, &["t"]).unwrap();
        let t = 0.6;
        let slope = expression.evaluate(&[Jet::<f64, 1>::new(t, 1.0)]);
        let difference = (expression.evaluate(&[t + h]) - expression.evaluate(&[t - h])) / (2.0 * h);
        assert!(
            (slope.eps[0] - difference).abs() <= 1e-7 * difference.abs().max(1.0),
            "{text}: {slope:?} {difference}"
        );
        assert_eq!(slope.re, expression.evaluate(&[t]), "{text}");
    }
}

#[test]
fn second_derivatives_nest() {
    let expression = Expression::parse_in("t^3*sin(t)", &["t"]).unwrap();
    let t: f64 = 0.7;
    let twice = expression.evaluate(&[Jet::new(Jet::new(t, 1.0), Jet::new(1.0, 0.0))]);
    let exact = 6.0 * t * t.sin() + 6.0 * t * t * t.cos() - t.powi(3) * t.sin();
    assert!((twice.eps[0].eps[0] - exact).abs() < 1e-14);
}

#[test]
fn lanes_take_their_own_side() {
    let expression = Expression::parse_in("if(t > 0 and not t == 2, sqrt(t), -t)", &["t"]).unwrap();
    let t = [4.0, -1.0, 2.0, 0.25];
    let mut lanes = Lanes::<4>::from(0.0);
    lanes.0 = t;
    assert_eq!(expression.evaluate(&[lanes]).0, t.map(|t| expression.evaluate(&[t])));
    assert_eq!(expression.evaluate(&[lanes]).0, [2.0, 1.0, -2.0, 0.5]);
}

#[test]
fn both_readings_agree() {
    // Each function is within a few units of rounding of the standard library's.
    for text in SMOOTH {
        let expression = Expression::parse_in(text, &["t"]).unwrap();
        for t in [0.1, 0.35, 0.6, 0.9] {
            let (plain, checked) = (expression.evaluate(&[t]), expression.value(&[t]).unwrap());
            assert!((plain - checked).abs() <= 16.0 * f64::EPSILON * checked.abs().max(1.0), "{text} {t}");
        }
    }
}

fn expression_text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        (0u32..100).prop_map(|n| n.to_string()),
        (0.0..1e3f64).prop_map(|x| format!("{x:?}")),
        prop::sample::select(vec!["a", "b", "pi", "deg", "ω"]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(5, 40, 3, |inner| {
        let operator =
            prop::sample::select(vec!["+", "-", "*", "/", "^", "<", "<=", ">", ">=", "==", "!=", "and", "or"]);
        prop_oneof![
            (inner.clone(), operator, inner.clone()).prop_map(|(a, o, b)| format!("({a}) {o} ({b})")),
            inner.clone().prop_map(|a| format!("-({a})")),
            inner.clone().prop_map(|a| format!("not ({a})")),
            inner.clone().prop_map(|a| format!("sin({a})")),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| format!("if({a}, {b}, {c})")),
            (inner.clone(), inner.clone(), inner).prop_map(|(a, b, c)| format!("min({a}, {b}, {c})")),
        ]
    })
}

proptest! {
    #[test]
    fn printed_expressions_read_the_same(text in expression_text()) {
        let expression = Expression::parse(&text).unwrap();
        let printed = expression.to_string();
        let again = Expression::parse(&printed).unwrap();
        prop_assert_eq!(&again, &expression, "{} became {}", text, printed);
        prop_assert_eq!(again.to_string(), printed);
    }

    #[test]
    fn no_text_panics(text in "[-+*/^()<>=!., a-e0-9πω\"]{0,60}|\\PC{0,40}") {
        if let Ok(expression) = Expression::parse(&text) {
            let values = vec![0.5; expression.variables().len()];
            let _ = expression.value(&values);
            let _ = expression.evaluate(&values);
            let _ = expression.to_string();
        }
    }
}

#[test]
fn numbers_in_place_of_variables() {
    for text in ["s^2 - s*t", "2^s + t/-s", "sin(t - s)*s^s^2", "-s^2 + if(s < t, s, -s)"] {
        let whole = Expression::parse_in(text, &["t", "s"]).unwrap();
        for s in [0.5, -2.0, 0.0, 1e-3] {
            let bound = whole.with(1, s);
            let again = Expression::parse_in(&bound.to_string(), &["t"]).unwrap();
            let expected = whole.evaluate(&[0.7, s]);
            for value in [bound.evaluate(&[0.7, f64::NAN]), again.evaluate(&[0.7])] {
                // The text may turn a power into products.
                let error = (value - expected).abs();
                let same = value == expected || (value.is_nan() && expected.is_nan());
                assert!(same || error <= 4.0 * f64::EPSILON * expected.abs(), "{bound}");
            }
        }
    }
}
