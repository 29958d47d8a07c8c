"""Sweeps from Python: right numbers, errors by row, interruption, and the bytes of the command line."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any, Dict

import numpy as np
import pytest

import dalembert
from dalembert import Sweep, SweepError, SweepInterrupted

STUDY: Dict[str, Any] = {
    "sweep": {"scene": "bouncing-ball", "set": ["run.until=1.2", "run.tolerance=1e-9"], "samples": 5, "seed": 11},
    "vary": [
        {"path": "parameters.height", "values": [0.5, 1]},
        {"path": "parameters.restitution", "uniform": [0.5, 0.9]},
    ],
    "output": [
        {"name": "height", "channel": "body.ball.position.z", "take": "last"},
        {"name": "first", "events": "contact.floor", "kind": "impact", "take": "first_time"},
    ],
}


def changed(**sweep: Any) -> Dict[str, Any]:
    return {**STUDY, "sweep": {**STUDY["sweep"], **sweep}}


def test_a_ball_falls_as_it_must() -> None:
    table = dalembert.sweep(STUDY, jobs=2, progress=False)
    assert (len(table), table.rows, table.failed, table.finished) == (10, 10, 0, True)
    # Dropped from h it strikes after √(2h/g), located to 1e-12 s on a path whose local errors are 1e-9.
    exact = np.sqrt(2.0 * table["parameters.height"] / 9.81)
    assert np.abs(table["first"] - exact).max() < 1e-8
    assert table["row"].dtype == np.int64 and table["seed"].dtype == np.int64


def test_tables_of_others() -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    table = dalembert.sweep(STUDY, progress=False)
    frame, other, arrow = table.to_pandas(), table.to_polars(), table.to_arrow()
    assert isinstance(frame, pandas.DataFrame) and isinstance(other, polars.DataFrame)
    assert isinstance(arrow, pyarrow.Table) and arrow.column_names == list(table) == other.columns
    for name in ("height", "first", "parameters.restitution"):
        for column in (frame[name].to_numpy(), other[name].to_numpy(), arrow[name].to_numpy()):
            assert (column == table[name]).all()
    assert arrow["error"].null_count == 10


def test_studies_are_files_dictionaries_and_parcels(tmp_path: Path) -> None:
    whole = dalembert.sweep(STUDY, progress=False).to_bytes()
    study = Sweep(STUDY)
    for other in (Sweep.from_parcel(study.parcel()), pickle.loads(pickle.dumps(study))):
        assert dalembert.sweep(other, jobs=1, progress=False).to_bytes() == whole
    assert len(study) == 10 and study.varied == ["parameters.height", "parameters.restitution"]
    assert study.outputs == ["height", "first"]
    assert any(setting.startswith("parameters.height=0.5") for setting in study.settings(0))
    assert pickle.loads(pickle.dumps(dalembert.sweep(study, progress=False))).to_bytes() == whole
    assert "10 rows" in repr(study) and "<table" in study._repr_html_()


def test_a_scene_of_python_is_swept() -> None:
    scene = dalembert.load("bouncing-ball")
    scene.set("run.until", 1.2).set("run.tolerance", 1e-9)
    own = {**STUDY, "sweep": {"scene": scene, "samples": 5, "seed": 11}}
    table, other = dalembert.sweep(own, progress=False), dalembert.sweep(STUDY, progress=False)
    assert (table["first"] == other["first"]).all() and (table["height"] == other["height"]).all()
    scene.signal("push", kind="callback", function=lambda t: 0.0)
    with pytest.raises(SweepError, match="callbacks"):
        Sweep({**STUDY, "sweep": {"scene": scene, "samples": 5}})


def test_what_was_set_in_a_scene_goes_with_it() -> None:
    """Settings of what a repeat makes, beside parameters that vary; callbacks that are in no element any more."""
    chain = dalembert.load("chain").set("parameters.n", 3).set("run.until", 0.1)
    chain.set("body.link2.mass", 7.5)
    assert chain["set"]
    study = {
        # One by one rows have the bits of runs; in lanes they differ by rounding.
        "sweep": {"scene": chain, "lanes": False},
        "vary": [{"path": "parameters.n", "values": [3, 4]}],
        "output": [{"name": "potential", "energy": "potential"}, {"name": "kinetic", "energy": "kinetic"}],
    }
    table = dalembert.sweep(study, progress=False)
    assert table.failed == 0
    for row, n in enumerate((3, 4)):
        run = dalembert.load("chain").set("parameters.n", n).set("run.until", 0.1).set("body.link2.mass", 7.5).run()
        assert run.summary["ledger"]["end"]["kinetic"] == table["kinetic"][row]
    chain.signal("push", kind="callback", function=lambda t: 0.0)
    with pytest.raises(SweepError, match="callbacks"):
        Sweep(study)
    del chain["signal"]["push"]
    assert dalembert.sweep(study, progress=False).to_bytes() == table.to_bytes()


def test_a_bad_value_in_the_first_row_is_a_row() -> None:
    vary = [{"path": "parameters.restitution", "values": [1.5, 0.6]}]
    table = dalembert.sweep({**changed(samples=1), "vary": vary}, progress=False)
    assert list(table.errors) == [0] and "restitution" in table.errors[0] and np.isfinite(table["first"][1])


def test_lists_and_values_at_a_time_are_kept(tmp_path: Path) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pytest.importorskip("pyarrow")
    outputs = [
        {"name": "z", "channel": "body.ball.position.z", "take": "all"},
        {"name": "t", "channel": "body.ball.position.z", "take": "all_times"},
        {"name": "strikes", "events": "contact.floor", "kind": "impact", "take": "all_times"},
        {"name": "none", "events": "contact.floor", "kind": "no-such", "take": "all"},
        {"name": "quarter", "channel": "body.ball.position.z", "at": 0.25},
        {"name": "late", "channel": "body.ball.position.z", "at": 9},
    ]
    sweep = changed(set=["run.until=1.2", "run.tolerance=1e-9", "output.every=0.0625"], samples=1)
    vary = [{"path": "parameters.restitution", "values": [0.6, 1.5, 0.7]}]
    study = {**sweep, "vary": vary, "output": outputs}
    table = dalembert.sweep(study, progress=False)
    assert table.failed == 1 and table["z"].dtype == object and table["z"][1] is None
    arrow, frame, other = table.to_arrow(), table.to_pandas(), table.to_polars()
    assert str(arrow.schema.field("z").type).startswith("list<") and str(other["z"].dtype) == "List(Float64)"
    scene = dalembert.load("bouncing-ball").set("output.every", 0.0625)
    for row, e in ((0, 0.6), (2, 0.7)):
        run = scene.copy().set("parameters.restitution", e).run(until=1.2, tolerance=1e-9)
        wanted = {"z": run["body.ball.position.z"], "t": run.time, "none": np.zeros(0)}
        wanted["strikes"] = np.array([event.time for event in run.events if event.kind == "impact"])
        assert len(wanted["strikes"]) > 1
        for name, values in wanted.items():
            for found in (table[name][row], frame[name][row], arrow[name][row].as_py(), other[name][row].to_numpy()):
                assert np.array_equal(np.asarray(found, dtype=float), values), (row, name)
        assert table["quarter"][row] == run["body.ball.position.z"][4] and np.isnan(table["late"][row])
    assert arrow["z"].null_count == 1 and arrow["late"].null_count == 3
    assert isinstance(frame, pandas.DataFrame) and isinstance(other, polars.DataFrame)
    assert "20 numbers" in table._repr_html_()
    # Parts, bytes, pickles and the command line have the same.
    study_file = tmp_path / "study.toml"
    study_file.write_text(dalembert._dalembert.write(study))
    for shard in ("1/2", "2/2"):
        dalembert.sweep(study_file, out=tmp_path / "parts", shard=shard, progress=False)
    merge = [str(program()), "sweep", str(study_file), "--merge", "parts", "--out", "merged", "--quiet"]
    subprocess.run(merge, cwd=tmp_path, check=True)
    assert (tmp_path / "merged" / "results.parquet").read_bytes() == table.to_bytes()
    again = pickle.loads(pickle.dumps(table))
    assert again.to_bytes() == table.to_bytes() and np.array_equal(again["z"][0], table["z"][0])


def test_failures_are_rows() -> None:
    vary = [{"path": "parameters.restitution", "values": [0.6, 1.5, 0.7]}]
    table = dalembert.sweep({**changed(samples=1), "vary": vary}, progress=False)
    assert (len(table), table.failed) == (3, 1) and "restitution" in table.errors[1]
    assert np.isnan(table["first"]).tolist() == [False, True, False]
    assert "restitution" in table._repr_html_()


@pytest.mark.parametrize(
    ("study", "part"),
    [
        ({"vary": []}, "needs a table `sweep`"),
        (changed(scene="no-such"), "no built-in scene"),
        ({**STUDY, "output": []}, "[[output]]"),
        ({**STUDY, "vary": [{"path": "parameters.height", "uniform": [1, 0]}]}, "smaller first"),
        ({**STUDY, "output": [{"name": "x", "channel": "body.bal.position.z", "take": "last"}]}, "body.ball.position.z"),
    ],
)
def test_wrong_studies_are_told(study: Dict[str, Any], part: str) -> None:
    with pytest.raises(SweepError) as told:
        dalembert.sweep(study, progress=False)
    assert part in str(told.value)


def test_wrong_arguments_are_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="`jobs` must be 1 or more"):
        dalembert.sweep(STUDY, jobs=0)
    with pytest.raises(TypeError, match="whole number"):
        dalembert.sweep(STUDY, jobs=1.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="i from 1 to n"):
        dalembert.sweep(STUDY, shard="4/3")
    with pytest.raises(ValueError, match="no row 10"):
        Sweep(STUDY).rows([10])
    with pytest.raises(OSError, match="nothing.toml"):
        dalembert.sweep(tmp_path / "nothing.toml")
    with pytest.raises(KeyError, match="there are row, seed"):
        dalembert.sweep(STUDY, progress=False)["nothing"]


def test_a_journal_is_gone_on_with_and_belongs_to_its_study(tmp_path: Path) -> None:
    whole = dalembert.sweep(STUDY, progress=False).to_bytes()

    def stop(rows: int, finished: int, failed: int) -> None:
        if finished >= 2:
            raise RuntimeError("enough")

    slow = dict(STUDY)
    slow["vary"] = [{"path": "parameters.mu", "uniform": [0.1, 0.8]}]
    slow["output"] = [{"name": "kinetic", "energy": "kinetic"}]
    # A sweep that is over before anybody was asked is made longer.
    for rows in (8, 100, 1000):
        slow["sweep"] = {"scene": "leech", "set": ["run.until=0.05"], "samples": rows, "seed": 3}
        folder = tmp_path / f"slow-{rows}"
        try:
            dalembert.sweep(slow, jobs=1, out=folder, progress=stop)
        except RuntimeError as error:
            assert str(error) == "enough"
            break
    else:
        pytest.fail("nobody was asked")
    complete = dalembert.sweep(slow, progress=False).to_bytes()
    seen = []
    table = dalembert.sweep(slow, out=folder, progress=lambda *counts: seen.append(counts))
    assert table.to_bytes() == complete and seen[-1] == (rows, rows, 0) and seen[0][1] >= 2
    assert (folder / "results.parquet").read_bytes() == complete
    with pytest.raises(SweepError, match="another study"):
        dalembert.sweep(STUDY, out=folder, progress=False)
    for shard in ("1/2", "2/2"):
        part = dalembert.sweep(STUDY, out=tmp_path / "parts", shard=shard, progress=False)
        assert len(part) == 5 and part.finished
    assert not (tmp_path / "parts" / "results.parquet").exists() and whole


def test_ctrl_c_keeps_finished_rows(tmp_path: Path) -> None:
    code = """
        import os, signal, sys, dalembert
        study = {
            "sweep": {"scene": "leech", "set": ["run.until=0.05"], "samples": 100000, "seed": 3},
            "vary": [{"path": "parameters.mu", "uniform": [0.1, 0.8]}],
            "output": [{"name": "kinetic", "energy": "kinetic"}],
        }
        def strike(rows, finished, failed):
            if finished:
                os.kill(os.getpid(), signal.SIGINT)
        try:
            dalembert.sweep(study, jobs=2, out=sys.argv[1], progress=strike)
        except dalembert.SweepInterrupted as stopped:
            print(len(stopped.table), stopped.table.rows, stopped)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(tmp_path / "out")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    finished, rows = (int(word) for word in ended.stdout.split()[:2])
    assert 0 < finished < rows == 100000 and "rows are finished" in ended.stdout
    assert (tmp_path / "out" / "journal").exists()
    error = SweepInterrupted("x", None)
    assert isinstance(pickle.loads(pickle.dumps(error)), KeyboardInterrupt)


