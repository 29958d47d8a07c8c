//! `dalembert run`.

use crate::args::RunOptions;
use crate::exit::Exit;
use crate::watch::Terminal;
use crate::{print, report, source};
use dalembert::picture::Animation;
use dalembert::record::{self, Checkpoint, Contents, Status, Summary};
use dalembert::report::{ReportInput, page};
use dalembert::run::{Figures, Outcome, figures, run as simulate};
use dalembert::scene::Scene;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Runs a scene and writes its record.
pub fn run(options: &RunOptions) -> Result<(), Exit> {
    let every = Duration::try_from_secs_f64(options.checkpoint_every)
        .map_err(|_| Exit::Usage("--checkpoint-every needs a number of seconds that is not negative".to_owned()))?;
    let mut more = Vec::new();
    let mut give = |key: &str, value: Option<String>| more.extend(value.map(|value| format!("run.{key}={value}")));
    give("until", options.until.map(|x| format!("{x:?}")));
    give("tolerance", options.tolerance.map(|x| format!("{x:?}")));
    give("integrator", options.integrator.as_ref().map(|name| format!("{name:?}")));
    let (scene, name) = source::load(&options.scene, &more)?;
    let folder = options.out.clone().unwrap_or_else(|| Path::new("runs").join(&name));
    record::check_destination(&folder)?;
    let checkpoint = if options.resume { Some(find_checkpoint(&folder)?) } else { None };

    let show = !options.json && !options.quiet && std::io::stderr().is_terminal();
    let place = (!every.is_zero()).then(|| (record::running_checkpoint(&folder), every));
    let mut terminal = Terminal::new([scene.run.start, scene.run.until], show, place);
    let began = Instant::now();
    let outcome = simulate(&scene, &name, checkpoint.as_ref(), &mut terminal);
    terminal.finish();
    let mut outcome = outcome.map_err(|error| Exit::start(&error, &scene))?;
    outcome.summary.wall_time = began.elapsed().as_secs_f64();

    write(&folder, &scene, &outcome).map_err(|exit| kept(exit, &folder, &outcome))?;
    if options.json {
        print(&outcome.summary.to_json())?;
    } else if !options.quiet {
        print(&table(&outcome.summary, &folder))?;
    }
    if let Some(trouble) = terminal.trouble {
        eprintln!("warning: a checkpoint could not be written: {trouble}");
    }
    match (outcome.failure, outcome.summary.status) {
        (Some(failure), _) => Err(failure.into()),
        (None, Status::Interrupted) => {
            if !options.json && !options.quiet {
                eprintln!("interrupted at t = {} s; continue with --resume", outcome.summary.end_time);
            }
            Err(Exit::Interrupted)
        }
        (None, _) => Ok(()),
    }
}

/// What is left of a run whose record cannot be written, told with the reason. An interrupted run is worth a try at its checkpoint alone, which is smaller.
fn kept(exit: Exit, folder: &Path, outcome: &Outcome) -> Exit {
    let Exit::Io(reason) = exit else { return exit };
    if let Some(checkpoint) = &outcome.checkpoint {
        // What is said below is whether there is one, so the reason why not is not lost.
        let _ = checkpoint.write(&record::running_checkpoint(folder));
    }
    let end = outcome.summary.end_time;
    let rest = match record::find_checkpoint(folder) {
        Some(path) => format!("`{}` is kept, and --resume goes on from there", path.display()),
        None => "there is no checkpoint to go on from (--checkpoint-every)".to_owned(),
    };
    Exit::Io(format!("{reason}\nthe run has come to t = {end} s, but its record is not written; {rest}"))
}

fn find_checkpoint(folder: &Path) -> Result<Checkpoint, Exit> {
    let path: PathBuf = record::find_checkpoint(folder).ok_or_else(|| {
        Exit::Usage(format!("there is no checkpoint in or beside `{}`; run without --resume", folder.display()))
    })?;
    Ok(Checkpoint::read(&path)?)
}

/// Writes the record of a run.
pub fn write(folder: &Path, scene: &Scene, outcome: &Outcome) -> Result<(), Exit> {
    let Outcome { summary, trajectory, steps, events, scene: scene_text, film, .. } = outcome;
    let motion = dalembert::run::motion(&scene.model, trajectory);
    let title = if summary.title.is_empty() { &summary.name } else { &summary.title };
    let animation = Animation::new(&scene.model, title, film, events).map(|animation| animation.to_json());
    let (motion, view) = (motion.as_ref(), report::view(animation.as_deref()));
    let Figures { panels: figures, shapes } = figures(scene, trajectory, events);
    let plain = ReportInput::new(summary, trajectory);
    let page = page(&ReportInput { steps, events, scene_text, motion, view, figures, shapes, ..plain });
    let contents = Contents {
        scene: &outcome.scene,
        summary: &outcome.summary,
        trajectory: &outcome.trajectory,
        steps: &outcome.steps,
        events: &outcome.events,
        animation: animation.as_deref(),
        report: Some(&page),
        checkpoint: outcome.checkpoint.as_ref(),
    };
    Ok(record::write(folder, &contents)?)
}

/// The result at a glance.
fn table(summary: &Summary, folder: &Path) -> String {
    use std::fmt::Write;
    let mut out = String::new();
    let count = |name: &str| summary.counts.get(name).copied().unwrap_or(0);
    let ledger = &summary.ledger;
    let mut line = |label: &str, text: String| {
        let _ = writeln!(out, "  {label:<12} {text}");
    };
    let title = if summary.title.is_empty() { summary.name.clone() } else { summary.title.clone() };
    line("scene", title);
    line("status", summary.status.to_string());
    line("time", format!("{} s to {} s in {:.3} s", summary.start_time, summary.end_time, summary.wall_time));
    line(
        "integrator",
        format!(
            "{}, tolerance {:e}: {} steps, {} rejected, {} force evaluations",
            summary.integrator,
            summary.tolerance.unwrap_or_default(),
            count("steps"),
            count("rejected"),
            count("forces")
        ),
    );
    if let Some(advice) = summary.advice() {
        line("advice", advice);
    }
    let energies = |b: &record::Balance| {
        format!(
            "kinetic {:.6e}, potential {:.6e}, dissipated {:.6e}, supplied {:.6e} J",
            b.kinetic, b.potential, b.dissipated, b.supplied
        )
    };
    line("at start", energies(&ledger.start));
    line("at end", energies(&ledger.end));
    if ledger.lost_in_impacts != 0.0 || ledger.lost_in_sliding != 0.0 {
        let (impacts, sliding) = (ledger.lost_in_impacts, ledger.lost_in_sliding);
        line("contacts", format!("lost in impacts {impacts:.6e} J, in sliding {sliding:.6e} J"));
    }
    let verdict = if ledger.closes { "closes" } else { "DOES NOT CLOSE" };
    line("ledger", format!("{verdict}: worst {:.3e} J, allowed {:.3e} J", ledger.worst_imbalance, ledger.allowance));
    line(
        "momentum",
        format!("linear {:?} kg m/s, angular {:?} kg m²/s", ledger.end.linear_momentum, ledger.end.angular_momentum),
    );
    line(
        "residuals",
        format!("position {:.3e}, velocity {:.3e}", ledger.worst_position_residual, ledger.worst_velocity_residual),
    );
    if summary.events > 0 {
        line("events", summary.events.to_string());
    }
    line("record", folder.display().to_string());
    line("report", folder.join("report.html").display().to_string());
    out
}
