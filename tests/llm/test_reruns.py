"""Tests of agentfootprint.llm.reruns."""

from __future__ import annotations

import asyncio
import random

from agentfootprint.llm import LLMRequest, LLMResponse, Mock, provider_for_run, rerun_seed

ASKED = LLMRequest(model="m", messages=())


def rolled(_request: LLMRequest, chance: random.Random) -> str:
    return str(chance.random())


async def test_outside_a_rerun_a_run_asks_the_provider_itself() -> None:
    model = Mock("x")

    assert provider_for_run(model) is model


async def test_a_rerun_asks_a_provider_of_its_own_from_the_beginning() -> None:
    model = Mock(["one", "two"])
    await model.complete(ASKED)

    with rerun_seed(3):
        own = provider_for_run(model)

    assert (await own.complete(ASKED)).content == "one"
    assert (await model.complete(ASKED)).content == "two"


async def test_equal_seeds_give_equal_chance_also_side_by_side() -> None:
    model = Mock(rolled)

    async def run(seed: int) -> str:
        with rerun_seed(seed):
            await asyncio.sleep(0)
            return (await provider_for_run(model).complete(ASKED)).content

    one, same, other = await asyncio.gather(run(1), run(1), run(2))

    assert one == same
    assert one != other


async def test_a_provider_without_a_seed_is_asked_as_it_is() -> None:
    class Plain:
        name = "plain"

        async def complete(self, request: LLMRequest, hooks: object = None) -> LLMResponse:
            return LLMResponse("x")

    plain = Plain()

    with rerun_seed(1):
        assert provider_for_run(plain) is plain
