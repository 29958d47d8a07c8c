"""Functions of models and trees on tables of states, by independent routes."""

from __future__ import annotations

import pickle
from typing import Any, Dict

import numpy as np
import pytest

import dalembert

ARM: Dict[str, Any] = {
    "world": {"gravity": [0, 0, -9.81]},
    "body": {
        "arm": {
            "kind": "tree",
            "links": [
                {
                    "name": f"link{k}",
                    **({"parent": f"link{k - 1}"} if k else {}),
                    "joint": {"kind": "revolute", "axis": [0, 1, 0] if k % 2 else [0, 0, 1]},
                    "position": [0, 0.05, 0.3],
                    "mass": 3.0 - 0.3 * k,
                    "centre": [0.01, 0, 0.15],
                    "inertia": [0.03, 0.03, 0.005],
                }
                for k in range(7)
            ],
        }
    },
}


@pytest.fixture(scope="module")
def arm() -> dalembert.Model:
    return dalembert.Scene.from_dict(ARM, name="arm").model()


def states(model: dalembert.Model, count: int) -> Any:
    random = np.random.default_rng(1)
    shape = (count, model.n_velocities)
    return random.uniform(-1, 1, shape), random.uniform(-1, 1, shape), random.uniform(-1, 1, shape)


def test_two_routes_to_the_arm_agree(arm: dalembert.Model) -> None:
    tree = arm.tree()
    q, v, tau = states(arm, 33)
    mass = arm.mass_matrix(q)
    # Sums of some hundred products of numbers of ordinary size.
    near: Dict[str, Any] = {"rtol": 1e-11, "atol": 1e-11}
    np.testing.assert_allclose(tree.mass_matrix(q), mass, **near)
    np.testing.assert_allclose(mass, np.swapaxes(mass, 1, 2), **near)
    a = tree.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(arm.forward_dynamics(q, v, tau).a, a, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(tree.inverse_dynamics(q, v, a), tau, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(arm.inverse_dynamics(q, v, a), tau, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(tree.bias(q, v), -arm.forces(q, v), **near)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", mass, a) + tree.bias(q, v), tau, rtol=1e-9, atol=1e-9)
    kinetic = 0.5 * np.einsum("ni,nij,nj->n", v, mass, v)
    np.testing.assert_allclose(arm.energy(q, v)[:, 0], kinetic, **near)
    np.testing.assert_allclose(tree.energy(q, v)[:, 0], kinetic, **near)


def test_derivatives_meet_differences(arm: dalembert.Model) -> None:
    tree = arm.tree()
    q, v, tau = (part[0] for part in states(arm, 1))
    exact, by_tree = arm.derivatives(q, v), tree.forward_derivatives(q, v, 0 * tau)
    np.testing.assert_allclose(exact.q, by_tree.q, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(exact.v, by_tree.v, rtol=1e-8, atol=1e-8)
    h, unit = 1e-5, np.eye(arm.n_velocities)
    ahead, back = (tree.forward_dynamics(q + s * h * unit, np.tile(v, (7, 1)), np.zeros((7, 7))) for s in (1, -1))
    scale = np.abs(by_tree.q).max()
    # Central differences: h² of truncation with third derivatives of the size of the cube of the first, ε/h of rounding.
    np.testing.assert_allclose((ahead - back).T / (2 * h), by_tree.q, atol=1e-6 * scale)
    assert by_tree.tau is not None
    np.testing.assert_allclose(by_tree.tau @ arm.mass_matrix(q), np.eye(7), atol=1e-9)
    inverse = tree.inverse_derivatives(q, v, 0 * v)
    assert inverse.tau is None and inverse.q.shape == (7, 7)


def test_rows_do_not_depend_on_each_other_or_on_threads(arm: dalembert.Model) -> None:
    tree = arm.tree()
    q, v, tau = states(arm, 101)
    for function in [tree.forward_dynamics, tree.inverse_dynamics, lambda *s, **k: arm.forward_dynamics(*s, **k).a]:
        whole = function(q, v, tau)
        assert (function(q, v, tau, threads=2) == whole).all()
        assert (function(q, v, tau, threads=64) == whole).all()
        for k in (0, 1, 50, 100):
            assert (function(q[k], v[k], tau[k]) == whole[k]).all()
    assert tree.forward_dynamics(q[:0], v[:0], tau[:0]).shape == (0, 7)


def test_jacobians_and_places_of_links(arm: dalembert.Model) -> None:
    tree = arm.tree()
    q, v, _ = states(arm, 5)
    point = (0.1, 0.0, 0.2)
    jacobian, place = tree.jacobian("link6", q, point), tree.place("link6", q, v, point)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", jacobian[:, :3], v), place.velocity, atol=1e-13)
    np.testing.assert_allclose(np.einsum("nij,nj->ni", jacobian[:, 3:], v), place.omega, atol=1e-13)
    np.testing.assert_allclose(place.rotation @ np.swapaxes(place.rotation, 1, 2), np.tile(np.eye(3), (5, 1, 1)), atol=1e-13)
    h = 1e-6
    ahead, back = (tree.place("link6", q + s * h * v, point=point).position for s in (1, -1))
    np.testing.assert_allclose((ahead - back) / (2 * h), place.velocity, atol=1e-8)
    moved, rate = tree.jacobian("link6", q + h * v, point), tree.jacobian_rate("link6", q, v, point)
    np.testing.assert_allclose((moved - tree.jacobian("link6", q - h * v, point)) / (2 * h), rate, atol=1e-7)
    with pytest.raises(ValueError, match="there is no link"):
        tree.jacobian("hand", q)


def test_constrained_models(pendulum: dalembert.Scene) -> None:
    model = pendulum.model()
    state = model.initial
    found = model.forward_dynamics(state.q, state.v)
    jacobian = model.constraint_jacobian(state.q)
    assert jacobian.shape == (1, 3)
    # At rest the rod carries the part of the weight along it, and gravity across it remains.
    across = 9.81 * np.sin(0.3)
    assert abs(np.linalg.norm(found.a) - across) < 1e-12
    np.testing.assert_allclose(2 * found.a, [0, 0, -2 * 9.81] - found.multipliers @ jacobian, atol=1e-12)
    np.testing.assert_allclose(model.constraint_residuals(state.q, state.v), 0, atol=1e-15)
    assert model.momentum(state.q, [1, 0, 0])[0, 0] == 2.0


def test_passive_forces_are_apart() -> None:
    tree = {**ARM["body"]["arm"]}
    tree["links"] = [{**link, "damping": 0.5} for link in tree["links"]]
    model = dalembert.Scene.from_dict({**ARM, "body": {"arm": tree}}).model()
    q, v, tau = states(model, 3)
    links = model.tree()
    np.testing.assert_allclose(links.passive(q, v), -0.5 * v, atol=1e-14)
    whole = model.forward_dynamics(q, v, tau).a
    np.testing.assert_allclose(links.forward_dynamics(q, v, tau + links.passive(q, v)), whole, rtol=1e-9, atol=1e-9)


def test_wrong_arrays_are_refused(arm: dalembert.Model) -> None:
    tree = arm.tree()
    zero = np.zeros(7)
    with pytest.raises(dalembert.ArrayError, match=r"`q` has the shape \(6,\)"):
        tree.mass_matrix(np.zeros(6))
    with pytest.raises(dalembert.ArrayError, match="2 rows where 3"):
        tree.bias(np.zeros((3, 7)), np.zeros((2, 7)))
    with pytest.raises(dalembert.ArrayError, match="`v` is nan in row 0, column 2"):
        tree.bias(zero, [0, 0, np.nan, 0, 0, 0, 0])
    with pytest.raises(dalembert.ArrayError, match="inf"):
        arm.forces(zero + np.inf, zero)
    with pytest.raises(TypeError, match="complex"):
        arm.mass_matrix(zero + 1j)
    with pytest.raises(TypeError, match="real numbers"):
        arm.mass_matrix(["a"] * 7)
    with pytest.raises(dalembert.ArrayError):
        arm.mass_matrix([[1, 2], [3]])
    with pytest.raises(dalembert.ArrayError):
        arm.mass_matrix(np.zeros((2, 2, 7)))
    with pytest.raises(dalembert.ArrayError):
        arm.forces(zero, zero, t=float("nan"))
    assert (arm.mass_matrix(zero.astype(np.float32)) == arm.mass_matrix([0] * 7)).all()
    assert (arm.mass_matrix(np.asfortranarray(np.zeros((4, 7)))) == arm.mass_matrix(zero)).all()
    with pytest.raises(ValueError, match="no body of kind `tree`"):
        dalembert.load("oscillator").model().tree()


def test_singular_states_are_named() -> None:
    model = dalembert.load("two-bodies").model()
    state = model.initial
    q = np.zeros_like(state.q)
    with pytest.raises(dalembert.EvaluationError, match="row 1"):
        model.forward_dynamics([state.q, q], [state.v, state.v])


def test_robots_are_read_and_pickled(tmp_path: Any) -> None:
    urdf = """<robot name="one"><link name="base"/><link name="rod"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
      <inertia ixx="0.1" iyy="0.1" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>
      <joint name="hinge" type="continuous"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/></joint></robot>"""
    path = tmp_path / "one.urdf"
    path.write_text(urdf)
    robot = dalembert.load_robot(path)
    again = pickle.loads(pickle.dumps(robot))
    # m g l sin φ / (I + m l²) with l = 0.5 m
    angle = np.array([[0.3], [1.0]])
    wanted = -2 * 9.81 * 0.5 * np.sin(angle) / (0.1 + 2 * 0.25)
    for tree in (robot, again):
        np.testing.assert_allclose(tree.forward_dynamics(angle, 0 * angle, 0 * angle), wanted, rtol=1e-6)
    path.write_text(urdf.replace("hinge", "hinge").replace('child link="rod"', 'child link="rot"'))
    with pytest.raises(dalembert.RobotError, match="one.urdf"):
        dalembert.load_robot(path)
