"""Tests of agentfootprint.explain.rerunning.proving."""

from __future__ import annotations

import asyncio
import random
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agentfootprint import Agent, ConfigError, Fact, Mock, Recording, Why
from agentfootprint.explain import (
    AgentChangedError,
    ExplainError,
    NoAgentError,
    NotRemovableError,
    ProofProgress,
    ProveOptions,
    UnknownSourceError,
    UnrecordedCallError,
    prove,
    prove_sync,
    rerun_sync,
)
from agentfootprint.llm import LLMRequest, LLMResponse
from tests.explain.desks import (
    APPROVED,
    RULE,
    STYLE,
    VIP,
    Counted,
    Foreign,
    decide,
    desk,
    failed_recording,
    in_every_form,
    long_desk,
)


@pytest.fixture(scope="module")
def recording() -> Recording:
    return desk().run_sync("Refund?").recording


def verdicts(proof: Why) -> dict[str, str]:
    return {source.id: source.verdict.verdict for source in proof.sources if source.verdict is not None}


def flags(proof: Why) -> list[str]:
    return [flag.flag for flag in proof.honesty_flags]


def test_what_decides_is_confirmed_and_what_does_not_has_no_effect_found() -> None:
    proof = desk().run_sync("Refund?").prove_sync(changed=RULE)

    assert (proof.mode, verdicts(proof)) == ("causal", {"vip": "confirmed", "style": "not-confirmed"})
    vip = proof.sources[0].verdict
    assert vip is not None
    assert vip.basis == "sequential"
    assert vip.stats.interval is not None
    assert (vip.stats.baseline is not None, vip.stats.effect is not None) == (True, True)
    assert vip.stats.evidence is not None
    assert vip.stats.needed is not None
    assert vip.stats.evidence >= vip.stats.needed


def noisy(share: float) -> Mock:
    def reply(request: LLMRequest, chance: random.Random) -> str:
        return APPROVED if chance.random() > share else "Refund DECLINED."

    return Mock(reply, seed=3)


def test_noise_in_the_baseline_is_measured_and_convicts_nobody() -> None:
    result = Agent(noisy(0.4), context=[STYLE]).run_sync("Refund?")

    proof = result.prove_sync(changed=RULE)

    assert "confirmed" not in verdicts(proof).values()
    assert "baseline-unstable" in flags(proof)
    assert proof.report.baseline is not None
    assert proof.report.baseline.flips > 0


def test_a_baseline_that_always_changes_is_inconclusive_whatever_is_left_out(recording: Recording) -> None:
    other = desk(lambda _: "Refund DECLINED.")

    proof = prove_sync(recording, agent=other, changed=RULE)

    assert verdicts(proof) == {"vip": "inconclusive", "style": "inconclusive"}
    assert [source.verdict.stats.stopped for source in proof.sources if source.verdict] == ["baseline"] * 2
    assert str(proof).startswith("INCONCLUSIVE  The decision changes by itself in 4 of 4 re-runs")


def test_two_identical_pairs_decide_where_every_part_repeats_itself() -> None:
    proof = desk("Refund APPROVED.").run_sync("Refund?").prove_sync(changed=RULE)

    assert verdicts(proof) == {"vip": "not-confirmed", "style": "not-confirmed"}
    for source in proof.sources:
        assert source.verdict is not None
        stats = source.verdict.stats
        assert (source.verdict.basis, stats.samples, stats.interval, stats.p_value) == ("deterministic", 2, None, None)
    assert proof.runs_used == 6
    assert "No interval: a repeat can't differ." in str(proof)


@pytest.mark.parametrize(("expected", "outcome"), [("DECLINED", "recovered"), ("ESCALATED", "changed-not-fixed")])
def test_the_right_answer_tells_a_change_from_a_mend(expected: str, outcome: str) -> None:
    proof = desk().run_sync("Refund?").prove_sync(changed=RULE, expected=expected)

    verdict = proof.sources[0].verdict
    assert verdict is not None
    assert (verdict.verdict, verdict.outcome) == ("confirmed", outcome)


