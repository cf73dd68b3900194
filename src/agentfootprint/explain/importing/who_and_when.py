"""The failure logs of the Who&When collection: one run of several agents a file, and what people noted about it.

A file is `{question, history: [{content, role, name?}], mistake_agent, mistake_step, ...}`. The speaker is `name`, or
else `role` up to a parenthesis, which says how the message was meant ("Orchestrator (thought)"). `mistake_step` counts
from 0, turns from 1.

The answer under question: the last message that an agent says for everybody and that is more than a word of
termination. Where that message ends with a line `FINAL ANSWER:`, which the program around the agents prints into the
log, the answer is what follows there; nobody signed it, so it stands apart from the message.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, NamedTuple, cast

from agentfootprint.explain.importing.conversation import Conversation, Speaker, Turn
from agentfootprint.explain.importing.errors import BrokenTraceError

__all__ = ["LOOKED_FOR", "NAME", "how_known", "read"]

NAME: Final = "Who&When failure log"
LOOKED_FOR: Final = (
    'a Who&When log, an object with "history" (a list of messages with "content") and one of "question", '
    '"mistake_step", "mistake_agent"'
)
_MARKS: Final = ("mistake_step", "mistake_agent", "question")
_ANNOTATION: Final = (
    "ground_truth",
    "is_correct",
    "is_corrected",
    "level",
    "mistake_agent",
    "mistake_step",
    "mistake_reason",
    "mistake_type",
    "question_ID",
)
_PEOPLE: Final = frozenset({"human", "user"})
_PROGRAMS: Final = frozenset({"computerterminal"})
_TERMINATION: Final = re.compile(r"[\W_]*terminate[\W_]*", re.IGNORECASE)
_FINAL: Final = re.compile(r"^FINAL ANSWER:", re.MULTILINE)
_SIGN_OFF: Final = re.compile(r"(?:\n[^\n]*!#!#[ \t]*)+\s*\Z")
"""Lines by which the program around the agents says that it has ended."""
_SHAPE: Final = 'A message is {"content": "...", "role": "...", "name": "..."}; name may be left out.'


class _Said(NamedTuple):
    """One message with what its role adds."""

    turn: Turn
    aside: str
    """The parenthesis of the role; empty when the message is for everybody."""


def how_known(document: Mapping[str, Any]) -> str | None:
    """By what a document shows that it is such a log; `None` when it does not."""
    mark = next((key for key in _MARKS if key in document), None)
    return f"history[].content and {mark}" if mark and "history" in document else None


def read(document: Mapping[str, Any], where: str) -> Conversation:
    """Read a document that `how_known` recognised.

    Args:
        document: The decoded file.
        where: The file's name, for refusals.

    Raises:
        BrokenTraceError: A part is missing or of another kind; the message is named by its index.
    """
    said = _history(document.get("history"), where)
    question = document.get("question")
    if question is not None and not isinstance(question, str):
        raise BrokenTraceError(where, "question", "is no text", fix="Give the task as a text, or leave it out.")
    first = said[0].turn
    asked_by_turn = first.speaker == "person" and (question is None or _plain(question) in _plain(first.text))
    if question is None and asked_by_turn:
        question = first.text
    ending = _ending(said, where)
    return Conversation(
        question=question,
        turns=ending.turns,
        asked_by_turn=asked_by_turn,
        answered_by=ending.answered_by,
        answer=ending.answer,
        signed_off=ending.signed_off,
        system_prompts=_system_prompts(document.get("system_prompt"), where),
        annotation={key: document[key] for key in _ANNOTATION if key in document},
        notes=ending.notes,
    )


def _plain(text: str) -> str:
    return " ".join(text.split())


def _history(found: object, where: str) -> list[_Said]:
    if not isinstance(found, list):
        raise BrokenTraceError(where, "history", "is no list", fix="Give the messages as a list, oldest first.")
    entries = cast("list[object]", found)
    if not entries:
        raise BrokenTraceError(where, "history", "is empty", fix="Give the messages of the run, oldest first.")
    return [_said(entry, index, where) for index, entry in enumerate(entries)]


def _said(found: object, index: int, where: str) -> _Said:
    part = f"history[{index}]"
    if not isinstance(found, dict):
        raise BrokenTraceError(where, part, "is no object", fix=_SHAPE, index=index)
    entry = cast("dict[str, object]", found)
    text = entry.get("content")
    if not isinstance(text, str):
        problem = 'has a "content" that is no text' if "content" in entry else 'has no "content"'
        raise BrokenTraceError(where, part, problem, fix=_SHAPE, index=index)
    name, aside = _name_of(entry)
    if not name:
        raise BrokenTraceError(where, part, 'says in neither "name" nor "role" who spoke', fix=_SHAPE, index=index)
    return _Said(Turn(name, text, _kind_of(name)), aside)


def _name_of(entry: Mapping[str, object]) -> tuple[str, str]:
    """Who spoke, and the parenthesis of a role."""
    name = entry.get("name")
    if isinstance(name, str) and name.strip():
        return name.strip(), ""
    role = entry.get("role")
    if not isinstance(role, str):
        return "", ""
    agent, bracket, aside = role.partition("(")
    return (agent.strip(), aside.rstrip(" )")) if bracket and agent.strip() else (role.strip(), "")


def _kind_of(name: str) -> Speaker:
    if name.casefold() in _PEOPLE:
        return "person"
    return "program" if re.sub(r"[\W_]", "", name).casefold() in _PROGRAMS else "agent"


class _Ending(NamedTuple):
    """The turns, and what of them is the answer."""

    turns: tuple[Turn, ...]
    answered_by: int | None
    answer: str
    signed_off: str = ""
    notes: tuple[str, ...] = ()


def _ending(said: list[_Said], where: str) -> _Ending:
    turns = tuple(each.turn for each in said)
    last = next((index for index in range(len(turns) - 1, 0, -1) if _says_something(turns[index])), 0)
    final = _FINAL.search(turns[last].text) if last else None
    if final is None or not (answer := _SIGN_OFF.sub("", turns[last].text[final.end() :]).strip()):
        answered_by = _answering(said, where)
        return _Ending(turns, answered_by, turns[answered_by].text)
    before = turns[last].text[: final.start()]
    if not before.strip():
        return _Ending(turns, last, answer)
    kept = Turn(turns[last].agent, before, turns[last].speaker)
    note = f'the answer is what follows "FINAL ANSWER:" in history[{last}]; who wrote it is not recorded'
    signed_off = turns[last].text[final.start() :]
    return _Ending((*turns[:last], kept, *turns[last + 1 :]), None, answer, signed_off, (note,))


def _says_something(turn: Turn) -> bool:
    return bool(turn.text.strip()) and not _TERMINATION.fullmatch(turn.text)


def _answering(said: list[_Said], where: str) -> int:
    """The last message that an agent says for everybody; the last of any agent when there is none."""
    able = [i for i, each in enumerate(said) if each.turn.speaker == "agent" and _says_something(each.turn)]
    if not able:
        raise BrokenTraceError(
            where, "history", "holds no message of an agent", fix="Give a log in which an agent says something."
        )
    return next((index for index in reversed(able) if not said[index].aside), able[-1])


def _system_prompts(found: object, where: str) -> dict[str, str]:
    if found is None:
        return {}
    prompts = cast("dict[str, object]", found) if isinstance(found, dict) else None
    if prompts is None or not all(isinstance(text, str) for text in prompts.values()):
        raise BrokenTraceError(
            where, "system_prompt", "is no object of texts", fix="Give one text an agent, or leave it out."
        )
    return cast("dict[str, str]", prompts)
