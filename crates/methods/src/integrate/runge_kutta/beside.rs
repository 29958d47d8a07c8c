//! The parts of a step that need rates, with rates computed in company; all else is that of a step alone.

use super::stages::Scratch;
use crate::integrate::control::{Largest, Tolerance};
use crate::integrate::{Company, IntegrateError};
use crate::system::{State, System};
use std::ops::Range;

impl<Y: System> Scratch<Y> {
    /// As [`Scratch::rebase`].
    pub(super) async fn rebase_beside(
        &mut self,
        y: &Y,
        s: &State<f64>,
        company: &mut impl Company<Y>,
    ) -> Result<(), IntegrateError> {
        if self.move_to(y, s) {
            self.evaluate_beside(y, 0, company).await?;
        }
        self.moved();
        Ok(())
    }

    /// Makes stages of a step from the base all at once, if others can.
    async fn stages_beside(&mut self, range: Range<usize>, end: f64, company: &mut impl Company<Y>) -> bool {
        let count = range.len();
        let (base, stages, slopes) = self.ahead(range, end);
        let made = count > 0 && company.stages(base, &stages, slopes).await;
        if made {
            self.credit(count);
        }
        made
    }

    /// As [`Scratch::attempt`].
    pub(super) async fn attempt_beside(
        &mut self,
        y: &Y,
        tolerance: Tolerance,
        end: f64,
        company: &mut impl Company<Y>,
    ) -> Result<Largest, IntegrateError> {
        if self.stages_beside(self.needed(), end, company).await {
            self.advance(y, self.stages(), end);
            return Ok(self.errors(tolerance, end));
        }
        for i in 1..=self.stages() {
            if self.advance(y, i, end) {
                self.evaluate_beside(y, i, company).await?;
            }
        }
        Ok(self.errors(tolerance, end))
    }

    /// As [`Scratch::finish`].
    pub(super) async fn finish_beside(
        &mut self,
        y: &Y,
        tolerance: Tolerance,
        end: f64,
        company: &mut impl Company<Y>,
    ) -> Result<(), IntegrateError> {
        if self.lacks_end(end) {
            self.evaluate_beside(y, self.stages(), company).await?;
        }
        let negligible = self.negligible(tolerance);
        let (dynamics, stage) = self.projected();
        match dynamics.project_beside(y, stage, tolerance.relative, negligible, company).await {
            Some(moved) => self.settled(moved, end),
            None => return self.settle(y, tolerance, end),
        }
        Ok(())
    }

    /// The further stages of continuous output, which [`Scratch::dense`] evaluates itself if they are not there.
    pub(super) async fn complete_beside(&mut self, y: &Y, company: &mut impl Company<Y>) {
        let (further, end) = (self.further(), self.end().t);
        if self.stages_beside(further.clone(), end, company).await {
            return;
        }
        for i in further {
            self.advance_dense(y, i);
            if self.evaluate_beside(y, i, company).await.is_err() {
                self.fail_dense();
                break;
            }
        }
    }
}
