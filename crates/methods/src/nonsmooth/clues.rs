//! What the zeros of switching functions say about the contacts, for the decision on what comes next.

use super::contacts::{Contacts, Mode};
use super::decide::Clue;
use super::hybrid::{FAINT, Hybrid};
use super::switching::Watched;
use crate::events::Hit;

/// The part of its press by which a force may stay within its cone and slip with others that have reached theirs.
const TOGETHER: f64 = 1e-8;

/// What the zeros say about the contacts.
pub(super) fn clues<Y: Contacts>(
    y: &Hybrid<'_, Y>,
    hits: &[Hit],
    functions: &[(usize, Watched)],
    forces: &[f64],
    closing: impl Fn(usize) -> bool,
) -> Vec<Clue> {
    let mut clues = vec![Clue::default(); y.modes().len()];
    for hit in hits {
        let (i, watched) = functions[hit.trigger];
        match watched {
            Watched::Press => clues[i].lifting = true,
            Watched::Cone | Watched::Shared => {
                let force = &forces[y.start(i) + 1..y.start(i + 1)];
                clues[i].slipping = Some([force[0], force.get(1).copied().unwrap_or(0.0)]);
            }
            Watched::Gap(_) | Watched::Advance(_) | Watched::Swerve => {}
        }
    }
    // A contact that has just lifted off is still where it touched. Unless it closes, it goes on.
    for (i, clue) in clues.iter_mut().enumerate() {
        let closes =
            hits.iter().any(|hit| matches!(functions[hit.trigger], (j, Watched::Gap(..)) if j == i && closing(i)));
        clue.lifting |= y.modes()[i] == Mode::Open && !closes;
    }
    // Where one reaches its cone, others that are as good as there reach it too: mirror images begin to slip together.
    if clues.iter().any(|clue| clue.slipping.is_some()) {
        for (i, clue) in clues.iter_mut().enumerate() {
            let own = &forces[y.start(i)..y.start(i + 1)];
            if let (Mode::Stick, &[press, first, second]) = (y.modes()[i], own)
                && y.model().excess(i, [first, second], press) > -TOGETHER * press
            {
                clue.slipping = Some([first, second]);
            }
        }
    }
    // A contact that has just begun to slip is still slower than what counts as rest. Unless it has stopped, it goes on. With two tangents a slip that stops may turn before it does.
    for (i, clue) in clues.iter_mut().enumerate() {
        let own = y.start(i) + 1..y.start(i + 1);
        let stopped = hits.iter().any(|hit| match functions[hit.trigger] {
            (j, Watched::Advance(_)) => j == i,
            (j, Watched::Swerve) => j == i && y.creep()[i] <= FAINT,
            _ => false,
        });
        if matches!(y.modes()[i], Mode::Slide { .. }) && !own.is_empty() && !stopped {
            let force = &forces[own];
            clue.slipping = Some([force[0], force.get(1).copied().unwrap_or(0.0)]);
        }
    }
    clues
}
