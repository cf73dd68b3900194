"""Tests of agentfootprint.cli.demo.command."""

from __future__ import annotations

import re
import stat
import time
import webbrowser
from pathlib import Path

import pytest

from agentfootprint.recording import Recording
from tests.cli.commands import afp, widest

SECTION_3 = """\
A refund agent with one planted wrong fact. Scripted model, no network.

run    2 iterations, 1 tool call, 53 events recorded                    TIME
why    4 sources reached the answer                                     TIME
prove  34 re-runs, tools replayed from the recording                    TIME

ANSWER "Refund APPROVED: Dana Reyes holds VIP tier override status, so the
       47-day-old order qualifies for a refund beyond the 30-day window."
       expected: DECLINED

CUSTODY of vip-override-fact                                       [recorded]
  ANSWER   call-llm#40  llmLatestContent
  READ     call-llm#40  systemPromptInjections, characters 376-473 of 542:
           Orders that have not been delivered can be cancelled at any time.
           The days are counted from the delivery date in the order system.
         > Customer Dana Reyes holds VIP tier override status: refunds are
         > approved beyond the 30-day window.
           Style rule #12: limit replies to two (2) sentences / 40 words max.
  LANDED   context#6    appended 4 records in iteration 1; unchanged since
  ALLOWED  evaluate#3   fact, trigger always: no rule decided
  BORN     context=[Fact("vip-override-fact")]; file and line: not recorded

PROVEN Without vip-override-fact the decision changes to DECLINED:
       11 of 11 re-runs (74-100 %), against 0 of 11 with it (0-26 %).
       The other 3 sources: no effect found in 4 pairs each (0-49 %).

wrote  agentfootprint-demo/run.json   SIZE   agentfootprint show <file>
       agentfootprint-demo/why.html   SIZE   open it in a browser
"""
FILES = {"run.json", "why.html", "orders.db"}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def masked(text: str) -> str:
    text = re.sub(
        r"^((?:run|why|prove) .*?) +(?:under )?[\d.]+ s$", lambda row: f"{row[1]:<72}TIME", text, flags=re.MULTILINE
    )
    return re.sub(r" +[\d,]+ KB", "   SIZE", text)


def test_the_demo_is_the_one_of_the_first_hour(here: Path) -> None:
    started = time.perf_counter()
    ran = afp("demo")
    took = time.perf_counter() - started

    assert (ran.code, ran.err) == (0, "")
    assert masked(ran.out) == SECTION_3
    assert widest(ran.out) <= 80
    assert took < 3
    assert {path.name for path in (here / "agentfootprint-demo").iterdir()} == FILES


def test_times_stand_at_the_right() -> None:
    rows = [line for line in afp("demo").out.splitlines() if re.match(r"(?:run|why|prove) ", line)]

    assert {len(row) for row in rows} == {77}


def test_the_other_forms() -> None:
    brief, silent, document = afp("demo", "-q"), afp("demo", "-qq"), afp("demo", "--json")

    assert (brief.out, brief.err) == ("PROVEN vip-override-fact 11 of 11, baseline 0 of 11\n", "")
    assert (silent.out, silent.err) == ("", "")
    assert document.json["format"] == "agentfootprint.demo/1"
    assert (document.json["model"], document.json["decision"]) == ("mock", "APPROVED")
    assert document.json["expected"] == "DECLINED"
    assert "partial" not in document.json
    assert document.json["run"] == {"iterations": 2, "toolCalls": 1, "events": 53}
    assert document.json["why"]["mode"] == "causal"
    assert document.json["wrote"] == ["agentfootprint-demo/run.json", "agentfootprint-demo/why.html"]


def test_a_second_run_replaces_only_its_own_files(here: Path) -> None:
    folder = here / "try" / "here"
    afp("demo", "--dir", "try/here")
    first = (folder / "run.json").read_bytes()
    (folder / "mine.txt").write_text("mine", encoding="utf-8")

    ran = afp("demo", "--dir", "try/here")

    assert "try/here/run.json" in ran.out
    assert {path.name for path in folder.iterdir()} == {*FILES, "mine.txt"}
    assert (folder / "mine.txt").read_text(encoding="utf-8") == "mine"
    assert (folder / "run.json").read_bytes() != first
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {
        stat.S_IMODE((folder / "mine.txt").stat().st_mode)
    }


def test_the_page_opens_only_when_asked(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", opened.append)

    afp("demo")
    assert opened == []
    afp("demo", "--open")
    assert opened == [(here / "agentfootprint-demo" / "why.html").as_uri()]


def test_what_it_wrote_answers_and_can_be_proven_again(here: Path) -> None:
    afp("demo")
    run = "agentfootprint-demo/run.json"
    assert Recording.load(here / run).user_message == "Dana Reyes asks to return order A-1001. Should it be refunded?"

    asked = afp("why", run)
    proven = afp(
        *("why", run, "--prove", "--agent", "agentfootprint.cli.demo.desk:agent"),
        *("--changed", "/APPROVED|DECLINED/", "--expect", "vip-override-fact"),
    )
    live = afp(
        *("why", run, "--prove", "--agent", "agentfootprint.cli.demo.desk:agent", "--tools", "live", "-q"),
        *("--changed", "/APPROVED|DECLINED/"),
    )

    assert "CUSTODY of vip-override-fact" in asked.out
    assert proven.code == 0
    assert proven.out.startswith("PROVEN Without vip-override-fact the decision changes: APPROVED -> DECLINED\n")
    assert live.out == "PROVEN vip-override-fact 11 of 11, baseline 0 of 11\n"


def test_without_saying_what_counts_the_wording_hides_the_decision() -> None:
    """The model's words vary, so the exact text can't tell; the command says what to add."""
    afp("demo")

    ran = afp("why", "agentfootprint-demo/run.json", "--prove", "--agent", "agentfootprint.cli.demo.desk:agent")

    assert "PROVEN" not in ran.out
    assert "The decision changed by itself in" in ran.out
    assert "NEXT    Say what counts as changed: --changed FIELD" in ran.err


def test_a_file_where_the_folder_should_be_is_refused(here: Path) -> None:
    (here / "try").write_text("", encoding="utf-8")

    ran = afp("demo", "--dir", "try")

    assert (ran.code, "Name another one with --dir." in ran.err) == (2, True)
