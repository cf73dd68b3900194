"""Whether a chart is the one that was paused: a digest of its stages and of the ways between them.

The same in every process, and it tells which stages differ. Names, descriptions and functions don't count: only what
a run's place in the chart depends on.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec

from agentfootprint.flow.again.reading import Members, malformed, object_at, text_at
from agentfootprint.flow.errors import ResumeError
from agentfootprint.trace import StageInfo

__all__ = ["Fingerprint", "chart_changed", "encoded_stage", "fingerprint_from_wire", "fingerprint_of"]

_LENGTH: Final = 32
"""Hexadecimal digits of the digest of a chart."""
_SHORT: Final = 16
"""Those of a stage: it is only compared with the stage of the same id."""
_SHOWN: Final = 8


class Fingerprint(msgspec.Struct, frozen=True, gc=False):
    """A chart in a few bytes a stage."""

    digest: str
    stages: Mapping[str, str]
    """Digest of each stage, by full id."""

    def to_wire(self) -> dict[str, Any]:
        """The fingerprint as plain JSON."""
        return {"digest": self.digest, "stages": dict(self.stages)}


def encoded_stage(info: StageInfo, ids: Sequence[str]) -> str:
    """What counts of a stage, as text from which it can be read back, so that no two stages share it.

    Args:
        info: The stage.
        ids: Full ids of all stages, by number.
    """

    def at(number: int) -> str | None:
        return None if number < 0 else ids[number]

    facts = [
        info.id,
        info.kind,
        info.branch_id,
        info.namespace,
        at(info.mount),
        at(info.branch_of),
        at(info.next),
        at(info.loop_to),
        at(info.entry),
        [at(number) for number in info.children],
    ]
    return json.dumps(facts, ensure_ascii=True, separators=(",", ":"))


def fingerprint_of(stages: Sequence[StageInfo]) -> Fingerprint:
    """The fingerprint of a chart, from its stages by number; O(stages)."""
    ids = [info.id for info in stages]
    encoded = {info.id: encoded_stage(info, ids) for info in stages}
    whole = json.dumps(sorted(encoded.values()), separators=(",", ":"))
    return Fingerprint(
        _digest(whole)[:_LENGTH], {name: _digest(text)[:_SHORT] for name, text in sorted(encoded.items())}
    )


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def fingerprint_from_wire(wire: Members, key: str) -> Fingerprint | None:
    """Read a fingerprint; None when there is none.

    Raises:
        CheckpointError: It has the wrong shape.
    """
    if wire.get(key) is None:
        return None
    found = object_at(wire, key)
    digest = text_at(found, "digest", f"{key}.")
    if digest is None:
        raise malformed(f"{key}.digest", "a text that is not empty")
    stages = object_at(found, "stages", f"{key}.")
    if not all(isinstance(text, str) for text in stages.values()):
        raise malformed(f"{key}.stages", "an object of texts")
    return Fingerprint(digest, {name: stages[name] for name in stages})


def chart_changed(paused: Fingerprint, chart: Fingerprint, title: str) -> ResumeError | None:
    """The refusal of a chart that is not the paused one, with the stages that make the difference."""
    if paused == chart:
        return None
    added = [name for name in chart.stages if name not in paused.stages]
    removed = [name for name in paused.stages if name not in chart.stages]
    changed = [name for name, digest in chart.stages.items() if paused.stages.get(name, digest) != digest]
    told = [
        f"{what}: {', '.join(map(repr, ids[:_SHOWN]))}{f' and {len(ids) - _SHOWN} more' if ids[_SHOWN:] else ''}"
        for what, ids in (("added", added), ("removed", removed), ("changed", changed))
        if ids
    ]
    return ResumeError(
        f"The chart {title!r} is not the one that paused ({'; '.join(told) or 'the digest differs'}).",
        fix="Resume with the chart as it was; or take `chartFingerprint` out of the checkpoint to go on regardless.",
        added=added,
        removed=removed,
        changed=changed,
    )
