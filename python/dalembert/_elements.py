"""Adding elements to a scene, with the kinds and keys that the registry knows. Types of all keys are in ``_elements.pyi``, which is made from it."""

from __future__ import annotations

import difflib
import json
from functools import lru_cache
from keyword import iskeyword
from typing import Any, Dict, List, Optional, Sequence, Union

from . import _dalembert
from .arrays import Array
from .errors import SceneError

__all__ = ["Elements", "Number", "Numbers", "registry"]

#: A number, or a formula as ``"= 2*length"``.
Number = Union[float, str]
Numbers = Union[Sequence[Any], Array]

#: Keys of callbacks, which only Python can give.
_CALLBACK = {"function", "derivatives", "vectorised", "states", "at", "markers", "kind"}


@lru_cache(maxsize=None)
def registry() -> Dict[str, Any]:
    """Everything that can be said in a scene: kinds of elements with keys, units, defaults and meanings, and the JSON Schema."""
    known: Dict[str, Any] = json.loads(_dalembert.registry())
    return known


@lru_cache(maxsize=None)
def _keys(section: str) -> Dict[Optional[str], List[str]]:
    """The keys of every kind of a section; entries of sections without kinds have those of ``None``."""
    choices = registry()["schema"]["properties"][section]["additionalProperties"]
    every = choices.get("oneOf") or choices.get("anyOf") or [choices]
    return {entry["properties"].get("kind", {}).get("const"): list(entry["properties"]) for entry in every}


def _check(section: str, name: str, keys: Dict[str, Any]) -> None:
    """Refuses kinds and keys that do not exist, at the line that gives them."""
    kinds = _keys(section)
    kind = keys.get("kind")
    if None in kinds:
        known: Any = kinds[None]
    elif kind == "callback" and section in ("signal", "force"):
        known = _CALLBACK
    elif kind in kinds:
        known = kinds[kind]
    else:
        raise SceneError(f"{section}.{name}: unknown kind `{kind}`{_hint(str(kind), kinds)}")
    for key in keys:
        if key not in known:
            raise SceneError(f"{section}.{name}: unknown key `{key}`{_hint(key, known)}")


def _hint(word: str, known: Any) -> str:
    known = [name for name in known if name is not None]
    near = difflib.get_close_matches(word, known, 1)
    return f" (did you mean `{near[0]}`?)" if near else f" (expected one of {', '.join(sorted(known))})"


class Elements:
    """The methods that add elements; every one gives the table it has made. Keys that are words of Python get a line behind them: ``from_=0``."""

    def _add(self, section: str, name: str, keys: Dict[str, Any]) -> Any:
        raise NotImplementedError

    def _element(self, section: str, name: str, keys: Dict[str, Any]) -> Any:
        plain = {key[:-1] if key[-1:] == "_" and iskeyword(key[:-1]) else key: value for key, value in keys.items()}
        _check(section, name, plain)
        return self._add(section, name, plain)

    def body(self, name: str, *, kind: str, **keys: Any) -> Any:
        """Adds a body."""
        return self._element("body", name, {"kind": kind, **keys})

    def joint(self, name: str, *, kind: str, **keys: Any) -> Any:
        """Adds a joint."""
        return self._element("joint", name, {"kind": kind, **keys})

    def constraint(self, name: str, *, kind: str, **keys: Any) -> Any:
        """Adds a constraint."""
        return self._element("constraint", name, {"kind": kind, **keys})

    def contact(self, name: str, *, kind: str, **keys: Any) -> Any:
        """Adds a contact."""
        return self._element("contact", name, {"kind": kind, **keys})

    def force(self, name: str, *, kind: str, **keys: Any) -> Any:
        """Adds a force; ``kind="callback"`` takes its law from a ``function`` (see :class:`dalembert.ForceCallback`)."""
        return self._element("force", name, {"kind": kind, **keys})

    def signal(self, name: str, *, kind: str, **keys: Any) -> Any:
        """Adds a signal; ``kind="callback"`` takes its values from a ``function`` of time (see :class:`dalembert.SignalCallback`)."""
        return self._element("signal", name, {"kind": kind, **keys})

    def assembly(self, name: str, *, kind: str, **keys: Any) -> Any:
        """Adds an assembly: many elements from a few numbers."""
        return self._element("assembly", name, {"kind": kind, **keys})

    def marker(self, name: str, **keys: Any) -> Any:
        """Adds a marker: ``scene.marker("tip", body="arm", at=[0, 0, 1])``."""
        return self._element("marker", name, keys)

    def event(self, name: str, *, channel: str, **keys: Any) -> Any:
        """Adds an event: an instant at which a channel crosses a level."""
        return self._element("event", name, {"channel": channel, **keys})

    def panel(self, name: str, *, channels: Sequence[str], **keys: Any) -> Any:
        """Adds a panel to the report: channels over time."""
        return self._element("panel", name, {"channels": channels, **keys})

    def shapes(self, name: str, *, times: Sequence[Any], **keys: Any) -> Any:
        """Adds a picture to the report: the shapes of bodies at some instants."""
        return self._element("shapes", name, {"times": times, **keys})
