"""What happened in one run, as one object: taken from the run itself, or read from a file of either form.

A recording of a run shares everything with it and costs nothing to make; what is asked of it is worked out then. All
readers answer alike wherever the recording is from (01b LIN-25, LIN-36).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, cast

from agentfootprint.errors import ConfigError
from agentfootprint.events import ContextEvaluated, Event, RunFacts, TurnEnd, TurnStart
from agentfootprint.recording.deep import encode_deep
from agentfootprint.recording.feed import EventFeed, Form
from agentfootprint.recording.files import Found, check_wire, read_bytes, read_file
from agentfootprint.recording.partial import PartSource
from agentfootprint.recording.questions.calls import ModelCall, call_marks
from agentfootprint.recording.questions.parts import Layout, Part, layout_of
from agentfootprint.recording.questions.uses import Evaluation, Flavors, ToolUse, tool_uses_of
from agentfootprint.recording.sources import JournalSource, NativeSource, RowSource, Source, WireSource
from agentfootprint.recording.writing import write_file
from agentfootprint.trace import (
    ABSENT,
    Journal,
    JsonObject,
    LogIndex,
    Record,
    Value,
    as_list,
    as_object,
    freeze,
    thaw,
)

__all__ = ["Recording"]


class Recording:
    """Everything that happened, in this run or read from a file.

    Get one from `result.recording` or `Recording.load`. It is immutable, apart from growing while its run goes on;
    it keeps no agent alive. Reading is safe from any thread once the run has ended.
    """

    __slots__ = ("_calls", "_layout", "_parts", "_source", "_uses")

    def __init__(self, source: Source) -> None:
        self._source = source
        self._calls: tuple[int, tuple[ModelCall, ...]] = (-1, ())
        self._uses: tuple[int, tuple[ToolUse, ...]] = (-1, ())
        self._layout: tuple[int, Layout | None] = (-1, None)
        self._parts: dict[int, Recording] = {}

    # where it comes from and goes to

    @classmethod
    def of_run(
        cls,
        journal: Journal,
        *,
        facts: RunFacts,
        header: JsonObject | Callable[[], JsonObject] | None = None,
        structure: JsonObject | Callable[[], JsonObject] | None = None,
        ended: str | None = None,
    ) -> Recording:
        """The recording of a run in this process; O(1).

        Args:
            journal: The run's rows; they may still grow.
            facts: What is the same for all its events.
            header: What it says about the agent and itself: `{"agent": {...}, "flags": [...]}`, or what makes that when
                it is asked for.
            structure: The chart in wire form, or what makes it when it is asked for.
            ended: How it ended, if it has: `done`, `failed`, `paused`; else say so with `finish`.
        """
        source = JournalSource(journal, facts, {} if header is None else header, structure)
        source.ended = ended
        return cls(source)

    @classmethod
    def from_wire(cls, wire: JsonObject, *, name: str = "The object") -> Recording:
        """A recording from the parts of the wire form, `{snapshot, events, structure}`; the object is kept.

        Args:
            wire: The parts; a further part `header` says what `of_run` takes as such.
            name: What errors call it.

        Raises:
            UnsupportedRecordingFormatError: A part is missing or is of another kind.
        """
        return cls(WireSource(check_wire(wire, name), ()))

    @classmethod
    def load(cls, path: Path | str) -> Recording:
        """Read a recording: native, in the wire form, or either in an envelope; told apart by content.

        Args:
            path: The file.

        Raises:
            FileProblemError: There is no such file, or it can't be read; an `OSError` of the system's own kind
                (`FileNotFoundError`, `IsADirectoryError`, `PermissionError`).
            UnsupportedRecordingFormatError: It is no recording or is cut off (`ERR_NOT_RECORDING`), or its format is
                not known here (`ERR_UNSUPPORTED_RECORDING_FORMAT`).
        """
        return cls._of(read_file(path))

    @classmethod
    def _of(cls, found: Found) -> Recording:
        if found.rows is not None:
            return cls(RowSource(found.rows, found.flags))
        return cls(WireSource(cast("JsonObject", found.wire), found.flags))

    def save(self, path: Path | str, *, form: Literal["native", "wire"] = "native") -> Path:
        """Write the recording to a file, all of it or nothing (LIN-30).

        Args:
            path: The file; one that is there is replaced and keeps its mode, a symlink is followed. Its folder must
                exist.
            form: `"native"`: each thing once, grows with what happened. `"wire"`: the reference's form, which repeats
                everything and grows with the square of the run.

        Returns:
            The path.

        Raises:
            ConfigError: The form is unknown, or a recording that was read in the wire form is to be written natively.
            RecordingTooLargeError: The wire form would take more than 256 MiB.
            FileProblemError: It can't be written, or is a folder, a pipe or a device; an `OSError` of the system's own
                kind. What was there before still is.
        """
        if form not in ("native", "wire"):
            raise ConfigError("form", f"There is no form {form!r}.", fix='Use "native" or "wire".')
        data = self._native().data() if form == "native" else encode_deep(self.to_wire())
        return write_file(path, data)

    def native_rows(self) -> list[Any]:
        """The lines of the native form as JSON values: the header, then a list for each row (01b s.3).

        Raises:
            ConfigError: It was read in the wire form, which does not say everything that the rows do.
        """
        return self._native().rows()

    def _native(self) -> NativeSource:
        if isinstance(self._source, NativeSource):
            return self._source
        raise ConfigError(
            "form",
            "This recording was read from a file in the wire form and has no native rows.",
            fix='Save it with form="wire".',
        )

    def to_wire(self) -> dict[str, Any]:
        """The reference's form, `{snapshot, events, structure?, header?}`, as plain JSON that the caller owns.

        Everything is written out as often as the reference repeats it; costs the square of the run's length. Its
        execution tree is as deep as the run is long: `save(path, form="wire")` writes what `json.dumps` may not.

        Raises:
            RecordingTooLargeError: It would take more than 256 MiB as text.
        """
        return self._source.to_wire()

    def finish(self, outcome: str) -> None:
        """Note that the run has ended, and how: `done`, `failed`, `paused`."""
        self._source.finish(outcome)

    def note_observers(self, stats: Record) -> None:
        """Note how those who were told later did; it stands in the snapshot as `observerStats` (BRG-23)."""
        if isinstance(self._source, JournalSource):
            self._source.note_observers(freeze(thaw(stats)))

    # its parts

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self._source.run_id

    @property
    def native(self) -> bool:
        """Whether it holds each thing once; a file of the wire form does not."""
        return self._source.native

    @property
    def events(self) -> Sequence[Event[Any]]:
        """The events in order: native ones, with new rows of a slot only, or as a file of the wire form has them."""
        return self._source.events()

    @property
    def snapshot(self) -> JsonObject:
        """State, tree and log under the wire's keys; a part is built when it is read."""
        return self._source.snapshot()

    @property
    def journal(self) -> Journal | None:
        """The rows that everything is read from, as they may be shown; `None` for a file of the wire form."""
        return self._source.journal() if isinstance(self._source, NativeSource) else None

    @property
    def structure(self) -> JsonObject | None:
        """The chart in wire form; `None` when it was not recorded."""
        return self._source.structure

    @property
    def header(self) -> JsonObject:
        """What the recording says about the agent that made it, `{"agent": {"id", "provider", "model", ...}}`."""
        return self._source.about

    @property
    def flags(self) -> tuple[str, ...]:
        """What limits it: `imported`, `torn-last-line`, `incomplete` (its file could not be written to the end)."""
        return self._source.flags

    @property
    def redaction(self) -> JsonObject | None:
        """What a policy kept out of it, by name and never by value; `None` when nothing: then no text is a placeholder.

        The hashes of what is kept out are there: who guesses a short value can confirm the guess.
        """
        return self._source.redaction

    @property
    def ended(self) -> str | None:
        """How the run ended; `None` when it goes on, or was cut by a crash."""
        return self._source.ended

    # questions

    @property
    def bundles(self) -> LogIndex:
        """The commit log of the top: `trace.CommitBundle`s by position, growth written as `append`.

        It is an index too, so the readers of logs in `trace` look things up in it instead of passing over it; a bundle
        of a native recording is made when it is asked for.
        """
        return self._source.trail.log

    def reads_of(self, step: str) -> tuple[str, ...]:
        """The keys that a step read, in order of first read; empty when it read none or is not on record."""
        return self._source.trail.reads_of(step)

    def writes_of(self, step: str) -> tuple[str, ...] | None:
        """The keys whose value a step changed; `None` when that is not on record.

        In the wire form it is known for the steps of the top only.
        """
        return self._source.trail.writes_of(step)

    def value_at(self, key: str, position: int | None = None) -> Value:
        """What a key of the state held after so many commits of `bundles`; O(log n).

        Args:
            key: A top-level key.
            position: How many commits count; without it all.

        Returns:
            The value, which nobody can change; `trace.ABSENT` when there was none.
        """
        trail = self._source.trail
        return trail.value_at(key, len(trail.log) if position is None else position)

    def writer_of(self, key: str, position: int | None = None) -> str | None:
        """The step that gave a key the value it has after so many commits; `None` when nothing wrote it."""
        trail = self._source.trail
        version = trail.version(key, len(trail.log) if position is None else position)
        return None if version is None else trail.step_at(version)

    @property
    def calls(self) -> Sequence[ModelCall]:
        """The model calls, in order; each is a view that works out what is read of it."""
        trail = self._source.trail
        trail.refresh()
        if self._calls[0] != len(trail.marks):
            layout = self.layout
            pairs = [(trail, *pair) for pair in call_marks(trail.marks)] if layout is None else layout.calls()
            made = (ModelCall(where, place, start, end) for place, (where, start, end) in enumerate(pairs))
            self._calls = len(trail.marks), tuple(made)
        return self._calls[1]

    @property
    def tool_uses(self) -> Sequence[ToolUse]:
        """The tool calls, in order of their starts; views."""
        trail = self._source.trail
        trail.refresh()
        if self._uses[0] != len(trail.marks):
            layout = self.layout
            trails = [trail] if layout is None else [layout.trail(part.step.index) for part in layout.parts]
            self._uses = len(trail.marks), tuple(use for each in trails for use in tool_uses_of(each))
        return self._uses[1]

    @property
    def evaluations(self) -> Sequence[Evaluation]:
        """The evaluations of the context, one an iteration; views."""
        layout = self.layout
        if layout is not None:
            return tuple(each for part in layout.parts for each in self.part(part).evaluations)
        trail = self._source.trail
        trail.refresh()
        calls = self.calls
        flavors = Flavors(trail, self._declared_flavors())
        found: list[Evaluation] = []
        at = 0
        for mark in trail.marks:
            if mark.type != ContextEvaluated.type:
                continue
            while at < len(calls) and calls[at].position < mark.position:
                at += 1
            found.append(Evaluation(trail, mark, calls[at] if at < len(calls) else None, flavors))
        return tuple(found)

    def _declared_flavors(self) -> Mapping[str, str]:
        agent = as_object(self.header.get("agent")) or {}
        pieces = (as_object(piece) or {} for piece in as_list(agent.get("context")) or ())
        return {str(piece["id"]): str(piece["flavor"]) for piece in pieces if "id" in piece and "flavor" in piece}

    @property
    def layout(self) -> Layout | None:
        """How the agents inside hang together; `None` for a run of one agent, and for a file of the wire form."""
        if "composition" not in self.header:
            return None
        journal = self.journal
        if journal is not None and self._layout[0] != len(journal.rows):
            self._layout = len(journal.rows), layout_of(self.header, journal)
            self._parts = {}
        return self._layout[1]

    def part(self, part: Part) -> Recording:
        """The recording of one agent of several, for the questions that one agent's recording answers."""
        known = self._parts.get(part.step.index)
        layout, journal = self.layout, self.journal
        if known is None and layout is not None and journal is not None:
            kept = {key: value for key, value in self.header.items() if key != "composition"}
            about: JsonObject = freeze({**kept, "agent": part.agent})
            facts = RunFacts(run_id=self.run_id, started_at_ms=0)
            known = self._parts[part.step.index] = Recording(
                PartSource(journal, facts, about, layout, part, self.ended)
            )
        return self if known is None else known

    def around(self, step: str) -> Recording:
        """The recording of the agent that made a step; this one where there is only one agent, or where none did."""
        layout = self.layout
        index = step.rpartition("#")[2]
        found = layout.part_at(int(index)) if layout is not None and index.isdecimal() else None
        return self if found is None else self.part(found)

    @property
    def answer(self) -> tuple[str, str] | None:
        """The answer, and the step that gave it: the last model call that returned; `None` when there is none."""
        trail = self._source.trail
        finished = [call for call in self.calls if call.finished]
        layout = self.layout
        if layout is not None and layout.answer_key is not None:
            said = self.value_at(layout.answer_key)
            writer = self.writer_of(layout.answer_key)
            if isinstance(said, str) and writer is not None and self.ended == "done":
                return said, finished[-1].step if finished else writer
            return None
        ends = [mark for mark in trail.marks if mark.type == TurnEnd.type]
        payload = trail.payload(ends[-1]) if ends else None
        if isinstance(payload, TurnEnd):
            return payload.final_content, finished[-1].step if finished else trail.step(ends[-1])
        return (finished[-1].content, finished[-1].step) if finished else None

    @property
    def user_message(self) -> str | None:
        """What the user said; `None` when that is not recorded."""
        trail = self._source.trail
        trail.refresh()
        layout = self.layout
        if layout is not None:
            asked = trail.value_at("userMessage", 1)
            asked = trail.value_at("current", 1) if asked is ABSENT else asked
            return asked if isinstance(asked, str) else None
        starts = [mark for mark in trail.marks if mark.type == TurnStart.type]
        payload = trail.payload(starts[-1]) if starts else None
        if isinstance(payload, TurnStart):
            return payload.user_prompt
        found = self.value_at("userMessage")
        return found if found is not ABSENT and isinstance(found, str) else None

    def feed(self, form: Form = "native") -> EventFeed:
        """The events from the beginning, to be taken as they come; for a run, not for a file of the wire form.

        Raises:
            ConfigError: It was read in the wire form.
        """
        if not isinstance(self._source, NativeSource):
            raise ConfigError("form", "A file in the wire form has no rows to follow.", fix="Read `events`.")
        return self._source.feed(form)

    def __reduce__(self) -> tuple[Any, ...]:
        if isinstance(self._source, NativeSource):
            return _revived, (self._source.data(),)
        return _revived, (encode_deep(self.to_wire()),)

    def __repr__(self) -> str:
        ended = self.ended or "not ended"
        return f"Recording({self.run_id!r}, {len(self.calls)} model calls, {len(self.tool_uses)} tool calls, {ended})"


def _revived(data: bytes) -> Recording:
    return Recording._of(read_bytes(data, "The pickle"))  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  its own
