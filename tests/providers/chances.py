"""What a vendor says and how it misbehaves, at random but by seed; what may come of it."""

from __future__ import annotations

import dataclasses
import json
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

from agentfootprint import Agent, RunCheckpointError, RunResult, tool
from agentfootprint.llm import (
    LLMChunk,
    LLMMessage,
    LLMRequest,
    LLMResponse,
    ProviderError,
    ToolCall,
    ToolSchema,
    whole_text,
)
from agentfootprint.providers import OllamaProvider, OpenAIProvider
from agentfootprint.testing import Call, Failure, FakeVendor, Manner, Received, Reply, Wire
from agentfootprint.trace import thaw

KEY = "sk-marker-0123456789"
LOOK_UP = ToolSchema("look_up", "Look one order up.", {"type": "object", "properties": {"id": {"type": "string"}}})
REFUND = ToolSchema("refund", "Refund one order.", {"type": "object"})
KINDS = ("server_error", "rate_limit_exceeded", "overloaded_error", "of_tomorrow")
LETTERS = 'abc \n\r\téß€😀\u2028"\\{}[]:,\ud83d\udf0d\u0000'


Model: TypeAlias = OpenAIProvider | OllamaProvider
ModelAt: TypeAlias = Callable[[FakeVendor], Model]


def ask(
    messages: str | Sequence[LLMMessage] = "hi", tools: Sequence[ToolSchema] = (LOOK_UP, REFUND), **given: Any
) -> LLMRequest:
    said = [LLMMessage("user", messages)] if isinstance(messages, str) else messages
    fields: dict[str, Any] = {"model": "m", "messages": said, "tools": tools, **given}
    return LLMRequest(**fields)


async def both(model: Model, request: LLMRequest) -> tuple[LLMResponse, LLMResponse, list[LLMChunk]]:
    """The answer as a whole, the streamed one, and its chunks."""
    whole = await model.complete(request)
    chunks = [chunk async for chunk in model.stream(request)]
    streamed = chunks[-1].response
    assert streamed is not None
    return whole, streamed, chunks


def words(chance: random.Random, most: int = 30) -> str:
    return "".join(chance.choices(LETTERS, k=chance.randint(0, most)))


def value(chance: random.Random, depth: int = 2) -> Any:
    match chance.choice(["text", "number", "nothing", "yes", *(["list", "object"] if depth else [])]):
        case "text":
            return whole_text(words(chance, 8))
        case "number":
            return chance.choice([0, -1, 2**53, 1.5])
        case "nothing":
            return None
        case "yes":
            return chance.random() < 0.5
        case "list":
            return [value(chance, depth - 1) for _ in range(chance.randint(0, 3))]
        case _:
            return arguments(chance, depth - 1)


def arguments(chance: random.Random, depth: int = 2) -> dict[str, Any]:
    return {f"k{index}": value(chance, depth) for index in range(chance.randint(0, 3))}


def call(chance: random.Random) -> Call:
    args: Mapping[str, Any] | str = arguments(chance)
    if chance.random() < 0.2:
        whole = json.dumps(args)
        args = chance.choice([whole[: chance.randint(1, len(whole)) - 1], "[1, 2]", "nonsense", '"{}"', "{}{}"])
    name, identity = chance.choice(["look_up", "refund"]), chance.choice([None, None, "", "same"])
    return Call(name, args, id=identity, pieces=chance.randint(1, 9))


def manner(chance: random.Random, kinds: Sequence[str] = KINDS) -> Manner:
    way = Manner(
        piece=chance.choice([None, None, None, 1, 3, 50]), crlf=chance.random() < 0.2, noise=chance.random() < 0.2
    )
    ending: Any = chance.choice(["clean", "dropped", "reset"])
    match chance.choice(["well", "well", "frames", "bytes", "failure", "form", "silence"]):
        case "frames":
            return dataclasses.replace(way, cut_frames=chance.randint(0, 20), ending=ending)
        case "bytes":
            return dataclasses.replace(way, cut_bytes=chance.randint(-200, 900), ending=ending)
        case "failure":
            kind = chance.choice(kinds)
            failure = Failure(kind=kind, message=f"it was {KEY}")
            return dataclasses.replace(way, failure_frames=chance.randint(0, 12), failure=failure)
        case "form":
            return dataclasses.replace(way, other_form=True)
        case "silence" if chance.random() < 0.1:
            return dataclasses.replace(way, stall_frames=chance.randint(0, 6))
        case _:
            return way


