"""Options of studies: all of the command line are there, and do what they say."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Dict, List

import numpy as np
import pytest

import dalembert

from test_studies import same


def test_matrices_along_a_motion(tmp_path: Path, command_line: Callable[..., str]) -> None:
    # Without drive m ẍ + c ẋ − x + x³ = 0, m = 1: the stiffness is 3x² − 1 wherever the motion is.
    scene = dalembert.load("duffing-b").set("parameters.force", 0.0).set("body.slider.links[0].coordinates", [1.7])
    found = scene.study("linearise", along=2.0, count=5)
    np.testing.assert_allclose(found.time, np.linspace(0, 2, 5), rtol=1e-14)
    x = np.array([one["q"][0] for one in found.instants])
    assert found.state_matrix.shape == (5, 2, 2) and np.ptp(x) > 0.5
    np.testing.assert_allclose(found.state_matrix[:, 1, 0], 1 - 3 * x**2, rtol=1e-9)
    np.testing.assert_allclose([one["stiffness"][0, 0] for one in found.instants], 3 * x**2 - 1, rtol=1e-9)
    setting = ["--set", "parameters.force=0", "--set", "body.slider.links[0].coordinates=[1.7]"]
    command_line("study", "linearise", "duffing-b", *setting, "--along", "2", "--count", "5", "--out", str(tmp_path))
    same(found.state_matrix, np.load(tmp_path / "A.npy"))
    with pytest.raises(ValueError, match="two instants at least"):
        scene.study("linearise", along=1.0, count=1)


@pytest.mark.parametrize("rule", ["mass", "largest", "length"])
def test_shapes_have_the_size_that_is_asked_for(rule: str, tmp_path: Path, command_line: Callable[..., str]) -> None:
    scene = dalembert.load("double-pendulum")
    found, mass = scene.study("modes", normalise=rule), scene.study("linearise").mass
    sizes: Dict[str, Callable[[Any], Any]] = {
        "mass": lambda x: np.sqrt(x @ mass @ x),
        "largest": lambda x: np.abs(x).max(),
        "length": np.linalg.norm,
    }
    np.testing.assert_allclose([sizes[rule](shape) for shape in found.shapes.T], 1.0, rtol=1e-12)
    command_line("study", "modes", "double-pendulum", "--normalise", rule, "--out", str(tmp_path))
    same(found.shapes, np.loadtxt(tmp_path / "shapes.csv", delimiter=","))
    # Nothing damps it, and rounding is no damping.
    assert (found.damping_ratios == 0).all() and (found.eigenvalues.real == 0).all()
    with pytest.raises(ValueError, match="there are mass, largest and length"):
        scene.study("modes", normalise="other")


def test_several_motions_make_one_spectrum(command_line: Callable[..., str], tmp_path: Path) -> None:
    given: Dict[str, Any] = {"motions": 4, "interval": 4.0, "transient": 20.0, "batch": 40.0, "batches": 4, "tolerance": 1e-8}
    found = dalembert.load("duffing-b").study("lyapunov", **given)
    # Volumes of states shrink by the damping alone, 0.2 1/s, which every step keeps within its tolerance.
    assert abs(found.exponents.sum() + 0.2) < 1e-6
    options = [word for name, value in given.items() for word in (f"--{name}", str(value))]
    told = command_line("study", "lyapunov", "duffing-b", *options, "--out", str(tmp_path))
    assert f"{found.exponents[0]:.5f}" in told


def test_ranges_of_a_search_have_two_ends() -> None:
    scene = dalembert.load("simplest-walker")
    stride: Dict[str, Any] = {"strike": "floor.right_foot", "exchange": {"left": "right"}, "drift": "along"}
    with pytest.raises(ValueError, match="two different ends"):
        scene.study("limit-cycle", **stride, search=0.3, range={"right": (0.1, 0.1)})
    with pytest.raises(ValueError, match="need `search`"):
        scene.study("limit-cycle", **stride, range_rate={"right": (0.1, 0.2)})


#: What only the command line has: which scene it is, where results go, and how many modes a page shows in motion.
OUTSIDE = {"body", "free", "set", "out", "help", "shown"}


@pytest.mark.parametrize("kind", dalembert.studies())
def test_every_option_of_the_command_line_is_there(kind: str, oscillator: dalembert.Scene, command_line: Callable[..., str]) -> None:
    listed = command_line("study", kind, "--help")
    names = {line.split("--", 1)[1].split()[0].rstrip(",") for line in listed.splitlines() if line.lstrip().startswith(("--", "-o, --", "-s, --"))}
    wanted = {name.replace("-", "_") for name in names} - OUTSIDE
    known = set()
    # With a period and with strikes some studies are two; each says what it takes.
    kinds: List[Dict[str, Any]] = [{}, {"period": 1.0}, {"strike": "floor"}, {"time": 1.0}]
    for more in kinds:
        with pytest.raises(ValueError) as told:
            oscillator.study(kind, **more, no_such_option=1)
        if "it takes" in str(told.value):
            known |= {name.strip() for name in str(told.value).split("it takes")[1].split(",")}
    assert wanted <= known, (wanted - known, known)
