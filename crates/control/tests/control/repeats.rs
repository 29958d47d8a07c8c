//! Conditions that repeat what constraints or other conditions say already.

use dalembert_control::study::{Source, Study, built_in};
use dalembert_control::{Options, Solution, solve};
use dalembert_optimise::Control as Go;
use std::f64::consts::PI;

/// Angles of the built-in five bars with the hand at a place: elbows outwards.
fn angles(x: f64, z: f64) -> [f64; 4] {
    let arm = |base: f64, side: f64| {
        let (dx, d) = (x - base, (x - base).hypot(z));
        let (l, m) = (0.4f64, 0.5f64);
        let shoulder = ((l * l + d * d - m * m) / (2.0 * l * d)).acos();
        let elbow = PI - ((l * l + m * m - d * d) / (2.0 * l * m)).acos();
        [dx.atan2(z) + side * shoulder, -side * elbow]
    };
    let ([a, b], [c, d]) = (arm(-0.2, -1.0), arm(0.2, 1.0));
    [a, b, c, d]
}

/// The built-in study with another method and another end.
fn study(method: &str, end: &str) -> Study {
    let text = built_in::find("five-bar").unwrap().text;
    let (head, rest) = text.split_once("[phase.end]\n").unwrap();
    let goal = rest.find("[[goal]]").unwrap();
    let head = head.replace("method = \"dmocc\"\nform = \"null-space\"\nintervals = 20", method);
    let text = format!("{head}[phase.end]\n{end}\n\n{}", &rest[goal..]);
    Study::from_text("five-bar.toml", &text, &Source::BuiltIn).unwrap_or_else(|e| panic!("{e}"))
}

fn tried(study: &Study) -> Result<Solution, String> {
    let problem = study.problem().unwrap_or_else(|e| panic!("{e}"));
    let options = Options { evaluations: 1, ..Options::default() };
    solve(&problem, &options, study.solver(), &mut |_| Go::Continue).map_err(|e| e.to_string())
}

const METHODS: [&str; 4] = [
    "method = \"dmocc\"\nform = \"null-space\"\nintervals = 6",
    "method = \"dmocc\"\nintervals = 6",
    "method = \"midpoint\"\nintervals = 6",
    "method = \"hermite_simpson\"\nintervals = 3",
];

/// Two freedoms and four angles. All four angles by conditions of their own are the whole configuration; three of them say once more what the loop says; so do the places
/// of both hands. The motion is that of the study whose end is given wholly, whatever the method.
#[test]
fn an_end_may_be_told_twice() {
    let to = angles(0.15, 0.7);
    let names = ["left.upper", "left.lower", "right.upper", "right.lower"];
    let each: Vec<String> =
        names.iter().zip(to).map(|(name, angle)| format!("{{ of = \"body.{name}\", is = {angle} }}")).collect();
    let rates: Vec<String> = names.iter().map(|name| format!("{{ of = \"body.{name}.rate\", is = 0 }}")).collect();
    let hands = [("left", "x", 0.15), ("left", "z", 0.7), ("right", "x", 0.15), ("right", "z", 0.7)];
    let hands = hands.map(|(side, axis, at)| format!("{{ of = \"marker.{side}_hand.position.{axis}\", is = {at} }}"));
    for method in METHODS {
        let wholly = study(method, &format!("configuration = {to:?}\nvelocity = \"rest\""));
        let wholly = tried(&wholly).unwrap_or_else(|e| panic!("{method}: {e}"));
        assert!(wholly.is_success(), "{method}: {}", wholly.report);
        for (what, conditions, velocity) in [
            ("each angle", each.join(", "), "velocity = \"rest\""),
            ("each angle and rate", each.iter().chain(&rates).cloned().collect::<Vec<_>>().join(", "), ""),
            ("three angles", each[..3].join(", "), "velocity = \"rest\""),
            ("both hands", hands.join(", "), "velocity = \"rest\""),
        ] {
            let told = study(method, &format!("{velocity}\nwhere = [{conditions}]"));
            let told = tried(&told).unwrap_or_else(|e| panic!("{method}, {what}: {e}"));
            assert!(told.is_success(), "{method}, {what}: {}", told.report);
            // The tolerance of the solver, 1e-10 of scaled conditions, in the objective; rows told twice are met to the square root of rounding at worst.
            let off = told.goals[0].1 / wholly.goals[0].1 - 1.0;
            assert!(off.abs() < 1e-7, "{method}, {what}: {off:e}");
        }
    }
}

/// What contradicts the loop is named: before anything is solved where all angles are given, with its time where the solver finds it.
#[test]
fn what_cannot_be_is_named() {
    let [a, b, c, d] = angles(0.15, 0.7);
    for method in METHODS {
        let end = |d: f64| {
            format!(
                "velocity = \"rest\"\nwhere = [{{ of = \"body.left.upper\", is = {a} }}, {{ of = \"body.left.lower\", is = {b} }}, {{ of = \"body.right.upper\", is = {c} }}, {{ of = \"body.right.lower\", is = {d} }}]"
            )
        };
        let error = tried(&study(method, &end(d + 0.1))).err().unwrap_or_else(|| panic!("{method}: solved"));
        assert!(error.contains("end of phase `carry`") && error.contains("`joint.hand"), "{method}: {error}");
        let hands = "velocity = \"rest\"\nwhere = [{ of = \"marker.left_hand.position.x\", is = 0.15 }, { of = \"marker.left_hand.position.z\", is = 0.7 }, { of = \"marker.right_hand.position.x\", is = 0.1 }]";
        match tried(&study(method, hands)) {
            Ok(solution) => {
                assert!(!solution.is_success(), "{method}: {}", solution.report);
                let told = solution.report.to_string();
                assert!(told.contains("joint.hand") || told.contains("hand.position"), "{method}: {told}");
                assert!(told.contains("at 0.6000 s"), "{method}: {told}");
            }
            Err(error) => assert!(error.contains("joint.hand"), "{method}: {error}"),
        }
    }
}
