"""Tree algorithms against Pinocchio: times of one call, and ratios.

Writes the models (a 6-axis arm, a 7-axis arm with fingers, a humanoid with a free base, serial chains) to a plain text file, builds
trees.cpp against the headers of the PyPI package `pin` with all optimisations for this processor, runs it and our own program in
turn several times, and keeps the smallest time of each. One thread. Our program is compiled twice, for every processor of the
architecture (it chooses its instructions when it runs) and for this one. The instructions of one call are counted by callgrind, which other
programs on the machine cannot disturb. The results go to a page of the book.

Used by `cargo xtask peers-trees`; see `--help`.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig

os.environ["OMP_NUM_THREADS"] = "1"
CHAINS = (2, 4, 8, 16, 32, 64, 128)
ROBOTS = (
    ("ur5", "ur_description/urdf/ur5_robot.urdf", False),
    ("panda", "panda_description/urdf/panda.urdf", False),
    ("talos_ff", "talos_data/robots/talos_reduced.urdf", True),
)
ALGORITHMS = ("rnea", "crba", "aba", "rnea_derivatives", "aba_derivatives")


def robots(out):
    """Robots of the package example-robot-data, as Pinocchio reads them."""
    import numpy
    import pinocchio

    prefix = os.path.join(sysconfig.get_paths()["purelib"], "cmeel.prefix")
    folder = os.path.join(prefix, "share", "example-robot-data", "robots")
    for name, path, free in ROBOTS:
        file = os.path.join(folder, path)
        model = pinocchio.buildModelFromUrdf(file, pinocchio.JointModelFreeFlyer()) if free else pinocchio.buildModelFromUrdf(file)
        data = model.createData()
        out.write(f"model {name} {model.njoints - 1}\n")
        for j in range(1, model.njoints):
            kind = model.joints[j].shortname().replace("JointModel", "")
            axis = [0.0, 0.0, 0.0]
            if kind == "FreeFlyer":
                kind = "FF"
            elif kind.endswith("Unaligned"):
                velocity = numpy.zeros(model.nv)
                velocity[model.joints[j].idx_v] = 1
                pinocchio.forwardKinematics(model, data, pinocchio.neutral(model), velocity)
                motion = data.v[j]
                axis = list(motion.angular if abs(motion.angular).sum() > 0.5 else motion.linear)
                kind = kind[0] + "U"
            place, inertia = model.jointPlacements[j], model.inertias[j]
            i = inertia.inertia
            numbers = axis + list(place.rotation.reshape(-1)) + list(place.translation) + [inertia.mass] + list(inertia.lever)
            numbers += [i[0, 0], i[0, 1], i[0, 2], i[1, 1], i[1, 2], i[2, 2]]
            out.write(f"{model.parents[j]} {kind} " + " ".join(repr(float(x)) for x in numbers) + "\n")


def chains(out):
    """Serial chains of slender links, axes alternating."""
    for n in CHAINS:
        length = 1 / n
        radius = length / 20
        across, along = length * (3 * radius**2 + length**2) / 12, length * radius**2 / 2
        out.write(f"model chain{n} {n}\n")
        for i in range(n):
            kind = "RX" if i % 2 else "RY"
            drop = -length if i else 0.0
            out.write(
                f"{i} {kind} 0 0 0 1 0 0 0 1 0 0 0 1 0 0 {drop!r} {length!r} 0 0 {-length / 2!r} "
                f"{across!r} 0 0 {across!r} 0 {along!r}\n"
            )


def build(compiler, binary):
    """The program of the peer."""
    prefix = os.path.join(sysconfig.get_paths()["purelib"], "cmeel.prefix")
    eigen = next((f for f in (f"{prefix}/include/eigen3", "/usr/include/eigen3") if os.path.isdir(f)), None)
    eigen = os.environ.get("EIGEN", eigen)
    if eigen is None:
        sys.exit("the headers of Eigen 3 are needed (Debian: libeigen3-dev), or their folder in EIGEN")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "trees.cpp")
    command = [compiler, "-std=c++17", "-O3", "-march=native", "-DNDEBUG", "-w", "-DBOOST_MPL_LIMIT_LIST_SIZE=30"]
    command += ["-DBOOST_MPL_LIMIT_VECTOR_SIZE=30", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS", "-DBOOST_FUSION_INVOKE_MAX_ARITY=12"]
    command += [f"-I{prefix}/include", f"-I{eigen}", source, "-o", binary, f"-L{prefix}/lib", "-lboost_serialization"]
    command += [f"-Wl,-rpath,{prefix}/lib"]
    print("building the program of the peer; this takes minutes", flush=True)
    subprocess.run(command, check=True)


def times(command, into):
    for line in subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines():
        model, algorithm, nanoseconds = line.split(",")
        key = (model, algorithm)
        into[key] = min(into.get(key, float("inf")), float(nanoseconds))


def instructions(command, model, algorithm):
    """Instructions of one call: the difference of 300 and 200 calls."""

    def total(calls):
        file = "callgrind.race"
        full = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={file}"] + command + [model, algorithm, str(calls)]
        text = subprocess.run(full, capture_output=True, text=True, check=True).stderr
        os.remove(file)
        return int(re.search(r"Collected : (\d+)", text).group(1))

    return (total(300) - total(200)) / 100


def main():
    parser = argparse.ArgumentParser(description="Race tree algorithms against Pinocchio.")
    parser.add_argument("--ours", required=True, help="the binary of our example `race`")
    parser.add_argument("--scratch", required=True, help="a folder for models and binaries")
    parser.add_argument("--compiler", default=shutil.which("clang++") or "g++", help="clang++ makes the faster peer")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--native", help="the same, compiled for this processor")
    parser.add_argument("--page", help="where to write the page of the book")
    parser.add_argument("--no-count", action="store_true", help="do not count instructions")
    arguments = parser.parse_args()
    os.makedirs(arguments.scratch, exist_ok=True)
    models = os.path.join(arguments.scratch, "models.txt")
    with open(models, "w", encoding="utf-8") as out:
        try:
            robots(out)
        except (ImportError, ValueError, OSError) as problem:
            print(f"robots are left out: {problem}")
        chains(out)
    peer = os.path.join(arguments.scratch, "pinocchio")
    if not os.path.exists(peer):
        build(arguments.compiler, peer)
    theirs, ours, native = {}, {}, {}
    load = os.getloadavg()[0]
    for _ in range(arguments.rounds):
        times([peer, models], theirs)
        times([arguments.ours, models], ours)
        if arguments.native:
            times([arguments.native, models], native)
    load = max(load, os.getloadavg()[0])
    rows = []
    for model in dict.fromkeys(model for model, _ in ours):
        for algorithm in ALGORITHMS:
            pin = min(theirs.get((model, algorithm + c), float("inf")) for c in ("", "_world"))
            own, four, here = ours[model, algorithm], ours.get((model, algorithm + "4")), native.get((model, algorithm))
            counts = None
            if not arguments.no_count:
                world = (model, algorithm + "_world") in theirs and theirs[model, algorithm + "_world"] == pin
                chosen = (algorithm + ("_world" if world else ""), algorithm)
                counts = [instructions([p, models], model, a) for p, a in zip((peer, arguments.ours), chosen)]
            rows.append((model, algorithm, pin, own, four, here, counts))
            print(f"{model} {algorithm}: {pin:.0f} / {own:.0f} ns = {pin / own:.2f}", flush=True)
    text = page(rows, load, arguments.compiler)
    print(text)
    if arguments.page:
        with open(arguments.page, "w", encoding="utf-8") as out:
            out.write(text)


def page(rows, load, compiler):
    """The page of the book."""
    from importlib import metadata

    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]
    lines = [
        "# Tree algorithms",
        "",
        "<!-- Written by `cargo xtask peers-trees`; changes by hand are lost. -->",
        "",
        "This page is written by `cargo xtask peers-trees`. It compares the algorithms of the crate `dalembert-trees` with those of Pinocchio,",
        "compiled from the headers of its PyPI package with `-O3 -march=native`.",
        "",
        "**Rules.** One thread, 64 random states in turn; times are for one state, the smallest over many short batches of several rounds.",
        "Pinocchio has two conventions for some algorithms; the faster one counts. *Four* are four states side by side. Our binary is",
        "portable: it chooses its instructions when it runs. *Native* is how many times faster the same program is when compiled for this",
        "processor. Instructions are those of one call, counted by callgrind.",
        "",
        f"**Machine.** {os.cpu_count()} cores, load {load:.1f} besides. Pinocchio {metadata.version('pin')}, {version}.",
    ]
    for model in dict.fromkeys(row[0] for row in rows):
        lines += ["", f"## {model}", ""]
        lines += ["| Algorithm | Pinocchio, ns | dalembert, ns | ratio | four, ns | ratio | native | instructions |", "|---|---:|---:|---:|---:|---:|---:|---:|"]
        for _, algorithm, pin, own, four, here, counts in (row for row in rows if row[0] == model):
            lanes = f"{four:.0f} | {pin / four:.1f}" if four else "– | –"
            portable = f"{own / here:.2f}" if here else "–"
            counted = f"{counts[0]:.0f} / {counts[1]:.0f}" if counts else "–"
            lines.append(f"| {algorithm.replace('_', ' ')} | {pin:.0f} | {own:.0f} | {pin / own:.2f} | {lanes} | {portable} | {counted} |")
    lines += ["", "## The smallest ratios", "", "| Algorithm | one state | four |", "|---|---:|---:|"]
    for algorithm in ALGORITHMS:
        chosen = [row for row in rows if row[1] == algorithm]
        least, where = min((row[2] / row[3], row[0]) for row in chosen)
        fours = [(row[2] / row[4], row[0]) for row in chosen if row[4]]
        four = f"{min(fours)[0]:.1f} ({min(fours)[1]})" if fours else "–"
        lines.append(f"| {algorithm.replace('_', ' ')} | {least:.2f} ({where}) | {four} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
