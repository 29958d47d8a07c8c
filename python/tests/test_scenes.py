"""Scenes: loading, changing, building and saving them; errors with their places."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any, Callable

import numpy as np
import pytest

import dalembert

from conftest import PENDULUM


@pytest.mark.parametrize("name", dalembert.scenes())
def test_built_in_scenes_are_the_same_from_their_trees(name: str) -> None:
    scene = dalembert.load(name)
    written = dalembert.Scene.from_dict(scene.tree, name=name)
    assert written.model().to_toml() == scene.model().to_toml()
    again = dalembert.Scene.from_text(scene.to_toml())
    assert again.tree == scene.tree


def test_values_are_changed_by_name(pendulum: dalembert.Scene) -> None:
    pendulum["body"]["bob"]["mass"] = 3
    pendulum["body"].bob.velocity = np.array([0.0, 0.5, 0.0])
    pendulum.set("parameters.angle", 0.2).set("run.until", 0.5).set("body.bob.position[1]", "= 0*length")
    assert pendulum["parameters"]["angle"]["value"] == 0.2
    model = pendulum.model()
    assert model.mass_matrix(model.initial.q)[0, 0] == 3.0
    assert model.initial.q[0] == 0.5 * np.sin(0.2)
    assert list(model.initial.v) == [0.0, 0.5, 0.0]


def test_lists_are_replaced_by_arrays(pendulum: dalembert.Scene) -> None:
    place = [0.5 * np.sin(0.3), 0.0, -0.5 * np.cos(0.3)]
    pendulum["body"]["bob"]["position"] = np.array(place)
    pendulum["body"]["bob"]["mass"] = np.float64(3)
    assert pendulum["body"]["bob"]["position"] == place and type(pendulum["body"]["bob"]["mass"]) is float
    pendulum.set("body.bob.velocity", np.zeros(3)).set("body.bob.position", np.array(place))
    pendulum["world"] = {"gravity": np.array([0, 0, -1])}
    assert pendulum["world"]["gravity"] == [0, 0, -1]
    assert list(pendulum.model().initial.q) == place
    assert pickle.loads(pickle.dumps(pendulum)) == pendulum == pendulum.copy()
    for wrong in (b"rigid", bytearray(3)):
        pendulum["body"]["bob"]["kind"] = wrong
        with pytest.raises(dalembert.ArgumentTypeError, match="body.bob.kind: a scene cannot hold .*decode"):
            pendulum.model()


def test_a_scene_is_what_it_was_when_it_was_read(tmp_path: Path) -> None:
    """A file that is changed, moved or deleted later changes nothing: the scene has its own text, with all that it includes."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "world.toml").write_text("[world]\ngravity = [0, 0, -9.81]\n")
    text = 'include = "parts/world.toml"\n' + PENDULUM.replace("[world]\ngravity = [0, 0, -9.81]\n", "")
    path = tmp_path / "bob.toml"
    path.write_text(text)
    scene = dalembert.load(path)
    wanted = scene.run()["body.bob.position.x"]
    packed = pickle.dumps(scene)
    path.write_text(text.replace("angle = { value = 0.3", "angle = { value = 0.9"))
    (tmp_path / "parts" / "world.toml").write_text("[world]\ngravity = [0, 0, -1.62]\n")
    assert scene["parameters"]["angle"]["value"] == 0.3
    assert (scene.run()["body.bob.position.x"] == wanted).all()
    assert scene.model().study("modes").frequencies.shape == dalembert.load(path).study("modes").frequencies.shape
    assert (dalembert.load(path).run()["body.bob.position.x"] != wanted).any()
    path.unlink()
    (tmp_path / "parts" / "world.toml").unlink()
    for again in (scene, pickle.loads(packed), scene.copy()):
        assert (again.run()["body.bob.position.x"] == wanted).all()
        # Values are varied in the text that was read, too.
        with pytest.raises(dalembert.StudyError, match="angle"):
            few: Any = {"coordinate": "bob.x", "period": 1.4, "settle": 1, "points": 1, "count": 2}
            again.study("bifurcation", parameter="parameters.angle", from_=2.0, to=3.0, **few)
    again.set("parameters.angle", 0.2)
    assert again.model().initial.q[0] == 0.5 * np.sin(0.2)
    packed_problem = dalembert.load("double-pendulum")
    assert pickle.loads(pickle.dumps(packed_problem)) == packed_problem


