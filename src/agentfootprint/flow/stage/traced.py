"""The handle of a stage whose every read and write is kept or told: dials, recorders, namespaces, nested paths.

Same face as `Handle` and more. While it is open, `r` holds the values read, `w` the tracked writes (value and
operation), and the buffer the operations themselves. The base of the buffer is the state as the stage first touched
it; a key absent there is looked up in the live state (FLOW-MEM-7).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import UNSET

from agentfootprint.flow.errors import AbsentKeyError, ReadonlyInputError
from agentfootprint.flow.stage.commit import Staged, TransactionBuffer, bundle_of_ops
from agentfootprint.flow.stage.handle import CLOSED, Handle, extended, frozen
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

    buffer: TransactionBuffer | None = None

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
        self.r.setdefault(key, value)  # an existence probe is a read, but no event (4.2)
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
        watch = self.home.run.watch
        if watch is not None and watch.wants("on_read"):
            shown = UNSET if value is ABSENT else value
            watch.tell(ReadSeen(**self._here(), key=key, value=shown))
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
        shown = frozen(name, payload, self.info.id)
        super().emit(name, shown)
        self.tell_emit(name, shown)

    def tell_emit(self, name: str, payload: Value) -> None:
        """Tell the recorders of something, now."""
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

    def note(self, bag: str, key: str, value: Value) -> None:
        """Add a diagnostic to this execution: `bag` is `logs`, `errors`, `metrics` or `evals`."""
        self.home.run.journal.append(NotedRow(self, bag, key, diagnostic(value)))

    def close(self, interned: dict[tuple[str, ...], tuple[str, ...]]) -> None:
        """Commit what was staged and become a record. Called by the run, once."""
        home: Home = self.home
        dials: Dials = home.run.journal.dials
        if self.buffer is not None and self.buffer.staged:
            self._commit(home, self.buffer, dials)
        reads: dict[str, Value] = self.r if dials.reads != "off" else {}
        keys = tuple(reads)
        self.reads = interned.setdefault(keys, keys)
        self.detail = Detail(reads, self.w)
        self.base = self.w = self.r = self.home = CLOSED
        self.buffer = None

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

    def _stage(
        self, verb: Literal["set", "merge", "delete"], path: tuple[str, ...], value: Value, operation: str
    ) -> None:
        home: Home = self.home
        key = path[0]
        if key in home.locked:
            raise ReadonlyInputError(key, self.info.id)
        namespace = self.info.namespace
        full = (RUNS, namespace, *path) if namespace else path
        reads = tuple(self.r) if home.run.journal.dials.provenance != "off" else None
        self._opened().stage(Staged(verb, full, value, reads))
        shown = ".".join(path)
        self.w[shown] = (value, operation)
        watch = home.run.watch
        if watch is not None and watch.wants("on_write"):
            told = UNSET if value is ABSENT else value
            watch.tell(WriteSeen(**self._here(), key=shown, value=told, operation=operation))

    def _opened(self) -> TransactionBuffer:
        """The buffer, over the state as it is at the first touch."""
        buffer = self.buffer
        home: Home = self.home
        if buffer is None:
            base = home.share() if self.info.namespace else home.state
            buffer = self.buffer = TransactionBuffer(base)
        return buffer

    def _here(self) -> dict[str, Value]:
        """Where a scope event happened."""
        info = self.info
        return {
            "timestamp": now_ms(),
            "stage_name": info.name,
            "stage_id": info.id,
            "runtime_stage_id": self.runtime_stage_id,
            "pipeline_id": info.namespace,
        }
