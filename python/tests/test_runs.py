"""Runs: arrays without copies, tables with units, records with the bytes of the command line, interruption, failure."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Callable, List, Optional, Tuple

import numpy as np
import pytest

import dalembert


def test_a_run_meets_the_closed_form(oscillator: dalembert.Scene) -> None:
    run = oscillator.run()
    wanted = 1.0 + 0.1 * np.cos(2.0 * run.time)
    # The tolerance of 1e-9 for each of some 30 steps, and those of interpolation.
    assert np.abs(run["body.mass.position.x"] - wanted).max() < 1e-7
    assert run.status == "completed"
    assert run.final_state.t == 2.0
    assert set(run.energies) >= {"kinetic", "potential"}


def test_arrays_are_the_memory_of_the_run(oscillator: dalembert.Scene) -> None:
    run = oscillator.run()
    x = run["body.mass.position.x"]
    assert np.shares_memory(x, run["body.mass.position.x"])
    assert not x.flags.writeable and not x.flags.owndata and x.flags.c_contiguous
    with pytest.raises(ValueError):
        x[0] = 1.0
    with pytest.raises(ValueError):
        x.flags.writeable = True
    # The same place in memory each time, also in the column of Arrow; a view of it is no copy either.
    place = x.__array_interface__["data"][0]
    assert run["body.mass.position.x"].__array_interface__["data"][0] == place
    assert x.base is not None and np.asarray(x) is x and x[::2].base is not None
    arrow = pytest.importorskip("pyarrow")
    column = run.to_arrow()["body.mass.position.x"].chunk(0)
    assert isinstance(column, arrow.Array) and column.buffers()[1].address == place
    kept = x.copy()
    del run, column
    assert (x == kept).all()


def test_channels_have_units(oscillator: dalembert.Scene) -> None:
    run = oscillator.run()
    assert run.channels["body.mass.velocity.x"] == ("body.mass.velocity.x", "m/s", "world")
    assert run.units["time"] == "s"
    assert list(run)[0] == "time" and len(run) == len(run.channels)
    assert list(run.select("body.mass.position.*")) == [f"body.mass.position.{axis}" for axis in "xyz"]
    with pytest.raises(KeyError, match="did you mean `body.mass.position.x`"):
        run["body.mas.position.x"]
    with pytest.raises(KeyError):
        run.select("nothing.*")


def test_tables_have_the_numbers_and_units(oscillator: dalembert.Scene) -> None:
    pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    pytest.importorskip("polars")
    run = oscillator.run()
    name = "body.mass.position.x"
    arrow = run.to_arrow()
    assert arrow.schema.field(name).metadata == {b"unit": b"m", b"frame": b"world"}
    assert np.shares_memory(arrow[name].chunk(0).to_numpy(), run[name])
    frame = run.to_pandas()
    assert (frame[name].to_numpy() == run[name]).all() and frame.index.name == "time"
    assert frame.attrs["units"][name] == "m"
    table = run.to_polars(units_in_names=True)
    assert (table[f"{name} [m]"].to_numpy() == run[name]).all()


@pytest.mark.parametrize("name", ["double-pendulum", "bouncing-ball"])
def test_records_have_the_bytes_of_the_command_line(
    name: str, tmp_path: Path, command_line: Callable[..., str]
) -> None:
    ours, theirs = tmp_path / "python", tmp_path / "command"
    command_line("run", name, "--until", "0.7", "--tolerance", "1e-7", "--quiet", "--out", str(theirs))
    run = dalembert.load(name).run(until=0.7, tolerance=1e-7, out=ours)
    files = sorted(path.name for path in theirs.iterdir())
    assert files == sorted(path.name for path in ours.iterdir())
    # The summary and the report tell how long the run took; all else is the same.
    for file in set(files) - {"summary.json", "report.html"}:
        assert (ours / file).read_bytes() == (theirs / file).read_bytes(), file
    again = dalembert.open_run(theirs)
    assert all((again[channel] == run[channel]).all() for channel in run)
    assert again.events == run.events and again.status == run.status


def test_files_run_as_on_the_command_line(
    pendulum: dalembert.Scene, tmp_path: Path, command_line: Callable[..., str]
) -> None:
    pendulum.save(tmp_path / "bob.toml")
    setting = ["--set", "parameters.angle=0.25"]
    command_line("run", str(tmp_path / "bob.toml"), *setting, "--quiet", "--out", str(tmp_path / "command"))
    dalembert.load(tmp_path / "bob.toml").set("parameters.angle", 0.25).run(out=tmp_path / "python")
    for file in ["trajectory.parquet", "scene.toml", "steps.csv"]:
        assert (tmp_path / "python" / file).read_bytes() == (tmp_path / "command" / file).read_bytes()


def test_an_interrupted_run_keeps_what_it_has_and_goes_on(tmp_path: Path) -> None:
    scene = dalembert.load("double-pendulum")
    scene["output"] = {"every": 0.05}
    calls: List[Tuple[float, int]] = []
    part: Optional[dalembert.Run] = None

    def stop(t: float, steps: int) -> bool:
        calls.append((t, steps))
        return False

    # A run that is over before anybody was asked is made longer.
    for until in (40, 400, 4000):
        scene["run"]["until"] = until
        try:
            scene.run(progress=stop, out=tmp_path / "run")
        except dalembert.Interrupted as interrupted:
            part = interrupted.run
            break
    whole = scene.run()
    assert part is not None and part.status == "interrupted" and len(calls) == 1
    assert 0 < len(part.time) < len(whole.time)
    for resume in [part, pickle.loads(pickle.dumps(part)), tmp_path / "run"]:
        rest = scene.run(resume=resume)
        assert rest.status == "completed"
        assert all((rest[channel] == whole[channel]).all() for channel in whole)
    with pytest.raises(ValueError, match="nothing to resume"):
        scene.run(resume=whole)


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_control_c_ends_a_run_and_not_the_interpreter() -> None:
    program = """
        import os, signal, threading, dalembert
        scene = dalembert.load("chaos-pendulum")
        scene["run"]["until"] = 1e6
        scene["output"] = {"every": 10}
        goes = threading.Event()
        def strike():
            goes.wait()
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=strike).start()
        try:
            scene.run(progress=lambda t, steps: goes.set())
        except KeyboardInterrupt as stop:
            run = stop.run
            print(run.status, len(run.time) > 0, run.final_state.t > 0)
        print(dalembert.load("oscillator").run(until=0.1).status)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, timeout=600
    )
    assert done.stdout.split() == ["interrupted", "True", "True", "completed"], done.stderr


