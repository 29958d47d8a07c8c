//! Steps of a model allocate nothing: the leech in flight, sliding on its wall with friction, and sticking to it.
#![allow(clippy::unwrap_used)]

#[path = "../../methods/tests/counting/mod.rs"]
mod counting;

use dalembert::methods::integrate::{Settings, create};
use dalembert::methods::nonsmooth::{Contacts, Hybrid, Mode};
use dalembert::model::Model;
use dalembert::scene::{Document, Limits, Overrides, Scene};
use dalembert::scenes;

/// The leech of the document with its front face on the wall, moving along it, with a volume for each segment.
fn leech(velocity: &str) -> Model {
    let settings = [
        "assembly.leech.position=[0, 0, 0]".to_owned(),
        "assembly.leech.compartments=\"each\"".to_owned(),
        format!("assembly.leech.velocity={velocity}"),
    ];
    let overrides: Overrides = settings.into_iter().collect();
    let text = scenes::find("leech").unwrap().text;
    let document = Document::from_text("leech", text, &overrides, &Limits::default()).unwrap();
    Scene::from_document(document).unwrap().model
}

#[test]
fn steps_with_closed_contacts_and_friction_do_not_allocate() {
    let slide = Mode::Slide { direction: [-1.0, 0.0] };
    for (front, velocity) in [(Mode::Open, "[1, 0, -1]"), (slide, "[0, 0, -1]"), (Mode::Stick, "[0, 0, 0]")] {
        let model = leech(velocity);
        let modes: Vec<Mode> =
            (0..Contacts::contacts(&model)).map(|i| if i < 4 { front } else { Mode::Open }).collect();
        let mut y = Hybrid::new(&model);
        y.set_modes(&modes);
        for method in ["mexx", "dopri5", "dop853", "radau"] {
            let mut integrator = create::<Hybrid<'_, Model>>(method, &Settings::default()).unwrap();
            let mut s = y.state(model.initial_state());
            integrator.start(&y, &mut s).unwrap();
            let mut between = s.clone();
            let before = counting::allocations();
            for _ in 0..5 {
                let until = s.t + 1.0;
                let step = integrator.step(&y, &mut s, until).unwrap();
                between.t = step.t + 0.3 * step.h;
                integrator.dense(&y, &mut between);
            }
            assert_eq!(counting::allocations() - before, 0, "{method}, {front:?}");
        }
    }
}
