"""The chain pendulum with dalembert and its peers: error against time, and a page of results.

The problem: N equal uniform rods hang from a fixed hinge, in one plane. Rod length 1/N m, mass 1/N kg, radius r = length/20,
moment of inertia about the centre m(3r² + l²)/12 across and m r²/2 along. Hinges turn about y, gravity is 9.81 m/s² along −z, no
damping. The straight chain is let go at rest at 15° from the vertical. Compared is the position (x, z) of the free end after 10 s.
From 45° long chains whip so sensitively that for N = 64 no method, and no reference, is good to a millimetre.

References: a minimal-coordinate model with DOP853. Errors are distances from the reference in m, times are CPU seconds
of the simulation alone, without start-up and building the model. Every run has a process of its own and a time limit.

Used by `cargo xtask peers`; see `--help`.
"""

import os

for threads in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[threads] = "1"

import argparse
import json
import math
import multiprocessing
import resource
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import cho_factor, cho_solve

# Peers rename their settings now and then; the old names still work.
warnings.simplefilter("ignore", DeprecationWarning)

DEGREES = 15
ANGLE = math.radians(DEGREES)
GRAVITY = 9.81
UNTIL = 10.0

# Free ends after 10 s: DOP853 at 1e-13 on a minimal-coordinate model, computed for this comparison.
KNOWN = {
    2: (-0.26481080707091115, -0.9641420758108818),
    4: (-0.2986329515258311, -0.9474607478944477),
    8: (-0.25212820422624727, -0.9675297461223573),
    16: (-0.2816470707208299, -0.9560392486465483),
    32: (-0.2703609941481645, -0.9614654128314418),
    64: (-0.2760423395792021, -0.9593971247000884),
}


def rod(n):
    """Length, mass, and moments of inertia across and along one rod."""
    length, mass = 1 / n, 1 / n
    radius = length / 20
    return length, mass, mass * (3 * radius**2 + length**2) / 12, mass * radius**2 / 2


def end_of(angles):
    """The free end for absolute angles of the rods."""
    return np.array([-np.sin(angles).sum(), -np.cos(angles).sum()]) / len(angles)


def reference(n, tolerance=1e-12):
    """The free end by DOP853 in absolute angles θ.

    With c_ij = m l² (n − max(i, j) − 1/2) off the diagonal, rod i feels
    Σ_j c_ij cos(θ_i − θ_j) θ̈_j = −Σ_j c_ij sin(θ_i − θ_j) θ̇_j² − w_i sin θ_i, with i, j from 0.
    """
    length, mass, inertia, _ = rod(n)
    index = np.arange(n)
    coupling = mass * length**2 * (n - np.maximum.outer(index, index) - 0.5)
    coupling[index, index] = inertia + mass * length**2 * (0.25 + n - 1 - index)
    weight = GRAVITY * mass * length * (n - index - 0.5)

    def rate(_, y):
        angle, speed = y[:n], y[n:]
        difference = np.subtract.outer(angle, angle)
        matrix = coupling * np.cos(difference)
        right = -(coupling * np.sin(difference)) @ speed**2 - weight * np.sin(angle)
        return np.concatenate([speed, cho_solve(cho_factor(matrix), right)])

    start = np.concatenate([np.full(n, ANGLE), np.zeros(n)])
    solution = solve_ivp(rate, (0, UNTIL), start, method="DOP853", rtol=tolerance, atol=tolerance)
    return end_of(solution.y[:n, -1])


class Clock:
    """CPU time of this process."""

    def __enter__(self):
        self.start = time.process_time()
        return self

    def __exit__(self, *_):
        self.seconds = time.process_time() - self.start


# ---------------------------------------------------------------- MuJoCo


