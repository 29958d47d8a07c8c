"""dalembert: computational dynamics of rigid, articulated, flexible, soft and living bodies.

>>> import dalembert
>>> run = dalembert.load("double-pendulum").run(until=1)
>>> run["energy.kinetic"].shape
(101,)

Scenes have the names and units of scene files; runs have the bits of the command line.
"""

from __future__ import annotations

from . import errors
from ._dalembert import VERSION as __version__
from ._dalembert import integrators
from ._elements import registry
from .callbacks import ForceCallback, Places, SignalCallback
from .display import Page, Picture
from .errors import *  # noqa: F403
from .model import Accelerations, Changes, Element, Model, State
from .run import Channel, Event, Run, open_run
from .scene import Scene, Table, load, scenes
from .study import Study
from .sweeps import Sweep, SweepError, SweepInterrupted, SweepTable, sweep
from .tree import Derivatives, Place, Tree, load_robot

__all__ = [
    "Accelerations",
    "Changes",
    "Channel",
    "Derivatives",
    "Element",
    "Event",
    "ForceCallback",
    "Model",
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
    "SweepError",
    "SweepInterrupted",
    "SweepTable",
    "Table",
    "Tree",
    "__version__",
    "errors",
    "integrators",
    "load",
    "load_robot",
    "open_run",
    "registry",
    "scenes",
    "sweep",
    *errors.__all__,
]
