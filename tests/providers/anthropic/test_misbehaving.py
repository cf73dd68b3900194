"""Tests of agentfootprint.providers.anthropic against a vendor that misbehaves at random, by seed."""

from __future__ import annotations

import dataclasses
import json
import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from agentfootprint import Agent, tool
from agentfootprint.llm import (
    CacheMarker,
    LLMMessage,
    LLMRequest,
    LLMResponse,
    ProviderError,
    ThinkingBlock,
    ToolCall,
    whole_text,
)
from agentfootprint.providers import AnthropicProvider
from agentfootprint.testing import AnthropicWire, Failure, FakeVendor, Received, Reply
from agentfootprint.trace import thaw
from tests.providers.anthropic.desks import LOOK_UP, REFUND, model_at
from tests.providers.chances import KEY, arguments, call, manner, outcome_of, words

KINDS = ("overloaded_error", "rate_limit_error", "api_error", "of_tomorrow")
FEW = 200
MANY = 2_000


def said(chance: random.Random, most: int = 12) -> str:
    """What stands in a history: text with something to it."""
    return whole_text(words(chance, most)) + "x"


def answer(chance: random.Random) -> Reply | Failure:
    if chance.random() < 0.15:
        status = chance.choice([400, 401, 403, 404, 413, 429, 500, 502, 503, 529])
        headers = chance.choice([{}, {"retry-after": "3"}, {"retry-after": "nonsense"}, {"retry-after-ms": "x"}])
        body = chance.choice([None, None, b"<html>", b"", b"\xff\xfe", b"[]", b'{"error": null}', b"null"])
        return Failure(status, headers=headers, body=body, message=f"not with {KEY}", drop=chance.random() < 0.1)
    pieces = [words(chance, 10) for _ in range(chance.randint(0, 4))]
    calls = [call(chance) for _ in range(chance.choice([0, 0, 1, 1, 2, 4]))]
    return Reply(
        pieces,
        calls=calls,
        thinking=chance.choice(["", "hm \ud83d", "so"]),
        signature="sig==",
        redacted=chance.choice(["", "cmVk"]),
        stop=chance.choice([None, None, None, None, "max_tokens", "refusal", "tool_use", "end_turn", ""]),
        usage=chance.choice([None, None, {}, {"input_tokens": "many"}, {"output_tokens": 3}]),
        interleave=chance.random() < 0.3,
        extra={"unknown": chance.random() < 0.2, "unstopped": chance.random() < 0.1},
        manner=manner(chance, KINDS),
    )


def history(chance: random.Random) -> list[LLMMessage]:
    """A conversation as the loop may hold it: every call answered, ids that repeat, turns that say nothing."""
    messages = [LLMMessage("user", said(chance))]
    for _ in range(chance.randint(0, 4)):
        match chance.choice(["calls", "calls", "text", "nothing", "system"]):
            case "calls":
                ids = [
                    chance.choice(["a", "b", "same", "functions.look_up:0", "", "toolu_1"])
                    for _ in range(chance.randint(1, 3))
                ]
                blocks = [ThinkingBlock("thinking", said(chance), signature="s")] if chance.random() < 0.3 else []
                calls = [ToolCall(one, "look_up", arguments(chance)) for one in ids]
                messages.append(
                    LLMMessage(
                        "assistant", chance.choice(["", " ", said(chance)]), tool_calls=calls, thinking_blocks=blocks
                    )
                )
                messages += [LLMMessage("tool", chance.choice(["", said(chance)]), tool_call_id=one) for one in ids]
            case "text":
                messages += [LLMMessage("assistant", said(chance)), LLMMessage("user", said(chance))]
            case "nothing":
                messages += [LLMMessage("assistant", chance.choice(["", " "])), LLMMessage("user", said(chance))]
            case _:
                messages.append(LLMMessage("system", said(chance)))
    return messages


def question(chance: random.Random) -> LLMRequest:
    messages = history(chance)
    thought = all(message.thinking_blocks for message in messages if message.tool_calls)
    thinking = chance.choice([None, 2_000]) if thought else None
    fields: Sequence[Any] = ("system", "tools", "messages")
    markers = [
        CacheMarker(chance.choice(fields), chance.randint(0, 12), chance.choice(["short", "long"]))
        for _ in range(chance.randint(0, 4))
    ]
    return LLMRequest(
        model=chance.choice(["anthropic", "claude-x"]),
        messages=messages,
        system_prompt=chance.choice([None, "", "Be short."]),
        tools=[LOOK_UP, REFUND],
        temperature=None if thinking else chance.choice([None, 0.0, 1.0]),
        max_tokens=chance.choice([None, 100]),
        stop=chance.choice([None, (), ("END",)]),
        cache_markers=markers,
        thinking=thinking,
        tool_choice=None if thinking else chance.choice([None, "refund"]),
    )


async def asked(model: AnthropicProvider, request: LLMRequest, *, streamed: bool) -> LLMResponse:
    if not streamed:
        return await model.complete(request)
    chunks = [chunk async for chunk in model.stream(request)]
    last = chunks[-1].response
    assert last is not None
    assert [chunk.done for chunk in chunks] == [*[False] * (len(chunks) - 1), True]
    assert "".join(chunk.content for chunk in chunks) == last.content
    return last


