"""Whether an answer is the typed value that was asked for.

pydantic is imported here only, when an agent declares an output type.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

from agentfootprint.context import Always, Content, Injection
from agentfootprint.errors import ConfigError
from agentfootprint.trace import Value

__all__ = ["Miss", "OutputContract"]


def _no_json(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON value")


@dataclass(frozen=True, slots=True)
class Miss:
    """Why an answer is not the declared type (AGT-121)."""

    stage: Literal["json-parse", "schema-validate"]
    error: str
    """The validator's own words; data, never an instruction."""
    path: str | None = None


class OutputContract:
    """A type that the final answer must fit.

    Args:
        type: What pydantic can validate.
        retries: How many further answers may be asked for.

    Raises:
        ConfigError: pydantic can make no schema of the type.
    """

    def __init__(self, type: Value, retries: int) -> None:
        from pydantic import PydanticUserError, TypeAdapter
        from pydantic.errors import PydanticSchemaGenerationError

        self.type = type
        self.retries = retries
        try:
            self._adapter: TypeAdapter[Any] = TypeAdapter(type)
            self.json_schema: dict[str, Any] = self._adapter.json_schema()
        except (PydanticSchemaGenerationError, PydanticUserError) as error:
            raise ConfigError(
                "output",
                f"No schema can be made of the output type {getattr(type, '__name__', type)!r}.",
                fix="Use a pydantic model, a dataclass, or a type of JSON values.",
            ) from error

    def injection(self) -> Injection:
        """The always-on piece that tells the model the shape (AGT-120)."""
        shape = json.dumps(self.json_schema, ensure_ascii=False, separators=(",", ":"))
        text = (
            "Answer with JSON only: one value that fits this JSON Schema, without prose around it and without code "
            f"fences.\n{shape}"
        )
        return Injection(
            "output-schema",
            trigger=Always(),
            inject=Content(system_prompt=text),
            flavor="instructions",
            description="the declared output type",
            cache="always",
        )

    def judge(self, text: str) -> tuple[Any, Miss | None]:
        """Read an answer: the value, or why there is none.

        Args:
            text: The whole answer; it must be JSON from first to last character.

        Returns:
            The validated value and `None`, or `None` and the miss.
        """
        from pydantic import ValidationError

        try:
            json.loads(text, parse_constant=_no_json)
        except (ValueError, RecursionError) as error:  # the model may nest as deep as it likes
            return None, Miss("json-parse", str(error))
        try:
            return self._adapter.validate_json(text), None
        except ValidationError as error:
            issues = error.errors(include_url=False, include_context=False)
            words = "; ".join(f"{'.'.join(map(str, issue['loc'])) or '(root)'}: {issue['msg']}" for issue in issues)
            path = ".".join(map(str, issues[0]["loc"])) if issues else ""
            return None, Miss("schema-validate", words or str(error), path or None)
        except Exception as error:  # noqa: BLE001  the type's own validators, which may raise anything
            return None, Miss("schema-validate", str(error) or type(error).__name__)
