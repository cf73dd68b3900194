"""What an explanation consists of: suspects, verdicts, custody, flags, and the report that holds them.

Shapes only. Each is a frozen value whose attributes are the wire's keys in snake_case; what is not known is `None`
and has no key on the wire, so that nothing unknown is ever shown as zero (06:EXP-4). A report without re-runs has
no verdict anywhere (06:EXP-3).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, TypeAlias, cast

from agentfootprint.explain.ablation import Ablation, SuspectKind, ablation_for_suspect
from agentfootprint.explain.scoring.ranking import RankingConfidence
from agentfootprint.explain.statistics import Interval, SimilarityStats, wilson_interval
from agentfootprint.trace import Value, wire_key

__all__ = [
    "WHY_FORMAT",
    "ContextBugReport",
    "CostScore",
    "CustodyHop",
    "DroppedUnit",
    "EdgeHop",
    "HonestyFlag",
    "Mode",
    "Rate",
    "RunCost",
    "RunCostRange",
    "Shape",
    "SliceStats",
    "Spent",
    "Suspect",
    "Verdict",
    "VerdictBasis",
    "VerdictStats",
    "VerdictWord",
]

WHY_FORMAT: Final = "agentfootprint.why/1"

Mode: TypeAlias = Literal["correlational", "causal"]
VerdictWord: TypeAlias = Literal["confirmed", "not-confirmed", "inconclusive"]
VerdictBasis: TypeAlias = Literal["sequential", "classic", "deterministic"]


def wire_of(value: Value) -> Value:
    """A value as JSON: shapes as objects, tuples as lists."""
    if hasattr(value, "to_wire"):
        return value.to_wire()
    if isinstance(value, (tuple, list)):
        return [wire_of(item) for item in cast("list[Any]", value)]
    if isinstance(value, Mapping):
        return {key: wire_of(item) for key, item in cast("Mapping[str, Any]", value).items()}
    return value


class Shape:
    """Base of the shapes here: an object whose keys are the attributes' names, without those that are `None`."""

    __slots__ = ()
    WIRE_NAMES: ClassVar[Mapping[str, str]] = {}
    """Attributes whose key on the wire is another than the rule gives."""

    def to_wire(self) -> dict[str, Any]:
        """The shape under the keys of the wire."""
        wire: dict[str, Any] = {}
        for item in dataclasses.fields(cast("Any", self)):
            value = getattr(self, item.name)
            if value is not None:
                wire[self.WIRE_NAMES.get(item.name) or wire_key(item.name)] = wire_of(value)
        return wire