def mujoco_run(n, integrator, step):
    import mujoco

    length, mass, across, along = rod(n)
    text = (
        f"<mujoco><option gravity='0 0 {-GRAVITY}' timestep='{step!r}' integrator='{integrator}'>"
        "<flag contact='disable' constraint='disable'/></option><worldbody>"
    )
    for i in range(n):
        text += (
            f"<body pos='0 0 {-length if i else 0.0!r}'><joint type='hinge' axis='0 1 0'/>"
            f"<inertial pos='0 0 {-length / 2!r}' mass='{mass!r}' diaginertia='{across!r} {across!r} {along!r}'/>"
        )
    text += "</body>" * n + "</worldbody></mujoco>"
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qpos[0] = ANGLE
    with Clock() as clock:
        mujoco.mj_step(model, data, nstep=round(UNTIL / step))
    return clock.seconds, end_of(np.cumsum(data.qpos))


# ---------------------------------------------------------------- Exudyn


def exudyn_settings(exudyn, step, tolerance):
    settings = exudyn.SimulationSettings()
    times = settings.timeIntegration
    times.endTime = UNTIL
    times.numberOfSteps = round(UNTIL / step) if step else 100
    times.verboseMode = 0
    times.newton.useModifiedNewton = True
    if tolerance:
        times.automaticStepSize = True
        times.absoluteTolerance = times.relativeTolerance = tolerance
    settings.solutionSettings.writeSolutionToFile = False
    settings.displayComputationTime = False
    settings.parallel.numberOfThreads = 1
    return settings


def exudyn_tree(n, solver, step=None, tolerance=None):
    """Minimal coordinates: one kinematic tree."""
    import exudyn
    from exudyn.utilities import NodeGenericODE2, ObjectKinematicTree

    length, mass, across, along = rod(n)
    system = exudyn.SystemContainer().AddSystem()
    node = system.AddNode(
        NodeGenericODE2(
            referenceCoordinates=[0.0] * n,
            initialCoordinates=[ANGLE] + [0.0] * (n - 1),
            initialCoordinates_t=[0.0] * n,
            numberOfODE2Coordinates=n,
        )
    )
    offsets, centres = exudyn.Vector3DList(), exudyn.Vector3DList()
    turns, inertias = exudyn.Matrix3DList(), exudyn.Matrix3DList()
    for i in range(n):
        offsets.Append(np.array([0, 0, -length if i else 0.0]))
        centres.Append(np.array([0, 0, -length / 2]))
        turns.Append(np.eye(3))
        inertias.Append(np.diag([across, across, along]))
    system.AddObject(
        ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=[exudyn.JointType.RevoluteY] * n,
            linkParents=list(range(-1, n - 1)),
            jointTransformations=turns,
            jointOffsets=offsets,
            linkInertiasCOM=inertias,
            linkCOMs=centres,
            linkMasses=[mass] * n,
            baseOffset=[0.0] * 3,
            gravity=[0, 0, -GRAVITY],
        )
    )
    system.Assemble()
    settings = exudyn_settings(exudyn, step, tolerance)
    with Clock() as clock:
        system.SolveDynamic(settings, solverType=getattr(exudyn.DynamicSolverType, solver))
    return clock.seconds, end_of(np.cumsum(system.GetNodeOutput(node, exudyn.OutputVariableType.Coordinates)))


def exudyn_bodies(n, step):
    """Redundant coordinates: rigid bodies and revolute joints, generalised-α."""
    import exudyn
    from exudyn.utilities import RigidBodyInertia, RotationMatrixY

    length, mass, across, along = rod(n)
    system = exudyn.SystemContainer().AddSystem()
    along_chain = np.array([-math.sin(ANGLE), 0, -math.cos(ANGLE)])
    before = system.CreateGround()
    for i in range(n):
        body = system.CreateRigidBody(
            inertia=RigidBodyInertia(mass=mass, com=[0, 0, 0], inertiaTensor=np.diag([across, across, along])),
            referencePosition=(i + 0.5) * length * along_chain,
            referenceRotationMatrix=RotationMatrixY(ANGLE),
            gravity=[0, 0, -GRAVITY],
        )
        system.CreateRevoluteJoint(
            bodyNumbers=[before, body],
            position=i * length * along_chain,
            axis=[0, 1, 0],
            useGlobalFrame=True,
            axisRadius=0.001,
            axisLength=0.001,
        )
        before = body
    system.Assemble()
    settings = exudyn_settings(exudyn, step, None)
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
    if n >= 8:
        settings.linearSolverType = exudyn.LinearSolverType.EigenSparse
    with Clock() as clock:
        system.SolveDynamic(settings, solverType=exudyn.DynamicSolverType.GeneralizedAlpha)
    end = system.GetObjectOutputBody(body, exudyn.OutputVariableType.Position, localPosition=[0, 0, -length / 2])
    return clock.seconds, np.array([end[0], end[2]])


