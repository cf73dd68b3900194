"""What counts as a changed decision, when an original answer and a re-run's answer are compared.

Ranked by strength (STAT-6): the fields of a typed or JSON answer that are decisions, a pattern in a text, the
expected answer, and last the text itself. Every rule has a name that reports print, because a verdict is a verdict
about that rule only. No text given by a user is ever executed.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias, cast

from agentfootprint.errors import AgentFootprintError
from agentfootprint.explain.errors import InvalidComparatorError
from agentfootprint.explain.scoring.lexical import lexical_overlap, lexical_tokens
from agentfootprint.explain.scoring.semantic import embedder_name, text_similarity
from agentfootprint.llm import Embedder
from agentfootprint.trace import deep_equal, freeze, thaw

__all__ = ["ChangeRule", "Comparator", "answer_text", "change_rule", "compare", "parse_change", "plain_answer", "says"]

_ABSENT: Final = object()
_PATH: Final = re.compile(r"[A-Za-z_]\w*(?:\.\w+|\[\d+\])*")
_PART: Final = re.compile(r"[^.\[\]]+")
_PATTERN: Final = re.compile(r"/(?P<body>.+)/(?P<flags>[ims]*)", re.DOTALL)
_THRESHOLD: Final = re.compile(r"(?P<what>words|similarity)\s*<\s*(?P<threshold>[0-9]*\.?[0-9]+)")
FLIP_THRESHOLD: Final = 0.8
"""A text whose similarity to the original is below this counts as changed, unless something better is known."""
_LISTED: Final = 8
"""So many fields of an answer are named in an error."""
_LABEL: Final = 40
"""A one-word text up to this long is taken for a decision, not for prose."""


Answer: TypeAlias = Any
"""A text, a JSON value, or a typed output."""


class Comparator(Protocol):
    """Did the decision change? A plain function will do, also an async one."""

    def __call__(self, original: Answer, rerun: Answer, /) -> bool | Awaitable[bool]:
        """Whether the decision changed."""
        ...


Extract: TypeAlias = Callable[[Any], Any]
"""From an answer to the part that decides; `_ABSENT` when it has none."""


@dataclass(frozen=True, slots=True)
class ChangeRule:
    """A comparator that has a name and, mostly, can say what the decision is."""

    name: str
    """What counts as changed, as reports print it: `field "decision" of the output, exact`."""
    changed: Comparator
    decision: Callable[[Any], str | None] = lambda _: None
    """The decision of an answer as a short text, or `None` when the rule can't name it."""

    def __call__(self, original: Answer, rerun: Answer, /) -> bool | Awaitable[bool]:
        """Whether the decision changed."""
        return self.changed(original, rerun)


async def compare(comparator: Comparator, original: Answer, rerun: Answer) -> bool:
    """Ask a comparator, async or not, whether the decision changed."""
    answer = comparator(original, rerun)
    return bool(await answer if inspect.isawaitable(answer) else answer)


def plain_answer(answer: Answer) -> Answer:
    """An answer as JSON: typed outputs become objects; a text stays a text.

    A recording holds the text a model wrote where a live result holds the typed output; `change_rule` reads both.
    """
    try:
        return thaw(freeze(answer))
    except AgentFootprintError:
        return repr(answer)


def change_rule(
    changed: Comparator | str | None = None,
    *,
    original: Answer,
    expected: Answer = None,
    schema: Mapping[str, Any] | None = None,
    embedder: Embedder | None = None,
) -> ChangeRule:
    """The rule to compare by.

    Args:
        changed: A comparator, or a text as `parse_change` reads it; by default the strongest rule that fits the answer.
        original: The answer under question; it decides which default fits.
        expected: The right answer, when it is known.
        schema: The JSON Schema of the output type; it tells which texts are decisions (`enum`, `const`).
        embedder: For texts that nothing better can compare.

    Returns:
        The rule. Defaults: decision fields of a typed or JSON answer; for a text, whether it says what is `expected`
        when that is a text, else its similarity by the embedder, else the text itself.

    Raises:
        InvalidComparatorError: The text can't be read, or names a field that the answer does not have: no re-run
            could change such a field, and a proof by it would find every source innocent.
    """
    if isinstance(changed, str):
        rule = parse_change(changed, embedder=embedder)
        field = _field_named(changed)
        if field is not None:
            _check_field(changed, field, original, schema or {})
        return rule
    if isinstance(changed, ChangeRule):
        return changed
    if changed is not None:
        return ChangeRule(f"function {getattr(changed, '__name__', type(changed).__name__)}", changed)
    return _default_rule(original, expected, schema or {}, embedder)