@dataclass(frozen=True, slots=True)
class HonestyFlag(Shape):
    """A limit of the evidence, as data (06:EXP-4)."""

    flag: str
    """`slice-truncated`, `untracked-sources`, `no-control-deps`, `no-read-tracking`, `no-llm-call-ids`,
    `baseline-unstable`, `imported`."""
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CustodyHop(Shape):
    """One link between a source and the answer (06 s.1.1)."""

    step: str
    """`born`, `allowed`, `landed`, `read` or `answer`."""
    detail: str
    at: str | None = None
    """The step's id, whole, so that it can be pasted (06:EXP-6)."""
    variable: str | None = None
    """The state key the link goes through."""
    content: str | None = None
    """The text as it stood there."""
    highlight: str | None = None
    """An exact part of `content`; `None` when the source's text is not found in it (06:CUS-4)."""
    unknown: str | None = None
    """Why the link is not known, when it was not recorded; such a link is present, never skipped (06:CUS-3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeHop(Shape):
    """One edge on the way from the answer back to a suspect; `from` and `to` on the wire."""

    WIRE_NAMES: ClassVar[Mapping[str, str]] = {"from_step": "from", "to_step": "to"}

    from_step: str
    from_name: str
    to_step: str
    to_name: str
    kind: Literal["data", "control"]
    key: str | None = None
    """The state key, or the rule label of a decision."""
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCost(Shape):
    """What one re-run spent, as far as its runner reports it."""

    loops: int | None = None
    tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunCostRange(Shape):
    """What the re-runs of one probe spent; only what was reported (06:ABL-8)."""

    samples: int
    loops: Mapping[str, float] | None = None
    """`median`, `min`, `max`."""
    tokens: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate(Shape):
    """How many of the samples changed, with the 95 % interval of the rate."""

    samples: int
    flips: int
    interval: Interval | None = None
    """Absent where a repeat can't differ (STAT-9) and in the classic mode."""
    similarity: SimilarityStats | None = None
    cost: RunCostRange | None = None

    @classmethod
    def of(cls, flips: int, samples: int) -> Rate:
        """A rate with its interval."""
        return cls(samples=samples, flips=flips, interval=wilson_interval(flips, samples))


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictStats(Shape):
    """The numbers under a verdict (STAT-1). On the wire those up to `cost` are `runs`, the rest `stats`."""

    samples: int
    flips: int
    similarity: SimilarityStats | None = None
    cost: RunCostRange | None = None
    interval: Interval | None = None
    """Lowest and highest rate of change without the source, 95 %."""
    baseline: Rate | None = None
    """The same runs with the source in place."""
    effect: tuple[float, float, float] | None = None
    """Difference of the two rates: estimate, lowest, highest, 95 %."""
    evidence: float | None = None
    """The e-value reached: how many times better the bets against "no effect" did than break even."""
    needed: float | None = None
    """The e-value that confirms, adjusted for the number of sources (STAT-5)."""
    p_value: float | None = None
    """Of "no effect"; `None` where a repeat can't differ (STAT-9)."""
    alpha: float | None = None
    """The error rate that the whole report keeps."""
    sources: int | None = None
    """Over how many tested sources it keeps it."""
    recovered: int | None = None
    """How many re-runs gave the expected answer; `None` when none was named (STAT-8)."""
    stopped: str | None = None
    """Why no more pairs were run: `evidence`, `no-effect`, `limit`, `identical`, `baseline`, or what ran out."""

    RUNS: ClassVar[frozenset[str]] = frozenset({"samples", "flips", "similarity", "cost"})

    def runs_wire(self) -> dict[str, Any]:
        """What stands under `runs` on the wire."""
        return {key: value for key, value in self.to_wire().items() if key in self.RUNS}

    def stats_wire(self) -> dict[str, Any]:
        """What stands under `stats` on the wire; empty in the classic mode."""
        return {key: value for key, value in self.to_wire().items() if key not in self.RUNS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict(Shape):
    """What re-runs decided about one removal or restoration (06:EXP-1)."""

    verdict: VerdictWord
    claim: str
    """One sentence for people; the fields are what programs read."""
    basis: VerdictBasis = "sequential"
    outcome: Literal["recovered", "changed-not-fixed"] | None = None
    """What the change led to, when the expected answer was named (STAT-8)."""
    stats: VerdictStats

    def to_wire(self) -> dict[str, Any]:
        """The verdict under the keys of the wire; its numbers stand beside it, under `runs` and `stats`."""
        wire: dict[str, Any] = {"verdict": self.verdict, "claim": self.claim, "basis": self.basis}
        return wire if self.outcome is None else {**wire, "outcome": self.outcome}

    def beside_wire(self) -> dict[str, Any]:
        """`verdict`, `runs` and `stats`, as they stand in a suspect or a dropped unit."""
        stats = self.stats.stats_wire()
        wire = {"verdict": self.to_wire(), "runs": self.stats.runs_wire()}
        return {**wire, "stats": stats} if stats else wire


@dataclass(frozen=True, slots=True, kw_only=True)
class CostScore(Shape):
    """What leaving a source out saved (06 s.7)."""

    reduced_cost_on_removal: bool
    loops_saved: float
    tokens_saved: float
    stable: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspect(Shape):
    """Something that demonstrably reached the answer, with its proxy score and, after re-runs, its verdict."""

    kind: SuspectKind
    step: str
    """The step that wrote it (wire `source`)."""
    stage_name: str = ""
    injection_id: str | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    flavor: str | None = None
    """`fact`, `steering`, `rag`, ...: what kind of context it was declared as; `turn`: a message of an imported log."""
    speaker: str | None = None
    """Who said it, when it is a message of an imported log."""
    text: str | None = None
    """As recorded, redactions included (06:EXP-7)."""
    score: float
    structural_score: float = 1.0
    semantic_score: float | None = None
    has_content_evidence: bool = False
    """Whether its text was scored; without, `score` is an upper bound (06:LOC-3)."""
    edge_path: tuple[EdgeHop, ...] = ()
    verdict: Verdict | None = None
    cost: CostScore | None = None

    @property
    def id(self) -> str:
        """What a caller names it by: the context id, the tool's name, or the step (06:BRD-3)."""
        return self.injection_id or self.tool_name or self.step

    @property
    def name(self) -> str:
        """What people read: the id of a source, with who said it; the stage's name of a step."""
        if self.injection_id and self.speaker:
            return f"{self.injection_id} {self.speaker}"
        return self.injection_id or self.tool_name or self.stage_name or self.step

    @property
    def label(self) -> str:
        """Kind and name, as reports and refusals say it: `tool 'lookup_order'` (06:LOC-7)."""
        return f"{self.kind} '{self.tool_name or self.injection_id or self.step}'"

    @property
    def is_source(self) -> bool:
        """Whether it is a piece of context, and not a step or run input on the way."""
        return self.kind not in ("stage", "arg")

    @property
    def ablation(self) -> Ablation | None:
        """The removal that tests it; `None` when nothing can be left out."""
        return ablation_for_suspect(self)

    def to_wire(self) -> dict[str, Any]:
        """The suspect under the keys of the report (06 s.5)."""
        detail = {
            "injectionId": self.injection_id,
            "flavor": self.flavor,
            "speaker": self.speaker,
            "toolName": self.tool_name,
            "toolCallId": self.tool_call_id,
            "text": self.text,
        }
        wire: dict[str, Any] = {
            "source": self.step,
            "stageName": self.stage_name,
            "kind": self.kind,
            "detail": {key: value for key, value in detail.items() if value is not None} or None,
            "score": self.score,
            "structuralScore": self.structural_score,
            "semanticScore": self.semantic_score,
            "hasContentEvidence": self.has_content_evidence,
            "edgePath": wire_of(self.edge_path),
            "ablation": wire_of(self.ablation),
            "cost": wire_of(self.cost),
        }
        beside = self.verdict.beside_wire() if self.verdict else {}
        return {key: value for key, value in {**wire, **beside}.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class DroppedUnit(Shape):
    """A piece that was offered to the call and not sent (06 s.8)."""

    id: str
    content: str | None = None
    reason: str | None = None
    """`window`, `budget`, `top-k`, `trigger-false`, `gate-denied`, `dedupe`, `ceiling`; `None` when not recorded."""
    verdict: Verdict | None = None

    def to_wire(self) -> dict[str, Any]:
        """The unit under the keys of the report."""
        wire: dict[str, Any] = {"id": self.id, "content": self.content, "reason": self.reason}
        beside = self.verdict.beside_wire() if self.verdict else {}
        return {key: value for key, value in {**wire, **beside}.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class SliceStats(Shape):
    """How far the slice went (06:LOC-1)."""

    nodes: int
    data_edges: int
    control_edges: int
    weighted_edges: int
    incomplete_nodes: int
    max_depth: int
    max_nodes: int
    truncated_by_depth: bool = False
    truncated_by_nodes: bool = False

    def to_wire(self) -> dict[str, Any]:
        """The statistics under the keys of the report."""
        truncated = {"byDepth": self.truncated_by_depth, "byNodes": self.truncated_by_nodes}
        wire = {
            wire_key(item.name): getattr(self, item.name)
            for item in dataclasses.fields(self)
            if not item.name.startswith("truncated_")
        }
        return {**wire, "truncated": truncated}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent(Shape):
    """What re-runs took. `None` is not known, which is never the same as nothing."""

    runs: int = 0
    tokens: int | None = None
    usd: float | None = None
    """`None` when the model has no price (DEC-69); 0 is known to be free."""
    seconds: float | None = None

    def plus(self, other: Spent) -> Spent:
        """Both together; what either does not know, the sum does not know."""
        return Spent(
            runs=self.runs + other.runs,
            tokens=None if self.tokens is None or other.tokens is None else self.tokens + other.tokens,
            usd=None if self.usd is None or other.usd is None else self.usd + other.usd,
            seconds=None if self.seconds is None or other.seconds is None else self.seconds + other.seconds,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextBugReport(Shape):
    """The whole explanation of one step, as it is stored, sent and printed (06 s.5)."""

    step: str
    step_name: str
    trigger_source: Literal["explicit", "custom", "quality"] = "explicit"
    trigger_score: float | None = None
    mode: Mode = "correlational"
    ranked_by: str
    suspects: tuple[Suspect, ...] = ()
    dropped: tuple[DroppedUnit, ...] | None = None
    """`None` when nobody looked for missing context, which differs from "nothing was dropped"."""
    slice_stats: SliceStats | None = None
    honesty_flags: tuple[HonestyFlag, ...] = ()
    confidence: RankingConfidence = field(default_factory=lambda: RankingConfidence(clear_winner=False))
    baseline: Rate | None = None
    restoration_baseline: Rate | None = None
    runs_used: int | None = None
    spent: Spent | None = None

    @property
    def sources(self) -> tuple[Suspect, ...]:
        """The suspects that are pieces of context, in rank order; steps on the way left out (06:LOC-3)."""
        return tuple(suspect for suspect in self.suspects if suspect.is_source)

    def to_wire(self) -> dict[str, Any]:
        """The report under its format."""
        return {"format": WHY_FORMAT, **Shape.to_wire(self)}
