"""Charts of studies as SVG: curves and dots over axes, cells over two values. They need nothing but NumPy."""

from __future__ import annotations

import html
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

import numpy as np

__all__ = ["Curve", "cells", "curves", "of_study"]

#: Colours that people tell apart, whatever the kind of their eyes (Okabe and Ito).
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]
_WIDTH, _HEIGHT = 640.0, 320.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 70.0, 150.0, 14.0, 44.0
#: More dots than these do not show more.
_MOST = 20_000


class Curve(NamedTuple):
    """Points that are joined by a line, or dots."""

    name: str
    x: Any
    y: Any
    dots: bool = False


class _Axis:
    """From values to places along an axis, with ticks at round numbers."""

    def __init__(self, values: Any, start: float, end: float, log: bool, margin: float = 0.03) -> None:
        finite = values[np.isfinite(values)]
        if log:
            finite = finite[finite > 0]
        low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
        self.log, self._start, self._end = log, start, end
        if log:
            low, high = np.log10(low) if low > 0 else 0.0, np.log10(high) if high > 0 else 1.0
        if high - low <= 1e-12 * max(abs(low), abs(high)):
            low, high = low - 0.5 * (abs(low) or 1.0), high + 0.5 * (abs(high) or 1.0)
        room = margin * (high - low)
        self.low, self.high = low - room, high + room

    def __call__(self, values: Any) -> Any:
        with np.errstate(divide="ignore", invalid="ignore"):
            position = np.log10(np.asarray(values, dtype=float)) if self.log else np.asarray(values, dtype=float)
        return self._start + (position - self.low) / (self.high - self.low) * (self._end - self._start)

    def ticks(self) -> List[Tuple[float, str]]:
        """Places and texts."""
        if self.log:
            powers = range(int(np.ceil(self.low)), int(np.floor(self.high)) + 1)
            step = max(1, len(powers) // 6)
            return [(float(self(10.0**power)), f"1e{power}") for power in list(powers)[::step]]
        raw = (self.high - self.low) / 5
        size = 10 ** np.floor(np.log10(raw))
        round_step = float(min((k * size for k in (1, 2, 5, 10)), key=lambda s: abs(s - raw)))
        first = np.ceil(self.low / round_step)
        values = [(first + k) * round_step for k in range(int(np.floor(self.high / round_step) - first) + 1)]
        return [(float(self(value)), f"{value:.10g}" if abs(value) > 1e-9 * round_step else "0") for value in values]


def _frame(across: _Axis, up: _Axis, titles: Tuple[str, str], inside: str, legend: Sequence[Tuple[str, str]]) -> str:
    """The chart around what is drawn."""
    right, bottom = _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" width="{_WIDTH:g}" height="{_HEIGHT:g}" '
        'font-family="sans-serif" font-size="12" style="max-width:100%;background:#fff;color:#222">'
    ]
    for x, text in across.ticks():
        parts.append(f'<path d="M{x:.1f} {_TOP}V{bottom}" stroke="#ddd"/><text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{text}</text>')
    for y, text in up.ticks():
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{right}" stroke="#ddd"/><text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{text}</text>')
    parts.append(inside)
    parts.append(f'<rect x="{_LEFT}" y="{_TOP}" width="{right - _LEFT}" height="{bottom - _TOP}" fill="none" stroke="#888"/>')
    middle, centre = 0.5 * (_LEFT + right), 0.5 * (_TOP + bottom)
    parts.append(f'<text x="{middle}" y="{_HEIGHT - 8}" text-anchor="middle">{html.escape(titles[0])}</text>')
    turned = f'transform="rotate(-90 14 {centre})"'
    parts.append(f'<text x="14" y="{centre}" text-anchor="middle" {turned}>{html.escape(titles[1])}</text>')
    for k, (name, colour) in enumerate(legend):
        y = _TOP + 14 + 18 * k
        short = name if len(name) <= 18 else name[:8] + "…" + name[-8:]
        parts.append(
            f'<rect x="{right + 10}" y="{y - 9}" width="10" height="10" fill="{colour}"/>'
            f'<text x="{right + 26}" y="{y}"><title>{html.escape(name)}</title>{html.escape(short)}</text>'
        )
    return "".join(parts) + "</svg>"