# ---------------------------------------------------------------- dalembert

# Rigid links and revolute joints: 6 velocities for each link, tied by 5 rows for each joint.
SCENE = """\
# The chain pendulum of the race between tools.
[scene]
title = "Chain pendulum"

[parameters]
n = 8
angle = "= 15*deg"
length = "= 1/n"
mass = "= 1/n"
radius = "= length/20"
across = "= mass*(3*radius^2 + length^2)/12"
along = "= mass*radius^2/2"

[world]
gravity = [0, 0, -9.81]

[[repeat]]
index = "i"
from = 1
to = "= n"
[repeat.body."link{i}"]
kind = "rigid"
mass = "= mass"
inertia = ["= across", "= across", "= along"]
position = ["= -(i - 0.5)*length*sin(angle)", 0, "= -(i - 0.5)*length*cos(angle)"]
orientation = { axis = [0, 1, 0], angle = "= angle" }
[repeat.body."link{i}".markers.top]
at = [0, 0, "= length/2"]
[repeat.body."link{i}".markers.end]
at = [0, 0, "= -length/2"]

[joint.hinge1]
kind = "revolute"
between = ["ground", "link1.top"]
axis = [0, 1, 0]

[[repeat]]
index = "i"
from = 2
to = "= n"
[repeat.joint."hinge{i}"]
kind = "revolute"
between = ["link{i - 1}.end", "link{i}.top"]
axis = [0, 1, 0]

[run]
until = 10

[output]
every = 1
channels = ["energy.total"]
"""


# The same chain in minimal coordinates: one tree of links.
TREE = """\
# The chain pendulum of the race between tools, as a tree.
[scene]
title = "Chain pendulum"

[parameters]
n = 8
angle = "= 15*deg"
length = "= 1/n"
mass = "= 1/n"
radius = "= length/20"
across = "= mass*(3*radius^2 + length^2)/12"
along = "= mass*radius^2/2"

[world]
gravity = [0, 0, -9.81]

[body.chain]
kind = "tree"

[[body.chain.links]]
name = "link"
repeat = { count = "= n", position = [0, 0, "= -length"] }
joint = { kind = "revolute", axis = [0, 1, 0] }
coordinates = ["= angle"]
mass = "= mass"
centre = [0, 0, "= -length/2"]
inertia = ["= across", "= across", "= along"]

[run]
until = 10

[output]
every = 1
channels = ["energy.total"]
"""


def turned(quaternion, vector):
    """A vector turned by a quaternion, scalar first."""
    w, u = quaternion[0], np.array(quaternion[1:])
    return vector + 2 * np.cross(u, np.cross(u, vector) + w * vector)


def dalembert_run(tool, scratch, n, integrator, tolerance=None, tree=False, step=None):
    """The time of the run from its summary, less that of a run of a nanosecond, which is all start: names of channels and the like."""
    seconds, end = dalembert_once(tool, scratch, n, integrator, tolerance, tree, step, UNTIL)
    return seconds - dalembert_once(tool, scratch, n, integrator, tolerance, tree, step, 1e-9)[0], end


