"""Sweeps on a Dask cluster: the same rows, the same journal, the same table.

>>> from dalembert.dask import sweep                      # doctest: +SKIP
>>> table = sweep("study.toml", scheduler="tcp://host:8786", out="results")

The study travels with its scene and all other files that it needs, so that workers need nothing but this package, in the same version. Rows are
computed in chunks. What a lost worker had under way is computed anew by the others, which is Dask's business; a row is the same wherever it was computed.

``python -m dalembert.dask study.toml --scheduler tcp://host:8786`` is what ``dalembert sweep --engine dask`` starts.
"""

from __future__ import annotations

import argparse
import functools
import importlib.metadata
import json
import os
import sys
import uuid
from typing import Any, Dict, List, Mapping, Optional, Sequence, Union

from . import _dalembert
from .arrays import MOST_THREADS, whole
from .sweeps import RESULTS, Keeper, Progress, Sweep, SweepError, SweepInterrupted, SweepTable, journal_name

__all__ = ["main", "sweep"]

#: Tasks for each worker, if nobody says how many rows a task has: few enough to cost little, many enough to lose little.
_TASKS = 16
#: The most rows of a task, if nobody says how many.
_MOST = 1000
#: A scheduler must answer within this time.
_PATIENCE = "20s"


@functools.lru_cache(maxsize=4)
def _unpacked(parcel: str) -> _dalembert.SweepStudy:
    return _dalembert.SweepStudy.from_parcel(parcel)


def _rows(parcel: str, rows: List[int]) -> bytes:
    """What a worker does."""
    return _unpacked(parcel).compute(rows)


def sweep(
    study: Union[str, "os.PathLike[str]", Mapping[str, Any], Sweep],
    client: Any = None,
    *,
    scheduler: Optional[str] = None,
    jobs: Optional[int] = None,
    chunk: Optional[int] = None,
    out: Union[str, "os.PathLike[str]", None] = None,
    shard: Optional[str] = None,
    progress: Progress = None,
) -> SweepTable:
    """Computes the rows of a study with the workers of a Dask cluster, and gives the table.

    The cluster is that of ``client``, or of the ``scheduler`` with this address, or one of ``jobs`` processes that is started on this machine and ended again.
    ``chunk`` is the number of rows in a task. ``study``, ``out``, ``shard`` and ``progress`` are those of :func:`dalembert.sweep`, and so is the table, to the byte:
    what one has begun the other can finish.
    """
    from distributed import Client, LocalCluster

    own = study if isinstance(study, Sweep) else Sweep(study)
    if chunk is not None:
        chunk = whole("chunk", chunk, 1)
    workers = min(whole("jobs", jobs, 1) if jobs is not None else os.cpu_count() or 1, MOST_THREADS)
    own.check()
    with Keeper(own, out, shard, progress) as keeper:
        with keeper.interruptible():
            if client is not None:
                _compute(client, keeper, chunk)
            elif scheduler is not None:
                with _connected(scheduler) as connected:
                    _compute(connected, keeper, chunk)
            else:
                local = {"host": "127.0.0.1", "dashboard_address": None, "processes": True, "threads_per_worker": 1}
                with LocalCluster(n_workers=workers, **local) as cluster, Client(cluster) as connected:
                    _compute(connected, keeper, chunk)
        return keeper.end()


def _connected(scheduler: str) -> Any:
    from distributed import Client

    try:
        return Client(scheduler, timeout=_PATIENCE)
    except (OSError, TimeoutError, ValueError) as error:
        raise SweepError(f"the scheduler `{scheduler}` cannot be reached: {error or type(error).__name__}") from None


def _check_versions(client: Any) -> int:
    """Says which workers have another version, or none; gives the number of workers."""
    found: Dict[str, Any] = client.run(importlib.metadata.version, "dalembert", on_error="return")
    if not found:
        raise SweepError("the cluster has no workers; start some with `dask worker`")
    own = _dalembert.VERSION
    faults = []
    for worker, version in sorted(found.items()):
        if isinstance(version, Exception):
            faults.append(f"the worker {worker} has no package `dalembert`; install version {own} there")
        elif version != own:
            faults.append(f"the worker {worker} has dalembert {version}, this is {own}; install the same everywhere")
    if faults:
        raise SweepError("\n".join(faults))
    return len(found)


