//! Visual shapes of robot files: forms, places, colours, and what is listed instead.
#![allow(clippy::unwrap_used)]

use dalembert_methods::vector::Vec3;
use dalembert_robots::{Base, VisualForm, read};

const INERTIAL: &str =
    r#"<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>"#;

#[test]
fn urdf_shapes_have_places_and_colours() {
    let text = format!(
        r##"<robot name="r"><material name="blue"><color rgba="0 0 1 1"/></material>
<link name="a">{INERTIAL}
  <visual><origin xyz="1 2 3" rpy="0 0 1.5707963267948966"/><geometry><box size="1 2 3"/></geometry><material name="blue"/></visual>
  <visual><geometry><cylinder radius="0.1" length="2"/></geometry><material name="own"><color rgba="1 0.5 0 1"/></material></visual>
  <visual><geometry><mesh filename="package://r/m.stl" scale="0.001 0.001 0.001"/></geometry></visual>
  <visual><geometry><sphere radius="-1"/></geometry></visual>
  <visual><geometry><cone/></geometry></visual>
  <visual/>
  <collision><geometry><sphere radius="1"/></geometry></collision>
</link></robot>"##
    );
    let robot = read(&text, Base::Free).unwrap();
    let forms: Vec<&VisualForm> = robot.visuals.iter().map(|v| &v.form).collect();
    let mesh = VisualForm::Mesh("package://r/m.stl".into(), [0.001; 3]);
    assert_eq!(forms, [&VisualForm::Box([1.0, 2.0, 3.0]), &VisualForm::Cylinder(0.1, 2.0), &mesh]);
    assert!(robot.visuals.iter().all(|v| v.link.as_deref() == Some("a")));
    let lines: Vec<u32> = robot.visuals.iter().map(|v| v.place.line).collect();
    assert_eq!(lines, [3, 4, 5]);
    assert_eq!(robot.visuals[0].colour, Some([0.0, 0.0, 1.0]));
    assert_eq!(robot.visuals[1].colour, Some([1.0, 0.5, 0.0]));
    // A quarter turn about z takes x to y.
    let pose = &robot.visuals[0].pose;
    assert_eq!(pose.position, Vec3([1.0, 2.0, 3.0]));
    assert!((pose.rotation * Vec3([1.0, 0.0, 0.0]) - Vec3([0.0, 1.0, 0.0])).norm() < 1e-15);
    let listed: Vec<(u32, &str)> = robot.left_out.iter().map(|l| (l.place.line, l.what.as_str())).collect();
    let words = ["positive sizes", "can be drawn", "no shape", "contacts"];
    assert_eq!(listed.len(), 4, "{listed:?}");
    for ((line, what), (wanted, word)) in listed.iter().zip([6, 7, 8, 9].into_iter().zip(words)) {
        assert!(*line == wanted && what.contains(word), "{what} in line {line}");
    }
    let bad = text.replace("size=\"1 2 3\"", "size=\"1 2\"");
    let error = read(&bad, Base::Free).unwrap_err();
    assert_eq!((error.place.unwrap().line, error.message.contains("expected 3 numbers")), (3, true), "{error}");
}

#[test]
fn mjcf_shapes_follow_classes_frames_and_assets() {
    let text = r#"<mujoco><compiler angle="radian" meshdir="assets/"/>
<default><geom contype="0" conaffinity="0"/><default class="hull"><geom group="3"/></default>
  <default class="v"><geom type="mesh" material="grey"/></default></default>
<asset><mesh file="thigh.obj" scale="2 2 2"/><material name="grey" rgba="0.5 0.5 0.5 1"/><texture name="t" type="2d"/></asset>
<worldbody>
  <geom type="plane" size="1 1 1"/>
  <geom type="box" size="1 2 3" pos="0 0 1"/>
  <body name="b" pos="0 0 5"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
    <geom class="v" mesh="thigh"/>
    <geom type="capsule" size="0.1" fromto="0 0 0 0 0 2" rgba="1 0 0 1"/>
    <frame pos="1 0 0"><geom type="ellipsoid" size="1 2 3" pos="0 1 0"/></frame>
    <geom class="hull" size="1"/>
    <geom type="cylinder" size="0.2 0.5" contype="1"/>
  </body></worldbody></mujoco>"#;
    let robot = read(text, Base::Fixed).unwrap();
    let found: Vec<(Option<&str>, &VisualForm)> = robot.visuals.iter().map(|v| (v.link.as_deref(), &v.form)).collect();
    let wanted = [
        (None, VisualForm::Box([2.0, 4.0, 6.0])),
        (Some("b"), VisualForm::Mesh("assets/thigh.obj".into(), [2.0; 3])),
        (Some("b"), VisualForm::Capsule(0.1, 2.0)),
        (Some("b"), VisualForm::Ellipsoid([1.0, 2.0, 3.0])),
        (Some("b"), VisualForm::Cylinder(0.2, 1.0)),
    ];
    assert_eq!(found, wanted.iter().map(|(link, form)| (*link, form)).collect::<Vec<_>>());
    assert_eq!(robot.visuals[1].colour, Some([0.5; 3]));
    assert_eq!(robot.visuals[2].pose.position, Vec3([0.0, 0.0, 1.0]));
    assert_eq!(robot.visuals[3].pose.position, Vec3([1.0, 1.0, 0.0]));
    let listed: Vec<&str> = robot.left_out.iter().map(|l| l.what.as_str()).collect();
    for word in ["texture", "planes", "hidden", "contacts"] {
        assert!(listed.iter().any(|what| what.contains(word)), "{word} in {listed:?}");
    }
    assert_eq!(listed.len(), 4, "{listed:?}");
}

#[test]
fn sdf_shapes_are_read() {
    let text = r#"<sdf version="1.9"><model name="m"><link name="a"><inertial><mass>1</mass></inertial>
<visual name="v"><pose>1 0 0 0 0 0</pose><geometry><box><size>1 2 3</size></box></geometry>
  <material><diffuse>0 1 0 1</diffuse></material></visual>
<visual name="w"><geometry><mesh><uri>model://m/a.stl</uri></mesh></geometry></visual>
<visual name="x"><pose relative_to="y">1 0 0 0 0 0</pose><geometry><sphere><radius>1</radius></sphere></geometry></visual>
</link></model></sdf>"#;
    let robot = read(text, Base::Free).unwrap();
    assert_eq!(robot.visuals.len(), 2);
    assert_eq!(
        (&robot.visuals[0].form, robot.visuals[0].colour),
        (&VisualForm::Box([1.0, 2.0, 3.0]), Some([0.0, 1.0, 0.0]))
    );
    assert_eq!(robot.visuals[0].pose.position, Vec3([1.0, 0.0, 0.0]));
    assert_eq!(robot.visuals[1].form, VisualForm::Mesh("model://m/a.stl".into(), [1.0; 3]));
    assert!(robot.left_out.iter().any(|l| l.what.contains("other frames") && l.place.line == 5));
}
