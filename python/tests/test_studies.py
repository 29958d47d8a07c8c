"""Studies against closed forms, and against the tables of the command line, to the bit."""

from __future__ import annotations

import csv
import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any, Callable, Dict, List

import numpy as np
import pytest

import dalembert

TURN = 2 * np.pi


def table(path: Path) -> Any:
    """The numbers of a table; what is no number is NaN."""

    def number(text: str) -> float:
        try:
            return float(text)
        except ValueError:
            return {"true": 1.0, "false": 0.0}.get(text, float("nan"))

    with open(path, encoding="utf-8") as file:
        rows = list(csv.reader(file))
    return np.array([[number(cell) for cell in row] for row in rows[1:]])


def same(ours: Any, theirs: Any) -> None:
    """The same bits, with NaN where there is none."""
    np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


def test_modes_of_what_nothing_holds(command_line: Callable[..., str]) -> None:
    """A body that drifts has not enough eigenvectors: the command line says so, and so does Python, with all that there is."""
    modes = dalembert.load("bouncing-ball").study("modes", here=True)
    told = command_line("study", "modes", "bouncing-ball", "--here")
    assert modes.remark in told and modes.remark.startswith("no complex modes")
    assert len(modes.eigenvalues) == len(modes.damping_ratios) == 2 * len(modes.frequencies)
    assert np.abs(modes.squared).min() < 1e-9


def test_modes_of_an_oscillator(oscillator: dalembert.Scene) -> None:
    oscillator["force"]["spring"]["damping"] = 0.4
    modes = oscillator.study("modes")
    assert modes.kind == "modes"
    assert abs(modes.frequencies.max() - 2.0) < 1e-9
    linear = oscillator.study("linearise")
    # λ = −c/2m ± i √(k/m − (c/2m)²)
    wanted = complex(-0.1, np.sqrt(4 - 0.01))
    assert np.abs(linear.eigenvalues - wanted).min() < 1e-9
    assert linear.eigenvalues.dtype == np.complex128
    np.testing.assert_allclose(linear["mass"].diagonal(), 2.0)
    with pytest.raises(AttributeError, match="it has"):
        linear.nothing
    again = pickle.loads(pickle.dumps(modes))
    assert (again.frequencies == modes.frequencies).all() and again.kind == "modes"


def test_equilibrium_of_a_pendulum(pendulum: dalembert.Scene) -> None:
    rest = pendulum.study("equilibrium")
    np.testing.assert_allclose(rest["q"], [0, 0, -0.5], atol=1e-9)
    assert rest.stable or rest.neutral
    # g/l
    assert abs(rest.squared.max() - 9.81 / 0.5) < 1e-6


def test_transitions_of_an_oscillator(slider: dalembert.Scene) -> None:
    # Without damping x(t) = x₀ cos ωt + v₀ sin(ωt)/ω.
    found = slider.set("force.spring.damping", 0.0).study("transition", at=0.7)
    np.testing.assert_allclose(found.positions, [[np.cos(1.4)]], atol=1e-9)
    np.testing.assert_allclose(found.velocities, [[np.sin(1.4) / 2]], atol=1e-9)
    whole = [[np.cos(1.4), np.sin(1.4) / 2], [-2 * np.sin(1.4), np.cos(1.4)]]
    np.testing.assert_allclose(found.whole, whole, atol=1e-9)


def test_the_response_at_a_frequency(oscillator: dalembert.Scene) -> None:
    oscillator["force"]["spring"]["damping"] = 0.4
    name = oscillator.model().velocity_names[0]
    found = oscillator.study("frequency_response", force="x", measure="x", from_=0.1, to=1.0, count=11)
    omega = TURN * found.frequency
    np.testing.assert_allclose(found.response, 1 / (8 - 2 * omega**2 + 0.4j * omega), rtol=1e-8)
    assert "mass" in name
    lists = oscillator.study("frequency-response", force=["x"], measure=["x"], from_=0.1, to=1.0, count=11)
    assert lists.response.shape == (11, 1, 1)
    same(lists.response[:, 0, 0], found.response)


