//! Whatever bytes a file holds, reading it as SDF ends with a robot or an error. See `dalembert_robots::fuzz_one`.
#![no_main]

use dalembert_robots::{fuzz_one, read_sdf};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_one(bytes, read_sdf));
