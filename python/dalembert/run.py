"""Runs: channels as arrays, tables with units, events, reports and records."""

from __future__ import annotations

import fnmatch
import html
import json
import os
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _dalembert, display
from .arrays import Array
from .errors import ClosedError
from .model import Model, State

__all__ = ["Channel", "Event", "Run", "open_run"]


#: A view in a frame of its own: no room around it, and its remarks in small letters.
_FRAME = "body,#view{margin:0;font:13px system-ui,sans-serif}#view p{margin:8px 12px;opacity:.7}"


class Channel(NamedTuple):
    """What one recorded number is."""

    name: str
    #: SI unit; ``1`` for a pure number.
    unit: str
    #: The frame of a component; empty where no frame is involved.
    frame: str


class Event(NamedTuple):
    """Something that happened at one instant."""

    time: float
    kind: str
    element: str
    marker: str
    value: float
    unit: str


class Run(Mapping[str, Array]):
    """What a run has brought: recorded channels by name, ``time`` first.

    Arrays share their memory with the run, without copies, and cannot be written to.
    """

    def __init__(self, native: _dalembert.Run) -> None:
        self._native: Optional[_dalembert.Run] = native
        self._channels = {name: Channel(name, unit, frame) for name, unit, frame in native.channels()}
        #: The arrays, when somebody has asked for one.
        self._columns: Optional[Dict[str, Array]] = None
        self._summary: Dict[str, Any] = json.loads(native.summary())

    def __reduce__(self) -> Tuple[Any, ...]:
        return Run, (self._alive(),)

    def _alive(self) -> _dalembert.Run:
        native = self._native
        if native is None:
            raise ClosedError("this run is closed; its numbers are gone")
        return native

    def _held(self) -> Dict[str, Array]:
        """The columns of a run that is not closed, also if another thread closes it now: whoever has them keeps them."""
        native = self._alive()
        columns = self._columns
        if columns is None:
            columns = self._columns = dict(zip(self._channels, native.columns()))
            if self._native is None:
                self._columns = {}
        if not columns:
            self._alive()
        return columns

    def close(self) -> None:
        """Lets the numbers go; arrays that were taken out stay as they are."""
        self._native = None
        self._columns = {}

    def __enter__(self) -> "Run":
        self._alive()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -------------------------------------------------------------- channels

    def __getitem__(self, name: str) -> Array:
        columns = self._held()
        try:
            return columns[name]
        except KeyError:
            near = _nearest(name, columns)
            hint = f"; did you mean `{near}`?" if near else ""
            raise KeyError(f"there is no channel `{name}`{hint}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._held())

    def __len__(self) -> int:
        return 0 if self._native is None else len(self._channels)

    @property
    def time(self) -> Array:
        """The times of the rows, in s."""
        return self["time"]

    @property
    def channels(self) -> Dict[str, Channel]:
        """Name, unit and frame of every channel."""
        return dict(self._channels)

    @property
    def units(self) -> Dict[str, str]:
        """The unit of every channel."""
        return {name: channel.unit for name, channel in self._channels.items()}

    def select(self, *patterns: str) -> Dict[str, Array]:
        """The channels whose names match a pattern, in which ``*`` stands for any text."""
        columns, found = self._held(), {}
        for pattern in patterns:
            names = fnmatch.filter(columns, pattern)
            if not names:
                raise KeyError(f"no channel matches `{pattern}`")
            found.update({name: columns[name] for name in names})
        return found

    @property
    def energies(self) -> Dict[str, Array]:
        """The energies that were recorded, in J, by their last word."""
        columns = self._held()
        return {name[len("energy.") :]: columns[name] for name in columns if name.startswith("energy.")}

    # ---------------------------------------------------------------- tables

    def to_arrow(self) -> Any:
        """A pyarrow table that shares the memory; unit and frame are metadata of each field."""
        held = self._held()
        import pyarrow as pa

        fields, columns = [], []
        for channel in self._channels.values():
            metadata = {"unit": channel.unit, "frame": channel.frame}
            fields.append(pa.field(channel.name, pa.float64(), nullable=False, metadata=metadata))
            columns.append(pa.array(held[channel.name]))
        about = {"dalembert": json.dumps({key: self._summary[key] for key in ("name", "title", "dalembert_version")})}
        return pa.Table.from_arrays(columns, schema=pa.schema(fields, metadata=about))

    def to_pandas(self) -> Any:
        """A pandas table over time; ``attrs["units"]`` and ``attrs["frames"]`` tell units and frames."""
        held = self._held()
        import pandas as pd

        index = pd.Index(held["time"], name="time")
        columns = {name: column for name, column in held.items() if name != "time"}
        frame = pd.DataFrame(columns, index=index)
        frame.attrs["units"] = self.units
        frame.attrs["frames"] = {name: channel.frame for name, channel in self._channels.items()}
        return frame

    def to_polars(self, *, units_in_names: bool = False) -> Any:
        """A polars table that shares the memory. Polars keeps no metadata: :attr:`units` has the units, or they can be written behind the names."""
        import polars as pl

        table: Any = pl.from_arrow(self.to_arrow())
        if units_in_names:
            table = table.rename({name: f"{name} [{unit}]" for name, unit in self.units.items()})
        return table

    # -------------------------------------------------- what else is known

    @property
    def model(self) -> Model:
        """The model that was run."""
        return Model(self._alive().model)

    @property
    def scene(self) -> str:
        """The scene as run, with everything computed."""
        return self._alive().scene

    @property
    def summary(self) -> Dict[str, Any]:
        """What ``summary.json`` holds."""
        return self._summary

    @property
    def status(self) -> str:
        """``completed``, ``interrupted`` or ``failed``."""
        return str(self._summary["status"])

    @property
    def events(self) -> List[Event]:
        """The events in the order of time."""
        return [Event(*event) for event in self._alive().events()]

    @property
    def steps(self) -> Array:
        """Start and size of every step, in s."""
        return np.array(self._alive().steps(), dtype=np.float64).reshape(-1, 2)

    @property
    def final_state(self) -> State:
        """Where the run ended."""
        end = self._summary["final_state"]
        q, v, x = (np.array([float(number) for number in end[key]]) for key in ("q", "v", "x"))
        return State(float(end["time"]), q, v, x)

    # ------------------------------------------------- records and pictures

    def write(self, folder: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the folder that ``dalembert run`` writes, with the same bytes in its tables."""
        self._alive().write(os.fspath(folder))

    def report(self, height: int = 640) -> display.Page:
        """The report of the run, as one page."""
        return display.Page(self._alive().report(), height)

    @property
    def pictures(self) -> Dict[str, display.Picture]:
        """The pictures of the report by name."""
        return {name: display.Picture(svg, name) for name, svg in self._alive().pictures()}

    def plot(self, *patterns: str) -> display.Picture:
        """Channels over time, those of the energies if none are named; ``*`` stands for any text."""
        names = list(self.select(*(patterns or ("energy.*",))))
        return display.Picture(self._alive().plot(names), ", ".join(patterns))

    def animation(self, height: int = 480) -> display.Page:
        """The motion in space, as a page that moves; needs a package that was built with the viewer."""
        data, script, style = self._alive().animation()
        if data is None:
            return display.Page("<p>There is nothing to see: no body of this model has a shape.</p>", 80)
        if script is None:
            return display.Page("<p>This package was built without the viewer (<code>cargo xtask viewer</code>).</p>", 80)
        # Inside a script only `<` could end the data; JSON has another way to write it.
        inside = data.replace("<", "\\u003c")
        page = (
            f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(str(self._summary["name"]))}</title>'
            f'<style>{style}{_FRAME}</style></head><body><section id="view" aria-label="Motion in space"></section>'
            f'<script type="application/json" id="animation">{inside}</script><script>{script}</script></body></html>'
        )
        return display.Page(page, height)

    def __repr__(self) -> str:
        try:
            columns = self._held()
        except ClosedError:
            return "<closed run>"
        summary = self._summary
        rows = len(columns["time"])
        span = f"{summary['start_time']} s to {summary['end_time']} s"
        return f"<run of {summary['name']}: {self.status}, {span}, {rows} rows of {len(columns)} channels>"

    def _repr_html_(self) -> str:
        # Taken once: another thread may close the run meanwhile.
        try:
            columns, native = self._held(), self._alive()
        except ClosedError:
            return "<p>closed run</p>"
        summary, ledger = self._summary, self._summary["ledger"]
        title = str(summary["title"] or summary["name"])
        rows = [
            ("time", f"{summary['start_time']} s to {summary['end_time']} s"),
            ("integrator", f"{summary['integrator']}, {summary['counts'].get('steps', 0)} steps"),
            ("ledger", ("closes" if ledger["closes"] else "DOES NOT CLOSE") + f": worst {ledger['worst_imbalance']:.3g} J"),
            ("table", f"{len(columns['time'])} rows of {len(columns)} channels, {len(native.events())} events"),
        ]
        if summary["error"]:
            rows.append(("error", str(summary["error"])))
        motion = native.motion()
        return display.heading(title, self.status) + display.listing(["", ""], rows) + display.figures([motion] if motion else [])


def _nearest(name: str, known: Mapping[str, Any]) -> Optional[str]:
    import difflib

    found = difflib.get_close_matches(name, list(known), 1)
    return found[0] if found else None


def open_run(folder: Union[str, "os.PathLike[str]"]) -> Run:
    """Reads a folder that a run has left, from Python or from the command line."""
    path = os.fspath(folder)
    text = _dalembert.scene_of_run(path)
    name = os.path.basename(os.path.normpath(path))
    model = _dalembert.build(text, os.path.join(path, "scene.toml"), name, [], {}, {}, False, True)
    return Run(_dalembert.read_run(path, model))