def test_exceptions_of_progress_come_out() -> None:
    scene = dalembert.load("double-pendulum").set("run.until", 1e4)

    def broken(t: float, steps: int) -> None:
        raise ZeroDivisionError("a slip")

    with pytest.raises(ZeroDivisionError, match="a slip"):
        scene.run(progress=broken)


def failed(scene: dalembert.Scene) -> dalembert.RunFailed:
    """What a run that must fail raises; the run itself is there, and is given back where nobody wants an exception."""
    with pytest.raises(dalembert.RunFailed) as caught:
        scene.run()
    run = caught.value.run
    assert run is not None and run.status == "failed" and str(caught.value) == run.summary["error"]
    kept = scene.run(check=False)
    assert kept.status == "failed" and len(kept.time) == len(run.time) > 0
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value) and str(again) == str(caught.value)
    assert again.run is not None and again.run.status == "failed"
    return caught.value


def test_an_integrator_that_fails_tells_when(oscillator: dalembert.Scene) -> None:
    # A spring that pushes: x grows as exp(√(k/m) t) = exp(224 t), and is no number any more before 4 s.
    oscillator["force"]["spring"]["stiffness"] = -1e5
    oscillator["run"]["until"] = 10
    error = failed(oscillator)
    assert type(error) is dalembert.RunFailed and "t = " in str(error)
    assert error.run is not None and 0.0 < error.run.final_state.t < 4.0


def test_a_ledger_that_does_not_close_is_told(oscillator: dalembert.Scene) -> None:
    oscillator["run"]["ledger_factor"] = 1e-30
    error = failed(oscillator)
    assert type(error) is dalembert.LedgerError and "ledger" in str(error)
    assert error.run is not None and error.run.final_state.t == 2.0 and not error.run.summary["ledger"]["closes"]


def test_runs_and_models_can_be_pickled(oscillator: dalembert.Scene, tmp_path: Path) -> None:
    run = oscillator.run()
    again = pickle.loads(pickle.dumps(run))
    assert all((again[channel] == run[channel]).all() for channel in run)
    assert again.summary == run.summary and again.events == run.events
    assert not again["time"].flags.writeable
    again.write(tmp_path / "run")
    model = pickle.loads(pickle.dumps(oscillator.model()))
    assert (model.run()["body.mass.position.x"] == run["body.mass.position.x"]).all()


def test_runs_start_where_others_end(oscillator: dalembert.Scene) -> None:
    first = oscillator.run(until=0.8)
    rest = oscillator.model(("run.until=2.0",)).run(start=first)
    assert rest.time[0] == 0.8
    assert abs(rest["body.mass.position.x"][-1] - (1.0 + 0.1 * np.cos(4.0))) < 1e-7
    with pytest.raises(dalembert.ArrayError, match="shape"):
        oscillator.model().run(start=dalembert.State(0.0, np.zeros(2), np.zeros(3), np.zeros(0)))


def test_closed_runs_say_so(oscillator: dalembert.Scene) -> None:
    with oscillator.run() as run:
        x = run["time"]
    assert x[-1] == 2.0
    for ask in [lambda: run["time"], lambda: run.events, lambda: run.report(), lambda: list(run), run.to_pandas]:
        with pytest.raises(dalembert.ClosedError):
            ask()
    assert repr(run) == "<closed run>"
    with pytest.raises(dalembert.ClosedError):
        pickle.dumps(run)


def test_records_are_not_written_over_other_things(oscillator: dalembert.Scene, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(dalembert.RecordError, match="is not a run record"):
        oscillator.run(out=tmp_path)
    assert (tmp_path / "mine.txt").read_text() == "mine"
    with pytest.raises(dalembert.RecordError):
        dalembert.open_run(tmp_path / "nothing")