@pytest.fixture
def slider() -> dalembert.Scene:
    """One coordinate: 2 ẍ + 0.4 ẋ + 8 x = force."""
    scene = dalembert.Scene(name="slider")
    link = {"name": "mass", "joint": {"kind": "prismatic", "axis": [1, 0, 0]}, "mass": 2, "inertia": [1, 1, 1]}
    scene.body("slider", kind="tree", links=[link])
    scene["marker"] = {"mass": {"body": "slider", "link": "mass"}, "anchor": {"at": [-10, 0, 0]}}
    scene.force("spring", kind="spring", between=["anchor", "mass"], stiffness=8, rest_length=10, damping=0.4)
    scene["run"] = {"until": 1}
    return scene


def test_white_noise_shakes_as_its_closed_form_says(
    slider: dalembert.Scene, tmp_path: Path, command_line: Callable[..., str]
) -> None:
    # ẍ + c/m ẋ + k/m x = w/m with intensity W: ⟨x²⟩ = W/(2 c k), ⟨v²⟩ = W/(2 c m), no correlation.
    found = slider.study("covariance", noise={"mass": 3.0})
    np.testing.assert_allclose(found.covariance, np.diag([3 / (2 * 0.4 * 8), 3 / (2 * 0.4 * 2)]), atol=1e-12)
    np.testing.assert_allclose(found.deviations**2, found.covariance.diagonal(), rtol=1e-14)
    # A short time after rest ⟨v²⟩ = W t/m², to the order t.
    early = slider.study("covariance", noise={"mass": 3.0}, at=1e-5)
    np.testing.assert_allclose(early.covariance[1, 1], 3e-5 / 4, rtol=1e-5)
    command_line("study", "covariance", "quarter-car-random", "--noise", "wheel=1000", "--out", str(tmp_path / "car"))
    car = dalembert.load("quarter-car-random").study("covariance", noise={"wheel": 1000})
    same(car.covariance, np.load(tmp_path / "car" / "covariance.npy"))
    same(np.column_stack([car.frequency, car.density]), table(tmp_path / "car" / "densities.csv"))
    # One-sided, per Hz: 2 W |F|², and (2πf)² times that of the rate.
    band = slider.study("covariance", noise={"mass": 3.0}, from_=0.1, to=1.0)
    omega = TURN * band.frequency
    np.testing.assert_allclose(band.density[:, 0], 2 * 3.0 / np.abs(8 - 2 * omega**2 + 0.4j * omega) ** 2, rtol=1e-9)
    np.testing.assert_allclose(band.density[:, 1], omega**2 * band.density[:, 0], rtol=1e-9)
    np.testing.assert_allclose(band.frequency[[0, -1]], [0.1, 1.0], rtol=1e-12)
    wrong: List[Dict[str, Any]] = [{"from_": 1.0, "to": 0.5}, {"from_": 0.0}]
    for more in wrong:
        with pytest.raises(dalembert.StudyError, match="frequencies must be positive and rising"):
            slider.study("covariance", noise={"mass": 3.0}, **more)
    with pytest.raises(ValueError, match="intensity of `mass` is -1"):
        slider.study("covariance", noise={"mass": -1.0})
    with pytest.raises(ValueError, match="must be a dictionary"):
        slider.study("covariance", noise="mass")


def test_a_periodic_force_moves_as_its_harmonic_does(slider: dalembert.Scene) -> None:
    period, samples = 1.3, 64
    omega = TURN / period
    found = slider.study("periodic-response", force={"mass": f"cos({omega!r}*t)"}, period=period, samples=samples)
    wanted = (np.exp(1j * omega * found.time) / (8 - 2 * omega**2 + 0.4j * omega)).real
    np.testing.assert_allclose(found.response[:, 0], wanted, atol=1e-9)
    array = slider.study("periodic-response", force={"mass": np.cos(omega * found.time)}, period=period)
    np.testing.assert_allclose(array.response, found.response, atol=1e-12)
    with pytest.raises(ValueError, match="value 3 is NaN"):
        slider.study("periodic-response", force={"mass": [0, 0, 0, np.nan]}, period=1)


