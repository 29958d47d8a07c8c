"""Every notebook of docs/notebooks runs from top to bottom, and is committed without outputs; kernels can be interrupted."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Dict, List

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")
pytest.importorskip("matplotlib")
pytest.importorskip("pandas")

FOLDER = Path(__file__).parents[2] / "docs" / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def test_there_are_a_quick_start_and_six_examples() -> None:
    assert len(NOTEBOOKS) == 7 and "quick-start" in {path.stem for path in NOTEBOOKS}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    raw = json.loads(path.read_text(encoding="utf-8"))
    cells = [cell for cell in raw["cells"] if cell["cell_type"] == "code"]
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells), "clear all outputs before a commit"
    assert any("assert" in "".join(cell["source"]) for cell in cells), "a notebook asserts what it shows"
    notebook: Any = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    resources = {"metadata": {"path": str(tmp_path)}}
    nbclient.NotebookClient(notebook, timeout=6000, kernel_name="python3", resources=resources).execute()


SLOW = """
import dalembert
scene = dalembert.load("chaos-pendulum").set("run.until", 1e7)
scene["output"] = {"every": 100}
scene.run()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_the_stop_button_ends_a_run_and_not_the_kernel() -> None:
    """The button interrupts the kernel; what was computed is there in the next cell."""
    from jupyter_client.manager import start_new_kernel

    manager, client = start_new_kernel(kernel_name="python3")
    try:
        bars: List[str] = []

        def execute(code: str, stop: bool = False) -> Dict[str, Any]:
            asked = client.execute(code)
            while True:
                message = client.get_iopub_msg(timeout=600)
                if message["parent_header"].get("msg_id") != asked:
                    continue
                content = message["content"]
                if message["msg_type"] in ("display_data", "update_display_data"):
                    bars.append(content["data"].get("text/html", ""))
                    if stop:
                        manager.interrupt_kernel()
                        stop = False
                if message["msg_type"] == "status" and content["execution_state"] == "idle":
                    break
            # Answers to what was asked while the kernel started may come late.
            while True:
                reply: Dict[str, Any] = client.get_shell_msg(timeout=600)
                if reply["parent_header"].get("msg_id") == asked:
                    content = reply["content"]
                    assert isinstance(content, dict)
                    return content

        # The bar appears after half a second; then the button is pressed.
        ended = execute(SLOW, stop=True)
        assert ended["status"] == "error" and ended["ename"] == "Interrupted", ended
        assert "resume=" in ended["evalue"]
        assert "<progress" in bars[0] and "left" in bars[0] and bars[-1] == ""
        after = execute("import sys; run = sys.last_value.run; assert run.status == 'interrupted' and len(run.time) > 0")
        assert after["status"] == "ok", after
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
