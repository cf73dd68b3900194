"""How is a value read as the type that was asked for: by pydantic, or by a function of the caller's?

pydantic is imported only where a type needs it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Generic, Literal, NoReturn, Protocol, TypeVar, cast

from agentfootprint.errors import ConfigError
from agentfootprint.trace import Value

__all__ = ["Miss", "Reader", "Schema", "miss_of", "read_json", "reader_of"]

Out = TypeVar("Out")


@dataclass(frozen=True, slots=True)
class Schema(Generic[Out]):
    """An output type that a function reads, where no Python type says it.

    Args:
        parse: Gets the JSON value of the answer and returns the output, or raises what is wrong with it; the text of
            what it raises is what the model reads, its attribute `path` says where.
        json_schema: Shown to the model; `strategy="tool-forced"` needs one.
        description: Said to the model beside the schema.

    Raises:
        ConfigError: `parse` can't be called, or the schema is no object.
    """

    parse: Callable[[Any], Out]
    _: KW_ONLY
    json_schema: Mapping[str, Any] | None = None
    description: str | None = None

    def __post_init__(self) -> None:
        """Refuse what could never read an answer."""
        if not callable(self.parse):
            raise ConfigError(
                "output.type", f"Schema.parse is a {type(self.parse).__name__}.", fix="Give a function of one value."
            )
        shape = cast("object", self.json_schema)
        if shape is not None and not isinstance(shape, Mapping):
            raise ConfigError(
                "output.type", f"Schema.json_schema is a {type(shape).__name__}.", fix="Give it as a mapping."
            )


@dataclass(frozen=True, slots=True)
class Miss:
    """Why an answer is not the declared type (AGT-121)."""

    stage: Literal["json-parse", "schema-validate"]
    error: str
    """The validator's own words; data, never an instruction."""
    path: str | None = None


class Reader(Protocol):
    """What reads values as one type. A miss carries the validator's words."""

    json_schema: dict[str, Any] | None
    description: str | None

    def of_text(self, text: str, value: Value) -> tuple[Any, Miss | None]:
        """Read an answer that is JSON; `value` is what it says."""
        ...

    def of_value(self, value: Value) -> Any:  # noqa: ANN401  the caller's own type
        """Check a value that was made in Python, and give it as the type.

        Raises:
            Exception: It does not fit.
        """
        ...


def reader_of(type_: object) -> Reader:
    """What reads a declared output type.

    Raises:
        ConfigError: pydantic can make no schema of it.
    """
    return _Function(cast("Schema[Any]", type_)) if isinstance(type_, Schema) else _Pydantic(type_)


def read_json(text: str) -> Value:
    """The JSON value that a text is, from its first to its last character.

    Raises:
        ValueError: It is none.
        RecursionError: It nests too deep to be read.
    """
    return json.loads(text, parse_constant=_no_json)


def _no_json(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON value")


class _Pydantic:
    """Reads by a pydantic model, a dataclass, or any other type that pydantic knows."""

    def __init__(self, type_: Value) -> None:
        from pydantic import PydanticUserError, TypeAdapter
        from pydantic.errors import PydanticSchemaGenerationError

        self.description: str | None = None
        try:
            self._adapter: TypeAdapter[Any] = TypeAdapter(type_)
            self.json_schema: dict[str, Any] | None = self._adapter.json_schema()
        except (PydanticSchemaGenerationError, PydanticUserError) as error:
            raise ConfigError(
                "output",
                f"No schema can be made of the output type {getattr(type_, '__name__', type_)!r}.",
                fix="Use a pydantic model, a dataclass, a type of JSON values, or Schema(parse).",
            ) from error

    def of_text(self, text: str, value: Value) -> tuple[Any, Miss | None]:  # noqa: ARG002  the port's signature
        try:
            return self._adapter.validate_json(text), None
        except Exception as error:  # noqa: BLE001  pydantic, or the type's own validators, which may raise anything
            return None, miss_of(error)

    def of_value(self, value: Value) -> Any:  # noqa: ANN401  the caller's own type
        return self._adapter.validate_python(value)


class _Function:
    """Reads by a function of the caller's."""

    def __init__(self, schema: Schema[Any]) -> None:
        self._parse = schema.parse
        self.json_schema: dict[str, Any] | None = None if schema.json_schema is None else dict(schema.json_schema)
        self.description = schema.description

    def of_text(self, text: str, value: Value) -> tuple[Any, Miss | None]:  # noqa: ARG002  the port's signature
        try:
            return self._parse(value), None
        except Exception as error:  # noqa: BLE001  the caller's function, which says so what is wrong
            return None, miss_of(error)

    def of_value(self, value: Value) -> Any:  # noqa: ANN401  the caller's own type
        return self._parse(value)


def miss_of(error: Exception) -> Miss:
    """What a validator raised, in its own words."""
    from pydantic import ValidationError

    if isinstance(error, ValidationError):
        issues = error.errors(include_url=False, include_context=False)
        words = "; ".join(f"{'.'.join(map(str, issue['loc'])) or '(root)'}: {issue['msg']}" for issue in issues)
        path = ".".join(map(str, issues[0]["loc"])) if issues else ""
        return Miss("schema-validate", words or str(error), path or None)
    return Miss("schema-validate", str(error) or type(error).__name__, _path_of(error))


def _path_of(error: Exception) -> str | None:
    """Where in the value, if what was raised says so: a text, or its steps."""
    path: object = getattr(error, "path", None)
    if isinstance(path, str):
        return path or None
    if isinstance(path, Sequence) and not isinstance(path, (bytes, bytearray)):
        return ".".join(map(str, cast("Sequence[object]", path))) or None
    return None
