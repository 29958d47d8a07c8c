//! What every row of a sweep is, found from its number alone.
//!
//! Lists and grids make a product, the first one given varying slowest; each of its points has `samples` rows, which differ by random
//! parameters. A table of rows from a file takes the place of the product.

use crate::sample::{BASES, halton, hash, normal, uniform};
use serde::Deserialize;

/// The most rows a sweep may have: their results are held in memory.
const MOST: u64 = 10_000_000;

/// A value that a row gives to an entry of the scene.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number.
    Number(f64),
    /// A truth value.
    Truth(bool),
    /// A text, or anything else TOML can say.
    Text(String),
}

impl Value {
    /// As the right-hand side of a setting.
    fn setting(&self) -> String {
        match self {
            Self::Number(x) => format!("{x:?}"),
            Self::Truth(x) => x.to_string(),
            Self::Text(x) => format!("{x:?}"),
        }
    }
}

/// How points of random parameters are chosen.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sampling {
    /// Independently.
    #[default]
    Random,
    /// Evenly, by Halton's points.
    Halton,
}

/// How the points of a grid lie.
#[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Scale {
    /// At equal distances.
    #[default]
    Linear,
    /// At equal ratios.
    Logarithmic,
}

/// One entry of the scene that changes from row to row, as the file has it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Vary {
    path: String,
    values: Option<Vec<Value>>,
    grid: Option<[f64; 2]>,
    count: Option<u64>,
    #[serde(default)]
    scale: Scale,
    uniform: Option<[f64; 2]>,
    log_uniform: Option<[f64; 2]>,
    normal: Option<[f64; 2]>,
}

/// One entry, checked.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Varied {
    path: String,
    how: How,
}

#[derive(Clone, Debug, PartialEq)]
enum How {
    Listed(Vec<Value>),
    Uniform([f64; 2]),
    LogUniform([f64; 2]),
    Normal([f64; 2]),
}

impl Vary {
    /// Says what is wrong with it, or what it means.
    pub fn checked(self) -> Result<Varied, String> {
        let Self { path, values, grid, count, scale, uniform, log_uniform, normal } = self;
        let ways = [values.is_some(), grid.is_some(), uniform.is_some(), log_uniform.is_some(), normal.is_some()];
        if ways.into_iter().filter(|way| *way).count() != 1 {
            return Err(format!(
                "`{path}` is varied in one way: by `values`, `grid`, `uniform`, `log_uniform` or `normal`"
            ));
        }
        let finite = |[a, b]: [f64; 2]| a.is_finite() && b.is_finite();
        let ordered = |what: &str, [a, b]: [f64; 2]| match finite([a, b]) && a < b {
            true => Ok([a, b]),
            false => Err(format!("`{what}` of `{path}` needs two finite numbers, the smaller first, not [{a}, {b}]")),
        };
        if grid.is_none() && (count.is_some() || scale != Scale::Linear) {
            return Err(format!("`count` and `scale` of `{path}` belong to a `grid`"));
        }
        let how = if let Some(values) = values {
            if values.is_empty() {
                return Err(format!("`values` of `{path}` is empty"));
            }
            How::Listed(values)
        } else if let Some([a, b]) = grid {
            let count = count.ok_or(format!("the `grid` of `{path}` needs a `count` of points"))?;
            if !finite([a, b]) || !(2..=1_000_000).contains(&count) {
                return Err(format!(
                    "the `grid` of `{path}` needs two finite ends and a `count` of 2 to 1000000 points"
                ));
            }
            if scale == Scale::Logarithmic && !(a > 0.0 && b > 0.0) {
                return Err(format!("the ends of the logarithmic `grid` of `{path}` are positive, not [{a}, {b}]"));
            }
            How::Listed((0..count).map(|i| Value::Number(point([a, b], i, count, scale))).collect())
        } else if let Some(range) = uniform {
            How::Uniform(ordered("uniform", range)?)
        } else if let Some(range) = log_uniform {
            let [a, b] = ordered("log_uniform", range)?;
            if a <= 0.0 {
                return Err(format!("`log_uniform` of `{path}` needs positive numbers, not [{a}, {b}]"));
            }
            How::LogUniform([a, b])
        } else {
            let [mean, deviation] = normal.unwrap_or_default();
            if !(mean.is_finite() && deviation.is_finite() && deviation > 0.0) {
                return Err(format!(
                    "`normal` of `{path}` is [mean, standard deviation], the second positive, not [{mean}, {deviation}]"
                ));
            }
            How::Normal([mean, deviation])
        };
        Ok(Varied { path, how })
    }
}

/// Point `i` of `count`; both ends are exact.
fn point([a, b]: [f64; 2], i: u64, count: u64, scale: Scale) -> f64 {
    if i == 0 {
        return a;
    }
    if i + 1 == count {
        return b;
    }
    let part = i as f64 / (count - 1) as f64;
    match scale {
        Scale::Linear => a + (b - a) * part,
        Scale::Logarithmic => (a.ln() + (b.ln() - a.ln()) * part).exp(),
    }
}

