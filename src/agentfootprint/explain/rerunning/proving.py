"""Which source changes the answer when it is left out? Asked by running again without it, with honest statistics.

Re-runs are paired by seed with runs of the unchanged agent, tools answer from the recording, and nothing is spent that
the plan did not announce. What was settled before a limit or an interrupt stays settled; the rest says it was not.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, get_args

from msgspec import UNSET

from agentfootprint._blocking import blocking_function
from agentfootprint.errors import ConfigError
from agentfootprint.explain.ablation import Ablation, resolve_ablations, sources_among
from agentfootprint.explain.asking import why
from agentfootprint.explain.errors import (
    ExplainError,
    NoAgentError,
    OverBudgetError,
    UnknownSourceError,
    UnrecordedCallError,
)
from agentfootprint.explain.explanation import Why
from agentfootprint.explain.model import HonestyFlag, Rate, Spent, Suspect, Verdict, VerdictStats
from agentfootprint.explain.proof import ProofPlan, ProofProgress, ProveOptions, ToolPolicy
from agentfootprint.explain.reading.ending import gave_answer, recorded_ending
from agentfootprint.explain.rerunning.agreement import check_agent, not_there
from agentfootprint.explain.rerunning.bench import Bench, Outcome, Rerunnable
from agentfootprint.explain.rerunning.classic import baseline_stable, classic_verdict
from agentfootprint.explain.rerunning.comparators import ChangeRule, change_rule, compare, says
from agentfootprint.explain.rerunning.kept_out import refuse_kept_out
from agentfootprint.explain.sequential import Pair, SequentialRule, SequentialTest, plan_spending

if TYPE_CHECKING:
    from agentfootprint.explain.rerunning.comparators import Comparator
    from agentfootprint.recording import Recording

__all__ = ["ProofStoppedError", "Rerun", "Rerunnable", "prove", "prove_sync", "rerun", "rerun_sync"]

_CLASSIC_SAMPLES: Final = 3


@dataclass(frozen=True, slots=True)
class Rerun:
    """What re-runs without some sources said: an observation, no verdict (06:RERUN-4)."""

    answers: tuple[str, ...]
    removed: tuple[Ablation, ...]
    changed: int
    """How many answers differ from the recorded one by the rule."""
    rule: str
    """What counted as changed."""

    @property
    def answer(self) -> str:
        """The first answer."""
        return self.answers[0]


class ProofStoppedError(Exception):
    """Raised by a listener of a proof's progress: no further re-run is begun, and what is settled stays settled."""


