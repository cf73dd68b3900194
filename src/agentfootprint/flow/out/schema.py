"""Does a value fit a schema, whatever kind of schema it is (FLOW-CON-2)?

A schema is a pydantic model or type adapter, a JSON Schema, or any object that validates. What is found wrong is told
by place and rule, never by the value itself; only a validator of the user's own is quoted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from agentfootprint._optional import optional
from agentfootprint.flow.errors import ChartBuildError, ValidationIssue
from agentfootprint.trace import Value, thaw

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

__all__ = ["NotFitting", "Schema", "schema_of"]

JsonSchema: TypeAlias = "dict[str, Any]"
_NAMING_KEYS_ONLY = ("required", "dependentRequired", "additionalProperties", "unevaluatedProperties", "propertyNames")
"""Rules whose words, as the validator puts them, hold keys and no values."""


class NotFitting(Exception):  # noqa: N818  never leaves the engine: it becomes the error of the side it is about
    """A value breaks a schema."""

    def __init__(self, issues: Iterable[ValidationIssue]) -> None:
        self.issues = tuple(issues)
        super().__init__()

    def words(self) -> str:
        """What is wrong, in one line."""
        texts = [str(issue) for issue in self.issues]
        return texts[0] if len(texts) == 1 else f"{len(texts)} issues — {'; '.join(texts)}"


class Schema(ABC):
    """What one side of a contract must fit."""

    @abstractmethod
    def accepted(self, value: Value) -> Value:
        """The value as the schema leaves it: defaults filled in, text parsed.

        Raises:
            NotFitting: It breaks the schema.
        """

    @abstractmethod
    def json_schema(self) -> JsonSchema:
        """The schema as JSON Schema; a new object each time."""


def schema_of(given: Any, where: str) -> Schema:  # noqa: ANN401  any kind of schema
    """The schema that was given.

    Args:
        given: What the user gave.
        where: Which schema it is, for the refusal.

    Raises:
        ChartBuildError: It is no schema.
        MissingExtraError: It is a JSON Schema, and the package that reads those is not installed.
    """
    if isinstance(given, Mapping):
        return _Json(cast("Mapping[str, Any]", given), where)
    if isinstance(given, type) and hasattr(given, "model_validate"):
        return _Model(given)
    if callable(getattr(given, "validate_python", None)):
        return _Adapter(given)
    if callable(getattr(given, "validate", None)):
        return _Own(given)
    raise ChartBuildError(
        f"The {where} is a {type(given).__name__}, which validates nothing.",
        fix="Give a pydantic model, a JSON Schema, or an object with a `validate` method.",
    )


class _Pydantic(Schema):
    """What pydantic models and type adapters have in common."""

    def __init__(self, given: Any) -> None:  # noqa: ANN401  a model class or an adapter
        self.given = given

    def _checked(self, validate: Callable[[Any], Any], value: Value) -> Value:
        try:
            return validate(value)
        except Exception as error:
            list_errors = getattr(error, "errors", None)
            if list_errors is None:
                raise
            raise NotFitting(map(_pydantic_issue, cast("list[dict[str, Any]]", list_errors()))) from None


class _Model(_Pydantic):
    def accepted(self, value: Value) -> Value:
        model = self._checked(self.given.model_validate, value)
        return model.model_dump(mode="json")

    def json_schema(self) -> JsonSchema:
        return self.given.model_json_schema()


class _Adapter(_Pydantic):
    def accepted(self, value: Value) -> Value:
        return self.given.dump_python(self._checked(self.given.validate_python, value), mode="json")

    def json_schema(self) -> JsonSchema:
        return self.given.json_schema()


def _pydantic_issue(error: Mapping[str, Any]) -> ValidationIssue:
    missing = error["type"] == "missing"
    return ValidationIssue(
        path=tuple(error["loc"]),
        message=error["msg"],
        code=error["type"],
        received=None if missing else type(error.get("input")).__name__,
    )


class _Json(Schema):
    def __init__(self, given: Mapping[str, Any], where: str) -> None:
        self.given: JsonSchema = thaw(cast("Any", given))
        with optional("jsonschema", extra="jsonschema", needed_by=f"The {where}, a JSON Schema,"):
            from jsonschema.exceptions import SchemaError
            from jsonschema.validators import Draft202012Validator, validator_for
        kind = validator_for(self.given, default=Draft202012Validator)
        try:
            kind.check_schema(self.given)
        except SchemaError as error:
            place = "/".join(map(str, error.absolute_path)) or "its top"
            raise ChartBuildError(
                f"The {where} is no valid JSON Schema, at {place}: {error.message}", fix="Correct it there."
            ) from error

    def accepted(self, value: Value) -> Value:
        from jsonschema.validators import Draft202012Validator, validator_for

        kind = validator_for(self.given, default=Draft202012Validator)
        plain = thaw(value)
        errors = cast(
            "Iterable[ValidationError]", kind(self.given, format_checker=kind.FORMAT_CHECKER).iter_errors(plain)
        )
        issues = [_json_issue(error) for error in errors]
        if issues:
            raise NotFitting(sorted(issues, key=lambda issue: [str(step) for step in issue.path]))
        return value

    def json_schema(self) -> JsonSchema:
        return thaw(cast("Any", self.given))


def _json_issue(error: ValidationError) -> ValidationIssue:
    rule, limit = str(error.validator), cast("object", error.validator_value)
    received = type(cast("object", error.instance)).__name__
    expected: str | None = None
    if rule in _NAMING_KEYS_ONLY:
        message = error.message
    elif rule == "type":
        kinds = cast("Sequence[str]", [limit] if isinstance(limit, str) else limit)
        expected = " or ".join(kinds)
        message = f"must be {expected}, not {received}"
    elif rule in ("enum", "const"):
        choices = cast("Sequence[object]", limit if rule == "enum" else [limit])
        expected = ", ".join(map(repr, choices))
        message = f"must be one of {expected}" if len(choices) > 1 else f"must be {expected}"
    elif isinstance(limit, (int, float, str)):
        message = f"breaks the rule {rule} {limit}"
    else:
        message = f"breaks the rule {rule}"
    path = tuple(cast("Iterable[str | int]", error.absolute_path))
    return ValidationIssue(path=path, message=message, code=rule, expected=expected, received=received)


class _Own(Schema):
    """An object of the user's: `validate(value)` raises, or gives the value to go on with (nothing: as it was)."""

    def __init__(self, given: Any) -> None:  # noqa: ANN401  any object with `validate`
        self.given = given

    def accepted(self, value: Value) -> Value:
        try:
            made = self.given.validate(value)
        except Exception as error:  # the user's validator says no with whatever it raises
            issue = ValidationIssue(path=(), message=str(error) or type(error).__name__, code=type(error).__name__)
            raise NotFitting([issue]) from error
        if made is False:
            raise NotFitting([ValidationIssue(path=(), message="is not accepted")])
        return value if made is None or made is True else made

    def json_schema(self) -> JsonSchema:
        own = getattr(self.given, "json_schema", None)
        found = own() if callable(own) else own
        return dict(cast("Mapping[str, Any]", found)) if isinstance(found, Mapping) else {"type": "object"}
