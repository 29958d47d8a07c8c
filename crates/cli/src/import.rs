//! `dalembert import`: robot files.

use crate::args::ImportOptions;
use crate::couplings;
use crate::exit::Exit;
use crate::robot::{read_robot, write_text};
use crate::visuals;
use dalembert::bodies::{Tree, TreeSettings};
use dalembert::joints::{Fixed, Revolute, Spherical};
use dalembert::model::{Builder, Orientation};
use dalembert::picture::Look;
use dalembert::scene::Scene;
use dalembert_methods::lie::Quat;
use dalembert_robots::{ClosureKind, Imported, LeftOut, write_urdf};
use std::path::Path;

/// Reads a robot, says what was found and what was left out, and writes it in another format.
pub fn import(options: &ImportOptions) -> Result<(), Exit> {
    let robot = read_robot(&options.file, options.free)?;
    let tree = &robot.tree;
    let mass: f64 = tree.links().iter().map(|l| l.mass.mass).sum();
    let folder = options.out.as_deref().unwrap_or(&options.file).parent().unwrap_or(Path::new(""));
    let (looks, unseen) = visuals::looks(&robot, &options.file, folder);
    let (links, shapes) = (tree.links().len(), looks.len());
    let mut text =
        format!("{}: {links} links, {} freedoms, {mass} kg, {shapes} shapes\n", robot.name, tree.velocities());
    let mut left_out: Vec<&LeftOut> = robot.left_out.iter().chain(&unseen).collect();
    left_out.sort_by_key(|left| (left.place.line, left.place.column));
    for left in left_out {
        text.push_str(&format!(
            "{}:{}:{}: not taken over: {}\n",
            options.file.display(),
            left.place.line,
            left.place.column,
            left.what
        ));
    }
    crate::print(&text)?;
    let Some(out) = &options.out else { return Ok(()) };
    let written = match out.extension().and_then(|e| e.to_str()) {
        Some("urdf") => write_urdf(tree, &robot.name).map_err(|error| Exit::Usage(error.to_string()))?,
        Some("toml") => scene(&robot, looks)?.to_toml(),
        _ => return Err(Exit::Usage(format!("`{}` must end in .toml or .urdf", out.display()))),
    };
    write_text(out, &written)
}

/// The robot as a scene of one body that looks as given.
pub fn scene(robot: &Imported, looks: Vec<Look>) -> Result<Scene, Exit> {
    let settings = TreeSettings::of_links(robot.builder.links(), &robot.tree, &robot.initial);
    let body = Tree::try_from(settings).map_err(Exit::Usage)?;
    let mut builder = Builder::new();
    builder.gravity(robot.tree.gravity().0);
    let body = builder.body("robot", body);
    for look in looks {
        match look.link {
            Some(_) => builder.look(body, look),
            None => builder.look(builder.ground(), look),
        };
    }
    for closure in &robot.closures {
        let mut ends = Vec::new();
        for (side, (link, pose)) in ["a", "b"].iter().zip(&closure.ends) {
            let name = format!("{}_{side}", closure.name);
            // Link frames of a scene are the frames of joints; see `TreeSettings::of_links`.
            let spec = link.as_ref().and_then(|link| robot.builder.links().iter().find(|l| l.name == *link));
            let pose = spec.map_or(*pose, |spec| spec.offset.then(pose));
            let turn = Orientation::Quaternion(Quat::from_matrix(pose.rotation).0);
            let frame = match link {
                Some(link) => builder.link_frame(&name, body, link, pose.position.0, turn),
                None => Some(builder.frame(&name, builder.ground(), pose.position.0, turn)),
            };
            ends.extend(frame);
        }
        let &[a, b] = ends.as_slice() else {
            return Err(Exit::Usage(format!("`{}` names a link that is not there", closure.name)));
        };
        match closure.kind {
            ClosureKind::Ball => builder.joint(&closure.name, Spherical {}, [a.into(), b.into()]),
            ClosureKind::Weld => builder.joint(&closure.name, Fixed {}, [a, b]),
            ClosureKind::Hinge { axis } => {
                builder.joint(&closure.name, Revolute { axis: axis.0.into(), axis_b: None }, [a, b])
            }
        };
    }
    couplings::add(robot, &mut builder, body)?;
    let model = builder
        .build()
        .map_err(|errors| Exit::Usage(errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")))?;
    let mut scene = Scene::new(model);
    scene.info.title = robot.name.clone();
    Ok(scene)
}
