"""Writes ``dalembert/_elements.pyi``: an overload for every kind of element with its keys, from the registry of the library.

``python python/stubs.py`` writes the file, with ``--check`` it says whether the file is what it would write.
"""

from __future__ import annotations

import keyword
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional

# The package that is installed, not the sources beside this file, which have no library.
sys.path[:] = [place for place in sys.path if Path(place or ".").resolve() != Path(__file__).parent.resolve()]

from dalembert import registry  # noqa: E402

SECTIONS = ["body", "joint", "constraint", "contact", "force", "signal", "assembly"]
#: Sections whose entries have no kinds.
PLAIN = {
    "marker": "Adds a marker: a place on a body.",
    "event": "Adds an event: an instant at which a channel crosses a level.",
    "panel": "Adds a panel to the report: channels over time.",
    "shapes": "Adds a picture to the report: the shapes of bodies at some instants.",
}
FILE = Path(__file__).parent / "dalembert" / "_elements.pyi"

HEAD = '''"""Made by ``python/stubs.py`` from the registry of the library; not to be changed by hand."""

from typing import Any, Callable, Dict, Literal, Mapping, Optional, Sequence, Union, overload

from .arrays import Array
from .scene import Table

__all__ = ["Elements", "Number", "Numbers", "registry"]

Number = Union[float, str]
"""A number, or a formula as ``"= 2*length"``."""
Numbers = Union[Sequence[Any], Array]

def registry() -> Dict[str, Any]: ...

class Elements:
'''

CALLBACKS = {
    "force": [
        ("function", "Callable[..., Any]", True),
        ("at", "Optional[str]", False),
        ("markers", "Optional[Sequence[str]]", False),
        ("states", "Optional[Numbers]", False),
        ("vectorised", "bool", False),
    ],
    "signal": [
        ("function", "Callable[..., Any]", True),
        ("derivatives", "Optional[Sequence[Callable[..., Any]]]", False),
        ("vectorised", "bool", False),
    ],
}


def annotation(schema: Any) -> str:
    """The type of a key."""
    if not isinstance(schema, dict):
        return "Any"
    types: set[str] = set()
    for choice in [schema, *schema.get("anyOf", []), *schema.get("oneOf", [])]:
        if not isinstance(choice, dict):
            return "Any"
        kind = choice.get("type")
        types.update([kind] if isinstance(kind, str) else kind or [])
        if "$ref" in choice or "const" in choice or "enum" in choice:
            types.add("any")
    if types - {"number", "integer", "string", "array", "boolean", "object", "null"} or not types:
        return "Any"
    names = []
    if types & {"number", "integer"}:
        names.append("Number")
    elif "string" in types:
        names.append("str")
    for kind, name in [("boolean", "bool"), ("array", "Numbers"), ("object", "Mapping[str, Any]")]:
        if kind in types:
            names.append(name)
    return names[0] if len(names) == 1 else f"Union[{', '.join(names)}]"


def word(key: str) -> str:
    """A key as an argument: words of the language itself get a line behind them."""
    if not key.isidentifier():
        raise SystemExit(f"`{key}` is no name of Python")
    return f"{key}_" if keyword.iskeyword(key) else key


def method(
    section: str, kind: Optional[str], summary: str, keys: List[tuple[str, str, bool]], told: List[str]
) -> List[str]:
    """A method that adds an entry, or its overload for one kind: keys that are needed come without a default."""
    lines = ["    @overload"] if kind is not None else []
    lines += [f"    def {section}(", "        self,", "        name: str,", "        *,"]
    lines += [f'        kind: Literal["{kind}"],'] if kind is not None else []
    for name, type_, needed in sorted(keys, key=lambda key: not key[2]):
        lines.append(f"        {name}: {type_}," if needed else f"        {name}: {type_} = ...,")
    lines += ["    ) -> Table:", f'        """{summary}']
    lines += ["", *(f"        {line}" for line in told)] if told else []
    lines += ['        """', ""]
    return lines


def meanings(known: Dict[str, Any], section: str, kind: str) -> List[str]:
    """A line for every key: unit and meaning."""
    own = next(one for one in known["kinds"] if (one["section"], one["kind"]) == (section, kind))
    return [meaning(field["name"], field["unit"], field["meaning"]) for field in own["fields"]]


def meaning(name: str, unit: str, text: str) -> str:
    """Unit and meaning of a key, in a line that can stand in a text of Python."""
    line = f"{word(name)}{f' [{unit}]' if unit else ''}: {text}"
    return line.replace("\\", "").replace('"', "`")


def typed(entry: Dict[str, Any]) -> List[tuple[str, str, bool]]:
    """The keys of an entry: names, types, and whether they must be given."""
    needed = set(entry.get("required", []))
    return [(word(name), annotation(schema), name in needed) for name, schema in entry["properties"].items() if name != "kind"]


def text() -> str:
    """The whole file."""
    known = registry()
    summaries = {(kind["section"], kind["kind"]): kind["summary"] for kind in known["kinds"]}
    lines: List[str] = []
    for section in SECTIONS:
        choices = known["schema"]["properties"][section]["additionalProperties"]
        for entry in choices.get("oneOf") or choices.get("anyOf"):
            kind = entry["properties"]["kind"]["const"]
            lines += method(section, kind, summaries[section, kind], typed(entry), meanings(known, section, kind))
        if section in CALLBACKS:
            lines += method(section, "callback", f"A {section} whose function is written in Python.", CALLBACKS[section], [])
    for section, summary in PLAIN.items():
        entry = known["schema"]["properties"][section]["additionalProperties"]
        told = [meaning(name, key.get("unit", ""), key.get("description", "")) for name, key in entry["properties"].items()]
        lines += method(section, None, summary, typed(entry), told)
    lines += [
        "    def _add(self, section: str, name: str, keys: Dict[str, Any]) -> Table: ...",
        "    def _element(self, section: str, name: str, keys: Dict[str, Any]) -> Table: ...",
    ]
    return HEAD + "\n".join(lines) + "\n"


def main() -> None:
    """Writes or checks."""
    if "--check" in sys.argv[1:]:
        if FILE.read_text(encoding="utf-8") != text():
            raise SystemExit(f"{FILE.name} is not what the registry says; run python/stubs.py")
    else:
        FILE.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
