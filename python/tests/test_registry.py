"""Everything that a scene can say can be said in Python: every section, kind and key of the registry, with the same names, gives the same document."""

from __future__ import annotations

import sys
from keyword import iskeyword
from typing import Any, Dict, Iterator, List, Tuple

import pytest

import dalembert

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

SCHEMA: Dict[str, Any] = dalembert.registry()["schema"]
#: Sections whose entries have names, each with a method of this name.
NAMED = [s for s, own in SCHEMA["properties"].items() if hasattr(dalembert.Scene, s) and isinstance(own.get("additionalProperties"), dict)]
#: All others are written as they are: ``scene["run"] = {…}``. `set` is a method too, which sets values by their paths.
OTHERS = ["scene", "world", "run", "output", "include", "parameters", "repeat", "set", "comparison"]


def entries(section: str) -> List[Dict[str, Any]]:
    own: Dict[str, Any] = SCHEMA["properties"][section]["additionalProperties"]
    every: List[Dict[str, Any]] = own.get("oneOf") or own.get("anyOf") or [own]
    return every


def kind_of(entry: Dict[str, Any]) -> str:
    return str(entry["properties"].get("kind", {}).get("const", ""))


KINDS: List[Tuple[str, str]] = [(section, kind_of(entry)) for section in NAMED for entry in entries(section)]


#: A text that is a name, and a formula where one is wanted.
TEXT = "1"


def example(schema: Any, deep: int = 0) -> Any:
    """A value that the schema allows, with every key of every table down to a depth at which things that hold themselves end."""
    if schema is True or not isinstance(schema, dict):
        return TEXT
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return [0.5, 0.5, 0.5] if name == "Inertia" else example(SCHEMA["$defs"][name], deep + 1)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for several in ("oneOf", "anyOf"):
        choices = [one for one in schema.get(several, []) if one.get("type") != "null"]
        if choices:
            return example(choices[0], deep)
    kind = schema.get("type", "string")
    kind = next(one for one in kind if one != "null") if isinstance(kind, list) else kind
    if kind == "object":
        needed = schema.get("required", [])
        table = {key: example(own, deep + 1) for key, own in schema.get("properties", {}).items() if deep < 5 or key in needed}
        more = schema.get("additionalProperties")
        return {**table, "one": example(more, deep + 1)} if isinstance(more, dict) and deep < 5 else table
    if kind == "array":
        parts = schema.get("prefixItems")
        if parts is not None:
            return [example(part, deep + 1) for part in parts]
        return [example(schema.get("items", True), deep + 1)] * max(schema.get("minItems", 1), 1)
    plain: Any = {"number": 0.5, "integer": 1, "boolean": True, "string": TEXT}[kind]
    return max(plain, schema.get("minimum", plain)) if kind in ("number", "integer") else plain


def word(key: str) -> str:
    return f"{key}_" if iskeyword(key) else key


def complaints(scene: dalembert.Scene) -> Iterator[str]:
    """What the reader says of keys that it does not know."""
    try:
        scene.model()
    except dalembert.SceneError as error:
        words = ("unknown key", "unknown kind", "unknown section", "takes only")
        yield from (problem.message for problem in error.problems if any(word in problem.message for word in words))


def test_every_section_can_be_said() -> None:
    assert sorted([*NAMED, *OTHERS]) == sorted(SCHEMA["properties"])
    assert {(one["section"], one["kind"]) for one in dalembert.registry()["kinds"]} <= set(KINDS)
    scene = dalembert.Scene()
    for section in OTHERS:
        if section not in ("include", "set"):
            scene[section] = example(SCHEMA["properties"][section])
    scene["parameters"] = {"length": {"value": 0.5, "min": 0, "max": 1, "unit": "m"}, "twice": "= 2*length"}
    scene["set"] = {"run.until": 2}
    assert tomllib.loads(scene.to_toml()) == scene.tree
    assert dalembert.Scene.from_text(scene.to_toml()).tree == scene.tree
    assert list(complaints(scene)) == []


@pytest.mark.parametrize(("section", "kind"), KINDS, ids=lambda one: one or "any")
def test_every_kind_takes_its_keys(section: str, kind: str) -> None:
    """Each key of the registry is an argument of the method, and what is written is what was given, read by another reader of TOML. The reader of the command
    line knows every name in it, however deep; values are examples, and need not make a model."""
    own = next(entry for entry in entries(section) if kind_of(entry) == kind)
    given = {key: example(schema) for key, schema in own["properties"].items()}
    known = next((one for one in dalembert.registry()["kinds"] if (one["section"], one["kind"]) == (section, kind)), None)
    assert known is None or {field["name"] for field in known["fields"]} <= set(given)
    scene: Any = dalembert.Scene(name="built")
    name = "ground" if kind == "ground" else "one"
    table = getattr(scene, section)(name, **{word(key): value for key, value in given.items()})
    assert table == given and tomllib.loads(scene.to_toml()) == {section: {name: given}}
    assert list(complaints(scene)) == []
    scene[section][name]["no_such"] = 1
    assert len(list(complaints(scene))) == 1
    # One by one, too: whatever is needed with it.
    needed = {key: given[key] for key in own.get("required", [])}
    for key in given:
        alone: Any = dalembert.Scene()
        said = {**needed, key: given[key], **({"kind": kind} if kind else {})}
        getattr(alone, section)(name, **{word(one): value for one, value in said.items()})
        assert tomllib.loads(alone.to_toml()) == {section: {name: said}}
        assert list(complaints(alone)) == []
    with pytest.raises(dalembert.SceneError, match=f"{section}.{name}x: unknown key `no_such`"):
        getattr(scene, section)(f"{name}x", **{word(one): value for one, value in {**given, "no_such": 1}.items()})


@pytest.mark.parametrize("name", dalembert.scenes())
def test_every_scene_can_be_built_by_calls(name: str) -> None:
    """All scenes that come with the tool, entry by entry: the models are the same to the last digit of everything that is written down of them."""
    scene = dalembert.load(name)
    built: Any = dalembert.Scene(name=scene.name)
    for section, content in scene.tree.items():
        if section not in NAMED:
            built[section] = content
            continue
        for entry, keys in content.items():
            if section == "body" and entry == "ground":
                keys = {"kind": "ground", **keys}
            getattr(built, section)(entry, **{word(key): value for key, value in keys.items()})
    wanted = scene.model()
    found = built.model()
    assert found.to_toml() == wanted.to_toml()
    assert all((a == b).all() for a, b in zip(found.initial[1:], wanted.initial[1:]))
