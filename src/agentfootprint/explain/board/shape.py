"""What a board document holds: everything the page of `why.to_html` shows, as one plain JSON object.

The document is the input of `render_board`, is embedded in the page unchanged, and may be read by other programs.
Keys are camelCase because they are wire keys; keys are added, never renamed. A page made from it adds nothing: it
computes no score, no interval and no verdict.

Rules that hold for the whole document:

* **Absent means not known.** A key under `NotRequired` that is left out is shown as "not recorded", "not stated" or
  "not priced", hatched; it is never shown as zero. Write `0` only for a zero that was recorded. Where a part has a key
  `unknown`, give the reason there in a few words ("redacted by policy").
* **No verdict without re-runs.** `verdict` and `untested` of a source stand only in a document with `proof` (EXP-3).
* **Positions are Unicode code points** (Python's indices), from 0, the end exclusive: `text[start:end]`.
* **Records are stored once.** A piece of a system prompt, a message and an offered tool each are one entry of
  `records`; a call names what it was given as ranges of indices into it (`Slot.records`). Equal index means carried
  over: what came, went and stayed between two calls is read off the ranges, so there is no list of changes to produce,
  and a history that only grows costs one range a call. `RecordPool` makes the entries and the ranges.
* **Step ids** are whole `runtimeStageId`s (`call-llm#40`, with the subflow path in front where there is one).
* **Texts** are data: as recorded, unescaped, of any length. The page escapes, folds and cuts.
"""

from __future__ import annotations

from typing import Final, Literal, NotRequired, TypeAlias, TypedDict

__all__ = [
    "FORMAT",
    "Answer",
    "Board",
    "BoardRecord",
    "Call",
    "Clock",
    "Dropped",
    "Fact",
    "Hop",
    "Limit",
    "Missing",
    "Moment",
    "Plumbing",
    "Proof",
    "Ranking",
    "Rate",
    "Request",
    "RunFacts",
    "Slot",
    "SlotName",
    "Source",
    "Verdict",
]

FORMAT: Final = "agentfootprint.board/1"

SlotName: TypeAlias = Literal["system", "messages", "tools"]


class Answer(TypedDict):
    """The text under question."""

    text: str
    step: str
    """The model call that wrote it; the `step` of one of `calls`, else the prompt is shown as unknown."""
    iteration: int
    expected: NotRequired[str]
    """The answer or decision that would have been right, when somebody said so."""
    ended: NotRequired[str]
    """Why the run ended, when it did not end with an answer (`cut`, `budget`, ...: DEC-9)."""


class Request(TypedDict):
    """A tool call that an assistant message asks for."""

    name: str
    arguments: str
    """As JSON text."""


class BoardRecord(TypedDict):
    """One piece of the system prompt, one message, or one offered tool: stored once, referred to by index."""

    slot: SlotName
    kind: str
    """system: `base`, `fact`, `steering`, `instructions`, `skill`, `memory`, `rag`, ...; messages: the role
    (`user`, `assistant`, `tool`, `system`); tools: `tool`."""
    text: str
    """Word for word. Empty when `unknown` says why it is not there."""
    id: NotRequired[str]
    """The name a reader knows it by: the piece's id, the tool's name."""
    calls: NotRequired[list[Request]]
    """What an assistant message asked for."""
    source: NotRequired[str]
    """`id` of the entry of `sources` that these words came from."""
    span: NotRequired[list[int]]
    """`[start, end)` of the source's words in `text`, when they are only a part of it."""
    unknown: NotRequired[str]
    """Why the words are not in the recording (`redacted by policy`)."""


class Slot(TypedDict):
    """What one slot of one request held."""

    records: list[list[int]]
    """Ranges `[from, to)` of indices into `Board.records`, in the order they were sent, as few as possible: ranges that
    touch are one. A record may come again."""
    joinedBy: NotRequired[str]
    """system only: what stands between two pieces; pieces and joints together are the whole text.
    Absent: each piece is a text of its own, and no positions in the whole are shown."""
    chars: NotRequired[int]
    """Size as the call recorded it, in characters; the page says whether the words add up to it."""
    limit: NotRequired[int]
    """The budget of the slot, in characters."""
    unknown: NotRequired[str]
    """Why the slot's content is not known; `records` is then empty."""


