"""Tests of agentfootprint.providers.ollama against a daemon that misbehaves at random, by seed."""

from __future__ import annotations

import pytest

from agentfootprint.providers import HttpOptions, OllamaProvider
from agentfootprint.testing import FakeVendor, OllamaWire
from tests.providers.chances import KEY, misbehave, refund_at_random

FEW = 200
MANY = 2_000


def model_at(vendor: FakeVendor) -> OllamaProvider:
    http = HttpOptions(base_url=vendor.base_url, timeout=1, headers={"x-proxy-key": KEY})
    return OllamaProvider("m", http=http)


async def wrong(seeds: range) -> dict[str, int]:
    return await misbehave(seeds, OllamaWire(), model_at, stops=(None, None, None, "length", "load"))


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
    finished = await refund_at_random(range(60), OllamaWire(), model_at)

    assert finished > 10
