"""Models: what a scene describes, ready to run and to be asked."""

from __future__ import annotations

import itertools
import os
import warnings
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _dalembert, display
from .arrays import MOST_THREADS, Array, finite, row, table, unpack, whole
from .errors import ArgumentError, ArgumentTypeError, CallbackError, Interrupted, LedgerError, RunFailed, StudyInterrupted
from .files import keeping
from .progress import Progress, StudyProgress, watcher
from .study import Study
from .tree import Tree

if TYPE_CHECKING:
    from .run import Run

__all__ = ["Accelerations", "Changes", "Element", "Model", "State"]


#: More elements of a kind than these, one after the other, are shown as one row.
_ALIKE = 6


class State(NamedTuple):
    """Where a model is: time in s, coordinates, velocities and extra states."""

    t: float
    q: Array
    v: Array
    x: Array


class Element(NamedTuple):
    """An element of a model."""

    section: str
    name: str
    kind: str
    markers: List[str]


class Accelerations(NamedTuple):
    """Accelerations and multipliers of constraints."""

    a: Array
    multipliers: Array


class Changes(NamedTuple):
    """Derivatives of the accelerations by coordinates (along increments) and velocities."""

    q: Array
    v: Array


class Model:
    """A mechanical system with the settings of its run.

    Functions of states take arrays with one row for each state, or a single row, and compute all rows in one call without the interpreter;
    ``threads`` shares the rows out, without a change in any bit. Contacts and dry friction take no part in them: they need a history.
    """

    def __init__(self, native: _dalembert.Model) -> None:
        self._native = native
        self.n_coordinates: int
        self.n_velocities: int
        self.n_states: int
        self.n_rows: int
        self.n_contacts: int
        self.n_coordinates, self.n_velocities, self.n_states, self.n_rows, self.n_contacts = native.shape
        self.coordinate_names: List[str]
        self.velocity_names: List[str]
        self.row_names: List[str]
        self.coordinate_names, self.velocity_names, self.row_names = native.names()

    def __reduce__(self) -> Tuple[Any, ...]:
        return Model, (self._native,)

    @property
    def name(self) -> str:
        """The short name, which records carry."""
        return self._native.name

    @property
    def title(self) -> str:
        """The title of the scene."""
        return self._native.title

    @property
    def elements(self) -> List[Element]:
        """Everything that the model is made of."""
        return [Element(*element) for element in self._native.elements()]

    @property
    def initial(self) -> State:
        """The state at the start."""
        t, q, v, x = self._native.initial()
        return State(t, np.array(q), np.array(v), np.array(x))

    def to_toml(self) -> str:
        """The scene with everything computed, as records keep it."""
        return self._native.to_toml()

    def tree(self, name: Optional[str] = None) -> Tree:
        """The tree of links of this name, or the only one."""
        return Tree(_dalembert.tree_of(self._native, name))

    # ------------------------------------------------------------------ runs

    def run(
        self,
        *,
        progress: Progress = None,
        out: Union[str, "os.PathLike[str]", None] = None,
        resume: Union["Run", str, "os.PathLike[str]", None] = None,
        start: Union[State, "Run", None] = None,
        checkpoint_every: float = 60.0,
        check: bool = True,
    ) -> "Run":
        """Runs the model and gives the run; the interpreter is free meanwhile.

        ``progress``: ``True`` and ``False`` show and hide a bar, a function is called with time and steps a few times a second and ends the run by
        ``False``. ``out`` writes the folder that ``dalembert run`` writes. ``resume`` continues a run that was interrupted, or the one in a folder.
        ``start`` begins at another state. A run that fails raises :class:`RunFailed`, one that is interrupted :class:`Interrupted`; both have what was
        computed in ``run``. With ``check=False`` it is given back instead.
        """
        from .run import Run

        bar = watcher(progress, self._native.span, self.title or self.name)
        function = progress if callable(progress) else bar
        checkpoint = resume._alive().checkpoint() if isinstance(resume, Run) else None
        if isinstance(resume, Run) and checkpoint is None:
            raise ArgumentError("this run has come to its end; there is nothing to resume")
        folder = os.fspath(resume) if resume is not None and not isinstance(resume, Run) else None
        state = start.final_state if isinstance(start, Run) else start
        if not (state is None or isinstance(state, State)):
            raise ArgumentTypeError(f"`start` must be a State or a Run, not {type(state).__name__}")
        begin = None if state is None else self._state(state)
        place = None if out is None else os.fspath(out)
        try:
            native, how, error = self._native.run(function, checkpoint, folder, begin, place, float(checkpoint_every))
        finally:
            if bar is not None:
                bar.close()
        run = Run(native)
        if place is not None:
            with keeping(run):
                run.write(place)
        if not check:
            return run
        if how == "interrupted":
            raise Interrupted(f"interrupted at t = {run.final_state.t} s; resume=… continues from there", run) from None
        if error is not None:
            raise _failed(how, error, run)
        return run

    def _state(self, state: State) -> Tuple[float, List[float], List[float], List[float]]:
        sizes = {"q": self.n_coordinates, "v": self.n_velocities, "x": self.n_states}
        lists = [row(name, getattr(state, name), size).tolist() for name, size in sizes.items()]
        return finite("t", state.t), lists[0], lists[1], lists[2]

    def study(self, kind: str, *, progress: StudyProgress = None, **options: Any) -> Study:
        """A study of the command line by its name, with its options: ``model.study("modes")``, ``model.study("lyapunov", interval=0.5)``.

        Where the command line reads ``NAME=VALUE`` there is a dictionary here, and a list where an option may be repeated: ``noise={"x": 1.0}``,
        ``across={"parameters.a": (0, 4)}``, ``strike=["left", "right"]``. ``from`` is written ``from_``. ``progress``: ``True`` and ``False`` show and hide a
        bar, a function is called with steps done and all of them, and ends the study by ``False``.

        Raises :class:`StudyError` if there is no answer, :class:`StudyInterrupted` after Ctrl-C, with what was computed.
        """
        kind = kind.replace("_", "-")
        named = {name.rstrip("_"): value for name, value in options.items()}
        bar = watcher(progress if not callable(progress) else False, (0.0, 1.0), f"{kind} of {self.name}")
        function = progress if callable(progress) else None if bar is None else bar.count
        try:
            values, whole = _dalembert.study(self._native, kind, named, function)
        finally:
            if bar is not None:
                bar.close()
        study = None if values is None else Study(kind, self.name, values)
        if study is None or not whole:
            raise StudyInterrupted(f"{kind} of {self.name}: interrupted", study) from None
        return study

    # ------------------------------------------------- functions of states

    def _ask(
        self, quantity: str, q: Any, v: Any, given: Any, x: Any, t: float, threads: int, name: str = "tau"
    ) -> Tuple[Array, bool]:
        positions, single = table("q", q, self.n_coordinates)
        rows = positions.shape[0]
        zeros = np.zeros((rows, self.n_velocities))
        speeds = zeros if v is None else table("v", v, self.n_velocities, rows)[0]
        more = zeros if given is None else table(name, given, self.n_velocities, rows)[0]
        states = None if x is None else table("x", x, self.n_states, rows)[0]
        time, shared = finite("t", t), min(whole("threads", threads, 1), MOST_THREADS)
        return _dalembert.evaluate(self._native, quantity, positions, speeds, more, states, time, shared), single

    def mass_matrix(self, q: Any, *, threads: int = 1) -> Array:
        """M(q)."""
        found, single = self._ask("mass_matrix", q, None, None, None, self.initial.t, threads)
        return unpack(found, single, self.n_velocities, self.n_velocities)

    def forces(self, q: Any, v: Any, *, x: Any = None, t: float = 0.0, threads: int = 1) -> Array:
        """The generalised forces, gyroscopic terms included."""
        found, single = self._ask("forces", q, v, None, x, t, threads)
        return unpack(found, single, self.n_velocities)

    def inverse_dynamics(self, q: Any, v: Any, a: Any, *, x: Any = None, t: float = 0.0, threads: int = 1) -> Array:
        """The further forces that accelerations need: M a − f."""
        found, single = self._ask("inverse_dynamics", q, v, a, x, t, threads, "a")
        return unpack(found, single, self.n_velocities)

    def forward_dynamics(
        self, q: Any, v: Any, tau: Any = None, *, x: Any = None, t: float = 0.0, threads: int = 1
    ) -> Accelerations:
        """Accelerations under all forces and further ones ``tau``, with the multipliers of constraints."""
        found, single = self._ask("forward_dynamics", q, v, tau, x, t, threads)
        both = unpack(found, single, found.shape[1])
        return Accelerations(both[..., : self.n_velocities], both[..., self.n_velocities :])

    def derivatives(self, q: Any, v: Any, *, x: Any = None, t: float = 0.0, threads: int = 1) -> Changes:
        """Exact derivatives of the accelerations, constraints included."""
        n = self.n_velocities
        found, single = self._ask("derivatives", q, v, None, x, t, threads)
        parts = unpack(found, single, 2, n, n)
        return Changes(parts[..., 0, :, :], parts[..., 1, :, :])

    def constraint_jacobian(self, q: Any, *, t: float = 0.0, threads: int = 1) -> Array:
        """The Jacobian of all constraint rows."""
        found, single = self._ask("constraint_jacobian", q, None, None, None, t, threads)
        return unpack(found, single, self.n_rows, self.n_velocities)

    def constraint_residuals(self, q: Any, v: Any, *, t: float = 0.0, threads: int = 1) -> Array:
        """Residuals of positions, then of velocities."""
        found, single = self._ask("constraint_residuals", q, v, None, None, t, threads)
        return unpack(found, single, found.shape[1])

    def energy(self, q: Any, v: Any, *, x: Any = None, t: float = 0.0, threads: int = 1) -> Array:
        """Kinetic and potential energy."""
        found, single = self._ask("energy", q, v, None, x, t, threads)
        return unpack(found, single, 2)

    def momentum(self, q: Any, v: Any, *, threads: int = 1) -> Array:
        """Momentum, and angular momentum about the origin: three numbers each."""
        found, single = self._ask("momentum", q, v, None, None, 0.0, threads)
        return unpack(found, single, 2, 3)

    # --------------------------------------------------------------- display

    def __repr__(self) -> str:
        return (
            f"<model {self.name}: {self.n_velocities} velocities, {self.n_rows} constraint rows, "
            f"{self.n_contacts} contacts>"
        )

    def _repr_html_(self) -> str:
        sizes: Dict[str, int] = {
            "coordinates": self.n_coordinates,
            "velocities": self.n_velocities,
            "extra states": self.n_states,
            "constraint rows": self.n_rows,
            "contacts": self.n_contacts,
        }
        remark = ", ".join(f"{count} {name}" for name, count in sizes.items() if count)
        rows: List[Tuple[str, str, str, str]] = []
        for (section, kind), alike in itertools.groupby(self.elements, lambda e: (e.section, e.kind)):
            these = list(alike)
            if len(these) <= _ALIKE:
                rows += [(section, e.name, kind, _few(e.markers)) for e in these]
            else:
                rows.append((section, f"{these[0].name} … {these[-1].name}", f"{len(these)} × {kind}", ""))
        head = display.heading(self.title or self.name, remark)
        return head + display.listing(["section", "name", "kind", "markers"], rows)


def _few(names: List[str]) -> str:
    """Names in a row; those of many are counted."""
    return ", ".join(names) if len(names) <= _ALIKE else f"{', '.join(names[:_ALIKE])}, … ({len(names)})"


def _failed(how: str, error: BaseException, run: "Run") -> BaseException:
    """What a run that failed raises."""
    if how == "failed":
        return RunFailed(str(error), run)
    if how == "ledger":
        return LedgerError(str(error), run)
    if isinstance(error, CallbackError):
        error.run = run
    note = getattr(error, "add_note", None)
    if how == "callback" and note is not None and not isinstance(error, CallbackError):
        note(str(run.summary["error"]))
    return error


def warn_of_callbacks(names: List[str], stacklevel: int) -> None:
    """Says once for each build what callbacks cost."""
    from .errors import CallbackWarning

    listed = ", ".join(f"`{name}`" for name in names)
    text = (
        f"{listed}: the equations call Python at every evaluation, which takes microseconds to milliseconds each; "
        "use signals of other kinds where they fit, and vectorised=True where the function can take arrays"
    )
    warnings.warn(text, CallbackWarning, stacklevel=stacklevel)
