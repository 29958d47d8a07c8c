//! `dalembert new`.

use crate::args::NewOptions;
use crate::exit::Exit;
use dalembert::scenes::STARTER;
use std::fs::OpenOptions;
use std::io::Write;

/// Writes the starter scene to a new file.
pub fn new(options: &NewOptions) -> Result<(), Exit> {
    let path = options.file.display();
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&options.file)
        .map_err(|error| Exit::io(&format!("make `{path}`"), &error))?;
    file.write_all(STARTER.as_bytes()).map_err(|error| Exit::io(&format!("write `{path}`"), &error))?;
    crate::print(&format!("{path}: try `dalembert run {path}`\n"))
}
