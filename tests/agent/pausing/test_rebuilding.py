"""Tests of agentfootprint.agent.pausing.rebuilding."""

from __future__ import annotations

import pytest

from agentfootprint import LLMMessage, Mock, ToolCall
from agentfootprint.agent import CheckpointFormatError
from agentfootprint.agent.pausing.rebuilding import COMPOSED, rebuilt, system_text
from agentfootprint.events import ContextInjected
from agentfootprint.llm import ToolSchema
from agentfootprint.trace import FrozenDict, freeze, thaw
from tests.agent.pausing.desk import desk, question


async def state() -> FrozenDict:
    paused = question(await desk(Mock.call("ask", question="?"), "Done.").run("Go."))
    return paused.checkpoint.state


async def test_a_state_out_of_json_has_the_classes_of_the_one_that_went_in() -> None:
    given = await state()

    found = rebuilt(freeze(thaw(given)), composes=False)

    kinds = {
        "history": LLMMessage,
        "llmLatestToolCalls": ToolCall,
        "systemPromptInjections": ContextInjected,
        "toolsInjections": ContextInjected,
        "dynamicToolSchemas": ToolSchema,
    }
    for key, kind in kinds.items():
        assert {type(item) for item in found[key]} == {kind}, key
    assert thaw(found) == thaw(given)


async def test_what_every_pass_composes_is_left_to_the_first_pass() -> None:
    found = rebuilt(await state(), composes=True)

    assert not {*COMPOSED} & {*found}


async def test_a_state_that_never_left_the_process_is_shared() -> None:
    given = await state()

    assert rebuilt(given, composes=False)["history"] is given["history"]


async def test_the_system_prompt_is_read_from_either() -> None:
    given = await state()

    assert system_text(given) == system_text(freeze(thaw(given)))
    assert system_text(freeze({})) is None


@pytest.mark.parametrize(
    ("key", "value", "index"),
    [
        ("history", [{"role": "user", "content": "a"}, {"role": "user"}], 1),
        ("llmLatestToolCalls", [{"id": "c1", "name": "t", "args": "none"}], 0),
        ("thinkingBlocks", [{"type": "dream"}], 0),
        ("cacheMarkers", [{"field": 5}], 0),
    ],
)
async def test_an_item_that_cannot_be_read_is_named_by_its_place(key: str, value: object, index: int) -> None:
    broken = freeze({**thaw(await state()), key: value})

    with pytest.raises(CheckpointFormatError) as refused:
        rebuilt(broken, composes=False)

    assert (refused.value.field, refused.value.index) == (f"sharedState.{key}[{index}]", index)
