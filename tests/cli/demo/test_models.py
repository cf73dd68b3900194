"""Tests of agentfootprint.cli.demo.models."""

from __future__ import annotations

import json
import logging
import os
import re
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from agentfootprint import RunCheckpointError
from agentfootprint.cli.demo.desk import DECISION, EXPECTED, QUESTION, refunds_desk
from agentfootprint.cli.demo.orders import Orders
from agentfootprint.explain import proof_summary, why
from agentfootprint.llm import LLMProvider, ProviderAuthError
from agentfootprint.providers import AnthropicProvider, HttpOptions, OllamaProvider, OpenAIProvider
from agentfootprint.recording import Recording
from agentfootprint.testing import AnthropicWire, Failure, FakeVendor, OllamaWire, OpenAIWire, Received, Reply, Wire
from tests.cli.commands import Ran, afp, widest
from tests.cli.demo.wires import KEY, VENDORS, Script, listening, scripted, system_on
from tests.landed import ROOT

FILES = {"run.json", "why.html", "orders.db"}
SUSPECT = "vip-override-fact"
UNTOLD = ("ollama", "echoed")  # a server that was never given the key can't echo it
NO_KEYS: dict[str, str | None] = dict.fromkeys(
    ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "OLLAMA_HOST", "OLLAMA_MODEL")
)
NOBODY = "http://127.0.0.1:9"  # the port of the discard service, where nothing listens


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(name: str, script: Script, *words: str) -> tuple[Ran, FakeVendor]:
    """The demo asked of a vendor on the loopback, and what the vendor saw."""
    with listening(VENDORS[name].make_wire(), script) as vendor:
        ran = afp("demo", "--model", VENDORS[name].model, *words, env=VENDORS[name].environment(vendor.base_url))
    return ran, vendor


def shown(text: str) -> str:
    """Custody and verdict, which is what the demo is about."""
    return text[text.index("CUSTODY") : text.index("wrote  ")]


@pytest.mark.parametrize("name", VENDORS)
def test_over_the_wire_custody_and_verdict_are_those_of_the_scripted_model(name: str, here: Path) -> None:
    ran, vendor = asked(name, scripted, "--yes")

    assert ran.code == 0, ran.err
    assert vendor.refused == []
    assert shown(ran.out) == shown(afp("demo", "--dir", "mock").out)
    assert "PROVEN Without vip-override-fact the decision changes to DECLINED:" in ran.out
    assert f"wrong fact.\nA real model decides: {VENDORS[name].model}.\n\nrun    2 iterations" in ran.out
    assert "settled vip-override-fact: confirmed, 11 of 11 (74-100 %)\n" in ran.err
    assert max(widest(ran.out), widest(ran.err)) <= 80
    assert {path.name for path in (here / "agentfootprint-demo").iterdir()} == FILES


@pytest.mark.parametrize("name", VENDORS)
def test_what_is_shown_as_the_prompt_is_what_went_over_the_wire(name: str, here: Path) -> None:
    _, vendor = asked(name, scripted, "--yes", "-q")
    recording = Recording.load(here / "agentfootprint-demo" / "run.json")
    read = [link for link in why(recording).custody(SUSPECT) if link.step == "read"]
    told = afp("show", "agentfootprint-demo/run.json", recording.calls[-1].step, "--prompt").out

    sent = [system_on(body) for body in vendor.bodies[: len(recording.calls)]]
    assert [call.system_text for call in recording.calls] == sent
    assert [link.content for link in read] == [sent[-1]]
    assert [line for line in sent[-1].splitlines() if line[:70] not in told] == []
    for call, body in zip(recording.calls, vendor.bodies, strict=False):
        wire = json.dumps(body, ensure_ascii=False)
        assert all(json.dumps(each.content, ensure_ascii=False)[1:-1] in wire for each in call.messages)
        assert [tool.name for tool in call.tools] == ["lookup_order"]
        assert "Look up one order by its number." in wire


