"""Types are what the registry says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import dalembert


def test_the_stubs_are_not_stale() -> None:
    path = Path(__file__).parents[1] / "stubs.py"
    spec = importlib.util.spec_from_file_location("stubs", path)
    assert spec is not None and spec.loader is not None
    stubs = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(stubs)
    written = (path.parent / "dalembert" / "_elements.pyi").read_text(encoding="utf-8")
    assert written == stubs.text()


def test_every_kind_has_an_overload() -> None:
    text = (Path(__file__).parents[1] / "dalembert" / "_elements.pyi").read_text(encoding="utf-8")
    for kind in dalembert.registry()["kinds"]:
        assert f'kind: Literal["{kind["kind"]}"]' in text, kind
