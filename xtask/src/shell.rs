//! Running programs and finding places.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a chore gives: nothing, or the reason why it failed.
pub type Outcome<T = ()> = Result<T, String>;

/// The root of the project.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// The folder of all build products: this program was built into `<target>/<profile>/`.
pub fn target() -> PathBuf {
    let own = std::env::current_exe().ok();
    own.as_deref().and_then(Path::parent).and_then(Path::parent).map_or_else(|| root().join("target"), Path::to_owned)
}

/// Where tools of chores are installed.
pub fn tools() -> PathBuf {
    target().join("tools")
}

/// A program run at the root of the project.
pub fn command(program: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// The cargo that runs this program, with the folder of build products of this program.
pub fn cargo(arguments: &[&str]) -> Command {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = command(cargo, arguments);
    command.env("CARGO_TARGET_DIR", target());
    command
}

/// Runs a program and says which one failed.
pub fn run(command: &mut Command) -> Outcome {
    let status = command.status().map_err(|error| format!("cannot start {}: {error}", shown(command)))?;
    if status.success() { Ok(()) } else { Err(format!("{} ended with {status}", shown(command))) }
}

/// Runs a program and gives what it printed; its error output goes to the terminal.
pub fn output(command: &mut Command) -> Outcome<String> {
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("cannot start {}: {error}", shown(command)))?;
    if !output.status.success() {
        return Err(format!("{} ended with {}", shown(command), output.status));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("{} printed text that is not UTF-8", shown(command)))
}

/// Whether a program can be run at all.
pub fn works(command: &mut Command) -> bool {
    command.stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

/// Makes sure that a program is there: on Debian by its package, elsewhere by asking for it.
pub fn provide(program: &str, package: &str) -> Outcome {
    if works(&mut command(program, &["--version"])) { Ok(()) } else { install(program, package) }
}

/// Installs a package on Debian, and asks for what is missing elsewhere.
pub fn install(missing: &str, package: &str) -> Outcome {
    println!("{missing} is missing; installing Debian's package {package}");
    let install = ["install", "--yes", "--no-install-recommends", package];
    let installed = works(&mut command("apt-get", &["update", "--quiet"]))
        && run(command("apt-get", &install).env("DEBIAN_FRONTEND", "noninteractive")).is_ok();
    if installed { Ok(()) } else { Err(format!("`{missing}` is needed; install it and try again")) }
}

/// The program and its arguments in one line.
fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args()).map(OsStr::to_string_lossy);
    format!("`{}`", words.collect::<Vec<_>>().join(" "))
}

/// A tool of [`tools`], installed from crates.io when it is missing.
pub fn installed(package: &str, program: &str) -> Outcome<PathBuf> {
    let path = tools().join("bin").join(format!("{program}{}", std::env::consts::EXE_SUFFIX));
    if !path.exists() {
        println!("installing {package} into {}", tools().display());
        let tools = tools();
        run(cargo(&["install", package, "--locked", "--root"]).arg(&tools))?;
    }
    Ok(path)
}

/// Reads a text file.
pub fn read(path: &Path) -> Outcome<String> {
    std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// Writes a file and the folders it needs, and says so.
pub fn write(path: &Path, text: &str) -> Outcome {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    }
    std::fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    println!("wrote {}", path.strip_prefix(root()).unwrap_or(path).display());
    Ok(())
}

/// The files below a folder whose names end so, in order.
pub fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path, ending));
        } else if path.to_string_lossy().ends_with(ending) {
            found.push(path);
        }
    }
    found.sort();
    found
}
