//! `dalembert export`.

use crate::args::ExportOptions;
use crate::exit::Exit;
use crate::rerun;
use dalembert::picture::{Animation, gltf, vtk};
use dalembert::record;
use std::path::Path;

/// Writes the motion of a run record for other programs.
pub fn export(options: &ExportOptions) -> Result<(), Exit> {
    if options.gltf.is_none() && options.vtk.is_none() && options.rerun.is_none() {
        return Err(Exit::Usage("say what to write: --gltf FILE, --vtk FOLDER, --rerun FILE or several".to_owned()));
    }
    let path = options.folder.join(record::files::ANIMATION);
    let text =
        std::fs::read_to_string(&path).map_err(|error| Exit::io(&format!("read `{}`", path.display()), &error))?;
    let unreadable = |error| Exit::Io(format!("cannot read `{}`: {error}", path.display()));
    let animation = Animation::from_json(&text).map_err(unreadable)?;
    if let Some(file) = &options.gltf {
        write(file, &gltf::write(&animation).map_err(unreadable)?)?;
        crate::print(&format!("{}\n", file.display()))?;
    }
    if let Some(folder) = &options.vtk {
        std::fs::create_dir_all(folder).map_err(|error| Exit::io(&format!("make `{}`", folder.display()), &error))?;
        let files = vtk::write(&animation, "motion").map_err(unreadable)?;
        for (name, content) in &files {
            write(&folder.join(name), content.as_bytes())?;
        }
        crate::print(&format!("{}\n", folder.join(&files[0].0).display()))?;
    }
    if let Some(file) = &options.rerun {
        rerun::write(&animation, file)?;
        crate::print(&format!("{}\n", file.display()))?;
    }
    Ok(())
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Exit> {
    std::fs::write(path, bytes).map_err(|error| Exit::io(&format!("write `{}`", path.display()), &error))
}