def test_multipliers_of_a_driven_oscillator() -> None:
    # Liouville: damping 0.2 over one period of 2π leaves exp(−0.2 · 2π) of a volume, on the cycle or not.
    scene, lost = dalembert.load("duffing-a"), np.exp(-0.2 * TURN)
    found = scene.study("floquet", period=TURN)
    assert found.multipliers.dtype == np.complex128 and found.monodromy.shape == (2, 2)
    # Tolerance 1e-12 in each of some hundred steps.
    assert abs(np.linalg.det(found.monodromy) - lost) < 1e-9
    cycle = scene.study("limit-cycle", period=TURN, settle=30)
    assert abs(np.prod(cycle.multipliers) - lost) < 1e-9 and cycle.residual < 1e-9
    # The turn closes.
    np.testing.assert_allclose(cycle.positions[-1], cycle.positions[0], atol=1e-8)
    np.testing.assert_allclose(cycle.velocities[-1], cycle.velocities[0], atol=1e-8)
    assert cycle.time[0] == 0.0 and abs(cycle.time[-1] - TURN) < 1e-12 and cycle.positions.shape == (201, 1)


def test_a_cycle_through_a_wall(tmp_path: Path, command_line: Callable[..., str]) -> None:
    # One impact with restitution 0.7: the product of the multipliers is ε² exp(−2ζT).
    period = TURN / 1.7
    cycle = dalembert.load("impact-oscillator").study("limit-cycle", period=period, settle=60)
    assert abs(abs(np.prod(cycle.multipliers)) - 0.49 * np.exp(-0.2 * period)) < 1e-8
    options = ["--period", repr(period), "--settle", "60", "--out", str(tmp_path)]
    command_line("study", "limit-cycle", "impact-oscillator", *options)
    theirs = table(tmp_path / "cycle.csv")
    same(np.column_stack([cycle.time, cycle.positions, cycle.velocities]), theirs)


def test_exponents_add_up_to_what_damping_takes() -> None:
    found = dalembert.load("duffing-b").study("lyapunov", batches=3, tolerance=1e-7)
    assert abs(found.exponents.sum() + 0.2) < 1e-4 and found.exponents[0] > 0.05
    assert found.history.shape == (3, 3) and found.errors.shape == (3,) and 2.0 < found.dimension < 3.0
    same(found.history[-1], found.exponents)


def test_sections_and_portraits(tmp_path: Path, command_line: Callable[..., str]) -> None:
    scene = dalembert.load("duffing-b").set("parameters.force", 0.0).set("parameters.damping", 0.0)
    scene.set("body.slider.links[0].coordinates[0]", 1.5)
    found = scene.study("portrait", coordinate="mass", period=0.1, settle=0, points=60)
    x, v = 1.5 + found.position, found.velocity
    energy = 0.5 * v**2 - 0.5 * x**2 + 0.25 * x**4
    # The tolerance is 1e-9 in each step.
    assert len(x) == 60 and np.abs(energy - (-0.5 * 1.5**2 + 0.25 * 1.5**4)).max() < 1e-7
    driven = dalembert.load("duffing-b")
    found = driven.study("poincare", coordinate="mass", period=TURN, settle=3, points=20)
    options = ["--coordinate", "mass", "--period", repr(TURN), "--settle", "3", "--points", "20"]
    command_line("study", "poincare", "duffing-b", *options, "--out", str(tmp_path / "strobe"))
    same(np.column_stack([found.position, found.velocity]), table(tmp_path / "strobe" / "section.csv"))
    chaos = dalembert.load("chaos-pendulum")
    found = chaos.study("poincare", coordinate="beam", section={"beam": 0.2}, settle=1, points=4)
    assert np.abs(found.position + np.pi / 3 - 0.2).max() < 1e-9 and (found.velocity > 0).all()
    assert (np.diff(found.time) > 0).all()
    with pytest.raises(ValueError, match="`section="):
        chaos.study("poincare", coordinate="beam")


