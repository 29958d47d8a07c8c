//! `eval`, `equations` and `study`: numbers, formulas and studies of robots and scenes, against closed forms.

use super::*;
use tempfile::tempdir;

/// A rod of 2 kg on a hinge: centre 0.5 m below it, 0.1 kg m² about the centre; M = 0.1 + 2·0.25 = 0.6 kg m², m g l = 9.81 N m.
const PENDULUM: &str = r#"<robot name="pendulum">
  <link name="base"/>
  <link name="rod">
    <inertial><origin xyz="0 0 -0.5"/><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint>
</robot>
"#;

/// The last line of a table, as numbers.
fn last(text: &str) -> Vec<f64> {
    text.lines().last().unwrap().split(',').map(|cell| cell.parse().unwrap()).collect()
}

fn close(a: &[f64], b: &[f64], tolerance: f64) {
    assert_eq!(a.len(), b.len(), "{a:?} {b:?}");
    assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance), "{a:?} {b:?}");
}

#[test]
fn a_robot_file_is_evaluated() {
    let folder = tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("pendulum.urdf", PENDULUM);
    write("states.csv", "q.hinge,v.hinge,a.hinge,tau.hinge\n0.3,0.5,2,1\n");
    let weight = 9.81 * 0.3f64.sin();
    for (what, header, expected) in [
        ("mass-matrix", "mass.hinge.hinge", vec![0.6]),
        ("inverse-dynamics", "tau.hinge", vec![0.6 * 2.0 + weight]),
        ("forward-dynamics", "a.hinge", vec![(1.0 - weight) / 0.6]),
        ("energy", "kinetic,potential", vec![0.5 * 0.6 * 0.25, -9.81 * 0.3f64.cos()]),
    ] {
        let arguments = ["eval", "pendulum.urdf", "--what", what, "--states", "states.csv"];
        let out = dalembert(folder.path(), &arguments).with(0).out;
        assert_eq!(out.lines().next(), Some(header));
        close(&last(&out), &expected, 1e-14);
    }
    let arguments =
        ["eval", "pendulum.urdf", "--what", "place", "--link", "rod", "--point", "0,0,-1", "--out", "place.csv"];
    dalembert(folder.path(), &arguments).with(0);
    close(&last(&read(folder.path().join("place.csv")))[..3], &[0.0, 0.0, -1.0], 1e-15);
    write("states.csv", "q.knee\n0\n");
    let ended =
        dalembert(folder.path(), &["eval", "pendulum.urdf", "--what", "bias", "--states", "states.csv"]).with(2);
    assert!(ended.err.contains("there is no `knee`; names are hinge"), "{}", ended.err);
    let ended = dalembert(folder.path(), &["eval", "pendulum.urdf", "--what", "colour"]).with(2);
    assert!(ended.err.contains("`colour` is not known") && ended.err.contains("mass-matrix"), "{}", ended.err);
}

/// A scene of any bodies, with its constraints: a bead of 2 kg at (0.6, 0, −0.8) on a massless rod of 1 m.
#[test]
fn a_whole_scene_is_evaluated() {
    let folder = tempdir().unwrap();
    let text = "[body.bead]\nkind = \"particle\"\nmass = 2\nposition = [0.6, 0, -0.8]\n\
                [constraint.rod]\nkind = \"distance\"\nbetween = [\"ground\", \"bead\"]\nlength = 1\n\
                [world]\ngravity = [0, 0, -9.81]\n[run]\nuntil = 1\n";
    std::fs::write(folder.path().join("bead.toml"), text).unwrap();
    let numbers = |what: &str| last(&dalembert(folder.path(), &["eval", "bead.toml", "--what", what]).with(0).out);
    close(&numbers("mass-matrix"), &[2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0], 0.0);
    close(&numbers("energy"), &[0.0, -2.0 * 9.81 * 0.8], 1e-14);
    close(&numbers("bias"), &[0.0, 0.0, 2.0 * 9.81], 1e-14);
    // The part of gravity across the rod: g sin θ along (−cos θ, 0, −sin θ) with sin θ = 0.6, cos θ = 0.8.
    let fall = 9.81 * 0.6;
    close(&numbers("forward-dynamics")[..3], &[-fall * 0.8, 0.0, -fall * 0.6], 1e-13);
    let states = "q.bead.1,q.bead.3,v.bead.velocity.x\n0,-1,3\n";
    std::fs::write(folder.path().join("states.csv"), states).unwrap();
    let ended = dalembert(folder.path(), &["eval", "bead.toml", "--what", "energy", "--states", "states.csv"]).with(0);
    close(&last(&ended.out), &[9.0, -2.0 * 9.81], 1e-13);
    let ended = dalembert(folder.path(), &["eval", "bead.toml", "--what", "place"]).with(2);
    assert!(ended.err.contains("for a whole scene there are mass-matrix"), "{}", ended.err);
}

