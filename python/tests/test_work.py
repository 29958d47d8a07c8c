"""Integrators compared from Python: closed forms, the numbers of the command line, methods of one's own, runs that fail, bad input, and an end on the way."""

from __future__ import annotations

import csv
import pickle
from pathlib import Path
from typing import Any, Callable, Dict, List

import numpy as np
import pytest

import dalembert

from conftest import OSCILLATOR
from test_studies import same

#: x = 1 + 0.1 cos 2t, for the mass on a spring.
EXACT = {"body.mass.position.x": "1 + 0.1*cos(2*t)"}


def only(study: dalembert.Study) -> Dict[str, Any]:
    """The comparison, if there is one."""
    one: Dict[str, Any]
    (one,) = study.comparisons
    return one


def test_comparisons_of_a_scene_are_those_of_the_command_line(tmp_path: Path, command_line: Callable[..., str]) -> None:
    study = dalembert.load("oscillator").study("work-precision", timing=0)
    one = only(study)
    assert (one["name"], one["vary"], one["units"]) == ("steps", "fixed_step", ["m", "m/s"])
    # Simpson's rule, five equidistant and five Lobatto points, splines, Gauss, Chebyshev, a wrong frequency.
    np.testing.assert_allclose(one["orders"][:, 0], [4, 6, 8, 6, 4, 4, 2], atol=0.2)
    assert np.isfinite(one["seconds"]).all() and not any(one["faults"])
    command_line("study", "work-precision", "oscillator", "--timing", "0", "--out", str(tmp_path))
    with open(tmp_path / "steps.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["method"] for row in rows] == one["method"]
    for k, (name, unit) in enumerate(zip(one["channels"], one["units"])):
        same(one["errors"][:, k], [float(row[f"error {name} [{unit}]"]) for row in rows])
        same(one["floors"][:, k], [float(row[f"floor {name} [{unit}]"]) for row in rows])
    forces = one["work"][:, one["counts"].index("forces")]
    same(forces, [float(row["forces"]) for row in rows])
    drawn = study.plot()
    assert drawn is not None and "sines, 5 Lobatto points" in drawn.svg and "error of body.mass.position.x in m" in drawn.svg
    shown = study._repr_html_()
    assert "steps: 35 runs; orders in body.mass.position.x: sines, 3 points (Simpson) 4.00" in shown and "failed" not in shown
    assert pickle.loads(pickle.dumps(study)).kind == study.kind


def test_methods_are_texts_or_dictionaries(oscillator: dalembert.Scene) -> None:
    given: Dict[str, Any] = {"vary": "fixed_step", "values": [0.1, 0.05, 0.025], "exact": EXACT, "channel": "body.mass.position.x", "timing": 0}
    words = only(oscillator.study("work-precision", method=["variational alpha=0", "galerkin_gauss degree=2"], **given))
    np.testing.assert_allclose(words["orders"][:, 0], [2, 4], atol=0.1)
    # The trapezoidal rule is x_n = 1 + 0.1 cos nφ with sin(φ/2) = ωh/2, at the end n = 2/h.
    steps = words["value"][:3]
    wanted = 0.1 * np.abs(np.cos(4 / steps * np.arcsin(steps)) - np.cos(4))
    np.testing.assert_allclose(words["errors"][:3, 0], wanted, atol=1e-12)
    tables: List[Dict[str, Any]] = [
        {"integrator": "variational", "settings": {"alpha": 0}},
        {"name": "Gauss", "integrator": "galerkin_gauss", "settings": {"degree": 2}},
    ]
    same(only(oscillator.study("work_precision", method=tables, **given))["errors"], words["errors"])
    single = only(oscillator.study("work-precision", method=tables[1], **given))
    assert single["methods"] == ["Gauss"] and single["varied"] == ["fixed_step"] * 3


def test_references_and_values_of_the_scene(oscillator: dalembert.Scene) -> None:
    """Errors over a value of the scene, against a run that is tighter, with a function of Python in the scene, and of a model that is computed already."""

    scene = dalembert.Scene.from_text(OSCILLATOR, name="driven")
    scene.signal("push", kind="callback", function=lambda t: 0.1 * np.sin(t))
    scene.force("push", kind="applied_force", at="mass", force=["push", 0, 0])
    given: Dict[str, Any] = {"channel": "body.mass.position.x", "until": 1.0, "timing": 0}
    stiff = only(scene.study("work-precision", vary="force.spring.stiffness", values=[4.0, 8.0], method="dopri5 tolerance=1e-6", **given))
    assert not any(stiff["faults"]) and (stiff["errors"] < 1e-4).all() and (stiff["errors"] > stiff["floors"]).all()
    read = pickle.loads(pickle.dumps(oscillator.model()))
    found = only(read.study("work-precision", method="dopri5", values=[1e-4, 1e-8], **given))
    assert found["vary"] == "tolerance" and found["errors"][0, 0] > found["errors"][1, 0]
    lost = only(read.study("work-precision", vary="force.spring.stiffness", values=[4.0], **given))
    assert "everything in this model is computed already" in lost["faults"][0]


def test_runs_that_fail_are_rows_with_their_reason(oscillator: dalembert.Scene) -> None:
    found = only(oscillator.study("work-precision", vary="fixed_step", values=[0.1], method=["variational", "variational smoothness=3"], timing=0))
    assert found["faults"][0] == "" and "smoothness" in found["faults"][1]
    assert np.isnan(found["seconds"][1]) and np.isnan(found["errors"][1]).all()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"take": "first"}, "option `take`: `first` is none of last and maximum"),
        ({"method": 3}, "option `method`: a method is a text"),
        ({"method": {"integrater": "rk4"}}, "option `method`: unknown field `integrater`"),
        ({"method": "variational alpha"}, "`alpha` is not KEY=VALUE"),
        ({"timing": float("inf")}, "option `timing` is inf"),
        ({"values": ["a"]}, "option `values`"),
    ],
)
def test_bad_options_are_named(oscillator: dalembert.Scene, options: Dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        oscillator.study("work-precision", **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"comparison": "stepz"}, "there is no comparison `stepz`; did you mean `steps`"),
        ({"method": "dopri6"}, "there is no integrator `dopri6`; did you mean `dopri5`"),
        ({"channel": "body.mas.position.x"}, "no channel matches `body.mas.position.x`"),
        ({"values": [float("nan")]}, "not a finite number"),
        ({"until": -1.0}, "runs must end after they start"),
    ],
)
def test_what_a_scene_cannot_do_is_told(options: Dict[str, Any], words: str) -> None:
    with pytest.raises(dalembert.StudyError, match=words):
        dalembert.load("oscillator").study("work-precision", **options)


def test_an_end_on_the_way_keeps_the_runs(oscillator: dalembert.Scene) -> None:
    values = list(np.geomspace(1e-3, 1e-9, 200))
    with pytest.raises(dalembert.StudyInterrupted) as told:
        oscillator.study("work-precision", values=values, timing=0.05, progress=lambda done, every: done < 3)
    assert told.value.study is not None
    found = only(told.value.study)
    assert 3 <= len(found["value"]) < 200 and not any(found["faults"])