def test_a_spectrum_has_its_peak_where_it_vibrates(slider: dalembert.Scene) -> None:
    slider.set("force.spring.damping", 0.0)
    slider["body"]["slider"]["links"][0]["coordinates"] = [0.1]
    interval = TURN / 2 / 32
    found = slider.study("spectrum", coordinate="mass", interval=interval, samples=1024, segment=256, window="hann")
    # ω = 2 rad/s is a line of the spectrum; v = −0.2 sin 2t, so that the area is ⟨v²⟩ = 0.02.
    peak = found.density.argmax()
    assert abs(found.frequency[peak] - 1 / np.pi) < 1e-12
    assert abs(found.density.sum() * found.frequency[1] - 0.02) < 1e-8
    assert found.segments == 7
    # Positions 0.1 cos 2t have the area 0.005.
    places = slider.study("spectrum", coordinate="mass", positions=True, interval=interval, samples=1024, segment=256)
    assert places.density.argmax() == peak and abs(places.density[1:].sum() * places.frequency[1] - 0.005) < 1e-8
    with pytest.raises(ValueError, match="there is no window `hat`"):
        slider.study("spectrum", coordinate="mass", interval=1, window="hat")


def test_gaits_of_wheel_and_walker(tmp_path: Path, command_line: Callable[..., str]) -> None:
    half = np.pi / 8
    wheel = dalembert.load("rimless-wheel")
    gait = wheel.study("limit-cycle", strike="floor.spoke7", turn={"hub": -2 * half}, drift="along")
    # ω² = 4 (g/l) sin α sin γ/(1 + j) · c²/(1 − c²) after a strike, multiplier c², with c = (j + cos 2α)/(1 + j).
    kept = (0.2 + np.cos(2 * half)) / 1.2
    rate = np.sqrt(4 * 9.81 * np.sin(half) * np.sin(0.08) / 1.2 * kept**2 / (1 - kept**2))
    assert np.abs(gait.v - rate).min() < 1e-9
    assert abs(abs(gait.multipliers[0]) - kept**2) < 1e-6 and gait.events >= 1
    legs: Dict[str, Any] = {"strike": ["floor.right_foot"], "exchange": {"left": "right"}, "drift": ["along"]}
    walker = dalembert.load("simplest-walker").study("limit-cycle", **legs)
    # Garcia et al., with feet of a millionth of the mass.
    assert np.abs(walker.q - 0.200_310_900_544).min() < 1e-5
    options = ["--strike", "floor.right_foot", "--exchange", "left=right", "--drift", "along"]
    command_line("study", "limit-cycle", "simplest-walker", *options, "--out", str(tmp_path))
    same(np.column_stack([walker.q, walker.v]), table(tmp_path / "gait.csv"))
    with pytest.raises(ValueError, match="`strike` for a gait"):
        wheel.study("limit-cycle")
    with pytest.raises(dalembert.StudyError, match="names no single contact"):
        wheel.study("limit-cycle", strike="ceiling")


