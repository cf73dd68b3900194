"""Tests of agentfootprint.cli.why."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentfootprint.explain import Why, forbidden_words
from tests.cli.commands import afp, widest

PROVE = ("why", "run.json", "--prove", "--agent", "refunds:agent", "--changed", "/APPROVED|DECLINED/")

SECTION_4 = """\
WHY    "Refund APPROVED: Dana Reyes holds VIP tier override status, so the 4..."
       decided at call-llm#40, iteration 2

SOURCES that reached it: 3     [ranked by lexical-overlap, not proven]
  1  0.86  fact  vip-override-fact  "Customer Dana Reyes holds VIP tier over..."
  2  0.38  tool  lookup_order       "Order A-1001: purchased 47 days ago, pr..."
  3  0.20  fact  style-fact         "Style rule #12: limit replies to two (2..."
  Lead 0.48; an order needs 0.05. On the path too, not sources: 2 steps.

CUSTODY of vip-override-fact                                       [recorded]
  ANSWER   call-llm#40  llmLatestContent
  READ     call-llm#40  systemPromptInjections, characters 79-176 of 245
  LANDED   context#6    appended 3 records in iteration 1; unchanged since
  ALLOWED  evaluate#3   fact, trigger always: no rule decided
  BORN     context=[Fact("vip-override-fact")]; file and line: not recorded

MISSING  Nothing dropped: 2 of 2 pieces sent. Never offered: unknown, the run
         had no memory and no retriever.
LIMITS   1 step also read untracked run input. No decision edges.

Nothing here is proven. To test it:  about 28 re-runs
  agentfootprint why run.json --prove --agent MODULE:ATTR
"""


@pytest.mark.usefixtures("desk", "terminal")
def test_a_terminal_gets_the_answer_its_sources_and_their_custody() -> None:
    ran = afp("why", "run.json", "--no-color")

    assert (ran.code, ran.err) == (0, "")
    assert ran.out == SECTION_4


@pytest.mark.usefixtures("desk", "terminal")
def test_colour_adds_nothing_but_colour() -> None:
    painted = afp("why", "run.json").out

    assert "\x1b[33m[ranked by lexical-overlap, not proven]\x1b[0m" in painted
    assert "\x1b[34m[recorded]\x1b[0m" in painted
    assert "\x1b[31m" not in painted
    assert re.sub(r"\x1b\[[\d;]*m", "", painted) == SECTION_4


@pytest.mark.usefixtures("desk")
def test_a_pipe_gets_the_same_words_whole() -> None:
    piped = afp("why", "run.json")

    assert "..." not in piped.out
    assert "\x1b" not in piped.out
    assert widest(piped.out) <= 80
    assert SECTION_4.partition("CUSTODY")[2] == piped.out.partition("CUSTODY")[2]
    assert piped.out == afp("why", "run.json").out


@pytest.mark.usefixtures("desk")
def test_nothing_is_called_more_than_it_is_without_re_runs() -> None:
    for view in ((), ("-q",), ("--of", "lookup_order"), ("--at", "call-llm#18")):
        assert forbidden_words(afp("why", "run.json", *view).out) == []


@pytest.mark.usefixtures("desk")
def test_the_short_form_is_one_line() -> None:
    assert afp("why", "run.json", "-q").out == (
        "vip-override-fact resembles most: 0.86 of 1, next 0.38; ranked, not proven\n"
    )
    assert afp("why", "run.json", "-qq").out == ""


@pytest.mark.usefixtures("desk")
def test_json_is_the_report() -> None:
    report = afp("why", "run.json", "--json").json

    assert report["format"] == "agentfootprint.why/1"
    assert (report["mode"], report["rankedBy"], report["step"]) == ("correlational", "lexical-overlap", "call-llm#40")
    assert [suspect["detail"].get("injectionId") for suspect in report["suspects"][:1]] == ["vip-override-fact"]
    assert not any("verdict" in suspect for suspect in report["suspects"])
    assert [hop["step"] for hop in report["custody"]] == ["answer", "read", "landed", "allowed", "born"]


@pytest.mark.usefixtures("desk")
def test_another_source_and_another_call_can_be_asked_about() -> None:
    of_tool = afp("why", "run.json", "--of", "lookup_order").out
    at_first = afp("why", "run.json", "--at", "call-llm#18").out

    assert "CUSTODY of lookup_order" in of_tool
    assert "the model asked for the call; no gate decided" in of_tool
    assert "decided at call-llm#18, iteration 1" in at_first


@pytest.mark.usefixtures("desk")
def test_the_old_name_of_the_command_still_works() -> None:
    assert afp("explain", "run.json").out == afp("why", "run.json").out


def test_a_good_run_to_compare_with_changes_the_scores(desk: Path) -> None:
    ran = afp("why", "run.json", "--reference", "run.json", "--json")

    assert ran.json["rankedBy"] == "lexical-contrast"


def test_the_page_is_written_beside_the_result(desk: Path) -> None:
    ran = afp("why", "run.json", "--html", "why.html")

    assert ran.out.startswith("WHY ")
    assert ran.err.startswith("wrote  why.html   ")
    assert "vip-override-fact" in (desk / "why.html").read_text(encoding="utf-8")


PROVEN = """\
PROVEN Without vip-override-fact the decision changes: APPROVED -> DECLINED

                     how often it changes, 95 % interval
                              0 %             100 %
  vip-override-fact  without  ..............------*  10 of 10  72-100 %
   confirmed         with     *------..............   0 of 10    0-28 %
  lookup_order       without  *----------..........   0 of 4     0-49 %
   no effect found   with     *----------..........   0 of 4     0-49 %
  style-fact         without  *----------..........   0 of 4     0-49 %
   no effect found   with     *----------..........   0 of 4     0-49 %

  effect +100 points (+61 to +100); e = 66.4, needs 60: 5 % over 3 sources
  spent  28 re-runs, 4,106 tokens, $0, SECONDS.
  "No effect found" is not "no effect": up to 49 % is not ruled out.
