"""The exceptions of dalembert. Their texts are those of the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, List, NamedTuple, Optional, Sequence, Tuple, Union

if TYPE_CHECKING:
    from .optimise import Front, Motion
    from .run import Run
    from .study import Study

__all__ = [
    "ArgumentError",
    "ArgumentTypeError",
    "ArrayError",
    "ArrayTypeError",
    "CallbackError",
    "CallbackWarning",
    "ClosedError",
    "DalembertError",
    "EvaluationError",
    "FileError",
    "Interrupted",
    "LedgerError",
    "OptimisationFailed",
    "OptimisationInterrupted",
    "Problem",
    "RecordError",
    "RobotError",
    "RunError",
    "RunFailed",
    "SceneError",
    "SceneNotFound",
    "StudyError",
    "StudyInterrupted",
    "SweepError",
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


class ArgumentError(DalembertError, ValueError):
    """A request that makes no sense."""


class ArgumentTypeError(DalembertError, TypeError):
    """Something of a type that cannot be used."""


class ArrayError(ArgumentError):
    """An array that has not the shape or the values that are asked for."""


class ArrayTypeError(ArrayError, TypeError):
    """An array of something else than real numbers."""


class EvaluationError(DalembertError, ArithmeticError):
    """A state for which the equations have no answer."""


class StudyError(DalembertError):
    """A study that has no answer."""


class FileError(DalembertError, OSError):
    """A file that cannot be read or written. What was computed before, if anything was, is in ``result``: a run, a table, a motion or a front."""

    result: Any = None


class RecordError(FileError):
    """A run folder that cannot be read or written."""


class SweepError(DalembertError, ValueError):
    """A sweep that cannot be read, started or gone on with. What is wrong with one row is told by its row."""


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


class WrongAnswer(DalembertError, ValueError):
    """An answer of a callback that cannot be used; it comes out as a :class:`CallbackError` with name and time."""


class Interrupted(KeyboardInterrupt):
    """A run that was stopped by Ctrl-C; ``run`` is what it has computed, and can be resumed."""

    run: Optional["Run"]

    def __init__(self, text: str, run: Optional["Run"] = None) -> None:
        super().__init__(text)
        self.run = run

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.args[0], self.run)


class StudyInterrupted(KeyboardInterrupt):
    """A study that was stopped by Ctrl-C; ``study`` has what was computed, where a part is of use: places of maps that are missing are NaN."""

    study: Optional["Study"]

    def __init__(self, text: str, study: Optional["Study"] = None) -> None:
        super().__init__(text)
        self.study = study

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.args[0], self.study)


class OptimisationFailed(StudyError):
    """A motion that meets not all conditions; ``motion`` is the last one that the solver has tried, and says what is violated."""

    motion: Optional["Motion"]

    def __init__(self, text: str, motion: Optional["Motion"] = None) -> None:
        super().__init__(text)
        self.motion = motion

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.args[0], self.motion)


class OptimisationInterrupted(KeyboardInterrupt):
    """A search that was stopped by Ctrl-C; ``result`` is the motion, or the part of the front, that was reached."""

    result: Union["Motion", "Front", None]

    def __init__(self, text: str, result: Union["Motion", "Front", None] = None) -> None:
        super().__init__(text)
        self.result = result

    def __reduce__(self) -> Tuple[Any, ...]:
        return type(self), (self.args[0], self.result)


class CallbackWarning(UserWarning):
    """A scene whose equations call Python, which costs much more than the equations themselves."""