class Call(TypedDict):
    """One model call and what it was given.

    A document may hold some of the run's calls only; it always holds the one that wrote the answer, and the one before.
    """

    step: str
    iteration: int
    system: Slot
    messages: Slot
    tools: Slot
    finished: bool
    """Whether the model ended its reply itself (not cut off, not failed)."""
    stop: NotRequired[str]
    """The normalised stop reason."""
    model: NotRequired[str]
    tokensIn: NotRequired[int]
    tokensOut: NotRequired[int]
    costUsd: NotRequired[float]


class Rate(TypedDict):
    """How often the decision differed from the recorded one."""

    samples: int
    """0: none were made; the page then says so."""
    flips: int
    interval: NotRequired[list[float]]
    """`[low, high]` of the 95 % interval, each 0 to 1; absent for a deterministic basis."""


class Verdict(TypedDict):
    """What re-runs said about one source."""

    verdict: Literal["confirmed", "not-confirmed", "inconclusive"]
    removed: Rate
    """Re-runs without the source."""
    baseline: Rate
    """Re-runs with it, paired with those."""
    basis: NotRequired[Literal["sequential", "deterministic", "classic"]]
    effect: NotRequired[list[float]]
    """`[estimate, low, high]` of the difference of the rates, each -1 to 1."""
    evidence: NotRequired[float]
    needed: NotRequired[float]
    becomes: NotRequired[str]
    """The decision without the source (`DECLINED`), when the comparator yields decisions."""
    recovered: NotRequired[Rate]
    """How often the expected answer came back without the source (STAT-8)."""
    narrowedTo: NotRequired[str]
    """The part of the source's text that decides by itself (SRCH-4)."""


class Source(TypedDict):
    """One removable source that reached the call, in ranked order (or in slice order when nothing is ranked)."""

    id: str
    """Unique in the document; a key of `custody` and the value of `BoardRecord.source`."""
    kind: str
    """`fact`, `steering`, `instructions`, `skill`, `memory`, `rag`, `tool`, ..."""
    name: NotRequired[str]
    """What to call it, when the id is not it."""
    text: NotRequired[str]
    """Its recorded words; absent: not recorded."""
    score: NotRequired[float]
    """Resemblance to the answer, 0 to 1, by `ranking.by`."""
    unscored: NotRequired[str]
    """Why there is no score."""
    shared: NotRequired[list[list[int]]]
    """Spans `[start, end)` of `answer.text` that the score counts as shared with this source; ascending, disjoint."""
    verdict: NotRequired[Verdict]
    untested: NotRequired[str]
    """Why the proof did not test it."""


class Plumbing(TypedDict):
    """A step on the path to the answer that is no removable source."""

    step: str
    note: str


class Ranking(TypedDict):
    """What the order of `sources` stands on."""

    by: str
    """Name of the ranking (`lexical-overlap`)."""
    ranked: bool
    """Whether the scores separate the first from the second (CONF-3). False: no ordinal is shown."""
    lead: NotRequired[float]
    """First score minus second."""
    needs: NotRequired[float]
    """The lead an order needs."""
    note: NotRequired[str]
    """Why nothing is ranked, when no source has a score."""
    next: NotRequired[str]
    """What to type to test it (`result.prove_sync()`)."""
    nextCost: NotRequired[str]
    """What that takes (`about 28 re-runs`)."""


class Hop(TypedDict):
    """One link of a custody chain: the wire form of `CustodyHop` (CUS-1).

    A chain has the five links in the order answer, read, landed, allowed, born; one that is not known stands there
    with `unknown` (CUS-3). For `read` whose `at` is the call that wrote the answer the page shows that call's request,
    with the source's records marked, in place of `content`.
    """

    step: Literal["answer", "read", "landed", "allowed", "born"]
    detail: str
    """What happened, to be read after the step id (`appended 3 records in iteration 1; unchanged since`)."""
    at: NotRequired[str]
    variable: NotRequired[str]
    content: NotRequired[str]
    highlight: NotRequired[str]
    """An exact part of `content`."""
    unknown: NotRequired[str]


MomentKind: TypeAlias = Literal[
    "run", "rules", "system", "messages", "tools", "plumbing", "model", "decision", "tool", "pause", "error"
]