/// Rows from a file: comma-separated, the first line names the entries.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Listed {
    paths: Vec<String>,
    rows: Vec<Vec<Value>>,
}

impl Listed {
    /// Reads the rows.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let (_, head) = lines.next().ok_or("the table is empty; its first line names the entries of the scene")?;
        let paths: Vec<String> = head.split(',').map(|word| word.trim().to_owned()).collect();
        let mut rows = Vec::new();
        for (number, line) in lines {
            let words: Vec<&str> = line.split(',').map(str::trim).collect();
            if words.len() != paths.len() {
                return Err(format!(
                    "line {} of the table has {} values, not {}",
                    number + 1,
                    words.len(),
                    paths.len()
                ));
            }
            let value = |word: &&str| match (word.parse::<f64>(), word.parse::<bool>()) {
                (Ok(x), _) => Value::Number(x),
                (_, Ok(x)) => Value::Truth(x),
                _ => Value::Text((*word).to_owned()),
            };
            rows.push(words.iter().map(value).collect());
        }
        if rows.is_empty() {
            return Err("the table has no rows".into());
        }
        Ok(Self { paths, rows })
    }
}

/// What every row is.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    vary: Vec<Varied>,
    listed: Option<Listed>,
    samples: u64,
    sampling: Sampling,
    seed: u64,
    seed_as: Option<String>,
    rows: u64,
}

impl Plan {
    pub(crate) fn new(
        vary: Vec<Varied>,
        listed: Option<Listed>,
        samples: Option<u64>,
        sampling: Sampling,
        seed: u64,
        seed_as: Option<String>,
    ) -> Result<Self, String> {
        let random = vary.iter().filter(|v| !matches!(v.how, How::Listed(_))).count();
        if random > 0 && samples.is_none() {
            return Err("random parameters need `samples`, the number of rows for each point".into());
        }
        let samples = samples.unwrap_or(1);
        if samples == 0 {
            return Err("`samples` is 1 or more".into());
        }
        if sampling == Sampling::Halton && random > BASES.len() {
            return Err(format!("at most {} parameters can be sampled by Halton's points, not {random}", BASES.len()));
        }
        let mut rows = samples.checked_mul(listed.as_ref().map_or(1, |l| l.rows.len() as u64));
        for v in &vary {
            if let How::Listed(values) = &v.how {
                rows = rows.and_then(|rows| rows.checked_mul(values.len() as u64));
            }
        }
        let rows = rows
            .filter(|rows| *rows <= MOST)
            .ok_or(format!("the sweep has more than {MOST} rows; make several of it"))?;
        let plan = Self { vary, listed, samples, sampling, seed, seed_as, rows };
        let mut names = plan.names();
        names.sort();
        if let Some(twice) = names.windows(2).find(|w| w[0] == w[1]) {
            return Err(format!("`{}` is varied twice", twice[0]));
        }
        Ok(plan)
    }

    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The entries of the scene that vary.
    pub fn names(&self) -> Vec<String> {
        let listed = self.listed.iter().flat_map(|l| l.paths.iter().cloned());
        listed.chain(self.vary.iter().map(|v| v.path.clone())).collect()
    }

    /// The seed of a row; it fits into a double exactly.
    pub fn seed(&self, row: u64) -> u64 {
        hash(self.seed, row, u64::MAX) >> 11
    }

    /// The values of a row, in the order of [`Plan::names`].
    pub fn values(&self, row: u64) -> Vec<Value> {
        let sample = row % self.samples;
        let mut rest = row / self.samples;
        let mut values = vec![Value::Truth(false); self.vary.len()];
        let mut random = 0;
        // From the last to the first, so that the first varies slowest.
        for (v, out) in self.vary.iter().zip(&mut values).rev() {
            if let How::Listed(list) = &v.how {
                *out = list[(rest % list.len() as u64) as usize].clone();
                rest /= list.len() as u64;
            }
        }
        for (v, out) in self.vary.iter().zip(&mut values) {
            let mut draw = || {
                let position = random;
                random += 1;
                match self.sampling {
                    Sampling::Random => uniform(self.seed, row, position as u64),
                    Sampling::Halton => halton(self.seed, sample, position),
                }
            };
            *out = Value::Number(match &v.how {
                How::Listed(_) => continue,
                How::Uniform([a, b]) => a + (b - a) * draw(),
                How::LogUniform([a, b]) => (a.ln() + (b.ln() - a.ln()) * draw()).exp(),
                How::Normal([mean, deviation]) => mean + deviation * normal(draw()),
            });
        }
        let listed = self.listed.iter().flat_map(|l| l.rows[(rest % l.rows.len() as u64) as usize].iter().cloned());
        listed.chain(values).collect()
    }

