"""Sweeps: one scene run many times with other values, and one table of results.

>>> import dalembert
>>> table = dalembert.sweep({
...     "sweep": {"scene": "bouncing-ball", "samples": 3, "seed": 1},
...     "vary": [{"path": "parameters.restitution", "uniform": [0.5, 0.9]}],
...     "output": [{"name": "bounces", "events": "contact.floor", "kind": "impact", "take": "count"}],
... })
>>> len(table), table.failed
(3, 0)

The keys are those of study files. The table has the bytes of the command line's.
"""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple, Union

import numpy as np

from . import _dalembert, display
from .arrays import whole
from .errors import FileError, SweepError
from .files import keeping, make_folder, replace
from .progress import Bar, watcher
from .scene import Scene

__all__ = ["Sweep", "SweepError", "SweepInterrupted", "SweepTable", "sweep"]

#: What ``sweep(progress=…)`` takes: whether to show a bar (``None``: if somebody looks), or a function of rows, finished and failed ones.
Progress = Union[bool, None, Callable[[int, int, int], Any]]

#: The table of results in the folder of a sweep.
RESULTS = "results.parquet"

#: How a study calls a scene that is no file.
_SCENE = "scene of the study"


class SweepInterrupted(KeyboardInterrupt):
    """A sweep that was stopped by Ctrl-C; ``table`` has the finished rows. With ``out`` the same call goes on with the rest."""

    table: Optional["SweepTable"]

    def __init__(self, text: str, table: Optional["SweepTable"] = None) -> None:
        super().__init__(text)
        self.table = table

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.args[0], self.table)


class Sweep:
    """A study: which scene, what to vary, what to keep. Everything its rows need is read when it is made."""

    def __init__(self, study: Union[str, "os.PathLike[str]", Mapping[str, Any]], *, name: Optional[str] = None) -> None:
        if isinstance(study, Mapping):
            self._native, self.name = _from_dict(study), name or "study"
        else:
            path = os.fspath(study)
            self._native = _dalembert.SweepStudy.load(path)
            self.name = name or os.path.splitext(os.path.basename(path))[0]

    @classmethod
    def from_text(cls, text: str, *, folder: Union[str, "os.PathLike[str]"] = "", name: str = "sweep") -> "Sweep":
        """A study from TOML; files are found beside ``folder``."""
        return cls._of(_dalembert.SweepStudy.from_text(f"{name}.toml", text, os.fspath(folder)), name)

    @classmethod
    def from_parcel(cls, parcel: str, name: str = "sweep") -> "Sweep":
        """The study that :meth:`parcel` has packed, perhaps on another machine."""
        return cls._of(_dalembert.SweepStudy.from_parcel(parcel), name)

    @classmethod
    def _of(cls, native: _dalembert.SweepStudy, name: str) -> "Sweep":
        made = cls.__new__(cls)
        made._native, made.name = native, name
        return made

    def parcel(self) -> str:
        """The study with its scene and all other files that it needs, as one text."""
        return self._native.parcel()

    def __reduce__(self) -> Tuple[Any, ...]:
        return Sweep.from_parcel, (self.parcel(), self.name)

    def __len__(self) -> int:
        return self._native.rows

    @property
    def varied(self) -> List[str]:
        """The entries of the scene that vary."""
        return self._native.varied

    @property
    def outputs(self) -> List[str]:
        """The names of what is kept of every row."""
        return self._native.outputs

    def settings(self, row: int) -> List[str]:
        """The settings of a row, as ``dalembert run --set`` has them."""
        return self._native.settings(whole("row", row, 0))

    def check(self) -> None:
        """Raises :class:`SweepError` if none of some rows, spread over all, can start and has the channels that are kept."""
        self._native.check()

    def rows(self, rows: Any) -> bytes:
        """Computes some rows and gives them as bytes, for a journal that is kept elsewhere."""
        return self._native.compute([whole("row", row, 0) for row in rows])

    def __repr__(self) -> str:
        return f"<sweep {self.name}: {len(self)} rows, varies {', '.join(self.varied)}, keeps {', '.join(self.outputs)}>"

    def _repr_html_(self) -> str:
        rows = [("rows", len(self)), ("varies", ", ".join(self.varied)), ("keeps", ", ".join(self.outputs))]
        return display.heading(self.name, "a sweep") + display.listing(["", ""], rows)


