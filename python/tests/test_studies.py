"""Studies against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

import dalembert


def test_modes_of_an_oscillator(oscillator: dalembert.Scene) -> None:
    oscillator["force"]["spring"]["damping"] = 0.4
    modes = oscillator.study("modes")
    assert modes.kind == "modes"
    assert abs(modes.frequencies.max() - 2.0) < 1e-9
    linear = oscillator.study("linearise")
    # λ = −c/2m ± i √(k/m − (c/2m)²)
    wanted = complex(-0.1, np.sqrt(4 - 0.01))
    assert np.abs(linear.eigenvalues - wanted).min() < 1e-9
    assert linear.eigenvalues.dtype == np.complex128
    np.testing.assert_allclose(linear["mass"].diagonal(), 2.0)
    with pytest.raises(AttributeError, match="it has"):
        linear.nothing


def test_equilibrium_of_a_pendulum(pendulum: dalembert.Scene) -> None:
    rest = pendulum.study("equilibrium")
    np.testing.assert_allclose(rest["q"], [0, 0, -0.5], atol=1e-9)
    assert rest.stable or rest.neutral
    # g/l
    assert abs(rest.squared.max() - 9.81 / 0.5) < 1e-6


def test_the_response_at_a_frequency(oscillator: dalembert.Scene) -> None:
    oscillator["force"]["spring"]["damping"] = 0.4
    name = oscillator.model().velocity_names[0]
    found = oscillator.study("frequency_response", force="x", measure="x", from_=0.1, to=1.0, count=11)
    omega = 2 * np.pi * found.frequency
    np.testing.assert_allclose(found.response, 1 / (8 - 2 * omega**2 + 0.4j * omega), rtol=1e-8)
    assert "mass" in name


def test_multipliers_of_a_driven_oscillator() -> None:
    cycle = dalembert.load("duffing-a")
    period = 2 * np.pi
    found = cycle.study("floquet", period=period)
    assert found.multipliers.dtype == np.complex128 and found.monodromy.shape[0] == len(found.multipliers)
    # Liouville: the product of the multipliers is the exponential of the mean divergence; damping makes it less than one.
    assert abs(np.prod(found.multipliers)) <= 1.0 + 1e-9


def test_wrong_requests_are_refused(oscillator: dalembert.Scene) -> None:
    with pytest.raises(ValueError, match="there is no study `mode`"):
        oscillator.study("mode")
    with pytest.raises(ValueError, match="no option `hear`"):
        oscillator.study("modes", hear=True)
    with pytest.raises(ValueError, match="needs the option `period`"):
        oscillator.study("floquet")
    with pytest.raises(ValueError, match="option `period` is"):
        oscillator.study("floquet", period=float("nan"))
    with pytest.raises(dalembert.StudyError, match="without contacts"):
        dalembert.load("bouncing-ball").study("modes")
    with pytest.raises(dalembert.StudyError, match="names none"):
        oscillator.study("poincare", coordinate="knee", period=1)