def _default_rule(
    original: Answer, expected: Answer, schema: Mapping[str, Any], embedder: Embedder | None
) -> ChangeRule:
    """The strongest rule that fits the answer (STAT-6)."""
    answer = _structured(original)
    if answer is not _ABSENT:
        fields = _decisions(cast("Mapping[str, Any]", answer), schema) if isinstance(answer, Mapping) else []
        return _fields_rule(fields) if fields else _output_rule()
    if isinstance(expected, str) and expected.strip():
        return _expected_rule(expected)
    return _text_rule() if embedder is None else _similarity_rule(embedder, FLIP_THRESHOLD)


def parse_change(text: str, *, embedder: Embedder | None = None) -> ChangeRule:
    """Read what counts as changed from a text, as `--changed` takes it.

    Args:
        text: `output`: the whole answer. `text`: the words, white space folded. `decision`, `order.status`,
            `items[0].price`: a field of a typed or JSON answer (`field:text` for a field with a reserved name).
            `/APPROVED|DECLINED/`: the first match of a pattern, or its first group; flags `i`, `m`, `s` may follow.
            `words<0.8`: the two share fewer words than that, as `lexical_overlap` counts them. `similarity<0.8`: the
            embedder finds them less alike than that.
        embedder: For `similarity<...`.

    Raises:
        InvalidComparatorError: It is none of these, or needs an embedder and has none.
    """
    given = text.strip()
    if given in _NAMED:
        return _NAMED[given]()
    if match := _PATTERN.fullmatch(given):
        return _pattern_rule(text, match["body"], match["flags"])
    if match := _THRESHOLD.fullmatch(given):
        return _threshold_rule(text, match["what"], float(match["threshold"]), embedder)
    path = _field_named(text)
    if path is not None:
        return _fields_rule([path])
    raise InvalidComparatorError(text, "it is no field, no /pattern/ and none of the named rules")


def _field_named(text: str) -> str | None:
    """The path of the field that a text names; `None` when it names a rule or is a pattern."""
    given = text.strip()
    path = given.removeprefix("field:")
    return path if given not in _NAMED and _PATH.fullmatch(path) else None


def _check_field(text: str, path: str, original: Answer, schema: Mapping[str, Any]) -> None:
    """Refuse a field that the answer does not have, unless the schema says that it may have it."""
    answer = _structured(original)
    if not isinstance(answer, (Mapping, list)):
        raise InvalidComparatorError(text, "it names a field, and the answer is a text, which has none")
    declared = _member(schema, "properties")
    if _at(cast("object", answer), path) is not _ABSENT or _PART.findall(path)[0] in declared:
        return
    known = [*dict.fromkeys((*declared, *cast("Mapping[str, Any]", answer)))] if isinstance(answer, Mapping) else []
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    named = ", ".join(known[:_LISTED]) + more
    has = f"its fields are {named}" if named else "it is a list" if isinstance(answer, list) else "it has no fields"
    raise InvalidComparatorError(text, f"the answer has no such field; {has}")


def says(answer: Answer, expected: Answer, rule: ChangeRule | None = None) -> bool:
    """Whether an answer is the expected one (STAT-8).

    Args:
        answer: What a re-run gave, typed, JSON or text.
        expected: The right answer: a whole output, the decision that `rule` finds, or words that a text must hold.
        rule: The rule the proof compares by.
    """
    plain, wanted = _plain_or_json(answer), plain_answer(expected)
    if deep_equal(plain, wanted) or deep_equal(plain, _plain_or_json(expected)):
        return True
    decision = rule.decision(answer) if rule else None
    if decision is not None:
        return _folded(decision) == _folded(_shown(wanted))
    return isinstance(plain, str) and isinstance(wanted, str) and _holds(plain, wanted)


def _structured(answer: Answer) -> Answer:
    """A typed or JSON answer as JSON; `_ABSENT` for a text that is none."""
    plain = _plain_or_json(answer)
    return _ABSENT if isinstance(plain, str) else plain


def _plain_or_json(answer: Answer) -> Answer:
    plain = plain_answer(answer)
    if isinstance(plain, str) and plain.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(plain)
        except ValueError:
            return plain
    return plain


def _decisions(answer: Mapping[str, Any], schema: Mapping[str, Any]) -> list[str]:
    """The fields that decide: flags, numbers, choices and one-word texts; prose, lists and objects don't."""
    return [name for name, value in answer.items() if _decides(value, _schema_of(name, schema))]