def dalembert_once(tool, scratch, n, integrator, tolerance, tree, step, until):
    """The time of one run from its summary, times the share of a processor that the process had."""
    os.makedirs(scratch, exist_ok=True)
    name = "chain-tree" if tree else "chain"
    scene = os.path.join(scratch, f"{name}.toml")
    with open(scene, "w", encoding="utf-8") as file:
        file.write(TREE if tree else SCENE)
    arguments = [tool, "run", scene, "--set", f"parameters.n={n}", "--integrator", integrator]
    arguments += ["--tolerance", f"{tolerance:g}"] if tolerance else ["--set", f"run.settings.fixed_step={step!r}"]
    arguments += ["--until", f"{until:g}", "--json", "--out", os.path.join(scratch, f"{name}-{n}-{integrator}")]
    began, used = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    elapsed, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    share = min(1.0, (after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime) / elapsed)
    # Exit code 3 is a run whose ledger does not close: it counts, and its error shows.
    if done.returncode not in (0, 3) or not done.stdout.strip():
        raise RuntimeError(done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit code {done.returncode}")
    summary = json.loads(done.stdout)
    state = summary["final_state"]
    if tree:
        return share * float(summary["wall_time"]), end_of(np.cumsum(state["q"]))
    # The last body comes last: centre of mass (3) and quaternion (4).
    q = np.array(state["q"][-7:])
    end = q[:3] + turned(q[3:], np.array([0, 0, -0.5 / n]))
    return share * float(summary["wall_time"]), np.array([end[0], end[2]])


# ---------------------------------------------------------------- the race


def contestants(tool, scratch, quick):
    """Name, whose it is, and the settings to try with a function of N for each."""
    tolerances = [1e-2, 1e-4, 1e-6, 1e-8, 1e-10] if quick else [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11]
    steps = [1e-2, 2e-3, 1e-3] if quick else [2e-2, 1e-2, 7e-3, 5e-3, 4e-3, 3e-3, 2e-3, 1e-3, 5e-4, 2e-4]
    list_ = []
    runs = [(f"{t:g}", lambda n, t=t: dalembert_run(tool, scratch, n, "dop853", t)) for t in tolerances]
    list_.append(("dalembert dop853", "dalembert", runs))
    for integrator in ("dop853", "dopri5"):
        runs = [(f"{t:g}", lambda n, t=t, i=integrator: dalembert_run(tool, scratch, n, i, t, True)) for t in tolerances]
        list_.append((f"dalembert tree {integrator}", "dalembert", runs))
    runs = [(f"{h:g} s", lambda n, h=h: dalembert_run(tool, scratch, n, "rk4", tree=True, step=h)) for h in steps]
    list_.append(("dalembert tree rk4", "dalembert", runs))
    list_.append(("MuJoCo RK4", "mujoco", [(f"{h:g} s", lambda n, h=h: mujoco_run(n, "RK4", h)) for h in steps]))
    list_.append(("MuJoCo Euler", "mujoco", [(f"{h:g} s", lambda n, h=h: mujoco_run(n, "Euler", h)) for h in (1e-3, 1e-4)]))
    runs = [(f"{t:g}", lambda n, t=t: exudyn_tree(n, "DOPRI5", tolerance=t)) for t in tolerances[::2]]
    list_.append(("Exudyn tree, DOPRI5", "exudyn", runs))
    runs = [(f"{h:g} s", lambda n, h=h: exudyn_bodies(n, h)) for h in ((1e-2, 1e-3) if quick else (1e-2, 2e-3, 1e-3))]
    list_.append(("Exudyn bodies, generalised-α", "exudyn", runs))
    return list_


def version_of(package):
    """The version of an installed package, or nothing."""
    from importlib import metadata

    try:
        __import__(package)
        return metadata.version(package)
    except Exception:  # a peer that does not import is left out, whatever the reason
        return None


def own_version(tool):
    """The version of dalembert, or nothing."""
    if not tool:
        return None
    printed = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False).stdout.split()
    return printed[-1] if printed else None


