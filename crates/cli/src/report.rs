//! `dalembert report`.

use crate::args::ReportOptions;
use crate::exit::Exit;
use crate::viewer;
use dalembert::record::{self, Record};
use dalembert::report::{Other, ReportInput, View, page, svg_files};
use dalembert::run::{Figures, figures, motion};
use dalembert::scene::{Document, Limits, Overrides, Scene};
use std::path::Path;

/// A record and the scene in it.
fn read(folder: &Path) -> Result<(Record, Scene), Exit> {
    let record = record::read(folder)?;
    let document = Document::from_text("scene.toml", &record.scene, &Overrides::none(), &Limits::default())?;
    Ok((record, Scene::from_document(document)?))
}

/// The view of an animation with the viewer, if this program has it.
pub fn view(animation: Option<&str>) -> Option<View<'_>> {
    animation.map(|animation| View { animation, script: viewer::script() })
}

/// Makes the report again from the record, or its pictures as files; other runs may be shown beside it.
pub fn report(options: &ReportOptions) -> Result<(), Exit> {
    let (record, scene) = read(&options.folder)?;
    let others = options.compare.iter().map(|folder| read(folder)).collect::<Result<Vec<_>, _>>()?;
    let motion = motion(&scene.model, &record.trajectory);
    let Figures { panels, shapes } = figures(&scene, &record.trajectory, &record.events);
    let other = |(record, scene): &'_ (Record, Scene)| figures(scene, &record.trajectory, &record.events).shapes;
    let input = ReportInput {
        steps: &record.steps,
        events: &record.events,
        scene_text: &record.scene,
        motion: motion.as_ref(),
        view: view(record.animation.as_deref()),
        figures: panels,
        shapes,
        others: others
            .iter()
            .map(|pair| Other {
                name: pair.0.summary.name.clone(),
                trajectory: &pair.0.trajectory,
                shapes: other(pair),
            })
            .collect(),
        ..ReportInput::new(&record.summary, &record.trajectory)
    };
    let Some(folder) = &options.svg else {
        record::replace_report(&options.folder, &page(&input))?;
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
