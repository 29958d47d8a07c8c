"""Trees of links: robots and chains in minimal coordinates, with recursive algorithms on tables of states."""

from __future__ import annotations

import os
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np

from . import _dalembert, display
from .arrays import MOST_THREADS, Array, finite, row, table, unpack, whole
from .errors import ArgumentError, ArrayError, RobotError
from .files import read

__all__ = ["Derivatives", "Drives", "Place", "Target", "Tree", "load_robot"]


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


class Target(NamedTuple):
    """Where a point of a link is wanted, how the link is to be turned, or both; one row each, or one for all. The world frame, m."""

    link: str
    position: Any = None
    rotation: Any = None
    point: Sequence[float] = (0.0, 0.0, 0.0)


class Drives(NamedTuple):
    """Velocities and accelerations of a motion, and the forces of drives that make it."""

    v: Array
    a: Array
    tau: Array


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

    def _repr_html_(self) -> str:
        remark = f"{len(self.links)} links, {len(self.coordinate_names)} coordinates, {len(self.velocity_names)} velocities"
        rows = [("links", ", ".join(self.links)), ("velocities", ", ".join(self.velocity_names))]
        return display.heading("tree", remark) + display.listing(["", ""], rows)

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
            raise ArgumentError(f"there is no link `{link}`; there are {', '.join(self.links)}")
        shared = min(whole("threads", threads, 1), MOST_THREADS)
        return self._native.evaluate(quantity, positions, speeds, more, link, _point(point), shared), single

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
        all_of = unpack(found, single, 18)
        rotation = all_of[..., 3:12].reshape((*all_of.shape[:-1], 3, 3))
        return Place(all_of[..., 0:3], rotation, all_of[..., 12:15], all_of[..., 15:18])

    def inverse_kinematics(
        self, targets: Union[Target, Sequence[Target]], *, start: Any = None, tolerance: float = 1e-9
    ) -> Array:
        """Configurations in which points of links are where they are wanted: ``tree.inverse_kinematics(Target("hand", position=[0.3, 0, 0.5]))``.

        Every row begins where the one before it ended, the first at ``start``. Raises :class:`StudyError` if an error above ``tolerance``, in m and rad, is left.
        """
        given = [targets] if isinstance(targets, Target) else list(targets)
        wanted, counts, single = [], set(), True
        for target in given:
            if target.link not in self.links:
                raise ArgumentError(f"there is no link `{target.link}`; there are {', '.join(self.links)}")
            parts: List[Optional[Array]] = []
            for name, values, shape in [("position", target.position, (3,)), ("rotation", target.rotation, (3, 3))]:
                if values is None:
                    parts.append(None)
                    continue
                array = np.asarray(values)
                one = array.ndim == len(shape)
                if array.shape[-len(shape) :] != shape or array.ndim > len(shape) + 1:
                    expected = f"{shape} or (n, {', '.join(map(str, shape))})"
                    raise ArrayError(f"`{name}` of `{target.link}` has the shape {array.shape}, expected {expected}")
                flat = array.reshape(-1) if one else array.reshape(array.shape[0], -1)
                rows = table(f"{name} of {target.link}", flat, int(np.prod(shape)))[0]
                parts.append(rows.reshape(-1, *shape))
                single = single and one
                if not one:
                    counts.add(len(rows))
            if all(part is None for part in parts):
                raise ArgumentError(f"the target `{target.link}` needs a position or a rotation")
            wanted.append((target.link, _point(target.point), parts))
        if not wanted or len(counts) > 1:
            raise ArrayError(f"targets have {sorted(counts)} rows" if wanted else "there are no targets")
        rows_wanted = counts.pop() if counts else 1

        def spread(part: Optional[Array]) -> Any:
            flat = None if part is None else part.reshape(part.shape[0], -1)
            return None if flat is None else np.ascontiguousarray(np.broadcast_to(flat, (rows_wanted, flat.shape[1])))

        begin = row("start", self.initial if start is None else start, len(self.coordinate_names)).tolist()
        native = [(link, point, spread(parts[0]), spread(parts[1])) for link, point, parts in wanted]
        found = self._native.inverse_kinematics(native, rows_wanted, begin, finite("tolerance", tolerance, positive=True))
        return unpack(found, single, len(self.coordinate_names))

    def drives(self, t: Any, q: Any) -> Drives:
        """What a motion needs that is given by configurations at rising times."""
        positions = table("q", q, len(self.coordinate_names))[0]
        times = table("t", np.asarray(t).reshape(-1, 1), 1, len(positions))[0][:, 0]
        found = self._native.motion(times.tolist(), positions).reshape(len(times), 3, len(self.velocity_names))
        return Drives(found[:, 0], found[:, 1], found[:, 2])

    def energy(self, q: Any, v: Any, *, threads: int = 1) -> Array:
        """Kinetic and potential energy."""
        found, single = self._ask("energy", q, v, threads=threads)
        return unpack(found, single, 2)

    def momentum(self, q: Any, v: Any, *, threads: int = 1) -> Array:
        """Centre of mass, momentum, and angular momentum about the centre: three numbers each."""
        found, single = self._ask("momentum", q, v, threads=threads)
        return unpack(found, single, 3, 3)


def _point(point: Any) -> Tuple[float, float, float]:
    x, y, z = row("point", point, 3).tolist()
    return x, y, z


def load_robot(path: Union[str, "os.PathLike[str]"], *, free: bool = False) -> Tree:
    """The tree of a robot file: URDF, MJCF or SDF. ``free`` lets its base move."""
    text = read(path)
    try:
        return Tree(_dalembert.tree_of_robot(text, free))
    except RobotError as error:
        raise type(error)(f"{os.fspath(path)}: {error}") from None


