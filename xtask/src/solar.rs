//! `cargo xtask solar`: the solar system by variational integrators and by REBOUND, planet by planet.

use crate::peers::environment;
use crate::shell::{self, Outcome, cargo, command, root, write};

/// Runs the bench `solar` and the outside tool on the same state against the same truth.
pub fn run(arguments: &[String]) -> Outcome {
    let days = match arguments {
        [] => "1e6",
        [one] => one,
        _ => return Err("expected nothing or a number of days".into()),
    };
    let (folder, python) = environment(&["numpy", "rebound"])?;
    let (state, truth) = (folder.join("solar-state.txt"), folder.join("solar-truth.txt"));
    let scene = root().join("crates/dalembert/scenes/solar-system.toml");
    let text = std::fs::read_to_string(&scene).map_err(|error| format!("cannot read {}: {error}", scene.display()))?;
    write(&state, &lines(&text))?;
    let mut own = cargo(&["bench", "--package", "dalembert-methods", "--bench", "solar", "--"]);
    shell::run(own.arg(&state).arg(days).arg(&truth))?;
    let mut race = command(&python, &["benches/peers/solar.py"]);
    shell::run(race.arg(&state).arg(days).arg(&truth))
}

/// The bodies of the scene as lines `name GM x y z vx vy vz`.
fn lines(scene: &str) -> String {
    let mut out = String::new();
    for line in scene.lines() {
        let numbers = |value: &str| value.trim().trim_matches(['[', ']']).replace(',', "");
        if let Some(name) = line.strip_prefix("[body.") {
            out.push_str(&format!("\n{}", name.trim_end_matches(']')));
        } else if let Some((key, value)) = line.split_once(" = ")
            && ["mass", "position", "velocity"].contains(&key)
        {
            out.push_str(&format!(" {}", numbers(value)));
        }
    }
    format!("{}\n", out.trim_start())
}
