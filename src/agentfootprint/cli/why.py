"""`agentfootprint why`: which context reached an answer, and with `--prove` which of it changes the answer."""

from __future__ import annotations

import asyncio
import difflib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, cast

import typer

from agentfootprint.cli.agents import import_agent, running_their_code
from agentfootprint.cli.errors import NotACallError, UsageError
from agentfootprint.cli.failing import INTERRUPTED, SAYS_NO
from agentfootprint.cli.front import streams_of
from agentfootprint.cli.proving import ProofRequest, agree, plan_text, prove_in_terminal
from agentfootprint.cli.reading import check_target, kilobytes, open_recording, pasteable, unknown_step, writing
from agentfootprint.cli.steps import find_step
from agentfootprint.errors import AgentFootprintError, ConfigError
from agentfootprint.explain import (
    AgentChangedError,
    NoAgentError,
    OverBudgetError,
    ProveOptions,
    UnknownSourceError,
    UnknownStepError,
    escaped,
    folded,
    one_line,
    tell_proof,
)

if TYPE_CHECKING:
    from agentfootprint.cli.streams import Streams
    from agentfootprint.explain import Rerunnable, ToolPolicy, Why
    from agentfootprint.recording import Recording

__all__ = ["HELP", "why"]

HELP: Final = """\
Usage: agentfootprint why RUN [OPTIONS]

Which context reached the answer, and where each piece came from. Free: no
model is called unless you pass --prove.

Question   --at STEP         Ask about this step instead of the last answer.
           --of SOURCE       Show the custody of this source.

Ranking    --rank NAME       lexical-overlap (free).
           --reference RUN   A good run: score against what differs.

Proof      --prove           Re-run without each source.  Needs --agent.
           --agent MOD:ATTR  The agent to re-run.
           --runs N --usd N --tokens N --seconds N        Limits. Default $0.50
           --tools MODE      replay (default), stub, live.
           --changed EXPR    What counts as changed. Default: output type.
           --expect SOURCE   Exit 1 unless this source is confirmed.
           --allow-changed   Go on though the agent differs from the recorded.
           --dry-run --yes   Only the plan; or no question.

Output     --html FILE --json -q

Examples   agentfootprint why run.json
           agentfootprint why run.json --prove --agent refunds:agent
"""
RANKINGS: Final = ("lexical-overlap",)
TOOL_POLICIES: Final = ("replay", "stub", "live")
_LIMIT_USD: Final = 0.50
_SAY_WHAT: Final = 'Say what counts as changed: --changed FIELD, or --changed "/YES|NO/" for a text.'


