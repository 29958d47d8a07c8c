"""What tests share: the command line, and scenes of a few lines."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Callable

import pytest

import dalembert

PENDULUM = """
[scene]
title = "A bob on a rod"

[parameters]
length = 0.5
angle = { value = 0.3, min = 0, max = 1, unit = "rad" }

[world]
gravity = [0, 0, -9.81]

[body.bob]
kind = "particle"
mass = 2
position = ["= length*sin(angle)", 0, "= -length*cos(angle)"]

[constraint.rod]
kind = "distance"
between = ["ground", "bob"]
length = "= length"

[run]
until = 1
"""

#: A mass on a spring: ω = 2 rad/s, released at 0.1 m.
OSCILLATOR = """
[body.mass]
kind = "particle"
mass = 2
position = [1.1, 0, 0]

[force.spring]
kind = "spring"
between = ["ground", "mass"]
stiffness = 8
rest_length = 1

[run]
until = 2
tolerance = 1e-9
"""


@pytest.fixture
def pendulum() -> dalembert.Scene:
    return dalembert.Scene.from_text(PENDULUM, name="pendulum")


@pytest.fixture
def oscillator() -> dalembert.Scene:
    return dalembert.Scene.from_text(OSCILLATOR, name="oscillator")


@pytest.fixture
def command_line() -> Callable[..., str]:
    """The program `dalembert`; `cargo xtask python` says where it is."""
    name = os.environ.get("DALEMBERT")
    program = Path(name) if name else Path(__file__).parents[2] / "target" / "debug" / "dalembert"
    if not program.exists():
        pytest.skip("the command line is not built")

    def run(*arguments: str) -> str:
        done = subprocess.run([str(program), *arguments], check=True, capture_output=True, text=True)
        return done.stdout

    return run