@pytest.mark.parametrize(
    ("name", "ending"),
    [(name, ending) for name in VENDORS for ending in ("answered", "refused", "echoed") if (name, ending) != UNTOLD],
)
def test_the_key_stands_nowhere(name: str, ending: str, here: Path, caplog: pytest.LogCaptureFixture) -> None:
    def spiteful(received: Received) -> Reply | Failure:
        if ending == "answered" or received.number == 1:
            return scripted(received)
        return Failure(401, None, f"Incorrect API key provided: {KEY}" if ending == "echoed" else "no")

    caplog.set_level(logging.DEBUG)
    ran, vendor = asked(name, spiteful, "--yes", "-v", "--json")

    sent = [value for request in vendor.requests for value in request.headers.values() if KEY in value]
    assert (sent == []) is (name == "ollama")
    assert ran.code == (0 if ending == "answered" else 2)
    assert KEY not in ran.out + ran.err + caplog.text
    assert [record for record in caplog.records if KEY in repr(vars(record))] == []
    assert [path for path in here.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes()] == []


def providers(base_url: str, wire: Wire) -> LLMProvider:
    if isinstance(wire, AnthropicWire):
        return AnthropicProvider("claude-sonnet-4-5", http=HttpOptions(api_key=KEY, base_url=base_url))
    if isinstance(wire, OllamaWire):
        return OllamaProvider("llama3.2", http=HttpOptions(base_url=base_url))
    provider = OpenAIProvider("gpt-4o-mini", http=HttpOptions(api_key=KEY, base_url=base_url))
    return provider.with_options(legacy_dialect=wire == OpenAIWire(key=KEY, is_compatible=True))


