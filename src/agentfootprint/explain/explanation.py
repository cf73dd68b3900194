"""An explanation in hand: its sources, their custody, and every form it can be shown in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from agentfootprint.explain.errors import UnknownSourceError
from agentfootprint.explain.reading.custody import custody_of
from agentfootprint.explain.telling import tell, tell_custody

if TYPE_CHECKING:
    from pathlib import Path

    from agentfootprint.explain.model import (
        ContextBugReport,
        CustodyHop,
        DroppedUnit,
        HonestyFlag,
        Mode,
        Spent,
        Suspect,
    )
    from agentfootprint.explain.proof import ProofPlan
    from agentfootprint.explain.reading.evidence import Evidence, Source
    from agentfootprint.explain.scoring.ranking import RankingConfidence
    from agentfootprint.recording import Recording

__all__ = ["Why"]


class Why:
    """Which context reached an answer, and where each piece came from; after re-runs, what each one changes.

    Printing it gives the text for people. It is made by `result.why()`, `result.prove()` and `why(recording)`.
    """

    def __init__(
        self,
        recording: Recording,
        evidence: Evidence,
        report: ContextBugReport,
        *,
        of: str | None = None,
        plan: ProofPlan | None = None,
        change: tuple[str, str] | None = None,
    ) -> None:
        self.recording = recording
        self.evidence = evidence
        self.report = report
        self.plan = plan
        """What the proof set out to do; `None` without re-runs."""
        self.change = change
        """The decision with everything in place and without the confirmed source, where the rule can name them."""
        self._of = of
        if of is not None:
            self.custody(of)

    @property
    def answer(self) -> str:
        """The text under question."""
        return self.evidence.answer

    @property
    def step(self) -> str:
        """The model call that gave it."""
        return self.report.step

    @property
    def mode(self) -> Mode:
        """`correlational` without re-runs, `causal` with."""
        return self.report.mode

    @property
    def ranked_by(self) -> str:
        """The scorer's name."""
        return self.report.ranked_by

    @property
    def suspects(self) -> tuple[Suspect, ...]:
        """Everything that reached the answer, best score first, steps on the way included."""
        return self.report.suspects

    @property
    def sources(self) -> tuple[Suspect, ...]:
        """The suspects that are pieces of context."""
        return self.report.sources

    @property
    def confidence(self) -> RankingConfidence:
        """Whether the scores put one source clearly first."""
        return self.report.confidence

    @property
    def dropped(self) -> tuple[DroppedUnit, ...]:
        """Declared pieces that this call was not sent."""
        return self.report.dropped or ()

    @property
    def honesty_flags(self) -> tuple[HonestyFlag, ...]:
        """The limits of the evidence."""
        return self.report.honesty_flags

    @property
    def runs_used(self) -> int:
        """Re-runs spent."""
        return self.report.runs_used or 0

    @property
    def spent(self) -> Spent | None:
        """What the re-runs took; `None` without any."""
        return self.report.spent

    def custody(self, of: str | None = None) -> tuple[CustodyHop, ...]:
        """The chain of custody of one source: answer, read, landed, allowed, born.

        Args:
            of: A source's id; the one this explanation is about, else the first of the ranking, when not given.

        Returns:
            The links, newest first; none when nothing reached the answer.

        Raises:
            UnknownSourceError: No source of this answer has the id.
        """
        source = self.source(of)
        return () if source is None else custody_of(self.recording, self.evidence.call, source)

    def source(self, of: str | None = None) -> Source | None:
        """Where a source stood and by which way it came; of a tool that was called often, its best-ranked result."""
        wanted = self._of if of is None else of
        if wanted is None:
            leading = self.leading
            if leading is None:
                return None
            wanted = leading.id
        found = [source for source in self.evidence.sources if source.id == wanted]
        if not found:
            raise UnknownSourceError(wanted, [suspect.id for suspect in self.sources])
        shown = next(suspect for suspect in self.sources if suspect.id == wanted)
        return next((source for source in found if _is_of(shown, source)), found[0])

    @property
    def leading(self) -> Suspect | None:
        """The source that is shown first: a confirmed one, else the best score."""
        for suspect in self.sources:
            if suspect.verdict is not None and suspect.verdict.verdict == "confirmed":
                return suspect
        return self.sources[0] if self.sources else None

    def custody_text(self, of: str | None = None, *, width: int = 80) -> str:
        """The chain of custody as the demo prints it, with the piece marked inside the prompt."""
        source = self.source(of)
        if source is None:
            return "CUSTODY  Nothing that could be left out reached this answer."
        start = source.span[0] if source.span else 0
        return tell_custody(source.name, self.custody(source.id), width=width, with_prompt=True, start=start)

    def board(self) -> Mapping[str, Any]:
        """The explanation as the document that the page shows (`agentfootprint.board/1`)."""
        from agentfootprint.explain.boarding import board_document

        return board_document(self)

    def to_html(self, path: Path | str) -> Path:
        """Write the page: one self-contained file.

        Args:
            path: Where; an existing file is replaced as a whole.

        Returns:
            The path.
        """
        from agentfootprint.explain.boarding import write_page

        return write_page(self, path)

    def to_wire(self) -> dict[str, Any]:
        """The report as JSON, under `agentfootprint.why/1`."""
        wire = self.report.to_wire()
        wire["confidence"] = self.report.confidence.to_wire()
        wire["custody"] = [hop.to_wire() for hop in self.custody()]
        return wire

    def to_text(self, *, width: int = 80, whole: bool = False, to_prove: str = "result.prove_sync()") -> str:
        """The explanation for people, at most `width` columns wide.

        Args:
            width: Columns.
            whole: Whether quotes are shown whole instead of cut with `...`.
            to_prove: What the last line offers as the way to test it.
        """
        return tell(self, width=width, whole=whole, to_prove=to_prove)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"Why(step={self.step!r}, mode={self.mode!r}, sources={len(self.sources)})"


def _is_of(suspect: Suspect, source: Source) -> bool:
    """Whether a suspect is this very source, and not another result of the same tool."""
    return (suspect.kind, suspect.step, suspect.tool_call_id, suspect.text) == (
        source.kind,
        source.landed,
        source.tool_call_id,
        source.text,
    )
