//! Readers on small files: what is taken over, what is listed, and what is refused where.
#![allow(clippy::unwrap_used)]

use dalembert_methods::vector::Vec3;
use dalembert_robots::evaluate::{Quantity, TreeState, evaluate, read_states};
use dalembert_robots::{Base, ClosureKind, DriveOn, JointCoupling, TendonPath, fuzz_one, read, write_urdf};
use dalembert_trees::{Pose, Tree};

const URDF: &str = r#"<?xml version="1.0"?>
<robot name="two">
  <link name="base"/>
  <link name="upper">
    <inertial><origin xyz="0.1 0 -0.2" rpy="0.3 0 0"/><mass value="1.5"/>
      <inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0" izz="0.025"/></inertial>
    <collision><geometry><sphere radius="1"/></geometry></collision>
  </link>
  <link name="lower">
    <inertial><mass value="0.5"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial>
  </link>
  <link name="tool"/>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><origin xyz="0 0 1" rpy="0 0.5 0"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="2" effort="10" velocity="3"/><dynamics damping="0.1" friction="0.02"/>
  </joint>
  <joint name="elbow" type="prismatic">
    <parent link="upper"/><child link="lower"/><origin xyz="0.4 0 0"/><axis xyz="1 1 0"/>
    <mimic joint="shoulder"/>
  </joint>
  <joint name="grip" type="fixed"><parent link="lower"/><child link="tool"/><origin xyz="0 0 0.1"/></joint>
</robot>"#;

fn sample(tree: &Tree) -> TreeState {
    let (q, v, a, tau) = dalembert_trees::samples::state(tree, 3);
    TreeState { q, v, a, tau }
}

#[track_caller]
fn same(a: &Tree, b: &Tree) {
    let s = sample(a);
    for quantity in [Quantity::MassMatrix, Quantity::InverseDynamics, Quantity::Energy, Quantity::Momentum] {
        let x = evaluate(a, quantity, None, std::slice::from_ref(&s)).unwrap().rows.remove(0);
        let y = evaluate(b, quantity, None, std::slice::from_ref(&s)).unwrap().rows.remove(0);
        assert_eq!(x.len(), y.len());
        for (x, y) in x.iter().zip(&y) {
            assert!((x - y).abs() < 1e-12 * (1.0 + x.abs()), "{quantity:?}: {x} against {y}");
        }
    }
}

#[test]
fn urdf_takes_over_links_joints_and_limits() {
    let robot = read(URDF, Base::Fixed).unwrap();
    assert_eq!(robot.name, "two");
    assert_eq!(robot.tree.velocity_names(), ["shoulder", "elbow"]);
    let f = robot.tree.freedoms()[0];
    assert_eq!((f.lower, f.upper, f.effort, f.speed, f.damping, f.friction), (-1.0, 2.0, 10.0, 3.0, 0.1, 0.02));
    let listed: Vec<String> = robot.left_out.iter().map(|l| l.what.clone()).collect();
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert!(listed[0].contains("collision"));
    assert_eq!(robot.left_out[0].place.line, 7);
    // The mass of the upper link hangs at the shoulder: M₁₁ by hand at zero displacement of the elbow.
    let at = TreeState { q: vec![0.0; 2], ..sample(&robot.tree) };
    let m = evaluate(&robot.tree, Quantity::MassMatrix, None, &[at]).unwrap().rows.remove(0);
    let (s, c) = 0.3f64.sin_cos();
    let about_y = 0.03 * c * c + 0.025 * s * s;
    let expected = about_y + 1.5 * (0.01 + 0.04) + 0.01 + 0.5 * 0.16;
    assert!((m[0] - expected).abs() < 1e-15, "{} {expected}", m[0]);
    let free = read(URDF, Base::Free);
    assert!(free.unwrap_err().message.contains("base_base"), "a base without mass cannot be free");
}

