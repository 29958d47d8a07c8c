//! `dalembert schema`, and every scene against it, by a small checker of the words that the schema uses.

use super::*;
use dalembert::scenes;
use serde_json::Value;
use tempfile::tempdir;

/// Words that say something about the value; all others are annotations.
const WORDS: [&str; 15] = [
    "$ref",
    "type",
    "const",
    "enum",
    "anyOf",
    "oneOf",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "minItems",
    "maxItems",
    "minimum",
    "maximum",
    "pattern",
];
const ANNOTATIONS: [&str; 8] = ["$schema", "$defs", "title", "description", "default", "unit", "format", "examples"];

struct Checker {
    root: Value,
}

impl Checker {
    /// What is wrong with a value; empty if nothing.
    fn faults(&self, schema: &Value, value: &Value, path: &str) -> Vec<String> {
        let Some(schema) = schema.as_object() else {
            return if *schema == Value::Bool(false) { vec![format!("{path} is not allowed")] } else { Vec::new() };
        };
        let mut faults = Vec::new();
        for (word, rule) in schema {
            assert!(
                WORDS.contains(&word.as_str()) || ANNOTATIONS.contains(&word.as_str()),
                "the checker does not know `{word}`"
            );
            if !self.holds(word, rule, value) {
                faults.push(format!("{path} does not satisfy {word}: {rule}"));
            }
            let branches = || rule.as_array().into_iter().flatten().map(|branch| self.faults(branch, value, path));
            match word.as_str() {
                "$ref" => {
                    let target = rule.as_str().unwrap().strip_prefix('#').unwrap();
                    let target = self.root.pointer(target).unwrap_or_else(|| panic!("no definition {rule}"));
                    faults.extend(self.faults(target, value, path));
                }
                "anyOf" if branches().all(|branch| !branch.is_empty()) => {
                    faults.extend(branches().min_by_key(Vec::len).into_iter().flatten());
                }
                "oneOf" if branches().filter(Vec::is_empty).count() != 1 => {
                    faults.push(format!("{path} does not satisfy exactly one choice"));
                    faults.extend(branches().min_by_key(Vec::len).into_iter().flatten());
                }
                _ => {}
            }
        }
        let empty = serde_json::Map::new();
        let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        for (key, inner) in value.as_object().into_iter().flatten() {
            let rule = properties.get(key).or_else(|| schema.get("additionalProperties"));
            faults.extend(rule.into_iter().flat_map(|rule| self.faults(rule, inner, &format!("{path}.{key}"))));
        }
        if let (Some(rule), Some(items)) = (schema.get("items"), value.as_array()) {
            let items = items.iter().enumerate();
            faults.extend(items.flat_map(|(i, item)| self.faults(rule, item, &format!("{path}[{i}]"))));
        }
        faults
    }

    /// Whether one word that looks at the value alone holds.
    fn holds(&self, word: &str, rule: &Value, value: &Value) -> bool {
        let length = value.as_array().map(|items| items.len() as u64);
        match word {
            "type" => {
                let names = rule.as_array().cloned().unwrap_or_else(|| vec![rule.clone()]);
                names.iter().any(|name| match name.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "boolean" => value.is_boolean(),
                    "number" => value.is_number(),
                    "integer" => value.as_f64().is_some_and(|x| x.fract() == 0.0),
                    "null" => value.is_null(),
                    other => panic!("the checker does not know the type `{other}`"),
                })
            }
            "const" => value == rule,
            "enum" => rule.as_array().unwrap().contains(value),
            "required" => {
                let table = value.as_object();
                let names = rule.as_array().unwrap().iter().map(|name| name.as_str().unwrap());
                table.is_none_or(|table| names.into_iter().all(|name| table.contains_key(name)))
            }
            "minItems" => length.is_none_or(|n| n >= rule.as_u64().unwrap()),
            "maxItems" => length.is_none_or(|n| n <= rule.as_u64().unwrap()),
            "minimum" => value.as_f64().is_none_or(|x| x >= rule.as_f64().unwrap()),
            "maximum" => value.as_f64().is_none_or(|x| x <= rule.as_f64().unwrap()),
            "pattern" => {
                let start = rule.as_str().unwrap().strip_prefix('^').expect("patterns are beginnings");
                value.as_str().is_none_or(|text| text.starts_with(start))
            }
            _ => true,
        }
    }

    fn faults_of(&self, scene: &str) -> Vec<String> {
        let value: toml::Value = toml::from_str(scene).unwrap();
        self.faults(&self.root, &serde_json::to_value(value).unwrap(), "scene")
    }
}

fn checker(folder: &Path) -> Checker {
    Checker { root: serde_json::from_str(&dalembert(folder, &["schema"]).with(0).out).unwrap() }
}

#[test]
fn every_scene_satisfies_the_schema() {
    let folder = tempdir().unwrap();
    let checker = checker(folder.path());
    for scene in scenes::ALL {
        assert_eq!(checker.faults_of(scene.text), [""; 0], "{}", scene.name);
        let expanded = dalembert(folder.path(), &["check", "--expand", scene.name]).with(0).out;
        assert_eq!(checker.faults_of(&expanded), [""; 0], "{}, expanded", scene.name);
    }
    assert_eq!(checker.faults_of(scenes::STARTER), [""; 0], "starter");
}

#[test]
fn the_schema_refuses_what_the_reader_refuses() {
    let folder = tempdir().unwrap();
    let checker = checker(folder.path());
    for text in [
        "[bdy.a]\n",
        "[body.a]\nkind = 'partcle'\nmass = 1\n",
        "[body.a]\nkind = 'particle'\n",
        "[body.a]\nkind = 'particle'\nmass = 'one'\n",
        "[body.a]\nkind = 'particle'\nmass = 1\nmas = 2\n",
        "[body.a]\nkind = 'particle'\nmass = 1\nposition = [1, 2]\n",
        "[constraint.c]\nkind = 'distance'\nbetween = ['ground']\nlength = 1\n",
        "[run]\nintegrator = 'verlet'\n",
        "[run]\nsettings = { stpe = 1 }\n",
        "[output]\nevery = true\n",
        "[event.e]\nlevel = 1\n",
        "[parameters]\nx = { min = 1 }\n",
    ] {
        assert_ne!(checker.faults_of(text), [""; 0], "{text}");
        std::fs::write(folder.path().join("a.toml"), text).unwrap();
        dalembert(folder.path(), &["check", "a.toml"]).with(2);
    }
    assert_eq!(checker.faults_of("include = 'a.toml'\n"), [""; 0]);
}
