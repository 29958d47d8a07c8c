//! Every kind of bad text meets its line and column; good text meets its values.
#![allow(clippy::unwrap_used)]

use super::*;
use serde::Deserialize;

mod bad;
mod properties;

fn read(text: &str) -> Result<Document, SceneError> {
    Document::from_text("a.toml", text, &Overrides::none(), &Limits::default())
}

fn read_set(text: &str, settings: &[&str]) -> Result<Document, SceneError> {
    Document::from_text("a.toml", text, &settings.iter().copied().collect(), &Limits::default())
}

fn number(document: &Document, path: &[&str]) -> f64 {
    let mut node = document.root().get(path[0]).unwrap();
    for step in &path[1..] {
        node = node.get(step).unwrap();
    }
    node.as_number().unwrap()
}

fn names(document: &Document, section: &str) -> Vec<String> {
    document.section(section).map(|entry| entry.name().to_owned()).collect()
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Rigid {
    mass: f64,
    #[serde(default)]
    position: [f64; 3],
    #[serde(default)]
    count: u32,
    #[serde(default)]
    shape: Option<Shape>,
    #[serde(default)]
    label: Option<String>,
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Shape {
    None,
    Sphere { radius: Positive },
    Points(Vec<[f64; 2]>),
}

#[derive(Debug, Deserialize, PartialEq)]
#[serde(try_from = "f64")]
struct Positive(f64);

impl TryFrom<f64> for Positive {
    type Error = String;

    fn try_from(value: f64) -> Result<Self, String> {
        if value > 0.0 { Ok(Self(value)) } else { Err(format!("must be positive, found {value}")) }
    }
}

#[test]
fn parameters_refer_to_each_other_in_any_order() {
    let document = read(
        "[parameters]\na = '= b + c'\nb = '= 2*c'\nc = 1.5\nd = { value = '= a', min = 0, max = '= 2*a', unit = 'm', about = 'reach' }\n",
    )
    .unwrap();
    let values: Vec<_> = document.parameters().iter().map(|p| (p.name.as_str(), p.value)).collect();
    assert_eq!(values, [("a", 4.5), ("b", 3.0), ("c", 1.5), ("d", 4.5)]);
    let d = &document.parameters()[3];
    assert_eq!(
        (d.minimum, d.maximum, d.unit.as_deref(), d.about.as_deref()),
        (Some(0.0), Some(9.0), Some("m"), Some("reach"))
    );
    assert!(d.adjustable && !document.parameters()[0].adjustable);
}

#[test]
fn arithmetic_is_replaced_everywhere() {
    let document = read(
        "[parameters]\nn = 3\nl = 0.5\n[body.a]\nkind = 'rigid'\nmass = '= l^2'\nposition = [0, '= n*l', 1]\ncount = '= n + 1'\nshape = { sphere = { radius = '= l/2' } }\n",
    )
    .unwrap();
    let body: Rigid = document.section("body").next().unwrap().deserialize_element().unwrap();
    let shape = Some(Shape::Sphere { radius: Positive(0.25) });
    assert_eq!(body, Rigid { mass: 0.25, position: [0.0, 1.5, 1.0], count: 4, shape, label: None });
}

#[test]
fn numbers_without_fraction_are_whole() {
    let text = "[body.a]\nmass = 2\ncount = 3.0\nshape = 'none'\nlabel = 'x'\n[body.b]\nmass = 1\nshape = { points = [[1, 2.5]] }";
    let document = read(text).unwrap();
    let bodies: Vec<Rigid> = document.section("body").map(|entry| entry.deserialize().unwrap()).collect();
    assert_eq!((bodies[0].mass, bodies[0].count, &bodies[0].shape), (2.0, 3, &Some(Shape::None)));
    assert_eq!(bodies[1].shape, Some(Shape::Points(vec![[1.0, 2.5]])));
}

#[test]
fn order_is_that_of_the_source() {
    let document = read("[body.z]\n[joint.q]\n[body.a]\n[body.m]\n").unwrap();
    assert_eq!(names(&document, "body"), ["z", "a", "m"]);
    assert_eq!(document.root().names().collect::<Vec<_>>(), ["body", "joint"]);
}

#[test]
fn repeats_make_elements() {
    let document = read(
        r#"
        [parameters]
        n = 3
        length = 0.4
        [body.first]
        kind = "rigid"
        [[repeat]]
        index = "i"
        from = 2
        to = "= n + 1"
        [repeat.body."link{i}"]
        kind = "rigid"
        position = ["= (i - 0.5)*length", 0, 0]
        label = "{{{i*length}}} of {n}, before link{i+1}"
        [[repeat.repeat]]
        index = "j"
        to = "= i - 1"
        [repeat.repeat.marker."m{i}_{j}"]
        place = "= 10*i + j"
        "#,
    )
    .unwrap();
    assert_eq!(names(&document, "body"), ["first", "link2", "link3", "link4"]);
    assert_eq!(names(&document, "marker"), ["m2_1", "m3_1", "m3_2", "m4_1", "m4_2", "m4_3"]);
    assert_eq!(number(&document, &["marker", "m4_3", "place"]), 43.0);
    let link = document.root().get("body").unwrap().get("link3").unwrap();
    assert_eq!(link.get("label").unwrap().as_str(), Some("{1.2000000000000002} of 3, before link4"));
    assert!(document.root().get("repeat").is_none());
}

#[test]
fn empty_repeats_make_nothing() {
    let document = read("[[repeat]]\nto = 0\n[repeat.body.'b{i}']\nkind = 'rigid'\n").unwrap();
    assert_eq!(names(&document, "body"), [""; 0]);
}

#[test]
fn braces_outside_repeats_are_plain() {
    let document = read("[body.'a{i}']\nlabel = '{i} }'\n").unwrap();
    assert_eq!(names(&document, "body"), ["a{i}"]);
    assert_eq!(document.section("body").next().unwrap().node().get("label").unwrap().as_str(), Some("{i} }"));
}

#[test]
fn includes_are_merged_and_the_including_file_wins() {
    let loader = MemoryLoader::new()
        .with("scenes/main.toml", "include = ['../parts/a.toml', '../parts/b.toml']\n[body.x]\nmass = 3\n[body.y]\nkind = 'particle'\n[body.link2]\nmass = 9\n[parameters]\nn = 2\n")
        .with("parts/a.toml", "include = 'common.toml'\n[body.x]\nkind = 'rigid'\nmass = 1\ncount = 7\n[body.y]\nkind = 'rigid'\nmass = 5\n[run]\nuntil = 1\n")
        .with("parts/b.toml", "include = 'common.toml'\n[run]\nuntil = 2\n")
        .with("parts/common.toml", "[run]\nuntil = 0\nseed = 4\n[parameters]\nn = 1\n[[repeat]]\nto = '= n'\n[repeat.body.'link{i}']\nkind = 'rigid'\nmass = 1\n");
    let document = Document::load(&loader, "scenes/main.toml", &Overrides::none(), &Limits::default()).unwrap();
    assert_eq!(document.sources().files().count(), 4);
    assert_eq!(number(&document, &["run", "until"]), 2.0);
    assert_eq!(number(&document, &["run", "seed"]), 4.0);
    assert_eq!(number(&document, &["body", "x", "mass"]), 3.0);
    assert_eq!(number(&document, &["body", "x", "count"]), 7.0);
    // Another kind replaces the whole element.
    assert!(document.root().get("body").unwrap().get("y").unwrap().get("mass").is_none());
    // What the including file says about a repeated element goes on top of the template.
    assert_eq!(number(&document, &["body", "link1", "mass"]), 1.0);
    assert_eq!(number(&document, &["body", "link2", "mass"]), 9.0);
    assert_eq!(document.root().get("body").unwrap().get("link2").unwrap().get("kind").unwrap().as_str(), Some("rigid"));
}

#[test]
fn files_come_from_disk() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.toml"), "include = ['b.toml']\n[run]\nuntil = '= 2*x'\n").unwrap();
    std::fs::write(folder.path().join("b.toml"), "[parameters]\nx = 2\n").unwrap();
    let path = folder.path().join("a.toml");
    let path = path.to_str().unwrap();
    let document = Document::load(&DiskLoader, path, &Overrides::none(), &Limits::default()).unwrap();
    assert_eq!(number(&document, &["run", "until"]), 4.0);
    let limits = Limits { file_size: 10, ..Limits::default() };
    let error = Document::load(&DiskLoader, path, &Overrides::none(), &limits).unwrap_err();
    assert!(error.plain().ends_with("is larger than 10 bytes"), "{}", error.plain());
    let folder = folder.path().to_str().unwrap();
    let error = Document::load(&DiskLoader, folder, &Overrides::none(), &Limits::default()).unwrap_err();
    assert!(error.plain().contains("it is a folder"), "{}", error.plain());
}

#[test]
fn settings_win_over_files() {
    let text = "[parameters]\nx = 1\nlength = { value = 1, min = 0, max = 9 }\n[body.upper]\nkind = 'rigid'\nposition = [0, 0, '= length']\n[[repeat]]\nto = 2\n[repeat.body.'link{i}']\nmass = '= i'\n";
    let document = read_set(
        text,
        &[
            "body.upper.mass=2",
            "parameters.length=\"= 2*x\"",
            "parameters.x = 3",
            "run.until=5",
            "run.method=radau",
            "body.\"link2\".mass== length/2",
            "body.upper.position[1]=-1",
        ],
    )
    .unwrap();
    assert_eq!(number(&document, &["body", "upper", "mass"]), 2.0);
    assert_eq!(number(&document, &["run", "until"]), 5.0);
    assert_eq!(number(&document, &["body", "link1", "mass"]), 1.0);
    assert_eq!(number(&document, &["body", "link2", "mass"]), 3.0);
    assert_eq!(document.root().get("run").unwrap().get("method").unwrap().as_str(), Some("radau"));
    let upper: Vec<f64> =
        match &document.root().get("body").unwrap().get("upper").unwrap().get("position").unwrap().value {
            Value::Array(items) => items.iter().map(|item| item.as_number().unwrap()).collect(),
            _ => unreachable!(),
        };
    assert_eq!(upper, [0.0, -1.0, 6.0]);
    // The range of an adjustable parameter stays.
    assert_eq!(document.parameters()[1].maximum, Some(9.0));
}

/// The section `[set]` does what settings from outside do, comes before them, and is gone from what is computed.
#[test]
fn a_scene_can_set_what_its_repeats_make() {
    let text = "[parameters]\nlength = { value = 1, min = 0, max = 9 }\n[[repeat]]\nto = 3\n[repeat.body.'link{i}']\nmass = '= i*length'\nposition = [0, 0, 0]\n[set]\n'parameters.length' = 2\n'body.link2.mass' = '= 3*length'\n'body.link3.position[2]' = 5\n\"body.'link3'.count\" = 4\n'run.until' = 7\n";
    let document = read(text).unwrap();
    let masses = ["link1", "link2", "link3"].map(|link| number(&document, &["body", link, "mass"]));
    assert_eq!(masses, [2.0, 6.0, 6.0]);
    assert_eq!(number(&document, &["body", "link3", "count"]), 4.0);
    assert_eq!(number(&document, &["run", "until"]), 7.0);
    assert_eq!(document.parameters()[0].maximum, Some(9.0));
    assert!(document.root().get("set").is_none());
    assert!(document.check_sections(&["body"]).is_ok());
    let outside = read_set(text, &["body.link2.mass=1", "parameters.length=3"]).unwrap();
    assert_eq!(["link1", "link2", "link3"].map(|link| number(&outside, &["body", link, "mass"])), [3.0, 1.0, 9.0]);
    // A scene that includes another one sets on top of it.
    let loader =
        MemoryLoader::new().with("a.toml", "include = 'b.toml'\n[set]\n'body.link1.mass' = 8\n").with("b.toml", text);
    let both = Document::load(&loader, "a.toml", &Overrides::none(), &Limits::default()).unwrap();
    assert_eq!(["link1", "link2"].map(|link| number(&both, &["body", link, "mass"])), [8.0, 6.0]);
}

#[test]
fn later_layers_point_at_places() {
    let document = read("[body.upper]\nkind = 'rigid'\nmarkers = ['a', 'b']\n").unwrap();
    let upper = document.section("body").next().unwrap();
    assert_eq!(upper.path(), "body.upper");
    assert_eq!(
        upper.error("markers[1]", "no marker `b`", Some("did you mean `a`?")).plain(),
        "a.toml:3:17: no marker `b` (did you mean `a`?)"
    );
    assert_eq!(upper.error("mass", "the mass is zero", None).plain(), "a.toml:1:1: the mass is zero");
    assert_eq!(document.error_at(upper.name_span(), "unused", None).plain(), "a.toml:1:7: unused");
}

#[test]
fn reports_show_the_source() {
    let error = read("[parameters]\na = '= lenght'\nlength = 1\n").unwrap_err();
    let report = format!("{:?}", miette::Report::new(error));
    assert!(report.contains("unknown parameter `lenght`"), "{report}");
    assert!(report.contains("a.toml:2:8"), "{report}");
    assert!(report.contains("did you mean `length`?"), "{report}");
    let many = read("[parameters]\na = '= b'\nb = '= x'\nc = '= y'\n").unwrap_err();
    assert_eq!(many.to_string(), "2 problems in the scene");
    assert!(format!("{:?}", miette::Report::new(many)).contains("unknown parameter `y`"));
}

#[test]
fn writing_is_readable() {
    let text = "[parameters]\nx = { value = '= 1/3', min = 0 }\n[scene]\ntitle = 'A \"title\"'\ndescription = \"two\\nlines\"\n[run]\nuntil = 1e-9\n[body.'a b']\nkind = 'rigid'\nposition = [0.5, '= 4/2', -0.0]\n[body.c]\nkind = 'particle'\n[joint]\n";
    let document = read(text).unwrap();
    let expected = "[parameters]\nx = { value = 0.3333333333333333, min = 0 }\n\n[scene]\ntitle = \"A \\\"title\\\"\"\ndescription = \"\"\"\ntwo\nlines\"\"\"\n\n[run]\nuntil = 1e-9\n\n[body.\"a b\"]\nkind = \"rigid\"\nposition = [0.5, 2, -0.0]\n\n[body.c]\nkind = \"particle\"\n\n[joint]\n";
    assert_eq!(document.to_toml(), expected);
    assert_eq!(read(&document.to_toml()).unwrap(), document);
}

/// The seeds of the fuzz target say in their names what becomes of them here.
#[test]
fn the_corpus_does_what_its_names_say() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/scene");
    let mut count = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let read = Document::load(&DiskLoader, path.to_str().unwrap(), &Overrides::none(), &Limits::default());
        match read {
            Ok(document) => {
                assert!(!name.starts_with("bad-"), "{name} was read");
                assert_eq!(read_again(&document), document, "{name}");
            }
            Err(error) => assert!(!name.starts_with("good-"), "{name}: {}", error.plain()),
        }
        count += 1;
    }
    assert!(count >= 30);
}

fn read_again(document: &Document) -> Document {
    read(&document.to_toml()).unwrap()
}