class Moment(TypedDict):
    """One step of the run on the timeline, in commit order."""

    step: str
    """May stand several times, as when one step makes several tool calls; a link leads to the first."""
    kind: MomentKind
    """Its lane: `run` start and end, `rules` evaluated, the slots `system`, `messages`, `tools` composed, `plumbing`
    (drawn on the model's lane), `model` call, `decision`, `tool` call, `pause` (and check-ins), `error`."""
    iteration: int
    """From 1; 0 for what stands before the first and after the last."""
    title: str
    """A few words (`System prompt composed`)."""
    text: NotRequired[str]
    """A sentence or two of what happened."""
    reads: NotRequired[list[str]]
    wrote: NotRequired[list[str]]
    """State keys; an empty list says that there were none, absence that it is not recorded."""
    commits: NotRequired[list[int]]
    """`[first, last]` position in the commit log."""
    inner: NotRequired[list[str]]
    """Ids of steps that happened inside this one (`context#6` inside `sf-system-prompt#7`): links to them lead here."""
    carried: NotRequired[bool]
    """A slot that was carried over unchanged."""
    startMs: NotRequired[float]
    durationMs: NotRequired[float]
    unknown: NotRequired[str]
    """Why what happened here is not known (`its events were dropped`)."""


class Dropped(TypedDict):
    """Something that was offered to the call and not sent."""

    id: str
    reason: str
    """`window`, `budget`, `top-k`, `trigger-false`, `gate-denied`, `dedupe`, `ceiling` (MISS-4), or words."""
    kind: NotRequired[str]
    text: NotRequired[str]


class Missing(TypedDict):
    """What the call that wrote the answer was not given."""

    offered: NotRequired[int]
    sent: NotRequired[int]
    dropped: NotRequired[list[Dropped]]
    """Absent: not known. Empty: nothing was dropped."""
    neverOffered: NotRequired[str]
    """Why it can't be known what else existed (`the run had no memory and no retriever`)."""
    unknown: NotRequired[str]
    """Why none of this is known."""


class Limit(TypedDict):
    """An honesty flag (EXP-4)."""

    flag: str
    note: str


class Proof(TypedDict):
    """What the re-runs had in common."""

    compare: str
    """What counts as changed (`field "decision" of the output type, exact`)."""
    runs: int
    tools: Literal["replay", "stub", "live"]
    alpha: NotRequired[float]
    """Error level over all sources."""
    decision: NotRequired[str]
    """The recorded decision (`APPROVED`), when the comparator yields decisions."""
    interaction: NotRequired[Literal["single", "conjunctive", "redundant"]]
    joint: NotRequired[Rate]
    """Re-runs without all sources together."""
    tokens: NotRequired[int]
    usd: NotRequired[float]
    seconds: NotRequired[float]
    stopped: NotRequired[str]
    """Why it stopped before it was settled (`26 re-runs, the --runs limit`)."""
    next: NotRequired[str]
    """What to type to go on (`--runs 96`)."""
    notes: NotRequired[list[str]]


class Clock(TypedDict):
    """Whether times can be used."""

    usable: bool
    why: NotRequired[str]


class Fact(TypedDict):
    """One more row of "what this recording can say": `text` or, when it is not known, `unknown`."""

    name: str
    text: NotRequired[str]
    unknown: NotRequired[str]


class RunFacts(TypedDict):
    """What the recording is, and how complete."""

    runId: str
    iterations: int
    modelCalls: int
    toolCalls: int
    model: NotRequired[str]
    provider: NotRequired[str]
    tokensIn: NotRequired[int]
    tokensOut: NotRequired[int]
    costUsd: NotRequired[float]
    ended: NotRequired[str]
    """`ended_because` of the run."""
    complete: NotRequired[bool]
    events: NotRequired[int]
    dropped: NotRequired[int]
    commits: NotRequired[int]
    redacted: NotRequired[list[str]]
    """State keys that are redacted; empty: none."""
    clock: Clock
    untracked: NotRequired[list[str]]
    """Steps that also read untracked run input; empty: none; absent: reads are not tracked at all."""
    decisionEdges: NotRequired[bool]
    chart: NotRequired[bool]
    audit: NotRequired[str]
    """State of the audit chain (`none`, `318 records, intact`)."""
    facts: NotRequired[list[Fact]]


class Board(TypedDict):
    """The whole document; see the rules at the top of this module."""

    format: Literal["agentfootprint.board/1"]
    question: NotRequired[str]
    answer: Answer
    records: list[BoardRecord]
    calls: list[Call]
    sources: list[Source]
    of: NotRequired[str]
    """Source to open first; else the first whose removal changed the decision, else the first."""
    plumbing: list[Plumbing]
    ranking: Ranking
    custody: dict[str, list[Hop]]
    """One chain for each source, by its id."""
    timeline: list[Moment]
    missing: Missing
    limits: list[Limit]
    proof: NotRequired[Proof]
    """Absent when no re-run was made: the page then has no verdict column."""
    recording: RunFacts