def why(  # noqa: PLR0913, PLR0917  the options of the experience, grouped there
    context: typer.Context,
    run: Annotated[Path, typer.Argument(metavar="RUN")],
    at: Annotated[str | None, typer.Option("--at", metavar="STEP")] = None,
    of: Annotated[list[str] | None, typer.Option("--of", metavar="SOURCE")] = None,
    rank: Annotated[str, typer.Option("--rank", metavar="NAME")] = "lexical-overlap",
    reference: Annotated[Path | None, typer.Option("--reference", metavar="RUN")] = None,
    prove: Annotated[bool, typer.Option("--prove")] = False,
    agent: Annotated[str | None, typer.Option("--agent", metavar="MODULE:ATTRIBUTE")] = None,
    runs: Annotated[int | None, typer.Option("--runs", metavar="N", min=1)] = None,
    usd: Annotated[float | None, typer.Option("--usd", metavar="N")] = None,
    tokens: Annotated[int | None, typer.Option("--tokens", metavar="N", min=1)] = None,
    seconds: Annotated[float | None, typer.Option("--seconds", metavar="N")] = None,
    tools: Annotated[str, typer.Option("--tools", metavar="MODE")] = "replay",
    changed: Annotated[str | None, typer.Option("--changed", metavar="EXPR")] = None,
    expect: Annotated[str | None, typer.Option("--expect", metavar="SOURCE")] = None,
    allow_changed: Annotated[bool, typer.Option("--allow-changed")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run")] = False,
    yes: Annotated[bool, typer.Option("--yes")] = False,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE")] = None,
) -> None:
    """Which context reached the answer, and where each piece came from."""
    streams = streams_of(context)
    _one_of("--rank", rank, RANKINGS)
    _one_of("--tools", tools, TOOL_POLICIES)
    _number("--usd", usd)
    _number("--seconds", seconds)
    if html is not None:
        check_target(html)
    only_with_proof = {
        "--agent": agent, "--runs": runs, "--usd": usd, "--tokens": tokens, "--seconds": seconds, "--changed": changed,
        "--expect": expect, "--allow-changed": allow_changed, "--dry-run": dry_run,
    }  # fmt: skip
    if not prove:
        _needs_proof(only_with_proof)
        _ask(streams, run, at=at, of=of, reference=reference, html=html)
        return
    if reference is not None:
        raise UsageError("--reference doesn't go with --prove.", fix="A proof ranks nothing: leave one of them out.")
    if seconds == 0:
        raise UsageError("--seconds is 0.", fix="Give seconds above 0, or leave it out for no limit.")
    recording = open_recording(run)
    request = ProofRequest(
        recording=recording,
        agent=_agent_for(recording, agent),
        of=of or None,
        changed=changed,
        tools=cast("ToolPolicy", tools),
        runs=runs,
        usd=_LIMIT_USD if usd is None else usd,
        options=ProveOptions(at=at, tokens=tokens, seconds=seconds, allow_changed=allow_changed),
    )
    _prove(streams, run, request, expect=expect, dry_run=dry_run, yes=yes, html=html)


def _one_of(option: str, given: str, known: tuple[str, ...]) -> None:
    if given not in known:
        near = difflib.get_close_matches(given, known, n=1)
        meant = f"Did you mean {near[0]}? " if near else ""
        raise UsageError(f"There is no {option} {given!r}.", fix=f"{meant}Use {', '.join(known)}.")


def _number(option: str, given: float | None) -> None:
    """Refuse an amount that can't be one; the parser takes `nan` and `inf` for numbers."""
    if given is not None and not (math.isfinite(given) and given >= 0):
        raise UsageError(f"{option} is {given:g}.", fix=f"Give a number of 0 or more, as in {option} 0.50.")


def _needs_proof(given: Mapping[str, object]) -> None:
    for option, value in given.items():
        if value:
            raise UsageError(
                f"{option} says how to prove, and --prove is not there.", fix="Add --prove, or leave it out."
            )


def _ask(
    streams: Streams, run: Path, *, at: str | None, of: list[str] | None, reference: Path | None, html: Path | None
) -> None:
    """Print the explanation without re-runs."""
    from agentfootprint.explain import why as explain

    if of and len(of) > 1:
        raise UsageError("--of is given twice.", fix="Name one source; several can be named with --prove.")
    recording = open_recording(run)
    good = None if reference is None else open_recording(reference)
    try:
        asked = explain(recording, at=at, of=of[0] if of else None, reference=good)
    except UnknownStepError as error:
        raise _no_such_call(recording, error, run) from error
    to_prove = f"agentfootprint why {pasteable(run)} --prove --agent MODULE:ATTR"
    streams.give(
        text=lambda: asked.to_text(width=streams.width, whole=not streams.is_terminal(), to_prove=to_prove),
        line=lambda: one_line(asked),
        document=asked.to_wire,
    )
    _write_page(streams, asked, html)


def _no_such_call(recording: Recording, error: UnknownStepError, run: Path) -> AgentFootprintError:
    """A step that is no model call, told from one that is none at all."""
    try:
        facts = find_step(recording, error.step, where=str(run))
    except UnknownStepError:
        return unknown_step(error.step, error.known, where=str(run))
    return NotACallError(facts.line.step, error.known, where=str(run))


def _agent_for(recording: Recording, named: str | None) -> Rerunnable:
    """The agent to re-run; a run that came from elsewhere has none."""
    if "agent" not in recording.header:
        raise NoAgentError(
            asked_by="--prove", fix="This run was imported; run the agent here, and prove the recording of that run."
        )
    if named is None:
        raise NoAgentError(asked_by="--prove", fix="Add --agent MODULE:ATTRIBUTE, for example --agent refunds:agent.")
    return import_agent(named)


def _prove(
    streams: Streams,
    run: Path,
    request: ProofRequest,
    *,
    expect: str | None,
    dry_run: bool,
    yes: bool,
    html: Path | None,
) -> None:
    """Plan, agree, prove and print."""
    planned = _plan(run, request)
    plan = planned.plan
    if plan is None or not plan.sources:
        raise UsageError("Nothing that can be left out reached this answer.", fix="Ask why without --prove.")
    if expect is not None and expect not in plan.sources:
        raise UnknownSourceError(expect, plan.sources)
    if dry_run:
        streams.give(
            text=lambda: plan_text(plan, width=streams.width),
            line=lambda: f"expected {plan.expected.runs} re-runs, at most {plan.at_most.runs}",
            document=lambda: {"format": "agentfootprint.plan/1", **plan.to_wire()},
        )
        return
    streams.note(plan_text(plan, width=streams.error_width))
    if not agree(streams, plan, usd=request.usd, yes=yes):
        streams.warn("Nothing was run.")
        return
    proved = prove_in_terminal(streams, request, plan)
    outcome = proved.why
    streams.give(
        text=lambda: tell_proof(outcome, width=streams.width),
        line=lambda: one_line(outcome),
        document=lambda: {**outcome.to_wire(), **({"partial": True} if proved.is_partial else {})},
    )
    _write_page(streams, outcome, html)
    if any(flag.flag == "baseline-unstable" for flag in outcome.honesty_flags):
        streams.note("\n".join(folded(_SAY_WHAT, streams.error_width, start="NEXT    ", rest=" " * 8)))
    if proved.is_partial:
        streams.warn("Interrupted: this is what was settled, the rest was not tested.")
        raise typer.Exit(INTERRUPTED)
    if expect is not None and not _is_confirmed(outcome, expect):
        streams.warn(f"{escaped(expect)} is not confirmed.")
        raise typer.Exit(SAYS_NO)


def _plan(run: Path, request: ProofRequest) -> Why:
    """The plan; refusals name the options of the command."""
    try:
        with running_their_code():
            return asyncio.run(request.plan())
    except UnknownStepError as error:
        raise _no_such_call(request.recording, error, run) from error
    except ConfigError as error:
        if error.option != "options.at":
            raise
        problem = f"--at {request.options.at} did not give the run's answer, and only that can be proven."
        raise UsageError(problem, fix="Leave --at out to prove the answer, or --prove to explain that step.") from error
    except AgentChangedError as error:
        raise AgentChangedError(error.difference, option="--allow-changed") from error
    except OverBudgetError as error:
        raise OverBudgetError(error.usd, error.limit, option="--usd", fewer="--of SOURCE") from error


def _is_confirmed(outcome: Why, source: str) -> bool:
    verdicts = [suspect.verdict for suspect in outcome.sources if suspect.id == source]
    return any(verdict is not None and verdict.verdict == "confirmed" for verdict in verdicts)


def _write_page(streams: Streams, explanation: Why, html: Path | None) -> None:
    if html is not None:
        with writing(html):
            path = explanation.to_html(html)
        streams.note(f"wrote  {path}   {kilobytes(path.stat().st_size)}   open it in a browser")
