"""How does a model make one answer of what the branches of a `Parallel` said (CMP-24)?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter_ns
from typing import TYPE_CHECKING

from agentfootprint.agent import provider_and_model, token_counts
from agentfootprint.errors import ConfigError
from agentfootprint.events import LLMEnd, LLMStart
from agentfootprint.llm import CallHooks, LLMMessage, LLMProvider, LLMRequest, provider_for_run

if TYPE_CHECKING:
    from agentfootprint.compose.scope import Scope
    from agentfootprint.flow import Handle

__all__ = ["MergeLLM", "ask_model", "merge_prompt"]

_NS_PER_MS = 1_000_000


@dataclass(frozen=True, slots=True)
class MergeLLM:
    """A merge of a `Parallel` that asks a model.

    Args:
        provider: Who is asked.
        model: The model's id; without one the provider's own.
        prompt: What it is asked; what the branches said follows, each in an element with the branch's id.
        temperature: As for `ModelSettings`.
        max_tokens: As for `ModelSettings`.
    """

    provider: LLMProvider
    model: str | None = None
    prompt: str = "Make one answer of these."
    temperature: float | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        """Refuse what can't be asked."""
        provider_and_model(self.provider, None)
        if not isinstance(self.prompt, str) or not self.prompt.strip():  # pyright: ignore[reportUnnecessaryIsInstance]  callers without a checker
            raise ConfigError("merge.prompt", "The prompt of MergeLLM is empty.", fix="Say what the model shall do.")


def merge_prompt(prompt: str, said: Mapping[str, str]) -> str:
    """The message of the call: branch texts are escaped, so none can end its own element."""
    elements = (f"<{key}>{_escaped(text)}</{key}>" for key, text in said.items())
    return f"{prompt}\n\n" + "\n".join(elements)


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


async def ask_model(merge: MergeLLM, h: Handle, scope: Scope, said: Mapping[str, str]) -> str:
    """Ask once; the call stands in the record as any other does."""
    outer = scope.outer
    provider, model = provider_and_model(merge.provider, None)
    model = merge.model or model
    asked = provider_for_run(provider)
    request = LLMRequest(
        model=model,
        messages=[LLMMessage("user", merge_prompt(merge.prompt, said))],
        temperature=merge.temperature,
        max_tokens=merge.max_tokens,
    )
    scope.emit(
        h,
        LLMStart(
            iteration=1,
            provider=provider.name,
            model=model,
            system_prompt_chars=0,
            messages_count=1,
            tools_count=0,
            temperature=merge.temperature,
        ),
    )
    started = perf_counter_ns()
    response = await asked.complete(request, CallHooks(outer.facts.run_id))
    outer.asked.append((provider, response))
    scope.emit(
        h,
        LLMEnd(
            iteration=1,
            content=response.content,
            tool_call_count=len(response.tool_calls),
            usage=token_counts(response.usage),
            stop_reason=response.stop_reason,
            duration_ms=(perf_counter_ns() - started) // _NS_PER_MS,
            provider_response_ref=response.provider_ref,
        ),
    )
    return response.content