def test_two_sweeps_at_once() -> None:
    whole = dalembert.sweep(STUDY, progress=False).to_bytes()
    found: Dict[int, bytes] = {}

    def work(number: int) -> None:
        found[number] = dalembert.sweep(STUDY, jobs=2, progress=False).to_bytes()

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(found.values()) == [whole] * 4


def program() -> Path:
    """The command line, of the environment or of this tree."""
    given = os.environ.get("DALEMBERT")
    path = Path(given) if given else Path(__file__).parents[2] / "target" / "debug" / "dalembert"
    if not path.exists():
        pytest.skip("the command line is not built; `cargo build` makes it, and DALEMBERT names another")
    return path


def test_the_command_line_has_the_same_bytes(tmp_path: Path) -> None:
    text = textwrap.dedent(
        """
        [sweep]
        scene = "bouncing-ball"
        set = ["run.until=1.2"]
        samples = 6
        sampling = "halton"
        [[vary]]
        path = "parameters.restitution"
        uniform = [0.5, 0.9]
        [[output]]
        name = "lost"
        energy = "impacts"
        """
    )
    (tmp_path / "study.toml").write_text(text)
    subprocess.run([program(), "sweep", "study.toml", "--out", "out", "--quiet"], cwd=tmp_path, check=True)
    table = dalembert.sweep(tmp_path / "study.toml", progress=False)
    assert table.to_bytes() == (tmp_path / "out" / "results.parquet").read_bytes()
    table.to_parquet(tmp_path / "copy.parquet")
    assert (tmp_path / "copy.parquet").read_bytes() == table.to_bytes()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.skipif(os.name == "nt", reason="scripts of Unix")
