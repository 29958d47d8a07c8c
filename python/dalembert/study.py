"""Studies of a model: what they have found, by name."""

from __future__ import annotations

from typing import Any, Dict, Iterator, Mapping

import numpy as np

from . import display

__all__ = ["Study"]


class Study(Mapping[str, Any]):
    """The results of a study: numbers and arrays by name, also as attributes."""

    def __init__(self, kind: str, of: str, values: Dict[str, Any]) -> None:
        self._kind = kind
        self._of = of
        self._values = values

    @property
    def kind(self) -> str:
        """The study, as the command line calls it."""
        return self._kind

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_"):
            raise AttributeError(key)
        try:
            return self._values[key]
        except KeyError:
            known = ", ".join(self._values)
            raise AttributeError(f"the study `{self._kind}` has no `{key}`; it has {known}") from None

    def __dir__(self) -> Iterator[str]:
        return iter([*super().__dir__(), *self._values])

    def __repr__(self) -> str:
        return f"<study {self._kind} of {self._of}: {', '.join(self._values)}>"

    def _repr_html_(self) -> str:
        rows = [(name, _short(value)) for name, value in self._values.items()]
        return display.heading(f"{self._kind} of {self._of}") + display.listing(["", ""], rows)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=5, threshold=24, edgeitems=3)
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return display.number(value)
