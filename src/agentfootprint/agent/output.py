"""Whether an answer is the typed value that was asked for, and what is handed back when it is not.

pydantic is imported only when an agent declares an output type.
"""

from __future__ import annotations

import copy
import inspect
import json
import re
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET

from agentfootprint.agent.shaping.forcing import ForcedAnswer
from agentfootprint.agent.shaping.schemas import Miss, miss_of, read_json, reader_of
from agentfootprint.context import Always, Content, Injection
from agentfootprint.errors import ConfigError

if TYPE_CHECKING:
    from agentfootprint.agent.errors import OutputSchemaError
    from agentfootprint.agent.options import Output

__all__ = ["Miss", "OutputContract"]

_FENCE: Final = re.compile(r"\s*```[A-Za-z0-9_-]*[ \t]*\r?\n(.*?)\r?\n?[ \t]*```\s*", re.DOTALL)


class OutputContract:
    """A type that the final answer must fit, and the tiers below it.

    Args:
        output: What was declared.

    Raises:
        ConfigError: pydantic can make no schema of the type, the canned value does not fit it, or there is no schema
            that a tool call could be forced into.
    """

    def __init__(self, output: Output[Any]) -> None:
        self.retries = output.retries
        self.strict = output.strict
        self._lenient = output.lenient
        self._fallback = output.fallback
        self._canned: Any = output.canned
        self._reader = reader_of(output.type)
        self.json_schema = self._reader.json_schema
        if self.has_canned:
            self._check_canned()
        self.forced: ForcedAnswer | None = None
        """How the answer is made the arguments of a tool call, when it is."""
        if output.strategy == "tool-forced":
            if self.json_schema is None:
                raise ConfigError(
                    "output.strategy",
                    "The output type gives no JSON Schema, so there is nothing a tool call could be forced into.",
                    fix='Give Schema(parse, json_schema={...}), or use strategy="instruct".',
                )
            if self.json_schema.get("type") != "object":
                raise ConfigError(
                    "output.strategy",
                    "The output type is no object, and the arguments of a tool call always are.",
                    fix='Put it into a field of a model, or use strategy="instruct".',
                )
            self.forced = ForcedAnswer(self.json_schema, self._reader.description)

    @property
    def has_fallback(self) -> bool:
        """Whether a function stands in for an answer that misses."""
        return self._fallback is not None

    @property
    def has_canned(self) -> bool:
        """Whether a value stands in for an answer that misses, when no function does."""
        return self._canned is not UNSET

    @property
    def has_tiers(self) -> bool:
        """Whether something stands in for an answer that misses (AGT-131)."""
        return self.has_fallback or self.has_canned

    def _check_canned(self) -> None:
        try:
            self.canned()
        except Exception as error:
            raise ConfigError(
                "output.canned",
                f"The canned output does not fit the output type: {miss_of(error).error}.",
                fix="Give a value that the type accepts.",
            ) from error

    def injection(self) -> Injection:
        """The always-on piece that tells the model the shape (AGT-120)."""
        text = "Answer with JSON only: one value"
        if self.json_schema is not None:
            text += " that fits this JSON Schema"
        text += ", without prose around it and without code fences."
        if self._reader.description:
            text += f" {self._reader.description}"
        if self.json_schema is not None:
            text += "\n" + json.dumps(self.json_schema, ensure_ascii=False, separators=(",", ":"))
        return Injection(
            "output-schema",
            trigger=Always(),
            inject=Content(system_prompt=text),
            flavor="instructions",
            description="the declared output type",
            cache="always",
        )

    def judge(self, text: str, *, stop_reason: str = "stop") -> tuple[Any, Miss | None]:
        """Read an answer: the value, or why there is none.

        Args:
            text: The whole answer; it must be JSON from first to last character.
            stop_reason: Why the model stopped: an answer that was cut or withheld is said to be so (STR-7).

        Returns:
            The validated value and `None`, or `None` and the miss.
        """
        if self._lenient:
            fenced = _FENCE.fullmatch(text)
            text = fenced[1] if fenced else text
        try:
            value = read_json(text)
        except (ValueError, RecursionError) as error:  # the model may nest as deep as it likes
            return None, Miss("json-parse", _ENDINGS.get(stop_reason, "") + str(error))
        return self._reader.of_text(text, value)

    async def fall_back(self, error: OutputSchemaError, raw: str) -> Any:  # noqa: ANN401  the caller's own type
        """What the caller's function gives in place of an answer that misses, checked as an answer is.

        Raises:
            Exception: The function raised, or its value does not fit.
        """
        assert self._fallback is not None  # noqa: S101  has_fallback says so
        given: Any = self._fallback(error, raw)
        if inspect.isawaitable(given):
            given = await given
        return self._reader.of_value(given)

    def canned(self) -> Any:  # noqa: ANN401  the caller's own type
        """The value that stands in at last; a copy of its own for each run, since nobody says it can't be changed."""
        return self._reader.of_value(copy.deepcopy(self._canned))


_ENDINGS: Final = {
    "max_tokens": "the reply was cut off by the token limit; ",
    "content_filter": "the reply was withheld by the vendor; ",
    "refusal": "the model refused; ",
}
"""What a miss says first when the reply did not end by itself."""
