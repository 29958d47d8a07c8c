"""Many threads at once: the same bits as alone, and no abort."""

from __future__ import annotations

import gc
import pickle
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable, List

import numpy as np
import pytest

import dalembert

pytestmark = pytest.mark.filterwarnings("ignore::dalembert.CallbackWarning")


def test_the_interpreter_is_free_while_a_run_goes_on() -> None:
    scene = dalembert.load("double-pendulum").set("run.until", 30.0)
    ticks: List[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    scene.run()
    spent = time.monotonic() - began
    done.set()
    thread.join()
    # A thread that sleeps a millisecond at a time has run more often than the checks of signals alone would let it.
    assert len(ticks) > spent / 0.05


def test_threads_have_the_bits_of_one(oscillator: dalembert.Scene) -> None:
    model, scene = oscillator.model(), dalembert.load("bouncing-ball").set("run.until", 0.5)
    arm = dalembert.load("chain-tree").set("parameters.n", 6).model()
    tree = arm.tree()
    q = np.random.default_rng(3).uniform(-1, 1, (64, len(tree.coordinate_names)))
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
