"""Tests of agentfootprint.cli.show."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentfootprint import Agent, Mock, decline, tool
from agentfootprint.agent import Limits
from agentfootprint.cli.errors import UsageError
from agentfootprint.cli.show import read_range
from agentfootprint.explain import forbidden_words
from tests.cli.commands import Ran, afp, widest

SECTION_5 = """\
RUN  mock-model (mock)  2 iterations  1 tool call
157 tokens in, 33 out
cost not priced   time TIME

it  step           what happened                         system  messages  tools
1   call-llm#18    asked for lookup_order      70 in/0       3*        1*     1*
    tool-calls#22  lookup_order({"orderId":"A-1001"}) -> 70 characters
2   call-llm#40    answered                   87 in/33       3         3*     1
                                                 * changed since the call before

RECORDING  complete: yes, the run ended (done)   events: 52 kept, dropped: none
           redacted: 0 paths in 39 commits   audit chain: none
"""


def masked(ran: Ran) -> str:
    """What a run printed, without its clock: the id of a run holds the time it began."""
    return re.sub(r"(?<=   time )[^\n]+", "TIME", re.sub(r"^run-\S+", "RUN", ran.out))


@pytest.mark.usefixtures("desk")
def test_a_run_is_a_line_a_step_with_what_changed() -> None:
    ran = afp("show", "run.json")

    assert (ran.code, ran.err) == (0, "")
    assert masked(ran) == SECTION_5
    assert ran.out == afp("show", "run.json").out
    assert forbidden_words(ran.out) == []


@pytest.mark.usefixtures("desk", "terminal")
def test_a_terminal_gets_the_same_table() -> None:
    assert masked(afp("show", "run.json", "--no-color")) == SECTION_5


@pytest.mark.usefixtures("desk")
def test_json_is_the_same_as_numbers() -> None:
    document = afp("show", "run.json", "--json").json

    assert document["format"] == "agentfootprint.show/1"
    assert (document["iterations"], document["toolCallCount"], document["tokensIn"], document["tokensOut"]) == (
        *(2, 1),
        *(157, 33),
    )
    first, second = document["calls"]
    assert (first["step"], first["askedFor"], first["changed"]) == (
        "call-llm#18",
        ["lookup_order"],
        ["system", "messages", "tools"],
    )
    assert (second["step"], second["answered"], second["changed"]) == ("call-llm#40", True, ["messages"])
    assert first["toolCalls"] == [{"step": "tool-calls#22", "tool": "lookup_order", "ok": True, "resultCharacters": 70}]


@pytest.mark.usefixtures("desk")
def test_the_short_forms_are_one_line() -> None:
    assert re.fullmatch(r"run-\S+  mock-model \(mock\)  2 iterations  1 tool call\n", afp("show", "run.json", "-q").out)
    assert afp("show", "run.json", "call-llm#40", "-q").out == "call-llm#40  CallLLM\n"
    assert afp("show", "run.json", "--tree", "-q").out == "47 steps\n"
    assert afp("show", "run.json", "--events", "-q").out == "52 events\n"


ANSWERED = """\
call-llm#40   CallLLM

CALL     iteration 2, mock-model (mock), 87 tokens in, 33 out
SAID     "Refund APPROVED: Dana Reyes holds VIP tier override status, so the
         47-day-old order qualifies for a refund beyond the 30-day window."

READ     systemPromptInjections, iteration, history, dynamicToolSchemas,
         cacheMarkers, cachingDisabled, totalInputTokens, totalOutputTokens
WROTE    totalInputTokens  set  157
         totalOutputTokens  set  33
         llmLatestContent  set  "Refund APPROVED: Dana Reyes holds VIP tier
           override status, so the 47-day-old order qualifies for a refund
           beyond the 30-day window."
         llmLatestToolCalls  set  []
"""
REQUEST = """
SYSTEM   245 characters
    You are a refunds assistant. Policy: refunds only within 30 days of
    purchase.

    Customer Dana Reyes holds VIP tier override status: refunds are approved
    beyond the 30-day window.

    Style rule #12: limit replies to two (2) sentences / 40 words max.

MESSAGES 3
  1  user
    Should order A-1001 be refunded?
  2  assistant
    asked for lookup_order({"orderId":"A-1001"})
  3  tool  lookup_order
    Order A-1001: purchased 47 days ago, price $480, category electronics.

TOOLS    1
  lookup_order: Look up one order by its number. Use it when the user names an
    order.