def judge(reply: Reply, response: LLMResponse) -> None:
    """An answer that was given must be the whole one, and its arguments those that were sent, or none at all."""
    assert response.content == whole_text(reply.whole_text)
    lost = reply.stop == "max_tokens" and reply.extra["unstopped"]  # never closed in a reply that was cut (DEC-8)
    assert len(response.tool_calls) in (len(reply.calls), len(reply.calls) - lost)
    assert response.stop_reason == {None: response.stop_reason, "end_turn": "stop"}.get(reply.stop, reply.stop)
    for sent, got in zip(reply.calls, response.tool_calls, strict=False):
        assert got.name == sent.name
        if got.args_error is None:
            intended = json.loads(sent.args or "{}") if isinstance(sent.args, str) else sent.args
            assert thaw(got.args) == intended
        else:
            assert dict(got.args) == {}


async def outcome(model: AnthropicProvider, request: LLMRequest, *, streamed: bool) -> LLMResponse | Exception:
    try:
        return await asked(model, request, streamed=streamed)
    except Exception as error:  # noqa: BLE001  whatever it is, it is judged
        return error


def is_cut(reply: Reply, request: Received) -> bool:
    """Whether a stream ends before its end signal is there."""
    way = reply.manner
    frames = AnthropicWire().frames(reply, request)
    if way.failure_frames is not None:
        return way.failure_frames < len(frames)
    sent = len(frames) * (2 if way.noise else 1)
    if way.stall_frames is not None:
        return way.stall_frames < sent
    if way.cut_frames is not None:
        return way.cut_frames < sent
    return way.cut_bytes is not None and (way.cut_bytes < 0 or way.cut_bytes < sum(map(len, frames)))


async def misbehave(seeds: range) -> dict[str, int]:
    """Ask once a seed; gives how often what came of it."""
    tally: dict[str, int] = {}
    plan: Reply | Failure = Reply()
    async with FakeVendor(AnthropicWire(key=KEY), lambda _: plan) as vendor, model_at(vendor, timeout=1) as model:
        for seed in seeds:
            chance = random.Random(seed)
            request, plan, streamed = question(chance), answer(chance), chance.random() < 0.7
            got = await outcome(model, request, streamed=streamed)
            where = f"seed {seed}: {plan!r} became {got!r}"
            if isinstance(got, Exception):
                assert isinstance(got, ProviderError), where
                assert type(got) is not ProviderError, where
                assert KEY not in str(got), where
            else:
                assert isinstance(plan, Reply), where
                assert not (streamed and is_cut(plan, vendor.requests[-1])), where
                judge(plan, got)
            name = "answer" if isinstance(got, LLMResponse) else type(got).__name__
            tally[name] = tally.get(name, 0) + 1
            assert vendor.refused == [], where
    return tally


async def test_no_misbehaviour_makes_an_answer_of_what_is_none() -> None:
    tally = await misbehave(range(FEW))

    assert sum(tally.values()) == FEW
    assert tally["answer"] > FEW / 4
    assert {"StreamTruncatedError", "ProviderConnectionError", "ProviderStreamError"} <= set(tally)


@pytest.mark.slow
async def test_no_misbehaviour_makes_an_answer_of_what_is_none_however_often_one_tries() -> None:
    tally = await misbehave(range(FEW, FEW + MANY))

    assert sum(tally.values()) == MANY


async def test_no_misbehaviour_makes_a_tool_run_on_arguments_that_were_not_sent() -> None:
    ran: list[Any] = []

    @tool(name="refund")
    def refund(k0: object = "none", k1: object = "none", k2: object = "none") -> str:
        """Refund one order. Use it when asked."""
        ran.append({key: given for key, given in (("k0", k0), ("k1", k1), ("k2", k2)) if given != "none"})
        return "done"

    finished = 0
    for seed in range(40):
        chance = random.Random(f"tool {seed}")
        calls = [dataclasses.replace(call(chance), name="refund") for _ in range(chance.randint(1, 3))]
        intended = [c.args if not isinstance(c.args, str) else json.loads(c.args) for c in calls if is_object(c.args)]
        first = Reply("", calls=calls, interleave=chance.random() < 0.5, manner=manner(chance, KINDS))
        ran.clear()
        async with (
            FakeVendor(AnthropicWire(), [first, Reply("Done.")]) as vendor,
            model_at(vendor, timeout=1) as model,
        ):
            ended = await outcome_of(Agent(model, tools=[refund]).run("Refund it."))
            if isinstance(ended, ProviderError):
                intended = []
            else:
                finished += 1
                assert ended == "Done."
        assert sorted(map(repr, ran)) == sorted(map(repr, intended)), f"seed {seed}"
        assert vendor.refused == [], f"seed {seed}"

    assert finished > 10


def is_object(args: Mapping[str, Any] | str) -> bool:
    if not isinstance(args, str):
        return True
    try:
        return isinstance(json.loads(args), dict)
    except ValueError:
        return not args.strip()