def test_a_piece_that_was_not_sent_and_a_run_without_sources_test_nothing() -> None:
    proof = Agent(Mock("Hi.")).run_sync("hello").prove_sync()

    assert (proof.mode, proof.runs_used) == ("correlational", 0)
    assert proof.plan is not None
    assert (proof.plan.sources, proof.plan.expected.runs, proof.plan.at_most.runs) == ((), 0, 0)


@pytest.mark.parametrize("form", ["live", "native", "wire", "object"])
def test_a_proof_is_the_same_from_every_form_of_the_recording(form: str, recording: Recording, tmp_path: Path) -> None:
    proof = prove_sync(in_every_form(recording, tmp_path)[form], agent=desk(), changed=RULE)

    assert verdicts(proof) == {"vip": "confirmed", "style": "not-confirmed"}
    assert proof.runs_used == 9 + 9 + 4


def test_the_classic_rule_takes_three_of_each_and_reports_progress() -> None:
    seen: list[ProofProgress] = []

    proof = (
        desk()
        .run_sync("Refund?")
        .prove_sync(changed=RULE, options=ProveOptions(mode="classic", on_progress=seen.append))
    )

    assert verdicts(proof) == {"vip": "confirmed", "style": "not-confirmed"}
    assert (proof.runs_used, proof.plan and proof.plan.expected.runs) == (9, 9)
    assert [(each.source, each.state, each.flips, each.samples) for each in seen] == [
        ("vip", "settled", 3, 3),
        ("style", "settled", 0, 3),
    ]
    assert "a repeat can't differ" not in str(proof)
    assert re.search(r"\* +3 of 3 +44-100 %", str(proof))


@pytest.mark.parametrize(("runs", "tested"), [(2, []), (5, []), (6, ["vip"]), (8, ["vip"]), (9, ["vip", "style"])])
def test_the_classic_rule_keeps_to_the_limit_of_re_runs(runs: int, tested: list[str], recording: Recording) -> None:
    proof = prove_sync(recording, agent=desk(), changed=RULE, runs=runs, options=ProveOptions(mode="classic"))

    assert list(verdicts(proof)) == tested
    assert proof.runs_used <= runs
    assert proof.plan is not None
    assert proof.plan.at_most.runs == runs


def test_tools_answer_from_the_recording_and_their_bodies_are_not_run() -> None:
    counted = Counted()
    result = long_desk(counted).run_sync("Refund gamma?")
    before = counted.calls

    proof = result.prove_sync(changed=RULE)

    assert (before, counted.calls) == (4, 4)
    assert set(verdicts(proof)) == {"look_up", "short", "late", "after", "early"}
    assert proof.plan is not None
    assert proof.plan.tools == "replay"


def ask_by_what_is_known(request: LLMRequest) -> str | LLMResponse:
    """Asks for another thing when the fact is missing: a call that is not on record."""
    results = [message.content for message in request.messages if message.role == "tool"]
    if results:
        return f"Refund {'APPROVED' if 'VIP' in (request.system_prompt or '') else 'DECLINED'}: {results[0][:5]}"
    return Mock.call("look_up", what="alpha" if "VIP" in (request.system_prompt or "") else "beta")


@pytest.mark.parametrize("mode", ["sequential", "classic"])
def test_a_call_that_is_not_on_record_ends_its_pair_and_names_the_tool(mode: Any) -> None:
    counted = Counted()
    result = desk(ask_by_what_is_known, VIP, STYLE, tools=[counted.tool]).run_sync("Refund?")

    proof = result.prove_sync(changed=RULE, of=["vip", "style"], options=ProveOptions(mode=mode))

    assert counted.calls == 1
    assert verdicts(proof) == {"vip": "inconclusive", "style": "not-confirmed"}
    verdict = next(source.verdict for source in proof.sources if source.id == "vip")
    assert verdict is not None
    assert verdict.claim == (
        "INCONCLUSIVE: a re-run without injection 'vip' asked for look_up, which has no recorded result, so it was not "
        "called."
    )
    assert verdict.stats.stopped == "unrecorded-call"
    assert "beta" not in str(proof)
    assert proof.spent is not None
    assert proof.spent.usd == 0  # a scripted model costs nothing, also when its run is cut short


