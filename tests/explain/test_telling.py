"""Tests of agentfootprint.explain.telling."""

from __future__ import annotations

import itertools
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentfootprint import Agent, Fact, Mock, Why
from agentfootprint.explain import (
    ProofProgress,
    ProofStoppedError,
    ProveOptions,
    display_width,
    folded,
    forbidden_words,
    one_line,
    proof_summary,
    tell_proof,
    why,
)
from agentfootprint.explain.proof import ProofMode
from agentfootprint.llm import LLMRequest, LLMResponse
from tests.explain.desks import Counted, failed_recording, long_desk

VIP = Fact("vip", "Dana Reyes holds VIP override status: refunds are approved at any time.")
STYLE = Fact("style", "Answer in two sentences at most.")
CHANGED = "/APPROVED|DECLINED/"


def decide(request: LLMRequest) -> str:
    said = "APPROVED: Dana Reyes holds VIP override status" if "VIP" in (request.system_prompt or "") else "DECLINED"
    return f"Refund {said}."


def agent(respond: object = decide, *pieces: Fact) -> Agent[object, str]:
    return Agent(Mock(respond), context=pieces or (VIP, STYLE))  # type: ignore[arg-type]  # any script


def widest(text: str) -> int:
    return max(map(display_width, text.splitlines()))


