"""Optimal control and fronts from Python: closed forms, and the bytes of the command line."""

from __future__ import annotations

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
from dalembert import Front, Motion

#: A mass of 1 kg on rails, rest to rest over 1 m in 1 s with the least ∫ u² dt.
SCENE = """
[body.rail]
kind = "tree"

[[body.rail.links]]
name = "mass"
joint = { kind = "prismatic", axis = [1, 0, 0] }
mass = 1
inertia = [1, 1, 1]

[run]
until = 1
"""


def study(**more: Any) -> Dict[str, Any]:
    return {
        "optimise": {"scene": dalembert.Scene.from_text(SCENE, name="rail"), "method": "hermite_simpson", "intervals": 8},
        "control": [{"name": "push", "on": "body.rail.mass"}],
        "phase": [
            {
                "name": "move",
                "duration": 1.0,
                "start": {"configuration": "scene", "velocity": "rest"},
                "end": {"configuration": [1.0], "velocity": "rest"},
            }
        ],
        "goal": [{"name": "effort", "integral": "push^2"}],
        **more,
    }


def solved(given: Any, **options: Any) -> Motion:
    found = dalembert.optimise(given, progress=False, **options)
    assert isinstance(found, Motion)
    return found


def test_the_shortest_effort_is_the_known_one() -> None:
    best = solved(study())
    # u = 6 − 12 t, ∫ u² dt = 12: a straight line, which the method meets exactly, to the tolerance of the solver.
    assert best.success and abs(best.goals["effort"] - 12.0) < 1e-6
    np.testing.assert_allclose(best.u[:, 0], 6 - 12 * best.t, atol=1e-5)
    np.testing.assert_allclose(best.q[:, 0], 3 * best.t**2 - 2 * best.t**3, atol=1e-6)
    assert best.control_names == ["push"] and best.durations == {"move": 1.0}
    assert best.violation < 1e-8 and best.error < 1e-6 and not best.violated
    run = best.run
    np.testing.assert_allclose(run["control.push"], 6 - 12 * run.time, atol=1e-5)
    assert "effort" in best._repr_html_() and "solved" in repr(best)
    again = pickle.loads(pickle.dumps(best))
    assert again.goals == best.goals and (again.run["control.push"] == run["control.push"]).all()


def test_records_have_the_bytes_of_the_command_line(tmp_path: Path, command_line: Callable[..., str]) -> None:
    ours, theirs = tmp_path / "python" / "swing-up", tmp_path / "command" / "swing-up"
    command_line("optimise", "swing-up", "--quiet", "--out", str(theirs))
    best = solved("swing-up", out=ours)
    assert best.success and set(dalembert.optimal_studies()) >= {"swing-up", "pareto-chain"}
    files = sorted(path.name for path in theirs.iterdir())
    assert files == sorted(path.name for path in ours.iterdir())
    for file in set(files) - {"summary.json", "report.html"}:
        assert (ours / file).read_bytes() == (theirs / file).read_bytes(), file


def test_studies_in_files(tmp_path: Path) -> None:
    (tmp_path / "rail.toml").write_text(SCENE)
    given = study()
    given["optimise"] = {**given["optimise"], "scene": "rail.toml"}
    (tmp_path / "study.toml").write_text(dalembert._dalembert.write(given))
    assert solved(tmp_path / "study.toml").goals == solved(study()).goals


def front_study() -> Dict[str, Any]:
    given = study(front={"method": "reference", "spacing": 0.2, "samples": 4})
    given["phase"][0]["duration"] = [0.5, 2.0]
    given["goal"] = [
        {"name": "effort", "integral": "push^2", "within": [0, 60]},
        {"name": "time", "time": True, "within": [0, 2.0]},
    ]
    return given