def test_a_curve_of_cycles_turns_back(tmp_path: Path, command_line: Callable[..., str]) -> None:
    found = dalembert.load("duffing-b").study(
        "continuation", parameter="parameters.force", from_=0.2, to=0.32, period=TURN
    )
    folds = [row for row in found.special if row["kind"] == "Fold"]
    # As the same field written by hand does.
    assert abs(folds[0]["parameter"] - 0.258_607) < 1e-5
    assert found.stable[0] and found.states.shape == (len(found.parameter), 2) == found.eigenvalues.shape
    assert (found.period == TURN).all()
    options = ["--parameter", "parameters.force", "--from", "0.2", "--to", "0.32", "--period", repr(TURN)]
    command_line("study", "continuation", "duffing-b", *options, "--out", str(tmp_path))
    same(np.column_stack([found.parameter, found.stable, found.states]), table(tmp_path / "curve.csv")[:, :4])
    assert "Fold at 0.2586" in found._repr_html_()


def test_a_curve_of_equilibria_with_constraints(tmp_path: Path, command_line: Callable[..., str]) -> None:
    # A bob on a rod, in Cartesian coordinates, pulled aside by a steady force: tan α = f/(m g).
    scene = dalembert.Scene(name="pulled")
    scene["parameters"] = {"pull": 0.0}
    scene["world"] = {"gravity": [0, 0, -9.81]}
    scene.body("bob", kind="particle", mass=2, position=[0, 0, -0.5])
    scene.constraint("rod", kind="distance", between=["ground", "bob"], length=0.5)
    scene.constraint("plane", kind="point_on_plane", between=["ground", "bob"], normal=[0, 1, 0])
    scene.signal("pull", kind="constant", value="= pull")
    scene.force("pull", kind="applied_force", at="bob", force=["pull", 0, 0])
    scene["run"] = {"until": 1}
    found = scene.study("continuation", parameter="parameters.pull", from_=0.0, to=20.0, points=30)
    angle = np.arctan2(found.states[:, 0], -found.states[:, 2])
    assert len(angle) > 5 and np.abs(np.tan(angle) - found.parameter / (2 * 9.81)).max() < 1e-8


def test_a_section_through_impacts(tmp_path: Path, command_line: Callable[..., str]) -> None:
    scene = dalembert.load("impact-oscillator")
    name = scene.model().velocity_names[0].rsplit(".", 1)[-1]
    found = scene.study("poincare", coordinate=name, section_rate={name: 0.0}, settle=2, points=6)
    assert np.abs(found.velocity).max() < 1e-8 and (np.diff(found.time) > 0).all()
    options = ["--coordinate", name, "--section-rate", f"{name}=0", "--settle", "2", "--points", "6"]
    command_line("study", "poincare", "impact-oscillator", *options, "--out", str(tmp_path))
    same(np.column_stack([found.position, found.velocity]), table(tmp_path / "section.csv"))


def test_a_shot_meets_its_conditions(slider: dalembert.Scene) -> None:
    # From rest at x₀ the free oscillator is at x₀ cos ωt: where must it begin to be at 0.1 m after 0.4 s?
    slider.set("force.spring.damping", 0.0)
    found = slider.study("shoot", time=0.4, start=["mass_rate"], end=["mass=0.1"])
    np.testing.assert_allclose(found.first_q, [0.1 / np.cos(0.8)], rtol=1e-9)
    np.testing.assert_allclose(found.last_v, [-2 * np.tan(0.8) * 0.1], rtol=1e-8)
    assert abs(found.first_v[0]) < 1e-10 and found.conditions == 2 == found.unknowns
    with pytest.raises(ValueError, match="one of the options `time` and `strike`"):
        slider.study("shoot", end="mass=0")


def test_covariances_of_low_rank_are_those_of_full_rank(slider: dalembert.Scene) -> None:
    found = slider.study("covariance", noise={"mass": 3.0}, sparse=True)
    np.testing.assert_allclose(found.factor @ found.factor.T, np.diag([3 / 6.4, 3 / 1.6]), atol=1e-9)
    np.testing.assert_allclose(found.deviations**2, [3 / 6.4, 3 / 1.6], rtol=1e-9)


def test_several_gaits_need_a_search() -> None:
    with pytest.raises(ValueError, match="several `gaits` need `search`"):
        dalembert.load("simplest-walker").study("limit-cycle", strike="floor.right_foot", gaits=2)


