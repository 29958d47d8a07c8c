"""What notebooks show."""

from __future__ import annotations

import sys
import types
from typing import Any, List
from xml.etree import ElementTree

import pytest

import dalembert
from dalembert.progress import Bar


def test_scenes_models_runs_and_studies_have_tables(pendulum: dalembert.Scene) -> None:
    pendulum["scene"]["title"] = "<b>&"
    run = pendulum.run()
    everything: List[Any] = [pendulum, pendulum.model(), run, pendulum.study("modes")]
    for shown in everything:
        text = shown._repr_html_()
        assert "<table>" in text and "<b>&<" not in text
        assert repr(shown).startswith("<")
    assert "<svg" in run._repr_html_() and "closes" in run._repr_html_()


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
    assert frame.tag == "iframe" and frame.attrib["srcdoc"] == page.text.replace("\n", " ") or frame.attrib["srcdoc"]
    shown = run.animation()
    assert "<iframe" in shown._repr_html_()
    assert 'id="animation"' in shown.text or "viewer" in shown.text


def test_a_bar_in_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    bar = Bar((0.0, 2.0), "title", False, 0.0)
    bar(1.0, 10)
    assert "50 %" in capsys.readouterr().err
    bar.close()


def test_a_bar_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: List[Any] = []

    class Handle:
        def update(self, page: str) -> None:
            shown.append(page)

    def display(page: str, display_id: bool) -> Handle:
        shown.append(page)
        return Handle()

    shell = types.ModuleType("IPython")
    pages = types.ModuleType("IPython.display")
    kernel = type("ZMQInteractiveShell", (), {})()
    setattr(shell, "get_ipython", lambda: kernel)
    setattr(pages, "HTML", str)
    setattr(pages, "display", display)
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", pages)
    scene = dalembert.load("double-pendulum").set("run.until", 40.0)
    scene.run(progress=True)
    assert "<progress" in shown[0] and "left" in shown[0] and shown[-1] == ""


def test_nobody_looks_and_nothing_is_shown(pendulum: dalembert.Scene, capsys: pytest.CaptureFixture[str]) -> None:
    pendulum.run()
    pendulum.run(progress=False)
    captured = capsys.readouterr()
    assert captured.out == "" and captured.err == ""
