"""What a re-run can leave out: the closed set of four specs, made from a suspect, a text or the wire.

A spec only removes. Replacing is another kind of intervention and never a fifth kind here, because a search
combines removals and can't combine replacements (06:ABL-2). Specs are values: equal ones are the same removal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Generic, Literal, Protocol, TypeAlias, TypeVar, cast, get_args

from agentfootprint.explain.errors import NothingToRemoveError, NotRemovableError, UnknownSourceError

__all__ = [
    "REMOVABLE_KINDS",
    "Ablation",
    "AblationKind",
    "Remaining",
    "RemovableSource",
    "SuspectKind",
    "ablation_for_suspect",
    "apply_ablations",
    "removable_sources",
    "resolve_ablations",
    "sources_among",
    "sources_of",
]

AblationKind: TypeAlias = Literal["tool", "injection", "memory", "arg"]
SuspectKind: TypeAlias = Literal["tool", "injection", "memory", "arg", "stage"]
REMOVABLE_KINDS: Final = ("tool", "injection", "memory")
"""The kinds that the library itself can leave out of a re-run."""

_WIRE_KEY: Final[Mapping[str, str]] = {
    "tool": "ignoredTools",
    "injection": "excludeInjectionIds",
    "memory": "excludeMemoryIds",
}

T = TypeVar("T")
C = TypeVar("C")
M = TypeVar("M")


@dataclass(frozen=True, slots=True)
class Ablation:
    """One removal (06 s.6.1).

    Example:
        >>> Ablation.tool("lookup_order").to_wire()
        {'kind': 'tool', 'ignoredTools': ['lookup_order']}
        >>> str(Ablation.injection("vip"))
        'injection:vip'
    """

    kind: AblationKind
    ids: tuple[str, ...]
    """Tool names, ids of context pieces, ids of memory entries; for `arg` the one step that reads the run input."""
    note: str | None = None
    """For `arg`: what the runner must leave out, in words."""

    def __post_init__(self) -> None:
        if self.kind not in get_args(AblationKind):
            raise NotRemovableError(", ".join(self.ids), self.kind)
        if not self.ids or (self.kind == "arg" and len(self.ids) != 1):
            raise NothingToRemoveError

    @classmethod
    def tool(cls, *names: str) -> Ablation:
        """Leave tools out, by name."""
        return cls("tool", names)

    @classmethod
    def injection(cls, *ids: str) -> Ablation:
        """Leave pieces of context out (facts, steering, instructions, skills), by id."""
        return cls("injection", ids)

    @classmethod
    def memory(cls, *ids: str) -> Ablation:
        """Leave memory entries out, by entry id."""
        return cls("memory", ids)

    @classmethod
    def arg(cls, step: str, note: str | None = None) -> Ablation:
        """Leave run input out: the library can't, the runner that gets this spec must (06 s.6.1)."""
        return cls("arg", (step,), note)

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> Ablation:
        """Read a spec as reports hold it.

        Raises:
            NotRemovableError: The kind is not one of the four.
            NothingToRemoveError: The spec names nothing.
        """
        kind = str(wire.get("kind"))
        if kind == "arg":
            note = wire.get("note")
            return cls.arg(str(wire.get("source", "")), None if note is None else str(note))
        ids = cast("Sequence[str]", wire.get(_WIRE_KEY.get(kind, ""), ()))
        return cls(cast("AblationKind", kind), tuple(ids))

    def to_wire(self) -> dict[str, Any]:
        """The spec as reports hold it."""
        if self.kind == "arg":
            wire: dict[str, Any] = {"kind": "arg", "source": self.ids[0]}
            return wire if self.note is None else {**wire, "note": self.note}
        return {"kind": self.kind, _WIRE_KEY[self.kind]: list(self.ids)}

    def __str__(self) -> str:
        """The text form, which `resolve_ablations` reads: `tool:lookup_order`."""
        return f"{self.kind}:{','.join(self.ids)}"


class SuspectLike(Protocol):
    """What is asked of a suspect here."""

    @property
    def kind(self) -> str: ...
    @property
    def step(self) -> str: ...
    @property
    def tool_name(self) -> str | None: ...
    @property
    def injection_id(self) -> str | None: ...


class RankedSuspect(SuspectLike, Protocol):
    """What a report's suspect adds: its place and its spec."""

    @property
    def stage_name(self) -> str: ...
    @property
    def score(self) -> float: ...
    @property
    def label(self) -> str: ...
    @property
    def ablation(self) -> Ablation | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovableSource:
    """Something with an id that a caller may ask to leave out, removable or not."""

    id: str
    kind: str
    label: str
    source: str = ""
    """The step it came in at; empty when it was not taken from a run."""
    stage_name: str = ""
    score: float | None = None
    spec: Ablation | None = None
    """How to leave it out; `None` when that can't be done."""
    aliases: tuple[str, ...] = ()
    """Every id it answers to, `id` included."""

    @property
    def is_removable(self) -> bool:
        """Whether the library can leave it out."""
        return self.kind in REMOVABLE_KINDS and self.spec is not None

    def to_wire(self) -> dict[str, Any]:
        """The source under the keys of the wire (06:RERUN-7); what is not known has no key."""
        wire = {
            "id": self.id,
            "kind": self.kind,
            "label": self.label,
            "source": self.source,
            "stageName": self.stage_name,
            "score": self.score,
            "spec": None if self.spec is None else self.spec.to_wire(),
        }
        return {key: value for key, value in wire.items() if value not in (None, "")}