#[test]
fn equations_are_written_as_text_and_latex() {
    let folder = tempdir().unwrap();
    std::fs::write(folder.path().join("pendulum.urdf"), PENDULUM).unwrap();
    let text = dalembert(folder.path(), &["equations", "pendulum.urdf"]).with(0).out;
    for line in ["y1 = hinge", "M1_1 = 0.6", "k1 = 0", "q1 = -9.81 s1 + tau1"] {
        assert!(text.lines().any(|l| l == line), "{line}\n{text}");
    }
    let latex = dalembert(folder.path(), &["equations", "pendulum.urdf", "--latex"]).with(0).out;
    assert!(latex.contains(r"\ddot{\mathbf{y}}") && latex.contains(r"M_{1,1} &= 0.6"), "{latex}");
}

/// A bead on a spring in any language, and the derivatives of its force: −k for each coordinate.
#[test]
fn equations_of_scenes_are_written_in_every_language() {
    let folder = tempdir().unwrap();
    let arguments = |more: &[&'static str]| [&["equations", "oscillator"], more].concat();
    let written = |more: &[&'static str]| dalembert(folder.path(), &arguments(more)).with(0).out;
    let text = written(&[]);
    assert!(text.lines().any(|l| l == "mass.mass.velocity.x.mass.velocity.x = 1"), "{text}");
    assert!(text.lines().any(|l| l.starts_with("force.mass.velocity.x = ")), "{text}");
    let latex = written(&["--as", "latex"]);
    assert!(latex.starts_with(r"\begin{align*}") && latex.contains(r"\mathrm{force.mass.velocity.z} &="), "{latex}");
    assert!(written(&["--as", "c"]).contains("void equations(const double *restrict x, double *restrict y)"));
    assert!(written(&["--as", "rust"]).contains("pub fn equations(x: &[f64; 7], y: &mut [f64; 6])"));
    let slopes = written(&["--derivatives"]);
    assert!(slopes.contains("d(force.mass.velocity.x)/d(q.mass.1) ="), "{slopes}");
    assert!(dalembert(folder.path(), &arguments(&["--as", "latin"])).with(2).err.contains("latin"));
}

#[test]
fn studies_find_forces_places_and_equilibria() {
    let folder = tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("pendulum.urdf", PENDULUM);
    let (step, angle) = (0.05, |t: f64| 0.5 * (2.0 * t).sin());
    let motion = (0..41).fold("time,q.hinge\n".to_owned(), |text, i| {
        let t = f64::from(i) * step;
        text + &format!("{t:?},{:?}\n", angle(t))
    });
    write("motion.csv", &motion);
    let out =
        dalembert(folder.path(), &["study", "inverse-dynamics", "pendulum.urdf", "--motion", "motion.csv"]).with(0).out;
    let middle: Vec<f64> = out.lines().nth(21).unwrap().split(',').map(|cell| cell.parse().unwrap()).collect();
    // The error of the second derivative through seven rows is h⁶ q⁽⁸⁾/560 = 0.05⁶ · 0.5 · 2⁸/560.
    let exact = -4.0 * 0.6 * angle(middle[0]) + 9.81 * angle(middle[0]).sin();
    assert!((middle[4] - exact).abs() < 0.6 * 0.05f64.powi(6) * 0.5 * 256.0 / 560.0 + 1e-12, "{middle:?} {exact}");
    let out = dalembert(folder.path(), &["study", "equilibrium", "simple-pendulum"]).with(0).out;
    // The bob of a spherical pendulum of 1 m: ω² = g/l in both directions.
    assert!(out.contains("stable; squared angular frequencies in 1/s²: 9.81,9.81"), "{out}");
    let arm = PENDULUM.replace("</robot>", r#"<link name="tip"/><joint name="end" type="fixed"><parent link="rod"/><child link="tip"/><origin xyz="0 0 -1"/></joint></robot>"#);
    write("arm.urdf", &arm);
    write("targets.csv", &format!("tip.x,tip.y,tip.z\n{:?},0,{:?}\n", -(0.4f64.sin()), -(0.4f64.cos())));
    let out =
        dalembert(folder.path(), &["study", "inverse-kinematics", "arm.urdf", "--targets", "targets.csv"]).with(0).out;
    let header: Vec<&str> = out.lines().next().unwrap().split(',').collect();
    let column = header.iter().position(|name| *name == "q.hinge").unwrap();
    // z turns to x about y: the tip is at (−sin q, 0, −cos q).
    assert!((last(&out)[column] - 0.4).abs() < 1e-8, "{out}");
}

/// The servo of an imported arm holds its rod level against m g l = 10 N m: k θ = m g l cos θ, within its limit of 20 N m.
#[test]
fn drives_of_a_robot_file_act_in_the_scene() {
    let folder = tempdir().unwrap();
    let text = r#"<mujoco><compiler angle="radian"/><option gravity="0 0 -10"/><worldbody><body name="rod" pos="1 2 3" euler="0.1 0 0">
        <joint name="hinge" axis="0 1 0" damping="8"/><inertial pos="0.5 0 0" mass="2" diaginertia="0.1 0.1 0.1"/></body></worldbody>
      <actuator><position name="servo" joint="hinge" kp="25" gear="2" forcerange="-10 10"/></actuator></mujoco>"#;
    std::fs::write(folder.path().join("arm.xml"), text.replace(" euler=\"0.1 0 0\"", "")).unwrap();
    let out = dalembert(folder.path(), &["import", "arm.xml", "--out", "arm.toml"]).with(0).out;
    assert!(out.contains("the control of `servo`"), "{out}");
    let arguments = ["run", "arm.toml", "--until", "20", "--json", "--out", "run"];
    let out = dalembert(folder.path(), &arguments).with(0).out;
    let summary: serde_json::Value = serde_json::from_str(&out).unwrap();
    let angle = summary["final_state"]["q"][0].as_f64().unwrap();
    let mut exact: f64 = 0.1;
    for _ in 0..100 {
        exact = 10.0 * exact.cos() / 100.0;
    }
    assert!((angle - exact).abs() < 1e-6, "{angle} {exact}");
}

/// A servo on a slide gives way by m g/k = 0.2 m, a slide that follows it by a half goes 0.1 m with it, and a mass on a tendon stretches it by 0.2 m.
#[test]
fn couplings_and_tendons_of_a_robot_file_act_in_the_scene() {
    let folder = tempdir().unwrap();
    let body = |name: &str, axis: &str, mass: f64, rest: &str| {
        format!(
            "<body name=\"{name}\"><joint name=\"{name}\" type=\"slide\" axis=\"{axis}\" damping=\"20\"/>\
             <inertial pos=\"0 0 0\" mass=\"{mass}\" diaginertia=\"1 1 1\"/>{rest}</body>"
        )
    };
    let text = format!(
        "<mujoco><option gravity=\"0 0 -10\"/><worldbody><site name=\"up\" pos=\"0 0 3\"/>{}{}{}</worldbody>\
         <tendon><spatial name=\"line/1\" stiffness=\"50\"><site site=\"up\"/><site site=\"low\"/></spatial></tendon>\
         <equality><joint name=\"half\" joint1=\"c\" joint2=\"s\" polycoef=\"0 0.5\"/></equality>\
         <actuator><position name=\"hold\" joint=\"s\" kp=\"100\" forcerange=\"-5 30\"/></actuator></mujoco>",
        body("s", "0 0 1", 2.0, ""),
        body("c", "1 0 0", 1.0, ""),
        body("t", "0 0 1", 1.0, "<site name=\"low\"/>")
    );
    std::fs::write(folder.path().join("hand.xml"), text).unwrap();
    let out = dalembert(folder.path(), &["import", "hand.xml", "--out", "hand.toml"]).with(0).out;
    assert_eq!(out.matches("not taken over").count(), 1, "only the control is left open: {out}");
    let out = dalembert(folder.path(), &["run", "hand.toml", "--until", "20", "--json", "--out", "run"]).with(0).out;
    let summary: serde_json::Value = serde_json::from_str(&out).unwrap();
    for (k, exact) in [-0.2, -0.1, -0.2].into_iter().enumerate() {
        let found = summary["final_state"]["q"][k].as_f64().unwrap();
        assert!((found - exact).abs() < 1e-6, "{k}: {found} against {exact}");
    }
}
