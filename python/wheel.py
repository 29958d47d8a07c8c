"""Packs a wheel from a library that is built already: ``wheel.py LIBRARY FOLDER`` prints the path of the wheel.

It is what ``maturin build`` packs, without a build of its own; the tests of the project use it. ``pip install .`` builds with maturin.
"""

from __future__ import annotations

import base64
import hashlib
import re
import sys
import sysconfig
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def version() -> str:
    """The version of the workspace."""
    text = (ROOT / "Cargo.toml").read_text(encoding="utf-8")
    found = re.search(r'\[workspace\.package\]\s*version = "([^"]+)"', text)
    if found is None:
        raise SystemExit("Cargo.toml has no version")
    return found.group(1)


def metadata(number: str) -> str:
    """What the package says of itself; the rest is in pyproject.toml."""
    lines = ["Metadata-Version: 2.1", "Name: dalembert", f"Version: {number}", "Requires-Python: >=3.9"]
    return "\n".join([*lines, "Requires-Dist: numpy>=1.22", ""])


def pack(library: Path, folder: Path) -> Path:
    """Writes the wheel."""
    number = version()
    platform = re.sub(r"[-.]", "_", sysconfig.get_platform())
    tag = f"cp39-abi3-{platform}"
    name, info = f"dalembert-{number}", f"dalembert-{number}.dist-info"
    ending = ".pyd" if library.suffix == ".dll" else ".abi3.so"
    files = {f"dalembert/_dalembert{ending}": library.read_bytes()}
    for path in sorted((ROOT / "python" / "dalembert").glob("*")):
        if path.suffix in (".py", ".pyi", ".typed") or path.name == "py.typed":
            files[f"dalembert/{path.name}"] = path.read_bytes()
    files[f"{info}/METADATA"] = metadata(number).encode()
    files[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: dalembert\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    record = []
    for place, content in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        record.append(f"{place},sha256={digest},{len(content)}")
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{name}-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_STORED) as archive:
        for place, content in files.items():
            archive.writestr(place, content)
    return wheel


if __name__ == "__main__":
    print(pack(Path(sys.argv[1]), Path(sys.argv[2])))