#[test]
fn urdf_written_and_read_again_is_the_same_robot() {
    let robot = read(URDF, Base::Fixed).unwrap();
    let text = write_urdf(&robot.tree, "two & more").unwrap();
    let again = read(&text, Base::Fixed).unwrap();
    assert_eq!(again.name, "two & more");
    assert_eq!(again.tree.coordinate_names(), robot.tree.coordinate_names());
    same(&robot.tree, &again.tree);
}

#[test]
fn the_same_arm_in_three_formats_is_the_same_tree() {
    let urdf = r#"<robot name="a"><link name="b"/><link name="l"><inertial><origin xyz="0 0 0.2"/><mass value="2"/>
        <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.15"/></inertial></link>
        <joint name="j" type="continuous"><parent link="b"/><child link="l"/><origin xyz="1 0 0.5" rpy="0 0 0.7853981633974483"/>
        <axis xyz="0 1 0"/></joint></robot>"#;
    let mjcf = r#"<mujoco><worldbody><body name="b"><body name="l" pos="1 0 0.5" euler="0 0 45">
        <inertial pos="0 0 0.2" mass="2" diaginertia="0.1 0.2 0.15"/><joint name="j" axis="0 1 0"/></body></body></worldbody></mujoco>"#;
    let sdf = r#"<sdf version="1.9"><model name="a"><link name="b"><inertial><mass>1</mass></inertial></link>
        <link name="l"><pose degrees="true">1 0 0.5 0 0 45</pose>
        <inertial><pose>0 0 0.2 0 0 0</pose><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.15</izz></inertia></inertial></link>
        <joint name="j" type="revolute"><parent>b</parent><child>l</child><axis><xyz>0 1 0</xyz></axis></joint></model></sdf>"#;
    let [a, b, c] = [urdf, mjcf, sdf].map(|t| read(t, Base::Fixed).unwrap().tree);
    same(&a, &b);
    same(&a, &c);
}

