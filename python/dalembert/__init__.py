"""dalembert: computational dynamics of rigid, articulated, flexible, soft and living bodies.

>>> import dalembert
>>> run = dalembert.load("double-pendulum").run(until=1)
>>> run["energy.kinetic"].shape
(101,)

Scenes have the names and units of scene files; runs have the bits of the command line.
"""

from __future__ import annotations

import atexit
import os

from . import _dalembert, errors
from ._dalembert import VERSION as __version__
from ._dalembert import integrators
from ._elements import registry
from .callbacks import ForceCallback, Places, SignalCallback
from .display import Page, Picture
from .errors import *  # noqa: F403
from .model import Accelerations, Changes, Element, Model, State
from .optimise import Front, Motion, optimal_studies, optimise
from .run import Channel, Event, Run, open_run
from .scene import Scene, Table, load, scenes
from .study import Study, studies
from .sweeps import Sweep, SweepInterrupted, SweepTable, sweep
from .tree import Derivatives, Drives, Place, Target, Tree, load_robot

__all__ = [
    "Accelerations",
    "Changes",
    "Channel",
    "Derivatives",
    "Drives",
    "Element",
    "Event",
    "ForceCallback",
    "Front",
    "Model",
    "Motion",
    "Page",
    "Picture",
    "Place",
    "Places",
    "Run",
    "Scene",
    "SignalCallback",
    "State",
    "Study",
    "Sweep",
    "SweepInterrupted",
    "SweepTable",
    "Table",
    "Target",
    "Tree",
    "__version__",
    "errors",
    "integrators",
    "load",
    "load_robot",
    "open_run",
    "optimal_studies",
    "optimise",
    "registry",
    "scenes",
    "studies",
    "sweep",
    *errors.__all__,
]

# Work in threads that nobody waits for ends before the interpreter does; a process that was forked has none of it.
atexit.register(_dalembert.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_dalembert.forked)