    /// The settings of a row for the scene.
    pub(crate) fn settings(&self, row: u64) -> Vec<String> {
        let values = self.values(row);
        let set = |(path, value): (String, Value)| format!("{path}={}", value.setting());
        let seed = self.seed_as.iter().map(|path| format!("{path}={}", self.seed(row)));
        self.names().into_iter().zip(values).map(set).chain(seed).collect()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn vary(text: &str) -> Result<Varied, String> {
        toml::from_str::<Vary>(text).unwrap().checked()
    }

    fn number(value: &Value) -> f64 {
        match value {
            Value::Number(x) => *x,
            _ => f64::NAN,
        }
    }

    #[test]
    fn grids_make_a_product_whose_first_entry_varies_slowest() {
        let a = vary("path = \"a\"\nvalues = [1, 2]").unwrap();
        let b = vary("path = \"b\"\ngrid = [1, 100]\ncount = 3\nscale = \"logarithmic\"").unwrap();
        let plan = Plan::new(vec![a, b], None, None, Sampling::Random, 0, None).unwrap();
        let rows: Vec<Vec<f64>> = (0..plan.rows()).map(|row| plan.values(row).iter().map(number).collect()).collect();
        let near = |row: &[f64], x: [f64; 2]| row.iter().zip(x).all(|(a, b)| (a - b).abs() < 1e-14 * b);
        let exact = [[1.0, 1.0], [1.0, 10.0], [1.0, 100.0], [2.0, 1.0], [2.0, 10.0], [2.0, 100.0]];
        assert!(rows.len() == 6 && rows.iter().zip(exact).all(|(row, x)| near(row, x)), "{rows:?}");
        assert_eq!((rows[2][1], rows[0][1]), (100.0, 1.0), "ends are exact");
    }

    #[test]
    fn samples_are_drawn_for_every_point_and_lie_in_their_range() {
        let a = vary("path = \"a\"\nvalues = [\"x\", \"y\"]").unwrap();
        let b = vary("path = \"b\"\nuniform = [2, 3]").unwrap();
        let c = vary("path = \"c\"\nlog_uniform = [1e-3, 1]").unwrap();
        for sampling in [Sampling::Random, Sampling::Halton] {
            let plan = Plan::new(vec![a.clone(), b.clone(), c.clone()], None, Some(50), sampling, 3, None).unwrap();
            assert_eq!(plan.rows(), 100);
            for row in 0..100 {
                let values = plan.values(row);
                let name = if row < 50 { "x" } else { "y" };
                assert_eq!(values[0], Value::Text(name.into()));
                let (b, c) = (number(&values[1]), number(&values[2]));
                assert!((2.0..3.0).contains(&b) && (1e-3..1.0).contains(&c), "{values:?}");
                assert_eq!(values, plan.values(row));
            }
        }
    }

    #[test]
    fn tables_take_the_place_of_grids() {
        let listed = Listed::parse("a, b\n1, true\n2.5, word\n").unwrap();
        let plan = Plan::new(Vec::new(), Some(listed), None, Sampling::Random, 0, Some("s".into())).unwrap();
        assert_eq!(plan.values(1), [Value::Number(2.5), Value::Text("word".into())]);
        assert_eq!(plan.settings(0)[..2], ["a=1.0", "b=true"]);
        assert!(plan.settings(0)[2].starts_with("s=") && plan.seed(0) < 1 << 53);
        assert!(Listed::parse("a,b\n1\n").unwrap_err().contains("line 2"));
    }

    #[test]
    fn contradictions_are_named() {
        for (text, part) in [
            ("path = \"a\"", "one way"),
            ("path = \"a\"\nvalues = [1]\nuniform = [0, 1]", "one way"),
            ("path = \"a\"\nvalues = []", "empty"),
            ("path = \"a\"\ngrid = [0, 1]", "count"),
            ("path = \"a\"\ngrid = [0, 1]\ncount = 3\nscale = \"logarithmic\"", "positive"),
            ("path = \"a\"\nuniform = [1, 1]", "smaller first"),
            ("path = \"a\"\nlog_uniform = [0, 1]", "positive"),
            ("path = \"a\"\nnormal = [0, 0]", "positive"),
            ("path = \"a\"\nvalues = [1]\ncount = 2", "belong to a `grid`"),
        ] {
            let found = vary(text).unwrap_err();
            assert!(found.contains(part), "{text}: {found}");
        }
        let twice = vec![vary("path = \"a\"\nvalues = [1]").unwrap(); 2];
        assert!(Plan::new(twice, None, None, Sampling::Random, 0, None).unwrap_err().contains("twice"));
        let random = vec![vary("path = \"a\"\nuniform = [0, 1]").unwrap()];
        let many = Plan::new(random.clone(), None, Some(u64::MAX), Sampling::Random, 0, None).unwrap_err();
        assert!(many.contains("more than 10000000 rows"), "{many}");
        assert!(Plan::new(random, None, None, Sampling::Random, 0, None).unwrap_err().contains("samples"));
    }
}
