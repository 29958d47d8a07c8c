"""Requests that are too large, come at a bad time or make no sense: exceptions in a process that lives on. Whatever could end it is tried in another."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from typing import Any, Callable, Dict, List

import numpy as np
import pytest

import dalembert

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and limits of Unix")


def ended(program: str, timeout: float = 600.0) -> str:
    """Runs a program in a Python of its own, which must end well and without complaints; gives what it prints."""
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    assert done.returncode == 0 and done.stderr == "", f"{done.returncode}: {done.stderr}"
    return done.stdout


def test_models_without_constraints_have_empty_jacobians() -> None:
    said = ended(
        """
        import dalembert
        model = dalembert.load("two-bodies").model()
        s = model.initial
        print(model.constraint_jacobian(s.q).shape, model.constraint_residuals(s.q, s.v, threads=3).shape)
        print(model.constraint_jacobian([s.q] * 9, threads=3).shape)
        """
    )
    assert said.split("\n")[:2] == ["(0, 6) (0,)", "(9, 0, 6)"]


def test_results_that_do_not_fit_into_memory_are_told() -> None:
    said = ended(
        """
        import resource, dalembert
        import numpy as np
        model = dalembert.load("chain-tree").set("parameters.n", 60).model()
        tree = model.tree()
        n = model.n_velocities
        rows = np.zeros((40000, n))
        room = 40000 * n * n * 8
        resource.setrlimit(resource.RLIMIT_AS, (room, room))
        for ask in (model.mass_matrix, tree.mass_matrix):
            try:
                ask(rows)
            except MemoryError as error:
                print("memory" if f"40000 rows of {n * n} numbers" in str(error) else error)
        print(model.mass_matrix(rows[:2]).shape[0])
        """
    )
    assert said.split() == ["memory", "memory", "2"]


def test_a_million_threads_are_a_few() -> None:
    said = ended(
        """
        import threading, dalembert
        import numpy as np
        model = dalembert.load("double-pendulum").model()
        s = model.initial
        q, v = np.tile(s.q, (5000, 1)), np.tile(s.v, (5000, 1))
        print((model.forward_dynamics(q, v, threads=10**6).a == model.forward_dynamics(q, v).a).all())
        study = {
            "sweep": {"scene": "oscillator", "set": ["run.until=0.01"], "samples": 5000},
            "vary": [{"path": "run.tolerance", "log_uniform": [1e-9, 1e-6]}],
            "output": [{"name": "kinetic", "energy": "kinetic"}],
        }
        print(len(dalembert.sweep(study, jobs=10**6, progress=False)))
        """
    )
    assert said.split() == ["True", "5000"]


def test_maps_have_a_most_of_places() -> None:
    duffing = dalembert.load("duffing-a")
    axes: Dict[str, Any] = {"across": {"parameters.force": (0, 1)}, "up": {"parameters.stiffness": (0, 1)}}
    with pytest.raises(dalembert.ArgumentError, match="`count` makes 1000000000000 of them; the most are 10000000"):
        duffing.study("chart", count=10**6, **axes)
    with pytest.raises(dalembert.ArgumentError, match="`points` makes 1000000000000 of them"):
        duffing.study("poincare", coordinate="mass", period=6.28, points=10**12)
    with pytest.raises(dalembert.ArgumentError, match="`count` makes 10100000 of them"):
        few: Dict[str, Any] = {"coordinate": "mass", "period": 6.28, "points": 101}
        duffing.study("bifurcation", parameter="parameters.force", from_=0, to=1, count=10**5, **few)


@pytest.mark.parametrize(
    "work",
    [
        "scene.run()",
        "scene.study('lyapunov', interval=0.5, batches=10**6)",
        "model.forces(q, v, threads=2)",
        "model.forces(q, v)",
        "dalembert.sweep(study, progress=False)",
        "called.run()",
    ],
)
def test_threads_that_nobody_waits_for_do_not_abort_the_end(work: str) -> None:
    program = f"""
        import threading, time, warnings, dalembert
        import numpy as np
        warnings.simplefilter("ignore")
        scene = dalembert.load("chaos-pendulum")
        scene["run"]["until"] = 1e6
        scene["output"] = {{"every": 10}}
        called = scene.copy()
        def busy(t):
            until = time.monotonic() + 0.002
            while time.monotonic() < until:      # in the midst of Python, wherever it ends
                pass
            return 0.0
        called.signal("wave", kind="callback", function=busy)
        body = next(iter(called["body"]))
        called.force("push", kind="applied_force", at=body, force=["wave", 0, 0])
        model = scene.model()
        s = model.initial
        q, v = np.tile(s.q, (3 * 10**5, 1)), np.tile(s.v, (3 * 10**5, 1))
        study = {{
            "sweep": {{"scene": "oscillator", "samples": 10**6}},
            "vary": [{{"path": "run.tolerance", "log_uniform": [1e-9, 1e-6]}}],
            "output": [{{"name": "kinetic", "energy": "kinetic"}}],
        }}
        def forever():
            while True:
                {work}
        for _ in range(3):
            threading.Thread(target=forever, daemon=True).start()
        time.sleep(0.7)
        print("over")
    """
    # Where Python itself is interrupted it is a matter of chance, about one in four, that the interpreter finds a thread at a bad place.
    for _ in range(6 if "called" in work else 1):
        assert ended(program) == "over\n"


@pytest.mark.parametrize(
    ("work", "rows"),
    [
        ("model.forward_dynamics(q, v)", 20000),
        ("model.forward_dynamics(q, v, threads=2)", 20000),
        ("model.derivatives(q, v)", 2000),
        ("tree.jacobian('link3', q)", 100000),
        ("tree.inverse_kinematics(dalembert.Target('link3', position=places))", 1000),
        ("tree.drives(np.arange(len(q)) * 1e-3, q)", 20000),
    ],
)
def test_control_c_ends_functions_of_many_states(work: str, rows: int) -> None:
    """Signals ring all the time, and the second one that is heard within the call in Rust ends it: a call that does not look at them until it is over hears one
    only. Where the machine is so fast that the call is over before, there are more rows the next time; a call that has computed for seconds has had its chance."""
    said = ended(
        f"""
        import signal, time, dalembert
        import numpy as np
        from dalembert import _dalembert
        model = dalembert.load("chain-tree").set("parameters.n", 24).model()
        tree = model.tree()
        inside, rings = False, 0
        def watched(function):
            def call(*given):
                global inside, rings
                inside, rings = True, 0
                try:
                    return function(*given)
                finally:
                    inside = False
            return call
        class Watched:
            def __init__(self, native):
                self.native = native
            def __getattr__(self, name):
                return watched(getattr(self.native, name))
        def ring(*_):
            global inside, rings
            rings += inside
            if inside and rings > 1:
                inside = False
                raise KeyboardInterrupt
        signal.signal(signal.SIGALRM, ring)
        one = np.linspace(0.1, 0.4, model.n_coordinates)
        # Two places in turn, so that no search begins where it ends.
        both = np.stack([tree.place("link3", one + turn).position for turn in (0.1, -0.1)])
        _dalembert.evaluate, tree._native = watched(_dalembert.evaluate), Watched(tree._native)
        k, computed = {rows}, 0.0
        while computed < 5:
            q = np.tile(one, (k, 1))
            v, places = np.zeros_like(q), np.tile(both, (k // 2, 1))
            began = time.process_time()
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.005, 0.005)
                {work}
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                signal.setitimer(signal.ITIMER_REAL, 0)
                print("stopped")
                break
            k, computed = 4 * k, time.process_time() - began
        print(model.mass_matrix(one).shape)
        """
    )
    assert said.split("\n")[:2] == ["stopped", "(24, 24)"], said


@pytest.mark.parametrize(
    ("ask", "part"),
    [
        (lambda m, t, s: t.place("link1", s.q, point=(0, np.nan, 0)), "`point` is nan"),
        (lambda m, t, s: t.jacobian("link1", s.q, point=(0, 0)), r"`point` has the shape \(2,\)"),
        (lambda m, t, s: t.inverse_kinematics(dalembert.Target("link1", [0, 0, 1]), tolerance=np.nan), "`tolerance` is nan"),
        (lambda m, t, s: t.inverse_kinematics(dalembert.Target("link1", [0, 0, 1], point=(1,))), "`point`"),
        (lambda m, t, s: t.inverse_kinematics(dalembert.Target("link1", [0, 0, 1]), start=[s.q, s.q]), r"`start` .*\(2, 3\)"),
        (lambda m, t, s: m.run(start=s._replace(t=np.nan)), "`t` is nan"),
        (lambda m, t, s: m.run(start=s._replace(q=np.stack([s.q, s.q]))), r"`q` has the shape \(2, 3\)"),
        (lambda m, t, s: m.run(start=s._replace(q=np.zeros((0, 3)))), r"`q` has the shape \(0, 3\)"),
        (lambda m, t, s: m.run(start=3), "`start` must be a State or a Run"),
        (lambda m, t, s: dalembert.load("oscillator").run(tolerance=np.nan), "`tolerance` is nan"),
        (lambda m, t, s: dalembert.load("oscillator").run(until=np.inf), "`until` is inf"),
        (lambda m, t, s: dalembert.load("oscillator").run(until=str(s)), "`until` must be a number"),  # type: ignore[arg-type]
        (lambda m, t, s: dalembert.load("oscillator").run(checkpoint_every=np.nan), "checkpoints"),
        (lambda m, t, s: dalembert.load("duffing-a").study("lyapunov", interval=np.nan), "`interval` is NaN"),
        (lambda m, t, s: m.forces(s.q, s.v, t=np.inf), "`t` is inf"),
        (lambda m, t, s: m.forces(s.q, s.v, threads=0), "`threads` must be 1 or more"),
        (lambda m, t, s: m.forces(s.q, s.v, threads=1.5), "whole number"),
        (lambda m, t, s: m.forces(s.q * 1j, s.v), "real numbers"),
        (lambda m, t, s: t.mass_matrix("q"), "real numbers"),
    ],
)
def test_wrong_numbers_are_refused_by_name(ask: Callable[[Any, Any, Any], Any], part: str) -> None:
    model = dalembert.load("chain-tree").set("parameters.n", 3).model()
    with pytest.raises(dalembert.DalembertError, match=part) as told:
        ask(model, model.tree(), model.initial)
    assert isinstance(told.value, (ValueError, TypeError))


def test_answers_that_are_not_finite_are_named_by_their_row() -> None:
    model = dalembert.load("chain-tree").set("parameters.n", 3).model()
    tree = model.tree()
    q, v = np.zeros((7, 3)), np.zeros((7, 3))
    v[5] = 1e200
    # Centrifugal forces are quadratic in velocities.
    asked: List[Callable[[Any, Any], Any]] = [tree.bias, tree.energy, model.energy, model.forces]
    asked.append(lambda q, v: tree.inverse_dynamics(q, v, v))
    for ask in asked:
        with pytest.raises(dalembert.EvaluationError, match="row 5: .* is not (finite|a finite number)"):
            ask(q, v)
        assert np.isfinite(ask(q[:5], v[:5])).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes of Unix")
def test_processes_that_are_forked_begin_anew() -> None:
    said = ended(
        """
        import multiprocessing, threading, dalembert
        scene = dalembert.load("chaos-pendulum")
        scene["run"]["until"] = 1e6
        scene["output"] = {"every": 10}
        goes = threading.Event()
        run = lambda: scene.run(progress=lambda t, steps: goes.set())
        threading.Thread(target=run, daemon=True).start()
        goes.wait()
        def child(_):
            end = dalembert.load("oscillator").run(until=0.1, progress=False).final_state.t
            # What the end of a process does. There is nothing that it has to wait for.
            return end, dalembert._dalembert.close()
        with multiprocessing.get_context("fork").Pool(2) as pool:
            print(pool.map(child, range(4)))
        """
    )
    assert said == f"{[(0.1, True)] * 4}\n"


def test_everything_that_is_raised_has_a_common_base() -> None:
    raised = [name for name in dalembert.errors.__all__ if name not in ("Problem", "CallbackWarning")]
    for name in raised:
        one = getattr(dalembert, name)
        assert issubclass(one, KeyboardInterrupt if "Interrupted" in name else dalembert.DalembertError), name
