"""The package as it is installed: what it is, what it brings, how long its import takes."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from pathlib import Path
from typing import List

import pytest

import dalembert

#: What an import may cost, in s of CPU, the interpreter itself not counted.
IMPORT = 0.3


def test_what_is_installed_is_what_is_tested() -> None:
    info = importlib.metadata.distribution("dalembert")
    assert info.version == dalembert.__version__
    assert Path(dalembert.__file__).parent.name == "dalembert" and (Path(dalembert.__file__).parent / "py.typed").exists()
    assert info.metadata["Requires-Python"] == ">=3.9" and info.metadata["License-Expression"] == "MIT OR Apache-2.0"
    wheel = info.read_text("WHEEL") or ""
    assert "Tag: cp39-abi3-" in wheel and "maturin" in wheel
    names = {str(file) for file in info.files or []}
    assert {"dalembert/_dalembert.pyi", "dalembert/_elements.pyi", "dalembert/py.typed"} <= names
    assert set(dalembert.__all__) <= set(dir(dalembert))


@pytest.mark.skipif(os.name == "nt", reason="times of processes of Unix")
def test_an_import_is_quick() -> None:
    import resource

    def spent(program: str) -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", program], check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    times: List[float] = []
    for _ in range(5):
        times.append(spent("import dalembert") - spent("pass"))
    print(f"import dalembert: {min(times):.3f} s of CPU")
    assert min(times) < IMPORT, times


def test_an_import_brings_nothing_that_is_not_needed() -> None:
    heavy = "pandas polars pyarrow matplotlib IPython distributed dask"
    program = f"import sys, dalembert; print([name for name in '{heavy}'.split() if name in sys.modules])"
    said = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert said.strip() == "[]"
