"""Studies and errors against those of the command line: the same bits, the same words."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any, Callable, Dict

import numpy as np
import pytest

import dalembert

from test_studies import TURN, same

#: Studies of matrices: scene, options, and the numbers of each file of the command line.
TABLES: Dict[str, Any] = {
    "modes": ("double-pendulum", {}, {"frequencies.csv": "frequencies", "shapes.csv": "shapes", "shapes-all.csv": "all_shapes"}),
    "linearise": ("double-pendulum", {}, {"M.npy": "mass", "D.npy": "damping", "K.npy": "stiffness", "A.npy": "state_matrix"}),
    "transition": ("double-pendulum", {"at": 0.3}, {"Psi1.npy": "positions", "Psi2.npy": "velocities", "Phi.npy": "whole"}),
    "floquet": ("duffing-a", {"period": TURN, "settle": 2}, {"monodromy.csv": "monodromy"}),
}


@pytest.mark.parametrize("kind", TABLES)
def test_matrices_are_those_of_the_command_line(kind: str, tmp_path: Path, command_line: Callable[..., str]) -> None:
    scene, options, files = TABLES[kind]
    found = dalembert.load(scene).study(kind, **options)
    command_line("study", kind, scene, *(f"--{name}={value!r}" for name, value in options.items()), "--out", str(tmp_path))
    for file, name in files.items():
        path = tmp_path / file
        theirs = np.load(path) if path.suffix == ".npy" else np.loadtxt(path, delimiter=",")
        same(np.asarray(found[name]).reshape(theirs.shape), theirs)


def test_curves_are_those_of_the_command_line(tmp_path: Path, command_line: Callable[..., str]) -> None:
    def theirs(kind: str, scene: str, file: str, *options: str) -> Any:
        command_line("study", kind, scene, *options, "--out", str(tmp_path / kind))
        return np.loadtxt(tmp_path / kind / file, delimiter=",", skiprows=1, ndmin=2)

    duffing, car = dalembert.load("duffing-a"), dalembert.load("quarter-car-random")
    ours = duffing.study("frequency-response", here=True, force="mass", measure="mass", count=9)
    named = ["--here", "--force", "mass", "--measure", "mass", "--count", "9"]
    rows = theirs("frequency-response", "duffing-a", "response.csv", *named)
    same(np.column_stack([ours.frequency, ours.response.real, ours.response.imag]), rows[:, :3])
    force = "10*sin(2*pi*t)"
    ours = car.study("periodic-response", force={"chassis": force}, period=1, samples=16)
    named = ["--force", f"chassis={force}", "--period", "1", "--samples", "16"]
    rows = theirs("periodic-response", "quarter-car-random", "periodic.csv", *named)
    same(np.column_stack([ours.time, ours.response]), rows)
    ours = duffing.study("shoot", time=0.4, start=["mass_rate"], end=["mass=0.1"])
    rows = theirs("shoot", "duffing-a", "shot.csv", "--time", "0.4", "--start", "mass_rate", "--end", "mass=0.1")
    same([[ours.first_q[0], ours.first_v[0], ours.last_q[0], ours.last_v[0]]], rows)
    ours = duffing.study("spectrum", coordinate="mass", interval=0.1, samples=256, segment=64)
    named = ["--coordinate", "mass", "--interval", "0.1", "--samples", "256", "--segment", "64"]
    rows = theirs("spectrum", "duffing-a", "spectrum.csv", *named)
    # A logarithmic axis has no place for the mean.
    same(np.column_stack([ours.frequency, ours.density])[-len(rows) :], rows)
    assert len(ours.frequency) - len(rows) in (0, 1)


def test_what_the_command_line_prints_is_what_studies_have(command_line: Callable[..., str]) -> None:
    rest = dalembert.load("double-pendulum").study("equilibrium")
    lines = command_line("study", "equilibrium", "double-pendulum").splitlines()
    printed = [float(x) for line in lines if line.startswith("body.") for x in line.split(": ")[1].split(",")]
    same(rest["q"], printed)
    same(rest.squared, [float(x) for x in lines[-1].split("1/s²: ")[1].split(",")])
    options: Dict[str, Any] = {"interval": 0.5, "batches": 2, "batch": 3.0, "transient": 1.0}
    found = dalembert.load("duffing-a").study("lyapunov", **options)
    said = command_line("study", "lyapunov", "duffing-a", *(f"--{name}={value}" for name, value in options.items()))
    rows = [line.split() for line in said.splitlines()[1:4]]
    assert rows == [[f"{x:.5f}", f"{error:.5f}"] for x, error in zip(found.exponents, found.errors)]


def test_errors_have_the_words_of_the_command_line(tmp_path: Path, command_line: Callable[..., str]) -> None:
    def told(*arguments: str) -> str:
        with pytest.raises(subprocess.CalledProcessError) as said:
            command_line(*arguments)
        return str(said.value.stderr)

    path = tmp_path / "top.toml"
    text = '[body.top]\nkind = "particle"\nmass = 1\nposition = [1, 0, 0]\n[force.repel]\nkind = "spring"\nbetween = ["ground", "top"]\n'
    path.write_text(text + "stiffness = -1e5\nrest_length = 0.5\n[run]\nuntil = 10\n")
    with pytest.raises(dalembert.RunFailed) as caught:
        dalembert.load(path).run()
    assert type(caught.value) is not dalembert.LedgerError
    assert str(caught.value) in told("run", str(path), "--out", str(tmp_path / "run"))
    with pytest.raises(dalembert.StudyError) as wrong:
        dalembert.load("oscillator").study("poincare", coordinate="knee", period=1)
    assert str(wrong.value) in told("study", "poincare", "oscillator", "--coordinate", "knee", "--period", "1")
    study = tmp_path / "study.toml"
    study.write_text('[sweep]\nscene = "oscillator"\n\n[[vary]]\npath = "run.until"\nuniform = [2, 1]\n')
    with pytest.raises(dalembert.SweepError, match="study.toml:4:1: ") as swept:
        dalembert.sweep(study)
    assert str(swept.value) in told("sweep", str(study), "--out", str(tmp_path / "sweep"))
    robot = tmp_path / "robot.urdf"
    for text in ('<robot name="a"><link name="x"/><joint name="j" type="odd"/></robot>', '<robot name="a"><link'):
        robot.write_text(text)
        with pytest.raises(dalembert.RobotError, match="line 1, column ") as broken:
            dalembert.load_robot(robot)
        assert str(broken.value) in told("eval", str(robot), "--what", "mass-matrix")
    best = tmp_path / "best.toml"
    best.write_text('[optimise]\nscene = "cart-pole"\n\n[[goal]]\nkind = "odd"\n')
    with pytest.raises(dalembert.StudyError, match="best.toml:5:1: ") as sought:
        dalembert.optimise(best)
    assert str(sought.value) in told("optimise", str(best), "--out", str(tmp_path / "best"))
    heavy = tmp_path / "heavy.toml"
    heavy.write_text('[body.x]\nkind = "particle"\nmass = -1\n')
    with pytest.raises(dalembert.SceneError, match="heavy.toml:3:8: ") as unreal:
        dalembert.load(heavy).study("modes")
    assert str(unreal.value) in told("study", "modes", str(heavy))
