//! `dalembert view`: the studio, a scene that runs in the browser while it is being written.
//!
//! One thread simulates ([`stage`]), one watches the scene's files ([`files`]), some answer requests ([`server`]), and each open page has
//! one that sends it what is new. They meet in [`show::Show`], which holds the motion of the current run once, for all pages.

mod files;
mod http;
mod page;
mod server;
mod show;
mod stage;

use crate::args::ViewOptions;
use crate::exit::Exit;
use crate::{print, source, viewer};
use server::Server;
use show::Show;
use stage::Stage;
use std::sync::Arc;

/// Opens the studio for a scene and stays until it is stopped.
pub fn view(options: &ViewOptions) -> Result<(), Exit> {
    let Some(script) = viewer::script() else {
        return Err(Exit::Usage(format!("this program was built without the viewer; {}", viewer::HOW)));
    };
    // A scene that does not exist is a mistake on the command line; one that is wrong can be mended while the studio is open.
    if let Err(exit @ Exit::Usage(_)) = source::load(&options.scene, &[]) {
        return Err(exit);
    }
    let show = Arc::new(Show::default());
    let stage = Arc::new(Stage::new(&options.scene, Arc::clone(&show)));
    let server = Server::start(options.port, script, Arc::clone(&show), Arc::clone(&stage))?;
    print(&format!("{}\n", server.address()))?;
    if !options.no_open {
        open(server.address());
    }
    let simulating = Arc::clone(&stage);
    std::thread::spawn(move || simulating.work());
    let watching = Arc::clone(&stage);
    std::thread::spawn(move || files::watch(&watching));
    server.serve();
    Ok(())
}

/// Asks the system to show an address. Who has no browser can still copy it.
fn open(address: &str) {
    use std::process::{Command, Stdio};
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        let mut command = Command::new("cmd");
        command.args(["/C", "start", ""]);
        command
    } else {
        Command::new("xdg-open")
    };
    let _ = command.arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}
