//! Robot files: what links look like in scenes and reports made from them.

use super::*;
use tempfile::tempdir;

const URDF: &str = r#"<robot name="arm">
<link name="base"><visual><geometry><box size="0.4 0.4 0.1"/></geometry></visual></link>
<link name="arm"><inertial><origin xyz="0.3 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual><origin xyz="0.3 0 0"/><geometry><mesh filename="package://arm/wedge.stl" scale="0.6 0.1 0.1"/></geometry>
    <material name="red"><color rgba="1 0 0 1"/></material></visual>
  <visual><geometry><mesh filename="package://arm/missing.stl"/></geometry></visual>
  <visual><geometry><mesh filename="wedge.dae"/></geometry></visual></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
</robot>"#;

const STL: &str = "solid wedge\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n\
    facet normal 1 0 0\nouter loop\nvertex 1 0 0\nvertex 0 0 1\nvertex 0 1 0\nendloop\nendfacet\nendsolid wedge\n";

#[test]
fn imported_links_look_as_their_file_says() {
    let folder = tempdir().unwrap();
    let path = folder.path();
    std::fs::create_dir(path.join("scenes")).unwrap();
    for (name, text) in [("arm.urdf", URDF), ("wedge.stl", STL), ("wedge.dae", "<xml/>")] {
        std::fs::write(path.join(name), text).unwrap();
    }
    let out = dalembert(path, &["import", "arm.urdf", "--out", "scenes/arm.toml"]).with(0).out;
    assert!(out.contains("2 links, 1 freedoms, 1 kg, 2 shapes"), "{out}");
    assert!(
        out.contains("arm.urdf:6:3: not taken over: mesh `package://arm/missing.stl`: there is no such file"),
        "{out}"
    );
    assert!(
        out.contains("arm.urdf:7:3: not taken over: mesh `wedge.dae`: meshes are read from .stl and .obj files"),
        "{out}"
    );
    let scene = read(path.join("scenes/arm.toml"));
    assert!(scene.contains("file = \"../wedge.stl\"") && scene.contains("colour = \"#ff0000\""), "{scene}");
    dalembert(path, &["run", "scenes/arm.toml", "--until", "0.1", "--quiet", "--out", "run"]).with(0);
    let animation = read(path.join("run/animation.json"));
    assert!(animation.contains("\"meshes\":[{") && animation.contains("\"form\":{\"mesh\":0}"), "no mesh is drawn");
    // The record does without the mesh file.
    std::fs::remove_file(path.join("wedge.stl")).unwrap();
    dalembert(path, &["report", "run"]).with(0);
    let err = dalembert(path, &["check", "scenes/arm.toml"]).with(2).err;
    assert!(err.contains("there is no such file") && err.contains("arm.toml:"), "{err}");
}
