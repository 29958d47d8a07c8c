//! Bad input: each is refused before the first step, by name, with what was expected.

use super::scene;
use dalembert::run::check;

const GOOD: &str = r#"
[world]
gravity = [0, 0, -9.81]

[assembly.blob]
kind = "soft"
shape = { disc = { radius = 0.5 } }
density = 1000
material = { neo_hookean = { modulus = 6e4 } }
position = [0, 0, 0.6]
rest_distance = 0.002
"#;

fn refused(change: (&str, &str), words: &str) {
    assert!(GOOD.contains(change.0), "{}", change.0);
    let text = GOOD.replace(change.0, change.1);
    let message = match scene(&text, &[]) {
        Err(message) => message,
        Ok(scene) => match check(&scene) {
            Err(error) => error.to_string(),
            Ok(_) => panic!("taken: {change:?}"),
        },
    };
    assert!(message.contains(words), "{change:?}: {message}");
}

#[test]
fn bad_bodies() {
    assert!(check(&scene(GOOD, &[]).unwrap()).is_ok());
    refused(("radius = 0.5", "radius = -0.5"), "`radius` must be positive");
    refused(("{ disc = { radius = 0.5 } }", "{ polygon = { vertices = [[0, 0], [0, 1], [1, 0]] } }"), "inside out");
    refused(("density = 1000", "density = -1"), "density must be positive");
    refused(("modulus = 6e4", "modulus = -6e4"), "modulus must be positive and finite, found -60000 Pa");
    refused(("density = 1000", "density = 1000\nviscosity = -1"), "`viscosity` must not be negative");
    refused(("density = 1000", "density = 1000\ngradient = [[-1, 0, 0], [0, 1, 0], [0, 0, 1]]"), "inside out");
    refused(
        ("density = 1000", "density = 1000\nmode = \"parametrised\"\ngradient = [[2, 0, 0], [0, 1, 0], [0, 0, 1]]"),
        "determinant must be 1",
    );
    refused(("density = 1000", "density = 1000\nmode = \"rigid\""), "a rigid body has no material");
    refused(("density = 1000", "density = 1000\nmode = \"compressible\""), "needs a bulk modulus");
    refused(("material = { neo_hookean = { modulus = 6e4 } }", ""), "needs a material");
}

#[test]
fn bad_contacts() {
    refused(("0.6]", "0.4]"), "the support is inside the body");
    refused(("rest_distance = 0.002", "rest_distance = -0.002"), "a distance must be positive");
    refused(("gravity = [0, 0, -9.81]", "gravity = [0, 0, 0]"), "nothing rests");
    refused(("rest_distance = 0.002", "rest_distance = 0.002\ndamping = { coefficient = -1 }"), "must not be negative");
    refused(
        ("rest_distance = 0.002", "rest_distance = 0.002\ndamping = { coefficient = 1, power = 1 }"),
        "from 2 to 24",
    );
    refused(
        ("rest_distance = 0.002", "rest_distance = 0.002\nfriction = { coefficient = { balance = 1 } }"),
        "no meaning here",
    );
    refused(("rest_distance = 0.002", "rest_distance = 0.002\nadhesion = { attraction = -1 }"), "must not be negative");
    refused(
        ("rest_distance = 0.002", "rest_distance = 0.002\nsupports = [{ normal = [0, 1, 1], at = [0, -3, -3] }]"),
        "contains its y axis",
    );
    refused(
        ("rest_distance = 0.002", "rest_distance = 0.002\nsupports = [{ normal = [0, 0, 0] }]"),
        "must not be zero",
    );
    let coulomb = "rest_distance = 0.002\ncoulomb = { friction = 0.3, regular_speed = 0 }";
    refused(("rest_distance = 0.002", coulomb), "speeds must be positive");
}

#[test]
fn bad_contractions() {
    let with = |law: &str| format!("density = 1000\ncontraction = {law}");
    let matrix = "{ matrix = [[1, 0, 0], [0, 1, 0], [0, 0, -1]] }";
    refused(("density = 1000", &with(matrix)), "determinant of the relaxed shape must be positive");
    refused(
        ("density = 1000", &with("{ stretch = { stretch = -1 } }")),
        "determinant of the relaxed shape must be positive",
    );
    refused(("density = 1000", &with("{ stretch = { stretch = 1, angle = 1 } }")), "`normal`, which is not given");
    refused(("density = 1000", &with("{ driven = { couple = 1, resistance = 0 } }")), "must be positive");
    refused(("density = 1000", &with("{ driven = { resistance = 1 } }")), "`couple` or `couples`");
    refused(("density = 1000", &with("{ stretch = { stretch = \"pulse\" } }")), "there is no signal `pulse`");
}

#[test]
fn bad_frames() {
    let text = "[body.p]\nkind = \"particle\"\nmass = 1\n[force.m]\nkind = \"elastic\"\non = \"p\"\nvolume = 1\n\
                material = { neo_hookean = { modulus = 1 } }\n";
    let message = scene(text, &[]).err().unwrap();
    assert!(message.contains("a single point that cannot deform"), "{message}");
    let marker = "[body.b]\nkind = \"affine\"\nshape = { sphere = { radius = 1 } }\ndensity = 1\nmarkers.tip = { at = [1, 0, 0] }\n\
                  [force.m]\nkind = \"elastic\"\non = \"b.tip\"\nvolume = 1\nmaterial = { neo_hookean = { modulus = 1 } }\n";
    let message = scene(marker, &[]).err().unwrap();
    assert!(message.contains("the deformation of a whole body is needed"), "{message}");
    let turned =
        marker.replace("at = [1, 0, 0] }", "orientation = { axis = [0, 0, 1], angle = 1 } }").replace("b.tip", "b");
    let message = scene(&turned, &[]).err().unwrap();
    assert!(message.contains("no orientation"), "{message}");
}
