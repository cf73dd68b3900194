"""How is a model made to answer with a schema: by a tool that it must call, and that nobody runs (02 s.15.3)?

The tool exists on the request and in `stream.llm_start`, and nowhere else: no slot, no registry, no dispatch, no rule
ever sees it (AGT-130).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec.structs import replace

from agentfootprint.errors import ConfigError
from agentfootprint.events import OfferedTool
from agentfootprint.llm import LLMResponse, ToolSchema
from agentfootprint.trace import FrozenList, compact_json, freeze

if TYPE_CHECKING:
    from agentfootprint.llm import LLMProvider

__all__ = ["RESPOND_WITH_SCHEMA", "ForcedAnswer", "check_carries_forced"]

RESPOND_WITH_SCHEMA: Final = "respond_with_schema"
_TEXT: Final = "Give the final answer: call this with it, once."


class ForcedAnswer:
    """A tool whose arguments are the answer.

    Args:
        json_schema: What the arguments must fit.
        description: Said to the model about the answer.
    """

    __slots__ = ("schemas", "shown")

    def __init__(self, json_schema: Mapping[str, Any], description: str | None) -> None:
        text = f"{_TEXT} {description}" if description else _TEXT
        self.schemas: FrozenList = freeze([ToolSchema(RESPOND_WITH_SCHEMA, text, json_schema)])
        self.shown = (OfferedTool(name=RESPOND_WITH_SCHEMA, description=text),)

    @staticmethod
    def answer_in(response: LLMResponse) -> LLMResponse:
        """The reply with its answer as text, before anything else reads it (AGT-48); other calls stay.

        Args:
            response: As the model gave it. Arguments that could not be read, and those of a reply that was cut, are no
                answer (DEC-8): the call goes, and what the reply said stands.
        """
        ours = [call for call in response.tool_calls if call.name == RESPOND_WITH_SCHEMA]
        if not ours:
            return response
        others = tuple(call for call in response.tool_calls if call.name != RESPOND_WITH_SCHEMA)
        call = ours[0]
        is_whole = call.args_error is None and response.stop_reason != "max_tokens"
        return replace(response, content=compact_json(call.args) if is_whole else response.content, tool_calls=others)


def check_carries_forced(provider: LLMProvider) -> None:
    """Refuse a provider that does not say that it puts a forced call on its wire; never downgrade silently (AGT-4).

    Raises:
        ConfigError: Names the provider and the strategy that works everywhere.
    """
    if getattr(provider, "carries_forced_tool_choice", False) is True:
        return
    raise ConfigError(
        "output.strategy",
        f'strategy="tool-forced" needs a provider that carries a forced tool choice, and {provider.name!r} does not.',
        fix='Use strategy="instruct" with retries, or a provider that does.',
    )
