//! Robots against samples computed by MuJoCo and Pinocchio, in the folder named by `DALEMBERT_ROBOTS`; run with `--ignored`.
#![allow(clippy::unwrap_used)]

use dalembert_methods::vector::Vec3;
use dalembert_robots::evaluate::{Quantity, TreeState, evaluate};
use dalembert_robots::{Base, Imported, read};
use serde_json::Value;

/// Relative to the largest entry; the samples have 16 digits.
const TOLERANCE: f64 = 1e-9;

fn load(file: &str) -> String {
    let folder = std::env::var("DALEMBERT_ROBOTS").unwrap();
    std::fs::read_to_string(format!("{folder}/{file}")).unwrap()
}

fn list(v: &Value) -> Vec<f64> {
    match v {
        Value::Array(a) => a.iter().flat_map(list).collect(),
        other => vec![other.as_f64().unwrap()],
    }
}

#[track_caller]
fn close(what: &str, a: &[f64], b: &[f64]) {
    assert_eq!(a.len(), b.len(), "{what}");
    let scale = a.iter().fold(1e-3f64, |m, x| m.max(x.abs()));
    let worst = a.iter().zip(b).map(|(x, y)| (x - y).abs() / scale).fold(0.0, f64::max);
    println!("{what}: {worst:.1e}");
    assert!(worst < TOLERANCE, "{what}: {a:?} against {b:?}");
}

fn row(robot: &Imported, quantity: Quantity, link: Option<&str>, s: &TreeState) -> Vec<f64> {
    let link = link.map(|l| (l, Vec3::zero()));
    evaluate(&robot.tree, quantity, link, std::slice::from_ref(s)).unwrap().rows.remove(0)
}

#[test]
#[ignore = "needs the reference data"]
fn ur5e_meets_mujoco() {
    let robot = read(&load("ur5e.xml"), Base::Fixed).unwrap();
    let sample: Value = serde_json::from_str(&load("ur5e_dynamics_sample.json")).unwrap();
    // The base of the file is fixed and carries mass too.
    let masses: f64 = robot.tree.links().iter().map(|l| l.mass.mass).sum();
    close("total mass", &[sample["total_mass"].as_f64().unwrap()], &[masses]);
    for case in sample["cases"].as_array().unwrap() {
        let s = TreeState { q: list(&case["qpos"]), v: list(&case["qvel"]), a: vec![0.0; 6], tau: list(&case["tau"]) };
        close("mass matrix", &list(&case["mass_matrix"]), &row(&robot, Quantity::MassMatrix, None, &s));
        close("bias", &list(&case["bias"]), &row(&robot, Quantity::Bias, None, &s));
        close("passive", &list(&case["passive"]), &row(&robot, Quantity::Passive, None, &s));
        close("acceleration", &list(&case["qacc"]), &row(&robot, Quantity::ForwardDynamics, None, &s));
        for (name, at) in case["xpos"].as_object().unwrap() {
            close(name, &list(at), &row(&robot, Quantity::Place, Some(name), &s)[..3]);
        }
    }
}

#[test]
#[ignore = "needs the reference data"]
fn panda_meets_pinocchio() {
    let robot = read(&load("panda.urdf"), Base::Fixed).unwrap();
    let sample: Value = serde_json::from_str(&load("panda_urdf_dynamics_sample.json")).unwrap();
    let order: Vec<String> = list_names(&sample["joint_names"]);
    assert_eq!(robot.tree.velocity_names(), order);
    for case in sample["cases"].as_array().unwrap() {
        let s = TreeState { q: list(&case["q"]), v: list(&case["v"]), a: list(&case["a"]), tau: list(&case["tau"]) };
        close("mass matrix", &list(&case["mass_matrix"]), &row(&robot, Quantity::MassMatrix, None, &s));
        close("inverse dynamics", &list(&case["rnea"]), &row(&robot, Quantity::InverseDynamics, None, &s));
        close("bias", &list(&case["bias"]), &row(&robot, Quantity::Bias, None, &s));
        close("acceleration", &list(&case["aba"]), &row(&robot, Quantity::ForwardDynamics, None, &s));
        let energy = [case["kinetic"].as_f64().unwrap(), case["potential"].as_f64().unwrap()];
        close("kinetic energy", &energy[..1], &row(&robot, Quantity::Energy, None, &s)[..1]);
    }
}

#[test]
#[ignore = "needs the reference data"]
fn walking_robots_are_read() {
    for (file, bodies) in [("go2.xml", 13), ("h1.xml", 20)] {
        let robot = read(&load(file), Base::Fixed).unwrap();
        assert_eq!(robot.tree.links().len(), bodies, "{file}");
        assert_eq!(robot.initial[2], robot.initial[2].abs());
        println!("{file}: {} freedoms, {} things left out", robot.tree.velocities(), robot.left_out.len());
    }
}

fn list_names(v: &Value) -> Vec<String> {
    v.as_array().unwrap().iter().map(|x| x.as_str().unwrap().to_string()).collect()
}
