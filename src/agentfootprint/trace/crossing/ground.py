"""What did a step really see when it read a key, wherever in the run that was written?

The ground of a backward walk over all runtimes of a run (24.1). A read is looked up in the namespace of its branch,
then at the root, then at the places above and below the key; a key that a mount was seeded with is followed into the
parent, a key that a mount gave back is followed into the mount. Every crossing is a link of kind `map`. A boundary
that can't be crossed leaves a note.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from agentfootprint.trace.bundle import CommitBundle, as_list, dig, payload_of
from agentfootprint.trace.crossing.runtimes import MappedOut, Runtimes
from agentfootprint.trace.ids import PATH_DELIMITER
from agentfootprint.trace.log import LogIndex
from agentfootprint.trace.questions.ground import Link
from agentfootprint.trace.questions.notes import Note, NoteCode
from agentfootprint.trace.values import ABSENT

__all__ = ["PLACE", "CrossingGround"]

_RUNS: Final = "runs"
_IN_RUNS: Final = f"runs{PATH_DELIMITER}"
_BITS: Final = 40
"""A position is the runtime's number above so many bits of the place in its log."""
PLACE: Final = (1 << _BITS) - 1
"""The bits of a position that are the place in the log."""


class CrossingGround:
    """All runtimes of a run as one ground.

    Args:
        runtimes: The runtimes, which may grow.
    """

    repeats: ClassVar[bool] = True

    def __init__(self, runtimes: Runtimes) -> None:
        self._runtimes = runtimes
        self._notes: dict[tuple[str, str, str], Note] = {}

    @property
    def notes(self) -> tuple[Note, ...]:
        """What the walk so far could not follow, or not exactly."""
        return tuple(self._notes.values())

    @staticmethod
    def position(number: int, place: int) -> int:
        """The position of a bundle, by runtime and place in its log."""
        return number << _BITS | place

    def bundle(self, position: int) -> CommitBundle:
        """The bundle at a position."""
        return self._runtimes.every[position >> _BITS].log[position & PLACE]

    def last_position(self, runtime_stage_id: str) -> int | None:
        """The bundle of a step's own commit: that is where its reads took place."""
        number = self._runtimes.number_of.get(runtime_stage_id)
        if number is None:
            return None
        place = self._runtimes.own.get(runtime_stage_id)
        if place is None:
            place = self._runtimes.every[number].log.last_position(runtime_stage_id)
        return None if place is None else self.position(number, place)

    def last_write(self, number: int, path: str, before: int) -> list[Link]:
        """The writes that make up the value of a key in one runtime, the whole one first."""
        found = self._resolve(number, path, before, "", path)
        if found:
            return found
        log = self._runtimes.every[number].log
        in_branch = [each for each in log.paths if each.startswith(_IN_RUNS) and _in_namespace(each) == path]
        return [self._link(number, place, at, path) for each in in_branch for place, at in _writers(log, each, before)]

    def behind(self, key: str, position: int) -> Sequence[Link]:
        """The writes that a step saw when it read a key."""
        number, before, namespace = self._seen_by(position)
        return self._resolve(number, key, before, namespace, key)

    def handed(self, position: int) -> Sequence[Link]:
        """The input of the mount that a step stands in, when the step used it without reading a key."""
        number = position >> _BITS
        if number == 0 or "args" not in self.bundle(position).untracked_sources:
            return ()
        runtime = self._runtimes.every[number]
        if not len(runtime.log) or runtime.log[0].runtime_stage_id:
            return ()
        seeded = dict.fromkeys(entry.path.partition(PATH_DELIMITER)[0] for entry in runtime.log[0].trace)
        return [link for key in seeded for link in self._inward(number, key, key)]

    def inside(self, position: int, path: str) -> Sequence[Link] | None:
        """Where what a mount gave back at a path came from."""
        every = self._runtimes.mapped.get((position >> _BITS, position & PLACE))
        if every is None:
            return None
        root = path.partition(PATH_DELIMITER)[0]
        number, place = position >> _BITS, position & PLACE
        links: list[Link] = []
        for mapped in every:
            links.extend(self._outward(mapped, root))
        for key in dict.fromkeys(key for mapped in every for key in mapped.outer_reads):
            links.extend(self._resolve(number, key, place, "", key))
        if any(mapped.adds for mapped in every) and self._is_list(position, path):
            links.extend(self._resolve(number, path, place, "", path))
        return links

    def _seen_by(self, position: int) -> tuple[int, int, str]:
        """The runtime of a step, how many of its commits the step saw, and the namespace it looks in first."""
        runtimes, number = self._runtimes, position >> _BITS
        step = self.bundle(position).runtime_stage_id
        place = position & PLACE
        seen = runtimes.began.get(step, place) if runtimes.own.get(step, place) == place else place
        return number, seen, runtimes.namespaces.get(step, "")

    def _is_list(self, position: int, path: str) -> bool:
        bundle = self.bundle(position)
        return any(entry.path == path and as_list(payload_of(bundle, entry)) is not None for entry in bundle.trace)

    # one runtime

    def _resolve(self, number: int, path: str, before: int, namespace: str, asked: str) -> list[Link]:
        runtime = self._runtimes.every[number]
        if namespace:
            own = PATH_DELIMITER.join((_RUNS, namespace, path))
            found = [self._link(number, place, at, asked) for place, at in _writers(runtime.log, own, before)]
            if found:
                return found
        links: list[Link] = []
        for place, at in _writers(runtime.log, path, before):
            if runtime.log[place].runtime_stage_id:
                links.append(self._link(number, place, at, asked))
            else:
                links.extend(self._inward(number, path, asked))
        if links:
            return links
        if runtime.continues >= 0:
            earlier = self._runtimes.every[runtime.continues]
            return self._resolve(runtime.continues, path, len(earlier.log), "", asked)
        if path.partition(PATH_DELIMITER)[0] in runtime.restored:
            self._note(
                "boundary-not-recorded",
                runtime.step,
                path,
                f"'{_shown(path)}' in {runtime.step or 'the run'} was restored from a checkpoint — "
                "who wrote it is in the log of the run that paused.",
            )
        return []

    def _link(self, number: int, place: int, at: str, asked: str) -> Link:
        position = self.position(number, place)
        return Link(position, at, asked) if at == asked else Link(position, at, asked, "map", _shown(at))

    # between runtimes

    def _inward(self, number: int, path: str, asked: str) -> list[Link]:
        """What a seeded key was made from, in the parent."""
        runtime = self._runtimes.every[number]
        root = path.partition(PATH_DELIMITER)[0]
        sources = runtime.seeded(root)
        if sources.basis == "unknown":
            self._note(
                "boundary-not-recorded",
                runtime.step,
                root,
                f"'{root}' came into {runtime.step} through an input map that is not on record — "
                "its causes outside are unknown here, NOT absent.",
            )
            return []
        if sources.basis == "inferred":
            self._inferred(runtime.step, root, sources.keys, "came into")
        links: list[Link] = []
        for source in sources.keys:
            for link in self._resolve(runtime.above, source, runtime.began, runtime.namespace, source):
                through = (runtime.step, *link.through)
                links.append(Link(link.position, link.path, asked, "map", link.source or source, through))
        return links

    def _outward(self, mapped: MappedOut, root: str) -> list[Link]:
        """What a key that a mount gave back was made from, in the mount."""
        inner = self._runtimes.every[mapped.inner]
        sources = mapped.sources(root)
        if sources.basis == "unknown" or not len(inner.log):
            what = "an output map that is not on record" if len(inner.log) else "a mount whose log was not kept"
            self._note(
                "boundary-not-recorded",
                inner.step,
                root,
                f"'{root}' came out of {inner.step} through {what} — its causes inside are unknown here, NOT absent.",
            )
            return []
        if sources.basis == "returned":
            return self._returned(mapped.inner, root)
        if sources.basis == "inferred":
            self._inferred(inner.step, root, sources.keys, "came out of")
        links: list[Link] = []
        for source in sources.keys:
            for link in self._resolve(mapped.inner, source, len(inner.log), "", source):
                through = (inner.step, *link.through)
                links.append(Link(link.position, link.path, root, "map", link.source or source, through))
        return links

    def _returned(self, number: int, root: str) -> list[Link]:
        """The step whose return value a mount gave back."""
        inner = self._runtimes.every[number]
        step = self._runtimes.last_step(number)
        position = None if step is None else self.last_position(step)
        return [] if position is None else [Link(position, "", root, "map", None, (inner.step,))]

    def _inferred(self, step: str, root: str, keys: Sequence[str], how: str) -> None:
        told = ", ".join(f"'{key}'" for key in keys)
        self._note(
            "boundary-inferred",
            step,
            root,
            f"'{root}' {how} {step} by a map that is not on record; {told} held the same value and is taken for its "
            "source.",
        )

    def _note(self, code: NoteCode, step: str, key: str, detail: str) -> None:
        self._notes.setdefault((code, step, key), Note(code, detail))