def test_the_recipe_for_slurm_is_what_it_says(tmp_path: Path) -> None:
    """The script of the book, as it stands there, for every member of its array: some die, and are submitted again by themselves. The merge is the whole table."""
    page = (Path(__file__).parents[2] / "docs" / "src" / "sweeps.md").read_text(encoding="utf-8")
    script, after = page.split("```bash\n")[1].split("```", 1)
    parts = int(script.split("#SBATCH --array=1-")[1].split()[0])
    assert f"PARTS={parts}" in script
    merge = after.split("in the end, once: `dalembert ")[1].split("`")[0].split()
    (tmp_path / "rows.sh").write_text(script)
    varied = '[[vary]]\npath = "parameters.restitution"\nuniform = [0.5, 0.9]\n'
    output = '[[output]]\nname = "lost"\nenergy = "impacts"\n'
    study = f'[sweep]\nscene = "bouncing-ball"\nset = ["run.until=0.6"]\nsamples = {2 * parts + 3}\n'
    (tmp_path / "study.toml").write_text(study + varied + output)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "dalembert").symlink_to(program())
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"

    def member(number: int) -> "subprocess.Popen[bytes]":
        told = {"PATH": path, "SLURM_ARRAY_TASK_ID": str(number), "SLURM_CPUS_PER_TASK": "2"}
        # As a group of its own, so that a kill meets the program too and not the shell alone.
        return subprocess.Popen(["bash", "rows.sh"], cwd=tmp_path, env={**os.environ, **told}, start_new_session=True)

    lost = {3, 8, parts}
    for number in range(1, parts + 1):
        running = member(number)
        if number in lost:
            os.killpg(running.pid, signal.SIGKILL)
        assert (running.wait(timeout=600) == 0) == (number not in lost)
    command = [str(program()), *merge]
    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert ended.returncode != 0 and "missing" in ended.stderr, ended.stderr
    for number in lost:
        assert member(number).wait(timeout=600) == 0
    subprocess.run([*command, "--quiet"], cwd=tmp_path, check=True)
    local = dalembert.sweep(tmp_path / "study.toml", progress=False)
    assert (tmp_path / merge[-1] / "results.parquet").read_bytes() == local.to_bytes()
    assert len(local) == 2 * parts + 3 and local.failed == 0
