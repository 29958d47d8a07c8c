"""The exceptions of dalembert. Their texts are those of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Sequence, Tuple

if TYPE_CHECKING:
    from .run import Run

__all__ = [
    "ArrayError",
    "CallbackError",
    "CallbackWarning",
    "ClosedError",
    "DalembertError",
    "EvaluationError",
    "Interrupted",
    "LedgerError",
    "Problem",
    "RecordError",
    "RobotError",
    "RunError",
    "RunFailed",
    "SceneError",
    "SceneNotFound",
    "StudyError",
]


class DalembertError(Exception):
    """Whatever goes wrong in dalembert."""


class Problem(NamedTuple):
    """One thing that is wrong in a scene, with its place."""

    file: Optional[str]
    line: Optional[int]
    column: Optional[int]
    message: str
    help: Optional[str]


class SceneError(DalembertError, ValueError):
    """A scene that cannot be used. Its text has one line ``file:line:column: message (help)`` for each problem."""

    problems: List[Problem]

    def __init__(self, text: str, problems: Sequence[Tuple[Any, ...]] = ()) -> None:
        super().__init__(text)
        self.problems = [Problem(*problem) for problem in problems]

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.args[0], [tuple(problem) for problem in self.problems])


class SceneNotFound(DalembertError, FileNotFoundError):
    """There is no built-in scene and no file of this name."""


class RobotError(DalembertError, ValueError):
    """A robot file that cannot be used."""


class ArrayError(DalembertError, ValueError):
    """An array that has not the shape or the values that are asked for."""


class EvaluationError(DalembertError, ArithmeticError):
    """A state for which the equations have no answer."""


class StudyError(DalembertError):
    """A study that has no answer."""


class RecordError(DalembertError, OSError):
    """A run folder that cannot be read or written."""


class ClosedError(DalembertError, ValueError):
    """A run that was closed and has no numbers any more."""


class RunError(DalembertError, RuntimeError):
    """A run that did not start."""


class RunFailed(RunError):
    """A run that failed after it had started; ``run`` is what it has computed up to there."""

    run: Optional["Run"]

    def __init__(self, text: str, run: Optional["Run"] = None) -> None:
        super().__init__(text)
        self.run = run

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.args[0], self.run)


class LedgerError(RunFailed):
    """A run whose account of energy does not close."""


class CallbackError(RunFailed):
    """A callback that gave a number that is not finite, or something else than numbers."""

    name: str
    time: float

    def __init__(self, text: str, name: str = "", time: float = float("nan"), run: Optional["Run"] = None) -> None:
        super().__init__(text, run)
        self.name = name
        self.time = time

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.args[0], self.name, self.time, self.run)


class Interrupted(KeyboardInterrupt):
    """A run that was stopped by Ctrl-C; ``run`` is what it has computed, and can be resumed."""

    run: Optional["Run"]

    def __init__(self, text: str, run: Optional["Run"] = None) -> None:
        super().__init__(text)
        self.run = run

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.args[0], self.run)


class CallbackWarning(UserWarning):
    """A scene whose equations call Python, which costs much more than the equations themselves."""
