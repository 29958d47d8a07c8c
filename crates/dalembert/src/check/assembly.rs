//! Laws of assemblies.

use super::{Law, Random, Violation};
use crate::assemblies::AnyAssembly;
use crate::model::{Builder, ModelError};

/// The laws every assembly keeps.
pub const LAWS: &[Law<dyn AnyAssembly>] = &[Law { name: "sample", holds: sample }];

/// What it makes is a model without defects, and its elements can start at any time.
fn sample(assembly: &(dyn AnyAssembly + 'static), random: &mut Random) -> Result<(), Violation> {
    let start = 1.0 + random.number();
    let mut builder = Builder::new();
    let broken = |errors: Vec<ModelError>| {
        let messages: Vec<_> = errors.iter().map(ToString::to_string).collect();
        Violation { message: messages.join("; ") }
    };
    assembly.assemble("sample", start, &mut builder).map_err(broken)?;
    let model = builder.build().map_err(broken)?;
    let mut state = model.initial_state();
    state.t = start;
    let defects = model.defects_at(&state);
    if defects.is_empty() { Ok(()) } else { Err(broken(defects)) }
}