"""
PLAN = """\
PLAN   remove 3 sources, one at a time, each paired with an unchanged run
       expected  28 re-runs     5,320 tokens   $0
       at most   96 re-runs    18,240 tokens   $0
       tools     replayed; a call that is not recorded ends its pair
       compare   first match of /APPROVED|DECLINED/
       cached    0 of 96 re-runs
"""
SETTLED = """\
settled vip-override-fact: confirmed, 10 of 10 (72-100 %)
settled lookup_order: no effect found, 0 of 4 (0-49 %)
settled style-fact: no effect found, 0 of 4 (0-49 %)
"""


@pytest.mark.usefixtures("desk")
def test_a_proof_says_what_it_will_do_what_it_did_and_what_came_out() -> None:
    ran = afp(*PROVE)

    assert ran.code == 0
    assert ran.err == PLAN + SETTLED
    assert re.sub(r"(?<=\$0, ).*?(?=\.\n)", "SECONDS", ran.out) == PROVEN


@pytest.mark.usefixtures("desk")
def test_the_forms_of_a_proof() -> None:
    brief, silent, document = afp(*PROVE, "-q"), afp(*PROVE, "-qq"), afp(*PROVE, "--json")

    assert (brief.out, brief.err) == ("PROVEN vip-override-fact 10 of 10, baseline 0 of 10\n", "")
    assert (silent.out, silent.err) == ("", "")
    assert document.err == PLAN + SETTLED
    suspect = document.json["suspects"][0]
    assert suspect["verdict"]["verdict"] == "confirmed"
    assert suspect["runs"] == {"samples": 10, "flips": 10}
    assert suspect["stats"]["needed"] == 60.0
    assert (document.json["mode"], document.json["runsUsed"]) == ("causal", 28)
    assert document.json["spent"]["usd"] == 0


@pytest.mark.usefixtures("desk")
def test_a_dry_run_prints_the_plan_and_runs_nothing() -> None:
    ran = afp(*PROVE, "--dry-run")
    document = afp(*PROVE, "--dry-run", "--json").json

    assert (ran.code, ran.out, ran.err) == (0, PLAN, "")
    assert document["format"] == "agentfootprint.plan/1"
    assert document["sources"] == ["vip-override-fact", "lookup_order", "style-fact"]
    assert afp(*PROVE, "--dry-run", "-q").out == "expected 28 re-runs, at most 96\n"


@pytest.mark.usefixtures("desk")
def test_named_sources_alone_are_tested() -> None:
    ran = afp(*PROVE, "--of", "style-fact")

    assert ran.out.startswith("NOT FOUND")
    assert "vip-override-fact" not in ran.out


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize(("source", "code"), [("vip-override-fact", 0), ("style-fact", 1)])
def test_what_is_expected_decides_the_exit_code(source: str, code: int) -> None:
    ran = afp(*PROVE, "--expect", source)

    assert ran.code == code
    assert ("is not confirmed" in ran.err) is bool(code)


@pytest.mark.usefixtures("desk")
def test_a_limit_leaves_the_rest_untested_and_says_so() -> None:
    ran = afp(*PROVE, "--runs", "12")

    assert ran.code == 0
    assert ran.out.startswith(
        "INCONCLUSIVE  Without vip-override-fact it changes in 6 of 6 re-runs (61-100 %).\n"
        "              Not enough to tell. Stopped: 12 re-runs, a limit was reached.\n"
    )
    assert "  lookup_order       not tested\n  style-fact         not tested\n" in ran.out
    assert "not tested style-fact: a limit was reached" in ran.err


@pytest.mark.usefixtures("desk")
def test_a_changed_agent_is_refused_or_stands_in_the_verdict() -> None:
    changed = ("why", "run.json", "--prove", "--agent", "refunds:changed", "--changed", "/APPROVED|DECLINED/")

    refused, allowed = afp(*changed), afp(*changed, "--allow-changed")

    assert refused.code == 2
    assert "its tool lookup_order is gone." in refused.err
    assert "[ERR_AGENT_CHANGED]" in refused.err
    assert "add --allow-changed" in refused.err
    assert allowed.code == 0
    assert "The verdicts are about a changed agent: its tool lookup_order is gone." in allowed.out


@pytest.mark.usefixtures("desk")
def test_spending_needs_a_word_when_nobody_can_be_asked() -> None:
    plan = ("why", "priced.json", "--prove", "--agent", "refunds:priced", "--changed", "/APPROVED|DECLINED/")

    refused, allowed = afp(*plan), afp(*plan, "--yes")

    assert (refused.code, refused.out) == (2, "")
    assert "not priced" in refused.err
    assert "[ERR_SPENDING_NOT_ALLOWED]" in refused.err
    assert allowed.code == 0
    assert "tokens unknown, not priced" in allowed.out


@pytest.mark.usefixtures("desk")
def test_an_agent_that_fails_is_told_from_a_bug_of_ours() -> None:
    ran = afp("why", "run.json", "--prove", "--agent", "refunds:failing")

    assert ran.code == 2
    assert "The agent raised ValueError in refunds.py:" in ran.err
    assert "4711" not in ran.out + ran.err


def test_what_the_users_code_prints_does_not_get_into_the_result(desk: Path) -> None:
    (desk / "loud.py").write_text(LOUD, encoding="utf-8")

    ran = afp("why", "run.json", "--prove", "--agent", "loud:agent", "--json")

    assert ran.json["mode"] == "causal"
    assert "imported" in ran.err
    assert "asked" in ran.err


LOUD = """\
import refunds
print("imported")
def model(request):
    print("asked")
    return refunds.model(request)
