"""Tests of agentfootprint.cli: text of models, files and users never steers the terminal it is printed on."""

from __future__ import annotations

import importlib
import json
import re
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from agentfootprint import Agent, Fact, Mock, tool
from agentfootprint.llm import LLMRequest, LLMResponse
from agentfootprint.recording import Recording
from tests.cli.commands import Ran, afp, widest

EVIL = "\x1b]0;OWNED\x07\x1b[2J\x9b2J\r\x08\x7f\u202eback\u2066\u200b\u2028\u2029\x85\ufeff"
STEPS = ("call-llm#18", "call-llm#40", "context#6", "evaluate#3", "tool-calls#22", f"no{EVIL}#1")
WAYS: tuple[tuple[str, ...], ...] = (
    ("why",),
    ("why", "-q"),
    ("why", "--json"),
    ("why", "--of", f"id{EVIL}"),
    ("why", "--of", f"nobody{EVIL}"),
    ("why", "--at", f"nowhere{EVIL}"),
    ("why", "--rank", EVIL),
    ("why", "--prove", "--agent", f"{EVIL}:agent"),
    ("show",),
    ("show", "-q"),
    ("show", "--json"),
    ("show", "--tree"),
    ("show", "--tree", "--json"),
    ("show", "--events"),
    ("show", "--events", "--json"),
    ("show", "--iteration", EVIL),
    *(("show", step) for step in STEPS),
    *(("show", step, "--prompt") for step in STEPS[:2]),
    ("show", STEPS[1], "-q"),
    ("show", STEPS[1], "--prompt", "--json"),
)
STRUCTURE = {
    *("format", "type", "verb", "id", "runtimeStageId", "stage", "stageId", "path", "op", "kind"),
    *("subflowPath", "role", "$ref", "provider"),
}
"""Keys of a recording without whose values there is nothing to show."""


def model(request: LLMRequest) -> str | LLMResponse:
    """Ask for a tool that nobody has, for one that fails, for one that works; then answer."""
    done = sum(message.role == "tool" for message in request.messages)
    if done:
        return f"answer {EVIL}"
    return LLMResponse(
        f"thinking {EVIL}",
        tool_calls=[
            *Mock.call(f"none{EVIL}", **{f"key{EVIL}": [EVIL, {EVIL: EVIL}]}).tool_calls,
            *Mock.call("look", what=EVIL).tool_calls,
            *Mock.call("fail", what=EVIL).tool_calls,
        ],
    )


class Evil:
    """A provider that names its model after what it wants to do."""

    name = f"provider{EVIL}"

    async def complete(self, request: LLMRequest, hooks: object = None) -> LLMResponse:
        said = model(request)
        return LLMResponse(said) if isinstance(said, str) else said


@tool
def look(what: str) -> str:
    """Look it up. Use it first."""
    return f"result {what}{EVIL}"


@tool
def fail(what: str) -> str:
    """Fail. Use it last."""
    raise ValueError(what)


def evil_agent(provider: object) -> Agent[object, str]:
    return Agent(
        provider,  # type: ignore[arg-type]  # a provider of the test's
        name=f"agent{EVIL}",
        system=f"system{EVIL}",
        tools=[look, fail],
        context=[Fact(f"id{EVIL}", f"piece {EVIL}"), Fact(f"off{EVIL}", "x", when=lambda _: False)],
    )


