//! Whatever the text, reading ends with a document or an error; what is written reads the same.

use super::*;
use proptest::prelude::*;

const NOWHERE: Span = Span { file: 0, start: 0, end: 0 };

fn table(entries: Vec<(String, Node)>) -> Value {
    let mut table = Table::default();
    for (name, node) in entries {
        table.insert(Key { name: name.into(), span: NOWHERE }, node);
    }
    Value::Table(table)
}

fn text() -> impl Strategy<Value = String> {
    // A text that starts with `=` would be arithmetic.
    let any = prop_oneof!["[a-z {}.,\"'\\\\\n\r\t]{0,24}", "\\PC{0,12}", any::<String>(), "[x\"]{100,120}"];
    any.prop_filter("arithmetic", |text| !text.starts_with('='))
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::Boolean),
        any::<i64>().prop_map(Value::Integer),
        any::<f64>().prop_filter("NaN cannot be written", |x| !x.is_nan()).prop_map(Value::Float),
        text().prop_map(Value::String),
    ]
}

fn node() -> impl Strategy<Value = Node> {
    let leaf = scalar().prop_map(|value| Node::new(value, NOWHERE));
    leaf.prop_recursive(3, 40, 6, |inner| {
        let items = prop::collection::vec(inner.clone(), 0..20).prop_map(Value::Array);
        let entries = prop::collection::vec((text(), inner), 0..6).prop_map(table);
        prop_oneof![items, entries].prop_map(|value| Node::new(value, NOWHERE))
    })
}

fn document() -> impl Strategy<Value = Table> {
    let section = prop::sample::select(vec!["body", "joint", "run", "output", "odd name", "ü"]).prop_map(str::to_owned);
    let entries = prop::collection::vec((text(), node()), 0..5).prop_map(table);
    let elements = prop::collection::vec((text(), node()), 0..4).prop_map(table).prop_map(|t| Node::new(t, NOWHERE));
    let elements = prop::collection::vec((text(), elements), 0..5).prop_map(table);
    let section = (section, prop_oneof![entries, elements].prop_map(|value| Node::new(value, NOWHERE)));
    prop::collection::vec(section, 0..5).prop_map(|sections| match table(sections) {
        Value::Table(table) => table,
        _ => unreachable!(),
    })
}

/// Pieces of scenes in any order: far more often nearly valid than random letters are.
fn pieces() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "[parameters]\n",
        "[body.a]\n",
        "[body.\"b{i}\"]\n",
        "[[repeat]]\n",
        "[[repeat.repeat]]\n",
        "[repeat.body.'b{i}']\n",
        "[repeat.body.\"c{i*j}\"]\n",
        "include = ",
        "[\"a.toml\"]\n",
        "'x'\n",
        "index = 'j'\n",
        "from = 1\n",
        "to = 3\n",
        "to = '= n'\n",
        "to = 1e9\n",
        "n = 2\n",
        "x = '= y'\n",
        "y = '= x + 1'\n",
        "y = '= 1/0'\n",
        "l = { value = 1, min = 0 }\n",
        "kind = 'rigid'\n",
        "mass = '= n*2'\n",
        "= ",
        "a.b.c = ",
        "[1, 2.5, '= n']\n",
        "{ x = 1 }\n",
        "[",
        "]",
        "{",
        "}",
        "\"",
        "'''",
        "\n",
        "#",
        "é",
        "\u{0}",
        "\r",
        "1979-05-27",
        "nan",
        "inf\n",
        ".",
        ",",
        "[scene]\nformat = 1\n",
        "[run]\n",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Everything one can do with a document.
fn exercise(bytes: &[u8], settings: &[String]) -> Result<(), TestCaseError> {
    let limits = Limits { entries: 1000, expanded_size: 1 << 20, ..Limits::default() };
    let loader = MemoryLoader::new().with("a.toml", bytes.to_vec()).with("x", bytes.to_vec());
    let overrides: Overrides = settings.iter().cloned().collect();
    match Document::load(&loader, "a.toml", &overrides, &limits) {
        Ok(document) => {
            let _ = document.check_sections(&["body"]);
            for entry in document.section("body") {
                let _ = entry.kind();
                let _ = entry.deserialize::<Rigid>();
                let _ = entry.deserialize_element::<Shape>();
            }
            let written = document.to_toml();
            let again = Document::from_text("b.toml", &written, &Overrides::none(), &limits);
            prop_assert_eq!(again.map_err(|error| error.plain()), Ok(document), "{}", written);
        }
        Err(error) => {
            prop_assert!(!error.problems().is_empty());
            let _ = format!("{:?}", miette::Report::new(error.clone()));
            prop_assert!(!error.plain().is_empty());
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn written_trees_read_the_same(root in document()) {
        let written = to_toml(&root);
        let again = read(&written).map_err(|error| error.plain());
        prop_assert_eq!(again.as_ref().map(Document::root), Ok(&root), "{}", written);
    }

    #[test]
    fn nearly_valid_scenes_never_panic(text in pieces(), settings in prop::collection::vec("[a-z.\\[\\]=\"0-9]{0,12}|body\\.a\\.[a-z]=[0-9]", 0..2)) {
        exercise(text.as_bytes(), &settings)?;
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        exercise(&bytes, &[])?;
    }

    #[test]
    fn random_text_never_panics(text in any::<String>(), setting in any::<String>()) {
        exercise(text.as_bytes(), &[setting])?;
    }
}