async def prove(
    recording: Recording,
    *,
    agent: Rerunnable | None,
    of: Sequence[str] | None = None,
    changed: Comparator | str | None = None,
    expected: object = UNSET,
    tools: ToolPolicy = "replay",
    runs: int | None = None,
    usd: float | None = 0.50,
    deps: object = None,
    options: ProveOptions | None = None,
) -> Why:
    """Re-run without each source, and say which one changes the answer.

    Args:
        recording: The run.
        agent: The agent that made it.
        of: The sources to test, by id; all that can be left out when not given.
        changed: What counts as changed: a function of original and re-run, or a text such as `"decision"` or
            `"/APPROVED|DECLINED/"`; the strongest rule that fits the answer when not given.
        expected: The right answer, when it is known.
        tools: `"replay"` answers tool calls from the recording, `"stub"` with a fixed text, `"live"` calls them.
        runs: The most re-runs to spend.
        usd: The most money to spend; `None` for no limit.
        deps: The object that tools and rules get.
        options: Everything rarer.

    Returns:
        The explanation with verdicts; `mode` is `"causal"` unless nothing was run.

    Raises:
        NoAgentError: No agent was given, or the recording came from another framework.
        AgentChangedError: The agent is not the one that made the recording.
        ConfigError: A limit can't work, or `options.at` did not give the run's answer.
        OverBudgetError: The plan may cost more than `usd`.
        UnknownSourceError: `of` names no source of the answer, or one that the agent does not have.
        NotRemovableError: `of` names a step.
        RedactedRecordError: A policy kept out of the record what a re-run needs.
    """
    options = options or ProveOptions()
    _check(of, tools, runs, usd)
    asked = why(recording, at=options.at)
    if agent is None or "agent" not in recording.header:
        raise NoAgentError
    refuse_kept_out(recording, asked_by="prove")
    _check_answer(recording, asked)
    flags = check_agent(recording, agent, allow_changed=options.allow_changed)
    specs, left_out = _specs(asked, of, agent)
    flags = (*flags, *left_out)
    answer = asked.answer
    known = None if expected is UNSET else expected
    rule = change_rule(changed, original=answer, expected=known, embedder=options.embedder)
    deterministic = getattr(agent, "is_deterministic", False) is True and tools != "live" and not options.allow_live
    sequential = SequentialRule(alpha=options.alpha, sources=max(1, len(specs)))
    bench = Bench(recording, agent, tools=tools, options=options, deps=deps)
    plan = _plan(recording, agent, specs, rule, sequential, tools, runs, deterministic=deterministic, mode=options.mode)
    if usd is not None and plan.at_most.usd is not None and plan.at_most.usd > usd:
        raise OverBudgetError(plan.at_most.usd, usd)
    if options.dry_run or not specs:
        report = replace(asked.report, honesty_flags=(*asked.report.honesty_flags, *flags))
        return Why(recording, asked.evidence, report, plan=plan)
    run = _Proof(bench, asked, plan, rule, expected, runs, usd, options)
    try:
        if options.mode == "classic":
            await run.classic(specs)
        else:
            await run.sequential(specs, sequential, deterministic=deterministic)
    except ProofStoppedError:
        flags = (*flags, run.stopped(specs))
    finally:
        await bench.close()
    return run.outcome(recording, flags)


prove_sync = blocking_function(prove)


def _check(of: object, tools: str, runs: int | None, usd: float | None) -> None:
    """Refuse what can't work before anything is spent."""
    if isinstance(of, str):
        raise ConfigError("of", "of is one text.", fix=f"Give a list: [{of!r}].")
    if tools not in get_args(ToolPolicy):
        raise ConfigError("tools", f"tools is {tools!r}.", fix=f"Use one of: {', '.join(get_args(ToolPolicy))}.")
    if runs is not None and runs < 1:
        raise ConfigError("runs", f"runs is {runs}.", fix="Give a whole number of 1 or more, or None for no limit.")
    if usd is not None and not usd >= 0:  # NaN too
        raise ConfigError("usd", f"usd is {usd}.", fix="Give dollars of 0 or more, or None for no limit.")


def _check_answer(recording: Recording, asked: Why) -> None:
    """Only what a run answers can be compared with what a re-run answers."""
    if asked.step != recording.calls[-1].step:
        raise ConfigError(
            "options.at",
            f"{asked.step} did not give the run's answer, and only that can be compared with a re-run's.",
            fix="Leave options.at out; why(at=...) explains any step.",
        )
    if not asked.evidence.call.finished:
        raise ExplainError(
            f"The run gave no answer: {asked.step} was not answered, so nothing can be compared.",
            fix="Prove a run that ended with an answer.",
        )
    ending = recorded_ending(recording)
    if ending is not None and not gave_answer(recording):
        raise ExplainError(
            f"The run gave no answer that could be compared: {ending.note}.",
            fix="Prove a run that ended with an answer.",
        )


