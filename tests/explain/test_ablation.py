"""Tests of agentfootprint.explain.ablation."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfootprint.explain.ablation import (
    Ablation,
    AblationKind,
    apply_ablations,
    removable_sources,
    resolve_ablations,
    sources_among,
    sources_of,
)
from agentfootprint.explain.errors import NothingToRemoveError, NotRemovableError, UnknownSourceError
from agentfootprint.explain.model import Suspect

VIP = Suspect(kind="injection", step="context#6", stage_name="Context", injection_id="vip", flavor="fact", score=0.8)
VIP_AGAIN = Suspect(kind="injection", step="context#28", stage_name="Context", injection_id="vip", score=0.7)
LOOKUP = Suspect(kind="tool", step="tool-calls#22", stage_name="ToolCalls", tool_name="lookup_order", score=0.5)
SEED = Suspect(kind="arg", step="seed#0", stage_name="Initialize", score=0.9)
CACHE = Suspect(kind="stage", step="sf-cache#14", stage_name="Cache", score=0.6)
NAMELESS = Suspect(kind="tool", step="tool-calls#9", score=0.1)
RANKED = [SEED, VIP, VIP_AGAIN, CACHE, LOOKUP, NAMELESS]
SOURCES = sources_among(RANKED)


class Named:
    def __init__(self, name: str) -> None:
        self.name = name
        self.id = name


def test_there_are_four_kinds_of_removal_and_no_fifth() -> None:
    assert get_args(AblationKind) == ("tool", "injection", "memory", "arg")
    with pytest.raises(NotRemovableError):
        Ablation.from_wire({"kind": "replace", "ids": ["vip"]})


@pytest.mark.parametrize(
    ("spec", "wire"),
    [
        (Ablation.tool("a", "b"), {"kind": "tool", "ignoredTools": ["a", "b"]}),
        (Ablation.injection("vip"), {"kind": "injection", "excludeInjectionIds": ["vip"]}),
        (Ablation.memory("m1"), {"kind": "memory", "excludeMemoryIds": ["m1"]}),
        (Ablation.arg("seed#0"), {"kind": "arg", "source": "seed#0"}),
        (Ablation.arg("seed#0", "the attachment"), {"kind": "arg", "source": "seed#0", "note": "the attachment"}),
    ],
)
def test_a_removal_goes_to_the_wire_and_back(spec: Ablation, wire: dict[str, object]) -> None:
    assert spec.to_wire() == wire
    assert Ablation.from_wire(wire) == spec


@pytest.mark.parametrize("kind", ["tool", "injection", "memory", "arg"])
def test_a_removal_of_nothing_is_refused(kind: AblationKind) -> None:
    with pytest.raises(NothingToRemoveError):
        Ablation(kind, ())


def test_what_any_removal_names_is_left_out_and_the_order_stays() -> None:
    tools = [Named(name) for name in "cab"]

    rest = apply_ablations(
        [Ablation.tool("a", "nobody"), Ablation.memory("m2"), Ablation.arg("seed#0")],
        tools=tools, context=["f1", "f2"], memory=["m1", "m2"],
    )  # fmt: skip

    assert [tool.name for tool in rest.tools] == ["c", "b"]
    assert (rest.context, rest.memory) == (("f1", "f2"), ("m1",))
    assert len(tools) == 3


@given(st.lists(st.sampled_from("abcd")), st.lists(st.sampled_from("abcd"), min_size=1))
def test_removing_one_by_one_is_removing_together(names: list[str], gone: list[str]) -> None:
    together = apply_ablations([Ablation.tool(*gone)], tools=names)
    one_by_one = apply_ablations([Ablation.tool(name) for name in gone], tools=names)

    assert together == one_by_one
    assert together.tools == tuple(name for name in names if name not in gone)


def test_a_text_means_the_first_ranked_source_that_answers_to_it() -> None:
    assert resolve_ablations(["vip"], SOURCES) == (Ablation.injection("vip"),)
    assert resolve_ablations(["context#28"], SOURCES) == (Ablation.injection("vip"),)
    assert resolve_ablations(["tool:lookup_order"], SOURCES) == (Ablation.tool("lookup_order"),)


def test_two_names_of_one_source_are_one_removal_and_explicit_specs_are_kept() -> None:
    explicit = Ablation.injection("vip")

    assert resolve_ablations(["vip", "context#6", "injection:vip"], SOURCES) == (explicit,)
    assert resolve_ablations([explicit, "vip", explicit.to_wire()], SOURCES) == (explicit, explicit, explicit)


def test_an_id_with_a_colon_comes_before_the_form_with_a_kind() -> None:
    sources = sources_of(tools=["x"], context=["tool:x"])

    assert resolve_ablations(["tool:x"], sources) == (Ablation.injection("tool:x"),)


def test_an_unknown_name_is_refused_with_the_removable_ones() -> None:
    with pytest.raises(UnknownSourceError, match=r"'vjp'.*Did you mean vip\?") as caught:
        resolve_ablations(["vjp"], SOURCES)

    assert caught.value.removable == ("vip", "lookup_order")


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("sf-cache#14", "stage", "a step"),
        ("seed#0", "arg", "Ablation.arg"),
        ("tool-calls#9", "tool", "without an identity"),
    ],
)
def test_what_can_not_be_removed_says_why(name: str, kind: str, words: str) -> None:
    with pytest.raises(NotRemovableError, match=words) as caught:
        resolve_ablations([name], SOURCES)

    assert caught.value.kind == kind


def test_nothing_wanted_is_refused() -> None:
    with pytest.raises(NothingToRemoveError, match="vip"):
        resolve_ablations([], SOURCES)


def test_the_sources_of_a_report_are_listed_once_in_rank_order() -> None:
    listed = [source.to_wire() for source in removable_sources(RANKED)]

    assert listed[0] == {
        "id": "vip",
        "kind": "injection",
        "label": "injection 'vip'",
        "source": "context#6",
        "stageName": "Context",
        "score": 0.8,
        "spec": {"kind": "injection", "excludeInjectionIds": ["vip"]},
    }
    assert [source["id"] for source in listed] == ["vip", "lookup_order", "tool-calls#9"]
