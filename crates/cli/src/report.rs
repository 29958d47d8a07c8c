//! `dalembert report`.

use crate::args::ReportOptions;
use crate::exit::Exit;
use crate::viewer;
use dalembert::methods::trajectory::{Event, Trajectory};
use dalembert::record::{self, Summary};
use dalembert::report::stroboscope::Motion;
use dalembert::report::{ReportInput, View, automatic_panels, page as html, svg_files};
use dalembert::run::motion;
use dalembert::scene::{Document, Limits, Overrides, Scene};

/// The report of a run as a page.
pub fn page(
    summary: &Summary,
    trajectory: &Trajectory,
    steps: &[(f64, f64)],
    events: &[Event],
    scene_text: &str,
    motion: Option<&Motion>,
    animation: Option<&str>,
) -> String {
    html(&ReportInput {
        summary,
        trajectory,
        steps,
        events,
        scene_text,
        panels: automatic_panels(trajectory.channels()),
        motion,
        view: view(animation),
    })
}

/// The view of an animation with the viewer, if this program has it.
fn view(animation: Option<&str>) -> Option<View<'_>> {
    animation.map(|animation| View { animation, script: viewer::script() })
}

/// Makes the report again from the record, or its pictures as files.
pub fn report(options: &ReportOptions) -> Result<(), Exit> {
    let record = record::read(&options.folder)?;
    let document = Document::from_text("scene.toml", &record.scene, &Overrides::none(), &Limits::default())?;
    let scene = Scene::from_document(document)?;
    let motion = motion(&scene.model, &record.trajectory);
    let input = ReportInput {
        summary: &record.summary,
        trajectory: &record.trajectory,
        steps: &record.steps,
        events: &record.events,
        scene_text: &record.scene,
        panels: automatic_panels(record.trajectory.channels()),
        motion: motion.as_ref(),
        view: view(record.animation.as_deref()),
    };
    let Some(folder) = &options.svg else {
        let page = html(&input);
        record::replace_report(&options.folder, &page)?;
        return crate::print(&format!("{}\n", options.folder.join("report.html").display()));
    };
    std::fs::create_dir_all(folder).map_err(|error| Exit::io(&format!("make `{}`", folder.display()), &error))?;
    for (name, svg) in svg_files(&input) {
        let path = folder.join(name);
        std::fs::write(&path, svg).map_err(|error| Exit::io(&format!("write `{}`", path.display()), &error))?;
        crate::print(&format!("{}\n", path.display()))?;
    }
    Ok(())
}