def test_meshes_travel_with_scenes(tmp_path: Path) -> None:
    (tmp_path / "leaf.stl").write_text(
        "solid leaf\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid leaf\n"
    )
    path = tmp_path / "leaf.toml"
    path.write_text(
        '[body.leaf]\nkind = "rigid"\nmass = 1\ninertia = [1, 1, 1]\nshape = { mesh = { file = "leaf.stl" } }\n[run]\nuntil = 0.1\n'
    )
    scene = dalembert.load(path)
    packed = pickle.dumps(scene)
    scene.model()
    (tmp_path / "leaf.stl").unlink()
    with pytest.raises(dalembert.SceneError, match="leaf.stl"):
        scene.model()
    assert pickle.loads(packed).run().status == "completed"


def test_what_a_repeat_makes_can_be_set() -> None:
    chain = dalembert.load("chain").set("parameters.n", 3)
    names = [element.name for element in chain.model().elements if element.section == "body"]
    assert names == ["ground", "link0", "link1", "link2", "link3"]
    chain.set("body.link2.mass", 7.5)
    assert chain["set"]
    assert chain.model().mass_matrix(chain.model().initial.q).max() == 7.5
    assert dalembert.Scene.from_text(chain.to_toml()).model().to_toml() == chain.model().to_toml()


def test_a_scene_is_built_by_keywords() -> None:
    scene = dalembert.Scene(name="built")
    scene["world"] = {"gravity": [0, 0, -9.81]}
    scene.body("arm", kind="rigid", mass=1, inertia=[0.02, 0.02, 0.001], position=[0, 0, -0.5])
    scene["body"]["arm"]["markers"] = {"top": {"at": [0, 0, 0.5]}}
    scene.joint("hinge", kind="revolute", between=["ground", "arm.top"], axis=[0, 1, 0])
    scene.signal("push", kind="smooth_step", from_=0, to=0.3, start=0, end=0.1)
    scene.force("drive", kind="applied_torque", at="arm", torque=[0, "push", 0])
    scene["run"] = {"until": 0.5}
    run = scene.run()
    assert run.status == "completed"
    assert run["body.arm.position.x"][-1] != 0.0


def test_a_saved_scene_reads_back_the_same(pendulum: dalembert.Scene, tmp_path: Path) -> None:
    pendulum["body"]["bob"]["mass"] = 2.5
    pendulum.save(tmp_path / "changed.toml")
    again = dalembert.load(tmp_path / "changed.toml")
    assert again.tree == pendulum.tree
    assert again.model().to_toml() == pendulum.model().to_toml()
    assert again.name == "changed"


def test_scenes_can_be_copied_and_pickled(pendulum: dalembert.Scene) -> None:
    for other in [pickle.loads(pickle.dumps(pendulum)), copy.deepcopy(pendulum), pendulum.copy()]:
        assert other == pendulum
        other["body"]["bob"]["mass"] = 9
        assert other != pendulum
        assert isinstance(other["body"]["bob"], dalembert.Table)
    assert pendulum["body"]["bob"]["mass"] == 2


def test_problems_have_the_places_of_the_file(tmp_path: Path, command_line: Callable[..., str]) -> None:
    import subprocess

    path = tmp_path / "bad.toml"
    path.write_text(PENDULUM.replace("mass = 2", "mas = 2").replace('kind = "distance"', 'kind = "distanc"'))
    with pytest.raises(dalembert.SceneError) as caught:
        dalembert.load(path).run()
    problems = caught.value.problems
    lines = path.read_text().splitlines()
    places = {lines[p.line - 1].split(" ")[0] for p in problems if p.line}
    assert {"mas", "kind"} <= places
    assert all(p.file == str(path) for p in problems)
    with pytest.raises(subprocess.CalledProcessError) as said:
        command_line("run", str(path))
    for line in str(caught.value).splitlines():
        assert line in said.value.stderr
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.problems == problems and str(again) == str(caught.value)


def test_kinds_and_keys_are_checked_where_they_are_given() -> None:
    scene: Any = dalembert.Scene()
    with pytest.raises(dalembert.SceneError, match="did you mean `rigid`"):
        scene.body("arm", kind="rigit", mass=1)
    with pytest.raises(dalembert.SceneError, match="did you mean `mass`"):
        scene.body("arm", kind="particle", mas=1)
    scene.body("arm", kind="particle", mass=1)
    with pytest.raises(ValueError, match="already"):
        scene.body("arm", kind="particle", mass=1)
    with pytest.raises(TypeError, match="body.arm.mass: a scene cannot hold"):
        scene["body"]["arm"]["mass"] = object()
        scene.model()
    with pytest.raises(dalembert.SceneNotFound, match="did you mean `leech`"):
        dalembert.load("lech")
    with pytest.raises(FileNotFoundError):
        dalembert.load("no/such/file.toml")


def test_everything_registered_can_be_named() -> None:
    known = dalembert.registry()
    assert {kind["section"] for kind in known["kinds"]} >= {"body", "joint", "force", "signal", "contact"}
    assert any(entry["name"] == "dop853" for entry in dalembert.integrators())
