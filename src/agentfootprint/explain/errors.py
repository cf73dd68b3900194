"""What can be refused when a run is explained, and how each refusal is mended.

Every error is an `ExplainError`; its `code` is stable, its facts are attributes, and its message names steps,
sources, tools and amounts only: never a prompt, an argument or a result. Names offered as a way out are at most
three, the nearest first.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence

from agentfootprint.errors import AgentFootprintError

__all__ = [
    "AgentChangedError",
    "DuplicateIdError",
    "ExplainError",
    "InvalidComparatorError",
    "InvalidWeightsError",
    "NoAgentError",
    "NoTriggerError",
    "NotRemovableError",
    "NothingToRemoveError",
    "OverBudgetError",
    "RedactedRecordError",
    "UnknownSourceError",
    "UnknownStepError",
    "UnknownValueError",
    "UnrecordedCallError",
]

_SHOWN = 3
_WHY_NOT_REMOVABLE = {
    "stage": ("it is a step of the run, not a source", "Name a tool, a piece of context or a memory entry."),
    "arg": (
        "it is run input, which the library can't filter",
        "Pass Ablation.arg(STEP, note=...) to a runner that leaves that input out itself.",
    ),
}


def nearest(name: str, known: Iterable[str], *, cutoff: float = 0.6) -> list[str]:
    """The known names that resemble `name`, nearest first, at most three.

    Args:
        name: What was asked for.
        known: What there is.
        cutoff: How alike a name must be to be offered, from 0 (anything) to 1 (the same).
    """
    folded = {other.casefold(): other for other in reversed(list(known))}
    return [folded[hit] for hit in difflib.get_close_matches(name.casefold(), folded, n=_SHOWN, cutoff=cutoff)]


def _listed(names: Sequence[str]) -> str:
    rest = len(names) - _SHOWN
    return ", ".join(names[:_SHOWN]) + (f" and {rest} more" if rest > 0 else "")


class ExplainError(AgentFootprintError, ValueError):
    """Base of everything refused by `agentfootprint.explain`."""

    code = "ERR_EXPLAIN"


class NoTriggerError(ExplainError):
    """No step was named to explain, and the run holds none to start from (06 s.5).

    Args:
        ending: What kept the run from a model call, in words; `None` when that is not known.
    """

    code = "ERR_NO_TRIGGER"

    def __init__(self, ending: str | None = None) -> None:
        if ending is not None:
            super().__init__(f"The run made no model call: {ending}.", fix="Ask about a run that answered.")
            return
        super().__init__(
            "There is no step to explain: none was named, and this run has no model call and no step of low quality.",
            fix="Name one with at=STEP, give a trigger, or use a recording with quality scores.",
        )


class UnknownStepError(ExplainError, LookupError):
    """The step asked about is not in the recording.

    Args:
        step: The id asked for, as `stageId#executionIndex`.
        known: The ids there are, in the order of the run.
        where: The file, as the user typed it, when there is one.
    """

    code = "ERR_UNKNOWN_STEP"

    def __init__(self, step: str, known: Iterable[str], *, where: str | None = None) -> None:
        self.step = step
        self.known = tuple(dict.fromkeys(known))
        self.where = where
        offered = ", ".join(_steps_near(step, self.known))
        use = f"Use one of {offered}." if offered else "The run committed no step."
        show = f" All steps: show {where} --tree." if where else ""
        super().__init__(f"There is no step {step!r} in {where or 'this run'}.", fix=use + show)


def _steps_near(step: str, known: Sequence[str]) -> list[str]:
    """At most three steps, those of the same stage before others, in the order of the run."""
    stage = step.partition("#")[0]
    chosen = [other for other in known if other.partition("#")[0] == stage]
    if len(chosen) > _SHOWN:
        index = step.partition("#")[2]
        wanted = int(index) if index.isdecimal() else 0
        chosen = sorted(chosen, key=lambda other: abs(_execution_index(other) - wanted))[:_SHOWN]
    chosen = chosen or nearest(step, known, cutoff=0.5) or list(known[-_SHOWN:])
    return [other for other in known if other in chosen]


def _execution_index(step: str) -> int:
    index = step.partition("#")[2]
    return int(index) if index.isdecimal() else 0


class UnknownSourceError(ExplainError, LookupError):
    """A source to remove, or to look at, is none of the run's (06:RERUN-2).

    Args:
        source: The id asked for.
        removable: Ids of all sources that can be removed, best ranked first.
    """

    code = "ERR_UNKNOWN_SOURCE"

    def __init__(self, source: str, removable: Iterable[str]) -> None:
        self.source = source
        self.removable = tuple(dict.fromkeys(removable))
        guess = nearest(source, self.removable)
        meant = f"Did you mean {guess[0]}? " if guess else ""
        there = f"Removable: {_listed(self.removable)}." if self.removable else "This run has no removable source."
        super().__init__(f"There is no source {source!r}.", fix=meant + there)


class NotRemovableError(ExplainError):
    """The named thing is part of the path but nothing a re-run can leave out (06:RERUN-2).

    Args:
        source: Its id.
        kind: `stage`, `arg`, or the kind of a source whose identity was not recorded.
    """

    code = "ERR_NOT_REMOVABLE"

    def __init__(self, source: str, kind: str) -> None:
        self.source = source
        self.kind = kind
        why, fix = _WHY_NOT_REMOVABLE.get(
            kind, (f"this {kind} was recorded without an identity", "Pass the Ablation itself instead of an id.")
        )
        super().__init__(f"{source!r} can't be removed: {why}.", fix=fix)


class NothingToRemoveError(ExplainError):
    """A re-run without sources was asked for, and no source was named."""

    code = "ERR_NOTHING_TO_REMOVE"

    def __init__(self, removable: Iterable[str] = ()) -> None:
        self.removable = tuple(dict.fromkeys(removable))
        named = f" Removable: {_listed(self.removable)}." if self.removable else ""
        super().__init__("A re-run without sources needs at least one to leave out.", fix=f"Name one.{named}")


class NoAgentError(ExplainError):
    """A proof was asked for and nothing can be re-run.

    Args:
        asked_by: What needs the agent, as the user typed it.
        fix: What to do about it; by default, in Python.
    """

    code = "ERR_NO_AGENT"

    def __init__(self, *, asked_by: str = "prove", fix: str = "Pass agent=AGENT, the agent that made the run.") -> None:
        self.asked_by = asked_by
        super().__init__(f"{asked_by} needs the agent, a recording can't be re-run.", fix=fix)


class RedactedRecordError(ExplainError):
    """A re-run needs something that a policy kept out of the recording (NEW-105).

    Args:
        missing: What it needs, never the value.
        asked_by: What needs it, as the user typed it.
    """

    code = "ERR_REDACTED_RECORD"

    def __init__(self, missing: str, *, asked_by: str) -> None:
        self.missing = missing
        super().__init__(
            f"{asked_by} needs {missing}, which a policy kept out of the recording.",
            fix="Run it again without that name in RecordOptions(redaction=...), and use the recording of that run.",
        )


class AgentChangedError(ExplainError):
    """The agent given is not the one that made the recording.

    Args:
        difference: What differs, in one clause ("its tool lookup_order is gone"): names and counts, no contents.
        option: How the caller allows it.
    """

    code = "ERR_AGENT_CHANGED"

    def __init__(self, difference: str, *, option: str = "ProveOptions(allow_changed=True)") -> None:
        self.difference = difference
        super().__init__(
            f"The agent differs from the recorded one: {difference}.",
            fix=f"Check out the version that made the run, or add {option}; "
            "the verdict then says that it is about the changed agent.",
        )


class UnrecordedCallError(ExplainError):
    """A re-run asked for a tool call that the recording has no result for (06:ABL-4).

    Args:
        tool: The tool's name; its arguments are never named.
        option: How the caller lets such a call be answered with a stub.
    """

    code = "ERR_UNRECORDED_CALL"

    def __init__(self, tool: str, *, option: str = 'tools="stub"') -> None:
        self.tool = tool
        super().__init__(
            f"A re-run asked for {tool}, which has no recorded result.",
            fix=f"It changes things, so it was not called. Pass {option}, or record a run that calls it. "
            "The pair counts as inconclusive.",
        )


class OverBudgetError(ExplainError):
    """What was planned may cost more than what was allowed; nothing was spent.

    Args:
        usd: What the plan may cost at most, in US dollars.
        limit: What was allowed, in US dollars.
        option: The option that sets the limit.
        fewer: How to prove fewer sources, as something to paste.
    """

    code = "ERR_OVER_BUDGET"

    def __init__(self, usd: float, limit: float, *, option: str = "usd", fewer: str = "of=[SOURCE]") -> None:
        self.usd = usd
        self.limit = limit
        super().__init__(
            f"The plan may cost ${usd:,.2f}; the limit is ${limit:,.2f}.",
            fix=f"Raise {option}, or prove fewer sources: {fewer}.",
        )


class DuplicateIdError(ExplainError):
    """Two pieces of evidence have one id, so that a score could not say which it is about (06:INF-6)."""

    code = "ERR_DUPLICATE_ID"

    def __init__(self, id: str, function: str) -> None:
        self.id = id
        super().__init__(f"{function} got the id {id!r} twice.", fix="Give every piece of evidence an id of its own.")


class InvalidWeightsError(ExplainError):
    """A weight is negative or not finite, or all are zero (06:INF-5)."""

    code = "ERR_INVALID_WEIGHTS"

    def __init__(self, problem: str, function: str) -> None:
        super().__init__(
            f"{function} got weights it can't use: {problem}.",
            fix="Give fa, avg, persist and depth finite values of 0 or more, not all 0.",
        )


class InvalidComparatorError(ExplainError):
    """The text that says what counts as changed can't be read."""

    code = "ERR_INVALID_COMPARATOR"

    def __init__(self, text: str, problem: str) -> None:
        self.text = text
        super().__init__(
            f"{text!r} doesn't say what counts as changed: {problem}.",
            fix="Write a field (decision), a pattern (/APPROVED|DECLINED/), text, output, or words<0.8.",
        )


class UnknownValueError(ExplainError):
    """The value of a claim was read although it is not known; `evidence` says what is known instead."""

    code = "ERR_UNKNOWN_VALUE"

    def __init__(self, said: str) -> None:
        super().__init__(f"This claim has no value: {said}.", fix="Ask is_known first, or use value_or(fallback).")
