//! Setting numbers of a model free: what a study varies becomes an entry of the free parameters p of a state.
//!
//! Coefficients of elements are set free where they are written ([`super::Param`]); signals are set free here: from then on elements that
//! use such a signal see p in its place. Its rate is taken to be zero, as it is between the nodes of a study that holds it constant there;
//! so signals that prescribe motions cannot be set free.

use super::{Model, ModelError};
use crate::signals::SignalRef;

impl Model {
    /// Gives the model `count` free parameters and lets some of them stand in the place of signals: pairs of a signal's name and a
    /// parameter. What was free before is given again.
    pub fn set_free(&mut self, count: usize, signals: &[(&str, usize)]) -> Result<(), ModelError> {
        let fault =
            |name: &str, message: String| ModelError { section: "signal", name: name.into(), key: None, message };
        self.driven.fill(None);
        for &(name, parameter) in signals {
            let Some(slot) = self.signals.iter().position(|signal| signal.name == name) else {
                let near = crate::scene::nearest(name, self.signals.iter().map(|signal| signal.name.as_str()));
                let hint = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
                return Err(fault(name, format!("there is no such signal{hint}")));
            };
            if parameter >= count {
                return Err(fault(
                    name,
                    format!("there are {count} free parameters, so none has the number {parameter}"),
                ));
            }
            let prescribes =
                |reference: &&mut SignalRef| matches!(reference, SignalRef::Named { name: own, .. } if own == name);
            let bound = self.constraints.iter_mut().find_map(|constraint| {
                let used = constraint.item.signals().iter().any(prescribes);
                used.then(|| format!("{}.{}", constraint.section, constraint.name))
            });
            if let Some(bound) = bound {
                return Err(fault(name, format!("it prescribes the motion of `{bound}` and cannot be set free")));
            }
            self.driven[slot] = Some(parameter);
        }
        self.layout.shape.p = count;
        Ok(())
    }
}