def test_a_curve_of_equilibria_meets_its_closed_form() -> None:
    # Without drive the wells −x + x³ + f = 0 have x = 1 at f = 0; the curve folds at x = 1/√3 with f = 2/(3√3).
    scene = dalembert.load("duffing-b").set("parameters.force", 0.0)
    del scene["force"]["drive"]
    scene.set("body.slider.links[0].coordinates[0]", 1.0)
    scene["parameters"]["pull"] = 0.0
    scene.signal("steady", kind="constant", value="= -pull")
    scene.force("steady", kind="applied_force", at="mass", force=["steady", 0, 0])
    found = scene.study("continuation", parameter="parameters.pull", from_=0.0, to=0.5, points=60)
    x = found.states[:, 0]
    assert np.abs(x**3 - x + found.parameter).max() < 1e-8
    fold = [row for row in found.special if row["kind"] == "Fold"][0]
    assert abs(fold["parameter"] - 2 / (3 * np.sqrt(3))) < 1e-8


def test_a_diagram_has_single_points_where_a_cycle_attracts(tmp_path: Path, command_line: Callable[..., str]) -> None:
    options: Dict[str, Any] = {"coordinate": "mass", "period": TURN, "count": 3, "settle": 40, "points": 3}
    scene = dalembert.load("duffing-a")
    found = scene.study("bifurcation", parameter="parameters.force", from_=0.9, to=1.1, **options)
    # e^{−0.1 · 40 · 2π} = 1e-11 is left of the beginning.
    assert np.ptp(found.position, axis=1).max() < 1e-7 and np.ptp(found.position[:, 0]) > 1e-3
    range_ = ["--parameter", "parameters.force", "--from", "0.9", "--to", "1.1"]
    rest = ["--coordinate", "mass", "--period", repr(TURN), "--count", "3", "--settle", "40", "--points", "3"]
    command_line("study", "bifurcation", "duffing-a", *range_, *rest, "--out", str(tmp_path))
    ours = np.column_stack([np.repeat(found.parameter, 3), found.position.ravel(), found.velocity.ravel()])
    same(ours, table(tmp_path / "diagram.csv"))
    # A pickled model has everything computed and no parameters any more; that is said.
    frozen = pickle.loads(pickle.dumps(scene.model()))
    with pytest.raises(dalembert.StudyError, match="parameters.force=0.9: everything in this model is computed"):
        frozen.study("bifurcation", parameter="parameters.force", from_=0.9, to=1.1, **options)


def test_a_chart_is_that_of_the_command_line(tmp_path: Path, command_line: Callable[..., str]) -> None:
    scene = dalembert.load("mathieu").set("parameters.angle", 0.0)
    axes: Dict[str, Any] = {"across": {"parameters.a": (0.5, 2.5)}, "up": {"parameters.q": (0.1, 0.7)}}
    steps: List[Any] = []
    found = scene.study(
        "chart", **axes, count=5, period="pi*sqrt(a/9.81)", progress=lambda done, every: steps.append((done, every))
    )
    options = ["--across", "parameters.a=0.5:2.5", "--up", "parameters.q=0.1:0.7", "--count", "5"]
    options += ["--period", "pi*sqrt(a/9.81)", "--set", "parameters.angle=0"]
    said = command_line("study", "chart", "mathieu", *options, "--out", str(tmp_path))
    theirs = table(tmp_path / "chart.csv")
    a, q = np.meshgrid(found.across, found.up)
    same(np.column_stack([a.ravel(), q.ravel(), found.growth.ravel()]), theirs)
    assert f"{found.stable} of 25 places stable" in said and found.computed == 25
    assert all(0 <= done <= 25 == every for done, every in steps)
    with pytest.raises(ValueError, match="one entry"):
        scene.study("chart", across={"parameters.a": (0, 1), "parameters.q": (0, 1)}, up={"parameters.q": (0, 1)})
    with pytest.raises(dalembert.StudyError, match="no.such"):
        scene.study("chart", across={"no.such": (0, 1)}, up={"parameters.q": (0, 1)}, count=2)


