//! The comparisons of integrators that a scene asks for, drawn by `dalembert study work-precision`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// `[comparison.NAME]`: integrators and their options side by side on this scene, for `dalembert study work-precision`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ComparisonSettings {
    /// The title; the name of the comparison if not given.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub title: String,
    /// What is varied: an option of the integrator such as `"fixed_step"`, `"tolerance"`, or the path of any value, such as `"parameters.steps"`. If not given the step, where the
    /// scene's integrator has a fixed one, and the tolerance otherwise.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub vary: String,
    /// Its values; if not given 4, 2, 1, ½ and ¼ times the scene's own step, or 100 to 1/100 times its tolerance.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<f64>,
    /// Whether its axis is logarithmic and orders are measured; if not given that of steps and tolerances is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<bool>,
    /// What errors are taken of: channels, or patterns in which `*` stands for any text. Each pattern has one error, the largest of its channels, which have one unit. All positions of bodies
    /// if not given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<String>,
    /// When: `"last"` is the error at the end, `"maximum"` the largest of all recorded rows.
    pub take: Take,
    /// When runs end; as the scene says if not given.
    #[schemars(extend("unit" = "s"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<f64>,
    /// Closed forms of channels: formulas of the time `t` and of parameters of the scene. Channels that have none are compared with the reference.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub exact: BTreeMap<String, String>,
    /// The run to compare with; `dop853` with a tolerance of 1e-13 if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<MethodSettings>,
    /// The methods; the scene's own if none are given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<MethodSettings>,
    /// Channels that are drawn over time, each method at the first of its values beside the reference.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub motions: Vec<String>,
}

/// What of the differences between a run and its reference is the error.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Take {
    /// That at the end.
    #[default]
    Last,
    /// The largest of all rows.
    Maximum,
}

impl Take {
    /// The names of all.
    pub const NAMES: [&str; 2] = ["last", "maximum"];
}

impl std::str::FromStr for Take {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "last" => Ok(Self::Last),
            "maximum" => Ok(Self::Maximum),
            other => Err(format!("`{other}` is none of {}", Self::NAMES.join(" and "))),
        }
    }
}

/// `[[comparison.NAME.methods]]`: a method of a comparison; `reference` has the same keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MethodSettings {
    /// What tables and keys call it; integrator and settings if not given.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The integrator; the scene's own, with its settings, if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integrator: Option<String>,
    /// Relative tolerance; that of the scene if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<f64>,
    /// Settings of the integrator, by name. Another integrator than the scene's begins with its defaults.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, f64>,
    /// Further values of the scene for this method, each `PATH=VALUE`; the reference has them too.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    /// What is varied, if it is something else than for the others.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub vary: String,
    /// Its own values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<f64>,
}

impl MethodSettings {
    /// What it is called.
    pub fn title(&self, own: &str) -> String {
        if !self.name.is_empty() {
            return self.name.clone();
        }
        let mut words = vec![self.integrator.as_deref().unwrap_or(own).to_owned()];
        words.extend(self.tolerance.map(|value| format!("tolerance={value}")));
        words.extend(self.settings.iter().map(|(name, value)| format!("{name}={value}")));
        words.extend(self.set.iter().cloned());
        words.join(" ")
    }
}

impl std::str::FromStr for MethodSettings {
    type Err = String;

    /// Reads `INTEGRATOR KEY=VALUE …`, with spaces or commas between: keys are settings or `tolerance`, those with a dot are paths of the scene. Without an integrator it
    /// is the scene's own.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut method = Self::default();
        for (k, word) in text.split([' ', ',']).filter(|word| !word.is_empty()).enumerate() {
            let Some((key, value)) = word.split_once('=') else {
                if k > 0 {
                    return Err(format!("`{text}`: `{word}` is not KEY=VALUE"));
                }
                method.integrator = Some(word.to_owned());
                continue;
            };
            if key.contains('.') {
                method.set.push(word.to_owned());
                continue;
            }
            let number: f64 = value.parse().map_err(|_| format!("`{text}`: `{value}` is not a number"))?;
            if key == "tolerance" {
                method.tolerance = Some(number);
            } else {
                method.settings.insert(key.to_owned(), number);
            }
        }
        Ok(method)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn methods_are_read_from_words() {
        let read = |text: &str| text.parse::<MethodSettings>();
        let method = read("galerkin_gauss degree=2, tolerance=1e-9 parameters.n=3").unwrap();
        assert_eq!(method.integrator.as_deref(), Some("galerkin_gauss"));
        assert_eq!((method.tolerance, method.settings["degree"]), (Some(1e-9), 2.0));
        assert_eq!(method.set, ["parameters.n=3"]);
        assert_eq!(method.title("dop853"), "galerkin_gauss tolerance=0.000000001 degree=2 parameters.n=3");
        assert_eq!(read("alpha=0").unwrap().title("variational"), "variational alpha=0");
        assert!(read("variational alpha").unwrap_err().contains("`alpha` is not KEY=VALUE"));
        assert!(read("variational alpha=half").unwrap_err().contains("`half` is not a number"));
    }
}