@pytest.mark.parametrize("mode", ["sequential", "classic"])
def test_a_baseline_that_asks_for_what_is_not_on_record_is_said_to_be_the_one(mode: Any) -> None:
    first = iter(["alpha"])

    def other_things(request: LLMRequest) -> str | LLMResponse:
        if any(message.role == "tool" for message in request.messages):
            return APPROVED
        return Mock.call("look_up", what=next(first, "omega"))

    result = desk(other_things, VIP, tools=[Counted().tool]).run_sync("Refund?")

    proof = result.prove_sync(changed=RULE, of=["vip"], options=ProveOptions(mode=mode))

    verdict = next(source.verdict for source in proof.sources if source.id == "vip")
    assert verdict is not None
    assert "a re-run with everything in place asked for look_up" in verdict.claim


def test_tools_that_are_stubbed_or_allowed_live_are_what_was_asked_for() -> None:
    counted = Counted()
    result = desk(ask_by_what_is_known, VIP, tools=[counted.tool]).run_sync("Refund?")

    stubbed = result.prove_sync(changed=RULE, of=["vip"], tools="stub")
    after_stub = counted.calls
    live = result.prove_sync(changed=RULE, of=["vip"], options=ProveOptions(allow_live=["look_up"]))

    assert verdicts(stubbed) == verdicts(live) == {"vip": "confirmed"}
    assert after_stub == 1
    assert 1 < counted.calls <= 1 + live.runs_used // 2  # without the fact only: the rest is on record


@pytest.mark.parametrize(
    ("given", "option"),
    [
        ({"runs": 0}, "runs"),
        ({"runs": -3}, "runs"),
        ({"usd": -1.0}, "usd"),
        ({"usd": float("nan")}, "usd"),
        ({"tools": "replayed"}, "tools"),
        ({"of": "vip"}, "of"),
    ],
)
def test_what_can_not_work_is_refused_before_anything_runs(
    given: dict[str, Any], option: str, recording: Recording
) -> None:
    foreign = Foreign()

    with pytest.raises(ConfigError, match=rf"^{option} is") as caught:
        prove_sync(recording, agent=foreign, **given)

    assert caught.value.option == option
    assert foreign.shared["runs"] == 0


@pytest.mark.parametrize("runs", [1, 2, 5, 17])
def test_the_limit_of_re_runs_is_kept_and_said(runs: int, recording: Recording) -> None:
    proof = prove_sync(recording, agent=desk(), changed=RULE, runs=runs)

    assert proof.runs_used <= runs
    assert "confirmed" not in verdicts(proof).values()
    assert "PROVEN" not in str(proof)
    assert ("not tested" in str(proof)) == (runs < 5)
    assert (runs > 1) == (f"Stopped: {proof.runs_used} re-runs, a limit was reached." in " ".join(str(proof).split()))


@pytest.mark.parametrize(
    ("limit", "most"),
    [
        ({"usd": 0.30}, 4),
        ({"usd": None, "options": ProveOptions(tokens=60)}, 4),
        ({"usd": None, "options": ProveOptions(seconds=1e-9)}, 0),
    ],
)
def test_money_tokens_and_time_stop_a_proof(limit: dict[str, Any], most: int, recording: Recording) -> None:
    proof = prove_sync(recording, agent=Foreign(usd=0.10), changed=RULE, **limit)

    assert proof.spent is not None
    assert proof.runs_used == most
    assert set(verdicts(proof).values()) <= {"inconclusive"}
    assert proof.spent.usd == pytest.approx(0.10 * most)


def test_a_price_that_is_not_known_once_does_not_lift_the_limit(recording: Recording) -> None:
    class Unsure(Foreign):
        def without(self, specs: Sequence[Any]) -> Foreign:
            twin = super().without(specs)
            twin.usd = None if specs else 0.10
            return twin

    proof = prove_sync(recording, agent=Unsure(), changed=RULE, usd=0.25)

    assert proof.spent is not None
    assert proof.spent.usd is None
    assert proof.runs_used == 6