@given(st.text(), st.integers(12, 100), st.sampled_from(["", "WHY    ", "         "]))
def test_folded_lines_fit_and_keep_every_word(text: str, width: int, start: str) -> None:
    lines = folded(text, width, start=start, rest=" " * len(start))

    assert all(display_width(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join((start + text).split())


def test_a_word_that_is_too_long_is_broken_where_the_line_ends() -> None:
    assert folded("to " + "x" * 12, 10, start="A  ", rest="   ") == ["A  to", "   xxxxxxx", "   xxxxx"]


def test_wide_characters_count_twice() -> None:
    assert folded("日本語 日本語", 9) == ["日本語", "日本語"]


def test_a_whole_text_cuts_no_quote_and_a_short_one_does() -> None:
    explained = agent("So " * 60, Fact("long", "word " * 60), STYLE).run_sync("Why?").why()

    assert "..." in explained.to_text()
    assert "..." not in explained.to_text(whole=True)
    assert max(widest(explained.to_text()), widest(explained.to_text(whole=True))) <= 80
    assert max(widest(explained.to_text(width=60)), widest(explained.to_text(width=60, whole=True))) <= 60


def test_texts_in_any_script_stay_within_the_width() -> None:
    explained = (
        agent("払い戻しを承認します。" * 9, Fact("vip-日本語", "払い戻しは承認されます。" * 9)).run_sync("?").why()
    )

    assert (
        max(widest(explained.to_text()), widest(explained.custody_text()), widest(explained.to_text(whole=True))) <= 80
    )


def test_the_last_line_says_how_to_know_more() -> None:
    explained = agent().run_sync("Refund?").why()

    assert str(explained).endswith("Nothing here is proven. To test it:  result.prove_sync()  about 22 re-runs")
    assert explained.to_text(to_prove="agentfootprint why " + "x" * 30 + " --prove --agent MODULE:ATTR").endswith(
        "Nothing here is proven. To test it:  about 22 re-runs\n"
        "  agentfootprint why xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx --prove --agent MODULE:ATTR"
    )
    assert explained.to_text(to_prove="a " + "b" * 60 + " --prove --agent c").endswith(
        "\n  a " + "b" * 60 + " --prove \\\n    --agent c"
    )
    assert forbidden_words(str(explained)) == []


def test_scores_that_can_not_rank_give_no_order() -> None:
    explained = agent("Tea.", Fact("one", "Tea is green."), Fact("two", "Tea is black.")).run_sync("What?").why()

    assert "SOURCES that reached it: 2     [lexical-overlap can't order these]\n  -  0." in str(explained)
    assert "an order needs 0.05. Look at both, or test them." in str(explained)
    assert one_line(explained).startswith("no order: 2 sources")


def test_a_proof_stands_in_columns_of_one_width() -> None:
    text = tell_proof(agent().run_sync("Refund?").prove_sync(changed=CHANGED))

    assert text.splitlines()[:8] == [
        "PROVEN Without vip the decision changes: APPROVED -> DECLINED",
        "",
        "                    how often it changes, 95 % interval",
        "                             0 %             100 %",
        "  vip               without  ..............------*   9 of 9   70-100 %",
        "   confirmed        with     *------..............   0 of 9     0-30 %",
        "  style             without  *----------..........   0 of 4     0-49 %",
        "   no effect found  with     *----------..........   0 of 4     0-49 %",
    ]


def test_the_summary_says_the_others_in_one_line() -> None:
    assert proof_summary(agent().run_sync("Refund?").prove_sync(changed=CHANGED)) == [
        "PROVEN Without vip the decision changes to DECLINED:",
        "       9 of 9 re-runs (70-100 %), against 0 of 9 with it (0-30 %).",
        "       The other 1 source: no effect found in 4 pairs (0-49 %).",
    ]


def test_the_table_fits_a_narrow_terminal_and_any_name() -> None:
    long = Fact("a-fact-with-a-name-that-nobody-would-type-twice-in-a-row", VIP.text)
    proof = agent(decide, long, STYLE).run_sync("Refund?").prove_sync(changed=CHANGED)

    for width in (60, 80, 100):
        shown = tell_proof(proof, width=width)
        assert widest(shown) <= width
        assert any(line.startswith(f"  {long.id}") for line in shown.splitlines())
        assert (f"  {long.id}" in shown.splitlines()) is (width < 100)


def limited(runs: int) -> Why:
    return agent().run_sync("Refund?").prove_sync(changed=CHANGED, runs=runs)


def test_what_a_limit_left_over_is_not_tested_and_has_no_verdict() -> None:
    proof = limited(6)

    text = tell_proof(proof)
    assert text.startswith(
        "INCONCLUSIVE  Without vip it changes in 3 of 3 re-runs (44-100 %). Not enough to\n"
        "              tell. Stopped: 6 re-runs, a limit was reached.\n"
    )
    assert "\n  style          not tested\n" in text
    assert [suspect.id for suspect in proof.sources if suspect.verdict is not None] == ["vip"]


def test_a_limit_below_one_pair_tests_nothing() -> None:
    assert tell_proof(limited(1)).startswith("NOT TESTED  No source was tested.\n\n  vip    not tested\n")


def test_a_stopped_proof_keeps_what_is_settled_and_says_the_rest() -> None:
    def stop(progress: ProofProgress) -> None:
        if progress.state == "settled":
            raise ProofStoppedError

    proof = agent().run_sync("Refund?").prove_sync(changed=CHANGED, options=ProveOptions(on_progress=stop))

    assert proof.mode == "causal"
    assert "PROVEN Without vip the decision changes" in tell_proof(proof)
    assert "\n  style       not tested\n" in tell_proof(proof)
    assert "The proof was stopped; not tested: style." in tell_proof(proof)
    assert ("proof-stopped", "the proof was stopped; not tested: style") in [
        (flag.flag, flag.note) for flag in proof.honesty_flags
    ]


def test_a_decision_that_changes_by_itself_is_said_so() -> None:
    words = itertools.cycle(["APPROVED", "DECLINED"])

    def waver(request: LLMRequest) -> str:
        assert request.messages
        return f"Refund {next(words)}."

    proof = agent(waver).run_sync("Refund?").prove_sync(changed=CHANGED)

    assert "PROVEN" not in tell_proof(proof)
    assert "The decision changed by itself in" in tell_proof(proof)


TEXTS = st.sampled_from(["APPROVED", "DECLINED", "APPROVED, because of VIP", "", "caused by style", "5 %"])


@settings(max_examples=25)
@given(
    st.lists(TEXTS, min_size=1, max_size=4),
    st.sampled_from(["", "VIP", "short"]),
    st.sampled_from([1, 4, 7, 60]),
    st.sampled_from(["sequential", "classic"]),
)
def test_nothing_is_called_a_cause_without_a_confirmed_verdict(
    replies: list[str], decisive: str, runs: int, mode: ProofMode
) -> None:
    turn = itertools.cycle(replies)

    def reply(request: LLMRequest) -> str:
        return next(turn) if decisive in (request.system_prompt or "") else "Refund DECLINED."

    result = agent(reply, VIP, Fact("short", "Be short.")).run_sync("Refund?")
    proof = result.prove_sync(changed=CHANGED, runs=runs, options=ProveOptions(mode=mode))

    for asked in (result.why(), proof):
        told = (
            str(asked),
            asked.to_text(whole=True),
            asked.custody_text(),
            one_line(asked),
            "\n".join(tell_all(asked)),
        )
        confirmed = [s.id for s in asked.sources if s.verdict and s.verdict.verdict == "confirmed"]
        for text in told:
            claimed = [word for word in forbidden_words(text.replace("no source confirmed", "")) if word != "%"]
            assert confirmed or not claimed, (text, claimed)
            assert ("PROVEN" in text) <= bool(confirmed)
    assert "%" not in forbidden_words(str(result.why()))


def tell_all(asked: Why) -> list[str]:
    return proof_summary(asked) if asked.mode == "causal" else []


EVIL = "\x1b[31mred \x07bell \x9b2J \u202eback \r\x08 APPROVED"


def test_no_control_character_of_any_text_reaches_a_terminal() -> None:
    def reply(request: LLMRequest) -> str | LLMResponse:
        if request.tools and not any(message.role == "tool" for message in request.messages):
            return Mock.call("look_up", what=EVIL)
        return EVIL if "bell" in (request.system_prompt or "") else EVIL.replace("APPROVED", "DECLINED\x1b[0m")

    pieces = [Fact(f"id{EVIL}", EVIL), Fact(f"off{EVIL}", "x", when=lambda _: False)]
    result = Agent(Mock(reply), system=EVIL, context=pieces, tools=[Counted().tool]).run_sync(EVIL)
    proofs = [result.prove_sync(changed="/(?s:.*)/", runs=runs) for runs in (1, 4, 60)]

    for asked in (result.why(), *proofs):
        texts = [str(asked), asked.to_text(whole=True)]
        texts += [asked.custody_text(source.id) for source in asked.sources]
        assert max(map(widest, texts)) <= 80
        for text in [*texts, one_line(asked), *tell_all(asked)]:
            assert not any(unicodedata.category(character) in ("Cc", "Cf") for character in text.replace("\n", ""))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("", "(an empty text)\n       decided at call-llm#18, iteration 1"),
        ('say "hi"', '"say "hi""\n       decided at call-llm#18'),
    ],
)
def test_the_headline_says_what_kind_of_answer_it_was(answer: str, said: str) -> None:
    assert str(agent(answer).run_sync("Refund?").why()).startswith(f"WHY    {said}")


