"""The handle of a stage whose every read and write is kept or told: dials, recorders, namespaces, nested paths.

Same face as `Handle` and more. While it is open, `r` holds the values read, `w` the tracked writes (value and
operation), and the buffer the operations themselves. The base of the buffer is the state as the stage first touched
it; a key absent there is looked up in the live state (FLOW-MEM-7).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

from msgspec import UNSET

from agentfootprint.flow.errors import AbsentKeyError, ReadonlyInputError
from agentfootprint.flow.stage.commit import Staged, TransactionBuffer, bundle_of_ops
from agentfootprint.flow.stage.handle import CLOSED, Handle, extended, frozen, refuse_key
from agentfootprint.flow.stage.home import Home
from agentfootprint.flow.watch.recorder import now_ms
from agentfootprint.flow.watch.sightings import EmitSeen, ReadSeen, WriteSeen
from agentfootprint.trace import (
    ABSENT,
    PATH_DELIMITER,
    Detail,
    Dials,
    FrozenDict,
    NotedRow,
    Value,
    ValueRefusedError,
    apply_smart_merge,
    freeze,
)

if TYPE_CHECKING:
    from agentfootprint.trace import Veil

__all__ = ["RUNS", "TracedHandle", "diagnostic"]

RUNS = "runs"
"""Where the namespaces of fork branches stand in the state (FLOW-MEM-9)."""


def diagnostic(value: Value) -> Value:
    """A value that is only shown, made unchangeable; what can't be recorded is named by its type, and fails nothing."""
    try:
        return freeze(value)
    except ValueRefusedError:
        return f"[non-serializable: {type(value).__name__}]"


