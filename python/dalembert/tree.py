"""Trees of links: robots and chains in minimal coordinates, with recursive algorithms on tables of states."""

from __future__ import annotations

import os
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _dalembert
from .arrays import Array, table, unpack
from .errors import RobotError

__all__ = ["Derivatives", "Place", "Tree", "load_robot"]


class Derivatives(NamedTuple):
    """Derivatives of inverse or forward dynamics. Those by q are along increments of the configuration."""

    q: Array
    v: Array
    #: Of forward dynamics only: the inverse of the mass matrix.
    tau: Optional[Array]


class Place(NamedTuple):
    """Where a point of a link is and how it moves, in the world frame."""

    position: Array
    rotation: Array
    velocity: Array
    omega: Array


class Tree:
    """A tree of links. States are arrays with one row each, or a single row; ``threads`` shares the rows out, without a change in any bit.

    Forces of the joints themselves (damping, springs, stops) are not part of inverse and forward dynamics; :meth:`passive` gives them.
    """

    def __init__(self, native: _dalembert.Tree) -> None:
        self._native = native
        self.coordinate_names: List[str]
        self.velocity_names: List[str]
        self.links: List[str]
        self.coordinate_names, self.velocity_names, self.links = native.names()

    def __reduce__(self) -> Tuple[Any, ...]:
        return Tree, (self._native,)

    def __repr__(self) -> str:
        return f"<tree of {len(self.links)} links with {len(self.velocity_names)} velocities>"

    @property
    def initial(self) -> Array:
        """The coordinates at the start."""
        return np.array(self._native.initial())

    def _ask(
        self,
        quantity: str,
        q: Any,
        v: Any = None,
        given: Any = None,
        link: Optional[str] = None,
        point: Sequence[float] = (0.0, 0.0, 0.0),
        threads: int = 1,
        name: str = "tau",
    ) -> Tuple[Array, bool]:
        n = len(self.velocity_names)
        positions, single = table("q", q, len(self.coordinate_names))
        rows = positions.shape[0]
        speeds = np.zeros((rows, n)) if v is None else table("v", v, n, rows)[0]
        more = speeds if given is None else table(name, given, n, rows)[0]
        if link is not None and link not in self.links:
            raise ValueError(f"there is no link `{link}`; there are {', '.join(self.links)}")
        x, y, z = (float(c) for c in point)
        found = self._native.evaluate(quantity, positions, speeds, more, link, (x, y, z), max(1, int(threads)))
        return found, single

    def mass_matrix(self, q: Any, *, threads: int = 1) -> Array:
        """M(q)."""
        n = len(self.velocity_names)
        found, single = self._ask("mass-matrix", q, threads=threads)
        return unpack(found, single, n, n)

    def inverse_dynamics(self, q: Any, v: Any, a: Any, *, threads: int = 1) -> Array:
        """The forces for given accelerations."""
        found, single = self._ask("inverse-dynamics", q, v, a, threads=threads, name="a")
        return unpack(found, single, found.shape[1])

    def forward_dynamics(self, q: Any, v: Any, tau: Any, *, threads: int = 1) -> Array:
        """The accelerations under given forces."""
        found, single = self._ask("forward-dynamics", q, v, tau, threads=threads)
        return unpack(found, single, found.shape[1])

    def bias(self, q: Any, v: Any, *, threads: int = 1) -> Array:
        """The forces at zero accelerations: centrifugal, gyroscopic and weight."""
        found, single = self._ask("bias", q, v, threads=threads)
        return unpack(found, single, found.shape[1])

    def passive(self, q: Any, v: Any, *, threads: int = 1) -> Array:
        """The forces of the joints themselves: damping, friction, springs, stops."""
        found, single = self._ask("passive", q, v, threads=threads)
        return unpack(found, single, found.shape[1])

    def inverse_derivatives(self, q: Any, v: Any, a: Any, *, threads: int = 1) -> Derivatives:
        """∂τ/∂q and ∂τ/∂v."""
        n = len(self.velocity_names)
        found, single = self._ask("inverse-derivatives", q, v, a, threads=threads, name="a")
        parts = unpack(found, single, 2, n, n)
        return Derivatives(parts[..., 0, :, :], parts[..., 1, :, :], None)

    def forward_derivatives(self, q: Any, v: Any, tau: Any, *, threads: int = 1) -> Derivatives:
        """∂a/∂q, ∂a/∂v and ∂a/∂τ."""
        n = len(self.velocity_names)
        found, single = self._ask("forward-derivatives", q, v, tau, threads=threads)
        parts = unpack(found, single, 3, n, n)
        return Derivatives(parts[..., 0, :, :], parts[..., 1, :, :], parts[..., 2, :, :])

    def jacobian(self, link: str, q: Any, point: Sequence[float] = (0.0, 0.0, 0.0), *, threads: int = 1) -> Array:
        """The Jacobian of a point of a link: velocity in the first three rows, angular velocity in the last three."""
        found, single = self._ask("jacobian", q, link=link, point=point, threads=threads)
        return unpack(found, single, 6, len(self.velocity_names))

    def jacobian_rate(
        self, link: str, q: Any, v: Any, point: Sequence[float] = (0.0, 0.0, 0.0), *, threads: int = 1
    ) -> Array:
        """The rate of that Jacobian."""
        found, single = self._ask("jacobian-rate", q, v, link=link, point=point, threads=threads)
        return unpack(found, single, 6, len(self.velocity_names))

    def place(
        self, link: str, q: Any, v: Any = None, point: Sequence[float] = (0.0, 0.0, 0.0), *, threads: int = 1
    ) -> Place:
        """Position, rotation, velocity and angular velocity of a point of a link."""
        found, single = self._ask("place", q, v, link=link, point=point, threads=threads)
        row = unpack(found, single, 18)
        rotation = row[..., 3:12].reshape((*row.shape[:-1], 3, 3))
        return Place(row[..., 0:3], rotation, row[..., 12:15], row[..., 15:18])

    def energy(self, q: Any, v: Any, *, threads: int = 1) -> Array:
        """Kinetic and potential energy."""
        found, single = self._ask("energy", q, v, threads=threads)
        return unpack(found, single, 2)

    def momentum(self, q: Any, v: Any, *, threads: int = 1) -> Array:
        """Centre of mass, momentum, and angular momentum about the centre: three numbers each."""
        found, single = self._ask("momentum", q, v, threads=threads)
        return unpack(found, single, 3, 3)


def load_robot(path: Union[str, "os.PathLike[str]"], *, free: bool = False) -> Tree:
    """The tree of a robot file: URDF, MJCF or SDF. ``free`` lets its base move."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        return Tree(_dalembert.tree_of_robot(text, free))
    except RobotError as error:
        raise type(error)(f"{os.fspath(path)}: {error}") from None