#[test]
fn mjcf_reads_classes_shapes_and_several_joints_of_a_body() {
    let text = r#"<mujoco model="m"><compiler angle="radian"/><option gravity="0 0 -1"/>
      <default><joint armature="0.5"/><default class="soft"><joint damping="2" stiffness="3" springref="0.1"/></default></default>
      <worldbody>
        <body name="cart" childclass="soft"><joint name="x" type="slide" axis="1 0 0" range="-1 1"/>
          <joint name="turn" pos="0 0 0.3" axis="0 0 1"/><geom type="box" size="0.1 0.2 0.3"/>
          <body name="ball" pos="0 0 1"><joint name="socket" type="ball" damping="1"/><geom size="0.1" mass="2"/></body>
        </body>
        <body name="bird" pos="0 0 5"><freejoint name="fly"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
      </worldbody>
      <equality><connect name="pin" body1="ball" anchor="0 0 0.5"/><weld body1="bird" body2="cart" active="false"/>
        <joint joint1="x"/></equality><actuator><motor joint="x"/></actuator><sensor><gyro site="s"/></sensor></mujoco>"#;
    let robot = read(text, Base::Fixed).unwrap();
    let f = robot.tree.freedoms()[0];
    assert_eq!((f.armature, f.damping, f.stiffness, f.rest, f.lower, f.upper), (0.5, 2.0, 3.0, 0.1, -1.0, 1.0));
    assert_eq!(robot.tree.velocities(), 1 + 1 + 3 + 6);
    assert_eq!(robot.tree.gravity(), Vec3([0.0, 0.0, -1.0]));
    let cart = robot.tree.link("cart").unwrap();
    assert!((cart.mass.mass - 1000.0 * 8.0 * 0.006).abs() < 1e-12);
    assert!((cart.mass.inertia.0[2][2] - 48.0 * (0.01 + 0.04) / 3.0).abs() < 1e-12);
    let at = robot.tree.joints().iter().find(|j| j.name == "fly").unwrap().coordinate;
    assert_eq!(robot.initial[at..at + 7], [0.0, 0.0, 5.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(robot.closures.len(), 1);
    assert_eq!(robot.closures[0].ends[0], (Some("ball".into()), Pose::at(0.0, 0.0, 0.5)));
    assert_eq!(robot.closures[0].ends[1], (None, Pose::at(0.0, 0.0, 1.5)));
    let listed: Vec<&str> = robot.left_out.iter().map(|l| l.what.as_str()).collect();
    assert!(listed.iter().any(|l| l.contains("<weld>")) && listed.iter().any(|l| l.contains("gyro")), "{listed:?}");
    assert!(listed.iter().any(|l| l.contains("the control of `drive1`")), "{listed:?}");
    assert_eq!(robot.drives[0].on, DriveOn::Joint("x".into()));
    // Without a second joint the first is held where it is.
    let held = JointCoupling { name: "coupling1".into(), terms: vec![("x".into(), vec![1.0])], offset: 0.0 };
    assert_eq!(robot.couplings, [held]);
}

/// Gears multiply torques once and servos twice; the smaller range counts.
#[test]
fn mjcf_actuators_become_drives() {
    let text = r#"<mujoco><default><default class="strong"><position kp="40" kv="2" forcerange="-30 30"/></default></default>
      <worldbody><body><joint name="hip"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
        <body><joint name="slide" type="slide"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></body></worldbody>
      <actuator><motor name="push" joint="hip" gear="50" ctrlrange="-1 1"/><motor joint="hip"/><position name="hold" class="strong" joint="hip" gear="3"/>
        <velocity joint="hip" kv="5"/><general joint="hip" gainprm="7" biastype="affine" biasprm="0 -7 -1"/>
        <motor joint="slide"/><general joint="hip" dyntype="filter"/><motor joint="hip" ctrlrange="0 1"/><motor tendon="t"/><muscle joint="hip"/>
      </actuator></mujoco>"#;
    let robot = read(text, Base::Fixed).unwrap();
    let drives: Vec<_> = robot.drives.iter().map(|d| (d.name.as_str(), d.stiffness, d.damping, d.limits)).collect();
    let expected = [
        ("push", 0.0, 0.0, Some([-50.0, 50.0])),
        ("drive2", 0.0, 0.0, None),
        ("hold", 360.0, 18.0, Some([-90.0, 90.0])),
        ("drive4", 0.0, 5.0, None),
        ("drive5", 7.0, 1.0, None),
        ("drive6", 0.0, 0.0, None),
        ("drive7", 0.0, 0.0, Some([0.0, 1.0])),
    ];
    assert_eq!(drives, expected);
    let listed =
        robot.left_out.iter().filter(|l| l.what.contains("not taken over") || l.what.contains("only actuators"));
    assert_eq!(listed.count(), 3, "{:?}", robot.left_out);
    let missing = text.replace("joint=\"hip\" gear=\"50\"", "joint=\"knee\" gear=\"50\"");
    assert!(read(&missing, Base::Fixed).unwrap_err().to_string().contains("there is no joint named `knee`"));
}

/// A gripper of two hinges and a slide, with tendons over joints and between sites.
#[test]
fn mjcf_tendons_and_equalities_couple_joints() {
    let text = r#"<mujoco><compiler angle="radian"/><default><tendon damping="2"/></default>
      <worldbody><site name="far" pos="0 3 0"/><site name="spare"/>
        <body name="a"><joint name="p"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><site name="near" pos="0 0 4"/></body>
        <body name="b" pos="0 0 1"><joint name="q" pos="0 1 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><site name="end" pos="1 0 0"/></body>
        <body name="c"><joint name="s" type="slide"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody>
      <tendon><fixed name="f" stiffness="7" springlength="0.1 0.3"><joint joint="p" coef="0.5"/><joint joint="s" coef="-2"/></fixed>
        <spatial name="line" stiffness="5"><site site="far"/><site site="near"/></spatial>
        <spatial name="rod" range="0 2"><site site="near"/><site site="end"/></spatial>
        <spatial name="wrapped"><site site="far"/><geom geom="g"/><site site="near"/></spatial></tendon>
      <equality><joint name="cam" joint1="q" joint2="p" polycoef="0.2 0.3 0 0.4 0"/><tendon name="held" tendon1="rod" polycoef="0.1"/>
        <tendon name="still" tendon1="f"/></equality>
      <actuator><motor name="winch" tendon="line" gear="-2" ctrlrange="-1 3"/><position name="hold" tendon="f" kp="4" gear="3"/>
        <motor tendon="wrapped"/></actuator></mujoco>"#;
    let robot = read(text, Base::Fixed).unwrap();
    let [f, line, rod] = robot.tendons.as_slice() else { panic!("{:?}", robot.tendons) };
    assert_eq!(f.path, TendonPath::Joints(vec![("p".into(), 0.5), ("s".into(), -2.0)]));
    assert_eq!((f.stiffness, f.damping, f.rest, f.length), (7.0, 2.0, [0.1, 0.3], 0.0));
    let ends = vec![(None, Vec3([0.0, 3.0, 0.0])), (Some("a".to_string()), Vec3([0.0, 0.0, 4.0]))];
    assert_eq!(line.path, TendonPath::Points(ends));
    assert_eq!((line.stiffness, line.rest, line.length, line.kept), (5.0, [5.0; 2], 5.0, None));
    let length = (1.0f64 + 9.0).sqrt();
    assert!((rod.length - length).abs() < 1e-15 && (rod.kept.unwrap() - length - 0.1).abs() < 1e-15);
    let [cam, still] = robot.couplings.as_slice() else { panic!("{:?}", robot.couplings) };
    assert_eq!(cam.terms, [("q".to_string(), vec![1.0]), ("p".to_string(), vec![-0.3, 0.0, -0.4])]);
    assert_eq!((cam.offset, still.offset), (0.2, 0.0));
    assert_eq!(still.terms, [("p".to_string(), vec![0.5]), ("s".to_string(), vec![-2.0])]);
    // The file starts where the cam wants its joint.
    assert_eq!(robot.initial, [0.0, 0.2, 0.0]);
    let drives: Vec<_> = robot.drives.iter().map(|d| (&d.on, d.stiffness, d.limits)).collect();
    let on = |name: &str| DriveOn::Tendon(name.into());
    assert_eq!(drives, [(&on("line"), 0.0, Some([-6.0, 2.0])), (&on("f"), 36.0, None)]);
    for what in ["`spare`", "`wrapped`", "`range` of tendons", "its tendon is not"] {
        assert!(robot.left_out.iter().any(|l| l.what.contains(what)), "{what}: {:?}", robot.left_out);
    }
    for (from, to, says) in [
        ("site=\"end\"", "site=\"hand\"", "there is no site named `hand`"),
        ("joint2=\"p\"", "joint2=\"elbow\"", "there is no joint named `elbow`"),
        ("tendon1=\"rod\"", "tendon1=\"rope\"", "there is no tendon named `rope`"),
    ] {
        let error = read(&text.replace(from, to), Base::Fixed).unwrap_err();
        assert!(error.message.contains(says) && error.place.is_some(), "{error}");
    }
}

/// URDF: x = multiplier · y + offset. SDF: x = multiplier · (y − reference) + offset. In a row each starts where the one before wants it.
#[test]
fn mimic_joints_are_couplings() {
    let link = |name: &str| {
        format!(
            "<link name=\"{name}\"><inertial><mass value=\"1\"/><inertia ixx=\"1\" ixy=\"0\" ixz=\"0\" iyy=\"1\" iyz=\"0\" izz=\"1\"/></inertial></link>"
        )
    };
    let joint = |name: &str, child: &str, inner: &str| {
        format!(
            "<joint name=\"{name}\" type=\"continuous\"><parent link=\"base\"/><child link=\"{child}\"/>{inner}</joint>"
        )
    };
    let text = format!(
        "<robot name=\"hand\">{}{}{}{}{}{}{}</robot>",
        link("base"),
        link("a"),
        link("b"),
        link("c"),
        joint("x", "a", "<mimic joint=\"y\" multiplier=\"-2\"/>"),
        joint("y", "b", "<mimic joint=\"z\" multiplier=\"0.5\" offset=\"0.1\"/>"),
        joint("z", "c", "")
    );
    let robot = read(&text, Base::Fixed).unwrap();
    assert_eq!(robot.couplings[1].terms, [("y".to_string(), vec![1.0]), ("z".to_string(), vec![-0.5])]);
    assert_eq!(robot.couplings[1].offset, 0.1);
    assert_eq!(robot.initial, [-0.2, 0.1, 0.0]);
    assert!(robot.left_out.is_empty(), "{:?}", robot.left_out);
    let lost = read(&text.replace("joint=\"z\" m", "joint=\"w\" m"), Base::Fixed).unwrap_err();
    assert!(lost.message.contains("no joint named `w`") && lost.place.is_some(), "{lost}");

    let text = r#"<sdf version="1.11"><model name="m"><link name="base"/><link name="a"/><link name="b"/>
      <joint name="x" type="revolute"><parent>base</parent><child>a</child><axis><xyz>0 0 1</xyz>
        <mimic joint="y" axis="axis"><multiplier>3</multiplier><offset>1</offset><reference>0.2</reference></mimic></axis></joint>
      <joint name="y" type="prismatic"><parent>base</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint></model></sdf>"#;
    let text = text.replace("<link name=\"a\"/>", "<link name=\"a\"><inertial><mass>1</mass></inertial></link>");
    let text = text.replace("<link name=\"b\"/>", "<link name=\"b\"><inertial><mass>1</mass></inertial></link>");
    let robot = read(&text, Base::Fixed).unwrap();
    let [coupling] = robot.couplings.as_slice() else { panic!("{:?}", robot.couplings) };
    assert_eq!(coupling.terms, [("x".to_string(), vec![1.0]), ("y".to_string(), vec![-3.0])]);
    assert!((coupling.offset - 0.4).abs() < 1e-15);
}

#[test]
fn sdf_resolves_frames_and_lists_loops() {
    let text = r#"<sdf version="1.9"><model name="m"><pose>0 0 1 0 0 0</pose>
      <frame name="f"><pose>1 0 0 0 0 0</pose></frame>
      <link name="a"><pose relative_to="f">0 1 0 0 0 0</pose><inertial><mass>1</mass></inertial></link>
      <link name="b"><pose relative_to="j">0 0 -0.5 0 0 0</pose><inertial><mass>2</mass></inertial></link>
      <joint name="j" type="screw"><pose relative_to="a">0 0 -1 0 0 0</pose><parent>a</parent><child>b</child>
        <axis><xyz expressed_in="__model__">0 0 1</xyz><dynamics><damping>4</damping></dynamics></axis>
        <screw_thread_pitch>0.25</screw_thread_pitch></joint>
      <joint name="weld" type="fixed"><parent>world</parent><child>a</child></joint>
      <joint name="loop" type="ball"><parent>world</parent><child>b</child></joint>
    </model></sdf>"#;
    let robot = read(text, Base::Fixed).unwrap();
    let s = TreeState { q: vec![std::f64::consts::TAU], ..sample(&robot.tree) };
    let row = evaluate(&robot.tree, Quantity::Place, Some(("b", Vec3::zero())), &[s]).unwrap().rows.remove(0);
    // 1 + 0 − 1 − 0.5, and a quarter of a metre for one turn.
    for (x, y) in row[..3].iter().zip([1.0, 1.0, -0.25]) {
        assert!((x - y).abs() < 1e-14, "{row:?}");
    }
    let closure = &robot.closures[0];
    assert_eq!((closure.name.as_str(), closure.kind), ("loop", ClosureKind::Ball));
    // The ball stands where the link does, at 0.5 below the screw, 0 0 1 of the model in the world.
    assert_eq!(closure.ends[1], (Some("b".into()), Pose::default()));
    for (x, y) in closure.ends[0].1.position.0.iter().zip([1.0, 1.0, -0.5]) {
        assert!((x - y).abs() < 1e-14, "{closure:?}");
    }
    assert_eq!(robot.tree.freedoms()[0].damping, 4.0);
}

#[track_caller]
fn refused(text: &str, place: Option<(u32, u32)>, words: &str) {
    let error = read(text, Base::Fixed).unwrap_err();
    assert!(error.message.contains(words), "{error}");
    if let Some((line, column)) = place {
        let at = error.place.unwrap();
        assert_eq!((at.line, at.column), (line, column), "{error}");
    }
}

#[test]
fn bad_files_are_refused_where_they_are_wrong() {
    refused("<robot name='r'><link/></robot>", Some((1, 17)), "needs the attribute `name`");
    refused("<robot name='r'>\n  <link name='a'>\n</robot>", Some((3, 1)), "not valid XML");
    refused("<house/>", Some((1, 1)), "begins no robot file");
    refused(&URDF.replace("value=\"1.5\"", "value=\"heavy\""), Some((5, 68)), "`heavy` is not a number");
    refused(&URDF.replace("value=\"1.5\"", "value=\"NaN\""), None, "not a finite number");
    refused(&URDF.replace("value=\"1.5\"", "value=\"-1.5\""), Some((4, 3)), "not negative");
    refused(&URDF.replace("ixx=\"0.02\"", "ixx=\"-0.02\""), Some((4, 3)), "negative principal moment");
    refused(&URDF.replace("ixx=\"0.02\"", "ixx=\"200\""), Some((4, 3)), "at most the sum of the other two");
    // Inertias in kg mm², and a centre of mass in mm, beside lengths in m.
    let millimetres = URDF.replace("ixx=\"0.02\"", "ixx=\"20000\"").replace("iyy=\"0.03\"", "iyy=\"30000\"");
    refused(&millimetres.replace("izz=\"0.025\"", "izz=\"25000\""), Some((4, 3)), "inertias in kg m²?");
    refused(&URDF.replace("xyz=\"0.1 0 -0.2\"", "xyz=\"100 0 -200\""), Some((4, 3)), "the centre of mass, 2.236e2 m");
    refused(&URDF.replace("type=\"prismatic\"", "type=\"magnetic\""), Some((17, 29)), "no kind of joint");
    refused(&URDF.replace("<parent link=\"upper\"/>", "<parent link=\"shin\"/>"), Some((17, 3)), "no such link");
    refused(&URDF.replace("<parent link=\"base\"/>", "<parent link=\"tool\"/>"), None, "hangs on itself");
    refused(&URDF.replace("<axis xyz=\"0 1 0\"/>", "<axis xyz=\"0 0 0\"/>"), None, "no direction");
    refused(&URDF.replace("<axis xyz=\"0 1 0\"/>", "<axis xyz=\"0 1\"/>"), None, "expected 3 numbers, found 2");
    refused(&URDF.replace("lower=\"-1\"", "lower=\"5\""), None, "is empty");
    let leaf = "<link name=\"t\"/><joint name=\"loose\" type=\"continuous\"><parent link=\"lower\"/><child link=\"t\"/></joint></robot>";
    refused(&URDF.replace("</robot>", leaf), None, "joint `loose` moves nothing with inertia");
    let bomb = "<!DOCTYPE r [<!ENTITY a \"ha\"><!ENTITY b \"&a;&a;\">]><robot name='&b;'/>";
    refused(bomb, None, "not valid XML");
    refused("<mujoco><include file='x.xml'/></mujoco>", Some((1, 9)), "<include> is not supported");
    refused(
        "<mujoco><worldbody><body><joint type='rope'/></body></worldbody></mujoco>",
        Some((1, 39)),
        "no kind of joint",
    );
    refused("<sdf><world/></sdf>", None, "there is no <model>");
    let circle = "<sdf><model><link name='a'><pose relative_to='b'>0 0 0 0 0 0</pose></link><link name='b'>\
                  <pose relative_to='a'>0 0 0 0 0 0</pose></link></model></sdf>";
    refused(circle, None, "circle");
    let many: String = (0..100_000).map(|i| format!("<link name='l{i}'/>")).collect();
    refused(&format!("<robot name='r'>{many}</robot>"), None, "more than the 20000");
}

#[test]
fn states_are_read_by_name() {
    let robot = read(URDF, Base::Fixed).unwrap();
    let states = read_states(&robot.tree, &robot.initial, "q.elbow, v.shoulder\n0.25,1\n\n-0.5,2\n").unwrap();
    assert_eq!(states.len(), 2);
    assert_eq!((states[1].q[1], states[1].v[0], states[1].q[0]), (-0.5, 2.0, 0.0));
    let wrong = |text: &str| read_states(&robot.tree, &robot.initial, text).unwrap_err().to_string();
    assert!(wrong("q.knee\n1").contains("there is no `knee`; names are shoulder, elbow"));
    assert!(wrong("speed\n1").contains("expected q.NAME"));
    assert!(wrong("q.elbow\n1,2").contains("line 2: 2 numbers for 1 columns"));
    assert!(wrong("q.elbow\nnan").contains("not a finite number"));
    assert!(wrong("").contains("empty"));
}

/// The corpus of the fuzz targets, and every prefix of it: all end with a tree or an error; those named so are bad.
#[test]
fn the_corpus_is_read_or_refused() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus");
    let folders = ["urdf", "mjcf", "sdf"].map(|format| std::fs::read_dir(format!("{corpus}/{format}")).unwrap());
    let mut files = 0;
    for entry in folders.into_iter().flatten() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let bad = path.file_name().unwrap().to_str().unwrap().starts_with("bad-");
        assert_eq!(read(&text, Base::Fixed).is_err(), bad, "{path:?}");
        files += 1;
        for end in (0..text.len()).filter(|&i| text.is_char_boundary(i)) {
            assert!(read(&text[..end], Base::Free).is_err() || text[end..].trim().is_empty());
        }
    }
    assert!(files >= 11, "only {files} files");
}