agent = refunds.refund_agent(model)
"""


def test_an_interrupt_prints_what_is_settled(desk: Path) -> None:
    (desk / "slow.py").write_text(INTERRUPTED, encoding="utf-8")
    prove = ("why", "run.json", "--prove", "--agent", "slow:agent", "--changed", "/APPROVED|DECLINED/")

    ran = afp(*prove)

    assert ran.code == 130
    assert "  lookup_order       not tested\n  style-fact         not tested\n" in ran.out
    assert "The proof was stopped; not tested: lookup_order, style-fact." in ran.out
    assert "Interrupted: this is what was settled" in ran.err


INTERRUPTED = """\
import signal
import refunds
calls = []
def model(request):
    calls.append(request)
    if len(calls) == 40:  # in the last re-run of the first source
        signal.raise_signal(signal.SIGINT)
    return refunds.model(request)
agent = refunds.refund_agent(model)
"""


@pytest.mark.usefixtures("desk")
@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["--at", "call-llm#41"], "ERR_UNKNOWN_STEP", "Use one of call-llm#18, call-llm#40."),
        (["--at", "tool-calls#22"], "ERR_UNKNOWN_STEP", "'tool-calls#22' is no model call"),
        (["--of", "vip-overide-fact"], "ERR_UNKNOWN_SOURCE", "Did you mean vip-override-fact?"),
        (["--of", "a", "--of", "b"], "ERR_USAGE", "--of is given twice."),
        (["--rank", "semantic"], "ERR_USAGE", "Use lexical-overlap."),
        (["--runs", "5"], "ERR_USAGE", "--runs says how to prove, and --prove is not there."),
        (["--runs", "x", "--prove"], "ERR_USAGE", "'--runs'"),
        (["--prove"], "ERR_NO_AGENT", "Add --agent MODULE:ATTRIBUTE"),
        (["--prove", "--agent", "refunds:nobody"], "ERR_AGENT_NOT_FOUND", "'refunds' has no 'nobody'."),
        (["--prove", "--agent", "refunds:agent", "--tools", "none"], "ERR_USAGE", "replay, stub, live"),
        (["--prove", "--agent", "refunds:agent", "--seconds", "0"], "ERR_USAGE", "--seconds is 0."),
        (["--prove", "--agent", "refunds:agent", "--seconds", "nan"], "ERR_USAGE", "--seconds is nan."),
        (["--prove", "--agent", "refunds:agent", "--usd", "nan"], "ERR_USAGE", "--usd is nan."),
        (["--prove", "--agent", "refunds:agent", "--usd", "inf"], "ERR_USAGE", "--usd is inf."),
        (
            ["--prove", "--agent", "refunds:agent", "--usd=-1"],
            "ERR_USAGE",
            "fix: Give a number of 0 or more",
        ),
        (["--prove", "--agent", "refunds:agent", "--at", "call-llm#18"], "ERR_USAGE", "--at call-llm#18 did not give"),
        (["--prove", "--agent", "refunds:agent", "--reference", "run.json"], "ERR_USAGE", "--reference"),
        (["--prove", "--agent", "refunds:agent", "--expect", "nobody"], "ERR_UNKNOWN_SOURCE", "'nobody'"),
        (["--prove", "--agent", "refunds:agent", "--changed", "/(/"], "ERR_INVALID_COMPARATOR", "pattern"),
        (["--html", "nowhere/why.html"], "ERR_FILE", "Create the folder 'nowhere'."),
    ],
)
def test_what_can_not_be_asked_is_named_with_its_way_out(words: list[str], code: str, said: str) -> None:
    ran, document = afp("why", "run.json", *words), afp("why", "run.json", *words, "--json")

    assert (ran.code, ran.out) == (2, "")
    assert f"[{code}]" in ran.err
    assert said in " ".join(ran.err.split())
    assert widest(ran.err) <= 80
    assert "Traceback" not in ran.err
    assert (document.code, document.json["error"]["code"]) == (2, code)


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        (b'{"a": 1}', "ERR_NOT_RECORDING", 'it has no "snapshot"'),
        (b"hello", "ERR_NOT_RECORDING", "it is not JSON"),
        (b"", "ERR_NOT_RECORDING", "it is empty"),
        (None, "ERR_FILE", "There is no file 'other.json'."),
    ],
)
def test_a_file_that_is_no_recording_is_named(content: bytes | None, code: str, said: str, desk: Path) -> None:
    if content is not None:
        (desk / "other.json").write_bytes(content)

    ran = afp("why", "other.json")

    assert (ran.code, ran.out) == (2, "")
    assert f"[{code}]" in ran.err
    assert said in " ".join(ran.err.split())


def test_a_recording_that_is_cut_off_or_newer_is_refused(desk: Path) -> None:
    whole = (desk / "run.json").read_text(encoding="utf-8")
    (desk / "cut.json").write_text(whole[: len(whole) // 2], encoding="utf-8")
    (desk / "newer.json").write_text(whole.replace("runlog/1", "runlog/99", 1), encoding="utf-8")

    cut, newer = afp("why", "cut.json"), afp("why", "newer.json")

    assert (cut.code, newer.code) == (2, 2)
    assert "cut.json is cut off" in cut.err
    assert "'agentfootprint.runlog/99'" in newer.err


@pytest.mark.usefixtures("desk")
def test_an_imported_run_is_explained_and_can_not_be_proven() -> None:
    afp("import", "log.json", "--to", "imported.json")

    asked, proven = afp("why", "imported.json"), afp("why", "imported.json", "--prove", "--agent", "refunds:agent")

    assert asked.code == 0
    assert "it can't be tested" in asked.out
    assert forbidden_words(asked.out) == []
    assert (proven.code, proven.out) == (2, "")
    assert "This run was imported" in proven.err


@pytest.mark.usefixtures("desk")
def test_an_interrupt_while_the_page_is_written_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Why, "to_html", interrupted)

    ran = afp("why", "run.json", "--html", "why.html")

    assert (ran.code, ran.err) == (130, "Interrupted.\n")


def test_an_agent_that_ends_the_program_in_a_re_run_is_told(desk: Path) -> None:
    (desk / "leaving.py").write_text(LEAVING, encoding="utf-8")

    ran = afp("why", "run.json", "--prove", "--agent", "leaving:agent")

    assert (ran.code, ran.out) == (2, "")
    assert "The agent raised SystemExit in leaving.py:" in ran.err


LEAVING = """\
import sys
import refunds
def model(request):
    sys.exit(0)
agent = refunds.refund_agent(model)
"""
