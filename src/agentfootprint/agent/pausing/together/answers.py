"""Is there one decision for each question that is open? Refused before anything happens, else in their order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from msgspec import UNSET

from agentfootprint.agent.errors import CheckpointFormatError, OpenQuestionsError
from agentfootprint.agent.pausing.decisions import (
    Decision,
    is_decision,
    pause_demands_decision,
    refuse_stale,
    require_decision,
)
from agentfootprint.agent.pausing.paused import Question
from agentfootprint.agent.pausing.resuming import open_batch
from agentfootprint.agent.pausing.waiting import Waiting
from agentfootprint.trace import FrozenDict, FrozenList, Value, freeze

__all__ = ["accept_decisions", "check_questions", "check_waiting", "sole_decision"]


def accept_decisions(questions: Sequence[Question], given: object) -> tuple[Value, Value]:
    """Take the answers to the questions of one pause.

    Args:
        questions: The questions, in the order of their calls.
        given: A list in that order, or answers by the ids of questions; the id of a call will do where only one open
            question has it. For a single question the bare answer will do.

    Returns:
        What was given, and a decision for each question in their order; both frozen.

    Raises:
        OpenQuestionsError: A question has no answer or two, or an answer has no question.
        DecisionRequiredError: An answer is no decision.
        StaleDecisionError: An answer was chosen on other data than its question showed.
    """
    answers = _in_order(questions, given)
    for question, answer in zip(questions, answers, strict=True):
        gate = pause_demands_decision(question.data)
        assert gate is not None  # noqa: S101  `check_questions` has refused it
        require_decision(gate, answer)
        refuse_stale(question.data, answer)
    plain = [_plain(answer) for answer in answers]
    told: object = given
    if isinstance(given, Mapping) and not is_decision(cast("object", given)):
        told = {key: _plain(each) for key, each in cast("Mapping[str, Any]", given).items()}
    elif isinstance(given, (list, tuple, FrozenList)):
        told = plain
    return freeze(_plain(told)), freeze(plain)


def sole_decision(questions: Sequence[Question], given: object) -> object:
    """The decision about a single question where it was given as those about several are; else what was given.

    Args:
        questions: The question.
        given: A list of one, or an object by its id.
    """
    try:
        answers = _in_order(questions, given)
    except OpenQuestionsError:
        return given
    return answers[0] if is_decision(answers[0]) else given


def _plain(answer: object) -> Any:  # noqa: ANN401  JSON, or what `freeze` refuses
    return answer.to_wire() if isinstance(answer, Decision) else answer


def _in_order(questions: Sequence[Question], given: object) -> list[object]:
    ids = tuple(question.id for question in questions)
    if isinstance(given, (list, tuple, FrozenList)):
        answers = list(cast("Sequence[object]", given))
        if len(answers) != len(ids):
            surplus = tuple(f"answer {place}" for place in range(len(ids), len(answers)))
            raise OpenQuestionsError(len(ids), missing=ids[len(answers) :], unknown=surplus)
        return answers
    if isinstance(given, Mapping) and not is_decision(cast("object", given)):
        return _by_id(questions, cast("Mapping[object, object]", given))
    if len(ids) == 1:
        return [given]
    raise OpenQuestionsError(len(ids), missing=ids)


def _by_id(questions: Sequence[Question], given: Mapping[object, object]) -> list[object]:
    ids = tuple(question.id for question in questions)
    names: dict[object, str] = {}
    for question in questions:
        call_id = question.tool_call_id
        if call_id and sum(other.tool_call_id == call_id for other in questions) == 1:
            names[call_id] = question.id
    names |= {each: each for each in ids}
    found: dict[str, object] = {}
    unknown: list[str] = []
    repeated: list[str] = []
    for key, answer in given.items():
        name = names.get(key)
        if name is None:
            unknown.append(str(key))
        elif name in found:
            repeated.append(name)
        elif answer is not UNSET:
            found[name] = answer
    missing = tuple(each for each in ids if each not in found)
    if missing or unknown or repeated:
        raise OpenQuestionsError(len(ids), missing=missing, unknown=tuple(unknown), repeated=tuple(repeated))
    return [found[each] for each in ids]


def check_questions(waiting: Sequence[Waiting], questions: Sequence[Question], fix: str) -> None:
    """Refuse a checkpoint whose questions are not those that its state waits for.

    Raises:
        CheckpointFormatError: It is one.
    """
    asked = [(each.ordinal, each.call_id, each.gate) for each in waiting if each.gate is not None]
    shown: list[tuple[int, str, str | None]] = []
    for question in questions:
        gate = pause_demands_decision(question.data)
        shown.append((question.index, question.tool_call_id, None if gate is None else gate.kind))
    if asked != shown:
        raise CheckpointFormatError(
            "pauseData", "The checkpoint's 'pauseData' has other questions than its state waits for.", fix=fix
        )


def check_waiting(state: FrozenDict, waiting: Sequence[Waiting], fix: str) -> None:
    """Refuse a checkpoint whose calls are not those that its conversation proposes.

    Raises:
        CheckpointFormatError: It is one.
    """
    history: Any = state["history"]
    first = waiting[0]
    batch = open_batch(history, first.call_id, first.tool_name, first.ordinal)
    calls = () if batch.turn < 0 else history[batch.turn].tool_calls
    for each in waiting:
        call = calls[each.ordinal] if each.ordinal < len(calls) else None
        if call is None or (call.id, call.name) != (each.call_id, each.tool_name):
            raise CheckpointFormatError(
                "sharedState.pausedTogether",
                "The checkpoint's 'sharedState.pausedTogether' names calls that its conversation does not propose.",
                fix=fix,
            )