def test_basins_of_two_wells_mirror_each_other(tmp_path: Path, command_line: Callable[..., str]) -> None:
    scene = dalembert.load("duffing-b").set("parameters.force", 0.0)
    options: Dict[str, Any] = {"count": 6, "coordinate": "mass", "period": 6, "settle": 12, "points": 2}
    found = scene.study("basin", over={"mass": (-1.9, 1.9)}, over_rate={"mass": (-1.7, 1.7)}, **options)
    assert np.abs(found.end + found.end[::-1, ::-1]).max() < 1e-3 and np.abs(np.abs(found.end) - 1).max() < 0.01
    axes = ["--over", "mass=-1.9:1.9", "--over-rate", "mass=-1.7:1.7", "--count", "6", "--coordinate", "mass"]
    rest = ["--set", "parameters.force=0", "--period", "6", "--settle", "12", "--points", "2", "--out", str(tmp_path)]
    command_line("study", "basin", "duffing-b", *axes, *rest)
    same(found.end.ravel(), table(tmp_path / "basin.csv")[:, 2])


def test_a_gait_comes_back_from_small_disturbances() -> None:
    wheel = dalembert.load("rimless-wheel")
    gait: Dict[str, Any] = {"strike": "floor.spoke7", "turn": {"hub": -np.pi / 4}, "drift": "along"}
    found = wheel.study("basin", over={"hub": (0.0, 0.0)}, over_rate={"hub": (0.0, 0.01)}, count=2, settle=40, **gait)
    # Undisturbed it is there at once; a disturbance of 0.01 in the rate shrinks by c² at each stride, to below 1e-3.
    assert (found.end[0] == 0).all()
    kept = ((0.2 + np.cos(np.pi / 4)) / 1.2) ** 2
    assert (found.end[1] <= np.ceil(np.log(0.1) / np.log(kept)) + 1).all() and (found.end[1] >= 1).all()


@pytest.mark.filterwarnings("ignore::dalembert.CallbackWarning")
def test_charts_of_scenes_with_callbacks() -> None:
    options: Dict[str, Any] = {"count": 2, "period": 1.0, "up": {"parameters.damping": (0.1, 0.3)}}
    scene = dalembert.load("duffing-b")
    plain = scene.study("chart", across={"parameters.force": (0.1, 0.3)}, **options)
    scene.signal("none", kind="callback", function=lambda t: 0.0)
    scene.force("none", kind="applied_force", at="mass", force=["none", 0, 0])
    # One by one instead of side by side: the tolerance is 1e-9 in each step of a period of 1 s.
    found = scene.study("chart", across={"parameters.force": (0.1, 0.3)}, **options)
    np.testing.assert_allclose(found.growth, plain.growth, atol=1e-7)


def test_callbacks_in_maps_raise_what_they_raise() -> None:
    scene = dalembert.load("duffing-b")

    def broken(t: float) -> float:
        raise ZeroDivisionError("a slip")

    scene.signal("bad", kind="callback", function=broken)
    scene.force("push", kind="applied_force", at="mass", force=["bad", 0, 0])
    with pytest.warns(dalembert.CallbackWarning):
        model = scene.model()
    with pytest.raises(ZeroDivisionError, match="a slip"):
        model.study("bifurcation", parameter="parameters.force", from_=0, to=1, count=4, coordinate="mass", period=1.0)
    with pytest.raises(ZeroDivisionError, match="a slip"):
        model.study("portrait", coordinate="mass", period=1.0)