def test_a_front_lies_on_its_closed_form(tmp_path: Path) -> None:
    news: List[Dict[str, Any]] = []
    found = dalembert.optimise(front_study(), out=tmp_path / "front", jobs=2, progress=news.append)
    assert isinstance(found, Front) and found.complete and found.goals == ["effort", "time"]
    effort, time = found.points[found.best].T
    # The least effort of a given time is 12 / T³.
    np.testing.assert_allclose(effort, 12 / time**3, rtol=1e-5)
    assert len(effort) >= 4 and (np.diff(effort[np.argsort(time)]) < 0).all()
    assert found.motions and found.motions[0].success and found.motions[0].point is not None
    shown = found.motions[0]
    np.testing.assert_allclose(shown.goals["effort"], 12 / shown.goals["time"] ** 3, rtol=1e-5)
    assert (tmp_path / "front" / "front.csv").read_text() == found.to_csv()
    assert (tmp_path / "front" / "kind-1" / "trajectory.parquet").exists()
    assert all(one["kind"] == "front" and 0 <= one["done"] <= 1 for one in news)
    # The journal has all: nothing is solved again, and the front is the same.
    again = dalembert.optimise(front_study(), out=tmp_path / "front", jobs=1, progress=False)
    assert isinstance(again, Front) and again.to_csv() == found.to_csv()
    same = pickle.loads(pickle.dumps(found))
    assert same.to_csv() == found.to_csv() and len(same) == len(found)
    pandas = pytest.importorskip("pandas")
    assert isinstance(found.to_pandas(), pandas.DataFrame) and len(found.to_pandas()) == len(found)
    assert "<svg" in found._repr_html_() and "kind 1" in found.plot("time", "effort").svg
    with pytest.raises(ValueError, match="there is no goal `cost`"):
        found.plot("cost")


def test_what_cannot_be_is_told() -> None:
    impossible = study()
    impossible["control"] = [{"name": "push", "on": "body.rail.mass", "between": [-0.1, 0.1]}]
    with pytest.raises(dalembert.OptimisationFailed) as caught:
        solved(impossible)
    assert isinstance(caught.value, dalembert.StudyError)
    motion = caught.value.motion
    assert motion is not None and not motion.success and motion.violated and motion.run.status == "failed"
    assert str(caught.value).splitlines()[1:] == motion.violated
    assert not solved(impossible, check=False).success
    with pytest.raises(dalembert.StudyError, match="built-in ones are .*swing-up"):
        dalembert.optimise("nothing")
    with pytest.raises(dalembert.StudyError, match=r"study:\d+:\d+: there is no method `magic`"):
        given = study()
        given["optimise"] = {**given["optimise"], "method": "magic"}
        dalembert.optimise(given)
    with pytest.raises(dalembert.StudyError, match="needs a table `optimise`"):
        dalembert.optimise({})
    with pytest.raises(ValueError, match="1 or more"):
        dalembert.optimise("swing-up", samples=0)


def test_a_progress_function_sees_and_ends(command_line: Callable[..., str], tmp_path: Path) -> None:
    # With so many intervals there is time for somebody to be asked, on any machine.
    command_line("optimise", "four-body-chain", "--copy", str(tmp_path))
    path = tmp_path / "four-body-chain.toml"
    text = path.read_text().replace("intervals = 14", "intervals = 400")
    assert "intervals = 400" in text
    path.write_text(text)
    news: List[Dict[str, Any]] = []

    def stop(now: Dict[str, Any]) -> bool:
        news.append(now)
        return False

    with pytest.raises(dalembert.OptimisationInterrupted) as caught:
        dalembert.optimise(path, progress=stop)
    found = caught.value.result
    assert isinstance(found, Motion) and not found.success and found.outcome and found.iterations >= 0
    assert set(news[0]) == {"kind", "iteration", "objective", "violation", "stationarity"} and len(news) == 1
    assert found.run["time"][-1] > 0.0 and found.run.status == "interrupted"


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_control_c_keeps_the_part_of_a_front(tmp_path: Path) -> None:
    program = """
        import os, signal, sys, threading, dalembert
        goes = threading.Event()
        def strike():
            goes.wait()
            os.kill(os.getpid(), signal.SIGINT)
        def look(news):
            if news["solved"] > 0:
                goes.set()
        threading.Thread(target=strike).start()
        try:
            dalembert.optimise("pareto-chain", out=sys.argv[1], jobs=1, progress=look)
        except KeyboardInterrupt as stop:
            print(type(stop).__name__, type(stop.result).__name__, stop.result.complete)
        print(dalembert.load("oscillator").run(until=0.1).status)
    """
    command = [sys.executable, "-c", textwrap.dedent(program), str(tmp_path / "front")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.stdout.split() == ["OptimisationInterrupted", "Front", "False", "completed"], done.stderr
    assert (tmp_path / "front" / "journal").exists()
