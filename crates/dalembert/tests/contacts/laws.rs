//! What holds in every row of every scene with contacts: no penetration, no pull, no force outside the cone.

use super::{completed, finish, read};
use dalembert::methods::nonsmooth::Contacts;
use dalembert::model::Model;
use dalembert::run::Outcome;
use dalembert::scenes::ALL;

/// Checks all contacts of a run, in every recorded row, against their own cones.
fn obeys(name: &str, model: &Model, outcome: &Outcome, text: &str) {
    let hollow = text.contains("\nhollow = ");
    let names: Vec<String> = (0..Contacts::contacts(model)).map(|i| model.contact_name(i)).collect();
    let entry = |name: &str| name.rsplit_once('.').map(|(entry, _)| entry.to_owned());
    for i in 0..Contacts::contacts(model) {
        let contact = model.contact_name(i);
        let column = |part: &str| outcome.trajectory.column(&format!("{contact}.{part}"));
        let (gap, press, mode) = (column("gap").unwrap(), column("press").unwrap(), column("mode").unwrap());
        let frictions = [column("friction.1"), column("friction.2")];
        let others: Vec<&[f64]> = names
            .iter()
            .filter(|other| **other != contact && entry(other) == entry(&contact))
            .map(|other| outcome.trajectory.column(&format!("{other}.mode")).unwrap())
            .collect();
        let latch = format!("\nlatch = {{ end = {:?}", contact.rsplit('.').next().unwrap());
        let may_pull = contact.starts_with("body.") && text.contains(&latch);
        let largest = press.iter().fold(1e-3f64, |max, p| max.max(p.abs()));
        for row in 0..gap.len() {
            let at = outcome.trajectory.time()[row];
            // Through a hollow an open point passes only while another one of the same surface bears.
            let passes = hollow && mode[row] == 0.0 && others.iter().any(|mode| mode[row] > 0.0);
            assert!(gap[row] > -1e-10 || passes, "{name}, {contact}: gap {:e} at {at}", gap[row]);
            // A stop with a latch pulls while it holds.
            assert!(press[row] > -1e-10 * largest || may_pull, "{name}, {contact}: press {:e} at {at}", press[row]);
            assert!(mode[row] > 0.0 || press[row] == 0.0, "{name}, {contact}: open with a force at {at}");
            let force = frictions.map(|f| f.map_or(0.0, |f| f[row]));
            if model.tangents(i) > 0 {
                let outside = model.excess(i, force, press[row]);
                assert!(
                    outside <= 1e-9 * press[row] + 1e-10 * largest,
                    "{name}, {contact}: {outside:e} outside at {at}"
                );
            }
        }
    }
}

/// Everything is recorded, whatever the scene itself asks for.
const EVERYTHING: &str = "output.channels=[]";

#[test]
fn built_in_scenes_obey_the_laws_of_contact() {
    let mut seen = 0;
    for scene in ALL {
        let model = read(scene.name, scene.text, &[]).model;
        if Contacts::contacts(&model) > 0 {
            obeys(scene.name, &model, &completed(scene.name, &[EVERYTHING]), scene.text);
            seen += 1;
        }
    }
    assert!(seen >= 7, "{seen} scenes have contacts");
}

/// Every surface stops a ball that falls on it; with friction it comes to rest or rolls.
#[test]
fn all_surfaces_hold() {
    let surfaces = [
        ("plane", "normal = [0.2, 0, 1]"),
        ("sphere", "size = 3\ninside = true"),
        ("cylinder", "axis = [0, 1, 0.1]\nsize = 2\ninside = true"),
        ("height_field", "height = '0.2*sin(x) + 0.1*cos(2*y) - 0.5'"),
    ];
    for (kind, data) in surfaces {
        let text = format!(
            "[world]\ngravity = [0, 0, -9.81]\n\
             [body.ball]\nkind = 'rigid'\nmass = 1\ninertia = [0.004, 0.004, 0.004]\nposition = [0.1, 0.2, 0.5]\n\
             [contact.ground]\nkind = '{kind}'\nbetween = ['ground', 'ball']\n{data}\nradius = 0.1\nrestitution = 0.3\n\
             friction = {{ sliding = 0.3 }}\n[run]\nuntil = 2\ntolerance = 1e-9\n"
        );
        obeys(kind, &read(kind, &text, &[]).model, &finish(kind, &text, &[]), &text);
    }
}

/// Bad data is refused with the name of the element.
#[test]
fn bad_contacts_are_named() {
    let scene = |contact: &str| {
        format!(
            "[body.ball]\nkind = 'particle'\nmass = 1\nposition = [0, 0, 1]\n[contact.floor]\nkind = 'plane'\nbetween = ['ground', 'ball']\n{contact}\n"
        )
    };
    for (contact, expected) in [
        ("restitution = 1.5", "between 0 and 1"),
        ("friction = { sliding = 0.5, static = 0.2 }", "static friction must not be less"),
        ("friction = { sliding = -0.1 }", "must not be negative"),
        ("radius = -1", "a radius must not be negative"),
        ("normal = [0, 0, 0]", "a direction needs a length"),
        ("frition = { sliding = 1 }", "did you mean `friction`?"),
    ] {
        let document = dalembert::scene::Document::from_text(
            "bad",
            &scene(contact),
            &Default::default(),
            &dalembert::scene::Limits::default(),
        );
        let message = match dalembert::scene::Scene::from_document(document.unwrap()) {
            Err(error) => error.plain().to_string(),
            Ok(_) => panic!("{contact} was accepted"),
        };
        assert!(message.contains(expected), "{contact}: {message}");
        assert!(message.contains("bad:"), "{message}");
    }
    let twice = scene("").replace("'ball']", "'ball', 'ball']");
    let document = dalembert::scene::Document::from_text("bad", &twice, &Default::default(), &Default::default());
    let Err(error) = dalembert::scene::Scene::from_document(document.unwrap()) else { panic!("named twice") };
    assert!(error.plain().to_string().contains("`ball` is named twice"), "{}", error.plain());
    let inside = scene("offset = 2");
    let scene = read("inside", &inside, &[]);
    let Err(error) = dalembert::run::run(&scene, "inside", None, &mut ()) else { panic!("it starts inside") };
    assert!(error.to_string().contains("contact.floor"), "{error}");
    let placed = error.place(&scene).unwrap().plain().to_string();
    assert!(placed.contains("inside:5:"), "{placed}");
}
