"""Signals, forces and controllers written in Python.

A callback is asked in every evaluation of the equations, so it costs far more than a formula: use a signal of another kind where one fits, and
``vectorised=True`` where the function can take arrays. Derivatives that are not given are differences.
"""

from __future__ import annotations

from typing import Any, Callable, List, NamedTuple, Sequence

import numpy as np

from .arrays import Array, row
from .errors import ArgumentTypeError, WrongAnswer

__all__ = ["ForceCallback", "Places", "SignalCallback"]

#: Numbers of one marker: position, velocity, rotation matrix, angular velocity.
_MARKER = 18


class Places(NamedTuple):
    """The motion of the markers of a force, in the world frame. With ``vectorised=True`` there is one more axis in front, for the samples."""

    #: Positions in m, one row for each marker.
    r: Array
    #: Velocities in m/s.
    v: Array
    #: Rotation matrices, marker frame to world frame.
    rotation: Array
    #: Angular velocities in rad/s.
    omega: Array


class SignalCallback:
    """A function of time as a signal."""

    def __init__(
        self,
        function: Callable[..., Any],
        derivatives: Sequence[Callable[..., Any]] = (),
        vectorised: bool = False,
    ) -> None:
        for one in (function, *derivatives):
            if not callable(one):
                raise ArgumentTypeError(f"a callback must be a function, not {type(one).__name__}")
        self.function = function
        self.derivatives = tuple(derivatives)
        self.vectorised = vectorised

    @property
    def orders(self) -> int:
        """How many derivatives are given."""
        return len(self.derivatives)

    def values(self, times: Array) -> Array:
        """The values at all these times."""
        if not self.vectorised:
            return np.array([_number(self.function(float(time))) for time in times], dtype=np.float64)
        answer = _numbers(self.function(times))
        if answer.shape not in ((), times.shape):
            raise WrongAnswer(f"the function gave an array of shape {answer.shape} for times of shape {times.shape}")
        return np.ascontiguousarray(np.broadcast_to(answer, times.shape))

    def derivative(self, order: int, time: float) -> float:
        """A derivative that is given."""
        function = self.derivatives[order - 1]
        if self.vectorised:
            answer = _numbers(function(np.array([time])))
            if answer.size != 1:
                raise WrongAnswer(f"the derivative gave an array of shape {answer.shape} for one time")
            return float(answer.reshape(-1)[0])
        return _number(function(time))


class ForceCallback:
    """A law of forces on markers: ``function(t, places)``, or ``function(t, places, x)`` if it has states.

    It gives a force for each marker, or force and torque (six numbers), in the world frame; with states a pair of these and the rates of the states.
    """

    def __init__(
        self, function: Callable[..., Any], states: Sequence[float] = (), vectorised: bool = False
    ) -> None:
        if not callable(function):
            raise ArgumentTypeError(f"a callback must be a function, not {type(function).__name__}")
        self.function = function
        given = list(states)
        self.states: List[float] = row("states", given, len(given)).tolist() if given else []
        self.vectorised = vectorised

    def evaluate(self, data: Array, markers: int) -> Array:
        """Wrenches and rates for each sample, a row."""
        if self.vectorised:
            return self._answer(data, markers, data.shape[0])
        return np.concatenate([self._answer(row[np.newaxis], markers, 1) for row in data])

    def _answer(self, data: Array, markers: int, count: int) -> Array:
        states = len(self.states)
        times, x = data[:, 0], data[:, 1 : 1 + states]
        motion = data[:, 1 + states :].reshape(count, markers, _MARKER)
        rotation = motion[..., 6:15].reshape(count, markers, 3, 3)
        places = Places(motion[..., 0:3], motion[..., 3:6], rotation, motion[..., 15:18])
        if self.vectorised:
            answer = self.function(times, places, x) if states else self.function(times, places)
        else:
            one = Places(*(part[0] for part in places))
            answer = self.function(float(times[0]), one, x[0]) if states else self.function(float(times[0]), one)
        rates: Any = ()
        if states:
            try:
                answer, rates = answer
            except (TypeError, ValueError):
                raise WrongAnswer("a law with states gives a pair: forces, and the rates of its states") from None
        out = np.zeros((count, 6 * markers + states))
        out[:, : 6 * markers] = _wrenches(answer, count, markers)
        if states:
            out[:, 6 * markers :] = self._rates(rates, count)
        return out


    def _rates(self, rates: Any, count: int) -> Array:
        """The rates of the states, a row for each sample."""
        given, states = _numbers(rates), len(self.states)
        known = [(count, states)] + ([(states,)] if count == 1 else []) + ([(count,)] if states == 1 else [])
        if given.shape not in known and not (given.shape == () and count == states == 1):
            samples = f" and {count} samples" if count > 1 else ""
            raise WrongAnswer(f"the law gave rates of shape {given.shape}; expected {states} for its states{samples}")
        return given.reshape(count, states)


def _wrenches(answer: Any, count: int, markers: int) -> Array:
    given = _numbers(answer)
    out = np.zeros((count, markers, 6))
    width = given.shape[-1] if given.ndim else 0
    if width in (3, 6) and given.size == count * markers * width:
        out[..., :width] = given.reshape(count, markers, width)
    else:
        raise WrongAnswer(
            f"the law gave an array of shape {given.shape}; expected 3 or 6 numbers for each of {markers} markers"
            + (f" and {count} samples" if count > 1 else "")
        )
    return out.reshape(count, 6 * markers)


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise WrongAnswer(f"the function gave {value!r}, which is not a number") from None


def _numbers(answer: Any) -> Array:
    try:
        return np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        raise WrongAnswer(f"the function gave {answer!r}, which is not an array of numbers") from None
