"""Which pieces of context reached an answer that several agents had a hand in?

What one agent answered is what the next was asked; so the sources of the earlier answer are sources of the later one,
each by its own way to the call that read it. Which agents those are is read off the state around their mounts.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeAlias

from agentfootprint.explain.model import EdgeHop
from agentfootprint.explain.reading.evidence import Evidence, Source, find_evidence, output_text

if TYPE_CHECKING:
    from agentfootprint.recording import ModelCall, Part, Recording

__all__ = ["evidence_across"]

Texts: TypeAlias = tuple[str, ...]
_ASKED: Final = "userMessage"
_MERGED: Final = "branchResults"


def evidence_across(recording: Recording, call: ModelCall, *, of_the_whole: bool) -> Evidence:
    """Collect what reached a call, also through the agents whose answers it was given.

    Args:
        recording: The run.
        call: The call, by the recording's own view of it.
        of_the_whole: Whether the run's answer is asked about, which agents beside this one may have had a hand in.
    """
    layout = recording.layout
    own = find_evidence(recording.around(call.step), call)
    if layout is None:
        return own
    first = layout.part_at(_index(call.step))
    sources = list(own.sources)
    seen: set[str] = set() if first is None else {first.id}
    waiting: list[tuple[Part, ModelCall, tuple[EdgeHop, ...], Texts, str]] = []

    def reach(parts: tuple[Part, ...], reader: ModelCall, way: tuple[EdgeHop, ...], said: Texts, key: str) -> None:
        waiting.extend((part, reader, way, said, key) for part in parts if part.id not in seen)
        seen.update(part.id for part in parts)

    if first is not None:
        reach(layout.asked_by(first), call, (), (), _ASKED)
    if of_the_whole:
        reach(layout.answering(), call, (), (), _MERGED)
    for part, reader, way, said, key in waiting:  # it grows while it is gone through
        answers = [each for each in recording.part(part).calls if each.finished]
        if not answers:
            continue
        last = answers[-1]
        further = (*way, _hop(reader.step, last.step, key))
        told = (*said, output_text(last))
        found = find_evidence(recording.part(part), last)
        sources += [_from(source, further, told) for source in found.sources]
        reach(layout.asked_by(part), last, further, told, _ASKED)
    return replace(own, sources=tuple(sources))


def _from(source: Source, way: tuple[EdgeHop, ...], said: Texts) -> Source:
    return replace(source, path=(*way, *source.path), ancestors=(*source.ancestors, *said))


def _hop(child: str, parent: str, key: str) -> EdgeHop:
    return EdgeHop(
        from_step=child,
        from_name=child.rpartition("#")[0],
        to_step=parent,
        to_name=parent.rpartition("#")[0],
        kind="data",
        key=key,
    )


def _index(step: str) -> int:
    index = step.rpartition("#")[2]
    return int(index) if index.isdecimal() else -1
