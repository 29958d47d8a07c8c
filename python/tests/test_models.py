"""Functions of models and trees on tables of states, by independent routes."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any, Callable, Dict

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


@pytest.mark.parametrize("name", ["four-bar", "bricard", "andrews"])
def test_constrained_rows_do_not_depend_on_each_other_or_on_threads(name: str) -> None:
    """Loops of links, whose rows may depend on each other: four states are evaluated side by side, and each is solved as if it were alone."""
    model = dalembert.load(name).model()
    state, random = model.initial, np.random.default_rng(4)
    q = state.q + 1e-3 * random.uniform(-1, 1, (37, model.n_coordinates))
    v, tau = (random.uniform(-1, 1, (37, model.n_velocities)) for _ in range(2))
    whole = model.forward_dynamics(q, v, tau)
    assert whole.multipliers.shape == (37, model.n_rows) and model.n_rows > 0
    for k in (0, 3, 17, 36):
        one = model.forward_dynamics(q[k], v[k], tau[k])
        assert (one.a == whole.a[k]).all() and (one.multipliers == whole.multipliers[k]).all()
    for threads in (2, 5, 64):
        again = model.forward_dynamics(q, v, tau, threads=threads)
        assert (again.a == whole.a).all() and (again.multipliers == whole.multipliers).all()
    # M a + Gᵀλ = f + τ, whatever the route: rounding of some hundred terms, 1e-14 of their size, and conditions up to 1e5. Where rows depend on each other,
    # this is so on the constraints only.
    ends = [dalembert.load(name).run(until=0.01 * k, progress=False).final_state.q for k in range(1, 6)]
    q, v, tau = np.array([state.q, *ends]), v[:6], tau[:6]
    whole = model.forward_dynamics(q, v, tau)
    mass, jacobian, force = model.mass_matrix(q), model.constraint_jacobian(q), model.forces(q, v) + tau
    inertial, reaction = np.einsum("nij,nj->ni", mass, whole.a), np.einsum("nji,nj->ni", jacobian, whole.multipliers)
    size = max(np.abs(part).max() for part in (inertial, reaction, force))
    assert np.abs(inertial + reaction - force).max() < 1e-9 * size


def test_trees_have_the_numbers_of_the_command_line(arm: dalembert.Model, tmp_path: Path, command_line: Callable[..., str]) -> None:
    """Four states side by side here, one by one there."""
    tree = arm.tree()
    q, v, _ = states(arm, 6)
    dalembert.Scene.from_dict(ARM, name="arm").save(tmp_path / "arm.toml")
    head = [f"q.{name}" for name in tree.coordinate_names] + [f"v.{name}" for name in tree.velocity_names]
    lines = [",".join(head)] + [",".join(map(repr, row)) for row in np.hstack([q, v]).tolist()]
    (tmp_path / "states.csv").write_text("\n".join(lines))
    point = ["--link", "link6"]
    place = tree.place("link6", q, v)
    flat = np.hstack([place.position, place.rotation.reshape(6, 9), place.velocity, place.omega])
    for quantity, ours, more in [
        ("jacobian", tree.jacobian("link6", q), point),
        ("jacobian-rate", tree.jacobian_rate("link6", q, v), point),
        ("place", flat, point),
        ("energy", tree.energy(q, v), []),
        ("momentum", tree.momentum(q, v), []),
    ]:
        said = command_line("eval", "--what", quantity, str(tmp_path / "arm.toml"), "--states", str(tmp_path / "states.csv"), *more)
        theirs = np.array([[float(cell) for cell in line.split(",")] for line in said.splitlines()[1:]])
        # The same operations in the same order, but for products and sums that machines may join.
        np.testing.assert_allclose(ours.reshape(6, -1), theirs, rtol=1e-13, atol=1e-13)


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


def test_links_go_where_they_are_wanted(arm: dalembert.Model, tmp_path: Path, command_line: Callable[..., str]) -> None:
    tree = arm.tree()
    start = np.linspace(0.3, 0.6, 7)
    # Places that are reached for sure: those of configurations near the start.
    q = start + 0.05 * np.sin(np.arange(21).reshape(3, 7))
    place = tree.place("link6", q, point=(0.0, 0.0, 0.1))
    target = dalembert.Target("link6", position=place.position, rotation=place.rotation, point=(0.0, 0.0, 0.1))
    found = tree.inverse_kinematics(target, start=start)
    again = tree.place("link6", found, point=(0.0, 0.0, 0.1))
    assert found.shape == (3, 7)
    assert np.abs(again.position - place.position).max() < 1e-9 and np.abs(again.rotation - place.rotation).max() < 2e-9
    one = tree.inverse_kinematics(dalembert.Target("link6", position=place.position[0], point=(0, 0, 0.1)), start=start)
    assert one.shape == (7,)
    assert np.abs(tree.place("link6", one, point=(0, 0, 0.1)).position - place.position[0]).max() < 1e-9
    # The same table as the command line's.
    dalembert.Scene.from_dict(ARM, name="arm").save(tmp_path / "arm.toml")
    origin = tree.place("link6", q).position
    lines = ["time,link6.x,link6.y,link6.z", *(f"{k}," + ",".join(map(repr, row.tolist())) for k, row in enumerate(origin))]
    (tmp_path / "targets.csv").write_text("\n".join(lines))
    said = command_line("study", "inverse-kinematics", str(tmp_path / "arm.toml"), "--targets", str(tmp_path / "targets.csv"))
    theirs = np.array([[float(cell) for cell in line.split(",")[1:]] for line in said.splitlines()[1:]])
    assert (tree.inverse_kinematics(dalembert.Target("link6", position=origin)) == theirs).all()
    with pytest.raises(dalembert.StudyError, match="link6"):
        tree.inverse_kinematics(dalembert.Target("link6", position=[100.0, 0, 0]))
    with pytest.raises(ValueError, match="there is no link `hand`"):
        tree.inverse_kinematics(dalembert.Target("hand", position=[0, 0, 0]))
    with pytest.raises(ValueError, match="needs a position or a rotation"):
        tree.inverse_kinematics(dalembert.Target("link6"))
    for wrong in (5.0, [1.0, 2.0], np.zeros((2, 3, 3))):
        with pytest.raises(dalembert.ArrayError, match=r"expected \(3,\) or \(n, 3\)"):
            tree.inverse_kinematics(dalembert.Target("link6", position=wrong))
    with pytest.raises(dalembert.ArrayError, match="nan in row 0"):
        tree.inverse_kinematics(dalembert.Target("link6", position=[0, np.nan, 0]))
    with pytest.raises(dalembert.ArrayError, match=r"targets have \[2, 3\] rows"):
        two = [dalembert.Target("link6", np.zeros((2, 3))), dalembert.Target("link5", np.zeros((3, 3)))]
        tree.inverse_kinematics(two)


def test_a_motion_needs_what_inverse_dynamics_says(arm: dalembert.Model) -> None:
    tree = arm.tree()
    t = np.linspace(0, 1, 201)
    rates = np.linspace(1.0, 2.2, 7)
    q, v, a = np.sin(rates * t[:, None]), rates * np.cos(rates * t[:, None]), -(rates**2) * np.sin(rates * t[:, None])
    found = tree.drives(t, q)
    # Differences of high order over 5 ms of motions with rates up to 2.2/s; accelerations divide rounding by h².
    assert np.abs(found.v - v).max() < 1e-9 and np.abs(found.a - a).max() < 1e-6
    np.testing.assert_allclose(found.tau, tree.inverse_dynamics(q, v, a), atol=1e-5)
    # Derivatives are taken through seven rows: all others are no matter of a row, however many there are.
    many = np.linspace(0, 1, 2500)
    q = np.sin(rates * many[:, None])
    whole = tree.drives(many, q)
    for k in (3, 1016, 1017, 1023, 1024, 1025, 1030, 1031, 2048, 2496):
        part = tree.drives(many[k - 3 : k + 4], q[k - 3 : k + 4])
        assert all((ours[k] == alone[3]).all() for ours, alone in zip(whole, part)), k
    for k in (0, 2499):
        first = min(k, 2493)
        part = tree.drives(many[first : first + 7], q[first : first + 7])
        assert all((ours[k] == alone[k - first]).all() for ours, alone in zip(whole, part)), k
    many[1800] = many[1799]
    with pytest.raises(dalembert.StudyError, match="look at row 1801"):
        tree.drives(many, q)
    with pytest.raises(dalembert.StudyError, match="three rows or more"):
        tree.drives(t[:2], q[:2])
    with pytest.raises(dalembert.StudyError):
        tree.drives(t[::-1], q[: len(t)])
    with pytest.raises(dalembert.ArrayError, match="rows"):
        tree.drives(t[:5], q[:201])