def limited(run, n, limit, scratch):
    """The result of a run in a process of its own (and of that group, so that nothing is left behind); fails after the limit."""
    ours, theirs = multiprocessing.Pipe(duplex=False)

    def work():
        os.setpgrp()
        os.chdir(scratch)  # some peers leave log files where they run
        try:
            seconds, end = run(n)
            for _ in range(4 if seconds < 0.2 else 0):  # short runs are taken again, and the best time counts
                seconds = min(seconds, run(n)[0])
            theirs.send((seconds, end))
        except Exception as reason:
            theirs.send(reason)

    process = multiprocessing.get_context("fork").Process(target=work)
    process.start()
    theirs.close()
    try:
        if not ours.poll(limit):
            os.killpg(process.pid, signal.SIGKILL)
            raise TimeoutError(f"stopped after {limit:g} s without a result")
        result = ours.recv()
    except EOFError:
        result = RuntimeError("the process ended without a result")
    finally:
        process.join()
    if isinstance(result, Exception):
        raise result
    return result


def race(n, goal, runners, available, budget, scratch):
    """All runs for one N: rows of (name, setting, seconds, error). A contestant stops at its time budget."""
    rows, notes = [], []
    for name, package, runs in runners:
        if not available.get(package):
            continue
        for setting, run in runs:
            try:
                seconds, end = limited(run, n, 6 * budget, scratch)
            except Exception as reason:
                note = f"{name} with {setting} for N = {n} failed: {reason}"
                print("  " + note, flush=True)
                notes.append(note)
                if isinstance(reason, TimeoutError):
                    break
                continue  # a step that is too long; the next one is shorter
            error = float(np.linalg.norm(end - goal))
            if not math.isfinite(error):
                error = math.inf
            rows.append((name, setting, seconds, error))
            print(f"  {name:30s} {setting:>8s} {seconds:9.4f} s  error {error:.2e} m", flush=True)
            if seconds > budget:
                break
    return rows, notes


# The chain is 1 m long and swings by 0.26 m: a run that is off by more than this has come apart, and its time is that of nothing.
APART = 0.1


def frontier(rows, name):
    """For one contestant the runs that no other of its runs beats in both time and error, by falling error."""
    own = sorted((seconds, error) for who, _, seconds, error in rows if who == name and 0 < error < APART)
    best, kept = math.inf, []
    for seconds, error in own:
        if error < best:
            best = error
            kept.append((error, seconds))
    return kept


def time_at(rows, name, error):
    """The time a contestant needs for an error: straight lines between its runs in logarithms, nothing outside them."""
    points = frontier(rows, name)
    for (e1, s1), (e2, s2) in zip(points, points[1:]):
        if e2 <= error <= e1:
            part = math.log(e1 / error) / math.log(e1 / e2)
            return math.exp(math.log(s1) + part * (math.log(s2) - math.log(s1)))
    # A point that is better and cheaper than all asked for is an upper bound for the time.
    if points and points[0][0] <= error:
        return points[0][1]
    return None


def best_time(rows, names, error):
    times = [(t, name) for name in names if (t := time_at(rows, name, error)) is not None]
    return min(times) if times else (None, None)


ERRORS = (1e-3, 1e-5, 1e-7, 1e-9)


