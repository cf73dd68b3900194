"""Tests of agentfootprint.explain.rerunning.comparators."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from agentfootprint import Agent, Fact, Mock
from agentfootprint.explain.errors import InvalidComparatorError
from agentfootprint.explain.rerunning.comparators import change_rule, compare, parse_change, plain_answer, says
from agentfootprint.llm import LLMRequest, mock_embedder

APPROVED = "Refund APPROVED: Dana Reyes holds VIP tier override status."
DECLINED = "Refund DECLINED: the order was purchased 47 days ago."


class Word(enum.Enum):
    YES = "yes, of course"
    NO = "no, sorry"


class Refund(BaseModel):
    decision: str
    reason: str


@dataclass
class Order:
    approved: bool
    amount: float
    note: str
    tags: list[str]


class Chosen(BaseModel):
    word: Word
    reason: str


async def test_a_typed_output_is_compared_by_the_fields_that_decide() -> None:
    original = Refund(decision="APPROVED", reason="Dana is a VIP.")
    rule = change_rule(original=original)

    assert rule.name == 'field "decision" of the output, exact'
    assert not await compare(rule, original, Refund(decision="APPROVED", reason="She holds VIP status."))
    assert await compare(rule, original, Refund(decision="DECLINED", reason="Dana is a VIP."))
    assert rule.decision(original) == "APPROVED"


async def test_flags_and_numbers_decide_and_prose_and_lists_do_not() -> None:
    original = Order(approved=True, amount=480.0, note="As the policy says.", tags=["a"])
    rule = change_rule(original=original)

    assert rule.name == 'fields "approved", "amount" of the output, exact'
    assert not await compare(rule, original, Order(approved=True, amount=480, note="Other words here.", tags=["b"]))
    assert await compare(rule, original, Order(approved=False, amount=480.0, note="As the policy says.", tags=["a"]))
    assert rule.decision(original) == "true, 480.0"


async def test_a_choice_of_several_words_decides_when_the_schema_says_it_is_one() -> None:
    original = Chosen(word=Word.YES, reason="It is so.")
    rule = change_rule(original=original, schema=Chosen.model_json_schema())

    assert rule.name == 'field "word" of the output, exact'
    assert await compare(rule, original, Chosen(word=Word.NO, reason="It is so."))


async def test_the_text_of_a_recording_is_compared_with_the_typed_output_of_a_re_run() -> None:
    recorded = '{"decision": "APPROVED", "reason": "VIP."}'
    rule = change_rule(original=recorded)

    assert not await compare(rule, recorded, Refund(decision="APPROVED", reason="Another reason."))
    assert await compare(rule, recorded, '{"decision": "DECLINED", "reason": "VIP."}')


async def test_an_answer_without_the_field_is_another_decision() -> None:
    rule = change_rule(original=Refund(decision="APPROVED", reason="-"))

    assert await compare(rule, Refund(decision="APPROVED", reason="-"), "I can't say.")
    assert not await compare(rule, "I can't say.", "No idea.")


async def test_an_object_without_deciding_fields_is_compared_whole() -> None:
    original = {"reason": "as the policy says", "items": [1]}
    rule = change_rule(original=original)

    assert rule.name == "the whole output, exact"
    assert await compare(rule, original, {"reason": "as the policy says", "items": [2]})
    assert not await compare(rule, original, {"items": [1.0], "reason": "as the policy says"})


async def test_a_number_or_a_list_is_compared_whole() -> None:
    rule = change_rule(original=[1, 2])

    assert await compare(rule, [1, 2], [2, 1])
    assert not await compare(rule, 1, 1.0)
    assert await compare(rule, 1, True)


async def test_a_text_is_compared_by_whether_it_says_what_is_expected() -> None:
    rule = change_rule(original=APPROVED, expected="DECLINED")

    assert rule.name == 'whether the answer says "DECLINED"'
    assert await compare(rule, APPROVED, DECLINED)
    assert not await compare(rule, APPROVED, "Approved, with pleasure.")


async def test_without_anything_else_the_text_itself_is_compared() -> None:
    rule = change_rule(original="Paris.")

    assert rule.name == "the text, exact but for white space"
    assert not await compare(rule, "Paris, France.", "Paris,\n France. ")
    assert await compare(rule, "Paris.", "Lyon.")


async def test_a_function_of_the_caller_is_asked_async_or_not() -> None:
    def flipped(original: str, rerun: str) -> bool:
        return ("APPROVED" in original) != ("APPROVED" in rerun)

    async def asked(original: str, rerun: str) -> bool:
        return flipped(original, rerun)

    plain, slow = change_rule(flipped, original=APPROVED), change_rule(asked, original=APPROVED)

    assert (plain.name, slow.name) == ("function flipped", "function asked")
    assert await compare(plain, APPROVED, DECLINED)
    assert await compare(slow, APPROVED, DECLINED)
    assert not await compare(slow, APPROVED, APPROVED)
    assert change_rule(plain, original=APPROVED) is plain
    assert plain.decision(APPROVED) is None


@pytest.mark.parametrize(
    ("text", "name", "one", "other", "changed"),
    [
        ("decision", 'field "decision" of the output, exact', {"decision": "a"}, {"decision": "b"}, True),
        ("order.items[1].price", 'field "order.items[1].price" of the output, exact',
         {"order": {"items": [{}, {"price": 1}]}}, {"order": {"items": [{}, {"price": 1.0}], "x": 1}}, False),
        ("field:text", 'field "text" of the output, exact', {"text": "a"}, {"text": "b"}, True),
        ("output", "the whole output, exact", {"a": "x y"}, {"a": "x z"}, True),
        ("text", "the text, exact but for white space", "a  b", "a b", False),
        ("/APPROVED|DECLINED/", "first match of /APPROVED|DECLINED/", APPROVED, DECLINED, True),
        ("/refund (\\w+)/i", "first match of /refund (\\w+)/i", APPROVED, "REFUND APPROVED at once", False),
        ("/APPROVED/", "first match of /APPROVED/", APPROVED, "Sorry.", True),
        ("words<0.8", "fewer than 0.8 of the words shared", APPROVED, DECLINED, True),
        ("words < 0.5", "fewer than 0.5 of the words shared", "refund this order", "refund that order, soon", False),
        ("words<0.8", "fewer than 0.8 of the words shared", "日本", "日本", False),
        ("words<0.8", "fewer than 0.8 of the words shared", "日本", "東京", True),
    ],
)  # fmt: skip
async def test_what_counts_as_changed_can_be_written(text: str, name: str, one: Any, other: Any, changed: bool) -> None:
    rule = parse_change(text)

    assert rule.name == name
    assert await compare(rule, one, other) is changed


@pytest.mark.parametrize(
    "text", ["", "a b", "/(/", "words<0", "words<1.5", "decision ==", "__import__('os').getcwd()", "//"]
)
def test_a_text_that_says_nothing_is_refused_and_never_executed(text: str) -> None:
    with pytest.raises(InvalidComparatorError) as caught:
        parse_change(text)

    assert caught.value.text == text


def test_a_pattern_names_the_decision() -> None:
    rule = parse_change("/APPROVED|DECLINED/")

    assert (rule.decision(APPROVED), rule.decision("Sorry.")) == ("APPROVED", None)


@pytest.mark.parametrize(
    ("answer", "expected", "rule", "right"),
    [
        (DECLINED, "DECLINED", None, True),
        ("Declined, sorry.", "DECLINED", None, True),
        ("It was undeclined.", "DECLINED", None, False),
        (APPROVED, "DECLINED", None, False),
        (APPROVED, "DECLINED", "/APPROVED|DECLINED/", False),
        ("DECLINED, not APPROVED", "APPROVED", "/APPROVED|DECLINED/", False),
        (Refund(decision="DECLINED", reason="old"), "declined", "decision", True),
        (Refund(decision="DECLINED", reason="old"), Refund(decision="DECLINED", reason="old"), None, True),
        ('{"decision": "DECLINED", "reason": "old"}', Refund(decision="DECLINED", reason="old"), None, True),
        (Refund(decision="DECLINED", reason="old"), {"decision": "APPROVED", "reason": "old"}, None, False),
        ({"approved": False}, False, "approved", True),
        (3, 3.0, None, True),
    ],
)
def test_the_expected_answer_is_recognised(answer: Any, expected: Any, rule: str | None, right: bool) -> None:
    assert says(answer, expected, parse_change(rule) if rule else None) is right


def test_an_answer_that_json_can_not_hold_is_compared_by_what_it_prints() -> None:
    assert plain_answer({1, 2}) == "{1, 2}"


async def test_an_embedder_compares_texts_that_nothing_better_can_and_is_named() -> None:
    rule = change_rule(original="aaaa", embedder=mock_embedder())

    assert rule.name == "similarity below 0.8 (mock)"
    assert not await compare(rule, "aaaa", "aa")
    assert await compare(rule, "aaaa", "bbbb")
    assert change_rule(original='{"ok": true}', embedder=mock_embedder()).name == 'field "ok" of the output, exact'


async def test_similarity_without_an_embedder_is_refused() -> None:
    with pytest.raises(InvalidComparatorError, match="needs an embedder"):
        parse_change("similarity<0.9")

    rule = parse_change("similarity<0.9", embedder=mock_embedder())
    assert await compare(rule, "ab", "a") is True


@pytest.mark.parametrize("changed", ["decision", "field:text", "order.status", "items[0]", " decision "])
def test_a_field_of_an_answer_that_is_a_text_is_refused(changed: str) -> None:
    with pytest.raises(InvalidComparatorError, match="it names a field, and the answer is a text, which has none"):
        change_rule(changed, original=APPROVED)


@pytest.mark.parametrize(
    "original", [Refund(decision="APPROVED", reason="-"), '{"decision": "APPROVED", "reason": "-"}']
)
@pytest.mark.parametrize("changed", ["verdict", "decision.word", "decision[0]", "field:text"])
def test_a_field_that_the_answer_does_not_have_is_refused_naming_those_it_has(changed: str, original: object) -> None:
    with pytest.raises(InvalidComparatorError, match=r"no such field; its fields are decision, reason\.") as caught:
        change_rule(changed, original=original)

    assert "APPROVED" not in caught.value.problem


def test_a_field_that_only_the_schema_names_may_appear_in_a_re_run() -> None:
    schema: dict[str, Any] = {"properties": {"decision": {}, "note": {}}}

    rule = change_rule("note", original={"decision": "a"}, schema=schema)

    assert rule.name == 'field "note" of the output, exact'


def test_a_field_of_an_element_that_a_list_does_not_have_is_refused() -> None:
    many = {f"field{n}": n for n in range(10)}

    with pytest.raises(InvalidComparatorError, match="field6, field7 and 2 more"):
        change_rule("decision", original=many)
    with pytest.raises(InvalidComparatorError, match="it is a list"):
        change_rule("decision", original=[1])
    with pytest.raises(InvalidComparatorError, match="it has no fields"):
        change_rule("decision", original={})


async def test_a_proof_by_a_field_that_the_answer_does_not_have_spends_nothing() -> None:
    asked: list[LLMRequest] = []

    def model(request: LLMRequest) -> str:
        asked.append(request)
        return APPROVED

    result = await Agent(Mock(model), context=[Fact("vip", "Dana Reyes holds VIP status.")]).run("Refund?")

    with pytest.raises(InvalidComparatorError, match="'decision'"):
        await result.prove(changed="decision")

    assert len(asked) == 1
