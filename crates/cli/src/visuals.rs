//! What the links of an imported robot look like, as shapes of a scene.

use dalembert::model::Orientation;
use dalembert::picture::{Look, MOST_BYTES, MeshFile, Triangles, Tube};
use dalembert::shapes::{Ball, Brick, Ellipsoid};
use dalembert_methods::lie::Quat;
use dalembert_robots::{Imported, LeftOut, Visual, VisualForm};
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// How many folders above the robot file are searched for meshes of packages.
const FOLDERS_ABOVE: usize = 6;

/// The shapes of a robot and what could not be taken over. Mesh files are looked for beside the robot file, and named relative to the
/// folder of the scene.
pub fn looks(robot: &Imported, model: &Path, folder: &Path) -> (Vec<Look>, Vec<LeftOut>) {
    let mut looks = Vec::new();
    let mut left_out = Vec::new();
    for visual in &robot.visuals {
        match look(robot, visual, model, folder) {
            Ok(look) => looks.push(look),
            Err(what) => left_out.push(LeftOut { place: visual.place, what }),
        }
    }
    (looks, left_out)
}

fn look(robot: &Imported, visual: &Visual, model: &Path, folder: &Path) -> Result<Look, String> {
    // Link frames of a scene are the frames of joints; see `TreeSettings::of_links`.
    let spec = visual.link.as_ref().and_then(|link| robot.builder.links().iter().find(|l| l.name == *link));
    let pose = spec.map_or(visual.pose, |spec| spec.offset.then(&visual.pose));
    let mut look = Look {
        link: visual.link.clone(),
        at: pose.position.0,
        orientation: Orientation::Quaternion(Quat::from_matrix(pose.rotation).0),
        colour: visual.colour.map(hex),
        ..Look::default()
    };
    match &visual.form {
        VisualForm::Box(size) => look.r#box = Some(Brick { size: *size }),
        VisualForm::Sphere(radius) => look.sphere = Some(Ball { radius: *radius }),
        VisualForm::Cylinder(radius, length) => look.cylinder = Some(Tube { radius: *radius, length: *length }),
        VisualForm::Capsule(radius, length) => look.capsule = Some(Tube { radius: *radius, length: *length }),
        VisualForm::Ellipsoid(radii) => look.ellipsoid = Some(Ellipsoid { radii: *radii }),
        VisualForm::Mesh(name, scale) => {
            let fault = |reason: &str| format!("mesh `{name}`: {reason}");
            let file = find(name, model).ok_or_else(|| fault("there is no such file beside the robot file"))?;
            let triangles = open(&file).map_err(|reason| fault(&reason))?;
            let file = relative(folder, &file).to_string_lossy().into_owned();
            look.mesh = Some(MeshFile { file, scale: *scale, triangles: Some(Arc::new(triangles)) });
        }
    }
    match look.defect() {
        Some((_, message)) => Err(message),
        None => Ok(look),
    }
}

/// A colour as scenes write it.
fn hex(colour: [f64; 3]) -> String {
    let [r, g, b] = colour.map(|part| (255.0 * part.clamp(0.0, 1.0)).round() as u8);
    format!("#{r:02x}{g:02x}{b:02x}")
}

/// The mesh file that a robot file names: relative to it, or within a package whose folder is that of the robot file or above it.
fn find(name: &str, model: &Path) -> Option<PathBuf> {
    let beside = model.parent().unwrap_or(Path::new(""));
    let beside = if beside.as_os_str().is_empty() { Path::new(".") } else { beside };
    let plain = name.strip_prefix("file://").unwrap_or(name);
    let packaged = ["package://", "model://"].iter().find_map(|scheme| plain.strip_prefix(scheme));
    let Some(inside) = packaged else {
        return Some(beside.join(plain)).filter(|file| file.is_file());
    };
    let within = inside.split_once('/').map_or(inside, |(_, rest)| rest);
    let start = beside.canonicalize().ok()?;
    let candidates = start.ancestors().take(FOLDERS_ABOVE).flat_map(|above| [above.join(within), above.join(inside)]);
    candidates.into_iter().find(|file| file.is_file())
}

fn open(file: &Path) -> Result<Triangles, String> {
    let mut bytes = Vec::new();
    let opened = std::fs::File::open(file).and_then(|f| f.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes));
    opened.map_err(|error| error.to_string())?;
    Triangles::parse(&file.to_string_lossy(), &bytes).map_err(|error| error.to_string())
}

/// The way from a folder to a file; the whole path if there is none.
fn relative(folder: &Path, file: &Path) -> PathBuf {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let (Ok(folder), Ok(file)) = (folder.canonicalize(), file.canonicalize()) else { return file.to_owned() };
    let shared = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(file.components().skip(shared)).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn meshes_are_found_beside_robots_and_named_from_scenes() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().canonicalize().unwrap();
        for folder in ["arm/urdf", "arm/meshes", "scenes/new"] {
            std::fs::create_dir_all(root.join(folder)).unwrap();
        }
        let mesh = root.join("arm/meshes/a.stl");
        std::fs::write(&mesh, "").unwrap();
        let model = root.join("arm/urdf/arm.urdf");
        assert_eq!(find("package://arm/meshes/a.stl", &model), Some(mesh.clone()));
        assert_eq!(find("package://other/meshes/a.stl", &model), Some(mesh.clone()));
        assert!(find("../meshes/a.stl", &model).is_some());
        assert_eq!(find(&format!("file://{}", mesh.display()), &model), Some(mesh.clone()));
        assert_eq!(find("meshes/a.stl", &model), None);
        assert_eq!(relative(&root.join("scenes/new"), &mesh), Path::new("../../arm/meshes/a.stl"));
        assert_eq!(relative(&root.join("arm"), &mesh), Path::new("meshes/a.stl"));
    }

    #[test]
    fn colours_are_written_as_scenes_want_them() {
        assert_eq!(hex([1.0, 0.5, -3.0]), "#ff8000");
    }
}
