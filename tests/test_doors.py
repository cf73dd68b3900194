"""Tests of the rooms' doors: lazy, honest, and the only way in from another room."""

from __future__ import annotations

import ast
import importlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from tests.landed import ROOT, SOURCE, offered

PACKAGES = sorted(
    ".".join(("agentfootprint", *door.parent.relative_to(SOURCE).parts)) for door in SOURCE.rglob("__init__.py")
)
ROOMS = {package.split(".")[1] for package in PACKAGES if "." in package}
COMMON = {"errors", "identity", "_lazy", "_optional", "_blocking"}  # modules of their own, below or beside all rooms
HEAVY = [
    *("httpx", "typer", "rich", "numpy", "scipy", "starlette", "uvicorn", "anyio", "anthropic", "openai", "google"),
    *("boto3", "ollama", "mcp", "ag_ui", "opentelemetry", "redis", "psycopg", "wordllama", "pydantic"),
]
LONGEST = 500  # lines


def folder_of(package: str) -> Path:
    return SOURCE.joinpath(*package.split(".")[1:])


def door_of(package: str) -> ast.Module:
    return ast.parse((folder_of(package) / "__init__.py").read_text(encoding="utf-8"))


def declared(package: str) -> dict[str, tuple[str, str]]:
    """What a door shows to type checkers: name to (module, name there)."""
    return {
        alias.asname or alias.name: (node.module, alias.name)
        for branch in door_of(package).body
        if isinstance(branch, ast.If)
        for node in branch.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def loaded_by(program: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after a program."""
    script = f"{program}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


@pytest.mark.parametrize("package", PACKAGES)
def test_a_door_holds_names_and_nothing_else(package: str) -> None:
    body = door_of(package).body

    strange = [
        ast.unparse(node)
        for node in body
        if not (
            (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
            or (isinstance(node, ast.ImportFrom) and node.module in {"__future__", "typing"})
            or (isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
            or (isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__")
            or (isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "__all__")
        )
    ]

    assert strange == []


def test_importing_a_room_loads_none_of_its_modules() -> None:
    program = f"""
import importlib, sys
before, early = set(sys.modules), []
for package in {PACKAGES!r}:
    for name in set(sys.modules) - before:
        if name.partition(".")[0] == "agentfootprint":
            del sys.modules[name]
    importlib.import_module(package)
    mine = {{name for name in sys.modules if name.startswith("agentfootprint.")}} - {{"agentfootprint._lazy"}}
    early += [f"{{package}} loads {{name}}" for name in sorted(mine) if not f"{{package}}.".startswith(f"{{name}}.")]
assert not early, early
"""

    loaded_by(program)


def test_importing_the_agent_leaves_the_machinery_of_a_run_for_the_first_run() -> None:
    loaded = loaded_by("from agentfootprint import Agent, Mock")

    mine = {name for name in loaded if name.startswith("agentfootprint.")}
    machinery = ("agent.loop", "flow.walking.walk", "recording.recorded")
    assert not mine & {f"agentfootprint.{module}" for module in machinery}
    assert len(mine) < 30
    assert not loaded & {"pydantic", "httpx", "typer", "rich", "anthropic", "openai", "numpy", "starlette"}


@pytest.mark.parametrize("package", PACKAGES)
def test_every_name_of_a_door_resolves_to_what_type_checkers_see(package: str) -> None:
    room = importlib.import_module(package)
    shown = declared(package)

    astray = [
        name
        for name, (module, there) in shown.items()
        if getattr(room, name) is not getattr(importlib.import_module(module), there)
    ]
    unseen = [
        name
        for name in dir(room)
        if name not in shown and not name.startswith("_") and name not in {"annotations", "door", "TYPE_CHECKING"}
        if not isinstance(getattr(room, name), ModuleType)
    ]

    assert astray == []
    assert unseen == [], "offered by the lazy map, hidden from type checkers"
    assert set(getattr(room, "__all__", ())) <= set(shown)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_file_has_the_name_of_a_thing_its_door_exports(package: str) -> None:
    """DEC-63: importing the file would put the module over the thing."""
    beside = {path.stem for path in folder_of(package).iterdir() if path.suffix == ".py" or path.is_dir()}

    assert beside & {*declared(package), *offered(package)} == set()


def imports_across_rooms(path: Path) -> Iterator[str]:
    """Imports of a file that reach past another room's door, as `line: module`."""
    room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            modules = [f"{node.module}.{alias.name}" for alias in node.names]
        for module in modules:
            top, *rest = module.split(".")
            if top != "agentfootprint" or not rest or rest[0] in {room, *COMMON}:
                continue
            inside = SOURCE.joinpath(*rest[:2])
            if len(rest) > 1 and rest[0] in ROOMS and (inside.is_dir() or inside.with_suffix(".py").exists()):
                yield f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)} {module}"


def test_another_room_is_entered_by_its_door_only() -> None:
    past_the_door = [found for path in sorted(SOURCE.rglob("*.py")) for found in imports_across_rooms(path)]

    assert past_the_door == []


def test_importing_the_package_loads_the_door_alone() -> None:
    loaded = loaded_by("import agentfootprint")

    assert {name for name in loaded if name.startswith("agentfootprint.")} <= {"agentfootprint._lazy"}


@pytest.mark.parametrize("package", HEAVY)
def test_importing_the_agent_does_not_load(package: str, modules_behind_the_agent: set[str]) -> None:
    """DEC-67; pydantic is for those who make a schema."""
    assert package not in modules_behind_the_agent


@pytest.fixture(scope="module")
def modules_behind_the_agent() -> set[str]:
    missing = {"Agent", "Mock"} - offered("agentfootprint")
    if missing:
        pytest.skip(f"not landed yet: {', '.join(sorted(missing))}")
    return loaded_by("from agentfootprint import Agent, Mock")


def project_files(*suffixes: str) -> list[Path]:
    """Files that belong to the project: not environments, caches, builds, or vectors copied as they came."""
    left_out = re.compile(
        r"(^|/)(\.(?!ci/)|site/|dist/|build/|__pycache__|node_modules|agentfootprint-demo/|tests/vectors/data/)"
    )
    files = (path for path in ROOT.rglob("*") if path.is_file())
    named = ((path, path.relative_to(ROOT).as_posix()) for path in files)
    return sorted(
        path for path, name in named if not left_out.search(name) and (path.suffix in suffixes or not suffixes)
    )


def test_no_file_of_code_is_longer_than_one_reads() -> None:
    lengths = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in project_files(".py")}

    assert {str(path): lines for path, lines in lengths.items() if lines > LONGEST} == {}


def test_no_file_speaks_of_the_machine_it_was_written_on() -> None:
    hosts = r"registry\.npm" + r"js|pypi\.org/sim" + r"ple|deb\.deb" + "ian"
    folders = "/(?:work|root|farm)" + r"/|/tmp" + r"/[a-z]|\.lib" + r"rary\b|\bshared" + "/(?:spec|vectors|experience)"
    banned = re.compile(f"{hosts}|{folders}")

    found: list[str] = []
    for path in project_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # a picture
        found += [f"{path.relative_to(ROOT)}: {match[0]}" for match in banned.finditer(text)]

    assert found == []
