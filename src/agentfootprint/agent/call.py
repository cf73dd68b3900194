"""The stage that asks the model: the request from the committed state, the reply into it (02 s.8)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from time import perf_counter_ns
from typing import Any, Final

from agentfootprint.agent.scope import RunScope
from agentfootprint.agent.shaping.forcing import RESPOND_WITH_SCHEMA
from agentfootprint.context import rows_text
from agentfootprint.events import (
    IterationStart,
    LLMEnd,
    LLMStart,
    OfferedTool,
    RecordedThinking,
    ThinkingDelta,
    ThinkingEnd,
    ThinkingParseFailed,
    Token,
    TokenCounts,
)
from agentfootprint.flow import Handle
from agentfootprint.llm import (
    LLMRequest,
    LLMResponse,
    ProviderContractError,
    StreamTruncatedError,
    Usage,
    whole_text,
)
from agentfootprint.trace import FrozenList, freeze, utf16_length

__all__ = ["call_llm", "exchange", "normalise_thinking", "token_counts"]

_NOTHING: Final = FrozenList([], 0)
_UNREPORTED: Final = TokenCounts(input=0, output=0, usage_reported=False)


def call_llm(h: Handle) -> Awaitable[None]:
    """Assemble the request, ask, and commit what came back (02 s.8.1)."""
    scope: RunScope = h.home.run.scope
    rows = h["systemPromptInjections"]
    iteration: int = h["iteration"]
    history: FrozenList = h["history"]
    tools: FrozenList = h["dynamicToolSchemas"]
    h["cacheMarkers"]
    h["cachingDisabled"]
    total_in: int = h["totalInputTokens"]
    total_out: int = h["totalOutputTokens"]
    if scope.wrap_up_asked:
        h["wrapUpAsked"]
        tools = _NOTHING
    if scope.plan.forced is not None:
        tools = scope.plan.forced.schemas  # an agent that has it has no other tool (AGT-3)
    now = scope.pass_
    system: str | None = now.system_text if now is not None and now.system_rows is rows else rows_text(rows)
    scope.emit(h, IterationStart(turn_index=0, iter_index=iteration))
    return exchange(h, scope, iteration, (total_in, total_out), system=system, history=history, tools=tools)


async def exchange(
    h: Handle,
    scope: RunScope,
    iteration: int,
    totals: tuple[int, int],
    *,
    system: str | None,
    history: FrozenList,
    tools: FrozenList,
) -> None:
    """Send one request, and commit what came back.

    Args:
        h: The open step.
        scope: The run's.
        iteration: The iteration, from 1.
        totals: Tokens of input and output that the run has used so far.
        system: The system prompt.
        history: The messages.
        tools: What the model may ask for.

    Raises:
        BrokenPairError: A tool message answers no call (DEC-10).
    """
    unanswered = scope.pairs.check(history)
    if unanswered:
        from agentfootprint.agent.keeping.settling import answered_history  # where a call has no result

        history = answered_history(history, unanswered)
    forced = scope.plan.forced
    scope.emit(h, _start(scope, iteration, system, len(history), tools))
    request = scope.request(system, history, tools, None if forced is None else RESPOND_WITH_SCHEMA)
    started = perf_counter_ns()
    response = await _ask(scope, h, request, iteration)
    if scope.tool_run.cancelled:  # the provider took no notice of being stopped
        raise asyncio.CancelledError
    if forced is not None:
        response = forced.answer_in(response)
    elapsed_ms = (perf_counter_ns() - started) // 1_000_000
    scope.took(request, response)
    usage = response.usage
    total_in, total_out = totals
    h["totalInputTokens"] = total_in + (usage.input or 0 if usage is not None else 0)
    h["totalOutputTokens"] = total_out + (usage.output or 0 if usage is not None else 0)
    h["llmLatestContent"] = response.content
    h["llmLatestToolCalls"] = freeze(response.tool_calls) if response.tool_calls else _NOTHING
    scope.emit(
        h,
        LLMEnd(
            iteration=iteration,
            content=response.content,
            tool_call_count=len(response.tool_calls),
            usage=token_counts(usage),
            stop_reason=response.stop_reason,
            duration_ms=elapsed_ms,
            provider_response_ref=response.provider_ref,
        ),
    )
    if scope.purse is not None:
        from agentfootprint.agent.spending.charging import pay  # loaded with the prices

        pay(h, scope, scope.purse, usage, iteration)


def token_counts(usage: Usage | None) -> TokenCounts:
    """What a call used, as its event tells it."""
    if usage is None or not usage.known:
        return _UNREPORTED
    return TokenCounts(
        input=usage.input or 0,
        output=usage.output or 0,
        cache_read=usage.cache_read,
        cache_write=usage.cache_write,
        thinking=usage.thinking,
        input_includes_cache=usage.input_includes_cache or None,
        output_includes_thinking=usage.output_includes_thinking or None,
    )


def _start(scope: RunScope, iteration: int, system: str | None, messages: int, tools: FrozenList) -> LLMStart:
    plan = scope.plan
    return LLMStart(
        iteration=iteration,
        provider=plan.provider.name,
        model=scope.model,
        system_prompt_chars=utf16_length(system) if system else 0,
        system_prompt_text=system if scope.record.system_prompt else None,
        messages_count=messages,
        tools_count=len(tools),
        tools=_shown(scope, tools) if len(tools) else None,
        temperature=scope.settings.temperature,
    )


def _shown(scope: RunScope, tools: FrozenList) -> tuple[OfferedTool, ...]:
    """What is told of the tools of a request."""
    if scope.plan.forced is not None:
        return scope.plan.forced.shown
    if tools is scope.offer.schemas:
        return scope.offer.shown
    return tuple(OfferedTool(name=tool.name, description=tool.description or None) for tool in tools)


async def _ask(scope: RunScope, h: Handle, request: LLMRequest, iteration: int) -> LLMResponse:
    provider, streaming = scope.provider, scope.streaming
    if streaming is None:
        return await provider.complete(request, scope.hooks)
    response: LLMResponse | None = None
    ended = False
    texts: list[str] = []
    thoughts = 0
    chunks = streaming.stream(request, scope.hooks)
    try:
        async for chunk in chunks:
            if chunk.done:
                ended, response = True, chunk.response
                break
            text: Any = chunk.content
            thought: Any = chunk.thinking_delta
            if type(text) is not str or (thought is not None and type(thought) is not str):
                found = thought if type(text) is str else text
                raise ProviderContractError(
                    f"A chunk of the stream holds a {type(found).__name__} where its text belongs.",
                    provider=provider.name,
                    fix="Every chunk but the last carries text; the last one (done=True) carries the whole response.",
                )
            if text:
                text = whole_text(text)
                scope.emit(h, Token(iteration=iteration, token_index=len(texts), content=text))
                texts.append(text)
            if thought:
                scope.emit(h, ThinkingDelta(iteration=iteration, token_index=thoughts, content=whole_text(thought)))
                thoughts += 1
    finally:  # what the provider holds open is let go now, not when the generator is collected
        if isinstance(chunks, AsyncGenerator):
            await chunks.aclose()
    if response is not None:
        return response
    if not ended:
        raise StreamTruncatedError(provider.name, text="".join(texts))
    return await provider.complete(request, scope.hooks)


def normalise_thinking(h: Handle) -> None:
    """Keep the thinking blocks of the reply, in the handler's one form (02 s.8.6)."""
    iteration: int = h["iteration"]
    scope: RunScope = h.home.run.scope
    handler = scope.plan.thinking
    response = scope.response
    if handler is None or response is None or response.raw_thinking is None:
        h["thinkingBlocks"] = _NOTHING
        return
    try:
        blocks = freeze(list(handler.normalize(response.raw_thinking)))
    except Exception as error:  # noqa: BLE001  the handler's code; a run does not end because thinking can't be read (AGT-46)
        h["thinkingBlocks"] = _NOTHING
        scope.emit(
            h,
            ThinkingParseFailed(
                provider_name=scope.plan.provider.name,
                subflow_id="sf-thinking",
                error=str(error),
                error_name=type(error).__name__,
                iteration=iteration,
            ),
        )
        return
    h["thinkingBlocks"] = blocks
    if len(blocks):
        scope.emit(
            h,
            ThinkingEnd(
                iteration=iteration,
                block_count=len(blocks),
                total_chars=sum(utf16_length(block.content) for block in blocks),
                blocks=tuple(
                    RecordedThinking(
                        type=block.type,
                        content=block.content,
                        signature=block.signature,
                        summary=block.summary or None,
                    )
                    for block in blocks
                ),
            ),
        )
