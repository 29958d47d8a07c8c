"""Sweeps on a Dask cluster of three processes: one is killed, the table stays the same to the byte. Everything listens on loopback only."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import signal
import subprocess
import sys
import time
import types
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Callable, Iterator, List, Optional

import numpy as np
import pytest

import dalembert
from dalembert import Sweep, SweepError

from test_sweeps import STUDY, program

distributed = pytest.importorskip("distributed")

HEAD = Path(__file__).parents[2] / "crates" / "sweeps" / "studies" / "leech-head"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    made = distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, host="127.0.0.1", dashboard_address=None
    )
    with made:
        yield made


@pytest.fixture()
def client(cluster: Any) -> Iterator[Any]:
    with distributed.Client(cluster) as made:
        yield made


@pytest.fixture()
def study(tmp_path: Path) -> Path:
    """The head of the leech, 24 times."""
    (tmp_path / "scene.toml").write_bytes((HEAD / "scene.toml").read_bytes())
    path = tmp_path / "study.toml"
    path.write_text((HEAD / "study.toml").read_text().replace("samples = 10000", "samples = 24"))
    return path


def test_a_worker_is_killed_and_the_table_is_the_same(client: Any, study: Path, tmp_path: Path) -> None:
    from dalembert.dask import sweep

    workers = client.run(os.getpid)
    assert len(workers) == 3 and all(address.startswith("tcp://127.0.0.1:") for address in workers)
    victims = list(workers.values())[:1]

    def kill(rows: int, finished: int, failed: int) -> None:
        if finished >= 4 and victims:
            os.kill(victims.pop(), signal.SIGKILL)

    table = sweep(study, client, chunk=2, out=tmp_path / "cluster", progress=kill)
    assert not victims and table.finished and table.failed == 0
    local = dalembert.sweep(study, jobs=2, out=tmp_path / "local", progress=False)
    assert table.to_bytes() == local.to_bytes()
    files = [(tmp_path / where / "results.parquet").read_bytes() for where in ("cluster", "local")]
    assert files[0] == files[1] == table.to_bytes()


def test_the_command_line_speaks_to_the_scheduler(cluster: Any, study: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "DALEMBERT_PYTHON": sys.executable}
    # What another way has begun is gone on with: every third row is there already.
    begun = dalembert.sweep(study, jobs=2, out=tmp_path / "out", shard="1/3", progress=False)
    os.rename(tmp_path / "out" / "journal-1-of-3", tmp_path / "out" / "journal")
    command = [program(), "sweep", study, "--engine", "dask", "--scheduler", cluster.scheduler_address, "--out", "out"]
    ended = subprocess.run(
        [*command, "--json"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600
    )
    assert ended.returncode == 0, ended.stderr
    assert '"finished": 24, "failed": 0, "before": 8' in ended.stdout and len(begun) == 8
    subprocess.run([program(), "sweep", study, "--out", "local", "--quiet"], cwd=tmp_path, check=True)
    local = (tmp_path / "local" / "results.parquet").read_bytes()
    assert (tmp_path / "out" / "results.parquet").read_bytes() == local


def packages_of_a_worker(folder: Path, version: Optional[str]) -> Path:
    """A folder for PYTHONPATH with all packages of this Python, but with another version of dalembert, or with none."""
    folder.mkdir()
    info = importlib.metadata.distribution("dalembert")
    package = Path(dalembert.__file__).parent
    for entry in package.parent.iterdir():
        if not entry.name.startswith("dalembert"):
            (folder / entry.name).symlink_to(entry)
    if version is not None:
        shutil.copytree(package, folder / "dalembert")
        own = folder / f"dalembert-{version}.dist-info"
        own.mkdir()
        text = info.read_text("METADATA")
        assert text is not None
        (own / "METADATA").write_text(text.replace(f"Version: {info.version}", f"Version: {version}", 1))
    return folder


@pytest.fixture()
def workers(tmp_path: Path) -> Iterator[Callable[[Optional[str]], Any]]:
    """Starts a cluster of one process here and one process elsewhere, which has the packages of another machine; gives its client."""
    with ExitStack() as stack:

        def start(version: Optional[str]) -> Any:
            local = {"host": "127.0.0.1", "dashboard_address": None, "processes": True, "threads_per_worker": 1}
            made = stack.enter_context(distributed.LocalCluster(n_workers=1, **local))
            client = stack.enter_context(distributed.Client(made))
            packages = packages_of_a_worker(tmp_path / f"packages-{version}", version)
            # Without `site`, so that nothing but this folder is looked into.
            command = [sys.executable, "-S", "-m", "distributed.cli.dask_worker", made.scheduler_address]
            options = ["--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard"]
            environment = {**os.environ, "PYTHONPATH": str(packages)}
            worker = subprocess.Popen([*command, *options], env=environment, stderr=subprocess.DEVNULL)
            stack.callback(worker.wait)
            stack.callback(worker.terminate)
            client.wait_for_workers(2, timeout=600)
            return client

        yield start


@pytest.mark.skipif(os.name == "nt", reason="links of Unix")
def test_workers_with_other_versions_are_refused(workers: Callable[[Optional[str]], Any], tmp_path: Path) -> None:
    from dalembert.dask import sweep

    client, own = workers("9.9.9"), dalembert.__version__
    with pytest.raises(SweepError, match=f"the worker tcp://127.0.0.1:[0-9]+ has dalembert 9.9.9, this is {own}") as caught:
        sweep(STUDY, client, out=tmp_path / "other", progress=False)
    # The worker that has the right one is not named.
    assert str(caught.value).count("tcp://") == 1
    client = workers(None)
    with pytest.raises(SweepError, match="has no package `dalembert`; install version") as caught:
        sweep(STUDY, client, out=tmp_path / "none", progress=False)
    assert str(caught.value).count("tcp://") == 1


def test_studies_from_other_versions_are_refused() -> None:
    parcel = Sweep(STUDY).parcel()
    own = f'version = "{dalembert.__version__}"'
    assert own in parcel
    with pytest.raises(SweepError, match="made by dalembert 9.9.9"):
        Sweep.from_parcel(parcel.replace(own, 'version = "9.9.9"', 1))


class FakeFuture:
    """What a cluster answers of which every worker dies at a row."""

    def __init__(self, key: str, rows: List[int], fatal: int, data: bytes) -> None:
        self.key, self.data = key, data
        self.status = "error" if fatal in rows else "finished"

    def exception(self) -> Any:
        from distributed.scheduler import KilledWorker

        return KilledWorker(self.key, types.SimpleNamespace(address="tcp://127.0.0.1:1"), 3)

    def result(self) -> bytes:
        return self.data

    def release(self) -> None:
        pass


def test_a_row_that_ends_every_worker_is_a_row_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dalembert import dask

    class Tasks(List[Any]):
        """Finished tasks in turn, with those that come later."""

        def __iter__(self) -> Iterator[Any]:
            while len(self):
                yield self.pop(0)

        def add(self, future: Any) -> None:
            self.append(future)

    class Cluster:
        def run(self, *_: Any, **__: Any) -> Any:
            return {"tcp://127.0.0.1:1": dalembert.__version__}

        def submit(self, _: Any, parcel: str, rows: List[int], key: str, pure: bool) -> FakeFuture:
            return FakeFuture(key, rows, 4, Sweep.from_parcel(parcel).rows(rows))

        def cancel(self, *_: Any, **__: Any) -> None:
            pass

    monkeypatch.setattr(distributed, "as_completed", Tasks)
    table = dask.sweep(STUDY, Cluster(), chunk=3, out=tmp_path, progress=False)
    assert table.finished and list(table.errors) == [4] and "ended every process" in table.errors[4]
    local = dalembert.sweep(STUDY, progress=False)
    assert np.array_equal(np.delete(table["height"], 4), np.delete(local["height"], 4))
    # It is finished: nobody tries it again.
    again = dalembert.sweep(STUDY, out=tmp_path, progress=False)
    assert again.before == 10 and again.to_bytes() == table.to_bytes()


def test_faults_are_told(client: Any) -> None:
    from dalembert.dask import main, sweep

    with pytest.raises(ValueError, match="`chunk` must be 1 or more"):
        sweep(STUDY, client, chunk=0)
    with pytest.raises(SweepError, match="no built-in scene"):
        sweep({**STUDY, "sweep": {"scene": "no-such"}}, client)
    assert main(["nothing.toml"]) == 4


def test_a_scheduler_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import socket

    from dalembert import dask

    # A port that was free a moment ago: nobody listens there.
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{taken.getsockname()[1]}"
    monkeypatch.setattr(dask, "_PATIENCE", "1s")
    with pytest.raises(SweepError, match=f"the scheduler `{address}` cannot be reached"):
        dask.sweep(STUDY, scheduler=address, progress=False)
    with pytest.raises(SweepError, match="the scheduler `no address` cannot be reached"):
        dask.sweep(STUDY, scheduler="no address", progress=False)


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_control_c_of_the_command_line_keeps_finished_rows(tmp_path: Path) -> None:
    text = '[sweep]\nscene = "leech"\nset = ["run.until=0.05"]\nsamples = 3000\n[[vary]]\npath = "parameters.mu"\nuniform = [0.1, 0.8]\n'
    (tmp_path / "study.toml").write_text(text + '[[output]]\nname = "kinetic"\nenergy = "kinetic"\n')
    command = [str(program()), "sweep", "study.toml", "--engine", "dask", "--jobs", "2", "--chunk", "1", "--out", "out"]
    environment = {**os.environ, "DALEMBERT_PYTHON": sys.executable}
    journal = tmp_path / "out" / "journal"
    told = tmp_path / "told.txt"
    with open(told, "w") as file:
        child = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=file, stderr=file, start_new_session=True)
        for _ in range(6000):
            if child.poll() is not None or (journal.exists() and journal.stat().st_size > 200):
                break
            time.sleep(0.1)
        # A terminal sends it to all that were started from it.
        os.killpg(child.pid, signal.SIGINT)
        assert child.wait(timeout=600) == 130, told.read_text()
    assert "the same command goes on with the rest" in told.read_text()
    counts = dalembert._dalembert.SweepJournal(Sweep(tmp_path / "study.toml")._native, str(journal)).counts()
    assert 0 < counts[1] < 3000 and counts[2] == 0


def test_lists_come_back_from_a_cluster(client: Any, tmp_path: Path) -> None:
    from dalembert.dask import sweep

    outputs = [
        {"name": "z", "channel": "body.ball.position.z", "take": "all"},
        {"name": "strikes", "events": "contact.floor", "kind": "impact", "take": "all_times"},
        {"name": "at", "channel": "body.ball.position.z", "at": 0.3},
    ]
    study = {**STUDY, "output": outputs}
    assert sweep(study, client, chunk=3, progress=False).to_bytes() == dalembert.sweep(study, progress=False).to_bytes()
