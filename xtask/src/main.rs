//! Chores of the project: `cargo xtask <command>`. It needs nothing but the standard library.

mod analysis;
mod book;
mod chores;
mod control;
mod dae;
mod gallery;
mod graph;
mod monte_carlo;
mod peers;
mod pictures;
mod python;
mod shell;
mod soft;
mod solar;
mod test;
mod tidy;
mod viewer;

use shell::Outcome;
use std::process::ExitCode;

/// One chore: its name, its arguments, what it does, and the function that does it.
struct Chore {
    name: &'static str,
    arguments: &'static str,
    about: &'static str,
    detail: &'static str,
    run: fn(&[String]) -> Outcome,
}

const CHORES: &[Chore] = &[
    Chore {
        name: "test",
        arguments: "",
        about: "everything that must pass before a change is merged",
        detail: "Stages: format, viewer, clippy, build, tests (with doc tests and the fuzz corpus), examples, rustdoc, browser, python,\n\
                 book, tidiness.\n\
                 Stops at the first stage that fails. All stages share one profile, so everything is built once.",
        run: test::run,
    },
    Chore {
        name: "viewer",
        arguments: "",
        about: "build the 3-D viewer with Node.js; the next build of the command line takes it in",
        detail: "Fetches its packages from npm as package-lock.json says, checks the types and writes viewer/dist/viewer.js.",
        run: viewer::build,
    },
    Chore {
        name: "browser",
        arguments: "",
        about: "test reports and the studio in headless Chromium",
        detail: "Builds viewer and command line first. Chromium is taken from Debian's package; DALEMBERT_BROWSER names another one.",
        run: viewer::test,
    },
    Chore {
        name: "python",
        arguments: "",
        about: "build the Python package, check its types and run its tests",
        detail: "Makes a Python environment in target/python with packages from PyPI, installs the package there with pip and maturin, as people\n\
                 do, but with the profile of the tests, and builds a wheel, which must run in an environment with nothing else.",
        run: python::test,
    },
    Chore {
        name: "wheel",
        arguments: "",
        about: "build the wheel of the Python package for release, install it where there is nothing else, and time its import",
        detail: "The wheel is left in target/wheels-release. An import may take 0.3 s of the processor.",
        run: python::wheel,
    },
    Chore {
        name: "python-stubs",
        arguments: "",
        about: "write the types of all elements, python/dalembert/_elements.pyi, from the registry",
        detail: "To be run when kinds or keys of elements change; the tests of the package say so.",
        run: python::stubs,
    },
    Chore {
        name: "python-speed",
        arguments: "[--quick]",
        about: "race the Python package against the command line, Pinocchio and MuJoCo, write the table of docs/src/python.md",
        detail: "Builds package and command line for release. Import time, a run against the command line's, and a million forward dynamics of an arm\n\
                 of seven joints in one call. With --quick the table is only printed.",
        run: python::speed,
    },
    Chore {
        name: "viewer-speed",
        arguments: "",
        about: "measure frames per second of a leech of 200 segments and of 1000 boxes at 720p",
        detail: "In headless Chromium, so mostly with software rendering; prints a table.",
        run: viewer::speed,
    },
    Chore {
        name: "studio-soak",
        arguments: "[seconds]",
        about: "run the studio at 60 updates a second and watch its memory (default 180 s)",
        detail: "Fails if the memory of the server or of the page grows beyond what its first third had needed.",
        run: viewer::soak,
    },
    Chore {
        name: "rerun",
        arguments: "",
        about: "build the command line with the feature `rerun`, and let Rerun read what it writes",
        detail: "Compiles some 250 packages more. Rerun comes from PyPI; its tables of three recordings are compared with the run records.",
        run: viewer::rerun,
    },
    Chore {
        name: "soft",
        arguments: "",
        about: "race a soft cylinder against SciPy's LSODA and Radau",
        detail: "Prints errors and CPU times of dalembert and of SciPy with a compiled right-hand side and a fixed quadrature.",
        run: soft::run,
    },
    Chore {
        name: "analysis",
        arguments: "",
        about: "race exponents and charts of stability against SciPy with numba",
        detail: "Prints values and times of dalembert and of SciPy with right-hand sides compiled by numba.",
        run: analysis::run,
    },
    Chore {
        name: "graph",
        arguments: "[--quick]",
        about: "race Jacobians by expression graphs against CasADi, write the table of docs/src/graph.md",
        detail: "Virtual machine and C code (gcc -O3 -march=native) of CasADi from PyPI against machine code for one and for two states. With\n\
                 --quick the table is only printed.",
        run: graph::run,
    },
    Chore {
        name: "control",
        arguments: "[--quick]",
        about: "race optimal control against CasADi with Ipopt, write the table of docs/src/control.md",
        detail: "Cart-pole and a chain of four bodies: the same discretisation, tolerance and start; CasADi comes from PyPI. With --quick the\n\
                 table is only printed.",
        run: control::run,
    },
    Chore {
        name: "gallery",
        arguments: "[page]",
        about: "run all built-in scenes and write docs/src/gallery.md with their pictures",
        detail: "Needs Chromium for the pictures. With the word `page` nothing is run: texts are written anew beside the pictures there are. The reports go to docs/src/gallery, beside the page, and are not kept under\n\
                 version control.",
        run: gallery::build,
    },
    Chore {
        name: "book",
        arguments: "",
        about: "build the book into docs/book",
        detail: "Checks the pages first, as `test` does. Installs mdbook into target/tools when it is missing there.",
        run: book::build,
    },
    Chore {
        name: "reference",
        arguments: "",
        about: "write docs/src/reference.md from `dalembert list --markdown`",
        detail: "The page lists every element and integrator that the tool knows.",
        run: chores::reference,
    },
    Chore {
        name: "schema",
        arguments: "",
        about: "write docs/src/scene.schema.json from `dalembert schema`",
        detail: "Editors use the schema to complete and check scenes.",
        run: chores::schema,
    },
    Chore {
        name: "pictures",
        arguments: "[SCENE]...",
        about: "draw the pictures of README and book with the tool itself",
        detail: "Runs built-in scenes, or those that are named, and writes their pictures into docs/src/pictures. `test` checks that each is there and shown.",
        run: pictures::draw,
    },
    Chore {
        name: "peers",
        arguments: "[--quick]",
        about: "race against Exudyn and MuJoCo, write docs/src/benchmarks.md",
        detail: "Makes a Python environment in target/peers with packages from PyPI, and runs the chain pendulum with\n\
                 each of them and with dalembert. A peer that cannot be installed is left out, and the page says so.\n\
                 With --quick only short chains run, and the page goes to target/peers/benchmarks.md.",
        run: peers::run,
    },
    Chore {
        name: "dae",
        arguments: "[--quick]",
        about: "work and precision against SUNDIALS IDA and RADAU5, write docs/src/benchmarks-dae.md",
        detail: "Runs the bench `precision` and the same systems with IDA of the package scikit-sundae from PyPI, in the\n\
                 Python environment of `peers`, and the leech with RADAU5 of the R package deSolve; needs gcc. With --quick few tolerances run, and the page goes to target/peers.",
        run: dae::run,
    },
    Chore {
        name: "solar",
        arguments: "[days]",
        about: "the solar system for a million days by variational integrators and by REBOUND, planet by planet",
        detail: "Runs the bench `solar` of dalembert-methods on the state of the scene `solar-system`, and REBOUND's leapfrog and WHFast\n\
                 from PyPI in the Python environment of `peers`. Prints errors of places after a century, energies, frequencies and seconds, writes\n\
                 the table into docs/src/variational.md and draws frequencies, energies and orbits.",
        run: solar::run,
    },
    Chore {
        name: "figures",
        arguments: "[quick] [STUDY]",
        about: "studies of variational integrators, drawn into docs/src/pictures",
        detail: "Runs the bench `variational` of dalembert-methods: errors of the oscillator, the period and energy of a pendulum over 1e5 swings,\n\
                 computing time over micro steps, one rate against several at equal error. Takes some minutes; with `quick` a few runs only. A study is\n\
                 oscillator, multirate, race or pendulum.",
        run: solar::figures,
    },
    Chore {
        name: "scaling",
        arguments: "[--quick]",
        about: "print the time of a leech against its length, with the exponent of a power law",
        detail: "From 5 to 2000 segments, with a volume for each and with one for all, free and on a wall; `bench scaling`.",
        run: chores::scaling,
    },
    Chore {
        name: "peers-trees",
        arguments: "[--quick]",
        about: "race the tree algorithms against Pinocchio, write docs/src/benchmarks-trees.md",
        detail: "Makes a Python environment in target/peers with `pin` and `example-robot-data` from PyPI, compiles Pinocchio's\n\
                 algorithms for this processor, and compares times and instructions. Installs Debian's packages of clang, Eigen 3 and\n\
                 valgrind where they are missing. With --quick there is one round without instructions, and the page goes to target/peers.",
        run: peers::trees,
    },
    Chore {
        name: "robots",
        arguments: "FOLDER",
        about: "compare robots with samples of dynamics computed by MuJoCo and Pinocchio",
        detail: "The folder holds ur5e.xml, panda.urdf, go2.xml, h1.xml and the samples *_dynamics_sample.json; all numbers must agree to\n\
                 1e-9 of the largest entry.",
        run: peers::robots,
    },
    Chore {
        name: "monte-carlo",
        arguments: "[ROWS]",
        about: "sweep ten thousand heads of leeches and bobs on springs, with one worker and two, killed three times, and in lanes",
        detail: "Friction and speed, stiffness and start are random. Prints times, compares tables byte by byte and demands speed-ups from workers and lanes, so it\n\
                 wants a quiet machine. The variable DALEMBERT names a program to use instead of a new release build.",
        run: monte_carlo::run,
    },
    Chore {
        name: "crossing",
        arguments: "",
        about: "measure from how many links on recursion wins, draw docs/src/pictures/crossing.svg",
        detail: "Forward dynamics of serial chains by the recursion of Gauss transformations, mass matrix and Cholesky's factor, mass matrix\n\
                 inverted, and articulated bodies; prints the table.",
        run: peers::crossing,
    },
    Chore {
        name: "bench",
        arguments: "[criterion arguments]",
        about: "run the criterion benches",
        detail: "Arguments are passed on, such as a name to run only some of them.",
        run: chores::bench,
    },
    Chore {
        name: "fuzz",
        arguments: "[seconds] [scene|urdf|mjcf|sdf]",
        about: "fuzz a reader, of scenes if not said (default 600 s; needs a nightly toolchain)",
        detail: "Installs cargo-fuzz into target/tools when it is missing there. What it learns joins fuzz/corpus,\n\
                 which `test` replays on stable Rust.",
        run: chores::fuzz,
    },
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let asks_help = |text: &String| matches!(text.as_str(), "help" | "--help" | "-h");
    let Some(name) = arguments.first().filter(|name| !asks_help(name)) else {
        help();
        return if arguments.is_empty() { ExitCode::from(2) } else { ExitCode::SUCCESS };
    };
    let Some(chore) = CHORES.iter().find(|chore| chore.name == name) else {
        eprintln!("xtask: there is no command `{name}`\n");
        help();
        return ExitCode::from(2);
    };
    if arguments[1..].iter().any(asks_help) {
        println!("cargo xtask {} {}\n\n{}.\n\n{}", chore.name, chore.arguments, chore.about, chore.detail);
        return ExitCode::SUCCESS;
    }
    match (chore.run)(&arguments[1..]) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("\nxtask {name}: {message}");
            ExitCode::FAILURE
        }
    }
}

fn help() {
    println!("cargo xtask <command>: chores of the project\n");
    for chore in CHORES {
        println!("  {:<32} {}", format!("{} {}", chore.name, chore.arguments), chore.about);
    }
    println!("\n`cargo xtask <command> --help` says more.");
}