def _from_dict(study: Mapping[str, Any]) -> _dalembert.SweepStudy:
    tree = {key: value for key, value in study.items()}
    main = tree.get("sweep")
    if not isinstance(main, Mapping):
        raise SweepError("a study needs a table `sweep` with a `scene`")
    scene, given = main.get("scene"), None
    if isinstance(scene, (Scene, Mapping)):
        scene = scene if isinstance(scene, Scene) else Scene.from_dict(scene)
        if scene._calls:
            raise SweepError("a scene with callbacks cannot be swept: its rows are computed without the interpreter")
        given = (_SCENE, scene.to_toml())
        tree["sweep"] = {**main, "scene": _SCENE}
    elif isinstance(scene, os.PathLike):
        tree["sweep"] = {**main, "scene": os.fspath(scene)}
    return _dalembert.SweepStudy.from_text("study", _dalembert.write(tree), "", given)


class SweepTable(Mapping[str, Any]):
    """The finished rows of a sweep: columns by name as arrays, or as a table of pandas, polars or Arrow."""

    def __init__(self, data: bytes, columns: Dict[str, Any], rows: int, before: int = 0) -> None:
        self._data = data
        self._columns = {name: _array(column) for name, column in columns.items()}
        #: The number of rows of the sweep, or of its part, finished or not.
        self.rows = rows
        #: The number of rows that were finished before.
        self.before = before

    def __reduce__(self) -> Tuple[Any, ...]:
        return SweepTable, (self._data, self._columns, self.rows, self.before)

    def __getitem__(self, name: str) -> Any:
        try:
            return self._columns[name]
        except KeyError:
            raise KeyError(f"there is no column `{name}`; there are {', '.join(self._columns)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        """The number of finished rows."""
        return len(self._columns["row"])

    @property
    def finished(self) -> bool:
        """Whether all rows are finished."""
        return len(self) == self.rows

    @property
    def errors(self) -> Dict[int, str]:
        """Why rows have failed, by their numbers."""
        pairs = zip(self._columns["row"], self._columns["error"])
        return {int(row): error for row, error in pairs if error is not None}

    @property
    def failed(self) -> int:
        """The number of rows that have failed."""
        return len(self.errors)

    def to_parquet(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the table, with the bytes of the command line's."""
        replace(path, self._data)

    def to_bytes(self) -> bytes:
        """The bytes of the Parquet file."""
        return self._data

    def to_arrow(self) -> Any:
        """The table of Arrow."""
        import pyarrow
        import pyarrow.parquet

        return pyarrow.parquet.read_table(pyarrow.BufferReader(self._data))

    def to_pandas(self) -> Any:
        """The frame of pandas; what is missing is NaN or None."""
        import pandas

        return pandas.DataFrame(self._columns).set_index("row")

    def to_polars(self) -> Any:
        """The frame of polars; what is missing is null."""
        import polars

        return polars.read_parquet(self._data)

    def __repr__(self) -> str:
        return f"<{len(self)} of {self.rows} rows, {self.failed} failed: {', '.join(self._columns)}>"

    def _repr_html_(self) -> str:
        shown = [name for name in self._columns if name != "error" or self.failed]
        rows = zip(*([_shown(value) for value in self._columns[name].tolist()] for name in shown))
        title = display.heading("sweep", f"{len(self)} of {self.rows} rows, {self.failed} failed")
        return title + display.listing(shown, rows, most=12)


def _array(column: Any) -> Any:
    if isinstance(column, np.ndarray):
        return column
    # One by one: lists of equal length would become an array of two axes.
    array = np.empty(len(column), dtype=object)
    for k, value in enumerate(column):
        array[k] = value
    return array


def _shown(value: Any) -> str:
    return f"{len(value)} numbers" if isinstance(value, np.ndarray) else display.number(value)


def sweep(
    study: Union[str, "os.PathLike[str]", Mapping[str, Any], Sweep],
    *,
    jobs: Optional[int] = None,
    out: Union[str, "os.PathLike[str]", None] = None,
    shard: Optional[str] = None,
    progress: Progress = None,
) -> SweepTable:
    """Computes the rows of a study with threads, and gives the table.

    ``study`` is a file, a dictionary with the keys of such a file (whose ``scene`` may be a :class:`Scene`), or a :class:`Sweep`. With ``out``, a folder, every
    finished row is kept in a journal there: called again, after whatever has happened, it goes on with the rows that are missing. ``jobs`` is the number of
    threads, all processors if not given; ``shard="1/3"`` computes every third row only. Rows that fail are rows with an ``error``.

    Raises :class:`SweepInterrupted` after Ctrl-C, with the finished rows.
    """
    own = study if isinstance(study, Sweep) else Sweep(study)
    threads = whole("jobs", jobs, 1) if jobs is not None else os.cpu_count() or 1
    own.check()
    with Keeper(own, out, shard, progress) as keeper:
        with keeper.interruptible():
            keeper.journal.sweep(threads, keeper.follow)
        return keeper.end()


class Keeper:
    """The journal of a sweep while its rows are computed, by whomever."""

    def __init__(self, study: Sweep, out: Any, shard: Optional[str], progress: Progress) -> None:
        self.study = study
        self._temporary = tempfile.TemporaryDirectory(prefix="dalembert-") if out is None else None
        self.folder = os.fspath(out) if self._temporary is None else self._temporary.name
        make_folder(self.folder)
        self.whole = shard is None
        self.path = os.path.join(self.folder, journal_name(shard))
        self.journal = _dalembert.SweepJournal(study._native, self.path, shard)
        remark = self.journal.remark()
        if remark is not None:
            warnings.warn(remark, RuntimeWarning, stacklevel=4)
        self.before = self.journal.counts()[1]
        self._bar: Optional[_Rows] = None
        self._function: Optional[Callable[[int, int, int], Any]] = None
        if callable(progress):
            self._function = progress
        else:
            bar = watcher(progress, (0.0, 1.0), study.name)
            self._bar = None if bar is None else _Rows(bar, self.before)

    def follow(self, rows: int, finished: int, failed: int) -> None:
        """Shows how far the sweep is."""
        if self._function is not None:
            self._function(rows, finished, failed)
        elif self._bar is not None:
            self._bar(rows, finished, failed)

    def table(self) -> SweepTable:
        """The finished rows."""
        data, columns = self.journal.table()
        return SweepTable(data, columns, self.journal.counts()[0], self.before)

    def interruptible(self) -> "_Interruptible":
        """Turns Ctrl-C into an exception that has the finished rows, and hands them over with the error if the disk takes no more."""
        return _Interruptible(self)

    def end(self) -> SweepTable:
        """The table, which is written if all rows are there."""
        table = self.table()
        if self._temporary is None and self.whole and table.finished:
            with keeping(table):
                self.journal.write(os.path.join(self.folder, RESULTS))
        self.follow(*self.journal.counts())
        return table

    def __enter__(self) -> "Keeper":
        return self

    def __exit__(self, *_: object) -> None:
        self.journal.close()
        if self._bar is not None:
            self._bar.close()
        if self._temporary is not None:
            self._temporary.cleanup()


class _Interruptible:
    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, _: object) -> None:
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            table = self._keeper.table()
            text = f"interrupted: {len(table)} of {table.rows} rows are finished"
            raise SweepInterrupted(text, table) from None
        if isinstance(error, FileError):
            error.result = self._keeper.table()


class _Rows:
    """A bar that counts rows, with an estimate of the time that is left."""

    def __init__(self, bar: Bar, before: int) -> None:
        self._bar = bar
        self._before = before
        self._began = time.monotonic()

    def __call__(self, rows: int, finished: int, failed: int) -> None:
        spent, new = time.monotonic() - self._began, finished - self._before
        left = f", {spent * (rows - finished) / new:.0f} s left" if new > 0 else ""
        text = f"{finished} of {rows} rows" + (f", {failed} failed" if failed else "") + left
        self._bar.show(finished / rows if rows else 1.0, text)

    def close(self) -> None:
        self._bar.close()


def journal_name(shard: Optional[str]) -> str:
    """The file of a journal in its folder, as the command line calls it."""
    if shard is None:
        return "journal"
    index, _, count = (part.strip() for part in shard.partition("/"))
    return f"journal-{index}-of-{count}"
