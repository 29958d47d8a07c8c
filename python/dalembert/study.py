"""Studies of a model: what they have found, by name."""

from __future__ import annotations

from typing import Any, Dict, Iterator, Mapping, Optional, Tuple

import numpy as np

from . import _dalembert, charts, display

__all__ = ["Study", "studies"]


def studies() -> Dict[str, str]:
    """The studies of models: names, and what they tell."""
    return dict(_dalembert.studies())


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

    def __reduce__(self) -> Tuple[Any, ...]:
        return Study, (self._kind, self._of, self._values)

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
        # What is empty, as the further states of most models, says nothing.
        told = [(name, value) for name, value in self._values.items() if np.size(value)]
        # Along curves of cycles eigenvalues are multipliers.
        known = {} if self._kind == "continuation" else UNITS
        rows = [(name, _short(value), known.get(name, "")) for name, value in told]
        picture = self.plot()
        shown = [] if picture is None else [picture.svg]
        return display.heading(f"{self._kind} of {self._of}") + display.listing(["", "", ""], rows) + display.figures(shown)

    def plot(self) -> Optional[display.Picture]:
        """The chart of the study, if there is something to draw."""
        svg = charts.of_study(self._kind, self._values)
        return None if svg is None else display.Picture(svg, f"{self._kind} of {self._of}")


#: Units of results that have the same in all studies; those of coordinates are told by the scene.
UNITS = {
    "squared": "1/s²",
    "frequencies": "rad/s",
    "eigenvalues": "1/s",
    "frequency": "Hz",
    "time": "s",
    "period": "s",
    "exponents": "1/s",
    "errors": "1/s",
    "gap": "m",
    "press": "N",
    "friction": "N",
}

#: Arrays with more numbers than these are told by their shape and range.
_FEW = 12


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > _FEW:
        shape = " × ".join(map(str, value.shape))
        if value.dtype.kind != "f" or not np.isfinite(value).any():
            return f"{shape} {value.dtype.name}"
        missing = int(np.isnan(value).sum())
        return f"{shape} numbers from {np.nanmin(value):.5g} to {np.nanmax(value):.5g}" + (f", {missing} missing" if missing else "")
    if isinstance(value, np.ndarray):
        # Minus zero is zero.
        return np.array2string(value + 0 if value.dtype.kind in "fc" else value, precision=5)
    if isinstance(value, list) and value and isinstance(value[0], dict):
        if "orders" in value[0]:
            return "; ".join(map(_compared, value))
        if "kind" not in value[0]:
            return f"{len(value)} dictionaries of {', '.join(value[0])}"
        return "; ".join(f"{row['kind']} at {display.number(row.get('parameter', ''))}" for row in value)
    if isinstance(value, list):
        return "; ".join(map(str, value))
    return display.number(value)


def _compared(one: Dict[str, Any]) -> str:
    """A comparison of integrators in a line: how many runs, and the orders in the first channel."""
    failed = sum(1 for fault in one["faults"] if fault)
    told = f"{one['name']}: {len(one['value'])} runs" + (f", {failed} failed" if failed else "")
    orders = [f"{name} {order:.2f}" for name, order in zip(one["methods"], one["orders"][:, 0]) if np.isfinite(order)]
    return told + (f"; orders in {one['channels'][0]}: {' · '.join(orders)}" if one["logarithmic"] and orders else "")
