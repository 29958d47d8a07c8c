//! The Jacobian of the constraints, constraint by constraint.

use super::{Work, plain};
use crate::bodies::Bodies;
use crate::constraints::{Constraints, MOST_ROWS};
use crate::model::{Model, Wrench};
use dalembert_methods::algebra::Rows;
use dalembert_methods::{Scalar, State};
use std::ops::Range;

impl Model {
    /// Adds the rows of one constraint to the Jacobian, as far as some of its markers make them: all, or those of a cluster.
    pub(super) fn rows_of<S: Scalar>(
        &self,
        i: usize,
        some: Range<usize>,
        s: &State<S>,
        w: &mut Work<S>,
        out: &mut Rows<S>,
    ) {
        let constraint = &self.constraints[i];
        let (markers, blocks) = (&constraint.markers[some.clone()], &self.layout.blocks_of[i][some]);
        w.gather(markers);
        let now = plain(s, &w.signals);
        let count = self.layout.rows[i].len();
        let mut gradients = [Wrench::default(); MOST_ROWS];
        let gradients = &mut gradients[..count];
        let rows = S::view::<Constraints, _>(&*constraint.item);
        // Rows between two markers do not change when both move as one rigid body: what acts on the first balances what acts
        // on the second.
        if let ([first, second], &[one, two], true) = (blocks, markers, self.layout.mutual[i]) {
            rows.gradient(&now, &w.at, 1, &mut w.scratch, gradients);
            self.add_rows(two, *second, &w.cache, gradients, out);
            let arm = w.at[1].r - w.at[0].r;
            for wrench in &mut *gradients {
                *wrench = Wrench { force: -wrench.force, torque: -wrench.torque - arm.cross(wrench.force) };
            }
            self.add_rows(one, *first, &w.cache, gradients, out);
            return;
        }
        let n = markers.len();
        if count == 1 && rows.gradients(&w.at, &mut w.wrenches[..n]) {
            for ((&marker, &block), gradient) in markers.iter().zip(blocks).zip(&w.wrenches) {
                self.add_rows(marker, block, &w.cache, std::slice::from_ref(gradient), out);
            }
            return;
        }
        for (k, (&marker, &block)) in markers.iter().zip(blocks).enumerate() {
            if block.is_some() {
                rows.gradient(&now, &w.at, k, &mut w.scratch, gradients);
                self.add_rows(marker, block, &w.cache, gradients, out);
            }
        }
    }

    /// Adds the gradients of rows with respect to the motion of a marker to a block of the Jacobian.
    fn add_rows<S: Scalar>(
        &self,
        marker: usize,
        block: Option<usize>,
        cache: &[S],
        gradients: &[Wrench<S>],
        out: &mut Rows<S>,
    ) {
        let Some(block) = block else { return };
        if self.layout.points[marker].is_some() {
            for (row, gradient) in out.block_mut(block).chunks_exact_mut(3).zip(gradients) {
                gradient.force.add_to(row);
            }
            return;
        }
        let marker = &self.markers[marker];
        let body = S::view::<Bodies, _>(&*self.bodies[marker.body].item);
        let cache = &cache[self.layout.cache[marker.body].clone()];
        let columns = self.layout.v[marker.body].len();
        for (row, gradient) in out.block_mut(block).chunks_exact_mut(columns).zip(gradients) {
            body.pull_back(&marker.site, cache, gradient, row);
        }
    }
}