def curves(all_curves: Sequence[Curve], across: str, up: str, log: Tuple[bool, bool] = (False, False)) -> str:
    """Lines and dots over two axes."""
    xs = np.concatenate([np.ravel(curve.x) for curve in all_curves])
    ys = np.concatenate([np.ravel(curve.y) for curve in all_curves])
    x_axis, y_axis = _Axis(xs, _LEFT, _WIDTH - _RIGHT, log[0]), _Axis(ys, _HEIGHT - _BOTTOM, _TOP, log[1])
    drawn = []
    for k, curve in enumerate(all_curves):
        colour = COLOURS[k % len(COLOURS)]
        points = np.column_stack([x_axis(np.ravel(curve.x)), y_axis(np.ravel(curve.y))])
        points = points[np.isfinite(points).all(axis=1)]
        points = points[:: max(1, len(points) // _MOST)]
        if curve.dots:
            radius = 1.0 if len(points) > 2000 else 2.0
            path = "".join(f"M{x:.1f} {y:.1f}h0" for x, y in points)
            drawn.append(f'<path d="{path}" stroke="{colour}" stroke-width="{2 * radius}" stroke-linecap="round" fill="none"/>')
        elif len(points):
            path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
            drawn.append(f'<path d="{path}" stroke="{colour}" stroke-width="1.3" fill="none"/>')
    legend = [(curve.name, COLOURS[k % len(COLOURS)]) for k, curve in enumerate(all_curves) if curve.name]
    return _frame(x_axis, y_axis, (across, up), "".join(drawn), legend)


def cells(kinds: Any, names: Sequence[str], x: Any, y: Any, across: str, up: str) -> str:
    """Places of a grid, coloured by their kind, a row for each value upwards; those of kind -1 stay white."""
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    step = [abs(axis[1] - axis[0]) if len(axis) > 1 else 1.0 for axis in (x, y)]
    edges = [np.array([axis.min() - 0.5 * s, axis.max() + 0.5 * s]) for axis, s in zip((x, y), step)]
    x_axis = _Axis(edges[0], _LEFT, _WIDTH - _RIGHT, False, 0.0)
    y_axis = _Axis(edges[1], _HEIGHT - _BOTTOM, _TOP, False, 0.0)
    wide = (_WIDTH - _RIGHT - _LEFT) / len(x)
    high = (_HEIGHT - _BOTTOM - _TOP) / len(y)
    drawn = []
    for kind, _ in enumerate(names):
        path = []
        for j in range(len(y)):
            top = float(y_axis(y[j])) - 0.5 * high
            row = np.flatnonzero(np.diff(np.concatenate([[0], (kinds[j] == kind).astype(int), [0]])))
            # Runs of cells that are alike are one rectangle.
            for first, last in row.reshape(-1, 2):
                left = float(x_axis(x[first])) - 0.5 * wide
                path.append(f"M{left:.1f} {top:.1f}h{wide * (last - first):.1f}v{high + 0.3:.1f}h{-wide * (last - first):.1f}z")
        drawn.append(f'<path d="{"".join(path)}" fill="{COLOURS[kind % len(COLOURS)]}"/>')
    legend = [(name, COLOURS[kind % len(COLOURS)]) for kind, name in enumerate(names)]
    return _frame(x_axis, y_axis, (across, up), "".join(drawn), legend)


def of_study(kind: str, values: Any) -> Optional[str]:
    """The chart of a study, if there is something to draw."""
    maker = _MAKERS.get(kind)
    return None if maker is None else maker(values)


def _response(v: Any) -> str:
    size = np.abs(v["response"]).reshape(len(v["frequency"]), -1)
    lines = [Curve("" if size.shape[1] == 1 else f"{k + 1}", v["frequency"], size[:, k]) for k in range(size.shape[1])]
    return curves(lines, "frequency in Hz", "amplitude for a unit force", (True, True))


def _periodic(v: Any) -> str:
    lines = [Curve(name, v["time"], v["response"][:, k]) for k, name in enumerate(v["names"])]
    return curves(lines, "time in s", "response")


def _plane(values: Any, name: str, circle: bool) -> str:
    # Parts that are rounding beside the largest value are none.
    least = 1e-12 * np.abs(values).max(initial=0.0)
    values = np.where(np.abs(values.real) > least, values.real, 0.0) + 1j * np.where(np.abs(values.imag) > least, values.imag, 0.0)
    turn = np.linspace(0, 2 * np.pi, 181)
    drawn = [Curve(name, values.real, values.imag, dots=True)]
    if circle:
        drawn.append(Curve("unit circle", np.cos(turn), np.sin(turn)))
    return curves(drawn, "real part", "imaginary part")


def _cycle(v: Any) -> str:
    count = min(v["positions"].shape[1], len(COLOURS) - 1)
    drawn = [Curve(f"coordinate {k + 1}", v["positions"][:, k], v["velocities"][:, k]) for k in range(count)]
    return curves(drawn, "position", "velocity")


def _curve(v: Any) -> str:
    x, y = v["parameter"], v["states"][:, 0]
    drawn = [Curve(name, x[own], y[own], dots=True) for name, own in (("stable", v["stable"]), ("unstable", ~v["stable"]))]
    if v["special"]:
        drawn.append(Curve("special", [row["parameter"] for row in v["special"]], [row["state"][0] for row in v["special"]], True))
    return curves(drawn, v["names"][0], "first coordinate")


def _exponents(v: Any) -> str:
    history = v["history"]
    count = np.arange(1, len(history) + 1)
    drawn = [Curve(f"σ{k + 1}", count, history[:, k]) for k in range(min(history.shape[1], len(COLOURS)))]
    return curves(drawn, "batches", "exponents in 1/s")


def _points(dots: bool) -> Any:
    return lambda v: curves([Curve("", v["position"], v["velocity"], dots)], "position, from that of the start", "velocity")


def _spectrum(v: Any) -> str:
    return curves([Curve("", v["frequency"][1:], v["density"][1:])], "frequency in Hz", "spectral density", (False, True))


def _densities(v: Any) -> Optional[str]:
    if "density" not in v:
        return None
    drawn = [Curve(name, v["frequency"], v["density"][:, k]) for k, name in enumerate(v["names"][: len(COLOURS)])]
    return curves(drawn, "frequency in Hz", "spectral density of positions", (True, True))


def _along(v: Any) -> str:
    """The eigenvalues of one place, or the largest real part along a motion."""
    if "instants" not in v:
        return _plane(v["eigenvalues"], "eigenvalues in 1/s", False)
    growth = [max(one["eigenvalues"].real, default=0.0) for one in v["instants"]]
    return curves([Curve("", v["time"], np.array(growth))], "time in s", "largest real part in 1/s")


def _diagram(v: Any) -> str:
    x = np.repeat(v["parameter"], v["position"].shape[1])
    return curves([Curve("", x, v["position"].ravel(), dots=True)], v["names"][0], f"position of {v['names'][1]} once a period")


def _chart(v: Any) -> str:
    growth = v["growth"]
    kinds = np.where(np.isnan(growth), -1, np.where(growth <= 1e-6, 0, 1))
    return cells(kinds, ["stable", "unstable"], v["across"], v["up"], *v["names"])


def _basin(v: Any) -> str:
    kinds = np.full(v["end"].shape, -1)
    ends: List[float] = []
    for place, end in np.ndenumerate(v["end"]):
        if np.isnan(end):
            continue
        # Ends that differ by less than a thousandth are the same.
        known = next((k for k, own in enumerate(ends) if abs(own - end) <= 1e-3 * (1 + abs(own))), None)
        if known is None and len(ends) < len(COLOURS):
            ends.append(float(end))
            known = len(ends) - 1
        kinds[place] = -1 if known is None else known
    return cells(kinds, [f"{end:.4g}" for end in ends], v["across"], v["up"], *v["names"])


def _work(v: Any) -> str:
    """Errors of the first channel over what is varied, of the first comparison."""
    one = v["comparisons"][0]
    method, varied, log = np.array(one["method"]), np.array(one["varied"]), bool(one["logarithmic"])
    drawn = []
    for name in one["methods"]:
        # Runs that failed have no time, and what they have of errors says nothing.
        own = np.flatnonzero((method == name) & (varied == one["vary"]) & np.isfinite(one["seconds"]))
        own = own[np.argsort(one["value"][own])]
        drawn.append(Curve(name, one["value"][own], one["errors"][own, 0]))
    unit = f" in {one['units'][0]}" if one["units"][0] else ""
    return curves(drawn, one["vary"].split(".")[-1], f"error of {one['channels'][0]}{unit}", (log, True))


_MAKERS = {
    "linearise": _along,
    "modes": lambda v: _plane(v["eigenvalues"], "eigenvalues in 1/s", False),
    "frequency-response": _response,
    "periodic-response": _periodic,
    "covariance": _densities,
    "floquet": lambda v: _plane(v["multipliers"], "multipliers", True),
    "limit-cycle": _cycle,
    "continuation": _curve,
    "lyapunov": _exponents,
    "poincare": _points(True),
    "portrait": _points(False),
    "spectrum": _spectrum,
    "bifurcation": _diagram,
    "chart": _chart,
    "basin": _basin,
    "work-precision": _work,
}
