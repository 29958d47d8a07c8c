"""Progress of a run: a bar in a terminal or a notebook, or a function of one's own."""

from __future__ import annotations

import html
import sys
import time
from typing import Any, Callable, Optional, Tuple, Union

__all__ = ["Bar", "Progress", "StudyProgress", "watcher"]

#: What ``run(progress=…)`` takes: whether to show a bar (``None``: if somebody looks), or a function of time and steps that ends the run by ``False``.
Progress = Union[bool, None, Callable[[float, int], Any]]

#: What ``study(progress=…)`` takes: the same, the function being one of steps done and all of them.
StudyProgress = Union[bool, None, Callable[[int, int], Any]]

#: A bar that nobody asked for appears after this time, in s.
_PATIENCE = 0.5
_WIDTH = 32


def _in_notebook() -> bool:
    shell = sys.modules.get("IPython")
    if shell is None:
        return False
    own = shell.get_ipython()
    return own is not None and type(own).__name__ == "ZMQInteractiveShell"


def watcher(progress: Progress, span: Tuple[float, float], title: str) -> Optional["Bar"]:
    """The bar that shows a run, if one is wanted."""
    if progress is False or callable(progress):
        return None
    notebook = _in_notebook()
    if progress is None and not notebook and not sys.stderr.isatty():
        return None
    return Bar(span, title, notebook, 0.0 if progress else _PATIENCE)


class Bar:
    """A progress bar with an estimate of the time that is left."""

    def __init__(self, span: Tuple[float, float], title: str, notebook: bool, patience: float) -> None:
        self._start, self._end = span
        self._title = title
        self._notebook = notebook
        self._began = time.monotonic()
        self._shown_at = self._began + patience - 0.2
        self._handle: Any = None
        self._drawn = False

    def __call__(self, t: float, steps: int) -> None:
        now = time.monotonic()
        if now - self._shown_at < 0.2:
            return
        self._shown_at = now
        part = (t - self._start) / (self._end - self._start) if self._end != self._start else 1.0
        self._draw(min(max(part, 0.0), 1.0), self._text(t, part, now - self._began))

    def count(self, done: int, every: int) -> None:
        """Shows how many steps of all are done."""
        now = time.monotonic()
        part = done / every if every else 0.0
        left = (now - self._began) * (1.0 - part) / part if part > 0.0 else float("inf")
        self.show(part, f"{done} of {every}, {_duration(left)} left")

    def show(self, part: float, text: str) -> None:
        """Shows which part is done, with a remark; not more than a few times a second."""
        now = time.monotonic()
        if now - self._shown_at >= 0.2:
            self._shown_at = now
            self._draw(min(max(part, 0.0), 1.0), text)

    def _text(self, t: float, part: float, spent: float) -> str:
        left = spent * (1.0 - part) / part if part > 0.0 else float("inf")
        return f"t = {t:.4g} s, {_duration(left)} left"

    def _draw(self, part: float, text: str) -> None:
        self._drawn = True
        if not self._notebook:
            full = round(_WIDTH * part)
            bar = "█" * full + "░" * (_WIDTH - full)
            sys.stderr.write(f"\r  {bar} {100.0 * part:3.0f} %  {text}\x1b[K")
            sys.stderr.flush()
            return
        from IPython.display import HTML, DisplayHandle

        label = html.escape(f"{self._title}: {text}")
        page = HTML(f'<progress max="1" value="{part:.4f}" style="width:20em"></progress> {label}')
        if self._handle is None:
            # Kept before it is shown, so that whatever interrupts the next line does not leave a bar behind.
            self._handle = DisplayHandle()
            self._handle.display(page)
        else:
            self._handle.update(page)

    def close(self) -> None:
        """Takes the bar away."""
        if not self._drawn:
            return
        if not self._notebook:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
        elif self._handle is not None:
            from IPython.display import HTML

            self._handle.update(HTML(""))


def _duration(seconds: float) -> str:
    if not 0.0 <= seconds < float("inf"):
        return "?"
    if seconds < 90.0:
        return f"{seconds:.0f} s"
    if seconds < 5400.0:
        return f"{seconds / 60.0:.0f} min"
    return f"{seconds / 3600.0:.1f} h"
