"""Tests of agentfootprint.cli.proving."""

from __future__ import annotations

import io
import signal
import sys

import pytest

from agentfootprint.cli.errors import SpendingRefusedError
from agentfootprint.cli.proving import Board, Watch, agree, plan_text, settled_text
from agentfootprint.cli.streams import Choices, Streams
from agentfootprint.explain import ProofPlan, ProofProgress, ProofStoppedError, Spent
from tests.cli.commands import afp, widest

PLAN = ProofPlan(
    sources=("vip-override-fact", "lookup_order", "style-fact"),
    expected=Spent(runs=28, tokens=5320, usd=0.027, seconds=41.0),
    at_most=Spent(runs=96, tokens=18240, usd=0.09),
    compare='field "decision" of the output type, exact',
)


def progress(source: str, changed: int, pairs: int, **more: object) -> ProofProgress:
    given: dict[str, object] = {"state": "running", "spent": Spent(runs=19, tokens=3610, usd=0.02), "plan": PLAN}
    return ProofProgress(source=source, flips=changed, samples=pairs, **{**given, **more})  # type: ignore[arg-type]


def test_the_plan_is_the_one_of_the_first_hour() -> None:
    assert plan_text(PLAN, width=80) == (
        "PLAN   remove 3 sources, one at a time, each paired with an unchanged run\n"
        "       expected  28 re-runs     5,320 tokens   about $0.03   about 41 s\n"
        "       at most   96 re-runs    18,240 tokens   about $0.09\n"
        "       tools     replayed; a call that is not recorded ends its pair\n"
        '       compare   field "decision" of the output type, exact\n'
        "       cached    0 of 96 re-runs"
    )


def test_a_plan_without_prices_or_token_counts_says_so() -> None:
    plan = ProofPlan(sources=("a",), expected=Spent(runs=18), at_most=Spent(runs=48), compare="text", tools="live")

    shown = plan_text(plan, width=80)

    assert "remove 1 source, one at a time" in shown
    assert "18 re-runs    tokens unknown   not priced" in shown
    assert "tools     LIVE: the tools are really called" in shown


def test_the_bar_counts_re_runs_and_has_a_line_for_each_source() -> None:
    board = Board(PLAN, limit=0.5)
    board.latest["vip-override-fact"] = progress("vip-override-fact", 7, 7, evidence=16.4, needed=60.0)
    board.latest["lookup_order"] = progress("lookup_order", 0, 4, state="settled", verdict="not-confirmed")
    board.latest["style-fact"] = progress("style-fact", 0, 1)

    assert board.lines(width=80, seconds=27.4) == [
        "PROVE  =================>---------  19 of about 28   $0.02 of $0.50   0:27",
        "       vip-override-fact   changed 7 of 7   evidence 16.4, needs 60",
        "       lookup_order        changed 0 of 4   settled",
        "       style-fact          changed 0 of 1   running",
    ]


@pytest.mark.parametrize(("usd", "shown"), [(None, "not priced"), (0.0, "$0 of $0.50"), (0.4, "$0 of $0.50")])
def test_before_its_first_news_the_bar_of_an_unpriced_proof_shows_no_amount(usd: float | None, shown: str) -> None:
    plan = ProofPlan(sources=("a",), expected=Spent(runs=10, usd=usd), at_most=Spent(runs=20, usd=usd), compare="text")

    (bar,) = Board(plan, limit=0.5).lines(width=80, seconds=0)

    assert bar.endswith(f"0 of about 10   {shown}   0:00")


def test_the_bar_fits_a_narrow_terminal_and_any_name() -> None:
    plan = ProofPlan(sources=("x" * 90,), expected=Spent(runs=1_000), at_most=Spent(runs=2_000), compare="text")
    board = Board(plan, limit=0.5)
    board.latest["x" * 90] = progress("x" * 90, 3, 4, evidence=1234.5, needed=99999.0)

    shown = board.lines(width=60, seconds=3_725)

    assert widest("\n".join(shown)) <= 60
    assert "..." in shown[1]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (progress("style-fact", 0, 3), None),
        (
            progress("vip", 10, 10, state="settled", verdict="confirmed"),
            "settled vip: confirmed, 10 of 10 (72-100 %)",
        ),
        (
            progress("tool", 0, 4, state="settled", verdict="not-confirmed"),
            "settled tool: no effect found, 0 of 4 (0-49 %)",
        ),
        (progress("rest", 0, 0, state="not-tested"), "not tested rest: a limit was reached"),
    ],
)
def test_without_a_terminal_a_settled_source_is_a_line(given: ProofProgress, said: str | None) -> None:
    assert settled_text(given) == said


class Keyboard(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("typed", "agreed"), [("y\n", True), ("YES\n", True), ("n\n", False), ("\n", False), ("", False)]
)
def test_a_person_is_asked_before_money_is_spent(typed: str, agreed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    screen = Keyboard()
    monkeypatch.setattr(sys, "stdin", Keyboard(typed))
    monkeypatch.setattr(sys, "stderr", screen)

    assert agree(Streams(environ={}), PLAN, usd=0.5, yes=False) is agreed
    assert screen.getvalue() == "Spend up to $0.50? [y/N] "


def test_nobody_is_asked_about_a_free_plan_or_after_yes() -> None:
    free = ProofPlan(sources=("a",), expected=Spent(runs=1, usd=0.0), at_most=Spent(runs=2, usd=0.0), compare="text")

    assert agree(Streams(environ={}), free, usd=0.5, yes=False)
    assert agree(Streams(environ={}), PLAN, usd=0.5, yes=True)


def test_without_a_terminal_spending_is_refused_with_its_amount(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO())

    with pytest.raises(SpendingRefusedError, match=r"The plan may cost \$0\.09, .* Add --yes"):
        agree(Streams(Choices(), {}), PLAN, usd=0.5, yes=False)


def test_the_first_interrupt_stops_the_proof_and_the_second_the_program() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Watch() as watch:
        watch(progress("a", 0, 1))
        signal.raise_signal(signal.SIGINT)
        assert watch.was_stopped
        with pytest.raises(ProofStoppedError):
            watch(progress("a", 0, 2))
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("desk", "terminal")
def test_on_a_terminal_the_bar_goes_to_stderr_and_leaves_nothing_behind() -> None:
    ran = afp("why", "run.json", "--prove", "--agent", "refunds:agent", "--changed", "/APPROVED|DECLINED/")

    assert ran.out.startswith("\x1b[1;31mPROVEN\x1b[0m Without vip-override-fact")
    assert "PROVE  " in ran.err
    assert "settled vip-override-fact" not in ran.err