def _schema_of(name: str, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found = _member(_member(schema, "properties"), name)
    reference = found.get("$ref")
    return _member(_member(schema, "$defs"), reference.rpartition("/")[2]) if isinstance(reference, str) else found


def _member(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = schema.get(name)
    return cast("Mapping[str, Any]", found) if isinstance(found, Mapping) else {}


def _decides(value: Answer, schema: Mapping[str, Any]) -> bool:
    if isinstance(value, str):
        one_word = value.split() == [value] and value[-1].isalnum() and len(value) <= _LABEL
        return one_word or "enum" in schema or "const" in schema
    return isinstance(value, (bool, int, float))


def _fields_rule(paths: Sequence[str]) -> ChangeRule:
    named = ", ".join(f'"{path}"' for path in paths)

    def decision(answer: Answer) -> Answer:
        structured = _structured(answer)
        found = [_at(structured, path) for path in paths]
        return found if any(value is not _ABSENT for value in found) else _ABSENT

    return _extracting(f"field{'s' if len(paths) > 1 else ''} {named} of the output, exact", decision)


def _at(value: Answer, path: str) -> Answer:
    for part in _PART.findall(path):
        if isinstance(value, Mapping) and part in value:
            value = cast("Mapping[str, Any]", value)[part]
        elif isinstance(value, list) and part.isdecimal() and int(part) < len(cast("list[Any]", value)):
            value = cast("list[Any]", value)[int(part)]
        else:
            return _ABSENT
    return value


def _pattern_rule(text: str, body: str, flags: str) -> ChangeRule:
    try:
        pattern = re.compile(body, sum((getattr(re, flag.upper()) for flag in set(flags)), re.RegexFlag(0)))
    except re.error as problem:
        raise InvalidComparatorError(text, f"the pattern is wrong: {problem}") from problem

    def decision(answer: Answer) -> Answer:
        plain = plain_answer(answer)
        match = pattern.search(plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False))
        if match is None:
            return _ABSENT
        return match.group(1 if pattern.groups else 0)

    return _extracting(f"first match of {text.strip()}", decision)


def _output_rule() -> ChangeRule:
    return _extracting("the whole output, exact", _plain_or_json)


def _text_rule() -> ChangeRule:
    def changed(original: Answer, rerun: Answer) -> bool:
        return answer_text(original) != answer_text(rerun)

    return ChangeRule("the text, exact but for white space", changed)


_NAMED: Final[Mapping[str, Callable[[], ChangeRule]]] = {"output": _output_rule, "text": _text_rule}
"""The rules that have a name."""


def _threshold_rule(text: str, what: str, threshold: float, embedder: Embedder | None) -> ChangeRule:
    if not 0 < threshold <= 1:
        raise InvalidComparatorError(text, "the threshold lies above 0 and at 1 or below")
    if what == "words":
        return _overlap_rule(threshold)
    if embedder is None:
        raise InvalidComparatorError(text, "similarity needs an embedder, and there is none")
    return _similarity_rule(embedder, threshold)


def _overlap_rule(threshold: float) -> ChangeRule:
    def changed(original: Answer, rerun: Answer) -> bool:
        one, other = answer_text(original), answer_text(rerun)
        if not (lexical_tokens(one) and lexical_tokens(other)):
            return one != other
        return lexical_overlap(one, other) < threshold

    return ChangeRule(f"fewer than {threshold:g} of the words shared", changed)


def _similarity_rule(embedder: Embedder, threshold: float) -> ChangeRule:
    async def changed(original: Answer, rerun: Answer) -> bool:
        one, other = answer_text(original), answer_text(rerun)
        return one != other and await text_similarity(embedder, one, other) < threshold

    return ChangeRule(f"similarity below {threshold:g} ({embedder_name(embedder)})", changed)


def _expected_rule(expected: str) -> ChangeRule:
    def changed(original: Answer, rerun: Answer) -> bool:
        return says(original, expected) != says(rerun, expected)

    return ChangeRule(f'whether the answer says "{expected.strip()}"', changed)


def _extracting(name: str, extract: Extract) -> ChangeRule:
    """A rule that compares what is found in both answers; found in one only is a change."""

    def changed(original: Answer, rerun: Answer) -> bool:
        one, other = extract(original), extract(rerun)
        if one is _ABSENT or other is _ABSENT:
            return one is not other
        return not deep_equal(one, other)

    def decision(answer: Answer) -> str | None:
        found = extract(answer)
        return None if found is _ABSENT else _shown(found)

    return ChangeRule(name, changed, decision)


def _shown(value: Answer) -> str:
    """A decision as a short text; a single field stands for itself."""
    if isinstance(value, list):
        return ", ".join("-" if item is _ABSENT else _shown(item) for item in cast("list[Any]", value))
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)


def answer_text(answer: Answer) -> str:
    """An answer as one line of text, runs of white space folded; objects as JSON."""
    plain = plain_answer(answer)
    return " ".join((plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)).split())


def _folded(text: str) -> str:
    return " ".join(text.split()).casefold()


def _holds(text: str, wanted: str) -> bool:
    """Whether the words of `wanted` stand in a text, together and whole, in any case."""
    return re.search(rf"(?<!\w){re.escape(_folded(wanted))}(?!\w)", _folded(text)) is not None
