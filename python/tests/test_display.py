"""What notebooks show."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path
from typing import Any, Dict, List
from xml.etree import ElementTree

import pytest

import dalembert
from dalembert import charts
from dalembert.progress import Bar


def test_scenes_models_runs_and_studies_have_tables(pendulum: dalembert.Scene) -> None:
    pendulum["scene"]["title"] = "<b>&"
    run = pendulum.run()
    tree = dalembert.load("duffing-a").model().tree()
    everything: List[Any] = [pendulum, pendulum.model(), run, pendulum.study("modes"), tree]
    for shown in everything:
        text = shown._repr_html_()
        assert "<table>" in text and "<b>&<" not in text
        assert repr(shown).startswith("<")
    assert "<svg" in run._repr_html_() and "closes" in run._repr_html_()


def test_tables_say_what_people_want_to_know() -> None:
    pendulum = dalembert.load("double-pendulum")
    # Values and formulas of a scene, units of a study, many elements of a kind in one row.
    assert "mass = mass" in pendulum._repr_html_() and "axis [0, -1, 0]" in pendulum._repr_html_()
    modes = pendulum.study("modes")._repr_html_()
    assert "rad/s" in modes and "1/s²" in modes and "-0." not in modes.split("damping_ratios")[1].split("</tr>")[0]
    leech = dalembert.load("leech").model()._repr_html_()
    assert "24 × particle" in leech and "leech_corner0_1 … leech_corner5_4" in leech and "leech_corner3_1" not in leech and len(leech) < 3000


TURN = 6.283185307179586
STUDIES: Dict[str, Dict[str, Any]] = {
    "modes": {},
    "frequency-response": {"force": "mass", "measure": "mass"},
    "periodic-response": {"force": {"mass": "cos(t)"}, "period": TURN},
    "floquet": {"period": TURN},
    "limit-cycle": {"period": TURN, "settle": 30},
    "continuation": {"parameter": "parameters.force", "from_": 1.0, "to": 1.1, "period": TURN, "points": 4},
    "lyapunov": {"batch": 5, "batches": 2, "transient": 5},
    "portrait": {"coordinate": "mass", "period": 0.1},
    "spectrum": {"coordinate": "mass", "interval": 0.5, "samples": 64, "segment": 32},
    "bifurcation": {"parameter": "parameters.force", "from_": 1, "to": 2, "count": 2, "coordinate": "mass", "period": 1, "settle": 1},
    "chart": {"across": {"parameters.force": (1, 2)}, "up": {"parameters.damping": (0.1, 0.2)}, "count": 3, "period": 1.0},
    "basin": {"over": {"mass": (-1, 1)}, "over_rate": {"mass": (-1, 1)}, "count": 2, "coordinate": "mass", "period": 1, "settle": 1},
}


@pytest.mark.parametrize("kind", STUDIES)
def test_studies_have_charts(kind: str) -> None:
    study = dalembert.load("duffing-a").study(kind, **STUDIES[kind])
    picture = study.plot()
    assert picture is not None
    drawn = ElementTree.fromstring(picture.svg)
    texts = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    paths = [path.attrib["d"] for path in drawn.iter("{http://www.w3.org/2000/svg}path")]
    assert len(texts) > 5 and paths and not any("nan" in path or "inf" in path for path in paths)
    assert picture.svg in study._repr_html_()


def test_a_chart_draws_points_where_they_are() -> None:
    # Two points at the ends of both axes are at the corners, 3 % inside; what is not finite is left out.
    drawn = charts.curves([charts.Curve("a<b", [0, 1, float("nan")], [10, 30, 20], dots=True)], "x", "y")
    dots = next(path.attrib["d"] for path in ElementTree.fromstring(drawn).iter() if "stroke-linecap" in path.attrib)
    numbers = [[float(number) for number in dot[:-2].split()] for dot in dots.split("M")[1:]]
    wide, high = 640 - 150 - 70, 320 - 44 - 14
    wanted = [[70 + wide * 0.03 / 1.06, 276 - high * 0.03 / 1.06], [70 + wide * 1.03 / 1.06, 276 - high * 1.03 / 1.06]]
    assert len(numbers) == 2 and all(abs(a - b) <= 0.05 + 1e-9 for x, y in zip(numbers, wanted) for a, b in zip(x, y))
    assert "a&lt;b" in drawn


def test_pictures_are_svg(pendulum: dalembert.Scene, tmp_path: Any) -> None:
    run = pendulum.run()
    for picture in [run.plot(), run.plot("body.bob.position.*"), run.plot("energy.kinetic", "body.bob.position.x")]:
        assert ElementTree.fromstring(picture._repr_svg_()).tag.endswith("svg")
    assert run.pictures
    run.plot().save(tmp_path / "plot.svg")
    with pytest.raises(ValueError, match="more than two units"):
        run.plot("*")


def test_pages_stand_in_frames(pendulum: dalembert.Scene) -> None:
    run = pendulum.run()
    page = run.report()
    assert page.text.startswith("<!DOCTYPE html>")
    frame = ElementTree.fromstring(page._repr_html_())
    # Line ends in attributes are read as spaces.
    assert frame.tag == "iframe" and frame.attrib["srcdoc"].split() == page.text.split()
    assert frame.attrib["sandbox"] == "allow-scripts"


BUNDLE = Path(__file__).parents[2] / "viewer" / "dist" / "viewer.js"


@pytest.mark.skipif(not BUNDLE.exists(), reason="the viewer is not built; `cargo xtask viewer` does it")
def test_the_animation_is_that_of_the_record(tmp_path: Path) -> None:
    run = dalembert.load("double-pendulum").run(until=0.5, out=tmp_path / "run")
    shown = run.animation()
    data, script = shown.text.split('id="animation">')[1].split("</script><script>")
    assert json.loads(data) == json.loads((tmp_path / "run" / "animation.json").read_text(encoding="utf-8"))
    assert script.startswith(BUNDLE.read_text(encoding="utf-8"))


@pytest.mark.skipif(not BUNDLE.exists(), reason="the viewer is not built; `cargo xtask viewer` does it")
def test_the_animation_is_drawn_in_the_frame_of_a_notebook(tmp_path: Path) -> None:
    browser = os.environ.get("DALEMBERT_BROWSER") or shutil.which("chromium")
    if browser is None:
        pytest.skip("there is no Chromium")
    shown = dalembert.load("double-pendulum").run(until=0.5).animation()
    # The frame may not be looked into from outside: it counts what it has drawn, and errors, and says so.
    tell = """<script>
        const faults = []; addEventListener("error", event => faults.push(event.message));
        setTimeout(() =>
            parent.postMessage(`canvases ${document.querySelectorAll("canvas").length} faults [${faults}]`, "*"), 1000);
    </script>"""
    shown.text = shown.text.replace("<head>", "<head>" + tell, 1)
    hear = "<script>addEventListener('message', event => document.title = event.data)</script>"
    page = tmp_path / "notebook.html"
    page.write_text(f"<html><head>{hear}</head><body>{shown._repr_html_()}</body></html>", encoding="utf-8")
    flags = "--headless --no-sandbox --disable-gpu --use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader"
    quiet = ["--disable-background-networking", f"--user-data-dir={tmp_path / 'profile'}"]
    # In one process, so that frame and page share the time that is waited for.
    wait = ["--disable-features=IsolateSandboxedIframes", "--disable-site-isolation-trials", "--virtual-time-budget=20000"]
    command = [browser, *flags.split(), *quiet, *wait, "--dump-dom", page.as_uri()]
    found = subprocess.run(command, capture_output=True, text=True, timeout=600).stdout
    title = re.search("<title>(.*?)</title>", found)
    assert title is not None and title.group(1) == "canvases 1 faults []", title


def test_a_bar_in_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    bar = Bar((0.0, 2.0), "title", False, 0.0)
    bar(1.0, 10)
    assert "50 %" in capsys.readouterr().err
    bar.close()


def test_a_bar_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: List[Any] = []

    class Seen(Exception):
        """Ends work that would take long."""

    class Handle:
        def display(self, page: str) -> None:
            shown.append(page)
            if page:
                raise Seen

        update = display

    shell = types.ModuleType("IPython")
    pages = types.ModuleType("IPython.display")
    kernel = type("ZMQInteractiveShell", (), {})()
    setattr(shell, "get_ipython", lambda: kernel)
    setattr(pages, "HTML", str)
    setattr(pages, "DisplayHandle", Handle)
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", pages)
    scene = dalembert.load("double-pendulum").set("run.until", 1e6)
    scene["output"] = {"every": 10}
    study: Dict[str, Any] = {
        "sweep": {"scene": "leech", "set": ["run.until=0.05"], "samples": 100000},
        "vary": [{"path": "parameters.mu", "uniform": [0.1, 0.8]}],
        "output": [{"name": "kinetic", "energy": "kinetic"}],
    }
    works: Dict[str, Any] = {
        "left": lambda: scene.run(progress=True),
        "of 1000000, ": lambda: dalembert.load("duffing-a").study("lyapunov", batches=10**6, batch=1.0, transient=0.0, progress=True),
        "of 100000 rows": lambda: dalembert.sweep(study, jobs=1, progress=True),
        "objective": lambda: dalembert.optimise("four-body-chain", progress=True),
    }
    for text, work in works.items():
        shown.clear()
        with pytest.raises(Seen):
            work()
        assert shown and "<progress" in shown[0] and text in shown[0], (text, shown[:1])
        # It is taken away in the end.
        assert shown[-1] == "" and all("<progress" in page for page in shown[:-1])


def test_nobody_looks_and_nothing_is_shown(pendulum: dalembert.Scene, capsys: pytest.CaptureFixture[str]) -> None:
    pendulum.run()
    pendulum.run(progress=False)
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err == ""