def ablation_for_suspect(suspect: SuspectLike) -> Ablation | None:
    """The removal that tests a suspect, or `None` when nothing can be left out (06 s.6.1)."""
    if suspect.kind == "tool":
        return Ablation.tool(suspect.tool_name) if suspect.tool_name else None
    if suspect.kind in ("injection", "memory"):
        kind = cast("AblationKind", suspect.kind)
        return Ablation(kind, (suspect.injection_id,)) if suspect.injection_id else None
    return Ablation.arg(suspect.step) if suspect.kind == "arg" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Remaining(Generic[T, C, M]):
    """What is left after removals, in the order it had."""

    tools: tuple[T, ...] = ()
    context: tuple[C, ...] = ()
    memory: tuple[M, ...] = ()


def apply_ablations(
    specs: Iterable[Ablation], *, tools: Sequence[T] = (), context: Sequence[C] = (), memory: Sequence[M] = ()
) -> Remaining[T, C, M]:
    """Leave out what any of the specs removes (06:ABL-1).

    Args:
        specs: Their union is removed; `arg` specs are the runner's own business and do nothing here.
        tools: Names, or things with a `name`.
        context: Ids, or things with an `id`.
        memory: Ids of memory entries, or things with an `id`.

    Returns:
        The rest. An id that none of them has is no error here: `resolve_ablations` is the place that refuses.
    """
    gone: dict[str, set[str]] = {kind: set() for kind in get_args(AblationKind)}
    for spec in specs:
        gone[spec.kind].update(spec.ids)
    return Remaining(
        tools=tuple(item for item in tools if _name_of(item, "name") not in gone["tool"]),
        context=tuple(item for item in context if _name_of(item, "id") not in gone["injection"]),
        memory=tuple(item for item in memory if _name_of(item, "id") not in gone["memory"]),
    )


def _name_of(item: object, attribute: str) -> object:
    return item if isinstance(item, str) else getattr(item, attribute, None)


def sources_of(
    *, tools: Iterable[str] = (), context: Iterable[str] = (), memory: Iterable[str] = ()
) -> list[RemovableSource]:
    """What an agent could be re-run without, by the names it declares; for `resolve_ablations`."""
    named = (("injection", context), ("tool", tools), ("memory", memory))
    return [
        RemovableSource(
            id=name,
            kind=kind,
            label=f"{kind} '{name}'",
            spec=Ablation(cast("AblationKind", kind), (name,)),
            aliases=(name,),
        )
        for kind, ids in named
        for name in ids
    ]


def sources_among(suspects: Iterable[RankedSuspect]) -> list[RemovableSource]:
    """Everything a report's suspects answer to, removable or not, best ranked first; for `resolve_ablations`.

    A source that came in at several steps is one entry, which answers to each of these steps.
    """
    found: dict[tuple[str, str], RemovableSource] = {}
    for suspect in suspects:
        names = tuple(name for name in (suspect.injection_id, suspect.tool_name, suspect.step) if name)
        key = (suspect.kind, names[0])
        if key in found:
            known = found[key]
            found[key] = replace(known, aliases=tuple(dict.fromkeys((*known.aliases, *names))))
            continue
        found[key] = RemovableSource(
            id=names[0],
            kind=suspect.kind,
            label=suspect.label,
            source=suspect.step,
            stage_name=suspect.stage_name,
            score=suspect.score,
            spec=suspect.ablation if suspect.kind in REMOVABLE_KINDS else None,
            aliases=names,
        )
    return list(found.values())


def removable_sources(suspects: Iterable[RankedSuspect]) -> list[RemovableSource]:
    """The tools, context pieces and memory entries of a report, best ranked first, one for each id (06:RERUN-7)."""
    found: dict[str, RemovableSource] = {}
    for source in sources_among(suspects):
        if source.kind in REMOVABLE_KINDS:
            found.setdefault(source.id, source)
    return list(found.values())


def resolve_ablations(
    wanted: Iterable[Ablation | str | Mapping[str, Any]], sources: Sequence[RemovableSource]
) -> tuple[Ablation, ...]:
    """Turn what a caller wants left out into specs (06:RERUN-1..3).

    Args:
        wanted: Specs, in Python or wire form, which pass untouched; or texts: the id of a source, of which the first
            ranked that answers to it is meant, or the id with its kind before it (`tool:lookup_order`).
        sources: What there is, best ranked first, those that can't be left out included.

    Returns:
        The specs, in order. Two texts that mean one source are one spec; explicit specs are never merged.

    Raises:
        UnknownSourceError: No source answers to a text; the removable ones are named.
        NotRemovableError: The one that answers can't be left out.
        NothingToRemoveError: Nothing was wanted.
    """
    specs: list[Ablation] = []
    taken: set[Ablation] = set()
    for entry in wanted:
        if isinstance(entry, Ablation):
            specs.append(entry)
        elif isinstance(entry, str):
            spec = _spec_of(entry, sources)
            if spec not in taken:
                taken.add(spec)
                specs.append(spec)
        else:
            specs.append(Ablation.from_wire(entry))
    if not specs:
        raise NothingToRemoveError(source.id for source in sources if source.is_removable)
    return tuple(specs)


def _spec_of(text: str, sources: Sequence[RemovableSource]) -> Ablation:
    source = _answering(text, sources)
    if source is None:
        raise UnknownSourceError(text, (source.id for source in sources if source.is_removable))
    if not source.is_removable or source.spec is None:
        raise NotRemovableError(text, source.kind)
    return source.spec


def _answering(text: str, sources: Sequence[RemovableSource]) -> RemovableSource | None:
    """The first source that answers to a text; its plain ids come before the form with a kind (ids may hold colons)."""
    for source in sources:
        if text in source.aliases:
            return source
    kind, _, rest = text.partition(":")
    return next((source for source in sources if source.kind == kind and rest in source.aliases), None)
