"""Files and disks: what is written is there whole or not at all, and what was computed is not lost."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import dalembert

from conftest import PENDULUM

COMMENTED = """# A bob on a rod.
[parameters]
length = 0.5                                  # m
angle = { value = 0.3, min = 0, max = 1 }     # from the vertical

[body.bob]
kind = "particle"
mass = 2                                      # kg
position = ["= length*sin(angle)", 0, "= -length*cos(angle)"]

[constraint.rod]
kind = "distance"
between = ["ground", "bob"]
length = "= length"

# How long.
[run]
until = 1
"""


def test_a_saved_scene_keeps_its_words(tmp_path: Path) -> None:
    path = tmp_path / "bob.toml"
    path.write_text(COMMENTED)
    scene = dalembert.load(path)
    assert scene.to_toml() == COMMENTED
    scene.set("parameters.angle", 0.4).set("body.bob.mass", 2.5).set("body.bob.position[1]", "= 0*length")
    scene["run"]["tolerance"] = 1e-9
    scene["world"] = {"gravity": [0, 0, -9.81]}
    wanted = COMMENTED.replace("value = 0.3", "value = 0.4").replace("mass = 2  ", "mass = 2.5  ")
    wanted = wanted.replace('sin(angle)", 0,', 'sin(angle)", "= 0*length",').replace("until = 1\n", "until = 1\ntolerance = 1e-9\n")
    wanted += "\n[world]\ngravity = [0, 0, -9.81]\n"
    assert scene.to_toml() == wanted
    model = scene.model().to_toml()
    scene.save(path)
    assert path.read_text() == wanted
    again = dalembert.load(path)
    assert again == scene and again.model().to_toml() == model
    # What is wrong is told at its place in the text that would be saved.
    scene["body"]["bob"]["mass"] = -1
    with pytest.raises(dalembert.SceneError) as caught:
        scene.model()
    problem = caught.value.problems[0]
    assert problem.line is not None and scene.to_toml().splitlines()[problem.line - 1].startswith("mass = -1")


@pytest.mark.parametrize("name", dalembert.scenes())
def test_built_in_scenes_are_their_own_texts(name: str) -> None:
    scene = dalembert.load(name)
    before = scene.to_toml()
    assert [before.encode()] == list(scene._files.values())
    scene.set("run.until", 0.125)
    after = scene.to_toml()
    assert dalembert.Scene.from_text(after).tree == scene.tree
    # All other lines stay as they are.
    lines = after.splitlines()
    changed = [line for line in before.splitlines() if line not in lines]
    assert all("until" in line for line in changed), changed


def test_what_is_set_on_repeats_stands_in_the_text() -> None:
    chain = dalembert.load("chain")
    text = chain.to_toml()
    chain.set("parameters.n", 3).set("body.link2.mass", 7.5).set("body.link2.mass", 8.5).set("body.link3.position[2]", "= -1")
    saved = chain.to_toml()
    assert chain["set"] == {"body.link2.mass": 8.5, "body.link3.position[2]": "= -1"}
    assert saved.startswith(text.split("\n", 1)[0]) and "[[repeat]]" in saved and saved.rstrip().endswith('= "= -1"')
    again = dalembert.Scene.from_text(saved)
    assert again == chain and again.model().to_toml() == chain.model().to_toml()
    assert again.model().mass_matrix(again.model().initial.q).max() == 8.5
    with pytest.raises(dalembert.SceneError, match="there is no `body.lnk2`"):
        chain.set("body.lnk2.mass", 1).model()


def limited(program: str, folder: Path) -> str:
    """Runs a program in a Python of its own in a folder, where `limit(bytes)` says how long a file may be."""
    head = """
        import os, resource, dalembert
        most = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
        def limit(size=None):
            resource.setrlimit(resource.RLIMIT_FSIZE, (most if size is None else size, most))
    """
    whole = textwrap.dedent(head) + textwrap.dedent(program)
    done = subprocess.run([sys.executable, "-c", whole], cwd=folder, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    return done.stdout


full = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of Linux")


@full
def test_a_scene_that_cannot_be_saved_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "bob.toml").write_text(PENDULUM)
    said = limited(
        """
        scene = dalembert.load("bob.toml").set("body.bob.mass", 3)
        limit(100)
        for save in (lambda: scene.save("bob.toml"), lambda: scene.save("new.toml"), lambda: dalembert.Page("x" * 999).save("page.html")):
            try:
                save()
            except dalembert.FileError as error:
                print(error, isinstance(error, OSError), error.errno)
        print(sorted(os.listdir(".")))
        """,
        tmp_path,
    )
    names = ["bob.toml", "new.toml", "page.html"]
    assert said.splitlines()[:3] == [f"cannot write `{name}`: File too large True 27" for name in names]
    assert said.splitlines()[3] == "['bob.toml']" and (tmp_path / "bob.toml").read_text() == PENDULUM
    with pytest.raises(dalembert.FileError, match="cannot write `.*`: No such file"):
        dalembert.Scene().save(tmp_path / "no" / "folder.toml")


@full
def test_a_run_that_cannot_be_written_is_handed_over(tmp_path: Path) -> None:
    said = limited(
        """
        whole = dalembert.load("double-pendulum").run(until=1, out="whole")
        limit(20000)
        try:
            dalembert.load("double-pendulum").run(until=1, out="full")
        except dalembert.RecordError as error:
            print("full" in str(error) and "File too large" in str(error))
            run = error.result
        print(sorted(os.listdir(".")), run.status)
        limit()
        run.write("full")
        for file in ("trajectory.parquet", "steps.csv", "scene.toml"):
            print(open(f"full/{file}", "rb").read() == open(f"whole/{file}", "rb").read())
        """,
        tmp_path,
    )
    assert said.split("\n")[:5] == ["True", "['whole'] completed", "True", "True", "True"]


@full
def test_a_sweep_on_a_full_disk_goes_on(tmp_path: Path) -> None:
    said = limited(
        """
        study = {
            "sweep": {"scene": "bouncing-ball", "set": ["run.until=0.6"], "samples": 40},
            "vary": [{"path": "parameters.restitution", "uniform": [0.5, 0.9]}],
            "output": [{"name": "kinetic", "energy": "kinetic"}],
        }
        whole = dalembert.sweep(study, progress=False).to_bytes()
        limit(600)
        try:
            dalembert.sweep(study, jobs=2, out="out", progress=False)
        except dalembert.FileError as error:
            print("out/journal" in str(error) and "File too large" in str(error), 0 < len(error.result) < 40)
            kept = len(error.result)
        limit(1500)
        try:
            dalembert.sweep(study, out="out", progress=False)
        except dalembert.FileError as error:
            print("results.parquet" in str(error), error.result.to_bytes() == whole, sorted(os.listdir("out")))
        limit()
        table = dalembert.sweep(study, out="out", progress=False)
        print(table.before, kept, table.to_bytes() == whole, open("out/results.parquet", "rb").read() == whole)
        """,
        tmp_path,
    )
    first, second, third = said.splitlines()
    assert first == "True True" and second == "True True ['journal']"
    before, kept, *same = third.split()
    assert before == "40" and 0 < int(kept) < 40 and same == ["True", "True"]


@full
def test_a_front_on_a_full_disk_is_told(tmp_path: Path) -> None:
    said = limited(
        """
        limit(4000)
        try:
            dalembert.optimise("pareto-chain", out="front", jobs=1, progress=False)
        except dalembert.FileError as error:
            print("front/journal" in str(error) and "File too large" in str(error))
        print(os.path.getsize("front/journal") <= 4000)
        """,
        tmp_path,
    )
    assert said.split() == ["True", "True"]


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    with pytest.raises(dalembert.FileError, match="cannot read `.*arm.urdf`: No such file") as caught:
        dalembert.load_robot(tmp_path / "arm.urdf")
    assert caught.value.errno == 2
    (tmp_path / "arm.urdf").write_bytes(b"\xff\xfe\x00robot")
    with pytest.raises(dalembert.FileError, match="not UTF-8"):
        dalembert.load_robot(tmp_path / "arm.urdf")
    (tmp_path / "file").write_text("")
    with pytest.raises(dalembert.FileError, match="cannot make the folder"):
        dalembert.sweep({"sweep": {"scene": "oscillator"}, "output": [{"name": "k", "energy": "kinetic"}]}, out=tmp_path / "file" / "x")
    if os.name != "nt" and os.geteuid() != 0:
        locked = tmp_path / "locked"
        locked.mkdir(mode=0o500)
        with pytest.raises(dalembert.FileError, match="Permission denied"):
            dalembert.Scene().save(locked / "a.toml")