def answer(chance: random.Random, stops: Sequence[str | None], extras: Sequence[str]) -> Reply | Failure:
    if chance.random() < 0.15:
        status = chance.choice([400, 401, 403, 404, 413, 422, 429, 500, 502, 503, 529])
        headers = chance.choice([{}, {"retry-after": "3"}, {"retry-after": "nonsense"}, {"retry-after-ms": "x"}])
        body = chance.choice([None, None, b"<html>", b"", b"\xff\xfe", b"[]", b'{"error": null}', b"null"])
        return Failure(status, headers=headers, body=body, message=f"not with {KEY}", drop=chance.random() < 0.1)
    return Reply(
        [words(chance, 10) for _ in range(chance.randint(0, 4))],
        calls=[call(chance) for _ in range(chance.choice([0, 0, 1, 1, 2, 4]))],
        thinking=chance.choice(["", "hm \ud83d", "so"]),
        stop=chance.choice(stops),
        usage=chance.choice([None, None, {}, {"prompt_tokens": "many"}, {"completion_tokens": 3}]),
        interleave=chance.random() < 0.3,
        extra={extra: chance.random() < 0.15 for extra in extras},
        manner=manner(chance),
    )


def history(chance: random.Random) -> list[LLMMessage]:
    """A conversation as the loop may hold it: every call answered, ids that come again, turns that say nothing."""
    messages = [LLMMessage("user", whole_text(words(chance)))]
    for turn in range(chance.randint(0, 4)):
        match chance.choice(["calls", "calls", "text", "nothing", "system"]):
            case "calls":
                ids = chance.sample(["a", "b", "same", "functions.look_up:0", f"call_{turn}"], chance.randint(1, 3))
                calls = [ToolCall(one, "look_up", arguments(chance)) for one in ids]
                messages.append(LLMMessage("assistant", chance.choice(["", " ", "so"]), tool_calls=calls))
                messages += [LLMMessage("tool", whole_text(words(chance)), tool_call_id=one) for one in ids]
            case "text":
                messages += [LLMMessage("assistant", whole_text(words(chance))), LLMMessage("user", "and?")]
            case "nothing":
                messages += [LLMMessage("assistant", ""), LLMMessage("user", "well?")]
            case _:
                messages.append(LLMMessage("system", whole_text(words(chance))))
    return messages


def question(chance: random.Random) -> LLMRequest:
    return ask(
        history(chance),
        chance.choice([(LOOK_UP, REFUND), ()]),
        system_prompt=chance.choice([None, "", "Be short."]),
        temperature=chance.choice([None, 0, 1.5]),
        max_tokens=chance.choice([None, 100]),
        stop=chance.choice([None, (), ("END",)]),
        thinking=chance.choice([None, 0, 2_000]),
        tool_choice=chance.choice([None, "refund"]),
    )


async def asked(model: Model, request: LLMRequest, *, streamed: bool) -> LLMResponse:
    if not streamed:
        return await model.complete(request)
    chunks = [chunk async for chunk in model.stream(request)]
    last = chunks[-1].response
    assert last is not None
    assert [chunk.done for chunk in chunks] == [*[False] * (len(chunks) - 1), True]
    assert [chunk.token_index for chunk in chunks] == list(range(len(chunks)))
    assert whole_text("".join(chunk.content for chunk in chunks)) == last.content
    return last


def judge(reply: Reply, response: LLMResponse) -> None:
    """An answer that was given must be the whole one, and its arguments those that were sent, or none at all."""
    assert response.content == whole_text(reply.whole_text + reply.refusal)
    ids = [one.id for one in response.tool_calls]
    assert len(set(ids)) == len(ids)
    assert all(ids)
    judge_calls(reply, response.tool_calls)


