"""Tests of agentfootprint.cli as it is after a plain install: nothing of an extra is there, and each is named on use.

The environment is a second one, with a Python of its own: it holds the packages that the metadata requires without
extras, the library itself, and nothing else.
"""

from __future__ import annotations

import importlib.metadata
import json
import subprocess
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.landed import SOURCE

KEY = "sk-marker-1d0a6c2f"
NOBODY = "http://127.0.0.1:9"  # the port of the discard service, where nothing listens
EXTRAS = {"anthropic": "anthropic", "openai": "openai", "ollama": "httpx"}  # and the package that it brings
MODELS = {"anthropic": "anthropic:claude-sonnet-4-5", "openai": "openai:gpt-4o", "ollama": "ollama:llama3.2"}
CLASSES = {"anthropic": "AnthropicProvider", "openai": "OpenAIProvider", "ollama": "OllamaProvider"}


def required(name: str, extras: frozenset[str] = frozenset()) -> set[str]:
    """A distribution and all that it needs here, with the extras that are asked for and no others."""
    found: set[str] = set()
    ahead = [(name, extras)]
    seen: set[tuple[str, frozenset[str]]] = set()
    while ahead:
        step = ahead.pop()
        if step in seen:
            continue
        seen.add(step)
        found.add(importlib.metadata.distribution(step[0]).name)
        for line in importlib.metadata.requires(step[0]) or ():
            need = Requirement(line)
            if need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in ("", *step[1])):
                ahead.append((need.name, frozenset(need.extras)))
    return found


def tops(name: str) -> dict[str, Path]:
    """What a distribution puts into the folder of packages: names there, and where they lie."""
    distribution = importlib.metadata.distribution(name)
    first = {file.parts[0] for file in distribution.files or () if ".." not in file.parts}
    return {top: Path(str(distribution.locate_file(top))) for top in first - {"__pycache__"}}


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def words(self) -> str:
        return " ".join((self.out + self.err).split())


