"""The loop in LangGraph: a graph of a model node and a `ToolNode`, run with `ainvoke`.

* The graph is the one of LangGraph's own guides: `StateGraph(MessagesState)`, `tools_condition`, `ToolNode`. The
  prebuilt `create_react_agent` is deprecated and was measured to be slower.
* The model is LangChain's `GenericFakeChatModel`. It has no async side of its own and would be sent to a thread in
  every iteration; the subclass answers in place, as an async client would.
* With a checkpointer: `InMemorySaver`, the one that `langgraph-checkpoint` ships, with the default durability. What it
  holds after the run is what was recorded. It writes the whole message list at every step.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any

from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from benchmarks.peers.script import ANSWER, QUESTION, SYSTEM, TOOL, Script


class ScriptedChatModel(GenericFakeChatModel):
    """A fake chat model that takes tools and answers without leaving the event loop."""

    def bind_tools(self, tools: Sequence[Any], **kwargs: object) -> Runnable[Any, AIMessage]:
        return self.bind(tools=[convert_to_openai_tool(each) for each in tools], **kwargs)

    async def _agenerate(self, messages: list[BaseMessage], *_: object, **__: object) -> ChatResult:  # noqa: ARG002
        return ChatResult(generations=[ChatGeneration(message=next(self.messages))])


@tool
async def lookup(order_id: str) -> str:
    """Look up one order by its number."""
    return f"Order {order_id}: shipped."


def _messages(script: Script) -> Iterator[AIMessage]:
    for number in range(script.iterations):
        order = script.next_order()
        if order is None:
            yield AIMessage(ANSWER)
        else:
            yield AIMessage("", tool_calls=[{"name": TOOL, "args": {"order_id": order}, "id": f"call-{number}"}])


def _prepare(iterations: int, saver: InMemorySaver | None) -> Callable[[], Awaitable[object]]:
    model = ScriptedChatModel(messages=_messages(Script(iterations))).bind_tools([lookup])

    async def agent(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke([SystemMessage(SYSTEM), *state["messages"]])]}

    builder = StateGraph(MessagesState)
    builder.add_node("agent", agent)
    builder.add_node("tools", ToolNode([lookup]))
    builder.add_edge(START, "agent")
    builder.add_conditional_edges("agent", tools_condition)
    builder.add_edge("tools", "agent")
    graph = builder.compile(checkpointer=saver)
    # Two steps an iteration; the default limit would stop a long run.
    config: Any = {"recursion_limit": 2 * iterations + 10, "configurable": {"thread_id": "run"}}

    async def run() -> object:
        state = await graph.ainvoke({"messages": [HumanMessage(QUESTION)]}, config)
        if state["messages"][-1].content != ANSWER or len(state["messages"]) != 2 * iterations:
            raise AssertionError(state["messages"][-1])
        return saver or state

    return run


def prepare(iterations: int) -> Callable[[], Awaitable[object]]:
    """A run that keeps nothing but its state."""
    return _prepare(iterations, None)


def prepare_saved(iterations: int) -> Callable[[], Awaitable[object]]:
    """A run that saves a checkpoint at every step."""
    return _prepare(iterations, InMemorySaver())


def saved_bytes(saver: InMemorySaver) -> int:
    """What the checkpointer holds: checkpoints with their metadata, channel values, pending writes."""
    checkpoints = sum(
        len(checkpoint[1]) + len(metadata[1])
        for spaces in saver.storage.values()
        for saved in spaces.values()
        for checkpoint, metadata, _ in saved.values()
    )
    values = sum(len(value[1]) for value in saver.blobs.values())
    writes = sum(len(write[2][1]) for written in saver.writes.values() for write in written.values())
    return checkpoints + values + writes
