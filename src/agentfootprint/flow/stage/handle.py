"""What a raw stage reads and writes through: its execution record while it is open, closed by the commit.

Invariants: a read gives the committed value itself, never a copy. Nothing reaches the state before the commit, which
keeps net changes only. A closed handle is a plain record: it holds no run and no state, and every use of it as a
handle raises. `Handle` is the path of the library's own stages and does no more than the native form needs;
`TracedHandle` is the same face with everything a dial, a recorder or a fork's namespace asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NoReturn

from agentfootprint.flow.errors import AbsentKeyError, ReadonlyInputError, StageClosedError, StateValueError
from agentfootprint.flow.stage.asking import answer_to
from agentfootprint.flow.stage.home import Home, Run
from agentfootprint.trace import (
    ABSENT,
    PATH_DELIMITER,
    EmittedRow,
    Execution,
    FrozenDict,
    FrozenList,
    Record,
    Value,
    ValueRefusedError,
    View,
    deep_equal,
    freeze,
)

__all__ = ["CLOSED", "EMPTY", "NOTHING", "Handle", "extended", "frozen", "refuse_key"]

EMPTY: Final[dict[str, Value]] = {}
"""What an open execution shows as its writes; never written into."""
NOTHING: Final = FrozenDict({})

_READY: Final = frozenset((int, bool, type(None), FrozenDict, FrozenList))
_ARGS_ONLY: Final = ("args",)
_UNTRACKED: Final[dict[tuple[tuple[str, ...], str], tuple[str, ...]]] = {}
"""The few tuples of honesty flags there can be, so that records share them."""


class _Closed:
    """Stands where a closed handle had its state: any use raises."""

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):  # somebody inspects the module
            raise AttributeError(name)
        _refuse()

    def __getitem__(self, key: object) -> NoReturn:
        _refuse()

    def __setitem__(self, key: object, value: object) -> NoReturn:
        _refuse()

    def __contains__(self, key: object) -> NoReturn:
        _refuse()


def _refuse() -> NoReturn:
    raise StageClosedError(
        "A stage's state was used after the stage had committed.",
        fix="Read and write inside the stage function; what goes on later belongs in a stage of its own.",
    )


CLOSED: Final[Any] = _Closed()


def frozen(key: str, value: Value, stage: str) -> Value:
    """A value made unchangeable, or refused with the key and the stage that gave it (FLOW-MEM-8)."""
    try:
        return freeze(value)
    except ValueRefusedError as refused:
        raise StateValueError(key, stage, refused.problem) from refused


def refuse_key(key: object, stage: str) -> None:
    """Refuse what can't be a key: no text, half of a surrogate pair in it, or what separates the keys of a path."""
    if not isinstance(key, str):
        raise StateValueError(str(key), stage, f"its key is of type {type(key).__name__}, not a text.")
    if PATH_DELIMITER in key:
        raise StateValueError(key, stage, "its key holds U+001F, which separates the keys of a path.")
    try:
        freeze(str(key))
    except ValueRefusedError as refused:
        raise StateValueError(key, stage, f"its key is refused: {refused.problem}") from refused


