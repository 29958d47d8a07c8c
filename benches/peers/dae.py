"""Andrews' mechanism, the car axis and the leech: the integrators of dalembert against SUNDIALS IDA and RADAU5, and a page of results.

The lines of dalembert come from `cargo bench -p dalembert --bench precision`. IDA comes inside the package scikit-sundae; dae.c
next to this file is compiled with gcc and linked to it, so that right-hand sides are machine code on both sides. RADAU5, the code of
Hairer and Wanner, is taken from the library of the R package deSolve. Short runs are taken several times; CPU seconds of the integration alone count. Errors are the largest of positions (m) or angles (rad) at the end.

Used by `cargo xtask dae`; see `--help`.
"""

import argparse
import glob
import math
import os
import subprocess
import sys
from importlib import metadata, util

from chain import best_time, time_at

HERE = os.path.dirname(os.path.abspath(__file__))

# Which unknowns of IDA are compared, and with what: Test Set for IVP Solvers, release 2.4.
REFERENCES = {
    "andrews": {0: 15.81077119629904, 2: 0.04082224013073101, 4: 0.5244099658805304, 6: 1.048080741042263},
    "car-axis": {0: 0.04934557842754028, 1: 0.49698946023017115, 2: 1.0417425248854215, 3: 0.37391102726536124},
}
PROBLEMS = {
    "andrews": (
        "Andrews' squeezing mechanism",
        "Seven bodies in a plane, 0.03 s. IDA solves the equations of the test set: 7 angles and 6 constraints. dalembert runs its scene, "
        "rigid bodies in space with ten hinges: 42 velocities and 50 rows, of which many are redundant. This is a price for "
        "building models from elements, not a property of the integrators.",
    ),
    "car-axis": (
        "Car axis",
        "Two masses on stiff springs over a wavy road, 3 s. IDA solves the equations of the test set: 4 coordinates and 2 constraints. dalembert "
        "runs its scene, in space and with the road as a body.",
    ),
    "leech-21": (
        "Leech of 21 segments",
        "The scene `leech-21`: 264 coordinates, 264 velocities and 21 pressures over 2 s, with a volume for each segment. A gentle wave. "
        "dalembert integrates its ledger of energies besides, IDA does not.",
    ),
    "impact": (
        "The same leech after an impact",
        "The body of `leech-21` as an impact at 10 m/s leaves it: the front face has just been stopped, the rest flies on. What happens until the "
        "next event, here for 0.5 s, is what a leech that collides spends its time with.",
    ),
}
FORMS = {1: "index 1", 2: "index 2", 3: "stabilised index 2"}
# Ways to solve: the word dae.c knows, the solver, how it gets and factors its Jacobian.
SMALL = [("plain", "IDA", "dense")]
LEECH = [("plain", "IDA", "dense"), ("band", "IDA", "banded, exact Jacobian"), ("radau", "RADAU5", "dense")]
SOLVERS = {"andrews": SMALL, "car-axis": SMALL, "leech-21": LEECH, "impact": LEECH}


def libraries():
    """The folder with the libraries of SUNDIALS inside the package."""
    package = os.path.dirname(util.find_spec("sksundae").origin)
    folder = os.path.join(os.path.dirname(package), "scikit_sundae.libs")
    if not os.path.isdir(folder):
        raise RuntimeError("scikit-sundae was installed without libraries of its own")
    return folder


def build(scratch):
    """Compiles dae.c; gives the program."""
    program, folder = os.path.join(scratch, "dae"), libraries()
    names = ("ida", "core", "nvecserial", "sunmatrixband", "sunmatrixdense", "sunlinsolband", "sunlinsoldense", "sunlinsollapackband")
    files = [glob.glob(os.path.join(folder, f"libsundials_{name}-*.so*"))[0] for name in names]
    command = ["gcc", "-O3", "-march=native", "-o", program, os.path.join(HERE, "dae.c"), *files]
    subprocess.run([*command, f"-Wl,-rpath,{folder}", "-Wl,--allow-shlib-undefined", "-ldl", "-lm"], check=True)
    return program