def _writers(log: LogIndex, path: str, before: int) -> Iterator[tuple[int, str]]:
    """Who made the value at a path what it was: the last write of the whole, then later writes of places in it."""
    found = log.last_write_before(path, before)
    if log.is_flat(path):
        if found is not None:
            yield found, path
        return
    whole, best = (-1 if found is None else found), path
    related = log.related(path)
    for above in related:
        if len(above) >= len(path):
            break
        place = _last_covering(log, above, path, before, whole)
        if place > whole:
            whole, best = place, above
    if whole >= 0:
        yield whole, best
    yield from _writers_below(log, [each for each in related if len(each) > len(path)], before, whole)


def _writers_below(log: LogIndex, paths: Sequence[str], before: int, after: int) -> Iterator[tuple[int, str]]:
    """The last writes of places in a value since it was written as a whole."""
    for path in paths:
        place = log.last_write_before(path, before)
        if place is not None and place > after:
            yield place, path


def _last_covering(log: LogIndex, above: str, path: str, before: int, after: int) -> int:
    """The last write of a place above that also made the place itself; -1 when there is none later than `after`."""
    rest = path[len(above) + 1 :].split(PATH_DELIMITER)
    while True:
        place = log.last_write_before(above, before)
        if place is None or place <= after:
            return -1
        bundle = log[place]
        for entry in reversed(bundle.trace):
            covers = entry.verb != "merge" or dig(payload_of(bundle, entry), rest) is not ABSENT
            if entry.path == above and covers:
                return place
        before = place


def _in_namespace(path: str) -> str:
    """A path below `runs`, as the stages of the branch name it."""
    return path.split(PATH_DELIMITER, 2)[-1]


def _shown(path: str) -> str:
    return path.replace(PATH_DELIMITER, ".")
