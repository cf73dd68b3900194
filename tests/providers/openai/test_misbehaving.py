"""Tests of agentfootprint.providers.openai against a vendor that misbehaves at random, by seed."""

from __future__ import annotations

import pytest

from agentfootprint.llm import LLMResponse
from agentfootprint.testing import OpenAIWire, Reply
from tests.providers.chances import KEY, judge, misbehave, refund_at_random
from tests.providers.openai.desks import compatible_at, model_at

FEW = 200
MANY = 2_000
STOPS = (None, None, None, None, "length", "content_filter", "tool_calls", "stop", "")
EXTRAS = ("one_index", "no_index", "whole_calls", "object_args", "no_end", "no_finish")
NAMES = {"length": "max_tokens", "tool_calls": "tool_use"}


def check(reply: Reply, response: LLMResponse) -> None:
    judge(reply, response)
    said = reply.stop if reply.stop is not None else "tool_calls" if reply.calls else "stop"
    wanted = "tool_use" if reply.calls and said in ("stop", "") else NAMES.get(said, said) or "stop"
    assert response.stop_reason == wanted


async def wrong(seeds: range) -> dict[str, int]:
    return await misbehave(
        seeds,
        OpenAIWire(key=KEY),
        lambda vendor: model_at(vendor, timeout=1),
        stops=STOPS,
        extras=EXTRAS,
        check=check,
    )


async def test_no_misbehaviour_makes_an_answer_of_what_is_none() -> None:
    tally = await wrong(range(FEW))

    assert sum(tally.values()) == FEW
    assert tally["answer"] > FEW / 4
    assert {"StreamTruncatedError", "ProviderConnectionError", "ProviderStreamError"} <= set(tally)


@pytest.mark.slow
async def test_no_misbehaviour_makes_an_answer_of_what_is_none_however_often_one_tries() -> None:
    tally = await wrong(range(FEW, FEW + MANY))

    assert sum(tally.values()) == MANY


async def test_no_misbehaviour_makes_a_tool_run_on_arguments_that_were_not_sent() -> None:
    finished = await refund_at_random(range(60), OpenAIWire(), lambda vendor: model_at(vendor, timeout=1), EXTRAS)

    assert finished > 10


async def test_a_compatible_server_is_asked_in_its_own_words_whatever_it_did_before() -> None:
    wire = OpenAIWire(is_compatible=True)

    finished = await refund_at_random(range(60), wire, lambda vendor: compatible_at(vendor, "m", timeout=1), EXTRAS)

    assert finished > 10