"""


@pytest.mark.usefixtures("desk")
def test_a_step_says_what_it_read_and_wrote_and_the_request_word_for_word() -> None:
    assert afp("show", "run.json", "call-llm#40").out == ANSWERED
    assert afp("show", "run.json", "call-llm#40", "--prompt").out == ANSWERED + REQUEST

    document = afp("show", "run.json", "call-llm#40", "--prompt", "--json").json
    assert document["format"] == "agentfootprint.step/1"
    assert document["request"]["systemPrompt"].startswith("You are a refunds assistant.")
    assert [message["role"] for message in document["request"]["messages"]] == ["user", "assistant", "tool"]


@pytest.mark.usefixtures("desk")
def test_the_steps_that_custody_names_can_be_pasted() -> None:
    for step in ("call-llm#40", "context#6", "evaluate#3", "tool-calls#22"):
        assert step in afp("why", "run.json", "--of", "lookup_order").out + afp("why", "run.json").out
        ran = afp("show", "run.json", step)
        assert (ran.code, ran.out.split()[0].rpartition("/")[2]) == (0, step)


@pytest.mark.usefixtures("desk")
def test_the_tree_and_the_events_name_every_step() -> None:
    tree, events = afp("show", "run.json", "--tree").out, afp("show", "run.json", "--events").out

    assert tree.splitlines()[:4] == [
        "seed#0                              Initialize",
        "sf-injection-engine#1               Injection Engine",
        "  sf-injection-engine/gather#2      Gather",
        "  sf-injection-engine/evaluate#3    Evaluate",
    ]
    assert "context#28  " in tree
    assert len(events.splitlines()) == 52
    number, _, unit, kind, step = events.splitlines()[0].split()  # how long it took is the machine's
    assert (number, unit, kind, step) == ("0", "ms", "agent.run_configured", "run-configured#0")
    assert afp("show", "run.json", "--tree", "--json").json["steps"][0] == {
        "step": "seed#0",
        "name": "Initialize",
        "depth": 0,
    }
    listed = afp("show", "run.json", "--events", "--json").json
    assert listed["events"][0]["type"] == "agentfootprint.agent.run_configured"
    assert max(widest(tree), widest(events)) <= 80


@pytest.fixture
def long_run(desk: Path) -> Path:
    """61 iterations of two tools."""

    @tool
    def search(query: str) -> str:
        """Search for something. Use it first."""
        return f"found {query}"

    @tool
    def fetch(url: str) -> str:
        """Fetch a page. Use it after a search."""
        return f"page {url}"

    script = [Mock.call("search", query=f"q{n}") if n % 9 else Mock.call("fetch", url=f"u{n}") for n in range(60)]
    agent = Agent(Mock([*script, "Done."]), tools=[search, fetch], limits=Limits(iterations=100))
    return agent.run_sync("Find it.").recording.save(desk / "long.json")


@pytest.mark.usefixtures("long_run")
def test_a_long_run_shows_both_ends_and_one_line_for_the_rest() -> None:
    out = afp("show", "long.json").out

    iterations = [line.split()[0] for line in out.splitlines() if re.match(r"[\d-]+  ", line)]
    assert iterations == ["1", "2", "3", "4", "5", "6-56", "57", "58", "59", "60", "61"]
    assert "6-56  51 calls  tools: search 45, fetch 6  changed: messages every call" in out
    assert widest(out) <= 80


@pytest.mark.usefixtures("long_run")
def test_a_range_of_iterations_is_shown_whole() -> None:
    shown = afp("show", "long.json", "--iteration", "10..12").out
    events = afp("show", "long.json", "--iteration", "61", "--events").out

    assert [line.split()[0] for line in shown.splitlines() if re.match(r"\d+ +call-llm", line)] == ["10", "11", "12"]
    assert "agent.turn_end" in events
    assert "agent.turn_start" not in events


@pytest.mark.parametrize(("given", "span"), [("40..60", (40, 60)), (" 7 ", (7, 7)), ("3..3", (3, 3))])
def test_a_range_is_two_numbers_or_one(given: str, span: tuple[int, int]) -> None:
    assert read_range(given) == span


@pytest.mark.parametrize("given", ["", "a", "1-3", "1..", "..3", "5..2"])
def test_anything_else_is_no_range(given: str) -> None:
    with pytest.raises(UsageError):
        read_range(given)


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["run.json", "call-llm#41"], "ERR_UNKNOWN_STEP", "Use one of call-llm#18, call-llm#40."),
        (["run.json", "tool-calls#22", "--prompt"], "ERR_UNKNOWN_STEP", "'tool-calls#22' is no model call"),
        (["run.json", "--prompt"], "ERR_USAGE", "--prompt needs the step of a model call."),
        (["run.json", "--tree", "--events"], "ERR_USAGE", "two views"),
        (["run.json", "call-llm#40", "--tree"], "ERR_USAGE", "--tree is about the whole run"),
        (["run.json", "--iteration", "9"], "ERR_UNKNOWN_ITERATION", "It has 1 to 2"),
        (["run.json", "--iteration", "9", "--events"], "ERR_UNKNOWN_ITERATION", "It has 1 to 2"),
        (["run.json", "--iteration", "x"], "ERR_USAGE", "--iteration 40..60"),
        (["nothing.json"], "ERR_FILE", "There is no file 'nothing.json'."),
        (["."], "ERR_FILE", "it is a folder"),
        ([], "ERR_USAGE", "Missing argument 'RUN'"),
    ],
)
def test_what_can_not_be_shown_is_named_with_its_way_out(words: list[str], code: str, said: str) -> None:
    ran = afp("show", *words)

    assert (ran.code, ran.out) == (2, "")
    assert f"[{code}]" in ran.err
    assert said in " ".join(ran.err.split())


@pytest.mark.usefixtures("desk")
def test_an_imported_run_says_what_it_does_not_know() -> None:
    afp("import", "log.json", "--to", "imported.json")

    ran = afp("show", "imported.json")

    assert ran.code == 0
    assert "tokens unknown" in ran.out
    assert "complete: not stated (no envelope)" in ran.out
    assert "reads are inferred from message" in ran.out
    assert widest(ran.out) <= 80


def test_both_runs_of_a_paused_turn_say_what_became_of_the_call(tmp_path: Path) -> None:
    @tool(check_in="always")
    def refund(order: str) -> str:
        """Refund one order. Use it when the policy allows it."""
        return order

    agent = Agent(Mock([Mock.call("refund", order="A"), "Refunded."]), tools=[refund])
    first = agent.run_sync("Refund A.")
    assert first.paused is not None
    second = agent.resume_sync(first.paused, decline(by="dana"))
    for name, result in (("first", first), ("second", second)):
        result.recording.save(tmp_path / f"{name}.json")

    said = [afp("show", str(tmp_path / f"{name}.json")).out for name in ("first", "second")]

    assert 'tool-calls#22  refund({"order":"A"}) -> waits for a person' in said[0]
    assert '1   tool-calls#23  refund({"order":"A"}) -> denied' in said[1]
