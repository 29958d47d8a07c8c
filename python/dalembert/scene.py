"""Scenes: what moves, what acts and how to run it, with the names of scene files."""

from __future__ import annotations

import copy
import os
import re
from typing import Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union

import numpy as np

from . import _dalembert, display
from ._elements import Elements
from .arrays import finite
from .callbacks import ForceCallback, SignalCallback
from .errors import ArgumentError, SceneError
from .files import replace
from .model import Model, warn_of_callbacks
from .progress import Progress, StudyProgress
from .run import Run
from .study import Study

__all__ = ["Scene", "Table", "load", "scenes"]

Callback = Union[SignalCallback, ForceCallback]


class Table(Dict[str, Any]):
    """A table of a scene: a dictionary whose keys are attributes too."""

    def __getattr__(self, key: str) -> Any:
        try:
            return self[key]
        except KeyError:
            raise AttributeError(f"there is no `{key}`; there are {', '.join(self) or 'no keys'}") from None

    def __setattr__(self, key: str, value: Any) -> None:
        self[key] = _tables(value)

    def __delattr__(self, key: str) -> None:
        try:
            del self[key]
        except KeyError:
            raise AttributeError(key) from None

    def __setitem__(self, key: str, value: Any) -> None:
        super().__setitem__(key, _tables(value))

    def __reduce__(self) -> Tuple[Any, ...]:
        return _tables, (dict(self),)

    def __deepcopy__(self, memo: Dict[int, Any]) -> "Table":
        copied = Table()
        for key, value in self.items():
            dict.__setitem__(copied, key, copy.deepcopy(value, memo))
        return copied


def _tables(value: Any) -> Any:
    """The same with dictionaries as tables, and arrays and numbers of NumPy as lists and plain numbers, all the way down."""
    if isinstance(value, Table):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    if isinstance(value, Mapping):
        table = Table()
        for key, inner in value.items():
            dict.__setitem__(table, key, _tables(inner))
        return table
    if isinstance(value, (list, tuple)):
        return [_tables(inner) for inner in value]
    return value