def check(ran: Ran) -> None:
    for text in (ran.out, ran.err):
        found = {character for character in text if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp", "Cs")}
        assert found <= {"\n", "\t"}, (found, text[:2000])
    assert ran.code != 70, ran.err


def spoiled(value: Any, spoils: Callable[[str], bool], key: str = "") -> Any:
    """A copy of a JSON value with something evil at the end of every text, and in the keys of tool arguments."""
    if isinstance(value, dict):
        return {name: spoiled(each, spoils, name) for name, each in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [spoiled(each, spoils, key) for each in cast("list[Any]", value)]
    return f"{value}{EVIL}" if isinstance(value, str) and spoils(key) else value


@pytest.fixture(scope="module")
def recordings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evil")
    for name, provider in (("mock", Mock(model)), ("evil", Evil())):
        recording = evil_agent(provider).run_sync(f"question {EVIL}").recording
        recording.save(folder / f"{name}.json")
        recording.save(folder / f"{name}-wire.json", form="wire")
    wire = json.loads((folder / "mock-wire.json").read_text(encoding="utf-8"))
    worse = spoiled(wire, lambda key: key not in STRUCTURE)
    (folder / "all.json").write_text(json.dumps(worse), encoding="utf-8")
    for key in sorted(STRUCTURE):
        (folder / f"only-{key.strip('$')}.json").write_text(
            json.dumps(spoiled(wire, lambda each, key=key: each == key)), encoding="utf-8"
        )
    return folder


@pytest.mark.parametrize("way", WAYS, ids=lambda way: " ".join(way).encode("unicode_escape").decode())
@pytest.mark.parametrize("name", ["mock", "evil", "mock-wire", "all"])
def test_no_field_of_a_recording_steers_the_terminal(
    name: str, way: tuple[str, ...], recordings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(recordings)
    command, *rest = way

    ran = afp(command, f"{name}.json", *rest)

    check(ran)
    if "--json" in way:
        assert isinstance(ran.json, dict)
    elif name != "all" and "-q" not in way:  # `-q` is one line, however long
        assert max(widest(ran.out), widest(ran.err)) <= 80


@pytest.mark.usefixtures("terminal")
@pytest.mark.parametrize("name", ["mock", "evil", "all"])
def test_no_field_does_on_a_terminal_where_texts_are_cut(
    name: str, recordings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(recordings)

    for command, *rest in WAYS:
        ran = afp(command, f"{name}.json", *rest)
        check(Ran(ran.code, OWN_COLOUR.sub("", ran.out), OWN_COLOUR.sub("", ran.err)))


OWN_COLOUR = re.compile(r"\x1b\[[\d;]*m")


@pytest.mark.parametrize("key", sorted(STRUCTURE))
def test_no_id_of_a_file_somebody_wrote_does(key: str, recordings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(recordings)

    for command, *rest in WAYS[:1] + WAYS[8:20]:
        check(afp(command, f"only-{key.strip('$')}.json", *rest))


def test_what_a_terminal_shows_is_escaped_where_it_stands(recordings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(recordings)

    table, step = afp("show", "mock.json").out, afp("show", "mock.json", "call-llm#40", "--prompt").out

    for shown in (table, step):
        assert "none\\x1b]0;OWNED\\x07\\x1b[2J\\x9b2J" in "".join(shown.split())


def test_json_says_the_same_characters(recordings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(recordings)

    document = afp("show", "mock.json", "--json").json

    assert document["calls"][0]["askedFor"][0] == f"none{EVIL}"
    assert Recording.load("mock.json").calls[0].tool_calls[0].name == f"none{EVIL}"


def test_a_hostile_log_is_imported_and_shown_in_safety(desk: Path) -> None:
    log = json.loads((desk / "log.json").read_text(encoding="utf-8"))
    (desk / "evil.json").write_text(json.dumps(spoiled(log, lambda _: True)), encoding="utf-8")

    for words in (
        ("import", "evil.json", "--to", "in.json"),
        ("import", "evil.json", "--to", "in.json", "--json"),
        ("import", "evil.json", "--to", "in.json", "-q"),
        ("import", "evil.json", "--to", f"in{EVIL}.json"),
        *((command, "in.json", *rest) for command, *rest in WAYS),
    ):
        check(afp(*words))


@pytest.mark.parametrize(
    "content",
    [EVIL, json.dumps({EVIL: EVIL}), json.dumps({"format": f"agentfootprint.{EVIL}"}), json.dumps({"format": EVIL})],
)
def test_a_refused_file_is_named_in_safety(content: str, desk: Path) -> None:
    name = f"other{EVIL}.json"
    (desk / name).write_text(content, encoding="utf-8")

    for words in (
        ("why", name),
        ("show", name),
        ("show", name, "-v"),
        ("show", name, "--json"),
        ("import", name, "--to", "x.json"),
        ("why", f"no{name}"),
        ("why", "run.json", "--html", f"{EVIL}/x.html"),
        (f"wy{EVIL}",),
        ("why", "run.json", f"--opt{EVIL}"),
    ):
        ran = afp(*words)
        check(ran)
        assert ran.code == 2


def test_a_proof_of_hostile_pieces_and_a_traceback_are_printed_in_safety(desk: Path) -> None:
    (desk / "evil.py").write_text(AGENT, encoding="utf-8")
    sys.path.insert(0, str(desk))
    prove = ("why", "evil-run.json", "--prove", "--agent")
    evil: Any = importlib.import_module("evil")

    evil.agent.run_sync("?").recording.save(desk / "evil-run.json")

    for words in (
        (*prove, "evil:agent"),
        (*prove, "evil:agent", "--dry-run"),
        (*prove, "evil:agent", "--runs", "4"),
        (*prove, "evil:agent", "--changed", f"/{EVIL}|Y/"),
        (*prove, "evil:agent", "--expect", f"off{EVIL}"),
        (*prove, "evil:agent", "--json"),
        (*prove, "evil:failing", "-v"),
        (*prove, f"evil:no{EVIL}"),
    ):
        check(afp(*words))
    del sys.modules["evil"]


AGENT = f"""\
from agentfootprint import Agent, Fact, Mock
EVIL = {EVIL!r}
def model(request):
    return EVIL if "piece" in (request.system_prompt or "") else "Y"
def failing_model(request):
    raise ValueError(EVIL)
pieces = [Fact(f"id{{EVIL}}", f"piece {{EVIL}}"), Fact(f"other{{EVIL}}", EVIL)]
agent = Agent(Mock(model), system=EVIL, context=pieces)
failing = Agent(Mock(failing_model), system=EVIL, context=pieces)
"""