def test_a_dry_run_plans_and_runs_nothing(recording: Recording) -> None:
    foreign = Foreign()

    planned = prove_sync(recording, agent=foreign, changed=RULE, runs=10, options=ProveOptions(dry_run=True))

    assert (foreign.shared["runs"], planned.mode, verdicts(planned)) == (0, "correlational", {})
    assert planned.plan is not None
    assert planned.plan.sources == ("vip", "style")
    assert (planned.plan.at_most.runs, planned.plan.at_most.usd) == (10, None)
    assert planned.plan.compare


def test_progress_is_told_after_each_pair_and_each_settled_source(recording: Recording) -> None:
    seen: list[ProofProgress] = []

    proof = prove_sync(recording, agent=desk(), changed=RULE, options=ProveOptions(on_progress=seen.append))

    assert [(each.source, each.verdict) for each in seen if each.state == "settled"] == [
        ("vip", "confirmed"),
        ("style", "not-confirmed"),
    ]
    running = [each for each in seen if each.state == "running"]
    assert [each.samples for each in running if each.source == "vip"] == list(range(1, 9))
    assert all(each.verdict is None for each in running)
    spent = [each.spent.runs for each in seen]
    assert spent == sorted(spent)
    assert spent[-1] == proof.runs_used
    assert {id(each.plan) for each in seen} == {id(proof.plan)}


def test_nobody_who_listens_to_the_agent_hears_a_re_run() -> None:
    agent = desk()
    heard: list[str] = []
    agent.on("*", lambda event: heard.append(event.meta.run_id))
    result = agent.run_sync("Refund?")

    result.prove_sync(changed=RULE)
    result.rerun_sync()

    assert set(heard) == {result.run_id}
    assert agent.inflight == ()


def test_a_proof_changes_neither_result_nor_agent() -> None:
    agent = desk()
    result = agent.run_sync("Refund?")
    before = result.recording.to_wire(), result.to_wire(), agent.spec, str(result.why())

    result.prove_sync(changed=RULE)

    assert (result.recording.to_wire(), result.to_wire(), agent.spec, str(result.why())) == before


@pytest.mark.parametrize("mode", ["sequential", "classic"])
@pytest.mark.parametrize("concurrency", [1, 2, 4])
async def test_no_more_re_runs_are_in_flight_than_allowed(mode: Any, concurrency: int, recording: Recording) -> None:
    foreign = Foreign()

    await prove(recording, agent=foreign, changed=RULE, options=ProveOptions(mode=mode, concurrency=concurrency))

    assert foreign.shared["most"] <= concurrency
    assert foreign.shared["most"] == min(concurrency, 2 if mode == "sequential" else 3)


async def test_proofs_at_once_do_not_disturb_each_other(recording: Recording) -> None:
    agent = desk()

    proofs = await asyncio.gather(*(prove(recording, agent=agent, changed=RULE) for _ in range(3)))

    assert [verdicts(proof) for proof in proofs] == [{"vip": "confirmed", "style": "not-confirmed"}] * 3
    assert len({proof.runs_used for proof in proofs}) == 1


async def test_a_proof_that_is_cancelled_leaves_nothing_running(recording: Recording) -> None:
    foreign = Foreign()
    foreign.hold = asyncio.Event()
    before = asyncio.all_tasks()
    task = asyncio.create_task(prove(recording, agent=foreign, changed=RULE))
    await foreign.started.get()
    await foreign.started.get()

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert (foreign.shared["in flight"], foreign.shared["cancelled"]) == (0, 2)
    assert asyncio.all_tasks() == before


async def test_a_re_run_that_raises_ends_the_proof_and_leaves_nothing_running(recording: Recording) -> None:
    foreign = Foreign(fails=True)
    before = asyncio.all_tasks()

    with pytest.raises(RuntimeError, match="the network is down"):
        await prove(recording, agent=foreign, changed=RULE)

    await asyncio.sleep(0)
    assert foreign.shared["in flight"] == 0
    assert asyncio.all_tasks() == before


