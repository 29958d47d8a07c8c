"""Sweeps on a Dask cluster of three processes: one is killed, the table stays the same to the byte. Everything listens on loopback only."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import types
from pathlib import Path
from typing import Any, Iterator, List

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
        [*command, "--json"], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300
    )
    assert ended.returncode == 0, ended.stderr
    assert '"finished": 24, "failed": 0, "before": 8' in ended.stdout and len(begun) == 8
    subprocess.run([program(), "sweep", study, "--out", "local", "--quiet"], cwd=tmp_path, check=True)
    local = (tmp_path / "local" / "results.parquet").read_bytes()
    assert (tmp_path / "out" / "results.parquet").read_bytes() == local


def test_other_versions_are_refused(client: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from dalembert import dask

    parcel = Sweep(STUDY).parcel()
    own = f'version = "{dalembert.__version__}"'
    assert own in parcel
    with pytest.raises(SweepError, match="made by dalembert 9.9.9"):
        Sweep.from_parcel(parcel.replace(own, 'version = "9.9.9"', 1))
    elsewhere = types.SimpleNamespace(VERSION="9.9.9")
    monkeypatch.setattr(dask, "_dalembert", elsewhere)
    with pytest.raises(SweepError, match=f"has dalembert {dalembert.__version__}, this is 9.9.9"):
        dask._check_versions(client)


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


def test_a_row_that_ends_every_worker_is_named_and_the_others_are_kept(
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
    with pytest.raises(SweepError, match="row 4 has ended every worker"):
        dask.sweep(STUDY, Cluster(), chunk=3, out=tmp_path, progress=False)
    journal = dalembert._dalembert.SweepJournal(Sweep(STUDY)._native, str(tmp_path / "journal"))
    assert journal.missing() == [4]


def test_faults_are_told(client: Any) -> None:
    from dalembert.dask import main, sweep

    with pytest.raises(ValueError, match="`chunk` must be 1 or more"):
        sweep(STUDY, client, chunk=0)
    with pytest.raises(SweepError, match="no built-in scene"):
        sweep({**STUDY, "sweep": {"scene": "no-such"}}, client)
    assert main(["nothing.toml"]) == 4


def test_a_scheduler_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dalembert import dask

    def refuse(address: str, timeout: str) -> Any:
        raise OSError(f"Timed out trying to connect to {address}")

    monkeypatch.setattr(distributed, "Client", refuse)
    with pytest.raises(SweepError, match="tcp://127.0.0.1:9 . cannot be reached".replace(" .", "`")):
        dask.sweep(STUDY, scheduler="tcp://127.0.0.1:9", progress=False)