class TracedHandle(Handle, gc=False, eq=False):
    """A stage execution while it is open, with everything it does on record."""

    said: list[tuple[str, str, Value]] | None = None
    """All it does, in order; None when no narrative is wanted."""
    buffer: TransactionBuffer | None = None
    hidden: dict[str, None] | None = None
    """Keys it wrote that are redacted whole; None while nothing in the run is redacted."""
    shown_reads: dict[str, Value] | None = None
    """What is shown instead of what it read."""
    shown_writes: dict[str, Value] | None = None
    """What is shown instead of what it wrote."""

    def __getitem__(self, key: str) -> Value:
        value = self.read(key)
        if value is ABSENT:
            raise AbsentKeyError(key, self.info.id)
        return value

    def get(self, key: str, default: Value = None) -> Value:
        """The value of a key, or `default` when it is absent; a tracked read."""
        value = self.read(key)
        return default if value is ABSENT else value

    def __contains__(self, key: str) -> bool:
        value = self.look(key)
        if key not in self.r:
            self.r[key] = value  # an existence probe is a read, but no event (4.2)
            veil = self.home.run.journal.veil
            if veil is not None:
                self._shown_read(veil, key, value)
        return value is not ABSENT

    def peek(self, key: str, default: Value = None) -> Value:
        """The value of a key without recording the read; marks the commit as consuming something unseen."""
        if key not in self.r:
            self.mark("silent")
        value = self.look(key)
        return default if value is ABSENT else value

    def read(self, key: str) -> Value:
        """A tracked read that gives `ABSENT` for an absent key."""
        value = self.look(key)
        self.r[key] = value
        veil = self.home.run.journal.veil
        told = value if veil is None else self._shown_read(veil, key, value)
        if self.said is not None:
            self.said.append(("read", key, told))
        watch = self.home.run.watch
        if watch is not None and watch.wants("on_read"):
            shown = UNSET if told is ABSENT else told
            info = self.info
            watch.tell(
                ReadSeen(
                    timestamp=now_ms(),
                    stage_name=info.name,
                    stage_id=info.id,
                    runtime_stage_id=self.runtime_stage_id,
                    pipeline_id=info.namespace,
                    key=key,
                    value=shown,
                    redacted=told is not value,
                )
            )
        return value

    def look(self, key: str) -> Value:
        """The value of a key as this stage sees it, unrecorded; `ABSENT` when there is none."""
        buffer = self._opened()
        namespace = self.info.namespace
        if namespace:
            value = buffer.value((RUNS, namespace, key))
            if value is not ABSENT:
                return value
        value = buffer.value((key,))
        if value is ABSENT and not buffer.wrote(key):
            return self.home.state.get(key, ABSENT)
        return value

    def pin(self) -> None:
        """Look at the state as it is now, not as it is when the stage first touches it (FLOW-MEM-7)."""
        self._opened()

    def keys(self) -> list[str]:
        """The keys of the state as this stage sees it; records nothing."""
        buffer = self._opened()
        known = dict.fromkeys(buffer.base)
        known.update(dict.fromkeys(operation.path[0] for operation in buffer.staged))
        return [key for key in known if buffer.value((key,)) is not ABSENT]

    def __setitem__(self, key: str, value: Value) -> None:
        self._stage("set", (key,), frozen(key, value, self.info.id), "set")

    def __delitem__(self, key: str) -> None:
        self._stage("delete", (key,), ABSENT, "delete")

    def append(self, key: str, items: Iterable[Value]) -> None:
        """Stage a list with more elements: O(added); one tracked read and one write."""
        self[key] = extended(self.read(key), key, items, self.info.id)

    def update(self, key: str, value: Value) -> None:
        """Stage a deep merge into a key (FLOW-MEM-12)."""
        self._stage("merge", (key,), frozen(key, value, self.info.id), "update")

    def set_path(self, path: tuple[str, ...], value: Value) -> None:
        """Stage a value at a nested place."""
        self._stage("set", path, frozen(path[0], value, self.info.id), "set")

    def delete_path(self, path: tuple[str, ...]) -> None:
        """Stage the removal of a nested place."""
        self._stage("delete", path, ABSENT, "delete")

    def emit(self, name: str, payload: Value = None) -> None:
        """Record something of your own and tell the recorders, now."""
        shown = self._shown_emit(name, frozen(name, payload, self.info.id))
        super().emit(name, shown)
        self._tell_emit(name, shown)

    def tell_emit(self, name: str, payload: Value) -> None:
        """Tell the recorders of something, now."""
        self._tell_emit(name, self._shown_emit(name, payload))

    def _tell_emit(self, name: str, payload: Value) -> None:
        if self.said is not None:
            self.said.append(("emit", name, payload))
        watch = self.home.run.watch
        if watch is not None and watch.wants("on_emit"):
            watch.tell(
                EmitSeen(
                    timestamp=now_ms(),
                    name=name,
                    payload=payload,
                    stage_name=self.info.name,
                    runtime_stage_id=self.runtime_stage_id,
                    subflow_path=self.info.path,
                    pipeline_id=self.info.namespace,
                )
            )

    def note(self, bag: str, key: str, value: Value) -> Value:
        """Add a diagnostic to this execution: `bag` is `logs`, `errors`, `metrics` or `evals`; gives what was kept."""
        journal = self.home.run.journal
        kept = diagnostic(value)
        if journal.veil is not None:
            kept = journal.veil.noted(key, kept, self.home.mount)
        journal.append(NotedRow(self, bag, key, kept))
        return kept

    def close(self, interned: dict[tuple[str, ...], tuple[str, ...]]) -> None:
        """Commit what was staged and become a record. Called by the run, once."""
        home: Home = self.home
        dials: Dials = home.run.journal.dials
        if self.buffer is not None and self.buffer.staged:
            self._commit(home, self.buffer, dials)
        reads: dict[str, Value] = self.r if dials.reads != "off" else {}
        keys = tuple(reads)
        self.reads = interned.setdefault(keys, keys)
        said = None if self.said is None else tuple(self.said)
        if home.run.journal.veil is None:
            self.detail = Detail(reads, self.w, said)
        else:
            self.detail = Detail(reads, self.w, said, tuple(self.hidden or ()), self.shown_reads, self._shown_tracked())
        self.base = self.w = self.r = self.home = CLOSED
        self.buffer = self.said = self.hidden = self.shown_reads = self.shown_writes = None

    def _commit(self, home: Home, buffer: TransactionBuffer, dials: Dials) -> None:
        implied = dials.provenance == "off" and (
            buffer.plain if dials.values == "delta" else not buffer.says_more_than_values()
        )
        if implied:
            writes = buffer.plain_changes()
        else:
            ops = buffer.changes(dials.values)
            if not ops:
                return
            after = apply_smart_merge(FrozenDict(home.state), bundle_of_ops(ops))  # pyright: ignore[reportArgumentType]  a bundle in either form
            roots = dict.fromkeys(op.path.partition(PATH_DELIMITER)[0] for op in ops)
            writes = {key: after.get(key, ABSENT) for key in roots}
            self.ops = ops
        if writes:
            home.apply(writes)
            self.writes = writes

    def set_redacted(self, key: str, value: Value) -> None:
        """Stage a value that only stages see, and redact the key in the whole run until it is deleted (FLOW-RED-1)."""
        value = frozen(key, value, self.info.id)
        if key in self.home.locked:
            raise ReadonlyInputError(key, self.info.id)
        self.home.run.veiled().hide(key, self.home.mount)
        self._stage("set", (key,), value, "set")

    def _stage(
        self, verb: Literal["set", "merge", "delete"], path: tuple[str, ...], value: Value, operation: str
    ) -> None:
        home: Home = self.home
        key = path[0]
        for segment in path:
            if type(segment) is not str or not segment.isascii() or PATH_DELIMITER in segment:
                refuse_key(segment, self.info.id)
        if key in home.locked:
            raise ReadonlyInputError(key, self.info.id)
        namespace = self.info.namespace
        full = (RUNS, namespace, *path) if namespace else path
        reads = tuple(self.r) if home.run.journal.dials.provenance != "off" else None
        told = value
        if home.run.journal.veil is not None:
            path, told = self._shown_write(home.run.journal.veil, path, value)
        hides = self.hidden is not None and key in self.hidden
        self._opened().stage(Staged(verb, full, value, reads, hides and value is not ABSENT))
        shown = ".".join(path)
        self.w[shown] = (value, operation)
        if self.said is not None:
            self.said.append((operation, shown, told))
        watch = home.run.watch
        if watch is not None and watch.wants("on_write"):
            value = UNSET if told is ABSENT else told
            redacted = told is not self.w[shown][0]
            info = self.info
            watch.tell(
                WriteSeen(
                    timestamp=now_ms(),
                    stage_name=info.name,
                    stage_id=info.id,
                    runtime_stage_id=self.runtime_stage_id,
                    pipeline_id=info.namespace,
                    key=shown,
                    value=value,
                    operation=operation,
                    redacted=redacted,
                )
            )

    # what others see of it

    def _shown_read(self, veil: Veil, key: str, value: Value) -> Value:
        """What is shown of a value that was read: itself, when nothing of it is redacted."""
        if value is ABSENT:
            return value
        home: Home = self.home
        told = veil.shown(key, value, home.mount, ever=bool(self.info.namespace))
        if told is not value:
            self.shown_reads = self.shown_reads or {}
            self.shown_reads[key] = told
        elif self.shown_reads is not None:
            self.shown_reads.pop(key, None)
        return told

    def _shown_write(self, veil: Veil, path: tuple[str, ...], value: Value) -> tuple[tuple[str, ...], Value]:
        """A write as it may be told: the way to it ends where something is redacted whole."""
        home: Home = self.home
        key, mount, ever = path[0], home.mount, bool(self.info.namespace)
        if value is ABSENT and len(path) == 1 and not ever and not self._opened().merged(key):
            veil.forget(key, mount)  # what was merged comes back with the next merge (FLOW-MEM-24)
        if self.info.kind == "foreach":
            veil.gather(key)
        hidden = self.hidden = {} if self.hidden is None else self.hidden
        if veil.hides(key, mount, ever=ever):
            hidden[key] = None
            veil.seen[key] = None
        else:
            hidden.pop(key, None)
        told = veil.covered(path, value, mount, veil.placeholder, ever=ever)
        writes = self.shown_writes = {} if self.shown_writes is None else self.shown_writes
        shown = ".".join(told.path)
        writes.pop(shown, None)
        if told.hidden:
            writes[shown] = told.value
        return told.path, told.value

    def _shown_tracked(self) -> dict[str, Value] | None:
        """The same for all it wrote; what was written below a key before a write redacted that is hidden too."""
        hidden, veil = self.hidden or {}, self.home.run.journal.veil
        for path in self.w if hidden else ():
            if path not in hidden and any(path.startswith(f"{key}.") for key in hidden):
                self.shown_writes = self.shown_writes or {}
                self.shown_writes[path] = veil.placeholder
        return self.shown_writes

    def _shown_emit(self, name: str, payload: Value) -> Value:
        home: Home = self.home
        veil = home.run.journal.veil
        return payload if veil is None else veil.emitted(name, payload, home.mount)

    def _opened(self) -> TransactionBuffer:
        """The buffer, over the state as it is at the first touch."""
        buffer = self.buffer
        home: Home = self.home
        if buffer is None:
            base = home.share() if self.info.namespace else home.state
            buffer = self.buffer = TransactionBuffer(base)
        return buffer
