"""Optimal control: the best motion of a scene, or all best compromises between several goals.

>>> import dalembert
>>> best = dalembert.optimise("swing-up")                 # doctest: +SKIP
>>> best.goals, best.run["control.push"].max()           # doctest: +SKIP

Studies have the keys of study files; what is found is what ``dalembert optimise`` finds.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple, Union

import numpy as np

from . import _dalembert, charts, display
from .arrays import MOST_THREADS, Array, whole
from .errors import ArgumentError, OptimisationFailed, OptimisationInterrupted, StudyError
from .files import keeping, replace
from .progress import Bar, watcher
from .run import Run
from .scene import Scene

__all__ = ["Front", "Motion", "optimal_studies", "optimise"]

#: What ``optimise(progress=…)`` takes: whether to show a bar (``None``: if somebody looks), or a function of a dictionary with the news, which ends the
#: search by ``False``.
Progress = Union[bool, None, Callable[[Dict[str, Any]], Any]]

_SOLVE = ("iteration", "objective", "violation", "stationarity")
_FRONT = ("done", "points", "solved", "failed")


class Motion:
    """A motion that was found, with what the solver says of it."""

    def __init__(self, name: str, values: Mapping[str, Any]) -> None:
        self.name = name
        self._values = dict(values)
        #: The motion as a run, with the controls as channels ``control.NAME``.
        self.run: Run = values["run"] if isinstance(values["run"], Run) else Run(values["run"])
        self._values["run"] = self.run
        #: How the search ended, in words, and whether the conditions of an optimum are met.
        self.outcome: str = values["outcome"]
        self.success: bool = values["success"]
        self.iterations: int = values["iterations"]
        #: The goals, the durations of phases in s and the static parameters, by name.
        self.goals: Dict[str, float] = values["goals"]
        self.durations: Dict[str, float] = values["durations"]
        self.statics: Dict[str, float] = values["statics"]
        #: The largest violation of a condition, and the conditions that are violated.
        self.violation: float = values["violation"]
        self.violated: List[str] = values["violated"]
        #: The largest local error of an interval: more intervals or ``refine`` make it smaller. Not known for points of a front.
        self.error: float = values["error"]
        #: The motion at the nodes: times, coordinates, velocities, extra states and controls, one row each, and the number of the phase.
        self.t: Array = values["t"]
        self.q: Array = values["q"]
        self.v: Array = values["v"]
        self.x: Array = values["x"]
        self.u: Array = values["u"]
        self.multipliers: Array = values["multipliers"]
        self.phase: Any = values["phase"]
        self.control_names: List[str] = values["controls"]
        #: Which point of a front it is.
        self.point: Optional[int] = values.get("point")

    def __reduce__(self) -> Tuple[Any, ...]:
        return Motion, (self.name, self._values)

    def __repr__(self) -> str:
        goals = ", ".join(f"{name} = {value:.6g}" for name, value in self.goals.items())
        return f"<motion {self.name}: {self.outcome}, {goals}>"

    def _repr_html_(self) -> str:
        rows = [("outcome", f"{self.outcome} in {self.iterations} iterations")]
        rows += [(f"goal {name}", display.number(value)) for name, value in self.goals.items()]
        rows += [(f"duration of {name}", f"{value:.6g} s") for name, value in self.durations.items()]
        rows += [(name, display.number(value)) for name, value in self.statics.items()]
        rows += [("violation", f"{self.violation:.2e}"), ("error of an interval", f"{self.error:.2e}")]
        rows += [("violated", text) for text in self.violated]
        return display.heading(self.name, "an optimal motion") + display.listing(["", ""], rows) + self.run._repr_html_()


class Front:
    """The best compromises between several goals."""

    def __init__(self, name: str, values: Mapping[str, Any]) -> None:
        self.name = name
        self._values = dict(values)
        #: Names of the goals; points and weights have a column for each.
        self.goals: List[str] = values["goals"]
        self.points: Array = values["points"]
        self.weights: Array = values["weights"]
        #: For each point the kind of its motion, from 0, whether no point is better, and its part of the front (-1 if others are better).
        self.kind: Any = values["kind"]
        self.best: Any = values["best"]
        self.part: Any = values["part"]
        #: Goals of feasible motions to which random starts have led.
        self.samples: Array = values["samples"]
        #: The best value of each goal, and the worst at the extremes of others.
        self.ideal: Array = values["ideal"]
        self.nadir: Array = values["nadir"]
        self.hypervolume: float = values["hypervolume"]
        #: Whether the search came to its end, programs that were solved, and those of them that failed, with what the first few said.
        self.complete: bool = values["complete"]
        self.solves: int = values["solves"]
        self.failed: int = values["failed"]
        self.failures: List[str] = values["failures"]
        made = [m if isinstance(m, Motion) else Motion(f"{name}-kind-{k + 1}", m) for k, m in enumerate(values["motions"])]
        #: A motion of each kind.
        self.motions: List[Motion] = made
        self._values["motions"] = made

    def __reduce__(self) -> Tuple[Any, ...]:
        return Front, (self.name, self._values)

    def __len__(self) -> int:
        return len(self.points)

    def to_csv(self) -> str:
        """The table that the command line writes, ``front.csv``."""
        return str(self._values["csv"])

    def to_json(self) -> str:
        """Everything, as the command line writes it: ``front.json``."""
        return str(self._values["json"])

    def to_pandas(self) -> Any:
        """The points as a frame of pandas: goals, weights, kind, part, best."""
        import pandas

        columns: Dict[str, Any] = {name: self.points[:, k] for k, name in enumerate(self.goals)}
        columns.update({f"weight of {name}": self.weights[:, k] for k, name in enumerate(self.goals)})
        return pandas.DataFrame({**columns, "kind": self.kind, "part": self.part, "best": self.best})

    def __repr__(self) -> str:
        return f"<front {self.name} of {', '.join(self.goals)}: {len(self)} points, {int(np.sum(self.best))} not dominated>"

    def _repr_html_(self) -> str:
        remark = f"{len(self)} points, {int(np.sum(self.best))} not dominated, {self.solves} programs, {self.failed} failed"
        rows: List[List[Any]] = []
        for motion in self.motions:
            own = self.kind == len(rows)
            goals = [display.number(motion.goals[name]) for name in self.goals]
            rows.append([len(rows) + 1, int(np.sum(own)), int(np.sum(own & self.best)), *goals])
        table = display.listing(["kind", "points", "best", *self.goals], rows)
        return display.heading(self.name, remark) + table + display.figures([self.plot().svg])

    def plot(self, across: Optional[str] = None, up: Optional[str] = None) -> display.Picture:
        """One goal over another, the first two unless named: points by the kind of their motion, and feasible samples."""
        names = [across or self.goals[0], up or self.goals[1]]
        columns = [self._column(name) for name in names]
        kinds = range(int(self.kind.max(initial=-1)) + 1)
        own = [self.points[self.kind == k][:, columns] for k in kinds]
        shown = [charts.Curve(f"kind {k + 1}", points[:, 0], points[:, 1], dots=True) for k, points in enumerate(own)]
        if len(self.samples) and len(self.points):
            samples = self.samples[:, columns]
            # Samples far from the front would squeeze it into a corner.
            near = (samples <= 2.0 * self.points[:, columns].max(axis=0)).all(axis=1)
            shown.append(charts.Curve("feasible samples", samples[near, 0], samples[near, 1], dots=True))
        return display.Picture(charts.curves(shown or [charts.Curve("", [], [])], names[0], names[1]), f"front {self.name}")

    def _column(self, name: str) -> int:
        if name not in self.goals:
            raise ArgumentError(f"there is no goal `{name}`; there are {', '.join(self.goals)}")
        return self.goals.index(name)


def optimal_studies() -> Dict[str, str]:
    """The built-in studies of optimal control: names, and what they show."""
    return dict(_dalembert.optimal_studies())


def optimise(
    study: Union[str, "os.PathLike[str]", Mapping[str, Any]],
    *,
    out: Union[str, "os.PathLike[str]", None] = None,
    samples: int = 5,
    jobs: Optional[int] = None,
    cache: Union[str, "os.PathLike[str]", None] = None,
    progress: Progress = None,
    check: bool = True,
    name: Optional[str] = None,
) -> Union[Motion, Front]:
    """Solves a study of optimal control: a built-in one, a file, or a dictionary with the keys of such a file.

    Gives a :class:`Motion`, or a :class:`Front` if the study has a table ``front``. In a dictionary ``optimise.scene`` may be a :class:`Scene`. ``out`` is a folder
    for the record (of a front for its journal, its tables and a record of each kind of motion: called again, it goes on with what is there), ``samples`` the
    instants that are recorded in each interval, ``jobs`` the threads of a front, ``cache`` a folder in which machine code is kept, which should belong to you alone.

    Raises :class:`OptimisationFailed` if the solver finds no optimum (with ``check=False`` what it has is given back) and :class:`OptimisationInterrupted`
    after Ctrl-C; both have what was reached.
    """
    samples = whole("samples", samples, 1)
    threads = min(whole("jobs", jobs, 1) if jobs is not None else os.cpu_count() or 1, MOST_THREADS)
    with tempfile.TemporaryDirectory(prefix="dalembert-") as folder:
        source, text, stem = _source(study, folder)
        title = name or stem
        journal = None if out is None else os.path.join(os.fspath(out), "journal")
        bar = watcher(progress if not callable(progress) else False, (0.0, 1.0), title)
        follow = _Follow(bar, progress if callable(progress) else None)
        place = None if cache is None else os.fspath(cache)
        try:
            values, interrupted = _dalembert.optimise(
                source, text, folder, title, int(samples), threads, place, journal, follow
            )
        finally:
            if bar is not None:
                bar.close()
    result: Union[Motion, Front] = Front(title, values) if "points" in values else Motion(title, values)
    if out is not None:
        with keeping(result):
            _write(result, os.fspath(out))
    if interrupted and check:
        raise OptimisationInterrupted(f"{title}: interrupted", result) from None
    if isinstance(result, Motion) and check and not result.success:
        raise OptimisationFailed("\n".join([f"{title}: {result.outcome}", *result.violated]), result)
    return result


def _source(study: Any, folder: str) -> Tuple[str, Optional[str], str]:
    """The name of a study, its text if it is no file, and its short name."""
    if not isinstance(study, Mapping):
        path = os.fspath(study)
        if path not in optimal_studies() and not os.path.exists(path):
            known = ", ".join(optimal_studies())
            raise StudyError(f"there is no built-in study and no file `{path}`; built-in ones are {known}")
        return path, None, os.path.splitext(os.path.basename(path))[0]
    tree = dict(study)
    main = tree.get("optimise")
    if not isinstance(main, Mapping):
        raise StudyError("a study needs a table `optimise` with a `scene`")
    scene = main.get("scene")
    if isinstance(scene, (Scene, Mapping)):
        scene = scene if isinstance(scene, Scene) else Scene.from_dict(scene)
        if scene._calls:
            raise StudyError("a scene with callbacks cannot be optimised: its equations are recorded, which needs formulas")
        replace(os.path.join(folder, "scene.toml"), scene.to_toml())
        tree["optimise"] = {**main, "scene": "scene.toml"}
    elif scene is not None and scene not in dict(_dalembert.scenes_built_in()):
        tree["optimise"] = {**main, "scene": os.path.abspath(os.fspath(scene))}
    return "study", _dalembert.write(tree), "study"


def _write(result: Union[Motion, Front], out: str) -> None:
    if isinstance(result, Motion):
        result.run.write(out)
        return
    for k, motion in enumerate(result.motions):
        motion.run.write(os.path.join(out, f"kind-{k + 1}"))
    for file, text in [("front.csv", result.to_csv()), ("front.json", result.to_json())]:
        replace(os.path.join(out, file), text)


class _Follow:
    """Turns the news of the solver into a bar, or into a dictionary for a function."""

    def __init__(self, bar: Optional[Bar], function: Optional[Callable[[Dict[str, Any]], Any]]) -> None:
        self._bar = bar
        self._function = function

    def __call__(self, kind: str, *news: Any) -> Any:
        told = dict(zip(_FRONT if kind == "front" else _SOLVE, news))
        if self._function is not None:
            return self._function({"kind": kind, **told})
        if self._bar is not None and kind == "front":
            text = f"{told['points']} points, {told['solved']} programs solved, {told['failed']} failed"
            self._bar.show(told["done"], text)
        elif self._bar is not None:
            # How many iterations there will be is not known: the bar shows by how many of twelve digits the conditions are met.
            left = max(told["violation"], told["stationarity"], 1e-12)
            text = f"iteration {told['iteration']}, objective {told['objective']:.6g}, violation {told['violation']:.1e}"
            self._bar.show(min(1.0, max(0.0, -np.log10(left) / 12.0)), text)
        return None
