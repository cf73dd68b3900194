"""How does a proof go from a terminal: the plan, the question, the progress, the interrupt.

Nothing is spent before the plan is shown and, where it may cost money, agreed to. Ctrl-C ends it after the re-runs in
flight, and what is settled stays settled.
"""

from __future__ import annotations

import asyncio
import signal
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import FrameType
from typing import TYPE_CHECKING, Final, Self

from agentfootprint.cli.agents import running_their_code
from agentfootprint.cli.errors import SpendingRefusedError
from agentfootprint.explain import (
    VERDICT_WORDS,
    ProofStoppedError,
    counted,
    display_width,
    escaped,
    folded,
    money_text,
    quoted,
    rate_text,
    seconds_text,
)

if TYPE_CHECKING:
    from rich.text import Text

    from agentfootprint.cli.streams import Streams
    from agentfootprint.explain import ProofPlan, ProofProgress, ProveOptions, Rerunnable, Spent, ToolPolicy, Why
    from agentfootprint.recording import Recording

__all__ = ["ProofRequest", "Proved", "agree", "plan_text", "prove_in_terminal", "settled_text"]

_TOOLS: Final = {
    "replay": "replayed; a call that is not recorded ends its pair",
    "stub": "stubbed: every call gets the same short text",
    "live": "LIVE: the tools are really called",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProofRequest:
    """What a user asked to have proven."""

    recording: Recording
    agent: Rerunnable
    of: Sequence[str] | None = None
    changed: str | None = None
    tools: ToolPolicy = "replay"
    runs: int | None = None
    usd: float | None = 0.50
    options: ProveOptions

    async def plan(self) -> Why:
        """What a proof would do; runs nothing."""
        return await self._prove(replace(self.options, dry_run=True))

    async def _prove(self, options: ProveOptions) -> Why:
        from agentfootprint.explain import prove

        return await prove(
            self.recording,
            agent=self.agent,
            of=self.of,
            changed=self.changed,
            tools=self.tools,
            runs=self.runs,
            usd=self.usd,
            options=options,
        )

    def run(self, watch: Watch) -> Why:
        """Prove, and let somebody watch."""
        with running_their_code(), watch:
            return asyncio.run(self._prove(replace(self.options, on_progress=watch)))


@dataclass(frozen=True, slots=True)
class Proved:
    """What came out, and whether it was stopped half-way."""

    why: Why
    is_partial: bool


def prove_in_terminal(streams: Streams, request: ProofRequest, plan: ProofPlan) -> Proved:
    """Run a proof that was agreed to, with its progress on stderr.

    Args:
        streams: Where progress goes: a bar on a terminal, else one line for each settled source.
        request: What to prove.
        plan: Its plan.
    """
    watch = (
        Bar(streams, plan, request.usd) if streams.is_terminal("err") and not streams.choices.quiet else Lines(streams)
    )
    outcome = request.run(watch)
    return Proved(outcome, watch.was_stopped)


def plan_text(plan: ProofPlan, *, width: int) -> str:
    """The plan, as it is shown before anything is spent."""
    count = len(plan.sources)
    what = f"remove {counted(count, 'source')}, one at a time, each paired with an unchanged run"
    lines = folded(what, width, start="PLAN   ", rest=" " * 7)
    rows = (
        ("expected", _spending(plan.expected)),
        ("at most", _spending(plan.at_most)),
        ("tools", _TOOLS[plan.tools]),
        ("compare", plan.compare),
        ("cached", f"{plan.cached} of {counted(plan.at_most.runs, 're-run')}"),
    )
    for name, said in rows:
        lines += folded(escaped(said), width, start=f"       {name:<10}", rest=" " * 17)
    return "\n".join(lines)


def _spending(spent: Spent) -> str:
    tokens = "tokens unknown" if spent.tokens is None else counted(spent.tokens, "token")
    parts = [f"{counted(spent.runs, 're-run'):<11}", f"{tokens:>13}", _about(spent.usd)]
    if spent.seconds is not None:
        parts.append(f"about {seconds_text(spent.seconds)}")
    return "   ".join(parts)


def _about(usd: float | None) -> str:
    return money_text(usd) if not usd else f"about {money_text(usd)}"


def agree(streams: Streams, plan: ProofPlan, *, usd: float | None, yes: bool) -> bool:
    """Whether a plan may be run: it is free, it was allowed, or a person says so now.

    Args:
        streams: Where to ask.
        plan: The plan.
        usd: The limit in force.
        yes: Whether the user said so beforehand.

    Returns:
        `False` when the person says no.

    Raises:
        SpendingRefusedError: It may cost money, nobody said yes, and nobody is there to ask.
    """
    if plan.at_most.usd == 0 or yes:
        return True
    if not streams.can_ask():
        cost = "is not priced" if plan.at_most.usd is None else f"may cost {money_text(plan.at_most.usd)}"
        raise SpendingRefusedError(
            f"The plan {cost}, and there is no terminal to ask on.",
            fix="Add --yes to run it, --dry-run to see the plan, or --runs and --tokens to bound it.",
        )
    question = (
        "Spend an unknown amount?" if plan.at_most.usd is None or usd is None else f"Spend up to {money_text(usd)}?"
    )
    sys.stderr.write(f"{question} [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


class Watch:
    """Listens to a proof, and stops it when Ctrl-C is pressed; pressing again ends the program."""

    def __init__(self) -> None:
        self.was_stopped = False
        self._before: object = None

    def __call__(self, progress: ProofProgress) -> None:
        """Take note of a step, and stop the proof if that was asked for."""
        self.show(progress)
        if self.was_stopped:
            raise ProofStoppedError

    def show(self, progress: ProofProgress) -> None:
        """Show a step."""

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._stop)
        return self

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)  # type: ignore[arg-type]  # what signal.signal gave back
            self._before = None

    def _stop(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self.was_stopped:
            raise KeyboardInterrupt
        self.was_stopped = True


class Lines(Watch):
    """One line for each settled source."""

    def __init__(self, streams: Streams) -> None:
        super().__init__()
        self._streams = streams

    def show(self, progress: ProofProgress) -> None:
        """Print a source that is settled."""
        said = settled_text(progress)
        if said is not None:
            self._streams.note(said)


def settled_text(progress: ProofProgress) -> str | None:
    """`settled lookup_order: no effect found, 0 of 4 (0-49 %)`; `None` while it runs."""
    if progress.state == "running":
        return None
    source = escaped(progress.source)
    if progress.verdict is None:
        return f"not tested {source}: a limit was reached"
    return f"settled {source}: {VERDICT_WORDS[progress.verdict]}, {rate_text(progress.flips, progress.samples)}"


@dataclass(slots=True)
class Board:
    """What the bar shows: how far the whole is, and a line for each source."""

    plan: ProofPlan
    limit: float | None = None
    """The most money to spend."""
    latest: dict[str, ProofProgress] = field(default_factory=dict)

    def lines(self, *, width: int, seconds: float) -> list[str]:
        """The bar and the sources, at most `width` columns wide.

        Args:
            width: Columns.
            seconds: How long it has run.
        """
        done = max((progress.spent.runs for progress in self.latest.values()), default=0)
        total = max(self.plan.expected.runs, done)
        spent = next((progress.spent for progress in reversed(list(self.latest.values()))), None)
        minutes, rest = divmod(int(seconds), 60)
        nothing_yet = None if self.plan.expected.usd is None else 0.0  # re-runs in flight may be spending already
        usd = spent.usd if spent else nothing_yet
        money = (
            money_text(usd) if usd is None or self.limit is None else f"{money_text(usd)} of {money_text(self.limit)}"
        )
        after = f"{done} of about {total}   {money}   {minutes}:{rest:02}"
        room = max(10, min(27, width - len(after) - 10))
        filled = round(room * done / total) if total else 0
        bar = f"{'=' * max(0, filled - 1)}>".ljust(room, "-")[:room]
        return [
            f"PROVE  {bar}  {after}",
            *(self._row(name, width) for name in self.plan.sources if name in self.latest),
        ]

    def _row(self, name: str, width: int) -> str:
        progress = self.latest[name]
        column = min(max(display_width(escaped(source)) for source in self.plan.sources), 28)
        shown = escaped(name)
        if display_width(shown) > column:
            shown = f"{quoted(name, column + 2)[1:-4]}..."
        shown += " " * (column - display_width(shown))
        start = f"       {shown}   changed {progress.flips} of {progress.samples}   "
        if progress.state == "settled":
            end = "settled"
        elif progress.state == "not-tested":
            end = "not tested"
        elif progress.evidence is None or progress.needed is None or not progress.flips:
            end = "running"
        else:
            end = f"evidence {progress.evidence:.1f}, needs {progress.needed:g}"
        return (start + end)[:width]


class Bar(Watch):
    """A bar in place, with a line for each source."""

    def __init__(self, streams: Streams, plan: ProofPlan, limit: float | None) -> None:
        super().__init__()
        from rich.console import Console
        from rich.live import Live

        self._board = Board(plan, limit)
        self._width = streams.error_width
        console = Console(
            file=sys.stderr, force_terminal=True, width=self._width, no_color=not streams.has_color("err")
        )
        self._started = time.monotonic()
        self._live = Live(get_renderable=self._shown, console=console, transient=True, refresh_per_second=8)

    def __enter__(self) -> Self:
        super().__enter__()
        self._live.start()
        return self

    def __exit__(self, *given: object) -> None:
        self._live.stop()
        super().__exit__(*given)

    def show(self, progress: ProofProgress) -> None:
        """Move the bar."""
        self._board.latest[progress.source] = progress

    def _shown(self) -> Text:
        from rich.text import Text

        seconds = time.monotonic() - self._started
        return Text("\n".join(self._board.lines(width=self._width, seconds=seconds)), no_wrap=True)
