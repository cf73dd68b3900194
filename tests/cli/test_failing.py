"""Tests of agentfootprint.cli.failing."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from agentfootprint.cli.failing import error_document, error_text, report_failure, their_code
from agentfootprint.cli.streams import Choices, Streams
from agentfootprint.errors import AgentFootprintError, MissingExtraError
from agentfootprint.explain import (
    AgentChangedError,
    NoAgentError,
    OverBudgetError,
    UnknownSourceError,
    UnknownStepError,
)
from tests.cli.commands import widest

TEN_ERRORS = [
    (
        UnknownStepError("call-llm#41", ["seed#0", "call-llm#18", "call-llm#40"], where="run.json"),
        (
            "error: There is no step 'call-llm#41' in run.json.           [ERR_UNKNOWN_STEP]\n"
            "  fix: Use one of call-llm#18, call-llm#40. All steps: show run.json --tree."
        ),
    ),
    (
        UnknownSourceError("vip-overide-fact", ["vip-override-fact", "style-fact", "lookup_order"]),
        (
            "error: There is no source 'vip-overide-fact'.              [ERR_UNKNOWN_SOURCE]\n"
            "  fix: Did you mean vip-override-fact? Removable: vip-override-fact, style-fact,\n"
            "       lookup_order."
        ),
    ),
    (
        NoAgentError(asked_by="--prove", fix="Add --agent MODULE:ATTRIBUTE, for example --agent refunds:agent."),
        (
            "error: --prove needs the agent, a recording can't be re-run.     [ERR_NO_AGENT]\n"
            "  fix: Add --agent MODULE:ATTRIBUTE, for example --agent refunds:agent."
        ),
    ),
    (
        AgentChangedError("its tool lookup_order is gone", option="--allow-changed"),
        (
            "error: The agent differs from the recorded one: its tool lookup_order is gone.\n"
            "                                                            [ERR_AGENT_CHANGED]\n"
            "  fix: Check out the version that made the run, or add --allow-changed; the\n"
            "       verdict then says that it is about the changed agent."
        ),
    ),
    (
        OverBudgetError(4.1, 0.5, option="--usd", fewer="--of vip-override-fact"),
        (
            "error: The plan may cost $4.10; the limit is $0.50.           [ERR_OVER_BUDGET]\n"
            "  fix: Raise --usd, or prove fewer sources: --of vip-override-fact."
        ),
    ),
    (
        MissingExtraError("RedisStore needs the package 'redis'.", fix='pip install "agentfootprint[redis]"'),
        (
            "error: RedisStore needs the package 'redis'.                [ERR_MISSING_EXTRA]\n"
            '  fix: pip install "agentfootprint[redis]"'
        ),
    ),
]


@pytest.mark.parametrize(("error", "said"), TEN_ERRORS, ids=lambda each: getattr(each, "code", ""))
def test_an_error_is_two_lines_with_its_code_at_the_right(error: AgentFootprintError, said: str) -> None:
    assert error_text(error) == said
    assert widest(said) <= 80


def test_the_code_has_a_line_of_its_own_where_there_is_no_room() -> None:
    text = error_text(AgentFootprintError("x" * 61, fix="y" * 200))

    assert text.splitlines()[:2] == ["error: " + "x" * 61, "[ERR_AGENTFOOTPRINT]".rjust(79)]
    assert widest(text) <= 80


def test_terminal_sequences_in_an_error_are_escaped() -> None:
    text = error_text(AgentFootprintError("There is no '\x1b[2J'.", fix="Do\nit."))

    assert "\x1b" not in text
    assert "'\\x1b[2J'" in text


def test_json_holds_the_same_fields() -> None:
    error = UnknownStepError("a#1", ["b#2"], where="run.json")

    assert error_document(error) == {
        "error": {
            "code": "ERR_UNKNOWN_STEP",
            "problem": "There is no step 'a#1' in run.json.",
            "fix": "Use one of b#2. All steps: show run.json --tree.",
            "where": "run.json",
        }
    }
    assert "where" not in error_document(NoAgentError())["error"]


def caught(raising: Callable[[], object]) -> Exception:
    try:
        raising()
    except Exception as error:  # noqa: BLE001  whatever it raises is looked at
        return error
    raise AssertionError


def test_a_bug_is_one_line_and_its_traceback_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    bug = caught(lambda: Streams(environ=None).has_color())  # type: ignore[arg-type]  # a mistake of ours

    code = report_failure(Streams(environ={}), bug)

    said = " ".join(capsys.readouterr().err.split())
    match = re.fullmatch(
        r"error: agentfootprint failed with AttributeError in agentfootprint/cli/streams\.py:\d+\. \[ERR_INTERNAL\] "
        r"fix: Report this line; the traceback was written to (\S+)\.",
        said,
    )
    assert code == 70
    assert match is not None, said
    kept = Path(match[1])
    assert "AttributeError" in kept.read_text(encoding="utf-8")
    assert kept.stat().st_mode & 0o077 == 0
    kept.unlink()


def test_a_traceback_is_printed_only_when_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    report_failure(Streams(Choices(verbose=True), {}), NoAgentError())
    told = capsys.readouterr().err
    report_failure(Streams(environ={}), NoAgentError())

    assert "NoAgentError" in told
    assert "NoAgentError" not in capsys.readouterr().err


def test_with_json_the_error_is_the_document(capsys: pytest.CaptureFixture[str]) -> None:
    code = report_failure(Streams(Choices(as_json=True), {}), NoAgentError())

    shown = capsys.readouterr()
    assert (code, shown.err) == (2, "")
    assert json.loads(shown.out)["error"]["code"] == "ERR_NO_AGENT"


def test_a_file_that_can_not_be_used_is_an_input_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    error = caught((tmp_path / "nowhere" / "run.json").read_bytes)

    assert report_failure(Streams(environ={}), error) == 2
    assert "[ERR_FILE]" in capsys.readouterr().err


def test_an_interrupt_has_its_own_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert report_failure(Streams(environ={}), KeyboardInterrupt()) == 130
    assert capsys.readouterr().err == "Interrupted.\n"


def test_the_innermost_frame_tells_whose_code_failed() -> None:
    theirs = caught(lambda: json.loads("{"))  # raised in the standard library, called from here
    ours = caught(lambda: Streams(environ=None).has_color())  # type: ignore[arg-type]  # a mistake of ours

    found = their_code(theirs)
    assert found is not None
    assert found[0] == "JSONDecodeError"
    assert found[1].startswith("test_failing.py:")
    assert their_code(ours) is None
