"""The vectors of the area `explain`: scores, removals, verdicts and searches, as both implementations give them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, cast

import pytest

from agentfootprint.errors import AgentFootprintError
from agentfootprint.explain.ablation import Ablation, ablation_for_suspect, apply_ablations, removable_sources
from agentfootprint.explain.claims import Claim
from agentfootprint.explain.model import Rate, RunCost, Suspect
from agentfootprint.explain.reading.missing import Unit, find_dropped_context
from agentfootprint.explain.reading.snippets import snippet_units
from agentfootprint.explain.rerunning.bisection import MAX_CULPRITS, MAX_PROBES, bisect_culprits
from agentfootprint.explain.rerunning.classic import classic_verdict, is_majority, resolve_samples
from agentfootprint.explain.rerunning.costs import assign_cost_verdicts, classify_suspect
from agentfootprint.explain.rerunning.probes import AblationRerun, cost_range
from agentfootprint.explain.rerunning.reruns import rerun_without
from agentfootprint.explain.scoring.hashing import content_hash
from agentfootprint.explain.scoring.influence import (
    Evidence,
    InfluenceScore,
    InfluenceSignals,
    InfluenceWeights,
    adapt_weights,
    composite_score,
    structural_proximity,
)
from agentfootprint.explain.scoring.lexical import score_lexical
from agentfootprint.explain.scoring.ranking import margin_strategy, ranking_confidence, ratio_strategy
from agentfootprint.explain.scoring.semantic import (
    average_relevancy,
    final_answer_similarity,
    persistence,
    score_contrastive,
    score_influence,
)
from agentfootprint.explain.scoring.trajectory import bucket_by_anchors, find_loop_heads
from agentfootprint.explain.statistics import median, similarity_stats
from agentfootprint.llm import cosine_similarity, mock_embedder
from tests.vectors.harness import Case, load

EXPLAIN = load("explain")
COVERED = (
    "ablation",
    "bisect_culprits",
    "claim",
    "content_hash",
    "cosine",
    "cost_verdicts",
    "missing_context",
    "mock_embedder",
    "ranking_confidence",
    "rerun_without_sources",
    "score_contrastive",
    "score_influence",
    "score_lexical",
    "signals",
    "snippet_units",
    "trajectory_partition",
)
REFUSALS = (AgentFootprintError, ValueError)


def plain(value: Any) -> Any:
    """An input with its non-finite floats."""
    if isinstance(value, dict):
        mapping = cast("dict[str, Any]", value)
        if set(mapping) == {"$float"}:
            return float(mapping["$float"])
        return {key: plain(item) for key, item in mapping.items()}
    return [plain(item) for item in cast("list[Any]", value)] if isinstance(value, list) else value


def assert_close(actual: Any, expected: Any, *, within: float = 1e-9, path: str = "$") -> None:
    """The same JSON value, floats within a tolerance; `1` is `1.0`, `True` is no number."""
    if isinstance(expected, Mapping):
        assert isinstance(actual, Mapping), path
        left, right = cast("Mapping[str, Any]", actual), cast("Mapping[str, Any]", expected)
        assert set(left) == set(right), path
        for key in right:
            assert_close(left[key], right[key], within=within, path=f"{path}.{key}")
    elif isinstance(expected, list):
        assert isinstance(actual, (list, tuple)), path
        a, b = cast("Sequence[Any]", actual), cast("Sequence[Any]", expected)
        assert len(a) == len(b), path
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_close(x, y, within=within, path=f"{path}[{i}]")
    elif isinstance(expected, bool) or not isinstance(expected, (int, float)):
        assert (type(actual), actual) == (type(expected), expected), path
    else:
        assert isinstance(actual, (int, float)), path
        assert not isinstance(actual, bool), path
        assert math.isclose(actual, expected, rel_tol=0, abs_tol=within), f"{path}: {actual} is not {expected}"


def refused(expected: Any) -> bool:
    return isinstance(expected, dict) and cast("dict[str, Any]", expected).get("error") is True


def assert_refused(case: Case, call: Callable[[], object]) -> None:
    with pytest.raises(REFUSALS) as caught:
        call()
    for text in case.expected.get("mentions", []):
        assert text in str(caught.value)


# --- scores


def evidence_of(case: Case) -> list[Evidence]:
    return [Evidence(item["id"], item["text"], tuple(item.get("ancestorTexts", ()))) for item in case.input["evidence"]]


def weights_of(case: Case) -> InfluenceWeights:
    return InfluenceWeights(**case.input.get("weights", {}))


def on_wire(scores: Sequence[InfluenceScore]) -> list[dict[str, Any]]:
    return [score.to_wire() for score in scores]


@pytest.mark.parametrize("case", EXPLAIN.cases("score_lexical"))
def test_score_lexical(case: Case) -> None:
    def call() -> list[InfluenceScore]:
        return score_lexical(evidence_of(case), case.input["finalAnswerText"], weights=weights_of(case))

    if refused(case.expected):
        assert_refused(case, call)
    else:
        assert_close(on_wire(call()), case.expected)


@pytest.mark.parametrize("case", EXPLAIN.cases("score_influence", "score_contrastive"))
async def test_score_by_meaning(case: Case) -> None:
    given = case.input
    assert given.get("embedder", "mock32") == "mock32"

    async def call() -> list[InfluenceScore]:
        if case.file == "score_contrastive":
            return await score_contrastive(
                evidence_of(case),
                given["answerText"],
                reference=given["referenceText"],
                embedder=mock_embedder(),
                weights=weights_of(case),
            )
        return await score_influence(
            evidence_of(case), given["finalAnswerText"], embedder=mock_embedder(), weights=weights_of(case)
        )

    if refused(case.expected):
        with pytest.raises(REFUSALS) as caught:
            await call()
        for text in case.expected.get("mentions", []):
            assert text in str(caught.value)
    else:
        assert_close(on_wire(await call()), case.expected)


@pytest.mark.parametrize("case", EXPLAIN.cases("cosine"))
def test_cosine(case: Case) -> None:
    assert_close(cosine_similarity(case.input["a"], case.input["b"]), case.expected, within=1e-12)


@pytest.mark.parametrize("case", EXPLAIN.cases("mock_embedder"))
async def test_mock_embedder(case: Case) -> None:
    vector = await mock_embedder(case.input["dimensions"]).embed(case.input["text"])

    assert_close(vector, case.expected)


def adapted_weights(weights: Mapping[str, float], n: int) -> dict[str, Any]:
    shifted, adapted = adapt_weights(InfluenceWeights(**weights), n)
    return {"weights": shifted.to_wire(), "adapted": adapted}


def composite_of(signals: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return composite_score(InfluenceSignals(**signals), InfluenceWeights(**weights))


SIGNALS: dict[str, Callable[..., Any]] = {
    "final_answer_similarity": final_answer_similarity,
    "average_relevancy": average_relevancy,
    "persistence": persistence,
    "structural_proximity": structural_proximity,
    "adapt_weights": adapted_weights,
    "composite_score": composite_of,
}


@pytest.mark.parametrize("case", EXPLAIN.cases("signals"))
def test_signals(case: Case) -> None:
    def call() -> Any:
        return SIGNALS[case.input["fn"]](*case.input["args"])

    if refused(case.expected):
        assert_refused(case, call)
    else:
        assert_close(call(), case.expected, within=1e-12)


@pytest.mark.parametrize("case", EXPLAIN.cases("ranking_confidence"))
def test_ranking_confidence(case: Case) -> None:
    given = plain(case.input)
    options = given["options"]
    chosen = options.get("strategy")
    strategies = {"margin": margin_strategy, "ratio": ratio_strategy}

    def call() -> dict[str, Any]:
        return ranking_confidence(
            [(item["id"], item["score"]) for item in given["scores"]],
            strategy=strategies[chosen["kind"]](chosen["threshold"]) if chosen else None,
            clear_winner_margin=options.get("clearWinnerMargin", 0.05),
            shortlist_band=options.get("shortlistBand", 0.1),
        ).to_wire()

    if refused(case.expected):
        assert_refused(case, call)
    else:
        assert_close(call(), case.expected, within=0.0)


@pytest.mark.parametrize("case", EXPLAIN.cases("content_hash"))
def test_content_hash(case: Case) -> None:
    assert content_hash(case.input["text"]) == case.expected


@pytest.mark.parametrize("case", EXPLAIN.cases("claim"))
def test_claim(case: Case) -> None:
    given = case.input
    claims: dict[str, Callable[[], Claim[Any]]] = {
        "known": lambda: Claim.known(given["value"], given["evidence"]),
        "unknown": lambda: Claim[Any].unknown(given["reason"], given.get("evidence")),
        "not-applicable": lambda: Claim[Any].not_applicable(given["evidence"]),
    }
    claim = claims[given["kind"]]()

    assert {"wire": claim.to_wire(), "text": str(claim), "valueOr0": claim.value_or(0)} == case.expected


# --- removals and the classic verdict


def suspect_of(data: Mapping[str, Any]) -> Suspect:
    detail: Mapping[str, Any] = data.get("detail", {})
    return Suspect(
        kind=data["kind"],
        step=data["source"],
        stage_name=data.get("stageName", ""),
        injection_id=detail.get("injectionId"),
        tool_name=detail.get("toolName"),
        score=data.get("score", 0.0),
    )


def _spec(given: Mapping[str, Any]) -> Any:
    spec = ablation_for_suspect(suspect_of(given["suspect"]))
    return None if spec is None else spec.to_wire()


def _apply(given: Mapping[str, Any]) -> Any:
    targets = given["targets"]
    rest = apply_ablations(
        [Ablation.from_wire(spec) for spec in given["specs"]],
        tools=targets["tools"],
        context=targets["injections"],
        memory=targets["memoryEntries"],
    )
    return {"tools": rest.tools, "injections": rest.context, "memoryEntries": rest.memory}


def _verdict(given: Mapping[str, Any]) -> Any:
    rate = Rate(samples=given["samples"], flips=given["flips"])
    verdict = classic_verdict("it", rate, stable=given["baselineStable"])
    return {"verdict": verdict.verdict, "probeFlipped": is_majority(rate.flips, rate.samples)}


ABLATION: dict[str, Callable[[Mapping[str, Any]], Any]] = {
    "ablation_for_suspect": _spec,
    "apply_ablations": _apply,
    "resolve_samples": lambda given: resolve_samples(given["samples"]),
    "median": lambda given: median(given["values"]),
    "similarity_stats": lambda given: similarity_stats(given["values"]).to_wire(),
    "verdict_for": _verdict,
}


@pytest.mark.parametrize("case", EXPLAIN.cases("ablation"))
def test_ablation(case: Case) -> None:
    assert_close(ABLATION[case.input["fn"]](plain(case.input)), case.expected)


@pytest.mark.parametrize("case", EXPLAIN.cases("cost_verdicts"))
def test_cost_verdicts(case: Case) -> None:
    def rate_of(data: Mapping[str, Any]) -> Rate:
        loops, tokens = data.get("loops"), data.get("tokens")
        costs = [
            RunCost(loops=loops[i] if loops else None, tokens=tokens[i] if tokens else None)
            for i in range(len(loops or tokens or ()))
        ]
        return Rate(samples=data["samples"], flips=data["flips"], cost=cost_range(costs))

    suspects: list[Suspect] = []
    for data in case.input["suspects"]:
        verdict = classic_verdict(data["id"], rate_of(data), stable=True)
        assert verdict.verdict == data["verdict"]
        suspects.append(Suspect(kind="injection", step=data["id"], injection_id=data["id"], score=0.5, verdict=verdict))

    scored = assign_cost_verdicts(suspects, rate_of(case.input["baseline"]))

    actual = [
        {"id": it.id, "cost": it.cost.to_wire() if it.cost else None, "class": classify_suspect(it)} for it in scored
    ]
    assert_close(actual, case.expected)


# --- missing pieces, citable pieces, iterations


@pytest.mark.parametrize("case", EXPLAIN.cases("missing_context"))
def test_missing_context(case: Case) -> None:
    available, sent = (
        [Unit(unit["id"], unit.get("content")) for unit in case.input[side]] for side in ("available", "sent")
    )

    actual = find_dropped_context(available, sent).to_wire()

    assert actual.pop("reason")  # a sentence for people
    assert_close(actual, case.expected)


@pytest.mark.parametrize("case", EXPLAIN.cases("snippet_units"))
def test_snippet_units(case: Case) -> None:
    names = {"max": "max", "maxLength": "max_length", "channel": "channel", "idPrefix": "id_prefix"}
    options = {names[key]: value for key, value in case.input["options"].items()}

    actual = [unit.to_wire() for unit in snippet_units(case.input["value"], **options)]

    assert_close(actual, case.expected)


@pytest.mark.parametrize("case", EXPLAIN.cases("trajectory_partition"))
def test_trajectory_partition(case: Case) -> None:
    given = case.input
    if given["fn"] == "find_loop_heads":
        assert find_loop_heads(given["log"]) == case.expected
    else:
        assert_close(bucket_by_anchors(given["log"], given["heads"]).to_wire(), case.expected)


# --- simulated re-runs


def named(text: str) -> Suspect:
    kind, _, name = text.rpartition(":")
    kinds = {"": "injection", "mem": "memory", "tool": "tool", "stage": "stage", "arg": "arg"}
    tool = kinds[kind] == "tool"
    return Suspect(
        kind=cast("Any", kinds[kind]),
        step=name if kind in ("stage", "arg") else f"context#{name}",
        injection_id=name if kind in ("", "mem") else None,
        tool_name=name if tool else None,
        score=0.5,
    )


def differs(original: str, rerun: str) -> bool:
    return original != rerun


@pytest.mark.parametrize("case", EXPLAIN.cases("bisect_culprits"))
async def test_bisect_culprits(case: Case) -> None:
    given, calls = case.input, 0

    async def runner(specs: Sequence[Ablation], /, *, seed: int) -> str:
        nonlocal calls
        calls += 1
        removed = {name for spec in specs for name in spec.ids}
        if not removed:
            return "RIGHT" if seed in given.get("baselineFlipSeeds", ()) else "WRONG"
        hit = any(set(wanted) <= removed for wanted in given["flipsWhenAllRemoved"])
        return "RIGHT" if hit and seed not in given.get("flakySeeds", ()) else "WRONG"

    result = await bisect_culprits(
        [named(text) for text in given["suspects"]],
        rerun=AblationRerun(runner=runner, original_output="WRONG", samples=given.get("samples"), changed=differs),
        max_probes=given.get("maxProbes", MAX_PROBES),
        max_culprits=given.get("maxCulprits", MAX_CULPRITS),
    )

    actual = {
        "verdict": result.verdict,
        "culprits": [[suspect.label for suspect in found] for found in result.culprits],
        "probes": [
            {
                "ablated": probe.ablated,
                "flips": probe.rate.flips,
                "samples": probe.rate.samples,
                "flipped": probe.flipped,
            }
            for probe in result.probes
        ],
        "runsUsed": result.runs_used,
        "runnerCalls": calls,
    }
    assert_close(actual, case.expected)


def reported(name: str) -> list[Suspect]:
    """The suspects of a localisation, from the vectors of `localize_context_bug`."""
    cases = EXPLAIN.document("localize_context_bug")["cases"]
    report = next(case["expected"] for case in cases if case["name"] == name)
    suspects: list[Suspect] = []
    for data in report["suspects"]:
        known = "toolName" if data["kind"] == "tool" else "injectionId"
        suspects.append(suspect_of({**data, "detail": {known: data.get("detailId")}}))
    return suspects


def recorded_answer() -> str:
    recording = EXPLAIN.document("planted_refund.recording")["recording"]
    return next(text for text in _texts(recording) if text.startswith("Refund APPROVED"))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        parts = cast("dict[str, Any]", value).values() if isinstance(value, dict) else cast("list[Any]", value)
        for part in parts:
            yield from _texts(part)


@pytest.mark.parametrize("case", EXPLAIN.cases("rerun_without_sources"))
async def test_rerun_without_sources(case: Case) -> None:
    given, calls = case.input, list[Any]()
    suspects = reported(given.get("report", "correlational-last-call"))
    approved = recorded_answer()
    declined = "Refund DECLINED: the order was purchased 47 days ago, outside the 30-day refund window."

    if "ignore" not in given:
        assert_close([source.to_wire() for source in removable_sources(suspects)], case.expected)
        return

    async def runner(specs: Sequence[Ablation], /, *, seed: int) -> str:
        removed = [name for spec in specs for name in spec.ids]
        calls.append([removed, seed])
        return declined if given.get("flipsWhenRemoved") in removed else approved

    async def call() -> Any:
        return await rerun_without(
            suspects,
            given["ignore"],
            rerun=AblationRerun(runner=runner, original_output=approved, changed=differs),
            check_baseline=given.get("checkBaseline", False),
        )

    if refused(case.expected):
        with pytest.raises(REFUSALS) as caught:
            await call()
        assert calls == []
        for text in case.expected.get("mentions", []):
            assert text in str(caught.value)
        return
    result = await call()
    actual = {
        "answer": result.answer,
        "answers": result.answers,
        "removed": [spec.to_wire() for spec in result.removed],
        "answerFlipped": result.what_changed.answer_flipped,
        "flips": result.what_changed.flips,
        "samples": result.what_changed.samples,
        "baselineChecked": result.what_changed.baseline_checked,
        "verdict": result.verdict.verdict if result.verdict else None,
        "runnerCalls": calls,
    }
    assert_close(actual, case.expected)


@pytest.mark.parametrize("file", EXPLAIN.not_built(*COVERED))
def test_the_topic_is_built(file: str) -> None:
    pytest.fail(f"{file} is neither covered nor skipped")
