"""Tests of agentfootprint.agui.serving.starting: agents, compositions and single calls are served alike."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentfootprint import Agent, Mock
from agentfootprint.agent import LLMCall
from agentfootprint.agui import AgUi, AgUiOptions
from agentfootprint.compose import Sequence, Step
from agentfootprint.errors import ConfigError
from agentfootprint.hosting import SqliteSessions
from tests.agent.pausing.desk import RAN, desk
from tests.agui.serving.clients import ALICE, answered, asked, interrupt_id, shown, told

REFUND = Mock.call("refund", amount=480)


@pytest.fixture(autouse=True)
def fresh() -> None:
    RAN.clear()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "threads.db"


async def test_a_composition_is_served_as_an_agent_is() -> None:
    chain = Sequence(
        [Step("draft", Agent(Mock("A draft."), id="drafter")), Step("edit", Agent(Mock("Edited."), id="editor"))]
    )
    adapter = AgUi(chain)

    events = await told(adapter, asked())
    again = await told(adapter, asked())

    assert events[-1]["result"] == again[-1]["result"] == "Edited."
    assert [each["delta"] for each in events if each["type"] == "TEXT_MESSAGE_CONTENT"]


async def test_a_composition_that_asked_is_answered(file: Path) -> None:
    def chain() -> Sequence:
        editor = Agent(Mock("Edited."), id="editor")
        return Sequence([Step("desk", desk(REFUND, "Refunded.")), Step("edit", editor)])

    store = SqliteSessions(file)
    asks = await told(AgUi(chain(), sessions=store), asked("Refund."), ALICE)

    events = await told(AgUi(chain(), sessions=store), answered(interrupt_id(asks), {"approved": True}), ALICE)

    (result,) = [each for each in events if each["type"] == "TOOL_CALL_RESULT"]
    (call,) = [each for each in asks if each["type"] == "TOOL_CALL_START"]
    assert (result["toolCallId"], result["content"]) == (call["toolCallId"], "refunded 480")
    assert events[-1]["result"] == "Edited."
    assert RAN == ["refund 480"]
    await store.aclose()


async def test_a_single_model_call_is_served_too() -> None:
    adapter = AgUi(LLMCall(Mock(lambda _: "Yes.")), options=AgUiOptions(messages_snapshot="always"))
    await told(adapter, asked())

    events = await told(adapter, asked("Again.", run="r-2"))

    assert events[-1]["result"] == "Yes."
    assert [role for role, _ in shown(events)] == ["user", "assistant", "user", "assistant"]


def test_what_is_no_agent_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"A str is no agent"):
        AgUi("agent")  # pyright: ignore[reportArgumentType]  a caller without a checker
