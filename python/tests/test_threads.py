"""Many threads at once: the same bits as alone, and no abort."""

from __future__ import annotations

import gc
import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, Dict, List

import numpy as np
import pytest

import dalembert

pytestmark = pytest.mark.filterwarnings("ignore::dalembert.CallbackWarning")


def states() -> Any:
    model = dalembert.load("double-pendulum").model()
    return model, np.tile(model.initial.q, (200000, 1)), np.tile(model.initial.v, (200000, 1))


#: Work whose time is spent without the interpreter, in one thread beside the one that asks for it.
LONG: Dict[str, Callable[[], Any]] = {
    "run": lambda: dalembert.load("double-pendulum").set("run.until", 30.0).run,
    "study": lambda: lambda: dalembert.load("duffing-a").study("lyapunov", batches=8, batch=50.0, transient=0.0),
    "forward_dynamics": lambda: (lambda model, q, v: lambda: model.forward_dynamics(q, v))(*states()),
    "derivatives": lambda: (lambda model, q, v: lambda: model.derivatives(q[:3000], v[:3000]))(*states()),
    "sweep": lambda: lambda: dalembert.sweep(SWEEP, jobs=1, progress=False),
    "optimise": lambda: lambda: [dalembert.optimise("swing-up", progress=False) for _ in range(6)],
}
SWEEP: Dict[str, Any] = {
    "sweep": {"scene": "leech", "set": ["run.until=0.03"], "samples": 120},
    "vary": [{"path": "parameters.mu", "uniform": [0.1, 0.8]}],
    "output": [{"name": "kinetic", "energy": "kinetic"}],
}


@pytest.mark.parametrize("name", LONG)
def test_the_interpreter_is_free_while_work_goes_on(name: str) -> None:
    """A thread that does nothing but count gets a fair share of the processor, a quarter at least of what the work gets. Processor time is counted, not that of
    the clock, and the work is repeated until it is so: how fast or busy the machine is does not matter. Without the lock let go it would never be so."""
    work = LONG[name]()
    done = threading.Event()
    spent = [0.0]

    def count() -> None:
        while not done.is_set():
            spent[0] = time.thread_time()

    thread = threading.Thread(target=count)
    thread.start()
    try:
        began, counted = time.process_time(), spent[0]
        share = ours = 0.0
        while share <= 0.25 * ours or ours < 0.05:
            work()
            share = spent[0] - counted
            ours = time.process_time() - began - share
            assert ours < 20.0, (share, ours)
    finally:
        done.set()
        thread.join()


def test_threads_have_the_bits_of_one(oscillator: dalembert.Scene) -> None:
    pytest.importorskip("pyarrow")
    model, scene = oscillator.model(), dalembert.load("bouncing-ball").set("run.until", 0.5)
    arm = dalembert.load("chain-tree").set("parameters.n", 6).model()
    tree = arm.tree()
    q = np.random.default_rng(3).uniform(-1, 1, (64, len(tree.coordinate_names)))
    duffing = dalembert.load("duffing-a")
    few: Dict[str, Any] = {"count": 4, "coordinate": "mass", "period": 6.28, "settle": 2, "points": 3}
    broken = oscillator.copy()
    broken.signal("bad", kind="callback", function=lambda t: 1.0 / max(0.0, 0.3 - t))
    broken.force("push", kind="applied_force", at="mass", force=["bad", 0, 0])
    with_faults = broken.model()

    def failing() -> Any:
        with pytest.raises(ZeroDivisionError):
            with_faults.run()
        return 0

    def refused() -> Any:
        with pytest.raises(dalembert.ArrayError):
            tree.mass_matrix(q * np.nan)
        with pytest.raises(dalembert.SceneError):
            dalembert.Scene.from_text("[body.x]\nkind = 'nothing'").model()
        return 1

    tasks: List[Callable[[], Any]] = [
        lambda: model.run()["body.mass.position.x"],
        lambda: scene.run().to_arrow().num_rows,
        lambda: tree.mass_matrix(q, threads=2),
        lambda: pickle.loads(pickle.dumps(scene.run()))["time"],
        lambda: oscillator.study("modes").frequencies,
        lambda: scene.run().report().text.count("<svg"),
        lambda: duffing.study("bifurcation", parameter="parameters.force", from_=0.9, to=1.1, **few).position,
        failing,
        refused,
    ]
    alone = [task() for task in tasks]
    with ThreadPoolExecutor(8) as pool:
        for _ in range(3):
            together = list(pool.map(lambda k: (k, tasks[k % len(tasks)]()), range(4 * len(tasks))))
            gc.collect()
            for k, found in together:
                assert np.array_equal(found, alone[k % len(tasks)])


def test_callbacks_from_many_threads(oscillator: dalembert.Scene) -> None:
    oscillator.signal("wave", kind="callback", function=lambda t: np.sin(t), vectorised=True)
    oscillator.force("push", kind="applied_force", at="mass", force=["wave", 0, 0])
    model = oscillator.model()
    alone = model.run()["body.mass.position.x"]
    with ThreadPoolExecutor(6) as pool:
        for run in pool.map(lambda _: model.run(), range(12)):
            assert (run["body.mass.position.x"] == alone).all()
    state = model.initial
    q, v = np.tile(state.q, (50, 1)), np.tile(state.v, (50, 1))
    assert (model.forces(q, v, threads=4) == model.forces(q, v)).all()


def test_runs_are_closed_while_others_read_them(oscillator: dalembert.Scene) -> None:
    pytest.importorskip("pyarrow")
    model = oscillator.model()
    for _ in range(5):
        run = model.run()
        wanted = run["body.mass.position.x"].copy()

        def read(_: int) -> bool:
            try:
                x = run["body.mass.position.x"]
                return bool((x == wanted).all()) and len(run.events) >= 0 and run.to_arrow().num_rows == len(wanted)
            except dalembert.ClosedError:
                return True

        with ThreadPoolExecutor(6) as pool:
            answers = [pool.submit(read, k) for k in range(40)]
            pool.submit(run.close).result()
            assert all(answer.result() for answer in answers)
        with pytest.raises(dalembert.ClosedError):
            run.report()


def test_runs_are_closed_while_others_show_them(oscillator: dalembert.Scene) -> None:
    """Between any two lines of what shows a run another thread may close it: it is shown as it was, or as closed."""
    model = oscillator.model()
    for turn in range(12):
        run = model.run()

        def show(k: int) -> bool:
            text = (run._repr_html_, run.__repr__)[k % 2]()
            return "completed" in text or "closed run" in text

        with ThreadPoolExecutor(4) as pool:
            answers = [pool.submit(show, k) for k in range(16)]
            time.sleep(0.0005 * turn)
            run.close()
            assert all(answer.result() for answer in answers)
        assert run._repr_html_() == "<p>closed run</p>"


def test_optimal_motions_from_several_threads() -> None:
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda _: dalembert.optimise("swing-up", progress=False), range(3)))
    for motion in found:
        assert isinstance(motion, dalembert.Motion)
        assert motion.goals == found[0].goals and (motion.run["control.push"] == found[0].run["control.push"]).all()