def _compute(client: Any, keeper: Keeper, chunk: Optional[int]) -> None:
    from distributed import as_completed
    from distributed.scheduler import KilledWorker

    missing = keeper.journal.missing()
    if not missing:
        return
    workers = _check_versions(client)
    parcel = keeper.study.parcel()
    size = chunk or min(max(len(missing) // (_TASKS * workers), 1), _MOST)
    own = uuid.uuid4().hex

    def submit(rows: List[int]) -> Any:
        future = client.submit(_rows, parcel, rows, key=f"dalembert-rows-{own}-{rows[0]}-{len(rows)}", pure=False)
        under_way[future.key] = (future, rows)
        return future

    under_way: Dict[str, Any] = {}
    try:
        first = [submit(missing[start : start + size]) for start in range(0, len(missing), size)]
        tasks = as_completed(first)
        for future in tasks:
            _, rows = under_way.pop(future.key)
            error = future.exception() if future.status == "error" else None
            if error is None and future.status == "finished":
                keeper.journal.take(future.result())
                keeper.follow(*keeper.journal.counts())
            elif isinstance(error, KilledWorker) and len(rows) > 1:
                # One of them ends whatever computes it: the others shall not suffer.
                for row in rows:
                    tasks.add(submit([row]))
            elif isinstance(error, KilledWorker):
                keeper.journal.fail(rows[0], "the row has ended every process that has tried to compute it")
                keeper.follow(*keeper.journal.counts())
            else:
                raise SweepError(f"rows {rows[0]} to {rows[-1]} were not computed: {error or future.status}")
            future.release()
    finally:
        if under_way:
            client.cancel([future for future, _ in under_way.values()], force=True)


def main(arguments: Optional[Sequence[str]] = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m dalembert.dask", description="Sweeps on a Dask cluster.")
    parser.add_argument("study", help="the study, a TOML file")
    parser.add_argument("--out", help="the folder of journal and results [default: sweeps/NAME]")
    parser.add_argument("--scheduler", help="the scheduler, as in tcp://host:8786; without it a cluster is started here")
    parser.add_argument("--jobs", type=int, help="the number of processes of a cluster that is started here")
    parser.add_argument("--chunk", type=int, help="rows in one task")
    parser.add_argument("--shard", help="every N-th row only, from the I-th on, as I/N")
    parser.add_argument("--json", action="store_true", help="print the result as JSON and nothing else")
    parser.add_argument("--quiet", action="store_true", help="no progress, no summary")
    options = parser.parse_args(arguments)
    progress = False if options.json or options.quiet else None
    try:
        study = Sweep(options.study)
        out = options.out or os.path.join("sweeps", study.name)
        table = sweep(
            study,
            scheduler=options.scheduler,
            jobs=options.jobs,
            chunk=options.chunk,
            out=out,
            shard=options.shard,
            progress=progress,
        )
    except SweepInterrupted as stopped:
        if stopped.table is not None and not (options.quiet or options.json):
            print(f"  {len(stopped.table)} of {stopped.table.rows} rows finished; the same command goes on with the rest")
        return 130
    except (SweepError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 4
    place = os.path.join(out, RESULTS if options.shard is None else journal_name(options.shard))
    counts = {"rows": table.rows, "finished": len(table), "failed": table.failed, "before": table.before}
    if options.json:
        print(json.dumps({**counts, "results": place}))
    elif not options.quiet:
        print("  {finished} of {rows} rows finished, {failed} failed, {before} before".format(**counts))
        print(f"  {place}")
    return 0


if __name__ == "__main__":
    # Workers must find what they compute under the name of the module.
    from dalembert.dask import main as own_main

    sys.exit(own_main())