def test_a_study_that_is_stopped_keeps_what_it_has() -> None:
    scene = dalembert.load("duffing-b")
    options: Dict[str, Any] = {"coordinate": "mass", "period": TURN, "settle": 200, "points": 5}

    def stop(done: int, every: int) -> bool:
        return done == 0

    with pytest.raises(dalembert.StudyInterrupted) as caught:
        scene.study("bifurcation", parameter="parameters.force", from_=0, to=1, count=40000, progress=stop, **options)
    part = caught.value.study
    assert isinstance(caught.value, KeyboardInterrupt) and part is not None
    finished = ~np.isnan(part.position[:, 0])
    assert 0 < finished.sum() < 40000
    again = pickle.loads(pickle.dumps(caught.value))
    same(again.study.position, part.position)

    with pytest.raises(dalembert.StudyInterrupted) as caught:
        scene.study("lyapunov", batch=5, transient=0, batches=10**5, progress=lambda done, every: done < 2)
    found = caught.value.study
    assert found is not None and 2 <= len(found.history) < 10**5 and len(found.exponents) == 3
    curve: Dict[str, Any] = {"parameter": "parameters.force", "from_": 0.2, "to": 0.21, "step": 1e-7, "points": 10**5}
    with pytest.raises(dalembert.StudyInterrupted) as caught:
        scene.study("continuation", period=TURN, progress=lambda done, every: done < 2, **curve)
    found = caught.value.study
    assert found is not None and "interrupted" in found.ending and 2 <= len(found.parameter) < 10**5

    def slip(done: int, every: int) -> None:
        raise ZeroDivisionError("a slip")

    with pytest.raises(ZeroDivisionError):
        scene.study("portrait", coordinate="mass", period=1.0, points=10**6, progress=slip)


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_control_c_ends_a_study_and_not_the_interpreter() -> None:
    program = """
        import os, signal, threading, numpy, dalembert
        scene = dalembert.load("mathieu")
        goes = threading.Event()
        def strike():
            goes.wait()
            os.kill(os.getpid(), signal.SIGINT)
        def look(done, every):
            if done > 0:
                goes.set()
        threading.Thread(target=strike).start()
        axes = {"across": {"parameters.a": (0.5, 4)}, "up": {"parameters.q": (0, 1)}, "count": 3000}
        try:
            scene.study("chart", period="pi*sqrt(a/9.81)", progress=look, **axes)
        except KeyboardInterrupt as stop:
            known = ~numpy.isnan(stop.study.growth)
            print(type(stop).__name__, bool(known.any()), bool(known.all()))
        print(dalembert.load("oscillator").run(until=0.1).status)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=600)
    assert done.stdout.split() == ["StudyInterrupted", "True", "False", "completed"], done.stderr


def test_wrong_requests_are_refused(oscillator: dalembert.Scene) -> None:
    with pytest.raises(ValueError, match="there is no study `mode`"):
        oscillator.study("mode")
    with pytest.raises(ValueError, match="no option `hear`"):
        oscillator.study("modes", hear=True)
    with pytest.raises(ValueError, match="needs the option `period`"):
        oscillator.study("floquet")
    with pytest.raises(ValueError, match="option `period` is"):
        oscillator.study("floquet", period=float("nan"))
    with pytest.raises(ValueError, match="must be positive"):
        oscillator.study("floquet", period=-1)
    with pytest.raises(ValueError, match="option `count`"):
        oscillator.study("bifurcation", coordinate="x", period=1, parameter="a", from_=0, to=1, count=-3)
    with pytest.raises(dalembert.StudyError, match="names none"):
        oscillator.study("poincare", coordinate="knee", period=1)


def test_every_study_of_the_command_line_is_there(command_line: Callable[..., str]) -> None:
    listed = command_line("study", "--help").split("Commands:")[1].split("Options:")[0]
    names = {line.split()[0] for line in listed.splitlines() if line[:2] == "  " and line[2:3].islower()}
    trees = {"inverse-kinematics", "inverse-dynamics", "help"}
    assert names - trees == set(dalembert.studies())
