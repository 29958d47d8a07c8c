"""Tables of states: from whatever looks like numbers to arrays that the equations can read."""

from __future__ import annotations

from typing import Any, Optional, Tuple

import numpy as np
import numpy.typing as npt

from .errors import ArgumentError, ArgumentTypeError, ArrayError, ArrayTypeError

__all__ = ["MOST_THREADS", "Array", "finite", "row", "table", "unpack", "whole"]

Array = npt.NDArray[np.float64]

#: More threads than these are not started, whatever is asked for.
MOST_THREADS = 256


def table(name: str, values: Any, columns: int, rows: Optional[int] = None) -> Tuple[Array, bool]:
    """An array of rows with ``columns`` numbers each, and whether a single row was given."""
    try:
        given = np.asarray(values)
    except ValueError as error:
        raise ArrayError(f"`{name}` is not an array of numbers: {error}") from None
    if given.dtype.kind not in "fiub":
        raise ArrayTypeError(f"`{name}` must be an array of real numbers, not of {given.dtype}")
    single = given.ndim == 1
    array = np.ascontiguousarray(given.reshape(1, -1) if single else given, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != columns:
        expected = f"({columns},) or (n, {columns})"
        raise ArrayError(f"`{name}` has the shape {given.shape}, expected {expected}")
    if rows is not None and array.shape[0] != rows:
        raise ArrayError(f"`{name}` has {array.shape[0]} rows where {rows} are expected")
    if not np.isfinite(array).all():
        row, column = (int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ArrayError(f"`{name}` is {array[row, column]} in row {row}, column {column}; all numbers must be finite")
    return array, single


def row(name: str, values: Any, columns: int) -> Array:
    """A single row of numbers."""
    array, single = table(name, values, columns)
    if not single:
        raise ArrayError(f"`{name}` has the shape {array.shape}, expected ({columns},)")
    first: Array = array[0]
    return first


def finite(name: str, value: Any, *, positive: bool = False) -> float:
    """A number that is finite, and above zero if it must be."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"`{name}` must be a number, not {value!r}") from None
    if not np.isfinite(number) or (positive and number <= 0.0):
        raise ArrayError(f"`{name}` is {number}; it must be finite" + (" and positive" if positive else ""))
    return number


def whole(name: str, value: Any, least: int) -> int:
    """A whole number that is not below another."""
    try:
        number = value.__index__()
    except AttributeError:
        raise ArgumentTypeError(f"`{name}` must be a whole number, not {type(value).__name__}") from None
    if number < least:
        raise ArgumentError(f"`{name}` must be {least} or more, not {number}")
    return int(number)


def unpack(result: Array, single: bool, *shape: int) -> Array:
    """The rows of a result in their shape; the row itself if a single one was asked for."""
    whole = result.reshape((result.shape[0], *shape))
    return whole[0] if single else whole