class Scene(Elements):
    """A scene as it is written: parameters, formulas and repeats are kept, and computed when a model is built.

    ``scene["body"]["arm"]["mass"] = 2`` changes it, ``scene.body("arm", kind="rigid", …)`` adds to it, ``scene.run()`` runs it.
    """

    def __init__(self, tree: Optional[Mapping[str, Any]] = None, *, name: str = "scene") -> None:
        self.name = name
        self.tree: Table = _tables(tree or {})
        self.callbacks: Dict[str, Dict[str, Callback]] = {"signal": {}, "force": {}}
        #: The files that it was read from, as they were then; the first is found by its path.
        self._path: Optional[str] = None
        self._files: Dict[str, bytes] = {}
        self._original: Optional[Table] = None
        #: Whether mesh files are found beside it.
        self._on_disk = False

    @classmethod
    def from_text(cls, text: str, *, name: str = "scene") -> "Scene":
        """A scene from TOML."""
        path = f"{name}.toml"
        tree, files = _dalembert.parse(text, path)
        scene = cls(tree, name=name)
        scene._remember(path, files, False)
        return scene

    @classmethod
    def from_dict(cls, tree: Mapping[str, Any], *, name: str = "scene") -> "Scene":
        """A scene from dictionaries and lists with the names of scene files."""
        return cls(copy.deepcopy(dict(tree)), name=name)

    @classmethod
    def _load(cls, source: str) -> "Scene":
        tree, files, path, name, on_disk = _dalembert.read(source)
        scene = cls(tree, name=name)
        scene._remember(path, files, on_disk)
        return scene

    def _remember(self, path: str, files: Dict[str, bytes], on_disk: bool) -> None:
        self._path, self._files, self._on_disk = path, files, on_disk
        self._original = copy.deepcopy(self.tree)

    def __getstate__(self) -> Dict[str, Any]:
        state = dict(self.__dict__)
        if self._on_disk and self._path is not None and any(b"mesh" in text for text in self._files.values()):
            # Pictures of meshes travel too. What is wrong with the scene is told where it is built.
            try:
                state["_files"] = {**self._files, **_dalembert.files_of(self._files, self._path, [])}
            except SceneError:
                pass
        return state

    def copy(self) -> "Scene":
        """A scene of its own with the same contents."""
        return copy.deepcopy(self)

    def __deepcopy__(self, memo: Dict[int, Any]) -> "Scene":
        copied = Scene(name=self.name)
        copied.tree = copy.deepcopy(self.tree, memo)
        copied.callbacks = {section: dict(given) for section, given in self.callbacks.items()}
        copied._path, copied._files, copied._on_disk = self._path, dict(self._files), self._on_disk
        copied._original = copy.deepcopy(self._original, memo)
        return copied

    # -------------------------------------------------------------- contents

    def __getitem__(self, section: str) -> Any:
        return self.tree[section]

    def __setitem__(self, section: str, value: Any) -> None:
        self.tree[section] = value

    def __delitem__(self, section: str) -> None:
        del self.tree[section]

    def __contains__(self, section: object) -> bool:
        return section in self.tree

    def __iter__(self) -> Iterator[str]:
        return iter(self.tree)

    def __len__(self) -> int:
        return len(self.tree)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scene):
            return NotImplemented
        return self.tree == other.tree and self.callbacks == other.callbacks

    __hash__ = None  # type: ignore[assignment]

    def section(self, name: str) -> Table:
        """The table of a section; an empty one is made if there is none."""
        if name not in self.tree:
            self.tree[name] = Table()
        table: Table = self.tree[name]
        return table

    def set(self, path: str, value: Any) -> "Scene":
        """Sets a value by its path, as ``--set`` does: ``scene.set("parameters.angle", 0.2)``, ``scene.set("body.arm.position[2]", 1)``.

        What only a repeat will make is set on top of it, in the section ``set``.
        """
        steps = _steps(path)
        above = self.tree.get("set")
        hidden = isinstance(above, dict) and any(path.startswith(key) or key.startswith(path) for key in above)
        place = None if hidden else _find(self.tree, steps)
        if place is None:
            # Later ones win.
            entries = self.section("set")
            entries.pop(path, None)
            entries[path] = value
            return self
        holder, key = place
        if steps[0] == "parameters" and isinstance(holder[key], dict):
            holder, key = holder[key], "value"
        holder[key] = _tables(value)
        return self

    def _add(self, section: str, name: str, keys: Dict[str, Any]) -> Table:
        entries = self.section(section)
        if name in entries and not (section == "body" and name == "ground"):
            raise ArgumentError(f"there is a {section} `{name}` already; change it by scene[{section!r}][{name!r}]")
        if keys.get("kind") == "callback":
            keys = self._add_callback(section, name, dict(keys))
        entries[name] = {key: value for key, value in keys.items() if value is not None}
        table: Table = entries[name]
        return table

    def _add_callback(self, section: str, name: str, keys: Dict[str, Any]) -> Dict[str, Any]:
        if section not in self.callbacks:
            raise ArgumentError(f"a {section} cannot be a callback; signals and forces can")
        function = keys.pop("function", None)
        if function is None:
            raise ArgumentError(f"the callback `{section}.{name}` needs a `function`")
        vectorised = bool(keys.pop("vectorised", False))
        if section == "signal":
            given = keys.pop("derivatives", None) or ()
            self.callbacks[section][name] = SignalCallback(function, given, vectorised)
        else:
            states = keys.pop("states", None)
            self.callbacks[section][name] = ForceCallback(function, () if states is None else states, vectorised)
        return keys

    # ------------------------------------------------------- files and models

    def to_toml(self) -> str:
        """The scene as TOML; reading it gives the same scene.

        A scene that was read from one text is that text, comments and all, with what has changed since. One that includes others has them written into it.
        """
        return _dalembert.write(self.tree, self._files, self._path)

    def save(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """Writes the scene to a file."""
        replace(path, self.to_toml())

    def model(self, settings: Tuple[str, ...] = (), *, _level: int = 3) -> Model:
        """Builds the model. Problems are raised together as :class:`SceneError`, with their places."""
        used = {kind: self._used(kind) for kind in self.callbacks}
        names = [f"{section}.{name}" for section, given in used.items() for name in given]
        if names:
            warn_of_callbacks(names, _level)
        text, path = self._source()
        signals, forces = used["signal"], used["force"]
        given = (signals, forces, self._on_disk, False, self._files)
        return Model(_dalembert.build(text, path, self.name, list(settings), *given))

    def _used(self, section: str) -> Dict[str, Callback]:
        entries = self.tree.get(section) or {}
        given = self.callbacks[section]
        return {name: callback for name, callback in given.items() if name in entries}

    def _source(self) -> Tuple[Optional[str], str]:
        """The text to read, if it is not that of the file, and where it is to be found."""
        if self._path is None:
            return self.to_toml(), f"{self.name}.toml"
        if self.tree == self._original:
            return None, self._path
        stem, end = os.path.splitext(self._path)
        return self.to_toml(), f"{stem} (changed){end}"

    @property
    def _calls(self) -> bool:
        """Whether its equations call Python."""
        return any(self._used(section) for section in self.callbacks)

    # ------------------------------------------------------ runs and studies

    def run(
        self,
        *,
        until: Optional[float] = None,
        tolerance: Optional[float] = None,
        integrator: Optional[str] = None,
        progress: Progress = None,
        out: Union[str, "os.PathLike[str]", None] = None,
        resume: Union[Run, str, "os.PathLike[str]", None] = None,
        checkpoint_every: float = 60.0,
        check: bool = True,
    ) -> Run:
        """Builds the model and runs it, as ``dalembert run`` does; see :meth:`Model.run`."""
        settings: List[str] = []
        if until is not None:
            settings.append(f"run.until={finite('until', until)!r}")
        if tolerance is not None:
            settings.append(f"run.tolerance={finite('tolerance', tolerance, positive=True)!r}")
        if integrator is not None:
            settings.append("run.integrator=" + _dalembert.write({"value": str(integrator)}).split("=", 1)[1].strip())
        model = self.model(tuple(settings), _level=4)
        return model.run(progress=progress, out=out, resume=resume, checkpoint_every=checkpoint_every, check=check)

    def study(self, kind: str, *, progress: StudyProgress = None, **options: Any) -> Study:
        """Builds the model and studies it; see :meth:`Model.study`."""
        return self.model(_level=4).study(kind, progress=progress, **options)

    # --------------------------------------------------------------- display

    def __repr__(self) -> str:
        counts = [f"{len(entries)} {section}" for section, entries in self.tree.items() if _named(section, entries)]
        return f"<scene {self.name}: {', '.join(counts) or 'empty'}>"

    def _repr_html_(self) -> str:
        rows = []
        for section, entries in self.tree.items():
            if not _named(section, entries):
                continue
            for name, entry in entries.items():
                kind = entry.get("kind", "") if isinstance(entry, dict) else ""
                if isinstance(entry, dict) and section == "parameters":
                    said = " ".join(str(entry[key]) for key in ("value", "unit") if key in entry)
                elif isinstance(entry, dict):
                    said = ", ".join(f"{key} {_brief(value)}" for key, value in entry.items() if key != "kind")
                else:
                    said = str(entry)
                rows.append((section, name, kind, said))
        title = str((self.tree.get("scene") or {}).get("title", self.name))
        return display.heading(title) + display.listing(["section", "name", "kind", "what it says"], rows)


#: Texts of values are shown up to this length.
_BRIEF = 40


def _brief(value: Any) -> str:
    """A value as it can stand in a line: formulas without quotation marks, tables by their keys."""
    if isinstance(value, dict):
        text = "{" + ", ".join(value) + "}"
    elif isinstance(value, list):
        text = "[" + ", ".join(_brief(one) for one in value) + "]"
    elif isinstance(value, bool):
        text = "true" if value else "false"
    else:
        text = value if isinstance(value, str) else display.number(value)
    return text if len(text) <= _BRIEF else text[: _BRIEF - 1] + "…"


def _named(section: str, entries: Any) -> bool:
    return isinstance(entries, dict) and section not in ("scene", "world", "run", "output")


_STEP = re.compile(r"([^.\[\]\"']+)|\[(\d+)\]")


def _steps(path: str) -> List[Union[str, int]]:
    """The keys and numbers of a path; an empty list if it is written in a way that only the reader of settings knows."""
    if "'" in path or '"' in path:
        return []
    return [int(number) if number else key for key, number in _STEP.findall(path)]


def _find(tree: Any, steps: List[Union[str, int]]) -> Optional[Tuple[Any, Union[str, int]]]:
    """The table or list that holds the last step of a path, if the entry is there; its last key may be new."""
    holder = tree
    for step in steps[:-1]:
        if isinstance(holder, dict) and step in holder:
            holder = holder[step]
        elif isinstance(holder, list) and isinstance(step, int) and step < len(holder):
            holder = holder[step]
        else:
            return None
    if not steps:
        return None
    last = steps[-1]
    if isinstance(holder, list):
        return (holder, last) if isinstance(last, int) and last < len(holder) else None
    if not isinstance(holder, dict):
        return None
    deep_enough = len(steps) > 2 or (len(steps) == 2 and steps[0] in ("scene", "world", "run", "output"))
    return (holder, last) if last in holder or deep_enough else None


def load(source: Union[str, "os.PathLike[str]"]) -> Scene:
    """Loads a scene: a built-in one by its name, or a file."""
    return Scene._load(os.fspath(source))


def scenes() -> Dict[str, str]:
    """The built-in scenes: names, and what they show."""
    return dict(_dalembert.scenes_built_in())