@pytest.mark.parametrize(
    "wire",
    [AnthropicWire(key=KEY), OpenAIWire(key=KEY), OpenAIWire(key=KEY, is_compatible=True), OllamaWire()],
    ids=["anthropic", "openai", "compatible", "ollama"],
)
async def test_the_desk_is_the_same_in_a_program_and_no_event_holds_the_key(
    wire: Wire, here: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    events: list[Any] = []
    expected = await (await refunds_desk(Orders()).run(QUESTION)).prove(changed=DECISION, expected=EXPECTED)

    async with FakeVendor(wire, scripted) as vendor:
        desk = refunds_desk(Orders(), model=providers(vendor.base_url, wire))
        desk.on("*", events.append)
        result = await desk.run(QUESTION)
        proof = await result.prove(changed=DECISION, expected=EXPECTED)

    assert vendor.refused == []
    assert proof.custody_text(SUSPECT) == expected.custody_text(SUSPECT)
    assert proof_summary(proof) == proof_summary(expected)
    assert events
    result.recording.save(here / "run.json")
    assert KEY not in repr(events) + caplog.text + repr(result) + (here / "run.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("wire", [AnthropicWire(), OpenAIWire()], ids=["anthropic", "openai"])
async def test_no_exception_holds_the_key(wire: Wire) -> None:
    async with FakeVendor(wire, [Failure(401, None, f"Incorrect API key provided: {KEY}")]) as vendor:
        with pytest.raises(RunCheckpointError) as raised:
            await refunds_desk(Orders(), model=providers(vendor.base_url, wire)).run(QUESTION)

    chain: list[BaseException] = []
    error: BaseException | None = raised.value
    while error is not None:
        chain.append(error)
        error = error.__cause__ or error.__context__
    held = [repr((str(each), each.args, vars(each))) for each in chain]
    asked_with = [repr(list(request.headers.raw)) for each in chain if (request := getattr(each, "request", None))]
    assert isinstance(raised.value.cause, ProviderAuthError)
    assert len(chain) > 2
    assert asked_with
    assert KEY not in "".join(held + asked_with)


@pytest.mark.parametrize("name", VENDORS)
def test_a_model_that_does_not_fall_for_it_gets_no_verdict(name: str, here: Path) -> None:
    ran, vendor = asked(name, lambda _: Reply("Refund DECLINED: 47 days are more than 30."), "--yes")
    brief = asked(name, lambda _: Reply("DECLINED."), "--yes", "-q")[0]
    document = asked(name, lambda _: Reply("DECLINED."), "--yes", "--json")[0].json

    assert (ran.code, len(vendor.requests)) == (0, 1)
    assert 'ANSWER "Refund DECLINED: 47 days are more than 30."\n       expected: DECLINED\n' in ran.out
    assert (
        "NOTHING TO PROVE  The model did not follow the planted fact: it answered\n       DECLINED, which is right.\n"
    ) in ran.out
    assert not re.search(r"PROVEN|confirmed|no effect|^prove ", ran.out, re.MULTILINE)
    assert "settled" not in ran.err
    assert brief.out.startswith("NOTHING TO PROVE  The model did not follow the planted fact")
    assert (document["decision"], document["why"]["mode"]) == ("DECLINED", "correlational")
    assert {path.name for path in (here / "agentfootprint-demo").iterdir()} == FILES


@pytest.mark.parametrize("said", ["It depends.", "Not APPROVED: DECLINED.", ""])
def test_an_answer_without_one_decision_gets_no_verdict(said: str) -> None:
    ran, _ = asked("ollama", lambda _: Reply(said), "--yes")
    document = asked("ollama", lambda _: Reply(said), "--yes", "--json")[0].json

    assert ran.code == 0
    assert "NOTHING TO PROVE  The answer does not say either APPROVED or DECLINED" in ran.out
    assert document["decision"] is None
    assert f"ANSWER {json.dumps(said) if said else '(no text)'}\n" in ran.out


def test_a_model_that_fails_in_the_proof_leaves_the_run(here: Path) -> None:
    ran, _ = asked("anthropic", lambda got: scripted(got) if got.number < 6 else Failure(429), "--yes")

    assert ran.code == 2
    assert "The proof was not finished; the run is in agentfootprint-demo/run.json.\n" in ran.err
    assert "[ERR_PROVIDER_RATE_LIMIT]" in ran.err
    assert Recording.load(here / "agentfootprint-demo" / "run.json").user_message == QUESTION


def test_an_interrupt_in_the_proof_keeps_what_is_settled(here: Path) -> None:
    def interrupting(received: Received) -> Reply:
        if received.number == 40:
            os.kill(os.getpid(), signal.SIGINT)
        return scripted(received)

    ran, vendor = asked("openai", interrupting, "--yes", "--json")

    assert ran.code == 130
    assert ran.json["partial"] is True
    assert ran.json["why"]["mode"] == "causal"
    assert "Interrupted: this is what was settled" in ran.err
    assert len(vendor.requests) < 60
    assert {path.name for path in (here / "agentfootprint-demo").iterdir()} == FILES


@pytest.mark.parametrize("name", VENDORS)
def test_without_a_terminal_a_real_model_needs_yes(name: str, here: Path) -> None:
    """DEC-69: that a model here costs nothing can't be known; its daemon may pass it on, its address lead elsewhere."""
    ran, vendor = asked(name, scripted)

    assert (ran.code, ran.out, vendor.requests) == (2, "", [])
    assert ran.err.startswith("PLAN   remove 4 sources, one at a time")
    assert "expected  34 re-runs    12,172 tokens   not priced\n" in ran.err
    assert "at most   96 re-runs    34,368 tokens   not priced\n" in ran.err
    assert f"first     1 run of {VENDORS[name].model}, about 2 model calls" in ran.err
    assert f"Asking {VENDORS[name].model} is not priced" in " ".join(ran.err.split())
    assert "[ERR_SPENDING_NOT_ALLOWED]" in ran.err
    assert "  fix: Add --yes to run it, or leave --model out" in ran.err
    assert "$" not in ran.err
    assert list(here.iterdir()) == []


def test_the_plan_in_the_manual_is_the_plan() -> None:
    ran, _ = asked("openai", scripted)

    manual = (ROOT / "docs" / "how-to" / "command-line.md").read_text(encoding="utf-8")
    assert ran.err.partition("error: ")[0] in manual


@pytest.mark.parametrize("name", VENDORS)
def test_what_a_real_model_took_is_never_shown_as_nothing(name: str, here: Path) -> None:
    ran, _ = asked(name, scripted, "--yes")
    page = (here / "agentfootprint-demo" / "why.html").read_text(encoding="utf-8")

    assert "PROVEN Without vip-override-fact" in ran.out
    assert "$" not in ran.out + ran.err
    assert "not priced" in page
    assert not re.search(r"\$0\b", page)


@pytest.mark.parametrize(("typed", "is_asked"), [("y\n", True), ("n\n", False)])
@pytest.mark.usefixtures("terminal")
def test_a_person_is_asked(typed: str, is_asked: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    def always(*_: object) -> bool:
        return True

    monkeypatch.setattr("agentfootprint.cli.streams.Streams.can_ask", always)
    openai = VENDORS["openai"]
    with listening(openai.make_wire(), scripted) as vendor:
        ran = afp("demo", "--model", openai.model, typed=typed, env=openai.environment(vendor.base_url))

    assert ran.code == 0
    assert "Spend an unknown amount? [y/N] " in ran.err
    assert bool(vendor.requests) is is_asked
    assert ("Nothing was run." in ran.err) is not is_asked
    assert ("PROVE  =" in ran.err) is is_asked


@pytest.mark.parametrize("words", [("mock",), ("Mock:any",)])
def test_the_scripted_model_can_be_named(words: tuple[str]) -> None:
    ran = afp("demo", "--model", *words, "-q")

    assert (ran.code, ran.out, ran.err) == (0, "PROVEN vip-override-fact 11 of 11, baseline 0 of 11\n", "")


@pytest.mark.parametrize(
    ("model", "env", "said"),
    [
        ("openai:gpt-4o-mini", {}, ["OPENAI_API_KEY is not set", "export OPENAI_API_KEY", "ERR_NO_CREDENTIAL"]),
        ("anthropic", {"ANTHROPIC_API_KEY": " "}, ["ANTHROPIC_API_KEY is not set", "leave --model out"]),
        ("gpt-4o-mini", {}, ["'gpt-4o-mini'", "mock, anthropic, openai", "ERR_CONFIG"]),
        ("bedrock:x", {}, ["not part of this version", "ERR_CONFIG"]),
        ("ollama", {}, ["ollama:llama3.2", "ERR_CONFIG"]),
        ("ollama:llama3.2", {"OLLAMA_HOST": NOBODY}, [f"Nothing answers at {NOBODY}", "ollama serve"]),
        (
            "openai:x",
            {"OPENAI_API_KEY": KEY, "OPENAI_BASE_URL": NOBODY},
            [NOBODY, "Check the network", "ERR_PROVIDER_CONNECTION"],
        ),
        (
            "anthropic:x",
            {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": NOBODY},
            [NOBODY, "Check the network", "ERR_PROVIDER_CONNECTION"],
        ),
    ],
)
def test_a_model_that_can_not_be_asked_is_two_lines(model: str, env: dict[str, str | None], said: list[str]) -> None:
    ran = afp("demo", "--model", model, "--yes", env={**NO_KEYS, **env})
    document = afp("demo", "--model", model, "--yes", "--json", env={**NO_KEYS, **env})

    words = " ".join(ran.err.split())
    assert ran.code == document.code == 2
    assert "error: " in ran.err
    assert "  fix: " in ran.err
    assert [each for each in said if each not in words] == []
    assert set(document.json["error"]) == {"code", "problem", "fix"}
    assert KEY not in ran.out + ran.err + document.out + document.err
    assert widest(ran.err) <= 80


@pytest.mark.parametrize("name", VENDORS)
def test_a_model_that_is_not_there_is_two_lines(name: str) -> None:
    wire: dict[str, Wire] = {
        "anthropic": AnthropicWire(models=frozenset({"claude-haiku"})),
        "openai": OpenAIWire(models=frozenset({"gpt-other"}), is_compatible=True),
        "ollama": OllamaWire(models=frozenset({"qwen3"})),
    }
    with listening(wire[name], scripted) as vendor:
        ran = afp("demo", "--model", VENDORS[name].model, "--yes", env=VENDORS[name].environment(vendor.base_url))

    assert ran.code == 2
    assert VENDORS[name].model.partition(":")[2] in " ".join(ran.err.split())
    assert ("ollama pull llama3.2" if name == "ollama" else "Check the model's name.") in ran.err


@pytest.mark.parametrize(("name", "package"), [("anthropic", "anthropic"), ("openai", "openai"), ("ollama", "httpx")])
def test_a_missing_package_is_two_lines(name: str, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)

    ran = afp("demo", "--model", VENDORS[name].model, "--yes", env=VENDORS[name].environment(NOBODY))

    assert (ran.code, ran.out) == (2, "")
    assert "[ERR_MISSING_EXTRA]" in ran.err
    assert f'pip install "agentfootprint[{name}]"' in ran.err