@dataclass(frozen=True)
class Environment:
    """A Python with nothing but what a plain install brings."""

    python: Path
    packages: Path
    folder: Path

    def run(self, *words: str, **variables: str) -> Ran:
        env = {"PATH": "/nowhere", "HOME": str(self.folder), "COLUMNS": "80", **variables}
        command = [str(self.python), "-I", "-W", "error", *words]
        done = subprocess.run(
            command, env=env, cwd=self.folder, capture_output=True, text=True, encoding="utf-8", timeout=60, check=False
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def afp(self, *words: str, **variables: str) -> Ran:
        return self.run("-m", "agentfootprint", *words, **variables)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Made without a network, by linking what is installed here."""
    root = tmp_path_factory.mktemp("plain")
    builder = venv.EnvBuilder(symlinks=True)
    builder.create(root / "env")
    context = builder.ensure_directories(root / "env")
    python = Path(context.env_exe)
    packages = Path(sysconfig.get_path("purelib", "venv", vars={"base": str(root / "env")}))
    for name in sorted(required("agentfootprint")):
        for top, there in tops(name).items():
            if top.endswith(".pth"):
                (packages / top).write_text(f"{SOURCE.parent}\n", encoding="utf-8")
            elif not (packages / top).exists():
                (packages / top).symlink_to(there)
    (root / "folder").mkdir()
    return Environment(python, packages, root / "folder")


def test_the_environment_holds_the_library_and_none_of_its_extras(plain: Environment) -> None:
    program = f"""
import importlib, json, sys
import agentfootprint, typer, pydantic
missing = []
for name in {sorted(EXTRAS.values())!r} + ["httpx2", "starlette", "redis", "boto3", "pytest", "numpy"]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError:
        missing.append(name)
print(json.dumps([missing, sys.prefix != sys.base_prefix, agentfootprint.__file__, typer.__file__]))
"""

    ran = plain.run("-c", program)

    assert ran.code == 0, ran.err
    missing, is_apart, library, typer = json.loads(ran.out)
    assert sorted(missing) == [
        "anthropic",
        "boto3",
        "httpx",
        "httpx2",
        "numpy",
        "openai",
        "pytest",
        "redis",
        "starlette",
    ]
    assert is_apart
    assert Path(library).parent == SOURCE
    assert Path(typer).is_relative_to(plain.packages)


def test_the_demo_runs_after_a_plain_install(plain: Environment) -> None:
    ran = plain.afp("demo", "-q", "--dir", "scripted")

    assert (ran.code, ran.out, ran.err) == (0, "PROVEN vip-override-fact 11 of 11, baseline 0 of 11\n", "")
    assert {"run.json", "why.html"} <= {path.name for path in (plain.folder / "scripted").iterdir()}


@pytest.mark.parametrize("vendor", EXTRAS)
def test_the_demo_on_a_model_whose_extra_is_missing_names_the_extra(vendor: str, plain: Environment) -> None:
    keys = {"ANTHROPIC_API_KEY": KEY, "OPENAI_API_KEY": KEY, "OLLAMA_HOST": NOBODY}

    ran = plain.afp("demo", "--model", MODELS[vendor], "--yes", "--dir", vendor, **keys)
    document = plain.afp("demo", "--model", MODELS[vendor], "--yes", "--json", **keys)

    assert (ran.code, ran.out, document.code) == (2, "", 2)
    assert f"needs the package '{EXTRAS[vendor]}'." in ran.words
    assert f'fix: Install it with: pip install "agentfootprint[{vendor}]".' in ran.words
    assert "[ERR_MISSING_EXTRA]" in ran.words
    assert json.loads(document.out)["error"]["code"] == "ERR_MISSING_EXTRA"
    assert KEY not in ran.words + document.words
    assert "Traceback" not in ran.err
    assert not (plain.folder / vendor).exists()


def test_the_doctor_finds_nothing_wrong_and_says_what_could_be_added(plain: Environment) -> None:
    told = plain.afp("doctor")
    document = json.loads(plain.afp("doctor", "--json").out)

    assert told.code == 0, told.err
    assert "OK everything that is needed is there" in told.words
    for vendor in EXTRAS:
        assert document["vendors"][vendor]["installed"] is False
        assert f'{vendor} not installed: pip install "agentfootprint[{vendor}]"' in told.words
    assert document["ok"] is True
    assert {extra for extra, found in document["extras"].items() if found["installed"]} == set()


def test_a_provider_whose_extra_is_missing_is_an_error_when_it_is_made(plain: Environment) -> None:
    program = f"""
import json
from agentfootprint import Agent
from agentfootprint.errors import MissingExtraError
from agentfootprint.providers import AnthropicProvider, HttpOptions, OllamaProvider, OpenAIProvider
key = HttpOptions(api_key={KEY!r})
made = {{
    "anthropic": [lambda: AnthropicProvider("m", http=key), lambda: Agent("anthropic:m")],
    "openai": [lambda: OpenAIProvider("m", http=key), lambda: Agent("openai:m")],
    "ollama": [lambda: OllamaProvider("m"), lambda: Agent("ollama:m")],
}}
said = {{vendor: [] for vendor in made}}
for vendor, makers in made.items():
    for maker in makers:
        try:
            maker()
        except MissingExtraError as error:
            said[vendor].append([error.problem, error.fix])
print(json.dumps(said))
"""

    ran = plain.run("-c", program, ANTHROPIC_API_KEY=KEY, OPENAI_API_KEY=KEY)

    assert ran.code == 0, ran.err
    for vendor, said in json.loads(ran.out).items():
        problem = f"{CLASSES[vendor]} needs the package {EXTRAS[vendor]!r}."
        assert said == [[problem, f'Install it with: pip install "agentfootprint[{vendor}]".']] * 2
    assert KEY not in ran.words


def test_an_agent_of_a_scripted_model_needs_no_extra(plain: Environment) -> None:
    program = """
from agentfootprint import Agent, Mock, tool

@tool
def lookup(order_id: str) -> str:
    "Look up one order by its number. Use it when the user names one."
    return "shipped"

result = Agent(Mock([Mock.call("lookup", order_id="A-1"), "It has shipped."]), tools=[lookup]).run_sync("Where?")
print(result.text, len(result.why().report.suspects) > 0)
"""

    ran = plain.run("-c", program)

    assert (ran.code, ran.out, ran.err) == (0, "It has shipped. True\n", "")