class Handle(Execution, gc=False, eq=False):
    """The state as one execution of a raw stage sees it; afterwards its record.

    Example:
        >>> def count(h: Handle) -> None:
        ...     h["n"] = h.get("n", 0) + 1
        ...     h.append("log", ["counted"])
    """

    base: Any = CLOSED
    """Committed state as the stage found it."""
    w: Any = CLOSED
    """Staged values, in the order of last write."""
    r: Any = CLOSED
    """Keys read, in the order of first read."""
    home: Any = CLOSED

    @property
    def run(self) -> Run:
        """The run this stage belongs to."""
        return self.home.run

    @property
    def scope(self) -> Value:
        """What the run was started with as its `scope`."""
        return self.home.run.scope

    def __getitem__(self, key: str) -> Value:
        base = self.base
        self.r[key] = None
        w = self.w
        if w and key in w:
            value = w[key]
            if value is not ABSENT:
                return value
        elif key in base:
            return base[key]
        raise AbsentKeyError(key, self.info.id)

    def get(self, key: str, default: Value = None) -> Value:
        """The value of a key, or `default` when it is absent; a tracked read."""
        self.r[key] = None
        w = self.w
        value = w[key] if w and key in w else self.base.get(key, ABSENT)
        return default if value is ABSENT else value

    def __contains__(self, key: str) -> bool:
        return self.get(key, ABSENT) is not ABSENT

    def peek(self, key: str, default: Value = None) -> Value:
        """The value of a key without recording the read; marks the commit as consuming something unseen."""
        if key not in self.r:
            self.mark("silent")
        w = self.w
        value = w[key] if w and key in w else self.base.get(key, ABSENT)
        return default if value is ABSENT else value

    def __setitem__(self, key: str, value: Value) -> None:
        kind: type[object] = type(value)  # pyright: ignore[reportUnknownVariableType]  a cast is a call
        if kind not in _READY and not (kind is str and value.isascii()) and not isinstance(value, (Record, View)):
            value = frozen(key, value, self.info.id)
        w = self.w
        if key in w:
            del w[key]  # so that it stands where it was last written
        elif key in self.home.locked:
            raise ReadonlyInputError(key, self.info.id)
        w[key] = value

    def write(self, values: Mapping[str, Any]) -> None:
        """Stage several values."""
        for key, value in values.items():
            self[key] = value

    def __delitem__(self, key: str) -> None:
        self[key] = None  # refuses what may not be written
        self.w[key] = ABSENT
        self.home.deleting = True

    def append(self, key: str, items: Iterable[Any]) -> None:
        """Stage a list with more elements: O(added). A tracked read, as the new value depends on the old one.

        Args:
            key: The list; an absent one begins here.
            items: The new elements.
        """
        before = self.get(key, ABSENT)
        self[key] = extended(before, key, items, self.info.id)

    @property
    def args(self) -> FrozenDict:
        """The run's input, or in a mount what it was given; marks the commit when there is any."""
        args: FrozenDict = self.home.args
        if args.data:
            if self.untracked:
                self.mark("args")
            else:
                self.untracked = _ARGS_ONLY
        return args

    @property
    def env(self) -> FrozenDict:
        """The run's environment; marks the commit when there is any."""
        env = self.home.run.env
        if env:
            self.mark("env")
        return env

    def mark(self, source: str) -> None:
        """Note an input that no read records (2.2, `untrackedSources`)."""
        flags = self.untracked
        if source not in flags:
            known = _UNTRACKED.get((flags, source))
            if known is None:
                known = _UNTRACKED[flags, source] = (*flags, source)
            self.untracked = known

    def break_(self, reason: str | None = None) -> None:
        """End this runtime after the commit; the function goes on until it returns (FLOW-EXE-18)."""
        self.home.stop(self.index, reason)

    def interrupt(self, reason: Value, *, expects: Value = None) -> Value:
        """Stop the run to ask; gives the answer once there is one, when the stage runs again from its top."""
        return answer_to(self, reason, expects)

    def emit(self, name: str, payload: Value = None) -> None:
        """Record something of your own, at this point of the run."""
        journal = self.home.run.journal
        journal.append(EmittedRow(self, journal.now(), name, frozen(name, payload, self.info.id)))

    def close(self, interned: dict[tuple[str, ...], tuple[str, ...]]) -> None:
        """Commit what was staged and become a record. Called by the run, once."""
        home: Home = self.home
        r = self.r
        if r:
            keys = tuple(r)
            self.reads = interned.setdefault(keys, keys)
        w = self.w
        if w:
            state = home.state
            same = [key for key, value in w.items() if (_same(state[key], value) if key in state else value is ABSENT)]
            for key in same:
                del w[key]
            if w:
                if home.shared:
                    home.state = state = dict(state)
                    home.shared = False
                state.update(w)
                if home.deleting:
                    home.deleting = False
                    for key, value in w.items():
                        if value is ABSENT:
                            del state[key]
                self.writes = w
        self.base = self.w = self.r = self.home = CLOSED


def extended(before: Value, key: str, items: Iterable[Any], stage: str) -> FrozenList:
    """A list with more elements; refuses to extend what is no list."""
    added = [frozen(key, item, stage) for item in items]
    if before is ABSENT:
        return FrozenList(added, len(added))
    if type(before) is not FrozenList:
        raise StateValueError(key, stage, f"a value of type {type(before).__name__} can't be appended to.")
    return before.extend(added)


def _same(before: Value, after: Value) -> bool:
    """Whether nothing changed: by identity first, then by value (FLOW-MEM-2, 20)."""
    if before is after:
        return True
    kind: type[object] = type(after)  # pyright: ignore[reportUnknownVariableType]  a cast is a call
    if type(before) is kind:
        if kind is str or kind is int:
            return before == after
        if isinstance(before, FrozenList) and before.n != after.n:
            return False
    return after is not ABSENT and deep_equal(before, after)
