//! The table `[front]` of a study: how the best compromises between all its goals are sought.

use super::{Study, StudyError, bound};
use dalembert_optimise::Bound;
use dalembert_optimise::pareto::{Method, Options};

/// A front that a study asks for.
#[derive(Clone, Debug)]
pub struct FrontSearch {
    /// How it is sought.
    pub options: Options,
    /// The range that matters of each goal.
    pub within: Vec<Bound>,
}

impl Study {
    /// The front that is wanted, if any is.
    pub fn front(&self) -> Result<Option<FrontSearch>, StudyError> {
        let Some(table) = &self.read.front else { return Ok(None) };
        let goals = &self.read.goal;
        let names = || goals.iter().map(|g| g.name.get_ref().as_str()).collect::<Vec<_>>().join(", ");
        if goals.len() < 2 {
            let at = goals.first().map_or(0, |g| g.name.span().start);
            return Err(self.fault(at, "a front needs two goals at least"));
        }
        let word = table.method.as_ref().map_or("reference", |method| method.get_ref().as_str());
        let at = table.method.as_ref().map_or(0, |method| method.span().start);
        let method = match word {
            "reference" => Method::Reference,
            "intersection" => Method::Intersection,
            "rays" => Method::Rays,
            "constraint" => {
                let Some(least) = &table.least else {
                    return Err(self.fault(at, "`constraint` needs `least`, the goal that is minimised"));
                };
                let primary = goals.iter().position(|g| g.name.get_ref() == least.get_ref()).ok_or_else(|| {
                    let message = format!("there is no goal `{}`; there are {}", least.get_ref(), names());
                    self.fault(least.span().start, message)
                })?;
                Method::Constraint { primary }
            }
            other => {
                let expected = "reference, constraint, intersection or rays";
                return Err(self.fault(at, format!("there is no method `{other}` of fronts; expected {expected}")));
            }
        };
        let plain = Options::default();
        let options = Options {
            method,
            spacing: table.spacing.unwrap_or(plain.spacing),
            samples: table.samples.unwrap_or(plain.samples),
            range: table.bend.unwrap_or(plain.range),
            seed: table.seed.unwrap_or(plain.seed),
            starts: table.starts.unwrap_or(plain.starts),
            attempts: table.attempts.unwrap_or(plain.attempts),
            rounds: table.rounds.unwrap_or(plain.rounds),
            behind: table.behind.unwrap_or(plain.behind),
            apart: table.apart.or(plain.apart),
            most: table.most.unwrap_or(plain.most),
            interior: self.interior(),
            sequences: table.sequences.then(|| self.sequence()),
        };
        let within = goals.iter().map(|g| bound(g.within.as_ref())).collect();
        Ok(Some(FrontSearch { options, within }))
    }
}