async def rerun(
    recording: Recording,
    *,
    agent: Rerunnable | None,
    without: Sequence[Ablation | str] = (),
    samples: int = 1,
    seed: int = 0,
    tools: ToolPolicy = "replay",
    deps: object = None,
) -> Rerun:
    """Run the recorded message again, without some sources; says what came out, and judges nothing.

    Args:
        recording: The run.
        agent: The agent that made it.
        without: What to leave out; nothing, for the unchanged agent.
        samples: How many times, with the seeds `seed`, `seed + 1`, ...
        seed: The first seed.
        tools: Where tool results come from.
        deps: The object that tools and rules get.

    Raises:
        NoAgentError: No agent was given.
        UnknownSourceError: `without` names no source of the answer.
        UnrecordedCallError: A re-run asked for a tool call that is not on record.
        RedactedRecordError: A policy kept out of the record what a re-run needs.
    """
    if agent is None:
        raise NoAgentError(asked_by="rerun")
    refuse_kept_out(recording, asked_by="rerun")
    asked = why(recording)
    specs = resolve_ablations(without, sources_among(asked.suspects)) if without else ()
    bench = Bench(recording, agent, tools=tools, options=ProveOptions(), deps=deps)
    try:
        ends = await asyncio.gather(*(bench.run(specs, seed + n) for n in range(max(1, samples))))
    finally:
        await bench.close()
    for end in ends:
        if end.unrecorded is not None:
            raise UnrecordedCallError(end.unrecorded)
    rule = change_rule(None, original=asked.answer)
    flips = [await compare(rule, asked.answer, end.text) for end in ends]
    return Rerun(tuple(end.text for end in ends), specs, sum(flips), rule.name)


rerun_sync = blocking_function(rerun)


def _specs(asked: Why, of: Sequence[str] | None, agent: object) -> tuple[tuple[Ablation, ...], tuple[HonestyFlag, ...]]:
    """What to leave out, one at a time, in rank order; a source that came in at several steps is one (06:LOC-4).

    A re-run without what the agent never had would find no effect and say nothing, so there is none.
    """
    if of is not None:
        wanted = dict.fromkeys(resolve_ablations(of, sources_among(asked.suspects)))
    else:
        sources = sources_among(asked.sources)
        wanted = dict.fromkeys(s.spec for s in sources if s.is_removable and s.spec is not None)
    gone = not_there(agent, wanted)
    specs = tuple(spec for spec in wanted if spec not in gone)
    if not gone:
        return specs, ()
    names = [spec.ids[0] for spec in gone]
    if of is not None:
        raise UnknownSourceError(names[0], [spec.ids[0] for spec in specs])
    return specs, (HonestyFlag("agent-changed", f"not tested, the agent does not have it: {', '.join(names)}"),)


def _plan(
    recording: Recording,
    agent: object,
    specs: Sequence[Ablation],
    rule: ChangeRule,
    sequential: SequentialRule,
    tools: ToolPolicy,
    runs: int | None,
    *,
    deterministic: bool,
    mode: str,
) -> ProofPlan:
    usage = [call.usage for call in recording.calls]
    tokens = None
    if all(each is not None and each.known for each in usage):
        tokens = sum(sum(each.totals()) for each in usage if each is not None)
    free = getattr(agent, "is_free", False) is True
    per_run = Spent(runs=1, tokens=tokens, usd=0.0 if free else None)
    most = runs if specs else 0
    expected, at_most = plan_spending(sequential, per_run, deterministic=deterministic, runs=most)
    if mode == "classic":
        count = _CLASSIC_SAMPLES * (1 + len(specs))
        count = count if runs is None else min(count, runs)
        expected = at_most = Spent(runs=count, tokens=None if tokens is None else tokens * count, usd=per_run.usd)
    return ProofPlan(
        sources=tuple(spec.ids[0] for spec in specs), expected=expected, at_most=at_most, compare=rule.name, tools=tools
    )


