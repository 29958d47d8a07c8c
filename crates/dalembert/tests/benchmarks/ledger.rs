//! A ledger that does not close makes a run fail visibly, with its results kept.

use dalembert::bodies::Particle;
use dalembert::element::About;
use dalembert::forces::Force;
use dalembert::methods::Real;
use dalembert::methods::vector::Vec3;
use dalembert::model::{Instant, Model, Place, Point, Wrench};
use dalembert::record::Status;
use dalembert::run::{Failure, run};
use dalembert::scene::Scene;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A force towards the origin whose energy has the wrong factor.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Careless {}

impl About for Careless {
    const KIND: &'static str = "careless";
    const SUMMARY: &'static str = "A spring that keeps its books badly.";
    fn sample() -> Self {
        Self {}
    }
}

impl Force for Careless {
    type Markers = Point;
    fn apply<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [Wrench<R>]) {
        out[0] = Wrench::force(Vec3(at[0].r.0.map(|x| -x)));
    }
    fn energy<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        at[0].r.norm_squared() * 0.4
    }
}

#[test]
fn careless_books_are_found_out() {
    let mut b = Model::builder();
    let bob = b.body("bob", Particle { mass: 1.0, position: [1.0, 0.0, 0.0], velocity: [0.0; 3] });
    let at = b.point("", bob, [0.0; 3]);
    b.force("books", Careless {}, at);
    let outcome = run(&Scene::new(b.build().unwrap()), "careless", None, &mut ()).unwrap();
    assert_eq!(outcome.summary.status, Status::Failed);
    assert!(!outcome.summary.ledger.closes);
    // ½ x² against 0.4 x²: up to a tenth of the squared amplitude goes missing; steps are coarser than the exact maximum.
    let Some(Failure::Ledger { imbalance, .. }) = outcome.failure else { panic!("no failure") };
    assert!(imbalance > 0.05 && imbalance < 0.1 + 1e-6, "{imbalance}");
    assert_eq!(outcome.trajectory.len(), 1001, "results are kept");
}

/// A damper with the wrong sign that says so itself: its books are right, but no material does this.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
struct Eager {}

impl About for Eager {
    const KIND: &'static str = "eager";
    const SUMMARY: &'static str = "A damper that drives.";
    fn sample() -> Self {
        Self {}
    }
}

impl Force for Eager {
    type Markers = Point;
    fn apply<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>], out: &mut [Wrench<R>]) {
        out[0] = Wrench::force(at[0].v * R::from(0.1));
    }
    fn dissipation<R: Real>(&self, _now: &Instant<'_, R>, at: &[Place<R>]) -> R {
        at[0].v.norm_squared() * -0.1
    }
}

#[test]
fn the_dissipation_inequality_is_watched() {
    let mut b = Model::builder();
    let bob = b.body("bob", Particle { mass: 1.0, position: [0.0; 3], velocity: [1.0, 0.0, 0.0] });
    let at = b.point("", bob, [0.0; 3]);
    b.force("engine", Eager {}, at);
    let outcome = run(&Scene::new(b.build().unwrap()), "eager", None, &mut ()).unwrap();
    let Some(Failure::Gain { force, dissipation, .. }) = &outcome.failure else { panic!("no failure") };
    assert_eq!(force, "force.engine");
    assert!(*dissipation <= -0.1, "{dissipation}");
    assert!(outcome.failure.unwrap().to_string().contains("creates energy"));
}