def page(results, available, cores, problems, budget):
    """The page of the book."""
    ours = "dalembert"
    lines = [
        "# Benchmarks",
        "",
        "<!-- Written by `cargo xtask peers`; changes by hand are lost. -->",
        "",
        "This page is written by `cargo xtask peers`. It installs Exudyn and MuJoCo from PyPI, runs them and dalembert on the",
        "same problem one after the other, and prints error against time.",
        "",
        "**Problem.** A planar chain of N equal uniform rods, 1 m and 1 kg in all, hangs from a hinge. It is let go at rest, straight, at",
        f"{DEGREES}° from the vertical, and swings for 10 s without damping. The error is the distance of the free end from a",
        "reference at 10 s. References: DOP853 at 1e-13 on a minimal-coordinate model, computed for this",
        "comparison. (From 45° long chains whip so sensitively that for N = 64 no method, and no reference, is good to a millimetre.)",
        "",
        "**Rules.** One thread. CPU seconds of the simulation alone, without start-up and model building; for dalembert the",
        "`wall_time` of its summary, less that of a run of a nanosecond, times the share of a processor that its process had. A method stops at the first run of more",
        f"than {budget:g} s; a run is stopped after {6 * budget:g} s. MuJoCo, Exudyn's tree and dalembert's tree use one angle for each link",
        "(minimal coordinates). The other rows of dalembert and Exudyn use rigid links with 6 velocities each and revolute joints",
        "(redundant coordinates), which is far more work for a chain.",
        "",
        f"**Machine.** {cores} cores. Versions: " + ", ".join(f"{k} {v}" if v else f"{k} not available" for k, v in available.items()) + ".",
    ]
    missing = [peer for peer, version in available.items() if not version]
    if missing:
        lines += ["", f"**Left out:** {', '.join(missing)} could not be installed or run when this page was written."]
    for n, rows in results.items():
        names = list(dict.fromkeys(row[0] for row in rows))
        lines += ["", f"## N = {n}", "", "| Method | Setting | CPU time in s | Error in m |", "|---|---:|---:|---:|"]
        for name, setting, seconds, error in rows:
            shown = f"{error:.1e}" if math.isfinite(error) else "diverged"
            lines.append(f"| {name} | {setting} | {seconds:.4f} | {shown} |")
        own = [name for name in names if name.startswith(ours)]
        others = [name for name in names if not name.startswith(ours)]
        if not own or not others:
            continue
        lines += ["", "Time at equal error, interpolated between the runs above that are within 0.1 m; a ratio above 1 means that dalembert is faster.", ""]
        lines += ["| Error in m | dalembert | " + " | ".join(f"{o} / dalembert" for o in others) + " |"]
        lines += ["|---:|---:|" + "---:|" * len(others)]
        for error in ERRORS:
            mine, which = best_time(rows, own, error)
            cells = []
            for other in others:
                theirs = time_at(rows, other, error)
                cells.append(f"{theirs / mine:.2g}" if mine and theirs else "–")
            shown = f"{mine:.3g} s ({which.removeprefix(ours + ' ')})" if mine else "–"
            lines.append(f"| {error:.0e} | {shown} | " + " | ".join(cells) + " |")
    if problems:
        lines += ["", "## Runs that failed", ""] + [f"- {problem}" for problem in problems]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description="Race dalembert against its peers on the chain pendulum.")
    parser.add_argument("--dalembert", help="the binary; without it only the peers run")
    parser.add_argument("--scratch", default="target/peers/runs", help="folder for run records")
    parser.add_argument("--page", help="where to write the page of the book")
    parser.add_argument("--quick", action="store_true", help="short chains and few settings, to try it out")
    parser.add_argument("--links", type=int, nargs="*", help="numbers of links")
    arguments = parser.parse_args()
    arguments.scratch = os.path.abspath(arguments.scratch)
    arguments.dalembert = arguments.dalembert and os.path.abspath(arguments.dalembert)
    os.makedirs(arguments.scratch, exist_ok=True)
    links = arguments.links or ([2, 8] if arguments.quick else [2, 4, 8, 16, 32, 64])

    available = {"dalembert": own_version(arguments.dalembert)}
    available |= {peer: version_of(peer) for peer in ("mujoco", "exudyn")}
    for peer, version in available.items():
        print(f"{peer}: {version or 'not available, left out'}", flush=True)
    runners = contestants(arguments.dalembert, arguments.scratch, arguments.quick)
    results, problems = {}, []
    budget = 2.0 if arguments.quick else 10.0
    for n in links:
        goal = np.array(KNOWN[n]) if n in KNOWN else reference(n)
        print(f"N = {n}, reference {goal[0]:.12f} {goal[1]:.12f}", flush=True)
        results[n], notes = race(n, goal, runners, available, budget, arguments.scratch)
        problems += notes
    if arguments.page:
        os.makedirs(os.path.dirname(os.path.abspath(arguments.page)), exist_ok=True)
        with open(arguments.page, "w", encoding="utf-8") as file:
            file.write(page(results, available, os.cpu_count(), problems, budget))
        print(f"wrote {arguments.page}")
    return 0 if all(results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