def judge_calls(reply: Reply, calls: Sequence[ToolCall]) -> None:
    """Where each call has a place of its own, each comes back; where they share one, none is mixed with another."""
    shared = reply.extra.get("one_index") or reply.extra.get("no_index")
    wanted = [(sent.name, intended(sent.args)) for sent in reply.calls]
    if not shared:
        assert len(calls) == len(wanted)
        for (name, args), got in zip(wanted, calls, strict=True):
            assert got.name == name
            assert thaw(got.args) == (args if got.args_error is None else {})
            assert (args is None) is (got.args_error is not None)
    for got in calls:
        assert got.args_error is not None or (got.name, thaw(got.args)) in wanted


def intended(args: Mapping[str, Any] | str) -> dict[str, Any] | None:
    """The arguments that a vendor meant, or `None` where they are no object."""
    if not isinstance(args, str):
        return dict(args)
    try:
        parsed: object = json.loads(args) if args.strip() else {}
    except ValueError:
        return None
    return cast("dict[str, Any]", parsed) if isinstance(parsed, dict) else None


async def misbehave(
    seeds: range,
    wire: Wire,
    model_at: ModelAt,
    *,
    stops: Sequence[str | None] = (None,),
    extras: Sequence[str] = (),
    check: Callable[[Reply, LLMResponse], None] = judge,
) -> dict[str, int]:
    """Ask once a seed; gives how often what came of it."""
    tally: dict[str, int] = {}
    plans: dict[str, Reply | Failure] = {}

    def script(_: Received) -> Reply | Failure:
        return plans["now"]

    async with FakeVendor(wire, script) as vendor, model_at(vendor) as model:
        for seed in seeds:
            chance = random.Random(seed)
            request, plan = question(chance), answer(chance, stops, extras)
            plans["now"] = plan
            try:
                response = await asked(model, request, streamed=chance.random() < 0.7)
            except ProviderError as error:
                name, told = type(error).__name__, str(error)
            except Exception as error:
                raise AssertionError(f"seed {seed}: an untyped {error!r}") from error
            else:
                name, told = "answer", ""
                assert isinstance(plan, Reply), f"seed {seed}"
                try:
                    check(plan, response)
                except AssertionError as wrong:
                    raise AssertionError(f"seed {seed}: {plan!r} was taken for {response!r}") from wrong
            assert name != "ProviderError", f"seed {seed}: {told}"
            assert KEY not in told, f"seed {seed}"
            tally[name] = tally.get(name, 0) + 1
            assert vendor.refused == [], f"seed {seed}: {vendor.refused}"
    return tally


async def outcome_of(run: Awaitable[RunResult[Any]]) -> str | BaseException:
    """The answer of a run, or what made it fail."""
    try:
        return (await run).text
    except RunCheckpointError as failed:
        return failed.cause


async def refund_at_random(seeds: range, wire: Wire, model_at: ModelAt, extras: Sequence[str] = ()) -> int:
    """Run an agent a seed, on calls that may be malformed and answers that may break; gives how many runs ended."""
    ran: list[Any] = []

    @tool(name="refund")
    def refund(k0: object = "none", k1: object = "none", k2: object = "none") -> str:
        """Refund one order. Use it when asked."""
        ran.append({key: given for key, given in (("k0", k0), ("k1", k1), ("k2", k2)) if given != "none"})
        return "done"

    finished = 0
    for seed in seeds:
        chance = random.Random(f"tool {seed}")
        calls = [dataclasses.replace(call(chance), name="refund") for _ in range(chance.randint(1, 3))]
        meant = [args for args in (intended(one.args) for one in calls) if args is not None]
        extra = {one: chance.random() < 0.2 for one in extras}
        first = Reply("", calls=calls, interleave=chance.random() < 0.5, manner=manner(chance), extra=extra)
        ran.clear()
        async with FakeVendor(wire, [first, Reply("Done.")]) as vendor:
            async with model_at(vendor) as model:
                ended = await outcome_of(Agent(model, tools=[refund]).run("Refund it."))
                if isinstance(ended, ProviderError):
                    assert ran == [], f"seed {seed}"
                else:
                    finished += 1
                    assert ended == "Done."
                    left = Counter(map(repr, meant))
                    left.subtract(map(repr, ran))
                    assert min(left.values(), default=0) >= 0, f"seed {seed}: ran on {ran!r}, meant were {meant!r}"
                    assert any(extra.values()) or not any(left.values()), f"seed {seed}"
            assert vendor.refused == [], f"seed {seed}"
    return finished
