//! Whatever text a file holds, reading it as URDF ends with a tree or an error, and the tree can be written again or says why not.
#![no_main]

use dalembert_robots::{Base, Imported, ReadError, read_urdf, write_urdf};

fn check(read: Result<Imported, ReadError>) {
    if let Ok(robot) = read {
        assert_eq!(robot.initial.len(), robot.tree.coordinates());
        let _ = write_urdf(&robot.tree, &robot.name);
    }
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for base in [Base::Fixed, Base::Free] {
        check(read_urdf(text, base));
    }
});