def test_a_call_that_was_not_answered_or_asked_for_tools_says_so_and_can_not_be_tested() -> None:
    failed, asking = why(failed_recording()), long_desk().run_sync("Refund gamma?").recording
    earlier = why(asking, at=asking.calls[0].step)

    assert str(failed).startswith("WHY    (no text: the model did not answer)\n       asked at call-llm#")
    assert str(earlier).startswith("WHY    (no text: it asked for tool calls)\n       decided at call-llm#18")
    for asked in (failed, earlier):
        assert str(asked).endswith("Nothing here is proven, and it can't be tested: only a run's answer can be.")


def test_a_classic_proof_has_intervals_too() -> None:
    proof = agent().run_sync("Refund?").prove_sync(changed=CHANGED, options=ProveOptions(mode="classic"))

    assert "a repeat can't differ" not in tell_proof(proof)
    assert "how often it changes, 95 % interval" in tell_proof(proof)
    assert "0-56 %" in tell_proof(proof)


def test_a_long_list_of_sources_is_begun_and_says_where_the_rest_is() -> None:
    pieces = [Fact(f"fact-{number}", f"Tea {number} is green.") for number in range(50)]
    explained = agent("Tea is green.", *pieces).run_sync("What?").why()

    for whole in (False, True):
        assert "\n       and 30 more, from 0." in explained.to_text(whole=whole)
        assert " down; .sources has all\n" in explained.to_text(whole=whole)
        assert " down; --json has all\n" in explained.to_text(whole=whole, to_prove="agentfootprint why run.json")
        assert len(explained.to_text(whole=whole).splitlines()) < 70


def test_a_long_list_of_what_was_not_sent_is_begun() -> None:
    pieces = [Fact(f"fact-{number}", "Tea.", when=lambda _: False) for number in range(50)]

    missing = str(agent("Tea.", VIP, *pieces).run_sync("What?").why()).partition("MISSING")[2]

    assert "fact-19 " in missing
    assert "fact-20 " not in missing
    assert " and 30 more." in " ".join(missing.split())


def test_a_command_is_broken_between_its_words_as_a_shell_reads_them() -> None:
    command = "agentfootprint why 'a file with  blanks in its long name.json' --prove --agent MODULE:ATTR"

    told = agent().run_sync("Refund?").why().to_text(to_prove=command, width=60)

    assert told.endswith(
        "\n  agentfootprint why \\\n    'a file with  blanks in its long name.json' --prove \\\n    --agent MODULE:ATTR"
    )


@pytest.mark.parametrize(("of", "said"), [(["style"], "style"), (None, "any of 2 sources alone")])
def test_what_was_removed_without_effect_is_named(of: list[str] | None, said: str) -> None:
    proof = agent("Refund DECLINED.").run_sync("Refund?").prove_sync(of=of, changed=CHANGED)

    assert tell_proof(proof).startswith(f"NOT FOUND  Removing {said} showed no effect.\n")


def test_a_label_that_leaves_no_room_ends_too() -> None:
    assert "".join("".join(folded("a text", 10, start="x" * 12, rest="y" * 12)).split()).endswith("t")
