"""The Python package against the command line, Pinocchio's Python loop and MuJoCo's rollout.

1. Import: CPU time of `python -c "import dalembert"` minus that of `python -c "pass"`, best of several.
2. A run from Python against `dalembert run`, for a long motion with a long record and for a chain with constraints: both compute the same scene and write the
   same record. The processes take turns, the first of each round being now one, now the other. Of the command line the whole process counts, start and end included (a
   few ms). Python counts from the scene on until the record is on disk, without the start of the interpreter and the import, in the thread that runs it: those of
   NumPy's algebra wait for work in a loop, which is no work of ours. The least time of all rounds is compared, as other work on the machine can only add to it;
   the median of the ratios of the rounds stands beside it.
3. Forward dynamics of an arm of seven hinges for a million random states: one call of dalembert (one and two threads), a loop over Pinocchio's `aba`,
   and MuJoCo's `rollout` over one step of Euler's method. All three get the same robot file; accelerations are compared first.

`cargo xtask python-speed` runs it, and writes the table into the page between the marks.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Callable, List, NamedTuple, Tuple

import numpy as np

JOINTS = 7
BEGIN, END = "<!-- speed: begin -->", "<!-- speed: end -->"


def arm() -> str:
    """A robot file: seven hinges in turn about z and y, links of 0.3 m."""
    parts = ['<robot name="arm"><link name="link0"/>']
    for k in range(1, JOINTS + 1):
        axis = "0 1 0" if k % 2 else "0 0 1"
        mass = 4.0 - 0.4 * k
        parts.append(
            f'<link name="link{k}"><inertial><origin xyz="0.01 0.02 0.15"/><mass value="{mass}"/>'
            f'<inertia ixx="{0.01 * mass}" iyy="{0.011 * mass}" izz="{0.002 * mass}" ixy="0" ixz="0" iyz="0"/></inertial></link>'
            f'<joint name="joint{k}" type="continuous"><parent link="link{k - 1}"/><child link="link{k}"/>'
            f'<origin xyz="0 0 {0.3 if k > 1 else 0.0}"/><axis xyz="{axis}"/></joint>'
        )
    return "".join(parts) + "</robot>"


def best(function: Callable[[], Any], rounds: int) -> float:
    """The shortest wall time of a function, in s."""
    times = []
    for _ in range(rounds):
        began = time.perf_counter()
        function()
        times.append(time.perf_counter() - began)
    return min(times)


def child(arguments: List[str]) -> Tuple[float, str]:
    """The CPU time of a process in s, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    said = subprocess.run(arguments, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, said


def imports(rounds: int) -> Tuple[float, float]:
    """CPU time of the import, and that of numpy in it, in s."""
    programs = ["pass", "import numpy", "import dalembert"]
    times = [[child([sys.executable, "-c", program])[0] for program in programs] for _ in range(rounds)]
    empty, numpy, whole = (min(column) for column in zip(*times))
    return whole - empty, numpy - empty


#: Scenes and the ends of their runs, in s.
SCENES = [("chaos-pendulum", 1000.0), ("chain", 40.0)]
#: The most that a run from Python may take, in times of the command line.
MOST = 1.02
#: The most that an import may take, in s.
IMPORT = 0.3

RUN = """
import resource, sys, time, dalembert
def spent():
    now = resource.getrusage(resource.RUSAGE_THREAD)
    return now.ru_utime + now.ru_stime
before, began = spent(), time.perf_counter()
dalembert.load(sys.argv[1]).run(until=float(sys.argv[2]), out=sys.argv[3])
print(spent() - before, time.perf_counter() - began)
"""


class Turn(NamedTuple):
    """What one round has taken, in s."""

    command: float
    python: float
    #: With the start of the interpreter.
    process: float
    command_wall: float
    python_wall: float


def runs(tool: str, scene: str, until: float, rounds: int) -> List[Turn]:
    """Times of a run by the command line and from Python, in turns."""
    turns = []
    with tempfile.TemporaryDirectory() as folder:
        places = [str(Path(folder) / name) for name in ("command", "python")]

        def command() -> Tuple[float, float]:
            began = time.perf_counter()
            spent, _ = child([tool, "run", scene, "--until", str(until), "--quiet", "--out", places[0]])
            return spent, time.perf_counter() - began

        def python() -> Tuple[float, str]:
            return child([sys.executable, "-c", RUN, scene, str(until), places[1]])

        for k in range(rounds):
            # Who comes second finds the disk as the first has left it.
            if k % 2:
                (whole, said), (spent, wall) = python(), command()
            else:
                (spent, wall), (whole, said) = command(), python()
            own, own_wall = (float(word) for word in said.split())
            turns.append(Turn(spent, own, whole, wall, own_wall))
        for file in ("trajectory.parquet", "steps.csv"):
            if Path(places[0], file).read_bytes() != Path(places[1], file).read_bytes():
                raise SystemExit(f"{file} of Python and of the command line differ")
    return turns


def race(count: int, rounds: int) -> List[Tuple[str, float]]:
    """Names and times of so many evaluations, in s."""
    import dalembert

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arm.urdf"
        path.write_text(arm())
        tree = dalembert.load_robot(path)
    random = np.random.default_rng(1)
    q, v, tau = (random.uniform(-1.0, 1.0, (count, JOINTS)) for _ in range(3))
    found = tree.forward_dynamics(q, v, tau)
    rows = [
        ("dalembert, one call, one thread", best(lambda: tree.forward_dynamics(q, v, tau), rounds)),
        ("dalembert, one call, two threads", best(lambda: tree.forward_dynamics(q, v, tau, threads=2), rounds)),
    ]
    rows += pinocchio(q, v, tau, found)
    rows += mujoco(q, v, tau, found)
    return rows


def pinocchio(q: Any, v: Any, tau: Any, wanted: Any) -> List[Tuple[str, float]]:
    """A loop in Python over Pinocchio's articulated body algorithm."""
    try:
        import pinocchio as pin
    except ImportError as error:
        print(f"Pinocchio is left out: {error}")
        return []
    joints = pin.buildModelFromXML(arm().replace('type="continuous"', 'type="revolute"').replace(
        "</joint>", '<limit lower="-100" upper="100" effort="1e9" velocity="1e9"/></joint>'))
    data = joints.createData()
    difference = max(np.abs(pin.aba(joints, data, q[k], v[k], tau[k]) - wanted[k]).max() for k in range(100))
    if difference > 1e-8 * np.abs(wanted[:100]).max():
        raise SystemExit(f"Pinocchio's accelerations differ by {difference}")

    def loop() -> None:
        aba = pin.aba
        for k in range(len(q)):
            aba(joints, data, q[k], v[k], tau[k])

    return [("Pinocchio, loop in Python", best(loop, 1))]


def mujoco(q: Any, v: Any, tau: Any, wanted: Any) -> List[Tuple[str, float]]:
    """MuJoCo's rollout: one step for each state."""
    try:
        import mujoco as mj
        from mujoco import rollout
    except ImportError as error:
        print(f"MuJoCo is left out: {error}")
        return []
    spec = mj.MjSpec.from_string(arm())
    for joint in spec.joints:
        motor = spec.add_actuator(name=f"motor-{joint.name}", target=joint.name, trntype=mj.mjtTrn.mjTRN_JOINT)
        motor.gainprm[0] = 1.0
    spec.option.disableflags = mj.mjtDisableBit.mjDSBL_CONTACT
    model = spec.compile()
    data = mj.MjData(model)
    for k in range(100):
        data.qpos[:], data.qvel[:], data.ctrl[:] = q[k], v[k], tau[k]
        mj.mj_forward(model, data)
        if np.abs(data.qacc - wanted[k]).max() > 1e-8 * np.abs(wanted[:100]).max():
            raise SystemExit(f"MuJoCo's accelerations differ: {data.qacc} and {wanted[k]}")
    state = np.concatenate([np.zeros((len(q), 1)), q, v], axis=1)
    control = tau[:, np.newaxis, :]
    rows = []
    for name, count in [("one thread", 1), ("two threads", 2)]:
        workers = [mj.MjData(model) for _ in range(count)]
        step = lambda: rollout.rollout(model, workers, state, control)  # noqa: E731
        rows.append((f"MuJoCo, `rollout` of one step, {name}", best(step, 1)))
    return rows


def main() -> None:
    """Measures everything and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dalembert", required=True, help="the command line")
    parser.add_argument("--page", help="the page to write the table into")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--count", type=int, default=1_000_000, help="evaluations of forward dynamics")
    options = parser.parse_args()
    whole, numpy = imports(2 * options.rounds)
    lines = ["| A run with its record, CPU time | command line, s | from Python, s | times | median of rounds | with the interpreter's start, s |"]
    lines += ["|---|--:|--:|--:|--:|--:|"]
    slow = []
    for scene, until in SCENES:
        turns = runs(options.dalembert, scene, until, 2 * options.rounds)
        least = Turn(*(min(column) for column in zip(*turns)))
        median = statistics.median(turn.python / turn.command for turn in turns)
        times = least.python / least.command
        lines += [f"| `{scene}`, {until:.0f} s | {least.command:.3f} | {least.python:.3f} | {times:.3f} | {median:.3f} | {least.process:.3f} |"]
        print(f"{scene}: {times:.3f} times (CPU, least), {median:.3f} (median), {least.python_wall / least.command_wall:.3f} by the clock")
        if times > MOST:
            slow.append(f"a run of `{scene}` from Python takes {times:.3f} times that of the command line, {MOST} are allowed")
    if whole > IMPORT:
        slow.append(f"the import takes {whole:.3f} s, {IMPORT} s are allowed")
    rows = race(options.count, options.rounds)
    ours = rows[0][1]
    head = f"{options.count} forward dynamics of an arm of seven joints"
    lines += ["", f"| {head} | s | µs each | times ours |", "|---|--:|--:|--:|"]
    lines += [f"| {name} | {t:.3f} | {1e6 * t / options.count:.3f} | {t / ours:.1f} |" for name, t in rows]
    lines += [
        "",
        f"`import dalembert` takes {whole:.3f} s of CPU, of which NumPy needs {numpy:.3f} s. Runs from Python are counted from the scene on until the record is written, those of the "
        f"command line as whole processes; the least of {2 * options.rounds} rounds in turns counts, and the tables of both records are the same to the byte.",
    ]
    text = "\n".join(lines)
    print(text)
    if options.page:
        page = Path(options.page)
        before, rest = page.read_text(encoding="utf-8").split(BEGIN)
        after = rest.split(END)[1]
        page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")
    if slow:
        raise SystemExit("; ".join(slow))


if __name__ == "__main__":
    main()