class _Proof:
    """One proof while it runs: the verdicts so far, and what may still be spent."""

    def __init__(
        self,
        bench: Bench,
        asked: Why,
        plan: ProofPlan,
        rule: ChangeRule,
        expected: object,
        runs: int | None,
        usd: float | None,
        options: ProveOptions,
    ) -> None:
        self._bench = bench
        self._asked = asked
        self._plan = plan
        self._rule = rule
        self._expected = expected
        self._runs = runs
        self._usd = usd
        self._options = options
        self._verdicts: dict[Ablation, Verdict] = {}
        self._decided: dict[Ablation, list[str]] = {}
        self._baseline = Rate(samples=0, flips=0)

    def _exhausted(self, more: int) -> bool:
        """Whether a limit forbids `more` further re-runs."""
        spent, options = self._bench.at_least, self._options
        return (
            (self._runs is not None and spent.runs + more > self._runs)
            or (self._usd is not None and spent.usd is not None and spent.usd > self._usd)
            or (options.tokens is not None and spent.tokens is not None and spent.tokens >= options.tokens)
            or (options.seconds is not None and self._bench.seconds() >= options.seconds)
        )

    async def sequential(self, specs: Sequence[Ablation], rule: SequentialRule, *, deterministic: bool) -> None:
        """Pair after pair for each source, until its evidence, its futility or a limit decides (STAT-3)."""
        tests = {spec: SequentialTest(rule, deterministic=deterministic) for spec in specs}
        for spec, test in tests.items():
            missed: str | None = None
            while test.verdict is None:
                seed = len(test.pairs)
                if self._exhausted(2 if seed >= self._baseline.samples else 1):
                    test.stop("budget")
                    break
                base, without = await asyncio.gather(self._bench.run((), seed), self._bench.run((spec,), seed))
                missed = _missed(_label(spec), base, without)
                if missed is not None:
                    test.stop("budget")
                    break
                await self._add(test, spec, base, without, confirmed=self._confirmed())
                if test.verdict is None:
                    self._report(spec, test)
            if not test.pairs and not missed:  # a limit came first: nothing is known about it
                self._report(spec, test, state="not-tested")
                continue
            self._verdicts[spec] = (
                _unrecorded(missed, test.flips, len(test.pairs)) if missed else test.report(_label(spec))
            )
            self._report(spec, test, state="settled")
        for spec, test in tests.items():  # what is needed may have become less (e-BH)
            if test.verdict == "inconclusive" and test.reconsider(confirmed=self._confirmed()) == "confirmed":
                self._verdicts[spec] = test.report(_label(spec))

    def _confirmed(self) -> int:
        return sum(verdict.verdict == "confirmed" for verdict in self._verdicts.values())

    async def _add(
        self, test: SequentialTest, spec: Ablation, base: Outcome, without: Outcome, *, confirmed: int
    ) -> None:
        answer = self._asked.answer
        pair = Pair(
            changed=await compare(self._rule, answer, without.text),
            baseline_changed=await compare(self._rule, answer, base.text),
            outputs=(without.text, base.text),
            recovered=None if self._expected is UNSET else says(without.text, self._expected, self._rule),
        )
        if len(test.pairs) >= self._baseline.samples:
            self._baseline = Rate.of(self._baseline.flips + pair.baseline_changed, self._baseline.samples + 1)
        decision = self._rule.decision(without.text)
        if decision is not None and pair.changed:
            self._decided.setdefault(spec, []).append(decision)
        test.add(pair, confirmed=confirmed)

    async def classic(self, specs: Sequence[Ablation]) -> None:
        """Three seeds each, beside three with everything in place; any noise there forbids a verdict (06:ABL-10)."""
        answer = self._asked.answer
        base: Rate | str | None = None
        for spec in specs:
            if self._exhausted(_CLASSIC_SAMPLES * (1 if base else 2)):
                self._tell(spec, Rate(samples=0, flips=0), state="not-tested")
                continue
            if base is None:
                base = await self._probe((), answer)
            probe = base if isinstance(base, str) else await self._probe((spec,), answer, spec)
            if isinstance(base, str) or isinstance(probe, str):
                self._verdicts[spec] = _unrecorded(str(probe), 0, 0)
                self._tell(spec, Rate(samples=0, flips=0))
                continue
            self._baseline = base
            self._verdicts[spec] = classic_verdict(_label(spec), probe, stable=baseline_stable(base), baseline=base)
            self._tell(spec, probe)

    async def _probe(self, specs: tuple[Ablation, ...], answer: str, spec: Ablation | None = None) -> Rate | str:
        """The rate of change, or why there is none."""
        ends = await asyncio.gather(*(self._bench.run(specs, seed) for seed in range(_CLASSIC_SAMPLES)))
        for end in ends:
            missed = _missed(_label(spec), None, end) if spec is not None else _missed("", end, None)
            if missed is not None:
                return missed
        flips = 0
        for end in ends:
            if await compare(self._rule, answer, end.text):
                flips += 1
                decision = self._rule.decision(end.text)
                if decision is not None and spec is not None:
                    self._decided.setdefault(spec, []).append(decision)
        return Rate(samples=len(ends), flips=flips)

    def _report(
        self, spec: Ablation, test: SequentialTest, *, state: Literal["running", "settled", "not-tested"] = "running"
    ) -> None:
        rate = Rate(samples=len(test.pairs), flips=test.flips)
        self._tell(spec, rate, state=state, evidence=test.evidence, needed=test.needed)

    def _tell(
        self,
        spec: Ablation,
        rate: Rate,
        *,
        state: Literal["running", "settled", "not-tested"] = "settled",
        evidence: float | None = None,
        needed: float | None = None,
    ) -> None:
        listener = self._options.on_progress
        if listener is None:
            return
        listener(
            ProofProgress(
                source=spec.ids[0],
                state=state,
                verdict=self._verdicts[spec].verdict if state == "settled" else None,
                flips=rate.flips,
                samples=rate.samples,
                evidence=evidence,
                needed=needed,
                spent=self._bench.spent,
                plan=self._plan,
            )
        )

    def stopped(self, specs: Sequence[Ablation]) -> HonestyFlag:
        """What a proof that was stopped says about the sources it did not settle."""
        left = ", ".join(spec.ids[0] for spec in specs if spec not in self._verdicts)
        return HonestyFlag("proof-stopped", f"the proof was stopped; not tested: {left or 'none'}")

    def outcome(self, recording: Recording, flags: tuple[HonestyFlag, ...]) -> Why:
        """The explanation with what was decided."""
        asked = self._asked
        suspects = tuple(self._judged(suspect) for suspect in asked.report.suspects)
        report_flags = (*asked.report.honesty_flags, *flags)
        if self._baseline.flips:
            note = f"the decision changed by itself in {self._baseline.flips} of {self._baseline.samples} re-runs"
            report_flags = (*report_flags, HonestyFlag("baseline-unstable", note))
        report = replace(
            asked.report,
            mode="causal",
            suspects=suspects,
            honesty_flags=report_flags,
            baseline=self._baseline if self._baseline.samples else None,
            runs_used=self._bench.spent.runs,
            spent=self._bench.spent,
        )
        return Why(recording, asked.evidence, report, plan=self._plan, change=self._change())

    def _judged(self, suspect: Suspect) -> Suspect:
        spec = suspect.ablation
        verdict = self._verdicts.get(spec) if spec is not None else None
        return suspect if verdict is None else replace(suspect, verdict=verdict)

    def _change(self) -> tuple[str, str] | None:
        before = self._rule.decision(self._asked.answer)
        for spec, verdict in self._verdicts.items():
            if verdict.verdict == "confirmed" and before is not None and self._decided.get(spec):
                found = self._decided[spec]
                return before, max(set(found), key=found.count)
        return None


def _label(spec: Ablation) -> str:
    return f"{spec.kind} '{spec.ids[0]}'"


def _missed(label: str, base: Outcome | None, without: Outcome | None) -> str | None:
    """Which re-run asked for a tool call that is not on record; `None` when none did."""
    for end, which in ((base, "with everything in place"), (without, f"without {label}")):
        if end is not None and end.unrecorded is not None:
            return f"a re-run {which} asked for {end.unrecorded}, which has no recorded result, so it was not called"
    return None


def _unrecorded(missed: str, flips: int, samples: int) -> Verdict:
    stats = VerdictStats(samples=samples, flips=flips, stopped="unrecorded-call")
    return Verdict(verdict="inconclusive", claim=f"INCONCLUSIVE: {missed}.", stats=stats)