def solve(program, problem, form, solver, tolerance, shape, radau, limit):
    """CPU seconds, steps, residuals, Jacobians and the coordinates at the end."""
    repeats = "1" if solver == "plain" and problem not in REFERENCES else "5"
    name = problem if problem in REFERENCES else "leech"
    command = [program, name, str(form), repr(tolerance), repeats, solver, shape, radau]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f"exit code {done.returncode}")
    words = done.stdout.split()
    values = [float(word) for word in words[4:]]
    return float(words[0]), [int(word) for word in words[1:4]], values[: len(values) // 2]


def own_lines(file):
    """Rows by problem from the lines of the bench: name, setting, seconds, error, and counts."""
    rows = {}
    with open(file, encoding="utf-8") as lines:
        for line in lines:
            words = line.split()
            if len(words) == 8 and words[0] in PROBLEMS:
                problem, method, tolerance, seconds, steps, forces, factors, error = words
                counts = [int(steps), int(forces), int(factors)]
                rows.setdefault(problem, []).append((f"dalembert {method}", tolerance, float(seconds), float(error), counts))
    return rows


def race(program, problem, shape, radau, quick):
    """The runs of the outside solvers on one problem."""
    reference = REFERENCES.get(problem)
    if reference is None:
        with open(shape, encoding="utf-8") as file:
            values = [float(word) for word in file.read().split()[2:]]
        reference = dict(enumerate(values[2 * len(values) // 3 :]))
    rows, notes = [], []
    exponents = [4, 7, 10] if quick else range(3, 13)
    for word, solver, how in SOLVERS[problem]:
        for form, title in FORMS.items():
            if word == "radau" and form == 3:
                continue
            name = f"{solver} {title}, {how}"
            for exponent in exponents:
                tolerance = 10.0**-exponent
                try:
                    seconds, counts, q = solve(program, problem, form, word, tolerance, shape, radau, 60)
                except (RuntimeError, subprocess.TimeoutExpired) as reason:
                    notes.append(f"{problem}: {name} at {tolerance:g}: {reason}")
                    continue
                error = max(abs(q[i] - value) for i, value in reference.items())
                rows.append((name, f"{tolerance:g}", seconds, error, counts))
                print(f"  {name:50s} {tolerance:7g} {seconds:9.5f} s  error {error:.2e}", flush=True)
                if seconds > (1.0 if quick else 10.0):
                    break
    return rows, notes


ERRORS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9)


def table(problem, rows):
    """All runs, and times at equal error."""
    title, about = PROBLEMS[problem]
    lines = ["", f"## {title}", "", about, ""]
    plain = [row[:4] for row in rows]
    names = list(dict.fromkeys(row[0] for row in rows))
    own = [name for name in names if name.startswith("dalembert")]
    others = [name for name in names if not name.startswith("dalembert")]
    lines += ["CPU time in ms at equal error, interpolated between runs:", ""]
    lines += ["| Error | " + " | ".join(names) + " |", "|---:|" + "---:|" * len(names)]
    for error in ERRORS:
        times = [time_at(plain, name, error) for name in names]
        lines.append(f"| {error:.0e} | " + " | ".join(f"{1e3 * t:.3g}" if t else "–" for t in times) + " |")
    # Forms of the constraints are a choice of the user: the fastest one counts for each way of solving.
    ways = list(dict.fromkeys((name.split(" ")[0], name.split(", ", 1)[1]) for name in others))
    titles = " | ".join(", ".join(way) for way in ways)
    lines += ["", "The best of dalembert against the best form of others, times as ratios; above 1 dalembert is faster:", ""]
    lines += [f"| Error | dalembert | {titles} |", "|---:|---|" + "---:|" * len(ways)]
    for error in ERRORS:
        mine, which = best_time(plain, own, error)
        cells = []
        for way in ways:
            forms = [name for name in others if name.startswith(way[0]) and name.split(", ", 1)[1] == way[1]]
            theirs, _ = best_time(plain, forms, error)
            cells.append(f"{theirs / mine:.2g}" if mine and theirs else "–")
        shown = f"{1e3 * mine:.3g} ms ({which.removeprefix('dalembert ')})" if mine else "–"
        lines.append(f"| {error:.0e} | {shown} | " + " | ".join(cells) + " |")
    lines += ["", "<details><summary>All runs</summary>", "", "| Method | Tolerance | CPU time in ms | Error | Steps | Evaluations | Factorisations |"]
    lines += ["|---|---:|---:|---:|---:|---:|---:|"]
    for name, setting, seconds, error, (steps, evaluations, factors) in rows:
        shown = f"{error:.1e}" if math.isfinite(error) else "diverged"
        lines.append(f"| {name} | {float(setting):g} | {1e3 * seconds:.3g} | {shown} | {steps} | {evaluations} | {factors} |")
    return [*lines, "", "</details>"]


def page(results, notes):
    """The page of the book."""
    lines = [
        "# Work and precision",
        "",
        "<!-- Written by `cargo xtask dae`; changes by hand are lost. -->",
        "",
        "This page is written by `cargo xtask dae`. It runs the integrators of dalembert, IDA of SUNDIALS and RADAU5 on three constrained",
        "systems and prints error against time.",
        "",
        f"**Outside solvers.** IDA of SUNDIALS 7 in the package scikit-sundae {metadata.version('scikit-sundae')}: BDF of variable order up to",
        "5. Residuals are C, compiled with `gcc -O3 -march=native` and called by IDA directly. Three forms of the constraints are tried: on",
        "the level of accelerations (index 1, which drifts), of velocities (index 2), and of velocities with positions",
        "(index 2, stabilised after Gear, Gupta and Leimkuhler). Multipliers stay out of the error test. *Dense* is IDA as it comes: it",
        "differences its own Jacobian and factors it as a full matrix. *Banded* has unknowns ordered by faces of the leech, the",
        "exact Jacobian written by hand for this model, and IDA's band solver: the best one can do for it with much work. RADAU5 is the",
        "code of Hairer and Wanner as it comes in the R package deSolve, with the same right-hand side and a Jacobian it differences itself.",
        "",
        "**Rules.** One thread, CPU seconds of the integration alone. Tolerances from 1e-3 to 1e-12, the same number relative and absolute.",
        "The error is the largest of positions (m) or angles (rad) at the end.",
        "",
        f"**Machine.** {os.cpu_count()} cores.",
    ]
    for problem, rows in results.items():
        lines += table(problem, rows)
    if notes:
        lines += ["", "## Runs that failed", ""] + [f"- {note}" for note in notes]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Race the integrators of dalembert against SUNDIALS IDA and RADAU5.")
    parser.add_argument("--own", required=True, help="the lines printed by the bench `precision`")
    parser.add_argument("--folder", required=True, help="where that bench wrote starts and ends of leeches")
    parser.add_argument("--scratch", default=".", help="folder for the compiled program")
    parser.add_argument("--page", required=True, help="where to write the page of the book")
    parser.add_argument("--radau", required=True, help="the library of the R package deSolve")
    parser.add_argument("--quick", action="store_true", help="few tolerances, to try it out")
    arguments = parser.parse_args()
    program = build(arguments.scratch)
    results, notes = {}, []
    for problem, rows in own_lines(arguments.own).items():
        print(problem, flush=True)
        theirs, failed = race(program, problem, os.path.join(os.path.abspath(arguments.folder), problem + ".txt"), arguments.radau, arguments.quick)
        results[problem] = rows + theirs
        notes += failed
    with open(arguments.page, "w", encoding="utf-8") as file:
        file.write(page(results, notes))
    print(f"wrote {arguments.page}")
    return 0 if results else 1


if __name__ == "__main__":
    sys.exit(main())
