"""Tests of agentfootprint.compose.resuming."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agentfootprint import Agent, Conditional, Loop, Mock, Parallel, PauseCheckpoint, RunResult, Sequence, approve, tool
from agentfootprint.agent import CheckpointFormatError, DecisionRequiredError, PauseAnswerRequiredError, resume_stream
from agentfootprint.compose import Branch, Case, Composed, CompositionError, Step, runner
from tests.compose.parts import asking, boom, brackets, heard_by


def noting(ran: list[str], name: str) -> Any:
    async def note(message: str) -> str:
        ran.append(name)
        return f"{message}+{name}"

    return runner(note)


def joined(said: Any) -> str:
    return "|".join(said.values())


Made = Callable[[list[str]], Composed[Any]]

KINDS: dict[str, tuple[Made, str, list[str]]] = {
    "step 2 of 3": (
        lambda ran: Sequence([Step("a", noting(ran, "a")), Step("q", asking(ran)), Step("c", noting(ran, "c"))]),
        "asker refunded+c",
        ["a", "asker.look", "asker.confirm", "c"],
    ),
    "a branch of a fork": (
        lambda ran: Parallel({"a": noting(ran, "a"), "q": asking(ran), "c": noting(ran, "c")}, merge=joined),
        "go+a|asker refunded|go+c",
        ["a", "c", "asker.look", "asker.confirm"],
    ),
    "the branch of a case": (
        lambda ran: Conditional([Case("q", lambda _: not ran, asking(ran))], otherwise=noting(ran, "c")),
        "asker refunded",
        ["asker.look", "asker.confirm"],
    ),
    "the second pass": (
        lambda ran: Loop(
            Conditional([Case("q", lambda given: "+a" in given.message, asking(ran))], otherwise=noting(ran, "a")),
            max_iterations=3,
        ),
        "asker refunded+a",
        ["a", "asker.look", "asker.confirm", "a"],
    ),
    "a fork in a step": (
        lambda ran: Sequence(
            [
                Step("both", Parallel({"a": noting(ran, "a"), "q": asking(ran)}, merge=joined), pipe=str.upper),
                Step("c", noting(ran, "c")),
            ]
        ),
        "GO+a|asker refunded+c",
        ["a", "asker.look", "asker.confirm", "c"],
    ),
}


async def answered(made: Made, ran: list[str], *, stored: bool) -> tuple[RunResult[Any], list[list[Any]]]:
    """Run, and answer whatever is asked: with the run's own checkpoint, or as another process would."""
    composition = made(ran)
    told = [heard_by(composition)]
    result = await composition.run("go")
    while result.paused is not None:
        checkpoint = result.paused.checkpoint
        if stored:
            checkpoint, composition = PauseCheckpoint.from_json(checkpoint.to_json()), made(ran)
            told.append(heard_by(composition))
        else:
            told.append(told.pop())
        result = await composition.resume(checkpoint, "yes")
    return result, told


@pytest.mark.parametrize("stored", [False, True], ids=["here", "stored"])
@pytest.mark.parametrize("kind", KINDS)
async def test_all_that_was_still_to_run_runs_and_nothing_runs_twice(kind: str, stored: bool) -> None:
    made, output, order = KINDS[kind]
    ran: list[str] = []

    result, told = await answered(made, ran, stored=stored)

    assert result.output == output
    assert ran == order or ("fork" in kind and sorted(ran) == sorted(order))
    heard = [event for part in told for event in part]
    enters = [each for each in brackets(heard) if each[0] == "enter"]
    exits = [each for each in brackets(heard) if each[0] == "exit"]
    assert sorted(each[1] for each in enters) == sorted(each[1] for each in exits)
    assert {each[2] for each in exits} <= {"ok", "budget_exhausted"}
    kinds = [event.type.removeprefix("agentfootprint.") for event in heard]
    assert kinds.count("pause.request") == kinds.count("pause.resume") == 1


async def test_what_a_question_says_leads_to_the_agent_that_asked() -> None:
    line = Sequence([Step("q", asking([]))], id="line")
    heard = heard_by(line)

    first = await line.run("go")
    paused = first.paused
    assert paused is not None
    second = await line.resume(paused, "yes")

    assert (first.ended_because, paused.question, paused.tool_name) == ("paused", "Refund 5?", "confirm")
    assert paused.checkpoint.subflow_path == ("step-q",)
    asked, resumed = (e for e in heard if e.type.startswith("agentfootprint.pause."))
    assert asked.meta.runtime_stage_id == "step-q/tool-calls#paused"
    assert resumed.meta.runtime_stage_id == "step-q/tool-calls#resumed"
    assert (asked.meta.run_id, resumed.meta.run_id) == (first.run_id, second.run_id)
    legs = [event for event in heard if event.meta.run_id == second.run_id]
    assert legs[0] is resumed
    assert second.recording.header["resumed"]["runId"] == first.run_id
    assert [e.meta.runtime_stage_id.partition("#")[0] for e in legs if e.type.endswith("tool_end")] == [
        "step-q/tool-calls"
    ]


