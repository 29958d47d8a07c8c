//! Whatever bytes a scene holds, reading it ends with a document or an error. See `dalembert::scene::fuzz_one`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dalembert::scene::fuzz_one(bytes));
