//! `cargo xtask solar`: the solar system by variational integrators and by REBOUND, planet by planet. `cargo xtask figures`: the other studies of variational
//! integrators, as figures.

use crate::peers::environment;
use crate::shell::{self, Outcome, cargo, command, root, target, write};
use std::path::{Path, PathBuf};

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
    let tables = tables()?;
    let mut own = cargo(&["bench", "--quiet", "--package", "dalembert-methods", "--bench", "solar", "--"]);
    let ours = shell::output(own.arg(&state).arg(days).arg(&truth).arg(&tables))?;
    let mut race = command(&python, &["benches/peers/solar.py"]);
    let theirs = shell::output(race.arg(&state).arg(days).arg(&truth))?;
    let scene = timed_scene(days)?;
    println!("{ours}{theirs}{scene}");
    let page = root().join("docs/src/variational.md");
    let text = std::fs::read_to_string(&page).map_err(|error| format!("cannot read {}: {error}", page.display()))?;
    write(&page, &insert(&text, &format!("{}\n{scene}", table(&ours, &theirs)))?)?;
    draw(&tables)
}

/// The scene itself by the program, in one sentence: how long it took and how well its ledger closes.
fn timed_scene(days: &str) -> Outcome<String> {
    let (out, set) = (target().join("solar-system"), format!("parameters.days={days}"));
    let mut own = cargo(&["run", "--release", "--quiet", "--package", "dalembert-cli", "--bin", "dalembert", "--"]);
    let summary = shell::output(own.args(["run", "solar-system", "--json", "--set", &set, "--out"]).arg(&out))?;
    let number = |key: &str| {
        let found = summary.split_once(&format!("\"{key}\":"))?.1;
        found.trim_start().split([',', '}', '\n']).next()?.trim().parse::<f64>().ok()
    };
    let (Some(seconds), Some(off)) = (number("wall_time"), number("worst_imbalance")) else {
        return Err("the summary of the scene has no time or no ledger".into());
    };
    Ok(format!(
        "The scene itself, `dalembert run solar-system --set {set}`, took {seconds:.1} s with its ledger and 5000 rows of output; its energy is off by {off:.1e} J at most.\n"
    ))
}

/// Draws the figures of all other studies of variational integrators.
pub fn figures(arguments: &[String]) -> Outcome {
    let tables = tables()?;
    let mut studies = cargo(&["bench", "--package", "dalembert-methods", "--bench", "variational", "--"]);
    shell::run(studies.arg(&tables).args(arguments))?;
    draw(&tables)
}

/// The folder of the tables of figures.
fn tables() -> Outcome<PathBuf> {
    let folder = target().join("figures");
    std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    Ok(folder)
}

/// Draws all tables there are.
fn draw(tables: &Path) -> Outcome {
    // Built with the features of the tests, so that little is built anew.
    shell::run(&mut cargo(&["build", "--quiet", "--workspace", "--example", "chart_tables"]))?;
    let example = target().join("debug/examples").join(format!("chart_tables{}", std::env::consts::EXE_SUFFIX));
    shell::run(command(example, &[]).arg(tables).arg(root().join("docs/src/pictures")))
}

/// What stands around the table of the page.
const MARKS: [&str; 2] = ["<!-- solar: written by `cargo xtask solar` -->\n", "<!-- end of solar -->"];

/// The page with its table written anew.
fn insert(page: &str, table: &str) -> Outcome<String> {
    let [begin, end] = MARKS;
    let found = page.split_once(begin).and_then(|(before, rest)| Some((before, rest.split_once(end)?.1)));
    let (before, after) = found.ok_or("the page has no place for the table")?;
    Ok(format!("{before}{begin}\n{table}\n{end}{after}"))
}

/// The lines of both programs as a table: method, errors, energy, days, seconds; a method that ended before has a dash.
fn table(ours: &str, theirs: &str) -> String {
    let planets = "mercury venus earth moon mars jupiter saturn uranus neptune pluto".split(' ').collect::<Vec<_>>();
    let mut out = format!("| | {} | energy, worst | in the last tenth | days | CPU s |\n", planets.join(" | "));
    out += &format!("|{}\n", "---|".repeat(planets.len() + 5));
    let lines = ours.lines().map(|line| ("", line)).chain(theirs.lines().map(|line| ("REBOUND, ", line)));
    for (who, line) in lines.filter(|(_, line)| line.chars().count() > 34) {
        let (name, rest) = line.split_at(line.char_indices().nth(34).map_or(line.len(), |(at, _)| at));
        let numbers: Vec<&str> = rest.split_whitespace().collect();
        let is_value = |word: &&str| *word == "-" || word.parse::<f64>().is_ok();
        let is_row = numbers.len() >= planets.len() + 4 && numbers.iter().all(is_value);
        if is_row {
            out += &format!("| {who}{} | {} |\n", name.trim(), numbers[..planets.len() + 4].join(" | "));
        }
    }
    out
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
