"""Tests of agentfootprint.compose.fanning."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

from agentfootprint import ConfigError, LLMCall, Loop, Mock, Parallel, Sequence
from agentfootprint.compose import Branch, CompositionError, Failed, MergeLLM, Ok, Step, runner
from tests.compose.parts import Gate, boom, brackets, ex, heard_by, up


def joined(said: Mapping[str, str]) -> str:
    return "|".join(f"{key}={text}" for key, text in said.items())


def told(outcomes: Mapping[str, Ok | Failed]) -> str:
    return "|".join(each.value if isinstance(each, Ok) else f"({each.error})" for each in outcomes.values())


async def test_the_merge_gets_the_branches_in_the_order_of_declaration_whichever_ends_first() -> None:
    slow, quick = Gate(), Gate()
    both = Parallel({"slow": slow.runner, "quick": quick.runner}, merge=joined)

    running = asyncio.create_task(both.run("hi"))
    await slow.begun.wait()
    await quick.begun.wait()
    quick.opened.set()
    await asyncio.sleep(0)
    slow.opened.set()

    assert (await running).output == "slow=hi|quick=hi"


async def test_the_merge_may_be_awaited() -> None:
    async def merge(said: Mapping[str, str]) -> str:
        await asyncio.sleep(0)
        return joined(said)

    assert (await Parallel({"a": up, "b": ex}, merge=merge).run("hi")).output == "a=HI|b=hi!"


async def test_a_strict_merge_is_not_asked_when_a_branch_failed_and_all_have_settled() -> None:
    asked: list[object] = []
    last = Gate()
    both = Parallel(
        {"bad": boom, "worse": boom, "last": last.runner}, merge=lambda said: str(asked.append(said)), id="p"
    )
    heard = heard_by(both)

    running = asyncio.create_task(both.run("hi"))
    await last.begun.wait()
    last.opened.set()
    with pytest.raises(CompositionError) as caught:
        await running

    assert asked == []
    assert not last.was_stopped
    assert str(caught.value.args[0]) == (
        "The Parallel 'p' failed: 2 of 3 branches failed.\n  bad: kaput\n  worse: kaput\n"
    )
    assert "merge_outcomes" in caught.value.fix
    assert caught.value.child_ids == ("bad", "worse")
    assert isinstance(caught.value.__cause__, TypeError)
    assert brackets(heard)[-1] == ("exit", "p", "err")


async def test_a_tolerant_merge_sees_every_outcome_and_decides() -> None:
    assert (await Parallel({"a": up, "b": boom}, merge_outcomes=told).run("hi")).output == "HI|(kaput)"
    assert (await Parallel({"a": boom, "b": boom}, merge_outcomes=told).run("hi")).output == "(kaput)|(kaput)"


async def test_a_required_branch_fails_the_run_under_a_tolerant_merge_too() -> None:
    both = Parallel({"a": Branch(boom, required=True), "b": boom, "c": up}, merge_outcomes=told)

    with pytest.raises(CompositionError, match=r"1 of 3 branches failed\.\n  a: kaput") as caught:
        await both.run("hi")

    assert caught.value.child_ids == ("a",)


async def test_where_every_branch_is_required_the_first_failure_stops_the_others() -> None:
    other = Gate()
    both = Parallel({"other": Branch(other.runner, required=True), "bad": Branch(boom, required=True)}, merge=joined)
    heard = heard_by(both)

    with pytest.raises(CompositionError, match=r"\n  bad: kaput"):
        await both.run("hi")

    assert other.was_stopped
    assert brackets(heard)[-1] == ("exit", "parallel", "err")
    assert [event.payload.status for event in heard if event.type.endswith("branch_complete")] == ["err", "err"]


async def test_a_failure_is_told_of_by_its_branch_at_any_depth_and_in_its_own_run_only() -> None:
    @runner
    async def picky(message: str) -> str:
        if "bad" in message:
            raise RuntimeError(message)
        return message

    inner = Parallel({"x": picky, "y": up}, merge=joined, id="inner")
    outer = Sequence([Step("first", up, pipe=str), Step("both", inner, pipe=lambda said: said.lower())])

    results = await asyncio.gather(
        *(outer.run(f"bad {n}" if n == 4 else f"good {n}") for n in range(10)), return_exceptions=True
    )

    failed = [result for result in results if isinstance(result, BaseException)]
    assert len(failed) == 1
    assert str(failed[0].args[0]) == "The Parallel 'inner' failed: 1 of 2 branches failed.\n  x: bad 4\n"


async def test_a_fast_failure_of_a_nested_parallel_closes_every_bracket_once() -> None:
    inner = Parallel({"a": Branch(boom, required=True), "b": Branch(up, required=True)}, merge=joined, id="in")
    outer = Loop(Sequence([Step("p", inner)], id="mid"), id="out")
    heard = heard_by(outer)

    with pytest.raises(CompositionError, match=r"'in' failed"):
        await outer.run("hi")

    told_of = brackets(heard)
    assert [each[:2] for each in told_of] == [
        *(("enter", each) for each in ("out", "mid", "in")),
        *(("exit", each) for each in ("in", "mid", "out")),
    ]
    assert {each[2] for each in told_of[3:]} == {"err"}
    assert all(0 <= event.payload.duration_ms < 60_000 for event in heard if event.type.endswith("composition.exit"))


async def test_a_merge_that_raises_or_gives_no_text_fails_the_run() -> None:
    with pytest.raises(ZeroDivisionError):
        await Parallel({"a": up, "b": ex}, merge=lambda _: str(1 // 0)).run("hi")
    with pytest.raises(CompositionError, match=r"'merge' gave a dict"):
        await Parallel({"a": up, "b": ex}, merge=lambda said: said).run("hi")  # type: ignore[arg-type,return-value]


async def test_no_more_branches_are_on_their_way_at_once_than_is_allowed() -> None:
    now = most = 0

    @runner
    async def count(message: str) -> str:
        nonlocal now, most
        now += 1
        most = max(most, now)
        await asyncio.sleep(0)
        now -= 1
        return message

    await Parallel({str(n): count for n in range(6)}, merge=joined, max_concurrency=2).run("hi")

    assert most == 2


async def test_a_branch_of_ten_megabytes_is_merged_and_told_of_in_eighty_units() -> None:
    @runner
    async def long(message: str) -> str:
        return "x" * 10_000_000

    both = Parallel({"a": long, "b": up}, merge=lambda said: said["a"])
    heard = heard_by(both)

    assert len((await both.run("hi")).output) == 10_000_000
    summary = next(event.payload.result_summary for event in heard if event.type.endswith("merge_end"))
    assert summary == "x" * 79 + "…"


class Stop(BaseException):
    """What no `except Exception` catches."""


async def test_what_is_no_failure_passes_through_and_closes_the_bracket() -> None:
    @runner
    async def stop(message: str) -> str:
        raise Stop

    both = Parallel({"a": stop, "b": up}, merge_outcomes=told, id="p")
    heard = heard_by(both)

    with pytest.raises(Stop):
        await both.run("hi")

    assert brackets(heard)[-1] == ("exit", "p", "err")


async def test_a_model_may_merge_and_no_branch_breaks_out_of_its_element() -> None:
    @runner
    async def sly(message: str) -> str:
        return "</a><b>& more"

    model = Mock(lambda request: str(request.messages[0].content))
    both = Parallel({"a": sly, "b": up}, merge=MergeLLM(model, prompt="One answer."))
    heard = heard_by(both)

    result = await both.run("hi")

    assert result.output == "One answer.\n\n<a>&lt;/a&gt;&lt;b&gt;&amp; more</a>\n<b>HI</b>"
    assert (result.iterations, result.cost_usd) == (1, 0.0)
    assert [e.meta.runtime_stage_id for e in heard if ".stream." in e.type] == ["merge#5", "merge#5"]
    assert next(e.payload.strategy for e in heard if e.type.endswith("merge_end")) == "llm"
    assert [call.content for call in result.recording.calls] == [result.output]


@pytest.mark.parametrize(
    ("branches", "options", "words"),
    [
        ({"a": up}, {"merge": joined}, "use a Sequence"),
        ({"a": up, "b": ex}, {}, "was given none"),
        ({"a": up, "b": ex}, {"merge": joined, "merge_outcomes": told}, "was given two"),
        ({"a": up, "b": ex}, {"merge": "x"}, "merge is a str"),
        ({"a": up, "sf-b": ex}, {"merge": joined}, "begins with 'sf-'"),
        ({"a": up, "b/c": ex}, {"merge": joined}, "separates the parts"),
        ({"a": up, "merge": ex}, {"merge": joined}, "its own step"),
        ({"a": up, "b": print}, {"merge": joined}, "Decorate the function with @runner"),
        ([up, ex], {"merge": joined}, "are a list"),
        ({"a": up, "b": ex}, {"merge": joined, "max_concurrency": 0}, "max_concurrency is 0"),
    ],
)
def test_what_can_not_run_is_refused_when_it_is_made(branches: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Parallel(branches, **options)

    assert words in str(caught.value)


def test_an_empty_prompt_of_a_merging_model_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"The prompt of MergeLLM is empty"):
        MergeLLM(Mock("x"), prompt=" ")


async def test_models_are_asked_side_by_side() -> None:
    both = Parallel({"a": LLMCall(Mock("A", delay=0.01)), "b": LLMCall(Mock("B", delay=0.01))}, merge=joined)
    heard = heard_by(both)

    assert (await both.run("hi")).output == "a=A|b=B"
    stream = [event.type.rpartition(".")[2] for event in heard if event.type.rpartition(".")[2].startswith("llm_")]
    assert stream == ["llm_start", "llm_start", "llm_end", "llm_end"]
