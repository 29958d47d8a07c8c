//! What is registered can be read, written and blamed.

use dalembert::bodies::Particle;
use dalembert::constraints::{
    self, AnyConstraint, Constraint, CoordinateSpeed, DiscOnPlane, Distance, Gear, GearRatio, Holonomic, NoSlip,
    Nonholonomic, PointOnPlane, PrescribedDistance, PrescribedPosition, Rolling, SphereOnPlane,
};
use dalembert::element::{About, Kind};
use dalembert::joints::{self, Axis, Revolute, Screw, Universal};
use dalembert::model::{Model, Orientation};
use dalembert::scene::{Document, Limits, Overrides};

fn all() -> Vec<Kind<dyn AnyConstraint>> {
    joints::kinds().into_iter().chain(constraints::kinds()).collect()
}

#[test]
fn kinds_are_sorted_and_their_samples_sound() {
    for kinds in [joints::kinds(), constraints::kinds()] {
        assert!(kinds.windows(2).all(|pair| pair[0].kind < pair[1].kind));
    }
    for kind in all() {
        let sample = (kind.sample)();
        assert_eq!(sample.kind(), kind.kind);
        assert_eq!(sample.defect(sample.need().markers().unwrap_or(8)), None, "{}", kind.kind);
        assert_eq!(Some(sample.need()), kind.need);
    }
}

/// Element → table → element gives the same parameters.
#[test]
fn what_is_written_is_read_back() {
    for kind in all() {
        let sample = (kind.sample)();
        let parameters = sample.parameters();
        // Lists of tables stand under their own heading.
        let text = toml::to_string(&parameters).unwrap().replace("\n[[", "\n[[joint.it.");
        let key = sample.need().key;
        let text = format!("[joint.it]\nkind = \"{}\"\n{key} = [\"a\", \"b\"]\n{text}", kind.kind);
        let document = Document::from_text("it.toml", &text, &Overrides::none(), &Limits::default()).unwrap();
        let read = (kind.read)(&document.section("joint").next().unwrap()).unwrap();
        assert_eq!(read.parameters(), parameters, "{}", kind.kind);
        assert_eq!(read.kind(), kind.kind);
    }
}

/// Every parameter says what it is.
#[test]
fn schemas_describe_every_parameter() {
    for kind in all() {
        let schema = (kind.schema)();
        let Some(properties) = schema.get("properties").and_then(|p| p.as_object()) else { continue };
        for (name, property) in properties {
            assert!(property.get("description").is_some(), "{}.{name} has no description", kind.kind);
        }
    }
}

fn holonomic<C: Constraint>(item: C) -> Box<dyn AnyConstraint> {
    Box::new(Holonomic(item))
}

fn rolling<C: Rolling>(item: C) -> Box<dyn AnyConstraint> {
    Box::new(Nonholonomic(item))
}

#[test]
fn bad_data_is_named() {
    let nothing = Axis::from([0.0; 3]);
    let z = Axis::default();
    let cases: Vec<(Box<dyn AnyConstraint>, &str, &str)> = vec![
        (holonomic(Revolute::about([0.0; 3])), "axis", "not zero"),
        (holonomic(Revolute { axis: z, axis_b: Some([0.0, f64::NAN, 0.0].into()) }), "axis_b", "finite"),
        (holonomic(Universal { axis: z, axis_b: nothing }), "axis_b", "not zero"),
        (holonomic(Screw::about([0.0, 0.0, 1.0], 0.0)), "pitch", "revolute"),
        (holonomic(Distance { length: -1.0 }), "length", "-1"),
        (holonomic(Distance { length: f64::NAN }), "length", "NaN"),
        (holonomic(Gear { teeth: [12, 0], ..Gear::sample() }), "teeth", "[12, 0]"),
        (holonomic(Gear { axes: [z, nothing], ..Gear::sample() }), "axes", "not zero"),
        (rolling(GearRatio { ratio: 0.0, axes: [z, z] }), "ratio", "not zero"),
        (holonomic(SphereOnPlane { radius: -0.1, normal: z }), "radius", "-0.1"),
        (holonomic(DiscOnPlane { radius: 0.1, axle: nothing, normal: z }), "axle", "not zero"),
        (rolling(NoSlip { directions: vec![], ..NoSlip::sample() }), "directions", "found 0"),
        (rolling(NoSlip { speeds: vec![1.0.into()], ..NoSlip::sample() }), "speeds", "(2)"),
        (holonomic(PrescribedDistance { length: 0.0.into() }), "length", "positive"),
        (holonomic(PrescribedPosition { directions: vec![z; 4], values: vec![] }), "directions", "found 4"),
        (holonomic(PrescribedPosition { directions: vec![z], values: vec![] }), "values", "found 0"),
        (rolling(CoordinateSpeed { axis: nothing, ..CoordinateSpeed::sample() }), "axis", "not zero"),
    ];
    for (item, key, word) in cases {
        let (blamed, message) = item.defect(2).unwrap();
        assert_eq!(blamed, key, "{}: {message}", item.kind());
        assert!(message.contains(word), "{}: {message}", item.kind());
    }
}

/// The second marker of a plane may be a particle: only the plane has an orientation.
#[test]
fn orientation_is_asked_for_only_where_needed() {
    let mut b = Model::builder();
    let dot = b.body("dot", Particle { mass: 1.0, position: [0.0; 3], velocity: [0.0; 3] });
    let (ground, at) = (b.ground(), b.point("", dot, [0.0; 3]));
    let table = b.frame("table", ground, [0.0; 3], Orientation::default());
    b.constraint("flat", PointOnPlane::default(), (table, at));
    assert_eq!(b.build().unwrap().constraints().len(), 1);
}
