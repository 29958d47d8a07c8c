//! Whatever text a robot file holds, reading it ends with a tree or an error; a tree that was read has finite dynamics or says so.
#![no_main]

use dalembert_robots::{Base, read};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for base in [Base::Fixed, Base::Free] {
        if let Ok(robot) = read(text, base) {
            assert_eq!(robot.initial.len(), robot.tree.coordinates());
            let _ = dalembert_robots::write_urdf(&robot.tree, &robot.name);
        }
    }
});