/// Damaged files: bytes changed, pieces left out, repeated or swapped. A run of the fuzz targets goes further; this one is part of every test.
#[test]
fn damaged_files_end_with_a_tree_or_an_error() {
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus");
    let mut seed = 88172645463325252u64;
    let mut below = |n: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % n as u64) as usize
    };
    let words =
        ["NaN", "1e999", "-1", "0 0 0", "<", "/>", "\"", "&#0;", "world", "j", "é", "1e-320", "9".repeat(400).leak()];
    for file in ["urdf/two.urdf", "mjcf/cart.xml", "sdf/screw.sdf"] {
        let whole = std::fs::read(format!("{corpus}/{file}")).unwrap();
        for _ in 0..2000 {
            let mut text = whole.clone();
            for _ in 0..=below(4) {
                let at = below(text.len());
                let end = (at + 1 + below(40)).min(text.len());
                match below(5) {
                    0 => text[at] = below(256) as u8,
                    1 => drop(text.drain(at..end)),
                    2 => {
                        let piece = text[at..end].to_vec();
                        let to = below(text.len());
                        text.splice(to..to, piece);
                    }
                    _ => {
                        let word = words[below(words.len())].bytes();
                        drop(text.splice(at..end.min(at + below(6)), word));
                    }
                }
                if text.is_empty() {
                    break;
                }
            }
            fuzz_one(&text, read);
        }
    }
}
