"""Signals, forces and controllers written in Python."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
import traceback
from typing import Any, Dict, List, Tuple

import numpy as np
import pytest

import dalembert
from dalembert import Places

pytestmark = pytest.mark.filterwarnings("ignore::dalembert.CallbackWarning")


def wave(t: Any) -> Any:
    return 0.4 * np.sin(3.0 * t)


def wave_rate(t: Any) -> Any:
    return 1.2 * np.cos(3.0 * t)


def wave_acceleration(t: Any) -> Any:
    return -3.6 * np.sin(3.0 * t)


def spring(t: Any, places: Places) -> Any:
    """The spring of the fixture along x: 8 N/m, at rest at 1 m."""
    force = np.zeros_like(places.r)
    force[..., 0] = -8.0 * (places.r[..., 0] - 1.0)
    return force


def test_vectorised_functions_are_asked_for_all_points_at_once(oscillator: dalembert.Scene) -> None:
    """Derivatives of a force need differences: one call for all of them where the function takes arrays, one for each where it does not."""
    calls: Dict[str, List[Tuple[Any, ...]]] = {"one": [], "many": []}

    def own(kind: str) -> Any:
        def law(t: Any, places: Places) -> Any:
            calls[kind].append((np.shape(t), places.r.shape, places.rotation.shape))
            return spring(t, places)

        return law

    found = {}
    for kind in calls:
        scene = oscillator.copy()
        del scene["force"]["spring"]
        scene.force("own", kind="callback", at="mass", function=own(kind), vectorised=kind == "many")
        model = scene.model()
        calls[kind].clear()
        found[kind] = model.derivatives(model.initial.q, model.initial.v)
    assert (found["one"].q == found["many"].q).all() and (found["one"].v == found["many"].v).all()
    assert set(calls["one"]) == {((), (1, 3), (1, 3, 3))}
    samples = [shape[0][0] for shape in calls["many"]]
    assert all(shape == ((n,), (n, 1, 3), (n, 1, 3, 3)) for n, shape in zip(samples, calls["many"]))
    # The same points, in fewer calls.
    assert sum(samples) == len(calls["one"]) and max(samples) > 1 and len(calls["many"]) < len(calls["one"]) / 2


@pytest.mark.parametrize("vectorised", [False, True])
def test_a_signal_is_the_same_as_a_formula(oscillator: dalembert.Scene, vectorised: bool) -> None:
    def driven(kind: str, **keys: Any) -> dalembert.Run:
        scene: Any = oscillator.copy()
        scene.signal("wave", kind=kind, **keys)
        scene.force("push", kind="applied_force", at="mass", force=["wave", 0, 0])
        run: dalembert.Run = scene.run()
        return run

    formula = driven("expression", value="0.4*sin(3*t)")
    callback = driven("callback", function=wave, vectorised=vectorised)
    # Both are within the tolerance of the run, 1e-9 a step, of the same motion.
    assert np.abs(callback["body.mass.position.x"] - formula["body.mass.position.x"]).max() < 1e-8
    assert callback.status == "completed"


@pytest.mark.parametrize("derivatives", [(), (wave_rate, wave_acceleration)])
def test_a_signal_drives_a_motion(derivatives: Tuple[Any, ...]) -> None:
    scene = dalembert.Scene(name="driven")
    scene.body("slider", kind="particle", mass=1, position=[0, 0, 0], velocity=[1.2, 0, 0])
    scene.signal("wave", kind="callback", function=wave, derivatives=derivatives)
    scene.constraint("guide", kind="prescribed_position", between=["ground", "slider"], directions=[[1, 0, 0], [0, 1, 0], [0, 0, 1]], values=["wave", 0, 0])
    scene["run"] = {"until": 1.0, "tolerance": 1e-6}
    run = scene.run()
    # Second derivatives by differences are good to ε^(1/2), about 1e-8; the tolerance of the run is above that.
    assert np.abs(run["body.slider.position.x"] - wave(run.time)).max() < 1e-5


@pytest.mark.parametrize("vectorised", [False, True])
@pytest.mark.parametrize("integrator", ["dop853", "radau"])
def test_a_force_is_the_same_as_an_element(oscillator: dalembert.Scene, vectorised: bool, integrator: str) -> None:
    scene = oscillator.copy()
    del scene["force"]["spring"]
    scene.force("own", kind="callback", at="mass", function=spring, vectorised=vectorised)
    run = scene.run(integrator=integrator)
    wanted = 1.0 + 0.1 * np.cos(2.0 * run.time)
    assert np.abs(run["body.mass.position.x"] - wanted).max() < 1e-6
    # All power of a callback is supplied from outside, and the ledger closes.
    assert run.summary["ledger"]["closes"]


def test_derivatives_of_a_force_are_differences(oscillator: dalembert.Scene) -> None:
    scene = oscillator.copy()
    del scene["force"]["spring"]
    scene.force("own", kind="callback", at="mass", function=spring, vectorised=True)
    state = oscillator.model().initial
    exact, own = (s.model().derivatives(state.q, state.v) for s in (oscillator, scene))
    # ε^(2/3) of a linear law, for which there is no truncation: rounding alone, ε^(2/3) ≈ 4e-11, times the stiffness.
    np.testing.assert_allclose(own.q[0], exact.q[0], atol=1e-8)
    found = scene.study("linearise", here=True)
    assert abs(found.stiffness[0, 0] - 8.0) < 1e-7


def test_a_controller_has_states(oscillator: dalembert.Scene) -> None:
    goal = 1.5

    def control(t: float, places: Places, x: Any) -> Tuple[Any, Any]:
        error = goal - places.r[0, 0]
        force = np.zeros((1, 6))
        force[0, 0] = 20.0 * error - 12.0 * places.v[0, 0] + 15.0 * x[0]
        return force, [error]

    scene = oscillator.copy()
    scene.force("control", kind="callback", at="mass", function=control, states=[0.0])
    assert scene.model().n_states == 1
    run = scene.run(until=20, tolerance=1e-6)
    # The integral takes the force of the spring away: no offset is left. The slowest pole is near −0.9/s.
    assert abs(run["body.mass.position.x"][-1] - goal) < 1e-4
    for answer, part in [
        (lambda t, places, x: np.zeros(3), "a pair"),
        (lambda t, places, x: (np.zeros(3), [1.0, 2.0]), r"rates of shape \(2,\); expected 1"),
        (lambda t, places, x: (np.zeros(3), []), r"rates of shape \(0,\)"),
        (lambda t, places, x: (np.zeros(3), "fast"), "not an array of numbers"),
    ]:
        scene.callbacks["force"]["control"].function = answer
        with pytest.raises(dalembert.CallbackError, match=part) as caught:
            scene.run()
        assert caught.value.name == "force.control" and caught.value.time == 0.0
    for wrong in ([np.nan], [np.inf, 0.0], [[1.0]], ["x"]):
        with pytest.raises(dalembert.ArrayError, match="`states`"):
            oscillator.force("other", kind="callback", at="mass", function=control, states=wrong)


def test_a_force_between_two_markers() -> None:
    def pair(t: float, places: Places) -> Any:
        pull = 8.0 * (places.r[1] - places.r[0])
        return np.stack([pull, -pull])

    scene = dalembert.Scene(name="two")
    scene.body("a", kind="particle", mass=1, position=[0, 0, 0])
    scene.body("b", kind="particle", mass=1, position=[1, 0, 0])
    scene.force("pair", kind="callback", markers=["a", "b"], function=pair)
    run = scene.run(until=1.0)
    wanted = 0.5 - 0.5 * np.cos(4.0 * run.time)
    assert np.abs(run["body.a.position.x"] - wanted).max() < 1e-6
    assert np.abs(run["body.a.position.x"] + run["body.b.position.x"] - 1.0).max() < 1e-12


def test_costs_are_told() -> None:
    scene = dalembert.load("oscillator")
    scene.signal("wave", kind="callback", function=wave)
    with pytest.warns(dalembert.CallbackWarning, match="signal.wave") as told:
        scene.model()
    assert told[0].filename == __file__


def test_exceptions_come_out_with_their_traceback(oscillator: dalembert.Scene) -> None:
    def broken(t: float) -> float:
        if t > 0.5:
            raise LookupError("lost the table")
        return 0.0

    oscillator.signal("wave", kind="callback", function=broken)
    oscillator.force("push", kind="applied_force", at="mass", force=["wave", 0, 0])
    with pytest.raises(LookupError, match="lost the table") as caught:
        oscillator.run()
    assert "in broken" in "".join(traceback.format_tb(caught.tb))
    notes = getattr(caught.value, "__notes__", ["signal.wave"])
    assert "signal.wave" in notes[0]
    kept = oscillator.run(check=False)
    assert kept.status == "failed" and kept.final_state.t <= 0.6
    # A fault of one run is no fault of the next.
    oscillator.callbacks["signal"]["wave"].function = lambda t: 0.0
    assert oscillator.run().status == "completed"


@pytest.mark.parametrize("answer", [float("nan"), float("inf")])
def test_numbers_that_are_not_finite_are_named(oscillator: dalembert.Scene, answer: float) -> None:
    oscillator.force("push", kind="callback", at="mass", function=lambda t, places: [answer, 0, 0])
    with pytest.raises(dalembert.CallbackError, match="`force.push` failed at t = 0 s") as caught:
        oscillator.run()
    assert caught.value.name == "force.push" and caught.value.time == 0.0
    with pytest.raises(dalembert.CallbackError):
        state = oscillator.model().initial
        oscillator.model().forces(state.q, state.v)


@pytest.mark.parametrize(
    ("answer", "part"),
    [
        ("text", "'text', which is not an array of numbers"),
        (None, r"an array of shape \(\); expected 3 or 6"),
        ([1.0, 2.0], r"shape \(2,\); expected 3 or 6 numbers for each of 1 markers"),
        ([[1.0] * 3] * 2, r"shape \(2, 3\)"),
        (object(), "not an array of numbers"),
    ],
)
def test_wrong_answers_are_named(oscillator: dalembert.Scene, answer: Any, part: str) -> None:
    oscillator.force("push", kind="callback", at="mass", function=lambda t, places: answer)
    with pytest.raises(dalembert.CallbackError, match="`force.push` failed at t = 0 s.*" + part) as caught:
        oscillator.run()
    assert caught.value.name == "force.push" and caught.value.time == 0.0
    del oscillator["force"]["push"]
    oscillator.signal("wave", kind="callback", function=lambda t: answer)
    oscillator.force("pull", kind="applied_force", at="mass", force=["wave", 0, 0])
    with pytest.raises(dalembert.CallbackError, match="`signal.wave` failed at t = 0 s.*not a number"):
        oscillator.run()


def test_wrong_callbacks_are_refused(oscillator: Any) -> None:
    with pytest.raises(TypeError, match="must be a function"):
        oscillator.signal("wave", kind="callback", function=3)
    with pytest.raises(ValueError, match="needs a `function`"):
        oscillator.signal("wave", kind="callback")
    with pytest.raises(dalembert.SceneError, match="unknown key `value`"):
        oscillator.signal("wave", kind="callback", function=wave, value=1)
    oscillator["signal"] = {"other": {"kind": "callback"}}
    with pytest.raises(dalembert.SceneError, match="whose function a program gives"):
        oscillator.model()


def test_scenes_with_callbacks_can_be_pickled(oscillator: dalembert.Scene) -> None:
    oscillator.signal("wave", kind="callback", function=wave)
    oscillator.force("push", kind="applied_force", at="mass", force=["wave", 0, 0])
    run = oscillator.run()
    for again in [pickle.loads(pickle.dumps(oscillator)).run(), pickle.loads(pickle.dumps(oscillator.model())).run()]:
        assert (again["body.mass.position.x"] == run["body.mass.position.x"]).all()
    assert pickle.loads(pickle.dumps(run)).status == "completed"


def test_interrupts_inside_callbacks(oscillator: dalembert.Scene) -> None:
    calls: List[float] = []

    def stop(t: float) -> float:
        calls.append(t)
        if len(calls) == 50:
            raise KeyboardInterrupt
        return 0.0

    oscillator.signal("wave", kind="callback", function=stop)
    oscillator.force("push", kind="applied_force", at="mass", force=["wave", 0, 0])
    with pytest.raises(dalembert.Interrupted) as caught:
        oscillator.run()
    part = caught.value.run
    assert part is not None and part.status == "interrupted"
    # The function was asked once more, and the run has ended with the step; derivatives are differences over some 1e-5 s.
    assert calls[49] in calls[50:53] and part.steps[-1, 0] - 1e-4 < calls[49] < part.final_state.t + 1e-4
    rest = oscillator.run(resume=part)
    whole = oscillator.run()
    assert rest.status == "completed" and all((rest[channel] == whole[channel]).all() for channel in whole)


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_control_c_while_python_computes_keeps_the_run() -> None:
    """A thread strikes while the callback computes. Python may drop an exception in the midst of cleaning up: a run that goes on for a thousand calls after a
    signal was heard is struck again, and one that does not hear five of them fails. Nothing here looks at a clock to decide, so a busy machine makes it slower,
    and nothing else."""
    program = """
        import os, signal, threading, time, warnings, dalembert
        warnings.simplefilter("ignore")
        calls, heard, goes, rung = [], [], threading.Semaphore(0), threading.Event()
        def ring(*_):
            heard.append(len(calls))
            rung.set()
            raise KeyboardInterrupt
        signal.signal(signal.SIGINT, ring)
        def strike():
            while True:
                goes.acquire()
                rung.clear()
                os.kill(os.getpid(), signal.SIGINT)
                rung.wait()
        def wave(t):
            calls.append(t)
            if len(calls) == (heard[-1] + 1000 if heard else 100):
                if len(heard) == 5:
                    raise RuntimeError("nobody hears Ctrl-C")
                goes.release()
            until = time.monotonic() + 0.002
            while time.monotonic() < until:      # Python all the time, so that the signal finds it
                pass
            return 0.0
        scene = dalembert.load("oscillator")
        scene["run"]["until"] = 1000.0
        scene.signal("wave", kind="callback", function=wave)
        scene.force("push", kind="applied_force", at=list(scene["body"])[0], force=["wave", 0, 0])
        threading.Thread(target=strike, daemon=True).start()
        try:
            scene.run()
        except dalembert.Interrupted as stop:
            print(stop.run.status, stop.run.final_state.t > 0)
            scene.callbacks["signal"]["wave"].function = lambda t: 0.0
            print(scene.run(resume=stop.run).status)
    """
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.stdout.split() == ["interrupted", "True", "completed"], done.stderr