async def test_branches_that_wait_side_by_side_are_asked_for_one_after_the_other() -> None:
    def made(ran: list[str]) -> Composed[Any]:
        return Parallel({"x": asking(ran, id="x"), "a": noting(ran, "a"), "y": asking(ran, id="y")}, merge=joined)

    for stored in (False, True):
        ran: list[str] = []
        result, told = await answered(made, ran, stored=stored)

        assert result.output == "x refunded|go+a|y refunded"
        assert sorted(ran) == ["a", "x.confirm", "x.look", "y.confirm", "y.look"]
        assert [e.type.rpartition(".")[2] for part in told for e in part if ".pause." in e.type] == [
            "request",
            "resume",
        ] * 2


async def test_a_branch_that_failed_beside_one_that_waits_is_still_told_of() -> None:
    def made(ran: list[str]) -> Composed[Any]:
        return Parallel({"bad": boom, "q": asking(ran)}, merge=joined, id="p")

    with pytest.raises(CompositionError, match=r"1 of 2 branches failed\.\n  bad: kaput"):
        await answered(made, [], stored=True)


async def test_a_branch_that_waits_is_not_stopped_by_one_that_must_not_fail() -> None:
    ran: list[str] = []
    both = Parallel(
        {"q": Branch(asking(ran), required=True), "a": Branch(noting(ran, "a"), required=True)}, merge=joined
    )

    first = await both.run("go")
    assert first.paused is not None

    assert (await both.resume(first.paused, "yes")).output == "asker refunded|go+a"


async def test_the_rest_of_a_run_may_be_read_as_a_stream() -> None:
    line = Sequence([Step("q", asking([])), Step("c", noting([], "c"))])
    paused = (await line.run("go")).paused
    assert paused is not None

    stream = resume_stream(line, paused, "yes")  # type: ignore[arg-type]
    assert not isinstance(stream, RunResult)
    async with stream as run:
        seen = [event.type.removeprefix("agentfootprint.") async for event in run]
        result = await run.result()

    assert (seen[0], seen[-1]) == ("pause.resume", "composition.exit")
    assert result.output == "asker refunded+c"


def checking() -> Agent[object, str]:
    @tool(check_in="always")
    async def refund(amount: int) -> str:
        """Send money back."""
        return f"sent {amount}"

    return Agent(Mock([Mock.call("refund", amount=9), "Done."], cursor="history"), tools=[refund], id="clerk")


async def test_an_answer_is_judged_as_the_agent_that_asked_would() -> None:
    line = Sequence([checking()], id="line")
    paused = (await line.run("go")).paused
    assert paused is not None
    assert paused.check_in is not None

    with pytest.raises(DecisionRequiredError):
        await line.resume(paused, "yes")
    with pytest.raises(DecisionRequiredError):
        await line.resume(paused)
    result = await line.resume(paused, approve(by="ann"))

    assert result.output == "Done."
    assert [call.result for call in result.tool_calls] == ["sent 9"]


async def test_what_is_no_checkpoint_of_it_is_refused_and_stays_as_good_as_it_was() -> None:
    ran: list[str] = []
    line = Sequence([Step("q", asking(ran))], id="line")
    paused = (await line.run("go")).paused
    assert paused is not None
    alone = (await asking([]).run("go")).paused

    others: list[tuple[Any, str]] = [("text", "A str is no paused run"), ({}, "checkpoint"), (alone, "asker")]
    for given, words in others:
        with pytest.raises(CheckpointFormatError) as caught:
            await line.resume(given, "yes")
        assert words in str(caught.value)
    with pytest.raises(CheckpointFormatError, match=r"'line' can't be resumed by 'other'"):
        await Sequence([Step("q", asking(ran))], id="other").resume(paused, "yes")
    with pytest.raises(CheckpointFormatError, match=r"not built as the one that paused"):
        await Sequence([Step("q", asking(ran)), Step("r", asking(ran))], id="line").resume(paused, "yes")
    with pytest.raises(PauseAnswerRequiredError):
        await line.resume(paused)

    assert (await line.resume(paused, "yes")).output == "asker refunded"