def test_a_proof_needs_the_agent(recording: Recording) -> None:
    with pytest.raises(NoAgentError, match="needs the agent"):
        prove_sync(recording, agent=None)


@pytest.mark.parametrize(
    ("other", "tested"),
    [
        (desk(decide, VIP), ["vip"]),
        (desk(decide, STYLE), ["style"]),
        (desk(decide, VIP, Fact("style", "Sing.")), ["vip", "style"]),
        (desk(decide, Fact("other", "Sing.")), []),
    ],
    ids=["without one", "without the other", "another text", "without both"],
)
def test_another_agent_is_refused_or_flagged_and_what_it_does_not_have_is_not_judged(
    other: Agent[object, str], tested: list[str], recording: Recording
) -> None:
    with pytest.raises(AgentChangedError):
        prove_sync(recording, agent=other, changed=RULE)

    proof = prove_sync(recording, agent=other, changed=RULE, options=ProveOptions(allow_changed=True))

    assert list(verdicts(proof)) == tested
    assert "agent-changed" in flags(proof)
    said = " ".join(str(proof).split())
    assert "he verdicts are about a changed agent" in said
    assert ("Not tested, the agent does not have it" in said) == (len(tested) < 2)
    for source in {"vip", "style"} - set(tested):
        with pytest.raises(UnknownSourceError, match=source):
            prove_sync(recording, agent=other, of=[source], options=ProveOptions(allow_changed=True))


def test_a_recording_that_does_not_say_what_its_agent_was_is_proven_with_a_flag(recording: Recording) -> None:
    wire = recording.to_wire()
    del wire["header"]

    proof = prove_sync(Recording.from_wire(wire), agent=desk(), changed=RULE)

    assert verdicts(proof)["vip"] == "confirmed"
    assert "agent-not-compared" in flags(proof)


@pytest.mark.parametrize("source", ["vipp", "decide"])
def test_a_source_that_did_not_reach_the_answer_is_refused(source: str, recording: Recording) -> None:
    with pytest.raises(UnknownSourceError, match=repr(source)):
        prove_sync(recording, agent=desk(), of=[source])


def test_a_step_on_the_way_can_not_be_left_out(recording: Recording) -> None:
    step = next(each.step for each in desk().run_sync("Refund?").why().suspects if not each.is_source)

    with pytest.raises(NotRemovableError, match="can't be removed"):
        prove_sync(recording, agent=desk(), of=[step])


def test_only_the_run_s_answer_can_be_tested() -> None:
    result = long_desk().run_sync("Refund gamma?")
    first, *_, last = result.recording.calls

    with pytest.raises(ConfigError, match="did not give the run's answer") as caught:
        result.prove_sync(options=ProveOptions(at=first.step))

    assert caught.value.option == "options.at"
    assert "only a run's answer can be" in str(result.why(at=first.step))
    assert result.prove_sync(of=["early"], options=ProveOptions(at=last.step)).mode == "causal"


def test_a_run_without_an_answer_has_nothing_to_test() -> None:
    foreign = Foreign()

    with pytest.raises(ExplainError, match="The run gave no answer"):
        prove_sync(failed_recording(), agent=foreign)

    assert foreign.shared["runs"] == 0


def test_a_re_run_says_what_came_out_and_judges_nothing(recording: Recording) -> None:
    with_all = rerun_sync(recording, agent=desk(), samples=2)
    without = rerun_sync(recording, agent=desk(), without=["vip"], samples=3)

    assert (with_all.answers, with_all.changed, with_all.removed) == ((APPROVED, APPROVED), 0, ())
    assert (without.answer, without.changed, len(without.answers)) == ("Refund DECLINED.", 3, 3)
    assert not hasattr(without, "verdict")


def test_a_re_run_that_asks_for_what_is_not_on_record_is_refused() -> None:
    result = desk(ask_by_what_is_known, VIP, tools=[Counted().tool]).run_sync("Refund?")

    with pytest.raises(UnrecordedCallError, match="look_up") as caught:
        result.rerun_sync(without=["vip"])

    assert "beta" not in str(caught.value)
