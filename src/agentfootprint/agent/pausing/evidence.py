"""What is an approver shown beside a call: what it will do, what the agent has read, what speaks for it, what it did?

Worked out from the messages alone, without a model, and only when somebody is asked (02 s.13.2).
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, TypeAlias

from agentfootprint.errors import ConfigError
from agentfootprint.llm import LLMMessage
from agentfootprint.security import SYNTHETIC_DENY_PREFIX
from agentfootprint.trace import FrozenDict, JsonObject, Value, compact_json, freeze, truncate_utf16

__all__ = [
    "DECLINED_PREFIX",
    "CheckInOptions",
    "EvidenceInput",
    "Unit",
    "evidence_of",
    "lexical_scores",
    "minimal_evidence",
]

DECLINED_PREFIX: Final = "declined by human"
"""What the result of a declined call begins with: a constant of the protocol (AGT-80)."""

_FAILED_PREFIXES: Final = (SYNTHETIC_DENY_PREFIX, DECLINED_PREFIX, "credential error", "authorization required")
_ARG_LENGTH: Final = 60
_SUMMARY_LENGTH: Final = 160
_WORD: Final = re.compile(r"[a-z0-9]+")
_STOP: Final = frozenset(
    "the a an and or to of in on for with is are this that it as at by be you your i".split()  # noqa: SIM905  a list of words
)
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")


class Unit(NamedTuple):
    """One thing the agent has read."""

    id: str
    channel: Literal["system", "task", "result"]
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceInput:
    """What evidence is made from."""

    tool_name: str
    description: str
    args: FrozenDict
    iteration: int
    history: Sequence[LLMMessage]
    """The window, with the system prompt as a message in front."""
    failed: frozenset[int] = frozenset()
    """Places of results in `history` that are known to be errors."""


Scorer: TypeAlias = Callable[[str, Sequence[str]], Sequence[float]]
"""How much each of some texts has to do with another one."""


Assembler: TypeAlias = "Callable[[EvidenceInput], JsonObject | Awaitable[JsonObject]]"
"""What else an approver may be shown, put together by the application."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckInOptions:
    """What a person is shown who must approve a call.

    Args:
        evidence: `"standard"`: what the call will do, what the agent has read, what of it has most to do with the
            call, and what ran before. `"minimal"`: only what the call will do. Or a function that puts it together.
        scorer: What has how much to do with the call; without one, by shared words.

    Raises:
        ConfigError: There is nothing for the scorer to do, or `evidence` is something else.
    """

    evidence: Literal["standard", "minimal"] | Assembler = "standard"
    scorer: Scorer | None = None

    def __post_init__(self) -> None:
        """Refuse what decides nothing."""
        if not callable(self.evidence) and self.evidence not in ("standard", "minimal"):
            raise ConfigError(
                "gates.check_in",
                f"The evidence of a check-in is {self.evidence!r}.",
                fix='Use "standard", "minimal", or a function that puts it together.',
            )
        if self.evidence == "minimal" and self.scorer is not None:
            raise ConfigError(
                "gates.check_in", "Minimal evidence ranks nothing, so its scorer is never asked.", fix="Leave one out."
            )

    async def collect(self, given: EvidenceInput) -> FrozenDict:
        """The pack for one call.

        Raises:
            ValueRefusedError: What the function put together can't be recorded.
        """
        if not callable(self.evidence):
            return evidence_of(given, self.scorer) if self.evidence == "standard" else minimal_evidence(given)
        made = self.evidence(given)
        pack = freeze(await made if inspect.isawaitable(made) else made)
        if not isinstance(pack, FrozenDict):
            raise ConfigError(
                "gates.check_in", f"The evidence of a check-in is a {type(pack).__name__}.", fix="Return an object."
            )
        return pack


def evidence_of(given: EvidenceInput, scorer: Scorer | None = None) -> FrozenDict:
    """The standard pack: `willDo`, `read`, `drivers`, `trail`."""
    units = _units(given.history)
    target = f"{given.tool_name} {given.description} {compact_json(given.args)}"
    scores = (scorer or lexical_scores)(target, [unit.text for unit in units]) if units else ()
    ranked = sorted(zip(units, scores, strict=True), key=lambda pair: -pair[1])
    pack: dict[str, Any] = {
        "willDo": _will_do(given),
        "read": [{"channel": unit.channel, "summary": truncate_utf16(unit.text, _SUMMARY_LENGTH)} for unit in units],
        "drivers": [
            {"id": unit.id, "channel": unit.channel, "text": unit.text, "score": score} for unit, score in ranked
        ],
        "trail": _trail(given),
    }
    return freeze(pack)


def minimal_evidence(given: EvidenceInput) -> FrozenDict:
    """What the call will do, and nothing else."""
    return FrozenDict({"willDo": _will_do(given)})


def lexical_scores(target: str, texts: Sequence[str]) -> list[float]:
    """Shared words over all words, for each text; 0 where neither has any."""
    wanted = _words(target)
    scores: list[float] = []
    for text in texts:
        words = _words(text)
        union = len(wanted | words)
        score = len(wanted & words) / union if union else 0
        scores.append(score or 0)
    return scores


def _words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if len(word) > 1 and word not in _STOP}


def _will_do(given: EvidenceInput) -> str:
    what = given.description if given.description.strip() else given.tool_name
    if not len(given.args):
        return what
    return f"{what} \N{EM DASH} with " + ", ".join(f"{key}={_shown(value)}" for key, value in given.args.items())


def _shown(value: Value) -> str:
    return truncate_utf16(" ".join(value.split()), _ARG_LENGTH) if isinstance(value, str) else compact_json(value)


def _units(history: Sequence[LLMMessage]) -> list[Unit]:
    units: list[Unit] = []
    counts = {"system": 0, "task": 0, "result": 0}

    def add(channel: Literal["system", "task", "result"], text: str) -> None:
        text = text.strip()
        if text:
            counts[channel] += 1
            units.append(Unit(f"{channel}-{counts[channel]}", channel, text))

    for message in history:
        if message.role == "system":
            for piece in _SENTENCE_END.split(message.content):
                add("system", piece)
        elif message.role == "user":
            add("task", message.content)
        elif message.role == "tool" and message.content.strip() and message.not_dispatched is None:
            name = message.tool_name
            add("result", f"{name}: {message.content}" if name else message.content)
    return units


def _trail(given: EvidenceInput) -> Mapping[str, Any]:
    calls = [
        {"name": message.tool_name, "ok": place not in given.failed and _went_well(message.content)}
        for place, message in enumerate(given.history)
        if message.role == "tool" and message.tool_name and message.not_dispatched is None
    ]
    count, iteration = len(calls), given.iteration
    if not count:
        summary = f"no tools run yet (iteration {iteration})"
    else:
        tools = "1 tool" if count == 1 else f"{count} tools"
        summary = f"{tools} run over {iteration} iteration{'' if iteration == 1 else 's'}"
    return {"iteration": iteration, "toolCalls": calls, "summary": summary}


def _went_well(content: str) -> bool:
    return not content.lower().startswith(_FAILED_PREFIXES)
